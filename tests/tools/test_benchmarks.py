"""The benchmarks run, at tiny sizes, and report what they say. Nothing here looks at a time."""

import json
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import __main__ as command
from benchmarks import measure as measuring
from benchmarks.bags import FACES, N_BAGS, N_NAMES, make_documents
from benchmarks.cases import BENCHMARKS
from benchmarks.points import clusters_found, energy_and_gap, exemplars
from benchmarks.rows import make_rows, make_sparse_rows, make_wide_sparse_rows
from benchmarks.sequences import Sets, cost_difference, feared_segments, how_many, make_series
from mlbook.datasets import make_noisy_gaussians
from mlbook.mlca import MLCA

ROOT = Path(__file__).resolve().parents[2]

# What each benchmark compares at its tiny size: name, least, and greatest value.
COMPARED = {
    "exemplars-gaussian": {"energy_ratio": (0.5, 1), "gap": (0, 0.01)},
    "exemplars-uniform": {"energy_ratio": (0.5, 1), "gap": (0, 0.01)},
    "exemplars-blobs": {"energy_ratio": (0.5, 1), "gap": (0, 0.01)},
    "exemplars-random": {"energy_ratio": (0.5, 1), "gap": (0, 0.3)},
    "segment-known": {"cost_difference": (0, 1e-9)},
    "segment-penalty": {"cost_difference": (0, 1e-9)},
    "segment-long": {"cost_difference": (0, 1e-9)},
    "segment-dynp": {"cost_difference": (0, 1e-9)},
    "large-margin": {"gap": (0, 1e-3), "rounds": (2, 100)},
    "mimlca": {"rounds": (1, 100)},
    "mimlca-kernel": {"rounds": (1, 100)},
    "latent-exemplars": {"one_minus_f": (0, 0.05), "noisy_share": (0, 0.05)},
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_runs(name):
    benchmark = BENCHMARKS[name]
    for module in benchmark.needs:
        pytest.importorskip(module)
    line = measuring.measure(benchmark, *benchmark.tiny, seconds=0)
    json.dumps(line)
    assert line["repeats"] == 1
    assert line["cpu_ratio"] == line["cpu_ratios"][0] == line["cpu_ratios"][1]
    assert line["cpu_ratio"] == pytest.approx(line["cpu_seconds"] / line["reference_cpu_seconds"])
    assert line["ratio"] == line["median_ratio"]
    assert line["ratio"] == pytest.approx(line["seconds"] / line["reference_seconds"])
    assert (line["error"] is None) == (benchmark.error is None)
    if benchmark.error:
        assert line["error"] < 1e-7
    assert (name in COMPARED) == (benchmark.compare is not None)
    for key, (least, most) in COMPARED.get(name, {}).items():
        assert least <= line[key] <= most
    assert {bar.key for bar in benchmark.bars} <= set(line)


def test_bars_are_about_sizes_that_are_measured():
    bars = [bar for benchmark in BENCHMARKS.values() for bar in benchmark.bars]
    for benchmark in BENCHMARKS.values():
        assert {bar.size for bar in benchmark.bars} <= set(benchmark.sizes)
    assert len({bar.what for bar in bars}) == len(bars)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_growth_is_measured_over_three_sizes(name):
    benchmark = BENCHMARKS[name]
    lines = [
        {"n": n, "d": d, "cpu_seconds": float(n * max(d, 1) ** 2)}
        for n, d in benchmark.sizes
        if n >= benchmark.grows_from
    ]
    for axis in benchmark.grows:
        fixed = "d" if axis == "n" else "n"
        assert max(Counter(line[fixed] for line in lines).values()) >= 3
        assert command.growth(lines, axis, benchmark.grows_from) == pytest.approx(
            1 if axis == "n" else 2
        )


def test_stored_results_have_the_benchmarks_and_bars_of_the_code():
    stored = command.read(ROOT / "data" / "results" / "benchmarks.json")
    assert stored["quick"] is False
    sizes = {(name, *size) for name, x in BENCHMARKS.items() for size in x.sizes}
    assert {(x["name"], x["n"], x["d"]) for x in stored["measurements"]} == sizes
    bars = [(bar.what, bar.limit) for x in BENCHMARKS.values() for bar in x.bars]
    assert [(bar["what"], bar["limit"]) for bar in stored["bars"]] == bars
    assert all({"machine", "threads", "code"} <= set(x) for x in stored["measurements"])


def test_a_benchmark_is_stale_once_its_code_changes(monkeypatch):
    lines = [{"name": name, "code": command.code(name)} for name in BENCHMARKS]
    assert command.stale({"measurements": lines}) == []
    lines[2] |= {"code": "of yesterday"}
    older = [{"name": "gone", "code": ""}, {"name": "itml"}]
    found = command.stale({"measurements": [x for x in lines if x["name"] != "rca"] + older})
    assert found == [lines[2]["name"], "rca", "itml"]


def test_the_hash_is_of_the_code_that_does_the_work(monkeypatch):
    seen = {}
    monkeypatch.setattr(command, "fingerprint", lambda files, root: seen.update(files=files) or {})
    command.code("segment-known")
    assert command.ROOT / "mlbook" / "changepoints" / "search.py" in seen["files"]
    assert command.ROOT / "mlbook" / "mlca" / "estimators.py" not in seen["files"]
    for benchmark in BENCHMARKS.values():
        assert (command.ROOT / "mlbook" / f"{benchmark.code}.py").is_file()


def test_sparse_rows_have_the_density_they_should():
    rows = make_sparse_rows(200, 1000)
    assert rows.X.shape == (200, 1000) and 0.0095 < rows.X.nnz / 200_000 <= 0.01
    assert rows.nbytes == pytest.approx(12 * rows.X.nnz + 4 * 201, rel=0.5)
    assert 0.95 * 50 * 40 < make_wide_sparse_rows(40, 5000).X.nnz <= 50 * 40


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

    benchmark = replace(BENCHMARKS["mlca"], subject=take, reference=lambda data: None, error=None)
    line = measuring.measure(benchmark, 1000, 8, seconds=0)
    assert 60e6 < line["extra_bytes"] < 130e6
    assert line["memory"] == pytest.approx(line["extra_bytes"] / (1000 * 8 * 8))


def test_command_writes_its_numbers_for_all_benchmarks_named(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    output = tmp_path / "new" / "result.json"
    for name in ("mlca", "partition_loss"):
        tiny = replace(BENCHMARKS[name], sizes=(BENCHMARKS[name].tiny, *BENCHMARKS[name].sizes))
        monkeypatch.setitem(BENCHMARKS, name, tiny)
    assert command.main(["--quick", "--output", str(output), "mlca", "partition_loss"]) == 0
    shown = capsys.readouterr().out
    assert "partition_loss" in shown and "not measured" in shown
    result = json.loads(output.read_text())
    assert set(result) == {"quick", "measurements", "exponents", "bars"}
    assert result["quick"] is True
    assert all(x["threads"] == 1 and len(x["code"]) == 16 for x in result["measurements"])
    sizes = [(x["name"], x["n"], x["d"]) for x in result["measurements"]]
    assert sizes == [(n, *BENCHMARKS[n].tiny) for n in ("mlca", "partition_loss")]
    assert all(x["seconds"] > 0 and x["ratio"] > 0 for x in result["measurements"])
    of_these = [bar.what for name in ("mlca", "partition_loss") for bar in BENCHMARKS[name].bars]
    assert [bar["what"] for bar in result["bars"]] == of_these
    assert [bar["passed"] for bar in result["bars"]] == [None] * len(of_these)
    assert sorted(p.name for p in output.parent.iterdir()) == ["result.json", "result.svg"]


@pytest.fixture
def no_child(monkeypatch):
    """Measurements are made up: the time of a run is its number, 1, 2, ..."""
    times = iter(range(1, 100))

    def run(names, quick):
        seconds = float(next(times))
        machine = {"load": seconds}
        return [
            {"name": name, "versus": "XᵀX", "n": n, "d": d, "machine": machine} | fake_line(seconds)
            for name in names
            for n, d in BENCHMARKS[name].sizes
        ]

    monkeypatch.setattr(command, "run", run)


def test_without_a_method_of_the_plot_there_is_none(tmp_path, capsys, no_child):
    pytest.importorskip("matplotlib")
    output = tmp_path / "result.json"
    assert command.main(["partition_loss", "--output", str(output)]) == 0
    shown = capsys.readouterr().out
    assert "No plot: none of mlca" in shown and "Bars:" in shown
    assert list(tmp_path.iterdir()) == [output]


def test_merged_measurements_replace_those_of_the_same_name_and_keep_their_machine(
    tmp_path, no_child
):
    output, target = tmp_path / "new.json", tmp_path / "stored.json"
    command.main(["segment-known", "mlca", "--output", str(target)])
    old = json.loads(target.read_text())
    command.main(["mlca", "mlca-ill", "--output", str(output), "--merge", str(target)])
    new, merged = json.loads(output.read_text()), json.loads(target.read_text())

    kept = [x for x in old["measurements"] if x["name"] == "segment-known"]
    assert merged["measurements"] == new["measurements"] + kept  # in the order of the list
    assert {x["machine"]["load"] for x in kept} == {1.0}
    assert merged == command.summarize(merged["measurements"], quick=False)
    assert list(merged["exponents"]) == ["mlca", "mlca-ill", "segment-known"]
    names = ("mlca", "mlca-ill", "segment-known")
    assert len(merged["bars"]) == sum(len(BENCHMARKS[name].bars) for name in names)
    assert not list(tmp_path.glob("*.part"))


def test_merging_drops_benchmarks_that_are_no_more():
    kept = {"name": "kissme", "n": 5, "d": 2} | fake_line(1.0)
    gone = {"name": "of-old", "n": 5, "d": 2} | fake_line(1.0)
    merged = command.merge({"quick": False, "measurements": [gone, kept]}, [])
    assert merged["measurements"] == [kept]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "holds no measurements"),
        ('{"quick": true, "measurements": []}', "do not mix"),
    ],
)
def test_merging_is_refused_before_anything_is_measured(content, message, tmp_path, capsys):
    target = tmp_path / "stored.json"
    if content is not None:
        target.write_text(content)
    with pytest.raises(SystemExit):
        command.main(["mlca", "--merge", str(target)])
    assert message in capsys.readouterr().err


