"""One measurement, to be taken in a process of its own."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Benchmark
from mlbook._optional import need

TICK = 1e-9  # seconds; the clock of the processor may stand still
MEMORY_SHARE = 0.7  # of the machine's memory, for one measurement


def measure(benchmark: Benchmark, n: int, d: int, seconds: float) -> dict[str, Any]:
    """Compare a function with its reference at one size.

    Two calls with little data load and compile what is needed. The next call gives the memory, the
    error and the rest. Then reference and function take turns, for about as long as told and at
    least once; each turn gives a ratio.

    Parameters
    ----------
    benchmark : Benchmark
        What to measure.
    n, d : int
        The size.
    seconds : float
        For how long to repeat.

    Returns
    -------
    dict
        "cpu_seconds" and "reference_cpu_seconds" of the fastest turns, as processor time of all
        threads, their "cpu_ratio", and "cpu_ratios", the smallest and the largest within one
        turn; "seconds", "reference_seconds" and "ratio", the same on the wall clock, and there the
        ratio of the medians, "median_ratio"; "first_cpu_seconds", what the first call with little
        data took more than the second: loading and compiling; the number of "repeats";
        "extra_bytes" that the function took beside the data and, as a share of them, "memory";
        "error" where it is known, or None; and what the benchmark compares besides.

    Raises
    ------
    ImportError
        If an optional module that the benchmark needs is missing.
    """
    for module, source in benchmark.needs.items():
        if source:
            need(module, project=module.replace("_", "-"), extra=source)
        elif find_spec(module) is None:
            raise ImportError(f"this needs {module}: pip install {module}")
    tiny = benchmark.make(*benchmark.tiny)
    first, again = (_clock(benchmark.subject, tiny)[1] for _ in range(2))
    data = benchmark.make(n, d)
    before = peak_bytes(reset=True)
    result = benchmark.subject(data)
    extra = peak_bytes() - before
    error = benchmark.error(data, result) if benchmark.error else None
    reference_result = benchmark.reference(data)
    compared = benchmark.compare(data, result, reference_result) if benchmark.compare else {}
    del result, reference_result

    turns: list[tuple[float, float, float, float]] = []
    start = time.perf_counter()
    while not turns or (time.perf_counter() - start < seconds and len(turns) < 50):
        turns.append((*_clock(benchmark.reference, data), *_clock(benchmark.subject, data)))
    reference, reference_cpu, subject, subject_cpu = np.transpose(turns)
    ratios = subject_cpu / np.maximum(reference_cpu, TICK)
    return {
        "cpu_seconds": subject_cpu.min(),
        "reference_cpu_seconds": reference_cpu.min(),
        "cpu_ratio": subject_cpu.min() / max(reference_cpu.min(), TICK),
        "cpu_ratios": [ratios.min(), ratios.max()],
        "seconds": subject.min(),
        "reference_seconds": reference.min(),
        "ratio": subject.min() / reference.min(),
        "median_ratio": float(np.median(subject) / np.median(reference)),
        "first_cpu_seconds": max(0.0, first - again),
        "repeats": len(turns),
        "extra_bytes": extra,
        "memory": extra / data.nbytes if hasattr(data, "nbytes") else None,
        "error": error,
        **compared,
    }


def limit_memory() -> None:
    """Make a function that asks for too much memory fail, before the machine does."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    limit = int(MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def peak_bytes(reset: bool = False) -> int:
    """Return the largest resident memory of this process so far, or since the last reset.

    Only Linux can reset. Elsewhere, and in a process that was larger before, the difference
    of two peaks may be too small.
    """
    folder = Path("/proc/self")
    if not (folder / "clear_refs").exists():
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS
    if reset:
        (folder / "clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s+(\d+) kB", (folder / "status").read_text())
    return int(found[1]) * 1024 if found else 0


def _clock(function: Callable[[Any], Any], data: Any) -> tuple[float, float]:
    """Seconds of one call: on the wall clock, and of all threads' processor time."""
    wall, processor = time.perf_counter(), time.process_time()
    function(data)
    return time.perf_counter() - wall, time.process_time() - processor
