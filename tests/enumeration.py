"""All partitions, segmentations and choices of exemplars of a few points: oracles of many tests."""

from collections.abc import Iterable, Iterator
from itertools import chain, combinations, product
from math import comb, factorial

import numpy as np


def partitions_into_at_most(n: int, k: int) -> Iterator[np.ndarray]:
    """Every partition of n points into at most k clusters, once, as labels.

    The labels are restricted growth strings: clusters are numbered in order of appearance.
    """

    def grow(prefix: list[int], used: int) -> Iterator[np.ndarray]:
        if len(prefix) == n:
            yield np.array(prefix)
            return
        for label in range(min(used + 1, k)):
            yield from grow([*prefix, label], max(used, label + 1))

    return grow([], 0)


def partitions_into(n: int, k: int) -> Iterator[np.ndarray]:
    """Every partition of n points into exactly k clusters, once, as labels."""
    return (labels for labels in partitions_into_at_most(n, k) if labels.max() == k - 1)


def all_partitions(n: int) -> Iterator[np.ndarray]:
    """Every partition of n points, once, as labels."""
    return partitions_into_at_most(n, n)


def segmentations_into(n: int, k: int) -> Iterator[np.ndarray]:
    """Every cut of a sequence of n points into k non-empty segments, labelled 0..k−1."""
    for starts in combinations(range(1, n), k - 1):
        labels = np.zeros(n, dtype=int)
        labels[list(starts)] = 1
        yield np.cumsum(labels)


def all_segmentations(n: int) -> Iterator[np.ndarray]:
    """Every cut of a sequence of n points into non-empty segments."""
    for k in range(1, n + 1):
        yield from segmentations_into(n, k)


def subsets(items: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Every subset, the empty one first."""
    items = list(items)
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


def all_assignments(n: int) -> Iterator[np.ndarray]:
    """Every set of exemplars with every choice of the other points: 196 arrays for n = 5."""
    for exemplars in subsets(range(n)):
        if exemplars:
            others = [p for p in range(n) if p not in exemplars]
            for choice in product(exemplars, repeat=len(others)):
                assignment = np.arange(n)
                assignment[others] = choice
                yield assignment


def stirling(n: int, k: int) -> int:
    """Number of partitions of n points into exactly k clusters, by inclusion-exclusion."""
    total = sum((-1) ** (k - j) * comb(k, j) * j**n for j in range(k + 1))
    return total // factorial(k)


def bell(n: int) -> int:
    """Number of partitions of n points, by Bell's recurrence."""
    numbers = [1]
    for m in range(n):
        numbers.append(sum(comb(m, j) * numbers[j] for j in range(m + 1)))
    return numbers[n]
