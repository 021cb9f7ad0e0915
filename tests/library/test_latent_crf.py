"""Learning for exemplar clustering against enumeration, linear and integer programs, and loops."""

import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from enumeration import all_assignments, subsets
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mlbook.datasets import make_noisy_gaussians
from mlbook.exemplars import solve_exemplars
from mlbook.latent_crf import (
    DualDecompositionLearner,
    ExemplarProblem,
    LatentExemplarMetric,
    SlaveState,
    cluster_slaves,
    clustering_error,
    configuration_energy,
    dual_value,
    exemplars_of_partition,
    initial_multipliers,
    loss_augmented_potentials,
    point_slaves,
    relaxed_loss,
    tighten,
)
from mlbook.partitions import f_measure, partition_loss

LABELS = [[0, 0, 0, 1, 1], [0, 1, 2, 3, 4], [0, 0, 0, 0, 0], [1, 0, 1, 0, 2]]


def random_problem(seed=0, labels=LABELS[0], n_features=2, penalty=1.5, alpha=0.7, beta=1.3):
    """Asymmetric features of both signs: nothing that only holds for distances can be used."""
    rng = np.random.default_rng(seed)
    n = len(labels)
    stack = rng.normal(0.5, 1, (n_features, n, n))
    problem = ExemplarProblem(
        stack, labels, penalty=penalty, alpha=alpha, beta=beta, features="precomputed"
    )
    return problem, stack, rng.normal(0.5, 1, n_features)


def random_multipliers(problem, rng, scale=1.0):
    """Numbers that add up to zero over the copies of each x_qq (Eq. 25)."""
    points = scale * rng.normal(size=(problem.n_variables, problem.n_variables))
    return [points, -points.sum(axis=0)]


def energy(D, x, penalty):
    exemplar = x == np.arange(len(x))
    return D[~exemplar, x[~exemplar]].sum() + penalty * exemplar.sum()


# The model


@pytest.mark.equation("Komodakis 2011, Eqs. 15-16")
@pytest.mark.parametrize("labels", LABELS)
def test_error_is_equation_15_and_zero_exactly_on_the_partition(labels):
    labels = np.array(labels)
    for x in all_assignments(5):
        X = np.zeros((5, 5))
        X[np.arange(5), x] = 1
        by_hand = 0.0
        for c in np.unique(labels):
            C = labels == c
            by_hand += 0.3 * abs(1 - np.diag(X)[C].sum())
            by_hand += 0.8 * (1 - X[np.ix_(C, C)].sum(axis=1)).sum()
        error = clustering_error(x, labels, alpha=0.3, beta=0.8)
        assert_allclose(error, by_hand, atol=1e-12)
        assert (error == 0) == (partition_loss(x, labels) == 0)


@pytest.mark.equation("Komodakis 2011, Eqs. 10, 17-20 and 23-25")
@pytest.mark.parametrize("labels", LABELS)
def test_slaves_add_up_to_the_energy_less_the_error(labels):
    """Eqs. 17-25, with any allowed multipliers, at every configuration."""
    problem, stack, w = random_problem(labels=labels)
    D = np.tensordot(w, stack, 1)
    U = loss_augmented_potentials(D, labels, 1.5, 1.3)
    assert_allclose(U, problem.potentials(w), rtol=1e-12)
    multipliers = random_multipliers(problem, np.random.default_rng(1))
    for x in all_assignments(5):
        wanted = energy(D, x, 1.5) - clustering_error(x, labels, 0.7, 1.3)
        n_C = np.bincount(labels, x == np.arange(5))
        potentials = U[np.arange(5), x].sum() - 0.7 * np.abs(1 - n_C).sum() - 1.3 * 5
        assert_allclose(potentials, wanted)
        assert_allclose(configuration_energy(problem, w, x), wanted)
        states = [batch.evaluate(x) for batch in problem.batches]
        summed = sum(s.energy(w, own) for s, own in zip(states, multipliers, strict=True))
        assert_allclose(summed, wanted)


@pytest.mark.equation("Komodakis 2011, Eqs. 23, 32 and 33, and Lemma 2")
@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=40, deadline=None)
def test_point_slaves_against_enumeration(seed, ties):
    rng = np.random.default_rng(seed)
    n = 4
    U, multipliers = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    if ties:
        U, multipliers = rng.integers(-1, 2, (n, n)) * 5.0, rng.integers(-1, 2, (n, n)) * 1.0
    theta = np.diag(U) / (n + 1) + multipliers
    chosen, is_open = point_slaves(U, multipliers)
    for p in range(n):

        def value(q, opened, p=p):
            return theta[p, list(opened)].sum() + (U[p, q] if q != p else 0)

        feasible = [
            value(q, opened)
            for opened in subsets(range(n))
            for q in opened
            if (p in opened) == (q == p)
        ]
        opened = np.flatnonzero(is_open[p])
        assert chosen[p] in opened and (p in opened) == (chosen[p] == p)
        assert_allclose(value(chosen[p], opened), min(feasible), atol=1e-12)


