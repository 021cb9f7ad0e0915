"""Places a reader can link to."""

import bs4
import pytest

pytestmark = pytest.mark.book


@pytest.fixture(scope="module")
def page(small_site):
    return bs4.BeautifulSoup((small_site / "book" / "page.html").read_text(), "html.parser")


def test_no_name_stands_twice(page):
    names = [tag["id"] for tag in page.select("[id]")]
    assert len(names) == len(set(names))
    assert len(page.select("div.mlbook-proof")) == 3, "the style sheet knows proofs by their class"


@pytest.mark.parametrize(("name", "kind"), [("bayes", "theorem"), ("hard", "exercise")])
def test_theorems_and_exercises_link_to_themselves(page, name, kind):
    (link,) = page.select(f"#{name} > .admonition-title > a.headerlink")
    assert (link["href"], link["title"]) == (f"#{name}", f"Link to this {kind}")


def test_a_claim_links_to_itself(page):
    places = page.select(".mlbook-claims li")
    assert places and all(p.select_one("a.headerlink")["href"] == f"#{p['id']}" for p in places)


def test_the_field_of_the_search_has_its_id_once(small_site):
    search = bs4.BeautifulSoup((small_site / "search.html").read_text(), "html.parser")
    assert len(search.select("input[name=q]")) == 2
    assert len(search.select("#search-input")) == 1
