"""Figures and tables of the chapter that compares all methods on the same data."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from book.claims import measured
from book.figures.ages import mark_age
from book.figures.names import name_after
from book.reproduction import Table, age_note
from book.reproduction import made_problems as made
from book.reproduction.compared_data import DATA, draw
from book.reproduction.comparisons import BASE, THREE, row_of
from book.reproduction.methods import METHODS, cluster, learn
from book.spread import mean_of
from mlbook._arrays import Floats, Integers
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "LOOKS",
    "SHOWN",
    "VIEWED",
    "bag_table",
    "cost_table",
    "count_table",
    "differences",
    "dot_plot",
    "ends",
    "fall",
    "gain",
    "gain_table",
    "level_lines",
    "mean_over_sets",
    "method_view",
    "population_ratios",
    "rand",
    "rings",
    "sequence_table",
    "sizes_table",
    "steady",
    "verdicts",
]

SHOWN = ("half whitened", "RCA, shrunk", "LDA, shrunk", "MLCA, plain", "MLCA, shrunk")
"""Methods of the first picture."""

LOOKS = {
    "k-means": 6,
    "half whitened": 0,
    "RCA, shrunk": 1,
    "LDA, shrunk": 2,
    "MLCA, plain": 3,
    "MLCA, shrunk": 4,
    "MLCA, half shrunk": 5,
    "nearest class mean": 7,
}
"""Place of a method's colour and marker in `mlbook.plots`: the same in every figure."""

VIEWED = ("k-means", "half whitened", "RCA, shrunk", "LDA, shrunk", "MLCA, plain", "MLCA, shrunk")
"""Methods of the explorer."""


# Stored numbers


@cache
def rand(name: str, data: str, column: str, **changed: Any) -> Floats:
    """Return the numbers of a method on a data set, one for each split.

    What the other experiments leave as it is in "unseen" and "seen" is read from these.
    """
    changed = {key: value for key, value in changed.items() if value != BASE.get(key)}
    if not changed.keys() - {"seen"} and name in ("classes", "sizes", "labels"):
        name = "seen" if changed else "unseen"
    return measured(f"comparison-{name}", row_of(data, **changed), column)


def differences(
    name: str, data: str, method: str, other: str = "k-means", **changed: Any
) -> Floats:
    """Return how much better a method is than another, one number for each split."""
    return rand(name, data, method, **changed) - rand(name, data, other, **changed)


def gain(name: str, data: str, method: str, other: str = "k-means", **changed: Any) -> str:
    """Write the mean difference, its standard error, and how many splits are won and lost."""
    found = differences(name, data, method, other, **changed)
    mean, error, _ = mean_of(found)
    won, lost = int(np.sum(found > 0)), int(np.sum(found < 0))
    return f"{_signed(mean)} ± {_plain(error)}, {won}:{lost}"


def steady(found: Floats) -> int:
    """Return 1 or −1 if the mean is above or below 0 by more than two standard errors, else 0.

    Examples
    --------
    >>> steady(np.array([0.1, 0.2, 0.1])), steady(np.array([-0.1, 0.2, 0.0]))
    (1, 0)
    """
    mean, error, _ = mean_of(found)
    return int(np.sign(mean)) if abs(mean) > 2 * error else 0


def verdicts(
    method: str, other: str = "k-means", name: str = "unseen", **changed: Any
) -> dict[str, int]:
    """Return by data set whether a method is steadily above or below another."""
    return {d: steady(differences(name, d, method, other, **changed)) for d in DATA}


def mean_over_sets(name: str, method: str, **changed: Any) -> float:
    """Return the mean adjusted Rand index of a method over all data sets."""
    return float(np.mean([rand(name, d, method, **changed).mean() for d in DATA]))


def fall(name: str, data: str, method: str, seen: bool = False, **changed: Any) -> Floats:
    """Return the change on each split when what is `changed` is no longer as in `BASE`."""
    plain = "seen" if seen else "unseen"
    return rand(name, data, method, seen=seen, **changed) - rand(plain, data, method, seen=seen)


def ends(found: Iterable[Floats]) -> str:
    """Write the least and the largest mean, as the guide does.

    Examples
    --------
    >>> ends([np.array([0.1, 0.2]), np.array([-0.02])])
    '−.02 to +.15'
    """
    means = [float(one.mean()) for one in found]
    return f"{_signed(min(means))} to {_signed(max(means))}"


def gain_table(
    name: str, methods: Sequence[str], data: Sequence[str] = tuple(DATA), **changed: Any
) -> Table:
    """Table of k-means, and of what each method adds to it; bold if by two standard errors."""
    rows = [["k-means itself", *(_plain(rand(name, d, "k-means", **changed).mean()) for d in data)]]
    for method in methods:
        cells = []
        for d in data:
            text = gain(name, d, method, **changed)
            sure = steady(differences(name, d, method, **changed)) > 0
            cells.append(f"**{text}**" if sure else text)
        rows.append([method, *cells])
    return Table(["", *data], rows, age_note(f"comparison-{name}"))


