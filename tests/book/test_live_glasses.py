"""Weights under a cap: the twins agree, and agree with Fan's theorem and the library."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import HERE, same_everywhere

from book.figures.kmeans import all_partitions
from mlbook.kmeans import distortion, spectral_bound

twin = import_module("book.live.glasses")


@cache
def some_points(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    n = 4 + seed % 3
    state: dict[str, Any] = twin.first_state(rng.normal(size=(n, rng.integers(1, n + 1))), 1)
    return state


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    state = some_points(int(rng.integers(12)))
    n = len(state["mu"])
    k, w = int(rng.integers(1, n + 1)), rng.uniform(size=n)
    if rng.random() < 0.7:  # some have no water left, some a lot
        w *= min(1, k * rng.choice([rng.uniform(), 1]) / w.sum())
    return state | {"k": k, "w": (w * min(1, k / w.sum())).tolist()}


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "glasses", random_state)


def test_no_filling_is_worth_more_and_the_account_closes() -> None:
    """The identity of the proof of Fan's theorem, with water that is not poured."""
    for seed in range(200):
        result = twin.compute(random_state(np.random.default_rng(seed)))
        lost = result["short"] + result["low"] + result["jug"]
        assert result["worth"] + lost == pytest.approx(result["most"])
        assert min(result["short"], result["low"], result["jug"]) > -1e-12


def test_the_most_is_the_bound_of_the_library() -> None:
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(5, 4)) + 1
        state = twin.first_state(X)
        for k in range(1, 6):
            most = twin.compute(state | {"k": k})["most"]
            bound = spectral_bound(X, k, centred=False)
            assert np.sum(X**2) - most == pytest.approx(bound, abs=1e-7)


def test_the_weights_of_the_best_partition() -> None:
    """Between 0 and 1, k in all, and worth what no partition exceeds."""
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(5, 4))
        state = twin.first_state(X, 2)
        for k, weights in enumerate(state["partitions"], start=1):
            assert sum(weights) == pytest.approx(k)
            assert min(weights) > -1e-12 and max(weights) < 1 + 1e-12
            costs = [distortion(X, p) for p in all_partitions(5) if max(p) == k - 1]
            worth = np.dot(state["mu"], weights)
            assert worth == pytest.approx(np.sum(X**2) - min(costs))


def test_the_first_picture() -> None:
    """One unit is in the jug, and even the best partition does not reach the bound."""
    state = twin.first_state()
    result = twin.compute(state)
    assert result["left"] == 1
    assert result["worth"] < result["partition"] < result["most"] - 1
    largest = twin.compute(state | {"w": [1, 1, 1, 0, 0, 0]})
    assert largest["worth"] == pytest.approx(largest["most"])


def test_pouring_keeps_the_rules() -> None:
    """No glass holds more than one unit, and no more is poured than there is."""
    program = """
const fs = require("fs"), vm = require("vm"), [files, first] = JSON.parse(fs.readFileSync(0));
for (const file of files) vm.runInThisContext(fs.readFileSync(file, "utf8"));
const figure = mlbookLive.figures.glasses, seen = [];
let state = first;
for (let step = 0; step < 200; step++) {
  state = figure.drag(state, "glasses", step % 6, 0, 130 + ((step * 37) % 100));
  if (step % 7 === 0) state = figure.control(state, "k", 1 + (step % 5));
  seen.push([state.k, ...state.w]);
}
for (const value of ["largest", "evenly", "partition", "empty"]) {
  state = figure.control(state, "pour", value);
  seen.push([state.k, ...state.w]);
}
process.stdout.write(JSON.stringify(seen));
"""
    files = [str(HERE / f"{name}.js") for name in ("core", "glasses")]
    done = subprocess.run(
        ["node", "-e", program],
        input=json.dumps([files, twin.first_state()]),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = np.array(json.loads(done.stdout))
    k, w = rows[:, 0], rows[:, 1:]
    assert w.min() > -1e-12 and w.max() < 1 + 1e-12
    assert np.all(w.sum(axis=1) < k + 1e-9)
    assert np.any(np.isclose(w.sum(axis=1)[:-4], k[:-4])) and np.any(
        w.sum(axis=1)[:-4] < k[:-4] - 0.1
    )
    np.testing.assert_allclose(w[-4:].sum(axis=1), [*k[-4:-1], 0])


def test_own_points() -> None:
    assert len(twin.first_state(np.eye(4), 2)["partitions"]) == 4
    assert twin.first_state(np.eye(4), 1)["w"] == [0.5, 0, 0, 0]
    with pytest.raises(ValueError, match="4 to 8 rows"):
        twin.glasses(np.ones((3, 2)))
    with pytest.raises(ValueError, match="from 1 to 6; got 7"):
        twin.glasses(n_clusters=7)
