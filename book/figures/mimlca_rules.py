"""Figures of the chapter on MIMLCA: how a new instance gets its category, and what α does."""

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from book.figures.mimlca import from_instances, left_out_scores, nearest
from book.spread import mean_of
from mlbook._arrays import Floats, Integers
from mlbook.datasets import make_weak_bags
from mlbook.mimlca import MIMLCA
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "FEATURES",
    "Rules",
    "alpha_cut",
    "alpha_regions",
    "alpha_runs",
    "alpha_toy",
    "empty_categories",
    "rule_gains",
    "rules_on_digits",
]

SIZES = {"equal": (40,) * 10, "unequal": (75,) * 5 + (5,) * 5}  # training digits of each kind
FEATURES = (20, 40, 80, 160)  # of 400 digits


def alpha_toy(
    ratio: int, n: int = 600, seed: int = 0, noise: float = 1.0
) -> tuple[Floats, Integers]:
    """Three categories around the corners of a triangle, the first `ratio` times rarer.

    Two features that matter, with a standard deviation `noise` in each category, six of wide
    noise, and a constant.

    Examples
    --------
    >>> X, labels = alpha_toy(4)
    >>> X.shape, np.bincount(labels).tolist()
    ((600, 9), [67, 266, 267])
    """
    rng = np.random.default_rng(seed)
    shares = np.array([1 / ratio, 1, 1]) / (2 + 1 / ratio)
    counts = np.diff(np.round(n * np.append(0, np.cumsum(shares)))).astype(int)
    labels = np.repeat(np.arange(3), counts)
    angles = np.pi / 2 + 2 * np.pi * np.arange(3) / 3
    centres = 2 * np.column_stack([np.cos(angles), np.sin(angles)])
    signal = centres[labels] + noise * rng.normal(size=(n, 2))
    return np.hstack([signal, rng.normal(scale=6, size=(n, 6)), np.ones((n, 1))]), labels


def alpha_cut(model: MIMLCA, rare: int, other: int) -> float:
    """Where Eq. 16 with α = 0 cuts the line between two centroids: 0.5 is the middle.

    Examples
    --------
    >>> X = np.repeat(np.eye(2), [2, 18], axis=0)
    >>> round(alpha_cut(from_instances(X, np.repeat([0, 1], [2, 18]), 2), 0, 1), 2)
    0.75
    """
    scores = model.decision_function(model.centroids_[[rare, other]], weight=0)
    lead = scores[:, rare] - scores[:, other]
    return float(lead[0] / (lead[0] - lead[1]))


@cache
def alpha_runs(ratio: int, noise: float = 1.0, n_seeds: int = 20) -> dict[str, Floats]:
    """Draws of `alpha_toy`: accuracy of the rare category and of the others, and the fit.

    "centroid" is Eq. 15; "0", "0.2" and "1" are Eq. 16 with α in units of √n; "fit" has the score
    of its own centroid of the rare category and of the next, 1 where the fit is perfect; "cut" is
    `alpha_cut`.
    """
    T, t = alpha_toy(1, 3000, seed=99, noise=noise)
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(n_seeds):
        model = from_instances(*alpha_toy(ratio, seed=seed, noise=noise), 3)
        unit = np.sqrt(model.category_count_.sum())
        for name, alpha in [("centroid", None), ("0", 0), ("0.2", 0.2), ("1", 1)]:
            right = model.predict(T, None if alpha is None else alpha * unit) == t
            pair = (float(np.mean(right[t == 0])), float(np.mean(right[t > 0])))
            found.setdefault(name, []).append(pair)
        fit = np.diag(model.transform(model.centroids_)) * np.sqrt(model.category_count_)
        found.setdefault("fit", []).append((float(fit[0]), float(fit[1])))
        cuts = alpha_cut(model, 0, 1), alpha_cut(model, 0, 2)
        found.setdefault("cut", []).append(cuts)
    return {name: np.array(pairs) for name, pairs in found.items()}


