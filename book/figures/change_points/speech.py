"""Real series: recordings of nine men, joined so that the speaker changes."""

import csv
import gzip
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from book.figures.change_points.cases import fast_loss
from book.figures.change_points.learning import (
    ALL_METHODS,
    FULL,
    LARGE_MARGIN,
    Sequences,
    best_price,
    losses_at,
    stacked,
)
from mlbook._arrays import Floats, Integers
from mlbook.changepoints import segment, segment_starts
from mlbook.datasets._sources import package_file
from mlbook.large_margin import LargeMarginMetric
from mlbook.partitions import normalized_assignment
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "ALPHAS",
    "FITTED",
    "SPEECH",
    "all_losses",
    "fitted",
    "fitted_speech",
    "held_out",
    "noise_ratio",
    "ranks",
    "recordings",
    "regularizers",
    "speech_losses",
    "speech_model",
    "strengths",
    "the_problem",
    "write_fitted",
    "write_recordings",
]

SPEECH = Path(__file__).parents[3] / "data" / "vowels.csv.gz"
"""270 recordings of two vowels; see data/README.md."""

LENGTH = 15  # recordings in a sequence
MIN_LENGTH = 5  # frames; the shortest recording has 7


@cache
def recordings() -> tuple[list[Floats], Integers]:
    """Read the recordings, each of shape (n_frames, 12), and who speaks, from 1 to 9.

    Examples
    --------
    >>> frames, speakers = recordings()
    >>> len(frames), frames[0].shape, np.bincount(speakers).tolist()
    (270, (20, 12), [0, 30, 30, 30, 30, 30, 30, 30, 30, 30])
    """
    with gzip.open(SPEECH, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    table = np.array(rows, dtype=np.float64)
    starts = np.flatnonzero(np.diff(table[:, 0], prepend=-1))
    return np.split(table[:, 2:], starts[1:]), table[starts, 1].astype(np.int64)


def write_recordings() -> None:
    """Write `SPEECH` anew, from the file that the package aeon carries, with three decimals."""
    name = "datasets/data/JapaneseVowels/JapaneseVowels_TRAIN.ts"
    lines = package_file("aeon", name, project="aeon").read_text(encoding="utf-8").splitlines()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["recording", "speaker", *(f"c{j}" for j in range(1, 13))])
    listed = [line for line in lines if line and not line.startswith(("#", "@"))]
    for number, line in enumerate(listed):
        *columns, speaker = line.split(":")
        frames = np.array([column.split(",") for column in columns], dtype=np.float64).T
        for frame in frames:
            writer.writerow([number, speaker, *(f"{value:.3f}" for value in frame)])
    with SPEECH.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        packed.write(text.getvalue().encode())


def _dealt(order: Integers, speakers: Integers, rng: np.random.Generator) -> Integers:
    """Exchange recordings until no two neighbours are by the same speaker."""
    order = order.copy()
    while len(same := np.flatnonzero(speakers[order[1:]] == speakers[order[:-1]])):
        pair = [same[0] + 1, rng.integers(len(order))]
        order[pair] = order[pair[::-1]]
    return order


