"""Explorers on the pages: pictures, script and style as files, not in every page that shows them.

`mlbook.explore` makes a block of HTML that contains everything. Here its pictures become files
under ``_static/explore``, named by their content. A browser loads the first one with the page
and the others when the reader wants them. The script and the style are loaded once by the pages
that have an explorer.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from mlbook.explore.page import ASSETS, SCRIPT, STYLE

FOLDER = "_static/explore"
PICTURE = re.compile(r"data:image/(webp);base64,([A-Za-z0-9+/]+=*)")


def explorers(doctree: nodes.document) -> Iterator[nodes.raw]:
    """Yield the explorers of a page."""
    for node in list(doctree.findall(nodes.raw)):
        if '<figure class="mlbook-explore"' in node.astext():
            yield node


def with_files(block: str, folder: Path, address: str) -> str:
    """Return the HTML of an explorer whose pictures are files in a folder with that address."""
    folder.mkdir(parents=True, exist_ok=True)

    def store(found: re.Match[str]) -> str:
        picture = b64decode(found[2])
        name = f"{sha256(picture).hexdigest()[:16]}.{found[1]}"
        (folder / name).write_bytes(picture)
        return f"{address}/{name}"

    for ours, kind in ((SCRIPT, "script"), (STYLE, "style")):
        block = block.replace(f"<{kind}>{ours}</{kind}>", "")
    return PICTURE.sub(store, block)


def store_pictures(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the pictures of a page's explorers beside the pages."""
    if app.builder.format != "html":
        return
    address = relative_uri(app.builder.get_target_uri(docname), FOLDER)
    for node in explorers(doctree):
        block = with_files(node.astext(), Path(app.outdir) / FOLDER, address)
        node.replace_self(nodes.raw("", block, format="html", classes=node["classes"]))


def copy_assets(app: Sphinx) -> None:
    """Let Sphinx copy the script and the style to its other static files."""
    app.config.html_static_path.append(str(ASSETS))


def load_assets(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Let a page with explorers load their script and their style."""
    if doctree is not None and any(explorers(doctree)):
        app.add_js_file("explore.js", loading_method="defer")
        app.add_css_file("explore.css")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the jobs; other rooms read the HTML of a page after this one."""
    app.connect("builder-inited", copy_assets)
    app.connect("doctree-resolved", store_pictures, priority=400)
    app.connect("html-page-context", load_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
