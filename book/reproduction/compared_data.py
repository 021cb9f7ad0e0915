"""Real data on which all methods are compared, and how it is split.

A split draws some classes to be found and some rows of each: the test set. It is the same whether
the classes were *seen* in training, in other rows, or *unseen*: then training has rows of other
classes only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook._optional import need
from mlbook.datasets import (
    load_faces,
    load_image_folder,
    load_letters,
    load_libras,
    load_views,
)

N_TRAIN, N_TEST = 60, 60  # most rows of a class


class Source(NamedTuple):
    """One data set: how it is read, how many classes are to be found, and what it is."""

    read: Callable[[], tuple[Floats, Integers]]
    k: int
    about: str


class Problem(NamedTuple):
    """Training rows with their classes, and a test set."""

    X: Floats
    y: Integers
    X_test: Floats
    y_test: Integers


def read_view(name: str) -> tuple[Floats, Integers]:
    """Read one feature of the 2000 digits of Dutch utility maps."""
    views, y = load_views()
    return views[name], y


def read_faces() -> tuple[Floats, Integers]:
    """Read the ORL faces, as means of 8 × 8 pixels: 14 × 11 numbers a face."""
    X, y = load_faces()
    blocks = X.reshape(-1, 14, 8, 92)[..., 2:90].reshape(-1, 14, 8, 11, 8)
    return blocks.mean(axis=(2, 4)).reshape(len(X), -1), y


def read_scenes() -> tuple[Floats, Integers]:
    """Describe the 15 scenes by how often edges of eight directions occur in 4 × 4 parts."""
    images = load_image_folder("scenes15")
    need("skimage", project="scikit-image", extra="reproduce")
    from skimage.feature import hog

    edges = partial(hog, orientations=8, pixels_per_cell=(32, 32), cells_per_block=(1, 1))
    return np.sqrt([edges(square(image)) for image in images]), images.y


def square(image: NDArray[Any]) -> Floats:
    """Cut out the middle of a grey image, as a square, and scale it to 128 × 128 pixels."""
    from skimage.transform import resize

    side = min(image.shape)
    row, column = (image.shape[0] - side) // 2, (image.shape[1] - side) // 2
    middle = image[row : row + side, column : column + side] / 255
    return np.asarray(resize(middle, (128, 128), anti_aliasing=side > 128))


DATA = {
    "letters": Source(load_letters, 5, "printed letters, 16 numbers, 26 classes"),
    "digits, Karhunen-Loève": Source(
        partial(read_view, "Karhunen-Loève"), 4, "handwritten digits, 64 coefficients, 10 classes"
    ),
    "digits, Fourier": Source(
        partial(read_view, "Fourier"), 4, "the same digits, 76 Fourier coefficients"
    ),
    "digits, Zernike": Source(
        partial(read_view, "Zernike"), 4, "the same digits, 47 Zernike moments"
    ),
    "Libras": Source(load_libras, 5, "movements of a hand, 90 coordinates, 15 classes"),
    "faces": Source(read_faces, 10, "the ORL faces, 154 grey values, 40 persons"),
    "scenes": Source(read_scenes, 5, "photographs, 128 edge counts, 15 kinds of scene"),
}


@lru_cache(maxsize=len(DATA))
def read(name: str) -> tuple[Floats, Integers]:
    """Read a data set once."""
    return DATA[name].read()


def sizes_of(n: int, k: int, ratio: float, most: int) -> Integers:
    """Cut n rows into k sizes that fall by a constant factor, the first `ratio` × the last.

    No size is below 2 or above `most`, so that their sum can be less than n.

    Examples
    --------
    >>> sizes_of(70, 3, 4, 50).tolist(), sizes_of(70, 3, 4, 35).tolist()
    ([40, 20, 10], [35, 20, 10])
    """
    shares = ratio ** -np.linspace(0, 1, k)
    sizes = np.floor(n * shares / shares.sum() + 1e-9).astype(np.int64)
    return np.clip(sizes, 2, most)


def take(groups: list[Integers], size: int, ratio: float, rng: np.random.Generator) -> list[Any]:
    """Take rows of each class: `size` on average, the sizes in random order."""
    most = min(len(group) for group in groups)
    sizes = rng.permutation(sizes_of(len(groups) * min(size, most), len(groups), ratio, most))
    return [group[:n] for group, n in zip(groups, sizes, strict=True)]


def draw(unit: Unit) -> Problem:
    """Draw the split of a unit.

    Its "data" and "seed" say which; "seen" whether training has the classes of the test set.
    "ratio" is how many times larger the largest class is than the smallest, in training and in
    the test set, each with an order of its own. "n_classes" is the number of training classes if
    they are unseen, 0 for all there are. "flipped" is the share of training labels replaced by
    another class.
    """
    X, y = read(unit["data"])
    k, rng = DATA[unit["data"]].k, np.random.default_rng(unit["seed"])
    shuffled = rng.permutation(len(y))
    groups = [shuffled[y[shuffled] == c] for c in rng.permutation(np.unique(y))]
    half = min(map(len, groups)) // 2
    test = np.concatenate(take([g[:half] for g in groups[:k]], N_TEST, unit["ratio"], rng))
    others = groups[k:][: unit["n_classes"] or None]
    known = [g[half:] for g in groups[:k]] if unit["seen"] else others
    train = take(known, N_TRAIN, unit["ratio"], rng)
    codes = np.repeat(np.arange(len(train)), [len(g) for g in train])
    wrong = rng.random(len(codes)) < unit["flipped"]
    other = (codes + rng.integers(1, len(train), len(codes))) % len(train)
    return Problem(X[np.concatenate(train)], np.where(wrong, other, codes), X[test], y[test])
