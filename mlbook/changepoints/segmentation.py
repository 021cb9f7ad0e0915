"""Best segmentations with a number of segments or a price, and features of distributions."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import median_abs_deviation

from mlbook._arrays import Floats, Integers
from mlbook._validation import as_array, check_integer, check_matrix, check_number, metric_factor
from mlbook.changepoints.compiled import best_previous, best_values
from mlbook.changepoints.labels import SegmentConstraints, segment_starts
from mlbook.changepoints.search import (
    DataScores,
    MatrixScores,
    Rules,
    Scores,
    labels_from_previous,
    labels_from_values,
)
from mlbook.price_paths import PricePath, plateaus

__all__ = [
    "SegmentationPath",
    "hermite_features",
    "loss_augmented_segment",
    "segment",
    "segment_matrix",
    "segmentation_path",
]


def segment(
    X: ArrayLike,
    n_segments: int | None = None,
    penalty: float | str | None = None,
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
    penalty : float or "auto", optional
        λ ≥ 0: minimize the distortion + λ × number of segments. "auto" takes the longest
        plateau of `segmentation_path`, see the notes; learned from labelled series, a penalty
        is better (`LargeMarginMetric`).
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

    Warns
    -----
    UserWarning
        If no plateau stands out for ``penalty="auto"``.

    Notes
    -----
    With n points, d features: O(K n² + d n²) time for K segments, in matrix products and sums of
    whole blocks, and O(n (K + d)) memory. With a penalty O(d n m) time, where m is the number of
    candidates that survive pruning, in general a few segment lengths; O(n d) memory. With one
    feature and ``min_length=1``, functional pruning leaves some ten, however long the segments.
    All this is compiled if numba is installed; to load it takes a second, once.

    ``penalty="auto"`` looks at up to K = 2√n segments, in O(K n² + d n²). The number that lasts
    over the largest ratio of penalties is taken, if that ratio is at least 2.5. If none is, as in
    noise, there is one segment (the fewest that the constraints allow), and a warning. The
    penalty itself is ``segmentation_path(X).longest.price``. What stands out most wins: with
    small changes among large ones, or much noise, fewer segments than there are may be found.
    For 200 points in 2, 6 and 12 segments with jumps of 1, the number was right in all of 20
    draws with noise of 0.1, in 20, 20 and 15 with 0.2, in 20, 15 and 6 with 0.3.

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
    if isinstance(penalty, str):
        if penalty != "auto":
            raise ValueError(f'penalty must be a number or "auto"; got {penalty!r}')
        return _longest_plateau(points, min_length, constraints)
    price = 0.0 if penalty is None else check_number(penalty, "penalty", least=0)
    return _search(DataScores(points), n_segments, price, min_length, constraints)


def loss_augmented_segment(
    X: ArrayLike,
    labels: ArrayLike,
    n_segments: int | None = None,
    penalty: float = 1.0,
    M: ArrayLike | None = None,
    min_length: int = 1,
) -> Integers:
    """Segmentation of the largest loss plus score: the one to learn from.

    In the papers: Lajugie 2014, Section 4.2, where it maximizes Tr(A_i M').

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
    n_labels = len(as_array(labels, "labels"))
    if n_labels != len(points):
        raise ValueError(
            f"labels must have one entry per row of X; got {n_labels} labels for {len(points)} rows"
        )
    min_length = check_integer(min_length, "min_length", least=1, most=len(points))
    penalty = check_number(penalty, "penalty", least=0)
    scores = DataScores(points, np.append(starts, len(points)), weight=2.0)
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
    matrix: Any = check_matrix(A, dtype=np.float64, input_name="A", squares=False)
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"A must be a square matrix; got shape {matrix.shape}")
    largest = np.abs(matrix).max()
    if largest > np.finfo(np.float64).max / (8 * n**2):
        raise ValueError(f"A: its largest entry is {largest:.3g}, and sums overflow; rescale A")
    asymmetry = np.abs(matrix - matrix.T).max()
    if asymmetry > np.sqrt(np.finfo(np.float64).eps) * largest:
        raise ValueError(f"A must be symmetric; A and its transpose differ by {asymmetry:.3g}")
    min_length = check_integer(min_length, "min_length", least=1, most=n)
    return _search(MatrixScores(matrix), n_segments, 0.0, min_length, constraints)


