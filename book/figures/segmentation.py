"""Figures of the chapter on segmentation.

Its pictures are collages of two photographs that scikit-image ships, and three of these
photographs with masks drawn by hand.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise, product
from unittest.mock import patch

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from skimage import data
from skimage.draw import ellipse, polygon
from skimage.feature import SIFT
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from book.figures.kmeans import all_partitions
from mlbook._arrays import Floats, Integers
from mlbook.images import colour_and_position, dense_sift, pixel_features, resize_with_mask
from mlbook.images import pixels as of_pixels
from mlbook.kmeans import distortion
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.ncuts import (
    NormalizedCutMetric,
    gaussian_affinity,
    grid_edges,
    normalized_cut,
    normalized_cut_bound,
    normalized_cut_value,
    spectral_hinge,
    squared_differences,
)
from mlbook.partitions import equivalence_matrix, partition_loss, rand_loss
from mlbook.plots import COLORS, INK, subplots

__all__ = [
    "FEATURES",
    "PHOTOGRAPHS",
    "PICTURES",
    "RULES",
    "best_on_a_line",
    "class_means",
    "colour_and_place",
    "colours_apart",
    "colours_of_grid",
    "complete_graphs",
    "convex_over_partitions",
    "cut_beside_mask",
    "cut_identities",
    "cut_losses",
    "cut_of",
    "cut_weights",
    "direction",
    "empty_lawns",
    "every_way",
    "explained",
    "explored",
    "fit_pixels",
    "fits",
    "halves",
    "hinge_and_loss",
    "hinge_over_scale",
    "hinge_statements",
    "learned_cut",
    "light_losses",
    "losses_side_by_side",
    "majorizers",
    "mean_squares",
    "near_pairs",
    "one_picture",
    "one_score",
    "photograph",
    "pixel_losses",
    "pixels",
    "scene",
    "scores_and_thresholds",
    "scribbles",
    "segment",
    "semidefinite",
    "shadow",
    "shared_pixels",
    "shifted",
    "sift_beside_scikit_image",
    "single_pixels",
    "sizes_of_fur",
    "training_images",
    "two_means",
    "two_scales",
    "untaught",
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


def shadow(part: str, seed: int) -> Integers:
    """Tell where the shadow of a scene lies: 1 for pixels that lose a quarter of their light.

    Examples
    --------
    >>> shadow("test", 5).shape
    (48, 64)
    """
    dark, plain = (scene(part, seed, shadow=light)[0].sum(axis=2) for light in (0.5, 1.0))
    return (dark < 0.75 * plain).astype(np.int64)


@cache
def _materials(part: str) -> tuple[Floats, Floats]:
    fur, grass = _regions(part, data.chelsea(), data.grass())
    grass = grass.reshape(256, 2, 128, 2).mean(axis=(1, 3)) / 255
    green = np.clip((grass[..., None] - 0.15) / 0.6, 0, 1)
    return fur / 255, (1 - green) * SOIL + green * GRASS


def _regions(part: str, cat: NDArray, grass: NDArray) -> tuple[NDArray, NDArray]:
    """Return the parts of two photographs that scenes for training or for testing are cut from."""
    return cat[FUR[part]], grass[:, :256] if part == "train" else grass[:, 256:]


def shared_pixels() -> list[int]:
    """Count the pixels of the cat and of the grass that both kinds of scenes are cut from.

    Examples
    --------
    >>> shared_pixels()
    [0, 0]
    """
    shapes = data.chelsea().shape[:2], data.grass().shape
    cat, grass = (np.arange(rows * columns).reshape(rows, columns) for rows, columns in shapes)
    parts = (_regions(part, cat, grass) for part in FUR)
    return [len(np.intersect1d(train, test)) for train, test in zip(*parts, strict=True)]


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
        f"Training scenes: {n_images}, tint {tint:g}, one draw. Mean Δ over ten test scenes: "
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
def light_losses(tint: float, n_images: int = 4, n_draws: int = 20) -> Floats:
    """Mean Δ over ten test scenes, of metrics learned from draws of training scenes.

    Returns an array of shape (draws, 2, 2): pooled or each centred, by the sign or two means.

    Examples
    --------
    >>> light_losses(0.2, 1, 2).shape
    (2, 2, 2)
    """
    losses = np.empty((n_draws, 2, len(RULES)))
    for draw in range(n_draws):
        pairs = [scene("train", 100 * draw + i, tint=tint) for i in range(n_images)]
        described = [pixels(image) for image, _ in pairs]
        y = np.concatenate([mask.ravel() for _, mask in pairs])
        for centred in (False, True):
            X = np.vstack([rows - rows.mean(axis=0) if centred else rows for rows in described])
            with threadpool_limits(1):
                model = BinaryMLCA(fit_intercept=True).fit(X, y)
            tests = [_test_pixels(i, tint, centred) for i in range(10)]
            found = []
            for rows, labels in tests:
                scores = model.decision_function(rows)
                cuts = (scores > 0, scores > two_means(scores))  # by the rules
                found.append([partition_loss(labels, cut.astype(np.int64)) for cut in cuts])
            losses[draw, int(centred)] = np.mean(found, axis=0)
    return losses


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


@cache
def sift_beside_scikit_image(last: bool = True, sigma: float = 1.6) -> list[tuple[str, int, int]]:
    """Compare `dense_sift` with scikit-image's descriptors, as whole numbers, on a photograph.

    Returns rows: a range of distances from the lower or the right border, whichever is nearer,
    the number of pixels compared there, and the largest difference of an entry. If not `last`,
    `dense_sift` too leaves out the gradients of the last row and column.
    """
    image = data.camera()[100:180, 200:300]
    at = np.array(list(product(range(2, 80, 3), range(2, 100, 3))))
    theirs = SIFT(upsampling=1, n_octaves=1, sigma_min=sigma)
    theirs.keypoints, theirs.positions = at, at.astype(float)
    theirs.sigmas, theirs.orientations = np.full(len(at), sigma), np.zeros(len(at))
    theirs.scales = theirs.octaves = np.zeros(len(at), dtype=np.int64)
    theirs.extract(image)
    maps = of_pixels._orientation_maps

    def cropped(smooth: Floats) -> Floats:
        found = maps(smooth)
        found[-1], found[:, -1] = 0, 0
        return found

    with patch.object(of_pixels, "_orientation_maps", maps if last else cropped):
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


_grid_edges = cache(grid_edges)


def _edges(image: NDArray[np.generic], radius: float) -> Integers:
    return _grid_edges(image.shape[0], image.shape[1], radius)


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
    image, mask = explored(picture)
    features = colour_and_position(image, None).astype(np.float64)
    colours = [0, 3, 0] if "alone" in picture else [1, 1, 1]
    shares = np.array([*(colour / 3 * c for c in colours), place / 2, place / 2])
    W = gaussian_affinity(
        features.reshape(-1, 5), _edges(mask, 5), shares / mean_squares([features], 5)
    )
    found = normalized_cut(W, 2, random_state=0)
    values = [normalized_cut_value(W, labels) for labels in (found, mask.ravel())]
    return found, values[0], values[1], partition_loss(mask.ravel(), found)


def colour_and_place(picture: str, colour: float, place: float) -> tuple[Figure, str]:
    """Draw the cut of a picture into two, over the weights of colour and of place."""
    image, mask = explored(picture)
    found, value, of_mask, loss = cut_beside_mask(picture, colour, place)
    figure, axes = subplots(1, 2, height=1.9, width=5.2)
    _show(axes[0, 0], image, mask, "mask")
    _show(axes[0, 1], image, _named(mask, found), f"colour {colour:g}, place {place:g}")
    return figure, (
        f"{picture.capitalize()}; mean exponents {colour:g} of colour, {place:g} of place. "
        f"Normalized cut {value:.3f}, of the mask {of_mask:.3f}. "
        f"Δ to the mask {loss:.2f}."
    )


@cache
def _hinge(part: str, seed: int) -> tuple[Floats, Integers, Integers, Floats]:
    X, y = complete_graphs(1, part, first=seed)
    edges = _edges(y[0], 20)
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


# Both ways


@cache
def learned_cut() -> NormalizedCutMetric:
    """Weights learned from four scenes of 12 × 16 pixels, all pairs joined."""
    model = NormalizedCutMetric(radius=20, scales=(2.0, 8.0), max_steps=3, tol=1e-3, random_state=0)
    with threadpool_limits(1):
        return model.fit(*complete_graphs(4))


COLOUR_SCALES, PLACE_SCALES = (1, 2, 4, 8, 16), (0, 0.5, 2)  # of the grid


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
    W = gaussian_affinity(coarse.reshape(-1, 5), _edges(coarse, 20), b)
    with threadpool_limits(1):
        labels = normalized_cut(W, 2, random_state=0).reshape(coarse.shape[:2])
    return np.kron(labels, np.ones((4, 4), dtype=np.int64))


@cache
def every_way(seed: int) -> dict[str, Integers]:
    """Cut a test scene in eight ways; whatever is learned is learned from the same four scenes."""
    image, _ = scene("test", seed)
    found = {}
    with threadpool_limits(1):
        plain = KMeans(2, n_init=3, random_state=0)
        found["k-means, not learned"] = plain.fit_predict(pixels(image))
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


def one_picture(seed: int = 5) -> Figure:
    """Draw one test scene cut in four ways: without learning and with."""
    image, mask = scene("test", seed)
    found = every_way(seed)
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


# What the page claims, seed by seed


def untaught(n_scenes: int = 20) -> Floats:
    """Δ of what is found without learning, to the shadow and to the mask of test scenes.

    Returns an array of shape (scenes, 2, 2): k-means or the cut with all features alike, by the
    shadow or the mask.
    """
    losses = np.empty((n_scenes, 2, 2))
    for seed in range(n_scenes):
        truths = shadow("test", seed).ravel(), scene("test", seed)[1].ravel()
        ways = [every_way(seed)[way] for way in ("k-means, not learned", "normalized cut, alike")]
        losses[seed] = [[partition_loss(y, found) for y in truths] for found in ways]
    return losses


def one_score(n_scenes: int = 20) -> tuple[list[bool], list[float]]:
    """Compare both forms of MLCA, learned from one scene, by formula and on another scene.

    Returns whether the formula holds, and Δ of k-means on mapped pixels and two means of scores.
    """
    holds, gaps = [], []
    for seed in range(n_scenes):
        image, mask = scene("train", seed)
        X, y = pixels(image), mask.ravel()
        one = BinaryMLCA(fit_intercept=True).fit(X, y)
        two = MLCA(fit_intercept=True, random_state=0).fit(X, y)
        factors = [-1, 1] / np.sqrt(np.bincount(y)) * np.sqrt(len(y)) / 2
        L = np.outer(factors, one.direction_)
        holds.append(np.allclose(two.components_, L, atol=1e-6 * np.abs(L).max()))
        new = pixels(scene("test", seed)[0])
        gaps.append(partition_loss(two.cluster(new, 2), segment(one, new, "two means")))
    return holds, gaps


def best_on_a_line(n_draws: int = 20, n: int = 7) -> list[bool]:
    """Compare the threshold of `two_means` with all partitions of random numbers into two."""
    found = []
    for seed in range(n_draws):
        x = np.random.default_rng(seed).normal(size=(n, 1))
        every = (np.array(labels) for labels in all_partitions(n) if max(labels) == 1)
        cut = (x[:, 0] > two_means(x[:, 0])).astype(np.int64)
        least = min(distortion(x, labels) for labels in every)
        found.append(bool(np.isclose(distortion(x, cut), least)))
    return found


def class_means(n_draws: int = 20) -> list[bool]:
    """Compare the class means of least-squares fits with their formula, on random classes."""
    found = []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        y = (rng.random(200) < rng.uniform(0.05, 0.95)).astype(np.int64)
        X = rng.normal(size=(200, 4)) + rng.uniform(0, 2) * y[:, None]
        R2, means = explained(BinaryMLCA(fit_intercept=True).fit(X, y), X, y)
        mean = 2 * y.mean() - 1
        found.append(np.allclose(means, [mean - R2 * (1 + mean), mean + R2 * (1 - mean)]))
    return found


def shifted(n_draws: int = 20) -> Floats:
    """Cosine of directions learned before and after each image got a shift of its own.

    Two images of 60 points. Returns an array of shape (draws, 2): pooled, each centred.
    """
    cosines = np.empty((n_draws, 2))
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        y = (rng.random(120) < np.repeat([0.2, 0.8], 60)).astype(np.int64)
        X = rng.normal(size=(120, 5)) + y[:, None]
        moved = X + np.repeat(rng.normal(scale=5, size=(2, 5)), 60, axis=0)
        for j, centred in enumerate((False, True)):
            directions = []
            for rows in (X, moved):
                halves = [half - half.mean(axis=0) * centred for half in np.split(rows, 2)]
                model = BinaryMLCA(fit_intercept=True).fit(np.vstack(halves), y)
                directions.append(model.direction_ / np.linalg.norm(model.direction_))
            cosines[seed, j] = directions[0] @ directions[1]
    return cosines


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
        W = gaussian_affinity(X[0].reshape(12, 5), _edges(y[0], 20), b).toarray()
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


def semidefinite(radius: float, n_scenes: int = 20) -> list[float]:
    """Least eigenvalue of the affinities of test scenes of 12 × 16 pixels."""
    X, y = complete_graphs(n_scenes, "test")
    b = 0.4 / mean_squares(X)
    edges = _edges(y[0], radius)
    graphs = (gaussian_affinity(features.reshape(-1, 5), edges, b) for features in X)
    return [float(np.linalg.eigvalsh(W.toarray())[0]) for W in graphs]


def colours_apart(n_scenes: int = 20) -> Floats:
    """Difference of the means of fur and lawn in L, a and b, in standard deviations of a scene."""
    X, y = complete_graphs(n_scenes, "test")
    gaps = []
    for features, mask in zip(X, y, strict=True):
        colours = features[..., :3]
        gaps.append((colours[mask == 1].mean(0) - colours[mask == 0].mean(0)) / colours.std((0, 1)))
    return np.array(gaps)


def empty_lawns(n_scenes: int = 20) -> Floats:
    """Share of the pixels that each rule keeps of test scenes without fur; learned from eight."""
    model = fit_pixels(8, centred=True)
    rows = [pixels(scene("test", seed, size=0.0)[0], centred=True) for seed in range(n_scenes)]
    return np.array([[segment(model, X, rule).mean() for rule in RULES] for X in rows])


@cache
def sizes_of_fur(size: float, share: float | None = None, n_scenes: int = 20) -> Floats:
    """Δ of the sign and of two means on test scenes with fur of a size, by one score.

    It is learned from four scenes, each centred. The test scenes are centred too; with a share,
    at the mean that they would have if the fur took this share of them.

    Examples
    --------
    >>> sizes_of_fur(1.0, n_scenes=2).shape
    (2, 2)
    """
    model = fit_pixels(4, centred=True)
    losses = []
    for seed in range(n_scenes):
        image, mask = scene("test", seed, size=size)
        X, y = pixels(image), mask.ravel()
        lawn, fur = (X[y == c].mean(axis=0) for c in (0, 1))
        part = y.mean() if share is None else share
        X = X - (1 - part) * lawn - part * fur
        losses.append([partition_loss(y, segment(model, X, rule)) for rule in RULES])
    return np.array(losses)


def fits(name: str) -> Floats:
    """Compute R² and Δ of the sign rule on a photograph, learned from all of it, by features."""
    image, mask = photograph(name)
    rows, y = pixels(image), mask.ravel()
    found = []
    for columns in FEATURES.values():
        X = rows[:, columns]
        model = BinaryMLCA(fit_intercept=True).fit(X, y)
        loss = partition_loss(y, segment(model, X, "sign"))
        found.append((explained(model, X, y)[0], loss))
    return np.array(found)


@cache
def halves(name: str, seed: int | None = None) -> tuple[float, float, float]:
    """Learn all features from half a photograph: R², Δ there, and Δ on the other half.

    The left half, or with a seed a random half of the pixels.
    """
    image, mask = photograph(name)
    X, y = pixels(image), mask.ravel()
    left = np.broadcast_to(np.arange(mask.shape[1]) < mask.shape[1] // 2, mask.shape).ravel()
    given = left if seed is None else np.random.default_rng(seed).permutation(left)
    with threadpool_limits(1):
        model = BinaryMLCA(fit_intercept=True).fit(X[given], y[given])
    found = segment(model, X, "sign")
    losses = [partition_loss(y[part], found[part]) for part in (given, ~given)]
    return explained(model, X[given], y[given])[0], losses[0], losses[1]


def scribbles(n_scenes: int = 20) -> Floats:
    """Δ outside two labelled strips of a scene, by features: learned from the strips, or from all.

    Returns an array of shape (scenes, 3, 2).
    """
    losses = np.empty((n_scenes, len(FEATURES), 2))
    for seed in range(n_scenes):
        image, mask = scene("test", seed)
        rows = np.repeat(np.arange(HEIGHT), WIDTH)
        known = np.isin(rows, [20, 21, 30, 31])
        X, y = pixels(image), mask.ravel()
        for j, columns in enumerate(FEATURES.values()):
            for i, some in enumerate((known, np.ones_like(known))):
                model = BinaryMLCA(fit_intercept=True).fit(X[some][:, columns], y[some])
                found = model.cluster(X[~known][:, columns])
                losses[seed, j, i] = partition_loss(y[~known], found)
    return losses
