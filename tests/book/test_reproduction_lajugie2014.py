"""Protocols of the experiments of Lajugie 2014."""

import json
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris

from book.reproduction import lajugie2014
from book.reproduction import lajugie2014_maps as maps
from book.reproduction import lajugie2014_sequences as sequences
from book.reproduction import lajugie2014_settings as settings
from book.reproduction import lajugie2014_speech as speech
from book.reproduction import lajugie2014_tables as tables
from book.reproduction import lajugie2014_watch as watch
from mlbook.changepoints import segment, segment_matrix
from mlbook.datasets import make_change_points
from mlbook.large_margin import LargeMarginMetric
from mlbook.partitions import partition_loss

CACHED = (
    sequences._figure1_data,
    speech._speech_data,
    watch._watch_data,
    tables._table,
    tables._learned_map,
)


@pytest.fixture(autouse=True)
def fresh():
    """No data of one test is seen by another."""
    yield
    for cached in CACHED:
        cached.cache_clear()


def steps(rng, n_series=3, n=40, offset=0.0):
    """Sequences of which column 0 jumps with the labels, and column 1 is noise."""
    labels = [np.repeat([0, 1, 2], sorted_lengths(rng, n)) for _ in range(n_series)]
    series = [
        np.c_[4.0 * (y % 2), np.zeros(n)] + rng.normal(size=(n, 2)) + offset * rng.normal(size=2)
        for y in labels
    ]
    return series, labels


def sorted_lengths(rng, n):
    first, second = np.sort(rng.choice(np.arange(10, n - 9, 10), 2, replace=False))
    return [first, second - first, n - second]


# --- maps and penalties ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "values, index", [([2, 1, 3, 1, 1, 1, 2], 4), ([0, 1], 0), ([5, 5, 5], 1), ([1, 0, 1, 0], 1)]
)
def test_middle_of_the_longest_run_of_minima(values, index):
    assert maps.middle_of_best(np.array(values)) == index


def test_tuned_penalty_is_the_best_of_the_grid():
    series, labels = steps(np.random.default_rng(0))
    penalty = maps.tuned_penalty(series, labels, 3)

    def loss(p):
        found = [segment(x, penalty=p, min_length=3) for x in series]
        return np.mean([partition_loss(a, b) for a, b in zip(found, labels, strict=True)])

    scatter = 40 * np.mean([x.var(axis=0).sum() for x in series])
    grid = scatter * maps.PENALTIES
    assert np.isclose(grid, penalty).sum() == 1
    assert loss(penalty) == min(map(loss, grid)) < min(loss(grid[0]), loss(grid[-1]))


def test_rca_whitens_within_segments_and_sorts_by_what_lies_between():
    series, labels = steps(np.random.default_rng(1), offset=20.0)
    rows, y = np.concatenate(series), np.concatenate([y + 3 * i for i, y in enumerate(labels)])
    within = rows - np.array([rows[y == k].mean(axis=0) for k in range(9)])[y]
    for centred in (False, True):
        C = maps.rca(series, labels, 2, centred)
        assert_allclose(C.T @ within.T @ within @ C / len(rows), np.eye(2), atol=1e-4)
        total = rows - (np.repeat([x.mean(axis=0) for x in series], 40, axis=0) if centred else 0)
        scatter = np.cov(total.T, bias=True)
        ratios = eigh(scatter, within.T @ within / len(rows), eigvals_only=True)
        assert_allclose(np.diag(C.T @ scatter @ C), ratios, rtol=1e-4)
        assert_allclose(maps.rca(series, labels, 1, centred), C[:, 1:])
    first = maps.rca(series, labels, 1, centred=True)[:, 0]
    assert abs(first[0]) > 5 * abs(first[1])  # centring removes the offsets of column 1


def test_rca_is_that_of_metric_learn():
    pytest.importorskip("metric_learn")
    from mlbook.baselines import rca

    X, y = load_iris(return_X_y=True)
    ours, theirs = maps.rca([X], [y], 4, True), rca(X, y).T
    assert_allclose(ours @ ours.T, theirs @ theirs.T, rtol=1e-3)


