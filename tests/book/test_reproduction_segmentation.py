"""Segmentation experiments on made-up images: protocols, losses, and what they should find."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from book import reproduction as experiments
from book.reproduction import segmentation_collages as collages
from book.reproduction import segmentation_cuts as cuts
from book.reproduction import segmentation_pixels as pixels
from book.reproduction import segmentation_scenes as scenes
from book.reproduction import segmentation_superpixels as patches
from mlbook.baselines import metrics as baselines
from mlbook.ncuts import normalized_cut_value
from mlbook.partitions import equivalence_matrix, partition_loss, rand_loss

FEW_STEPS = pytest.mark.filterwarnings("ignore:the objective still fell")
CACHES = (
    pixels.pixel_split,
    collages.collage_split,
    cuts.small_horses,
    cuts.split_losses,
    patches.superpixels,
    patches.weights,
    patches.losses_by_image,
)


@pytest.fixture(autouse=True)
def fresh():
    """No split of another test, nor one left behind."""
    for cached in CACHES:
        cached.cache_clear()
    yield
    for cached in CACHES:
        cached.cache_clear()


@pytest.fixture
def quick(monkeypatch):
    """Baselines with few pairs: they have no small scale of their own."""
    monkeypatch.setitem(baselines.N_PAIRS, "itml", 30)
    monkeypatch.setitem(baselines.N_PAIRS, "pcca", 200)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Nine pictures of each kind: a reddish disk in green, as bright as it; its rim in doubt."""
    pytest.importorskip("skimage")
    image_class = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:24, :30]
    codes = {"weizmann_horses": (0, 255, 255), "flowers17": (3, 0, 1)}
    for name, (outside, rim, inside) in codes.items():
        for part in ("images", "masks"):
            (tmp_path / name / part).mkdir(parents=True)
        for i in range(9):
            distance = np.hypot(rows - 12, columns - rng.integers(9, 21))
            disk = distance < rng.integers(6, 9)
            base = np.where(disk[..., None], (150, 90, 60), (90, 130, 60))
            shade = rng.normal(scale=25, size=(24, 30, 1)) + rng.normal(scale=5, size=(24, 30, 3))
            mask = np.where(disk, inside, np.where(distance < 10, rim, outside))
            if name == "weizmann_horses":
                mask = np.where(disk, inside, outside)
            for part, colours in (("images", np.clip(base + shade, 0, 255)), ("masks", mask)):
                image = image_class.fromarray(colours.astype(np.uint8))
                image.save(tmp_path / name / part / f"{i}.png")
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    return tmp_path


# --- what counts -------------------------------------------------------------------------------


def test_mean_losses_leave_out_what_is_uncertain():
    rng = np.random.default_rng(0)
    truth = [rng.integers(-1, 2, size=n) for n in (12, 20)]
    found = [rng.integers(2, size=n) for n in (12, 20)]
    deltas, rands = [], []
    for y, labels in zip(truth, found, strict=True):
        a, b = y[y >= 0], labels[y >= 0]
        deltas.append(np.sum((equivalence_matrix(a) - equivalence_matrix(b)) ** 2))
        together = (a[:, None] == a) != (b[:, None] == b)
        rands.append(together.sum() / (len(a) * (len(a) - 1)))
    assert scenes.mean_losses(truth, found) == pytest.approx(
        {"delta": np.mean(deltas), "rand": np.mean(rands)}
    )


@pytest.mark.parametrize("k", [2, 3, 7])
def test_one_segment_costs_one_less_than_the_segments_of_the_truth(k):
    y = np.random.default_rng(k).permutation([*range(k), 0, 0, 1, 1, 1])
    assert partition_loss(y, np.zeros_like(y)) == pytest.approx(k - 1)


def test_jaccard_distance_of_the_better_segment():
    y = np.array([1, 1, 1, 0, 0, 0])
    assert cuts.jaccard_distance(y, np.array([5, 5, 5, 2, 2, 2])) == 0
    assert cuts.jaccard_distance(y, np.array([0, 0, 1, 1, 1, 1])) == pytest.approx(1 - 2 / 3)
    assert cuts.jaccard_distance(y, np.zeros(6, dtype=int)) == pytest.approx(0.5)


