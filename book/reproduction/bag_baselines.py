"""Other methods that learn from bags: what Law 2017 compares MIMLCA with.

Metrics: `miml` and `mildml` return linear maps ``components``, of shape (r, d): the metric is the
Euclidean distance after ``bags.map(lambda X: X @ components.T)``.

Bag classifiers rank the labels of whole bags: `class_to_bag_scores` with the maps of
`class_to_bag_metric` (M-C2B), and support vector machines, one for each label
(`one_vs_rest_scores`), on what describes a bag: `bag_dissimilarities` to the training bags
(MInD), `minimax_features`, or a kernel of bags, `mi_kernel`.

The Euclidean distance to the nearest class mean, another of the paper's baselines, is
`sklearn.neighbors.NearestCentroid`. Classifiers that look for the instances that decide over a bag
(MILES, mi-SVM, MILBoost, EM-DD) are in `law2017_instances`.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, pinvh, qr
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers, squared_norms
from mlbook._validation import as_array, check_choice, check_integer, check_matrix, check_number
from mlbook.bags import Bags, as_bags, candidate_labels

__all__ = [
    "DISSIMILARITIES",
    "MIML",
    "bag_dissimilarities",
    "class_to_bag_metric",
    "class_to_bag_scores",
    "mi_kernel",
    "mildml",
    "miml",
    "minimax_features",
    "one_vs_rest_scores",
]

RandomState = int | np.random.RandomState | None

DISSIMILARITIES: dict[str, np.ufunc] = {
    "minmin": np.minimum,
    "maxmin": np.maximum,
    "meanmin": np.add,
}
"""Kinds of `bag_dissimilarities`, and what takes the instances of the first bag together."""

EPS = float(np.finfo(np.float64).eps)
LEAST_NORM = 1e-6  # M-C2B divides by norms: at least this share of the largest
BLOCK_ENTRIES = 2**23  # instance distances held at a time: 64 MB


class MIML(NamedTuple):
    """Result of `miml`.

    Attributes
    ----------
    components : ndarray of shape (r, d)
        Aᵀ, with orthonormal rows.
    centroids : ndarray of shape (k, d)
        Reference vector of each category.
    ratio_path : ndarray
        Spread of the centroids over the distortion, after each round; up to ``tol`` never
        decreasing.

    Examples
    --------
    >>> found = miml(Bags([[0.0], [0.1], [3.0], [3.1]], range(5)), np.eye(2)[[0, 0, 1, 1]],
    ...              n_components=1, random_state=0)
    >>> isinstance(found, MIML), found.centroids.round(2).tolist()
    (True, [[0.05], [3.05]])
    """

    components: Floats
    centroids: Floats
    ratio_path: Floats


def miml(
    bags: Any,
    Y: Any,
    *,
    n_components: int,
    init: str = "means",
    outside: str = "mean",
    max_iter: int = 50,
    max_inner: int = 20,
    tol: float = 1e-4,
    random_state: RandomState = None,
) -> MIML:
    """Alternating metric learning of Jin, Wang and Zhou (2009), as in Law 2017, Appendix A.10.

    With orthonormal A of shape (d, r) and reference vectors z_c, the ratio

        Σ_{c,c′} ‖Aᵀ(z_c − z_c′)‖² / Σ_i Σ_{c ∈ y_i} min_{x ∈ bag i} ‖Aᵀ(x − z_c)‖²

    is raised by turns: (1) choose the nearest instance of every bag to the reference vectors
    of its labels; (2) maximize the ratio over A, a trace ratio, by a few symmetric
    eigenproblems; (3) move one reference vector after the other to lower the denominator
    while the numerator stays at least what it was. Up to `tol`, no step lowers the ratio.

    The program in the appendix ends a round too early: the reference vectors it returns belong
    to the map before the last. It also lets step 3 halve the numerator, so that no quantity
    is monotone. Both are mended here. Its other two peculiarities are options: it starts
    from reference vectors drawn from N(0, I), whatever the data (``init="random"``), and it
    stores them as points of the span of A (``outside="zero"``). The second makes the data
    look far from them in all other directions, farthest where values are large, so that A turns
    away from these, also if they tell the categories apart.

    Each round takes O(r Σ_i n_i q_i) for the q_i labels of bags i, up to `max_inner`
    eigenproblems of O(d³), and up to `max_inner` sweeps of O(k r).

    Parameters
    ----------
    bags : Bags, or list of array-likes of shape (n_i, d)
        The bags, none empty.
    Y : array-like or sparse array of shape (m, k)
        Their labels; at least two categories, each of some bag.
    n_components : int
        r, from 1 to d.
    init : {"means", "random"}, default="means"
        First reference vectors: the mean of the means of the bags with the label, or random.
    outside : {"mean", "zero"}, default="mean"
        What a reference vector is in the directions that A does not see: the mean of the
        instances chosen, or 0.
    max_iter, max_inner : int, default=50 and 20
        Most rounds, and most repetitions of (2) and (3) in a round.
    tol : float, default=1e-4
        Relative change below which rounds, and repetitions, end.
    random_state : int, RandomState instance or None, default=None
        Randomness of ``init="random"``.

    Returns
    -------
    MIML
        The map, the reference vectors, and the path of the ratio.

    Raises
    ------
    ValueError
        If an argument is not as described, or all chosen instances coincide with the reference
        vectors of their labels in r directions, so that the ratio is infinite.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.array([0, 1] * 30)
    >>> X = np.column_stack([truth + 0.2 * rng.normal(size=60), rng.normal(size=60)])
    >>> bags = Bags(X, [*range(0, 40, 2), *range(40, 61)])
    >>> Y = [[1, 1]] * 20 + [[1, 0], [0, 1]] * 10
    >>> abs(miml(bags, Y, n_components=1).components).round(1).tolist()
    [[1.0, 0.0]]
    """
    bags = _full_bags(bags, "bags")
    labels = candidate_labels(Y, len(bags))
    _require_categories(labels)
    X = _dense(bags.instances)
    n_components = check_integer(n_components, "n_components", least=1, most=X.shape[1])
    max_iter = check_integer(max_iter, "max_iter", least=1)
    max_inner = check_integer(max_inner, "max_inner", least=1)
    tol = check_number(tol, "tol", least=0)
    check_choice(init, "init", ("means", "random"))
    check_choice(outside, "outside", ("mean", "zero"))
    # one pair (bag, label) after the other: which bag, which label, sums over the pairs of a label
    owners = np.repeat(np.arange(len(bags)), np.diff(labels.indptr))
    categories = labels.indices.astype(np.intp)
    ones = np.ones_like(categories)
    pairs = _PairRuns(bags.offsets[owners], bags.sizes[owners], categories, ones)
    by_category = csr_array((ones, (categories, np.arange(len(ones)))))
    counts = np.bincount(categories)
    if init == "means":
        means = np.add.reduceat(X, bags.offsets[:-1], axis=0) / bags.sizes[:, None]
        Z = by_category @ means[owners] / counts[:, None]
        A = np.eye(X.shape[1])
    else:
        rng = check_random_state(random_state)
        A = qr(rng.standard_normal((X.shape[1], n_components)), mode="economic")[0]
        Z = rng.standard_normal((labels.shape[1], X.shape[1]))

    path: list[float] = []
    for _ in range(max_iter):
        chosen = X[pairs.nearest(X @ A, Z @ A)[0]]
        differences = chosen - Z[categories]
        centred = Z - Z.mean(axis=0)
        A = _trace_ratio(
            2 * len(Z) * centred.T @ centred,
            differences.T @ differences,
            n_components,
            max_inner,
            tol,
        )
        sums = by_category @ chosen
        inside = _spread_centroids(Z @ A, sums @ A, counts, max_inner, tol)
        Z = inside @ A.T
        if outside == "mean":
            means = sums / counts[:, None]
            Z += means - means @ A @ A.T
        residual = chosen @ A - inside[categories]
        path.append(_spread(inside) / float(np.einsum("ij,ij->", residual, residual)))
        if len(path) > 1 and path[-1] - path[-2] <= tol * path[-1]:
            break
    else:
        _warn_of_rounds("miml", "the ratio still rises", max_iter)
    return MIML(A.T, Z, np.array(path))


def _trace_ratio(V: Floats, U: Floats, r: int, max_inner: int, tol: float) -> Floats:
    """Orthonormal A of r columns with a large tr(AᵀVA)/tr(AᵀUA): eigenvectors of V − σU."""
    d, sigma = len(V), 0.0
    for _ in range(max_inner):
        A = eigh(V - sigma * U, subset_by_index=[d - r, d - 1])[1]
        within = float(np.einsum("ij,ij->", A, U @ A))
        if within <= d * EPS * np.trace(U):
            raise ValueError(
                f"n_components={r}: chosen instances and reference vectors coincide in as many "
                "directions, and the ratio is infinite; give more, or reduce the dimension first"
            )
        new = float(np.einsum("ij,ij->", A, V @ A)) / within
        if abs(new - sigma) <= tol * sigma:
            break
        sigma = new
    return A


def _spread(Z: Floats) -> float:
    """Σ_{c,c′} ‖z_c − z_c′‖²."""
    centred = Z - Z.mean(axis=0)
    return 2 * len(Z) * float(np.einsum("ij,ij->", centred, centred))


def _spread_centroids(
    Z: Floats, sums: Floats, counts: NDArray[Any], max_inner: int, tol: float
) -> Floats:
    """Lower Σ_c Σ_x ‖x − z_c‖², the instances x of c given by sum and count, at no less spread.

    In z_c alone the spread is 2(k − 1)‖z_c − u‖² plus a constant, u being the mean of the
    others: the best z_c is the mean of the instances, or the nearest point to it of a sphere
    about u that keeps the spread.
    """
    Z, k = Z.copy(), len(Z)
    bound = _spread(Z)
    total = Z.sum(axis=0)
    spread = bound
    means = sums / counts[:, None]
    for _ in range(max_inner):
        moved = 0.0
        for c, mean in enumerate(means):
            u = (total - Z[c]) / (k - 1)
            old = Z[c] - u
            slack = (spread - bound) / (2 * (k - 1))
            least = np.sqrt(max(old @ old - slack, 0.0))
            new = mean - u
            length = np.sqrt(new @ new)
            if length < least:
                new = new * (least / length) if length > 0 else old
            step = new - old
            Z[c] += step
            total += step
            spread += 2 * (k - 1) * float(new @ new - old @ old)
            moved += float(counts[c] * (step @ step))
        spread = max(_spread(Z), bound)
        residual = float(counts @ squared_norms(Z - means))
        if moved <= tol * residual:
            break
    return Z


class _PairRuns:
    """Runs of pairs (row of A, row of B), of which the nearest of each run is wanted."""

    def __init__(
        self,
        row_start: Integers,
        n_rows: Integers,
        column_start: Integers,
        n_columns: Integers,
    ) -> None:
        """Run p has all pairs of n_rows[p] rows of A and n_columns[p] rows of B."""
        self.row_start, self.column_start, self.n_columns = row_start, column_start, n_columns
        self.sizes = n_rows * n_columns

    def nearest(self, A: Floats, B: Floats) -> tuple[Integers, Integers]:
        """Rows of A and of B that are the nearest pair of each run, the first where some tie.

        As many runs are worked on at a time as have BLOCK_ENTRIES differences: memory is bounded
        by these or the largest run.
        """
        at_once = max(1, BLOCK_ENTRIES // A.shape[1])
        ends = np.cumsum(self.sizes)
        found, first = [], 0
        while first < len(ends):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + at_once, side="right")))
            found.append(self._nearest_of(slice(first, last), A, B))
            first = last
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))  # type: ignore[return-value]

    def _nearest_of(self, runs: slice, A: Floats, B: Floats) -> tuple[Integers, Integers]:
        sizes = self.sizes[runs]
        starts = np.append(0, np.cumsum(sizes)[:-1])
        within = np.arange(sizes.sum()) - np.repeat(starts, sizes)
        row, column = np.divmod(within, np.repeat(self.n_columns[runs], sizes))
        rows = np.repeat(self.row_start[runs], sizes) + row
        columns = np.repeat(self.column_start[runs], sizes) + column
        distances = squared_norms(A[rows] - B[columns])
        least = np.repeat(np.minimum.reduceat(distances, starts), sizes)
        ties = np.flatnonzero(distances == least)
        chosen = ties[np.searchsorted(ties, starts)]
        return rows[chosen], columns[chosen]


def mildml(
    bags: Any,
    Y: Any,
    *,
    n_components: int,
    n_pairs: int = 20_000,
    max_iter: int = 20,
    random_state: RandomState = None,
) -> Floats:
    """Multiple instance logistic discriminant metric learning, MildML (Guillaumin et al. 2010).

    Two bags are alike if they share a label, which has the probability σ(b − d²), with the
    logistic function σ and the squared distance d² of their nearest instances. The
    likelihood of a sample of pairs of bags, half of them alike, is raised by turns: nearest
    instances under the present map, then L-BFGS in the map and b with these fixed.
    The authors have all pairs, O(m²) of them; here the pairs that share a label are listed
    to draw from. O(p d r) per step of L-BFGS for p pairs drawn.

    Parameters
    ----------
    bags : Bags, or list of array-likes of shape (n_i, d)
        The bags, none empty.
    Y : array-like or sparse array of shape (m, k)
        Their labels: some pairs of bags must share one, and some must not.
    n_components : int
        r, from 1 to d. The first map has the leading r principal axes, scaled so that
        distances are about 1.
    n_pairs : int, default=20000
        Number of pairs drawn, half alike and half not, with replacement.
    max_iter : int, default=20
        Most rounds. Rounds end when no pair of nearest instances changes.
    random_state : int, RandomState instance or None, default=None
        Randomness of the pairs.

    Returns
    -------
    ndarray of shape (r, d)
        The map.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(2)[np.arange(40) % 2]
    >>> X = np.column_stack([Y[:, 0] + 0.1 * rng.normal(size=40), rng.normal(size=40)])
    >>> M = mildml(Bags(X, range(41)), Y, n_components=2, n_pairs=200, random_state=0)
    >>> bool(M[:, 0] @ M[:, 0] > 5 * M[:, 1] @ M[:, 1])
    True
    """
    bags = _full_bags(bags, "bags")
    labels = candidate_labels(Y, len(bags))
    X = _dense(bags.instances)
    n_components = check_integer(n_components, "n_components", least=1, most=X.shape[1])
    n_pairs = check_integer(n_pairs, "n_pairs", least=2)
    max_iter = check_integer(max_iter, "max_iter", least=1)
    left, right, alike = _draw_bag_pairs(labels, n_pairs, check_random_state(random_state))
    candidates = _PairRuns(
        bags.offsets[left], bags.sizes[left], bags.offsets[right], bags.sizes[right]
    )

    centred = X - X.mean(axis=0)
    axes = eigh(centred.T @ centred, subset_by_index=[X.shape[1] - n_components, X.shape[1] - 1])[1]
    scores = centred @ axes
    L = axes.T / np.sqrt(2 * max(float(np.mean(np.sum(scores**2, axis=1))), EPS))
    parameters = np.append(L.ravel(), 1.0)
    previous: Integers = np.empty(0, dtype=np.intp)
    for _ in range(max_iter):
        mapped = X @ parameters[:-1].reshape(L.shape).T
        nearest = np.array(candidates.nearest(mapped, mapped))
        if np.array_equal(nearest, previous):
            break
        previous = nearest
        parameters = minimize(
            _logistic_loss,
            parameters,
            args=(X[nearest[0]] - X[nearest[1]], alike),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 20},
        ).x
    else:
        _warn_of_rounds("mildml", "nearest instances still change", max_iter)
    return parameters[:-1].reshape(L.shape)


def _warn_of_rounds(method: str, what: str, max_iter: int) -> None:
    message = f"{method}: {what} after max_iter={max_iter} rounds; raise max_iter"
    warnings.warn(message, ConvergenceWarning, stacklevel=3)


def _logistic_loss(
    parameters: Floats, differences: Floats, alike: NDArray[np.bool_]
) -> tuple[float, Floats]:
    """Mean of log(1 + exp(∓(b − ‖Lx‖²))) over pairs, and its gradient in L and b."""
    L = parameters[:-1].reshape(-1, differences.shape[1])
    mapped = differences @ L.T
    margins = parameters[-1] - squared_norms(mapped)
    loss = float(np.mean(np.logaddexp(0, np.where(alike, -margins, margins))))
    slopes = (expit(margins) - alike) / len(margins)
    gradient = -2 * (mapped * slopes[:, None]).T @ differences
    return loss, np.append(gradient.ravel(), slopes.sum())


def _draw_bag_pairs(
    labels: csr_array, n_pairs: int, rng: np.random.RandomState
) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Pairs of different bags: the first half share a label, the others do not."""
    m = labels.shape[0]
    shared = sp.triu(labels.astype(np.int64) @ labels.T.astype(np.int64), k=1).tocoo()
    if shared.nnz == 0 or shared.nnz == m * (m - 1) // 2:
        which = "no" if shared.nnz == 0 else "every"
        raise ValueError(
            f"Y: {which} pair of bags shares a label; there must be pairs of both kinds"
        )
    drawn = rng.randint(shared.nnz, size=n_pairs // 2)
    left, right = [shared.row[drawn]], [shared.col[drawn]]
    known = np.sort(shared.row.astype(np.int64) * m + shared.col)
    missing = n_pairs - n_pairs // 2
    while missing:
        i, j = np.sort(rng.randint(m, size=(2, 2 * missing + 8)), axis=0)
        position = np.minimum(np.searchsorted(known, i * m + j), len(known) - 1)
        fine = np.flatnonzero((i < j) & (known[position] != i * m + j))[:missing]
        left.append(i[fine])
        right.append(j[fine])
        missing -= len(fine)
    return np.concatenate(left), np.concatenate(right), np.arange(n_pairs) < n_pairs // 2


def class_to_bag_metric(
    within: ArrayLike, between: ArrayLike, *, max_iter: int = 50, tol: float = 1e-6
) -> Floats:
    """Metric of one category in M-C2B (Wang, Nie and Huang 2012; Law 2017, Appendix A.11).

    Lowers the ratio Σ ‖Uᵀa‖ / Σ ‖Uᵀb‖ over square matrices U, for differences a between
    instances of the category and its bags, and b between them and other bags. With the ratio
    λ of the present U, the next one minimizes

        Σ ‖Uᵀa‖² / (2‖a‖_U) − λ Σ ⟨Uᵀb, s_b⟩

    where ‖a‖_U and the directions s_b of Uᵀb are of the present U: but for a constant, a bound
    of the difference Σ ‖Uᵀa‖ − λ Σ ‖Uᵀb‖ that is tight at the present U, where it is 0, so that the
    ratio never rises. (The appendix' program compares the values of these bounds, each for
    another λ, and keeps the map with the least.) O((p + q) d² + d³) for each round.

    Parameters
    ----------
    within, between : array-likes of shape (p, d) and (q, d)
        The differences a and b. Zero rows count for nothing.
    max_iter : int, default=50
        Most rounds; 0 leaves the Euclidean distance.
    tol : float, default=1e-6
        Rounds end when the ratio falls by no more than this share of itself.

    Returns
    -------
    ndarray of shape (d, d)
        Components Uᵀ, scaled so that Σ ‖Uᵀa‖ is what Σ ‖a‖ is.

    Raises
    ------
    ValueError
        If an argument is not as described, or a matrix has no nonzero row.

    Examples
    --------
    >>> a, b = [[1.0, 3.0], [1.0, -3.0], [2.0, 1.0]], [[3.0, 1.0], [2.0, -3.0]]
    >>> for rounds in (0, 50):
    ...     U = class_to_bag_metric(a, b, max_iter=rounds).T
    ...     within, between = (np.linalg.norm(c @ U, axis=1).sum() for c in (a, b))
    ...     print(f"{within / between:.3f}")
    1.265
    0.647
    """
    A: Any = check_matrix(within, dtype=np.float64, input_name="within")
    B: Any = check_matrix(between, dtype=np.float64, input_name="between")
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"within and between must have as many features; got {A.shape[1]} and {B.shape[1]}"
        )
    max_iter = check_integer(max_iter, "max_iter", least=0)
    tol = check_number(tol, "tol", least=0)
    basis = _row_space(A)
    A, B = A @ basis, B @ basis
    a, b = (np.sqrt(squared_norms(rows)) for rows in (A, B))
    total = a.sum()
    if not b.any():
        raise ValueError("between must have a row that is not orthogonal to all rows of within")
    U, ratio = np.eye(A.shape[1]), total / b.sum()
    for _ in range(max_iter):
        weights = 1 / np.maximum(a, LEAST_NORM * a.max())
        directions = (B @ U) / np.maximum(b, LEAST_NORM * b.max())[:, None]
        new = ratio * pinvh((A.T * weights) @ A) @ (B.T @ directions)
        a, b = (np.sqrt(squared_norms(rows @ new)) for rows in (A, B))
        fall = ratio - a.sum() / b.sum()
        if not fall > tol * ratio:
            break
        U, ratio = new, ratio - fall
    return (basis @ U).T * (total / np.sqrt(squared_norms(A @ U)).sum())


