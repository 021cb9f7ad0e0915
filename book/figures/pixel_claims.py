"""What the sentences of the chapter on pixels claim, seed by seed."""

from collections.abc import Callable
from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

from book.figures.kmeans import all_partitions
from book.figures.pictures import HEIGHT, WIDTH, photograph, scene
from book.figures.segmentation import (
    FEATURES,
    RULES,
    explained,
    fit_pixels,
    left_half,
    object_of_size,
    pixels,
    segment,
    two_means,
)
from mlbook._arrays import Floats
from mlbook.kmeans import distortion
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.partitions import partition_loss

__all__ = [
    "best_on_a_line",
    "by_numpy",
    "class_means",
    "empty_lawns",
    "fits",
    "halves",
    "lost_objects",
    "one_score",
    "scribbles",
    "shifted",
    "sizes_of_fur",
]


def one_score(n_scenes: int = 20) -> tuple[list[bool], list[float]]:
    """Compare both forms of MLCA, learned from one scene, by formula and on another scene.

    Returns whether the formula holds, and Δ of k-means on mapped pixels and two means of scores.
    """
    holds, gaps = [], []
    for seed in range(n_scenes):
        image, mask = scene("train", seed)
        X, y = pixels(image), mask.ravel()
        one = BinaryMLCA(fit_intercept=True).fit(X, y)
        two = MLCA(fit_intercept=True, random_state=0).fit(X, y)
        factors = [-1, 1] / np.sqrt(np.bincount(y)) * np.sqrt(len(y)) / 2
        L = np.outer(factors, one.direction_)
        holds.append(np.allclose(two.components_, L, atol=1e-6 * np.abs(L).max()))
        new = pixels(scene("test", seed)[0])
        gaps.append(partition_loss(two.cluster(new, 2), segment(one, new, "two means")))
    return holds, gaps


def best_on_a_line(n_draws: int = 20, n: int = 7) -> list[bool]:
    """Compare the threshold of `two_means` with all partitions of random numbers into two."""
    found = []
    for seed in range(n_draws):
        x = np.random.default_rng(seed).normal(size=(n, 1))
        every = (np.array(labels) for labels in all_partitions(n) if max(labels) == 1)
        cut = (x[:, 0] > two_means(x[:, 0])).astype(np.int64)
        least = min(distortion(x, labels) for labels in every)
        found.append(bool(np.isclose(distortion(x, cut), least)))
    return found


def class_means(n_draws: int = 20) -> list[bool]:
    """Compare the class means of least-squares fits with their formula, on random classes."""
    found = []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        y = (rng.random(200) < rng.uniform(0.05, 0.95)).astype(np.int64)
        X = rng.normal(size=(200, 4)) + rng.uniform(0, 2) * y[:, None]
        R2, means = explained(BinaryMLCA(fit_intercept=True).fit(X, y), X, y)
        mean = 2 * y.mean() - 1
        found.append(np.allclose(means, [mean - R2 * (1 + mean), mean + R2 * (1 - mean)]))
    return found


def shifted(n_draws: int = 20) -> Floats:
    """Cosine of directions learned before and after each image got a shift of its own.

    Two images of 60 points. Returns an array of shape (draws, 2): pooled, each centred.
    """
    cosines = np.empty((n_draws, 2))
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        y = (rng.random(120) < np.repeat([0.2, 0.8], 60)).astype(np.int64)
        X = rng.normal(size=(120, 5)) + y[:, None]
        moved = X + np.repeat(rng.normal(scale=5, size=(2, 5)), 60, axis=0)
        for j, centred in enumerate((False, True)):
            directions = []
            for rows in (X, moved):
                halves = [half - half.mean(axis=0) * centred for half in np.split(rows, 2)]
                model = BinaryMLCA(fit_intercept=True).fit(np.vstack(halves), y)
                directions.append(model.direction_ / np.linalg.norm(model.direction_))
            cosines[seed, j] = directions[0] @ directions[1]
    return cosines


def empty_lawns(n_scenes: int = 20) -> Floats:
    """Share of the pixels that each rule keeps of test scenes without fur; learned from eight."""
    model = fit_pixels(8, centred=True)
    rows = [pixels(scene("test", seed, size=0.0)[0], centred=True) for seed in range(n_scenes)]
    return np.array([[segment(model, X, rule).mean() for rule in RULES] for X in rows])


