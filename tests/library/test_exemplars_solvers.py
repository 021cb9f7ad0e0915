"""Solvers for exemplars against enumeration of all sets, the LP and the integer program."""

from itertools import product

import numpy as np
import pytest
from exemplar_cases import CASES, every_case, exact_energy, lp_value, optimum, scale
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import pairwise_distances

import mlbook.exemplars
from mlbook.exemplars import (
    ExemplarSolution,
    exemplar_bound,
    exemplar_energy,
    improve_exemplars,
    solve_exemplars,
    solve_exemplars_exact,
)


@every_case
@pytest.mark.parametrize("seed", range(2))
def test_search_and_bound_enclose_the_optimum(D, penalty, seed, exemplar_search):
    best, _ = optimum(D, penalty)
    solution = solve_exemplars(D, penalty, random_state=seed)
    allowed = 1e-13 * scale(D, penalty)
    assert solution.lower_bound <= best
    assert exact_energy(D, list(solution.exemplars), penalty) >= best
    assert_allclose(solution.energy, float(best), rtol=0, atol=allowed)
    assert exemplar_energy(D, solution.exemplars, penalty) == solution.energy
    assert exemplar_bound(D, penalty, solution.multipliers) == solution.lower_bound
    assert solution.energy + allowed >= solution.lower_bound


@pytest.mark.parametrize("name", ["squared Euclidean", "asymmetric", "negative entries", "ties"])
def test_bound_reaches_the_linear_program(name, exemplar_search):
    D, penalty = CASES[name]
    solution = solve_exemplars(D, penalty, random_state=0)
    value = lp_value(D, penalty)
    assert solution.lower_bound <= value + 1e-9
    assert solution.lower_bound >= value - 0.02 * abs(value)


def test_a_loose_relaxation_shows_as_a_gap():
    # Five points on a directed cycle with a chord: 2 exemplars needed, the LP takes 5/3.
    D = np.full((5, 5), 50.0)
    for p in range(5):
        D[p, (p + 1) % 5] = D[p, (p + 2) % 5] = 0.0
    solution = solve_exemplars(D, 3.0, random_state=0)
    assert solution.energy == 6.0
    assert_allclose(lp_value(D, 3.0), 5.0)
    assert 4.95 < solution.lower_bound <= 5.0
    assert_allclose(solution.gap, 1 / 6, atol=0.01)
    exact = solve_exemplars_exact(D, 3.0)
    assert exact.energy == 6.0
    assert exact.gap < 1e-5


def test_gap_of_an_energy_of_zero():
    one = np.array([0])
    assert ExemplarSolution(one, 0.0, -1.0, np.zeros(1), 1).gap == np.inf
    assert ExemplarSolution(one, 0.0, 0.0, np.zeros(1), 1).gap == 0
    assert ExemplarSolution(one, -4.0, -5.0, np.zeros(1), 1).gap == 0.25


