"""Lajugie 2014, Table 3: normalized cuts of horses under learned and searched weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from book.reproduction.segmentation_scenes import ONE_SEGMENT, Scene, split_numbers
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.datasets import load_horses
from mlbook.images import colour_and_position, resize_with_mask
from mlbook.ncuts import (
    NormalizedCutMetric,
    gaussian_affinity,
    normalized_cut,
    squared_differences,
)
from mlbook.partitions import partition_loss

SIZES3: dict[str, dict[str, Any]] = {
    "smoke": {"n_train": 2, "n_validation": 1, "n_test": 2, "height": 8, "max_iter": 2},
    "book": {"n_train": 5, "n_validation": 5, "n_test": 20, "height": 10, "max_iter": 5},
    "full": {"n_train": 10, "n_validation": 10, "n_test": 308, "height": 12, "max_iter": 10},
}
SPLITS3 = {"smoke": 1, "book": 1, "full": 5}
SCORE_WEIGHTS = (2.5, 5.0, 10.0)
LEARNED, GRID, DIFFERENCE = "learned metric", "grid search", "learned − grid search"


class Ranges(NamedTuple):
    """Mean exponents of a pair to choose from: of learned weights, and of the grid search."""

    scales: tuple[float, ...]
    colours: tuple[float, ...]
    places: tuple[float, ...]


RANGES3 = Ranges(
    scales=(0.5, 1.0, 2.0, 4.0),
    colours=(0.25, 0.5, 1.0, 2.0, 4.0),
    places=(0.0, 0.25, 1.0, 4.0),
)


class ThreeParts(NamedTuple):
    """Small images to learn from, to choose by, and to test on."""

    train: list[Scene]
    validation: list[Scene]
    test: list[Scene]


@lru_cache(maxsize=1)
def small_horses(
    seed: int, n_train: int, n_validation: int, n_test: int, height: int
) -> ThreeParts:
    """Colours and positions of the pixels of one random split."""
    images = load_horses()

    def scene(index: int) -> Scene:
        small, mask = resize_with_mask(*images[index], height)
        return Scene(colour_and_position(small, None).reshape(-1, 5), mask.ravel())

    train, test = split_numbers(len(images), seed, n_train + n_validation, n_test)
    chosen = [scene(int(index)) for index in train]
    return ThreeParts(chosen[:n_train], chosen[n_train:], [scene(int(index)) for index in test])


def cut(X: Floats, b: Floats) -> Integers:
    """Cut an image whose pixels are all joined into two parts."""
    edges = np.array(np.triu_indices(len(X), 1))
    return normalized_cut(gaussian_affinity(X, edges, b), 2, random_state=0)


def jaccard_distance(y: Integers, labels: Integers) -> float:
    """1 − overlap / union of the object, class 1, and the segment that fits it best.

    Examples
    --------
    >>> jaccard_distance(np.array([1, 1, 1, 0]), np.array([0, 0, 1, 1]))
    0.33333333333333337
    """
    inside = y == 1
    parts = [labels == part for part in np.unique(labels)]
    return 1 - max(float((inside & part).sum() / (inside | part).sum()) for part in parts)


def cut_losses(scenes: Sequence[Scene], b: Floats) -> Floats:
    """Loss of Eq. 8, unnormalized, and Jaccard distance of the cut of each image."""
    labels = [cut(scene.X, b) for scene in scenes]
    return np.array(
        [
            (partition_loss(scene.y, found), jaccard_distance(scene.y, found))
            for scene, found in zip(scenes, labels, strict=True)
        ]
    )


def grid_search(scenes: Sequence[Scene], ranges: Ranges = RANGES3) -> Floats:
    """Weights of least loss among those with one exponent for colour and one for position."""
    squares = [
        squared_differences(X, np.array(np.triu_indices(len(X), 1))).mean(axis=0) for X, _ in scenes
    ]
    spread = np.mean(squares, axis=0)
    grid = [
        np.repeat([colour / spread[:3].sum(), position / spread[3:].sum()], [3, 2])
        for colour, position in product(ranges.colours, ranges.places)
    ]
    return min(grid, key=lambda b: cut_losses(scenes, b)[:, 0].mean())


def learned_weights(
    train: Sequence[Scene],
    validation: Sequence[Scene],
    max_iter: int,
    ranges: Ranges = RANGES3,
) -> Floats:
    """Weights learned on the one, the weight of their score chosen on the other."""
    found = [
        NormalizedCutMetric(
            scales=ranges.scales, score_weight=weight, max_iter=max_iter, tol=1e-3, random_state=0
        )
        .fit([X for X, _ in train], [y for _, y in train])
        .weights_
        for weight in SCORE_WEIGHTS
    ]
    return min(found, key=lambda b: cut_losses(validation, b)[:, 0].mean())


@lru_cache(maxsize=2)
def split_losses(row: str, max_iter: int, *split: int) -> Floats:
    """Loss and Jaccard distance of every test image of a split."""
    parts = small_horses(*split)
    if row == GRID:
        b = grid_search([*parts.train, *parts.validation])
    else:
        b = learned_weights(parts.train, parts.validation, max_iter)
    return cut_losses(parts.test, b)


def units3(scale: str) -> list[Unit]:
    """Both metrics, and how they differ, on every split."""
    return [
        {"row": row, "seed": seed, **SIZES3[scale]}
        for seed in range(SPLITS3[scale])
        for row in (LEARNED, GRID, DIFFERENCE, ONE_SEGMENT)
    ]


def run_table3(unit: Unit) -> dict[str, float]:
    """Cut the test images; of the difference also its spread over them."""
    row, split = unit["row"], [unit[key] for key in ("seed", *SIZES3["full"]) if key != "max_iter"]
    if row == ONE_SEGMENT:
        truth = [scene.y for scene in small_horses(*split).test]
        found = np.array([(1.0, jaccard_distance(y, np.zeros_like(y))) for y in truth])
    elif row == DIFFERENCE:
        learned, grid = (split_losses(name, unit["max_iter"], *split) for name in (LEARNED, GRID))
        found = learned - grid
    else:
        found = split_losses(row, unit["max_iter"], *split)
    values = dict(zip(("loss", "jaccard"), found.mean(axis=0), strict=True))
    if row == DIFFERENCE:
        values |= dict(zip(("loss_sd", "jaccard_sd"), found.std(axis=0, ddof=1), strict=True))
    return values