@pytest.mark.equation("Komodakis 2011, Eqs. 24 and 34, and Lemma 2")
@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_cluster_slaves_against_enumeration(seed, alpha, ties):
    rng = np.random.default_rng(seed)
    labels = np.array([0, 1, 0, 0, 1, 2])
    shares, multipliers = rng.normal(size=6), rng.normal(size=6)
    if ties:
        shares, multipliers = np.zeros(6), rng.integers(-2, 3, 6) * alpha
    is_open = cluster_slaves(shares, multipliers, labels, alpha)
    theta = shares + multipliers
    for c in range(3):
        C = np.flatnonzero(labels == c)
        best = min(theta[list(Q)].sum() - alpha * abs(1 - len(Q)) for Q in subsets(C))
        found = C[is_open[C]]
        assert_allclose(theta[found].sum() - alpha * abs(1 - len(found)), best, atol=1e-12)


@pytest.mark.equation("Komodakis 2011, Eq. 29")
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("penalty", [0.5, [3.0, -1.0, 0.0, 2.0, 1.0]])
def test_exemplars_of_a_partition_are_the_best(labels, penalty):
    """Eq. 29 against all configurations that induce the partition, diagonal of rubbish included."""
    rng = np.random.default_rng(3)
    D = rng.normal(size=(5, 5)) + np.diag([np.nan, np.inf, 1, 2, 3])
    prices = np.broadcast_to(penalty, 5)
    found = exemplars_of_partition(D, labels, penalty)
    x = found[np.unique(labels, return_inverse=True)[1]]

    def cost(x):
        exemplar = x == np.arange(5)
        return D[~exemplar, x[~exemplar]].sum() + prices[exemplar].sum()

    assert partition_loss(x, labels) == 0
    best = min(cost(y) for y in all_assignments(5) if partition_loss(y, labels) == 0)
    assert_allclose(cost(x), best)


@pytest.mark.equation("Komodakis 2011, Figure 1")
def test_completion_stays_in_the_partition_where_another_exemplar_is_nearer():
    x = np.array([0.0, 0.1, 4.0, 5.0, 5.2])
    problem = ExemplarProblem(x[:, None], [0, 0, 0, 1, 1], penalty=1.0)
    completed = problem.complete(np.ones(1), None)
    nearest = np.unique(completed)[np.abs(x[:, None] - x[np.unique(completed)]).argmin(axis=1)]
    assert nearest[2] != completed[2]
    assert clustering_error(completed, [0, 0, 0, 1, 1]) == 0


# The relaxation


def slave_program(U, labels, alpha, beta):
    """The convex hull of all slaves, glued together: value, and multipliers from the LP's dual.

    Variables: x_pq, the copies y_pq of x_qq in slave p, its copy z_q in a cluster slave,
    m_C = max z_q, and the common g_q. With x_qq binary, m_C is 1 where a cluster is open, so
    that 2 m_C − 1 − Σ z_q is −|1 − Σ z_q|.
    """
    n, K = len(U), max(labels) + 1
    at_x, at_y, at_z, at_m, at_g = np.cumsum([0, n * n, n * n, n, K])
    size = at_g + n
    shares = np.diag(U) / (n + 1)
    cost = np.zeros(size)
    cost[:at_y] = np.where(np.eye(n), 0, U).ravel()
    cost[at_y:at_z] = np.tile(shares, n)
    cost[at_z:at_m] = shares - alpha
    cost[at_m:at_g] = 2 * alpha
    equal, equal_to, below = [], [], []

    def row(*entries):
        out = np.zeros(size)
        for column, value in entries:
            out[column] = value
        return out

    for p in range(n):
        for q in range(n):
            equal.append(row((at_y + p * n + q, 1), (at_g + q, -1)))
            equal_to.append(0)
    for q in range(n):
        equal.append(row((at_z + q, 1), (at_g + q, -1)))
        equal_to.append(0)
        below.append(row((at_z + q, 1), (at_m + labels[q], -1)))
    for p in range(n):
        equal.append(row(*((at_x + p * n + q, 1) for q in range(n))))
        equal_to.append(1)
        equal.append(row((at_x + p * n + p, 1), (at_y + p * n + p, -1)))
        equal_to.append(0)
        below += [row((at_x + p * n + q, 1), (at_y + p * n + q, -1)) for q in range(n) if q != p]
    bounds = [(0, 1)] * at_g + [(None, None)] * n
    arguments = {
        "A_ub": np.array(below),
        "b_ub": np.zeros(len(below)),
        "A_eq": np.array(equal),
        "b_eq": equal_to,
        "bounds": bounds,
    }
    constant = -alpha * K - beta * n
    relaxed = linprog(cost, **arguments)
    exact = linprog(cost, **arguments, integrality=np.arange(size) >= at_g)
    assert relaxed.success and exact.success
    glue = -relaxed.eqlin.marginals[: n * n + n]
    return (
        relaxed.fun + constant,
        exact.fun + constant,
        [glue[: n * n].reshape(n, n), glue[n * n :]],
    )


