"""Least squares with few targets, over rows that come in pieces.

A tall problem min ‖X W − T‖ is replaced by a *digest*: at most p = n_features
rows (A, B) with AᵀA = XᵀX and AᵀB = XᵀT, hence with the same solutions W. Digests
merge by stacking, so the same three functions serve one array in memory, a stream of
blocks, and the blocks of a cluster:

    digest(X, T) -> Digest        merge(a, b) -> Digest        solve(d) -> Solution

`triangle(X)` is the part A of a digest, for those who have no targets.

Two ways lead from rows to a digest. The Cholesky factor of XᵀX costs one pass at the
speed of matrix products but squares the condition number; Householder reflections
(TSQR: Demmel, Grigori, Hoemmen and Langou 2012) cost about three times as much and do
not. Taking the first way for a well-conditioned block is safe whatever the other
blocks hold: the error of its Gram matrix is at most η vᵀXᵀXv in every direction v,
with η = κ(X)² times the unit roundoff, and such bounds add up when blocks are merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr, solve_triangular, svd
from scipy.linalg.lapack import dpocon, dpotrf, dtpmqrt, dtpqrt, dtrcon
from sklearn.utils import assert_all_finite, gen_batches
from sklearn.utils.extmath import svd_flip

from mlbook._arrays import Floats
from mlbook._blas import one_blas_thread

SOLVERS = ("auto", "cholesky", "qr")
MAX_SQUARED_CONDITION = 1e7  # η ≈ 2e-9 at most: the Gram matrix is then as good as X
GRAM_ENTRIES = 2**21  # entries of X per block of the Gram matrix: 16 MB
QR_ROWS, QR_PANEL = 1024, 16  # rows per Householder block, columns per panel


@dataclass(frozen=True)
class Digest:
    """At most p rows with the least-squares solutions of all the rows seen.

    Attributes
    ----------
    A : ndarray of shape (m, p)
        An upper triangle when m = p; the rows themselves while m < p.
    B : ndarray of shape (m, k)
        The targets of these rows.
    """

    A: Floats
    B: Floats


@dataclass(frozen=True)
class Solution:
    """The minimum-norm solution of min ‖X W + 1 b − T‖ (b absent without intercept).

    Attributes
    ----------
    coef : ndarray of shape (d, k)
        W.
    intercept : ndarray of shape (k,)
        b; zeros without intercept.
    fitted : ndarray of shape (rank, k)
        The coordinates of P T in an orthonormal basis of the columns of X (centred, with
        intercept), P being the projector onto them: fittedᵀ fitted = TᵀPT.
    rank : int
        The numerical rank of X (centred, with intercept).
    noise : float
        Norm up to which `fitted` counts as rounding, for targets of norm one: the targets are
        then orthogonal to the columns of X.
    """

    coef: Floats
    intercept: Floats
    fitted: Floats
    rank: int
    noise: float

    def leading(self, rank: int) -> Solution:
        """Keep the `rank` directions of the targets that are fitted best, at most `self.rank`.

        These are the leading right singular vectors V of `fitted`, the largest entry of each
        positive: the result is that of the targets TV.

        Examples
        --------
        >>> found = solve(digest(np.eye(2), np.array([[0.0, 5.0], [3.0, 0.0]])))
        >>> print(found.leading(1).coef + 0.0)
        [[5.]
         [0.]]
        """
        Vt = svd(self.fitted, full_matrices=False)[2][:rank]
        V = svd_flip(None, Vt, u_based_decision=False)[1].T
        parts = {"coef": self.coef @ V, "intercept": self.intercept @ V, "fitted": self.fitted @ V}
        return replace(self, **parts)


def digest(
    X: Any,
    T: Any,
    *,
    roots: Floats | None = None,
    intercept: bool = False,
    solver: str = "auto",
) -> Digest:
    """Digest the rows of X and their targets T.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        The rows; computed with in double precision, block by block.
    T : ndarray or CSR array of shape (n, k)
        The targets.
    roots : ndarray of shape (n,), optional
        Square roots of the weights of the rows, by which T is multiplied already: the
        rows of X, and the ones before them, are multiplied here.
    intercept : bool, default=False
        Put a column of ones before X, so that p = d + 1.
    solver : {"auto", "cholesky", "qr"}, default="auto"
        "cholesky" factors XᵀX; "qr" uses Householder reflections; "auto" takes
        Cholesky when the condition number of X, its columns scaled to norm one, is
        below about 3000, and Householder otherwise.

    Returns
    -------
    Digest
        n rows if n < p, else p.

    Raises
    ------
    ValueError
        If X is not finite, or solver is "cholesky" and XᵀX is not positive definite
        in double precision.

    Notes
    -----
    Cholesky takes n p² + 2 nnz(T) p operations, Householder 2 n p² + 4 n p k. Memory
    beyond X: O(p²) and one block of rows; a sparse X is made dense one block at a time,
    and only for Householder.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0], [4.0, 2.0], [0.0, 1.0]])
    >>> d = digest(X, np.array([[5.0], [0.0], [1.0]]))
    >>> np.allclose(d.A.T @ d.A, X.T @ X), (d.A.T @ d.B).round(12).tolist()
    (True, [[15.0], [1.0]])
    """
    n, p = X.shape[0], X.shape[1] + intercept
    found = None
    if n < p:
        found = Digest(np.array(_rows(X, slice(n), intercept, roots)), np.array(_dense(T)))
    elif solver == "cholesky" or (solver == "auto" and not _sample_is_ill(X, p, intercept, roots)):
        limit = 1e15 if solver == "cholesky" else MAX_SQUARED_CONDITION
        found = _cholesky_digest(X, T, intercept, roots, limit)
        if found is None and solver == "cholesky":
            raise ValueError(
                "solver='cholesky': the columns of X are linearly dependent in double precision; "
                "use solver='auto' or 'qr'."
            )
    if found is None:
        blocks = (
            (_rows(X, rows, intercept, roots), _dense(T[rows])) for rows in gen_batches(n, QR_ROWS)
        )
        found = _absorb(Digest(np.empty((0, p)), np.empty((0, T.shape[1]))), blocks)
    if not (np.isfinite(found.A).all() and np.isfinite(found.B).all()):
        assert_all_finite(X, input_name="X")
        raise ValueError("X: the norm of a column overflows double precision; rescale X.")
    return found


def triangle(X: Any) -> Floats:
    """R of at most d rows with RᵀR = XᵀX: what `digest` keeps of rows without targets.

    Its singular values and right singular vectors are those of X. Takes and costs what
    `digest` does.

    Examples
    --------
    >>> R = triangle(np.array([[3.0, 1.0], [4.0, 1.0], [0.0, 1.0]]))
    >>> print((R.T @ R).round(12))
    [[25.  7.]
     [ 7.  3.]]
    """
    return digest(X, np.empty((X.shape[0], 0))).A


def merge(a: Digest, b: Digest) -> Digest:
    """Digest the rows of two digests together; O(p³) operations.

    Examples
    --------
    >>> one = Digest(np.array([[3.0]]), np.array([[1.0]]))
    >>> two = Digest(np.array([[4.0]]), np.array([[2.0]]))
    >>> both = merge(one, two)
    >>> round(abs(both.A.item()), 12), round((both.A * both.B).item(), 12)
    (5.0, 11.0)
    """
    if a.A.shape[0] + b.A.shape[0] < a.A.shape[1]:
        return Digest(np.vstack([a.A, b.A]), np.vstack([a.B, b.B]))
    return _absorb(a, [(b.A, b.B)])


def centred(problem: Digest) -> tuple[Digest, Floats]:
    """Project the first column, the ones, out of the others and out of the targets.

    Returns
    -------
    Digest
        The rows minus their mean, and the targets minus theirs.
    ndarray of shape (d,)
        The mean row.

    Examples
    --------
    >>> both, mean = centred(Digest(np.array([[1.0, 1.0, 2.0], [1.0, 5.0, 2.0]]), np.zeros((2, 0))))
    >>> both.A.tolist(), mean.tolist()
    ([[-2.0, 0.0], [2.0, 0.0]], [3.0, 2.0])
    """
    ones, rest = problem.A[:, :1], problem.A[:, 1:]
    if len(ones) == problem.A.shape[1]:  # a triangle: all the ones are in its first row
        return Digest(rest[1:], problem.B[1:]), rest[0] / ones[0]
    squared = np.sum(ones**2)
    mean, mean_target = ones.T @ rest / squared, ones.T @ problem.B / squared
    return Digest(rest - ones @ mean, problem.B - ones @ mean_target), mean[0]


def solve(problem: Digest, *, intercept: bool = False, eps: float = 2.0**-52) -> Solution:
    """Solve a digested least-squares problem, with the pseudo-inverse's meaning.

    Parameters
    ----------
    problem : Digest
        With the column of ones first when `intercept` is true.
    intercept : bool, default=False
        Whether that column is there; its coefficient does not count in the norm.
    eps : float, default=2**-52
        The relative precision of the entries of X.

    Returns
    -------
    Solution
        Of all minimizers, the one with the smallest ‖W‖.

    Notes
    -----
    The rank is counted after the columns are scaled to norm one, so that it does not
    depend on the features' units: a singular value below 10 √p eps counts as zero.
    O(p² (k + min(m, p))) operations; a triangle far from singular needs no SVD.

    Examples
    --------
    >>> one_row = Digest(np.array([[1.0, 1.0]]), np.array([[2.0]]))
    >>> solve(one_row).coef.round(12).ravel(), solve(one_row).rank
    (array([1., 1.]), 1)
    """
    A, B = problem.A, problem.B
    m, p = A.shape
    cut, noise = 10 * np.sqrt(p) * eps, eps ** (2 / 3)
    scale = _column_norms(A)
    S = A / scale
    if m == p and dtrcon(S)[0] > 100 * cut:
        W = solve_triangular(S, B) / scale[:, None]
        if intercept:
            return Solution(W[1:], W[0], B[1:], p - 1, noise)
        return Solution(W, np.zeros(B.shape[1]), B, p, noise)
    if intercept:  # project the ones out of the other columns and of the targets
        ones, root_n, scale = S[:, :1], scale[0], scale[1:]
        mean_row, mean_target = ones.T @ S[:, 1:], ones.T @ B
        S, B = S[:, 1:] - ones @ mean_row, B - ones @ mean_target
    U, s, Vt = svd(S, full_matrices=False)
    rank = int(np.sum(s > cut * max(1.0, s.max(initial=0.0))))
    fitted = U[:, :rank].T @ B
    W = np.zeros((S.shape[1], B.shape[1]))
    if rank:  # A = U diag(s) Vᵀ diag(scale); the pseudo-inverse of the last two is Q R⁻ᵀ
        Q, R = qr(scale[:, None] * Vt[:rank].T, mode="economic")
        W = Q @ solve_triangular(R, fitted / s[:rank, None], trans="T")
    if not intercept:
        return Solution(W, np.zeros(B.shape[1]), fitted, rank, noise)
    b = ((mean_target - (mean_row * scale) @ W) / root_n)[0]
    return Solution(W, b, fitted, rank, noise)


def _cholesky_digest(
    X: Any, T: Any, intercept: bool, roots: Floats | None, limit: float
) -> Digest | None:
    """Digest from XᵀX, or None where its squared condition number exceeds `limit`."""
    with np.errstate(over="ignore", invalid="ignore"):
        gram, cross = _gram(X, T, intercept, roots)
    squares = gram.diagonal()
    if not np.isfinite(squares).all():
        assert_all_finite(X, input_name="X")
        return None  # finite entries whose squares overflow
    tiny = squares[int(intercept) :] < 1e-280
    if tiny.any() and abs(X[:, tiny]).max() > 0:
        return None  # entries whose squares underflow
    with one_blas_thread():
        R, scale, condition = _factor(gram)
        if condition > limit:
            return None
        B = cross / scale[:, None]
        if B.size:
            B = solve_triangular(R, B, trans="T", check_finite=False)
    empty = squares == 0
    R[empty, empty] = 0.0
    return Digest(R * scale, B)


def _gram(X: Any, T: Any, intercept: bool, roots: Floats | None) -> tuple[Floats, Floats]:
    """XᵀX and XᵀT, accumulated in double precision over blocks of rows."""
    n, p = X.shape[0], X.shape[1] + intercept
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64)
        if intercept:
            X = sp.hstack([np.ones((n, 1)), X], format="csr")
        if roots is not None:
            X = sp.csr_array(X.multiply(roots[:, None]))
        return _dense(X.T @ X), _dense(X.T @ T)
    gram, cross = np.zeros((p, p)), np.zeros((T.shape[1], p))
    step = max(QR_ROWS, GRAM_ENTRIES // p)
    for batch in gen_batches(n, step):
        rows = _rows(X, batch, intercept, roots)
        gram += rows.T @ rows
        cross += T[batch].T @ rows
    return gram, cross.T


def _factor(
    gram: Floats,
) -> tuple[Floats, Floats, float]:
    """Cholesky factor of the matrix scaled to a unit diagonal, the scale, the condition.

    An empty column counts as one orthogonal to the others; the condition is infinite where
    the factorization breaks down.
    """
    scale = np.sqrt(gram.diagonal())
    scale[scale == 0] = 1.0
    unit = gram / scale / scale[:, None]
    np.fill_diagonal(unit, 1.0)
    R, info = dpotrf(unit)
    if info != 0:
        return R, scale, np.inf
    rcond = dpocon(R, abs(unit).sum(axis=0).max())[0]
    return R, scale, 1 / rcond if rcond > 0 else np.inf


def _sample_is_ill(X: Any, p: int, intercept: bool, roots: Floats | None) -> bool:
    """Whether 8p rows spread over a long dense X already show an ill-conditioned X.

    It only spares the pass over XᵀX that would find out; a wrong guess costs time.
    """
    step = X.shape[0] // (8 * p)
    if step < 16 or sp.issparse(X):
        return False
    sample = _rows(X, slice(None, None, step), intercept, roots)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return _factor(sample.T @ sample)[2] > MAX_SQUARED_CONDITION


def _absorb(state: Digest, blocks: Iterable[tuple[Floats, Floats]]) -> Digest:
    """Rotate blocks of rows into the triangle of a digest by Householder reflections."""
    p, k = state.A.shape[1], state.B.shape[1]
    if state.A.shape[0] == p:
        A, B = np.array(state.A, order="F"), np.array(state.B, order="F")
    else:
        A, B = np.zeros((p, p), order="F"), np.zeros((p, k), order="F")
        blocks = chain([(state.A, state.B)], blocks)
    with one_blas_thread():
        for rows, targets in blocks:
            if rows.shape[0] == 0:
                continue
            V, C = np.array(rows, order="F"), np.array(targets, order="F")
            A, V, factors, _ = dtpqrt(0, min(QR_PANEL, p), A, V, overwrite_a=1, overwrite_b=1)
            if k:
                B, _, _ = dtpmqrt(0, V, factors, B, C, trans="T", overwrite_a=1, overwrite_b=1)
    return Digest(A, B)


def _rows(X: Any, rows: slice, intercept: bool, roots: Floats | None) -> Floats:
    """Make rows of X a dense array of doubles, after a 1 with intercept, times their roots."""
    block = _dense(X[rows])
    if intercept:
        block = np.concatenate([np.ones((block.shape[0], 1)), block], axis=1)
    return block if roots is None else block * roots[rows, None]


def _dense(array: Any) -> Floats:
    return np.ascontiguousarray(array.toarray() if sp.issparse(array) else array, dtype=np.float64)


def _column_norms(A: Floats) -> Floats:
    """Euclidean norms of the columns, 1 for an empty column, without overflow."""
    largest = abs(A).max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    norms = largest * np.sqrt(((A / largest) ** 2).sum(axis=0))
    norms[norms == 0] = 1.0
    return norms
