"""Input checks: what passes unchanged, and what is refused in which words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook._validation import (
    check_choice,
    check_integer,
    check_integer_labels,
    check_list,
    check_n_clusters,
    check_number,
    metric_factor,
)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integers_of_any_kind(value):
    for found in (check_integer(value, "k", least=3, most=3), check_n_clusters(value, 3)):
        assert found == 3 and type(found) is int


@pytest.mark.parametrize("value", [2, 5, 3.0, True, "3", None, np.float64(3)])
def test_refused_integers(value):
    with pytest.raises(ValueError, match="k must be an integer, from 3 to 4; got"):
        check_integer(value, "k", least=3, most=4)
    with pytest.raises(ValueError, match="n_clusters must be an integer between 1 and n_samples=1"):
        check_n_clusters(value, 1)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2)])
def test_numbers_of_any_kind(value):
    found = check_number(value, "alpha", least=2, above=1)
    assert found == 2 and type(found) is float


@pytest.mark.parametrize("value", [1, 1.5, np.nan, np.inf, True, "2", None, 2j])
def test_refused_numbers(value):
    message = "alpha must be a finite number, at least 2, greater than 1; got"
    with pytest.raises(ValueError, match=message):
        check_number(value, "alpha", least=2, above=1)
    with pytest.raises(ValueError, match="greater than 1; got 1"):
        check_number(1, "alpha", above=1)


def test_choices():
    check_choice("a", "kind", ("a", "b"))
    with pytest.raises(ValueError, match=r"kind must be one of \('a', 'b'\); got 'c'"):
        check_choice("c", "kind", {"a": 1, "b": 2})


def test_integer_labels():
    for labels in ([2, -1], np.array([2, -1], dtype=np.int8)):
        found = check_integer_labels(labels, "y", least=-1, n=2)
        assert_array_equal(found, [2, -1])
        assert found.dtype == np.int64
    given = np.array([0, 1])
    check_integer_labels(given, "y", least=0)[0] = 7
    assert_array_equal(given, [0, 1])


@pytest.mark.parametrize(
    ("labels", "n", "message"),
    [
        ([], None, r"one-dimensional array of integers, not empty; got shape \(0,\)"),
        ([[0]], None, r"got shape \(1, 1\)"),
        ([0.0], None, "dtype float64"),
        ([0], 2, "one integer for each of 2 points"),
        ([0, -2], 2, "y must be at least -1; got -2"),
    ],
)
def test_refused_labels(labels, n, message):
    with pytest.raises(ValueError, match=message):
        check_integer_labels(labels, "y", least=-1, n=n)


def test_one_matrix_for_a_list():
    check_list([np.eye(2)], "Xs", "set")
    with pytest.raises(ValueError, match=r"a matrix for each set; got one of shape \(2, 2\)"):
        check_list(np.eye(2), "Xs", "set")


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("units", [np.ones(4), np.array([1e-8, 1, 1e8, 1])])
def test_the_factor_of_a_metric(rank, units):
    L = units[:, None] * np.random.default_rng(rank).normal(size=(4, rank))
    M = L @ L.T
    found = metric_factor(M, 4)
    assert found.shape == (4, rank)
    scale = np.outer(units, units)
    assert_allclose(found @ found.T / scale, M / scale, atol=1e-13)
    X = np.random.default_rng(9).normal(size=(6, 4)) / units
    assert_allclose(np.sum((X @ found) ** 2, axis=1), np.sum((X @ L) ** 2, axis=1))


def test_the_factor_of_a_metric_that_sees_nothing():
    assert_array_equal(metric_factor(np.zeros((3, 3)), 3), np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("M", "message"),
    [
        (np.eye(3), r"M must have shape .* = \(2, 2\); got \(3, 3\)"),
        ([[1, np.nan], [np.nan, 1]], "M contains NaN"),
        ([[1.0, 1.0], [0.0, 1.0]], "M must be symmetric; M and its transpose differ by 1"),
        ([[1.0, 2.0], [2.0, 1.0]], "M must be positive semidefinite; .* eigenvalue is -1"),
    ],
)
def test_refused_metrics(M, message):
    with pytest.raises(ValueError, match=message):
        metric_factor(M, 2)
