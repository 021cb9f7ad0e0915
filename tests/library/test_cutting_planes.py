"""The model of cuts: its lowest point against a general solver, its bound against all weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mlbook._cutting_planes import Cuts, Model


def random_model(seed, regularizer="l1", signed=False, alpha=0.7):
    """Three problems with four cuts each; the first of each is the energy of its x^k."""
    rng = np.random.default_rng(seed)
    cuts = Cuts.none(2)
    for _ in range(4):
        cuts = cuts.add(rng.normal(size=(3, 2)) + 0.5, rng.normal(size=3))
    model = Model(
        regularizer, alpha, cuts.slopes[:3].sum(axis=0), cuts.offsets[:3].sum(), cuts, signed
    )
    return model, rng


def value(model, w):
    """The definition."""
    J = np.abs(w).sum() if model.regularizer == "l1" else w @ w / 2
    energies = model.cuts.slopes @ w + model.cuts.offsets
    lowest = sum(energies[model.cuts.owners == k].min() for k in range(3))
    return model.alpha * J + model.slope @ w + model.offset - lowest


@pytest.mark.equation("Komodakis 2011, Eq. 28")
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("regularizer", ["l1", "l2"])
@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_the_minimum_over_all_weights(seed, regularizer, signed):
    model, rng = random_model(seed, regularizer, signed)
    bound, w = model.bound()
    tried = rng.normal(scale=3, size=(4000, 2))
    values = [value(model, v if signed else np.abs(v)) for v in tried]
    assert bound <= min(values) + 1e-9
    start = tried[np.argmin(values)]

    def there(v):
        return value(model, v if signed else np.abs(v))

    options = {"xatol": 1e-9, "fatol": 1e-10}
    found = minimize(there, start, method="Nelder-Mead", options=options)
    assert_allclose(bound, found.fun, rtol=1e-3, atol=1e-3)
    assert_allclose(value(model, w), found.fun, rtol=1e-3, atol=1e-3)
    assert signed or w.min() >= 0


@pytest.mark.parametrize("regularizer", ["l1", "l2"])
def test_the_lowest_point_in_a_box(regularizer):
    for seed in range(5):
        model, rng = random_model(seed, regularizer)
        low, high = np.array([0.2, 0.0]), np.array([0.9, 0.5])
        w, lowest, shares = model.minimize(low, high)
        assert (low - 1e-9 <= w).all() and (w <= high + 1e-9).all()
        assert_allclose(np.bincount(model.cuts.owners, shares), 1)
        grid = rng.uniform(low, high, (3000, 2))
        assert lowest <= min(value(model, v) for v in grid) + 1e-9
        assert_allclose(lowest, value(model, w), rtol=1e-3, atol=1e-3)


def test_without_regularizer_the_bound_holds():
    """The linear program alone would give a bound that a rounding error can break."""
    for seed in range(10):
        model, rng = random_model(seed, alpha=0.0)
        bound, _ = model.bound()
        assert bound + 1e-12 >= 0
        assert all(
            bound <= value(model, np.abs(v)) + 1e-9 for v in rng.normal(scale=5, size=(500, 2))
        )


@pytest.mark.equation("Komodakis 2011, Eq. 28")
@pytest.mark.parametrize("signed", [False, True])
def test_with_much_regularization_zero_weights_are_best(signed):
    for seed in range(5):
        model, _ = random_model(seed, signed=signed, alpha=50.0)
        bound, w = model.bound()
        assert_allclose(bound, value(model, np.zeros(2)))
        assert_allclose(w, 0, atol=1e-9)


def test_one_cut_for_each_problem_is_no_loss():
    cuts = Cuts.none(2).add(np.ones((3, 2)), np.zeros(3))
    bound, w = Model("l1", 0.5, np.full(2, 3.0), 0.0, cuts).bound()
    assert_allclose([bound, *w], 0, atol=1e-9)
