"""Count lines of code: without docstrings, comments and blank lines.

python tools/code_lines.py [FOLDER ...]    lines of each module, and in all
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> int:
    """Return the number of lines of code in a module."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            text = node.body[0]
            lines.difference_update(range(text.lineno, (text.end_lineno or 0) + 1))
    return len(lines)


def main(folders: list[str]) -> None:
    total = 0
    for folder in folders or ["mlbook"]:
        for path in sorted((ROOT / folder).rglob("*.py")):
            count = code_lines(path.read_text())
            total += count
            print(f"{count:5} {path.relative_to(ROOT)}")
    print(f"{total:5} in all")


if __name__ == "__main__":
    main(sys.argv[1:])
