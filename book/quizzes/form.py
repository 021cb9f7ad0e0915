"""How a quiz is shown: as a form that needs neither kernel nor script, and as text.

The form is one block of HTML: a fieldset of native radio buttons for each question and, for
each answer, a sentence that says why it is right or wrong. The sentence of the answer picked
is shown by the style sheet alone. So the block works in the built book from ``file://`` and in
JupyterLab, by mouse, finger and arrow keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from book.quizzes.reader import MAX_ANSWERS, ROUNDING, Number, Question

__all__ = ["Field", "Place", "Quiz"]

LETTERS = "abcdef"
# JupyterLab, where arrow keys walk through the cells, leaves them to elements marked so.
OUR_KEYS = 'data-lm-suppress-shortcuts="true"'


@dataclass(frozen=True)
class Place:
    """Where the build puts the quiz of a page."""

    page: str

    def _repr_html_(self) -> str:
        return f'<div data-quiz="{escape(self.page)}"></div>'


@dataclass(frozen=True, repr=False)
class Quiz:
    """Questions as a notebook shows them.

    Examples
    --------
    >>> from book.quizzes.reader import Answer
    >>> answers = Answer("2", "Count.", True), Answer("11", "You glued them.", False)
    >>> Quiz((Question("1 + 1?", answers),))
    1. 1 + 1?
       a) 2
       b) 11
    <BLANKLINE>
    Answers
    1. a) Count.
    """

    questions: tuple[Question, ...]

    def __repr__(self) -> str:
        """Return the questions as text, and the right answers with their reasons below them."""
        asked, answered = [], ["Answers"]
        for number, question in enumerate(self.questions, start=1):
            asked.append(f"{number}. {question.text}")
            for letter, answer in zip(LETTERS, question.answers, strict=False):
                asked.append(f"   {letter}) {answer.text}")
                if answer.right:
                    answered.append(f"{number}. {letter}) {answer.why}")
        return "\n".join([*asked, "", *answered])

    def _repr_html_(self) -> str:
        """Return the block of HTML. Radio groups belong to their form, so names may repeat."""
        fields = "".join(_field(number, q) for number, q in enumerate(self.questions, start=1))
        return (
            # method=dialog: Enter submits nothing.
            '<form class="mlbook-quiz" method="dialog" autocomplete="off">'
            f"<style>{_STYLE}</style>{fields}"
            f'<button type="reset" {OUR_KEYS}>Start again</button></form>'
        )


@dataclass(frozen=True)
class Field:
    """A question of an exercise with a field for its answer.

    Without a script it is the question alone; mlbook.js shows the field, compares what is typed
    in with the values of the sentences below it, and shows the one that fits.
    """

    number: Number

    def _repr_html_(self) -> str:
        number, name = self.number, f"answer-{escape(self.number.label)}"
        wrong = "<strong>✗ Not yet.</strong>"
        said = [(number.value, "<strong>✓ Right.</strong>")]
        said += [(hint.value, f"{wrong} {_html(hint.say)}") for hint in number.hints]
        reasons = "".join(
            f'<p hidden data-value="{value!r}" data-right="{str(not i).lower()}" '
            f'data-within="{number.tolerance + ROUNDING * max(1, abs(value))!r}">{text}</p>'
            for i, (value, text) in enumerate(said)
        )
        unit = f"<span>{_html(number.unit)}</span>" * bool(number.unit)
        return (
            '<form class="mlbook-answer" method="dialog" autocomplete="off">'
            f'<label for="{name}">{_html(number.text)}</label>'
            f'<div class="mlbook-answer-field" hidden><input id="{name}" type="text" '
            f'autocapitalize="off" spellcheck="false" aria-describedby="{name}-said">{unit}'
            f'<button type="submit">Check</button></div>'
            f'<div id="{name}-said" aria-live="polite" aria-atomic="true">{reasons}'
            f'<p hidden data-else="wrong">{wrong}</p><p hidden data-else="unread">'
            "Type in a number, such as 1.5, 1,5 or 3/4.</p></div></form>"
        )


def _field(number: int, question: Question) -> str:
    """Return one question: its answers, and below them the reasons, all but one hidden."""
    answers = "".join(
        f'<label><input type="radio" name="q{number}" value="{letter}" {OUR_KEYS}>'
        f"<span>{_html(answer.text)}</span></label>"
        for letter, answer in zip(LETTERS, question.answers, strict=False)
    )
    reasons = "".join(
        f'<p data-right="{str(answer.right).lower()}">'
        f"<strong>{'✓ Right.' if answer.right else '✗ Not this one.'}</strong> "
        f"{_html(answer.why)}</p>"
        for answer in question.answers
    )
    return (
        f"<fieldset><legend>{number}. {_html(question.text)}</legend>{answers}"
        f'<div aria-live="polite" aria-atomic="true">{reasons}</div></fieldset>'
    )


def _html(text: str) -> str:
    r"""Escape `text`; the delimiters \( \) of a formula are known to build and JupyterLab."""
    formulas = re.sub(r"(?<!\\)\$(.+?)(?<!\\)\$", r"\\(\1\\)", escape(text))
    return formulas.replace(r"\$", "$")


# Colours come from the page and only underline what words and signs say. The last rule
# undoes the light panel that the book's theme puts under HTML outputs when dark.
_STYLE = """
.mlbook-quiz { margin: 1rem 0; max-width: 44rem; color: inherit; }
.mlbook-quiz fieldset { margin: 0 0 1.5rem; padding: 0; border: 0; min-width: 0; }
.mlbook-quiz legend {
  float: none; width: auto; margin: 0 0 .5rem; padding: 0; font-size: 1em; font-weight: 600;
}
.mlbook-quiz label {
  display: flex; gap: .75rem; align-items: center; min-height: 44px; margin: 0 0 .25rem;
  padding: .25rem .75rem; border: 1px solid #8888; border-radius: 8px; cursor: pointer;
}
.mlbook-quiz label:has(:checked) { border-color: currentColor; }
.mlbook-quiz label:has(:focus-visible) { outline: 2px solid currentColor; outline-offset: -2px; }
.mlbook-quiz input { flex: none; width: 1.1rem; height: 1.1rem; margin: 0; accent-color: #2f7fd0; }
.mlbook-quiz span { min-width: 0; overflow-wrap: anywhere; }
.mlbook-quiz fieldset p {
  display: none; margin: .5rem 0 0; padding: .25rem .75rem; border-left: 4px solid #d55e00;
}
.mlbook-quiz p[data-right="true"] { border-left-color: #009e73; }
.mlbook-quiz button {
  min-height: 44px; padding: .25rem 1rem; color: inherit; background: none;
  border: 1px solid #8888; border-radius: 8px; font: inherit; cursor: pointer;
}
.mlbook-quiz button:focus-visible { outline: 2px solid currentColor; outline-offset: -4px; }
html[data-theme="dark"] .bd-content div.cell_output .text_html:has(form.mlbook-quiz) {
  padding: 0; color: inherit; background: none;
}
@media print { .mlbook-quiz button { display: none; } }
""" + "".join(
    f".mlbook-quiz fieldset:has(label:nth-of-type({i}) :checked) p:nth-of-type({i}) "
    "{ display: block; }\n"
    for i in range(1, MAX_ANSWERS + 1)
)
