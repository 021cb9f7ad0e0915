"""Figures of the chapter on MIMLCA: the worked example, and the toy with six categories.

Its other rooms: `mimlca_faces`, `mimlca_digits`, `mimlca_rules`.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb, factorial
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.datasets import WeakBags, bags_from_labels, make_weak_bags
from mlbook.mimlca import (
    MIMLCA,
    assign_instances,
    feasible_assignments,
    own_clusters,
    relaxed_overlap,
    weak_kmeans,
)
from mlbook.partitions import assignment_matrix, equivalence_matrix
from mlbook.plots import COLORS, INK, MARKERS, plot_metric, subplots

__all__ = [
    "NONE",
    "TWO_TO_SIX",
    "Toy",
    "accuracy",
    "bags_and_strangers",
    "digit_bags",
    "enumerated",
    "four_bags",
    "from_instances",
    "label_noise",
    "left_out_scores",
    "nearest",
    "rounds",
    "rounds_picture",
    "small_bags",
    "start_runs",
    "toy_bags",
    "toy_runs",
    "toy_scores",
    "two_metrics",
    "unnamed_runs",
    "wrong_names",
]

NONE = 6  # colour of instances without category; the toy has categories 0 to 5
TWO_TO_SIX = (0, 1, 1, 1, 1, 1)  # bags of 2, 3, ..., 6, equally often


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
        _show_bags(ax, V, offsets, labels, 55)
        x, height = Z.T
        ax.scatter(x, height, s=110, c=COLORS[:2], marker="+", linewidths=2.5, zorder=3)
        for j, point in enumerate(V):
            ax.annotate(str(j + 1), point, (4, 4), textcoords="offset points", fontsize="small")
        ax.set(title=title, xlim=(-3, 4), ylim=(-3, 4), xticks=[], yticks=[], aspect="equal")
    return figure


def two_metrics() -> Figure:
    """Draw the names found in the given units and after whitening, each metric as its ellipse."""
    X, offsets, Y = four_bags()
    model = MIMLCA().fit(Bags(X, offsets), Y)
    whitening = np.linalg.inv(X.T @ X)
    figure, axes = subplots(2, 1, height=4.3)
    plain = weak_kmeans(X, offsets, Y).assignments
    for ax, names, title in [
        (axes[0, 0], plain, "names by the Euclidean distance, and its circle"),
        (axes[1, 0], model.assignments_, "names by M*, and its ellipse; dashed, MLCA's"),
    ]:
        _show_bags(ax, X[:, ::-1], offsets, names, 40)
        ax.set(title=title, ylabel="first feature")
    axes[1, 0].set(xlabel="second feature")
    plot_metric(np.eye(2), axes[0, 0], radius=2, columns=(1, 0))
    # drawn with the area of the circle
    for M, style in [(whitening, "-"), (model.get_mahalanobis_matrix(), "--")]:
        radius = 2 * np.linalg.det(M) ** 0.25
        plot_metric(M, axes[1, 0], radius=float(radius), columns=(1, 0))
        axes[1, 0].lines[-1].set_linestyle(style)
    for ax in axes[:, 0]:
        ax.set_adjustable("box")
        ax.set(xlim=(-13, 17), ylim=(-4.2, 4.6), aspect="equal")
    return figure


def _show_bags(ax: Axes, V: Floats, offsets: Integers, labels: Integers, size: float) -> None:
    """Draw instances with a tether to the middle of their bag; colour and marker are the name."""
    for start, end in pairwise(offsets):
        middle = V[start:end].mean(axis=0)
        for point in V[start:end]:
            ax.plot(*np.vstack([point, middle]).T, color=INK, linewidth=0.8, alpha=0.6, zorder=1)
    for c, color, marker in [(0, COLORS[0], "o"), (1, COLORS[1], "s"), (-1, COLORS[NONE], "X")]:
        x, height = V[labels == c].T
        ax.scatter(x, height, s=size, color=color, marker=marker, zorder=2)


def small_bags(seed: int) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Three random bags of one to three instances in two dimensions, with labels out of three.

    Examples
    --------
    >>> X, offsets, Y = small_bags(0)
    >>> int(offsets[-1]) == len(X), Y.shape
    (True, (3, 3))
    """
    rng = np.random.default_rng(seed)
    offsets = np.append(0, np.cumsum([2, 3, rng.integers(1, 4)]))
    Y = (rng.random((3, 3)) < 0.5).astype(int)
    Y[np.arange(3), rng.integers(3, size=3)] = 1
    return rng.normal(size=(offsets[-1], 2)), offsets, Y


