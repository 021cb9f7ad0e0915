"""Bags of instances: storage, Hausdorff distances, citation-kNN, ranking metrics.

A bag is a set of rows, such as the faces found in one photograph, that carries a set of
labels as a whole (Law 2017, Section 2.1). All instances are stacked in one matrix X of shape
(n, d); bag i is ``X[offsets[i]:offsets[i + 1]]``. Labels are a binary matrix Y of shape
(m, k), one row per bag: `candidate_labels` reads it.

Distances between bags and the vote of citation-kNN follow Wang and Zucker (ICML 2000); the
metrics that rank labels are those of Law 2017, Section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.stats import rankdata
from sklearn.metrics import pairwise_distances

from mlbook._arrays import Floats, Integers
from mlbook._metric import is_list_of_sets
from mlbook._validation import (
    FLOATS,
    as_array,
    as_floats,
    check_choice,
    check_features,
    check_integer,
    check_list,
    check_matrix,
    check_readable,
    metric_factor,
)

__all__ = [
    "Bags",
    "average_precision",
    "bag_distances",
    "candidate_labels",
    "check_offsets",
    "citation_knn_scores",
    "coverage",
    "one_error",
]

BLOCK_ENTRIES = 2**22  # instance distances held at a time: 32 MB


class Bags:
    """Instances stacked once, with the offset at which each bag begins.

    The rows are copied only if they must be: to convert integers, to stack a list, or to
    bring the instances of a bag together. Bags without instances are allowed, except in
    `from_frame` and with ids, which cannot name them.

    Parameters
    ----------
    instances : array-like or sparse array of shape (n, d)
        All instances.
    offsets : array-like of m + 1 integers, or of n bag ids
        Either ``[0, ..., n]``, never decreasing: bag i holds the rows from ``offsets[i]`` up to
        ``offsets[i + 1]``. Or the bag of each row: any n integers or strings that are not such
        offsets. Bags then come in increasing order of id, as the rows of Y must.
    bag_ids : array-like of length n, optional
        Instead of `offsets`: bag ids, whatever they look like. (Ids 0 and 2 of two rows look
        like the offsets of one bag; ids without gaps never look like offsets.)

    Attributes
    ----------
    instances : ndarray or csr_array of shape (n, d), float64 or float32
        The instances, those of a bag together.
    offsets : ndarray of shape (m + 1,)
        Where each bag begins, and n.
    order : ndarray of shape (n,)
        Row of the array given at first that each instance is: increasing unless the ids were
        not.
    ids : ndarray of shape (m,)
        Id of each bag; 0 to m − 1 where none were given.
    columns : list of d strings
        Names of the features, where the instances came in data frames that have them; else empty.

    Raises
    ------
    ValueError
        If the instances are not a finite matrix with a row, or the bags do not partition them.

    Examples
    --------
    >>> bags = Bags([[0.0], [1.0], [5.0]], [0, 2, 3])
    >>> len(bags), bags.sizes.tolist(), bags[1].tolist()
    (2, [2, 1], [[5.0]])
    >>> Bags([[0.0], [1.0], [5.0]], ["b", "a", "b"])[1].tolist()
    [[0.0], [5.0]]
    >>> bags[::-1].instances.ravel().tolist()
    [5.0, 0.0, 1.0]
    """

    instances: Any
    offsets: Integers
    order: Integers
    ids: NDArray[Any]
    columns: list[str]

    def __init__(
        self,
        instances: ArrayLike,
        offsets: ArrayLike | None = None,
        *,
        bag_ids: ArrayLike | None = None,
    ) -> None:
        rows, columns = _check_instances(instances), _column_names(instances)
        n = rows.shape[0]
        if (offsets is None) == (bag_ids is None):
            raise ValueError("offsets or bag_ids must be given, and not both")
        name = "offsets" if bag_ids is None else "bag_ids"
        layout = as_array(offsets if bag_ids is None else bag_ids, name)
        if layout.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional; got shape {layout.shape}")
        if layout.dtype.kind not in "biuUSO":
            raise ValueError(f"{name} must hold integers or strings; got dtype {layout.dtype}")
        if bag_ids is None and _is_offsets(layout, n):
            starts = layout.astype(np.intp)
            self._set(rows, starts, np.arange(n), np.arange(len(starts) - 1), columns)
            return
        if len(layout) != n:
            raise ValueError(
                f"{name}: bag sizes do not sum to the number of instances; expected offsets that "
                f"rise from 0 to {n}, or {n} bag ids, got {len(layout)} values {_few(layout)}"
            )
        ids, first, codes = np.unique(layout, return_index=True, return_inverse=True)
        order = np.arange(n)
        if np.any(codes[1:] < codes[:-1]):
            order = np.argsort(codes, kind="stable")
            rows = rows[order]
            first = np.searchsorted(codes[order], np.arange(len(ids)))
        self._set(rows, np.append(first, n), order, ids, columns)

    def _set(
        self,
        instances: Any,
        offsets: Integers,
        order: Integers,
        ids: NDArray[Any],
        columns: Sequence[str] = (),
    ) -> Self:
        self.instances, self.offsets, self.order, self.ids = instances, offsets, order, ids
        self.columns = list(columns)
        return self

    @classmethod
    def from_list(cls, arrays: Iterable[ArrayLike]) -> Self:
        """Stack a list of bags.

        Parameters
        ----------
        arrays : iterable of array-likes, data frames or sparse arrays of shape (n_i, d)
            One per bag; n_i may be 0. Data frames need the same columns in the same order.

        Returns
        -------
        Bags
            The bags, in the order of the list.

        Raises
        ------
        ValueError
            If the list is empty, a bag is not a finite matrix with d columns, or the names of
            the columns differ.

        Examples
        --------
        >>> Bags.from_list([[[0.0, 1.0]], [[2.0, 3.0], [4.0, 5.0]]])
        Bags(2 bags, 3 instances, 2 features)
        """
        return cls._stacked(arrays, "arrays")

    @classmethod
    def _stacked(cls, arrays: Any, name: str) -> Self:
        """Stack a list of bags, called `name` in errors."""
        check_list(arrays, name, "bag")
        if not isinstance(arrays, Iterable) or isinstance(arrays, str | bytes | dict):
            raise ValueError(f"{name} must be a list of matrices; got {arrays!r:.200}")
        arrays = list(arrays)
        names = [_column_names(a) for a in arrays]
        parts: list[Any] = [
            a if sp.issparse(a) else as_array(a, f"{name}[{i}]") for i, a in enumerate(arrays)
        ]
        if not parts:
            raise ValueError(f"{name} must hold at least one bag; got an empty list")
        for i, part in enumerate(parts):
            if part.ndim != 2 or part.shape[1] != parts[0].shape[-1]:
                raise ValueError(
                    f"{name} must hold matrices with the same number of columns; bag 0 has shape "
                    f"{parts[0].shape}, bag {i} has shape {part.shape}"
                )
            if names[i] != names[0]:
                raise ValueError(
                    f"{name} must have the same columns in the same order; bag 0 has {names[0]}, "
                    f"bag {i} has {names[i]}"
                )
        stack = sp.vstack if any(map(sp.issparse, parts)) else np.concatenate
        try:
            rows = _check_instances(stack(parts), name)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold matrices of finite numbers; {error}") from error
        bags = cls(rows, np.cumsum([0, *(part.shape[0] for part in parts)]))
        bags.columns = names[0]
        return bags

    @classmethod
    def from_frame(cls, frame: Any, bag: Any, features: Sequence[Any] | None = None) -> Self:
        """Read a pandas frame with one row per instance.

        Parameters
        ----------
        frame : DataFrame
            The instances.
        bag : column label
            Column with the bag of each row.
        features : sequence of column labels, optional
            Columns to keep; default: all but `bag`.

        Returns
        -------
        Bags
            The bags, in increasing order of id.

        Raises
        ------
        ValueError
            If there is no such column, or as `Bags`.
        """
        if not hasattr(frame, "columns"):
            raise ValueError(f"frame must be a DataFrame; got {type(frame).__name__}")
        columns = [c for c in frame.columns if c != bag] if features is None else features
        if not isinstance(columns, Sequence) or isinstance(columns, str | bytes):
            raise ValueError(f"features must be a list of columns; got {features!r:.200}")
        present = list(frame.columns)
        missing = [c for c in [bag, *columns] if not any(c is p or _equal(c, p) for p in present)]
        if missing:
            raise ValueError(f"frame has no column {missing}; it has {list(frame.columns)}")
        return cls(frame[columns], bag_ids=frame[bag].to_numpy())

    @property
    def sizes(self) -> Integers:
        """Number of instances of each bag, of shape (m,)."""
        return np.diff(self.offsets)

    @property
    def bag_index(self) -> Integers:
        """Position of the bag of each instance, from 0 to m − 1, of shape (n,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def map(self, function: Callable[[Any], Any]) -> Bags:
        """Return the bags of the instances that `function` makes of all instances at once.

        Parameters
        ----------
        function : callable
            Maps the n × d matrix of the instances to one with n rows: a fitted estimator's
            ``transform``, for instance.

        Returns
        -------
        Bags
            The same bags of other rows.

        Examples
        --------
        >>> Bags([[1.0], [2.0], [3.0]], [0, 1, 3]).map(lambda X: 10 * X)[1].tolist()
        [[20.0], [30.0]]
        """
        if not callable(function):
            raise ValueError(f"function must be callable; got {function!r:.200}")
        rows = _check_instances(function(self.instances), "function(instances)")
        offsets = check_offsets(self.offsets, rows.shape[0])
        return object.__new__(Bags)._set(rows, offsets, self.order, self.ids)

    def __len__(self) -> int:
        """Return the number of bags."""
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Any]:
        """Go through the bags, as matrices that share memory with `instances`."""
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        """Return one bag as a matrix (an integer), or some bags as Bags (a slice, mask, list)."""
        if isinstance(index, int | np.integer):
            i = range(len(self))[index]
            return self.instances[self.offsets[i] : self.offsets[i + 1]]
        chosen = np.arange(len(self))[index]
        sizes = self.sizes[chosen]
        offsets = np.append(0, np.cumsum(sizes))
        rows: Any = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        if np.array_equal(chosen, np.arange(len(chosen)) + (chosen[0] if len(chosen) else 0)):
            start = int(rows[0]) if len(rows) else 0
            rows = slice(start, start + len(rows))
        some = object.__new__(type(self))
        ids, order = self.ids[chosen], self.order[rows]
        return some._set(self.instances[rows], offsets, order, ids, self.columns)

    def __repr__(self) -> str:
        """Return the numbers of bags, instances and features."""
        n, d = self.instances.shape
        return f"Bags({len(self)} bags, {n} instances, {d} features)"


