"""Check that every chapter teaches: goals, exercises, a quiz, and a time that is not invented.

Every page that is a notebook opens alike: a title and what it is about, then, at once, something
to see. The code that a reader need not see stands folded below it.

python tools/lessons.py    minutes of study by chapter, and what is missing; exit 1 if anything
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import claims
import nbformat
import notebooks
import setup_cell
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDED = "hide-cell"
GRADES = ("★ easy", "★★ medium", "★★★ hard")
MOST_MINUTES = 60
# Chapters that lack some of what `still_lacks` finds. A test fails if one of them lacks none of it:
# take it off the list.
NOT_YET = {
    "comparison",
    "scale",
}
PARTS = {
    "learning goals": r"\{admonition\} What you will learn\n:class: tip\n\n(- .+\n(  .+\n)*){3,}",
    "prerequisites": r"\*You need:\* \S",
    "a time to read": r"\*Time:\* about \d+ minutes",
    "a summary": r"^## Summary\n\n- ",
    "a quiz": r"^## Check yourself$(?s:.*)^quiz\(",
    "references": r"^## References\n\n- ",
    "further reading": r"^## Further reading\n\n- ",
}


def lessons() -> list[Path]:
    """Return the chapters that teach a method: those of three parts of the table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    parts = [p for p in toc["parts"] if p["caption"] in {"The methods", "Choosing", "At scale"}]
    return [ROOT / f"{chapter['file']}.ipynb" for p in parts for chapter in p["chapters"]]


def reading_minutes(path: Path) -> float:
    """Return how long it takes to study the chapter at `path`, up to its exercises.

    120 words a minute, 5 seconds for a formula in the text, a minute for one of its own,
    half a minute for a cell, a minute for a figure and two for an explorer. Nobody reads the
    setup and the imports, and few unfold a claim. What is folded does not count: the chapter can
    be understood without it.
    """
    minutes = 0.0
    for cell in nbformat.read(path, as_version=4).cells:
        before, exercises, _ = cell.source.partition("## Exercises\n")
        if cell.cell_type == "markdown":
            text, displayed = re.subn(r"\$\$.*?\$\$", " ", unfolded(before), flags=re.DOTALL)
            text, inline = re.subn(r"\$[^$]+\$", " ", text)
            words = len(re.findall(r"[^\W\d_]{2,}", text))
            minutes += words / 120 + displayed + inline / 12
        elif re.search(r"^explore\(", cell.source, re.MULTILINE):
            minutes += 2
        elif not {FOLDED, claims.TAG, setup_cell.TAG} & _tags(cell):
            minutes += 1 if "hide-input" in _tags(cell) else 0.5
        if exercises:
            break
    return minutes


def unfolded(text: str) -> str:
    """Return a text without its folded blocks: `{dropdown}` and whatever has that class."""
    kept: list[str] = []
    lines = iter(text.splitlines(keepends=True))
    for line in lines:
        fence = re.match(r"(`{3,}|:{3,})\{([\w:-]+)\}", line)
        if fence is None:
            kept.append(line)
            continue
        block = [line]
        for inner in lines:
            block.append(inner)
            if re.fullmatch(rf"{fence[1][0]}{{{len(fence[1])},}}\s*", inner):
                break
        options = re.match(r"(:[\w-]+:.*\n)+|---\n(?s:.*?)\n---\n", "".join(block[1:]))
        folds = re.search(r"class:.*\b(dropdown|toggle)\b", options[0] if options else "")
        if fence[2] != "dropdown" and not folds:
            inside = unfolded("".join(block[1:-1]))
            kept += [block[0], inside, block[-1] if len(block) > 1 else ""]
    return "".join(kept)


def lacks(path: Path) -> list[str]:
    """Return what a reader of the chapter at `path` would miss."""
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join("[code]\n" * (cell.cell_type == "code") + cell.source for cell in cells)
    missing = [name for name, part in PARTS.items() if not re.search(part, text, re.MULTILINE)]
    if said := re.search(r"\*Time:\* about (\d+) minutes", text):
        minutes = reading_minutes(path)
        if abs(int(said[1]) - minutes) > 0.15 * minutes:
            missing.append(f"a time near {minutes:.0f} minutes (it says {said[1]})")
    if not _shows_picture(_shown(cells)[0]):
        missing.append("a picture that comes before all other code")
    return missing + opening_lacks(path) + _exercises_lack(text) + _reading_lacks(text)


def still_lacks(path: Path) -> list[str]:
    """Return what the chapter at `path` lacks of the rules that not all chapters keep yet."""
    cells = nbformat.read(path, as_version=4).cells
    text, code = (
        "\n".join(cell.source for cell in cells if cell.cell_type == kind)
        for kind in ("markdown", "code")
    )
    missing = []
    minutes = reading_minutes(path)
    if minutes > MOST_MINUTES + 0.5:
        missing.append(f"an end within {MOST_MINUTES} minutes (it takes {minutes:.0f})")
    exercises = set(re.findall(r"^:label: (\S+)", text, re.MULTILINE))
    checked = set(re.findall(r"^ *check\(\s*\"([^\"]+)\"", code, re.MULTILINE)) & exercises
    asked = set(re.findall(r"^`{3,}\{answer\} (\S+)", text, re.MULTILINE)) & exercises
    if len(checked) < 3:
        missing.append(f"3 exercises that check themselves (there are {len(checked)})")
    if len(asked) < 2:
        missing.append(f"2 exercises that ask for a number (there are {len(asked)})")
    return missing


