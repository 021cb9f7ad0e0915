"""The search in loops, compiled and not, against the one by NumPy; and when numba is loaded.

The loops are also run by the tests of the search and the solvers that take `exemplar_search`.
"""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import pairwise_distances

from mlbook.exemplars import compiled, search, solve_exemplars
from mlbook.exemplars.search import DualAscent, Facilities


def test_ascent_takes_the_same_steps_in_loops(monkeypatch):
    """Up to rounding, which grows along the way; and at the usual start it decides what is open."""
    loops = compiled.Kernels(compiled.greedy, compiled.improve, compiled.ascend)
    for module in (search, compiled):
        monkeypatch.setattr(module, "STALLED", 2)
        monkeypatch.setattr(module, "LITTLE", 0.2)
    rng = np.random.default_rng(3)
    factors = set()
    for _ in range(20):
        C, cost = rng.random((25, 25)), rng.random(25) / 2
        np.fill_diagonal(C, 0)
        start = rng.random(25) / 2
        found = []
        for route in (None, loops):
            monkeypatch.setattr(compiled, "load", lambda route=route: route)
            facilities = Facilities(C, cost)
            dual = DualAscent(facilities, facilities.greedy())
            dual.best = start.copy()
            dual.restart()
            Q = facilities.greedy()
            dual.ascend(C[Q].min(axis=0).sum() + cost[Q].sum(), 15)
            found.append(np.concatenate([dual.v, dual.best, dual.open_share, [dual.factor]]))
        assert_allclose(*found, rtol=1e-6, atol=1e-9)
        factors.add(dual.factor)
    assert len(factors) > 1  # steps have become shorter, more often or less


def test_without_numba_there_are_no_kernels(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled.load.__wrapped__() is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_and_plain_search_agree(dtype, monkeypatch):
    """The same energy; exemplars as good as each other may differ, and the end of the ascent."""
    pytest.importorskip("numba")
    kernels = compiled.load()
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(60, 3))
        D = pairwise_distances(X, metric="sqeuclidean").astype(dtype)
        solutions = []
        for route in (None, kernels):
            monkeypatch.setattr(compiled, "load", lambda route=route: route)
            solutions.append(solve_exemplars(D, 2.0, random_state=seed))
        plain, quick = solutions
        assert_allclose(quick.energy, plain.energy, rtol=1e-9)
        assert_allclose(quick.lower_bound, plain.lower_bound, rtol=2e-3)
