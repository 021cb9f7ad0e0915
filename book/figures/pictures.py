"""Pictures that the chapters on segmentation share.

They are collages of two photographs that scikit-image ships, and three of these photographs with
masks drawn by hand.
"""

from functools import cache
from itertools import pairwise, product
from unittest.mock import patch

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from skimage import data
from skimage.draw import ellipse, polygon
from skimage.feature import SIFT

from mlbook._arrays import Floats, Integers
from mlbook.images import dense_sift, resize_with_mask
from mlbook.images import pixels as of_pixels

__all__ = [
    "FUR",
    "PHOTOGRAPHS",
    "Picture",
    "named",
    "photograph",
    "scene",
    "shadow",
    "shared_pixels",
    "show",
    "sift_beside_scikit_image",
]

Picture = NDArray[np.floating]

HEIGHT, WIDTH = 48, 64  # of a collage
FUR = {"train": np.s_[10:90, 100:300], "test": np.s_[130:235, 30:130]}  # of Chelsea the cat
SOIL, GRASS = np.array([0.30, 0.22, 0.15]), np.array([0.55, 0.75, 0.40])
PHOTOGRAPHS = ("coffee", "astronaut", "rocket")
_OUTLINES = {  # rows and columns of corners, in pixels of the photographs
    "astronaut": [
        (12, 240), (20, 200), (60, 155), (110, 160), (140, 180), (150, 140), (190, 115), (225, 120),
        (245, 70), (300, 40), (420, 22), (511, 18), (511, 500), (420, 495), (350, 440), (335, 365),
        (280, 345), (225, 300), (160, 290), (130, 285), (60, 300), (25, 280),
    ],
    "rocket": [(92, 314), (92, 322), (130, 332), (412, 340), (412, 304), (130, 306)],
}  # fmt: skip


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


def show(ax: Axes, image: Picture, labels: Integers | None = None, title: str = "") -> None:
    """Draw an image; with labels, the part called 0 faded to white."""
    shown = image if labels is None else np.where(labels[..., None] == 1, image, 0.8 + 0.2 * image)
    ax.imshow(shown, interpolation="nearest")
    ax.set_title(title, fontsize=11)
    ax.axis("off")


def named(mask: Integers, found: Integers) -> Integers:
    """Call the two parts found 0 and 1 as most pixels of the mask have it."""
    found = found.reshape(mask.shape)
    return found if np.mean(found == mask) >= 0.5 else 1 - found


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
