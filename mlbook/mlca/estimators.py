"""The estimators MLCA and BinaryMLCA.

Each owns a `ClassDigest` of the rows seen. `fit` makes it and solves it; `partial_fit` and
`merge` add to it, and it is solved when the metric is first used.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import svd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, validate_data

from mlbook._arrays import Integers
from mlbook._validation import FLOATS, check_n_clusters
from mlbook.mlca.class_digest import ClassDigest, is_dask
from mlbook.mlca.least_squares import Solution


class ChunkLearner(BaseEstimator):
    """Estimators that learn from a ClassDigest alone: rows may come in chunks."""

    solver: str
    fit_intercept: bool
    _digest: ClassDigest
    _declared: NDArray[Any] | None  # the classes given to the first partial_fit
    _solution: Solution | None = None  # None if rows have come since it was found

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Add rows; the result does not depend on how they are cut into chunks.

        Nothing but O(n_features²) numbers is kept. The metric is solved for when it is
        first used, so chunks may be small, and may hold one class only.

        Parameters
        ----------
        X : array-like, sparse array or Dask array of shape (n, n_features)
            The next rows.
        y : array-like or Dask array of shape (n,)
            Their classes. A label not met before adds a class, unless `classes` was given.
        classes : array-like, optional
            On the first call: all the labels there will be. Later calls may repeat it.

        Returns
        -------
        self
        """
        first = not hasattr(self, "_digest")
        given = None if classes is None else np.unique(np.asarray(classes))
        declared = given if first else self._declared
        if given is not None and given.tolist() != np.asarray(declared).tolist():
            raise ValueError(f"classes={given} differs from {declared} of the first partial_fit.")
        validate_data(self, X, reset=first, skip_check_array=True)
        new = ClassDigest.of(
            X, y, classes=declared, intercept=bool(self.fit_intercept), solver=self.solver
        )
        self._digest = new if first else ClassDigest.merge([self._digest, new])
        self._declared, self._solution = declared, None
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows that another estimator of the same kind has seen.

        Parameters
        ----------
        other : estimator of the same class
            Fitted on other rows with the same features and `fit_intercept`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if type(self) is not type(other):
            raise ValueError(
                f"other must be a {type(self).__name__}, got a {type(other).__name__}."
            )
        self._digest = ClassDigest.merge([self._digest, other._digest])
        self._solution = None
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, increasing."""
        check_is_fitted(self)
        return self._digest.classes

    @property
    def class_count_(self) -> Integers:
        """The number of rows of each class."""
        check_is_fitted(self)
        return self._digest.counts

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_digest")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class MLCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ChunkLearner):
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

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array-like, sparse array or Dask array of shape (n, n_features)
            The rows. Several datasets that share their clusters are concatenated.
        y : array-like or Dask array of shape (n,)
            The class of each row: integers or strings.

        Returns
        -------
        self
        """
        validate_data(self, X, skip_check_array=True)  # number and names of the features
        digest = ClassDigest.of(X, y, intercept=bool(self.fit_intercept), solver=self.solver)
        self._solution = digest.solve(self.n_components)
        self._digest, self._declared = digest, None
        return self

    @property
    def components_(self) -> NDArray[Any]:
        """Wᵀ, of shape (n_components, n_features)."""
        return self._solved().coef.T

    @property
    def intercept_(self) -> NDArray[Any]:
        """The constant that `transform` adds, of shape (n_components,)."""
        return self._solved().intercept

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
        X = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=FLOATS, skip_check_array=is_dask(X)
        )
        return X @ self.components_.T + self.intercept_

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
        Z = np.asarray(self.transform(X))
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

    def _solved(self) -> Solution:
        """Return W and the intercept, solved for if rows have come since."""
        if self._solution is None:
            check_is_fitted(self)
            self._solution = self._digest.solve(self.n_components)
        return self._solution


class BinaryMLCA(ChunkLearner):
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

    def __init__(self, *, solver: str = "auto", fit_intercept: bool = False) -> None:
        self.solver = solver
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array-like, sparse array or Dask array of shape (n, n_features)
            The rows.
        y : array-like or Dask array of shape (n,)
            The class of each row, one of two: integers or strings.

        Returns
        -------
        self
        """
        validate_data(self, X, skip_check_array=True)  # number and names of the features
        digest = ClassDigest.of(X, y, intercept=bool(self.fit_intercept), solver=self.solver)
        self._solution = digest.solve(signs=True)
        self._digest, self._declared = digest, None
        return self

    @property
    def direction_(self) -> NDArray[Any]:
        """The direction m, of shape (n_features,)."""
        return self._solved().coef[:, 0]

    @property
    def intercept_(self) -> float:
        """The constant b that `decision_function` adds."""
        return self._solved().intercept[0]

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
        X = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=FLOATS, skip_check_array=is_dask(X)
        )
        found = self._solved()
        return (X @ found.coef + found.intercept)[:, 0]

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

    def _solved(self) -> Solution:
        """Return m and b, solved for if rows have come since."""
        if self._solution is None:
            check_is_fitted(self)
            self._solution = self._digest.solve(signs=True)
        return self._solution
