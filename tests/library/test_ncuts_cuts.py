"""Normalized cuts against enumeration, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import all_partitions, partitions_into
from graphs import blocks, random_graph, steep_graph
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.ncuts import normalized_cut, normalized_cut_bound, normalized_cut_value
from mlbook.partitions import partition_loss


@pytest.mark.equation("Lajugie 2014, Section 5.1")
def test_value_is_the_sum_of_cut_over_volume_and_the_trace_form():
    rng = np.random.default_rng(0)
    W = random_graph(rng, 6, 0.6)
    D = np.diag(W.sum(axis=1))
    root = np.sqrt(D)
    normalized = np.linalg.inv(root) @ W @ np.linalg.inv(root)
    for labels in all_partitions(6):
        parts = [labels == c for c in np.unique(labels)]
        direct = sum(W[part][:, ~part].sum() / W[part].sum() for part in parts)
        Y = np.array(parts, dtype=float).T
        M = root @ Y @ np.linalg.inv(Y.T @ D @ Y) @ Y.T @ root
        assert_allclose(len(parts) - np.trace(M @ normalized), direct, atol=1e-12)
        assert_allclose(normalized_cut_value(W, labels), direct, atol=1e-12)
        assert_allclose(normalized_cut_value(sp.csr_array(W), 3 * labels), direct, atol=1e-12)


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 5, 7])
def test_bound_below_the_optimum_below_the_rounded_cut(n_clusters):
    rng = np.random.default_rng(n_clusters)
    for density in (0.3, 0.7, 1.0):
        W = random_graph(rng, 7, density)
        optimum = min(normalized_cut_value(W, labels) for labels in partitions_into(7, n_clusters))
        found = normalized_cut(W, n_clusters, random_state=0)
        assert len(np.unique(found)) == n_clusters
        assert normalized_cut_bound(W, n_clusters) <= optimum + 1e-12
        assert normalized_cut_value(W, found) >= optimum - 1e-12
        if n_clusters in (1, 7):  # a single partition
            assert_allclose(normalized_cut_bound(W, n_clusters), optimum, atol=1e-12)


def test_two_parts_are_the_best_cut_of_the_order_of_the_second_eigenvector():
    rng = np.random.default_rng(1)
    for _ in range(5):
        W = random_graph(rng, 12, 0.4)
        root = np.sqrt(W.sum(axis=1))
        second = np.linalg.eigh(W / root / root[:, None])[1][:, -2] / root
        cuts = [normalized_cut_value(W, second > t) for t in np.sort(second)[:-1]]
        assert_allclose(normalized_cut_value(W, normalized_cut(W, 2)), min(cuts), rtol=1e-12)


@pytest.mark.equation("Lajugie 2014, Section 5.1")
def test_bound_is_the_spectrum_of_the_normalized_laplacian():
    rng = np.random.default_rng(2)
    W = random_graph(rng, 9)
    root = np.sqrt(W.sum(axis=1))
    spectrum = np.linalg.eigvalsh(np.eye(9) - W / root / root[:, None])
    for k in range(1, 10):
        assert_allclose(normalized_cut_bound(W, k), spectrum[:k].sum(), atol=1e-12)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_blocks_are_cut_exactly(convert):
    rng = np.random.default_rng(3)
    W, labels = blocks([4, 2, 5], rng)
    order = rng.permutation(11)
    W, labels = convert(W[order][:, order]), labels[order]
    assert partition_loss(normalized_cut(W, 3), labels) == pytest.approx(0, abs=1e-12)
    assert normalized_cut_value(W, labels) == normalized_cut_bound(W, 3) == 0
    # fewer parts than blocks: blocks are put together, none is cut
    merged = normalized_cut(W, 2)
    assert normalized_cut_value(W, merged) == 0
    assert normalized_cut_bound(W, 2) == 0
    assert sorted(np.bincount(merged)) == [5, 6]
    # more parts than blocks: only the eigenvectors within the blocks are computed
    assert 0 < normalized_cut_bound(W, 4) <= normalized_cut_value(W, normalized_cut(W, 4)) + 1e-12
    nearly = (W.toarray() if sp.issparse(W) else W) + 1e-3
    assert partition_loss(normalized_cut(nearly, 3, random_state=0), labels) == pytest.approx(
        0, abs=1e-12
    )


def test_parts_are_numbered_as_they_appear():
    W, _ = blocks([3, 3, 3], np.random.default_rng(4))
    order = np.array([8, 0, 4, 1, 7, 2, 3, 5, 6])
    found = normalized_cut(W[order][:, order] + 1e-3, 3, random_state=0)
    assert_array_equal(found, [0, 1, 2, 1, 0, 1, 2, 2, 0])


@pytest.mark.parametrize("seed", [2, 15, 20])
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_small_graphs_with_equal_eigenvalues_up_to_rounding(seed, n_clusters):
    W = steep_graph(12, 16, 128, power=3, seed=seed)
    found = normalized_cut(W, n_clusters, random_state=0)
    assert len(np.unique(found)) == n_clusters
    assert normalized_cut_value(W, found) <= n_clusters * 1e-12


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_unit_of_the_affinities_does_not_matter(convert):
    W, labels = blocks([3, 4], np.random.default_rng(17))
    for unit in (1.0, 1e-12, 1e-200, 1e200):
        joined = convert(unit * (W + 1e-3))
        assert_array_equal(normalized_cut(joined, 2), labels)
        assert normalized_cut_bound(joined, 2) == pytest.approx(
            normalized_cut_bound(W + 1e-3, 2), rel=1e-6
        )


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((2, 3)), "W must be square; got shape"),
        ([[0.0, -1.0], [-1.0, 0.0]], "W must not be negative; its smallest entry is -1"),
        ([[0.0, 1.0], [0.5, 0.0]], "W must be symmetric; .* differ by 0.5"),
        ([[1.0, 0.0], [0.0, 0.0]], "positive sum in every row; row 1 has none"),
        ([[np.nan, 1.0], [1.0, 0.0]], "Input W contains NaN"),
    ],
)
def test_bad_affinities_are_refused(W, message):
    calls = [
        lambda W: normalized_cut_value(W, [0, 1]),
        lambda W: normalized_cut_bound(W, 1),
        lambda W: normalized_cut(W, 1),
    ]
    for call in calls:
        for convert in (np.array, sp.csr_array):
            with pytest.raises(ValueError, match=message):
                call(convert(W))


def test_bad_arguments_are_refused():
    W = np.ones((3, 3))
    with pytest.raises(ValueError, match="n_clusters must be an integer between 1 and"):
        normalized_cut(W, 4)
    with pytest.raises(ValueError, match="labels must have one entry per row of W; got 2 labels"):
        normalized_cut_value(W, [0, 1])
