"""Six points: the twins agree, and agree with the library."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import in_node, same_everywhere

from mlbook import partition_loss, segment, segmentation_path
from mlbook.kmeans import distortion
from mlbook.large_margin import structured_hinge

twin = import_module("book.live.six_points")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return values as a reader sets them: steps of 0.1 and of 0.5."""
    x = rng.integers(0, 81, size=6) / 10
    return {"x": x.tolist(), "price": float(rng.integers(2, 41) / 2)}


STATES = [random_state(np.random.default_rng(seed)) for seed in range(100)]


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "six_points", random_state, n=300)


def test_the_program_finds_what_the_library_finds() -> None:
    for state in STATES:
        x, result = np.array(state["x"])[:, None], twin.compute(state)
        theirs = segment(x, penalty=state["price"])
        cost = distortion(x, theirs) + state["price"] * (theirs[-1] + 1)
        assert result["least"][-1] == pytest.approx(cost, abs=1e-9)
        ours = result["distortion"] + state["price"] * (result["labels"][-1] + 1)
        assert ours == pytest.approx(cost, abs=1e-9)
        assert result["loss"] == pytest.approx(partition_loss(result["labels"], twin.TRUTH))


def test_the_path_and_its_hull_are_those_of_the_library() -> None:
    for state in STATES:
        x, result = np.array(state["x"])[:, None], twin.compute(state)
        D = segmentation_path(x, 6).distortion
        np.testing.assert_allclose(result["path"], D, atol=1e-9)
        slopes = [(D[i] - D[j]) / (j - i) for i in range(6) for j in range(i + 1, 6)]
        best = {
            int(k) + 1
            for price in slopes
            for costs in [D + price * np.arange(6)]
            for k in np.flatnonzero(costs < costs.min() + 1e-9)
        }
        assert result["hull"] == sorted(best)


def test_the_hinge_is_that_of_the_library() -> None:
    for state in STATES:
        x, result = np.array(state["x"])[:, None], twin.compute(state)
        theirs = structured_hinge(x, twin.TRUTH, [1 / state["price"]])
        assert result["hinge"] == pytest.approx(theirs, abs=1e-9)
        b = 1 / state["price"]
        assert max(o + g * b for o, g in result["lines"]) == pytest.approx(theirs, abs=1e-9)
        assert result["loss"] <= result["hinge"] + 1e-9


def test_the_truth_wins_where_it_is_ahead() -> None:
    for state in STATES:
        result, x = twin.compute(state), np.array(state["x"])[:, None]
        low, high = result["right"]
        for b in (0.03, 0.1, 0.3, 0.9):
            if min(abs(b - low), abs(b - high)) > 1e-6:
                found = segment(x, penalty=1 / b).tolist()
                assert (found == twin.TRUTH) == (low < b < high)
        lead, right = result["lead"], result["labels"] == twin.TRUTH
        assert lead == 0 or (lead > -1e-9 if right else lead < 1e-9)


def test_the_first_picture_is_the_example_by_hand() -> None:
    result = twin.compute(twin.first_state())
    assert result["least"] == [0, 5, 7, 12, 14, 19, 21]
    assert result["path"] == [34, 22, 6, 4, 2, 0]
    assert 2 not in result["hull"]
    np.testing.assert_allclose(result["right"], [1 / 14, 1 / 2])
    assert result["hinge"] == pytest.approx(1.2)


def test_equal_points_are_one_segment() -> None:
    state = {"x": [3.0] * 6, "price": 1.0}
    result = json.loads(in_node("six_points", [state])[0])[0]
    assert result["labels"] == [0] * 6
    assert result["right"][0] > result["right"][1]


def test_own_points() -> None:
    assert twin.first_state(range(6), 2)["x"] == [0, 1, 2, 3, 4, 5]
    for x, price in ([range(5), 5], [[0, 1, 2, 3, 4, 9], 5], [range(6), 0.5]):
        with pytest.raises(ValueError, match="must"):
            twin.six_points(x, price)
