"""Figures of the chapter on MIMLCA."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from book.spread import mean_and_spread
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.datasets import WeakBags, bags_from_labels
from mlbook.mimlca import MIMLCA, assign_instances, chi2_rbf_kernel, weak_kmeans
from mlbook.partitions import assignment_matrix
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "Toy",
    "accuracy",
    "alpha_regions",
    "alpha_toy",
    "bags_and_strangers",
    "digit_bags",
    "digits_in_bags",
    "four_bags",
    "from_instances",
    "kernel_ranks",
    "kernel_wrong_names",
    "label_noise",
    "rounds",
    "rounds_picture",
    "scenarios",
    "toy_bags",
    "toy_scores",
    "wrong_names",
]


NONE = 6  # colour of instances without category; the toy has categories 0 to 5


# The worked example


def four_bags() -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Eight instances in four bags, two categories: instances, offsets, labels of the bags.

    The columns of X are orthogonal, with squared lengths 24 and 600.

    Examples
    --------
    >>> X, offsets, Y = four_bags()
    >>> print(X.T @ X)
    [[ 24.   0.]
     [  0. 600.]]
    """
    V = [[-2, 2], [-1, -2], [-1, 3], [2, 2], [2, -1], [0, 1], [-1, 0], [3, 1]]
    X = np.array(V) * np.array([1.0, 5.0])
    return X, np.array([0, 1, 3, 6, 8]), np.array([[1, 0], [1, 1], [1, 1], [0, 1]])


def rounds(
    V: Floats, offsets: ArrayLike, Y: ArrayLike, start: Integers | None = None
) -> list[tuple[Floats, Integers]]:
    """Centroids and the assignment made from them, round by round (Law 2017, steps 2-8).

    The first centroids are the means of the assignment `start`, or else of all candidates,
    weighted 1/(n_i q_i). The last round changes nothing.

    Examples
    --------
    >>> X, offsets, Y = four_bags()
    >>> [labels.tolist() for _, labels in rounds(X / [1, 5], offsets, Y)][1:]
    [[0, 1, 0, -1, 1, 0, 1, -1], [0, 1, 0, -1, 1, 0, 1, -1]]
    """
    candidates = np.asarray(Y, dtype=float)
    sizes, k = np.diff(np.asarray(offsets)), candidates.shape[1]
    if start is None:
        chances = candidates / (sizes * candidates.sum(axis=1))[:, None]
        weights = np.repeat(chances, sizes, axis=0)
    else:
        weights = (start[:, None] == np.arange(k)).astype(float)
    path: list[tuple[Floats, Integers]] = []
    while len(path) < 2 or not np.array_equal(path[-1][1], path[-2][1]):
        Z = (weights / weights.sum(axis=0)).T @ V
        labels = assign_instances(V, Z, offsets, Y)
        path.append((Z, labels))
        weights = (labels[:, None] == np.arange(k)).astype(float)
    return path


def rounds_picture() -> Figure:
    """Draw the three rounds of the algorithm on the four bags."""
    X, offsets, Y = four_bags()
    V = X / [1, 5]
    figure, axes = subplots(1, 3, height=2.9)
    titles = ["first", "round 1", "round 2"]
    for ax, title, (Z, labels) in zip(axes[0], titles, rounds(V, offsets, Y), strict=True):
        for i in range(len(offsets) - 1):
            bag = V[offsets[i] : offsets[i + 1]]
            ax.plot(*np.vstack([bag, bag[:1]]).T, color=INK, linewidth=0.7, alpha=0.4, zorder=1)
        for c, color, marker in [(0, COLORS[0], "o"), (1, COLORS[1], "s"), (-1, COLORS[NONE], "X")]:
            x, height = V[labels == c].T
            ax.scatter(x, height, s=55, color=color, marker=marker, zorder=2)
        x, height = Z.T
        ax.scatter(x, height, s=110, c=COLORS[:2], marker="+", linewidths=2.5, zorder=3)
        for j, point in enumerate(V):
            ax.annotate(str(j + 1), point, (4, 4), textcoords="offset points", fontsize="small")
        ax.set(title=title, xlim=(-3, 4), ylim=(-3, 4), xticks=[], yticks=[], aspect="equal")
    return figure


