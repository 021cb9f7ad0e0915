"""Images as rows: the features of every pixel, and the labels of masks (Law 2016, Section 5.2).

A pixel is described by what surrounds it, a SIFT descriptor of 128 numbers, and by its colour in
seven: Lab, RGB and intensity. With masks of the same pixels, images become the rows and labels
from which a metric is learned; several images are concatenated, or learned from one by one.

A mask holds the class of each pixel and −1 where it is not known.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from scipy.sparse import csr_array, diags_array, vstack
from sklearn.utils import gen_batches

from mlbook._arrays import Floats
from mlbook._optional import need
from mlbook._validation import as_array, check_integer, check_number

CELLS, ORIENTATIONS = 4, 8
SCALE_PER_CELL = 1 / 3  # a SIFT cell is three times as wide as the blur of its scale
CAMERA_BLUR = 0.5  # what an image is taken to have before any is added
CLIP = 0.2  # share of the norm above which an entry is cut
FAINT = 1e-4  # norm of the gradients of a patch, of intensities 0 to 1, that counts as none


def dense_sift(gray: ArrayLike, *, cell_size: float = 4.0) -> NDArray[Any]:
    """SIFT descriptor of every pixel, upright and at one scale (Lowe 2004, Section 6).

    Around the pixel lie 4 × 4 cells. Each holds a histogram of the orientations of the gradients
    near it, in 8 bins; a gradient counts by its length and a Gaussian of its distance from the
    pixel, and is shared linearly among the nearest cells and bins. The 128 numbers are scaled to
    norm one, cut at 0.2, and scaled again.

    Parameters
    ----------
    gray : array-like of shape (height, width)
        Intensities: uint8, or floats from 0 to 1.
    cell_size : float, default=4.0
        Width of a cell in pixels. The Gaussian has standard deviation 2 cells. As in SIFT the
        width goes with a scale: the image is first blurred to ``cell_size / 3``, of which 0.5
        is taken to be in it already.

    Returns
    -------
    ndarray of shape (height, width, 128)
        Descriptors, indexed by row of cells, column of cells and orientation as scikit-image's
        are. float64 if `gray` is, else float32. Where there is no gradient: zeros.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Notes
    -----
    The Gaussian and the shares of a cell are products of one function of the row and one of the
    column, so all patches together are two products of banded matrices with the eight maps of
    gradients by orientation: O(pixels · 128 · cell_size) operations, and little memory beside
    the result.

    scikit-image computes the same at given keypoints (orientation 0, sigma = ``cell_size / 3``),
    as whole numbers: ``floor(512 * descriptor)``, at most 255. It leaves out the gradients of
    the last row and column of the image.

    Examples
    --------
    >>> ramp = np.tile(np.linspace(0, 1, 32), (32, 1))  # brighter to the right
    >>> descriptor = dense_sift(ramp)[16, 16].reshape(4, 4, 8)
    >>> np.unique(descriptor.nonzero()[2])
    array([2])
    """
    image = check_image(gray, "gray", colour=False)
    cell = check_number(cell_size, "cell_size", least=0.01, most=1e6)
    blur = np.sqrt(max(0.0, (cell * SCALE_PER_CELL) ** 2 - CAMERA_BLUR**2))
    smooth = gaussian_filter(image.astype(np.float64), blur, mode="reflect")
    maps = _orientation_maps(smooth).astype(image.dtype)
    height, width = image.shape
    by_row = _cell_sums(height, cell, image.dtype) @ maps.reshape(height, -1)
    by_row = by_row.reshape(CELLS, height, width, ORIENTATIONS).transpose(2, 1, 0, 3)
    columns = _cell_sums(width, cell, image.dtype)
    found = np.empty((height, width, CELLS * CELLS * ORIENTATIONS), dtype=image.dtype)
    for rows in gen_batches(height, 32):  # a strip fits in the cache
        strip = columns @ by_row[:, rows].reshape(width, -1)
        strip = strip.reshape(CELLS, width, -1, CELLS, ORIENTATIONS).transpose(2, 1, 3, 0, 4)
        descriptors = strip.reshape(-1, width, found.shape[2])
        norm = np.maximum(np.linalg.norm(descriptors, axis=2, keepdims=True), FAINT)
        descriptors = np.minimum(descriptors, CLIP * norm)
        norm = np.maximum(np.linalg.norm(descriptors, axis=2, keepdims=True), CLIP * FAINT)
        found[rows] = descriptors / norm
    return found


def pixel_features(
    image: ArrayLike, max_height: int | None = 100, *, cell_size: float = 4.0
) -> NDArray[Any]:
    """Features of every pixel: dense SIFT, Lab, RGB and intensity (Law 2016, Section 5.2).

    Parameters
    ----------
    image : array-like of shape (height, width, 3) or (height, width)
        Red, green and blue, or intensities: uint8, or floats from 0 to 1.
    max_height : int or None, default=100
        A higher image is first scaled to this height, its proportions kept.
    cell_size : float, default=4.0
        Width of a SIFT cell in pixels of the scaled image; see `dense_sift`.

    Returns
    -------
    ndarray of shape (new height, new width, 135) or, from intensities, (..., 129)
        128 of SIFT, then L, a and b divided by 100, then red, green, blue, then intensity: the
        largest of the three, which is no linear function of them as their weighted sum is, and
        so keeps the features independent. From intensities: 128 of SIFT, and the intensity.
        float64 if `image` is, else float32.

    Raises
    ------
    ValueError
        If an argument is not as described.
    ImportError
        Without scikit-image.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("skimage")
    >>> pixel_features(np.zeros((150, 60, 3), dtype=np.uint8)).shape
    (100, 40, 135)
    """
    color = skimage_module("color")
    small = _scaled(check_image(image, "image"), max_height)
    if small.ndim == 2:
        return np.dstack([dense_sift(small, cell_size=cell_size), small])
    sift = dense_sift(color.rgb2gray(small), cell_size=cell_size)
    return np.dstack([sift, color.rgb2lab(small) / 100, small, small.max(axis=2)])


def colour_and_position(image: ArrayLike, max_height: int | None = 100) -> NDArray[Any]:
    """Features of every pixel for normalized cuts: colour and place (Lajugie 2014, Section 6.3).

    Parameters
    ----------
    image : array-like of shape (height, width, 3)
        Red, green and blue: uint8, or floats from 0 to 1.
    max_height : int or None, default=100
        A higher image is first scaled to this height, its proportions kept.

    Returns
    -------
    ndarray of shape (new height, new width, 5)
        L, a and b divided by 100, then row and column divided by the height. float64 if `image`
        is, else float32.

    Raises
    ------
    ValueError
        If an argument is not as described.
    ImportError
        Without scikit-image.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("skimage")
    >>> print(colour_and_position(np.ones((2, 2, 3)))[1, 0].round(2) + 0.0)
    [1.  0.  0.  0.5 0. ]
    """
    small = _scaled(check_image(image, "image"), max_height)
    if small.ndim == 2:
        raise ValueError(f"image must have shape (height, width, 3); got {small.shape}")
    height, width = small.shape[:2]
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    place = np.dstack([rows, columns]) / height
    return np.dstack([skimage_module("color").rgb2lab(small) / 100, place]).astype(small.dtype)


def resize_with_mask(
    image: ArrayLike, mask: ArrayLike, max_height: int | None = 100
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scale an image to at most a height, and its mask to the same pixels.

    The image is smoothed before it is sampled. A mask holds codes, which must not be mixed:
    each pixel takes the code at its centre. Image and mask may be of different sizes, as long as
    they have the same proportions.

    Parameters
    ----------
    image : array-like of shape (height, width, 3) or (height, width)
        Colours or intensities: uint8, or floats from 0 to 1.
    mask : array-like of shape (mask height, mask width)
        The class of each pixel, as integers.
    max_height : int or None, default=100
        A lower image keeps its size.

    Returns
    -------
    image : ndarray of shape (new height, new width, 3) or (new height, new width)
        Floats from 0 to 1: float64 if they were, else float32.
    mask : ndarray of shape (new height, new width)
        Its codes, of the same type as before.

    Raises
    ------
    ValueError
        If an argument is not as described, or the proportions differ by more than 5%.
    ImportError
        Without scikit-image.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("skimage")
    >>> image, mask = np.zeros((400, 200)), np.repeat([[0, 1]], 2, axis=0)
    >>> image, mask = resize_with_mask(image, mask, max_height=4)
    >>> mask
    array([[0, 1],
           [0, 1],
           [0, 1],
           [0, 1]])
    """
    given = check_image(image, "image")
    codes = as_array(mask, "mask")
    if codes.ndim != 2 or codes.dtype.kind not in "iu" or codes.size == 0:
        raise ValueError(
            f"mask must be a 2-D array of integers; got shape {codes.shape} of {codes.dtype}"
        )
    (height, width), (mask_height, mask_width) = given.shape[:2], codes.shape
    off = abs(height * mask_width - width * mask_height)
    if off > 0.05 * height * mask_width + max(height, width, mask_height, mask_width):
        raise ValueError(
            f"mask must have the proportions of image; got {codes.shape} for {given.shape[:2]}"
        )
    small = _scaled(given, max_height)
    rows, columns = (
        ((np.arange(new) + 0.5) * (old / new)).astype(np.intp)
        for new, old in zip(small.shape[:2], codes.shape, strict=True)
    )
    return small, codes[np.ix_(rows, columns)]