def opening_lacks(path: Path) -> list[str]:
    """Return what is wrong with the first cells of a notebook: its setup and its imports."""
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    missing = []
    if cells[0].cell_type != "markdown" or not cells[0].source.startswith("# "):
        missing.append("a title in its first cell")
    extras = "notebook,reproduce,scale" if _imports(code, "dask") else "notebook,reproduce"
    setup = setup_cell.SOURCE.replace("notebook,reproduce", extras)
    if (
        code[0].get("id") != setup_cell.ID
        or setup_cell.with_address(code[0].source, "") != setup
        or _tags(code[0]) != {setup_cell.TAG}
    ):
        missing.append("the setup cell, not shown, as its first code (tools/setup_cell.py)")
    first = code.index(_shown(cells)[0])
    for position, cell in enumerate(code[1:], start=1):
        if _only_imports(cell.source) and (FOLDED not in _tags(cell) or position < first):
            missing.append(f"imports that are folded ({FOLDED}) and below what it shows first")
    return missing


def _tags(cell: nbformat.NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def _shown(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Return the code cells of which a reader sees something."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    return [cell for cell in code if not {FOLDED, setup_cell.TAG} & _tags(cell)]


def _shows_picture(cell: nbformat.NotebookNode) -> bool:
    return "figure" in cell.metadata.get("mystnb", {}) and "hide-input" in _tags(cell)


def _only_imports(source: str) -> bool:
    """Say if a cell imports, and at most sets the style of the figures."""
    try:
        statements = ast.parse(source.replace("book_style()", "")).body
    except SyntaxError:  # a magic
        return False
    return all(isinstance(statement, ast.Import | ast.ImportFrom) for statement in statements)


def _imports(code: list[nbformat.NotebookNode], package: str) -> bool:
    pattern = rf"^(import|from) {package}\b"
    return any(re.search(pattern, cell.source, re.MULTILINE) for cell in code)


def _exercises_lack(text: str) -> list[str]:
    """Return what is wrong with the exercises: number, grades, solutions that run."""
    found = re.findall(r"^```\{exercise-start\} (.+)\n:label: (\S+)", text, re.MULTILINE)
    missing = [] if 5 <= len(found) <= 8 else [f"5 to 8 exercises (there are {len(found)})"]
    grades = [title.partition(" · ")[2] for title, _ in found]
    for grade, (_, label) in zip(grades, found, strict=True):
        if grade not in GRADES:
            missing.append(f"a grade of exercise {label}: one of {', '.join(GRADES)}")
        start = rf"^```\{{solution-start\}} {re.escape(label)}\n:class: dropdown$(.*?)"
        solution = re.search(start + r"^```\{solution-end\}", text, re.MULTILINE | re.DOTALL)
        if solution is None or "[code]" not in solution[1]:
            missing.append(f"a folded solution of exercise {label} with a cell that runs")
    if not {GRADES[0], GRADES[-1]} <= set(grades):
        missing.append("an easy and a hard exercise")
    return missing


def _reading_lacks(text: str) -> list[str]:
    """Return what is wrong with the further reading: three to six works, each with a reason."""
    items = re.split(r"^- ", text.partition("## Further reading\n\n")[2], flags=re.MULTILINE)[1:]
    missing = [] if 3 <= len(items) <= 6 else [f"3 to 6 works to read (there are {len(items)})"]
    for item in items:
        cited = re.match(r"\{cite:t\}`\w+`: (.+)", item, re.DOTALL)
        if cited is None or len(cited[1].split()) < 6:
            missing.append(f"a reason to read {item[:40]!r}")
    return missing


def main() -> int:
    found = {path: lacks(path) for path in lessons()}
    still = {path: still_lacks(path) for path in found}
    wrong = [path for path in found if (path.stem in NOT_YET) != bool(still[path])]
    for path, missing in found.items():
        print(f"{path.stem}: {reading_minutes(path):.0f} minutes")
        print("".join(f"  lacks {part}\n" for part in missing), end="")
        word = "still lacks" if path.stem in NOT_YET else "lacks"
        print("".join(f"  {word} {part}\n" for part in still[path]), end="")
        if path.stem in NOT_YET and not still[path]:
            print("  lacks nothing more: take it off the list NOT_YET")
    others = {p: opening_lacks(p) for p in notebooks.chapters() if p not in found}
    for path, missing in others.items():
        print("".join(f"{path.stem} lacks {part}\n" for part in missing), end="")
    return int(any(found.values()) or any(others.values()) or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