def test_machine_names_the_packages_that_are_there(monkeypatch):
    monkeypatch.setattr(command, "PACKAGES", ("numpy", "no-such-package"))
    found = command.machine()
    assert found["numpy"] == np.__version__ and found["cores"] >= 1
    assert "no-such-package" not in found


def test_a_method_that_fails_is_skipped_with_its_reason_and_not_tried_with_more_rows(monkeypatch):
    tried = []

    def child(name, n, d, seconds, threads):
        tried.append(n)
        return {"skipped": "no memory"} if n >= 10_000 else fake_line(1.0)

    monkeypatch.setattr(command, "in_child", child)
    lines = command.run(["lfda"], quick=False)
    assert tried == [1_000, 10_000]
    assert [x.get("skipped", "")[:12] for x in lines] == ["", "no memory"] + 3 * ["as with n = "]


def test_child_reports_why_it_failed():
    found = command.in_child("partition_loss", 10**15, 2, seconds=0, threads=1)
    assert found["skipped"].startswith("Unable to allocate 14.2 PiB")


def fake_line(seconds, **more):
    return {
        "cpu_seconds": seconds,
        "reference_cpu_seconds": seconds / 2,
        "cpu_ratio": 2.0,
        "cpu_ratios": [2.0, 2.0],
        "seconds": seconds,
        "reference_seconds": seconds / 2,
        "ratio": 2.0,
        "extra_bytes": 10**6,
        "memory": 0.05,
        "error": 1e-9,
        **more,
    }


