"""Figures of the reproduction of Komodakis 2011."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances

from book.figures.ages import mark_age
from book.reproduction import Table, age_note, find, load
from book.reproduction import komodakis2011_distances as distances
from book.reproduction.komodakis2011_exemplars import cluster, learn, tuned_penalty
from book.reproduction.komodakis2011_synthetic import DISTANCES, ITERATIONS, RHOS, draw_sets
from book.reproduction.views import IMAGE_VIEWS
from book.spread import mean_of, stored_mean
from mlbook._arrays import Floats, Integers
from mlbook.datasets import DIGIT_VIEWS, IMAGE_FOLDERS, TEXTURES, load_texture_patches
from mlbook.latent_crf import exemplars_of_partition
from mlbook.partitions import f_measure
from mlbook.plots import COLORS, INK, MARKERS, scatter, subplots

__all__ = [
    "clustering_at",
    "digit_weights",
    "f_against_rho",
    "image_sets",
    "neighbours_with_noise",
    "noisy_shares",
    "objective_path",
    "order",
    "orders",
    "patches",
    "standardized",
    "texture_weights",
    "weights_and_clusters",
]

SMALL = {"seed": 0, "n_samples": 200, "n_features": 60, "n_clusters": 6, "n_sets": 4}
PICTURE = {"n_samples": 300, "n_features": 100, "n_clusters": 10, "n_sets": 5}


def _summary(name: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return the numbers of a stored full run, empty if there is none."""
    result = load(f"komodakis2011-{name}")
    return result["summary"] if result else {}


def objective_path() -> Figure:
    """Draw the objective over the iterations, mean and standard error of the runs."""
    cells = _summary("figure2a").get("objective", {})
    figure, axes = subplots(1, 1, height=3.0)
    ax = axes[0, 0]
    shown = [(i, cells[f"after{i}"]) for i in ITERATIONS if f"after{i}" in cells]
    x = [0.5, *(i for i, _ in shown)]
    found = [stored_mean(cell) for _, cell in shown]
    mean = np.array([1.0, *(each.mean for each in found)])
    error = np.array([0.0, *(each.error for each in found)])
    ax.fill_between(x, mean - error, mean + error, alpha=0.25, linewidth=0)
    ax.plot(x, mean, marker=MARKERS[0])
    ax.set(xscale="log", ylim=(0, 1.05), xlabel="iteration", ylabel="objective / start")
    ax.set_xticks(x, ["0", *(str(i) for i, _ in shown)])
    ax.minorticks_off()
    return mark_age(figure, "komodakis2011-figure2a")


def f_against_rho() -> Figure:
    """Draw the F-measure on test sets over the share of noisy features, by distance."""
    summary = _summary("figure2")
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


def digit_weights() -> Figure:
    """Draw the learned share of every view and distance of the digits, noise included."""
    data = distances.split("digits", 0, distances.KINDS, 80, noise=True)
    figure, axes = subplots(1, 1, height=4.4)
    views = [*DIGIT_VIEWS, *(f"noise {name}" for name in DIGIT_VIEWS)]
    _heat(axes[0, 0], distances.learned_shares(data).reshape(len(views), -1), views)
    return figure


def texture_weights() -> Figure:
    """Draw the learned share of every view and distance of the textures, upright and turned."""
    figure, axes = subplots(1, 2, height=3.2)
    for ax, rotate in zip(axes[0], (False, True), strict=True):
        data = distances.split("textures", 0, distances.KINDS, None, patch=24, rotate=rotate)
        shares = distances.learned_shares(data).reshape(len(IMAGE_VIEWS), -1)
        _heat(ax, shares, list(IMAGE_VIEWS) if not rotate else [])
        ax.set_title("turned" if rotate else "upright")
    return figure


def _heat(ax: Any, shares: Floats, views: list[str]) -> None:
    """Draw shares as a table of percentages, darker for more."""
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=0.8, aspect="auto")
    ax.set_xticks(range(shares.shape[1]), ["χ²", "l1", "l2", "RBF"])
    ax.set_yticks(range(len(views)), views)
    ax.tick_params(length=0)
    for (row, column), share in np.ndenumerate(shares):
        if share >= 0.005:
            ax.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=11)


