"""Figures of the chapter on normalized cuts that learn affinities, and what it claims of them."""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from book.figures.kmeans import all_partitions
from book.figures.normalized_cuts import (
    all_edges,
    complete_graphs,
    cut_losses,
    mean_squares,
    two_scales,
)
from book.figures.pictures import Picture, named, scene, shadow, show
from book.figures.segmentation import RULES, fit_pixels, pixels, plain_means, segment
from mlbook._arrays import Floats, Integers
from mlbook.images import colour_and_position
from mlbook.ncuts import (
    NormalizedCutMetric,
    gaussian_affinity,
    normalized_cut,
    spectral_hinge,
    squared_differences,
)
from mlbook.partitions import equivalence_matrix, partition_loss, rand_loss
from mlbook.plots import COLORS, INK, subplots

__all__ = [
    "COLOUR_SCALES",
    "PLACE_SCALES",
    "colours_apart",
    "colours_of_grid",
    "convex_over_partitions",
    "cut_of",
    "cut_weights",
    "every_way",
    "hinge_and_loss",
    "hinge_over_scale",
    "hinge_statements",
    "learned_cut",
    "losses_side_by_side",
    "majorizers",
    "near_pairs",
    "taught",
    "untaught",
]

COLOUR_SCALES, PLACE_SCALES = (1, 2, 4, 8, 16), (0, 0.5, 2)  # of the grid


@cache
def _hinge(part: str, seed: int) -> tuple[Floats, Integers, Integers, Floats]:
    X, y = complete_graphs(1, part, first=seed)
    edges = all_edges(y[0], 20)
    return squared_differences(X[0].reshape(-1, 5), edges), edges, y[0].ravel(), mean_squares(X)


@cache
def hinge_and_loss() -> dict[str, Floats]:
    """Compute the hinge, and Δ of the cut, over the scale of three choices of weights.

    Each choice has an array of three rows: scales, hinges, losses.
    """
    differences, edges, labels, unit = _hinge("train", 0)
    X, y = complete_graphs(1)
    shares = {"L alone": [1, 0, 0, 0, 0], "all alike": [0.2] * 5, "a alone": [0, 1, 0, 0, 0]}
    scales = np.geomspace(0.01, 100, 25)
    curves = {}
    for name, w in shares.items():
        weights = [scale * np.array(w) / unit for scale in scales]
        hinges = [spectral_hinge(b, differences, edges, labels)[0] for b in weights]
        curves[name] = np.array([scales, hinges, [cut_losses(X, y, b)[0] for b in weights]])
    return curves


def hinge_over_scale() -> Figure:
    """Draw the hinge, and Δ of the cut, over the scale of three choices of weights."""
    figure, axes = subplots(1, 2, height=2.9)
    lines = zip(hinge_and_loss().items(), COLORS, ["-", "--", "-."], strict=False)
    for (name, (scales, hinges, losses)), color, line in lines:
        axes[0, 0].semilogx(scales, hinges, color=color, linestyle=line, label=name)
        axes[0, 1].semilogx(scales, losses, color=color, linestyle=line)
    axes[0, 0].axhline(2, color=INK, linestyle=":", linewidth=1)
    axes[0, 0].set(title="hinge", xlabel="scale")
    axes[0, 1].set(title="Δ of the cut", xlabel="scale", ylim=(-0.1, 2.1))
    figure.legend(frameon=False, fontsize=10, loc="outside lower center", ncols=3)
    return figure


def majorizers() -> Figure:
    """Draw the hinge over the weight of one feature, and the majorizers of three steps."""
    differences, edges, labels, unit = _hinge("train", 0)
    squares = differences[:, 1:2] / unit[1]
    weights = np.linspace(0, 1.5, 61)

    def values(anchor: float | None = None) -> Floats:
        at = None if anchor is None else [anchor]
        found = [spectral_hinge([w], squares, edges, labels, tangent_at=at) for w in weights]
        return np.array([value for value, _ in found])

    hinge, anchor = values(), weights[48]
    figure, axes = subplots(height=3)
    ax = axes[0, 0]
    ax.plot(weights, hinge, color=INK, label="hinge")
    for step, color, line in zip(range(3), COLORS, ["--", "-.", ":"], strict=False):
        upper = values(anchor)
        ax.plot(weights, upper, color=color, linestyle=line, label=f"majorizer {step + 1}")
        ax.plot(anchor, upper[weights == anchor], "o", color=color)
        anchor = weights[upper.argmin()]
    ax.plot(anchor, hinge[weights == anchor], "s", color=INK)
    ax.set(ylim=(hinge.min() - 0.05, hinge.max() + 0.05), xlabel="weight of a, as a mean exponent")
    ax.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


@cache
def learned_cut() -> NormalizedCutMetric:
    """Weights learned from four scenes of 12 × 16 pixels, all pairs joined."""
    model = NormalizedCutMetric(radius=20, scales=(2.0, 8.0), max_steps=3, tol=1e-3, random_state=0)
    with threadpool_limits(1):
        return model.fit(*complete_graphs(4))


