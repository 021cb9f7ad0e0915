"""``python book/reproduction list | run [ID ...] [--scale SCALE] | report [ID ...]``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from book.reproduction import EXPERIMENTS, SCALES, command, find, load, run
from book.reproduction.experiment import Experiment, compare


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python book/reproduction",
        description="Rerun the papers' tables and figures, and show ours beside theirs.",
    )
    commands = parser.add_subparsers(dest="command")
    lister = commands.add_parser("list", help="list the experiments, with the time of the last run")
    runner = commands.add_parser("run", help="run experiments, or go on with interrupted ones")
    scales = "smoke: seconds, to see that it works; book: for a notebook; full: near to the paper"
    runner.add_argument(
        "--scale", choices=SCALES, default="full", help=f"{scales} (default: %(default)s)"
    )
    reporter = commands.add_parser("report", help="show stored results beside the paper's")
    for each in (lister, runner, reporter):
        where = "folder of the results (default: data/results, where run stores full runs only)"
        each.add_argument("--results", type=Path, metavar="FOLDER", help=where)
    for each in (runner, reporter):
        each.add_argument("id", nargs="*", help="which ones, as `list` has them (default: all)")
    options = parser.parse_args(arguments)

    if options.command is None:
        parser.print_help()
        return 0
    if options.command == "list":
        for e in EXPERIMENTS.values():
            result = load(e.id, results=options.results)
            took = "not run" if result is None else f"{result['seconds']:.0f} s"
            print(f"{e.id:27} {took:>7}  {e.what:8} {e.paper}, {e.title}")
        return 0
    try:
        chosen = [find(name) for name in options.id or EXPERIMENTS]
    except ValueError as error:
        parser.error(str(error))
    if options.command == "report":
        for e in chosen:
            _print(e, load(e.id, results=options.results))
        return 0
    for e in chosen:
        try:
            result = run(e.id, options.scale, results=options.results, progress=True)
        except KeyboardInterrupt:
            print("\nInterrupted. Stored runs go on with the same command.", file=sys.stderr)
            return 130
        _print(e, result)
    if options.scale != "full" and options.results is None:
        print("\nNot stored: only full runs are, unless --results names a folder.", file=sys.stderr)
    return 0


def _print(experiment: Experiment, result: dict | None) -> None:
    """Print one result as a Markdown table under its title."""
    print(f"\n## {experiment.id}: {experiment.paper}, {experiment.title}\n")
    if experiment.note:
        print(experiment.note + "\n")
    if result is None:
        print(f"missing; to run it: {command(experiment.id)}")
        return
    made = [f"mlbook {result['versions']['mlbook']}", result["started"], f"{result['seconds']} s"]
    print(f"Data: {experiment.data}. Scale {result['scale']}; " + ", ".join(made) + ".\n")
    header, rows = compare(experiment, result, None, command(experiment.id))
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    if header[-1] == "verdict":  # reasons are long: padded, each line would wrap in a terminal
        widths[-1] = len("verdict")
    for line in [header, ["-" * w for w in widths], *rows]:
        padded = (cell.ljust(w) for cell, w in zip(line, widths, strict=True))
        print(f"| {' | '.join(padded)} |")
