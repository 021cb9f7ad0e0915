"""Figures of the chapter on MLCA."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from threadpoolctl import ThreadpoolController

from book.figures.names import name_after
from book.spread import mean_of
from mlbook._arrays import Floats, Integers
from mlbook.baselines import METRICS
from mlbook.datasets import CROSSED_CLUSTER_MEANS, make_crossed_clusters
from mlbook.kmeans import distortion, spectral_embedding
from mlbook.mlca import MLCA, closed_form_metric, structured_loss, worst_case_risk
from mlbook.partitions import normalized_assignment, partition_loss
from mlbook.plots import COLORS, INK, MARKERS, plot_metric, subplots

__all__ = [
    "SIZES",
    "WAYS",
    "centred_spectral",
    "cluster",
    "crossed_clusters",
    "discriminant_metric",
    "draw_crossed",
    "four_points",
    "learned_tilt",
    "losses_of",
    "mean_tilt",
    "metric_by_hand",
    "noise_and_features",
    "one_thread",
    "prefers_wrong",
    "risk_triangle",
    "scatter_directions",
    "show_found",
    "sizes_and_ways",
    "target_projected",
    "tilts",
    "turned_view",
    "whole_categories",
]


# The worked example


def four_points() -> tuple[Floats, Integers]:
    """Four points with three features, a constant, a signal and a nuisance, and two classes.

    Examples
    --------
    >>> X, y = four_points()
    >>> print(X.T @ X)
    [[  4.   0.   0.]
     [  0.  20.   0.]
     [  0.   0. 100.]]
    """
    return np.array([[1.0, -3, 5], [1, -1, -5], [1, 1, -5], [1, 3, 5]]), np.array([0, 0, 1, 1])


def metric_by_hand() -> Figure:
    """Draw the four points under two metrics, each as the points at one distance from a centre."""
    X, y = four_points()
    M = closed_form_metric(X, normalized_assignment(y))
    figure, axes = subplots(1, 2, height=2.9)
    for ax, name, metric, radius in zip(
        axes[0], ["Euclidean", "MLCA"], [np.eye(3), M], [2.0, 0.4], strict=True
    ):
        found = name_after(y, cluster(X @ np.sqrt(metric), 2))  # both are diagonal
        show_found(ax, X[:, 1:], y, found, size=90)
        plot_metric(metric, ax, columns=(1, 2), radius=radius)
        ax.set_aspect("equal", adjustable="box")
        ax.set(xlabel="signal", xlim=(-6, 6), ylim=(-7, 7), xticks=[-3, -1, 1, 3], yticks=[-5, 5])
        ax.set_title(f"{name}: Δ = {partition_loss(y, found):.0f}")
    axes[0, 0].set_ylabel("nuisance")
    return figure


def target_projected() -> Figure:
    """Draw the target of the four points above the columns of X, its foot, and the mapped rows.

    The columns of J are the constant ± the target u, over √2. The constant is a column of X, so
    all there is to fit is u.
    """
    X, y = four_points()
    J = normalized_assignment(y).toarray()
    u = (J[:, 1] - J[:, 0]) / np.sqrt(2)
    signal, nuisance = X[:, 1:].T
    foot = np.array([u @ signal / np.linalg.norm(signal), u @ nuisance / np.linalg.norm(nuisance)])
    height = np.sqrt(1 - foot @ foot)
    figure, axes = subplots(1, 2, height=3.3)
    left, right = axes[0]
    oblique = np.array([[1.0, 0.0], [0.45, 0.4], [0.0, 1.0]])  # signal, nuisance, the rest
    corners = np.array([[-0.1, -0.75, 0], [1.25, -0.75, 0], [1.25, 0.4, 0], [-0.1, 0.4, 0]])
    left.fill(*(corners @ oblique).T, color=COLORS[2], alpha=0.25, linewidth=0)
    ends = {"signal": ([1.25, 0, 0], (0.02, 0.04)), "nuisance": ([0, -0.7, 0], (0.08, -0.01))}
    for name, (end, place) in ends.items():
        x, top = np.array(end) @ oblique
        left.annotate("", (x, top), (0, 0), arrowprops={"arrowstyle": "->", "color": COLORS[6]})
        left.text(x + place[0], top + place[1], name, color=INK, fontsize=10)
    target, below = np.array([*foot, height]) @ oblique, np.array([*foot, 0]) @ oblique
    for end, color in [(target, INK), (below, COLORS[0])]:
        left.annotate("", end, (0, 0), arrowprops={"arrowstyle": "->", "color": color, "lw": 2})
    left.plot(*np.array([target, below]).T, color=COLORS[1])
    left.text(0.28, 0.24, "target u", rotation=27, rotation_mode="anchor", fontsize=11)
    left.text(0.55, -0.13, "fit Pu", color=COLORS[0], fontsize=11, ha="center")
    left.text(target[0] + 0.03, height / 2, f"√{1 - foot @ foot:.1f}", fontsize=11)
    left.set(xlim=(-0.5, 1.6), ylim=(-0.4, 0.6), aspect="equal", title="target, columns of X")
    left.axis("off")
    rows = X @ np.linalg.pinv(X) @ J
    for row, goal in zip(rows, J, strict=True):
        right.plot(*np.array([row, goal]).T, color=COLORS[1], linewidth=1.5, zorder=1)
    for c in np.unique(y):
        wanted = J[y == c][0]
        right.scatter(*wanted, s=170, facecolors="none", edgecolors=INK, marker=MARKERS[c])
    show_found(right, rows, y, name_after(y, cluster(rows, 2)), size=45)
    right.set(
        xlim=(-0.15, 0.95), ylim=(-0.15, 0.95), aspect="equal", title="mapped points, targets"
    )
    right.set(xticks=[0, 0.5], yticks=[0, 0.5])
    return figure


def risk_triangle() -> Figure:
    """Draw the risk of all diagonal metrics on the four points, and its convex bound on a line."""
    X, y = four_points()
    lengths = np.sum(X**2, axis=0)
    ends = np.array([lengths, np.diag(closed_form_metric(X, normalized_assignment(y))) * lengths])
    ends /= ends.sum(axis=1, keepdims=True)
    figure, axes = subplots(1, 2, height=3.1)
    left, right = axes[0]
    _draw_cells(left, X, y)
    path = ends @ _CORNERS
    left.plot(*path.T, color=INK, linestyle="--", linewidth=1.2)
    for (x, height), name, marker in zip(path, ["Euclidean", "MLCA"], MARKERS, strict=False):
        left.scatter(x, height, s=50, color=INK, marker=marker, zorder=3)
        left.annotate(name, (x, height), (9, 4), textcoords="offset points")
    shares = np.linspace(0, 1, 101)
    metrics = [np.diag(((1 - t) * ends[0] + t * ends[1]) / lengths) for t in shares]
    risks = [worst_case_risk(X, M, y) for M in metrics]
    scales = np.geomspace(0.01, 30, 40)
    bounds = [min(structured_loss(X, s * M, y) for s in scales) for M in metrics]
    right.plot(shares, bounds, linestyle="--", color=COLORS[1], label="convex bound ℓ")
    right.plot(shares, risks, color=COLORS[0], label="risk R", drawstyle="steps-mid")
    right.set(ylim=(0, 5.9), title="along the dashed line")
    right.set(xticks=[0, 1], xticklabels=["Euclidean", "MLCA"])
    right.legend(frameon=False, loc="upper left")
    return figure


_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])


def _draw_cells(ax: Axes, X: Floats, y: Integers) -> None:
    """Draw the three cells on which relaxed k-means drops the same feature."""
    names, middle = ["constant", "signal", "nuisance"], np.full(3, 1 / 3)
    lengths = np.sum(X**2, axis=0)
    for dropped, color in enumerate(COLORS[:3]):
        polygon = np.vstack([np.delete(np.eye(3), dropped, axis=0), middle])
        ax.fill(*(polygon @ _CORNERS).T, color=color, alpha=0.25, linewidth=0)
        weights = polygon.mean(axis=0)
        risk = worst_case_risk(X, np.diag(weights / lengths), y)
        x, height = weights @ _CORNERS
        ax.text(x, height + 0.06, f"{risk:.1f}", ha="center", va="center", fontsize=13)
    for corner, name, below in zip(_CORNERS, names, [True, True, False], strict=True):
        height = corner[1] + (-0.05 if below else 0.04)
        ax.text(corner[0], height, name, ha="center", va="top" if below else "bottom")
    ax.set(
        xlim=(-0.15, 1.15), ylim=(-0.17, 1.02), aspect="equal", title="risk of a diagonal metric"
    )
    ax.axis("off")


# Clustering test data in several ways


def _mlca(X: Floats, y: Integers, T: Floats) -> Floats:
    return MLCA().fit(X, y).transform(T)


def _learned(name: str) -> Callable[[Floats, Integers, Floats], Floats]:
    return lambda X, y, T: T @ METRICS[name](X, y).T


def _repeated(X: Floats, y: Integers) -> tuple[Floats, Integers]:
    """Repeat rows until all categories are as large as the largest, a multiple of each."""
    sizes = np.bincount(y)
    times = (sizes.max() // sizes)[y]
    return np.repeat(X, times, axis=0), np.repeat(y, times)


def _third_as_learned(X: Floats, y: Integers, T: Floats) -> Floats:
    """Do the spectral step, but let the third vector keep its weight beside the second."""
    U, lengths, _ = np.linalg.svd(_mlca(X, y, T), full_matrices=False)
    scaled: Floats = U * [1, 1, lengths[2] / lengths[1]]
    return scaled


WAYS: dict[str, Callable[[Floats, Integers, Floats], Floats]] = {
    "Euclidean": lambda X, y, T: T,
    "Euclidean, spectral": lambda X, y, T: spectral_embedding(T, 3),
    "MLCA": _mlca,
    "MLCA, spectral": lambda X, y, T: spectral_embedding(_mlca(X, y, T), 3),
    "regression on Y": _learned("regression"),
    "LDA": _learned("lda"),
    "KISSME": _learned("kissme"),
    "MLCA, rows repeated": lambda X, y, T: _mlca(*_repeated(X, y), T),
    "MLCA, spectral, third as learned": _third_as_learned,
}
"""What k-means is given of test rows T after learning from X and y."""


@cache
def losses_of(
    way: str,
    sizes: tuple[int, ...] = (100, 100, 100),
    *,
    noise: float = 1.0,
    n_noise_features: int = 0,
    n_seeds: int = 20,
    test: tuple[int, ...] = (200, 200, 200),
    straight: bool = False,
) -> Floats:
    """Δ on test data, one number per seed.

    Training data have `sizes` points in the sub-clusters of each category, test data `test`.
    With `straight` the two sub-clusters of a category differ in feature 2 only.

    Examples
    --------
    >>> losses_of("MLCA", noise=0.1, n_seeds=2, test=(20, 20, 20)).round(6)
    array([0., 0.])
    """
    losses = []
    for seed in range(n_seeds):
        X, y, T, t = draw_crossed(sizes, noise, n_noise_features, test, seed)
        if straight:
            X, T = _straight(X, y), _straight(T, t)
        with one_thread():
            Z = WAYS[way](X, y, T)
        losses.append(partition_loss(t, cluster(Z)))
    return np.array(losses)


def prefers_wrong(
    way: str, sizes: tuple[int, ...] = (100, 100, 100), *, n_noise_features: int = 0
) -> Integers:
    """Say by seed of `losses_of` whether Δ > 1 and the objective is on the side of the mistake.

    That is, what k-means found has a smaller distortion than the true categories.
    """
    losses = losses_of(way, sizes, n_noise_features=n_noise_features)
    preferred = np.zeros(len(losses), dtype=bool)
    for seed in np.flatnonzero(losses > 1).tolist():
        X, y, T, t = draw_crossed(sizes, 1.0, n_noise_features, (200,) * 3, seed)
        with one_thread():
            Z = WAYS[way](X, y, T)
        preferred[seed] = distortion(Z, cluster(Z)) < distortion(Z, t)
    return preferred


def centred_spectral(n_vectors: int, *, data: int = 0, order: int = 0) -> float:
    """Δ of k-means on left singular vectors of centred test data, the rows in some order.

    The metric is learned from centred data, hence of rank 2. `data` and `order` are seeds. If
    only the order of the rows changes, the points stay the same, and what changes is rounding.

    Examples
    --------
    >>> centred_spectral(2) < 0.2
    True
    """
    X, y, T, t = draw_crossed((300,) * 3, 1.0, 0, (300,) * 3, data)
    rows = np.random.default_rng(order).permutation(len(T))
    Z = MLCA().fit(X - X.mean(axis=0), y).transform(T[rows] - X.mean(axis=0))
    U = np.linalg.svd(Z, full_matrices=False).U[:, :n_vectors]
    return partition_loss(t[rows], cluster(U))


@cache
def draw_crossed(
    sizes: tuple[int, ...],
    noise: float,
    n_noise_features: int,
    test: tuple[int, ...],
    seed: int,
) -> tuple[Floats, Integers, Floats, Integers]:
    """Training rows and classes, test rows and classes."""
    drawn = (
        make_crossed_clusters(
            counts, noise=noise, n_noise_features=n_noise_features, random_state=state
        )
        for counts, state in [(sizes, 2 * seed), (test, 2 * seed + 1)]
    )
    (X, y), (T, t) = drawn
    return X, y, T, t


def cluster(Z: Floats, k: int = 3) -> Integers:
    """Cluster rows by k-means with ten starts, always the same, on one thread.

    Examples
    --------
    >>> labels = cluster(np.array([[0.0], [0.1], [5.0]]), 2)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    with one_thread():
        return KMeans(k, n_init=10, random_state=0).fit_predict(Z)


