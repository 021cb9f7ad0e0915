"""Normalized cuts against enumeration; the learned metric against its definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import all_partitions, partitions_into
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mlbook.ncuts import (
    NormalizedCutMetric,
    eigenvectors,
    gaussian_affinity,
    grid_edges,
    normalized_cut,
    normalized_cut_bound,
    normalized_cut_value,
    spectral_hinge,
    squared_differences,
)
from mlbook.ncuts import cuts as ncuts
from mlbook.partitions import equivalence_matrix, partition_loss


def random_graph(rng, n, density=1.0):
    """Connected: a path runs through all nodes."""
    W = rng.random((n, n)) * (rng.random((n, n)) < density)
    W[np.arange(n - 1), np.arange(1, n)] += 0.1
    return W + W.T


def blocks(sizes, rng):
    """Complete graphs side by side."""
    n = sum(sizes)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    affinities = rng.uniform(0.5, 1, size=(n, n))
    return (affinities + affinities.T) * (labels[:, None] == labels), labels


# The cut


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


# Graphs nearly in pieces


def steep_graph(height, width, exponent, power=1, seed=0):
    """Pixels of noise: the larger the mean exponent, the more of them are nearly alone."""
    X = np.random.default_rng(seed).normal(size=(height * width, 3)) ** power
    edges = grid_edges(height, width, 5)
    b = exponent / 3 / squared_differences(X, edges).mean(axis=0)
    return gaussian_affinity(X, edges, b)


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


@pytest.mark.parametrize("seed", [2, 15, 20])
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_small_graphs_with_equal_eigenvalues_up_to_rounding(seed, n_clusters):
    W = steep_graph(12, 16, 128, power=3, seed=seed)
    found = normalized_cut(W, n_clusters, random_state=0)
    assert len(np.unique(found)) == n_clusters
    assert normalized_cut_value(W, found) <= n_clusters * 1e-12


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


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_unit_of_the_affinities_does_not_matter(convert):
    W, labels = blocks([3, 4], np.random.default_rng(17))
    for unit in (1.0, 1e-12, 1e-200, 1e200):
        joined = convert(unit * (W + 1e-3))
        assert_array_equal(normalized_cut(joined, 2), labels)
        assert normalized_cut_bound(joined, 2) == pytest.approx(
            normalized_cut_bound(W + 1e-3, 2), rel=1e-6
        )


def test_eigenvectors_that_are_not_found_are_an_error_that_says_what_to_change(monkeypatch):
    W = steep_graph(16, 20, 32)
    monkeypatch.setattr(eigenvectors, "RESTARTS", 1)
    monkeypatch.setattr(eigenvectors, "SHIFT", 10)  # no gap is large from there
    for function in (normalized_cut, normalized_cut_bound):
        with pytest.raises(RuntimeError, match=r"320 nodes .* 1 restarts.*smaller weights b"):
            function(W, 2, random_state=0)


# Affinities


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 5), (4, 1), (4, 5)])
@pytest.mark.parametrize("radius", [1, 1.5, 2.3, 10])
def test_grid_edges_are_the_close_pairs(height, width, radius):
    place = np.array([(r, c) for r in range(height) for c in range(width)])
    distance = np.linalg.norm(place[:, None] - place, axis=2)
    wanted = np.argwhere(np.triu(distance <= radius, 1))
    found = grid_edges(height, width, radius).T
    assert found.shape == wanted.shape
    assert set(map(tuple, found)) == set(map(tuple, wanted))


@pytest.mark.equation("Lajugie 2014, Eq. 10")
def test_affinity_is_the_gaussian_on_the_edges_and_one_on_the_diagonal():
    rng = np.random.default_rng(6)
    X, b = rng.normal(size=(12, 3)), np.array([0.5, 0.0, 2.0])
    edges = grid_edges(3, 4, 1.5)
    W = gaussian_affinity(X, edges, b).toarray()
    expected = np.eye(12)
    for i, j in edges.T:
        expected[i, j] = expected[j, i] = np.exp(-b @ (X[i] - X[j]) ** 2)
    assert_allclose(W, expected, rtol=1e-13)
    assert_allclose(squared_differences(X, edges)[4], (X[edges[0, 4]] - X[edges[1, 4]]) ** 2)


# The hinge


def scene(rng, n=9, d=3, n_parts=2):
    labels = np.concatenate([np.arange(n_parts), rng.integers(0, n_parts, n - n_parts)])
    edges = np.array(np.triu_indices(n, 1))
    edges = edges[:, rng.random(edges.shape[1]) < 0.7]
    X = rng.normal(size=(n, d))
    return X, squared_differences(X, edges), edges, labels


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


def test_projection_onto_the_simplex():
    rng = np.random.default_rng(11)
    for _ in range(20):
        w = rng.normal(size=5)
        nearest = ncuts._to_simplex(w)
        assert nearest.min() >= 0 and nearest.sum() == pytest.approx(1)
        others = rng.dirichlet(np.ones(5), size=200)
        # the angle at the nearest point of a convex set is never acute
        assert np.max((others - nearest) @ (w - nearest)) <= 1e-12


# The estimator


def picture(rng, height=8, width=10):
    """Two halves that differ in the first of three features; the others are noise."""
    y = np.zeros((height, width), dtype=int)
    y[:, rng.integers(3, width - 3) :] = 1
    noise = rng.normal(size=(height, width, 3))
    return noise * [0.25, 1, 1] + y[:, :, None] * [1, 0, 0], y


def test_learns_which_feature_matters():
    rng = np.random.default_rng(12)
    pictures = [picture(rng) for _ in range(6)]
    model = NormalizedCutMetric(radius=2.5, scales=[1.0, 4.0], random_state=0)
    assert model.fit([X for X, _ in pictures[:3]], [y for _, y in pictures[:3]]) is model
    assert model.weights_[0] * 0.5 > 10 * max(model.weights_[1:])
    assert model.scale_ in (1.0, 4.0)
    assert model.scale_losses_.shape == (2,)
    assert model.n_features_in_ == 3
    assert_array_equal(model.get_mahalanobis_matrix(), np.diag(model.weights_))
    assert np.all(np.diff(model.objective_path_) <= 0)
    assert model.n_iter_ == len(model.objective_path_) - 1 >= 2
    assert model.objective_path_[-1] < 0.95 * model.objective_path_[0]
    edges = grid_edges(8, 10, 2.5)
    learned, equal = [], []
    for X, y in pictures[3:]:
        found = model.predict(X)
        assert found.shape == y.shape
        learned.append(partition_loss(found.ravel(), y.ravel()))
        W = gaussian_affinity(X.reshape(-1, 3), edges, np.full(3, model.weights_.mean()))
        equal.append(partition_loss(normalized_cut(W, 2, random_state=0), y.ravel()))
    assert np.mean(learned) < 0.3
    assert np.mean(learned) < np.mean(equal) / 2


def test_weights_keep_the_scale_and_the_path_is_the_mean_hinge():
    rng = np.random.default_rng(13)
    data = [picture(rng, 5, 9) for _ in range(2)]
    X, y = [x for x, _ in data], [y for _, y in data]
    model = NormalizedCutMetric(scales=[3.0], radius=2, max_iter=4, random_state=0).fit(X, y)
    edges = grid_edges(5, 9, 2)
    q = [squared_differences(x.reshape(-1, 3), edges) for x in X]
    spread = np.mean(q, axis=(0, 1))
    assert_allclose(model.weights_ @ spread, 3.0, rtol=1e-12)
    for b, objective in [(1 / spread, 0), (model.weights_, -1)]:
        hinges = [
            spectral_hinge(b, d, edges, part.ravel())[0] for d, part in zip(q, y, strict=True)
        ]
        assert_allclose(np.mean(hinges), model.objective_path_[objective], rtol=1e-10)
    again = clone(model).fit(X, y)
    assert_array_equal(again.weights_, model.weights_)


def test_uncertain_pixels_are_left_out():
    rng = np.random.default_rng(14)
    X, y = picture(rng)
    doubtful = y.copy()
    doubtful[2:4, 3:8] = -1
    spoiled = X.copy()
    spoiled[doubtful == -1] = 100
    first = NormalizedCutMetric(scales=[2.0], radius=2, random_state=0).fit([X], [doubtful])
    second = clone(first).fit([spoiled], [doubtful])
    assert_array_equal(first.weights_, second.weights_)


def test_points_without_a_grid_use_all_pairs():
    rng = np.random.default_rng(15)
    X, y = picture(rng, 4, 7)
    flat, labels = X.reshape(-1, 3), y.ravel()
    model = NormalizedCutMetric(scales=[2.0], random_state=0).fit([flat], [labels])
    wide = NormalizedCutMetric(scales=[2.0], radius=20, random_state=0).fit([X], [y])
    assert_allclose(model.weights_, wide.weights_, rtol=1e-6)
    assert_array_equal(model.predict(flat), wide.predict(X).ravel())


def test_a_start_that_cannot_be_improved_stays():
    X = np.array([[0.0], [0.1], [1.0], [1.2]])
    model = NormalizedCutMetric(scales=[1.0]).fit([X], [[0, 0, 1, 1]])  # one feature: one choice
    assert model.n_iter_ == 1
    assert model.objective_path_[0] == model.objective_path_[1]


# Bad input


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
    with pytest.raises(ValueError, match="radius must be a finite number, at least 1"):
        grid_edges(2, 2, 0.5)
    X = np.eye(3)
    for edges in ([[0, 1]], [[0.0], [1.0]], [0, 1]):
        with pytest.raises(ValueError, match=r"edges must be integers of shape \(2, m\)"):
            squared_differences(X, edges)
    for edges in ([[0], [3]], [[-1], [0]], [[1], [1]]):
        with pytest.raises(ValueError, match="edges must join two different nodes"):
            gaussian_affinity(X, edges, [1, 1, 1])
    for b in ([1.0, 1.0], [1.0, 1.0, -1.0], [1.0, np.inf, 1.0]):
        with pytest.raises(ValueError, match="b must hold 3 finite numbers, at least 0"):
            gaussian_affinity(X, [[0], [1]], b)
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


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({}, [], [], "X and y must be as long and not empty; got 0 and 0"),
        ({}, [np.eye(3)], [], "X and y must be as long and not empty; got 1 and 0"),
        ({}, [np.eye(3)], [[0, 1]], r"y\[0\] must have shape \(3,\), as X\[0\] has; got \(2,\)"),
        ({}, [np.eye(3)], [[1, 1, 1]], r"y\[0\] must have at least two parts; got one"),
        ({}, [np.eye(3)], [[0, 1, -2]], "non-negative"),
        ({}, [np.ones((2, 2, 2, 2))], [[0]], "got 4 dimensions"),
        (
            {},
            [np.eye(3), np.eye(2)],
            [[0, 1, 1], [0, 1]],
            r"X\[1\] must have 3 features",
        ),
        ({}, [[[0.0, 1.0], [1.0, 1.0]]], [[0, 1]], "feature 1 is the same for all pairs"),
        ({}, [[[np.nan], [1.0]]], [[0, 1]], "Input X contains NaN"),
        ({"scales": []}, [np.eye(3)], [[0, 1, 1]], "scales must hold at least one"),
        ({"scales": [0]}, [np.eye(3)], [[0, 1, 1]], "each of scales must be a finite number"),
        ({"max_iter": 0}, [np.eye(3)], [[0, 1, 1]], "max_iter must be an integer, at least 1"),
        ({"max_steps": 0}, [np.eye(3)], [[0, 1, 1]], "max_steps must be an integer, at least 1"),
        ({"tol": -1}, [np.eye(3)], [[0, 1, 1]], "tol must be a finite number, at least 0"),
        ({"radius": 0}, [np.ones((2, 2, 1))], [[[0, 1], [0, 1]]], "radius must be a finite"),
    ],
)
def test_bad_training_data_are_refused(parameters, X, y, message):
    with pytest.raises(ValueError, match=message):
        NormalizedCutMetric(**parameters).fit(X, y)


def test_bad_prediction_is_refused():
    model = NormalizedCutMetric(scales=[1.0])
    for call in (lambda: model.predict(np.eye(2)), model.get_mahalanobis_matrix):
        with pytest.raises(NotFittedError):
            call()
    model.fit([np.arange(8.0).reshape(4, 2)], [[0, 0, 1, 1]])
    with pytest.raises(ValueError, match="X has 3 features, but NormalizedCutMetric was fitted"):
        model.predict(np.eye(3))
