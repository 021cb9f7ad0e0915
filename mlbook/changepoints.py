r"""Change points: the best cut of a sequence into segments, exactly, by dynamic programming.

A segmentation of n points into contiguous segments is a partition with matrix M (Lajugie 2014,
Section 2.2): M[i, j] is one over the length of their segment when points i and j share one, and 0
otherwise. All problems here maximize Tr(AM) for a symmetric A (Lajugie 2014, Section 2.3), which
is a sum over the segments [s, u) of

.. math:: f(s, u) = \frac{1}{u - s} \sum_{i, j = s}^{u - 1} A_{ij}.

With the best value V(s) for the first s points, V(u) = max_s V(s) + f(s, u), V(0) = 0; when the
number of segments is given, V has it as a second argument. (Algorithm 1 of the paper, as
printed, does not compute this maximum.)

=====================================  ==========================================================
A                                      maximizing Tr(AM) means
=====================================  ==========================================================
XBXᵀ, number of segments given         least distortion under the metric B (Eq. 5)
XBXᵀ − λI                              least distortion + λ × number of segments (Eqs. 4 and 6)
XBXᵀ − 2N + (1 − λ)I                   the segmentation a large-margin learner fears most when N
                                       is the truth (Section 4.2)
=====================================  ==========================================================

A is never formed when it comes from data: with cumulative sums c of the centred points,
f(s, u) = ‖c(u) − c(s)‖²/(u − s), and the overlap of a segment with a segmentation N takes O(1).
Ends are worked on in blocks, so that most of the time is spent in matrix products.

Pruning. Let cutting a segment in two never lower the sum of f by more than κ. If, without the
penalty of the last segment, V(s) + f(s, t) + κ ≤ V(t), then for every end u > t starting the
last segment at t is at least as good as starting it at s, and s can be forgotten (Killick et al.
2012). κ = 0 for A = XBXᵀ; A = XBXᵀ − γN has κ = γ, because what a cut adds to Tr(NM) is vᵀNv
with a unit vector v. No pruning is done for a general A.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import median_abs_deviation
from sklearn.utils import check_array

from mlbook._validation import check_integer, check_number, metric_factor

__all__ = [
    "SegmentConstraints",
    "SegmentationPath",
    "constraints_from_intervals",
    "constraints_from_labels",
    "hermite_features",
    "loss_augmented_segment",
    "segment",
    "segment_matrix",
    "segment_starts",
    "segmentation_path",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ENDS = 64  # ends worked on at a time
_STARTS = 1024  # starts worked on at a time: a block of both stays in cache
_COMPILED_FROM = 1024  # points from which loading numba pays


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
    for i, j in same:
        i = check_integer(i, "same", least=0, most=n - 1)
        j = check_integer(j, "same", least=i, most=n - 1)
        allowed[i + 1 : j + 1] = False
    for i, j in change:
        i = check_integer(i, "change", least=0, most=n - 2)
        j = check_integer(j, "change", least=i + 1, most=n - 1)
        if not allowed[i + 1 : j + 1].any():
            raise ValueError(
                f"same and change contradict each other: points {i} and {j} share a segment "
                "and do not"
            )
        earliest[j + 1 :] = np.maximum(earliest[j + 1 :], i + 1)
    return SegmentConstraints(allowed, earliest)


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
    >>> X = [[0.0], [0.0], [0.0], [0.0], [0.0], [0.0]]
    >>> print(segment(X, penalty=1.0, constraints=known))
    [0 0 0 1 1 1]
    """
    array = _check_labels(labels, "labels", least=-1)
    known = np.flatnonzero(array >= 0)
    values = array[known]
    runs = 1 + np.count_nonzero(values[1:] != values[:-1])
    if len(known) and runs != len(np.unique(values)):
        raise ValueError(
            "labels contradict contiguous segments: "
            f"{len(np.unique(values))} labels fill {runs} runs"
        )
    pairs = list(pairwise(known.tolist()))
    equal = values[1:] == values[:-1]
    return constraints_from_intervals(
        len(array),
        same=[pair for pair, e in zip(pairs, equal, strict=True) if e],
        change=[pair for pair, e in zip(pairs, equal, strict=True) if not e],
    )


