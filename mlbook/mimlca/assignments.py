"""k-means over feasible assignments: one step, and the rounds of Algorithm 1."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers, squared_norms
from mlbook._validation import (
    FLOATS,
    as_floats,
    check_choice,
    check_integer,
    check_matrix,
    check_number,
)
from mlbook.bags import candidate_labels, check_offsets
from mlbook.mimlca.choices import Choices

INITS = ("weighted", "unambiguous", "random")


class WeakKMeans(NamedTuple):
    """Result of `weak_kmeans`.

    Attributes
    ----------
    assignments : ndarray of shape (n,)
        Category of each instance, −1 where it has none.
    objective_path : ndarray
        Objective of Eq. 12 for the assignment of each round, strictly decreasing.
    n_iter : int
        Number of assignment steps after the first.

    Examples
    --------
    >>> found = weak_kmeans([[0.0], [5.1], [0.2], [5.0]], [0, 2, 4], [[1, 1], [1, 1]])
    >>> isinstance(found, WeakKMeans), found.assignments.tolist(), found.n_iter
    (True, [0, 1, 0, 1], 1)
    """

    assignments: Integers
    objective_path: Floats
    n_iter: int


def assign_instances(
    U: ArrayLike,
    centroids: ArrayLike,
    offsets: ArrayLike,
    Y: Any,
    reject_costs: ArrayLike | None = None,
) -> Integers:
    """Cheapest feasible assignment of every bag, given the centroids (Law 2017, Eq. 13).

    In the papers: Law 2017, Eqs. 2, 13 and 39.

    Bag i gets min(n_i, number of its labels) instances assigned, each label used at most once,
    so that the sum of squared distances to the centroids is smallest. Bags with one instance
    or one label are solved all at once, the others by the Hungarian algorithm of scipy. Ties
    are broken by index.

    O(r Σ n_i q_i) for the distances, with q_i labels in bag i; O(p_i² max(n_i, q_i)) for the
    assignment of a bag, where p_i = min(n_i, q_i).

    Parameters
    ----------
    U : array-like of shape (n, r)
        Instances.
    centroids : array-like of shape (k, r)
        One centroid per category.
    offsets : array-like of m + 1 integers
        Bag i holds the rows from ``offsets[i]`` up to ``offsets[i + 1]``.
    Y : array-like or sparse array of shape (m, k)
        Candidate labels of the bags, 0 and 1.
    reject_costs : array-like of shape (n,), optional
        What it costs to leave each instance without category. An instance is then assigned
        only where that lowers the sum of all costs; default: as many as can be are assigned.

    Returns
    -------
    ndarray of shape (n,)
        Category of each instance, −1 where it has none.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> U, Z = [[0.0], [1.0], [9.0]], [[0.5], [8.0]]
    >>> assign_instances(U, Z, [0, 3], [[1, 1]]).tolist()
    [0, -1, 1]
    """
    rows, sizes, labels = _check_bags(U, offsets, Y)
    Z: Any = check_matrix(centroids, dtype=rows.dtype, input_name="centroids")
    if Z.shape != (labels.shape[1], rows.shape[1]):
        raise ValueError(
            f"centroids must have shape ({labels.shape[1]}, {rows.shape[1]}), one for each column "
            f"of Y; got {Z.shape}"
        )
    costs = None
    if reject_costs is not None:
        costs = as_floats(reject_costs, "reject_costs")
        if costs.shape != (len(rows),) or np.isnan(costs).any():
            raise ValueError(
                f"reject_costs must hold a number for each of {len(rows)} instances; got shape "
                f"{costs.shape}{', NaN among them' if np.isnan(costs).any() else ''}"
            )
    return Choices(sizes, labels, costs).assign(rows, Z)


def weak_kmeans(
    U: ArrayLike,
    offsets: ArrayLike,
    Y: Any,
    *,
    init: str = "weighted",
    n_init: int = 1,
    max_iter: int = 100,
    reject: float | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> WeakKMeans:
    """k-means over the assignments that the bag labels allow (Law 2017, Eq. 12, steps 2-8).

    In the papers: Law 2017, Eqs. 3, 11, 12 and 38, and Theorem 2.1.

    Alternates the centroids of the assigned instances (a category without any has its
    centroid at the origin, as in step 4) and `assign_instances`. Neither step can raise

        Σ_j ‖u_j − z_c(j)‖²        over the assigned instances j,

    and the first round that does not lower it is the last. O(r (n + Σ n_i q_i)) per round
    beside the Hungarian algorithm, with q_i labels in bag i.

    Parameters
    ----------
    U : array-like of shape (n, r)
        Instances.
    offsets : array-like of m + 1 integers
        Bag i holds the rows from ``offsets[i]`` up to ``offsets[i + 1]``.
    Y : array-like or sparse array of shape (m, k)
        Candidate labels of the bags, 0 and 1.
    init : {"weighted", "unambiguous", "random"}, default="weighted"
        First centroids. "weighted": the mean of all candidate instances, each weighted by
        1/(n_i q_i), as likely as it is to be the one. "unambiguous": the mean over the bags
        with one instance and one label, or where a category has none the mean of its
        candidates. "random": none, but a random feasible assignment.
    n_init : int, default=1
        Number of starts, the second and later ones random. The lowest objective wins, of
        equal ones the first.
    max_iter : int, default=100
        Most rounds of each start.
    reject : float, optional
        Let every instance stay without category at the cost of `reject` times its squared
        distance to the mean of U: an extension of the paper, where instances must take the
        labels of their bag while there are any left. 1 rejects what is nearer to the mean
        than to any centroid it could have; in many dimensions the distances differ little, so
        that 0.9 rejects nearly all and 1.1 little. It also changes which instances of a large
        bag get the labels: those that gain most by it, instead of those nearest to a centroid,
        which tend to be the shortest rows of U. It helps if captions add names or
        strangers look like everybody, and harms where strangers are farther out than others.
    random_state : int, RandomState instance or None, default=None
        Randomness of the random starts.

    Returns
    -------
    WeakKMeans
        Assignments, path of the objective and number of rounds of the best start.

    Raises
    ------
    ValueError
        If an input is not as described, or no bag has both an instance and a label.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` rounds did not suffice.

    Examples
    --------
    >>> U = [[0.0], [5.1], [0.2], [5.0], [9.0]]
    >>> found = weak_kmeans(U, [0, 2, 4, 5], [[1, 1], [1, 1], [0, 1]])
    >>> found.assignments.tolist()
    [0, 1, 0, 1, 1]
    """
    rows, sizes, labels = _check_bags(U, offsets, Y)
    check_choice(init, "init", INITS)
    n_init = check_integer(n_init, "n_init", least=1)
    max_iter = check_integer(max_iter, "max_iter", least=1)
    costs = None
    if reject is not None:
        reject = check_number(reject, "reject", above=0, most=1e100)
        costs = reject * squared_norms(_double(rows - rows.mean(axis=0)))
    choices = Choices(sizes, labels, costs)
    if not choices.n_pairs:
        raise ValueError("Y: nothing can be assigned, no bag has both an instance and a label")

    rng = check_random_state(random_state)
    starts = (
        choices.random(rng)
        if start or init == "random"
        else choices.assign(rows, choices.mean_of_candidates(rows, init == "weighted"))
        for start in range(n_init)
    )
    noise = 1e-12 * float(squared_norms(_double(rows)).sum())  # rounding errors decide no start
    best: WeakKMeans | None = None
    for first in starts:
        run = _descend(rows, choices, first, max_iter)
        if best is None or run.objective_path[-1] < best.objective_path[-1] - noise:
            best = run
    assert best is not None
    return best


def mean_weights(assignments: Integers, counts: Integers, dtype: Any) -> csr_array:
    """H†, sparse of shape (k, n): the rows of an assigned category average its instances."""
    assigned = np.flatnonzero(assignments >= 0)
    categories = assignments[assigned]
    weights = (1.0 / counts[categories]).astype(dtype)
    shape = (len(counts), len(assignments))
    return csr_array((weights, (categories, assigned)), shape=shape)


def _check_bags(
    U: ArrayLike, offsets: ArrayLike, Y: Any
) -> tuple[NDArray[Any], Integers, csr_array]:
    """Return instances, bag sizes and candidate labels."""
    rows: Any = check_matrix(U, dtype=FLOATS, input_name="U")
    sizes = np.diff(check_offsets(offsets, len(rows)))
    return rows, sizes, candidate_labels(Y, len(sizes))


def _descend(U: NDArray[Any], choices: Choices, first: Integers, max_iter: int) -> WeakKMeans:
    """Alternate centroids and assignments until the objective no longer falls."""
    norms = squared_norms(_double(U))
    assignments = first
    Z, objective = _centroids(U, norms, choices, assignments)
    path = [objective]
    for n_iter in range(1, max_iter + 1):
        new = choices.assign(U, Z)
        if np.array_equal(new, assignments):
            return WeakKMeans(assignments, np.array(path), n_iter)
        Z, objective = _centroids(U, norms, choices, new)
        if not objective < path[-1]:
            return WeakKMeans(assignments, np.array(path), n_iter)
        assignments = new
        path.append(objective)
    warnings.warn(
        f"k-means did not converge in max_iter={max_iter} rounds", ConvergenceWarning, stacklevel=4
    )
    return WeakKMeans(assignments, np.array(path), max_iter)


def _centroids(
    U: NDArray[Any], norms: Floats, choices: Choices, assignments: Integers
) -> tuple[NDArray[Any], float]:
    """Centroids of an assignment, and the objective: Σ‖u_j‖² − Σ_c n_c ‖z_c‖²."""
    assigned = assignments >= 0
    counts = np.bincount(assignments[assigned], minlength=choices.k)
    Z = mean_weights(assignments, counts, U.dtype) @ U
    objective = float(norms[assigned].sum() - counts @ squared_norms(_double(Z)))
    if choices.reject_costs is not None:
        objective += float(choices.reject_costs[~assigned].sum())
    return Z, objective


def _double(rows: NDArray[Any]) -> Floats:
    return rows.astype(np.float64, copy=False)
