"""Sequences with change points: exact where they are exact, known data where there is any."""

import hashlib
import importlib.util
import os
from collections import Counter
from importlib.machinery import PathFinder
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from mlbook.datasets import (
    CopyNumberProfile,
    _sources,
    hide_labels,
    load_neuroblastoma,
    load_vowels,
    load_watch,
    make_change_points,
)
from mlbook.datasets import series as module
from mlbook.datasets.series import _draw_factors


def cuts(y):
    return tuple(np.flatnonzero(np.diff(y)) + 1)


# --- make_change_points ----------------------------------------------------------------------


def test_shapes_and_segments():
    series, labels = make_change_points(20, n_irrelevant=5, random_state=0)
    assert {X.shape for X in series} == {(600, 15)}
    for y in labels:
        lengths = np.bincount(y)
        assert 6 <= len(lengths) <= 10 and lengths.min() >= 20
        assert_array_equal(y, np.repeat(np.arange(len(lengths)), lengths))
    assert {int(y[-1]) + 1 for y in labels} == {6, 7, 8, 9, 10}


def test_every_admissible_set_of_change_points_is_equally_likely():
    n, draws = 9, 6000
    _, labels = make_change_points(
        draws,
        n_samples=n,
        n_relevant=1,
        n_irrelevant=0,
        n_segments=(3, 3),
        min_length=2,
        random_state=0,
    )
    admissible = [
        pair
        for pair in combinations(range(1, n), 2)
        if min(b - a for a, b in pairwise((0, *pair, n))) >= 2
    ]
    counts = Counter(cuts(y) for y in labels)
    assert set(counts) == set(admissible)
    expected = draws / len(admissible)
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = len(admissible) - 1
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)


def test_relevant_columns_move_along_three_directions_common_to_all_sequences():
    """Their segment means have rank 3, and mean square 2² as the loadings are unit vectors."""
    series, labels = make_change_points(
        60, n_samples=4000, n_irrelevant=0, min_length=300, random_state=0
    )
    means, residuals = [], []
    for X, y in zip(series, labels, strict=True):
        levels = np.array([X[y == k].mean(axis=0) for k in range(y[-1] + 1)])
        means.append(levels)
        residuals.append(X - levels[y])
    values = np.linalg.svd(np.concatenate(means), compute_uv=False)
    assert values[2] > 10 * values[3]
    assert_allclose((np.concatenate(means) ** 2).mean(), 4, rtol=0.15)
    assert_allclose(np.cov(np.concatenate(residuals).T), np.eye(10), atol=0.02)


def test_neighbouring_segments_differ():
    factors = _draw_factors(2000, 3, np.random.RandomState(0))
    jumps = np.linalg.norm(np.diff(factors, axis=0), axis=1)
    assert 1.5 <= jumps.min() < 1.55
    # Independent draws lie within 1.5 of each other with probability P(χ²₃ < 1.5² / 2) = 0.2287,
    # and the jump of those that do not is χ₃ · √2 above 1.5: its median is the 0.6144 quantile.
    assert_allclose(np.median(jumps), np.sqrt(2 * chi2.ppf(0.6144, 3)), atol=0.1)


def test_irrelevant_columns_change_on_their_own():
    series, labels = make_change_points(30, n_irrelevant=40, irrelevant_level=5.0, random_state=0)
    X = np.concatenate([X[:, 10:] for X in series])
    assert_allclose(X.std(axis=0), np.sqrt(26), rtol=0.15)
    # A large step of an irrelevant column falls on a true change point as rarely as chance has it.
    steps = np.concatenate([np.abs(np.diff(X[:, 10:], axis=0)) > 6 for X in series])
    true = np.concatenate([np.diff(y) for y in labels]).astype(bool)
    assert steps.sum() > 1000
    assert_allclose(steps[true].mean(), steps.mean(), atol=5 * np.sqrt(steps.mean() / 40 / 210))


@pytest.mark.parametrize("n_factors", [1, 5])
def test_factors_and_steps_without_noise(n_factors):
    options = {"n_irrelevant": 0, "n_factors": n_factors, "random_state": 0}
    series, labels = make_change_points(20, noise=0, **options)
    rows = np.concatenate(series)
    assert np.linalg.matrix_rank(rows) == n_factors
    for X, y in zip(series, labels, strict=True):
        assert_array_equal(np.diff(X, axis=0).any(axis=1), np.diff(y) == 1)
    noisy = np.concatenate(make_change_points(20, noise=3, **options)[0])
    assert_allclose((noisy - rows).std(axis=0), 3, rtol=0.05)


