"""Customers, shops and offers: exemplar clustering and its bound, on points in a square."""

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from book.figures.names import name_after
from mlbook._arrays import Floats, Integers
from mlbook.exemplars import (
    ExemplarSolution,
    exemplar_bound,
    exemplar_energy,
    exemplar_labels,
    solve_exemplars,
)
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "DISTANCES",
    "PENALTIES",
    "STEPS",
    "DualStep",
    "cyclic_distances",
    "draw_stars",
    "dual_path",
    "euclidean",
    "penalty_and_distance",
    "solution_of",
    "step_through",
    "stepped",
    "towns",
]


def towns(n: int = 40, *, seed: int = 3) -> Floats:
    """Draw n points around five centres in the unit square, the customers of the chapter.

    Examples
    --------
    >>> towns(7).shape
    (7, 2)
    """
    rng = np.random.default_rng(seed)
    centers = np.array([[0.17, 0.2], [0.8, 0.15], [0.5, 0.5], [0.18, 0.8], [0.82, 0.8]])
    return centers[np.arange(n) % 5] + 0.085 * rng.normal(size=(n, 2))


def cyclic_distances() -> Floats:
    """Three points, each near the next one only: the relaxation of Eq. 1 is not tight.

    Examples
    --------
    >>> [exemplar_energy(cyclic_distances(), Q, 2.0) for Q in ([0], [0, 1], [0, 1, 2])]
    [4.0, 4.0, 6.0]
    """
    return np.array([[0.0, 0, 2], [2, 0, 0], [0, 2, 0]])


def euclidean(X: Floats) -> Floats:
    """Compute the distance of each point to each other.

    Examples
    --------
    >>> euclidean(np.array([[0.0, 0.0], [3.0, 4.0]]))[0, 1].item()
    5.0
    """
    return np.linalg.norm(X[:, None] - X, axis=2)


def _uphill(X: Floats) -> Floats:
    """Distances for which going straight up costs three times as much: asymmetric, geometric."""
    rise = X[None, :, 1] - X[:, None, 1]
    return euclidean(X) + 2 * np.maximum(rise, 0)


def _random(X: Floats) -> Floats:
    """Uniform numbers, unrelated to the points and asymmetric."""
    return np.random.default_rng(0).uniform(0, 1, size=(len(X), len(X)))


DISTANCES = {
    "Euclidean": euclidean,
    "squared": lambda X: 2 * euclidean(X) ** 2,
    "uphill": _uphill,
    "random": _random,
}
"""Ways to measure how far point p is from exemplar q."""


PENALTIES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)


@cache
def solution_of(distance: str, penalty: float) -> ExemplarSolution:
    """Cluster the towns by one of the `DISTANCES`.

    Examples
    --------
    >>> len(solution_of("Euclidean", 1.6).exemplars)
    5
    """
    D = DISTANCES[distance](towns())
    return solve_exemplars(D, penalty, random_state=0)


def penalty_and_distance(penalty: float, distance: str) -> tuple[Figure, str]:
    """Draw the exemplars found for one penalty, and their number for all of them."""
    X = towns()
    solution = solution_of(distance, penalty)
    counts = [len(solution_of(distance, f).exemplars) for f in PENALTIES]
    figure, axes = subplots(1, 2, height=3.1)
    left, right = axes[0]
    labels = exemplar_labels(DISTANCES[distance](X), solution.exemplars)
    draw_stars(left, X, solution.exemplars, labels, name_after(_towns_named(), labels))
    left.set(title=_count(solution.exemplars))
    right.plot(PENALTIES, counts, marker="o", color=COLORS[0])
    right.axvline(penalty, color=INK, linewidth=1, linestyle=":")
    right.set(xscale="log", yscale="log", ylim=(0.8, 55), title="number of exemplars")
    right.set(xlabel="price f", xticks=PENALTIES[::2], xticklabels=PENALTIES[::2])
    right.set(yticks=[1, 2, 5, 10, 20, 40], yticklabels=[1, 2, 5, 10, 20, 40])
    right.minorticks_off()
    return figure, (
        f"{distance} distances, price {penalty:g}: {_count(solution.exemplars)}, energy "
        f"{solution.energy:.3f}, bound {solution.lower_bound:.3f}. No other set can save more "
        f"than {100 * solution.gap:.1f}%."
    )


def _count(exemplars: Integers) -> str:
    return f"{len(exemplars)} exemplar{'s' if len(exemplars) > 1 else ''}"


@cache
def _towns_named() -> Integers:
    """Clusters of the towns after which those of other pictures are named, and so coloured."""
    return exemplar_labels(euclidean(towns()), solution_of("Euclidean", 1.6).exemplars)


def draw_stars(
    ax: Axes, X: Floats, exemplars: Integers, labels: Integers, names: Integers | None = None
) -> None:
    """Draw a line from every point to its exemplar; exemplars are large. Names choose colours."""
    ways = np.stack([X, X[exemplars[labels]]], axis=1)
    kinds = (labels if names is None else names) % len(COLORS)
    kind_of = np.full(len(exemplars), -1)
    kind_of[labels] = kinds
    for c, (color, marker) in enumerate(zip(COLORS, MARKERS, strict=True)):
        points, centers = X[kinds == c], X[exemplars[kind_of == c]]
        if len(centers):
            lines = LineCollection(ways[kinds == c], colors=color, linewidths=0.8, alpha=0.6)
            ax.add_collection(lines)
            x, y = points.T
            ax.scatter(x, y, s=22, color=color, marker=marker, linewidths=0)
            x, y = centers.T
            ax.scatter(x, y, s=95, color=color, marker=marker, edgecolors=INK, zorder=3)
    ax.set(xlim=(-0.12, 1.15), ylim=(-0.12, 1.15), xticks=[], yticks=[], aspect="equal")


