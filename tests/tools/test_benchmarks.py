"""The benchmarks run, at tiny sizes, and report what they say. Nothing here looks at a time."""

import json
import sys
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import __main__ as command
from benchmarks import measure as measuring
from benchmarks.case import Benchmark
from benchmarks.cases import BARS, BENCHMARKS, energy_and_gap, exemplars, make_rows
from benchmarks.structured import (
    FACES,
    N_BAGS,
    N_NAMES,
    Sets,
    clusters_found,
    cost_difference,
    feared_segments,
    how_many,
    make_documents,
    make_series,
)
from mlbook.datasets import make_noisy_gaussians
from mlbook.mlca import MLCA

# What each benchmark compares at its quick size: name, least, and greatest value.
COMPARED = {
    "exemplars-gaussian": {"energy_ratio": (0.5, 1), "gap": (0, 0.01)},
    "exemplars-uniform": {"energy_ratio": (0.5, 1), "gap": (0, 0.01)},
    "exemplars-random": {"energy_ratio": (0.5, 1), "gap": (0, 0.3)},
    "segment-known": {"cost_difference": (0, 1e-9)},
    "segment-penalty": {"cost_difference": (0, 1e-9)},
    "segment-dynp": {"cost_difference": (0, 1e-9)},
    "large-margin": {"gap": (0, 1e-3), "rounds": (2, 100)},
    "mimlca": {"rounds": (1, 100)},
    "latent-exemplars": {"one_minus_f": (0, 0.05), "noisy_share": (0, 0.05)},
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_runs(name):
    benchmark = BENCHMARKS[name]
    for module in benchmark.needs:
        pytest.importorskip(module)
    line = measuring.measure(benchmark, *benchmark.quick, seconds=0)
    json.dumps(line)
    assert line["repeats"] == 1
    assert line["ratio"] == line["ratios"][0] == line["ratios"][1]
    assert line["ratio"] == pytest.approx(line["seconds"] / line["reference_seconds"])
    assert (line["error"] is None) == (benchmark.error is None)
    if benchmark.error:
        assert line["error"] < 1e-7
    assert (name in COMPARED) == (benchmark.compare is not None)
    for key, (least, most) in COMPARED.get(name, {}).items():
        assert least <= line[key] <= most
    assert {bar.key for bar in BARS if bar.benchmark == name} <= set(line)


def test_bars_are_about_sizes_that_are_measured():
    for bar in BARS:
        assert bar.size in BENCHMARKS[bar.benchmark].sizes
    assert len({bar.what for bar in BARS}) == len(BARS)


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

    benchmark = Benchmark("take", take, make_rows, (), "nothing", lambda data: None)
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
    assert set(result) == {"quick", "measurements", "exponents", "bars"}
    assert result["quick"] is True
    assert all(x["machine"]["threads"] == 2 for x in result["measurements"])
    sizes = [(x["name"], x["n"], x["d"]) for x in result["measurements"]]
    assert sizes == [(n, *BENCHMARKS[n].quick) for n in ("mlca", "partition_loss")]
    assert all(x["seconds"] > 0 and x["ratio"] > 0 for x in result["measurements"])
    of_these = [bar.what for bar in BARS if bar.benchmark == "mlca"]
    assert [bar["what"] for bar in result["bars"]] == of_these
    assert [bar["passed"] for bar in result["bars"]] == [None] * 2
    assert sorted(p.name for p in output.parent.iterdir()) == ["result.json", "result.svg"]


@pytest.fixture
def no_child(monkeypatch):
    """Measurements are made up: the time of a run is its number, 1, 2, ..."""
    times = iter(range(1, 100))

    def run(names, quick, threads):
        seconds = float(next(times))
        machine = {"threads": threads, "load": seconds}
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
    assert "No plot: none of mlca" in shown and "No bars." in shown
    assert list(tmp_path.iterdir()) == [output]


def test_merged_measurements_replace_those_of_the_same_name_and_keep_their_machine(
    tmp_path, no_child
):
    output, target = tmp_path / "new.json", tmp_path / "stored.json"
    command.main(["segment-known", "mlca", "--output", str(target), "--threads", "2"])
    old = json.loads(target.read_text())
    arguments = ["mlca", "mlca-ill", "--threads", "1"]
    command.main([*arguments, "--output", str(output), "--merge", str(target)])
    new, merged = json.loads(output.read_text()), json.loads(target.read_text())

    kept = [x for x in old["measurements"] if x["name"] == "segment-known"]
    assert merged["measurements"] == new["measurements"] + kept  # in the order of the list
    assert {x["machine"]["threads"] for x in kept} == {2}
    assert merged == command.summarize(merged["measurements"], quick=False)
    assert list(merged["exponents"]) == ["mlca", "mlca-ill", "segment-known"]
    assert len(merged["bars"]) == 5 + 4
    assert not list(tmp_path.glob("*.part"))


def test_merging_gives_each_measurement_the_machine_of_the_whole_file():
    kept = {"name": "kissme", "n": 5, "d": 2, "machine": {"threads": 1}} | fake_line(1.0)
    bare = {"name": "lstsq", "n": 5, "d": 2} | fake_line(1.0)
    stored = {"machine": {"threads": 2}, "quick": False, "measurements": [bare, kept]}
    merged = command.merge(stored, [])
    assert [x["machine"]["threads"] for x in merged["measurements"]] == [2, 1]
    assert "machine" not in merged


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
    found = command.machine(threads=3)
    assert found["numpy"] == np.__version__ and found["threads"] == 3
    assert "no-such-package" not in found


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
    return {
        "seconds": seconds,
        "reference_seconds": seconds / 2,
        "ratio": 2.0,
        "ratios": [2.0, 2.0],
        "cpu_ratio": 2.0,
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
    assert passed == [False, None, None, True, None]
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
