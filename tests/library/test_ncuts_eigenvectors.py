"""Leading eigenvectors of large and steep graphs as by the dense solver."""

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import blocks, steep_graph
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.ncuts import (
    eigenvectors,
    gaussian_affinity,
    grid_edges,
    normalized_cut,
    normalized_cut_bound,
    normalized_cut_value,
)
from mlbook.partitions import partition_loss


def test_large_graphs_by_lanczos_as_by_the_dense_solver(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(18 * 20, 2))
    X[: 9 * 20, 0] += 2
    W = gaussian_affinity(X, grid_edges(18, 20, 2.5), [0.5, 0.1])
    split = W.toarray()
    split[:100, 100:] = split[100:, :100] = 0  # two components at least
    assert len(X) > eigenvectors.FEW_NODES
    for graph, n_clusters in [(W, 2), (W, 4), (sp.csr_array(split), 3), (split, 3)]:
        sparse = normalized_cut(graph, n_clusters, random_state=0)
        bound = normalized_cut_bound(graph, n_clusters, random_state=0)
        with monkeypatch.context() as patch:
            patch.setattr(eigenvectors, "FEW_NODES", len(X))
            dense = normalized_cut(graph, n_clusters, random_state=0)
            assert_allclose(bound, normalized_cut_bound(graph, n_clusters), atol=1e-9)
        assert partition_loss(sparse, dense) < 0.05
        assert normalized_cut_value(graph, sparse) >= bound


@pytest.mark.parametrize("exponent", [16, 32, 64, 256])
@pytest.mark.parametrize("n_clusters", [2, 4])
def test_steep_affinities_are_cut_as_by_the_dense_solver(exponent, n_clusters, monkeypatch):
    W = steep_graph(16, 20, exponent)
    found = normalized_cut(W, n_clusters, random_state=0)
    bound = normalized_cut_bound(W, n_clusters, random_state=0)
    assert len(np.unique(found)) == n_clusters
    monkeypatch.setattr(eigenvectors, "FEW_NODES", 320)
    assert_allclose(bound, normalized_cut_bound(W, n_clusters), atol=1e-12)
    dense = normalized_cut_value(W, normalized_cut(W, n_clusters, random_state=0))
    assert_allclose(normalized_cut_value(W, found), dense, rtol=1e-3, atol=n_clusters * 1e-12)


def test_inverse_gives_the_spectrum_with_its_eigenvectors():
    W = steep_graph(16, 20, 16)
    root = np.sqrt(W.sum(axis=1))
    A = sp.csr_array(W / root / root[:, None])
    known = sp.csr_array((root / np.linalg.norm(root))[:, None])
    rng = np.random.RandomState(0)
    values, vectors = eigenvectors._nearest_one(A, known, 5, rng)
    assert_allclose(values, np.linalg.eigvalsh(A.toarray())[-2:-7:-1], atol=1e-12)
    assert_allclose(A @ vectors, vectors * values, atol=1e-7)
    assert_allclose(vectors.T @ np.hstack([vectors, known.toarray()]), np.eye(5, 6), atol=1e-9)


def test_only_affinities_that_no_node_would_miss_are_dropped():
    rng = np.random.default_rng(16)
    W, labels = blocks([3, 4, 2], rng)
    for whole in (W, W + 1e-6, 1e-20 * (W + 1e-6)):  # too much to leave out
        assert_array_equal(eigenvectors.drop_negligible(whole).toarray(), whole)
    weak = W + 1e-14 * rng.random() * (labels[:, None] != labels)
    weak *= np.outer(scale := 10.0 ** rng.uniform(-3, 3, 3)[labels], scale)
    rest = eigenvectors.drop_negligible(sp.csr_array(weak))
    lost = (weak - rest.toarray()).sum(axis=1) / weak.sum(axis=1)
    assert 0 < lost.max() <= eigenvectors.NEGLIGIBLE
    assert partition_loss(normalized_cut(weak, 3), labels) == pytest.approx(0, abs=1e-12)


def test_eigenvectors_that_are_not_found_are_an_error_that_says_what_to_change(monkeypatch):
    W = steep_graph(16, 20, 32)
    monkeypatch.setattr(eigenvectors, "RESTARTS", 1)
    monkeypatch.setattr(eigenvectors, "SHIFT", 10)  # no gap is large from there
    for function in (normalized_cut, normalized_cut_bound):
        with pytest.raises(RuntimeError, match=r"320 nodes .* 1 restarts.*smaller weights b"):
            function(W, 2, random_state=0)
