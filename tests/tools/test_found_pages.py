"""What makes a page findable and citable."""

from types import SimpleNamespace
from xml.etree import ElementTree

import bs4
import found_pages
import pytest

pytestmark = pytest.mark.book
SITE = "https://who.example/what/"


@pytest.fixture(scope="module")
def page(small_site):
    return bs4.BeautifulSoup((small_site / "book" / "page.html").read_text(), "html.parser")


def meta(page, **attributes):
    return [tag["content"] for tag in page.find_all("meta", attrs=attributes)]


def test_a_page_says_what_it_is_and_where(page):
    (description,) = meta(page, name="description")
    assert (
        description.startswith("If x") and description == meta(page, property="og:description")[0]
    )
    assert meta(page, property="og:title") == ["A page"]
    assert meta(page, property="og:url") == [f"{SITE}book/page.html"]
    assert meta(page, property="og:image") == [f"{SITE}_static/two_metrics.png"]
    (link,) = page.select('link[rel="canonical"]')
    assert link["href"] == f"{SITE}book/page.html"


def test_the_site_map_has_the_pages_and_no_others(small_site):
    places = ElementTree.parse(small_site / "sitemap.xml").findall(".//{*}loc")
    found = {place.text for place in places}
    assert {f"{SITE}book/page.html", f"{SITE}contents.html"} <= found
    assert not [place for place in found if "search" in place or "genindex" in place]
    assert all(place.startswith(SITE) for place in found)


def test_a_wrong_link_leads_to_a_page_that_works_from_any_folder(small_site):
    lost = bs4.BeautifulSoup((small_site / "404.html").read_text(), "html.parser")
    links = [tag["href"] for tag in lost.select("a.internal[href]")]
    assert links and all(link.startswith(("/what/", "#")) for link in links)
    styles = [tag["href"] for tag in lost.select('link[rel="stylesheet"]')]
    assert styles and all(style.startswith("/what/") for style in styles)


def test_a_page_can_be_cited(page):
    (entry,) = page.select("details.mlbook-cite pre")
    lines = entry.get_text().splitlines()
    assert lines[0] == "@inbook{mlbook-page," and lines[-1] == "}"
    assert "  title     = {A page}," in lines and "  booktitle = {A book}," in lines
    assert f"  url       = {{{SITE}book/page.html}}" in lines


@pytest.mark.parametrize("site", ["", SITE])
def test_without_an_address_nothing_is_said_of_it(site):
    config = SimpleNamespace(
        html_baseurl=site, project="A book", author="A. Who", copyright="2026", root_doc="intro"
    )
    app = SimpleNamespace(config=config)
    tags = '<meta property="og:url" content="x" />\n<meta property="og:title" content="y" />\n'
    context = {"metatags": tags}
    found_pages.drop_addresses(app, "page", "page.html", context, None)
    assert ("og:url" in context["metatags"]) == bool(site) and "og:title" in context["metatags"]
    assert ("url" in found_pages.bibtex("A page", "page", config)) == bool(site)
    home = found_pages.bibtex("Welcome", "intro", config)
    assert home.startswith("@book{mlbook,\n  title     = {A book},") and "Welcome" not in home
