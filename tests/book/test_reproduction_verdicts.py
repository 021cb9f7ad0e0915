"""What a number is said to be beside the paper's."""

from dataclasses import replace

import pytest
from toy_experiment import LOSS, TIME, Toy

from book.reproduction.verdicts import compare, judge


def test_matches_within_tolerance_and_twice_the_spread():
    paper = {"a": 0.07, "b": 3.0}
    assert judge(LOSS, "a", paper, {"a": (0.09, 0.0), "b": (3.0, 0.0)}) == "matches"
    assert judge(LOSS, "a", paper, {"a": (0.12, 0.015), "b": (3.0, 0.0)}) == "matches"
    assert judge(LOSS, "a", paper, {"a": (0.13, 0.015), "b": (3.0, 0.0)}) == "same ordering"


def test_the_spread_of_the_paper_counts_too():
    ours = {"a": (1.0, 0.0), "b": (3.0, 0.0)}
    assert judge(LOSS, "a", {"a": (1.1, 0.05), "b": 3.0}, ours) == "matches"
    assert judge(LOSS, "a", {"a": (1.1, 0.03), "b": 3.0}, ours) == "same ordering"


def test_a_wide_spread_is_no_excuse():
    assert judge(LOSS, "a", {"a": 3.0}, {"a": (1.5, 1.2)}) == "differs"


def test_same_ordering_needs_every_clear_pair_and_at_least_one():
    paper = {"a": 0.1, "b": 1.0, "c": 1.01, "d": 3.0}
    ours = {"a": (0.5, 0.0), "b": (1.5, 0.0), "c": (2.0, 0.0), "d": (3.0, 0.0)}
    assert [judge(LOSS, r, paper, ours) for r in "abcd"] == ["same ordering"] * 3 + ["matches"]
    ours["c"] = (3.01, 0.0)  # level with d, which the paper puts clearly above it
    assert judge(LOSS, "c", paper, ours) == "differs"
    ours["c"] = (3.5, 0.0)  # on the wrong side of d
    assert judge(LOSS, "c", paper, ours) == "differs"
    assert judge(LOSS, "b", paper, ours) == "same ordering"
    assert judge(LOSS, "a", {"a": 0.1}, ours) == "differs"  # nothing to be ordered with


def test_ratios_are_judged_by_factor():
    paper = {"a": 1.0, "b": 100.0, "c": 1e5}
    assert judge(TIME, "b", paper, {"a": 1.0, "b": 40.0, "c": 1e4}) == "matches"
    assert judge(TIME, "b", paper, {"a": 1.0, "b": 30.0, "c": 1e4}) == "same ordering"
    assert judge(TIME, "b", paper, {"a": 1.0, "b": 2.0, "c": 1e4}) == "differs"


def test_no_verdict_without_both_numbers():
    assert judge(LOSS, "a", {}, {"a": 1.0}) == judge(LOSS, "a", {"a": 1.0}, {}) == ""


def test_comparison_shows_paper_ours_verdict_and_reason():
    toy = Toy()
    reasons = {"a": "why a", ("b", "time"): "only here", "d": "not now", "e": "why e"}
    numbers = {"a": {"loss": 1.0, "time": 1.0}, "b": {"loss": (3.0, 0.1)}, "d": {"loss": 9.0}}
    numbers["e"] = {"loss": 8.0}
    units = [*toy.units("full"), {"row": "e", "seed": 0}]
    experiment = replace(
        toy.experiment, paper_numbers=numbers, reasons=reasons, units=lambda scale: units
    )
    made = {"loss": {"mean": 0.2, "sd": 0.05, "median": 0.2, "n": 3}}
    made["time"] = {"mean": 9e9, "sd": 9e9, "median": 12345.6, "n": 3}
    result = {"summary": {"a": made, "b": made | {"loss": made["loss"] | {"mean": 3.1}}}}
    result |= {"skipped": {}, "scale": "book"}
    header, rows, _ = compare(experiment, result, None, "")
    assert header == ["", "measure", "paper", "ours", "verdict"]
    assert rows == [
        ["a", "Loss", "1.000", "0.200 ± 0.050", "same ordering: why a"],
        ["b", "Loss", "3.000 ± 0.100", "3.100 ± 0.050", "matches"],
        ["d", "Loss", "9.000", "–", "not run: not now"],
        ["e", "Loss", "8.000", "–", "not run: not at scale book"],
        ["a", "Time", "1", "1e+04", "differs: why a"],
        ["b", "Time", "–", "1e+04", "only here"],
    ]
    header, rows, _ = compare(experiment, result, "time", "")
    assert header == ["", "paper", "ours", "verdict"] and rows[0][0] == "a" and len(rows) == 2
    with pytest.raises(ValueError, match=r"column must be one of loss, time.*'speed'"):
        compare(experiment, result, "speed", "")


def test_without_paper_numbers_the_table_is_ours_alone():
    experiment = replace(Toy().experiment, paper_numbers={})
    made = {"loss": {"mean": 0.2, "sd": 0.05, "median": 0.2, "n": 3}}
    header, rows, _ = compare(experiment, {"summary": {"b": made}, "skipped": {}}, None, "")
    assert header == ["", "Loss", "Time"]
    assert rows == [["a", "–", "–"], ["b", "0.200 ± 0.050", "–"]]
