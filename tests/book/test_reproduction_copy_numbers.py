"""Protocol of the experiment on copy number profiles, Section 5.3 of Lajugie 2014."""

import csv
from collections import Counter

import numpy as np
import pytest
from enumeration import all_segmentations
from numpy.testing import assert_allclose, assert_array_equal

from book import reproduction as experiments
from book.reproduction import copy_numbers as room
from mlbook.changepoints import segment
from mlbook.datasets import CopyNumberProfile


@pytest.fixture(autouse=True)
def fresh():
    """No data of one test is seen by another."""
    yield
    for cached in (room._profiles, room._wrong_on_grid, room._wrong_always, room._completed):
        cached.cache_clear()


def profile(x, regions, n_breakpoints, name="1"):
    positions = 10 * np.arange(1, len(x) + 1)
    regions, numbers = np.array(regions).reshape(-1, 2), np.array(n_breakpoints, dtype=int)
    return CopyNumberProfile(name, "1", positions, np.asarray(x, dtype=float), regions, numbers)


def test_wrong_regions_of_each_kind():
    tumour = profile(np.zeros(8), [[0, 22], [23, 49], [50, 69], [70, 99]], [1, 0, 1, 1])
    labels = [0, 0, 0, 1, 2, 3, 4, 4]  # changes at 35, 45, 55, 65: 0, 2, 2 and 0 in the regions
    assert room.wrong_regions(tumour, labels).tolist() == [4, 2, 2, 3]


def test_choices_are_those_of_a_penalty():
    rng = np.random.default_rng(0)
    tumour = profile(rng.normal(size=12).cumsum(), [[0, 55], [56, 120]], [1, 0])
    features = room.profile_features(tumour, "x")
    penalties = np.array([0.01, 0.5, 2.0, 1e4])
    choices = room.path_choices(tumour, features)
    for penalty, wrong in zip(penalties, choices.at(penalties), strict=True):
        labels = segment(features, penalty=penalty)
        assert_array_equal(wrong, room.wrong_regions(tumour, labels))
    assert len({tuple(w) for w in choices.at(penalties)}) > 1


@pytest.mark.parametrize("seed", range(4))
def test_completion_is_the_best_that_agrees(seed):
    x = np.random.default_rng(seed).normal(size=9)
    tumour = profile(x, [[16, 34], [36, 64], [66, 85]], [0, 1, 1])
    found = room.complete(tumour)
    agreeing = [y for y in all_segmentations(9) if room.wrong_regions(tumour, y)[0] == 0]
    assert any(np.array_equal(found, y) for y in agreeing)
    fewest = min(y[-1] for y in agreeing)
    assert found[-1] == fewest

    def distortion(y):
        return sum(np.sum((x[y == k] - x[y == k].mean()) ** 2) for k in range(y[-1] + 1))

    best = min(distortion(y) for y in agreeing if y[-1] == fewest)
    assert distortion(found) == pytest.approx(best)


def test_regions_that_no_segmentation_agrees_with():
    x = np.random.default_rng(0).normal(size=9)
    assert room.complete(profile(x, [[16, 44], [24, 36]], [0, 1])) is None
    between = profile(x, [[16, 26], [21, 24], [52, 54]], [1, 0, 0])  # no middle from 21 to 24
    assert room.complete(between)[-1] == 1
    three = profile(x, [[0, 90]], [0])._replace(n_breakpoints=np.array([1]))
    assert room.complete(three)[-1] == 1


def test_no_segmentation_is_right_everywhere(monkeypatch):
    monkeypatch.setattr(room, "wrong_regions", lambda *pair: np.ones(4))
    assert room.complete(profile(np.arange(9.0) ** 2, [[16, 24]], [1])) is None


