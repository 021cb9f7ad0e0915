"""Fixtures of several of the library's test files."""

import pytest


@pytest.fixture(params=[None, (3, 4), (1, 1)], ids=["one block", "small blocks", "no blocks"])
def blocks(request, monkeypatch):
    """Small sequences are worked on in several blocks too."""
    if request.param:
        monkeypatch.setattr("mlbook.changepoints.search._ENDS", request.param[0])
        monkeypatch.setattr("mlbook.changepoints.search._STARTS", request.param[1])


@pytest.fixture(params=["NumPy", "loops", "numba"])
def exemplar_search(request, monkeypatch):
    """Exemplars are searched for by NumPy, by the loops as Python runs them, and compiled."""
    from mlbook.exemplars import compiled

    if request.param == "numba":
        pytest.importorskip("numba")
    loops = compiled.Kernels(compiled.greedy, compiled.improve, compiled.ascend)
    found = {"NumPy": lambda: None, "loops": lambda: loops, "numba": compiled.load}[request.param]()
    monkeypatch.setattr(compiled, "load", lambda: found)
    return request.param
