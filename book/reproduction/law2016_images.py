"""Law 2016, Table 4, beyond its rows: the method of Lajugie et al., test times, and why Flowers.

A training image gives a few hundred pixels of known class, and a test image all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from book.reproduction.segmentation_scenes import (
    SPLITS,
    Scene,
    kmeans_losses,
    mean_losses,
    segment,
    split_numbers,
)
from book.reproduction.units import Unit, timed
from mlbook._arrays import Floats, Integers
from mlbook.datasets import LabelledImages, load_flowers, load_horses
from mlbook.images import pixel_features, resize_with_mask
from mlbook.kmeans import spectral_embedding
from mlbook.large_margin import LargeMarginMetric
from mlbook.mlca import MLCA, BinaryMLCA

LOADERS: dict[str, Callable[[], LabelledImages]] = {"horses": load_horses, "flowers": load_flowers}
SIZES: dict[str, dict[str, int]] = {
    "smoke": {"n_train": 4, "n_test": 2, "height": 24, "n_pixels": 60},
    "book": {"n_train": 20, "n_test": 6, "height": 40, "n_pixels": 100},
    "full": {"n_train": 200, "n_test": 50, "height": 60, "n_pixels": 150},
}
SIFT, COLOUR = slice(0, 128), slice(128, 135)
# Row to the class of pixels in doubt, the columns used, and the width of a SIFT cell.
VARIANTS: dict[str, tuple[int, slice, float]] = {
    "pixels in doubt left out": (-1, slice(None), 4.0),
    "pixels in doubt are background": (0, slice(None), 4.0),
    "pixels in doubt are flower": (1, slice(None), 4.0),
    "SIFT alone": (-1, SIFT, 4.0),
    "colour alone": (-1, COLOUR, 4.0),
    "SIFT cells half as wide": (-1, slice(None), 2.0),
    "SIFT cells twice as wide": (-1, slice(None), 8.0),
}


@lru_cache(maxsize=1)
def scenes(
    data: str, seed: int, n_train: int, n_test: int, height: int, n_pixels: int, cell: float
) -> tuple[list[Scene], list[Scene]]:
    """Pixels drawn from the training images, those in doubt among them, and the test images."""
    images = LOADERS[data]()

    def scene(index: int) -> Scene:
        small, mask = resize_with_mask(*images[index], height)
        X = pixel_features(small, None, cell_size=cell)
        return Scene(X.reshape(-1, X.shape[2]), mask.ravel())

    rng = np.random.default_rng(seed)
    train, test = split_numbers(len(images), seed, n_train, n_test)
    drawn = []
    for index in train:
        X, y = scene(int(index))
        rows = rng.choice(len(y), min(n_pixels, len(y)), replace=False)
        drawn.append(Scene(X[rows].astype(np.float64), y[rows]))
    return drawn, [scene(int(index)) for index in test]


def known(scene: Scene) -> Scene:
    """Keep the pixels of known class."""
    return Scene(scene.X[scene.y != -1], scene.y[scene.y != -1])


def stacked(train: list[Scene]) -> tuple[Floats, Integers]:
    """Put the pixels of all images into one matrix."""
    return np.concatenate([s.X for s in train]), np.concatenate([s.y for s in train])


# The method of Lajugie et al., and test times


def lajugie_units(scale: str) -> list[Unit]:
    """Both methods on every split of both sets."""
    return [
        {"row": row, "seed": seed, "data": data, **SIZES[scale]}
        for data in LOADERS
        for seed in range(SPLITS[scale])
        for row in ("Lajugie et al.", "multivariate MLCA")
    ]


def run_lajugie(unit: Unit) -> dict[str, float]:
    """Learn from the same pixels, image by image or all in one; segment the test images."""
    data, seed = unit["data"], unit["seed"]
    sizes = {key: unit[key] for key in SIZES["full"]}
    drawn, test = scenes(data, seed, **sizes, cell=4.0)
    train = [known(scene) for scene in drawn]
    train = [scene for scene in train if len(set(scene.y)) == 2]
    X, y = stacked(train)

    def fit_mlca() -> Floats:
        return MLCA().fit(X, y).components_

    def fit_margin() -> Floats:
        model = LargeMarginMetric(structure="spectral", n_clusters="known", tol=0.01)
        return model.fit(*zip(*train, strict=True)).components_

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "the learned metric is zero")
        of_mlca = unit["row"] == "multivariate MLCA"
        components, seconds = timed(fit_mlca if of_mlca else fit_margin)
    if components.any():
        values = kmeans_losses(test, components, 2, seed)
    else:  # all pixels at one place
        values = mean_losses([s.y for s in test], [np.zeros_like(s.y) for s in test])
    if of_mlca:
        values |= {"test": test_time_ratio(test, components, BinaryMLCA().fit(X, y), seed)}
    else:
        values |= {"time": seconds / timed(fit_mlca)[1], "zero": float(not components.any())}
    return {f"{data}_{key}": value for key, value in values.items()}


def test_time_ratio(test: list[Scene], components: Floats, rule: BinaryMLCA, seed: int) -> float:
    """Return how many times longer k-means after the spectral step takes than the sign rule."""

    def by_kmeans() -> list[Integers]:
        maps = [s.X @ components.T.astype(s.X.dtype) for s in test]
        return [segment(spectral_embedding(Z, 2), 2, seed) for Z in maps]

    return timed(by_kmeans)[1] / timed(lambda: [rule.cluster(s.X) for s in test])[1]


# What makes the losses of Flowers so low


def flowers_units(scale: str) -> list[Unit]:
    """Every variant on every split."""
    return [
        {"row": row, "seed": seed, **SIZES[scale]}
        for seed in range(SPLITS[scale])
        for row in VARIANTS
    ]


def run_flowers(unit: Unit) -> Mapping[str, float]:
    """Both forms of MLCA and one segment, in one variant."""
    doubt, columns, cell = VARIANTS[unit["row"]]
    sizes = {key: unit[key] for key in SIZES["full"]}
    parts = [
        [Scene(s.X[:, columns], np.where(s.y == -1, doubt, s.y)) for s in part]
        for part in scenes("flowers", unit["seed"], **sizes, cell=cell)
    ]
    train, test = [known(scene) for scene in parts[0]], parts[1]
    X, y = stacked(train)
    truth = [scene.y for scene in test]
    rule = BinaryMLCA().fit(X, y)
    found: dict[str, Any] = {
        "multivariate": kmeans_losses(test, MLCA().fit(X, y).components_, 2, unit["seed"]),
        "univariate": mean_losses(truth, [rule.cluster(scene.X) for scene in test]),
        "one": mean_losses(truth, [np.zeros_like(labels) for labels in truth]),
    }
    return {
        f"{form}_{loss}": losses[loss]
        for form, losses in found.items()
        for loss in ("delta", "rand")
    }
