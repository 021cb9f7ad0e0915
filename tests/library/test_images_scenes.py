"""Features of whole images: what they see, and what they do not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter

from mlbook.images import binary_patterns, filter_responses, gist
from mlbook.images.scenes import FILTER_SCALES, WEBER, _filters


def waves(period, degrees, size=128):
    """Stripes of this period, brightness changing in this direction, 0: along a row."""
    down, right = np.mgrid[:size, :size]
    turn = np.radians(degrees)
    return 0.5 + 0.3 * np.sin(2 * np.pi / period * (right * np.cos(turn) + down * np.sin(turn)))


def blotches(shape, seed=0):
    image = gaussian_filter(np.random.default_rng(seed).random(shape), 2)
    return (image - image.min()) / np.ptp(image)


# Gist


@pytest.mark.parametrize("scale", range(4))
@pytest.mark.parametrize("direction", range(8))
def test_gist_sees_scale_and_direction(scale, direction):
    pytest.importorskip("skimage")
    found = gist(waves(4 * 2**scale, 22.5 * direction), cells=1).reshape(4, 8)
    assert np.unravel_index(found.argmax(), (4, 8)) == (scale, direction)


def test_gist_sees_where():
    pytest.importorskip("skimage")
    image = np.full((128, 128), 0.5)
    image[:64, 64:] = waves(8, 0, 64)
    found = gist(image, cells=2).reshape(4, 8, 2, 2)[1, 0]
    assert found[0, 1] > 3 * np.delete(found.ravel(), 1).max()


def test_gist_is_of_one_length_and_does_not_see_size():
    pytest.importorskip("skimage")
    image = blotches((100, 140))
    assert gist(image).shape == (512,) and gist(image).min() >= 0
    large = gist(np.kron(image, np.ones((2, 2))))
    assert np.abs(large - gist(image)).sum() < 0.1 * gist(image).sum()
    assert_allclose(gist(np.full((20, 30), 0.3)), 0, atol=1e-9)


@pytest.mark.parametrize("cells", [0, 3, 129])
def test_bad_cells(cells):
    with pytest.raises(ValueError, match="cells must"):
        gist(blotches((20, 20)), cells=cells)


# Local binary patterns


def uniform_pattern(window):
    """How many of 8 points on a circle are at least as bright, 9 if that changes more than twice.

    Between pixels the brightness is interpolated.
    """
    f = np.sqrt(0.5)
    ring = [window[0, 1], window[1, 2], window[2, 1], window[1, 0]]
    corners = [
        np.outer([f, 1 - f], [f, 1 - f]) * window[np.ix_([down, 1], [right, 1])]
        for down, right in ((0, 2), (2, 2), (2, 0), (0, 0))
    ]
    points = [
        value for side, corner in zip(ring, corners, strict=True) for value in (side, corner.sum())
    ]
    brighter = np.array(points) >= window[1, 1] - 1e-9
    changes = (brighter != np.roll(brighter, 1)).sum()
    return int(brighter.sum()) if changes <= 2 else 9


def test_invariant_patterns_by_hand():
    pytest.importorskip("skimage")
    image = np.round(255 * blotches((24, 30))).astype(np.uint8)
    expected = np.zeros(10)
    for row in range(1, 23):
        for column in range(1, 29):
            window = image[row - 1 : row + 2, column - 1 : column + 2].astype(float)
            expected[uniform_pattern(window)] += 1 / (22 * 28)
    found = binary_patterns(image, rotation_invariant=True)
    assert_allclose(found, expected, atol=0.01)  # a few ties are rounded otherwise
    assert expected.max() < 0.9


def test_patterns_of_parts():
    pytest.importorskip("skimage")
    image = blotches((42, 32))  # 40 × 30 pixels have all eight neighbours
    whole, parts = binary_patterns(image), binary_patterns(image, levels=(2,)).reshape(4, 59)
    assert_allclose(parts.sum(), 1)
    assert_allclose(parts.sum(axis=0), whole)


def test_invariant_patterns_do_not_see_a_quarter_turn():
    pytest.importorskip("skimage")
    image = blotches((30, 40))
    turned = np.rot90(image)
    invariant, others = (
        np.abs(
            binary_patterns(image, rotation_invariant=r)
            - binary_patterns(turned, rotation_invariant=r)
        ).sum()
        for r in (True, False)
    )
    assert invariant < 1e-9 < 0.05 < others


def test_images_too_small_for_patterns():
    with pytest.raises(ValueError, match=r"sides of 3 pixels at least; got shape \(2, 5\)"):
        binary_patterns(np.zeros((2, 5)))


# Responses to filters


def test_filters_are_balanced():
    bank = _filters().astype(float)
    assert bank.shape == (38, 49, 49)
    assert_allclose(np.abs(bank).sum(axis=(1, 2)), 1, rtol=1e-5)
    sums = bank.sum(axis=(1, 2))
    assert_allclose(np.delete(sums, 36), 0, atol=1e-5)
    assert sums[36] == pytest.approx(1, abs=1e-5)


def test_responses_by_definition():
    image = blotches((20, 24))
    responses, maximal = filter_responses(image, step=3)
    assert responses.shape == (7, 8, 38) and maximal.shape == (7, 8, 8)
    padded = np.pad((image - image.mean()) / image.std(), 24, mode="symmetric")
    window = padded[6 : 6 + 49, 9 : 9 + 49][::-1, ::-1]  # convolution turns the filter
    r = (_filters() * window).sum(axis=(1, 2))
    length = np.linalg.norm(r)
    assert_allclose(responses[2, 3], r * np.log1p(length / WEBER) / length, atol=1e-4)
    best = np.r_[np.abs(r[:36]).reshape(6, 6).max(axis=1), r[36:]]
    length = np.linalg.norm(best)
    assert_allclose(maximal[2, 3], best * np.log1p(length / WEBER) / length, atol=1e-4)


@pytest.mark.parametrize("direction", range(6))
def test_edges_answer_to_their_direction(direction):
    responses, _ = filter_responses(waves(12, 30 * direction))
    bars = np.abs(responses[20:44, 20:44, 18:36]).mean(axis=(0, 1)).reshape(3, 6)
    assert (bars[:2].argmax(axis=1) == direction).all()
    assert len(FILTER_SCALES) == 3


def test_maximal_responses_do_not_see_a_quarter_turn():
    """Of six directions three are a quarter turn of the others."""
    image = blotches((41, 41))
    maximal = filter_responses(image, step=1)[1]
    assert_allclose(np.rot90(filter_responses(np.rot90(image), step=1)[1], -1), maximal, atol=1e-4)


def test_brightness_and_contrast_do_not_matter():
    image = blotches((30, 30))
    for one, other in zip(
        filter_responses(image), filter_responses(0.4 * image + 0.3), strict=True
    ):
        assert_allclose(one, other, atol=1e-3)
    assert_array_equal(filter_responses(np.full((9, 9), 0.5))[0], 0)


def test_bad_step():
    with pytest.raises(ValueError, match="step must be an integer, at least 1; got 0"):
        filter_responses(np.zeros((9, 9)), step=0)
