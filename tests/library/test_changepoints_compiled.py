"""The compiled search against the plain one and the enumeration of all segmentations."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from segmentations import best, centred_gram, series, trace

from mlbook.changepoints import constraints_from_labels, segment
from mlbook.changepoints import segmentation as changepoints
from mlbook.changepoints.compiled import best_previous, compiled
from mlbook.changepoints.search import DataScores, labels_from_previous


def test_without_numba_there_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled.__wrapped__() is None


@pytest.mark.equation("Lajugie 2014, Eqs. 4-7")
@pytest.mark.parametrize("compiled_from", [1, 12, 13])
def test_long_series_without_constraints_are_searched_by_it(compiled_from, monkeypatch):
    used = []

    def search(sums, penalty, min_length):
        used.append(penalty)
        return best_previous(sums, penalty, min_length)

    monkeypatch.setattr(changepoints, "_COMPILED_FROM", compiled_from)
    monkeypatch.setattr(changepoints, "compiled", lambda: search)
    n, X = 12, series(12, 2, seed=5)
    free = constraints_from_labels(np.full(n, -1))
    for penalty in [1.0, 4.0]:
        A = centred_gram(X) - penalty * np.eye(n)
        found = segment(X, penalty=penalty), segment(X, penalty=penalty, constraints=free)
        for labels in found:
            assert_allclose(trace(A, labels), best(A), atol=1e-10)
            assert labels[0] == 0 and np.all(np.diff(labels) >= 0)
    labels = segment(X, 3)
    assert_allclose(trace(centred_gram(X), labels), best(centred_gram(X), 3), atol=1e-10)
    assert labels[0] == 0 and np.all(np.diff(labels) >= 0)
    assert used == ([1.0, 4.0] if compiled_from <= n else [])


@pytest.mark.parametrize("min_length", [1, 4, 70])
def test_compiled_and_plain_search_agree(min_length, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(4)
    truth = np.sort(rng.integers(0, 15, 1500))
    X = rng.normal(size=(15, 3))[truth] * 2 + rng.normal(size=(1500, 3))
    for penalty in [1.0, 20.0]:
        quick = segment(X, penalty=penalty, min_length=min_length)
        with monkeypatch.context() as patch:
            patch.setattr(changepoints, "_COMPILED_FROM", np.inf)
            plain = segment(X, penalty=penalty, min_length=min_length)
        assert_array_equal(quick, plain)


@pytest.mark.parametrize("min_length", [1, 2, 5, 12])
def test_compiled_search_against_enumeration(min_length):
    n, X = 12, series(12, 2, seed=5)
    sums = DataScores(X).sums
    for penalty in [0.0, 1.0, 4.0]:
        A = centred_gram(X) - penalty * np.eye(n)
        for function in filter(None, (best_previous, compiled())):
            labels = labels_from_previous(function(sums, penalty, min_length))
            assert np.bincount(labels).min() >= min_length
            assert_allclose(trace(A, labels), best(A, min_length=min_length), atol=1e-10)
