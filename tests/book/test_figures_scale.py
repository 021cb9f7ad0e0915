"""The figures of the chapter on scale draw, and its cost model does what it says."""

import json
import math
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from benchmarks.cases import BENCHMARKS
from benchmarks.missed import REASONS
from benchmarks.streams import CLUSTER, STREAM
from book.figures import scale as demo
from mlbook.mlca import MLCA

pytestmark = pytest.mark.book

MACHINE = demo.Machine(2e-9, 3e-11, fit_fixed=0.01, per_merge=1e-9, merge_fixed=1e-4)


def line(name, n, d, seconds, **more):
    sizes = {"name": name, "versus": "XᵀX", "n": n, "d": d, "cpu_seconds": seconds}
    return sizes | {"reference_cpu_seconds": seconds / 2, "cpu_ratio": 2.0, "memory": 0.1} | more


def results_of(machine, skipped=()):
    """Benchmarks as a machine that follows the model exactly would give them."""
    sizes = [(1_000, 135), (100_000, 135), (200_000, 64), (200_000, 135), (200_000, 270)]
    lines = [
        line(name, n, d, machine.fit_seconds(n, d), extra_bytes=10**6)
        for name, (n, d) in product(("mlca", "lfda"), sizes)
    ]
    held = line("mlca", demo.HELD_OUT, 135, 1.0, extra_bytes=10**7)
    merges = [line("mlca-merge", 2 * d, d, machine.merge_seconds(d)) for d in (32, 64, 135)]
    lines += [held, *merges, *skipped]
    return {"measurements": lines, "exponents": {n: {"n": 1.0, "d": None} for n in demo.METHODS}}


def numbers(caption):
    return [
        float(x.replace(",", "")) for x in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", caption)
    ]


def test_the_stored_benchmarks_are_complete():
    """A result of `make bench`, not of a quick run, with everything the chapter shows."""
    results = demo.benchmarks()
    assert results["quick"] is False
    assert demo.held_out(results)["d"] == demo.D
    assert [row[0] for row in demo.cost_table(results)] == list(demo.METHODS.values())
    for figure in (demo.time_over_rows(results), demo.model_and_measurements(results)):
        assert isinstance(figure, Figure)
    missed = [bar for bar in results["bars"] if not bar["passed"]]
    assert all(bar["why"] and bar["value"] < 1.5 * bar["limit"] for bar in missed)
    assert [row[0] for row in demo.missed_bars(results)] == [bar["what"] for bar in missed]
    assert {next(k for k in REASONS if bar["what"].startswith(k)) for bar in missed} == set(REASONS)
    assert [row[0] for row in demo.peers(results)] == list(demo.PEERS.values())


def test_peers_are_shown_at_the_largest_size():
    results = results_of(MACHINE)
    results["measurements"] += [line("exemplars-blobs", 10, 0, 1.0), line("other", 5, 5, 1.0)]
    assert demo.peers(results) == [
        ("MLCA", "2,000,000 × 135", "XᵀX", "2"),
        ("exemplars, twenty groups", "10", "XᵀX", "2"),
    ]
    assert set(demo.PEERS) <= set(BENCHMARKS)


def test_the_stored_streams_are_of_the_full_size():
    found = demo.streams()
    assert [(x["n"], x["d"]) for x in found["stream"]][-1] == STREAM
    assert [(x["n"], x["d"], x["workers"]) for x in found["cluster"]] == [
        (*CLUSTER, workers) for workers in (1, 2)
    ]


def test_time_over_rows_marks_methods_that_end_and_leaves_out_those_not_measured():
    skipped = [{"name": "lfda", "n": 10**6, "d": 135, "skipped": "no memory"}]
    figure = demo.time_over_rows(results_of(MACHINE, skipped))
    for ax in figure.axes:
        crosses = [item for item in ax.lines if item.get_marker() == "x"]
        assert len(crosses) == 1
        assert crosses[0].get_xdata()[0] > 200_000
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels[:2] == ["MLCA", "LFDA"] and len(labels) == 3
    assert demo.time_over_rows({"measurements": []}).axes


