"""Figures of the chapter on pixels, whose scores MLCA learns, and what its sentences claim."""

from functools import cache
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from book.figures.pictures import (
    Picture,
    named,
    photograph,
    scene,
    shadow,
    show,
)
from mlbook._arrays import Floats, Integers
from mlbook.images import pixel_features
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.partitions import partition_loss
from mlbook.plots import COLORS, INK, plot_metric, plot_partition, subplots

__all__ = [
    "FEATURES",
    "NOISES",
    "RULES",
    "SIZES",
    "direction",
    "eight_pixels",
    "eight_pixels_drawn",
    "explained",
    "first_picture",
    "fit_pixels",
    "left_half",
    "light_losses",
    "object_of_size",
    "pixel_losses",
    "pixels",
    "plain_means",
    "scores_and_thresholds",
    "segment",
    "shrinkage",
    "shrunk_halves",
    "size_and_noise",
    "to_shadow",
    "training_images",
    "two_means",
    "untaught",
]

CELL = 3.0  # pixels of a SIFT cell
RULES = ("sign", "two means")
FEATURES = {"colour": np.s_[128:], "SIFT": np.s_[:128], "all": np.s_[:]}
COLOUR = FEATURES["colour"]
SUN, SHADE = 4.0, 0.0  # light of the two rows of the example by hand


# The first picture, and eight pixels by hand


@cache
def plain_means(seed: int) -> Integers:
    """Cut a test scene by k-means on all features, without learning."""
    with threadpool_limits(1):
        return KMeans(2, n_init=3, random_state=0).fit_predict(pixels(scene("test", seed)[0]))


def first_picture(seed: int = 5) -> Figure:
    """Draw three training scenes with their masks, and a test scene cut with and without them."""
    image, mask = scene("test", seed)
    learned = segment(fit_pixels(4, centred=True), pixels(image, centred=True), "two means")
    figure, axes = subplots(2, 3, height=3.7, width=5.8)
    for i, ax in enumerate(axes[0]):
        picture, right = scene("train", i)
        show(ax, picture, title=f"teacher {i + 1}")
        ax.contour(right, [0.5], colors="w", linewidths=2.5)
        ax.contour(right, [0.5], colors=INK, linewidths=1)
    show(axes[1, 0], image, title="new scene")
    found = {"plain k-means": plain_means(seed), "learned": learned}
    for ax, (name, labels) in zip(axes[1, 1:], found.items(), strict=True):
        loss = partition_loss(mask.ravel(), labels)
        show(ax, image, named(mask, labels), f"{name}: Δ = {loss:.2f}")
    return figure


def untaught(n_scenes: int = 20) -> Floats:
    """Δ of k-means without learning, to the shadow and to the mask of test scenes.

    Returns an array of shape (scenes, 2).
    """
    return np.array(
        [
            [
                partition_loss(truth.ravel(), plain_means(seed))
                for truth in (shadow("test", seed), scene("test", seed)[1])
            ]
            for seed in range(n_scenes)
        ]
    )


def to_shadow(n_scenes: int = 20) -> Floats:
    """Δ of the learned score's two means, to the shadow and to the mask of test scenes.

    The score is learned from four scenes, each centred. Returns an array of shape (scenes, 2).
    """
    model, losses = fit_pixels(4, centred=True), []
    for seed in range(n_scenes):
        image, mask = scene("test", seed)
        found = segment(model, pixels(image, centred=True), "two means")
        truths = shadow("test", seed), mask
        losses.append([partition_loss(truth.ravel(), found) for truth in truths])
    return np.array(losses)


def eight_pixels() -> tuple[Floats, Integers]:
    """Light and colour of two rows of four pixels, lawn, lawn, lawn, fur; the second in the shade.

    Examples
    --------
    >>> X, y = eight_pixels()
    >>> X[:4].tolist(), y.tolist()
    ([[4.0, 0.0], [4.0, 0.0], [4.0, 1.0], [4.0, 3.0]], [0, 0, 0, 1, 0, 0, 0, 1])
    """
    X = np.array([(light, colour) for light in (SUN, SHADE) for colour in (0, 0, 1, 3)])
    return X, np.array([0, 0, 0, 1] * 2)


