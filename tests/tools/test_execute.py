"""How a notebook is executed: where, with which settings, and what is known of it afterwards."""

import asyncio
import importlib.util
import os
import sys
import threading

import nbformat
import pytest

pytest.importorskip("nbclient")
import execute
import reads

pytestmark = pytest.mark.book

ASK = """\
import os, sys, mlbook
print(os.getcwd(), mlbook.__file__, os.environ["MLBOOK_STATIC"], os.environ["OMP_NUM_THREADS"])
open(os.path.join(os.pardir, "data.txt")).read()
print("cut", end=" ", flush=True)"""


@pytest.mark.slow
def test_a_notebook_runs_in_its_folder_and_its_reads_are_known(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    for name in ("book", "mlbook", "elsewhere", "elsewhere/mlbook"):
        (tmp_path / name).mkdir()
    (tmp_path / "data.txt").write_text("4")
    (tmp_path / "mlbook" / "__init__.py").write_text("")
    (tmp_path / "elsewhere" / "mlbook" / "__init__.py").write_text("")
    cells = [nbformat.v4.new_code_cell(ASK), nbformat.v4.new_code_cell("print('x', end='')")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    read = asyncio.run(execute.run(notebook, tmp_path / "book", tmp_path))
    (output,) = notebook.cells[0].outputs
    here, library = tmp_path / "book", tmp_path / "mlbook" / "__init__.py"
    assert output.text == f"{here} {library} 1 1\ncut "
    assert "execution" not in notebook.cells[0].metadata
    assert ("content data.txt", reads.content(str(tmp_path / "data.txt"))) in read
    assert ("content mlbook/__init__.py", reads.content(str(library))) in read
    assert capfd.readouterr() == ("", "")


def test_the_users_data_folder_is_watched(tmp_path, monkeypatch):
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path / "mine"))
    folders = execute.environment(tmp_path / "book", tmp_path / "log")[reads.WATCHED]
    assert folders.split(os.pathsep) == [str(tmp_path / "book"), str(tmp_path / "mine")]
    assert execute.short(tmp_path / "mine" / "a", tmp_path / "book") == f"{tmp_path}/mine/a"


@pytest.mark.parametrize("name, fails", [("stdout", False), ("stderr", True)])
def test_what_a_cell_writes_to_stderr_fails_it(name, fails):
    output = nbformat.v4.new_output("stream", name=name, text="Careful.")
    cell = nbformat.v4.new_code_cell("1", id="here", outputs=[output])
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("Text."), cell])
    if fails:
        with pytest.raises(execute.Failed, match="cell here writes to stderr:\nCareful"):
            execute.complain_about_warnings(notebook)
    else:
        execute.complain_about_warnings(notebook)


def test_bytecode_is_compared_by_content(tmp_path, monkeypatch):
    """A module of the same length and time as its bytecode is not taken for old."""
    (tmp_path / "mlbook").mkdir()
    file = tmp_path / "mlbook" / "seven_or_nine.py"
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    def value(number):
        file.write_text(f"VALUE = {number}\n")
        os.utime(file, (10**9, 10**9))
        execute.compile_by_content(tmp_path)
        spec = importlib.util.spec_from_file_location("seven_or_nine", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.VALUE

    assert [value(7), value(9), value(7)] == [7, 9, 7]


def test_no_bytecode_is_written_where_python_writes_none(tmp_path, monkeypatch):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.py").write_text("")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    execute.compile_by_content(tmp_path)
    assert [path.name for path in (tmp_path / "book").iterdir()] == ["a.py"]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_so_many_at_once_and_in_order(jobs):
    started, running, most = [], set(), 0

    async def work(name):
        nonlocal most
        assert threading.current_thread() is not threading.main_thread()
        started.append(name)
        running.add(name)
        most = max(most, len(running))
        await asyncio.sleep(0.001)
        running.remove(name)

    execute.finish(execute.several_at_once(work, "abcd", jobs))
    assert "".join(started) == "abcd" and most == min(jobs, 4)


def test_an_error_in_one_stops_the_others():
    ended = []

    async def work(name):
        try:
            if name == "b":
                raise KeyError(name)
            await asyncio.sleep(60)
        finally:
            ended.append(name)

    with pytest.raises(ExceptionGroup):
        execute.finish(execute.several_at_once(work, "abc", 2))
    assert {"a", "b"} <= set(ended)
