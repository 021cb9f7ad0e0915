"""Tables and figures of the reproduction of Law et al. 2017, from stored results.

Tables are for `book.figures.style.table`. ``results`` is the folder of the stored results, by
default that of the book.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import t as student

from book.figures.ages import mark_age
from book.reproduction import EXPERIMENTS, Table, age_note, command, find, law2017, load
from book.reproduction.experiment import Number, parse
from book.reproduction.law2017_annotation import VOTERS
from book.reproduction.law2017_faces import ALPHAS, FEATURES, METHODS3, NUISANCES
from book.spread import mean_of, stored_mean
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "alpha_curves",
    "alpha_levels",
    "alphas",
    "annotated_sets",
    "beside",
    "claims",
    "features",
    "fold_values",
    "instance_or_centroid",
    "level",
    "nuisance_curves",
    "nuisance_order",
    "ordering",
    "paper_and_ours",
    "runs",
    "score_or_centroid",
    "stand_ins",
    "stored_name",
    "stored_summary",
    "verdicts",
    "voters",
]

STAND_INS = {"letters": "-letters", "faces": "-faces", "digits": "-digits", "synthetic": ""}
MAIN = ("letters", "faces", "digits")  # the synthetic faces are in the appendix of the page
ALPHA_SETS = ("an eighth of the letters", "faces", "digits")
IMAGES_500 = "Corel5K, 500"
NUISANCE_ROWS = ("Euclidean", "MLCA (a)", "MIMLCA (b)", "MIMLCA (c)")

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
        ("MIMLCA (c)", "MIML (c)"),
        ("MIMLCA (c)", "MIML mended (c)"),
        ("MIMLCA (c)", "MildML (c)"),
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
            "Labels by frequency",
            "M-C2B",
            "Minimax MI-kernel",
            "MI-kernel",
            "MILES",
            "miSVM",
            "MILBoost",
            "EM-DD",
            "MInD (meanmin)",
            "MInD (minmin)",
            "MInD (maxmin)",
        )
    ),
}
SETS = {
    1: STAND_INS,
    2: STAND_INS,
    3: {**STAND_INS, "an eighth of the letters": "-eighth"},
    4: {IMAGES_500: "-corel5k-500", "birds": ""},
    7: {"faces": "", "digits": "-digits"},
}


def stand_ins() -> str:
    """Describe what stands in for the paper's faces, and the protocol, as Markdown."""
    lines = [
        f"- **{data}**: {law2017.STAND_INS[data].removeprefix('Stand-in: ')}"
        f"{law2017.components_note(data)}"
        for data in STAND_INS
    ]
    few = find("law2017-table1").note.rpartition("Slow, ")[2]
    text = f"{law2017.PROTOCOL}On synthetic faces some methods are slow, {few}"
    return "\n".join([*lines, "", text])


def _chosen(table: int, sets: Sequence[str] | None) -> dict[str, str]:
    """Return data sets of a table with the ends of their ids: those named, or the main ones."""
    if sets is None:
        sets = MAIN if table < 4 else list(SETS[table])
    return {data: SETS[table][data] for data in sets}


def beside(
    table: int, measure: str, sets: Sequence[str] | None = None, *, results: str | None = None
) -> Table:
    """One measure of a table: the paper's number and ours on each of some data sets.

    A dash where there is no number; `measure` is the key of the column.
    """
    name, chosen = f"law2017-table{table}", _chosen(table, sets)
    found = {data: stored_summary(name + end, results) for data, end in chosen.items()}
    column = next(c for c in find(name).columns if c.key == measure)
    rows = []
    for row in find(name + list(chosen.values())[-1]).rows:
        numbers: list[Any] = [find(name).paper_numbers.get(row, {}).get(measure)]
        for summary in found.values():
            cell = summary.get(row, {}).get(measure)
            numbers.append(cell and (cell["median"] if column.ratio else stored_mean(cell)))
        if any(number is not None for number in numbers):
            rows.append([row, *map(column.show, numbers)])
    return Table(["", "paper", *chosen], rows, _note(table, sets=sets, results=results))


