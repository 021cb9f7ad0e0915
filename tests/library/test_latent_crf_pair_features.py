"""Sums over pairs against the array of all features of all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.latent_crf.pair_features import read_features


def both_kinds(rng, n=6, n_features=3):
    """The same features read from points and from matrices, and as one array."""
    X = rng.normal(size=(n, n_features)) + 100
    f = (X[:, None] - X) ** 2
    stack = f.transpose(2, 0, 1) + np.diag(np.full(n, np.nan))
    return [read_features(X, "squared_differences"), read_features(stack, "precomputed")], f


@pytest.mark.equation("Komodakis 2011, Eq. 10")
def test_both_kinds_are_sums_over_the_array_of_features():
    rng = np.random.default_rng(0)
    kinds, f = both_kinds(rng)
    assignment = rng.integers(0, 6, 6)
    for features in kinds:
        assert (features.n_points, features.n_features) == (6, 3)
        for w in (np.array([0.5, 0.0, 2.0]), np.array([-1.0, 0.3, 0.0]), np.zeros(3)):
            D = features.distances(w)
            assert_allclose(D, f @ w, atol=1e-11)
            assert_array_equal(D.diagonal(), 0)
        assert_allclose(features.total(assignment), f[np.arange(6), assignment].sum(axis=0))
        assert_allclose(features.pair_total(), f.sum(axis=(0, 1)))
        assert_allclose(features.pair_mean(), f.sum(axis=(0, 1)) / 30)
        p, q, shares = rng.integers(0, 3, 8), rng.integers(3, 6, 8), rng.uniform(size=8)
        assert_allclose(features.mixture_total(p, q, shares), shares @ f[p, q])
        some = features.part(np.array([4, 1, 2]))
        w = np.array([0.5, 0.0, 2.0])
        assert_allclose(some.distances(w), features.distances(w)[np.ix_([4, 1, 2], [4, 1, 2])])


def test_distances_of_points_are_never_below_zero_for_weights_that_are_not():
    X = np.repeat(np.random.default_rng(1).normal(size=(5, 4)), 3, axis=0)
    D = read_features(X, "squared_differences").distances(np.ones(4))
    assert D.min() == 0 and np.all(D[0, 1:3] < 1e-14)


def test_signs_and_asymmetry_of_given_distances_stay():
    stack = np.random.default_rng(2).normal(size=(2, 4, 4))
    before = stack.copy()
    features = read_features(stack, "precomputed")
    off = ~np.eye(4, dtype=bool)
    assert_allclose(features.distances(np.array([1.0, -2.0]))[off], (stack[0] - 2 * stack[1])[off])
    assert_allclose(features.pair_total(), np.abs(stack)[:, off].sum(axis=1))
    assert_allclose(features.pair_mean(), stack[:, off].mean(axis=1))
    assert_array_equal(stack, before)  # the diagonal was emptied in a copy


def test_what_has_been_read_is_not_read_again():
    features = read_features(np.eye(3), "squared_differences")
    assert read_features(features, "precomputed") is features


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(dtype):
    X = np.random.default_rng(3).normal(size=(5, 2)).astype(dtype)
    assert read_features(X, "squared_differences").distances(np.ones(2)).dtype == dtype
    assert read_features(np.stack([X @ X.T]), "precomputed").distances(np.ones(1)).dtype == dtype


def test_refusals():
    with pytest.raises(ValueError, match=r"features must be one of .*precomputed"):
        read_features(np.eye(3), "cosine")
    with pytest.raises(ValueError, match=r"shape \(n_features, n, n\).*got \(3, 3\)"):
        read_features(np.eye(3), "precomputed")
    with pytest.raises(ValueError, match="matrices of one dataset must have one shape"):
        read_features([np.eye(3), np.eye(2)], "precomputed")
    with pytest.raises(ValueError, match=r"got nan in matrix 1 at \[0, 2\]"):
        read_features(
            [np.eye(3), np.where(np.arange(9).reshape(3, 3) == 2, np.nan, 1.0)], "precomputed"
        )
