"""Figures of the chapter on change points."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from scipy.signal import lfilter
from threadpoolctl import threadpool_limits

from mlbook._arrays import Floats, Integers
from mlbook.changepoints import (
    hermite_features,
    loss_augmented_segment,
    segment,
    segment_starts,
    segmentation_path,
)
from mlbook.datasets import hide_labels, make_change_points
from mlbook.large_margin import LargeMarginMetric, structured_hinge
from mlbook.mlca import MLCA
from mlbook.partitions import equivalence_matrix, normalized_assignment, partition_loss
from mlbook.plots import COLORS, INK, MARKERS, show_matrix, subplots

__all__ = [
    "CHANGES",
    "FEATURES",
    "METHODS",
    "PRICES",
    "Round",
    "Sequences",
    "best_price",
    "block_matrix",
    "calibrated",
    "candidate_costs",
    "column_shares",
    "cutting_planes",
    "degree_and_change",
    "distribution_losses",
    "hinge_of_six_points",
    "irrelevant_columns",
    "learned_degrees",
    "learned_losses",
    "map_losses",
    "noise_with_memory",
    "partial_loss",
    "path_of_six_points",
    "planes_round_by_round",
    "price_and_noise",
    "printed_algorithm",
    "program_step",
    "six_points",
    "small_sequences",
    "splits_in_time",
    "the_problem",
    "wandering_series",
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


PRICES = (0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256)
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
    ax.plot(weights, hinge + square, color=COLORS[0], linewidth=2.5, label="objective J")
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
        f"After {cuts_made}: the best metric tried has J = {best:.3f}, no metric is below "
        f"{bound:.3f}. Relative gap {(best - bound) / best:.1%}. Next metric to try: "
        f"{found[rounds].weight:.2f}."
    )


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
    price = best_price([x @ components.T for x in data.train], data.train_labels)
    return _losses([x @ components.T for x in data.test], data.test_labels, price)


def best_price(series: Sequence[Floats], labels: Sequence[Integers]) -> float:
    """Price λ of least mean loss among 20, from 0.1% to 30% of the mean scatter.

    Examples
    --------
    >>> data = small_sequences(0)
    >>> best_price(data.train, data.train_labels) > 0
    True
    """
    scatter = np.mean([np.sum((x - x.mean(axis=0)) ** 2) for x in series])
    prices = scatter * np.geomspace(1e-3, 0.3, 20)
    losses = [np.mean(_losses(series, labels, float(price))) for price in prices]
    return float(prices[np.argmin(losses)])


def _losses(series: Sequence[Floats], labels: Sequence[Integers], penalty: float) -> list[float]:
    with threadpool_limits(1):
        found = [segment(x, penalty=penalty, min_length=5) for x in series]
    return [partition_loss(a, b) for a, b in zip(found, labels, strict=True)]


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


def partial_loss(fraction: float, init: str, seed: int) -> float:
    """Mean test loss after learning from a window of each training sequence, 20 columns irrelevant.

    At most two alternations.

    Examples
    --------
    >>> partial_loss(0.4, "labelled", seed=0) < 0.5
    True
    """
    data = small_sequences(20, seed=seed)
    hidden = hide_labels(data.train_labels, fraction, random_state=seed)
    with threadpool_limits(1):
        model = LargeMarginMetric(init=init, max_alternations=2).fit(data.train, hidden)
        found = [model.predict(x) for x in data.test]
    return float(np.mean(list(map(partition_loss, found, data.test_labels))))


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


def irrelevant_columns(n_irrelevant: int, n_train: int) -> tuple[Figure, str]:
    """Draw the learned weights and the losses of four methods, over the number of columns."""
    model, losses = _learned(n_irrelevant, n_train, 0, ())
    b = model.get_mahalanobis_matrix().diagonal()
    b = b / b.max()
    means = {m: np.mean(map_losses(m, n_irrelevant, n_train=n_train)) for m in METHODS}
    means["large margin"] = np.mean(losses)
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
    right.set(xlim=(0, 5), title="Δ on test sequences")
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
    price = best_price(features[:6], labels[:6])
    equal = _losses(features[6:], labels[6:], price)
    with threadpool_limits(1):
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