def claims(
    table: int, measure: str, sets: Sequence[str] | None = None, *, results: str | None = None
) -> Table:
    """Which of the paper's orderings hold on each of some data sets.

    The difference of the two methods is taken fold by fold: "yes" or "no" if Student's 95%
    interval for its mean does not hold 0, else "open". From fewer than three folds there is no
    verdict.

    Of the measure, the key of a column of Table 1 or 4, more is better.
    """
    name = f"law2017-table{table}"
    paper = find(name).paper_numbers
    digits = next(c.digits for c in find(name).columns if c.key == measure)
    chosen = _chosen(table, sets)
    stored = [load(name + end, results=results) for end in chosen.values()]
    rows = []
    for better, worse in CLAIMS[table]:
        printed = [paper.get(row, {}).get(measure) for row in (better, worse)]
        means = [_mean(number) for number in printed if number is not None]
        known = f"{means[0] - means[1]:+.{digits}f}" if len(means) == 2 else "–"
        ours = [
            _verdict(fold_values(r, better, measure), fold_values(r, worse, measure))
            for r in stored
        ]
        rows.append([f"{better} > {worse}", known, *(_show(*verdict, digits) for verdict in ours)])
    return Table(["claim", "paper", *chosen], rows, _note(table, sets=sets, results=results))


def ordering(
    table: int, data: str, better: str, worse: str, measure: str, *, results: str | None = None
) -> str:
    """Whether a method is above another on one of our data sets, judged as in `claims`."""
    result = load(stored_name(table, data), results=results)
    return _verdict(fold_values(result, better, measure), fold_values(result, worse, measure))[0]


def level(
    table: int, data: str, row: str, measure: str = "accuracy", *, results: str | None = None
) -> float:
    """Return the mean over the folds of a row of a table on one of our data sets."""
    return float(stored_summary(stored_name(table, data), results)[row][measure]["mean"])


def alpha_levels(data: str, row: str, *, results: str | None = None) -> list[float]:
    """Return the mean accuracy of a row of Table 3 for every α."""
    return [level(3, data, row, f"accuracy{alpha:g}", results=results) for alpha in ALPHAS]


def stored_name(table: int, data: str) -> str:
    """Return the id of the experiment of a table on one of our data sets.

    Examples
    --------
    >>> stored_name(1, "faces")
    'law2017-table1-faces'
    """
    return f"law2017-table{table}{SETS[table][data]}"


def verdicts(
    table: int, measure: str, sets: Sequence[str] | None = None, *, results: str | None = None
) -> str:
    """Say in Markdown which orderings of the paper hold on each of some data sets.

    A list with an item for each data set. What the paper has no numbers for is left out.
    """
    printed = find(f"law2017-table{table}").paper_numbers
    pairs = [pair for pair in CLAIMS[table] if all(row in printed for row in pair)]
    lines = []
    for data, end in _chosen(table, sets).items():
        name = f"law2017-table{table}{end}"
        result = load(name, results=results)
        if result is None:
            lines.append(f"- **{data}**: missing, `{command(name)}`.")
            continue
        groups: dict[str, list[str]] = {"yes": [], "open": [], "no": [], "few": []}
        for better, worse in pairs:
            word, mean = _verdict(*(fold_values(result, row, measure) for row in (better, worse)))
            claim = f"{better} > {worse}"
            if word in groups:
                groups[word].append(claim)
            elif mean is not None:
                groups["few"].append(f"{claim} ({'same' if mean > 0 else 'opposite'} sign)")
        parts = {"yes": "Holds", "open": "Open", "no": "Reversed", "few": "Too few folds to tell"}
        said = [f"{part}: {', '.join(groups[k])}." for k, part in parts.items() if groups[k]]
        count = f"{len(groups['yes'])} of the paper's {len(pairs)} orderings."
        lines.append(f"- **{data}**: {' '.join([count, *said])}")
    return "\n".join(lines)