@pytest.mark.equation("Komodakis 2011, Eqs. 25-26")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("labels", LABELS)
def test_relaxation_is_the_linear_program(labels, seed):
    """The dual value at the LP's multipliers is the LP's value; nowhere is it above."""
    problem, stack, w = random_problem(seed, labels)
    U = loss_augmented_potentials(np.tensordot(w, stack, 1), labels, 1.5, 1.3)
    relaxed, exact, best = slave_program(U, labels, 0.7, 1.3)
    lowest = min(configuration_energy(problem, w, x) for x in all_assignments(5))
    assert_allclose(exact, lowest, atol=1e-7)
    assert relaxed <= lowest + 1e-9
    assert_allclose(dual_value(problem, w, best), relaxed, atol=1e-7)
    rng = np.random.default_rng(seed)
    for scale in (0, 0.1, 1, 10):
        multipliers = random_multipliers(problem, rng, scale)
        assert dual_value(problem, w, multipliers) <= relaxed + 1e-7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.equation("Komodakis 2011, Eqs. 12-14, 21-22 and 27-28")
@pytest.mark.parametrize("labels", LABELS)
def test_the_hinge_is_the_least_slack_and_the_relaxed_loss_bounds_it(labels):
    problem, stack, w = random_problem(labels=labels)

    def hinge(w):
        D = np.tensordot(w, stack, 1)
        E = np.array([energy(D, x, 1.5) for x in all_assignments(5)])
        error = np.array([clustering_error(x, labels, 0.7, 1.3) for x in all_assignments(5)])
        slack = min(np.max(truth - (E - error)) for truth in E[error == 0])
        assert_allclose(E[error == 0].min() - np.min(E - error), slack)
        augmented = np.array([configuration_energy(problem, w, x) for x in all_assignments(5)])
        assert_allclose(augmented[error == 0].min() - augmented.min(), slack)
        return slack

    x = problem.complete(w, None)
    relaxed, _, best = slave_program(problem.potentials(w), labels, 0.7, 1.3)
    bound = configuration_energy(problem, w, x) - relaxed
    assert_allclose(relaxed_loss(problem, w, best, x).value, bound, atol=1e-7)
    assert bound >= hinge(w) - 1e-9
    rng = np.random.default_rng(0)
    for scale in (0, 0.1, 1):
        prices = random_multipliers(problem, rng, scale)
        assert relaxed_loss(problem, w, prices, x).value >= bound - 1e-7

    learner = DualDecompositionLearner(strength=0.3, step_weights=0.02, max_iter=8)
    learner.fit([problem], w)
    regularization = 0.3 * learner.weights_ @ learner.weights_ / 2
    assert_allclose(learner.objective_path_.min(), regularization + learner.current_loss_)
    assert learner.objective_path_.min() >= regularization + hinge(learner.weights_) - 1e-9


@pytest.mark.equation("Komodakis 2011, Eqs. 14, 21 and 27")
@pytest.mark.parametrize("seed", range(3))
def test_tightening_approaches_the_linear_program_and_brackets_the_hinge(seed):
    X, y = make_noisy_gaussians(12, n_features=4, n_clusters=3, random_state=seed)
    y = np.unique(y, return_inverse=True)[1]
    problem = ExemplarProblem(X, y, penalty=2.0, scales=X.var(axis=0) * 2)
    w = np.full(4, 0.2)
    x = problem.complete(w, None)
    relaxed, exact, _ = slave_program(problem.potentials(w), y, 1.0, 1.0)
    energy = configuration_energy(problem, w, x)
    start = initial_multipliers(problem)
    found = tighten(problem, w, start, x)
    assert found.hinge_lower_bound <= energy - exact + 1e-6
    assert found.relaxed_loss >= energy - relaxed - 1e-6
    untouched = relaxed_loss(problem, w, start, x).value - (energy - relaxed)
    assert found.relaxed_loss - (energy - relaxed) < 0.1 * untouched
    assert_allclose(
        relaxed_loss(problem, w, found.multipliers, x).value, found.relaxed_loss, rtol=1e-12
    )


