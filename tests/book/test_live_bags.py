"""Bags: the twins agree, and the best choice is the library's."""

from __future__ import annotations

from importlib import import_module
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from live_harness import same_everywhere

from book.figures import mimlca as demo
from mlbook.mimlca import assign_instances

twin = import_module("book.live.bags")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """Up to six bags of up to five instances, with labels out of up to four."""
    sizes, k = rng.integers(1, 6, size=int(rng.integers(1, 7))), int(rng.integers(1, 5))
    Y = rng.random((len(sizes), k)) < 0.6
    Y[np.arange(len(sizes)), rng.integers(k, size=len(sizes))] = True
    X, Z = 3 * rng.normal(size=(sizes.sum(), 2)), 2 * rng.normal(size=(k, 2))
    state: dict[str, Any] = twin._state(X, np.append(0, sizes.cumsum()), Y, Z)
    return state | {"bag": int(rng.integers(len(sizes)))}


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "bags", random_state)


def test_the_best_choice_is_that_of_the_library() -> None:
    for seed in range(200):
        state = random_state(np.random.default_rng(seed))
        result = twin.compute(state)
        Y = np.zeros((len(state["labels"]), len(state["names"])), dtype=int)
        for row, own in zip(Y, state["labels"], strict=True):
            row[own] = 1
        library = assign_instances(state["points"], state["centroids"], state["offsets"], Y)
        assert [c for bag in result["bags"] for c in bag["best"]] == library.tolist()
        named = library >= 0
        away = np.array(state["points"])[named] - np.array(state["centroids"])[library[named]]
        assert result["paid"] == pytest.approx(np.sum(away**2))


def test_both_choices_against_trying_all() -> None:
    """The best is the least of all; the greedy hand is feasible, and takes the least number."""
    lost = []
    for seed in range(100):
        for bag in twin.compute(random_state(np.random.default_rng(seed)))["bags"]:
            costs = np.array(bag["costs"])
            tall = costs if len(costs) >= costs.shape[1] else costs.T
            orders = permutations(range(len(tall)), tall.shape[1])
            least = min(tall[list(rows), range(tall.shape[1])].sum() for rows in orders)
            assert bag["paid"] == pytest.approx(least)
            given = [c for c in bag["greedy"] if c >= 0]
            assert len(given) == len(set(given)) == min(costs.shape)
            assert costs.min() in costs[np.array(bag["greedy"]) >= 0]
            lost.append(bag["greedyPaid"] - bag["paid"])
    assert min(lost) > -1e-9
    assert 0.05 < np.mean(np.array(lost) > 1e-9) < 0.9


def test_the_first_picture_is_round_1_of_the_worked_example() -> None:
    X, offsets, Y = demo.four_bags()
    V = X / [1, 5]
    centroids, labels = demo.rounds(V, offsets, Y)[1]
    state = twin.first_state()
    assert state["points"] == V.tolist()
    assert state["offsets"] == offsets.tolist()
    np.testing.assert_allclose(state["centroids"], centroids, atol=1e-12)
    result = twin.compute(state)
    assert [c for bag in result["bags"] for c in bag["best"]] == labels.tolist()
    text = twin.view(state, result)["says"]["text"]
    assert "the best choice, 5 → b, 6 → a, costs 7.0." in text
    assert "takes 4 → a, 6 → b and pays 3.0 more (43%)." in text


def test_own_data() -> None:
    X, offsets, Y = demo.four_bags()
    state = twin._state(X, offsets, Y, None)
    assert np.shape(state["centroids"]) == (2, 2)
    with pytest.raises(ValueError, match="two finite columns"):
        twin.bags(np.ones((4, 3)), [0, 4], [[1]])
    with pytest.raises(ValueError, match="at most 60 rows, 6 in a bag"):
        twin.bags(np.ones((7, 2)), [0, 7], [[1, 1]])
    with pytest.raises(ValueError, match="an instance and a label"):
        twin.bags(np.ones((2, 2)), [0, 1, 2], [[1, 1], [0, 0]])
