"""Claims on the pages."""

import pytest
from bs4 import BeautifulSoup

from book.claims import Claim

pytestmark = pytest.mark.book


@pytest.fixture(scope="module")
def page(small_site):
    return BeautifulSoup((small_site / "book" / "page.html").read_text(), "html.parser")


def test_cells_of_claims_leave_one_mark_that_unfolds_to_the_checks(page):
    (mark,) = page.select("details.mlbook-claims")
    assert mark.summary.text == "✓ 2 claims checked" and not mark.has_attr("open")
    assert [item.text.removesuffix("#") for item in mark.select("li")] == [
        "1 < 2, always. two numbers; 2.",
        "0 < 2, always. two numbers; 2.",
    ]
    for item in mark.select("li"):
        assert item.select_one("a.headerlink")["href"] == f"#{item['id']}"
    assert mark.pre.text.startswith('claim("1 < 2, always.", 1 < 2')
    assert page.text.count("claim(") == 2  # the cells themselves do not show their code


def test_the_list_links_to_the_mark(page):
    row, _ = page.select("table.mlbook-claim-list tbody tr")
    assert [cell.text for cell in row.select("td")] == ["1 < 2, always.", "two numbers", "2"]
    address, _, place = row.a["href"].rpartition("#")
    assert address in ("", "page.html") and page.select_one(f"li#{place}").text.startswith("1 < 2")


def test_the_list_says_how_many_were_checked_how(page):
    from claim_pages import summary

    counted = "There are 2 claims. Of these, 0 are about random data"
    assert counted in page.text.replace("\n", " ")
    claims = [Claim("a", seeds=20), Claim("b", stored=("c",)), Claim("d", cause=True), Claim("e")]
    text = summary(claims)
    assert "4 claims" in text and "1 are about random data" in text and "1 name a cause" in text


def test_every_claim_has_a_place_of_its_own():
    from claim_pages import anchor, mark

    assert "✓ Checked</summary>" in mark([Claim("a")], "x = 1")
    html = BeautifulSoup(mark([Claim("a < b"), Claim("c")], "x = 1"), "html.parser")
    assert html.summary.text == "✓ 2 claims checked"
    places = [item["id"] for item in html.select("li")]
    assert places[0].startswith("claim-a-b-") and places[1].startswith("claim-c-")
    long = [Claim("a" * 50), Claim("a" * 51)]
    assert anchor(long[0]) != anchor(long[1])
