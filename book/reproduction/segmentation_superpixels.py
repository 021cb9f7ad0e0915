"""Lajugie 2014, Table 3 and Figure 2 on superpixels: horses at full resolution, 200 to 400 nodes.

SLIC cuts an image into small patches of similar colour. A node of the graph is a patch with its
mean colour and place; losses count the pixels, so that no cut of the patches need be perfect.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from book.reproduction.segmentation_cuts import (
    DIFFERENCE,
    GRID,
    LEARNED,
    Ranges,
    cut,
    grid_search,
    jaccard_distance,
    learned_weights,
)
from book.reproduction.segmentation_scenes import ONE_SEGMENT, Scene, split_numbers
from book.reproduction.units import Unit
from book.spread import mean_of
from mlbook._arrays import Floats, Integers
from mlbook.datasets import load_horses
from mlbook.images import colour_and_position, resize_with_mask
from mlbook.partitions import partition_loss

SUPERPIXEL_SIZES: dict[str, dict[str, int]] = {
    "smoke": {"n_train": 2, "n_validation": 1, "n_test": 2, "n_segments": 30, "max_iter": 2},
    "book": {"n_train": 5, "n_validation": 5, "n_test": 20, "n_segments": 100, "max_iter": 5},
    "full": {"n_train": 10, "n_validation": 10, "n_test": 308, "n_segments": 300, "max_iter": 10},
}
TRUE_PATCHES = "true classes of the patches"
RANGES = Ranges(
    scales=(0.5, 1.0, 2.0, 4.0, 8.0),
    colours=(0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    places=(0.0, 0.25, 1.0, 4.0, 16.0),
)
N_HORSES = 328
ALL_IMAGES = "all test images"


class Superpixels(NamedTuple):
    """An image in patches.

    Attributes
    ----------
    X : ndarray of shape (n, 5)
        Mean colour and place of each patch.
    y : ndarray of shape (n,)
        The class of most of its pixels.
    counts : ndarray of shape (n, 2)
        Its pixels of each class.
    """

    X: Floats
    y: Integers
    counts: Integers


@lru_cache(maxsize=N_HORSES)
def superpixels(index: int, n_segments: int) -> Superpixels:
    """Cut one horse into about as many patches."""
    try:
        from skimage.segmentation import slic
    except ImportError as error:
        raise ImportError("this row needs scikit-image, of the extra 'reproduce'") from error
    image, mask = resize_with_mask(*load_horses()[index], None)
    patch = slic(image, n_segments=n_segments, compactness=10, start_label=0).ravel()
    patch = np.unique(patch, return_inverse=True)[1]
    features = colour_and_position(image, None).reshape(-1, 5)
    counts = np.stack([np.bincount(patch, mask.ravel() == part) for part in (0, 1)], axis=1)
    X = np.stack([np.bincount(patch, column) for column in features.T], axis=1)
    y = counts.argmax(axis=1)
    return Superpixels(X / counts.sum(axis=1, keepdims=True), y, counts.astype(np.int64))


def pixel_losses(counts: Integers, labels: Integers) -> tuple[float, float]:
    """Loss of Eq. 8, unnormalized, and Jaccard distance of the pixels, given labels of patches.

    Examples
    --------
    >>> pixel_losses(np.array([[6, 0], [0, 2]]), np.array([0, 1]))
    (0.0, 0.0)
    """
    truth = np.repeat(np.tile([0, 1], len(counts)), counts.ravel())
    found = np.repeat(np.repeat(labels, 2), counts.ravel())
    return partition_loss(truth, found), jaccard_distance(truth, found)


def superpixel_units(scale: str) -> list[Unit]:
    """Both metrics, how they differ, and two bounds, on every split."""
    return [
        {"row": row, "seed": seed, **SUPERPIXEL_SIZES[scale]}
        for seed in range({"smoke": 1, "book": 1, "full": 10}[scale])
        for row in (LEARNED, GRID, DIFFERENCE, ONE_SEGMENT, TRUE_PATCHES)
    ]


def sizes_of(unit: Unit) -> tuple[int, ...]:
    """Seed and sizes of the split of a unit."""
    return tuple(unit[key] for key in ("seed", *SUPERPIXEL_SIZES["full"]))


@lru_cache(maxsize=3)
def weights(row: str, *sizes: int) -> Floats:
    """Weights of colours and places, learned or searched on the known images of a split."""
    seed, n_train, n_validation, n_test, n_segments, max_iter = sizes
    known, _ = split_numbers(len(load_horses()), seed, n_train + n_validation, n_test)
    images = [superpixels(int(index), n_segments) for index in known]
    scenes = [Scene(image.X, image.y) for image in images]
    if row == GRID:
        return grid_search(scenes, RANGES)
    return learned_weights(scenes[:n_train], scenes[n_train:], max_iter, RANGES)


@lru_cache(maxsize=3)
def losses_by_image(row: str, *sizes: int) -> dict[int, tuple[float, float]]:
    """Loss and Jaccard distance of every test image of a split, by its number."""
    seed, n_train, n_validation, n_test, n_segments, _ = sizes
    _, test = split_numbers(len(load_horses()), seed, n_train + n_validation, n_test)
    found = {}
    for index in test.tolist():
        image = superpixels(index, n_segments)
        if row == ONE_SEGMENT:
            labels = np.zeros_like(image.y)
        else:
            labels = image.y if row == TRUE_PATCHES else cut(image.X, weights(row, *sizes))
        found[index] = pixel_losses(image.counts, labels)
    return found


def run_superpixels(unit: Unit) -> dict[str, float]:
    """Cut the test images; of the difference also its spread over them."""
    row, sizes = unit["row"], sizes_of(unit)
    if row != DIFFERENCE:
        found = np.array(list(losses_by_image(row, *sizes).values()))
        return dict(zip(("loss", "jaccard"), found.mean(axis=0).tolist(), strict=True))
    learned, grid = (
        np.array(list(losses_by_image(name, *sizes).values())) for name in (LEARNED, GRID)
    )
    loss, jaccard = (mean_of(column) for column in (learned - grid).T)
    root = float(np.sqrt(len(learned)))
    spreads = {"loss_sd": loss.error * root, "jaccard_sd": jaccard.error * root}
    return {"loss": loss.mean, "jaccard": jaccard.mean} | spreads


def figure2_units(scale: str) -> list[Unit]:
    """Every image by its name, and their mean, in the first split."""
    names = [f"horse{index + 1:03d}" for index in range(N_HORSES)]
    return [
        {"row": row, "seed": 0, "index": index, **SUPERPIXEL_SIZES[scale]}
        for index, row in enumerate([*names, ALL_IMAGES])
    ]


def run_figure2(unit: Unit) -> dict[str, float]:
    """Losses of one test image, or the mean of all; nothing for an image to learn from."""
    sizes = sizes_of(unit)
    values: dict[str, float] = {}
    for key, row in (("learned", LEARNED), ("grid", GRID), ("true", TRUE_PATCHES)):
        found = losses_by_image(row, *sizes)
        if unit["row"] == ALL_IMAGES:
            pair = np.mean(list(found.values()), axis=0).tolist()
        elif unit["index"] in found:
            pair = list(found[unit["index"]])
        else:
            continue
        values |= dict(zip((f"{key}_loss", f"{key}_jaccard"), pair, strict=True))
    return values
