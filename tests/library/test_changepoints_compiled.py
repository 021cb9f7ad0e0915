"""The compiled search against the plain one and the enumeration of all segmentations."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from segmentations import best, centred_gram, series, trace

from mlbook.changepoints import segment
from mlbook.changepoints import segmentation as changepoints
from mlbook.changepoints.compiled import best_previous, compiled
from mlbook.changepoints.search import DataScores, labels_from_previous


def test_without_numba_there_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled.__wrapped__() is None


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
