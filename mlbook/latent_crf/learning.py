"""Minimization of the relaxed objective (Komodakis 2011, Eq. 28) with a certificate.

For fixed exemplars x^k the objective is convex in the weights. Each set of points is asked for the
bounds of its relaxed minimum (`mlbook.latent_crf.relaxation`) at some weights: the one below says
how high the objective is there at most, the parts that attain the one above give a cut. All cuts
found so far make a model that the objective is nowhere below (`mlbook._cutting_planes`). Its lowest
point within some distance of the best weights is where to ask next; the distance follows from
whether the model was right. Where the lowest point of all is about as high as the best weights, no
others can be much better. After each gain the exemplars are chosen anew (Eq. 29).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from mlbook._arrays import Floats, Integers
from mlbook._cutting_planes import Cuts, Model
from mlbook.latent_crf.problem import ExemplarProblem
from mlbook.latent_crf.relaxation import Mixture, relaxed_minimum

_ACCURACY = 0.2  # of the bounds at some weights, as a share of the gap that is wanted
_RADIUS = 0.5  # first distance from the best weights, as a share of them
_LEAST = 0.05  # of the loss at zero weights and the price of all exemplars: the least gain
_STRETCH = 0.02  # gap to which the length of the weights is chosen
_FLOOR = 0.3  # share of the largest weight that counts for smaller ones

Start = tuple[Floats, Floats]  # prices v and openings y


class Visit(NamedTuple):
    """What a set of points says at some weights.

    Attributes
    ----------
    exemplars : ndarray of shape (n,)
        x^k, which agrees with the partition.
    energy : float
        Its energy.
    slope : ndarray of shape (n_features,)
        Its features.
    lower : float
        Bound on the relaxed minimum of Ē, from below.
    cut : (ndarray of shape (n_features,), float)
        Energy of a mixture as a function of the weights, slope and constant.
    start : pair of ndarrays of shape (n,)
        Prices and openings, for the next visit.
    """

    exemplars: Integers
    energy: float
    slope: Floats
    lower: float
    cut: tuple[Floats, float]
    start: Start


class Learned(NamedTuple):
    """The best weights, and what is known about all others with the same exemplars."""

    weights: Floats
    objective: float
    lower_bound: float
    loss: float
    exemplars: list[Integers]
    cuts: Cuts
    path: Floats
    best_iter: int

    zero: float
    least: float

    @property
    def gap(self) -> float:
        """Share that other weights could add to what these gain over zero weights, at most.

        The gain is taken to be at least `least`.
        """
        possible = max(self.zero - self.lower_bound, self.least)
        return max(0.0, self.objective - self.lower_bound) / possible


def visit(problem: ExemplarProblem, w: Floats, start: Start | None, accuracy: float) -> Visit:
    """Ask a set of points at the weights w; O(n² n_features) for the distances, and the steps."""
    x = problem.complete(w, None)
    U = problem.potentials(w)
    if start is None:
        sizes = np.bincount(x, minlength=len(x))
        taken = U[np.arange(len(x)), x]
        taken[np.unique(x)] = 0
        start = taken + U.diagonal() / sizes[x], (sizes > 0).astype(np.float64)
    found = relaxed_minimum(U, problem.labels, problem.alpha, problem.beta, start, accuracy)
    slope = problem.feature_sum(x)
    energy = float(w @ slope + problem.penalty * problem.n_clusters)
    cut = mixture_energy(problem, found.mixture)
    return Visit(x, energy, slope, found.lower, cut, (found.prices, found.mixture.openings))


def mixture_energy(problem: ExemplarProblem, mixture: Mixture) -> tuple[Floats, float]:
    """Ē of a mixture as a function of the weights: w·slope + constant."""
    labels, y = problem.labels, mixture.openings
    together = labels[mixture.points] == labels[mixture.exemplars]
    largest = np.zeros(problem.n_clusters)
    np.maximum.at(largest, labels, y)
    constant = (problem.penalty + problem.beta - problem.alpha) * y.sum()
    constant += problem.alpha * (2 * largest.sum() - problem.n_clusters)
    constant += problem.beta * (mixture.shares[together].sum() - problem.n_variables)
    slope = problem.features.mixture_total(mixture.points, mixture.exemplars, mixture.shares)
    return slope / problem.scales, float(constant)


def learn(
    problems: Sequence[ExemplarProblem],
    start: Floats,
    regularizer: str,
    alpha: float,
    *,
    tol: float,
    max_iter: int,
    cuts: Cuts | None = None,
    parallel: Parallel | None = None,
    show: Callable[[str], Any] = lambda text: None,
) -> Learned:
    """Minimize τJ(w) + relaxed loss over w ≥ 0 until the certified gap is at most `tol`.

    `cuts` are those of an earlier call with the same problems; they hold for every τ.
    """
    parallel = parallel or Parallel()
    F, flat = len(start), sum(problem.penalty * problem.n_clusters for problem in problems)
    cuts = cuts or Cuts.none(F)
    starts: list[Start | None] = [None] * len(problems)
    w, radius, value = start, _RADIUS, -np.inf
    best: Learned | None = None
    path: list[float] = []
    accuracy = np.inf
    zero = sum(loss_at_zero(problem) for problem in problems)
    least = _LEAST * (zero + flat)
    if zero <= 0:  # single clusters: zero weights have no loss
        w = 0 * start
        exemplars = [problem.complete(w, None) for problem in problems]
        return Learned(w, 0.0, 0.0, 0.0, exemplars, cuts, np.zeros(1), 0, zero, least)
    for iteration in range(max_iter + 1):
        visits = parallel(
            delayed(visit)(problem, w, own, accuracy / len(problems))
            for problem, own in zip(problems, starts, strict=True)
        )
        starts = [found.start for found in visits]
        loss = sum(found.energy - found.lower for found in visits)
        J = w.sum() if regularizer == "l1" else w @ w / 2
        objective = float(alpha * J + loss)
        path.append(objective)
        cuts = cuts.add(*_stack([found.cut for found in visits]))
        if best is None or objective < best.objective:
            if best is not None and best.objective - objective > 0.3 * (best.objective - value):
                radius *= 2  # the model was about right
            exemplars = [found.exemplars for found in visits]
            slopes = [found.slope for found in visits]
            prices = [problem.penalty * problem.n_clusters for problem in problems]
            cuts = cuts.add(np.array(slopes), np.array(prices))
            best = Learned(
                w, objective, 0.0, loss, exemplars, cuts, np.empty(0), iteration, zero, least
            )
        else:
            radius /= 2
        model = Model(regularizer, alpha, np.sum(slopes, axis=0), flat, cuts)
        reach = radius * (best.weights + _FLOOR * max(best.weights.max(), start.max()))
        w, value, _ = model.minimize(np.maximum(best.weights - reach, 0), best.weights + reach)
        wanted = tol * max(zero - value, least)
        bound, lowest = 0.0, w
        if best.objective - value <= 2 * wanted:
            bound, lowest = model.bound()
        best = best._replace(lower_bound=bound)
        show(f"objective {best.objective:.6g}")
        if best.gap <= tol:
            break
        if best.objective - value < wanted / 2:  # nothing left nearby
            radius = max(4 * radius, _RADIUS)
            w = lowest
        accuracy = _ACCURACY * max(wanted, best.objective - value)
    assert best is not None
    return best._replace(cuts=cuts, path=np.array(path))


def stretch(problems: Sequence[ExemplarProblem], w: Floats, parallel: Parallel) -> float:
    """Factor of the weights at which their loss is lowest: what the regularizer shortens.

    A problem of one feature, the distance, without regularizer. It is 1 for zero weights.
    """
    if not w.any():
        return 1.0
    lines = [
        ExemplarProblem(
            problem.distances(w)[None],
            problem.labels,
            penalty=problem.penalty,
            alpha=problem.alpha,
            beta=problem.beta,
            features="precomputed",
        )
        for problem in problems
    ]
    found = learn(lines, np.ones(1), "l1", 0.0, tol=_STRETCH, max_iter=20, parallel=parallel)
    return float(found.weights[0])


def _stack(cuts: list[tuple[Floats, float]]) -> tuple[Floats, Floats]:
    slopes, offsets = zip(*cuts, strict=True)
    return np.array(slopes), np.array(offsets)


def loss_at_zero(problem: ExemplarProblem) -> float:
    """Hinge loss where all distances are zero.

    One exemplar is best, in the smallest cluster, whose points are then not wrong; or two, in two
    clusters, which make all points wrong.
    """
    k, alpha, beta = problem.n_clusters, problem.alpha, problem.beta
    price = problem.penalty + beta + alpha
    right = beta * (np.bincount(problem.labels).min() - 1)
    best = price + (min(right, price) if k > 1 else right)
    return problem.penalty * k + alpha * k + beta * problem.n_variables - best


def first_weights(problems: Sequence[ExemplarProblem]) -> Floats:
    """Weights by how much smaller each feature is between points and their exemplars.

    The features have mean 1 over all pairs. Exemplars are those of equal weights.
    """
    F = problems[0].n_features
    n_points = sum(problem.n_variables for problem in problems)
    price = sum(problem.penalty * problem.n_clusters for problem in problems) / n_points
    flat = np.full(F, (problems[0].beta + price) / F)
    within = sum(p.feature_sum(p.complete(flat, None)) for p in problems) / n_points
    means = sum(p.features.pair_mean() / p.scales * p.n_variables for p in problems) / n_points
    gains = np.maximum(means - within, 0)
    return 1.5 * flat.sum() * gains / gains.sum() if gains.any() else flat


def strength(
    problems: Sequence[ExemplarProblem], regularizer: str, share: float, start: Floats
) -> float:
    """Return τ: for "l1" a share of the number of points; for "l2" what is as much at `start`."""
    tau = share * sum(problem.n_variables for problem in problems)
    return tau if regularizer == "l1" else 2 * tau * float(start.sum() / (start @ start))
