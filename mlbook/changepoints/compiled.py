"""Compiled searches over segmentations; they need numba, which is optional.

`best_previous` and `best_values` find what their namesakes in `mlbook.changepoints.search` find,
the quickest way that there is: compiled where numba is and the search can be.

Functional pruning (Rigaill 2010, Maidstone et al. 2017), for one feature. If the last segment
starts at s, ends at u and had the mean μ, its score would be 2μ(c(u) − c(s)) − μ²(u − s), which is
f(s, u) for the best μ. What this says of u is the same for all starts: they can be compared before
u is known, by V(s) − 2μc(s) + μ²s. A new start t is better than s but for μ within √(e/(t − s)) of
the mean of the points from s to t, e = V(s) + f(s, t) − V(t). So each start is best in some
intervals of μ, which only shrink. Starts without an interval are dropped.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from mlbook._arrays import Floats, Integers
from mlbook._optional import jit
from mlbook.changepoints import search
from mlbook.changepoints.search import DataScores, Overlap, Rules, Scores

_FEATURES = 64  # to which loss-augmented scores are quicker one by one than as matrix products
_ENDS, _STARTS = 64, 512  # worked on at a time by `best_values`: their values stay in cache
_NO_TRUTH = Overlap(np.array([0, 1]))


class Kernels(NamedTuple):
    """The compiled functions of this module."""

    functional: Callable[..., None]
    pruned: Callable[..., Integers]
    extend: Callable[..., None]


@cache
def load() -> Kernels | None:
    """Return the compiled searches, or None where numba is not installed.

    Compiled at their first call, and kept on disk: some seconds once, one second later.
    """
    compile = jit()
    if compile is None:
        return None
    make = compile(
        cache=True, nogil=True, fastmath={"contract", "nnan", "nsz"}, error_model="numpy"
    )
    return Kernels(make(functional), make(pruned), make(extend))


def best_previous(scores: Scores, rules: Rules, penalty: float) -> Integers | None:
    """Start of the last segment of a best segmentation up to each position; None without one."""
    compiled = None
    if isinstance(scores, DataScores) and _are_free(rules, scores.n):
        few = scores.overlap is None or scores.sums.shape[1] <= _FEATURES
        compiled = load() if few else None
    if compiled is None or not isinstance(scores, DataScores):
        return search.best_previous(scores, rules, penalty)
    if penalty > 0 and _is_single(scores, rules):
        previous, values = np.zeros(scores.n + 1, dtype=np.int64), np.zeros(scores.n + 1)
        compiled.functional(scores.sums.ravel(), penalty, 0, values, values, previous)
        return previous
    overlap = scores.overlap or _NO_TRUTH
    truth = overlap.begins, overlap.size, overlap.head, overlap.tail
    return compiled.pruned(scores.sums, penalty, rules.min_length, scores.weight, *truth)


def best_values(scores: Scores, rules: Rules, n_segments: int) -> Floats:
    """V[k, i]: best value of k segments up to the i-th allowed position; −∞ where there is none."""
    positions = rules.positions
    n = len(positions)
    compiled = load()
    if compiled is None:
        return search.best_values(scores, rules, n_segments)
    if _is_single(scores, rules):
        values = np.full((n_segments + 1, n), -np.inf)
        values[0, 0] = 0.0
        previous = np.empty(n, dtype=np.int64)
        for k in range(n_segments):
            compiled.functional(scores.sums.ravel(), 0.0, k, values[k], values[k + 1], previous)
        return values
    values = np.full((n, n_segments + 1), -np.inf)
    values[0, 0] = 0.0
    for first in range(1, n, _ENDS):
        ends = positions[first : first + _ENDS]
        for low in [*range(0, first, _STARTS), first]:
            high = min(low + _STARTS, first) if low < first else first + len(ends)
            gains = rules.gains(scores, positions[low:high], ends)
            compiled.extend(values, gains, low, first)
    return values.T


def _are_free(rules: Rules, n: int) -> bool:
    """Tell whether boundaries may be anywhere."""
    return rules.earliest_start is None and len(rules.positions) == n + 1


def _is_single(scores: Scores, rules: Rules) -> TypeGuard[DataScores]:
    """Tell a series of one feature, without anything to respect: `functional` can search it."""
    one = isinstance(scores, DataScores) and scores.overlap is None and scores.sums.shape[1] == 1
    return one and rules.min_length == 1 and _are_free(rules, scores.n)


def functional(
    sums: Floats, penalty: float, first: int, entering: Floats, values: Floats, previous: Integers
) -> None:
    """Find the best last segment up to every position after `first`, for one feature.

    `entering` has the value of what ends where the last segment starts. It may be `values`: each
    is written before it is read. O(number of intervals) per position, in general some ten.
    """
    n = len(sums) - 1
    radius = 0.0
    for u in range(n):
        radius = max(radius, abs(sums[u + 1] - sums[u]))
    radius = 1.001 * radius if radius > 0 else 1.0
    # The i-th interval goes from the end of the one before it, or −radius, to ends[now, i].
    size, now, m = 64, 0, 1
    owners, ends = np.empty((2, size), np.int64), np.empty((2, size))
    totals, means = np.empty(size), np.empty(size)
    owners[0, 0], ends[0, 0] = first, radius
    for u in range(first + 1, n + 1):
        if 2 * m + 1 > size:
            size *= 4
            old_owners, old_ends = owners, ends
            owners, ends = np.empty((2, size), np.int64), np.empty((2, size))
            owners[:, :m], ends[:, :m] = old_owners[:, :m], old_ends[:, :m]
            totals, means = np.empty(size), np.empty(size)
        best, start = -np.inf, first
        for i in range(m):
            s = owners[now, i]
            difference = sums[u] - sums[s]
            means[i] = difference / (u - s)
            totals[i] = entering[s] + difference * means[i]
            if totals[i] > best or (totals[i] == best and s < start):
                best, start = totals[i], s
        values[u] = best - penalty
        previous[u] = start
        new, kept, left = 1 - now, 0, -radius
        for i in range(m):
            s, right, excess = owners[now, i], ends[now, i], totals[i] - entering[u]
            far = max(means[i] - left, right - means[i])
            low, high = left, right  # where s stays
            if far * far * (u - s) > excess:
                reach = np.sqrt(max(excess, 0.0) / (u - s))
                low, high = max(left, means[i] - reach), min(right, means[i] + reach)
            if low < high:
                if low > left:
                    kept += kept == 0 or owners[new, kept - 1] != u
                    owners[new, kept - 1], ends[new, kept - 1] = u, low
                owners[new, kept], ends[new, kept] = s, high
                kept += 1
            else:
                high = left
            if high < right:
                kept += kept == 0 or owners[new, kept - 1] != u
                owners[new, kept - 1], ends[new, kept - 1] = u, right
            left = right
        now, m = new, kept


def pruned(
    sums: Floats,
    penalty: float,
    min_length: int,
    weight: float,
    begins: Integers,
    sizes: Floats,
    head: Floats,
    tail: Floats,
) -> Any:
    """Return, for every position, where the last segment of a best segmentation up to it starts.

    O(d) per pair (start, end) that is not pruned. The last four are those of `Overlap`, used
    if `weight` is not 0.
    """
    n, d = sums.shape[0] - 1, sums.shape[1]
    value = np.full(n + 1, -np.inf)
    value[0] = 0.0
    previous = np.zeros(n + 1, np.int64)
    # Of each start that is kept, in a row: position, value, sums, and the end from which on it is
    # not needed. Those not needed do no harm: they are dropped now and then.
    m, starts = 0, np.empty(n + 1, np.int64)
    values, columns = np.empty(n + 1), np.empty((d, n + 1))
    expires, totals = np.empty(n + 1, np.int64), np.empty(n + 1)
    for u in range(min_length, n + 1):
        entering = u - min_length
        if value[entering] > -np.inf:
            starts[m], values[m], expires[m] = entering, value[entering], n + 1
            for p in range(d):
                columns[p, m] = sums[entering, p]
            m += 1
        totals[:m] = 0.0
        for p in range(d):
            column, end = columns[p], sums[u, p]
            for i in range(m):
                totals[i] += (end - column[i]) * (end - column[i])
        for i in range(m):
            totals[i] = values[i] + totals[i] / (u - starts[i])
        if weight > 0:
            for i in range(m):
                within = (u - starts[i]) / sizes[u - 1]
                across = (head[starts[i]] + tail[u - 1]) / (u - starts[i])
                totals[i] -= weight * (within if begins[u - 1] <= starts[i] else across)
        best, best_start = -np.inf, 0
        for i in range(m):
            if totals[i] > best:
                best, best_start = totals[i], starts[i]
        value[u], previous[u] = best - penalty, best_start
        for i in range(m):
            expires[i] = min(
                expires[i], u + min_length if totals[i] + weight <= value[u] else n + 1
            )
        if u % 8 == 0:
            kept = 0
            for i in range(m):
                if expires[i] > u + 1:
                    starts[kept], values[kept], expires[kept] = starts[i], values[i], expires[i]
                    for p in range(d):
                        columns[p, kept] = columns[p, i]
                    kept += 1
            m = kept
    return previous


def extend(values: Floats, gains: Floats, low: int, first: int) -> None:
    """Improve V[u, k] of the ends u from `first` on by segments from the starts from `low` on.

    `gains` has a row for each end. The starts are ready if they come before `first`, and ready in
    time if they begin there. Four at a time, for all numbers of segments: O(K) per pair.
    """
    size = values.shape[1] - 1
    for i in range(gains.shape[0]):
        to, gain = values[first + i, 1:], gains[i]
        last = min(gains.shape[1], first + i - low) - 1
        for j in range(0, last + 1, 4):
            one, two, three = min(j + 1, last), min(j + 2, last), min(j + 3, last)
            a, b, c, e = gain[j], gain[one], gain[two], gain[three]
            from_a, from_b = values[low + j], values[low + one]
            from_c, from_e = values[low + two], values[low + three]
            for k in range(size):
                near = max(from_a[k] + a, from_b[k] + b)
                to[k] = max(to[k], near, max(from_c[k] + c, from_e[k] + e))