def test_cost_table_shows_the_largest_run_and_why_it_ended():
    skipped = [{"name": "lfda", "n": 10**6, "d": 135, "skipped": "no memory"}]
    results = results_of(MACHINE, skipped)
    results["exponents"]["lfda"]["n"] = None
    rows = demo.cost_table(results)
    assert rows[0] == ("MLCA", "2,000,000", "2.00", "10%", "1.00")
    assert rows[1] == ("LFDA", "200,000", "2.00", "10%", "")
    assert demo.endings(results) == [("LFDA", 10**6, "no memory")]
    demo.largest_run(results, "lfda")["cpu_ratio"] = 5000.0
    assert demo.cost_table(results)[1][2] == "5,000"


def test_merging_picture_has_one_state_per_node_of_the_tree():
    ax = demo.merging_picture().axes[0]
    assert [text.get_text() for text in ax.texts].count("state") == 4 + 2 + 1


def test_allowance_reports_the_peak_and_refuses_more(capsys):
    with demo.allowance(20e6):
        np.ones(1_000_000).sum()
    assert capsys.readouterr().out == "peak 8 MB of 20 MB\n"
    with pytest.raises(MemoryError, match="peak 24 MB, allowed 20 MB"), demo.allowance(20e6):
        np.ones(3_000_000).sum()
    with pytest.raises(KeyError), demo.allowance(20e6):
        raise KeyError("errors of the block pass")
    with demo.allowance(20e6):
        pass


def test_write_rows_is_more_than_noise(tmp_path):
    y = demo.write_rows(tmp_path / "rows.npy", 25_000, d=4, k=2)
    X = np.load(tmp_path / "rows.npy")
    assert X.shape == (25_000, 4) and len(y) == 25_000
    assert np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)).max() > 0.5
    assert len(np.unique(X[:, 0])) == len(X)


@pytest.mark.parametrize("condition", [1, 1e3, 1e9])
def test_collinear_knows_the_exact_solution(condition):
    """X = ZT without rounding, for a well-conditioned Z, and TL is the solution for Z."""
    X, y, L = demo.collinear(condition, n=60, d=5)
    T = np.eye(5)
    T[:2, 1] = 1.0, min(1.0, 2.0 ** -np.round(np.log2(condition / 2)))
    Z = X.copy()
    Z[:, 1] = (X[:, 1] - X[:, 0]) / T[1, 1]
    assert np.array_equal(64 * Z, np.round(64 * Z)) and np.linalg.cond(Z) < 10
    assert np.array_equal(X[:, 1], Z[:, 0] + T[1, 1] * Z[:, 1])
    assert condition / 10 < np.linalg.cond(X) < 10 * condition
    J = np.eye(4)[y] / np.sqrt(np.bincount(y))
    assert_allclose(T @ L, np.linalg.lstsq(Z, J, rcond=None)[0], atol=1e-15 * condition)


def test_condition_and_error_says_what_each_solver_does():
    _, caption = demo.condition_and_error(8, "auto")
    X, y, L = demo.collinear(1e8)
    error = np.linalg.norm(MLCA().fit(X, y).components_.T - L) / np.linalg.norm(L)
    assert f"relative error {demo.scientific(error)}" in caption and error < 1e-6
    _, caption = demo.condition_and_error(12, "cholesky")
    assert "refused" in caption
    assert demo.error("cholesky", 6) > 100 * demo.error("qr", 6)


def test_rows_deleted_by_subtraction_leave_the_solution_of_the_rest():
    subtracted, fitted = demo.deletion_errors(1, 0)
    assert subtracted < 1e-11 and fitted < 1e-13
    subtracted, fitted = demo.deletion_errors(6, 0)
    assert subtracted > 1000 * fitted


def test_fitted_machine_recovers_the_machine_and_ignores_the_held_out_run():
    found = demo.fitted_machine(results_of(MACHINE), storage=3e9)
    for name in ("per_entry", "per_product", "fit_fixed", "per_merge", "merge_fixed"):
        assert getattr(found, name) == pytest.approx(getattr(MACHINE, name), rel=1e-6)
    assert found.storage == 3e9 and found.network == MACHINE.network
    assert demo.held_out(results_of(MACHINE))["cpu_seconds"] == 1.0


def test_state_bytes_is_what_the_library_keeps():
    rng = np.random.default_rng(0)
    state = MLCA().fit(rng.normal(size=(100, 7)), np.arange(100) % 3)._digest
    kept = state.problem.A.nbytes + state.problem.B.nbytes + state.counts.nbytes
    assert demo.state_bytes(7, 3) == kept


