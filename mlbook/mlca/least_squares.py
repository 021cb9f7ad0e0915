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
So the Gram matrices of such blocks are summed, and factored once: the sum is no worse
conditioned, its columns scaled to norm one, than the worst of them. Rows that follow need not
be well conditioned themselves. While XᵀX, no smaller in any direction than the part known to
be well conditioned, has at most twice its diagonal, its condition number has at most doubled.

Sparse rows with many columns are kept as they are, while they take less memory than a
triangle would; conjugate gradients solve for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr, solve_triangular, svd
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import (
    dgeqrf,
    dormqr,
    dpocon,
    dpotrf,
    dpotrs,
    dtpmqrt,
    dtpqrt,
    dtrcon,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, gen_batches
from sklearn.utils.extmath import svd_flip

from mlbook._arrays import Floats
from mlbook._blas import one_blas_thread
from mlbook._memory import check_memory, machine_memory
from mlbook.mlca.conjugate_gradients import ERROR, conjugate_gradients

SOLVERS = ("auto", "cholesky", "qr")
MAX_SQUARED_CONDITION = 1e7  # η ≈ 2e-9 at most: the Gram matrix is then as good as X
GRAM_ENTRIES = 2**21  # entries of X per block of the Gram matrix: 16 MB
GRAM_ROWS = 2**14  # rows per block, more if they are few entries, where none are copied
QR_ROWS, QR_PANEL = 1024, 16  # rows per Householder block, columns per panel
MIN_SPARSE_COLUMNS = 1000  # sparse rows with fewer columns are digested as dense ones
MAX_ITERATIONS = 5000  # of conjugate gradients, where memory leaves no other way


@dataclass(frozen=True)
class Digest:
    """Few rows with the least-squares solutions of all the rows seen.

    Attributes
    ----------
    A : ndarray or CSR array of shape (m, p)
        An upper triangle when m = p; the rows themselves while m < p. A CSR array holds the rows
        themselves, however many.
    B : ndarray of shape (m, k)
        The targets of these rows.
    """

    A: Any
    B: Floats

    @property
    def width(self) -> int:
        """The number p of columns."""
        return self.A.shape[1]

    def with_targets(self, columns: Any, k: int) -> Digest:
        """Make its targets the given columns of k, the others zero."""
        return Digest(self.A, _spread(self.B, columns, k))


@dataclass(frozen=True)
class GramDigest:
    """XᵀX and XᵀT of well-conditioned rows: a `Digest` once A or B is asked for.

    Attributes
    ----------
    gram : ndarray of shape (p, p)
        XᵀX; only its upper triangle counts.
    cross : ndarray of shape (p, k)
        XᵀT.
    sure : ndarray of shape (p,)
        The diagonal of the part of gram that is known to be well conditioned.
    factor : tuple or None
        What `_factor` makes of gram, where it is known.
    """

    gram: Floats
    cross: Floats
    sure: Floats
    factor: tuple[Floats, Floats] | None = None

    @cached_property
    def triangle(self) -> Digest:
        """The triangle and its targets; O(p² (p + k)) operations, once."""
        with one_blas_thread():
            R, scale = self.factor or _factor(self.gram)[:2]
            return _triangular(R, scale, self.gram, self.cross)

    A = property(lambda self: self.triangle.A)
    B = property(lambda self: self.triangle.B)

    def __reduce__(self) -> tuple[Any, ...]:
        """Send what cannot be computed again."""
        return GramDigest, (self.gram, self.cross, self.sure)

    @property
    def width(self) -> int:
        """The number p of columns."""
        return len(self.gram)

    def with_targets(self, columns: Any, k: int) -> GramDigest:
        """Make its targets the given columns of k, the others zero."""
        return GramDigest(self.gram, _spread(self.cross, columns, k), self.sure)


AnyDigest = Digest | GramDigest


@dataclass(frozen=True)
class Solution:
    """The minimum-norm solution of min ‖X W + 1 b − T‖ (b absent without intercept).

    Attributes
    ----------
    coef : ndarray of shape (d, k)
        W.
    intercept : ndarray of shape (k,)
        b; zeros without intercept.
    fitted : ndarray of shape (r, k)
        The coordinates of P T in an orthonormal basis, P being the projector onto the columns of X
        (centred, with intercept): fittedᵀ fitted = TᵀPT.
    rank : int or None
        The numerical rank of X (centred, with intercept); None where nothing was factored.
    noise : float
        Norm up to which `fitted` counts as rounding, for targets of norm one: the targets are
        then orthogonal to the columns of X.
    """

    coef: Floats
    intercept: Floats
    fitted: Floats
    rank: int | None
    noise: float

    def leading(self, rank: int) -> Solution:
        """Keep the `rank` directions of the targets that are fitted best, at most the rank of X.

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
    beside: AnyDigest | None = None,
) -> AnyDigest:
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
    beside : Digest or GramDigest, optional
        Of other rows, which this digest is going to be merged with: with "auto", Cholesky is
        taken if all of them together are well conditioned.

    Returns
    -------
    Digest or GramDigest
        n rows if n < p, else p, unless they stay sparse.

    Raises
    ------
    ValueError
        If X is not finite, or solver is "cholesky" and XᵀX is not positive definite
        in double precision.

    Notes
    -----
    Cholesky takes n p² + 2 nnz(T) p operations, Householder 2 n p² + 4 n p k. Memory
    beyond X: O(p²) and one block of rows; a sparse X is made dense one block at a time,
    and only for Householder. With "auto" and p ≥ 1000 a sparse X stays as it is if it takes
    less memory than a triangle.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0], [4.0, 2.0], [0.0, 1.0]])
    >>> d = digest(X, np.array([[5.0], [0.0], [1.0]]))
    >>> np.allclose(d.A.T @ d.A, X.T @ X), (d.A.T @ d.B).round(12).tolist()
    (True, [[15.0], [1.0]])
    """
    if solver == "auto" and sp.issparse(X) and _stay_sparse(X, T.shape[1], intercept):
        assert_all_finite(X, input_name="X")
        rows = _sparse_rows(X, intercept, roots).copy()  # not a part of X
        rows.sum_duplicates()
        return Digest(rows, np.array(_dense(T)))
    if solver == "auto" and isinstance(beside, GramDigest) and not sp.issparse(X):
        found = _gram_digest_beside(X, T, intercept, roots, beside)
        if found is not None:
            return found
    return _dense_digest(X, T, intercept, roots, solver)


def dense(problem: AnyDigest) -> AnyDigest:
    """Digest sparse rows as dense ones.

    Raises
    ------
    MemoryError
        If these need more than half of the memory.

    Examples
    --------
    >>> dense(Digest(sp.csr_array([[3.0], [4.0]]), np.ones((2, 1)))).A
    array([[5.]])
    """
    if not sp.issparse(problem.A):
        return problem
    m, p = problem.A.shape
    what = f"X: {min(m, p)} rows of {p} columns that are not sparse"
    check_memory(_dense_bytes(m, p), what, "take fewer features, or shrinkage=0")
    return _dense_digest(problem.A, problem.B, False, None, "auto")


def _dense_bytes(m: int, p: int) -> float:
    return 3 * 8 * float(min(m, p)) * p


def _dense_digest(X: Any, T: Any, intercept: bool, roots: Floats | None, solver: str) -> AnyDigest:
    n, p = X.shape[0], X.shape[1] + intercept
    found: AnyDigest | None = None
    if n < p:
        A = _rows(X, slice(n), intercept, roots)
        found = Digest(A.copy() if np.may_share_memory(A, X) else A, np.array(_dense(T)))
    elif solver == "cholesky" or (solver == "auto" and not _sample_is_ill(X, p, intercept, roots)):
        limit = 1e15 if solver == "cholesky" else MAX_SQUARED_CONDITION
        found = _cholesky_digest(X, T, intercept, roots, limit)
        if found is None and solver == "cholesky":
            raise ValueError(
                "solver='cholesky': the columns of X are linearly dependent in double precision; "
                "use solver='auto' or 'qr'."
            )
    if isinstance(found, GramDigest):
        return found
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
    return _dense_digest(X, np.empty((X.shape[0], 0)), False, None, "auto").A


def merge(a: AnyDigest, b: AnyDigest) -> AnyDigest:
    """Digest the rows of two digests together; O(p³) operations.

    Examples
    --------
    >>> one = Digest(np.array([[3.0]]), np.array([[1.0]]))
    >>> two = Digest(np.array([[4.0]]), np.array([[2.0]]))
    >>> both = merge(one, two)
    >>> round(abs(both.A.item()), 12), round((both.A * both.B).item(), 12)
    (5.0, 11.0)
    """
    if isinstance(a, GramDigest) and isinstance(b, GramDigest):
        return GramDigest(a.gram + b.gram, a.cross + b.cross, a.sure + b.sure)
    if sp.issparse(a.A) and sp.issparse(b.A):
        both = Digest(sp.vstack([a.A, b.A], format="csr"), np.vstack([a.B, b.B]))
        return both if _stay_sparse(both.A, both.B.shape[1]) else dense(both)
    a, b = dense(a), dense(b)
    if a.A.shape[0] + b.A.shape[0] < a.A.shape[1]:
        return Digest(np.vstack([a.A, b.A]), np.vstack([a.B, b.B]))
    return _absorb(a, [(b.A, b.B)])


def centred(problem: AnyDigest) -> tuple[Digest, Floats]:
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


def solve(problem: AnyDigest, *, intercept: bool = False, eps: float = 2.0**-52) -> Solution:
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
    O(p² (k + min(m, p))) operations; a triangle far from singular needs no SVD, and fewer
    rows than columns none if they are independent: m² p operations for AAᵀ, or 2 m² p for
    a QR decomposition of Aᵀ where they are ill conditioned. Sparse rows are solved for by
    conjugate gradients, to an error of about 1e-9. Where these would take too long a triangle
    takes their place, if it fits in memory; if it does not and they stop early, a
    ConvergenceWarning says so.

    Examples
    --------
    >>> one_row = Digest(np.array([[1.0, 1.0]]), np.array([[2.0]]))
    >>> solve(one_row).coef.round(12).ravel(), solve(one_row).rank
    (array([1., 1.]), 1)
    """
    A, B = problem.A, problem.B
    m, p = A.shape
    cut, noise = 10 * np.sqrt(p) * eps, eps ** (2 / 3)
    if sp.issparse(A):
        found = _solve_sparse(A, B, intercept, cut, noise)
        return found or solve(dense(problem), intercept=intercept, eps=eps)
    if m < p:
        found = _solve_few_rows(A, B, intercept, cut, noise)
        if found is not None:
            return found
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


def _solve_sparse(A: Any, B: Floats, intercept: bool, cut: float, noise: float) -> Solution | None:
    """Solve for sparse rows by iteration; None where this is not accurate and a triangle fits."""
    m, p = A.shape
    fits = _dense_bytes(m, p) <= machine_memory() / 2
    worth = p * min(m, p) ** 2 // (100 * (A.nnz + 1) * B.shape[1])  # what a triangle costs
    limit = min(max(20, worth), MAX_ITERATIONS) if fits else MAX_ITERATIONS
    found = conjugate_gradients(A, B, intercept=intercept, max_iter=limit)
    squares = A.power(2).sum(axis=0)[int(intercept) :]
    accurate = found.error <= 2 * ERROR and _is_full(found.low, found.high, squares, cut)
    if fits and not (found.converged and accurate):
        return None
    if not found.converged:
        warnings.warn(
            f"X: {limit} iterations on its sparse rows left a relative error of W of up to "
            f"{found.error:.1g}; rescale its columns, or leave out some",
            ConvergenceWarning,
            stacklevel=2,
        )
    fitted = A @ found.W
    if not intercept:
        return Solution(found.W, np.zeros(B.shape[1]), fitted, None, noise)
    ones = A[:, [0]].toarray()
    fitted -= ones @ (ones.T @ B) / np.sum(ones**2)
    return Solution(found.W[1:], found.W[0], fitted, None, noise)


def _solve_few_rows(
    A: Floats, B: Floats, intercept: bool, cut: float, noise: float
) -> Solution | None:
    """Solve for fewer rows than columns; None where they may be dependent.

    Centred rows are dependent. So the ones stay beside them, scaled to their size: orthogonal to
    the centred targets, they get the coefficient zero.
    """
    m, k = B.shape
    if m == 0:
        return None
    ones = A[:, :1] / np.linalg.norm(A[:, 0]) if intercept else np.zeros((m, 1))
    X, T = A[:, int(intercept) :], B - ones @ (ones.T @ B)
    mean = ones.T @ X
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        gram, squares = np.zeros((m, m), order="F"), np.empty(X.shape[1])
        for columns in gen_batches(X.shape[1], max(1, GRAM_ENTRIES // m)):
            block = X[:, columns] - ones * mean[:, columns] if intercept else X[:, columns]
            squares[columns] = np.einsum("ij,ij->j", block, block)
            gram += block @ block.T
        beside = ones * np.sqrt(gram.trace() / m)
        gram += beside @ beside.T
        high = abs(gram).sum(axis=0).max()
        R, info = dpotrf(gram)
        low = dpocon(R, high)[0] * high if info == 0 else 0.0
        if low * MAX_SQUARED_CONDITION > high and _is_full(low, high, squares, cut):
            W = X.T @ dpotrs(R, T)[0]
        else:
            rows = np.array(A)
            if intercept:
                rows[:, :1] = beside
                rows[:, 1:] -= ones * mean
            V, factors, _, _ = dgeqrf(rows.T, overwrite_a=1)  # Aᵀ = QR, hence W = QR⁻ᵀT
            R = np.triu(V[:m])
            high = abs(R).sum(axis=0).max() * abs(R).sum(axis=1).max()
            low = dtrcon(R, norm="1")[0] * dtrcon(R, norm="I")[0] * high
            if not _is_full(low, high, squares, cut):
                return None
            W = np.zeros((A.shape[1], k), order="F")
            W[:m] = solve_triangular(R, T, trans="T")
            W = dormqr("L", "N", V, factors, W, 64 * max(1, k))[0][int(intercept) :]
    b = (ones.T @ B - mean @ W)[0] / (np.linalg.norm(A[:, 0]) if intercept else 1.0)
    return Solution(W, b, T, m - intercept, noise)


def _is_full(low: float, high: float, squares: Floats, cut: float) -> bool:
    """Whether A, its columns scaled to norm one, has no singular value near the cut but zeros.

    Those of A that are not zero, squared, lie between `low` and `high`; `squares` are the squared
    norms of its columns. Scaling lowers the smallest by the largest norm at most; the largest
    grows by the smallest norm, and is √p at most.
    """
    smallest = squares.min()
    largest = min(len(squares), high / smallest) if smallest > 1e-280 else len(squares)
    return bool(low > 100 * cut**2 * max(1.0, largest) * squares.max())


def _cholesky_digest(
    X: Any, T: Any, intercept: bool, roots: Floats | None, limit: float
) -> AnyDigest | None:
    """Digest from XᵀX, or None where its squared condition number exceeds `limit`."""
    gram, cross = _gram(X, T, intercept, roots)
    if not _is_in_range(gram, X, intercept):
        return None
    with one_blas_thread():
        R, scale, condition = _factor(gram)
        if condition > limit:
            return None
        if condition > MAX_SQUARED_CONDITION:
            return _triangular(R, scale, gram, cross)
    return GramDigest(gram, cross, gram.diagonal(), (R, scale))


def _gram_digest_beside(
    X: Any, T: Any, intercept: bool, roots: Floats | None, beside: GramDigest
) -> GramDigest | None:
    """Digest from XᵀX if its sum with that of others is well conditioned."""
    if X.shape[1] + intercept != beside.width:
        return None
    gram, cross = _gram(X, T, intercept, roots)
    if not _is_in_range(gram, X, intercept):
        return None
    squares = beside.gram.diagonal() + gram.diagonal()
    if (squares <= 2 * beside.sure).all():
        return GramDigest(gram, cross, np.zeros(len(gram)))
    with one_blas_thread():
        if _factor(beside.gram + gram)[2] > MAX_SQUARED_CONDITION:
            return None
    return GramDigest(gram, cross, squares - beside.sure)


def _is_in_range(gram: Floats, X: Any, intercept: bool) -> bool:
    """Whether no square of an entry of X overflows or vanishes, nor sums of such Gram matrices."""
    squares = gram.diagonal()
    if not np.isfinite(squares).all():
        assert_all_finite(X, input_name="X")
    tiny = squares[int(intercept) :] < 1e-280
    return bool(squares.max() < 1e280 and not (tiny.any() and abs(X[:, tiny]).max() > 0))


def _triangular(R: Floats, scale: Floats, gram: Floats, cross: Floats) -> Digest:
    """Scale the factor of a Gram matrix back; find the targets of its rows."""
    B = cross / scale[:, None]
    if B.size:
        B = solve_triangular(R, B, trans="T", check_finite=False)
    A, empty = R * scale, gram.diagonal() == 0
    A[empty, empty] = 0.0
    return Digest(A, B)


def _gram(X: Any, T: Any, intercept: bool, roots: Floats | None) -> tuple[Floats, Floats]:
    """Upper triangle of XᵀX, and XᵀT, accumulated in double precision over blocks of rows."""
    n, p = X.shape[0], X.shape[1] + intercept
    if sp.issparse(X):
        X = _sparse_rows(X, intercept, roots)
        return np.asfortranarray(_dense(X.T @ X)), _dense(X.T @ T)
    gram, cross = np.zeros((p, p), order="F"), np.zeros((T.shape[1], p))
    as_it_is = not intercept and roots is None and X.dtype == np.float64 and X.flags.c_contiguous
    step = max(GRAM_ROWS if as_it_is else QR_ROWS, GRAM_ENTRIES // p)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, n, step):
            batch = slice(start, start + step)
            rows = _rows(X, batch, intercept, roots)
            gram = dsyrk(1.0, rows.T, beta=1.0, c=gram, overwrite_c=1)
            cross += (T if len(rows) == n else T[batch]).T @ rows
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
    unit = gram / scale
    unit /= scale[:, None]
    np.fill_diagonal(unit, 1.0)
    R, info = dpotrf(unit)
    if info != 0:
        return R, scale, np.inf
    np.abs(unit, out=unit)
    norm = (unit.sum(axis=0) + unit.sum(axis=1)).max()  # at least that of the whole matrix
    rcond = dpocon(R, norm)[0]
    return R, scale, 1 / rcond if rcond > 0 else np.inf


def _stay_sparse(X: Any, k: int, intercept: bool = False) -> bool:
    """Whether sparse rows take less memory than the triangle of their digest."""
    n, p = X.shape[0], X.shape[1] + intercept
    kept = 3 * (X.nnz + intercept * n) + n * k
    return p >= MIN_SPARSE_COLUMNS and kept <= p**2


def _sparse_rows(X: Any, intercept: bool, roots: Floats | None) -> Any:
    """Make sparse rows double precision, after a 1 with intercept, times their roots."""
    rows = sp.csr_array(X, dtype=np.float64)
    if intercept:
        rows = sp.hstack([np.ones((X.shape[0], 1)), rows], format="csr")
    return rows if roots is None else sp.csr_array(rows.multiply(roots[:, None]))


def _spread(targets: Floats, columns: Any, k: int) -> Floats:
    """Put columns among k, the others zero."""
    wide = np.zeros((len(targets), k))
    wide[:, columns] = targets
    return wide


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


def _absorb(state: AnyDigest, blocks: Iterable[tuple[Floats, Floats]]) -> Digest:
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
    with np.errstate(over="ignore", under="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->j", A, A))
    if norms.size and norms.min() > 1e-140 and norms.max() < 1e140:
        return norms
    largest = abs(A).max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    norms = largest * np.sqrt(((A / largest) ** 2).sum(axis=0))
    norms[norms == 0] = 1.0
    return norms
