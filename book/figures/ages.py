"""The mark on a figure that is drawn from stored results older than their code."""

from pathlib import Path

from matplotlib.figure import Figure

from book.reproduction import age_note

__all__ = ["mark_age"]


def mark_age(figure: Figure, *names: str, results: str | Path | None = None) -> Figure:
    """Write above a figure that stored results, given by their ids, are older than their code."""
    if age_note(*names, results=results):
        figure.suptitle("drawn from a result older than its code", fontsize=9)
    return figure
