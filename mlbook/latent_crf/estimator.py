"""The metric learned for exemplar clustering, as an estimator of scikit-learn."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Floats
from mlbook._metric import SetMetric, check_lists, check_set, check_sets
from mlbook._validation import FLOATS, check_boolean, check_choice, check_number
from mlbook.dual_decomposition import DualDecompositionLearner, resolve_regularizer
from mlbook.exemplars import exemplar_labels, solve_exemplars
from mlbook.latent_crf.energy import codes_of
from mlbook.latent_crf.pair_features import read_features
from mlbook.latent_crf.problem import ExemplarProblem


class LatentExemplarMetric(SetMetric):
    """Distance for exemplar clustering, learned from partitions (Komodakis 2011, Figure 1).

    In the papers: Komodakis 2011, Eqs. 13 and 22, by way of Eq. 28.

    Learns the weights of d_pq = wᵀf_pq from datasets and their wanted partitions, so that
    exemplar clustering of new datasets finds such partitions, the number of clusters included.
    The features f_pq are the squared differences in each coordinate, or any given distances,
    which need be neither metric nor symmetric.

    Each feature is divided by its mean over the training pairs, and it is the weights of these
    scaled features that `regularizer` and `projection` act on.

    Parameters
    ----------
    features : {"squared_differences", "precomputed"}, default="squared_differences"
        "squared_differences": a dataset is an array of points, of shape (n, n_features).
        "precomputed": a dataset is a list or stack of matrices of distances, of shape
        (n_features, n, n); entry [f, p, q] is the distance of point p to exemplar q. The
        diagonals are not used.
    penalty : "auto" or float, default="auto"
        Price d_qq of an exemplar, in learning and prediction. It sets the unit of the learned
        distance. "auto" is max(0.15 β m, 2α), where m is the mean size of the training
        clusters. A price not above α cannot give zero loss; too high a price merges clusters.
        New datasets should have clusters of similar size, or `penalty_` be changed in
        proportion.
    regularizer : {"l1", "l2"} or callable, default="l1"
        J, see `DualDecompositionLearner`.
    alpha : "auto" or float, default="auto"
        τ. "auto" makes the regularization of the first weights a tenth of their scale for
        each point: for "l1", τ = n/10 with n the number of training points. From about n on,
        "l1" makes all weights zero.
    exemplar_error, point_error : float, default=1.0
        What mistakes cost, α and β of Eq. 15, positive: an exemplar too many or too few in a
        cluster of the partition, and a point whose exemplar lies in another cluster.
    projection : "nonnegative" or callable, default="nonnegative"
        Projection of the weights onto a convex set; the default keeps them at 0 or above.
    max_iter, inner_iter, stochastic, tol, n_jobs, verbose
        As for `DualDecompositionLearner`.
    random_state : int, RandomState instance or None, default=None
        Order of the datasets if `stochastic`, and randomness of `predict`.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Diag(√w), the map for `transform`; not for precomputed distances.
    weights_ : ndarray of shape (n_features,)
        w, for the features as they were given: those of the iterate of lowest objective.
    scales_ : ndarray of shape (n_features,)
        Mean absolute value of each feature over the pairs of points of the training sets.
        ``weights_ * scales_`` compares features.
    penalty_ : float
        Price of an exemplar.
    alpha_ : float
        τ.
    exemplars_ : list of ndarray
        Exemplar of each cluster of each training set, in increasing order of the labels.
    objective_path_ : ndarray of shape (`n_iter_` + 1,)
        Relaxed objective (Eq. 28) before the first and after every iteration.
    best_iter_ : int
        Its lowest entry, at which `weights_` were found.
    current_loss_ : float
        Loss in that entry, with the multipliers reached then.
    relaxed_loss_ : float
        Loss at the same weights with better multipliers, from above near that of Eq. 27.
    hinge_lower_bound_ : float
        Lower bound on the true hinge loss of Eq. 14, found by a local search. The true one
        lies between this and `relaxed_loss_`.
    duality_gap_ : float
        The difference of the two.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether `tol` was reached.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The relaxed loss of partitions that are perfectly separated is not zero, but 2α(1 − 1/m)
    for each cluster of m points: the relaxation gains from half-open exemplars.

    An iteration costs O(Σ n² F) operations for F features, and the training holds a few
    n × n arrays for each dataset.

    The paper leaves out first weights, steps, τ, d_qq and the stopping rule. Here, with
    s = β + d_qq/m, weights start at s/F, their step is 4s/F divided by the number of training
    points, and that of the multipliers d_qq/m; these follow the units of the problem.

    References
    ----------
    N. Komodakis. Learning to cluster using high order graphical models with latent variables.
    ICCV 2011.

    Examples
    --------
    >>> from mlbook.datasets import make_noisy_gaussians
    >>> from mlbook.partitions import f_measure
    >>> setting = {"n_features": 20, "n_clusters": 4}
    >>> draws = [make_noisy_gaussians(60, **setting, random_state=seed) for seed in range(4)]
    >>> points, partitions = zip(*draws)
    >>> metric = LatentExemplarMetric().fit(points[:3], partitions[:3])
    >>> print((metric.weights_ > 0.02 * metric.weights_.max()).astype(int))
    [1 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0]
    >>> round(f_measure(metric.predict(points[3]), partitions[3]), 2)
    1.0
    """

    def __init__(
        self,
        *,
        features: str = "squared_differences",
        penalty: str | float = "auto",
        regularizer: str | Callable[[Floats, float], Floats] = "l1",
        alpha: str | float = "auto",
        exemplar_error: float = 1.0,
        point_error: float = 1.0,
        projection: str | Callable[[Floats], Floats] = "nonnegative",
        max_iter: int = 300,
        inner_iter: int = 1,
        stochastic: bool = False,
        tol: float = 0.01,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.features = features
        self.penalty = penalty
        self.regularizer = regularizer
        self.alpha = alpha
        self.exemplar_error = exemplar_error
        self.point_error = point_error
        self.projection = projection
        self.max_iter = max_iter
        self.inner_iter = inner_iter
        self.stochastic = stochastic
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, Xs: Sequence[Any], ys: Sequence[ArrayLike]) -> Self:
        """Learn from datasets and their partitions.

        Parameters
        ----------
        Xs : list of array-likes
            Each of shape (n, n_features), or (n_features, n, n) if precomputed; n may differ.
            Data frames need the same columns.
        ys : list of array-likes of n non-negative integers
            Labels of the points of each dataset.

        Returns
        -------
        LatentExemplarMetric
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument or a parameter is not as described, or a feature is zero for all
            pairs.

        Warns
        -----
        UserWarning
            If `penalty` is not above `exemplar_error`, if there is no training set with more than
            one cluster, or if all weights became zero.
        ConvergenceWarning
            If `tol` was not reached in `max_iter` iterations.
        """
        exemplar_error = check_number(self.exemplar_error, "exemplar_error", above=0, most=1e90)
        point_error = check_number(self.point_error, "point_error", above=0, most=1e90)
        check_lists(Xs, ys)
        check_choice(self.features, "features", ("squared_differences", "precomputed"))
        if self.features == "squared_differences":
            Xs = check_sets(self, Xs, dtype=FLOATS)
        codes = [codes_of(y, f"ys[{i}]") for i, y in enumerate(ys)]
        n_points = sum(map(len, codes))
        clusters = [int(labels.max()) + 1 for labels in codes]
        mean_size = n_points / sum(clusters)
        self.penalty_ = self._choose_penalty(mean_size, exemplar_error, point_error)
        if self.penalty_ <= exemplar_error:
            _warn(
                f"penalty={self.penalty_:g} is not above exemplar_error={exemplar_error:g}: no "
                "distance can bring the loss to zero; raise penalty or lower exemplar_error"
            )
        if max(clusters) == 1:
            _warn(
                "ys: every training set is a single cluster; nothing keeps clusters "
                "apart, and the distance will tend to zero"
            )

        setting: dict[str, Any] = {"alpha": exemplar_error, "beta": point_error}
        problems = []
        read = [read_features(X, self.features, f"Xs[{i}]") for i, X in enumerate(Xs)]
        for k, (data, labels) in enumerate(zip(read, codes, strict=True)):
            try:
                problems.append(ExemplarProblem(data, labels, penalty=self.penalty_, **setting))
            except ValueError as error:
                raise ValueError(f"Xs and ys, training set {k}: {error}") from error
        F = problems[0].n_features
        if any(problem.n_features != F for problem in problems):
            raise ValueError(
                "Xs must have the same number of features; got "
                f"{[problem.n_features for problem in problems]}"
            )
        self.n_features_in_ = F
        self.scales_ = _mean_pair_values(problems)
        problems = [problem.scaled(self.scales_) for problem in problems]

        unit = (point_error + self.penalty_ / mean_size) / F
        start = np.full(F, unit)
        learner = DualDecompositionLearner(
            regularizer=self.regularizer,
            alpha=self._choose_alpha(start, n_points),
            projection=self._choose_projection(),
            step_weights=4 * unit / n_points,
            step_multipliers=self.penalty_ / mean_size,
            max_iter=self.max_iter,
            inner_iter=self.inner_iter,
            stochastic=self.stochastic,
            tol=self.tol,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            random_state=self.random_state,
        ).fit(problems, start)
        self.alpha_ = learner.alpha
        self.weights_ = learner.weights_ / self.scales_
        self.exemplars_ = [
            x[np.unique(labels, return_index=True)[1]]
            for x, labels in zip(learner.completions_, codes, strict=True)
        ]
        self.objective_path_, self.best_iter_ = learner.objective_path_, learner.best_iter_
        self.n_iter_, self.converged_ = learner.n_iter_, learner.converged_
        self.current_loss_, self.relaxed_loss_ = learner.current_loss_, learner.relaxed_loss_
        self.hinge_lower_bound_ = learner.hinge_lower_bound_
        self.duality_gap_ = learner.duality_gap_
        if not self.weights_.any():
            _warn(
                "all weights are zero: every distance is zero, and every prediction a single "
                f"cluster; lower alpha={self.alpha_:g}"
            )
        return self

    def distances(self, X: Any) -> NDArray[Any]:
        """Learned distances between the points of a dataset (Komodakis 2011, Eq. 10).

        Parameters
        ----------
        X : array-like of shape (n, n_features), or (n_features, n, n) if precomputed
            The dataset.

        Returns
        -------
        ndarray of shape (n, n)
            Entry [p, q] is the distance of p to exemplar q; zeros on the diagonal.

        Raises
        ------
        ValueError
            If X is not as described.
        """
        check_is_fitted(self)
        if self.features == "squared_differences":
            X = check_set(self, X, "X", reset=False, dtype=FLOATS)
        features = read_features(X, self.features)
        if features.n_features != self.n_features_in_:
            raise ValueError(
                f"X must have {self.n_features_in_} features, as in fit; got {features.n_features}"
            )
        return features.distances(self.weights_)

    @property
    def components_(self) -> Floats:
        """Diag(√w), of shape (n_features, n_features), where the features are of points."""
        if self.features != "squared_differences":
            raise AttributeError("components_: given distances have no map to Euclidean space")
        check_is_fitted(self)
        if self.weights_.min() < 0:
            raise AttributeError(
                f"components_: no map has the weight {self.weights_.min():.3g}, which is negative"
            )
        return np.diag(np.sqrt(self.weights_))

    def predict(self, X: Any, return_gap: bool = False) -> Any:
        """Cluster a dataset with the learned distance; the number of clusters is found.

        See `mlbook.exemplars.solve_exemplars` for the cost.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or (n_features, n, n) if precomputed
            The dataset.
        return_gap : bool, default=False
            Return a certificate too.

        Returns
        -------
        labels : ndarray of shape (n,)
            Labels 0..k−1.
        gap : float
            If asked for: the share of the energy of these clusters that better ones could at
            most save. 0 means that they are proven best for the learned distance.

        Raises
        ------
        ValueError
            If X is not as described.
        """
        return_gap = check_boolean(return_gap, "return_gap")
        D = self.distances(X)
        rng = check_random_state(self.random_state)
        found = solve_exemplars(D, self.penalty_, random_state=rng)
        labels = exemplar_labels(D, found.exemplars)
        return (labels, found.gap) if return_gap else labels

    def _choose_penalty(self, mean_size: float, exemplar: float, point: float) -> float:
        if isinstance(self.penalty, str):
            if self.penalty != "auto":
                raise ValueError(f'penalty must be "auto" or a number; got {self.penalty!r}')
            return max(0.15 * point * mean_size, 2 * exemplar)
        return check_number(self.penalty, "penalty", above=0, most=1e90)

    def _choose_alpha(self, start: Floats, n_points: int) -> float:
        if not isinstance(self.alpha, str):
            return check_number(self.alpha, "alpha", least=0)
        if self.alpha != "auto":
            raise ValueError(f'alpha must be "auto" or a number; got {self.alpha!r}')
        first = resolve_regularizer(self.regularizer)[0](start)
        return 0.1 * n_points * (float(start.sum()) / first if first > 0 else 1.0)

    def _choose_projection(self) -> Callable[[Floats], Floats]:
        if callable(self.projection):
            return self.projection
        if not isinstance(self.projection, str) or self.projection != "nonnegative":
            raise ValueError(
                f'projection must be "nonnegative" or a callable; got {self.projection!r}'
            )
        return _nonnegative


def _nonnegative(w: Floats) -> Floats:
    return np.maximum(w, 0)


def _mean_pair_values(problems: Sequence[ExemplarProblem]) -> Floats:
    """Mean absolute f_pq over all pairs p ≠ q of all problems, for each feature."""
    pairs = sum(p.n_variables * (p.n_variables - 1) for p in problems)
    totals = np.sum([problem.features.pair_total() for problem in problems], axis=0)
    scales = totals / max(pairs, 1)
    if not scales.all():
        raise ValueError(
            f"features {np.flatnonzero(scales == 0)[:10]} are zero for all pairs of training "
            "points; leave them out"
        )
    return scales


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=3)
