"""Figures of the chapter on MIMLCA."""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb, factorial
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from book.spread import mean_and_spread, mean_of
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.datasets import BAG_SIZE_COUNTS, WeakBags, bags_from_labels, make_weak_bags
from mlbook.mimlca import (
    MIMLCA,
    assign_instances,
    chi2_rbf_kernel,
    feasible_assignments,
    own_clusters,
    relaxed_overlap,
    weak_kmeans,
)
from mlbook.partitions import assignment_matrix, equivalence_matrix
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "Rules",
    "Toy",
    "accuracy",
    "alpha_cut",
    "alpha_regions",
    "alpha_runs",
    "alpha_toy",
    "bags_and_strangers",
    "digit_bags",
    "digits_in_bags",
    "empty_categories",
    "enumerated",
    "four_bags",
    "from_instances",
    "kernel_ranks",
    "kernel_ways",
    "kernel_wrong_names",
    "label_noise",
    "left_out_scores",
    "rounds",
    "rounds_picture",
    "rule_gains",
    "rules_on_digits",
    "scenario_runs",
    "scenarios",
    "small_bags",
    "start_runs",
    "toy_bags",
    "toy_runs",
    "toy_scores",
    "unnamed_runs",
    "wrong_names",
]


NONE = 6  # colour of instances without category; the toy has categories 0 to 5
TWO_TO_SIX = (0, 1, 1, 1, 1, 1)  # bags of 2, 3, ..., 6, equally often
SIZES = {"equal": (40,) * 10, "unequal": (75,) * 5 + (5,) * 5}  # training digits of each kind
FEATURES = (20, 40, 80, 160)  # of 400 digits


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


# Digits in bags


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
        on_strangers, nearest = [], [_by_named(true, data.instances, data.labels, T, t)]
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
            nearest.append(_by_named(model, data.instances[kept], names, T, t))
            mistakes = np.count_nonzero((names >= 0) & (names != labels))
            strangers = np.count_nonzero((names >= 0) & (labels < 0))
            on_strangers.append(strangers / mistakes if mistakes else 0.0)
        found.setdefault("on strangers", []).append((on_strangers[0], on_strangers[1]))
        found.setdefault("nearest named digit", []).append((nearest[0], nearest[1]))
    return {name: np.array(pairs) for name, pairs in found.items()}


def _by_named(model: MIMLCA, X: Floats, names: Integers, T: Floats, t: Integers) -> float:
    """Accuracy on T by the name of the nearest named row of X, in the metric of the model."""
    named = names >= 0
    nearest = _nearest(model.transform(T), model.transform(X[named]))
    return float(np.mean(names[named][nearest] == t))


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
def unnamed_runs(spread: float = 1.0, n_seeds: int = 20) -> dict[str, Floats]:
    """Who stays unnamed in bags of four with half strangers, whose features are times `spread`.

    Leverage relative to the mean, of known instances that are named rightly and of those left
    without name; and the share of wrong names from U, and from U with rows of length 1.
    """
    found: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        toy = toy_bags(size=4, unknown=0.5, seed=seed)
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


# Prediction and α


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


def left_out_scores(X: Floats, labels: Integers, model: MIMLCA) -> Floats:
    """Scores Lᵀx of the training instances, each as if it had been left out of the fit.

    Examples
    --------
    >>> X, labels = alpha_toy(4)
    >>> left_out_scores(X, labels, from_instances(X, labels, 3)).shape
    (600, 3)
    """
    counts = model.category_count_
    J = assignment_matrix(labels, np.arange(len(counts))).toarray() / np.sqrt(counts)
    leverage = np.sum(np.linalg.svd(X, full_matrices=False)[0] ** 2, axis=1)[:, None]
    return (model.transform(X) - leverage * J) / (1 - leverage)


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
                _balanced(_nearest(images, centroids), y[test]),
                _balanced(_nearest(images, others), y[test]),
                _balanced(by_score, y[test]),
                own.mean(),
                np.mean(new),
            ]
        )
    return Rules(*np.array(rows).T)


def _nearest(points: Floats, centroids: Floats) -> Integers:
    """Return the index of the centroid nearest to each point."""
    return np.argmin(np.sum(centroids**2, axis=1) - 2 * points @ centroids.T, axis=1)


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
        with_empty = _nearest(model.transform(T), model.transform(model.centroids_))
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
