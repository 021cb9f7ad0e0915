r"""Questions as they are stored: a YAML file for each page, a list of questions in it.

    - question: The metric M is multiplied by 4. By what is the distortion?
      answers:
        - wrong: '2'
          why: Distances are doubled, but the objective adds squared distances.
        - right: '4'
          why: The objective is linear in M.

Each answer says what to tell a reader who picks it: why it is right, or which mistake leads to
it. In all texts, ``$...$`` is LaTeX and ``\$`` a dollar sign. An answer that is a number stands
in quotes, and tests/book/test_quizzes.py computes it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

__all__ = ["Answer", "Question", "read"]

#: Most answers of one question.
MAX_ANSWERS = 6


class Answer(NamedTuple):
    """An answer, why it is right or wrong, and which of the two."""

    text: str
    why: str
    right: bool


class Question(NamedTuple):
    """A question and its answers, one of which is right."""

    text: str
    answers: tuple[Answer, ...]


def read(path: Path) -> tuple[Question, ...]:
    """Return the questions of a file.

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
        If the file is not such a list. The message names the file, the question and what is
        wrong with it.
    """
    try:
        stored = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{path.name} is not YAML: {error}") from error
    if not isinstance(stored, list) or not stored:
        raise ValueError(f"{path.name} must be a list of questions, got {stored!r:.80}")
    questions = []
    for number, given in enumerate(stored, start=1):
        try:
            questions.append(_question(given))
        except ValueError as error:
            raise ValueError(f"{path.name}, question {number}: {error}") from error
    return tuple(questions)


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


def _text(key: str, given: dict[str, Any]) -> str:
    """Return the text under a key; a number would lose its zeros, so it must be in quotes."""
    text = given[key]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{key} must be text, a number in quotes, got {text!r}")
    return text
