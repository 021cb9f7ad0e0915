"""The numerics of core.js against NumPy and SciPy."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
from live_harness import NODE
from scipy.optimize import linear_sum_assignment

from book.live import numerics
from book.live.figure import HERE

EACH = """states.map((s) => ({
  svd: live.svd(s.A), eigh: live.eigh(s.S), solution: live.leastSquares(s.A, s.B),
  columns: live.assign(s.cost), kmeans: live.kmeans(s.A, s.k), aligned: live.align(s.a, s.b, 6),
  delta: live.delta(s.a, s.b), fixed: s.numbers.map((x) => live.fixed(x, 2)),
}))"""


def case(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 12)), int(rng.integers(2, 7))
    A, S = rng.normal(size=(n, d)), rng.normal(size=(d, d))
    if seed % 3 == 0:
        A[:, -1] = 2 * A[:, 0]  # of lower rank
    numbers = [0.125, -0.125, -0.001, 2.675, *rng.normal(size=5)]
    values = {
        "A": A,
        "S": S + S.T,
        "B": rng.normal(size=(n, 2)),
        "cost": rng.integers(0, 9, size=(4, 4 + seed % 3)),
        "a": np.r_[:6, rng.integers(0, 6, size=20)],
        "b": np.r_[:6, rng.integers(0, 6, size=20)],
        "numbers": np.array(numbers),
        "k": np.array(1 + seed % 4),
    }
    return {name: value.tolist() for name, value in values.items()}


@pytest.fixture(scope="module")
def pairs() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Random cases with what Node makes of them."""
    node = shutil.which("node") or pytest.skip("node is not there")
    cases = [case(seed) for seed in range(200)]
    program = NODE.replace("FILES", json.dumps([str(HERE / "core.js")]))
    program = program.replace("EACH", f"((live) => {EACH})(mlbookLive)")
    done = subprocess.run(
        [node, "-e", program], input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return list(zip(cases, json.loads(done.stdout), strict=True))


def test_singular_values(pairs: Any) -> None:
    for given, found in pairs:
        U, s, V = (np.array(found["svd"][name]) for name in ("U", "s", "V"))
        np.testing.assert_allclose(U * s @ V.T, given["A"], atol=1e-12)
        theirs = np.linalg.svd(given["A"], compute_uv=False)
        np.testing.assert_allclose(s, theirs, rtol=1e-12, atol=1e-13)


def test_eigenvectors(pairs: Any) -> None:
    for given, found in pairs:
        values, vectors = numerics.eigh(np.array(given["S"]))
        np.testing.assert_allclose(found["eigh"]["values"], values, atol=1e-12)
        np.testing.assert_allclose(found["eigh"]["vectors"], vectors, atol=1e-9)


def test_least_squares(pairs: Any) -> None:
    for given, found in pairs:
        theirs = np.linalg.pinv(given["A"], rcond=1e-10) @ given["B"]
        np.testing.assert_allclose(found["solution"], theirs, atol=1e-9)
        ours = numerics.least_squares(np.array(given["A"]), np.array(given["B"]))
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_assignment(pairs: Any) -> None:
    for given, found in pairs:
        cost = np.array(given["cost"])
        assert len(set(found["columns"])) == len(cost)
        theirs = cost[linear_sum_assignment(cost)].sum()
        assert cost[range(len(cost)), found["columns"]].sum() == theirs


def test_k_means_and_names(pairs: Any) -> None:
    for given, found in pairs:
        labels, centres, distortion = numerics.kmeans(np.array(given["A"]), given["k"])
        assert found["kmeans"]["labels"] == labels.tolist()
        np.testing.assert_allclose(found["kmeans"]["centres"], centres, atol=1e-12)
        assert found["kmeans"]["distortion"] == pytest.approx(distortion, abs=1e-12)
        kept = np.sum(np.equal(found["aligned"], given["b"]))
        ours = numerics.align(given["a"], given["b"], 6)
        assert kept == np.sum(ours == given["b"])
        assert found["delta"] == pytest.approx(numerics.delta(given["a"], given["b"]), abs=1e-12)


def test_numbers_are_written_alike(pairs: Any) -> None:
    from book.live.markup import fixed

    for given, found in pairs:
        assert found["fixed"] == [fixed(x, 2) for x in given["numbers"]]
    assert pairs[0][1]["fixed"][:4] == ["0.13", "-0.13", "0.00", "2.67"]
