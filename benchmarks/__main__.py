"""Run the benchmarks; write a JSON file, a plot and the verdict on the bars."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import BARS, BENCHMARKS
from benchmarks.measure import limit_memory, measure

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 12  # for the repeats of one measurement
TIME_LIMIT = 300  # seconds for one measurement, the making of its data included
COLUMNS = "{:<19} {:>10} {:>4}  {:>9}  {:>8}  {:<15}  {:>8}  {:>7}  {:>8}"
Line = dict[str, Any]


def in_child(name: str, n: int, d: int, seconds: float, threads: int) -> Line:
    """Measure in a new process, or return why that failed."""
    command = [sys.executable, "-m", "benchmarks", name, "--child", f"{n},{d},{seconds}"]
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(variables, str(threads))}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return {"skipped": f"took more than {TIME_LIMIT} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return {"skipped": last.partition(": ")[2] or last}
    return json.loads(done.stdout.splitlines()[-1])


def run(names: Sequence[str], quick: bool, threads: int) -> list[Line]:
    """Take all the measurements of the named benchmarks, printing each as it comes."""
    print(COLUMNS.format("name", "n", "d", "seconds", "ratio", "(range)", "CPU", "memory", "error"))
    lines: list[Line] = []
    for benchmark in (BENCHMARKS[name] for name in names):
        failed: int | None = None
        for n, d in [benchmark.quick] if quick else benchmark.sizes:
            line: Line = {"name": benchmark.name, "versus": benchmark.versus, "n": n, "d": d}
            if failed is not None and n > failed:
                line |= {"skipped": f"as with n = {failed:,}"}
            else:
                line |= in_child(benchmark.name, n, d, 0 if quick else SECONDS, threads)
            if "skipped" in line and failed is None:
                failed = n
            print(show(line), flush=True)
            lines.append(line)
    return lines


def show(line: Line) -> str:
    """Write a measurement as a line of the table."""
    if "skipped" in line:
        return f"{line['name']:<19} {line['n']:>10,} {line['d']:>4}  skipped: {line['skipped']}"
    low, high = line["ratios"]
    memory, error = line["memory"], line["error"]
    return COLUMNS.format(
        line["name"],
        f"{line['n']:,}",
        line["d"],
        f"{line['seconds']:.4g}",
        f"{line['ratio']:.2f} x",
        f"({low:.2f}-{high:.2f})",
        f"{line['cpu_ratio']:.2f} x",
        "" if memory is None else f"{memory:.1%}",
        "" if error is None else f"{error:.0e}",
    )


def growth(lines: Sequence[Line], axis: str) -> float | None:
    """Exponent of the time in "n" or "d", the other one fixed.

    It is the slope over the three largest sizes, of 10,000 rows and more.
    """
    other = {"n": "d", "d": "n"}[axis]
    groups: dict[int, list[tuple[float, float]]] = {}
    for line in lines:
        if "seconds" in line and line["n"] >= 10_000:
            point = np.log(line[axis]), np.log(line["seconds"])
            groups.setdefault(line[other], []).append(point)
    longest = max(groups.values(), key=len, default=[])
    x, y = np.reshape(sorted(longest)[-3:], (-1, 2)).T
    return float(np.polyfit(x, y, 1)[0]) if len(x) > 1 else None


def judge(lines: Sequence[Line]) -> list[Line]:
    """Hold the bars against the measurements; a bar that was not measured has no value."""
    verdicts = []
    for bar in BARS:
        found = (
            line.get(bar.key)
            for line in lines
            if line["name"] == bar.benchmark and (line["n"], line["d"]) == bar.size
        )
        value = next(found, None)
        passed = None if value is None else value <= bar.limit
        verdicts.append({"what": bar.what, "value": value, "limit": bar.limit, "passed": passed})
    return verdicts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 1 if a bar was measured and missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"default: all of {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one repeat")
    parser.add_argument("--threads", type=int, default=2, help="for BLAS (default: 2)")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "_build" / "bench" / "benchmarks.json"
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; see --help")
    if options.child:
        limit_memory()
        n, d, seconds = options.child.split(",")
        print(json.dumps(measure(BENCHMARKS[options.names[0]], int(n), int(d), float(seconds))))
        return 0

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    if load is not None and load > 0.5:
        print(f"Other programs are running (load {load:.1f}): expect noise.")
    lines = run(options.names or list(BENCHMARKS), options.quick, options.threads)
    names = dict.fromkeys(line["name"] for line in lines)
    exponents = {
        name: {axis: growth([x for x in lines if x["name"] == name], axis) for axis in "nd"}
        for name in names
    }
    print("\nGrowth of the time, as exponents of n and d:")
    for name, found in exponents.items():
        shown = [f"{axis}^{value:.2f}" for axis, value in found.items() if value is not None]
        print(f"  {name:<19} {'  '.join(shown) or 'not measured'}")
    bars = judge(lines)
    print("\nBars:")
    for bar in bars:
        verdict = {True: "passed", False: "MISSED", None: "not measured"}[bar["passed"]]
        value = "" if bar["value"] is None else f"{bar['value']:.3g}"
        print(f"  {bar['what']:<43} {value:>9}  at most {bar['limit']:g}: {verdict}")

    machine = {
        "cores": os.cpu_count(),
        "threads": options.threads,
        "load": load,
        "processor": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    result = {
        "machine": machine,
        "quick": options.quick,
        "measurements": lines,
        "exponents": exponents,
        "bars": bars,
    }
    write(result, options.output)
    return int(any(bar["passed"] is False for bar in bars))


def write(result: Line, path: Path) -> None:
    """Write the JSON file in one step, and the plot beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.part")
    partial.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    partial.replace(path)
    print(f"\nWritten: {path}")
    try:
        from mlbook.demos.scale import time_over_rows
    except ImportError as error:
        print(f"No plot: {error}")
        return
    plot = path.with_suffix(".svg")
    time_over_rows(result).savefig(plot)
    print(f"         {plot}")


if __name__ == "__main__":
    sys.exit(main())
