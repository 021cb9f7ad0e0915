"""The book's figures: one style, colours that survive colour blindness, a marker for each.

Colours are those of Okabe and Ito; every cluster also has its own marker, so that no figure
depends on colour alone.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from IPython import get_ipython
from IPython.display import Markdown
from matplotlib import rcsetup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

__all__ = ["COLORS", "INK", "MARKERS", "book_style", "scatter", "show_matrix", "subplots", "table"]

COLORS = ("#0072B2", "#D55E00", "#56B4E9", "#CC79A7", "#E69F00", "#009E73", "#7F7F7F", "#B8A800")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK = "#222222"

STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.prop_cycle": rcsetup.cycler(color=COLORS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.size": 12,
    "image.cmap": "cividis",
    "lines.linewidth": 2,
    "svg.hashsalt": "mlbook",
}


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


def subplots(
    rows: int = 1, columns: int = 1, *, height: float = 3.2, width: float = 5.6
) -> tuple[Figure, np.ndarray]:
    """Make a figure that pyplot does not keep, in the book's style, with a 2-d array of axes.

    Parameters
    ----------
    rows, columns : int
        The grid of axes.
    height, width : float
        Size of the whole figure in inches; 5.6 fills a phone's screen legibly.

    Returns
    -------
    Figure
        A figure that is closed by forgetting it.
    ndarray of Axes of shape (rows, columns)
        Its axes.

    Examples
    --------
    >>> figure, axes = subplots(1, 2)
    >>> axes.shape
    (1, 2)
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        return figure, figure.subplots(rows, columns, squeeze=False)


def scatter(ax: Axes, X: ArrayLike, labels: ArrayLike, centers: ArrayLike | None = None) -> None:
    """Draw the first two columns of X, a colour and a marker for each cluster.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    X : array-like of shape (n, d), d >= 2
        The points.
    labels : array-like of n integers
        Cluster of each point; label c takes colour and marker c, modulo their number.
    centers : array-like of shape (k, d), optional
        Points to mark with a cross.

    Examples
    --------
    >>> _, axes = subplots()
    >>> scatter(axes[0, 0], [[0, 0], [1, 1]], [0, 1])
    >>> len(axes[0, 0].collections)
    2
    """
    X, labels = np.asarray(X), np.asarray(labels)
    for c in np.unique(labels):
        x, y = X[labels == c, :2].T
        color, marker = COLORS[c % len(COLORS)], MARKERS[c % len(MARKERS)]
        ax.scatter(x, y, s=22, alpha=0.8, linewidths=0, color=color, marker=marker)
    if centers is not None:
        x, y = np.asarray(centers)[:, :2].T
        ax.scatter(x, y, s=90, c=INK, marker="x", linewidths=2)


def show_matrix(ax: Axes, A: ArrayLike) -> None:
    """Draw a non-negative matrix as a picture, zero white and its largest entry darkest.

    Examples
    --------
    >>> _, axes = subplots()
    >>> show_matrix(axes[0, 0], [[0.5, 0.5], [0, 1]])
    >>> axes[0, 0].images[0].get_array().shape
    (2, 2)
    """
    A = np.asarray(A)
    ax.imshow(A, cmap="Blues", vmin=0, vmax=1.4 * A.max())
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Markdown:
    """Show rows as a table, on a page and in a notebook; a mean stays with its spread.

    Examples
    --------
    >>> print(table(["n", "loss"], [(3, 0.5)]).data)
    | n | loss |
    | --- | --- |
    | 3 | 0.5 |
    """
    lines = [header, ["---"] * len(header), *rows]
    text = "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
    return Markdown(text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"))