class Rules(NamedTuple):
    """Digits by three rules, in each draw: accuracies (mean over categories) and scores.

    `own` and `new` are the scores of the rare categories (of all, if sizes are equal) in units in
    which a perfect fit has 1: of training centroids, and of new instances.
    """

    centroid: Floats
    left_out: Floats
    scores: Floats
    own: Floats
    new: Floats


@cache
def rules_on_digits(sizes: str, d: int, n_seeds: int = 20) -> Rules:
    """MLCA on 400 digits with d features: nearest centroid, Eq. 16 with α = 0.25, and between.

    The features are the leading directions of the digits, up to 40, and beyond that noise. The
    sizes are a key of `SIZES`, dealt to the digits at random. "left_out" is the nearest centroid
    with `left_out_scores` for the centroids.
    """
    X, y = load_digits(return_X_y=True)
    X = X @ np.linalg.svd(X, full_matrices=False)[2][: min(d, 40)].T
    digits = np.arange(10)
    rows = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        A = np.hstack([X, rng.normal(size=(len(X), d - X.shape[1]))])
        counts = rng.permutation(SIZES[sizes])
        chosen = [rng.permutation(np.flatnonzero(y == c))[: counts[c]] for c in digits]
        train = np.concatenate(chosen)
        test = np.setdiff1d(np.arange(len(y)), train)
        model = from_instances(A[train], y[train], 10)
        images, left_out = model.transform(A[test]), left_out_scores(A[train], y[train], model)
        centroids = model.transform(model.centroids_)
        others = np.array([left_out[y[train] == c].mean(axis=0) for c in digits])
        rare = np.flatnonzero(counts == counts.min())
        own = centroids[rare, rare] * np.sqrt(counts[rare])
        new = [images[y[test] == c, c].mean() * np.sqrt(counts[c]) for c in rare]
        by_score = model.predict(A[test], weight=0.25)
        rows.append(
            [
                _balanced(nearest(images, centroids), y[test]),
                _balanced(nearest(images, others), y[test]),
                _balanced(by_score, y[test]),
                own.mean(),
                np.mean(new),
            ]
        )
    return Rules(*np.array(rows).T)


def _balanced(found: Integers, truth: Integers) -> float:
    """Accuracy, averaged over the categories."""
    right = found == truth
    return float(np.mean([right[truth == c].mean() for c in np.unique(truth)]))


def rule_gains() -> Figure:
    """Draw what Eq. 16 gains over the nearest centroid, over the number of features."""
    figure, axes = subplots(1, 2, height=3.2)
    left, right = axes[0]
    shares = np.array(FEATURES) / 400
    runs = {sizes: [rules_on_digits(sizes, d) for d in FEATURES] for sizes in SIZES}
    for i, (name, gains) in enumerate(
        {
            "unequal sizes": [r.scores - r.centroid for r in runs["unequal"]],
            "equal sizes": [r.scores - r.centroid for r in runs["equal"]],
            "unequal, over left-out\ncentroids": [r.scores - r.left_out for r in runs["unequal"]],
        }.items()
    ):
        means = [mean_of(100 * gain) for gain in gains]
        height, error = [m.mean for m in means], [m.error for m in means]
        style = {"color": COLORS[i], "marker": MARKERS[i], "capsize": 3}
        left.errorbar(shares, height, error, label=name, **style)
    left.axhline(0, color=INK, linewidth=0.7)
    left.set(xlabel="d/n", ylabel="points gained by Eq. 16", xlim=(0, 0.43))
    left.legend(frameon=False, loc="upper left", fontsize="small")
    for i, (name, values) in enumerate(
        {
            "training centroid, γ⁺": [r.own.mean() for r in runs["unequal"]],
            "new instances, γ": [r.new.mean() for r in runs["unequal"]],
        }.items()
    ):
        right.plot(shares, values, color=COLORS[i], marker=MARKERS[i], label=name)
    half = [r.own.mean() / 2 for r in runs["unequal"]]
    right.plot(shares, half, "--", color=COLORS[0], label="γ⁺/2")
    right.set(xlabel="d/n", title="own score of rare digits", ylim=(0, 0.7), xlim=(0, 0.43))
    right.legend(frameon=False, loc="upper left", fontsize="small")
    return figure


