"""The oracles of the chapter on the latent CRF take right solutions and refuse typical mistakes."""

import numpy as np
import pytest

from book.checks.latent_crf import certificate, nearest, pairs, sort_box
from book.figures.latent_crf import cards

pytestmark = pytest.mark.book


def own_exemplars(D, labels):
    chosen = np.empty(len(D), dtype=int)
    for c in np.unique(labels):
        inside = np.flatnonzero(labels == c)
        chosen[inside] = inside[D[np.ix_(inside, inside)].sum(axis=0).argmin()]
    return chosen


def by_rows(D, labels):
    return own_exemplars(D.T, labels)


def to_the_nearest(D, labels):
    Q = np.unique(own_exemplars(D, labels))
    D = D.copy()
    return Q[D[:, Q].argmin(axis=1)]


def test_certificate():
    assert certificate([4.0, 3.0, 4.0, 9.0]) is None
    assert certificate([2.0, 1.0, 2.0, 3.0]) is not None
    assert "Too much is offered at 0 and 1" in certificate([5.0, 5.0, 5.0, 9.0])
    assert "four offers" in certificate([1.0])
    assert certificate([3.9, 3.2, 3.9, 9.0]) is None  # other offers prove it as well


def test_fill_in():
    assert nearest(own_exemplars) is None
    assert "from p to q" in nearest(by_rows)
    assert "its own cluster" in nearest(to_the_nearest)
    assert "a number" in nearest(lambda D, labels: labels[:1])


def test_pairs():
    def fast(A, X):
        return A.sum(axis=1) @ X**2 + A.sum(axis=0) @ X**2 - 2 * np.sum(X * (A @ X), axis=0)

    assert pairs(fast) is None
    rows_only = pairs(lambda A, X: 2 * A.sum(axis=1) @ X**2 - 2 * np.sum(X * (A @ X), axis=0))
    assert rows_only is not None  # right for symmetric matrices only
    assert pairs(lambda A, X: np.sum(X * (A @ X), axis=0)) is not None
    assert "itself" in pairs(3)


def test_cards():
    assert sort_box(cards.learned_cards("left").predict) is None
    assert "on average" in sort_box(lambda X: np.zeros(len(X), dtype=int))
    assert "on average" in sort_box(cards.learned_cards("right").predict)
    assert "shape" in sort_box(lambda X: np.zeros(3))
    assert "itself" in sort_box(0)
