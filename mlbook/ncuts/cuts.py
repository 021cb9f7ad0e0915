"""Normalized cuts of a graph: the value of a partition, a bound, and a good partition."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_matrix, check_n_clusters
from mlbook.ncuts.eigenvectors import drop_negligible, embedding
from mlbook.partitions import assignment_matrix

__all__ = ["normalized_cut", "normalized_cut_bound", "normalized_cut_value"]

RESTARTS = 10  # of k-means


def normalized_cut_value(W: ArrayLike, labels: ArrayLike) -> float:
    """Σ_c cut(c) / vol(c), the normalized cut of a partition, from 0 to k.

    In the papers: Lajugie 2014, Section 5.1.

    O(nnz(W)).

    Parameters
    ----------
    W : array-like or sparse array of shape (n, n)
        Symmetric affinities, not negative, each row with a positive sum.
    labels : array-like of n non-negative integers
        Part of each node.

    Returns
    -------
    float
        The value.

    Raises
    ------
    ValueError
        If an input is not as described, or the lengths of W and labels differ.

    Examples
    --------
    >>> W = [[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    >>> normalized_cut_value(W, [0, 0, 1])  # 1 of 5, and 1 of 1
    1.2
    """
    affinities = _check_affinities(W)
    Y = assignment_matrix(labels)
    if Y.shape[0] != affinities.shape[0]:
        raise ValueError(
            f"labels must have one entry per row of W; got {Y.shape[0]} labels for "
            f"{affinities.shape[0]} rows"
        )
    between = Y.T @ (affinities @ Y if issparse(affinities) else csr_array(affinities) @ Y)
    between = between.toarray()
    volumes = between.sum(axis=1)
    np.fill_diagonal(between, 0)
    return float(np.sum(between.sum(axis=1) / volumes))


def normalized_cut_bound(
    W: ArrayLike, n_clusters: int, *, random_state: int | np.random.RandomState | None = None
) -> float:
    """Lower bound on the normalized cut of every partition into k parts.

    In the papers: Lajugie 2014, Section 5.1, relaxed.

    k less the sum of the k largest eigenvalues of W̃: no projector of rank k has a smaller value
    (Bach and Jordan 2004). O(n³) up to 300 nodes; beyond, Lanczos iterations of O(nnz(W)), and
    the eigenvalues are accurate to 1e-7.

    Parameters
    ----------
    W : array-like or sparse array of shape (n, n)
        Symmetric affinities, not negative, each row with a positive sum.
    n_clusters : int
        Number k of parts, from 1 to n.
    random_state : int, RandomState instance or None, default=None
        Start of the iterations.

    Returns
    -------
    float
        The bound; 0 if W has k or more connected components, as there is then such a cut, or has
        them to within 1e-12 of all degrees.

    Raises
    ------
    ValueError
        If an input is not as described.
    RuntimeError
        If the eigenvalues are not found; it says what to change.

    Examples
    --------
    >>> W = [[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    >>> round(normalized_cut_bound(W, 2), 6)  # every cut of these three nodes has 1.2 or more
    1.0
    """
    affinities = _check_affinities(W)
    k = check_n_clusters(n_clusters, affinities.shape[0])
    values, _ = embedding(drop_negligible(affinities), k, check_random_state(random_state))
    return max(0.0, k - float(values.sum()))


def normalized_cut(
    W: ArrayLike, n_clusters: int, *, random_state: int | np.random.RandomState | None = None
) -> Integers:
    """Cut a graph into k parts of small normalized cut (Shi and Malik 2000).

    The relaxation is solved, then rounded. Two parts: the nodes are ordered by the second
    eigenvector over √degree, and of the n − 1 places to cut that order the best is taken. More
    parts: k-means, weighted by the degrees, of the rows of the k leading eigenvectors over
    √degree, which finds the M̃ nearest to the relaxed one (Bach and Jordan 2004). A graph that
    falls into k or more components needs no eigenvectors: putting whole components together,
    the largest first and each with the least so far, cuts nothing. Components are those that are
    left without affinities that no node would miss: 1e-12 of its degree at most.

    Parameters
    ----------
    W : array-like or sparse array of shape (n, n)
        Symmetric affinities, not negative, each row with a positive sum.
    n_clusters : int
        Number k of parts, from 1 to n.
    random_state : int, RandomState instance or None, default=None
        Start of the iterations for eigenvectors, and restarts.

    Returns
    -------
    ndarray of shape (n,)
        Part of each node, numbered from 0 in order of appearance.

    Raises
    ------
    ValueError
        If an input is not as described.
    RuntimeError
        If the eigenvectors are not found; it says what to change.

    Notes
    -----
    O(n³) up to 300 nodes; beyond, Lanczos iterations of O(nnz(W)), some hundreds for an image. On
    graphs that are nearly in pieces these may not end. Then a sparse matrix is factorized instead:
    for an image of n pixels, O(n²) operations and O(n^1.5) numbers, times powers of the radius.

    Examples
    --------
    >>> W = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    >>> normalized_cut(W, 2)
    array([0, 0, 0, 1, 1, 1])
    """
    affinities = drop_negligible(_check_affinities(W))
    k = check_n_clusters(n_clusters, affinities.shape[0])
    rng = check_random_state(random_state)
    degrees = affinities.sum(axis=1)
    n_components, component = connected_components(affinities, directed=False)
    if n_components >= k:
        volumes = np.bincount(component, degrees).astype(np.float64)
        labels = _group(volumes, k)[component]
    else:
        _, U = embedding(affinities, k, rng)
        rows = U / np.sqrt(degrees)[:, None]
        if k == 2:
            labels = _best_threshold(affinities, degrees, rows[:, 1])
        else:
            rounding = KMeans(k, n_init=RESTARTS, random_state=rng)
            labels = rounding.fit_predict(rows, sample_weight=degrees)
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int64)


def _best_threshold(W: csr_array, degrees: Floats, score: Floats) -> NDArray[np.intp]:
    """Cut the order of the scores where the normalized cut is smallest; O(nnz(W) + n log n)."""
    n = len(score)
    order = np.argsort(score, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    entries = coo_array(W)
    first, last = rank[entries.row], rank[entries.col]
    once = first < last
    opened = np.bincount(first[once], entries.data[once], n)
    closed = np.bincount(last[once], entries.data[once], n)
    cut = np.cumsum(opened - closed)[:-1]
    volume = np.cumsum(degrees[order])
    value = cut / volume[:-1] + cut / (volume[-1] - volume[:-1])
    return (rank > value.argmin()).astype(np.intp)


def _group(volumes: Floats, k: int) -> NDArray[np.intp]:
    """Put components into k groups, the largest first, each to the least group so far."""
    group = np.empty(len(volumes), dtype=np.intp)
    total = np.zeros(k)
    for component in np.argsort(-volumes, kind="stable"):
        group[component] = total.argmin()
        total[group[component]] += volumes[component]
    return group


def _check_affinities(W: ArrayLike) -> Any:
    matrix: Any = check_matrix(
        W, accept_sparse="csr", dtype=np.float64, input_name="W", squares=False
    )
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"W must be square; got shape {matrix.shape}")
    if matrix.min() < 0:
        raise ValueError(f"W must not be negative; its smallest entry is {matrix.min():g}")
    asymmetry = abs(matrix - matrix.T).max()
    if asymmetry > 1e-10 * matrix.max():
        raise ValueError(f"W must be symmetric; W and its transpose differ by {asymmetry:.3g}")
    empty = np.flatnonzero(np.asarray(matrix.sum(axis=1)).ravel() == 0)
    if len(empty):
        raise ValueError(f"W must have a positive sum in every row; row {empty[0]} has none")
    return matrix
