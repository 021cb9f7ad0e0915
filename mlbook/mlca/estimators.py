"""The estimators MLCA and BinaryMLCA, and the closed form behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import svd
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils import ClassifierTags, check_array, check_consistent_length

from mlbook._validation import check_integer, check_n_clusters
from mlbook.mlca.class_digest import FLOATS, ClassDigest, ClassRegression, zero_cosine
from mlbook.mlca.least_squares import Solution, digest, solve

__all__ = ["MLCA", "BinaryMLCA", "closed_form_factor", "closed_form_metric"]


def closed_form_metric(X: ArrayLike, factor: ArrayLike, rank: int | None = None) -> NDArray[Any]:
    """Optimal metric for any target matrix C = factor @ factor.T (Law 2016, Theorem 3.1).

    M = X†(P C P)_(r)(X†)ᵀ, where P = XX† projects onto the columns of X and (·)_(r) keeps
    the r = min(rank, rank(PCP)) largest eigenvalues. C itself, n×n, is not formed.

    Parameters
    ----------
    X : array-like or sparse array of shape (n, d)
        The rows.
    factor : array-like or sparse array of shape (n, q)
        Any F with C = FFᵀ: for a partition the normalized assignment matrix J.
    rank : int, optional
        Number k of clusters that relaxed k-means will look for, and the largest rank of M.
        Default: q, for which nothing is cut (Theorem 3.2).

    Returns
    -------
    ndarray of shape (d, d)
        M, symmetric positive semidefinite; only its direction matters, not its scale.

    Raises
    ------
    ValueError
        If the lengths differ, an entry is not finite, `rank` is below 1, or PCP = 0 (then
        every metric of full rank is optimal).

    Notes
    -----
    O(n d (d + q)) operations and O(d (d + q)) memory beside X; see `MLCA` for the accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> C_factor = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> print(closed_form_metric(X, C_factor).round(6) + 0.0)
    [[0.25 0.  ]
     [0.   1.  ]]
    """
    W = closed_form_factor(X, factor, rank)
    return W @ W.T


def closed_form_factor(X: ArrayLike, factor: ArrayLike, rank: int | None = None) -> NDArray[Any]:
    """W of shape (d, r) with WWᵀ = `closed_form_metric(X, factor, rank)`, for large d.

    In the papers: Law 2016, Eqs. 16-17.

    Takes and refuses what `closed_form_metric` does. Without `rank`, W = X† factor.

    Examples
    --------
    >>> import numpy as np
    >>> X, J = np.array([[2.0], [0.0], [1.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> print(closed_form_factor(X, J).round(6) + 0.0)
    [[0.4 0. ]]
    """
    rows: Any = check_array(X, accept_sparse="csr", dtype=FLOATS, input_name="X")
    targets: Any = check_array(factor, accept_sparse="csr", dtype=np.float64, input_name="factor")
    check_consistent_length(rows, targets)
    if rank is not None:
        check_integer(rank, "rank", least=1)
    solution = solve(digest(rows, targets), eps=float(np.finfo(rows.dtype).eps))
    norm = np.linalg.norm(targets.data if sp.issparse(targets) else targets)
    if np.linalg.norm(solution.fitted) <= zero_cosine(rows.dtype) * norm:
        raise ValueError(
            "factor: PCP = 0, the columns of factor are orthogonal to those of X; every metric of "
            "full rank is then optimal (Law 2016, Section 3.2)."
        )
    W = solution.coef
    if rank is not None and rank < W.shape[1]:
        W = W @ _leading_directions(solution.fitted, rank)
    return W.astype(rows.dtype, copy=False)


class MLCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassRegression):
    """Metric learning for cluster analysis (Law 2016, Theorems 3.1 and 3.2).

    In the papers: Law 2016, Eqs. 15-17.

    Learns from labelled rows the metric M = WWᵀ, W = X†J, under which relaxed k-means
    finds the classes. Datasets that are to share one metric, and whose clusters
    correspond, are concatenated (Law 2016, Section 3.3), or passed one by one to
    `partial_fit`, which comes to the same.

    Parameters
    ----------
    n_components : int, optional
        Rank of the metric. Default: the number k of classes, for which the rows of
        `components_` are the regressions onto the k classes (Theorem 3.2). Fewer: the
        optimal metric when relaxed k-means looks for that many clusters, its components in
        order of importance, at most as many as the rank of X (Theorem 3.1).
    solver : {"auto", "cholesky", "qr"}, default="auto"
        How rows enter the least-squares problem. "auto" takes the Cholesky factor of XᵀX
        for blocks of rows that are well conditioned, and Householder reflections, at about
        three times the cost, for those that are not. "cholesky" and "qr" always take the
        one or the other; the error of "cholesky" grows with the square of the condition
        number.
    fit_intercept : bool, default=False
        Learn from [X, 1] instead of X, with the smallest ‖W‖ whatever the intercept. The
        metric is that of centred X; moving the origin of X does not change it.
    random_state : int, RandomState or None, default=None
        For the k-means of `cluster`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Wᵀ, in the precision of X. Solved for at the end of `fit`, or after `partial_fit`
        and `merge` when first used.
    intercept_ : ndarray of shape (n_components,)
        Zero without `fit_intercept`.
    classes_ : ndarray of shape (n_classes,)
        The labels, increasing.
    class_count_ : ndarray of shape (n_classes,)
        The number of rows of each class. A class declared to `partial_fit` and never met
        has a zero row in `components_`.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Labels −1 and +1 are two classes. Beside any other label −1 is refused, since it means
    *unlabelled* in this library: the method needs every row's class, so drop those rows.

    Cost, for n rows, d features and k classes: O(n d²) operations where X is well
    conditioned, O(n d (d + k)) where it is not, one read of X, and O(d (d + k)) memory; with
    n < d, O(n² d) and O(n d). The blocks of X are converted to double precision one at a
    time. So float32 rows take as long as float64 ones, two to three times an XᵀX in single
    precision; that product would be no use, its error in W being 6e-8 times the square of
    the condition number. Where X has dependent columns W is the minimum-norm solution, as with a
    pseudo-inverse. The relative error of W is below 1e-8 for condition numbers up to
    1e6, whether X is given whole, in chunks or distributed.

    References
    ----------
    M. T. Law, Y. Yu, M. Cord, E. P. Xing. Closed-form training of Mahalanobis distance
    for supervised clustering. CVPR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 50)
    >>> X = np.eye(3)[y] + rng.normal(scale=0.1, size=(150, 3))
    >>> noisy = np.hstack([X, rng.normal(scale=5, size=(150, 4))])
    >>> mlca = MLCA(random_state=0).fit(noisy, y)
    >>> mlca.components_.shape
    (3, 7)
    >>> labels = mlca.cluster(noisy)
    >>> from mlbook.partitions import partition_loss
    >>> print(round(partition_loss(labels, y), 6))
    0.0
    """

    _nothing_to_learn = "every class mean is zero"

    def __init__(
        self,
        *,
        n_components: int | None = None,
        solver: str = "auto",
        fit_intercept: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @property
    def components_(self) -> NDArray[Any]:
        """Wᵀ, of shape (n_components, n_features)."""
        return self._solution[0]

    @property
    def intercept_(self) -> NDArray[Any]:
        """The constant that `transform` adds, of shape (n_components,)."""
        return self._solution[1]

    def transform(self, X: Any) -> Any:
        """Map rows to the space where Euclidean distance is the learned metric.

        Parameters
        ----------
        X : array-like, sparse array or Dask array of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray or Dask array of shape (n, n_components)
            ``X @ components_.T + intercept_``: an estimate of J. The intercept changes no
            distance, so neither k-means nor the nearest centroid; without it the spectral
            variant of `cluster` would miss the direction of the constants.
        """
        return self._project(X)

    def get_mahalanobis_matrix(self) -> NDArray[Any]:
        """M as ``components_.T @ components_``, of shape (n_features, n_features)."""
        return self.components_.T @ self.components_

    def cluster(
        self, X: Any, n_clusters: int | None = None, spectral: bool = False
    ) -> NDArray[np.int32]:
        """Partition new rows under the learned metric (Law 2016, Eq. 18).

        Parameters
        ----------
        X : array-like, sparse array or Dask array of shape (n, n_features)
            The rows; only their n × n_components image has to fit in memory.
        n_clusters : int, optional
            Default: the number of classes.
        spectral : bool, default=False
            Run k-means on the leading left singular vectors of `transform(X)`, as in the
            paper, rather than on `transform(X)`. Singular values at the level of rounding
            are dropped with their vectors. Where W is square and invertible these vectors
            do not depend on W, only on X: nothing learned is then used.

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row, 0 to n_clusters − 1, in no order: cluster 0 need not be the
            first of `classes_`.
        """
        Z = np.asarray(self._project(X))
        k = check_n_clusters(len(self.classes_) if n_clusters is None else n_clusters, len(Z))
        if spectral and Z.any():
            U, s, _ = svd(Z, full_matrices=False)
            Z = U[:, :k][:, s[:k] > np.sqrt(np.finfo(self.components_.dtype).eps) * s[0]]
        return KMeans(k, n_init=10, random_state=self.random_state).fit_predict(Z)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def _targets(self, state: ClassDigest) -> NDArray[np.float64]:
        classes = state.classes
        if np.count_nonzero(state.counts) < 2:
            raise ValueError(
                f"y: rows of at least 2 classes are needed, got {np.count_nonzero(state.counts)} "
                f"class{'es' if not state.counts.any() else ''}."
            )
        if classes.dtype.kind in "if" and -1 in classes and not np.array_equal(classes, [-1, 1]):
            raise ValueError(
                f"y: -1 means unlabelled, and the classes are {classes}; drop those rows with "
                "X[y != -1], y[y != -1], or rename the class."
            )
        if self.n_components is not None:
            check_integer(self.n_components, "n_components", least=1, most=len(classes))
        return state.problem.B / np.sqrt(np.maximum(1, state.counts))

    def _finish(self, found: Solution) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.n_components in (None, len(found.intercept)):
            return found.coef, found.intercept
        V = _leading_directions(found.fitted, int(self.n_components))
        return found.coef @ V, found.intercept @ V


class BinaryMLCA(ClassRegression):
    """Two classes, one direction (Law 2016, Eqs. 20-21 and Theorem 4.1).

    With scores s_i = ±1 and u = s/‖s‖, the metric is M = mmᵀ with m = X†u; the sign of
    Xm + b is the partition, without k-means.

    Parameters
    ----------
    solver : {"auto", "cholesky", "qr"}, default="auto"
        As for `MLCA`.
    fit_intercept : bool, default=False
        Learn from [X, 1] instead of X, so that b is not zero. Without it the hyperplane
        passes through the origin: classes of unequal size then need it, and centring X
        does not replace it.

    Attributes
    ----------
    direction_ : ndarray of shape (n_features,)
        m.
    intercept_ : float
        b; zero without `fit_intercept`.
    classes_ : ndarray of shape (2,)
        The negative and the positive label, in increasing order.
    class_count_ : ndarray of shape (2,)
        The number of rows of each.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0, 3.0], [1.0, 3.0], [5.0, 3.0]]), np.array([-1, -1, 1])
    >>> BinaryMLCA(fit_intercept=True).fit(X, y).cluster([[2.0, 3.0], [4.0, 3.0]])
    array([-1,  1])
    """

    _nothing_to_learn = "the rows of the two classes have the same sum"

    def __init__(self, *, solver: str = "auto", fit_intercept: bool = False) -> None:
        self.solver = solver
        self.fit_intercept = fit_intercept

    @property
    def direction_(self) -> NDArray[Any]:
        """The direction m, of shape (n_features,)."""
        return self._solution[0][0]

    @property
    def intercept_(self) -> float:
        """The constant b that `decision_function` adds."""
        return self._solution[1][0]

    def decision_function(self, X: Any) -> Any:
        """Xm + b, an estimate of s/‖s‖, of shape (n,).

        Parameters
        ----------
        X : array-like, sparse array or Dask array of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray or Dask array of shape (n,)
        """
        return self._project(X)[:, 0]

    def cluster(self, X: Any) -> NDArray[Any]:
        """Partition rows by the sign of the decision function (Law 2016, Eq. 19).

        Without intercept the signs solve that problem exactly, for the learned metric.

        Parameters
        ----------
        X : array-like, sparse array or Dask array of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The label of the class on whose side each row lies: the positive one if
            Xm + b > 0.
        """
        positive = np.asarray(self.decision_function(X)) > 0
        return self.classes_[positive.astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def _targets(self, state: ClassDigest) -> NDArray[np.float64]:
        if len(state.classes) != 2 or not state.counts.all():
            raise ValueError(
                f"y: rows of exactly 2 classes are needed, got {len(state.classes)} class(es) "
                f"{state.classes} with {state.counts} rows."
            )
        return (state.problem.B[:, 1:] - state.problem.B[:, :1]) / np.sqrt(state.counts.sum())


def _leading_directions(fitted: NDArray[np.float64], rank: int) -> NDArray[np.float64]:
    """Return the first right singular vectors, the largest entry of each positive."""
    V = svd(fitted, full_matrices=False)[2][:rank].T
    return V * np.sign(V[abs(V).argmax(axis=0), np.arange(V.shape[1])])
