"""Formulas on the pages: MathML, written when the book is built.

A browser shows MathML itself, at once and without a script; a screen reader reads it. Equation
numbers and references to them stay Sphinx's. The font of the formulas is in book/_static/fonts.
A formula that cannot be converted fails the build, which says where it is.
"""

from __future__ import annotations

import re
from html import unescape

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

CONVERTER = LatexToMathML(fancy_error=False)
SIGN_IN_CELL = re.compile(r"(<mtd[^>]*>(?:<mspace[^>]*/>)?<mo)(?=>[+−±∓⋅])")


def mathml(tex: str, display: bool = False) -> str:
    r"""Return a formula as MathML.

    A formula that stands alone may have several lines: ``&`` and ``\\`` align them, as in
    Sphinx's own renderer. A sign that begins a cell there stands between two terms.

    Raises
    ------
    LatexError
        If the formula is no LaTeX, or none that MathML can say.

    Examples
    --------
    >>> mathml("x^2")
    '<math><msup><mi>x</mi><mn>2</mn></msup></math>'
    """
    if display and r"\\" in tex and r"\begin{" not in tex:
        tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
    converted = CONVERTER.convert_with_local_state(tex.strip(), displaystyle=display)
    return SIGN_IN_CELL.sub(r'\1 form="infix"', converted)


def in_html(html: str) -> str:
    r"""Convert the formulas in a piece of HTML, which stand between \( and \)."""
    return re.sub(r"\\\((.+?)\\\)", lambda found: mathml(unescape(found[1])), html)


def of_node(node: nodes.math | nodes.math_block, display: bool) -> str:
    """Return the formula of a node; one that cannot be converted is a warning with its place."""
    try:
        return mathml(node.astext(), display)
    except LatexError as error:
        message = f"formula: {error} {node.astext()!r:.200}"
        logging.getLogger(__name__).warning(message, location=node)
        return ""


def visit_math(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    writer.body.append(writer.starttag(node, "span", "", CLASS="math notranslate"))
    writer.body.append(f"{of_node(node, display=False)}</span>")
    raise nodes.SkipNode


def visit_math_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands alone, and its number."""
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(f'<div class="mlbook-formula">{of_node(node, display=True)}</div></div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer; _config.yml chooses it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
