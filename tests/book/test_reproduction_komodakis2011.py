"""Protocols of the experiments of Komodakis 2011."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from book import reproduction as experiments
from book.reproduction import komodakis2011_distances as distances
from book.reproduction import komodakis2011_exemplars as exemplars
from book.reproduction import komodakis2011_synthetic as synthetic
from mlbook.datasets.views import DIGIT_VIEWS
from mlbook.partitions import f_measure


@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_accuracy_is_the_best_over_all_matchings(k):
    rng = np.random.default_rng(k)
    y, labels = rng.integers(4, size=30), rng.integers(k, size=30)
    y[:4], labels[:k] = range(4), range(k)
    names = [*range(4), *(-1 for _ in range(k))]  # −1: matched to no class
    best = max(
        np.mean(np.array(names)[list(chosen)][labels] == y)
        for chosen in permutations(range(4 + k), k)
    )
    assert exemplars.clustering_accuracy(y, labels) == pytest.approx(best)


def test_tuned_penalty_is_the_best_of_those_tried():
    x = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])
    D, y = abs(x[:, None] - x), np.array([0, 0, 0, 1, 1, 1])
    penalty = exemplars.tuned_penalty([D], [y])
    assert penalty in [share * 3 * D.mean() for share in exemplars.SHARES]
    assert f_measure(y, exemplars.cluster(D, penalty)) == 1
    assert_array_equal(exemplars.cluster(D, penalty), y)


def test_no_two_data_sets_of_figure_2_are_the_same():
    units = [u for u in synthetic.figure2_units("full") if u["distance"] == "learned"]
    small = [{**unit, "n_samples": 5} for unit in units]
    drawn = [
        X[0, 0] for unit in small for first in (0, 50) for X in synthetic.draw_sets(unit, first)[0]
    ]
    assert len(set(drawn)) == len(drawn) == len(units) * 20
    sizes = {(u["n_samples"], u["n_features"], u["n_clusters"], u["n_sets"]) for u in units}
    assert sizes == {(500, 100, 10, 10)}
    assert {u["rho"] for u in units} == set(synthetic.RHOS)


def test_figure_2_tells_the_story():
    common = {"seed": 0, "rho": 0.5, **synthetic.SIZES["smoke"]}
    values = {
        name: synthetic.run_figure2({**common, "distance": name}) for name in synthetic.DISTANCES
    }
    assert values["learned"]["f"] == 1 and values["learned"]["clusters"] == 3
    assert values["learned"]["noisy"] < 0.01
    assert values["squared Euclidean"]["f"] < 0.7
    assert values["standardised Euclidean"]["f"] > 0.9


def test_figure_2a_falls():
    (unit,) = synthetic.figure2a_units("smoke")
    values = list(synthetic.run_figure2a(unit).values())
    assert len(values) == len(synthetic.ITERATIONS)
    assert values[0] < 1 and values[-1] < 0.3 and values[-1] <= values[2]
    full = synthetic.figure2a_units("full")
    assert len({(u["n_samples"], u["n_clusters"]) for u in full}) == 20
    assert {u["n_features"] for u in full} == {100}


# --- several distances per feature -----------------------------------------------------------


@pytest.fixture
def made_up(monkeypatch):
    """Digits of three classes and four views: one that tells them apart, three that do not."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    names = list(DIGIT_VIEWS)[:4]
    views = {name: rng.normal(size=(90, 3)) for name in names}
    views[names[0]] += 6 * np.eye(3)[y]
    distances._views.cache_clear()
    distances.split.cache_clear()
    monkeypatch.setattr(distances, "load_views", lambda: (views, y))
    yield views, y
    distances._views.cache_clear()
    distances.split.cache_clear()


def test_split_in_halves(made_up):
    data = distances.split("digits", 3, ("l1", "l2"), 20, noise=True)
    assert data.train.shape == data.test.shape == data.across.shape == (16, 30, 30)
    assert Counter(data.y.tolist()) == Counter(data.y_test.tolist()) == {0: 10, 1: 10, 2: 10}
    assert data.across.min() > 1e-6  # no digit is in both halves
    assert_allclose(data.train[:, ~np.eye(30, dtype=bool)].mean(axis=1), 1)
    assert data.names[8:10] == ["noise Fourier, l1", "noise Fourier, l2"]
    other = distances.split("digits", 4, ("l1", "l2"), 20, noise=True)
    assert not np.array_equal(other.across, data.across)


