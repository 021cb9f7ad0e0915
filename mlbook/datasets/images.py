"""Images with the class of every pixel: two sets the user has, and collages of textures."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._optional import need
from mlbook._validation import check_integer, check_integer_labels
from mlbook.datasets._sources import user_folder

__all__ = [
    "COLLAGE_TEXTURES",
    "TEXTURES",
    "LabelledImages",
    "load_flowers",
    "load_horses",
    "make_texture_collages",
]

#: Photographs in scikit-image of which the collages are made.
TEXTURES = ("brick", "grass", "gravel")
COLLAGE_TEXTURES = tuple(
    f"{photograph}, {size}, {way}"
    for photograph in TEXTURES
    for size in ("coarse", "fine")
    for way in ("upright", "turned")
)
"""The twelve textures of `make_texture_collages`, in the order of their classes."""
LARGEST_COLLAGE = 128  # side of half a photograph at half its scale
BRIGHTNESS, CONTRAST = 0.5, 0.15  # mean and standard deviation of every texture


class LabelledImages(Sequence[tuple[NDArray[np.uint8], NDArray[np.int8]]]):
    """Pairs of an image and its mask, read from their files when asked for.

    Item i is a pair: the image, uint8 of shape (height, width, 3), and the mask, int8: the class
    of each pixel, −1 where it is uncertain. The mask may be of another size than the image;
    `mlbook.images.resize_with_mask` brings them together. A slice is again such a sequence.

    Parameters
    ----------
    pairs : sequence of (path of an image, path of its mask)
        The files.
    classes : sequence of int
        The class of each value a pixel of a mask file can have, from 0 on.

    Attributes
    ----------
    names : list of str
        File names of the images, without their ending.

    Examples
    --------
    >>> images = load_horses("weizmann_horses")  # doctest: +SKIP
    >>> image, mask = images[0]  # doctest: +SKIP
    >>> len(images[:10]), image.dtype, mask.dtype  # doctest: +SKIP
    (10, dtype('uint8'), dtype('int8'))
    """

    def __init__(self, pairs: Sequence[tuple[Path, Path]], classes: ArrayLike) -> None:
        self._pairs = list(pairs)
        self._classes = check_integer_labels(classes, "classes", least=-1).astype(np.int8)
        self.names = [image.stem for image, _ in self._pairs]

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, index: int) -> tuple[NDArray[np.uint8], NDArray[np.int8]]: ...

    @overload
    def __getitem__(self, index: slice) -> "LabelledImages": ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return LabelledImages(self._pairs[index], self._classes)
        image, mask = self._pairs[index]
        values = _pixels(mask)
        if values.ndim != 2 or values.max() >= len(self._classes):
            raise ValueError(
                f"{mask} should hold one value per pixel, below {len(self._classes)}; it has "
                f"shape {values.shape} and values up to {values.max()}"
            )
        return _pixels(image, "RGB"), self._classes[values]


def load_horses(folder: str | os.PathLike[str] | None = None) -> LabelledImages:
    """Horses and their background: the Weizmann horse database (Borenstein and Ullman 2002).

    The images of Law 2016, Table 4, and Lajugie 2014, Table 3. They are not part of mlbook.

    Parameters
    ----------
    folder : path, optional
        Folder with ``images/`` and ``masks/``, the two files of a pair having the same name.
        Default: ``weizmann_horses`` in the folder that the environment variable
        ``MLBOOK_DATA`` names.

    Returns
    -------
    LabelledImages
        Pairs of an image and its mask: 1 on the horse, 0 elsewhere. Nearly every mask has
        another size than its image.

    Raises
    ------
    FileNotFoundError
        If the folder or a file is missing; the message says where the data can be had.

    Examples
    --------
    >>> load_horses("no/such/folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileNotFoundError: ...weizmann_horse_db.tar.gz...
    """
    where = (
        "The Weizmann horse database: "
        "https://www.msri.org/people/members/eranb/weizmann_horse_db.tar.gz; its folders rgb and "
        "figure_ground become images and masks."
    )
    root = user_folder(folder, "weizmann_horses", wanted=["images", "masks"], where=where)
    return LabelledImages(_pairs(root, where), [0] * 128 + [1] * 128)  # JPEG blurs the masks


def load_flowers(folder: str | os.PathLike[str] | None = None) -> LabelledImages:
    """Flowers, their background, and pixels in doubt: Oxford Flowers-17 (Nilsback and Zisserman).

    The images of Law 2016, Table 4. They are not part of mlbook.

    Parameters
    ----------
    folder : path, optional
        Folder with ``images/`` and ``masks/``, the two files of a pair having the same name up
        to its ending; images without a mask are left out. Default: ``flowers17`` in the folder
        that the environment variable ``MLBOOK_DATA`` names.

    Returns
    -------
    LabelledImages
        Pairs of an image and its mask: 1 on a flower, 0 on the background, −1 where uncertain.

    Raises
    ------
    FileNotFoundError
        If the folder or a file is missing; the message says where the data can be had.

    Notes
    -----
    The values in the files are not documented with the data. Beside the pictures, 0 lies along
    the outlines and on what is hard to tell, 1 on the flowers, 2 mostly on leaves and grass, 3 on
    the background, 4 mostly on the sky: 2 to 5 are taken as background.

    Examples
    --------
    >>> load_flowers("no/such/folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileNotFoundError: ...robots.ox.ac.uk/~vgg/data/flowers/17...
    """
    where = (
        "Flowers-17 and its trimaps: https://www.robots.ox.ac.uk/~vgg/data/flowers/17; the folders "
        "jpg and trimaps become images and masks."
    )
    root = user_folder(folder, "flowers17", wanted=["images", "masks"], where=where)
    return LabelledImages(_pairs(root, where), [-1, 1, 0, 0, 0, 0])


def make_texture_collages(
    n_collages: int = 10,
    *,
    part: Literal["train", "test"] = "train",
    size: int = 96,
    n_textures: int = 3,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float32], Integers]:
    """Collages of textures: a stand-in for the SynthDB videos of Law 2016, Section 5.3.

    The plane is divided among a few points, each pixel to the nearest one, and each region
    shows another of twelve textures. As in SynthDB there are twelve classes and three
    to a collage; but the pictures do not move, and the textures come from only three
    photographs, those of brick, grass and gravel that scikit-image ships (CC0): as they are and
    at half the scale, upright and turned by a right angle. All have the same mean brightness and
    the same contrast. Results on them say nothing about the numbers of the paper's Table 5.

    Parameters
    ----------
    n_collages : int, default=10
        How many.
    part : {"train", "test"}, default="train"
        Which half of the photographs is used, the upper or the lower: the two share no pixel.
    size : int, default=96
        Height and width of a collage in pixels, 8 to 128.
    n_textures : int, default=3
        Textures in a collage, 1 to 12, no two the same. Each has at least half its fair share of
        the pixels.
    random_state : int, RandomState instance or None, default=None
        Randomness of regions, classes, and the places the textures are cut from.

    Returns
    -------
    images : ndarray of shape (n_collages, size, size), float32
        Intensities from 0 to 1.
    masks : ndarray of shape (n_collages, size, size)
        Class of each pixel, an index of `COLLAGE_TEXTURES`.

    Raises
    ------
    ValueError
        If an argument is not as described.
    ImportError
        Without scikit-image.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("skimage")
    >>> images, masks = make_texture_collages(2, size=32, random_state=0)
    >>> images.shape, [len(np.unique(mask)) for mask in masks]
    ((2, 32, 32), [3, 3])
    """
    n_collages = check_integer(n_collages, "n_collages", least=1)
    size = check_integer(size, "size", least=8, most=LARGEST_COLLAGE)
    n_textures = check_integer(n_textures, "n_textures", least=1, most=len(COLLAGE_TEXTURES))
    if part not in ("train", "test"):
        raise ValueError(f"part must be 'train' or 'test'; got {part!r}")
    rng = check_random_state(random_state)
    textures = _textures(part)
    images = np.empty((n_collages, size, size), dtype=np.float32)
    masks = np.empty(images.shape, dtype=np.int64)
    for image, mask in zip(images, masks, strict=True):
        classes = rng.permutation(len(COLLAGE_TEXTURES))[:n_textures]
        regions = _regions(size, n_textures, rng)
        mask[:] = classes[regions]
        for region, label in enumerate(classes):
            texture = textures[label]
            top, left = (rng.randint(side - size + 1) for side in texture.shape)
            inside = regions == region
            image[inside] = texture[top : top + size, left : left + size][inside]
    return images, masks


def _pairs(root: Path, where: str) -> list[tuple[Path, Path]]:
    """Images and masks of the same name, in the order of their names."""
    images = {path.stem: path for path in (root / "images").iterdir()}
    masks = {path.stem: path for path in (root / "masks").iterdir()}
    missing = sorted(masks.keys() - images.keys())
    if missing or not masks:
        lack = f"no image for the masks {', '.join(missing[:5])}" if missing else "no mask"
        raise FileNotFoundError(f"{root} holds {lack}. {where}")
    return [(images[name], masks[name]) for name in sorted(masks)]


def _pixels(path: Path, mode: str | None = None) -> NDArray[np.uint8]:
    """Values of the pixels of a file; of a file with a palette, their indices in it."""
    with need("PIL.Image", project="pillow", extra="notebook").open(path) as image:
        return np.array(image if mode is None else image.convert(mode), dtype=np.uint8)


def _textures(part: str) -> list[Floats]:
    """Twelve textures of the same mean and contrast, in the order of `COLLAGE_TEXTURES`."""
    data = need("skimage.data", project="scikit-image", extra="reproduce")
    found = []
    for name in TEXTURES:
        photograph = getattr(data, name)().astype(np.float64)
        half = len(photograph) // 2
        coarse = photograph[:half] if part == "train" else photograph[half:]
        fine = coarse.reshape(half // 2, 2, half, 2).mean(axis=(1, 3))
        for texture in (coarse, fine):
            even = BRIGHTNESS + CONTRAST * (texture - texture.mean()) / texture.std()
            found += [np.clip(even, 0, 1), np.clip(np.rot90(even), 0, 1)]
    return found


def _regions(size: int, n_regions: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Divide a square among random points; draw again until every region is large enough."""
    pixels = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij"), axis=-1)
    while True:
        points = rng.uniform(0, size, size=(n_regions, 2))
        regions = ((pixels[:, :, None] - points) ** 2).sum(axis=-1).argmin(axis=-1)
        if np.bincount(regions.ravel(), minlength=n_regions).min() >= size**2 / (2 * n_regions):
            return regions
