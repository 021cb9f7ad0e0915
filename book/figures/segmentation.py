"""Figures of the chapter on segmentation.

Its pictures are collages of two photographs that scikit-image ships, and three of these
photographs with masks drawn by hand.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise, product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from skimage import data
from skimage.draw import ellipse, polygon
from skimage.feature import SIFT
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from mlbook._arrays import Floats, Integers
from mlbook.images import colour_and_position, dense_sift, pixel_features, resize_with_mask
from mlbook.mlca import BinaryMLCA
from mlbook.ncuts import (
    NormalizedCutMetric,
    gaussian_affinity,
    grid_edges,
    normalized_cut,
    normalized_cut_value,
    spectral_hinge,
    squared_differences,
)
from mlbook.partitions import partition_loss, rand_loss
from mlbook.plots import COLORS, INK, subplots

__all__ = [
    "FEATURES",
    "PHOTOGRAPHS",
    "PICTURES",
    "RULES",
    "colour_and_place",
    "complete_graphs",
    "contest",
    "cut_losses",
    "cut_of",
    "cut_weights",
    "direction",
    "every_way",
    "explained",
    "fit_pixels",
    "hinge_over_scale",
    "learned_cut",
    "majorizers",
    "mean_squares",
    "one_picture",
    "photograph",
    "pixel_losses",
    "pixels",
    "scene",
    "scores_and_thresholds",
    "segment",
    "side_by_side",
    "sift_beside_scikit_image",
    "training_images",
    "two_means",
    "two_scales",
]

Picture = NDArray[np.floating]

HEIGHT, WIDTH = 48, 64  # of a collage
FUR = {"train": np.s_[10:90, 100:300], "test": np.s_[130:235, 30:130]}  # of Chelsea the cat
SOIL, GRASS = np.array([0.30, 0.22, 0.15]), np.array([0.55, 0.75, 0.40])
CELL = 3.0  # pixels of a SIFT cell


# Pictures


def scene(
    part: str = "train",
    seed: int = 0,
    *,
    shadow: float = 0.5,
    tint: float = 0.15,
    size: float = 1.0,
) -> tuple[Floats, Integers]:
    """Make a collage: a patch of fur on a lawn, half of it in a shadow, and its mask.

    The fur is cut from the photograph of a cat, the lawn from that of grass, which is grey and
    coloured here from soil to green. "train" and "test" share no pixel. A shadow with a straight
    edge multiplies the light by `shadow`, and the light has a colour of its own: each channel
    is multiplied by the exponential of a normal number with standard deviation `tint`.

    Examples
    --------
    >>> image, mask = scene(seed=3)
    >>> image.shape, mask.shape, np.unique(mask).tolist()
    ((48, 64, 3), (48, 64), [0, 1])
    """
    rng = np.random.default_rng([seed, len(part)])
    mask = _blob(rng, size)
    fur, lawn = (_cut(material, rng) for material in _materials(part))
    image = np.where(mask[..., None] == 1, fur, lawn)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    turn, across, down = rng.uniform(0, 2 * np.pi), *rng.uniform(0.35, 0.65, 2)
    beyond = (rows - HEIGHT * down) * np.sin(turn) + (columns - WIDTH * across) * np.cos(turn)
    light = 1 - (1 - shadow) / (1 + np.exp(-beyond / 1.5))
    colour = np.exp(tint * rng.normal(size=3))
    return np.clip(image * light[..., None] * colour, 0, 1), mask


@cache
def _materials(part: str) -> tuple[Floats, Floats]:
    grass = data.grass().reshape(256, 2, 256, 2).mean(axis=(1, 3)) / 255
    grass = grass[:, :128] if part == "train" else grass[:, 128:]
    green = np.clip((grass[..., None] - 0.15) / 0.6, 0, 1)
    return data.chelsea()[FUR[part]] / 255, (1 - green) * SOIL + green * GRASS


def _cut(material: Floats, rng: np.random.Generator) -> Floats:
    top = rng.integers(material.shape[0] - HEIGHT + 1)
    left = rng.integers(material.shape[1] - WIDTH + 1)
    return material[top : top + HEIGHT, left : left + WIDTH]


def _blob(rng: np.random.Generator, size: float) -> Integers:
    """Fill a closed curve around a random centre, its radius a few random waves of the angle."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    down = rows - HEIGHT * rng.uniform(0.4, 0.6)
    right = columns - WIDTH * rng.uniform(0.35, 0.65)
    angle = np.arctan2(down, right)
    waves = [rng.uniform(-0.18, 0.18) * np.cos(m * angle + 7 * rng.random()) for m in (2, 3, 4)]
    return (np.hypot(down, right) < 0.3 * HEIGHT * size * (1 + sum(waves))).astype(np.int64)


