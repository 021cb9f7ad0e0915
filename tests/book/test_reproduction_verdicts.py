"""What a number is said to be beside the paper's: one rule, tried on both sides of its limits."""

import math
from dataclasses import replace

import pytest
from toy_experiment import Toy

from book import reproduction as experiments
from book.reproduction.experiment import Printed, parse
from book.reproduction.verdicts import OTHER_DATA, VERDICTS, compare, judge, judge_column, side
from book.spread import Mean


def exactly(value: float) -> Mean:
    """Ten runs that all gave the same."""
    return Mean(value, 0.0, 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.07", Printed(0.07, 0.005, 0)),
        ("3.0", Printed(3, 0.05, 0)),
        ("3.00", Printed(3, 0.005, 0)),
        ("12", Printed(12, 0.5, 0)),
        ("-0.23", Printed(-0.23, 0.005, 0)),
        ("14 ± 1", Printed(14, 0.5, 1)),
        ("1.34 ± 0.02", Printed(1.34, 0.005, 0.02)),
        ("0.55 ± 1e-11", Printed(0.55, 0.005, 1e-11)),
    ],
)
def test_a_printed_number_keeps_its_digits(text, expected):
    assert parse(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "≈ 1", "0.07 +- 0.01", "1.5%", "about 3"])
def test_words_are_no_number(text):
    with pytest.raises(ValueError, match="a printed number is such as"):
        parse(text)


@pytest.mark.parametrize(
    ("paper", "ours", "expected"),
    [
        ("0.07", exactly(0.075), "matches"),  # half a unit of the last digit, and no more
        ("0.07", exactly(0.0751), "differs"),
        ("0.07", exactly(0.0649), "differs"),
        ("0.070", exactly(0.0705), "matches"),
        ("0.070", exactly(0.0706), "differs"),
        ("3", exactly(3.5), "matches"),
        ("3.0", exactly(3.5), "differs"),
        ("0.07", Mean(0.095, 0.010, 9), "matches"),  # two standard errors more
        ("0.07", Mean(0.0951, 0.010, 9), "differs"),
        ("1.34 ± 0.02", exactly(1.365), "matches"),  # the printed spread more
        ("1.34 ± 0.02", exactly(1.366), "differs"),
        ("1.34 ± 0.02", Mean(1.385, 0.010, 9), "matches"),  # all three
        ("1.34 ± 0.02", Mean(1.386, 0.010, 9), "differs"),
        ("1.34", Mean(1.34, math.nan, 1), "one run"),
    ],
)
def test_matches_within_rounding_two_standard_errors_and_the_printed_spread(paper, ours, expected):
    assert judge("a", {"a": paper}, {"a": ours}) == expected


def test_the_more_runs_the_less_is_allowed():
    result = {"skipped": {}, "scale": "full"}
    experiment = replace(Toy().experiment, paper_numbers={"a": {"loss": "1.00"}})
    for n, expected in ((4, "matches"), (100, "differs")):
        cell = {"mean": 1.1, "sd": 0.1, "median": 1.1, "n": n}
        made = {**result, "summary": {"a": {"loss": cell}}}
        found = judge_column(experiment, made, experiment.columns[0])
        assert [judged.verdict for judged in found] == [expected]


def test_same_ordering_needs_every_clear_pair_and_at_least_one():
    paper = {"a": "0.1", "b": "1.00", "c": "1.01", "d": "3.0"}
    ours = {"a": exactly(0.5), "b": exactly(1.5), "c": exactly(2.0), "d": exactly(3.0)}
    assert [judge(row, paper, ours) for row in "abcd"] == ["same ordering"] * 3 + ["matches"]
    ours["c"] = Mean(2.9, 0.1, 9)  # not clearly below d, as the paper has it
    assert judge("c", paper, ours) == "differs"
    ours["c"] = exactly(3.5)  # on the wrong side of d
    assert judge("c", paper, ours) == "differs"
    assert judge("b", paper, ours) == "same ordering"  # b and c are not clearly apart in the paper
    assert judge("a", {"a": "0.1"}, ours) == "differs"  # nothing to be ordered with
    ours["d"] = Mean(3.0, math.nan, 1)  # a single run is clearly on no side
    assert judge("b", {"b": "1.00", "d": "3.0"}, ours) == "differs"


def test_clearly_apart_is_more_than_both_margins():
    assert side("1.0", "1.1") == 0 and side("1.0", "1.2") == -1 and side("1.2", "1.0") == 1
    assert side(Mean(1, 0.1, 9), Mean(1.4, 0.1, 9)) == 0
    assert side(Mean(1, 0.1, 9), Mean(1.41, 0.1, 9)) == -1
    with pytest.raises(TypeError, match="a ratio has no margin"):
        side(12.0, Mean(1, 0.1, 9))


def test_no_verdict_without_both_numbers():
    assert judge("a", {}, {"a": exactly(1)}) == judge("a", {"a": "1.0"}, {}) == ""


CELL = {"mean": 0.2, "sd": 0.06, "median": 0.2, "n": 9}


