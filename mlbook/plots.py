"""Drawing results: colours that survive colour blindness, a marker for each.

`plot_partition`, `plot_metric`, `plot_segments` and `plot_path` draw what the methods return, on
axes of yours or on new ones, and return the axes.

Colours are those of Okabe and Ito; every cluster also has its own marker, so that no figure
depends on colour alone. Matplotlib is imported when a figure is made.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mlbook._optional import need
from mlbook._validation import (
    as_array,
    as_floats,
    check_classes,
    check_integer,
    check_integer_labels,
    check_matrix,
    check_number,
    metric_factor,
)
from mlbook.price_paths import PricePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLORS",
    "INK",
    "MARKERS",
    "STYLE",
    "plot_metric",
    "plot_partition",
    "plot_path",
    "plot_segments",
    "scatter",
    "show_matrix",
    "subplots",
]

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
    rows = check_integer(rows, "rows", least=1)
    columns = check_integer(columns, "columns", least=1)
    height, width = (
        check_number(side, name, above=0, most=1000)
        for name, side in (("height", height), ("width", width))
    )
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
    points: Any = check_matrix(X, input_name="X", ensure_min_features=2, dtype=np.float64)
    found = check_integer_labels(labels, "labels", least=-1, n=len(points))
    for c in np.unique(found):
        x, y = points[found == c, :2].T
        color, marker = COLORS[c % len(COLORS)], MARKERS[c % len(MARKERS)]
        ax.scatter(x, y, s=22, alpha=0.8, linewidths=0, color=color, marker=marker)
    if centers is not None:
        x, y = check_matrix(centers, input_name="centers", ensure_min_features=2, dtype=np.float64)[
            :, :2
        ].T
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
    matrix: Any = check_matrix(A, input_name="A", dtype=np.float64)
    ax.imshow(matrix, cmap="Blues", vmin=0, vmax=1.4 * matrix.max())
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)


def plot_partition(
    X: ArrayLike,
    labels: ArrayLike,
    truth: ArrayLike | None = None,
    ax: "Axes | None" = None,
    *,
    columns: tuple[int, int] = (0, 1),
) -> "Axes":
    """Draw a partition of points: the colour says the cluster found, the marker the true class.

    Parameters
    ----------
    X : array-like of shape (n, d), d >= 2
        The points.
    labels : array-like of n labels
        Cluster found for each point.
    truth : array-like of n labels, optional
        True class of each point, named in a legend; default: markers follow the clusters too.
    ax : Axes, optional
        Where to draw; default: new axes.
    columns : pair of int, default=(0, 1)
        Columns of X to draw, the one to the right and the one upwards.

    Returns
    -------
    Axes
        The axes. There are eight colours and markers; after that they begin again.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]]
    >>> ax = plot_partition(X, labels=[0, 0, 1, 1], truth=["a", "b", "b", "b"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    points: Any = check_matrix(X, input_name="X", ensure_min_features=2, dtype=np.float64)
    plane = points[:, _columns(columns, points.shape[1])]
    found = _codes(labels, "labels", len(points))[1]
    ax = _axes(ax)
    if truth is None:
        scatter(ax, plane, found)
        return ax
    classes, true = _codes(truth, "truth", len(points))
    for c, name in enumerate(classes):
        here = true == c
        colors = [COLORS[k % len(COLORS)] for k in found[here]]
        marker = MARKERS[c % len(MARKERS)]
        x, y = plane[here].T
        ax.scatter(x, y, s=22, alpha=0.8, linewidths=0, c=colors, marker=marker)
        ax.plot([], [], marker, color=INK, label=str(name))
    ax.legend(title="true class")
    return ax


def plot_metric(
    M: ArrayLike,
    ax: "Axes | None" = None,
    *,
    centre: ArrayLike = (0.0, 0.0),
    radius: float = 1.0,
    columns: tuple[int, int] = (0, 1),
    color: str = INK,
) -> "Axes":
    """Draw the points at one distance from a centre, for a metric xᵀMx: an ellipse.

    It is narrow where differences count much.

    Parameters
    ----------
    M : array-like of shape (d, d), d >= 2
        Symmetric positive semidefinite matrix.
    ax : Axes, optional
        Where to draw; default: new axes.
    centre : array-like of 2 numbers, default=(0, 0)
        Centre of the ellipse.
    radius : float, default=1.0
        The distance.
    columns : pair of int, default=(0, 1)
        The two features to draw, right and upwards. With more than two, the ellipse is that of
        differences in these two alone.
    color : str, default=`INK`
        Colour of the line.

    Returns
    -------
    Axes
        The axes. If one direction does not count at all, the ellipse is two parallel lines.

    Raises
    ------
    ValueError
        If an input is not as described, or neither feature counts.

    Examples
    --------
    >>> ax = plot_metric([[1.0, 0.0], [0.0, 4.0]])
    >>> x, y = ax.lines[0].get_data()
    >>> print(x.max().round(3), y.max().round(3))
    1.0 0.5
    """
    matrix = as_array(M, "M")
    if matrix.ndim != 2 or len(matrix) < 2:
        raise ValueError(f"M must be a matrix of at least two features; got shape {matrix.shape}")
    pair = _columns(columns, len(matrix))
    L = metric_factor(matrix, len(matrix))[pair]
    middle = as_floats(centre, "centre")
    if middle.shape != (2,) or not np.isfinite(middle).all():
        raise ValueError(f"centre must be two finite numbers; got {centre!r}")
    radius = check_number(radius, "radius", above=0)
    axis, values, _ = np.linalg.svd(L)
    if not values[0] > 0:
        raise ValueError(f"M must not be zero for the columns {pair}")
    ax = _axes(ax)
    if len(values) == 2 and values[1] > 1e-8 * values[0]:
        angle = np.linspace(0, 2 * np.pi, 181)
        circle = radius * np.array([np.cos(angle), np.sin(angle)]) / values[:, None]
        ax.plot(*(middle[:, None] + axis @ circle), color=color)
    else:
        for side in (-1, 1):
            start = middle + side * radius * axis[:, 0] / values[0]
            ax.axline(tuple(start), tuple(start + axis[:, 1] / values[0]), color=color)
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def plot_segments(
    X: ArrayLike,
    labels: ArrayLike,
    truth: ArrayLike | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a series with the boundaries of its segments, those found and the true ones.

    Parameters
    ----------
    X : array-like of shape (n,) or (n, d)
        The series, in order; each column is a line.
    labels : array-like of n labels
        Segment found for each point. A boundary is where the label changes.
    truth : array-like of n labels, optional
        True segment of each point.
    ax : Axes, optional
        Where to draw; default: new axes.

    Returns
    -------
    Axes
        The axes. Boundaries found are thin dark lines, true ones broad grey lines; a boundary
        in front of point t is drawn at t − 1/2.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> ax = plot_segments([0.0, 0.1, 5.0, 5.1], labels=[0, 0, 1, 1], truth=[0, 1, 1, 1])
    >>> [(line.get_label(), float(line.get_xdata()[0])) for line in ax.lines[1:]]
    [('found', 1.5), ('true', 0.5)]
    """
    series: Any = check_matrix(X, input_name="X", ensure_2d=False, dtype=np.float64)
    if series.ndim not in (1, 2):
        raise ValueError(f"X must have one or two dimensions; got shape {series.shape}")
    found = _codes(labels, "labels", len(series))[1]
    ax = _axes(ax)
    ax.plot(series, linewidth=1)
    _boundaries(ax, found, "found", color=INK, linewidth=1.5)
    if truth is not None:
        true = _codes(truth, "truth", len(series))[1]
        _boundaries(ax, true, "true", color=COLORS[6], linewidth=6, alpha=0.5, zorder=1)
    if len(ax.lines) > (1 if series.ndim == 1 else series.shape[1]):
        ax.legend(title="boundaries")
    return ax


def plot_path(path: PricePath, ax: "Axes | None" = None) -> "Axes":
    """Draw the number of clusters or segments against the price, the longest plateau bold.

    Parameters
    ----------
    path : ExemplarPath, SegmentationPath or other PricePath
        What `exemplar_path` or `segmentation_path` returned.
    ax : Axes, optional
        Where to draw; default: new axes.

    Returns
    -------
    Axes
        The axes, the price on a log scale. A plateau without a finite end is drawn to one and a
        half times, or two thirds, of the nearest end.

    Raises
    ------
    ValueError
        If the path has no plateau with a finite end.

    Examples
    --------
    >>> from mlbook import segmentation_path
    >>> ax = plot_path(segmentation_path([[0.0], [1.0], [5.0], [6.0]], max_segments=3))
    >>> print(ax.lines[1].get_xydata())
    [[ 0.5  2. ]
     [25.   2. ]]
    """
    if not isinstance(path, PricePath):
        raise ValueError(f"path must be a PricePath; got {path!r:.200}")
    ends = np.append(path.low, path.high)
    ends = ends[np.isfinite(ends) & (ends > 0)]
    if not len(ends):
        raise ValueError(f"path must have a plateau with a finite end; got {path!r}")
    ticker = need("matplotlib.ticker", project="matplotlib", extra="notebook")
    low = np.where(path.low > 0, path.low, ends.min() / 1.5)
    high = np.where(np.isfinite(path.high), path.high, ends.max() * 1.5)
    ax = _axes(ax)
    steps = np.column_stack([high, low]).ravel()
    ax.plot(steps, np.repeat(path.counts, 2), color=COLORS[0], linewidth=1.5)
    plateau = path.longest
    if plateau:
        i = int(np.searchsorted(path.counts, plateau.count))
        name = f"longest plateau: {plateau.count}"
        ax.plot([low[i], high[i]], [plateau.count] * 2, color=COLORS[1], linewidth=5, label=name)
        ax.legend()
    ax.set(xscale="log", xlabel="price", ylabel=f"number of {path.what}")
    ax.yaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    return ax


def _axes(ax: "Axes | None") -> "Axes":
    """Return the axes given, or new ones that pyplot shows."""
    if ax is not None:
        return ax
    mpl = need("matplotlib", project="matplotlib", extra="notebook")
    from matplotlib import pyplot as plt

    with mpl.rc_context(STYLE):
        return plt.subplots()[1]


def _boundaries(ax: "Axes", codes: np.ndarray, name: str, **style: Any) -> None:
    """Draw a vertical line wherever the codes change, with one entry in the legend."""
    for t in np.flatnonzero(np.diff(codes)):
        ax.axvline(t + 0.5, label=name, **style)
        name = "_"


def _columns(columns: tuple[int, int], d: int) -> list[int]:
    """Check a pair of column numbers."""
    if np.shape(columns) != (2,):
        raise ValueError(f"columns must be two column numbers; got {columns!r}")
    return [check_integer(column, "columns", least=0, most=d - 1) for column in columns]


def _codes(labels: ArrayLike, name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the different labels, in order, and the position of each point's label in them."""
    array = check_classes(labels, name)
    if array.shape != (n,):
        raise ValueError(
            f"{name} must hold one label for each of {n} points; got shape {array.shape}"
        )
    return np.unique(array, return_inverse=True)
