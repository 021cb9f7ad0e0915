"""Figures of the chapter on the latent CRF."""

import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from book.figures.names import name_after
from mlbook._arrays import Floats, Integers
from mlbook.datasets import make_noisy_gaussians, make_xor_grids
from mlbook.exemplars import (
    ExemplarSolution,
    exemplar_bound,
    exemplar_energy,
    exemplar_labels,
    solve_exemplars,
)
from mlbook.grid_crf import LatentGridCRF
from mlbook.latent_crf import (
    DualDecompositionLearner,
    ExemplarProblem,
    LatentExemplarMetric,
    SlaveBatch,
    SlaveState,
    configuration_energy,
    dual_value,
    exemplars_of_partition,
    initial_multipliers,
    loss_augmented_potentials,
    relaxed_loss,
)
from mlbook.latent_crf.learning import learn
from mlbook.partitions import f_measure
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "DISTANCES",
    "FAIR",
    "N_FEATURES",
    "PENALTIES",
    "PRICE",
    "RHOS",
    "STEPS",
    "STRENGTHS",
    "TAU",
    "WAYS",
    "DualStep",
    "SmallProblem",
    "above_the_bound",
    "allowed",
    "assignment_grid",
    "augmented_minimum",
    "best_bound",
    "climb",
    "cluster_exemplars",
    "cutting_planes",
    "cyclic_distances",
    "digit_sets",
    "dual_path",
    "energies",
    "errors",
    "exemplar_sets",
    "hinge_loss",
    "is_consistent",
    "last_move",
    "learned_metric",
    "linear_gap",
    "master_and_slaves",
    "mean_features",
    "noisy_sets",
    "noisy_test_set",
    "one_step_in_fitting_units",
    "penalties_compared",
    "penalty_and_distance",
    "plain_gap",
    "scores_of",
    "share_of_noise",
    "shuffled_gap",
    "single_steps",
    "sizes_compared",
    "slave_minima",
    "slave_values",
    "small_problems",
    "solution_of",
    "step_through",
    "stepped",
    "steps_compared",
    "strength_path",
    "strength_scores",
    "subgradient_learner",
    "three_points",
    "tightness",
    "tightness_of",
    "towns",
    "two_learners",
    "weights_of",
    "xor_errors",
    "xor_grid",
    "xor_grids",
    "xor_models",
]


# The problem and its dual


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


def _euclidean(X: Floats) -> Floats:
    return np.linalg.norm(X[:, None] - X, axis=2)


def _uphill(X: Floats) -> Floats:
    """Distances for which going straight up costs three times as much: asymmetric, geometric."""
    rise = X[None, :, 1] - X[:, None, 1]
    return _euclidean(X) + 2 * np.maximum(rise, 0)


def _random(X: Floats) -> Floats:
    """Uniform numbers, unrelated to the points and asymmetric."""
    return np.random.default_rng(0).uniform(0, 1, size=(len(X), len(X)))