@pytest.mark.equation("Komodakis 2011, Eqs. 27-28")
def test_floor_of_the_relaxed_loss():
    """Perfect separation leaves 2α Σ_C (1 − 1/|C|) of relaxed loss, and no hinge loss."""
    labels = np.repeat([0, 1, 2], [4, 2, 1])
    D = np.where(labels[:, None] == labels, 0.0, 100.0)
    problem = ExemplarProblem([D], labels, penalty=3.0, features="precomputed")
    w = np.ones(1)
    x = problem.complete(w, None)
    _, exact, best = slave_program(problem.potentials(w), labels, 1.0, 1.0)
    assert_allclose(configuration_energy(problem, w, x) - exact, 0, atol=1e-7)
    floor = 2 * (1 - 1 / 4 + 1 - 1 / 2)
    assert_allclose(relaxed_loss(problem, w, best, x).value, floor, atol=1e-7)
    assert tighten(problem, w, best, x).hinge_lower_bound == 0


@pytest.mark.equation("Komodakis 2011, Eq. 31 and Lemma 1")
@pytest.mark.parametrize("seed", range(5))
def test_subgradient_against_finite_differences(seed):
    """Lemma 1, in w and along the allowed directions of the multipliers."""
    problem, _, w = random_problem(seed)
    rng = np.random.default_rng(seed)
    multipliers = random_multipliers(problem, rng)
    x = problem.complete(w, None)
    loss = relaxed_loss(problem, w, multipliers, x)
    assert_allclose(loss.multipliers[0].sum(axis=0) + loss.multipliers[1], 0, atol=1e-12)
    step = 1e-6
    for f in range(2):
        moved = w + step * np.eye(2)[f]
        difference = relaxed_loss(problem, moved, multipliers, x).value - loss.value
        assert_allclose(difference / step, loss.weights[f], atol=1e-4)
    direction = random_multipliers(problem, rng)
    moved = [a + step * b for a, b in zip(multipliers, direction, strict=True)]
    difference = relaxed_loss(problem, w, moved, x).value - loss.value
    slope = sum(np.vdot(g, d) for g, d in zip(loss.multipliers, direction, strict=True))
    assert_allclose(difference / step, slope, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_decoding_is_no_worse_than_its_start_and_allowed(seed):
    problem, _, w = random_problem(seed)
    x = problem.complete(w, None)
    decoded = problem.decode(w, x)
    lowest = min(configuration_energy(problem, w, y) for y in all_assignments(5))
    assert lowest - 1e-9 <= configuration_energy(problem, w, decoded)
    assert_array_equal(decoded[decoded], decoded)
    assert configuration_energy(problem, w, decoded) <= configuration_energy(problem, w, x) + 1e-9


# The learner


class LoopProblem:
    """The same clustering problem without any vectorisation: a batch for every single slave."""

    def __init__(self, X, labels, penalty, alpha, beta):
        self.F = (X[:, None] - X) ** 2
        self.labels = np.asarray(labels)
        self.penalty, self.alpha, self.beta = penalty, alpha, beta
        self.n_variables, self.n_features = X.shape
        self.batches = [LoopPoint(self, p) for p in range(len(X))]
        self.batches += [LoopCluster(self, c) for c in np.unique(labels)]

    def complete(self, w, previous):
        x = np.empty(self.n_variables, dtype=int)
        for c in np.unique(self.labels):
            C = np.flatnonzero(self.labels == c)
            x[C] = min(C, key=lambda q: sum(self.F[p, q] @ w for p in C))
        return x

    def decode(self, w, start):
        return start


class LoopPoint:
    def __init__(self, problem, p):
        self.problem, self.p = problem, p
        self.shape, self.coords = (problem.n_variables,), np.arange(problem.n_variables)

    def minimise(self, w, multipliers):
        P, p = self.problem, self.p
        best, n = None, P.n_variables
        theta = (P.penalty + P.beta) / (n + 1) + multipliers
        for q in range(n):
            opened = {r for r in range(n) if r != p and theta[r] < 0} | {q}
            pair = P.F[p, q] @ w + P.beta * (P.labels[p] == P.labels[q]) if q != p else 0.0
            value = pair + sum(theta[r] for r in opened)
            if best is None or value < best[0]:
                best = value, q, opened
        return self.state(*best[1:])

    def evaluate(self, x):
        return self.state(x[self.p], set(x))

    def state(self, q, opened):
        P, p = self.problem, self.p
        mu = np.isin(np.arange(P.n_variables), list(opened))
        const = len(opened) * (P.penalty + P.beta) / (P.n_variables + 1) - P.beta
        if q != p:
            const += P.beta * (P.labels[p] == P.labels[q])
        return SlaveState(mu, P.F[p, q] * (q != p), const)


class LoopCluster:
    def __init__(self, problem, c):
        self.problem = problem
        self.coords = np.flatnonzero(problem.labels == c)
        self.shape = self.coords.shape

    def minimise(self, w, multipliers):
        states = [self.state(np.isin(np.arange(self.shape[0]), Q)) for Q in self.sets()]
        return min(states, key=lambda s: s.energy(w, multipliers))

    def sets(self):
        return [list(Q) for Q in subsets(range(self.shape[0]))]

    def evaluate(self, x):
        return self.state(np.isin(self.coords, x))

    def state(self, mu):
        P = self.problem
        share = (P.penalty + P.beta) / (P.n_variables + 1)
        const = share * mu.sum() - P.alpha * abs(1 - mu.sum())
        return SlaveState(mu, np.zeros(P.n_features), const)


def small_sets(n_sets=3, n_samples=15, **kwargs):
    setting = {"n_features": 6, "n_clusters": 3, "center_std": 4.0} | kwargs
    draws = [make_noisy_gaussians(n_samples, **setting, random_state=s) for s in range(n_sets)]
    return [X for X, _ in draws], [np.unique(y, return_inverse=True)[1] for _, y in draws]


@pytest.mark.equation("Komodakis 2011, Figure 1")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "options", [{}, {"stochastic": True, "random_state": 0}, {"inner_iter": 3}]
)
def test_vectorised_clustering_equals_single_slaves(options):
    points, partitions = small_sets(2, 9)
    points = [X / 10 for X in points]
    setting = {"penalty": 1.5, "alpha": 0.7, "beta": 1.1}
    loops = [LoopProblem(X, y, **setting) for X, y in zip(points, partitions, strict=True)]
    arrays = [ExemplarProblem(X, y, **setting) for X, y in zip(points, partitions, strict=True)]
    fits = [
        DualDecompositionLearner(
            strength=0.3, step_weights=0.02, max_iter=6, projection=lambda w: w.clip(0), **options
        ).fit(problems, np.full(6, 0.2))
        for problems in (loops, arrays)
    ]
    assert_allclose(fits[1].objective_path_, fits[0].objective_path_, rtol=1e-10)
    assert_allclose(fits[1].weights_, fits[0].weights_, atol=1e-12)
    assert fits[0].objective_path_.min() < 0.8 * fits[0].objective_path_[0]
    for slow, fast in zip(fits[0].completions_, fits[1].completions_, strict=True):
        assert_array_equal(slow, fast)