def test_pca_of_centred_sequences():
    series, _ = steps(np.random.default_rng(2), offset=100.0)
    rows = np.concatenate([x - x.mean(axis=0) for x in series])
    _, _, Vt = np.linalg.svd(rows)
    assert_allclose(abs(maps.pca(series, 1)[:, 0]), abs(Vt[0]), atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_kernel_segments_maximize_the_trace_of_the_kernel_matrix(k):
    pytest.importorskip("ruptures")
    X = np.concatenate(steps(np.random.default_rng(3), n_series=1, n=30)[0])
    squared = squareform(pdist(X, "sqeuclidean"))
    kernel = np.exp(-squared / np.median(pdist(X, "sqeuclidean")))
    assert_array_equal(maps.kernel_segment(X, k), segment_matrix(kernel, k))
    free = maps.kernel_segment(X, penalty=2.0)
    assert_array_equal(free, segment_matrix(kernel - 2 * np.eye(30)))


def test_ruptures_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ruptures", None)
    with pytest.raises(ImportError, match="'reproduce'"):
        maps.kernel_segment(np.zeros((4, 1)), 2)


# --- Figure 1 --------------------------------------------------------------------------------


def test_figure_1_units_cover_every_fraction_once():
    units = sequences.figure1_units("full")
    cells = Counter((u["row"], u["seed"], f) for u in units for f in u["fractions"])
    assert set(cells.values()) == {1}
    assert len(cells) == 12 * 20 * len(sequences.FRACTIONS)


def test_figure_1_tells_the_story():
    units = [u for u in sequences.figure1_units("smoke") if "ruptures" not in u["row"]]
    found = {}
    for unit in units:
        found.setdefault(unit["row"], {}).update(sequences.run_figure1(unit))
    assert all(found[row].keys() == {"at40", "at100"} for row in sequences.WITH_LABELS)
    assert found["PCA 3"].keys() == {sequences.fraction_key(f) for f in sequences.FRACTIONS}
    loss = {row: cells["at100"] for row, cells in found.items()}
    assert loss[maps.OURS] <= loss["RCA 3"] <= loss["PCA 3"] <= loss[maps.PENALTY] < 2.25
    assert loss[maps.ONE_SEGMENT] == 2.25  # mean number of segments less one
    assert loss[maps.OURS] < 0.1 and found[maps.OURS]["at40"] < 0.1
    assert found["PCA 3"]["at40"] == loss["PCA 3"]  # labels are not used


def test_map_has_twenty_settings_of_twenty_draws():
    units = settings.settings_units("full")
    cells = Counter((u["row"], u["seed"]) for u in units)
    assert set(cells.values()) == {1} and len(cells) == 20 * 20
    options = {json.dumps({k: v for k, v in u.items() if k not in ("row", "seed")}) for u in units}
    assert len(options) == 20


def test_map_and_figure_agree_where_they_are_the_same():
    """The setting of the figure is a cell of the map: the same draws, the same losses."""
    small = settings.FIGURE_SIZES["smoke"]
    unit = {"row": "", "seed": 3, "irrelevant_level": 2.0, **small}
    found = settings.run_setting(unit)
    for key, (row, fraction) in settings.CELLS.items():
        same = sequences.run_figure1({"row": row, "fractions": (fraction,), "seed": 3, **small})
        assert found[key] == same[sequences.fraction_key(fraction)]


def test_grouped_columns_jump_together():
    series, labels = settings.draw_series(
        0, grouped=True, noise=0.0, n_series=2, n_samples=200, n_irrelevant=40
    )
    assert series[0].shape == (200, 50) and len(labels) == 2
    jumps = [np.flatnonzero(np.diff(column)).tolist() for column in series[0].T]
    true = np.flatnonzero(np.diff(labels[0])).tolist()
    assert all(found == true for found in jumps[:10])
    groups = [jumps[10 + 10 * g : 20 + 10 * g] for g in range(4)]
    assert all(found == group[0] for group in groups for found in group)
    assert groups[0][0] != groups[1][0] and groups[0][0] != true
    assert_array_equal(series[0][:, 10], -series[0][:, 11])
    noisy, _ = settings.draw_series(
        0, grouped=True, noise=2.0, n_series=2, n_samples=200, n_irrelevant=40
    )
    assert np.std(noisy[0] - series[0]) == pytest.approx(2, rel=0.05)
    plain, _ = settings.draw_series(0, n_series=1, n_samples=200, n_irrelevant=40)
    assert_array_equal(
        plain[0], make_change_points(1, n_samples=200, n_irrelevant=40, random_state=0)[0][0]
    )


# --- Table 1 ---------------------------------------------------------------------------------


@pytest.fixture
def persons(monkeypatch):
    """Ten made-up persons of different lengths, whose column 8 jumps with the labels."""
    rng = np.random.default_rng(0)
    series, labels = [], []
    for person in range(10):
        y = np.repeat(np.arange(5), 10 + person)
        x = rng.normal(size=(len(y), 12))
        x[:, 8] += 6 * (y % 2)
        series.append(x)
        labels.append(y)
    monkeypatch.setattr(watch, "load_watch", lambda **options: (series, labels))
    return series


@pytest.mark.parametrize("seed", [0, 3])
def test_persons_are_split_as_said(persons, monkeypatch, seed):
    seen = []

    def method(row, series, labels):
        seen.extend(len(x) for x in series)
        assert_allclose(np.concatenate(series[:4]).std(axis=0), 1)
        assert all(np.allclose(x.mean(axis=0), 0) for x in series)
        assert {x.shape[1] for x in series} == {6}

        def predict(x, k):
            seen.append(len(x))
            return np.zeros(len(x), dtype=int)

        return predict

    monkeypatch.setattr(watch, "_method", method)
    unit = {"row": "", "seed": seed, "stream": "gyroscope", "window": 50}
    assert watch.run_watch(unit) == {"gyroscope": pytest.approx(4)}
    order = np.roll([50 + 5 * person for person in range(10)], 2 * seed)
    assert seen == order.tolist()


def test_every_method_finds_clear_jumps(persons):
    units = [u for u in watch.watch_units("smoke") if u["stream"] == "gyroscope"]
    values = {}
    for unit in units:
        if "ruptures" not in unit["row"]:  # not in all environments
            values[unit["row"]] = watch.run_watch(unit)["gyroscope"]
    assert values.pop(maps.ONE_SEGMENT) == pytest.approx(4)
    assert max(loss for row, loss in values.items() if "PCA" not in row) < 0.5
    noisy = {row: {**units[0], "row": row, "stream": "noise"} for row in (maps.OURS, maps.PENALTY)}
    losses = {row: watch.run_watch(unit)["noise"] for row, unit in noisy.items()}
    assert losses[maps.OURS] < 0.5 < losses[maps.PENALTY]


def test_watch_recordings():
    try:
        value = watch.run_watch(
            {"row": maps.TRUE_NUMBER, "seed": 0, "stream": "both", "window": 100}
        )
    except ImportError as error:
        pytest.skip(str(error))
    assert 0 < value["both"] < 5


def test_noise_columns_jump_at_places_of_their_own():
    columns = watch.noise_columns(6000, 40, 5, np.random.default_rng(0))
    assert columns.shape == (6000, 40)
    assert np.std(columns) == pytest.approx(np.sqrt(5), rel=0.15)
    jumps = [segment(x[:, None], n_segments=5) for x in columns.T[:6]]
    parts = [np.std(x[y == k]) for x, y in zip(columns.T, jumps, strict=False) for k in range(5)]
    assert np.median(parts) == pytest.approx(1, rel=0.05)
    assert len({tuple(np.flatnonzero(np.diff(y))) for y in jumps}) == 6


def test_speech_is_learned_from_its_own_sequences(monkeypatch):
    rng = np.random.default_rng(0)
    labels = [np.repeat(np.arange(6), 9 + i) for i in range(10)]
    series = [
        np.c_[6.0 * (y % 2), np.zeros((len(y), 11))] + rng.normal(size=(len(y), 12)) + 50
        for y in labels
    ]
    monkeypatch.setattr(speech, "load_vowels", lambda random_state: (series, labels))
    units = speech.speech_units("smoke")
    assert len(units) == len(watch.METHODS1) + 1  # one of them with noise columns too
    clean = [u for u in units if u["stream"] == "speech" and "ruptures" not in u["row"]]
    found = {u["row"]: speech.run_speech(u)["speech"] for u in clean}
    assert found[maps.ONE_SEGMENT] == pytest.approx(5)
    assert max(found[row] for row in (maps.OURS, maps.FULL_METRIC)) < 0.5 < found[maps.PENALTY]
    data, _ = speech._speech_data(0)
    assert {x.shape[1] for x in data} == {12 + speech.SPEECH_NOISE}
    assert max(abs(x.mean(axis=0)).max() for x in data) < 1e-9
    noisy = {"row": maps.OURS, "seed": 0, "stream": "noise"}
    assert (
        speech.run_speech(noisy)["noise"]
        < 0.5
        < speech.run_speech({**noisy, "row": maps.PENALTY})["noise"]
    )


def test_speech_of_aeon():
    try:
        unit = {"row": maps.TRUE_NUMBER, "seed": 0, "stream": "speech"}
        value = speech.run_speech(unit)["speech"]
    except ImportError as error:
        pytest.skip(str(error))
    assert 20 < value < 40


# --- Table 2 ---------------------------------------------------------------------------------


def test_halves_keep_copies_together_and_classes_balanced():
    rng = np.random.default_rng(0)
    X = rng.integers(12, size=(200, 1)).astype(float)
    y = (X[:, 0] >= 4).astype(int)
    train, test = tables.halves(X, y, 5)
    assert sorted([*train, *test]) == list(range(200))
    values = set(X[train, 0]), set(X[test, 0])
    assert not values[0] & values[1]
    assert {len(v) for v in values} == {6} and sum(v < 4 for v in values[0]) == 2
    assert not np.array_equal(train, tables.halves(X, y, 6)[0])


def test_large_margin_does_not_depend_on_units():
    """Why Table 2 shows the scalings for the Euclidean distance only."""
    X, y = load_iris(return_X_y=True)
    distances, objectives = [], []
    for units in (1.0, np.array([0.1, 5.0, 300.0, 1.0])):
        model = LargeMarginMetric(
            structure="spectral", n_clusters="known", metric="full", alpha=1e-2
        ).fit([X * units], [y])
        objectives.append(model.objective_)
        distances.append(pdist(model.transform(X * units)))
    assert_allclose(*objectives, rtol=model.tol)
    assert np.corrcoef(distances)[0, 1] > 0.99 > np.corrcoef(pdist(X), pdist(X * units))[0, 1]


def test_table_2_on_iris():
    losses = {}
    for unit in tables.table2_units("smoke"):
        if unit["table"] == "iris" and unit["row"] != tables.XING:
            losses.setdefault(unit["row"], {}).update(tables.run_table2(unit))
    assert all(cells.keys() == {"iris_same", "iris_half"} for cells in losses.values())
    same = {row: cells["iris_same"] for row, cells in losses.items()}
    assert same["Euclidean, as given"] == pytest.approx(1.019, abs=1e-3)
    assert same["Euclidean, standardised"] == pytest.approx(1.498, abs=1e-3)
    assert same[maps.FULL_METRIC] < same[tables.DIAGONAL] < 1 < same["Euclidean, in [0, 1]"]
    assert same["RCA"] < 0.3 and losses["RCA"]["iris_half"] != same["RCA"]


def test_printed_numbers_of_table_2():
    numbers = lajugie2014.table2_numbers()
    assert numbers[maps.FULL_METRIC]["wine_half"] == "1.03 ± 0.04"
    assert numbers["RCA"]["libras_same"] == numbers[tables.RCA_REDUCED]["libras_half"] == "22 ± 2"
    assert tables.DIAGONAL not in numbers and len(numbers) == 7
