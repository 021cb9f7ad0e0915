"""What the twins of the live figures share: the algorithms of core.js, on NumPy arrays."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from mlbook._arrays import Floats, Integers
from mlbook.partitions import partition_loss

__all__ = ["align", "delta", "eigh", "kmeans", "least_squares", "squared_distances"]


def least_squares(A: Floats, B: Floats, cut: float = 1e-10) -> Floats:
    """Return A†B; singular values below `cut` times the largest count as zero.

    Examples
    --------
    >>> least_squares(np.array([[2.0], [0.0]]), np.array([[6.0], [1.0]]))
    array([[3.]])
    """
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > cut * s[0]
    inverse = np.zeros_like(s)
    inverse[kept] = 1 / s[kept]
    solution: Floats = Vt.T @ (inverse[:, None] * (U.T @ B))
    return solution


def eigh(A: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues, falling, and eigenvectors whose largest entry is positive.

    Examples
    --------
    >>> eigh(np.diag([1.0, 3.0]))[0]
    array([3., 1.])
    """
    values, vectors = np.linalg.eigh(A)
    values, vectors = values[::-1], vectors[:, ::-1].copy()
    for v in vectors.T:
        size = np.abs(v)
        if v[np.argmax(size > size.max() - 1e-9)] < 0:
            v *= -1
    return values, vectors


def squared_distances(A: Floats, B: Floats) -> Floats:
    """Return the squared distances of all rows of A and B.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[25.]])
    """
    squares: Floats = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    return squares


def kmeans(rows: Floats, k: int) -> tuple[Integers, Floats, float]:
    """Cluster without chance: the best of Lloyd's algorithm from 16 starts.

    The rows that begin are those at the multiples of the golden ratio, modulo 1, of the number of
    rows. A later start must be better by 1e-9 of the distortion. A cluster without a row gets the
    one farthest from its own centre.

    Returns
    -------
    labels, centres, distortion

    Examples
    --------
    >>> kmeans(np.array([[0.0], [1.0], [9.0]]), 2)[0]
    array([1, 1, 0])
    """
    best = None
    for start in range(16):
        taken = [int((start * k + j + 1) * 0.6180339887498949 % 1 * len(rows)) for j in range(k)]
        found = _lloyd(rows, rows[taken])
        if best is None or found[2] < best[2] * (1 - 1e-9):
            best = found
    assert best is not None
    return best


def _lloyd(rows: Floats, centres: Floats) -> tuple[Integers, Floats, float]:
    labels = np.full(len(rows), -1)
    for _ in range(100):
        before = labels
        distances = squared_distances(rows, centres)
        labels = distances.argmin(axis=1)
        _fill_empty(labels, distances.min(axis=1), len(centres))
        centres = np.array([rows[labels == c].mean(axis=0) for c in range(len(centres))])
        if np.array_equal(labels, before):
            break
    return labels, centres, float(np.sum((rows - centres[labels]) ** 2))


def _fill_empty(labels: Integers, own: Floats, k: int) -> None:
    """Give each empty cluster the row farthest from its own centre, if that row is not alone."""
    for c in range(k):
        counts = np.bincount(labels, minlength=k)
        if counts[c] == 0:
            i = np.where(counts[labels] == 1, -1, own).argmax()
            labels[i], own[i] = c, 0


def align(labels: ArrayLike, like: ArrayLike, k: int) -> Integers:
    """Rename the clusters 0..k−1 so that as many items as possible have the label of `like`.

    Up to four clusters the first best order of all is taken.

    Examples
    --------
    >>> align([0, 0, 1], [1, 1, 0], 2)
    array([1, 1, 0])
    """
    table = np.zeros((k, k))
    np.add.at(table, (np.asarray(labels), np.asarray(like)), 1)
    if k <= 4:
        names = np.array(max(permutations(range(k)), key=lambda p: table[range(k), p].sum()))
    else:
        names = linear_sum_assignment(-table)[1]
    renamed: Integers = names[np.asarray(labels)]
    return renamed


def delta(a: ArrayLike, b: ArrayLike) -> float:
    """Return Δ of two partitions.

    Examples
    --------
    >>> delta([0, 0, 1, 1], [0, 1, 0, 1])
    2.0
    """
    return partition_loss(a, b)
