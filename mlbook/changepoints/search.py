"""Dynamic programming over segmentations: scores of segments, and the search for the best sum.

The recursion, the scores f(s, u) and the pruning are explained in `mlbook.changepoints`, which
checks all input. A position is a place between two points: 0 before the first, n after the last.
"""

from typing import NamedTuple, Protocol

import numpy as np

from mlbook._arrays import Floats, Integers, squared_norms

_ENDS = 64  # ends worked on at a time
_STARTS = 1024  # starts worked on at a time: a block of both stays in cache


class Scores(Protocol):
    """f(s, u) for many starts and ends, and how much a cut can lower its sum."""

    n: int
    split_loss: float

    def __call__(self, starts: Integers, ends: Integers) -> Floats:
        """Return f as an array (ends, starts); entries with start ≥ end mean nothing.

        Both arrays increase.
        """


class DataScores:
    """Scores for A = XXᵀ − weight · N, with N the matrix of a segmentation."""

    def __init__(self, X: Floats, truth: Integers | None = None, weight: float = 0.0) -> None:
        self.n = len(X)
        self.sums = np.zeros((self.n + 1, X.shape[1]))
        np.cumsum(X - X.mean(axis=0), axis=0, out=self.sums[1:])
        self.overlap = None if truth is None else Overlap(truth)
        self.split_loss = self.weight = weight

    def __call__(self, starts: Integers, ends: Integers) -> Floats:
        """Score the segments from each start to each end."""
        d = self.sums.shape[1]
        origin = self.sums[ends[0]]
        right = np.empty((len(starts), d + 2))
        left = np.empty((len(ends), d + 2))
        for side, positions in ((right, starts), (left, ends)):
            np.subtract(self.sums[positions], origin, out=side[:, :d])
        right[:, d], left[:, d + 1] = 1.0, 1.0
        right[:, d + 1] = squared_norms(right[:, :d])
        left[:, d] = squared_norms(left[:, :d])
        left[:, :d] *= -2
        f = left @ right.T
        lengths = _lengths(starts, ends)
        f /= lengths
        if self.overlap is not None:
            f -= self.weight * self.overlap(starts, ends, lengths)
        return f


class Overlap:
    """Tr(NM) of one segment of M with the segmentation N: Σ_k overlap_k²/size_k / length.

    All true segments but those of the first and the last point lie within: O(1).
    """

    def __init__(self, boundaries: Integers) -> None:
        sizes = np.diff(boundaries)
        begins, stops = np.repeat(boundaries[:-1], sizes), np.repeat(boundaries[1:], sizes)
        self.size = np.repeat(sizes, sizes).astype(np.float64)
        points = np.arange(len(begins))
        self.begins = begins  # of the true segment of each point
        self.head = np.append((stops - points) ** 2 / self.size - stops, 0.0)
        self.tail = (points + 1 - begins) ** 2 / self.size + begins

    def __call__(self, starts: Integers, ends: Integers, lengths: Floats) -> Floats:
        """Return the overlap of these segments with the true ones."""
        last = ends - 1
        across = (self.head[starts] + self.tail[last][:, None]) / lengths
        within = lengths / self.size[last][:, None]
        return np.where(self.begins[last][:, None] <= starts, within, across)


class MatrixScores:
    """Scores for any symmetric A, from its summed-area table."""

    split_loss = np.inf

    def __init__(self, A: Floats) -> None:
        self.n = len(A)
        means = A.mean(axis=0)
        self.table = np.zeros((self.n + 1, self.n + 1))
        # Centring changes Tr(AM) by the same for all M, and keeps the sums small.
        np.cumsum(A - means - means[:, None] + means.mean(), axis=0, out=self.table[1:, 1:])
        np.cumsum(self.table, axis=1, out=self.table)
        self.diagonal = self.table.diagonal()

    def __call__(self, starts: Integers, ends: Integers) -> Floats:
        """Score the segments from each start to each end."""
        f = -2 * self.table[np.ix_(ends, starts)]
        f += self.diagonal[starts]
        f += self.diagonal[ends][:, None]
        f /= _lengths(starts, ends)
        return f


def _lengths(starts: Integers, ends: Integers) -> Floats:
    """Lengths u − s, 1 where they would not be positive."""
    lengths = np.subtract.outer(ends.astype(np.float64), starts)
    near = lengths[:, np.searchsorted(starts, ends[0]) :]
    np.maximum(near, 1, out=near)
    return lengths


