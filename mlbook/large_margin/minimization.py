"""Minimization of the regularized structured hinge (Lajugie 2014, Section 4.4).

Both solvers see the partitions only through oracles: what a cut is, and the bound that a mean of
cuts gives, is said in `mlbook.large_margin`. They yield a better solution each round, for ever:
the caller looks at its gap and stops.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.optimize import linprog

from mlbook._arrays import Floats, Integers
from mlbook.large_margin.hinge import Cut, Metric, Oracle
from mlbook.large_margin.jobs import Spread, in_turn


class Solution(NamedTuple):
    """The best metric so far, its objective, and a bound that no metric goes below."""

    metric: Metric
    objective: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        excess = max(0.0, self.objective - self.lower_bound)
        return excess / self.objective if excess else 0.0


class Problem(NamedTuple):
    """min_B Σ w_i h_i(B) + linear · Tr B + quadratic/2 · ‖B‖²."""

    oracles: list[Oracle]
    weights: Floats
    linear: float
    quadratic: float
    full: bool
    n_features: int
    spread: Spread = in_turn

    @property
    def identity(self) -> Floats:
        """I as `Metric.entries`."""
        return np.eye(self.n_features).ravel() if self.full else np.ones(self.n_features)

    def project(self, entries: Floats) -> Metric:
        """Return the nearest metric."""
        if not self.full:
            positive = np.maximum(entries, 0)
            return Metric(positive, np.sqrt(positive))
        values, vectors = eigh(entries.reshape(self.n_features, -1))
        kept = values > 0
        kept[-1] = True
        factor = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0))
        return Metric((factor @ factor.T).ravel(), factor)

    def cuts(self, metric: Metric) -> list[Cut]:
        """Return the cuts that are tight at a metric, one per sequence."""
        return self.spread(_cut, self.oracles, metric)

    def objective(self, metric: Metric, cuts: list[Cut]) -> float:
        """J at the metric where the cuts are tight."""
        hinges = [cut.offset + cut.gradient @ metric.entries for cut in cuts]
        return float(self.weights @ np.maximum(hinges, 0) + self.regularization(metric))

    def regularization(self, metric: Metric) -> float:
        """Ω at a metric."""
        trace, square = metric.entries @ self.identity, metric.entries @ metric.entries
        return float(self.linear * trace + self.quadratic / 2 * square)

    def bound(self, offset: float, gradient: Floats) -> tuple[float, Metric]:
        """Minimum of offset + ⟨gradient, B⟩ + Ω(B) over metrics, and where it is attained.

        Without a quadratic term it is attained at 0 or does not exist; then the largest share of
        the cut for which it exists is taken.
        """
        descent = self.project(-gradient - self.linear * self.identity)
        if self.quadratic:
            minimizer = self.project(descent.entries / self.quadratic)
            square = float(minimizer.entries @ minimizer.entries)
            return offset - self.quadratic / 2 * square, minimizer
        steepest = max(0.0, -float(gradient.min()))
        share = min(1.0, self.linear / steepest) if steepest else 1.0
        return share * offset, self.project(0 * gradient)


def _cut(oracle: Oracle, metric: Metric) -> Cut:
    return oracle(metric)


class _Planes(NamedTuple):
    """Cuts of all sequences: offsets (m,), gradients (m, size of B), owners (m,)."""

    offsets: Floats
    gradients: Floats
    owners: Integers

    def mean(self, dual: Floats) -> tuple[float, Floats]:
        """Return the weighted mean of all cuts."""
        return float(self.offsets @ dual), dual @ self.gradients

    def add(self, cuts: list[Cut]) -> Self:
        """Append one cut per sequence."""
        return self._replace(
            offsets=np.append(self.offsets, [cut.offset for cut in cuts]),
            gradients=np.vstack([self.gradients, [cut.gradient for cut in cuts]]),
            owners=np.append(self.owners, np.arange(len(cuts))),
        )


def cutting_planes(problem: Problem) -> Iterator[Solution]:
    """n-slack cutting planes: minimize the maximum of all cuts found so far, and find new ones.

    The true partition gives h_i(B) ≥ 0. Ends only when the caller stops it.
    """
    n = len(problem.oracles)
    metric = problem.project(0 * problem.identity)
    planes = _Planes(np.zeros(n), np.zeros((n, len(metric.entries))), np.arange(n))
    dual = problem.weights
    best = Solution(metric, np.inf, 0.0)
    while True:
        cuts = problem.cuts(metric)
        objective = problem.objective(metric, cuts)
        if objective < best.objective:
            best = best._replace(metric=metric, objective=objective)
        yield best
        planes = planes.add(cuts)
        if problem.quadratic:
            excess = max(best.objective - best.lower_bound, 1e-9 * best.objective)
            dual = _quadratic_dual(problem, planes, np.append(dual, np.zeros(n)), excess)
            bound, metric = problem.bound(*planes.mean(dual))
        else:
            dual, metric = _linear_dual(problem, planes)
            bound, _ = problem.bound(*planes.mean(dual))
        best = best._replace(lower_bound=max(best.lower_bound, bound))


def _linear_dual(problem: Problem, planes: _Planes) -> tuple[Floats, Metric]:
    """Weights of the cuts, and the metric, that solve the master problem without ‖B‖²: HiGHS."""
    n, size = len(problem.weights), planes.gradients.shape[1]
    membership = np.eye(n)[planes.owners]
    result = linprog(
        np.concatenate([np.full(size, problem.linear), problem.weights]),
        A_ub=np.hstack([planes.gradients, -membership]),
        b_ub=-planes.offsets,
        method="highs",
    )
    if result.status != 0:
        raise RuntimeError(f"the linear program of the cutting planes failed: {result.message}")
    dual = np.maximum(-result.ineqlin.marginals, 0)
    dual /= np.maximum(1, membership.T @ dual / problem.weights)[planes.owners]
    return dual, problem.project(result.x[:size])


def _quadratic_dual(problem: Problem, planes: _Planes, start: Floats, excess: float) -> Floats:
    """Weights a of the cuts that maximize the bound they give, with Σ a = w_i for sequence i.

    Newton's method on the bound + μ Σ log a, for μ down to 1/50 of what the outer gap `excess`
    needs. The bound is once differentiable and piecewise twice; O(m² size) per step.
    """
    offsets, gradients, owners = planes
    m, n = len(offsets), len(problem.weights)
    membership = np.eye(n)[owners]
    share = problem.weights / membership.sum(axis=0)
    a = 0.8 * start + 0.2 * share[owners]

    def value(a: Floats, mu: float) -> float:
        bound, _ = problem.bound(*planes.mean(a))
        return -bound - mu * float(np.sum(np.log(a)))

    for mu in excess / m * np.array([1.0, 0.2, 0.05, 0.02]):
        for _ in range(40):
            _, metric = problem.bound(*planes.mean(a))
            slope = a * (-offsets - gradients @ metric.entries) - mu
            root = a[:, None] * _projection_root(problem, a @ gradients, gradients)
            H = root @ root.T / problem.quadratic
            H[np.diag_indices(m)] += mu
            factor = cho_factor(H, overwrite_a=True, check_finite=False)
            scaled = a[:, None] * membership
            solved = cho_solve(factor, np.column_stack([scaled, -slope]), check_finite=False)
            multipliers = np.linalg.solve(scaled.T @ solved[:, :n], scaled.T @ solved[:, n])
            step = solved[:, n] - solved[:, :n] @ multipliers
            decrement = -float(slope @ step)
            if decrement <= 0.1 * mu:
                break
            t = min(1.0, 0.95 / max(1e-300, float(-step.min())))
            before = value(a, mu)
            while value(a * (1 + t * step), mu) > before - 0.1 * t * decrement and t > 1e-6:
                t /= 2
            a = a * (1 + t * step)
    a *= (problem.weights / (membership.T @ a))[owners]
    return a


def _projection_root(problem: Problem, mean: Floats, gradients: Floats) -> Floats:
    """R with RRᵀ = GJGᵀ: J is the derivative of the projection at −mean − linear · I."""
    point = -mean - problem.linear * problem.identity
    if not problem.full:
        return gradients[:, point > 0]
    d = problem.n_features
    values, vectors = eigh(point.reshape(d, d))
    positive = np.maximum(values, 0)
    spread = np.abs(values)[:, None] + np.abs(values)
    spread[spread == 0] = 1.0
    J = (positive[:, None] + positive) / spread
    rotated = vectors.T @ gradients.reshape(-1, d, d) @ vectors
    return (rotated * np.sqrt(J)).reshape(len(gradients), -1)


def subgradient(problem: Problem) -> Iterator[Solution]:
    """Projected subgradients with step 2/(r₂(t + 1)) and averages weighted by t.

    The paper's method for high dimensions (Section 4.4). The cuts averaged with the same weights
    give the bound; the objective at the averaged metric is computed every tenth round.
    """
    size = len(problem.identity)
    metric = problem.project(np.zeros(size))
    best = Solution(metric, np.inf, 0.0)
    offset, gradient, average = 0.0, np.zeros(size), np.zeros(size)
    t = 0
    while True:
        t += 1
        rate = 2 / (t + 1)
        cuts = problem.cuts(metric)
        objective = problem.objective(metric, cuts)
        descent = problem.weights @ np.array([cut.gradient for cut in cuts])
        offset += rate * (float(problem.weights @ [cut.offset for cut in cuts]) - offset)
        gradient += rate * (descent - gradient)
        average += rate * (metric.entries - average)
        best = best._replace(lower_bound=max(best.lower_bound, problem.bound(offset, gradient)[0]))
        if objective < best.objective:
            best = best._replace(metric=metric, objective=objective)
        if t % 10 == 0:
            mean = problem.project(average)
            objective = problem.objective(mean, problem.cuts(mean))
            if objective < best.objective:
                best = best._replace(metric=mean, objective=objective)
        yield best
        descent = descent + problem.linear * problem.identity + problem.quadratic * metric.entries
        metric = problem.project(metric.entries - rate / problem.quadratic * descent)
