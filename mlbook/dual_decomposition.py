"""Learn the weights of any energy that splits into parts (Komodakis 2011, Sections 4 and 5).

A training sample has an energy E(x; w), linear in the weights w, and an error Δ(x) that is zero
exactly where x agrees with the annotation. What the annotation leaves open is latent: x^k is the
best x that agrees. With Ē = E − Δ, the hinge loss is Ē(x^k; w) − min_x Ē(x; w). The minimum is
replaced by a lower bound,

    min_x Ē(x; w)  ≥  Σ_s min_x Ē_s(x; w, λ_s),

where the slaves Ē_s add up to Ē, each can be minimized exactly, and the multipliers λ_s of the
variables they share add up to zero. The sum of the hinge losses of the slaves is thus an upper
bound on the hinge loss, convex in (w, λ) for fixed x^k, and minimized by subgradients.

**A problem of your own** is two classes: the sample (`LatentProblem`) and its slaves
(`SlaveBatch`). Say we match people with jobs, x being the job of each person. A match has
features F[person, job] and costs w·F[person, job]; the jobs of some people are known. The
variables are the n² cells "this person has this job". A slave for each row gives its person the
cheapest job, a slave for each column gives its job the cheapest person. Each cell is in one row
and one column, so that each of the two carries half of its energy.

>>> import numpy as np
>>> from scipy.optimize import linear_sum_assignment
>>> from mlbook.dual_decomposition import DualDecompositionLearner, SlaveState
>>> class Lines:  # the slaves of all rows (axis=1) or of all columns (axis=0)
...     def __init__(self, matching, axis):
...         self.matching, self.axis = matching, axis
...         self.shape = matching.wrong.shape  # of the multipliers: one for each cell
...         self.coords = np.arange(matching.n_variables).reshape(self.shape)  # its variable
...     def minimize(self, w, multipliers):  # every slave on its own
...         costs = (self.matching.F @ w - self.matching.wrong) / 2 + multipliers
...         mu = np.zeros(self.shape)
...         cheapest = costs.argmin(axis=self.axis, keepdims=True)
...         np.put_along_axis(mu, cheapest, 1.0, axis=self.axis)
...         return self.state(mu)
...     def evaluate(self, x):  # every slave at the matching x
...         return self.state(np.eye(len(x))[x])
...     def state(self, mu):  # cells taken, their features, their energy without w and λ
...         F, wrong = self.matching.F, self.matching.wrong
...         return SlaveState(mu, np.tensordot(mu, F) / 2, -np.vdot(mu, wrong) / 2)
>>> class Matching:
...     def __init__(self, F, known):  # known: the job of each person, -1 where it is latent
...         self.F, known = F, np.asarray(known)[:, None]
...         self.wrong = (known >= 0) & (known != np.arange(len(F)))  # Δ: wrong cells taken
...         self.n_variables, self.n_features = self.wrong.size, F.shape[2]
...         self.batches = [Lines(self, axis=0), Lines(self, axis=1)]
...     def complete(self, w, previous):  # x^k: the best matching that agrees
...         return linear_sum_assignment(np.where(self.wrong, np.inf, self.F @ w))[1]
...     def decode(self, w, start):  # any matching of low Ē, for the lower bound on the loss
...         return linear_sum_assignment(self.F @ w - self.wrong)[1]

Three of five jobs are known in each of twelve samples. Ten more samples are for testing:

>>> rng = np.random.default_rng(0)
>>> features = rng.normal(size=(22, 5, 5, 3))
>>> jobs = np.array([linear_sum_assignment(F @ [2.0, -1.0, 0.0])[1] for F in features])
>>> known = np.where(np.arange(5) < 3, jobs, -1)
>>> problems = [Matching(F, y) for F, y in zip(features[:12], known[:12])]
>>> learner = DualDecompositionLearner(step_weights=0.05, step_multipliers=0.3)
>>> w = learner.fit(problems, start=np.zeros(3)).weights_
>>> found = [linear_sum_assignment(F @ w)[1] for F in features[12:]]
>>> print((w / w[0]).round(1), np.mean(found == jobs[12:]))
[ 1.  -0.5  0.1] 1.0

To test a problem of your own, take a sample so small that every x can be tried:
`configuration_energy` is to be E − Δ, `complete` the best of those without error, and
`dual_value` never above the lowest Ē.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from mlbook._arrays import Floats, Integers
from mlbook._blas import one_blas_thread
from mlbook._progress import progress
from mlbook._validation import (
    as_floats,
    as_vector,
    check_boolean,
    check_integer,
    check_jobs,
    check_number,
)

__all__ = [
    "DualDecompositionLearner",
    "LatentProblem",
    "RelaxedLoss",
    "SlaveBatch",
    "SlaveState",
    "Tightened",
    "configuration_energy",
    "dual_value",
    "initial_multipliers",
    "relaxed_loss",
    "tighten",
]

Multipliers = list[Floats]

LARGEST = 1e100  # size of weights and steps
_TIGHTEN = 50  # dual steps at the final weights, before the losses are reported


class SlaveState(NamedTuple):
    """A configuration of every slave of a batch, as the learner sees it.

    Attributes
    ----------
    mu : ndarray of the shape of the batch
        Value of every shared variable in every slave that holds it.
    psi : ndarray of shape (n_features,)
        Features of the configurations, summed over the slaves.
    const : float
        The part of their energies that depends neither on the weights nor on the
        multipliers, summed likewise.

    Examples
    --------
    >>> state = SlaveState(mu=np.array([1.0, 0.0]), psi=np.array([2.0]), const=0.5)
    >>> state.energy(np.array([3.0]), np.array([0.25, 7.0]))
    6.75
    """

    mu: NDArray[Any]
    psi: Floats
    const: float

    def energy(self, w: Floats, multipliers: Floats) -> float:
        """Σ_s Ē_s(x_s; w, λ_s) = w·psi + const + ⟨λ, mu⟩."""
        return float(w @ self.psi + self.const + np.vdot(multipliers, self.mu))


class SlaveBatch(Protocol):
    """Slaves of the same kind, minimized together by array operations.

    Attributes
    ----------
    shape : tuple of int
        Shape of `SlaveState.mu` and of the multipliers of this batch.
    coords : ndarray of int
        Number of the shared variable behind each entry of ``mu``. It has the last axes of
        `shape`, or all: slaves that hold the same variables need only say so once.

    Examples
    --------
    >>> from mlbook.latent_crf import ExemplarProblem
    >>> problem = ExemplarProblem([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1], penalty=2.0)
    >>> points, clusters = problem.batches
    >>> points.shape, clusters.shape
    ((4, 4), (4,))
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the multipliers."""

    @property
    def coords(self) -> Integers:
        """Variable behind each entry."""

    def minimize(self, w: Floats, multipliers: Floats) -> SlaveState:
        """Exact minimizers of the slaves, each on its own."""

    def evaluate(self, x: Any) -> SlaveState:
        """All slaves at one configuration `x` of the whole problem."""


class LatentProblem(Protocol):
    """A training sample: a decomposition, and what its annotation allows.

    Every variable on which slaves may disagree has to be in ``coords`` of some batch, and the
    energies of the slaves at a common configuration have to add up to Ē. The error has to
    vanish on everything that `complete` can return.

    Attributes
    ----------
    n_variables, n_features : int
        Number of shared variables, and of weights.
    batches : sequence of SlaveBatch
        The slaves.

    Examples
    --------
    >>> from mlbook.latent_crf import ExemplarProblem
    >>> problem: LatentProblem = ExemplarProblem([[0.0], [1.0], [9.0]], [0, 0, 1], penalty=2.0)
    >>> problem.n_variables, problem.n_features, problem.complete(np.array([1.0]), None).tolist()
    (3, 1, [1, 1, 2])
    """

    @property
    def n_variables(self) -> int:
        """Number of shared variables."""

    @property
    def n_features(self) -> int:
        """Number of weights."""

    @property
    def batches(self) -> Sequence[SlaveBatch]:
        """The slaves."""

    def complete(self, w: Floats, previous: Any) -> Any:
        """Fill in the latent variables: argmin E(x; w) over the x that agree with the annotation.

        Where that is too hard, any such x that is not worse than `previous` (None at first).
        """

    def decode(self, w: Floats, start: Any) -> Any:
        """Look near `start` for an x of low loss-augmented energy; any x is allowed."""


class RelaxedLoss(NamedTuple):
    """Loss of a problem under the relaxation, and a subgradient of it.

    Attributes
    ----------
    value : float
        Σ_s (Ē_s(x^k) − min Ē_s).
    weights : ndarray of shape (n_features,)
        Subgradient in w.
    multipliers : list of ndarray
        Subgradient in λ, one array per batch, within the subspace of allowed λ.

    Examples
    --------
    >>> loss = RelaxedLoss(9.6, np.array([2.0]), [np.zeros(4)])
    >>> loss.value, loss.weights.tolist()
    (9.6, [2.0])
    """

    value: float
    weights: Floats
    multipliers: Multipliers


class Tightened(NamedTuple):
    """Bounds on the hinge loss of a problem.

    Attributes
    ----------
    relaxed_loss : float
        Upper bound, from the dual value at `multipliers`.
    hinge_lower_bound : float
        Lower bound, from a configuration.
    multipliers : list of ndarray
        The best λ met.

    Examples
    --------
    >>> bounds = Tightened(relaxed_loss=3.0, hinge_lower_bound=2.5, multipliers=[np.zeros(4)])
    >>> bounds.relaxed_loss - bounds.hinge_lower_bound
    0.5
    """

    relaxed_loss: float
    hinge_lower_bound: float
    multipliers: Multipliers


def check_weights(problem: LatentProblem, w: Any) -> Floats:
    """Return the weights of a problem, refusing another number of them, NaN and infinity."""
    _check_problem(problem)
    found = as_vector(w, "w", problem.n_features)
    if np.abs(found).max(initial=0) > LARGEST:
        raise ValueError(
            f"w must be at most {LARGEST:g} in size, or energies overflow; got {w!r:.200}"
        )
    return found


def _check_problem(problem: Any, name: str = "problem") -> None:
    wanted = ("n_variables", "n_features", "batches")
    if not all(hasattr(problem, attribute) for attribute in wanted):
        raise ValueError(f"{name} must be a LatentProblem; got {problem!r:.200}")


def _check_multipliers(problem: LatentProblem, multipliers: Any) -> Multipliers:
    """Return the multipliers, refusing other shapes than those of the batches; O(1) if right."""
    shapes = [tuple(batch.shape) for batch in problem.batches]
    if not isinstance(multipliers, Sequence) or len(multipliers) != len(shapes):
        raise ValueError(
            f"multipliers must be a list of {len(shapes)} arrays, one for each batch; got "
            f"{multipliers!r:.200}"
        )
    found = [as_floats(own, "multipliers") for own in multipliers]
    if [own.shape for own in found] != shapes:
        raise ValueError(f"multipliers must have shapes {shapes}; got {[m.shape for m in found]}")
    return found


def _check_finite(value: float) -> float:
    """Refuse a sum over all multipliers that is not finite: an entry is not."""
    if not np.isfinite(value):
        raise ValueError(
            "the loss is not finite: w or multipliers are too large, or the steps that led to "
            "them, or the features"
        )
    return value


def initial_multipliers(problem: LatentProblem) -> Multipliers:
    """λ = 0, one array per batch of the problem.

    Examples
    --------
    >>> from mlbook.latent_crf import ExemplarProblem
    >>> problem = ExemplarProblem([[0.0], [1.0], [9.0]], [0, 0, 1], penalty=2.0)
    >>> [multipliers.shape for multipliers in initial_multipliers(problem)]
    [(3, 3), (3,)]
    """
    _check_problem(problem)
    return [np.zeros(batch.shape) for batch in problem.batches]


def configuration_energy(problem: LatentProblem, w: Floats, x: Any) -> float:
    """Loss-augmented energy Ē(x; w), as the sum of all slaves (Komodakis 2011, Eqs. 17-25).

    For clustering it is E(x; w) − Δ(x); for the x of the annotation Δ is zero.

    Examples
    --------
    >>> from mlbook.latent_crf import ExemplarProblem
    >>> problem = ExemplarProblem([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1], penalty=2.0)
    >>> round(configuration_energy(problem, np.array([1.0]), np.array([1, 1, 1, 3])), 9)
    6.0
    """
    w = check_weights(problem, w)
    states = [batch.evaluate(x) for batch in problem.batches]
    return _check_finite(float(sum(w @ state.psi + state.const for state in states)))


def dual_value(problem: LatentProblem, w: Floats, multipliers: Multipliers) -> float:
    """Sum of the minima of the slaves (Komodakis 2011, Eq. 26 before the maximum).

    A lower bound on the minimum of the loss-augmented energy, for all λ that add up to zero over
    the copies of each variable.

    Examples
    --------
    >>> from mlbook.latent_crf import ExemplarProblem
    >>> problem = ExemplarProblem([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1], penalty=2.0)
    >>> round(dual_value(problem, np.array([1.0]), initial_multipliers(problem)), 9)
    -3.6
    """
    w, multipliers = check_weights(problem, w), _check_multipliers(problem, multipliers)
    value = float(
        sum(
            batch.minimize(w, own).energy(w, own)
            for batch, own in zip(problem.batches, multipliers, strict=True)
        )
    )
    return _check_finite(value)


def relaxed_loss(
    problem: LatentProblem, w: Floats, multipliers: Multipliers, x: Any
) -> RelaxedLoss:
    """Loss of all slaves together and its subgradient (Komodakis 2011, Eq. 28 and Lemma 1).

    In the papers: Komodakis 2011, Eqs. 28, 31 and 35.

    In w the subgradient is psi(x) − psi(x̂), for x̂ the minimizers of the slaves. In λ it is
    −mu(x̂), less its mean over the copies of each variable: x has the same value in all of
    them, and the projection of λ on the allowed subspace commutes with the step.

    Costs one minimization of every slave.

    Parameters
    ----------
    problem : LatentProblem
        The training sample.
    w : ndarray of shape (n_features,)
        Weights.
    multipliers : list of ndarray
        λ, one array per batch, adding up to zero over the copies of each variable.
    x : object
        Configuration x^k, as `LatentProblem.complete` returns it.

    Returns
    -------
    RelaxedLoss
        Value and subgradient.

    Examples
    --------
    >>> from mlbook.latent_crf import ExemplarProblem
    >>> problem = ExemplarProblem([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1], penalty=2.0)
    >>> w, x = np.array([1.0]), np.array([1, 1, 1, 3])
    >>> round(relaxed_loss(problem, w, initial_multipliers(problem), x).value, 9)
    9.6
    """
    w, multipliers = check_weights(problem, w), _check_multipliers(problem, multipliers)
    dual = 0.0
    psi = np.zeros(problem.n_features)
    states = []
    for batch, own in zip(problem.batches, multipliers, strict=True):
        state = batch.minimize(w, own)
        dual += state.energy(w, own)
        psi -= state.psi
        states.append(state)
    energy = 0.0
    for batch in problem.batches:
        truth = batch.evaluate(x)
        energy += float(w @ truth.psi + truth.const)
        psi += truth.psi

    totals, copies = np.zeros(problem.n_variables), np.zeros(problem.n_variables)
    for batch, state in zip(problem.batches, states, strict=True):
        shared_by = state.mu.ndim - batch.coords.ndim
        summed = state.mu.sum(axis=tuple(range(shared_by)), dtype=np.float64)
        coords = batch.coords.ravel()
        totals += np.bincount(coords, summed.ravel(), problem.n_variables)
        slaves = int(np.prod(batch.shape[:shared_by]))
        copies += slaves * np.bincount(coords, minlength=problem.n_variables)
    means = totals / np.maximum(copies, 1)
    gradients = [
        means[batch.coords] - state.mu for batch, state in zip(problem.batches, states, strict=True)
    ]
    return RelaxedLoss(_check_finite(energy - dual), psi, gradients)


def tighten(problem: LatentProblem, w: Floats, multipliers: Multipliers, x: Any) -> Tightened:
    """Bracket the hinge loss of a problem at given weights (Komodakis 2011, Eqs. 14 and 21).

    In the papers: Komodakis 2011, Eqs. 12 and 27. (The hinge loss is the slack of Eq. 12.)

    From above by Polyak steps on λ, towards the energy of what ``problem.decode`` finds; that
    energy bounds the hinge loss from below. Costs 50 times as much as `relaxed_loss`, at most.

    Parameters
    ----------
    problem : LatentProblem
        The training sample.
    w : ndarray of shape (n_features,)
        Weights.
    multipliers : list of ndarray
        λ to start from.
    x : object
        Configuration x^k.

    Returns
    -------
    Tightened
        Both bounds, and the λ found.

    Examples
    --------
    >>> from mlbook.latent_crf import ExemplarProblem
    >>> problem = ExemplarProblem([[0.0], [1.0], [2.0], [9.0]], [0, 0, 0, 1], penalty=2.0)
    >>> w, x = np.array([1.0]), np.array([1, 1, 1, 3])
    >>> bounds = tighten(problem, w, initial_multipliers(problem), x)
    >>> print(bounds.hinge_lower_bound, round(bounds.relaxed_loss, 1))
    0.0 1.0
    """
    _check_problem(problem)
    multipliers = _check_multipliers(problem, multipliers)
    energy = configuration_energy(problem, w, x)
    decoded = configuration_energy(problem, w, problem.decode(w, x))
    hinge = energy - min(energy, decoded)
    best, best_multipliers = np.inf, multipliers
    factor, stalled = 1.0, 0
    for _ in range(_TIGHTEN):
        loss = relaxed_loss(problem, w, multipliers, x)
        stalled += 1
        if loss.value < best:
            if best - loss.value > 0.02 * (best - hinge):
                stalled = 0
            best, best_multipliers = loss.value, multipliers
        size = sum(float(np.vdot(slope, slope)) for slope in loss.multipliers)
        missing = loss.value - hinge
        if size == 0 or missing <= 1e-12 * (abs(energy) + 1):
            break
        if stalled == 5:
            factor, stalled = factor / 2, 0
        step = factor * missing / size
        multipliers = [
            own - step * slope for own, slope in zip(multipliers, loss.multipliers, strict=True)
        ]
    return Tightened(best, hinge, best_multipliers)


class Regularizer(NamedTuple):
    """A regularizer J of the weights: its value, and its proximal step."""

    value: Callable[[Floats], float]
    prox: Callable[[Floats, float], Floats]


_REGULARIZERS = {
    "l1": Regularizer(
        lambda w: float(np.abs(w).sum()),
        lambda w, step: np.sign(w) * np.maximum(np.abs(w) - step, 0),
    ),
    "l2": Regularizer(lambda w: float(w @ w) / 2, lambda w, step: w / (1 + step)),
}


def resolve_regularizer(regularizer: Any) -> Regularizer:
    """Find a regularizer given by its name, or as a callable (`DualDecompositionLearner`)."""
    if isinstance(regularizer, str) and regularizer in _REGULARIZERS:
        return _REGULARIZERS[regularizer]
    if not callable(regularizer):
        raise ValueError(
            f"regularizer must be one of {sorted(_REGULARIZERS)} or a callable that takes the "
            f"weights and a step; got {regularizer!r}"
        )
    return Regularizer(getattr(regularizer, "value", lambda w: 0.0), regularizer)


class _Iterate(NamedTuple):
    """Where the descent stands before an iteration, and the loss there."""

    iteration: int
    weights: Floats
    multipliers: list[Multipliers]
    completions: list[Any]
    loss: float


class _Descent(NamedTuple):
    """The best iterate, the objective of all, and whether the last ones were as good."""

    best: _Iterate
    path: Floats
    settled: bool


class DualDecompositionLearner(BaseEstimator):
    """Learn the weights of any latent CRF from its decomposed problems (Komodakis 2011, Eq. 35).

    In the papers: Komodakis 2011, Eqs. 27, 30 and 35, and Figure 1.

    Minimizes τ J(w) + Σ_k (loss of problem k under its relaxation), Eq. 35 (Eq. 28 for
    clustering), over w in a convex set, the multipliers and the latent variables.
    An iteration fills in the latent variables, then takes `inner_iter` subgradient steps on w
    and λ (Eqs. 30-31): the regularizer by its proximal step, the convex set by projection,
    the steps of w and of λ of their own lengths, both times 1/√(1 + t/10) at step t.

    Subgradient steps do not decrease the objective each time: the best weights met are kept.

    Parameters
    ----------
    regularizer : {"l1", "l2"} or callable, default="l2"
        J: "l1" is ``Σ |w_i|``, "l2" is ``½ Σ w_i²``. A callable takes (w, t) and returns the
        proximal step, the v of smallest ``½ ‖v − w‖² + t J(v)``. If it has an attribute
        ``value``, that function of w is J in the objective; otherwise the objective is the
        loss alone.
    alpha : float, default=1.0
        τ.
    projection : callable, optional
        Maps weights to the nearest ones in the convex set. Default: all weights are allowed.
    step_weights, step_multipliers : float, default=0.01 and 0.1
        First steps of w and λ.
    max_iter : int, default=300
        Most iterations. With `stochastic`, an iteration is a pass over all problems.
    inner_iter : int, default=1
        T, the number of subgradient steps between two completions of the latent variables.
    stochastic : bool, default=False
        Take the problems one by one, in random order, and change w after each, with τ/K for
        the regularizer of each of the K steps. The objective is evaluated between passes.
    tol : float, default=1e-3
        Stop when the best objective has fallen by less than this share of itself in
        `patience` iterations.
    patience : int, default=20
        See `tol`.
    n_jobs : int, optional
        Number of threads, over the problems; of processes or Dask workers where
        ``joblib.parallel_config`` says so. The numbers are the same for all, as BLAS keeps to
        one thread. A `stochastic` pass goes one by one.
    verbose : bool, default=False
        Show progress on standard error.
    random_state : int, RandomState instance or None, default=None
        Order of the problems; used if `stochastic`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        The weights of the lowest objective.
    completions_ : list
        Configuration of each problem at these weights, as its ``complete`` returned it.
    multipliers_ : list of lists of ndarray
        λ of each problem, after some more steps for the relaxed loss below.
    objective_path_ : ndarray of shape (`n_iter_` + 1,)
        τ J(w) + loss before the first and after every iteration.
    best_iter_ : int
        Its lowest entry: ``weights_`` are those after that many iterations.
    current_loss_ : float
        Loss in that entry, with the multipliers reached then.
    relaxed_loss_ : float
        Loss at the same weights after further steps on the multipliers alone. It approaches
        the loss of Eq. 27, the relaxation at its best, from above.
    hinge_lower_bound_ : float
        Σ_k (Ē(x^k) − Ē(x)) for the best x that ``decode`` found. The true hinge loss of Eq. 14
        lies between this and `relaxed_loss_`.
    duality_gap_ : float
        ``relaxed_loss_ - hinge_lower_bound_``.
    n_iter_ : int
        Number of iterations.
    settled_ : bool
        Whether `tol` was reached: the steps no longer gain much. This is no proof that other
        weights would not; `mlbook.LatentExemplarMetric` has one.

    Notes
    -----
    Memory: the multipliers, three times. Threads share them. Processes are sent the problem and
    its multipliers in each iteration, and send these back: they pay where a problem takes much
    longer than that, or holds on to Python's lock.

    Examples
    --------
    One problem with one free binary variable x and energy w·x, annotated x = 1: to make 1 the
    minimizer by a margin of 1, w has to fall to −1.

    >>> import numpy as np
    >>> class Coin:
    ...     shape, coords = (1,), np.array([0])
    ...     n_variables = n_features = 1
    ...     batches = property(lambda self: [self])
    ...     def evaluate(self, x):
    ...         return SlaveState(np.array([x]), np.array([float(x)]), -float(x != 1))
    ...     def minimize(self, w, multipliers):
    ...         return self.evaluate(int(w[0] + multipliers[0] < -1))
    ...     def complete(self, w, previous):
    ...         return 1
    ...     def decode(self, w, start):
    ...         return 0
    >>> learner = DualDecompositionLearner(alpha=0.1, step_weights=0.2)
    >>> print(learner.fit([Coin()], [0.0]).weights_.round(1))
    [-1.]
    """

    def __init__(
        self,
        *,
        regularizer: str | Callable[[Floats, float], Floats] = "l2",
        alpha: float = 1.0,
        projection: Callable[[Floats], Floats] | None = None,
        step_weights: float = 0.01,
        step_multipliers: float = 0.1,
        max_iter: int = 300,
        inner_iter: int = 1,
        stochastic: bool = False,
        tol: float = 1e-3,
        patience: int = 20,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.regularizer = regularizer
        self.alpha = alpha
        self.projection = projection
        self.step_weights = step_weights
        self.step_multipliers = step_multipliers
        self.max_iter = max_iter
        self.inner_iter = inner_iter
        self.stochastic = stochastic
        self.tol = tol
        self.patience = patience
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, problems: Sequence[LatentProblem], start: ArrayLike) -> Self:
        """Learn from the problems, beginning with the weights `start`.

        Parameters
        ----------
        problems : sequence of LatentProblem
            Training samples, with the same number of features.
        start : array-like of shape (n_features,)
            First weights. Where latent states are interchangeable they must not be alike.

        Returns
        -------
        DualDecompositionLearner
            The fitted learner.

        Raises
        ------
        ValueError
            If an argument is not as described.

        Warns
        -----
        ConvergenceWarning
            If `tol` was not reached in `max_iter` iterations, or no step improved the start.
        """
        check_integer(self.max_iter, "max_iter", least=1)
        check_integer(self.inner_iter, "inner_iter", least=1)
        check_integer(self.patience, "patience", least=1)
        check_number(self.tol, "tol", least=0)
        check_number(self.alpha, "alpha", least=0, most=LARGEST)
        check_number(self.step_weights, "step_weights", above=0, most=LARGEST)
        check_number(self.step_multipliers, "step_multipliers", above=0, most=LARGEST)
        regularizer = resolve_regularizer(self.regularizer)
        check_boolean(self.stochastic, "stochastic")
        check_boolean(self.verbose, "verbose")
        if self.projection is not None and not callable(self.projection):
            raise ValueError(f"projection must be callable or None; got {self.projection!r}")
        check_jobs(self.n_jobs)
        if not isinstance(problems, Sequence) or isinstance(problems, str | bytes):
            raise ValueError(f"problems must be a list of problems; got {problems!r:.200}")
        for problem in problems:
            _check_problem(problem, "each of problems")
        problems = list(problems)
        w = as_floats(start, "start")
        counts = {problem.n_features for problem in problems}
        if counts != {w.size} or w.ndim != 1 or not np.abs(w).max() <= LARGEST:
            raise ValueError(
                "problems must not be empty, and all must have as many features as start has "
                f"finite entries; got {sorted(counts)} features and start of shape {w.shape}"
            )
        with (
            one_blas_thread(),
            Parallel(n_jobs=self.n_jobs, prefer="threads") as parallel,
        ):
            descent = self._descend(problems, self._project(w), regularizer, parallel)
            best = descent.best
            # Tell apart what the multipliers, the relaxation and the weights are to blame for.
            bounds = parallel(
                delayed(_tightened)(problem, best.weights, own, x)
                for problem, own, x in zip(
                    problems, best.multipliers, best.completions, strict=True
                )
            )
        self.weights_, self.completions_ = best.weights, best.completions
        self.best_iter_, self.current_loss_ = best.iteration, best.loss
        self.multipliers_ = [found.multipliers for found in bounds]
        self.relaxed_loss_ = float(sum(found.relaxed_loss for found in bounds))
        self.hinge_lower_bound_ = float(sum(found.hinge_lower_bound for found in bounds))
        self.duality_gap_ = self.relaxed_loss_ - self.hinge_lower_bound_
        self.objective_path_ = descent.path
        self.n_iter_ = len(descent.path) - 1
        self.settled_ = descent.settled
        if (descent.path[1:] > descent.path[0]).all() and self.n_iter_:
            warnings.warn(
                "every step raised the objective above that of the start: lower step_weights, "
                "unless the start cannot be improved",
                ConvergenceWarning,
                stacklevel=2,
            )
        elif not self.settled_:
            warnings.warn(
                f"the objective still fell by more than {self.tol:g} of itself in the last "
                f"{min(self.patience, self.n_iter_)} of {self.n_iter_} iterations: raise max_iter",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _descend(
        self,
        problems: list[LatentProblem],
        w: Floats,
        regularizer: Regularizer,
        parallel: Parallel,
    ) -> _Descent:
        """Take the subgradient steps, from the weights w."""
        rng = check_random_state(self.random_state)
        K = len(problems)
        multipliers = [initial_multipliers(problem) for problem in problems]
        completions: list[Any] = [None] * K
        path: list[float] = []
        lowest: list[float] = []
        rounds = 0

        def decayed(step: float) -> float:
            return step / np.sqrt(1 + rounds / 10)

        def stepped(slope: Floats, alpha: float) -> Floats:
            """Proximal projected subgradient step on the weights (Eq. 30)."""
            step = decayed(self.step_weights)
            return self._project(regularizer.prox(w - step * slope, step * alpha))

        settled = False
        with progress(self.max_iter + 1, "subgradient steps", shown=self.verbose) as show:
            for t in range(self.max_iter + 1):
                batch_step = decayed(self.step_multipliers) * (not self.stochastic)
                losses, slopes, moved, completions = _sweep(
                    problems, w, multipliers, completions, batch_step, parallel, complete=True
                )
                path.append(self.alpha * regularizer.value(w) + losses)
                if not lowest or path[-1] < lowest[-1]:
                    best = _Iterate(t, w, multipliers, completions, losses)
                lowest.append(min(path))
                show(f"objective {lowest[-1]:.6g}")
                patient = lowest[t - self.patience] if t >= self.patience else np.inf
                settled = bool(patient - lowest[-1] <= self.tol * abs(lowest[-1]))
                if settled or t == self.max_iter:
                    break
                if self.stochastic:
                    multipliers, completions = list(multipliers), list(completions)
                    for k in rng.permutation(K):
                        x = completions[k] = problems[k].complete(w, completions[k])
                        for _ in range(self.inner_iter):
                            step = decayed(self.step_multipliers)
                            _, slope, multipliers[k], _ = _visit(
                                problems[k], w, multipliers[k], x, step, complete=False
                            )
                            w = stepped(slope, self.alpha / K)
                    rounds += self.inner_iter
                    continue
                for inner in range(self.inner_iter):
                    if inner:
                        step = decayed(self.step_multipliers)
                        _, slopes, moved, _ = _sweep(
                            problems, w, multipliers, completions, step, parallel, complete=False
                        )
                    w = stepped(slopes, self.alpha)
                    multipliers = moved
                    rounds += 1
        return _Descent(best, np.array(path), settled)

    def _project(self, w: Floats) -> Floats:
        return w if self.projection is None else np.asarray(self.projection(w), dtype=np.float64)


def _sweep(
    problems: list[LatentProblem],
    w: Floats,
    multipliers: list[Multipliers],
    completions: list[Any],
    step: float,
    parallel: Parallel,
    complete: bool,
) -> tuple[float, Floats, list[Multipliers], list[Any]]:
    """Loss and its slope in w over all problems, multipliers after a step, configurations."""
    visited = parallel(
        delayed(_visit)(problem, w, own, x, step, complete)
        for problem, own, x in zip(problems, multipliers, completions, strict=True)
    )
    losses, slopes, moved, completed = zip(*visited, strict=True)
    return sum(losses), np.sum(slopes, axis=0), list(moved), list(completed)


def _visit(
    problem: LatentProblem, w: Floats, multipliers: Multipliers, x: Any, step: float, complete: bool
) -> tuple[float, Floats, Multipliers, Any]:
    """Loss, its slope in w, the multipliers after a step, and x, filled in anew if `complete`."""
    with one_blas_thread():  # in this process too, which need not be that of `fit`
        if complete:
            x = problem.complete(w, x)
        loss = relaxed_loss(problem, w, multipliers, x)
    moved = multipliers
    if step:
        moved = [
            own - step * slope for own, slope in zip(multipliers, loss.multipliers, strict=True)
        ]
    return loss.value, loss.weights, moved, x


def _tightened(problem: LatentProblem, w: Floats, multipliers: Multipliers, x: Any) -> Tightened:
    with one_blas_thread():
        return tighten(problem, w, multipliers, x)
