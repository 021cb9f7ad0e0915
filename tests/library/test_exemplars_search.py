"""The search: its moves against the energies of all sets, its ascent against the bound by hand."""

import numpy as np
from enumeration import subsets
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.exemplars.search import DualAscent, _search_and_merge, _Service, greedy, total


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


def greedy_word_for_word(C, cost):
    chosen = [int((C.sum(axis=1) + cost).argmin())]
    while len(chosen) < len(cost):
        rest = [q for q in range(len(cost)) if q not in chosen]
        after = [total(C, cost, [*chosen, q]) for q in rest]
        if min(after) >= total(C, cost, chosen) - 1e-12:
            break
        chosen.append(rest[int(np.argmin(after))])
    return sorted(chosen)


def costs_of_points(rng, n=9):
    C = rng.random((n, n))
    np.fill_diagonal(C, 0)
    return C, rng.random(n) / 2


def test_greedy_opens_what_gains_most_while_something_does():
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(20):
        C, cost = costs_of_points(rng)
        found = greedy(C, cost)
        assert_array_equal(found, greedy_word_for_word(C, cost))
        sizes.add(len(found))
    assert len(sizes) > 1


def test_ascent_evaluates_the_bound_and_never_passes_a_cost():
    """L(v) pair by pair; at the end it is below the cost of every set, and better than at first."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        C, cost = costs_of_points(rng)
        lowest = min(total(C, cost, list(Q)) for Q in subsets(range(9)) if Q)
        dual = DualAscent(C, cost, greedy(C, cost))

        def by_hand(v, C=C, cost=cost):
            reduced = cost - np.maximum(v - C, 0).sum(axis=1)
            return v.sum() + np.minimum(reduced, 0).sum()

        first, gradient, is_open = dual.evaluate()
        assert_allclose(first, by_hand(dual.v))
        assert_array_equal(is_open, np.flatnonzero(np.maximum(dual.v - C, 0).sum(axis=1) > cost))
        assert_array_equal(gradient, 1 - (dual.v > C)[is_open].sum(axis=0))
        dual.ascend(lowest, 60)
        assert_allclose(dual.value, by_hand(dual.best))
        assert first <= dual.value <= lowest + 1e-9