DISTANCES = {
    "Euclidean": _euclidean,
    "squared": lambda X: 2 * _euclidean(X) ** 2,
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
    _draw_stars(left, X, solution.exemplars, labels, name_after(_towns_named(), labels))
    left.set(title=_count(solution.exemplars))
    right.plot(PENALTIES, counts, marker="o", color=COLORS[0])
    right.axvline(penalty, color=INK, linewidth=1, linestyle=":")
    right.set(xscale="log", yscale="log", ylim=(0.8, 55), title="number of exemplars")
    right.set(xlabel="penalty f", xticks=PENALTIES[::2], xticklabels=PENALTIES[::2])
    right.set(yticks=[1, 2, 5, 10, 20, 40], yticklabels=[1, 2, 5, 10, 20, 40])
    right.minorticks_off()
    return figure, (
        f"{distance} distances, penalty {penalty:g}: {_count(solution.exemplars)}, energy "
        f"{solution.energy:.3f}, bound {solution.lower_bound:.3f}. No other set can save more "
        f"than {100 * solution.gap:.1f}%."
    )


def _count(exemplars: Integers) -> str:
    return f"{len(exemplars)} exemplar{'s' if len(exemplars) > 1 else ''}"


@cache
def _towns_named() -> Integers:
    """Clusters of the towns after which those of other pictures are named, and so coloured."""
    return exemplar_labels(_euclidean(towns()), solution_of("Euclidean", 1.6).exemplars)


def _draw_stars(
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
    _draw_stars(left, X, now.exemplars, labels, name_after(_towns_named(), labels))
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


# Two drawings


def assignment_grid() -> Figure:
    """Draw five points, their exemplars, and the same as a 0-1 matrix with its constraints."""
    X = np.array([[0.1, 0.75], [0.3, 0.95], [0.25, 0.45], [0.8, 0.3], [0.95, 0.6]])
    exemplars, labels = np.array([0, 3]), np.array([0, 0, 0, 1, 1])
    figure, axes = subplots(1, 2, height=2.9)
    left, right = axes[0]
    _draw_stars(left, X, exemplars, labels)
    for p, x in enumerate(X):
        left.annotate(f"{p + 1}", tuple(x), (7, 5), textcoords="offset points")
    left.set(title="two exemplars: 1 and 4")
    for p in range(5):
        for q in range(5):
            chosen = exemplars[labels[p]] == q
            color = COLORS[labels[p]] if chosen else ("0.85" if p == q else "white")
            right.add_patch(Rectangle((q, p), 1, 1, facecolor=color, edgecolor="0.6"))
            text = "1" if chosen else "0"
            right.text(q + 0.5, p + 0.5, text, ha="center", va="center",
                       color="white" if chosen else "0.4")  # fmt: skip
    right.add_patch(Rectangle((0, 1), 5, 1, fill=False, edgecolor=INK, linewidth=2.5))
    right.text(5.15, 1.5, "one 1\nper row", va="center", fontsize=10)
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.5}
    right.annotate("", (3.82, 3.35), (3.82, 4.5), arrowprops=arrow)
    right.text(5.15, 4.1, "a 1 needs a 1\non the diagonal", va="center", fontsize=10)
    ticks = np.arange(5) + 0.5
    right.set(xlim=(-0.1, 8.6), ylim=(5.1, -0.1), aspect="equal", ylabel="point p")
    right.set(xticks=ticks, xticklabels=range(1, 6), yticks=ticks, yticklabels=range(1, 6))
    right.set_title("x, exemplar q across", loc="left")
    right.spines[:].set_visible(False)
    return figure


def master_and_slaves() -> Figure:
    """Draw which of the nine variables of three points each of the five slaves sees."""
    rows = [{(p, q) for q in range(3)} | {(q, q) for q in range(3)} for p in range(3)]
    seen = [*rows, {(0, 0), (1, 1)}, {(2, 2)}]
    names = ["point 1", "point 2", "point 3", "{1, 2}", "{3}"]
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.2}
    figure, axes = subplots(height=2.9)
    ax = axes[0, 0]
    ax.add_patch(FancyBboxPatch((2.2, 5.2), 12.2, 1.5, boxstyle="round,pad=0.2", facecolor="0.93"))
    ax.text(8.3, 5.95, "master: weights w, prices λ with sum 0", ha="center", va="center")
    for i, (cells, name) in enumerate(zip(seen, names, strict=True)):
        x = 3.4 * i
        for p in range(3):
            for q in range(3):
                inside = (p, q) in cells
                face = (COLORS[1] if p == q else COLORS[2]) if inside else "white"
                spot = (x + q, 2 - p)
                hatch = "//" if inside and p == q else None
                ax.add_patch(Rectangle(spot, 1, 1, facecolor=face, edgecolor="0.4", hatch=hatch))
        ax.text(x + 1.5, -0.3, name, ha="center", va="top", fontsize=11)
        for shift, ends in [(1.1, (5.0, 3.1)), (1.9, (3.1, 5.0))]:
            ax.annotate("", (x + shift, ends[1]), (x + shift, ends[0]), arrowprops=arrow)
    ax.text(0.95, 4.05, "λ", ha="right", va="center")
    ax.text(2.05, 4.05, "x̂", ha="left", va="center")
    ax.set(xlim=(-0.4, 17), ylim=(-1.5, 7), aspect="equal")
    ax.axis("off")
    return figure


# The worked example, and what the printed rule does


def three_points() -> tuple[Floats, Integers]:
    """Three points with two features, of which the first tells the clusters apart.

    Examples
    --------
    >>> X, y = three_points()
    >>> X.tolist(), y.tolist()
    ([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]], [0, 0, 1])
    """
    return np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]]), np.array([0, 0, 1])


class _PrintedSlaves:
    """Point slaves by Komodakis 2011, Eqs. 32-33 as printed: what p chooses may stay closed."""

    def __init__(self, batch: SlaveBatch) -> None:
        self.batch, self.shape, self.coords = batch, batch.shape, batch.coords

    def minimize(self, w: Floats, multipliers: Floats) -> SlaveState:
        right = self.batch.minimize(w, multipliers)
        problem = self.batch.problem  # type: ignore[attr-defined]
        shares = problem.potentials(w).diagonal() / (self.shape[0] + 1)
        is_open = shares + multipliers < 0
        np.fill_diagonal(is_open, right.mu.diagonal())
        return right._replace(mu=is_open)

    def evaluate(self, x: Integers) -> SlaveState:
        return self.batch.evaluate(x)


def climb(
    problem: ExemplarProblem, w: Floats, n_steps: int, *, step: float, printed: bool = False
) -> Floats:
    """Best dual bound so far along subgradient steps on the multipliers, the weights fixed.

    The step is multiplied by 1 / (1 + t / 10). With `printed` the votes are those of Eqs. 32-33 as
    printed, while the bound is always the true one. O(n²) per step.

    Examples
    --------
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> climb(problem, np.array([0.5, 0.5]), 2, step=2.0).tolist()
    [-2.0, 2.5, 2.5]
    """
    path = _prices(problem, w, n_steps, step=step, printed=printed)
    return np.maximum.accumulate([dual_value(problem, w, prices) for prices in path])


def last_move(problem: ExemplarProblem, w: Floats, n_steps: int, *, step: float) -> int:
    """Return the last of the steps of `climb` in which the printed rule moves a price, 0 if none.

    Examples
    --------
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> last_move(problem, np.array([0.5, 0.5]), 20, step=4.0)
    1
    """
    path = [np.vstack(prices) for prices in _prices(problem, w, n_steps, step=step, printed=True)]
    moves = [t for t in range(1, n_steps + 1) if (path[t] != path[t - 1]).any()]
    return max(moves, default=0)


