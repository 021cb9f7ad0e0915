"""Places a reader can link to: each has a name of its own, and a link to itself that shows.

Sphinx gives headings and figures a permalink, the claims have theirs (`claim_pages`); here
theorems and exercises get one. The names that sphinx_proof and sphinx_exercise give to every box
alike are taken away; classes take their place in the style sheet.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

REPEATED = {"proof", "proof-content", "exercise-content", "solution-content"}
KINDS = {"proof": "theorem", "exercise": "exercise"}  # by the class of the box


def drop_repeated_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Take the names away that stand on a page more than once."""
    for node in doctree.findall(nodes.Element):
        if not REPEATED.isdisjoint(node.get("ids", ())):
            node["classes"] += [f"mlbook-{name}" for name in node["ids"] if name == "proof"]
            node["ids"] = [name for name in node["ids"] if name not in REPEATED]


def add_permalinks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put a link to itself after the title of every theorem and exercise."""
    for box in doctree.findall(nodes.Admonition):
        kind = next((KINDS[name] for name in box["classes"] if name in KINDS), None)
        if kind and box["ids"] and isinstance(box[0], nodes.title):
            said = f"Link to this {kind}"
            box[0] += nodes.reference(
                "", "#", refid=box["ids"][0], internal=True, reftitle=said, classes=["headerlink"]
            )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect both jobs, after the titles are written."""
    app.connect("doctree-resolved", drop_repeated_names)
    app.connect("doctree-resolved", add_permalinks, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
