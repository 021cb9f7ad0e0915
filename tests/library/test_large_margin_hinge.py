"""The structured hinge against enumeration and dense matrices; cuts are tight and below it."""

import numpy as np
import pytest
from enumeration import all_partitions
from labelled_sequences import all_cuts, tiny
from numpy.testing import assert_allclose

from mlbook.changepoints import segment
from mlbook.large_margin import structured_hinge
from mlbook.large_margin.hinge import Structure
from mlbook.large_margin.minimization import Problem
from mlbook.partitions import equivalence_matrix, partition_loss


def hinge(X, truth, B, **options):
    offsets, gradients = all_cuts(X, truth, **options)
    return np.max(offsets + gradients @ np.ravel(B))


@pytest.mark.equation("Lajugie 2014, Section 4.1")
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("min_length", [1, 2])
def test_hinge_against_enumeration(known, full, min_length):
    rng = np.random.default_rng(1)
    for X, truth in zip(*tiny(), strict=True):
        for scale in [0.0, 0.1, 1.0, 5.0]:
            L = scale * rng.normal(size=(2, 2))
            B = L @ L.T if full else np.diag(L @ L.T)
            value = structured_hinge(
                X, truth, B, n_clusters="known" if known else "learned", min_length=min_length
            )
            expected = hinge(X, truth, B, known=known, full=full, min_length=min_length)
            assert_allclose(value, expected, atol=1e-9)
            k, penalty = (2, None) if known else (None, 1.0)
            predicted = segment(X, k, penalty, M=B, min_length=min_length)
            assert value >= partition_loss(predicted, truth) - 1e-9


def dense_spectral_hinge(X, truth, B, known):
    """The relaxation with T×T matrices: projectors that keep 1."""
    n, N = len(X), equivalence_matrix(truth)
    k = round(np.trace(N))
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T  # of the complement of 1
    A = X @ B @ X.T - 2 * N
    values = np.linalg.eigvalsh(basis.T @ A @ basis)
    chosen = values[::-1][: k - 1] if known else values[values > 0]
    return A.mean(axis=0).sum() + chosen.sum() + 2 * k - np.trace(X @ B @ X.T @ N)


@pytest.mark.equation("Lajugie 2014, Sections 2.4 and 4.1")
@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("n", "d"), [(6, 2), (5, 8), (6, 1)])
def test_spectral_hinge_is_the_relaxation_and_above_every_partition(known, n, d):
    rng = np.random.default_rng(2)
    truth = np.array([0, 1, 0, 2, 2, 1])[:n]
    option = "known" if known else "learned"
    for scale in [0.0, 0.05, 0.5, 3.0]:
        X = rng.normal(size=(n, d)) + 3
        L = scale * rng.normal(size=(d, 2))
        for B in (L @ L.T, np.sum(L**2, axis=1)):
            matrix = B if B.ndim == 2 else np.diag(B)
            value = structured_hinge(X, truth, B, structure="spectral", n_clusters=option)
            assert_allclose(value, dense_spectral_hinge(X, truth, matrix, known), atol=1e-8)
            exact = hinge(X, truth, matrix, known=known, full=True, candidates=all_partitions)
            assert value >= exact - 1e-9
    apart = 20 * np.eye(3)[truth]
    value = structured_hinge(apart, truth, np.ones(3), structure="spectral", n_clusters=option)
    assert_allclose(value, dense_spectral_hinge(apart, truth, np.eye(3), known), atol=1e-8)
    assert value < 0.5


@pytest.mark.parametrize("structure", ["sequence", "spectral"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("full", [True, False])
def test_cuts_are_tight_where_made_and_below_everywhere(structure, known, full):
    rng = np.random.default_rng(3)
    X, y = tiny()
    X = X[0] - X[0].mean(axis=0)
    allowed = Structure(structure == "sequence", known, min_length=1)
    oracle = allowed.oracle(X, y[0], full=full, name="y")
    problem = Problem([oracle], np.ones(1), 1.0, 1.0, full, 2)
    metrics = [
        problem.project(s * rng.normal(size=len(problem.identity))) for s in [0, 0.1, 0.3, 1, 3]
    ]
    options = {"structure": structure, "n_clusters": "known" if known else "learned"}
    for made in metrics:
        cut = oracle(made)
        for metric in metrics:
            B = metric.entries.reshape(2, 2) if full else metric.entries
            B = (B + B.T) / 2
            value = structured_hinge(X, y[0], B, **options)
            at = cut.offset + cut.gradient @ metric.entries
            assert at <= value + 1e-9
            if metric is made:
                assert_allclose(at, value, atol=1e-9)


REFUSED = {
    "labels": ([0, 0, 1, 1, -1], [1.0, 1.0], "at least 0"),
    "weights": ([0] * 5, [1.0, -1.0], "non-negative"),
    "matrix": ([0] * 5, [[1.0, 2], [2, 1]], "semidefinite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name):
    labels, M, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        structured_hinge(np.arange(10.0).reshape(5, 2), labels, M)
