"""Articles of built pages, moved to another place."""

import bs4
import kit_pages as kit
import pytest

SITE = "https://who.example/what/"
HTML = """<article><a id="top" href="#top">a</a><a href="mlca.html#x">b</a>
<a href="../no.html">c</a>
<a href="https://d.example">d</a><a class="headerlink" href="#top">#</a><img src="../_images/a.svg">
<label for="i">e</label><input id="i" name="n">
<script type="application/json">{"pictures":["../_static/explore/1.webp"]}</script></article>"""


@pytest.fixture
def moved(tmp_path):
    """The article above, moved with chapter "book/mlca" into one page."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "kmeans.html").write_text(f"<nav>no</nav>{HTML}")

    def move(site):
        part = kit.article(tmp_path, "book/kmeans")
        kit.move(part, "book/kmeans", "../html", site, {"book/kmeans": "k-", "book/mlca": "m-"})
        return part

    return move


@pytest.mark.parametrize("site", ["", SITE])
def test_links_stay_inside_or_lead_to_the_site_or_nowhere(moved, site):
    links = {tag.get_text(): tag.get("href") for tag in moved(site).select("a")}
    assert links.pop("c", None) == (f"{SITE}no.html" if site else None)
    assert links == {"a": "#k-top", "b": "#m-x", "d": "https://d.example"}


def test_a_link_to_the_same_page_leads_to_it_on_the_site():
    assert kit.link("book/a", "#x", SITE, {}) == f"{SITE}book/a.html#x"
    assert kit.link("book/a", "#x", "", {}) == ""


def test_names_differ_from_those_of_other_pages_and_files_are_found(moved):
    part = moved("")
    assert part.find("a")["id"] == "k-top"
    assert part.find("label")["for"] == part.find("input")["id"] == "k-i"
    assert part.find("input")["name"] == "k-n"
    assert part.find("img")["src"] == "../html/_images/a.svg"
    assert '"../html/_static/explore/1.webp"' in part.find("script").string


def test_a_page_without_an_article_is_refused(tmp_path):
    (tmp_path / "a.html").write_text("<p>no</p>")
    with pytest.raises(ValueError, match="no article"):
        kit.article(tmp_path, "a")


def test_styles_come_in_the_order_of_a_page(tmp_path):
    static = tmp_path / "_static"
    static.mkdir()
    for name in ("mlbook.css", "proof.css", "mystnb.1a.css", "other.css"):
        (static / name).touch()
    assert kit.styles(tmp_path) == [
        "_static/mystnb.1a.css", "_static/proof.css", "_static/mlbook.css",
    ]  # fmt: skip


def test_a_document_is_a_page():
    page = bs4.BeautifulSoup(kit.document("T", ["<style></style>"], "<p>x</p>"), "html.parser")
    assert page.title.string == "T" and page.head.style and page.body.p.string == "x"