def test_splits_have_the_sizes_of_the_paper_and_share_nothing():
    train, test = scenes.split_numbers(328, 3, 200, 98)
    assert (len(train), len(test), len({*train, *test})) == (200, 98, 298)
    other, _ = scenes.split_numbers(328, 4, 200, 98)
    assert not np.array_equal(train, other)
    train, test = scenes.split_numbers(5, 0, 4, 3)  # too few: fewer tests, never a shared image
    assert len(test) == 1 and test[0] not in train


def test_rows_are_drawn_once_each():
    rows = pixels.draw_rows(np.zeros(50), 20, seed=1)
    assert len(np.unique(rows)) == 20 and rows.max() < 50
    assert_array_equal(pixels.draw_rows(np.zeros(5), 20, seed=1), np.arange(5))


def test_numbers_of_the_papers():
    table4, table5 = (experiments.find(f"law2016-table{i}").paper_numbers for i in (4, 5))
    assert (
        table4["XQDA"]["flowers_delta"] == table4["XQDA"]["flowers_delta_spectral"] == "1.51 ± 0.02"
    )
    assert table4["KISSME"]["horses_time"] == pytest.approx(1200 / 13)
    assert table4["multivariate MLCA"]["flowers_seconds"] == 39
    assert "horses_delta_spectral" not in table4["Ncuts"]
    assert table5["ITML"]["time"] == pytest.approx(2000) and "time" not in table5["MLCA"]


# --- Law 2016, Table 4 -------------------------------------------------------------------------


def test_pixels_of_a_split(folder):
    split = pixels.pixel_split("flowers", 0, 4, 3, 24)
    images = pixels.load_flowers()
    train, test = scenes.split_numbers(9, 0, 4, 3)
    masks = [images[int(i)][1].ravel() for i in train]
    known = np.concatenate([mask[mask != -1] for mask in masks])
    assert split.X.shape == (len(known), 135) and split.X.dtype == np.float32
    assert_array_equal(split.y, known)
    assert 0 < len(known) < sum(map(len, masks))
    for index, scene in zip(test, split.test, strict=True):
        assert_array_equal(scene.y, images[int(index)][1].ravel())
        assert scene.X.shape == (24 * 30, 135)
    assert pixels.pixel_split("horses", 0, 4, 3, 12).test[0].X.shape == (12 * 15, 135)


def test_the_spectral_step_is_taken_on_the_mapped_pixels():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([y + 0.05 * rng.normal(size=80), 9 * rng.normal(size=80)])
    losses = scenes.kmeans_losses([scenes.Scene(X, y)], np.diag([1.0, 0.01]), 2, 0)
    assert losses["delta"] == losses["rand"] == 0 < losses["delta_spectral"]
    raw = scenes.kmeans_losses([scenes.Scene(X, y)], np.eye(2), 2, 0)
    assert raw["rand"] > 0.4
    labels = scenes.segment(X, 2, 0)
    assert raw["rand"] == pytest.approx(rand_loss(y, labels))
    # two features, two segments: the step forgets the metric
    assert raw["delta_spectral"] == pytest.approx(losses["delta_spectral"])


def test_table4_on_easy_images(folder, quick):
    units = [u for u in pixels.units4("smoke") if u["data"] == "flowers"]
    assert [u["row"] for u in units] == list(pixels.METHODS4)
    pytest.importorskip("metric_learn")
    found = {
        u["row"]: pixels.run_table4({**u, "n_train": 5, "n_test": 4, "n_lmnn": 12}) for u in units
    }
    assert all(key.startswith("flowers_") for cells in found.values() for key in cells)
    for row in ("univariate MLCA, intercept", "multivariate MLCA, intercept"):
        assert found[row]["flowers_rand"] < 0.05
    assert found["multivariate MLCA"]["flowers_seconds"] > 0
    assert "flowers_seconds" not in found["multivariate MLCA, intercept"]
    assert {row for row, cells in found.items() if "flowers_time" in cells} == {
        "KISSME", "XQDA", "ITML", "PCCA", "LMNN"
    }  # fmt: skip
    assert found[scenes.ONE_SEGMENT] == {
        "flowers_delta": pytest.approx(1), "flowers_rand": pytest.approx(0.4, abs=0.11)
    }  # fmt: skip
    assert found["Euclidean"]["flowers_rand"] > found["multivariate MLCA"]["flowers_rand"]


