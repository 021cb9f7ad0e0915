"""The leading singular directions of the instances, in which MIMLCA works."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd

from mlbook.mlca.least_squares import triangle


class Basis(NamedTuple):
    """Leading singular vectors of X (or of the feature map of a kernel): X ≈ U diag(values) Vᵀ.

    `axes` maps coefficients of the scores U diag(values) to coefficients of the rows: Vᵀ for
    features, diag(1/values) Uᵀ for rows of kernel values.
    """

    U: NDArray[Any]
    values: NDArray[Any]
    axes: NDArray[Any]


def singular_basis(X: Any, rank: int | None, rtol: float | None) -> Basis:
    """Thin singular value decomposition of X by way of its triangular factor R.

    S and V are those of R, and U = XV/S: the price of two products with X instead of six.
    X may be sparse; only U is dense. The error of a column of U is that of rounding X, eps
    times S₁/S_i.
    """
    n, d = X.shape
    _, s, Vt = svd(triangle(X), full_matrices=False, check_finite=False)
    rounding = max(10 * np.finfo(X.dtype).eps, max(n, d) * np.finfo(np.float64).eps)
    r = _numerical_rank(s, float(rounding), rank, rtol)
    s, Vt = s[:r].astype(X.dtype), Vt[:r].astype(X.dtype)
    return Basis(X @ (Vt.T / s), s, Vt)


def kernel_basis(K: NDArray[Any], rank: int | None, rtol: float | None) -> Basis:
    """Eigenvectors of a kernel matrix: the singular vectors of the feature map."""
    values, vectors = eigh(K, driver="evd", check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    eps = float(np.finfo(K.dtype).eps)
    if values[-1] < -np.sqrt(eps) * max(values[0], 0.0):
        raise ValueError(
            "kernel: the matrix must be positive semidefinite; its smallest and largest "
            f"eigenvalues are {values[-1]:.3g} and {values[0]:.3g}"
        )
    s = np.sqrt(np.maximum(values, 0))
    r = _numerical_rank(s, np.sqrt(len(K) * eps), rank, rtol)
    U = np.ascontiguousarray(vectors[:, :r])
    return Basis(U, s[:r], (U / s[:r]).T)


def _numerical_rank(s: NDArray[Any], rounding: float, rank: int | None, rtol: float | None) -> int:
    """Return how many singular values to keep, at least one."""
    cut = max(rounding, rtol or 0.0)
    found = int(np.count_nonzero(s > cut * s[0]))
    if not found:
        raise ValueError(
            f"rtol must be less than 1; got {rtol!r}" if s[0] > 0 else "instances: all are zero"
        )
    return found if rank is None else min(rank, found)
