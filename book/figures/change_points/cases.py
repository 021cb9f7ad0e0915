"""Small cases that are enumerated: six points, all segmentations, all partitions."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from mlbook._arrays import Floats, Integers
from mlbook.changepoints import (
    segment_starts,
)
from mlbook.partitions import equivalence_matrix

__all__ = [
    "all_matrices",
    "alternation_steps",
    "best_by_segments",
    "candidate_costs",
    "fast_loss",
    "free_partitions",
    "hausdorff",
    "hinge_lines",
    "hinge_of_partitions",
    "is_linear",
    "loss_of_pairs",
    "pieces",
    "printed_algorithm",
    "six_points",
    "splits_in_time",
]


def six_points() -> tuple[Floats, Integers]:
    """Six numbers with a bump in the middle, and the segmentation into three pairs.

    Examples
    --------
    >>> x, y = six_points()
    >>> print(x, y)
    [2. 0. 7. 5. 1. 3.] [0 0 1 1 2 2]
    """
    return np.array([2.0, 0, 7, 5, 1, 3]), np.array([0, 0, 1, 1, 2, 2])


def candidate_costs(x: Floats, penalty: float) -> Floats:
    """Cost of the best segmentation of the first u numbers whose last segment begins at s.

    Row u − 1, column s: F(s) + D(s, u) + λ, where D is the distortion of one segment and F(u) is
    the least entry of the row; infinite for s ≥ u. Plain loops, O(n³), to be read beside the
    derivation; `mlbook.changepoints.segment` is the fast one.

    Examples
    --------
    >>> print(candidate_costs(np.array([0.0, 2.0]), penalty=5.0))
    [[ 5. inf]
     [ 7. 10.]]
    """
    n = len(x)
    costs = np.full((n, n), np.inf)
    least = np.zeros(n + 1)
    for u in range(1, n + 1):
        for s in range(u):
            piece = x[s:u]
            costs[u - 1, s] = least[s] + np.sum((piece - piece.mean()) ** 2) + penalty
        least[u] = costs[u - 1].min()
    return costs


def best_by_segments(gain: Callable[[int, int], float], n: int) -> tuple[float, Integers]:
    """Largest sum of gain(s, u) over the segments of n points, and a segmentation that has it.

    The dynamic program for any gain of the points s + 1 to u, in plain loops.

    Examples
    --------
    >>> value, labels = best_by_segments(lambda s, u: 1.0 if u - s == 2 else 0.0, 4)
    >>> print(value, labels)
    2.0 [0 0 1 1]
    """
    best, starts = [0.0], []
    for u in range(1, n + 1):
        sums = [best[s] + gain(s, u) for s in range(u)]
        starts.append(int(np.argmax(sums)))
        best.append(max(sums))
    labels, u = np.zeros(n, dtype=int), n
    while u > 0:
        u = starts[u - 1]
        labels[u:] += u > 0
    return best[n], labels


def loss_of_pairs(a: Integers, b: Integers) -> float:
    """Rand loss: the number of pairs that one of two partitions joins and the other separates.

    Examples
    --------
    >>> loss_of_pairs(np.array([0, 0, 1]), np.array([0, 1, 1]))
    2.0
    """
    joined = (a[:, None] == a) != (b[:, None] == b)
    return float(joined.sum() / 2)


def hausdorff(a: Integers, b: Integers) -> float:
    """Hausdorff distance of the change points of two segmentations with at least one each.

    Examples
    --------
    >>> hausdorff(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]))
    1.0
    """
    starts = [segment_starts(labels)[1:] for labels in (a, b)]
    gaps = np.abs(np.subtract.outer(*starts))
    return float(max(gaps.min(axis=0).max(), gaps.min(axis=1).max()))


def fast_loss(a: Integers, b: Integers) -> float:
    """Loss Δ of two segmentations: `partition_loss` without its checks, 20 times as fast."""
    counts = np.zeros((a[-1] + 1, b[-1] + 1))
    np.add.at(counts, (a, b), 1)
    sizes = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    return float(sum(counts.shape) - 2 * np.sum(counts**2 / sizes))


def splits_in_time(n: int) -> list[Integers]:
    """All 2ⁿ⁻¹ segmentations of n points.

    Examples
    --------
    >>> [labels.tolist() for labels in splits_in_time(2)]
    [[0, 0], [0, 1]]
    """
    return [np.cumsum([0, *cuts]) for cuts in np.ndindex(*(2,) * (n - 1))]


@cache
def free_partitions(n: int) -> list[Integers]:
    """All partitions of n points.

    Examples
    --------
    >>> [labels.tolist() for labels in free_partitions(2)]
    [[0, 0], [0, 1]]
    """
    ways = np.ndindex(*range(1, n + 1))
    return [np.array(a) for a in ways if all(a[i] <= max(a[:i]) + 1 for i in range(1, n))]


def all_matrices(partitions: Sequence[Integers]) -> Floats:
    """Matrices C of some partitions, one below the other.

    Examples
    --------
    >>> all_matrices(splits_in_time(3)).shape
    (4, 3, 3)
    """
    return np.array([equivalence_matrix(labels) for labels in partitions])


def pieces(partitions: Sequence[Integers]) -> Floats:
    """Say for each partition, in a row, which sets of points are its clusters, with 1 and 0.

    Examples
    --------
    >>> pieces(splits_in_time(2))  # the sets {1, 2}, {1}, {2}
    array([[1., 0., 0.],
           [0., 1., 1.]])
    """
    names: dict[tuple[int, ...], int] = {}
    found = [
        [names.setdefault(tuple(np.flatnonzero(a == c)), len(names)) for c in np.unique(a)]
        for a in partitions
    ]
    rows = np.zeros((len(found), len(names)))
    for row, listed in zip(rows, found, strict=True):
        row[listed] = 1
    return rows


def is_linear(features: Floats, values: Sequence[float]) -> bool:
    """Tell whether numbers are a linear function of rows of features, and a constant.

    Examples
    --------
    >>> is_linear(np.array([[1.0], [2.0], [3.0]]), [5.0, 7.0, 9.0])
    True
    """
    rows = np.column_stack([features, np.ones(len(features))])
    fitted = rows @ np.linalg.lstsq(rows, np.asarray(values, dtype=float))[0]
    return bool(np.allclose(fitted, values, atol=1e-8))


def hinge_lines(x: Floats, y: Integers) -> list[tuple[float, float]]:
    """Offset and slope in b of the term of each segmentation in the structured hinge of y.

    The metric is b and a segment costs 1, which cancels the number of segments in the loss.

    Examples
    --------
    >>> hinge_lines(np.array([0.0, 2.0]), np.array([0, 0]))  # both points together, then apart
    [(0.0, 0.0), (0.0, 2.0)]
    """
    own, found = equivalence_matrix(y), []
    for labels in splits_in_time(len(x)):
        C = equivalence_matrix(labels)
        offset = 2 * (np.trace(own) - np.sum(own * C))
        found.append((float(offset), float(x @ (C - own) @ x)))
    return found


def hinge_of_partitions(X: Floats, truth: Integers, weight: float, matrices: Floats) -> float:
    """Structured hinge of the metric `weight` times the identity, by enumeration.

    Examples
    --------
    >>> x, y = six_points()
    >>> round(hinge_of_partitions(x[:, None], y, 0.5, all_matrices(splits_in_time(6))), 9)
    3.0
    """
    difference = matrices - equivalence_matrix(truth)
    scores = np.tensordot(difference, weight * X @ X.T - np.eye(len(X)), axes=2)
    return float(np.max(np.sum(difference**2, axis=(1, 2)) + scores))


def printed_algorithm(A: Floats) -> Integers:
    """Algorithm 1 of Lajugie 2014 as printed, in the kindest reading that runs.

    The undefined s of the printed β is read as u, the backtracking as going along the columns
    of the table and on to the point before the segment found. It does not maximize Tr(AM).

    Examples
    --------
    >>> A = np.diag([-1.0, 2.0])  # two segments have the value 1, one has 1/2
    >>> print(printed_algorithm(A))
    [0 0]
    """
    n = len(A)
    table = A.cumsum(axis=0).cumsum(axis=1)
    C = np.full((n, n), -np.inf)
    C[0] = table.diagonal()
    for t in range(1, n):
        before = C[:t, t - 1].max()
        for u in range(t, n):
            corners = table[u, u] + table[t, t] - table[u, t] - table[t, u]
            C[t, u] = before + corners / (u - t + 1)
    begins = np.zeros(n, dtype=int)
    end = n - 1
    while end >= 0:
        start = int(C[: end + 1, end].argmax())
        begins[start] = 1
        end = start - 1
    return np.cumsum(begins) - 1


def alternation_steps(seed: int, *, annotated_only: bool) -> Floats:
    """Change of the objective in every step of the alternation, on nine numbers.

    Five of nine labels are known. Step (a) fills in the others by the largest score, step (b)
    minimizes over 301 weights b; both by enumeration. The loss counts the annotated points only,
    or all points of the completed labels.

    Examples
    --------
    >>> alternation_steps(0, annotated_only=True).shape
    (11,)
    """
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 3)
    x = np.array([0.0, 2.0, -1.0])[truth] + rng.normal(size=9)
    first = int(rng.integers(0, 5))
    window = slice(first, first + 5)
    every, matrices = _splits_of_nine()
    known = truth[window] - truth[first]
    seen = [labels[window] - labels[first] for labels in every]
    allowed = np.array([np.array_equal(labels, known) for labels in seen])
    annotated = np.array([fast_loss(labels, known) for labels in seen])
    weights = np.linspace(0, 3, 301)
    counts = np.trace(matrices, axis1=1, axis2=2)
    scores = np.outer(weights, np.tensordot(matrices, np.outer(x, x), axes=2)) - counts
    values, now = [], 30
    for _ in range(6):
        chosen = int(np.argmax(np.where(allowed, scores[now], -np.inf)))
        whole = np.sum((matrices - matrices[chosen]) ** 2, axis=(1, 2))
        losses = annotated if annotated_only else whole
        objective = (scores + losses).max(axis=1) - scores[:, chosen] + 0.01 * weights**2
        values.append(objective[now])
        now = int(objective.argmin())
        values.append(objective[now])
    return np.diff(values)


@cache
def _splits_of_nine() -> tuple[list[Integers], Floats]:
    every = splits_in_time(9)
    return every, all_matrices(every)
