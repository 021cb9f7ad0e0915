"""Labelled sequences, and the hinge of every metric by enumeration of all partitions."""

import numpy as np
from enumeration import all_segmentations

from mlbook.partitions import equivalence_matrix, partition_loss


def tiny(seed=0, d=2):
    """Two labelled sequences of different lengths, few enough points to enumerate everything."""
    rng = np.random.default_rng(seed)
    y = [np.array([0, 0, 0, 1, 1, 1, 1]), np.array([3, 3, 1, 1, 1])]
    X = [rng.normal(size=(len(t), d)) + np.c_[2.0 * t, np.zeros((len(t), d - 1))] + 5 for t in y]
    return X, y


def all_cuts(X, truth, known, full, min_length=1, candidates=all_segmentations):
    """(offset, XᵀMX − XᵀNX) of every partition: the hinge is their maximum."""
    N = equivalence_matrix(truth)
    k = len(np.unique(truth))
    offsets, gradients = [], []
    for labels in candidates(len(X)):
        if np.bincount(labels).min() < min_length or (known and labels.max() + 1 != k):
            continue
        G = X.T @ (equivalence_matrix(labels) - N) @ X
        gradients.append(G.ravel() if full else G.diagonal())
        penalty = 0 if known else labels.max() + 1 - k
        offsets.append(partition_loss(labels, truth) - penalty)
    return np.array(offsets), np.array(gradients)


def objective_pieces(X, y, **options):
    """Weights, cuts and units of the objective, from its definition."""
    weights = np.array([1 / len(x) for x in X])
    weights /= weights.sum()
    units = sum(w * len(x) * x.var(axis=0) for w, x in zip(weights, X, strict=True))
    return weights, [all_cuts(x, t, **options) for x, t in zip(X, y, strict=True)], units


def steps(n, d, seed=0, n_series=4, levels=(0.0, 3.0, 1.0, -2.0)):
    """Series whose first feature has the changes that count; the others change elsewhere."""
    rng = np.random.default_rng(seed)
    y = [np.sort(np.r_[np.repeat(np.arange(4), 12), rng.integers(0, 4, n - 48)])] * n_series
    X = []
    for truth in y:
        x = rng.normal(size=(n, d))
        x[:, 0] += np.array(levels)[truth]
        for j in range(1, d):
            x[:, j] += 2 * rng.normal(size=4)[np.sort(rng.integers(0, 4, n))]
        X.append(x)
    return X, y
