"""The oracles of the chapter on normalized cuts: right solutions pass, wrong ones do not."""

import numpy as np
import pytest

from book.checks import normalized_cuts as checks
from mlbook.partitions import equivalence_matrix

pytestmark = pytest.mark.book


def all_cuts(W, order, *, loops=True, total=True):
    W = W[np.ix_(order, order)]
    g, over = W.sum(axis=0), np.tril(W, -1).sum(axis=1)
    cut = np.cumsum(g - W.diagonal() * loops - 2 * over)[:-1]
    volume = np.cumsum(g)[:-1]
    return cut / volume + cut / (g.sum() - volume) * total


def test_all_thresholds():
    assert checks.sweep(all_cuts) is None
    assert "first value" in checks.sweep(lambda W, order: all_cuts(W, order, loops=False))
    assert checks.sweep(lambda W, order: all_cuts(W, order, total=False)) is not None
    assert "n − 1" in checks.sweep(lambda W, order: np.append(all_cuts(W, order), 0))


def test_points_of_weighted_k_means():
    def right(W):
        return np.linalg.cholesky(W) / W.sum(axis=0)[:, None], W.sum(axis=0)

    def undivided(W):
        return np.linalg.cholesky(W), W.sum(axis=0)

    assert checks.points(right) is None
    assert "NCut" in checks.points(undivided)
    assert "NCut" in checks.points(lambda W: (right(W)[0], np.ones(len(W))))
    assert "tuple" in checks.points(lambda W: right(W)[0])
    assert "rows" in checks.points(lambda W: (right(W)[0][:-1], right(W)[1]))
    assert "itself" in checks.points(3)


def gradient(b, X, labels, sign=-1, loss=True):
    n = len(X)
    squares = (X[:, None] - X) ** 2
    W, C = np.exp(-squares @ b), equivalence_matrix(labels)
    centre = np.eye(n) - 1 / n
    u = np.linalg.eigh(centre @ (5 / n * W - 2 * C * loss) @ centre - 100 / n)[1][:, -1]
    winner = 1 / n + np.outer(u, u)
    return sign * 5 / n * np.einsum("ij,ij,ijp->p", winner - C, W, squares)


def test_gradient_of_the_hinge():
    assert checks.gradient(gradient) is None
    assert "other way" in checks.gradient(lambda *given: gradient(*given, sign=1))
    assert checks.gradient(lambda *given: gradient(*given, loss=False)) is not None
