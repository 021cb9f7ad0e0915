"""Law 2017 on 500 images of Corel5K: distances of bags, rules of voting, number of images."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from book.figures.ages import mark_age
from book.figures.reproduction.law2017 import fold_values, stored_summary
from book.reproduction import Table, age_note, find, load
from book.reproduction.experiment import Column, parse
from book.reproduction.law2017_annotation import FOUR_METRICS, IMAGES
from book.spread import stored_mean
from mlbook._arrays import Floats
from mlbook.plots import COLORS, MARKERS, subplots

__all__ = ["bag_distances_and_rules", "extrapolated", "images_curve"]

PAPER_IMAGES = 3947
DISTANCES, CURVE = "law2017-corel5k-500-distances", "law2017-corel5k-500-curve"
KINDS = ("minimal", "mean of minima")


def bag_distances_and_rules(*, results: str | None = None) -> Table:
    """Average precision on the 500 images: four metrics, two distances of bags, two rules."""
    summary = stored_summary(DISTANCES, results)
    column = Column("ap", "average precision")
    rows = []
    for metric in FOUR_METRICS:
        cells = [summary.get(f"{metric}, {kind}", {}) for kind in ("minimal", "mean")]
        numbers = [cell.get(rule) for rule in ("ours", "authors") for cell in cells]
        rows.append([metric, *(column.show(n and stored_mean(n)) for n in numbers)])
    header = ["", *(f"{kind}, {rule}" for rule in ("our rule", "authors' rule") for kind in KINDS)]
    return Table(header, rows, age_note(DISTANCES, results=results))


def extrapolated(metric: str, rule: str, *, results: str | None = None) -> Floats:
    """Average precision at the paper's 3947 images, on a line over the logarithm, by fold."""
    result = load(CURVE, results=results)
    rows = [fold_values(result, f"{metric}, {n} images", rule) for n in IMAGES]
    lines = np.array([[row[seed] for seed in sorted(row)] for row in rows])
    slope, start = np.polyfit(np.log(IMAGES), lines, 1)
    return start + slope * np.log(PAPER_IMAGES)


def images_curve(*, results: str | None = None) -> Figure:
    """Draw average precision over the number of training images, with the paper's two numbers."""
    summary = stored_summary(CURVE, results)
    figure, axes = subplots(1, 1, height=3.4)
    ax = axes[0, 0]
    printed = {"MIMLCA": "MIMLCA", "Euclidean": "Citation-kNN (Euclidean)"}
    for i, metric in enumerate(FOUR_METRICS[:3]):
        cells = {n: summary.get(f"{metric}, {n} images", {}).get("authors") for n in IMAGES}
        found = {n: stored_mean(cell) for n, cell in cells.items() if cell}
        style = {"color": COLORS[i], "marker": MARKERS[i]}
        mean, error = ([getattr(x, key) for x in found.values()] for key in ("mean", "error"))
        ax.errorbar([*found], mean, error, capsize=3, label=metric, **style)
        if metric in printed:
            number = str(find("law2017-table4").paper_numbers[printed[metric]]["ap20"])
            ax.plot(PAPER_IMAGES, parse(number).value, fillstyle="none", markersize=9, **style)
    if summary:
        last = stored_mean(summary["MIMLCA, 400 images"]["authors"]).mean
        end = extrapolated("MIMLCA", "authors", results=results).mean()
        ax.plot([IMAGES[-1], PAPER_IMAGES], [last, end], ":", color=COLORS[2])
    ax.set_xscale("log")
    ax.set_xticks([*IMAGES, PAPER_IMAGES], [*IMAGES, PAPER_IMAGES])
    ax.minorticks_off()
    ax.set(xlabel="training images", ylabel="average precision", ylim=(0.34, 0.6))
    ax.legend(frameon=False, loc="upper left")
    return mark_age(figure, CURVE, results=results)
