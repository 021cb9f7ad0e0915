"""The opening pictures of chapter 1: coins in a photograph, and the metric as its ellipse."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from scipy import ndimage
from skimage import data, filters, segmentation

from book.figures.names import name_after
from mlbook._arrays import Floats, Integers
from mlbook.kmeans import SpectralKMeans
from mlbook.mlca import MLCA
from mlbook.plots import COLORS, INK, MARKERS, plot_metric, subplots

__all__ = [
    "Coins",
    "coins",
    "four_pictures",
    "groups",
    "learned_metric",
    "marked_pixels",
    "two_ellipses",
]

STEP = 3  # of three pixels in a row one is kept
PLAIN, BRIGHTNESS = np.eye(2), np.diag([1.0, 0.0])


class Coins(NamedTuple):
    """The photograph in grey, two numbers for each pixel, and whether it shows a coin."""

    grey: Floats
    X: Floats
    y: Integers


@cache
def coins() -> Coins:
    """Read the photograph of coins that scikit-image brings along.

    The features are the brightness of a pixel and how far down it is, both divided by their
    standard deviations. What is a coin says the recipe of scikit-image: a watershed of the edges,
    with its holes filled.

    Examples
    --------
    >>> found = coins()
    >>> found.grey.shape, found.X.shape, bool(found.X.std(axis=0).round(9).tolist() == [1, 1])
    ((101, 128), (12928, 2), True)
    """
    photograph = data.coins()
    seeds = np.where(photograph < 30, 1, np.where(photograph > 150, 2, 0))
    filled = segmentation.watershed(filters.sobel(photograph), seeds) == 2
    filled = ndimage.binary_fill_holes(filled)
    grey = filters.gaussian(photograph, STEP / 2)[1::STEP, 1::STEP]
    row = np.repeat(np.arange(len(grey)), grey.shape[1])
    X = np.column_stack([grey.ravel(), row])
    return Coins(grey, X / X.std(axis=0), filled[1::STEP, 1::STEP].ravel().astype(np.intp))


def marked_pixels(seed: int = 0, each: int = 20) -> Integers:
    """Choose as many pixels of the table as of coins, at random.

    Examples
    --------
    >>> np.bincount(coins().y[marked_pixels()]).tolist()
    [20, 20]
    """
    rng, y = np.random.default_rng(seed), coins().y
    return np.concatenate([rng.choice(np.flatnonzero(y == c), each, replace=False) for c in (0, 1)])


def learned_metric(marked: Integers) -> Floats:
    """Learn the metric from these pixels by the method of chapter 2.

    Examples
    --------
    >>> learned_metric(marked_pixels()).shape
    (2, 2)
    """
    _, X, y = coins()
    M = MLCA(fit_intercept=True).fit(X[marked], y[marked]).get_mahalanobis_matrix()
    return M / M.trace()


def groups(M: Floats) -> Integers:
    """Cluster all pixels into two groups by k-means; group 1 is the one that fits the coins best.

    Examples
    --------
    >>> [int(np.sum(groups(M) != coins().y) / 129.28) for M in (PLAIN, BRIGHTNESS)]
    [33, 9]
    """
    _, X, y = coins()
    return name_after(y, SpectralKMeans(2, M=M, random_state=0).fit_predict(X))


def four_pictures() -> Figure:
    """Draw the photograph, and its pixels in two groups under three distances."""
    grey = coins().grey
    marked = marked_pixels()
    figure, axes = subplots(2, 2, height=4.9)
    axes[0, 0].imshow(grey, cmap="gray")
    for c, name in enumerate(["table", "coin"]):
        rows, columns = np.divmod(marked[coins().y[marked] == c], grey.shape[1])
        axes[0, 0].scatter(
            columns, rows, s=20, c=COLORS[c], marker=MARKERS[c], edgecolors="white", label=name
        )
    axes[0, 0].set(title="photograph")
    metrics = {
        "plain distance": PLAIN,
        "brightness alone": BRIGHTNESS,
        "learned from 40 pixels": learned_metric(marked),
    }
    for ax, (name, M) in zip(axes.flat[1:], metrics.items(), strict=True):
        ax.imshow(groups(M).reshape(grey.shape), cmap=ListedColormap(list(COLORS[:2])))
        ax.set(title=name)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    return figure


def two_ellipses() -> Figure:
    """Draw every 31st pixel in the plane of its two features, with the ellipses of two metrics."""
    _, X, y = coins()
    figure, axes = subplots(1, 2, height=3.8)
    metrics = {"plain distance": PLAIN, "learned": learned_metric(marked_pixels())}
    for ax, (name, M) in zip(axes[0], metrics.items(), strict=True):
        _pixels(ax, X[::31], y[::31], groups(M)[::31])
        radius = 0.8 * np.sqrt(np.linalg.eigvalsh(M)[-1])
        plot_metric(M, ax, centre=(2.1, 1.8), radius=float(radius))
        ax.set_aspect("equal", adjustable="box")
        ax.set(title=name, xlabel="brightness", xlim=(0, 4.4), ylim=(3.9, -0.5))
        ax.plot(2.1, 1.8, marker="+", color=INK, markersize=10)
    axes[0, 0].set_ylabel("how far down")
    axes[0, 1].set_yticklabels([])
    handles = [
        axes[0, 0].plot([], [], MARKERS[c], color=INK, label=name)[0]
        for c, name in enumerate(["table", "coin"])
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _pixels(ax: Axes, X: Floats, y: Integers, found: Integers) -> None:
    """Draw pixels: the colour says the group, the marker whether it shows a coin."""
    for c in (0, 1):
        colors = [COLORS[group] for group in found[y == c]]
        across, down = X[y == c].T
        ax.scatter(across, down, s=14, alpha=0.7, linewidths=0, c=colors, marker=MARKERS[c])
