"""Least squares with sparse rows: conjugate gradients, and what they tell of the singular values.

The normal equations are not formed (CGLS: Björck, Numerical Methods for Least Squares Problems,
1996, Section 7.4). Begun at zero, the iteration stays in the span of the rows: where columns
depend on each other it finds the solution of minimum norm.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from mlbook._arrays import Floats

ERROR = 1e-9  # of W, relative, that is good enough where the condition number is known
RESIDUAL = 1e-13  # of the normal equations, relative, beyond which nothing is gained


class Iterate(NamedTuple):
    """What the iteration found.

    W minimizes ‖AW − B‖, or ‖(I − P)(AW − B)‖ with P the projector onto the first column. `low`
    and `high` are about the smallest and the largest squared singular value of A that matter to
    B. `error` bounds the relative error of the worst column of W if they are right, and `converged`
    tells whether the residuals of the normal equations are as small as they get.
    """

    W: Floats
    low: float
    high: float
    error: float
    converged: bool


def conjugate_gradients(A: Any, B: Floats, *, intercept: bool, max_iter: int) -> Iterate:
    """Solve min ‖AW − B‖ for all columns of B at a time, with one product for all.

    Parameters
    ----------
    A : CSR array of shape (m, p)
        The rows.
    B : ndarray of shape (m, k)
        The targets.
    intercept : bool
        Whether the first column of A is projected out of the others and of B; the first row of W
        is its coefficient, and does not count in the norm.
    max_iter : int
        Iterations at most, each 4 nnz(A) k operations.

    Returns
    -------
    Iterate

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> found = conjugate_gradients(
    ...     sp.csr_array([[2.0, 2.0], [0.0, 0.0]]), np.ones((2, 1)), intercept=False, max_iter=9
    ... )
    >>> found.W.ravel().round(12).tolist(), found.converged
    ([0.25, 0.25], True)
    """
    first = A[:, [0]].toarray() if intercept else np.zeros((A.shape[0], 1))
    weight = np.sum(first**2) if intercept else 1.0
    mean = (A.T @ first) / weight  # of the columns, and 1 for the first

    def forward(V: Floats) -> Floats:
        if intercept:
            V[0] = 0.0
            V[0] = -mean[:, 0] @ V
        return A @ V

    def backward(r: Floats) -> Floats:
        s = A.T @ r
        return s - mean * s[0] if intercept else s

    r = B - first @ (first.T @ B) / weight
    s = backward(r)
    W, V = np.zeros_like(s), s.copy()
    size = start = np.sum(s**2, axis=0)
    steps: list[Floats] = []
    ratios: list[Floats] = []
    largest = float(np.max(A.power(2).sum(axis=0)[int(intercept) :], initial=0.0))
    low = high = largest
    target, converged = ERROR / 100, not start.any()
    with np.errstate(divide="ignore", invalid="ignore"):
        while not converged and len(steps) < max_iter:
            image = forward(V)
            step = np.nan_to_num(size / np.sum(image**2, axis=0), posinf=0.0)
            W += step * V
            r -= step * image
            s, before = backward(r), size
            size = np.sum(s**2, axis=0)
            ratio = np.nan_to_num(size / before, posinf=0.0)
            steps.append(step)
            ratios.append(ratio)
            V *= ratio
            V += s
            rounding = 4 * np.finfo(float).eps * np.sqrt(high) * np.linalg.norm(r, axis=0)
            done = np.sqrt(size) <= np.maximum(target * np.sqrt(start), rounding)
            if done.all():
                low, high = _extremes(np.array(steps), np.array(ratios), largest)
                sharper = max(RESIDUAL, ERROR * low / high)
                converged = bool(sharper >= target / 2 or (np.sqrt(size) <= rounding).all())
                target = min(target, sharper)
        if not converged:
            low, high = _extremes(np.array(steps), np.array(ratios), largest)
        error = np.nan_to_num(np.sqrt(size / start)).max() * high / low
    if intercept:
        W[0] = 0.0
        W[0] = (first.T @ B)[0] / weight - mean[:, 0] @ W
    return Iterate(W, low, high, float(error), converged)


def _extremes(steps: Floats, ratios: Floats, largest: float) -> tuple[float, float]:
    """Smallest and largest Ritz value of AᵀA over all columns, and no less than `largest`.

    The iteration is Lanczos' for AᵀA; its tridiagonal matrix has the diagonal
    1/step_j + ratio_(j−1)/step_(j−1), and √ratio_j/step_j beside it.
    """
    found = [largest]
    for step, ratio in zip(steps.T, ratios.T, strict=True):
        m = int(np.argmax(step == 0)) if (step == 0).any() else len(step)
        if m:
            step, ratio = step[:m], ratio[:m]
            diagonal = 1 / step
            diagonal[1:] += ratio[:-1] / step[:-1]
            found += [*eigvalsh_tridiagonal(diagonal, np.sqrt(ratio[:-1]) / step[:-1])[[0, -1]]]
    return max(min(found), 0.0), max(found)
