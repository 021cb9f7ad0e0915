"""Stored questions: what is read, and what is refused."""

import copy

import pytest
import yaml

from book.quizzes.reader import Answer, Question, read

pytestmark = pytest.mark.book

GOOD = [
    {
        "question": "1 + 1?",
        "answers": [{"right": "2", "why": "Count."}, {"wrong": "11", "why": "You glued them."}],
    },
    {
        "question": "Is 7 prime?",
        "answers": [{"wrong": "no", "why": "Try."}, {"right": "yes", "why": "Only 1 and 7."}],
    },
]


def stored(folder, content):
    path = folder / "page.yml"
    text = content if isinstance(content, str) else yaml.safe_dump(content, allow_unicode=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_questions_are_read_in_order(tmp_path):
    assert read(stored(tmp_path, GOOD)) == (
        Question("1 + 1?", (Answer("2", "Count.", True), Answer("11", "You glued them.", False))),
        Question(
            "Is 7 prime?", (Answer("no", "Try.", False), Answer("yes", "Only 1 and 7.", True))
        ),
    )


@pytest.mark.parametrize(
    "content, message",
    [
        ("a: [", "page.yml is not YAML: while parsing"),
        ("", "page.yml must be a list of questions, got None"),
        ({"question": "1?"}, "page.yml must be a list of questions, got {'question': '1?'}"),
    ],
)
def test_files_that_are_no_quiz_are_refused(content, message, tmp_path):
    with pytest.raises(ValueError) as refused:
        read(stored(tmp_path, content))
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"question": ""}, "question must be text, a number in quotes, got ''"),
        ({"question": None}, "question must be text, a number in quotes, got None"),
        ({"answers": "yes"}, "answers must be a list, got 'yes'"),
        ({"answers": GOOD[1]["answers"][1:]}, "there must be 2 to 6 answers, got 1"),
        (
            {"answers": [{"wrong": str(i), "why": "a"} for i in range(7)]},
            "there must be 2 to 6 answers, got 7",
        ),
        (
            {"answers": [{"right": "4", "why": "a"}, {"wrong": "4", "why": "b"}]},
            "answers must differ, got '4' twice",
        ),
        (
            {"answers": [{"wrong": "3", "why": "a"}, {"wrong": "4", "why": "b"}]},
            "exactly one answer must be right, got []",
        ),
        (
            {"answers": [{"right": "3", "why": "a"}, {"right": "4", "why": "b"}]},
            "exactly one answer must be right, got ['3', '4']",
        ),
        (
            {"answers": [{"right": "4", "why": " "}, {"wrong": "5", "why": "b"}]},
            "why must be text, a number in quotes, got ' '",
        ),
        (
            {"answers": [{"right": 4, "why": "a"}, {"wrong": "5", "why": "b"}]},
            "right must be text, a number in quotes, got 4",
        ),
        (
            {"answers": [{"right": "4"}, {"wrong": "5", "why": "b"}]},
            "the keys ['right', 'why'] or ['why', 'wrong'] are needed, got {'right': '4'}",
        ),
        ({"hint": "none"}, "the keys ['answers', 'question'] are needed, got"),
    ],
)
def test_malformed_questions_are_refused_by_number(change, message, tmp_path):
    content = copy.deepcopy(GOOD)
    content[1].update(change)
    with pytest.raises(ValueError) as refused:
        read(stored(tmp_path, content))
    assert str(refused.value).startswith(f"page.yml, question 2: {message}")
