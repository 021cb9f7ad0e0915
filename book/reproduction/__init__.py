"""The papers' tables and figures, one declared experiment each, with the paper's numbers.

``python book/reproduction list | run [ID ...] [--scale full] | report [ID ...] | stale [ID ...]``

An experiment runs at three scales: "smoke" takes seconds and only shows that it works,
"book" is for notebooks, "full" is as near to the paper as can be run. Results of full runs
are stored in ``data/results/ID.json``, those of other scales only on request. A result knows the
code that made it; a page marks one that is older than its code.

A new paper is a new module with a list ``EXPERIMENTS``, named below.
"""

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from book.reproduction import (
    comparisons,
    komodakis2011,
    lajugie2014,
    law2016,
    law2017,
    segmentation,
)
from book.reproduction.age import age_line, changes
from book.reproduction.experiment import Column, Experiment
from book.reproduction.items import ITEMS, STANDINGS, Line, item_lines, standing
from book.reproduction.runs import (
    SCALES,
    default_folder,
    read_result,
    result_path,
    run_experiment,
)
from book.reproduction.verdicts import Table, compare

__all__ = [
    "EXPERIMENTS",
    "ITEMS",
    "SCALES",
    "STANDINGS",
    "Column",
    "Experiment",
    "NoResults",
    "Table",
    "age_note",
    "command",
    "comparison",
    "find",
    "load",
    "run",
    "scoreboard",
    "standings",
]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for room in (law2016, komodakis2011, law2017, lajugie2014, segmentation, comparisons)
    for experiment in room.EXPERIMENTS
}


class NoResults(FileNotFoundError):
    """No result is stored at all: something is wrong, rather than one experiment not run."""


