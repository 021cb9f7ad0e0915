"""Where the paper's order of methods holds: Lajugie 2014, Figure 1 under twenty settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from book.figures.ages import mark_age
from book.reproduction import Table, age_note, find, load
from book.reproduction.lajugie2014_settings import CELLS, KINDS, LEVELS, setting
from book.spread import mean_of
from mlbook._arrays import Floats, Integers
from mlbook.plots import INK, subplots

__all__ = ["ORDERS", "Order", "best_methods", "draws", "grid", "lead", "leads", "map_of_orders"]

MAP = "lajugie2014-figure1-map"
SHORT = {  # kinds of columns, as short as a phone needs
    "as in the figure": "as in Figure 1",
    "relevant columns independent": "relevant: own levels",
    "irrelevant columns in groups": "others: in groups",
    "noise twice as large": "noise × 2",
    "90 irrelevant columns": "others: only 90",
}
SHADES = ("#F2B705", "#E4E4E4", "#8CC5E8")  # reversed, open, holds; under dark text


class Order(NamedTuple):
    """An order of methods: each of the lower ones has less loss than each of the others."""

    title: str
    lower: tuple[str, ...]
    higher: tuple[str, ...]


ALL_PCA, ALL_RCA, FEW_RCA = ("pca3", "pca4"), ("rca3", "rca4"), ("few_rca3", "few_rca4")
RIVALS = ("few_penalty", *ALL_PCA, *FEW_RCA)
ORDERS = {
    "pca": Order("all labels: PCA below a penalty", ALL_PCA, ("penalty",)),
    "rca": Order("all labels: RCA below PCA", ALL_RCA, ALL_PCA),
    "margin": Order(
        "all labels: margin below all", ("large_margin",), ("penalty", *ALL_PCA, *ALL_RCA)
    ),
    "few_rca": Order("20%: RCA below PCA", FEW_RCA, ALL_PCA),
    "few_from_pca": Order("20%, from PCA: margin below all", ("few_from_pca",), RIVALS),
    "few_margin": Order("20%, from windows: margin below all", ("few_large_margin",), RIVALS),
}


def draws(row: str) -> dict[str, Floats]:
    """Losses of one setting, by column, one for each draw in the order of the seeds."""
    units = (load(MAP) or {"units": []})["units"]
    own = sorted((u for u in units if u["unit"]["row"] == row), key=lambda u: u["unit"]["seed"])
    return {key: np.array([unit["values"][key] for unit in own]) for key in CELLS}


def lead(lower: Floats, higher: Floats) -> float:
    """By how many standard errors the mean of one lies below that of the other, draw by draw.

    Examples
    --------
    >>> round(lead(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])), 2)
    3.46
    """
    gap = mean_of(higher - lower)
    if gap.error > 0:
        return gap.mean / gap.error
    return 0.0 if gap.mean == 0 else float(np.copysign(np.inf, gap.mean))


def leads(order: Order, losses: Mapping[str, Floats]) -> tuple[int, float]:
    """Say whether an order holds (1), is reversed (−1) or neither (0), and by how much.

    It holds if each pair is more than two standard errors apart; the number is the least of them.
    It is reversed if each pair is so the other way.
    """
    found = [lead(losses[a], losses[b]) for a in order.lower for b in order.higher]
    if min(found) > 2:
        return 1, min(found)
    return (-1, max(found)) if max(found) < -2 else (0, min(found))


def grid(order: Order) -> tuple[Integers, Floats]:
    """Whether an order holds, and by how much, by kind of columns (rows) and level (columns)."""
    found = [
        [leads(order, draws(setting(kind, level))) for level in LEVELS]
        for kind in KINDS
        if load(MAP) is not None
    ]
    table = np.array(found).reshape(-1, len(LEVELS), 2)
    return table[..., 0].astype(int), table[..., 1]


def map_of_orders() -> Figure:
    """Draw one square for each setting and order: whether it holds, and by how much."""
    figure, axes = subplots(3, 2, height=7.6)
    for i, (ax, order) in enumerate(zip(axes.flat, ORDERS.values(), strict=True)):
        ax.set_title(order.title.replace(": ", ":\n", 1), fontsize=10)
        ax.set_xticks(range(len(LEVELS)), [f"{level:g}" for level in LEVELS])
        ax.set_yticks(range(len(KINDS)), [SHORT[kind] for kind in KINDS] if i % 2 == 0 else [])
        ax.tick_params(length=0, labelsize=10)
        ax.spines[:].set_visible(False)
        if i >= 4:
            ax.set_xlabel("levels of the others", fontsize=10)
        codes, by = grid(order)
        if len(codes):
            ax.imshow(codes, cmap=ListedColormap(SHADES), vmin=-1, vmax=1, aspect="auto")
        for (r, c), code in np.ndenumerate(codes):
            size = f"{min(abs(by[r, c]), 99):.0f}"
            sign = {1: size, 0: "–", -1: f"−{size}"}[int(code)]
            ax.text(c, r, sign, ha="center", va="center", color=INK, fontsize=10)
    return mark_age(figure, MAP)


def best_methods() -> Table:
    """Table of the settings: all mean losses, and the best method with its lead on the next.

    The best is among those of the paper; with 20% of the labels the large margin starts from PCA.
    """
    columns = {column.key: column.title for column in find(MAP).columns}
    groups = {
        "all labels": ("penalty", *ALL_PCA, *ALL_RCA, "large_margin"),
        "20% of the labels": (*RIVALS, "few_from_pca"),
    }
    rows = []
    for row in find(MAP).rows:
        losses = draws(row)
        if not len(losses["pca3"]):
            continue
        cells = [mean_of(losses[key]).show(2) for key in columns]
        for keys in groups.values():
            first, second = sorted(keys, key=lambda key: losses[key].mean())[:2]
            by = lead(losses[first], losses[second])
            cells.append(f"{columns[first].split(',')[0]} by {by:.1f}" if by > 2 else "none")
        rows.append([row, *cells[-2:], *cells[:-2]])
    header = ["setting", *(f"best, {name}" for name in groups), *columns.values()]
    return Table(header, rows, age_note(MAP))
