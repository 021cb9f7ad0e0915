"""Correlation clustering and its structured SVM, after Finley and Joachims (ICML 2005).

A partition is scored by the similarities of the pairs that it joins, Σ_{i<j, joined} s_ij.
Similarities have both signs, and the number of clusters comes out of the maximization. The
similarity is linear in features of the pair, s_ij = w·φ_ij, and w is learned such that the
given partitions score higher than all others, by a margin of how many pairs the two partitions
disagree on. That loss adds up over the pairs too: to find the partition that violates its margin
most is correlation clustering with other similarities.

Of k equal clusters only a share of 1/k of the pairs is together. If the loss is the plain share of
pairs that differ, to leave every point alone costs no more than that, and with many clusters that
overlap it is what the learned similarity does. So here the pairs that belong together and those
that do not count one half each.

This is the method that Komodakis 2011 compares with. It has no exemplars and no latent
variables; every pair of a cluster counts.
"""

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Floats, Integers
from mlbook._metric import check_lists
from mlbook._validation import (
    as_floats,
    check_boolean,
    check_classes,
    check_integer,
    check_matrix,
    check_number,
)

__all__ = [
    "CorrelationClusteringSVM",
    "correlation_clusters",
    "correlation_clusters_exact",
    "correlation_score",
]


def correlation_score(S: ArrayLike, labels: ArrayLike) -> float:
    """Add up the similarities of the pairs in the same cluster, each pair once.

    O(n²).

    Parameters
    ----------
    S : array-like of shape (n, n)
        Similarities, of either sign. The diagonal is not used; of S and its transpose the
        mean is.
    labels : array-like of shape (n,)
        The partition.

    Returns
    -------
    float
        Σ_{i<j, same cluster} S_ij.

    Raises
    ------
    ValueError
        If S is not a square matrix of finite numbers, or the lengths differ.

    Examples
    --------
    >>> S = [[0, 2, -1], [2, 0, -1], [-1, -1, 0]]
    >>> correlation_score(S, [0, 0, 1]), correlation_score(S, [0, 0, 0])
    (2.0, 0.0)
    """
    similarity = _check_similarities(S)
    labels = _check_labels(labels, len(similarity))
    return float(similarity[_joined(labels)].sum() / 2)


def correlation_clusters(S: ArrayLike) -> Integers:
    """Search for a partition of high score: greedy merging, then moves of single points.

    Of all pairs of clusters, the one whose union raises the score most is merged while there
    is such a pair; then the single point whose move to another cluster, or to one of its own,
    raises it most is moved while there is such a point; and so on in turn. To find the best
    partition is NP-hard; this one is only known to be the best within one step of either kind.
    O(n²) for each merge, O(n k) for each move.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Similarities as in `correlation_score`.

    Returns
    -------
    ndarray of shape (n,)
        Labels from 0.

    Raises
    ------
    ValueError
        If S is not a square matrix of finite numbers.

    Examples
    --------
    >>> correlation_clusters([[0, 2, -1], [2, 0, -1], [-1, -1, 0]])
    array([0, 0, 1])
    """
    similarity = _check_similarities(S)
    least = 1e-12 * np.abs(similarity).sum()  # smaller gains are rounding
    labels: Integers = np.arange(len(similarity))
    while True:
        merged = _move(similarity, _merge(similarity, labels, least), least)
        if np.array_equal(merged, labels):
            return labels
        labels = merged


def correlation_clusters_exact(S: ArrayLike) -> Integers:
    """Find a partition of the highest score, by an integer program over all pairs.

    Whether i and j are joined is one variable; of every three points, two joined pairs join the
    third. O(n³) constraints: for some twenty points.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Similarities as in `correlation_score`.

    Returns
    -------
    ndarray of shape (n,)
        Labels from 0.

    Raises
    ------
    ValueError
        If S is not a square matrix of finite numbers.

    Examples
    --------
    >>> correlation_clusters_exact([[0, 2, -1], [2, 0, -1], [-1, -1, 0]])
    array([0, 0, 1])
    """
    similarity = _check_similarities(S)
    n = len(similarity)
    scale = np.abs(similarity).max() or 1.0
    pairs = list(combinations(range(n), 2))
    index = {pair: k for k, pair in enumerate(pairs)}
    triangles = [(index[i, j], index[j, k], index[i, k]) for i, j, k in combinations(range(n), 3)]
    joined = np.zeros(len(pairs))
    if pairs:
        rows = [np.roll(t, r) for t in triangles for r in range(3)]
        where = np.repeat(np.arange(len(rows)), 3), np.reshape(rows, -1).astype(int)
        shape = (len(rows), len(pairs))
        transitive = coo_array((np.tile([1.0, 1.0, -1.0], len(rows)), where), shape=shape).tocsr()
        result = milp(
            [-similarity[pair] / scale for pair in pairs],
            integrality=np.ones(len(pairs)),
            bounds=Bounds(0, 1),
            constraints=[LinearConstraint(transitive, -np.inf, 1)] if rows else [],
            options={"mip_rel_gap": 0.0},
        )
        if not result.success:
            raise RuntimeError(f"HiGHS did not solve the integer program: {result.message}")
        joined = result.x
    labels = np.arange(n)
    for pair, together in zip(pairs, joined, strict=True):
        if together > 0.5:  # pairs come in the order of their first point
            labels[pair[1]] = min(labels[list(pair)])
    return np.unique(labels, return_inverse=True)[1]


