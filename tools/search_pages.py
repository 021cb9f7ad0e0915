"""What the search of the built book knows: the text of every section, in one script.

A script is read from a folder as well as from a server, where a browser would not let the page of
the search read other pages. `book/_static/search.js` searches it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

DATA = "search_data.js"
LISTS = ("book/claims", "book/errata", "book/equations", "book/news", "book/dependencies")
LAST = "book/api/"  # shown after the lists, which are shown after the pages that explain
ASIDE = (
    "script, style, svg, button, .headerlink, .eqno, .cell_input, details.hide, "
    ".mlbook-claims, .mlbook-embed"
)


class Section(NamedTuple):
    """A part of a page under one heading."""

    name: str
    heading: str
    text: str


def sections(article: Tag) -> list[Section]:
    """Cut the article of a page at its headings; text above the first one has none."""
    for each in article.select(ASIDE):
        each.decompose()
    for each in article.select("math, code, pre"):
        each.replace_with(each.get_text())
    found: list[Section] = []
    for part in article.select("section[id]") or [article]:
        heading = part.find(["h1", "h2", "h3", "h4"], recursive=False)
        words = []
        for child in part.children:
            if getattr(child, "name", "") == "section" or child is heading:
                continue
            words.append(child.get_text(" ") if isinstance(child, Tag) else str(child))
        title = heading.get_text(" ") if heading else ""
        found.append(Section(str(part.get("id", "")), _plain(title), _plain(" ".join(words))))
    return found


def _plain(text: str) -> str:
    return re.sub(r" (?=[.,;:!?)])", "", re.sub(r"\s+", " ", text)).strip()


def write_data(app: Sphinx, error: Exception | None) -> None:
    """Write what can be found, in the order of the table of contents."""
    if error or app.builder.format != "html":
        return
    pages = []
    order = {page: i for i, page in enumerate(_order(app))}
    for page in sorted(app.env.found_docs, key=lambda page: order.get(page, len(order))):
        file = Path(app.outdir) / f"{page}.html"
        soup = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
        article = soup.select_one("article.bd-article")
        if article is not None:
            cut = sections(article)
            title = next((s.heading for s in cut if s.heading), page)
            rank = 2 if page.startswith(LAST) else int(page in LISTS)
            pages.append([f"{page}.html", title, rank, [list(s) for s in cut]])
    text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
    target = Path(app.outdir) / "_static" / DATA
    target.write_text(f"globalThis.mlbookPages={text};\n", encoding="utf-8")


def _order(app: Sphinx) -> list[str]:
    """List the pages as the table of contents has them."""
    children = app.env.toctree_includes
    found: list[str] = []
    todo = [app.config.root_doc]
    while todo:
        page = todo.pop(0)
        found.append(page)
        todo = [*children.get(page, []), *todo]
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the job, after all pages are written."""
    app.connect("build-finished", write_data)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
