"""The metric of MLCA shrunk towards the Euclidean one.

With the scatters S_t = XᵀX and S_b = Σ_c n_c z_c z_cᵀ of centred rows, t_t and t_b their mean
diagonal entries, and 0 ≤ a ≤ 1,

    M_a = S_t'⁻¹ S_b' S_t'⁻¹,   S_t' = (1 − a) S_t + a t_t I,   S_b' = (1 − a) S_b + a t_b I.

a = 0 is Theorem 3.2 of Law 2016, a = 1 the Euclidean metric. For every a it is Theorem 3.2 on
more rows: √(1 − a) X, d classes of the one row √(a t_b) e_j, and d classes of the two rows
±√(a (t_t − t_b)/2) e_j.
"""

from __future__ import annotations

import numpy as np

from mlbook.mlca import least_squares
from mlbook.mlca.least_squares import AnyDigest, Digest


def shrink(problem: Digest, shrinkage: float) -> AnyDigest:
    """Add the pseudo-rows for M_a to centred rows and their normalized assignments.

    Parameters
    ----------
    problem : Digest
        A and B with AᵀA = S_t and AᵀBBᵀA = S_b.
    shrinkage : float
        a.

    Returns
    -------
    Digest
        Its solution W has WWᵀ = M_a. The two rows of a class of opposite rows add nothing to
        AᵀB: one row without a target stands for them. O(d² (d + k)) operations.

    Examples
    --------
    >>> digest = shrink(Digest(np.diag([4.0, 2.0]), np.array([[1.0], [0.0]])), 0.5)
    >>> W = least_squares.solve(digest).coef  # t_t = 10, t_b = 8
    >>> print((W @ W.T).round(6))  # (16 + 8)/2 / 13², (0 + 8)/2 / 7²
    [[0.071006 0.      ]
     [0.       0.081633]]
    """
    A, B = problem.A, problem.B
    d, k = A.shape[1], B.shape[1]
    with np.errstate(over="ignore"):
        total, between = np.sum(A**2) / d, np.sum((A.T @ B) ** 2) / d
    if not np.isfinite(total):
        raise ValueError("X: the sum of the squares overflows double precision; rescale X.")
    single = np.sqrt(shrinkage * between)
    double = np.sqrt(shrinkage * max(0.0, total - between))
    rows = Digest(np.sqrt(1 - shrinkage) * A, np.hstack([B, np.zeros((len(B), d))]))
    pseudo = Digest(
        np.vstack([single * np.eye(d), double * np.eye(d)]),
        np.vstack([np.eye(d, k + d, k), np.zeros((d, k + d))]),
    )
    return least_squares.merge(pseudo, rows)
