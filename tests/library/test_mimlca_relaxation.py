"""Feasible assignments, the partitions they are, and the relaxed problem, against definitions."""

from itertools import product
from math import comb, factorial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.kmeans import distortion
from mlbook.mimlca import feasible_assignments, own_clusters, relaxed_overlap, weak_kmeans
from mlbook.partitions import equivalence_matrix


def is_feasible(labels, offsets, Y):
    """The three conditions of Law 2017, Eq. 2, read off H."""
    H = (labels[:, None] == np.arange(Y.shape[1])).astype(int)
    for i, y in enumerate(Y):
        block = H[offsets[i] : offsets[i + 1]]
        if np.any(block.sum(axis=0) > y) or block.sum() != min(len(block), y.sum()):
            return False
    return True


@pytest.mark.equation("Law 2017, Eq. 2")
@pytest.mark.parametrize(
    "sizes, Y",
    [
        ([2, 3], [[1, 1, 0], [0, 1, 1]]),
        ([1, 3], [[1, 1, 1], [0, 1, 0]]),
        ([3, 0, 1], [[1, 1, 1], [1, 0, 0], [0, 0, 0]]),
    ],
)
def test_feasible_assignments_are_those_that_meet_the_conditions(sizes, Y):
    Y, offsets = np.array(Y), np.cumsum([0, *sizes])
    listed = {tuple(labels) for labels in feasible_assignments(offsets, Y)}
    every = map(np.array, product([-1, 0, 1, 2], repeat=offsets[-1]))
    assert listed == {tuple(labels) for labels in every if is_feasible(labels, offsets, Y)}
    expected = 1
    for n_i, q_i in zip(sizes, Y.sum(axis=1).tolist(), strict=True):
        p_i = min(n_i, q_i)
        expected *= comb(n_i, p_i) * comb(q_i, p_i) * factorial(p_i)
    assert len(listed) == expected == len(list(feasible_assignments(offsets, Y)))


