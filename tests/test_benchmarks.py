"""The benchmarks run, at tiny sizes, and report what they say. Nothing here looks at a time."""

import importlib.util
import json
import sys
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import __main__ as command
from benchmarks import measure as measuring
from benchmarks.cases import (
    BARS,
    BENCHMARKS,
    Benchmark,
    energy_and_gap,
    exemplars,
    make_rows,
)
from mlbook.mlca import MLCA

NEEDS_METRIC_LEARN = {"rca", "lfda", "itml"}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_runs(name):
    if name in NEEDS_METRIC_LEARN:
        pytest.importorskip("metric_learn")
    benchmark = BENCHMARKS[name]
    line = measuring.measure(benchmark, *benchmark.quick, seconds=0)
    json.dumps(line)
    assert line["repeats"] == 1
    assert line["ratio"] == line["ratios"][0] == line["ratios"][1]
    assert line["ratio"] == pytest.approx(line["seconds"] / line["reference_seconds"])
    assert (line["error"] is None) == (benchmark.error is None)
    if benchmark.error:
        assert line["error"] < 1e-7
    if benchmark.compare:
        assert 0.5 < line["energy_ratio"] <= 1
        assert 0 <= line["gap"] < (0.3 if "random" in name else 0.01)


def test_bars_are_about_sizes_that_are_measured():
    for bar in BARS:
        assert bar.size in BENCHMARKS[bar.benchmark].sizes


def test_known_solution_is_exact_whatever_the_condition():
    """Against a solution in rational arithmetic of the very rows that were made."""
    rows = make_rows(30, 4, condition=1e8)
    X = [[Fraction(v) for v in row] for row in rows.X.tolist()]
    normal = [[sum(r[i] * r[j] for r in X) for j in range(4)] for i in range(4)]
    for c in range(10):
        members = [row for row, label in zip(X, rows.y, strict=True) if label == c]
        sums = [sum(column) for column in zip(*members, strict=True)]
        exact = np.array([float(v) for v in solve_exactly(normal, sums)]) / np.sqrt(3)
        assert_allclose(rows.W[:, c], exact, rtol=1e-11)
    unit = rows.X / np.linalg.norm(rows.X, axis=0)
    assert 1e8 < np.linalg.cond(unit) < 1e10


