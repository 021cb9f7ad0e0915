"""The spread of repeated runs: one convention for all pages.

A mean is shown with its standard error, the standard deviation (divisor n − 1) over the square
root of the number n of runs, and with that number: ``0.070 ± 0.004 (10)``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import fmean, stdev
from typing import NamedTuple

__all__ = ["Mean", "mean_and_spread", "mean_of", "stored_mean"]


class Mean(NamedTuple):
    """The mean of some runs, its standard error (NaN for a single run), and their number.

    Examples
    --------
    >>> Mean(0.07, 0.004, 10).show(3)
    '0.070 ± 0.004 (10)'
    >>> Mean(0.07, math.nan, 1).show(2)
    '0.07 (1)'
    """

    mean: float
    error: float
    n: int

    def show(self, digits: int) -> str:
        """Write mean ± standard error (number of runs)."""
        spread = "" if math.isnan(self.error) else f" ± {self.error:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread} ({self.n})"


def mean_of(values: Iterable[float]) -> Mean:
    """Return the mean of some runs with its standard error.

    Examples
    --------
    >>> mean_of([1, 3])
    Mean(mean=2.0, error=1.0, n=2)
    """
    runs = [float(value) for value in values]
    sd = stdev(runs) if len(runs) > 1 else math.nan
    return Mean(fmean(runs), sd / math.sqrt(len(runs)), len(runs))


def stored_mean(cell: Mapping[str, float]) -> Mean:
    """Return the mean that a stored result keeps as "mean", "sd" and "n".

    Examples
    --------
    >>> stored_mean({"mean": 2.0, "sd": 3.0, "median": 2.0, "n": 9})
    Mean(mean=2.0, error=1.0, n=9)
    """
    n = int(cell["n"])
    return Mean(cell["mean"], cell["sd"] / math.sqrt(n) if n > 1 else math.nan, n)


def mean_and_spread(values: Iterable[float], digits: int = 2) -> str:
    """Write the mean of some runs, its standard error, and their number.

    Examples
    --------
    >>> mean_and_spread([1, 2, 3])
    '2.00 ± 0.58 (3)'
    """
    return mean_of(values).show(digits)
