"""Figures of the chapter on change points."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from scipy.optimize import linprog
from scipy.signal import lfilter
from threadpoolctl import threadpool_limits

from book.reproduction.made_problems import BASE, draw_gaussians, learn_large_margin, quiet
from mlbook._arrays import Floats, Integers
from mlbook.changepoints import (
    hermite_features,
    loss_augmented_segment,
    segment,
    segment_starts,
    segmentation_path,
)
from mlbook.datasets import make_change_points
from mlbook.large_margin import LargeMarginMetric, structured_hinge
from mlbook.mlca import MLCA
from mlbook.partitions import equivalence_matrix, normalized_assignment, partition_loss
from mlbook.plots import COLORS, INK, MARKERS, show_matrix, subplots

__all__ = [
    "CHANGES",
    "FEATURES",
    "LARGE_MARGIN",
    "METHODS",
    "PRICES",
    "Round",
    "Sequences",
    "all_matrices",
    "alternation_steps",
    "best_by_segments",
    "best_price",
    "block_matrix",
    "calibrated",
    "candidate_costs",
    "certificate_holds",
    "column_shares",
    "cutting_planes",
    "degree_and_change",
    "distribution_losses",
    "error_of_cut",
    "free_partitions",
    "hausdorff",
    "hinge_lines",
    "hinge_of_partitions",
    "hinge_of_six_points",
    "irrelevant_columns",
    "irrelevant_share",
    "is_linear",
    "learned_degrees",
    "learned_losses",
    "learns_something",
    "least_slope",
    "loss_of_pairs",
    "map_losses",
    "mean_losses",
    "noise_with_memory",
    "path_of_six_points",
    "pieces",
    "planes_round_by_round",
    "price_and_noise",
    "price_loss",
    "printed_algorithm",
    "printed_correlation",
    "program_step",
    "relevant_share",
    "segments_seen",
    "short_sequences",
    "six_points",
    "slope_without_noise",
    "small_sequences",
    "splits_in_time",
    "the_problem",
    "wandering_series",
    "wrong_labels",
    "wrongly_cut",
]


# Six points, and the dynamic program


def six_points() -> tuple[Floats, Integers]:
    """Six numbers with a bump in the middle, and the segmentation into three pairs.

    Examples
    --------
    >>> x, y = six_points()
    >>> print(x, y)
    [2. 0. 7. 5. 1. 3.] [0 0 1 1 2 2]
    """
    return np.array([2.0, 0, 7, 5, 1, 3]), np.array([0, 0, 1, 1, 2, 2])


def candidate_costs(x: Floats, penalty: float) -> Floats:
    """Cost of the best segmentation of the first u numbers whose last segment begins at s.

    Row u − 1, column s: F(s) + D(s, u) + λ, where D is the distortion of one segment and F(u) is
    the least entry of the row; infinite for s ≥ u. Plain loops, O(n³), to be read beside the
    derivation; `mlbook.changepoints.segment` is the fast one.

    Examples
    --------
    >>> print(candidate_costs(np.array([0.0, 2.0]), penalty=5.0))
    [[ 5. inf]
     [ 7. 10.]]
    """
    n = len(x)
    costs = np.full((n, n), np.inf)
    least = np.zeros(n + 1)
    for u in range(1, n + 1):
        for s in range(u):
            piece = x[s:u]
            costs[u - 1, s] = least[s] + np.sum((piece - piece.mean()) ** 2) + penalty
        least[u] = costs[u - 1].min()
    return costs


def best_by_segments(gain: Callable[[int, int], float], n: int) -> tuple[float, Integers]:
    """Largest sum of gain(s, u) over the segments of n points, and a segmentation that has it.

    The dynamic program for any gain of the points s + 1 to u, in plain loops.

    Examples
    --------
    >>> value, labels = best_by_segments(lambda s, u: 1.0 if u - s == 2 else 0.0, 4)
    >>> print(value, labels)
    2.0 [0 0 1 1]
    """
    best, starts = [0.0], []
    for u in range(1, n + 1):
        sums = [best[s] + gain(s, u) for s in range(u)]
        starts.append(int(np.argmax(sums)))
        best.append(max(sums))
    labels, u = np.zeros(n, dtype=int), n
    while u > 0:
        u = starts[u - 1]
        labels[u:] += u > 0
    return best[n], labels


def loss_of_pairs(a: Integers, b: Integers) -> float:
    """Rand loss: the number of pairs that one of two partitions joins and the other separates.

    Examples
    --------
    >>> loss_of_pairs(np.array([0, 0, 1]), np.array([0, 1, 1]))
    2.0
    """
    joined = (a[:, None] == a) != (b[:, None] == b)
    return float(joined.sum() / 2)


def hausdorff(a: Integers, b: Integers) -> float:
    """Hausdorff distance of the change points of two segmentations with at least one each.

    Examples
    --------
    >>> hausdorff(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]))
    1.0
    """
    starts = [segment_starts(labels)[1:] for labels in (a, b)]
    gaps = np.abs(np.subtract.outer(*starts))
    return float(max(gaps.min(axis=0).max(), gaps.min(axis=1).max()))


def hinge_lines(x: Floats, y: Integers) -> list[tuple[float, float]]:
    """Offset and slope in b of the term of each segmentation in the structured hinge of y.

    The metric is b and a segment costs 1, which cancels the number of segments in the loss.

    Examples
    --------
    >>> hinge_lines(np.array([0.0, 2.0]), np.array([0, 0]))  # both points together, then apart
    [(0.0, 0.0), (0.0, 2.0)]
    """
    own, found = equivalence_matrix(y), []
    for labels in splits_in_time(len(x)):
        C = equivalence_matrix(labels)
        offset = 2 * (np.trace(own) - np.sum(own * C))
        found.append((float(offset), float(x @ (C - own) @ x)))
    return found


def pieces(partitions: Sequence[Integers]) -> Floats:
    """Say for each partition, in a row, which sets of points are its clusters, with 1 and 0.

    Examples
    --------
    >>> pieces(splits_in_time(2))  # the sets {1, 2}, {1}, {2}
    array([[1., 0., 0.],
           [0., 1., 1.]])
    """
    names: dict[tuple[int, ...], int] = {}
    found = [
        [names.setdefault(tuple(np.flatnonzero(a == c)), len(names)) for c in np.unique(a)]
        for a in partitions
    ]
    rows = np.zeros((len(found), len(names)))
    for row, listed in zip(rows, found, strict=True):
        row[listed] = 1
    return rows


def is_linear(features: Floats, values: Sequence[float]) -> bool:
    """Tell whether numbers are a linear function of rows of features, and a constant.

    Examples
    --------
    >>> is_linear(np.array([[1.0], [2.0], [3.0]]), [5.0, 7.0, 9.0])
    True
    """
    rows = np.column_stack([features, np.ones(len(features))])
    fitted = rows @ np.linalg.lstsq(rows, np.asarray(values, dtype=float))[0]
    return bool(np.allclose(fitted, values, atol=1e-8))


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


def printed_algorithm(A: Floats) -> Integers:
    """Algorithm 1 of Lajugie 2014 as printed, in the kindest reading that runs.

    The undefined s of the printed β is read as u, the backtracking as going along the columns
    of the table and on to the point before the segment found. It does not maximize Tr(AM).

    Examples
    --------
    >>> A = np.diag([-1.0, 2.0])  # two segments have the value 1, one has 1/2
    >>> print(printed_algorithm(A))
    [0 0]
    """
    n = len(A)
    table = A.cumsum(axis=0).cumsum(axis=1)
    C = np.full((n, n), -np.inf)
    C[0] = table.diagonal()
    for t in range(1, n):
        before = C[:t, t - 1].max()
        for u in range(t, n):
            corners = table[u, u] + table[t, t] - table[u, t] - table[t, u]
            C[t, u] = before + corners / (u - t + 1)
    begins = np.zeros(n, dtype=int)
    end = n - 1
    while end >= 0:
        start = int(C[: end + 1, end].argmax())
        begins[start] = 1
        end = start - 1
    return np.cumsum(begins) - 1


def program_step(end: int, penalty: float) -> tuple[Figure, str]:
    """Draw one step of the dynamic program on the six points: the best segment up to `end`."""
    x, _ = six_points()
    costs = candidate_costs(x, penalty)
    row = costs[end - 1, :end]
    best = int(row.argmin())
    figure, axes = subplots(2, 1, height=4.6)
    series, nodes = axes[:, 0]
    _draw_pieces(series, x[:end], segment(x[:end, None], penalty=penalty), markersize=7)
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


def _draw_pieces(ax: Axes, x: Floats, labels: Integers, markersize: float = 3) -> None:
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
    _draw_pieces(left, x, labels, markersize=5)
    left.set(xlabel="time", yticks=[])
    show_matrix(right, equivalence_matrix(labels))
    return figure


# The price of a segment


PRICES = (1, 2, 4, 8, 16, 32, 64, 128)
"""Prices λ of the explorer."""

_LEVELS = np.array([0.0, 3, 1, -1, 2, 2.8])


@cache
def _noisy(noise: float) -> tuple[Floats, Integers]:
    """Draw 150 numbers on six levels; the noise is always the same, times `noise`."""
    labels = np.repeat(np.arange(6), [30, 20, 30, 15, 25, 30])
    return _LEVELS[labels] + noise * np.random.default_rng(4).normal(size=len(labels)), labels


@cache
def _priced(noise: float, penalty: float) -> tuple[Integers, float]:
    x, labels = _noisy(noise)
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
    x, labels = _noisy(noise)
    found, loss = _priced(noise, penalty)
    figure, axes = subplots(2, 1, height=4.2)
    series, curve = axes[:, 0]
    _draw_pieces(series, x, found)
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


# The hinge, and its cuts


def splits_in_time(n: int) -> list[Integers]:
    """All 2ⁿ⁻¹ segmentations of n points.

    Examples
    --------
    >>> [labels.tolist() for labels in splits_in_time(2)]
    [[0, 0], [0, 1]]
    """
    return [np.cumsum([0, *cuts]) for cuts in np.ndindex(*(2,) * (n - 1))]


@cache
def free_partitions(n: int) -> list[Integers]:
    """All partitions of n points.

    Examples
    --------
    >>> [labels.tolist() for labels in free_partitions(2)]
    [[0, 0], [0, 1]]
    """
    ways = np.ndindex(*range(1, n + 1))
    return [np.array(a) for a in ways if all(a[i] <= max(a[:i]) + 1 for i in range(1, n))]


def hinge_of_partitions(X: Floats, truth: Integers, weight: float, matrices: Floats) -> float:
    """Structured hinge of the metric `weight` times the identity, by enumeration.

    Examples
    --------
    >>> x, y = six_points()
    >>> round(hinge_of_partitions(x[:, None], y, 0.5, all_matrices(splits_in_time(6))), 9)
    3.0
    """
    difference = matrices - equivalence_matrix(truth)
    scores = np.tensordot(difference, weight * X @ X.T - np.eye(len(X)), axes=2)
    return float(np.max(np.sum(difference**2, axis=(1, 2)) + scores))


def all_matrices(partitions: Sequence[Integers]) -> Floats:
    """Matrices C of some partitions, one below the other.

    Examples
    --------
    >>> all_matrices(splits_in_time(3)).shape
    (4, 3, 3)
    """
    return np.array([equivalence_matrix(labels) for labels in partitions])


def hinge_of_six_points() -> Figure:
    """Draw all 32 lines whose maximum is the hinge of the six points, and the loss below it."""
    x, y = six_points()
    X = x[:, None]
    weights = np.linspace(0, 0.6, 212)
    C = equivalence_matrix(y)
    figure, axes = subplots(height=3.6)
    ax = axes[0, 0]
    for labels in splits_in_time(6):
        other = equivalence_matrix(labels)
        slope = x @ (other - C) @ x
        offset = partition_loss(labels, y) - labels[-1] + y[-1]
        ax.plot(weights, offset + slope * weights, color=COLORS[6], linewidth=0.6, alpha=0.7)
    hinge = [structured_hinge(X, y, [b]) for b in weights]
    pairs = [structured_hinge(X, y, [b], min_length=2) for b in weights]
    losses = [partition_loss(segment(b**0.5 * X, penalty=1.0), y) for b in weights]
    ax.plot(weights, hinge, color=COLORS[0], linewidth=2.5, label="hinge h(b)")
    ax.plot(weights, pairs, color=COLORS[5], linestyle="-.", label="hinge, segments of 2 or more")
    ax.plot(weights, losses, color=COLORS[1], linestyle="--", label="loss Δ of the prediction")
    ax.set(xlabel="metric b", ylim=(-0.4, 7.4), xlim=(0, 0.6))
    ax.legend(frameon=False, loc="upper center")
    return figure


class Round(NamedTuple):
    """One round of cutting planes in one dimension."""

    weight: float
    objective: float
    bound: float
    offset: float
    slope: float


_STRENGTH = 0.05  # weight τ of the regularizer of the picture


@cache
def _one_series() -> tuple[Floats, Integers]:
    """Draw a standardized series of one column with six segments."""
    labels = np.repeat(np.arange(6), 20)
    x = np.array([0.0, 1.5, -0.5, 1.0, 2.5, 1.0])[labels]
    x = x + np.random.default_rng(1).normal(size=len(x))
    return np.sqrt(10) * ((x - x.mean()) / np.linalg.norm(x - x.mean()))[:, None], labels


def cutting_planes(n_rounds: int) -> list[Round]:
    """Minimize h(b) + τ b²/2 over b ≥ 0 by cuts, for one sequence with one feature.

    The minimum of the largest cut + τ b²/2 is at 0, at a crossing of two cuts or where one of
    them is stationary: all are tried.

    Examples
    --------
    >>> rounds = cutting_planes(8)
    >>> rounds[-1].bound <= rounds[-1].objective
    True
    """
    X, y = _one_series()
    C = _between(X, y)
    offsets, slopes = [0.0], [0.0]
    weight, bound, rounds = 0.0, 0.0, []
    for _ in range(n_rounds):
        worst = loss_augmented_segment(X, y, M=[weight], min_length=5)
        offset = partition_loss(worst, y) - float(worst[-1]) + float(y[-1])
        slope = _between(X, worst) - C
        objective = offset + slope * weight + _STRENGTH * weight**2 / 2
        rounds.append(Round(weight, objective, bound, offset, slope))
        offsets.append(offset)
        slopes.append(slope)
        o, g = np.array(offsets), np.array(slopes)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = np.subtract.outer(o, o) / -np.subtract.outer(g, g)
        tried = np.concatenate([[0.0], -g / _STRENGTH, crossings[np.isfinite(crossings)]])
        tried = tried[tried >= 0]
        values = (o + np.outer(tried, g)).max(axis=1) + _STRENGTH * tried**2 / 2
        weight, bound = float(tried[values.argmin()]), float(values.min())
    return rounds


def _between(X: Floats, labels: Integers) -> float:
    """XᵀCX of one column."""
    sums = np.add.reduceat(X[:, 0], segment_starts(labels))
    return float(np.sum(sums**2 / np.bincount(labels)))


@cache
def _hinge_curve() -> tuple[Floats, Floats]:
    X, y = _one_series()
    weights = np.linspace(0, 4.5, 226)
    return weights, np.array([structured_hinge(X, y, [b], min_length=5) for b in weights])


def planes_round_by_round(rounds: int) -> tuple[Figure, str]:
    """Draw the objective, the cuts found so far and the two bounds after some rounds."""
    found = cutting_planes(rounds + 1)
    best = min(r.objective for r in found[:rounds])
    bound = found[rounds].bound
    weights, hinge = _hinge_curve()
    square = _STRENGTH * weights**2 / 2
    figure, axes = subplots(height=3.5)
    ax = axes[0, 0]
    cuts = np.array([r.offset + r.slope * weights for r in found[:rounds]] + [0 * weights])
    ax.plot(weights, hinge + square, color=COLORS[0], linewidth=2.5, label="objective Φ")
    for cut in cuts[:-1]:
        ax.plot(weights, cut + square, color=COLORS[6], linewidth=0.8)
    model = cuts.max(axis=0) + square
    ax.plot(weights, model, color=COLORS[1], linestyle="--", label="largest cut")
    for r in found[:rounds]:
        ax.plot(r.weight, r.objective, "o", color=COLORS[0], markersize=7)
    ax.plot(found[rounds].weight, bound, "s", color=COLORS[1], markersize=8)
    ax.axhspan(bound, best, color=COLORS[4], alpha=0.35, linewidth=0)
    ax.set(xlabel="metric b", ylim=(-0.5, 11), xlim=(-0.1, 4.5))
    ax.legend(frameon=False, loc="upper right")
    cuts_made = "1 cut" if rounds == 1 else f"{rounds} cuts"
    return figure, (
        f"120 numbers in six segments. After {cuts_made}: the best metric tried has "
        f"Φ = {best:.3f}, no metric is below "
        f"{bound:.3f}. Relative gap {(best - bound) / best:.1%}. Next metric to try: "
        f"{found[rounds].weight:.2f}."
    )


def certificate_holds(seed: int) -> bool:
    """Compare a bound from five random cuts with the objective of 21 diagonal metrics.

    The weights of the cuts are random, and the first metric is the one that the bound is about:
    the minimizer of the weighted cuts and the regularizer.

    Examples
    --------
    >>> certificate_holds(0)
    True
    """
    rng = np.random.default_rng(seed)
    X, y, tau = rng.normal(size=(12, 3)), np.repeat([0, 1, 2], 4), 30.0
    shares = rng.dirichlet(np.ones(5))
    offset, gradient = 0.0, np.zeros(3)
    for share, b in zip(shares, rng.exponential(0.05, size=(5, 3)), strict=True):
        worst = loss_augmented_segment(X, y, M=b)
        difference = equivalence_matrix(worst) - equivalence_matrix(y)
        offset += share * (partition_loss(worst, y) - worst[-1] + y[-1])
        gradient += share * np.einsum("ij,ik,kj->j", X, difference, X)
    downhill = np.maximum(-gradient, 0)
    bound = offset - np.sum(downhill**2) / (2 * tau)
    tried = [downhill / tau, *rng.exponential(0.05, size=(20, 3))]
    return all(structured_hinge(X, y, b) + tau / 2 * b @ b >= bound - 1e-9 for b in tried)


# Learning


class Sequences(NamedTuple):
    """Training and test sequences of one draw."""

    train: Sequence[Floats]
    train_labels: Sequence[Integers]
    test: Sequence[Floats]
    test_labels: Sequence[Integers]


@cache
def small_sequences(n_irrelevant: int, *, n_train: int = 6, seed: int = 0) -> Sequences:
    """Draw sequences of 200 points with 6 relevant columns; 14 of them for testing.

    Examples
    --------
    >>> data = small_sequences(4)
    >>> len(data.train), len(data.test), data.train[0].shape
    (6, 14, (200, 10))
    """
    series, labels = make_change_points(
        20,
        n_samples=200,
        n_relevant=6,
        n_irrelevant=n_irrelevant,
        n_segments=(3, 6),
        min_length=10,
        random_state=seed,
    )
    return Sequences(series[:n_train], labels[:n_train], series[6:], labels[6:])


def calibrated(components: Floats, data: Sequences) -> list[float]:
    """Loss of each test sequence after x → Lx, with the price of least training loss.

    Examples
    --------
    >>> float(np.mean(calibrated(np.eye(6), small_sequences(0)))) < 0.5
    True
    """
    with threadpool_limits(1):
        price = best_price([x @ components.T for x in data.train], data.train_labels)
        return _losses([x @ components.T for x in data.test], data.test_labels, price)


def best_price(series: Sequence[Floats], labels: Sequence[Integers]) -> float:
    """Price λ of least mean loss among 20, from 0.1% to 30% of the mean scatter.

    Segments have five points or more. One path of each series has its segments at all prices.

    Examples
    --------
    >>> data = small_sequences(0)
    >>> best_price(data.train, data.train_labels) > 0
    True
    """
    scatter = np.mean([np.sum((x - x.mean(axis=0)) ** 2) for x in series])
    prices = scatter * np.geomspace(1e-3, 0.3, 20)
    losses = np.zeros(len(prices))
    for x, truth in zip(series, labels, strict=True):
        path = segmentation_path(x, len(x) // 5, min_length=5)
        counts = np.arange(1, len(path.distortion) + 1)
        best = counts[np.argmin(path.distortion + np.outer(prices, counts), axis=1)]
        found = {k: _delta(path.labels(k), truth) for k in np.unique(best)}
        losses += [found[k] for k in best]
    return float(prices[np.argmin(losses)])


def _losses(series: Sequence[Floats], labels: Sequence[Integers], penalty: float) -> list[float]:
    found = [segment(x, penalty=penalty, min_length=5) for x in series]
    return [_delta(a, b) for a, b in zip(found, labels, strict=True)]


def _delta(a: Integers, b: Integers) -> float:
    """Loss Δ of two segmentations: `partition_loss` without its checks, 20 times as fast."""
    counts = np.zeros((a[-1] + 1, b[-1] + 1))
    np.add.at(counts, (a, b), 1)
    sizes = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    return float(sum(counts.shape) - 2 * np.sum(counts**2 / sizes))


def _stacked(data: Sequences) -> tuple[Floats, Integers]:
    """Centred training sequences below each other, every segment a class of its own."""
    rows = np.vstack([x - x.mean(axis=0) for x in data.train])
    codes = [100 * i + y for i, y in enumerate(data.train_labels)]
    return rows, np.concatenate(codes)


def _principal(data: Sequences) -> Floats:
    rows, _ = _stacked(data)
    return np.linalg.svd(rows, full_matrices=False)[2][:3]


def _mlca(data: Sequences) -> Floats:
    return MLCA().fit(*_stacked(data)).components_


METHODS: dict[str, Callable[[Sequences], Floats]] = {
    "Euclidean": lambda data: np.eye(data.train[0].shape[1]),
    "PCA (3)": _principal,
    "MLCA": _mlca,
}
"""Linear maps to compare with, learned from training sequences."""


@cache
def map_losses(method: str, n_irrelevant: int, *, n_train: int = 6, seed: int = 0) -> list[float]:
    """Loss on every test sequence with a price chosen on the training sequences.

    Examples
    --------
    >>> float(np.mean(map_losses("Euclidean", 0))) < 0.5
    True
    """
    data = small_sequences(n_irrelevant, n_train=n_train, seed=seed)
    with threadpool_limits(1):
        components = METHODS[method](data)
    return calibrated(components, data)


@cache
def _learned(
    n_irrelevant: int, n_train: int, seed: int, options: tuple[tuple[str, Any], ...]
) -> tuple[LargeMarginMetric, list[float]]:
    data = small_sequences(n_irrelevant, n_train=n_train, seed=seed)
    with threadpool_limits(1):
        model = LargeMarginMetric(**dict(options)).fit(data.train, data.train_labels)
        found = [model.predict(x) for x in data.test]
    return model, [partition_loss(a, b) for a, b in zip(found, data.test_labels, strict=True)]


def learned_losses(
    n_irrelevant: int, *, n_train: int = 6, seed: int = 0, **options: Any
) -> list[float]:
    """Loss of `mlbook.large_margin.LargeMarginMetric` with some options on every test sequence.

    Examples
    --------
    >>> float(np.mean(learned_losses(0))) < 0.5
    True
    """
    return _learned(n_irrelevant, n_train, seed, tuple(sorted(options.items())))[1]


LARGE_MARGIN = "large margin"


@cache
def short_sequences(seed: int, *, steps: bool = True) -> Sequences:
    """Draw sequences of 80 points with 6 relevant and 10 irrelevant columns: 3 train, 6 test.

    Without `steps`, irrelevant columns are independent noise of the same variance.

    Examples
    --------
    >>> data = short_sequences(0)
    >>> len(data.train), len(data.test), data.train[0].shape
    (3, 6, (80, 16))
    """
    series, labels = make_change_points(
        9,
        n_samples=80,
        n_relevant=6,
        n_irrelevant=10,
        n_segments=(3, 5),
        min_length=10,
        random_state=seed,
    )
    if not steps:
        rng = np.random.default_rng(seed)
        for x in series:
            x[:, 6:] = np.sqrt(5) * rng.normal(size=(80, 10))  # levels 2² and noise 1
    return Sequences(series[:3], labels[:3], series[3:], labels[3:])


def mean_losses(
    method: str, *, steps: bool = True, min_length: int | str = "auto", calibrate: bool = True
) -> Floats:
    """Mean test loss of a method of `METHODS`, or of the large margin, in 20 short draws.

    The price is chosen on the training sequences, or 1 if it is not calibrated.

    Examples
    --------
    >>> mean_losses("MLCA", steps=False).shape
    (20,)
    """
    return _mean_losses(method, steps, min_length, calibrate)


@cache
def _mean_losses(method: str, steps: bool, min_length: int | str, calibrate: bool) -> Floats:
    losses = []
    for seed in range(20):
        data = short_sequences(seed, steps=steps)
        if method == LARGE_MARGIN:
            model = _short_model(seed, min_length, steps)
            mapped = [model.transform(x) for x in data.test]
            price = model.penalty_ if calibrate else 1.0
            found = [segment(z, penalty=price, min_length=model.min_length_) for z in mapped]
            losses.append(np.mean(list(map(_delta, found, data.test_labels))))
        else:
            losses.append(np.mean(calibrated(METHODS[method](data), data)))
    return np.array(losses)


@cache
def _short_model(seed: int, min_length: int | str, steps: bool) -> LargeMarginMetric:
    data = short_sequences(seed, steps=steps)
    with threadpool_limits(1):
        return LargeMarginMetric(min_length=min_length).fit(data.train, data.train_labels)


def relevant_share(seed: int) -> float:
    """Share of the weights that the six relevant columns of short sequences get.

    Examples
    --------
    >>> relevant_share(0) > 0.9
    True
    """
    weights = _short_model(seed, "auto", True).get_mahalanobis_matrix().diagonal()
    return float(weights[:6].sum() / weights.sum())


def alternation_steps(seed: int, *, annotated_only: bool) -> Floats:
    """Change of the objective in every step of the alternation, on nine numbers.

    Five of nine labels are known. Step (a) fills in the others by the largest score, step (b)
    minimizes over 301 weights b; both by enumeration. The loss counts the annotated points only,
    or all points of the completed labels.

    Examples
    --------
    >>> alternation_steps(0, annotated_only=True).shape
    (11,)
    """
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 3)
    x = np.array([0.0, 2.0, -1.0])[truth] + rng.normal(size=9)
    first = int(rng.integers(0, 5))
    window = slice(first, first + 5)
    every, matrices = _splits_of_nine()
    known = truth[window] - truth[first]
    seen = [labels[window] - labels[first] for labels in every]
    allowed = np.array([np.array_equal(labels, known) for labels in seen])
    annotated = np.array([_delta(labels, known) for labels in seen])
    weights = np.linspace(0, 3, 301)
    counts = np.trace(matrices, axis1=1, axis2=2)
    scores = np.outer(weights, np.tensordot(matrices, np.outer(x, x), axes=2)) - counts
    values, now = [], 30
    for _ in range(6):
        chosen = int(np.argmax(np.where(allowed, scores[now], -np.inf)))
        whole = np.sum((matrices - matrices[chosen]) ** 2, axis=(1, 2))
        losses = annotated if annotated_only else whole
        objective = (scores + losses).max(axis=1) - scores[:, chosen] + 0.01 * weights**2
        values.append(objective[now])
        now = int(objective.argmin())
        values.append(objective[now])
    return np.diff(values)


@cache
def _splits_of_nine() -> tuple[list[Integers], Floats]:
    every = splits_in_time(9)
    return every, all_matrices(every)


def segments_seen(seed: int, jump: float, min_length: int) -> int:
    """Count the segments that the weight of least hinge finds in its own training series.

    The series has four segments of 40 numbers, levels 0 and `jump` in turn, and noise 1. The
    hinge compares with segments of `min_length` or more, the prediction may have any.

    Examples
    --------
    >>> segments_seen(0, jump=5.0, min_length=10)
    4
    """
    labels = np.repeat(np.arange(4), 40)
    X = (jump * (labels % 2) + np.random.default_rng(seed).normal(size=160))[:, None]
    weights = np.linspace(0, 0.4, 21)
    hinges = [structured_hinge(X, labels, [b], min_length=min_length) for b in weights]
    best = weights[int(np.argmin(hinges))]
    return int(segment(np.sqrt(best) * X, penalty=1.0)[-1]) + 1


def wrong_labels(seed: int, share: float) -> list[tuple[Floats, Integers]]:
    """Draw four sets of rows with four classes each; a share of the labels is wrong.

    The generator is that of the exercises of the chapter that compares all methods.

    Examples
    --------
    >>> len(wrong_labels(0, 0.2)), wrong_labels(0, 0.2)[0][0].shape
    (4, (80, 18))
    """
    return draw_gaussians(BASE | {"seed": seed, "flipped": share}).train


def learns_something(seed: int, share: float, alpha: float) -> bool:
    """Tell whether the diagonal large-margin metric of these sets is not zero.

    Examples
    --------
    >>> learns_something(0, 0.3, alpha=1e-3)
    False
    """
    sets = wrong_labels(seed, share)
    return bool(np.any(quiet(lambda: learn_large_margin(sets, alpha=alpha))))


def slope_without_noise(seed: int, share: float, n_classes: int = 4) -> tuple[float, float]:
    """Slope at zero of the spectral hinge of 2000 points, all points of a class the same.

    In a random diagonal direction and in a random full one; a share of the labels is wrong.

    Examples
    --------
    >>> max(slope_without_noise(0, 0.0)) < 0
    True
    """
    rng = np.random.default_rng(seed)
    y = np.resize(np.arange(n_classes), 2000)
    X = rng.normal(size=(n_classes, 6))[y]
    wrong = rng.random(2000) < share
    labels = np.where(wrong, (y + rng.integers(1, n_classes, 2000)) % n_classes, y)
    root = rng.normal(size=(6, 6))

    def slope(M: Floats) -> float:
        tiny = 1e-7
        hinge = structured_hinge(X, labels, tiny * M, structure="spectral", n_clusters="known")
        return (hinge - 2 * n_classes + 2) / tiny

    return slope(rng.exponential(size=6)), slope(root @ root.T)


def least_slope(sets: Sequence[tuple[Floats, Integers]]) -> tuple[float, float]:
    """Least slope at zero of the mean spectral hinge, over all diagonal directions: two bounds.

    The number of clusters is known, and a direction has mean scatter 1. The slope is convex
    in the direction, so cuts enclose its minimum; they stop when its sign is known.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> least_slope([(X, np.array([0, 0, 1, 1]))])  # (1 − 16) / 17
    (-0.882..., -0.882...)
    """
    parts = []
    for X, labels in sets:
        J = normalized_assignment(labels).toarray()
        centred = X - X.mean(axis=0)
        between = J @ (J.T @ centred)
        parts.append((centred - between, np.sum(between**2, axis=0), J.shape[1] - 1))
    scale = np.mean([np.sum(rest**2, axis=0) + between for rest, between, _ in parts], axis=0)
    d = len(scale)
    cuts, least, direction = [], np.inf, np.full(d, 1 / d)
    while True:
        slope = np.zeros(d)
        for rest, between, n_other in parts:
            U = np.linalg.svd(rest * np.sqrt(direction / scale), full_matrices=False)[0]
            slope += (np.sum((U[:, :n_other].T @ rest) ** 2, axis=0) - between) / scale / len(parts)
        cuts.append(np.append(slope, -1))
        least = min(least, float(slope @ direction))
        program = linprog(
            np.append(np.zeros(d), 1),
            A_ub=np.array(cuts),
            b_ub=np.zeros(len(cuts)),
            A_eq=np.append(np.ones(d), 0)[None],
            b_eq=[1],
            bounds=[(0, None)] * d + [(None, None)],
        )
        direction = program.x[:d]
        if least < 0 or program.fun >= 0 or least - program.fun < 1e-7:
            return least, float(program.fun)


def column_shares(data: Sequences) -> Floats:
    """Share of the scatter of each column that lies between the training segments.

    Examples
    --------
    >>> column_shares(small_sequences(3)).shape
    (9,)
    """
    rows, codes = _stacked(data)
    J = normalized_assignment(codes)
    return np.sum((J.T @ rows) ** 2, axis=0) / np.sum(rows**2, axis=0)


def irrelevant_share(seed: int, *, steps: bool) -> float:
    """Mean share between training segments of the irrelevant columns of short sequences.

    Examples
    --------
    >>> irrelevant_share(0, steps=False) < 0.1
    True
    """
    return float(column_shares(short_sequences(seed, steps=steps))[6:].mean())


def the_problem(n_irrelevant: int = 24) -> Figure:
    """Draw a test sequence and its change points: true, Euclidean, and with the learned metric."""
    data = small_sequences(n_irrelevant, seed=2)
    x, truth = data.test[1], data.test_labels[1]
    model, _ = _learned(n_irrelevant, 6, 2, ())
    price = best_price(data.train, data.train_labels)
    plain = segment(x, penalty=price, min_length=5)
    figure, axes = subplots(2, 1, height=4.4)
    picture, strip = axes[:, 0]
    picture.imshow(x.T, aspect="auto", vmin=-5, vmax=5, interpolation="nearest")
    picture.axhline(5.5, color="white", linewidth=2)
    picture.set(yticks=[2.5, 5.5 + n_irrelevant / 2], yticklabels=["relevant", "irrelevant"])
    picture.set(xticks=[])
    names = ["true", "Euclidean", "learned"]
    for height, labels in enumerate([truth, plain, model.predict(x)]):
        starts = segment_starts(labels)[1:]
        strip.vlines(starts - 0.5, -height - 0.38, -height + 0.38, color=COLORS[height])
        strip.plot(starts - 0.5, np.full(len(starts), -height), MARKERS[height], color=INK)
        loss = partition_loss(labels, truth)
        names[height] += f"\nΔ = {loss:.2f}" if height else ""
    strip.set(yticks=[0, -1, -2], yticklabels=names, xlim=picture.get_xlim(), xlabel="time")
    strip.set(ylim=(-2.6, 0.6))
    return figure


COLUMNS, TRAINING = (0, 10, 20, 40, 80, 160), (2, 3, 4, 5, 6)
"""Irrelevant columns and training sequences of the explorer."""

FITTED = Path(__file__).with_name("irrelevant_columns.json")
"""What the explorer draws: up to seconds of learning for each of its states."""


def fitted_columns(n_irrelevant: int, n_train: int) -> dict[str, Any]:
    """Learn the weights, the largest 1, and measure the mean losses of four methods.

    Examples
    --------
    >>> fit = fitted_columns(0, 2)
    >>> len(fit["weights"]), list(fit["losses"])
    (6, ['Euclidean', 'PCA (3)', 'MLCA', 'large margin'])
    """
    model, losses = _learned(n_irrelevant, n_train, 0, ())
    b = model.get_mahalanobis_matrix().diagonal()
    means = {m: np.mean(map_losses(m, n_irrelevant, n_train=n_train)) for m in METHODS}
    means[LARGE_MARGIN] = np.mean(losses)
    return {
        "weights": np.round(b / b.max(), 4).tolist(),
        "losses": {name: round(float(loss), 4) for name, loss in means.items()},
    }


def write_fitted() -> None:
    """Write `FITTED` anew; a test compares it with what is found now."""
    fits = {f"{n}, {m}": fitted_columns(n, m) for n in COLUMNS for m in TRAINING}
    FITTED.write_text(json.dumps(fits, separators=(",", ":")) + "\n", encoding="utf-8")


def irrelevant_columns(n_irrelevant: int, n_train: int) -> tuple[Figure, str]:
    """Draw the learned weights and the losses of four methods, over the number of columns."""
    fit = json.loads(FITTED.read_text(encoding="utf-8"))[f"{n_irrelevant}, {n_train}"]
    b, means = np.array(fit["weights"]), fit["losses"]
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    columns = np.arange(len(b))
    for chosen, color, marker in [(columns < 6, COLORS[0], "o"), (columns >= 6, COLORS[1], "s")]:
        left.plot(columns[chosen], b[chosen], marker, color=color, markersize=4)
    left.set(xlabel="column", title="learned weights", ylim=(-0.05, 1.1), xlim=(-4, 170))
    bars = right.barh(range(len(means)), list(means.values()), color=COLORS[6], height=0.6)
    bars[-1].set(color=COLORS[0], hatch="//")
    right.bar_label(bars, fmt="{:.2f}", padding=3)
    right.set(yticks=range(len(means)), yticklabels=[name.replace(" ", "\n") for name in means])
    right.set(xlim=(0, 7), title="Δ on test sequences")
    right.invert_yaxis()
    return figure, (
        f"6 relevant and {n_irrelevant} irrelevant columns, {n_train} training sequences: "
        + "; ".join(f"{name} {loss:.2f}" for name, loss in means.items())
        + f". Share of the weights on relevant columns: {b[:6].sum() / b.sum():.0%}."
    )


# Changes of distribution


def _scales(rng: np.random.Generator, labels: Integers) -> Floats:
    return np.where(labels % 2, 3.0, 1.0) * rng.normal(size=len(labels))


def _heavy(rng: np.random.Generator, labels: Integers) -> Floats:
    return np.where(labels % 2, 3.0, 1.0) * rng.standard_t(3, size=len(labels))


def _shape(rng: np.random.Generator, labels: Integers) -> Floats:
    """Draw normal numbers, or two values with the same mean and variance."""
    n = len(labels)
    two = rng.choice([-1.0, 1.0], size=n) + 0.2 * rng.normal(size=n)
    return np.where(labels % 2, two / np.sqrt(1.04), rng.normal(size=n))


def _means(rng: np.random.Generator, labels: Integers) -> Floats:
    return 1.5 * (labels % 2) + rng.normal(size=len(labels))


CHANGES: dict[str, Callable[[np.random.Generator, Integers], Floats]] = {
    "variance": _scales,
    "variance, heavy tails": _heavy,
    "shape": _shape,
    "mean": _means,
}
"""What changes from one segment to the next."""


def printed_correlation(sigma: float) -> float:
    """Correlation of functions 0 and 2 of the paper's Section 5.3, as printed.

    Examples
    --------
    >>> round(printed_correlation(1.0), 2)
    -0.58
    """
    t = np.linspace(-12, 12, 4801)
    f = np.exp(-(t**2) / (2 * sigma**2))
    g = f * (t**2 - 1)  # exp(t²/2) d²/dt² exp(-t²/2) = t² - 1
    return float(f @ g / np.sqrt((f @ f) * (g @ g)))


def wandering_series(change: str, seed: int = 0) -> tuple[Floats, Integers]:
    """Draw 400 numbers in five segments whose distribution alternates between two.

    Examples
    --------
    >>> x, y = wandering_series("variance")
    >>> print(x.shape, np.bincount(y))
    (400,) [100  60  80 100  60]
    """
    labels = np.repeat(np.arange(5), [100, 60, 80, 100, 60])
    return CHANGES[change](np.random.default_rng(seed), labels), labels


def _powers(x: Floats, degree: int) -> Floats:
    powers = x[:, None] ** np.arange(1, max(degree, 1) + 1)
    return (powers - powers.mean(axis=0)) / powers.std(axis=0)


FEATURES: dict[str, Callable[[Floats, int], Floats]] = {
    "x alone": lambda x, degree: x[:, None],
    "powers": _powers,
    "Hermite": hermite_features,
}
"""Series made of one series: its values, its standardized powers, its Hermite functions."""


@cache
def _found(features: str, degree: int, change: str, seed: int) -> tuple[Integers, float]:
    x, labels = wandering_series(change, seed)
    found = segment(FEATURES[features](x, degree), n_segments=5, min_length=10)
    return found, partition_loss(found, labels)


def distribution_losses(features: str, degree: int, change: str, n_seeds: int) -> list[float]:
    """Loss of the best five segments of each of some series.

    Examples
    --------
    >>> len(distribution_losses("Hermite", 2, "variance", 2))
    2
    """
    return [_found(features, degree, change, seed)[1] for seed in range(n_seeds)]


_DEGREES = range(9)


def degree_and_change(degree: int, change: str) -> tuple[Figure, str]:
    """Draw the segments found with Hermite features of one degree, and the loss for all."""
    x, labels = wandering_series(change)
    found, loss = _found("Hermite", degree, change, 0)
    figure, axes = subplots(2, 1, height=4.2)
    series, curve = axes[:, 0]
    limit = 1.05 * np.quantile(np.abs(x), 0.99)
    bounds = [*segment_starts(found).tolist(), len(x)]
    for c, (start, stop) in enumerate(pairwise(bounds)):
        shown = np.clip(x[start:stop], -limit, limit)
        times = np.arange(start, stop)
        series.plot(times, shown, MARKERS[c % 2], color=COLORS[c % 2], markersize=2.5)
    for start in segment_starts(labels)[1:]:
        series.axvline(start - 0.5, color=INK, linewidth=1.2, linestyle=":")
    series.set(ylim=(-1.1 * limit, 1.1 * limit), xticks=[], ylabel="x")
    means = {
        name: [np.mean(distribution_losses(name, d, change, 10)) for d in _DEGREES]
        for name in ("Hermite", "powers")
    }
    for (name, line), style, marker in zip(means.items(), ("-", "--"), MARKERS, strict=False):
        curve.plot(_DEGREES, line, style, marker=marker, label=name)
    curve.axvline(degree, color=INK, linewidth=1, linestyle=":")
    curve.set(xlabel="degree", ylabel="loss Δ", ylim=(-0.2, 6.8), xticks=_DEGREES)
    curve.legend(frameon=False, ncols=2, loc="upper right")
    return figure, (
        f"Change of {change}, Hermite functions up to degree {degree}: Δ = {loss:.2f} here, "
        f"{means['Hermite'][degree]:.2f} on average over 10 series "
        f"(powers {means['powers'][degree]:.2f})."
    )


def learned_degrees(change: str, degree: int = 8) -> tuple[float, float, Floats]:
    """Learn weights of Hermite functions from six series and cut six others, their number free.

    Returns the mean test loss with equal weights and a calibrated price, that with the learned
    metric, and the share of the scatter under the metric that each function has.

    Examples
    --------
    >>> _, loss, shares = learned_degrees("mean", degree=1)
    >>> loss < 1, round(float(shares.sum()), 6)
    (True, 1.0)
    """
    drawn = [wandering_series(change, seed) for seed in range(100, 112)]
    features = [hermite_features(x, degree) for x, _ in drawn]
    labels = [y for _, y in drawn]
    with threadpool_limits(1):
        price = best_price(features[:6], labels[:6])
        equal = _losses(features[6:], labels[6:], price)
        model = LargeMarginMetric(min_length=10).fit(features[:6], labels[:6])
        found = [model.predict(z) for z in features[6:]]
    shares = model.get_mahalanobis_matrix().diagonal() * np.var(np.vstack(features[:6]), axis=0)
    learned = list(map(partition_loss, found, labels[6:]))
    return float(np.mean(equal)), float(np.mean(learned)), shares / shares.sum()


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
