"""The exercises of the chapter on change points, checked against all segmentations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from book.checks.registry import oracle, shown
from book.figures.change_points.cases import splits_in_time
from mlbook._arrays import Floats, Integers
from mlbook.partitions import equivalence_matrix

__all__: list[str] = []


def _value(A: Floats, labels: Integers) -> float:
    return float(np.sum(A * equivalence_matrix(labels)))


def _long(n: int, length: int) -> list[Integers]:
    """All segmentations without short segments; one segment if there are none."""
    kept = [a for a in splits_in_time(n) if np.bincount(a).min() >= length]
    return kept or [np.zeros(n, dtype=int)]


def _labels(mine: Any, n: int) -> Integers | str:
    """Read what a function returned as labels 0, 0, 1, ..., or say why they are none."""
    labels = np.asarray(mine)
    if labels.shape != (n,):
        return f"an answer of shape {labels.shape}, not one label for each of the {n} points"
    if labels[0] != 0 or not np.isin(np.diff(labels), (0, 1)).all():
        return f"{shown(labels)}: segments are numbered 0, 1, 2, ... from left to right"
    return labels.astype(int)


@oracle("cp-ex-fibonacci")
def long_segments(mine: Callable[[Floats, int], Any]) -> str | None:
    """Compare segments that are not too short with all such segmentations of random matrices."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, length = 2 + seed // 5, 1 + seed % 3
        A = rng.normal(size=(n, n)).round(1)
        A = A + A.T
        found = _labels(mine(A.copy(), length), n)
        where = f"For n = {n} and length = {length} (default_rng({seed})) your function returned"
        if isinstance(found, str):
            return f"{where} {found}."
        allowed = _long(n, length)
        if not any(np.array_equal(found, a) for a in allowed):
            return f"{where} {shown(found)}, which has a segment that is too short."
        if _value(A, found) < max(_value(A, a) for a in allowed) - 1e-9:
            return f"{where} {shown(found)}; another segmentation has a larger value."
    return None


@oracle("cp-ex-pruning")
def pruned(mine: Callable[[Floats, float], Any]) -> str | None:
    """Compare the segments at a price with all segmentations, and count the starts."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, price = 2 + seed // 3, float(rng.uniform(0.5, 4))
        x = rng.normal(0, 3, size=n).round(1)
        labels, _ = mine(x.copy(), price)
        where = f"For x = {shown(x)} and price = {price:.3f}"
        found = _labels(labels, n)
        if isinstance(found, str):
            return f"{where} your function returned {found}."
        A = np.outer(x, x) - price * np.eye(n)
        if _value(A, found) < max(_value(A, a) for a in splits_in_time(n)) - 1e-9:
            return f"{where} your segments {shown(found)} are not the best: others cost less."
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(0, 5, size=10), 15) + rng.normal(size=150)
    tried = float(mine(x, 10.0)[1])
    if tried < 150:
        return f"For 150 numbers your function counted {tried:g} starts; each end has at least one."
    if tried > 150 * 151 / 4:
        return (
            f"The segments are right, but for 150 numbers with a change every 15 your function "
            f"tried {tried:g} starts, more than half of all. Which ones can be forgotten?"
        )
    return None


@oracle("cp-ex-speech")
def round_of(mine: Callable[..., Any]) -> str | None:
    """Compare a loss-augmented round with all segmentations that are not too short."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, length = 4 + seed // 5, 1 + seed % 2
        X, root = rng.normal(size=(n, 2)), rng.normal(size=(2, 2))
        M, every = root @ root.T / 2, _long(n, length)
        y = every[rng.integers(len(every))]
        C, K = equivalence_matrix(y), X @ M @ X.T
        terms = [
            np.sum((equivalence_matrix(a) - C) ** 2)
            + np.sum(K * (equivalence_matrix(a) - C))
            - float(a[-1] - y[-1])
            for a in every
        ]
        hinge, G = mine(M.copy(), X.copy(), y.copy(), length)
        where = f"For {n} points and length = {length} (default_rng({seed}))"
        if not np.isclose(hinge, max(terms)):
            side = "less" if hinge < max(terms) else "more"
            return f"{where} your hinge is {hinge:.4f}, {side} than the largest of all brackets."
        worst = equivalence_matrix(every[int(np.argmax(terms))])
        if np.shape(G) != (2, 2) or not np.allclose(G, X.T @ (worst - C) @ X):
            return f"{where} the hinge is right, but G = {shown(np.asarray(G))} is no slope of it."
    return None
