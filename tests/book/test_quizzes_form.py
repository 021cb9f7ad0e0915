"""How a quiz is shown: the text, the HTML, the place of it, and a reader with a keyboard."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from book.quizzes import quiz
from book.quizzes.form import Place, Quiz
from book.quizzes.reader import Answer, Question

PAGE = Path(__file__).resolve().parents[2] / "_build" / "html" / "book" / "latent_crf.html"
SUM = Question(
    'What is "1 + 1" & why is it < 3?',
    (
        Answer("11", "You glued them.", False),
        Answer("2", r"Count: $1<2$, for \$0.", True),
        Answer("3", "One too many.", False),
    ),
)
PRIME = Question(
    "Is 7 prime?",
    (Answer("yes", "Only 1 and 7 divide it.", True), Answer("no", "Try.", False)),
)


class Form(HTMLParser):
    """The tags of a quiz with their attributes, and the text of each reason."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "input":
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self.open:
            self.texts[tag][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_text_has_the_questions_and_below_them_the_answers():
    assert repr(Quiz((SUM, PRIME))) == "\n".join(
        [
            '1. What is "1 + 1" & why is it < 3?',
            "   a) 11",
            "   b) 2",
            "   c) 3",
            "2. Is 7 prime?",
            "   a) yes",
            "   b) no",
            "",
            "Answers",
            r"1. b) Count: $1<2$, for \$0.",
            "2. a) Only 1 and 7 divide it.",
        ]
    )


def test_html_is_a_form_of_radio_groups_with_a_reason_for_each_answer():
    form = Form(Quiz((SUM, PRIME))._repr_html_())
    assert form.open == []
    assert form.texts["legend"] == ['1. What is "1 + 1" & why is it < 3?', "2. Is 7 prime?"]
    assert [(i["type"], i["name"], i["value"]) for i in form.all("input")] == [
        ("radio", "q1", "a"),
        ("radio", "q1", "b"),
        ("radio", "q1", "c"),
        ("radio", "q2", "a"),
        ("radio", "q2", "b"),
    ]
    assert form.texts["label"] == ["11", "2", "3", "yes", "no"]
    assert form.texts["p"] == [
        "✗ Not this one. You glued them.",
        r"✓ Right. Count: \(1<2\), for $0.",
        "✗ Not this one. One too many.",
        "✓ Right. Only 1 and 7 divide it.",
        "✗ Not this one. Try.",
    ]
    assert [a["aria-live"] for a in form.all("div")] == ["polite", "polite"]
    assert form.all("script") == [], "a quiz needs no script"
    for control in [*form.all("input"), *form.all("button")]:
        assert "data-lm-suppress-shortcuts" in control, "JupyterLab would take the arrow keys"


def test_the_questions_are_those_of_the_page(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("MLBOOK_STATIC", raising=False)
    assert "⟨C, xxᵀ⟩" in repr(quiz("kmeans"))
    with pytest.raises(ValueError, match=r"page must be one of \[.*'kmeans'.*\], got 'nothing'"):
        quiz("nothing")


def test_the_build_gets_a_place_that_no_question_changes(monkeypatch: pytest.MonkeyPatch):
    """Only the page's name may be in it: a stored output stays good for other questions."""
    monkeypatch.setenv("MLBOOK_STATIC", "1")
    assert quiz("kmeans") == Place("kmeans")
    assert Place("kmeans")._repr_html_() == '<div data-quiz="kmeans"></div>'


# --- in a browser ----------------------------------------------------------------------------


def visible(form: Any) -> list[str]:
    """The reasons that a reader sees."""
    return [p.text for p in form.find_elements("css selector", "p") if p.is_displayed()]


@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_an_answer_picked_by_keyboard_is_explained(browser: Any, tmp_path: Path, mode: str):
    """The same quiz twice on a page, and only the one in use answers."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    html = Quiz((SUM, PRIME))._repr_html_()
    colours = {"light": "#222; background: #fff", "dark": "#ddd; background: #121212"}[mode]
    head = (
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    )
    page = tmp_path / "page.html"
    page.write_text(f'{head}<body style="color: {colours}">{html}{html}', encoding="utf-8")
    size = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    first, second = browser.find_elements("css selector", "form")
    assert visible(first) == []

    press = lambda *keys: ActionChains(browser).send_keys(*keys).perform()  # noqa: E731
    press(Keys.TAB, Keys.SPACE)
    assert visible(first) == ["✗ Not this one. You glued them."]
    press(Keys.ARROW_DOWN)
    assert visible(first) == [r"✓ Right. Count: \(1<2\), for $0."]
    press(Keys.ENTER)
    assert browser.current_url == page.as_uri(), "Enter submits nothing"
    press(Keys.TAB, Keys.ARROW_DOWN)
    assert visible(first)[1] == "✗ Not this one. Try."
    assert visible(second) == []
    press(Keys.TAB, Keys.ENTER)
    assert visible(first) == []

    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    for label in first.find_elements("css selector", "label"):
        assert label.size["height"] >= 44, "too small for a finger"
    reason = first.find_element("css selector", "p")
    same = "return getComputedStyle(arguments[0]).color === getComputedStyle(document.body).color"
    assert browser.execute_script(same, reason), "text keeps the page's colour"


@pytest.mark.book
@pytest.mark.browser
def test_a_quiz_of_the_book_typesets_its_formulas(browser: Any):
    if not PAGE.is_file():
        reason = "the book is not built: run `make book` first"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    from selenium.webdriver.common.keys import Keys

    browser.get(PAGE.as_uri())
    form = browser.find_element("css selector", "form.mlbook-quiz")
    formulas = form.find_elements("css selector", "legend math")
    assert len(formulas) == 2
    assert all(formula.size["width"] > 5 for formula in formulas)
    answer = form.find_element("css selector", "fieldset:nth-of-type(4) label:nth-of-type(3) input")
    answer.send_keys(Keys.SPACE)
    (reason,) = visible(form)
    assert reason.startswith("✓ Right.") and "\\(" not in form.text