PHOTOGRAPHS = ("coffee", "astronaut", "rocket")
_OUTLINES = {  # rows and columns of corners, in pixels of the photographs
    "astronaut": [
        (12, 240), (20, 200), (60, 155), (110, 160), (140, 180), (150, 140), (190, 115), (225, 120),
        (245, 70), (300, 40), (420, 22), (511, 18), (511, 500), (420, 495), (350, 440), (335, 365),
        (280, 345), (225, 300), (160, 290), (130, 285), (60, 300), (25, 280),
    ],
    "rocket": [(92, 314), (92, 322), (130, 332), (412, 340), (412, 304), (130, 306)],
}  # fmt: skip


@cache
def photograph(name: str, height: int = 60) -> tuple[Picture, Integers]:
    """One of three photographs, scaled to a height, and a mask drawn by hand.

    Examples
    --------
    >>> print(*(f"{name} {photograph(name)[1].mean():.0%}" for name in PHOTOGRAPHS))
    coffee 45% astronaut 53% rocket 3%
    """
    image = getattr(data, name)()
    mask = np.zeros(image.shape[:2], dtype=np.int64)
    if name == "coffee":  # the saucer, the cup
        for centre, radii in [((242, 277), (145, 202)), ((110, 288), (94, 116))]:
            mask[ellipse(*centre, *radii, shape=mask.shape)] = 1
    else:
        rows, columns = np.transpose(_OUTLINES[name])
        mask[polygon(rows, columns, shape=mask.shape)] = 1
    return resize_with_mask(image, mask, height)


def _show(ax: Axes, image: Picture, labels: Integers | None = None, title: str = "") -> None:
    """Draw an image; with labels, the part called 0 faded to white."""
    shown = image if labels is None else np.where(labels[..., None] == 1, image, 0.8 + 0.2 * image)
    ax.imshow(shown, interpolation="nearest")
    ax.set_title(title, fontsize=11)
    ax.axis("off")


def _named(mask: Integers, found: Integers) -> Integers:
    """Call the two parts found 0 and 1 as most pixels of the mask have it."""
    found = found.reshape(mask.shape)
    return found if np.mean(found == mask) >= 0.5 else 1 - found


# Way one: the metric of the pixels


def pixels(image: Picture, *, centred: bool = False) -> Floats:
    """Describe each pixel by 135 features, as rows; centred: less their mean over this image.

    Examples
    --------
    >>> pixels(scene()[0]).shape
    (3072, 135)
    """
    rows = pixel_features(image, None, cell_size=CELL).reshape(-1, 135).astype(np.float64)
    return rows - rows.mean(axis=0) if centred else rows


RULES = ("sign", "two means")


@cache
def fit_pixels(
    n_images: int, tint: float = 0.15, *, centred: bool = False, seed: int = 0
) -> BinaryMLCA:
    """Learn a score from the pixels of some training scenes, with an intercept.

    Examples
    --------
    >>> fit_pixels(2).direction_.shape
    (135,)
    """
    pairs = [scene("train", 100 * seed + i, tint=tint) for i in range(n_images)]
    X = np.vstack([pixels(image, centred=centred) for image, _ in pairs])
    y = np.concatenate([mask.ravel() for _, mask in pairs])
    with threadpool_limits(1):
        return BinaryMLCA(fit_intercept=True).fit(X, y)


