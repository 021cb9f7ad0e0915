"""The oracles of chapter 1: right solutions pass, typical mistakes are refused."""

import numpy as np
import pytest

from book.checks import kmeans as oracles
from book.checks.kmeans import _cheapest, _relaxed

pytestmark = pytest.mark.book

HALF = np.full((2, 2), 0.5)
ZERO = np.zeros((2, 2))


def test_hand():
    assert oracles.hand(np.block([[HALF, ZERO], [ZERO, HALF]])) is None
    assert oracles.hand([[0.5, 0.5, 0, 0]] * 2 + [[0, 0, 0.5, 0.5]] * 2) is None
    other = np.block([[np.full((3, 3), 1 / 3), np.zeros((3, 1))], [np.zeros((1, 3)), 1]])
    assert "one group" in oracles.hand(other)
    assert "sums to 1" in oracles.hand(2 * np.block([[HALF, ZERO], [ZERO, HALF]]))
    assert "shape (2, 2)" in oracles.hand(HALF)


def test_impostor():
    v = np.array([1, 1, 2]) / np.sqrt(6)
    assert oracles.impostor(np.outer(v, v)) is None
    assert oracles.impostor(np.diag([1.0, 0, 0])) is None
    assert "partition matrix" in oracles.impostor(np.full((3, 3), 1 / 3))
    assert "trace is 3" in oracles.impostor(np.eye(3))
    w = np.array([1, -1, 0]) / np.sqrt(2)
    assert "negative" in oracles.impostor(np.outer(w, w))
    assert "not idempotent" in oracles.impostor(np.ones((3, 3)))
    assert "not symmetric" in oracles.impostor(np.triu(np.ones((3, 3))))
    assert "shape (2, 2)" in oracles.impostor(HALF)


def test_largest():
    row, column = np.divmod(np.arange(12), 4)
    assert oracles.largest((row, column)) is None
    assert oracles.largest(["x", "y", "z"][i] for i in row) is not None
    assert oracles.largest(([["x", "y", "z"][i] for i in row], list(column))) is None
    assert "first has 3" in oracles.largest((column, row))
    assert "not yet the largest" in oracles.largest((np.repeat([0, 1, 2], 4), np.arange(12) // 3))
    assert "12 labels" in oracles.largest((row[:6], column[:6]))


def test_coins():
    def right(X, y):
        w = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
        return 7 * np.outer(w, w)

    def uncentred(X, y):
        w = np.linalg.lstsq(X, y, rcond=None)[0]
        return np.outer(w, w)

    assert oracles.coins(right) is None
    assert "centred" in oracles.coins(uncentred)
    assert "rank 1" in oracles.coins(lambda X, y: np.eye(2))
    assert "row and a column" in oracles.coins(lambda X, y: np.ones(2))
    assert "symmetric" in oracles.coins(lambda X, y: np.array([[1.0, 1.0], [0.0, 1.0]]))
    assert "eigenvalue" in oracles.coins(lambda X, y: np.diag([2.0, -1.0]))


def test_penalty():
    def right(X, price):
        sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
        return price + np.minimum(sigma**2, price).sum()

    def plain(X, price):
        return np.minimum(np.linalg.eigvalsh(X @ X.T), price).sum()

    assert oracles.penalty(right) is None
    assert "without C1 = 1" in oracles.penalty(plain)
    assert "no lower bound" in oracles.penalty(lambda X, price: np.sum(X**2) + price)
    assert "without calling it" in oracles.penalty(3.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_the_oracle_is_below_all_partitions(seed):
    X = np.random.default_rng(seed).normal(size=(5, 3))
    for price in (0.1, 1.0, 10.0):
        assert _relaxed(X, price) <= _cheapest(X, price) + 1e-9
