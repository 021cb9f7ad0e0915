"""Komodakis 2011: weights learned at several prices, and clusterings under given distances."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from mlbook._arrays import Floats, Integers
from mlbook.exemplars import exemplar_labels, solve_exemplars
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.partitions import contingency, f_measure

PRICES = (0.15, 0.2, 0.25)  # of an exemplar, tried in learning: shares of the mean cluster size
# The same for distances that are not learned, in units of the mean distance.
SHARES = (0.04, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48)


def learn(
    datasets: list[Floats],
    partitions: list[Integers],
    prices: tuple[float, ...] = (0.1,),
    features: str = "squared_differences",
) -> LatentExemplarMetric:
    """Learn weights at each price of an exemplar; keep those that cluster the training data best.

    Prices d_qq are shares of the mean size of a cluster, but at least 1.5 α. Several of them
    are for a single training set.
    """
    n_points = sum(map(len, partitions))
    size = n_points / sum(len(set(y)) for y in partitions)
    models = []
    with warnings.catch_warnings():  # how far the objective came is no matter here
        warnings.simplefilter("ignore", ConvergenceWarning)
        for price in prices:
            model = LatentExemplarMetric(
                features=features,
                penalty=max(price * size, 1.5),
                alpha=0.1 * n_points,
                random_state=0,
            )
            models.append(model.fit(datasets, partitions))
    if len(models) == 1:
        return models[0]
    return max(models, key=lambda m: f_measure(partitions[0], m.predict(datasets[0])))


def cluster(D: Floats, penalty: float) -> Integers:
    """Exemplar clustering of a matrix of distances."""
    return exemplar_labels(D, solve_exemplars(D, penalty, max_iter=100, random_state=0).exemplars)


def tuned_penalty(matrices: list[Floats], partitions: list[Integers]) -> float:
    """Penalty that gives the best mean F-measure on training sets."""
    size = float(np.mean([len(y) / len(set(y)) for y in partitions]))
    mean = float(np.mean([D.mean() for D in matrices]))
    pairs = list(zip(matrices, partitions, strict=True))
    return max(
        (share * size * mean for share in SHARES),
        key=lambda penalty: np.mean([f_measure(y, cluster(D, penalty)) for D, y in pairs]),
    )


def clustering_accuracy(y: Integers, labels: Integers) -> float:
    """Share of points in the cluster matched to their class, one cluster to a class at most.

    Examples
    --------
    >>> clustering_accuracy(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 2]))
    0.75
    """
    table = contingency(y, labels).toarray()
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(y))
