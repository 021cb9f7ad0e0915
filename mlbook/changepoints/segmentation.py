"""Best segmentations with a number of segments or a price, and features of distributions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import median_abs_deviation
from sklearn.utils import check_array

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_integer, check_number, metric_factor
from mlbook.changepoints.compiled import compiled
from mlbook.changepoints.labels import SegmentConstraints, segment_starts
from mlbook.changepoints.search import (
    DataScores,
    MatrixScores,
    Rules,
    Scores,
    best_previous,
    best_values,
    labels_from_previous,
    labels_from_values,
)

__all__ = [
    "SegmentationPath",
    "hermite_features",
    "loss_augmented_segment",
    "segment",
    "segment_matrix",
    "segmentation_path",
]

_COMPILED_FROM = 1024  # points from which loading numba pays


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
    scores = DataScores(points)
    if penalty is None:
        return _search(scores, n_segments, 0.0, min_length, constraints)
    penalty = check_number(penalty, "penalty", least=0)
    quick = compiled() if constraints is None and n >= _COMPILED_FROM else None
    if quick is not None:
        return labels_from_previous(quick(scores.sums, penalty, min_length))
    return _search(scores, None, penalty, min_length, constraints)


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
    if len(np.asarray(labels)) != len(points):
        raise ValueError(
            f"labels must have one entry per row of X; got {len(np.asarray(labels))} labels for "
            f"{len(points)} rows"
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
    matrix: Any = check_array(A, dtype=np.float64, input_name="A")
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"A must be a square matrix; got shape {matrix.shape}")
    asymmetry = np.abs(matrix - matrix.T).max()
    if asymmetry > np.sqrt(np.finfo(np.float64).eps) * np.abs(matrix).max():
        raise ValueError(f"A must be symmetric; A and its transpose differ by {asymmetry:.3g}")
    min_length = check_integer(min_length, "min_length", least=1, most=n)
    return _search(MatrixScores(matrix), n_segments, 0.0, min_length, constraints)


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

    def __init__(self, scores: DataScores, rules: Rules, values: Floats) -> None:
        self._scores, self._rules, self._values = scores, rules, values
        self.distortion: Floats = np.maximum(scores.scatter - values[1:, -1], 0)

    def labels(self, n_segments: int) -> Integers:
        """Return the best segmentation into `n_segments` segments, as `segment` does; O(K n d)."""
        k = check_integer(n_segments, "n_segments", least=1, most=len(self.distortion))
        if not np.isfinite(self.distortion[k - 1]):
            raise ValueError(f"n_segments: no segmentation has {k} segments and keeps to the rules")
        return labels_from_values(self._scores, self._rules, self._values, k)


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
    scores = DataScores(points)
    rules = _rules(len(points), min_length, constraints)
    return SegmentationPath(scores, rules, best_values(scores, rules, k))


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


def _rules(n: int, min_length: int, constraints: SegmentConstraints | None) -> Rules:
    if constraints is None:
        return Rules(np.arange(n + 1), min_length, None)
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
