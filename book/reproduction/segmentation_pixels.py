"""Law 2016, Table 4: metrics learned from the pixels of labelled images, Horses and Flowers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np

from book.reproduction.segmentation_scenes import (
    ONE_SEGMENT,
    SPLITS,
    PixelSplit,
    Scene,
    kmeans_losses,
    learn,
    mean_losses,
    split_numbers,
    time_ratio,
)
from book.reproduction.units import Unit, timed
from mlbook._arrays import Integers
from mlbook.datasets import LabelledImages, load_flowers, load_horses
from mlbook.images import colour_and_position, pixel_features, resize_with_mask
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.ncuts import gaussian_affinity, grid_edges, normalized_cut, squared_differences


def draw_rows(y: Integers, n_rows: int, seed: int) -> Integers:
    """Draw rows, or take them all if there are no more."""
    n_rows = min(n_rows, len(y))
    return np.sort(np.random.default_rng(seed).choice(len(y), n_rows, replace=False))


LOADERS: dict[str, Callable[[], LabelledImages]] = {
    "horses": load_horses,
    "flowers": load_flowers,
}
SIZES4: dict[str, dict[str, int]] = {
    "smoke": {"n_train": 4, "n_test": 2, "height": 24, "n_rows": 400, "n_lmnn": 30},
    "book": {"n_train": 40, "n_test": 10, "height": 50, "n_rows": 10_000, "n_lmnn": 100},
    "full": {"n_train": 200, "n_test": 50, "height": 100, "n_rows": 50_000, "n_lmnn": 150},
}
NCUT_HEIGHT, NCUT_SCALE, NCUT_RADIUS = 60, 4.0, 5.0
# Row to what is done; the paper does not have the last four.
METHODS4 = {
    "univariate MLCA": "univariate",
    "multivariate MLCA": "multivariate",
    "Ncuts": "ncuts",
    "KISSME": "kissme",
    "XQDA": "xqda",
    "ITML": "itml",
    "PCCA": "pcca",
    "LMNN": "lmnn",
    "univariate MLCA, intercept": "univariate",
    "multivariate MLCA, intercept": "multivariate",
    "Euclidean": "euclidean",
    ONE_SEGMENT: ONE_SEGMENT,
}


@lru_cache(maxsize=1)
def pixel_split(data: str, seed: int, n_train: int, n_test: int, height: int) -> PixelSplit:
    """Features of one split; float32, about a gigabyte and a half for 200 images."""
    images = LOADERS[data]()

    def scene(index: int) -> Scene:
        small, mask = resize_with_mask(*images[index], height)
        X = pixel_features(small, None)
        return Scene(X.reshape(-1, X.shape[2]), mask.ravel())

    train, test = split_numbers(len(images), seed, n_train, n_test)
    known = []
    for index in train:
        X, y = scene(int(index))
        known.append(Scene(X[y != -1], y[y != -1]))
    X, y = (np.concatenate(part) for part in zip(*known, strict=True))
    return PixelSplit(X, y, [scene(int(index)) for index in test])


def units4(scale: str) -> list[Unit]:
    """Every method on every split of both sets."""
    return [
        {
            "row": row,
            "seed": seed,
            "data": data,
            "method": method,
            "intercept": row.endswith("intercept"),
            **SIZES4[scale],
        }
        for data in LOADERS
        for seed in range(SPLITS[scale])
        for row, method in METHODS4.items()
    ]


def run_table4(unit: Unit) -> dict[str, float]:
    """Segment the test images of one split."""
    data, method, seed = unit["data"], unit["method"], unit["seed"]
    if method == "ncuts":
        return named(data, ncut_losses(unit))
    split = pixel_split(data, seed, unit["n_train"], unit["n_test"], unit["height"])
    truth = [scene.y for scene in split.test]
    if method == ONE_SEGMENT:
        return named(data, mean_losses(truth, [np.zeros_like(y) for y in truth]))
    if method == "univariate":
        rule = BinaryMLCA(fit_intercept=unit["intercept"]).fit(split.X, split.y)
        return named(data, mean_losses(truth, [rule.cluster(scene.X) for scene in split.test]))
    if method == "multivariate":
        model = MLCA(fit_intercept=unit["intercept"])
        components, seconds = timed(lambda: model.fit(split.X, split.y).components_)
        values = {} if unit["intercept"] else {"seconds": seconds}
    else:
        rows = draw_rows(split.y, unit["n_rows"], seed)
        X, y = split.X[rows].astype(np.float64), split.y[rows]
        kept = draw_rows(y, unit["n_lmnn"], seed) if method == "lmnn" else slice(None)
        components, ratio = time_ratio(partial(learn, method, X[kept], y[kept], seed), X, y)
        values = {} if method == "euclidean" else {"time": ratio}
    return named(data, values | kmeans_losses(split.test, components, 2, seed))


def named(data: str, values: Mapping[str, float]) -> dict[str, float]:
    """Put the name of the images before the names of the columns."""
    return {f"{data}_{key}": value for key, value in values.items()}


def ncut_losses(unit: Unit) -> dict[str, float]:
    """Losses of normalized cuts of colour, each image scaled to itself; nothing is learned."""
    images = LOADERS[unit["data"]]()
    _, test = split_numbers(len(images), unit["seed"], unit["n_train"], unit["n_test"])
    truth, found = [], []
    for index in test:
        small, mask = resize_with_mask(*images[int(index)], min(unit["height"], NCUT_HEIGHT))
        colours = colour_and_position(small, None)[:, :, :3].reshape(-1, 3)
        edges = grid_edges(mask.shape[0], mask.shape[1], NCUT_RADIUS)
        spread = squared_differences(colours, edges).mean(axis=0)
        b = NCUT_SCALE / 3 / np.maximum(spread, 1e-12)  # an image may be grey
        found.append(normalized_cut(gaussian_affinity(colours, edges, b), 2, random_state=0))
        truth.append(mask.ravel())
    return mean_losses(truth, found)
