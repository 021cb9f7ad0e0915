"""Pairs of instances and labels: which there are, their first means, and the cheapest choice."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from weak_problems import feasible, tiny

import mlbook.mimlca.choices
from mlbook.mimlca.choices import Choices, _pair_costs


def choices(sizes, Y, reject_costs=None):
    return Choices(np.array(sizes), sp.csr_array(np.array(Y, dtype=bool)), reject_costs)


def test_pairs_are_all_instances_with_the_labels_of_their_bag():
    sizes, Y = [2, 0, 1, 3], [[1, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 0]]
    found = choices(sizes, Y)
    bag = np.repeat(np.arange(4), sizes)
    expected = {(i, c) for i in range(6) for c in range(3) if Y[bag[i]][c]}
    pairs = list(zip(found.instances.tolist(), found.categories.tolist(), strict=True))
    assert set(pairs) == expected and len(pairs) == found.n_pairs == 7
    chances = {pair: 1 / (sizes[bag[pair[0]]] * sum(Y[bag[pair[0]]])) for pair in pairs}
    assert_allclose(found.chances, [chances[pair] for pair in pairs])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_random_assignments_are_feasible(seed):
    _, offsets, Y, _ = tiny(seed)
    allowed = set(map(tuple, feasible(np.diff(offsets), Y)))
    drawn = choices(np.diff(offsets), Y)
    for start in range(5):
        assert tuple(drawn.random(np.random.RandomState(start))) in allowed


def test_random_assignments_reach_all_that_is_feasible():
    sizes, Y = [2, 1], [[1, 1, 0], [0, 1, 1]]
    allowed = set(map(tuple, feasible(sizes, Y)))
    rng, drawn = np.random.RandomState(0), choices(sizes, Y)
    assert {tuple(drawn.random(rng)) for _ in range(100)} == allowed


def test_blocks_of_pairs_change_nothing(monkeypatch):
    U, offsets, Y, rng = tiny(3)
    Z = rng.normal(size=(3, 2))
    drawn = choices(np.diff(offsets), Y)
    whole = drawn.assign(U, Z)
    monkeypatch.setattr(mlbook.mimlca.choices, "BLOCK_ENTRIES", 4)
    assert_array_equal(drawn.assign(U, Z), whole)


def test_single_precision_is_squared_in_double():
    rng = np.random.default_rng(0)
    U, Z = (rng.normal(size=(size, 3)).astype(np.float32) for size in (20, 4))
    instances, categories = rng.integers(0, 20, 50), rng.integers(0, 4, 50)
    differences = (U[instances] - Z[categories]).astype(np.float64)
    costs = _pair_costs(U, Z, instances, categories)
    assert_allclose(costs, np.sum(differences**2, axis=1), rtol=1e-14)


def test_first_centroids():
    U = np.array([[1.0], [2.0], [4.0], [8.0], [16.0]])
    drawn = choices([1, 2, 2], [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]])
    weights = np.array([[1, 1 / 4, 1 / 4, 0, 0], [0, 1 / 4, 1 / 4, 1 / 2, 1 / 2]])
    expected = weights @ U / weights.sum(axis=1, keepdims=True)
    assert_allclose(drawn.mean_of_candidates(U, weighted=True), [*expected, [0], [0]])
    assert_allclose(drawn.mean_of_candidates(U, weighted=False), [[1], [30 / 4], [0], [0]])
