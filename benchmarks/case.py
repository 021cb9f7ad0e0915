"""What a benchmark and a bar are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Benchmark:
    """A function under test, a reference, and the sizes (n, d) to compare them at.

    `make(n, d)` makes the data; `error(data, result)` judges the function's result, and
    `compare(data, result, reference's result)` gives further numbers by name. `needs` are
    the optional modules without which the benchmark is skipped, and the extras they are in.
    """

    name: str
    subject: Callable[[Any], Any]
    make: Callable[[int, int], Any]
    sizes: tuple[tuple[int, int], ...]
    versus: str
    reference: Callable[[Any], Any]
    error: Callable[[Any, Any], float] | None = None
    compare: Callable[[Any, Any, Any], dict[str, float]] | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    quick: tuple[int, int] = (400, 12)


@dataclass(frozen=True)
class Bar:
    """A promise: a number of the benchmark at one size that must not exceed a limit."""

    what: str
    benchmark: str
    key: str
    limit: float
    size: tuple[int, int]