@cache
def enumerated(n_seeds: int = 20) -> dict[str, NDArray[np.bool_]]:
    """Check the statements of the chapter on all feasible assignments of `small_bags`.

    By draw: "trace", the objective for a random metric; "count", how many assignments there are;
    "theorem", that no random metric exceeds M* and that M* reaches ⟨C, P⟩; "rows", k-means on U;
    "vacuous", that with a square U the objective is ñ − κ and the next assignment the same.
    """
    found: dict[str, list[bool]] = {
        name: [] for name in ("trace", "count", "theorem", "rows", "vacuous")
    }
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, offsets, Y = small_bags(seed)
        n, q = np.diff(offsets), Y.sum(axis=1)
        p = np.minimum(n, q)
        every = list(feasible_assignments(offsets, Y))
        count = np.prod(comb(n, p) * comb(q, p) * factorial(p))
        found["count"].append(len(every) == len(_tried(offsets, Y)) == count)

        A = rng.normal(size=(2, 2))
        U = np.linalg.svd(X, full_matrices=False)[0]
        square = np.linalg.qr(rng.normal(size=(len(X), len(X))))[0]
        overlaps = []
        for h in every:
            C = equivalence_matrix(own_clusters(h))
            direct = sum(np.sum((Z - Z.mean(axis=0)) ** 2) for Z in _groups(X @ A, h))
            XMX = X @ A @ A.T @ X.T
            found["trace"].append(bool(np.isclose(direct, np.sum((np.eye(len(X)) - C) * XMX))))
            overlaps.append(np.sum(C * (U @ U.T)))
            on_rows = sum(np.sum((Z - Z.mean(axis=0)) ** 2) for Z in _groups(U, h))
            found["rows"].append(bool(np.isclose(overlaps[-1], U.shape[1] - on_rows)))
            centroids = np.array(
                [square[h == c].mean(axis=0) if c in h else 0 * square[0] for c in range(3)]
            )
            objective = sum(np.sum((Z - Z.mean(axis=0)) ** 2) for Z in _groups(square, h))
            rest = np.count_nonzero(h >= 0) - len(np.unique(h[h >= 0]))
            again = assign_instances(square, centroids, offsets, Y)
            found["vacuous"].append(bool(np.isclose(objective, rest)) and np.array_equal(again, h))
        metrics = [B @ B.T for B in (*rng.normal(size=(20, 2, 2)), *rng.normal(size=(5, 2, 1)))]
        values = [relaxed_overlap(X, M, offsets, Y) for M in metrics]
        reached = relaxed_overlap(X, np.linalg.inv(X.T @ X), offsets, Y)
        found["theorem"].append(
            bool(np.isclose(reached, max(overlaps))) and max(values) < reached + 1e-9
        )
    return {name: np.array(held) for name, held in found.items()}


def _tried(offsets: NDArray[np.int64], Y: NDArray[np.int64]) -> Integers:
    """Try every way to name the instances, or not, and keep those that Law 2017, Eq. 2 allows."""
    k = Y.shape[1]
    rows = np.array(list(product(range(-1, k), repeat=int(offsets[-1]))))
    for start, end, labels in zip(offsets[:-1], offsets[1:], Y, strict=True):
        given = (rows[:, start:end, None] == np.arange(k)).sum(axis=1)
        full = given.sum(axis=1) == min(end - start, labels.sum())
        rows = rows[full & (given <= labels).all(axis=1)]
    return rows


def _groups(X: Floats, labels: Integers) -> list[Floats]:
    """Return the rows of each category, those without category left out."""
    return [X[labels == c] for c in np.unique(labels[labels >= 0])]


