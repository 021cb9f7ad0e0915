"""What the exercises of chapter 1 ask for: partition matrices, losses, a bound, a metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from book.checks.registry import compare, oracle, shown
from book.figures.kmeans import all_partitions
from mlbook._arrays import Floats
from mlbook.kmeans import distortion
from mlbook.partitions import equivalence_matrix, partition_loss

__all__ = ["coins", "hand", "impostor", "largest", "penalty"]


@oracle("ex-hand")
def hand(mine: Any) -> str | None:
    """Compare the matrix of {0, 2}, {4, 9} entry by entry."""
    C, right = np.asarray(mine, dtype=float), equivalence_matrix([0, 0, 1, 1])
    if C.shape != right.shape:
        return f"C has a row and a column for each of four points; yours has shape {C.shape}."
    off = np.argwhere(~np.isclose(C, right))
    if not len(off):
        return None
    i, j = off[0]
    where = f"Row {i + 1}, column {j + 1} is {shown(C[i, j])}."
    if not np.allclose(C.sum(axis=1), 1):
        return f"{where} Not every row sums to 1."
    return f"{where} Are these two points in one group, and how many points has it?"


@oracle("ex-impostor")
def impostor(mine: Any) -> str | None:
    """Go through what the matrix must have, and see that it is no partition."""
    C = np.asarray(mine, dtype=float)
    if C.shape != (3, 3):
        return f"The matrix must be 3 × 3; yours has shape {C.shape}."
    asked = {
        "It is not symmetric.": np.allclose(C, C.T),
        "It has a negative entry.": C.min() >= -1e-9,
        "It is not idempotent: C² is another matrix.": np.allclose(C @ C, C),
        f"Its trace is {shown(C.trace())}, so its rank is not 1.": np.isclose(C.trace(), 1),
        "It is a partition matrix: all points in one cluster.": not np.allclose(C, 1 / 3),
    }
    return next((said for said, holds in asked.items() if not holds), None)


@oracle("ex-largest")
def largest(mine: Any) -> str | None:
    """See that two partitions of 12 points have 3 and 4 clusters and the largest Δ."""
    if not isinstance(mine, list | tuple) or len(mine) != 2:
        return f"Give a pair of lists of labels. This is {shown(mine)}."
    pair = [np.asarray(labels) for labels in mine]
    for labels, k in zip(pair, (3, 4), strict=True):
        if labels.shape != (12,):
            return f"Each partition needs 12 labels; one has shape {labels.shape}."
        if len(set(labels.tolist())) != k:
            found = len(set(labels.tolist()))
            return (
                f"The first has 3 clusters and the second 4; one that should have {k} has {found}."
            )
    left, right = (np.unique(labels, return_inverse=True)[1] for labels in pair)
    loss = partition_loss(left, right)
    if np.isclose(loss, 3 + 4 - 2):
        return None
    return f"Their Δ is {loss:.3f}, which is not yet the largest. Look at the contingency table."


@oracle("ex-coins")
def coins(mine: Any) -> str | None:
    """Compare the metric with that of the normal equations, up to a factor, on small data."""
    return compare(
        mine,
        _regressed,
        [_two_clouds(seed, n) for seed in range(4) for n in (4, 10)],
        describe=lambda X, y: f"{len(X)} points in {X.shape[1]} features",
        same=_proportional,
        must={
            "M must have a row and a column for each feature.": lambda M, X, y: (
                np.shape(M) == (X.shape[1], X.shape[1])
            ),
            "M must be symmetric.": lambda M, X, y: np.allclose(M, np.transpose(M)),
            "M must have no negative eigenvalue.": lambda M, X, y: (
                np.linalg.eigvalsh(M).min() > -1e-9 * np.trace(M)
            ),
            "M = wwᵀ has rank 1.": lambda M, X, y: (
                np.linalg.matrix_rank(M, 1e-6 * np.trace(M)) == 1
            ),
            "Another w has a smaller sum of squares. Are X and y both centred?": lambda M, X, y: (
                False
            ),
        },
    )


def _regressed(X: Floats, y: Floats) -> Floats:
    Z = X - X.mean(axis=0)
    w = np.linalg.solve(Z.T @ Z, Z.T @ (y - y.mean()))
    return np.outer(w, w)


def _proportional(mine: Any, right: Floats) -> bool:
    M = np.asarray(mine, dtype=float)
    return M.shape == right.shape and bool(
        np.trace(M) > 0 and np.allclose(M / np.trace(M), right / right.trace(), atol=1e-6)
    )


def _two_clouds(seed: int, n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) @ [[2.0, 1.0], [0.0, 0.5]] + 3 * y[:, None] + rng.normal(size=2)
    return X, y.astype(float)


@oracle("ex-penalty")
def penalty(mine: Any) -> str | None:
    """Compare the bound with all partitions of small sets, and with the best that is known."""
    inputs = [
        (np.random.default_rng(seed).normal(size=(n, d)) + 2, price)
        for seed in range(3)
        for n, d in ((3, 2), (5, 2), (5, 6))
        for price in (0.1, 1.0, 10.0)
    ]
    return compare(
        mine,
        lambda X, price: _relaxed(X, price),
        inputs,
        describe=lambda X, price: f"{len(X)} points in {X.shape[1]} features and price {price}",
        must={
            "That is more than some partition costs: it is no lower bound.": lambda got, X, price: (
                got <= _cheapest(X, price) + 1e-9
            ),
            "It is a lower bound, but without C1 = 1. Is the data centred, and the constant "
            "vector paid?": lambda got, X, price: False,
        },
    )


def _relaxed(X: Floats, price: float) -> float:
    Z = X - X.mean(axis=0)
    mu = np.linalg.eigvalsh(Z @ Z.T)
    return float(price + np.minimum(mu, price).sum())


def _cheapest(X: Floats, price: float) -> float:
    """Return what the cheapest of all partitions costs."""
    return min(
        float(distortion(X, labels)) + price * (max(labels) + 1)
        for labels in all_partitions(len(X))
    )
