"""Regression onto class indicators, from labelled rows in memory, in chunks, or in Dask.

The targets are the unscaled assignment matrix Y. Its columns can be scaled once the class
sizes are known, and a class first met late has had zeros so far: so digests of
different rows merge, whichever classes each of them holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mlbook._validation import check_choice
from mlbook.mlca.least_squares import SOLVERS, Digest, Solution, digest, merge, solve

FLOATS = (np.float64, np.float32)


@dataclass(frozen=True)
class ClassDigest:
    """What MLCA has to know of the rows seen: O(d (d + k)) numbers.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels, increasing.
    counts : ndarray of shape (k,)
        The number of rows of each.
    dtype : dtype
        float32 if all the rows had it, else float64.
    problem : Digest
        The least-squares digest with the unscaled assignment matrix Y as targets.
    """

    classes: NDArray[Any]
    counts: NDArray[np.int64]
    dtype: np.dtype[Any]
    problem: Digest


def class_digest(
    X: Any, y: Any, *, classes: Any = None, intercept: bool = False, solver: str = "auto"
) -> ClassDigest:
    """Digest labelled rows held in memory; see `mlbook.mlca.least_squares.digest` for the cost."""
    X = check_array(
        X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, ensure_min_samples=0
    )
    y = column_or_1d(y, warn=True)
    if y.dtype.kind not in "biu" and y.size:
        _check_no_label_missing(y)
        check_classification_targets(y)
    check_consistent_length(X, y)
    found = np.unique(y)
    if classes is not None:
        unknown = np.setdiff1d(found, classes)
        if unknown.size:
            raise ValueError(f"y: {unknown.tolist()} not among classes={np.asarray(classes)}")
        found = np.asarray(classes)
    codes = np.searchsorted(found, y)
    n, k = len(codes), len(found)
    Y = sp.csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, k))
    problem = digest(X, Y, intercept=intercept, solver=solver)
    return ClassDigest(found, np.bincount(codes, minlength=k), X.dtype, problem)


def merge_class_digests(digests: Sequence[ClassDigest]) -> ClassDigest:
    """Digest the rows of all the digests together; a class may be missing from some."""
    kinds = {"U" if d.classes.dtype.kind in "USO" else "number" for d in digests if d.counts.any()}
    if len(kinds) > 1:
        raise ValueError("y: some blocks of labels are text, others are numbers.")
    digests = [d for d in digests if d.counts.any()] or digests[:1]
    widths = sorted({d.problem.A.shape[1] for d in digests})
    if len(widths) > 1:
        raise ValueError(
            f"Rows with {widths} columns, counting the intercept's, cannot be merged: n_features "
            "and fit_intercept must be the same."
        )
    classes = reduce(np.union1d, (d.classes for d in digests))
    counts = np.zeros(len(classes), dtype=np.int64)
    problems = []
    for d in digests:
        columns = np.searchsorted(classes, d.classes)
        counts[columns] += d.counts
        B = np.zeros((d.problem.B.shape[0], len(classes)))
        B[:, columns] = d.problem.B
        problems.append(Digest(d.problem.A, B))
    dtype = np.result_type(*(d.dtype for d in digests))
    return ClassDigest(classes, counts, dtype, reduce(merge, problems))


def dask_class_digest(X: Any, y: Any, **options: Any) -> ClassDigest:
    """Digest a Dask array block by block and merge by eights, where its scheduler says."""
    import dask

    if X.ndim != 2:
        raise ValueError(f"X: expected a two-dimensional Dask array, got {X.ndim} dimension(s).")
    X = X.rechunk({1: -1})
    lengths = X.chunks[0]
    if not is_dask(y):
        y = column_or_1d(y, warn=True)
    if not np.isnan([*lengths, *y.shape]).any():
        check_consistent_length(X, y)
        if is_dask(y):
            y = y.rechunk({0: lengths})
    elif not is_dask(y) or y.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            "X, y: with row blocks of unknown length, y must be a Dask array with as many blocks "
            "as X; or call compute_chunk_sizes() first."
        )
    labels = y.to_delayed().ravel() if is_dask(y) else np.split(y, np.cumsum(lengths)[:-1])
    delayed_digest = dask.delayed(class_digest)
    parts = [
        delayed_digest(rows, block, **options)
        for rows, block in zip(X.to_delayed().ravel(), labels, strict=True)
    ]
    while len(parts) > 1:
        parts = [
            dask.delayed(merge_class_digests)(parts[i : i + 8]) for i in range(0, len(parts), 8)
        ]
    return parts[0].compute()


class ClassRegression(BaseEstimator, ABC):
    """Collect a ClassDigest from arrays, chunks or Dask arrays; solve it when asked."""

    solver: str
    fit_intercept: bool
    _nothing_to_learn: str  # what makes the regression zero without intercept

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
        self._replace(self._collect(X, y, None, reset=True), None)
        self._solution  # noqa: B018 (solve now: degenerate data are refused here)
        return self

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
        first = not hasattr(self, "_state")
        given = None if classes is None else np.unique(np.asarray(classes))
        declared = given if first else self._declared
        if given is not None and given.tolist() != np.asarray(declared).tolist():
            raise ValueError(f"classes={given} differs from {declared} of the first partial_fit.")
        new = self._collect(X, y, declared, reset=first)
        self._replace(new if first else merge_class_digests([self._state, new]), declared)
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
        self._replace(merge_class_digests([self._state, other._state]), self._declared)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _collect(self, X: Any, y: Any, classes: Any, reset: bool) -> ClassDigest:
        check_choice(self.solver, "solver", SOLVERS)
        options = {
            "classes": classes,
            "intercept": bool(self.fit_intercept),
            "solver": self.solver,
        }
        if is_dask(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return dask_class_digest(X, y, **options)
        try:
            rows = validate_data(
                self, X, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False
            )
        except ValueError as error:
            if "could not convert string" in str(error):
                raise ValueError(
                    f"X must be numbers; got text{_text_columns(X)}: leave it out, or encode it, "
                    "for example with scikit-learn's OneHotEncoder"
                ) from error
            raise
        return class_digest(rows, np.asarray(y), **options)

    def _replace(self, state: ClassDigest, declared: NDArray[Any] | None) -> None:
        self._state, self._declared = state, declared
        self.classes_, self.class_count_ = state.classes, state.counts
        self.__dict__.pop("_solution", None)

    @cached_property
    def _solution(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Components and intercept, in the precision of the rows."""
        check_is_fitted(self)
        state = self._state
        problem = Digest(state.problem.A, self._targets(state))
        with_intercept = problem.A.shape[1] > self.n_features_in_
        found = solve(problem, intercept=with_intercept, eps=float(np.finfo(state.dtype).eps))
        if np.linalg.norm(found.fitted) <= zero_cosine(state.dtype):
            why = "all class means are equal" if with_intercept else self._nothing_to_learn
            raise ValueError(
                f"X: {why}, so that the regression is zero and there is nothing to learn; any "
                "metric of full rank is then optimal (Law 2016, Section 3.2)."
            )
        coef, intercept = self._finish(found)
        return coef.T.astype(state.dtype), intercept.astype(state.dtype)

    @abstractmethod
    def _targets(self, state: ClassDigest) -> NDArray[np.float64]:
        """B for the targets of the method instead of Y; refuses classes it cannot take."""

    def _finish(self, found: Solution) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return found.coef, found.intercept

    def _project(self, X: Any) -> Any:
        """X @ components.T + intercept, lazily for a Dask array."""
        components, intercept = self._solution
        if is_dask(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=FLOATS)
        return X @ components.T + intercept


def _check_no_label_missing(y: NDArray[Any]) -> None:
    """Refuse NaN and None among labels, and text beside numbers: these have no order."""
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError("Input y contains NaN: drop the rows without a label.")
    if y.dtype.kind == "O":
        kinds = {"str" if isinstance(label, str) else type(label).__name__ for label in y}
        if len(kinds) > 1:
            raise ValueError(
                f"y must be all numbers or all strings; got {', '.join(sorted(kinds))}. Drop the "
                "rows without a label (None or NaN)."
            )


def _text_columns(X: Any) -> str:
    """Name the columns of a data frame that are not of a numeric type."""
    if not hasattr(X, "select_dtypes"):
        return ""
    return f" in the columns {list(X.select_dtypes(exclude=['number', 'bool']).columns)}"


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask array, without importing Dask."""
    return type(X).__module__.startswith("dask.array")


def zero_cosine(dtype: Any) -> float:
    """Cosine below which the class indicators count as orthogonal to the features."""
    return float(np.finfo(dtype).eps ** (2 / 3))
