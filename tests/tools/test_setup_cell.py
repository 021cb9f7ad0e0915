"""The first cell of a notebook: nothing where the book is, the whole book where it is not."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest
import setup_cell

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
LINE = 'REPOSITORY = ""  # its address; the build fills it in'


def test_the_cell_is_short_and_has_one_line_for_the_address():
    lines = setup_cell.SOURCE.splitlines()
    assert len(lines) < 15 and max(map(len, lines)) <= 76
    assert lines.count(LINE) == 1


def test_an_address_replaces_the_one_before():
    source = setup_cell.with_address(setup_cell.SOURCE, "https://github.com/who/what")
    assert 'REPOSITORY = "https://github.com/who/what"  # its address' in source
    assert setup_cell.with_address(source, "") == setup_cell.SOURCE


@pytest.mark.parametrize("source", [setup_cell.SOURCE, setup_cell.SOURCE.splitlines(keepends=True)])
def test_only_the_setup_cell_is_filled(source):
    cells = [{"id": "other", "source": LINE}, {"id": "setup", "source": source}, {"source": LINE}]
    notebook = {"cells": cells}
    assert setup_cell.fill(notebook, "there") and not setup_cell.fill(notebook, "there")
    assert [cell["source"] for cell in cells][::2] == [LINE, LINE]
    assert 'REPOSITORY = "there"' in cells[1]["source"]


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """A Python that has every package but not the book, as on Colab, and reaches no index."""
    home = tmp_path_factory.mktemp("stranger")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    names = {"base": str(home), "platbase": str(home)}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=names))
    # Folders named in a .pth file are searched, their own .pth files are not read: the packages
    # are there, the editable install of the book is not.
    (packages / "packages.pth").write_text(sysconfig.get_path("purelib"))
    return Path(sysconfig.get_path("scripts", "venv", vars=names)) / Path(sys.executable).name


def run(python: Path | str, folder: Path, *sources: str) -> subprocess.CompletedProcess:
    """Run cells in IPython, one after the other, in a folder."""
    program = (
        "from IPython.terminal.interactiveshell import TerminalInteractiveShell as Shell\n"
        "shell = Shell.instance()\n"
        f"for source in {list(sources)!r}:\n"
        "    shell.run_cell(source).raise_error()\n"
    )
    # pip builds the library with what is installed.
    settings = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "MPLBACKEND": "agg"}
    return subprocess.run(
        [str(python), "-c", program],
        cwd=folder,
        env=os.environ | settings,
        capture_output=True,
        text=True,
    )


def test_where_the_book_is_the_cell_does_nothing(tmp_path):
    done = run(sys.executable, tmp_path, setup_cell.SOURCE)
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (0, "", []), done.stderr


def test_without_an_address_the_cell_says_what_to_write(stranger, tmp_path):
    done = run(stranger, tmp_path, setup_cell.SOURCE)
    assert done.returncode == 1 and list(tmp_path.iterdir()) == []
    assert 'ImportError: Write where the book is: REPOSITORY = "https://..."' in done.stderr


@pytest.mark.slow
def test_with_an_address_a_notebook_runs_in_an_empty_folder(stranger, tmp_path):
    """Setup, first picture and imports of a chapter; the kernel sees the book at once."""
    code = [
        cell.source
        for cell in nbformat.read(ROOT / "book" / "kmeans.ipynb", as_version=4).cells
        if cell.cell_type == "code"
    ][:3]
    code[0] = setup_cell.with_address(code[0], ROOT.as_uri())
    where = "import book\nprint(book.__file__)"
    done = run(stranger, tmp_path, *code, where)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "mlbook-book" / "book" / "__init__.py")
