"""Drawing results: colours that survive colour blindness, a marker for each.

Colours are those of Okabe and Ito; every cluster also has its own marker, so that no figure
depends on colour alone. Matplotlib is imported when a figure is made.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mlbook._optional import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLORS", "INK", "MARKERS", "STYLE", "scatter", "show_matrix", "subplots"]

COLORS = ("#0072B2", "#D55E00", "#56B4E9", "#CC79A7", "#E69F00", "#009E73", "#7F7F7F", "#B8A800")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK = "#222222"

#: Matplotlib's settings for every figure; the cycle of colours as matplotlibrc files write it.
STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.prop_cycle": f"cycler(color={COLORS})",
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


def subplots(
    rows: int = 1, columns: int = 1, *, height: float = 3.2, width: float = 5.6
) -> "tuple[Figure, np.ndarray]":
    """Make a figure that pyplot does not keep, in the style of `STYLE`, with its axes.

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
    mpl = need("matplotlib", project="matplotlib", extra="notebook")
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        return figure, figure.subplots(rows, columns, squeeze=False)


def scatter(ax: "Axes", X: ArrayLike, labels: ArrayLike, centers: ArrayLike | None = None) -> None:
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


def show_matrix(ax: "Axes", A: ArrayLike) -> None:
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
