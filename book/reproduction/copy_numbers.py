"""Copy number profiles of Lajugie, Arlot and Bach (ICML 2014, Section 5.3): wrong regions.

The paper does not say how it estimated error rates. What is chosen in place of that is in the note
of the experiment. Penalties and the kernel's segmentations are those of the paper's other tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.stats import median_abs_deviation

from book.reproduction.lajugie2014_maps import ONE_SEGMENT, kernel_segment, middle_of_best
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.changepoints import (
    constraints_from_intervals,
    hermite_features,
    segment,
    segment_starts,
    segmentation_path,
)
from mlbook.datasets import CopyNumberProfile, load_neuroblastoma
from mlbook.large_margin import LargeMarginMetric

MAX_SEGMENTS = 15
LONGEST = 1000  # probes of a profile to learn from
N_LEARN = 60  # profiles to learn a metric from
N_FOLDS = 10
WIDTHS = (1.0, 2.0, 4.0, 8.0)  # of the Hermite functions, in standard deviations of the noise
PROFILE_PENALTIES = np.geomspace(1e-5, 1e3, 161)
KERNEL_PENALTIES = np.geomspace(1e-3, 0.5, 20)
NO_LEARNING = "no metric learning"
LEARNED = "five Hermite functions, learned metric"
EQUAL = "five Hermite functions, equal weights"
SCALED = "no metric learning, scaled by the noise"
BY_LENGTH = "no metric learning, price by length"
SCALED_BY_LENGTH = "no metric learning, scaled by the noise, price by length"
BOUNDED = "log ratios cut off, price by length"
TWO = "two segments always"
PROFILE_KERNEL = "ruptures, Gaussian kernel"
# Features to choose from; after a "·n" the price of a segment grows with the length of the profile.
PROFILE_METHODS: dict[str, tuple[str, ...]] = {
    NO_LEARNING: ("x",),
    SCALED: ("x/σ",),
    BY_LENGTH: ("x·n",),
    SCALED_BY_LENGTH: ("x/σ·n",),
    BOUNDED: tuple(f"cut({width:g})·n" for width in WIDTHS),
    EQUAL: tuple(f"ψ({width:g})·n" for width in WIDTHS),
    PROFILE_KERNEL: ("kernel·n",),
    LEARNED: tuple(f"ψ({width:g})·n" for width in WIDTHS),
    TWO: (),
    ONE_SEGMENT: (),
}


class Choices(NamedTuple):
    """Segmentations of one profile that a penalty may choose from.

    Attributes
    ----------
    distortion : ndarray of shape (k,)
        Distortion of the best segmentation into 1, ..., k segments.
    wrong : ndarray of shape (k, 4)
        Its wrong regions: all, too many change points, too few, none where there should be one
        or any where there should be none.
    """

    distortion: Floats
    wrong: Integers

    def at(self, penalties: Floats) -> Integers:
        """Wrong regions, (len(penalties), 4), of the segmentations that penalties lead to."""
        k = np.arange(1, len(self.distortion) + 1)
        cost = self.distortion + penalties[:, None] * k
        return self.wrong[cost.argmin(axis=1)]


def wrong_regions(profile: CopyNumberProfile, labels: Integers) -> Integers:
    """Count wrong regions: all, too many, too few, and by "at least one" instead of "one"."""
    found, truth = profile.count_breakpoints(labels), profile.n_breakpoints
    kinds = (found != truth, found > truth, found < truth, (found > 0) != (truth > 0))
    return np.array([np.sum(kind) for kind in kinds])


def profile_features(profile: CopyNumberProfile, kind: str) -> Floats:
    """Log ratios as they are, in units of the noise, cut off, or five Hermite functions."""
    x, kind = profile.logratios, kind.removesuffix("·n")
    if kind == "x":
        return x[:, None]
    if kind == "x/σ":  # the noise, from differences of neighbours
        return x[:, None] / (median_abs_deviation(np.diff(x), scale="normal") / np.sqrt(2))
    name, _, number = kind.removesuffix(")").partition("(")
    width = float(number) * float(median_abs_deviation(x, scale="normal"))
    if name == "cut":
        return np.clip((x - np.median(x)) / width, -1, 1)[:, None]
    return hermite_features(x, 4, scale=width)


def path_choices(profile: CopyNumberProfile, features: Floats) -> Choices:
    """Best segmentations of features into up to 15 segments, as judged by the regions."""
    k = min(MAX_SEGMENTS, len(features))
    path = segmentation_path(features, k)
    wrong = [wrong_regions(profile, path.labels(j)) for j in range(1, k + 1)]
    return Choices(path.distortion, np.array(wrong))


@lru_cache(maxsize=1)
def _profiles(limit: int | None) -> list[CopyNumberProfile]:
    profiles = load_neuroblastoma()
    if limit is not None:
        profiles = [p for p in profiles if len(p.positions) < 200][:limit]
    return profiles


@lru_cache(maxsize=16)
def _wrong_on_grid(kind: str, limit: int | None) -> Integers:
    """Wrong regions of every profile at every penalty: (profiles, penalties, 4)."""
    table = []
    for profile in _profiles(limit):
        n = len(profile.logratios) if kind.endswith("·n") else 1
        if kind.startswith("kernel"):
            series = profile.logratios[:, None]
            found = [kernel_segment(series, None, p * n) for p in KERNEL_PENALTIES]
            table.append(np.array([wrong_regions(profile, labels) for labels in found]))
        else:
            choices = path_choices(profile, profile_features(profile, kind))
            table.append(choices.at(PROFILE_PENALTIES * n))
    return np.array(table)


@lru_cache(maxsize=2)
def _wrong_always(n_segments: int, limit: int | None) -> Integers:
    """Wrong regions if every profile has the same number of segments."""
    profiles = _profiles(limit)
    found = [segment(profile_features(p, "x/σ"), n_segments) for p in profiles]
    counts = [wrong_regions(*pair) for pair in zip(profiles, found, strict=True)]
    return np.asarray(np.sum(counts, axis=0))


@lru_cache(maxsize=1)
def _completed(limit: int | None) -> list[Integers | None]:
    """Segmentations that agree with the regions, for profiles to learn from.

    The least distortion of x/σ under the regions' constraints, with the fewest segments for which
    every region is right; None where there is none, or the profile is too long.
    """
    return [
        complete(profile) if len(profile.positions) <= LONGEST else None
        for profile in _profiles(limit)
    ]


def complete(profile: CopyNumberProfile) -> Integers | None:
    """Segmentation of least distortion that agrees with all regions, None if there is none."""
    places = (profile.positions[1:] + profile.positions[:-1]) / 2
    intervals: tuple[list[tuple[int, int]], list[tuple[int, int]]] = [], []
    for (first, last), number in zip(profile.regions, profile.n_breakpoints, strict=True):
        inside = np.flatnonzero((places >= first) & (places <= last))
        if len(inside):
            intervals[int(number)].append((int(inside[0]), int(inside[-1]) + 1))
    try:
        known = constraints_from_intervals(len(places) + 1, same=intervals[0], change=intervals[1])
    except ValueError:  # regions that overlap and contradict each other
        return None
    most = min(MAX_SEGMENTS, len(places) + 1)
    path = segmentation_path(profile_features(profile, "x/σ"), most, constraints=known)
    for k in np.flatnonzero(np.isfinite(path.distortion)) + 1:
        labels = path.labels(int(k))
        if wrong_regions(profile, labels)[0] == 0:
            return labels
    return None


def folds(profiles: Sequence[CopyNumberProfile], seed: int) -> Integers:
    """Fold of each profile: all of one tumour share it.

    Tumours 508 and 591 do too: their chromosome 1 is the same.
    """
    tumours = ["508" if p.profile == "591" else p.profile for p in profiles]
    unique = np.unique(tumours)
    numbers = np.random.default_rng(seed).permutation(len(unique)) % N_FOLDS
    of_tumour = dict(zip(unique, numbers, strict=True))
    return np.array([of_tumour[tumour] for tumour in tumours])


def profile_units(scale: str) -> list[Unit]:
    """Every method under random assignments of the tumours to folds; fewer if it takes long."""
    limit = 20 if scale == "smoke" else None
    return [
        {"row": row, "seed": seed, "limit": limit}
        for row in PROFILE_METHODS
        for seed in range((5 if row == LEARNED else 20) if scale == "full" else 1)
    ]


def run_profiles(unit: Unit) -> dict[str, float]:
    """Cross-validated error rates: wrong regions over all folds, as a share of all regions."""
    row, limit = unit["row"], unit["limit"]
    profiles = _profiles(limit)
    if row in (TWO, ONE_SEGMENT):
        wrong = _wrong_always(1 if row == ONE_SEGMENT else 2, limit)
    else:
        fold = folds(profiles, unit["seed"])
        wrong = np.zeros(4, dtype=np.int64)
        tables = {kind: _wrong_on_grid(kind, limit) for kind in PROFILE_METHODS[row]}
        for held_out in np.unique(fold):
            train, test = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
            kind = min(tables, key=lambda k: tables[k][train, :, 0].sum(axis=0).min())
            if row == LEARNED:
                wrong += _learned_wrong(kind, train, test, unit)
            else:
                best = middle_of_best(tables[kind][train, :, 0].sum(axis=0))
                wrong += tables[kind][test, best].sum(axis=0)
    n_regions = sum(len(p.regions) for p in profiles)
    keys = ("error", "too_many", "too_few", "at_least_one")
    return {key: 100 * int(w) / n_regions for key, w in zip(keys, wrong, strict=True)}


def _learned_wrong(kind: str, train: Integers, test: Integers, unit: Unit) -> Integers:
    """Learn a metric from completed labels and a penalty by wrong regions; count those in test."""
    profiles, completed = _profiles(unit["limit"]), _completed(unit["limit"])

    def features(i: int) -> Floats:
        found = profile_features(profiles[i], kind)
        return found / np.sqrt(len(found))

    labels = {i: completed[i] for i in train if completed[i] is not None}
    usable = [i for i, y in labels.items() if np.diff(segment_starts(y), append=len(y)).min() >= 3]
    drawn = np.random.default_rng(unit["seed"]).permutation(usable)[:N_LEARN]
    model = LargeMarginMetric(min_length=3, alpha=1e-2, calibrate=False, tol=1e-2, max_iter=50)
    model.fit([features(i) for i in drawn], [labels[i] for i in drawn])

    def choices(i: int) -> Choices:
        return path_choices(profiles[i], model.transform(features(i)))

    penalties = PROFILE_PENALTIES
    short = [i for i in train if len(profiles[i].positions) <= LONGEST]
    training = np.sum([choices(i).at(penalties)[:, 0] for i in short], axis=0)
    chosen = penalties[[middle_of_best(training)]]
    return np.sum([choices(i).at(chosen)[0] for i in test], axis=0)