@cache
def cut_weights() -> dict[str, Floats]:
    """Weights b of five features for cuts: all alike, from a grid of two scales, and learned.

    The first two have their scales from the same four scenes the third is learned from.
    """
    X, y = complete_graphs(4)
    unit = mean_squares(X)
    alike = {scale: scale / 5 / unit for scale in (2.0, 8.0)}
    with threadpool_limits(1):
        best = min(alike, key=lambda scale: np.mean(cut_losses(X, y, alike[scale])))
        grid = two_scales(X, y, COLOUR_SCALES, PLACE_SCALES)[2]
    return {"alike": alike[best], "grid": grid, "learned": learned_cut().weights_}


def colours_of_grid(alone: bool, places: Sequence[float] = PLACE_SCALES) -> list[float]:
    """Mean Δ over twenty test scenes of 12 × 16 pixels, for each pair of scales of the grid.

    The scale of colour is shared by L, a and b; or `alone`: it is that of a, and L and b have none.
    """
    unit = mean_squares(complete_graphs(4)[0])
    X, y = complete_graphs(20, "test")
    colours = np.array([0, 1, 0] if alone else [1 / 3, 1 / 3, 1 / 3])
    with threadpool_limits(1):
        return [
            float(np.mean(cut_losses(X, y, np.array([*colour * colours, *[place / 2] * 2]) / unit)))
            for colour, place in product(COLOUR_SCALES, places)
        ]


@cache
def near_pairs(with_place: bool, n_draws: int = 20) -> dict[str, Floats]:
    """Learn on graphs of near pixels (radius 4), twenty times, with the place or without it.

    Each time from two training scenes of 9 × 12 pixels. One number a draw: the mean hinge at the
    start and the end, Δ of the training cuts and of the cuts of five test scenes, and the share
    of the place in the mean exponent.

    Examples
    --------
    >>> sorted(near_pairs(True, 1))
    ['end', 'place', 'start', 'test', 'train']
    """
    kept = slice(None) if with_place else slice(3)
    pictures, masks = complete_graphs(5, "test", height=9)
    tests = [picture[..., kept] for picture in pictures]
    found: dict[str, list[float]] = {
        name: [] for name in ("start", "end", "train", "test", "place")
    }
    for draw in range(n_draws):
        pictures, y = complete_graphs(2, first=2 * draw, height=9)
        X = [picture[..., kept] for picture in pictures]
        model = NormalizedCutMetric(radius=4, scales=(2.0,), max_steps=3, tol=5e-3, random_state=0)
        with threadpool_limits(1):
            b = model.fit(X, y).weights_
            found["train"].append(float(np.mean(cut_losses(X, y, b, 4))))
            found["test"].append(float(np.mean(cut_losses(tests, masks, b, 4))))
        found["start"].append(float(model.objective_path_[0]))
        found["end"].append(float(model.objective_path_[-1]))
        exponents = b * mean_squares(X, 4)
        found["place"].append(float(exponents[3:].sum() / exponents.sum()))
    return {name: np.array(values) for name, values in found.items()}


