"""Sequences cut into segments: the data of Lajugie 2014, Sections 5.3 and 6.1."""

import csv
import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_integer, check_integer_labels, check_integers, check_number
from mlbook.datasets._sources import known_bytes, package_file, user_folder

__all__ = [
    "CopyNumberProfile",
    "hide_labels",
    "load_neuroblastoma",
    "load_vowels",
    "load_watch",
    "make_change_points",
]

LEVEL = 2.0  # standard deviation of the level of a relevant column
LEAST_JUMP = 1.5  # least distance between the factors of neighbouring segments
WATCH_SHA256 = "eb122f23cdf06ef6bd6c6c5312958ec5cf9d038e2e6d457b8081662c75a42537"


def make_change_points(
    n_series: int = 30,
    *,
    n_samples: int = 600,
    n_relevant: int = 10,
    n_irrelevant: int = 290,
    n_segments: tuple[int, int] = (6, 10),
    min_length: int = 20,
    irrelevant_level: float = 2.0,
    n_factors: int = 3,
    noise: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[list[Floats], list[Integers]]:
    """Sequences of which few columns change together and the others on their own.

    The setting of Lajugie 2014, Figure 1: 300 columns, 600 time steps, 10 relevant columns. The
    paper says no more of it, so the rest is ours. The first `n_relevant` columns jump at the
    change points that the labels tell. Their levels are linear in a few factors, 2Lu_k in
    segment k, where the rows of L are unit vectors, the same for all sequences of one call, and
    u_k is standard normal, drawn again until it is at least 1.5 away from u_(k-1). Every other
    column has change points of its own, drawn in the same way, with independent normal levels.
    All columns have normal noise.

    A sequence with K segments has each set of change points that keeps all segments at
    `min_length` or more with the same probability. Because L is drawn anew by every call,
    training and test sequences must come from one call.

    Parameters
    ----------
    n_series : int, default=30
        Number of sequences. The first ones do not depend on it.
    n_samples : int, default=600
        Length of each sequence.
    n_relevant, n_irrelevant : int, default=10 and 290
        Number of columns that change with the labels, and of those that do not.
    n_segments : pair of int, default=(6, 10)
        Least and greatest number of segments; uniform between them, for each sequence and for
        each irrelevant column of each sequence.
    min_length : int, default=20
        Least length of a segment.
    irrelevant_level : float, default=2.0
        Standard deviation of the levels of the irrelevant columns. At 2, that of the relevant
        ones, the first three principal components of ten sequences find far more of the change
        points than all columns do; at 2.5 hardly more.
    n_factors : int, default=3
        Number of factors in which the levels of the relevant columns are linear. With as many as
        columns, these move nearly on their own.
    noise : float, default=1.0
        Standard deviation of the noise; at 0 the columns are steps.
    random_state : int, RandomState instance or None, default=None
        Randomness of the draw.

    Returns
    -------
    series : list of ndarray of shape (n_samples, n_relevant + n_irrelevant)
        Sequences.
    labels : list of ndarray of shape (n_samples,)
        Segment of each time step, 0 to K - 1.

    Raises
    ------
    ValueError
        If an argument is not as described, or the segments do not fit into the sequence.

    Examples
    --------
    >>> series, labels = make_change_points(2, random_state=0)
    >>> series[0].shape
    (600, 300)
    >>> [np.bincount(y).tolist() for y in labels]  # lengths of the segments
    [[98, 37, 82, 93, 71, 23, 36, 65, 49, 46], [47, 69, 25, 145, 281, 33]]
    """
    n_series = check_integer(n_series, "n_series", least=1)
    n_samples = check_integer(n_samples, "n_samples", least=1)
    n_relevant = check_integer(n_relevant, "n_relevant", least=1)
    n_irrelevant = check_integer(n_irrelevant, "n_irrelevant", least=0)
    min_length = check_integer(min_length, "min_length", least=1)
    irrelevant_level = check_number(irrelevant_level, "irrelevant_level", least=0, most=1e100)
    n_factors = check_integer(n_factors, "n_factors", least=1)
    noise = check_number(noise, "noise", least=0, most=1e100)
    least, most = check_integers(n_segments, "n_segments", 2, least=1)
    if most < least:
        raise ValueError(f"n_segments must be a least and a greatest number; got {n_segments!r}")
    if most * min_length > n_samples:
        raise ValueError(
            f"{most} segments of at least min_length={min_length} do not fit into "
            f"n_samples={n_samples}"
        )
    rng = check_random_state(random_state)
    loadings = rng.standard_normal((n_relevant, n_factors))
    loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)

    def draw_labels() -> Integers:
        # A composition of n_samples into k parts of min_length or more is a choice of k - 1 bars
        # among stars: the stars are the time steps that are left when each part has its least.
        k = rng.randint(least, most + 1)
        spare = n_samples - k * min_length
        bars = np.sort(rng.choice(spare + k - 1, k - 1, replace=False)) - np.arange(k - 1)
        lengths = min_length + np.diff(bars, prepend=0, append=spare)
        return np.repeat(np.arange(k), lengths)

    series, labels = [], []
    for _ in range(n_series):
        y = draw_labels()
        factors = _draw_factors(int(y[-1]) + 1, n_factors, rng)
        X = noise * rng.standard_normal((n_samples, n_relevant + n_irrelevant))
        X[:, :n_relevant] += LEVEL * (factors @ loadings.T)[y]
        for column in range(n_relevant, n_relevant + n_irrelevant):
            own = draw_labels()
            X[:, column] += irrelevant_level * rng.standard_normal(own[-1] + 1)[own]
        series.append(X)
        labels.append(y)
    return series, labels