def solve_exactly(A, b):
    """Gauss-Jordan elimination."""
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    for i in range(len(rows)):
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for j in range(len(rows)):
            if j != i:
                rows[j] = [v - rows[j][i] * w for v, w in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a used process cannot be reset")
def test_memory_is_what_the_function_takes_at_its_peak():
    def take(data):
        block = np.ones(10_000_000)
        return float(block[::4096].sum())

    benchmark = Benchmark("take", take, reference=lambda data: None)
    line = measuring.measure(benchmark, 1000, 8, seconds=0)
    assert 60e6 < line["extra_bytes"] < 130e6
    assert line["memory"] == pytest.approx(line["extra_bytes"] / (1000 * 8 * 8))


def test_command_writes_its_numbers_for_all_benchmarks_named(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    output = tmp_path / "new" / "result.json"
    assert command.main(["--quick", "--output", str(output), "mlca", "partition_loss"]) == 0
    shown = capsys.readouterr().out
    assert "partition_loss" in shown and "not measured" in shown
    result = json.loads(output.read_text())
    assert set(result) == {"machine", "quick", "measurements", "exponents", "bars"}
    assert result["quick"] is True and result["machine"]["threads"] == 2
    sizes = [(x["name"], x["n"], x["d"]) for x in result["measurements"]]
    assert sizes == [(n, *BENCHMARKS[n].quick) for n in ("mlca", "partition_loss")]
    assert all(x["seconds"] > 0 and x["ratio"] > 0 for x in result["measurements"])
    assert [bar["passed"] for bar in result["bars"]] == [None] * len(BARS)
    assert sorted(p.name for p in output.parent.iterdir()) == ["result.json", "result.svg"]


def test_a_method_that_fails_is_skipped_with_its_reason_and_not_tried_with_more_rows(monkeypatch):
    tried = []

    def child(name, n, d, seconds, threads):
        tried.append(n)
        return {"skipped": "no memory"} if n >= 10_000 else fake_line(1.0)

    monkeypatch.setattr(command, "in_child", child)
    lines = command.run(["lfda"], quick=False, threads=2)
    assert tried == [1_000, 10_000]
    assert [x.get("skipped", "")[:12] for x in lines] == ["", "no memory"] + 3 * ["as with n = "]


def test_child_reports_why_it_failed():
    found = command.in_child("partition_loss", 10**15, 2, seconds=0, threads=1)
    assert found["skipped"].startswith("Unable to allocate 14.2 PiB")


def fake_line(seconds, **more):
    return {"seconds": seconds, "ratio": 2.0, "ratios": [2.0, 2.0], "cpu_ratio": 2.0} | {
        "memory": 0.05,
        "error": 1e-9,
        **more,
    }


def test_growth_is_the_slope_with_the_other_size_fixed():
    def line(n, d):
        return {"n": n, "d": d} | fake_line(n**1.5 * d**2.0)

    sizes = [(10_000, 5), (20_000, 5), (80_000, 5), (90_000, 5), (20_000, 9), (20_000, 17), (9, 5)]
    lines = [line(n, d) for n, d in sizes] + [{"n": 160_000, "d": 5, "skipped": "no"}]
    lines[0]["seconds"] = 1e6  # not among the three largest
    lines[6]["seconds"] = 1e6  # below 10,000 rows
    assert command.growth(lines, "n") == pytest.approx(1.5)
    assert command.growth(lines, "d") == pytest.approx(2.0)
    assert command.growth(lines[:1], "n") is None


def test_bars_pass_miss_or_were_not_measured():
    n, d = BARS[0].size
    lines = [
        {"name": "mlca", "n": n, "d": d} | fake_line(1.0, ratio=2.6),
        {"name": "mlca-ill", "n": n, "d": d, "skipped": "no memory"},
    ]
    passed = [bar["passed"] for bar in command.judge(lines)]
    assert passed[:5] == [False, None, None, True, None]
    assert set(passed[5:]) == {None}


@pytest.mark.parametrize("kind", ["gaussian", "random"])
def test_energies_of_exemplars_are_compared_instance_by_instance(kind):
    data = BENCHMARKS[f"exemplars-{kind}"].make(30, 2)
    assert data.D.shape == (3, 30, 30) and data.nbytes == 30 * 30 * 8
    assert (kind == "random") == bool((data.D[0] != data.D[0].T).any())
    solutions = exemplars(data)
    all_points = [np.arange(30)] * 3
    found = energy_and_gap(data, solutions, all_points)
    ratios = [x.energy / (30 * f) for x, f in zip(solutions, data.penalties, strict=True)]
    assert found == {
        "energy_ratio": pytest.approx(max(ratios)),
        "gap": max(x.gap for x in solutions),
    }
    nothing = [np.array([], dtype=int)] * 3
    assert energy_and_gap(data, solutions, nothing)["energy_ratio"] == 0


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["mlca", "mlcaa"])
    assert "no benchmark is called mlcaa" in capsys.readouterr().err


def test_without_metric_learn_the_reason_is_shown(monkeypatch):
    if importlib.util.find_spec("metric_learn"):
        monkeypatch.setitem(sys.modules, "metric_learn", None)
    with pytest.raises(ImportError, match="metric_learn"):
        BENCHMARKS["rca"].subject(make_rows(50, 3))


def test_chunks_give_the_fit_of_all_rows():
    rows = make_rows(500, 6)
    model = BENCHMARKS["mlca-chunks"].subject(rows)
    assert_allclose(model.components_, MLCA().fit(rows.X, rows.y).components_, rtol=1e-10)
