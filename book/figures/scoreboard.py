"""The scoreboard of the book: what the papers print, what came out here, and where it stands."""

from itertools import groupby

from IPython.display import Markdown

from book.figures.style import table
from book.reproduction import ITEMS, STANDINGS, age_note, command, scoreboard, standings
from book.reproduction.items import Item, Line

__all__ = ["cards", "summary"]


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
    data = "the paper's" if lines[0].data == "same" else lines[0].data
    rows = [(line.number, line.printed, line.ours, line.verdict) for line in lines]
    reasons = {
        f"{line.verdict[0].upper()}{line.verdict[1:]}: {line.reason}."
        for line in lines
        if line.reason
    }
    rerun = age_note(experiment) or f"Rerun: `{command(experiment)}`"
    after = [f"Data: {data}.", *sorted(reasons), rerun]
    return [table(["", "paper", "ours", "verdict"], rows).data, " ".join(after)]


def _link(item: Item) -> str:
    """Link the page of an item."""
    return f"[{item.name}]({item.page}.ipynb)"
