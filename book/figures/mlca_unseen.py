"""Figures of the chapter on MLCA with real data: classes that were not in training."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from book.figures.mlca import cluster
from book.figures.names import name_after
from mlbook._arrays import Floats, Integers
from mlbook.datasets import load_letters
from mlbook.mlca import MLCA, SHRINKAGES
from mlbook.partitions import partition_loss
from mlbook.plots import COLORS, INK, MARKERS, STYLE, subplots

__all__ = [
    "DATA",
    "NEW",
    "Split",
    "new_letters",
    "score",
    "scores",
    "shrinking",
    "shrunk_scores",
    "split",
    "split_letters",
    "whitened",
]

NEW = "MLCA"
"""The letters of the first picture that are not in training."""


class Split(NamedTuple):
    """Rows to learn from and rows to cluster, with their classes."""

    X: Floats
    y: Integers
    T: Floats
    t: Integers


DATA = {"digits, from 6": ("digits", 6), "letters, from 22": ("letters", 22),
        "letters, from 3": ("letters", 3)}  # fmt: skip
"""What `shrinking` shows: the data, and from how many classes the metric is learned."""
N_NEW, N_TRAIN, N_TEST = 4, 100, 60


@cache
def _read(name: str) -> tuple[Floats, Integers]:
    X, y = load_letters() if name == "letters" else load_digits(return_X_y=True)
    return np.asarray(X, dtype=float), np.asarray(y)


def _rows(y: Integers, classes: Integers, size: int, rng: np.random.Generator) -> Integers:
    return np.concatenate([rng.permutation(np.flatnonzero(y == c))[:size] for c in classes])


def split(name: str, n_classes: int, seed: int, *, seen: bool = False) -> Split:
    """Draw rows of four classes to cluster, and rows of `n_classes` others to learn from.

    At most 60 rows of each class to cluster, at most 100 to learn from. With `seen` the rows to
    learn from are others of the same four classes.

    Examples
    --------
    >>> X, y, T, t = split("letters", 3, 0)
    >>> X.shape, T.shape, len(set(y) & set(t))
    ((300, 16), (240, 16), 0)
    """
    X, y = _read(name)
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.unique(y))
    new, old = order[:N_NEW], order[N_NEW : N_NEW + n_classes]
    test = _rows(y, new, N_TEST, rng)
    rest = np.where(np.isin(np.arange(len(y)), test), -1, y)
    train = _rows(rest, new if seen else old, N_TRAIN, rng)
    return Split(X[train], y[train], X[test], y[test])


def split_letters(seed: int, letters: str = NEW) -> Split:
    """Draw 60 rows of each of some letters to cluster, and 100 of each other to learn from.

    Examples
    --------
    >>> X, y, T, t = split_letters(0)
    >>> len(np.unique(y)), "".join(chr(65 + c) for c in np.unique(t))
    (22, 'ACLM')
    """
    X, y = _read("letters")
    rng = np.random.default_rng(seed)
    new = np.array([ord(letter) - 65 for letter in letters])
    test = _rows(y, new, N_TEST, rng)
    train = _rows(y, np.setdiff1d(np.unique(y), new), N_TRAIN, rng)
    return Split(X[train], y[train], X[test], y[test])


def whitened(X: Floats, T: Floats, a: float) -> Floats:
    """Map T by the whitening of X, its covariance shrunk by a towards tI: no label is used.

    Examples
    --------
    >>> X = np.array([[2.0, 0], [-2, 0], [0, 1], [0, -1]])
    >>> print(whitened(X, X, 0.0).round(3).tolist()[0], whitened(X, X, 1.0).round(3).tolist()[0])
    [1.414, 0.0] [1.265, 0.0]
    """
    centred = X - X.mean(axis=0)
    cov = centred.T @ centred / len(X)
    shrunk = (1 - a) * cov + a * np.trace(cov) / len(cov) * np.eye(len(cov))
    values, axes = np.linalg.eigh(shrunk)
    kept = values > 1e-10 * values[-1]
    return T @ (axes[:, kept] / np.sqrt(values[kept]))


@cache
def shrunk_scores(data: str, n_seeds: int = 20) -> dict[str, Floats]:
    """Measure the adjusted Rand index on new classes by seed and shrinkage, with labels or not.

    Examples
    --------
    >>> shrunk_scores("letters, from 3", 1)["MLCA"].shape
    (1, 7)
    """
    found: dict[str, list[list[float]]] = {"MLCA": [], "whitened": []}
    for seed in range(n_seeds):
        X, y, T, t = split(*DATA[data], seed)
        models = [MLCA(shrinkage=a, fit_intercept=True).fit(X, y) for a in SHRINKAGES]
        found["MLCA"].append([score(t, model.transform(T)) for model in models])
        found["whitened"].append([score(t, whitened(X, T, a)) for a in SHRINKAGES])
    return {way: np.array(rows) for way, rows in found.items()}


def score(truth: Integers, Z: Floats) -> float:
    """Cluster rows into as many clusters as classes; return the adjusted Rand index.

    Examples
    --------
    >>> score(np.array([0, 0, 1, 1]), np.array([[0.0], [0.1], [5.0], [5.1]]))
    1.0
    """
    return float(adjusted_rand_score(truth, cluster(Z, len(np.unique(truth)))))


@cache
def scores(name: str, n_classes: int, *, seen: bool, n_seeds: int = 20) -> dict[str, Floats]:
    """Measure the adjusted Rand index of four ways by seed: class means, and k-means three times.

    Examples
    --------
    >>> sorted(scores("letters", 22, seen=True, n_seeds=1))
    ['MLCA', 'MLCA, a = 0.5', 'nearest class mean', 'plain distance']
    """
    found: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        X, y, T, t = split(name, n_classes, seed, seen=seen)
        model, half = (MLCA(shrinkage=a, fit_intercept=True).fit(X, y) for a in (0.0, 0.5))
        of = {
            "nearest class mean": adjusted_rand_score(t, model.predict(T)),
            "plain distance": score(t, T),
            "MLCA": score(t, model.transform(T)),
            "MLCA, a = 0.5": score(t, half.transform(T)),
        }
        for way, value in of.items():
            found.setdefault(way, []).append(value)
    return {way: np.array(values) for way, values in found.items()}


# Drawing


def _plane(Z: Floats) -> Floats:
    """Two leading principal components, scaled to the unit square."""
    centred = Z - Z.mean(axis=0)
    shown = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    return shown / np.abs(shown).max(axis=0)


def new_letters(seed: int = 0) -> Figure:
    """Draw four letters that were not in training: clustered twice, and named by a reader."""
    X, y, T, t = split_letters(seed)
    model = MLCA(fit_intercept=True).fit(X, y)
    codes = np.array([NEW.index(chr(65 + c)) for c in t])
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6, 4.6))
        axes = figure.subplot_mosaic(
            [["plain", "learned"], ["names", "names"]], height_ratios=[1.55, 1]
        )
    panels = {"plain": ("the plain distance", T), "learned": ("a learned distance", None)}
    for name, (title, Z) in panels.items():
        Z = model.transform(T) if Z is None else Z
        found = name_after(codes, cluster(Z, 4))
        points = _plane(Z)
        for i, letter in enumerate(NEW):
            here = codes == i
            colors = np.array(COLORS)[found[here]]
            marker = rf"$\mathrm{{{letter}}}$"
            x, height = points[here].T
            axes[name].scatter(x, height, s=42, c=colors, marker=marker, linewidths=0.2)
        axes[name].set(xticks=[], yticks=[], xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
        axes[name].set_title(f"{title}: Δ = {partition_loss(codes, found):.1f}")
    _draw_names(axes["names"], codes, model.predict(T))
    return figure


def _draw_names(ax: Axes, codes: Integers, named: Integers) -> None:
    """Draw which old letters the nearest class mean takes the new ones for."""
    for i, letter in enumerate(NEW):
        names, counts = np.unique(named[codes == i], return_counts=True)
        order, start = np.argsort(-counts, kind="stable"), 0
        for rank, j in enumerate(order):
            shade = str(0.78 + 0.08 * (rank % 2))
            ax.barh(i, counts[j], left=start, color=shade, edgecolor="white", height=0.8)
            if counts[j] >= 3:
                ax.text(start + counts[j] / 2, i, chr(65 + names[j]), ha="center", va="center")
            start += counts[j]
        ax.text(-1.2, i, letter, ha="right", va="center", fontweight="bold")
    ax.set(xlim=(-3, N_TEST), yticks=[], xticks=[])
    ax.set_title("called by a reader who knows the other 22 letters only")
    ax.spines[:].set_visible(False)
    ax.invert_yaxis()


def shrinking(a: float, data: str) -> tuple[Figure, str]:
    """Draw new classes under the metric shrunk by a, and how well they are found for each a."""
    X, y, T, t = split(*DATA[data], 0)
    Z = MLCA(shrinkage=a, fit_intercept=True).fit(X, y).transform(T)
    codes = np.unique(t, return_inverse=True)[1]
    found = name_after(codes, cluster(Z, N_NEW))
    figure, axes = subplots(1, 2, height=3.1)
    left, right = axes[0]
    points = _plane(Z)
    for c in range(N_NEW):
        x, height = points[codes == c].T
        colors = np.array(COLORS)[found[codes == c]]
        left.scatter(x, height, s=20, alpha=0.8, linewidths=0, c=colors, marker=MARKERS[c])
    left.set(xticks=[], yticks=[], xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), title="one draw")
    means = {way: of.mean(axis=0) for way, of in shrunk_scores(data).items()}
    labels = {"MLCA": "MLCA", "whitened": "no labels"}
    for (way, mean), color, marker in zip(means.items(), [COLORS[0], COLORS[6]], "os", strict=True):
        right.plot(SHRINKAGES, mean, color=color, marker=marker, label=labels[way])
    right.axvline(a, color=INK, linewidth=1, linestyle=":")
    right.set(ylim=(0, 1), xlabel="shrinkage a", title="adjusted Rand, 20 draws")
    right.legend(frameon=False, loc="lower center", ncols=2, fontsize=9)
    ours, bare = (of[SHRINKAGES.index(a)] for of in means.values())
    return figure, (
        f"{data} classes, a = {a:g}: adjusted Rand index of four new classes {ours:.2f}, "
        f"whitened without labels {bare:.2f}; plain distance {means['MLCA'][-1]:.2f}."
    )
