"""Features of a whole grey image: gist, local binary patterns, and responses to a filter bank."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import fft2, ifft2
from scipy.ndimage import gaussian_filter
from scipy.signal import fftconvolve

from mlbook._arrays import Floats
from mlbook._validation import check_boolean, check_integer
from mlbook.images.pixels import check_image, skimage_module
from mlbook.images.words import word_pyramid

GIST_SIDE, GIST_SCALES, GIST_ORIENTATIONS = 128, 4, 8
HALF = 24  # a filter has 2 · 24 + 1 pixels a side
FILTER_SCALES, FILTER_ORIENTATIONS = (1.0, 2.0, 4.0), 6
WEBER = 0.03  # responses of this length and less grow in proportion, longer ones as logarithms
FLAT = 1e-6  # standard deviation of intensities that counts as none


def gist(gray: ArrayLike, *, cells: int = 4) -> Floats:
    """Shape of a scene at a glance: mean strength of edges by place, scale and direction.

    After Oliva and Torralba (2001). The image is brought to 128 × 128 pixels and to even contrast,
    and filtered by 32 Gabor functions, of 4 scales and 8 directions. The amplitudes are averaged
    over a grid of cells.

    Parameters
    ----------
    gray : array-like of shape (height, width)
        Intensities: uint8, or floats from 0 to 1.
    cells : int, default=4
        The grid has cells × cells cells; 128 must be a multiple.

    Returns
    -------
    ndarray of shape (32 · cells²,)
        By scale from fine to coarse, then direction, then row and column of the cell; not
        negative.

    Raises
    ------
    ValueError
        If an argument is not as described.
    ImportError
        Without scikit-image.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("skimage")
    >>> stripes = np.tile(np.arange(128) // 2 % 2, (128, 1)).astype(float)
    >>> gist(stripes, cells=1).argmax()  # the finest scale, along a row
    np.int64(0)
    """
    image = check_image(gray, "gray", colour=False)
    cells = check_integer(cells, "cells", least=1, most=GIST_SIDE)
    if GIST_SIDE % cells:
        raise ValueError(f"cells must divide {GIST_SIDE}; got {cells}")
    shape = (GIST_SIDE, GIST_SIDE)
    small = skimage_module("transform").resize(image.astype(np.float64), shape, anti_aliasing=True)
    small = np.log1p(255 * np.clip(small, 0, 1))
    small -= gaussian_filter(small, 4, mode="reflect")
    small /= 0.2 + np.sqrt(gaussian_filter(small**2, 4, mode="reflect"))
    border = GIST_SIDE // 4
    spectrum = fft2(np.pad(small, border, mode="reflect"))
    amplitudes = np.abs(ifft2(spectrum * _gabor_spectra(GIST_SIDE + 2 * border)))
    inside = amplitudes[:, border:-border, border:-border]
    side = GIST_SIDE // cells
    return inside.reshape(len(inside), cells, side, cells, side).mean(axis=(2, 4)).ravel()


def binary_patterns(
    gray: ArrayLike, *, levels: Sequence[int] = (1,), rotation_invariant: bool = False
) -> Floats:
    """Share of each local binary pattern: which of 8 neighbours are brighter (Ojala et al. 2002).

    Of the 256 patterns those are kept that change between brighter and darker at most twice
    around the circle; all others count as one.

    Parameters
    ----------
    gray : array-like of shape (height, width)
        Intensities: uint8, or floats from 0 to 1. Sides of 3 pixels at least.
    levels : sequence of int, default=(1,)
        Patterns are counted in parts of the image, as words are by `word_pyramid`.
    rotation_invariant : bool, default=False
        Whether patterns that are turned copies of each other count as one.

    Returns
    -------
    ndarray of shape (59 · Σ c²,) or, if rotation invariant, (10 · Σ c²,)
        Histograms, level by level, cell by cell; those of each level have sum 1.

    Raises
    ------
    ValueError
        If an argument is not as described.
    ImportError
        Without scikit-image.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("skimage")
    >>> binary_patterns(np.zeros((5, 5)), rotation_invariant=True).argmax()  # all 8 as bright
    np.int64(8)
    """
    image = np.round(255 * check_image(gray, "gray", colour=False)).astype(np.uint8)
    if min(image.shape) < 3:
        raise ValueError(f"gray must have sides of 3 pixels at least; got shape {image.shape}")
    invariant = check_boolean(rotation_invariant, "rotation_invariant")
    method, n_patterns = ("uniform", 10) if invariant else ("nri_uniform", 59)
    patterns = skimage_module("feature").local_binary_pattern(image, P=8, R=1, method=method)
    return word_pyramid(patterns[1:-1, 1:-1].astype(np.intp), n_patterns, levels=levels)


def filter_responses(gray: ArrayLike, *, step: int = 2) -> tuple[NDArray[Any], NDArray[Any]]:
    """Responses of pixels to 38 filters, and to the best turned ones (Varma and Zisserman 2005).

    The filters: edges and bars (first and second derivatives of Gaussians three times as long as
    wide) of 3 scales and 6 directions, a Gaussian and its Laplacian. The image is first brought to
    mean 0 and variance 1, the responses r of a pixel then to ``r log(1 + |r| / .03) / |r|``.

    Parameters
    ----------
    gray : array-like of shape (height, width)
        Intensities: uint8, or floats from 0 to 1.
    step : int, default=2
        Every `step`-th pixel of a row and of a column is taken.

    Returns
    -------
    responses : ndarray of shape (rows, columns, 38)
        To edges by scale and direction, to bars likewise, to the Gaussian, to its Laplacian.
    maximal : ndarray of shape (rows, columns, 8)
        The largest amplitude over the directions of each kind and scale, then the last two: it
        hardly changes when the image is turned.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> responses, maximal = filter_responses(np.eye(16))
    >>> responses.shape, maximal.shape
    ((8, 8, 38), (8, 8, 8))
    """
    image = check_image(gray, "gray", colour=False).astype(np.float32)
    step = check_integer(step, "step", least=1)
    image = (image - image.mean()) / max(float(image.std()), FLAT)
    padded = np.pad(image, HALF, mode="symmetric")
    found = fftconvolve(padded[None], _filters(), mode="valid", axes=(1, 2))
    found = found[:, ::step, ::step].transpose(1, 2, 0)
    kinds = found[..., :-2].reshape(*found.shape[:2], -1, FILTER_ORIENTATIONS)
    maximal = np.concatenate([np.abs(kinds).max(axis=3), found[..., -2:]], axis=2)
    return _weber(found), _weber(maximal)


def _weber(responses: NDArray[Any]) -> NDArray[Any]:
    """Shorten long responses as Weber's law does."""
    length = np.maximum(np.linalg.norm(responses, axis=2, keepdims=True), FLAT)
    return responses * (np.log1p(length / WEBER) / length)


@cache
def _gabor_spectra(side: int) -> Floats:
    """Return the Gabor filters as Gaussians around a frequency and a direction."""
    down, right = np.meshgrid(np.fft.fftfreq(side), np.fft.fftfreq(side), indexing="ij")
    radius, angle = np.hypot(down, right), np.arctan2(down, right)
    found = []
    for scale in range(GIST_SCALES):
        frequency = 0.25 / 2**scale
        along = np.exp(-(((radius - frequency) / (0.4 * frequency)) ** 2))
        for orientation in range(GIST_ORIENTATIONS):
            turn = angle - np.pi * orientation / GIST_ORIENTATIONS
            turn = (turn + np.pi) % (2 * np.pi) - np.pi
            found.append(along * np.exp(-((turn / (np.pi / GIST_ORIENTATIONS)) ** 2)))
    return np.array(found)


@cache
def _filters() -> NDArray[np.float32]:
    """Return the 38 filters: of absolute sum 1 and, but for the Gaussian, of mean 0."""
    down, right = np.mgrid[-HALF : HALF + 1, -HALF : HALF + 1].astype(float)
    kinds: list[list[Floats]] = [[], []]
    for scale in FILTER_SCALES:
        for orientation in range(FILTER_ORIENTATIONS):
            angle = np.pi * orientation / FILTER_ORIENTATIONS
            across = (right * np.cos(angle) + down * np.sin(angle)) / scale
            along = (down * np.cos(angle) - right * np.sin(angle)) / (3 * scale)
            bell = np.exp(-(across**2 + along**2) / 2)
            kinds[0].append(-across * bell)
            kinds[1].append((across**2 - 1) * bell)
    square = (down**2 + right**2) / 100
    bell = np.exp(-square / 2)
    zero_mean = [f - f.mean() for f in [*kinds[0], *kinds[1], (square - 2) * bell]]
    bank = np.array([*zero_mean[:-1], bell, zero_mean[-1]])
    bank /= np.abs(bank).sum(axis=(1, 2), keepdims=True)
    return bank.astype(np.float32)