def _prices(
    problem: ExemplarProblem, w: Floats, n_steps: int, *, step: float, printed: bool
) -> Iterator[list[Floats]]:
    """Yield the prices before and after each step of `climb`."""
    voters = copy(problem)
    if printed:
        voters.batches = [_PrintedSlaves(problem.batches[0]), problem.batches[1]]
    x = problem.complete(w, None)
    prices = initial_multipliers(problem)
    yield prices
    for t in range(n_steps):
        slopes = relaxed_loss(voters, w, prices, x).multipliers
        length = step / (1 + t / 10)
        prices = [a - length * b for a, b in zip(prices, slopes, strict=True)]
        yield prices


def augmented_minimum(
    D: Floats, labels: Integers, penalty: float, *, alpha: float, beta: float, integral: bool
) -> float:
    """Minimum of the loss-augmented energy or of its relaxation, by HiGHS.

    Minimizes Σ ū_pq x_pq + α Σ_C (2 t_C − 1 − Σ_{q∈C} x_qq) − βn with x_pq ≤ x_qq ≤ t_C: at binary
    x_qq this is E − Δ of Komodakis 2011, Eq. 17, at fractional ones Eq. 26. With α = β = 0 it is
    the program of Eqs. 2-5. For few points.

    Examples
    --------
    >>> D, y = cyclic_distances(), np.zeros(3, dtype=int)
    >>> options = {"penalty": 2.0, "alpha": 0.0, "beta": 0.0}
    >>> [round(augmented_minimum(D, y, integral=i, **options), 6) for i in (False, True)]
    [3.0, 4.0]
    """
    n, k = len(D), int(labels.max()) + 1
    U = loss_augmented_potentials(D, labels, penalty, beta)
    U[np.diag_indices(n)] -= alpha
    cost = np.concatenate([U.ravel(), np.full(k, 2.0 * alpha)])
    rows = np.kron(np.eye(n), np.ones(n))
    diagonal = np.tile(np.diag_indices(n)[0] * (n + 1), n)
    off = np.flatnonzero(diagonal != np.arange(n * n))
    below = np.zeros((len(off) + n, n * n + k))
    below[np.arange(len(off)), off] = 1
    below[np.arange(len(off)), diagonal[off]] = -1
    below[len(off) + np.arange(n), np.arange(n) * (n + 1)] = 1
    below[len(off) + np.arange(n), n * n + labels] = -1
    integrality = np.zeros(n * n + k)
    integrality[np.arange(n) * (n + 1)] = integral
    result = milp(
        cost,
        integrality=integrality,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(np.hstack([rows, np.zeros((n, k))]), 1, 1),
            LinearConstraint(below, -np.inf, 0),
        ],
    )
    return float(result.fun) - alpha * k - beta * n


KINDS = ("Gaussian, far apart", "Gaussian, overlapping", "random")


def _clusters(kind: str, seed: int, n: int) -> tuple[Floats, Integers]:
    """Distances of n points in three clusters, of one of the `KINDS`."""
    rng, labels = np.random.default_rng(seed), np.arange(n) % 3
    far = 4.0 if kind.endswith("apart") else 1.0
    X = rng.normal(size=(n, 2)) + far * np.array([[0, 0], [2, 0], [1, 2]])[labels]
    return (rng.uniform(0, 9, size=(n, n)) if kind == "random" else _euclidean(X)), labels


@cache
def tightness_of(kind: str, n_seeds: int, n: int = 12) -> Floats:
    """Minima of Eq. 1 and of Eq. 1 with the loss, relaxed and exact, and the consistent energy.

    Returns one row per draw, f = 4 and α = β = 1: the relaxation of Eq. 1, its minimum, Eq. 26, its
    minimum, and the smallest energy of the true clusters.

    Examples
    --------
    >>> relaxed, exact, *_ = tightness_of("random", 1, 6)[0]
    >>> bool(relaxed <= exact + 1e-9)
    True
    """
    rows = []
    for seed in range(n_seeds):
        D, labels = _clusters(kind, seed, n)
        Q = exemplars_of_partition(D, labels)
        truth = 4.0 * len(Q) + sum(D[p, Q[c]] for p, c in enumerate(labels) if p != Q[c])
        minima = [
            augmented_minimum(D, labels, 4.0, alpha=a, beta=a, integral=integral)
            for a in (0.0, 1.0)
            for integral in (False, True)
        ]
        rows.append([*minima, truth])
    return np.array(rows)


def linear_gap(kind: str, seed: int, n: int = 12) -> float:
    """Gap of the relaxation with the loss Δ′ of the exercise, which has no absolute value.

    With α = β = 1 this is Eq. 1 again, with the penalty f + β − α = 4.

    Examples
    --------
    >>> abs(linear_gap("Gaussian, far apart", 0, 6)) < 1e-6
    True
    """
    D, labels = _clusters(kind, seed, n)
    return _relaxation_gap(loss_augmented_potentials(D, labels, 4.0, 1.0))


def plain_gap(kind: str, seed: int, n: int = 12) -> float:
    """Gap of the relaxation of Eq. 1, without a loss, f = 4.

    Examples
    --------
    >>> abs(plain_gap("Gaussian, far apart", 0, 6)) < 1e-6
    True
    """
    return _relaxation_gap(_clusters(kind, seed, n)[0])