class Rules(NamedTuple):
    """The segments that are allowed."""

    positions: Integers  # where boundaries may be; 0 and n among them
    min_length: int
    earliest_start: Integers | None

    def gains(self, scores: Scores, starts: Integers, ends: Integers) -> Floats:
        """Return f(s, u), −∞ for segments that are not allowed."""
        f = scores(starts, ends)
        near = int(np.searchsorted(starts, ends[0] - self.min_length, side="right"))
        f[:, near:][ends[:, None] - starts[near:] < self.min_length] = -np.inf
        if self.earliest_start is not None:
            f[starts < self.earliest_start[ends][:, None]] = -np.inf
        return f


def best_previous(scores: Scores, rules: Rules, penalty: float) -> Integers | None:
    """Start of the last segment of a best segmentation up to each position; None without one.

    Segments that begin before the block of ends are compared at once; those that begin in it by
    repeating the recursion, as often as the best segmentation has boundaries in the block.
    """
    value = np.full(scores.n + 1, -np.inf)
    value[0] = 0.0
    previous = np.zeros(scores.n + 1, dtype=np.int64)
    candidates: Integers = np.zeros(1, dtype=np.int64)
    for first in range(1, len(rules.positions), _ENDS):
        ends = rules.positions[first : first + _ENDS]
        rows = np.arange(len(ends))
        starts = np.concatenate([candidates, ends])
        gains = rules.gains(scores, starts, ends)
        gains -= penalty
        before, within = np.split(gains, [len(candidates)], axis=1)
        totals = before + value[candidates]
        choice = totals.argmax(axis=1)
        best = totals[rows, choice]
        while True:
            totals = within + best
            inner = totals.argmax(axis=1)
            longer = totals[rows, inner]
            better = longer > best
            if not better.any():
                break
            best[better] = longer[better]
            choice[better] = inner[better] + len(candidates)
        value[ends] = best
        previous[ends] = starts[choice]
        candidates = _prune(scores, rules, value, starts[value[starts] > -np.inf], int(ends[-1]))
        if not len(candidates):
            return None
    return previous if value[-1] > -np.inf else None


def _prune(scores: Scores, rules: Rules, value: Floats, starts: Integers, end: int) -> Integers:
    """Drop the starts that cannot be better than a later one for any end after `end`."""
    if rules.earliest_start is not None:
        starts = starts[starts >= rules.earliest_start[end]]
    n_old = int(np.searchsorted(starts, end + 1 - rules.min_length, side="right"))
    if n_old < 2 or scores.split_loss == np.inf:
        return starts
    t, others = starts[n_old - 1], starts[: n_old - 1]
    uncut = value[others] + scores(others, t[None])[0]
    return np.concatenate([others[uncut + scores.split_loss > value[t]], starts[n_old - 1 :]])


def best_values(scores: Scores, rules: Rules, n_segments: int) -> Floats:
    """V[k, i]: best value of k segments up to the i-th allowed position; −∞ where there is none.

    Which start is best is not kept: `labels_from_values` finds it again for the few that matter.
    """
    positions = rules.positions
    values = np.full((n_segments + 1, len(positions)), -np.inf)
    values[0, 0] = 0.0
    buffer = np.empty((_ENDS, _STARTS))
    for first in range(1, len(positions), _ENDS):
        stop = min(first + _ENDS, len(positions))
        ends = positions[first:stop]
        gains = rules.gains(scores, positions[:stop], ends)
        block = values[:, first:stop]
        for low in range(0, first, _STARTS):
            high = min(low + _STARTS, first)
            totals = buffer[: len(ends), : high - low]
            for k in range(n_segments):
                np.add(gains[:, low:high], values[k, low:high], out=totals)
                np.maximum(block[k + 1], totals.max(axis=1), out=block[k + 1])
        within = np.ascontiguousarray(gains[:, first:])
        for k in range(n_segments):
            np.maximum(block[k + 1], (within + block[k]).max(axis=1), out=block[k + 1])
    return values


def labels_from_values(scores: Scores, rules: Rules, values: Floats, n_segments: int) -> Integers:
    """Labels of the best segmentation into `n_segments` segments."""
    last = len(rules.positions) - 1
    cuts = []
    for k in range(n_segments, 0, -1):
        starts = rules.positions[:last]
        gains = rules.gains(scores, starts, rules.positions[last : last + 1])[0]
        last = int(np.argmax(gains + values[k - 1, :last]))
        cuts.append(int(starts[last]))
    return _labels(scores.n, cuts)


def labels_from_previous(previous: Integers) -> Integers:
    """Labels of the segmentation whose last segment ends at the last position."""
    n = len(previous) - 1
    cuts = [int(previous[n])]
    while cuts[-1] > 0:
        cuts.append(int(previous[cuts[-1]]))
    return _labels(n, cuts)


def _labels(n: int, starts: list[int]) -> Integers:
    """Labels of the segmentation whose segments begin at `starts` (0 among them)."""
    begins = np.zeros(n, dtype=np.int64)
    begins[starts] = 1
    return np.cumsum(begins) - 1
