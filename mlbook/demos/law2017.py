"""Tables and figures of the reproduction of Law et al. 2017, from stored results."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import Any

from matplotlib.figure import Figure

from mlbook.experiments import find, load
from mlbook.experiments import law2017 as experiment
from mlbook.plots import COLORS, MARKERS, subplots

__all__ = ["alpha_curves", "beside", "claims", "nuisance_curves", "voters"]

STAND_INS = {"synthetic": "", "faces": "-faces", "digits": "-digits"}
Table = tuple[list[str], list[list[str]]]

CLAIMS = {
    1: (
        ("MLCA (a)", "MIMLCA (b)"),
        ("MIMLCA (b)", "MIMLCA (c)"),
        ("MIMLCA (b)", "Euclidean"),
        ("MIMLCA (c)", "Euclidean"),
        ("MIMLCA (b)", "MIML (b)"),
        ("MIMLCA (b)", "MIML mended (b)"),
        ("MIMLCA (b)", "MildML (b)"),
        ("MIMLCA (c)", "MIML (b)"),
        ("MIMLCA (c)", "MildML (b)"),
        ("Euclidean", "MildML (b)"),
    ),
    4: tuple(
        ("MIMLCA", worse)
        for worse in (
            "MIML",
            "MIML mended",
            "MildML",
            "Citation-kNN (Euclidean)",
            "Citation-kNN (standardised)",
            "M-C2B",
            "Minimax MI-kernel",
            "MI-kernel",
            "MInD (meanmin)",
            "MInD (minmin)",
            "MInD (maxmin)",
        )
    ),
}
SETS = {
    1: STAND_INS,
    2: STAND_INS,
    3: STAND_INS,
    4: {"birds": "", "Corel5K, 500": "-corel5k-500"},
    7: {"faces": "", "digits": "-digits"},
}


def beside(table: int, measure: str, *, results: str | None = None) -> Table:
    """One measure of a table: the paper's number and ours on each of our data sets.

    Parameters
    ----------
    table : int
        Number of the table.
    measure : str
        Key of the column.
    results : str, optional
        Folder of the results.

    Returns
    -------
    header, rows
        For `mlbook.plots.table`; a dash where there is no number.
    """
    name = f"law2017-table{table}"
    found = {data: _summary(name + end, results) for data, end in SETS[table].items()}
    column = next(c for c in find(name).columns if c.key == measure)
    rows = []
    for row in find(name + list(SETS[table].values())[-1]).rows:
        numbers = [find(name).paper_numbers.get(row, {}).get(measure)]
        for summary in found.values():
            cell = summary.get(row, {}).get(measure)
            pair = (cell["mean"], cell["sd"]) if cell else None
            numbers.append(cell["median"] if cell and column.ratio else pair)
        if any(number is not None for number in numbers):
            rows.append([row, *map(column.show, numbers)])
    return ["", "paper", *SETS[table]], rows


def claims(table: int, measure: str, *, results: str | None = None) -> Table:
    """Which of the paper's orderings hold on each of our data sets.

    The difference of the two methods is taken fold by fold: "yes" or "no" if its mean is more
    than two standard errors from 0, else "open". From fewer than three folds there is no verdict.

    Parameters
    ----------
    table : {1, 4}
        Number of the table.
    measure : str
        Key of the column, of which more is better.
    results : str, optional
        Folder of the results.

    Returns
    -------
    header, rows
        For `mlbook.plots.table`.
    """
    name = f"law2017-table{table}"
    paper = find(name).paper_numbers
    digits = next(c.digits for c in find(name).columns if c.key == measure)
    stored = [load(name + end, results=results) for end in SETS[table].values()]
    rows = []
    for better, worse in CLAIMS[table]:
        printed = [paper.get(row, {}).get(measure) for row in (better, worse)]
        known = "–" if None in printed else f"{_mean(printed[0]) - _mean(printed[1]):+.{digits}f}"
        ours = [_verdict(result, better, worse, measure, digits) for result in stored]
        rows.append([f"{better} > {worse}", known, *ours])
    return ["claim", "paper", *SETS[table]], rows


def _mean(number: Any) -> float:
    return number[0] if isinstance(number, tuple) else number


def _verdict(
    result: dict[str, Any] | None, better: str, worse: str, measure: str, digits: int
) -> str:
    """Mean difference over the folds that both have, and whether it is clear."""
    values: dict[str, dict[int, float]] = {better: {}, worse: {}}
    for line in result["units"] if result else []:
        if line["unit"]["row"] in values and measure in line["values"]:
            values[line["unit"]["row"]][line["unit"]["seed"]] = line["values"][measure]
    both = values[better].keys() & values[worse].keys()
    differences = [values[better][seed] - values[worse][seed] for seed in sorted(both)]
    if not differences:
        return "–"
    mean = fmean(differences)
    if len(differences) < 3:
        folds = "one fold" if len(differences) == 1 else "two folds"
        return f"{mean:+.{digits}f} ({folds})"
    error = stdev(differences) / len(differences) ** 0.5
    verdict = "open" if abs(mean) <= 2 * error else "yes" if mean > 0 else "no"
    return f"{verdict} ({mean:+.{digits}f})"


def voters(name: str = "law2017-table4", *, results: str | None = None) -> Table:
    """Average precision of citation-kNN for every number of references and citers.

    Parameters
    ----------
    name : str, default="law2017-table4"
        Id of the experiment.
    results : str, optional
        Folder of the results.

    Returns
    -------
    header, rows
        For `mlbook.plots.table`.
    """
    summary = _summary(name, results)
    keys = [f"ap{r}" for r in experiment.VOTERS]
    column = next(c for c in find(name).columns if c.key == keys[0])
    rows = [
        [row, *(column.show((cells[key]["mean"], cells[key]["sd"])) for key in keys)]
        for row, cells in summary.items()
        if all(key in cells for key in keys)
    ]
    return ["", *(f"c = r = {r}" for r in experiment.VOTERS)], rows


def alpha_curves(*, results: str | None = None) -> Figure:
    """Accuracy of the linear model by Eq. 16 over α, the paper's and ours on synthetic faces."""
    rows = ("linear MLCA (a)", "linear MIMLCA (b)", "linear MIMLCA (c)")
    ours = _summary("law2017-table3", results)
    paper = find("law2017-table3").paper_numbers
    figure, axes = subplots(1, 2, height=3.2)
    keys = [f"accuracy{alpha:g}" for alpha in experiment.ALPHAS]
    for i, row in enumerate(rows):
        lines = [[_mean(paper[row][key]) for key in keys]]
        if row in ours:
            lines.append([ours[row][key]["mean"] for key in keys])
        for ax, line in zip(axes[0], lines, strict=False):
            style = {"color": COLORS[i], "marker": MARKERS[i], "label": row.split()[-1]}
            ax.plot(experiment.ALPHAS, line, **style)
    for ax, title in zip(axes[0], ("paper", "synthetic faces"), strict=True):
        ax.set(title=title, xlabel="α")
    axes[0, 0].set_ylabel("accuracy, %")
    axes[0, 0].legend(frameon=False)
    return figure


def nuisance_curves(*, results: str | None = None) -> Figure:
    """Accuracy on synthetic faces over the level of their nuisance variation."""
    summary = _summary("law2017-nuisance", results)
    figure, axes = subplots(1, 1, height=3.3)
    ax = axes[0, 0]
    for i, row in enumerate(("Euclidean", "MLCA (a)", "MIMLCA (b)", "MIMLCA (c)")):
        cells = [summary.get(f"{row}, nuisance {x:g}") for x in experiment.NUISANCES]
        points = [(x, c["accuracy"]) for x, c in zip(experiment.NUISANCES, cells, strict=True) if c]
        x = [level for level, _ in points]
        mean, sd = ([cell[key] for _, cell in points] for key in ("mean", "sd"))
        style = {"color": COLORS[i], "marker": MARKERS[i], "capsize": 3}
        ax.errorbar(x, mean, sd, label=row, **style)
    ax.set(xlabel="standard deviation of the nuisance", ylabel="accuracy, %", ylim=(0, 100))
    ax.legend(frameon=False)
    return figure


def _summary(name: str, results: str | None) -> dict[str, Any]:
    """Return the numbers of a stored full run, empty if there is none."""
    result = load(name, results=results)
    return result["summary"] if result else {}
