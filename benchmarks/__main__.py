"""Run the benchmarks; write a JSON file, a plot and the verdict on the bars."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from benchmarks.cases import BENCHMARKS
from benchmarks.measure import limit_memory, measure
from benchmarks.missed import reason
from book.sources import closure, fingerprint

ROOT = Path(__file__).resolve().parent.parent
SECONDS = {True: 0.5, False: 8.0}  # for the repeats of one measurement, in a quick run or not
TIME_LIMIT = 300  # seconds for one measurement, the making of its data included
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "metric-learn", "ruptures", "fastcpd")
COLUMNS = "{:<20} {:>10} {:>6}  {:>9}  {:>9}  {:>8}  {:<15}  {:>7}  {:>8}"
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


def machine() -> Line:
    """Describe what the next measurement runs on, and how busy it is."""
    found: Line = {
        "cores": os.cpu_count(),
        "load": load(),
        "processor": platform.machine(),
        "python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def load() -> float | None:
    """Return how many programs were running on average in the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def code(name: str) -> str:
    """Return a hash of all code of the library that a benchmark may run; words do not count."""
    start = ROOT / "mlbook" / f"{BENCHMARKS[name].code}.py"
    files = fingerprint(closure(start, ROOT), ROOT)
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:16]


def run(names: Sequence[str], quick: bool) -> list[Line]:
    """Take all the measurements of the named benchmarks, printing each as it comes.

    Each carries the machine, the load before it began, and the hash of its code.
    """
    print(COLUMNS.format("name", "n", "d", "CPU s", "other s", "ratio", "", "memory", "error"))
    lines: list[Line] = []
    for benchmark in (BENCHMARKS[name] for name in names):
        failed: int | None = None
        for n, d in benchmark.sizes[:1] if quick else benchmark.sizes:
            line: Line = {"name": benchmark.name, "versus": benchmark.versus, "n": n, "d": d}
            line |= {"machine": machine(), "threads": benchmark.threads}
            line["code"] = code(benchmark.name)
            if failed is not None and n > failed:
                line |= {"skipped": f"as with n = {failed:,}"}
            else:
                line |= in_child(benchmark.name, n, d, SECONDS[quick], benchmark.threads)
            if "skipped" in line and failed is None:
                failed = n
            print(show(line), flush=True)
            lines.append(line)
    return lines


def show(line: Line) -> str:
    """Write a measurement as a line of the table."""
    if "skipped" in line:
        return f"{line['name']:<20} {line['n']:>10,} {line['d']:>6}  skipped: {line['skipped']}"
    low, high = line["cpu_ratios"]
    memory, error = line["memory"], line["error"]
    return COLUMNS.format(
        line["name"],
        f"{line['n']:,}",
        line["d"],
        f"{line['cpu_seconds']:.4g}",
        f"{line['reference_cpu_seconds']:.4g}",
        f"{line['cpu_ratio']:.2f} x",
        f"({low:.2f}-{high:.2f})",
        "" if memory is None else f"{memory:.1%}",
        "" if error is None else f"{error:.0e}",
    )


def growth(lines: Sequence[Line], axis: str, least: int = 0) -> float | None:
    """Exponent of the processor time in "n" or "d", the other one fixed.

    It is the slope over the three largest sizes that have at least so many rows.
    """
    other = {"n": "d", "d": "n"}[axis]
    groups: dict[int, list[tuple[float, float]]] = {}
    for line in lines:
        if "cpu_seconds" in line and line["n"] >= least and line[axis]:
            point = np.log(line[axis]), np.log(line["cpu_seconds"])
            groups.setdefault(line[other], []).append(point)
    longest = max(groups.values(), key=len, default=[])
    x, y = np.reshape(sorted(longest)[-3:], (-1, 2)).T
    return float(np.polyfit(x, y, 1)[0]) if len(x) > 1 else None


def judge(lines: Sequence[Line]) -> list[Line]:
    """Hold the bars of the benchmarks that were run against the measurements.

    A bar that was not measured, at its size, has no value.
    """
    found = {(line["name"], line["n"], line["d"]): line for line in lines}
    verdicts = []
    for name in dict.fromkeys(line["name"] for line in lines):
        for bar in BENCHMARKS[name].bars:
            value = found.get((name, *bar.size), {}).get(bar.key)
            passed = None if value is None else value <= bar.limit
            verdict = {"what": bar.what, "value": value, "limit": bar.limit, "passed": passed}
            verdicts.append(verdict | ({"why": reason(bar.what)} if passed is False else {}))
    return verdicts


