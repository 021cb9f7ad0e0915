"""Fixtures of several of the library's test files."""

from contextlib import ExitStack

import pytest
from joblib import parallel_config


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


@pytest.fixture(scope="session")
def drawing():
    """What explorers are drawn with; the tests are collected without it."""
    for package in ("matplotlib", "ipywidgets", "PIL"):
        pytest.importorskip(package)


@pytest.fixture
def static(monkeypatch):
    """Explorers are drawn as in the built book."""
    monkeypatch.setenv("MLBOOK_STATIC", "1")


@pytest.fixture
def live(monkeypatch):
    """Explorers are widgets."""
    monkeypatch.delenv("MLBOOK_STATIC", raising=False)


@pytest.fixture(params=["threading", "loky", "dask"])
def two_workers(request):
    """A context in which joblib has two workers: threads, processes, or processes of Dask."""
    with ExitStack() as stack:
        options = {}
        if request.param == "loky":
            options = {"max_nbytes": 20_000}  # larger arrays are read-only
        if request.param == "dask":
            distributed = pytest.importorskip("distributed")
            setting = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
            cluster = stack.enter_context(distributed.LocalCluster(processes=True, **setting))
            stack.enter_context(distributed.Client(cluster))
        yield lambda: parallel_config(request.param, n_jobs=2, **options)
