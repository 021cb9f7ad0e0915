"""Three metrics of other methods as estimators: they learn from rows, map and cluster them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from mlbook._metric import RowMetric
from mlbook._validation import FLOATS, check_classes, check_features, refuse_unlabelled
from mlbook.baselines.metrics import kissme, lda, rca


class _RowFunction(RowMetric):
    """A metric that is a function of labelled rows."""

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows, dense.
        y : array-like of shape (n,)
            The class of each: at least two classes, integers or strings. As for `MLCA`, −1
            means unlabelled and is refused, unless the classes are −1 and +1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X or y is not as described or not finite, or if the method finds no metric for them.
        """
        rows = check_features(self, X, dtype=FLOATS)
        labels = check_classes(y, "y")
        check_consistent_length(rows, labels)
        classes = np.unique(labels)
        refuse_unlabelled(classes)
        self.components_ = self._learned(rows, labels)
        self.classes_ = classes
        return self

    def _learned(self, X: Any, y: Any) -> NDArray[Any]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RCA(_RowFunction):
    """Relevant component analysis, one chunk per class (Shental et al. 2002).

    M is the inverse of the within-class covariance: see `mlbook.baselines.rca`. Choose it
    when the classes have one shape and new classes are to be found.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        For the k-means of `cluster`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map; the metric is the Euclidean distance after it.
    classes_ : ndarray of shape (n_classes,)
        The labels, increasing.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> X = [[0.0, 0.0], [8.0, 0.0], [1.0, 9.0], [1.0, 5.0]]
    >>> model = RCA(random_state=0).fit(X, ["a", "a", "b", "b"])
    >>> print(model.get_mahalanobis_matrix().round(6) + 0.0)
    [[0.125 0.   ]
     [0.    0.5  ]]
    """

    def _learned(self, X: Any, y: Any) -> NDArray[Any]:
        return rca(X, y)


class KISSME(_RowFunction):
    """Metric of the covariances of similar and of dissimilar pairs (Köstinger et al. 2012).

    M is Σ_S⁻¹ − Σ_D⁻¹ with its negative eigenvalues set to zero: see `mlbook.baselines.kissme`.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        For the k-means of `cluster`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map; the metric is the Euclidean distance after it.
    classes_ : ndarray of shape (n_classes,)
        The labels, increasing.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> X = [[0.0, 0.0], [8.0, 0.0], [0.0, 2.0], [0.0, 9.0], [8.0, 9.0], [0.0, 7.0]]
    >>> print(KISSME().fit(X, [0, 0, 0, 1, 1, 1]).get_mahalanobis_matrix().round(3) + 0.0)
    [[0.    0.   ]
     [0.    0.358]]
    """

    def _learned(self, X: Any, y: Any) -> NDArray[Any]:
        return kissme(X, y)


class LDAMetric(_RowFunction):
    """Linear discriminant analysis as a metric (Fisher 1936, Rao 1948).

    At most k − 1 components for k classes: see `mlbook.baselines.lda`. The directions are those
    of MLCA with an intercept, their lengths are not.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        For the k-means of `cluster`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map; the metric is the Euclidean distance after it.
    classes_ : ndarray of shape (n_classes,)
        The labels, increasing.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> X = [[0.0, 0.0], [4.0, 2.0], [0.0, 8.0], [4.0, 10.0]]
    >>> LDAMetric().fit(X, [0, 0, 1, 1]).components_.shape
    (1, 2)
    """

    def _learned(self, X: Any, y: Any) -> NDArray[Any]:
        return lda(X, y)
