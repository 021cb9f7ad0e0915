"""Tables of the papers' numbers beside ours: the verdict stands after the name, with a sign.

A notebook writes it last, with its reason (book/reproduction/verdicts.py); a phone shows the first
columns. The sign says what the colour says.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from book.reproduction.verdicts import OTHER_DATA, VERDICTS

SIGNS = dict(zip(VERDICTS, "✓≈✗", strict=True))
OTHERS = (*OTHER_DATA.values(), "one run", "not run", "missing")


def put_verdicts_first(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Move the last column of such a table to the second place, and mark its words."""
    for table in doctree.findall(nodes.table):
        rows = list(table.findall(nodes.row))
        if len(rows[0]) < 3 or rows[0][-1].astext() != "verdict":
            continue
        for row in rows:
            row.insert(1, row.pop())
            mark(row[1])


def mark(cell: nodes.entry) -> None:
    """Give the verdict at the beginning of a cell its sign and its class."""
    text = next(iter(cell.findall(nodes.Text)), None)
    word, colon, reason = (text or "").partition(":")
    if text is not None and word in (*SIGNS, *OTHERS):
        said = f"{SIGNS.get(word, '·')}\N{NO-BREAK SPACE}{word}"
        classes = ["mlbook-verdict", f"mlbook-{nodes.make_id(word)}"]
        parts = [nodes.inline("", said, classes=classes), nodes.Text(colon + reason)]
        text.parent.replace(text, parts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the job."""
    app.connect("doctree-resolved", put_verdicts_first)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
