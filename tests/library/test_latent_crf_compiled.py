"""Steps towards a target, with the functions of NumPy and with compiled ones."""

import numpy as np
from clustering_problems import random_problem
from numpy.testing import assert_allclose

from mlbook.latent_crf import compiled, relaxation


def test_steps_reach_a_known_minimum_and_stay_in_the_box(monkeypatch):
    target = np.array([0.2, 0.9, 0.5])

    def distance(pairs, x):
        return float(np.abs(x - target).sum()), np.sign(x - target), (x > target).astype(float)

    monkeypatch.setattr(compiled, "below", distance)
    x, value, mean, reach = compiled.polyak(
        None, False, np.zeros(3), np.array([1.0, 0.6, 1.0]), 0.3, 200, 1.0
    )
    assert_allclose(x, [0.2, 0.6, 0.5], atol=0.01)  # the second is held back by its limit
    assert_allclose(value, np.abs(x - target).sum())
    assert (mean >= 0).all() and (mean <= 1).all() and 0 < reach <= 1


def test_the_bounds_do_not_depend_on_numba(monkeypatch):
    """Steps are rounded otherwise, so that only what they lead to is the same."""
    problems = [random_problem(seed) for seed in range(5)]

    def found():
        return [
            relaxation.relaxed_minimum(
                problem.potentials(w), problem.labels, 0.7, 1.3, (np.ones(5), np.full(5, 0.5)), 1e-6
            )
            for problem, _, w in problems
        ]

    usual = found()
    for name in ("below", "above"):  # what `load` sets is put back after the test
        monkeypatch.setattr(compiled, name, getattr(compiled, name))
    monkeypatch.setattr(compiled, "jit", lambda: None)
    plain = compiled.load.__wrapped__()
    assert plain.above is relaxation.above and compiled.below is relaxation.below
    monkeypatch.setattr(compiled, "load", lambda: plain)
    for one, other in zip(usual, found(), strict=True):
        assert_allclose(one.lower, other.lower, atol=1e-3)
        assert_allclose(one.upper, other.upper, atol=0.2)
