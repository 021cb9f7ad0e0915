"""Whether a stored result is older than the code that makes it."""

import inspect
import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from book.reproduction.experiment import Experiment
from book.reproduction.units import Unit
from book.sources import Read
from book.used_code import Definition, definitions_used, hashes

ROOT = Path(__file__).resolve().parents[2]


def sources_of(experiment: Experiment, read: Read = Path.read_bytes) -> dict[str, str]:
    """Hash the code that makes the numbers of an experiment, by file: only what it uses of each.

    It starts at the function that runs the units. What declares the experiment, such as the
    paper's numbers and notes, does not count: of it only the units matter, and a result has those.
    """
    return hashes(code_used(experiment, read), ROOT)


def code_used(experiment: Experiment, read: Read = Path.read_bytes) -> dict[Path, list[Definition]]:
    """List the definitions that the units of an experiment use."""
    starts = []
    todo: list[Any] = [experiment.run_unit]
    while todo:
        function = inspect.unwrap(todo.pop())
        if isinstance(function, partial):
            given = [*function.args, *function.keywords.values()]
            todo += [function.func, *filter(inspect.isfunction, given)]
            continue
        file = Path(inspect.getfile(function)).resolve()
        name = function.__qualname__.split(".")[0]
        starts.append((file, "" if name == "<lambda>" else name))
    return definitions_used(starts, ROOT, read)


def changes(experiment: Experiment, result: Mapping[str, Any]) -> list[str]:
    """Say what has changed since a result was made, nothing if it is up to date."""
    then = result.get("sources")
    if then is None:
        return ["made before results knew their code"]
    now = sources_of(experiment)
    both = then.keys() & now.keys()
    said = {path: "has changed" for path in both if then[path] != now[path]}
    said |= dict.fromkeys(now.keys() - both, "is used now")
    said |= dict.fromkeys(then.keys() - both, "is no longer used")
    units = experiment.units(result["scale"])
    made = _keys(line["unit"] for line in result["units"])
    wanted = _keys(unit for unit in units if unit["row"] not in result["skipped"])
    other = [] if wanted <= made <= _keys(units) else ["its units are others now"]
    return [f"{path} {what}" for path, what in sorted(said.items())] + other


def age_line(old: Mapping[str, Mapping[str, Any]]) -> str:
    r"""Say below a table that its results, given by their ids, are older than their code.

    Examples
    --------
    >>> print(age_line({"toy": {"started": "2026-05-01T10:00"}}).replace("; ", ";\n"))
    Made with an earlier version of this code (2026-05-01);
    rerun: `python book/reproduction run toy`
    """
    if not old:
        return ""
    days = sorted({result["started"][:10] for result in old.values()})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    rerun = f"`python book/reproduction run {' '.join(old)}`"
    return f"Made with an earlier version of this code ({when}); rerun: {rerun}"


def _keys(units: Iterable[Unit]) -> set[str]:
    return {json.dumps(unit, sort_keys=True) for unit in units}
