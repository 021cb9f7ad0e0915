"""Exemplar clustering against enumeration of all exemplar sets, the LP and the integer program."""

import warnings
from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.cluster import AffinityPropagation
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.utils.estimator_checks import estimator_checks_generator

import mlbook.exemplars
from mlbook.exemplars import (
    ExemplarClustering,
    ExemplarSolution,
    exemplar_bound,
    exemplar_energy,
    exemplar_labels,
    improve_exemplars,
    penalty_range,
    solve_exemplars,
    solve_exemplars_exact,
)
from mlbook.exemplars.facility_search import _search_and_merge, _Service, total
from mlbook.partitions import partition_loss


def cases():
    """Small instances with what can go wrong: (D, penalty) by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    D = pairwise_distances(X, metric="sqeuclidean")
    random = rng.random((8, 8))
    ties = rng.integers(0, 3, (8, 8)).astype(float)
    signed = rng.normal(size=(8, 8))
    forbidden = np.where(np.arange(8) % 3, 0.4, np.inf)
    far = np.where(rng.random((8, 8)) < 0.3, 1e30, random)
    return {
        "squared Euclidean": (D, 1.0),
        "Euclidean, 9 points": (pairwise_distances(rng.normal(size=(9, 2))), 0.8),
        "per-point penalties": (D, rng.random(8) * 3),
        "asymmetric": (random, 0.4),
        "asymmetric, per-point penalties": (random, rng.random(8)),
        "negative entries": (signed, 0.5),
        "negative entries and penalties": (signed, rng.normal(size=8)),
        "all negative": (signed - 9, rng.normal(size=8) - 5),
        "all exemplars, each as near to another as to itself": (-np.ones((5, 5)), -5.0),
        "ties": (ties, 2.0),
        "more ties": (np.ones((7, 7)), 1.0),
        "all zero": (np.zeros((6, 6)), 0.0),
        "all zero, a price": (np.zeros((6, 6)), 1.0),
        "duplicates": (np.repeat(np.repeat(D[:4, :4], 2, axis=0), 2, axis=1), 0.5),
        "no penalty": (D, 0.0),
        "negative penalty": (D, -1.0),
        "huge penalty": (D, 1e9),
        "forbidden exemplars": (random, forbidden),
        "forbidden pairs": (far, 0.4),
        "diagonal of rubbish": (random + np.diag([np.nan, np.inf, -9, 9, 0, 1, 2, 3]), 0.4),
        "float32": (random.astype(np.float32), 0.3),
        "tiny": (D * 1e-200, 1e-200),
        "large offset": (random + 1e6, 1e6 + 0.4),
        "integers": (rng.integers(0, 9, (7, 7)), 5),
        "two points": (np.array([[0.0, 1.0], [2.0, 0.0]]), 3.0),
        "single point": (np.array([[7.0]]), 3.0),
    }


CASES = cases()
every_case = pytest.mark.parametrize(("D", "penalty"), CASES.values(), ids=CASES)


def subsets(n):
    """Every non-empty set of points."""
    return map(list, chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1)))


def exact_energy(D, Q, penalty):
    """Eq. 1 word for word, as an exact fraction (inf where an exemplar is forbidden)."""
    f = np.broadcast_to(penalty, len(D))
    if np.isinf(f[Q]).any():
        return np.inf
    rest = [p for p in range(len(D)) if p not in Q]
    nearest = (min(Fraction(float(D[p, q])) for q in Q) for p in rest)
    return sum(nearest, Fraction(0)) + sum(Fraction(float(f[q])) for q in Q)


def optimum(D, penalty):
    """Least energy over all sets, exactly, and a set that has it."""
    f = np.broadcast_to(penalty, len(D))
    D = D.astype(float)
    self_cost = np.where(np.isfinite(f), f, 1e300)

    def approximate(Q):
        cost = D[:, Q].min(axis=1)
        cost[Q] = self_cost[Q]
        return cost.sum(), np.abs(cost).sum()

    sets = list(subsets(len(D)))
    energies, sizes = np.array([approximate(Q) for Q in sets]).T
    least = energies.argmin()
    near = np.flatnonzero(energies <= energies[least] + 1e-12 * sizes[least])
    return min(((exact_energy(D, sets[i], f), sets[i]) for i in near), key=lambda item: item[0])


def scale(D, penalty):
    """Size of the numbers that make up an energy: rounding is relative to it."""
    _, Q = optimum(D, penalty)
    rest = np.setdiff1d(np.arange(len(D)), Q)
    used = np.abs(D[np.ix_(rest, Q)].min(axis=1)).sum() if len(rest) else 0.0
    return float(used + np.abs(np.broadcast_to(penalty, len(D))[Q]).sum())


def lp_value(D, penalty):
    """Linear programming relaxation of Komodakis 2011, Eqs. 2-5, with all n² variables."""
    n = len(D)
    cost = np.array(D, dtype=float)
    np.fill_diagonal(cost, penalty)
    pairs = [(p, q) for p in range(n) for q in range(n) if p != q]
    at_most = np.zeros((len(pairs), n * n))
    for row, (p, q) in enumerate(pairs):
        at_most[row, p * n + q], at_most[row, q * n + q] = 1, -1
    once = np.kron(np.eye(n), np.ones(n))
    result = linprog(cost.ravel(), at_most, np.zeros(len(pairs)), once, np.ones(n), bounds=(0, 1))
    return result.fun


# Against enumeration


@pytest.mark.equation("Komodakis 2011, Eq. 1")
@every_case
def test_energy_is_equation_1_for_every_set(D, penalty):
    for Q in subsets(len(D)):
        expected = float(exact_energy(D, Q, penalty))
        assert_allclose(exemplar_energy(D, Q, penalty), expected, rtol=1e-12, atol=1e-14)
        assert_allclose(exemplar_energy(D, Q[::-1], penalty), expected, rtol=1e-12, atol=1e-14)


@every_case
@pytest.mark.parametrize("seed", range(2))
def test_search_and_bound_enclose_the_optimum(D, penalty, seed):
    best, _ = optimum(D, penalty)
    solution = solve_exemplars(D, penalty, random_state=seed)
    allowed = 1e-13 * scale(D, penalty)
    assert solution.lower_bound <= best
    assert exact_energy(D, list(solution.exemplars), penalty) >= best
    assert_allclose(solution.energy, float(best), rtol=0, atol=allowed)
    assert exemplar_energy(D, solution.exemplars, penalty) == solution.energy
    assert exemplar_bound(D, penalty, solution.multipliers) == solution.lower_bound
    assert solution.energy + allowed >= solution.lower_bound


@pytest.mark.equation("Komodakis 2011, Eqs. 2-5")
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

    monkeypatch.setattr(mlbook.exemplars.clustering, "solve_exemplars", poor)
    solution = solve_exemplars_exact(D, penalty)
    assert_array_equal(solution.exemplars, Q)
    assert_allclose(solution.energy, float(best))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(2, 6))
def test_bound_holds_for_any_multipliers_in_exact_arithmetic(data, n):
    numbers = st.floats(-100, 100)
    D = np.array(data.draw(st.lists(numbers, min_size=n * n, max_size=n * n))).reshape(n, n)
    f = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    v = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    bound = exemplar_bound(D, f, v)
    assert bound <= optimum(D, f)[0]
    # The same number without rounding: the allowance is small, and on the safe side.
    exact = sum(map(Fraction, v)) + sum(
        min(
            Fraction(0),
            Fraction(f[q])
            - Fraction(v[q])
            - sum(max(Fraction(0), Fraction(v[p]) - Fraction(D[p, q])) for p in range(n) if p != q),
        )
        for q in range(n)
    )
    assert bound <= exact
    assert_allclose(bound, float(exact), rtol=0, atol=1e-10)


@pytest.mark.parametrize("negative", [False, True])
def test_bound_stays_below_a_tight_optimum(negative):
    # With these multipliers L(v) is the optimum itself: careless rounding lands above it.
    rng = np.random.default_rng(1)
    above = 0
    for _ in range(60):
        D = rng.random((6, 6)) - negative
        f = 6.0 + rng.random()
        single = D.sum(axis=0) - D.diagonal() + f
        q = single.argmin()
        v = D[:, q] + f / 7
        v[q] = f - (np.delete(v - D[:, q], q)).sum()
        best, _ = optimum(D, f)
        above += v.sum() > best
        assert exemplar_bound(D, f, v) <= best
    assert above > 6


@pytest.mark.parametrize("name", ["squared Euclidean", "asymmetric", "negative entries", "ties"])
def test_bound_reaches_the_linear_program(name):
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


# Local search


@every_case
def test_local_search_never_increases_the_energy_and_ends_where_no_move_pays(D, penalty):
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


def test_merging_takes_the_better_of_two_sets_in_each_part_of_the_points():
    x = np.array([0.0, 1, 2, 3, 4, 100, 101, 102, 103, 104])
    C, cost = np.abs(x - x[:, None]), np.full(10, 5.0)
    good_left, good_right = np.array([2, 5]), np.array([0, 7])
    rng = np.random.RandomState(0)
    merged = _search_and_merge(C, cost, good_left, good_right, rng, candidates=np.array([2]))
    assert_array_equal(merged, [2, 7])


def test_valuing_all_moves_at_once_agrees_with_the_energy():
    rng = np.random.default_rng(0)
    C, cost = rng.random((9, 9)), rng.random(9)
    np.fill_diagonal(C, 0)
    C[2, 5] = 1e30
    for Q in ([4], [2, 4], [1, 2, 7]):
        gains = _Service(C, cost, Q).gains(np.arange(9))
        before = total(C, cost, Q)
        for q in range(9):
            closings = [Q, *([r for r in Q if r != out] for out in Q)]
            after = min(total(C, cost, [*kept, q]) for kept in closings)
            assert_allclose(gains[q], -np.inf if q in Q else before - after, rtol=1e-9)


def test_of_equally_good_sets_the_smaller_is_taken():
    assert len(solve_exemplars(np.zeros((5, 5)), 0.0).exemplars) == 1
    assert len(solve_exemplars(np.ones((5, 5)), 1.0).exemplars) == 1
    assert len(improve_exemplars(np.ones((5, 5)), [0, 2, 4], 1.0)) == 1


# What the penalty does


def test_penalty_from_none_to_huge():
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


@pytest.mark.parametrize(
    "name",
    [
        *("squared Euclidean", "asymmetric", "negative entries", "all negative", "ties"),
        *("more ties", "all zero", "diagonal of rubbish", "float32", "large offset"),
    ],
)
def test_between_the_ends_of_the_penalty_range_neither_one_nor_all_points_are_exemplars(name):
    D, _ = CASES[name]
    n = len(D)
    low, high = penalty_range(D)
    step = 1e-3 * abs(high - low) or 1e-3 * abs(low) or 1e-3

    def sizes(f):
        """Numbers of exemplars of all optimal sets."""
        energies = {tuple(Q): exact_energy(D, list(Q), f) for Q in subsets(n)}
        least = min(energies.values())
        return {len(Q) for Q, energy in energies.items() if energy == least}

    assert n in sizes(low - step)
    assert n not in sizes(low + step)
    if low < high:
        for f in (low + step, (low + high) / 2, high - step):
            assert sizes(f) <= set(range(2, n))
            assert 1 < len(solve_exemplars(D, f, random_state=0).exemplars) < n


def test_penalty_range_ends_where_a_second_exemplar_stops_to_gain():
    D = pairwise_distances(np.random.default_rng(0).normal(size=(12, 2)))
    low, high = penalty_range(D)
    q = D.sum(axis=0).argmin()
    pairs = [exemplar_energy(D, [q, r], 0.0) for r in range(12) if r != q]
    assert_allclose(high, exemplar_energy(D, [q], 0.0) - min(pairs))
    assert low == D[~np.eye(12, dtype=bool)].min()


def test_warns_of_a_penalty_that_leaves_nothing_to_cluster_and_names_better_ones():
    D = pairwise_distances(np.random.default_rng(0).normal(size=(20, 2)))
    low, high = penalty_range(D)
    named = rf"between {low:.6g} and {high:.6g} gives neither"
    kind = {"metric": "precomputed", "random_state": 0}
    with pytest.warns(UserWarning, match=rf"penalty=1000 is so high .* one exemplar; .*{named}"):
        assert len(ExemplarClustering(penalty=1000, **kind).fit(D).exemplar_indices_) == 1
    with pytest.warns(UserWarning, match=rf"penalty is so low .* 20 exemplars; .*{named}"):
        ExemplarClustering(penalty=np.full(20, low / 2), **kind).fit(D)
    with pytest.warns(UserWarning, match="no common penalty is sure"):
        ExemplarClustering(penalty=2.0, **kind).fit(np.ones((4, 4)))
    for f in (low * 1.001, high * 0.999):
        model = ExemplarClustering(penalty=f, tol=1.0, **kind).fit(D)
        assert 1 < len(model.exemplar_indices_) < 20


def test_automatic_penalty_is_the_median_distance():
    rng = np.random.default_rng(0)
    D = rng.random((9, 9))
    model = ExemplarClustering(metric="precomputed", random_state=0, tol=1.0).fit(D)
    assert model.penalty_ == np.median(D[~np.eye(9, dtype=bool)])
    same = ExemplarClustering(metric="precomputed", random_state=0, tol=1.0, penalty=model.penalty_)
    assert_array_equal(same.fit(D).labels_, model.labels_)
    assert ExemplarClustering().fit([[5.0, 1.0]]).penalty_ == 0


# The estimator


def test_finds_separated_clusters_and_their_number():
    X, y = make_blobs(200, centers=7, cluster_std=0.3, random_state=4)
    model = ExemplarClustering(penalty=30.0, random_state=0).fit(X)
    assert partition_loss(model.labels_, y) == 0
    assert model.gap_ < 1e-3
    D = pairwise_distances(X, metric="sqeuclidean")
    assert_allclose(model.energy_, exemplar_energy(D, model.exemplar_indices_, 30.0))
    assert_array_equal(model.labels_, exemplar_labels(D, model.exemplar_indices_))
    assert_array_equal(model.labels_[model.exemplar_indices_], np.arange(7))
    assert_array_equal(model.exemplars_, X[model.exemplar_indices_])
    assert_array_equal(model.predict(X), model.labels_)


def test_permuting_the_points_permutes_the_result():
    X, _ = make_blobs(60, centers=5, cluster_std=1.0, random_state=1)
    order = np.random.default_rng(0).permutation(60)
    penalty = np.random.default_rng(1).uniform(2, 9, 60)
    a = ExemplarClustering(penalty=penalty, random_state=0, exact=True).fit(X)
    b = ExemplarClustering(penalty=penalty[order], random_state=0, exact=True).fit(X[order])
    assert_allclose(a.energy_, b.energy_)
    assert_array_equal(a.exemplar_indices_, np.sort(order[b.exemplar_indices_]))
    assert partition_loss(a.labels_[order], b.labels_) == 0


def test_exemplars_stay_in_their_own_cluster_at_negative_distances():
    D = np.array([[0.0, -5.0, 1.0], [-5.0, 0.0, 1.0], [-1.0, -2.0, 0.0]])
    assert_array_equal(exemplar_labels(D, [0, 1]), [0, 1, 1])
    assert exemplar_energy(D, [0, 1], 0.5) == -1.0


@pytest.mark.filterwarnings("ignore:Passing more than 2 positional:DeprecationWarning")
@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
@pytest.mark.parametrize("d", [2, 100])
@pytest.mark.parametrize("seed", range(3))
def test_not_above_affinity_propagation(kind, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((150, d)) if kind == "uniform" else rng.normal(size=(150, d))
    model = ExemplarClustering(random_state=seed).fit(X)
    D = pairwise_distances(X, metric="sqeuclidean")
    propagation = AffinityPropagation(
        preference=-model.penalty_, affinity="precomputed", damping=0.9, max_iter=2000
    ).fit(-D)
    rival = exemplar_energy(D, propagation.cluster_centers_indices_, model.penalty_)
    assert model.lower_bound_ <= rival
    assert model.energy_ <= rival * (1 + 1e-12)
    assert 0 <= model.gap_ <= 0.01


def test_every_kind_of_input_gives_the_same():
    X, _ = make_blobs(40, centers=4, random_state=0)
    X = (X * (np.abs(X) > 1)).astype(np.float32)
    D = pairwise_distances(X.astype(float), metric="sqeuclidean")
    expected = ExemplarClustering(penalty=4.0, metric="precomputed", random_state=0).fit(D)
    assert not hasattr(expected, "exemplars_")

    def squared(x, z):
        return float(np.sum((x - z) ** 2))

    for model, data in [
        (ExemplarClustering(penalty=4.0, random_state=0), X),
        (ExemplarClustering(penalty=4.0, random_state=0), X.astype(float)),
        (ExemplarClustering(penalty=4.0, random_state=0), sp.csr_array(X)),
        (ExemplarClustering(penalty=np.full(40, 4), metric=squared, random_state=0), X),
    ]:
        model.fit(data)
        assert_allclose(model.energy_, expected.energy_, rtol=1e-4)
        assert_array_equal(model.labels_, expected.labels_)
        assert_array_equal(model.predict(data), expected.labels_)
    assert_array_equal(expected.predict(D), expected.labels_)
    assert_array_equal(expected.predict(D[:3]), expected.labels_[:3])


def test_a_callable_may_be_asymmetric():
    X = np.array([[0.0], [1.0], [5.0]])

    def uphill(x, z):
        return float(z[0] - x[0]) if z[0] > x[0] else 100.0

    model = ExemplarClustering(metric=uphill, penalty=4.5, random_state=0).fit(X)
    assert_array_equal(model.exemplar_indices_, [1, 2])
    assert model.energy_ == 1 + 2 * 4.5


def test_warns_when_the_gap_stays_large_and_says_what_to_change():
    D = np.random.default_rng(0).random((60, 60))
    with pytest.warns(ConvergenceWarning, match=r"within \d+\.\d+% .* raise max_iter.* exact=True"):
        model = ExemplarClustering(metric="precomputed", random_state=0).fit(D)
    assert model.gap_ > 0.01
    loose = ExemplarClustering(metric="precomputed", random_state=0, tol=1.0).fit(D)
    assert loose.gap_ == model.gap_
    X = np.random.default_rng(0).random((80, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        ExemplarClustering(max_iter=3, random_state=0).fit(X)
    assert ExemplarClustering(random_state=0).fit(X).gap_ < 0.01


def test_exact_estimator_proves_its_optimum():
    D = np.random.default_rng(0).random((25, 25))
    model = ExemplarClustering(metric="precomputed", exact=True, random_state=0).fit(D)
    assert model.gap_ <= 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = ExemplarClustering(metric="precomputed", random_state=0).fit(D)
    assert search.lower_bound_ <= model.energy_ <= search.energy_ + 1e-12


def test_gap_of_an_energy_of_zero():
    one = np.array([0])
    assert ExemplarSolution(one, 0.0, -1.0, np.zeros(1), 1).gap == np.inf
    assert ExemplarSolution(one, 0.0, 0.0, np.zeros(1), 1).gap == 0
    assert ExemplarSolution(one, -4.0, -5.0, np.zeros(1), 1).gap == 0.25


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_input_is_not_changed(dtype):
    D = np.random.default_rng(0).random((12, 12)).astype(dtype)
    before = D.copy()
    ExemplarClustering(metric="precomputed", tol=1.0, exact=True).fit(D)
    assert_array_equal(D, before)


@pytest.mark.parametrize("metric", ["sqeuclidean", "precomputed"])
def test_is_a_scikit_learn_estimator(metric):
    model = ExemplarClustering(metric=metric, random_state=0, tol=1.0)
    for estimator, check in list(estimator_checks_generator(model)):
        if metric == "precomputed" and check.func.__name__ == "check_clustering":
            continue  # it passes points whatever the metric
        check(estimator)


# Refusals

GOOD = np.ones((3, 3))


def with_entry(value):
    D = np.ones((3, 3))
    D[0, 2] = value
    return D


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exemplar_energy(with_entry(np.nan), [0], 1.0), r"D\[0, 2\] = nan"),
        (lambda: exemplar_energy(with_entry(np.inf), [0], 1.0), r"D\[0, 2\] = inf"),
        (lambda: exemplar_energy(np.ones((2, 3)), [0], 1.0), r"square.*\(2, 3\)"),
        (lambda: exemplar_energy(np.ones((0, 0)), [0], 1.0), "minimum of 1"),
        (lambda: exemplar_energy(GOOD, [], 1.0), "exemplars must be a non-empty"),
        (lambda: exemplar_energy(GOOD, [0.5], 1.0), "exemplars must be a non-empty"),
        (lambda: exemplar_energy(GOOD, [3], 1.0), r"between 0 and n - 1 = 2; got \[3\]"),
        (lambda: exemplar_energy(GOOD, [-1], 1.0), r"between 0 and n - 1 = 2"),
        (lambda: exemplar_labels(GOOD, [1, 1]), "exemplars must be distinct"),
        (lambda: exemplar_energy(GOOD, [0], [1.0, 2.0]), "each of the 3 points"),
        (lambda: exemplar_energy(GOOD, [0], "auto"), "penalty must be a number"),
        (lambda: exemplar_energy(GOOD, [0], np.nan), "penalty must not be NaN"),
        (
            lambda: exemplar_energy(GOOD, [0], [1.0, 1.0, -np.inf]),
            "penalty must not be NaN or -inf",
        ),
        (lambda: solve_exemplars(GOOD, np.inf), "not \\+inf for all"),
        (lambda: penalty_range([[1.0]]), "at least 2 points; got 1"),
        (lambda: penalty_range(np.ones((2, 3))), r"square.*\(2, 3\)"),
        (lambda: exemplar_bound(GOOD, 1.0, [1.0, 2.0]), r"v must have shape \(3,\)"),
        (lambda: exemplar_bound(GOOD, 1.0, [1.0, 2.0, np.nan]), "v contains NaN"),
        (lambda: improve_exemplars(GOOD, [0], [np.inf, 1.0, 1.0]), "finite penalty"),
        (lambda: solve_exemplars(GOOD, 1.0, max_iter=0), "max_iter must be an integer, at least 1"),
        (
            lambda: solve_exemplars_exact(GOOD, 1.0, max_iter=2.5),
            "max_iter must be an integer, at least 1",
        ),
        (
            lambda: ExemplarClustering(max_iter=True).fit(GOOD),
            "max_iter must be an integer, at least 1",
        ),
        (lambda: ExemplarClustering(tol=-1).fit(GOOD), "tol must be"),
        (lambda: ExemplarClustering(penalty="mean").fit(GOOD), "penalty must be \"auto\".*'mean'"),
        (lambda: ExemplarClustering(penalty=[1.0]).fit(GOOD), "each of the 3 points"),
        (
            lambda: ExemplarClustering(metric="precomputed").fit(np.ones((2, 3))),
            r"square.*\(2, 3\)",
        ),
        (
            lambda: ExemplarClustering(metric=lambda x, z: np.nan).fit(np.eye(3)),
            "D must not hold NaN",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_failure_of_the_integer_program_is_reported(monkeypatch):
    class Failed:
        success, message = False, "time limit"

    monkeypatch.setattr(mlbook.exemplars.clustering, "milp", lambda *args, **kwargs: Failed)
    with pytest.raises(RuntimeError, match=r"HiGHS.*time limit"):
        solve_exemplars_exact(CASES["asymmetric"][0], 0.4)