def check_offsets(offsets: ArrayLike, n: int) -> Integers:
    """Return the offsets of bags as integers, refusing what does not rise from 0 to n.

    Examples
    --------
    >>> check_offsets([0, 2], 3)
    Traceback (most recent call last):
    ...
    ValueError: offsets: bag sizes do not sum to the number of instances; expected integers that \
rise from 0 to 3, got 2 values [0, 2]
    """
    values, n = as_array(offsets, "offsets"), check_integer(n, "n", least=0)
    if values.ndim != 1 or not _is_offsets(values, n):
        raise ValueError(
            "offsets: bag sizes do not sum to the number of instances; expected integers that rise "
            f"from 0 to {n}, got {values.size} values {_few(values.ravel())}"
        )
    return values.astype(np.intp)


def candidate_labels(Y: Any, n_bags: int) -> csr_array:
    """Candidate labels of bags as a sparse binary matrix (Law 2017, Section 2.1).

    Parameters
    ----------
    Y : array-like or sparse array of shape (n_bags, k)
        1 or True where the category is a candidate for the bag, 0 elsewhere.
    n_bags : int
        Number m of bags.

    Returns
    -------
    csr_array of shape (n_bags, k), bool
        Y, its column indices increasing in every row and no zero stored.

    Raises
    ------
    ValueError
        If Y has another shape or another entry than 0 and 1.

    Examples
    --------
    >>> candidate_labels([[0, 1, 1], [0, 0, 0]], 2).indices.tolist()
    [1, 2]
    """
    n_bags = check_integer(n_bags, "n_bags", least=1)
    try:
        check_readable(Y, "Y")
        matrix = Y if sp.issparse(Y) else np.asarray(Y)
    except ValueError as error:
        raise ValueError(
            "Y must be a matrix of 0 and 1, a row for each bag and a column for each category; got "
            "lists of different lengths. If they name the categories, scikit-learn's "
            "MultiLabelBinarizer().fit_transform(Y) makes the matrix"
        ) from error
    if matrix.ndim != 2 or matrix.shape[0] != n_bags or matrix.shape[1] == 0:
        raise ValueError(f"Y must have one row for each of {n_bags} bags; got shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"Y must hold 0 and 1; got dtype {matrix.dtype}")
    plain = matrix.dtype in (np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64))
    labels = csr_array(matrix if plain else matrix.astype(np.float64), copy=True)
    labels.sum_duplicates()
    labels.eliminate_zeros()
    wrong = labels.data[labels.data != 1]
    if wrong.size:
        raise ValueError(f"Y must hold 0 and 1 only; got {_few(np.unique(wrong))} as well")
    return labels.astype(bool)


