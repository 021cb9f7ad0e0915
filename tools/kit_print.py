"""PDFs of the book: each chapter, its exercises with and without solutions, and the whole.

Chromium prints pages without scripts: an explorer or live figure shows its first state. What is
folded on a page and belongs to it, a proof, is printed; solutions, code that is folded, claims and
the right answers of quizzes are not. How it looks is in book/_static/mlbook.css.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from bs4 import Tag
from kit_pages import article, document, move, styles

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SOLUTIONS = "div.solution"
FOLDED = "details:not([open]), form.mlbook-answer > :not(label), .mlbook-claims, .tag_claim"
SECONDS = 600
PAPER = "<style>@page { size: A4 }</style>"


def browser() -> str | None:
    """Return the program that prints, None if there is none."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def prefix(page: str) -> str:
    """Return what stands before the names of a page in a book of all pages."""
    return re.sub(r"\W+", "-", page) + "--"


def printable(part: Tag, solutions: bool = False) -> Tag:
    """Take out of a part of a page what is not printed."""
    folded = FOLDED if solutions else f"{FOLDED}, {SOLUTIONS}"
    for tag in part.select(folded):
        if not tag.decomposed:
            tag.decompose()
    for tag in part.select("script, button, input[type=range]"):
        tag.decompose()
    return part


def exercises_only(whole: Tag) -> Tag:
    """Leave only the section of a chapter that has its exercises, and the chapter's title."""
    first = whole.select_one("div.exercise")
    section = first.find_parent("section") if first else None
    while section is not None and section.find("h2", recursive=False) is None:
        section = section.find_parent("section")
    title = whole.find("h1")
    if section is None or not isinstance(title, Tag):
        raise ValueError("a page without exercises")
    parts = [title.extract(), section.extract()]
    whole.clear()
    whole.extend(parts)
    return whole


def bound(html: Path, pages: Mapping[str, Tag], title: str, site: str, front: str = "") -> str:
    """Return a page of articles, to be printed: links between them stay in it."""
    files, inside = html.as_uri(), {page: prefix(page) for page in pages}
    heads = [f'<link rel="stylesheet" href="{files}/{each}" />' for each in styles(html)]
    body = []
    for page, part in pages.items():
        move(part, page, files, site, inside)
    there = {f"#{tag['id']}" for part in pages.values() for tag in part.find_all(id=True)}
    there |= {f"#{each}" for each in inside.values()}
    for page, part in pages.items():
        for tag in part.select('a[href^="#"]'):
            if tag["href"] not in there:
                tag.unwrap()
        body.append(
            f'<div class="bd-article-container mlbook-printed" id="{prefix(page)}">'
            f'<article class="bd-article">{part.decode_contents()}</article></div>'
        )
    main = f'<main class="bd-main"><div class="bd-content">{front}{"".join(body)}</div></main>'
    return document(escape(title), [*heads, PAPER], main, "mlbook-print")


def contents(pages: Mapping[str, Tag], title: str, author: str) -> str:
    """Return a title page and a list of pages."""
    listed = "".join(
        f'<li><a href="#{prefix(page)}">{heading.decode_contents()}</a></li>'
        for page, part in pages.items()
        if isinstance(heading := part.find("h1"), Tag)
    )
    return (
        f'<div class="mlbook-cover"><p class="mlbook-cover-title">{escape(title)}</p>'
        f"<p>{escape(author)}</p></div>"
        f'<div class="mlbook-contents"><p>Contents</p><ol>{listed}</ol></div>'
    )


def to_pdf(program: str, page: str, target: Path) -> None:
    """Let the browser print a page.

    Raises
    ------
    RuntimeError
        If it does not.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        source = Path(scratch) / "page.html"
        source.write_text(page, encoding="utf-8")
        options: Sequence[str] = (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-first-run",
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={scratch}/profile",
            "--no-pdf-header-footer", "--generate-pdf-document-outline", "--timeout=300000",
            f"--print-to-pdf={target}", source.as_uri(),
        )  # fmt: skip
        target.unlink(missing_ok=True)
        run = subprocess.run(
            [program, *options], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    if run.returncode or not target.is_file() or target.read_bytes()[:5] != b"%PDF-":
        raise RuntimeError(f"{program} did not print {target.name}: {run.stderr[-500:]}")


def make_prints(
    program: str, html: Path, target: Path, chapters: Sequence[str], book: Sequence[str],
    site: str, title: str, author: str,
) -> None:  # fmt: skip
    """Print each chapter, its sheet, its solutions, and the book."""
    for name in chapters:
        page = f"book/{name}"
        for kind, part in (
            ("print", printable(article(html, page))),
            ("sheets", exercises_only(printable(article(html, page)))),
            ("solutions", exercises_only(printable(article(html, page), solutions=True))),
        ):
            whole = bound(html, {page: part}, f"{title}: {name}", site)
            to_pdf(program, whole, target / kind / f"{name}.pdf")
    parts = {page: printable(article(html, page)) for page in book}
    front = contents(parts, title, author)
    to_pdf(program, bound(html, parts, title, site, front), target / "print" / "book.pdf")
