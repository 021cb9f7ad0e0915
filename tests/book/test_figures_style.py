"""The style of a notebook, and tables whose cells are Markdown but not HTML."""

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
import matplotlib as mpl

from book.figures import style
from mlbook.plots import COLORS

pytestmark = pytest.mark.book


def shown(cell):
    """The HTML of a cell on a page: Markdown with tables and formulas, as MyST reads it."""
    parser = pytest.importorskip("markdown_it").MarkdownIt().enable("table")
    dollars = pytest.importorskip("mdit_py_plugins.dollarmath").dollarmath_plugin
    parser.use(dollars, allow_digits=False, allow_space=False)
    html = parser.render(style.table(["head"], [[cell]]).data)
    return html.partition("<td>")[2].partition("</td>")[0]


@pytest.mark.parametrize(
    ("cell", "html"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("<!-- x -->", "&lt;!-- x --&gt;"),
        ("$5 <b>more</b> than $3", "$5 &lt;b&gt;more&lt;/b&gt; than $3"),
        ("a < b, c<d & e", "a &lt; b, c&lt;d &amp; e"),
        ("one<br>two", "one<br>two"),
        ("**bold** *slant*", "<strong>bold</strong> <em>slant</em>"),
        ("[here](#there)", '<a href="#there">here</a>'),
        ("`x<y`", "<code>x&lt;y</code>"),
        ("$x<y$ or z<y", '<span class="math inline">x&lt;y</span> or z&lt;y'),
        ("0.5 ± 0.1", "0.5\xa0±\xa00.1"),
        (3, "3"),
    ],
)
def test_a_cell_is_markdown_but_opens_no_html_tag(cell, html):
    assert shown(cell) == html


def test_a_note_stands_below_the_table():
    rows = "| head |\n| --- |\n| 1 |"
    assert style.table(["head"], [[1]]).data == rows
    assert style.table(["head"], [[1]], "Made `long` ago").data == f"{rows}\n\nMade `long` ago"


def test_book_style_speaks_to_the_notebook(monkeypatch):
    calls = []

    class Shell:
        def run_line_magic(self, *arguments):
            calls.append(arguments)

    monkeypatch.setattr(style, "get_ipython", Shell)
    with mpl.rc_context():
        style.book_style()
        assert mpl.rcParams["svg.hashsalt"] == "mlbook"
        assert mpl.rcParams["axes.prop_cycle"].by_key()["color"] == list(COLORS)
    assert ("matplotlib", "inline") in calls
    assert any("svg" in argument for _, argument in calls)
