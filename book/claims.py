"""What the book claims, each sentence with its check.

A cell of its own, tagged ``claim``, stands below the sentences it checks::

    claim("Whitening changes no partition of MLCA.", same, data="...", seeds=20)

A claim that is false raises: the build fails, and so does nbval. A true one leaves a small mark on
the page, which unfolds to the check, and a row of the page "What this book claims"
(tools/claim_pages.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from html import escape
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from IPython.display import display

__all__ = ["Claim", "FalseClaim", "claim", "measured"]

FEWEST_SEEDS = 20
RESULTS = Path(__file__).parent.parent / "data" / "results"
MIME = "application/vnd.mlbook.claim+json"


class FalseClaim(AssertionError):
    """A sentence of the book that is not true."""


@dataclass(frozen=True)
class Claim:
    """A claim that holds, as a notebook shows it.

    Examples
    --------
    >>> Claim("1 + 1 = 2.", data="integers")
    ✓ 1 + 1 = 2. (integers)
    """

    text: str
    data: str = ""
    seeds: int | None = None
    stored: tuple[str, ...] = ()
    runs: int | None = None
    number: str = ""
    cause: bool = False

    @property
    def basis(self) -> str:
        """Say on what it was checked, and how often."""
        parts = [self.data]
        if self.stored:
            runs = "" if self.runs is None else f", {_counted(self.runs, 'run')}"
            parts.append(f"stored results of {' and '.join(self.stored)}{runs}")
        if self.seeds:
            parts.append(_counted(self.seeds, "seed"))
        if self.cause:
            parts.append("without the cause the effect is gone")
        return "; ".join(part for part in parts if part)

    @property
    def how(self) -> str:
        """Say how it was checked, with the number that came out."""
        return "; ".join(part for part in (self.basis, self.number) if part)

    def __repr__(self) -> str:
        return f"✓ {self.text} ({self.how})"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return it as text, as HTML, and as data for the build."""
        html = f"✓ {escape(self.text)} <small>({escape(self.how)})</small>"
        return {"text/plain": repr(self), "text/html": html, MIME: asdict(self)}


def claim(
    text: str,
    condition: Any,
    *,
    gone: Any = None,
    data: str = "",
    seeds: int | None = None,
    stored: str | Iterable[str] = (),
    number: object = "",
) -> None:
    """State a result of the book; raise if it is false.

    Parameters
    ----------
    text : str
        The sentence: a string in the call itself, without TeX.
    condition : bool or array of bool
        What must hold, in every case.
    gone : bool or array of bool, optional
        For a claim of a cause: whether the effect goes when the cause is removed.
    data : str, default=""
        On what it was checked: "all 52 partitions of five points". May be left out only for
        stored results.
    seeds : int, optional
        For random data: how many draws were checked, at least 20.
    stored : str or iterable of str, default=()
        Names of the files in data/results that were read, as "law2016-table1".
    number : object, default=""
        The number behind the sentence, as text that says what it is; a float is shortened.

    Raises
    ------
    FalseClaim
        If the condition does not hold, or the effect does not go with its cause.
    ValueError
        If the check says nothing: no case, no data, or too few seeds. If a cell before it drew
        random numbers without a seed.

    Examples
    --------
    >>> claim("A square is not negative.", [x * x >= 0 for x in (-2, 0, 3)], data="three numbers")
    ✓ A square is not negative. (three numbers)
    >>> claim("Every number is positive.", [x > 0 for x in (-2, 0, 3)], data="three numbers")
    Traceback (most recent call last):
    ...
    book.claims.FalseClaim: Every number is positive. (condition fails in 2 of 3 cases, first in 0)
    """
    if not (isinstance(text, str) and text.strip()):
        raise ValueError(f"text must be a sentence, got {text!r}")
    if seeds is not None and not (isinstance(seeds, Integral) and seeds >= FEWEST_SEEDS):
        raise ValueError(f"seeds must be an integer of at least {FEWEST_SEEDS}, got {seeds!r}")
    names = (stored,) if isinstance(stored, str) else tuple(stored)
    if not (data or names):
        raise ValueError("data must say on what the claim was checked, got nothing")
    if _drawn() != _UNTOUCHED:
        raise ValueError("a cell drew from numpy's global random numbers: give every draw its seed")
    for name, value in (("condition", condition), ("gone", gone)):
        if value is not None or name == "condition":
            _demand(text, name, value)
    counts = [count for count in map(_runs, names) if count is not None]
    shown = f"{number:.3g}" if isinstance(number, float) else str(number)
    display(
        Claim(
            text,
            data,
            None if seeds is None else int(seeds),
            names,
            min(counts, default=None),
            shown,
            gone is not None,
        )
    )


def _drawn() -> str:
    """Return the state of numpy's global random numbers, which changes with every draw."""
    return str(np.random.get_state(legacy=False))  # noqa: NPY002


_UNTOUCHED = _drawn()


def _demand(text: str, name: str, value: Any) -> None:
    """Raise unless all of it is true."""
    cases = np.asarray(value)
    if cases.dtype != bool or cases.size == 0:
        raise ValueError(f"{name} must be true or false, in at least one case; got {value!r}")
    wrong = np.flatnonzero(~cases)
    if wrong.size == 0:
        return
    which = f" in {wrong.size} of {cases.size} cases, first in {wrong[0]}" if cases.ndim else ""
    raise FalseClaim(f"{text} ({name} fails{which})")


def measured(name: str, row: str, column: str) -> np.ndarray:
    """Return the numbers of a row of a stored experiment, in the order of their seeds.

    Two rows of one experiment are paired where they have the same seeds.

    Examples
    --------
    >>> measured("law2016-table1", "Euclidean", "delta")[:3]
    array([3., 3., 3.])
    """
    units = _stored(name).get("units", [])
    lines = [u for u in units if u["unit"]["row"] == row and column in u["values"]]
    values = {line["unit"]["seed"]: line["values"].get(column) for line in lines}
    if len(values) < len(lines) or not values or None in values.values():
        raise ValueError(f"{name} has no column {column!r} with one number a seed in row {row!r}")
    return np.array([values[seed] for seed in sorted(values)])


def _runs(name: str) -> int | None:
    """Return how many runs each number of a stored experiment has at least; None if unknown."""
    summary = _stored(name).get("summary", {})
    return min((cell["n"] for row in summary.values() for cell in row.values()), default=None)


def _stored(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"stored must name a file of data/results, got {name!r}")
    try:
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error})") from error
    return result


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"
