"""Exemplars of low energy, with the bound that proves how low: by search, or exactly."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_integer
from mlbook.exemplars.energy import (
    bound_and_reduced_costs,
    check_distances,
    check_exemplars,
    check_penalty,
    energy_of,
)
from mlbook.exemplars.search import Facilities, search


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

    exemplars: Integers
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


def improve_exemplars(
    D: ArrayLike,
    exemplars: ArrayLike,
    penalty: ArrayLike,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> Integers:
    """Local search: add, drop or swap exemplars until no such move lowers the energy.

    Again and again all additions and swaps are valued at once, in O(n²), and those that pay are
    made in random order, if they still do when it is their turn. A drop is also made when it
    costs nothing: of equally good sets the smaller is preferred. As in `solve_exemplars`, long
    searches are compiled if numba is installed.

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
    distances = check_distances(D)
    n = len(distances)
    f = check_penalty(penalty, n)
    Q = check_exemplars(exemplars, n)
    if np.isinf(f[Q]).any():
        raise ValueError(f"exemplars must have a finite penalty; got {exemplars!r}")
    facilities = Facilities(*_facility_costs(distances, f))
    return facilities.improve(Q, check_random_state(random_state).permutation(n))[0]


def solve_exemplars(
    D: ArrayLike,
    penalty: ArrayLike,
    *,
    max_iter: int = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> ExemplarSolution:
    """Minimize the energy of a set of exemplars, from above and from below.

    The energy is that of Komodakis 2011, Eq. 1.

    From above: the greedy set and what a local search (`improve_exemplars`) makes of it. From
    below: ascent on the dual function L(v) by deflected subgradients (Camerini et al. 1975)
    with Polyak's step. The two help each other: how often each point is open along the ascent
    estimates the fractional solution of the linear program, which is rounded into new starts
    of the local search; the energies found set the length of the steps, and no pair farther
    apart than a point and its third nearest exemplar is looked at. In the end the local search
    starts 20 to 40 times from the best set without three tenths of its exemplars.

    A dual step costs at most O(n²), as does a sweep of the local search. Beside D there is a
    copy of it and, for the pairs looked at, two arrays of up to n × n entries.

    If numba is installed, searches are compiled; to load it takes a second, once. Only sums are
    rounded otherwise, which can decide between sets that are equally good.

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
    distances = check_distances(D)
    f = check_penalty(penalty, len(distances))
    max_iter = check_integer(max_iter, "max_iter", least=1)
    rng = check_random_state(random_state)
    Q, v, n_iter = search(*_facility_costs(distances, f), max_iter, rng)
    bound = bound_and_reduced_costs(distances, f, v)[0]
    return ExemplarSolution(Q, energy_of(distances, Q, f), bound, v, n_iter)


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
    distances = check_distances(D)
    f = check_penalty(penalty, len(distances))
    start = solve_exemplars(distances, f, max_iter=max_iter, random_state=random_state)
    v = start.multipliers
    _, reduced = bound_and_reduced_costs(distances, f, v)
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
    energy = energy_of(distances, Q, f)
    if energy >= start.energy:
        Q, energy = start.exemplars, start.energy
    lower_bound = max(start.lower_bound, energy - 1e-6 * n * scale)
    return ExemplarSolution(Q, energy, lower_bound, v, start.n_iter)


def _facility_costs(D: Any, f: Floats) -> tuple[NDArray[Any], Floats]:
    """Return C with C[q, p] = c_pq, and the penalties that go with it, for the search."""
    C = np.array(D.T, order="C")
    np.fill_diagonal(C, 0)
    nearest = C.min(axis=0)  # min(0, min_q d_pq)
    np.fill_diagonal(C, nearest)
    return C, f - nearest
