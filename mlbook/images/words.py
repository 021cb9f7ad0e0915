"""Histograms over an image and its parts, and the χ² distance of histograms."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array
from sklearn.metrics.pairwise import additive_chi2_kernel

from mlbook._arrays import Floats
from mlbook._optional import jit
from mlbook._validation import as_array, check_integer, check_integer_labels, check_matrix


def word_pyramid(words: ArrayLike, n_words: int, *, levels: Sequence[int] = (1, 2, 4)) -> Floats:
    """Share of each word, in the whole image and in its parts (Lazebnik et al. 2006).

    Parameters
    ----------
    words : array-like of shape (rows, columns)
        Index of the word at each point of a grid.
    n_words : int
        Size of the codebook.
    levels : sequence of int, default=(1, 2, 4)
        For each level c the grid is cut into c × c cells, as even as can be.

    Returns
    -------
    ndarray of shape (n_words · Σ c²,)
        Histograms, level by level, cell by cell; those of each level have sum 1.

    Raises
    ------
    ValueError
        If an argument is not as described, or the grid has fewer rows or columns than a level.

    Examples
    --------
    >>> word_pyramid([[0, 1], [1, 1]], 2, levels=(1, 2))
    array([0.25, 0.75, 0.25, 0.  , 0.  , 0.25, 0.  , 0.25, 0.  , 0.25])
    """
    grid: Any = as_array(words, "words")
    n_words = check_integer(n_words, "n_words", least=1)
    cells = check_integer_labels(levels, "levels", least=1).tolist()
    if grid.ndim != 2 or min(grid.shape) < max(cells):
        raise ValueError(
            f"words must be a grid of as many rows and columns as the largest of levels; got shape "
            f"{grid.shape} and {cells}"
        )
    grid = check_integer_labels(grid.ravel(), "words", least=0).reshape(grid.shape)
    if grid.max() >= n_words:
        raise ValueError(f"words must be below n_words={n_words}; got {grid.max()}")
    found = []
    for level in cells:
        row, column = (np.arange(side) * level // side for side in grid.shape)
        cell = row[:, None] * level + column
        counts = np.bincount((cell * n_words + grid).ravel(), minlength=level**2 * n_words)
        found.append(counts / grid.size)
    return np.concatenate(found)


def chi2_distances(X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
    """χ² distances Σ_i (x_i − y_i)² / (x_i + y_i) of histograms, where 0/0 is 0.

    As (x − y)² / (x + y) = x + y − 4 x y / (x + y), only those i count besides the sums of x and
    y in which neither is 0. With numba the distances of histograms of which a share s is not 0
    take O(n m d s²); without it scikit-learn's additive χ² kernel takes O(n m d).

    Parameters
    ----------
    X : array-like of shape (n, d)
        Histograms; not negative.
    Y : array-like of shape (m, d), optional
        Default: X.

    Returns
    -------
    ndarray of shape (n, m)
        The distances.

    Raises
    ------
    ValueError
        If an entry is negative or not finite, or the widths differ.

    Examples
    --------
    >>> chi2_distances([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    array([[0.        , 0.66666667],
           [0.66666667, 0.        ]])
    """
    first: Any = check_matrix(X, dtype=np.float64, input_name="X")
    second: Any = first if Y is None else check_matrix(Y, dtype=np.float64, input_name="Y")
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"X and Y must have the same columns; got {first.shape}, {second.shape}")
    least = min(first.min(), second.min())
    if least < 0:
        raise ValueError(f"the chi2 distance needs entries that are not negative; got {least:g}")
    compiled = load()
    if compiled is None:
        return np.asarray(-additive_chi2_kernel(first, second))
    rows, columns = csr_array(first), csc_array(second)
    common = np.zeros((len(first), len(second)))
    compiled(
        rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices, columns.data, common
    )
    found = first.sum(axis=1)[:, None] + second.sum(axis=1) - 4 * common
    return np.asarray(np.maximum(found, 0))


@cache
def load() -> Callable[..., None] | None:
    """Return `common_parts` compiled, or None where numba is not installed."""
    compile = jit()
    return None if compile is None else compile(cache=True, nogil=True)(common_parts)


def common_parts(
    starts: NDArray[Any],
    features: NDArray[Any],
    values: Floats,
    other_starts: NDArray[Any],
    others: NDArray[Any],
    other_values: Floats,
    found: Floats,
) -> None:
    """Add Σ_i x_i y_i / (x_i + y_i) to `found`: x by rows (CSR), y by columns (CSC)."""
    for p in range(len(starts) - 1):
        for k in range(starts[p], starts[p + 1]):
            i, x = features[k], values[k]
            for j in range(other_starts[i], other_starts[i + 1]):
                y = other_values[j]
                found[p, others[j]] += x * y / (x + y)
