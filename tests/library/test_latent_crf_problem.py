"""Clustering as a problem of the learner: all configurations, single slaves in loops, memory."""

import tracemalloc

import numpy as np
import pytest
from clustering_problems import LABELS, energy, random_multipliers, random_problem, small_sets
from enumeration import all_assignments, subsets
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.dual_decomposition import (
    DualDecompositionLearner,
    SlaveState,
    configuration_energy,
    initial_multipliers,
    relaxed_loss,
)
from mlbook.latent_crf import ExemplarProblem, clustering_error, loss_augmented_potentials


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


@pytest.mark.equation("Komodakis 2011, Figure 1")
def test_completion_stays_in_the_partition_where_another_exemplar_is_nearer():
    x = np.array([0.0, 0.1, 4.0, 5.0, 5.2])
    problem = ExemplarProblem(x[:, None], [0, 0, 0, 1, 1], penalty=1.0)
    completed = problem.complete(np.ones(1), None)
    nearest = np.unique(completed)[np.abs(x[:, None] - x[np.unique(completed)]).argmin(axis=1)]
    assert nearest[2] != completed[2]
    D = (x[:, None] - x) ** 2
    agreeing = [y for y in all_assignments(5) if clustering_error(y, problem.labels) == 0]
    assert_array_equal(completed, min(agreeing, key=lambda y: energy(D, y, 1.0)))
    for seed in range(5):  # distances that are not symmetric
        problem, stack, w = random_problem(seed)
        D = np.tensordot(w, stack, 1)
        agreeing = [y for y in all_assignments(5) if clustering_error(y, problem.labels) == 0]
        best = min(agreeing, key=lambda y, D=D: energy(D, y, 1.5))
        assert_array_equal(problem.complete(w, None), best)
        scales = np.array([0.2, 7.0])
        assert_array_equal(problem.scaled(scales).complete(w * scales, None), best)


@pytest.mark.parametrize("seed", range(5))
def test_decoding_is_no_worse_than_its_start_and_allowed(seed):
    problem, _, w = random_problem(seed)
    x = problem.complete(w, None)
    decoded = problem.decode(w, x)
    lowest = min(configuration_energy(problem, w, y) for y in all_assignments(5))
    assert lowest - 1e-9 <= configuration_energy(problem, w, decoded)
    assert_array_equal(decoded[decoded], decoded)
    assert configuration_energy(problem, w, decoded) <= configuration_energy(problem, w, x) + 1e-9


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


@pytest.mark.equation("Komodakis 2011, Eq. 10")
def test_other_scales_are_other_units_of_the_weights():
    problem, _, w = random_problem()
    scales = np.array([0.5, 4.0])
    other = problem.scaled(scales)
    assert other.features is problem.features and np.all(problem.scales == 1)
    assert_array_equal(other.distances(w * scales), problem.distances(w))
    x = problem.complete(w, None)
    assert_allclose(other.feature_sum(x), problem.feature_sum(x) / scales)
    assert_allclose(configuration_energy(other, w * scales, x), configuration_energy(problem, w, x))


# The same problem in loops


class LoopProblem:
    """The same clustering problem without any vectorization: a batch for every single slave."""

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

    def minimize(self, w, multipliers):
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

    def minimize(self, w, multipliers):
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


@pytest.mark.equation("Komodakis 2011, Figure 1")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "options", [{}, {"stochastic": True, "random_state": 0}, {"inner_iter": 3}]
)
def test_vectorized_clustering_equals_single_slaves(options):
    points, partitions = small_sets(2, 9)
    points = [X / 10 for X in points]
    setting = {"penalty": 1.5, "alpha": 0.7, "beta": 1.1}
    loops = [LoopProblem(X, y, **setting) for X, y in zip(points, partitions, strict=True)]
    arrays = [ExemplarProblem(X, y, **setting) for X, y in zip(points, partitions, strict=True)]
    fits = [
        DualDecompositionLearner(
            alpha=0.3, step_weights=0.02, max_iter=6, projection=lambda w: w.clip(0), **options
        ).fit(problems, np.full(6, 0.2))
        for problems in (loops, arrays)
    ]
    assert_allclose(fits[1].objective_path_, fits[0].objective_path_, rtol=1e-10)
    assert_allclose(fits[1].weights_, fits[0].weights_, atol=1e-12)
    assert fits[0].objective_path_.min() < 0.8 * fits[0].objective_path_[0]
    for slow, fast in zip(fits[0].completions_, fits[1].completions_, strict=True):
        assert_array_equal(slow, fast)