def instance_or_centroid(sets: Sequence[str] = MAIN, *, results: str | None = None) -> Table:
    """MildML by the nearest training instance (Table 2) less by the nearest centroid (Table 1).

    The paper's difference, and ours judged as in `claims`.
    """
    papers = [find(f"law2017-table{table}").paper_numbers for table in (2, 1)]
    rows = []
    for row in ("MildML (b)", "MildML (c)"):
        for measure in ("accuracy", "precision"):
            instance, centroid = (_mean(numbers[row][measure]) for numbers in papers)
            line = [f"{row}, {measure}", f"{instance - centroid:+.1f}"]
            for end in _chosen(2, sets).values():
                both = (load(f"law2017-table{table}{end}", results=results) for table in (2, 1))
                line.append(_show(*_verdict(*(fold_values(r, row, measure) for r in both)), 1))
            rows.append(line)
    return Table(["", "paper", *sets], rows, _note(2, 1, sets=sets, results=results))


def score_or_centroid(sets: Sequence[str] = MAIN, *, results: str | None = None) -> Table:
    """Accuracy by Eq. 16 with the α that does best (Table 3) less by the nearest centroid.

    The paper's difference, and ours judged as in `claims`.
    """
    keys = [f"accuracy{alpha:g}" for alpha in ALPHAS]
    papers = [find(f"law2017-table{table}").paper_numbers for table in (3, 1)]
    rows = []
    for row in ("MLCA (a)", "MIMLCA (b)", "MIMLCA (c)"):
        linear = f"linear {row}"
        score = max(_mean(papers[0][linear][key]) for key in keys)
        line = [row, f"{score - _mean(papers[1][row]['accuracy']):+.1f}"]
        for end in _chosen(1, sets).values():
            scores, centroids = (
                load(f"law2017-table{table}{end}", results=results) for table in (3, 1)
            )
            best = max((fold_values(scores, linear, key) for key in keys), key=_level)
            line.append(_show(*_verdict(best, fold_values(centroids, row, "accuracy")), 1))
        rows.append(line)
    return Table(["", "paper", *sets], rows, _note(3, 1, sets=sets, results=results))


def _level(values: dict[int, float]) -> float:
    return fmean(values.values()) if values else 0.0


def _mean(number: Number) -> float:
    return parse(number).value if isinstance(number, str) else number


def fold_values(result: dict[str, Any] | None, row: str, measure: str) -> dict[int, float]:
    """Return the numbers of a row by fold."""
    return {
        line["unit"]["seed"]: line["values"][measure]
        for line in (result["units"] if result else [])
        if line["unit"]["row"] == row and measure in line["values"]
    }


def _verdict(first: dict[int, float], second: dict[int, float]) -> tuple[str, float | None]:
    """Whether the first is clearly larger, and the mean difference over the folds of both."""
    differences = [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]
    n = len(differences)
    if n < 3:
        return ("", "one fold", "two folds")[n], fmean(differences) if n else None
    mean, error, _ = mean_of(differences)
    margin = student.ppf(0.975, n - 1) * error
    return "open" if abs(mean) <= margin else "yes" if mean > 0 else "no", mean


def _show(verdict: str, mean: float | None, digits: int) -> str:
    if mean is None:
        return "–"
    return f"{verdict} ({round(mean, digits) + 0.0:+.{digits}f})"  # no −0.0


def annotated_sets() -> str:
    """Describe the data of Table 4, and how methods are used, as Markdown."""
    notes = [
        find(f"law2017-table4{end}").note.removesuffix(law2017.HOW4.strip())
        for end in SETS[4].values()
    ]
    lines = [f"- **{name}**: {note.strip()}" for name, note in zip(SETS[4], notes, strict=True)]
    return "\n".join([*lines, "", law2017.HOW4])


def voters(name: str = "law2017-table4-corel5k-500", *, results: str | None = None) -> Table:
    """Average precision of citation-kNN for every number of references and citers."""
    summary = stored_summary(name, results)
    keys = [f"ap{r}" for r in VOTERS]
    column = next(c for c in find(name).columns if c.key == keys[0])
    rows = [
        [row, *(column.show(stored_mean(cells[key])) for key in keys)]
        for row, cells in summary.items()
        if all(key in cells for key in keys)
    ]
    header = ["", *(f"c = r = {r}" for r in VOTERS)]
    return Table(header, rows, age_note(name, results=results))