@cache
def sizes_of_fur(size: float, share: float | None = None, n_scenes: int = 20) -> Floats:
    """Δ of the sign and of two means on test scenes with fur of a size, by one score.

    It is learned from four scenes, each centred. The test scenes are centred too; with a share,
    at the mean that they would have if the fur took this share of them.

    Examples
    --------
    >>> sizes_of_fur(1.0, n_scenes=2).shape
    (2, 2)
    """
    model = fit_pixels(4, centred=True)
    losses = []
    for seed in range(n_scenes):
        image, mask = scene("test", seed, size=size)
        X, y = pixels(image), mask.ravel()
        lawn, fur = (X[y == c].mean(axis=0) for c in (0, 1))
        part = y.mean() if share is None else share
        X = X - (1 - part) * lawn - part * fur
        losses.append([partition_loss(y, segment(model, X, rule)) for rule in RULES])
    return np.array(losses)


def fits(name: str) -> Floats:
    """Compute R² and Δ of the sign rule on a photograph, learned from all of it, by features."""
    image, mask = photograph(name)
    rows, y = pixels(image), mask.ravel()
    found = []
    for columns in FEATURES.values():
        X = rows[:, columns]
        model = BinaryMLCA(fit_intercept=True).fit(X, y)
        loss = partition_loss(y, segment(model, X, "sign"))
        found.append((explained(model, X, y)[0], loss))
    return np.array(found)


@cache
def halves(name: str, seed: int | None = None) -> tuple[float, float, float]:
    """Learn all features from half a photograph: R², Δ there, and Δ on the other half.

    The left half, or with a seed a random half of the pixels.
    """
    image, mask = photograph(name)
    X, y = pixels(image), mask.ravel()
    left = left_half(mask)
    given = left if seed is None else np.random.default_rng(seed).permutation(left)
    with threadpool_limits(1):
        model = BinaryMLCA(fit_intercept=True).fit(X[given], y[given])
    found = segment(model, X, "sign")
    losses = [partition_loss(y[part], found[part]) for part in (given, ~given)]
    return explained(model, X[given], y[given])[0], losses[0], losses[1]


def scribbles(n_scenes: int = 20) -> Floats:
    """Δ outside two labelled strips of a scene, by features: learned from the strips, or from all.

    Returns an array of shape (scenes, 3, 2).
    """
    losses = np.empty((n_scenes, len(FEATURES), 2))
    for seed in range(n_scenes):
        image, mask = scene("test", seed)
        rows = np.repeat(np.arange(HEIGHT), WIDTH)
        known = np.isin(rows, [20, 21, 30, 31])
        X, y = pixels(image), mask.ravel()
        for j, columns in enumerate(FEATURES.values()):
            for i, some in enumerate((known, np.ones_like(known))):
                model = BinaryMLCA(fit_intercept=True).fit(X[some][:, columns], y[some])
                found = model.cluster(X[~known][:, columns])
                losses[seed, j, i] = partition_loss(y[~known], found)
    return losses


def by_numpy(learn: Callable[..., tuple[Floats, float]], n_draws: int = 20) -> list[bool]:
    """Compare a function that learns a score from rows and scores ±1 with `BinaryMLCA`.

    On 30 random rows of three features, and on the pixels of a scene.
    """
    found = []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        y = np.arange(30) % 3 == 0
        image, mask = scene("train", seed)
        for X, labels in ((rng.normal(size=(30, 3)) + y[:, None], y), (pixels(image), mask)):
            s = np.where(labels.ravel() == 1, 1.0, -1.0)
            v, b = learn(X, s)
            theirs = BinaryMLCA(fit_intercept=True).fit(X, s).decision_function(X)
            found.append(np.allclose((X @ v + b) / np.sqrt(len(s)), theirs, atol=1e-6))
    return found


def lost_objects(size: float, noise: float, n_scenes: int = 20) -> Floats:
    """Say whether the fur of noisy scenes is lost, and what both rules lose.

    Returns an array of shape (scenes, 4): R² less what is needed, the mean score of the fur, Δ of
    the sign, Δ of two means.
    """
    rows = []
    for seed in range(n_scenes):
        _, mask, scores = object_of_size(size, noise, seed)
        s, share = np.where(mask.ravel() == 1, 1.0, -1.0), mask.mean()
        R2 = 1 - np.sum((s - scores) ** 2) / np.sum((s - s.mean()) ** 2)
        cuts = [(scores > cut).astype(np.int64) for cut in (0, two_means(scores))]
        losses = [partition_loss(mask.ravel(), found) for found in cuts]
        rows.append((R2 - (1 - 2 * share) / (2 - 2 * share), scores[s > 0].mean(), *losses))
    return np.array(rows)
