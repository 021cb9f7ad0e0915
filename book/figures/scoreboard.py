"""The scoreboard of the book: what the papers print, what came out here, and where it stands."""

from itertools import groupby
from typing import Any, NamedTuple

from IPython.display import Markdown
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from book.figures.ages import mark_age
from book.figures.style import table
from book.reproduction import (
    EXPERIMENTS,
    ITEMS,
    STANDINGS,
    age_note,
    command,
    load,
    scoreboard,
    standings,
)
from book.reproduction.experiment import Printed, parse
from book.reproduction.items import Item, Line, item_numbers
from book.reproduction.lajugie2014_tables import TABLES
from book.reproduction.segmentation import TITLES
from book.reproduction.verdicts import OTHER_DATA, data_label
from book.spread import Mean
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = ["cards", "paper_against_ours", "points", "summary"]

KINDS = {"same": "the paper's data", "changed": "changed data", "stand-in": "a stand-in"}
SETS = {*TITLES.values(), *(table.title for table in TABLES.values())}
EDGE = 8.0  # ratios beyond this, or below its inverse, are drawn there


class Point(NamedTuple):
    """A number of the scoreboard that the paper prints and that was run here."""

    paper: str
    item: str
    kind: str
    printed: Printed
    ours: Mean
    verdict: str


def points() -> list[Point]:
    """List the scoreboard's numbers that stand both in the paper and here."""
    stored = {shown.experiment: load(shown.experiment) for item in ITEMS for shown in item.shown}
    found = []
    for item in ITEMS:
        for shown, column, judged in item_numbers(item, EXPERIMENTS, stored):
            declared = EXPERIMENTS[shown.experiment]
            printed = declared.paper_numbers.get(judged.row, {}).get(column.key)
            if isinstance(printed, str) and isinstance(judged.ours, Mean):
                first = column.title.partition(",")[0]
                name = f"{item.name}, {first}" if first in SETS else item.name
                numbers = parse(printed), judged.ours
                found.append(Point(item.paper, name, declared.kind, *numbers, judged.verdict))
    return found


def paper_against_ours() -> Figure:
    """Draw ours as a multiple of the paper's number, a line for each item, by kind of data.

    On the paper's data a bar shows the two margins together: it reaches 1 where the verdict is
    "matches".
    """
    every = points()
    groups = {
        paper: {item: list(group) for item, group in groupby(some, key=lambda point: point.item)}
        for paper, some in groupby(every, key=lambda point: point.paper)
    }
    n_lines = sum(1 + len(items) for items in groups.values())
    figure, axes = subplots(1, 1, height=0.25 * n_lines + 1.1)
    ax = axes[0, 0]
    ax.axvline(1, color=INK, linewidth=1, zorder=1)
    names: list[str] = []
    for paper, items in groups.items():
        names.append(paper)
        for item, some in items.items():
            for i, point in enumerate(some):
                _draw(ax, point, len(names) + 0.5 * ((i + 0.5) / len(some) - 0.5))
            ax.axhline(len(names), color=INK, alpha=0.15, linewidth=0.7, zorder=0)
            names.append(item)
    ticks = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
    ax.set(xscale="log", xlim=(0.9 / EDGE, 1.1 * EDGE), ylim=(len(names) - 0.4, -0.6))
    ax.set_xticks(ticks, ["⅛", "¼", "½", "1", "2", "4", "8"])
    ax.minorticks_off()
    ax.set_yticks(range(len(names)), names)
    for label in ax.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in groups else "normal")
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("ours / the paper's number")
    for kind, title in KINDS.items():
        n = sum(point.kind == kind for point in every)
        ax.plot([], [], label=f"{title} ({n})", linestyle="", **_style(kind))
    figure.legend(
        *ax.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        frameon=False,
        columnspacing=0.6,
        handletextpad=0,
        fontsize="small",
    )
    return mark_age(figure, *(shown.experiment for item in ITEMS for shown in item.shown))


def _style(kind: str) -> dict[str, Any]:
    """Colour and marker of a kind of data."""
    which = list(KINDS).index(kind)
    color = COLORS[(0, 1, 5)[which]]
    face = color if kind == "same" else "white"
    return {"color": color, "marker": MARKERS[which], "markerfacecolor": face, "markersize": 6}


def _draw(ax: Axes, point: Point, y: float) -> None:
    """Draw one number, with the bar of its margins if it is judged."""
    (paper, rounding, spread), (mean, error, _) = point.printed, point.ours
    if point.kind == "same" and paper:
        allowed = rounding + spread + 2 * error
        ax.plot(
            [_ratio(mean - allowed, paper), _ratio(mean + allowed, paper)],
            [y, y],
            color=COLORS[0],
            linewidth=1.5,
            solid_capstyle="butt",
        )
    ax.plot(_ratio(mean, paper), y, zorder=3, **_style(point.kind))


def _ratio(ours: float, paper: float) -> float:
    """Divide, and stay within the picture; two zeros are equal."""
    if paper == 0:
        return 1.0 if ours == 0 else EDGE if ours > 0 else 1 / EDGE
    return min(max(ours / paper, 1 / EDGE), EDGE)


def cards(paper: str) -> Markdown:
    """Show the items of a paper one below the other: numbers, data, reasons, command, page."""
    items = [item for item in ITEMS if item.paper == paper]
    if not items:
        papers = ", ".join(dict.fromkeys(item.paper for item in ITEMS))
        raise ValueError(f"paper must be one of {papers}; got {paper!r}")
    lines = [line for line in scoreboard()[1] if line.paper == paper]
    return Markdown("\n\n".join(_card(i, [x for x in lines if x.item == i.name]) for i in items))


def summary() -> tuple[list[str], list[list[str]]]:
    """List how many items stand where, and which."""
    found = standings()
    rows = []
    for standing, title in STANDINGS.items():
        names = [key for key, where in found.items() if where == standing]
        which = [
            f"{paper}: {', '.join(name for _, name in group)}"
            for paper, group in groupby(names, key=lambda key: key[0])
        ]
        rows.append([title, str(len(names)), "; ".join(which) or "–"])
    return ["", "items", "which"], rows


def _card(item: Item, lines: list[Line]) -> str:
    """Write one item as Markdown."""
    parts = [f"**{_link(item)}: {item.title}**"]
    if not item.shown:
        parts.append(f"{'Drawn.' if item.figure else 'Missing.'} {item.note}")
    elif item.note:
        parts.append(item.note)
    for experiment, group in groupby(lines, key=lambda line: line.experiment):
        if experiment:
            parts += _numbers(experiment, list(group))
    return "\n\n".join(parts)


def _numbers(experiment: str, lines: list[Line]) -> list[str]:
    """Write the numbers of one experiment: a table, then what a reader has to know."""
    rows = [(line.number, line.printed, line.ours, line.verdict) for line in lines]
    # Beside changed data and stand-ins the label below the table says the kind already.
    heads = {x: f"{x}: " for x in (line.verdict for line in lines) if x not in OTHER_DATA.values()}
    said = [heads.get(line.verdict, "") + line.reason for line in lines if line.reason]
    reasons = {f"{text[0].upper()}{text[1:]}." for text in said}
    rerun = age_note(experiment) or f"Rerun: `{command(experiment)}`"
    after = [f"{data_label(lines[0].data)}.", *sorted(reasons), rerun]
    return [table(["", "paper", "ours", "verdict"], rows).data, " ".join(after)]


def _link(item: Item) -> str:
    """Link the page of an item."""
    return f"[{item.name}]({item.page}.ipynb)"