def test_penalty_from_none_to_huge(exemplar_search):
    X = np.random.default_rng(0).normal(size=(30, 2))
    D = pairwise_distances(X, metric="sqeuclidean")
    free = solve_exemplars(D, 0.0)
    assert_array_equal(free.exemplars, np.arange(30))
    assert free.energy == free.lower_bound == free.gap == 0
    sizes = [len(solve_exemplars(D, f, random_state=0).exemplars) for f in (0.01, 0.3, 3, 30, 1e9)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    one = solve_exemplars(D, 1e9)
    assert one.exemplars[0] == D.sum(axis=0).argmin()
    assert one.gap < 1e-10


# Local search


@every_case
def test_local_search_never_increases_the_energy_and_ends_where_no_move_pays(
    D, penalty, exemplar_search
):
    n = len(D)
    f = np.broadcast_to(penalty, n)
    rng = np.random.default_rng(0)
    allowed = 1e-11 * scale(D, penalty)
    for seed in range(5):
        start = rng.permutation(n)[: rng.integers(1, n + 1)]
        start = start[np.isfinite(f[start])]
        if len(start) == 0:
            continue
        Q = list(improve_exemplars(D, start, penalty, random_state=seed))
        energy = exact_energy(D, Q, penalty)
        assert energy <= exact_energy(D, start.tolist(), penalty)
        closed = [q for q in range(n) if q not in Q]
        added = [[*Q, q] for q in closed]
        dropped = [[r for r in Q if r != q] for q in Q] if len(Q) > 1 else []
        swapped = [[r for r in Q if r != out] + [q] for q in closed for out in Q]
        for move in added + dropped + swapped:
            assert exact_energy(D, move, penalty) >= energy - allowed


def test_of_equally_good_sets_the_smaller_is_taken(exemplar_search):
    assert len(solve_exemplars(np.zeros((5, 5)), 0.0).exemplars) == 1
    assert len(solve_exemplars(np.ones((5, 5)), 1.0).exemplars) == 1
    assert len(improve_exemplars(np.ones((5, 5)), [0, 2, 4], 1.0)) == 1


# The integer program


@pytest.mark.equation("Komodakis 2011, Eqs. 2-9")
@every_case
def test_exact_mode_finds_the_optimum(D, penalty):
    best, _ = optimum(D, penalty)
    for max_iter in (1, 1000):  # the first leaves the work to the integer program
        solution = solve_exemplars_exact(D, penalty, max_iter=max_iter, random_state=0)
        assert_allclose(solution.energy, float(best), rtol=0, atol=1e-13 * scale(D, penalty))
        assert solution.lower_bound <= best
        assert solution.energy - solution.lower_bound <= 1e-6 * len(D) * scale(D, penalty)


@pytest.mark.equation("Komodakis 2011, Eqs. 2-9")
@pytest.mark.parametrize("seed", range(4))
def test_one_problem_three_faces(seed):
    """All 0-1 matrices of three points: the program, the field and the sets have one minimum."""
    rng = np.random.default_rng(seed)
    D, f = rng.normal(0.5, 1, size=(3, 3)), rng.normal(0.5, 1, size=3)
    cost = D - np.diag(np.diag(D)) + np.diag(f)

    def field(x):
        closed = np.where(x <= np.diag(x), 0.0, np.inf)
        rows = np.where(x.sum(axis=1) == 1, 0.0, np.inf)
        return np.sum(cost * x) + closed.sum() + rows.sum()

    every = [np.reshape(x, (3, 3)) for x in product([0, 1], repeat=9)]
    energies = np.array([field(x) for x in every])
    assert np.isfinite(energies).sum() == 10
    best = every[energies.argmin()]
    solution = solve_exemplars_exact(D, f, random_state=0)
    assert_allclose([solution.energy, float(optimum(D, f)[0])], energies.min(), atol=1e-12)
    assert_array_equal(np.flatnonzero(np.diag(best)), solution.exemplars)


@pytest.mark.equation("Komodakis 2011, Eqs. 2-9")
def test_integer_program_repairs_a_poor_search(monkeypatch):
    # Without the local search and the dual, the start is poor; the optimum must still come out.
    rng = np.random.default_rng(3)
    D, penalty = rng.normal(size=(9, 9)), rng.normal(size=9)
    best, Q = optimum(D, penalty)

    def poor(D, f, **options):
        v = D.min(axis=1)
        worst = max(range(9), key=lambda q: exemplar_energy(D, [q], f))
        return ExemplarSolution(
            np.array([worst]), exemplar_energy(D, [worst], f), exemplar_bound(D, f, v), v, 1
        )

    monkeypatch.setattr(mlbook.exemplars.solvers, "solve_exemplars", poor)
    solution = solve_exemplars_exact(D, penalty)
    assert_array_equal(solution.exemplars, Q)
    assert_allclose(solution.energy, float(best))


def test_failure_of_the_integer_program_is_reported(monkeypatch):
    class Failed:
        success, message = False, "time limit"

    monkeypatch.setattr(mlbook.exemplars.solvers, "milp", lambda *args, **kwargs: Failed)
    with pytest.raises(RuntimeError, match=r"HiGHS.*time limit"):
        solve_exemplars_exact(CASES["asymmetric"][0], 0.4)


# Refusals


GOOD = np.ones((3, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve_exemplars(GOOD, np.inf), "not \\+inf for all"),
        (lambda: improve_exemplars(GOOD, [0], [np.inf, 1.0, 1.0]), "finite penalty"),
        (lambda: solve_exemplars(GOOD, 1.0, max_iter=0), "max_iter must be an integer, at least 1"),
        (
            lambda: solve_exemplars_exact(GOOD, 1.0, max_iter=2.5),
            "max_iter must be an integer, at least 1",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
