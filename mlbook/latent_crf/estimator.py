"""The metric learned for exemplar clustering, as an estimator of scikit-learn."""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Floats
from mlbook._blas import one_blas_thread
from mlbook._metric import SetMetric, check_lists, check_set, check_sets
from mlbook._progress import progress
from mlbook._validation import (
    FLOATS,
    check_boolean,
    check_choice,
    check_integer,
    check_jobs,
    check_number,
)
from mlbook.dual_decomposition import configuration_energy
from mlbook.exemplars import exemplar_labels, solve_exemplars
from mlbook.latent_crf.choices import ALPHAS, PRICES, Choice, Sets, choose
from mlbook.latent_crf.energy import codes_of
from mlbook.latent_crf.learning import first_weights, learn, strength, stretch, visit
from mlbook.latent_crf.pair_features import PairFeatures, read_features
from mlbook.latent_crf.problem import ExemplarProblem


class LatentExemplarMetric(SetMetric):
    """Distance for exemplar clustering, learned from partitions (Komodakis 2011, Section 4).

    In the papers: Komodakis 2011, Eqs. 13 and 22, by way of Eq. 28.

    Learns the weights of d_pq = wᵀf_pq from datasets and their wanted partitions, so that
    exemplar clustering of new datasets finds such partitions, the number of clusters included.
    The features f_pq are the squared differences in each coordinate, or any given distances,
    which need be neither metric nor symmetric. Weights are at least 0.

    Each feature is divided by its mean over the training pairs, and it is the weights of these
    scaled features that `regularizer` acts on.

    Parameters
    ----------
    features : {"squared_differences", "precomputed"}, default="squared_differences"
        "squared_differences": a dataset is an array of points, of shape (n, n_features).
        "precomputed": a dataset is a list or stack of matrices of distances, of shape
        (n_features, n, n); entry [f, p, q] is the distance of point p to exemplar q. The
        diagonals are not used.
    penalty : "auto" or float, default="auto"
        Price d_qq of an exemplar, in learning and prediction. It sets the unit of the learned
        distance. "auto" is the one of three, 0.2, 0.4 and 0.8 times β m with m the mean size of
        the training clusters, that finds about the right number of clusters in the half of the
        training sets that was not learned from; at least 2α. A price not above α cannot give zero
        loss. New datasets should have clusters of similar size, or `penalty_` be changed in
        proportion.
    regularizer : {"l1", "l2"}, default="l1"
        J: "l1" is ``Σ |w_i|`` and makes weights zero, "l2" is ``½ Σ w_i²``.
    alpha : "auto" or float, default="auto"
        τ. "auto" is the largest of five, from 0.02 to 0.3 for each training point and "l1", that
        leaves nine tenths of what can be gained on the other half of the training sets. From
        about half the number of training points on, "l1" makes all weights zero.
    exemplar_error, point_error : float, default=1.0
        What mistakes cost, α and β of Eq. 15, positive: an exemplar too many or too few in a
        cluster of the partition, and a point whose exemplar lies in another cluster.
    max_iter : int, default=100
        Most steps.
    tol : float, default=0.05
        Stop when other weights are proven to add at most this share to what has been gained over
        zero weights.
    n_jobs : int, optional
        Number of threads, over the datasets; of processes or Dask workers where
        ``joblib.parallel_config`` says so. The numbers are the same for all.
    verbose : bool, default=False
        Show progress on standard error.
    random_state : int, RandomState instance or None, default=None
        Randomness of `predict`.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Diag(√w), the map for `transform`; not for precomputed distances.
    weights_ : ndarray of shape (n_features,)
        w, for the features as they were given.
    scales_ : ndarray of shape (n_features,)
        Mean absolute value of each feature over the pairs of points of the training sets.
        ``weights_ * scales_`` compares features.
    penalty_ : float
        Price of an exemplar.
    alpha_ : float
        τ.
    stretch_ : float
        Regularization chooses the direction of w, but also shortens it, which merges clusters.
        `weights_` are the minimizer of the objective times this number, at which the loss alone
        is lowest.
    exemplars_ : list of ndarray
        Exemplar of each cluster of each training set, in increasing order of the labels.
    objective_ : float
        Relaxed objective (Eq. 28) of the minimizer.
    objective_bound_ : float
        No weights have a lower objective with these exemplars.
    gap_ : float
        ``objective_ - objective_bound_``, as a share of what the bound is below the loss at zero
        weights. This is taken to be at least a twentieth of that loss and of the price of all
        exemplars together.
    converged_ : bool
        Whether `gap_` is at most `tol`: a proof for fixed exemplars.
    objective_path_ : ndarray of shape (`n_iter_` + 1,)
        Relaxed objective at all weights that were tried.
    best_iter_ : int
        Its lowest entry.
    n_iter_ : int
        Number of steps.
    relaxed_loss_ : float
        Upper bound on the hinge loss (Eq. 14) of `weights_`, from the relaxation (Eq. 27).
    hinge_lower_bound_ : float
        Lower bound on it, found by a local search.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The paper takes subgradient steps on the weights and n² multipliers for each dataset, and does
    not say when they end. `mlbook.dual_decomposition` has them. Here the multipliers are replaced
    by n prices, and the weights are found by cutting planes, see `mlbook.latent_crf`: both give
    the same minimum, these with a proof of how near it is.

    The relaxed loss of partitions that are perfectly separated is not zero, but 2α(1 − 1/m)
    for each cluster of m points: the relaxation gains from half-open exemplars.

    A step costs O(Σ n² F) operations for F features, and as many again that do not depend on F;
    the training holds a few n × n arrays for each dataset. If numba is installed, the inner steps
    are compiled. To choose `penalty` and `alpha` takes several times as long as to learn with them.

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
    >>> print(round(metric.weights_[10:].sum() / metric.weights_.sum(), 2))  # those of noise
    0.0
    >>> f_measure(metric.predict(points[3]), partitions[3]) > 0.9
    True
    """

    def __init__(
        self,
        *,
        features: str = "squared_differences",
        penalty: str | float = "auto",
        regularizer: str = "l1",
        alpha: str | float = "auto",
        exemplar_error: float = 1.0,
        point_error: float = 1.0,
        max_iter: int = 100,
        tol: float = 0.05,
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
        self.max_iter = max_iter
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
            If `gap_` is above `tol` after `max_iter` steps, or if the learned distance makes a
            single cluster of each training set.
        """
        check_lists(Xs, ys)
        check_choice(self.features, "features", ("squared_differences", "precomputed"))
        check_choice(self.regularizer, "regularizer", ("l1", "l2"))
        errors: dict[str, Any] = {
            "alpha": check_number(self.exemplar_error, "exemplar_error", above=0, most=1e90),
            "beta": check_number(self.point_error, "point_error", above=0, most=1e90),
        }
        penalty = _given(self.penalty, "penalty", above=0, most=1e90)
        alpha = _given(self.alpha, "alpha", least=0, most=1e90)
        max_iter = check_integer(self.max_iter, "max_iter", least=1)
        tol = check_number(self.tol, "tol", least=0)
        jobs = check_jobs(self.n_jobs)
        verbose = check_boolean(self.verbose, "verbose")
        if self.features == "squared_differences":
            Xs = check_sets(self, Xs, dtype=np.float64)
        codes = [codes_of(y, f"ys[{i}]") for i, y in enumerate(ys)]
        read = [read_features(X, self.features, f"Xs[{i}]") for i, X in enumerate(Xs)]
        for k, (data, labels) in enumerate(zip(read, codes, strict=True)):
            if data.n_points != len(labels):
                raise ValueError(
                    f"Xs and ys, training set {k}: labels must hold one label for each of the "
                    f"{data.n_points} points; got {len(labels)}"
                )
        if len({data.n_features for data in read}) > 1:
            counts = [data.n_features for data in read]
            raise ValueError(f"Xs must have the same number of features; got {counts}")
        self.n_features_in_ = read[0].n_features
        self.scales_ = _mean_pair_values(read)
        sets = list(zip(read, codes, strict=True))
        if all(own.max() == 0 for own in codes):
            _warn(
                "ys: every training set is a single cluster; nothing keeps clusters "
                "apart, and the distance will tend to zero"
            )

        def make(some: Sets, price: float) -> list[ExemplarProblem]:
            sizes = np.concatenate([np.bincount(own) for _, own in some])
            price = max(price * errors["beta"] * float(sizes.mean()), 2 * errors["alpha"])
            return [
                ExemplarProblem(
                    *own,
                    penalty=price if penalty is None else penalty,
                    scales=self.scales_,
                    **errors,
                )
                for own in some
            ]

        with one_blas_thread(), Parallel(n_jobs=jobs, prefer="threads") as parallel:
            chosen = Choice(0.0, 0.0)
            if penalty is None or alpha is None:
                trials = len(PRICES) * (penalty is None) + len(ALPHAS) * (alpha is None)
                with progress(trials, "choices", shown=verbose) as show:
                    chosen = choose(
                        sets, make, self.regularizer, None if penalty is None else 0.0,
                        None if alpha is None else 0.0, parallel, show,
                    )  # fmt: skip
            problems = make(sets, chosen.price)
            start = first_weights(problems)
            self.alpha_ = (
                strength(problems, self.regularizer, chosen.alpha, start)
                if alpha is None
                else alpha
            )
            with progress(max_iter + 1, "steps", shown=verbose) as show:
                learned = learn(
                    problems, start, self.regularizer, self.alpha_,
                    tol=tol, max_iter=max_iter, parallel=parallel, show=show,
                )  # fmt: skip
            w = learned.weights
            self.stretch_ = stretch(problems, w, parallel)
            w = self.stretch_ * w
            losses = parallel(delayed(_losses)(problem, w) for problem in problems)
        self.penalty_ = problems[0].penalty
        self.weights_ = w / self.scales_
        self.relaxed_loss_, self.hinge_lower_bound_ = np.sum(losses, axis=0).tolist()
        self.exemplars_ = [
            problem.complete(w, None)[np.unique(problem.labels, return_index=True)[1]]
            for problem in problems
        ]
        self.objective_, self.objective_bound_ = learned.objective, learned.lower_bound
        self.objective_path_, self.best_iter_ = learned.path, learned.best_iter
        self.n_iter_, self.gap_ = len(learned.path) - 1, learned.gap
        self.converged_ = self.gap_ <= tol
        self._warn_of(problems, w)
        return self

    def _warn_of(self, problems: list[ExemplarProblem], w: Floats) -> None:
        if self.penalty_ <= self.exemplar_error:
            _warn(
                f"penalty={self.penalty_:g} is not above exemplar_error={self.exemplar_error:g}: "
                "no distance can bring the loss to zero; raise penalty or lower exemplar_error"
            )
        if not self.converged_:
            _warn(
                f"after {self.n_iter_} steps the gap is {self.gap_:.2g}, above tol={self.tol:g}: "
                "raise max_iter or tol",
                ConvergenceWarning,
            )
        if not w.any():
            _warn(
                "all weights are zero: every distance is zero, and every prediction a single "
                f"cluster; lower alpha={self.alpha_:g}"
            )
            return
        several = [problem for problem in problems if problem.n_clusters > 1]
        if several and all(map(partial(_is_one_cluster, w=w), several)):
            _warn(
                "the learned distance makes a single cluster of each training set: lower "
                f"alpha={self.alpha_:g} or penalty={self.penalty_:g}, or look for features that "
                "tell the clusters apart",
                ConvergenceWarning,
            )

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


def _given(value: Any, name: str, **limits: float) -> float | None:
    """Return a parameter that is a number, None if it is to be chosen."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f'{name} must be "auto" or a number; got {value!r}')
        return None
    return check_number(value, name, **limits)


def _losses(problem: ExemplarProblem, w: Floats) -> tuple[float, float]:
    """Bounds on the hinge loss of a problem, from above and below."""
    found = visit(problem, w, None, 2e-3 * problem.n_variables)
    decoded = configuration_energy(problem, w, problem.decode(w, found.exemplars))
    return found.energy - found.lower, max(0.0, found.energy - decoded)


def _is_one_cluster(problem: ExemplarProblem, w: Floats) -> bool:
    found = solve_exemplars(problem.distances(w), problem.penalty, max_iter=100, random_state=0)
    return len(found.exemplars) == 1


def _mean_pair_values(sets: Sequence[PairFeatures]) -> Floats:
    """Mean absolute f_pq over all pairs p ≠ q of all sets, for each feature."""
    pairs = sum(own.n_points * (own.n_points - 1) for own in sets)
    scales: Floats = np.sum([own.pair_total() for own in sets], axis=0) / max(pairs, 1)
    if not scales.all():
        raise ValueError(
            f"features {np.flatnonzero(scales == 0)[:10]} are zero for all pairs of training "
            "points; leave them out"
        )
    return scales


def _warn(message: str, category: type[Warning] = UserWarning) -> None:
    warnings.warn(message, category, stacklevel=3)
