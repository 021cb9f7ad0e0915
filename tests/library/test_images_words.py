"""Histograms of words against a count by hand; χ² distances against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.images import chi2_distances, word_pyramid, words


def test_pyramid_by_hand():
    grid = np.random.default_rng(0).integers(5, size=(7, 9))
    found = word_pyramid(grid, 6, levels=(1, 3))
    expected = [np.bincount(grid.ravel(), minlength=6)]
    edges = [np.ceil(np.arange(4) * n / 3).astype(int) for n in grid.shape]
    for i in range(3):
        for j in range(3):
            cell = grid[edges[0][i] : edges[0][i + 1], edges[1][j] : edges[1][j + 1]]
            expected.append(np.bincount(cell.ravel(), minlength=6))
    assert_allclose(found, np.concatenate(expected) / 63)
    assert found[:6].sum() == pytest.approx(1) and found[6:].sum() == pytest.approx(1)


def test_a_turned_image_has_the_words_of_the_whole_and_turned_parts():
    grid = np.random.default_rng(1).integers(4, size=(8, 8))
    one = word_pyramid(grid, 4, levels=(1, 2)).reshape(5, 4)
    half_turn = word_pyramid(grid[::-1, ::-1], 4, levels=(1, 2)).reshape(5, 4)
    assert_array_equal(one[0], half_turn[0])
    assert_array_equal(one[1:], half_turn[:0:-1])


@pytest.mark.parametrize(
    "grid, n_words, levels, message",
    [
        ([0, 1], 2, (1,), r"words must be a grid .* got shape \(2,\)"),
        ([[0, 1]], 2, (2,), r"words must be a grid .* got shape \(1, 2\) and \[2\]"),
        ([[0, 1]], 2, (), "levels must be .* not empty"),
        ([[0, 1]], 2, 1, "levels must be a one-dimensional array"),
        ([[0, 2]], 2, (1,), "words must be below n_words=2; got 2"),
        ([[-1, 0]], 2, (1,), "words must be at least 0; got -1"),
        ([[0.0, 1.0]], 2, (1,), "words must be .* integers.* float64"),
        ([[0, 1]], 0, (1,), "n_words must be an integer, at least 1"),
        ([[0, 1]], 2, (0,), "levels must be at least 1; got 0"),
    ],
)
def test_bad_words(grid, n_words, levels, message):
    with pytest.raises(ValueError, match=message):
        word_pyramid(grid, n_words, levels=levels)


def by_definition(X, Y):
    with np.errstate(invalid="ignore"):
        terms = (X[:, None] - Y) ** 2 / (X[:, None] + Y)
    return np.nan_to_num(terms).sum(axis=2)


@pytest.fixture(params=["numba", "plain loops", "scikit-learn"])
def way(request, monkeypatch):
    """With numba, with its loops in Python, and without it."""
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        loops = words.common_parts if request.param == "plain loops" else None
        monkeypatch.setattr(words, "load", lambda: loops)


@given(st.integers(1, 6), st.integers(1, 7), st.integers(1, 9), st.integers(0, 10**6))
def test_chi2_identity(n, m, d, seed):
    """(x − y)² / (x + y) = x + y − 4 x y / (x + y), in plain loops."""
    rng = np.random.default_rng(seed)
    X, Y = (rng.random((k, d)) * (rng.random((k, d)) < 0.5) for k in (n, m))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "load", lambda: words.common_parts)
        assert_allclose(chi2_distances(X, Y), by_definition(X, Y), atol=1e-12)


def test_chi2_is_its_definition(way):
    rng = np.random.default_rng(0)
    X = rng.random((30, 50)) * (rng.random((30, 50)) < 0.2)
    X[0] = 0
    assert_allclose(chi2_distances(X, X[:7]), by_definition(X, X[:7]), atol=1e-12)
    within = chi2_distances(X)
    assert_allclose(within, by_definition(X, X), atol=1e-12)
    assert within.min() >= 0


def test_bad_histograms(way):
    with pytest.raises(ValueError, match="not negative; got -1"):
        chi2_distances([[1.0, 0.0]], [[-1.0, 2.0]])
    with pytest.raises(ValueError, match=r"same columns; got \(1, 2\), \(1, 1\)"):
        chi2_distances([[1.0, 0.0]], [[1.0]])
    with pytest.raises(ValueError, match="X contains NaN"):
        chi2_distances([[np.nan, 0.0]])
