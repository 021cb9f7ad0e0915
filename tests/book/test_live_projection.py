"""Projection: the twins agree, and agree with the library and the family of metrics."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from live_harness import same_everywhere
from scipy.linalg import eigh

from mlbook import MLCA
from mlbook.kmeans import distortion
from mlbook.mlca import worst_case_risk
from mlbook.partitions import normalized_assignment, partition_loss

twin = import_module("book.live.projection")


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    n = int(rng.integers(6, 20))
    y = np.append([0, 1, 0, 1], rng.integers(2, size=n - 4))
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 2)) + rng.normal(size=(2, 2))[y]
    state: dict[str, Any] = twin.first_state(X, y)
    return state | {"t": int(rng.integers(41)) / 20}


@pytest.mark.browser
def test_parity(browser: Any) -> None:
    same_everywhere(browser, "projection", random_state)


def test_mlca_is_in_the_middle() -> None:
    """At t = 1 the points are mapped as by the library, which is least squares onto J."""
    for seed in range(50):
        state = random_state(np.random.default_rng(seed)) | {"t": 1}
        result = twin.compute(state)
        mlca = MLCA().fit(state["X"], state["y"])
        np.testing.assert_allclose(result["rows"], mlca.transform(state["X"]), atol=1e-10)
        assert result["residual"] == pytest.approx(result["least"])
        risk = worst_case_risk(np.array(state["X"]), mlca.get_mahalanobis_matrix(), state["y"])
        assert risk == pytest.approx(2 * result["least"], abs=1e-8)


@pytest.mark.parametrize(("t", "weights"), [(0, lambda r: r**0), (2, lambda r: 1 / (1 - r))])
def test_the_ends_are_the_spectral_step_and_discriminant_analysis(t: int, weights: Any) -> None:
    """Distances are those of the metrics of the chapter's proposition, up to a factor."""
    for seed in range(50):
        state = random_state(np.random.default_rng(seed)) | {"t": t}
        X, J = np.array(state["X"]), normalized_assignment(state["y"]).toarray()
        rho, V = eigh(X.T @ J @ J.T @ X, X.T @ X)
        M = (V * weights(rho)) @ V.T
        rows = np.array(twin.compute(state)["rows"])
        ours, theirs = rows @ rows.T, X @ M @ X.T
        np.testing.assert_allclose(ours / ours.max(), theirs / theirs.max(), atol=1e-6)


def test_no_weights_come_nearer_to_the_targets() -> None:
    for seed in range(50):
        state = random_state(np.random.default_rng(seed))
        result = twin.compute(state)
        assert result["residual"] > result["least"] - 1e-12
        assert result["least"] > -1e-12


def test_k_means_finds_the_best_of_all() -> None:
    """On few points all partitions into two can be tried."""
    worse = []
    for seed in range(20):
        state = random_state(np.random.default_rng(seed))
        state = {**state, "X": state["X"][:8], "y": state["y"][:8]}
        result, n = twin.compute(state), len(state["X"][:8])
        rows = np.array(result["rows"])
        every = [[0, *map(int, f"{i:0{n - 1}b}")] for i in range(1, 2 ** (n - 1))]
        best = min(distortion(rows, labels) for labels in every)
        worse.append(distortion(rows, result["labels"]) > best * (1 + 1e-9))
        assert result["delta"] == pytest.approx(partition_loss(result["labels"], state["y"]))
    assert sum(worse) <= 2


def test_the_first_picture() -> None:
    """The spectral step loses what MLCA and discriminant analysis find."""
    state = twin.first_state()
    spectral, mlca, lda = (twin.compute(state | {"t": t}) for t in range(3))
    assert spectral["delta"] == pytest.approx(2)
    assert (mlca["delta"], lda["delta"]) == (0, 0)
    assert mlca["least"] < min(spectral["residual"], lda["residual"])


def test_points_on_a_line_through_the_origin_have_one_direction() -> None:
    state = twin.first_state([[1, 2], [2, 4], [-1, -2], [-3, -6]], [0, 0, 1, 1])
    for t in (0, 1, 2):
        result = twin.compute(state | {"t": t})
        assert result["weight"] == 0
        assert result["delta"] == 0


def test_own_points() -> None:
    assert twin.first_state(np.eye(2), ["b", "a"])["y"] == [1, 0]
    with pytest.raises(ValueError, match="two finite columns"):
        twin.projection(np.ones((4, 3)), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="of two classes"):
        twin.projection(np.ones((4, 2)), [0, 1, 2, 2])
    with pytest.raises(ValueError, match="at most 60 rows"):
        twin.projection(np.ones((61, 2)), np.arange(61) % 2)
