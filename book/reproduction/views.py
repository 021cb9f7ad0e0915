"""Features of images, and many distances to compare things by (Komodakis 2011, Section 6).

The paper learns d = Σ_f w_f d_f: one weight for each pair of a feature and a distance. A *view* is
one feature of all things, an array with one row per thing, as `mlbook.datasets.load_views` has.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel, euclidean_distances, manhattan_distances

from mlbook._arrays import Floats
from mlbook._optional import need

__all__ = ["DISTANCES", "IMAGE_VIEWS", "distance_stack", "image_views"]

Views = Mapping[str, Floats]

_BATCH = 64  # images filtered at a time


# Features of images


def _binary_patterns(images: Floats, method: str, n_bins: int) -> Floats:
    """Histograms of local binary patterns, eight neighbours on a circle of radius 1."""
    from skimage.feature import local_binary_pattern

    rows = []
    for image in np.round(255 * images).astype(np.uint8):
        codes = local_binary_pattern(image, P=8, R=1, method=method)[1:-1, 1:-1]
        rows.append(np.bincount(codes.astype(int).ravel(), minlength=n_bins) / codes.size)
    return np.array(rows)


def _oriented_gradients(images: Floats) -> Floats:
    """Histograms of the orientations of gradients, averaged over cells of 8 by 8 pixels."""
    from skimage.feature import hog

    cells = [
        hog(image, 9, (8, 8), (1, 1), block_norm="L1", feature_vector=False) for image in images
    ]
    return np.array([cell.reshape(-1, 9).mean(axis=0) for cell in cells])


def _gabor(images: Floats, invariant: bool) -> Floats:
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


def _intensities(images: Floats) -> Floats:
    """Histograms of 32 grey levels."""
    levels = np.minimum((32 * images).astype(int), 31).reshape(len(images), -1)
    return np.array([np.bincount(row, minlength=32) for row in levels]) / levels.shape[1]


#: Features of images, none of them negative; "rot-" ones hardly change when an image is turned.
IMAGE_VIEWS: dict[str, Callable[[Floats], Floats]] = {
    "LBP": lambda images: _binary_patterns(images, "nri_uniform", 59),
    "rot-LBP": lambda images: _binary_patterns(images, "uniform", 10),
    "HOG": _oriented_gradients,
    "Gabor": lambda images: _gabor(images, invariant=False),
    "rot-Gabor": lambda images: _gabor(images, invariant=True),
    "intensity": _intensities,
}


def image_views(images: Floats) -> dict[str, Floats]:
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


def _chi2(X: Floats, Y: Floats) -> Floats:
    if min(X.min(), Y.min()) < 0:
        raise ValueError(
            f"the chi2 distance needs features that are not negative; got {min(X.min(), Y.min()):g}"
        )
    return -additive_chi2_kernel(X, Y)


def _l2(X: Floats, Y: Floats) -> Floats:
    return euclidean_distances(X, Y, squared=True)


#: ``Σ_i (x_i − z_i)² / (x_i + z_i)``, ``Σ_i |x_i − z_i|`` and ``Σ_i (x_i − z_i)²`` of Komodakis
#: 2011; the fourth kind, "rbf", is made from "l2" by `distance_stack`.
DISTANCES: dict[str, Callable[[Floats, Floats], Floats]] = {
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
) -> tuple[Floats, list[str]]:
    """Compare things by every kind of distance on every view.

    Each matrix is divided by the mean distance of two things of the reference, without
    which no two kinds could be added. The distance of the RBF kernel k is
    (2 − 2 k(x, z))^½ with k = exp(−l2) and the normalized "l2" (Komodakis 2011, footnote 3).
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


def _mean_pair(D: Floats) -> float:
    """Mean over the pairs of two things, of which the diagonal has none."""
    n = len(D)
    return float((D.sum() - D.trace()) / (n * (n - 1))) if n > 1 else 0.0


def _rbf(D: Floats) -> Floats:
    return np.sqrt(np.maximum(2 - 2 * np.exp(-D), 0))
