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
from mlbook.exemplars import compiled
from mlbook.exemplars.compiled import LITTLE, NOTHING, STALLED
from mlbook.exemplars.energy import BLOCK

STEPS = 80  # on the dual between two roundings
PATIENCE = 3  # roundings in a row that may bring nothing
KICKS = 40  # of the best set, at most
IDLE_KICKS = 20  # kicks in a row that may bring nothing


def search(
    C: NDArray[Any], cost: Floats, max_iter: int, rng: np.random.RandomState
) -> tuple[Integers, Floats, int]:
    """Return a set of low cost, multipliers of a high bound, and the number of dual steps.

    First, the ascent on the bound and the local search help each other: the lowest cost found
    sets the length of the dual steps, and how often each facility is open along the ascent is
    rounded into new starts. Then the best set is kicked: the search starts anew from seven
    tenths of it, with the facilities that earlier searches chose or the ascent opened lately.
    """
    facilities = Facilities(C, cost)
    n = len(cost)
    Q, energy = facilities.improve(facilities.greedy(), rng.permutation(n))
    dual = DualAscent(facilities, Q)

    seen = np.zeros(n, dtype=bool)
    seen[Q] = True
    idle = n_iter = 0
    while n_iter < max_iter and idle < PATIENCE and not dual.meets(energy):
        before = dual.value
        steps, stationary = dual.ascend(energy, min(STEPS, max_iter - n_iter))
        n_iter += steps
        missing = energy - dual.value
        slow = missing < 1e-3 * abs(energy) or dual.value - before < 0.03 * missing
        idle = idle + 1 if slow else 0
        start: Integers = np.flatnonzero(dual.open_share > rng.uniform(0.1, 0.5))
        if len(start):
            found, cost_found = facilities.improve_and_merge(start, rng.permutation(n), Q, energy)
            seen[found] = True
            if cost_found < energy - NOTHING * abs(energy):
                Q, energy, idle = found, cost_found, 0
                dual.focus(Q)
        if stationary:
            break

    idle = 0
    candidates = np.flatnonzero(seen | (dual.open_share > 1e-6))
    for _ in range(KICKS):
        if idle == IDLE_KICKS or dual.meets(energy):
            break
        start = Q[rng.uniform(size=len(Q)) < 0.7]
        start = start if len(start) else Q[:1]
        order = rng.permutation(candidates)
        found, cost_found = facilities.improve_and_merge(start, order, Q, energy)
        idle += 1
        if cost_found < energy - NOTHING * abs(energy):
            Q, energy, idle = found, cost_found, 0
    Q = facilities.improve(Q, rng.permutation(n))[0]
    return _first_of_equals(C, cost, Q), dual.best, n_iter


def _first_of_equals(C: NDArray[Any], cost: Floats, Q: Integers) -> Integers:
    """Replace each facility by the first that serves its points as well: two points are a tie."""
    server = Q[C[Q].argmin(axis=0)]
    chosen = []
    for q in Q:
        points = np.flatnonzero(server == q)
        totals = C[np.ix_(points, points)].sum(axis=1, dtype=np.float64) + cost[points]
        served = C[q, points].astype(np.float64)
        limit = served.sum() + cost[q] + NOTHING * (np.abs(served).sum() + abs(cost[q]))
        equals = points[totals <= limit] if q in points else [q]
        chosen.append(equals[0])
    found: Integers = np.unique(chosen)
    return found if len(found) == len(Q) else Q


