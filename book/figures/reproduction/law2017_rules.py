"""When Eq. 16 of Law 2017 beats the nearest centroid: many features and unequal sizes together."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from book.figures.mimlca import from_instances, left_out_scores
from mlbook._arrays import Floats, Integers
from mlbook.plots import COLORS, INK, subplots

__all__ = ["Draw", "draw", "draws", "gains", "rules", "sizes"]

N, K, N_IDENTITY, N_TEST = 800, 40, 20, 20  # test instances of each category
WITHIN, ALPHA = 0.5, 0.25


class Draw(NamedTuple):
    """MLCA on one draw; scores are in units in which a perfect fit has 1.

    Attributes
    ----------
    centroid, left_out, scores : ndarrays of shape (40,)
        Share of right test instances of each category, the largest first: by the nearest centroid,
        by the nearest one where each training instance counts as if it were left out of the fit,
        and by Eq. 16.
    new : ndarray
        γ: the scores, for their own category, of the test instances of the rarer half.
    own : float
        ρ: that of the training centroids of these categories, on average.
    needed : float
        αρ²/√n_c, on average over them.
    """

    centroid: Floats
    left_out: Floats
    scores: Floats
    new: Floats
    own: float
    needed: float


def sizes(power: float) -> Integers:
    """Sizes of the 40 categories of 800 instances: they fall as 1/rank to the power.

    Examples
    --------
    >>> sizes(0)[[0, -1]].tolist(), sizes(1.5)[[0, -1]].tolist()
    ([20, 20], [352, 2])
    """
    weights = 1 / np.arange(1, K + 1) ** power
    counts = 1 + np.floor((N - K) * weights / weights.sum()).astype(int)
    counts[0] += N - counts.sum()
    return counts


@cache
def draw(share: float, power: float, seed: int = 0) -> Draw:
    """Fit MLCA to 800 instances with d = share · 800 features, and predict by both rules.

    Categories are normal points in 20 directions; the other features hold noise alone.
    """
    rng = np.random.default_rng(seed)
    counts, d = sizes(power), round(share * N)
    points = rng.normal(size=(K, N_IDENTITY))

    def sample(labels: Integers) -> Floats:
        signal = points[labels] + WITHIN * rng.normal(size=(len(labels), N_IDENTITY))
        return np.hstack([signal, rng.normal(size=(len(labels), d - N_IDENTITY))])

    y, t = np.repeat(np.arange(K), counts), np.repeat(np.arange(K), N_TEST)
    X, T, root = sample(y), sample(t), np.sqrt(counts)
    model = from_instances(X, y, K)
    images, outside = model.transform(T), left_out_scores(X, y, model)
    means = np.array([outside[y == c].mean(axis=0) for c in range(K)])
    found = (
        model.predict(T),
        np.argmax(2 * images @ means.T - np.sum(means**2, axis=1), axis=1),
        model.predict(T, ALPHA),
    )
    new = images[np.arange(len(t)), t] * root[t]
    own = np.diag(model.transform(model.centroids_)) * root
    rare = np.arange(K) >= K // 2
    right = [(labels == t).reshape(K, -1).mean(axis=1) for labels in found]
    return Draw(
        right[0],
        right[1],
        right[2],
        new[rare[t]],
        float(own[rare].mean()),
        float(np.mean(ALPHA * own[rare] ** 2 / root[rare])),
    )


def draws(share: float, power: float, n_seeds: int = 20) -> list[Draw]:
    """Return the draws of the first seeds."""
    return [draw(share, power, seed) for seed in range(n_seeds)]


def gains(share: float, power: float, over: str = "centroid", n_seeds: int = 20) -> Floats:
    """Accuracy by Eq. 16 less that by a nearest centroid ("left_out" too), in points, by draw."""
    found = draws(share, power, n_seeds)
    return np.array([100 * np.mean(x.scores - getattr(x, over)) for x in found])


def rules(share: float, power: float) -> tuple[Figure, str]:
    """Draw the accuracy by both rules on frequent and rare categories, and why."""
    found, counts = draw(share, power), sizes(power)
    figure, axes = subplots(1, 2, height=3.2)
    left, right = axes[0]
    halves = {"20 frequent": slice(0, K // 2), "20 rare": slice(K // 2, K)}
    for i, (name, values) in enumerate(
        {"nearest centroid": found.centroid, "Eq. 16": found.scores}.items()
    ):
        heights = [100 * values[half].mean() for half in halves.values()]
        places = np.arange(2) + 0.38 * (i - 0.5)
        left.bar(places, heights, 0.36, color=COLORS[i], hatch=["", "//"][i], label=name)
    left.set(xticks=[0, 1], xticklabels=halves, ylim=(0, 128), ylabel="accuracy, %")
    left.set_yticks(range(0, 101, 25))
    left.legend(frameon=False, loc="upper right", fontsize=10)
    right.hist(found.new, bins=np.linspace(-0.2, 0.8, 26), color=COLORS[2])
    lines = [("ρ/2", found.own / 2, "-", 0), ("αρ²/√n", found.needed, "--", 1)]
    for name, place, style, i in lines:
        right.axvline(place, color=COLORS[i], linestyle=style, label=name)
    right.set(xlim=(-0.2, 0.8), ylim=(0, 230), yticks=[], xlabel="γ of new instances, rare half")
    right.legend(frameon=False, loc="upper right", fontsize=10, labelcolor=INK)
    gamma, gain = found.new.mean(), 100 * np.mean(found.scores - found.centroid)
    return figure, (
        f"d/n = {share:g}, sizes {counts[0]} to {counts[-1]}: Eq. 16 gains {gain:+.0f} points. "
        f"New instances have γ = {gamma:.2f} on average, their centroids ρ = {found.own:.2f}; "
        f"γ + (1 − γ) d/n = {gamma + (1 - gamma) * share:.2f}."
    )