def bag_distances(A: Bags, B: Bags, kind: str = "min", metric: Any = "euclidean") -> Floats:
    """Hausdorff distances between all bags of A and all bags of B (Law 2017, Section 4.2).

    In the papers: Law 2016, Eq. 1, and Law 2017, Eq. 1, for the distance of instances.

    With d(e, f) the distance of two instances, the minimal Hausdorff distance of bags E and F
    is the smallest d(e, f); the maximal one is the usual Hausdorff distance, the larger
    of max_e min_f d(e, f) and max_f min_e d(e, f). O(n_A n_B d), with no more than a few
    million instance distances in memory at a time.

    Parameters
    ----------
    A, B : Bags
        The bags, with the same features.
    kind : {"min", "max"}, default="min"
        Minimal or maximal Hausdorff distance.
    metric : str, callable or array-like of shape (d, d), default="euclidean"
        Distance of instances: whatever `sklearn.metrics.pairwise_distances` takes, or a
        symmetric positive semidefinite matrix M, for the distance d_M of Law 2017, Eq. 1.
        (For a metric with many features and few components, rather map the bags:
        ``bags.map(model.transform)``.)

    Returns
    -------
    ndarray of shape (m_A, m_B)
        The distances.

    Raises
    ------
    ValueError
        If a bag is empty, or an argument is not as described.

    Examples
    --------
    >>> A, B = Bags([[0.0], [4.0]], [0, 2]), Bags([[1.0], [9.0]], [0, 1, 2])
    >>> bag_distances(A, B).tolist(), bag_distances(A, B, kind="max").tolist()
    ([[1.0, 5.0]], [[3.0, 9.0]])
    """
    check_choice(kind, "kind", ("min", "max"))
    for name, bags in (("A", A), ("B", B)):
        if not isinstance(bags, Bags):
            raise ValueError(f"{name} must be Bags; got {type(bags).__name__}")
        empty = np.flatnonzero(bags.sizes == 0)
        if empty.size:
            raise ValueError(
                f"{name}: a Hausdorff distance needs an instance in every bag; empty bags: "
                f"{_few(empty)}"
            )
    d = A.instances.shape[1]
    if B.instances.shape[1] != d:
        raise ValueError(f"A and B must have as many features; got {d} and {B.instances.shape[1]}")
    left, right = A.instances, B.instances
    if not isinstance(metric, str) and not callable(metric):
        L = metric_factor(metric, d, "metric")
        left, right, metric = left @ L, right @ L, "euclidean"

    distances = np.empty((len(A), len(B)))
    for first, last in _blocks_of_bags(A, right.shape[0]):
        rows = slice(A.offsets[first], A.offsets[last])
        starts = A.offsets[first:last] - A.offsets[first]
        D = pairwise_distances(left[rows], right, metric=metric)
        nearest_left = np.minimum.reduceat(D, starts, axis=0)
        if kind == "min":
            distances[first:last] = np.minimum.reduceat(nearest_left, B.offsets[:-1], axis=1)
            continue
        nearest_right = np.minimum.reduceat(D, B.offsets[:-1], axis=1)
        np.maximum(
            np.maximum.reduceat(nearest_left, B.offsets[:-1], axis=1),
            np.maximum.reduceat(nearest_right, starts, axis=0),
            out=distances[first:last],
        )
    return distances