def segment(
    X: ArrayLike,
    n_segments: int | None = None,
    penalty: float | None = None,
    M: ArrayLike | None = None,
    min_length: int = 1,
    *,
    constraints: SegmentConstraints | None = None,
) -> Integers:
    """Cut a sequence into the segments of least distortion, exactly (Lajugie 2014, Eqs. 4-7).

    The distortion is the sum over all points of the squared distance d_M to the mean of their
    segment. Give either the number of segments or what each segment costs.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, in order.
    n_segments : int, optional
        Number K of segments.
    penalty : float, optional
        λ ≥ 0: minimize the distortion + λ × number of segments.
    M : array-like of shape (d, d) or (d,), optional
        Matrix of the metric, symmetric positive semidefinite, or its diagonal if it is diagonal;
        default: the identity.
    min_length : int, default=1
        Least length of a segment.
    constraints : SegmentConstraints, optional
        What is known about the boundaries.

    Returns
    -------
    ndarray of n integers
        Segment of each point, 0, 1, ... from left to right.

    Raises
    ------
    ValueError
        If an input is not as described, not exactly one of `n_segments` and `penalty` is given,
        or no segmentation satisfies all that is asked for.

    Notes
    -----
    With n points, d features: O(K n² + d n²) time for K segments, in matrix products and sums of
    whole blocks, and O(n (K + d)) memory. With a penalty O(d n m) time, where m is the number of
    candidates that survive pruning, in general a few segment lengths; O(n d) memory. This case
    is compiled if numba is installed.

    The points are centred first and differences of cumulative sums are taken from a near
    origin: neither an offset nor a long sequence costs digits.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1], [5.0]]
    >>> print(segment(X, n_segments=2))
    [0 0 1 1 1]
    >>> print(segment(X, penalty=100.0))
    [0 0 0 0 0]
    """
    points = _check_series(X, M)
    n = len(points)
    min_length = check_integer(min_length, "min_length", least=1, most=n)
    if (n_segments is None) == (penalty is None):
        raise ValueError(
            "give exactly one of n_segments and penalty; "
            f"got n_segments={n_segments!r}, penalty={penalty!r}"
        )
    scores = _DataScores(points)
    if penalty is None:
        return _search(scores, n_segments, 0.0, min_length, constraints)
    penalty = check_number(penalty, "penalty", least=0)
    if constraints is None and n >= _COMPILED_FROM:
        try:
            from mlbook._segment_numba import best_previous
        except ImportError:
            pass
        else:
            return _backtrack(best_previous(scores.sums, penalty, min_length))
    return _search(scores, None, penalty, min_length, constraints)


def loss_augmented_segment(
    X: ArrayLike,
    labels: ArrayLike,
    n_segments: int | None = None,
    penalty: float = 1.0,
    M: ArrayLike | None = None,
    min_length: int = 1,
) -> Integers:
    """Segmentation of the largest loss plus score: the one to learn from (Lajugie 2014, Sec. 4.2).

    With N the matrix of the true segmentation, maximizes ‖M' − N‖² + Tr(XMXᵀM') − λ Tr M' over
    segmentations M'. The loss contributes Tr M' − 2 Tr(NM') and a constant; with λ = 1, as in
    Eq. 7, its first term cancels the penalty. Time and memory as for `segment`; the overlap
    Tr(NM') takes O(1) per segment.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, in order.
    labels : array-like of n non-negative integers
        The true segmentation, each label filling one run.
    n_segments : int, optional
        Number of segments; default: any, with the penalty.
    penalty : float, default=1
        λ ≥ 0; without effect when `n_segments` is given.
    M : array-like of shape (d, d) or (d,), optional
        Matrix of the metric or its diagonal; default: the identity.
    min_length : int, default=1
        Least length of a segment.

    Returns
    -------
    ndarray of n integers
        Segment of each point.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> print(loss_augmented_segment([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1], n_segments=2))
    [0 1 1 1]
    """
    points = _check_series(X, M)
    starts = segment_starts(labels)
    if len(np.asarray(labels)) != len(points):
        raise ValueError(
            f"labels must have one entry per row of X; got {len(np.asarray(labels))} labels for "
            f"{len(points)} rows"
        )
    min_length = check_integer(min_length, "min_length", least=1, most=len(points))
    penalty = check_number(penalty, "penalty", least=0)
    scores = _DataScores(points, np.append(starts, len(points)), weight=2.0)
    return _search(scores, n_segments, penalty - 1.0, min_length, None)