def test_comparison_shows_paper_ours_verdict_and_reason():
    toy = Toy()
    reasons = {"a": "why a", ("b", "time"): "only here", "d": "not now", "e": "why e"}
    numbers = {"a": {"loss": "1.0", "time": 1.0}, "b": {"loss": "3.0 ± 0.1"}, "d": {"loss": "9"}}
    numbers["e"] = {"loss": "8"}
    units = [*toy.units("full"), {"row": "e", "seed": 0}]
    experiment = replace(
        toy.experiment, paper_numbers=numbers, reasons=reasons, units=lambda scale: units
    )
    made = {"loss": CELL, "time": {"mean": 9e9, "sd": 9e9, "median": 12345.6, "n": 9}}
    result = {"summary": {"a": made, "b": made | {"loss": CELL | {"mean": 3.1}}}}
    result |= {"skipped": {}, "scale": "book"}
    header, rows, note = compare(experiment, result, None, "")
    assert header == ["", "measure", "paper", "ours", "verdict"] and note == ""
    assert rows == [
        ["a", "Loss", "1.0", "0.200 ± 0.020 (9)", "same ordering: why a"],
        ["b", "Loss", "3.0 ± 0.1", "3.100 ± 0.020 (9)", "matches"],
        ["d", "Loss", "9", "–", "not run: not now"],
        ["e", "Loss", "8", "–", "not run: not at scale book"],
        ["a", "Time", "1", "1e+04", "why a"],  # times are not judged
        ["b", "Time", "–", "1e+04", "only here"],
    ]
    header, rows, _ = compare(experiment, result, "time", "")
    assert header == ["", "paper", "ours", "verdict"] and rows[0][0] == "a" and len(rows) == 2
    with pytest.raises(ValueError, match=r"column must be one of loss, time.*'speed'"):
        compare(experiment, result, "speed", "")


@pytest.mark.parametrize("data", ["changed: 12 pixels high", "stand-in: digits"])
def test_on_other_data_the_cell_says_so_in_place_of_a_verdict(data):
    experiment = replace(Toy().experiment, data=data, reasons={"a": "why a"})
    result = {"summary": {"a": {"loss": CELL}}, "skipped": {}, "scale": "full"}
    _, rows, note = compare(experiment, result, "loss", "")
    word = OTHER_DATA[data.partition(":")[0]]
    assert rows[0] == ["a", "0.2", "0.200 ± 0.020 (9)", f"{word}: why a"]
    assert note == f"No verdict. {word.capitalize()}: {data.partition(': ')[2]}."


def test_words_of_the_paper_are_shown_and_not_judged():
    experiment = replace(Toy().experiment, paper_numbers={}, paper_words={"a": {"loss": "≈ 1"}})
    result = {"summary": {"a": {"loss": CELL}}, "skipped": {}, "scale": "full"}
    _, rows, _ = compare(experiment, result, "loss", "")
    assert rows[0] == ["a", "≈ 1", "0.200 ± 0.020 (9)", ""]


def test_without_paper_numbers_the_table_is_ours_alone():
    experiment = replace(Toy().experiment, paper_numbers={})
    result = {"summary": {"b": {"loss": CELL}}, "skipped": {}, "scale": "full"}
    header, rows, _ = compare(experiment, result, None, "")
    assert header == ["", "Loss", "Time"]
    assert rows == [["a", "–", "–"], ["b", "0.200 ± 0.020 (9)", "–"]]


# All that is declared


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_the_papers_numbers_parse_and_only_the_papers_data_are_judged(name):
    experiment, result = experiments.find(name), experiments.load(name)
    for column in experiment.columns:
        for numbers in experiment.paper_numbers.values():
            if column.key in numbers:
                number = numbers[column.key]
                assert number > 0 if column.ratio else parse(number)
        for judged in judge_column(experiment, result, column):
            if experiment.kind != "same" or column.ratio:
                assert judged.verdict not in VERDICTS
            elif judged.ours and judged.row in experiment.paper_numbers:
                assert judged.verdict in (*VERDICTS, "")


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_a_data_label_is_same_or_says_what_was_changed(name):
    experiment = experiments.find(name)
    if experiment.paper == "All methods":
        assert not experiment.paper_numbers
    else:
        kind, colon, what = experiment.data.partition(": ")
        assert experiment.data == "same" or (kind in OTHER_DATA and colon and len(what) > 20)


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_what_is_not_run_has_a_reason(name):
    experiment, result = experiments.find(name), experiments.load(name)
    for column in experiment.columns if result else ():
        for judged in judge_column(experiment, result, column):
            assert judged.verdict != "not run" or judged.reason, (judged.row, column.key)


def test_reasons_of_law2016_hold_on_the_stored_runs():
    """What they say of the spectral step and of single draws; `law2016.reasons` has the words."""
    checked = 0
    for table in (1, 2, 3):
        name = f"law2016-table{table}"
        experiment, result = experiments.find(name), experiments.load(name)
        columns = {column.key: column for column in experiment.columns}
        plain, step = (
            {j.row: j for j in judge_column(experiment, result, columns[key])}
            for key in ("delta", "delta_spectral")
        )
        for (row, key), reason in (x for x in experiment.reasons.items() if len(x[0]) == 2):
            if reason.endswith("agrees with the spectral step"):
                assert step[row].verdict == "matches"
                checked += 1
            if reason.endswith("agrees without it"):
                assert plain[row].verdict == "matches" and step[row].verdict == "differs"
                checked += 1
            if reason.startswith("single draws of ours lie on both sides"):
                units = [u for u in result["units"] if u["unit"]["row"] == row]
                values = [u["values"][key] for u in units]
                assert min(values) < parse(experiment.paper_numbers[row][key]).value < max(values)
                checked += 1
    assert checked == 10