def test_prediction_by_hand():
    """Two chunks on each of 100 workers; a tree of ⌈log₈ 100⌉ = 3 levels of 7 merges."""
    parts = demo.predict(2e8, 100, MACHINE, d=100, k=10, chunk=1e6)
    assert parts["read"] == pytest.approx(2e6 * 800 / 1e9)
    assert parts["digest"] == pytest.approx(2e6 * (2e-9 * 100 + 3e-11 * 10_000))
    assert parts["merge"] == pytest.approx((2 + 21) * 1.1e-3)
    assert parts["network"] == pytest.approx((2 + 21) * (1e-3 + 8 * 11_010 / 1.25e9))
    assert parts["wait"] == 0
    slow = replace(MACHINE, scheduling=1.0)
    parts = demo.predict(2e8, 100, slow, d=100, k=10, chunk=1e6)
    tree = 21 * (slow.merge_seconds(100) + slow.send_seconds(100, 10))
    assert sum(parts.values()) == pytest.approx(3 * 200 * 1.0 + tree)


@pytest.mark.parametrize("n, workers, chunk", list(product([1e7, 1e9], [1, 8, 100], [1e5, 1e6])))
def test_simulation_of_equal_workers_is_the_prediction(n, workers, chunk):
    paper = sum(demo.predict(n, workers, MACHINE, chunk=chunk).values())
    simulated = demo.simulate(n, workers, MACHINE, chunk=chunk, jitter=0)
    once = paper * min(chunk, n / workers) * workers / n  # the last chunk may end late
    assert paper * 0.999 < simulated < paper + once + 0.01 * paper


def test_a_slow_worker_delays_by_no_more_than_its_last_chunk():
    even = demo.simulate(1e9, 100, MACHINE, chunk=1e6)
    slow = demo.simulate(1e9, 100, MACHINE, chunk=1e6, slow=0.01)
    one_each = demo.simulate(1e9, 100, MACHINE, chunk=1e7, slow=0.01, jitter=0)
    assert even < slow < 2 * even
    assert one_each == pytest.approx(
        5 * sum(demo.predict(1e9, 100, MACHINE, chunk=1e7).values()), rel=0.05
    )
    assert demo.simulate(1e8, 10, MACHINE) == demo.simulate(1e8, 10, MACHINE)


def test_many_machines_states_its_prediction():
    machine = demo.fitted_machine(demo.benchmarks(), storage=5e9)
    figure, caption = demo.many_machines(9, 100, "5 GB/s")
    parts = demo.predict(1e9, 100, machine)
    assert max(parts, key=parts.get) in caption.split()[-1]
    assert caption.startswith("Prediction for 10⁹ rows (1.08 TB) on 100 workers that read 5 GB/s")
    assert "on one worker that reads 1 GB/s: " in demo.many_machines(8, 1, "1 GB/s")[1]
    widths = [bar.get_width() for bar in figure.axes[1].patches]
    assert sum(widths) == pytest.approx(1)


def test_stragglers_caption_holds_simulation_and_prediction():
    machine = demo.fitted_machine(demo.benchmarks())
    _, caption = demo.stragglers(1_000_000, 0.05)
    simulated = demo.simulate(1e9, 100, machine, chunk=1e6, slow=0.05)
    paper = sum(demo.predict(1e9, 100, machine, chunk=1e6).values())
    assert numbers(caption)[-2:] == [round(simulated, 1), round(paper, 1)]


def test_state_and_chunk_finds_the_break_even():
    figure, caption = demo.state_and_chunk(135, 10)
    line = figure.axes[0].lines[-1].get_xdata()
    assert line[0] == pytest.approx(135 + 10 + 10 / 135)
    assert "146 rows" in caption and "157 kB" in caption and "1.08 TB" in caption


@pytest.mark.parametrize(
    "seconds, text", [(0.5, "500 ms"), (3, "3 s"), (150, "2.5 min"), (7300, "2.03 h")]
)
def test_times_are_written_in_a_fitting_unit(seconds, text):
    assert demo._span(seconds) == text


def test_stored_benchmarks_hold_no_paths():
    assert not re.search(r"/(home|root|tmp|work|usr)/", json.dumps(demo.benchmarks()))
    assert math.isfinite(demo.fitted_machine(demo.benchmarks()).per_product)