def segment_matrix(
    A: ArrayLike,
    n_segments: int | None = None,
    *,
    min_length: int = 1,
    constraints: SegmentConstraints | None = None,
) -> Integers:
    """Segmentation that maximizes Tr(AM) for any symmetric A (Lajugie 2014, Algorithm 1, mended).

    O(n²) time and memory when the number of segments is free, O(K n²) time for K segments.

    Parameters
    ----------
    A : array-like of shape (n, n)
        Symmetric matrix; it may have eigenvalues of both signs. When it has no negative one and
        the number of segments is free, all segments are single points.
    n_segments : int, optional
        Number of segments; default: the number that maximizes Tr(AM).
    min_length : int, default=1
        Least length of a segment.
    constraints : SegmentConstraints, optional
        What is known about the boundaries.

    Returns
    -------
    ndarray of n integers
        Segment of each point, 0, 1, ... from left to right.

    Raises
    ------
    ValueError
        If an input is not as described or no segmentation satisfies all that is asked for.

    Examples
    --------
    >>> print(segment_matrix([[1, 2, -3], [2, 1, -3], [-3, -3, 1]]))
    [0 0 1]
    """
    matrix: Any = check_array(A, dtype=np.float64, input_name="A")
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"A must be a square matrix; got shape {matrix.shape}")
    asymmetry = np.abs(matrix - matrix.T).max()
    if asymmetry > np.sqrt(np.finfo(np.float64).eps) * np.abs(matrix).max():
        raise ValueError(f"A must be symmetric; A and its transpose differ by {asymmetry:.3g}")
    min_length = check_integer(min_length, "min_length", least=1, most=n)
    return _search(_MatrixScores(matrix), n_segments, 0.0, min_length, constraints)


class SegmentationPath:
    """Best segmentations into 1, 2, ..., K segments, made by `segmentation_path`.

    Attributes
    ----------
    distortion : ndarray of shape (K,)
        ``distortion[k - 1]`` is the least distortion of a segmentation into k segments;
        infinite where there is none (`min_length`, constraints).

    Examples
    --------
    >>> path = segmentation_path([[0.0], [0.2], [5.0], [9.0]], 3)
    >>> print(path.distortion.round(2))
    [5.563e+01 8.020e+00 2.000e-02]
    >>> print(path.labels(2))
    [0 0 1 1]
    """

    def __init__(self, scores: "_DataScores", rules: "_Rules", values: Floats) -> None:
        self._scores, self._rules, self._values = scores, rules, values
        self.distortion: Floats = np.maximum(scores.scatter - values[1:, -1], 0)

    def labels(self, n_segments: int) -> Integers:
        """Return the best segmentation into `n_segments` segments, as `segment` does; O(K n d)."""
        k = check_integer(n_segments, "n_segments", least=1, most=len(self.distortion))
        if not np.isfinite(self.distortion[k - 1]):
            raise ValueError(f"n_segments: no segmentation has {k} segments and keeps to the rules")
        return _backtrack_known(self._scores, self._rules, self._values, k)


