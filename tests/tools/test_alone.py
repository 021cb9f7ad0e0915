"""Notebooks run in an empty folder, with a book that they fetch themselves."""

import os
import subprocess
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbval")
import alone
import setup_cell

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "mlbook"
version = "0"
dependencies = ["numpy"]
[project.optional-dependencies]
book = ["nbformat"]
reproduce = []
[tool.hatch.build]
dev-mode-dirs = ["."]
[tool.hatch.build.targets.wheel]
packages = ["mlbook"]
"""


@pytest.fixture
def project(tmp_path):
    """A repository with two notebooks, one of them with an output to compare with."""
    files = {
        "pyproject.toml": PROJECT,
        ".gitignore": "ignored.txt\n",
        "ignored.txt": "",
        "mlbook/__init__.py": "VALUE = 4\n",
        "book/__init__.py": "",
        "tests/sanitize.cfg": "[a]\nregex: b\nreplace: b\n",
        "removed.txt": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    (tmp_path / "removed.txt").unlink()
    (tmp_path / "untracked.txt").write_text("new")
    write_notebook(tmp_path / "book" / "small.ipynb", "print(1)", "1\n")
    (tmp_path / "book" / "reproduction").mkdir()
    where = "import book, os, mlbook\nprint(mlbook.VALUE, os.listdir())\nassert 'mlbook-book' in "
    where += "mlbook.__file__ and book.__file__"
    write_notebook(tmp_path / "book" / "reproduction" / "large.ipynb", where, "4 ['large.ipynb']\n")
    return tmp_path


def write_notebook(path: Path, source: str, output: str) -> None:
    setup = nbformat.v4.new_code_cell(setup_cell.SOURCE, id=setup_cell.ID)
    text = nbformat.v4.new_output("stream", name="stdout", text=output)
    checked = nbformat.v4.new_code_cell(
        source, metadata={"tags": ["nbval-check-output"]}, outputs=[text], execution_count=2
    )
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = nbformat.v4.new_notebook(cells=[setup, checked], metadata=metadata)
    nbformat.write(notebook, path)


def notebooks(project: Path) -> list[Path]:
    return sorted(project.rglob("*.ipynb"))


def test_the_copy_of_the_repository_is_the_working_tree(project, tmp_path_factory):
    target = tmp_path_factory.mktemp("copy") / "repository"
    address = alone.copy_repository(project, target)
    clone = tmp_path_factory.mktemp("clone")
    subprocess.run(["git", "clone", "-q", address, str(clone)], check=True)
    names = {p.relative_to(clone).as_posix() for p in clone.rglob("*") if p.is_file()}
    names = {name for name in names if not name.startswith(".git/")}
    assert {"untracked.txt", "mlbook/__init__.py", "book/small.ipynb"} <= names
    assert not {"ignored.txt", "removed.txt"} & names


def test_the_environment_has_all_packages_but_not_the_book(tmp_path):
    python = alone.make_environment(tmp_path / "python")
    ask = "from importlib.util import find_spec as f; print([bool(f(x)) for x in {}])"
    names = ["numpy", "nbval", "pip", "hatchling", "mlbook", "book"]
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [str(python), "-c", ask.format(names)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=clean)
    assert run.stdout.strip() == str([True] * 4 + [False] * 2)


def test_each_copy_has_a_folder_of_its_own_and_the_address(project, tmp_path_factory):
    folder = tmp_path_factory.mktemp("copies") / "notebooks"
    copies = alone.copy_notebooks(notebooks(project), project, folder, "file:///there")
    assert [copy.name for copy in copies] == ["small.ipynb", "large.ipynb"]
    assert len({copy.parent for copy in copies}) == 2
    for copy in copies:
        assert [p.name for p in copy.parent.iterdir()] == [copy.name]
        assert 'REPOSITORY = "file:///there"' in nbformat.read(copy, as_version=4).cells[0].source


@pytest.mark.slow
def test_notebooks_run_alone_and_their_outputs_are_compared(project, capfd):
    assert alone.run(notebooks(project), project, 2) == 0
    assert capfd.readouterr().out.count("2 passed") == 2
    large = project / "book" / "reproduction" / "large.ipynb"
    large.write_text(large.read_text().replace("4 ['large", "5 ['large"))
    assert alone.run(notebooks(project), project, 2) == 1
    assert "Cell outputs differ" in capfd.readouterr().out
