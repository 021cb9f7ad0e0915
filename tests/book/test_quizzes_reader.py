"""Stored questions: what is read, and what is refused."""

import copy

import pytest
import yaml

from book.quizzes.reader import Answer, Hint, Number, Question, read, read_numbers

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
        ({"questions": 3}, "page.yml must be a list of questions, got 3"),
        ({"question": "1?"}, "page.yml: the keys are questions and answers, got ['question']"),
        ({"answers": {}}, "page.yml: the keys are questions and answers, got ['answers']"),
        (
            {"questions": GOOD, "answers": ["1"]},
            "page.yml: answers must be given by exercise, got ['1']",
        ),
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


# --- numbers that readers type in --------------------------------------------------------------

HAND = {
    "question": "What is $1/3$ of 9?",
    "value": 3,
    "tolerance": 0.5,
    "unit": "m",
    "hints": [{"value": 27, "say": "That is three times 9."}],
}


def with_answers(**changes):
    return {"questions": GOOD, "answers": {"ex-hand": HAND | changes}}


def test_answers_to_exercises_stand_beside_the_quiz(tmp_path):
    path = stored(tmp_path, with_answers())
    assert read(path) == read(stored(tmp_path, GOOD))
    path = stored(tmp_path, with_answers())
    hints = (Hint(27, "That is three times 9."),)
    assert read_numbers(path) == {
        "ex-hand": Number("ex-hand", "What is $1/3$ of 9?", 3, 0.5, "m", hints)
    }
    assert read_numbers(stored(tmp_path, GOOD)) == {}
    plain = {"questions": GOOD, "answers": {"a": {"question": "1?", "value": 1}}}
    assert read_numbers(stored(tmp_path, plain))["a"] == Number("a", "1?", 1, 0, "", ())


def test_a_number_is_right_up_to_the_tolerance_and_rounding(tmp_path):
    number = read_numbers(stored(tmp_path, with_answers()))["ex-hand"]
    assert number.accepts(3.5) and number.accepts(2.5) and not number.accepts(3.51)
    exact = number._replace(tolerance=0.0, value=0.3)
    assert exact.accepts(0.1 + 0.2) and not exact.accepts(0.301)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"value": "3"}, "value must be a number, got '3'"),
        ({"value": True}, "value must be a number, got True"),
        ({"value": float("inf")}, "value must be a number, got inf"),
        ({"tolerance": -1}, "tolerance must not be negative, got -1.0"),
        ({"question": 3}, "question must be text, a number in quotes, got 3"),
        ({"hint": "Try."}, "needs question and value, may have ['hints', 'question', "),
        ({"hints": "Try."}, "hints must be a list, got 'Try.'"),
        ({"hints": [{"value": 1}]}, "the keys ['say', 'value'] are needed, got {'value': 1}"),
        (
            {"hints": [{"value": 3.4, "say": "a"}]},
            "hints must be told apart from other values, got 3.4",
        ),
    ],
)
def test_malformed_answers_are_refused_by_exercise(change, message, tmp_path):
    with pytest.raises(ValueError) as refused:
        read_numbers(stored(tmp_path, with_answers(**change)))
    assert str(refused.value).startswith(f"page.yml, answer ex-hand: {message}")
