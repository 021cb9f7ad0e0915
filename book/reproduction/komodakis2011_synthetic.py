"""Komodakis 2011, Figure 2: synthetic data of which many features are noise."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from book.reproduction.komodakis2011_exemplars import cluster, learn, tuned_penalty
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.datasets import make_noisy_gaussians
from mlbook.partitions import f_measure

RHOS = (0.1, 0.3, 0.5, 0.7, 0.9)
DISTANCES = ("learned", "squared Euclidean", "standardised Euclidean")
SIZES = {
    "smoke": {"n_samples": 60, "n_features": 20, "n_clusters": 3, "n_sets": 2},
    "book": {"n_samples": 150, "n_features": 50, "n_clusters": 5, "n_sets": 3},
    "full": {"n_samples": 500, "n_features": 100, "n_clusters": 10, "n_sets": 10},
}
ITERATIONS = (1, 3, 10, 30, 100, 300)


def draw_sets(unit: Unit, first: int) -> tuple[list[Floats], list[Integers]]:
    """Draw as many data sets as the unit says; `first` keeps training and test data apart."""
    stream = 10_000 * round(100 * unit["rho"]) + 100 * unit["seed"] + first
    draws = [
        make_noisy_gaussians(
            unit["n_samples"],
            n_features=unit["n_features"],
            noisy_fraction=unit["rho"],
            n_clusters=unit["n_clusters"],
            random_state=stream + i,
        )
        for i in range(unit["n_sets"])
    ]
    return [X for X, _ in draws], [y for _, y in draws]


def figure2_units(scale: str) -> list[Unit]:
    """Every distance at every share of noisy features."""
    seeds = {"smoke": 1, "book": 1, "full": 3}[scale]
    return [
        {"row": f"{name}, ρ = {rho}", "seed": seed, "distance": name, "rho": rho, **SIZES[scale]}
        for rho in (RHOS[1::2] if scale == "smoke" else RHOS)
        for name in DISTANCES
        for seed in range(seeds)
    ]


def run_figure2(unit: Unit) -> dict[str, float]:
    """Learn or scale the features, cluster the test sets."""
    train, partitions = draw_sets(unit, 0)
    test, truth = draw_sets(unit, 50)
    values = {}
    if unit["distance"] == "learned":
        model = learn(train, partitions)
        found = [model.predict(X) for X in test]
        noisy = round(unit["rho"] * unit["n_features"])
        values["noisy"] = model.weights_[-noisy:].sum() / model.weights_.sum()
    else:
        plain = unit["distance"] == "squared Euclidean"
        scale = 1.0 if plain else np.concatenate(train).std(axis=0)
        within = [euclidean_distances(X / scale, squared=True) for X in train[:2]]
        penalty = tuned_penalty(within, partitions[:2])
        found = [cluster(euclidean_distances(X / scale, squared=True), penalty) for X in test]
    values["f"] = float(np.mean([f_measure(*pair) for pair in zip(truth, found, strict=True)]))
    values["clusters"] = float(np.mean([labels.max() + 1 for labels in found]))
    return values


def figure2a_units(scale: str) -> list[Unit]:
    """One run for each seed, of its own numbers of points and clusters, half the features noisy."""
    units: list[Unit] = []
    for seed in range({"smoke": 1, "book": 3, "full": 20}[scale]):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(100, 301)), int(rng.integers(4, 11))
        size = SIZES["smoke"] if scale == "smoke" else {"n_samples": n, "n_clusters": k}
        units.append({"row": "objective", "seed": seed, "rho": 0.5, **SIZES[scale], **size})
    return units


def run_figure2a(unit: Unit) -> dict[str, float]:
    """Objective over the iterations, as a share of that at the start."""
    path = np.minimum.accumulate(learn(*draw_sets(unit, 0)).objective_path_)
    return {f"after{i}": path[min(i, len(path) - 1)] / path[0] for i in ITERATIONS}
