"""Features of pixels against scikit-image and a loop; masks that follow their image."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter

from mlbook.images import (
    colour_and_position,
    dense_sift,
    labelled_pixels,
    pixel_features,
    resize_with_mask,
)


@pytest.fixture
def skimage():
    return pytest.importorskip("skimage", reason="images need the extra `reproduce`")


def blotches(shape, seed=0, channels=None):
    rng = np.random.default_rng(seed)
    size = shape if channels is None else (*shape, channels)
    image = gaussian_filter(rng.random(size), (2, 2) if channels is None else (2, 2, 0))
    return (image - image.min()) / np.ptp(image)


# SIFT


def descriptor_by_loops(image, row, column, cell):
    """Definition: every gradient to the cells and orientations around it, one at a time."""
    smooth = gaussian_filter(image, np.sqrt(max(0, (cell / 3) ** 2 - 0.25)), mode="reflect")
    down, right = np.gradient(smooth)
    histogram = np.zeros((4, 4, 8))
    for r in range(image.shape[0]):
        for c in range(image.shape[1]):
            away = ((r - row) ** 2 + (c - column) ** 2) / (2 * (2 * cell) ** 2)
            length = np.hypot(down[r, c], right[r, c]) * np.exp(-away)
            angle = np.degrees(np.arctan2(right[r, c], down[r, c]))
            for i in range(4):
                for j in range(4):
                    near_row = 1 - abs(r - row - (i - 1.5) * cell) / cell
                    near_column = 1 - abs(c - column - (j - 1.5) * cell) / cell
                    if near_row <= 0 or near_column <= 0:
                        continue
                    for m in range(8):
                        turn = abs((angle - 45 * m + 180) % 360 - 180)
                        share = near_row * near_column * max(0, 1 - turn / 45)
                        histogram[i, j, m] += length * share
    flat = histogram.ravel()
    flat = np.minimum(flat, 0.2 * np.linalg.norm(flat))
    return flat / np.linalg.norm(flat)


@pytest.mark.parametrize("cell", [0.7, 2.0, 3.5])
@pytest.mark.parametrize("shape", [(9, 14), (14, 3)])
def test_sift_is_its_definition_also_at_the_border(cell, shape):
    image = blotches(shape)
    found = dense_sift(image, cell_size=cell)
    for row, column in [(0, 0), (4, 1), (8, 2), (shape[0] - 1, shape[1] - 1)]:
        expected = descriptor_by_loops(image, row, column, cell)
        assert_allclose(found[row, column], expected, atol=1e-12)


@pytest.mark.parametrize(("sigma", "margin"), [(1.6, 15), (1.0, 10)])
def test_sift_is_that_of_scikit_image_at_the_same_keypoints(skimage, sigma, margin):
    from skimage.data import camera
    from skimage.feature import SIFT

    image = camera()[100:180, 200:300]
    positions = np.array([(r, c) for r in range(0, 80, 7) for c in range(0, 100, 9)])
    n = len(positions)
    sift = SIFT(upsampling=1, n_octaves=1, sigma_min=sigma)
    sift.keypoints, sift.positions = positions, positions.astype(float)
    sift.sigmas, sift.orientations = np.full(n, sigma), np.zeros(n)
    sift.scales, sift.octaves = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
    sift.extract(image)
    found = dense_sift(image / 255, cell_size=3 * sigma)[positions[:, 0], positions[:, 1]]
    whole = np.minimum(np.floor(512 * found), 255)
    difference = np.abs(whole - sift.descriptors)
    # scikit-image leaves out the last row and column of gradients
    inside = np.all(positions < np.array(image.shape) - margin, axis=1)
    assert inside.sum() > 80
    assert np.mean(difference[inside] > 0) < 1e-3
    assert difference[inside].max() <= 1
    assert difference[~inside].max() > 1


def test_sift_types_and_size():
    image = blotches((40, 50))
    double = dense_sift(image)
    single = dense_sift(image.astype(np.float32))
    assert double.shape == (40, 50, 128)
    assert double.dtype == np.float64
    assert single.dtype == np.float32
    assert_allclose(single, double, atol=2e-5)
    bytes_ = np.round(255 * image).astype(np.uint8)
    assert_allclose(dense_sift(bytes_), dense_sift(bytes_ / 255), atol=2e-5)
    assert dense_sift(bytes_).dtype == np.float32
    assert_allclose(np.linalg.norm(double, axis=2), 1, rtol=1e-12)


def test_sift_ignores_brightness_and_contrast_and_follows_the_image():
    image = blotches((30, 40))
    assert_allclose(dense_sift(0.3 * image + 0.5), dense_sift(image), atol=1e-10)
    shifted = dense_sift(image[3:, 5:])
    assert_allclose(shifted[15, 15], dense_sift(image)[18, 20], atol=1e-10)
    mirrored = dense_sift(image[:, ::-1])[:, ::-1].reshape(30, 40, 4, 4, 8)
    turn = (-np.arange(8)) % 8  # an orientation to the right becomes one to the left
    expected = dense_sift(image).reshape(30, 40, 4, 4, 8)[:, :, :, ::-1, turn]
    assert_allclose(mirrored, expected, atol=1e-10)


@pytest.mark.parametrize("image", [np.full((20, 20), 0.3), np.ones((1, 1)), np.ones((1, 9))])
def test_no_gradient_no_descriptor(image):
    assert_allclose(dense_sift(image), 0, atol=1e-9)
    assert_allclose(dense_sift(image.astype(np.float32)), 0, atol=1e-9)


# All features


def test_features_of_a_colour_image(skimage):
    from skimage.color import rgb2gray, rgb2lab

    image = blotches((30, 20), channels=3)
    found = pixel_features(image)
    assert found.shape == (30, 20, 135)
    assert_allclose(found[..., :128], dense_sift(rgb2gray(image)))
    assert_allclose(found[..., 128:131], rgb2lab(image) / 100)
    assert_array_equal(found[..., 131:134], image)
    assert_array_equal(found[..., 134], image.max(axis=2))
    assert pixel_features(np.round(255 * image).astype(np.uint8)).dtype == np.float32
    grey = pixel_features(image[..., 0], cell_size=2)
    assert_array_equal(grey, np.dstack([dense_sift(image[..., 0], cell_size=2), image[..., 0]]))


def test_features_are_far_from_linearly_dependent(skimage):
    from skimage.data import astronaut

    X = pixel_features(astronaut()).reshape(-1, 135).astype(np.float64)
    assert np.linalg.cond(X / np.linalg.norm(X, axis=0)) < 3000  # MLCA's fast way up to here


def test_colour_and_position(skimage):
    from skimage.color import rgb2lab

    image = blotches((10, 16), channels=3)
    found = colour_and_position(image)
    assert_allclose(found[..., :3], rgb2lab(image) / 100)
    assert_allclose(found[3, 5, 3:], [0.3, 0.5])
    assert colour_and_position(image.astype(np.float32), 5).shape == (5, 8, 5)
    assert colour_and_position(image.astype(np.float32), 5).dtype == np.float32
    with pytest.raises(ValueError, match=r"image must have shape \(height, width, 3\)"):
        colour_and_position(image[..., 0])


# Masks


@pytest.mark.parametrize("channels", [None, 3])
def test_image_and_mask_are_scaled_to_the_same_pixels(skimage, channels):
    image, mask = np.zeros((60, 90)), np.zeros((40, 60), dtype=np.int8)
    image[:, 30:] = 1  # the right two thirds, in both
    mask[:, 20:] = 7
    mask[:4] = -1
    if channels:
        image = np.dstack([image] * channels)
    small, codes = resize_with_mask(image, mask, max_height=20)
    assert small.shape == ((20, 30) if channels is None else (20, 30, 3))
    assert codes.dtype == np.int8
    expected = np.zeros((20, 30))
    expected[:, 10:] = 7
    expected[:2] = -1
    assert_array_equal(codes, expected)
    flat = small if channels is None else small[..., 0]
    assert_allclose(flat[:, :9], 0, atol=0.02)
    assert_allclose(flat[:, 11:], 1, atol=0.02)


def test_low_images_keep_their_size_and_masks_come_to_it():
    image = blotches((12, 6)).astype(np.float32)
    small, codes = resize_with_mask(image, np.array([[0, 1]] * 4))
    assert small is image
    assert_array_equal(codes, np.repeat([[0, 1]], 12, axis=0).repeat(3, axis=1))
    small, _ = resize_with_mask(image, np.array([[0, 1]] * 4), max_height=None)
    assert small is image


def test_a_mask_keeps_its_codes(skimage):
    rng = np.random.default_rng(1)
    mask = rng.choice([-1, 0, 9], size=(101, 77))
    _, codes = resize_with_mask(rng.random((150, 114)), mask, max_height=33)
    assert codes.shape == (33, 25)
    assert set(np.unique(codes)) == {-1, 0, 9}


def test_uncertain_pixels_are_dropped(skimage):
    image = blotches((20, 30), channels=3)
    mask = np.zeros((20, 30), dtype=int)
    mask[5:9, 3:20] = 1
    mask[12:, :] = -1
    X, y = labelled_pixels(image, mask)
    assert X.shape == (12 * 30, 135)
    assert_array_equal(y, mask[:12].ravel())
    assert_array_equal(X, pixel_features(image)[:12].reshape(-1, 135))
    X, y = labelled_pixels(image[..., 0], mask, max_height=10, cell_size=2)
    assert X.shape == (6 * 15, 129)


# Bad input


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros(5), r"image must have shape \(height, width, 3\) or .* got \(5,\)"),
        (np.zeros((5, 5, 4)), r"image must have shape .* got \(5, 5, 4\)"),
        (np.zeros((0, 5)), r"image must have shape .* no side of 0; got \(0, 5\)"),
        (
            np.full((2, 2), 1.5),
            "image must hold uint8, or floats from 0 to 1; got float64 from 1.5",
        ),
        (np.full((2, 2), np.nan), "image must hold .* from nan"),
        (np.full((2, 2), -0.1), "image must hold .* from -0.1"),
        (np.zeros((2, 2), dtype=int), "image must hold .* got int64 from 0"),
        (np.zeros((2, 2), dtype=bool), "image must hold .* got bool"),
    ],
)
def test_bad_images_are_refused(image, message):
    with pytest.raises(ValueError, match=message):
        resize_with_mask(image, np.zeros((2, 2), dtype=int))
    if sys.modules.get("skimage"):
        with pytest.raises(ValueError, match=message):
            pixel_features(image)


def test_bad_arguments_are_refused(skimage):
    image = np.zeros((10, 20))
    with pytest.raises(ValueError, match=r"gray must have shape \(height, width\) .* \(2, 2, 3\)"):
        dense_sift(np.zeros((2, 2, 3)))
    for cell in (0, -1, np.inf):
        with pytest.raises(ValueError, match=r"cell_size must be a finite number, at least 0\.01"):
            dense_sift(image, cell_size=cell)
    with pytest.raises(ValueError, match="max_height must be an integer, at least 1"):
        pixel_features(image, 0)
    with pytest.raises(ValueError, match=r"mask must be a 2-D array of integers; got .* float64"):
        resize_with_mask(image, image)
    with pytest.raises(ValueError, match=r"mask must be a 2-D array of integers; got shape \(3,\)"):
        resize_with_mask(image, [0, 1, 1])
    with pytest.raises(
        ValueError, match=r"proportions of image; got \(200, 100\) for \(100, 200\)"
    ):
        resize_with_mask(np.zeros((100, 200)), np.zeros((200, 100), dtype=int))


def test_without_scikit_image_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.color", None)
    monkeypatch.setitem(sys.modules, "skimage", None)
    with pytest.raises(ImportError, match=r"scikit-image.*reproduce.*pip install"):
        pixel_features(np.zeros((4, 4, 3)))


def test_half_precision_images():
    image = blotches((8, 8))
    assert dense_sift(image.astype(np.float16)).dtype == np.float32
