"""Chapter 1, one idea a picture: Lloyd's rounds, partitions on a circle, the price of a cluster."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

from book.figures.kmeans import gaussians
from mlbook._arrays import Floats, Integers
from mlbook.kmeans import trace_objective
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "PRICES",
    "STARTS",
    "STEPS",
    "circle",
    "clusters_bought",
    "eigenvalues_kept",
    "lloyd_rounds",
    "lloyd_step",
    "on_the_circle",
    "price_of_a_cluster",
    "three_clouds",
    "three_points",
]

# --- Lloyd's rounds ----------------------------------------------------------------------------

STARTS = {"one in each cloud": (15, 24, 48), "two in one cloud": (14, 45, 53)}
"""Points that are the first means."""
STEPS = range(9)
"""Steps of the explorer: the start, then assign and average in turns."""


class Round(NamedTuple):
    """After a step: the means, the group of each point, what it costs, how many points moved."""

    means: Floats
    labels: Integers
    cost: float
    moved: int


def three_clouds(*, seed: int = 1) -> tuple[Floats, Integers]:
    """Draw three clouds of 20 points in the plane, two near each other and one far off.

    Examples
    --------
    >>> X, y = three_clouds()
    >>> X.shape, np.bincount(y).tolist()
    ((60, 2), [20, 20, 20])
    """
    y = np.repeat([0, 1, 2], 20)
    means = np.array([[0.0, 2.6], [0.0, -2.6], [8.0, 0.0]])
    return means[y] + 1.2 * np.random.default_rng(seed).normal(size=(60, 2)), y


def lloyd_rounds(X: Floats, means: Floats, n_steps: int) -> list[Round]:
    """Follow Lloyd's algorithm: the assignment to the first means, then average and assign.

    Examples
    --------
    >>> x = np.array([[0.0], [2.0], [4.0], [9.0]])
    >>> [round.cost for round in lloyd_rounds(x, x[[0, 1]], 4)]
    [53.0, 26.0, 21.0, 14.5]
    """
    rounds: list[Round] = []
    labels = np.full(len(X), -1)
    for step in range(n_steps):
        if step % 2:
            means = np.array([X[labels == c].mean(axis=0) for c in range(len(means))])
            moved = 0
        else:
            before, labels = labels, np.argmin(_squares(X, means), axis=1)
            moved = int(np.sum(before != labels))
        cost = float(np.sum((X - means[labels]) ** 2))
        rounds.append(Round(means, labels, cost, moved))
    return rounds


def _squares(X: Floats, means: Floats) -> Floats:
    squares: Floats = np.sum((X[:, None] - means) ** 2, axis=2)
    return squares


def lloyd_step(step: int, start: str) -> tuple[Figure, str]:
    """Draw the groups and means after a step, and the distortion so far."""
    X, y = three_clouds()
    first = X[list(STARTS[start])]
    rounds = lloyd_rounds(X, first, len(STEPS) - 1)
    figure, axes = subplots(1, 2, height=3.2)
    left, right = axes[0]
    now = rounds[max(0, step - 1)]
    means, labels = (first, np.full(len(X), 6)) if step == 0 else now[:2]
    for c in range(3):
        colors = [COLORS[group] for group in labels[y == c]]
        across, up = X[y == c].T
        left.scatter(across, up, s=22, alpha=0.8, linewidths=0, c=colors, marker=MARKERS[c])
    paths = np.array([first, *(r.means for r in rounds[:step])])
    for c in range(3):
        left.plot(*paths[:, c].T, color=INK, linewidth=1)
    across, up = means.T
    left.scatter(across, up, s=110, c=INK, marker="x", linewidths=2.5)
    left.set(title="groups and means", xlim=(-3, 12), ylim=(-6, 6), xticks=[], yticks=[])
    costs = [r.cost for r in rounds]
    right.plot(range(1, step + 1), costs[:step], marker="o", color=COLORS[0])
    right.set(title="distortion", xlabel="step", xlim=(0.5, 8.5), ylim=(0, 850), xticks=STEPS[1:])
    return figure, f"Step {step}, {_what(step, rounds, start)}"


def _what(step: int, rounds: list[Round], start: str) -> str:
    """Say what the step did."""
    if step == 0:
        return f"the start: three points are the first means, {start}; no point has a group yet."
    found = rounds[step - 1]
    if step % 2:
        some = "1 point changes" if found.moved == 1 else f"{found.moved} points change"
        done = f"assign: {some} group" if found.moved else "assign: no point changes group"
    else:
        done = "average: each mean moves to the middle of its group"
        if np.allclose(found.means, rounds[step - 2].means):
            done = "average: no mean moves"
    return f"{done}. Distortion {found.cost:.1f}."


# --- partitions on a circle --------------------------------------------------------------------

PAIRS = {"12|3": (0, 0, 1), "13|2": (0, 1, 0), "23|1": (0, 1, 1)}
"""The three partitions of three points into two clusters."""
BASIS = np.array([[1, 1], [-1, 1], [0, -2]]) / np.sqrt([2, 6])


def on_the_circle(angle: float) -> Floats:
    """Return the relaxed partition matrix I − wwᵀ whose direction w is orthogonal to (1, 1, 1).

    The direction has half the angle: w and −w give the same matrix.

    Examples
    --------
    >>> on_the_circle(0.0).round(2) + 0.0
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    w = BASIS @ [np.cos(angle / 2), np.sin(angle / 2)]
    matrix: Floats = np.eye(3) - np.outer(w, w)
    return matrix