@cache
def held_out(seed: int, *, n_train: int = 10) -> Sequences:
    """Deal speech of five men to training and of the other four to eight test sequences.

    A sequence has 15 recordings. Columns are divided by their deviation in the training
    sequences, and each sequence is centred.

    Examples
    --------
    >>> data = held_out(0)
    >>> len(data.train), len(data.test), data.train[0].shape[1], data.test_labels[0][-1]
    (10, 8, 12, np.int64(14))
    """
    rng = np.random.default_rng(seed)
    frames, speakers = recordings()
    men = rng.permutation(np.unique(speakers))
    parts: list[list[Integers]] = []
    for chosen in (men[:5], men[5:]):
        order = rng.permutation(np.flatnonzero(np.isin(speakers, chosen)))
        order = _dealt(order, speakers, rng)
        parts.append(np.split(order, len(order) // LENGTH))

    def joined(part: Integers) -> tuple[Floats, Integers]:
        rows = np.vstack([frames[i] for i in part])
        lengths = [len(frames[i]) for i in part]
        return rows - rows.mean(axis=0), np.repeat(np.arange(len(part)), lengths)

    train, test = ([joined(part) for part in half] for half in parts)
    train = train[:n_train]
    scale = np.vstack([rows for rows, _ in train]).std(axis=0)
    return Sequences(
        [rows / scale for rows, _ in train],
        [labels for _, labels in train],
        [rows / scale for rows, _ in test],
        [labels for _, labels in test],
    )


@cache
def speech_model(seed: int, **options: Any) -> LargeMarginMetric:
    """Learn a metric from the training sequences.

    Examples
    --------
    >>> speech_model(0, metric="full").duality_gap_ <= 1e-2
    True
    """
    data = held_out(seed)
    with threadpool_limits(1):
        model = LargeMarginMetric(min_length=MIN_LENGTH, tol=1e-2, **options)
        return model.fit(data.train, data.train_labels)


@cache
def speech_losses(method: str, seed: int) -> float:
    """Mean loss on the speech of men who were not heard in training, the price calibrated.

    Examples
    --------
    >>> speech_losses("Euclidean", 0) > 3
    True
    """
    data = held_out(seed)
    if method in ALL_METHODS:
        with threadpool_limits(1):
            components = ALL_METHODS[method](data)
            series = [x @ components.T for x in (*data.train, *data.test)]
            price = best_price(series[: len(data.train)], data.train_labels)
            losses = losses_at(series[len(data.train) :], data.test_labels, price)
    else:
        model = speech_model(seed, metric="full" if method == FULL else "diagonal")
        losses = _model_losses(model, data)
    return float(np.mean(losses))


def _regularized(seed: int, regularizer: str, alpha: float) -> dict[str, Any]:
    """Learn a full metric: its eigenvalues, the largest 1, and its loss on the test sequences."""
    model = speech_model(seed, metric="full", regularizer=regularizer, alpha=alpha)
    values = np.linalg.eigvalsh(model.get_mahalanobis_matrix())[::-1]
    loss = np.mean(_model_losses(model, held_out(seed)))
    return {
        "values": np.round(values / values[0], 4).tolist(),
        "loss": round(float(loss), 4),
    }


def _model_losses(model: LargeMarginMetric, data: Sequences) -> list[float]:
    with threadpool_limits(1):
        found = [model.predict(x) for x in data.test]
    return [fast_loss(a, b) for a, b in zip(found, data.test_labels, strict=True)]


ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Strengths of the regularizer in the explorer."""

FITTED = Path(__file__).parents[1] / "speech.json"
"""What is learned from the speech in 20 draws, which takes minutes."""


def fitted_speech(seed: int) -> dict[str, Any]:
    """Losses of all methods in one draw, and what each regularizer learns at each strength.

    Examples
    --------
    >>> fit = fitted_speech(0)
    >>> list(fit["losses"])
    ['Euclidean', 'PCA (3)', 'MLCA', 'RCA', 'large margin', 'large margin, full']
    """
    methods = [*ALL_METHODS, LARGE_MARGIN, FULL]
    strengths = {
        f"{name}, {alpha:g}": _regularized(seed, name, alpha)
        for name in ("l2", "trace")
        for alpha in ALPHAS
    }
    return {
        "losses": {name: round(speech_losses(name, seed), 4) for name in methods},
        "strengths": strengths,
    }


def write_fitted() -> None:
    """Write `FITTED` anew; a test compares it with what is found now."""
    fits = [fitted_speech(seed) for seed in range(20)]
    FITTED.write_text(json.dumps(fits, separators=(",", ":")) + "\n", encoding="utf-8")


@cache
def fitted() -> list[dict[str, Any]]:
    """Read `FITTED`.

    Examples
    --------
    >>> len(fitted())
    20
    """
    return json.loads(FITTED.read_text(encoding="utf-8"))


def all_losses(method: str) -> Floats:
    """Mean test loss of a method in the 20 draws of speech.

    Examples
    --------
    >>> all_losses("Euclidean").shape
    (20,)
    """
    return np.array([fit["losses"][method] for fit in fitted()])


def strengths(regularizer: str, what: str) -> Floats:
    """Return "loss" or "values" of each draw (rows) at each strength of a regularizer.

    Examples
    --------
    >>> strengths("trace", "loss").shape, strengths("l2", "values").shape
    ((20, 5), (20, 5, 12))
    """
    return np.array(
        [[fit["strengths"][f"{regularizer}, {a:g}"][what] for a in ALPHAS] for fit in fitted()]
    )


def ranks(regularizer: str) -> Floats:
    """Count the eigenvalues above a thousandth of the largest, for each draw and strength.

    Examples
    --------
    >>> ranks("trace").shape
    (20, 5)
    """
    return np.sum(strengths(regularizer, "values") > 1e-3, axis=2)


def the_problem(seed: int = 4, number: int = 2) -> Figure:
    """Draw a test sequence, what the learned metric sees of it, the changes, and the metric."""
    data, model = held_out(seed), speech_model(seed, metric="full")
    x, truth = data.test[number], data.test_labels[number]
    with threadpool_limits(1):
        price = best_price(data.train, data.train_labels)
        plain, learned = segment(x, penalty=price, min_length=MIN_LENGTH), model.predict(x)
    figure, axes = subplots(height=5.4)
    axes[0, 0].remove()
    grid = figure.add_gridspec(3, 2, width_ratios=[3.2, 1], height_ratios=[3, 1.6, 2.8])
    measured, seen, strip = (figure.add_subplot(grid[row, 0]) for row in range(3))
    matrix = figure.add_subplot(grid[0, 1])
    measured.imshow(x.T, aspect="auto", vmin=-3, vmax=3, interpolation="nearest")
    measured.set(xticks=[], yticks=[0, 11], yticklabels=[1, 12], title="12 numbers a frame")
    mapped = model.transform(x)
    spread = mapped.var(axis=0)
    strong = np.argsort(-spread)[: max(2, int(np.sum(spread > 0.05 * spread.max())))]
    mapped = mapped[:, strong]
    limit = 2 * mapped.std()
    seen.imshow(mapped.T, aspect="auto", vmin=-limit, vmax=limit, interpolation="nearest")
    seen.set(xticks=[], yticks=[], title="through the learned metric")
    names = ["true", "Euclidean", "learned"]
    for height, labels in enumerate([truth, plain, learned]):
        starts = segment_starts(labels)[1:]
        strip.vlines(starts - 0.5, -height - 0.38, -height + 0.38, color=COLORS[height])
        strip.plot(starts - 0.5, np.full(len(starts), -height), MARKERS[height], color=INK, ms=4)
        names[height] += f"\nΔ = {fast_loss(labels, truth):.1f}" if height else ""
    strip.set(yticks=[0, -1, -2], yticklabels=names, xlim=measured.get_xlim(), xlabel="frame")
    strip.set(ylim=(-2.6, 0.6))
    M = model.get_mahalanobis_matrix()
    limit = np.abs(M).max()
    matrix.imshow(M, cmap="PuOr_r", vmin=-limit, vmax=limit)
    matrix.set(xticks=[0, 11], xticklabels=[1, 12], yticks=[0, 11], yticklabels=[1, 12])
    matrix.set(title="learned M")
    return figure


def regularizers(alpha: float, regularizer: str) -> tuple[Figure, str]:
    """Draw the eigenvalues of one learned metric, and loss and rank for all strengths."""
    position = ALPHAS.index(alpha)
    values = strengths(regularizer, "values")[3, position]
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    kept = values > 1e-3
    number = np.arange(1, 13)
    for chosen, color, marker in [(kept, COLORS[0], "o"), (~kept, COLORS[6], "s")]:
        left.plot(number[chosen], values[chosen], marker, color=color)
    left.set(xlabel="eigenvalue", title="learned M", ylim=(-0.05, 1.1), xticks=[1, 4, 8, 12])
    for name, marker, style in [("l2", "o", "-"), ("trace", "s", "--")]:
        means = strengths(name, "loss").mean(axis=0)
        right.plot(ALPHAS, means, style, marker=marker, label=name)
    right.axvline(alpha, color=INK, linewidth=1, linestyle=":")
    right.set(xscale="log", xlabel="strength α", title="mean test loss Δ", ylim=(0, 14.5))
    right.legend(frameon=False, loc="upper left")
    loss = strengths(regularizer, "loss").mean(axis=0)[position]
    rank = ranks(regularizer).mean(axis=0)[position]
    return figure, (
        f"Regularizer {regularizer}, α = {alpha:g}: {kept.sum()} eigenvalues above a thousandth of "
        f"the largest in this draw, {rank:.1f} on average over 20; mean test loss {loss:.1f}."
    )


def noise_ratio(seed: int) -> float:
    """Variance of the noise within the training segments, strongest direction over weakest.

    Examples
    --------
    >>> noise_ratio(0) > 10
    True
    """
    rows, codes = stacked(held_out(seed))
    J = normalized_assignment(codes)
    values = np.linalg.svd(rows - J @ (J.T @ rows), compute_uv=False)
    return float((values[0] / values[-1]) ** 2)
