"""Exemplar clustering as a problem for dual decomposition, and the metric learned with it."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mlbook._validation import check_list, check_number
from mlbook.dual_decomposition import (
    REPORTED,
    DualDecompositionLearner,
    LatentProblem,
    RelaxedLoss,
    SlaveBatch,
    SlaveState,
    Tightened,
    configuration_energy,
    dual_value,
    initial_multipliers,
    relaxed_loss,
    resolve_regularizer,
    tighten,
)
from mlbook.exemplars import exemplar_labels, improve_exemplars, solve_exemplars
from mlbook.latent_crf.pair_features import read_features
from mlbook.partitions import assignment_matrix

__all__ = [
    "DualDecompositionLearner",
    "ExemplarProblem",
    "LatentExemplarMetric",
    "LatentProblem",
    "RelaxedLoss",
    "SlaveBatch",
    "SlaveState",
    "Tightened",
    "cluster_slaves",
    "clustering_error",
    "configuration_energy",
    "dual_value",
    "exemplars_of_partition",
    "initial_multipliers",
    "loss_augmented_potentials",
    "point_slaves",
    "relaxed_loss",
    "tighten",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


# The model, on arrays


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
    codes = _codes(labels)
    chosen = np.asarray(assignment)
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
    codes = _codes(labels)
    distances = _check_distances(D, len(codes))
    return _augment(distances, codes, _check_prices(penalty, len(codes)), beta)


def point_slaves(potentials: Floats, multipliers: Floats) -> tuple[Indices, Mask]:
    """Minimise the slaves of all points (Komodakis 2011, Eq. 23 and Lemma 2, completed).

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