def circle(X: Floats) -> tuple[float, Floats]:
    """Write ⟨C, XXᵀ⟩ on the circle as a number plus the product of a vector and the place.

    Examples
    --------
    >>> constant, slope = circle(np.array([[0.0], [0.0], [3.0]]))
    >>> print(round(constant, 9), slope.round(9) + 0.0)
    6.0 [3. 0.]
    """
    A = X @ X.T
    a = BASIS.T @ A @ BASIS
    slope = -np.array([(a[0, 0] - a[1, 1]) / 2, a[0, 1]])
    return float(A.trace() - a.trace() / 2), slope


def three_points(place: float) -> tuple[Figure, str]:
    """Draw three points in their best partition, and their three partitions on the circle."""
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [place, 1.2]])
    constant, slope = circle(X)
    traces = {name: trace_objective(X, labels) for name, labels in PAIRS.items()}
    best = max(traces, key=lambda name: traces[name])
    most = constant + float(np.linalg.norm(slope))
    figure, axes = subplots(1, 2, height=3.2)
    left, right = axes[0]
    labels = np.array(PAIRS[best])
    left.plot(*X[labels == np.argmax(np.bincount(labels))].T, color=INK, linewidth=1)
    for i, (point, label) in enumerate(zip(X, labels, strict=True)):
        left.scatter(point[0], point[1], s=90, c=COLORS[label], marker=MARKERS[label], zorder=3)
        left.annotate(f"{i + 1}", point, xytext=(0, 9), textcoords="offset points", ha="center")
    left.set(title="best partition", xlim=(-3.6, 3.6), ylim=(-2.4, 3.6), xticks=[], yticks=[])
    around = np.linspace(0, 2 * np.pi, 181)
    right.plot(np.cos(around), np.sin(around), color=COLORS[0])
    corners = np.array([_corner(i) for i in range(3)])
    right.plot(*corners[[0, 1, 2, 0]].T, color=COLORS[6], linewidth=1, linestyle="--")
    for name, corner in zip(PAIRS, corners, strict=True):
        right.scatter(
            corner[0], corner[1], s=70, c=COLORS[1 if name == best else 6], marker="s", zorder=3
        )
        right.annotate(name, 1.32 * corner, ha="center", va="center")
    peak = slope / np.linalg.norm(slope)
    right.annotate(
        "", (peak[0], peak[1]), (0, 0), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 2}
    )
    side = np.array([-peak[1], peak[0]])
    for at in (peak, corners[list(PAIRS).index(best)] @ peak * peak):
        right.plot(*np.array([at - 1.1 * side, at + 1.1 * side]).T, color=INK, linewidth=1, ls=":")
    right.set(title="all relaxed ones: a circle", xlim=(-1.7, 1.7), ylim=(-1.6, 1.6))
    right.set(xticks=[], yticks=[], aspect="equal")
    right.spines[:].set_visible(False)
    return figure, (
        f"Third point at {place:g}: the best partition is {best}, with trace {traces[best]:.2f}; "
        f"on the circle {most:.2f} can be had."
    )