def segmentation_path(
    X: ArrayLike,
    max_segments: int,
    M: ArrayLike | None = None,
    min_length: int = 1,
    *,
    constraints: SegmentConstraints | None = None,
) -> SegmentationPath:
    """Best segmentations for every number of segments up to `max_segments`, in one run.

    Costs no more than `segment` with ``n_segments=max_segments``.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, in order.
    max_segments : int
        Largest number K of segments.
    M : array-like of shape (d, d) or (d,), optional
        Matrix of the metric or its diagonal; default: the identity.
    min_length : int, default=1
        Least length of a segment.
    constraints : SegmentConstraints, optional
        What is known about the boundaries.

    Returns
    -------
    SegmentationPath
        ``distortion`` for every number of segments, and ``labels(n_segments)``.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> path = segmentation_path([[0.0], [1.0], [5.0], [6.0]], max_segments=3)
    >>> print(path.distortion)
    [26.   1.   0.5]
    >>> print(path.labels(2))
    [0 0 1 1]
    """
    points = _check_series(X, M)
    k = check_integer(max_segments, "max_segments", least=1, most=len(points))
    min_length = check_integer(min_length, "min_length", least=1, most=len(points))
    scores = _DataScores(points)
    rules = _rules(len(points), min_length, constraints)
    return SegmentationPath(scores, rules, _values_known(scores, rules, k))


def hermite_features(
    x: ArrayLike,
    degree: int,
    *,
    center: float | None = None,
    scale: float | None = None,
) -> Floats:
    r"""Hermite functions of a series: a change of distribution becomes a change of mean.

    Lajugie 2014, Section 5.3, where the printed formula is not that of the orthonormal functions

    .. math:: \psi_k(z) = (2^k k! \sqrt{\pi})^{-1/2} H_k(z) e^{-z^2/2}

    used here. Their means determine a distribution, as the moments do, but one large value does
    not dominate them: they are bounded. O(n · degree), by the recurrence

    .. math:: \psi_{k+1}(z) = \sqrt{\tfrac{2}{k+1}}\, z\, \psi_k(z)
              - \sqrt{\tfrac{k}{k+1}}\, \psi_{k-1}(z).

    Parameters
    ----------
    x : array-like of n numbers
        A univariate series.
    degree : int
        Highest degree, at least 0.
    center, scale : float, optional
        The functions are evaluated at z = (x − center)/scale. Default: the median of x and its
        median absolute deviation, times 1.4826, which is the standard deviation of normal data.

    Returns
    -------
    ndarray of shape (n, degree + 1)
        ψ₀(z), ..., up to the highest degree.

    Raises
    ------
    ValueError
        If an input is not as described, or the median absolute deviation is zero and `scale` is
        not given.

    Examples
    --------
    >>> print(hermite_features([-1.0, 0.0, 1.0], degree=2, center=0, scale=1).round(3))
    [[ 0.456 -0.644  0.322]
     [ 0.751  0.    -0.531]
     [ 0.456  0.644  0.322]]
    """
    series: Any = check_array(x, dtype=np.float64, ensure_2d=False, input_name="x")
    if series.ndim != 1:
        raise ValueError(f"x must be one-dimensional; got shape {series.shape}")
    degree = check_integer(degree, "degree", least=0)
    middle = np.median(series) if center is None else check_number(center, "center")
    if scale is None:
        width = median_abs_deviation(series, scale="normal")
        if width == 0:
            raise ValueError(
                "x must not have a median absolute deviation of zero (half of its values are "
                "equal) unless scale is given"
            )
    else:
        width = check_number(scale, "scale", above=0)
    z = (series - middle) / width
    features = np.empty((len(z), degree + 1))
    features[:, 0] = np.pi**-0.25 * np.exp(-(z**2) / 2)
    if degree:
        features[:, 1] = np.sqrt(2) * z * features[:, 0]
    for k in range(1, degree):
        features[:, k + 1] = (
            np.sqrt(2 / (k + 1)) * z * features[:, k] - np.sqrt(k / (k + 1)) * features[:, k - 1]
        )
    return features


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
    array = _check_labels(labels, name, least=0)
    starts = np.append(0, np.flatnonzero(array[1:] != array[:-1]) + 1)
    k = len(np.unique(array))
    if len(starts) != k:
        raise ValueError(
            f"{name} must be contiguous, one run of points per label; got {len(starts)} runs of "
            f"{k} labels. To take every run for a segment, number the runs"
        )
    return starts


