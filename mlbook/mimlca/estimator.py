"""Kernels, the alternation of weak k-means, and the estimator MIMLCA."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, svd
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.preprocessing import normalize
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from mlbook._validation import check_choice, check_integer, check_number
from mlbook.bags import Bags, candidate_labels, check_offsets
from mlbook.mimlca.choices import Choices, row_norms
from mlbook.mlca import MLCA
from mlbook.mlca.least_squares import digest

__all__ = ["MIMLCA", "WeakKMeans", "assign_instances", "chi2_rbf_kernel", "weak_kmeans"]

Kernel = Callable[[Any, Any], Any]
Labels = NDArray[np.intp]

FLOATS = (np.float64, np.float32)
INITS = ("weighted", "unambiguous", "random")
SCORE_ENTRIES = 2**24  # scores computed at a time in `predict`


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

    assignments: Labels
    objective_path: NDArray[np.float64]
    n_iter: int


def assign_instances(
    U: ArrayLike,
    centroids: ArrayLike,
    offsets: ArrayLike,
    Y: Any,
    reject_costs: ArrayLike | None = None,
) -> Labels:
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
    Z: Any = check_array(centroids, dtype=rows.dtype, input_name="centroids")
    if Z.shape != (labels.shape[1], rows.shape[1]):
        raise ValueError(
            f"centroids must have shape ({labels.shape[1]}, {rows.shape[1]}), one for each column "
            f"of Y; got {Z.shape}"
        )
    costs = None
    if reject_costs is not None:
        costs = np.asarray(reject_costs, dtype=np.float64)
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
        Number of starts, the second and later ones random; the lowest objective wins.
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
        reject = check_number(reject, "reject", above=0)
        costs = reject * row_norms(rows - rows.mean(axis=0))
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
    runs = (_descend(rows, choices, first, max_iter) for first in starts)
    return min(runs, key=lambda run: run.objective_path[-1])


def chi2_rbf_kernel(A: ArrayLike, B: ArrayLike) -> NDArray[Any]:
    """exp(−D²) with D² = Σ_i (a_i − b_i)²/(a_i + b_i), rows scaled to sum 1 (Law 2017, p. 7).

    Parameters
    ----------
    A, B : array-likes of shape (n, d) and (p, d)
        Histograms: no negative entry, no zero row.

    Returns
    -------
    ndarray of shape (n, p)
        The kernel matrix.

    Raises
    ------
    ValueError
        If an entry is negative or a row is zero.

    Examples
    --------
    >>> print(chi2_rbf_kernel([[1.0, 1.0]], [[2.0, 2.0], [3.0, 0.0]]).round(4))
    [[1.     0.5134]]
    """
    normalized = []
    for name, X in (("A", A), ("B", B)):
        rows: Any = check_array(X, dtype=FLOATS, input_name=name)
        if rows.min() < 0:
            raise ValueError(f"{name}: the chi-squared kernel needs entries ≥ 0; got {rows.min()}")
        zero = np.flatnonzero(~rows.any(axis=1))
        if zero.size:
            raise ValueError(f"{name}: the chi-squared kernel needs nonzero rows; row {zero[0]} is")
        normalized.append(normalize(rows, norm="l1"))
    return chi2_kernel(*normalized)


class MIMLCA(BaseEstimator):
    """Multiple instance metric learning for cluster analysis (Law 2017, Algorithm 1).

    Assigns instances to the candidate labels of their bags by k-means in the singular basis
    of the instances (`weak_kmeans`), and fits `mlbook.mlca.MLCA` to the instances assigned.
    On bags of one instance with one label it is MLCA.

    Parameters
    ----------
    kernel : {"linear", "chi2_rbf", "precomputed"} or callable, default="linear"
        "linear" works on the features. Else a kernel k(x, x′): `chi2_rbf_kernel`, a function
        that maps matrices of shapes (n, d) and (p, d) to the n × p matrix of kernel values, or
        "precomputed": the instances given to `fit` are the rows of the n × n kernel matrix,
        those given to `predict` and `transform` rows of kernel values with the n training
        instances.
    rank : int, optional
        Number r of singular directions kept; default: all above `rtol`. Must be smaller than
        n if any bag leaves a choice, see Notes.
    rtol : float, optional
        Singular values of X (for a kernel: square roots of the eigenvalues of K) up to `rtol`
        times the largest are dropped. Default: rounding error, so that r is the rank of X.
    init : {"weighted", "unambiguous", "random"}, default="weighted"
        First centroids, see `weak_kmeans`.
    n_init : int, default=1
        Number of starts, the second and later ones random; the lowest objective wins.
    max_iter : int, default=100
        Most rounds of k-means.
    reject : float, optional
        Leave instances that fit no candidate without category, see `weak_kmeans`; try values
        from 1 to 1.1. Not in the paper; default: off.
    random_state : int, RandomState instance or None, default=None
        Randomness of the random starts.

    Attributes
    ----------
    assignments_ : ndarray of shape (n,)
        Category of each training instance, a column of Y; −1 where it has none. In the order
        of ``bags.instances``.
    components_ : ndarray of shape (k, n_features)
        Lᵀ = JᵀX†, X being the assigned rows: the metric is M = LLᵀ. With a kernel, P = JᵀK†,
        to be applied to rows of kernel values. Zero for a category without instances.
    centroids_ : ndarray of shape (k, n_features)
        Mean of the instances assigned to each category; with a kernel, of their rows of K. Zero
        for a category without instances, which is never predicted.
    category_count_ : ndarray of shape (k,)
        Number of instances assigned to each category.
    objective_path_ : ndarray
        Objective of Law 2017, Eq. 12 in each round, strictly decreasing.
    n_iter_ : int
        Number of rounds after the first assignment.
    rank_ : int
        r, the number of singular directions used.
    n_features_in_ : int
        Number of features; with a kernel matrix given, n.

    Notes
    -----
    With r = n, as with any invertible kernel matrix, the objective is the number of assigned
    instances minus that of categories used, whatever the data: `fit` refuses, and asks for
    a smaller `rank` or larger `rtol`. Values of r near n are hardly better. Where all bags
    have one instance and one label there is nothing to choose, and r = n is allowed. To
    assign in the features and learn with the full kernel, as the paper's timings suggest,
    fit twice::

        known = first.assignments_ >= 0
        X, labels = bags.instances[known], first.assignments_[known]
        MIMLCA(kernel="chi2_rbf").fit(Bags(X, range(len(X) + 1)), assignment_matrix(labels))

    Cost: a thin singular value decomposition, O(n d min(n, d)); rounds of
    O(r (n + Σ n_i q_i)), q_i being the number of labels of bag i; MLCA on n × r rows.
    Memory: n × r numbers beside X, which may be sparse. With a kernel O(n³), and O(n²) memory.

    References
    ----------
    M. T. Law, Y. Yu, R. Urtasun, R. S. Zemel, E. P. Xing. Efficient multiple instance metric
    learning using weakly supervised data. CVPR 2017.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = np.array([0, 1, 1, 2, 2, 0] * 20)
    >>> X = 4 * np.eye(3)[truth] + rng.normal(size=(120, 3))
    >>> bags = Bags(X, np.arange(0, 121, 2))
    >>> Y = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]] * 20)
    >>> model = MIMLCA().fit(bags, Y)
    >>> print(np.mean(model.assignments_ == truth))
    1.0
    >>> model.predict([[5.0, 0.0, 0.0], [0.0, 0.0, 5.0]])
    array([0, 2])
    """

    def __init__(
        self,
        *,
        kernel: str | Kernel = "linear",
        rank: int | None = None,
        rtol: float | None = None,
        init: str = "weighted",
        n_init: int = 1,
        max_iter: int = 100,
        reject: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.rank = rank
        self.rtol = rtol
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.reject = reject
        self.random_state = random_state

    def fit(self, bags: Any, Y: Any) -> Self:
        """Assign the instances and learn the metric.

        Parameters
        ----------
        bags : Bags, or list of array-likes of shape (n_i, n_features)
            The training bags.
        Y : array-like or sparse array of shape (m, k)
            Their candidate labels, 0 and 1.

        Returns
        -------
        MIMLCA
            The fitted estimator.

        Raises
        ------
        ValueError
            If an input is not as described, nothing or only one category can be assigned, or
            the basis has as many directions as there are instances.
        """
        if not isinstance(bags, Bags):
            bags = Bags.from_list(bags)
        labels = candidate_labels(Y, len(bags))
        rank = None if self.rank is None else check_integer(self.rank, "rank", least=1)
        rtol = None if self.rtol is None else check_number(self.rtol, "rtol", least=0)
        kernel = self._kernel_function()
        rows = bags.instances
        if kernel is not None:
            rows = _kernel_matrix(rows, bags.order, kernel)
        basis = (_singular_basis if kernel is None else _kernel_basis)(rows, rank, rtol)
        _refuse_vacuous(basis, bags, labels)

        found = weak_kmeans(
            basis.U,
            bags.offsets,
            labels,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            reject=self.reject,
            random_state=self.random_state,
        )
        k = labels.shape[1]
        assigned = found.assignments >= 0
        categories = found.assignments[assigned]
        counts = np.bincount(categories, minlength=k)
        if np.count_nonzero(counts) < 2:
            raise ValueError(
                "Y: a metric needs instances of at least 2 categories; all that can be assigned "
                f"are of category {categories[0]}"
            )
        scores = basis.U[assigned]
        scores *= basis.values
        mlca = MLCA().partial_fit(scores, categories, classes=np.arange(k))
        self.components_ = mlca.components_ @ basis.axes
        means = _mean_weights(found.assignments, counts, rows.dtype) @ rows
        self.centroids_ = means.toarray() if sp.issparse(means) else means
        if kernel == "precomputed":  # columns as in the matrix given, not as in the bags
            columns = np.argsort(bags.order)
            self.components_ = self.components_[:, columns]
            self.centroids_ = self.centroids_[:, columns]

        self.assignments_ = found.assignments
        self.category_count_ = counts
        self.objective_path_ = found.objective_path
        self.n_iter_ = found.n_iter
        self.rank_ = len(basis.values)
        self.n_features_in_ = bags.instances.shape[1]
        self._training_instances = bags.instances if callable(kernel) else None
        # M z_c for all c, and z_cᵀ M z_c: Eq. 15 is linear in the new row up to a constant
        factors = [self.components_.T, self.components_, self.centroids_.T]
        self._metric_centroids = np.linalg.multi_dot(factors)
        self._centroid_norms = np.einsum("ci,ic->c", self.centroids_, self._metric_centroids)
        return self

    def transform(self, X: Any) -> Any:
        """Map instances to the space where Euclidean distance is the learned metric.

        In the papers: Law 2017, Eq. 14. (Its KPᵀPK has the inner products of the images of the
        training instances.)

        Parameters
        ----------
        X : array-like or sparse array of shape (p, n_features)
            Instances; rows of kernel values if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (p, k)
            ``X @ components_.T``, or k(X, training instances) in place of X.
        """
        return self._rows(self._instances(X)) @ self.components_.T

    def get_mahalanobis_matrix(self) -> NDArray[Any]:
        """M as ``components_.T @ components_``, of shape (n_features, n_features)."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def decision_function(self, X: Any, alpha: float | None = None) -> NDArray[Any]:
        """Scores of all categories for each instance (Law 2017, Eqs. 15 and 16).

        In the papers: Law 2017, Eqs. 40, 49 and 50, with a kernel.

        Parameters
        ----------
        X : array-like or sparse array of shape (p, n_features)
            Instances; rows of kernel values if the kernel is precomputed.
        alpha : float, optional
            As for `predict`.

        Returns
        -------
        ndarray of shape (p, k)
            Eq. 15 as xᵀMz_c − z_cᵀMz_c/2, largest for the nearest centroid, or Eq. 16; −∞ for
            categories without instances.
        """
        return self._scores(self._rows(self._instances(X)), alpha)

    def predict(self, X: Any, alpha: float | None = None) -> Labels:
        """Category of new instances (Law 2017, Eqs. 15 and 16).

        Parameters
        ----------
        X : array-like or sparse array of shape (p, n_features)
            Instances; rows of kernel values if the kernel is precomputed.
        alpha : float, optional
            Without it, the category of the nearest centroid z_c under the metric (Eq. 15). With
            it, the largest of x_tᵀX†j_c − α‖Lᵀz_c‖² (Eq. 16), where the second term makes up
            for the sizes of the categories. The right α depends on n: with every instance
            repeated r times, √r α predicts the same.

        Returns
        -------
        ndarray of shape (p,)
            Columns of Y. Categories without instances are never predicted.

        Raises
        ------
        ValueError
            If X has another number of features, or `alpha` is not a finite number.
        """
        instances = self._instances(X)
        step = max(1, SCORE_ENTRIES // max(self.components_.shape))
        parts = [
            self._scores(self._rows(instances[batch]), alpha).argmax(axis=1)
            for batch in gen_batches(instances.shape[0], step)
        ]
        return np.concatenate(parts)

    def _scores(self, rows: Any, alpha: float | None) -> NDArray[Any]:
        if alpha is None:
            scores = rows @ self._metric_centroids - self._centroid_norms / 2
        else:
            alpha = check_number(alpha, "alpha")
            scores = rows @ self.components_.T - self._centroid_norms * alpha
        scores[:, self.category_count_ == 0] = -np.inf
        return scores

    def _instances(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=FLOATS)

    def _rows(self, instances: Any) -> Any:
        """Return the instances themselves, or their kernel values with the training instances."""
        kernel = self._kernel_function()
        if not callable(kernel):
            return instances
        values = kernel(instances, self._training_instances)
        return check_array(values, dtype=FLOATS, input_name="kernel(X, training instances)")

    def _kernel_function(self) -> Any:
        """Return None for linear, "precomputed", or a function of two matrices."""
        if callable(self.kernel):
            return self.kernel
        named = {"linear": None, "chi2_rbf": chi2_rbf_kernel, "precomputed": "precomputed"}
        if self.kernel not in named:
            raise ValueError(
                f"kernel must be one of {tuple(named)} or callable; got {self.kernel!r}"
            )
        return named[self.kernel]


class _Basis(NamedTuple):
    """Leading singular vectors of X (or of the feature map of a kernel): X ≈ U diag(values) Vᵀ.

    `axes` maps coefficients of the scores U diag(values) to coefficients of the rows: Vᵀ for
    features, diag(1/values) Uᵀ for rows of kernel values.
    """

    U: NDArray[Any]
    values: NDArray[Any]
    axes: NDArray[Any]


def _singular_basis(X: Any, rank: int | None, rtol: float | None) -> _Basis:
    """Thin singular value decomposition of X by way of its triangular factor R.

    S and V are those of R, and U = XV/S: the price of two products with X instead of six.
    X may be sparse; only U is dense. The error of a column of U is that of rounding X, eps
    times S₁/S_i.
    """
    n, d = X.shape
    R = digest(X, csr_array((n, 1))).A
    _, s, Vt = svd(R, full_matrices=False, check_finite=False)
    rounding = max(10 * np.finfo(X.dtype).eps, max(n, d) * np.finfo(np.float64).eps)
    r = _numerical_rank(s, float(rounding), rank, rtol)
    s, Vt = s[:r].astype(X.dtype), Vt[:r].astype(X.dtype)
    return _Basis(X @ (Vt.T / s), s, Vt)


def _kernel_basis(K: NDArray[Any], rank: int | None, rtol: float | None) -> _Basis:
    values, vectors = eigh(K, driver="evd", check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    eps = float(np.finfo(K.dtype).eps)
    if values[-1] < -np.sqrt(eps) * max(values[0], 0.0):
        raise ValueError(
            "kernel: the matrix must be positive semidefinite; its smallest and largest "
            f"eigenvalues are {values[-1]:.3g} and {values[0]:.3g}"
        )
    s = np.sqrt(np.maximum(values, 0))
    r = _numerical_rank(s, np.sqrt(len(K) * eps), rank, rtol)
    U = np.ascontiguousarray(vectors[:, :r])
    return _Basis(U, s[:r], (U / s[:r]).T)


def _numerical_rank(s: NDArray[Any], rounding: float, rank: int | None, rtol: float | None) -> int:
    """Return how many singular values to keep, at least one."""
    cut = max(rounding, rtol or 0.0)
    found = int(np.count_nonzero(s > cut * s[0]))
    if not found:
        raise ValueError(
            f"rtol must be less than 1; got {rtol!r}" if s[0] > 0 else "instances: all are zero"
        )
    return found if rank is None else min(rank, found)


def _kernel_matrix(X: Any, order: NDArray[np.intp], kernel: Any) -> NDArray[Any]:
    """Return the kernel matrix of the training instances, checked and made symmetric."""
    n = X.shape[0]
    if callable(kernel):
        K: Any = check_array(kernel(X, X), dtype=FLOATS, input_name="kernel(X, X)")
    else:
        K = X.toarray() if sp.issparse(X) else X
        if K.shape[1] == n and np.array_equal(np.sort(order), np.arange(n)):
            K = K[:, order]
        else:
            raise ValueError(
                f"kernel: the bags must hold all rows of a square kernel matrix; got {n} instances "
                f"with {K.shape[1]} values each"
            )
    if K.shape != (n, n):
        raise ValueError(f"kernel(X, X) must have shape ({n}, {n}); got {K.shape}")
    asymmetry = np.abs(K - K.T).max()
    if asymmetry > np.sqrt(np.finfo(K.dtype).eps) * np.abs(K).max():
        raise ValueError(
            f"kernel: the matrix must be symmetric; it and its transpose differ by {asymmetry:.3g}"
        )
    return (K + K.T) / 2


def _refuse_vacuous(basis: _Basis, bags: Bags, labels: csr_array) -> None:
    n, r = basis.U.shape
    n_labels = np.diff(labels.indptr)
    if r == n and np.any((bags.sizes > 0) & (n_labels > 0) & (bags.sizes * n_labels > 1)):
        raise ValueError(
            f"rank: the basis has as many directions as there are instances, {n}, so that UUᵀ = I "
            "and the objective (Law 2017, Eq. 11) does not depend on the data; give a smaller "
            "rank, or a larger rtol"
        )


def _check_bags(
    U: ArrayLike, offsets: ArrayLike, Y: Any
) -> tuple[NDArray[Any], NDArray[np.intp], csr_array]:
    """Return instances, bag sizes and candidate labels."""
    rows: Any = check_array(U, dtype=FLOATS, input_name="U")
    sizes = np.diff(check_offsets(offsets, len(rows)))
    return rows, sizes, candidate_labels(Y, len(sizes))


def _descend(U: NDArray[Any], choices: Choices, first: Labels, max_iter: int) -> WeakKMeans:
    """Alternate centroids and assignments until the objective no longer falls."""
    norms = row_norms(U)
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
    U: NDArray[Any], norms: NDArray[np.float64], choices: Choices, assignments: Labels
) -> tuple[NDArray[Any], float]:
    """Centroids of an assignment, and the objective: Σ‖u_j‖² − Σ_c n_c ‖z_c‖²."""
    assigned = assignments >= 0
    counts = np.bincount(assignments[assigned], minlength=choices.k)
    Z = _mean_weights(assignments, counts, U.dtype) @ U
    objective = float(norms[assigned].sum() - counts @ row_norms(Z))
    if choices.reject_costs is not None:
        objective += float(choices.reject_costs[~assigned].sum())
    return Z, objective


def _mean_weights(assignments: Labels, counts: NDArray[np.intp], dtype: Any) -> csr_array:
    """H†, sparse of shape (k, n): the rows of an assigned category average its instances."""
    assigned = np.flatnonzero(assignments >= 0)
    categories = assignments[assigned]
    weights = (1.0 / counts[categories]).astype(dtype)
    shape = (len(counts), len(assignments))
    return csr_array((weights, (categories, assigned)), shape=shape)
