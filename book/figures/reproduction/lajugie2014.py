"""Figures and tables of the reproduction of Lajugie et al. 2014."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from book.figures.ages import mark_age
from book.reproduction import Table, comparison, load
from book.reproduction.experiment import parse
from book.reproduction.lajugie2014_maps import OURS, PENALTY
from book.reproduction.lajugie2014_sequences import FRACTIONS, FROM_PCA, fraction_key
from book.reproduction.lajugie2014_tables import SPLITS, TABLES
from book.spread import stored_mean
from mlbook.datasets import make_change_points
from mlbook.large_margin import LargeMarginMetric
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "columns_used",
    "curves",
    "distance_ratio",
    "one_cluster",
    "principal_share",
    "sequences",
    "table2",
]

CURVES = {  # rows of Figure 1, as the paper shows them, and ours
    PENALTY: "penalty only",
    "PCA 3": "PCA, 3 components",
    "RCA 4": "RCA, 4 components",
    "RCA 3": "RCA, 3 components",
    FROM_PCA: "large margin, from PCA",
    OURS: "large margin",
}


def sequences() -> Figure:
    """Draw two relevant and two irrelevant columns of one sequence, and its change points."""
    (x,), (y,) = make_change_points(1, random_state=5)
    figure, axes = subplots(4, 1, height=4.6)
    for ax, column in zip(axes[:, 0], (0, 1, 10, 11), strict=True):
        ax.plot(x[:, column], color=COLORS[0 if column < 10 else 1], linewidth=0.7)
        for change in np.flatnonzero(np.diff(y)):
            ax.axvline(change + 0.5, color=INK, linestyle=":", linewidth=1)
        ax.set_ylabel(f"column {column + 1}", fontsize=9)
        ax.set_yticks([])
        ax.tick_params(labelbottom=column == 11)
    axes[-1, 0].set_xlabel("time")
    return figure


def curves() -> Figure:
    """Draw the loss on test sequences over the fraction of labels, for each method."""
    result = load("lajugie2014-figure1")
    summary = result["summary"] if result else {}
    figure, axes = subplots(1, 1, height=4.0)
    ax = axes[0, 0]
    for i, (row, title) in enumerate(CURVES.items()):
        cells = summary.get(row, {})
        shown = [f for f in FRACTIONS if fraction_key(f) in cells]
        found = [stored_mean(cells[fraction_key(f)]) for f in shown]
        mean, error = [each.mean for each in found], [each.error for each in found]
        style = {"marker": MARKERS[i % len(MARKERS)], "color": COLORS[i % len(COLORS)]}
        if shown:
            ax.errorbar(shown, mean, error, label=title, capsize=3, **style)
    if summary:
        figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    ax.set(xlabel="fraction of labels", ylabel="Δ on test sequences")
    ax.set_ylim(bottom=-0.3)
    ax.set_xticks(FRACTIONS, [f"{f:g}" for f in FRACTIONS])
    return mark_age(figure, "lajugie2014-figure1")


def table2(name: str) -> Table:
    """One data set of Table 2: the paper's number beside ours under both splits.

    Two verdicts are separated by a slash where they are not the same. A match is marked where the
    printed number is no lower than the loss of one cluster for everything: it says little.
    """
    tables = [comparison("lajugie2014-table2", column=f"{name}_{split}") for split in SPLITS]
    least = one_cluster(name)
    rows = []
    pairs = zip(*(each.rows for each in tables), strict=True)
    for (row, paper, same, first), (_, _, half, second) in pairs:
        verdict = first if first == second else f"{first} / {second}"
        if "matches" in verdict and parse(paper).value >= least:
            verdict += "; no better than one cluster"
        rows.append([row, paper, same, half, verdict])
    note = f"One cluster for everything has a loss of {least}. {tables[0].note}".strip()
    return Table(["", "paper", *SPLITS.values(), "verdict"], rows, note)


def one_cluster(name: str) -> int:
    """Loss of one cluster for everything on a data set of Table 2.

    Examples
    --------
    >>> one_cluster("iris")
    2
    """
    return len(np.unique(TABLES[name].load()[1])) - 1


def principal_share(seed: int, level: float) -> float:
    """Share of the first three principal components that lies on the relevant columns.

    Ten sequences as in Figure 1, of 300 points; `level` is that of the irrelevant columns.

    Examples
    --------
    >>> principal_share(0, 2.0) > principal_share(0, 2.5)
    True
    """
    series, _ = make_change_points(10, n_samples=300, irrelevant_level=level, random_state=seed)
    scatter = sum((x - x.mean(axis=0)).T @ (x - x.mean(axis=0)) for x in series)
    leading = np.linalg.eigh(scatter)[1][:, -3:]
    return float(np.sum(leading[:10] ** 2) / 3)


def distance_ratio(seed: int, n_columns: int) -> float:
    """Mean distance of points in neighbouring segments over that of points in one segment.

    One sequence as in Figure 1; its first columns are the ten relevant ones.

    Examples
    --------
    >>> distance_ratio(0, 300) < distance_ratio(0, 10)
    True
    """
    (x,), (y,) = make_change_points(1, n_irrelevant=n_columns - 10, random_state=seed)
    change = int(np.flatnonzero(np.diff(y))[0]) + 1
    left, right = x[change - 20 : change], x[change : change + 20]
    across = np.linalg.norm(left[:, None] - right, axis=2)
    within = [np.linalg.norm(half[:, None] - half, axis=2) for half in (left, right)]
    return float(across.mean() / (np.mean(within) * 20 / 19))


def columns_used(seed: int) -> tuple[int, int, float]:
    """Count the columns with weight after learning from three sequences of 300 points.

    Returns how many of ten relevant columns, how many of 90 others, and the share of the weight
    that the relevant ones have.

    Examples
    --------
    >>> columns_used(0)[2] > 0.9
    True
    """
    series, labels = make_change_points(3, n_samples=300, n_irrelevant=90, random_state=seed)
    weights = LargeMarginMetric().fit(series, labels).get_mahalanobis_matrix().diagonal()
    relevant, others = weights[:10], weights[10:]
    share = float(relevant.sum() / weights.sum())
    return int(np.sum(relevant > 0)), int(np.sum(others > 0)), share
