"""The hinge is a maximum over projectors, with this gradient and this majorizer."""

import numpy as np
import pytest
from enumeration import partitions_into
from numpy.testing import assert_allclose

from mlbook.ncuts import (
    eigenvectors,
    gaussian_affinity,
    grid_edges,
    spectral_hinge,
    squared_differences,
)
from mlbook.partitions import equivalence_matrix, partition_loss


def scene(rng, n=9, d=3, n_parts=2):
    labels = np.concatenate([np.arange(n_parts), rng.integers(0, n_parts, n - n_parts)])
    edges = np.array(np.triu_indices(n, 1))
    edges = edges[:, rng.random(edges.shape[1]) < 0.7]
    X = rng.normal(size=(n, d))
    return X, squared_differences(X, edges), edges, labels


@pytest.mark.equation("Lajugie 2014, Section 5.1")
@pytest.mark.parametrize("n_parts", [2, 3])
def test_hinge_is_the_maximum_over_projectors(n_parts):
    rng = np.random.default_rng(7)
    X, q, edges, labels = scene(rng, n=7, n_parts=n_parts)
    b, weight = np.array([0.5, 0.1, 0.2]), 3.0
    s = weight / (1 + 2 * len(q) / 7)
    W, M0 = gaussian_affinity(X, edges, b).toarray(), equivalence_matrix(labels)

    def inside(M):
        return np.sum((M - M0) ** 2) + s * np.sum(W * (M - M0))

    hinge, _ = spectral_hinge(b, q, edges, labels, score_weight=weight)
    every = [inside(equivalence_matrix(p)) for p in partitions_into(7, n_parts)]
    assert hinge >= max(every) - 1e-12
    # attained: by the projector on 1 and the leading eigenvectors of the centred matrix
    P = np.eye(7) - 1 / 7
    U = np.linalg.eigh(P @ (s * W - 2 * M0) @ P + 50 * (P - np.eye(7)))[1][:, -(n_parts - 1) :]
    assert_allclose(hinge, inside(U @ U.T + 1 / 7), rtol=1e-12)
    for _ in range(50):
        Q = np.linalg.qr(np.column_stack([np.ones(7), rng.normal(size=(7, n_parts - 1))]))[0]
        assert inside(Q @ Q.T) <= hinge + 1e-12
    # and it bounds the loss of what W itself would choose among the partitions
    scores = [np.sum(W * equivalence_matrix(p)) for p in partitions_into(7, n_parts)]
    chosen = list(partitions_into(7, n_parts))[int(np.argmax(scores))]
    assert partition_loss(chosen, labels) <= hinge + 1e-12


def central_differences(function, b, step=1e-6):
    return [(function(b + e) - function(b - e)) / (2 * step) for e in step * np.eye(len(b))]


@pytest.mark.equation("Lajugie 2014, Section 5.1")
@pytest.mark.parametrize("n_parts", [2, 3])
@pytest.mark.parametrize("tangent", [False, True])
def test_gradient(n_parts, tangent):
    rng = np.random.default_rng(8)
    _, q, edges, labels = scene(rng, n_parts=n_parts)
    b = rng.uniform(0.1, 0.6, 3)
    anchor = rng.uniform(0.1, 0.6, 3) if tangent else None

    def value(b):
        return spectral_hinge(b, q, edges, labels, tangent_at=anchor)[0]

    _, gradient = spectral_hinge(b, q, edges, labels, tangent_at=anchor)
    assert_allclose(gradient, central_differences(value, b), rtol=1e-6, atol=1e-8)


@pytest.mark.equation("Lajugie 2014, Section 5.1")
def test_majorizer_lies_above_and_touches():
    rng = np.random.default_rng(9)
    gaps = []
    for _ in range(10):
        _, q, edges, labels = scene(rng, n_parts=3)
        anchor = rng.uniform(0, 1, 3)
        touching, slope = spectral_hinge(anchor, q, edges, labels, tangent_at=anchor)
        value, gradient = spectral_hinge(anchor, q, edges, labels)
        assert_allclose(touching, value, rtol=1e-13)
        assert_allclose(slope, gradient, rtol=1e-10, atol=1e-12)
        for b in rng.uniform(0, 3, size=(10, 3)):
            above, _ = spectral_hinge(b, q, edges, labels, tangent_at=anchor)
            gaps.append(above - spectral_hinge(b, q, edges, labels)[0])
    assert min(gaps) >= -1e-12
    assert max(gaps) > 0.1


def test_hinge_of_large_graphs(monkeypatch):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(340, 2))
    edges = grid_edges(17, 20, 3)
    labels = (np.arange(340) > 150).astype(int)
    X[labels == 1] += 1
    q = squared_differences(X, edges)
    value, gradient = spectral_hinge([0.3, 0.1], q, edges, labels, random_state=0)
    monkeypatch.setattr(eigenvectors, "FEW_NODES", 1000)
    dense_value, dense_gradient = spectral_hinge([0.3, 0.1], q, edges, labels)
    assert_allclose(value, dense_value, rtol=1e-9)
    assert_allclose(gradient, dense_gradient, rtol=1e-4)


def test_bad_arguments_are_refused():
    hinge = {"edges": [[0], [1]], "labels": [0, 1]}
    with pytest.raises(ValueError, match="tangent_at must hold 1 finite"):
        spectral_hinge([1.0], [[1.0]], **hinge, tangent_at=[-1.0])
    with pytest.raises(ValueError, match="score_weight must be a finite number, greater than 0"):
        spectral_hinge([1.0], [[1.0]], **hinge, score_weight=0)
    with pytest.raises(ValueError, match="labels must have at least two parts; got one"):
        spectral_hinge([1.0], [[1.0]], [[0], [1]], [3, 3])
    for differences in ([[1.0], [1.0]], [[-1.0]]):
        with pytest.raises(ValueError, match="a row of squares for each of the 1 pairs"):
            spectral_hinge([1.0], differences, **hinge)
