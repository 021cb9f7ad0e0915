"""Figures link their source, and the page of the source has the place."""

from pathlib import Path

import pytest

pytest.importorskip("sphinx")
import bs4
import source_pages
from small_site import DRAWING, cell, notebook

pytestmark = pytest.mark.book


def soup(path: Path):
    return bs4.BeautifulSoup(path.read_text(), "html.parser")


def test_every_figure_and_nothing_else_has_a_link(small_site):
    page = soup(small_site / "book" / "page.html")
    links = [(a["href"], a["aria-label"], a.get_text()) for a in page.select(".mlbook-source a")]
    where = "../_modules/book/figures/drawing.html"
    what = "Source of this figure: {} in book/figures/drawing.py"
    assert links == [
        (f"{where}#line", what.format("line"), "source"),
        (f"{where}#moving", what.format("moving"), "source"),
    ]
    before = [link.find_previous_sibling().name for link in page.select(".mlbook-source")]
    assert before == ["img", "div"], "the picture, the explorer"


def test_the_source_is_whole_and_a_function_can_be_linked_to(small_site):
    page = soup(small_site / "_modules" / "book" / "figures" / "drawing.html")
    for number in page.select(".linenos"):
        number.extract()
    (pre,) = page.select("article pre")
    assert pre.get_text() == DRAWING
    found = {place["id"]: place.get_text() for place in pre.select("[id]")}
    assert found["line"] == DRAWING[DRAWING.index("@cache") : DRAWING.index("\n\ndef moving")]
    assert found["moving"] == DRAWING[DRAWING.index("def moving") :]


def test_the_source_names_the_pages_that_use_it(small_site):
    page = soup(small_site / "_modules" / "book" / "figures" / "drawing.html")
    (user,) = page.select("article h1 + p a")
    assert user["href"] == "../../../book/page.html" and user.get_text() == "A page"
    assert page.select_one("article h1").get_text() == "book/figures/drawing.py"


@pytest.mark.parametrize(
    "source, name",
    [
        ("demo.line()", "line"),
        ("demo.line(demo.moving(1))", "line"),
        ("explore(demo.moving, slope=Slider(demo.SLOPES), alt=demo.line)", "moving"),
        ("figure = demo.line()\nfigure", "line"),
        ("demo.moving(1)\ndemo.line()", "line"),
        ("style()\nfor _ in range(2):\n    display(demo.moving(1))", "moving"),
        ("from book.figures.drawing import moving as other\nother(1)", "moving"),
        ("demo.SLOPES", None),
        ("plot(1)", None),
        ("other.line()", None),
        ("!ls\ndemo.line()", None),
    ],
)
def test_the_function_that_draws_a_cell_is_found(source, name, tmp_path):
    (tmp_path / "book" / "figures").mkdir(parents=True)
    (tmp_path / "book" / "figures" / "drawing.py").write_text(DRAWING + "\nSLOPES = [1, 2]\n")
    imports = cell("import other\nfrom book.figures import drawing as demo")
    (tmp_path / "page.ipynb").write_text(notebook(imports, cell(source)))
    found = source_pages.figures(tmp_path, tmp_path / "page.ipynb")
    drawn = found.drawn.get(1)
    assert (drawn and drawn.name) == name
    assert found.modules == {"book.figures.drawing"}


def test_the_list_of_all_modules_is_one_list():
    """Sphinx puts lists between the items of a list, where a list may not be."""
    context = {"body": "<h1>All</h1>\n<ul><li>a</li>\n<ul><li>a.b</li>\n</ul><li>c</li>\n</ul>"}
    source_pages.flat_list(None, "_modules/index", "page.html", context, None)
    assert context["body"] == "<h1>All</h1>\n<ul><li>a</li>\n<li>a.b</li>\n<li>c</li>\n</ul>"
    other = {"body": "<ul><ul></ul></ul>"}
    source_pages.flat_list(None, "_modules/mlbook", "page.html", other, None)
    assert other == {"body": "<ul><ul></ul></ul>"}
