"""What labels say about segments: runs of equal labels, where segments begin, constraints."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlbook._arrays import Integers
from mlbook._validation import as_array, check_integer, check_integer_labels

__all__ = [
    "SegmentConstraints",
    "breakpoints_from_labels",
    "constraints_from_intervals",
    "constraints_from_labels",
    "labels_from_breakpoints",
    "longest_run",
    "runs",
    "segment_starts",
]


def runs(values: ArrayLike) -> list[tuple[int, int]]:
    """Return start and stop (exclusive) of each run of equal values.

    Examples
    --------
    >>> runs([3, 3, 0, 0, 0, 3])
    [(0, 2), (2, 5), (5, 6)]
    """
    array = np.asarray(values)
    starts = np.flatnonzero(array[1:] != array[:-1]) + 1
    return list(pairwise([0, *starts.tolist(), len(array)]))


def longest_run(chosen: ArrayLike) -> tuple[int, int]:
    """Return start and stop (exclusive) of the longest run of True, the first of equal ones.

    Examples
    --------
    >>> longest_run([True, False, True, True, False])
    (2, 4)

    Raises
    ------
    ValueError
        If nothing is chosen.
    """
    array = np.asarray(chosen)
    found = [run for run in runs(array) if array[run[0]]]
    if not found:
        raise ValueError("chosen must have an entry that is True; got none")
    return max(found, key=lambda run: run[1] - run[0])


def segment_starts(labels: ArrayLike, name: str = "labels") -> Integers:
    """Return the positions at which the segments of a labelling begin, 0 first.

    Examples
    --------
    >>> print(segment_starts([3, 3, 0, 0, 1]))
    [0 2 4]

    Raises
    ------
    ValueError
        If the labels are not non-negative integers, each filling one run.
    """
    array = check_integer_labels(labels, name, least=0)
    starts = np.array([start for start, _ in runs(array)])
    k = len(np.unique(array))
    if len(starts) != k:
        raise ValueError(
            f"{name} must be contiguous, one run of points per label; got {len(starts)} runs of "
            f"{k} labels. To take every run for a segment, number the runs"
        )
    return starts


def labels_from_breakpoints(breakpoints: ArrayLike) -> Integers:
    """Turn the ends of segments, as the package ruptures lists them, into labels.

    O(n + k log k) for n points in k segments.

    Parameters
    ----------
    breakpoints : array-like of k increasing integers, at least 1
        Where each segment ends (exclusive); the last is the number n of points.

    Returns
    -------
    ndarray of n integers
        Segment of each point, 0, 1, ... from left to right.

    Raises
    ------
    ValueError
        If the breakpoints are not as described.

    See Also
    --------
    breakpoints_from_labels : The way back.

    Examples
    --------
    >>> print(labels_from_breakpoints([2, 5]))
    [0 0 1 1 1]
    """
    ends = check_integer_labels(breakpoints, "breakpoints", least=1)
    lengths = np.diff(ends, prepend=0)
    if lengths.min() < 1:
        i = int(lengths.argmin())
        raise ValueError(
            f"breakpoints must increase; got {ends[i]} after {ends[i - 1]} at position {i}"
        )
    return np.repeat(np.arange(len(ends)), lengths)


def breakpoints_from_labels(labels: ArrayLike) -> list[int]:
    """Return where the segments of a labelling end, as the package ruptures lists them.

    O(n) for n points.

    Parameters
    ----------
    labels : array-like of n non-negative integers or strings
        Label of each point. Each run of equal labels is a segment; a label may return.

    Returns
    -------
    list of int
        Where each segment ends (exclusive), increasing; the last is n.

    Raises
    ------
    ValueError
        If the labels are not as described.

    See Also
    --------
    labels_from_breakpoints : The way back.

    Examples
    --------
    >>> breakpoints_from_labels([0, 0, 1, 1, 1])
    [2, 5]
    >>> breakpoints_from_labels(["walk", "walk", "run", "walk"])
    [2, 3, 4]
    """
    array = as_array(labels, "labels")
    if array.dtype.kind != "U" or array.ndim != 1 or not array.size:
        array = check_integer_labels(labels, "labels", least=0)
    return [stop for _, stop in runs(array)]


class SegmentConstraints(NamedTuple):
    """What is known about a segmentation beforehand.

    Made by `constraints_from_labels` or `constraints_from_intervals`.

    Attributes
    ----------
    allowed : ndarray of n + 1 booleans
        Whether a segment may begin at each position 0..n (n is the end of the sequence).
    earliest_start : ndarray of n + 1 non-decreasing integers
        The first position at which a segment that ends at u (exclusive) may begin.

    Examples
    --------
    >>> known = constraints_from_labels([0, 0, -1, 1])
    >>> isinstance(known, SegmentConstraints), known.allowed.astype(int).tolist()
    (True, [1, 0, 1, 1, 1])
    """

    allowed: NDArray[np.bool_]
    earliest_start: Integers


def constraints_from_intervals(
    n: int,
    same: Iterable[tuple[int, int]] = (),
    change: Iterable[tuple[int, int]] = (),
) -> SegmentConstraints:
    """Constraints from annotated intervals: no boundary here, at least one there.

    Parameters
    ----------
    n : int
        Length of the sequence.
    same : iterable of (i, j)
        The points i and j, i ≤ j, and all between them, share a segment.
    change : iterable of (i, j)
        The points i and j, i < j, are in different segments: at least one segment begins at a
        position i + 1, ..., j.

    Returns
    -------
    SegmentConstraints
        The constraints.

    Raises
    ------
    ValueError
        If an interval is empty or outside of 0..n − 1, or the two kinds contradict each other.

    Examples
    --------
    >>> known = constraints_from_intervals(6, same=[(0, 2)], change=[(2, 4)])
    >>> print(known.allowed.astype(int))
    [1 0 0 1 1 1 1]
    >>> print(known.earliest_start)
    [0 0 0 0 0 3 3]
    """
    n = check_integer(n, "n", least=1)
    allowed = np.ones(n + 1, dtype=bool)
    earliest = np.zeros(n + 1, dtype=np.int64)
    for i, j in _pairs(same, "same"):
        i = check_integer(i, "same", least=0, most=n - 1)
        j = check_integer(j, "same", least=i, most=n - 1)
        allowed[i + 1 : j + 1] = False
    for i, j in _pairs(change, "change"):
        i = check_integer(i, "change", least=0, most=n - 2)
        j = check_integer(j, "change", least=i + 1, most=n - 1)
        if not allowed[i + 1 : j + 1].any():
            raise ValueError(
                f"same and change contradict each other: points {i} and {j} share a segment "
                "and do not"
            )
        earliest[j + 1 :] = np.maximum(earliest[j + 1 :], i + 1)
    return SegmentConstraints(allowed, earliest)


def _pairs(intervals: Any, name: str) -> list[Any]:
    """Return intervals, refusing what are not pairs."""
    given = list(intervals) if isinstance(intervals, Iterable) else [intervals]
    if isinstance(intervals, str | bytes) or any(np.shape(pair) != (2,) for pair in given):
        raise ValueError(f"{name} must hold pairs (i, j); got {intervals!r:.200}")
    return given


def constraints_from_labels(labels: ArrayLike) -> SegmentConstraints:
    """Constraints from partial labels: −1 is unknown, equal labels are one segment.

    Two labelled points that follow each other, whatever lies between them unlabelled, are in the
    same segment if their labels are equal; if not, at least one segment begins after the one
    and not after the other (Lajugie 2014, Section 5.2). O(n).

    Parameters
    ----------
    labels : array-like of n integers
        Label of each point, −1 for unlabelled points. Only equality of labels counts.

    Returns
    -------
    SegmentConstraints
        The constraints.

    Raises
    ------
    ValueError
        If the labels are not integers from −1 up, or one returns after another took its place.

    Examples
    --------
    >>> known = constraints_from_labels([-1, 0, 0, -1, -1, 1])
    >>> print(known.allowed.astype(int))
    [1 1 0 1 1 1 1]
    >>> from mlbook.changepoints import segment
    >>> X = [[0.0], [0.0], [0.0], [0.0], [0.0], [0.0]]
    >>> print(segment(X, penalty=1.0, constraints=known))
    [0 0 0 1 1 1]
    """
    array = check_integer_labels(labels, "labels", least=-1)
    known = np.flatnonzero(array >= 0)
    values = array[known]
    n_runs, n_labels = len(runs(values)), len(np.unique(values))
    if len(known) and n_runs != n_labels:
        raise ValueError(
            f"labels contradict contiguous segments: {n_labels} labels fill {n_runs} runs"
        )
    pairs = list(pairwise(known.tolist()))
    equal = values[1:] == values[:-1]
    return constraints_from_intervals(
        len(array),
        same=[pair for pair, e in zip(pairs, equal, strict=True) if e],
        change=[pair for pair, e in zip(pairs, equal, strict=True) if not e],
    )