@cache
def empty_categories(n_seeds: int = 20) -> Floats:
    """Nearest centroid with MLCA on bags like the paper's: accuracy in each draw.

    Without the categories that have no training instance, and with them, their centroids being
    at the origin; then the share of test instances that an empty category gets.
    """
    rows = []
    for seed in range(n_seeds):
        data = make_weak_bags(1200, 240, 200, random_state=seed)
        train = np.arange(len(data.labels)) < data.offsets[1080]
        model = from_instances(data.instances[train], data.labels[train], data.Y.shape[1])
        counts = model.category_count_
        chosen = ~train & (data.labels >= 0) & (counts[data.labels] >= 5)
        T, t = data.instances[chosen], data.labels[chosen]
        with_empty = nearest(model.transform(T), model.transform(model.centroids_))
        right = np.mean(model.predict(T) == t), np.mean(with_empty == t)
        rows.append([*right, np.mean(counts[with_empty] == 0)])
    return np.array(rows)


@cache
def _alpha_model(ratio: int) -> MIMLCA:
    return from_instances(*alpha_toy(ratio), 3)


def alpha_regions(alpha: float, ratio: int) -> tuple[Figure, str]:
    """Draw what Eq. 16 predicts in the plane of the two features, α in units of √n."""
    model, (T, t) = _alpha_model(ratio), alpha_toy(1, 3000, seed=1)
    unit = np.sqrt(model.category_count_.sum())

    def shares(value: float | None) -> tuple[float, float]:
        right = model.predict(T, None if value is None else value * unit) == t
        return float(np.mean(right[t == 0])), float(np.mean(right[t > 0]))

    side = np.linspace(-4.5, 4.5, 150)
    plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    grid = np.hstack([plane, np.zeros((len(plane), 6)), np.ones((len(plane), 1))])
    regions = model.predict(grid, alpha * unit).reshape(150, 150)
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    for c in range(3):
        share = regions == c
        if share.any():
            left.contourf(side, side, share, levels=[0.5, 1.5], colors=[COLORS[c]], alpha=0.25)
        x, height = T[t == c][:40, :2].T
        left.scatter(x, height, s=12, color=COLORS[c], marker=MARKERS[c], linewidths=0)
    left.set(xlim=(-4.5, 4.5), ylim=(-4.5, 4.5), xticks=[], yticks=[], title="prediction")
    left.set_aspect("equal")
    values = np.linspace(0, 1, 21)
    for line, name, i in [("-", "rare", 0), ("--", "others", 1)]:
        curve = [shares(value)[i] for value in values]
        right.plot(values, curve, line, color=COLORS[i], label=name)
    rare15, others15 = shares(None)
    for height, style, i in [(rare15, "-", 0), (others15, "--", 1)]:
        right.axhline(height, color=COLORS[i], linestyle=style, linewidth=0.8)
    right.text(1, min(rare15, others15) - 0.02, "thin: nearest\ncentroid", fontsize=10, ha="right",
               va="top")  # fmt: skip
    right.axvline(alpha, color=INK, linewidth=1, linestyle=":")
    right.set(xlabel="α/√n", title="test accuracy", ylim=(-0.03, 1.03), xlim=(-0.03, 1.03))
    right.legend(frameon=False, loc="lower left")
    rare, others = shares(alpha)
    return figure, (
        f"α = {alpha:g}√n, sizes 1:{ratio}:{ratio}: accuracy {rare:.2f} for the first category, "
        f"{others:.2f} for the others. Nearest centroid (Eq. 15): {rare15:.2f} and {others15:.2f}."
    )