def shuffled_gap(kind: str, seed: int, n: int = 12) -> float:
    """Gap of the relaxation of Eq. 1 if the distances are shuffled among the pairs, f = 4.

    Examples
    --------
    >>> shuffled_gap("Gaussian, overlapping", 0) >= -1e-6
    True
    """
    D, pairs = _clusters(kind, seed, n)[0], np.triu_indices(n, 1)
    shuffled = np.zeros_like(D)
    shuffled[pairs] = np.random.default_rng(1000 + seed).permutation(D[pairs])
    return _relaxation_gap(shuffled + shuffled.T)


def _relaxation_gap(D: Floats) -> float:
    one = np.zeros(len(D), dtype=int)
    relaxed, exact = (
        augmented_minimum(D, one, 4.0, alpha=0.0, beta=0.0, integral=i) for i in (False, True)
    )
    return exact - relaxed


def tightness(n_seeds: int, n: int = 12) -> list[tuple[str, ...]]:
    """Count how often a linear relaxation attains the minimum: Eq. 1, and Eq. 1 with the loss.

    Returns one row per kind of distance: in how many of `n_seeds` draws of n points in three
    clusters the relaxation of Eq. 1 is tight, the same for Eq. 26, and the mean of the relaxed
    hinge loss and of the true one.
    """
    rows: list[tuple[str, ...]] = []
    for kind in KINDS:
        relaxed, exact, relaxed_margin, margin, truth = tightness_of(kind, n_seeds, n).T
        counts = [np.sum(exact - relaxed < 1e-6), np.sum(margin - relaxed_margin < 1e-6)]
        losses = [(truth - low).mean() for low in (relaxed_margin, margin)]
        rows.append((kind, *map(str, counts), *(f"{loss:.1f}" for loss in losses)))
    return rows


