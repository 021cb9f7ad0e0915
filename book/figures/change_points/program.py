"""The dynamic program and the price of a segment."""

from functools import cache
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from scipy.signal import lfilter

from book.figures.change_points.cases import candidate_costs, six_points
from mlbook._arrays import Floats, Integers
from mlbook.changepoints import (
    segment,
    segment_starts,
    segmentation_path,
)
from mlbook.partitions import equivalence_matrix, partition_loss
from mlbook.plots import COLORS, INK, MARKERS, show_matrix, subplots

__all__ = [
    "PRICES",
    "block_matrix",
    "draw_pieces",
    "error_of_cut",
    "noise_with_memory",
    "noisy",
    "path_of_six_points",
    "price_and_noise",
    "price_loss",
    "program_step",
    "wrongly_cut",
]


def program_step(end: int, penalty: float) -> tuple[Figure, str]:
    """Draw one step of the dynamic program on the six points: the best segment up to `end`."""
    x, _ = six_points()
    costs = candidate_costs(x, penalty)
    row = costs[end - 1, :end]
    best = int(row.argmin())
    figure, axes = subplots(2, 1, height=4.6)
    series, nodes = axes[:, 0]
    draw_pieces(series, x[:end], segment(x[:end, None], penalty=penalty), markersize=7)
    series.plot(np.arange(end, 6), x[end:], "o", color=COLORS[6], alpha=0.5, markersize=7)
    series.set(xlim=(-1.3, 6), ylim=(-1, 8.5), xticks=[], ylabel="x")
    for s in range(end):
        chosen = s == best
        arrow = FancyArrowPatch(
            (s - 0.5, 0),
            (end - 0.5, 0),
            connectionstyle=f"arc3,rad={-0.25 - 0.06 * (end - s)}",
            arrowstyle="-|>",
            mutation_scale=14,
            color=COLORS[0] if chosen else COLORS[6],
            linewidth=2.4 if chosen else 1,
            linestyle="-" if chosen else "--",
            shrinkA=9,
            shrinkB=9,
        )
        nodes.add_patch(arrow)
    least = np.concatenate([[0], costs.min(axis=1)])
    for u in range(7):
        known = u <= end
        face = "white" if known else "#eeeeee"
        nodes.scatter(u - 0.5, 0, s=260, color=face, edgecolors=INK, zorder=3)
        nodes.text(u - 0.5, -0.01, str(u), ha="center", va="center", zorder=4)
        if known:
            weight = "bold" if u == end else "normal"
            nodes.text(u - 0.5, -0.75, f"{least[u]:g}", ha="center", va="center", fontweight=weight)
    nodes.text(-1.1, -0.75, "F", ha="center", va="center", style="italic")
    nodes.set(xlim=(-1.3, 6), ylim=(-1.1, 2.6))
    nodes.axis("off")
    listed = "; ".join(f"from {s}: {cost:.4g}" for s, cost in enumerate(row))
    return figure, (
        f"λ = {penalty:g}. Cost of the first {end} points, by the start of the last segment: "
        f"{listed}. Best: from {best}, so F({end}) = {row[best]:g}."
    )


def draw_pieces(ax: Axes, x: Floats, labels: Integers, markersize: float = 3) -> None:
    """Draw numbers over time, their segments in turn with two colours and markers, and means."""
    bounds = [*segment_starts(labels).tolist(), len(x)]
    for c, (start, stop) in enumerate(pairwise(bounds)):
        color, marker = COLORS[c % 2], MARKERS[c % 2]
        times = np.arange(start, stop)
        ax.plot(times, x[start:stop], marker, color=color, markersize=markersize)
        ax.hlines(x[start:stop].mean(), start - 0.4, stop - 0.6, color=INK, linewidth=2)


def path_of_six_points() -> Figure:
    """Draw the least distortion for each number of segments, and the number for each price."""
    x, _ = six_points()
    path = segmentation_path(x[:, None], 6)
    counts = np.arange(1, 7)
    figure, axes = subplots(1, 2, height=2.9)
    left, right = axes[0]
    left.plot([1, 3, 6], path.distortion[[0, 2, 5]], color=COLORS[0], linewidth=1.5)
    for k in counts:
        on_hull = k != 2
        marker, color = ("o", COLORS[0]) if on_hull else ("s", COLORS[1])
        left.plot(k, path.distortion[k - 1], marker, color=color, markersize=8)
    left.set(xlabel="segments k", ylabel="least distortion", xticks=counts, ylim=(-2, 38))
    prices = np.linspace(0.03, 20, 400)
    found = [int(np.argmin(path.distortion + price * counts)) + 1 for price in prices]
    right.plot(prices, found, color=COLORS[0], drawstyle="steps-mid")
    right.set(xlabel="price λ", ylabel="segments k", yticks=counts, xticks=[0, 2, 14])
    return figure