def segment(model: BinaryMLCA, rows: Floats, rule: str) -> Integers:
    """Cut the pixels of one image where the score changes sign, or into two means of the scores.

    The sign is univariate MLCA. Two means of the scores are, with an intercept, what k-means on
    the rows mapped by multivariate MLCA looks for; on a line the best two clusters can be found.
    """
    scores = model.decision_function(rows)
    return (scores > (0 if rule == "sign" else two_means(scores))).astype(np.int64)


def two_means(scores: Floats) -> float:
    """Threshold of the best two clusters of numbers on a line: all cuts of their order are tried.

    The distortion of the k-means problem is smallest; O(n log n).

    Examples
    --------
    >>> two_means(np.array([0.0, 1.0, 5.0, 6.0, 7.0]))
    3.0
    """
    order = np.sort(scores)
    left = np.cumsum(order)[:-1]
    counts = np.arange(1, len(order))
    explained = left**2 / counts + (order.sum() - left) ** 2 / (len(order) - counts)
    cut = int(explained.argmax())
    return float((order[cut] + order[cut + 1]) / 2)


def explained(model: BinaryMLCA, X: Floats, y: Integers) -> tuple[float, Floats]:
    """Share R² of the spread of the scores ±1 that the fit explains, and its two class means.

    The fit is that of the scores themselves, s ≈ √n (Xm + b).
    """
    s = np.where(y == 1, 1.0, -1.0)
    fit = model.decision_function(X) * np.sqrt(len(y))
    share = 1 - np.sum((s - fit) ** 2) / np.sum((s - s.mean()) ** 2)
    return float(share), np.array([fit[y == c].mean() for c in (0, 1)])


def scores_and_thresholds() -> Figure:
    """Draw the scores of a test scene, with the threshold learned and that of two means."""
    image, mask = scene("test", 5, tint=0.2)
    model = fit_pixels(8, 0.2)
    scores = model.decision_function(pixels(image)) * np.sqrt(model.class_count_.sum())
    figure, axes = subplots(2, 2, height=4.4, width=5.2)
    _show(axes[0, 0], image, title="test scene")
    picture = axes[0, 1].imshow(scores.reshape(mask.shape), interpolation="nearest")
    axes[0, 1].set_title("score of each pixel", fontsize=11)
    axes[0, 1].axis("off")
    figure.colorbar(picture, ax=axes[0, 1], shrink=0.6)
    grid = axes[1, 0].get_gridspec()
    for ax in axes[1]:
        ax.remove()
    below = figure.add_subplot(grid[1, :])
    bins = np.linspace(scores.min(), scores.max(), 40).tolist()
    for c, (name, hatch) in enumerate([("lawn", ""), ("fur", "//")]):
        inside = scores[mask.ravel() == c]
        below.hist(inside, bins, color=COLORS[c], alpha=0.6, hatch=hatch, label=name)
    below.axvline(0, color=INK, linestyle=":", label="sign")
    below.axvline(two_means(scores), color=INK, linestyle="--", label="two means")
    below.set(yticks=[], xlabel="score")
    below.legend(frameon=False, fontsize=10)
    return figure


def training_images(n_images: int, tint: float) -> tuple[Figure, str]:
    """Draw what is learned from some scenes, pooled or centred one by one."""
    image, mask = scene("test", 6, tint=tint)
    figure, axes = subplots(1, 3, height=1.7, width=5.6)
    _show(axes[0, 0], image, title="test scene")
    words = []
    for ax, centred in zip(axes[0, 1:], (False, True), strict=True):
        model = fit_pixels(n_images, tint, centred=centred)
        rows = pixels(image, centred=centred)
        found = segment(model, rows, "two means").reshape(mask.shape)
        losses = pixel_losses(n_images, tint, centred=centred)
        name = "centred" if centred else "pooled"
        _show(ax, image, found, f"{name}: Δ = {partition_loss(mask.ravel(), found.ravel()):.2f}")
        words.append(f"{name} {np.mean(losses):.2f}")
    return figure, (
        f"Training scenes: {n_images}, tint {tint:g}. Mean Δ over ten test scenes: "
        f"{' and '.join(words)}."
    )


