"""When a cut is made: the twins agree, and agree with the library."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import same_everywhere

from mlbook import segment
from mlbook.kmeans import distortion

twin = import_module("book.live.cut_made")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return values as a reader sets them."""
    p, q = rng.integers(1, 25, size=2).tolist()
    jump, noise, price = rng.integers([0, 0, 2], [31, 11, 41]) / [10, 10, 2]
    state: dict[str, Any] = twin.first_state(p, q, jump=jump, noise=noise, price=price)
    drawn = rng.normal(size=(2, 24))
    return state | {"before": drawn[0].tolist(), "after": drawn[1].tolist()}


STATES = [random_state(np.random.default_rng(seed)) for seed in range(60)]


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "cut_made", random_state, n=200)


def test_the_cuts_are_those_of_the_library() -> None:
    for state in STATES:
        result = twin.compute(state)
        x = np.array(result["x"])[:, None]
        ours = np.zeros(len(x), dtype=int)
        ours[result["cuts"]] = 1
        costs = [
            distortion(x, labels) + state["price"] * (labels[-1] + 1)
            for labels in (np.cumsum(ours), segment(x, penalty=state["price"]))
        ]
        assert costs[0] == pytest.approx(costs[1], abs=1e-9)
        means = [part.mean() for part in np.split(x, result["cuts"])]
        np.testing.assert_allclose(result["means"], means, atol=1e-9)


def test_a_cut_saves_what_the_lemma_says() -> None:
    for state in STATES:
        result, p = twin.compute(state), state["p"]
        x = np.array(result["x"])[:, None]
        n = len(x)
        whole = distortion(x, np.zeros(n, dtype=int))
        saved = [whole - distortion(x, (np.arange(n) >= t).astype(int)) for t in range(1, n)]
        np.testing.assert_allclose(result["saved"], saved, atol=1e-8)
        lemma = result["weight"] * result["gap"] ** 2
        assert lemma == pytest.approx(saved[p - 1], abs=1e-8)
        assert result["share"] == pytest.approx(lemma / state["price"], abs=1e-8)
        assert result["clean"][p - 1] == pytest.approx(result["weight"] * state["jump"] ** 2)


def test_without_noise_the_threshold_decides() -> None:
    for state in STATES:
        for factor, cuts in ((0.99, []), (1.01, [state["p"]])):
            jump = factor * twin.compute(state)["threshold"]
            assert twin.compute(state | {"noise": 0.0, "jump": jump})["cuts"] == cuts


def test_the_first_picture_does_not_cut_and_longer_segments_do() -> None:
    state = twin.first_state()
    assert twin.compute(state)["cuts"] == []
    assert twin.compute(state | {"p": 20, "q": 20})["cuts"] == [20]
    assert "does not cut" in twin.view(state, twin.compute(state))["says"]["text"]


@pytest.mark.parametrize("wrong", [{"p": 0}, {"q": 25}, {"jump": 4}, {"noise": -1}, {"price": 0}])
def test_own_numbers(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be from"):
        twin.cut_made(**wrong)
