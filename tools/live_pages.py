"""Live figures on the pages: their scripts and style, on pages that have one, and a directive.

A page with a live figure (book/live) loads core.js, the script of each of its figures, wake.js and
live.css, all from the book's own folder. ``{live} NAME`` shows a figure on a Markdown page; in a
notebook a cell ``live.NAME(...)`` does.
"""

from __future__ import annotations

import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.figures.kmeans import two_metrics
from book.live.figure import HERE, figures, markup

FOLDER = "live"  # in _static
PICTURE = "two_metrics.png"  # what other sites show beside a link to the book
DATA = re.compile(r'<figure class="mlbook-live[ "][^>]*data-live="(\w+)"')


class Live(SphinxDirective):
    """``{live} NAME``: a live figure in its first state."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw it."""
        name = self.arguments[0]
        if name not in figures():
            raise self.error(f"live must name one of {figures()}, got {name!r}")
        for path in HERE.glob("*.py"):
            self.env.note_dependency(str(path))
        html = markup(name, import_module(f"book.live.{name}").first_state())
        return [nodes.raw("", html, format="html")]


def shown(doctree: nodes.document) -> list[str]:
    """Return the names of the live figures of a page, each once."""
    found = [name for node in doctree.findall(nodes.raw) for name in DATA.findall(node.astext())]
    return list(dict.fromkeys(found))


def load_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Let a page with live figures load what wakes them, in order and after the page is read."""
    names = shown(doctree) if doctree is not None else []
    if names:
        app.add_css_file(f"{FOLDER}/live.css")
        for name in ("core", *names, "wake"):
            app.add_js_file(f"{FOLDER}/{name}.js", loading_method="defer")


def copy_files(app: Sphinx) -> None:
    """Put scripts, style and picture where pages look for them; before they are written."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    folder = static / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*HERE.glob("*.js"), *HERE.glob("*.css")]:
        if path.stem != "widget":
            shutil.copy(path, folder)
    two_metrics().savefig(static / PICTURE, dpi=200)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the jobs."""
    app.add_directive("live", Live)
    app.connect("builder-inited", copy_files)
    app.connect("html-page-context", load_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