class Flat:
    """A problem with nothing to learn, where only the regularizer moves the weights."""

    shape, coords = (1,), np.array([0])
    n_variables = 1

    def __init__(self, slope=0.0, n_features=2):
        self.n_features, self.slope = n_features, slope

    @property
    def batches(self):
        return [self]

    def evaluate(self, x):
        psi = np.full(self.n_features, self.slope * x)
        return SlaveState(np.array([x]), psi, 0.0)

    def minimise(self, w, multipliers):
        return self.evaluate(0)

    def complete(self, w, previous):
        return 1

    def decode(self, w, start):
        return start


@pytest.mark.parametrize("stochastic", [False, True])
def test_a_pass_regularizes_once_however_many_problems_there_are(stochastic):
    """As printed, the stochastic variant would shrink the weights K times as much."""
    learner = DualDecompositionLearner(
        regularizer="l1", strength=2.0, step_weights=0.1, max_iter=1, stochastic=stochastic
    )
    with pytest.warns(ConvergenceWarning):
        learner.fit([Flat() for _ in range(5)], [1.0, 3.0])
    assert_allclose(learner.weights_, [0.8, 2.8])


@pytest.mark.equation("Komodakis 2011, Eq. 30")
def test_proximal_steps():
    def soft(w, step):
        return np.sign(w) * np.maximum(np.abs(w) - step, 0)

    def fitted(regularizer, **options):
        learner = DualDecompositionLearner(
            regularizer=regularizer, strength=2.0, step_weights=0.1, tol=0, max_iter=3, **options
        )
        with pytest.warns(ConvergenceWarning):
            return learner.fit([Flat()], [1.0, -0.1])

    steps = 0.1 / np.sqrt(1 + np.arange(3) / 10)
    assert_allclose(fitted("l1").weights_, [1 - 2 * steps.sum(), 0])
    assert_allclose(fitted("l2").weights_, np.array([1, -0.1]) / np.prod(1 + 2 * steps))
    silent = fitted(soft)
    assert_array_equal(silent.objective_path_, 0)  # J unknown: the objective is the loss
    soft.value = lambda w: np.abs(w).sum()
    assert_allclose(fitted(soft).objective_path_, fitted("l1").objective_path_)
    kept = fitted("l1", projection=lambda w: np.maximum(w, 0.9))
    assert_allclose(kept.weights_, [0.9, 0.9])


