"""Figures of the page on duality and subgradients: a meal, its bound, and steps on a corner."""

from __future__ import annotations

from itertools import product

import numpy as np
from matplotlib.figure import Figure

from mlbook._arrays import Floats, Integers
from mlbook.plots import COLORS, INK, subplots

__all__ = [
    "COSTS",
    "NEEDS",
    "RULES",
    "SHARES",
    "STEPS",
    "ascent",
    "bound_of",
    "cheapest_meal",
    "every_meal",
    "lines",
    "steps_on",
]

COSTS = np.array([2.0, 3.0])  # of a portion of rice and of beans
SHARES = np.array([[1.0, 1.0], [1.0, 3.0]])  # of protein and of iron in a portion
NEEDS = np.array([4.0, 7.0])
MOST = 6  # portions of one kind
STEPS = (0, 1, 2, 3, 5, 8, 13, 21, 34)
RULES = ("same step", "shrinking steps")


def every_meal() -> Integers:
    """List all meals of whole portions that have enough protein; iron is another matter.

    Examples
    --------
    >>> meals = every_meal()
    >>> len(meals), meals.sum(axis=1).min().item()
    (39, 4)
    """
    meals = np.array(list(product(range(MOST + 1), repeat=2)))
    return meals[meals @ SHARES[0] >= NEEDS[0]]


def lines() -> tuple[Floats, Floats]:
    """Say what each of these meals costs, and how much iron it lacks.

    Examples
    --------
    >>> costs, lacks = lines()
    >>> costs.min().item(), lacks.max().item()
    (8.0, 3.0)
    """
    meals = every_meal()
    return meals @ COSTS, NEEDS[1] - meals @ SHARES[1]


def bound_of(v: float) -> tuple[float, float]:
    """Return the bound at the fee v for missing iron, and its slope there.

    Examples
    --------
    >>> bound_of(0.5)[0], bound_of(0.25)[1]
    (9.5, 3.0)
    """
    costs, lacks = lines()
    best = int(np.argmin(costs + v * lacks))
    return float(costs[best] + v * lacks[best]), float(lacks[best])


def steps_on(rule: str, n_steps: int) -> Floats:
    """Walk uphill on the bound from v = 0, by 0.1 times the slope, which may shrink.

    Examples
    --------
    >>> steps_on("same step", 2).round(2).tolist()
    [0.0, 0.3, 0.6]
    """
    v, path = 0.0, [0.0]
    for t in range(n_steps):
        length = 0.1 if rule == RULES[0] else 0.1 / (1 + t / 5)
        v = max(0.0, v + length * bound_of(v)[1])
        path.append(v)
    return np.array(path)


def cheapest_meal() -> Figure:
    """Draw the meals that suffice, and the lines of equal cost through the best ones."""
    figure, axes = subplots(height=3.6)
    ax = axes[0, 0]
    x = np.linspace(0, 6.5, 200)
    need = np.maximum(NEEDS[0] - x, (NEEDS[1] - x) / 3)
    ax.fill_between(x, np.maximum(need, 0), 6.5, color=COLORS[2], alpha=0.25, linewidth=0)
    for row, (name, color) in enumerate([("protein", COLORS[0]), ("iron", COLORS[1])]):
        ax.plot(x, (NEEDS[row] - SHARES[row, 0] * x) / SHARES[row, 1], color=color)
        at = ((0.25, 4.1), (5.15, 0.75))[row]
        ax.text(*at, name, color=color)
    for cost, style in [(9.5, "-"), (10.0, "--")]:
        ax.plot(x, (cost - 2 * x) / 3, color=INK, linestyle=style, linewidth=1)
    meals = every_meal()
    whole = meals[meals @ SHARES[1] >= NEEDS[1]]
    ax.scatter(*whole.T, s=14, color=INK)
    ax.scatter(2.5, 1.5, s=70, color=COLORS[0], marker="D", zorder=3)
    ax.scatter(2, 2, s=70, color=COLORS[1], marker="s", zorder=3)
    ax.set(xlim=(0, 6.5), ylim=(0, 6.5), aspect="equal", xlabel="rice", ylabel="beans")
    return figure


def ascent(step: int, rule: str) -> tuple[Figure, str]:
    """Draw the bound over the fee, the lowest of many lines, and some steps uphill on it."""
    costs, lacks = lines()
    figure, axes = subplots(1, 2, height=3.1)
    left, right = axes[0]
    v = np.linspace(0, 1.2, 241)
    for cost, lack in {(float(c), float(lack)) for c, lack in zip(costs, lacks, strict=True)}:
        left.plot(v, cost + v * lack, color="0.8", linewidth=0.7)
    left.plot(v, [bound_of(each)[0] for each in v], color=COLORS[0], linewidth=2)
    left.axhline(10, color=INK, linestyle="--", linewidth=1)
    path = steps_on(rule, STEPS[-1])
    bounds = np.array([bound_of(each)[0] for each in path])
    left.plot(path[: step + 1], bounds[: step + 1], color=COLORS[1], linewidth=0.8)
    left.scatter(path[step], bounds[step], s=60, color=COLORS[1], marker="s", zorder=3)
    left.set(xlim=(0, 1.2), ylim=(5, 12), xlabel="fee v for iron", title="lines and bound")
    right.axhline(10, color=INK, linestyle="--", linewidth=1)
    right.axhline(9.5, color=INK, linestyle=":", linewidth=1)
    right.plot(bounds[: step + 1], color=COLORS[1], marker="s", markersize=3, linewidth=0.8)
    right.set(xlim=(-1, STEPS[-1] + 1), ylim=(7, 10.4), xlabel="step", title="bound")
    return figure, (
        f"{rule.capitalize()}, step {step}: the fee is {path[step]:.2f}, the bound "
        f"{bounds[step]:.2f}, the best so far {bounds[: step + 1].max():.2f}. The best of all "
        "bounds is 9.5, the best meal of whole portions costs 10."
    )
