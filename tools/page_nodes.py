"""What docutils, MyST-NB and the theme write less well, for the eye and for those who hear a page.

The theme's own files are overridden by the templates in book/_templates.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput
from sphinx.application import Sphinx
from sphinx.util.images import get_image_size
from sphinx.writers.html5 import HTML5Translator


def keep_punctuation(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Tie a formula to the punctuation after it: a browser would break the line between them."""
    for formula in list(doctree.findall(nodes.math)):
        text = formula.next_node(descend=False, siblings=True)
        marks = re.match(r"[.,;:!?)\]]+", text) if isinstance(text, nodes.Text) else None
        if marks:
            parent, place = formula.parent, formula.parent.index(formula)
            tied = nodes.inline("", "", formula, nodes.Text(marks[0]), classes=["mlbook-together"])
            parent[place : place + 2] = [tied, nodes.Text(text[marks.end() :])]


def title_folded_proofs(app: Sphinx, doctree: nodes.document) -> None:
    """Give a proof that is folded a title, which has the button that opens it.

    Its first word is that title otherwise. The script of the buttons stops at a block without one.
    """
    for proof in doctree.findall(nodes.admonition):
        if {"proof", "dropdown"} <= set(proof["classes"]):
            first = proof.next_node(nodes.Text)
            first.parent.replace(first, nodes.Text(first.removeprefix("Proof. ")))
            proof.insert(0, nodes.title("", "Proof"))


def visit_entry(writer: HTML5Translator, node: nodes.entry) -> None:
    """Write the empty corner of a table as an ordinary cell: it heads nothing."""
    type(writer).visit_entry(writer, node)
    if isinstance(node.parent.parent, nodes.thead) and not node.astext():
        writer.body[-1] = "<td>"
        writer.context[-1] = "</td>\n"


def visit_citation(writer: HTML5Translator, node: nodes.citation) -> None:
    """Give the entries of the bibliography a role that the list around them may contain."""
    if not isinstance(node.previous_sibling(), nodes.citation):
        writer.body.append('<div role="list" class="citation-list">\n')
    writer.body.append(writer.starttag(node, "div", classes=["citation"], role="listitem"))


def visit_folded_cell(writer: HTML5Translator, node: HideCodeCellNode) -> None:
    """Open a folded cell; its button is named by its text, "Show code"."""
    writer.body.append(
        f'<details class="admonition hide {" ".join(node["classes"])}">\n<summary>\n'
        f'<p class="collapsed admonition-title">{escape(node["prompt_show"])}</p>\n'
        f'<p class="expanded admonition-title">{escape(node["prompt_hide"])}</p>\n</summary>\n'
    )


def visit_image(writer: HTML5Translator, node: nodes.image) -> None:
    """Write the size of a picture, so that nothing moves when it comes."""
    size = get_image_size(Path(writer.builder.srcdir) / node["uri"].lstrip("/"))
    type(writer).visit_image(writer, node)
    if size:
        sized = f'<img width="{size[0]}" height="{size[1]}" '
        writer.body[-1] = writer.body[-1].replace("<img ", sized, 1)


def name_arrows(app: Sphinx, page: str, template: str, context: dict[str, Any], _: Any) -> None:
    """Name the arrows in the side bar that unfold the pages of a part."""
    contents = context["generate_toctree_html"]

    def named(*arguments: Any, **options: Any) -> BeautifulSoup | str:
        soup = contents(*arguments, **options)
        for arrow in soup.select("summary:has(> .toctree-toggle)") if soup else ():
            arrow["aria-label"] = "Pages of this part"
        return soup

    context["generate_toctree_html"] = named


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the jobs; the theme sets the context of a page at the usual priority, 500."""
    app.connect("doctree-read", title_folded_proofs)
    app.connect("doctree-resolved", keep_punctuation)
    for node, visit, depart in (
        (nodes.entry, visit_entry, HTML5Translator.depart_entry),
        (nodes.image, visit_image, HTML5Translator.depart_image),
        (nodes.citation, visit_citation, HTML5Translator.depart_citation),
        (HideCodeCellNode, visit_folded_cell, depart_HideCellInput),
    ):
        app.add_node(node, override=True, html=(visit, depart))
    app.connect("html-page-context", name_arrows, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
