"""PDFs: what is printed and what is not."""

import re

import bs4
import kit_pages
import kit_print as kit
import pytest

PAGE = """<section><h1>Title</h1><section id="one"><h2>First</h2>
<details class="hide"><summary>Show code</summary>hidden code</details>
<div class="cell tag_claim"><details class="mlbook-claims">claimed</details></div>
<div class="proof dropdown admonition">Proof. It is so.</div>
<figure class="mlbook-explore"><img src="../_images/a.svg"><input type="range"><button>Play</button>
<script type="application/json">{}</script></figure>
</section><section id="exercises"><h2>Exercises</h2>
<div class="exercise admonition">Why?
See <a href="#one">One</a>, <a href="#exercises">this</a></div>
<div class="solution dropdown admonition">Because.</div>
<form class="mlbook-answer"><label>How many?</label><p hidden>You forgot one.</p></form>
</section><section><h2>Summary</h2>The end.</section></section>"""


def part():
    return bs4.BeautifulSoup(PAGE, "html.parser").section


def test_what_is_folded_is_left_out_and_proofs_are_not():
    text = kit.printable(part()).get_text()
    assert not re.search("code|claimed|Because|Play|forgot", text)
    assert all(word in text for word in ("It is so.", "Why?", "How many?", "The end."))
    assert kit.printable(part()).select("script, button, input") == []


def test_a_sheet_is_the_exercises_with_or_without_solutions():
    for solutions in (False, True):
        sheet = kit.exercises_only(kit.printable(part(), solutions))
        text = sheet.get_text()
        assert ("Because." in text) == solutions
        assert "Title" in text and "Why?" in text and "The end." not in text and "First" not in text
    with pytest.raises(ValueError, match="without exercises"):
        kit.exercises_only(bs4.BeautifulSoup("<section><h1>T</h1></section>", "html.parser"))


def test_a_link_to_what_is_left_out_is_plain_text(tmp_path):
    sheet = kit.bound(tmp_path, {"book/a": kit.exercises_only(part())}, "Sheet", "")
    links = bs4.BeautifulSoup(sheet, "html.parser").select("a")
    assert [tag.get_text() for tag in links] == ["this"] and "See One" in sheet


def test_the_book_has_a_list_of_its_pages_that_leads_to_them(tmp_path):
    pages = {"book/a": part(), "book/b/c": part()}
    front = kit.contents(pages, "The book", "A. Who")
    page = bs4.BeautifulSoup(kit.bound(tmp_path, pages, "The book", "", front), "html.parser")
    targets = [tag["href"].removeprefix("#") for tag in page.select(".mlbook-contents a")]
    assert len(targets) == 2 and all(page.find(id=target) for target in targets)
    assert page.title.string == "The book" and "A. Who" in page.get_text()
    assert page.find(id=f"{targets[1]}exercises")
    assert page.img["src"] == f"{tmp_path.as_uri()}/_images/a.svg"


@pytest.mark.browser
def test_a_page_becomes_a_pdf_of_two_pages(tmp_path):
    program = kit.browser()
    if program is None:
        pytest.skip("no browser to print with")
    page = kit_pages.document("T", [], "<p>One.</p><p style='break-before: page'>Two.</p>")
    kit.to_pdf(program, page, tmp_path / "a.pdf")
    assert len(re.findall(rb"/Type /Page\b", (tmp_path / "a.pdf").read_bytes())) == 2


def test_a_browser_that_fails_is_named(tmp_path):
    with pytest.raises(RuntimeError, match=r"false did not print a\.pdf"):
        kit.to_pdf("false", "<p>", tmp_path / "a.pdf")
