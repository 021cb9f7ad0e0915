"""Loaders of labelled images on folders made up here; collages of textures."""

import os
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.datasets import COLLAGE_TEXTURES, load_flowers, load_horses, make_texture_collages

LOADERS = {"weizmann_horses": load_horses, "flowers17": load_flowers}


@pytest.fixture
def image_class():
    return pytest.importorskip("PIL.Image", reason="images are read with Pillow")


@pytest.fixture
def skimage():
    return pytest.importorskip("skimage", reason="textures come with scikit-image")


@pytest.fixture
def horses(image_class, tmp_path):
    """Two images; the masks smaller than they, grey JPEG, hence with values between."""
    root = tmp_path / "weizmann_horses"
    for folder in ("images", "masks"):
        (root / folder).mkdir(parents=True)
    for name, level in (("horse002", 90), ("horse001", 200)):
        colour = np.full((20, 30, 3), level, dtype=np.uint8)
        image_class.fromarray(colour).save(root / "images" / f"{name}.jpg", quality=95)
        mask = np.zeros((16, 24), dtype=np.uint8)
        mask[:, 8:] = 255
        image_class.fromarray(mask).save(root / "masks" / f"{name}.jpg", quality=60)
    return root


@pytest.fixture
def flowers(image_class, tmp_path):
    """One image with a mask of indices into a palette, one without a mask."""
    root = tmp_path / "flowers17"
    for folder in ("images", "masks"):
        (root / folder).mkdir(parents=True)
    for name in ("image_0001", "image_0002"):
        colour = np.zeros((2, 3, 3), dtype=np.uint8)
        image_class.fromarray(colour).save(root / "images" / f"{name}.jpg")
    mask = image_class.fromarray(np.array([[0, 1, 2], [3, 4, 5]], dtype=np.uint8), mode=None)
    mask = mask.convert("P")
    mask.putpalette([level for code in range(6) for level in (40 * code, 0, 128)])
    mask.putdata([0, 1, 2, 3, 4, 5])
    mask.save(root / "masks" / "image_0001.png")
    return root


def test_horses(horses, monkeypatch):
    pairs = load_horses(horses)
    assert len(pairs) == 2
    assert pairs.names == ["horse001", "horse002"]
    image, mask = pairs[0]
    assert image.shape == (20, 30, 3) and image.dtype == np.uint8
    assert_allclose(image, 200, atol=2)
    assert mask.dtype == np.int8
    assert_array_equal(mask, (np.arange(24) >= 8) * np.ones((16, 1)))
    assert_allclose(pairs[-1][0], 90, atol=2)
    monkeypatch.setenv("MLBOOK_DATA", str(horses.parent))
    assert load_horses()[1:].names == ["horse002"]
    assert len([mask for _, mask in load_horses()]) == 2


def test_flowers(flowers):
    pairs = load_flowers(flowers)
    assert pairs.names == ["image_0001"]
    image, mask = pairs[0]
    assert image.shape == (2, 3, 3)
    assert_array_equal(mask, [[-1, 1, 0], [0, 0, 0]])


@pytest.mark.parametrize("name", LOADERS)
def test_missing_data_say_where_they_can_be_had(name, tmp_path, monkeypatch):
    load = LOADERS[name]
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    for call in (load, lambda: load(tmp_path / "nowhere")):
        with pytest.raises(FileNotFoundError, match="https://"):
            call()
    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    with pytest.raises(FileNotFoundError, match=r"no mask.*https://"):
        load(tmp_path)
    (tmp_path / "masks" / "lonely.png").touch()
    with pytest.raises(FileNotFoundError, match=r"no image for the masks lonely.*https://"):
        load(tmp_path)


