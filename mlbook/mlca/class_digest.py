"""What MLCA keeps of labelled rows: a digest that can be made, merged and solved.

The targets of its least-squares problem are the unscaled assignment matrix Y. Its columns
can be scaled once the class sizes are known, and a class first met late has had zeros so far:
so digests of different rows merge, whichever classes each of them holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from mlbook._arrays import Floats, Integers
from mlbook._validation import (
    FLOATS,
    check_choice,
    check_classes,
    check_integer,
    check_matrix,
    check_number,
    refuse_unlabelled,
)
from mlbook.mlca import least_squares
from mlbook.mlca.dask_rows import is_dask, labelled_blocks
from mlbook.mlca.least_squares import SOLVERS, AnyDigest, Digest, Solution
from mlbook.mlca.row_sample import RowSample
from mlbook.mlca.shrinkage import shrink


@dataclass(frozen=True, eq=False)
class ClassDigest:
    """What MLCA has to know of the rows seen: O(d (d + k)) numbers.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels, increasing.
    counts : ndarray of shape (k,)
        The number of rows of each.
    weights : ndarray of shape (k,)
        How much a row of each counts.
    dtype : dtype
        float32 if all the rows had it, else float64.
    intercept : bool
        Whether a column of ones stands before the features.
    problem : Digest
        The least-squares digest with the unscaled assignment matrix Y as targets; rows of both
        times the roots of their weights.
    sample : RowSample or None
        Some rows of each class, if asked for.

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
    weights: Floats
    dtype: np.dtype[Any]
    intercept: bool
    problem: AnyDigest
    sample: RowSample | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        classes: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        intercept: bool = False,
        solver: str = "auto",
        sample: bool = False,
        min_rows: int = 1,
        beside: ClassDigest | None = None,
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
        class_weight : dict, "balanced" or None, default=None
            How much a row of each class counts: see `class_weights`.
        intercept : bool, default=False
            Put a column of ones before X.
        solver : {"auto", "cholesky", "qr"}, default="auto"
            How rows enter the least-squares problem.
        sample : bool, default=False
            Keep some rows of each class.
        min_rows : int, default=1
            Fewer rows are refused.
        beside : ClassDigest, optional
            What this one is going to be merged with: see `mlbook.mlca.least_squares.digest`.

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
            options = {"classes": classes, "intercept": intercept, "solver": solver}
            return _of_dask(cls, X, y, class_weight, sample=sample, **options)
        rows, labels = _check_rows(X, min_rows), check_classes(y, "y")
        check_consistent_length(rows, labels)
        found, codes = _encode(labels)
        if classes is not None:
            unknown = np.setdiff1d(found, classes)
            if unknown.size:
                raise ValueError(f"y: {unknown.tolist()} not among classes={np.asarray(classes)}")
            declared = np.asarray(classes)
            codes, found = np.searchsorted(declared, found).astype(np.int32)[codes], declared
        n, k = len(codes), len(found)
        counts = np.bincount(codes, minlength=k)
        weights = class_weights(class_weight, found, counts)
        roots = None if class_weight is None else np.sqrt(weights)[codes]
        values = np.ones(n) if roots is None else roots
        starts = np.arange(n + 1, dtype=np.int32 if n < 2**31 - 1 else np.int64)
        Y = sp.csr_array((values, codes, starts), shape=(n, k))
        problem = least_squares.digest(
            rows,
            Y,
            roots=roots,
            intercept=intercept,
            solver=solver,
            beside=None if beside is None else beside.problem,
        )
        kept = RowSample.of(rows, labels) if sample else None
        return cls(found, counts, weights, rows.dtype, intercept, problem, kept)

    @classmethod
    def merge(cls, digests: Sequence[Self]) -> Self:
        """Digest the rows of all the digests together; a class may be missing from some."""
        digests = [d for d in digests if d.counts.any()] or digests[:1]
        if len({d.classes.dtype.kind in "USO" for d in digests}) > 1:
            raise ValueError("y: some blocks of labels are text, others are numbers.")
        kinds = {(d.problem.width - d.intercept, d.intercept) for d in digests}
        if len(kinds) > 1:
            seen = " and ".join(
                f"{width} features with{'' if intercept else 'out'} intercept"
                for width, intercept in sorted(kinds)
            )
            raise ValueError(
                f"Rows of {seen} cannot be merged: n_features and fit_intercept must be the same."
            )
        classes = digests[0].classes
        if not all(np.array_equal(d.classes, classes) for d in digests):
            classes = reduce(np.union1d, (d.classes for d in digests))
        counts = np.zeros(len(classes), dtype=np.int64)
        weights = np.ones(len(classes))
        problems = []
        for d in digests:
            columns: Any = slice(None)
            problem = d.problem
            if len(d.classes) < len(classes):
                columns = np.searchsorted(classes, d.classes)
                problem = d.problem.with_targets(columns, len(classes))
            counts[columns] += d.counts
            weights[columns] = d.weights
            problems.append(problem)
        dtype = np.result_type(*(d.dtype for d in digests))
        problem = reduce(least_squares.merge, problems)
        samples = [d.sample for d in digests if d.sample is not None]
        sample = RowSample.merge(samples) if len(samples) == len(digests) else None
        return cls(classes, counts, weights, dtype, digests[0].intercept, problem, sample)

    def solve(
        self,
        n_components: int | None = None,
        *,
        shrinkage: float = 0.0,
        signs: bool = False,
    ) -> Solution:
        """Regress the rows onto their normalized assignments (Law 2016, Eqs. 15-17).

        In the papers: Law 2016, Eq. 21, with `signs`.

        Parameters
        ----------
        n_components : int, optional
            Keep so many directions of the assignments, those that are fitted best; default:
            all.
        shrinkage : float, default=0.0
            a, see `mlbook.mlca.shrinkage`; above 0 there are d components, the most important
            ones first, and the images of the rows have mean zero with an intercept.
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
        problem = self.problem if shrinkage == 0 else least_squares.dense(self.problem)
        A, B = problem.A, problem.B
        if signs:
            self._require_two_classes()
            B, nothing = B[:, 1:] - B[:, :1], "the rows of the two classes have the same sum"
            B = B / np.sqrt(self.counts.sum())
        else:
            self._require_classes()
            B, nothing = B / np.sqrt(self._masses()), "every class mean is zero"
        d = A.shape[1] - self.intercept
        most = B.shape[1] if shrinkage == 0 else d
        rank = most
        if n_components is not None:
            rank = check_integer(n_components, "n_components", least=1, most=most)
        eps = float(np.finfo(self.dtype).eps)
        with np.errstate(over="ignore", invalid="ignore"):  # found out below
            found = least_squares.solve(Digest(A, B), intercept=self.intercept, eps=eps)
        if np.linalg.norm(found.fitted) <= found.noise:
            raise ValueError(
                f"X: {'all class means are equal' if self.intercept else nothing}, so that the "
                "regression is zero and there is nothing to learn; any metric of full rank is then "
                "optimal (Law 2016, Section 3.2)."
            )
        if shrinkage > 0:
            rows, mean = Digest(A, B), np.zeros(d)
            if self.intercept:
                rows, mean = least_squares.centred(rows)
            found = least_squares.solve(shrink(rows, shrinkage)).leading(rank)
            found = replace(found, intercept=-mean @ found.coef)
        elif rank < most:
            found = found.leading(rank)
        if not np.isfinite(found.coef).all():
            raise ValueError("X: its entries are so small that the metric overflows; rescale X")
        coef, intercept = found.coef.astype(self.dtype), found.intercept.astype(self.dtype)
        return replace(found, coef=coef, intercept=intercept)

    def means(self) -> Floats:
        """Mean row of each class, of shape (k, d); zero for a class without rows."""
        sums = self.problem.B.T @ self.problem.A[:, int(self.intercept) :]
        return sums / self._masses()[:, None]

    def _masses(self) -> Floats:
        """Sum of the weights of the rows of each class, 1 for a class without rows."""
        return np.where(self.counts > 0, self.counts * self.weights, 1.0)

    def _require_classes(self) -> None:
        present = np.count_nonzero(self.counts)
        if present < 2:
            raise ValueError(
                f"y: rows of at least 2 classes are needed, got {present} "
                f"class{'' if present else 'es'}."
            )
        refuse_unlabelled(self.classes)

    def _require_two_classes(self) -> None:
        if len(self.classes) != 2 or not self.counts.all():
            raise ValueError(
                f"y: rows of exactly 2 classes are needed, got {len(self.classes)} class(es) "
                f"{self.classes} with {self.counts} rows."
            )
        refuse_unlabelled(self.classes)


def class_weights(
    class_weight: Mapping[Any, float] | str | None, classes: NDArray[Any], counts: Integers
) -> Floats:
    """Weight of a row of each class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        A dict has the weights, greater than 0, of the classes that do not have weight 1. With
        "balanced" all classes weigh the same, and a row 1 on average.
    classes : ndarray of shape (k,)
        The classes.
    counts : ndarray of shape (k,)
        Number of rows of each.

    Returns
    -------
    ndarray of shape (k,)

    Raises
    ------
    ValueError
        If class_weight is not as described.

    Examples
    --------
    >>> print(class_weights("balanced", np.array(["a", "b"]), np.array([3, 1])).round(3))
    [0.667 2.   ]
    >>> class_weights({"b": 5}, np.array(["a", "b"]), np.array([3, 1]))
    array([1., 5.])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, Mapping):
        given = [class_weight.get(label, 1.0) for label in classes.tolist()]
        return np.array([check_number(w, "class_weight", above=0) for w in given])
    check_choice(class_weight, "class_weight", ("balanced",))
    present = np.maximum(counts, 1)
    return counts.sum() / np.count_nonzero(counts) / present


