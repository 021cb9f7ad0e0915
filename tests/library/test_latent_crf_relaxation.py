"""The relaxed minimum: between its bounds lies the value of the program of all slaves."""

import numpy as np
import pytest
from clustering_problems import LABELS, random_problem, slave_program
from enumeration import all_assignments
from numpy.testing import assert_allclose

from mlbook.dual_decomposition import configuration_energy, dual_value
from mlbook.latent_crf import compiled
from mlbook.latent_crf.learning import mixture_energy
from mlbook.latent_crf.relaxation import Mixture, Pairs, above, below, relaxed_minimum, sort


def all_pairs(U, labels, alpha):
    """Every pair of points, in the units of `relaxed_minimum`; and what they leave out."""
    base = np.minimum(0.0, U.min(axis=1))
    costs, price = U - base[:, None], U.diagonal() - alpha - base
    np.fill_diagonal(costs, 0.0)
    most = np.full(len(U), costs.max() + price.max() + 2 * alpha + 1)
    return Pairs(*sort(costs, most), price, np.asarray(labels), 2 * alpha, most), base


def bracket(problem, w, accuracy=1e-6):
    n = problem.n_variables
    U, start = problem.potentials(w), (np.ones(n), np.full(n, 0.5))
    return relaxed_minimum(U, problem.labels, problem.alpha, problem.beta, start, accuracy)


@pytest.mark.equation("Komodakis 2011, Eq. 26")
def test_the_bounds_enclose_the_program_of_all_slaves():
    """Distances of both signs and not symmetric, four partitions."""
    gaps = []
    for seed in range(60):
        labels = LABELS[seed % 4]
        problem, _, w = random_problem(seed, labels)
        relaxed, exact, _ = slave_program(problem.potentials(w), labels, 0.7, 1.3)
        found = bracket(problem, w)
        assert found.lower <= relaxed + 1e-9 <= found.upper + 2e-9
        assert found.lower <= exact + 1e-9
        gaps.append((relaxed - found.lower, found.upper - relaxed))
    assert np.max(gaps, axis=0)[0] < 1e-4
    assert np.quantile(np.array(gaps)[:, 1], 0.9) < 0.02 and np.max(gaps) < 0.2


def test_integers_are_taken_as_numbers():
    labels = np.array(LABELS[0])
    problem, _, w = random_problem(1, LABELS[0], alpha=1.0, beta=1.0)
    start = np.ones(5), np.full(5, 0.5)
    one = relaxed_minimum(problem.potentials(w), labels, 1, 1, start, 1e-6)
    other = relaxed_minimum(problem.potentials(w), labels, 1.0, 1.0, start, 1e-6)
    assert_allclose(one.lower, other.lower)
    assert one.lower <= slave_program(problem.potentials(w), LABELS[0], 1.0, 1.0)[0] + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_one_price_for_each_point_gives_multipliers_of_the_same_value(seed):
    """θ_pq = max(0, v_p − ū_pq), θ_pp = v_p; what is left of the price goes to the clusters."""
    labels = LABELS[seed % 4]
    problem, _, w = random_problem(seed, labels)
    U, rng = problem.potentials(w), np.random.default_rng(seed)
    pairs, base = all_pairs(U, labels, problem.alpha)
    v = rng.uniform(0, 3, 5)  # above `base`
    theta = np.maximum(0, (v + base)[:, None] - U)
    np.fill_diagonal(theta, v + base)
    shares = U.diagonal() / 6
    multipliers = [theta - shares, U.diagonal() - theta.sum(axis=0) - shares]
    assert_allclose(multipliers[0].sum(axis=0) + multipliers[1], 0, atol=1e-12)
    value = -below(pairs, v)[0] + base.sum() - 0.7 * (max(labels) + 1) - 1.3 * 5
    assert_allclose(value, dual_value(problem, w, multipliers))


@pytest.mark.parametrize("seed", range(6))
def test_the_mixture_is_allowed_and_attains_the_upper_bound(seed):
    problem, stack, w = random_problem(seed, LABELS[seed % 4])
    found = bracket(problem, w)
    y, p, q, shares = found.mixture
    assert_allclose(y + np.bincount(p, shares, 5), 1)
    assert (shares > 0).all() and (p != q).all() and (shares <= y[q] + 1e-12).all()
    slope, constant = mixture_energy(problem, found.mixture)
    assert_allclose(slope, stack[:, p, q] @ shares)
    assert_allclose(w @ slope + constant, found.upper)
    largest = [y[problem.labels == c].max() for c in range(problem.n_clusters)]
    same = problem.labels[p] == problem.labels[q]
    energy = w @ slope + 1.3 * shares[same].sum() + (1.5 + 1.3) * y.sum()
    energy += 0.7 * np.sum(2 * np.array(largest)) - 0.7 * y.sum()
    assert_allclose(found.upper, energy - 0.7 * problem.n_clusters - 1.3 * 5)


def test_whole_configurations_are_mixtures():
    problem, _, w = random_problem(3)
    for x in all_assignments(5):
        points = np.flatnonzero(x != np.arange(5))
        y = np.bincount(x, minlength=5) > 0
        mixture = Mixture(y.astype(float), points, x[points], np.ones(len(points)))
        slope, constant = mixture_energy(problem, mixture)
        assert_allclose(w @ slope + constant, configuration_energy(problem, w, x))


@pytest.mark.parametrize("function", [below, above])
def test_subgradients(function):
    rng = np.random.default_rng(1)
    for seed in range(10):
        problem, _, w = random_problem(seed, LABELS[seed % 4])
        pairs, _ = all_pairs(problem.potentials(w), problem.labels, 0.7)
        high = 3.0 if function is below else 1.0
        for _ in range(20):
            x, other = rng.uniform(0, high, (2, 5))
            value, slope, _ = function(pairs, x)
            assert function(pairs, other)[0] >= value + slope @ (other - x) - 1e-9


def test_above_is_the_cost_of_the_best_shares():
    """Against a loop that gives each point the cheapest of what is open."""
    rng = np.random.default_rng(2)
    for seed in range(10):
        problem, _, w = random_problem(seed, LABELS[seed % 4])
        U = problem.potentials(w)
        pairs, base = all_pairs(U, problem.labels, 0.7)
        y = rng.uniform(0, 1, 5) * (rng.uniform(size=5) < 0.7)
        cost = pairs.price @ y + 1.4 * sum(
            y[problem.labels == c].max() for c in range(problem.n_clusters)
        )
        for p in range(5):
            left = 1 - y[p]
            for q in sorted(set(range(5)) - {p}, key=lambda q, p=p: U[p, q]):
                share = min(left, y[q])
                cost += share * (U[p, q] - base[p])
                left -= share
            cost += left * pairs.most[p]
        assert_allclose(above(pairs, y)[0], cost)


def test_compiled_functions_give_the_same():
    pytest.importorskip("numba")
    kernels = compiled.load()
    rng = np.random.default_rng(0)
    costs = rng.uniform(0, 4, (30, 30))
    np.fill_diagonal(costs, 0)
    labels, most = np.arange(30) % 4, rng.uniform(1, 4, 30)
    for one, other in zip(sort(costs, most), kernels.sort(costs, most), strict=True):
        assert_allclose(one, other)
    pairs = Pairs(*sort(costs, most), rng.uniform(1, 3, 30), labels, 1.4, most)
    for x in rng.uniform(0, 1, (10, 30)):
        for one, other in ((below, compiled.below), (above, compiled.above)):
            for mine, loop in zip(one(pairs, x), other(pairs, x), strict=True):
                assert_allclose(mine, loop, atol=1e-12)
