"""The metrics that the papers compare with."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import getdoc
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, lstsq
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._optional import need
from mlbook._validation import FLOATS, check_classes, check_integer, check_matrix

N_PAIRS = {"pcca": 20_000, "mmc": 2_000, "itml": 500}
"""Number of pairs that a method draws, half of them similar and half dissimilar."""

MAX_SAMPLES = 1_000
"""Number of rows that LMNN draws if there are more."""

METRICS: dict[str, Callable[..., NDArray[Any]]] = {}
"""Every method by name: ``METRICS[name](X, y, random_state=None)`` returns components."""

_INTERFACE = """\
Parameters
----------
X : array-like of shape (n, n_features)
    Rows, dense.
y : array-like of shape (n,)
    Class of each row; at least two classes.
random_state : int, RandomState instance or None, default=None
    Randomness of what is drawn, if anything is.

Returns
-------
ndarray of shape (n_components, n_features)
    Linear map; float32 if X is, else float64.

Raises
------
ValueError
    If X or y is not as described or not finite, or if the method finds no metric for them.
"""

_NOT_VARYING_WITHIN = (
    "X must vary within the classes in every direction in which it varies at all, or the "
    "within-class covariance has no inverse; reduce the dimension first, for instance by PCA"
)


def _metric(learn: Callable[..., Floats]) -> Callable[..., NDArray[Any]]:
    """Enter a method in METRICS, under the checks and the documentation common to all.

    The method gets rows in float64 and classes numbered from 0.
    """

    @wraps(learn)
    def checked(X: ArrayLike, y: ArrayLike, **options: Any) -> NDArray[Any]:
        rows, labels = check_matrix(X, dtype=FLOATS, input_name="X"), check_classes(y, "y")
        check_consistent_length(rows, labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y must have at least two classes; got 1 class, {classes.tolist()}")
        if not np.square(np.ptp(rows, axis=0), dtype=np.float64).any():
            raise ValueError("X must have rows that differ; got equal rows")
        components = learn(rows.astype(np.float64, copy=False), codes, **options)
        components = components.astype(rows.dtype, copy=False)
        if not np.isfinite(components).all() or not components.any():
            raise ValueError(
                f"X and y: {learn.__name__} finds no metric for them, its components would be "
                f"{'zero' if np.isfinite(components).all() else 'infinite'}"
            )
        return components

    checked.__doc__ = f"{getdoc(learn)}\n\n{_INTERFACE}"
    METRICS[learn.__name__] = checked
    return checked


@_metric
def euclidean(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """Euclidean distance: nothing is learned.

    Examples
    --------
    >>> print(euclidean([[0.0, 1.0], [2.0, 3.0]], [0, 1]))
    [[1. 0.]
     [0. 1.]]
    """
    return np.eye(X.shape[1])


@_metric
def regression(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """Least squares onto class indicators: MLCA without its normalization.

    The components are (X†Y)ᵀ with the assignment matrix Y, where MLCA has its normalized form
    (Law 2016, Eq. 17); for classes of equal size they agree up to scale. As there, X is not
    centred and there is no intercept. O(nd²).

    Examples
    --------
    >>> print(regression([[2.0, 0.0], [2.0, 0.0], [0.0, 4.0]], [0, 0, 1]).round(6) + 0.0)
    [[0.5  0.  ]
     [0.   0.25]]
    """
    return lstsq(X, np.eye(y.max() + 1)[y])[0].T


@_metric
def lda(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """Linear discriminant analysis (Fisher 1936, Rao 1948).

    scikit-learn's, by singular value decomposition: at most k − 1 components for k classes,
    along which the within-class covariance is a multiple of the identity (which multiple
    depends on scikit-learn's release). O(nd²).

    Examples
    --------
    >>> X = [[0.0, 0.0], [4.0, 2.0], [0.0, 8.0], [4.0, 10.0]]
    >>> lda(X, [0, 0, 1, 1]).shape
    (1, 2)
    """
    if len(y) <= y.max() + 1:
        raise ValueError("y must have a class with at least two rows; got one row in each")
    with np.errstate(invalid="ignore"):  # equal means give NaN, which is refused
        return LinearDiscriminantAnalysis().fit(X, y).scalings_[:, : y.max()].T


@_metric
def rca(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """Relevant component analysis, one chunk per class (Shental et al. 2002).

    M is the inverse of the within-class covariance. It follows every change of coordinates,
    and so is learned on whitened rows: neither collinear features nor unlike units
    matter. O(nd²).

    Examples
    --------
    >>> X = [[0.0, 0.0], [8.0, 0.0], [1.0, 9.0], [1.0, 5.0]]
    >>> L = rca(X, [0, 0, 1, 1])
    >>> print((L.T @ L).round(6) + 0.0)
    [[0.125 0.   ]
     [0.    0.5  ]]
    """
    W = _whitener(_scatter(X) / len(X))
    rows = (X - X[0]) @ W.T
    within = sum(_scatter(rows[group]) for group in _rows_of_classes(y)) / len(X)
    values, vectors = eigh(within)
    if values[0] < 10 * len(values) * np.finfo(np.float64).eps:
        raise ValueError(_NOT_VARYING_WITHIN)
    return (vectors / np.sqrt(values)) @ vectors.T @ W


@_metric
def kissme(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """Keep it simple and straightforward metric learning, KISSME (Köstinger et al. 2012).

    M is Σ_S⁻¹ − Σ_D⁻¹ with its negative eigenvalues set to zero, Σ_S and Σ_D being the means
    of (x − x')(x − x')ᵀ over all pairs of rows of the same class and of different classes.
    Their sums are known from the class scatters, so that all pairs cost O(nd² + d³).

    Examples
    --------
    >>> X = [[0.0, 0.0], [8.0, 0.0], [0.0, 2.0], [0.0, 9.0], [8.0, 9.0], [0.0, 7.0]]
    >>> L = kissme(X, [0, 0, 0, 1, 1, 1])
    >>> print((L.T @ L).round(3) + 0.0)
    [[0.    0.   ]
     [0.    0.358]]
    """
    weights, axes = _pair_axes(X, y)
    values, vectors = eigh((axes * weights) @ axes.T)
    positive = values > 0
    return (vectors[:, positive] * np.sqrt(values[positive])).T[::-1]


@_metric
def xqda(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """KISSME in the subspace where it is positive, XQDA (Liao et al. 2015).

    With Σ_S and Σ_D as in `kissme`, the subspace is spanned by the generalized eigenvectors of
    Σ_D v = λ Σ_S v with λ > 1. Scaled to vᵀΣ_S v = 1, they make both matrices diagonal, and
    the KISSME metric of the projected rows is M = Σ (1 − 1/λ) vvᵀ, which needs no
    clipping. If no λ is below 1, it is the metric of `kissme`. Nothing is added to Σ_S to
    regularize it. O(nd² + d³).

    Examples
    --------
    >>> X = [[0.0, 0.0], [8.0, 0.0], [0.0, 2.0], [0.0, 9.0], [8.0, 9.0], [0.0, 7.0]]
    >>> L = xqda(X, [0, 0, 0, 1, 1, 1])
    >>> print((L.T @ L).round(3) + 0.0)
    [[0.    0.   ]
     [0.    0.358]]
    """
    weights, axes = _pair_axes(X, y)
    positive = weights > 0
    return (axes[:, positive] * np.sqrt(weights[positive])).T


@_metric
def pcca(X: Floats, y: Integers, *, n_components: int = 30, random_state: Any = None) -> Floats:
    """Pairwise constrained component analysis (Mignon and Jurie 2012).

    Minimizes `pcca_loss` by L-BFGS. The pairs are weighted so that the loss estimates the mean
    over all pairs without bias, up to a constant. It is not convex. The search starts from the
    leading whitened principal components, scaled to a mean squared distance of 1, and runs in
    whitened coordinates: the loss is the same there, and no direction is much steeper
    than the others. O(p d m) per iteration for p pairs and m components.

    Other Parameters
    ----------------
    n_components : int, default=30
        Number of components to learn, or as many as the rows have dimensions if these are fewer.

    Warns
    -----
    ConvergenceWarning
        If L-BFGS stops before it has converged.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [4.0, 1.0], [0.0, 8.0], [4.0, 9.0]])
    >>> L = pcca(X, [0, 0, 1, 1], n_components=1, random_state=0)
    >>> print(np.linalg.norm((X - X[0]) @ L.T, axis=1).round(2))
    [0.   0.   2.57 2.57]
    """
    check_integer(n_components, "n_components", least=1)
    W = _whitener(_scatter(X) / len(X))
    left, right, similar = _draw_pairs(X, y, N_PAIRS["pcca"], check_random_state(random_state))
    differences = (X[left] - X[right]) @ W.T
    n, sizes = len(y), np.bincount(y)
    share = np.sum(sizes * (sizes - 1)) / (n * (n - 1))
    weights = np.where(similar, share, 1 - share) / (N_PAIRS["pcca"] // 2)
    start = np.eye(min(int(n_components), len(W)), len(W))
    start /= np.sqrt(weights @ np.sum((differences @ start.T) ** 2, axis=1))

    def objective(flat: Floats) -> tuple[float, Floats]:
        loss, gradient = pcca_loss(flat.reshape(start.shape), differences, similar, weights)
        return loss, gradient.ravel()

    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B")
    if not found.success:
        message = f"pcca stopped after {found.nit} iterations: {found.message}"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
    return found.x.reshape(start.shape) @ W


def pcca_loss(
    components: Floats,
    differences: Floats,
    similar: NDArray[np.bool_],
    weights: Floats,
    *,
    beta: float = 3.0,
) -> tuple[float, Floats]:
    """Loss of PCCA and its gradient (Mignon and Jurie 2012).

    Σ_p w_p log(1 + exp(β s_p (‖L δ_p‖² − 1)))/β, with s_p = 1 for a similar and −1 for a
    dissimilar pair: similar pairs pay for a distance above 1, dissimilar pairs for one
    below. O(p d m) for p pairs.

    Parameters
    ----------
    components : ndarray of shape (m, d)
        Linear map L.
    differences : ndarray of shape (p, d)
        Difference δ between the two rows of each pair.
    similar : ndarray of p booleans
        Whether the two rows are of the same class.
    weights : ndarray of shape (p,)
        Weight w of each pair.
    beta : float, default=3.0
        Sharpness β of the generalized logistic loss.

    Returns
    -------
    loss : float
        The loss.
    gradient : ndarray of shape (m, d)
        Its gradient with respect to L.

    Examples
    --------
    >>> loss, gradient = pcca_loss(np.eye(1), np.ones((1, 1)), np.array([True]), np.ones(1))
    >>> round(loss, 6), gradient  # log(2)/3, and the slope of L² / 2
    (0.231049, array([[1.]]))
    """
    mapped = differences @ components.T
    signs = np.where(similar, 1.0, -1.0)
    excess = beta * signs * (np.sum(mapped**2, axis=1) - 1)
    loss = weights @ np.logaddexp(0, excess) / beta
    slopes = 2 * weights * signs * expit(excess)
    return float(loss), (slopes[:, None] * mapped).T @ differences


@_metric
def mmc(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """Metric learning from side information, MMC (Xing et al. 2002).

    Maximizes the sum of the distances of dissimilar pairs while the sum of the squared
    distances of similar pairs is held fixed: a convex problem, whose solution follows every
    change of coordinates. metric-learn is given coordinates in which the similar pairs are
    alike in all directions: its alternating projections are short there, while on the toy data
    of Law 2016 as they are it takes a thousand times longer and ends far from the maximum.
    O(p d² + d³) per iteration and O(p d²) memory for p pairs.

    Examples
    --------
    >>> X = [[0.0, 0.0], [4.0, 1.0], [5.0, 3.0], [0.0, 8.0], [4.0, 9.0], [5.0, 9.0]]
    >>> mmc(X, [0, 0, 0, 1, 1, 1], random_state=0).shape
    (2, 2)
    """
    left, right, similar = _draw_pairs(X, y, N_PAIRS["mmc"], check_random_state(random_state))
    differences = X[left] - X[right]
    among_similar = differences[similar].T @ differences[similar]
    W = _whitener(among_similar / similar.sum())
    if len(W) < len(_whitener(differences.T @ differences)):
        raise ValueError(_NOT_VARYING_WITHIN)
    if len(W) == 1:  # all metrics of one dimension are the same, up to scale
        return W
    pairs = np.stack([X[left], X[right]], axis=1) @ W.T
    with _metric_learn() as library:
        return library.MMC().fit(pairs, np.where(similar, 1, -1)).components_ @ W


@_metric
def itml(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """Information-theoretic metric learning (Davis et al. 2007).

    Stays as near to the Euclidean distance (in the LogDet divergence) as pairs permit: similar
    ones are to be nearer than the 5th percentile of all distances, dissimilar ones farther
    than the 95th. O(p d²) per iteration for p pairs, in Python; up to 1000 iterations.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("metric_learn")
    >>> X = [[0.0, 0.0], [0.1, 4.0], [3.0, 0.1], [3.1, 4.1]]
    >>> itml(X, [0, 0, 1, 1], random_state=0).shape
    (2, 2)
    """
    left, right, similar = _draw_pairs(X, y, N_PAIRS["itml"], check_random_state(random_state))
    pairs = np.stack([X[left], X[right]], axis=1)
    with _metric_learn() as library:
        return library.ITML().fit(pairs, np.where(similar, 1, -1)).components_


@_metric
def lmnn(X: Floats, y: Integers, *, random_state: Any = None) -> Floats:
    """Large margin nearest neighbours (Weinberger et al. 2005).

    Pulls each row towards its 3 nearest rows of the same class and pushes rows of other classes
    out of their reach. Of more than `MAX_SAMPLES` rows, as many are drawn: from each class
    in proportion, but no fewer than 4. O(m²d) per iteration for m rows.

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]
    >>> lmnn(X + [[x, 1.0] for x, _ in X], [0, 0, 0, 0, 1, 1, 1, 1]).shape
    (2, 2)
    """
    groups, sizes = _rows_of_classes(y), np.bincount(y)
    if sizes.min() < 4:
        raise ValueError(
            f"y must have at least 4 rows of each class, for 3 neighbours each; got {sizes.min()}"
        )
    if len(X) > MAX_SAMPLES:
        rng = check_random_state(random_state)
        quotas = np.clip(sizes * MAX_SAMPLES // len(X), 4, None)
        drawn = [
            rng.choice(group, quota, replace=False)
            for group, quota in zip(groups, quotas, strict=True)
        ]
        rows = np.sort(np.concatenate(drawn))
        X, y = X[rows], y[rows]
    with _metric_learn() as library:
        return library.LMNN().fit(X, y).components_


def _rows_of_classes(y: Integers) -> list[Integers]:
    """List the rows of each class."""
    return np.split(np.argsort(y, kind="stable"), np.cumsum(np.bincount(y))[:-1])


def _scatter(X: Floats) -> Floats:
    """Σ(x − z)(x − z)ᵀ with z the mean; exactly zero for constant features."""
    Z = X - X[0]
    Z -= Z.mean(axis=0)
    return Z.T @ Z


def _whitener(scatter: Floats) -> Floats:
    """W of shape (rank, d) with W scatter Wᵀ = I, leading principal components first.

    The principal components are those of the correlation matrix: the units of the features
    do not matter. Features that do not vary get zeros.
    """
    scale = np.sqrt(scatter.diagonal())
    scale[scale == 0] = 1
    values, vectors = eigh(scatter / scale[:, None] / scale)
    kept = values > 10 * len(values) * np.finfo(np.float64).eps
    return ((vectors[:, kept] / np.sqrt(values[kept])).T / scale)[::-1]


def _pair_scatters(X: Floats, y: Integers) -> tuple[Floats, Floats]:
    """Sum (x − x')(x − x')ᵀ over the pairs of rows of one class, and over all pairs.

    With n_c, z_c and W_c the size, mean and scatter of class c, and n, z those of all rows,
    the sums are Σ_c n_c W_c and n Σ_c (W_c + n_c (z_c − z)(z_c − z)ᵀ). O(nd²); classes
    are copied one at a time.
    """
    n, d = X.shape
    sizes = np.bincount(y)
    similar, total = np.zeros((d, d)), np.zeros((d, d))
    means = np.empty((len(sizes), d))
    for c, group in enumerate(_rows_of_classes(y)):
        Z = X[group] - X[0]
        means[c] = Z.mean(axis=0)
        Z -= means[c]
        scatter = Z.T @ Z
        similar += sizes[c] * scatter
        total += n * scatter
    means -= sizes @ means / n
    return similar, total + n * (sizes * means.T) @ means


def _pair_axes(X: Floats, y: Integers) -> tuple[Floats, Floats]:
    """Weights w, decreasing, and axes V of shape (d, rank) with Σ_S⁻¹ − Σ_D⁻¹ = V diag(w) Vᵀ.

    VᵀSV = diag(μ) and Vᵀ(S + D)V = I for the sums S and D over similar and dissimilar pairs.
    So VᵀDV = diag(1 − μ), and w = N_S/μ − N_D/(1 − μ) with N_S and N_D the numbers of pairs.
    The eigenvalues of Σ_D v = λ Σ_S v are λ = (N_S/μ)/(N_D/(1 − μ)); w > 0 where λ > 1.
    """
    similar, total = _pair_scatters(X, y)
    W = _whitener(total)
    mu, vectors = eigh(W @ similar @ W.T, W @ total @ W.T)
    if mu[0] < 10 * len(mu) * np.finfo(np.float64).eps:
        raise ValueError(_NOT_VARYING_WITHIN)
    n, sizes = len(y), np.bincount(y)
    n_similar = np.sum(sizes * (sizes - 1)) / 2
    n_dissimilar = n * (n - 1) / 2 - n_similar
    return n_similar / mu - n_dissimilar / (1 - mu), W.T @ vectors


def _draw_pairs(
    X: Floats, y: Integers, n_pairs: int, rng: np.random.RandomState
) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Draw pairs of rows, with replacement: left and right indices, and whether similar.

    Half are uniform over the pairs of one class, half over the others. Pairs of equal
    rows, at distance 0 under every metric, are left out. O(n log n).
    """
    n, half = len(y), n_pairs // 2
    order = np.argsort(y, kind="stable")
    size = np.bincount(y)[y[order]]  # of the class of each sorted row
    start = np.searchsorted(y[order], y[order])
    if size.max() < 2:
        raise ValueError("y must have a class with at least two rows; got one row in each")

    p = rng.choice(n, half, p=(size - 1) / np.sum(size - 1))
    q = start[p] + rng.randint(size[p] - 1)
    q += q >= p
    r = rng.choice(n, half, p=(n - size) / np.sum(n - size))
    s = rng.randint(n - size[r])
    s += np.where(s >= start[r], size[r], 0)

    left, right = order[np.concatenate([p, r])], order[np.concatenate([q, s])]
    similar = np.arange(2 * half) < half
    distinct = np.any(X[left] != X[right], axis=1)
    if not distinct[similar].any() or not distinct[~similar].any():
        raise ValueError("X must have rows that differ, within the classes and between them")
    return left[distinct], right[distinct], similar[distinct]


@contextmanager
def _metric_learn() -> Iterator[Any]:
    """metric-learn, for a block in which it does not warn of its own use of scikit-learn."""
    metric_learn = need("metric_learn", project="metric-learn", extra="reproduce")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'force_all_finite' was renamed", FutureWarning)
        yield metric_learn