def _encode(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the classes, increasing, and the number of that of each row.

    Integers of a small range are counted, which takes a tenth of the time of sorting them.
    """
    if labels.dtype.kind in "iu" and labels.size:
        least, most = int(labels.min()), int(labels.max())
        if most - least < max(1000, len(labels)) and max(-least, most) < 2**62:
            shifted = np.subtract(labels, least, dtype=np.int64)
            present = np.bincount(shifted) > 0
            found = (np.flatnonzero(present) + least).astype(labels.dtype)
            if len(found) == len(present):
                return found, shifted.astype(np.int32)
            return found, (np.cumsum(present, dtype=np.int32) - np.int32(1))[shifted]
    found = np.unique(labels)
    return found, np.searchsorted(found, labels).astype(np.int32)


def _of_dask(cls: Any, X: Any, y: Any, class_weight: Any, **options: Any) -> Any:
    """Digest a Dask array or frame block by block and merge by eights, where its scheduler says."""
    import dask

    blocks = list(labelled_blocks(X, y))
    if isinstance(class_weight, str):  # balanced: one more look at the labels
        found = dask.compute([dask.delayed(_count)(labels) for _, labels in blocks])[0]
        classes = reduce(np.union1d, (labels for labels, _ in found))
        counts = sum(np.bincount(np.searchsorted(classes, c), n, len(classes)) for c, n in found)
        weights = class_weights(class_weight, classes, np.asarray(counts))
        class_weight = dict(zip(classes.tolist(), weights.tolist(), strict=True))
    delayed_digest, delayed_merge = dask.delayed(cls.of), dask.delayed(cls.merge)
    parts = [
        delayed_digest(rows, labels, min_rows=0, class_weight=class_weight, **options)
        for rows, labels in blocks
    ]
    while len(parts) > 1:
        parts = [delayed_merge(parts[i : i + 8]) for i in range(0, len(parts), 8)]
    return parts[0].compute()


def _count(labels: Any) -> tuple[NDArray[Any], Integers]:
    return np.unique(check_classes(labels, "y"), return_counts=True)


def _check_rows(X: Any, min_rows: int) -> Any:
    """Return rows of numbers; whether these are finite the least-squares digest finds out."""
    try:
        return check_matrix(
            X,
            accept_sparse="csr",
            dtype=FLOATS,
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
            input_name="X",
            squares=False,  # of the digest, which is smaller
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