# Digits in bags


def digit_bags(n_train: int = 1000, seed: int = 0) -> tuple[WeakBags, Floats, Integers]:
    """Handwritten digits in bags of two to six, 8 and 9 being strangers; and test digits.

    Returns the bags, and the instances and categories (0 to 7) of the remaining digits.

    Examples
    --------
    >>> data, T, t = digit_bags(200)
    >>> data.Y.shape[1], sorted(set(t.tolist()))
    (8, [0, 1, 2, 3, 4, 5, 6, 7])
    """
    X, y = load_digits(return_X_y=True)
    y = np.where(y >= 8, -1, y)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:n_train], order[n_train:]
    data = bags_from_labels(X[train], y[train], size_counts=[0, 1, 1, 1, 1, 1], random_state=seed)
    test = test[y[test] >= 0]
    return data, X[test], y[test]


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


def from_instances(
    X: Floats, labels: Integers, k: int, kernel: str | Callable[[Any, Any], Any] = "linear"
) -> MIMLCA:
    """Fit MIMLCA to instances whose categories are known: scenario (a), which is MLCA.

    Examples
    --------
    >>> model = from_instances(np.eye(3), np.array([0, 1, -1]), 2)
    >>> model.category_count_.tolist()
    [1, 1]
    """
    known = labels >= 0
    rows, names = X[known], assignment_matrix(labels[known], np.arange(k))
    return MIMLCA(kernel=kernel).fit(Bags(rows, np.arange(len(rows) + 1)), names)


def accuracy(maps: Floats, centroids: Floats, T: Floats, t: Integers) -> float:
    """Share of test instances whose nearest centroid, after the map, is the right one (Eq. 15).

    Examples
    --------
    >>> accuracy(np.eye(1), np.array([[0.0], [4.0]]), np.array([[1.0], [1.5]]), np.array([0, 1]))
    0.5
    """
    Z, C = T @ maps.T, centroids @ maps.T
    found = np.argmin(np.sum(C**2, axis=1) - 2 * Z @ C.T, axis=1)
    return float(np.mean(found == t))


def wrong_names(assignments: Integers, labels: Integers) -> float:
    """Share of assigned instances that are of another category, or of none.

    Examples
    --------
    >>> wrong_names(np.array([0, 1, -1, 1]), np.array([0, 1, 1, -1]))
    0.3333333333333333
    """
    assigned = assignments >= 0
    return float(np.mean(assignments[assigned] != labels[assigned]))