class DualStep(NamedTuple):
    """One point of a path up the dual function, and what it suggests."""

    offers: Floats
    bound: float
    exemplars: Integers
    energy: float


def dual_path(D: Floats, penalty: float, n_steps: int, *, step: float) -> list[DualStep]:
    """Climb the dual function L(v) from v = 0 by plain subgradient steps.

    Point q is open if f_q − v_q − Σ_{p ≠ q} (v_p − d_pq)₊ < 0. A supergradient of L at v is, for
    every point, 1 minus the number of open points that it pays for. The step is multiplied by
    1 / (1 + t / 10). A set of exemplars is rounded from the path: points that were open
    lately, the most often open first, are added while that lowers the energy. O(n²) per
    step and O(n²) for the rounding.

    Returns
    -------
    list of DualStep
        The offers v before every step and after the last one, L(v), the set and its energy.

    Examples
    --------
    >>> path = dual_path(cyclic_distances(), 2.0, 20, step=0.5)
    >>> round(max(step.bound for step in path), 1), min(step.energy for step in path)
    (3.0, 4.0)
    """
    n = len(D)
    v, share = np.zeros(n), np.zeros(n)
    path = []
    for t in range(n_steps + 1):
        margins = v[:, None] - D
        np.fill_diagonal(margins, 0)
        reduced = penalty - v - np.maximum(margins, 0).sum(axis=0)
        is_open = reduced < 0
        share += 0.1 * (is_open - share)
        order = np.lexsort((reduced, -share))
        exemplars = _add_while_it_pays(D, penalty, order[: max(1, np.sum(share > 0.02))])
        energy = exemplar_energy(D, exemplars, penalty)
        path.append(DualStep(v, exemplar_bound(D, penalty, v), exemplars, energy))
        gradient = 1.0 - is_open - (margins > 0)[:, is_open].sum(axis=1)
        v = v + step / (1 + t / 10) * gradient
    return path


def _add_while_it_pays(D: Floats, penalty: float, candidates: Integers) -> Integers:
    chosen = candidates[:1]
    for q in candidates[1:]:
        more = np.append(chosen, q)
        if exemplar_energy(D, more, penalty) < exemplar_energy(D, chosen, penalty):
            chosen = more
    return chosen


STEPS = (0, 1, 2, 3, 5, 8, 10, 20, 30, 80, 120, 200)


@cache
def stepped(distance: str) -> tuple[Floats, list[DualStep]]:
    """Return the towns and the path up their dual, for one of the `DISTANCES`, f = 1.6.

    Examples
    --------
    >>> X, path = stepped("Euclidean")
    >>> X.shape, len(path)
    ((40, 2), 201)
    """
    X = towns()
    return X, dual_path(DISTANCES[distance](X), 1.6, STEPS[-1], step=0.06)


def _shade_offers(ax: Axes, X: Floats, offers: Floats, penalty: float) -> None:
    """Shade the plane by what all points offer there, Σ_p (v_p − distance)₊, up to the penalty.

    A line goes around the places where the offers exceed the penalty.
    """
    side = np.linspace(-0.12, 1.15, 90)
    places = np.stack(np.meshgrid(side, side), axis=-1)
    ways = np.linalg.norm(places[:, :, None] - X, axis=-1)
    offered = np.maximum(offers - ways, 0).sum(axis=-1) / penalty
    greys = ["1", "0.96", "0.92", "0.88", "0.84", "0.7"]
    ax.contourf(side, side, offered, np.linspace(0, 1, 6), colors=greys, extend="max")
    ax.contour(side, side, offered, [1.0], colors=INK, linewidths=0.8, linestyles="--")


def step_through(step: int, distance: str) -> tuple[Figure, str]:
    """Draw the offers of 40 points after some steps on the dual, and the two bounds so far."""
    X, path = stepped(distance)
    now = path[step]
    bounds = np.maximum.accumulate([s.bound for s in path])
    energies = np.minimum.accumulate([s.energy for s in path])
    figure, axes = subplots(1, 2, height=3.1)
    left, right = axes[0]
    labels = exemplar_labels(DISTANCES[distance](X), now.exemplars)
    if distance == "Euclidean":
        _shade_offers(left, X, now.offers, 1.6)
    draw_stars(left, X, now.exemplars, labels, name_after(_towns_named(), labels))
    left.set(title=f"step {step}: {_count(now.exemplars)}")
    shown = np.arange(step + 1)
    right.plot(shown, energies[: step + 1], color=COLORS[1], label="best energy", marker="v",
               markevery=[-1])  # fmt: skip
    right.plot(shown, bounds[: step + 1], color=COLORS[0], label="best bound", marker="^",
               markevery=[-1])  # fmt: skip
    right.set_xscale("symlog", linthresh=5)
    right.set(xlim=(-0.3, 230), ylim=(0, 28), xlabel="step", title="the optimum is between")
    right.set(xticks=[0, 5, 20, 200], xticklabels=[0, 5, 20, 200])
    right.minorticks_off()
    right.legend(frameon=False, loc="upper right")
    energy, bound = energies[step], bounds[step]
    return figure, (
        f"{distance} distances, after {step} steps: bound {bound:.3f}, energy {energy:.3f}, so at "
        f"most {100 * (1 - bound / energy):.1f}% could be saved."
    )
