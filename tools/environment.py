"""Make the virtual environments of the project, with nothing but Python's own library.

What the lock files name is installed only if it has one of the hashes there, and only as a wheel:
nothing that was downloaded is run to build something.

An environment holds a small record of what it was made from. It is written last: an
environment without it was interrupted while it was made, and is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 11), (3, 14)  # the lock file has wheels for these: tools/wheels.py
RECORD = "mlbook.json"  # beside pyvenv.cfg
MAKING = "mlbook-is-making-this"  # there from the first moment until the record is written
FROM = ("requirements.lock", "pyproject.toml", "data/packages.txt", "tools/environment.py")


class EnvironmentFailure(Exception):
    """What a person has to do before the environment can be made."""


def check_python(version: tuple[int, ...] = sys.version_info[:2], *, newest: bool = False) -> None:
    """Refuse a Python that the packages do not support, and say what to do."""
    found = ".".join(map(str, version[:2]))
    if version[:2] < OLDEST:
        raise EnvironmentFailure(
            f"mlbook needs Python 3.11 or newer; this is {found}. Name another one, for example:\n"
            "  make PYTHON=python3.12 book     or     python3.12 tools/run.py book"
        )
    if version[:2] > NEWEST and not newest:
        raise EnvironmentFailure(
            f"The book needs Python 3.11 to {'.'.join(map(str, NEWEST))}; this is {found}, for "
            "which not all its packages are there yet. Name another one, for example:\n"
            "  make PYTHON=python3.13 book     or     python3.13 tools/run.py book\n"
            "The library alone may work: pip install ."
        )


def python_of(venv: Path) -> Path:
    """Return the interpreter of an environment."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def wanted(*, newest: bool) -> dict[str, str]:
    """Return what the record of an environment that is up to date says."""
    digest = hashlib.sha256()
    for name in FROM:
        digest.update((ROOT / name).read_bytes() + b"\0")
    kind = "newest" if newest else "locked"
    return {"made from": digest.hexdigest(), "kind": kind, "python": sys.version.split()[0]}


def state(venv: Path, *, newest: bool) -> str:
    """Return "ready", "old", "half-made", "missing", or "foreign" if it is not ours."""
    if not venv.exists():
        return "missing"
    if (venv / MAKING).exists():
        return "half-made"
    try:
        record = json.loads((venv / RECORD).read_text())
    except (OSError, ValueError):
        return "half-made" if (venv / ".ready").exists() else "foreign"  # .ready: first edition
    if not python_of(venv).exists() or record.get("python") != wanted(newest=newest)["python"]:
        return "half-made"
    return "ready" if record == wanted(newest=newest) else "old"


def ensure(venv: Path, *, newest: bool = False) -> Path:
    """Return the interpreter of `venv`; make the environment or bring it up to date first.

    Parameters
    ----------
    venv : Path
        Folder of the environment.
    newest : bool, default=False
        Install the library and its test tools at their newest releases instead of the
        versions of the lock file.

    Raises
    ------
    EnvironmentFailure
        If this Python is not supported, the folder is somebody else's, or a step fails.
    """
    check_python(newest=newest)
    found = state(venv, newest=newest)
    if found == "ready":
        return python_of(venv)
    if found == "foreign":
        raise EnvironmentFailure(
            f"{venv.name} was not made by this project, or is broken: move it away and try again."
        )
    if found == "half-made":
        print(f"{venv.name} is half-made or of another Python: it is made again.", flush=True)
        shutil.rmtree(venv)
    venv.mkdir(exist_ok=True)
    (venv / MAKING).touch()
    (venv / RECORD).unlink(missing_ok=True)
    if found != "old":
        create = [getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(venv)]
        run(create, "the virtual environment could not be made (Debian: apt install python3-venv)")
    print(f"Installing into {venv.name} (a minute or two the first time) ...", flush=True)
    uv = venv / "uv.txt"
    uv.write_text(locked("uv"))
    for arguments in installs(uv, newest=newest):
        install(venv, arguments)
    (venv / RECORD).write_text(json.dumps(wanted(newest=newest)))
    (venv / MAKING).unlink()
    return python_of(venv)


def install(venv: Path, arguments: list[str]) -> None:
    """Install packages by uv, which takes seconds where pip takes minutes; else by pip."""
    python = str(python_of(venv))
    try:
        run([python, "-m", "uv", "pip", "install", "--quiet", *arguments], "uv cannot do it here")
    except EnvironmentFailure:
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, *arguments], "a package could not be installed: see above")


def installs(uv: Path, *, newest: bool) -> list[list[str]]:
    """Return the arguments of the installs, in order; `uv` is a file that names uv alone.

    Nobody knows the hashes of the newest releases yet, and a folder has none.
    """
    checked = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]  # the lock has them all
    if newest:
        return [
            [*checked, "-r", str(uv)],
            ["--upgrade", "numpy", "scipy", "scikit-learn"],
            ["--upgrade", "-e", ".[test]"],
        ]
    return [
        [*checked, "-r", str(uv)],
        [*checked, "-r", "requirements.lock"],
        [*checked, "-r", "data/packages.txt"],
        ["--no-deps", "--no-build-isolation", "-e", "."],
    ]


def locked(package: str) -> str:
    """Return what the lock file says of one package: its version and its hashes."""
    text = (ROOT / "requirements.lock").read_text()
    lines = re.search(rf"^{package}==.*\n(?: +--hash=.*\n)*", text, re.M)
    if lines is None:
        raise EnvironmentFailure(f"{package} is not in requirements.lock: run `make lock`")
    return lines[0]


def run(command: list[str], failure: str) -> None:
    """Run one step; turn a failure into a plain sentence."""
    quiet = "uv" in command[:3]  # pip will say it better
    try:
        code = subprocess.run(
            command, cwd=ROOT, stderr=subprocess.DEVNULL if quiet else None
        ).returncode
    except OSError as error:
        raise EnvironmentFailure(f"{failure} ({error})") from error
    if code:
        raise EnvironmentFailure(failure)
