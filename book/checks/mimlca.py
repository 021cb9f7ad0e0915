"""Oracles of the chapter on MIMLCA, all by trying every way to name the instances of a bag."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np

from book.checks.registry import compare, oracle
from mlbook._arrays import Floats

__all__ = ["count", "greedy", "reject"]


@oracle("mi-ex-count")
def count(mine: Any) -> str | None:
    """Count by trying every way to give each instance a label or none."""
    bags = [([1], [1]), ([2], [2]), ([3], [2]), ([2], [3]), ([1], [4]), ([3, 2], [2, 2])]
    bags += [([0, 2], [1, 1]), ([2, 1, 3], [2, 2, 1]), ([4], [3])]
    return compare(
        mine,
        _count,
        bags,
        must="Choose who is named, choose the labels, match them, for each bag.",
    )


def _count(instances: list[int], labels: list[int]) -> int:
    return int(np.prod([len(list(_ways(n, q))) for n, q in zip(instances, labels, strict=True)]))


def _ways(n: int, q: int) -> Iterator[tuple[int, ...]]:
    """Yield the feasible names of a bag: a label for each instance, −1 for none."""
    for names in product(range(-1, q), repeat=n):
        given = [c for c in names if c >= 0]
        if len(given) == len(set(given)) == min(n, q):
            yield names


@oracle("mi-ex-greedy")
def greedy(mine: Any) -> str | None:
    """Take the pairs from cheap to dear, each if its row and column are still free."""
    rng = np.random.default_rng(0)
    shapes = [(1, 1), (2, 2), (2, 2), (3, 2), (2, 4), (3, 3), (4, 4), (5, 5)]
    tables = [np.array([[0.0, 1.0], [1.0, 200.0]])] + [rng.random(shape) for shape in shapes]
    return compare(
        mine,
        _greedy,
        [(table,) for table in tables],
        must={
            "It is the sum of as many costs as can be paired.": _pays_enough,
            "Take the smallest cost of all that is left, then the next, until none is left.": (
                lambda paid, costs: False
            ),
        },
    )


def _greedy(costs: Floats) -> float:
    paid, rows, columns = 0.0, set(), set()
    for i, j in sorted(np.ndindex(*costs.shape), key=lambda at: costs[at]):
        if i not in rows and j not in columns:
            paid += float(costs[i, j])
            rows.add(i)
            columns.add(j)
    return paid


def _pays_enough(paid: float, costs: Floats) -> bool:
    """Say if a sum is not below that of the cheapest pairs."""
    tall = costs if len(costs) >= costs.shape[1] else costs.T
    orders = permutations(range(len(tall)), tall.shape[1])
    least = min(tall[list(rows), range(tall.shape[1])].sum() for rows in orders)
    return bool(paid >= least - 1e-9)


@oracle("mi-ex-reject")
def reject(mine: Any) -> str | None:
    """Try every way to name instances or not, at any number of names."""
    rng = np.random.default_rng(0)
    bags = []
    for shape in [(1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (4, 3)] * 3:
        bags.append((rng.uniform(0, 3, size=shape), rng.uniform(0, 3, size=shape[0])))
    return compare(
        mine,
        _rejecting,
        bags,
        must={
            "It must hold one label for each instance, from -1 on.": _is_shaped,
            "A label is given twice.": _gives_once,
            "Another choice costs less: pay the costs of the named, the prices of the others.": (
                lambda names, costs, prices: False
            ),
        },
    )


def _rejecting(costs: Floats, prices: Floats) -> list[int]:
    n, q = costs.shape
    best, least = [-1] * n, float(np.sum(prices))
    for names in product(range(-1, q), repeat=n):
        given = [c for c in names if c >= 0]
        if len(given) == len(set(given)):
            paid = sum(costs[j, c] if c >= 0 else prices[j] for j, c in enumerate(names))
            if paid < least:
                best, least = list(names), float(paid)
    return best


def _is_shaped(names: Any, costs: Floats, prices: Floats) -> bool:
    found = np.asarray(names)
    return found.shape == prices.shape and bool(np.all(np.isin(found, range(-1, costs.shape[1]))))


def _gives_once(names: Any, costs: Floats, prices: Floats) -> bool:
    given = [c for c in np.asarray(names).tolist() if c >= 0]
    return len(given) == len(set(given))
