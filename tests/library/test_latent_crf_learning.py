"""The learner: its bound below every weight, its objective by the program of all slaves."""

import warnings

import numpy as np
import pytest
from clustering_problems import LABELS, random_problem, slave_program, small_sets
from enumeration import all_assignments
from numpy.testing import assert_allclose
from sklearn.utils.parallel import Parallel

from mlbook.dual_decomposition import configuration_energy
from mlbook.latent_crf import ExemplarProblem
from mlbook.latent_crf.learning import first_weights, learn, loss_at_zero, strength, stretch, visit


def fixed_objective(problems, exemplars, w, regularizer, alpha):
    """Eq. 28 with given exemplars, the relaxed minimum by a linear program."""
    total = alpha * (w.sum() if regularizer == "l1" else w @ w / 2)
    for problem, x in zip(problems, exemplars, strict=True):
        energy = w @ problem.feature_sum(x) + problem.penalty * problem.n_clusters
        U = problem.potentials(w)
        total += energy - slave_program(U, problem.labels, problem.alpha, problem.beta)[0]
    return total


@pytest.mark.equation("Komodakis 2011, Eqs. 28 and 29")
@pytest.mark.parametrize("regularizer", ["l1", "l2"])
@pytest.mark.parametrize("seed", range(3))
def test_no_weights_are_better_than_the_bound_says(seed, regularizer):
    rng = np.random.default_rng(seed)
    problems = [random_problem(seed + 10 * k, LABELS[k])[0] for k in (0, 3)]
    found = learn(problems, np.ones(2), regularizer, 0.8, tol=0.01, max_iter=60)
    own = fixed_objective(problems, found.exemplars, found.weights, regularizer, 0.8)
    assert own <= found.objective + 1e-9
    assert_allclose(own, found.objective, atol=0.02 * found.objective + 0.02)
    for w in [found.weights * rng.uniform(0.5, 1.5, 2) for _ in range(20)] + list(
        rng.exponential(2, (20, 2))
    ):
        other = fixed_objective(problems, found.exemplars, w, regularizer, 0.8)
        assert other >= found.lower_bound - 1e-6
    assert found.objective >= found.lower_bound - 1e-9
    assert found.path[found.best_iter] == found.path.min() == found.objective


def test_cuts_serve_another_strength():
    points, partitions = small_sets(2)
    problems = [
        ExemplarProblem(X, y, penalty=2.0, scales=np.full(6, 50.0))
        for X, y in zip(points, partitions, strict=True)
    ]
    start = first_weights(problems)
    strong = learn(problems, start, "l1", 9.0, tol=0.05, max_iter=60)
    plain = learn(problems, start, "l1", 1.0, tol=0.05, max_iter=60)
    warm = learn(problems, strong.weights, "l1", 1.0, tol=0.05, max_iter=60, cuts=strong.cuts)
    assert strong.gap <= 0.05 and plain.gap <= 0.05 and warm.gap <= 0.05
    assert strong.weights.sum() < plain.weights.sum()
    assert abs(warm.objective - plain.objective) <= 0.1 * (plain.zero - plain.lower_bound)


@pytest.mark.parametrize("labels", [*LABELS, [0, 0, 1, 1, 1], [0, 0, 0, 0, 1]])
def test_loss_at_zero_weights_against_enumeration(labels):
    for penalty, alpha, beta in ((1.5, 0.7, 1.3), (4.0, 1.0, 1.0), (9.0, 2.0, 0.5)):
        problem, _, w = random_problem(0, labels, penalty=penalty, alpha=alpha, beta=beta)
        energies = [configuration_energy(problem, 0 * w, x) for x in all_assignments(5)]
        true = configuration_energy(problem, 0 * w, problem.complete(0 * w, None))
        assert_allclose(loss_at_zero(problem), true - min(energies))


def test_stretched_weights_have_the_lowest_loss_on_their_ray():
    points, partitions = small_sets(3, center_std=1.5)
    problems = [
        ExemplarProblem(X, y, penalty=2.0, scales=np.full(6, 10.0))
        for X, y in zip(points, partitions, strict=True)
    ]
    w = learn(problems, first_weights(problems), "l1", 9.0, tol=0.05, max_iter=60).weights
    factor = stretch(problems, w, Parallel())
    assert factor > 1  # the regularizer shortens

    def loss(g):
        return sum(v.energy - v.lower for v in (visit(p, g * w, None, 1e-3) for p in problems))

    zero = sum(map(loss_at_zero, problems))
    for other in np.geomspace(0.3, 3, 9):
        assert loss(factor) <= loss(other * factor) + 0.03 * zero


def test_first_weights_prefer_what_is_small_within_clusters():
    points, partitions = small_sets(2)
    problems = [ExemplarProblem(X, y, penalty=2.0) for X, y in zip(points, partitions, strict=True)]
    scales = np.mean([2 * X.var(axis=0) for X in points], axis=0)
    w = first_weights([problem.scaled(scales) for problem in problems])
    assert w.min() >= 0 and w[:3].min() > 1.3 * w[3:].max()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = first_weights([ExemplarProblem(np.eye(3), [0, 1, 2], penalty=2.0)])
    assert (alone > 0).all()


def test_both_strengths_regularize_the_first_weights_alike():
    points, partitions = small_sets(2)
    problems = [ExemplarProblem(X, y, penalty=2.0) for X, y in zip(points, partitions, strict=True)]
    w = np.array([1.0, 2.0, 0.5, 1, 1, 1])
    assert strength(problems, "l1", 0.1, w) == pytest.approx(0.1 * 30)
    assert strength(problems, "l2", 0.1, w) * (w @ w / 2) == pytest.approx(0.1 * 30 * w.sum())
