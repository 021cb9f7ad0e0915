"""All segmentations of a few points: the best of them, to compare a search with."""

from functools import cache

import numpy as np
from enumeration import all_segmentations

from mlbook.partitions import equivalence_matrix


def trace(A, labels):
    return float(np.sum(A * equivalence_matrix(labels)))


@cache
def every_segmentation(n):
    """All segmentations of n points, one per row: labels, matrices, shortest segments."""
    labels = np.array(list(all_segmentations(n)))
    shortest = np.array([np.bincount(row).min() for row in labels])
    return labels, np.array([equivalence_matrix(row).ravel() for row in labels]), shortest


def best(A, k=None, keep=None, min_length=1, extra=0.0):
    """Largest Tr(AM) + extra over all segmentations that are kept; −∞ if there is none."""
    labels, matrices, shortest = every_segmentation(len(A))
    kept = shortest >= min_length
    if k is not None:
        kept &= labels[:, -1] + 1 == k
    if keep is not None:
        kept &= [keep(row) for row in labels]
    return np.max((matrices @ A.ravel() + extra)[kept], initial=-np.inf)


def centred_gram(X, M=None):
    X = X - X.mean(axis=0)
    return X @ (np.eye(X.shape[1]) if M is None else M) @ X.T


def series(n, d, seed=0, jump=2.0):
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, 3, n))
    return rng.normal(size=(n, d)) + jump * rng.normal(size=(3, d))[labels]
