"""Graphs to cut: random ones, complete ones side by side, and ones nearly in pieces."""

import numpy as np

from mlbook.ncuts import gaussian_affinity, grid_edges, squared_differences


def random_graph(rng, n, density=1.0):
    """Connected: a path runs through all nodes."""
    W = rng.random((n, n)) * (rng.random((n, n)) < density)
    W[np.arange(n - 1), np.arange(1, n)] += 0.1
    return W + W.T


def blocks(sizes, rng):
    """Complete graphs side by side."""
    n = sum(sizes)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    affinities = rng.uniform(0.5, 1, size=(n, n))
    return (affinities + affinities.T) * (labels[:, None] == labels), labels


def steep_graph(height, width, exponent, power=1, seed=0):
    """Pixels of noise: the larger the mean exponent, the more of them are nearly alone."""
    X = np.random.default_rng(seed).normal(size=(height * width, 3)) ** power
    edges = grid_edges(height, width, 5)
    b = exponent / 3 / squared_differences(X, edges).mean(axis=0)
    return gaussian_affinity(X, edges, b)