def cost_table(methods: Sequence[str]) -> Table:
    """Table of what learning costs: times that of one k-means, medians over splits."""
    rows = [
        [method, *(f"{np.median(rand('unseen', d, f'time, {method}')):.2g}" for d in DATA)]
        for method in methods
    ]
    return Table(["", *DATA], rows, age_note("comparison-unseen"))


def bag_table() -> Table:
    """Table of the adjusted Rand index on unseen classes by the number of rows in a bag."""
    sizes = (1, 2, 4, 8)
    rows = [
        [data, method, *(_plain(rand("bags", data, method, bag_size=n).mean()) for n in sizes)]
        for data in THREE
        for method in ("right", "MIMLCA", "MIMLCA, then MLCA half shrunk")
    ]
    rows = [[d, "rows in the right class" if m == "right" else m, *cells] for d, m, *cells in rows]
    return Table(["", "", *(f"{n} in a bag" for n in sizes)], rows, age_note("comparison-bags"))


def count_table(methods: Sequence[str]) -> Table:
    """Table of the adjusted Rand index where k is not told, and by how much the number is off."""
    rows = [
        [
            method,
            *(
                f"{_plain(rand('count', d, method).mean())} "
                f"({rand('count', d, f'off, {method}').mean():.1f})"
                for d in THREE
            ),
        ]
        for method in methods
    ]
    return Table(["", *THREE], rows, age_note("comparison-count"))


def sizes_table() -> Table:
    """Table of the adjusted Rand index of classes of equal sizes and of unequal ones."""
    linear = ["k-means", "half whitened", "RCA, shrunk", "LDA, shrunk", "MLCA, shrunk"]
    rows = []
    for seen in (False, True):
        for method in [*linear, "MLCA, balanced", *(["nearest class mean"] if seen else [])]:
            equal = "MLCA, shrunk" if method == "MLCA, balanced" else method
            cells = [
                f"{_plain(rand('sizes', d, equal, seen=seen).mean())} → "
                f"{_plain(rand('sizes', d, method, seen=seen, ratio=10).mean())}"
                for d in THREE
            ]
            rows.append(["seen" if seen else "unseen", method, *cells])
    return Table(["classes", "", *THREE], rows, age_note("comparison-sizes"))


def sequence_table(methods: Sequence[str]) -> Table:
    """Table of the adjusted Rand index of segments."""
    rows = [[m, *(_plain(rand("sequences", d, m).mean()) for d in THREE)] for m in methods]
    return Table(["", *THREE], rows, age_note("comparison-sequences"))


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−").replace("0.", ".", 1)


def _plain(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


# Pictures


def dot_plot(name: str = "unseen", methods: Sequence[str] = SHOWN, **changed: Any) -> Figure:
    """Draw what each method adds to k-means on each data set, with two standard errors."""
    figure, axes = subplots(1, 1, height=0.74 * len(DATA) + 1.5)
    ax = axes[0, 0]
    for j, method in enumerate(methods):
        found = [mean_of(differences(name, data, method, **changed)) for data in DATA]
        heights = np.arange(len(DATA)) + (j - (len(methods) - 1) / 2) * 0.15
        ax.errorbar(
            [one.mean for one in found],
            heights,
            xerr=[2 * one.error for one in found],
            fmt=MARKERS[LOOKS[method]],
            color=COLORS[LOOKS[method]],
            markersize=6,
            elinewidth=1.2,
            label=method,
        )
    for height in np.arange(1, len(DATA)) - 0.5:
        ax.axhline(height, color="0.85", linewidth=0.8)
    ax.axvline(0, color=INK, linewidth=1)
    ax.set_yticks(range(len(DATA)), [data.replace(", ", ",\n") for data in DATA])
    ax.set(ylim=(len(DATA) - 0.5, -0.5), xlabel="adjusted Rand index, more than k-means")
    ax.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=11)
    return mark_age(figure, f"comparison-{name}")


