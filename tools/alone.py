"""Run notebooks as a reader does who has nothing else: in empty folders, without the book.

Each is copied into a folder of its own outside the repository, its setup cell pointed at a copy of
the working tree. Python has every package there but mlbook. The first notebook fetches and
installs the book with its setup cell; nbval then compares the outputs of all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import setup_cell

CELL_SECONDS = 300


def run(paths: list[Path], root: Path, jobs: int) -> int:
    """Run notebooks of the repository `root`; return nbval's exit code.

    The smallest notebook runs first, alone: it installs the book for the others.
    """
    with TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "notebooks"
        address = copy_repository(root, folder.with_name("repository"))
        python = make_environment(folder.with_name("python"))
        first, *others = copy_notebooks(paths, root, folder, address)
        shutil.copy(root / "tests" / "sanitize.cfg", folder)
        code = nbval(python, folder, [first])
        if subprocess.run([python, "-c", "import book, mlbook"], cwd=folder).returncode:
            print(f"the setup cell of {first.name} did not install the book")
            return 1
        if others and not code:
            code = nbval(python, folder, ["-n", str(jobs), "--dist", "loadfile", *others])
    return code


def copy_repository(root: Path, target: Path) -> str:
    """Commit a copy of the working tree, less what git ignores; return the copy's address."""
    git = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():  # not removed since the last commit
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
    git = ["git", "-C", str(target), "-c", "user.name=copy", "-c", "user.email=copy@localhost"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "Copy"]):
        subprocess.run([*git, *command], check=True)
    return target.as_uri()


def make_environment(folder: Path) -> Path:
    """Make an environment with the packages of this one but not mlbook; return its Python.

    A line of a .pth file is a place to import from, but .pth files in that place are not read:
    so the line that leads to this repository is left out.
    """
    venv.create(folder, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ours = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    theirs = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    (Path(theirs) / "packages.pth").write_text("\n".join(ours) + "\n")
    return python


def copy_notebooks(paths: list[Path], root: Path, folder: Path, address: str) -> list[Path]:
    """Copy each notebook into a folder of its own, with the address; the smallest comes first."""
    copies = []
    for path in sorted(paths, key=lambda path: path.stat().st_size):
        notebook = nbformat.read(path, as_version=4)
        setup_cell.fill(notebook, address)
        copy = folder / path.relative_to(root).with_suffix("") / path.name
        copy.parent.mkdir(parents=True)
        nbformat.write(notebook, copy)
        copies.append(copy)
    return copies


def nbval(python: Path, folder: Path, arguments: Sequence[str | Path]) -> int:
    """Run notebooks below a folder and compare their checked outputs."""
    (folder / "pytest.ini").write_text("[pytest]\n")  # else pytest looks for settings elsewhere
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax"]
    command += ["--nbval-cell-timeout", str(CELL_SECONDS), "--nbval-sanitize-with=sanitize.cfg"]
    # With 0, of all values, pip builds with the packages that are there; it fetches none.
    settings = {"OMP_NUM_THREADS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | settings
    return subprocess.run([*command, *arguments], cwd=folder, env=environment).returncode
