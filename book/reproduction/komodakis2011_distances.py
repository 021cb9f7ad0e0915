"""Komodakis 2011, Section 6: several distances per feature, of digits, textures and images."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from book.reproduction.correlation_clustering import CorrelationClusteringSVM
from book.reproduction.komodakis2011_exemplars import (
    PRICES,
    cluster,
    clustering_accuracy,
    learn,
    tuned_penalty,
)
from book.reproduction.units import Unit
from book.reproduction.views import distance_stack, image_views
from mlbook._arrays import Floats, Integers
from mlbook.datasets import (
    load_image_folder,
    load_texture_patches,
    load_views,
)


class DistanceSplit(NamedTuple):
    """Stacks of distances within the training and test data, and from test to training data."""

    train: Floats
    y: Integers
    test: Floats
    y_test: Integers
    across: Floats
    names: list[str]


KINDS = ("chi2", "l1", "l2", "rbf")


@lru_cache(maxsize=2)
def _views(data: str, patch: int, rotate: bool) -> tuple[dict[str, Floats], Integers]:
    if data == "digits":
        return load_views()
    if data == "textures":
        images, y = load_texture_patches(size=patch, rotate=rotate, random_state=0)
    else:
        images, y, _ = load_image_folder(data)
    return image_views(images), y


@lru_cache(maxsize=1)
def split(
    data: str,
    seed: int,
    kinds: tuple[str, ...],
    per_class: int | None,
    *,
    noise: bool = False,
    patch: int = 0,
    rotate: bool = False,
) -> DistanceSplit:
    """Draw half of the things of each class for training, the others for testing.

    The digits, whose features have all sorts of units and signs, are brought to [0, 1] by the
    range of the training data. Noise adds a Gaussian view of the same width for each view.
    """
    views, y = _views(data, patch, rotate)
    rng = np.random.default_rng(seed)
    rows: tuple[list[int], list[int]] = [], []
    for label in np.unique(y):
        chosen = rng.permutation(np.flatnonzero(y == label))[:per_class].tolist()
        rows[0].extend(chosen[: len(chosen) // 2])
        rows[1].extend(chosen[len(chosen) // 2 :])
    parts = [{name: X[part] for name, X in views.items()} for part in rows]
    if noise:
        for part in parts:
            part |= {f"noise {name}": rng.normal(size=X.shape) for name, X in part.items()}
    if data == "digits":
        scalers = {name: MinMaxScaler(clip=True).fit(X) for name, X in parts[0].items()}
        parts = [{name: scalers[name].transform(X) for name, X in part.items()} for part in parts]
    train, test = parts
    stack, names = distance_stack(train, kinds=kinds)
    within, _ = distance_stack(test, kinds=kinds, reference=train)
    across, _ = distance_stack(test, train, kinds=kinds, reference=train)
    return DistanceSplit(stack, y[rows[0]], within, y[rows[1]], across, names)


def unit_split(unit: Unit) -> DistanceSplit:
    """Return the split that a unit is about."""
    variant = {key: unit[key] for key in ("noise", "patch", "rotate") if key in unit}
    kinds = tuple(unit["kinds"])
    return split(unit["data"], unit["seed"], kinds, unit["per_class"], **variant)


def learned_shares(data: DistanceSplit) -> Floats:
    """Learn the weights of a split, at one price; their shares, for distances of equal means."""
    model = learn([data.train], [data.y], PRICES[-1:], "precomputed")
    weights = model.weights_ * model.scales_
    return weights / weights.sum()


def run_split(unit: Unit) -> dict[str, float]:
    """Cluster the test data, and classify it by the nearest training example."""
    data = unit_split(unit)
    if unit["method"] == "best single distance":
        return best_single(data)
    if unit["method"] == "SVM":
        train, test, across = (
            _similarity_features(s) for s in (data.train, data.test, data.across)
        )
        svm = CorrelationClusteringSVM().fit([train], [data.y])
        return judged(data, -svm.similarities(across), svm.predict(test))
    if unit["method"] == "average distance":
        penalty = tuned_penalty([data.train.mean(axis=0)], [data.y])
        found = cluster(data.test.mean(axis=0), penalty)
        return judged(data, data.across.mean(axis=0), found)
    prices = (unit["price"],) if "price" in unit else PRICES
    model = learn([data.train], [data.y], prices, "precomputed")
    across = np.tensordot(model.weights_, data.across, axes=1)
    values = judged(data, across, model.predict(data.test))
    weights = model.weights_ * model.scales_
    for key in ("noise", "rot-"):
        marked = np.array([name.startswith(key) for name in data.names])
        if marked.any():
            values[key.strip("-")] = weights[marked].sum() / weights.sum()
    return values


def best_single(data: DistanceSplit) -> dict[str, float]:
    """Best over the distances of each measure on the test data, as if one had known which."""
    single = []
    for train, test, across in zip(data.train, data.test, data.across, strict=True):
        penalty = tuned_penalty([train], [data.y])
        single.append(judged(data, across, cluster(test, penalty)))
    best = max(single, key=lambda values: values["accuracy"])
    return {**best, "nn": max(values["nn"] for values in single)}


def judged(data: DistanceSplit, across: Floats, labels: Integers) -> dict[str, float]:
    """Accuracies of a clustering of the test data, and of its nearest training examples."""
    return {
        "accuracy": clustering_accuracy(data.y_test, labels),
        "nn": float(np.mean(data.y[across.argmin(axis=1)] == data.y_test)),
        "clusters": float(labels.max() + 1),
    }


def _similarity_features(stack: Floats) -> Floats:
    """Negative distances, and a constant for the threshold."""
    return np.concatenate([-stack, np.ones((1, *stack.shape[1:]))])


SVM = "correlation-clustering SVM"
METHODS = {
    "learned": "learned",
    "best single distance": "best single distance",
    "average distance": "average distance",
    SVM: "SVM",
}
FIRST_SPLIT = 10  # the settings were settled on test results of splits 0 to 9 of the digits
ONE_KIND = "learned, one distance per view"
ONE_PRICE = "learned, price not tuned"


def split_units(
    scale: str,
    *,
    data: str,
    seeds: int = 10,
    per_class: int | None = None,
    kinds: tuple[str, ...] = KINDS,
    one_kind: bool = True,
    one_price: bool = False,
    variants: tuple[tuple[str, dict[str, Any]], ...] = (("", {}),),
) -> list[Unit]:
    """Every method on every split; a single distance is not tried on noise, which never wins."""
    if scale == "smoke":
        per_class, kinds = 12, kinds[::3]
    units: list[Unit] = []
    n_splits = {"smoke": 1, "book": 2, "full": seeds}[scale]
    for seed in range(FIRST_SPLIT, FIRST_SPLIT + n_splits):
        for end, variant in variants:
            if scale == "smoke" and "patch" in variant:
                variant = {**variant, "patch": 64}  # few of them
            common = {"seed": seed, "data": data, "per_class": per_class, **variant}
            for row, method in METHODS.items():
                if method != "best single distance" or not variant.get("noise"):
                    units.append({"row": row + end, "method": method, "kinds": kinds, **common})
            if one_price and not variant.get("noise"):
                fixed = {"row": ONE_PRICE + end, "method": "learned", "price": PRICES[0]}
                units.append({**fixed, "kinds": kinds, **common})
            if one_kind and not variant.get("noise"):
                one = {"row": ONE_KIND + end, "method": "learned", "kinds": ("chi2",)}
                units.append({**one, **common})
    return units
