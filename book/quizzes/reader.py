r"""Questions as they are stored: a YAML file for each page.

    questions:
      - question: The metric M is multiplied by 4. By what is the distortion?
        answers:
          - wrong: '2'
            why: Distances are doubled, but the objective adds squared distances.
          - right: '4'
            why: The objective is linear in M.
    answers:
      ex-hand:
        question: What is the distortion?
        value: 14.5
        tolerance: 0.01
        hints:
          - {value: 86.5, say: That is the trace. The distortion is what is left.}

``questions`` is the quiz of the page; a file may also be only that list. Each answer says what to
tell a reader who picks it: why it is right, or which mistake leads to it.

``answers`` are those of exercises that readers type in, by the label of the exercise: the value,
how far from it is still right (by default, rounding), a unit if it has one, and for known mistakes
the value and what to say.

In all texts, ``$...$`` is LaTeX and ``\$`` a dollar sign. An answer of a quiz that is a number
stands in quotes. tests/book/test_quizzes.py computes all numbers again.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import yaml

__all__ = ["Answer", "Hint", "Number", "Question", "read", "read_numbers"]

#: Most answers of one question.
MAX_ANSWERS = 6
#: How far from a value a number may be, relative to it, since computers round.
ROUNDING = 1e-9


class Answer(NamedTuple):
    """An answer, why it is right or wrong, and which of the two."""

    text: str
    why: str
    right: bool


class Question(NamedTuple):
    """A question and its answers, one of which is right."""

    text: str
    answers: tuple[Answer, ...]


class Hint(NamedTuple):
    """A wrong number, and what to tell a reader who finds it."""

    value: float
    say: str


class Number(NamedTuple):
    """A question whose answer is a number, and the exercise it belongs to."""

    label: str
    text: str
    value: float
    tolerance: float
    unit: str
    hints: tuple[Hint, ...]

    def accepts(self, number: float, value: float | None = None) -> bool:
        """Say if a number is the value, up to the tolerance and rounding."""
        value = self.value if value is None else value
        return abs(number - value) <= self.tolerance + ROUNDING * max(1, abs(value))


def read(path: Path) -> tuple[Question, ...]:
    """Return the questions of the quiz in a file.

    Parameters
    ----------
    path : Path
        The file, as in the example at the top of this module.

    Returns
    -------
    tuple of Question
        In the order of the file.

    Raises
    ------
    ValueError
        If the file is malformed. The message names the file, the question and what is wrong
        with it.
    """
    stored = _stored(path)["questions"]
    questions = []
    for number, given in enumerate(stored, start=1):
        try:
            questions.append(_question(given))
        except ValueError as error:
            raise ValueError(f"{path.name}, question {number}: {error}") from error
    return tuple(questions)


def read_numbers(path: Path) -> dict[str, Number]:
    """Return the questions in a file whose answers readers type in, by their exercises.

    Raises
    ------
    ValueError
        As `read`.
    """
    numbers = {}
    for label, given in _stored(path)["answers"].items():
        try:
            numbers[str(label)] = _number(str(label), given)
        except ValueError as error:
            raise ValueError(f"{path.name}, answer {label}: {error}") from error
    return numbers


def _stored(path: Path) -> dict[str, Any]:
    """Return what is in a file, the questions and the answers to exercises."""
    try:
        stored = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{path.name} is not YAML: {error}") from error
    parts = stored if isinstance(stored, dict) else {"questions": stored}
    if set(parts) - {"questions", "answers"} or "questions" not in parts:
        raise ValueError(f"{path.name}: the keys are questions and answers, got {list(parts)}")
    if not isinstance(parts["questions"], list) or not parts["questions"]:
        raise ValueError(f"{path.name} must be a list of questions, got {parts['questions']!r:.80}")
    answers = parts.get("answers", {})
    if not isinstance(answers, dict):
        raise ValueError(f"{path.name}: answers must be given by exercise, got {answers!r:.80}")
    return {"questions": parts["questions"], "answers": answers}


def _number(label: str, given: Any) -> Number:
    """Check one question whose answer is a number."""
    needed, allowed = {"question", "value"}, {"question", "value", "tolerance", "unit", "hints"}
    if not isinstance(given, dict) or not needed <= set(given) <= allowed:
        raise ValueError(f"needs question and value, may have {sorted(allowed)}, got {given!r:.80}")
    if not isinstance(given.get("hints", []), list):
        raise ValueError(f"hints must be a list, got {given['hints']!r:.80}")
    hints = []
    for hint in given.get("hints", []):
        _check_keys(hint, [{"value", "say"}])
        hints.append(Hint(_finite("value", hint), _text("say", hint)))
    tolerance = _finite("tolerance", given) if "tolerance" in given else 0.0
    unit = _text("unit", given) if "unit" in given else ""
    number = Number(
        label, _text("question", given), _finite("value", given), tolerance, unit, tuple(hints)
    )
    if tolerance < 0:
        raise ValueError(f"tolerance must not be negative, got {tolerance}")
    values = [number.value]
    for hint in hints:
        if any(number.accepts(hint.value, value) for value in values):
            raise ValueError(f"hints must be told apart from other values, got {hint.value}")
        values.append(hint.value)
    return number


def _question(given: Any) -> Question:
    """Check one question."""
    _check_keys(given, [{"question", "answers"}])
    if not isinstance(given["answers"], list):
        raise ValueError(f"answers must be a list, got {given['answers']!r:.80}")
    answers = tuple(_answer(answer) for answer in given["answers"])
    texts = [answer.text for answer in answers]
    right = [answer.text for answer in answers if answer.right]
    if not 2 <= len(answers) <= MAX_ANSWERS:
        raise ValueError(f"there must be 2 to {MAX_ANSWERS} answers, got {len(answers)}")
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise ValueError(f"answers must differ, got {twice[0]!r} twice")
    if len(right) != 1:
        raise ValueError(f"exactly one answer must be right, got {right}")
    return Question(_text("question", given), answers)


def _answer(given: Any) -> Answer:
    """Check one answer."""
    _check_keys(given, [{"right", "why"}, {"wrong", "why"}])
    kind = "right" if "right" in given else "wrong"
    return Answer(_text(kind, given), _text("why", given), kind == "right")


def _check_keys(given: Any, allowed: Iterable[set[str]]) -> None:
    if not isinstance(given, dict) or set(given) not in allowed:
        choices = " or ".join(str(sorted(keys)) for keys in allowed)
        raise ValueError(f"the keys {choices} are needed, got {given!r:.80}")


def _finite(key: str, given: dict[str, Any]) -> float:
    """Return the number under a key."""
    value = given[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{key} must be a number, got {value!r}")
    return float(value)


def _text(key: str, given: dict[str, Any]) -> str:
    """Return the text under a key; a number would lose its zeros, so it must be in quotes."""
    text = given[key]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{key} must be text, a number in quotes, got {text!r}")
    return text
