"""What the exercises of the chapter on MLCA check: by hand, over all pairs, by the definition."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from book.checks.registry import alike, compare, oracle, shown
from mlbook._arrays import Floats, Integers

__all__ = ["by_hand", "pairs", "shrink"]


@oracle("mlca-ex-hand")
def by_hand(M: Any) -> str | None:
    """Check the metric of the four points with the classes {1, 4} and {2, 3}."""
    try:
        matrix = np.asarray(M, dtype=float)
    except (TypeError, ValueError):
        return f"M must be a 3 × 3 matrix of numbers. This is {shown(M)}."
    if matrix.shape != (3, 3):
        return f"There are three features, so M is 3 × 3. This has shape {matrix.shape}."
    if not alike(matrix, matrix.T):
        return "M must be symmetric."
    X = np.array([[1.0, -3, 5], [1, -1, -5], [1, 1, -5], [1, 3, 5]])
    weights = [sum(X[[i, j], f].sum() ** 2 / 2 for i, j in [(0, 3), (1, 2)])
               / (X[:, f] @ X[:, f]) ** 2 for f in range(3)]  # fmt: skip
    names = ["constant", "signal", "nuisance"]
    if not alike(matrix, np.diag(np.diag(matrix))):
        return (
            "The columns of X are orthogonal, and so are the sums over the classes: M is diagonal."
        )
    for name, mine, true in zip(names, np.diag(matrix), weights, strict=True):
        if not alike(mine, true):
            return f"The entry of the {name} differs; yours is {shown(mine)}."
    return None


def _different_pairs(X: Floats, y: Integers) -> Floats:
    total = np.zeros((X.shape[1], X.shape[1]))
    for i, j in combinations(range(len(X)), 2):
        if y[i] != y[j]:
            total += np.outer(X[i] - X[j], X[i] - X[j])
    return total


@oracle("mlca-ex-pairs")
def pairs(mine: Any) -> str | None:
    """Check a sum over all pairs of rows of different classes."""
    rng = np.random.default_rng(0)
    cases = [(np.array([[0.0], [3.0]]), np.array([0, 1])),
             (np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]))]  # fmt: skip
    for n, d in [(5, 2), (9, 3), (12, 2)]:
        cases.append((rng.integers(-4, 5, size=(n, d)).astype(float), rng.integers(0, 3, size=n)))
    must = {
        "The result must be a d × d matrix.": lambda got, X, y: (
            np.shape(got) == (X.shape[1], X.shape[1])
        ),
        "Each pair counts once, not in both orders.": lambda got, X, y: (
            not alike(got, 2 * _different_pairs(X, y))
        ),
        "These are all pairs, also those within a class.": lambda got, X, y: (
            not alike(got, _different_pairs(X, np.arange(len(y))))
        ),
    }
    return compare(mine, _different_pairs, cases, must=must)


def _shrunk(X: Floats, y: Integers, a: float) -> Floats:
    n, d = X.shape
    total, between = np.zeros((d, d)), np.zeros((d, d))
    centre = X.sum(axis=0) / n
    for i in range(n):
        total += np.outer(X[i] - centre, X[i] - centre)
        mean = X[y == y[i]].mean(axis=0) - centre
        between += np.outer(mean, mean)
    mixed = [(1 - a) * S + a * sum(S[j, j] for j in range(d)) / d * np.eye(d)
             for S in (total, between)]  # fmt: skip
    inverse = np.linalg.inv(mixed[0])
    return np.asarray(inverse @ mixed[1] @ inverse)


@oracle("mlca-ex-shrink")
def shrink(mine: Any) -> str | None:
    """Check the shrunk metric on small rows of two and three classes."""
    rng = np.random.default_rng(1)
    cases = [(np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1]), a) for a in (0.0, 0.5, 1.0)]
    for n, d, a in [(6, 2, 1.0), (6, 2, 0.5), (8, 2, 0.0), (9, 3, 0.3)]:
        cases.append((rng.integers(-4, 5, size=(n, d)).astype(float), np.arange(n) % 3, a))
    must = {
        "The result must be a d × d matrix.": lambda got, X, y, a: (
            np.shape(got) == (X.shape[1], X.shape[1])
        ),
        "With a = 1 nothing may be left but a multiple of the identity.": lambda got, X, y, a: (
            a < 1 or alike(got, got[0, 0] * np.eye(len(got)))
        ),
        "Are the rows centred? Moving all of them must change nothing.": lambda got, X, y, a: alike(
            mine(X + 1.0, y, a), got
        ),
        "Are both scatters shrunk, each with the mean of its own diagonal?": (
            lambda got, X, y, a: False
        ),
    }
    return compare(mine, _shrunk, cases, must=must)