def alphas(
    measure: str = "accuracy", sets: Sequence[str] = ALPHA_SETS, *, results: str | None = None
) -> Table:
    """Table 3: means for every α, the paper's and ours below each other."""
    keys = [f"{measure}{alpha:g}" for alpha in ALPHAS]
    found = _alpha_cells(sets, results)
    rows = [
        [f"{row}: {data}", *(f"{_mean(cells[row][key]):.1f}" for key in keys)]
        for row in METHODS3
        for data, cells in found.items()
        if row in cells
    ]
    header = ["", *(f"α = {alpha:g}" for alpha in ALPHAS)]
    return Table(header, rows, _note(3, sets=sets, results=results))


def alpha_curves(*, results: str | None = None) -> Figure:
    """Accuracy by Eq. 16 over α: the paper's and that of three stand-ins."""
    keys = [f"accuracy{alpha:g}" for alpha in ALPHAS]
    found = _alpha_cells(ALPHA_SETS, results)
    least = min(
        _mean(cells[key]) for rows in found.values() for cells in rows.values() for key in keys
    )
    figure, axes = subplots(2, 2, height=5.4)
    for ax, (data, cells) in zip(axes.flat, found.items(), strict=True):
        ax.set(title=data, ylim=(least - 3, 101))
        for i, row in enumerate(METHODS3):
            if row in cells:
                line = [_mean(cells[row][key]) for key in keys]
                style = {"color": COLORS[i % 3], "marker": MARKERS[i % 3]}
                name = row.replace("MIMLCA ", "").replace("MLCA ", "")
                ax.plot(ALPHAS, line, "-" if i < 3 else "--", label=name, **style)
        if not cells:
            _say_missing(ax)
    for ax in axes[1]:
        ax.set_xlabel("α")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy, %")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    names = [f"law2017-table3{end}" for end in _chosen(3, ALPHA_SETS).values()]
    return mark_age(figure, *names, results=results)


def _alpha_cells(sets: Sequence[str], results: str | None) -> dict[str, dict[str, dict[str, Any]]]:
    """Numbers of Table 3 by data set, row and column: the paper's, then means of ours."""
    found: dict[str, dict[str, dict[str, Any]]] = {
        "paper": {row: dict(cells) for row, cells in find("law2017-table3").paper_numbers.items()}
    }
    for data, end in _chosen(3, sets).items():
        summary = stored_summary(f"law2017-table3{end}", results)
        found[data] = {
            row: {key: cell["mean"] for key, cell in cells.items()}
            for row, cells in summary.items()
        }
    return found


def nuisance_curves(*, results: str | None = None) -> Figure:
    """Accuracy on synthetic faces over the level of their nuisance variation."""
    summary = stored_summary("law2017-nuisance", results)
    figure, axes = subplots(1, 1, height=3.3)
    ax = axes[0, 0]
    for i, row in enumerate(NUISANCE_ROWS):
        cells = [summary.get(f"{row}, nuisance {x:g}") for x in NUISANCES]
        points = [(x, c["accuracy"]) for x, c in zip(NUISANCES, cells, strict=True) if c]
        x = [level for level, _ in points]
        found = [stored_mean(cell) for _, cell in points]
        mean, error = [each.mean for each in found], [each.error for each in found]
        style = {"color": COLORS[i], "marker": MARKERS[i], "capsize": 3}
        ax.errorbar(x, mean, error, label=row, **style)
    ax.set(xlabel="standard deviation of the nuisance", ylabel="accuracy, %", ylim=(0, 100))
    if summary:
        ax.legend(frameon=False)
    else:
        _say_missing(ax)
    return mark_age(figure, "law2017-nuisance", results=results)


def nuisance_order(*, results: str | None = None) -> Table:
    """Methods at each level of nuisance, from the least accurate to the most."""
    summary = stored_summary("law2017-nuisance", results)
    rows = []
    for level in NUISANCES:
        means = {
            row: summary[name]["accuracy"]["mean"]
            for row in NUISANCE_ROWS
            if (name := f"{row}, nuisance {level:g}") in summary
        }
        ranked = [f"{row} {means[row]:.1f}" for row in sorted(means, key=lambda row: means[row])]
        rows.append([f"{level:g}", " < ".join(ranked) or "–"])
    note = age_note("law2017-nuisance", results=results)
    return Table(["nuisance", "accuracy, %"], rows, note)


