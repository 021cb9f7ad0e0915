"""How the numbers of an experiment are judged beside the paper's: one rule for all pages.

Every number has a margin. That of a number of the paper is half a unit of its last printed digit,
and the spread where the paper prints one; that of ours is two standard errors. Two numbers are
clearly apart if they differ by more than their two margins together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from book.reproduction.experiment import Column, Experiment, Number, parse
from book.spread import Mean, stored_mean

Result = Mapping[str, Any]  # as `book.reproduction.run` returns
VERDICTS = ("matches", "same ordering", "differs")
OTHER_DATA = {"changed": "changed data", "stand-in": "stand-in"}  # in place of a verdict


class Table(NamedTuple):
    """Header and rows for `book.figures.style.table`, and what to say below them."""

    header: list[str]
    rows: list[list[str]]
    note: str = ""


def side(one: Number | Mean, other: Number | Mean) -> int:
    """Return 1 or −1 if one number is clearly above or below the other, 0 if neither.

    Examples
    --------
    >>> side("0.07", Mean(0.090, 0.004, 10)), side("0.07", Mean(0.080, 0.004, 10))
    (-1, 0)
    """
    (a, its_margin), (b, margin) = _value_and_margin(one), _value_and_margin(other)
    apart = abs(a - b) > its_margin + margin + 1e-9  # in floating point, 0.075 − 0.07 > 0.005
    return int(math.copysign(apart, a - b))


def judge(row: str, paper: Mapping[str, Number], ours: Mapping[str, Mean]) -> str:
    """Judge one number beside the paper's, both on the same data.

    "matches": the two are not clearly apart. "same ordering": they are, but every row that the
    paper puts clearly above or below this one is clearly on the same side of it here, and there
    is such a row. "differs": neither. "one run": it has no standard error, so there is no verdict.
    Empty: there is nothing to compare.

    Examples
    --------
    >>> paper = {"a": "1.0", "b": "2.0", "c": "3.0"}
    >>> ours = {"a": Mean(1.2, 0.1, 9), "b": Mean(2.5, 0.1, 9), "c": Mean(2.0, 0.1, 9)}
    >>> [judge(row, paper, ours) for row in paper]
    ['matches', 'differs', 'differs']
    """
    if row not in paper or row not in ours:
        return ""
    if ours[row].n < 2:
        return "one run"
    if side(paper[row], ours[row]) == 0:
        return "matches"
    judged = [name for name in paper if name in ours and ours[name].n > 1]
    others = [name for name in judged if side(paper[row], paper[name])]
    kept = [side(ours[row], ours[name]) == side(paper[row], paper[name]) for name in others]
    return "same ordering" if kept and all(kept) else "differs"


class Judged(NamedTuple):
    """One number beside the paper's, a verdict, and the reason.

    The verdict is one of `judge`, of `OTHER_DATA`, "not run" or "missing"; empty if there is none.
    """

    row: str
    paper: Number | None
    ours: Mean | float | None
    verdict: str
    reason: str


def judge_column(experiment: Experiment, result: Result | None, column: Column) -> list[Judged]:
    """Judge every row of a column; without a result every number is missing.

    Training times are not judged, nor is anything on data that are not the paper's.
    """
    summary, skipped = (result["summary"], result["skipped"]) if result else ({}, {})
    paper = {r: n[column.key] for r, n in experiment.paper_numbers.items() if column.key in n}
    words = {r: n[column.key] for r, n in experiment.paper_words.items() if column.key in n}
    cells = {r: cells[column.key] for r, cells in summary.items() if column.key in cells}
    means = {row: stored_mean(cell) for row, cell in cells.items()}
    reasons = {**experiment.reasons, **skipped}
    runnable = {unit["row"] for unit in experiment.units("full")}
    judged = []
    for row in experiment.rows:
        ours, reason = None, ""
        if row in means:
            ours = cells[row]["median"] if column.ratio else means[row]
            reason = reasons.get((row, column.key), reasons.get(row, ""))
            if column.ratio or row not in paper:
                verdict = ""
            elif experiment.kind == "same":
                verdict = judge(row, paper, means)
            else:
                verdict = OTHER_DATA[experiment.kind]
        elif result is None:
            verdict = "missing"
        elif row in {*paper, *words, *skipped}:
            verdict, planned = "not run", row in runnable and row not in skipped
            reason = f"not at scale {result['scale']}" if planned else reasons.get(row, "")
        else:
            continue
        judged.append(Judged(row, paper.get(row, words.get(row)), ours, verdict, reason))
    return judged


def compare(
    experiment: Experiment, result: Result | None, column: str | None, command: str
) -> Table:
    """Make the table; `command` is what makes a result that is None.

    One row for each number: the paper's, ours, a verdict. Where the paper has no numbers, one
    row for each row of the experiment.
    """
    chosen = [c for c in experiment.columns if column in (None, c.key)]
    if not chosen:
        valid = ", ".join(c.key for c in experiment.columns)
        raise ValueError(f"column must be one of {valid} for {experiment.id}; got {column!r}")
    if result and not experiment.paper_numbers and not experiment.paper_words:
        header = ["", *(c.title for c in chosen)]
        cells = {
            c.key: {j.row: j.ours for j in judge_column(experiment, result, c)} for c in chosen
        }
        lines = [[r, *(c.show(cells[c.key].get(r)) for c in chosen)] for r in experiment.rows]
        return Table(header, lines)
    lines = []
    for c in chosen:
        for row, paper, ours, verdict, reason in judge_column(experiment, result, c):
            why = f"`{command}`" if verdict == "missing" else reason
            if why and verdict != "matches":
                verdict = f"{verdict}: {why}" if verdict else why
            lines.append([row, c.title, c.show(paper), c.show(ours), verdict])
    header = ["", "measure", "paper", "ours", "verdict"]
    if column is not None:
        header, lines = [h for h in header if h != "measure"], [[r, *x] for r, _, *x in lines]
    return Table(header, lines, data_line(experiment))


def data_line(experiment: Experiment) -> str:
    """Say below a table why it has no verdicts; nothing if the data are the paper's."""
    return "" if experiment.kind == "same" else f"No verdict. {data_label(experiment.data)}."


def data_label(data: str) -> str:
    """Write the data of an experiment for a reader.

    Examples
    --------
    >>> data_label("same"), data_label("changed: 12 pixels high")
    ("Data: the paper's", 'Changed data: 12 pixels high')
    """
    kind, _, what = data.partition(": ")
    return f"{OTHER_DATA[kind].capitalize()}: {what}" if what else "Data: the paper's"


def _value_and_margin(number: Number | Mean) -> tuple[float, float]:
    """Return the value of a number and its margin."""
    if isinstance(number, Mean):
        return number.mean, 2 * number.error
    if isinstance(number, str):
        value, rounding, spread = parse(number)
        return value, rounding + spread
    raise TypeError(f"a ratio has no margin and is not judged; got {number!r}")
