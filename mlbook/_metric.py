"""What metric learners share: the map `components_`, what follows from it, and their input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from mlbook._arrays import Floats, Integers
from mlbook._validation import (
    FLOATS,
    as_array,
    check_classes,
    check_features,
    check_list,
    check_matrix,
    check_n_clusters,
    refuse_unlabelled,
)
from mlbook.partitions import partition_loss


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Estimators that learn a linear map; their metric is the Euclidean distance after it."""

    components_: Any

    def transform(self, X: Any) -> Any:
        """Map rows to the space where Euclidean distance is the learned metric.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_components)
            ``X @ components_.T``.
        """
        check_is_fitted(self)
        rows = check_features(self, X, reset=False, accept_sparse="csr", dtype=FLOATS)
        return rows @ self.components_.T

    def get_mahalanobis_matrix(self) -> NDArray[Any]:
        """M as ``components_.T @ components_``, of shape (n_features, n_features)."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]


class RowMetric(MetricLearner):
    """Metric learners that `fit` labelled rows: they cluster new ones by k-means."""

    classes_: Any
    random_state: Any

    def cluster(self, X: Any, n_clusters: int | None = None) -> NDArray[np.int32]:
        """Partition new rows by k-means under the learned metric.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            The rows.
        n_clusters : int, optional
            Default: the number of classes.

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row, 0 to n_clusters − 1, in no order.
        """
        images = self.transform(X)
        k = len(self.classes_) if n_clusters is None else n_clusters
        k = check_n_clusters(k, len(images))
        return KMeans(k, n_init=10, random_state=self.random_state).fit_predict(images)

    def score(self, X: Any, y: ArrayLike) -> float:
        """Minus the loss of the clusters of X, so that cross-validation can choose.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            Rows. Their classes need not be those seen in `fit`.
        y : array-like of shape (n,)
            The class of each. X is cut into as many clusters as there are classes in y.

        Returns
        -------
        float
            ``-partition_loss(cluster(X, n_clusters), y)``: 0 if the clusters are the classes.
        """
        truth = class_codes(y)
        images = self.transform(X)
        check_consistent_length(images, truth)
        k = check_n_clusters(int(truth.max()) + 1, len(truth))
        return -partition_loss(np.asarray(self.cluster(X, k)), truth)


class ManySetsMetric(MetricLearner):
    """Metric learners that `fit` many sets, and `transform` the rows of one: no `fit_transform`."""


# set here, as scikit-learn would wrap a method of the class body into one that is always there
ManySetsMetric.fit_transform = available_if(lambda _: False)(TransformerMixin.fit_transform)


class SetMetric(ManySetsMetric):
    """Metric learners that `fit` a list of sets with their partitions, and partition new sets."""

    def predict(self, X: Any) -> Any:
        raise NotImplementedError

    def score(self, Xs: Sequence[Any], ys: Sequence[ArrayLike]) -> float:
        """Minus the mean loss of the partitions found, so that cross-validation can choose.

        Parameters
        ----------
        Xs : list
            Sets, as for `fit`.
        ys : list of array-like
            Their partitions. Points marked −1, of unknown cluster, do not count.

        Returns
        -------
        float
            Minus the mean of ``partition_loss(predict(X), y)``: 0 if all are found. An estimator
            that has to be told the number of clusters is told that of y.
        """
        check_lists(Xs, ys)
        truths = [check_truth(y, f"ys[{i}]") for i, y in enumerate(ys)]
        found = []
        for i, (X, truth) in enumerate(zip(Xs, truths, strict=True)):
            try:
                found.append(self._found(X, truth))
            except ValueError as error:
                raise ValueError(f"Xs[{i}]: {error}") from error
            if found[i].shape != truth.shape:
                raise ValueError(
                    f"ys[{i}] must have shape {found[i].shape}, as Xs[{i}] has; got {truth.shape}"
                )
        return -mean_loss(found, truths)

    def _found(self, X: Any, y: Any) -> Any:
        """Partition X without a look at y, unless the number of clusters is wanted."""
        return self.predict(X)


def class_codes(y: ArrayLike) -> Integers:
    """Return classes, numbers or strings, as 0, 1, ...; negative numbers are refused.

    But −1 and +1 may be the names of two classes.
    """
    classes, codes = np.unique(check_classes(y, "y"), return_inverse=True)
    refuse_unlabelled(classes)
    if classes.dtype.kind in "if" and (classes < -1).any():
        raise ValueError(f"y must hold no numbers below -1; got {classes[0]}")
    return codes


def count_clusters(y: ArrayLike) -> int:
    """Return the number of clusters of a partition; −1, for unknown, is none."""
    return len(np.setdiff1d(y, [-1]))


def check_truth(y: Any, name: str) -> NDArray[Any]:
    """Return the right partition of a set of any shape: integers from −1."""
    truth = as_array(y, name)
    if truth.dtype.kind not in "biu" or not truth.size or truth.min() < -1:
        raise ValueError(f"{name} must hold integers, -1 for unknown; got {y!r:.200}")
    return truth


def mean_loss(found: Iterable[Any], ys: Sequence[ArrayLike]) -> float:
    """Mean loss of partitions against the right ones, on the points whose cluster is known.

    Examples
    --------
    >>> mean_loss([np.array([0, 0, 1])], [np.array([5, 5, -1])])
    0.0
    """
    losses = []
    for labels, truth in zip(found, map(np.asarray, ys), strict=True):
        known = truth != -1
        if known.any():
            losses.append(partition_loss(labels[known], truth[known]))
    if not losses:
        raise ValueError("ys must have labels; all are unknown (-1)")
    return float(np.mean(losses))


def check_lists(Xs: Any, ys: Any) -> None:
    """Refuse what are not two lists of the same length, at least 1."""
    check_list(Xs, "Xs", "set")
    for value, name in ((Xs, "Xs"), (ys, "ys")):
        if isinstance(value, str) or not hasattr(value, "__len__"):
            raise ValueError(f"{name} must be a list with an entry for each set; got {value!r}")
    if len(Xs) != len(ys) or not len(Xs):
        raise ValueError(
            f"Xs and ys must be lists of the same length, at least 1; got {len(Xs)} and {len(ys)}"
        )


def check_set(
    model: Any, X: Any, name: str, *, reset: bool, dtype: Any = np.float64, min_rows: int = 1
) -> Floats:
    """Return the rows of one set as numbers, refusing other features than those seen first.

    Number and names of the features are noted if `reset`, else compared. Frames and arrays give
    the same numbers in the same order in memory, hence the same rounding.
    """
    rows: Any = check_matrix(
        X, dtype=dtype, order="C", input_name=name, ensure_min_samples=min_rows
    )
    try:
        validate_data(
            model, X if hasattr(X, "columns") else rows, reset=reset, skip_check_array=True
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return rows


def check_sets(model: Any, Xs: Sequence[Any], **options: Any) -> list[Floats]:
    """Return the rows of all sets; number and names of the features are those of the first."""
    return [check_set(model, X, f"Xs[{i}]", reset=i == 0, **options) for i, X in enumerate(Xs)]


def is_list_of_sets(X: Any) -> bool:
    """Tell a list of matrices from one matrix, which may be a list of rows."""
    return isinstance(X, list | tuple) and bool(len(X)) and np.ndim(X[0]) == 2
