"""Steps on the two functions of `mlbook.latent_crf.relaxation`, compiled where numba is there.

`below`, `above` and `sort` compute the same as there, one pair of points at a time. Without numba
`polyak` runs as it stands, on those of the other module.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from mlbook._arrays import Floats, Integers
from mlbook._optional import jit

STALLED = 12  # steps in a row that may bring little, before they get shorter
LITTLE = 1e-2  # of what is missing
MEMORY = 0.95  # of the mean of what is open along the steps

Value = tuple[float, Floats, Floats]  # of a function, a subgradient, and what is open


class Kernels(NamedTuple):
    """What `relaxed_minimum` calls."""

    polyak: Callable[..., tuple[Floats, float, Floats, float]]
    above: Callable[..., Value]
    sort: Callable[..., tuple[Integers, Integers, Floats]]


def polyak(
    pairs: Any,
    upward: bool,
    x: Floats,
    high: Floats,
    target: float,
    n_steps: int,
    reach: float,
) -> tuple[Floats, float, Floats, float]:
    """Minimize `above`, or `below`, over 0 ≤ x ≤ high by steps towards a value it cannot go below.

    Subgradients are deflected (Camerini et al. 1975). `reach` is the share of the way that a step
    takes; it is halved where steps bring nothing.

    Returns
    -------
    x, value : ndarray, float
        The best point met.
    mean : ndarray
        Of what was open along the steps, the latest counting most.
    reach : float
        For the next call.
    """
    best, lowest, mean = x, np.inf, np.zeros(len(x))
    direction, stalled, counted = np.zeros(len(x)), 0, 0.0
    for _ in range(n_steps):
        value, slope, is_open = above(pairs, x) if upward else below(pairs, x)
        mean = MEMORY * mean + (1 - MEMORY) * is_open
        counted = MEMORY * counted + 1 - MEMORY
        stalled += 1
        if value < lowest:
            if lowest - value > LITTLE * (lowest - target):
                stalled = 0
            best, lowest = x, value
        slope = np.where(((x <= 0) & (slope > 0)) | ((x >= high) & (slope < 0)), 0.0, slope)
        if value <= target or not slope.any():
            break
        if stalled >= STALLED:
            reach, stalled = reach / 2, 0
            x, direction = best, np.zeros(len(x))
            continue
        size = np.sum(direction * direction)
        if size > 0:
            slope = slope + max(0.0, -1.5 * np.sum(direction * slope) / size) * direction
        direction = slope
        step = reach * (value - target) / np.sum(slope * slope)
        x = np.minimum(np.maximum(x - step * slope, 0.0), high)
    return best, lowest, mean / counted, min(1.0, 2 * reach)


def sort(costs: Floats, most: Floats) -> tuple[Integers, Integers, Floats]:
    """Sort the pairs below `most`, as `mlbook.latent_crf.relaxation.sort`."""
    n = len(most)
    starts = np.zeros(n + 1, np.int64)
    near, values = np.empty(n * n, np.int64), np.empty(n * n)
    for p in range(n):
        i = starts[p]
        for q in range(n):
            near[i], values[i] = q, costs[p, q]
            i += costs[p, q] < most[p] and q != p
        own = slice(starts[p], i)
        order = np.argsort(values[own])
        near[own], values[own] = near[own][order], values[own][order]
        starts[p + 1] = i
    return starts, near[:i].copy(), values[:i].copy()


def below(pairs: Any, v: Floats) -> Value:
    """−L at the prices v, as `mlbook.latent_crf.relaxation.below`."""
    starts, near, values, price, labels, fee, _ = pairs
    n = len(v)
    reduced, slope = price - v, np.zeros(n)
    ends = np.empty(n, np.int64)
    is_open = np.zeros(n)
    value = 0.0
    for p in range(n):
        value -= v[p]
        i = starts[p]
        while i < starts[p + 1] and values[i] < v[p]:
            reduced[near[i]] -= v[p] - values[i]
            i += 1
        ends[p] = i
    gains = np.zeros(labels.max() + 1)
    gains += fee
    for q in range(n):
        gains[labels[q]] += min(reduced[q], 0.0)
    for gain in gains:
        value -= min(gain, 0.0)
    for q in range(n):
        if reduced[q] < 0 and gains[labels[q]] < 0:
            is_open[q] = 1.0
    for p in range(n):
        slope[p] = is_open[p] - 1
        for i in range(starts[p], ends[p]):
            slope[p] += is_open[near[i]]
    return value, slope, is_open


def above(pairs: Any, y: Floats) -> Value:
    """Cost of the openings y, as `mlbook.latent_crf.relaxation.above`."""
    starts, near, values, price, labels, fee, most = pairs
    n = len(y)
    largest, sharing = np.zeros(labels.max() + 1), np.zeros(labels.max() + 1)
    for q in range(n):
        largest[labels[q]] = max(largest[labels[q]], y[q])
    value = fee * largest.sum()
    for q in range(n):
        value += price[q] * y[q]
        sharing[labels[q]] += y[q] == largest[labels[q]]
    slope = price.copy()
    for q in range(n):
        if y[q] == largest[labels[q]]:
            slope[q] += fee / sharing[labels[q]]
    for p in range(n):
        left = 1 - y[p]
        i = starts[p]
        while left > 0 and i < starts[p + 1]:
            share = min(left, y[near[i]])
            value += share * values[i]
            left -= share
            i += 1
        last = most[p]
        if left <= 0 and i > starts[p]:
            last = values[i - 1]
        elif left <= 0:
            last = 0.0
        value += left * last
        slope[p] -= last
        for j in range(starts[p], i):
            slope[near[j]] -= last - values[j]
    return value, slope, y


@cache
def load() -> Kernels:
    """Return the functions: compiled, or those of NumPy where numba is not installed.

    Compiled at their first call, and kept on disk: some seconds once.
    """
    global below, above  # `polyak` calls them by these names
    compile = jit()
    if compile is None:
        from mlbook.latent_crf import relaxation as plain

        below, above = plain.below, plain.above
        return Kernels(polyak, above, plain.sort)
    make = compile(cache=True, nogil=True, fastmath={"reassoc", "contract"}, error_model="numpy")
    below, above = make(below), make(above)
    return Kernels(make(polyak), above, make(sort))
