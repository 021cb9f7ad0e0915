"""Law 2016 beyond its tables: six orders of the sizes, and images under other treatments."""

import numpy as np
import pytest

from book.reproduction import law2016_images as images
from book.reproduction import law2016_orders as orders
from book.reproduction.segmentation_scenes import Scene
from mlbook.datasets import make_crossed_clusters

SIZES = {"n_train": 4, "n_test": 2, "height": 24, "n_pixels": 80}


@pytest.fixture
def pictures(monkeypatch):
    """Nine pictures: a reddish disk in green, as bright as it; its rim in doubt."""
    pytest.importorskip("skimage")
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:24, :30]
    found = []
    for _ in range(9):
        distance = np.hypot(rows - 12, columns - rng.integers(9, 21))
        disk = distance < rng.integers(6, 9)
        base = np.where(disk[..., None], (150, 90, 60), (90, 130, 60))
        shade = rng.normal(scale=25, size=(24, 30, 1)) + rng.normal(scale=5, size=(24, 30, 3))
        mask = np.where(disk, 1, np.where(distance < 10, -1, 0))
        found.append((np.clip(base + shade, 0, 255).astype(np.uint8), mask.astype(np.int8)))
    for name in ("horses", "flowers"):
        monkeypatch.setitem(images.LOADERS, name, lambda: found)
    images.scenes.cache_clear()
    yield found
    images.scenes.cache_clear()


def test_training_images_give_some_pixels_and_test_images_all(pictures):
    train, test = images.scenes("flowers", 0, **SIZES, cell=4.0)
    assert [len(s.y) for s in train] == [80] * 4
    assert [len(s.y) for s in test] == [24 * 30] * 2
    assert any((s.y == -1).any() for s in train)


def test_pixels_of_known_class():
    scene = images.known(Scene(np.arange(4.0)[:, None], np.array([0, -1, 1, -1])))
    assert scene.X.tolist() == [[0], [2]] and scene.y.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_both_methods_measure_what_their_columns_say(pictures):
    margin, mlca = (
        images.run_lajugie({"row": row, "seed": 0, "data": "flowers", **SIZES})
        for row in ("Lajugie et al.", "multivariate MLCA")
    )
    losses = {f"flowers_{loss}{step}" for loss in ("delta", "rand") for step in ("", "_spectral")}
    assert mlca.keys() == losses | {"flowers_test"} and mlca["flowers_test"] > 0
    assert margin.keys() >= {"flowers_delta", "flowers_rand", "flowers_time", "flowers_zero"}
    assert mlca["flowers_delta"] < 0.6


def test_a_metric_that_is_zero_leaves_images_whole(pictures, monkeypatch):
    class Zero:
        components_ = np.zeros((1, 135))

        def __init__(self, **options):
            pass

        def fit(self, X, y):
            return self

    monkeypatch.setattr(images, "LargeMarginMetric", Zero)
    values = images.run_lajugie({"row": "Lajugie et al.", "seed": 0, "data": "horses", **SIZES})
    assert values["horses_delta"] == pytest.approx(1) and values["horses_zero"] == 1


def test_pixels_in_doubt_count_as_the_variant_says(pictures):
    shares = {}
    for row in images.VARIANTS:
        values = images.run_flowers({"row": row, "seed": 0, **SIZES})
        assert values.keys() == {
            f"{form}_{loss}"
            for form in ("multivariate", "univariate", "one")
            for loss in ("delta", "rand")
        }
        assert values["one_delta"] == pytest.approx(1)
        shares[row] = values["one_rand"]  # 2 p (1 − p) for a share p of the flower
    left_out, background, flower = list(shares.values())[:3]
    assert background < left_out < flower < 0.5
    assert shares["SIFT alone"] == left_out


def test_orders_give_the_sizes_to_the_categories():
    units = orders.order_units("full")
    assert len(units) == 2 * 6 * orders.SEEDS["full"]
    assert {tuple(u["train"]) for u in units} == {
        tuple(500 * size for size in order) for order in orders.ORDERS
    }
    assert next(u for u in units if u["row"] == "Table 3, 4:1:2")["train"] == [2000, 500, 1000]


def test_an_order_is_measured_with_and_without_the_step():
    unit = {"seed": 0, "train": [100, 100, 100], "test": 200, "noise": 1.0}
    values = orders.run_order(unit)
    assert values.keys() == {f"{m}{s}" for m in orders.METHODS for s in ("", ", spectral")}
    assert values["Euclidean"] > 2.5 > 0.5 > values["MLCA, spectral"]
    # three features and three categories: the step forgets every invertible metric
    assert values["MLCA, spectral"] == values["Euclidean, spectral"]


def test_maps_of_the_orders():
    X, y = make_crossed_clusters((20, 20, 20), random_state=0)
    assert orders.learned("Euclidean", X, y).tolist() == np.eye(3).tolist()
    shapes = {m: orders.learned(m, X, y).shape for m in orders.METHODS}
    assert set(shapes.values()) <= {(2, 3), (3, 3)}
