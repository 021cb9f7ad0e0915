"""Figures and tables of the chapter that compares all methods on the same data."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from book.figures.ages import mark_age
from book.figures.names import name_after
from book.reproduction import Table, age_note, load
from book.reproduction import methods as room
from book.spread import mean_and_spread, mean_of
from mlbook._arrays import Floats, Integers
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "DIRECTIONS",
    "METHODS",
    "SHORT",
    "count_table",
    "gains",
    "heat",
    "method_view",
    "population_ratios",
    "problem",
    "problem_picture",
    "results_table",
    "rings",
    "stored",
    "times_table",
    "views",
]


SHORT = {
    "k-means": "k-means",
    "k-means, standardised": "standardised",
    "RCA": "RCA",
    "LDA": "LDA",
    "KISSME": "KISSME",
    "MLCA": "MLCA",
    "MIMLCA": "MIMLCA",
    "large margin, diagonal": "margin, diagonal",
    "large margin, full": "margin, full",
    "latent CRF, k told": "CRF, k told",
    "latent CRF": "latent CRF",
    "directions known": "ceiling",
}
"""Names of the methods of `book.reproduction.methods`, short enough for a phone."""

METHODS = [name for name in SHORT if name not in ("latent CRF, k told", "directions known")]
"""Methods of the explorer."""

DIRECTIONS = ("along the features", "in mixed directions")
"""Where the nuisance is."""


# The problem


@cache
def problem(nuisance: float = 4.0, mixed: bool = False, seed: int = 0, **changed: Any) -> Any:
    """Draw one problem of the generator, the rest as in the experiments."""
    with threadpool_limits(1):
        unit = {**room.BASE, "nuisance": nuisance, "mixed": mixed, "seed": seed, **changed}
        return room.draw_gaussians(unit)


def _principal_plane(Z: Floats) -> Floats:
    """Coordinates of the points in their two leading principal directions."""
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    plane = (U * s)[:, :2]
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))


def _draw_view(ax: Axes, Z: Floats, y: Integers, wrong: Integers | None = None) -> None:
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


def problem_picture() -> Figure:
    """Draw one test set as the Euclidean distance, MLCA and the generator see it."""
    with threadpool_limits(1):
        drawn = problem()
        X, y = drawn.unseen[0]
        maps = {
            "as it comes": np.eye(X.shape[1]),
            "after learning": room.learn_mlca(drawn),
            "signal only": drawn.signal,
        }
        figure, axes = subplots(1, 3, height=2.3, width=6.2)
        for ax, (title, components) in zip(axes[0], maps.items(), strict=True):
            _draw_view(ax, X @ components.T, y)
            ax.set_title(title)
    return figure


def population_ratios() -> list[tuple[str, float, float]]:
    """Separation of clusters over their spread under each metric, and how much of it is nuisance.

    For the population of the generator, features along the axes: diagonal metrics with weights
    as in the chapter. Separation is the mean squared distance between centres, spread that of
    two points of one cluster.
    """
    between, within = room.BETWEEN**2, room.WITHIN**2
    nuisance, n_signal = room.BASE["nuisance"] ** 2, room.N_SIGNAL
    weights = {
        "Euclidean": (1.0, 1.0),
        "standardised": (1 / (between + within), 1 / nuisance),
        "RCA": (1 / within, 1 / nuisance),
        "LDA, KISSME, MLCA": (1.0, 0.0),
    }
    rows = []
    for name, (signal, rest) in weights.items():
        spread = n_signal * signal * within
        lost = room.BASE["n_nuisance"] * rest * nuisance
        rows.append((name, n_signal * signal * between / (spread + lost), lost / (spread + lost)))
    return rows


# Stored numbers


def stored(name: str, measure: str = "unseen") -> dict[str, dict[Any, list[float]]]:
    """Return what the seeds gave, by method and level, in the last full run of an experiment."""
    result = load(f"comparison-{name}")
    if result is None:
        raise ValueError(f"there is no stored result of comparison-{name}")
    found: dict[str, dict[Any, list[float]]] = {}
    for line in result["units"]:
        if measure in line["values"]:
            cells = found.setdefault(line["unit"]["method"], {})
            cells.setdefault(line["unit"].get("level"), []).append(line["values"][measure])
    return found


def heat(*names: str, measure: str = "unseen", titles: Sequence[str] = ()) -> Figure:
    """Draw means of stored experiments: a row for each method, a column for each level.

    The small number after a mean is its standard error over the seeds, in hundredths.
    """
    tables = [stored(name, measure) for name in names]
    methods = [m for m in SHORT if any(m in table for table in tables)]
    figure, axes = subplots(1, len(names), height=0.32 * len(methods) + 1.0)
    for ax, name, table in zip(axes[0], names, tables, strict=True):
        sweep = room.SWEEPS[name]
        grid = np.full((len(methods), len(sweep.levels)), np.nan)
        for i, method in enumerate(methods):
            for j, level in enumerate(sweep.levels):
                values = table.get(method, {}).get(level)
                if values is None:
                    ax.text(j, i, "–", ha="center", va="center", fontsize=10)
                    continue
                grid[i, j], error, _ = mean_of(values)
                mean = f"{round(grid[i, j], 2) + 0.0:.2f}".removeprefix("0")
                text = f"{mean} ±{100 * error:.0f}"
                color = "white" if grid[i, j] < 0.45 else "black"
                ax.text(j, i, text, ha="center", va="center", fontsize=10, color=color)
        ax.imshow(grid, vmin=0, vmax=1, cmap="cividis", aspect="auto")
        ax.set_xticks(range(len(sweep.levels)), [f"{level:g}" for level in sweep.levels])
        ax.set_yticks(range(len(methods)), [SHORT[m] for m in methods] if ax is axes[0, 0] else [])
        ax.set(xlabel=sweep.label)
        ax.tick_params(length=0, labelsize=10.5)
    for ax, title in zip(axes[0], titles, strict=False):
        ax.set_title(title)
    return mark_age(figure, *(f"comparison-{name}" for name in names))


def results_table(name: str, level: Any = None) -> Table:
    """Table of one level: adjusted Rand index on unseen and seen classes, and Δ on unseen."""
    columns = {m: stored(name, m) for m in ("unseen", "seen", "delta")}
    rows = [
        [
            SHORT[method],
            *(mean_and_spread(columns[m][method][level]) for m in ("unseen", "seen")),
            f"{np.mean(columns['delta'][method][level]):.1f}",
        ]
        for method in SHORT
        if method in columns["unseen"]
    ]
    return Table(["", "unseen", "seen", "Δ unseen"], rows, age_note(f"comparison-{name}"))


def times_table() -> Table:
    """Table of training times by number of training rows, as multiples of MLCA's (medians)."""
    times, sweep = stored("rows", "time"), room.SWEEPS["rows"]
    header = ["", *(f"{room.BASE['n_sets'] * level} rows" for level in sweep.levels)]
    rows = [
        [SHORT[method], *(_two_digits(np.median(times[method][v])) for v in sweep.levels)]
        for method in SHORT
        if method in times and method != "MLCA"
    ]
    return Table(header, rows, age_note("comparison-rows"))


