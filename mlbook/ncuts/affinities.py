"""Pairs of nearby pixels, and Gaussian affinities on pairs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array, diags_array
from sklearn.utils import gen_batches

from mlbook._arrays import Floats, Integers
from mlbook._validation import as_array, as_vector, check_integer, check_matrix, check_number

__all__ = ["gaussian_affinity", "grid_edges", "squared_differences"]


def grid_edges(height: int, width: int, radius: float = 5.0) -> Integers:
    """Pairs of pixels of an image that lie at most `radius` apart.

    Parameters
    ----------
    height, width : int
        Size of the image. Pixels are numbered from left to right and down.
    radius : float, default=5.0
        Largest distance, in pixels, at least 1.

    Returns
    -------
    ndarray of shape (2, m)
        The pairs, each once, its smaller number above. About 1.57 radius² times the pixels.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> grid_edges(2, 2, radius=1)
    array([[0, 2, 0, 1],
           [1, 3, 2, 3]])
    """
    height = check_integer(height, "height", least=1)
    width = check_integer(width, "width", least=1)
    radius = check_number(radius, "radius", least=1)
    radius = min(radius, float(height + width))  # all pixels
    numbers = np.arange(height * width).reshape(height, width)
    pairs = []
    for down in range(min(int(radius), height - 1) + 1):
        across = min(int(np.sqrt(radius**2 - down**2)), width - 1)
        for right in range(-across if down else 1, across + 1):
            start, stop = max(0, -right), width - max(0, right)
            here = numbers[: height - down, start:stop]
            there = numbers[down:, start + right : stop + right]
            pairs.append(np.stack([here.ravel(), there.ravel()]))
    return np.hstack(pairs) if pairs else np.empty((2, 0), dtype=np.int64)


def squared_differences(X: ArrayLike, edges: ArrayLike) -> Floats:
    """(x_ip − x_jp)² for every pair and feature.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    edges : array-like of shape (2, m)
        Pairs of indices of points.

    Returns
    -------
    ndarray of shape (m, d)

    Raises
    ------
    ValueError
        If X is not finite, or a pair is not two different indices of points.

    Examples
    --------
    >>> squared_differences([[0.0], [3.0], [4.0]], [[0, 1], [1, 2]])
    array([[9.],
           [1.]])
    """
    points: Any = check_matrix(X, dtype=np.float64, input_name="X")
    i, j = check_edges(edges, len(points))
    return (points[i] - points[j]) ** 2


def gaussian_affinity(X: ArrayLike, edges: ArrayLike, b: ArrayLike) -> csr_array:
    """W_ij = exp(−Σ_p b_p (x_ip − x_jp)²) on the given pairs (Lajugie 2014, Eq. 10).

    As there, W_ii = 1: no node is without affinity, however far from all others. O(md)
    operations, O(m) memory.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    edges : array-like of shape (2, m)
        Pairs of indices of points, each once; all other pairs have affinity 0.
    b : array-like of d non-negative numbers
        Weights of the features, the diagonal of the metric B.

    Returns
    -------
    csr_array of shape (n, n)
        W, symmetric.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> W = gaussian_affinity([[0.0], [1.0], [3.0]], [[0, 1], [1, 2]], [1.0])
    >>> print(W.toarray().round(3))
    [[1.    0.368 0.   ]
     [0.368 1.    0.018]
     [0.    0.018 1.   ]]
    """
    points: Any = check_matrix(X, dtype=np.float64, input_name="X")
    pairs = check_edges(edges, len(points))
    scaled = points * np.sqrt(check_weights(b, points.shape[1]))
    affinities = np.empty(pairs.shape[1])
    for some in gen_batches(len(affinities), 2**16) if len(affinities) else ():
        i, j = pairs[:, some]
        affinities[some] = np.exp(-np.sum((scaled[i] - scaled[j]) ** 2, axis=1))
    return symmetric(affinities, pairs, len(points))


def symmetric(affinities: Floats, edges: Integers, n: int) -> csr_array:
    """Sparse matrix with ones on the diagonal and the affinities on both sides of it."""
    upper = coo_array((affinities, (edges[0], edges[1])), shape=(n, n)).tocsr()
    return csr_array(upper + upper.T + diags_array(np.ones(n), format="csr"))


def check_edges(edges: ArrayLike, n: int) -> Integers:
    """Validate pairs of n nodes."""
    pairs = as_array(edges, "edges")
    if pairs.ndim != 2 or len(pairs) != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"edges must be integers of shape (2, m); got shape {pairs.shape} of {pairs.dtype}"
        )
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n or np.any(pairs[0] == pairs[1])):
        raise ValueError(f"edges must join two different nodes, numbered from 0 to {n - 1}")
    return pairs.astype(np.int64, copy=False)


def check_weights(b: ArrayLike, d: int, name: str = "b") -> Floats:
    """Validate weights of d features."""
    return as_vector(b, name, d, least=0)
