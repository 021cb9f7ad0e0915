"""Komodakis 2011, Section 6: eight views of grey images.

The paper names its eight features but not their settings. Here: codebooks of 300 words, 400 for the
sparse descriptors; HOG and dense SIFT words are counted in the whole image, its quarters and its
sixteenths, LBP in the whole and the quarters, as scene categories differ in where things are; all
others in the whole image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin

from mlbook._arrays import Floats
from mlbook._optional import need
from mlbook.images import binary_patterns, dense_sift, filter_responses, gist, word_pyramid

__all__ = ["VIEWS", "WORDS", "descriptors", "image_views", "learn_codebooks"]

Image = NDArray[Any]

VIEWS = ("gist", "HOG", "LBP", "rot-LBP", "dense SIFT", "sparse SIFT", "textons", "MR8")
#: Views made of words: the size of the codebook, and the parts in which words are counted.
WORDS: dict[str, tuple[int, tuple[int, ...]]] = {
    "HOG": (300, (1, 2, 4)),
    "dense SIFT": (300, (1, 2, 4)),
    "sparse SIFT": (400, (1,)),
    "textons": (300, (1,)),
    "MR8": (300, (1,)),
}
GRID = 8  # pixels from one dense descriptor to the next
PER_IMAGE = 100  # descriptors of an image from which the words are learned


def descriptors(gray: Image) -> dict[str, Image]:
    """Descriptors of an image, of shape (rows, columns, d), for each view made of words."""
    feature = need("skimage.feature", project="scikit-image", extra="reproduce")
    hog = feature.hog(gray, 9, (GRID, GRID), (2, 2), feature_vector=False)
    keypoints = feature.SIFT(upsampling=1)
    try:
        keypoints.detect_and_extract(gray)
        sparse = keypoints.descriptors / 512
    except RuntimeError:  # there is none
        sparse = np.empty((0, 128))
    responses, maximal = filter_responses(gray)
    return {
        "HOG": hog.reshape(*hog.shape[:2], -1),
        "dense SIFT": dense_sift(gray)[GRID::GRID, GRID::GRID],
        "sparse SIFT": sparse[None],
        "textons": responses,
        "MR8": maximal,
    }


def learn_codebooks(images: Sequence[Image]) -> dict[str, Floats]:
    """Learn the words of each view by k-means, from some descriptors of each image.

    There are fewer words than in `WORDS` if there are fewer descriptors.
    """
    rng = np.random.default_rng(0)
    samples: dict[str, list[Image]] = {name: [] for name in WORDS}
    for gray in images:
        for name, grid in descriptors(gray).items():
            rows = grid.reshape(-1, grid.shape[-1])
            samples[name].append(rows[rng.permutation(len(rows))[:PER_IMAGE]])
    books = {}
    for name, (n_words, _) in WORDS.items():
        sample = np.concatenate(samples[name])
        means = MiniBatchKMeans(
            min(n_words, len(sample)), batch_size=4096, n_init=1, random_state=0
        )
        books[name] = means.fit(sample).cluster_centers_
    return books


def image_views(images: Sequence[Image], codebooks: dict[str, Floats]) -> dict[str, Floats]:
    """Compute the eight views of each image; no number in them is negative."""
    rows: dict[str, list[Floats]] = {name: [] for name in VIEWS}
    for gray in images:
        rows["gist"].append(gist(gray))
        rows["LBP"].append(binary_patterns(gray, levels=(1, 2)))
        rows["rot-LBP"].append(binary_patterns(gray, rotation_invariant=True))
        for name, grid in descriptors(gray).items():
            book, (_, levels) = codebooks[name], WORDS[name]
            if grid.size:
                flat = grid.reshape(-1, grid.shape[-1]).astype(book.dtype)
                words = pairwise_distances_argmin(flat, book).reshape(grid.shape[:2])
                rows[name].append(word_pyramid(words, len(book), levels=levels))
            else:
                rows[name].append(np.zeros(len(book)))
    return {name: np.array(rows[name]) for name in VIEWS}
