"""Figures of the reproduction of Komodakis 2011."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics.pairwise import euclidean_distances

from book.figures.ages import mark_age
from book.reproduction import Table, age_note, find, load
from book.reproduction.komodakis2011_distances import (
    AVERAGE,
    MKL,
    NCA,
    ONE_KIND,
    SCENES,
    SINGLE,
    SVM,
)
from book.reproduction.komodakis2011_exemplars import cluster, learn, tuned_penalty
from book.reproduction.komodakis2011_synthetic import DISTANCES, ITERATIONS, RHOS, draw_sets
from book.reproduction.views import KINDS
from book.spread import Mean, mean_of, stored_mean
from mlbook._arrays import Floats, Integers
from mlbook.datasets import load_image_folder
from mlbook.latent_crf import exemplars_of_partition
from mlbook.partitions import f_measure
from mlbook.plots import COLORS, INK, MARKERS, scatter, subplots

__all__ = [
    "accuracies",
    "clustering_at",
    "exemplar_images",
    "exemplars",
    "f_against_rho",
    "gap",
    "neighbours",
    "noisy_shares",
    "objective_paths",
    "order",
    "standardized",
    "values",
    "verdicts",
    "weights",
    "weights_and_clusters",
]

SMALL = {"seed": 0, "n_samples": 200, "n_features": 60, "n_clusters": 6, "n_sets": 4}
PICTURE = {"n_samples": 300, "n_features": 100, "n_clusters": 10, "n_sets": 5}
SCENES_RUN, TEXTURES_RUN = "komodakis2011-scenes", "komodakis2011-keel-textures"
RIVALS = ("learned", SINGLE, AVERAGE, NCA, SVM, MKL)
SHORT = ("learned", "best single", "average", "NCA", "structured SVM", "sum of kernels")


def _summary(name: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return the numbers of a stored full run, empty if there is none."""
    result = load(name)
    return result["summary"] if result else {}


def values(name: str, row: str, key: str) -> Floats:
    """Return the stored numbers of a row, one for each split, in the order of the splits."""
    result = load(name) or {"units": []}
    lines = [line for line in result["units"] if line["unit"]["row"] == row]
    return np.array([x["values"][key] for x in lines if key in x["values"]])


# --- verdicts --------------------------------------------------------------------------------

# Measure; the two rows compared; how they are called; what the paper has; on which runs.
ORDERS = (
    ("nn", "learned", SINGLE, "neighbours: learned, best single", "70.2 > at most 61"),
    ("nn", "learned", AVERAGE, "neighbours: learned, average", "70.2 > at most 61"),
    ("nn", "learned", SVM, "neighbours: learned, structured SVM", "70.2 > 62.1"),
    ("accuracy", "learned", SVM, "clusters: learned, structured SVM", "63 > 52"),
    ("nn", "learned", MKL, "classes: learned, weighted kernels", "70.2 > 63.4"),
)
NOISE_ORDERS = (
    ("nn", "learned", ONE_KIND, "neighbours: four distances, one per view", "96.1 > 95.3"),
    (
        "nn",
        "learned",
        "learned, with noise",
        "neighbours: learned without, with noise",
        "the same",
    ),
    (
        "nn",
        AVERAGE,
        f"{AVERAGE}, with noise",
        "neighbours: average without, with noise",
        "drops significantly",
    ),
)
SIGNS = {1: ">", 0: "≈", -1: "<"}


def order(name: str, first: str, second: str, key: str) -> int | None:
    """Compare two rows of a stored run: 1 if the first is better, -1 if worse, 0 if neither.

    The mean difference over the splits counts if it is beyond twice its standard error and at
    least half a percent point. None if one was not run.
    """
    a, b = (values(name, row, key) for row in (first, second))
    if not len(a) or len(a) != len(b):
        return None
    gain, error, _ = mean_of(a - b)
    return int(np.sign(gain)) if abs(gain) > max(2 * error, 0.005) else 0


def gap(name: str, first: str, second: str, key: str = "nn") -> Mean:
    """Return by how many percent points the first row of a stored run is above the second.

    Both have the same splits.
    """
    a, b = (values(name, row, key) for row in (first, second))
    return mean_of(100 * (a - b))