def test_seeds():
    series, labels = make_change_points(3, n_irrelevant=2, random_state=0)
    more, more_labels = make_change_points(4, n_irrelevant=2, random_state=np.random.RandomState(0))
    other, _ = make_change_points(3, n_irrelevant=2, random_state=1)
    for i in range(3):
        assert_array_equal(series[i], more[i])
        assert_array_equal(labels[i], more_labels[i])
        assert not np.any(series[i] == other[i])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_series": 0}, "n_series must be an integer, at least 1; got 0"),
        ({"n_samples": 199}, "10 segments of at least min_length=20 do not fit into n_samples=199"),
        ({"n_relevant": 0}, "n_relevant must be"),
        ({"n_irrelevant": -1}, "n_irrelevant must be"),
        ({"n_segments": (6,)}, r"n_segments must hold 2 integers, at least 1; got \(6,\)"),
        ({"n_segments": (0, 3)}, "each of n_segments must be an integer, at least 1; got 0"),
        ({"n_segments": (5, 3)}, "n_segments must be a least and a greatest number; got"),
        ({"min_length": 0}, "min_length must be"),
        (
            {"irrelevant_level": -1},
            "irrelevant_level must be a finite number, at least 0",
        ),
        ({"n_factors": 0}, "n_factors must be an integer, at least 1; got 0"),
        ({"noise": -1}, "noise must be a finite number, at least 0"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_change_points(**arguments)


# --- hide_labels -----------------------------------------------------------------------------


def test_hidden_labels_leave_one_window():
    y = np.repeat(np.arange(5), 4)
    starts = Counter()
    for kept in hide_labels([y] * 800, 0.9, random_state=0):
        known = np.flatnonzero(kept >= 0)
        assert len(known) == 18 and known[-1] - known[0] == 17
        assert_array_equal(kept[known], y[known])
        starts[int(known[0])] += 1
    assert set(starts) == {0, 1, 2} and min(starts.values()) > 200
    assert_array_equal(hide_labels([y], 1.0)[0], y)
    assert np.sum(hide_labels([y], 1e-9)[0] >= 0) == 1


@pytest.mark.parametrize(
    ("labels", "fraction", "message"),
    [
        ([[0, 1]], 0, "fraction must be a finite number, greater than 0; got 0"),
        ([[0, 1]], 1.1, "fraction must be at most 1; got 1.1"),
        ([[]], 0.5, r"each of labels must be .* not empty; got shape \(0,\)"),
        ([0, 1], 0.5, r"each of labels must be .* not empty; got shape \(\)"),
    ],
)
def test_bad_labels(labels, fraction, message):
    with pytest.raises(ValueError, match=message):
        hide_labels(labels, fraction)


# --- neuroblastoma ---------------------------------------------------------------------------

SIGNALS = """\
profile,chromosome,position,logratio
1,2,10,0.5
1,2,20,0.25
1,2,40,-1
1,X,7,0
7,2,10,1
7,2,11,2
"""
LABELS = """\
profile,chromosome,min,max,annotation
7,2,0,20,1breakpoint
1,2,12,18,0breakpoints
1,2,30,35,breakpoint
"""


def write_profiles(folder, signals=SIGNALS, labels=LABELS):
    (folder / "signals.csv").write_text(signals)
    (folder / "labels.csv").write_text(labels)
    return folder


def test_profiles_are_read(tmp_path, monkeypatch):
    first, second = load_neuroblastoma(write_profiles(tmp_path))
    assert (first.profile, first.chromosome) == ("1", "2")
    assert_array_equal(first.positions, [10, 20, 40])
    assert_array_equal(first.logratios, [0.5, 0.25, -1])
    assert_array_equal(first.regions, [[12, 18], [30, 35]])
    assert_array_equal(first.n_breakpoints, [0, 1])
    assert (second.profile, second.n_breakpoints.tolist()) == ("7", [1])
    (tmp_path / "neuroblastoma").mkdir()
    write_profiles(tmp_path / "neuroblastoma")
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    assert len(load_neuroblastoma()) == 2
    with pytest.raises(FileNotFoundError, match=r"missing: signals.csv, labels.csv. The R package"):
        load_neuroblastoma(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("signals", "labels", "message"),
    [
        (SIGNALS.replace("logratio", "ratio"), LABELS, r"signals.csv must have .* \['logratio'\]"),
        ("", LABELS, r"missing: \['profile', 'chromosome', 'position', 'logratio'\]"),
        (SIGNALS, LABELS.replace("1break", "2break"), "got '2breakpoint' and 2 probes"),
        (SIGNALS, LABELS + "9,1,0,9,normal\n", "profile 9, chromosome 1: .* 'normal' and 0 probes"),
        (SIGNALS.replace("20", "40"), LABELS, "profile 1, chromosome 2: positions must increase"),
    ],
)
def test_bad_tables(tmp_path, signals, labels, message):
    with pytest.raises(ValueError, match=message):
        load_neuroblastoma(write_profiles(tmp_path, signals, labels))


def test_breakpoints_are_counted_in_their_regions():
    """Against a count one by one; a change point on the edge of a region is inside."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        positions = np.sort(rng.choice(60, 12, replace=False))
        regions = np.sort(rng.integers(0, 60, (5, 2)), axis=1)
        y = np.cumsum(rng.random(12) < 0.4)
        profile = CopyNumberProfile("1", "1", positions, np.zeros(12), regions, np.zeros(5, int))
        expected = [
            sum(
                2 * low <= positions[i] + positions[i + 1] <= 2 * high
                for i in range(11)
                if y[i] != y[i + 1]
            )
            for low, high in regions
        ]
        assert_array_equal(profile.count_breakpoints(y), expected)
    with pytest.raises(ValueError, match=r"labels must have shape \(12,\), one for each probe"):
        profile.count_breakpoints([0, 1])


def test_real_profiles():
    if not os.path.exists(os.path.join(os.environ.get("MLBOOK_DATA", ""), "neuroblastoma")):
        pytest.skip("MLBOOK_DATA does not hold neuroblastoma")
    profiles = load_neuroblastoma()
    counts = np.concatenate([p.n_breakpoints for p in profiles])
    assert len(profiles) >= 285 and np.bincount(counts).min() >= 327
    for p in profiles:
        assert len(p.positions) == len(p.logratios) and np.all(np.isfinite(p.logratios))
        assert np.all(p.regions[:, 0] < p.regions[:, 1])


# --- watch -----------------------------------------------------------------------------------


@pytest.fixture
def watch(tmp_path, monkeypatch):
    """A package with the recordings of two people, three exercises twice each."""
    rng = np.random.default_rng(0)
    subject = np.repeat([3, 8], 6)
    exercise = np.tile([0, 1, 2], 4)
    X = [rng.normal(size=(length, 6)) for length in rng.integers(10, 20, 12)]
    data = {"X": X, "y": exercise, "subject": subject}
    (tmp_path / "seglearn" / "data").mkdir(parents=True)
    (tmp_path / "seglearn" / "__init__.py").write_text("raise RuntimeError('imported')")
    file = tmp_path / "seglearn" / "data" / "watch_dataset.npy"
    np.save(file, data, allow_pickle=True)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "WATCH_SHA256", hashlib.sha256(file.read_bytes()).hexdigest())
    return data


@pytest.mark.parametrize("seed", range(5))
def test_recordings_are_joined(watch, seed):
    series, labels = load_watch(window=4, random_state=seed)
    assert len(series) == 2
    for person, sequence, y in zip((3, 8), series, labels, strict=True):
        own = [i for i in range(12) if watch["subject"][i] == person]
        order = []
        for k in range(6):
            part = sequence[y == k]
            for i in own:
                windows = [watch["X"][i][4 * j : 4 * j + 4] for j in range(len(watch["X"][i]) // 4)]
                features = [
                    [*w[:, :3].mean(0), *w[:, :3].std(0), *w[:, 3:].mean(0), *w[:, 3:].std(0)]
                    for w in windows
                ]
                if part.shape == np.shape(features) and np.allclose(part, features):
                    order.append(i)
        assert sorted(order) == own
        assert all(watch["y"][i] != watch["y"][j] for i, j in pairwise(order))
        assert_array_equal(y, np.sort(y))


def test_order_of_recordings_is_random_and_repeatable(watch):
    first, again, other = (load_watch(window=4, random_state=seed)[0][0] for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_bad_window(watch):
    with pytest.raises(ValueError, match="window must be an integer, at least 2; got 1"):
        load_watch(window=1)
    with pytest.raises(
        ValueError, match=r"window must be at most 1\d, the shortest recording; got"
    ):
        load_watch(window=20)


class Trap:
    """An object whose pickle makes a folder when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_is_not_the_known_one_is_not_read(watch, tmp_path):
    file = tmp_path / "seglearn" / "data" / "watch_dataset.npy"
    np.save(file, np.array(Trap(tmp_path / "sprung"), dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"watch_dataset\.npy could run code .* seglearn 1\.2\.5"):
        load_watch()
    assert not (tmp_path / "sprung").exists()
    np.load(file, allow_pickle=True)
    assert (tmp_path / "sprung").exists()


def test_no_data_from_a_folder_beside_the_program(watch, tmp_path, monkeypatch):
    """No seglearn is installed, but the folder where Python was started has its file."""
    (tmp_path / "seglearn" / "__init__.py").unlink()
    found = PathFinder.find_spec("seglearn", [str(tmp_path)])
    assert [*found.submodule_search_locations] == [str(tmp_path / "seglearn")]
    monkeypatch.setattr(_sources, "find_spec", lambda name: found)
    with pytest.raises(ImportError, match="`pip install --no-deps seglearn`"):
        load_watch()


@pytest.mark.skipif(importlib.util.find_spec("seglearn") is None, reason="seglearn not installed")
def test_real_recordings():
    series, labels = load_watch(random_state=0)
    assert len(series) == 10 and {X.shape[1] for X in series} == {12}
    assert sum(len(X) for X in series) == 4817
    assert {int(y[-1]) for y in labels} == {13}
    assert all(np.all(np.isfinite(X)) for X in series)


# --- vowels ----------------------------------------------------------------------------------


@pytest.fixture
def vowels(tmp_path, monkeypatch):
    """Forty made-up recordings by five speakers; column 3 holds the number of the recording."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "aeon" / "datasets" / "data" / "JapaneseVowels"
    folder.mkdir(parents=True)
    (tmp_path / "aeon" / "__init__.py").write_text("raise RuntimeError('never imported')")
    recordings = []
    for part, numbers in (("TRAIN", range(15)), ("TEST", range(15, 40))):
        lines = ["# about", "@data"]
        for number in numbers:
            x = rng.integers(100, size=(12, rng.integers(3, 7))) / 8
            x[3] = number
            recordings.append((x.T, number % 5))
            columns = [",".join(map(str, column)) for column in x]
            lines.append(":".join([*columns, str(number % 5 + 1)]))
        (folder / f"JapaneseVowels_{part}.ts").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    return recordings


def test_every_recording_is_in_one_sequence_and_speakers_change(vowels):
    series, labels = load_vowels(random_state=0)
    assert len(series) == 10
    seen = []
    for X, y in zip(series, labels, strict=True):
        order = [int(X[y == k][0, 3]) for k in range(y[-1] + 1)]
        assert_array_equal(X, np.concatenate([vowels[i][0] for i in order]))
        assert_array_equal(np.bincount(y), [len(vowels[i][0]) for i in order])
        assert all(vowels[i][1] != vowels[j][1] for i, j in pairwise(order))
        seen += order
    assert sorted(seen) == list(range(40))
    again, other = (load_vowels(random_state=seed)[0] for seed in (0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(series, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(series, other, strict=True))


def test_vowels_of_another_width(vowels, tmp_path):
    path = tmp_path / "aeon" / "datasets" / "data" / "JapaneseVowels" / "JapaneseVowels_TEST.ts"
    path.write_text("1,2:3,4:1\n")
    with pytest.raises(ValueError, match=r"JapaneseVowels_TEST\.ts: a recording has 12 columns"):
        load_vowels()


def test_vowels_without_aeon(monkeypatch):
    monkeypatch.setattr(_sources, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install --no-deps aeon"):
        load_vowels()


@pytest.mark.skipif(importlib.util.find_spec("aeon") is None, reason="aeon has the recordings")
def test_vowels_of_aeon():
    series, labels = load_vowels(random_state=0)
    assert sum(map(len, series)) == 9961 and {X.shape[1] for X in series} == {12}
    assert {int(y[-1]) for y in labels} == {63}
    lengths = np.concatenate([np.bincount(y) for y in labels])
    assert (lengths.min(), lengths.max()) == (7, 29)
    assert_allclose(np.concatenate(series).sum(), -3203.965733)
