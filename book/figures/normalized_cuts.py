"""Figures of the chapter on normalized cuts: graphs of pixels, eigenvectors, cuts."""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.sparse import csr_array
from skimage import data
from skimage.color import gray2rgb, rgb2gray
from skimage.transform import resize

from book.figures.kmeans import all_partitions
from book.figures.pictures import PHOTOGRAPHS, Picture, named, photograph, scene, show
from mlbook._arrays import Floats, Integers
from mlbook.images import colour_and_position, resize_with_mask
from mlbook.ncuts import (
    gaussian_affinity,
    grid_edges,
    normalized_cut,
    normalized_cut_bound,
    normalized_cut_value,
    squared_differences,
)
from mlbook.ncuts.eigenvectors import drop_negligible, embedding
from mlbook.partitions import partition_loss
from mlbook.plots import COLORS, INK, subplots

__all__ = [
    "COLOURS",
    "NOISES",
    "PICTURES",
    "PLACES",
    "ROUNDED",
    "SIZES",
    "THRESHOLDS",
    "affinities",
    "all_edges",
    "all_thresholds",
    "colour_and_place",
    "colours",
    "complete_graphs",
    "cut_beside_mask",
    "cut_identities",
    "cut_losses",
    "cut_of_noisy",
    "explored",
    "few_pixels",
    "first_picture",
    "graph_of_pixels",
    "grey_scene",
    "mean_squares",
    "rounding",
    "second",
    "second_eigenvector",
    "semidefinite",
    "single_pixels",
    "size_and_noise",
    "two_scales",
]


# The first picture


@cache
def second(name: str) -> tuple[Picture, Integers, Floats]:
    """Cut a photograph, 48 pixels high, on the graph of near pixels (radius 5)."""
    picture = getattr(data, name)()
    picture = gray2rgb(picture) if picture.ndim == 2 else picture
    height, width = 48, round(48 * picture.shape[1] / picture.shape[0])
    image = resize(picture, (height, width), anti_aliasing=True)
    features = colour_and_position(image, None).astype(np.float64)
    unit = mean_squares([features], 5)
    colours = np.array([1, 1, 1]) if unit[1] > 1e-9 else np.array([3, 0, 0])  # or grey
    shares = np.array([*(4 / 3 * colours), 0.25, 0.25])
    weights = np.divide(shares, unit, out=np.zeros(5), where=shares > 0)
    W = gaussian_affinity(features.reshape(-1, 5), all_edges(features, 5), weights)
    return image, normalized_cut(W, 2, random_state=0), second_eigenvector(W)


def first_picture() -> Figure:
    """Draw two photographs, their second eigenvectors, and the cuts; nothing is learned."""
    figure, axes = subplots(2, 3, height=3.9, width=5.6)
    for row, name in zip(axes, ("camera", "astronaut"), strict=True):
        image, found, z = second(name)
        parts = found.reshape(image.shape[:2])
        small = (parts == np.bincount(found).argmin()).astype(np.int64)
        show(row[0], image, title="photograph")
        row[1].imshow(_ranks(z).reshape(parts.shape), interpolation="nearest")
        row[1].set_title("second eigenvector", fontsize=11)
        row[1].axis("off")
        show(row[2], image, small, "the cut")
    return figure


def second_eigenvector(W: NDArray | object) -> Floats:
    """Return z = G^(-1/2) u₂, from the second eigenvector of the normalized affinities.

    Examples
    --------
    >>> second_eigenvector(np.array([[0.0, 2, 1], [2, 0, 0], [1, 0, 0]])).round(3).tolist()
    [0.0, 0.408, -0.816]
    """
    graph = drop_negligible(W)
    _, U = embedding(graph, 2, np.random.RandomState(0))
    z = U[:, 1] / np.sqrt(graph.sum(axis=1))
    return np.round(z * np.sign(z[np.abs(z).argmax()]) * -1, 12) + 0.0


def _ranks(z: Floats) -> Floats:
    """Return the values, extremes cut off, so that a picture shows the middle of them."""
    return np.clip(z, *np.quantile(z, [0.02, 0.98]))


# Graphs of pixels


