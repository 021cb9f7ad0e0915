"""Small things that docutils, MyST-NB and the theme write otherwise."""

import pytest

pytest.importorskip("sphinx")
import bs4
import page_nodes

pytestmark = pytest.mark.book


@pytest.fixture(scope="module")
def page(small_site):
    return bs4.BeautifulSoup((small_site / "book" / "page.html").read_text(), "html.parser")


def test_a_formula_stays_with_the_punctuation_after_it(page):
    tied = [span.get_text() for span in page.select(".mlbook-together")]
    assert tied == ["x,", "y)"]
    (paragraph,) = [p.get_text() for p in page.select("article p") if "here, then" in p.get_text()]
    assert "If x, and (y) or z here, then" in paragraph


def test_the_empty_corner_of_a_table_heads_nothing(page):
    first, second = page.select("table:not(.mlbook-claim-list) thead tr > *")
    assert (first.name, first.get_text().strip()) == ("td", "")
    assert (second.name, second.get_text().strip()) == ("th", "b")


def test_a_folded_proof_has_a_title_for_its_button(page):
    (folded,) = page.select("div.admonition.proof.dropdown")
    title, text = folded.find_all("p")
    assert (title["class"], title.get_text()) == (["admonition-title"], "Proof")
    assert text.get_text() == "Long."
    assert "Proof. Clear." in [p.get_text() for p in page.select("div.proof > p")]


def test_the_bibliography_is_a_list_of_items(page):
    (entries,) = page.select('[role="list"].citation-list')
    assert [e["role"] for e in entries.find_all(class_="citation", recursive=False)] == ["listitem"]


def test_a_folded_cell_is_named_by_its_text(page):
    (summary,) = page.select("details.hide > summary")
    assert "aria-label" not in summary.attrs
    assert "Show code" in summary.get_text()


def test_side_bar_and_search_have_one_name_each(page):
    (bar,) = page.select('.bd-sidebar-primary [role="complementary"]')
    assert bar["aria-label"] == "Book" and bar.select("nav")
    written = [script.string for script in page.select("script") if script.string]
    (button,) = [text for text in written if "search-button-field" in text]
    assert "aria-label" not in button and "title=" not in button


def test_nothing_is_loaded_early_or_for_icons_already_drawn(page):
    assert page.select('link[rel="preload"]') == []
    named = [tag.get("src") or tag.get("href") for tag in page.select("script[src], link[href]")]
    assert [name for name in named if "fontawesome" in name] == [], "icons.css has what is needed"
    assert any("bootstrap.js" in script["src"] for script in page.select("script[src]"))


def test_arrows_of_the_side_bar_are_named():
    html = '<details><summary><span class="toctree-toggle"></span></summary></details>'
    soup = bs4.BeautifulSoup(html, "html.parser")
    context = {"generate_toctree_html": lambda kind: soup if kind == "sidebar" else ""}
    page_nodes.name_arrows(None, "page", "page.html", context, None)
    named = context["generate_toctree_html"]("sidebar")
    assert named.summary["aria-label"] == "Pages of this part"
    assert context["generate_toctree_html"]("nothing") == ""
