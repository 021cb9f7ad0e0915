"""The tables of the page Equation index: where each item of a paper is derived, computed, tested.

What stands in them is found by tools/equations.py; here it becomes links. How many altered copies
of the functions the tests caught was found by tools/mutants.py, and stored.
"""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import groupby
from pathlib import Path
from typing import Any

import mutants
from docutils import nodes
from equations import Code, Entry, Index, Item, Section
from source_pages import source_page
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOGGER = logging.getLogger(__name__)


class equation_table(nodes.General, nodes.Element):
    """Stands for the index of a paper until all pages are read and can be linked to."""


class Equations(SphinxDirective):
    """``{equations} PAPER``: where what PAPER numbers is derived, computed and tested."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Leave a placeholder."""
        return [equation_table("", paper=self.arguments[0])]


class AlteredCopies(SphinxDirective):
    """``{altered-copies}``: how many altered copies of the functions there are, and were caught."""

    def run(self) -> list[nodes.Node]:
        """Put one sentence."""
        root = Path(self.env.srcdir)
        for file in (mutants.STORED, mutants.REASONS):
            self.env.note_dependency(str(root / file))
        sentence = mutants.summary(
            mutants.Result.read(root / mutants.STORED), mutants.reasons(root)
        )
        return [nodes.paragraph("", sentence)]


def fill_equations(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put tables made by tools/equations.py in the places of the placeholders."""
    places = list(doctree.findall(equation_table))
    if not places:
        return

    def alike(pair: tuple[Item, Entry]) -> list[Any]:
        """Key by which the steps of a proof share a row."""
        entry = pair[1]
        return [entry.without, entry.section, entry.function, entry.test]

    root = Path(app.srcdir)
    index, links = Index(root), Links(app, docname)
    caught = mutants.counts(index, mutants.Result.read(root / mutants.STORED), root)
    for place in places:
        listed = [pair for pair in index.entries.items() if pair[0].paper == place["paper"]]
        rows = []
        for _, group in groupby(listed, alike):
            pairs = list(group)
            entry = pairs[0][1]
            cells = {
                "item": [cell for pair in pairs for cell in links.item(*pair)],
                "section": [links.section(section) for section in entry.section],
                "function": [links.function(code) for code in entry.function],
                "test": [links.test(code) for code in entry.test],
            }
            said: set[str] = set()
            for part, reason in entry.without.items():
                cells[part].append(nodes.paragraph("", "—" if reason in said else reason))
                said.add(reason)
            if pairs[0][0] in caught:
                cells["test"].append(nodes.paragraph("", caught[pairs[0][0]]))
            rows.append(list(cells.values()))
        heads = ["In the paper", "Derived in", "Computed by", "Tested by"]
        place.replace_self(equation_rows(heads, rows))


class Links:
    """Paragraphs that link from a page to what the index names."""

    def __init__(self, app: Sphinx, docname: str) -> None:
        self.app, self.docname = app, docname
        self.objects = app.env.domaindata["py"]["objects"]

    def item(self, item: Item, entry: Entry) -> list[nodes.paragraph]:
        """Name and contents of an item; a second paragraph says where the paper errs."""
        name = nodes.strong("", item.name, ids=[nodes.make_id(str(item))])
        found = [nodes.paragraph("", "", name, nodes.Text(f" {entry.what}."))]
        if entry.note:
            found.append(nodes.paragraph("", "", nodes.emphasis("", entry.note)))
        return found

    def section(self, section: Section) -> nodes.paragraph:
        """Link to a heading of a chapter, by its position in the page."""
        headings = list(self.app.env.tocs[section.page].findall(nodes.reference))
        if section.number >= len(headings):
            LOGGER.warning("%s has no heading number %d", section.page, section.number)
            return nodes.paragraph("", section.name)
        heading = headings[section.number]
        numbers = self.app.env.toc_secnumbers.get(section.page, {}).get(heading["anchorname"], ())
        title = " ".join([".".join(map(str, numbers)), heading.astext()]).strip()
        return self.link(section.page, heading["anchorname"].lstrip("#"), nodes.Text(title))

    def function(self, code: Code) -> nodes.paragraph:
        """Link to the reference if the function is in it, else to its source."""
        public = public_name(code, self.objects)
        shown = breakable((public or code.name).removeprefix("mlbook."))
        if public is None:
            return self.source(code, shown)
        target = self.objects[public]
        return self.link(target.docname, target.node_id, shown)

    def test(self, code: Code) -> nodes.paragraph:
        """Name a test as pytest does."""
        return self.source(code, breakable(f"{Path(code.path).name}::{code.name}"))

    def source(self, code: Code, shown: nodes.Node) -> nodes.paragraph:
        """Link to the function or class in the page of its module's source."""
        module = ".".join(Path(code.path).with_suffix("").parts)
        anchor = code.name.removeprefix(f"{module}.").split(".")[0]
        return self.link(source_page(self.app, module, self.docname), anchor, shown)

    def link(self, page: str, anchor: str, shown: nodes.Node) -> nodes.paragraph:
        """Link to an anchor of a page of the book."""
        address = self.app.builder.get_relative_uri(self.docname, page) + f"#{anchor}"
        link = nodes.reference("", "", shown, refuri=address, internal=True)
        return nodes.paragraph("", "", link)


def public_name(code: Code, objects: Container[str]) -> str | None:
    """Return the name under which the reference has `code`, which a package may re-export."""
    module = [part for part in Path(code.path).with_suffix("").parts if part != "__init__"]
    own = code.name.split(".")[len(module) :]
    names = (".".join([*module[:depth], *own]) for depth in range(len(module), 0, -1))
    return next((name for name in names if name in objects), None)


def breakable(name: str) -> nodes.raw:
    """Set a name as code that may break after its parts; copied, it stays whole."""
    parts = re.sub(r"(?<=[_.:])(?=\w)|(?<=[a-z])(?=[A-Z])", "<wbr>", name)
    return nodes.raw("", f'<code class="docutils literal">{parts}</code>', format="html")


def equation_rows(heads: list[str], rows: list[list[list[nodes.paragraph]]]) -> nodes.table:
    """Lay out a table; mlbook.css puts its cells below each other on a phone."""

    def row(cells: list[list[nodes.paragraph]]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", *cell) for cell in cells))

    group = nodes.tgroup("", cols=len(heads))
    group += [nodes.colspec(colwidth=width) for width in (30, 20, 20, 30)]
    group += nodes.thead("", row([[nodes.paragraph("", head)] for head in heads]))
    group += nodes.tbody("", *(row(cells) for cells in rows))
    return nodes.table("", group, classes=["mlbook-equations", "colwidths-given"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the directive and what fills its places."""
    app.add_node(equation_table)
    app.add_directive("equations", Equations)
    app.add_directive("altered-copies", AlteredCopies)
    app.connect("doctree-resolved", fill_equations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
