"""Notebooks are executed when they must be, and only then; what went wrong is not kept."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("sphinx")
import execute
import executed_pages
import notebooks
from executed_pages import reasons, refresh

pytestmark = [pytest.mark.book, pytest.mark.slow]

TOOLS = Path(executed_pages.__file__).resolve().parent
FILES = {
    "mlbook/__init__.py": '_ROOMS = {"metric": ("learn",)}\n'
    "def __getattr__(name):\n"
    "    from importlib import import_module\n"
    "    return getattr(import_module(f\"mlbook.{_ROOMS and 'metric'}\"), name)\n",
    "mlbook/metric.py": "from mlbook.constants import FOUR\ndef learn(): return 10 * FOUR\n",
    "mlbook/constants.py": "FOUR = 4\n",
    "mlbook/trees/__init__.py": "from mlbook.trees.oak import oak\n"
    "from mlbook.trees.ash import ash\n",
    "mlbook/trees/oak.py": "oak = 1\n",
    "mlbook/trees/ash.py": "ash = 2\n",
    "mlbook/unrelated.py": "",
    "book/__init__.py": "",
    "book/figures/__init__.py": "",
    "book/figures/first.py": "from mlbook.trees import oak\ndef figure(): return oak\n",
    "book/figures/second.py": "def figure(): return 2\n",
    "book/quizzes/first.yml": "Is it so?\n",
    "data/table.csv": "5\n",
    "data/results/a.json": "{}\n",
}
FIRST = (
    "from pathlib import Path\nfrom book.figures.first import figure\nfrom mlbook import learn",
    "print(learn(), figure())",
    "print(Path('../data/table.csv').read_text(), Path('../data/later.csv').exists())",
)
SECOND = (
    "from pathlib import Path\nfrom book.figures.second import figure",
    "print(figure(), len([*Path('../data/results').iterdir()]))",
)


def write_page(root: Path, page: str, *sources: str, words: str = "# Page") -> None:
    cells = [nbformat.v4.new_markdown_cell(words)]
    cells += [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.write(notebook, root / f"{page}.ipynb")


def write_project(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    write_page(root, "book/first", *FIRST)
    write_page(root, "book/second", *SECOND)


PAGES = ["book/first", "book/second"]


@pytest.fixture(scope="module")
def executed_once(tmp_path_factory):
    root = tmp_path_factory.mktemp("executed")
    write_project(root)
    assert refresh(root, PAGES, 2) == []
    return root


@pytest.fixture
def project(executed_once, tmp_path):
    """A small book of two pages, executed."""
    return shutil.copytree(executed_once, tmp_path / "project")


def output(root: Path, page: str) -> str:
    notebook = nbformat.reads(executed_pages.load(root, page).text, as_version=4)
    return "".join(o.text for c in notebook.cells for o in c.get("outputs", []))


def stale(root: Path) -> list[str]:
    return [page for page in PAGES if reasons(root, page)]


def append(path: str, text: str = "\n# more\n"):
    def edit(root: Path) -> None:
        (root / path).parent.mkdir(exist_ok=True)
        with (root / path).open("a") as file:
            file.write(text)

    return edit


def edit_notebook(change):
    def edit(root: Path) -> None:
        notebook = nbformat.read(root / "book/first.ipynb", as_version=4)
        change(notebook)
        nbformat.write(notebook, root / "book/first.ipynb")

    return edit


def test_first_execution(project):
    assert output(project, "book/first") == "40 1\n5\n False\n"
    assert output(project, "book/second") == "2 1\n"
    assert stale(project) == []


@pytest.mark.parametrize(
    "edit",
    [
        edit_notebook(lambda n: n.cells[0].update(source="# Another word")),
        edit_notebook(lambda n: n.cells[1].metadata.update(tags=["hide-input"])),
        edit_notebook(lambda n: n.cells[1].update(id="renamed")),
        edit_notebook(lambda n: n.cells.insert(2, nbformat.v4.new_markdown_cell("More."))),
        append("book/quizzes/first.yml", "Is it not?\n"),
        append("book/figures/third.py"),
        append("book/other.md"),
        append("mlbook/unrelated.py"),
        append("mlbook/trees/ash.py"),
        append("data/other.csv"),
        append("_config.yml"),
    ],
    ids=[
        "word",
        "tag",
        "cell id",
        "text cell",
        "quiz word",
        "new figure module",
        "other page",
        "unrelated module",
        "neighbour in a package",
        "other data",
        "settings",
    ],
)
def test_what_no_page_uses_executes_nothing(edit, project):
    edit(project)
    assert stale(project) == []


@pytest.mark.parametrize(
    "edit, pages",
    [
        (append("mlbook/constants.py", "FOUR = 5\n"), ["book/first"]),
        (append("mlbook/__init__.py"), ["book/first"]),
        (append("mlbook/trees/oak.py"), ["book/first"]),
        (append("book/figures/first.py"), ["book/first"]),
        (append("book/figures/second.py"), ["book/second"]),
        (append("data/table.csv"), ["book/first"]),
        (lambda root: (root / "data/table.csv").unlink(), ["book/first"]),
        (append("data/later.csv"), ["book/first"]),
        (append("data/results/b.json"), ["book/second"]),
        (append("book/figures/__init__.py"), PAGES),
        (append("requirements.lock"), PAGES),
        (edit_notebook(lambda n: n.cells[2].update(source="1")), ["book/first"]),
        (edit_notebook(lambda n: n.cells.pop()), ["book/first"]),
        (edit_notebook(lambda n: n.cells.reverse()), ["book/first"]),
    ],
    ids=[
        "constant",
        "library",
        "name passed on",
        "own figure module",
        "the other's figure module",
        "data",
        "data gone",
        "data that was missing",
        "new file in a listed folder",
        "package of both",
        "lock file",
        "code",
        "cell removed",
        "cells in another order",
    ],
)
def test_what_a_page_uses_executes_it_and_no_other(edit, pages, project):
    edit(project)
    assert stale(project) == pages


def write_constant(root: Path, number: int) -> None:
    """Write a file of the same length and the same time: Python would not see that it is new."""
    path = root / "mlbook" / "constants.py"
    path.write_text(f"FOUR = {number}\n")
    os.utime(path, (10**9, 10**9))


def test_refresh_executes_what_is_stale_and_keeps_the_rest(project, monkeypatch, capsys):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    other = executed_pages.places(project, "book/second")[1]
    before = other.stat().st_mtime_ns
    write_constant(project, 9)
    assert refresh(project, PAGES, 2) == []
    said = capsys.readouterr().out
    assert "Executing 1 of 2" in said and "book/first: mlbook/constants.py changed" in said
    assert output(project, "book/first").startswith("90 1")
    write_constant(project, 7)
    assert refresh(project, PAGES, 2) == []
    assert output(project, "book/first").startswith("70 1")
    assert other.stat().st_mtime_ns == before
    capsys.readouterr()
    assert refresh(project, PAGES, 2) == []
    assert "Nothing that the 2 notebooks depend on has changed" in capsys.readouterr().out


# --- faults -----------------------------------------------------------------------------------

EDIT = "from pathlib import Path\nlibrary = Path('../mlbook/constants.py')\n"


@pytest.mark.parametrize(
    "cells, problem",
    [
        # 4 becomes 99 after the page has used it.
        (
            [*FIRST, EDIT + "library.write_text('FOUR = 99\\n')"],
            "while it ran mlbook/constants.py changed",
        ),
        # 4 becomes 99, is used, and is 4 again at the end.
        (
            [
                EDIT + "library.write_text('FOUR = 99\\n')",
                *FIRST,
                "library.write_text('FOUR = 4\\n')",
            ],
            "while it ran mlbook/constants.py changed",
        ),
        (
            [*FIRST, "Path('../data/table.csv').write_text('6')"],
            "while it ran data/table.csv changed",
        ),
        ([*FIRST, "Path('../data/later.csv').touch()"], "while it ran data/later.csv is new"),
        (["1", "1 / 0"], "ZeroDivisionError"),
        (["import warnings", "warnings.warn('Careful.')"], "cell c1 writes to stderr"),
        (["import os", "os._exit(1)"], "died"),
        (["import time", "time.sleep(9)"], "timed out"),
    ],
    ids=[
        "changed",
        "changed and back",
        "data",
        "new data",
        "error",
        "warning",
        "end",
        "sleep",
    ],
)
def test_a_fault_is_named_and_nothing_is_kept(cells, problem, tmp_path, monkeypatch, capsys):
    write_project(tmp_path)
    write_page(tmp_path, "book/first", *cells)
    if problem == "timed out":
        monkeypatch.setattr(execute, "CELL_SECONDS", 1)
    (said,) = refresh(tmp_path, ["book/first"], 1)
    assert said.startswith("book/first: ") and problem in said
    assert "book/first FAILED" in capsys.readouterr().out
    assert executed_pages.load(tmp_path, "book/first") is None
    assert reasons(tmp_path, "book/first") == ["it was not executed before"]


def test_a_kernel_that_does_not_start_says_why(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.setattr("atexit.register", lambda function: None)  # nbclient's would complain
    monkeypatch.setattr(execute, "environment", lambda root, log: {"PYTHONHOME": "/nowhere"})
    (said,) = refresh(tmp_path, ["book/second"], 1)
    assert "Kernel died" in said and "Python path configuration" in said


def test_a_failing_page_keeps_no_other_from_being_stored(project):
    write_page(project, "book/first", "1 / 0")
    append("book/figures/second.py")(project)
    (said,) = refresh(project, PAGES, 1)
    assert "ZeroDivisionError" in said
    assert stale(project) == ["book/first"]


def cut(path: Path) -> None:
    path.write_text(path.read_text()[:-20])


def edited(path: Path) -> None:
    path.write_text(path.read_text().replace("40 1", "99 1"))


@pytest.mark.parametrize(
    "which, damage",
    [
        (0, cut),
        (0, edited),
        (0, Path.unlink),
        (1, cut),
        (1, Path.unlink),
        (1, lambda path: path.write_text("[]")),
        (1, lambda path: path.write_text("{}")),
        (1, lambda path: path.write_bytes(b"\xff")),
    ],
)
def test_a_damaged_execution_is_not_used(which, damage, project):
    damage(executed_pages.places(project, "book/first")[which])
    (reason,) = reasons(project, "book/first")
    assert reason.startswith("its stored execution is damaged")
    with pytest.raises(executed_pages.Damaged):
        executed_pages.load(project, "book/first")


def test_a_damaged_execution_is_dropped_and_made_again(project, capsys):
    cut(executed_pages.places(project, "book/first")[1])
    assert refresh(project, PAGES, 1) == []
    said = capsys.readouterr().out
    assert "Executing 1 of 2" in said and "damaged" in said
    assert stale(project) == [] and output(project, "book/first").startswith("40 1")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_what_is_done_and_stops_the_kernels(how, tmp_path):
    write_project(tmp_path)
    pid = tmp_path / "_build" / "pid"
    say = f"print(os.getpid(), file=open({str(pid)!r}, 'w'), flush=True)"
    write_page(tmp_path, "book/first", f"import os, time\n{say}", "time.sleep(99)")
    write_page(tmp_path, "book/third", "1")
    chapters = "chapters:\n- file: book/first\n- file: book/third\n"
    (tmp_path / "_toc.yml").write_text(f"format: jb-book\nroot: book/second\n{chapters}")
    command = [sys.executable, str(TOOLS / "build_book.py"), "--root", str(tmp_path), "--jobs=1"]
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background ignores it
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, preexec_fn=heed, **pipes) as build:
        end = time.time() + 60
        second = executed_pages.places(tmp_path, "book/second")[1]
        while not (second.exists() and pid.exists()) and time.time() < end:
            time.sleep(0.1)
        build.send_signal(how)
        said = build.communicate(timeout=30)[1]
    assert build.returncode == 130 and said.strip().startswith(b"Stopped"), said
    assert stale(tmp_path) == ["book/first"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


# --- order, merging, Sphinx -------------------------------------------------------------------


def test_the_longest_come_first_and_so_many_at_once(project, monkeypatch):
    for page, seconds in (("book/first", 1), ("book/second", 7)):
        record = executed_pages.places(project, page)[1]
        record.write_text(json.dumps({**json.loads(record.read_text()), "seconds": seconds}))
        append(f"book/figures/{Path(page).name}.py")(project)
    write_page(project, "book/third", "1")
    write_page(project, "book/timed", "from time import perf_counter")
    log, running = [], []

    async def fake(root, page):
        running.append(page)
        log.append((page, len(running)))
        await asyncio.sleep(0.01)
        running.remove(page)

    monkeypatch.setattr(executed_pages, "execute_and_store", fake)
    refresh(project, ["book/timed", *PAGES, "book/third"], 2)
    assert [page for page, _ in log] == ["book/third", "book/second", "book/first", "book/timed"]
    assert max(number for _, number in log) == 2 and log[-1] == ("book/timed", 1)


def test_new_words_stand_beside_the_stored_outputs(project):
    edit_notebook(lambda n: n.cells[0].update(source="# Another word"))(project)
    edit_notebook(lambda n: n.cells[2].metadata.update(tags=["hide-input"]))(project)
    source = executed_pages.source(project, "book/first")
    page = executed_pages.with_outputs(project, "book/first", source)
    assert page.cells[0].source == "# Another word"
    assert page.cells[2].outputs[0].text == "40 1\n" and page.cells[2].execution_count == 2
    assert page.cells[2].metadata.tags == ["hide-input"]
    assert page.metadata.language_info.name == "python"


def test_update_stores_the_outputs_of_checked_cells_only(project, monkeypatch, capsys):
    monkeypatch.setattr(notebooks, "BOOK", project / "book")
    edit_notebook(lambda n: n.cells[2].metadata.update(tags=[notebooks.TAG]))(project)
    write_constant(project, 6)
    assert notebooks.update(notebooks.chapters()) == []
    assert "Executing 1 of 2" in capsys.readouterr().out
    page = executed_pages.source(project, "book/first")
    assert [cell.get("outputs") for cell in page.cells[:2]] == [None, []]
    assert page.cells[2].outputs[0].text == "60 1\n" and page.cells[3].outputs == []
    assert set(page.metadata) == {"kernelspec"}
    assert stale(project) == []

    before = (project / "book" / "second.ipynb").read_text()
    write_page(project, "book/first", "1 / 0")
    assert "ZeroDivisionError" in notebooks.update(notebooks.chapters())[0]
    assert (project / "book" / "second.ipynb").read_text() == before


def sphinx(root: Path):
    from types import SimpleNamespace

    env = SimpleNamespace(doc2path=lambda name: str(next(root.glob(f"{name}.*"))))
    return SimpleNamespace(srcdir=str(root), env=env)


def test_sphinx_reads_the_page_with_its_outputs(project):
    content = [(project / "book" / "first.ipynb").read_text()]
    executed_pages.show_outputs(sphinx(project), "book/first", content)
    assert "40 1" in content[0]
    (project / "book" / "text.md").write_text("# Text")
    content = ["# Text"]
    executed_pages.show_outputs(sphinx(project), "book/text", content)
    assert content == ["# Text"]


@pytest.mark.parametrize("fault", ["never executed", "damaged", "other code"])
def test_sphinx_refuses_a_page_without_its_own_outputs(fault, project):
    from sphinx.errors import ExtensionError

    content = [(project / "book" / "first.ipynb").read_text()]
    notebook, record = executed_pages.places(project, "book/first")
    if fault == "never executed":
        notebook.unlink(), record.unlink()
    elif fault == "damaged":
        cut(notebook)
    else:
        content[0] = content[0].replace("learn()", "learn() + 1")
    with pytest.raises(ExtensionError, match="build the book with"):
        executed_pages.show_outputs(sphinx(project), "book/first", content)