def _two_digits(value: Any) -> str:
    return f"{float(f'{value:.2g}'):g}"


def count_table() -> Table:
    """Table of adjusted Rand index, and mean number of clusters found, where k is not told."""
    rand, found = stored("count"), stored("count", "clusters")
    levels = room.SWEEPS["count"].levels
    rows = [
        [
            method,
            *(f"{np.mean(rand[method][k]):.2f} ({np.mean(found[method][k]):.1f})" for k in levels),
        ]
        for method in rand
    ]
    header = ["", *(f"k = {k}" for k in levels)]
    return Table(header, rows, age_note("comparison-count"))


def gains(name: str, method: str, other: str, level: Any = None) -> tuple[float, float, int]:
    """Mean difference of two methods over the same seeds, its standard error, and wins.

    Both had the same data in each seed, so that differences scatter less than either.
    """
    table = stored(name)
    difference = np.subtract(table[method][level], table[other][level])
    mean, error, _ = mean_of(difference)
    return mean, error, int(np.sum(difference > 0))


# The explorer


@cache
def views(nuisance: float, mixed: bool, method: str) -> tuple[Floats, Integers]:
    """One test set of unseen classes as a method sees it, and the clusters that it finds."""
    with threadpool_limits(1):
        drawn = problem(nuisance, mixed)
        X, y = drawn.unseen[0]
        if method == room.CRF:
            model = room.quiet(partial(room.fit_crf, drawn))
            return X * np.sqrt(model.weights_), model.predict(X)
        components = room.quiet(partial(room.METHODS[method], drawn))
        Z = X @ components.T
        return Z, room.quiet(partial(room.cluster, Z, len(set(y))))


def method_view(method: str, nuisance: float, mixed: str) -> tuple[Figure, str]:
    """Draw a test set under the metric that a method has learned: the truth and what it finds.

    `mixed` is one of `DIRECTIONS`. Clusters found have the colours of the true ones to which
    they are matched, and points that are in the wrong one have rings.
    """
    turned = mixed == DIRECTIONS[1]
    Z, found = views(nuisance, turned, method)
    y = problem(nuisance, turned).unseen[0][1]
    figure, axes = subplots(1, 2, height=2.9)
    matched = name_after(y, found)
    for ax, labels, title in zip(axes[0], (y, matched), ("true clusters", "found"), strict=True):
        _draw_view(ax, Z, labels, np.flatnonzero(matched != y) if title == "found" else None)
        ax.set_title(title)
    k = len(set(found))
    caption = f"{method}, nuisance {nuisance:g} {mixed}: adjusted Rand "
    caption += f"{adjusted_rand_score(y, found):.2f}, {k} cluster{'s' if k > 1 else ''}"
    return figure, caption if Z.any() else f"{caption}; the learned metric is zero"


# Where the comparison breaks


def rings(n: int = 200) -> dict[str, float]:
    """Measure linear methods, and a graph, on two rings: adjusted Rand index.

    Four training sets of rings and a test set of the same kind. `book.reproduction.methods`
    has the linear methods; the graph is that of scikit-learn's spectral clustering, with affinities
    that fall off within a tenth or two of the larger radius.
    """
    sets = [make_circles(n, noise=0.05, factor=0.4, random_state=i) for i in range(5)]
    X, y = sets.pop()
    drawn = room.pose(sets, [], [], 2)
    found = {}
    with threadpool_limits(1):
        for method in ("k-means", "RCA", "MLCA", "large margin, full"):
            components = room.quiet(partial(room.METHODS[method], drawn))
            found[method] = room.quiet(partial(room.cluster, X @ components.T, 2))
        graph = SpectralClustering(2, gamma=20, random_state=0)
        found["spectral clustering"] = graph.fit_predict(X)
    return {name: float(adjusted_rand_score(y, labels)) for name, labels in found.items()}
