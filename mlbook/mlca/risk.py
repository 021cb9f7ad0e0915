"""What MLCA minimizes: the worst-case risk of a metric, and the convex bound that replaces it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from mlbook._arrays import Floats
from mlbook._validation import check_matrix, check_n_clusters, metric_factor
from mlbook.partitions import normalized_assignment

TIE = 1e-9  # eigenvalues of XMXᵀ closer than this share of the largest are tied


def worst_case_risk(
    X: ArrayLike, M: ArrayLike, labels: ArrayLike, n_clusters: int | None = None
) -> float:
    """Largest Δ to the partition over all solutions of relaxed k-means (Law 2016, Eq. 13).

    In the papers: Law 2016, Eqs. 9, 12-14, 22 and 23. (It is zero exactly if Eq. 9 holds.)

    The solutions of the relaxation (Eq. 8) are projectors Ĉ of rank k onto leading eigenvectors
    of XMXᵀ, and Δ = ‖Ĉ − C‖². If the k-th eigenvalue is tied, they are the eigenvectors above
    it, completed by any others inside its eigenspace; the worst completion takes the smallest
    eigenvalues of C there. O(n (d + k)² + (d + k)³); no n × n matrix is formed.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    M : array-like of shape (d, d)
        The metric, symmetric positive semidefinite.
    labels : array-like of n non-negative integers
        The desired partition.
    n_clusters : int, optional
        Number k of clusters that relaxed k-means looks for; default: that of the partition.

    Returns
    -------
    float
        The risk, at least 0 and at most k plus the number of clusters of the partition.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    The features are a constant, a signal and a nuisance, each longer than the one before. With
    all of them alike, relaxed k-means takes the two longest and misses the constant.

    >>> X = [[1.0, -3, 5], [1, -1, -5], [1, 1, -5], [1, 3, 5]]
    >>> print(round(worst_case_risk(X, np.diag([1.0, 1, 0]), [0, 0, 1, 1]), 6))
    0.4
    >>> print(round(worst_case_risk(X, np.diag([1.0, 1, 1]), [0, 0, 1, 1]), 6))
    2.4
    """
    Z, F = _coordinates(X, M, labels, n_clusters)
    n_classes = F.shape[1]
    k = n_classes if n_clusters is None else n_clusters
    values, vectors = eigh(Z @ Z.T)
    tolerance = TIE * max(abs(values))
    above = vectors[:, values > values[-k] + tolerance]
    tied = vectors[:, abs(values - values[-k]) <= tolerance]
    overlap = np.sum((F.T @ above) ** 2)
    inside = np.linalg.eigvalsh(tied.T @ F @ F.T @ tied)
    overlap += inside[: k - above.shape[1]].sum()
    return float(n_classes + k - 2 * overlap)


def structured_loss(X: ArrayLike, M: ArrayLike, labels: ArrayLike) -> float:
    """Convex bound of the risk: max over projectors of Δ + ⟨Ĉ − C, XMXᵀ⟩ (Law 2016, Eq. 10).

    In the papers: Law 2016, Eqs. 10, 11, 24 and 25.

    Ĉ runs over the orthogonal projectors whose rank k is the number of clusters of the
    partition. By Fan's theorem the maximum is the sum of the k largest eigenvalues of
    XMXᵀ − 2C, plus what does not depend on Ĉ. It is convex in M and never below
    `worst_case_risk`. O(n (d + k)² + (d + k)³); no n × n matrix is formed.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    M : array-like of shape (d, d)
        The metric, symmetric positive semidefinite.
    labels : array-like of n non-negative integers
        The desired partition.

    Returns
    -------
    float
        The loss.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> X, labels = [[1.0, -3, 5], [1, -1, -5], [1, 1, -5], [1, 3, 5]], [0, 0, 1, 1]
    >>> print(round(structured_loss(X, np.zeros((3, 3)), labels), 6))
    4.0
    >>> print(round(structured_loss(X, np.diag([1.0, 0.1, 0]), labels), 6))
    1.294427
    """
    Z, F = _coordinates(X, M, labels, None)
    k = F.shape[1]
    largest = np.linalg.eigvalsh(Z @ Z.T - 2 * F @ F.T)[-k:].sum()
    return float(2 * k + largest - np.sum((F.T @ Z) ** 2))


def _coordinates(
    X: ArrayLike, M: ArrayLike, labels: ArrayLike, n_clusters: int | None
) -> tuple[Floats, Floats]:
    """Z and F with XMXᵀ = QZZᵀQᵀ and C = QFFᵀQᵀ for one Q with orthonormal columns.

    Q spans the columns of XL, with M = LLᵀ, and of J, and as many directions beside them as
    relaxed k-means has clusters. Both matrices are zero there, and so many serve as well as all.
    """
    rows: Any = check_matrix(X, dtype=np.float64, input_name="X")
    L = metric_factor(M, rows.shape[1])
    J = normalized_assignment(labels).toarray()
    n, k = J.shape
    if len(rows) != n:
        raise ValueError(
            f"labels must have one entry per row of X; got {n} labels for {len(rows)} rows"
        )
    if n_clusters is not None:
        k = check_n_clusters(n_clusters, n)
    R: Any = np.linalg.qr(np.hstack([rows @ L, J]), mode="r")
    R = np.pad(R, ((0, min(k, n - len(R))), (0, 0)))
    return R[:, : L.shape[1]], R[:, L.shape[1] :]