def test_cuts_of_images_that_are_easy_or_grey(tmp_path, monkeypatch):
    pytest.importorskip("skimage")
    picture = np.full((12, 14, 3), 60, dtype=np.uint8)
    picture[:, 6:] = 180
    mask = (np.arange(14) >= 6).astype(np.int8)[None].repeat(12, axis=0)
    monkeypatch.setitem(pixels.LOADERS, "horses", lambda: [(picture, mask)] * 3)
    unit = {"data": "horses", "seed": 0, "n_train": 1, "n_test": 2, "height": 12}
    assert pixels.ncut_losses(unit) == {"delta": 0, "rand": 0}


def test_without_the_images_every_row_is_skipped(monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    horses = ("lajugie2014-table3", "lajugie2014-table3-superpixels", "lajugie2014-figure2")
    for name in ("law2016-table4", *horses):
        result = experiments.run(name, "smoke")
        assert result["summary"] == {}
        assert all("MLBOOK_DATA" in reason for reason in result["skipped"].values())


# --- Law 2016, Table 5 -------------------------------------------------------------------------


def test_features_of_textures_are_means_over_a_window():
    pytest.importorskip("skimage")
    image = np.random.default_rng(0).random((40, 40)).astype(np.float32)
    features = pixels.pixel_features(image, None)
    window = features[20 - 8 : 20 + 8, 18 - 8 : 18 + 8]
    assert_allclose(collages.texture_features(image)[20, 18], window.mean(axis=(0, 1)), atol=1e-5)


def test_collages_have_as_many_rows_of_every_texture():
    pytest.importorskip("skimage")
    split = collages.collage_split(0, 16, 2, 32, 60)
    assert_array_equal(np.bincount(split.y), [60] * 12)
    assert split.X.shape == (720, 129) and len(split.test) == 2
    assert all(len(np.unique(scene.y)) == 3 for scene in split.test)


def test_table5_tells_textures_apart(quick):
    pytest.importorskip("skimage")
    units = {u["row"]: u for u in collages.units5("smoke")}
    assert list(units) == list(collages.METHODS5)
    sizes = {"n_train": 24, "n_test": 3, "size": 48, "n_per_class": 300}
    run = {
        row: collages.run_table5({**units[row], **sizes})
        for row in ("MLCA", "KISSME", "Euclidean", scenes.ONE_SEGMENT)
    }
    assert run[scenes.ONE_SEGMENT]["index"] == pytest.approx(1 / 3, abs=0.05)
    assert run["MLCA"]["index"] > 0.6
    assert {row for row, cells in run.items() if "time" in cells} == {"KISSME"}


# --- Lajugie 2014, Table 3 ---------------------------------------------------------------------


def made_up(n, seed=0):
    """Point sets in two parts that the first colour tells apart, the other features not."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        y = np.repeat([0, 1], 12)
        X = rng.normal(size=(24, 5))
        X[:, 0] = y + 0.1 * X[:, 0]
        made.append(scenes.Scene(X, y))
    return made


def test_all_pixels_are_joined():
    (scene,) = made_up(1)
    b = np.array([4.0, 0, 0, 0, 0])
    labels = cuts.cut(scene.X, b)
    W = np.exp(-4 * (scene.X[:, :1] - scene.X[:, 0]) ** 2)
    assert_array_equal(labels, scene.y)
    assert normalized_cut_value(W, labels) < 0.2


def test_grid_search_takes_the_best_of_its_grid(monkeypatch):
    some = made_up(2)
    losses = []
    real = cuts.cut_losses

    def noted(given, b):
        losses.append((real(given, b)[:, 0].mean(), b))
        return real(given, b)

    monkeypatch.setattr(cuts, "cut_losses", noted)
    ranges = cuts.Ranges((), (0.25, 1.0, 4.0), (0.0, 2.0))
    b = cuts.grid_search(some, ranges)
    assert len(losses) == 3 * 2
    assert real(some, b)[:, 0].mean() == min(loss for loss, _ in losses)
    assert len({*b[:3]}) == len({*b[3:]}) == 1


@FEW_STEPS
def test_learned_weights_find_the_feature_that_a_grid_cannot():
    train, validation, test = made_up(2), made_up(1, seed=1), made_up(3, seed=2)
    ranges = cuts.RANGES3._replace(scales=(1.0, 2.0))
    b = cuts.learned_weights(train, validation, 3, ranges)
    assert b.argmax() == 0
    learned, grid = (cuts.cut_losses(test, w)[:, 0].mean() for w in (b, cuts.grid_search(train)))
    assert learned == 0 < grid


@FEW_STEPS
def test_table3_on_easy_images(folder):
    summary = experiments.run("lajugie2014-table3", "smoke")["summary"]
    cells = {row: {key: c["mean"] for key, c in line.items()} for row, line in summary.items()}
    learned, grid, difference = (cells[row] for row in (cuts.LEARNED, cuts.GRID, cuts.DIFFERENCE))
    for key in ("loss", "jaccard"):
        assert difference[key] == pytest.approx(learned[key] - grid[key])
    unit = cuts.units3("smoke")[0]
    split = [unit[key] for key in ("seed", "n_train", "n_validation", "n_test", "height")]
    parts = cuts.small_horses(*split)
    assert [len(part) for part in parts] == [2, 1, 2]
    each = [cuts.split_losses(row, 2, *split)[:, 0] for row in (cuts.LEARNED, cuts.GRID)]
    assert difference["loss_sd"] == pytest.approx(np.std(each[0] - each[1], ddof=1))
    truth = [scene.y for scene in parts.test]
    share = np.mean([(y == 1).mean() for y in truth])
    assert cells[scenes.ONE_SEGMENT] == {"loss": 1, "jaccard": pytest.approx(1 - share)}


# --- the same on superpixels -------------------------------------------------------------------


def test_superpixels_hold_every_pixel_once(folder):
    image, mask = patches.resize_with_mask(*patches.load_horses()[0], None)
    found = patches.superpixels(0, 40)
    assert 10 < len(found.X) < 60
    assert_array_equal(found.counts.sum(axis=0), np.bincount(mask.ravel()))
    assert_array_equal(found.y, found.counts[:, 1] > found.counts[:, 0])
    sizes = found.counts.sum(axis=1)
    features = cuts.colour_and_position(image, None).reshape(-1, 5)
    assert_allclose(sizes @ found.X / sizes.sum(), features.mean(axis=0), rtol=1e-5)
    # patches follow the rim of the disk better than squares of their size would
    assert found.counts.min(axis=1).sum() < 0.05 * mask.size


def test_losses_of_patches_are_those_of_their_pixels():
    rng = np.random.default_rng(0)
    patch, truth = rng.integers(7, size=300), rng.integers(2, size=300)
    counts = np.array([np.bincount(truth[patch == p], minlength=2) for p in range(7)])
    labels = np.array([0, 1, 1, 0, 0, 1, 0])
    found = patches.pixel_losses(counts, labels)
    assert found[0] == pytest.approx(partition_loss(truth, labels[patch]))
    assert found[1] == pytest.approx(cuts.jaccard_distance(truth, labels[patch]))


@FEW_STEPS
def test_table3_and_figure2_on_superpixels(folder):
    result = experiments.run("lajugie2014-table3-superpixels", "smoke")
    cells = {row: {k: c["mean"] for k, c in v.items()} for row, v in result["summary"].items()}
    true, one = cells[patches.TRUE_PATCHES], cells[scenes.ONE_SEGMENT]
    assert one["loss"] == pytest.approx(1) and true["jaccard"] < 0.4 < one["jaccard"]
    for key in ("loss", "jaccard"):
        gap = cells[cuts.LEARNED][key] - cells[cuts.GRID][key]
        assert cells[cuts.DIFFERENCE][key] == pytest.approx(gap)
        assert true[key] <= min(cells[cuts.LEARNED][key], cells[cuts.GRID][key])
    single = experiments.run("lajugie2014-figure2", "smoke")["summary"]
    tested = {row: values for row, values in single.items() if values}
    whole = tested.pop(patches.ALL_IMAGES)
    assert len(tested) == 2  # the images of the test; the others have no numbers
    for key, row in (("learned", cuts.LEARNED), ("grid", cuts.GRID)):
        mean = np.mean([values[f"{key}_loss"]["mean"] for values in tested.values()])
        assert mean == pytest.approx(cells[row]["loss"])
        assert whole[f"{key}_jaccard"]["mean"] == pytest.approx(cells[row]["jaccard"])
