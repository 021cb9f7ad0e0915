"""Images as rows of features, one for each pixel; k-means under a metric, and its losses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from book.reproduction.units import timed
from mlbook._arrays import Floats, Integers
from mlbook.baselines import METRICS
from mlbook.kmeans import spectral_embedding
from mlbook.mlca import MLCA
from mlbook.partitions import partition_loss, rand_loss

ONE_SEGMENT = "one segment"
SPLITS = {"smoke": 1, "book": 2, "full": 5}
RESTARTS = 3  # of k-means on one image


def segment(Z: Floats, n_segments: int, seed: int) -> Integers:
    """k-means of the mapped pixels of one image."""
    return KMeans(n_segments, n_init=RESTARTS, random_state=seed).fit_predict(Z)


def learn(method: str, X: Floats, y: Integers, seed: int) -> Floats:
    """Components of a metric of `mlbook.baselines`, whether or not its search converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return METRICS[method](X, y, random_state=seed)


def time_ratio(fit: Callable[[], Floats], X: Floats, y: Integers) -> tuple[Floats, float]:
    """Return components, and the time they took as a multiple of MLCA's on the same rows."""
    components, seconds = timed(fit)
    return components, seconds / timed(lambda: MLCA().fit(X, y).components_)[1]


class Scene(NamedTuple):
    """Features of all pixels of an image, and their classes, −1 where uncertain."""

    X: Floats
    y: Integers


class PixelSplit(NamedTuple):
    """Training pixels of known class, and test images."""

    X: Floats
    y: Integers
    test: list[Scene]


def split_numbers(n: int, seed: int, n_train: int, n_test: int) -> tuple[Integers, Integers]:
    """Numbers of training and test images of one random split: the first, and the last others.

    Examples
    --------
    >>> train, test = split_numbers(10, seed=0, n_train=6, n_test=3)
    >>> len(train), len(test), len({*train, *test})
    (6, 3, 9)
    """
    order = np.random.default_rng(seed).permutation(n)
    return order[:n_train], order[n_train:][-n_test:]


def mean_losses(truth: Sequence[Integers], found: Sequence[Integers]) -> dict[str, float]:
    """Mean Δ and Rand loss over images, of their pixels of known class.

    Examples
    --------
    >>> mean_losses([np.array([0, -1, 1])], [np.array([1, 1, 0])])
    {'delta': 0.0, 'rand': 0.0}
    """
    losses = []
    for y, labels in zip(truth, found, strict=True):
        known = y != -1
        pair = y[known], labels[known]
        losses.append((partition_loss(*pair), rand_loss(*pair)))
    delta, rand = np.mean(losses, axis=0)
    return {"delta": float(delta), "rand": float(rand)}


def kmeans_losses(
    scenes: Sequence[Scene], components: Floats, n_segments: int, seed: int
) -> dict[str, float]:
    """Losses of k-means under a metric, without and with the spectral step."""
    truth = [scene.y for scene in scenes]
    mapped = [scene.X @ components.T.astype(scene.X.dtype) for scene in scenes]
    plain = [segment(Z, n_segments, seed) for Z in mapped]
    step = [segment(spectral_embedding(Z, n_segments), n_segments, seed) for Z in mapped]
    of_step = mean_losses(truth, step)
    return mean_losses(truth, plain) | {f"{key}_spectral": v for key, v in of_step.items()}
