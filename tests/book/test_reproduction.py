"""The experiments framework on made-up experiments, and every registered one at smoke scale."""

import importlib.util
import json
import math
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import mlbook
from book import reproduction as experiments
from book.reproduction import Column, Experiment, command_line, runs
from book.reproduction.experiment import compare, judge
from mlbook.baselines import metrics as baselines

LOSS = Column("loss", "Loss", tolerance=0.02)
TIME = Column("time", "Time", tolerance=3, ratio=True)


class Toy:
    """An experiment of two methods and three seeds that counts calls and can break off."""

    def __init__(self, breaks_at: int | None = None, **changes):
        self.calls: list[dict] = []
        self.breaks_at = breaks_at
        self.experiment = replace(
            Experiment(
                id="toy-table1",
                paper="Nobody 2000",
                title="nothing",
                columns=(LOSS, TIME),
                paper_numbers={"a": {"loss": 0.2, "time": 1.0}, "b": {"loss": 3.0}},
                units=self.units,
                run_unit=self.run_unit,
                note="All made up.",
            ),
            **changes,
        )

    def units(self, scale):
        return [{"row": r, "seed": s, "sizes": (1, 2)} for s in range(3) for r in "ab"]

    def run_unit(self, unit):
        if len(self.calls) == self.breaks_at:
            raise KeyboardInterrupt
        self.calls.append(unit)
        return {"loss": 0.1 + 0.1 * unit["seed"] if unit["row"] == "a" else 3, "time": 1.0}

    def run(self, folder, scale="full", progress=False):
        return runs.run_experiment(self.experiment, scale, folder, progress)


@pytest.fixture
def toy(monkeypatch):
    """A toy that the public functions and the command line know."""
    made = Toy()
    monkeypatch.setattr(experiments, "EXPERIMENTS", {made.experiment.id: made.experiment})
    monkeypatch.setattr(command_line, "EXPERIMENTS", experiments.EXPERIMENTS)
    return made


def interrupted(folder: Path, after: int = 4) -> Path:
    """Leave the partial file of a run that was cut off."""
    with pytest.raises(KeyboardInterrupt):
        Toy(breaks_at=after).run(folder)
    return folder / "toy-table1.partial"


