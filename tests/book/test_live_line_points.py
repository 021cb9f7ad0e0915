"""Four points on a line: the twins agree, agree with the library, and the bar closes."""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import same_everywhere

from mlbook.kmeans import distortion

twin = import_module("book.live.line_points")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    x = rng.integers(101, size=4) / 10
    state: dict[str, Any] = twin.first_state(x, rng.integers(4, size=4))
    return state


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "line_points", random_state, n=300)


def test_the_bar_closes() -> None:
    for seed in range(200):
        state = random_state(np.random.default_rng(seed))
        result = twin.compute(state)
        assert result["trace"] + result["distortion"] == pytest.approx(result["total"])
        x, C = np.array(state["x"]), np.array(result["C"])
        assert x @ C @ x == pytest.approx(result["trace"])
        parts = twin.view(state, result)
        width = float(parts["kept"]["width"]) + float(parts["lost"]["width"])
        assert width == pytest.approx(twin.BAR, abs=0.011)


def test_the_best_is_the_best_of_all() -> None:
    for seed in range(50):
        state = random_state(np.random.default_rng(seed))
        result = twin.compute(state)
        X = np.array(state["x"])[:, None]
        costs = [
            distortion(X, labels)
            for labels in itertools.product(range(4), repeat=4)
            if len(set(labels)) == result["k"]
        ]
        assert result["best"]["distortion"] == pytest.approx(min(costs), abs=1e-9)
        assert len(set(result["best"]["labels"])) == result["k"]


def test_the_worked_example() -> None:
    state = twin.first_state()
    result = twin.compute(state)
    assert (result["total"], result["trace"], result["distortion"]) == (101, 93, 8)
    assert twin.view(state, result)["says"]["text"] == (
        "Two groups: total 101.0 = trace 93.0 + distortion 8.0. "
        "No partition into as many groups has less distortion."
    )


def test_all_points_in_the_origin_fill_the_bar() -> None:
    state = {"x": [0.0] * 4, "labels": [0, 1, 1, 2]}
    assert twin.view(state, twin.compute(state))["kept"] == {"width": "304.00"}


def test_own_points() -> None:
    assert twin.first_state([1, 2, 6, 7], [0, 0, 1, 1])["labels"] == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="four numbers from 0 to 10"):
        twin.line_points([0, 1, 2, 11])
    with pytest.raises(ValueError, match="four integers from 0 to 3"):
        twin.line_points(labels=[0, 1, 2, 4])
