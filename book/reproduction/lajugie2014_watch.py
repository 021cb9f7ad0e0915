"""Lajugie 2014, Table 1 on a stand-in: movements measured by a smartwatch."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from book.reproduction.lajugie2014_maps import (
    FULL_METRIC,
    ONE_SEGMENT,
    OURS,
    PENALTY,
    TRUE_NUMBER,
    Predict,
    kernel_segment,
    map_and_segment,
    mean_loss,
    pca,
    rca,
    tuned_penalty,
)
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.changepoints import segment
from mlbook.datasets import load_watch
from mlbook.large_margin import LargeMarginMetric

STREAMS = {
    "accelerometer": slice(0, 6),
    "gyroscope": slice(6, 12),
    "both": slice(0, 12),
    "noise": slice(0, 36),
}
N_NOISE = 24
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
MIN_LENGTH = 5
KERNEL = "ruptures, Gaussian kernel, penalty only"
METHODS1 = (
    ONE_SEGMENT,
    PENALTY,
    TRUE_NUMBER,
    "PCA 3",
    "PCA 3, true number",
    "RCA 3, true number",
    "RCA, true number",
    KERNEL,
    OURS,
    FULL_METRIC,
)


def watch_units(scale: str) -> list[Unit]:
    """Every method on every stream, persons rotated through training, validation and test."""
    window = 100 if scale == "smoke" else 50
    return [
        {"row": row, "seed": seed, "stream": stream, "window": window}
        for seed in range({"smoke": 1, "book": 2, "full": 5}[scale])
        for stream in STREAMS
        for row in METHODS1
        if (stream != "noise" or row != FULL_METRIC)
        and (scale != "smoke" or stream == "gyroscope" or row == PENALTY)
    ]


@lru_cache(maxsize=1)
def _watch_data(window: int) -> tuple[list[Floats], list[Integers]]:
    """Return centred sequences of all persons, noise columns appended."""
    series, labels = load_watch(window=window, random_state=0)
    rng = np.random.default_rng(0)
    noisy = [np.hstack([x, noise_columns(len(x), N_NOISE, 14, rng)]) for x in series]
    return [x - x.mean(axis=0) for x in noisy], labels


def noise_columns(n: int, n_columns: int, k: int, rng: np.random.Generator) -> Floats:
    """Draw columns with k levels each, of deviation 2 and at places of their own, and noise."""
    columns = np.empty((n, n_columns))
    for column in range(n_columns):
        starts = np.sort(rng.choice(np.arange(1, n), k - 1, replace=False))
        own = np.searchsorted(starts, np.arange(n), side="right")
        columns[:, column] = 2 * rng.standard_normal(k)[own] + rng.standard_normal(n)
    return columns


def run_watch(unit: Unit) -> dict[str, float]:
    """Learn from 4 persons, choose on 3, test on 3."""
    everyone, labels = _watch_data(unit["window"])
    order = np.roll(np.arange(10), 2 * unit["seed"])
    columns = STREAMS[unit["stream"]]
    series = [everyone[i][:, columns] for i in order]
    return {unit["stream"]: loss_of(unit["row"], series, [labels[i] for i in order])}


def loss_of(row: str, series: list[Floats], labels: list[Integers]) -> float:
    """Learn from four centred sequences, choose on the next three; mean loss on the others."""
    pooled = np.concatenate(series[:4]).std(axis=0)
    scaled = [x / pooled for x in series]
    predict = _method(row, scaled[:7], labels[:7])
    found = [predict(x, int(y[-1]) + 1) for x, y in zip(scaled[7:], labels[7:], strict=True)]
    return mean_loss(found, labels[7:])


def _method(row: str, series: list[Floats], labels: list[Integers]) -> Predict:
    if row.startswith(OURS):
        return _validated_model(row, series, labels)
    if row == ONE_SEGMENT:
        return lambda x, k: np.zeros(len(x), dtype=np.int64)
    components = np.eye(series[0].shape[1])
    if row.startswith("PCA"):
        components = pca(series, 3)
    if row.startswith("RCA"):
        components = rca(series, labels, 3 if "3" in row else len(components), True)
    if "true number" in row:
        return map_and_segment(components, MIN_LENGTH)
    cut = kernel_segment if row == KERNEL else segment
    mapped = [x @ components for x in series]
    penalty = tuned_penalty(mapped, labels, MIN_LENGTH, cut)
    return lambda x, k: cut(x @ components, penalty=penalty, min_length=MIN_LENGTH)


def _validated_model(row: str, series: list[Floats], labels: list[Integers]) -> Predict:
    """Learn from the first four sequences at each α; keep the least loss on the other three."""
    best: tuple[float, Any] = np.inf, None
    for alpha in ALPHAS:
        model = LargeMarginMetric(
            metric="full" if "full" in row else "diagonal",
            alpha=alpha,
            min_length=MIN_LENGTH,
            tol=1e-2,
            max_iter=100,
        )
        with warnings.catch_warnings():  # how far the objective came is no matter here
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(series[:4], labels[:4])
        loss = mean_loss([model.predict(x) for x in series[4:]], labels[4:])
        best = min(best, (loss, model), key=lambda pair: pair[0])
    chosen: LargeMarginMetric = best[1]
    return lambda x, k: chosen.predict(x)
