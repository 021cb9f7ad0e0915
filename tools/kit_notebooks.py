"""Chapters for students: without solutions; sheets of exercises; solutions apart.

In a chapter a solution stands between two lines, ``{solution-start}`` and ``{solution-end}``, with
cells between them. A sheet brings along those cells of its chapter that its code needs.
"""

from __future__ import annotations

import ast
import copy
import re
import symtable
from collections.abc import Iterable, Iterator
from itertools import groupby

import setup_cell
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

START = re.compile(r"^(`{3,}|:{3,})\{solution-start\}")
END = re.compile(r"^(`{3,}|:{3,})\{solution-end\}")
FENCE = re.compile(r"^(`{3,}|:{3,})\s*$")
WHOLE = re.compile(r"^(`{3,}|:{3,})\{solution\}", re.M)
EXERCISE = re.compile(r"^(?:`{3,}|:{3,})\{exercise-start\}\s*(.*)$", re.M)
SECTION = re.compile(r"^(?=## )", re.M)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)\.(ipynb|md)(#[^)\s]*)?\)")


def solution_lines(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, list[str], list[str]]]:
    """Yield each cell, its lines outside of solutions and those in them.

    A code cell is all outside or all in a solution.

    Raises
    ------
    ValueError
        If a solution ends that has not begun, or the other way round.
    """
    inside = False
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            lines = cell.source.splitlines()
            yield cell, [] if inside else lines, lines if inside else []
            continue
        if WHOLE.search(cell.source):
            raise ValueError(f"cell {cell.id}: write solution-start and solution-end")
        kept: list[str] = []
        cut: list[str] = []
        closing = False  # the line that ends the end of a solution is to come
        for line in cell.source.splitlines():
            starts, ends = bool(START.match(line)), bool(END.match(line))
            if (starts and inside) or (ends and not inside):
                raise ValueError(f"cell {cell.id}: {line!r} has no partner")
            (cut if inside or starts or closing else kept).append(line)
            inside = starts or (inside and not ends)
            closing = ends or (closing and not FENCE.match(line))
        yield cell, kept, cut
    if inside:
        raise ValueError("the last solution has no end")


