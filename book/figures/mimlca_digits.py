"""Figures of the chapter on MIMLCA: digits in bags, and what a kernel makes of them."""

from functools import cache

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from book.figures.mimlca import (
    TWO_TO_SIX,
    accuracy,
    digit_bags,
    from_instances,
    nearest,
    wrong_names,
)
from book.spread import mean_and_spread
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.datasets import BAG_SIZE_COUNTS, WeakBags
from mlbook.mimlca import MIMLCA, chi2_rbf_kernel, weak_kmeans
from mlbook.partitions import assignment_matrix
from mlbook.plots import INK, subplots

__all__ = [
    "digits_in_bags",
    "kernel_ranks",
    "kernel_ways",
    "kernel_wrong_names",
    "projectors",
    "scenario_runs",
    "scenarios",
]


def digits_in_bags() -> Figure:
    """Draw four bags of digits with their captions, one missing a name, one adding a name."""
    X, y = load_digits(return_X_y=True)
    bags = [([3, 7], "3, 7"), ([5, 0, 9], "0, 5"), ([2, 6, 4], "4, 6"), ([1], "1, 7")]
    figure, axes = subplots(2, 2, height=3)
    for ax, (digits, caption) in zip(axes.ravel(), bags, strict=True):
        images = [_typical(X[y == digit]).reshape(8, 8) for digit in digits]
        blank = np.zeros((8, 1))
        parts = [part for image in images for part in (image, blank)][:-1]
        strip = np.pad(np.hstack(parts), ((1, 1), (0, 0)))
        missing = 28 - strip.shape[1]
        ax.imshow(np.pad(strip, ((0, 0), (missing // 2, missing - missing // 2))), cmap="Greys")
        ax.set(xticks=[], yticks=[], xlabel=f"labels: {{{caption}}}")
        ax.spines[:].set_visible(True)
    return figure


def _typical(rows: Floats) -> Floats:
    """Return the row nearest to the mean."""
    return rows[np.argmin(np.sum((rows - rows.mean(axis=0)) ** 2, axis=1))]


@cache
def scenario_runs(n_seeds: int = 20) -> dict[str, Floats]:
    """Digits in each draw: share of wrong names, and test accuracy.

    Scenarios (a), (b) and (c) of Law 2017, and Euclidean distance to the true class means; beside
    these (b) from the same bags without their strangers; "on strangers" has the share of the wrong
    names of (b) and of (c) that strangers got; "nearest named digit" has the accuracies of (a) and
    (b) with the nearest named training digit in place of the nearest centroid.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(n_seeds):
        data, T, t = digit_bags(seed=seed)
        known = data.labels >= 0
        true = from_instances(data.instances, data.labels, 8)
        euclid = accuracy(np.eye(T.shape[1]), true.centroids_, T, t)
        found.setdefault("Euclidean, true means", []).append((0.0, euclid))
        found.setdefault("(a) instance labels", []).append((0.0, np.mean(true.predict(T) == t)))
        on_strangers, by_named = [], [_by_named(true, data.instances, data.labels, T, t)]
        all_rows, offsets = np.full(len(known), True), data.offsets
        sizes = np.add.reduceat(known, offsets[:-1])
        for name, Y, kept, ends in [
            ("(b) bag labels", data.Y, all_rows, offsets),
            ("(c) captions", data.Y_noisy, all_rows, offsets),
            ("(b) without strangers", data.Y, known, np.append(0, np.cumsum(sizes))),
        ]:
            model = MIMLCA().fit(Bags(data.instances[kept], ends), Y)
            names, labels = model.assignments_, data.labels[kept]
            right = float(np.mean(model.predict(T) == t))
            found.setdefault(name, []).append((wrong_names(names, labels), right))
            by_named.append(_by_named(model, data.instances[kept], names, T, t))
            mistakes = np.count_nonzero((names >= 0) & (names != labels))
            strangers = np.count_nonzero((names >= 0) & (labels < 0))
            on_strangers.append(strangers / mistakes if mistakes else 0.0)
        found.setdefault("on strangers", []).append((on_strangers[0], on_strangers[1]))
        found.setdefault("nearest named digit", []).append((by_named[0], by_named[1]))
    return {name: np.array(pairs) for name, pairs in found.items()}


def _by_named(model: MIMLCA, X: Floats, names: Integers, T: Floats, t: Integers) -> float:
    """Accuracy on T by the name of the nearest named row of X, in the metric of the model."""
    named = names >= 0
    close = nearest(model.transform(T), model.transform(X[named]))
    return float(np.mean(names[named][close] == t))


def scenarios(n_seeds: int = 20) -> list[tuple[str, str, str]]:
    """Write the scenarios of `scenario_runs` in per cent, mean ± standard error (draws)."""
    rows = []
    for name in [
        "Euclidean, true means",
        "(a) instance labels",
        "(b) bag labels",
        "(c) captions",
        "(b) without strangers",
    ]:
        wrong, right = 100 * scenario_runs(n_seeds)[name].T
        share = mean_and_spread(wrong, 1) if wrong.any() else ""
        rows.append((name, share, mean_and_spread(right, 1)))
    return rows


@cache
def _digit_kernel(n: int, seed: int) -> tuple[WeakBags, Floats]:
    """Bags of n digits, and the eigenvectors of their kernel matrix, largest eigenvalue first."""
    data, *_ = digit_bags(n, seed)
    K = chi2_rbf_kernel(data.instances, data.instances)
    return data, np.linalg.eigh(K)[1][:, ::-1]


def kernel_wrong_names(rank: int, n: int = 600, seed: int = 0) -> tuple[float, int]:
    """Share of wrong names, and rounds, of k-means in `rank` directions of the χ² kernel.

    Examples
    --------
    >>> error, n_rounds = kernel_wrong_names(20, 200)
    >>> error < 0.2
    True
    """
    data, vectors = _digit_kernel(n, seed)
    found = weak_kmeans(vectors[:, :rank], data.offsets, data.Y)
    return wrong_names(found.assignments, data.labels), found.n_iter


def kernel_ranks(n: int = 600) -> Figure:
    """Draw the share of wrong names over the number of kernel directions kept."""
    ranks = [2, 3, 5, 8, 12, 20, 40, 60, 100, 150, 200, 300, 400, 500, 560, n - 1, n]
    shares = [kernel_wrong_names(rank, n)[0] for rank in ranks]
    data, _ = _digit_kernel(n, 0)
    linear = MIMLCA().fit(Bags(data.instances, data.offsets), data.Y)
    random = weak_kmeans(np.zeros((n, 1)), data.offsets, data.Y, init="random", random_state=0)
    figure, axes = subplots(height=3.2)
    ax = axes[0, 0]
    ax.plot(ranks, shares, marker="o", markersize=4)
    for level, name in [(random.assignments, "random names"), (linear.assignments_, "linear U")]:
        height = wrong_names(level, data.labels)
        ax.axhline(height, color=INK, linestyle="--", linewidth=1)
        ax.text(0.02 * n, height + 0.02, name, va="bottom")
    ax.set(xlabel="directions of the kernel kept, r", ylabel="share of wrong names", ylim=(0, 0.9))
    ax.annotate("r = n", (n, shares[-1]), (-30, 7), textcoords="offset points")
    return figure


def projectors(n: int = 60) -> Figure:
    """Draw UUᵀ of the χ² kernel on n digits, sorted, for a few of its directions and for all."""
    data, vectors = _digit_kernel(n, 0)
    order = np.argsort(np.where(data.labels < 0, 8, data.labels), kind="stable")
    figure, axes = subplots(1, 2, height=3)
    for ax, rank, title in [(axes[0, 0], 10, "10 directions"), (axes[0, 1], n, f"all {n}")]:
        U = vectors[order, :rank]
        ax.imshow(np.abs(U @ U.T), cmap="Blues", vmin=0, vmax=0.6)
        ax.set(xticks=[], yticks=[], title=title)
        ax.spines[:].set_visible(True)
    return figure


@cache
def kernel_ways(paper_sizes: bool, n: int = 240, n_seeds: int = 20) -> dict[str, Floats]:
    """Four ways to use the χ² kernel on n digits: wrong names and test accuracy in each draw.

    Bags have two to six digits, or the sizes of the paper's documents (Table 5). "no choice" has
    the share of the names for which a bag leaves no choice: one instance, one label.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(n_seeds):
        data, T, t = digit_bags(n, seed, BAG_SIZE_COUNTS if paper_sizes else TWO_TO_SIX)
        T, t = T[:500], t[:500]
        K, K_test = (chi2_rbf_kernel(X, data.instances) for X in (data.instances, T))
        vectors = np.linalg.eigh(K)[1][:, ::-1]
        start = weak_kmeans(vectors, data.offsets, data.Y, init="random", random_state=seed)
        low = weak_kmeans(vectors[:, :20], data.offsets, data.Y).assignments
        linear = MIMLCA().fit(Bags(data.instances, data.offsets), data.Y)
        for way, names in {
            "as printed, random start": start.assignments,
            "linear U, then kernel": linear.assignments_,
            "20 directions, then kernel": low,
        }.items():
            known = np.flatnonzero(names >= 0)
            rows = Bags(K[np.ix_(known, known)], np.arange(len(known) + 1))
            labels = assignment_matrix(names[known], np.arange(8))
            model = MIMLCA(kernel="precomputed").fit(rows, labels)
            right = np.mean(model.predict(K_test[:, known]) == t)
            found.setdefault(way, []).append((wrong_names(names, data.labels), float(right)))
        right = np.mean(linear.predict(T) == t)
        wrong = wrong_names(linear.assignments_, data.labels)
        found.setdefault("linear throughout", []).append((wrong, float(right)))
        sizes, labels = np.diff(data.offsets), np.asarray(data.Y.sum(axis=1)).ravel()
        named = np.minimum(sizes, labels)
        fixed = named[sizes * labels == 1].sum() / named.sum()
        found.setdefault("no choice", []).append((float(fixed), float(fixed)))
    return {way: np.array(pairs) for way, pairs in found.items()}