def level_lines(
    name: str,
    key: str,
    levels: Sequence[float],
    methods: Sequence[str],
    data: Sequence[str],
    *,
    label: str,
    ticks: Sequence[str],
    **changed: Any,
) -> Figure:
    """Draw the adjusted Rand index over the levels of an experiment, a panel for a data set."""
    figure, axes = subplots(1, len(data), height=3.4, width=6.2)
    for ax, one in zip(axes[0], data, strict=True):
        for method in methods:
            look = LOOKS[method]
            means = [rand(name, one, method, **{key: v}, **changed).mean() for v in levels]
            style = {"marker": MARKERS[look], "color": COLORS[look], "markersize": 5}
            ax.plot(
                range(len(levels)),
                means,
                label=method if ax is axes[0, 0] else None,
                lw=1.5,
                **style,
            )
        ax.set_xticks(range(len(levels)), ticks)
        ax.set(xlabel=label, ylim=(0, 1))
        ax.set_title(one.replace("digits, ", ""))
    axes[0, 0].set_ylabel("adjusted Rand index")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=11)
    return mark_age(figure, f"comparison-{name}")


# The explorer


@cache
def views(data: str, method: str) -> tuple[Floats, Integers, Integers]:
    """One test set of unseen classes as a method sees it, its classes, and the clusters found."""
    with threadpool_limits(1):
        problem = draw({**BASE, "data": data, "seed": 0})
        Z = problem.X_test @ learn(method, problem.X, problem.y, False).T
        y = np.unique(problem.y_test, return_inverse=True)[1]
        return Z, y, cluster(Z, y.max() + 1)


def method_view(data: str, method: str) -> tuple[Figure, str]:
    """Draw a test set under the metric that a method has learned: the truth and what it finds.

    Clusters found have the colours of the true ones to which they are matched, and points that
    are in the wrong one have rings.
    """
    Z, y, found = views(data, method)
    figure, axes = subplots(1, 2, height=2.9)
    matched = name_after(y, found)
    for ax, labels, title in zip(axes[0], (y, matched), ("true clusters", "found"), strict=True):
        _draw_view(ax, Z, labels, np.flatnonzero(matched != y) if title == "found" else None)
        ax.set_title(title)
    return figure, f"{data}, {method}: adjusted Rand {adjusted_rand_score(y, found):.2f}"


def _principal_plane(Z: Floats) -> Floats:
    """Coordinates of the points in their two leading principal directions."""
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    plane = (U * s)[:, :2]
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))


def _draw_view(ax: Axes, Z: Floats, y: Integers, wrong: Integers | None) -> None:
    """Draw points in the plane where they spread most, in square axes, with rings on some."""
    P = _principal_plane(Z)
    P = P / max(abs(P).max(), 1e-12)
    for c in np.unique(y):
        x, height = P[y == c].T
        color, marker = COLORS[c % len(COLORS)], MARKERS[c % len(MARKERS)]
        ax.scatter(x, height, s=24, linewidths=0, alpha=0.85, color=color, marker=marker)
    if wrong is not None:
        x, height = P[wrong].T
        ax.scatter(x, height, s=75, facecolors="none", edgecolors=INK, linewidths=0.9)
    ax.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(True)


# The worked example, and where the comparison breaks


def population_ratios() -> list[tuple[str, float, float]]:
    """Separation of clusters over their spread under each metric, and how much of it is nuisance.

    For the population of the generator, features along the axes: diagonal metrics with weights
    as in the chapter. Separation is the mean squared distance between centres, spread that of
    two points of one cluster.
    """
    between, within = made.BETWEEN**2, made.WITHIN**2
    nuisance, n_signal = made.BASE["nuisance"] ** 2, made.N_SIGNAL
    weights = {
        "Euclidean": (1.0, 1.0),
        "standardised": (1 / (between + within), 1 / nuisance),
        "RCA": (1 / within, 1 / nuisance),
        "LDA, KISSME, MLCA": (1.0, 0.0),
    }
    rows = []
    for name, (signal, rest) in weights.items():
        spread = n_signal * signal * within
        lost = made.BASE["n_nuisance"] * rest * nuisance
        rows.append((name, n_signal * signal * between / (spread + lost), lost / (spread + lost)))
    return rows


LINEAR = ("k-means", "whitened", "RCA, shrunk", "LDA, shrunk", "MLCA, shrunk")


def rings(n: int = 200, seed: int = 0, methods: Sequence[str] = LINEAR) -> dict[str, float]:
    """Measure linear methods, and a graph, on two rings: adjusted Rand index.

    The linear methods learn from the rings of another draw, knobs at .1. The graph is that of
    scikit-learn's spectral clustering, with affinities that fall off within a tenth or two of
    the larger radius.
    """
    X, y = make_circles(n, noise=0.05, factor=0.4, random_state=2 * seed)
    T, t = make_circles(n, noise=0.05, factor=0.4, random_state=2 * seed + 1)
    found = {}
    with threadpool_limits(1):
        for method in methods:
            found[method] = cluster(T @ METHODS[method].learn(X, y, 0.1).T, 2)
        graph = SpectralClustering(2, gamma=20, random_state=0)
        found["spectral clustering"] = graph.fit_predict(T)
    return {name: float(adjusted_rand_score(t, labels)) for name, labels in found.items()}