def without_solutions(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without its solutions."""
    found = copy.deepcopy(notebook)
    cells = []
    for cell, kept, cut in solution_lines(found):
        if cut:
            cell.source = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")
        if cell.source.strip() or not cut:
            cells.append(cell)
    found.cells = cells
    return found


def solution_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of the solutions."""
    return [cell for cell, _, cut in solution_lines(notebook) if cut and cell.cell_type == "code"]


def exercises(notebook: NotebookNode) -> list[str]:
    """Return the titles of the exercises."""
    return [title for cell in notebook.cells for title in EXERCISE.findall(cell.source)]


def with_solutions(notebook: NotebookNode) -> NotebookNode:
    """Return the exercises of a chapter with their solutions, and the code that these need."""
    chapter = copy.deepcopy(notebook)
    title = next(re.findall(r"^# (.+)$", cell.source, re.M) for cell in chapter.cells)[0]
    parts = groupby(in_sections(chapter.cells), lambda cell: cell.metadata.pop("section"))
    sections = {name: list(cells) for name, cells in parts}
    names = list(sections)
    asked = [name for name in names if any(EXERCISE.search(c.source) for c in sections[name])]
    shown = [cell for name in asked for cell in sections[name]]
    earlier = [cell for name in names[: names.index(asked[0])] for cell in sections[name]]
    chapter.cells = [
        new_markdown_cell(f"# Exercises: {title}", id="title"),
        *needed_before([c for c in earlier if c.cell_type == "code"], shown),
        *shown,
    ]
    return chapter


def in_sections(cells: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield cells cut where a section starts, each with its section's heading in its metadata."""
    section = ""
    for cell in cells:
        pieces = SECTION.split(cell.source) if cell.cell_type == "markdown" else [cell.source]
        for number, piece in enumerate(pieces):
            if not piece.strip():
                continue
            part = copy.deepcopy(cell)
            if cell.cell_type == "markdown" and piece.startswith("## "):
                section = piece.splitlines()[0]
            part.id = f"{cell.id}-{number}"[:64] if number else cell.id
            part.source, part.metadata["section"] = piece.strip("\n"), section
            yield part


def needed_before(earlier: list[NotebookNode], shown: list[NotebookNode]) -> list[NotebookNode]:
    """Return those cells that define what later ones use; the setup cell always."""
    needed: set[str] = set()
    chosen = []
    for cell in reversed([*earlier, *(c for c in shown if c.cell_type == "code")]):
        defined, changed, used = names(cell.source)
        later = cell not in earlier
        if later or cell.id == setup_cell.ID or needed & (defined | changed):
            needed = needed - defined | used
            chosen += [] if later else [cell]
    return chosen[::-1]


def missing_names(chapter: NotebookNode, student: NotebookNode) -> list[str]:
    """Say which names the student's notebook uses that only a solution of the chapter defines."""
    in_chapter = {name for cell in code_cells(chapter) for name in names(cell.source)[0]}
    defined: set[str] = set()
    found = []
    for cell in code_cells(student):
        found += [f"{cell.id}: {n}" for n in sorted(names(cell.source)[2] & in_chapter - defined)]
        defined |= names(cell.source)[0]
    return found


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the cells of code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def names(source: str) -> tuple[set[str], set[str], set[str]]:
    """Return the names that a cell defines, that it changes, and that it uses from before.

    Examples
    --------
    >>> [sorted(found) for found in names("y = x + 1; z[0] = [y for t in w]")]
    [['y'], ['z'], ['w', 'x', 'z']]
    """
    defined: set[str] = set()
    changed: set[str] = set()
    used: set[str] = set()
    for statement in in_order(ast.parse(TransformerManager().transform_cell(source)).body):
        stores, loads = of_statement(statement)
        used |= loads - defined
        defined |= stores
        changed |= changes(statement)
    return defined, changed - defined, used


def in_order(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements one after the other, those in loops and branches after their head."""
    for statement in body:
        if not isinstance(statement, ast.For | ast.While | ast.If | ast.With | ast.Try):
            yield statement
            continue
        head = copy.copy(statement)
        inside = [
            part for name in ("body", "orelse", "finalbody") for part in getattr(head, name, [])
        ]
        inside += [part for handler in getattr(head, "handlers", []) for part in handler.body]
        for name in ("orelse", "finalbody", "handlers"):
            if hasattr(head, name):
                setattr(head, name, [])
        head.body = [ast.Pass()]
        if not isinstance(head, ast.Try):
            yield head
        yield from in_order(inside)


def of_statement(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the global names that a statement defines and uses, those in its functions too."""
    top = symtable.symtable(ast.unparse(ast.fix_missing_locations(statement)), "cell", "exec")
    stores = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    loads = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    inner = list(top.get_children())
    while inner:
        table = inner.pop()
        inner += table.get_children()
        loads |= {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    if isinstance(statement, ast.AugAssign):
        loads |= stores
    return stores, loads


def changes(statement: ast.stmt) -> set[str]:
    """Return the names of what a statement changes in place."""
    found = set()
    for node in ast.walk(statement):
        place: ast.expr | None = None
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            place = node.value
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Attribute) and called.attr in ("append", "extend", "fit"):
                place = called.value
        while isinstance(place, ast.Subscript | ast.Attribute):
            place = place.value
        if isinstance(place, ast.Name):
            found.add(place.id)
    return found


def relink(notebook: NotebookNode, address: str, present: Iterable[str]) -> None:
    """Let links lead to the site, if its address is known; else to notebooks in the same folder.

    A link that would lead nowhere becomes plain text.
    """
    there = set(present)

    def link(found: re.Match[str]) -> str:
        text, page, kind, place = found[1], found[2], found[3], found[4] or ""
        if kind == "ipynb" and page in there:
            return f"[{text}]({page}.ipynb)"
        return f"[{text}]({address}book/{page}.html{place})" if address else text

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(link, cell.source)
