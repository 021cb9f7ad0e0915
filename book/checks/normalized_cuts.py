"""What the exercises of the chapter on normalized cuts ask for, by brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from book.checks.registry import compare, oracle, shown
from mlbook.ncuts import normalized_cut_value, spectral_hinge, squared_differences

__all__ = ["gradient", "points", "sweep"]

Array = NDArray[Any]


@oracle("seg-ex-sweep")
def sweep(mine: Callable[..., Any]) -> str | None:
    """Compare `all_cuts(W, order)` with the value of each cut by itself."""

    def right(W: Array, order: Array) -> Array:
        values = []
        for size in range(1, len(W)):
            labels = np.zeros(len(W), dtype=int)
            labels[order[size:]] = 1
            values.append(normalized_cut_value(W, labels))
        return np.array(values)

    inputs = []
    for seed in range(20):
        rng, n = np.random.default_rng(seed), 2 + seed // 3
        W = rng.integers(1, 6, (n, n)).astype(float)
        W = W + W.T
        if seed % 2:
            np.fill_diagonal(W, 0)
        inputs.append((W, rng.permutation(n)))
    return compare(
        mine,
        right,
        inputs,
        must={
            "There should be one value for each threshold, n − 1 in all.": lambda got, W, order: (
                np.shape(got) == (len(W) - 1,)
            ),
            "The first value is that of the first node of the order alone.": lambda got, W, order: (
                np.isclose(got[0], right(W, order)[0])
            ),
        },
    )


@oracle("seg-ex-points")
def points(mine: Callable[..., Any]) -> str | None:
    """Compare the weighted distortion of `as_points(W)` with NCut for all partitions."""
    if not callable(mine):
        return f"Give your function itself, without calling it. This is {shown(mine)}."
    for seed in range(10):
        n = 3 + seed % 3
        factor = np.random.default_rng(seed).exponential(size=(n, n)).round(1) + np.eye(n)
        W = factor @ factor.T
        got = mine(W.copy())
        if not isinstance(got, tuple) or len(got) != 2:
            return f"Return the points and their weights, a tuple of two. This is {shown(got)}."
        X, weights = np.asarray(got[0], dtype=float), np.asarray(got[1], dtype=float)
        if X.ndim != 2 or len(X) != n or weights.shape != (n,):
            return (
                f"For {n} nodes there should be {n} rows of points and {n} weights; the shapes "
                f"are {X.shape} and {weights.shape}."
            )
        g = W.sum(axis=0)
        for rest in product(range(n), repeat=n - 1):
            labels = np.unique((0, *rest), return_inverse=True)[1]
            k = int(labels.max()) + 1
            spread = 0.0
            for c in range(k):
                part, w = X[labels == c], weights[labels == c]
                spread += float(w @ np.sum((part - w @ part / w.sum()) ** 2, axis=1))
            expected = normalized_cut_value(W, labels) - k + float(np.sum(W.diagonal() / g))
            if not np.isclose(spread, expected):
                return (
                    f"For W = {shown(W)} the partition {shown(labels)} has the weighted distortion "
                    f"{spread:.4g}; NCut − k + Σ W_ii / g_i is {expected:.4g}."
                )
    return None


@oracle("seg-ex-gradient")
def gradient(mine: Callable[..., Any]) -> str | None:
    """Compare `gradient(b, X, labels)` with finite differences of the hinge."""

    def right(b: Array, X: Array, labels: Array) -> Array:
        edges = np.array(np.triu_indices(len(X), 1))
        squares = squared_differences(X, edges)

        def hinge(weights: Array) -> float:
            value = spectral_hinge(weights, squares, edges, labels, score_weight=5.0)[0]
            return float(value)

        step = 1e-5 * np.eye(len(b))
        return np.array([(hinge(b + e) - hinge(b - e)) / 2e-5 for e in step])

    inputs = []
    for seed in range(6):
        rng, n = np.random.default_rng(seed), 4 + seed
        inputs.append((rng.uniform(0.2, 1, 2), rng.normal(size=(n, 2)), np.arange(n) % 2))
    return compare(
        mine,
        right,
        inputs,
        same=lambda got, theirs: np.allclose(got, theirs, rtol=1e-4, atol=1e-5),
        must={
            "There should be one number for each weight.": lambda got, b, *_: (
                np.shape(got) == np.shape(b)
            ),
            "It points the other way.": lambda got, *given: (
                not np.allclose(got, -right(*given), rtol=1e-4, atol=1e-5)
            ),
        },
    )