def test_features_of_profiles():
    rng = np.random.default_rng(1)
    x = rng.normal(scale=0.2, size=4000) + 3 * (np.arange(4000) > 3000)
    tumour = profile(x, [[0, 1]], [0])
    noise = room.profile_features(tumour, "x/σ")[:3000].std()
    assert noise == pytest.approx(1, rel=0.05)  # the jump of three has no part in it
    assert room.profile_features(tumour, "ψ(4)").shape == (4000, 5)
    width = 1.4826 * np.median(abs(x - np.median(x)))
    z = (x - np.median(x)) / (4 * width)
    first = np.pi**-0.25 * np.exp(-(z**2) / 2)
    assert_allclose(room.profile_features(tumour, "ψ(4)")[:, 0], first, rtol=1e-4)


def test_log_ratios_are_cut_off_at_a_multiple_of_their_deviation():
    x = np.r_[np.linspace(-1, 1, 201), 50.0, -70.0]
    width = 2 * 1.4826 * np.median(abs(x - np.median(x)))
    found = room.profile_features(profile(x, [[0, 1]], [0]), "cut(2)·n")
    assert found.shape == (203, 1) and found[-2:, 0].tolist() == [1, -1]
    assert_allclose(found[:201, 0], np.clip(x[:201] / width, -1, 1), rtol=1e-4, atol=1e-9)


def test_the_price_grows_with_the_length_only_where_said(monkeypatch):
    rng = np.random.default_rng(0)
    tumours = [profile(rng.normal(size=n), [[0, 10 * n]], [0]) for n in (10, 40)]
    monkeypatch.setattr(room, "_profiles", lambda limit: tumours)
    grid = room.PROFILE_PENALTIES
    flat, growing = (room._wrong_on_grid(kind, None)[..., 0] for kind in ("x", "x·n"))
    for tumour, one, other in zip(tumours, flat, growing, strict=True):
        n = len(tumour.logratios)
        least = [grid[found == 0].min() for found in (one, other)]
        assert least[0] > least[1] and least[1] == pytest.approx(least[0] / n, rel=0.2)


def test_folds_keep_tumours_together():
    names = [str(n) for n in [*range(500, 540), 591, 508, 591, 520]]
    fold = room.folds([profile(np.zeros(3), [], [], name) for name in names], seed=0)
    assert len({fold[names.index("508")], fold[-2], fold[-3], fold[-4]}) == 1
    assert fold[-1] == fold[names.index("520")]
    assert set(Counter(fold[:40])) == set(range(10))
    assert max(Counter(fold[:40]).values()) == 4


def write_tables(folder, n_profiles=12):
    """Profiles of 60 probes with one change, in the middle third, and one region on each side."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    with (
        open(folder / "signals.csv", "w", newline="") as signals,
        open(folder / "labels.csv", "w", newline="") as labels,
    ):
        probes, regions = csv.writer(signals), csv.writer(labels)
        probes.writerow(["profile", "chromosome", "position", "logratio"])
        regions.writerow(["profile", "chromosome", "min", "max", "annotation"])
        for name in range(n_profiles):
            change = rng.integers(22, 38)
            x = rng.normal(scale=0.1, size=60) + (np.arange(60) >= change)
            for i in range(60):
                probes.writerow([name, 1, 10 * i, x[i]])
            regions.writerow([name, 1, 0, 195, "0breakpoints"])
            regions.writerow([name, 1, 200, 395, "1breakpoint"])


def test_profiles_run_when_the_data_is_there(tmp_path, monkeypatch):
    write_tables(tmp_path / "neuroblastoma")
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    monkeypatch.setattr(room, "N_FOLDS", 3)
    result = experiments.run("lajugie2014-neuroblastoma", "smoke")
    assert set(result["skipped"]) <= {room.PROFILE_KERNEL}
    summary = {row: cells["error"]["mean"] for row, cells in result["summary"].items()}
    assert summary.pop(room.ONE_SEGMENT) == 50 and summary[room.TWO] == 0
    assert max(summary.values()) <= 5
    assert all(
        cells["too_many"]["mean"] + cells["too_few"]["mean"]
        == pytest.approx(cells["error"]["mean"])
        for cells in result["summary"].values()
    )


def test_profiles_are_left_out_without_the_data(monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    result = experiments.run("lajugie2014-neuroblastoma", "smoke")
    assert result["summary"] == {}
    assert "MLBOOK_DATA" in result["skipped"][room.LEARNED]
