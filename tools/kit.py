"""Make the lecturer's kit in _build/kit: `make kit` builds the book, then calls this.

    students/   chapters without solutions
    sheets/     exercises without solutions
    solutions/  the same exercises with solutions
    slides/     a page of slides for each chapter
    print/      a PDF of each chapter, of its sheet with and without solutions, of the whole book

PDFs need Chromium or Chrome; without it all the rest is made.

    python tools/kit.py [notebooks] [slides] [print]
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

import kit_print
import nbformat
import setup_cell
import yaml
from kit_notebooks import exercises, missing_names, relink, with_solutions, without_solutions
from kit_slides import make_slides
from repository import repository_url

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("notebooks", "slides", "print")


def chapters(root: Path) -> list[str]:
    """Return the names of the notebooks that have exercises."""
    found = sorted((root / "book").glob("*.ipynb"))
    return [p.stem for p in found if exercises(nbformat.read(p, as_version=4))]


def settings(root: Path) -> dict[str, Any]:
    """Return the settings of the book."""
    found: dict[str, Any] = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return found


def site_address(root: Path) -> str:
    """Return where the book is read, with a slash at its end; "" if that is not known."""
    address = settings(root).get("html", {}).get("baseurl") or ""
    return f"{address.rstrip('/')}/" if address else ""


def in_book(root: Path) -> list[str]:
    """Return the pages of the book in its order."""
    from sphinx_external_toc.parsing import parse_toc_yaml

    return list(parse_toc_yaml(root / "_toc.yml"))


def make_notebooks(root: Path, target: Path) -> None:
    """Write the notebooks of all chapters.

    Raises
    ------
    ValueError
        If a student's notebook would need a solution to run.
    """
    names, address = chapters(root), site_address(root)
    repository = repository_url(root)
    for name in names:
        chapter = nbformat.read(root / "book" / f"{name}.ipynb", as_version=4)
        solved = with_solutions(chapter)
        made = {
            "students": without_solutions(chapter),
            "sheets": without_solutions(solved),
            "solutions": solved,
        }
        for kind, notebook in made.items():
            if missing := missing_names(chapter, notebook):
                raise ValueError(f"{kind}/{name} uses what only a solution defines: {missing}")
            relink(notebook, address, names)
            if repository:
                setup_cell.fill(notebook, repository)
            path = target / kind / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)


def make_prints(root: Path, target: Path) -> None:
    """Print all that is printed, if there is a browser."""
    program, about = kit_print.browser(), settings(root)
    if program is None:
        print("No PDFs: neither Chromium nor Chrome is installed.", flush=True)
        return
    html = root / "_build" / "html"
    pages = [page for page in in_book(root) if (html / f"{page}.html").is_file()]
    kit_print.make_prints(
        program, html, target, chapters(root), pages,
        site_address(root), about["title"], about["author"],
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Make the parts that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all if none is named")
    parser.add_argument("--root", type=Path, default=ROOT, help="folder with _config.yml")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    parts, target = options.parts or PARTS, root / "_build" / "kit"
    if set(parts) == set(PARTS):
        shutil.rmtree(target, ignore_errors=True)
    if "notebooks" in parts:
        make_notebooks(root, target)
    if "slides" in parts:
        pages = [f"book/{name}" for name in chapters(root)]
        make_slides(root / "_build" / "html", target / "slides", pages, site_address(root))
    if "print" in parts:
        make_prints(root, target)
    print(f"The kit is in {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
