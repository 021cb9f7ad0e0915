"""Slides: what is on them, and that they turn in a browser from file://."""

from pathlib import Path

import bs4
import kit_slides as kit
import pytest

from book.live.figure import HERE, markup
from book.live.metric import first_state

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
PAGE = f"""<article><section id="top"><h1>1. Title</h1><div class="tip admonition">Goals</div>
<section id="one"><h2>1.1. One</h2><p>Long text.</p>
<figure><img src="../_images/a.svg"><figcaption>A picture.</figcaption></figure>
<div class="proof theorem admonition"><p>True.</p></div>
<div class="proof mlbook-proof admonition">Because.</div>
<div class="cell"><details class="mlbook-claims"><ul>
<li>It holds. <span class="mlbook-how">20 seeds.</span><a class="headerlink">#</a></li></ul>
<pre>claim(x)</pre></details></div>
<section id="deep"><h3>1.1.1. Deep</h3>{markup("metric", first_state())}</section></section>
<section id="exercises"><h2>Exercises</h2><figure>No</figure></section>
<section id="summary"><h2>Summary</h2><ul><li>In short.</li></ul></section></section></article>"""


@pytest.fixture
def deck(tmp_path):
    """Slides of the page above."""
    html = tmp_path / "html"
    for path in ("book", "_images", "_static/live", "_static/fonts"):
        (html / path).mkdir(parents=True)
    (html / "book" / "page.html").write_text(PAGE)
    (html / "_images" / "a.svg").write_text(SVG)
    for path in [*HERE.glob("*.js"), *HERE.glob("*.css")]:
        (html / "_static" / "live" / path.name).write_text(path.read_text())
    kit.make_slides(html, tmp_path / "slides", ["book/page"], "")
    return tmp_path / "slides" / "page.html"


def test_each_picture_statement_claim_and_live_figure_has_a_slide(deck):
    page = bs4.BeautifulSoup(deck.read_text(), "html.parser")
    shown = [
        (slide.h2.get_text(), slide.select_one(".bd-article").get_text(" ", strip=True)[:12])
        for slide in page.select(".kit-slide")
    ]
    assert [title for title, _ in shown] == [
        "1. Title", "1.1. One", "1.1. One", "1.1. One", "1.1.1. Deep", "Summary",
    ]  # fmt: skip
    assert [text for _, text in shown[:4]] == ["Goals", "A picture.", "True.", "It holds."]
    assert shown[5][1] == "In short."
    for word in ("Because", "claim(x)", "20 seeds", "Long text", "Exercises"):
        assert word not in page.main.get_text()
    assert page.select_one(".kit-slide:nth-child(5) figure.mlbook-live")


def test_the_files_are_beside_it(deck):
    page = bs4.BeautifulSoup(deck.read_text(), "html.parser")
    files = [tag["src"] for tag in page.select("[src]")]
    files += [tag["href"] for tag in page.select("link")]
    assert "./_images/a.svg" in files and "_static/live/metric.js" in files
    assert all((deck.parent / Path(name)).is_file() for name in files)
    assert "default-src 'none'" in page.select_one("meta[http-equiv]")["content"]


@pytest.mark.browser
def test_slides_turn_with_the_keys_and_live_figures_move(deck, browser):
    from selenium.webdriver.common.keys import Keys

    browser.get_log("browser")
    browser.get(deck.as_uri())
    body = browser.find_element("css selector", "body")

    def now():
        script = "return [...document.querySelectorAll('.kit-now')].map((slide) => slide.id)"
        return browser.execute_script(script)

    assert now() == ["1"]
    for key, slide in [
        (Keys.ARROW_RIGHT, "2"), (Keys.SPACE, "3"), (Keys.ARROW_LEFT, "2"), (Keys.END, "6"),
        (Keys.ARROW_RIGHT, "6"), (Keys.PAGE_UP, "5"),
    ]:  # fmt: skip
        body.send_keys(key)
        assert now() == [slide]
    assert browser.current_url.endswith("#5")
    awake = "return document.querySelector('figure.mlbook-live').mlbookLive !== undefined"
    assert browser.execute_script(awake)
    slider = browser.find_element("css selector", "figure input[type=range]")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert now() == ["5"], "a slider keeps its keys"
    assert browser.get_log("browser") == []
