"""Quizzes on the pages: the placeholders that their cells left are filled from book/quizzes.

A question is read when its page is written, long after the notebook ran. So another word in a
question executes nothing again.

``{answer} LABEL`` asks for a number: the answer of that exercise in the same files.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from math_core import LatexError
from math_pages import in_html
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from book.quizzes.form import Field, Place, Quiz
from book.quizzes.reader import Number, read, read_numbers


class Answer(SphinxDirective):
    """``{answer} LABEL``: a field for the number that is the answer of an exercise."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Show the question and the field."""
        label = self.arguments[0]
        known: dict[str, tuple[Path, Number]] = {}
        for path in quiz_files(self.env.app):
            known |= {name: (path, number) for name, number in read_numbers(path).items()}
        if label not in known:
            raise self.error(f"answer must be one of {sorted(known)}, got {label!r}")
        path, number = known[label]
        self.env.note_dependency(str(path))
        try:
            html = in_html(Field(number)._repr_html_())
        except LatexError as error:
            raise self.error(f"{path.name}, answer {label}: formula: {error}") from error
        return [nodes.raw("", html, format="html")]


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
    """Offer the directive and connect the job."""
    app.add_directive("answer", Answer)
    app.connect("doctree-resolved", fill_quizzes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
