"""Clusters for a price: the twins agree, and the numbers stand in the order they must."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import same_everywhere

from mlbook.exemplars import (
    exemplar_bound,
    exemplar_energy,
    exemplar_path,
    penalty_range,
    solve_exemplars,
    solve_exemplars_exact,
)

twin = import_module("book.live.price")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """Points anywhere or about centres, at a price that leaves the number of clusters open."""
    n = int(rng.integers(3, 31))
    points = 4 * rng.uniform(size=(n, 2))
    if rng.random() < 0.5:
        points += 6 * rng.normal(size=(4, 2))[rng.integers(4, size=n)]
    low, high = penalty_range(twin._distances(points))
    price = float(np.exp(rng.uniform(np.log(0.7 * low), np.log(1.4 * high))))
    frame = [float(c) for c in points.mean(axis=0)] + [9.5]
    return {
        "points": points.tolist(),
        "price": price,
        "range": [low / 2, 2 * high],
        "offers": bool(rng.random() < 0.5),
        "frame": frame,
    }


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "price", random_state)


def test_the_bound_is_below_the_library_and_the_library_below_what_is_shown() -> None:
    """On 200 random states; most of the time the three are one number."""
    gaps = []
    for seed in range(200):
        state = random_state(np.random.default_rng(seed))
        result = twin.compute(state)
        D, price = twin._distances(np.array(state["points"])), state["price"]
        library = solve_exemplars(D, price, random_state=0)
        scale = 1e-9 * library.energy
        assert result["bound"] <= library.energy + scale
        assert library.energy <= result["energy"] + scale
        exemplars = sorted(set(result["labels"]))
        assert result["energy"] == pytest.approx(exemplar_energy(D, exemplars, price))
        assert result["bound"] == pytest.approx(exemplar_bound(D, price, result["offers"]))
        gaps.append(result["gap"])
    assert np.mean(np.array(gaps) < 1e-6) > 0.9
    assert max(gaps) < 0.02


def test_the_shown_energy_is_the_optimum_almost_always() -> None:
    missed = []
    for seed in range(40):
        state = random_state(np.random.default_rng(seed))
        D = twin._distances(np.array(state["points"]))
        exact = solve_exemplars_exact(D, state["price"], random_state=0).energy
        missed.append(twin.compute(state)["energy"] / exact - 1)
    assert np.mean(np.array(missed) < 1e-9) >= 0.95
    assert min(missed) > -1e-9


def test_the_path_is_that_of_the_library() -> None:
    """Up to eight clusters; the search of a frame need not be as thorough farther down."""
    state = twin.first_state()
    D = twin._distances(np.array(state["points"]))
    path, ours = exemplar_path(D, 8, random_state=0), twin.compute(state)["path"]
    assert ours["counts"][:8] == path.counts.tolist()
    np.testing.assert_allclose(ours["low"][:7], path.low[:7])
    assert path.longest is not None
    assert path.longest.low < state["price"] < path.longest.high


def test_the_first_picture_tells_the_story() -> None:
    """Five clusters, proved best; as many on a plateau that stands out."""
    state = twin.first_state()
    result = twin.compute(state)
    assert (result["count"], result["gap"] < 1e-6) == (5, True)
    high, low = result["path"]["low"][3:5]
    assert low < state["price"] < high and high / low > 2.5
    assert "So this choice is the best." in twin.view(state, result)["says"]["text"]


def test_own_data() -> None:
    state = twin._state(np.arange(12.0).reshape(6, 2) ** 1.5)
    assert len(state["points"]) == 6
    with pytest.raises(ValueError, match="two finite columns"):
        twin.price(np.ones((4, 3)))
    with pytest.raises(ValueError, match="different rows"):
        twin.price(np.ones((4, 2)))
