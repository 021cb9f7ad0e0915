"""Changes of the distribution, and features that see them."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from book.figures.change_points.learning import best_price, losses_at
from book.figures.change_points.program import draw_pieces
from mlbook._arrays import Floats, Integers
from mlbook.changepoints import (
    hermite_features,
    segment,
    segment_starts,
)
from mlbook.large_margin import LargeMarginMetric
from mlbook.partitions import partition_loss
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "CHANGES",
    "FEATURES",
    "degree_and_change",
    "distribution_losses",
    "hermite_picture",
    "learned_degrees",
    "printed_correlation",
    "wandering_series",
]


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
        equal = losses_at(features[6:], labels[6:], price)
        model = LargeMarginMetric(min_length=10).fit(features[:6], labels[:6])
        found = [model.predict(z) for z in features[6:]]
    shares = model.get_mahalanobis_matrix().diagonal() * np.var(np.vstack(features[:6]), axis=0)
    learned = list(map(partition_loss, found, labels[6:]))
    return float(np.mean(equal)), float(np.mean(learned)), shares / shares.sum()


_STYLES = ("-", "--", "-.", ":", (0, (6, 2, 1, 2, 1, 2)))


def hermite_picture() -> Figure:
    """Draw the first Hermite functions, a series whose variance changes, and its bump."""
    grid = np.linspace(-4, 4, 161)
    psi = hermite_features(grid, degree=4, center=0, scale=1)
    x, labels = wandering_series("variance", 1)
    bump = hermite_features(x, degree=0)[:, 0]
    figure, axes = subplots(3, 1, height=5.4)
    curves, series, seen = axes[:, 0]
    for j in range(5):
        curves.plot(grid, psi[:, j], color=COLORS[j], linestyle=_STYLES[j], label=f"ψ{'₀₁₂₃₄'[j]}")
    curves.set(xlim=(-4, 4), xlabel="x", yticks=[0])
    curves.legend(frameon=False, ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
    for ax, values, name in [(series, x, "$x_t$"), (seen, bump, "$ψ_0(x_t)$")]:
        draw_pieces(ax, values, labels, markersize=2.5)
        ax.set(ylabel=name, xlim=(-5, 405))
    series.set(xticks=[])
    seen.set_xlabel("time")
    return figure
