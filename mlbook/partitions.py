r"""Partitions as labels, as an assignment matrix, as a projector; losses between them.

A partition of n points into k clusters is written in three ways:

- labels, an integer array of length n;
- the assignment matrix Y of shape (n, k), with Y[i, c] = 1 when point i is in cluster c,
  or its normalized form J = Y(YᵀY)^(−1/2), whose columns are orthonormal;
- the partition matrix C = YY† = JJᵀ, an orthogonal projector: C[i, j] is 1/n_c when
  points i and j share cluster c, of size n_c, and 0 otherwise.

All losses are sums over the nonzero cells of the contingency table. With n_ij points in
cluster i of one partition and j of the other, and a_i, b_j the sizes of these clusters,

.. math::
    \#\{\text{ordered pairs they disagree on}\} &= \sum_{ij} n_{ij} (a_i + b_j - 2 n_{ij}), \\
    \|C_a - C_b\|_F^2 &= \sum_{ij} \frac{n_{ij} (a_i + b_j - 2 n_{ij})}{a_i b_j},

so the loss of Law 2016 and Lajugie 2014 is the Rand loss with each term divided by the
sizes of its two clusters. No term is negative, so neither sum suffers cancellation.

Labels are non-negative integers (or booleans), in any order and with gaps. Negative
values, which mean *no cluster* here and in scikit-learn, are refused: drop those points
from both first.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from mlbook._validation import as_array, as_floats, check_number

Integers = NDArray[np.integer]

__all__ = [
    "assignment_matrix",
    "contingency",
    "equivalence_matrix",
    "f_measure",
    "hausdorff_distance",
    "labels_from_matrix",
    "normalized_assignment",
    "partition_loss",
    "rand_loss",
]


def assignment_matrix(labels: ArrayLike, classes: ArrayLike | None = None) -> csr_array:
    """Build the assignment matrix Y: one row per point, one column per cluster.

    It is the Y of Law 2016, Eq. 2. O(n) time and memory when the labels are below n,
    O(n log n) time otherwise.

    Parameters
    ----------
    labels : array-like of n non-negative integers
        Cluster of each point.
    classes : array-like of increasing integers, optional
        The labels that get a column. A class without a point gets an empty column.
        Default: the labels that occur.

    Returns
    -------
    csr_array of shape (n, k), float64
        Y. Columns follow increasing label values.

    Raises
    ------
    ValueError
        If the labels are not a non-empty one-dimensional array of non-negative integers,
        or one of them is not among `classes`.

    Examples
    --------
    >>> print(assignment_matrix([7, 3, 7]).toarray())
    [[0. 1.]
     [1. 0.]
     [0. 1.]]
    """
    codes, k = encode(labels, "labels")
    if classes is not None:
        present = np.unique(np.asarray(labels))
        columns = as_array(classes, "classes")
        encode(columns, "classes")
        if np.any(columns[1:] <= columns[:-1]):
            raise ValueError(f"classes must be increasing; got {columns}")
        missing = np.setdiff1d(present, columns)
        if missing.size:
            raise ValueError(f"labels must be among classes; got {missing[:5]} as well")
        codes, k = np.searchsorted(columns, present)[codes], len(columns)
    n = len(codes)
    return csr_array((np.ones(n), codes.copy(), np.arange(n + 1)), shape=(n, k))


def normalized_assignment(labels: ArrayLike, classes: ArrayLike | None = None) -> csr_array:
    """Build the normalized assignment J = Y(YᵀY)^(−1/2), so that C = JJᵀ (Law 2016, Section 3.3).

    Column c is divided by √max(1, n_c): the columns of occupied classes are orthonormal,
    those of empty classes are zero. O(n) like `assignment_matrix`.

    Parameters
    ----------
    labels : array-like of n non-negative integers
        Cluster of each point.
    classes : array-like of increasing integers, optional
        The labels that get a column; default: those that occur.

    Returns
    -------
    csr_array of shape (n, k), float64
        J.

    Raises
    ------
    ValueError
        As `assignment_matrix`.

    Examples
    --------
    >>> J = normalized_assignment([0, 0, 1])
    >>> print((J.T @ J).toarray().round(12))
    [[1. 0.]
     [0. 1.]]
    """
    J = assignment_matrix(labels, classes)
    sizes = np.bincount(J.indices)
    J.data /= np.sqrt(sizes)[J.indices]
    return J


def equivalence_matrix(labels: ArrayLike) -> NDArray[np.float64]:
    """Partition matrix C = YY†, dense (Law 2016, Eqs. 5-6; Lajugie 2014, Section 2.2).

    Every quantity of this book that is written with C is computed without it. This
    function serves to look at C and to check the others. O(n²) time and memory.

    Parameters
    ----------
    labels : array-like of n non-negative integers
        Cluster of each point.

    Returns
    -------
    ndarray of shape (n, n)
        C.

    Raises
    ------
    ValueError
        If the labels are not a non-empty one-dimensional array of non-negative integers.

    Examples
    --------
    >>> print(equivalence_matrix([0, 1, 0]))
    [[0.5 0.  0.5]
     [0.  1.  0. ]
     [0.5 0.  0.5]]
    """
    codes, _ = encode(labels, "labels")
    return np.where(codes[:, None] == codes, 1 / np.bincount(codes)[codes], 0.0)


def labels_from_matrix(C: ArrayLike, *, atol: float = 1e-8) -> Integers:
    r"""Labels of a partition matrix: the inverse of `equivalence_matrix`.

    C is a partition matrix exactly when it is (1) symmetric, (2) idempotent,
    (3) entrywise non-negative and (4) has rows that sum to 1. Law 2016 (below Eq. 7)
    states it without (4); then vvᵀ with v = (1, 2)/√5 would pass. O(n³) for C².

    Why the four suffice: let m = Cᵢⱼ be the largest entry. Since Cᵢⱼ = Σₗ Cᵢₗ Cₗⱼ averages
    column j with the weights of row i, it can be m only if (*) Cₗⱼ = m wherever Cᵢₗ > 0;
    for l = j this gives Cⱼⱼ = m. Let S be the set of all l with Cₗⱼ = m. By (*), applied to
    any i in S, row i is zero outside S. Row j is m on S and sums to 1, so m = 1/\|S\|; the
    entries of the other rows of S are at most m and sum to 1 too, so they equal m. Hence S
    is a cluster, and it splits off; repeat on the rest.

    Parameters
    ----------
    C : array-like of shape (n, n)
        Matrix to read.
    atol : float, default=1e-8
        Largest violation of the four conditions that is taken for rounding.

    Returns
    -------
    ndarray of n integers
        Labels 0, 1, ... in order of first appearance.

    Raises
    ------
    ValueError
        If C is not a finite square matrix or violates one of the conditions, which is named.

    Examples
    --------
    >>> print(labels_from_matrix([[0.5, 0, 0.5], [0, 1, 0], [0.5, 0, 0.5]]))
    [0 1 0]
    """
    C = as_floats(C, "C")
    atol = check_number(atol, "atol", least=0)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or C.size == 0:
        raise ValueError(f"C must be a square matrix; got shape {C.shape}")
    if not np.isfinite(C).all():
        raise ValueError("C must be finite; got NaN or infinity")
    violations = {
        "be symmetric": np.abs(C - C.T).max(),
        "be idempotent (CC = C)": np.abs(C @ C - C).max(),
        "be non-negative": -C.min(),
        "have row sums 1": np.abs(C.sum(axis=1) - 1).max(),
    }
    for condition, violation in violations.items():
        if violation > atol:
            raise ValueError(
                f"C must {condition} to be a partition matrix; it is off by {violation:.3g}"
            )
    first_neighbour = (0.5 / len(C) < C).argmax(axis=1)  # a positive entry is at least 1/n
    return np.unique(first_neighbour, return_inverse=True)[1]


def contingency(a: ArrayLike, b: ArrayLike) -> csr_array:
    """Contingency table of two labelings: cell (i, j) counts the points in both clusters.

    It is Y_aᵀ Y_b. At most n of its cells are not zero, and only those are stored: the
    table of two labelings with a million clusters each takes no more memory than the
    labels. O(n) when the labels are below n, O(n log n) otherwise.

    Parameters
    ----------
    a, b : array-like of n non-negative integers
        Two labelings of the same points.

    Returns
    -------
    csr_array of shape (k_a, k_b), int64
        Counts; rows and columns follow increasing label values.

    Raises
    ------
    ValueError
        If labels are not a non-empty one-dimensional array of non-negative integers,
        or the two differ in length.

    Examples
    --------
    >>> print(contingency([0, 0, 1, 1], [5, 5, 5, 9]).toarray())
    [[2 0]
     [1 1]]
    """
    return csr_array(_table(a, b))


def partition_loss(a: ArrayLike, b: ArrayLike) -> float:
    """Δ(a, b) = ‖C_a − C_b‖²_F, n times the loss of Lajugie 2014, Eq. 8.

    It is the Δ of Law 2016, Eq. 10, and equals k_a + k_b − 2 Σ n_ij²/(a_i b_j). It is 0 for equal
    partitions, however labelled, and at most k_a + k_b − 2. √Δ is a metric on partitions. O(n)
    like `contingency`; the matrices are never formed.

    Parameters
    ----------
    a, b : array-like of n non-negative integers
        Two labelings of the same points.

    Returns
    -------
    float
        The loss, computed without cancellation.

    Raises
    ------
    ValueError
        As `contingency`.

    Examples
    --------
    >>> partition_loss([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> partition_loss([0, 0, 1, 1], [0, 1, 0, 1])
    2.0
    """
    n_ij, a_i, b_j = _cells(a, b)
    return float(np.sum(n_ij * (a_i + b_j - 2 * n_ij) / (a_i * b_j)))


def rand_loss(a: ArrayLike, b: ArrayLike) -> float:
    """Share of the pairs of points on which two partitions disagree: 1 − Rand index.

    Lajugie 2014, Section 3.1. Two points agree when both partitions put them together or
    both apart. Counted in integers and divided once. O(n) like `contingency`.

    Parameters
    ----------
    a, b : array-like of n non-negative integers
        Two labelings of the same points.

    Returns
    -------
    float
        Loss in [0, 1]; 0 for a single point, which has no pair to disagree on.

    Raises
    ------
    ValueError
        As `contingency`.

    Examples
    --------
    >>> rand_loss([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    """
    n_ij, a_i, b_j = _cells(a, b)
    n = int(n_ij.sum())
    disagreements = int(np.sum(n_ij * (a_i + b_j - 2 * n_ij)))
    return disagreements / max(1, n * (n - 1))


def f_measure(a: ArrayLike, b: ArrayLike) -> float:
    """F-measure over pairs of points that share a cluster.

    Let partition a put p_a pairs together, b p_b pairs, and both p of them. When a is the
    truth, p/p_b is the precision and p/p_a the recall; their harmonic mean is
    F = 2p/(p_a + p_b), the same whichever of the two is the truth. Komodakis 2011 (Fig. 2)
    reports an F-measure without defining it; this is the usual one for clusterings.
    O(n) like `contingency`.

    Parameters
    ----------
    a, b : array-like of n non-negative integers
        Two labelings of the same points.

    Returns
    -------
    float
        F in [0, 1]; 1 for equal partitions, also when all clusters are single points and
        no pair is together in either.

    Raises
    ------
    ValueError
        As `contingency`.

    Examples
    --------
    >>> f_measure([0, 0, 1, 1], [0, 0, 0, 1])
    0.4
    """
    n_ij, a_i, b_j = _cells(a, b)
    together = int(np.sum(n_ij * (n_ij - 1)))
    total = int(np.sum(n_ij * (a_i - 1))) + int(np.sum(n_ij * (b_j - 1)))
    return 2 * together / total if total else 1.0


def hausdorff_distance(a: ArrayLike, b: ArrayLike) -> float:
    """Hausdorff distance between the frontiers of two segmentations (Lajugie 2014, Section 3.1).

    The points are in sequential order and the clusters are runs of consecutive points. The
    frontier of a segmentation is the set of indices (from 0) at which a segment other than
    the first begins, divided by n. The distance is the largest gap between a frontier
    element of one segmentation and the nearest one of the other; multiply by n for a number
    of points. O(n).

    Parameters
    ----------
    a, b : array-like of n non-negative integers
        Two labelings of the same sequence, each label filling one run.

    Returns
    -------
    float
        Distance in [0, 1); 0 when both consist of a single segment.

    Raises
    ------
    ValueError
        If a label fills more than one run, if exactly one of the two is a single segment
        (its frontier is empty and the distance is undefined), or as `contingency`.

    Examples
    --------
    >>> hausdorff_distance([0, 0, 0, 1, 1], [0, 1, 1, 1, 1])
    0.4
    """
    frontier_a, n = _frontier(a, "a")
    frontier_b, n_b = _frontier(b, "b")
    if n != n_b:
        raise ValueError(f"a and b must label the same points; got {n} and {n_b} labels")
    if not frontier_a.size and not frontier_b.size:
        return 0.0
    if not frontier_a.size or not frontier_b.size:
        single = "b" if frontier_a.size else "a"
        raise ValueError(
            f"{single} must have at least two segments when the other has: "
            "the distance to an empty frontier is undefined"
        )
    return max(_farthest(frontier_a, frontier_b), _farthest(frontier_b, frontier_a)) / n


def encode(labels: ArrayLike, name: str) -> tuple[Integers, int]:
    """Renumber labels as 0..k−1 in increasing order of value; return them and k."""
    array = as_array(labels, name)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a one-dimensional array with at least one label; "
            f"got shape {array.shape}"
        )
    if array.dtype.kind not in "biu":
        raise ValueError(
            f"{name} must hold integers or booleans; got dtype {array.dtype}. Other labels are "
            f"numbered by np.unique({name}, return_inverse=True)[1]"
        )
    if array.min() < 0:
        raise ValueError(
            f"{name} must be non-negative; got {array.min()}. Negative labels mark points "
            "without a cluster (-1: unknown): drop these points first"
        )
    if array.max() > len(array):  # a table over all values would be larger than the labels
        values, codes = np.unique(array, return_inverse=True)
        return codes, len(values)
    codes = array.astype(np.intp, copy=False)
    used = np.bincount(codes) > 0
    if not used.all():
        codes = (np.cumsum(used) - 1)[codes]
    return codes, int(used.sum())


def _cells(a: ArrayLike, b: ArrayLike) -> tuple[Integers, Integers, Integers]:
    """Nonzero cells n_ij of the contingency table, with the sizes a_i and b_j of each."""
    table = _table(a, b)
    sizes_a, sizes_b = table.sum(axis=1), table.sum(axis=0)
    if isinstance(table, np.ndarray):
        i, j = table.nonzero()
        return table[i, j], sizes_a[i], sizes_b[j]
    cells = table.tocoo()
    return cells.data, sizes_a[cells.row], sizes_b[cells.col]


def _table(a: ArrayLike, b: ArrayLike) -> Integers | csr_array:
    """Contingency table: dense if it has at most as many cells as there are points."""
    codes_a, k_a = encode(a, "a")
    codes_b, k_b = encode(b, "b")
    n = len(codes_a)
    if len(codes_b) != n:
        raise ValueError(f"a and b must label the same points; got {n} and {len(codes_b)} labels")
    if k_a * k_b <= n:
        cells = np.bincount(codes_a * k_b + codes_b, minlength=k_a * k_b)
        return cells.reshape(k_a, k_b).astype(np.int64, copy=False)
    ones = np.ones(n, dtype=np.int64)
    return coo_array((ones, (codes_a, codes_b)), shape=(k_a, k_b)).tocsr()


def _frontier(labels: ArrayLike, name: str) -> tuple[Integers, int]:
    """Return the indices at which a new segment begins, and the number of points."""
    codes, k = encode(labels, name)
    frontier = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    if len(frontier) != k - 1:
        raise ValueError(
            f"{name} must be contiguous, one run of consecutive points per label; "
            f"got {len(frontier) + 1} runs of {k} labels"
        )
    return frontier, len(codes)


def _farthest(points: Integers, targets: Integers) -> int:
    """Return the largest distance from a point to its nearest target; `targets` is sorted."""
    right = np.searchsorted(targets, points).clip(max=len(targets) - 1)
    left = (right - 1).clip(min=0)
    nearest = np.minimum(abs(targets[left] - points), abs(targets[right] - points))
    return int(nearest.max())
