"""How the numbers of an experiment are judged beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from book.reproduction.experiment import Column, Experiment, Number, mean_and_spread

Result = Mapping[str, Any]  # as `book.reproduction.run` returns


class Table(NamedTuple):
    """Header and rows for `book.figures.style.table`, and what to say below them."""

    header: list[str]
    rows: list[list[str]]
    note: str = ""


def judge(column: Column, row: str, paper: Mapping[str, Number], ours: Mapping[str, Number]) -> str:
    """Judge one number beside the paper's.

    "matches": they differ by at most the tolerance plus twice the spread, of which no
    more than ten tolerances count, so that nothing matches merely because it scatters.
    "same ordering": not so, but every row that the paper puts clearly (by more than the
    tolerance) above or below this one is clearly on the same side of it here.
    "differs": neither. Empty: there is nothing to compare.

    Examples
    --------
    >>> loss = Column("loss", "loss", tolerance=0.1)
    >>> paper = {"a": 1.0, "b": 2.0, "c": 3.0}
    >>> ours = {"a": (1.3, 0.1), "b": (2.5, 0.1), "c": (2.0, 0.1)}
    >>> [judge(loss, row, paper, ours) for row in paper]
    ['matches', 'differs', 'differs']
    """
    if row not in paper or row not in ours:
        return ""
    scale: Callable[[float], float] = math.log if column.ratio else float
    tolerance = scale(column.tolerance)
    theirs = {name: scale(mean_and_spread(number)[0]) for name, number in paper.items()}
    mine = {name: scale(mean_and_spread(number)[0]) for name, number in ours.items()}
    spreads = [mean_and_spread(numbers[row])[1] for numbers in (paper, ours)]
    spread = 0.0 if column.ratio else math.hypot(*spreads)
    slack = min(2 * spread, 10 * tolerance) + 1e-9  # in floating point, 0.09 − 0.07 > 0.02
    if abs(mine[row] - theirs[row]) <= tolerance + slack:
        return "matches"
    kept = [
        (mine[row] - mine[other]) * math.copysign(1, theirs[row] - theirs[other]) > tolerance
        for other in theirs.keys() & mine.keys()
        if abs(theirs[row] - theirs[other]) > tolerance + 1e-9
    ]
    return "same ordering" if kept and all(kept) else "differs"


class Judged(NamedTuple):
    """One number beside the paper's; a verdict of `judge`, "not run" or "missing"; the reason."""

    row: str
    paper: Number | None
    ours: Number | None
    verdict: str
    reason: str


def judge_column(experiment: Experiment, result: Result | None, column: Column) -> list[Judged]:
    """Judge every row of a column; without a result every number is missing."""
    summary, skipped = (result["summary"], result["skipped"]) if result else ({}, {})
    paper = {r: n[column.key] for r, n in experiment.paper_numbers.items() if column.key in n}
    found = {row: _ours(column, cells) for row, cells in summary.items()}
    ours = {row: number for row, number in found.items() if number is not None}
    reasons = {**experiment.reasons, **skipped}
    runnable = {unit["row"] for unit in experiment.units("full")}
    judged = []
    for row in experiment.rows:
        reason = ""
        if row in ours:
            verdict = judge(column, row, paper, ours)
            reason = reasons.get((row, column.key), reasons.get(row, ""))
        elif result is None:
            verdict = "missing"
        elif row in {*paper, *skipped}:
            verdict, planned = "not run", row in runnable and row not in skipped
            reason = f"not at scale {result['scale']}" if planned else reasons.get(row, "")
        else:
            continue
        judged.append(Judged(row, paper.get(row), ours.get(row), verdict, reason))
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
    summary = result["summary"] if result else {}
    if result and not experiment.paper_numbers:
        header = ["", *(c.title for c in chosen)]
        cells = {r: [c.show(_ours(c, summary.get(r, {}))) for c in chosen] for r in experiment.rows}
        return Table(header, [[row, *line] for row, line in cells.items()])
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
    return Table(header, lines)


def _ours(column: Column, cells: Mapping[str, Mapping[str, float]]) -> Number | None:
    cell = cells.get(column.key)
    if cell is None:
        return None
    return cell["median"] if column.ratio else (cell["mean"], cell["sd"])