def _compared(name: str, first: str, second: str, key: str) -> str:
    """Write two means in percent with what stands between them."""
    sign = order(name, first, second, key)
    if sign is None:
        return "–"
    a, b = (100 * values(name, row, key).mean() for row in (first, second))
    return f"{a:.1f} {SIGNS[sign]} {b:.1f}"


def verdicts() -> Table:
    """List what the paper says of learned weights of distances, and what the stored runs have.

    "<" and ">" are differences that count by the rule of `order`, "≈" those that do not.
    """
    header = ["in percent", "paper", "15 scenes", "textures"]
    rows = []
    for key, first, second, text, paper in ORDERS:
        cells = [_compared(name, first, second, key) for name in (SCENES_RUN, TEXTURES_RUN)]
        rows.append([text, paper, *cells])
    for key, first, second, text, paper in NOISE_ORDERS:
        rows.append([text, paper, "", _compared(TEXTURES_RUN, first, second, key)])
    noise = values(TEXTURES_RUN, "learned, with noise", "noise")
    share = f"{100 * noise.mean():.1f}" if len(noise) else "–"
    rows.append(["weight of the noise views", "none", "", share])
    return Table(header, rows, age_note(SCENES_RUN, TEXTURES_RUN))


def accuracies(name: str, rows: Sequence[str] = RIVALS, end: str = "") -> Table:
    """List the accuracies of a stored run, in percent, the paper's numbers in brackets."""
    declared, summary = find(name), _summary(name)
    columns = [column for column in declared.columns if column.key != "noise"]
    table, runs = [], 0
    for row in rows:
        cells = []
        for column in columns:
            cell = summary.get(row + end, {}).get(column.key)
            shown, percent = "–", column.key != "clusters"
            if cell:
                mean, error, n = stored_mean(cell)
                runs = max(runs, n)
                times = 100 if percent else 1
                shown = f"{times * mean:.1f} ± {times * error:.1f}" if n > 1 else f"{mean:.3f}"
            printed = declared.paper_numbers.get(row, {}).get(column.key)
            words = declared.paper_words.get(row, {}).get(column.key)
            cells.append(shown + (f" ({_percent(printed or words)})" if printed or words else ""))
        table.append([row + end, *cells])
    header = [f"in percent, {runs} splits", *(c.title for c in columns)]
    return Table(header, table, age_note(name))


def _percent(text: Any) -> str:
    """Write a number of the paper in percent, with the words before it."""
    words, _, number = str(text).rpartition(" ")
    return f"paper: {words} {100 * float(number):.4g}".replace("  ", " ")


# --- weights, objective, exemplars -----------------------------------------------------------


def weights(name: str) -> Figure:
    """Draw the mean learned share of every view and distance of a stored run, as percentages."""
    summary = _summary(name)
    views = find(name).rows
    shares = np.array(
        [[summary.get(view, {}).get(k, {"mean": 0.0})["mean"] for k in KINDS] for view in views]
    )
    figure, axes = subplots(1, 1, height=0.7 + 0.42 * len(views))
    ax = axes[0, 0]
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=max(0.5, 1.25 * shares.max()), aspect="auto")
    ax.set_xticks(range(len(KINDS)), ["χ²", "l2", "l1", "RBF"])
    ax.set_yticks(range(len(views)), views)
    ax.tick_params(length=0)
    for (row, column), share in np.ndenumerate(shares):
        if share >= 0.005:
            ax.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=11)
    return mark_age(figure, name)


def objective_paths() -> Figure:
    """Draw the objective over the iterations, mean and standard error, of both stored runs."""
    runs = {"Figure 2(a)": "komodakis2011-figure2a", "15 scenes": "komodakis2011-figure6b"}
    figure, axes = subplots(1, 1, height=3.0)
    ax = axes[0, 0]
    x = [0.5, *ITERATIONS]
    for i, (label, name) in enumerate(runs.items()):
        cells = _summary(name).get("objective", {})
        if not cells:
            continue
        found = [stored_mean(cells[f"after{i}"]) for i in ITERATIONS]
        mean = np.array([1.0, *(each.mean for each in found)])
        error = np.nan_to_num([0.0, *(each.error for each in found)])
        ax.fill_between(x, mean - error, mean + error, alpha=0.25, linewidth=0, color=COLORS[i])
        ax.plot(x, mean, marker=MARKERS[i], color=COLORS[i], label=label)
        ax.legend(frameon=False)
    ax.set(xscale="log", ylim=(0, 1.05), xlabel="iteration", ylabel="objective / start")
    ax.set_xticks(x, ["0", *map(str, ITERATIONS)])
    ax.minorticks_off()
    return mark_age(figure, *runs.values())