def patches() -> Figure:
    """Draw six patches of each texture, three as they are and three turned."""
    figure, axes = subplots(len(TEXTURES), 6, height=3.0)
    for column in range(6):
        images, y = load_texture_patches(rotate=column >= 3, random_state=0)
        for row in range(len(TEXTURES)):
            ax = axes[row, column]
            ax.imshow(images[y == row][40 * column], cmap="gray", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
    for row, name in enumerate(TEXTURES):
        axes[row, 0].set_ylabel(name)
    axes[0, 1].set_title("upright")
    axes[0, 4].set_title("turned")
    return figure


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


def neighbours_with_noise(n_noise: int, *, stretch: float = 1, n_seeds: int = 20) -> Floats:
    """Nearest-neighbour accuracy on 300 small digits, the distance to a noise vector added.

    The noise has `n_noise` dimensions (0: nothing is added); both squared distances have mean 1.
    The differences of the noise's distances from their mean are multiplied by `stretch`.

    Examples
    --------
    >>> alone, noisy = (neighbours_with_noise(m, n_seeds=2).mean() for m in (0, 6))
    >>> bool(noisy < alone - 0.1)
    True
    """
    digits, y = load_digits(return_X_y=True)
    scores = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        rows = rng.permutation(len(y))[:300]
        D = euclidean_distances(digits[rows], squared=True)
        D /= D.mean()
        if n_noise:
            noise = euclidean_distances(rng.normal(size=(300, n_noise)), squared=True)
            D += 1 + stretch * (noise / noise.mean() - 1)
        np.fill_diagonal(D, np.inf)
        scores.append(np.mean(y[rows][D.argmin(axis=1)] == y[rows]))
    return np.array(scores)


# Measure, the two rows compared, how they are called, what the paper has (UIUC), whether on all
# stand-ins or on the digits only.
ORDERS = (
    ("accuracy", "learned", distances.SVM, "learned, SVM", "86 > 74", True),
    ("nn", "learned", distances.SVM, "learned, SVM", "95.3 > 82.1", True),
    ("nn", "learned", "best single distance", "learned, best single", "95.3 > at most 90", True),
    ("nn", "learned", "average distance", "learned, average", "95.3 > at most 90", True),
    ("nn", "learned", distances.ONE_KIND, "four distances, one per view", "96.1 > 95.3", False),
    (
        "nn",
        "average distance",
        "average distance, with noise",
        "average without, with noise features",
        "drops significantly",
        False,
    ),
)
SIGNS = {1: ">", 0: "≈", -1: "<"}


def order(first: str, second: str, key: str) -> int | None:
    """Compare two rows of a stand-in: 1 if the first is better, -1 if worse, 0 if neither.

    The mean difference over the splits counts if it is beyond twice its standard error and at
    least half a percent point. None if one was not run.
    """
    a, b = (_values(row, key) for row in (first, second))
    if not len(a) or len(a) != len(b):
        return None
    gain, error, _ = mean_of(a - b)
    return int(np.sign(gain)) if abs(gain) > max(2 * error, 0.005) else 0


def orders() -> Table:
    """List what the paper found on image sets, and what the stored runs on stand-ins have.

    "<" and ">" are differences that count by the rule of `order`, "≈" those that do not.
    """
    header = ["in percent", "paper", "digits", "upright", "turned"]
    rows = []
    for key, first, second, text, paper, everywhere in ORDERS:
        cells = []
        for end in ("", ", upright", ", turned") if everywhere else ("",):
            sign = order(first + end, second + end, key)
            a, b = (_values(row + end, key) for row in (first, second))
            shown = (
                "–"
                if sign is None
                else SIGNS[sign].join((f"{100 * a.mean():.1f} ", f" {100 * b.mean():.1f}"))
            )
            cells.append(shown)
        what = "clusters" if key == "accuracy" else "neighbours"
        rows.append([f"{what}: {text}", paper, *cells, *[""] * (3 - len(cells))])
    noisy, clean = (_values(f"learned{end}", "nn") for end in (", with noise", ""))
    share = _values("learned, with noise", "noise")
    if len(share):
        between = SIGNS[order("learned", "learned, with noise", "nn") or 0]
        cell = f"{100 * clean.mean():.1f} {between} {100 * noisy.mean():.1f}"
        rows.append(["neighbours: learned without, with noise features", "the same", cell, "", ""])
        rows.append(["weight of noise features", "none", f"{100 * share.mean():.1f}", "", ""])
    upright, turned = (_values(f"learned, {end}", "rot") for end in ("upright", "turned"))
    if len(turned):
        cells = [f"{100 * x.mean():.0f}" for x in (upright, turned)]
        rows.append(["weight of rot- features", "suppressed upright, more if turned", "", *cells])
    return Table(header, rows, age_note("komodakis2011-digits", "komodakis2011-textures"))


def image_sets() -> Table:
    """List the accuracies that the paper prints for image sets, and ours where they were run."""
    header = ["images", "distance", "clusters: paper", "ours", "neighbours: paper", "ours"]
    rows = []
    for name in IMAGE_FOLDERS:
        declared, summary = find(f"komodakis2011-{name}"), _summary(name)
        columns = {column.key: column for column in declared.columns}
        for row, numbers in declared.paper_numbers.items():
            cells = []
            for key in ("accuracy", "nn"):
                ours = summary.get(row, {}).get(key)
                cells.append(columns[key].show(numbers.get(key)))
                cells.append(columns[key].show(stored_mean(ours) if ours else None))
            rows.append([name, row, *cells])
    return Table(header, rows, age_note(*(f"komodakis2011-{name}" for name in IMAGE_FOLDERS)))


def _values(row: str, key: str) -> Floats:
    """Numbers of a row of the stand-ins, one for each split, in the order of the splits."""
    name = "textures" if row.endswith(("upright", "turned")) else "digits"
    result = load(f"komodakis2011-{name}") or {"units": []}
    lines = [line for line in result["units"] if line["unit"]["row"] == row]
    return np.array([x["values"][key] for x in lines if key in x["values"]])