def test_every_method_and_what_it_should_find(made_up):
    first = distances.split_units(
        "full", data="digits", seeds=1, kinds=("l1", "l2"), one_kind=False
    )
    units = [{**u, "seed": 0} for u in first]
    assert [u["row"] for u in units] == list(distances.METHODS)
    values = {u["row"]: distances.run_split(u) for u in units}
    assert values["learned"]["accuracy"] == values["learned"]["nn"] == 1
    assert values["best single distance"] == {"accuracy": 1, "nn": 1, "clusters": 3}
    assert values[distances.SVM]["accuracy"] > 0.9
    shares = distances.learned_shares(distances.unit_split(units[0]))
    assert shares.sum() == pytest.approx(1) and shares[:2].sum() > 0.9
    noisy = distances.run_split({**units[0], "noise": True})
    assert noisy["accuracy"] == 1 and noisy["noise"] < 0.05


def test_price_is_chosen_on_training_data(made_up):
    data = distances.split("digits", 0, ("l1",), 20)
    tried = [exemplars.learn([data.train], [data.y], (p,), "precomputed") for p in exemplars.PRICES]
    assert_allclose([m.penalty_ for m in tried], 10 * np.array(exemplars.PRICES))
    scores = [f_measure(data.y, m.predict(data.train)) for m in tried]
    chosen = exemplars.learn([data.train], [data.y], exemplars.PRICES, "precomputed")
    assert chosen.penalty_ == tried[int(np.argmax(scores))].penalty_


def test_the_average_is_the_mean_of_the_stack(made_up):
    (unit,) = [
        u
        for u in distances.split_units(
            "full", data="digits", seeds=1, kinds=("l1",), one_kind=False
        )
        if u["method"] == "average distance"
    ]
    data = distances.unit_split(unit)
    nearest = data.y[data.across.sum(axis=0).argmin(axis=1)]
    assert distances.run_split(unit)["nn"] == np.mean(nearest == data.y_test) < 1


def test_units_of_the_digits():
    units = experiments.find("komodakis2011-digits").units("full")
    rows = Counter(u["row"] for u in units)
    assert set(rows.values()) == {10} and len(rows) == 9
    assert "best single distance, with noise" not in rows
    assert {u["per_class"] for u in units} == {80}
    one = [u for u in units if u["row"] == distances.ONE_KIND]
    assert all(tuple(u["kinds"]) == ("chi2",) and "noise" not in u for u in one)


def write_folder(folder):
    """Two classes of ten images: stripes across, stripes along."""
    io = pytest.importorskip("skimage.io")
    rng = np.random.default_rng(0)
    wave = 128 + 80 * np.sin(np.arange(32))
    for name, image in (("across", np.tile(wave, (32, 1))), ("along", np.tile(wave, (32, 1)).T)):
        (folder / name).mkdir(parents=True)
        for k in range(10):
            noisy = np.clip(image + rng.normal(scale=10, size=(32, 32)), 0, 255).astype(np.uint8)
            io.imsave(folder / name / f"{k}.png", noisy, check_contrast=False)


def test_image_folders_run_when_the_data_is_there(tmp_path, monkeypatch):
    write_folder(tmp_path / "uiuc")
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    result = experiments.run("komodakis2011-uiuc", "smoke")
    assert result["skipped"] == {}
    assert set(result["summary"]) == {*distances.METHODS, distances.ONE_KIND}
    assert result["summary"]["learned"]["nn"]["mean"] == 1
    distances._views.cache_clear()
    distances.split.cache_clear()


@pytest.mark.parametrize("name", ["outex", "uiuc", "scene15"])
def test_image_folders_are_left_out_without_the_data(name, monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    result = experiments.run(f"komodakis2011-{name}", "smoke")
    assert result["summary"] == {} and "learned" in result["skipped"]
    assert "MLBOOK_DATA" in result["skipped"]["learned"]
    header, rows, _ = experiments.comparison(f"komodakis2011-{name}", "smoke", column="accuracy")
    assert header[1] == "paper" and rows[0][-1].startswith("not run: ")


@pytest.mark.parametrize(
    "name, row", [("digits", "learned, with noise"), ("textures", "learned, upright")]
)
def test_real_stand_ins(name, row):
    units = {u["row"]: u for u in experiments.find(f"komodakis2011-{name}").units("smoke")}
    try:
        values = distances.run_split(units[row])
    except ImportError as error:
        pytest.skip(str(error))
    assert values["accuracy"] > 0.75 and values["nn"] > 0.85
    assert values.get("noise", 0) < 0.1
