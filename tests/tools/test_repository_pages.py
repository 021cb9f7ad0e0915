"""Where the pages show the repository's address, and what they show without one."""

import json
import subprocess
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx")
import repository
import repository_pages
from small_site import ADDRESS

pytestmark = pytest.mark.book


@pytest.mark.parametrize(
    "remote, url",
    [
        ("https://github.com/who/what.git", "https://github.com/who/what"),
        ("git@github.com:who/what.git", "https://github.com/who/what"),
        ("ssh://git@github.com/who/what", "https://github.com/who/what"),
        ("/some/folder", None),
        ("https://example.org/who/what", None),
    ],
)
def test_the_address_is_that_of_the_remote(remote, url, tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert repository.repository_url(tmp_path) is None
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", remote], check=True)
    assert repository.repository_url(tmp_path) == url


def test_the_address_on_githubs_machines(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "who/what")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    assert repository.repository_url(tmp_path) == ADDRESS


@pytest.mark.parametrize("url", [ADDRESS, None])
def test_buttons_are_there_exactly_if_there_is_an_address(url, monkeypatch):
    monkeypatch.setattr(repository_pages, "repository_url", lambda source: url)
    made_up = {"repository_url": "https://github.com/executablebooks/jupyter-book"}
    config = SimpleNamespace(html_theme_options={**made_up, "launch_buttons": {}})
    repository_pages.add_repository(SimpleNamespace(srcdir="."), config)
    options = config.html_theme_options
    assert options.get("repository_url") == url
    assert bool(options.get("launch_buttons")) == bool(url)
    hint = config.myst_substitutions["opened_alone"]
    assert ("git+" in hint) == bool(url) and (url or "pip install .") in hint


def test_the_page_and_its_notebook_name_the_address(small_site):
    assert f"git+{ADDRESS}" in (small_site / "book" / "page.html").read_text()
    (path,) = (small_site / "_sources").rglob("*.ipynb")
    (setup,) = [c for c in json.loads(path.read_text())["cells"] if c["id"] == "setup"]
    assert f'REPOSITORY = "{ADDRESS}"  # its address' in "".join(setup["source"])
    source = (small_site.parent / "book" / "page.ipynb").read_text()
    assert ADDRESS not in source, "only the copy is filled in"


def test_the_setup_cell_is_not_on_the_page(small_site):
    assert "REPOSITORY" not in (small_site / "book" / "page.html").read_text()