def test_best_iterate_is_returned_and_reproduces_its_objective():
    points, partitions = small_sets(n_samples=30)
    # Steps far too long: the path goes up and down.
    problems = [ExemplarProblem(X, y, penalty=2.0) for X, y in zip(points, partitions, strict=True)]
    learner = DualDecompositionLearner(
        strength=0.1, step_weights=1e-3, step_multipliers=1.0, projection=lambda w: w.clip(0)
    ).fit(problems, np.full(6, 0.05))
    path = learner.objective_path_
    assert len(path) == learner.n_iter_ + 1 and np.any(np.diff(path) > 0)
    assert learner.best_iter_ == path.argmin() < learner.n_iter_
    assert_allclose(
        learner.current_loss_ + 0.1 * learner.weights_ @ learner.weights_ / 2, path.min()
    )
    assert learner.hinge_lower_bound_ <= learner.relaxed_loss_ <= learner.current_loss_ + 1e-9
    assert_allclose(learner.duality_gap_, learner.relaxed_loss_ - learner.hinge_lower_bound_)
    assert learner.converged_
    again = sum(
        relaxed_loss(problem, learner.weights_, own, x).value
        for problem, own, x in zip(
            problems, learner.multipliers_, learner.completions_, strict=True
        )
    )
    assert_allclose(again, learner.relaxed_loss_)


def test_learner_refuses():
    learner = DualDecompositionLearner()
    for problems, start in [([], [1.0]), ([Flat()], [1.0]), ([Flat(), Flat(0, 3)], [1.0, 1.0])]:
        with pytest.raises(ValueError, match="problems must not be empty"):
            learner.fit(problems, start)
    with pytest.raises(ValueError, match="the loss is not finite"):
        DualDecompositionLearner().fit([Flat(np.inf)], [1.0, 1.0])
    for name, value in {
        "max_iter": 0,
        "inner_iter": 0,
        "patience": 0,
        "tol": -1.0,
        "strength": -1.0,
        "step_weights": 0.0,
        "step_multipliers": -1.0,
        "regularizer": "l3",
    }.items():
        with pytest.raises(ValueError, match=f"{name} must be"):
            DualDecompositionLearner(**{name: value}).fit([Flat()], [1.0, 1.0])


def test_progress_bar(capsys, monkeypatch):
    learner = DualDecompositionLearner(verbose=True, patience=2)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        learner.fit([Flat()], [0.0, 0.0])
    monkeypatch.undo()
    pytest.importorskip("tqdm")
    learner.fit([Flat()], [0.0, 0.0])
    assert "subgradient steps" in capsys.readouterr().err


# The estimator


