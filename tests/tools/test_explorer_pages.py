"""Explorers become small on the pages of the book, and work there as they did."""

import re
import subprocess
import sys
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from os import environ, pathsep
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

pytest.importorskip("myst_nb")
pytest.importorskip("matplotlib")
pytest.importorskip("selenium")
import explorer_pages
from explorer_pages import with_files
from matplotlib.figure import Figure
from selenium.webdriver.support.ui import WebDriverWait
from small_site import cell, notebook

from mlbook.explore import Slider, explore

pytestmark = pytest.mark.book

TOOLS = Path(explorer_pages.__file__).parent
SETTINGS = """
extensions = ["myst_nb", "explorer_pages", "page_policy"]
html_theme = "basic"
root_doc = "contents"
nb_execution_mode = "off"
"""


def draw(k, way):
    figure = Figure(figsize=(4, 2))
    figure.subplots().plot(np.sin(np.arange(50) * k))
    return figure, f"{way}, k = {k}"


@pytest.fixture(scope="module")
def block():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLBOOK_STATIC", "1")
        k = Slider(range(1, 6), play=True)
        return explore(draw, alt="{k} waves, {way}", k=k, way=["one", "two"]).data


@pytest.fixture(scope="module")
def site(block, tmp_path_factory):
    """A page in a folder with an explorer, and one without; the block is in the notebook."""
    root = tmp_path_factory.mktemp("book")
    (root / "part").mkdir()
    (root / "conf.py").write_text(SETTINGS)
    (root / "contents.md").write_text("# Contents\n\n```{toctree}\npart/page\n```\n")
    text = {"cell_type": "markdown", "id": "text", "metadata": {}, "source": "# A page"}
    page = notebook(text, cell("explore(draw)", {"text/html": block}))
    (root / "part" / "page.ipynb").write_text(page)
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", ".", "built"],
        cwd=root,
        env=environ | {"PYTHONPATH": f"{TOOLS}{pathsep}{TOOLS.parent}"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return root / "built"


def test_pictures_become_files_named_by_their_content(block, tmp_path):
    light = with_files(block, tmp_path / "pictures", "../pictures")
    names = re.findall(r"\.\./pictures/(\w+)\.webp", light)
    files = {path.stem: path.read_bytes() for path in (tmp_path / "pictures").iterdir()}
    assert len(names) == len(set(names)) == 5
    assert set(names) == set(files)
    assert all(sha256(files[name]).hexdigest().startswith(name) for name in files)
    assert all(content[:4] == b"RIFF" for content in files.values())
    assert "data:" not in light.replace("data-longest", "")
    assert "<style>" not in light and "<script>" not in light
    assert len(light) < 3_500 < len(block)
    assert with_files(light, tmp_path / "pictures", "../pictures") == light


def test_only_pages_with_an_explorer_load_its_script(site):
    page, other = ((site / name).read_text() for name in ("part/page.html", "contents.html"))
    assert re.search(r'<script defer="defer" src="\.\./_static/explore\.js', page)
    assert "../_static/explore.css" in page
    assert "explore." not in other
    picture = re.search(r'<img src="([^"]+)"', page[page.index("mlbook-explore") :])[1]
    assert (site / "part" / picture).resolve().is_file()


STATE = """
const image = document.querySelector(".mlbook-explore img");
const width = image.complete && image.naturalWidth;
return [image.alt, image.getAttribute("src"), width, image.clientHeight];
"""


@pytest.mark.browser
def test_the_page_works_from_its_files_under_its_policy(site, browser):
    browser.get_log("browser")
    browser.get((site / "part" / "page.html").as_uri())
    first = browser.execute_script(STATE)
    assert (first[0], first[2]) == ("1 waves, one", 768)
    slider = browser.find_element("css selector", ".mlbook-explore input[type=range]")
    states = [first]
    for _ in range(4):
        slider.send_keys("\ue014")
        states.append(browser.execute_script(STATE))
    assert [state[0] for state in states] == [f"{k} waves, one" for k in range(1, 6)]
    assert len({state[1] for state in states}) == 5
    assert {state[3] for state in states} == {first[3]}
    whole = "return document.querySelector('.mlbook-explore img').decode()"
    browser.execute_script(whole)
    assert browser.execute_script(STATE)[2] == 768
    assert browser.get_log("browser") == []


LOADED = "return performance.getEntriesByType('resource').map((entry) => entry.name)"


@pytest.fixture
def address(site):
    """The address of the pages on a web server: a browser lists what it loads from there."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.browser
def test_pictures_are_loaded_when_they_are_one_step_away(site, address, browser):
    files = re.findall(r"[0-9a-f]{16}\.webp", (site / "part" / "page.html").read_text())
    browser.get(f"{address}/part/page.html")

    def loaded():
        names = {name.rpartition("/")[2] for name in browser.execute_script(LOADED)}
        return [name for name in files if name in names]

    assert loaded() == files[:1]
    browser.execute_script("document.querySelector('.mlbook-explore input').focus()")
    WebDriverWait(browser, 10).until(lambda _: loaded() == files[:2])
    move = "arguments[0].stepUp(); arguments[0].dispatchEvent(new Event('input', {bubbles: true}))"
    slider = browser.find_element("css selector", ".mlbook-explore input[type=range]")
    browser.execute_script(move, slider)
    WebDriverWait(browser, 10).until(lambda _: loaded() == files[:3])
