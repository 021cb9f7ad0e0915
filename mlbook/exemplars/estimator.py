"""Clustering around exemplars as an estimator of scikit-learn."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, pairwise_distances
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Integers
from mlbook._memory import check_pairs
from mlbook._validation import check_boolean, check_features, check_number
from mlbook.exemplars.energy import DISTANCES, check_distances, exemplar_labels, penalty_range
from mlbook.exemplars.path import ExemplarPath, exemplar_path
from mlbook.exemplars.solvers import solve_exemplars, solve_exemplars_exact
from mlbook.price_paths import Plateau

PATH_ROWS = 500  # rows from which a path takes some seconds


class ExemplarClustering(ClusterMixin, BaseEstimator):
    """Clustering around exemplars, their number found, with a certified gap (Komodakis 2011).

    Minimizes Σ_{p ∉ Q} min_{q ∈ Q} d_pq + Σ_{q ∈ Q} penalty_q over the sets Q of exemplars, the
    energy that affinity propagation minimizes (with ``preference = -penalty``), and bounds the
    minimum from below: see `solve_exemplars`.

    Parameters
    ----------
    penalty : "auto", float or array-like of shape (n_samples,), default="auto"
        Price of an exemplar, common or per point; the higher, the fewer clusters. +inf
        forbids a point to be an exemplar. A penalty proportional to the number of points
        keeps the number of clusters about the same. A point never pays more than its own
        penalty. "auto" takes the middle of the longest plateau of `exemplar_path`, see the
        notes. For affinity propagation the median distance is usual; it gives many clusters.
    metric : "sqeuclidean", "precomputed", other metric of scikit-learn, or callable
        Distances between the rows of X, see `sklearn.metrics.pairwise_distances`; default
        "sqeuclidean". "precomputed": X holds the distances, X[p, q] that of point p to
        exemplar q; they may be asymmetric and negative, and the diagonal is not used. A
        callable gets rows p and q and may be asymmetric too.
    exact : bool, default=False
        Solve the problem exactly, see `solve_exemplars_exact`. For small or easy data.
    max_iter : int, default=1000
        Most steps on the dual.
    tol : float, default=0.01
        Largest `gap_` that is accepted without a warning.
    random_state : int, RandomState instance or None, default=None
        Randomness of the search.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point: position of its exemplar in `exemplar_indices_`.
    exemplar_indices_ : ndarray of shape (n_clusters,)
        Row of the exemplar of each cluster, increasing.
    exemplars_ : ndarray or sparse matrix of shape (n_clusters, n_features)
        The exemplars themselves; absent with precomputed distances.
    penalty_ : float or ndarray of shape (n_samples,)
        The penalty used.
    penalty_path_ : ExemplarPath or None
        With ``penalty="auto"``, the path the penalty was read from, to look at (`plot_path`);
        its penalties are for the rows it was made of, see the notes. None without a path.
    energy_ : float
        Energy of the exemplars.
    lower_bound_ : float
        No set of exemplars has a lower energy (`exemplar_bound`).
    gap_ : float
        ``(energy_ - lower_bound_) / abs(energy_)``: the share of the energy that a better set
        could at most remove. 0 means proven optimal.
    n_iter_ : int
        Number of steps on the dual.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in fit, where X has them.

    See Also
    --------
    sklearn.cluster.AffinityPropagation : Same energy by message passing, no bound.

    Notes
    -----
    The gap has two causes that it cannot tell apart: a better set of exemplars exists, or the
    relaxation is loose. Distances of points in space mostly give gaps well below one
    percent; random asymmetric ones gaps of 20%, half of which is the relaxation's.

    Memory: the distances, a copy, and up to two more arrays of that size while fitting.

    ``penalty="auto"`` looks at the numbers of clusters from 2 to √n and takes the one that
    lasts over the largest ratio of penalties. What separates best wins, which need not be the
    finest grouping: iris has two clusters. In one column or two the shape of the data
    alone can make a plateau: points spread evenly over a line have two clusters, over a square
    four. If the longest plateau has a ratio of less than 2.5, as noise has, a warning says so:
    then the data leave the number open, and a penalty of one's own choice is better. The
    path takes about √n + 2 solutions. Of more than 500 rows it is made from a random sample
    of 500, which takes some seconds, and the penalty found is multiplied by n / 500.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0], [9.0, 2.0]]
    >>> model = ExemplarClustering(penalty=5.0, random_state=0).fit(X)
    >>> print(model.labels_, len(model.exemplar_indices_), model.energy_, round(model.gap_, 9))
    [0 0 1 1 1] 2 13.0 0.0
    """

    def __init__(
        self,
        *,
        penalty: str | ArrayLike = "auto",
        metric: str | Callable[..., float] = "sqeuclidean",
        exact: bool = False,
        max_iter: int = 1000,
        tol: float = 0.01,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.penalty = penalty
        self.metric = metric
        self.exact = exact
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the rows of X.

        O(n²d) for the distances, then O(n²) at most per step, see `solve_exemplars`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; if ``metric="precomputed"``, distances of shape (n_samples, n_samples).
        y : None
            Ignored.

        Returns
        -------
        ExemplarClustering
            The fitted estimator.

        Raises
        ------
        ValueError
            If X or a parameter is not as described.

        Warns
        -----
        ConvergenceWarning
            If the gap remains above `tol`.
        UserWarning
            If one exemplar serves all points, or each of them is one, although there are more
            than two: it says between which penalties that is not so (`penalty_range`). With
            ``penalty="auto"``, if there is no plateau, the longest one does not stand out, or
            the fit has another number of clusters than the plateau.
        """
        check_number(self.tol, "tol", least=0)
        check_boolean(self.exact, "exact")
        if not callable(self.metric) and not isinstance(self.metric, str):
            raise ValueError(f"metric must be a name or callable; got {self.metric!r:.200}")
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        if precomputed:
            D = check_distances(check_features(self, X, **DISTANCES))
        else:
            points = check_features(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
            check_pairs(points.shape[0], "X", itemsize=points.dtype.itemsize)
            D = check_distances(_pairwise(points, None, self.metric))
        plateau, self.penalty_path_ = None, None
        if isinstance(self.penalty, str):
            if self.penalty != "auto":
                raise ValueError(
                    f'penalty must be "auto", a number or one per point; got {self.penalty!r}'
                )
            rows = _sample(len(D), self.random_state)
            plateau, self.penalty_path_ = _longest_plateau(
                D[np.ix_(rows, rows)], self.max_iter, self.random_state
            )
            self.penalty_: Any = (
                plateau.price * (len(D) / len(rows)) if plateau else _median_distance(D)
            )
        else:
            self.penalty_ = np.asarray(self.penalty)[()]

        solve = solve_exemplars_exact if self.exact else solve_exemplars
        solution = solve(D, self.penalty_, max_iter=self.max_iter, random_state=self.random_state)
        self.exemplar_indices_ = solution.exemplars
        self.labels_ = exemplar_labels(D, solution.exemplars)
        if not precomputed:
            self.exemplars_ = points[solution.exemplars]
        self.energy_, self.lower_bound_ = solution.energy, solution.lower_bound
        self.gap_, self.n_iter_ = solution.gap, solution.n_iter
        if plateau and len(solution.exemplars) != plateau.count:
            warnings.warn(
                f'penalty="auto": the longest plateau has {plateau.count} clusters, in a path of '
                f"{len(rows)} rows; in its middle, {len(D)} rows have {len(solution.exemplars)}",
                stacklevel=2,
            )
        _warn_of_trivial(D, len(solution.exemplars), self.penalty_)
        if self.gap_ > self.tol:
            warnings.warn(
                f"the energy is only proven to be within {self.gap_:.2%} of the optimum, more "
                f"than tol={self.tol:g}: raise max_iter={self.max_iter}; if that does not "
                "help, the relaxation is loose (common for distances that are asymmetric or "
                "far from a metric): use exact=True if there are few points, or raise tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: ArrayLike) -> Integers:
        """Assign new points to their nearest exemplars.

        O(mkd) for m points and k exemplars.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, n_features)
            Points; if ``metric="precomputed"``, distances of shape (m, n_samples) to the
            points seen in fit.

        Returns
        -------
        ndarray of shape (m,)
            Cluster of each point.

        Raises
        ------
        ValueError
            If X is not as described.
        """
        check_is_fitted(self)
        if isinstance(self.metric, str) and self.metric == "precomputed":
            D = check_features(self, X, reset=False, dtype=[np.float64, np.float32])
            return D[:, self.exemplar_indices_].argmin(axis=1)
        points = check_features(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        return np.asarray(_pairwise(points, self.exemplars_, self.metric).argmin(axis=1))

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse points and precomputed distances are accepted."""
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        return tags


def _pairwise(X: Any, Y: Any, metric: str | Callable[..., float]) -> Any:
    """Distances of the rows of X to those of Y (default: X)."""
    if issparse(X) and metric == "sqeuclidean":
        return euclidean_distances(X, Y, squared=True)
    if callable(metric) and Y is None:
        Y = X.copy()  # X twice would make scikit-learn take the metric for symmetric
    return pairwise_distances(X, Y, metric=metric)


def _sample(n: int, random_state: Any) -> Integers:
    """Rows to make the path from: all, or as many as take some seconds."""
    if n <= PATH_ROWS:
        return np.arange(n)
    return np.sort(check_random_state(random_state).choice(n, PATH_ROWS, replace=False))


def _longest_plateau(
    D: Any, max_iter: int, random_state: Any
) -> tuple[Plateau | None, ExemplarPath | None]:
    """Return the longest plateau and the path it is on, if there are; warn of what is doubtful."""
    n, path, plateau = len(D), None, None
    if n < 3:
        return None, None
    if np.min(D, where=~np.eye(n, dtype=bool), initial=0) < 0:
        doubt = "found no plateau, as negative distances leave penalties without a scale"
    else:
        path = exemplar_path(D, max_iter=max_iter, random_state=random_state)
        plateau = path.longest
        if plateau is None:
            doubt = "found no plateau: no penalty gives a few clusters rather than one"
        elif plateau.stands_out:
            return plateau, path
        else:
            doubt = (
                f"leaves the number of clusters open: the longest plateau, with {plateau.count}, "
                f"spans a factor of {plateau.ratio:.2f} in the penalty, no more than for noise; "
                "look at penalty_path_, or give a penalty"
            )
    remedy = "" if plateau else ". The penalty is the median distance"
    warnings.warn(f'penalty="auto" {doubt}{remedy}', stacklevel=3)
    return plateau, path


def _median_distance(D: Any) -> float:
    """Median of the entries off the diagonal; 0 for a single point."""
    n = len(D)
    if n == 1:
        return 0.0
    # Row by row, the n entries that follow each diagonal entry but the last: no mask needed.
    return float(np.median(np.ascontiguousarray(D).reshape(-1)[:-1].reshape(n - 1, n + 1)[:, 1:]))


def _warn_of_trivial(D: Any, n_exemplars: int, penalty: Any) -> None:
    """Warn of a penalty that leaves nothing to cluster, and say which would."""
    n = len(D)
    if n < 3 or 1 < n_exemplars < n:
        return
    low, high = penalty_range(D)
    size, what = ("high", "one exemplar") if n_exemplars == 1 else ("low", f"{n} exemplars")
    remedy = (
        f"a common penalty between {low:.6g} and {high:.6g} gives neither one exemplar nor all"
        if low < high
        else "no common penalty is sure to give a number in between: the distances are too alike"
    )
    seen = f"penalty={penalty:g}" if np.ndim(penalty) == 0 else "penalty"
    warnings.warn(f"{seen} is so {size} that {n} points have {what}; {remedy}", stacklevel=3)
