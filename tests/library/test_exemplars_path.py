"""Paths of exemplars against the enumeration of all sets, and what they find in data."""

import numpy as np
import pytest
from exemplar_cases import exemplar_sets
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import scale
from test_price_paths import by_definition

from mlbook.exemplars import (
    exemplar_energy,
    exemplar_labels,
    exemplar_path,
    solve_exemplars_exact,
)


def small_problems():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    D = pairwise_distances(X, metric="sqeuclidean")
    return {
        "squared Euclidean": D,
        "Euclidean": pairwise_distances(rng.normal(size=(9, 3))),
        "asymmetric": rng.random((8, 8)),
        "ties": rng.integers(0, 3, (8, 8)).astype(float),
        "equal": np.ones((6, 6)),
        "all the same point": np.zeros((5, 5)),
        "duplicates": np.repeat(np.repeat(D[:4, :4], 2, axis=0), 2, axis=1),
        "diagonal of rubbish": D + np.diag([np.nan, np.inf, -9, 9, 0, 1, 2, 3]),
        "float32": D.astype(np.float32),
        "tiny": 1e-200 * D,
        "two points": np.array([[0.0, 1.0], [2.0, 0.0]]),
    }


PROBLEMS = small_problems()


def least_costs(D):
    """Least sum of distances for every number of exemplars, by enumeration."""
    costs = np.full(len(D), np.inf)
    for Q in exemplar_sets(len(D)):
        costs[len(Q) - 1] = min(costs[len(Q) - 1], exemplar_energy(D, Q, 0.0))
    return costs


@pytest.mark.parametrize("name", PROBLEMS)
def test_path_is_that_of_all_sets(name):
    D = PROBLEMS[name]
    n, costs = len(D), least_costs(D)
    scale = costs[0] or 1.0
    expected = [
        (k, low, high)
        for k, low, high in by_definition(range(1, n + 1), costs)
        if k < n and high - low > 1e-12 * scale
    ]
    path = exemplar_path(D, n - 1, random_state=0)
    assert_array_equal(path.counts, [k for k, *_ in expected])
    assert_allclose(path.low, [a for _, a, _ in expected], rtol=1e-6, atol=1e-12 * scale)
    assert_allclose(path.high, [b for *_, b in expected], rtol=1e-6, atol=1e-12 * scale)
    for k, Q in zip(path.counts, path.exemplars, strict=True):
        assert_allclose(exemplar_energy(D, Q, 0.0), costs[k - 1], rtol=1e-6)
        assert_array_equal(path.labels(k), exemplar_labels(D, Q))
    for price, gap in zip(path.prices, path.gaps, strict=True):
        least = (costs + price * np.arange(1, n + 1)).min()
        found = min(exemplar_energy(D, Q, price) for Q in [*path.exemplars, np.arange(n)])
        assert found * (1 - gap) <= least * (1 + 1e-6)


def test_a_shorter_path_is_the_beginning_of_a_longer_one():
    D = PROBLEMS["squared Euclidean"]
    short, long = exemplar_path(D, 3, random_state=0), exemplar_path(D, 7, random_state=0)
    m = np.searchsorted(long.counts, 3, side="right")
    assert_array_equal(short.counts, long.counts[:m])
    assert_allclose(short.low, long.low[:m])
    assert exemplar_path(D, random_state=0).counts.max() <= 3


def test_at_the_middle_of_each_plateau_the_exact_solver_finds_its_number():
    X, _ = make_blobs(40, centers=4, random_state=0)
    D = pairwise_distances(X, metric="sqeuclidean")
    path = exemplar_path(D, random_state=0)
    for k, low, high in zip(path.counts[1:], path.low[1:], path.high[1:], strict=True):
        middle = np.sqrt(low * high)
        assert len(solve_exemplars_exact(D, middle, random_state=0).exemplars) == k


def test_standardized_wine_has_three_clusters():
    X = scale(load_wine().data)
    path = exemplar_path(pairwise_distances(X, metric="sqeuclidean"), random_state=0)
    assert path.longest.count == 3 and path.longest.stands_out
    assert path.counts[-1] <= 14 and len(path.prices) <= 2 * 14
    assert path.gaps.max() < 0.01
    assert 200 < path.longest.price < 300


@pytest.mark.slow
@pytest.mark.parametrize("k", range(2, 9))
def test_longest_plateau_of_separated_blobs_is_their_number(k):
    """Corners of a hypercube in 7 dimensions, 8 apart or more, 12 points around each."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        corners = rng.permutation(128)[:k]
        centres = 8.0 * (corners[:, None] >> np.arange(7) & 1)
        X = np.repeat(centres, 12, axis=0) + rng.normal(size=(12 * k, 7))
        path = exemplar_path(pairwise_distances(X, metric="sqeuclidean"), random_state=0)
        assert path.longest.count == k, seed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exemplar_path([[1.0]]), "at least 2 points; got 1"),
        (lambda: exemplar_path(np.ones((3, 4))), r"square.*\(3, 4\)"),
        (lambda: exemplar_path(-np.ones((3, 3))), "D must not be negative.*got -1"),
        (lambda: exemplar_path(np.ones((3, 3)), 3), "max_clusters must be .* from 1 to 2; got 3"),
        (lambda: exemplar_path(np.ones((3, 3)), max_iter=0), "max_iter"),
        (
            lambda: exemplar_path(np.ones((3, 3))).labels(2),
            r"n_clusters must be one of counts, \[1\].*got 2",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
