"""What an experiment is, and how its numbers are judged beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Number = float | tuple[float, float]  # a mean, or a mean and its spread
Unit = dict[str, Any]  # JSON values, "row" and "seed" among them


@dataclass(frozen=True)
class Column:
    """One measured quantity.

    Parameters
    ----------
    key : str
        Its name in the numbers of a unit.
    title : str
        Its name in tables.
    tolerance : float
        Differences up to this are none: the paper's rounding, and what does not matter.
        For a ratio it is a factor, 3 meaning three times more or less.
    ratio : bool, default=False
        Compare on a logarithmic scale and take the median over units: training times.
    digits : int, default=3
        Digits shown: after the point or, for a ratio, significant.

    Examples
    --------
    >>> Column("loss", "Δ", tolerance=0.02).show((0.0701, 0.012))
    '0.070 ± 0.012'
    """

    key: str
    title: str
    tolerance: float
    ratio: bool = False
    digits: int = 3

    def show(self, number: Number | None) -> str:
        """Write a mean, with its spread if there is one."""
        if number is None:
            return "–"
        mean, spread = _pair(number)
        if self.ratio:
            return f"{mean:.{self.digits}g}" if mean < 1000 else f"{mean:.0e}"
        text = f"{mean:.{self.digits}f}"
        return f"{text} ± {spread:.{self.digits}f}" if isinstance(number, tuple) else text


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper: a list of independent units, and what the paper found.

    Parameters
    ----------
    id : str
        Name for the command line and of the result file, such as "law2016-table1".
    paper, title : str
        Where the numbers come from, and what they are.
    columns : sequence of Column
        What is measured.
    paper_numbers : mapping of row to mapping of column key to number
        The paper's numbers; (mean, spread) where it gives both.
    units : callable
        From a scale ("smoke", "book" or "full") to the list of units: dictionaries of JSON
        values that say all there is to know, with a "row" and a "seed".
    run_unit : callable
        From a unit to a mapping of column keys to numbers; it may leave columns out. An
        ImportError (a package that is not installed) or FileNotFoundError (data that the
        user does not have) leaves out the row.
    what : str, default="table"
        "table", "figure", or "variant" for what the paper does not have.
    data : str, default="same"
        "same" data as in the paper, a "stand-in", or what was changed.
    note : str, default=""
        What a reader of the numbers has to know: settings, subsampling, stand-ins.
    reasons : mapping, default={}
        From a row, or a (row, column key), to the reason why our number is not the
        paper's, or why there is none.

    Examples
    --------
    >>> losses = Column("loss", "Δ", tolerance=0.1)
    >>> experiment = Experiment(
    ...     "toy", "A paper", "One number", [losses], {"method": {"loss": 1.0}},
    ...     units=lambda scale: [{"row": "method", "seed": 0}],
    ...     run_unit=lambda unit: {"loss": 1.05},
    ... )
    >>> [experiment.run_unit(unit) for unit in experiment.units("full")]
    [{'loss': 1.05}]
    """

    id: str
    paper: str
    title: str
    columns: Sequence[Column]
    paper_numbers: Mapping[str, Mapping[str, Number]]
    units: Callable[[str], list[Unit]]
    run_unit: Callable[[Unit], Mapping[str, float]]
    what: str = "table"
    data: str = "same"
    note: str = ""
    reasons: Mapping[str | tuple[str, str], str] = field(default_factory=dict)

    @property
    def rows(self) -> list[str]:
        """The paper's rows, then those that only we have."""
        return list(dict.fromkeys([*self.paper_numbers, *(u["row"] for u in self.units("full"))]))


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
    theirs = {name: scale(_pair(number)[0]) for name, number in paper.items()}
    mine = {name: scale(_pair(number)[0]) for name, number in ours.items()}
    spread = 0.0 if column.ratio else math.hypot(_pair(paper[row])[1], _pair(ours[row])[1])
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


def judge_column(
    experiment: Experiment, result: Mapping[str, Any] | None, column: Column
) -> list[Judged]:
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
    experiment: Experiment, result: Mapping[str, Any] | None, column: str | None, command: str
) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the table; `command` is what makes a result that is None.

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
        return header, [[row, *line] for row, line in cells.items()]
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
    return header, lines


def _ours(column: Column, cells: Mapping[str, Mapping[str, float]]) -> Number | None:
    cell = cells.get(column.key)
    if cell is None:
        return None
    return cell["median"] if column.ratio else (cell["mean"], cell["sd"])


def _pair(number: Number) -> tuple[float, float]:
    return number if isinstance(number, tuple) else (number, 0.0)
