"""Exemplar energies, their bounds, and the estimator."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, pairwise_distances
from sklearn.utils import Tags, check_array, check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from mlbook._validation import check_integer
from mlbook.exemplars.facility_search import BLOCK, local_search, search

__all__ = [
    "ExemplarClustering",
    "ExemplarSolution",
    "exemplar_bound",
    "exemplar_energy",
    "exemplar_labels",
    "improve_exemplars",
    "penalty_range",
    "solve_exemplars",
    "solve_exemplars_exact",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)


class ExemplarSolution(NamedTuple):
    """A set of exemplars and the proof of how good it is.

    Attributes
    ----------
    exemplars : ndarray of increasing integers
        Q.
    energy : float
        E(Q).
    lower_bound : float
        No set of exemplars has a lower energy.
    multipliers : ndarray of shape (n,)
        v with L(v) ≤ `lower_bound`, for `exemplar_bound`.
    n_iter : int
        Number of steps on the dual.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> solution = solve_exemplars((x[:, None] - x) ** 2, penalty=3.0, random_state=0)
    >>> isinstance(solution, ExemplarSolution), solution.gap < 1e-9
    (True, True)
    """

    exemplars: Indices
    energy: float
    lower_bound: float
    multipliers: Floats
    n_iter: int

    @property
    def gap(self) -> float:
        """Share of the energy that a better set could at most remove: 0 means optimal."""
        excess = self.energy - self.lower_bound
        if excess <= 0:
            return 0.0
        return excess / abs(self.energy) if self.energy else float("inf")


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
    distances = _check_distances(D)
    n = len(distances)
    Q, f = _check_exemplars(exemplars, n), _check_penalty(penalty, n)
    rest = np.ones(n, dtype=bool)
    rest[Q] = False
    return float(distances[np.ix_(rest, Q)].min(axis=1).sum(dtype=np.float64) + f[Q].sum())


def exemplar_labels(D: ArrayLike, exemplars: ArrayLike) -> Indices:
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
    distances = _check_distances(D)
    Q = _check_exemplars(exemplars, len(distances))
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
    distances = _check_distances(D)
    n = len(distances)
    multipliers: Any = check_array(v, ensure_2d=False, dtype=np.float64, input_name="v")
    if multipliers.shape != (n,):
        raise ValueError(f"v must have shape ({n},), one number per point; got {multipliers.shape}")
    return _bound(distances, _check_penalty(penalty, n), multipliers)[0]


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
    distances = _check_distances(D)
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


def improve_exemplars(
    D: ArrayLike,
    exemplars: ArrayLike,
    penalty: ArrayLike,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> Indices:
    """Local search: add, drop or swap exemplars until no such move lowers the energy.

    Again and again all additions and swaps are valued at once, in O(n²), and those that pay are
    made in random order, if they still do when it is their turn. A drop is also made when it
    costs nothing: of equally good sets the smaller is preferred.

    Parameters
    ----------
    D : array-like of shape (n, n)
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.
    exemplars : array-like of distinct integers from 0 to n − 1
        The set to start from, not empty.
    penalty : float or array-like of shape (n,)
        Penalty of each exemplar, common or per point. +inf forbids a point to be one.
    random_state : int, RandomState instance or None, default=None
        Order of the moves.

    Returns
    -------
    ndarray of increasing integers
        The exemplars found. Their energy is not above that of the start.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> D = (x[:, None] - x) ** 2
    >>> print(improve_exemplars(D, [0], penalty=9.0, random_state=0))
    [1 3]
    """
    distances = _check_distances(D)
    n = len(distances)
    f = _check_penalty(penalty, n)
    Q = _check_exemplars(exemplars, n)
    if np.isinf(f[Q]).any():
        raise ValueError(f"exemplars must have a finite penalty; got {exemplars!r}")
    return local_search(*_facility_costs(distances, f), Q, check_random_state(random_state))


def solve_exemplars(
    D: ArrayLike,
    penalty: ArrayLike,
    *,
    max_iter: int = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> ExemplarSolution:
    """Minimize the energy of Komodakis 2011, Eq. 1, from above and from below.

    From above: the greedy set and what a local search (`improve_exemplars`) makes of it. From
    below: ascent on the dual function L(v) by deflected subgradients (Camerini et al. 1975)
    with Polyak's step. The two help each other: how often each point is open along the ascent
    estimates the fractional solution of the linear program, which is rounded into new starts
    of the local search; the energies found set the length of the steps, and no pair farther
    apart than a point and its third nearest exemplar is looked at. In the end the local search
    starts 20 to 40 times from the best set without three tenths of its exemplars.

    A dual step costs at most O(n²), as does a sweep of the local search. Beside D there is a
    copy of it and, for the pairs looked at, two arrays of up to n × n entries.

    Parameters
    ----------
    D : array-like of shape (n, n)
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.
    penalty : float or array-like of shape (n,)
        Penalty of each exemplar, common or per point. +inf forbids a point to be one.
    max_iter : int, default=1000
        Most steps on the dual. It stops earlier when the two sides meet or no longer move.
    random_state : int, RandomState instance or None, default=None
        Order of the candidates in the local search, and the rounding.

    Returns
    -------
    ExemplarSolution
        Exemplars, energy, lower bound (safe against rounding) and multipliers.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> D = (x[:, None] - x) ** 2
    >>> solution = solve_exemplars(D, penalty=3.0, random_state=0)
    >>> print(solution.exemplars, solution.energy, round(solution.lower_bound, 9))
    [1 3] 8.0 8.0
    """
    distances = _check_distances(D)
    f = _check_penalty(penalty, len(distances))
    max_iter = check_integer(max_iter, "max_iter", least=1)
    rng = check_random_state(random_state)
    Q, v, n_iter = search(*_facility_costs(distances, f), max_iter, rng)
    energy, bound = exemplar_energy(distances, Q, f), exemplar_bound(distances, f, v)
    return ExemplarSolution(Q, energy, bound, v, n_iter)


def solve_exemplars_exact(
    D: ArrayLike,
    penalty: ArrayLike,
    *,
    max_iter: int = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> ExemplarSolution:
    """Minimize the energy exactly, as the integer program of Komodakis 2011, Eqs. 2-5.

    In the papers: Komodakis 2011, Eqs. 6-9, the same program as the energy of a field.

    `solve_exemplars` comes first. What its bound proves to be in no better solution, be it an
    exemplar or a pair, is left out of the program that HiGHS then gets (through
    `scipy.optimize.milp`). With a gap of a few per mille little remains, and hundreds of
    points take between a fraction of a second and a minute; with gaps of ten percent, as for
    distances without any geometry, a hundred points can take long. The worst case is
    exponential.

    Parameters
    ----------
    D : array-like of shape (n, n)
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.
    penalty : float or array-like of shape (n,)
        Penalty of each exemplar, common or per point. +inf forbids a point to be one.
    max_iter : int, default=1000
        Most steps on the dual in `solve_exemplars`.
    random_state : int, RandomState instance or None, default=None
        Randomness of `solve_exemplars`; it can only decide between equally good optima.

    Returns
    -------
    ExemplarSolution
        The optimum. Its lower bound allows for the tolerances of HiGHS: it is the energy less
        1e-6·n times the largest number in the program, or the bound of `solve_exemplars` if
        that is better.

    Raises
    ------
    ValueError
        If an input is not as described.
    RuntimeError
        If HiGHS does not finish.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> D = (x[:, None] - x) ** 2
    >>> print(solve_exemplars_exact(D, penalty=3.0, random_state=0).exemplars)
    [1 3]
    """
    distances = _check_distances(D)
    f = _check_penalty(penalty, len(distances))
    start = solve_exemplars(distances, f, max_iter=max_iter, random_state=random_state)
    v = start.multipliers
    _, reduced = _bound(distances, f, v)
    # A better solution exceeds the bound by at most the slack, while opening q exceeds it by
    # the reduced cost of q, if positive, and p joining q by d_pq - v_p on top of that.
    slack = start.energy - start.lower_bound + 1e-9 * np.abs(v).sum()
    exemplars = np.flatnonzero(reduced <= slack)
    costs = distances[:, exemplars] - v[:, None]
    joins = costs <= slack - np.maximum(reduced[exemplars], 0)
    joins &= distances[:, exemplars] < f[:, None]
    joins[exemplars, np.arange(len(exemplars))] = False
    p, q = np.nonzero(joins)

    # As every point belongs to one exemplar, subtracting v_p from its costs changes nothing
    # but the size of the numbers: HiGHS has absolute tolerances of 1e-6 and 1e-7.
    n, k, m = len(f), len(exemplars), len(p)
    objective = np.concatenate([f[exemplars] - v[exemplars], costs[p, q]])
    scale = np.abs(objective).max() or 1.0
    one_exemplar = coo_array(
        (np.ones(k + m), (np.concatenate([exemplars, p]), np.arange(k + m))), shape=(n, k + m)
    )
    pairs = np.arange(m)
    only_if_open = coo_array(
        (np.repeat([1.0, -1.0], m), (np.tile(pairs, 2), np.concatenate([k + pairs, q]))),
        shape=(m, k + m),
    )
    result = milp(
        objective / scale,
        integrality=np.arange(k + m) < k,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(one_exemplar.tocsr(), 1, 1),
            LinearConstraint(only_if_open.tocsr(), -np.inf, 0),
        ],
        options={"mip_rel_gap": 0.0},
    )
    if not result.success:
        raise RuntimeError(f"HiGHS did not solve the integer program: {result.message}")
    Q = exemplars[result.x[:k] > 0.5]
    energy = exemplar_energy(distances, Q, f)
    if energy >= start.energy:
        Q, energy = start.exemplars, start.energy
    lower_bound = max(start.lower_bound, energy - 1e-6 * n * scale)
    return ExemplarSolution(Q, energy, lower_bound, v, start.n_iter)


class ExemplarClustering(ClusterMixin, BaseEstimator):
    """Clustering around exemplars, their number found, with a certified gap (Komodakis 2011).

    Minimizes Σ_{p ∉ Q} min_{q ∈ Q} d_pq + Σ_{q ∈ Q} penalty_q over the sets Q of exemplars, the
    energy that affinity propagation minimizes (with ``preference = -penalty``), and bounds the
    minimum from below: see `solve_exemplars`.

    Parameters
    ----------
    penalty : "auto", float or array-like of shape (n_samples,), default="auto"
        Price of an exemplar, common or per point; the higher, the fewer clusters. +inf
        forbids a point to be an exemplar. "auto" takes the median of the distances between
        different points, the usual choice for affinity propagation. The number of clusters
        then grows with the number of points; a penalty proportional to it keeps the number
        of clusters about the same. A point never pays more than its own penalty.
    metric : "sqeuclidean", "precomputed", other metric of scikit-learn, or callable
        Distances between the rows of X, see `sklearn.metrics.pairwise_distances`; default
        "sqeuclidean". "precomputed": X holds the distances, X[p, q] that of point p to
        exemplar q; they may be asymmetric and negative, and the diagonal is not used. A
        callable gets rows p and q and may be asymmetric too.
    exact : bool, default=False
        Solve the problem exactly, see `solve_exemplars_exact`. For small or easy data.
    max_iter : int, default=1000
        Most steps on the dual.
    tol : float, default=0.01
        Largest `gap_` that is accepted without a warning.
    random_state : int, RandomState instance or None, default=None
        Randomness of the search.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point: position of its exemplar in `exemplar_indices_`.
    exemplar_indices_ : ndarray of shape (n_clusters,)
        Row of the exemplar of each cluster, increasing.
    exemplars_ : ndarray or sparse matrix of shape (n_clusters, n_features)
        The exemplars themselves; absent with precomputed distances.
    penalty_ : float or ndarray of shape (n_samples,)
        The penalty used.
    energy_ : float
        Energy of the exemplars.
    lower_bound_ : float
        No set of exemplars has a lower energy (`exemplar_bound`).
    gap_ : float
        ``(energy_ - lower_bound_) / abs(energy_)``: the share of the energy that a better set
        could at most remove. 0 means proven optimal.
    n_iter_ : int
        Number of steps on the dual.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in fit, where X has them.

    See Also
    --------
    sklearn.cluster.AffinityPropagation : Same energy by message passing, no bound.

    Notes
    -----
    The gap has two causes that it cannot tell apart: a better set of exemplars exists, or the
    relaxation is loose. Distances of points in space mostly give gaps well below one
    percent; random asymmetric ones gaps of 20%, half of which is the relaxation's.

    Memory: the distances, a copy, and up to two more arrays of that size while fitting.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0], [9.0, 2.0]]
    >>> model = ExemplarClustering(penalty=5.0, random_state=0).fit(X)
    >>> print(model.labels_, len(model.exemplar_indices_), model.energy_, round(model.gap_, 9))
    [0 0 1 1 1] 2 13.0 0.0
    """

    def __init__(
        self,
        *,
        penalty: str | ArrayLike = "auto",
        metric: str | Callable[..., float] = "sqeuclidean",
        exact: bool = False,
        max_iter: int = 1000,
        tol: float = 0.01,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.penalty = penalty
        self.metric = metric
        self.exact = exact
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the rows of X.

        O(n²d) for the distances, then O(n²) at most per step, see `solve_exemplars`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; if ``metric="precomputed"``, distances of shape (n_samples, n_samples).
        y : None
            Ignored.

        Returns
        -------
        ExemplarClustering
            The fitted estimator.

        Raises
        ------
        ValueError
            If X or a parameter is not as described.

        Warns
        -----
        ConvergenceWarning
            If the gap remains above `tol`.
        UserWarning
            If one exemplar serves all points, or each of them is one, although there are more
            than two: it says between which penalties that is not so (`penalty_range`).
        """
        if not self.tol >= 0:
            raise ValueError(f"tol must be a number that is at least 0; got {self.tol!r}")
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        if precomputed:
            D = _check_distances(validate_data(self, X, **_DISTANCES))
        else:
            points = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
            D = _check_distances(_pairwise(points, None, self.metric))
        if isinstance(self.penalty, str):
            if self.penalty != "auto":
                raise ValueError(
                    f'penalty must be "auto", a number or one per point; got {self.penalty!r}'
                )
            self.penalty_: Any = _median_distance(D)
        else:
            self.penalty_ = np.asarray(self.penalty)[()]

        solve = solve_exemplars_exact if self.exact else solve_exemplars
        solution = solve(D, self.penalty_, max_iter=self.max_iter, random_state=self.random_state)
        self.exemplar_indices_ = solution.exemplars
        self.labels_ = exemplar_labels(D, solution.exemplars)
        if not precomputed:
            self.exemplars_ = points[solution.exemplars]
        self.energy_, self.lower_bound_ = solution.energy, solution.lower_bound
        self.gap_, self.n_iter_ = solution.gap, solution.n_iter
        _warn_of_trivial(D, len(solution.exemplars), self.penalty_)
        if self.gap_ > self.tol:
            warnings.warn(
                f"the energy is only proven to be within {self.gap_:.2%} of the optimum, more "
                f"than tol={self.tol:g}: raise max_iter={self.max_iter}; if that does not "
                "help, the relaxation is loose (common for distances that are asymmetric or "
                "far from a metric): use exact=True if there are few points, or raise tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: ArrayLike) -> Indices:
        """Assign new points to their nearest exemplars.

        O(mkd) for m points and k exemplars.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, n_features)
            Points; if ``metric="precomputed"``, distances of shape (m, n_samples) to the
            points seen in fit.

        Returns
        -------
        ndarray of shape (m,)
            Cluster of each point.

        Raises
        ------
        ValueError
            If X is not as described.
        """
        check_is_fitted(self)
        if isinstance(self.metric, str) and self.metric == "precomputed":
            D = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
            return D[:, self.exemplar_indices_].argmin(axis=1)
        points = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        return np.asarray(_pairwise(points, self.exemplars_, self.metric).argmin(axis=1))

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse points and precomputed distances are accepted."""
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags


# Input


_DISTANCES: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}


def _check_distances(D: Any) -> Any:
    """Return D as a square float array, finite off the diagonal."""
    D = check_array(D, input_name="D", **_DISTANCES)
    if D.shape[0] != D.shape[1]:
        raise ValueError(
            "D must be a square matrix of distances, without NaN and infinity off the diagonal; "
            f"got shape {D.shape}"
        )
    for rows in gen_batches(len(D), BLOCK // len(D) + 1):
        bad = ~np.isfinite(D[rows])
        bad[np.arange(len(bad)), np.arange(len(D))[rows]] = False
        if bad.any():
            p, q = np.argwhere(bad)[0] + [rows.start, 0]
            raise ValueError(
                "D must not hold NaN or infinity off the diagonal; got "
                f"D[{p}, {q}] = {D[p, q]} (a large number keeps a point from an exemplar)"
            )
    return D


def _check_penalty(penalty: Any, n: int) -> Floats:
    """Return one penalty per point."""
    f = np.asarray(penalty)
    if f.dtype.kind not in "iuf" or f.shape not in ((), (n,)):
        raise ValueError(
            f"penalty must be a number or one number for each of the {n} points; got {penalty!r}"
        )
    f = np.array(np.broadcast_to(f, n), dtype=np.float64)
    if np.isnan(f).any() or np.isneginf(f).any() or np.isposinf(f).all():
        raise ValueError(
            f"penalty must not be NaN or -inf, and not +inf for all points; got {penalty!r}"
        )
    return f


def _check_exemplars(exemplars: Any, n: int) -> Indices:
    """Return a set of exemplars as an array of indices."""
    Q = np.asarray(exemplars)
    if Q.ndim != 1 or len(Q) == 0 or Q.dtype.kind not in "iu":
        raise ValueError(f"exemplars must be a non-empty list of integers; got {exemplars!r}")
    if Q.min() < 0 or Q.max() >= n or len(np.unique(Q)) < len(Q):
        raise ValueError(
            f"exemplars must be distinct integers between 0 and n - 1 = {n - 1}; got {exemplars!r}"
        )
    return Q.astype(np.intp)


def _pairwise(X: Any, Y: Any, metric: str | Callable[..., float]) -> Any:
    """Distances of the rows of X to those of Y (default: X)."""
    if issparse(X) and metric == "sqeuclidean":
        return euclidean_distances(X, Y, squared=True)
    if callable(metric) and Y is None:
        Y = X.copy()  # X twice would make scikit-learn take the metric for symmetric
    return pairwise_distances(X, Y, metric=metric)


def _median_distance(D: Any) -> float:
    """Median of the entries off the diagonal; 0 for a single point."""
    n = len(D)
    if n == 1:
        return 0.0
    # Row by row, the n entries that follow each diagonal entry but the last: no mask needed.
    return float(np.median(np.ascontiguousarray(D).reshape(-1)[:-1].reshape(n - 1, n + 1)[:, 1:]))


def _warn_of_trivial(D: Any, n_exemplars: int, penalty: Any) -> None:
    """Warn of a penalty that leaves nothing to cluster, and say which would."""
    n = len(D)
    if n < 3 or 1 < n_exemplars < n:
        return
    low, high = penalty_range(D)
    size, what = ("high", "one exemplar") if n_exemplars == 1 else ("low", f"{n} exemplars")
    remedy = (
        f"a common penalty between {low:.6g} and {high:.6g} gives neither one exemplar nor all"
        if low < high
        else "no common penalty is sure to give a number in between: the distances are too alike"
    )
    seen = f"penalty={penalty:g}" if np.ndim(penalty) == 0 else "penalty"
    warnings.warn(f"{seen} is so {size} that {n} points have {what}; {remedy}", stacklevel=3)


# Bound and costs


def _bound(D: Any, f: Floats, v: Floats) -> tuple[float, Floats]:
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


def _facility_costs(D: Any, f: Floats) -> tuple[NDArray[Any], Floats]:
    """Return C with C[q, p] = c_pq, and the penalties that go with it, for the search."""
    C = np.array(D.T, order="C")
    np.fill_diagonal(C, 0)
    nearest = C.min(axis=0)  # min(0, min_q d_pq)
    np.fill_diagonal(C, nearest)
    return C, f - nearest
