"""Protocols of the experiments of Komodakis 2011."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from book import reproduction as experiments
from book.reproduction import komodakis2011_choices as choices
from book.reproduction import komodakis2011_distances as distances
from book.reproduction import komodakis2011_exemplars as exemplars
from book.reproduction import komodakis2011_images
from book.reproduction import komodakis2011_rivals as rivals
from book.reproduction import komodakis2011_synthetic as synthetic
from mlbook.datasets import TEXTURE_DIRECTIONS, load_image_folder
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
    assert values[0] < 1 and values[-1] < 0.5 and values == sorted(values)[::-1]
    full = synthetic.figure2a_units("full")
    assert len({(u["n_samples"], u["n_clusters"]) for u in full}) == 20
    assert {u["n_features"] for u in full} == {100}


# --- several distances per feature -----------------------------------------------------------


def test_as_many_clusters_as_asked():
    x = np.random.default_rng(0).normal(size=(40, 2))
    D = ((x[:, None] - x) ** 2).sum(axis=2)
    assert exemplars.with_clusters(D, 4).max() + 1 == 4
    square = np.array([0.0, 0.0, 1.0, 1.0])  # three exemplars are best at no penalty
    assert exemplars.with_clusters(abs(square[:, None] - square), 3).max() + 1 == 2


def test_majority_is_the_share_of_the_largest_class():
    y, labels = np.array([0, 0, 1, 1, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    assert exemplars.majority_accuracy(y, labels) == pytest.approx(4 / 6)
    assert exemplars.clustering_accuracy(y, labels) == pytest.approx(4 / 6)
    assert exemplars.majority_accuracy(y, np.arange(6)) == 1
    assert exemplars.clustering_accuracy(y, np.arange(6)) == pytest.approx(3 / 6)


@pytest.fixture
def made_up(monkeypatch):
    """Textures of three classes and four views: one that tells them apart, three that do not."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    views = {name: rng.normal(size=(90, 3)) for name in TEXTURE_DIRECTIONS}
    views["0°"] += 6 * np.eye(3)[y]
    for cached in (distances.split, distances._learned):
        cached.cache_clear()
    monkeypatch.setattr(distances, "load_textures", lambda: (views, y))
    yield
    for cached in (distances.split, distances._learned):
        cached.cache_clear()


KINDS = ("l1", "l2")


def test_split_in_halves(made_up):
    data = distances.split("textures", 3, KINDS, 20, True)
    assert data.train.shape == data.test.shape == data.across.shape == (16, 30, 30)
    assert Counter(data.y.tolist()) == Counter(data.y_test.tolist()) == {0: 10, 1: 10, 2: 10}
    assert data.across.min() > 1e-6  # nothing is in both halves
    assert_allclose(data.train[:, ~np.eye(30, dtype=bool)].mean(axis=1), 1, rtol=1e-5)
    assert data.names[8:10] == ["noise 1, l1", "noise 1, l2"]
    other = distances.split("textures", 4, KINDS, 20, True)
    assert not np.array_equal(other.across, data.across)


def units_of(methods, **options):
    """Units of the textures on the first split, of two kinds of distance."""
    units = distances.split_units("full", data="textures", methods=methods, per_class=20, **options)
    return [{**u, "kinds": list(KINDS)} for u in units if u["seed"] == distances.FIRST_SPLIT]


def test_every_method_and_what_it_should_find(made_up):
    methods = {row: row for row in ("learned", *distances.METHODS)}
    values = {u["row"]: distances.run_split(u) for u in units_of(methods, noise=True)}
    assert set(values) == {*methods, *(f"{row}, with noise" for row in methods)}
    for row in ("learned", distances.SINGLE, distances.NCA):
        assert values[row]["one_to_one"] == values[row]["majority"] == values[row]["nn"] == 1
    assert values["learned"]["accuracy"] > 0.8 and 3 <= values["learned"]["clusters"] <= 5
    assert values[distances.SVM]["accuracy"] > 0.9 and values[distances.MKL]["nn"] > 0.9
    assert values[distances.AVERAGE]["nn"] < 1
    noisy = values["learned, with noise"]
    assert noisy["nn"] == 1 and noisy["noise"] < 0.2 and "noise" not in values["learned"]


def test_shares_of_the_views(made_up):
    units = distances.share_units("full", data="textures", views=TEXTURE_DIRECTIONS)
    ours = [{**u, "per_class": 20} for u in units if u["seed"] == distances.FIRST_SPLIT]
    found = {u["row"]: distances.run_shares(u) for u in ours}
    assert list(found) == list(TEXTURE_DIRECTIONS)
    assert sum(sum(row.values()) for row in found.values()) == pytest.approx(1)
    assert sum(found["0°"].values()) > 0.9
    falling = list(distances.run_objective(ours[0]).values())
    assert falling[0] <= 1 and falling[-1] < 0.7 and falling == sorted(falling)[::-1]


