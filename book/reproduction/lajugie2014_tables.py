"""Lajugie 2014, Table 2: k-means under metrics learned from four tables of labelled rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale
from sklearn.preprocessing import scale as standardise

from book.reproduction.lajugie2014_maps import FULL_METRIC, rca
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.baselines import METRICS
from mlbook.datasets import load_letters, load_libras
from mlbook.large_margin import LargeMarginMetric
from mlbook.partitions import partition_loss


class DataSet(NamedTuple):
    """A data set of Table 2: its name, and how to load it."""

    title: str
    load: Callable[[], tuple[Any, Any]]


TABLES = {
    "iris": DataSet("Iris", partial(load_iris, return_X_y=True)),
    "wine": DataSet("Wine", partial(load_wine, return_X_y=True)),
    "letters": DataSet("Letters", load_letters),
    "libras": DataSet("Libras", load_libras),
}
LARGE = ("letters", "libras")  # at the other scales only for k-means as it is
SPLITS = {"same": "train = test", "half": "half and half"}
SCALINGS: dict[str, Callable[[Floats], Floats]] = {
    "as given": np.asarray,
    "standardised": standardise,
    "in [0, 1]": minmax_scale,
}
DIAGONAL = "large margin, diagonal"
RCA_REDUCED = "RCA, k − 1 dimensions"
XING = "Xing et al. (MMC)"
LEARNERS = (FULL_METRIC, DIAGONAL, "RCA", RCA_REDUCED, XING)
EUCLIDEAN = tuple(f"Euclidean, {name}" for name in SCALINGS)


def table2_units(scale: str) -> list[Unit]:
    """Every method on every data set and split; fewer seeds where they take long."""
    seeds = {"smoke": (1, 1), "book": (3, 1), "full": (10, 3)}[scale]
    return [
        {"row": row, "seed": seed, "table": table, "split": split}
        for table in TABLES
        for split in SPLITS
        for row in (*LEARNERS, *EUCLIDEAN)
        for seed in range(seeds[table in LARGE])
        if scale == "full" or table not in LARGE or row == EUCLIDEAN[0]
    ]


@lru_cache(maxsize=1)
def _table(name: str) -> tuple[Floats, Integers]:
    X, y = TABLES[name].load()
    return np.asarray(X, dtype=np.float64), np.asarray(y)


def halves(X: Floats, y: Integers, seed: int) -> tuple[Integers, Integers]:
    """Draw half of the distinct rows of each class for training; copies of a row stay together.

    Examples
    --------
    >>> X = np.array([[1.0], [1.0], [2.0], [3.0], [4.0]])
    >>> train, test = halves(X, np.array([0, 0, 0, 1, 1]), seed=0)
    >>> print(np.sort([*train, *test]), np.intersect1d(X[train], X[test]))
    [0 1 2 3 4] []
    """
    rng = np.random.default_rng(seed)
    group = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    training = np.zeros(group.max() + 1, dtype=bool)
    for label in np.unique(y):
        members = rng.permutation(np.unique(group[y == label]))
        training[members[: len(members) // 2]] = True
    return np.flatnonzero(training[group]), np.flatnonzero(~training[group])


@lru_cache(maxsize=1)
def _learned_map(table: str, row: str, split_seed: int | None) -> Floats:
    """Columns that map standardised rows; learned from half of them if there is a seed."""
    X, y = _table(table)
    rows = np.arange(len(y)) if split_seed is None else halves(X, y, split_seed)[0]
    X, y = standardise(X)[rows], y[rows]
    if row == XING:
        drawn = np.random.default_rng(0).permutation(len(X))[:2000]
        return METRICS["mmc"](X[drawn], y[drawn], random_state=0).T
    if row in ("RCA", RCA_REDUCED):
        dimensions = min(len(np.unique(y)) - 1, X.shape[1]) if row == RCA_REDUCED else X.shape[1]
        return rca([X], [y], dimensions, centred=True)
    model = LargeMarginMetric(
        structure="spectral",
        n_clusters="known",
        metric="full" if row == FULL_METRIC else "diagonal",
        alpha=1e-2,
        solver="cutting-planes",
        max_iter=100,
    )
    with warnings.catch_warnings():  # how far the objective came is no matter here
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit([X], [y]).components_.T


def run_table2(unit: Unit) -> dict[str, float]:
    """Learn a metric, run k-means with as many clusters as classes."""
    X, y = _table(unit["table"])
    row, seed, halved = unit["row"], unit["seed"], unit["split"] == "half"
    if row in EUCLIDEAN:
        Z = SCALINGS[row.removeprefix("Euclidean, ")](X)
    else:
        Z = standardise(X) @ _learned_map(unit["table"], row, seed if halved else None)
    if halved:
        _, test = halves(X, y, seed)
        Z, y = Z[test], y[test]
    k = len(np.unique(y))
    kmeans = KMeans(k, n_init=3 if unit["table"] == "letters" else 10, random_state=seed)
    return {f"{unit['table']}_{unit['split']}": partition_loss(kmeans.fit_predict(Z), y)}
