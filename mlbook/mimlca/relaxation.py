"""Feasible assignments as partitions, and the relaxed problem that a metric is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd

from mlbook._arrays import Integers
from mlbook._validation import as_array, check_integer_labels, check_matrix, metric_factor
from mlbook.bags import candidate_labels, check_offsets
from mlbook.partitions import normalized_assignment

TIE = 1e-9  # values closer than this share of the largest are tied


def feasible_assignments(offsets: ArrayLike, Y: Any) -> Iterator[Integers]:
    """Go through every assignment that the bags allow (Law 2017, Eq. 2).

    An instance gets at most one category, a candidate label of a bag goes to at most one
    instance, and min(n_i, q_i) instances of bag i get one, where q_i is the number of its
    labels. There are Π_i C(n_i, p_i) q_i!/(q_i − p_i)! of these assignments, with p_i that
    minimum: for a few bags.

    Parameters
    ----------
    offsets : array-like of m + 1 integers
        Bag i holds the instances from ``offsets[i]`` up to ``offsets[i + 1]``.
    Y : array-like or sparse array of shape (m, k)
        Candidate labels of the bags, 0 and 1.

    Yields
    ------
    ndarray of shape (n,)
        Category of each instance, −1 where it has none.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> [labels.tolist() for labels in feasible_assignments([0, 2], [[1, 0, 1]])]
    [[0, 2], [2, 0]]
    """
    given = as_array(offsets, "offsets")
    whole = given.ndim == 1 and given.size and given.dtype.kind in "iu"
    starts = check_offsets(given, max(int(given[-1]), 0) if whole else 0)
    labels = candidate_labels(Y, len(starts) - 1)
    per_bag = []
    for i in range(labels.shape[0]):
        instances = range(starts[i], starts[i + 1])
        names = labels.indices[labels.indptr[i] : labels.indptr[i + 1]].tolist()
        p = min(len(instances), len(names))
        pairs = product(combinations(instances, p), permutations(names, p))
        per_bag.append([list(zip(*pair, strict=True)) for pair in pairs])
    for choice in product(*per_bag):
        assignment = np.full(starts[-1], -1)
        for instance, name in (pair for bag in choice for pair in bag):
            assignment[instance] = name
        yield assignment


def own_clusters(labels: ArrayLike) -> Integers:
    """Make each unassigned instance a cluster of its own: a partition of all instances.

    In the papers: Law 2017, Eqs. 3-6.

    With H the assignment matrix of the labels, the partition matrix of the result is
    C = I + HH† − diag(H1), so that its distortion is that of the assignment. O(n).

    Parameters
    ----------
    labels : array-like of n integers
        Category of each instance, −1 where it has none.

    Returns
    -------
    ndarray of n integers
        The labels, and where they were −1 numbers above all of them.

    Raises
    ------
    ValueError
        If the labels are not a one-dimensional array of integers, at least −1.

    Examples
    --------
    >>> own_clusters([1, -1, 0, -1]).tolist()
    [1, 2, 0, 3]
    """
    found = check_integer_labels(labels, "labels", least=-1)
    alone = found < 0
    found[alone] = found.max() + 1 + np.arange(np.count_nonzero(alone))
    return found


def relaxed_overlap(X: ArrayLike, M: ArrayLike, offsets: ArrayLike, Y: Any) -> float:
    """Evaluate a metric in the relaxed max-min problem, by enumeration (Law 2017, Eq. 10).

    In the papers: Law 2017, Eqs. 7 and 10.

    The smallest ⟨C, Ĉ⟩ over the feasible C (`own_clusters` of `feasible_assignments`) that
    maximize ⟨C, XMXᵀ⟩, where Ĉ projects onto the column space of XMXᵀ. O(n d) for each feasible
    assignment, of which there are many: for a few bags.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The instances.
    M : array-like of shape (d, d)
        The metric, symmetric positive semidefinite.
    offsets : array-like of m + 1 integers
        Bag i holds the rows from ``offsets[i]`` up to ``offsets[i + 1]``.
    Y : array-like or sparse array of shape (m, k)
        Candidate labels of the bags, 0 and 1.

    Returns
    -------
    float
        The overlap, at least 0 and at most the rank of XMXᵀ.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    Whitening attains what no metric exceeds (Theorem 2.1).

    >>> X = np.array([[-2.0, 2], [-1, -2], [-1, 3], [2, 2], [2, -1], [0, 1], [-1, 0], [3, 1]])
    >>> offsets, Y = [0, 1, 3, 6, 8], [[1, 0], [1, 1], [1, 1], [0, 1]]
    >>> for M in (np.diag([1.0, 0]), np.linalg.inv(X.T @ X)):
    ...     print(round(relaxed_overlap(X, M, offsets, Y), 6))
    0.666667
    1.5
    """
    rows: Any = check_matrix(X, dtype=np.float64, input_name="X")
    Z = rows @ metric_factor(M, rows.shape[1])
    check_offsets(offsets, len(rows))
    U, values, _ = svd(Z, full_matrices=False)
    U = U[:, values**2 > TIE * values[0] ** 2]
    factors = [
        normalized_assignment(own_clusters(labels)) for labels in feasible_assignments(offsets, Y)
    ]
    traces = np.array([np.sum((J.T @ Z) ** 2) for J in factors])
    winners = np.flatnonzero(traces >= (1 - TIE) * traces.max())
    return float(min(np.sum((factors[i].T @ U) ** 2) for i in winners))
