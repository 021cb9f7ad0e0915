"""The structured hinge, its cuts and its slopes."""

from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from book.figures.change_points.cases import (
    all_matrices,
    fast_loss,
    free_partitions,
    hinge_lines,
    hinge_of_partitions,
    six_points,
    splits_in_time,
)
from book.figures.change_points.program import draw_pieces
from mlbook._arrays import Floats, Integers
from mlbook.changepoints import (
    constraints_from_labels,
    loss_augmented_segment,
    segment,
    segment_starts,
)
from mlbook.large_margin import structured_hinge
from mlbook.partitions import equivalence_matrix, partition_loss
from mlbook.plots import COLORS, INK, subplots

__all__ = [
    "STRENGTH",
    "Plane",
    "Round",
    "certificate_holds",
    "cutting_planes",
    "hinge_of_six_points",
    "margin_line",
    "one_series",
    "partial_labels",
    "planes_by_hand",
    "planes_of_six_points",
    "planes_round_by_round",
    "segments_seen",
    "three_hinges",
]


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


STRENGTH = 0.05  # weight τ of the regularizer of the picture


@cache
def one_series() -> tuple[Floats, Integers]:
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
    X, y = one_series()
    C = _between(X, y)
    offsets, slopes = [0.0], [0.0]
    weight, bound, rounds = 0.0, 0.0, []
    for _ in range(n_rounds):
        worst = loss_augmented_segment(X, y, M=[weight], min_length=5)
        offset = partition_loss(worst, y) - float(worst[-1]) + float(y[-1])
        slope = _between(X, worst) - C
        objective = offset + slope * weight + STRENGTH * weight**2 / 2
        rounds.append(Round(weight, objective, bound, offset, slope))
        offsets.append(offset)
        slopes.append(slope)
        o, g = np.array(offsets), np.array(slopes)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = np.subtract.outer(o, o) / -np.subtract.outer(g, g)
        tried = np.concatenate([[0.0], -g / STRENGTH, crossings[np.isfinite(crossings)]])
        tried = tried[tried >= 0]
        values = (o + np.outer(tried, g)).max(axis=1) + STRENGTH * tried**2 / 2
        weight, bound = float(tried[values.argmin()]), float(values.min())
    return rounds


def _between(X: Floats, labels: Integers) -> float:
    """XᵀCX of one column."""
    sums = np.add.reduceat(X[:, 0], segment_starts(labels))
    return float(np.sum(sums**2 / np.bincount(labels)))


@cache
def _hinge_curve() -> tuple[Floats, Floats]:
    X, y = one_series()
    weights = np.linspace(0, 4.5, 226)
    return weights, np.array([structured_hinge(X, y, [b], min_length=5) for b in weights])


def planes_round_by_round(rounds: int) -> tuple[Figure, str]:
    """Draw the objective, the cuts found so far and the two bounds after some rounds."""
    found = cutting_planes(rounds + 1)
    best = min(r.objective for r in found[:rounds])
    bound = found[rounds].bound
    weights, hinge = _hinge_curve()
    square = STRENGTH * weights**2 / 2
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


def margin_line() -> Figure:
    """Draw all segmentations of the six points, mistake against lead, for two metrics."""
    x, y = six_points()
    every = splits_in_time(6)
    losses = np.array([fast_loss(labels, y) for labels in every])
    figure, axes = subplots(1, 2, height=3.3)
    for ax, b in zip(axes[0], (1 / 50, 1 / 6), strict=True):
        offset, slope = np.array(hinge_lines(x, y)).T
        leads = losses - (offset + slope * b)
        missing = losses - leads
        kept = missing <= 1e-9
        ax.plot([0, 3.4], [0, 3.4], "--", color=INK, linewidth=1.2)
        ax.axhline(0, color=INK, linewidth=0.6)
        ax.plot(losses[kept], leads[kept], "o", color=COLORS[0], markersize=6)
        ax.plot(losses[~kept], leads[~kept], "s", color=COLORS[1], markersize=5)
        worst = int(missing.argmax())
        ax.plot([losses[worst]] * 2, [leads[worst], losses[worst]], color=COLORS[1], linewidth=3)
        ax.set(xlabel="mistake Δ", xlim=(-0.2, 3.4), ylim=(-1.7, 6.2))
        ax.set(title=f"b = 1/{round(1 / b)}, hinge {missing[worst]:.2f}")
    axes[0, 0].set_ylabel("lead of the truth")
    return figure


class Plane(NamedTuple):
    """A round of cutting planes by hand: the metric tried, the line found there, the next bound."""

    weight: float
    offset: float
    slope: float
    next_weight: float
    bound: float


