"""The look of the book's pages: the style of a notebook's figures, and tables of cells."""

import re
from collections.abc import Iterable, Sequence

import matplotlib as mpl
from IPython import get_ipython
from IPython.display import Markdown

from mlbook.plots import STYLE

__all__ = ["book_style", "power_of_ten", "scientific", "table"]

TAG = "<(?=[A-Za-z/!?])"  # what opens a tag
COMPUTED = r"(?<![\w.`])(\d(?:\.\d+)?)e([+-]\d+)(?![\w.`])"  # a number as Python prints it


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

    Cells are Markdown: bold, links and `code` work, HTML is shown as it is written; in code a
    space is put between "<" and a letter. The note, also Markdown, stands below the table.

    Examples
    --------
    >>> print(table(["n", "loss"], [(3, 0.5), ("<b>", "a < b **c**")]).data)
    | n | loss |
    | --- | --- |
    | 3 | 0.5 |
    | &lt;b> | a < b **c** |
    """
    lines = [header, ["---"] * len(header), *rows]
    text = "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)
    text += f"\n\n{note}" if note else ""
    return Markdown(text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"))


def _cell(content: object) -> str:
    """Write a cell so that it opens no HTML tag and stays one cell."""
    text = re.sub(COMPUTED, _written, " ".join(str(content).splitlines()))
    text = re.sub("`[^`]*`", lambda code: re.sub(TAG, "< ", code[0]), text)
    return re.sub(r"(?<!\\)\|", r"\\|", re.sub(TAG, "&lt;", text))


def _written(number: re.Match[str]) -> str:
    """Write 7e+03 as 7,000, 6e-02 as 0.06, 4e-31 as 4·10⁻³¹ and 1e-06 as 10⁻⁶."""
    digits, exponent = number[1], int(number[2])
    if 0 <= exponent <= 6:
        return f"{round(float(number[0])):,}"
    if -3 <= exponent < 0:
        return f"{float(number[0]):.{len(digits.partition('.')[2]) - exponent}f}"
    power = power_of_ten(exponent)
    return power if digits == "1" else f"{digits}·{power}"


def power_of_ten(exponent: int) -> str:
    """Write a power of ten.

    Examples
    --------
    >>> power_of_ten(9), power_of_ten(-14)
    ('10⁹', '10⁻¹⁴')
    """
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def scientific(number: float) -> str:
    """Write a positive number with one digit and a power of ten.

    Examples
    --------
    >>> scientific(3.2e-14)
    '3·10⁻¹⁴'
    """
    digit, exponent = f"{number:.0e}".split("e")
    return f"{digit}·{power_of_ten(int(exponent))}"
