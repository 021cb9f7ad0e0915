"""Compiled search for the best penalized segmentation; needs numba, which is optional.

The same recursion and pruning as `mlbook.changepoints.search.best_previous`, for its most frequent
case, one pair of positions at a time. Sums are accumulated from differences of cumulative sums.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mlbook._arrays import Floats


@cache
def compiled() -> Callable[..., Any] | None:
    """Return `best_previous` compiled, at its first call; None where numba is not installed."""
    try:
        from numba import njit
    except ImportError:
        return None
    return njit(cache=True, fastmath={"reassoc", "contract"})(best_previous)


def best_previous(sums: Floats, penalty: float, min_length: int) -> Any:
    """Return, for every position, where the last segment of a best segmentation up to it starts.

    `sums` has shape (n + 1, d): row u is the sum of the first u points. Position u is the
    boundary in front of point u. O(d) per pair (start, end) that is not pruned.
    """
    n, d = sums.shape[0] - 1, sums.shape[1]
    value = np.full(n + 1, -np.inf)
    value[0] = 0.0
    previous = np.zeros(n + 1, np.int64)
    starts = np.empty(n + 1, np.int64)
    n_starts = 0
    expires = np.full(n + 1, n + 1, np.int64)  # the start s is not needed for ends from here on
    totals = np.empty(n + 1)
    for u in range(min_length, n + 1):
        entering = u - min_length
        if value[entering] > -np.inf:
            starts[n_starts] = entering
            n_starts += 1
        kept = 0
        for i in range(n_starts):
            s = starts[i]
            if expires[s] > u:
                starts[kept] = s
                kept += 1
        n_starts = kept
        best, best_start = -np.inf, 0
        for i in range(n_starts):
            s = starts[i]
            square = 0.0
            for p in range(d):
                difference = sums[u, p] - sums[s, p]
                square += difference * difference
            totals[i] = value[s] + square / (u - s)
            if totals[i] > best:
                best, best_start = totals[i], s
        value[u] = best - penalty
        previous[u] = best_start
        for i in range(n_starts):
            if totals[i] <= value[u]:
                expires[starts[i]] = min(expires[starts[i]], u + min_length)
    return previous