def test_the_average_is_the_mean_of_the_stack(made_up):
    (unit,) = units_of({distances.AVERAGE: distances.AVERAGE})
    data = distances.split_of(unit)
    nearest = data.y[data.across.sum(axis=0).argmin(axis=1)]
    assert distances.run_split(unit)["nn"] == np.mean(nearest == data.y_test) < 1


def test_the_best_single_distance_is_the_best_in_each_measure(made_up):
    (unit,) = units_of({distances.SINGLE: distances.SINGLE})
    data = distances.split_of(unit)
    each = [distances.judged(data, w) for w in np.eye(8)]
    assert distances.run_split(unit) == {key: max(v[key] for v in each) for key in each[0]}


def test_told_the_exemplars():
    x, y = np.array([0.0, 1.0, 3.2, 4.0, 5.0, 6.0]), np.array([3, 3, 3, 7, 7, 7])
    D = abs(x[:, None] - x)  # the exemplars are at 1 and 5; the point at 3.2 is nearer to 5
    assert distances.told_accuracy(D, y) == pytest.approx(5 / 6)


def test_splits_and_rows():
    for name, n_rows in (("scenes", 8), ("keel-textures", 16)):
        units = experiments.find(f"komodakis2011-{name}").units("full")
        rows = Counter(u["row"] for u in units)
        assert set(rows.values()) == {10} and len(rows) == n_rows
        assert {u["per_class"] for u in units} == {80}
        assert {u["seed"] for u in units} == set(range(10, 20))
        assert all((u["kinds"] == ("chi2",)) == (distances.ONE_KIND in u["row"]) for u in units)
        assert all(u["noise"] == u["row"].endswith("with noise") for u in units)


# --- images ----------------------------------------------------------------------------------


def write_folder(folder, names=("across", "along"), n=10):
    """Classes of images, stripes in one direction each, and noise."""
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("skimage")
    rng = np.random.default_rng(0)
    down, right = np.mgrid[:64, :64]
    for i, name in enumerate(names):
        turn = np.pi * i / len(names)
        wave = np.sin((right * np.cos(turn) + down * np.sin(turn)) / (1 + i / 2))
        (folder / name).mkdir(parents=True)
        for k in range(n):
            noisy = np.clip(128 + 60 * wave + rng.normal(scale=20, size=(64, 64)), 0, 255)
            image.fromarray(noisy.astype(np.uint8)).save(folder / name / f"image_{k:04d}.png")


@pytest.fixture
def fresh():
    yield
    for cached in (distances.images, distances.split, distances._learned):
        cached.cache_clear()