# Scores of segments


class _Scores(Protocol):
    """f(s, u) for many starts and ends, and how much a cut can lower its sum."""

    n: int
    split_loss: float

    def __call__(self, starts: Integers, ends: Integers) -> Floats:
        """Return f as an array (ends, starts); entries with start ≥ end mean nothing.

        Both arrays increase.
        """


class _DataScores:
    """Scores for A = XXᵀ − weight · N, with N the matrix of a segmentation."""

    def __init__(self, X: Floats, truth: Integers | None = None, weight: float = 0.0) -> None:
        self.n = len(X)
        centred = X - X.mean(axis=0)
        self.sums = np.zeros((self.n + 1, X.shape[1]))
        np.cumsum(centred, axis=0, out=self.sums[1:])
        self.scatter = float(np.sum(centred**2))
        self.overlap = None if truth is None else _Overlap(truth)
        self.split_loss = self.weight = weight

    def __call__(self, starts: Integers, ends: Integers) -> Floats:
        d = self.sums.shape[1]
        origin = self.sums[ends[0]]
        right = np.empty((len(starts), d + 2))
        left = np.empty((len(ends), d + 2))
        for side, positions in ((right, starts), (left, ends)):
            np.subtract(self.sums[positions], origin, out=side[:, :d])
        right[:, d], left[:, d + 1] = 1.0, 1.0
        right[:, d + 1] = np.einsum("ij,ij->i", right[:, :d], right[:, :d])
        left[:, d] = np.einsum("ij,ij->i", left[:, :d], left[:, :d])
        left[:, :d] *= -2
        f = left @ right.T
        lengths = _lengths(starts, ends)
        f /= lengths
        if self.overlap is not None:
            f -= self.weight * self.overlap(starts, ends, lengths)
        return f


class _Overlap:
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
        last = ends - 1
        across = (self.head[starts] + self.tail[last][:, None]) / lengths
        within = lengths / self.size[last][:, None]
        return np.where(self.begins[last][:, None] <= starts, within, across)


class _MatrixScores:
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


# The search


class _Rules(NamedTuple):
    """The segments that are allowed."""

    positions: Integers  # where boundaries may be; 0 and n among them
    min_length: int
    earliest_start: Integers | None

    def gains(self, scores: _Scores, starts: Integers, ends: Integers) -> Floats:
        """Return f(s, u), −∞ for segments that are not allowed."""
        f = scores(starts, ends)
        near = int(np.searchsorted(starts, ends[0] - self.min_length, side="right"))
        f[:, near:][ends[:, None] - starts[near:] < self.min_length] = -np.inf
        if self.earliest_start is not None:
            f[starts < self.earliest_start[ends][:, None]] = -np.inf
        return f


def _rules(n: int, min_length: int, constraints: SegmentConstraints | None) -> _Rules:
    if constraints is None:
        return _Rules(np.arange(n + 1), min_length, None)
    allowed, earliest = constraints
    if len(allowed) != n + 1 or len(earliest) != n + 1:
        raise ValueError(
            f"constraints must be for a sequence of {n} points; got {len(allowed) - 1}"
        )
    return _Rules(np.flatnonzero(allowed), min_length, earliest if earliest.any() else None)


