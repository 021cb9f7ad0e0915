"""The energy of a set of exemplars, bounds on it, and the checks of what goes into them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from mlbook._arrays import Floats, Integers
from mlbook._validation import as_array, as_floats, check_matrix

_EPS = float(np.finfo(np.float64).eps)
BLOCK = 2**18  # numbers worked on at a time, to stay in cache


def exemplar_energy(D: ArrayLike, exemplars: ArrayLike, penalty: ArrayLike) -> float:
    """Evaluate the energy of a set of exemplars (Komodakis 2011, Eq. 1).

    O(nk) for k exemplars.

    Parameters
    ----------
    D : array-like of shape (n, n)
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.
    exemplars : array-like of distinct integers from 0 to n − 1
        The set Q, not empty.
    penalty : float or array-like of shape (n,)
        Penalty of each exemplar, common or per point. +inf forbids a point to be one.

    Returns
    -------
    float
        Σ_{p ∉ Q} min_{q ∈ Q} D[p, q] + Σ_{q ∈ Q} penalty[q].

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> D = (x[:, None] - x) ** 2
    >>> exemplar_energy(D, [1, 3], penalty=3.0)
    8.0
    """
    distances = check_distances(D)
    n = len(distances)
    return energy_of(distances, check_exemplars(exemplars, n), check_penalty(penalty, n))


def exemplar_labels(D: ArrayLike, exemplars: ArrayLike) -> Integers:
    """Assign every point to its nearest exemplar, and every exemplar to itself.

    O(nk) for k exemplars.

    Parameters
    ----------
    D : array-like of shape (n, n)
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.
    exemplars : array-like of distinct integers from 0 to n − 1
        The set Q, not empty.

    Returns
    -------
    ndarray of shape (n,)
        Position in `exemplars` of the exemplar of each point; the first one if several are
        equally near.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> D = (x[:, None] - x) ** 2
    >>> print(exemplar_labels(D, [1, 3]))
    [0 0 0 1]
    """
    distances = check_distances(D)
    Q = check_exemplars(exemplars, len(distances))
    labels = distances[:, Q].argmin(axis=1)
    labels[Q] = np.arange(len(Q))
    return labels


def exemplar_bound(D: ArrayLike, penalty: ArrayLike, v: ArrayLike) -> float:
    """Lower bound L(v) on the energy of every set of exemplars, safe against rounding.

    L(v) = Σ_p v_p + Σ_q min(0, f_q − v_q − Σ_{p ≠ q} (v_p − d_pq)₊) is the Lagrangian dual
    function of the program of Komodakis 2011, Eqs. 2-5, with v_p the multiplier of Eq. 3.
    O(n²) time, O(n) memory beside D.

    Parameters
    ----------
    D : array-like of shape (n, n)
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.
    penalty : float or array-like of shape (n,)
        Penalty of each exemplar, common or per point. +inf forbids a point to be one.
    v : array-like of shape (n,)
        Any finite numbers. Good ones say what each point should pay: its distance and its
        share of the penalty of its exemplar.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    ValueError
        If an input is not as described.

    Notes
    -----
    A floating-point sum of m terms is off by at most m·eps times the sum of their absolute
    values (Higham 2002, Section 4.2; eps is twice the unit roundoff), and a difference adds
    one rounding more. Each term of L(v) is lowered by that much.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> D = (x[:, None] - x) ** 2
    >>> round(exemplar_bound(D, 3.0, [2.0, 1.0, 2.0, 3.0]), 9), exemplar_energy(D, [1, 3], 3.0)
    (8.0, 8.0)
    """
    distances = check_distances(D)
    n = len(distances)
    multipliers = as_floats(v, "v")
    if multipliers.shape != (n,) or not np.abs(multipliers).max() <= LARGEST:
        raise ValueError(f"v must hold one finite number for each of {n} points; got {v!r:.200}")
    return bound_and_reduced_costs(distances, check_penalty(penalty, n), multipliers)[0]


def penalty_range(D: ArrayLike) -> tuple[float, float]:
    """Range of common penalties with more than one exemplar, but not all points exemplars.

    Up to the least distance it is optimal to make every point an exemplar; above it, it is
    not. With q the best single exemplar, at any penalty below the largest gain
    E({q}) − E({q, r}) + penalty of a second one, r, a single exemplar is not optimal; above it,
    it may be. O(n²) time, O(n) memory beside D.

    Parameters
    ----------
    D : array-like of shape (n, n), n at least 2
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.

    Returns
    -------
    low, high : float
        For every common penalty strictly between the two, each optimal set, and each set that
        `improve_exemplars` cannot improve, has at least 2 and at most n − 1 exemplars. There
        is no such penalty if low ≥ high, as with equal distances.

    Raises
    ------
    ValueError
        If D is not as described.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> penalty_range((x[:, None] - x) ** 2)
    (1.0, 49.0)
    """
    distances = check_distances(D)
    n = len(distances)
    if n < 2:
        raise ValueError("D must hold the distances of at least 2 points; got 1")
    points = np.arange(n)
    least, sums = np.inf, np.zeros(n)
    for rows in gen_batches(n, BLOCK // n + 1):
        block = np.array(distances[rows], dtype=np.float64)
        diagonal = np.arange(len(block)), points[rows]
        block[diagonal] = np.inf
        least = min(least, block.min())
        block[diagonal] = 0
        sums += block.sum(axis=0)
    q = sums.argmin()
    gains = np.zeros(n)
    for rows in gen_batches(n, BLOCK // n + 1):
        paid = distances[rows, q].astype(np.float64)
        block = np.maximum(paid[:, None] - distances[rows], 0)
        block[np.arange(len(block)), points[rows]] = paid
        block[points[rows] == q] = 0
        gains += block.sum(axis=0)
    gains[q] = -np.inf
    return float(least), float(gains.max())


# What is checked already


def energy_of(D: Any, Q: Integers, f: Floats) -> float:
    """Energy of the exemplars Q."""
    rest = np.ones(len(f), dtype=bool)
    rest[Q] = False
    return float(D[np.ix_(rest, Q)].min(axis=1).sum(dtype=np.float64) + f[Q].sum())


def bound_and_reduced_costs(D: Any, f: Floats, v: Floats) -> tuple[float, Floats]:
    """L(v) and the reduced costs f_q − v_q − Σ_{p ≠ q} (v_p − d_pq)₊, all lowered for rounding."""
    n = len(f)
    gains = np.zeros(n)
    for rows in gen_batches(n, BLOCK // n + 1):
        margins = v[rows, None] - D[rows]
        np.maximum(margins, 0, out=margins)
        margins[np.arange(len(margins)), np.arange(n)[rows]] = 0
        gains += margins.sum(axis=0)
    allowed = (n + 3) * _EPS
    open_cost = np.where(np.isfinite(f), f, 0.0)
    reduced = open_cost - v - gains - allowed * (np.abs(open_cost) + np.abs(v) + gains)
    reduced[np.isinf(f)] = np.inf
    negative = reduced[reduced < 0]
    value = v.sum() - allowed * np.abs(v).sum() + (1 + allowed) * negative.sum()
    return float(value - 2 * _EPS * abs(value)), reduced


# Input


LARGEST = 1e290  # so that sums of distances and penalties do not overflow
DISTANCES: dict[str, Any] = {
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": False,
    "squares": False,
}


def check_distances(D: Any) -> Any:
    """Return D as a square float array, finite off the diagonal."""
    D = check_matrix(D, input_name="D", **DISTANCES)
    if D.shape[0] != D.shape[1]:
        raise ValueError(
            "D must be a square matrix of distances, without NaN and infinity off the diagonal; "
            f"got shape {D.shape} (pairwise_distances of scikit-learn makes it from rows)"
        )
    limit = min(LARGEST, float(np.finfo(D.dtype).max))
    for rows in gen_batches(len(D), BLOCK // len(D) + 1):
        bad = ~(np.abs(D[rows]) <= limit)
        bad[np.arange(len(bad)), np.arange(len(D))[rows]] = False
        if bad.any():
            p, q = np.argwhere(bad)[0] + [rows.start, 0]
            raise ValueError(
                "D must not hold NaN or infinity (more than 1e290) off the diagonal; got "
                f"D[{p}, {q}] = {D[p, q]} (a large number keeps a point from an exemplar)"
            )
    return D


def check_penalty(penalty: Any, n: int) -> Floats:
    """Return one penalty per point."""
    f = as_array(penalty, "penalty")
    if f.dtype.kind not in "iuf" or f.shape not in ((), (n,)):
        raise ValueError(
            f"penalty must be a number or one number for each of the {n} points; got {penalty!r}"
        )
    f = np.array(np.broadcast_to(f, n), dtype=np.float64)
    if np.isnan(f).any() or np.isneginf(f).any() or np.isposinf(f).all():
        raise ValueError(
            f"penalty must not be NaN or -inf, and not +inf for all points; got {penalty!r}"
        )
    if np.abs(f[np.isfinite(f)]).max() > LARGEST:
        raise ValueError(f"penalty must be at most 1e290 in size, or infinite; got {penalty!r}")
    return f


def check_exemplars(exemplars: Any, n: int) -> Integers:
    """Return a set of exemplars as an array of indices."""
    Q = as_array(exemplars, "exemplars")
    if Q.ndim != 1 or len(Q) == 0 or Q.dtype.kind not in "iu":
        raise ValueError(f"exemplars must be a non-empty list of integers; got {exemplars!r}")
    if Q.min() < 0 or Q.max() >= n or len(np.unique(Q)) < len(Q):
        raise ValueError(
            f"exemplars must be distinct integers between 0 and n - 1 = {n - 1}; got {exemplars!r}"
        )
    return Q.astype(np.intp)