def run(
    name: str,
    scale: str = "smoke",
    *,
    results: str | Path | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Run one experiment and return its result.

    An interrupted run that stores its result is resumed by calling it again.

    Parameters
    ----------
    name : str
        Id of the experiment.
    scale : {"smoke", "book", "full"}, default="smoke"
        How much of it.
    results : str or Path, optional
        Folder to store the result in. Default: ``data/results`` for a full run; the result
        of any other is not stored.
    progress : bool, default=False
        Whether to show progress on standard error.

    Returns
    -------
    dict
        As stored: "summary" maps row and column to mean, sd, median and n; "units" holds the
        numbers of every unit with its seed; "skipped" maps rows that could not be run to
        the reason; "sources", "versions", "machine", "started" and "seconds" say how it came
        about.

    Raises
    ------
    ValueError
        If there is no such experiment or scale; the message names those that may be meant.

    Examples
    --------
    >>> from book.reproduction import run
    >>> run("law2016-table9")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: no experiment 'law2016-table9'; did you mean law2016-table...
    """
    folder = default_folder() if results is None and scale == "full" else results
    return run_experiment(find(name), scale, None if folder is None else Path(folder), progress)


def load(name: str, *, results: str | Path | None = None) -> dict[str, Any] | None:
    """Return the result of the last full run, or None if there is none.

    Parameters
    ----------
    name : str
        Id of the experiment.
    results : str or Path, optional
        Folder of the results. Default: ``data/results``.

    Returns
    -------
    dict or None
        As `run` returns.

    Raises
    ------
    NoResults
        If the folder holds no result of any experiment.
    DamagedResult
        If the result cannot be read; the message says how to make it again.

    Examples
    --------
    >>> load("law2016-table1")["scale"]
    'full'
    >>> load("law2016-table1", results="no such folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    book.reproduction.NoResults: no stored results in ...
    """
    folder = Path(results or default_folder())
    wanted = result_path(folder, find(name).id, "full")
    if not any(result_path(folder, other, "full").exists() for other in EXPERIMENTS):
        raise NoResults(
            f"no stored results in {folder.resolve()}. This page shows the results that come with "
            "the book's repository, in data/results: open it in a copy of the whole repository. "
            "`python book/reproduction run` makes them anew, which takes hours"
        )
    return read_result(wanted)


def age_note(*names: str, results: str | Path | None = None) -> str:
    """Say which stored results are older than their code, for the line below a table.

    Parameters
    ----------
    *names : str
        Ids of the experiments.
    results : str or Path, optional
        Folder of the results.

    Returns
    -------
    str
        One line of Markdown with the command that makes them again; empty if all are up to date
        or missing.

    Examples
    --------
    >>> age_note()
    ''
    """
    stored = {name: load(name, results=results) for name in names}
    old = {
        name: result for name, result in stored.items() if result and changes(find(name), result)
    }
    return age_line(old)


def comparison(
    name: str,
    scale: str | None = None,
    *,
    column: str | None = None,
    results: str | Path | None = None,
) -> Table:
    """Paper's number, ours with its standard error, and a verdict, for `book.figures.style.table`.

    Parameters
    ----------
    name : str
        Id of the experiment.
    scale : {"smoke", "book", "full"}, optional
        Run it now at this scale. Default: take the stored full run.
    column : str, optional
        Key of the one column to show. Default: all, one below the other.
    results : str or Path, optional
        Folder of the results.

    Returns
    -------
    header : list of str
        Names of the columns of the table.
    rows : list of lists of str
        Its rows. Without a stored result the verdicts say so and how to make it.
    note : str
        Says so if the stored result is older than its code; else empty.

    Raises
    ------
    ValueError
        If there is no such experiment, scale or column.
    NoResults
        If the folder holds no result of any experiment.

    Examples
    --------
    >>> header, rows, note = comparison("law2016-table1", column="delta")
    >>> header
    ['', 'paper', 'ours', 'verdict']
    >>> rows[1]
    ['Euclidean', '3.0', '3.000 ± 0.000 (10)', 'matches']
    """
    if scale is not None:
        return compare(find(name), run(name, scale, results=results), column, command(name))
    table = compare(find(name), load(name, results=results), column, command(name))
    notes = [note for note in (table.note, age_note(name, results=results)) if note]
    return table._replace(note=" ".join(notes))


def scoreboard(*, results: str | Path | None = None) -> tuple[list[str], list[Line]]:
    """Every table and figure of the papers, its main numbers and ours, as `style.table` shows them.

    `ITEMS` is the list of these tables and figures, with the rule by which numbers are chosen.

    Parameters
    ----------
    results : str or Path, optional
        Folder of the results.

    Returns
    -------
    header : list of str
        Names of the columns: paper, item, number, data, printed, ours, verdict, reason and
        experiment, the id that `command` takes.
    rows : list of Line
        One for each number, in the order of the papers, and one for an item without numbers.
        The verdict is that of `comparison`, or "no number in the paper", "drawn" for a picture of
        ours, "missing" without a stored result.

    Raises
    ------
    NoResults
        If the folder holds no result of any experiment.

    Examples
    --------
    >>> header, rows = scoreboard()
    >>> header[1:3], header[4:7]
    (['item', 'number'], ['printed', 'ours', 'verdict'])
    >>> rows[0].item, rows[0].number, rows[0].verdict
    ('Table 1', 'MLCA: Δ, spectral step', 'differs')
    """
    shown = {shown.experiment for item in ITEMS for shown in item.shown}
    stored = {name: load(name, results=results) for name in EXPERIMENTS if name in shown}
    rows = [line for item in ITEMS for line in item_lines(item, EXPERIMENTS, stored)]
    return list(Line._fields), rows


def standings(*, results: str | Path | None = None) -> dict[tuple[str, str], str]:
    """Where every table and figure of the papers stands.

    Parameters
    ----------
    results : str or Path, optional
        Folder of the results.

    Returns
    -------
    dict
        From paper and item to a key of `STANDINGS`: the least favourable verdict on the
        paper's data; "other data" if ours are on a stand-in or on changed data only.

    Raises
    ------
    NoResults
        If the folder holds no result of any experiment.

    Examples
    --------
    >>> standings()["Law et al. 2016", "Figure 2"]
    'drawn'
    """
    _, rows = scoreboard(results=results)
    return {
        (item.paper, item.name): standing(
            [line for line in rows if (line.paper, line.item) == (item.paper, item.name)]
        )
        for item in ITEMS
    }


def find(name: str) -> Experiment:
    """Return the experiment with this id.

    Examples
    --------
    >>> find("law2016-table1").paper
    'Law et al. 2016'
    """
    if name not in EXPERIMENTS:
        near = get_close_matches(name, EXPERIMENTS)
        which = (
            f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(EXPERIMENTS)}"
        )
        raise ValueError(f"no experiment {name!r}; {which}")
    return EXPERIMENTS[name]


def command(name: str) -> str:
    """Return the command that makes and stores the full result of an experiment.

    Examples
    --------
    >>> command("law2016-table1")
    'python book/reproduction run law2016-table1'
    """
    return f"python book/reproduction run {name}"
