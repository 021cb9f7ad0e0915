"""Lajugie 2014, Figure 1 under twenty settings of what the paper does not say of its data.

Fixed by the paper: 600 time steps, 10 relevant columns, 290 others. Open: how large the levels and
the noise are, and which columns move together. Five kinds of columns, each at four levels of the
irrelevant ones; that of the relevant columns is 2. One unit is one draw of one setting, with
every method, so that methods are compared on the same draws.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from book.reproduction.lajugie2014_maps import ONE_SEGMENT, OURS, PENALTY
from book.reproduction.lajugie2014_sequences import FIGURE_SIZES, FROM_PCA, loss_on_test
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.datasets import make_change_points

LEVELS = (1.0, 2.0, 2.5, 4.0)  # standard deviation of the levels of irrelevant columns
GROUP = 10  # columns in a group
KINDS: dict[str, dict[str, Any]] = {
    "as in the figure": {},
    "relevant columns independent": {"n_factors": 10},
    "irrelevant columns in groups": {"grouped": True},
    "noise twice as large": {"noise": 2.0},
    "90 irrelevant columns": {"n_irrelevant": 90},
}
FEW = 0.2  # the smaller fraction of labels
WITH_ALL, WITH_FEW = "all labels", f"{FEW:.0%} of the labels"


class Cell(NamedTuple):
    """One number of a unit: a method, and the fraction of the labels it has."""

    row: str
    fraction: float


CELLS = {
    "one_segment": Cell(ONE_SEGMENT, 1.0),
    "pca3": Cell("PCA 3", 1.0),
    "pca4": Cell("PCA 4", 1.0),
    "penalty": Cell(PENALTY, 1.0),
    "rca3": Cell("RCA 3", 1.0),
    "rca4": Cell("RCA 4", 1.0),
    "large_margin": Cell(OURS, 1.0),
    "few_penalty": Cell(PENALTY, FEW),
    "few_rca3": Cell("RCA 3", FEW),
    "few_rca4": Cell("RCA 4", FEW),
    "few_from_pca": Cell(FROM_PCA, FEW),
    "few_large_margin": Cell(OURS, FEW),
}
UNLABELLED = ("one_segment", "pca3", "pca4")
TITLES = {
    key: row if key in UNLABELLED else f"{row}, {WITH_FEW if f < 1 else WITH_ALL}"
    for key, (row, f) in CELLS.items()
}


def setting(kind: str, level: float) -> str:
    """Name of a setting, as a row of the table."""
    return f"{kind}, {level:g}"


def settings_units(scale: str) -> list[Unit]:
    """Draws of every setting."""
    seeds = {"smoke": 1, "book": 2, "full": 20}[scale]
    levels = LEVELS[1:2] if scale == "smoke" else LEVELS
    return [
        {
            "row": setting(kind, level),
            "seed": seed,
            "irrelevant_level": level,
            **FIGURE_SIZES[scale],
            **options,
        }
        for seed in range(seeds)
        for kind, options in KINDS.items()
        for level in levels
    ]


def draw_series(
    seed: int, *, grouped: bool = False, noise: float = 1.0, **options: Any
) -> tuple[list[Floats], list[Integers]]:
    """Draw sequences; irrelevant columns in groups have the same steps, half of them negated."""
    if not grouped:
        return make_change_points(noise=noise, random_state=seed, **options)
    n_irrelevant = options.pop("n_irrelevant", 290)
    steps, labels = make_change_points(
        noise=0, n_irrelevant=n_irrelevant // GROUP, random_state=seed, **options
    )
    rng = np.random.default_rng(seed)
    signs = np.tile([1.0, -1.0], n_irrelevant // 2)
    series = []
    for x in steps:
        wide = np.hstack([x[:, :10], signs * np.repeat(x[:, 10:], GROUP, axis=1)])
        series.append(wide + noise * rng.standard_normal(wide.shape))
    return series, labels


def run_setting(unit: Unit) -> dict[str, float]:
    """Draw sequences once; every method learns from a third and segments the others."""
    options = {key: value for key, value in unit.items() if key not in ("row", "seed")}
    if "n_segments" in options:
        options["n_segments"] = tuple(options["n_segments"])
    series, labels = draw_series(unit["seed"], **options)
    return {key: loss_on_test(*cell, series, labels, unit["seed"]) for key, cell in CELLS.items()}