def citation_knn_scores(
    query_distances: ArrayLike,
    train_distances: ArrayLike | None,
    Y: Any,
    *,
    n_references: int = 20,
    n_citers: int = 20,
) -> Floats:
    """Votes of references and citers for each label (Wang and Zucker 2000; Law 2017, Section 4.2).

    The references of a query are its r nearest training bags. Its citers are the training bags
    that have the query among their c nearest bags, the other training bags being its rivals.
    Ties are broken by index, the query coming after the training bags.
    O(q m + m²) beside the vote.

    Parameters
    ----------
    query_distances : array-like of shape (q, m)
        Distances between the q queries and the m training bags (`bag_distances`).
    train_distances : array-like of shape (m, m) or None
        Distances between the training bags; the diagonal is not read. With None the rivals of a
        query are the other queries instead: each training bag cites its c nearest queries. So
        the authors' program has it; the votes for a query then depend on which others come
        with it.
    Y : array-like or sparse array of shape (m, k)
        Labels of the training bags, 0 and 1.
    n_references : int, default=20
        r, from 1 to m.
    n_citers : int, default=20
        c, from 1 to m (to q if `train_distances` is None).

    Returns
    -------
    ndarray of shape (q, k)
        The share of voters, references and citers together, that carry the label. A
        bag that is both votes twice.

    Raises
    ------
    ValueError
        If an argument is not as described, or holds NaN.

    Examples
    --------
    >>> to_train = [[1.0, 2.0, 9.0]]
    >>> among = [[0.0, 1.5, 9.0], [1.5, 0.0, 8.0], [9.0, 8.0, 0.0]]
    >>> Y = [[1, 0], [1, 1], [0, 1]]
    >>> citation_knn_scores(to_train, among, Y, n_references=2, n_citers=1)
    array([[1.        , 0.33333333]])
    """
    D: Any = check_matrix(
        query_distances, dtype=FLOATS, input_name="query_distances", squares=False
    )
    q, m = D.shape
    labels = candidate_labels(Y, m)
    r = check_integer(n_references, "n_references", least=1, most=m)
    c = check_integer(n_citers, "n_citers", least=1, most=q if train_distances is None else m)

    voters = np.zeros((q, m))
    np.put_along_axis(voters, np.argsort(D, axis=1, kind="stable")[:, :r], 1.0, axis=1)
    if train_distances is None:
        cited = np.argsort(D, axis=0, kind="stable")[:c]
        np.add.at(voters, (cited, np.arange(m)), 1.0)
    else:
        rivals: Any = check_matrix(
            train_distances,
            dtype=FLOATS,
            input_name="train_distances",
            squares=False,
            copy=True,
        )
        if rivals.shape != (m, m):
            raise ValueError(f"train_distances must have shape ({m}, {m}); got {rivals.shape}")
        np.fill_diagonal(rivals, np.inf)
        voters += np.partition(rivals, c - 1, axis=1)[:, c - 1] > D
    return voters @ labels.astype(np.float64) / voters.sum(axis=1, keepdims=True)


