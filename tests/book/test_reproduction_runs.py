"""Units are run once, resumed when interrupted, and stored whole."""

import json
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from toy_experiment import Toy, interrupted

import mlbook
from book.reproduction import runs
from book.reproduction.verdicts import compare


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
        monkeypatch.setattr(runs, "sources_of", lambda *_: {"mlbook/mlca.py": "edited"})
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
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


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
    assert set(result["versions"]) >= {"python", "numpy", "scipy", "scikit-learn"}
    assert "tests/toy_experiment.py" in result["sources"]
    assert set(result["machine"]) == {"system", "architecture", "cpus", "threads"}
    assert {line["unit"]["seed"] for line in result["units"]} == {0, 1, 2}
    text = json.dumps(result)
    assert str(Path.home()) not in text and "/" not in json.dumps(result["machine"])


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
    rows = compare(toy.experiment, result, "loss", "").rows
    assert rows[1] == ["b", "3.0", "–", "not run: b needs metric-learn"]


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


def test_progress_without_tqdm(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    Toy().run(None, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6 and lines[3] == "toy-table1: 4 of 6, b, seed 1"


@pytest.mark.parametrize(
    "content",
    [b"[]\n", b"\x80\x04\x95\x00\xff", b"", b"3\n[1]\n", b"null", b"{}\n{}\n", b'{}\n{"unit": 1}'],
)
def test_a_damaged_partial_is_dropped_with_a_message(tmp_path, capsys, content):
    (tmp_path / "toy-table1.partial").write_bytes(content)
    toy = Toy()
    toy.run(tmp_path)
    assert len(toy.calls) == 6
    assert "toy-table1.partial is damaged and was dropped" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["toy-table1.json"]


def test_a_unit_that_two_runs_finished_counts_once(tmp_path):
    partial = interrupted(tmp_path)
    partial.write_text(partial.read_text() + partial.read_text().splitlines()[1] + "\n")
    assert len(Toy().run(tmp_path)["units"]) == 6


def test_a_damaged_result_is_named_and_healed_by_running_again(tmp_path):
    whole = Toy().run(tmp_path)
    path = tmp_path / "toy-table1.json"
    for content in (path.read_text()[:200], "[]", "{}", ""):
        path.write_text(content)
        with pytest.raises(
            runs.DamagedResult, match=r"toy-table1\.json is damaged .*run toy-table1"
        ):
            runs.read_result(path)
        Toy().run(tmp_path)
        assert runs.read_result(path)["summary"] == whole["summary"]


def test_two_writers_do_not_share_a_temporary_file(tmp_path):
    path = tmp_path / "result.json"
    texts = [str(i) * 10_000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: runs.write_atomically(path, text), texts * 10))
    assert path.read_text() in texts and list(tmp_path.iterdir()) == [path]


def test_sources_are_those_of_the_code_that_runs():
    """A file that is edited while its old code runs does not pass for the code of the result."""
    before = Toy().run(None)["sources"]
    file = runs.ROOT / "mlbook" / "partitions.py"
    times = file.stat()
    try:
        os.utime(file, (runs._STARTED + 9, runs._STARTED + 9))
        edited = Toy().run(None)["sources"]
    finally:
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert before["mlbook/partitions.py"] != edited.get("mlbook/partitions.py")
    assert Toy().run(None)["sources"] == before
