"""Exercises that check themselves: what is said, and that no oracle is without its exercise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest

import book.checks
from book.checks import check, labels
from book.checks.registry import alike, compare, oracle, oracle_of, shown

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
from book.checks.registry import compare, oracle


@oracle("ex-total")
def total(mine):
    inputs = [[1, 2, 3], [1], [-1, 1]]
    return compare(mine, lambda x: sum(x), inputs, must="It adds\\n all numbers.")


@oracle("ex-four")
def four(mine):
    return None if mine + 0 == 4 else "Count again."
"""


@pytest.fixture
def exercises(tmp_path, monkeypatch):
    """Two exercises, in a chapter that is called made_up."""
    (tmp_path / "made_up.py").write_text(MODULE)
    monkeypatch.setattr(book.checks, "HERE", tmp_path)
    monkeypatch.setattr(book.checks, "__path__", [str(tmp_path)])
    yield
    sys.modules.pop("book.checks.made_up", None)


def said(capsys, label, thing):
    assert check(label, thing) is None
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return out.removesuffix("\n")


def test_a_line_says_right_or_what_differs(exercises, capsys):
    assert said(capsys, "ex-total", sum) == "ex-total: right."
    assert said(capsys, "ex-four", 4) == "ex-four: right."
    assert said(capsys, "ex-four", 5) == "ex-four: not yet. Count again."
    assert said(capsys, "ex-total", lambda x: x[0] + 1) == (
        "ex-total: not yet. For x = [1] your function returned 2. It adds all numbers."
    )
    assert said(capsys, "ex-four", "four").startswith(
        "ex-four: not yet. The check stopped at what you gave it: TypeError: "
    )


def test_an_unknown_exercise_names_the_nearest(exercises):
    assert labels() == {"ex-total": "made_up", "ex-four": "made_up"}
    with pytest.raises(ValueError, match=r"no exercise 'ex-toal'.*did you mean 'ex-total'"):
        check("ex-toal", sum)
    with pytest.raises(ValueError, match=r"must be one of \['ex-four', 'ex-total'\]"):
        check("zzz", sum)


def test_each_exercise_has_one_oracle():
    oracle("test-twice")(alike)
    oracle("test-twice")(alike)  # a module that is loaded again
    assert oracle_of("test-twice") is alike
    with pytest.raises(ValueError, match=r"has an oracle in book\.checks\.registry already"):
        oracle("test-twice")(lambda mine: None)


def test_only_the_smallest_wrong_input_is_said():
    tried = []

    def mine(x, k):
        tried.append(len(x))
        return len(x) + (len(x) > 2) * k

    inputs = [(np.arange(5), 2), (np.arange(1), 2), (np.arange(3), 2)]
    found = compare(mine, lambda x, k: len(x), inputs)
    assert found == "For x = [0, 1, 2], k = 2 your function returned 5."
    assert tried == [1, 3]
    assert compare(lambda x, k: len(x), lambda x, k: len(x), inputs) is None


def test_the_right_answer_is_never_said():
    found = compare(lambda x: 0, lambda x: 987654, [3], must={"It is even.": lambda y, x: y % 2})
    assert found == "For x = 3 your function returned 0. It is even."
    assert "987654" not in found


def test_the_first_property_that_fails_is_said():
    must = {
        "It has a row for each point.": lambda C, n: len(C) == n,
        "Its rows sum to 1.": lambda C, n: np.allclose(np.sum(C, axis=1), 1),
    }
    found = compare(lambda n: np.ones((n, n)), lambda n: np.eye(n), [2, 1], must=must)
    assert found == "For n = 2 your function returned [[1, 1], [1, 1]]. Its rows sum to 1."
    assert compare(lambda n: 7, np.eye, [2], must=must).endswith("It has a row for each point.")


def test_what_a_function_raises_is_said_with_its_input():
    def broken(x):
        raise KeyError("nothing here")

    found = compare(broken, len, [[1, 2]], describe=lambda x: f"{len(x)} numbers")
    assert found == "For 2 numbers your function raised KeyError: 'nothing here'"


def test_a_function_that_changes_its_argument_is_told_so():
    def sort_in_place(x):
        x.sort()
        return x

    given = np.array([2, 1])
    for x in (given, [2, 1]):
        found = compare(sort_in_place, np.sort, [x])
        assert "[2, 1] your function changes its argument. Work on a copy." in found
    assert given.tolist() == [2, 1]
    nested = ([np.zeros(2)], {"a": np.zeros(1)})
    assert compare(lambda x, y: y["a"].sort() or 1, lambda x, y: 1, [nested]) is None
    assert "changes" in compare(lambda x, y: x[0].fill(1) or 1, lambda x, y: 1, [nested])
    assert "changes" in compare(lambda x, y: y.update(b=1) or 1, lambda x, y: 1, [nested])


def test_a_function_is_given_and_returns_something():
    assert compare(3.0, len, [[1]]) == "Give your function itself, without calling it. This is 3."
    assert compare(lambda x: None, len, [[1]]).endswith("Does it end with return?")


@pytest.mark.parametrize(
    "mine, theirs, expected",
    [
        (1 + 1e-12, 1, True),
        (1.01, 1, False),
        ([1, 2], np.array([1.0, 2.0]), True),
        ([[1, 2]], np.array([1.0, 2.0]), False),
        (np.nan, np.nan, True),
        ((1, [2, 3, 4]), (1, np.array([2, 3, 4])), True),
        ((1, [2, 3]), (1, np.array([2, 3, 4])), False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        ({1, 2}, {2, 1}, True),
        ("yes", "yes", True),
        (["a"], ["b"], False),
        (True, True, True),
    ],
)
def test_results_agree_up_to_rounding(mine, theirs, expected):
    assert alike(mine, theirs) is expected


def test_another_comparison_may_be_asked_for():
    swapped = lambda mine, theirs: sorted(mine) == sorted(theirs)  # noqa: E731
    assert compare(lambda x: x[::-1], lambda x: x, [[1, 2]], same=swapped) is None
    assert "returned 5" in compare(lambda x: 5, lambda x: x, [[1, 2]], same=swapped)


def test_values_are_shown_in_a_line():
    assert shown(np.array([[1.0, 1 / 3]])) == "[[1, 0.333333]]"
    assert shown(np.float64(2)) == "2"
    assert shown((1, "a")) == "(1, 'a')"
    assert shown(np.zeros((20, 20))) == "an array of shape (20, 20)"
    assert len(shown(list(range(1000)))) == 160


def test_every_oracle_belongs_to_one_exercise_of_the_book():
    sources = [
        cell.source
        for path in sorted((ROOT / "book").glob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
    ]
    titles = r"\{exercise-start\} .+\n:label: (\S+)"
    exercises = {label for text in sources for label in re.findall(titles, text)}
    registered = [
        label
        for path in book.checks.HERE.glob("[!_]*.py")
        for label in book.checks.REGISTERED.findall(path.read_text())
    ]
    assert len(set(registered)) == len(registered)
    assert set(registered) <= exercises


def test_it_works_outside_the_repository(tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from book.checks import labels; labels()"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
