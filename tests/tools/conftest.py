"""Fixtures shared by the tests of the tools."""

import pytest


@pytest.fixture(scope="session")
def small_site(tmp_path_factory):
    """The folder of the built pages of tests/small_site.py."""
    pytest.importorskip("sphinx_book_theme")
    from small_site import build

    return build(tmp_path_factory.mktemp("site"))