class CorrelationClusteringSVM(BaseEstimator):
    """Structured SVM whose output is a partition (Finley and Joachims 2005).

    Minimizes λ/2 ‖w‖² plus the mean over the training sets of the largest violation
    max_partition [Δ + w·(Ψ(partition) − Ψ(given))]. Ψ is the mean over all pairs of φ_ij where
    the pair is joined, else 0. Δ is half the share of the pairs that were together and are split,
    plus half the share of those that were apart and are joined; where the given partition has no
    pair of a kind, the other counts whole. The solver is Frank-Wolfe on the dual (Lacoste-Julien
    et al. 2013): one inference per set and step, an exact line search, and a duality gap to stop
    at.

    Parameters
    ----------
    alpha : float, default=1e-2
        λ, positive.
    balanced : bool, default=True
        If False, Δ is the plain share of the pairs on which the partitions differ, as the paper
        has it.
    tol : float, default=1e-3
        Duality gap to stop at, an amount of the objective; the loss is at most 1.
    max_iter : int, default=200
        Most steps, each with one pass over the training sets.

    Attributes
    ----------
    weights_ : ndarray of shape (F,)
        w, the best met.
    objective_ : float
        The objective at w, and `duality_gap_` what it may be above the minimum. With the
        search in place of exact inference the violations, hence both, can be too small.
    duality_gap_ : float
        See `objective_`.
    n_iter_ : int
        Number of steps.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 5.0, 5.1])
    >>> features = np.array([np.ones((4, 4)), -abs(x[:, None] - x)])
    >>> model = CorrelationClusteringSVM().fit([features], [[0, 0, 1, 1]])
    >>> model.predict(features)
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        *,
        alpha: float = 1e-2,
        balanced: bool = True,
        tol: float = 1e-3,
        max_iter: int = 200,
    ) -> None:
        self.alpha = alpha
        self.balanced = balanced
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, Xs: Sequence[ArrayLike], ys: Sequence[ArrayLike]) -> Self:
        """Learn the weights of the features.

        Parameters
        ----------
        Xs : list of arrays of shape (F, n, n)
            Features of all pairs, symmetric, one stack for each training set. A constant
            feature makes room for a threshold.
        ys : list of arrays of shape (n,)
            The given partitions.

        Returns
        -------
        CorrelationClusteringSVM
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument or a parameter is not as described.

        Warns
        -----
        ConvergenceWarning
            If the gap is above `tol` after `max_iter` steps.
        """
        alpha = check_number(self.alpha, "alpha", above=0)
        tol = check_number(self.tol, "tol", above=0)
        balanced = check_boolean(self.balanced, "balanced")
        max_iter = check_integer(self.max_iter, "max_iter", least=1)
        check_lists(Xs, ys)
        stacks = [_check_stack(stack) for stack in Xs]
        if len({len(stack) for stack in stacks}) > 1:
            raise ValueError(f"Xs must agree on F; got {[len(stack) for stack in stacks]}")
        given = [
            _joined(_check_labels(labels, stack.shape[1], f"ys[{i}]"))
            for i, (stack, labels) in enumerate(zip(stacks, ys, strict=True))
        ]
        costs = [_pair_costs(joined, balanced) for joined in given]
        w, constant = np.zeros(len(stacks[0])), 0.0  # a dual solution and its linear part
        self.objective_ = np.inf
        for self.n_iter_ in range(1, max_iter + 1):
            found = [
                _most_violated(w, *problem) for problem in zip(stacks, given, costs, strict=True)
            ]
            loss, violation = (np.mean(part, axis=0) for part in zip(*found, strict=True))
            square = alpha * (w @ w)
            objective, bound = square / 2 + loss + w @ violation, constant - square / 2
            if objective < self.objective_:
                self.weights_, self.objective_ = w, float(objective)
            self.duality_gap_ = float(self.objective_ - bound)
            if self.duality_gap_ <= tol:
                break
            step = w + violation / alpha
            curvature = alpha * (step @ step)
            share = 1.0 if curvature == 0 else min((objective - bound) / curvature, 1.0)
            w = w - share * step
            constant += share * (loss - constant)
        else:
            warnings.warn(
                f"the gap is {self.duality_gap_:.2g} after max_iter={max_iter} steps, above tol="
                f"{tol:g}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def similarities(self, features: ArrayLike) -> Floats:
        """Return w·φ for a stack of features of shape (F, n, m)."""
        check_is_fitted(self, "weights_")
        stack: Any = as_floats(features, "features")
        if stack.ndim != 3 or len(stack) != len(self.weights_):
            raise ValueError(
                f"features must have shape ({len(self.weights_)}, n, m); got {stack.shape}"
            )
        return np.tensordot(self.weights_, stack, axes=1)

    def predict(self, features: ArrayLike) -> Integers:
        """Cluster the points of a stack of shape (F, n, n), by `correlation_clusters`."""
        return correlation_clusters(self.similarities(features))


def _pair_costs(given: NDArray[np.bool_], balanced: bool) -> Floats:
    """Return what it costs to get each ordered pair wrong; all together 1, or 0 for one point."""
    together = int(given.sum())
    apart = len(given) * (len(given) - 1) - together
    if not balanced or not together or not apart:
        costs = np.full(given.shape, 1 / max(together + apart, 1))
    else:
        costs = np.where(given, 0.5 / together, 0.5 / apart)
    np.fill_diagonal(costs, 0)
    return costs


def _most_violated(
    w: Floats, stack: Floats, given: NDArray[np.bool_], costs: Floats
) -> tuple[float, Floats]:
    """Δ and Ψ(found) − Ψ(given) for the partition found to maximize Δ + w·Ψ.

    The search may find less than the given partition itself has; then that is the answer.
    """
    n_pairs = max(len(given) * (len(given) - 1), 1)
    similarity = np.tensordot(w, stack, axes=1) / n_pairs
    found = _joined(correlation_clusters(similarity + np.where(given, -costs, costs)))
    difference = found.astype(float) - given
    violation = np.tensordot(stack, difference, axes=2) / n_pairs
    loss = float((costs * np.abs(difference)).sum())
    if loss + w @ violation < 0:
        return 0.0, np.zeros_like(w)
    return loss, violation


def _merge(S: Floats, labels: Integers, least: float) -> Integers:
    """Merge clusters, best pair first, while the score grows."""
    k = int(labels.max()) + 1
    member = np.eye(k)[labels]
    between = member.T @ S @ member
    np.fill_diagonal(between, -np.inf)
    target = np.arange(k)
    while True:
        a, b = divmod(int(between.argmax()), len(between))
        if between[a, b] <= least:
            break
        between[a] += between[b]
        between[:, a] = between[a]
        between[a, a] = between[b] = between[:, b] = -np.inf
        target[target == b] = a
    return np.unique(target[labels], return_inverse=True)[1]


def _move(S: Floats, labels: Integers, least: float) -> Integers:
    """Move single points, best move first, while the score grows or until a cluster is opened."""
    rows, k = np.arange(len(S)), int(labels.max()) + 1
    labels = labels.copy()
    sums = S @ np.eye(k + 1)[labels]  # of each point to each cluster, the last one empty
    to = 0
    while to < k:
        gains = sums - sums[rows, labels][:, None]
        point, to = divmod(int(gains.argmax()), k + 1)
        if gains[point, to] <= least:
            break
        sums[:, labels[point]] -= S[:, point]
        sums[:, to] += S[:, point]
        labels[point] = to
    return np.unique(labels, return_inverse=True)[1]


def _joined(labels: Integers) -> NDArray[np.bool_]:
    """Tell of every ordered pair of two points whether it is in one cluster."""
    joined = labels[:, None] == labels
    np.fill_diagonal(joined, False)
    return joined


def _check_similarities(S: ArrayLike) -> Floats:
    """Return S as its symmetric part with a zero diagonal."""
    matrix: Any = check_matrix(S, dtype=np.float64, input_name="S")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"S must be square; got shape {matrix.shape}")
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, 0)
    return matrix


def _check_stack(stack: ArrayLike) -> Floats:
    array = as_floats(stack, "Xs")
    if array.ndim != 3 or array.shape[1] != array.shape[2] or 0 in array.shape:
        raise ValueError(f"Xs must have shape (F, n, n) each; got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("Xs must hold finite numbers; got NaN or infinity")
    return array


def _check_labels(labels: ArrayLike, n: int, name: str = "labels") -> Integers:
    array = check_classes(labels, name)
    if array.dtype.kind in "iuf" and array.size and array.min() < 0:
        raise ValueError(f"{name} must not be negative (-1: unknown); got {array.min()}")
    if array.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one per point; got {array.shape}")
    return np.unique(array, return_inverse=True)[1]
