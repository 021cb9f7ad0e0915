"""Run the units of an experiment, resume what was interrupted, store the result whole.

Every finished unit is appended to a partial file. When all are done the result replaces its
file in one step: it is complete or absent. A stored result is not replaced by one that lacks
some of its rows because a package or data is not there.

A partial file is used again only under the same fingerprint, that is the same experiment,
scale, versions, library sources and kind of machine, and of it only the units that are still
wanted, parameter by parameter.

Units run one after the other, on one thread, so that times within a run can be compared.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

import mlbook
from book.reproduction.experiment import Experiment, Unit

SCALES = ("smoke", "book", "full")
T = TypeVar("T")


def hash_sources(root: Path) -> str:
    """Hash of the Python files below a folder, their names and their contents."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


SOURCES = hash_sources(Path(mlbook.__file__).parent)  # at import: of the code that runs


def run_experiment(
    experiment: Experiment, scale: str, folder: Path | None, progress: bool
) -> dict[str, Any]:
    """Run the units that are not finished yet; given a folder, resume and store there."""
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}; got {scale!r}")
    about = {"id": experiment.id, "scale": scale, "versions": _versions(), "machine": _machine()}
    head = {
        "fingerprint": hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    units: list[Unit] = json.loads(json.dumps(experiment.units(scale)))
    finished: list[dict[str, Any]] = []
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        path = result_path(folder, experiment.id, scale)
        partial = path.with_suffix(".partial")
        head, finished = _read_partial(partial, head, units)
        write_atomically(partial, "".join(json.dumps(line) + "\n" for line in [head, *finished]))

    known = [line["unit"] for line in finished]
    todo = [unit for unit in units if unit not in known]
    skipped: dict[str, str] = {}
    for unit in _progress(todo, len(known), experiment.id) if progress else todo:
        begin = time.perf_counter()
        try:
            with threadpool_limits(1):
                values = {k: float(value) for k, value in experiment.run_unit(unit).items()}
        except (ImportError, FileNotFoundError) as error:  # a package or data is not there
            skipped[unit["row"]] = str(error)
            continue
        if not all(map(math.isfinite, values.values())):
            raise ValueError(f"{experiment.id}: unit {unit} gave {values}, which is not finite")
        seconds = round(time.perf_counter() - begin, 3)
        finished.append({"unit": unit, "values": values, "seconds": seconds})
        if folder is not None:
            with partial.open("a") as file:
                file.write(json.dumps(finished[-1]) + "\n")

    result: dict[str, Any] = {
        **about,
        **head,
        "seconds": round(sum(line["seconds"] for line in finished), 3),
        "summary": summarize(finished),
        "skipped": skipped,
        "units": sorted(finished, key=lambda line: units.index(line["unit"])),
    }
    if folder is not None:
        lost = sorted(skipped.keys() & _stored_rows(path))
        if lost:
            message = f"{path} is kept: it has {', '.join(lost)}, which could not be run now"
            warnings.warn(f"{message} ({skipped[lost[0]]})", stacklevel=2)
        elif finished:
            lines = ",\n".join(json.dumps(line) for line in result["units"])
            text = json.dumps({**result, "units": None}, indent=1)
            text = text.replace('"units": null', f'"units": [\n{lines}\n]')
            write_atomically(path, text + "\n")
            if progress:
                print(f"Stored in {path}", file=sys.stderr)
        partial.unlink()
    return result


def _stored_rows(path: Path) -> set[str]:
    """Rows of the result that is stored there."""
    return set(json.loads(path.read_text())["summary"]) if path.exists() else set()


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


def summarize(finished: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, float]]]:
    """Mean, standard deviation, median and number of units, per row and column.

    Examples
    --------
    >>> summarize([{"unit": {"row": "a", "seed": s}, "values": {"loss": s}} for s in (1, 3)])
    {'a': {'loss': {'mean': 2.0, 'sd': 1.4142135623730951, 'median': 2.0, 'n': 2}}}
    """
    table: dict[str, dict[str, list[float]]] = {}
    for line in finished:
        cells = table.setdefault(line["unit"]["row"], {})
        for key, value in line["values"].items():
            cells.setdefault(key, []).append(value)
    return {row: {key: _moments(v) for key, v in cells.items()} for row, cells in table.items()}


def _moments(values: list[float]) -> dict[str, float]:
    n = len(values)
    sd = stdev(values) if n > 1 else 0.0
    return {"mean": fmean(values), "sd": sd, "median": median(values), "n": n}


def default_folder() -> Path:
    """Return data/results of the repository."""
    return Path(__file__).resolve().parents[2] / "data" / "results"


def result_path(folder: Path, name: str, scale: str) -> Path:
    """Full runs are NAME.json; others carry their scale and never replace a full one."""
    return folder / (f"{name}.json" if scale == "full" else f"{name}-{scale}.json")


def write_atomically(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, whatever happens meanwhile."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _read_partial(
    path: Path, head: dict[str, str], units: list[Unit]
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Head and finished units of a partial file, if it was made under the same fingerprint."""
    lines = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            lines.append(json.loads(text))
        except ValueError:  # the line that was being written when the run was cut off
            break
    if not lines or lines[0].get("fingerprint") != head["fingerprint"]:
        return head, []
    return lines[0], [line for line in lines[1:] if line["unit"] in units]


def _versions() -> dict[str, str]:
    """Versions of what the numbers depend on, and the hash of the library's sources."""
    found = {"python": platform.python_version(), "mlbook": mlbook.__version__}
    for package in ("numpy", "scipy", "scikit-learn", "metric-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found | {"sources": SOURCES}


def _machine() -> dict[str, Any]:
    """Kind of machine, without anything that names it or its user."""
    kind = {"system": platform.system(), "architecture": platform.machine()}
    return {**kind, "cpus": os.cpu_count(), "threads": 1}


def _progress(todo: list[Unit], before: int, label: str) -> Iterator[Unit]:
    """Yield the units under a progress bar, or with plain lines where tqdm is missing."""
    total = before + len(todo)
    if before:
        print(f"{label}: {before} of {total} units were finished before", file=sys.stderr)
    try:
        from tqdm import tqdm
    except ImportError:
        for i, unit in enumerate(todo, before + 1):
            print(f"{label}: {i} of {total}, {unit['row']}, seed {unit['seed']}", file=sys.stderr)
            yield unit
        return
    with tqdm(total=total, initial=before, desc=label, unit="unit") as bar:
        for unit in todo:
            bar.set_postfix_str(unit["row"])
            yield unit
            bar.update()
