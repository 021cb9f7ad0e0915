"""Energies and bounds of exemplars against exact fractions over all exemplar sets."""

from fractions import Fraction

import numpy as np
import pytest
from exemplar_cases import CASES, every_case, exact_energy, exemplar_sets, optimum
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import pairwise_distances

from mlbook.exemplars import (
    exemplar_bound,
    exemplar_energy,
    exemplar_labels,
    penalty_range,
    solve_exemplars,
)


@pytest.mark.equation("Komodakis 2011, Eq. 1")
@every_case
def test_energy_is_equation_1_for_every_set(D, penalty):
    for Q in exemplar_sets(len(D)):
        expected = float(exact_energy(D, Q, penalty))
        assert_allclose(exemplar_energy(D, Q, penalty), expected, rtol=1e-12, atol=1e-14)
        assert_allclose(exemplar_energy(D, Q[::-1], penalty), expected, rtol=1e-12, atol=1e-14)


def test_exemplars_stay_in_their_own_cluster_at_negative_distances():
    D = np.array([[0.0, -5.0, 1.0], [-5.0, 0.0, 1.0], [-1.0, -2.0, 0.0]])
    assert_array_equal(exemplar_labels(D, [0, 1]), [0, 1, 1])
    assert exemplar_energy(D, [0, 1], 0.5) == -1.0


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
        energies = {tuple(Q): exact_energy(D, list(Q), f) for Q in exemplar_sets(n)}
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
        (lambda: penalty_range([[1.0]]), "at least 2 points; got 1"),
        (lambda: penalty_range(np.ones((2, 3))), r"square.*\(2, 3\)"),
        (
            lambda: exemplar_bound(GOOD, 1.0, [1.0, 2.0]),
            "v must hold .* each of 3",
        ),
        (lambda: exemplar_bound(GOOD, 1.0, [1.0, 2.0, np.nan]), "v must hold one finite number"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