def _search(
    scores: _Scores,
    n_segments: int | None,
    penalty: float,
    min_length: int,
    constraints: SegmentConstraints | None,
) -> Integers:
    """Labels of the best segmentation."""
    rules = _rules(scores.n, min_length, constraints)
    if n_segments is None:
        asked = "any number of segments"
        previous = _previous_free(scores, rules, penalty)
        if previous is not None:
            return _backtrack(previous)
    else:
        k = check_integer(n_segments, "n_segments", least=1, most=scores.n)
        if k * min_length > scores.n:
            raise ValueError(
                f"n_segments must be at most {scores.n // min_length}, for {scores.n} points in "
                f"segments of length min_length={min_length} or more; got {k}"
            )
        asked = f"{k} segments"
        values = _values_known(scores, rules, k)
        if values[k, -1] > -np.inf:
            return _backtrack_known(scores, rules, values, k)
    raise ValueError(
        f"constraints: no segmentation into {asked} of length {min_length} or more satisfies them"
    )


def _previous_free(scores: _Scores, rules: _Rules, penalty: float) -> Integers | None:
    """Start of the last segment of a best segmentation up to each position; None without one.

    Segments that begin before the block of ends are compared at once; those that begin in it by
    repeating the recursion, as often as the best segmentation has boundaries in the block.
    """
    value = np.full(scores.n + 1, -np.inf)
    value[0] = 0.0
    previous = np.zeros(scores.n + 1, dtype=np.int64)
    candidates = np.zeros(1, dtype=np.int64)
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


def _prune(scores: _Scores, rules: _Rules, value: Floats, starts: Integers, end: int) -> Integers:
    """Drop the starts that cannot be better than a later one for any end after `end`."""
    if rules.earliest_start is not None:
        starts = starts[starts >= rules.earliest_start[end]]
    n_old = int(np.searchsorted(starts, end + 1 - rules.min_length, side="right"))
    if n_old < 2 or scores.split_loss == np.inf:
        return starts
    t, others = starts[n_old - 1], starts[: n_old - 1]
    uncut = value[others] + scores(others, t[None])[0]
    return np.concatenate([others[uncut + scores.split_loss > value[t]], starts[n_old - 1 :]])


def _values_known(scores: _Scores, rules: _Rules, n_segments: int) -> Floats:
    """V[k, i]: best value of k segments up to the i-th allowed position; −∞ where there is none.

    Which start is best is not kept: `_backtrack_known` finds it again for the few that matter.
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


def _backtrack_known(scores: _Scores, rules: _Rules, values: Floats, n_segments: int) -> Integers:
    """Labels of the best segmentation into `n_segments` segments."""
    last = len(rules.positions) - 1
    cuts = []
    for k in range(n_segments, 0, -1):
        starts = rules.positions[:last]
        gains = rules.gains(scores, starts, rules.positions[last : last + 1])[0]
        last = int(np.argmax(gains + values[k - 1, :last]))
        cuts.append(int(starts[last]))
    return _labels(scores.n, cuts)


def _backtrack(previous: Integers) -> Integers:
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


# Input


def _check_series(X: ArrayLike, M: ArrayLike | None) -> Floats:
    """Validate X and M; return points, float64, whose Euclidean distances are those of M."""
    points: Any = check_array(X, dtype=np.float64, input_name="X")
    if M is None:
        return points
    if np.ndim(M) != 1:
        return points @ metric_factor(M, points.shape[1])
    weights: Any = check_array(M, dtype=np.float64, ensure_2d=False, input_name="M")
    if weights.shape != points.shape[1:]:
        raise ValueError(
            f"M must have one weight for each of the {points.shape[1]} columns of X; "
            f"got {len(weights)}"
        )
    if weights.min() < 0:
        raise ValueError(f"M must have no negative weight; got {weights.min():.3g}")
    return points[:, weights > 0] * np.sqrt(weights[weights > 0])


def _check_labels(labels: ArrayLike, name: str, least: int) -> Integers:
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biu":
        raise ValueError(
            f"{name} must be a one-dimensional array of integers, not empty; "
            f"got shape {array.shape}, dtype {array.dtype}"
        )
    if array.min() < least:
        raise ValueError(f"{name} must be at least {least}; got {array.min()}")
    return array.astype(np.int64)
