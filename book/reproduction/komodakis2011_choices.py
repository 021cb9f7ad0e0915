"""Komodakis 2011: what the paper says of its regularizer, its inner rounds and its distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from book.reproduction.komodakis2011_exemplars import (
    cluster,
    learn,
    learn_as_printed,
    learn_weights,
)
from book.reproduction.komodakis2011_synthetic import SIZES, draw_sets
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.partitions import f_measure

ROUNDS = (1, 3, 10, 30)  # T, of ALL rounds
ALL = 300
WAYS = ("both ways, learned", "only symmetric")


def choice_units(scale: str) -> list[Unit]:
    """Both regularizers and all numbers of rounds, on the data of Figure 2, ρ = 0.8."""
    seeds = {"smoke": 1, "book": 2, "full": 20}[scale]
    sizes = {**SIZES["smoke" if scale == "smoke" else "book"], "n_sets": 2}
    common = {"rho": 0.8, **sizes}
    rows: list[tuple[str, dict[str, Any]]]
    rows = [(f"{norm} regularizer", {"regularizer": norm}) for norm in ("l1", "l2")]
    rows += [(f"T = {T}", {"inner_iter": T, "rounds": ALL}) for T in ROUNDS]
    return [
        {"row": row, "seed": seed, "options": options, **common}
        for row, options in rows
        for seed in range(seeds)
    ]


def run_choice(unit: Unit) -> dict[str, float]:
    """Learn with these options; say how good it is, and how far the objective fell."""
    train, options = draw_sets(unit, 0), unit["options"]
    test, truth = draw_sets(unit, 50)
    noisy = round(unit["rho"] * unit["n_features"])
    if "rounds" in options:
        w, path, price = learn_as_printed(*train, **options)
        found = [cluster(euclidean_distances(X * np.sqrt(w), squared=True), price) for X in test]
    else:
        model = learn(*train, **options)
        w, path = model.weights_, model.objective_path_
        found = [model.predict(X) for X in test]
    shares = w * np.mean([X.var(axis=0) for X in train[0]], axis=0)
    return {
        "f": float(np.mean([f_measure(*pair) for pair in zip(truth, found, strict=True)])),
        "noisy": shares[-noisy:].sum() / shares.sum(),
        "zero": float(np.mean(shares[-noisy:] == 0)),
        "objective": path.min() / path[0],
    }


def subsets(seed: int, n: int = 120, k: int = 6, n_items: int = 60) -> tuple[Floats, Integers]:
    """Draw sets of items: the first k have many, the others hold part of one of these.

    Also returns whose part each set is. Whatever set it is, an item is there or not by chance, too.
    """
    rng = np.random.default_rng(seed)
    whole = rng.random((k, n_items)) < 0.4
    y = np.r_[np.arange(k), rng.integers(k, size=n - k)]
    share = np.r_[np.ones(k), rng.uniform(0.15, 0.9, size=n - k)]
    inside = whole[y] & (rng.random((n, n_items)) < share[:, None])
    return inside.astype(float), y


def both_ways(sets: Floats) -> Floats:
    """Count the items of p that q lacks, and the items of q that p lacks."""
    lacking = sets @ (1 - sets).T
    return np.array([lacking, lacking.T])


def asymmetric_units(scale: str) -> list[Unit]:
    """Both distances, and their sum, on sets drawn anew."""
    seeds = {"smoke": 1, "book": 3, "full": 20}[scale]
    return [{"row": row, "seed": seed} for row in WAYS for seed in range(seeds)]


def run_asymmetric(unit: Unit) -> dict[str, float]:
    """Learn from one family of sets, cluster another."""
    stacks, labels = [], []
    for first in (0, 1000):
        sets, y = subsets(first + unit["seed"])
        stack = both_ways(sets)
        stacks.append(stack if unit["row"] == WAYS[0] else stack.sum(axis=0, keepdims=True))
        labels.append(y)
    model = learn_weights(stacks[0], labels[0])
    found = model.predict(stacks[1])
    shares = model.weights_ * model.scales_
    return {
        "f": f_measure(labels[1], found),
        "clusters": float(found.max() + 1),
        "forth": shares[0] / shares.sum(),
    }
