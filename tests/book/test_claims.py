"""A claim raises when it is false, and when its check says nothing."""

import json

import numpy as np
import pytest

from book import claims
from book.claims import MIME, Claim, FalseClaim, claim, measured


@pytest.fixture
def shown(monkeypatch):
    found = []
    monkeypatch.setattr(claims, "display", found.append)
    monkeypatch.setattr(claims, "_UNTOUCHED", claims._drawn())
    return found


@pytest.fixture
def results(monkeypatch, tmp_path):
    monkeypatch.setattr(claims, "RESULTS", tmp_path)
    units = [
        {"unit": {"row": row, "seed": seed}, "values": {"loss": value}}
        for row, seed, value in [("a", 1, 0.5), ("b", 0, 2.0), ("a", 0, 0.25), ("b", 1, 1.0)]
    ]
    summary = {"a": {"loss": {"n": 2}}, "b": {"loss": {"n": 2}, "time": {"n": 1}}}
    (tmp_path / "toy.json").write_text(json.dumps({"summary": summary, "units": units}))
    (tmp_path / "times.json").write_text("{}")


def test_a_true_claim_is_shown_with_its_check(shown):
    claim("A.", np.ones(3, bool), gone=np.True_, data="d", seeds=20, number=1 / 3)
    assert shown == [Claim("A.", "d", 20, (), None, "0.333", True)]
    assert shown[0].how == "d; 20 seeds; without the cause the effect is gone; 0.333"
    data = shown[0]._repr_mimebundle_()[MIME]
    assert json.loads(json.dumps(data))["seeds"] == 20


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (False, r"^A\. \(condition fails\)$"),
        (np.False_, "condition fails"),
        ([True, False, False], "condition fails in 2 of 3 cases, first in 1"),
        (np.array([[True, True], [False, True]]), "in 1 of 4 cases, first in 2"),
    ],
)
def test_a_false_claim_raises(shown, condition, message):
    with pytest.raises(FalseClaim, match=message):
        claim("A.", condition, data="d")
    assert shown == []


def test_an_effect_that_stays_without_its_cause_raises(shown):
    with pytest.raises(FalseClaim, match="gone fails"):
        claim("A.", True, gone=False, data="d")
    assert shown == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": " "}, "text must be a sentence"),
        ({"condition": []}, "condition must be true or false"),
        ({"condition": 1}, "condition must be true or false"),
        ({"condition": None}, "condition must be true or false"),
        ({"gone": 0.5}, "gone must be true or false"),
        ({"data": ""}, "data must say"),
        ({"seeds": 19}, "seeds must be an integer of at least 20, got 19"),
        ({"seeds": 20.0}, "seeds must be"),
        ({"stored": "nowhere"}, "stored must name a file"),
    ],
)
def test_a_check_that_says_nothing_is_refused(shown, arguments, message):
    given = {"text": "A.", "condition": True, "data": "d"} | arguments
    with pytest.raises(ValueError, match=message):
        claim(**given)
    assert shown == []


def test_a_draw_without_a_seed_is_refused(shown, monkeypatch):
    state = np.random.get_state()  # noqa: NPY002
    monkeypatch.setattr(claims, "_UNTOUCHED", claims._drawn())
    try:
        np.random.random()  # noqa: NPY002
        with pytest.raises(ValueError, match="give every draw its seed"):
            claim("A.", True, data="d")
    finally:
        np.random.set_state(state)  # noqa: NPY002
    claim("A.", True, data="d")
    assert len(shown) == 1


def test_stored_results_say_how_many_runs_they_have(shown, results):
    claim("A.", True, stored="toy")
    claim("B.", True, stored=["times"])
    assert [made.basis for made in shown] == [
        "stored results of toy, 1 run",
        "stored results of times",
    ]


def test_a_damaged_result_is_named(results):
    path = claims.RESULTS / "toy.json"
    path.write_text(path.read_text()[:40])
    with pytest.raises(ValueError, match=r"toy\.json is damaged \("):
        measured("toy", "a", "loss")


def test_measured_is_in_the_order_of_the_seeds(results):
    np.testing.assert_array_equal(measured("toy", "a", "loss"), [0.25, 0.5])
    np.testing.assert_array_equal(measured("toy", "b", "loss"), [2, 1])
    for row, column in [("c", "loss"), ("a", "time")]:
        with pytest.raises(ValueError, match="toy has no column"):
            measured("toy", row, column)