def _corner(i: int) -> Floats:
    """Return where the partition stands on the circle."""
    angle = 2 * np.pi * i / 3
    return np.array([np.cos(angle), np.sin(angle)])


# --- the price of a cluster --------------------------------------------------------------------

PRICES = (100, 130, 160, 200, 250, 300, 400, 600, 900, 1300, 1800)
"""Prices of the explorer."""


@cache
def clusters_bought(seed: int = 0, most: int = 12) -> tuple[Floats, Floats]:
    """Return the eigenvalues of five centred clouds, and distortions with 1 to `most` clusters.

    Examples
    --------
    >>> mu, found = clusters_bought()
    >>> len(mu), len(found), bool(found[0].round(6) == mu.sum().round(6))
    (20, 12, True)
    """
    X, _ = gaussians(5, separation=6, noise=1, seed=seed)
    mu = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    fits = [KMeans(k, n_init=10, random_state=seed).fit(X) for k in range(1, most + 1)]
    return mu, np.array([fit.inertia_ for fit in fits])


def eigenvalues_kept(price: float, seed: int = 0) -> tuple[int, int, float, float]:
    """Say how many clusters the relaxation and k-means buy, what they pay, and what is the bound.

    Returns
    -------
    tuple
        Clusters of the relaxation, clusters of k-means, the lower bound, the cost of k-means.

    Examples
    --------
    >>> eigenvalues_kept(600)[:2]
    (5, 5)
    """
    mu, found = clusters_bought(seed)
    costs = found + price * np.arange(1, len(found) + 1)
    bound = price + float(np.minimum(mu, price).sum())
    return 1 + int(np.sum(mu > price)), 1 + int(costs.argmin()), bound, float(costs.min())


def price_of_a_cluster(price: float) -> tuple[Figure, str]:
    """Draw the eigenvalues with the price across them, and the clusters bought at each price."""
    mu, _ = clusters_bought()
    figure, axes = subplots(1, 2, height=3.2)
    left, right = axes[0]
    places = np.arange(1, len(mu) + 1)
    left.bar(places, mu, color="white", edgecolor=INK, linewidth=0.8)
    left.bar(places, np.minimum(mu, price), color=[COLORS[5 if m > price else 6] for m in mu])
    left.axhline(price, color=COLORS[1], linestyle="--")
    left.set(title="eigenvalues and price", xlabel="i", ylim=(0, 2000), xticks=[1, 5, 10, 15, 20])
    relaxed, bought, bound, cost = eigenvalues_kept(price)
    for i, name in enumerate(["relaxed", "k-means"]):
        counts = [eigenvalues_kept(p)[i] for p in PRICES]
        color, marker = COLORS[(5, 0)[i]], MARKERS[(2, 0)[i]]
        right.plot(PRICES, counts, drawstyle="steps-mid", color=color, marker=marker, label=name)
    right.axvline(price, color=COLORS[1], linestyle="--")
    right.set(title="clusters bought", xlabel="price λ", xscale="log", ylim=(0, 22))
    right.set_xticks([100, 300, 1000], ["100", "300", "1000"])
    right.minorticks_off()
    right.legend(frameon=False)
    return figure, (
        f"λ = {price:g}: the relaxation keeps {relaxed - 1} eigenvalues, that is {relaxed} "
        f"clusters; k-means buys {bought}. Bound {bound:.0f}, cost found {cost:.0f}."
    )