def pixel_losses(
    n_images: int,
    tint: float = 0.15,
    *,
    centred: bool = False,
    rule: str = "two means",
    seed: int = 0,
    n_test: int = 10,
) -> list[float]:
    """Δ on test scenes of a metric learned from training scenes, one number per scene.

    Examples
    --------
    >>> losses = pixel_losses(4, centred=True, n_test=2)
    >>> len(losses), max(losses) < 0.3
    (2, True)
    """
    model = fit_pixels(n_images, tint, centred=centred, seed=seed)
    tests = [_test_pixels(i, tint, centred) for i in range(n_test)]
    return [partition_loss(labels, segment(model, rows, rule)) for rows, labels in tests]


@cache
def _test_pixels(seed: int, tint: float, centred: bool) -> tuple[Floats, Integers]:
    image, mask = scene("test", seed, tint=tint)
    return pixels(image, centred=centred), mask.ravel()


FEATURES = {"colour": np.s_[128:], "SIFT": np.s_[:128], "all": np.s_[:]}


def direction(name: str, features: str, learned_from: str) -> tuple[Figure, str]:
    """Draw the scores of a photograph's pixels, learned from half of it or all, and their signs."""
    image, mask = photograph(name)
    X, y = pixels(image)[:, FEATURES[features]], mask.ravel()
    middle = mask.shape[1] // 2
    left = np.broadcast_to(np.arange(mask.shape[1]) < middle, mask.shape).ravel()
    given = left if learned_from == "left half" else np.ones_like(left)
    with threadpool_limits(1):
        model = BinaryMLCA(fit_intercept=True).fit(X[given], y[given])
    share, _ = explained(model, X[given], y[given])
    scores = model.decision_function(X) * np.sqrt(given.sum())
    found = (scores > 0).astype(np.int64)
    figure, axes = subplots(1, 3, height=1.6, width=5.6)
    _show(axes[0, 0], image, title=name)
    axes[0, 1].imshow(scores.reshape(mask.shape), vmin=-2, vmax=2, interpolation="nearest")
    axes[0, 1].set_title("score", fontsize=11)
    axes[0, 1].axis("off")
    _show(axes[0, 2], image, found.reshape(mask.shape), "positive")
    for ax in axes[0] if learned_from == "left half" else []:
        ax.axvline(middle - 0.5, color=INK, linestyle="--", linewidth=1.5)
    losses = [partition_loss(y[half], found[half]) for half in (left, ~left)]
    return figure, (
        f"{name}, {features} features, learned from {learned_from}: R² = {share:.2f}. "
        f"Δ = {losses[0]:.2f} on the left half, {losses[1]:.2f} on the right."
    )


def sift_beside_scikit_image(sigma: float = 1.6) -> list[tuple[str, int, int]]:
    """Compare `dense_sift` with scikit-image's descriptors, as whole numbers, on a photograph.

    Returns rows: a range of distances from the lower or the right border, whichever is nearer,
    the number of pixels compared there, and the largest difference of an entry.
    """
    image = data.camera()[100:180, 200:300]
    at = np.array(list(product(range(2, 80, 3), range(2, 100, 3))))
    theirs = SIFT(upsampling=1, n_octaves=1, sigma_min=sigma)
    theirs.keypoints, theirs.positions = at, at.astype(float)
    theirs.sigmas, theirs.orientations = np.full(len(at), sigma), np.zeros(len(at))
    theirs.scales = theirs.octaves = np.zeros(len(at), dtype=np.int64)
    theirs.extract(image)
    ours = dense_sift(image / 255, cell_size=3 * sigma)[at[:, 0], at[:, 1]]
    gaps = np.abs(np.minimum(np.floor(512 * ours), 255) - theirs.descriptors).max(axis=1)
    near = np.min(np.array(image.shape) - 1 - at, axis=1)
    limits = [0, 5, 10, 15, 100]
    bands = [(near >= low) & (near < high) for low, high in pairwise(limits)]
    return [
        (f"{near[b].min()} to {near[b].max()}", int(b.sum()), int(gaps[b].max())) for b in bands
    ]


# Way two: normalized cuts


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