def complete_graphs(
    n_images: int, part: str = "train", *, height: int = 12, first: int = 0
) -> tuple[list[Floats], list[Integers]]:
    """Scenes scaled down to so few pixels that all pairs can be joined: features and masks.

    Examples
    --------
    >>> X, y = complete_graphs(2)
    >>> X[0].shape, y[0].shape
    ((12, 16, 5), (12, 16))
    """
    pairs = [resize_with_mask(*scene(part, first + i), height) for i in range(n_images)]
    return [colour_and_position(image, None) for image, _ in pairs], [mask for _, mask in pairs]


@cache
def _grid(height: int, width: int, radius: float) -> Integers:
    return grid_edges(height, width, radius)


def all_edges(image: NDArray[np.generic], radius: float) -> Integers:
    """Return the pairs of near pixels of an image.

    Examples
    --------
    >>> all_edges(np.zeros((2, 2)), 1).tolist()
    [[0, 2, 0, 1], [1, 3, 2, 3]]
    """
    return _grid(image.shape[0], image.shape[1], radius)


def cut_losses(
    X: Sequence[Floats], y: Sequence[Integers], b: Floats, radius: float = 20
) -> list[float]:
    """Δ of the normalized cut of each image into two, with the affinities of weights b.

    Examples
    --------
    >>> X, y = complete_graphs(1)
    >>> 0 <= cut_losses(X, y, np.array([0, 50.0, 0, 1, 1]))[0] <= 2
    True
    """
    losses = []
    for features, mask in zip(X, y, strict=True):
        edges = all_edges(mask, radius)
        W = gaussian_affinity(features.reshape(mask.size, -1), edges, b)
        losses.append(partition_loss(mask.ravel(), normalized_cut(W, 2, random_state=0)))
    return losses


def mean_squares(X: Sequence[Floats], radius: float = 20) -> Floats:
    """Mean squared difference of each feature over the pairs of all images: units for weights."""
    each = []
    for features in X:
        edges = all_edges(features, radius)
        each.append(squared_differences(features.reshape(-1, features.shape[2]), edges))
    return np.concatenate(each).mean(axis=0)


def two_scales(
    X: Sequence[Floats],
    y: Sequence[Integers],
    colours: Sequence[float],
    places: Sequence[float],
    radius: float = 20,
) -> tuple[float, float, Floats]:
    """Search a grid for the weights of colour and of place with the least mean Δ of the cuts.

    The two numbers are mean exponents, as the scale of `NormalizedCutMetric` is. Returns the
    best pair and its weights b of the five features.
    """
    unit = mean_squares(X, radius)
    grid = {
        (colour, place): np.array([colour / 3] * 3 + [place / 2] * 2) / unit
        for colour, place in product(colours, places)
    }
    colour, place = min(grid, key=lambda at: np.mean(cut_losses(X, y, grid[at], radius)))
    return colour, place, grid[colour, place]


PICTURES = ("no shadow", "shadow", "shadow, a alone")
COLOURS, PLACES = (0.5, 1.0, 2.0, 4.0, 8.0), (0.0, 0.25, 0.5, 1.0, 4.0)  # mean exponents


@cache
def explored(name: str) -> tuple[Picture, Integers]:
    """One of the pictures of the explorer of colour against place, and its mask.

    Examples
    --------
    >>> [explored(name)[1].shape for name in ("shadow", "coffee")]
    [(24, 32), (24, 36)]
    """
    if name in PHOTOGRAPHS:
        return photograph(name, 24)
    return resize_with_mask(*scene("test", 6, shadow=1.0 if name == "no shadow" else 0.5), 24)


@cache
def affinities(picture: str, colour: float, place: float) -> tuple[csr_array, Integers]:
    """Join near pixels (radius 5) of a picture: affinities, and its mask; mean exponents.

    Examples
    --------
    >>> affinities("shadow", 4, 0.5)[0].shape
    (768, 768)
    """
    image, mask = explored(picture)
    features = colour_and_position(image, None).astype(np.float64)
    colours = [0, 3, 0] if "alone" in picture else [1, 1, 1]
    shares = np.array([*(colour / 3 * c for c in colours), place / 2, place / 2])
    W = gaussian_affinity(
        features.reshape(-1, 5), all_edges(mask, 5), shares / mean_squares([features], 5)
    )
    return W, mask