# Small problems, solved by enumeration


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
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> hinge_loss(problem.distances(np.array([0.5, 0.5])), 3.0, np.array([0, 0, 1]))
    3.0
    """
    x = allowed(len(D))
    energy, error = energies(D, penalty, x), errors(labels, x)
    consistent = energy[error == 0] if fixed is None else energies(D, penalty, fixed[None])
    return float(consistent.min() - (energy - error).min())


def best_bound(D: Floats, penalty: Floats) -> float:
    """Compute max L(v), as a linear program in v_p, s_pq ≥ (v_p − d_pq)₊ and m_q ≤ min(0, r_q).

    Examples
    --------
    >>> round(best_bound(cyclic_distances(), np.full(3, 2.0)), 6)
    3.0
    """
    n = len(D)
    pairs = [(p, q) for p in range(n) for q in range(n) if p != q]
    cost = np.concatenate([np.ones(n), np.zeros(len(pairs)), np.ones(n)])
    above, limits = np.zeros((len(pairs) + n, len(cost))), []
    for i, (p, q) in enumerate(pairs):  # v_p − s_pq ≤ d_pq, and s_pq in the sum of r_q
        above[i, [p, n + i]] = 1, -1
        above[len(pairs) + q, n + i] = 1
        limits.append(D[p, q])
    above[len(pairs) + np.arange(n), np.arange(n)] = 1
    above[len(pairs) + np.arange(n), n + len(pairs) + np.arange(n)] = 1
    bounds = [(None, None)] * n + [(0, None)] * len(pairs) + [(None, 0)] * n
    return -float(linprog(-cost, above, [*limits, *penalty], bounds=bounds).fun)


def slave_minima(problem: ExemplarProblem, w: Floats, prices: list[Floats]) -> Floats:
    """Minimum of every slave, points first, by going through all that it may do; α = β = 1.

    Examples
    --------
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> slave_minima(problem, np.array([0.5, 0.5]), initial_multipliers(problem)).tolist()
    [0.0, 0.0, 0.0, -1.0, -1.0]
    """
    U, y = problem.potentials(w), np.asarray(problem.labels)
    n = len(U)
    share = U.diagonal() / (n + 1)
    openings = np.array(list(product((0, 1), repeat=n)))
    minima = []
    for p in range(n):
        theta = share + prices[0][p]
        values = [
            x @ theta + (0 if q == p else U[p, q]) - 1
            for x in openings
            for q in range(n)
            if x[q] and x[p] == (q == p)
        ]
        minima.append(min(values))
    for c in np.unique(y):
        theta = np.where(y == c, share + prices[1], 0)
        minima.append(min(x @ theta - abs(1 - x[y == c].sum()) for x in openings))
    return np.array(minima)


def slave_values(problem: ExemplarProblem, w: Floats, prices: list[Floats]) -> Floats:
    """Energy of every slave at what the library votes for it, points first; α = β = 1.

    The votes have no row: a point that does not open itself goes to the nearest of what it opens.

    Examples
    --------
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> slave_values(problem, np.array([0.5, 0.5]), initial_multipliers(problem)).tolist()
    [0.0, 0.0, 0.0, -1.0, -1.0]
    """
    U, y = problem.potentials(w), np.asarray(problem.labels)
    share = U.diagonal() / (len(U) + 1)
    votes, own = (
        batch.minimize(w, price).mu for batch, price in zip(problem.batches, prices, strict=True)
    )
    ways = np.where(votes > 0, U, np.inf).min(axis=1)
    rows = ((share + prices[0]) * votes).sum(axis=1) + np.where(votes.diagonal() > 0, 0, ways) - 1
    theta = share + prices[1]
    clusters = [(theta * own)[y == c].sum() - abs(1 - own[y == c].sum()) for c in np.unique(y)]
    return np.array([*rows, *clusters])


# Learning


RHOS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
STRENGTHS = (0.001, 0.01, 0.03, 0.1, 0.2, 0.4)
FAIR = 4.8  # price of an exemplar where strengths are compared, 0.4 of the size of a cluster
WAYS = ("Euclidean", "standardized", "learned")
N_FEATURES = 30
N_TESTS = 20


@cache
def noisy_sets(rho: float, n_sets: int, first_seed: int) -> tuple[list[Floats], list[Integers]]:
    """Draw sets of 60 points in five clusters with 30 features, a share ρ of them noise.

    Examples
    --------
    >>> X, y = noisy_sets(0.5, 2, 0)
    >>> [points.shape for points in X]
    [(60, 30), (60, 30)]
    """
    draws = [
        make_noisy_gaussians(
            60, n_features=N_FEATURES, noisy_fraction=rho, n_clusters=5, random_state=seed
        )
        for seed in range(first_seed, first_seed + n_sets)
    ]
    return [X for X, _ in draws], [y for _, y in draws]


@cache
def learned_metric(
    rho: float = 0.5, strength: float | None = None, penalty: float | None = None
) -> LatentExemplarMetric:
    """Learn from four noisy sets; `strength` is per training point, None what the library takes.

    Examples
    --------
    >>> metric = learned_metric(0.5)
    >>> metric.weights_.shape
    (30,)
    """
    X, y = noisy_sets(rho, 4, 0)
    total = sum(map(len, y))
    model = LatentExemplarMetric(
        alpha="auto" if strength is None else strength * total,
        penalty="auto" if penalty is None else penalty,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of penalties below 1, which are compared
        return model.fit(X, y)


def cluster_exemplars(X: Floats, w: Floats, penalty: float) -> Integers:
    """Cluster points around exemplars under Σ_i w_i (x_i − z_i)².

    Examples
    --------
    >>> X, _ = three_points()
    >>> print(cluster_exemplars(X, np.array([2.0, 0.1]), 3.0))
    [0 0 1]
    """
    D = cdist(X * np.sqrt(w), X * np.sqrt(w), "sqeuclidean")
    return exemplar_labels(D, solve_exemplars(D, penalty, random_state=0).exemplars)


@cache
def weights_of(way: str, rho: float) -> Floats:
    """Weights of one of the `WAYS`, in units that make its best penalty that of the learned metric.

    The Euclidean distance and the standardized one (each feature divided by its mean square
    difference over the training pairs) get the scale at which the mean number of clusters
    found in the training sets is nearest to the true one.
    """
    metric = learned_metric(rho)
    if way == "learned":
        return metric.weights_
    X, y = noisy_sets(rho, 4, 0)
    w = np.ones(N_FEATURES) if way == "Euclidean" else 1 / metric.scales_
    w = w * metric.penalty_ / (w @ metric.scales_)

    def excess(scale: float) -> float:
        found = [cluster_exemplars(points, scale * w, metric.penalty_) for points in X]
        return abs(sum(len(set(a)) - len(set(b)) for a, b in zip(found, y, strict=True)))

    return min(np.geomspace(0.05, 1, 10), key=excess) * w


@cache
def scores_of(way: str, rho: float) -> tuple[Floats, Integers]:
    """Return pairwise F on the test sets, and the numbers of clusters found in them."""
    w, penalty = weights_of(way, rho), learned_metric(rho).penalty_
    X, y = noisy_sets(rho, N_TESTS, 100)
    found = [cluster_exemplars(points, w, penalty) for points in X]
    scores = np.array([f_measure(a, b) for a, b in zip(y, found, strict=True)])
    return scores, np.array([len(set(labels)) for labels in found])


def _show_set(ax: Axes, X: Floats, truth: Integers, found: Integers, rho: float) -> None:
    """Draw a set along the two widest directions of its clean features, or of all if none is."""
    clean = X[:, : N_FEATURES - round(rho * N_FEATURES)]
    centred = clean - clean.mean(axis=0)
    Z = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    Z *= np.sign(Z[0])
    named = name_after(truth, found) % len(COLORS)
    for c in np.unique(truth):
        inside = truth == c
        colors = np.array(COLORS)[named[inside]]
        x, y = Z[inside].T
        ax.scatter(x, y, s=26, c=colors, marker=MARKERS[c], linewidths=0, alpha=0.85)
    ax.set(xticks=[], yticks=[])


def noisy_test_set() -> Figure:
    """Draw a test set with half of its features noise, clustered by two distances."""
    (X,), (y,) = noisy_sets(0.5, 1, 100)
    figure, axes = subplots(1, 2, height=3)
    for ax, way in zip(axes[0], ("Euclidean", "learned"), strict=True):
        found = cluster_exemplars(X, weights_of(way, 0.5), learned_metric(0.5).penalty_)
        _show_set(ax, X, y, found, 0.5)
        title = f"{way}: {found.max() + 1} clusters, F = {f_measure(y, found):.2f}"
        ax.set_title(title, fontsize=11)
    return figure


def share_of_noise(rho: float, way: str) -> tuple[Figure, str]:
    """Draw a test set clustered in one way, and the scores of all, for a share ρ of noise."""
    X, y = noisy_sets(rho, 1, 100)
    found = cluster_exemplars(X[0], weights_of(way, rho), learned_metric(rho).penalty_)
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    _show_set(left, X[0], y[0], found, rho)
    left.set(title=f"{way}: {found.max() + 1} clusters")
    scores = [scores_of(name, rho) for name in WAYS]
    means = [score.mean() for score, _ in scores]
    bars = right.barh(range(3), means, color=COLORS[6], height=0.6)
    bars[WAYS.index(way)].set(color=COLORS[0], hatch="//")
    right.bar_label(bars, fmt="{:.2f}", padding=3)
    right.set(yticks=range(3), yticklabels=WAYS, xlim=(0, 1.25), xticks=[0, 0.5, 1])
    right.set(title="F on test sets")
    right.invert_yaxis()
    words = "; ".join(
        f"{name} {score.mean():.2f} with {counts.min()} to {counts.max()} clusters"
        for name, (score, counts) in zip(WAYS, scores, strict=True)
    )
    return figure, f"Shown: {way}. Share of noise ρ = {rho:g}, {N_TESTS} test sets: {words}."


@cache
def strength_scores(strength: float) -> tuple[float, int]:
    """Mean F on the test sets, and the number of weights that are not zero."""
    metric = learned_metric(0.7, strength, FAIR)
    X, y = noisy_sets(0.7, N_TESTS, 100)
    found = [cluster_exemplars(points, metric.weights_, metric.penalty_) for points in X]
    score = np.mean([f_measure(a, b) for a, b in zip(y, found, strict=True)])
    return float(score), int(np.count_nonzero(metric.weights_))


def strength_path(strength: float) -> tuple[Figure, str]:
    """Draw the learned weights for one strength τ, and the path of all weights over τ."""
    metric = learned_metric(0.7, strength, FAIR)
    scaled = metric.weights_ * metric.scales_
    learned = [learned_metric(0.7, tau, FAIR).weights_ for tau in STRENGTHS]
    paths = np.array(learned) * metric.scales_
    clean = np.arange(N_FEATURES) < N_FEATURES - round(0.7 * N_FEATURES)
    figure, axes = subplots(1, 2, height=3)
    left, right = axes[0]
    for inside, color, marker, name in [
        (clean, COLORS[0], "o", "clean"), (~clean, COLORS[1], "s", "noise")
    ]:  # fmt: skip
        index = np.flatnonzero(inside) + 1
        left.vlines(index, 0, scaled[inside], color=color, linewidth=1)
        left.scatter(index, scaled[inside], s=18, color=color, marker=marker, label=name)
        style = {"color": color, "linewidth": 1, "alpha": 0.8, "marker": marker, "markersize": 3}
        right.plot(STRENGTHS, paths[:, inside], **style)
    top = 1.05 * paths.max()
    left.set(ylim=(-0.02 * top, top), xlabel="feature", title="weight × scale")
    left.legend(frameon=False, loc="upper right")
    right.axvline(strength, color=INK, linewidth=1, linestyle=":")
    right.set(xscale="log", ylim=(-0.02 * top, top), yticks=[], title="over all strengths")
    right.set(xlabel="τ / number of points", xticks=[0.001, 0.01, 0.1, 1])
    right.set(xticklabels=["0.001", "0.01", "0.1", "1"])
    right.minorticks_off()
    score, count = strength_scores(strength)
    noise = scaled[~clean].sum() / max(scaled.sum(), 1e-300)
    return figure, (
        f"τ = {strength:g} per point: {count} of {N_FEATURES} weights are not zero, noise has "
        f"{noise:.1%} of the total; F on test sets {score:.2f}."
    )


def penalties_compared(penalties: Sequence[float]) -> list[tuple[str, ...]]:
    """Learn with several penalties, half of the features noise.

    Returns one row per penalty: it, the relaxed loss, a lower bound on the hinge loss, F on the
    test sets and the mean number of clusters found in them.
    """
    rows: list[tuple[str, ...]] = []
    X, y = noisy_sets(0.5, N_TESTS, 100)
    for penalty in penalties:
        metric = learned_metric(0.5, penalty=penalty)
        found = [metric.predict(points) for points in X]
        score = np.mean([f_measure(a, b) for a, b in zip(y, found, strict=True)])
        count = np.mean([labels.max() + 1 for labels in found])
        losses = metric.relaxed_loss_, metric.hinge_lower_bound_
        rows.append((f"{penalty:g}", *(f"{a:.0f}" for a in losses), f"{score:.2f}", f"{count:.1f}"))
    return rows


def sizes_compared(size: int, factor: float, *, n_seeds: int = 20) -> tuple[Floats, Integers]:
    """Cluster test sets whose clusters have `size` points on average by the learned distance.

    The price of an exemplar is that of training times `factor`. Returns F of every set, and how
    many clusters too many were found in it.

    Examples
    --------
    >>> scores, excess = sizes_compared(12, 1.0, n_seeds=2)
    >>> excess.tolist()
    [0, 0]
    """
    metric, scores, excess = learned_metric(0.5), [], []
    for seed in range(n_seeds):
        X, y = make_noisy_gaussians(
            5 * size,
            n_features=N_FEATURES,
            noisy_fraction=0.5,
            n_clusters=5,
            random_state=1000 + seed,
        )
        found = cluster_exemplars(X, metric.weights_, factor * metric.penalty_)
        scores.append(f_measure(y, found))
        excess.append(len(set(found)) - len(set(y)))
    return np.array(scores), np.array(excess)


PRICE, TAU = 2.0, 0.1  # of an exemplar, and for each point, where learners are compared


def _two_steps(y: Sequence[Integers]) -> tuple[float, float]:
    """Return steps of weights and prices for training sets whose features are scaled."""
    total, clusters = sum(map(len, y)), sum(len(set(labels)) for labels in y)
    share = PRICE * clusters / total
    return 4 * (1 + share) / N_FEATURES / total, share


def subgradient_learner(
    X: Sequence[Floats],
    y: Sequence[Integers],
    *,
    tau: float | None = None,
    steps: tuple[float, float] | None = None,
    scales: Floats | None = None,
    unit: float = 1.0,
    **options: Any,
) -> DualDecompositionLearner:
    """Learn by the steps of the paper's Figure 1, from equal weights.

    With scales of a unit u times smaller, the weights start u times smaller too, and the
    strength is u times larger: only the unit of the features has changed.

    Examples
    --------
    >>> learner = subgradient_learner(*noisy_sets(0.5, 2, 0), max_iter=2)
    >>> learner.n_iter_, learner.converged_
    (2, False)
    """
    scales = mean_features(X) if scales is None else scales
    problems = [
        ExemplarProblem(points, labels, penalty=PRICE, scales=scales / unit)
        for points, labels in zip(X, y, strict=True)
    ]
    total = sum(map(len, y))
    step_w, step_l = _two_steps(y) if steps is None else steps
    learner = DualDecompositionLearner(
        regularizer="l1", alpha=(TAU * total if tau is None else tau) * unit,
        projection=lambda w: np.maximum(w, 0), step_weights=step_w, step_multipliers=step_l,
        random_state=0, **{"tol": 0.01} | options,
    )  # fmt: skip
    start = (1 + _two_steps(y)[1]) / len(scales)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where few steps are asked for
        return learner.fit(problems, np.full(len(scales), start / unit))


def mean_features(X: Sequence[Floats]) -> Floats:
    """Mean squared difference in each coordinate over the pairs of points of all sets.

    Examples
    --------
    >>> mean_features([np.array([[0.0], [2.0]]), np.array([[0.0], [4.0]])])
    array([10.])
    """
    totals = [2 * len(points) ** 2 * points.var(axis=0) for points in X]
    return np.sum(totals, axis=0) / sum(len(points) * (len(points) - 1) for points in X)


def _training(kind: str, seed: int) -> tuple[list[Floats], list[Integers]]:
    return noisy_sets(0.5, 4, 1000 + 4 * seed) if kind == "noisy" else digit_sets(3, seed)


@cache
def cutting_planes(kind: str, seed: int) -> LatentExemplarMetric:
    """Learn from the training sets of `two_learners` by cutting planes, at one price and strength.

    Examples
    --------
    >>> cutting_planes("noisy", 0).penalty_
    2.0
    """
    X, y = _training(kind, seed)
    model = LatentExemplarMetric(penalty=PRICE, alpha=TAU * sum(map(len, y)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some gaps stay above tol
        return model.fit(X, y)


@cache
def two_learners(kind: str, n_runs: int) -> Floats:
    """Objectives of the subgradient learner and of cutting planes, over their lower bound.

    A row for each run: where the subgradient steps stop, there with better prices, and what cutting
    planes reach. `kind` is "noisy" or "digits".

    Examples
    --------
    >>> bool((two_learners("noisy", 1) >= 1).all())
    True
    """
    rows = []
    for seed in range(n_runs):
        model, steps = cutting_planes(kind, seed), subgradient_learner(*_training(kind, seed))
        better = model.alpha_ * steps.weights_.sum() + steps.relaxed_loss_
        reached = [steps.objective_path_.min(), better, model.objective_]
        rows.append(np.array(reached) / model.objective_bound_)
    return np.array(rows)


def digit_sets(n_sets: int, seed: int) -> tuple[list[Floats], list[Integers]]:
    """Draw sets of 60 pictures of five digits, the pixels that vary.

    Examples
    --------
    >>> X, y = digit_sets(2, 0)
    >>> [len(labels) for labels in y]
    [60, 60]
    """
    pictures, digits = load_digits(return_X_y=True)
    pictures = pictures[:, pictures.std(axis=0) > 1]
    rng = np.random.default_rng(seed)
    sets: list[Floats] = []
    for _ in range(n_sets):
        shown = [
            rng.choice(np.flatnonzero(digits == digit), 12, replace=False)
            for digit in rng.choice(10, 5, replace=False)
        ]
        sets.append(pictures[np.concatenate(shown)])
    labels: Integers = np.repeat(np.arange(5), 12)
    return sets, n_sets * [labels]


def above_the_bound(seed: int) -> tuple[float, Floats]:
    """Learn from ten points: the gap, and how far objectives are above the bound, by HiGHS.

    The first is that of the weights found, the others those of five weights near them and five far
    away, with the same exemplars.

    Examples
    --------
    >>> gap, above = above_the_bound(0)
    >>> bool(gap <= 0.05), bool(above.min() >= -1e-6)
    (True, True)
    """
    rng, y = np.random.default_rng(seed), np.arange(10) % 3
    X = rng.normal(size=(10, 4))
    X[:, 0] += 3 * y
    problem = ExemplarProblem(X, y, penalty=1.5)
    found = learn([problem], np.full(4, 0.2), "l1", 1.0, tol=0.05, max_iter=60)
    near = found.weights * rng.uniform(0.5, 1.5, size=(5, 4))
    above = []
    for w in [found.weights, *near, *rng.exponential(0.3, size=(5, 4))]:
        D = problem.distances(w)
        low = augmented_minimum(D, y, 1.5, alpha=1.0, beta=1.0, integral=False)
        energy = configuration_energy(problem, w, found.exemplars[0])
        above.append(w.sum() + energy - low - found.lower_bound)
    return found.gap, np.array(above)


def _loss_after(n_iter: int, steps: tuple[float, float] | None = None, **options: Any) -> float:
    """Relaxed loss of the training sets, half of the features noise, after `n_iter` steps."""
    sets = noisy_sets(0.5, 4, 0)
    learner = subgradient_learner(*sets, steps=steps, max_iter=n_iter, tol=0, **options)
    return float(learner.current_loss_)


@cache
def single_steps(n_iter: int = 60) -> Floats:
    """Loss with one step for both, of nine sizes from that of the weights to that of the prices."""
    sizes = np.geomspace(*_two_steps(noisy_sets(0.5, 4, 0)[1]), 9)
    return np.array([_loss_after(n_iter, (size, size)) for size in sizes])


@cache
def steps_compared(n_iter: int = 60) -> list[tuple[str, str]]:
    """Run the learner with different steps and scales; return the loss of each at its best."""
    scales, single = mean_features(noisy_sets(0.5, 4, 0)[0]), single_steps(n_iter)
    losses = {
        "two steps, each feature scaled": _loss_after(n_iter),
        "one step, that of the weights": single[0],
        "one step, that of the prices": single[-1],
        "two steps, the mean scale for all": _loss_after(
            n_iter, scales=np.full(N_FEATURES, scales.mean())
        ),
    }
    return [(name, f"{loss:.0f}") for name, loss in losses.items()]


def one_step_in_fitting_units(n_iter: int = 60) -> float:
    """Loss with one step for both, after the unit of the features is changed to suit it."""
    weights, prices = _two_steps(noisy_sets(0.5, 4, 0)[1])
    return _loss_after(n_iter, (prices, prices), unit=float(np.sqrt(weights / prices)))


# A second latent CRF


@cache
def xor_models() -> dict[int, LatentGridCRF]:
    """Learn to label the exclusive-or grids with one and with two hidden states per label."""
    images, labels, _ = xor_grids()
    return {
        n_hidden: LatentGridCRF(n_hidden=n_hidden, random_state=0).fit(
            list(images[:8]), list(labels[:8])
        )
        for n_hidden in (1, 2)
    }


@cache
def xor_grids() -> tuple[Floats, Integers, Integers]:
    """Draw eight training and four test images, their labels and their hidden parts.

    Examples
    --------
    >>> [array.shape for array in xor_grids()]
    [(12, 16, 16, 2), (12, 16, 16), (12, 16, 16)]
    """
    return make_xor_grids(12, (16, 16), noise=1.0, random_state=0)


def xor_errors() -> list[tuple[str, str]]:
    """Share of wrong labels on four test grids, in three ways, and of wrong parts in the best."""
    images, labels, parts = xor_grids()
    images, labels, parts = images[8:], labels[8:], parts[8:]
    rows = [("sign of the product, node by node", (images.prod(axis=-1) < 0) != labels)]
    for n_hidden, model in xor_models().items():
        found = np.array([model.predict(image) for image in images])
        name = "one hidden state per label" if n_hidden == 1 else "two hidden states per label"
        rows.append((name, found != labels))
    states = np.array([xor_models()[2].infer(image).states for image in images])
    named = name_after(parts.ravel(), states.ravel())
    rows.append(("its parts against the true ones", named != parts.ravel()))
    return [(name, f"{np.mean(wrong):.0%}") for name, wrong in rows]


def xor_grid() -> Figure:
    """Draw a test grid: its labels, what single nodes say, and the two CRFs."""
    images, all_labels, _ = xor_grids()
    image, labels = images[8], all_labels[8]
    pictures = [labels, image.prod(axis=-1) < 0]
    pictures += [model.predict(image) for model in xor_models().values()]
    names = ["true labels", "node by node", "CRF, nothing\nhidden", "CRF, two\nhidden states"]
    figure, axes = subplots(1, 4, height=1.9)
    for ax, picture, name in zip(axes[0], pictures, names, strict=True):
        ax.imshow(picture, cmap="Blues", vmin=-0.4, vmax=1.4)
        wrong = np.argwhere(picture != labels)
        ax.scatter(wrong[:, 1], wrong[:, 0], s=8, color=COLORS[1], marker="x", linewidths=1)
        ax.set_title(name, fontsize=10)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
    return figure
