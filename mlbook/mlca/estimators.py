"""The estimators MLCA and BinaryMLCA.

Each owns a `ClassDigest` of the rows seen. `fit` makes it and solves it; `partial_fit` and
`merge` add to it, and it is solved when the metric is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import svd
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import ClassifierTags, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from mlbook._arrays import Floats, Integers
from mlbook._metric import MetricLearner, RowMetric, class_codes
from mlbook._validation import (
    FLOATS,
    check_boolean,
    check_choice,
    check_classes,
    check_features,
    check_matrix,
    check_n_clusters,
    check_number,
    check_readable,
    check_squares,
)
from mlbook.mlca.class_digest import ClassDigest
from mlbook.mlca.dask_rows import feature_header, is_dask, rows_array
from mlbook.mlca.held_out import choose_shrinkage
from mlbook.mlca.least_squares import Solution
from mlbook.partitions import partition_loss

DASK_SAMPLE = 100_000
"""Rows of a Dask array, spread over its blocks, on which `MLCA.cluster` finds the centres."""


class ChunkLearner(MetricLearner):
    """Estimators that learn from a ClassDigest alone: rows may come in chunks."""

    solver: str
    fit_intercept: bool
    class_weight: Any = None
    _digest: ClassDigest
    _declared: NDArray[Any] | None  # the classes given to the first partial_fit
    _solution: Solution | None = None  # None if rows have come since it was found

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from all rows at once.

        Parameters
        ----------
        X : array-like, sparse array, Dask array or frame of shape (n, n_features)
            The rows. Several datasets that share their clusters are concatenated. Dask reads
            its blocks one after the other: those read at one time have to fit in memory.
        y : array-like, Dask array or series of shape (n,)
            The class of each row: integers or strings.

        Returns
        -------
        self
        """
        digest = self._digested(X, y)
        self._solution = self._solve(digest)
        self._digest, self._declared = digest, None
        return self

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Add rows; the result does not depend on how they are cut into chunks.

        Nothing but O(n_features²) numbers is kept. The metric is solved for when it is
        first used, so chunks may be small, and may hold one class only.

        Parameters
        ----------
        X : array-like, sparse array, Dask array or frame of shape (n, n_features)
            The next rows.
        y : array-like, Dask array or series of shape (n,)
            Their classes. A label not met before adds a class, unless `classes` was given.
        classes : array-like, optional
            On the first call: all the labels there will be. Later calls may repeat it.

        Returns
        -------
        self
        """
        self._refuse_balanced("partial_fit")
        first = not hasattr(self, "_digest")
        given = None if classes is None else np.unique(check_classes(classes, "classes"))
        declared = given if first else self._declared
        if given is not None and given.tolist() != np.asarray(declared).tolist():
            raise ValueError(f"classes={given} differs from {declared} of the first partial_fit.")
        new = self._digested(
            X, y, reset=first, classes=declared, beside=None if first else self._digest
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
        self._refuse_balanced("merge")
        here, there = (list(getattr(m, "feature_names_in_", [])) for m in (self, other))
        if here != there:
            raise ValueError(f"other: its features are {there}, those of this model {here}.")
        self._digest = ClassDigest.merge([self._digest, other._digest])
        self._solution = None
        return self

    @property
    def components_(self) -> NDArray[Any]:
        """The map, of shape (n_components, n_features)."""
        return self._solved().coef.T

    def transform(self, X: Any) -> Any:
        """Map rows to the space where Euclidean distance is the learned metric.

        Parameters
        ----------
        X : array-like, sparse array, Dask array or frame of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray or Dask array of shape (n, n_components)
            ``X @ components_.T + intercept_``: an estimate of the assignments that were
            regressed onto. The intercept changes no distance, so neither k-means nor the
            nearest centroid; without it the spectral variant of `MLCA.cluster` would miss the
            direction of the constants.
        """
        found = self._solved()
        return self._by_blocks(X, partial(_affine, found=found), found.coef.shape[1])

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

    def _solve(self, digest: ClassDigest) -> Solution:
        raise NotImplementedError

    def _solved(self) -> Solution:
        """Return the map and the intercept, solved for if rows have come since."""
        if self._solution is None:
            check_is_fitted(self)
            self._solution = self._solve(self._digest)
        return self._solution

    def _digested(
        self,
        X: Any,
        y: Any,
        *,
        reset: bool = True,
        classes: NDArray[Any] | None = None,
        beside: ClassDigest | None = None,
    ) -> ClassDigest:
        """Digest rows whose number and names of features are right, or the first ones."""
        check_readable(X, "X")
        validate_data(self, feature_header(X), reset=reset, skip_check_array=True)
        return ClassDigest.of(
            X,
            y,
            classes=classes,
            class_weight=self.class_weight,
            intercept=check_boolean(self.fit_intercept, "fit_intercept"),
            solver=self.solver,
            sample=str(getattr(self, "shrinkage", 0.0)) == "auto",
            beside=beside,
        )

    def _refuse_balanced(self, method: str) -> None:
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ValueError(
                f"class_weight='balanced' cannot be used with {method}: the weights depend on rows "
                "that have not come yet. Give a dict of weights."
            )

    def _by_blocks(self, X: Any, function: Callable[[Any], Any], width: int | None) -> Any:
        """Apply a function to rows; of a Dask array or frame to each block, when computed.

        The function returns `width` columns, or one entry for each row if None.
        """
        check_is_fitted(self)
        if not is_dask(X):
            options: dict[str, Any] = {"accept_sparse": "csr", "dtype": FLOATS, "squares": False}
            return function(check_features(self, X, reset=False, **options))
        validate_data(self, feature_header(X), reset=False, skip_check_array=True)
        rows = rows_array(X)
        kind = function(np.zeros((1, self.n_features_in_), dtype=rows.dtype)).dtype
        shape = {"chunks": (rows.chunks[0], (width,))} if width else {"drop_axis": 1}
        return rows.map_blocks(_checked, function, dtype=kind, **shape)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_digest")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _checked(block: Any, function: Callable[[Any], Any]) -> Any:
    return function(
        check_matrix(block, dtype=FLOATS, ensure_min_samples=0, input_name="X", squares=False)
    )


class MLCA(ChunkLearner, RowMetric):
    """Metric learning for cluster analysis, in closed form.

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
        order of importance, at most as many as the rank of X (Theorem 3.1). With `shrinkage`
        the default, and the most, is n_features.
    shrinkage : float or "auto", default=0.0
        How far to shrink the scatters towards a multiple of the identity, from 0, Theorem 3.2,
        to 1, the Euclidean metric (see Notes). Use 0 to find the classes of `fit` in new rows,
        0.5 to 0.7 to find classes never seen. "auto" holds out classes of the training
        rows and takes the value under which k-means finds them best: for at least 4 classes,
        better for ten. Units matter above 0: standardize first unless the features share
        them.
    class_weight : dict, "balanced" or None, default=None
        How much a row counts, by class. "balanced": all classes count the same, whatever their
        sizes; try it when sizes differ much (not with `partial_fit` and `merge`).
    solver : {"auto", "cholesky", "qr"}, default="auto"
        How rows enter the least-squares problem. "auto" takes the Cholesky factor of XᵀX
        for blocks of rows that are well conditioned, and Householder reflections, at about
        three times the cost, for those that are not. "cholesky" and "qr" always take the
        one or the other; the error of "cholesky" grows with the square of the condition
        number.
    fit_intercept : bool, default=False
        Learn from [X, 1] instead of X, with the smallest ‖W‖ whatever the intercept. The
        metric is that of centred X; moving the origin of X does not change it. The default is
        the paper's. Take True unless the origin means something, as it does for counts:
        without it the distance of all rows to the origin is a difference to be learned too.
    random_state : int, RandomState or None, default=None
        For the k-means of `cluster`, and for "auto".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Wᵀ, in the precision of X. Solved for at the end of `fit`, or after `partial_fit`
        and `merge` when first used.
    intercept_ : ndarray of shape (n_components,)
        Zero without `fit_intercept`.
    shrinkage_ : float
        The shrinkage, chosen or given.
    shrinkage_scores_ : ndarray of shape (n_splits, n_shrinkages)
        With "auto": the adjusted Rand index of the classes held out, for the values
        `mlbook.mlca.SHRINKAGES`.
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

    Cost, for n rows, d features and k classes: O(n d²) operations where X is well conditioned,
    O(n d (d + k)) where it is not, one read of X, and O(d (d + k)) memory; with n < d, O(n² d)
    and O(n d). The blocks of X are converted to double precision one at a time. So float32 rows
    take as long as float64 ones, two to three times an XᵀX in single precision; that product
    would be no use, its error in W being 6e-8 times the square of the condition number.
    `shrinkage` adds O(d² (d + k)) operations. Where X has dependent columns W is the minimum-
    norm solution, as with a pseudo-inverse. The relative error of W is below 1e-8 for condition
    numbers up to 1e6, whether X is given whole, in chunks or distributed.

    Shrunk by a, the metric is M = S_t'⁻¹ S_b' S_t'⁻¹ with S_t' = (1 − a) S_t + a t_t I and
    S_b' = (1 − a) S_b + a t_b I, t_t and t_b being the mean diagonal entries of the total and
    the between-class scatter. It is Theorem 3.2 again, on rows and pseudo-rows. With k classes,
    M of Theorem 3.2 has rank k at most: directions that tell new classes apart are lost, and
    shrinkage keeps them. The scatters are those of centred rows with `fit_intercept`, and about
    the origin without, which is seldom what one wants. "auto" learns from at most 100 rows of
    each class and 5000 in all, kept during `fit` and `partial_fit`.

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

    _chosen: tuple[float, Floats | None]

    def __init__(
        self,
        *,
        n_components: int | None = None,
        shrinkage: float | str = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str = "auto",
        fit_intercept: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.class_weight = class_weight
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @property
    def intercept_(self) -> NDArray[Any]:
        """The constant that `transform` adds, of shape (n_components,)."""
        return self._solved().intercept

    def predict(self, X: Any) -> Any:
        """Class of new rows: that of the nearest class mean under the learned metric.

        Parameters
        ----------
        X : array-like, sparse array, Dask array or frame of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray or Dask array of shape (n,)
            Entries of `classes_`. A class without rows is never predicted.
        """
        found, seen = self._solved(), self.class_count_ > 0
        nearest = partial(
            _nearest, found=found, centres=self._class_images(), names=self.classes_[seen]
        )
        return self._by_blocks(X, nearest, None)

    def cluster(
        self,
        X: Any,
        n_clusters: int | None = None,
        spectral: bool = False,
        named: bool = False,
    ) -> Any:
        """Partition new rows under the learned metric (Law 2016, Eq. 18).

        Parameters
        ----------
        X : array-like, sparse array, Dask array or frame of shape (n, n_features)
            The rows. Those of a Dask array are never in memory all at once, unless `spectral`:
            then their n × n_components image is. The centres are found on 100,000 rows
            spread over the blocks.
        n_clusters : int, optional
            Default: the number of classes.
        spectral : bool, default=False
            Run k-means on the leading left singular vectors of `transform(X)`, as in the
            paper, rather than on `transform(X)`. Singular values at the level of rounding
            are dropped with their vectors. Where W is square and invertible these vectors
            do not depend on W, only on X: nothing learned is then used.
        named : bool, default=False
            Call each cluster by the class whose mean it is near, no two by the same: the
            matching with the smallest sum of squared distances. Not for more clusters than
            classes.

        Returns
        -------
        ndarray or Dask array of shape (n,)
            Cluster of each row: 0 to n_clusters − 1, in no order, so that cluster 0 need not be
            the first of `classes_`; or entries of `classes_` if `named`.
        """
        spectral, named = check_boolean(spectral, "spectral"), check_boolean(named, "named")
        k = len(self.classes_) if n_clusters is None else n_clusters
        images = self.transform(X)
        if is_dask(images) and not spectral:
            return self._cluster_blocks(images, k, named)
        images = Z = np.asarray(images)
        check_squares(Z, "the image of X")
        k = check_n_clusters(k, len(Z))
        if spectral and Z.any():
            U, s, _ = svd(Z, full_matrices=False)
            Z = U[:, :k][:, s[:k] > np.sqrt(np.finfo(self.components_.dtype).eps) * s[0]]
        labels = KMeans(k, n_init=10, random_state=self.random_state).fit_predict(Z)
        if not named:
            return labels
        centres = [images[labels == c].mean(axis=0) for c in range(k)]
        return self._names(np.array(centres))[labels]

    def _cluster_blocks(self, images: Any, n_clusters: int, named: bool) -> Any:
        """Find centres on some rows of a Dask array; each row then goes to the nearest."""
        sample, weights = _spread_sample(images)
        k = check_n_clusters(n_clusters, len(sample))
        found = KMeans(k, n_init=10, random_state=self.random_state)
        centres = found.fit(sample, sample_weight=weights).cluster_centers_
        names = self._names(centres) if named else np.arange(k, dtype=np.int32)
        nearest = partial(_nearest_centre, centres=centres, names=names)
        return images.map_blocks(nearest, dtype=names.dtype, drop_axis=1)

    def _names(self, centres: Floats) -> NDArray[Any]:
        """Match the images of cluster centres with those of class means, one to one."""
        seen = self.classes_[self.class_count_ > 0]
        if len(centres) > len(seen):
            raise ValueError(
                f"named=True needs a class for each cluster; got n_clusters={len(centres)} and "
                f"{len(seen)} classes."
            )
        distances = euclidean_distances(centres, self._class_images(), squared=True)
        return seen[linear_sum_assignment(distances)[1]]

    def _class_images(self) -> Floats:
        """Images of the class means, of the classes that have rows."""
        found = self._solved()
        return _affine(self._digest.means()[self.class_count_ > 0], found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def shrinkage_(self) -> float:
        """The shrinkage, chosen or given."""
        self._solved()
        return self._chosen[0]

    @property
    def shrinkage_scores_(self) -> Floats | None:
        """Of each split and each of `SHRINKAGES` the index with "auto", else None."""
        self._solved()
        return self._chosen[1]

    def _solve(self, digest: ClassDigest) -> Solution:
        if isinstance(self.shrinkage, str):
            check_choice(self.shrinkage, "shrinkage", ("auto",))
            if digest.sample is None:
                raise ValueError("shrinkage: 'auto' came after the first rows; fit again.")
            self._chosen = choose_shrinkage(
                digest.sample,
                intercept=digest.intercept,
                class_weight=self.class_weight,
                random_state=self.random_state,
            )
        else:
            self._chosen = check_number(self.shrinkage, "shrinkage", least=0, most=1), None
        return digest.solve(self.n_components, shrinkage=self._chosen[0])


def _affine(rows: Any, found: Solution) -> Any:
    return rows @ found.coef + found.intercept


def _nearest(rows: Any, found: Solution, centres: Floats, names: NDArray[Any]) -> NDArray[Any]:
    return _nearest_centre(_affine(rows, found), centres, names)


def _nearest_centre(images: Floats, centres: Floats, names: NDArray[Any]) -> NDArray[Any]:
    return names[pairwise_distances_argmin(images, centres)] if len(images) else names[:0]


def _spread_sample(images: Any) -> tuple[Floats, Floats]:
    """Rows of a Dask array, as many of each block, and how many rows each stands for."""
    import dask

    quota = max(1, DASK_SAMPLE // images.numblocks[0])
    take = dask.delayed(_every)
    parts = dask.compute([take(block, quota) for block in images.to_delayed().ravel()])[0]
    sizes = np.array([len(rows) for rows, _ in parts])
    weights = np.array([n for _, n in parts]) / np.maximum(sizes, 1)
    return np.concatenate([rows for rows, _ in parts]), np.repeat(weights, sizes)


def _every(block: Floats, quota: int) -> tuple[Floats, int]:
    """Up to `quota` rows of a block at equal distances, and the number of its rows."""
    n = len(block)
    return block[np.linspace(0, n, min(n, quota), endpoint=False, dtype=int)], n


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
        X : array-like, sparse array, Dask array or frame of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray or Dask array of shape (n,)
        """
        return self.transform(X)[:, 0]

    def cluster(self, X: Any) -> NDArray[Any]:
        """Partition rows by the sign of the decision function (Law 2016, Eq. 19).

        Without intercept the signs solve that problem exactly, for the learned metric.

        Parameters
        ----------
        X : array-like, sparse array, Dask array or frame of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The label of the class on whose side each row lies: the positive one if
            Xm + b > 0.
        """
        positive = np.asarray(self.decision_function(X)) > 0
        return self.classes_[positive.astype(np.intp)]

    def score(self, X: Any, y: ArrayLike) -> float:
        """Minus the loss of the two clusters of X: ``-partition_loss(cluster(X), y)``.

        Parameters
        ----------
        X : array-like, sparse array, Dask array or frame of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            The class of each.

        Returns
        -------
        float
        """
        truth = class_codes(y)
        found = np.searchsorted(self.classes_, self.cluster(X))
        check_consistent_length(found, truth)
        return -partition_loss(found, truth)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def _solve(self, digest: ClassDigest) -> Solution:
        return digest.solve(signs=True)