def eight_pixels_drawn() -> Figure:
    """Draw the eight pixels, and what counts as near before learning and after."""
    X, y = eight_pixels()
    L = MLCA(fit_intercept=True, random_state=0).fit(X, y).components_
    by_light, by_colour = (X[:, 0] < 2).astype(np.int64), (X[:, 1] > 2).astype(np.int64)
    figure, axes = subplots(1, 3, height=2.5, width=6.2)
    shades = np.array([[0.45, 0.7, 0.3], [0.45, 0.7, 0.3], [0.55, 0.66, 0.3], [0.7, 0.5, 0.3]])
    axes[0, 0].imshow(np.array([shades, 0.45 * shades]))
    for i, (row, column) in enumerate(product(range(2), range(4))):
        axes[0, 0].text(column, row, str(i + 1), ha="center", va="center", color="w", fontsize=11)
    axes[0, 0].set(xticks=[], yticks=[], title="eight pixels")
    spread = X + [(0.12, 0), (-0.12, 0), (0, 0), (0, 0)] * 2
    ways = [("plain", by_light, np.eye(2), 1.5), ("learned", by_colour, L.T @ L, 0.4)]
    for ax, (name, found, M, radius) in zip(axes[0, 1:], ways, strict=True):
        plot_partition(spread, found, np.where(y == 1, "fur", "lawn"), ax)
        plot_metric(M, ax, centre=(2, 1.3), radius=radius)
        ax.set(title=name, xlabel="light", ylabel="colour", xlim=(-1.5, 5.5), ylim=(-2.2, 4.8))
        ax.set(xticks=[0, 4], yticks=[0, 1, 3])
        ax.set_aspect("equal", adjustable="box")
        ax.legend_.remove()
    return figure


# The score of a pixel


def pixels(image: Picture, *, centred: bool = False) -> Floats:
    """Describe each pixel by 135 features, as rows; centred: less their mean over this image.

    Examples
    --------
    >>> pixels(scene()[0]).shape
    (3072, 135)
    """
    rows = pixel_features(image, None, cell_size=CELL).reshape(-1, 135).astype(np.float64)
    return rows - rows.mean(axis=0) if centred else rows


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
    show(axes[0, 0], image, title="test scene")
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
    show(axes[0, 0], image, title="test scene")
    words = []
    for ax, centred in zip(axes[0, 1:], (False, True), strict=True):
        model = fit_pixels(n_images, tint, centred=centred)
        rows = pixels(image, centred=centred)
        found = segment(model, rows, "two means").reshape(mask.shape)
        losses = pixel_losses(n_images, tint, centred=centred)
        name = "centred" if centred else "pooled"
        show(ax, image, found, f"{name}: Δ = {partition_loss(mask.ravel(), found.ravel()):.2f}")
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


def _learned(
    X: Floats, y: Integers, given: NDArray[np.bool_], shrinkage: float = 0.0
) -> tuple[Floats, float, float]:
    """Learn a score from some rows: those of all rows in units of ±1, R², and the middle.

    The scatter of the rows is shrunk towards a multiple of the identity, as by `MLCA`.
    """
    Z, s = X[given], np.where(y[given] == 1, 1.0, -1.0)
    centre = Z.mean(axis=0)
    scatter = (Z - centre).T @ (Z - centre)
    t = np.trace(scatter) / len(scatter)
    shrunk = (1 - shrinkage) * scatter + shrinkage * t * np.eye(len(scatter))
    with threadpool_limits(1):
        v = np.linalg.lstsq(shrunk, (Z - centre).T @ (s - s.mean()), rcond=1e-12)[0]
    scores = (X - centre) @ v + s.mean()
    share = 1 - np.sum((s - scores[given]) ** 2) / np.sum((s - s.mean()) ** 2)
    return scores, float(share), float(np.mean([scores[given][s == c].mean() for c in (-1, 1)]))


def _show_scores(ax: Axes, scores: Floats, shape: tuple[int, ...]) -> None:
    ax.imshow(scores.reshape(shape), vmin=-2, vmax=2, interpolation="nearest")
    ax.set_title("score", fontsize=11)
    ax.axis("off")


def direction(name: str, features: str) -> tuple[Figure, str]:
    """Draw the scores of a photograph's pixels, learned from all of it, and their signs."""
    image, mask = photograph(name)
    X, y = pixels(image)[:, FEATURES[features]], mask.ravel()
    scores, share, _ = _learned(X, y, np.ones(len(y), dtype=bool))
    found = (scores > 0).astype(np.int64)
    figure, axes = subplots(1, 3, height=1.6, width=5.6)
    show(axes[0, 0], image, title=name)
    _show_scores(axes[0, 1], scores, mask.shape)
    show(axes[0, 2], image, found.reshape(mask.shape), "positive")
    return figure, (
        f"{name}, {features} features: R² = {share:.2f}, Δ = {partition_loss(y, found):.2f}."
    )


