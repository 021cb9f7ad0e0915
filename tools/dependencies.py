"""What the numbers of a notebook depend on, as facts: a dictionary from a thing to its state.

Its code cells; the modules of the repository they import, directly or not; Python and the
packages; and what the notebook read when it ran (`reads`). Words around the code are no facts.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import reads
from nbformat import NotebookNode

from book.sources import HOUSES, closure

EXECUTION_TAGS = {"raises-exception", "skip-execution"}
Facts = dict[str, str]


def facts(root: Path, notebook: NotebookNode, read: Iterable[str] = ()) -> Facts:
    """Return the present state of all that a notebook depends on.

    Parameters
    ----------
    root : Path
        The repository.
    notebook : NotebookNode
        Its outputs and its text do not matter.
    read : iterable of str
        Names as in the result: further files, folders and questions that matter.

    Returns
    -------
    dict
        From ``"content PATH"``, ``"names FOLDER"``, ``"presence PATH"`` (paths from the root)
        and a few others to a short text that changes with the thing.
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    tags = [sorted(EXECUTION_TAGS & set(cell.metadata.get("tags", []))) for cell in cells]
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    code = [kernel, [[cell.source, *tag] for cell, tag in zip(cells, tags, strict=True)]]
    found = {
        "code cells": hashlib.sha256(json.dumps(code).encode()).hexdigest(),
        "Python": sys.version,
        "installed packages": installed(root),
        "MLBOOK_DATA": os.environ.get("MLBOOK_DATA", ""),
        "tools/execute.py": reads.content(str(Path(__file__).with_name("execute.py"))),
    }
    files = modules([cell.source for cell in cells], root)
    names = {f"content {file.relative_to(root).as_posix()}" for file in files}
    for name in sorted({*names, "content requirements.lock", *read}):
        kind, _, path = name.partition(" ")
        if kind in reads.KINDS:
            found[name] = reads.KINDS[kind](str(root / path))
    return found


def difference(old: Facts, new: Facts) -> list[str]:
    """Say in words where facts differ."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        kind, _, path = name.partition(" ")
        if before == after:
            continue
        if kind not in reads.KINDS:
            lines.append(f"{name} changed")
        elif kind == "names":
            lines.append(f"{path}: files were added or removed")
        elif after == reads.ABSENT:
            lines.append(f"{path} is gone")
        elif before == reads.ABSENT:
            lines.append(f"{path} is new")
        elif before is None or after is None:
            lines.append(f"{path} is {'now' if before is None else 'no longer'} imported")
        else:
            lines.append(f"{path} changed")
    return list(dict.fromkeys(lines))


@lru_cache
def installed(root: Path) -> str:
    """Hash the installed versions of the packages that the project names."""
    found = []
    for file in ("requirements.lock", "data/packages.txt"):
        text = (root / file).read_text() if (root / file).is_file() else ""
        for name in re.findall(r"^([\w.-]+)==", text, re.M):
            try:
                found.append(f"{name} {version(name)}")
            except PackageNotFoundError:
                found.append(f"{name} is not installed")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def modules(cells: Iterable[str], root: Path) -> set[Path]:
    """Return the files of the repository that code cells import, directly or not.

    The ``__init__`` of every package on the way is among them. If something cannot be read, it is
    all files there are.
    """
    place = root / "book" / "cells.py"

    def read(path: Path) -> bytes:
        return "\n".join(map(as_python, cells)).encode() if path == place else path.read_bytes()

    try:
        found = set(closure(place, root, read)) - {place}
    except SyntaxError:
        return {file for house in HOUSES for file in (root / house).rglob("*.py")}
    folders = {folder for file in found for folder in file.parents if folder.is_relative_to(root)}
    return found | {f / "__init__.py" for f in folders if (f / "__init__.py").is_file()}


def as_python(cell: str) -> str:
    """Drop the lines of a cell that are for IPython alone."""
    try:
        ast.parse(cell)
    except SyntaxError:
        cell = re.sub(r"^([ \t]*)(?:[\w, ]+= *)?[%!].*$", r"\1pass", cell, flags=re.M)
    return cell