def digit_bags(
    n_train: int = 1000, seed: int = 0, size_counts: tuple[int, ...] = TWO_TO_SIX
) -> tuple[WeakBags, Floats, Integers]:
    """Handwritten digits in bags, 8 and 9 being strangers; and test digits.

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
    data = bags_from_labels(X[train], y[train], size_counts=size_counts, random_state=seed)
    test = test[y[test] >= 0]
    return data, X[test], y[test]


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


def left_out_scores(X: Floats, labels: Integers, model: MIMLCA) -> Floats:
    """Scores Lᵀx of the training instances, each as if it had been left out of the fit.

    Examples
    --------
    >>> X, labels = np.array([[1.0], [2.0]]), np.array([0, 1])
    >>> print(abs(left_out_scores(X, labels, from_instances(X, labels, 2)).round(3)))
    [[0.  0.5]
     [2.  0. ]]
    """
    counts = model.category_count_
    J = assignment_matrix(labels, np.arange(len(counts))).toarray() / np.sqrt(counts)
    leverage = np.sum(np.linalg.svd(X, full_matrices=False)[0] ** 2, axis=1)[:, None]
    return (model.transform(X) - leverage * J) / (1 - leverage)


def nearest(points: Floats, centroids: Floats) -> Integers:
    """Return the index of the centroid nearest to each point.

    Examples
    --------
    >>> nearest(np.array([[1.0], [3.0]]), np.array([[0.0], [4.0]])).tolist()
    [0, 1]
    """
    return np.argmin(np.sum(centroids**2, axis=1) - 2 * points @ centroids.T, axis=1)


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


@cache
def toy_runs(n_seeds: int = 20, **how: float) -> Floats:
    """Draws of `toy_bags`: wrong names, then accuracy of MIMLCA, of its names whitened, of MLCA.

    Examples
    --------
    >>> toy_runs(2, missed=0.1).shape
    (2, 4)
    """
    test = toy_bags(300, unknown=0, seed=99)
    T, t = test.instances, test.labels
    rows = []
    for seed in range(n_seeds):
        toy = toy_bags(seed=seed, **how)  # type: ignore[arg-type]
        model = MIMLCA().fit(Bags(toy.instances, toy.offsets), toy.Y)
        _, lengths, directions = np.linalg.svd(toy.instances, full_matrices=False)
        rows.append(
            [
                wrong_names(model.assignments_, toy.labels),
                float(np.mean(model.predict(T) == t)),
                accuracy(directions / lengths[:, None], model.centroids_, T, t),
                float(np.mean(from_instances(toy.instances, toy.labels, NONE).predict(T) == t)),
            ]
        )
    return np.array(rows)


@cache
def unnamed_runs(spread: float = 1.0, n_seeds: int = 20, n_bags: int = 120) -> dict[str, Floats]:
    """Who stays unnamed in bags of four with half strangers, whose features are times `spread`.

    Leverage relative to the mean, of known instances that are named rightly and of those left
    without name; and the share of wrong names from U, and from U with rows of length 1.
    """
    found: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        toy = toy_bags(n_bags, 4, unknown=0.5, seed=seed)
        known = toy.labels >= 0
        X = np.where(known[:, None], toy.instances, spread * toy.instances)
        U = np.linalg.svd(X, full_matrices=False)[0]
        leverage = np.sum(U**2, axis=1)
        names = weak_kmeans(U, toy.offsets, toy.Y).assignments
        unit = weak_kmeans(U / np.sqrt(leverage)[:, None], toy.offsets, toy.Y).assignments
        relative = leverage / leverage.mean()
        for what, value in {
            "named": relative[known & (names == toy.labels)].mean(),
            "unnamed": relative[known & (names < 0)].mean() if np.any(known & (names < 0)) else 0,
            "wrong": wrong_names(names, toy.labels),
            "wrong, unit rows": wrong_names(unit, toy.labels),
        }.items():
            found.setdefault(what, []).append(float(value))
    return {what: np.array(values) for what, values in found.items()}


@cache
def start_runs(n_seeds: int = 20) -> dict[str, Floats]:
    """Wrong names and objective from four kinds of start, on bags like the paper's, by draw."""
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(n_seeds):
        data = make_weak_bags(500, 120, 80, random_state=seed)
        bags = Bags(data.instances, data.offsets)
        for init, n_init in [("weighted", 1), ("unambiguous", 1), ("random", 1), ("random", 10)]:
            model = MIMLCA(init=init, n_init=n_init, random_state=seed).fit(bags, data.Y)
            wrong = wrong_names(model.assignments_, data.labels)
            row = (wrong, float(model.objective_path_[-1]))
            found.setdefault(f"{init}, {n_init}", []).append(row)
    return {name: np.array(pairs) for name, pairs in found.items()}


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