class Facilities:
    """The costs of facilities, and the search among sets of them; compiled where numba is.

    For the compiled functions, each point gets the list of its facilities in the order of their
    cost: half as much memory as C again for the list, and as much for the costs.
    """

    def __init__(self, C: NDArray[Any], cost: Floats) -> None:
        n = len(cost)
        self.C, self.cost = C, cost
        self.kernels = compiled.load()
        if self.kernels:
            near, values = np.empty((n, n), dtype=np.int32), np.empty_like(C)
            for rows in gen_batches(n, BLOCK // 4 // n + 1):
                costs = C[:, rows].T
                order = costs.argsort(axis=1)
                near[rows], values[rows] = order, np.take_along_axis(costs, order, axis=1)
            self.lists = near, values

    def greedy(self) -> Integers:
        """Start from the best single facility, open the one that gains most, while one does."""
        first = int((self.C.sum(axis=1, dtype=np.float64) + self.cost).argmin())
        if self.kernels:
            return np.flatnonzero(self.kernels.greedy(self.C, self.cost, self.lists, first))
        return greedy(self.C, self.cost, first)

    def improve(self, start: Integers, order: Integers) -> tuple[Integers, float]:
        """Add, drop and swap until nothing pays: the facilities, in increasing order, and the cost.

        All additions and swaps of the candidates in `order` are valued at once, in O(n) for each.
        Those that pay are then tried in this order, each in O(n) against what the ones before
        have left. If it is empty, facilities are only dropped.
        """
        if self.kernels:
            is_open = np.zeros(len(self.cost), dtype=bool)
            is_open[start] = True
            total = self.kernels.improve(self.C, self.cost, self.lists, is_open, order)
            return np.flatnonzero(is_open), total
        served = _Service(self.C, self.cost, start)
        moved = True
        while moved:
            served.drop()
            least = NOTHING * (np.abs(served.d1).sum() + np.abs(self.cost[served.Q]).sum())
            moved = False
            for q in order[served.gains(order) > least]:
                moved |= served.add(q, least)
        return served.Q, float(served.d1.sum() + self.cost[served.Q].sum())

    def improve_and_merge(
        self, start: Integers, order: Integers, Q: Integers, energy: float
    ) -> tuple[Integers, float]:
        """Search from a start; then from what dropping leaves of the union with Q, if better.

        Two sets that differ in several places are thus merged into one that is as good as the
        better of the two in each. `energy` is the cost of Q.
        """
        found, cost = self.improve(start, order)
        union, merged = self.improve(np.union1d(found, Q), order[:0])
        return self.improve(union, order) if merged < min(cost, energy) else (found, cost)


def greedy(C: NDArray[Any], cost: Floats, first: int) -> Integers:
    """Open the facility that gains most, while one does."""
    n = len(cost)
    chosen = [first]
    d1 = C[first].astype(np.float64)
    gain = -cost
    for rows in gen_batches(n, BLOCK // n + 1):
        gain[rows] += np.maximum(d1 - C[rows], 0).sum(axis=1)
    gain[first] = -np.inf
    while gain.max() > (least := NOTHING * (np.abs(d1).sum() + np.abs(cost[chosen]).sum())):
        q = int((gain >= gain.max() - least).argmax())
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
        for begin in range(0, m, BLOCK // n + 1):
            rows = slice(begin, begin + BLOCK // n + 1)
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

    def __init__(self, facilities: Facilities, Q: Integers) -> None:
        self.facilities = facilities
        self.C, self.cost = C, cost = facilities.C, facilities.cost
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
        ceiling = self.cost + self.floor
        if len(Q) > 2:
            ceiling = np.minimum(ceiling, np.partition(self.C[Q], 2, axis=0)[2])
        self.ceiling = np.maximum(ceiling, self.floor)
        if not self.facilities.kernels:
            matters = self.ceiling > self.C
            np.fill_diagonal(matters, True)
            self.bounds = np.concatenate([[0], np.cumsum(np.count_nonzero(matters, axis=1))])
            self.points = np.flatnonzero(matters)
            self.points %= len(self.cost)
            self.distances = self.C[matters]
        self.factor = max(self.factor, 0.5)
        self.restart()

    def restart(self) -> None:
        """Go back to the best v."""
        self.v = np.clip(self.best, self.floor, self.ceiling)
        self.direction = np.zeros(len(self.v))
        self.stalled = 0.0

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
        # The pairs of the open facilities, one list after the other.
        lengths = bounds[is_open + 1] - bounds[is_open]
        near = np.repeat(bounds[is_open + 1] - np.cumsum(lengths), lengths)
        near += np.arange(len(near))
        points = self.points[near]
        served = np.bincount(points[v[points] > self.distances[near]], minlength=n)
        gradient = np.ones(n) - served
        return float(v.sum() + reduced[is_open].sum()), gradient, is_open

    def ascend(self, energy: float, n_steps: int) -> tuple[int, bool]:
        """Take steps towards the energy: their number, and whether a maximum of L is reached."""
        if self.facilities.kernels:
            arrays = self.floor, self.ceiling, self.best, self.v, self.direction, self.open_share
            state = np.array([self.value, self.factor, self.stalled])
            steps, stationary = self.facilities.kernels.ascend(
                self.cost, self.facilities.lists, arrays, state, energy, n_steps
            )
            self.value, self.factor, self.stalled = state
            return steps, stationary
        for step in range(n_steps):
            value, gradient, is_open = self.evaluate()
            self.open_share *= 0.9
            self.open_share[is_open] += 0.1
            missing = energy - value
            self.stalled += 1
            if value > self.value:
                if value - self.value > LITTLE * missing:
                    self.stalled = 0
                self.best, self.value = self.v, value
            if not gradient.any():
                self.open_share[:] = 0
                self.open_share[is_open] = 1
                return step + 1, True
            if missing <= NOTHING * np.abs(self.v).sum():
                return step + 1, False
            if self.stalled >= STALLED:
                self.factor /= 2
                self.restart()
                continue
            size = float(self.direction @ self.direction)
            if size:
                turn = float(self.direction @ gradient) / size
                gradient += max(0.0, -1.5 * turn) * self.direction
            self.direction = gradient
            length = self.factor * missing / (gradient @ gradient)
            self.v = np.clip(self.v + length * gradient, self.floor, self.ceiling)
        return n_steps, False