def test_growth_is_the_slope_with_the_other_size_fixed():
    def line(n, d):
        return {"n": n, "d": d} | fake_line(n**1.5 * d**2.0)

    sizes = [(10_000, 5), (20_000, 5), (80_000, 5), (90_000, 5), (20_000, 9), (20_000, 17), (9, 5)]
    lines = [line(n, d) for n, d in sizes] + [{"n": 160_000, "d": 5, "skipped": "no"}]
    lines[0]["cpu_seconds"] = 1e6  # not among the three largest
    lines[6]["cpu_seconds"] = 1e6  # below 10,000 rows
    assert command.growth(lines, "n", 10_000) == pytest.approx(1.5)
    assert command.growth(lines, "d", 10_000) == pytest.approx(2.0)
    assert command.growth(lines[:1], "n") is None
    assert command.growth([line(n, 3) for n in (5, 6, 7)], "n", 6) == pytest.approx(1.5)


def test_bars_pass_miss_or_were_not_measured():
    n, d = BENCHMARKS["mlca"].bars[0].size
    lines = [
        {"name": "mlca", "n": n, "d": d} | fake_line(1.0, cpu_ratio=2.6),
        {"name": "mlca-ill", "n": n, "d": d, "skipped": "no memory"},
    ]
    passed = [bar["passed"] for bar in command.judge(lines)]
    assert passed == [False, True, None, None, None]
    assert command.judge([]) == []


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


