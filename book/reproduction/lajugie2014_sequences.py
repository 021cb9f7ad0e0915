"""Lajugie 2014, Figure 1: sequences of which many columns are irrelevant, a part labelled."""

from __future__ import annotations

import warnings
from functools import lru_cache, partial
from typing import Any

import numpy as np

from book.reproduction.lajugie2014_maps import (
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
from mlbook.datasets import hide_labels, make_change_points
from mlbook.large_margin import LargeMarginMetric

FRACTIONS = (0.1, 0.2, 0.4, 0.7, 1.0)
FIGURE_SIZES: dict[str, dict[str, Any]] = {
    "smoke": {"n_series": 6, "n_samples": 200, "n_irrelevant": 20, "n_segments": (3, 4)},
    "book": {"n_series": 16},
    "full": {"n_series": 30},
}
MIN_LENGTH = 10
KERNEL = "ruptures, Gaussian kernel, true number"
PLAIN = "large margin, not calibrated"
FROM_PCA = "large margin, from PCA"
WITHOUT_LABELS = (ONE_SEGMENT, TRUE_NUMBER, "PCA 3", "PCA 4", KERNEL)
WITH_LABELS = (PENALTY, "RCA 3", "RCA 4", "RCA 3, windows centred", PLAIN, FROM_PCA, OURS)


def figure1_units(scale: str) -> list[Unit]:
    """Every method at every fraction of labels; those that use none get all fractions at once."""
    shown = (0.4, 1.0) if scale == "smoke" else FRACTIONS
    units: list[Unit] = []
    for seed in range({"smoke": 1, "book": 2, "full": 20}[scale]):
        common = {"seed": seed, **FIGURE_SIZES[scale]}
        for row in WITHOUT_LABELS:
            units.append({"row": row, "fractions": FRACTIONS, **common})
        for row in WITH_LABELS:
            units.extend({"row": row, "fractions": (f,), **common} for f in shown)
    return units


@lru_cache(maxsize=1)
def _figure1_data(seed: int, **sizes: Any) -> tuple[list[Floats], list[Integers]]:
    return make_change_points(random_state=seed, **sizes)


def run_figure1(unit: Unit) -> dict[str, float]:
    """Learn from a third of the sequences, at most 10, and segment the others."""
    sizes = {key: unit[key] for key in FIGURE_SIZES["smoke"] if key in unit}
    if "n_segments" in sizes:
        sizes["n_segments"] = tuple(sizes["n_segments"])
    series, labels = _figure1_data(unit["seed"], **sizes)
    loss = loss_on_test(unit["row"], unit["fractions"][0], series, labels, unit["seed"])
    return {fraction_key(fraction): loss for fraction in unit["fractions"]}


def loss_on_test(
    row: str, fraction: float, series: list[Floats], labels: list[Integers], seed: int
) -> float:
    """Learn from a third of the sequences, a fraction of their labels known; test on the rest."""
    n = len(series) // 3
    known = hide_labels(labels[:n], fraction, random_state=seed)
    predict = _method(row, series[:n], known)
    found = [predict(x, int(y[-1]) + 1) for x, y in zip(series[n:], labels[n:], strict=True)]
    return mean_loss(found, labels[n:])


def fraction_key(fraction: float) -> str:
    """Key of the column of a fraction of labels."""
    return f"at{round(100 * fraction)}"


def _method(row: str, series: list[Floats], known: list[Integers]) -> Predict:
    windows = [x[y >= 0] for x, y in zip(series, known, strict=True)]
    truth = [y[y >= 0] for y in known]
    if row == ONE_SEGMENT:
        return lambda x, k: np.zeros(len(x), dtype=np.int64)
    if row == TRUE_NUMBER:
        return map_and_segment(np.eye(series[0].shape[1]), MIN_LENGTH)
    if row == KERNEL:
        return partial(kernel_segment, min_length=MIN_LENGTH)
    if row == PENALTY:
        penalty = tuned_penalty(windows, truth, MIN_LENGTH)
        return lambda x, k: segment(x, penalty=penalty, min_length=MIN_LENGTH)
    if row.startswith("PCA"):
        return map_and_segment(pca(series, int(row[-1])), MIN_LENGTH)
    if row.startswith("RCA"):
        return map_and_segment(rca(windows, truth, int(row[4]), "centred" in row), MIN_LENGTH)
    model = LargeMarginMetric(
        min_length=MIN_LENGTH,
        calibrate=row != PLAIN,
        init="pca" if row == FROM_PCA else "labelled",
        max_alternations=5,
    )
    with warnings.catch_warnings():  # "the learned metric is zero" is a result here
        warnings.filterwarnings("ignore", "the learned metric is zero", UserWarning)
        model.fit(series, known)
    return lambda x, k: model.predict(x)
