"""Claims on the pages: a small mark that unfolds to the check, and the page that lists them all.

A cell tagged ``claim`` (book/claims.py) leaves its claims as data in its outputs. On a page its
code is not shown; the mark holds it.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any
from zlib import crc32

import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.highlighting import PygmentsBridge
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from book.claims import FEWEST_SEEDS, MIME, Claim

LOGGER = logging.getLogger(__name__)
TAG = "claim"
Found = dict[str, list[Claim]]  # by page


class claim_table(nodes.General, nodes.Element):
    """Stands for the claims of a page until all pages are read."""


class Claims(SphinxDirective):
    """``{claims} PAGE``: the claims of a page; without a page, how many there are in all."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave a placeholder."""
        return [claim_table("", page=(self.arguments or [""])[0])]


def claims_of(cell: NotebookNode) -> list[Claim]:
    """Return the claims in the outputs of a cell."""
    found = [o["data"][MIME] for o in cell.get("outputs", []) if MIME in o.get("data", {})]
    return [Claim(**{**made, "stored": tuple(made["stored"])}) for made in found]


def anchor(claim: Claim) -> str:
    """Return the name of its place on the page."""
    words = nodes.make_id(claim.text)[:40].strip("-")
    return f"claim-{words}-{crc32(claim.text.encode()):08x}"


def mark(claims: list[Claim], code: str) -> str:
    """Return the mark of a cell as HTML."""
    listed = "".join(
        f'<li id="{anchor(claim)}">{escape(claim.text)} '
        f'<span class="mlbook-how">{escape(claim.how)}.</span>'
        f'<a class="headerlink" href="#{anchor(claim)}" title="Link to this claim">#</a></li>'
        for claim in claims
    )
    said = "Checked" if len(claims) == 1 else f"{len(claims)} claims checked"
    shown = PygmentsBridge("html").highlight_block(code, "python")
    return (
        f'<details class="mlbook-claims"><summary>✓ {said}</summary>'
        f"<ul>{listed}</ul>{shown}</details>"
    )


def show_marks(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put marks in the places of the cells that claim; write down what the page claims.

    Cells below each other share a mark.
    """
    if Path(app.env.doc2path(docname)).suffix != ".ipynb":
        return
    notebook = nbformat.reads(content[0], as_version=4)
    found = []
    for claiming, group in groupby(notebook.cells, lambda c: TAG in c.metadata.get("tags", [])):
        first, *others = cells = list(group)
        if not claiming:
            continue
        claims = [claim for cell in cells for claim in claims_of(cell)]
        found += claims
        first.metadata.tags = [*first.metadata.tags, "remove-input"]
        data = {"text/html": mark(claims, "\n\n".join(cell.source for cell in cells))}
        first.outputs = [nbformat.v4.new_output("display_data", data)]
        for cell in others:
            cell.metadata.tags = [*cell.metadata.tags, "remove-cell"]
    if found:
        all_claims(app.env)[docname] = found
        content[0] = nbformat.writes(notebook)


def all_claims(env: BuildEnvironment) -> Found:
    """Return what was found so far."""
    found: Found = env.__dict__.setdefault("mlbook_claims", {})
    return found


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop the claims of a page that is read again."""
    all_claims(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: Any, other: BuildEnvironment) -> None:
    """Take over what another process found."""
    all_claims(env).update(all_claims(other))


def fill_claims(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the claims in the places of the placeholders; warn of a page that none lists."""
    places = list(doctree.findall(claim_table))
    if not places:
        return
    found = all_claims(app.env)
    for page in found.keys() ^ {place["page"] for place in places if place["page"]}:
        LOGGER.warning("%s claims something and is not listed in %s, or the reverse", page, docname)
    for place in places:
        page = place["page"]
        if page:
            address = app.builder.get_relative_uri(docname, page)
            place.replace_self(listing(found.get(page, []), address))
        else:
            text = summary([claim for claims in found.values() for claim in claims])
            place.replace_self(nodes.paragraph("", text))


def summary(claims: list[Claim]) -> str:
    """Say how many claims were checked in which way."""
    random = sum(claim.seeds is not None for claim in claims)
    stored = sum(bool(claim.stored) for claim in claims)
    cause = sum(claim.cause for claim in claims)
    return (
        f"There are {len(claims)} claims. Of these, {random} are about random data and were "
        f"checked with at least {FEWEST_SEEDS} seeds while the book was built; {stored} are read "
        "from stored results; the others hold in every case that is named. "
        f"{cause} name a cause: their checks also take the cause away and see the effect go."
    )


def listing(claims: list[Claim], address: str) -> nodes.table:
    """Return the claims of the page at an address as a table."""

    def row(*cells: nodes.Node) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))

    group = nodes.tgroup("", cols=3)
    group += [nodes.colspec(colwidth=width) for width in (46, 34, 20)]
    group += nodes.thead("", row(*map(nodes.Text, ("Claim", "Checked on", "Number"))))
    body = nodes.tbody("")
    for claim in claims:
        place = f"{address}#{anchor(claim)}"
        link = nodes.reference("", claim.text, refuri=place, internal=True)
        body += row(link, nodes.Text(claim.basis), nodes.Text(claim.number))
    group += body
    return nodes.table("", group, classes=["mlbook-claim-list", "colwidths-given"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the directive and the jobs; marks are set after the outputs are there."""
    app.add_node(claim_table)
    app.add_directive("claims", Claims)
    app.connect("source-read", show_marks, priority=200)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-resolved", fill_claims)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
