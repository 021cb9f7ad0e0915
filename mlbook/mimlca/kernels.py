"""Kernels of instances: the one of the paper, and the checks of any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from mlbook._arrays import Integers
from mlbook._validation import FLOATS, check_matrix

TILE = 512  # rows and columns compared with their transpose at a time: 2 MB, which a cache holds


def chi2_rbf_kernel(A: ArrayLike, B: ArrayLike) -> NDArray[Any]:
    """exp(−D²) with D² = Σ_i (a_i − b_i)²/(a_i + b_i), rows scaled to sum 1 (Law 2017, p. 7).

    Parameters
    ----------
    A, B : array-likes of shape (n, d) and (p, d)
        Histograms: no negative entry, no zero row.

    Returns
    -------
    ndarray of shape (n, p)
        The kernel matrix.

    Raises
    ------
    ValueError
        If an entry is negative or a row is zero.

    Examples
    --------
    >>> print(chi2_rbf_kernel([[1.0, 1.0]], [[2.0, 2.0], [3.0, 0.0]]).round(4))
    [[1.     0.5134]]
    """
    normalized = []
    for name, X in (("A", A), ("B", B)):
        rows: Any = check_matrix(X, dtype=FLOATS, input_name=name)
        if rows.min() < 0:
            raise ValueError(f"{name}: the chi-squared kernel needs entries ≥ 0; got {rows.min()}")
        zero = np.flatnonzero(~rows.any(axis=1))
        if zero.size:
            raise ValueError(f"{name}: the chi-squared kernel needs nonzero rows; row {zero[0]} is")
        normalized.append(normalize(rows, norm="l1"))
    return chi2_kernel(*normalized)


def _values(kernel: Any, A: Any, B: Any) -> Any:
    """Return kernel(A, B); an error of a function that is no kernel names it."""
    try:
        return kernel(A, B)
    except (TypeError, AttributeError) as error:
        raise ValueError(f"kernel must take two matrices; {kernel!r} said: {error}") from error


def kernel_matrix(X: Any, order: Integers, kernel: Any) -> NDArray[Any]:
    """Return the kernel matrix of the training instances, checked and made symmetric.

    What is symmetric to the last digit is not copied. O(n²).
    """
    n = X.shape[0]
    if callable(kernel):
        K: Any = check_matrix(
            _values(kernel, X, X), dtype=FLOATS, input_name="kernel(X, X)", squares=False
        )
    else:
        K = X.toarray() if sp.issparse(X) else X
        if K.shape[1] != n or not np.array_equal(np.sort(order), np.arange(n)):
            raise ValueError(
                f"kernel: the bags must hold all rows of a square kernel matrix; got {n} instances "
                f"with {K.shape[1]} values each"
            )
        if np.any(order[1:] < order[:-1]):
            K = K[:, order]
    if K.shape != (n, n):
        raise ValueError(f"kernel(X, X) must have shape ({n}, {n}); got {K.shape}")
    parts = list(gen_batches(n, TILE))
    tiles = [(a, b) for i, a in enumerate(parts) for b in parts[i:]]
    asymmetry = max(np.abs(K[a, b] - K[b, a].T).max() for a, b in tiles)
    if asymmetry > np.sqrt(np.finfo(K.dtype).eps) * max(K.max(), -K.min()):
        raise ValueError(
            f"kernel: the matrix must be symmetric; it and its transpose differ by {asymmetry:.3g}"
        )
    if asymmetry:
        K = K.copy()
        for a, b in tiles:
            K[a, b] = (K[a, b] + K[b, a].T) / 2
            K[b, a] = K[a, b].T
    return K
