"""The search for exemplars, from above and from below, as a problem of facility location.

n facilities may serve n points. Facility q costs `cost[q]` to open and C[q, p] to serve point
p (one row per facility). A set Q of open facilities costs Σ_p min_{q ∈ Q} C[q, p] +
Σ_{q ∈ Q} cost[q]. An infinite cost keeps a facility closed; everything else is finite, and
no facility serves a point at a lower cost than the point's own one does.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from mlbook._arrays import Floats, Integers
from mlbook.exemplars.energy import BLOCK

STEPS = 80  # on the dual between two roundings
PATIENCE = 3  # roundings in a row that may bring nothing
KICKS = 40  # of the best set, at most
IDLE_KICKS = 20  # kicks in a row that may bring nothing
NOTHING = 1e-12  # differences below this share of the sums they come from are rounding


def total(C: NDArray[Any], cost: Floats, Q: Integers) -> float:
    """Cost of the set Q."""
    return float(C[Q].min(axis=0).sum(dtype=np.float64) + cost[Q].sum())


def search(
    C: NDArray[Any], cost: Floats, max_iter: int, rng: np.random.RandomState
) -> tuple[Integers, Floats, int]:
    """Return a set of low cost, multipliers of a high bound, and the number of dual steps.

    First, the ascent on the bound and the local search help each other: the lowest cost found
    sets the length of the dual steps, and how often each facility is open along the ascent is
    rounded into new starts. Then the best set is kicked: the search starts anew from seven
    tenths of it, with the facilities that earlier searches chose or the ascent opened lately.
    """
    Q = local_search(C, cost, greedy(C, cost), rng)
    energy = total(C, cost, Q)
    dual = DualAscent(C, cost, Q)

    seen = np.zeros(len(cost), dtype=bool)
    seen[Q] = True
    idle = n_iter = 0
    while n_iter < max_iter and idle < PATIENCE and not dual.meets(energy):
        before, steps = dual.value, min(STEPS, max_iter - n_iter)
        stationary = dual.ascend(energy, steps)
        n_iter += steps
        missing = energy - dual.value
        slow = missing < 1e-3 * abs(energy) or dual.value - before < 0.03 * missing
        idle = idle + 1 if slow else 0
        start: Integers = np.flatnonzero(dual.open_share > rng.uniform(0.1, 0.5))
        if len(start):
            found = _search_and_merge(C, cost, start, Q, rng, None)
            seen[found] = True
            if total(C, cost, found) < energy:
                Q, energy, idle = found, total(C, cost, found), 0
                dual.focus(Q)
        if stationary:
            break

    idle = 0
    candidates = np.flatnonzero(seen | (dual.open_share > 1e-6))
    for _ in range(KICKS):
        if idle == IDLE_KICKS or dual.meets(energy):
            break
        start = Q[rng.uniform(size=len(Q)) < 0.7]
        found = _search_and_merge(C, cost, start if len(start) else Q[:1], Q, rng, candidates)
        idle += 1
        if total(C, cost, found) < energy:
            Q, energy, idle = found, total(C, cost, found), 0
    return local_search(C, cost, Q, rng), dual.best, n_iter


def _search_and_merge(
    C: NDArray[Any],
    cost: Floats,
    start: Integers,
    Q: Integers,
    rng: np.random.RandomState,
    candidates: Integers | None,
) -> Integers:
    """Search from a start; then from what dropping leaves of the union with Q, if that is better.

    Two sets that differ in several places are thus merged into one that is as good as the
    better of the two in each.
    """
    found = local_search(C, cost, start, rng, candidates)
    union = _Service(C, cost, np.union1d(found, Q))
    union.drop()
    if total(C, cost, union.Q) < min(total(C, cost, found), total(C, cost, Q)):
        return local_search(C, cost, union.Q, rng, candidates)
    return found


def greedy(C: NDArray[Any], cost: Floats) -> Integers:
    """Start from the best single facility, open the one that gains most, while one does."""
    n = len(cost)
    first = int((C.sum(axis=1, dtype=np.float64) + cost).argmin())
    chosen = [first]
    d1 = C[first].astype(np.float64)
    gain = -cost
    for rows in gen_batches(n, BLOCK // n + 1):
        gain[rows] += np.maximum(d1 - C[rows], 0).sum(axis=1)
    gain[first] = -np.inf
    while gain.max() > NOTHING * (np.abs(d1).sum() + np.abs(cost[chosen]).sum()):
        q = int(gain.argmax())
        nearer = np.flatnonzero(C[q] < d1)
        new = C[q, nearer].astype(np.float64)
        for begin in range(0, len(nearer), BLOCK // n + 1):
            part = slice(begin, begin + BLOCK // n + 1)
            c = C[:, nearer[part]]
            lost = np.maximum(d1[nearer[part]], c)
            lost -= np.maximum(new[part], c)
            gain -= lost.sum(axis=1)
        d1[nearer] = new
        gain[q] = -np.inf
        chosen.append(q)
    return np.sort(chosen)


def local_search(
    C: NDArray[Any],
    cost: Floats,
    start: Integers,
    rng: np.random.RandomState,
    candidates: Integers | None = None,
) -> Integers:
    """Add, drop and swap until nothing pays: the facilities, in increasing order.

    All additions and swaps of the candidates (default: all facilities) are valued at once,
    in O(n) for each. Those that pay are then tried in random order, each in O(n) against what
    the ones before have left.
    """
    if candidates is None:
        candidates = np.arange(len(cost))
    served = _Service(C, cost, start)
    moved = True
    while moved:
        served.drop()
        least = NOTHING * (np.abs(served.d1).sum() + np.abs(cost[served.Q]).sum())
        moved = False
        for q in rng.permutation(candidates[served.gains(candidates) > least]):
            moved |= served.add(q, least)
    return served.Q


class _Service:
    """A set Q of open facilities, and the two of them that are nearest to each point."""

    def __init__(self, C: NDArray[Any], cost: Floats, Q: Integers) -> None:
        n = len(cost)
        self.C, self.cost = C, cost
        self.is_open = np.zeros(n, dtype=bool)
        self.is_open[Q] = True
        self.d1, self.d2 = np.empty(n), np.empty(n)
        self.first, self.second = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        self.update(np.ones(n, dtype=bool))

    def update(self, changed: NDArray[np.bool_]) -> None:
        """Find the nearest two anew for the points whose nearest two may have changed."""
        self.Q = np.flatnonzero(self.is_open)
        points = np.flatnonzero(changed)
        near = self.C[np.ix_(self.Q, points)]
        columns = np.arange(len(points))
        for distance, facility in ((self.d1, self.first), (self.d2, self.second)):
            position = near.argmin(axis=0)
            distance[points], facility[points] = near[position, columns], self.Q[position]
            near[position, columns] = np.inf

    def savings(self, instead: Floats) -> Floats:
        """Return what closing each facility of Q saves if its points are served at this cost."""
        lost = np.bincount(self.first, instead - self.d1, minlength=len(self.cost))
        return self.cost[self.Q] - lost[self.Q]

    def drop(self) -> None:
        """Close facilities, the one that saves most first, while that costs nothing."""
        while len(self.Q) > 1:
            saved = self.savings(self.d2)
            if saved.max() < 0:
                return
            r = self.Q[saved.argmax()]
            self.is_open[r] = False
            self.update((self.first == r) | (self.second == r))

    def add(self, q: int, least: float) -> bool:
        """Open q and close the facility that saves most then, if both gain more than `least`."""
        c = self.C[q]
        kept = np.maximum(c, self.d1)
        saved = self.savings(np.minimum(kept, self.d2))
        if (kept - c).sum() - self.cost[q] + max(0.0, saved.max()) <= least:
            return False
        changed = c < self.d2
        self.is_open[q] = True
        if saved.max() >= 0:
            r = self.Q[saved.argmax()]
            self.is_open[r] = False
            changed |= (self.first == r) | (self.second == r)
        self.update(changed)
        return True

    def gains(self, candidates: Integers) -> Floats:
        """Return what opening each candidate gains, with the best closing; −inf if it is open.

        If q opens while r closes, the points of r that are nearer to q than to their second
        nearest facility are spared the way to the latter, in part: only these pairs are looked at.
        """
        n, m, k, d1 = len(self.cost), len(candidates), len(self.Q), self.d1
        # No move gains more than `most`. Costs beyond that are as bad as any, but would drown
        # the rest in rounding; and with a single open facility they are infinite.
        most = (d1 - self.C.diagonal()).sum() + 2 * np.abs(self.cost[np.isfinite(self.cost)]).max()
        d2 = np.minimum(self.d2, d1 + most)
        saved = self.savings(d2)
        owner = np.searchsorted(self.Q, self.first)
        gains = np.empty(m)
        for rows in gen_batches(m, BLOCK // n + 1):
            C = self.C[candidates[rows]]
            pairs = np.flatnonzero(d2 > C)
            q, p = np.divmod(pairs, n)
            c = C.ravel()[pairs]
            kept = np.maximum(c, d1[p])
            spared = np.bincount(q * k + owner[p], d2[p] - kept, minlength=len(C) * k)
            closing = (spared.reshape(len(C), k) + saved).max(axis=1)
            gains[rows] = np.bincount(q, kept - c, minlength=len(C)) + np.maximum(closing, 0)
        return np.where(self.is_open[candidates], -np.inf, gains - self.cost[candidates])


class DualAscent:
    """Ascent on L(v) = Σ_p v_p + Σ_q min(0, cost_q − Σ_p (v_p − C[q, p])₊), a lower bound.

    Subgradients are deflected (Camerini et al. 1975), steps are Polyak's. At an optimal v no
    point pays more than for a facility of its own, nor, where the relaxation is tight, more
    than for a facility that is open and not its own. Points are therefore given the cost
    of their third nearest facility as a ceiling, and the pairs above it are left out. What a
    ceiling too low can cost is tightness of the bound, not its truth.

    Attributes
    ----------
    best : ndarray of shape (n,)
        The best v so far.
    value : float
        L there, up to rounding.
    open_share : ndarray of shape (n,)
        Running average of "q is open" (its term in L is negative).
    """

    def __init__(self, C: NDArray[Any], cost: Floats, Q: Integers) -> None:
        self.C, self.cost = C, cost
        self.floor = C.diagonal().astype(np.float64)
        owner = C[Q].argmin(axis=0)
        owner[Q] = np.arange(len(Q))
        share = cost[Q] / np.bincount(owner, minlength=len(Q))
        self.best = C[Q].min(axis=0) + share[owner]
        self.value = -np.inf
        self.open_share = np.zeros(len(cost))
        self.factor = 1.0
        self.focus(Q)

    def focus(self, Q: Integers) -> None:
        """Choose the pairs that matter around the facilities Q; start again from the best v."""
        n = len(self.cost)
        ceiling = self.cost + self.floor
        if len(Q) > 2:
            ceiling = np.minimum(ceiling, np.partition(self.C[Q], 2, axis=0)[2])
        self.ceiling = np.maximum(ceiling, self.floor)
        matters = self.ceiling > self.C
        np.fill_diagonal(matters, True)
        self.bounds = np.concatenate([[0], np.cumsum(np.count_nonzero(matters, axis=1))])
        self.points = np.flatnonzero(matters)
        self.points %= n
        self.distances = self.C[matters]
        self.factor = max(self.factor, 0.5)
        self.restart()

    def restart(self) -> None:
        """Go back to the best v."""
        self.v = np.clip(self.best, self.floor, self.ceiling)
        self.direction = np.zeros(len(self.v))
        self.stalled = 0

    def meets(self, energy: float) -> bool:
        """Tell whether the bound proves this energy to be the lowest, up to rounding."""
        return bool(energy - self.value <= NOTHING * np.abs(self.best).sum())

    def evaluate(self) -> tuple[float, Floats, Integers]:
        """L at the current v, a supergradient, and the facilities that are open."""
        n, v, bounds = len(self.v), self.v, self.bounds
        gains = np.empty(n)
        first = 0
        while first < n:
            last = max(first + 1, int(np.searchsorted(bounds, bounds[first] + BLOCK // 4)) - 1)
            pairs = slice(bounds[first], bounds[last])
            margins = v.take(self.points[pairs])
            margins -= self.distances[pairs]
            np.maximum(margins, 0, out=margins)
            gains[first:last] = np.add.reduceat(margins, bounds[first:last] - bounds[first])
            first = last
        reduced = self.cost - gains
        is_open = np.flatnonzero(reduced < 0)
        gradient = np.ones(n)
        for q in is_open:
            pairs = slice(bounds[q], bounds[q + 1])
            points = self.points[pairs]
            gradient[points] -= v[points] > self.distances[pairs]
        return float(v.sum() + reduced[is_open].sum()), gradient, is_open

    def ascend(self, energy: float, n_steps: int) -> bool:
        """Take steps towards the energy; tell whether a maximum of L has been reached."""
        for _ in range(n_steps):
            value, gradient, is_open = self.evaluate()
            self.open_share *= 0.9
            self.open_share[is_open] += 0.1
            missing = energy - value
            self.stalled += 1
            if value > self.value:
                if value - self.value > 1e-3 * missing:
                    self.stalled = 0
                self.best, self.value = self.v, value
            if missing <= NOTHING * np.abs(self.v).sum():
                return False
            if not gradient.any():
                self.open_share[:] = 0
                self.open_share[is_open] = 1
                return True
            if self.stalled >= 30:
                self.factor /= 2
                self.restart()
                continue
            size = float(self.direction @ self.direction)
            if size:
                turn = float(self.direction @ gradient) / size
                gradient += max(0.0, -1.5 * turn) * self.direction
            self.direction = gradient
            step = self.factor * missing / (gradient @ gradient)
            self.v = np.clip(self.v + step * gradient, self.floor, self.ceiling)
        return False