@pytest.mark.parametrize(
    ("name", "module"), [("rca", "metric_learn"), ("segment-dynp", "ruptures")]
)
def test_without_a_peer_the_reason_is_shown(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"needs {module.replace('_', '-')}, of the extra"):
        measuring.measure(BENCHMARKS[name], 50, 3, seconds=0)


def test_chunks_give_the_fit_of_all_rows():
    rows = make_rows(500, 6)
    model = BENCHMARKS["mlca-chunks"].subject(rows)
    assert_allclose(model.components_, MLCA().fit(rows.X, rows.y).components_, rtol=1e-10)


def test_costs_of_segmentations_count_the_penalty_only_when_there_is_one():
    data = make_series(200, 2)
    X, truth = data.X[0], data.y[0]
    k, end = truth[-1] + 1, int(np.argmax(truth == 1))
    assert k == 2 and how_many(data, known=True) == {"n_segments": 2}
    price = how_many(data, known=False)["penalty"]
    parts = [X[truth == c] for c in range(k)]
    two = sum(np.sum((part - part.mean(axis=0)) ** 2) for part in parts)
    one = np.sum((X - X.mean(axis=0)) ** 2)
    one_segment = np.zeros(200, dtype=int)
    for known, expected in [(True, one / two - 1), (False, (one + price) / (two + 2 * price) - 1)]:
        found = cost_difference(known)(data, one_segment, [end, 200])
        assert found == {"cost_difference": pytest.approx(abs(expected))}
        assert cost_difference(known)(data, truth, [end, 200]) == {"cost_difference": 0}


def test_feared_segments_are_those_of_a_metric_that_decides_nothing():
    """At the price of one segment for all scatter, the loss alone decides: nothing is cut."""
    data = make_series(400, 3)
    assert data.y[0][-1] > 0
    assert not feared_segments(data)[0].any()


def test_documents_of_the_size_of_the_paper_hold_as_many_faces():
    data = make_documents(FACES[0], 72)  # the features do not matter to the number
    assert data.bags.instances.shape == (FACES[0], 72)
    assert data.Y.shape == (N_BAGS, N_NAMES)
    assert data.nbytes == FACES[0] * 72 * 8


def test_share_of_noise_is_that_of_the_last_half_of_the_features():
    class Found:
        weights_ = np.array([3.0, 0.0, 1.0, 0.0])

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    X, y = make_noisy_gaussians(40, n_features=4, n_clusters=2, random_state=0)
    found = clusters_found(Sets([X] * 20, [y] * 10 + [np.zeros(40, dtype=int)] * 10), Found(), None)
    assert found == {"one_minus_f": 0.0, "noisy_share": 0.25}
