"""What a benchmark and a bar are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Size = tuple[int, int]


@dataclass(frozen=True)
class Bar:
    """A promise: a number measured at one size that must not exceed a limit.

    Times are held against bars as processor time (`cpu_ratio`), which other programs hardly
    disturb, and as ratios, which travel from machine to machine. A limit is the promise made to
    users, or 1.4 times what was measured: a function that gets 1.5 times slower misses it.
    """

    what: str
    key: str
    limit: float
    size: Size


@dataclass(frozen=True)
class Benchmark:
    """A function under test, a reference, and the sizes (n, d) to compare them at.

    `make(n, d)` makes the data; `error(data, result)` judges the function's result, and
    `compare(data, result, reference's result)` gives further numbers by name. `code` is the file
    of the library that does the work. `grows` has the expected powers of "n" and "d" in its time;
    they are fitted from `grows_from` rows on. `needs` are the optional modules without which the
    benchmark is skipped, and the extras they are in. The first size is also that of a quick run,
    `tiny` that of the tests.
    """

    name: str
    code: str
    subject: Callable[[Any], Any]
    make: Callable[[int, int], Any]
    sizes: tuple[Size, ...]
    versus: str
    reference: Callable[[Any], Any]
    grows: Mapping[str, float]
    tiny: Size
    bars: tuple[Bar, ...] = ()
    error: Callable[[Any, Any], float] | None = None
    compare: Callable[[Any, Any, Any], dict[str, float]] | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    grows_from: int = 0
    threads: int = 1
