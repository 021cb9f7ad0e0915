"""The closed form of Theorem 3.1, for any target matrix C = FFᵀ."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from mlbook._validation import FLOATS, check_integer, check_matrix
from mlbook.mlca.least_squares import digest, solve


def closed_form_metric(X: ArrayLike, factor: ArrayLike, rank: int | None = None) -> NDArray[Any]:
    """Optimal metric for any target matrix C = factor @ factor.T (Law 2016, Theorem 3.1).

    In the papers: Law 2016, Theorems 3.1 and 3.2.

    M = X†(P C P)_(r)(X†)ᵀ, where P = XX† projects onto the columns of X and (·)_(r) keeps
    the r = min(rank, rank(PCP)) largest eigenvalues. C itself, n×n, is not formed.

    Parameters
    ----------
    X : array-like or sparse array of shape (n, d)
        The rows.
    factor : array-like or sparse array of shape (n, q)
        Any F with C = FFᵀ: for a partition the normalized assignment matrix J.
    rank : int, optional
        Number k of clusters that relaxed k-means will look for, and the largest rank of M.
        Default: q, for which nothing is cut (Theorem 3.2).

    Returns
    -------
    ndarray of shape (d, d)
        M, symmetric positive semidefinite; only its direction matters, not its scale.

    Raises
    ------
    ValueError
        If the lengths differ, an entry is not finite, `rank` is below 1, or PCP = 0 (then
        every metric of full rank is optimal).

    Notes
    -----
    O(n d (d + q)) operations and O(d (d + q)) memory beside X; see `MLCA` for the accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> C_factor = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> print(closed_form_metric(X, C_factor).round(6) + 0.0)
    [[0.25 0.  ]
     [0.   1.  ]]
    """
    W = closed_form_factor(X, factor, rank)
    return W @ W.T


def closed_form_factor(X: ArrayLike, factor: ArrayLike, rank: int | None = None) -> NDArray[Any]:
    """W of shape (d, r) with WWᵀ = `closed_form_metric(X, factor, rank)`, for large d.

    In the papers: Law 2016, Eqs. 16-17.

    Takes and refuses what `closed_form_metric` does. Without `rank`, W = X† factor.

    Examples
    --------
    >>> import numpy as np
    >>> X, J = np.array([[2.0], [0.0], [1.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> print(closed_form_factor(X, J).round(6) + 0.0)
    [[0.4 0. ]]
    """
    rows: Any = check_matrix(X, accept_sparse="csr", dtype=FLOATS, input_name="X")
    targets: Any = check_matrix(factor, accept_sparse="csr", dtype=np.float64, input_name="factor")
    check_consistent_length(rows, targets)
    if rank is not None:
        check_integer(rank, "rank", least=1)
    solution = solve(digest(rows, targets), eps=float(np.finfo(rows.dtype).eps))
    norm = np.linalg.norm(targets.data if sp.issparse(targets) else targets)
    if np.linalg.norm(solution.fitted) <= solution.noise * norm:
        raise ValueError(
            "factor: PCP = 0, the columns of factor are orthogonal to those of X; every metric of "
            "full rank is then optimal (Law 2016, Section 3.2)."
        )
    if rank is not None and rank < targets.shape[1]:
        solution = solution.leading(rank)
    return solution.coef.astype(rows.dtype, copy=False)
