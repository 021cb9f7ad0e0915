"""The steps of learning: a metric from full labels, a penalty, both by turns from partial ones."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mlbook._arrays import Floats, Integers
from mlbook._metric import mean_loss
from mlbook._progress import progress
from mlbook._validation import check_n_clusters
from mlbook.changepoints import SegmentConstraints, segment
from mlbook.changepoints.labels import longest_run
from mlbook.kmeans import SpectralKMeans
from mlbook.large_margin.hinge import Structure
from mlbook.large_margin.jobs import Spread, in_turn
from mlbook.large_margin.minimization import Problem, Solution

PENALTIES = np.geomspace(1e-4, 1.0, 37)  # tried in calibration, times the mean scatter


class Learned(NamedTuple):
    """A metric B = LᵀL with L = components, and how it was found."""

    components: Floats
    solution: Solution
    n_iter: int


class Result(NamedTuple):
    """All that is learned from training sequences."""

    learned: Learned
    penalty: float | None
    labels: list[Integers]
    n_alternations: int


def learn_metric(
    series: Sequence[Floats],
    labels: Sequence[Integers],
    structure: Structure,
    *,
    full: bool,
    linear: float,
    quadratic: float,
    solve: Callable[[Problem], Iterator[Solution]],
    tol: float,
    max_iter: int,
    verbose: bool,
    spread: Spread = in_turn,
) -> Learned:
    """Minimize J for full labels, until the relative gap is `tol` (Lajugie 2014, Eq. 9)."""
    centred = [x - x.mean(axis=0) for x in series]
    weights = np.array([1 / len(x) for x in series])
    weights /= weights.sum()
    scatter = sum(w * np.sum(x**2, axis=0) for w, x in zip(weights, centred, strict=True))
    flat = scatter <= np.finfo(float).eps * sum(np.sum(x**2, axis=0) for x in series)
    if flat.any():
        warnings.warn(
            f"features {np.flatnonzero(flat)[:5]} are constant within every sequence and "
            "get no weight",
            stacklevel=3,
        )
    units = np.where(flat, 0.0, 1 / np.sqrt(np.where(flat, 1.0, scatter)))
    oracles = [
        structure.oracle(x * units, truth, full=full, name=f"ys[{i}]")
        for i, (x, truth) in enumerate(zip(centred, labels, strict=True))
    ]
    problem = Problem(oracles, weights, linear, quadratic, full, len(units), spread)
    with progress(max_iter, "large margin", shown=verbose) as step:
        for n_iter, solution in enumerate(solve(problem), start=1):
            step(f"objective {solution.objective:.4g}, gap {solution.gap:.2g}")
            if solution.gap <= tol or n_iter == max_iter:
                break
    if solution.gap > tol:
        warnings.warn(
            f"the duality gap is {solution.gap:.2g} after {n_iter} rounds, above tol="
            f"{tol:g}; raise max_iter, tol or alpha",
            ConvergenceWarning,
            stacklevel=3,
        )
    L = solution.metric.factor
    components = (units[:, None] * L).T if full else np.diag(units * L)
    kept = components.any(axis=1)
    return Learned(components[kept if kept.any() else slice(1)], solution, n_iter)


def best_partition(
    points: Floats,
    structure: Structure,
    *,
    n_clusters: int | None = None,
    penalty: float | None = None,
    constraints: SegmentConstraints | None = None,
    random_state: Any = None,
) -> Integers:
    """Partition points that are mapped already, into a number of clusters or at a price.

    Examples
    --------
    >>> segments = Structure(sequence=True, known=False, min_length=1)
    >>> print(best_partition(np.array([[0.0], [1.0], [9.0]]), segments, penalty=2.0))
    [0 0 1]
    """
    if structure.sequence:
        return segment(
            points,
            n_clusters,
            penalty if n_clusters is None else None,
            min_length=min(structure.min_length, len(points)),
            constraints=constraints,
        )
    if n_clusters is None:
        spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) ** 2
        n_clusters = min(len(points), 1 + int(np.sum(spread > penalty)))
    k = check_n_clusters(n_clusters, len(points))
    return SpectralKMeans(k, random_state=random_state).fit_predict(points)


def calibrated_penalty(
    components: Floats,
    series: Sequence[Floats],
    labels: list[Integers],
    structure: Structure,
    random_state: Any = None,
    spread: Spread = in_turn,
) -> float:
    """Penalty of least loss on the labelled points: middle of the longest best interval."""
    mapped = [x @ components.T for x in series]
    scatter = float(np.mean([np.sum((x - x.mean(axis=0)) ** 2) for x in mapped]))
    if scatter == 0:
        return 1.0
    penalties = scatter * PENALTIES
    pairs = [(x, y) for x, y in zip(mapped, labels, strict=True) if np.any(y >= 0)]
    losses = np.mean(spread(_losses, pairs, penalties.tolist(), structure, random_state), axis=0)
    start, stop = longest_run(losses <= losses.min() + 1e-9)
    return float(np.sqrt(penalties[start] * penalties[stop - 1]))


def _losses(
    pair: tuple[Floats, Integers], penalties: list[float], structure: Structure, random_state: Any
) -> list[float]:
    """Loss of the partition of labelled points at each penalty."""
    points, truth = pair
    return [
        mean_loss(
            [best_partition(points, structure, penalty=p, random_state=random_state)], [truth]
        )
        for p in penalties
    ]


def learn_by_turns(
    series: Sequence[Floats],
    constraints: Sequence[SegmentConstraints],
    components: Floats,
    penalty: float,
    structure: Structure,
    *,
    learn: Callable[[Sequence[Floats], Sequence[Integers]], Learned],
    price: Callable[[Floats], float],
    max_alternations: int,
) -> Result:
    """Fill in labels and learn by turns, from a metric and a penalty on, until labels stay.

    Lajugie 2014, Section 5.2. `learn` gives a metric for full labels, `price` a penalty for its
    components.
    """

    def filled_in(components: Floats, penalty: float) -> list[Integers]:
        return [
            best_partition(x @ components.T, structure, penalty=penalty, constraints=known)
            for x, known in zip(series, constraints, strict=True)
        ]

    labels = filled_in(components, penalty)
    for n_alternations in range(1, max_alternations + 1):
        learned = learn(series, labels)
        penalty = price(learned.components)
        if n_alternations == max_alternations:
            break
        again = filled_in(learned.components, penalty)
        if all(map(np.array_equal, again, labels)):
            break
        labels = again
    return Result(learned, penalty, labels, n_alternations)