def _edges(image: NDArray[np.generic], radius: float) -> Integers:
    return grid_edges(image.shape[0], image.shape[1], radius)


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
        edges = _edges(mask, radius)
        W = gaussian_affinity(features.reshape(mask.size, -1), edges, b)
        losses.append(partition_loss(mask.ravel(), normalized_cut(W, 2, random_state=0)))
    return losses


def mean_squares(X: Sequence[Floats], radius: float = 20) -> Floats:
    """Mean squared difference of each feature over the pairs of all images: units for weights."""
    each = []
    for features in X:
        edges = _edges(features, radius)
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


PICTURES = ("no shadow", "shadow", "shadow, a alone", "coffee")


@cache
def _picture(name: str) -> tuple[Picture, Integers]:
    if name in PHOTOGRAPHS:
        return photograph(name, 24)
    return resize_with_mask(*scene("test", 6, shadow=1.0 if name == "no shadow" else 0.5), 24)


def colour_and_place(picture: str, colour: float, place: float) -> tuple[Figure, str]:
    """Draw the cut of a picture into two, over the weights of colour and of place."""
    image, mask = _picture(picture)
    features = colour_and_position(image, None).astype(np.float64)
    edges = _edges(mask, 5)
    colours = [0, 3, 0] if "alone" in picture else [1, 1, 1]
    shares = np.array([*(colour / 3 * c for c in colours), place / 2, place / 2])
    b = shares / mean_squares([features], 5)
    W = gaussian_affinity(features.reshape(-1, 5), edges, b)
    found = normalized_cut(W, 2, random_state=0)
    values = [normalized_cut_value(W, labels) for labels in (found, mask.ravel())]
    figure, axes = subplots(1, 2, height=1.9, width=5.2)
    _show(axes[0, 0], image, mask, "mask")
    _show(axes[0, 1], image, _named(mask, found), f"colour {colour:g}, place {place:g}")
    return figure, (
        f"{picture.capitalize()}; mean exponents {colour:g} of colour, {place:g} of place. "
        f"Normalized cut {values[0]:.3f}, of the mask {values[1]:.3f}. "
        f"Δ to the mask {partition_loss(mask.ravel(), found):.2f}."
    )


@cache
def _hinge(part: str, seed: int) -> tuple[Floats, Integers, Integers, Floats]:
    X, y = complete_graphs(1, part, first=seed)
    edges = _edges(y[0], 20)
    return squared_differences(X[0].reshape(-1, 5), edges), edges, y[0].ravel(), mean_squares(X)


def hinge_over_scale() -> Figure:
    """Draw the hinge, and Δ of the cut, over the scale of three choices of weights."""
    differences, edges, labels, unit = _hinge("train", 0)
    X, y = complete_graphs(1)
    shares = {"L alone": [1, 0, 0, 0, 0], "all alike": [0.2] * 5, "a alone": [0, 1, 0, 0, 0]}
    scales = np.geomspace(0.01, 100, 25)
    figure, axes = subplots(1, 2, height=2.9)
    for (name, w), color, line in zip(shares.items(), COLORS, ["-", "--", "-."], strict=False):
        weights = [scale * np.array(w) / unit for scale in scales]
        hinges = [spectral_hinge(b, differences, edges, labels)[0] for b in weights]
        losses = [cut_losses(X, y, b)[0] for b in weights]
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


# Both ways


@cache
def learned_cut(radius: float = 20, height: int = 12) -> NormalizedCutMetric:
    """Weights learned from four scenes; with the default values on graphs of all pairs."""
    model = NormalizedCutMetric(
        radius=radius, scales=(2.0, 8.0), max_iter=5, max_steps=3, random_state=0
    )
    with threadpool_limits(1):
        return model.fit(*complete_graphs(4, height=height))