DOTS = {  # in the figure of paper and ours: table, data set and column
    "Table 1: accuracy, %; ours on letters": (1, "letters", "accuracy"),
    "Table 4: average precision; ours on 500 images": (4, IMAGES_500, "ap20"),
}


def paper_and_ours(*, results: str | None = None) -> Figure:
    """Draw the numbers of Tables 1 and 4, the paper's and ours, one row for each method."""
    tables = {
        title: (where, beside(where[0], where[2], [where[1]], results=results)[1])
        for title, where in DOTS.items()
    }
    figure, axes = subplots(2, 1, height=8.2)
    lengths = [len(rows) for _, rows in tables.values()]
    axes[0, 0].get_gridspec().set_height_ratios(lengths)
    for ax, (title, (_, rows)) in zip(axes[:, 0], tables.items(), strict=True):
        for i, (label, column) in enumerate({"paper": 1, "ours": 2}.items()):
            style = {"color": COLORS[i], "marker": MARKERS[i], "linestyle": "none", "capsize": 3}
            shown = [(y, _number(row[column])) for y, row in enumerate(rows) if row[column] != "–"]
            if shown:
                heights, found = [y for y, _ in shown], [number for _, number in shown]
                x, error = zip(*found, strict=True)
                ax.errorbar(x, np.add(heights, 0.2 * i - 0.1), xerr=error, label=label, **style)
        ax.set_title(title, loc="right")
        ax.set(yticks=range(len(rows)), yticklabels=[row[0] for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.grid(axis="y", linewidth=0.4, color=INK, alpha=0.25)
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False)
    names = [stored_name(where[0], where[1]) for where in DOTS.values()]
    return mark_age(figure, *names, results=results)


def _number(text: str) -> tuple[float, float]:
    """Read a mean with its spread, 0 where there is none, from a cell of `beside`."""
    printed = parse(text.partition(" (")[0])
    return printed.value, printed.spread


def features(*, results: str | None = None) -> Table:
    """Accuracy of MLCA on synthetic faces by both rules, for more and more features."""
    summary = stored_summary("law2017-features", results)
    columns = {column.key: column for column in find("law2017-features").columns}
    keys = ["centroid", *(f"accuracy{alpha:g}" for alpha in (0.25, 0.5, 1.0))]
    rows = []
    for d in FEATURES:
        cells = summary.get(f"{d} features", {})
        share = f"{cells['share']['mean']:.2f}" if cells else "–"
        shown = (columns[key].show(stored_mean(cells[key]) if cells else None) for key in keys)
        rows.append([str(d), share, *shown])
    header = ["features", "d/n", *(columns[key].title for key in keys)]
    return Table(header, rows, age_note("law2017-features", results=results))


def runs(*, results: str | None = None) -> Table:
    """Every declared experiment of the paper: its data, and what is stored of it."""
    rows = []
    for name, declared in EXPERIMENTS.items():
        if declared.paper == law2017.PAPER:
            result = load(name, results=results)
            state = f"{len(result['units'])} units" if result else "no result"
            if result and age_note(name, results=results):
                state += f", {result['started'][:10]}, older than its code"
            rows.append([f"`{name}`", declared.data.replace("same", "the paper's"), state])
    return Table(["experiment", "data", "stored"], rows)


def _say_missing(ax: Axes) -> None:
    ax.text(0.5, 0.5, "no stored result", transform=ax.transAxes, ha="center")


def _note(*tables: int, sets: Sequence[str] | None, results: str | None) -> str:
    """Say which results of these tables, on these data sets, are older than their code."""
    names = [f"law2017-table{t}{end}" for t in tables for end in _chosen(t, sets).values()]
    return age_note(*names, results=results)


def stored_summary(name: str, results: str | None) -> dict[str, Any]:
    """Return the numbers of a stored full run, empty if there is none."""
    result = load(name, results=results)
    return result["summary"] if result else {}
