"""The search for exemplars in plain loops, compiled by numba, which is optional.

The same moves and steps as those of `mlbook.exemplars.search`, one pair of facility and point at a
time; only sums are rounded otherwise. Every point p has its facilities in the order of their cost,
`near[p]`, with these costs, `values[p]`: those below some price are the start of that list.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlbook._arrays import Floats, Integers
from mlbook._optional import jit

STALLED = 30  # steps in a row that may bring little, before they get shorter
LITTLE = 1e-2  # of what the bound lacks
NOTHING = 1e-12  # differences below this share of the sums they come from are rounding

Matrix = NDArray[Any]
Mask = NDArray[np.bool_]
Lists = tuple[NDArray[np.int32], Matrix]  # near and values


class Kernels(NamedTuple):
    """The compiled functions of this module."""

    greedy: Callable[..., Mask]
    improve: Callable[..., float]
    ascend: Callable[..., tuple[int, bool]]


@cache
def load() -> Kernels | None:
    """Return the compiled functions, or None where numba is not installed.

    Compiled at their first call, and kept on disk: some seconds once, one second in later
    processes. They serve problems of all sizes: sums are rounded otherwise than by NumPy, so a
    choice by size or by what was loaded before would make the same call give two results.
    """
    compile = jit()
    if compile is None:
        return None
    make = compile(cache=True, nogil=True, fastmath={"reassoc", "contract"}, error_model="numpy")
    return Kernels(make(greedy), make(improve), make(ascend))


def greedy(C: Matrix, cost: Floats, lists: Lists, first: int) -> Mask:
    """Tell which facilities are open after opening the one that gains most, while one does."""
    near, values = lists
    n = len(cost)
    is_open = np.zeros(n, np.bool_)
    gain, d1 = -cost, np.full(n, np.inf)
    q, best, least, size = first, np.inf, 0.0, 0.0
    while best > least:
        is_open[q] = True
        size += NOTHING * abs(cost[q])
        best, least = -np.inf, size
        for p in range(n):
            c, before = C[q, p], d1[p]
            if c < before:
                i = 0
                if before < np.inf:
                    while values[p, i] < before:
                        gain[near[p, i]] -= before - max(c, values[p, i])
                        i += 1
                else:
                    while values[p, i] < c:
                        gain[near[p, i]] += c - values[p, i]
                        i += 1
                d1[p] = c
            least += NOTHING * abs(d1[p])
        for r in range(n):
            if not is_open[r] and gain[r] > best + least:
                q, best = r, gain[r]
    return is_open


def improve(C: Matrix, cost: Floats, lists: Lists, is_open: Mask, order: Integers) -> float:
    """Drop, add and swap until nothing pays, see `Facilities.improve`; return the cost.

    `is_open` changes in place. After each move, the loop finds the two nearest facilities of the
    points that it concerns; the next move is then one of three: to drop a facility; when none is
    to be dropped, to value what opening each of the order would gain; to open one of those.
    """
    near, values = lists
    n = len(cost)
    d1, d2, farther = np.empty(n), np.empty(n), np.empty(n)
    first, second = np.empty(n, np.int64), np.full(n, -1)
    saved, extra = np.empty(n), np.zeros(n)  # by closing a facility; more, if another opens
    touched = np.empty(n + 1, np.int64)
    pays = np.zeros(len(order), np.bool_)
    largest = 0.0
    for q in range(n):
        if cost[q] < np.inf:
            largest = max(largest, abs(cost[q]))
    opened = closed = -1
    turn = len(order)
    start = dropping = valuing = True
    least = 0.0
    while True:
        k, total, size, most = 0, 0.0, 0.0, 2 * largest
        for q in range(n):
            if is_open[q]:
                k += 1
                saved[q] = cost[q]
                total += cost[q]
                size += abs(cost[q])
        for p in range(n):
            if (
                start
                or first[p] == closed
                or second[p] == closed
                or (opened >= 0 and C[opened, p] < farther[p])
            ):
                i = 0
                while not is_open[near[p, i]]:
                    i += 1
                first[p], d1[p] = near[p, i], values[p, i]
                second[p], farther[p] = -1, np.inf
                if k > 1:
                    i += 1
                    while not is_open[near[p, i]]:
                        i += 1
                    second[p], farther[p] = near[p, i], values[p, i]
            total += d1[p]
            size += abs(d1[p])
            most += d1[p] - C[p, p]
        # No opening gains more than `most`. Costs beyond that are as bad as any, but would drown
        # the rest in rounding; and with a single open facility they are infinite.
        for p in range(n):
            d2[p] = farther[p] if dropping else min(farther[p], d1[p] + most)
            saved[first[p]] -= d2[p] - d1[p]
        worst = -1
        for q in range(n):
            if is_open[q] and (worst < 0 or saved[q] > saved[worst]):
                worst = q

        start, opened, closed = False, -1, -1
        if dropping:
            if k > 1 and saved[worst] >= 0:
                closed = worst
                is_open[closed] = False
            else:
                dropping, valuing, turn = False, True, 0
                least = NOTHING * size
            continue
        some = False
        while turn < len(order) and opened < 0:
            q = order[turn]
            turn += 1
            if is_open[q] or not (valuing or pays[turn - 1]):
                continue
            m = 0
            for p in range(n):
                touched[m] = p
                m += C[q, p] < d2[p]
            gain = -cost[q]
            for i in range(m):
                p = touched[i]
                c = C[q, p]
                gain += max(d1[p] - c, 0.0)
                extra[first[p]] += d2[p] - max(d1[p], c)
            closing, closed = saved[worst], worst
            for i in range(m):
                r = first[touched[i]]
                if saved[r] + extra[r] > closing:
                    closing, closed = saved[r] + extra[r], r
                extra[r] = 0.0
            if closing < 0:
                closing, closed = 0.0, -1
            pays[turn - 1] = gain + closing > least
            some |= pays[turn - 1]
            if pays[turn - 1] and not valuing:
                opened = q
                is_open[opened] = True
        if opened < 0:
            closed = -1
            if valuing and not some:
                return total
            dropping, valuing, turn = not valuing, False, 0
        elif closed >= 0:
            is_open[closed] = False


def ascend(
    cost: Floats, lists: Lists, arrays: Any, state: Floats, energy: float, n_steps: int
) -> tuple[int, bool]:
    """Take steps on the dual, see `DualAscent.ascend`.

    All but the first two of the arrays, and the state, change in place.
    """
    near, values = lists
    floor, ceiling, best, v, direction, open_share = arrays
    value, factor, stalled = state
    n = len(cost)
    gains, gradient = np.empty(n), np.empty(n)
    ends, is_open = np.empty(n, np.int64), np.empty(n, np.bool_)
    stationary = False
    for step in range(n_steps):
        here = size = 0.0
        gains[:] = 0
        for p in range(n):
            here += v[p]
            size += abs(v[p])
            i = 0
            while i < n and values[p, i] < v[p]:
                gains[near[p, i]] += v[p] - values[p, i]
                i += 1
            ends[p] = i
        for q in range(n):
            open_share[q] *= 0.9
            is_open[q] = gains[q] > cost[q]
            if is_open[q]:
                here += cost[q] - gains[q]
                open_share[q] += 0.1
        stationary = True
        for p in range(n):
            count = 0
            for i in range(ends[p]):
                count += is_open[near[p, i]]
            gradient[p] = 1 - count
            stationary &= count == 1
        missing = energy - here
        stalled += 1
        if here > value:
            if here - value > LITTLE * missing:
                stalled = 0
            best[:] = v
            value = here
        if missing <= NOTHING * size or stationary:
            n_steps = step + 1
            break
        along = square = 0.0
        if stalled >= STALLED:
            factor /= 2
            stalled = 0
            direction[:] = 0
            v[:] = best
        else:
            for p in range(n):
                along += direction[p] * gradient[p]
                square += direction[p] * direction[p]
            turn = max(0.0, -1.5 * along / square) if square > 0 else 0.0
            square = 0.0
            for p in range(n):
                direction[p] = gradient[p] + turn * direction[p]
                square += direction[p] * direction[p]
            for p in range(n):
                v[p] += factor * missing / square * direction[p]
        for p in range(n):
            v[p] = min(max(v[p], floor[p]), ceiling[p])
    if stationary:
        open_share[:] = is_open
    state[:] = value, factor, stalled
    return n_steps, stationary
