"""Quizzes on the pages: the placeholders that their cells left are filled from book/quizzes.

A question is read when its page is written, long after the notebook ran. So another word in a
question executes nothing again.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from math_core import LatexError
from math_pages import in_html
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from book.quizzes.form import Place, Quiz
from book.quizzes.reader import read


def fill_quizzes(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the forms in the places of the placeholders; a malformed file stops the build."""
    forms = {Place(p.stem)._repr_html_(): p for p in quiz_files(app)}
    for node in list(doctree.findall(nodes.raw)):
        path = forms.get(node.astext().strip())
        if path is not None:
            form = with_formulas(path)
            node.replace_self(nodes.raw("", form, format="html", classes=node["classes"]))


def with_formulas(path: Path) -> str:
    """Return the form of a file of questions; a formula that cannot be converted names the file."""
    try:
        return in_html(Quiz(read(path))._repr_html_())
    except LatexError as error:
        raise ExtensionError(f"{path.name}: formula: {error}") from error


def quiz_files(app: Sphinx) -> list[Path]:
    """Return the files of all quizzes."""
    return sorted((Path(app.srcdir) / "book" / "quizzes").glob("*.yml"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the job."""
    app.connect("doctree-resolved", fill_quizzes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
