"""The executed notebooks of the book: kept while nothing they depend on changes.

``_build/executed/PAGE.ipynb`` is the notebook as it was executed; ``PAGE.json`` beside it holds
the facts it was executed under (`dependencies`), how long it took, and the notebook's SHA-256.
Sphinx reads the page's text as it is now with the outputs of then.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from itertools import count
from math import inf
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import nbformat
from dependencies import Facts, difference, facts
from execute import Failed, compile_by_content, finish, run, several_at_once
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


class Execution(NamedTuple):
    """A notebook that was executed, as text."""

    text: str
    facts: Facts
    seconds: float


class Damaged(Exception):
    """A stored execution is not what was stored."""


def source(root: Path, page: str) -> NotebookNode:
    """Read the notebook of a page."""
    return nbformat.read(root / f"{page}.ipynb", as_version=4)


def places(root: Path, page: str) -> tuple[Path, Path]:
    """Return where the execution of a page is kept, and where what is known of it."""
    folder = root / "_build" / "executed"
    return folder / f"{page}.ipynb", folder / f"{page}.json"


def store(root: Path, page: str, execution: Execution) -> None:
    """Keep an execution; interrupted, it leaves none or the old one."""
    known = {
        "facts": execution.facts,
        "seconds": execution.seconds,
        "sha256": hashlib.sha256(execution.text.encode()).hexdigest(),
    }
    contents = (execution.text, json.dumps(known, indent=1))
    for path, content in zip(places(root, page), contents, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f"{path.name}.new")
        scratch.write_text(content, encoding="utf-8")
        os.replace(scratch, path)


def load(root: Path, page: str) -> Execution | None:
    """Return the stored execution of a page, None if there is none.

    Raises
    ------
    Damaged
        If a file was cut, edited or lost.
    """
    notebook, record = places(root, page)
    if not record.is_file() and not notebook.is_file():
        return None
    try:
        text = notebook.read_text(encoding="utf-8")
        known = json.loads(record.read_text(encoding="utf-8"))
        if known["sha256"] != hashlib.sha256(text.encode()).hexdigest():
            raise ValueError("the notebook is not the one that was stored")
        stored = {str(name): str(state) for name, state in known["facts"].items()}
        return Execution(text, stored, float(known["seconds"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{type(error).__name__}: {error}") from error


def reasons(root: Path, page: str) -> list[str]:
    """Say why a page has to be executed; nothing if its stored execution is as good as a new one.

    A damaged execution is such a reason.
    """
    try:
        stored = load(root, page)
    except Damaged as damage:
        return [f"its stored execution is damaged ({damage})"]
    if stored is None:
        return ["it was not executed before"]
    return difference(stored.facts, facts(root, source(root, page), stored.facts))


def seconds(root: Path, page: str) -> float:
    """Return how long a page took the last time; more than any other if that is not known."""
    try:
        stored = load(root, page)
    except Damaged:
        stored = None
    return stored.seconds if stored else inf


def measures_time(root: Path, page: str) -> bool:
    """Whether a page times something, which another page must not slow down."""
    return any("perf_counter" in cell.source for cell in source(root, page).cells)


def refresh(root: Path, pages: Sequence[str], jobs: int) -> list[str]:
    """Execute the pages that need it, the longest first, and keep each that went well.

    Pages that measure time come last, one by one.

    Returns
    -------
    list of str
        What went wrong.
    """
    why = {page: found for page in pages if (found := reasons(root, page))}
    if not why:
        print(f"Nothing that the {len(pages)} notebooks depend on has changed.", flush=True)
        return []
    print(f"Executing {len(why)} of {len(pages)} notebooks, {jobs} at a time:", flush=True)
    for page, found in why.items():
        more = f" and {len(found) - 1} more" if found[1:] else ""
        print(f"  {page}: {found[0]}{more}", flush=True)
    compile_by_content(root)
    problems: list[str] = []
    ended = count(1)

    async def execute(page: str) -> None:
        begin = perf_counter()
        try:
            await execute_and_store(root, page)
            how = "executed"
        except (Failed, OSError, ValueError) as error:
            problems.append(f"{page}: {error}")
            how = "FAILED"
        time = perf_counter() - begin
        print(f"  {next(ended)} of {len(why)}: {page} {how}, {time:.0f} s", flush=True)

    longest_first = sorted(why, key=lambda page: seconds(root, page), reverse=True)
    alone = [page for page in longest_first if measures_time(root, page)]
    finish(several_at_once(execute, [page for page in longest_first if page not in alone], jobs))
    finish(several_at_once(execute, alone, 1))
    return problems


async def execute_and_store(root: Path, page: str) -> None:
    """Execute a page; keep the result only if nothing it depends on changed meanwhile.

    Raises
    ------
    Failed
        If something changed, or a cell did what it must not do.
    """
    begin = perf_counter()
    notebook = source(root, page)
    before = facts(root, notebook)
    read = await run(notebook, (root / page).parent, root)
    after = facts(root, source(root, page), {name for name, _ in read})
    seen = [*before.items(), *read]
    known = {name for name, _ in seen}
    old = {name: state for name, state in seen if after.get(name) != state}
    new = {name: state for name, state in after.items() if name in old or name not in known}
    if old or new:
        changed = "; ".join(difference(old, new))
        raise Failed(f"its result is not kept, since while it ran {changed}")
    store(root, page, Execution(nbformat.writes(notebook), after, perf_counter() - begin))


def with_outputs(root: Path, page: str, notebook: NotebookNode) -> NotebookNode:
    """Put the stored outputs of a page into its notebook.

    Raises
    ------
    Damaged
        If there are none, or they are those of other code.
    """
    stored = load(root, page)
    if stored is None:
        raise Damaged("it was not executed")
    executed = nbformat.reads(stored.text, as_version=4)
    ours, theirs = ([c for c in n.cells if c.cell_type == "code"] for n in (notebook, executed))
    if [cell.source for cell in ours] != [cell.source for cell in theirs]:
        raise Damaged("its code cells are not those that were executed")
    for cell, done in zip(ours, theirs, strict=True):
        cell.outputs, cell.execution_count = done.outputs, done.execution_count
    notebook.metadata = {**executed.metadata, **notebook.metadata}
    return notebook


def show_outputs(app: Sphinx, docname: str, content: list[str]) -> None:
    """Give Sphinx the text of a notebook with its stored outputs."""
    if Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    notebook = nbformat.reads(content[0], as_version=4)
    try:
        content[0] = nbformat.writes(with_outputs(Path(app.srcdir), docname, notebook))
    except Damaged as damage:
        message = f"{docname}: {damage}; build the book with tools/build_book.py"
        raise ExtensionError(message) from damage


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the job, before others that change what Sphinx reads."""
    app.connect("source-read", show_outputs, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
