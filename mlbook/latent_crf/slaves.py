"""The slaves of clustering, minimized in closed form (Komodakis 2011, Lemma 2)."""

import numpy as np
from numpy.typing import NDArray

from mlbook._arrays import Floats, Integers

Mask = NDArray[np.bool_]


def point_slaves(potentials: Floats, multipliers: Floats) -> tuple[Integers, Mask]:
    """Minimize the slaves of all points (Komodakis 2011, Eq. 23 and Lemma 2, completed).

    In the papers: Komodakis 2011, Eqs. 32 and 33.

    With θ_q = ū_qq/(n + 1) + λ_pq, slave p chooses q̄ = argmin θ̄, where θ̄_q = ū_pq + max(θ_q, 0)
    and θ̄_p = θ_p. It opens q ≠ p if θ_q < 0 or if it has chosen q, and p if it has chosen p.
    (They leave out that a chosen exemplar is to be open, without which x is infeasible.)
    The value is min θ̄ + Σ_{q≠p} min(θ_q, 0) − β. O(n²) for all n slaves.

    Parameters
    ----------
    potentials : ndarray of shape (n, n)
        ū, see `loss_augmented_potentials`.
    multipliers : ndarray of shape (n, n)
        λ_pq, a row for each slave.

    Returns
    -------
    chosen : ndarray of shape (n,)
        q̄ of each slave.
    is_open : ndarray of shape (n, n), bool
        x̂_qq in each slave, a row for each slave.

    Examples
    --------
    >>> U = np.array([[3.0, 4.0, 4.0], [4.0, 3.0, 5.0], [4.0, 5.0, 3.0]])
    >>> multipliers = np.zeros((3, 3))
    >>> multipliers[0] = [5.0, 0.0, -2.0]
    >>> chosen, is_open = point_slaves(U, multipliers)
    >>> print(chosen, is_open[0])
    [2 1 2] [False False  True]
    """
    n = len(potentials)
    points = np.arange(n)
    theta = multipliers + potentials.diagonal() / (n + 1)
    is_open = theta < 0
    own = theta.diagonal().copy()
    np.maximum(theta, 0, out=theta)
    theta += potentials
    np.fill_diagonal(theta, own)
    chosen = theta.argmin(axis=1)
    is_open[points, points] = False
    is_open[points, chosen] = True
    return chosen, is_open


def cluster_slaves(shares: Floats, multipliers: Floats, labels: Integers, alpha: float) -> Mask:
    """Minimize the slaves of all clusters (Komodakis 2011, Eqs. 24 and 34 and Lemma 2).

    With θ_q = ū_qq/(n + 1) + λ_Cq, cluster C opens all q with θ_q < α if that gains more than
    the 2α it costs, that is if 2α + Σ_{q∈C} min(θ_q − α, 0) < 0, and otherwise none. O(n).

    Parameters
    ----------
    shares : ndarray of shape (n,)
        ū_qq/(n + 1).
    multipliers : ndarray of shape (n,)
        λ_Cq, where C is the cluster of q.
    labels : ndarray of n integers from 0 to k − 1
        Cluster of each point.
    alpha : float
        Weight α of Eq. 15.

    Returns
    -------
    ndarray of shape (n,), bool
        x̂_qq in the slave of the cluster of q.

    Examples
    --------
    >>> multipliers = np.array([-1.0, -2.0, 5.0, -1.0])
    >>> print(cluster_slaves(np.ones(4), multipliers, np.array([0, 0, 0, 1]), alpha=1.0))
    [ True  True False False]
    """
    excess = shares + multipliers - alpha
    gains = np.bincount(labels, np.minimum(excess, 0))
    return (excess < 0) & (2 * alpha + gains < 0)[labels]
