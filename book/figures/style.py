"""The look of the book's pages: the style of a notebook's figures, and tables of cells."""

import re
from collections.abc import Iterable, Sequence

import matplotlib as mpl
from IPython import get_ipython
from IPython.display import Markdown

from mlbook.plots import STYLE

__all__ = ["book_style", "table"]

# What a cell may hold and the page must not read as HTML: a `<` that opens a tag.
# Code, formulas and line breaks are matched first, and kept.
KEPT_OR_TAG = re.compile(r"(`[^`]*`|\$(?!\s)[^$]*(?<!\s)\$(?!\d)|<br>)|<(?=[A-Za-z/!?])")


def book_style() -> None:
    """Give all figures of a notebook the book's look, drawn as SVG: sharp on any screen.

    Examples
    --------
    >>> book_style()
    >>> mpl.rcParams["image.cmap"]
    'cividis'
    """
    mpl.rcParams.update(STYLE)
    shell = get_ipython()
    if shell is not None:
        shell.run_line_magic("matplotlib", "inline")
        shell.run_line_magic("config", "InlineBackend.figure_formats = ['svg']")
        undated = "{'bbox_inches': None, 'metadata': {'Date': None}}"
        shell.run_line_magic("config", f"InlineBackend.print_figure_kwargs = {undated}")


def table(header: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> Markdown:
    """Show rows as a table, on a page and in a notebook; a mean stays with its spread.

    Cells are Markdown: bold, links, `code`, $formulas$ and <br> work, other HTML is shown as
    it is written. The note, also Markdown, stands below the table.

    Examples
    --------
    >>> print(table(["n", "loss"], [(3, 0.5), ("<b>", "a < b<br>**c**")]).data)
    | n | loss |
    | --- | --- |
    | 3 | 0.5 |
    | &lt;b> | a < b<br>**c** |
    """
    lines = [header, ["---"] * len(header), *rows]
    text = "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)
    text += f"\n\n{note}" if note else ""
    return Markdown(text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"))


def _cell(content: object) -> str:
    """Write a cell so that it opens no HTML tag but <br>."""
    return KEPT_OR_TAG.sub(lambda match: match[1] or "&lt;", str(content))
