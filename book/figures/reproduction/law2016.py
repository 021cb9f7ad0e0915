"""Figures of the reproduction of Law et al. 2016."""

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

from book.figures.names import name_after
from book.reproduction import load
from book.reproduction.law2016_clusters import LARGE_MARGIN_ALPHA, SETTINGS, cluster_loss
from mlbook._arrays import Floats, Integers
from mlbook.datasets import make_crossed_clusters
from mlbook.large_margin import LargeMarginMetric
from mlbook.mlca import MLCA
from mlbook.plots import scatter, subplots

__all__ = [
    "crossed_clusters",
    "large_margin_map",
    "losses_by_test_size",
    "shares_of_clouds",
    "wide",
]


def crossed_clusters() -> Figure:
    """Draw a small sample of the data of Table 1, features 1 and 2, then 1 and 3."""
    X, y = make_crossed_clusters((40, 40, 40), random_state=0)
    figure, axes = subplots(1, 2, height=3.2)
    for ax, feature in zip(axes[0], (1, 2), strict=True):
        scatter(ax, X[:, [0, feature]], y)
        ax.set(xlabel="feature 1", ylabel=f"feature {feature + 1}")
    return figure


def losses_by_test_size(n_seeds: int) -> list[list[float]]:
    """Δ of MLCA on the data of Table 1, tested on 500 and on 1000 points in each sub-cluster."""
    losses = []
    for seed in range(n_seeds):
        X, y = make_crossed_clusters((500, 500, 500), random_state=seed)
        model = MLCA().fit(X, y)
        tests = [
            make_crossed_clusters((size,) * 3, random_state=1000 + seed) for size in (500, 1000)
        ]
        losses.append([cluster_loss(model.transform(T), t, seed) for T, t in tests])
    return losses


def shares_of_clouds(n_seeds: int) -> Floats:
    """Where MLCA without the spectral step puts the clouds of Table 2.

    Entry [i, c, j, a] is the share of cloud j of category c that draw i has in the cluster named
    after category a. The upper cloud of category 2 is [:, 1, 1].
    """
    sizes, test = SETTINGS[2].train, SETTINGS[2].test
    shares = []
    for seed in range(n_seeds):
        X, y = make_crossed_clusters(sizes, random_state=seed)
        T, t = make_crossed_clusters(test, random_state=1000 + seed)
        found = KMeans(3, n_init=20, random_state=seed).fit_predict(MLCA().fit(X, y).transform(T))
        clouds = name_after(t, found).reshape(3, 2, -1)
        shares.append([[np.bincount(c, minlength=3) / len(c) for c in pair] for pair in clouds])
    return np.array(shares)


def large_margin_map(X: Floats, y: Integers) -> Floats:
    """Map of the method of Lajugie et al. with the settings of the tables, one direction a row."""
    learner = LargeMarginMetric(
        structure="spectral", n_clusters="known", metric="full", alpha=LARGE_MARGIN_ALPHA
    )
    return learner.fit([X], [y]).components_


def wide(row: str, column: str) -> Floats:
    """Losses of a method on the wide data of one table, one number per seed.

    Examples
    --------
    >>> wide("Euclidean", "table1_spectral").shape
    (10,)
    """
    units = (load("law2016-wide") or {"units": []})["units"]
    found = [line["values"] for line in units if line["unit"]["row"] == row]
    return np.array([values[column] for values in found if column in values])