def planes_by_hand(n_rounds: int = 4) -> list[Plane]:
    """Cutting planes without a regularizer on the six points; of equal minima the least b.

    Examples
    --------
    >>> [round(plane.weight, 3) for plane in planes_by_hand()]
    [0.0, 0.143, 0.667, 0.167]
    """
    lines = np.array(hinge_lines(*six_points()))
    cuts, weight, rounds = np.zeros((1, 2)), 0.0, []
    for _ in range(n_rounds):
        found = lines[int(np.argmax(lines @ [1, weight]))]
        cuts = np.vstack([cuts, found])
        pairs = [(p, q) for p, q in combinations(cuts, 2) if p[1] != q[1]]
        tried = np.array([0.0, *((q[0] - p[0]) / (p[1] - q[1]) for p, q in pairs)])
        tried = np.sort(tried[tried >= 0])
        values = (cuts[:, :1] + np.outer(cuts[:, 1], tried)).max(axis=0)
        best = int(np.argmin(values.round(12)))
        offset, slope = float(found[0]), float(found[1])
        rounds.append(Plane(weight, offset, slope, float(tried[best]), float(values[best])))
        weight = float(tried[best])
    return rounds


def planes_of_six_points() -> Figure:
    """Draw the four rounds by hand: the cuts so far, the largest of them, and the next metric."""
    x, y = six_points()
    rounds = planes_by_hand()
    weights = np.linspace(0, 0.8, 161)
    hinge = (np.array(hinge_lines(x, y)) @ np.vstack([np.ones(161), weights])).max(axis=0)
    figure, axes = subplots(2, 2, height=4.6)
    for number, ax in enumerate(axes.flat, start=1):
        cuts = [plane.offset + plane.slope * weights for plane in rounds[:number]]
        model = np.max([*cuts, 0 * weights], axis=0)
        ax.plot(weights, hinge, color=COLORS[0], linewidth=1.5)
        for cut in cuts:
            ax.plot(weights, cut, color=COLORS[6], linewidth=0.8)
        ax.plot(weights, model, "--", color=COLORS[1], linewidth=2)
        now = rounds[number - 1]
        ax.plot(now.weight, now.offset + now.slope * now.weight, "o", color=COLORS[0])
        ax.plot(now.next_weight, now.bound, "s", color=COLORS[1])
        ax.set(ylim=(-0.4, 5), xlim=(-0.03, 0.8), title=f"{number}: bound {now.bound:.2f}")
    for ax in axes[1]:
        ax.set_xlabel("metric b")
    return figure


def partial_labels() -> Figure:
    """Draw six points of which four are labelled, which cuts that forbids, and the best segments.

    The price is 20, too high for any cut without the labels.
    """
    x, _ = six_points()
    partial = np.array([0, 0, -1, -1, 1, 1])
    known = constraints_from_labels(partial)
    figure, axes = subplots(height=3)
    ax = axes[0, 0]
    draw_pieces(ax, x, segment(x[:, None], penalty=20.0, constraints=known), markersize=0.1)
    for label, marker in [(0, "o"), (1, "s"), (-1, "o")]:
        chosen = np.flatnonzero(partial == label)
        face = "white" if label < 0 else COLORS[label]
        ax.plot(chosen, x[chosen], marker, color=INK, markerfacecolor=face, markersize=10)
    for position in range(1, 6):
        allowed = known.allowed[position]
        color = COLORS[0] if allowed else COLORS[1]
        name = "cut?" if allowed else "no"
        ax.axvline(position - 0.5, color=color, linestyle=":" if allowed else "-", linewidth=1.2)
        ax.text(position - 0.5, 8.6, name, ha="center", va="center", color=INK, backgroundcolor="w")
    ax.annotate("", (1.5, -1.2), (3.5, -1.2), arrowprops={"arrowstyle": "<->", "color": INK})
    ax.text(2.5, -1.9, "at least one of these", ha="center", va="center")
    ax.set(ylim=(-2.6, 9.2), xlim=(-0.6, 5.6), xticks=range(6), xticklabels=range(1, 7), ylabel="x")
    ax.set_xlabel("point")
    return figure


def three_hinges() -> Figure:
    """Draw the hinge of the six points against segmentations, partitions and projectors."""
    x, y = six_points()
    every = all_matrices(free_partitions(6))
    weights = np.linspace(0, 0.5, 51)
    X = x[:, None]
    curves = {
        "segmentations": [structured_hinge(X, y, [b]) for b in weights],
        "all partitions": [hinge_of_partitions(X, y, b, every) for b in weights],
        "projectors": [structured_hinge(X, y, [b], structure="spectral") for b in weights],
    }
    figure, axes = subplots(height=3)
    for (name, values), style, color in zip(
        curves.items(), ("-", "--", "-."), COLORS, strict=False
    ):
        axes[0, 0].plot(weights, values, style, color=color, label=name)
    axes[0, 0].set(xlabel="metric b", ylabel="hinge", ylim=(0, 6), xlim=(0, 0.5))
    axes[0, 0].legend(frameon=False)
    return figure
