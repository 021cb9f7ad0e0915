"""Komodakis 2011: weights learned, and exemplar clusterings under given distances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from mlbook._arrays import Floats, Integers
from mlbook.dual_decomposition import DualDecompositionLearner
from mlbook.exemplars import exemplar_labels, exemplar_path, solve_exemplars
from mlbook.latent_crf import ExemplarProblem, LatentExemplarMetric
from mlbook.partitions import contingency, f_measure

# Penalties tried for distances that are not learned, as shares of the mean cluster size, in units
# of the mean distance.
SHARES = (0.04, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48)


def learn(
    datasets: list[Floats], partitions: list[Integers], **options: Any
) -> LatentExemplarMetric:
    """Learn weights of squared differences; price and regularization are chosen in training."""
    return LatentExemplarMetric(random_state=0, **options).fit(datasets, partitions)


def learn_weights(stack: Floats, y: Integers, **options: Any) -> LatentExemplarMetric:
    """Learn weights of a stack of distances, from one partition."""
    return learn([stack], [y], features="precomputed", **options)


def learn_as_printed(
    datasets: list[Floats], partitions: list[Integers], inner_iter: int, rounds: int
) -> tuple[Floats, Floats, float]:
    """Learn weights of squared differences by the steps of the paper's Figure 1, with l1.

    The price of an exemplar is 0.4 times the mean cluster size, τ a tenth of the number of points.
    Returns the weights, the path of the objective and the price.
    """
    n_points = sum(map(len, partitions))
    size = n_points / sum(len(set(y)) for y in partitions)
    price, F = max(0.4 * size, 2.0), datasets[0].shape[1]
    scales = np.mean([2 * X.var(axis=0) for X in datasets], axis=0)
    problems = [
        ExemplarProblem(X, y, penalty=price, scales=scales)
        for X, y in zip(datasets, partitions, strict=True)
    ]
    unit = (1 + price / size) / F
    with warnings.catch_warnings():  # the number of rounds is what is compared
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner = DualDecompositionLearner(
            regularizer="l1",
            alpha=0.1 * n_points,
            projection=_nonnegative,
            step_weights=4 * unit / n_points,
            step_multipliers=price / size,
            inner_iter=inner_iter,
            max_iter=rounds // inner_iter,
            tol=0,
        ).fit(problems, np.full(F, unit))
    return learner.weights_ / scales, learner.objective_path_, price


def _nonnegative(w: Floats) -> Floats:
    return w.clip(0)


def cluster(D: Floats, penalty: float) -> Integers:
    """Exemplar clustering of a matrix of distances."""
    return exemplar_labels(D, solve_exemplars(D, penalty, max_iter=100, random_state=0).exemplars)


def with_clusters(D: Floats, k: int) -> Integers:
    """Exemplar clustering into k clusters or, if no penalty gives k, the nearest number below."""
    path = exemplar_path(D, k, max_iter=100, random_state=0)
    return path.labels(int(path.counts[-1]))


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


def majority_accuracy(y: Integers, labels: Integers) -> float:
    """Share of points whose class is the largest one of their cluster.

    Examples
    --------
    >>> majority_accuracy(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 2]))
    1.0
    """
    return float(contingency(y, labels).toarray().max(axis=0).sum() / len(y))
