"""Run the units of an experiment, resume what was interrupted, store the result whole.

Every finished unit is appended to a partial file. When all are done the result replaces its
file in one step: it is complete or absent. A stored result is not replaced by one that lacks
some of its rows because a package or data is not there.

A partial file is used again only under the same fingerprint, that is the same experiment,
scale, versions, code of the experiment and kind of machine, and of it only the units that are
still wanted, parameter by parameter.

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
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any
from uuid import uuid4

from threadpoolctl import threadpool_limits

import mlbook
from book.reproduction.age import ROOT, sources_of
from book.reproduction.experiment import Experiment
from book.reproduction.units import Unit
from mlbook._progress import progress as progress_of

SCALES = ("smoke", "book", "full")
_STARTED = time.time()


class DamagedResult(ValueError):
    """A stored result that cannot be read."""


def run_experiment(
    experiment: Experiment, scale: str, folder: Path | None, progress: bool
) -> dict[str, Any]:
    """Run the units that are not finished yet; given a folder, resume and store there."""
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}; got {scale!r}")
    about = {
        "id": experiment.id,
        "scale": scale,
        "versions": _versions(),
        "machine": _machine(),
        "sources": sources_of(experiment, _code_that_runs),
    }
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
    if progress and known:
        said = f"{experiment.id}: {len(known)} of {len(units)} units were finished before"
        print(said, file=sys.stderr)
    skipped: dict[str, str] = {}
    with progress_of(len(units), experiment.id, shown=progress, done=len(known)) as step:
        for unit in todo:
            begin = time.perf_counter()
            try:
                with threadpool_limits(1):
                    values = {k: float(value) for k, value in experiment.run_unit(unit).items()}
            except (ImportError, FileNotFoundError) as error:  # a package or data is not there
                skipped[unit["row"]] = str(error)
                step(f"{unit['row']}, skipped")
                continue
            if not all(map(math.isfinite, values.values())):
                raise ValueError(f"{experiment.id}: unit {unit} gave {values}, which is not finite")
            seconds = round(time.perf_counter() - begin, 3)
            finished.append({"unit": unit, "values": values, "seconds": seconds})
            if folder is not None:
                with partial.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(finished[-1]) + "\n")
            step(f"{unit['row']}, seed {unit['seed']}")

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
        partial.unlink(missing_ok=True)
    return result


def _code_that_runs(path: Path) -> bytes:
    """Read a file that is imported; written since then, it does not hold the code that runs."""
    if path.stat().st_mtime <= _STARTED:
        return path.read_bytes()
    return f"written_after = {_STARTED!r}".encode()


def _stored_rows(path: Path) -> set[str]:
    """Rows of the result that is stored there; a damaged one has none, and is replaced."""
    try:
        stored = read_result(path)
    except DamagedResult:
        return set()
    return set(stored["summary"]) if stored else set()


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
    return ROOT / "data" / "results"


def result_path(folder: Path, name: str, scale: str) -> Path:
    """Full runs are NAME.json; others carry their scale and never replace a full one."""
    return folder / (f"{name}.json" if scale == "full" else f"{name}-{scale}.json")


def read_result(path: Path) -> dict[str, Any] | None:
    """Return the result stored in a file, None if there is no such file.

    Raises
    ------
    DamagedResult
        If the file does not hold a whole result; the message names it and says what to do.
    """
    if not path.exists():
        return None
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(result, dict) or "summary" not in result:
            raise ValueError("it is not a result")
    except ValueError as error:
        heal = f"`python book/reproduction run {path.stem}` makes it again"
        raise DamagedResult(f"{path} is damaged ({error}); {heal}") from error
    return result


def write_atomically(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, whatever happens meanwhile."""
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _read_partial(
    path: Path, head: dict[str, str], units: list[Unit]
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Head and finished units of a partial file, if it was made under the same fingerprint."""
    if not path.exists():
        return head, []
    lines: list[Any] = []
    for text in path.read_bytes().splitlines():
        try:
            lines.append(json.loads(text))
        except ValueError:  # the line that was being written when the run was cut off
            break
    whole = lines and all(isinstance(line, dict) for line in lines)
    if not whole or not all({"unit", "values", "seconds"} <= line.keys() for line in lines[1:]):
        print(f"{path} is damaged and was dropped: all units are run again", file=sys.stderr)
        return head, []
    if lines[0].get("fingerprint") != head["fingerprint"]:
        return head, []
    finished: list[dict[str, Any]] = []
    for line in lines[1:]:
        if line["unit"] in units and line["unit"] not in [other["unit"] for other in finished]:
            finished.append(line)
    return lines[0], finished


def _versions() -> dict[str, str]:
    """Versions of what the numbers depend on besides the code of this repository."""
    found = {"python": platform.python_version(), "mlbook": mlbook.__version__}
    for package in ("numpy", "scipy", "scikit-learn", "metric-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _machine() -> dict[str, Any]:
    """Kind of machine, without anything that names it or its user."""
    kind = {"system": platform.system(), "architecture": platform.machine()}
    return {**kind, "cpus": os.cpu_count(), "threads": 1}