@dataclass(frozen=True, eq=False)
class SegmentationPath(PricePath):
    """Best segmentations into 1, 2, ..., K segments, made by `segmentation_path`.

    Attributes
    ----------
    counts : ndarray of m increasing integers
        The numbers of segments below K that are best at some penalty.
    low, high : ndarray of shape (m,)
        Of the segmentations into at most K segments, those into ``counts[i]`` are best at
        penalties from ``low[i]`` to ``high[i]``.
    longest : Plateau or None
        The longest plateau but the first, on a log scale of the penalty.
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
    >>> path.longest.count
    2
    """

    distortion: Floats
    _cut: Callable[[int], Integers] = field(repr=False)
    what: ClassVar[str] = "segments"

    def labels(self, n_segments: int) -> Integers:
        """Return the best segmentation into `n_segments` segments, as `segment` does; O(K n d)."""
        k = check_integer(n_segments, "n_segments", least=1, most=len(self.distortion))
        if not np.isfinite(self.distortion[k - 1]):
            raise ValueError(f"n_segments: no segmentation has {k} segments and keeps to the rules")
        return self._cut(k)


def segmentation_path(
    X: ArrayLike,
    max_segments: int | None = None,
    M: ArrayLike | None = None,
    min_length: int = 1,
    *,
    constraints: SegmentConstraints | None = None,
) -> SegmentationPath:
    """Best segmentations for every number of segments up to `max_segments`, in one run.

    Costs no more than `segment` with ``n_segments=max_segments``. Which numbers are best at some
    penalty, and at which, are the plateaus: see `mlbook.price_paths`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points, in order.
    max_segments : int, optional
        Largest number K of segments; default: 2√n, rounded up, and at most n / `min_length`.
    M : array-like of shape (d, d) or (d,), optional
        Matrix of the metric or its diagonal; default: the identity.
    min_length : int, default=1
        Least length of a segment.
    constraints : SegmentConstraints, optional
        What is known about the boundaries.

    Returns
    -------
    SegmentationPath
        ``distortion`` for every number of segments, ``labels(n_segments)``, and the plateaus.

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
    >>> path.longest
    Plateau(count=2, low=0.5, high=25.0)
    """
    points = _check_series(X, M)
    n = len(points)
    min_length = check_integer(min_length, "min_length", least=1, most=n)
    if max_segments is None:
        max_segments = min(n // min_length, int(np.ceil(2 * np.sqrt(n))))
    k = check_integer(max_segments, "max_segments", least=1, most=n)
    scores = DataScores(points)
    rules = _rules(n, min_length, constraints)
    values = best_values(scores, rules, k)
    scatter = float(np.sum((points - points.mean(axis=0)) ** 2))
    distortion: Floats = np.maximum(scatter - values[1:, -1], 0)
    # What is left of a distortion of 0 after rounding would make plateaus of its own.
    rounding = 10 * n * np.finfo(np.float64).eps * scatter
    counts, low, high = plateaus(range(1, k + 1), np.where(distortion > rounding, distortion, 0))
    kept = counts < k
    cut = partial(labels_from_values, scores, rules, values)
    return SegmentationPath(counts[kept], low[kept], high[kept], distortion, cut)


def hermite_features(
    x: ArrayLike,
    degree: int,
    *,
    center: float | None = None,
    scale: float | None = None,
) -> Floats:
    r"""Hermite functions of a series: a change of distribution becomes a change of mean.

    In the papers: Lajugie 2014, Section 5.3.

    The printed formula is not that of the orthonormal functions

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
    series: Any = check_matrix(x, dtype=np.float64, ensure_2d=False, input_name="x")
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
    with np.errstate(over="ignore"):
        z = np.clip((series - middle) / width, -1e10, 1e10)  # all are 0 out there
    features = np.empty((len(z), degree + 1))
    features[:, 0] = np.pi**-0.25 * np.exp(-(z**2) / 2)
    if degree:
        features[:, 1] = np.sqrt(2) * z * features[:, 0]
    for k in range(1, degree):
        features[:, k + 1] = (
            np.sqrt(2 / (k + 1)) * z * features[:, k] - np.sqrt(k / (k + 1)) * features[:, k - 1]
        )
    return features


def _longest_plateau(
    points: Floats, min_length: int, constraints: SegmentConstraints | None
) -> Integers:
    """Labels of the longest plateau; if none stands out, of the fewest segments, with a warning."""
    path = segmentation_path(points, None, None, min_length, constraints=constraints)
    plateau = path.longest
    if plateau and plateau.stands_out:
        return path.labels(plateau.count)
    possible = np.flatnonzero(np.isfinite(path.distortion))
    if not len(possible):
        raise ValueError(
            f"constraints: no segmentation into up to {len(path.distortion)} segments of length "
            f"{min_length} or more satisfies them"
        )
    longest = (
        f"the longest plateau, with {plateau.count}, spans a factor of {plateau.ratio:.2f} in the "
        "penalty"
        if plateau
        else "there is no plateau"
    )
    few = int(possible[0]) + 1
    warnings.warn(
        f'penalty="auto" found no number of segments that stands out: {longest}. '
        f"Segments: {few}, the fewest",
        stacklevel=3,
    )
    return path.labels(few)


def _rules(n: int, min_length: int, constraints: SegmentConstraints | None) -> Rules:
    if constraints is None:
        return Rules(np.arange(n + 1), min_length, None)
    if not isinstance(constraints, SegmentConstraints):
        raise ValueError(f"constraints must be SegmentConstraints; got {constraints!r:.200}")
    allowed, earliest = constraints
    if len(allowed) != n + 1 or len(earliest) != n + 1:
        raise ValueError(
            f"constraints must be for a sequence of {n} points; got {len(allowed) - 1}"
        )
    return Rules(np.flatnonzero(allowed), min_length, earliest if earliest.any() else None)


def _search(
    scores: Scores,
    n_segments: int | None,
    penalty: float,
    min_length: int,
    constraints: SegmentConstraints | None,
) -> Integers:
    """Labels of the best segmentation."""
    rules = _rules(scores.n, min_length, constraints)
    if n_segments is None:
        asked = "any number of segments"
        previous = best_previous(scores, rules, penalty)
        if previous is not None:
            return labels_from_previous(previous)
    else:
        k = check_integer(n_segments, "n_segments", least=1, most=scores.n)
        if k * min_length > scores.n:
            raise ValueError(
                f"n_segments must be at most {scores.n // min_length}, for {scores.n} points in "
                f"segments of length min_length={min_length} or more; got {k}"
            )
        asked = f"{k} segments"
        values = best_values(scores, rules, k)
        if values[k, -1] > -np.inf:
            return labels_from_values(scores, rules, values, k)
    raise ValueError(
        f"constraints: no segmentation into {asked} of length {min_length} or more satisfies them"
    )


# Input


def _check_series(X: ArrayLike, M: ArrayLike | None) -> Floats:
    """Validate X and M; return points, float64, whose Euclidean distances are those of M."""
    points: Any = X if _is_plain(X) else check_matrix(X, dtype=np.float64, input_name="X")
    if M is None:
        return points
    if getattr(M, "ndim", None) != 1 and np.ndim(as_array(M, "M")) != 1:
        return points @ metric_factor(M, points.shape[1])
    weights: Any = check_matrix(M, dtype=np.float64, ensure_2d=False, input_name="M", squares=False)
    if weights.shape != points.shape[1:]:
        raise ValueError(
            f"M must have one weight for each of the {points.shape[1]} columns of X; "
            f"got {len(weights)}"
        )
    if weights.min() < 0:
        raise ValueError(f"M must have no negative weight; got {weights.min():.3g}")
    return points[:, weights > 0] * np.sqrt(weights[weights > 0])


def _is_plain(X: Any) -> bool:
    """Tell an array that `check_matrix` would return as it is, in a tenth of the time."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or not X.size:
        return False
    return 1e-150 < max(X.max(), -X.min()) < 1e137  # False if one is NaN