def class_to_bag_scores(
    train: Any,
    Y: Any,
    bags: Any,
    *,
    max_pairs: int = 2000,
    max_iter: int = 50,
    random_state: RandomState = None,
) -> Floats:
    """Scores of M-C2B: how near a bag is to the instances of each category (Wang et al. 2012).

    The distance from a category to a bag is the mean, over all instances of training bags with
    the label, of the distance to the nearest instance of the bag, under the category's metric
    (`class_to_bag_metric`). Its differences a and b are between these instances and their
    nearest ones, in Euclidean distance, in other training bags with and without the label.
    O(n_c n d) for category c, with n_c instances in its bags, to score bags with n in all.

    Parameters
    ----------
    train : Bags, or list of array-likes of shape (n_i, d)
        Training bags, none empty.
    Y : array-like or sparse array of shape (m, k)
        Their labels.
    bags : Bags, or list of array-likes of shape (n_i, d)
        Bags to score, none empty.
    max_pairs : int, default=2000
        Number of pairs of an instance and a bag drawn for a and b each if there are more.
    max_iter : int, default=50
        Most rounds for each metric; 0 leaves the Euclidean distance.
    random_state : int, RandomState instance or None, default=None
        Randomness of the draw.

    Returns
    -------
    ndarray of shape (len(bags), k)
        Minus the distances; −∞ for a category without bag. A category that has one bag, or all
        of them, keeps the Euclidean distance.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(2)[np.arange(40) % 2]
    >>> X = np.column_stack([Y[:, 0] + 0.1 * rng.normal(size=40), rng.normal(size=40)])
    >>> class_to_bag_scores(Bags(X, range(41)), Y, [[[1.0, 0.3]], [[0.0, 0.3]]]).argmax(axis=1)
    array([0, 1])
    """
    train, bags = _full_bags(train, "train"), _full_bags(bags, "bags")
    labels = candidate_labels(Y, len(train)).tocsc()
    X, queries = _dense(train.instances), _dense(bags.instances)
    if X.shape[1] != queries.shape[1]:
        raise ValueError(
            f"train and bags must have as many features; got {X.shape[1]} and {queries.shape[1]}"
        )
    max_pairs = check_integer(max_pairs, "max_pairs", least=1)
    rng = check_random_state(random_state)
    owner = train.bag_index
    scores = np.full((len(bags), labels.shape[1]), -np.inf)
    for c in range(labels.shape[1]):
        positive = np.zeros(len(train), dtype=bool)
        positive[labels.indices[labels.indptr[c] : labels.indptr[c + 1]]] = True
        rows = np.flatnonzero(positive[owner])
        if not rows.size:
            continue
        a, b = (
            _differences(train, X, rows, np.flatnonzero(chosen), max_pairs, rng)
            for chosen in (positive, ~positive)
        )
        components = np.eye(X.shape[1])
        if max_iter and a.any() and b.any():
            components = class_to_bag_metric(a, b, max_iter=max_iter)
        distances = _nearest_of_bags(X[rows] @ components.T, queries @ components.T, bags)
        scores[:, c] = -distances.mean(axis=0)
    return scores


