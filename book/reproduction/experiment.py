"""What an experiment is; what its numbers say beside the paper's is in verdicts.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from book.reproduction.units import Unit

Number = float | tuple[float, float]  # a mean, or a mean and its spread
Numbers = Mapping[str, Mapping[str, Number]]  # by row and key of the column
Reasons = Mapping[str | tuple[str, str], str]  # by row, or by row and key of the column


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
        mean, spread = mean_and_spread(number)
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
    paper_numbers: Numbers
    units: Callable[[str], list[Unit]]
    run_unit: Callable[[Unit], Mapping[str, float]]
    what: str = "table"
    data: str = "same"
    note: str = ""
    reasons: Reasons = field(default_factory=dict)

    @property
    def rows(self) -> list[str]:
        """The paper's rows, then those that only we have."""
        return list(dict.fromkeys([*self.paper_numbers, *(u["row"] for u in self.units("full"))]))


def mean_and_spread(number: Number) -> tuple[float, float]:
    """Return a number's mean and spread, 0 where it has none."""
    return number if isinstance(number, tuple) else (number, 0.0)
