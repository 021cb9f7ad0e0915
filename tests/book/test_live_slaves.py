"""Slaves and prices: the twins agree, and every round is the library's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import same_everywhere

from book.figures import latent_crf as demo
from mlbook.dual_decomposition import dual_value, initial_multipliers, relaxed_loss
from mlbook.latent_crf import ExemplarProblem

twin = import_module("book.live.slaves")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """A training set of 2 to 5 points with distances of any kind, a round, either rule."""
    n = int(rng.integers(2, 6))
    D, labels = rng.uniform(0, 5, size=(n, n)), rng.integers(0, 2, size=n)
    state: dict[str, Any] = twin._state(D, labels, float(rng.uniform(1, 4)))
    return state | {
        "alpha": float(rng.uniform(0.5, 2)),
        "round": int(rng.integers(len(state["lengths"]) + 1)),
        "printed": bool(rng.random() < 0.3),
    }


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "slaves", random_state)


def test_every_round_is_that_of_the_library() -> None:
    """The slaves' minima, their votes and the steps on the prices, with the completed rule."""
    w = np.ones(1)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 6))
        D, y = rng.uniform(0, 5, size=(1, n, n)), rng.integers(0, 2, size=n)
        state = twin._state(D[0], y, 2.0)
        problem = ExemplarProblem(D, y, penalty=2.0, features="precomputed")
        x, prices = problem.complete(w, None), initial_multipliers(problem)
        labels = state["labels"]
        for t in range(8):
            result = twin.compute(state | {"round": t})
            ours = np.array(result["prices"])
            np.testing.assert_allclose(ours[:n], prices[0], atol=1e-12)
            np.testing.assert_allclose(ours[n:][labels, range(n)], prices[1], atol=1e-12)
            assert result["bounds"][-1] == pytest.approx(dual_value(problem, w, prices))
            assert result["bounds"][-1] <= state["least"] + 1e-6
            slopes = relaxed_loss(problem, w, prices, x).multipliers
            length = state["lengths"][t]
            prices = [a - length * b for a, b in zip(prices, slopes, strict=True)]


def test_as_printed_is_what_the_chapter_shows() -> None:
    """`demo.climb` takes the chapter's steps, 4 / (1 + t / 10), and keeps the best bound."""
    problem = ExemplarProblem(*demo.three_points(), penalty=3.0)
    state = twin.first_state()
    state |= {"lengths": [4 / (1 + t / 10) for t in range(20)], "round": 20}
    for printed in (False, True):
        bounds = twin.compute(state | {"printed": printed})["bounds"]
        theirs = demo.climb(problem, np.array([0.5, 0.5]), 20, step=4.0, printed=printed)
        np.testing.assert_allclose(np.maximum.accumulate(bounds), theirs)


def test_the_worked_example_ends_at_the_prices_of_the_chapter() -> None:
    state = twin.first_state()
    assert state["least"] == 5
    X, y = demo.three_points()
    theirs = ExemplarProblem(X, y, penalty=3.0).potentials(np.array([0.5, 0.5]))
    assert (state["U"], state["labels"]) == (theirs.tolist(), y.tolist())
    result = twin.compute(state | {"round": 8})
    assert result["bounds"] == [-2, 2, 3.5, 4, 4, 1.25, 3.75, 4.25, 5]
    points = [[2, -1, 0], [-1, 2, -1], [1, -1, 3]]
    assert result["prices"] == [*points, [-2, 0, 0], [0, 0, -2]]
    stuck = twin.compute(state | {"round": 8, "printed": True})
    assert stuck["bounds"] == [-2, *8 * [2]]
    assert not stuck["moves"]
    assert stuck["votes"] == [0, 0, 0]


def test_the_least_is_that_of_an_integer_program() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        D, labels = rng.uniform(0, 5, size=(5, 5)), np.arange(5) % 2
        theirs = demo.augmented_minimum(D, labels, 2.0, alpha=1.0, beta=1.0, integral=True)
        assert twin._least(D, labels, 2.0) == pytest.approx(theirs)


def test_what_is_said() -> None:
    state = twin.first_state()
    says = [
        twin.view(here, twin.compute(here))["says"]["text"]
        for here in (state, state | {"round": 8}, state | {"round": 3, "printed": True})
    ]
    assert "0 + 0 + 0 − 1 − 1, add up to the bound −2." in says[0]
    assert says[1].endswith("the proof is complete.")
    assert says[2].endswith("nobody votes, so no fee moves any more.")


def test_own_data() -> None:
    with pytest.raises(ValueError, match="2 to 6 rows"):
        twin.slaves(np.ones((7, 7)), np.zeros(7, dtype=int))
    with pytest.raises(ValueError, match="one for each of 3"):
        twin.slaves(np.ones((3, 3)), [0, 1])
