"""Distances learned from made-up sets, many features of which are noise."""

import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist

from book.figures.names import name_after
from mlbook._arrays import Floats, Integers
from mlbook.datasets import make_noisy_gaussians
from mlbook.exemplars import (
    exemplar_labels,
    solve_exemplars,
)
from mlbook.latent_crf import (
    LatentExemplarMetric,
)
from mlbook.partitions import f_measure
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "FAIR",
    "N_FEATURES",
    "N_TESTS",
    "PRICES",
    "RHOS",
    "SIZES",
    "STRENGTHS",
    "WAYS",
    "cluster_exemplars",
    "learned_metric",
    "noisy_sets",
    "noisy_test_set",
    "penalties_compared",
    "scores_of",
    "share_of_noise",
    "sizes_and_prices",
    "sizes_compared",
    "strength_path",
    "strength_scores",
    "weights_of",
]


RHOS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


STRENGTHS = (0.001, 0.01, 0.03, 0.1, 0.2, 0.4)


FAIR = 4.8  # price of an exemplar where strengths are compared, 0.4 of the size of a cluster


WAYS = ("Euclidean", "standardized", "learned")


N_FEATURES = 30


N_TESTS = 20


@cache
def noisy_sets(rho: float, n_sets: int, first_seed: int) -> tuple[list[Floats], list[Integers]]:
    """Draw sets of 60 points in five clusters with 30 features, a share ρ of them noise.

    Examples
    --------
    >>> X, y = noisy_sets(0.5, 2, 0)
    >>> [points.shape for points in X]
    [(60, 30), (60, 30)]
    """
    draws = [
        make_noisy_gaussians(
            60, n_features=N_FEATURES, noisy_fraction=rho, n_clusters=5, random_state=seed
        )
        for seed in range(first_seed, first_seed + n_sets)
    ]
    return [X for X, _ in draws], [y for _, y in draws]


