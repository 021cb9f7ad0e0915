"""Metrics learned from made sequences."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from book.figures.change_points.cases import fast_loss
from mlbook._arrays import Floats, Integers
from mlbook.baselines import RCA
from mlbook.changepoints import (
    segment,
    segmentation_path,
)
from mlbook.datasets import make_change_points
from mlbook.large_margin import LargeMarginMetric
from mlbook.mlca import MLCA
from mlbook.partitions import normalized_assignment, partition_loss
from mlbook.plots import COLORS, subplots

__all__ = [
    "ALL_METHODS",
    "COLUMNS",
    "FITTED",
    "FULL",
    "LARGE_MARGIN",
    "METHODS",
    "TRAINING",
    "Sequences",
    "best_price",
    "calibrated",
    "column_shares",
    "fitted_columns",
    "irrelevant_columns",
    "irrelevant_share",
    "learned_losses",
    "losses_at",
    "map_losses",
    "mean_losses",
    "relevant_share",
    "short_model",
    "short_sequences",
    "small_sequences",
    "stacked",
    "write_fitted",
]


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
        return losses_at([x @ components.T for x in data.test], data.test_labels, price)


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
        found = {k: fast_loss(path.labels(k), truth) for k in np.unique(best)}
        losses += [found[k] for k in best]
    return float(prices[np.argmin(losses)])


def losses_at(series: Sequence[Floats], labels: Sequence[Integers], penalty: float) -> list[float]:
    """Loss of the best segments of five points or more at a price, for each series.

    Examples
    --------
    >>> losses_at([np.repeat([[0.0], [9.0]], 5, axis=0)], [np.repeat([0, 1], 5)], 1.0)
    [0.0]
    """
    found = [segment(x, penalty=penalty, min_length=5) for x in series]
    return [fast_loss(a, b) for a, b in zip(found, labels, strict=True)]


def stacked(data: Sequences) -> tuple[Floats, Integers]:
    """Centred training sequences below each other, every segment a class of its own."""
    rows = np.vstack([x - x.mean(axis=0) for x in data.train])
    codes = [100 * i + y for i, y in enumerate(data.train_labels)]
    return rows, np.concatenate(codes)


def _principal(data: Sequences) -> Floats:
    rows, _ = stacked(data)
    return np.linalg.svd(rows, full_matrices=False)[2][:3]


def _mlca(data: Sequences) -> Floats:
    return MLCA().fit(*stacked(data)).components_


METHODS: dict[str, Callable[[Sequences], Floats]] = {
    "Euclidean": lambda data: np.eye(data.train[0].shape[1]),
    "PCA (3)": _principal,
    "MLCA": _mlca,
}
"""Linear maps to compare with, learned from training sequences."""

ALL_METHODS = METHODS | {"RCA": lambda data: RCA().fit(*stacked(data)).components_}
"""The same, and relevant component analysis."""


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
FULL = "large margin, full"


@cache
def short_sequences(seed: int, *, steps: bool = True, mixed: bool = False) -> Sequences:
    """Draw sequences of 80 points with 6 relevant and 10 irrelevant columns: 3 train, 6 test.

    Without `steps`, irrelevant columns are independent noise of the same variance. If `mixed`,
    all sequences are turned by the same random rotation, so that each column has a part of all.

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
    if mixed:
        turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(16, 16)))[0]
        series = [x @ turn for x in series]
    return Sequences(series[:3], labels[:3], series[3:], labels[3:])


def mean_losses(
    method: str,
    *,
    steps: bool = True,
    mixed: bool = False,
    min_length: int | str = "auto",
    calibrate: bool = True,
) -> Floats:
    """Mean test loss of a method in 20 short draws: of `ALL_METHODS` or a large margin.

    The price is chosen on the training sequences, or 1 if it is not calibrated.

    Examples
    --------
    >>> mean_losses("MLCA", steps=False).shape
    (20,)
    """
    return _mean_losses(method, steps, mixed, min_length, calibrate)


@cache
def _mean_losses(
    method: str, steps: bool, mixed: bool, min_length: int | str, calibrate: bool
) -> Floats:
    losses = []
    for seed in range(20):
        data = short_sequences(seed, steps=steps, mixed=mixed)
        if method in ALL_METHODS:
            losses.append(np.mean(calibrated(ALL_METHODS[method](data), data)))
            continue
        model = short_model(seed, min_length, steps, mixed, method == FULL)
        mapped = [model.transform(x) for x in data.test]
        price = model.penalty_ if calibrate else 1.0
        found = [segment(z, penalty=price, min_length=model.min_length_) for z in mapped]
        losses.append(np.mean(list(map(fast_loss, found, data.test_labels))))
    return np.array(losses)


@cache
def short_model(
    seed: int,
    min_length: int | str = "auto",
    steps: bool = True,
    mixed: bool = False,
    full: bool = False,
) -> LargeMarginMetric:
    """Learn from the three short training sequences of a draw.

    Examples
    --------
    >>> short_model(0).duality_gap_ <= 1e-3
    True
    """
    data = short_sequences(seed, steps=steps, mixed=mixed)
    with threadpool_limits(1):
        model = LargeMarginMetric(metric="full" if full else "diagonal", min_length=min_length)
        return model.fit(data.train, data.train_labels)


def relevant_share(seed: int) -> float:
    """Share of the weights that the six relevant columns of short sequences get.

    Examples
    --------
    >>> relevant_share(0) > 0.9
    True
    """
    weights = short_model(seed, "auto", True, False, False).get_mahalanobis_matrix().diagonal()
    return float(weights[:6].sum() / weights.sum())


def column_shares(data: Sequences) -> Floats:
    """Share of the scatter of each column that lies between the training segments.

    Examples
    --------
    >>> column_shares(small_sequences(3)).shape
    (9,)
    """
    rows, codes = stacked(data)
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


COLUMNS, TRAINING = (0, 10, 20, 40, 80, 160), (2, 3, 4, 5, 6)
"""Irrelevant columns and training sequences of the explorer."""


FITTED = Path(__file__).parents[1] / "irrelevant_columns.json"
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
