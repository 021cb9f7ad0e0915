"""Plateaus against their definition: the number that minimizes cost + price · number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.price_paths import STANDS_OUT, Plateau, PricePath, plateaus


def by_definition(counts, costs):
    """Number, low, high wherever a range of positive prices makes this number the best."""
    found = []
    for k, D in zip(counts, costs, strict=True):
        others = [(j, E) for j, E in zip(counts, costs, strict=True) if np.isfinite(E)]
        low = max([0.0, *((D - E) / (j - k) for j, E in others if j > k)])
        high = min([np.inf, *((E - D) / (k - i) for i, E in others if i < k)])
        if np.isfinite(D) and low < high:
            found.append((k, low, high))
    return found


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(0, 12) | st.just(np.inf), min_size=1, max_size=8))
def test_plateaus_are_where_a_number_is_best_ties_and_impossible_numbers_included(costs):
    numbers = range(2, 2 + len(costs))
    expected = by_definition(numbers, costs)
    counts, low, high = plateaus(numbers, costs)
    assert_array_equal(counts, [k for k, *_ in expected])
    assert_allclose(low, [a for _, a, _ in expected], rtol=1e-12)
    assert_allclose(high, [b for *_, b in expected], rtol=1e-12)
    assert_array_equal(low[:-1], high[1:])


def test_no_possible_number_has_no_plateau():
    counts, low, high = plateaus([1, 2], [np.inf, np.inf])
    assert len(counts) == len(low) == len(high) == 0
    assert PricePath(counts, low, high).longest is None


def test_longest_plateau_is_the_one_of_the_largest_ratio_but_not_the_first():
    path = PricePath(*plateaus(range(1, 6), [100.0, 65.0, 21.0, 12.0, 10.0]))
    assert_array_equal(path.counts, [1, 3, 4, 5])
    assert_allclose(path.high, [np.inf, 39.5, 9.0, 2.0])
    assert path.longest.count == 5 and path.longest.ratio == np.inf  # nothing is cheaper than 5
    head = PricePath(path.counts[:3], path.low[:3], path.high[:3])
    assert head.longest == Plateau(4, 2.0, 9.0)
    assert PricePath(path.counts[:1], path.low[:1], path.high[:1]).longest is None


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1e290])
def test_units_of_the_price_do_not_matter(scale):
    costs = np.array([100.0, 60.0, 21.0, 12.0, 10.0, 9.0])
    one, other = (PricePath(*plateaus(range(1, 7), c)) for c in (costs, scale * costs))
    one, other = (PricePath(p.counts[:-1], p.low[:-1], p.high[:-1]) for p in (one, other))
    assert one.longest.count == other.longest.count
    assert_allclose(other.longest.ratio, one.longest.ratio)
    assert_allclose(other.longest.price, scale * one.longest.price)


def test_middle_and_length_of_a_plateau():
    plateau = Plateau(2, 4.0, 25.0)
    assert (plateau.price, plateau.ratio) == (10.0, 6.25)
    assert Plateau(2, 0.0, 6.0).price == 3.0 and Plateau(2, 0.0, 6.0).stands_out
    assert Plateau(2, 1.0, STANDS_OUT).stands_out
    assert not Plateau(2, 1.0, STANDS_OUT - 0.01).stands_out
