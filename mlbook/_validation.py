"""The few input checks that scikit-learn does not have."""

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.utils import check_array

from mlbook._arrays import Floats

FLOATS = (np.float64, np.float32)  # kinds of numbers that stay as they are given


def check_integer(value: Any, name: str, *, least: int, most: int | None = None) -> int:
    """Return `value` as an int, refusing what is not an integer from `least` to `most`.

    Examples
    --------
    >>> check_integer(0, "n_features", least=1)
    Traceback (most recent call last):
    ...
    ValueError: n_features must be an integer, at least 1; got 0
    """
    integral = isinstance(value, Integral) and not isinstance(value, bool)
    if not integral or int(value) < least or (most is not None and int(value) > most):
        allowed = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be an integer, {allowed}; got {value!r}")
    return int(value)


def check_number(
    value: Any, name: str, *, least: float = -math.inf, above: float = -math.inf
) -> float:
    """Return `value` as a float, refusing what is not finite, below `least` or not above `above`.

    Examples
    --------
    >>> check_number(-1, "noise", least=0)
    Traceback (most recent call last):
    ...
    ValueError: noise must be a finite number, at least 0; got -1
    """
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or value < least or value <= above:
        bounds = [f", at least {least:g}"] if least > -math.inf else []
        bounds += [f", greater than {above:g}"] if above > -math.inf else []
        raise ValueError(f"{name} must be a finite number{''.join(bounds)}; got {value!r}")
    return float(value)


def check_choice(value: Any, name: str, choices: Collection[str]) -> None:
    """Refuse a value that is not among the choices.

    Examples
    --------
    >>> check_choice("ward", "init", ("random", "pca"))
    Traceback (most recent call last):
    ...
    ValueError: init must be one of ('random', 'pca'); got 'ward'
    """
    if value not in choices:
        raise ValueError(f"{name} must be one of {tuple(choices)}; got {value!r}")


def check_integer_labels(
    labels: ArrayLike, name: str, *, least: int, n: int | None = None
) -> NDArray[np.int64]:
    """Return labels as int64, refusing any below `least` and, if `n` is given, another number.

    Examples
    --------
    >>> check_integer_labels([0, 1, -1], "y", least=0)
    Traceback (most recent call last):
    ...
    ValueError: y must be at least 0; got -1
    """
    array = np.asarray(labels)
    right = array.ndim == 1 and array.size > 0 if n is None else array.shape == (n,)
    if not right or array.dtype.kind not in "biu":
        wanted = (
            "be a one-dimensional array of integers, not empty"
            if n is None
            else f"hold one integer for each of {n} points"
        )
        raise ValueError(f"{name} must {wanted}; got shape {array.shape}, dtype {array.dtype}")
    if array.min() < least:
        raise ValueError(f"{name} must be at least {least}; got {array.min()}")
    return array.astype(np.int64)


def check_list(value: Any, name: str, what: str) -> None:
    """Refuse one matrix where a list of them is wanted.

    Examples
    --------
    >>> check_list(np.zeros((20, 3)), "X", "sequence")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: X must be a list with a matrix for each sequence; got one of shape (20, 3)...
    """
    if getattr(value, "ndim", None) == 2:
        raise ValueError(
            f"{name} must be a list with a matrix for each {what}; got one of shape "
            f"{value.shape}. If there is only one, write [{name}]"
        )


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """Return `n_clusters` as an int, refusing what no partition of the samples can have.

    Parameters
    ----------
    n_clusters : int
        Requested number of clusters.
    n_samples : int
        Number of points to be partitioned.

    Returns
    -------
    int
        The same number.

    Raises
    ------
    ValueError
        If `n_clusters` is not an integer between 1 and `n_samples`.

    Examples
    --------
    >>> check_n_clusters(3, 10)
    3
    """
    integral = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
    if not integral or not 1 <= int(n_clusters) <= n_samples:
        raise ValueError(
            f"n_clusters must be an integer between 1 and n_samples={n_samples}; got {n_clusters!r}"
        )
    return int(n_clusters)


def metric_factor(M: ArrayLike, n_features: int) -> Floats:
    """Factor a Mahalanobis matrix as M = LLᵀ, so that d_M(x, z) = ‖Lᵀ(x − z)‖.

    M is scaled to a unit diagonal before its eigenvectors are taken: features measured
    in very different units lose no accuracy, and the numerical rank does not depend on
    the units. M need only be symmetric positive semidefinite up to rounding; what rounding
    left in it of the rest is dropped. O(n_features³).

    Parameters
    ----------
    M : array-like of shape (n_features, n_features)
        Symmetric positive semidefinite matrix.
    n_features : int
        Number of features of the data the metric is for.

    Returns
    -------
    ndarray of shape (n_features, max(1, rank of M)), float64
        L.

    Raises
    ------
    ValueError
        If M has another shape, holds NaN or infinity, or differs from every symmetric
        positive semidefinite matrix by more than rounding (√eps of its largest entry).

    Examples
    --------
    >>> L = metric_factor([[4.0, 2.0], [2.0, 1.0]], 2)
    >>> L.shape
    (2, 1)
    >>> print((L @ L.T).round(12))
    [[4. 2.]
     [2. 1.]]
    """
    matrix: Any = check_array(M, dtype=FLOATS, input_name="M")
    if matrix.shape != (n_features, n_features):
        raise ValueError(
            f"M must have shape (n_features, n_features) = ({n_features}, {n_features}); "
            f"got {matrix.shape}"
        )
    eps = np.finfo(matrix.dtype).eps
    tolerance = np.sqrt(eps) * np.abs(matrix).max()
    asymmetry = np.abs(matrix - matrix.T).max()
    if asymmetry > tolerance:
        raise ValueError(f"M must be symmetric; M and its transpose differ by {asymmetry:.3g}")

    matrix = (matrix.astype(np.float64) + matrix.T) / 2
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0))
    scale[scale == 0] = 1.0
    values, vectors = eigh(matrix / scale[:, None] / scale)
    kept = values > 10 * n_features * eps
    kept[-1] = True
    L = scale[:, None] * vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0))
    if np.abs(L @ L.T - matrix).max() > tolerance:
        raise ValueError(
            "M must be positive semidefinite; its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(matrix)[0]:.3g}"
        )
    return L
