"""Exemplar clustering as a problem of the general learner: `ExemplarProblem`."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mlbook._arrays import Floats, Integers
from mlbook._validation import as_array, as_vector, check_number
from mlbook.dual_decomposition import SlaveBatch, SlaveState, check_weights, configuration_energy
from mlbook.exemplars import exemplar_labels, improve_exemplars
from mlbook.latent_crf.energy import augment, best_exemplars, codes_of
from mlbook.latent_crf.pair_features import PairFeatures, read_features
from mlbook.latent_crf.slaves import Mask, cluster_slaves, point_slaves


class ExemplarProblem:
    """A training set of clustering, decomposed for `DualDecompositionLearner`.

    The shared variables are the x_qq. All point slaves are one batch, all cluster slaves
    another (Komodakis 2011, Eqs. 23-25).

    Parameters
    ----------
    data : array-like of shape (n, n_features) or (n_features, n, n), or features
        Points, or matrices of distances, see `features`; or the `features` of another problem.
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
    >>> from mlbook.dual_decomposition import initial_multipliers, relaxed_loss
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
        data: ArrayLike | PairFeatures,
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
        self.labels = codes_of(labels)
        self.features = read_features(data, features, "data")
        if self.features.n_points != len(self.labels):
            raise ValueError(
                f"labels must hold one label for each of the {self.features.n_points} points; "
                f"got {len(self.labels)}"
            )
        self.n_variables = len(self.labels)
        self.n_clusters = int(self.labels.max()) + 1
        self.n_features = self.features.n_features
        if np.ndim(as_array(scales, "scales")) == 0:
            scales = np.full(self.n_features, check_number(scales, "scales", above=0))
        self.scales = as_vector(scales, "scales", self.n_features, least=np.finfo(np.float64).tiny)
        self.batches: list[SlaveBatch] = [_PointSlaves(self), _ClusterSlaves(self)]
        self._w: Floats | None = None
        self._potentials = np.empty(0)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the potentials, which are soon computed again."""
        return {**self.__dict__, "_w": None, "_potentials": np.empty(0)}

    def scaled(self, scales: ArrayLike) -> Self:
        """Return the same problem with other scales of the features."""
        return type(self)(
            self.features,
            self.labels,
            penalty=self.penalty,
            alpha=self.alpha,
            beta=self.beta,
            scales=scales,
        )

    def distances(self, w: Floats) -> Floats:
        """d_pq = wᵀf_pq (Komodakis 2011, Eq. 10), with zeros on the diagonal."""
        return self.features.distances(check_weights(self, w) / self.scales)

    def potentials(self, w: Floats) -> Floats:
        """ū of Eq. 18 at the weights w, kept until other weights are asked for."""
        w = check_weights(self, w)
        if self._w is None or not np.array_equal(w, self._w):
            self._potentials = augment(self.distances(w), self.labels, self.penalty, self.beta)
            self._w = w.copy()
        return self._potentials

    def feature_sum(self, assignment: Integers) -> Floats:
        """Σ_p f_pq with q the exemplar assigned to p, leaving out exemplars."""
        return self.features.total(self._check(assignment, "assignment")) / self.scales

    def complete(self, w: Floats, previous: Any) -> Integers:
        """Assign all points to the best exemplar of their cluster (Eq. 29).

        In the papers: Komodakis 2011, Figure 1, whose points may leave their cluster.
        """
        # Within a cluster, ū differs from d by the constant β.
        return best_exemplars(self.potentials(w), self.labels)[self.labels]

    def decode(self, w: Floats, start: Integers) -> Integers:
        """Local search for the minimum of Ē from the exemplars of `start`.

        As long as no cluster has more than one exemplar, or none has less, the term of the error is
        linear in the number of its exemplars, and Ē an energy of `mlbook.exemplars` with
        penalty d_qq + β ± α. Both are tried.
        """
        U, chosen = self.potentials(w), np.unique(self._check(start, "start"))
        found = []
        for sign in (-1, 1):
            price = self.penalty + self.beta + sign * self.alpha
            exemplars = improve_exemplars(U, chosen, price, random_state=0)
            found.append(exemplars[exemplar_labels(U, exemplars)])
        return min(found, key=lambda x: configuration_energy(self, w, x))

    def _check(self, assignment: Any, name: str) -> Integers:
        """Return an exemplar for each point, refusing what is not one."""
        chosen, n = as_array(assignment, name), self.n_variables
        right = chosen.shape == (n,) and chosen.dtype.kind in "iu"
        if not right or chosen.min() < 0 or chosen.max() >= n:
            raise ValueError(
                f"{name} must hold an integer from 0 to {n - 1} for each of {n} points; got "
                f"{assignment!r:.200}"
            )
        return chosen.astype(np.intp, copy=False)


class _PointSlaves:
    """The slaves of Komodakis 2011, Eq. 23."""

    def __init__(self, problem: ExemplarProblem) -> None:
        self.problem = problem
        n = problem.n_variables
        self.shape, self.coords = (n, n), np.arange(n)

    def minimize(self, w: Floats, multipliers: Floats) -> SlaveState:
        return self._state(*point_slaves(self.problem.potentials(w), multipliers))

    def evaluate(self, x: Integers) -> SlaveState:
        x = self.problem._check(x, "x")
        is_open = np.zeros(len(x), dtype=bool)
        is_open[x] = True
        return self._state(x, np.broadcast_to(is_open, self.shape))

    def _state(self, chosen: Integers, is_open: Mask) -> SlaveState:
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

    def minimize(self, w: Floats, multipliers: Floats) -> SlaveState:
        problem = self.problem
        return self._state(cluster_slaves(self.shares, multipliers, problem.labels, problem.alpha))

    def evaluate(self, x: Integers) -> SlaveState:
        x = self.problem._check(x, "x")
        is_open = np.zeros(len(x), dtype=bool)
        is_open[x] = True
        return self._state(is_open)

    def _state(self, is_open: Mask) -> SlaveState:
        problem = self.problem
        counts = np.bincount(problem.labels, is_open)
        const = self.shares @ is_open - problem.alpha * np.abs(1 - counts).sum()
        return SlaveState(is_open, np.zeros(problem.n_features), float(const))
