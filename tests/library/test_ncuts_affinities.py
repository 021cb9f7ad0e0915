"""Pairs of pixels and affinities, from their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mlbook.ncuts import gaussian_affinity, grid_edges, squared_differences


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


def test_bad_arguments_are_refused():
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
