"""The energy less the error: Komodakis 2011, Eqs. 15-20 and 29, on arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlbook._arrays import Floats, Integers
from mlbook._validation import as_array, as_floats, check_number
from mlbook.latent_crf.pair_features import read_features
from mlbook.partitions import encode


def clustering_error(
    assignment: ArrayLike, labels: ArrayLike, alpha: float = 1.0, beta: float = 1.0
) -> float:
    """Error of a clustering with exemplars against a partition (Komodakis 2011, Eqs. 15-16).

    α times the number of exemplars that each cluster of the partition has too many or too
    few of, plus β times the number of points whose exemplar lies in another cluster. With
    α, β > 0 it is zero only for clusterings that induce the partition. O(n).

    Parameters
    ----------
    assignment : array-like of n integers from 0 to n − 1
        Exemplar of each point; that of an exemplar is itself.
    labels : array-like of n non-negative integers
        The partition.
    alpha, beta : float, default=1.0
        Weights α and β, positive.

    Returns
    -------
    float
        The error.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> clustering_error([0, 0, 2, 2], [0, 0, 1, 1])
    0.0
    >>> clustering_error([0, 0, 0, 0], [0, 0, 1, 1])
    3.0
    """
    codes = codes_of(labels)
    chosen = as_array(assignment, "assignment")
    n = len(codes)
    if chosen.shape != (n,) or chosen.dtype.kind not in "iu":
        raise ValueError(
            f"assignment must hold one integer for each of the {n} labels; got {assignment!r}"
        )
    if chosen.min() < 0 or chosen.max() >= n or np.any(chosen[chosen] != chosen):
        raise ValueError(
            f"assignment must point to exemplars, which point to themselves; got {assignment!r}"
        )
    alpha = check_number(alpha, "alpha", above=0)
    beta = check_number(beta, "beta", above=0)
    exemplars = np.bincount(codes[np.unique(chosen)], minlength=codes.max() + 1)
    return float(
        alpha * np.abs(1 - exemplars).sum() + beta * np.count_nonzero(codes != codes[chosen])
    )


def loss_augmented_potentials(
    D: ArrayLike, labels: ArrayLike, penalty: ArrayLike, beta: float = 1.0
) -> Floats:
    """Unary potentials of the loss-augmented energy (Komodakis 2011, Eq. 18).

    ū_pq = d_pq + β [p and q in the same cluster], ū_qq = d_qq + β. The energy less the error
    is then ``Ē(x) = Σ_pq ū_pq x_pq − α Σ_C |1 − Σ_{q∈C} x_qq| − βn`` (Eqs. 17, 20). O(n²).

    Parameters
    ----------
    D : array-like of shape (n, n)
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.
    labels : array-like of n non-negative integers
        The partition.
    penalty : float or array-like of shape (n,)
        Price d_qq of each exemplar.
    beta : float, default=1.0
        Weight β of Eq. 15.

    Returns
    -------
    ndarray of shape (n, n)
        ū.

    Examples
    --------
    >>> print(loss_augmented_potentials([[0, 3, 4], [3, 0, 5], [4, 5, 0]], [0, 0, 1], penalty=2))
    [[3. 4. 4.]
     [4. 3. 5.]
     [4. 5. 3.]]
    """
    codes = codes_of(labels)
    distances = _check_distances(D, len(codes))
    prices, beta = _check_prices(penalty, len(codes)), check_number(beta, "beta", least=0)
    return augment(distances, codes, prices, beta)


def exemplars_of_partition(D: ArrayLike, labels: ArrayLike, penalty: ArrayLike = 0.0) -> Integers:
    """Best exemplar of each cluster of a given partition (Komodakis 2011, Eq. 29).

    q_C = argmin_{q∈C} Σ_{p∈C} d_pq. Points are to be assigned to the exemplar of their own
    cluster; the nearest exemplar, as in the paper's Figure 1, can be another. O(n²) at most.

    Parameters
    ----------
    D : array-like of shape (n, n)
        D[p, q] is the distance of point p to exemplar q. The diagonal is not used.
    labels : array-like of n non-negative integers
        The partition.
    penalty : float or array-like of shape (n,), default=0.0
        Price d_qq of each exemplar; matters only where it differs between points.

    Returns
    -------
    ndarray of shape (k,)
        Exemplar of each cluster, in increasing order of the labels.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> print(exemplars_of_partition(np.abs(x[:, None] - x), [0, 0, 0, 1]))
    [1 3]
    """
    codes = codes_of(labels)
    costs = _check_distances(D, len(codes)).copy()
    np.fill_diagonal(costs, _check_prices(penalty, len(codes)))
    return best_exemplars(costs, codes)


# The same without checks


def augment(D: NDArray[Any], codes: Integers, penalty: Any, beta: float) -> Floats:
    """`loss_augmented_potentials`."""
    U = beta * (codes[:, None] == codes)
    U += D
    np.fill_diagonal(U, penalty + beta)
    return U


def best_exemplars(costs: NDArray[Any], codes: Integers) -> Integers:
    """`exemplars_of_partition`, with the penalties on the diagonal."""
    order = np.argsort(codes, kind="stable")
    clusters = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    found = [C[costs[np.ix_(C, C)].sum(axis=0, dtype=np.float64).argmin()] for C in clusters]
    return np.array(found)


# Checks


def _check_distances(D: Any, n: int) -> NDArray[Any]:
    """Return one matrix of distances between n points, its diagonal zero."""
    if np.ndim(as_array(D, "D")) != 2:
        raise ValueError(f"D must be a square matrix; got shape {np.shape(D)}")
    matrix = read_features([D], "precomputed", "D").distances(np.ones(1))
    if len(matrix) != n:
        raise ValueError(f"D must have shape ({n}, {n}), one row for each label; got {np.shape(D)}")
    return matrix


def _check_prices(penalty: Any, n: int) -> Floats:
    prices = as_floats(penalty, "penalty")
    if prices.shape not in ((), (n,)) or not np.isfinite(prices).all():
        raise ValueError(
            f"penalty must be a finite number or one for each of {n} points; got {penalty!r}"
        )
    return prices


def codes_of(labels: ArrayLike, name: str = "labels") -> Integers:
    """Labels as 0..k−1, or an error that says what is wrong with them."""
    return encode(labels, name)[0].astype(np.intp)
