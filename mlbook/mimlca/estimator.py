"""The estimator MIMLCA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Integers, squared_norms
from mlbook._memory import check_pairs
from mlbook._metric import ManySetsMetric
from mlbook._validation import FLOATS, check_integer, check_matrix, check_number
from mlbook.bags import Bags, as_bags, average_precision, candidate_labels, check_instances
from mlbook.mimlca.assignments import mean_weights, weak_kmeans
from mlbook.mimlca.basis import Basis, assigned_axes, kernel_basis, singular_basis
from mlbook.mimlca.kernels import chi2_rbf_kernel, kernel_matrix
from mlbook.mlca import MLCA

Kernel = Callable[[Any, Any], Any]

SCORE_ENTRIES = 2**24  # scores computed at a time in `predict`


class MIMLCA(ManySetsMetric):
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
        n if any bag leaves a choice, see Notes. Objectives of different ranks cannot be
        compared: choose it by cross-validation of `score` over bags, with `GridSearchCV`.
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
    Memory: n × r numbers beside X, which may be sparse. With a kernel O(n³), and O(n²) memory;
    with `rank` up to n/10 that is a Cholesky factor, n³/3 operations, and about 3 `rank` products
    of the kernel matrix with a vector.

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
        bags = as_bags(bags, "bags")
        labels = candidate_labels(Y, len(bags))
        rank = None if self.rank is None else check_integer(self.rank, "rank", least=1)
        rtol = None if self.rtol is None else check_number(self.rtol, "rtol", least=0)
        kernel = self._kernel_function()
        rows = bags.instances
        if kernel is not None:
            check_pairs(rows.shape[0], "bags", copies=4)
            rows = kernel_matrix(rows, bags.order, kernel)
            basis = kernel_basis(rows, rank, rtol)
        else:
            basis = singular_basis(rows, rank, rtol)
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
        if not categories.size:
            raise ValueError(f"reject={self.reject!r} rejects all instances; raise it")
        if np.count_nonzero(counts) < 2:
            raise ValueError(
                "Y: a metric needs instances of at least 2 categories; all that can be assigned "
                f"are of category {categories[0]}"
            )
        weights = mean_weights(found.assignments, counts, rows.dtype)
        self.components_ = _regression(basis, rows, found.assignments, weights, counts)
        means = weights @ rows
        self.centroids_ = means.toarray() if sp.issparse(means) else means
        if kernel == "precomputed":  # columns as in the matrix given, not as in the bags
            columns = np.argsort(bags.order)
            self.components_ = self.components_[:, columns]
            self.centroids_ = self.centroids_[:, columns]

        self.assignments_ = found.assignments
        self.category_count_ = counts
        self.objective_path_ = found.objective_path
        self.n_iter_ = found.n_iter
        self.rank_ = basis.U.shape[1]
        self.n_features_in_ = bags.instances.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if bags.columns:
            self.feature_names_in_ = np.array(bags.columns, dtype=object)
        self._training_instances = bags.instances.copy() if callable(kernel) else None
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
        X : array-like or sparse array of shape (p, n_features), Bags or list of bags
            Instances, those of bags in the order of ``Bags.instances``; rows of kernel values if
            the kernel is precomputed.

        Returns
        -------
        ndarray of shape (p, k)
            ``X @ components_.T``, or k(X, training instances) in place of X.
        """
        return self._rows(self._instances(X)) @ self.components_.T

    def decision_function(self, X: Any, weight: float | None = None) -> NDArray[Any]:
        """Scores of all categories for each instance (Law 2017, Eqs. 15 and 16).

        In the papers: Law 2017, Eqs. 40, 49 and 50, with a kernel.

        Parameters
        ----------
        X : array-like or sparse array of shape (p, n_features), Bags or list of bags
            Instances, those of bags in the order of ``Bags.instances``; rows of kernel values if
            the kernel is precomputed.
        weight : float, optional
            As for `predict`.

        Returns
        -------
        ndarray of shape (p, k)
            Eq. 15 as xᵀMz_c − z_cᵀMz_c/2, largest for the nearest centroid, or Eq. 16; −∞ for
            categories without instances.
        """
        return self._scores(self._rows(self._instances(X)), weight)

    def predict(self, X: Any, weight: float | None = None) -> Integers:
        """Category of new instances (Law 2017, Eqs. 15 and 16).

        Parameters
        ----------
        X : array-like or sparse array of shape (p, n_features), Bags or list of bags
            Instances, those of bags in the order of ``Bags.instances``; rows of kernel values if
            the kernel is precomputed.
        weight : float, optional
            α. Without it, the category of the nearest centroid z_c under the metric (Eq. 15). With
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
            If X has another number of features, or `weight` is not a finite number.
        """
        instances = self._instances(X)
        step = max(1, SCORE_ENTRIES // max(self.components_.shape))
        parts = [
            self._scores(self._rows(instances[batch]), weight).argmax(axis=1)
            for batch in gen_batches(instances.shape[0], step)
        ]
        return np.concatenate(parts)

    def score(self, bags: Any, Y: Any) -> float:
        """Average precision of the labels of bags, so that cross-validation can choose.

        A bag is as near to a category as its nearest instance is to the centroid, under the
        learned metric; its labels are ranked by these distances.

        Parameters
        ----------
        bags : Bags, or list of array-likes of shape (n_i, n_features)
            Bags, as for `fit`.
        Y : array-like or sparse array of shape (m, k)
            Their labels, 0 and 1.

        Returns
        -------
        float
            `mlbook.bags.average_precision`, at most 1, the best.
        """
        bags = as_bags(bags, "bags")
        labels = candidate_labels(Y, len(bags))
        if not labels.nnz:
            raise ValueError("Y must hold a label for at least one bag; all its rows are zero")
        instances = self._instances(bags)
        if labels.shape[1] != len(self.category_count_):
            raise ValueError(
                f"Y must have a column for each of {len(self.category_count_)} categories, as in "
                f"fit; got {labels.shape[1]}"
            )
        rows = self._rows(instances)
        images = np.asarray(rows @ self.components_.T)
        nearness = 2 * self._scores(rows, None) - squared_norms(images)[:, None]
        best = np.full((len(bags), labels.shape[1]), -np.inf)
        np.maximum.at(best, bags.bag_index, nearness)
        return average_precision(labels, best)

    def _scores(self, rows: Any, weight: float | None) -> NDArray[Any]:
        if weight is None:
            scores = rows @ self._metric_centroids - self._centroid_norms / 2
        else:
            weight = check_number(weight, "weight")
            scores = rows @ self.components_.T - self._centroid_norms * weight
        scores[:, self.category_count_ == 0] = -np.inf
        return scores

    def _instances(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_instances(self, X)

    def _rows(self, instances: Any) -> Any:
        """Return the instances themselves, or their kernel values with the training instances."""
        kernel = self._kernel_function()
        if not callable(kernel):
            return instances
        values = kernel(instances, self._training_instances)
        return check_matrix(
            values, dtype=FLOATS, input_name="kernel(X, training instances)", squares=False
        )

    def _kernel_function(self) -> Any:
        """Return None for linear, "precomputed", or a function of two matrices."""
        if callable(self.kernel):
            return self.kernel
        named = {"linear": None, "chi2_rbf": chi2_rbf_kernel, "precomputed": "precomputed"}
        if not isinstance(self.kernel, str) or self.kernel not in named:
            raise ValueError(
                f"kernel must be one of {tuple(named)} or callable; got {self.kernel!r}"
            )
        return named[self.kernel]


def _regression(
    basis: Basis, rows: Any, assignments: Integers, weights: csr_array, counts: Integers
) -> NDArray[Any]:
    """MLCA on the assigned rows (step 11 of Algorithm 1), in the directions of the basis."""
    assigned = assignments >= 0
    uncut = basis.values is None
    if uncut and basis.U.dtype == np.float64:
        axes = assigned_axes(basis, assigned)
        if axes is not None:
            return np.sqrt(counts)[:, None] * (weights @ basis.U @ axes)
    scores = rows[assigned] if uncut else basis.U[assigned] * basis.values
    mlca = MLCA().partial_fit(scores, assignments[assigned], classes=np.arange(len(counts)))
    return mlca.components_ if uncut else mlca.components_ @ basis.axes


def _refuse_vacuous(basis: Basis, bags: Bags, labels: csr_array) -> None:
    n, r = basis.U.shape
    n_labels = np.diff(labels.indptr)
    if r == n and np.any((bags.sizes > 0) & (n_labels > 0) & (bags.sizes * n_labels > 1)):
        raise ValueError(
            f"rank: the basis has as many directions as there are instances, {n}, so that UUᵀ = I "
            "and the objective (Law 2017, Eq. 11) does not depend on the data; give a smaller "
            "rank, or a larger rtol"
        )
