"""The style of a notebook, and tables whose cells are Markdown but not HTML."""

import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
import matplotlib as mpl

from book.figures import style
from mlbook.plots import COLORS

pytestmark = pytest.mark.book


@cache
def parser():
    """What reads the Markdown of outputs when the book is built."""
    from markdown_it.renderer import RendererHTML
    from myst_parser.config.main import MdParserConfig
    from myst_parser.parsers.mdit import create_md_parser

    return create_md_parser(MdParserConfig(gfm_only=True), RendererHTML)


def shown(cell):
    """The HTML of a cell on a page."""
    html = parser().render(style.table(["head", "next"], [[cell, "last"]]).data)
    row = re.fullmatch(r"(?s).*<tbody>\s*<tr>\s*<td>(.*)</td>\s*<td>last</td>\s*</tr>.*", html)
    return row[1]


@pytest.mark.parametrize(
    ("cell", "html"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("<!-- x -->", "&lt;!-- x --&gt;"),
        ("$<b>more</b>$", "$&lt;b&gt;more&lt;/b&gt;$"),
        (r"\`<b>`", "`&lt; b&gt;`"),
        ("```<b>`", "```&lt; b&gt;`"),
        ("http://a.b`<b>`", '<a href="http://a.b%60">http://a.b`</a>&lt; b&gt;`'),
        ("`a\n\n<b>`", "<code>a  &lt; b&gt;</code>"),
        ("`a | <b>` | c", "<code>a | &lt; b&gt;</code> | c"),
        (r"a \| b", "a | b"),
        ("a < b, c<d & e", "a &lt; b, c&lt;d &amp; e"),
        ("**bold** *slant*", "<strong>bold</strong> <em>slant</em>"),
        ("[here](#there)", '<a href="#there">here</a>'),
        ("`x<y`", "<code>x&lt; y</code>"),
        ("0.5 ± 0.1", "0.5\xa0±\xa00.1"),
        (3, "3"),
    ],
)
def test_a_cell_is_markdown_but_opens_no_html_tag(cell, html):
    assert shown(cell) == html


PIECES = [*"`\\<>|$ a3[]()!*_\n\r", "<b>", "</b>", "``", "<!--", "http://a.b"]


@given(st.lists(st.sampled_from(PIECES)))
@settings(deadline=None, max_examples=500)
def test_no_cell_opens_a_tag(pieces):
    html = shown("".join(pieces))
    assert {*re.findall(r"<[^\s>]*", html)} <= {
        *("<code", "</code", "<em", "</em", "<strong", "</strong", "<a", "</a", "<img")
    }


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
