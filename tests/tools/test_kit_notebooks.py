"""Chapters without solutions, sheets, and solutions apart."""

from pathlib import Path

import kit_notebooks as kit
import nbformat
import pytest
import setup_cell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = [
    path
    for path in sorted((ROOT / "book").glob("*.ipynb"))
    if "{exercise-start}" in path.read_text(encoding="utf-8")
]


def read(path):
    return nbformat.read(path, as_version=4)


def tags(notebook, tag):
    return [cell.id for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def solution_text(chapter):
    """The lines of all solutions and their lines of code, as long as they stand nowhere else."""
    cut, kept = set(), set()
    for _, outside, inside in kit.solution_lines(chapter):
        cut |= {line.strip() for line in inside if len(line.strip()) > 12}
        kept |= {line.strip() for line in outside}
    return cut - kept


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_no_line_of_a_solution_is_left_and_every_exercise_is(path):
    chapter = read(path)
    solutions = solution_text(chapter)
    assert len(solutions) > 10
    solved = kit.with_solutions(chapter)
    for notebook in (kit.without_solutions(chapter), kit.without_solutions(solved)):
        left = {line.strip() for cell in notebook.cells for line in cell.source.splitlines()}
        assert not solutions & left
        assert kit.solution_cells(notebook) == [] and "{solution" not in nbformat.writes(notebook)
        assert kit.exercises(notebook) == kit.exercises(chapter)
        assert [cell.id for cell in notebook.cells if cell.source.count("```") % 2] == []
    assert solutions <= {line.strip() for cell in solved.cells for line in cell.source.splitlines()}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_all_of_them_can_run(path):
    """No name is used that only a cell that was left out defines; claims and imports are there."""
    chapter = read(path)
    student, solved = kit.without_solutions(chapter), kit.with_solutions(chapter)
    for notebook in (student, solved, kit.without_solutions(solved)):
        nbformat.validate(notebook)
        assert kit.missing_names(chapter, notebook) == []
        assert setup_cell.ID in [cell.id for cell in notebook.cells]
    cut = {cell.id for cell in kit.solution_cells(chapter)}
    for tag in ("claim", "hide-cell"):
        assert tags(student, tag) == [name for name in tags(chapter, tag) if name not in cut]


SOLUTION = "```{solution-start} ex\n```\nBecause.", "```{solution-end}\n```\n\n## After"
ASKED = "# Title\n\n## Exercises\n\n```{exercise-start} Why?\n```\nWhy?\n```{exercise-end}\n```\n\n"


def chapter_of(*between):
    """A chapter of one exercise, with these cells in its solution."""
    first = new_markdown_cell(ASKED + SOLUTION[0], id="asked")
    return new_notebook(cells=[first, *between, new_markdown_cell(SOLUTION[1], id="after")])


def test_cells_and_lines_between_the_marks_are_cut():
    chapter = chapter_of(new_code_cell("x = 1", id="a"), new_markdown_cell("So.", id="b"))
    student = kit.without_solutions(chapter)
    assert [cell.id for cell in student.cells] == ["asked", "after"]
    assert student.cells[0].source.endswith("```{exercise-end}\n```")
    assert student.cells[1].source == "## After"
    assert [cell.id for cell in kit.solution_cells(chapter)] == ["a"]


@pytest.mark.parametrize(
    "cells, why",
    [
        (["```{solution-start} a\n```"], "no end"),
        (["```{solution-end}\n```"], "no partner"),
        (["```{solution-start} a\n```", "```{solution-start} b\n```"], "no partner"),
        (["```{solution} a\nBecause.\n```"], "solution-start"),
    ],
)
def test_a_solution_that_cannot_be_cut_is_refused(cells, why):
    notebook = new_notebook(cells=[new_markdown_cell(text) for text in cells])
    with pytest.raises(ValueError, match=why):
        kit.without_solutions(notebook)


def test_a_sheet_brings_what_its_code_needs_and_no_more():
    code = {
        "far": "import math", "unused": "z = 3", "old": "x = 1", "new": "x = math.pi\nx2 = [x]",
        "change": "x2[0] = 5",
    }  # fmt: skip
    earlier = [new_code_cell(source, id=name) for name, source in code.items()]
    first = new_markdown_cell("# Title", id="title-of-chapter")
    chapter = chapter_of(new_code_cell("print(x2)", id="a"))
    chapter.cells = [first, *earlier, *chapter.cells]
    chapter.cells[len(earlier) + 1].source = ASKED.removeprefix("# Title\n\n") + SOLUTION[0]
    sheet = kit.with_solutions(chapter)
    assert [cell.id for cell in sheet.cells if cell.cell_type == "code"] == [
        "far", "new", "change", "a",
    ]  # fmt: skip
    assert sheet.cells[0].source == "# Exercises: Title"
    assert "## After" not in nbformat.writes(sheet)


def test_a_name_that_only_a_solution_defines_is_found():
    chapter = chapter_of(new_code_cell("x = 1", id="a"))
    chapter.cells.append(new_code_cell("print(x)", id="later"))
    assert kit.missing_names(chapter, kit.without_solutions(chapter)) == ["later: x"]
    assert kit.missing_names(chapter, chapter) == []


@pytest.mark.parametrize(
    "source, defined, changed, used",
    [
        ("for i in range(n):\n    t = i\n    s += t", "i t s", "", "n range s"),
        ("def f(a):\n    return a + b", "f", "", "b"),
        ("with open(p) as g:\n    q = g", "g q", "", "open p"),
        ("y = [k for k in w]\ny[0] = 1", "y", "", "w"),
        ("m.fit(X)", "", "m", "m X"),
        ("if u:\n    v = 1\nelse:\n    v = o", "v", "", "u o"),
        ("try:\n    import a\nexcept E:\n    a = None", "a", "", ""),
    ],
)
def test_the_names_of_a_cell(source, defined, changed, used):
    found = kit.names(source)
    assert found[:2] == (set(defined.split()), set(changed.split()))
    assert found[2] == set(used.split())


def test_links_lead_to_the_site_or_to_a_notebook_that_is_there():
    def linked(address):
        text = "[a](mlca.ipynb#x), [b](teaching.md#y), [c](https://d.example), [e](#f)"
        notebook = new_notebook(cells=[new_markdown_cell(text)])
        kit.relink(notebook, address, ["mlca"])
        return notebook.cells[0].source

    rest = ", [c](https://d.example), [e](#f)"
    assert linked("") == "[a](mlca.ipynb), b" + rest
    assert linked("https://w.example/") == (
        "[a](mlca.ipynb), [b](https://w.example/book/teaching.html#y)" + rest
    )