@pytest.mark.equation("Law 2017, Eqs. 3-6")
def test_own_clusters_give_the_matrix_of_the_paper():
    """C(H) = HH† + I − diag(H1), and its distortion is the objective over assigned instances."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3))
    for labels in ([0, 1, -1, 1, -1, 0], [0, 0, 0, 1, 1, 1], [1, -1, -1, -1, -1, 1]):
        H = (np.array(labels)[:, None] == np.arange(2)).astype(float)
        expected = H @ np.linalg.pinv(H) + np.eye(6) - np.diag(H.sum(axis=1))
        assert_allclose(equivalence_matrix(own_clusters(labels)), expected, atol=1e-12)
        alone = own_clusters(labels)[np.array(labels) < 0]
        assert_array_equal(alone, max(labels) + 1 + np.arange(labels.count(-1)))
        means = np.linalg.pinv(H) @ X
        cost = np.sum(H * np.sum((X[:, None] - means) ** 2, axis=2))
        assert distortion(X, own_clusters(labels)) == pytest.approx(cost)


@pytest.mark.equation("Law 2017, Eqs. 10 and 11, and Theorem 2.1")
def test_theorem_21_on_small_problems():
    """No metric exceeds max⟨C, XX†⟩, whitening attains it; metrics of low rank fall short."""
    rng = np.random.default_rng(1)
    offsets, Y = [0, 1, 3, 6], np.array([[1, 0], [1, 1], [1, 1]])
    for _ in range(5):
        X = rng.normal(size=(6, 3))
        P = X @ np.linalg.pinv(X)
        every = [own_clusters(h) for h in feasible_assignments(offsets, Y)]
        best = max(np.sum(equivalence_matrix(h) * P) for h in every)
        U = np.linalg.svd(X, full_matrices=False)[0]
        assert 3 - min(distortion(U, h) for h in every) == pytest.approx(best)
        found = weak_kmeans(U, offsets, Y, init="random", n_init=30, random_state=0)
        assert 3 - found.objective_path[-1] == pytest.approx(best)
        learned = equivalence_matrix(own_clusters(found.assignments))
        assert np.sum(learned * P) == pytest.approx(best)
        pinv = np.linalg.pinv(X)
        assert relaxed_overlap(X, pinv @ pinv.T, offsets, Y) == pytest.approx(best)
        for rank in (1, 2, 3):
            for L in rng.normal(size=(10, 3, rank)):
                value = relaxed_overlap(X, L @ L.T, offsets, Y)
                assert value <= min(best, rank) + 1e-9


def ignoring_labels(offsets, Y):
    """Law 2017, Eq. 8: min(n_i, q_i) instances of each bag get any of the k categories."""
    for labels in map(np.array, product(range(-1, Y.shape[1]), repeat=offsets[-1])):
        given = np.add.reduceat(labels >= 0, offsets[:-1])
        if np.array_equal(given, np.minimum(np.diff(offsets), Y.sum(axis=1))):
            yield labels


@pytest.mark.equation("Law 2017, Eqs. 8, 9 and 24")
def test_the_problem_before_its_relaxation_by_enumeration():
    """What the metric is asked for: the same clusters whether the labels are known or not."""
    rng = np.random.default_rng(4)
    offsets, Y = np.array([0, 1, 3, 5]), np.array([[1, 0], [1, 1], [0, 1]])
    free = list(ignoring_labels(offsets, Y))
    assert len(free) == 2 * 2**2 * (2 * 2)  # instances that are named, times their names
    known = list(feasible_assignments(offsets, Y))
    assert {tuple(labels) for labels in known} < {tuple(labels) for labels in free}

    def projectors(assignments):
        found = {}
        for labels in assignments:
            H = (labels[:, None] == np.arange(2)).astype(float)
            C = np.eye(5) + H @ np.linalg.pinv(H) - np.diag(H.sum(axis=1))
            assert_allclose(C, equivalence_matrix(own_clusters(labels)), atol=1e-12)
            assert_allclose(C @ C, C, atol=1e-12)
            found[tuple(C.round(9).ravel())] = own_clusters(labels)
        return list(found.values())

    def winners(clusterings, X, L):
        """Largest trace is least distortion of XL, by the library."""
        costs = np.array([distortion(X, labels, L @ L.T) for labels in clusterings])
        best = [clusterings[i] for i in np.flatnonzero(costs < costs.min() + 1e-9)]
        matrices = [equivalence_matrix(labels) for labels in best]
        traces = [np.sum(equivalence_matrix(h) * (X @ L @ L.T @ X.T)) for h in clusterings]
        assert_allclose([np.sum(C * (X @ L @ L.T @ X.T)) for C in matrices], max(traces))
        return matrices

    with_labels, without = projectors(known), projectors(free)
    seen = []
    for trial in range(40):
        X = rng.normal(size=(5, 2))
        if trial % 2:  # two groups, well apart and as the labels have them
            X += 20 * np.array([0, 0, 1, 1, 1])[:, None]
        L = rng.normal(size=(2, 2))
        C, C_hat = winners(with_labels, X, L), winners(without, X, L)
        overlaps = [np.sum(a * b) for a in C for b in C_hat]
        discrepancies = [5 - overlap for overlap in overlaps]
        ranks = [(np.trace(a) + np.trace(b) - np.sum((a - b) ** 2)) / 2 for a in C for b in C_hat]
        assert_allclose(overlaps, ranks, atol=1e-9)
        assert 0 <= min(overlaps) <= 5 and min(discrepancies) >= 0
        assert max(discrepancies) == pytest.approx(5 - min(overlaps))
        same = [np.allclose(a, b) for a in C for b in C_hat]
        largest = [max(np.trace(a), np.trace(b)) for a in C for b in C_hat]
        assert_array_equal(np.array(overlaps) > np.array(largest) - 1e-9, same)
        seen.append((min(overlaps), relaxed_overlap(X, L @ L.T, offsets, Y), all(same)))
    agreeing = np.array([same for *_, same in seen])
    assert 5 < agreeing.sum() < 35
    wish, relaxed = np.array(seen)[:, :2].T
    assert np.corrcoef(wish, relaxed)[0, 1] < 0.99  # the relaxation is another problem


@pytest.mark.equation("Law 2017, Eqs. 25-31")
def test_steps_of_the_proof_of_theorem_21():
    """The chain of upper bounds for any metric, and what whitening makes of each."""
    rng = np.random.default_rng(2)
    offsets, Y = [0, 1, 3, 6], np.array([[1, 0], [1, 1], [1, 1]])
    every = [equivalence_matrix(own_clusters(h)) for h in feasible_assignments(offsets, Y)]
    X = rng.normal(size=(6, 3))
    U = np.linalg.svd(X, full_matrices=False)[0]
    largest = max(np.trace(U.T @ C @ U) for C in every)
    strict = 0
    for rank in (1, 2, 3) * 5:
        L = rng.normal(size=(3, rank))
        A = X @ L @ L.T @ X.T
        predicted = np.linalg.svd(A)[0][:, :rank]
        traces = np.array([np.sum(C * A) for C in every])
        overlaps = np.array([np.trace(predicted.T @ C @ predicted) for C in every])
        winners = overlaps[traces > traces.max() - 1e-9]
        worst = relaxed_overlap(X, L @ L.T, offsets, Y)
        assert worst == pytest.approx(winners.min())
        chain = [worst, winners.max(), overlaps.max(), largest]
        assert np.all(np.diff(chain) >= -1e-9)
        strict += chain[0] < chain[-1] - 0.1
    assert strict > 3
    pinv = np.linalg.pinv(X)
    assert_allclose(X @ pinv @ pinv.T @ X.T, U @ U.T, atol=1e-12)
    assert relaxed_overlap(X, pinv @ pinv.T, offsets, Y) == pytest.approx(largest)


@pytest.mark.equation("Law 2017, Eqs. 7 and 10")
def test_relaxed_overlap_takes_the_worst_of_ties():
    """Both ways to name two instances are equally good for the metric, not for the overlap."""
    X = np.array([[1.0, 0], [-1, 0], [0, 2]])
    offsets, Y = [0, 2, 3], np.array([[1, 0], [1, 0]])
    assert relaxed_overlap(X, np.diag([1.0, 0]), offsets, Y) == pytest.approx(0.75)
    # Both instances of the first bag are at distance 1 from the third; whitened, they are not.
    X = np.array([[2.0, 0], [1, 1], [1, 0]])
    assert relaxed_overlap(X, np.eye(2), offsets, Y) == pytest.approx(2 - 0.6)
    X = np.array([[1.0, 0], [-1, 0], [0, 2]])
    X[1, 0] = 1  # the two instances are equal: a tie that the overlap does not see either
    value = relaxed_overlap(X, np.eye(2), offsets, Y)
    P = X @ np.linalg.pinv(X)
    every = [equivalence_matrix(own_clusters(h)) for h in ([0, -1, 0], [-1, 0, 0])]
    assert_allclose(value, [np.sum(C * P) for C in every])


def test_a_metric_that_sees_nothing_overlaps_nothing():
    X = np.random.default_rng(3).normal(size=(3, 2))
    assert relaxed_overlap(X, np.zeros((2, 2)), [0, 2, 3], [[1, 1], [0, 1]]) == 0


def test_all_alone_and_sparse_labels():
    assert_array_equal(own_clusters([-1, -1, -1]), [0, 1, 2])
    Y = np.array([[1, 1], [0, 0]])
    found = [labels.tolist() for labels in feasible_assignments([0, 1, 2], sp.csr_array(Y))]
    assert found == [[0, -1], [1, -1]]


X = np.eye(3)
REFUSED = {
    "no offsets": (lambda: next(feasible_assignments([], [[1]])), "offsets: bag sizes"),
    "offsets": (lambda: next(feasible_assignments([0, 2, 1], [[1], [1]])), "offsets: bag sizes"),
    "text": (lambda: next(feasible_assignments(["a"], [[1]])), "offsets: bag sizes"),
    "bags": (lambda: next(feasible_assignments([0, 2], [[1], [1]])), "each of 1 bags"),
    "entries": (lambda: next(feasible_assignments([0, 2], [[2]])), "Y must hold 0 and 1"),
    "labels": (lambda: own_clusters([0, -2]), "labels must be at least -1; got -2"),
    "label type": (lambda: own_clusters([0.5]), "labels must be a one-dimensional array of int"),
    "not finite": (lambda: relaxed_overlap(X * np.nan, X, [0, 3], [[1]]), "X contains NaN"),
    "metric": (lambda: relaxed_overlap(X, -X, [0, 3], [[1]]), "M must be positive semidefinite"),
    "instances": (lambda: relaxed_overlap(X, X, [0, 2], [[1]]), "rise from 0 to 3, got 2 values"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()
