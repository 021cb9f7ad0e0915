"""A small graph: the twins agree, and agree with the library."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import in_node, same_everywhere

from mlbook.ncuts import (
    gaussian_affinity,
    normalized_cut,
    normalized_cut_bound,
    normalized_cut_value,
)

twin = import_module("book.live.graph")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return nodes anywhere in the panel, near enough to be one graph."""
    points = rng.uniform(*np.transpose(twin.LIMITS), size=(12, 2))
    return {"points": points.tolist(), "b": float(rng.integers(2, 10) / 20)}


def affinities(state: dict[str, Any]) -> Any:
    points = np.array(state["points"])
    pairs = np.array(np.triu_indices(len(points), 1))
    return gaussian_affinity(points, pairs, [state["b"]] * 2)


STATES = [random_state(np.random.default_rng(seed)) for seed in range(100)]


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "graph", random_state, n=200)


def test_the_threshold_is_that_of_the_library() -> None:
    for state in STATES:
        result, W = twin.compute(state), affinities(state)
        found = normalized_cut(W, 2)
        assert len(set(zip(found.tolist(), result["labels"], strict=True))) == 2
        value = result["cuts"][result["place"]]
        assert value == pytest.approx(normalized_cut_value(W, found), abs=1e-9)
        assert result["bound"] == pytest.approx(normalized_cut_bound(W, 2), abs=1e-9)
        assert result["bound"] <= result["best"] + 1e-9 <= value + 2e-9


def test_no_cut_is_better_than_the_best() -> None:
    """All cuts by their definition, of a smaller graph; and rings only where one is better."""
    for state in STATES[:20]:
        small = {"points": state["points"][:7], "b": state["b"]}
        result, W = twin.compute(small), affinities(small)
        values = [normalized_cut_value(W, [*cut, 0]) for cut in list(np.ndindex((2,) * 6))[1:]]
        assert result["best"] == pytest.approx(min(values), abs=1e-12)
        better = result["cuts"][result["place"]] > min(values) + 1e-9
        assert better == bool(result["elsewhere"])
        labels = np.array(result["labels"])
        labels[result["elsewhere"]] ^= 1
        assert normalized_cut_value(W, labels) == pytest.approx(min(values), abs=1e-12)


def test_the_vector_rises_from_left_to_right_and_the_mean_is_zero() -> None:
    for state in STATES:
        z, points = np.array(twin.compute(state)["z"]), np.array(state["points"])
        g = affinities(state).sum(axis=0)
        assert z @ points[:, 0] >= 0
        np.testing.assert_allclose([g @ z, g @ z**2], [0, 1], atol=1e-9)


def test_nodes_out_of_reach_are_cut_for_nothing() -> None:
    """In a graph that falls apart many vectors are right; the cut is still the best."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = rng.uniform(*np.transpose(twin.LIMITS), size=(12, 2))
        points[:2] = [[0.3, 0.75], [7.7, 5.7]]
        points[2:] = [4, 3] + 0.3 * (points[2:] - [4, 3])
        state = {"points": points.tolist(), "b": 1.0}
        result = json.loads(in_node("graph", [state])[0])[0]
        assert result["cuts"][result["place"]] == pytest.approx(result["best"], abs=1e-6)
        assert result["best"] < 1e-3


def test_a_node_between_two_crowds_hides_the_best_cut() -> None:
    """What the page says one can find: a threshold that misses the best cut."""
    state = twin.first_state()
    assert twin.compute(state)["elsewhere"] == []
    state["points"][9] = [4.0, 4.0]
    result = twin.compute(state)
    assert result["elsewhere"]
    says = twin.view(state, result)["says"]["text"]
    assert "with a ring" in says


def test_own_nodes() -> None:
    placed = np.array(twin.first_state(np.random.default_rng(0).normal(size=(9, 2)))["points"])
    low, high = np.transpose(twin.LIMITS)
    assert placed.shape == (9, 2)
    assert (placed >= low).all() and (placed <= high).all()
    for points, b in (([[0, 0], [1, 1]], 0.5), (np.zeros((13, 2)), 0.5), (None, 2)):
        with pytest.raises(ValueError, match="must"):
            twin.graph(points, b)