def labelled_pixels(
    image: ArrayLike, mask: ArrayLike, max_height: int | None = 100, *, cell_size: float = 4.0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Features and classes of the pixels whose class is known: rows to learn from.

    Parameters
    ----------
    image : array-like of shape (height, width, 3) or (height, width)
        Colours or intensities: uint8, or floats from 0 to 1.
    mask : array-like of shape (mask height, mask width)
        Class of each pixel; −1 where it is uncertain.
    max_height : int or None, default=100
        As for `resize_with_mask`.
    cell_size : float, default=4.0
        As for `dense_sift`.

    Returns
    -------
    X : ndarray of shape (n, 135) or (n, 129)
        `pixel_features` of the pixels with a class, from left to right and down.
    y : ndarray of shape (n,)
        Their classes.

    Raises
    ------
    ValueError
        If an argument is not as described.
    ImportError
        Without scikit-image.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("skimage")
    >>> X, y = labelled_pixels(np.zeros((1, 3, 3)), [[1, -1, 0]])
    >>> X.shape, y
    ((2, 135), array([1, 0]))
    """
    small, codes = resize_with_mask(image, mask, max_height)
    known = codes != -1
    return pixel_features(small, None, cell_size=cell_size)[known], codes[known]


def check_image(image: ArrayLike, name: str, *, colour: bool = True) -> NDArray[Any]:
    """Return the image as floats from 0 to 1."""
    array = as_array(image, name)
    shapes = "(height, width, 3) or (height, width)" if colour else "(height, width)"
    if array.size == 0 or not (array.ndim == 2 or (colour and array.shape[2:] == (3,))):
        raise ValueError(f"{name} must have shape {shapes} and no side of 0; got {array.shape}")
    if array.dtype == np.uint8:
        return array.astype(np.float32) / 255
    if array.dtype.kind != "f" or not (array.min() >= 0 and array.max() <= 1):
        seen = f"{array.dtype}" + (
            f" from {array.min()} to {array.max()}" if array.dtype.kind in "fiu" else ""
        )
        raise ValueError(f"{name} must hold uint8, or floats from 0 to 1; got {seen}")
    return array.astype(np.float64 if array.dtype.itemsize >= 8 else np.float32, copy=False)


def skimage_module(module: str) -> Any:
    """Return a module of scikit-image."""
    return need(f"skimage.{module}", project="scikit-image", extra="reproduce")


def _scaled(image: NDArray[Any], max_height: int | None) -> NDArray[Any]:
    """Scale an image down to a height, if it is higher."""
    height, width = image.shape[:2]
    if max_height is not None:
        height = min(height, check_integer(max_height, "max_height", least=1))
    if height == image.shape[0]:
        return image
    shape = (height, max(1, round(width * height / image.shape[0])))
    small = skimage_module("transform").resize(image, shape, anti_aliasing=True)
    return np.clip(small, 0, 1).astype(image.dtype, copy=False)


def _orientation_maps(image: Floats) -> Floats:
    """Length of the gradient of each pixel, shared between the two nearest orientations.

    Orientations are angles from downwards towards the right; bin m stands for m · 45°.
    """
    down, right = _slope(image, 0), _slope(image, 1)
    angle = np.arctan2(right, down) / (2 * np.pi) * ORIENTATIONS
    lower = np.floor(angle)
    upper_share = angle - lower
    length = np.hypot(down, right)
    maps = np.zeros((*image.shape, ORIENTATIONS))
    rows, columns = np.ogrid[: image.shape[0], : image.shape[1]]
    bins = lower.astype(np.intp) % ORIENTATIONS
    maps[rows, columns, bins] = length * (1 - upper_share)
    maps[rows, columns, (bins + 1) % ORIENTATIONS] = length * upper_share
    return maps


def _slope(image: Floats, axis: int) -> Floats:
    """Central differences, one-sided at the border; zero along a side of one pixel."""
    return np.gradient(image, axis=axis) if image.shape[axis] > 1 else np.zeros_like(image)


def _cell_sums(length: int, cell: float, dtype: Any) -> csr_array:
    """Weights from pixels to the four cells around each position, along one axis.

    Row a · length + i sums the pixels near cell a of the patch around i: a triangle over the cell
    times the Gaussian of the patch.
    """
    reach = int(np.ceil((CELLS + 1) / 2 * cell))
    offsets = np.arange(-min(reach, length - 1), min(reach, length - 1) + 1)
    gaussian = np.exp(-(offsets**2) / (2 * (2 * cell) ** 2))
    blocks = []
    for a in range(CELLS):
        centre = (a - (CELLS - 1) / 2) * cell
        weights = gaussian * np.maximum(0, 1 - np.abs(offsets - centre) / cell)
        bands = [np.full(length - abs(t), w) for t, w in zip(offsets, weights, strict=True)]
        blocks.append(diags_array(bands, offsets=offsets, shape=(length, length), dtype=dtype))
    sums = csr_array(vstack(blocks, format="csr"))
    sums.eliminate_zeros()
    return sums
