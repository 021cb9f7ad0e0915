"""Figures of the reproduction of Law et al. 2016."""

import numpy as np
from matplotlib.figure import Figure

from book.reproduction import load
from book.reproduction.law2016_clusters import cluster_loss
from mlbook._arrays import Floats
from mlbook.datasets import make_crossed_clusters
from mlbook.mlca import MLCA
from mlbook.plots import scatter, subplots

__all__ = ["crossed_clusters", "losses_by_test_size", "wide"]


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
