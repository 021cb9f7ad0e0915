"""The few input checks that scikit-learn does not have."""

import math
from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mlbook._arrays import Floats

FLOATS = (np.float64, np.float32)  # kinds of numbers that stay as they are given


def check_matrix(X: Any, *, input_name: str, squares: bool = True, **options: Any) -> Any:
    """`sklearn.utils.check_array` that also refuses masks, dates, and squares out of range.

    O(nd), as its search for NaN.

    Parameters
    ----------
    X : array-like
        The array.
    input_name : str
        Its name, for errors.
    squares : bool, default=True
        Whether it is going to be squared: `check_squares`.
    **options
        As `check_array` takes them.

    Examples
    --------
    >>> check_matrix([[1e200]], input_name="X")
    Traceback (most recent call last):
    ...
    ValueError: X: its largest entry is 1e+200 in size, and squares would overflow; rescale X
    """
    check_readable(X, input_name)
    array = check_array(X, input_name=input_name, **options)
    if squares:
        check_squares(array, input_name)
    return array


def check_features(model: Any, X: Any, *, squares: bool = True, **options: Any) -> Any:
    """`sklearn.utils.validation.validate_data` with the further checks of `check_matrix`."""
    check_readable(X, "X")
    rows = validate_data(model, X, **options)
    if squares:
        check_squares(rows, "X")
    return rows


def check_squares(array: Any, name: str) -> None:
    """Refuse numbers whose squares overflow, or of which all squares vanish.

    Sums of some squares must fit too: in double precision the largest entry, if it is not 0, may
    be from 1e-151 to 1e138 in size.

    Examples
    --------
    >>> check_squares(np.array([1e-200, 0.0]), "X")
    Traceback (most recent call last):
    ...
    ValueError: X: its largest entry is 1e-200 in size, and squares would vanish; rescale X
    """
    numbers = array.data if issparse(array) else array
    if numbers.dtype.kind != "f" or not numbers.size:
        return
    largest = max(float(numbers.max()), -float(numbers.min()))
    known = np.finfo(numbers.dtype)
    if largest > float(known.max) ** 0.45 or 0 < largest < float(known.tiny) ** 0.49:
        happens = "overflow" if largest > 1 else "vanish"
        raise ValueError(
            f"{name}: its largest entry is {largest:.3g} in size, and squares would {happens}; "
            f"rescale {name}"
        )


def check_readable(value: Any, name: str) -> None:
    """Refuse masked entries, whose mask NumPy drops, dates, which it takes for numbers, and dicts.

    Examples
    --------
    >>> check_readable(np.ma.masked_equal([1, 2], 2), "y")
    Traceback (most recent call last):
    ...
    ValueError: y must have no masked entries; fill them, or leave them out
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name} must have no masked entries; fill them, or leave them out")
    if isinstance(value, Mapping) and not issparse(value):  # a dok_array is a dict too
        raise ValueError(f"{name} must be an array; got a {type(value).__name__}")
    kinds = getattr(value, "dtypes", getattr(value, "dtype", None))  # of a frame: many
    kinds = list(kinds) if isinstance(kinds, Iterable) else [kinds]
    if any(getattr(kind, "kind", None) in ("m", "M") for kind in kinds):
        raise ValueError(f"{name} must hold numbers; got dates or times")


def as_array(value: Any, name: str) -> NDArray[Any]:
    """`np.asarray` that refuses what it cannot read, or would read wrongly, by name.

    Examples
    --------
    >>> as_array([[1, 2], [3]], "Y")
    Traceback (most recent call last):
    ...
    ValueError: Y must be an array; got lists of different lengths
    """
    check_readable(value, name)
    if issparse(value):
        raise ValueError(f"{name} must be dense; got a sparse array. {name}.toarray() is")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array; got lists of different lengths") from error


def as_floats(value: Any, name: str) -> Floats:
    """Return real numbers, which need not be finite, as an array of float64.

    Examples
    --------
    >>> as_floats(["a"], "b")
    Traceback (most recent call last):
    ...
    ValueError: b must hold real numbers; got dtype <U1
    """
    array = as_array(value, name)
    if array.dtype.kind in "biufO":
        try:
            return np.asarray(array, dtype=np.float64)
        except (TypeError, ValueError):
            pass
    raise ValueError(f"{name} must hold real numbers; got dtype {array.dtype}")


def as_vector(value: Any, name: str, n: int, *, least: float = -math.inf) -> Floats:
    """Return n finite numbers, none below `least`.

    Examples
    --------
    >>> as_vector([1.0, -1.0], "b", 2, least=0)
    Traceback (most recent call last):
    ...
    ValueError: b must hold 2 finite numbers, at least 0; got [1.0, -1.0]
    """
    array = as_floats(value, name)
    if array.shape != (n,) or not np.isfinite(array).all() or array.min(initial=least) < least:
        bound = f", at least {least:g}" if least > -math.inf else ""
        raise ValueError(f"{name} must hold {n} finite numbers{bound}; got {value!r:.200}")
    return array


def check_jobs(n_jobs: Any) -> int | None:
    """Return a number of jobs, None or not 0, as joblib wants it.

    Examples
    --------
    >>> check_jobs(None), check_jobs(-1)
    (None, -1)
    """
    if n_jobs is None:
        return None
    if check_integer(n_jobs, "n_jobs", least=-1024) == 0:
        raise ValueError("n_jobs must not be 0; None is one job, -1 one for each processor")
    return int(n_jobs)


def check_boolean(value: Any, name: str) -> bool:
    """Return a switch as a bool, refusing anything else.

    Examples
    --------
    >>> check_boolean("no", "exact")
    Traceback (most recent call last):
    ...
    ValueError: exact must be True or False; got 'no'
    """
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


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


def check_integers(value: Any, name: str, n: int, *, least: int) -> list[int]:
    """Return n integers, refusing another number of them and any below `least`.

    Examples
    --------
    >>> check_integers((4, 0), "shape", 2, least=1)
    Traceback (most recent call last):
    ...
    ValueError: each of shape must be an integer, at least 1; got 0
    """
    if as_array(value, name).shape != (n,):
        raise ValueError(f"{name} must hold {n} integers, at least {least}; got {value!r:.200}")
    return [check_integer(part, f"each of {name}", least=least) for part in value]


def check_number(
    value: Any,
    name: str,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
) -> float:
    """Return `value` as a float, refusing what is not finite or out of the bounds.

    Examples
    --------
    >>> check_number(-1, "noise", least=0)
    Traceback (most recent call last):
    ...
    ValueError: noise must be a finite number, at least 0; got -1
    """
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or not least <= value <= most or value <= above:
        bounds = [f", at least {least:g}"] if least > -math.inf else []
        bounds += [f", greater than {above:g}"] if above > -math.inf else []
        bounds += [f", at most {most:g}"] if most < math.inf else []
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
    if not isinstance(value, str) or value not in choices:
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
    array = as_array(labels, name)
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
    if array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be less than 2^63; got {array.max()}")
    return array.astype(np.int64)


def check_classes(y: Any, name: str) -> NDArray[Any]:
    """Return classes, numbers or strings, refusing NaN, None, and text beside numbers.

    Examples
    --------
    >>> check_classes(["a", 1.0, None], "y")
    Traceback (most recent call last):
    ...
    ValueError: y must be all numbers or all strings; got NoneType, float, str. Drop the rows \
