"""The compiled search against the plain one and the enumeration of all segmentations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from segmentations import best, centred_gram, series, trace

pytest.importorskip("numba")
from mlbook.changepoints import compiled as numba_room
from mlbook.changepoints import segment
from mlbook.changepoints import segmentation as changepoints
from mlbook.changepoints.search import DataScores, labels_from_previous


@pytest.mark.parametrize("min_length", [1, 4, 70])
def test_compiled_and_plain_search_agree(min_length, monkeypatch):
    rng = np.random.default_rng(4)
    truth = np.sort(rng.integers(0, 15, 1500))
    X = rng.normal(size=(15, 3))[truth] * 2 + rng.normal(size=(1500, 3))
    for penalty in [1.0, 20.0]:
        compiled = segment(X, penalty=penalty, min_length=min_length)
        with monkeypatch.context() as patch:
            patch.setattr(changepoints, "_COMPILED_FROM", np.inf)
            plain = segment(X, penalty=penalty, min_length=min_length)
        assert_array_equal(compiled, plain)


@pytest.mark.parametrize("min_length", [1, 2, 5, 12])
def test_compiled_search_against_enumeration(min_length):
    n, X = 12, series(12, 2, seed=5)
    sums = DataScores(X).sums
    for penalty in [0.0, 1.0, 4.0]:
        A = centred_gram(X) - penalty * np.eye(n)
        for function in (numba_room.best_previous, numba_room.best_previous.py_func):
            labels = labels_from_previous(function(sums, penalty, min_length))
            assert np.bincount(labels).min() >= min_length
            assert_allclose(trace(A, labels), best(A, min_length=min_length), atol=1e-10)
