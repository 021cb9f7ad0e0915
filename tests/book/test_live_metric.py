"""Learn the metric: the twins agree, and agree with the library."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import in_node, same_everywhere
from sklearn.cluster import KMeans

from mlbook import MLCA, partition_loss

twin = import_module("book.live.metric")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    k = int(rng.integers(2, 5))
    y, truth = np.arange(5 * k) % k, np.arange(8 * k) % k
    means, spread = 3 * rng.normal(size=(k, 2)), rng.normal(size=(2, 2))
    X, test = (means[labels] + rng.normal(size=(len(labels), 2)) @ spread for labels in (y, truth))
    state: dict[str, Any] = twin._state(X, y, test, truth, float(rng.choice([0, 0.3, 1])))
    hand = {"angle": float(rng.uniform(-3, 3)), "ratio": float(rng.uniform(1, 14))}
    return state | {"metric": str(rng.choice(["plain", "learned", "hand"])), "hand": hand}


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "metric", random_state)


def test_the_metric_is_that_of_the_library() -> None:
    for seed in range(50):
        state = random_state(np.random.default_rng(seed))
        W = np.array(twin.compute(state)["W"])
        mlca = MLCA(fit_intercept=True, shrinkage=state["shrinkage"]).fit(state["X"], state["y"])
        np.testing.assert_allclose(W @ W.T, mlca.get_mahalanobis_matrix(), rtol=1e-9, atol=1e-12)


def test_k_means_is_as_good_as_that_of_scikit_learn() -> None:
    """Sixteen starts without chance against ten with: rarely, and never by much, worse."""
    worse = []
    for seed in range(50):
        state = random_state(np.random.default_rng(seed))
        rows = np.array(state["test"])
        ours = twin.kmeans(rows, state["k"])[2]
        theirs = KMeans(state["k"], n_init=10, random_state=0).fit(rows).inertia_
        worse.append(ours / theirs - 1)
    assert np.median(worse) < 1e-9
    assert np.max(worse) < 0.05


def test_the_first_picture_tells_the_story() -> None:
    """The same as the library says of it: k-means fails plainly, and finds all after MLCA."""
    state = twin.first_state()
    result = twin.compute(state)
    mlca = MLCA(fit_intercept=True, random_state=0).fit(state["X"], state["y"])
    theirs = partition_loss(mlca.cluster(np.array(state["test"])), state["truth"])
    assert result["learned"]["delta"] == pytest.approx(theirs, abs=1e-12) == 0
    plain = KMeans(3, n_init=10, random_state=0).fit_predict(state["test"])
    assert result["plain"]["delta"] > 2 < partition_loss(plain, state["truth"])


def test_collinear_points_have_a_needle() -> None:
    state = twin.first_state() | {"X": [[t, 2 * t] for t in range(15)]}
    assert twin.compute(state)["ratio"] == 1e6
    assert json.loads(in_node("metric", [state])[0])[0]["ratio"] == 1e6


def test_own_data() -> None:
    X, y = np.arange(24.0).reshape(12, 2) ** 1.5, ["a", "b", "c"] * 4
    state = twin._state(X, y, None, None, 0.5)
    assert (len(state["X"]), len(state["test"]), state["names"]) == (6, 6, ["a", "b", "c"])
    with pytest.raises(ValueError, match="two finite columns"):
        twin.metric(np.ones((4, 3)), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="two classes"):
        twin.metric(np.ones((4, 2)), [0, 0, 0, 0])
    with pytest.raises(ValueError, match="at most 300"):
        twin.metric(np.ones((400, 2)), np.arange(400) % 2)