without a label (None or NaN).
    """
    labels = as_array(y, name)
    if labels.ndim != 1 or labels.dtype.kind not in "biu":
        labels = column_or_1d(labels, warn=True)
    if labels.dtype.kind in "biu" or not labels.size:
        return labels
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"Input {name} contains NaN: drop the rows without a label.")
    if labels.dtype.kind == "O":
        kinds = {"str" if isinstance(label, str) else type(label).__name__ for label in labels}
        if len(kinds) > 1:
            raise ValueError(
                f"{name} must be all numbers or all strings; got {', '.join(sorted(kinds))}. Drop "
                "the rows without a label (None or NaN)."
            )
    check_classification_targets(labels)
    return labels


def refuse_unlabelled(classes: NDArray[Any]) -> None:
    """Refuse a class −1, which means unlabelled; but −1 and +1 may be the names of two classes.

    Examples
    --------
    >>> refuse_unlabelled(np.array([-1, 1]))
    >>> refuse_unlabelled(np.array([-1, 0]))
    Traceback (most recent call last):
    ...
    ValueError: y: -1 means unlabelled, and the classes are [-1  0]; drop those rows with \
X[y != -1], y[y != -1], or rename the class.
    """
    if classes.dtype.kind in "if" and -1 in classes and not np.isin(classes, [-1, 1]).all():
        raise ValueError(
            f"y: -1 means unlabelled, and the classes are {classes}; drop those rows with "
            "X[y != -1], y[y != -1], or rename the class."
        )


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
            f"{value.shape}. If there is only one, put it in a list"
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


def metric_factor(M: ArrayLike, n_features: int, name: str = "M") -> Floats:
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
    name : str, default="M"
        What errors call M.

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
    matrix: Any = check_matrix(M, dtype=FLOATS, input_name=name, squares=False)
    if matrix.shape != (n_features, n_features):
        raise ValueError(
            f"{name} must have shape (n_features, n_features) = ({n_features}, {n_features}); "
            f"got {matrix.shape}"
        )
    eps = np.finfo(matrix.dtype).eps
    tolerance = np.sqrt(eps) * np.abs(matrix).max()
    asymmetry = np.abs(matrix - matrix.T).max()
    if asymmetry > tolerance:
        raise ValueError(
            f"{name} must be symmetric; {name} and its transpose differ by {asymmetry:.3g}"
        )

    matrix = (matrix.astype(np.float64) + matrix.T) / 2
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0))
    scale[scale == 0] = 1.0
    values, vectors = eigh(matrix / scale[:, None] / scale)
    kept = values > 10 * n_features * eps
    kept[-1] = True
    L = scale[:, None] * vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0))
    if np.abs(L @ L.T - matrix).max() > tolerance:
        raise ValueError(
            f"{name} must be positive semidefinite; its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(matrix)[0]:.3g}"
        )
    return L