@cache
def cut_weights(radius: float = 20, height: int = 12) -> dict[str, Floats]:
    """Weights b of five features for cuts: all alike, from a grid of two scales, and learned.

    The first two have their scales from the same four scenes the third is learned from.
    """
    X, y = complete_graphs(4, height=height)
    unit = mean_squares(X, radius)
    alike = {scale: scale / 5 / unit for scale in (2.0, 8.0)}
    with threadpool_limits(1):
        best = min(alike, key=lambda scale: np.mean(cut_losses(X, y, alike[scale], radius)))
        grid = two_scales(X, y, (1, 2, 4, 8, 16), (0, 0.5, 2), radius)[2]
    return {"alike": alike[best], "grid": grid, "learned": learned_cut(radius, height).weights_}


def contest(radius: float = 20, height: int = 12, n_test: int = 10) -> list[tuple[str, ...]]:
    """Δ of cuts by three choices of weights, on the training scenes and on test scenes.

    Returns rows: the choice, the share of place in the mean exponent, and both mean losses.
    """
    train = complete_graphs(4, height=height)
    test = complete_graphs(n_test, "test", height=height)
    unit = mean_squares(train[0], radius)
    rows = []
    for name, b in cut_weights(radius, height).items():
        place = f"{(b * unit)[3:].sum() / (b @ unit):.0%}"
        with threadpool_limits(1):
            losses = [np.mean(cut_losses(*pairs, b, radius)) for pairs in (train, test)]
        rows.append((name, place, *(f"{loss:.2f}" for loss in losses)))
    return rows


def cut_of(image: Picture, b: Floats) -> Integers:
    """Cut a scene at a quarter of its size on the graph of all pairs; each label fills a square.

    Examples
    --------
    >>> cut_of(scene()[0], np.array([0, 900.0, 0, 0, 0])).shape
    (48, 64)
    """
    coarse = colour_and_position(image, len(image) // 4)
    W = gaussian_affinity(coarse.reshape(-1, 5), _edges(coarse, 20), b)
    with threadpool_limits(1):
        labels = normalized_cut(W, 2, random_state=0).reshape(coarse.shape[:2])
    return np.kron(labels, np.ones((4, 4), dtype=np.int64))


def every_way(image: Picture) -> dict[str, Integers]:
    """Cut a scene in eight ways; whatever is learned is learned from the same four scenes."""
    found = {}
    with threadpool_limits(1):
        plain = KMeans(2, n_init=10, random_state=0)
        found["k-means, not learned"] = plain.fit_predict(pixels(image))
    for rule, (centred, name) in product(RULES, [(False, "pooled"), (True, "each centred")]):
        rows = pixels(image, centred=centred)
        found[f"MLCA, {rule}, {name}"] = segment(fit_pixels(4, centred=centred), rows, rule)
    for name, b in cut_weights().items():
        found[f"normalized cut, {name}"] = cut_of(image, b).ravel()
    return found


def side_by_side(n_test: int = 10) -> list[tuple[str, str, str]]:
    """Mean Δ and Rand loss of all ways on test scenes: one row each."""
    losses: dict[str, list[tuple[float, float]]] = {}
    for seed in range(n_test):
        image, mask = scene("test", seed)
        for way, labels in every_way(image).items():
            pair = partition_loss(mask.ravel(), labels), rand_loss(mask.ravel(), labels)
            losses.setdefault(way, []).append(pair)
    means = {way: np.mean(pairs, axis=0) for way, pairs in losses.items()}
    return [(way, f"{delta:.2f}", f"{rand:.2f}") for way, (delta, rand) in means.items()]


def one_picture(seed: int = 5) -> Figure:
    """Draw one test scene cut in four ways: without learning and with."""
    image, mask = scene("test", seed)
    found = every_way(image)
    shown = {
        "k-means": "k-means, not learned",
        "k-means, learned": "MLCA, two means, each centred",
        "cut": "normalized cut, alike",
        "cut, learned": "normalized cut, learned",
    }
    figure, axes = subplots(3, 2, height=5.6, width=5.0)
    _show(axes[0, 0], image, title="test scene")
    _show(axes[0, 1], image, mask, "mask")
    for ax, (title, way) in zip(axes[1:].ravel(), shown.items(), strict=True):
        loss = partition_loss(mask.ravel(), found[way])
        _show(ax, image, _named(mask, found[way]), f"{title}: Δ = {loss:.2f}")
    return figure
