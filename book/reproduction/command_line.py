"""``python book/reproduction list | run | report | stale``; ``--help`` says the rest."""

import argparse
import codecs
import os
import sys
import unicodedata
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from book.reproduction import EXPERIMENTS, SCALES, command, find, run
from book.reproduction.age import age_line, changes
from book.reproduction.experiment import Experiment
from book.reproduction.runs import DamagedResult, default_folder, read_result, result_path
from book.reproduction.verdicts import compare


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    codecs.register_error("spell", _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="spell")
    try:
        code = _main(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has read enough; Python would flush again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _main(arguments: Sequence[str] | None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        chosen = [find(name) for name in options.id or EXPERIMENTS]
    except ValueError as error:
        parser.error(str(error))
    if options.command == "run":
        return _run(chosen, options.scale, options.results)
    folder = options.results or default_folder()
    show = {"list": _list, "report": _report, "stale": _stale}[options.command]
    return show(chosen, folder)


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Spell Greek letters for a terminal that has none; other letters it lacks become "?"."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    names = [unicodedata.name(letter, "").split() for letter in lacking]
    spelled = [name[-1].lower() if name[:1] == ["GREEK"] else "?" for name in names]
    return "".join(spelled), error.end


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python book/reproduction",
        description="Rerun the papers' tables and figures, and show ours beside theirs.",
    )
    commands = parser.add_subparsers(dest="command")
    helps = {
        "list": "list the experiments, with the time of the last run",
        "run": "run experiments, or go on with interrupted ones",
        "report": "show stored results beside the paper's",
        "stale": "list stored results that are older than their code",
    }
    for name, text in helps.items():
        each = commands.add_parser(name, help=text, description=text.capitalize() + ".")
        each.add_argument("id", nargs="*", help="which experiments (default: all)")
        where = "folder of the results (default: data/results)"
        each.add_argument("--results", type=Path, metavar="FOLDER", help=where)
    scales = "smoke: seconds, to see that it works; book: for a notebook; full: near to the paper"
    commands.choices["run"].add_argument(
        "--scale", choices=SCALES, default="full", help=f"{scales} (default: %(default)s)"
    )
    return parser


def _run(chosen: list[Experiment], scale: str, results: Path | None) -> int:
    for e in chosen:
        try:
            result = run(e.id, scale, results=results, progress=True)
        except KeyboardInterrupt:
            print("\nInterrupted. Stored runs go on with the same command.", file=sys.stderr)
            return 130
        _print(e, result)
    if scale != "full" and results is None:
        print("\nNot stored: only full runs are, unless --results names a folder.", file=sys.stderr)
    return 0


def _list(chosen: list[Experiment], folder: Path) -> int:
    for e in chosen:
        try:
            result = _stored(e, folder)
            took = "not run" if result is None else f"{result['seconds']:.0f} s"
        except DamagedResult:
            took = "damaged"
        print(f"{e.id:27} {took:>7}  {e.what:8} {e.paper}, {e.title}")
    return 0


def _report(chosen: list[Experiment], folder: Path) -> int:
    damaged = False
    for e in chosen:
        try:
            _print(e, _stored(e, folder))
        except DamagedResult as error:
            print(f"\n{error}", file=sys.stderr)
            damaged = True
    return int(damaged)


def _stale(chosen: list[Experiment], folder: Path) -> int:
    n_stored = n_old = 0
    for e in chosen:
        try:
            result = _stored(e, folder)
            said = changes(e, result) if result else []
        except DamagedResult as error:
            result, said = {"started": ""}, [str(error)]
        n_stored, n_old = n_stored + (result is not None), n_old + bool(said)
        if result and said:
            print(f"{e.id:27} {result['started'][:10]:10}  " + ("\n" + 40 * " ").join(said))
    print(f"{n_old} of {n_stored} stored results are older than their code.")
    if n_old:
        print(f"To make one again: {command('ID')}")
    return 0


def _stored(experiment: Experiment, folder: Path) -> dict[str, Any] | None:
    return read_result(result_path(folder, experiment.id, "full"))


def _print(experiment: Experiment, result: dict[str, Any] | None) -> None:
    """Print one result as a Markdown table under its title."""
    print(f"\n## {experiment.id}: {experiment.paper}, {experiment.title}\n")
    if experiment.note:
        print(experiment.note + "\n")
    if result is None:
        print(f"missing; to run it: {command(experiment.id)}")
        return
    made = [f"mlbook {result['versions']['mlbook']}", result["started"], f"{result['seconds']} s"]
    print(f"Data: {experiment.data}. Scale {result['scale']}; " + ", ".join(made) + ".\n")
    header, rows, _ = compare(experiment, result, None, command(experiment.id))
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    if header[-1] == "verdict":  # reasons are long: padded, each line would wrap in a terminal
        widths[-1] = len("verdict")
    for line in [header, ["-" * w for w in widths], *rows]:
        padded = (cell.ljust(w) for cell, w in zip(line, widths, strict=True))
        print(f"| {' | '.join(padded)} |")
    if changes(experiment, result):
        print("\n" + age_line({experiment.id: result}))
