"""What a notebook depends on: found by reading its code, compared with what Python does."""

import inspect
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbformat")
import dependencies

ROOT = Path(__file__).resolve().parents[2]

LIBRARY = {
    "mlbook/__init__.py": '_ROOMS = {"metric": ("Metric",)}\ndef __getattr__(name): ...\n',
    "mlbook/metric.py": "from mlbook import _base\nclass Metric: ...\n",
    "mlbook/_base.py": "",
    "mlbook/other.py": "",
    "mlbook/trees/__init__.py": "from mlbook.trees.oak import Oak\n",
    "mlbook/trees/oak.py": "class Oak: ...\n",
    "mlbook/trees/fir.py": "",
    "book/__init__.py": "",
}
METRIC = {"mlbook/__init__.py", "mlbook/metric.py", "mlbook/_base.py"}
OTHER = {"mlbook/__init__.py", "mlbook/other.py"}


@pytest.fixture
def project(tmp_path):
    for name, text in LIBRARY.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "cells, files",
    [
        (["import numpy"], set()),
        (["from mlbook import Metric"], METRIC),
        (["import mlbook", "mlbook.Metric()"], METRIC),
        (["if True:\n    !ls\n    %pip install x\nfrom mlbook import other"], OTHER),
        (["%%time\nfiles = !ls\nfrom mlbook import other"], OTHER),
        (["x = (7\n% 2)\nfrom mlbook import other"], OTHER),
        (
            ["from mlbook.trees import Oak"],
            {"mlbook/__init__.py", "mlbook/trees/__init__.py", "mlbook/trees/oak.py"},
        ),
        (["%%bash\nfor f in *; do echo; done"], LIBRARY.keys()),
    ],
)
def test_modules_are_those_that_the_cells_import(cells, files, project):
    found = dependencies.modules(cells, project)
    assert {file.relative_to(project).as_posix() for file in found} == files


def test_a_module_that_cannot_be_read_stands_for_all(project):
    (project / "mlbook" / "other.py").write_text("x = (")
    assert len(dependencies.modules(["from mlbook import other"], project)) == len(LIBRARY)


def test_every_name_of_the_library_leads_to_the_file_that_defines_it():
    import mlbook

    assert mlbook.__all__
    for name in mlbook.__all__:
        home = Path(inspect.getfile(getattr(mlbook, name)))
        assert home in dependencies.modules([f"from mlbook import {name}"], ROOT), name


@pytest.mark.parametrize(
    "name, foreign", [("MLCA", "large_margin"), ("segment", "mlca"), ("MIMLCA", "changepoints")]
)
def test_a_name_of_the_library_does_not_depend_on_other_methods(name, foreign):
    files = dependencies.modules([f"from mlbook import {name}"], ROOT)
    assert not any(file.is_relative_to(ROOT / "mlbook" / foreign) for file in files)


# --- facts ------------------------------------------------------------------------------------


def notebook(*sources: str, words: str = "", tags: tuple[str, ...] = ()) -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_markdown_cell(words)]
    cells += [nbformat.v4.new_code_cell(source, metadata={"tags": [*tags]}) for source in sources]
    return nbformat.v4.new_notebook(cells=cells)


USES_METRIC = "from mlbook import Metric"


def test_words_and_looks_are_no_facts(project):
    before = dependencies.facts(project, notebook(USES_METRIC))
    other = notebook(USES_METRIC, words="other words", tags=("hide-input",))
    other.cells[1].outputs = [nbformat.v4.new_output("stream", text="1")]
    assert dependencies.facts(project, other) == before


@pytest.mark.parametrize(
    "other",
    [
        notebook(USES_METRIC, "1"),
        notebook("1", USES_METRIC),
        notebook(USES_METRIC + " "),
        notebook(USES_METRIC, tags=("raises-exception",)),
    ],
)
def test_code_is_a_fact(other, project):
    before = dependencies.facts(project, notebook(USES_METRIC))
    assert "code cells changed" in dependencies.difference(
        before, dependencies.facts(project, other)
    )


@pytest.mark.parametrize(
    "path, said",
    [
        ("mlbook/_base.py", ["mlbook/_base.py changed"]),
        ("mlbook/__init__.py", ["mlbook/__init__.py changed"]),
        ("mlbook/other.py", []),
        ("mlbook/trees/oak.py", []),
        ("mlbook/trees/__init__.py", []),
        ("requirements.lock", ["requirements.lock is new"]),
        ("data/table.csv", ["data/table.csv is new"]),
    ],
)
def test_difference_names_the_file(path, said, project):
    read = ["content data/table.csv"]
    before = dependencies.facts(project, notebook(USES_METRIC), read)
    (project / path).parent.mkdir(exist_ok=True)
    with (project / path).open("a") as file:
        file.write("\n# more\n")
    after = dependencies.facts(project, notebook(USES_METRIC), read)
    assert dependencies.difference(before, after) == said
    gone = [line.replace("is new", "is gone") for line in said]
    assert dependencies.difference(after, before) == gone


def test_difference_speaks_of_folders_and_new_imports(project):
    (project / "data").mkdir()
    read = ["names data", "presence data/x"]
    before = dependencies.facts(project, notebook(USES_METRIC), read)
    (project / "data" / "x").touch()
    (project / "mlbook" / "metric.py").write_text("import mlbook.trees.fir\nclass Metric: ...\n")
    after = dependencies.facts(project, notebook(USES_METRIC), read)
    assert dependencies.difference(before, after) == [
        "mlbook/_base.py is no longer imported",
        "mlbook/metric.py changed",
        "mlbook/trees/__init__.py is now imported",
        "mlbook/trees/fir.py is now imported",
        "data: files were added or removed",
        "data/x is new",
    ]


def test_python_packages_and_data_folder_are_facts(project, monkeypatch):
    before = dependencies.facts(project, notebook("1"))
    monkeypatch.setattr(sys, "version", "4.0")
    monkeypatch.setattr(dependencies, "installed", lambda root: "others")
    monkeypatch.setenv("MLBOOK_DATA", "elsewhere")
    assert dependencies.difference(before, dependencies.facts(project, notebook("1"))) == [
        "MLBOOK_DATA changed",
        "Python changed",
        "installed packages changed",
    ]


def test_installed_packages_are_those_that_the_project_names(tmp_path):
    def of(text):
        (tmp_path / "requirements.lock").write_text(text)
        dependencies.installed.cache_clear()
        return dependencies.installed(tmp_path)

    assert of("numpy==0.1\n") == of("# words\nnumpy==9.9\n")
    assert len({of("numpy==0.1\n"), of("scipy==0.1\n"), of("no-such-package==0.1\n"), of("")}) == 4