def test_a_mask_that_is_none_is_refused(flowers, image_class):
    image_class.fromarray(np.full((2, 3), 9, dtype=np.uint8)).save(
        flowers / "masks" / "image_0001.png"
    )
    with pytest.raises(
        ValueError, match=r"image_0001\.png should hold one value per pixel, below 6"
    ):
        load_flowers(flowers)[0]
    image_class.fromarray(np.zeros((2, 3, 3), dtype=np.uint8)).save(
        flowers / "masks" / "image_0001.png"
    )
    with pytest.raises(ValueError, match=r"it has shape \(2, 3, 3\)"):
        load_flowers(flowers)[0]


@pytest.mark.parametrize(
    ("name", "count", "codes"), [("weizmann_horses", 328, {0, 1}), ("flowers17", 846, {-1, 0, 1})]
)
def test_real_data(name, count, codes, image_class):
    if not os.path.isdir(os.path.join(os.environ.get("MLBOOK_DATA", "missing"), name)):
        pytest.skip(f"{name} is not in the folder that MLBOOK_DATA names")
    pairs = LOADERS[name]()
    assert len(pairs) == count
    for image, mask in pairs[::100]:
        assert set(np.unique(mask)) <= codes
        assert image.shape[2] == 3
        ratio = image.shape[0] / image.shape[1] * mask.shape[1] / mask.shape[0]
        assert ratio == pytest.approx(1, abs=0.02)


# Collages


def test_collages(skimage):
    images, masks = make_texture_collages(6, size=40, n_textures=4, random_state=0)
    assert images.shape == masks.shape == (6, 40, 40)
    assert images.dtype == np.float32
    assert images.min() >= 0 and images.max() <= 1
    for mask in masks:
        classes, sizes = np.unique(mask, return_counts=True)
        assert len(classes) == 4
        assert set(classes) <= set(range(len(COLLAGE_TEXTURES)))
        assert sizes.min() >= 40 * 40 / 8
    again, _ = make_texture_collages(6, size=40, n_textures=4, random_state=0)
    assert_array_equal(again, images)
    assert len(COLLAGE_TEXTURES) == 12


@pytest.mark.parametrize("part", ["train", "test"])
def test_each_texture_comes_from_its_half_of_its_photograph(skimage, part):
    from skimage import data

    photographs = [getattr(data, name)().astype(float) for name in ("brick", "grass", "gravel")]
    images, masks = make_texture_collages(60, part=part, size=16, n_textures=1, random_state=3)
    for image, mask in zip(images, masks, strict=True):
        label = int(mask[0, 0])
        assert np.all(mask == label)
        whole, fine, turned = photographs[label // 4], label // 2 % 2, label % 2
        half = whole[:256] if part == "train" else whole[256:]
        if fine:
            half = (half[::2, ::2] + half[1::2, ::2] + half[::2, 1::2] + half[1::2, 1::2]) / 4
        even = np.clip(0.5 + 0.15 * (half - half.mean()) / half.std(), 0, 1)
        crop = np.rot90(image, -1) if turned else image
        windows = np.lib.stride_tricks.sliding_window_view(even, (16, 16))
        like = np.ones(windows.shape[:2], dtype=bool)
        for r, c in [(0, 0), (15, 0), (0, 15), (7, 9), (15, 15)]:
            like &= np.abs(windows[:, :, r, c] - crop[r, c]) < 1e-6
        places = np.argwhere(like)
        assert any(np.allclose(windows[r, c], crop, atol=1e-6) for r, c in places), label
    assert set(np.unique(masks)) == set(range(12))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_collages": 0}, "n_collages must be an integer, at least 1"),
        ({"size": 129}, "size must be an integer, from 8 to 128"),
        ({"n_textures": 13}, "n_textures must be an integer, from 1 to 12"),
        ({"part": "left"}, "part must be 'train' or 'test'; got 'left'"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_texture_collages(**arguments)


def test_missing_packages_are_named(horses, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setitem(sys.modules, "skimage.data", None)
    with pytest.raises(ImportError, match=r"pillow.*mlbook\[notebook\]"):
        load_horses(horses)[0]
    with pytest.raises(ImportError, match=r"scikit-image.*mlbook\[reproduce\]"):
        make_texture_collages(1)
