"""Distances between views, against loops by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from book.reproduction.views import distance_stacks, plain_distances

pytestmark = pytest.mark.book

TRAIN, TEST = np.arange(5), np.arange(5, 9)


def by_hand(kind, x, z):
    if kind == "chi2":
        return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)
    if kind == "l1":
        return np.abs(x - z).sum()
    return ((x - z) ** 2).sum()


@pytest.mark.parametrize("kind", ["chi2", "l1", "l2"])
def test_distances_by_hand(kind):
    rng = np.random.default_rng(0)
    views = {"a": rng.uniform(size=(9, 3)), "b": rng.uniform(size=(9, 2))}
    views["a"][:2, 0] = 0
    stacks = distance_stacks(plain_distances(views), TRAIN, TEST, [kind])
    assert stacks.names == [f"a, {kind}", f"b, {kind}"]
    assert stacks.across.shape == (2, 4, 5) and stacks.across.dtype == np.float32
    for i, X in enumerate(views.values()):
        pairs = [by_hand(kind, X[p], X[q]) for p in range(5) for q in range(p)]
        expected = np.array([[by_hand(kind, x, z) for z in X] for x in X]) / np.mean(pairs)
        assert_allclose(stacks.train[i], expected[:5, :5], atol=1e-6)
        assert_allclose(stacks.test[i], expected[5:, 5:], atol=1e-6)
        assert_allclose(stacks.across[i], expected[5:, :5], rtol=1e-6)


def test_rbf_is_the_distance_of_its_kernel():
    """Footnote 3 of the paper with k(x, z) = exp(−‖x − z‖² / mean)."""
    plain = plain_distances({"x": np.random.default_rng(1).uniform(size=(9, 3))})
    stacks = distance_stacks(plain, TRAIN, TEST, ["rbf", "l2"])
    scale = None
    for rbf, l2 in (stacks.train, stacks.test):
        k = np.exp(-l2.astype(float))
        distance = np.sqrt(np.maximum(np.diag(k)[:, None] + np.diag(k) - k - k.T, 0))
        scale = scale or distance[~np.eye(5, dtype=bool)].mean()  # of the training pairs
        assert_allclose(rbf, distance / scale, atol=2e-3)


def test_every_matrix_has_mean_one_over_the_training_pairs():
    rng = np.random.default_rng(2)
    views = {"small": 1e-6 * rng.uniform(size=(9, 2)), "large": 1e6 * rng.uniform(size=(9, 2))}
    train, _, _, names = distance_stacks(plain_distances(views), TRAIN, TEST)
    assert len(train) == len(names) == 8
    assert_allclose(train[:, ~np.eye(5, dtype=bool)].mean(axis=1), 1, rtol=1e-5)
    assert_allclose(train, train.transpose(0, 2, 1), atol=1e-3)


X = np.array([[0.0], [1.0]])
ROWS = np.arange(2)


@pytest.mark.parametrize(
    "views, rows, kinds, message",
    [
        ({"a": X}, ROWS, ["l3"], r"kinds must be of chi2, l2, l1, rbf; got \['l3'\]"),
        ({"a": X}, ROWS, [], "kinds must be of"),
        ({"a": X * 0}, ROWS, ["l1"], "all training data are the same in the view 'a'"),
        ({"a": X}, ROWS[:1], ["l1"], "all training data are the same"),
    ],
)
def test_bad_views(views, rows, kinds, message):
    with pytest.raises(ValueError, match=message):
        distance_stacks(plain_distances(views), rows, rows, kinds)


def test_negative_features():
    with pytest.raises(ValueError, match="not negative; got -1"):
        plain_distances({"a": X - 1})
