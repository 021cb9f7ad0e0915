"""Assignments against enumeration: one step, the rounds of k-means, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from weak_problems import assignment, distortion, feasible, tiny, weak_problem

from mlbook import kmeans
from mlbook.mimlca import assign_instances, own_clusters, weak_kmeans
from mlbook.mimlca.assignments import mean_weights
from mlbook.mimlca.choices import Choices

# The assignment step


@pytest.mark.equation("Law 2017, Eqs. 2, 13 and 39")
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), ties=st.booleans())
def test_the_assignment_step_is_optimal(seed, ties):
    U, offsets, Y, rng = tiny(seed)
    Z = rng.normal(size=(3, 2))
    if ties:
        U, Z = U.round(), Z.round()
    costs = ((U[:, None] - Z) ** 2).sum(axis=2)

    def total(labels):
        return costs[labels >= 0, labels[labels >= 0]].sum()

    candidates = {tuple(labels) for labels in feasible(np.diff(offsets), Y)}
    found = assign_instances(U, Z, offsets, Y)
    assert tuple(found) in candidates
    assert_allclose(total(found), min(total(np.array(c)) for c in candidates), atol=1e-12)
    assert_array_equal(assign_instances(U, Z, offsets, sp.csr_array(Y)), found)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_assignment_step_with_rejection_is_optimal(seed):
    U, offsets, Y, rng = tiny(seed)
    Z = rng.normal(size=(3, 2)) / 2
    penalties = rng.uniform(0, 1, size=len(U))
    costs = ((U[:, None] - Z) ** 2).sum(axis=2)

    def total(labels):
        return costs[labels >= 0, labels[labels >= 0]].sum() + penalties[labels < 0].sum()

    candidates = {tuple(labels) for labels in feasible(np.diff(offsets), Y, partial=True)}
    found = assign_instances(U, Z, offsets, Y, penalties)
    assert tuple(found) in candidates
    assert_allclose(total(found), min(total(np.array(c)) for c in candidates), atol=1e-12)


def test_ties_are_broken_by_index():
    U = np.zeros((5, 1))
    found = assign_instances(U, np.zeros((3, 1)), [0, 1, 3, 5], [[1, 1, 1], [0, 0, 1], [0, 1, 1]])
    assert_array_equal(found, [0, 2, -1, 1, 2])


# k-means over feasible assignments


@pytest.mark.equation("Law 2017, Eqs. 12 and 38")
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    init=st.sampled_from(["weighted", "unambiguous", "random"]),
    reject=st.sampled_from([None, 0.8]),
)
def test_rounds_lower_the_objective_until_nothing_moves(seed, init, reject):
    U, offsets, Y, _ = tiny(seed)
    found = weak_kmeans(U, offsets, Y, init=init, reject=reject, random_state=0)
    path, labels = found.objective_path, found.assignments
    assert np.all(np.diff(path) < 0)
    assert len(path) == found.n_iter
    sizes = np.diff(offsets)
    assert tuple(labels) in set(map(tuple, feasible(sizes, Y, partial=reject is not None)))
    penalties = None if reject is None else reject * ((U - U.mean(axis=0)) ** 2).sum(axis=1)
    extra = 0 if reject is None else penalties[labels < 0].sum()
    assert_allclose(path[-1], distortion(U, labels, 3) + extra, atol=1e-12)

    Z = np.linalg.pinv(assignment(labels, 3)) @ U
    again = assign_instances(U, Z, offsets, Y, penalties)
    extra = 0 if reject is None else penalties[again < 0].sum()
    assert_allclose(distortion(U, again, 3) + extra, path[-1], atol=1e-12)


def best_assignment(U, Z, offsets, Y, penalties):
    """The cheapest of all assignments to given centroids."""
    costs = ((U[:, None] - Z) ** 2).sum(axis=2)

    def total(labels):
        named = labels >= 0
        left = 0 if penalties is None else penalties[~named].sum()
        return costs[named, labels[named]].sum() + left

    return min(feasible(np.diff(offsets), Y, partial=penalties is not None), key=total)


def rounds(U, offsets, Y, labels, penalties):
    """Centroids and assignments by turns, until the objective stays: its path, the assignment."""
    path, before = [], labels
    while True:
        left = 0 if penalties is None else penalties[labels < 0].sum()
        objective = distortion(U, labels, Y.shape[1]) + left
        if path and objective > path[-1] - 1e-12:
            return path, before
        path.append(objective)
        before = labels
        Z = np.linalg.pinv(assignment(labels, Y.shape[1])) @ U
        labels = best_assignment(U, Z, offsets, Y, penalties)


@pytest.mark.equation("Law 2017, Eqs. 3, 11, 12 and 38, and Theorem 2.1")
@pytest.mark.parametrize("reject", [None, 0.9])
@pytest.mark.parametrize("init", ["weighted", "random"])
def test_the_best_start_is_taken_round_by_round(init, reject):
    """Against a loop that tries all assignments in every round, from the same starts."""
    best = []
    for seed in range(1, 9):  # in 0, two categories have the same candidates: a tie
        U, offsets, Y, _ = tiny(seed)
        sizes, candidates = np.diff(offsets), sp.csr_array(Y)
        penalties = None if reject is None else reject * ((U - U.mean(axis=0)) ** 2).sum(axis=1)
        rng = check_random_state(seed)
        starts = [Choices(sizes, candidates, penalties).random(rng) for _ in range(3)]
        if init == "weighted":
            pairs = sizes * Y.sum(axis=1)
            shares = np.repeat(Y / np.maximum(pairs, 1)[:, None], sizes, axis=0)
            Z = shares.T @ U / np.maximum(shares.sum(axis=0), 1e-300)[:, None]
            starts = [best_assignment(U, Z, offsets, Y, penalties), *starts[:2]]
        runs = [rounds(U, offsets, Y, start, penalties) for start in starts]
        found = weak_kmeans(U, offsets, Y, init=init, n_init=3, reject=reject, random_state=seed)
        ends = [run[0][-1] for run in runs]
        best.append(next(i for i, end in enumerate(ends) if end < min(ends) + 1e-12))
        lowest = runs[best[-1]]
        assert_allclose(found.objective_path[-1], lowest[0][-1], atol=1e-12)
        assert_allclose(found.objective_path, lowest[0], atol=1e-10)
        assert_array_equal(found.assignments, lowest[1])
    assert len(set(best)) > 1


@pytest.mark.equation("Law 2017, Eq. 12")
def test_many_starts_find_the_global_optimum():
    """Nearly always, and one start less often; never anything below it."""
    reached = {1: 0, 30: 0}
    for seed in range(25):
        U, offsets, Y, _ = tiny(seed)
        best = min(distortion(U, labels, 3) for labels in feasible(np.diff(offsets), Y))
        for n_init in reached:
            found = weak_kmeans(U, offsets, Y, init="random", n_init=n_init, random_state=seed)
            assert found.objective_path[-1] > best - 1e-12
            reached[n_init] += found.objective_path[-1] < best + 1e-12
    assert reached[30] >= 24 > reached[1]


@pytest.mark.equation("Law 2017, Eqs. 11, 12 and 35")
def test_the_objective_is_what_theorem_21_maximizes():
    """⟨A, XX†⟩ = rank − Eq. 35 with A = I + HH† − diag(H1), an orthogonal projector."""
    _, offsets, Y, rng = tiny(5)
    X = rng.normal(size=(offsets[-1], 3)) @ np.diag([5.0, 1.0, 0.1])
    U = np.linalg.svd(X, full_matrices=False)[0]
    assert len(X) > 5 and len(list(feasible(np.diff(offsets), Y))) > 5
    overlaps = []
    for labels in feasible(np.diff(offsets), Y):
        H = assignment(labels, 3)
        A = np.eye(len(X)) + H @ np.linalg.pinv(H) - np.diag(H.sum(axis=1))
        assert_allclose(A @ A, A, atol=1e-12)
        overlaps.append(np.sum(A * (X @ np.linalg.pinv(X))))
        assert_allclose(overlaps[-1], 3 - distortion(U, labels, 3), atol=1e-10)
        assert_allclose(kmeans.distortion(U, own_clusters(labels)), distortion(U, labels, 3))
    found = weak_kmeans(U, offsets, Y, init="random", n_init=30, random_state=0)
    assert_allclose(3 - found.objective_path[-1], max(overlaps), atol=1e-10)
    assert_allclose(distortion(U, found.assignments, 3), found.objective_path[-1], atol=1e-12)


@pytest.mark.equation("Law 2017, Eqs. 18-23 and 32-37")
@pytest.mark.parametrize("whitened", [False, True])
def test_steps_from_k_means_over_bags_to_a_trace(whitened):
    """Eqs. 18-23 for any metric LLᵀ; Eqs. 32-37 are the same steps for U and L = I, backwards."""
    _, offsets, Y, rng = tiny(5)
    X, L = rng.normal(size=(offsets[-1], 3)), rng.normal(size=(3, 2))
    if whitened:
        X, L = np.linalg.svd(X, full_matrices=False)[0], np.eye(3)
    G = X @ L @ L.T @ X.T
    for labels in feasible(np.diff(offsets), Y):
        H = assignment(labels, 3)
        known, HH = np.diag(H.sum(axis=1)), H @ np.linalg.pinv(H)
        Z = np.linalg.pinv(H) @ X @ L
        free = [Z, Z + rng.normal(size=Z.shape), Z - rng.normal(size=Z.shape)]
        norms = [np.linalg.norm(known @ X @ L - H @ z) ** 2 for z in free]
        sums = [np.sum(H * np.sum(((X @ L)[:, None] - z) ** 2, axis=2)) for z in free]
        assert_allclose(norms, sums, rtol=1e-10, atol=1e-12)
        assert norms[0] <= min(norms)
        steps = [
            np.linalg.norm(known @ X @ L - HH @ X @ L) ** 2,
            np.linalg.norm((known - HH) @ X @ L) ** 2,
            np.trace(known @ G @ known - 2 * known @ G @ HH + HH @ G @ HH),
            np.trace(G @ known @ known - 2 * G @ HH @ known + G @ HH @ HH),
            np.trace(G @ known - 2 * G @ HH + G @ HH),
            np.trace((known - HH) @ G @ (known - HH).T),
            np.trace((known - HH) @ G),
            np.trace(G) - np.trace((np.eye(len(X)) - known + HH) @ G),
        ]
        assert_allclose(steps, norms[0], rtol=1e-9, atol=1e-12)
        found = kmeans.distortion(X, own_clusters(labels), L @ L.T)
        assert_allclose(found, norms[0], rtol=1e-9, atol=1e-12)
        traced = kmeans.trace_objective(X, own_clusters(labels), L @ L.T)
        assert_allclose(traced, np.trace(G) - norms[0], rtol=1e-9)


def test_more_starts_are_never_worse_and_seeds_repeat():
    bags, Y, _ = weak_problem(1)
    one, many, again = (
        weak_kmeans(bags.instances, bags.offsets, Y, n_init=n, random_state=5) for n in (1, 6, 6)
    )
    assert many.objective_path[-1] <= one.objective_path[-1]
    assert_array_equal(many.assignments, again.assignments)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        weak_kmeans(bags.instances, bags.offsets, Y, init="random", max_iter=1, random_state=0)


def test_a_round_that_does_not_lower_the_objective_is_undone():
    U, offsets, Y = np.zeros((9, 1)), np.arange(10), np.ones((9, 2))
    found = weak_kmeans(U, offsets, Y, init="random", random_state=0)
    assert len(np.unique(found.assignments)) == 2  # ties broken by index would leave one
    assert found.n_iter == len(found.objective_path) == 1


def test_mean_weights_are_the_pseudo_inverse():
    labels = np.array([2, -1, 0, 2, 0, -1, 2])
    found = mean_weights(labels, np.bincount(labels[labels >= 0], minlength=4), np.float64)
    assert_allclose(found.toarray(), np.linalg.pinv(assignment(labels, 4)), atol=1e-15)


# Refusals


BAGS, LABELS, _ = weak_problem(0)
X, N = BAGS.instances, len(BAGS.instances)

REFUSED = {
    "offsets": (
        lambda: weak_kmeans(X, BAGS.bag_index, LABELS),
        "bag sizes do not sum to the number of instances",
    ),
    "centroids": (
        lambda: assign_instances(X, X[:2], BAGS.offsets, LABELS),
        r"centroids must have shape \(4, 6\)",
    ),
    "reject costs": (
        lambda: assign_instances(X, X[:4], BAGS.offsets, LABELS, [1.0]),
        "reject_costs must hold a number",
    ),
    "NaN costs": (
        lambda: assign_instances(X, X[:4], BAGS.offsets, LABELS, [np.nan] * N),
        "NaN among them",
    ),
    "not finite": (lambda: weak_kmeans(X * np.nan, BAGS.offsets, LABELS), "U contains NaN"),
    "Y": (lambda: weak_kmeans(X, BAGS.offsets, 2 * LABELS), "Y must hold 0 and 1"),
    "nothing": (lambda: weak_kmeans(X, BAGS.offsets, 0 * LABELS), "nothing can be assigned"),
    "init": (lambda: weak_kmeans(X, BAGS.offsets, LABELS, init="best"), "init must be one of"),
    "reject": (
        lambda: weak_kmeans(X, BAGS.offsets, LABELS, reject=0),
        "reject must be .* greater than 0.* got 0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()