@pytest.fixture(scope="module")
def learned():
    points, partitions = small_sets(5, 60, n_features=20, n_clusters=4, center_std=3.0)
    metric = LatentExemplarMetric(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return metric.fit(points[:3], partitions[:3]), points, partitions


def test_noise_is_suppressed_and_new_data_clustered(learned):
    metric, points, partitions = learned
    assert metric.weights_[10:].max() < 0.01 * metric.weights_[:10].mean()
    for X, y in zip(points[3:], partitions[3:], strict=True):
        labels = metric.predict(X)
        assert len(np.unique(labels)) == 4 and f_measure(labels, y) == 1
        D = ((X[:, None] - X) ** 2).sum(axis=2)
        blind = solve_exemplars(D, np.median(D) * 3, random_state=0).exemplars
        assert len(blind) > 1 and f_measure(blind[D[:, blind].argmin(axis=1)], y) < 0.6


def test_fitted_attributes(learned):
    metric, points, partitions = learned
    pairs = [((X[:, None] - X) ** 2)[~np.eye(60, dtype=bool)] for X in points[:3]]
    assert_allclose(metric.scales_, np.concatenate(pairs).mean(axis=0))
    size = 180 / sum(len(np.unique(y)) for y in partitions[:3])
    assert metric.penalty_ == 0.15 * size and metric.strength_ == 18
    assert metric.n_features_in_ == 20 and metric.converged_
    path = metric.objective_path_
    assert metric.n_iter_ == len(path) - 1 and metric.best_iter_ == path.argmin()
    J = np.sum(metric.weights_ * metric.scales_)
    assert_allclose(metric.current_loss_ + 18 * J, path.min())
    assert metric.hinge_lower_bound_ <= metric.relaxed_loss_ <= metric.current_loss_
    for X, y, found in zip(points, partitions, metric.exemplars_, strict=False):
        D = (((X[:, None] - X) ** 2) * metric.weights_).sum(axis=2)
        assert_allclose(metric.distances(X), D, atol=1e-12)
        assert_array_equal(found, exemplars_of_partition(D, y))


def test_precomputed_features_give_the_same_metric(learned):
    metric, points, partitions = learned
    rubbish = np.diag(np.full(60, np.nan))
    stacks = [((X[:, None] - X) ** 2).transpose(2, 0, 1) + rubbish for X in points]
    same = clone(metric).set_params(features="precomputed").fit(stacks[:3], partitions[:3])
    assert_allclose(same.weights_, metric.weights_, rtol=1e-6, atol=1e-12)
    assert_allclose(same.objective_path_, metric.objective_path_, rtol=1e-6)
    assert_array_equal(same.predict(list(stacks[4])), metric.predict(points[4]))


def test_asymmetric_distances_of_both_signs():
    """A useful feature, seen from one side only, among others that are noise."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 8)
    stacks = []
    for _ in range(3):
        useful = np.where(labels[:, None] == labels, 0.2, 1.0) * rng.uniform(0.5, 1.5, (32, 32))
        noise = rng.normal(0.5, 1, (4, 32, 32))
        stacks.append(np.concatenate([useful[None], noise]))
    metric = LatentExemplarMetric(features="precomputed").fit(stacks[:2], [labels] * 2)
    shares = metric.weights_ * metric.scales_
    assert shares[1:].sum() < 0.1 * shares[0]
    assert partition_loss(metric.predict(stacks[2]), labels) == 0
    D = metric.distances(stacks[2])
    assert_allclose(D, np.tensordot(metric.weights_, stacks[2], 1) * (1 - np.eye(32)))
    assert not np.allclose(D, D.T)


def test_units_and_origin_do_not_matter(learned):
    metric, points, partitions = learned
    units = np.geomspace(1e-3, 1e3, 20)
    other = clone(metric).fit([(X + 5) * units for X in points[:3]], partitions[:3])
    assert_allclose(other.weights_ * units**2, metric.weights_, rtol=1e-6, atol=1e-12)
    assert_array_equal(other.predict((points[3] + 5) * units), metric.predict(points[3]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_variants(learned):
    metric, points, partitions = learned
    start, end = metric.objective_path_[[0, 40]]
    fit = {"X": points[:3], "y": partitions[:3]}

    def fitted(**options):
        return clone(metric).set_params(max_iter=40, **options).fit(fit["X"], fit["y"])

    threads, one = fitted(n_jobs=2), fitted()
    assert_array_equal(threads.objective_path_, one.objective_path_)
    assert_array_equal(one.objective_path_, metric.objective_path_[:41])
    stochastic = fitted(stochastic=True)
    assert_array_equal(stochastic.weights_, fitted(stochastic=True).weights_)
    assert_allclose(stochastic.objective_path_[0], start)
    for other in (stochastic, fitted(inner_iter=3)):
        assert other.objective_path_.min() < 1.1 * end < start
    ridge = fitted(regularizer="l2")
    assert_allclose(ridge.objective_path_[0], start)  # the automatic τ makes both equal there
    assert ridge.objective_path_.min() < 0.7 * start
    capped = fitted(projection=lambda w: w.clip(0, 0.07))
    assert_allclose((capped.weights_ * capped.scales_).max(), 0.07)
    signed = fitted(projection=lambda w: w)
    assert signed.weights_.min() <= 0 and f_measure(signed.predict(points[4]), partitions[4]) == 1


def test_float32_is_kept(learned):
    metric, points, partitions = learned
    X = points[4].astype(np.float32)
    assert metric.distances(X).dtype == np.float32
    assert_allclose(metric.distances(X), metric.distances(points[4]), rtol=1e-3, atol=1e-3)
    single = clone(metric).fit([Z.astype(np.float32) for Z in points[:3]], partitions[:3])
    assert_allclose(single.weights_, metric.weights_, rtol=0.2, atol=0.02 * metric.weights_.max())


def test_memory_is_that_of_a_few_matrices():
    rng = np.random.default_rng(0)
    n, D = 200, 300
    X, y = rng.normal(size=(n, D)), np.arange(n) % 5
    tracemalloc.start()
    problem = ExemplarProblem(X, y, penalty=5.0)
    w = np.full(D, 1 / D)
    relaxed_loss(problem, w, initial_multipliers(problem), problem.complete(w, None))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * (12 * n * n + 5 * n * D) < 8 * n * n * D / 15


def test_warnings():
    points, partitions = small_sets()
    with pytest.warns(UserWarning, match="penalty=0.5 is not above alpha=1"):
        LatentExemplarMetric(penalty=0.5).fit(points, partitions)
    with pytest.warns(UserWarning, match="all weights are zero.*lower strength=1000"):
        metric = LatentExemplarMetric(strength=1000).fit(points, partitions)
    assert_array_equal(metric.predict(points[0]), 0)
    with (
        pytest.warns(UserWarning, match="every training set is a single cluster"),
        pytest.warns(UserWarning, match="all weights are zero"),
    ):
        LatentExemplarMetric(strength=0.0).fit(points, [np.zeros(15, dtype=int)] * 3)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        LatentExemplarMetric(max_iter=5).fit(points, partitions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha must be a finite number, greater than 0; got 0"),
        ({"beta": -1.0}, "beta must be"),
        ({"penalty": "median"}, 'penalty must be "auto" or a number'),
        ({"penalty": 0.0}, "penalty must be"),
        ({"penalty": np.nan}, "penalty must be"),
        ({"strength": -0.1}, "strength must be a finite number, at least 0"),
        ({"strength": "none"}, 'strength must be "auto" or a number'),
        ({"regularizer": "l0"}, "regularizer must be one of"),
        ({"projection": "simplex"}, 'projection must be "nonnegative" or a callable'),
        ({"features": "cosine"}, 'features must be "squared_differences" or "precomputed"'),
        ({"inner_iter": 0}, "inner_iter must be an integer, at least 1; got 0"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": -1}, "tol must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        LatentExemplarMetric(**options).fit(*small_sets())


def with_entry(value, where):
    D = np.ones((2, 4, 4))
    D[where] = value
    return D


X4, Y4 = np.arange(8.0).reshape(4, 2) ** 2, [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("features", "datasets", "partitions", "message"),
    [
        ("squared_differences", [], [], "datasets and partitions must be .* lengths 0 and 0"),
        ("squared_differences", [X4], [Y4, Y4], "lengths 1 and 2"),
        ("squared_differences", [X4], [[0, 1, 1]], "training set 0: labels must hold one label"),
        ("squared_differences", [X4], [[0, 1, 1, -1]], "labels must be non-negative"),
        ("squared_differences", [X4], [[0.5, 1, 1, 0]], "labels must hold integers"),
        ("squared_differences", [X4, X4[:, :1]], [Y4, Y4], r"same number of features; got \[2, 1"),
        ("squared_differences", [X4 * [1, 0]], [Y4], r"features \[1\] are zero for all pairs"),
        ("squared_differences", [X4 * np.nan], [Y4], "training set 0: Input X contains NaN"),
        ("squared_differences", [X4[:0]], [Y4], "minimum of 1 is required"),
        ("squared_differences", [X4[[0, 0]]], [[0, 1]], "are zero for all pairs"),
        ("precomputed", [np.ones((4, 4))], [Y4], r"shape \(n_features, n, n\).*got \(4, 4\)"),
        ("precomputed", [np.ones((2, 4, 3))], [Y4], r"got \(2, 4, 3\)"),
        ("precomputed", [np.ones((2, 0, 0))], [Y4], r"got \(2, 0, 0\)"),
        ("precomputed", [[np.ones((4, 4)), np.ones((3, 3))]], [Y4], "must have one shape"),
        ("precomputed", [with_entry(np.nan, (1, 2, 0))], [Y4], r"nan in matrix 1 at \[2, 0\]"),
        ("precomputed", [with_entry(np.inf, (0, 0, 3))], [Y4], r"inf in matrix 0 at \[0, 3\]"),
        ("precomputed", [with_entry(0, 1)], [Y4], r"features \[1\] are zero for all pairs"),
    ],
)
def test_bad_data(features, datasets, partitions, message):
    with pytest.raises(ValueError, match=message):
        LatentExemplarMetric(features=features).fit(datasets, partitions)


def test_bad_arrays(learned):
    metric, points, _ = learned
    with pytest.raises(ValueError, match="X must have 20 features, as in fit; got 3"):
        metric.predict(points[0][:, :3])
    with pytest.raises(NotFittedError):
        LatentExemplarMetric().distances(points[0])
    with pytest.raises(ValueError, match="one integer for each of the 2 labels"):
        clustering_error([0.0, 1.0], [0, 1])
    with pytest.raises(ValueError, match="which point to themselves"):
        clustering_error([1, 0], [0, 1])
    with pytest.raises(ValueError, match="beta must be"):
        clustering_error([0, 1], [0, 1], beta=0)
    with pytest.raises(ValueError, match=r"D must have shape \(3, 3\)"):
        exemplars_of_partition(np.ones((2, 2)), [0, 0, 1])
    with pytest.raises(ValueError, match="penalty must be a finite number or one for each of 2"):
        loss_augmented_potentials(np.ones((2, 2)), [0, 1], [1.0, np.nan])
