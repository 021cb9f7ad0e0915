"""Law 2016, Table 5 on a stand-in: collages of textures, cut by k-means of their pixels."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from scipy.ndimage import uniform_filter

from book.reproduction.segmentation_scenes import (
    ONE_SEGMENT,
    SPLITS,
    PixelSplit,
    Scene,
    kmeans_losses,
    learn,
    mean_losses,
    time_ratio,
)
from book.reproduction.units import Unit
from mlbook._arrays import Floats
from mlbook.datasets import COLLAGE_TEXTURES, make_texture_collages
from mlbook.images import pixel_features
from mlbook.mlca import MLCA

SIZES5 = {
    "smoke": {"n_train": 16, "n_test": 2, "size": 32, "n_per_class": 60},
    "book": {"n_train": 40, "n_test": 10, "size": 96, "n_per_class": 300},
    "full": {"n_train": 60, "n_test": 50, "size": 96, "n_per_class": 1000},
}
WINDOW = 16  # side, in pixels, of the square over which the features of a pixel are averaged
METHODS5 = {
    "MLCA": "mlca",
    "KISSME": "kissme",
    "XQDA": "xqda",
    "ITML": "itml",
    "PCCA": "pcca",
    "MLCA, intercept": "mlca",
    "LDA": "lda",
    "Euclidean": "euclidean",
    ONE_SEGMENT: ONE_SEGMENT,
}


@lru_cache(maxsize=1)
def collage_split(seed: int, n_train: int, n_test: int, size: int, n_per_class: int) -> PixelSplit:
    """As many training pixels of every texture, and test collages from other photograph halves."""
    rng = np.random.default_rng(seed)
    draw = partial(make_texture_collages, size=size)
    images, masks = draw(n_train, part="train", random_state=2 * seed)
    y = masks.ravel()
    X = np.stack([texture_features(image) for image in images]).reshape(len(y), -1)
    classes = [np.flatnonzero(y == c) for c in range(len(COLLAGE_TEXTURES))]
    rows = np.concatenate(
        [rng.choice(each, min(n_per_class, len(each)), replace=False) for each in classes]
    )
    images, masks = draw(n_test, part="test", random_state=2 * seed + 1)
    test = [
        Scene(texture_features(image).reshape(-1, X.shape[1]), mask.ravel())
        for image, mask in zip(images, masks, strict=True)
    ]
    return PixelSplit(X[rows].astype(np.float64), y[rows], test)


def texture_features(image: Floats) -> Floats:
    """Dense SIFT and intensity, averaged over the window around each pixel."""
    return uniform_filter(pixel_features(image, None), size=(WINDOW, WINDOW, 1), mode="nearest")


def units5(scale: str) -> list[Unit]:
    """Every method on every draw of collages."""
    return [
        {"row": row, "seed": seed, "method": method, **SIZES5[scale]}
        for seed in range(SPLITS[scale])
        for row, method in METHODS5.items()
    ]


def run_table5(unit: Unit) -> dict[str, float]:
    """Learn from pixels of twelve textures; cut test collages into three."""
    method, seed = unit["method"], unit["seed"]
    split = collage_split(seed, *(unit[key] for key in SIZES5["full"]))
    truth = [scene.y for scene in split.test]
    if method == ONE_SEGMENT:
        return {"index": 1 - mean_losses(truth, [np.zeros_like(y) for y in truth])["rand"]}
    if method == "mlca":
        model = MLCA(fit_intercept=unit["row"].endswith("intercept"))

        def fit() -> Floats:
            return model.fit(split.X, split.y).components_
    else:
        fit = partial(learn, method, split.X, split.y, seed)
    components, ratio = time_ratio(fit, split.X, split.y)
    losses = kmeans_losses(split.test, components, 3, seed)
    values = {"index": 1 - losses["rand"], "index_spectral": 1 - losses["rand_spectral"]}
    return values if method in ("mlca", "euclidean") else values | {"time": ratio}
