"""The parts that an experiment is run in, and the time that they take."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

Unit = dict[str, Any]  # JSON values that say all there is to know, "row" and "seed" among them
T = TypeVar("T")


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """Return the value of a function, and the shortest CPU time of up to five calls, in seconds.

    Calls end after a tenth of a second in all: what takes longer is called once.

    Examples
    --------
    >>> value, seconds = timed(lambda: sum(range(1000)))
    >>> value, 0 < seconds < 1
    (499500, True)
    """
    times: list[float] = []
    while len(times) < 5 and sum(times) < 0.1:
        begin = time.process_time()
        value = function()
        times.append(time.process_time() - begin)
    return value, max(min(times), time.get_clock_info("process_time").resolution)