def cluster_slaves(shares: Floats, multipliers: Floats, labels: Indices, alpha: float) -> Mask:
    """Minimise the slaves of all clusters (Komodakis 2011, Eqs. 24 and 34 and Lemma 2).

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


def exemplars_of_partition(D: ArrayLike, labels: ArrayLike, penalty: ArrayLike = 0.0) -> Indices:
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
    codes = _codes(labels)
    costs = _check_distances(D, len(codes)).copy()
    np.fill_diagonal(costs, _check_prices(penalty, len(codes)))
    return _best_exemplars(costs, codes)


# Clustering as a problem of the learner


class ExemplarProblem:
    """A training set of clustering, decomposed for `DualDecompositionLearner`.

    The shared variables are the x_qq. All point slaves are one batch, all cluster slaves
    another (Komodakis 2011, Eqs. 23-25).

    Parameters
    ----------
    data : array-like of shape (n, n_features) or (n_features, n, n)
        Points, or matrices of distances; see `features`.
    labels : array-like of n non-negative integers
        The wanted partition.
    penalty : float
        Price d_qq of an exemplar.
    alpha, beta : float, default=1.0
        Weights of the error (Eq. 15).
    features : {"squared_differences", "precomputed"}, default="squared_differences"
        As for `LatentExemplarMetric`.
    scales : array-like of shape (n_features,), default=1.0
        Each feature is divided by its scale.

    Attributes
    ----------
    batches : list of SlaveBatch
        The point slaves and the cluster slaves.
    labels : ndarray of shape (n,)
        The partition, numbered from 0.
    n_variables, n_features : int
        n, and the number of weights.

    Notes
    -----
    The n × n × n_features array of features is never formed. Squared differences need
    O(n² n_features) operations for the distances (a matrix product) and O(n n_features) for
    a subgradient; O(n²) memory beside the data, which given matrices of distances exceed.

    Examples
    --------
    >>> problem = ExemplarProblem([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1], penalty=2.0)
    >>> w = np.array([1.0])
    >>> x = problem.complete(w, None)
    >>> print(x, round(configuration_energy(problem, w, x), 9))
    [1 1 1 3] 6.0
    >>> loss = relaxed_loss(problem, w, initial_multipliers(problem), x)
    >>> print(round(loss.value, 9), loss.weights.round(9))
    9.6 [2.]
    """

    def __init__(
        self,
        data: ArrayLike,
        labels: ArrayLike,
        *,
        penalty: float,
        alpha: float = 1.0,
        beta: float = 1.0,
        features: str = "squared_differences",
        scales: ArrayLike = 1.0,
    ) -> None:
        self.penalty = check_number(penalty, "penalty")
        self.alpha = check_number(alpha, "alpha", above=0)
        self.beta = check_number(beta, "beta", above=0)
        self.labels = _codes(labels)
        self.features = read_features(data, features)
        if self.features.n_points != len(self.labels):
            raise ValueError(
                f"labels must hold one label for each of the {self.features.n_points} points; "
                f"got {len(self.labels)}"
            )
        self.n_variables = len(self.labels)
        self.n_features = self.features.n_features
        self.scales = np.broadcast_to(np.asarray(scales, dtype=np.float64), self.n_features)
        self.batches: list[SlaveBatch] = [_PointSlaves(self), _ClusterSlaves(self)]
        self._w: Floats | None = None
        self._potentials = np.empty(0)

    def distances(self, w: Floats) -> Floats:
        """d_pq = wᵀf_pq (Komodakis 2011, Eq. 10), with zeros on the diagonal."""
        return self.features.distances(w / self.scales)

    def potentials(self, w: Floats) -> Floats:
        """ū of Eq. 18 at the weights w, kept until other weights are asked for."""
        if self._w is None or not np.array_equal(w, self._w):
            self._potentials = _augment(self.distances(w), self.labels, self.penalty, self.beta)
            self._w = w.copy()
        return self._potentials

    def feature_sum(self, assignment: Indices) -> Floats:
        """Σ_p f_pq with q the exemplar assigned to p, leaving out exemplars."""
        return self.features.total(assignment) / self.scales

    def complete(self, w: Floats, previous: Any) -> Indices:
        """Assign all points to the best exemplar of their cluster (Eq. 29)."""
        # Within a cluster, ū differs from d by the constant β.
        return _best_exemplars(self.potentials(w), self.labels)[self.labels]

    def decode(self, w: Floats, start: Indices) -> Indices:
        """Local search for the minimum of Ē from the exemplars of `start`.

        As long as no cluster has more than one exemplar, or none has less, the term of the error is
        linear in the number of its exemplars, and Ē an energy of `mlbook.exemplars` with
        penalty d_qq + β ± α. Both are tried.
        """
        U = self.potentials(w)
        found = []
        for sign in (-1, 1):
            price = self.penalty + self.beta + sign * self.alpha
            exemplars = improve_exemplars(U, np.unique(start), price, random_state=0)
            found.append(exemplars[exemplar_labels(U, exemplars)])
        return min(found, key=lambda x: configuration_energy(self, w, x))


class _PointSlaves:
    """The slaves of Komodakis 2011, Eq. 23."""

    def __init__(self, problem: ExemplarProblem) -> None:
        self.problem = problem
        n = problem.n_variables
        self.shape, self.coords = (n, n), np.arange(n)

    def minimise(self, w: Floats, multipliers: Floats) -> SlaveState:
        return self._state(*point_slaves(self.problem.potentials(w), multipliers))

    def evaluate(self, x: Indices) -> SlaveState:
        is_open = np.zeros(len(x), dtype=bool)
        is_open[x] = True
        return self._state(x, np.broadcast_to(is_open, self.shape))

    def _state(self, chosen: Indices, is_open: Mask) -> SlaveState:
        problem, n = self.problem, len(chosen)
        share = (problem.penalty + problem.beta) / (n + 1)
        labels = problem.labels
        together = (labels == labels[chosen]) & (chosen != np.arange(n))
        const = share * np.count_nonzero(is_open) + problem.beta * (np.count_nonzero(together) - n)
        return SlaveState(is_open, problem.feature_sum(chosen), float(const))


class _ClusterSlaves:
    """The slaves of Komodakis 2011, Eq. 24. Every point is in one of them."""

    def __init__(self, problem: ExemplarProblem) -> None:
        self.problem = problem
        n = problem.n_variables
        self.shape, self.coords = (n,), np.arange(n)
        self.shares = np.full(n, (problem.penalty + problem.beta) / (n + 1))

    def minimise(self, w: Floats, multipliers: Floats) -> SlaveState:
        problem = self.problem
        return self._state(cluster_slaves(self.shares, multipliers, problem.labels, problem.alpha))

    def evaluate(self, x: Indices) -> SlaveState:
        is_open = np.zeros(len(x), dtype=bool)
        is_open[x] = True
        return self._state(is_open)

    def _state(self, is_open: Mask) -> SlaveState:
        problem = self.problem
        counts = np.bincount(problem.labels, is_open)
        const = self.shares @ is_open - problem.alpha * np.abs(1 - counts).sum()
        return SlaveState(is_open, np.zeros(problem.n_features), float(const))


class LatentExemplarMetric(BaseEstimator):
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
        clusters. A price not above α cannot give zero loss, and from about β m/3 on clusters
        are merged: if they have fewer than ten points, lower α too. New datasets should have
        clusters of similar size, or `penalty_` be changed in proportion.
    regularizer : {"l1", "l2"} or callable, default="l1"
        J, see `DualDecompositionLearner`.
    strength : "auto" or float, default="auto"
        τ. "auto" makes the regularization of the first weights a tenth of their scale for
        each point: for "l1", τ = n/10 with n the number of training points. From about n on,
        "l1" makes all weights zero.
    alpha, beta : float, default=1.0
        Weights of the error (Eq. 15), positive.
    projection : "nonnegative" or callable, default="nonnegative"
        Projection of the weights onto a convex set; the default keeps them at 0 or above.
    max_iter, inner_iter, stochastic, tol, n_jobs, verbose
        As for `DualDecompositionLearner`.
    random_state : int, RandomState instance or None, default=None
        Order of the datasets if `stochastic`, and randomness of `predict`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        w, for the features as they were given: those of the iterate of lowest objective.
    scales_ : ndarray of shape (n_features,)
        Mean absolute value of each feature over the pairs of points of the training sets.
        ``weights_ * scales_`` compares features.
    penalty_ : float
        Price of an exemplar.
    strength_ : float
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
        strength: str | float = "auto",
        alpha: float = 1.0,
        beta: float = 1.0,
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
        self.strength = strength
        self.alpha = alpha
        self.beta = beta
        self.projection = projection
        self.max_iter = max_iter
        self.inner_iter = inner_iter
        self.stochastic = stochastic
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, datasets: Sequence[Any], partitions: Sequence[ArrayLike]) -> Self:
        """Learn from datasets and their partitions.

        Parameters
        ----------
        datasets : sequence of array-likes
            Each of shape (n, n_features), or (n_features, n, n) if precomputed; n may differ.
        partitions : sequence of array-likes of n non-negative integers
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
            If `penalty` is not above `alpha`, if there is no training set with more than one
            cluster, or if all weights became zero.
        ConvergenceWarning
            If `tol` was not reached in `max_iter` iterations.
        """
        alpha = check_number(self.alpha, "alpha", above=0)
        beta = check_number(self.beta, "beta", above=0)
        check_list(datasets, "datasets", "training set")
        if len(datasets) != len(partitions) or len(datasets) == 0:
            raise ValueError(
                "datasets and partitions must be sequences of the same length, at least 1; got "
                f"lengths {len(datasets)} and {len(partitions)}"
            )
        codes = [_codes(labels) for labels in partitions]
        n_points = sum(map(len, codes))
        clusters = [int(labels.max()) + 1 for labels in codes]
        mean_size = n_points / sum(clusters)
        self.penalty_ = self._choose_penalty(mean_size, alpha, beta)
        if self.penalty_ <= alpha:
            _warn(
                f"penalty={self.penalty_:g} is not above alpha={alpha:g}: no distance can bring "
                "the loss to zero; raise penalty or lower alpha"
            )
        if max(clusters) == 1:
            _warn(
                "partitions: every training set is a single cluster; nothing keeps clusters "
                "apart, and the distance will tend to zero"
            )

        setting: dict[str, Any] = {"alpha": alpha, "beta": beta, "features": self.features}
        problems = []
        for k, (data, labels) in enumerate(zip(datasets, codes, strict=True)):
            try:
                problems.append(ExemplarProblem(data, labels, penalty=self.penalty_, **setting))
            except ValueError as error:
                raise ValueError(f"training set {k}: {error}") from error
        F = problems[0].n_features
        if any(problem.n_features != F for problem in problems):
            raise ValueError(
                "datasets must have the same number of features; got "
                f"{[problem.n_features for problem in problems]}"
            )
        self.n_features_in_ = F
        self.scales_ = _mean_pair_values(problems)
        for problem in problems:
            problem.scales = self.scales_

        unit = (beta + self.penalty_ / mean_size) / F
        start = np.full(F, unit)
        learner = DualDecompositionLearner(
            regularizer=self.regularizer,
            strength=self._choose_strength(start, n_points),
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
        self.strength_ = learner.strength
        self.weights_ = learner.weights_ / self.scales_
        self.exemplars_ = [
            _best_exemplars(problem.potentials(learner.weights_), problem.labels)
            for problem in problems
        ]
        for name in REPORTED:
            setattr(self, name, getattr(learner, name))
        if not self.weights_.any():
            _warn(
                "all weights are zero: every distance is zero, and every prediction a single "
                f"cluster; lower strength={self.strength_:g}"
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
        features = read_features(X, self.features)
        if features.n_features != self.n_features_in_:
            raise ValueError(
                f"X must have {self.n_features_in_} features, as in fit; got {features.n_features}"
            )
        return features.distances(self.weights_)

    def predict(self, X: Any) -> Indices:
        """Cluster a dataset with the learned distance; the number of clusters is found.

        See `mlbook.exemplars.solve_exemplars` for the cost.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or (n_features, n, n) if precomputed
            The dataset.

        Returns
        -------
        ndarray of shape (n,)
            Labels 0..k−1.

        Raises
        ------
        ValueError
            If X is not as described.
        """
        D = self.distances(X)
        rng = check_random_state(self.random_state)
        return exemplar_labels(D, solve_exemplars(D, self.penalty_, random_state=rng).exemplars)

    def _choose_penalty(self, mean_size: float, alpha: float, beta: float) -> float:
        if isinstance(self.penalty, str):
            if self.penalty != "auto":
                raise ValueError(f'penalty must be "auto" or a number; got {self.penalty!r}')
            return max(0.15 * beta * mean_size, 2 * alpha)
        return check_number(self.penalty, "penalty", above=0)

    def _choose_strength(self, start: Floats, n_points: int) -> float:
        if not isinstance(self.strength, str):
            return check_number(self.strength, "strength", least=0)
        if self.strength != "auto":
            raise ValueError(f'strength must be "auto" or a number; got {self.strength!r}')
        first = resolve_regularizer(self.regularizer)[0](start)
        return 0.1 * n_points * (float(start.sum()) / first if first > 0 else 1.0)

    def _choose_projection(self) -> Callable[[Floats], Floats]:
        if callable(self.projection):
            return self.projection
        if self.projection != "nonnegative":
            raise ValueError(
                f'projection must be "nonnegative" or a callable; got {self.projection!r}'
            )
        return _nonnegative


# The same without checks


def _augment(D: NDArray[Any], codes: Indices, penalty: Any, beta: float) -> Floats:
    """`loss_augmented_potentials`."""
    U = np.array(D, dtype=np.float64)
    np.fill_diagonal(U, penalty)
    return np.add(U, beta, out=U, where=codes[:, None] == codes)


def _best_exemplars(costs: NDArray[Any], codes: Indices) -> Indices:
    """`exemplars_of_partition`, with the penalties on the diagonal."""
    order = np.argsort(codes, kind="stable")
    clusters = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    found = [C[costs[np.ix_(C, C)].sum(axis=0, dtype=np.float64).argmin()] for C in clusters]
    return np.array(found)


# Checks and choices


def _check_distances(D: Any, n: int) -> NDArray[Any]:
    """Return one matrix of distances between n points, its diagonal zero."""
    matrix = read_features([D], "precomputed").distances(np.ones(1))
    if len(matrix) != n:
        raise ValueError(f"D must have shape ({n}, {n}), one row for each label; got {np.shape(D)}")
    return matrix


def _check_prices(penalty: Any, n: int) -> Floats:
    prices = np.asarray(penalty, dtype=np.float64)
    if prices.shape not in ((), (n,)) or not np.isfinite(prices).all():
        raise ValueError(
            f"penalty must be a finite number or one for each of {n} points; got {penalty!r}"
        )
    return prices


def _codes(labels: ArrayLike) -> Indices:
    """Labels as 0..k−1, or an error that says what is wrong with them."""
    return assignment_matrix(labels).tocsr().indices.astype(np.intp)


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
