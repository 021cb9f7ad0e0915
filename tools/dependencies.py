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
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import reads
from nbformat import NotebookNode

HOUSES = ("book", "mlbook")
EXECUTION_TAGS = {"raises-exception", "skip-execution"}
Facts = dict[str, str]


class Import(NamedTuple):
    """``from module import name``; no name: ``import module``; two stars: all that is below."""

    module: str
    name: str = ""


class Code(NamedTuple):
    """What a piece of code imports, which names it passes on from elsewhere, and which it makes."""

    imports: list[Import]
    passed_on: dict[str, Import]
    made: set[str]

    def makes(self, name: str) -> bool:
        """Whether it, or Python, makes a name; a function ``__getattr__`` may make any."""
        return name in self.made or name.startswith("__") or "__getattr__" not in self.made


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
    }
    modules = closure([cell.source for cell in cells], root)
    names = {f"content {path.relative_to(root).as_posix()}" for path in modules}
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


def closure(cells: Iterable[str], root: Path) -> set[Path]:
    """Return the files of the repository that code cells import, directly or not.

    Imports are read, not run, also those inside functions. Where a package passes on a name from
    one of its modules, only that module is followed, so that neighbours do not count; the
    ``__init__`` of every package on the way does. What cannot be read counts as all there is.
    """
    todo = list(cell_imports(tuple(cells)))
    done: set[Import] = set()
    files: set[Path] = set()
    while todo:
        wanted = todo.pop()
        module, name = wanted
        if wanted in done or module.split(".")[0] not in HOUSES:
            continue
        done.add(wanted)
        files.update(packages_above(module, root))
        file = module_file(module, root)
        if file is None:
            if name:  # a folder without __init__.py
                todo.append(Import(f"{module}.{name}"))
            continue
        files.add(file)
        package = file.name == "__init__.py"
        code = read_code(file.read_bytes(), module if package else module.rpartition(".")[0])
        origin = code.passed_on.get(name, wanted)
        if name == "**":
            todo += everything(file.parent, root)
        elif not package or name in ("", "*"):
            todo += [*code.imports, *(code.passed_on.values() if name else ())]
        elif origin != wanted:
            todo.append(origin)
        elif module_file(f"{module}.{name}", root):
            todo.append(Import(f"{module}.{name}"))
        else:
            todo += code.imports if code.makes(name) else [Import(module, "**")]
    return files


@lru_cache(maxsize=100)
def cell_imports(cells: tuple[str, ...]) -> list[Import]:
    """List the imports of cells; those of a cell that is not Python are all there are."""
    parts = []
    for cell in cells:
        try:
            ast.parse(cell)
        except SyntaxError:
            cell = re.sub(r"^([ \t]*)(?:[\w, ]+= *)?[%!].*$", r"\1pass", cell, flags=re.M)
        parts.append(cell)
    return read_code("\n".join(parts).encode(), "").imports


@lru_cache(maxsize=1000)
def read_code(text: bytes, package: str) -> Code:
    """Find what a module of a package imports; all there is if it cannot be read."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return Code([Import(house, "**") for house in HOUSES], {}, set())
    nodes = list(ast.walk(tree))
    pairs = [pair for node in nodes for pair in import_statement(node, package)]
    imports = [wanted for _, wanted in pairs]
    modules = {bound: wanted.module for bound, wanted in pairs if not wanted.name}
    whole = {id(node): node.id for node in nodes if isinstance(node, ast.Name)}
    for node in nodes:  # mlbook.MLCA after import mlbook
        if isinstance(node, ast.Attribute) and id(node.value) in whole:
            name = whole.pop(id(node.value))
            imports += [Import(modules[name], node.attr)] if name in modules else []
    imports += [Import(modules[name], "*") for name in whole.values() if name in modules]
    passed_on = {b: wanted for node in tree.body for b, wanted in import_statement(node, package)}
    definitions = (ast.FunctionDef, ast.ClassDef)
    made = {node.name for node in tree.body if isinstance(node, definitions)}
    for node in tree.body:
        if not isinstance(node, definitions):
            names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
            made |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    if "__getattr__" in made:
        passed_on |= {name: Import(f"{package}.{room}", name) for room, name in tables(nodes)}
    return Code(imports, passed_on, made)


def import_statement(node: ast.AST, package: str) -> Iterator[tuple[str, Import]]:
    """Yield the names that a statement binds, and what it imports for them."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname is None:
                first = alias.name.split(".")[0]
                yield first, Import(first)
            yield alias.asname or alias.name, Import(alias.name)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
        module = ".".join([*above, *filter(None, [node.module])])
        for alias in node.names:
            yield alias.asname or alias.name, Import(module, alias.name)


def tables(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield rooms and their names from each table ``{"room": ("Name", ...)}`` in some code."""
    for node in nodes:
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                for name in getattr(value, "elts", []):
                    if isinstance(key, ast.Constant) and isinstance(name, ast.Constant):
                        yield str(key.value), str(name.value)


def module_file(module: str, root: Path) -> Path | None:
    """Return where a module of the repository is."""
    base = root.joinpath(*module.split("."))
    places = (base / "__init__.py", base.with_name(f"{base.name}.py"))
    return next((place for place in places if place.is_file()), None)


def packages_above(module: str, root: Path) -> Iterator[Path]:
    """Yield what Python runs before a module: the ``__init__`` of the packages around it."""
    folder = root
    for part in module.split(".")[:-1]:
        folder /= part
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"


def everything(folder: Path, root: Path) -> Iterator[Import]:
    """Yield every module below a folder of the repository."""
    for file in folder.rglob("*.py"):
        parts = file.relative_to(root).with_suffix("").parts
        yield Import(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
