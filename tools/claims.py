"""Check how the claims of the notebooks are written; that they hold is checked by running them.

A cell that claims is tagged ``claim``, which no other cell is, and shows nothing else. The text
is a string in the call, found once in the book. The condition is computed. A sentence that names
a cause also says what happens without it (``gone``).

    python tools/claims.py    claims by page, and what is wrong with them; exit 1 if anything
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import notebooks

TAG = "claim"
CAUSE = r"\b(because|caused?|causes|due to|owing to|the reason|thanks to)\b"


def calls(source: str) -> list[ast.Call]:
    """Return the calls of claim in the source of a cell."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic
        return []
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in found if isinstance(call.func, ast.Name) and call.func.id == "claim"]


def text(call: ast.Call) -> str | None:
    """Return what a call claims, None if that is not written in it."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def claims(path: Path) -> Iterator[tuple[nbformat.NotebookNode, list[ast.Call]]]:
    """Yield the code cells of a notebook with the claims they make."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            yield cell, calls(cell.source)


def problems(path: Path) -> Iterator[str]:
    """Say what is wrong with the claims of a notebook."""
    for cell, made in claims(path):
        where = f"{path.name}, cell {cell.id}"
        tags = cell.metadata.get("tags", [])
        if bool(made) != (TAG in tags):
            yield f"{where}: a cell is tagged {TAG} if and only if it claims"
        elif made and set(tags) != {TAG}:
            yield f"{where}: a cell that claims has no other tag; its code is not shown"
        for call in made:
            said = text(call)
            if said is None:
                yield f"{where}: what is claimed must be a string in the call"
                continue
            if "$" in said or "\\" in said:
                yield f"{where}: write {said!r} without TeX"
            if len(call.args) != 2 or isinstance(call.args[1], ast.Constant):
                yield f"{where}: the condition of {said!r} must be computed"
            named = {keyword.arg for keyword in call.keywords}
            if re.search(CAUSE, said, re.IGNORECASE) and "gone" not in named:
                yield f"{where}: {said!r} names a cause; say with gone= what happens without it"


def texts(path: Path) -> list[str]:
    """List what a notebook claims."""
    return [said for _, made in claims(path) for call in made if (said := text(call))]


def main() -> int:
    found: list[str] = []
    where: dict[str, str] = {}
    for path in notebooks.chapters():
        found += problems(path)
        said = texts(path)
        print(f"{path.relative_to(notebooks.BOOK).with_suffix('')}: {len(said)}")
        for sentence in said:
            if sentence in where:
                found.append(f"{path.name}: {sentence!r} is also claimed in {where[sentence]}")
            where[sentence] = path.name
    print(f"{len(where)} claims")
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
