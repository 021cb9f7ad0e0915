"""Law 2016, Tables 2 and 3: the training sizes given to the categories in all six orders."""

from __future__ import annotations

from itertools import permutations

from book.reproduction.law2016_clusters import SETTINGS, cluster_loss
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.baselines import METRICS
from mlbook.datasets import make_crossed_clusters
from mlbook.kmeans import spectral_embedding
from mlbook.mlca import MLCA

SEEDS = {"smoke": 1, "book": 3, "full": 20}
ORDERS = tuple(permutations((1, 2, 4)))
METHODS = ("MLCA", "Euclidean", "KISSME", "Regression on Y")
UNIT_SIZE = 500  # training points per cloud of the smallest category
N_TEST = 1000


def order_units(scale: str) -> list[Unit]:
    """Every order of both tables on every seed."""
    shrink = 25 if scale == "smoke" else 1
    return [
        {
            "row": f"Table {table}, {':'.join(map(str, order))}",
            "seed": seed,
            "train": [UNIT_SIZE * size // shrink for size in order],
            "test": N_TEST // shrink,
            "noise": SETTINGS[table].noise,
        }
        for table in (2, 3)
        for order in ORDERS
        for seed in range(SEEDS[scale])
    ]


def learned(method: str, X: Floats, y: Integers) -> Floats:
    """Learn a map."""
    if method == "MLCA":
        return MLCA().fit(X, y).components_
    name = {"Euclidean": "euclidean", "KISSME": "kissme", "Regression on Y": "regression"}[method]
    return METRICS[name](X, y)


def run_order(unit: Unit) -> dict[str, float]:
    """Losses of every method, without the spectral step and with it."""
    seed = unit["seed"]
    X, y = make_crossed_clusters(unit["train"], noise=unit["noise"], random_state=2 * seed)
    T, t = make_crossed_clusters(
        (unit["test"],) * 3, noise=unit["noise"], random_state=2 * seed + 1
    )
    values = {}
    for method in METHODS:
        Z = T @ learned(method, X, y).T
        values[method] = round(cluster_loss(Z, t, seed), 4)
        values[f"{method}, spectral"] = round(cluster_loss(spectral_embedding(Z, 3), t, seed), 4)
    return values
