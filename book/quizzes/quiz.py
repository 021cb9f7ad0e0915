"""Multiple-choice questions that answer back, on a page without a kernel or a script.

:func:`quiz` turns questions into one block of HTML: a fieldset of native radio buttons
for each question and, for each answer, a sentence that says why it is right or wrong.
The sentence of the answer picked is shown by the style sheet alone. So the block works
in the built book from ``file://`` and in JupyterLab, by mouse, finger and arrow keys.
In a terminal the same object prints its questions, and the answers below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Question", "Quiz", "quiz"]

#: Most answers of one question.
MAX_ANSWERS = 6
# JupyterLab, where arrow keys walk through the cells, leaves them to elements marked so.
_OUR_KEYS = 'data-lm-suppress-shortcuts="true"'


@dataclass(frozen=True)
class Question:
    r"""One question with its answers.

    Parameters
    ----------
    text : str
        The question. In all texts, ``$...$`` is LaTeX and ``\$`` a dollar sign.
    answers : sequence of (str, str)
        Each answer and what to tell a reader who picks it: why it is right, or which
        mistake leads to it. Two to six, all different.
    right : int
        Position of the right answer in `answers`.

    Raises
    ------
    ValueError
        If a text is empty, two answers are the same (a computed answer may coincide
        with a wrong one), there are fewer than two or more than six of them, or `right`
        is not the position of one.

    Examples
    --------
    >>> question = Question("1 + 1?", [("2", "Count."), ("11", "You glued them.")], right=0)
    >>> question.answers[question.right]
    ('2', 'Count.')
    """

    text: str
    answers: Sequence[tuple[str, str]]
    right: int

    def __post_init__(self) -> None:
        shown = [answer for answer, _ in self.answers]
        twice = next((a for a in shown if shown.count(a) > 1), None)
        if not 2 <= len(shown) <= MAX_ANSWERS:
            raise ValueError(
                f"answers must be 2 to {MAX_ANSWERS}, got {len(shown)} to {self.text!r}"
            )
        if twice is not None:
            raise ValueError(f"answers must differ, got {twice!r} twice to {self.text!r}")
        if self.right not in range(len(shown)):
            raise ValueError(f"right must be 0 to {len(shown) - 1}, got {self.right!r}")
        for text in (self.text, *(text for pair in self.answers for text in pair)):
            if not text.strip():
                raise ValueError(f"no text may be empty, got {text!r} in {self!r}")


@dataclass(frozen=True, repr=False)
class Quiz:
    """Questions as a notebook shows them; made by :func:`quiz`.

    Parameters
    ----------
    questions : tuple of Question
        The questions in order.

    Examples
    --------
    >>> Quiz((Question("1 + 1?", [("2", "Count."), ("11", "You glued them.")], right=0),))
    1. 1 + 1?
       a) 2
       b) 11
    <BLANKLINE>
    Answers
    1. a) Count.
    """

    questions: tuple[Question, ...]

    def __repr__(self) -> str:
        """Return the questions as text, and the answers with their reasons below them."""
        asked, answered = [], ["Answers"]
        for number, question in enumerate(self.questions, start=1):
            letters = [f"   {_letter(i)}) {a}" for i, (a, _) in enumerate(question.answers)]
            asked += [f"{number}. {question.text}", *letters]
            _, why = question.answers[question.right]
            answered.append(f"{number}. {_letter(question.right)}) {why}")
        return "\n".join([*asked, "", *answered])

    def _repr_html_(self) -> str:
        """Return the block of HTML. Radio groups belong to their form, so names may repeat."""
        fields = "".join(_field(number, q) for number, q in enumerate(self.questions, start=1))
        return (
            # method=dialog: Enter submits nothing.
            '<form class="mlbook-quiz mathjax_process" method="dialog" autocomplete="off">'
            f"<style>{_STYLE}</style>{fields}"
            f'<button type="reset" {_OUR_KEYS}>Start again</button></form>'
        )


def quiz(questions: Iterable[Question]) -> Quiz:
    """Show questions that tell the reader at once why an answer is right or wrong.

    Write the call as the last line of a cell.

    Parameters
    ----------
    questions : iterable of Question
        One or more questions.

    Returns
    -------
    Quiz
        Shown by Jupyter as HTML that needs no kernel and no network, and elsewhere as
        text.

    Raises
    ------
    ValueError
        If there is no question, or something else is among them.

    Examples
    --------
    >>> quiz([Question("Is 7 prime?", [("no", "7 = a·b?"), ("yes", "Only 1 and 7.")], right=1)])
    1. Is 7 prime?
       a) no
       b) yes
    <BLANKLINE>
    Answers
    1. b) Only 1 and 7.
    """
    given = tuple(questions)
    if not given or not all(isinstance(question, Question) for question in given):
        raise ValueError(f"questions must be one or more Question objects, got {list(given)}")
    return Quiz(given)


def _letter(position: int) -> str:
    return "abcdef"[position]


def _field(number: int, question: Question) -> str:
    """Return one question: its answers, and below them the reasons, all but one hidden."""
    answers = "".join(
        f'<label><input type="radio" name="q{number}" value="{_letter(i)}" {_OUR_KEYS}>'
        f"<span>{_html(answer)}</span></label>"
        for i, (answer, _) in enumerate(question.answers)
    )
    reasons = "".join(
        f'<p data-right="{str(i == question.right).lower()}">'
        f"<strong>{'✓ Right.' if i == question.right else '✗ Not this one.'}</strong> "
        f"{_html(why)}</p>"
        for i, (_, why) in enumerate(question.answers)
    )
    return (
        f"<fieldset><legend>{number}. {_html(question.text)}</legend>{answers}"
        f'<div aria-live="polite" aria-atomic="true">{reasons}</div></fieldset>'
    )


def _html(text: str) -> str:
    r"""Escape `text`; the delimiters \( \) of a formula are known to the book and to JupyterLab."""
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