def cut_of(image: Picture, b: Floats) -> Integers:
    """Cut a scene at a quarter of its size on the graph of all pairs; each label fills a square.

    Examples
    --------
    >>> cut_of(scene()[0], np.array([0, 900.0, 0, 0, 0])).shape
    (48, 64)
    """
    coarse = colour_and_position(image, len(image) // 4)
    W = gaussian_affinity(coarse.reshape(-1, 5), all_edges(coarse, 20), b)
    with threadpool_limits(1):
        labels = normalized_cut(W, 2, random_state=0).reshape(coarse.shape[:2])
    return np.kron(labels, np.ones((4, 4), dtype=np.int64))


@cache
def every_way(seed: int) -> dict[str, Integers]:
    """Cut a test scene in eight ways; whatever is learned is learned from the same four scenes."""
    image, _ = scene("test", seed)
    found = {"k-means, not learned": plain_means(seed)}
    for rule, (centred, name) in product(RULES, [(False, "pooled"), (True, "each centred")]):
        rows = pixels(image, centred=centred)
        found[f"MLCA, {rule}, {name}"] = segment(fit_pixels(4, centred=centred), rows, rule)
    for name, b in cut_weights().items():
        found[f"normalized cut, {name}"] = cut_of(image, b).ravel()
    return found


@cache
def losses_side_by_side(n_test: int = 20) -> dict[str, Floats]:
    """Δ and Rand loss of all ways on test scenes: for each way an array of shape (scenes, 2).

    Examples
    --------
    >>> losses_side_by_side(1)["normalized cut, learned"].shape
    (1, 2)
    """
    losses: dict[str, list[tuple[float, float]]] = {}
    for seed in range(n_test):
        _, mask = scene("test", seed)
        for way, labels in every_way(seed).items():
            pair = partition_loss(mask.ravel(), labels), rand_loss(mask.ravel(), labels)
            losses.setdefault(way, []).append(pair)
    return {way: np.array(pairs) for way, pairs in losses.items()}


def taught(seed: int = 5) -> Figure:
    """Draw a test scene, its mask, and its cuts before learning and after."""
    image, mask = scene("test", seed)
    found = every_way(seed)
    figure, axes = subplots(1, 3, height=1.8, width=5.8)
    show(axes[0, 0], image, title="new scene")
    for ax, way in zip(axes[0, 1:], ("alike", "learned"), strict=True):
        labels = found[f"normalized cut, {way}"]
        loss = partition_loss(mask.ravel(), labels)
        show(ax, image, named(mask, labels), f"{way}: Δ = {loss:.2f}")
    return figure


def untaught(n_scenes: int = 20) -> Floats:
    """Δ of the cut with all features alike, to the shadow and to the mask of test scenes.

    Returns an array of shape (scenes, 2).
    """
    losses = np.empty((n_scenes, 2))
    for seed in range(n_scenes):
        truths = shadow("test", seed).ravel(), scene("test", seed)[1].ravel()
        found = every_way(seed)["normalized cut, alike"]
        losses[seed] = [partition_loss(y, found) for y in truths]
    return losses


@cache
def hinge_statements(n_draws: int = 20, n: int = 7, k: int = 2) -> dict[str, list[bool]]:
    """Check the hinge on random points: its formula, its bound, its majorizer, its empty metrics.

    The formula: no random projector exceeds it, and the eigenvectors attain it. The bound: the
    best relaxed partition loses no more.
    """
    found: dict[str, list[bool]] = {"formula": [], "bound": [], "majorizer": [], "empty": []}
    edges, ones = np.array(np.triu_indices(n, 1)), np.full((n, n), 1 / n)
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        x, labels = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % k)
        squares, C = squared_differences(x, edges), equivalence_matrix(labels)
        a, b = rng.exponential(size=(2, 2))
        W = gaussian_affinity(x, edges, b).toarray()
        s = 5.0 / n

        def bracket(basis: Floats, C: Floats = C, W: Floats = W, s: float = s) -> float:
            P = ones + basis @ basis.T
            return float(2 * k - 2 * np.sum(P * C) + s * np.sum((P - C) * W))

        def leading(A: Floats) -> Floats:
            centre = np.eye(n) - ones
            return np.linalg.eigh(centre @ A @ centre - 1e3 * ones)[1][:, -(k - 1) :]

        value = spectral_hinge(b, squares, edges, labels)[0]
        random = rng.normal(size=(50, n, k - 1))
        tries = [np.linalg.qr(r - r.mean(axis=0))[0] for r in random]
        attained = np.isclose(bracket(leading(s * W - 2 * C)), value)
        found["formula"].append(bool(attained and max(map(bracket, tries)) <= value + 1e-9))
        best = leading(W)
        found["bound"].append(bool(0 <= 2 * (k - np.sum((ones + best @ best.T) * C)) <= value))
        upper = spectral_hinge(b, squares, edges, labels, tangent_at=a)[0]
        touch = spectral_hinge(a, squares, edges, labels, tangent_at=a)[0]
        at = spectral_hinge(a, squares, edges, labels)[0]
        found["majorizer"].append(bool(upper >= value - 1e-9 and np.isclose(touch, at)))
        ends = [spectral_hinge([c, c], squares, edges, labels)[0] for c in (0, 1e6)]
        found["empty"].append(np.allclose(ends, 2 * (k - 1)))
    return found


def convex_over_partitions(n_draws: int = 20, n: int = 5) -> list[bool]:
    """Check that the hinge without its concave part is convex if C runs over partitions."""
    edges = np.array(np.triu_indices(n, 1))
    every = [equivalence_matrix(labels) for labels in all_partitions(n) if max(labels) == 1]
    found = []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        x, right = rng.normal(size=(n, 1)), every[rng.integers(len(every))]
        values = []
        for b in np.linspace(0, 4, 41):
            W = gaussian_affinity(x, edges, [b]).toarray()
            values.append(max(4 - 2 * np.sum(C * right) + np.sum(C * W) for C in every))
        found.append(bool(np.all(np.diff(values, 2) >= -1e-9)))
    return found


def colours_apart(n_scenes: int = 20) -> Floats:
    """Difference of the means of fur and lawn in L, a and b, in standard deviations of a scene."""
    X, y = complete_graphs(n_scenes, "test")
    gaps = []
    for features, mask in zip(X, y, strict=True):
        colours = features[..., :3]
        gaps.append((colours[mask == 1].mean(0) - colours[mask == 0].mean(0)) / colours.std((0, 1)))
    return np.array(gaps)