def block_matrix() -> Figure:
    """Draw a series with four segments and the matrix of its segmentation."""
    lengths = np.array([6, 9, 3, 7])
    labels = np.repeat(np.arange(4), lengths)
    levels = np.array([0.0, 3, -1, 2])
    x = levels[labels] + 0.5 * np.random.default_rng(1).normal(size=len(labels))
    figure, axes = subplots(1, 2, height=2.8)
    left, right = axes[0]
    draw_pieces(left, x, labels, markersize=5)
    left.set(xlabel="time", yticks=[])
    show_matrix(right, equivalence_matrix(labels))
    return figure


PRICES = (1, 2, 4, 8, 16, 32, 64, 128)
"""Prices λ of the explorer."""


_LEVELS = np.array([0.0, 3, 1, -1, 2, 2.8])


@cache
def noisy(noise: float) -> tuple[Floats, Integers]:
    """Draw 150 numbers on six levels; the noise is always the same, times `noise`."""
    labels = np.repeat(np.arange(6), [30, 20, 30, 15, 25, 30])
    return _LEVELS[labels] + noise * np.random.default_rng(4).normal(size=len(labels)), labels


@cache
def _priced(noise: float, penalty: float) -> tuple[Integers, float]:
    x, labels = noisy(noise)
    found = segment(x[:, None], penalty=penalty)
    return found, partition_loss(found, labels)


def price_loss(noise: float, penalty: float) -> float:
    """Loss of the segments found at a price in the series of the explorer.

    Examples
    --------
    >>> abs(price_loss(0.5, 8)) < 1e-9
    True
    """
    return _priced(noise, penalty)[1]


def price_and_noise(penalty: float, noise: float) -> tuple[Figure, str]:
    """Draw the segments for one price, and number of segments and loss for all prices."""
    x, labels = noisy(noise)
    found, loss = _priced(noise, penalty)
    figure, axes = subplots(2, 1, height=4.2)
    series, curve = axes[:, 0]
    draw_pieces(series, x, found)
    for start in segment_starts(labels)[1:]:
        series.axvline(start - 0.5, color=COLORS[6], linewidth=1, linestyle=":")
    series.set(ylim=(-5.5, 7.5), xticks=[], ylabel="x")
    curve.plot(PRICES, [_priced(noise, p)[1] for p in PRICES], marker="o", color=COLORS[0])
    curve.plot(penalty, loss, "s", color=COLORS[1], markersize=11, fillstyle="none")
    curve.set(xscale="log", ylim=(-2, 80), xlabel="price λ", ylabel="loss Δ")
    curve.set(xticks=PRICES[::2], xticklabels=PRICES[::2])
    curve.set_yscale("symlog", linthresh=1)
    curve.set(yticks=[0, 1, 10], yticklabels=[0, 1, 10], ylim=(-0.2, 150))
    curve.minorticks_off()
    return figure, (
        f"Price {penalty:g}, noise {noise:g}: {found[-1] + 1} segments instead of 6, "
        f"Δ = {loss:.2f}. Dotted: the true change points."
    )


def error_of_cut(half: int, seed: int) -> float:
    """Distance of the best cut from the true one in its middle, as a share of a segment.

    The two segments have `half` numbers each; they differ by half a standard deviation.

    Examples
    --------
    >>> error_of_cut(400, seed=0) < 0.1
    True
    """
    x = np.random.default_rng(seed).normal(size=(2 * half, 1))
    x[half:] += 0.5
    cut = segment_starts(segment(x, n_segments=2))[1]
    return float(abs(cut - half) / half)


def noise_with_memory(n: int, correlation: float, seed: int) -> Floats:
    """Draw normal noise of variance 1 in which neighbours have some correlation.

    Examples
    --------
    >>> noise_with_memory(5, 0.0, seed=0).shape
    (5,)
    """
    fresh = np.random.default_rng(seed).normal(size=n)
    fresh[1:] *= np.sqrt(1 - correlation**2)
    return lfilter([1.0], [1.0, -correlation], fresh)


def wrongly_cut(penalty: float, correlation: float, slope: float, n_series: int = 100) -> Floats:
    """Tell in which series of 300 numbers without a change point the price finds one.

    Examples
    --------
    >>> wrongly_cut(1e9, 0.9, 0.03, n_series=2)
    array([False, False])
    """
    line = slope * np.arange(300)
    series = (line + noise_with_memory(300, correlation, seed) for seed in range(n_series))
    return np.array([segment(x[:, None], penalty=penalty)[-1] > 0 for x in series])
