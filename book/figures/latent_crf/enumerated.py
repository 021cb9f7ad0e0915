"""Small problems, solved by going through all that there is."""

from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from mlbook._arrays import Floats, Integers

__all__ = [
    "SmallProblem",
    "allowed",
    "energies",
    "errors",
    "exemplar_sets",
    "hinge_loss",
    "is_consistent",
    "small_problems",
]


class SmallProblem(NamedTuple):
    """Five points in two clusters, their distances to each other and their penalties."""

    D: Floats
    penalty: Floats
    labels: Integers


def small_problems(n: int = 5, *, n_seeds: int = 20) -> list[SmallProblem]:
    """Draw distances and penalties at random: asymmetric, some of them negative.

    Examples
    --------
    >>> D, penalty, labels = small_problems()[0]
    >>> D.shape, len(penalty), labels.tolist(), bool(D.min() < 0)
    ((5, 5), 5, [0, 1, 0, 1, 0], True)
    """
    draws = [np.random.default_rng(seed) for seed in range(n_seeds)]
    return [
        SmallProblem(rng.normal(1, 1, (n, n)), rng.normal(1, 1, n), np.arange(n) % 2)
        for rng in draws
    ]


def exemplar_sets(n: int) -> list[tuple[int, ...]]:
    """List every non-empty set of exemplars.

    Examples
    --------
    >>> exemplar_sets(2)
    [(0,), (1,), (0, 1)]
    """
    return [Q for k in range(1, n + 1) for Q in combinations(range(n), k)]


@cache
def allowed(n: int) -> Integers:
    """Every allowed x, a row of n numbers: the exemplar that each point is assigned to.

    Examples
    --------
    >>> allowed(2).tolist()
    [[0, 0], [0, 1], [1, 1]]
    """
    rows = np.array(list(product(range(n), repeat=n)))
    return rows[(np.take_along_axis(rows, rows, axis=1) == rows).all(axis=1)]


def energies(D: Floats, penalty: Floats | float, x: Integers) -> Floats:
    """Energy of each row of `allowed`.

    Examples
    --------
    >>> energies(np.array([[0.0, 1], [2, 0]]), 5.0, allowed(2)).tolist()
    [7.0, 10.0, 6.0]
    """
    points = np.arange(len(D))
    return np.where(x == points, penalty, D[points, x]).sum(axis=1)


def errors(labels: Integers, x: Integers) -> Floats:
    """Loss Δ of each row of `allowed`, with α = β = 1.

    Examples
    --------
    >>> errors(np.array([0, 0]), allowed(2)).tolist()
    [0.0, 1.0, 0.0]
    """
    own = x == np.arange(len(labels))
    extra = sum(abs(1 - own[:, labels == c].sum(axis=1)) for c in np.unique(labels))
    return (extra + (labels[x] != labels).sum(axis=1)).astype(float)


def is_consistent(labels: Integers, x: Integers) -> bool:
    """Tell whether every cluster has one exemplar, its own, for all its points.

    Examples
    --------
    >>> [is_consistent(np.array([0, 0]), row) for row in allowed(2)]
    [True, False, True]
    """
    chosen = [set(x[labels == c]) for c in np.unique(labels)]
    own = [set(np.flatnonzero(labels == c)) for c in np.unique(labels)]
    return all(len(q) == 1 and q <= c for q, c in zip(chosen, own, strict=True))


def hinge_loss(
    D: Floats, penalty: Floats | float, labels: Integers, *, fixed: Integers | None = None
) -> float:
    """Hinge loss ℓ by enumeration, with the exemplars of `fixed` instead of the best ones.

    Examples
    --------
    >>> from mlbook.latent_crf import ExemplarProblem
    >>> from book.figures.latent_crf.votes import three_points
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> hinge_loss(problem.distances(np.array([0.5, 0.5])), 3.0, np.array([0, 0, 1]))
    3.0
    """
    x = allowed(len(D))
    energy, error = energies(D, penalty, x), errors(labels, x)
    consistent = energy[error == 0] if fixed is None else energies(D, penalty, fixed[None])
    return float(consistent.min() - (energy - error).min())