def test_an_interrupted_run_leaves_a_partial_and_no_result(tmp_path):
    partial = interrupted(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [partial.name]
    assert len(partial.read_text().splitlines()) == 1 + 4


def test_resuming_runs_only_what_is_left(tmp_path):
    whole = Toy().run(tmp_path / "whole")
    partial = interrupted(tmp_path)
    with partial.open("a") as file:
        file.write('{"unit": {"row": "a", "se')  # cut off while writing
    toy = Toy()
    result = toy.run(tmp_path)
    assert [(u["row"], u["seed"]) for u in toy.calls] == [("a", 2), ("b", 2)]
    assert result["summary"] == whole["summary"]
    assert [line["unit"] for line in result["units"]] == [line["unit"] for line in whole["units"]]
    assert not partial.exists()


def test_a_second_interruption_loses_nothing(tmp_path):
    partial = interrupted(tmp_path, after=2)
    partial.write_text(partial.read_text() + '{"torn')
    with pytest.raises(KeyboardInterrupt):
        Toy(breaks_at=1).run(tmp_path)
    toy = Toy()
    toy.run(tmp_path)
    assert len(toy.calls) == 3


@pytest.mark.parametrize("change", ["version", "sources", "scale", "id", "units"])
def test_a_partial_made_otherwise_is_not_resumed(tmp_path, monkeypatch, change):
    partial = interrupted(tmp_path)
    toy, scale = Toy(), "full"
    if change == "version":
        monkeypatch.setattr(mlbook, "__version__", "0.0.0")
    elif change == "sources":
        monkeypatch.setattr(runs, "SOURCES", "edited")
    elif change == "units":
        units = [unit | {"sizes": (1, 3)} for unit in toy.units("full")]
        toy.experiment = replace(toy.experiment, units=lambda scale: units)
    else:
        scale = "book" if change == "scale" else scale
        toy.experiment = replace(
            toy.experiment, id="toy-table2" if change == "id" else "toy-table1"
        )
        partial.rename(runs.result_path(tmp_path, toy.experiment.id, scale).with_suffix(".partial"))
    toy.run(tmp_path, scale)
    assert len(toy.calls) == 6


def test_the_hash_of_the_sources_sees_edits_and_new_names(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("x = 1\n")
    hashes = [runs.hash_sources(tmp_path), runs.hash_sources(tmp_path)]
    assert hashes[0] == hashes[1]
    (tmp_path / "sub" / "a.py").write_text("x = 2\n")
    hashes.append(runs.hash_sources(tmp_path))
    (tmp_path / "sub" / "a.py").rename(tmp_path / "sub" / "b.py")
    hashes.append(runs.hash_sources(tmp_path))
    assert len(set(hashes)) == 3


def test_versions_of_packages_that_are_not_there(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(runs, "version", missing)
    assert runs._versions()["metric-learn"] == "not installed"


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    runs.write_atomically(path, "old")

    def crash(*args):
        raise OSError("disk full")

    monkeypatch.setattr(runs.os, "fsync", crash)
    with pytest.raises(OSError, match="disk full"):
        runs.write_atomically(path, "new")
    assert path.read_text() == "old"


def test_a_crash_before_the_result_is_in_place_costs_no_unit(tmp_path, monkeypatch):
    real = runs.write_atomically

    def crash(path, text):
        if path.suffix == ".json":
            raise OSError("disk full")
        real(path, text)

    monkeypatch.setattr(runs, "write_atomically", crash)
    with pytest.raises(OSError, match="disk full"):
        Toy().run(tmp_path)
    monkeypatch.setattr(runs, "write_atomically", real)
    toy = Toy()
    toy.run(tmp_path)
    assert toy.calls == []
    assert (tmp_path / "toy-table1.json").exists()


def test_result_is_json_and_says_how_it_came_about(tmp_path):
    result = Toy().run(tmp_path)
    assert json.loads((tmp_path / "toy-table1.json").read_text()) == result
    assert result["summary"]["a"]["loss"] == {
        "mean": pytest.approx(0.2),
        "sd": pytest.approx(0.1),
        "median": pytest.approx(0.2),
        "n": 3,
    }
    assert set(result["versions"]) >= {"python", "numpy", "scipy", "scikit-learn", "sources"}
    assert set(result["machine"]) == {"system", "architecture", "cpus", "threads"}
    assert {line["unit"]["seed"] for line in result["units"]} == {0, 1, 2}
    text = json.dumps(result)
    assert str(Path.home()) not in text and "/" not in json.dumps(result["machine"])


def test_only_full_runs_are_stored_unless_asked(tmp_path, monkeypatch, toy):
    monkeypatch.setattr(experiments, "default_folder", lambda: tmp_path / "default")
    experiments.run("toy-table1", "book")
    assert not (tmp_path / "default").exists()
    experiments.run("toy-table1", "full")
    experiments.run("toy-table1", "book", results=tmp_path / "default")
    stored = sorted(p.name for p in (tmp_path / "default").iterdir())
    assert stored == ["toy-table1-book.json", "toy-table1.json"]
    assert experiments.load("toy-table1")["scale"] == "full"


def test_numbers_that_are_not_finite_are_refused(tmp_path):
    toy = Toy(run_unit=lambda unit: {"loss": math.nan})
    with pytest.raises(ValueError, match=r"'row': 'a', 'seed': 0.* not finite"):
        toy.run(tmp_path)


def test_a_missing_package_leaves_out_its_row(tmp_path):
    def run_unit(unit):
        if unit["row"] == "b":
            raise ImportError("b needs metric-learn")
        return {"loss": 0.2}

    toy = Toy(run_unit=run_unit)
    result = toy.run(tmp_path)
    assert result["skipped"] == {"b": "b needs metric-learn"}
    _, rows = compare(toy.experiment, result, "loss", "")
    assert rows[1] == ["b", "3.000", "–", "not run: b needs metric-learn"]


def test_missing_data_never_replaces_a_stored_result(tmp_path):
    def without_data(unit):
        raise FileNotFoundError("the data is not there")

    nothing = Toy(run_unit=without_data)
    assert nothing.run(tmp_path)["skipped"].keys() == {"a", "b"}
    assert list(tmp_path.iterdir()) == []
    stored = Toy(run_unit=lambda unit: {"loss": 0.2}).run(tmp_path)
    with pytest.warns(UserWarning, match="is kept: it has a, b, which .*the data is not there"):
        nothing.run(tmp_path)
    (path,) = tmp_path.iterdir()
    assert json.loads(path.read_text()) == stored


# Verdicts


def test_matches_within_tolerance_and_twice_the_spread():
    paper = {"a": 0.07, "b": 3.0}
    assert judge(LOSS, "a", paper, {"a": (0.09, 0.0), "b": (3.0, 0.0)}) == "matches"
    assert judge(LOSS, "a", paper, {"a": (0.12, 0.015), "b": (3.0, 0.0)}) == "matches"
    assert judge(LOSS, "a", paper, {"a": (0.13, 0.015), "b": (3.0, 0.0)}) == "same ordering"


def test_the_spread_of_the_paper_counts_too():
    ours = {"a": (1.0, 0.0), "b": (3.0, 0.0)}
    assert judge(LOSS, "a", {"a": (1.1, 0.05), "b": 3.0}, ours) == "matches"
    assert judge(LOSS, "a", {"a": (1.1, 0.03), "b": 3.0}, ours) == "same ordering"


def test_a_wide_spread_is_no_excuse():
    assert judge(LOSS, "a", {"a": 3.0}, {"a": (1.5, 1.2)}) == "differs"


def test_same_ordering_needs_every_clear_pair_and_at_least_one():
    paper = {"a": 0.1, "b": 1.0, "c": 1.01, "d": 3.0}
    ours = {"a": (0.5, 0.0), "b": (1.5, 0.0), "c": (2.0, 0.0), "d": (3.0, 0.0)}
    assert [judge(LOSS, r, paper, ours) for r in "abcd"] == ["same ordering"] * 3 + ["matches"]
    ours["c"] = (3.01, 0.0)  # level with d, which the paper puts clearly above it
    assert judge(LOSS, "c", paper, ours) == "differs"
    ours["c"] = (3.5, 0.0)  # on the wrong side of d
    assert judge(LOSS, "c", paper, ours) == "differs"
    assert judge(LOSS, "b", paper, ours) == "same ordering"
    assert judge(LOSS, "a", {"a": 0.1}, ours) == "differs"  # nothing to be ordered with


def test_ratios_are_judged_by_factor():
    paper = {"a": 1.0, "b": 100.0, "c": 1e5}
    assert judge(TIME, "b", paper, {"a": 1.0, "b": 40.0, "c": 1e4}) == "matches"
    assert judge(TIME, "b", paper, {"a": 1.0, "b": 30.0, "c": 1e4}) == "same ordering"
    assert judge(TIME, "b", paper, {"a": 1.0, "b": 2.0, "c": 1e4}) == "differs"


def test_no_verdict_without_both_numbers():
    assert judge(LOSS, "a", {}, {"a": 1.0}) == judge(LOSS, "a", {"a": 1.0}, {}) == ""


def test_comparison_shows_paper_ours_verdict_and_reason(toy):
    reasons = {"a": "why a", ("b", "time"): "only here", "d": "not now", "e": "why e"}
    numbers = {"a": {"loss": 1.0, "time": 1.0}, "b": {"loss": (3.0, 0.1)}, "d": {"loss": 9.0}}
    numbers["e"] = {"loss": 8.0}
    units = [*toy.units("full"), {"row": "e", "seed": 0}]
    experiment = replace(
        toy.experiment, paper_numbers=numbers, reasons=reasons, units=lambda scale: units
    )
    made = {"loss": {"mean": 0.2, "sd": 0.05, "median": 0.2, "n": 3}}
    made["time"] = {"mean": 9e9, "sd": 9e9, "median": 12345.6, "n": 3}
    result = {"summary": {"a": made, "b": made | {"loss": made["loss"] | {"mean": 3.1}}}}
    result |= {"skipped": {}, "scale": "book"}
    header, rows = compare(experiment, result, None, "")
    assert header == ["", "measure", "paper", "ours", "verdict"]
    assert rows == [
        ["a", "Loss", "1.000", "0.200 ± 0.050", "same ordering: why a"],
        ["b", "Loss", "3.000 ± 0.100", "3.100 ± 0.050", "matches"],
        ["d", "Loss", "9.000", "–", "not run: not now"],
        ["e", "Loss", "8.000", "–", "not run: not at scale book"],
        ["a", "Time", "1", "1e+04", "differs: why a"],
        ["b", "Time", "–", "1e+04", "only here"],
    ]
    header, rows = compare(experiment, result, "time", "")
    assert header == ["", "paper", "ours", "verdict"] and rows[0][0] == "a" and len(rows) == 2
    with pytest.raises(ValueError, match=r"column must be one of loss, time.*'speed'"):
        compare(experiment, result, "speed", "")


def test_without_paper_numbers_the_table_is_ours_alone(toy):
    experiment = replace(toy.experiment, paper_numbers={})
    made = {"loss": {"mean": 0.2, "sd": 0.05, "median": 0.2, "n": 3}}
    header, rows = compare(experiment, {"summary": {"b": made}, "skipped": {}}, None, "")
    assert header == ["", "Loss", "Time"]
    assert rows == [["a", "–", "–"], ["b", "0.200 ± 0.050", "–"]]


def test_comparison_runs_or_reads_or_says_what_is_missing(tmp_path, toy):
    _, rows = experiments.comparison("toy-table1", results=tmp_path)
    command = "python book/reproduction run toy-table1"
    assert rows[0] == ["a", "Loss", "0.200", "–", f"missing: `{command}`"]
    _, live = experiments.comparison("toy-table1", "book")
    experiments.run("toy-table1", "full", results=tmp_path)
    _, stored = experiments.comparison("toy-table1", results=tmp_path)
    assert live == stored and live[0][3:] == ["0.200 ± 0.100", "matches"]


# Names, scales and the command line


def test_unknown_names_and_scales_list_the_valid_ones():
    with pytest.raises(ValueError, match=r"'nonsense'.*law2016-table1, law2016-table2"):
        experiments.run("nonsense")
    with pytest.raises(ValueError, match=r"'law2016-tabel1'; did you mean law2016-table1 or "):
        experiments.run("law2016-tabel1")
    with pytest.raises(ValueError, match=r"smoke, book, full; got 'huge'"):
        experiments.run("law2016-table1", "huge")


def test_command_line_refuses_a_bad_id_before_running_anything(tmp_path, capsys, toy):
    with pytest.raises(SystemExit) as stop:
        command_line.main(["run", "toy-table1", "nonsense", "--results", str(tmp_path)])
    assert stop.value.code == 2
    assert "no experiment 'nonsense'; there are: toy-table1" in capsys.readouterr().err
    assert toy.calls == [] and list(tmp_path.iterdir()) == []


def test_module_runs_as_a_command():
    command = [sys.executable, "-m", "book.reproduction", "run", "nonsense"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "no experiment 'nonsense'; there are: law2016-table1, " in ended.stderr


def test_command_line_runs_and_reports(tmp_path, capsys, toy):
    assert command_line.main(["report", "--results", str(tmp_path)]) == 0
    missing = capsys.readouterr().out
    assert "missing; to run it: python book/reproduction run toy-table1\n" in missing
    assert command_line.main(["list", "--results", str(tmp_path)]) == 0
    assert "toy-table1                  not run  table" in capsys.readouterr().out
    assert command_line.main(["run", "--results", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    if importlib.util.find_spec("tqdm"):
        assert "toy-table1: 100%" in captured.err
    assert captured.err.endswith(f"Stored in {tmp_path / 'toy-table1.json'}\n")
    assert "All made up." in captured.out
    assert "| a | Loss    | 0.200 | 0.200 ± 0.100 | matches |" in captured.out
    assert command_line.main(["report", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().out == captured.out
    assert command_line.main(["list", "--results", str(tmp_path)]) == 0
    assert "toy-table1                      0 s  table" in capsys.readouterr().out


def test_report_shows_only_what_it_is_asked_for(tmp_path, capsys, monkeypatch, toy):
    other = replace(toy.experiment, id="toy-table2")
    monkeypatch.setitem(experiments.EXPERIMENTS, other.id, other)
    assert command_line.main(["report", "toy-table2", "--results", str(tmp_path)]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("##")] == [
        "## toy-table2: Nobody 2000, nothing"
    ]
    with pytest.raises(SystemExit):
        command_line.main(["report", "nonsense"])
    assert "no experiment 'nonsense'; there are: toy-table1, toy-table2" in capsys.readouterr().err


def test_a_long_reason_widens_only_its_own_line(capsys, toy):
    reasons = {("a", "loss"): "because " * 20}
    experiment = replace(toy.experiment, reasons=reasons, paper_numbers={"a": {"loss": 9.0}})
    command_line._print(experiment, toy.run(None))
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert sorted(map(len, table))[-2] < 80 < max(map(len, table))


def test_command_line_alone_shows_help(capsys):
    assert command_line.main([]) == 0
    assert "{list,run,report}" in capsys.readouterr().out


def test_command_line_says_that_a_trial_run_is_not_stored(tmp_path, capsys, monkeypatch, toy):
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["run", "toy-table1", "--scale", "smoke"]) == 0
    assert "Not stored: only full runs are" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_command_line_interrupted(tmp_path, capsys, toy):
    toy.breaks_at = 4
    arguments = ["run", "toy-table1", "--scale", "book", "--results", str(tmp_path)]
    assert command_line.main(arguments) == 130
    assert "same command" in capsys.readouterr().err
    toy.breaks_at = None
    assert command_line.main(arguments) == 0
    assert "4 of 6 units were finished before" in capsys.readouterr().err
    assert len(toy.calls) == 6


def test_progress_without_tqdm(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    Toy().run(None, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6 and lines[3] == "toy-table1: 4 of 6, b, seed 1"


# The registered experiments


@pytest.fixture(scope="module")
def smoke():
    """Every registered experiment at smoke scale, ITML with fewer pairs: it has no small scale."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(baselines.N_PAIRS, "itml", 50)
        return {name: experiments.run(name, "smoke") for name in experiments.EXPERIMENTS}


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_every_experiment_yields_its_numbers_at_smoke_scale(smoke, name):
    experiment, result = experiments.EXPERIMENTS[name], smoke[name]
    for row in {unit["row"] for unit in experiment.units("smoke")} - result["skipped"].keys():
        assert result["summary"][row].keys() <= {c.key for c in experiment.columns}
        assert all(math.isfinite(cell["mean"]) for cell in result["summary"][row].values())
    if not result["summary"]:
        assert result["skipped"]
        pytest.skip("the data is not there")
    for column in experiment.columns:
        assert any(column.key in cells for cells in result["summary"].values())
    header, rows = compare(experiment, result, None, "")
    assert all(len(row) == len(header) for row in rows)


def test_spectral_step_cancels_the_metric_only_with_few_features(smoke):
    """What the section on Tables 1 to 3 says: rows with an invertible L all get one loss."""
    summary = smoke["law2016-table1"]["summary"]
    losses = {summary[row]["delta_spectral"]["mean"] for row in ("MLCA", "Euclidean")}
    assert len(losses) == 1 and summary["Euclidean"]["delta"]["mean"] == pytest.approx(3, abs=0.1)
    wide = smoke["law2016-wide"]["summary"]
    assert (
        wide["MLCA"]["table1_spectral"]["mean"] < 1 < wide["Euclidean"]["table1_spectral"]["mean"]
    )


@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_every_experiment_is_declared_soundly(name):
    experiment = experiments.EXPERIMENTS[name]
    keys = {column.key for column in experiment.columns}
    assert experiment.what in {"table", "figure", "variant"}
    assert experiment.data
    assert experiment.data == "same" or experiment.note
    for numbers in experiment.paper_numbers.values():
        assert numbers.keys() <= keys
    run = {unit["row"] for unit in experiment.units("full")}
    for scale in ("smoke", "book"):
        assert {unit["row"] for unit in experiment.units(scale)} <= run
    for row in experiment.rows:
        assert row in run or row in experiment.reasons, f"{row} is not run and nothing says why"
    for key in experiment.reasons:
        row, column = (key, None) if isinstance(key, str) else key
        assert row in experiment.rows and column in keys | {None}
