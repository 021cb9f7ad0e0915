"""Answers that readers type in: the field on the page, and what is said to a number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from book.quizzes.form import Field
from book.quizzes.reader import Hint, Number

STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
POINTS = Number(
    "ex-hand",
    r"What is $\frac12\cdot 3$ in \$?",
    1.5,
    0.01,
    "m",
    (Hint(3.0, "You forgot the $\\frac12$."), Hint(-1.5, "Its sign.")),
)
RIGHT, WRONG = "✓ Right.", "✗ Not yet."


def test_without_a_script_it_is_the_question():
    html = Field(POINTS)._repr_html_()
    assert r'<label for="answer-ex-hand">What is \(\frac12\cdot 3\) in $?</label>' in html
    assert html.count("<p ") == html.count("<p hidden") == 5
    assert '<div class="mlbook-answer-field" hidden><input id="answer-ex-hand"' in html
    assert ">1.5" not in html


def page(folder: Path, script: bool = True) -> str:
    path = folder / "page.html"
    script_tag = f'<script src="{(STATIC / "mlbook.js").as_uri()}"></script>' * script
    path.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<link rel="stylesheet" href="{(STATIC / "mlbook.css").as_uri()}">{script_tag}'
        f"<body>{Field(POINTS)._repr_html_()}",
        encoding="utf-8",
    )
    return path.as_uri()


def shown(browser: Any) -> list[str]:
    """The sentences that a reader sees."""
    return [p.text for p in browser.find_elements("css selector", "p") if p.is_displayed()]


@pytest.mark.browser
def test_without_a_script_nothing_can_be_typed_in(browser: Any, tmp_path: Path):
    browser.get(page(tmp_path, script=False))
    assert not browser.find_element("css selector", "input").is_displayed()
    assert not browser.find_element("css selector", "button").is_displayed()
    assert browser.find_element("css selector", "label").is_displayed()


@pytest.mark.browser
def test_what_is_typed_in_is_judged(browser: Any, tmp_path: Path):
    from selenium.webdriver.common.keys import Keys

    size = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page(tmp_path))
    field = browser.find_element("css selector", "input")
    assert shown(browser) == []
    unread = "Type in a number, such as 1.5, 1,5 or 3/4."
    for text, said in {
        "1.5": RIGHT,
        " 1,505 ": RIGHT,
        "3/2": RIGHT,
        "−3 / -2": RIGHT,
        "15e-1": RIGHT,
        ".15E1": RIGHT,
        "1.5 m": RIGHT,
        "1.52": WRONG,
        "0": WRONG,
        "3": rf"{WRONG} You forgot the \(\frac12\).",
        "−1,5": f"{WRONG} Its sign.",
        "": unread,
        "one": unread,
        "1/0": unread,
        "1.5.0": unread,
    }.items():
        field.clear()
        field.send_keys(text, Keys.ENTER)
        assert (text, shown(browser)) == (text, [said])
    field.send_keys("2")
    assert shown(browser) == [], "what was said is about another number"
    field.clear()
    field.send_keys("1.5")
    button = browser.find_element("css selector", "button")
    button.click()
    assert shown(browser) == [RIGHT]
    assert browser.current_url == (tmp_path / "page.html").as_uri(), "nothing is submitted"
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    assert min(field.size["height"], button.size["height"]) >= 44, "too small for a finger"
