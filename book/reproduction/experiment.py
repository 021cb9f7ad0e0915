"""What an experiment is; what its numbers say beside the paper's is in verdicts.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from book.reproduction.units import Unit
from book.spread import Mean

Number = str | float  # as the paper prints it, or a ratio of its times
Numbers = Mapping[str, Mapping[str, Number]]  # by row and key of the column
Words = Mapping[str, Mapping[str, str]]  # likewise
Reasons = Mapping[str | tuple[str, str], str]  # by row, or by row and key of the column

_PRINTED = re.compile(r"(-?\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?(?:e-\d+)?))?")


class Printed(NamedTuple):
    """A number of a paper: its value, half a unit of its last digit, and the printed spread."""

    value: float
    rounding: float
    spread: float


def parse(text: str) -> Printed:
    """Read a number as a paper prints it, with its digits.

    Examples
    --------
    >>> parse("0.07")
    Printed(value=0.07, rounding=0.005, spread=0.0)
    >>> parse("34.50 ± 0.1")
    Printed(value=34.5, rounding=0.005, spread=0.1)
    """
    found = _PRINTED.fullmatch(text)
    if found is None:
        raise ValueError(f"a printed number is such as 0.07 or 1.34 ± 0.02; got {text!r}")
    value = Decimal(found[1])
    exponent = value.as_tuple().exponent
    rounding = Decimal(5).scaleb(int(exponent) - 1)
    return Printed(float(value), float(rounding), float(found[2] or 0))


@dataclass(frozen=True)
class Column:
    """One measured quantity.

    Parameters
    ----------
    key : str
        Its name in the numbers of a unit.
    title : str
        Its name in tables.
    ratio : bool, default=False
        A training time, as a multiple of another or in seconds: the median over units is shown,
        and there is no verdict, as times of other machines and programs cannot match.
    digits : int, default=3
        Digits shown of ours: after the point or, for a ratio, significant.

    Examples
    --------
    >>> Column("loss", "Δ").show(Mean(0.0701, 0.012, 10))
    '0.070 ± 0.012 (10)'
    >>> Column("loss", "Δ").show("0.07")
    '0.07'
    """

    key: str
    title: str
    ratio: bool = False
    digits: int = 3

    def show(self, number: Number | Mean | None) -> str:
        """Write a number: the paper's as printed, ours with its spread; a dash for none."""
        if number is None:
            return "–"
        if isinstance(number, str):
            return number
        if isinstance(number, Mean):
            return number.show(self.digits)
        return f"{number:.{self.digits}g}" if number < 1000 else f"{number:.0e}"


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
        The paper's numbers as it prints them, such as "0.07" or "1.34 ± 0.02"; in a column of
        ratios, floats.
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
        "same" if data, sizes and protocol are the paper's; else "changed: " or "stand-in: " and
        what exactly. Only on the same data is a number judged.
    note : str, default=""
        What a reader of the numbers has to know: settings, subsampling, stand-ins.
    reasons : mapping, default={}
        From a row, or a (row, column key), to the reason why our number is not the
        paper's, or why there is none.
    paper_words : mapping of row to mapping of column key to str, default={}
        What the paper says in words where it prints no number.

    Examples
    --------
    >>> losses = Column("loss", "Δ")
    >>> experiment = Experiment(
    ...     "toy", "A paper", "One number", [losses], {"method": {"loss": "1.0"}},
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
    paper_numbers: Numbers
    units: Callable[[str], list[Unit]]
    run_unit: Callable[[Unit], Mapping[str, float]]
    what: str = "table"
    data: str = "same"
    note: str = ""
    reasons: Reasons = field(default_factory=dict)
    paper_words: Words = field(default_factory=dict)

    @property
    def rows(self) -> list[str]:
        """The paper's rows, then those that only we have."""
        ours = (unit["row"] for unit in self.units("full"))
        return list(dict.fromkeys([*self.paper_numbers, *self.paper_words, *ours]))

    @property
    def kind(self) -> str:
        """Kind of its data: "same", "changed" or "stand-in"."""
        return self.data.partition(":")[0]