def exemplars() -> Table:
    """List the exemplars of the stored Figure 7, by the names of their images."""
    name = "komodakis2011-figure7"
    summary = _summary(name)
    rows = []
    for scene in SCENES:
        cells = {key: cell["mean"] for key, cell in summary.get(scene, {}).items()}
        if "image" in cells:
            image = f"{scene}/image_{cells['image']:04.0f}"
            size, right = f"{cells['size']:.0f}", f"{cells['right']:.0%}"
            rows.append([image, f"{cells['exemplars']:.0f}", size, right])
    header = ["image", "exemplars of this scene", "images in its cluster", "of this scene"]
    return Table(header, rows, age_note(name))


def exemplar_images() -> Figure | None:
    """Draw the images of the stored Figure 7, if the reader has them."""
    try:
        images = load_image_folder("scenes15")
    except FileNotFoundError:
        return None
    chosen = [row[0] for row in exemplars().rows]
    figure, axes = subplots((len(chosen) + 3) // 4, 4, height=1.5 * ((len(chosen) + 3) // 4))
    for ax, name in zip(axes.flat, [*chosen, *[""] * (axes.size - len(chosen))], strict=True):
        ax.set_axis_off()
        if name in images.names:
            ax.imshow(images[images.names.index(name)], cmap="gray", vmin=0, vmax=255)
            ax.set_title(name.partition("/")[0], fontsize=9)
    return figure


def neighbours() -> Figure:
    """Draw nearest-neighbour accuracies on scenes and textures, with the paper's for scenes."""
    figure, axes = subplots(1, 1, height=4.2)
    ax = axes[0, 0]
    runs = {
        "15 scenes": (SCENES_RUN, ""),
        "textures": (TEXTURES_RUN, ""),
        "textures, noise": (TEXTURES_RUN, ", with noise"),
    }
    for i, (label, (name, end)) in enumerate(runs.items()):
        found = [mean_of(x) if len(x) else None for x in _each(name, end)]
        shown = [(r, m) for r, m in enumerate(found) if m]
        if shown:
            at = [r + 0.16 * (i - 1) for r, _ in shown]
            mean, error = ([100 * m[j] for _, m in shown] for j in (0, 1))
            ax.errorbar(
                mean, at, xerr=np.nan_to_num(error), fmt=MARKERS[i], color=COLORS[i], label=label
            )
    printed = find(SCENES_RUN).paper_numbers
    paper = [(r, 100 * float(printed[row]["nn"])) for r, row in enumerate(RIVALS) if row in printed]
    rows, numbers = zip(*paper, strict=True)
    ax.plot(numbers, rows, "x", color=INK, markersize=9, label="15 scenes, paper")
    ax.set_yticks(range(len(RIVALS)), SHORT)
    ax.invert_yaxis()
    ax.set(xlabel="nearest neighbour right, percent")
    figure.legend(frameon=False, loc="outside lower center", ncols=2)
    return mark_age(figure, SCENES_RUN, TEXTURES_RUN)


def _each(name: str, end: str) -> list[Floats]:
    return [values(name, row + end, "nn") for row in RIVALS]


# --- Figure 2 --------------------------------------------------------------------------------


def f_against_rho() -> Figure:
    """Draw the F-measure on test sets over the share of noisy features, by distance."""
    summary = _summary("komodakis2011-figure2")
    figure, axes = subplots(1, 1, height=3.3)
    ax = axes[0, 0]
    for i, name in enumerate(DISTANCES):
        cells = [summary.get(f"{name}, ρ = {rho}", {}).get("f") for rho in RHOS]
        points = [(r, *stored_mean(c)) for r, c in zip(RHOS, cells, strict=True) if c]
        if points:
            rho, mean, error, _ = zip(*points, strict=True)
            ax.errorbar(rho, mean, error, marker=MARKERS[i], color=COLORS[i], label=name, capsize=3)
            ax.legend(frameon=False, loc="center left")
    ax.set(ylim=(0, 1.05), xlabel="share ρ of noisy features", ylabel="F-measure")
    ax.set_xticks(RHOS)
    return mark_age(figure, "komodakis2011-figure2")


@cache
def _learned(rho: float, **sizes: int) -> tuple[Any, Floats, Integers]:
    """Return a model learned from small data sets, and a test set."""
    unit = {**SMALL, **sizes, "rho": rho}
    model = learn(*draw_sets(unit, 0))
    (X, *_), (y, *_) = draw_sets({**unit, "n_sets": 1}, 50)
    return model, X, y


def weights_and_clusters() -> Figure:
    """Draw learned weights, and a test set in two clean features with its exemplars."""
    model, X, y = _learned(0.5, **PICTURE)
    labels = model.predict(X)
    figure, axes = subplots(2, 1, height=5.6)
    top, bottom = axes[:, 0]
    top.bar(np.arange(1, 101), model.weights_, width=1, color=COLORS[0])
    top.axvline(50.5, color=INK, linestyle=":", linewidth=1)
    top.set(xlabel="feature (from 51 on: noisy)", title="weights")
    exemplars = exemplars_of_partition(model.distances(X), labels)
    scatter(bottom, X, y, centers=X[exemplars])
    bottom.set(xlabel="feature 1", ylabel="feature 2")
    bottom.set_title(f"{len(exemplars)} clusters found, F = {f_measure(y, labels):.2f}")
    return figure


def noisy_shares(seed: int = 0) -> tuple[float, float, float]:
    """Say how much noisy features weigh in the picture of the weights, or in another draw of it.

    Returns how many times the mean squared difference of clean features theirs is, their share of
    the sum of the weights, and their share of the mean distance.
    """
    model, _, _ = _learned(0.5, **{**PICTURE, "seed": seed})
    scales, parts = model.scales_, model.weights_ * model.scales_
    of_weights, of_distance = (float(a[50:].sum() / a.sum()) for a in (model.weights_, parts))
    return float(scales[50:].mean() / scales[:50].mean()), of_weights, of_distance


def clustering_at(rho: float, distance: str) -> tuple[Figure, str]:
    """Draw the clustering of a small test set by one of the three distances."""
    model, X, y = _learned(rho)
    unit = {**SMALL, "rho": rho}
    train, partitions = draw_sets(unit, 0)
    if distance == "learned":
        labels, weights = model.predict(X), model.weights_
    else:
        spread = np.concatenate(train).std(axis=0)
        scale = spread if distance.startswith("standardised") else np.ones_like(spread)
        within = [euclidean_distances(T / scale, squared=True) for T in train[:2]]
        penalty = tuned_penalty(within, partitions[:2])
        labels = cluster(euclidean_distances(X / scale, squared=True), penalty)
        weights = scale**-2
    figure, axes = subplots(1, 2, height=3.1)
    left, right = axes[0]
    scatter(left, X, labels)
    left.set(xlabel="feature 1", ylabel="feature 2", title="clusters found")
    parts = weights * X.var(axis=0)
    right.bar(np.arange(1, len(weights) + 1), parts / parts.sum(), width=1)
    right.set(xlabel="feature", title="share of the distance", ylim=(0, 0.4))
    right.axvline(len(weights) * (1 - rho) + 0.5, color=INK, linestyle=":", linewidth=1)
    score = f_measure(y, labels)
    return figure, (
        f"Distance: {distance}. Noisy features, right of the dotted line: {rho:.0%}. Clusters "
        f"found: {labels.max() + 1}, wanted: {len(set(y))}. F = {score:.2f}."
    )


@cache
def standardized(*, noisy: bool, n_seeds: int = 20) -> Floats:
    """F on small test sets, ρ = 0.7, each feature divided by its standard deviation.

    Without `noisy` the noisy features are left out.
    """
    unit = {"n_samples": 60, "n_features": 40, "n_clusters": 5, "n_sets": 1, "rho": 0.7}
    kept = 40 if noisy else 12
    scores = []
    for seed in range(n_seeds):
        (train,), (partition,) = draw_sets({**unit, "seed": seed}, 0)
        (X,), (y,) = draw_sets({**unit, "seed": seed}, 50)
        scale = train.std(axis=0)
        within, among = (
            euclidean_distances((Z / scale)[:, :kept], squared=True) for Z in (train, X)
        )
        scores.append(f_measure(y, cluster(among, tuned_penalty([within], [partition]))))
    return np.array(scores)
