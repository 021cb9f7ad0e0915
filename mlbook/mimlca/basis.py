"""The leading singular directions of the instances, in which MIMLCA works."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh, get_blas_funcs, get_lapack_funcs, svd
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs, dtrtri
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from mlbook.mlca.least_squares import triangle

MAX_CONDITION = 1e5  # of R, by Frobenius norms: XR⁻¹ is then orthonormal up to 2e-9
MIN_ROOM = 1e-2  # reciprocal condition number of the Gram matrix of the assigned rows of U
LANCZOS_SHARE = 0.1  # ranks up to this share of n: all eigenvectors at once would take longer


class Basis(NamedTuple):
    """Leading singular vectors of X (or of the feature map of a kernel): X ≈ U diag(values) Vᵀ.

    `axes` maps coefficients of the scores U diag(values) to coefficients of the rows: Vᵀ for
    features, diag(1/values) Uᵀ for rows of kernel values. Where no direction is cut off, any
    orthonormal basis of the columns of X serves: then U = XR⁻¹, `values` is None, and `axes`,
    R⁻ᵀ, maps coefficients of U.
    """

    U: NDArray[Any]
    values: NDArray[Any] | None
    axes: NDArray[Any]


def singular_basis(X: Any, rank: int | None, rtol: float | None) -> Basis:
    """Orthonormal basis of the columns of X by way of its triangular factor R.

    U = XR⁻¹ where R is so far from singular that all directions are kept. Else S and V are
    those of R, and U = XV/S: the price of two products with X instead of six. X may be sparse;
    only U is dense. The error of a column of U is that of rounding X, eps times S₁/S_i.
    """
    n, d = X.shape
    R = triangle(X)
    rounding = max(10 * np.finfo(X.dtype).eps, max(n, d) * np.finfo(np.float64).eps)
    if len(R) == d and (rank is None or rank >= d):
        inverse, singular = dtrtri(R)
        allowed = min(MAX_CONDITION, 1 / max(float(rounding), rtol or 0.0))
        if not singular and np.linalg.norm(R) * np.linalg.norm(inverse) < allowed:
            inverse = inverse.astype(X.dtype)
            return Basis(_times_triangle(X, inverse), None, inverse.T)
    _, s, Vt = svd(R, full_matrices=False, check_finite=False)
    r = _numerical_rank(s, float(rounding), rank, rtol)
    s, Vt = s[:r].astype(X.dtype), Vt[:r].astype(X.dtype)
    return Basis(X @ (Vt.T / s), s, Vt)


def kernel_basis(K: NDArray[Any], rank: int | None, rtol: float | None) -> Basis:
    """Eigenvectors of a kernel matrix: the singular vectors of the feature map.

    O(n³). A rank up to a tenth of n takes Lanczos' method, some 3 `rank` products with K, and a
    Cholesky factor, n³/3 operations, to see that K is positive semidefinite.
    """
    eps = float(np.finfo(K.dtype).eps)
    found = None
    if rank is not None and rank <= LANCZOS_SHARE * len(K):
        found = _leading_eigenpairs(K, rank)
    if found is None:
        found = eigh(K, driver="evd", check_finite=False)
        lowest, highest = found[0][0], found[0][-1]
        if lowest < -np.sqrt(eps) * max(highest, 0.0):
            raise ValueError(
                "kernel: the matrix must be positive semidefinite; its smallest and largest "
                f"eigenvalues are {lowest:.3g} and {highest:.3g}"
            )
    values, vectors = found[0][::-1], found[1][:, ::-1]
    s = np.sqrt(np.maximum(values, 0))
    r = _numerical_rank(s, np.sqrt(len(K) * eps), rank, rtol)
    U = np.ascontiguousarray(vectors[:, :r])
    return Basis(U, s[:r], (U / s[:r]).T)


def _leading_eigenpairs(K: NDArray[Any], r: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the r largest eigenvalues of K, increasing, and their vectors.

    None where the method does not converge, has missed an eigenvalue, or K is not positive
    semidefinite up to rounding.
    """
    n, eps = len(K), np.finfo(K.dtype).eps
    symv = get_blas_funcs("symv", (K,))
    F = K if K.flags.f_contiguous else np.asfortranarray(K.T)  # no copy, and symv reads half of it
    start, other = np.random.default_rng(0).uniform(-1, 1, size=(2, n)).astype(K.dtype)
    try:
        product = LinearOperator((n, n), lambda x: symv(1.0, F, x), dtype=K.dtype)
        values, U = eigsh(product, r, which="LA", v0=start)
        rest = LinearOperator(
            (n, n), lambda x: symv(1.0, F, x) - U @ (values * (x @ U)), dtype=K.dtype
        )
        missed = eigsh(rest, 1, which="LA", v0=other, tol=1e-2, return_eigenvectors=False)[0]
    except ArpackError:
        return None
    if missed > values[0] + 1e-3 * abs(values[0]):  # one copy of an eigenvalue may be overlooked
        return None
    shifted = F.copy(order="F")
    np.einsum("ii->i", shifted)[...] += np.sqrt(eps) * max(values[-1], 0.0)
    potrf = get_lapack_funcs("potrf", (K,))
    return None if potrf(shifted, clean=False, overwrite_a=True)[1] else (values, U)


def assigned_axes(basis: Basis, assigned: NDArray[np.bool_]) -> Any:
    """(U_AᵀU_A)⁻¹ axes for the assigned rows A: what maps JᵀU_A to the metric, JᵀX_A†.

    UᵀU = I, so that the Gram matrix of some rows is I less that of the others: that of the fewer
    is formed. None where the assigned rows nearly miss a direction of U.
    """
    few = 2 * np.count_nonzero(assigned) < len(assigned)
    rows = basis.U[assigned if few else ~assigned]
    gram = rows.T @ rows
    if not few:
        gram = np.eye(len(gram)) - gram
    factor, info = dpotrf(gram)
    if info or dpocon(factor, np.abs(gram).sum(axis=0).max())[0] < MIN_ROOM:
        return None
    return dpotrs(factor, basis.axes)[0]


def _times_triangle(X: Any, T: NDArray[Any]) -> NDArray[Any]:
    """X times an upper triangle, at half the price of a product."""
    if sp.issparse(X):
        return X @ T
    trmm = get_blas_funcs("trmm", (T, X))
    return trmm(1.0, T, X.T, trans_a=1).T


def _numerical_rank(s: NDArray[Any], rounding: float, rank: int | None, rtol: float | None) -> int:
    """Return how many singular values to keep, at least one."""
    cut = max(rounding, rtol or 0.0)
    found = int(np.count_nonzero(s > cut * s[0]))
    if not found:
        raise ValueError(
            f"rtol must be less than 1; got {rtol!r}" if s[0] > 0 else "instances: all are zero"
        )
    return found if rank is None else min(rank, found)