def summarize(lines: list[Line], quick: bool) -> Line:
    """Put measurements together with what follows from them."""
    exponents = {
        name: {
            axis: growth([x for x in lines if x["name"] == name], axis, BENCHMARKS[name].grows_from)
            for axis in "nd"
        }
        for name in dict.fromkeys(line["name"] for line in lines)
    }
    return {"quick": quick, "measurements": lines, "exponents": exponents, "bars": judge(lines)}


def merge(stored: Line, new: Sequence[Line]) -> Line:
    """Replace the measurements of some benchmarks; what follows from them is found anew.

    Each measurement keeps the machine it was taken on. Benchmarks that no longer exist go.
    """
    names = {line["name"] for line in new}
    kept = [x for x in stored["measurements"] if x["name"] not in names and x["name"] in BENCHMARKS]
    order = {name: i for i, name in enumerate(BENCHMARKS)}
    lines = sorted([*kept, *new], key=lambda line: order[line["name"]])
    return summarize(lines, stored["quick"])


def stale(stored: Line) -> list[str]:
    """Name the benchmarks that are missing or whose code has changed since they were measured."""
    codes: dict[str, set[str]] = {name: set() for name in BENCHMARKS}
    for line in stored["measurements"]:
        codes.get(line["name"], set()).add(line.get("code", ""))
    return [name for name, found in codes.items() if found != {code(name)}]


def read(path: Path) -> Line:
    """Read what `main` wrote.

    Raises
    ------
    ValueError
        If the file is not there or holds something else.
    """
    try:
        stored = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if not isinstance(stored, dict) or not {"quick", "measurements"} <= set(stored):
        raise ValueError(f"{path} holds no measurements")
    return stored


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 1 if a bar was measured and missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"default: all of {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="only the first size of each")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "_build" / "bench" / "benchmarks.json"
    )
    parser.add_argument(
        "--merge", type=Path, metavar="FILE", help="replace the measurements of these names there"
    )
    parser.add_argument(
        "--stale", type=Path, metavar="FILE", help="measure nothing: list what is out of date there"
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

    if options.stale:
        try:
            print("\n".join(stale(read(options.stale))))
        except ValueError as error:
            parser.error(f"--stale: {error}")
        return 0
    if options.merge:
        try:
            stored = read(options.merge)
        except ValueError as error:
            parser.error(f"--merge: {error}")
        if stored["quick"] != options.quick:
            parser.error(f"--merge: quick and other measurements do not mix in {options.merge}")

    busy = load()
    if busy is not None and busy > 0.5:
        print(f"Other programs are running (load {busy:.1f}): expect noise.")
    lines = run(options.names or list(BENCHMARKS), options.quick)
    result = summarize(lines, options.quick)
    if not options.quick:
        print("\nGrowth of the time, as exponents of n and d, and what to expect:")
        for name, found in result["exponents"].items():
            shown = [
                f"{axis}^{found[axis]:.2f} ({axis}^{power:g})"
                for axis, power in BENCHMARKS[name].grows.items()
                if found[axis] is not None
            ]
            print(f"  {name:<20} {'  '.join(shown) or 'not measured'}")
    print("\nBars:" if result["bars"] else "\nNo bars.")
    for bar in result["bars"]:
        verdict = {True: "passed", False: "MISSED", None: "not measured"}[bar["passed"]]
        value = "" if bar["value"] is None else f"{bar['value']:.3g}"
        print(f"  {bar['what']:<56} {value:>9}  at most {bar['limit']:g}: {verdict}")
        if bar.get("why"):
            print(f"    {bar['why']}")
    print()
    write(result, options.output)
    plot(result, options.output.with_suffix(".svg"))
    if options.merge:
        write(merge(read(options.merge), lines), options.merge)
    return int(any(bar["passed"] is False for bar in result["bars"]))


def write(result: Line, path: Path) -> None:
    """Write a JSON file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{uuid4().hex}.part")  # two runs may write at once
    partial.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    partial.replace(path)
    print(f"Written: {path}")


def plot(result: Line, path: Path) -> None:
    """Draw the methods that the book compares, if any of them was measured."""
    try:
        from book.figures.scale import METHODS, time_over_rows
    except ImportError as error:
        print(f"No plot: {error}")
        return
    if not any(x["name"] in METHODS and "seconds" in x for x in result["measurements"]):
        print(f"No plot: none of {', '.join(METHODS)} was measured")
        return
    time_over_rows(result).savefig(path)
    print(f"Written: {path}")


if __name__ == "__main__":
    sys.exit(main())