@cache
def learned_metric(
    rho: float = 0.5, strength: float | None = None, penalty: float | None = None
) -> LatentExemplarMetric:
    """Learn from four noisy sets; `strength` is per training point, None what the library takes.

    Examples
    --------
    >>> metric = learned_metric(0.5)
    >>> metric.weights_.shape
    (30,)
    """
    X, y = noisy_sets(rho, 4, 0)
    total = sum(map(len, y))
    model = LatentExemplarMetric(
        alpha="auto" if strength is None else strength * total,
        penalty="auto" if penalty is None else penalty,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of penalties below 1, which are compared
        return model.fit(X, y)


def cluster_exemplars(X: Floats, w: Floats, penalty: float) -> Integers:
    """Cluster points around exemplars under Σ_i w_i (x_i − z_i)².

    Examples
    --------
    >>> from book.figures.latent_crf.votes import three_points
    >>> X, _ = three_points()
    >>> print(cluster_exemplars(X, np.array([2.0, 0.1]), 3.0))
    [0 0 1]
    """
    D = cdist(X * np.sqrt(w), X * np.sqrt(w), "sqeuclidean")
    return exemplar_labels(D, solve_exemplars(D, penalty, random_state=0).exemplars)


@cache
def weights_of(way: str, rho: float) -> Floats:
    """Weights of one of the `WAYS`, in units that make its best penalty that of the learned metric.

    The Euclidean distance and the standardized one (each feature divided by its mean square
    difference over the training pairs) get the scale at which the mean number of clusters
    found in the training sets is nearest to the true one.
    """
    metric = learned_metric(rho)
    if way == "learned":
        return metric.weights_
    X, y = noisy_sets(rho, 4, 0)
    w = np.ones(N_FEATURES) if way == "Euclidean" else 1 / metric.scales_
    w = w * metric.penalty_ / (w @ metric.scales_)

    def excess(scale: float) -> float:
        found = [cluster_exemplars(points, scale * w, metric.penalty_) for points in X]
        return abs(sum(len(set(a)) - len(set(b)) for a, b in zip(found, y, strict=True)))

    return min(np.geomspace(0.05, 1, 10), key=excess) * w


@cache
def scores_of(way: str, rho: float) -> tuple[Floats, Integers]:
    """Return pairwise F on the test sets, and the numbers of clusters found in them."""
    w, penalty = weights_of(way, rho), learned_metric(rho).penalty_
    X, y = noisy_sets(rho, N_TESTS, 100)
    found = [cluster_exemplars(points, w, penalty) for points in X]
    scores = np.array([f_measure(a, b) for a, b in zip(y, found, strict=True)])
    return scores, np.array([len(set(labels)) for labels in found])


def _show_set(ax: Axes, X: Floats, truth: Integers, found: Integers, rho: float) -> None:
    """Draw a set along the two widest directions of its clean features, or of all if none is."""
    clean = X[:, : N_FEATURES - round(rho * N_FEATURES)]
    centred = clean - clean.mean(axis=0)
    Z = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    Z *= np.sign(Z[0])
    named = name_after(truth, found) % len(COLORS)
    for c in np.unique(truth):
        inside = truth == c
        colors = np.array(COLORS)[named[inside]]
        x, y = Z[inside].T
        ax.scatter(x, y, s=26, c=colors, marker=MARKERS[c], linewidths=0, alpha=0.85)
    ax.set(xticks=[], yticks=[])


def noisy_test_set() -> Figure:
    """Draw a test set with half of its features noise, clustered by two distances."""
    (X,), (y,) = noisy_sets(0.5, 1, 100)
    figure, axes = subplots(1, 2, height=3)
    for ax, way in zip(axes[0], ("Euclidean", "learned"), strict=True):
        found = cluster_exemplars(X, weights_of(way, 0.5), learned_metric(0.5).penalty_)
        _show_set(ax, X, y, found, 0.5)
        title = f"{way}: {found.max() + 1} clusters, F = {f_measure(y, found):.2f}"
        ax.set_title(title, fontsize=11)
    return figure


def share_of_noise(rho: float, way: str) -> tuple[Figure, str]:
    """Draw a test set clustered in one way, and the scores of all, for a share ρ of noise."""
    X, y = noisy_sets(rho, 1, 100)
    found = cluster_exemplars(X[0], weights_of(way, rho), learned_metric(rho).penalty_)
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    _show_set(left, X[0], y[0], found, rho)
    left.set(title=f"{way}: {found.max() + 1} clusters")
    scores = [scores_of(name, rho) for name in WAYS]
    means = [score.mean() for score, _ in scores]
    bars = right.barh(range(3), means, color=COLORS[6], height=0.6)
    bars[WAYS.index(way)].set(color=COLORS[0], hatch="//")
    right.bar_label(bars, fmt="{:.2f}", padding=3)
    right.set(yticks=range(3), yticklabels=WAYS, xlim=(0, 1.25), xticks=[0, 0.5, 1])
    right.set(title="F on test sets")
    right.invert_yaxis()
    words = "; ".join(
        f"{name} {score.mean():.2f} with {counts.min()} to {counts.max()} clusters"
        for name, (score, counts) in zip(WAYS, scores, strict=True)
    )
    return figure, f"Shown: {way}. Share of noise ρ = {rho:g}, {N_TESTS} test sets: {words}."


@cache
def strength_scores(strength: float) -> tuple[float, int]:
    """Mean F on the test sets, and the number of weights that are not zero."""
    metric = learned_metric(0.7, strength, FAIR)
    X, y = noisy_sets(0.7, N_TESTS, 100)
    found = [cluster_exemplars(points, metric.weights_, metric.penalty_) for points in X]
    score = np.mean([f_measure(a, b) for a, b in zip(y, found, strict=True)])
    return float(score), int(np.count_nonzero(metric.weights_))


def strength_path(strength: float) -> tuple[Figure, str]:
    """Draw the learned weights for one strength τ, and the path of all weights over τ."""
    metric = learned_metric(0.7, strength, FAIR)
    scaled = metric.weights_ * metric.scales_
    learned = [learned_metric(0.7, tau, FAIR).weights_ for tau in STRENGTHS]
    paths = np.array(learned) * metric.scales_
    clean = np.arange(N_FEATURES) < N_FEATURES - round(0.7 * N_FEATURES)
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    for inside, color, marker, name in [
        (clean, COLORS[0], "o", "clean"), (~clean, COLORS[1], "s", "noise")
    ]:  # fmt: skip
        index = np.flatnonzero(inside) + 1
        left.vlines(index, 0, scaled[inside], color=color, linewidth=1)
        left.scatter(index, scaled[inside], s=18, color=color, marker=marker, label=name)
        style = {"color": color, "linewidth": 1, "alpha": 0.8, "marker": marker, "markersize": 3}
        right.plot(STRENGTHS, paths[:, inside], **style)
    top = 1.05 * paths.max()
    left.set(ylim=(-0.02 * top, top), xlabel="feature", title="weight × scale")
    left.legend(frameon=False, loc="upper right")
    right.axvline(strength, color=INK, linewidth=1, linestyle=":")
    right.set(xscale="log", ylim=(-0.02 * top, top), yticks=[], title="over all strengths")
    right.set(xlabel="τ / number of points", xticks=[0.001, 0.01, 0.1, 1])
    right.set(xticklabels=["0.001", "0.01", "0.1", "1"])
    right.minorticks_off()
    score, count = strength_scores(strength)
    noise = scaled[~clean].sum() / max(scaled.sum(), 1e-300)
    return figure, (
        f"τ = {strength:g} per point: {count} of {N_FEATURES} weights are not zero, noise has "
        f"{noise:.1%} of the total; F on test sets {score:.2f}."
    )


def penalties_compared(penalties: Sequence[float]) -> list[tuple[str, ...]]:
    """Learn with several penalties, half of the features noise.

    Returns one row per penalty: it, the relaxed loss, a lower bound on the hinge loss, F on the
    test sets and the mean number of clusters found in them.
    """
    rows: list[tuple[str, ...]] = []
    X, y = noisy_sets(0.5, N_TESTS, 100)
    for penalty in penalties:
        metric = learned_metric(0.5, penalty=penalty)
        found = [metric.predict(points) for points in X]
        score = np.mean([f_measure(a, b) for a, b in zip(y, found, strict=True)])
        count = np.mean([labels.max() + 1 for labels in found])
        losses = metric.relaxed_loss_, metric.hinge_lower_bound_
        rows.append((f"{penalty:g}", *(f"{a:.0f}" for a in losses), f"{score:.2f}", f"{count:.1f}"))
    return rows


@cache
def sizes_compared(size: int, factor: float, *, n_seeds: int = 20) -> tuple[Floats, Integers]:
    """Cluster test sets whose clusters have `size` points on average by the learned distance.

    The price of an exemplar is that of training times `factor`. Returns F of every set, and how
    many clusters too many were found in it.

    Examples
    --------
    >>> scores, excess = sizes_compared(12, 1.0, n_seeds=2)
    >>> excess.tolist()
    [0, 0]
    """
    metric, scores, excess = learned_metric(0.5), [], []
    for seed in range(n_seeds):
        X, y = make_noisy_gaussians(
            5 * size,
            n_features=N_FEATURES,
            noisy_fraction=0.5,
            n_clusters=5,
            random_state=1000 + seed,
        )
        found = cluster_exemplars(X, metric.weights_, factor * metric.penalty_)
        scores.append(f_measure(y, found))
        excess.append(len(set(found)) - len(set(y)))
    return np.array(scores), np.array(excess)


SIZES = (6, 9, 12, 18, 24)  # points in a cluster, on average; 12 in training
PRICES = ("as in training", "in proportion")


def sizes_and_prices(size: int, price: str) -> tuple[Figure, str]:
    """Draw how many clusters are found in test sets with clusters of some size, for one price.

    In proportion means that the price of training is multiplied by size / 12.
    """

    def found(size: int, price: str) -> tuple[Floats, Integers]:
        return sizes_compared(size, 1.0 if price == PRICES[0] else size / 12)

    scores, excess = found(size, price)
    numbers = np.arange(3, 10)
    counts = [np.sum(np.clip(5 + excess, 3, 9) == k) for k in numbers]
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    colors = [COLORS[2] if k == 5 else COLORS[6] for k in numbers]
    left.bar(numbers, counts, color=colors, width=0.7)
    left.set(ylim=(0, N_TESTS + 1), xticks=numbers, xlabel="clusters found", title="test sets")
    for i, name in enumerate(PRICES):
        means = [found(each, name)[0].mean() for each in SIZES]
        right.plot(SIZES, means, color=COLORS[i], marker=MARKERS[i], label=name)
    right.axvline(size, color=INK, linewidth=1, linestyle=":")
    right.set(ylim=(0.6, 1.02), xticks=SIZES, xlabel="points in a cluster", title="mean F")
    right.legend(frameon=False, loc="lower center")
    right_number = int(np.sum(excess == 0))
    return figure, (
        f"Clusters of {size} points, the price {price}: the right number, five, in {right_number} "
        f"of {N_TESTS} test sets, {5 + excess.min()} to {5 + excess.max()} clusters; mean F "
        f"{scores.mean():.2f}."
    )