def one_thread() -> AbstractContextManager[Any]:
    """Keep small problems on one thread: more would only wait for each other."""
    return _controller().limit(limits=1)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def show_found(ax: Axes, Z: Floats, truth: Integers, found: Integers, size: int = 20) -> None:
    """Draw points with the colour of the cluster found and the marker of the true category."""
    for c in np.unique(truth):
        x, height = Z[truth == c, :2].T
        colors = np.array(COLORS)[found[truth == c]]
        ax.scatter(x, height, s=size, alpha=0.8, linewidths=0, c=colors, marker=MARKERS[c])


def turned_view(Z: Floats) -> Floats:
    """Two leading principal components of three categories in thirds, turned and scaled.

    The categories come to lie as near as they can to the corners of one triangle, and the point
    farthest out is at distance 1: pictures of different maps can be compared.
    """
    centred = Z - Z.mean(axis=0)
    shown = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    shown /= np.linalg.norm(shown, axis=1).max()
    angles = np.pi * np.array([1 / 4, 11 / 12, 19 / 12])
    corners = np.column_stack([np.cos(angles), np.sin(angles)])
    U, _, V = np.linalg.svd(shown.reshape(3, -1, 2).mean(axis=1).T @ corners)
    return shown @ U @ V


def crossed_clusters() -> Figure:
    """Draw k-means on the crossed clusters, with the Euclidean and with the learned metric."""
    X, y, T, t = draw_crossed((500,) * 3, 1.0, 0, (40,) * 3, 0)
    figure, axes = subplots(1, 2, height=3)
    oblique = np.column_stack([T[:, 1], T[:, 0] - T[:, 2]])
    for ax, name, points in zip(axes[0], ["Euclidean", "MLCA"], [oblique, None], strict=True):
        Z = WAYS[name](X, y, T)
        found = name_after(t, cluster(Z))
        show_found(ax, turned_view(Z) if points is None else points, t, found)
        ax.set(title=f"{name}: Δ = {partition_loss(t, found):.2f}")
    left, right = axes[0]
    left.set(xlabel="feature 2", ylabel="feature 1 − feature 3")
    right.set(xlabel="after the learned map", xticks=[], yticks=[])
    return figure