@cache
def cut_beside_mask(
    picture: str, colour: float, place: float
) -> tuple[Integers, float, float, float]:
    """Cut a picture into two, over the weights of colour and of place; radius 5.

    Returns the parts, their normalized cut, that of the mask, and Δ to the mask.

    Examples
    --------
    >>> _, found, mask, loss = cut_beside_mask("no shadow", 4, 0.5)
    >>> print(f"{found:.3f} {mask:.3f} {loss:.2f}")
    0.014 0.032 0.18
    """
    W, mask = affinities(picture, colour, place)
    found = normalized_cut(W, 2, random_state=0)
    values = [normalized_cut_value(W, labels) for labels in (found, mask.ravel())]
    return found, values[0], values[1], partition_loss(mask.ravel(), found)


def colour_and_place(picture: str, colour: float, place: float) -> tuple[Figure, str]:
    """Draw the cut of a picture into two, over the weights of colour and of place."""
    image, mask = explored(picture)
    found, value, of_mask, loss = cut_beside_mask(picture, colour, place)
    figure, axes = subplots(1, 2, height=1.9, width=5.2)
    show(axes[0, 0], image, mask, "mask")
    show(axes[0, 1], image, named(mask, found), f"colour {colour:g}, place {place:g}")
    return figure, (
        f"{picture.capitalize()}; mean exponents {colour:g} of colour, {place:g} of place. "
        f"Normalized cut {value:.3f}, of the mask {of_mask:.3f}. "
        f"Δ to the mask {loss:.2f}."
    )


@cache
def few_pixels(seed: int = 5, scale: float = 2.0) -> tuple[Picture, Floats, Integers, Integers]:
    """Reduce a scene to 4 × 5 pixels: picture, affinities, cheapest cut, best normalized cut.

    All 524,287 cuts are tried. All pairs are joined, the features weighted alike.

    Examples
    --------
    >>> picture, W, cheapest, best = few_pixels()
    >>> picture.shape, W.shape, int(min(cheapest.sum(), 20 - cheapest.sum()))
    ((4, 5, 3), (20, 20), 1)
    """
    image, _ = resize_with_mask(*scene("test", seed, shadow=1.0), 4)
    features = colour_and_position(image, None).astype(np.float64)
    n = features.shape[0] * features.shape[1]
    b = scale / 5 / mean_squares([features])
    W = gaussian_affinity(features.reshape(n, 5), all_edges(features, 20), b).toarray()
    g, cheapest, best = W.sum(axis=0), (np.inf, 0), (np.inf, 0)
    for numbers in np.array_split(np.arange(1, 2 ** (n - 1)), 16):
        parts = ((numbers[:, None] >> np.arange(n)) & 1).astype(np.float64)
        volumes = parts @ g
        cuts = volumes - np.einsum("ai,ai->a", parts @ W, parts)
        values = cuts / volumes + cuts / (g.sum() - volumes)
        cheapest = min(cheapest, (cuts.min(), int(numbers[cuts.argmin()])))
        best = min(best, (values.min(), int(numbers[values.argmin()])))
    labels = [(number >> np.arange(n)) & 1 for _, number in (cheapest, best)]
    return image, W, labels[0], labels[1]


def graph_of_pixels() -> Figure:
    """Draw a scene of twenty pixels as a graph, with its cheapest and its normalized cut."""
    image, W, cheapest, best = few_pixels()
    figure, axes = subplots(1, 3, height=2.1, width=6.0)
    titles = {"the graph": None, "smallest cut": cheapest, "smallest NCut": best}
    for ax, (title, labels) in zip(axes[0], titles.items(), strict=True):
        ax.imshow(image, alpha=0.75)
        _draw_edges(ax, W, image.shape[1], labels)
        ax.set(xticks=[], yticks=[])
        value = "" if labels is None else f": {normalized_cut_value(W, labels):.2f}"
        ax.set_title(f"{title}{value}" if "NCut" in title else title, fontsize=11)
    return figure


def _draw_edges(ax: Axes, W: Floats, width: int, labels: Integers | None) -> None:
    """Draw edges between neighbours, as thick as their affinities; those cut are dashed."""
    places = np.array([divmod(i, width)[::-1] for i in range(len(W))], dtype=float)
    for i, j in np.argwhere(np.triu(W, 1) > 0):
        if np.abs(places[i] - places[j]).max() > 1:
            continue
        apart = labels is not None and labels[i] != labels[j]
        color, line = ("w", (0, (1, 1))) if apart else (INK, "solid")
        edge = places[[i, j]]
        ax.plot(*edge.T, linewidth=3.5 * W[i, j], color=color, linestyle=line, alpha=0.8)
    shown = np.zeros(len(W), dtype=int) if labels is None else labels
    ax.scatter(
        places[:, 0],
        places[:, 1],
        s=42,
        c=[COLORS[c] for c in shown],
        edgecolors="w",
        linewidths=1,
        zorder=3,
    )


