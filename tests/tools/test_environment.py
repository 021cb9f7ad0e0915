"""The virtual environments: made once, noticed when half-made, and kind in what they refuse."""

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import environment
import pytest
from environment import EnvironmentFailure, check_python, ensure, state


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """An environment whose steps are recorded instead of run."""
    steps = []

    def record(command, failure):
        if "venv" in command:
            python = environment.python_of(tmp_path / ".venv")
            python.parent.mkdir()
            python.touch()
        steps.append(" ".join(map(str, command)))

    monkeypatch.setattr(environment, "run", record)
    return tmp_path / ".venv", steps


def test_made_once_and_ready_ever_after(fake):
    venv, steps = fake
    assert state(venv, newest=False) == "missing"
    assert ensure(venv) == environment.python_of(venv)
    assert len(steps) == 5 and "-m venv" in steps[0] and "requirements.lock" in steps[2]
    assert all("--require-hashes --no-deps --only-binary :all: -r " in step for step in steps[1:4])
    assert steps[4].endswith("--no-deps --no-build-isolation -e .")
    assert state(venv, newest=False) == "ready"
    ensure(venv)
    assert len(steps) == 5


@pytest.mark.parametrize("which", range(5))
def test_an_interruption_at_any_step_is_noticed_and_mended(which, fake, monkeypatch, capsys):
    venv, steps = fake
    real = environment.run

    def interrupted(command, failure):
        if len(steps) == which:
            raise KeyboardInterrupt
        real(command, failure)

    monkeypatch.setattr(environment, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ensure(venv)
    assert state(venv, newest=False) == "half-made"
    monkeypatch.setattr(environment, "run", real)
    steps.clear()
    ensure(venv)
    assert len(steps) == 5 and state(venv, newest=False) == "ready"
    assert "made again" in capsys.readouterr().out


def test_a_changed_lock_file_installs_again_without_starting_over(fake, monkeypatch):
    venv, steps = fake
    ensure(venv)
    steps.clear()
    monkeypatch.setattr(environment, "FROM", (*environment.FROM, "README.md"))
    assert state(venv, newest=False) == "old"
    ensure(venv)
    assert len(steps) == 4 and state(venv, newest=False) == "ready"


def test_another_python_starts_over(fake):
    venv, _ = fake
    ensure(venv)
    record = json.loads((venv / environment.RECORD).read_text())
    (venv / environment.RECORD).write_text(json.dumps(record | {"python": "3.11.0"}))
    assert state(venv, newest=False) == "half-made"


def test_an_environment_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "mine").touch()
    with pytest.raises(EnvironmentFailure, match=r"\.venv was not made by this project.*move it"):
        ensure(tmp_path / ".venv")
    assert (tmp_path / ".venv" / "mine").exists()


@pytest.mark.parametrize("version", [(3, 10), (2, 7)])
def test_an_old_python_is_refused_with_a_way_out(version):
    with pytest.raises(EnvironmentFailure, match=r"3\.11 or newer; this is .*(?s:.*)make PYTHON="):
        check_python(version)


def test_a_python_without_wheels_is_refused_for_the_book_only():
    with pytest.raises(EnvironmentFailure, match=r"3\.11 to 3\.14; this is 3\.15.*(?s:.*)library"):
        check_python((3, 15))
    check_python((3, 15), newest=True)
    check_python((3, 14))


def test_a_failing_step_says_what_failed(tmp_path):
    with pytest.raises(EnvironmentFailure, match="no luck"):
        environment.run([sys.executable, "-c", "raise SystemExit(3)"], "no luck")
    with pytest.raises(EnvironmentFailure, match=r"no luck .*no-such"):
        environment.run([str(tmp_path / "no-such-program")], "no luck")


def test_pip_does_what_uv_cannot(tmp_path, monkeypatch):
    tried = []

    def only_pip(command, failure):
        tried.append(command[2])
        if command[2] == "uv":
            raise EnvironmentFailure(failure)

    monkeypatch.setattr(environment, "run", only_pip)
    environment.install(tmp_path, ["numpy"])
    assert tried == ["uv", "pip"]


def test_uv_comes_with_the_hashes_of_the_lock_file():
    first, *hashes = environment.locked("uv").splitlines()
    assert first.startswith("uv==") and hashes
    assert all(line.startswith("    --hash=sha256:") for line in hashes)
    with pytest.raises(EnvironmentFailure, match=r"no-such is not in requirements\.lock"):
        environment.locked("no-such")


@pytest.mark.parametrize("right", [True, False])
def test_only_a_file_with_the_known_hash_is_installed(right, tmp_path):
    wheel = tmp_path / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {
            "toy.py": "",
            "toy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
            "toy-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
            "toy-1.0.dist-info/RECORD": "",
        }.items():
            archive.writestr(name, text)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    known = tmp_path / "known.txt"
    known.write_text(f"toy==1.0 --hash=sha256:{digest if right else digest[::-1]}\n")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--find-links"]
    command += [str(tmp_path), "--target", str(tmp_path / "site")]
    command += environment.installs(known, newest=False)[0]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) == right == (tmp_path / "site" / "toy.py").exists(), done.stderr


def test_an_unsupported_python_is_told_on_the_command_line(tmp_path):
    """In a process of its own: a plain sentence, no traceback."""
    tools = Path(environment.__file__).parent
    code = (
        "import environment, run; environment.OLDEST = (9, 9); raise SystemExit(run.main(['lint']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tools, capture_output=True, text=True)
    assert done.returncode == 1 and "needs Python" in done.stderr
    assert "Traceback" not in done.stderr