def test_eight_views(tmp_path):
    write_folder(tmp_path)
    images = load_image_folder("uiuc", tmp_path)
    codebooks = komodakis2011_images.learn_codebooks(images[::2])
    assert codebooks["HOG"].shape == (300, 36) and codebooks["MR8"].shape == (300, 8)
    views = komodakis2011_images.image_views(images[1::2], codebooks)
    assert list(views) == list(komodakis2011_images.VIEWS)
    widths = {name: X.shape for name, X in views.items()}
    assert widths["gist"] == (10, 512) and widths["LBP"] == (10, 295)
    assert widths["HOG"] == widths["dense SIFT"] == (10, 6300) and widths["textons"] == (10, 300)
    assert all(X.min() >= 0 for X in views.values())
    assert_allclose(views["textons"].sum(axis=1), 1)
    for name in ("gist", "HOG", "dense SIFT", "textons"):  # which tell the directions apart
        D = ((views[name][:, None] - views[name]) ** 2).sum(axis=2) + 9 * np.eye(10)
        assert_array_equal(D.argmin(axis=1) // 5, np.arange(10) // 5)


def test_an_image_without_keypoints_has_no_sparse_words():
    pytest.importorskip("skimage")
    found = komodakis2011_images.descriptors(np.full((64, 64), 90, dtype=np.uint8))
    assert found["sparse SIFT"].shape == (1, 0, 128)


def test_words_are_learned_from_images_of_no_split(tmp_path, monkeypatch, fresh):
    write_folder(tmp_path / "uiuc", n=5)
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    seen = []

    def stop(images):
        seen.extend(images)
        raise FileNotFoundError

    monkeypatch.setattr(distances, "learn_codebooks", stop)
    for per_class, left in ((3, 4), (None, 10)):
        seen.clear()
        with pytest.raises(FileNotFoundError):
            distances.images("uiuc", per_class)
        assert len(seen) == left


@pytest.mark.slow
def test_image_folders_run_when_the_data_is_there(tmp_path, monkeypatch, fresh):
    write_folder(tmp_path / "scenes15", distances.SCENES[:3], n=14)
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    result = experiments.run("komodakis2011-scenes", "smoke")
    assert result["skipped"] == {}
    assert set(result["summary"]) == {"learned", distances.TOLD, *distances.METHODS}
    assert result["summary"]["learned"]["nn"]["mean"] == 1
    drawn = experiments.run("komodakis2011-figure7", "smoke")["summary"]
    assert list(drawn) == list(distances.SCENES)
    found = [drawn[scene] for scene in distances.SCENES[:3]]
    assert sum(cells["exemplars"]["mean"] for cells in found) >= 3
    assert all(cells["right"]["mean"] == 1 for cells in found)
    assert sum(cells["size"]["mean"] for cells in found) <= 18
    assert all(0 <= cells["image"]["mean"] < 14 for cells in found)
    assert set(drawn["Store"]) == {"exemplars"} and drawn["Store"]["exemplars"]["mean"] == 0


@pytest.mark.parametrize("name", ["outex", "uiuc", "scenes", "figure6a", "figure6b", "figure7"])
def test_image_folders_are_left_out_without_the_data(name, monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    result = experiments.run(f"komodakis2011-{name}", "smoke")
    assert result["summary"] == {} and result["skipped"]
    assert all("MLBOOK_DATA" in why for why in result["skipped"].values())


def test_real_textures():
    units = {u["row"]: u for u in experiments.find("komodakis2011-keel-textures").units("smoke")}
    try:
        values = distances.run_split(units["learned, with noise"])
    except ImportError as error:
        pytest.skip(str(error))
    assert values["nn"] > 0.6 and values["noise"] < 0.5


# --- rivals ----------------------------------------------------------------------------------


def stack_of(seed, gap=4.0, n=24, k=3):
    """Two distances, of which the second is noise, and classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    x, noise = gap * y + rng.normal(size=n), rng.normal(size=n)
    return np.array([abs(x[:, None] - x), abs(noise[:, None] - noise)]), y


def test_nca_is_at_a_minimum():
    """The gradient is that of the loss: no weights nearby, at least 0, are better."""
    stack, y = stack_of(0, gap=1.5)  # classes overlap: the best weights are finite

    def loss(w):
        D = np.tensordot(w, stack, axes=1)
        np.fill_diagonal(D, np.inf)
        P = np.exp(-D)
        P /= P.sum(axis=1, keepdims=True)
        return -np.log((P * (y[:, None] == y)).sum(axis=1)).mean()

    w = rivals.nca_weights(stack, y)
    assert 0.5 < w[0] < 20 and w.min() >= 0
    for step in (1e-2, -1e-2):
        for i in range(2):
            near = np.maximum(w + step * np.eye(2)[i], 0)
            assert loss(near) >= loss(w) - 1e-7


def test_kernels_of_noise_count_little():
    stack, y = stack_of(1)
    train, test = np.arange(0, 24, 2), np.arange(1, 24, 2)
    inside, across = stack[:, train][:, :, train], stack[:, test][:, :, train]
    found = rivals.svm_of_kernels(inside, y[train], across)
    assert np.mean(found == y[test]) > 0.85
    noise = rivals.svm_of_kernels(inside[1:], y[train], across[1:])
    assert np.mean(noise == y[test]) < 0.7


# --- choices ---------------------------------------------------------------------------------


def test_made_up_sets():
    sets, y = choices.subsets(0)
    assert sets.shape == (120, 60) and set(np.unique(sets)) == {0, 1}
    assert all((sets[p] <= sets[y[p]]).all() for p in range(120))
    forth, back = choices.both_ways(sets)
    assert forth[3, 7] == np.sum((sets[3] == 1) & (sets[7] == 0)) == back[7, 3]
    assert (forth[np.arange(120), y] == 0).all()


def test_a_distance_that_is_not_symmetric_finds_the_whole_sets():
    both, symmetric = (choices.run_asymmetric({"row": row, "seed": 0}) for row in choices.WAYS)
    assert both["f"] > 0.9 > 0.6 > symmetric["f"]
    assert both["forth"] > 0.8 and symmetric["forth"] == 1


def test_choices_are_those_of_the_rows():
    units = choices.choice_units("full")
    options = {u["row"]: u["options"] for u in units}
    assert options["l2 regularizer"] == {"regularizer": "l2"}
    assert options["T = 10"] == {"inner_iter": 10, "rounds": 300}
    assert all(300 % o["inner_iter"] == 0 for o in options.values() if "rounds" in o)
    smoke = {u["row"]: choices.run_choice(u) for u in choices.choice_units("smoke")}
    assert smoke["l1 regularizer"]["noisy"] < smoke["l2 regularizer"]["noisy"]
    assert 0 <= smoke["l2 regularizer"]["zero"] <= smoke["l1 regularizer"]["zero"] <= 1