def _draw_factors(k: int, n_factors: int, rng: np.random.RandomState) -> Floats:
    """Draw standard normal factors of k segments, neighbours at least LEAST_JUMP apart."""
    factors = [rng.standard_normal(n_factors)]
    while len(factors) < k:
        draw = rng.standard_normal(n_factors)
        if np.linalg.norm(draw - factors[-1]) >= LEAST_JUMP:
            factors.append(draw)
    return np.array(factors)


def hide_labels(
    labels: Sequence[ArrayLike],
    fraction: float,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> list[Integers]:
    """Keep the labels of one random window of each sequence: the horizontal axis of Figure 1.

    Parameters
    ----------
    labels : sequence of array-like of int
        Labels of each sequence.
    fraction : float
        Length of the window as a fraction of the sequence, above 0 and at most 1; rounded to
        whole time steps, at least one.
    random_state : int, RandomState instance or None, default=None
        Randomness of the windows' places, uniform among those that fit.

    Returns
    -------
    list of ndarray of int
        Copies of the labels, −1 (unknown) outside the windows.

    Raises
    ------
    ValueError
        If `fraction` is not as described or a sequence is empty.

    Examples
    --------
    >>> hide_labels([[0, 0, 0, 1, 1, 1]], 0.5, random_state=0)[0].tolist()
    [0, 0, 0, -1, -1, -1]
    """
    if check_number(fraction, "fraction", above=0) > 1:
        raise ValueError(f"fraction must be at most 1; got {fraction!r}")
    rng = check_random_state(random_state)
    hidden = []
    if not isinstance(labels, Sequence) or isinstance(labels, str) or not len(labels):
        raise ValueError(f"labels must be a list of vectors, not empty; got {labels!r:.200}")
    for y in labels:
        known = check_integer_labels(y, "each of labels", least=-1)
        length = max(1, round(fraction * len(known)))
        start = rng.randint(len(known) - length + 1)
        kept = np.full(len(known), -1)
        kept[start : start + length] = known[start : start + length]
        hidden.append(kept)
    return hidden


class CopyNumberProfile(NamedTuple):
    """Copy numbers along one chromosome of one tumour, with regions that an expert annotated.

    Attributes
    ----------
    profile, chromosome : str
        Which tumour, and which chromosome of it.
    positions : ndarray of shape (n_probes,)
        Places of the probes in base pairs, increasing.
    logratios : ndarray of shape (n_probes,)
        Logarithm of the copy number at each probe, relative to a healthy genome.
    regions : ndarray of shape (n_regions, 2)
        First and last base pair of each annotated region.
    n_breakpoints : ndarray of shape (n_regions,)
        Number of change points that the expert saw in each region, 0 or 1.

    Examples
    --------
    >>> profile = CopyNumberProfile(
    ...     "1", "17", np.array([10, 20, 30, 40]), np.array([0.0, 0.1, 1.0, 0.9]),
    ...     np.array([[5, 20], [21, 38]]), np.array([0, 1]),
    ... )
    >>> profile.count_breakpoints([0, 0, 1, 1])
    array([0, 1])
    """

    profile: str
    chromosome: str
    positions: Integers
    logratios: Floats
    regions: Integers
    n_breakpoints: Integers

    def count_breakpoints(self, labels: ArrayLike) -> Integers:
        """Count the change points of a segmentation that lie in each region.

        A change point between two probes lies in the middle between them.

        Parameters
        ----------
        labels : array-like of shape (n_probes,)
            Segment of each probe.

        Returns
        -------
        ndarray of shape (n_regions,)
            To be compared with `n_breakpoints`: Lajugie 2014, Section 5.3 counts the regions
            where they differ.

        Raises
        ------
        ValueError
            If there is not one label for each probe.
        """
        y = np.asarray(labels)
        if y.shape != self.positions.shape:
            raise ValueError(
                f"labels must have shape {self.positions.shape}, one for each probe; got {y.shape}"
            )
        after = np.flatnonzero(y[1:] != y[:-1])
        places = (self.positions[after] + self.positions[after + 1]) / 2
        first, last = self.regions.T
        return np.searchsorted(places, last, "right") - np.searchsorted(places, first, "left")


def load_neuroblastoma(folder: str | os.PathLike[str] | None = None) -> list[CopyNumberProfile]:
    """Load annotated copy number profiles of neuroblastoma tumours.

    The data of Lajugie 2014, Section 5.3.

    The data is that of Hocking et al., *Learning smoothing models of copy number profiles using
    breakpoint annotations*, BMC Bioinformatics 14:164 (2013): the R package ``neuroblastoma``,
    licence GPL-3, which mlbook does not pass on. The folder holds it, or a part of it, as two
    tables with a header line:

    - ``signals.csv``: profile, chromosome, position, logratio, one line for each probe, the
      probes of a chromosome in increasing order;
    - ``labels.csv``: profile, chromosome, min, max, annotation, one line for each annotated
      region; the annotation is ``0breakpoints`` or ``1breakpoint`` (in the R package: normal
      or breakpoint).

    Parameters
    ----------
    folder : str or path, optional
        Where the tables are. Default: ``neuroblastoma`` in the folder that the environment
        variable ``MLBOOK_DATA`` names.

    Returns
    -------
    list of CopyNumberProfile
        One for each profile and chromosome that has both probes and regions, in the order of
        ``signals.csv``.

    Raises
    ------
    FileNotFoundError
        If the tables are not there.
    ValueError
        If a table lacks a column, an annotation is none of the two, a region has no probes or
        the positions do not increase.

    Examples
    --------
    >>> profiles = load_neuroblastoma("neuroblastoma")  # doctest: +SKIP
    >>> len(profiles), profiles[0].logratios.shape  # doctest: +SKIP
    (285, (474,))
    """
    path = user_folder(
        folder,
        "neuroblastoma",
        wanted=["signals.csv", "labels.csv"],
        where="The R package neuroblastoma on CRAN (GPL-3) has the data; the docstring of "
        "mlbook.datasets.load_neuroblastoma says how to write the tables.",
    )
    probes: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for profile, chromosome, position, logratio in _rows(
        path / "signals.csv", "profile", "chromosome", "position", "logratio"
    ):
        probes.setdefault((profile, chromosome), []).append((int(position), float(logratio)))
    breakpoints = {"0breakpoints": 0, "1breakpoint": 1, "normal": 0, "breakpoint": 1}
    regions: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for profile, chromosome, first, last, annotation in _rows(
        path / "labels.csv", "profile", "chromosome", "min", "max", "annotation"
    ):
        if annotation not in breakpoints or (profile, chromosome) not in probes:
            raise ValueError(
                f"labels.csv, profile {profile}, chromosome {chromosome}: the annotation must be "
                f"one of {', '.join(breakpoints)} and signals.csv must have probes there; got "
                f"{annotation!r} and {len(probes.get((profile, chromosome), []))} probes"
            )
        region = int(first), int(last), breakpoints[annotation]
        regions.setdefault((profile, chromosome), []).append(region)
    found = []
    for (profile, chromosome), pairs in probes.items():
        positions = np.array([position for position, _ in pairs])
        if np.any(np.diff(positions) <= 0):
            raise ValueError(
                f"signals.csv, profile {profile}, chromosome {chromosome}: positions must increase"
            )
        if (profile, chromosome) in regions:
            table = np.array(regions[profile, chromosome])
            logratios = np.array([logratio for _, logratio in pairs])
            found.append(
                CopyNumberProfile(
                    profile, chromosome, positions, logratios, table[:, :2], table[:, 2]
                )
            )
    return found


def _rows(path: Path, *columns: str) -> list[tuple[str, ...]]:
    """Return the named columns of a CSV file, row by row."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in columns if name not in (reader.fieldnames or [])]
        if missing:
            raise ValueError(f"{path} must have the columns {columns}; missing: {missing}")
        return [tuple(row[name] for name in columns) for row in reader]


def load_watch(
    *, window: int = 50, random_state: int | np.random.RandomState | None = None
) -> tuple[list[Floats], list[Integers]]:
    """Load movements measured by a smartwatch, joined to one sequence for each person.

    Stands in for the TV shows of Lajugie 2014, Table 1, which cannot be had: ten sequences of
    two streams of features, here an accelerometer and a gyroscope in place of sound and image.
    The package seglearn carries 140 recordings, each of about 20 repetitions of one of 7
    shoulder exercises by one of 10 people with one of their arms. The recordings are real; that
    one follows another is not: the 14 recordings of a person are joined in random order, no two
    of the same exercise in a row. As in the paper the features are aggregated over time: mean
    and standard deviation of each sensor axis in windows that do not overlap and do not cross
    from one recording into the next; samples left over at the end of a recording are dropped.

    Source: D. M. Burns et al., *Shoulder physiotherapy exercise recognition: machine learning
    the inertial signals from a smartwatch*, Physiological Measurement 39 (2018). The file is a
    pickle, which can run code when it is read: it is read only if it is that of seglearn 1.2.5.

    Parameters
    ----------
    window : int, default=50
        Samples in each window. There are 50 in a second.
    random_state : int, RandomState instance or None, default=None
        Randomness of the order of the recordings.

    Returns
    -------
    series : list of 10 ndarray of shape (n_windows, 12)
        One sequence for each person. Columns 0 to 5 are means and standard deviations of the
        accelerometer's x, y and z; columns 6 to 11 those of the gyroscope.
    labels : list of 10 ndarray of shape (n_windows,)
        Which recording of the sequence a window is from, 0 to 13.

    Raises
    ------
    ImportError
        If seglearn is not installed.
    ValueError
        If `window` is not an integer, at least 2, or longer than a recording; if the file is
        another than that of seglearn 1.2.5.

    Examples
    --------
    >>> series, labels = load_watch(random_state=0)  # doctest: +SKIP
    >>> len(series), series[0].shape  # doctest: +SKIP
    (10, (575, 12))
    """
    window = check_integer(window, "window", least=2)
    path = package_file("seglearn", "data/watch_dataset.npy", project="seglearn")
    content = known_bytes(path, WATCH_SHA256, source="seglearn 1.2.5")
    data: dict[str, Any] = np.load(BytesIO(content), allow_pickle=True).item()
    shortest = min(len(recording) for recording in data["X"])
    if window > shortest:
        raise ValueError(f"window must be at most {shortest}, the shortest recording; got {window}")
    rng = check_random_state(random_state)
    exercise = np.asarray(data["y"])
    series: list[Floats] = []
    labels: list[Integers] = []
    for person in np.unique(data["subject"]):
        order = rng.permutation(np.flatnonzero(data["subject"] == person))
        while np.any(exercise[order[1:]] == exercise[order[:-1]]):
            order = rng.permutation(order)
        parts = [_aggregate(np.asarray(data["X"][i]), window) for i in order]
        series.append(np.concatenate(parts))
        labels.append(np.repeat(np.arange(len(parts)), [len(part) for part in parts]))
    return series, labels


def _aggregate(recording: Floats, window: int) -> Floats:
    """Return mean and standard deviation of the two sensors' three axes in each window."""
    n_windows = len(recording) // window
    windows = recording[: n_windows * window].reshape(n_windows, window, 2, 3)
    moments = np.stack([windows.mean(axis=1), windows.std(axis=1)], axis=2)
    return moments.reshape(n_windows, 12)


def load_vowels(
    *, random_state: int | np.random.RandomState | None = None
) -> tuple[list[Floats], list[Integers]]:
    """Load speech of nine men, joined to ten sequences in which the speaker changes 63 times.

    Stands in for the TV shows of Lajugie 2014, Table 1, which cannot be had. The package aeon
    carries 640 recordings of the Japanese vowels a and e, said one after the other by one of nine
    men, each as 7 to 29 frames of 12 numbers that describe the sound (cepstral coefficients of
    linear prediction). The recordings are real; that one follows another is not: they are
    dealt to ten sequences of 64 at random, never two of the same speaker in a row.

    Source: M. Kudo, J. Toyama, M. Shimbo, *Japanese Vowels*, UCI Machine Learning Repository,
    1999, doi:10.24432/C5NS47.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Randomness of the order of the recordings.

    Returns
    -------
    series : list of 10 ndarray of shape (n_frames, 12)
        One sequence each, of about 1000 frames.
    labels : list of 10 ndarray of shape (n_frames,)
        Which recording of the sequence a frame is from, 0 to 63.

    Raises
    ------
    ImportError
        If aeon is not installed.
    ValueError
        If a file does not hold recordings of 12 columns.

    Examples
    --------
    >>> series, labels = load_vowels(random_state=0)  # doctest: +SKIP
    >>> len(series), series[0].shape, labels[0][-1]  # doctest: +SKIP
    (10, (1004, 12), 63)
    """
    recordings: list[Floats] = []
    speakers: list[str] = []
    for half in ("TRAIN", "TEST"):
        name = f"datasets/data/JapaneseVowels/JapaneseVowels_{half}.ts"
        path = package_file("aeon", name, project="aeon")
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith(("#", "@")):
                *columns, speaker = line.split(":")
                if len(columns) != 12:
                    raise ValueError(f"{path}: a recording has 12 columns; got {len(columns)}")
                recordings.append(np.array([c.split(",") for c in columns], dtype=np.float64).T)
                speakers.append(speaker)
    rng = check_random_state(random_state)
    said_by = np.asarray(speakers)
    order = rng.permutation(len(recordings))
    while len(same := np.flatnonzero(said_by[order[1:]] == said_by[order[:-1]])):
        pair = [same[0] + 1, rng.randint(len(order))]
        order[pair] = order[pair[::-1]]
    series: list[Floats] = []
    labels: list[Integers] = []
    for part in np.array_split(order, 10):
        series.append(np.concatenate([recordings[i] for i in part]))
        lengths = [len(recordings[i]) for i in part]
        labels.append(np.repeat(np.arange(len(part)), lengths))
    return series, labels
