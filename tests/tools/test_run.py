"""The commands: listed by make and by Python alike, each one described."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import run

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", [["make", "-s"], [sys.executable, "tools/run.py"]])
def test_every_command_is_listed(command):
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in run.COMMANDS:
        assert re.search(rf"^  {name} +[A-Z]", shown, re.M), f"{name} is not listed"


def test_make_knows_every_command():
    makefile = (ROOT / "Makefile").read_text()
    (listed,) = re.findall(r"^COMMANDS := (.*)$", makefile, re.M)
    assert listed.split() == list(run.COMMANDS)


def test_a_failing_step_is_named_and_gives_exit_code_one(monkeypatch, capsys):
    def lint(rest):
        """Fail."""
        run.step("style", "-c", "raise SystemExit(5)")

    monkeypatch.setattr(run.environment, "ensure", lambda venv, newest=False: sys.executable)
    monkeypatch.setitem(run.COMMANDS, "lint", lint)
    assert run.main(["lint"]) == 1
    assert "Failed: style" in capsys.readouterr().err


def test_arguments_are_passed_on(monkeypatch):
    seen = []

    def bench(rest):
        """Remember."""
        seen.extend(rest)

    monkeypatch.setitem(run.COMMANDS, "bench", bench)
    assert run.main(["bench", "--only", "mlca"]) == 0
    assert seen == ["--only", "mlca"]


def test_a_command_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit):
        run.main(["bok"])
    assert "invalid choice: 'bok'" in capsys.readouterr().err
