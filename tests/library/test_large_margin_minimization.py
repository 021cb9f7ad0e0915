"""Both solvers against programs over all cuts; bounds that no metric goes below."""

from itertools import islice

import numpy as np
import pytest
from labelled_sequences import all_cuts, tiny
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mlbook.large_margin import LargeMarginMetric, minimization
from mlbook.large_margin.hinge import Cut
from mlbook.large_margin.minimization import Problem, cutting_planes, subgradient


class AllCuts:
    """An oracle that looks at every partition."""

    def __init__(self, X, truth, full):
        self.offsets, self.gradients = all_cuts(X, truth, known=False, full=full)

    def __call__(self, metric):
        worst = np.argmax(self.offsets + self.gradients @ metric.entries)
        return Cut(self.offsets[worst], self.gradients[worst])


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("linear", [0.0, 0.2])
def test_both_solvers_close_in_on_the_same_minimum(full, linear):
    """They yield for ever: objectives fall, bounds rise, and a search over factors is between."""
    X, y = tiny()
    oracles = [AllCuts(x - x.mean(axis=0), t, full) for x, t in zip(X, y, strict=True)]
    problem = Problem(oracles, np.array([0.4, 0.6]), linear, 0.5, full, 2)
    planes = list(islice(cutting_planes(problem), 30))
    slopes = list(islice(subgradient(problem), 400))
    for path in (planes, slopes):
        objectives = [solution.objective for solution in path]
        bounds = [solution.lower_bound for solution in path]
        assert objectives == sorted(objectives, reverse=True) and bounds == sorted(bounds)
    assert planes[-1].gap < 1e-6 and slopes[-1].gap < 0.05

    def J(v):
        L = v.reshape(2, 2) if full else v
        metric = problem.project((L @ L.T).ravel() if full else L**2)
        return problem.objective(metric, problem.cuts(metric))

    rng = np.random.default_rng(0)
    starts = rng.normal(size=(4, 4 if full else 2))
    options = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 4000}
    found = min(minimize(J, v, method="Nelder-Mead", options=options).fun for v in starts)
    assert_allclose(planes[-1].objective, found, rtol=1e-4)
    assert max(planes[-1].lower_bound, slopes[-1].lower_bound) <= found + 1e-9


@pytest.mark.parametrize(
    ("full", "linear", "quadratic"),
    [(False, 0, 0.5), (False, 0.3, 0.5), (False, 0.3, 0), (True, 0, 0.5), (True, 0.3, 0.5)],
)
def test_bound_from_a_cut(full, linear, quadratic):
    """max(0, o + ⟨G, B⟩) + Ω(B) is nowhere below the bound, and attains it where told to."""
    rng = np.random.default_rng(6)
    problem = Problem([], np.ones(1), linear, quadratic, full, 3)
    for _ in range(10):
        G = rng.normal(size=(3, 3))
        gradient = (G + G.T).ravel() if full else G.diagonal()
        bound, minimizer = problem.bound(2.0, gradient)
        for scale in [0.0, 0.1, 0.5, 1.0, 3.0, 10.0]:
            L = scale * rng.normal(size=(3, 3))
            B = problem.project((L @ L.T).ravel() if full else L.diagonal())
            value = max(0.0, 2.0 + gradient @ B.entries) + problem.regularization(B)
            assert value >= bound - 1e-12
        if quadratic:
            at = 2.0 + gradient @ minimizer.entries + problem.regularization(minimizer)
            assert_allclose(at, bound, atol=1e-12)
        else:
            worst = np.eye(3)[gradient.argmin()] * -2.0 / min(gradient.min(), -1e-9)
            reached = problem.regularization(problem.project(worst))
            assert_allclose(bound, min(2.0, reached), rtol=1e-6)


def test_failure_of_the_linear_program_is_told(monkeypatch):
    class Failed:
        status, message = 4, "numerical trouble"

    monkeypatch.setattr(minimization, "linprog", lambda *args, **kwargs: Failed)
    with pytest.raises(RuntimeError, match="numerical trouble"):
        LargeMarginMetric(regularizer="l1").fit(*tiny())
