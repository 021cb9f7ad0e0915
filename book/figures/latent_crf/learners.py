"""The subgradient learner of the paper beside cutting planes."""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from book.figures.latent_crf.noisy import N_FEATURES, noisy_sets
from book.figures.latent_crf.programs import augmented_minimum, least_objective
from mlbook._arrays import Floats, Integers
from mlbook.latent_crf import (
    DualDecompositionLearner,
    ExemplarProblem,
    LatentExemplarMetric,
    configuration_energy,
)
from mlbook.latent_crf.learning import learn

__all__ = [
    "PRICE",
    "TAU",
    "above_the_bound",
    "cutting_planes",
    "digit_sets",
    "mean_features",
    "one_step_in_fitting_units",
    "single_steps",
    "steps_compared",
    "subgradient_learner",
    "two_learners",
]


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


def above_the_bound(seed: int) -> tuple[float, float, Floats]:
    """Learn from ten points: the gap, and how far objectives are above the bound, by HiGHS.

    First the least objective of all weights; then those of the weights found, of five weights near
    them and of five far away; all with the same exemplars.

    Examples
    --------
    >>> gap, least, above = above_the_bound(0)
    >>> bool(gap <= 0.05), bool(above.min() >= least >= -1e-6)
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
    least = least_objective(problem, found.exemplars[0], 1.0) - found.lower_bound
    return found.gap, least, np.array(above)


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
