"""What MLCA keeps of labelled rows: a digest that can be made, merged and solved.

The targets of its least-squares problem are the unscaled assignment matrix Y. Its columns
can be scaled once the class sizes are known, and a class first met late has had zeros so far:
so digests of different rows merge, whichever classes each of them holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mlbook._arrays import Integers
from mlbook._validation import FLOATS, check_choice, check_integer
from mlbook.mlca import least_squares
from mlbook.mlca.least_squares import SOLVERS, Digest, Solution


@dataclass(frozen=True, eq=False)
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
    intercept : bool
        Whether a column of ones stands before the features.
    problem : Digest
        The least-squares digest with the unscaled assignment matrix Y as targets.

    Examples
    --------
    >>> one = ClassDigest.of([[1.0, 0.0], [3.0, 0.0]], ["a", "a"])
    >>> two = ClassDigest.of([[0.0, 2.0]], ["b"])
    >>> both = ClassDigest.merge([one, two])
    >>> both.classes.tolist(), both.counts.tolist()
    (['a', 'b'], [2, 1])
    >>> print(both.solve().coef.round(4) + 0.0)  # X†J
    [[0.2828 0.    ]
     [0.     0.5   ]]
    """

    classes: NDArray[Any]
    counts: Integers
    dtype: np.dtype[Any]
    intercept: bool
    problem: Digest

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        classes: ArrayLike | None = None,
        intercept: bool = False,
        solver: str = "auto",
        min_rows: int = 1,
    ) -> Self:
        """Digest labelled rows; see `mlbook.mlca.least_squares.digest` for the cost.

        Parameters
        ----------
        X : array-like, sparse array, data frame or Dask array of shape (n, d)
            The rows. Those of a Dask array are digested block by block.
        y : array-like or Dask array of shape (n,)
            The class of each row: integers or strings.
        classes : array-like of increasing labels, optional
            All labels there may be; default: those of y.
        intercept : bool, default=False
            Put a column of ones before X.
        solver : {"auto", "cholesky", "qr"}, default="auto"
            How rows enter the least-squares problem.
        min_rows : int, default=1
            Fewer rows are refused.

        Returns
        -------
        ClassDigest

        Raises
        ------
        ValueError
            If an argument is not as described, X is not finite, or the lengths differ.
        """
        check_choice(solver, "solver", SOLVERS)
        if is_dask(X):
            return _of_dask(cls, X, y, classes=classes, intercept=intercept, solver=solver)
        rows, labels = _check_rows(X, min_rows), _check_labels(y)
        check_consistent_length(rows, labels)
        found = np.unique(labels)
        if classes is not None:
            unknown = np.setdiff1d(found, classes)
            if unknown.size:
                raise ValueError(f"y: {unknown.tolist()} not among classes={np.asarray(classes)}")
            found = np.asarray(classes)
        codes = np.searchsorted(found, labels)
        n, k = len(codes), len(found)
        Y = sp.csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, k))
        problem = least_squares.digest(rows, Y, intercept=intercept, solver=solver)
        return cls(found, np.bincount(codes, minlength=k), rows.dtype, intercept, problem)

    @classmethod
    def merge(cls, digests: Sequence[Self]) -> Self:
        """Digest the rows of all the digests together; a class may be missing from some."""
        digests = [d for d in digests if d.counts.any()] or digests[:1]
        if len({d.classes.dtype.kind in "USO" for d in digests}) > 1:
            raise ValueError("y: some blocks of labels are text, others are numbers.")
        kinds = {
            f"{d.problem.A.shape[1] - d.intercept} features with{'' if d.intercept else 'out'} "
            "intercept"
            for d in digests
        }
        if len(kinds) > 1:
            raise ValueError(
                f"Rows of {' and '.join(sorted(kinds))} cannot be merged: n_features and "
                "fit_intercept must be the same."
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
        problem = reduce(least_squares.merge, problems)
        return cls(classes, counts, dtype, digests[0].intercept, problem)

    def solve(self, n_components: int | None = None, *, signs: bool = False) -> Solution:
        """Regress the rows onto their normalized assignments (Law 2016, Eqs. 16-17).

        In the papers: Law 2016, Eq. 21, with `signs`.

        Parameters
        ----------
        n_components : int, optional
            Keep so many directions of the assignments, those that are fitted best; default:
            all.
        signs : bool, default=False
            Regress onto u = s/‖s‖ instead of J, where s is −1 for the first and +1 for the
            second of two classes.

        Returns
        -------
        Solution
            W = X†J or m = X†u, and the intercept, in the precision of the rows.

        Raises
        ------
        ValueError
            If there are fewer than two classes (with `signs`: not exactly two), a class −1
            beside others than +1, more components than classes, or if the regression is zero.
        """
        A, B = self.problem.A, self.problem.B
        if signs:
            self._require_two_classes()
            B, nothing = B[:, 1:] - B[:, :1], "the rows of the two classes have the same sum"
            B = B / np.sqrt(self.counts.sum())
        else:
            self._require_classes()
            B, nothing = B / np.sqrt(np.maximum(1, self.counts)), "every class mean is zero"
        if n_components is not None:
            check_integer(n_components, "n_components", least=1, most=B.shape[1])
        eps = float(np.finfo(self.dtype).eps)
        found = least_squares.solve(Digest(A, B), intercept=self.intercept, eps=eps)
        if np.linalg.norm(found.fitted) <= found.noise:
            raise ValueError(
                f"X: {'all class means are equal' if self.intercept else nothing}, so that the "
                "regression is zero and there is nothing to learn; any metric of full rank is then "
                "optimal (Law 2016, Section 3.2)."
            )
        if n_components not in (None, B.shape[1]):
            found = found.leading(int(n_components))
        coef, intercept = found.coef.astype(self.dtype), found.intercept.astype(self.dtype)
        return replace(found, coef=coef, intercept=intercept)

    def _require_classes(self) -> None:
        present = np.count_nonzero(self.counts)
        if present < 2:
            raise ValueError(
                f"y: rows of at least 2 classes are needed, got {present} "
                f"class{'' if present else 'es'}."
            )
        classes = self.classes
        if classes.dtype.kind in "if" and -1 in classes and not np.array_equal(classes, [-1, 1]):
            raise ValueError(
                f"y: -1 means unlabelled, and the classes are {classes}; drop those rows with "
                "X[y != -1], y[y != -1], or rename the class."
            )

    def _require_two_classes(self) -> None:
        if len(self.classes) != 2 or not self.counts.all():
            raise ValueError(
                f"y: rows of exactly 2 classes are needed, got {len(self.classes)} class(es) "
                f"{self.classes} with {self.counts} rows."
            )


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask array, without importing Dask."""
    return type(X).__module__.startswith("dask.array")


def _of_dask(cls: type[ClassDigest], X: Any, y: Any, **options: Any) -> Any:
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
    delayed_digest, delayed_merge = dask.delayed(cls.of), dask.delayed(cls.merge)
    parts = [
        delayed_digest(rows, block, min_rows=0, **options)
        for rows, block in zip(X.to_delayed().ravel(), labels, strict=True)
    ]
    while len(parts) > 1:
        parts = [delayed_merge(parts[i : i + 8]) for i in range(0, len(parts), 8)]
    return parts[0].compute()


def _check_rows(X: Any, min_rows: int) -> Any:
    """Return rows of numbers; whether these are finite the least-squares digest finds out."""
    try:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=FLOATS,
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
            input_name="X",
        )
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        where = ""
        if hasattr(X, "select_dtypes"):
            text = list(X.select_dtypes(exclude=["number", "bool"]).columns)
            where = f" in the columns {text}"
        raise ValueError(
            f"X must be numbers; got text{where}: leave it out, or encode it, for example with "
            "scikit-learn's OneHotEncoder"
        ) from error


def _check_labels(y: Any) -> NDArray[Any]:
    """Refuse NaN and None among labels, and text beside numbers: these have no order."""
    labels = column_or_1d(np.asarray(y), warn=True)
    if labels.dtype.kind in "biu" or not labels.size:
        return labels
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("Input y contains NaN: drop the rows without a label.")
    if labels.dtype.kind == "O":
        kinds = {"str" if isinstance(label, str) else type(label).__name__ for label in labels}
        if len(kinds) > 1:
            raise ValueError(
                f"y must be all numbers or all strings; got {', '.join(sorted(kinds))}. Drop the "
                "rows without a label (None or NaN)."
            )
    check_classification_targets(labels)
    return labels