def one_error(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Share of bags whose top-ranked label is wrong (Law 2017, Table 4).

    Tied labels count fairly, as in `coverage` and `average_precision`: the value is the mean over
    all orders of them. Bags without a label are skipped.

    Parameters
    ----------
    y_true : array-like or sparse array of shape (m, k)
        1 where the label is relevant, 0 elsewhere.
    y_score : array-like of shape (m, k)
        Scores, higher for likelier labels; infinities are allowed, NaN is not.

    Returns
    -------
    float
        The one-error, from 0 (best) to 1.

    Raises
    ------
    ValueError
        If the shapes differ, `y_true` is not binary, a score is NaN, or no bag has a label.

    Examples
    --------
    >>> one_error([[1, 0], [0, 1]], [[0.9, 0.1], [0.5, 0.5]])
    0.25
    """
    relevant, scores = _rankings(y_true, y_score)
    right = relevant.mean(axis=1, where=scores == scores.max(axis=1, keepdims=True))
    return float(np.mean(1 - right))


def coverage(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """How far down the ranking one must go to meet all labels of a bag (Law 2017, Table 4).

    The rank of the last relevant label, counted from 0, averaged over the bags that have a
    label. Tied labels count fairly: the value is the mean over all orders of them.

    Parameters
    ----------
    y_true : array-like or sparse array of shape (m, k)
        1 where the label is relevant, 0 elsewhere.
    y_score : array-like of shape (m, k)
        Scores, higher for likelier labels; infinities are allowed, NaN is not.

    Returns
    -------
    float
        The coverage, from the mean number of labels − 1 (best) to k − 1.

    Raises
    ------
    ValueError
        As `one_error`.

    Examples
    --------
    >>> coverage([[1, 0, 0], [1, 0, 1]], [[0.9, 0.1, 0.0], [0.8, 0.5, 0.1]])
    1.0
    """
    relevant, scores = _rankings(y_true, y_score)
    last = np.where(relevant, scores, np.inf).min(axis=1, keepdims=True)
    above, tied = np.sum(scores > last, axis=1), np.sum(scores == last, axis=1)
    right = np.sum(relevant & (scores == last), axis=1)
    # of `right` among `tied` places, drawn at random, the last is right (tied + 1) / (right + 1)
    return float(np.mean(above + right * (tied + 1) / (right + 1) - 1))


def average_precision(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Mean share of relevant labels among those ranked up to each relevant one (Law 2017, Table 4).

    Tied labels count fairly: the value is the mean over all orders of them, from a formula, in
    O(m k log k). Without ties it is ``sklearn.metrics.label_ranking_average_precision_score`` over
    the bags that have a label. (With ties that function gives each of them the last of their ranks,
    a value that depends on how many labels are tied.)

    Parameters
    ----------
    y_true : array-like or sparse array of shape (m, k)
        1 where the label is relevant, 0 elsewhere.
    y_score : array-like of shape (m, k)
        Scores, higher for likelier labels; infinities are allowed, NaN is not.

    Returns
    -------
    float
        The average precision, at most 1 (best).

    Raises
    ------
    ValueError
        As `one_error`.

    Examples
    --------
    >>> average_precision([[1, 0, 1]], [[0.9, 0.5, 0.1]])
    0.8333333333333333
    >>> average_precision([[1, 0]], [[0.5, 0.5]])  # the mean of 1 and 1/2
    0.75
    """
    relevant, scores = _rankings(y_true, y_score)
    k = relevant.shape[1]
    above = rankdata(-scores, "min", axis=1).astype(np.intp) - 1
    upto = rankdata(-scores, "max", axis=1).astype(np.intp)
    ranked = np.take_along_axis(relevant, np.argsort(-scores, axis=1), axis=1)
    counts = np.hstack([np.zeros((len(ranked), 1)), np.cumsum(ranked, axis=1)])
    right_above = np.take_along_axis(counts, above, axis=1)
    right = np.take_along_axis(counts, upto, axis=1) - right_above
    tied = upto - above
    # A relevant label is at each of the tied places equally often. At place p of them (from 1) it
    # has right_above + (p − 1)(right − 1)/(tied − 1) relevant ones before it, on average.
    harmonic = np.append(0, np.cumsum(1 / np.arange(1, k + 1)))
    inverse = np.where(tied > 1, harmonic[upto] - harmonic[above], 1 / (above + 1))  # Σ 1/rank
    slope = (right - 1) / np.maximum(tied - 1, 1)
    precision = ((right_above + 1) * inverse + slope * (tied - (above + 1) * inverse)) / tied
    return float(np.mean(precision.mean(axis=1, where=relevant)))


def _rankings(y_true: Any, y_score: ArrayLike) -> tuple[NDArray[np.bool_], Floats]:
    """Rows with a label, of both matrices, checked."""
    scores = as_floats(y_score, "y_score")
    if scores.ndim != 2 or not len(scores):
        raise ValueError(f"y_score must be a matrix; got shape {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError("y_score must not hold NaN")
    try:
        relevant = candidate_labels(y_true, len(scores)).toarray()
    except ValueError as error:
        raise ValueError(str(error).replace("Y must", "y_true must")) from None
    if relevant.shape != scores.shape:
        raise ValueError(
            f"y_true and y_score must have the same shape; got {relevant.shape} and {scores.shape}"
        )
    labelled = relevant.any(axis=1)
    if not labelled.any():
        raise ValueError("y_true must hold a label for at least one bag; all its rows are zero")
    return relevant[labelled], scores[labelled]


def as_bags(bags: Any, name: str) -> Bags:
    """Return Bags, or a list of matrices as Bags."""
    return bags if isinstance(bags, Bags) else Bags._stacked(bags, name)


def _check_instances(instances: Any, name: str = "instances") -> Any:
    return check_matrix(instances, accept_sparse="csr", dtype=FLOATS, input_name=name)


def _column_names(instances: Any) -> list[str]:
    """Return the names of the columns of a data frame, if all are strings."""
    names = list(getattr(instances, "columns", []))
    return names if all(isinstance(name, str) for name in names) else []


def _equal(one: Any, other: Any) -> bool:
    """Compare names of columns, which may be anything."""
    equal = one == other
    return isinstance(equal, bool | np.bool_) and bool(equal)


def _is_offsets(values: NDArray[Any], n: int) -> bool:
    return bool(
        values.dtype.kind in "iu"
        and len(values) > 1
        and values[0] == 0
        and values[-1] == n
        and np.all(values[1:] >= values[:-1])
    )


def _blocks_of_bags(bags: Bags, n_columns: int) -> Iterator[tuple[int, int]]:
    """Yield runs first..last of bags, with about BLOCK_ENTRIES distances to n_columns instances."""
    rows = max(1, BLOCK_ENTRIES // n_columns)
    first = 0
    while first < len(bags):
        last = int(np.searchsorted(bags.offsets, bags.offsets[first] + rows, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _few(values: NDArray[Any]) -> str:
    shown = ", ".join(str(v) for v in values[:5].tolist())
    return f"[{shown}, ...]" if len(values) > 5 else f"[{shown}]"


def check_instances(model: Any, X: Any) -> Any:
    """Return the instances of X, a matrix or bags, refusing other features than in `fit`."""
    if not isinstance(X, Bags) and not is_list_of_sets(X):
        return check_features(model, X, reset=False, accept_sparse="csr", dtype=FLOATS)
    bags = as_bags(X, "X")
    seen = (model.n_features_in_, list(getattr(model, "feature_names_in_", [])))
    given = (bags.instances.shape[1], bags.columns)
    if seen != given:
        raise ValueError(f"bags have {given} as features, and {seen} in fit")
    return bags.instances