def _differences(
    bags: Bags,
    X: Floats,
    rows: Integers,
    others: Integers,
    max_pairs: int,
    rng: np.random.RandomState,
) -> Floats:
    """Rows minus their nearest instances of other bags, for some or all pairs of the two."""
    n_pairs = len(rows) * len(others)
    if n_pairs > max_pairs:
        pairs = rng.choice(n_pairs, size=max_pairs, replace=False)
    else:
        pairs = np.arange(n_pairs)
    row, bag = rows[pairs // max(1, len(others))], others[pairs % max(1, len(others))]
    foreign = bags.bag_index[row] != bag
    row, bag = row[foreign], bag[foreign]
    if not row.size:
        return np.zeros((0, X.shape[1]))
    runs = _PairRuns(row, np.ones_like(row), bags.offsets[bag], bags.sizes[bag])
    return X[row] - X[runs.nearest(X, X)[1]]


def bag_dissimilarities(A: Any, B: Any, kind: str = "meanmin") -> Floats:
    """Dissimilarities of bags by which MInD describes them (Cheplygina, Tax and Loog 2015).

    The smallest ("minmin"), largest ("maxmin") or mean ("meanmin"), over the instances of the
    first bag, of the squared Euclidean distance to the nearest instance of the second. Only
    the first is symmetric. O(n_A n_B d), with a few million instance distances in
    memory at a time.

    Parameters
    ----------
    A, B : Bags, or lists of array-likes of shape (n_i, d)
        The bags, none empty.
    kind : {"minmin", "maxmin", "meanmin"}, default="meanmin"
        Which dissimilarity.

    Returns
    -------
    ndarray of shape (m_A, m_B)
        The dissimilarities.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> A, B = [[[0.0], [4.0]]], [[[1.0]], [[4.0], [6.0]]]
    >>> [bag_dissimilarities(A, B, kind).tolist() for kind in DISSIMILARITIES]
    [[[1.0, 0.0]], [[9.0, 16.0]], [[5.0, 8.0]]]
    """
    check_choice(kind, "kind", DISSIMILARITIES)
    A, B = _full_bags(A, "A"), _full_bags(B, "B")
    result = np.empty((len(A), len(B)))
    step = max(1, BLOCK_ENTRIES // (int(A.sizes.max()) * B.instances.shape[0]))
    for i in range(0, len(A), step):
        some = A[i : i + step]
        nearest = _nearest_of_bags(some.instances, B.instances, B) ** 2
        result[i : i + step] = DISSIMILARITIES[kind].reduceat(nearest, some.offsets[:-1], axis=0)
    return result / A.sizes[:, None] if kind == "meanmin" else result


def minimax_features(bags: Any) -> Floats:
    """Smallest and largest value of every feature in each bag (Gärtner et al. 2002, Section 4).

    A kernel of these is the minimax kernel of bags. O(n d).

    Parameters
    ----------
    bags : Bags, or list of array-likes of shape (n_i, d)
        The bags, none empty.

    Returns
    -------
    ndarray of shape (m, 2 d)
        Smallest values, then largest.

    Examples
    --------
    >>> minimax_features([[[1.0, 5.0], [2.0, 3.0]], [[4.0, 4.0]]]).tolist()
    [[1.0, 3.0, 2.0, 5.0], [4.0, 4.0, 4.0, 4.0]]
    """
    bags = _full_bags(bags, "bags")
    X, starts = _dense(bags.instances), bags.offsets[:-1]
    return np.hstack([np.minimum.reduceat(X, starts), np.maximum.reduceat(X, starts)])


def mi_kernel(A: Any, B: Any, *, gamma: float) -> Floats:
    """Set kernel of bags, scaled to unit length (Gärtner et al. 2002, Section 3).

    k(E, F) is the sum of exp(−γ‖e − f‖²) over the instances e of E and f of F, divided by
    √(k(E, E) k(F, F)). O(n_A n_B d) time, O(n_A n_B) memory.

    Parameters
    ----------
    A, B : Bags, or lists of array-likes of shape (n_i, d)
        The bags, none empty.
    gamma : float
        γ, greater than 0.

    Returns
    -------
    ndarray of shape (m_A, m_B)
        The kernel values.

    Examples
    --------
    >>> mi_kernel([[[0.0], [1.0]]], [[[0.0], [1.0]], [[5.0]]], gamma=1.0).round(4).tolist()
    [[1.0, 0.0]]
    """
    A, B = _full_bags(A, "A"), _full_bags(B, "B")
    gamma = check_number(gamma, "gamma", above=0)
    K = rbf_kernel(A.instances, B.instances, gamma=gamma)
    K = np.add.reduceat(np.add.reduceat(K, A.offsets[:-1], axis=0), B.offsets[:-1], axis=1)
    norms = [np.sqrt([rbf_kernel(X, gamma=gamma).sum() for X in bags]) for bags in (A, B)]
    return K / norms[0][:, None] / norms[1]


def one_vs_rest_scores(classifier: Any, train: ArrayLike, Y: Any, test: ArrayLike) -> Floats:
    """Scores of a two-class classifier trained for each label (Chen et al. 2006).

    Parameters
    ----------
    classifier : scikit-learn classifier with a ``decision_function``
        It is cloned for each label.
    train, test : array-likes of shape (m, p) and (q, p)
        What describes the bags; kernel values if the classifier takes these.
    Y : array-like or sparse array of shape (m, k)
        Labels of the training bags.

    Returns
    -------
    ndarray of shape (q, k)
        Its decisions; −∞ for a label that no training bag has, +∞ for one that all have.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> Y = [[0, 1], [0, 1], [1, 1]]
    >>> one_vs_rest_scores(SVC(kernel="linear"), [[0.0], [1.0], [4.0]], Y, [[3.0]]).round(3)
    array([[0.333,   inf]])
    """
    rows, queries = as_array(train, "train"), as_array(test, "test")
    labels = candidate_labels(Y, len(rows)).toarray()
    scores = np.where(labels.any(axis=0), np.inf, -np.inf) * np.ones((len(queries), 1))
    for c in np.flatnonzero(labels.any(axis=0) & ~labels.all(axis=0)):
        scores[:, c] = clone(classifier).fit(rows, labels[:, c]).decision_function(queries)
    return scores


def _nearest_of_bags(X: Any, instances: Any, bags: Bags) -> Floats:
    """Euclidean distance from every row of X to the nearest instance of each bag."""
    return np.minimum.reduceat(pairwise_distances(X, instances), bags.offsets[:-1], axis=1)


def _full_bags(bags: Any, name: str) -> Bags:
    """Return Bags, refusing empty ones."""
    bags = as_bags(bags, name)
    empty = np.flatnonzero(bags.sizes == 0)
    if empty.size:
        raise ValueError(f"{name} must have an instance in every bag; bag {empty[0]} is empty")
    return bags


def _require_categories(labels: csr_array) -> None:
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    if labels.shape[1] < 2 or not counts.all():
        missing = np.flatnonzero(counts == 0)
        seen = f"category {missing[0]} has none" if missing.size else "got one category"
        raise ValueError(f"Y must have at least two categories, each of some bag; {seen}")


def _row_space(A: Floats) -> Floats:
    """Orthonormal basis, in columns, of the span of the rows."""
    values, vectors = eigh(A.T @ A)
    return vectors[:, values > len(values) * EPS * values[-1]]


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
