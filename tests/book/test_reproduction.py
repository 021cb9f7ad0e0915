"""The experiments by name: run, load, compare; and every registered one at smoke scale."""

import math
import warnings
from dataclasses import replace

import pytest
from sklearn.exceptions import ConvergenceWarning
from toy_experiment import registered

from book import reproduction as experiments
from book.reproduction.verdicts import compare
from mlbook.baselines import metrics as baselines


@pytest.fixture
def toy(monkeypatch):
    return registered(monkeypatch)


def test_only_full_runs_are_stored_unless_asked(tmp_path, monkeypatch, toy):
    monkeypatch.setattr(experiments, "default_folder", lambda: tmp_path / "default")
    experiments.run("toy-table1", "book")
    assert not (tmp_path / "default").exists()
    experiments.run("toy-table1", "full")
    experiments.run("toy-table1", "book", results=tmp_path / "default")
    stored = sorted(p.name for p in (tmp_path / "default").iterdir())
    assert stored == ["toy-table1-book.json", "toy-table1.json"]
    assert experiments.load("toy-table1")["scale"] == "full"


def test_comparison_runs_or_reads(tmp_path, toy):
    live = experiments.comparison("toy-table1", "book")
    experiments.run("toy-table1", "full", results=tmp_path)
    stored = experiments.comparison("toy-table1", results=tmp_path)
    assert live == stored and live.rows[0][3:] == ["0.200 ± 0.058 (3)", "matches"]


def test_an_experiment_that_was_never_run_is_missing(tmp_path, monkeypatch, toy):
    other = replace(toy.experiment, id="toy-table2")
    monkeypatch.setitem(experiments.EXPERIMENTS, other.id, other)
    experiments.run("toy-table1", "full", results=tmp_path)
    assert experiments.load("toy-table2", results=tmp_path) is None
    _, rows, note = experiments.comparison("toy-table2", results=tmp_path)
    command = "python book/reproduction run toy-table2"
    assert rows[0] == ["a", "Loss", "0.2", "–", f"missing: `{command}`"] and note == ""


@pytest.mark.parametrize("there", ["no folder", "another file", "a result of another scale"])
def test_without_any_result_a_page_says_so_instead_of_calling_all_missing(tmp_path, there):
    folder = tmp_path / "results"
    if there != "no folder":
        folder.mkdir()
        name = "law2016-table1-book" if there == "a result of another scale" else "benchmarks"
        (folder / f"{name}.json").write_text("{}")
    for shown in (
        lambda: experiments.load("law2016-table1", results=folder),
        lambda: experiments.comparison("law2016-table1", results=folder),
        lambda: experiments.age_note("law2016-table1", results=folder),
        lambda: experiments.scoreboard(results=folder),
        lambda: experiments.standings(results=folder),
    ):
        with pytest.raises(experiments.NoResults, match=r"no stored results in .*results\. .*copy"):
            shown()
    (folder).mkdir(exist_ok=True)
    (folder / "law2016-table2.json").write_text('{"summary": {}}')
    assert experiments.load("law2016-table1", results=folder) is None


def test_unknown_names_and_scales_list_the_valid_ones():
    with pytest.raises(ValueError, match=r"'nonsense'.*law2016-table1, law2016-table2"):
        experiments.run("nonsense")
    with pytest.raises(ValueError, match=r"'law2016-tabel1'; did you mean law2016-table1 or "):
        experiments.run("law2016-tabel1")
    with pytest.raises(ValueError, match=r"smoke, book, full; got 'huge'"):
        experiments.run("law2016-table1", "huge")


@pytest.fixture(scope="module")
def smoke():
    """Every registered experiment at smoke scale: few steps, and for ITML few pairs."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
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
    header, rows, _ = compare(experiment, result, None, "")
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