def noise_and_features(noise: float, n_noise_features: int) -> tuple[Figure, str]:
    """Draw the learned space and the losses of five ways, over noise and useless features."""
    ways = ["Euclidean", "Euclidean, spectral", "MLCA", "MLCA, spectral", "LDA"]
    return _map_and_bars((100, 100, 100), noise, n_noise_features, ways, "MLCA")


def sizes_and_ways(sizes: tuple[int, int, int], way: str) -> tuple[Figure, str]:
    """Draw one way's space and the losses of four, over the sizes of the training categories."""
    ways = ["MLCA", "MLCA, spectral", "regression on Y", "LDA"]
    figure, caption = _map_and_bars(sizes, 1.0, 7, ways, way)
    return figure, f"{caption} Mean tilt θ = {mean_tilt(sizes):.3f}."


def _map_and_bars(
    sizes: tuple[int, int, int], noise: float, n_noise_features: int, ways: list[str], shown: str
) -> tuple[Figure, str]:
    X, y, T, t = draw_crossed(sizes, noise, n_noise_features, (200,) * 3, 0)
    with one_thread():
        spaces = {way: WAYS[way](X, y, T) for way in ways}
    found = {way: name_after(t, cluster(Z)) for way, Z in spaces.items()}
    losses = [partition_loss(t, found[way]) for way in ways]
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    show_found(left, turned_view(spaces[shown])[::4], t[::4], found[shown][::4])
    left.set(title=f"map: {shown}", xticks=[], yticks=[], xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    bars = right.barh(range(len(ways)), losses, color=COLORS[6], height=0.6)
    bars[ways.index(shown)].set(color=COLORS[0], hatch="//")
    right.bar_label(bars, fmt="{:.2f}", padding=3)
    right.set(yticks=range(len(ways)), yticklabels=[way.replace(" ", "\n", 1) for way in ways])
    right.set(xlim=(0, 4.9), title="Δ on test data")
    right.invert_yaxis()
    shares = ", ".join(f"{share:.2f}" for share in scatter_directions(X, y)[0][:3])
    return figure, (
        f"Map of {shown}. Training sizes {':'.join(f'{c / min(sizes):g}' for c in sizes)}, "
        f"noise {noise:g}, {n_noise_features} noise features: "
        + "; ".join(f"{way} {loss:.2f}" for way, loss in zip(ways, losses, strict=True))
        + f". Shares ρ of the three directions: {shares}."
    )


# Which category is large


SIZES = tuple(
    (100 * a, 100 * b, 100 * c)
    for a, b, c in [(1, 20, 1), (2, 4, 1), (1, 4, 2), (4, 2, 1), (1, 1, 1),
                    (20, 1, 1), (4, 1, 2), (1, 2, 4), (2, 1, 4), (1, 1, 20)]
)  # fmt: skip
"""All orders of 1:2:4 and of 1:1:20, and equal sizes, by `mean_tilt`."""

TILTS = np.array([0.1, 0.0, 0.15])
"""By how much feature 1 grows with feature 2 from one cloud of a category to the other."""


def mean_tilt(sizes: Sequence[int]) -> float:
    """Mean of the categories' tilts, weighted by their sizes.

    Examples
    --------
    >>> print(round(mean_tilt((1, 2, 4)), 6))
    0.1
    """
    return float(np.average(TILTS, weights=sizes))


def learned_tilt(X: Floats, y: Integers, *, fit_intercept: bool) -> float:
    """Tilt of the direction among features 1 to 3 that the map of MLCA measures least."""
    L = MLCA(fit_intercept=fit_intercept).fit(X, y).components_.T[:3]
    weakest = np.linalg.svd(L)[0][:, -1]
    return float(weakest[0] / weakest[1])


def whole_categories(sizes: tuple[int, ...], n_seeds: int = 20) -> Integers:
    """Say by seed and category whether MLCA keeps most of both its clouds in one cluster."""
    whole = []
    for seed in range(n_seeds):
        X, y, T, _ = draw_crossed(sizes, 1.0, 7, (200,) * 3, seed)
        clouds = cluster(_mlca(X, y, T)).reshape(3, 2, 200)
        modes = np.array([[np.bincount(c).argmax() for c in pair] for pair in clouds])
        whole.append(modes[:, 0] == modes[:, 1])
    return np.array(whole)


def _straight(X: Floats, y: Integers) -> Floats:
    """Move the lower cloud of each category to straight below its upper one."""
    moved = X.copy()
    moved[:, 0] += 60 * TILTS[y] * (X[:, 1] <= 30)
    return moved


def tilts() -> Figure:
    """Draw where a map of tilt θ puts the six clouds, and Δ of MLCA over the mean tilt."""
    figure, axes = subplots(1, 2, height=3.3)
    left, right = axes[0]
    thetas = np.array([0, 0.15])
    for c, pair in enumerate(CROSSED_CLUSTER_MEANS):
        for x, style in zip(pair[np.argsort(pair[:, 1])], ["-", "--"], strict=True):
            nudge = 0.12 * (c - 1)  # two clouds have the same place
            left.plot(thetas, x[0] - thetas * x[1] + nudge, style, color=COLORS[c], linewidth=2)
        left.plot([], [], color=COLORS[c], label=f"category {c + 1}")
    left.plot([], [], "--", color=INK, label="upper clouds")
    left.axvline(0.1, color=INK, linewidth=1, linestyle=":")
    left.set(xlabel="θ", title="feature 1 − θ · feature 2", xticks=[0, 0.05, 0.1, 0.15])
    left.set_ylim(-10, 15)
    left.legend(frameon=False, ncols=2, loc="upper center", fontsize=8)
    places = [(0, 8), (-14, -14), (-4, 8), (-12, -14), (-10, 10),
              (14, -14), (22, -2), (-18, 4), (-18, 2), (-22, 2)]  # fmt: skip
    for sizes, place in zip(SIZES, places, strict=True):
        losses = mean_of(losses_of("MLCA", sizes, n_noise_features=7))
        spot = mean_tilt(sizes), losses.mean
        right.errorbar(*spot, losses.error, color=COLORS[0], marker="o", markersize=5)
        name = ":".join(str(size // 100) for size in sizes)
        right.annotate(name, spot, place, textcoords="offset points", ha="center", fontsize=8)
    right.axvline(0.1, color=INK, linewidth=1, linestyle=":")
    right.set(xlabel="mean tilt θ", title="Δ of MLCA, by sizes", ylim=(-0.2, 1.9))
    right.set(xlim=(-0.015, 0.16), xticks=[0, 0.05, 0.1, 0.15])
    return figure


def scatter_directions(X: Floats, y: Integers) -> tuple[Floats, Floats]:
    """Solve S_b v = ρ S_t v: the shares ρ, decreasing, and the directions v in columns.

    S_b = XᵀCX and S_t = XᵀX are not centred; S_t has to be invertible, and VᵀS_tV = I. O(nd²).

    Examples
    --------
    >>> rho, V = scatter_directions(*four_points())
    >>> print(rho.round(6) + 0.0)
    [1.  0.8 0. ]
    """
    B = normalized_assignment(y).T @ X
    rho, V = eigh(B.T @ B, X.T @ X)
    return rho[::-1], V[:, ::-1]


def discriminant_metric(X: Floats, y: Integers) -> Floats:
    """Metric of discriminant analysis, nothing centred: directions scaled to vᵀS_w v = 1.

    As many directions as there are classes; S_w has to be invertible. O(nd²).

    Examples
    --------
    >>> X = np.array([[1.0, 1], [3, 1], [-1, 1], [-3, 1], [0, -1]])
    >>> print(discriminant_metric(X, np.array([0, 0, 1, 1, 1])).round(3) + 0.0)
    [[0.25  0.25 ]
     [0.25  0.625]]
    """
    B = normalized_assignment(y).toarray().T @ X
    S_b = B.T @ B
    _, V = eigh(S_b, X.T @ X - S_b)
    V = V[:, -len(B) :]
    return V @ V.T
