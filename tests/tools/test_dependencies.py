"""What a notebook depends on: found by reading its code, compared with what Python does."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbformat")
import dependencies

ROOT = Path(__file__).resolve().parents[2]

LIBRARY = {
    "mlbook/__init__.py": '_ROOMS = {"metric": ("Metric",), "trees.oak": ("Oak",)}\n'
    '__version__ = "1"\n'
    "def __getattr__(name): ...\n",
    "mlbook/metric.py": "from mlbook import _base\nclass Metric: ...\n",
    "mlbook/_base.py": "",
    "mlbook/other.py": "",
    "mlbook/trees/__init__.py": "from mlbook.trees.oak import Oak\n"
    "from mlbook.trees.ash import Ash as Tree\n"
    "from mlbook.trees import fir\n"
    "KINDS = 3\n",
    "mlbook/trees/oak.py": "def grow():\n    from ..other import x\n    from . import _roots\n",
    "mlbook/trees/_roots.py": "",
    "mlbook/trees/ash.py": "",
    "mlbook/trees/fir.py": "",
    "book/__init__.py": "",
    "book/figures/forest.py": "import mlbook.trees.fir as fir\n",
}


@pytest.fixture
def project(tmp_path):
    for name, text in LIBRARY.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def found(project: Path, *cells: str) -> set[str]:
    files = dependencies.closure(cells, project)
    names = {file.relative_to(project).as_posix() for file in files}
    return {name for name in names if not name.endswith("__init__.py")}


OAK = {"mlbook/trees/oak.py", "mlbook/trees/_roots.py", "mlbook/other.py"}
METRIC = {"mlbook/metric.py", "mlbook/_base.py"}
FIR = {"mlbook/trees/fir.py"}
ALL = {name for name in LIBRARY if not name.endswith("__init__.py")}


@pytest.mark.parametrize(
    "code, files",
    [
        ("import numpy as np\nx = np.mlbook", set()),
        ("from mlbook.metric import Metric", METRIC),
        ("from mlbook import Metric", METRIC),
        ("from mlbook import Oak", OAK),
        ("from mlbook.trees import Oak", OAK),
        ("from mlbook.trees import Tree", {"mlbook/trees/ash.py"}),
        ("from mlbook.trees import fir", FIR),
        ("from mlbook.trees import KINDS", OAK | FIR | {"mlbook/trees/ash.py"}),
        ("from mlbook.trees import *", OAK | FIR | {"mlbook/trees/ash.py"}),
        ("import mlbook.trees", OAK | FIR | {"mlbook/trees/ash.py"}),
        ("import mlbook.trees.fir", FIR),
        ("import mlbook", set()),
        ("import mlbook\nmlbook.Metric()", METRIC),
        ("import mlbook as m\ndef f(): return m.Oak", OAK),
        ("import mlbook\nprint(mlbook.__version__, mlbook.__file__)", set()),
        ("import mlbook\ndir(mlbook)", METRIC | OAK),
        ("import mlbook\nmlbook.nobody_knows", ALL - {"book/figures/forest.py"}),
        ("from mlbook import nobody_knows", ALL - {"book/figures/forest.py"}),
        ("from book.figures import forest", {"book/figures/forest.py"} | FIR),
        ("from book import figures, nothing", set()),
        ("if True:\n    !ls\n    %pip install x\nfrom mlbook import other", {"mlbook/other.py"}),
        ("%%time\nfiles = !ls\nfrom mlbook import other", {"mlbook/other.py"}),
        ("%%bash\nfor f in *; do echo; done", ALL),
    ],
)
def test_imports_are_followed_to_the_files_that_matter(code, files, project):
    assert found(project, code) == files


def test_a_module_imported_in_one_cell_is_used_in_another(project):
    assert found(project, "import mlbook", "mlbook.Metric()") == METRIC


def test_the_packages_on_the_way_count(project):
    files = dependencies.closure(["from mlbook.trees.fir import x"], project)
    assert {file.relative_to(project).as_posix() for file in files} == FIR | {
        "mlbook/__init__.py",
        "mlbook/trees/__init__.py",
    }


def test_every_name_of_the_library_leads_to_the_file_that_defines_it():
    import mlbook

    assert mlbook.__all__
    for name in mlbook.__all__:
        home = Path(inspect.getfile(getattr(mlbook, name)))
        assert home in dependencies.closure([f"from mlbook import {name}"], ROOT), name


@pytest.mark.parametrize(
    "name, foreign", [("MLCA", "large_margin"), ("segment", "mlca"), ("MIMLCA", "changepoints")]
)
def test_a_name_of_the_library_does_not_depend_on_other_methods(name, foreign):
    files = dependencies.closure([f"from mlbook import {name}"], ROOT)
    assert not any(file.is_relative_to(ROOT / "mlbook" / foreign) for file in files)


PROFILED = """
import json, sys
import numpy as np
{imports}

rng = np.random.default_rng(0)
y = np.arange(12) // 4
X = rng.normal(size=(12, 2)) + y[:, None]
files = set()

def profile(frame, event, arg):
    file = frame.f_code.co_filename
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    if frame is None:  # not while a module is loaded
        files.add(file)

sys.setprofile(profile)
{use}
sys.setprofile(None)
print(json.dumps(sorted(files)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "imports, use",
    [
        ("from mlbook import MLCA", "MLCA().fit(X, y).cluster(X)"),
        ("from mlbook import LargeMarginMetric as L", "L(alpha=1.0).fit([X], [y]).predict(X)"),
        ("from mlbook import LatentExemplarMetric as L", "L(penalty=1.0).fit([X], [y])"),
        ("from mlbook.datasets import load_letters", "load_letters()"),
    ],
)
def test_all_functions_that_run_are_in_files_found_by_reading(imports, use):
    code = PROFILED.format(imports=imports, use=use)
    command = [sys.executable, "-W", "ignore", "-c", code]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    ran = {Path(file) for file in json.loads(run.stdout)}
    ran = {file for file in ran if file.is_relative_to(ROOT / "mlbook")}
    assert ran
    assert ran <= dependencies.closure([f"{imports}\n{use}"], ROOT)


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