# Rounding, and the objective

THRESHOLDS = (0.05, 0.1, 0.15, 0.219, 0.3, 0.4, 0.527, 0.7, 0.85, 0.966)
ROUNDED = {  # a picture of the explorer, its scales of colour and of place
    "fur found": ("no shadow", 4.0, 0.5),
    "threshold misses": ("shadow, a alone", 2.0, 0.0),
    "cup not wanted": ("coffee", 4.0, 0.5),
}


@cache
def all_thresholds(story: str) -> tuple[Floats, Floats, float, float]:
    """Return a second eigenvector, NCut by the number of pixels kept, that of the mask, the bound.

    The object's side of the eigenvector comes first.
    """
    W, mask = affinities(*ROUNDED[story])
    z = second_eigenvector(W)
    y = mask.ravel()
    z = -z if z[y == 1].mean() > z[y == 0].mean() else z
    g, rank = W.sum(axis=0), np.argsort(np.argsort(z, kind="stable"))
    values = [normalized_cut_value(W, (rank >= size).astype(int)) for size in range(1, len(g))]
    return (
        z,
        np.array(values),
        normalized_cut_value(W, y),
        normalized_cut_bound(W, 2, random_state=0),
    )


def rounding(story: str, kept: float) -> tuple[Figure, str]:
    """Draw a second eigenvector, the pixels below a threshold, and NCut over all thresholds."""
    picture, colour, place = ROUNDED[story]
    image, mask = explored(picture)
    z, values, of_mask, bound = all_thresholds(story)
    size = max(1, round(kept * len(z)))
    part = (np.argsort(np.argsort(z, kind="stable")) < size).astype(np.int64)
    figure, axes = subplots(2, 3, height=4.0, width=5.6)
    show(axes[0, 0], image, mask, "mask")
    axes[0, 1].imshow(-_ranks(z).reshape(mask.shape), interpolation="nearest")
    axes[0, 1].set_title("eigenvector", fontsize=11)
    axes[0, 1].axis("off")
    show(axes[0, 2], image, part.reshape(mask.shape), f"{kept:.0%} kept")
    grid = axes[1, 0].get_gridspec()
    for ax in axes[1]:
        ax.remove()
    below = figure.add_subplot(grid[1, :])
    shares = np.arange(1, len(z)) / len(z)
    below.plot(shares, values, color=INK, label="threshold")
    below.axhline(of_mask, color=COLORS[1], linestyle="--", label="mask")
    below.axhline(bound, color=COLORS[0], linestyle=":", label="bound")
    below.plot(shares[size - 1], values[size - 1], "o", color=INK)
    below.set(xlabel="share of the pixels kept", ylabel="NCut", xlim=(0, 1), ylim=(0, 0.25))
    figure.legend(frameon=False, fontsize=10, loc="outside lower center", ncols=3)
    best = int(values.argmin())
    return figure, (
        f"{picture.capitalize()}, colour {colour:g}, place {place:g}. Kept {kept:.0%}: NCut "
        f"{values[size - 1]:.3f}, Δ {partition_loss(mask.ravel(), part):.2f}. The best threshold "
        f"keeps {shares[best]:.0%}: {values[best]:.3f}; the mask has {of_mask:.3f}, the bound is "
        f"{bound:.3f}."
    )


# Pictures of the exercise


def grey_scene(part: str, seed: int) -> tuple[Floats, Integers]:
    """Return a scene without its colours, 48 × 64 pixels, and its mask reduced to 12 × 16.

    Examples
    --------
    >>> grey, mask = grey_scene("test", 0)
    >>> grey.shape, mask.shape
    ((48, 64), (12, 16))
    """
    image, mask = scene(part, seed)
    return rgb2gray(image), resize_with_mask(image, mask, 12)[1]


def colours(part: str, seed: int) -> Floats:
    """Return L, a and b of a scene reduced to 12 × 16 pixels.

    Examples
    --------
    >>> colours("test", 0).shape
    (12, 16, 3)
    """
    return colour_and_position(scene(part, seed)[0], 12)[..., :3].astype(np.float64)


# Noise and sizes

SIZES, NOISES = (0.4, 0.6, 0.8, 1.0, 1.3), (0.0, 0.02, 0.04, 0.08, 0.16)


