"""The search: its moves against the energies of all sets, its ascent against the bound by hand."""

import numpy as np
from enumeration import subsets
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.exemplars import solve_exemplars
from mlbook.exemplars.search import DualAscent, Facilities, _Service


def total(C, cost, Q):
    return C[Q].min(axis=0).sum() + cost[Q].sum()


def costs_of_points(rng, n=9):
    C = rng.random((n, n))
    np.fill_diagonal(C, 0)
    return C, rng.random(n) / 2


# Moves


def test_merging_takes_the_better_of_two_sets_in_each_part_of_the_points(exemplar_search):
    x = np.array([0.0, 1, 2, 3, 4, 100, 101, 102, 103, 104])
    C, cost = np.abs(x - x[:, None]), np.full(10, 5.0)
    good_left, good_right = np.array([2, 5]), np.array([0, 7])
    energy = total(C, cost, good_right)
    merged, found = Facilities(C, cost).improve_and_merge(
        good_left, np.array([2]), good_right, energy
    )
    assert_array_equal(merged, [2, 7])
    assert found == total(C, cost, merged) < energy


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


def test_greedy_opens_what_gains_most_while_something_does(exemplar_search):
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(20):
        C, cost = costs_of_points(rng)
        found = Facilities(C, cost).greedy()
        assert_array_equal(found, greedy_word_for_word(C, cost))
        sizes.add(len(found))
    assert len(sizes) > 1


def test_of_equal_gains_the_first_is_opened(exemplar_search):
    """Twenty pairs of points, equal but in what rounding makes of the order of sums."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        C = np.repeat(np.repeat(10 + rng.random((20, 20)), 2, axis=0), 2, axis=1)
        C[np.arange(40), np.arange(40) ^ 1] = np.repeat(rng.random(20), 2)
        np.fill_diagonal(C, 0)
        pairs, point = np.divmod(Facilities(C, np.full(40, 3.0)).greedy(), 2)
        assert_array_equal(pairs, np.arange(20))
        assert point.sum() <= 1  # the best single one, which comes first, may be any


def improve_word_for_word(C, cost, start, order):
    """Drop, add and swap as `Facilities.improve` says it, by energies alone."""

    def energy(Q):
        return total(C, cost, Q)

    def without(Q, r):
        return [q for q in Q if q != r]

    def opening(q, Q):
        opened = [*Q, q]
        return min([*(without(opened, r) for r in Q), opened], key=energy)

    def pays(q, Q):
        return q not in Q and energy(opening(q, Q)) < energy(Q) - 1e-12

    Q, trying = list(start), [-1]
    while trying:
        while len(Q) > 1 and min(energy(without(Q, r)) for r in Q) <= energy(Q):
            Q = min((without(Q, r) for r in Q), key=energy)
        trying = [q for q in order if pays(q, Q)]
        for q in trying:
            Q = opening(q, Q) if pays(q, Q) else Q
    return sorted(Q)


def test_local_search_makes_the_moves_it_describes(exemplar_search):
    rng = np.random.default_rng(2)
    lengths = set()
    for _ in range(40):
        C, cost = costs_of_points(rng, 12)
        start = rng.permutation(12)[: rng.integers(1, 12)]
        order = rng.permutation(12)[: rng.integers(0, 13)]
        found, energy = Facilities(C, cost).improve(start, order)
        assert_array_equal(found, improve_word_for_word(C, cost, start, order))
        assert_allclose(energy, total(C, cost, found), rtol=1e-12)
        lengths.add(len(found))
    assert len(lengths) > 2


# Ascent


def test_ascent_evaluates_the_bound_and_never_passes_a_cost(exemplar_search):
    """L(v) pair by pair; at the end it is below the cost of every set, and better than at first."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        C, cost = costs_of_points(rng)
        lowest = min(total(C, cost, list(Q)) for Q in subsets(range(9)) if Q)
        facilities = Facilities(C, cost)
        dual = DualAscent(facilities, facilities.greedy())

        def by_hand(v, C=C, cost=cost):
            reduced = cost - np.maximum(v - C, 0).sum(axis=1)
            return v.sum() + np.minimum(reduced, 0).sum()

        v, first = dual.v.copy(), by_hand(dual.v)
        is_open = np.maximum(v - C, 0).sum(axis=1) > cost
        gradient = 1 - (v > C)[is_open].sum(axis=0)
        if exemplar_search == "NumPy":
            value, slope, opened = dual.evaluate()
            assert_allclose(value, first)
            assert_array_equal(slope, gradient)
            assert_array_equal(opened, np.flatnonzero(is_open))
        steps, stationary = dual.ascend(lowest, 1)
        assert_allclose(dual.value, first)
        assert steps == 1 and stationary == (not gradient.any())
        assert_allclose(dual.open_share, is_open * (1 if stationary else 0.1))
        if gradient.any():
            step = (lowest - first) / (gradient @ gradient) * gradient
            assert_allclose(dual.v, np.clip(v + step, dual.floor, dual.ceiling))
        dual.ascend(lowest, 60)
        assert_allclose(dual.value, by_hand(dual.best))
        assert first - 1e-12 <= dual.value <= lowest + 1e-9


def test_of_equally_good_exemplars_the_first_is_taken(exemplar_search):
    """Of two points alone, either serves the other at the same cost."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        order = rng.permutation(12)
        X = np.empty(12)
        X[order] = 10.0 * np.repeat(np.arange(6), 2) + np.tile([0.0, 1.0], 6) * rng.random(12)
        D = (X[:, None] - X) ** 2
        found = solve_exemplars(D, 2.0, random_state=seed).exemplars
        assert_array_equal(found, np.sort(order.reshape(6, 2).min(axis=1)))