def left_half(mask: Integers) -> NDArray[np.bool_]:
    """Say which pixels of a picture, in rows, are in its left half.

    Examples
    --------
    >>> left_half(np.zeros((1, 4))).tolist()
    [True, True, False, False]
    """
    columns = np.arange(mask.shape[1])
    return np.broadcast_to(columns < mask.shape[1] // 2, mask.shape).ravel()


@cache
def shrunk_halves(name: str, shrinkage: float) -> tuple[Floats, float, float]:
    """Learn all features from the left half of a photograph, shrunk: scores, Δ there, Δ right.

    Examples
    --------
    >>> _, left, right = shrunk_halves("astronaut", 0.3)
    >>> left < 0.5 < 1 < right
    True
    """
    image, mask = photograph(name)
    y, left = mask.ravel(), left_half(mask)
    scores, *_ = _learned(pixels(image), y, left, shrinkage)
    found = (scores > 0).astype(np.int64)
    right = ~left
    there, elsewhere = (partition_loss(y[half], found[half]) for half in (left, right))
    return scores, there, elsewhere


def shrinkage(name: str, shrinkage: float) -> tuple[Figure, str]:
    """Draw a photograph learned from its left half, with a shrunk scatter."""
    image, mask = photograph(name)
    scores, *losses = shrunk_halves(name, shrinkage)
    figure, axes = subplots(1, 3, height=1.6, width=5.6)
    show(axes[0, 0], image, mask, "mask")
    _show_scores(axes[0, 1], scores, mask.shape)
    show(axes[0, 2], image, (scores > 0).astype(np.int64).reshape(mask.shape), "positive")
    for ax in axes[0]:
        ax.axvline(mask.shape[1] // 2 - 0.5, color=INK, linestyle="--", linewidth=1.5)
    return figure, (
        f"{name}, learned from the left half with shrinkage {shrinkage:g}: Δ = {losses[0]:.2f} "
        f"there, {losses[1]:.2f} on the right half."
    )


SIZES, NOISES = (0.3, 0.5, 0.7, 1.0, 1.4), (0.0, 0.02, 0.05, 0.1, 0.2)


@cache
def object_of_size(size: float, noise: float, seed: int = 0) -> tuple[Picture, Integers, Floats]:
    """Return a noisy scene with fur of a size: picture, mask, and scores learned from its colours.

    Examples
    --------
    >>> _, mask, scores = object_of_size(0.5, 0.1)
    >>> mask.size == len(scores)
    True
    """
    image, mask = scene("test", seed, size=size, tint=0)
    noisy = image + noise * np.random.default_rng(seed).normal(size=image.shape)
    image = np.clip(noisy, 0, 1)
    scores, *_ = _learned(pixels(image)[:, COLOUR], mask.ravel(), np.ones(mask.size, dtype=bool))
    return image, mask, scores


def size_and_noise(size: float, noise: float) -> tuple[Figure, str]:
    """Draw a scene, what the sign and two means keep of it, and its scores by class."""
    image, mask, scores = object_of_size(size, noise)
    y = mask.ravel()
    threshold = two_means(scores)
    figure, axes = subplots(2, 3, height=3.6, width=5.6)
    show(axes[0, 0], image, mask, "mask")
    words = []
    for ax, rule, cut in zip(axes[0, 1:], RULES, (0, threshold), strict=True):
        found = (scores > cut).astype(np.int64)
        show(ax, image, found.reshape(mask.shape), rule)
        words.append(f"{rule} {partition_loss(y, found):.2f}")
    grid = axes[1, 0].get_gridspec()
    for ax in axes[1]:
        ax.remove()
    below = figure.add_subplot(grid[1, :])
    bins = np.linspace(-2.5, 2.5, 51).tolist()
    for c, (name, hatch) in enumerate([("lawn", ""), ("fur", "//")]):
        inside = np.clip(scores[y == c], -2.5, 2.5)
        weights = np.full(len(inside), 1 / len(inside))
        below.hist(
            inside, bins, weights=weights, color=COLORS[c], alpha=0.6, hatch=hatch, label=name
        )
    below.axvline(0, color=INK, linestyle=":", label="sign")
    below.axvline(threshold, color=INK, linestyle="--", label="two means")
    below.set(yticks=[], xlabel="score", xlim=(-2.5, 2.5), ylim=(0, 0.5))
    below.legend(frameon=False, fontsize=9, loc="upper right")
    share = y.mean()
    s = np.where(y == 1, 1.0, -1.0)
    R2 = 1 - np.sum((s - scores) ** 2) / np.sum((s - s.mean()) ** 2)
    needed = max(0.0, (1 - 2 * share) / (2 - 2 * share))
    return figure, (
        f"Fur on {share:.0%} of the scene, noise {noise:g}: R² = {R2:.2f}, needed {needed:.2f}. "
        f"Δ of {' and of '.join(words)}."
    )
