"""Wrong labels, and what they do to the spectral hinge."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog

from book.reproduction.made_problems import BASE, draw_gaussians, learn_large_margin, quiet
from mlbook._arrays import Floats, Integers
from mlbook.large_margin import structured_hinge
from mlbook.partitions import normalized_assignment

__all__ = [
    "learns_something",
    "least_slope",
    "slope_without_noise",
    "wrong_labels",
]


def wrong_labels(seed: int, share: float) -> list[tuple[Floats, Integers]]:
    """Draw four sets of rows with four classes each; a share of the labels is wrong.

    The generator is that of the exercises of the chapter that compares all methods.

    Examples
    --------
    >>> len(wrong_labels(0, 0.2)), wrong_labels(0, 0.2)[0][0].shape
    (4, (80, 18))
    """
    return draw_gaussians(BASE | {"seed": seed, "flipped": share}).train


def learns_something(seed: int, share: float, alpha: float) -> bool:
    """Tell whether the diagonal large-margin metric of these sets is not zero.

    Examples
    --------
    >>> learns_something(0, 0.3, alpha=1e-3)
    False
    """
    sets = wrong_labels(seed, share)
    return bool(np.any(quiet(lambda: learn_large_margin(sets, alpha=alpha))))


def slope_without_noise(seed: int, share: float, n_classes: int = 4) -> tuple[float, float]:
    """Slope at zero of the spectral hinge of 2000 points, all points of a class the same.

    In a random diagonal direction and in a random full one; a share of the labels is wrong.

    Examples
    --------
    >>> max(slope_without_noise(0, 0.0)) < 0
    True
    """
    rng = np.random.default_rng(seed)
    y = np.resize(np.arange(n_classes), 2000)
    X = rng.normal(size=(n_classes, 6))[y]
    wrong = rng.random(2000) < share
    labels = np.where(wrong, (y + rng.integers(1, n_classes, 2000)) % n_classes, y)
    root = rng.normal(size=(6, 6))

    def slope(M: Floats) -> float:
        tiny = 1e-7
        hinge = structured_hinge(X, labels, tiny * M, structure="spectral", n_clusters="known")
        return (hinge - 2 * n_classes + 2) / tiny

    return slope(rng.exponential(size=6)), slope(root @ root.T)


def least_slope(sets: Sequence[tuple[Floats, Integers]]) -> tuple[float, float]:
    """Least slope at zero of the mean spectral hinge, over all diagonal directions: two bounds.

    The number of clusters is known, and a direction has mean scatter 1. The slope is convex
    in the direction, so cuts enclose its minimum; they stop when its sign is known.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> least_slope([(X, np.array([0, 0, 1, 1]))])  # (1 − 16) / 17
    (-0.882..., -0.882...)
    """
    parts = []
    for X, labels in sets:
        J = normalized_assignment(labels).toarray()
        centred = X - X.mean(axis=0)
        between = J @ (J.T @ centred)
        parts.append((centred - between, np.sum(between**2, axis=0), J.shape[1] - 1))
    scale = np.mean([np.sum(rest**2, axis=0) + between for rest, between, _ in parts], axis=0)
    d = len(scale)
    cuts, least, direction = [], np.inf, np.full(d, 1 / d)
    while True:
        slope = np.zeros(d)
        for rest, between, n_other in parts:
            U = np.linalg.svd(rest * np.sqrt(direction / scale), full_matrices=False)[0]
            slope += (np.sum((U[:, :n_other].T @ rest) ** 2, axis=0) - between) / scale / len(parts)
        cuts.append(np.append(slope, -1))
        least = min(least, float(slope @ direction))
        program = linprog(
            np.append(np.zeros(d), 1),
            A_ub=np.array(cuts),
            b_ub=np.zeros(len(cuts)),
            A_eq=np.append(np.ones(d), 0)[None],
            b_eq=[1],
            bounds=[(0, None)] * d + [(None, None)],
        )
        direction = program.x[:d]
        if least < 0 or program.fun >= 0 or least - program.fun < 1e-7:
            return least, float(program.fun)
