"""Komodakis 2011, Section 6: several distances per feature, of scenes and textures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from book.reproduction.komodakis2011_exemplars import (
    clustering_accuracy,
    learn_weights,
    majority_accuracy,
    with_clusters,
)
from book.reproduction.komodakis2011_images import image_views, learn_codebooks
from book.reproduction.komodakis2011_rivals import (
    nca_weights,
    pair_features,
    svm_of_kernels,
    trained_svm,
)
from book.reproduction.units import Unit
from book.reproduction.views import KINDS, Plain, distance_stacks, plain_distances
from mlbook._arrays import Floats, Integers
from mlbook.datasets import load_image_folder, load_textures
from mlbook.exemplars import solve_exemplars

ITERATIONS = (0, 1, 3, 10, 30, 100, 300)  # at which the objective is kept
SVM = "correlation-clustering SVM"
PLAIN_SVM = f"{SVM}, every pair of the same weight"
MKL = "sum of kernels, SVM"
NCA = "nearest-neighbour learning (NCA)"
SINGLE, AVERAGE = "best single distance", "average distance"
ONE_KIND = "learned, one distance per view"


class Images(NamedTuple):
    """Distances between the images that are used, their classes and names."""

    plain: Plain
    y: Integers
    names: list[str]


class DistanceSplit(NamedTuple):
    """Stacks of distances within the training and test data, and from test to training data."""

    train: Floats
    y: Integers
    test: Floats
    y_test: Integers
    across: Floats
    names: list[str]
    test_rows: Integers


@lru_cache(maxsize=1)
def images(name: str, per_class: int | None) -> Images:
    """Compare some images of each class by every view.

    The words are learned from the images that are left, which are in no split; if none is, from
    all, without their classes.
    """
    folder = load_image_folder(name)
    rng = np.random.default_rng(0)
    classes = [rng.permutation(np.flatnonzero(folder.y == c)) for c in np.unique(folder.y)]
    used = np.concatenate([rows[:per_class] for rows in classes])
    left = np.setdiff1d(np.arange(len(folder)), used)
    codebooks = learn_codebooks([folder[int(i)] for i in (left if len(left) else used)])
    views = image_views([folder[int(i)] for i in used], codebooks)
    return Images(plain_distances(views), folder.y[used], [folder.names[i] for i in used])


def halves(y: Integers, seed: int, per_class: int | None) -> tuple[Integers, Integers]:
    """Draw half of the things of each class for training, the others for testing."""
    rng = np.random.default_rng(seed)
    train, test = [], []
    for label in np.unique(y):
        chosen = rng.permutation(np.flatnonzero(y == label))[:per_class]
        train.append(chosen[: len(chosen) // 2])
        test.append(chosen[len(chosen) // 2 :])
    return np.concatenate(train), np.concatenate(test)


@lru_cache(maxsize=1)
def split(
    data: str, seed: int, kinds: tuple[str, ...], per_class: int | None, noise: bool = False
) -> DistanceSplit:
    """Compare the two halves of a split.

    The textures' views are brought to [0, 1] by the range of the training data. Noise adds as many
    views of Gaussian numbers.
    """
    if data != "textures":
        found = images(data, per_class)
        train, test = halves(found.y, seed, None)
        stacks = distance_stacks(found.plain, train, test, kinds)
        return _split(stacks, found.y, train, test)
    views, y = load_textures()
    train, test = halves(y, seed, per_class)
    rows = np.concatenate([train, test])
    views = {name: X[rows] for name, X in views.items()}
    if noise:
        rng = np.random.default_rng([seed, 1])
        views |= {f"noise {i}": rng.normal(size=X.shape) for i, X in enumerate(views.values(), 1)}
    inside = np.arange(len(train)), np.arange(len(train), len(rows))
    scaled = {
        name: MinMaxScaler(clip=True).fit(X[inside[0]]).transform(X) for name, X in views.items()
    }
    return _split(distance_stacks(plain_distances(scaled), *inside, kinds), y[rows], *inside)


def _split(stacks: Any, y: Integers, train: Integers, test: Integers) -> DistanceSplit:
    return DistanceSplit(
        stacks.train, y[train], stacks.test, y[test], stacks.across, stacks.names, test
    )


def unit_split(unit: Unit) -> DistanceSplit:
    """Return the split that a unit is about."""
    return split(
        unit["data"], unit["seed"], tuple(unit["kinds"]), unit["per_class"], unit["noise"]
    )


def run_split(unit: Unit) -> dict[str, float]:
    """Cluster the test data, and classify it by the nearest training example."""
    data = unit_split(unit)
    return METHODS[unit["method"]](data, unit)


def learned(data: DistanceSplit, unit: Unit) -> dict[str, float]:
    """Weights learned as in the paper; with them the objective, and the exemplars of one split."""
    model = learn_weights(data.train, data.y)
    found = model.predict(data.test)
    values = judged(data, model.weights_) | as_found(data, found)
    shares = model.weights_ * model.scales_
    shares = shares / shares.sum()
    values |= {f"share of {name}": w for name, w in zip(data.names, shares, strict=True)}
    noisy = np.array([name.startswith("noise") for name in data.names])
    if noisy.any():
        values["noise"] = shares[noisy].sum()
    path = model.objective_path_
    values |= {f"objective{i}": path[min(i, len(path) - 1)] / path[0] for i in ITERATIONS}
    if unit["seed"] == FIRST_SPLIT and unit["data"] == "scenes15":
        D = np.tensordot(model.weights_, data.test, axes=1)
        chosen = solve_exemplars(D, model.penalty_, max_iter=100, random_state=0).exemplars
        names = images(unit["data"], unit["per_class"]).names
        for i, q in enumerate(chosen):
            values[f"exemplar{i}"] = image_code(names[data.test_rows[q]])
    return values


def best_single(data: DistanceSplit, unit: Unit) -> dict[str, float]:
    """Best over the distances of each measure on the test data, as if one had known which."""
    single = [judged(data, w) for w in np.eye(len(data.names))]
    return {key: max(values[key] for values in single) for key in single[0]}


def average(data: DistanceSplit, unit: Unit) -> dict[str, float]:
    """All weights the same."""
    return judged(data, np.ones(len(data.names)))


def neighbourhood(data: DistanceSplit, unit: Unit) -> dict[str, float]:
    """Weights learned for nearest neighbours only."""
    return judged(data, nca_weights(data.train, data.y))


def correlation(data: DistanceSplit, unit: Unit, *, balanced: bool) -> dict[str, float]:
    """The structured SVM that the paper compares with."""
    svm = trained_svm(data.train, data.y, balanced)
    similar = svm.similarities(pair_features(data.across))
    found = svm.predict(pair_features(data.test))
    return {"nn": nearest_accuracy(data, -similar), **as_found(data, found)}


def kernels(data: DistanceSplit, unit: Unit) -> dict[str, float]:
    """A classifier on a weighted sum of kernels; it does not cluster."""
    return {"nn": float(np.mean(svm_of_kernels(data.train, data.y, data.across) == data.y_test))}


METHODS = {
    "learned": learned,
    SINGLE: best_single,
    AVERAGE: average,
    NCA: neighbourhood,
    SVM: partial(correlation, balanced=True),
    PLAIN_SVM: partial(correlation, balanced=False),
    MKL: kernels,
}


def judged(data: DistanceSplit, weights: Floats) -> dict[str, float]:
    """Accuracies of the nearest training example, and of as many clusters as there are classes."""
    weights = weights.astype(data.test.dtype)
    found = with_clusters(np.tensordot(weights, data.test, axes=1), len(set(data.y_test)))
    return {
        "nn": nearest_accuracy(data, np.tensordot(weights, data.across, axes=1)),
        "one_to_one": clustering_accuracy(data.y_test, found),
        "majority": majority_accuracy(data.y_test, found),
    }


def as_found(data: DistanceSplit, labels: Integers) -> dict[str, float]:
    """Number of clusters that a method chose itself, and their accuracy."""
    accuracy = clustering_accuracy(data.y_test, labels)
    return {"clusters": float(labels.max() + 1), "accuracy": accuracy}


def nearest_accuracy(data: DistanceSplit, across: Floats) -> float:
    """Share of the test data whose nearest training example is of their class."""
    return float(np.mean(data.y[across.argmin(axis=1)] == data.y_test))


def image_code(name: str) -> int:
    """Write the name of a scene as a number, since results hold numbers only.

    Examples
    --------
    >>> image_code("Coast/image_0004"), image_name(image_code("Coast/image_0004"))
    (10004, 'Coast/image_0004')
    """
    scene, _, file = name.partition("/image_")
    return 10_000 * SCENES.index(scene) + int(file)


def image_name(code: float) -> str:
    """Return the name of which `image_code` made a number."""
    scene, number = divmod(int(code), 10_000)
    return f"{SCENES[scene]}/image_{number:04d}"


SCENES = (
    "Bedroom",
    "Coast",
    "Forest",
    "Highway",
    "Industrial",
    "InsideCity",
    "Kitchen",
    "LivingRoom",
    "Mountain",
    "Office",
    "OpenCountry",
    "Store",
    "Street",
    "Suburb",
    "TallBuilding",
)
FIRST_SPLIT = 10  # splits 0 to 9 were looked at while the settings were chosen


def split_units(
    scale: str,
    *,
    data: str,
    methods: Mapping[str, str],
    per_class: int | None = 80,
    noise: bool = False,
) -> list[Unit]:
    """Every row on every split; with `noise` a second time with views of noise.

    `methods` gives the method of each row; `ONE_KIND` has the χ² distance only.
    """
    small = scale == "smoke"
    units: list[Unit] = []
    for seed in range(FIRST_SPLIT, FIRST_SPLIT + {"smoke": 1, "book": 2, "full": 10}[scale]):
        for noisy in (False, True)[: 1 + noise]:
            for row, method in methods.items():
                kinds = KINDS[:1] if row == ONE_KIND else KINDS[::3] if small else KINDS
                units.append(
                    {
                        "row": f"{row}, with noise" if noisy else row,
                        "seed": seed,
                        "method": method,
                        "data": data,
                        "kinds": kinds,
                        "per_class": 12 if small else per_class,
                        "noise": noisy,
                    }
                )
    return units
