"""``python book/reproduction``: what it prints, stores and refuses."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from toy_experiment import registered

from book import reproduction as experiments
from book.reproduction import command_line


@pytest.fixture
def toy(monkeypatch):
    return registered(monkeypatch)


def test_command_line_refuses_a_bad_id_before_running_anything(tmp_path, capsys, toy):
    with pytest.raises(SystemExit) as stop:
        command_line.main(["run", "toy-table1", "nonsense", "--results", str(tmp_path)])
    assert stop.value.code == 2
    assert "no experiment 'nonsense'; there are: toy-table1" in capsys.readouterr().err
    assert toy.calls == [] and list(tmp_path.iterdir()) == []


ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, str(ROOT / "book" / "reproduction")]


def test_folder_runs_as_a_command_from_anywhere(tmp_path):
    ended = subprocess.run(
        [*PROGRAM, "run", "nonsense"], capture_output=True, text=True, cwd=tmp_path
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("usage: python book/reproduction [-h]")
    assert "no experiment 'nonsense'; there are: law2016-table1, " in ended.stderr


@pytest.mark.parametrize("arguments", [["list"], ["report", "law2017-table3"], ["stale"]])
def test_a_terminal_without_greek_letters_shows_the_rest(arguments):
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    ended = subprocess.run([*PROGRAM, *arguments], capture_output=True, env=environment)
    assert ended.returncode == 0 and ended.stderr == b""
    shown = ended.stdout.decode("cp1252")
    assert "law2017-table3" in shown
    if arguments[0] == "report":
        assert "| chi² MIMLCA (b)     | accuracy, alpha = 0     | 74.0 ± 2.9" in shown


def test_a_closed_pipe_is_not_an_error_to_shout_about():
    with subprocess.Popen(
        [*PROGRAM, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 1


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
    assert "| a | Loss    | 0.2   | 0.200 ± 0.058 (3) | matches |" in captured.out
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
    experiment = replace(toy.experiment, reasons=reasons, paper_numbers={"a": {"loss": "9.0"}})
    command_line._print(experiment, toy.run(None))
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert sorted(map(len, table))[-2] < 80 < max(map(len, table))


def test_command_line_alone_shows_help(capsys):
    assert command_line.main([]) == 0
    assert "{list,run,report,stale}" in capsys.readouterr().out


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


def test_a_damaged_result_stops_neither_list_nor_report(tmp_path, capsys, monkeypatch, toy):
    other = replace(toy.experiment, id="toy-table2")
    monkeypatch.setitem(experiments.EXPERIMENTS, other.id, other)
    experiments.run("toy-table2", "full", results=tmp_path)
    (tmp_path / "toy-table1.json").write_text('{"summary": ')
    assert command_line.main(["list", "--results", str(tmp_path)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "damaged" in first and " 0 s " in second
    assert command_line.main(["report", "--results", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "toy-table1.json is damaged" in captured.err and "## toy-table2" in captured.out
    assert command_line.main(["stale", "--results", str(tmp_path)]) == 0
    assert "toy-table1.json is damaged" in capsys.readouterr().out


def test_stale_lists_what_changed_and_report_marks_it(tmp_path, capsys, monkeypatch, toy):
    folder = ["--results", str(tmp_path)]
    assert command_line.main(["stale", *folder]) == 0
    assert capsys.readouterr().out == "0 of 0 stored results are older than their code.\n"
    experiments.run("toy-table1", "full", results=tmp_path)
    assert command_line.main(["stale", *folder]) == 0
    assert capsys.readouterr().out == "0 of 1 stored results are older than their code.\n"
    path = tmp_path / "toy-table1.json"
    result = json.loads(path.read_text())
    result["sources"]["mlbook/partitions.py"] = "another"
    path.write_text(json.dumps(result | {"started": "2026-05-01T10:00:00+00:00"}))
    assert command_line.main(["stale", "toy-table1", *folder]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "toy-table1                  2026-05-01  mlbook/partitions.py has changed",
        "1 of 1 stored results are older than their code.",
        "To make one again: python book/reproduction run ID",
    ]
    assert command_line.main(["report", *folder]) == 0
    assert capsys.readouterr().out.endswith(
        "Made with an earlier version of this code (2026-05-01); rerun: "
        "`python book/reproduction run toy-table1`\n"
    )
