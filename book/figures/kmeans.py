"""Figures of the chapter on k-means as trace maximization."""

import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

from book.figures.names import name_after
from book.spread import mean_of
from mlbook._arrays import Floats
from mlbook.kmeans import SpectralKMeans, distortion, spectral_bound, spectral_embedding
from mlbook.partitions import equivalence_matrix, f_measure, partition_loss, rand_loss
from mlbook.plots import COLORS, INK, MARKERS, scatter, show_matrix, subplots

__all__ = [
    "all_partitions",
    "bases_far_and_near",
    "best_on_a_line",
    "best_segmentation",
    "bound_over_k",
    "clusters_and_gaps",
    "distortion_checks",
    "free_and_contiguous",
    "gap",
    "gaussians",
    "loss_and_gap",
    "made_round",
    "noise_of_clouds",
    "partition_pictures",
    "peak_memory",
    "rounding_table",
    "roundings",
    "six_mistakes",
    "steps",
    "stripes",
    "swallowed_cluster",
    "two_metrics",
]


def stripes(n_per_stripe: int = 60, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two long parallel clouds: the second feature tells them apart, the first is noise.

    Examples
    --------
    >>> X, y = stripes(5)
    >>> X.shape, y.tolist()
    ((10, 2), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n_per_stripe)
    X = rng.normal(size=(2 * n_per_stripe, 2)) * [4, 0.5]
    X[:, 1] += 3 * y
    return X, y


def gaussians(
    k: int, *, separation: float, noise: float, n_per_cluster: int = 40, d: int = 20, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw k round Gaussian clouds in d >= k features, cloud c around `separation` on axis c.

    Examples
    --------
    >>> X, y = gaussians(3, separation=5, noise=1, n_per_cluster=10)
    >>> X.shape, np.bincount(y).tolist()
    ((30, 20), [10, 10, 10])
    """
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n_per_cluster)
    X = noise * rng.normal(size=(k * n_per_cluster, d))
    X[np.arange(len(y)), y] += separation
    return X, y


def two_metrics() -> Figure:
    """Draw the same points clustered by k-means under two metrics."""
    X, y = stripes()
    figure, axes = subplots(1, 2, height=2.9)
    for ax, M, name in zip(
        axes[0], [np.eye(2), np.diag([0.02, 1])], ["as given", "M = diag(0.02, 1)"], strict=True
    ):
        found = SpectralKMeans(2, M=M, random_state=0).fit_predict(X)
        scatter(ax, X, found)
        ax.set(title=f"{name}: Δ = {partition_loss(y, found):.2f}")
        ax.set(xlabel="feature 1", ylabel="feature 2")
    return figure


def partition_pictures(labels: np.ndarray) -> Figure:
    """Draw a partition matrix in the given order of the points and in the order of clusters."""
    order = np.argsort(labels, kind="stable")
    C = equivalence_matrix(labels)
    figure, axes = subplots(1, 2, height=3.3)
    for ax, ranking, name in zip(
        axes[0], [np.arange(len(labels)), order], ["in the given order", "sorted"], strict=True
    ):
        show_matrix(ax, C[np.ix_(ranking, ranking)])
        ax.set(title=f"C, points {name}")
    return figure


STARTS = {
    "1 random": ("random", 1),
    "1 k-means++": ("k-means++", 1),
    "10 k-means++": ("k-means++", 10),
}


@cache
def roundings(noise: float, n_seeds: int) -> dict[tuple[str, str], np.ndarray]:
    """Cluster five clouds by k-means and by two ways of rounding the relaxation.

    All methods have the same kinds of starts. Returns, by method and kind of start, one row per
    data set: Δ to the truth, and the distortion divided by that of the truth.
    """
    k = 5
    methods: dict[str, Callable[[np.ndarray, KMeans], np.ndarray]] = {
        "k-means": lambda X, start: start.fit_predict(X),
        "rows of U": lambda X, start: start.fit_predict(spectral_embedding(X, k)),
        "rows of ĈX": _rounded,
    }
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for seed in range(n_seeds):
        X, y = gaussians(k, separation=6, noise=noise, seed=seed)
        for start, (init, n_init) in STARTS.items():
            for name, method in methods.items():
                labels = method(X, KMeans(k, init=init, n_init=n_init, random_state=seed))
                numbers = partition_loss(y, labels), distortion(X, labels) / distortion(X, y)
                found.setdefault((name, start), []).append(numbers)
    return {key: np.array(rows) for key, rows in found.items()}


def _rounded(X: np.ndarray, start: KMeans) -> np.ndarray:
    """Do what SpectralKMeans does, with any kind of start: the rows of ĈX, then polishing."""
    U = spectral_embedding(X, start.n_clusters, centred=True)
    labels = start.fit_predict(U @ (U.T @ X))
    means = np.array([X[labels == c].mean(axis=0) for c in range(start.n_clusters)])
    return KMeans(start.n_clusters, init=means, n_init=1).fit_predict(X)


def rounding_table(noises: list[float], n_seeds: int) -> tuple[list[str], list[tuple[str, ...]]]:
    """Tabulate `roundings`: mean Δ by kind of start, and the distortion of ten starts."""
    header = ["noise", "k-means on", *(f"Δ, {start}" for start in STARTS), "distortion, 10"]
    rows = []
    for noise in noises:
        found = roundings(noise, n_seeds)
        for name in dict.fromkeys(name for name, _ in found):
            means = [mean_of(found[name, start][:, 0]) for start in STARTS]
            losses = (f"{m.mean:.2f} ± {m.error:.2f}" for m in means)
            ratio = found[name, "10 k-means++"][:, 1].mean()
            shown = name.replace("k-means", "the data")
            rows.append((f"{noise:g}", shown, *losses, f"{ratio:.3f}"))
    return header, rows


NOISES = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 9)
"""Noise of three clouds that are 6 from the origin: what counts is their ratio."""


def noise_of_clouds(noise: float) -> tuple[Figure, str]:
    """Draw k-means on three clouds beside the bound that certifies it."""
    X, y = gaussians(3, separation=6, noise=noise)
    model = KMeans(3, n_init=5, random_state=0).fit(X)
    bound, truth = spectral_bound(X, 3), distortion(X, y)
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    names = name_after(y, model.labels_)
    order = [names[model.labels_ == c][0] for c in range(3)]
    for c in range(3):
        colors = [COLORS[name] for name in names[y == c]]
        across, up = X[y == c, :2].T
        left.scatter(across, up, s=22, alpha=0.8, linewidths=0, c=colors, marker=MARKERS[c])
    across, up = model.cluster_centers_[np.argsort(order), :2].T
    left.scatter(across, up, s=90, c=INK, marker="x")
    left.set(title="first 2 of 20 features", xlim=(-20, 25), ylim=(-20, 25))
    bars = ["lower\nbound", "k-means", "true\nclusters"]
    heights = np.array([bound, model.inertia_, truth]) / truth
    right.bar(bars, heights, color=[COLORS[6], COLORS[0], COLORS[1]], hatch=["//", "", ""])
    right.set(title="distortion / that of the truth", ylim=(0, 1.15))
    gap = 1 - bound / model.inertia_
    return figure, (
        f"Noise {noise:g}: k-means found a distortion of "
        f"{model.inertia_:.0f}; no partition is below {bound:.0f}, so at most {gap:.1%} of it "
        f"could be removed. Δ to the true clusters: {partition_loss(y, model.labels_):.2f}."
    )


def loss_and_gap(separation: float, noise: float, seed: int) -> tuple[float, float]:
    """Return Δ to three true clouds, and the gap of the certificate, for k-means."""
    X, y = gaussians(3, separation=separation, noise=noise, seed=seed)
    model = KMeans(3, n_init=5, random_state=seed).fit(X)
    return partition_loss(y, model.labels_), 1 - spectral_bound(X, 3) / model.inertia_


SIZES = ((40, 40, 40), (20, 40, 80), (20, 20, 100), (20, 20, 200), (20, 20, 400))
"""Sizes of three clusters, the first of which is swallowed."""

SHARES = (0, 0.25, 0.5, 0.75, 0.95, 1)
"""Shares of it that are lost; the last step is its last point, or the last two."""


def swallowed_cluster(sizes: tuple[int, int, int], share: float) -> tuple[Figure, str]:
    """Draw the losses as the first cluster is swallowed, point by point, by the second."""
    truth = np.repeat([0, 1, 2], sizes)
    shares = np.linspace(0, 1, 21)
    losses = np.array([_swallow(truth, s)[1:] for s in shares])
    found, delta, rand = _swallow(truth, share)
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    for c in range(3):
        row = np.bincount(found[truth == c], minlength=3) / len(truth)
        bars = left.barh(
            [c] * 3, row, left=np.cumsum(row) - row, color=COLORS[:3], edgecolor="white"
        )
        for bar, hatch in zip(bars, ("", "//", ".."), strict=True):
            bar.set_hatch(hatch)
        left.text(0.02 + row.sum(), c, f"{sizes[c]} points", va="center")
    left.set(title="true clusters, coloured as found", xlabel="share of all points", xlim=(0, 1.2))
    left.set(yticks=range(3), yticklabels=["1", "2", "3"])
    for loss, marker, name in zip(losses.T, MARKERS, ["Δ", "Rand loss"], strict=False):
        right.plot(shares, loss, marker=marker, markevery=5, label=name)
    right.axvline(share, color=INK, linewidth=1, linestyle=":")
    right.set(xlabel="share of cluster 1 lost", ylim=(-0.05, 2.1), title="two losses")
    right.legend(loc="upper left", frameon=False)
    return figure, (
        f"sizes {':'.join(map(str, sizes))}, {share:.0%} of cluster 1 lost: Δ = {delta:.3f}, "
        f"Rand loss = {rand:.3f}, F-measure = {f_measure(truth, found):.3f}."
    )


def _swallow(truth: np.ndarray, share: float) -> tuple[np.ndarray, float, float]:
    """Give the first `share` of cluster 0 to cluster 1; return the labels, Δ and the Rand loss."""
    found = truth.copy()
    found[: round(share * np.sum(truth == 0))] = 1
    return found, partition_loss(truth, found), rand_loss(truth, found)


def bound_over_k(k: int, d: int) -> tuple[Figure, str]:
    """Draw k clusters of five clouds, and distortion and lower bound over their number."""
    counts = range(1, 11)
    X, y = gaussians(5, separation=6, noise=1, d=d)
    found, bounds, gaps = clusters_and_gaps(d)
    labels = name_after(y, KMeans(k, n_init=10, random_state=0).fit_predict(X))
    figure, axes = subplots(1, 2, height=3)
    left, ax = axes[0]
    angles = 2 * np.pi * np.arange(5) / 5  # the five clouds around a circle
    scatter(left, X[:, :5] @ np.column_stack([np.cos(angles), np.sin(angles)]), labels)
    left.set(title=f"k = {k}", xticks=[], yticks=[], xlim=(-10.5, 10.5), ylim=(-10.5, 10.5))
    left.set_aspect("equal")
    above, under = found / found[0], bounds / found[0]
    ax.plot(counts, above, marker=MARKERS[0], label="k-means")
    ax.plot(counts, under, marker=MARKERS[1], linestyle="--", label="lower bound")
    ax.fill_between(counts, under, above, alpha=0.15, linewidth=0)
    ax.axvline(k, color=INK, linewidth=1, linestyle=":")
    ax.set(xlabel="clusters k", title="distortion / that of k = 1", xticks=counts[::3])
    ax.set_ylim(0, 1.05)
    ax.legend(frameon=False, loc="upper right")
    here, below = found[k - 1], bounds[k - 1]
    return figure, (
        f"k = {k}, {d} features: distortion {here:.0f}, bound {below:.0f}; "
        f"at most {gaps[k - 1]:.1%} of the distortion could still be removed."
    )


@cache
def clusters_and_gaps(
    d: int, seed: int = 0, counts: range = range(1, 11), *, n_init: int = 10
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distortion, bound and gap by number of clusters; the data are five clouds."""
    X, _ = gaussians(5, separation=6, noise=1, d=d, seed=seed)
    found = np.array([KMeans(c, n_init=n_init, random_state=seed).fit(X).inertia_ for c in counts])
    bounds = np.array([spectral_bound(X, c) for c in counts])
    return found, bounds, 1 - bounds / found


def made_round(X: np.ndarray, labels: np.ndarray, *, seed: int) -> np.ndarray:
    """Draw round clouds with the clusters' sizes and means, and with their mean variance.

    Examples
    --------
    >>> made_round(np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 5.0]]), np.array([0, 0, 1]), seed=0)
    array([[0., 1.],
           [0., 1.],
           [5., 5.]])
    """
    means = np.array([X[labels == c].mean(axis=0) for c in range(labels.max() + 1)])[labels]
    noise = np.random.default_rng(seed).normal(size=X.shape)
    return means + np.sqrt(np.mean((X - means) ** 2)) * noise


def gap(X: np.ndarray, labels: np.ndarray) -> float:
    """Share of the distortion that a better partition could at most remove, after polishing."""
    k = labels.max() + 1
    means = np.array([X[labels == c].mean(axis=0) for c in range(k)])
    return float(1 - spectral_bound(X, k) / KMeans(k, init=means, n_init=1).fit(X).inertia_)


def steps(*, seed: int = 1) -> np.ndarray:
    """Return a short noisy series of three steps whose first and last level are the same.

    Examples
    --------
    >>> steps().shape
    (24, 1)
    """
    rng = np.random.default_rng(seed)
    return np.repeat([0.0, 3.0, 0.0], 8)[:, None] + rng.normal(scale=0.5, size=(24, 1))


def best_segmentation(X: np.ndarray, k: int) -> np.ndarray:
    """Labels of the best partition into k contiguous segments, by trying all of them.

    Examples
    --------
    >>> best_segmentation(np.array([[0.0], [0.1], [5.0]]), 2).tolist()
    [0, 0, 1]
    """
    positions = np.arange(len(X))
    candidates = (
        np.searchsorted(cuts, positions, side="right")
        for cuts in combinations(range(1, len(X)), k - 1)
    )
    return min(candidates, key=lambda labels: distortion(X, labels))


def best_on_a_line(X: np.ndarray, k: int) -> np.ndarray:
    """Labels of the best partition of points on a line: a best segmentation of the sorted values.

    Examples
    --------
    >>> best_on_a_line(np.array([[0.0], [5.0], [0.1]]), 2).tolist()
    [0, 1, 0]
    """
    order = np.argsort(X[:, 0])
    labels = np.empty(len(X), dtype=int)
    labels[order] = best_segmentation(X[order], k)
    return labels


def free_and_contiguous(k: int = 3) -> Figure:
    """Draw the best free and the best contiguous partition of a series."""
    X = steps()
    free, contiguous = best_on_a_line(X, k), best_segmentation(X, k)
    figure, axes = subplots(1, 2, height=2.9)
    time = np.arange(len(X))
    for ax, labels, name in zip(axes[0], [free, contiguous], ["free", "contiguous"], strict=True):
        scatter(ax, np.column_stack([time, X]), labels)
        ax.set(title=f"{name}: distortion {distortion(X, labels):.2f}", xlabel="time", ylabel="x")
    return figure


def six_mistakes() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Give a segmentation of 120 points and six ways to get it wrong.

    Examples
    --------
    >>> truth, mistakes = six_mistakes()
    >>> np.bincount(truth).tolist(), len(mistakes)
    ([10, 50, 60], 6)
    """

    def segments(*starts: int) -> np.ndarray:
        return np.searchsorted(starts, np.arange(120), side="right")

    return segments(10, 60), {
        "small segment lost": segments(60),
        "large segment lost": segments(10),
        "small segment halved": segments(5, 10, 60),
        "large segment halved": segments(10, 60, 90),
        "frontier moved by 5, small segment": segments(15, 60),
        "frontier moved by 5, large segments": segments(10, 65),
    }


def peak_memory(call: Callable[[], object]) -> int:
    """Return the most bytes that Python and NumPy held at once during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def distortion_checks(seeds: int) -> tuple[list[bool], list[bool], list[bool]]:
    """Compare distortions of all 52 partitions of five random points under random metrics.

    Returns
    -------
    lists of bool
        Is the distortion, summed point by point, ⟨I − C, XMXᵀ⟩? Is it linear in M? Is it larger
        around other points than the means, and with a metric of rank one not smaller?

    Examples
    --------
    >>> [all(found) for found in distortion_checks(seeds=1)]
    [True, True, True]
    """
    same, linear, means = [], [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X, F, G = rng.normal(size=(3, 5, 3))
        M, N, flat = F.T @ F, G.T @ G, np.outer(G[0], G[0])
        for labels in map(np.array, all_partitions(5)):
            C = equivalence_matrix(labels)
            around = X - C @ X
            groups = [X[labels == c] for c in np.unique(labels)]
            by_hand = sum(
                (x - Z.mean(axis=0)) @ M @ (x - Z.mean(axis=0)) for Z in groups for x in Z
            )
            same.append(bool(np.isclose(by_hand, np.sum((np.eye(5) - C) * (X @ M @ X.T)))))
            mixed = distortion(X, labels, M) + 2 * distortion(X, labels, N)
            linear.append(bool(np.isclose(mixed, distortion(X, labels, M + 2 * N))))
            step = 10.0 ** -rng.integers(4) * rng.normal(size=(5, 3))
            moved = around - step[labels]
            means.append(bool(np.sum(around @ M * around) < np.sum(moved @ M * moved)))
            other = np.sum(moved @ flat * moved)
            means.append(bool(distortion(X, labels, flat) <= other + 1e-9))
    return same, linear, means


def bases_far_and_near(basis: Floats, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield 100 other orthonormal bases, half of them near the space of the given one.

    Examples
    --------
    >>> len(list(bases_far_and_near(np.eye(3)[:, :1], np.random.default_rng(0))))
    100
    """
    for i in range(50):
        far = rng.normal(size=basis.shape)
        yield np.linalg.qr(far)[0]
        yield np.linalg.qr(basis + 10.0 ** -(i % 4) * far)[0]


def all_partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Yield the labels of every partition of n points, each partition once.

    Examples
    --------
    >>> list(all_partitions(2))
    [(0, 0), (0, 1)]
    """
    if n == 1:
        yield (0,)
    else:
        for head in all_partitions(n - 1):
            for label in range(max(head) + 2):
                yield (*head, label)
