"""Fixtures of several of the library's test files."""

import pytest


@pytest.fixture(params=[None, (3, 4), (1, 1)], ids=["one block", "small blocks", "no blocks"])
def blocks(request, monkeypatch):
    """Small sequences are worked on in several blocks too."""
    if request.param:
        monkeypatch.setattr("mlbook.changepoints.search._ENDS", request.param[0])
        monkeypatch.setattr("mlbook.changepoints.search._STARTS", request.param[1])