@cache
def cut_of_noisy(size: float, noise: float, seed: int = 6) -> tuple[Picture, Integers, Integers]:
    """Cut a noisy scene without shadow, with fur of a size: picture, mask, cut; scale 4 of a."""
    image, mask = resize_with_mask(*scene("test", seed, shadow=1.0, size=size), 24)
    image = np.clip(image + noise * np.random.default_rng(seed).normal(size=image.shape), 0, 1)
    features = colour_and_position(image, None).astype(np.float64)
    b = np.array([0, 4.0, 0, 0, 0]) / mean_squares([features], 5)
    W = gaussian_affinity(features.reshape(-1, 5), all_edges(mask, 5), b)
    return image, mask, normalized_cut(W, 2, random_state=0)


def size_and_noise(size: float, noise: float) -> tuple[Figure, str]:
    """Draw the cut of a noisy scene with fur of a size."""
    image, mask, found = cut_of_noisy(size, noise)
    figure, axes = subplots(1, 2, height=1.9, width=5.2)
    show(axes[0, 0], image, mask, "mask")
    show(axes[0, 1], image, named(mask, found), "the cut")
    return figure, (
        f"Fur on {mask.mean():.0%} of the scene, noise {noise:g}: "
        f"Δ = {partition_loss(mask.ravel(), found):.2f}."
    )


# What the page claims, seed by seed


def single_pixels(scale: float, n_scenes: int = 20) -> Integers:
    """Size of the smaller part of the cheapest cut without volumes, of scenes of 3 × 4 pixels.

    All features are weighted alike; the scale is the mean exponent.
    """
    sizes = []
    sides = np.array(list(product([0, 1], repeat=11)))[1:]
    sides = np.hstack([np.zeros((len(sides), 1)), sides])
    for seed in range(n_scenes):
        X, y = complete_graphs(1, "test", height=3, first=seed)
        b = scale / 5 / mean_squares(X)
        W = gaussian_affinity(X[0].reshape(12, 5), all_edges(y[0], 20), b).toarray()
        cuts = np.einsum("ai,ij,aj->a", sides, W, 1 - sides)
        ones = int(sides[cuts.argmin()].sum())
        sizes.append(min(ones, 12 - ones))
    return np.array(sizes)


def cut_identities(n_graphs: int = 20, n: int = 5) -> dict[str, list[bool]]:
    """Check three statements about normalized cuts on all partitions of random graphs.

    They are a trace, they are a weighted distortion of k-means, and they are at least the bound.
    The second is checked on positive semidefinite affinities only, the others also on the same
    graphs without their loops, which are not semidefinite.
    """
    found: dict[str, list[bool]] = {"trace": [], "k-means": [], "bound": []}
    every = [np.array(labels) for labels in all_partitions(n)]
    for seed in range(n_graphs):
        factor = np.random.default_rng(seed).exponential(size=(n, n))
        complete = factor @ factor.T
        for W in (complete, complete - np.diag(complete.diagonal())):
            g = W.sum(axis=1)
            normalized = W / np.sqrt(np.outer(g, g))
            bounds = [normalized_cut_bound(W, k) for k in range(1, n + 1)]
            for labels in every:
                k = int(labels.max()) + 1
                Y = np.eye(k)[labels]
                value = normalized_cut_value(W, labels)
                V = np.sqrt(g)[:, None] * Y / np.sqrt(g @ Y)
                found["trace"].append(np.isclose(value, k - np.trace(V.T @ normalized @ V)))
                found["bound"].append(bool(value >= bounds[k - 1] - 1e-9))
                if W is complete:
                    away = factor / g[:, None] - (Y.T @ factor / (g @ Y)[:, None])[labels]
                    spread = g @ np.sum(away**2, axis=1)
                    constant = k - np.sum(W.diagonal() / g)
                    found["k-means"].append(np.isclose(spread, value - constant))
    return found


def semidefinite(radius: float, n_scenes: int = 20) -> list[float]:
    """Least eigenvalue of the affinities of test scenes of 12 × 16 pixels."""
    X, y = complete_graphs(n_scenes, "test")
    b = 0.4 / mean_squares(X)
    edges = all_edges(y[0], radius)
    graphs = (gaussian_affinity(features.reshape(-1, 5), edges, b) for features in X)
    return [float(np.linalg.eigvalsh(W.toarray())[0]) for W in graphs]