def scenarios(n_seeds: int) -> list[tuple[str, str, str]]:
    """Digits: wrong names and test accuracy in per cent, mean ± standard error (draws).

    Scenarios (a), (b) and (c) of Law 2017, and Euclidean distance to the true class means.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(n_seeds):
        data, T, t = digit_bags(seed=seed)
        bags = Bags(data.instances, data.offsets)
        true = from_instances(data.instances, data.labels, 8)
        euclid = accuracy(np.eye(T.shape[1]), true.centroids_, T, t)
        found.setdefault("Euclidean, true means", []).append((0.0, euclid))
        found.setdefault("(a) instance labels", []).append((0.0, np.mean(true.predict(T) == t)))
        for name, Y in [("(b) bag labels", data.Y), ("(c) captions", data.Y_noisy)]:
            model = MIMLCA().fit(bags, Y)
            error = wrong_names(model.assignments_, data.labels)
            found.setdefault(name, []).append((error, np.mean(model.predict(T) == t)))
    rows = []
    for name, pairs in found.items():
        wrong, right = 100 * np.array(pairs).T
        share = mean_and_spread(wrong, 1) if wrong.any() else ""
        rows.append((name, share, mean_and_spread(right, 1)))
    return rows


@cache
def _digit_kernel(n: int) -> tuple[WeakBags, Floats]:
    """Bags of n digits, and the eigenvectors of their kernel matrix, largest eigenvalue first."""
    data, *_ = digit_bags(n)
    K = chi2_rbf_kernel(data.instances, data.instances)
    return data, np.linalg.eigh(K)[1][:, ::-1]


def kernel_wrong_names(rank: int, n: int = 600) -> tuple[float, int]:
    """Share of wrong names, and rounds, of k-means in `rank` directions of the χ² kernel.

    Examples
    --------
    >>> error, n_rounds = kernel_wrong_names(20, 200)
    >>> error < 0.2
    True
    """
    data, vectors = _digit_kernel(n)
    found = weak_kmeans(vectors[:, :rank], data.offsets, data.Y)
    return wrong_names(found.assignments, data.labels), found.n_iter


def kernel_ranks(n: int = 600) -> Figure:
    """Draw the share of wrong names over the number of kernel directions kept."""
    ranks = [2, 3, 5, 8, 12, 20, 40, 60, 100, 150, 200, 300, 400, 500, 560, n - 1, n]
    shares = [kernel_wrong_names(rank, n)[0] for rank in ranks]
    data, _ = _digit_kernel(n)
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


# The toy: six categories on a circle, and wide nuisance


class Toy(NamedTuple):
    """Instances, offsets of the bags, their labels, and the true categories (−1: strangers)."""

    instances: Floats
    offsets: NDArray[np.int64]
    Y: NDArray[np.bool_]
    labels: NDArray[np.int64]


def toy_bags(
    n_bags: int = 120,
    size: int = 3,
    *,
    unknown: float = 0.2,
    missed: float = 0.0,
    added: float = 0.0,
    seed: int = 0,
) -> Toy:
    """Bags of instances around six points of a circle, with six features of wide noise.

    Each instance is a stranger with probability `unknown`; the others of a bag have different
    categories. A name is missing in the bag's label with probability `missed`, and wrong
    names are added, `added` on average.

    Examples
    --------
    >>> toy = toy_bags(2, 3, unknown=0, seed=1)
    >>> toy.Y.sum(axis=1).tolist(), toy.instances.shape
    ([3, 3], (6, 8))
    """
    rng = np.random.default_rng(seed)
    k = NONE
    labels = np.array([rng.permutation(k)[:size] for _ in range(n_bags)])
    labels[rng.random(labels.shape) < unknown] = -1
    Y = np.any(labels[:, :, None] == np.arange(k), axis=1)
    labels = labels.ravel()
    angles = 2 * np.pi * np.arange(k) / k
    centres = 3 * np.column_stack([np.cos(angles), np.sin(angles)])
    anywhere = rng.normal(scale=2.1, size=(len(labels), 2))
    signal = np.where(labels[:, None] >= 0, centres[labels], anywhere)
    signal = signal + rng.normal(scale=0.7, size=signal.shape)
    X = np.hstack([signal, rng.normal(scale=6, size=(len(labels), 6))])
    Y &= rng.random(Y.shape) >= missed
    for i, count in enumerate(rng.poisson(added, size=n_bags)):
        Y[i, rng.permutation(k)[:count]] = True
    return Toy(X, size * np.arange(n_bags + 1), Y, labels)


def toy_scores(toy: Toy) -> tuple[MIMLCA, dict[str, float]]:
    """Fit MIMLCA; accuracy of four ways on 900 new instances.

    MLCA from the true categories, MIMLCA, the names of MIMLCA with the metric of Theorem 2.1,
    and the same algorithm on X instead of U, with the Euclidean distance.

    Examples
    --------
    >>> _, scores = toy_scores(toy_bags())
    >>> scores["MIMLCA"] > scores["whitened"] > scores["Euclidean"]
    True
    """
    test = toy_bags(300, unknown=0, seed=99)
    T, t = test.instances, test.labels
    X = toy.instances
    with threadpool_limits(1):
        model = MIMLCA().fit(Bags(X, toy.offsets), toy.Y)
        plain = weak_kmeans(X, toy.offsets, toy.Y).assignments
        true = from_instances(X, toy.labels, NONE)
        _, lengths, directions = np.linalg.svd(X, full_matrices=False)
        means = np.array([X[plain == c].mean(axis=0) for c in range(NONE)])
        return model, {
            "MLCA, truth": float(np.mean(true.predict(T) == t)),
            "MIMLCA": float(np.mean(model.predict(T) == t)),
            "whitened": accuracy(directions / lengths[:, None], model.centroids_, T, t),
            "Euclidean": accuracy(np.eye(X.shape[1]), means, T, t),
        }


def label_noise(missed: float, added: float) -> tuple[Figure, str]:
    """Draw names and accuracies over names missed and added by the captions."""
    toy = toy_bags(missed=missed, added=added)
    return _names_and_bars(toy, f"Missed {100 * missed:.0f}%, added {added:g} names per bag")


def bags_and_strangers(size: int, unknown: float) -> tuple[Figure, str]:
    """Draw names and accuracies over the size of the bags and the share of strangers."""
    toy = toy_bags(360 // size, size, unknown=unknown)
    return _names_and_bars(toy, f"Bags of {size}, {100 * unknown:.0f}% strangers")


def _names_and_bars(toy: Toy, what: str) -> tuple[Figure, str]:
    model, scores = toy_scores(toy)
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    _show_names(left, toy.instances[:150], toy.labels[:150], model.assignments_[:150])
    bars = right.barh(range(len(scores)), list(scores.values()), color=COLORS[NONE], height=0.6)
    bars[1].set(color=COLORS[0], hatch="//")
    right.bar_label(bars, fmt="{:.2f}", padding=3)
    right.set(yticks=range(len(scores)), yticklabels=[s.replace(" ", "\n") for s in scores])
    right.set(xlim=(0, 1.3), xticks=[0, 0.5, 1], title="test accuracy")
    right.invert_yaxis()
    wrong = wrong_names(model.assignments_, toy.labels)
    assigned = np.mean(model.assignments_ >= 0)
    return figure, (
        f"{what}: {100 * assigned:.0f}% of the instances have a name, {100 * wrong:.0f}% of these "
        "names are wrong. Accuracy: "
        + ", ".join(f"{way} {score:.2f}" for way, score in scores.items())
        + "."
    )


def _show_names(ax: Axes, X: Floats, truth: Integers, found: Integers) -> None:
    """Draw the two features that matter: colour is the name given, the marker the truth."""
    for c in np.unique(truth):
        chosen = truth == c
        colors = np.array(COLORS)[np.where(found[chosen] >= 0, found[chosen], NONE)]
        marker = MARKERS[c] if c >= 0 else "X"
        x, height = X[chosen, :2].T
        ax.scatter(x, height, s=22, alpha=0.8, linewidths=0, c=colors, marker=marker)
    ax.set(xlim=(-5.8, 5.8), ylim=(-5.8, 5.8), xticks=[], yticks=[], title="names given")
    ax.set_aspect("equal")


# Prediction and α


def alpha_toy(ratio: int, n: int = 600, seed: int = 0) -> tuple[Floats, Integers]:
    """Three categories around the corners of a triangle, the first `ratio` times rarer.

    Two features that matter, six of wide noise, and a constant.

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
    signal = centres[labels] + rng.normal(size=(n, 2))
    return np.hstack([signal, rng.normal(scale=6, size=(n, 6)), np.ones((n, 1))]), labels


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
    right.axvline(alpha, color=INK, linewidth=1)
    right.set(xlabel="α/√n", title="test accuracy", ylim=(-0.03, 1.03), xlim=(-0.03, 1.03))
    right.legend(frameon=False, loc="lower left")
    rare, others = shares(alpha)
    rare15, others15 = shares(None)
    return figure, (
        f"α = {alpha:g}√n, sizes 1:{ratio}:{ratio}: accuracy {rare:.2f} for the first category, "
        f"{others:.2f} for the others. Nearest centroid (Eq. 15): {rare15:.2f} and {others15:.2f}."
    )
