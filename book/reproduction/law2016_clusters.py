"""Law 2016, Tables 1 to 3: metrics learned from synthetic clusters, and k-means under them."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from sklearn.cluster import KMeans

from book.reproduction.units import Unit, timed
from mlbook._arrays import Floats, Integers
from mlbook.baselines import METRICS
from mlbook.datasets import make_crossed_clusters
from mlbook.kmeans import spectral_embedding
from mlbook.large_margin import LargeMarginMetric
from mlbook.mlca import MLCA
from mlbook.partitions import partition_loss


class Setting(NamedTuple):
    """Points per sub-cluster of each category, and the noise about the sub-cluster's mean."""

    title: str
    train: tuple[int, int, int]
    test: tuple[int, int, int]
    noise: float


SETTINGS = {
    1: Setting("categories of the same size", (500, 500, 500), (500, 500, 500), 1.0),
    2: Setting("different sizes", (500, 1000, 2000), (1000, 1000, 1000), 1.0),
    3: Setting("different sizes, less noise", (500, 1000, 2000), (1000, 1000, 1000), 0.5),
}
SEEDS = {"smoke": 1, "book": 3, "full": 10}
N_NOISE_FEATURES = 7
LARGE_MARGIN_ALPHA = 1e-2
# Row to name in mlbook.baselines, or below; the paper does not have the last three.
METHODS = {
    "MLCA": "mlca",
    "Euclidean": "euclidean",
    "Xing et al. (MMC)": "mmc",
    "Lajugie et al.": "large_margin",
    "KISSME": "kissme",
    "XQDA": "xqda",
    "ITML": "itml",
    "PCCA": "pcca",
    "LMNN": "lmnn",
    "LDA": "lda",
    "RCA": "rca",
    "Regression on Y": "regression",
}
SLOW = {"ITML", "LMNN"}  # several seconds each: not in notebooks


def units(scale: str, *, tables: tuple[int, ...], n_noise_features: int = 0) -> list[Unit]:
    """Every method on every seed, with all its parameters."""
    shrink = 25 if scale == "smoke" else 1
    return [
        {
            "row": row,
            "seed": seed,
            "method": method,
            "table": table,
            "train": [size // shrink for size in SETTINGS[table].train],
            "test": [size // shrink for size in SETTINGS[table].test],
            "noise": SETTINGS[table].noise,
            "n_noise_features": n_noise_features,
        }
        for table in tables
        for seed in range(SEEDS[scale])
        for row, method in METHODS.items()
        if scale != "book" or row not in SLOW
    ]


def run_unit(unit: Unit) -> dict[str, float]:
    """Learn a metric; cluster test data with and without the spectral step."""
    seed, method = unit["seed"], unit["method"]
    draw = partial(
        make_crossed_clusters, noise=unit["noise"], n_noise_features=unit["n_noise_features"]
    )
    stream = 1000 * unit["table"] + 2 * seed
    X, y = draw(unit["train"], random_state=stream)
    X_test, y_test = draw(unit["test"], random_state=stream + 1)

    def fit_mlca() -> Floats:
        return MLCA().fit(X, y).components_

    def fit_large_margin() -> Floats:
        learner = LargeMarginMetric(
            structure="spectral", n_clusters="known", metric="full", alpha=LARGE_MARGIN_ALPHA
        )
        return learner.fit([X], [y]).components_

    own = {"mlca": fit_mlca, "large_margin": fit_large_margin}
    fit = own[method] if method in own else partial(METRICS[method], X, y, random_state=seed)
    components, seconds = timed(fit)
    Z = X_test @ components.T
    values = {"delta": cluster_loss(Z, y_test, seed)}
    values["delta_spectral"] = cluster_loss(spectral_embedding(Z, 3), y_test, seed)
    if method != "euclidean":
        values["time"] = seconds / timed(fit_mlca)[1]
    return values


def cluster_loss(Z: Floats, y: Integers, seed: int) -> float:
    """Δ between k-means with 20 restarts and the truth."""
    return partition_loss(y, KMeans(3, n_init=20, random_state=seed).fit_predict(Z))


def run_wide(unit: Unit) -> dict[str, float]:
    """Losses of `run_unit`, named after the table whose data were widened."""
    values, table = run_unit(unit), f"table{unit['table']}"
    return {table: values["delta"], f"{table}_spectral": values["delta_spectral"]}
