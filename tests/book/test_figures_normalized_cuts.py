"""What the chapter on normalized cuts draws, against second derivations."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
pytest.importorskip("skimage", reason="images need the extra `reproduce`")
from numpy.testing import assert_allclose, assert_array_equal

from book.figures import learned_cuts as learned
from book.figures import normalized_cuts as cuts
from book.figures import pictures
from mlbook.images import colour_and_position
from mlbook.ncuts import gaussian_affinity, normalized_cut, normalized_cut_value
from mlbook.partitions import partition_loss

pytestmark = pytest.mark.book


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", text)]


def test_mean_squares_by_loops():
    X = [np.random.default_rng(i).normal(size=(3, 4, 2)) for i in range(2)]
    pairs = [
        (image[a] - image[b]) ** 2
        for image in X
        for a in np.ndindex(3, 4)
        for b in np.ndindex(3, 4)
        if a < b and (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 <= 4
    ]
    assert_allclose(cuts.mean_squares(X, 2), np.mean(pairs, axis=0))


def test_cut_losses_are_those_of_the_library():
    X, y = cuts.complete_graphs(1, "test", first=3)
    b = np.array([0, 300.0, 0, 1, 1])
    edges = np.array(np.triu_indices(192, 1))  # radius 20 joins all pairs
    W = gaussian_affinity(X[0].reshape(-1, 5), edges, b)
    found = normalized_cut(W, 2, random_state=0)
    assert cuts.cut_losses(X, y, b) == [partition_loss(y[0].ravel(), found)]
    image, _ = pictures.scene("test", 3)
    assert_array_equal(learned.cut_of(image, b)[::4, ::4].ravel(), found)
    assert_allclose(colour_and_position(image, 12), X[0])


def test_a_single_pixel_is_the_cheapest_cut_of_equal_affinities():
    assert (cuts.single_pixels(1e-6, 3) == 1).all()
    assert (cuts.single_pixels(8.0, 3) > 1).any()


def test_the_grid_search_takes_the_best():
    X, y = cuts.complete_graphs(2)
    colour, place, b = cuts.two_scales(X, y, (1, 8), (0, 2))
    unit = cuts.mean_squares(X)
    losses = {
        (c, p): np.mean(cuts.cut_losses(X, y, np.array([c / 3] * 3 + [p / 2] * 2) / unit))
        for c in (1, 8)
        for p in (0, 2)
    }
    assert losses[colour, place] == min(losses.values())
    assert (b * unit).sum() == pytest.approx(colour + place)


@pytest.mark.parametrize("picture", cuts.PICTURES)
def test_cut_of_a_picture_says_its_numbers(picture):
    figure, caption = cuts.colour_and_place(picture, 4, 0.5)
    *_, found, mask, loss = numbers(caption)
    assert 0 <= found < mask and 0 <= loss <= 2  # with these weights the mask is not the best cut
    assert len(figure.axes) == 2


def test_a_alone_ignores_the_shadow():
    losses = {p: cuts.cut_beside_mask(p, 4.0, 0.0)[-1] for p in (*cuts.PICTURES, "coffee")}
    assert losses["no shadow"] < 0.3 and losses["shadow, a alone"] < 0.3
    assert losses["shadow"] > 1.5 and losses["coffee"] > 1.5


def test_second_eigenvector_by_a_dense_solver():
    W = cuts.affinities("shadow", 4.0, 0.5)[0].toarray()
    g = W.sum(axis=0)
    _, U = np.linalg.eigh(W / np.sqrt(np.outer(g, g)))
    z = cuts.second_eigenvector(cuts.affinities("shadow", 4.0, 0.5)[0])
    expected = U[:, -2] / np.sqrt(g)
    assert_allclose(
        z / np.linalg.norm(z) * np.sign(z @ expected),
        expected / np.linalg.norm(expected),
        atol=1e-5,
    )


def test_best_threshold_is_the_cut_of_the_library():
    for story, (picture, colour, place) in cuts.ROUNDED.items():
        _, values, of_mask, bound = cuts.all_thresholds(story)
        _, found, mask, _ = cuts.cut_beside_mask(picture, colour, place)
        assert values.min() == pytest.approx(found, rel=1e-6) and of_mask == pytest.approx(mask)
        assert bound <= values.min()


def test_the_stories_of_rounding_are_as_told():
    """Found below the mask; found above it; far below it and wrong."""
    best = {story: cuts.all_thresholds(story) for story in cuts.ROUNDED}
    below = [values.min() < mask for _, values, mask, _ in best.values()]
    assert below == [True, False, True]
    shares = [(values.argmin() + 1) / len(z) for z, values, _, _ in best.values()]
    for share in shares:  # the slider stops where the curve is lowest
        assert min(abs(share - kept) for kept in cuts.THRESHOLDS) < 0.001
    caption = cuts.rounding("fur found", 0.219)[1]
    assert numbers(caption)[3:5] == [0.014, 0.18]


def test_the_cheapest_cut_of_few_pixels():
    image, W, cheapest, best = cuts.few_pixels()
    assert image.shape == (4, 5, 3)
    assert min(cheapest.sum(), 20 - cheapest.sum()) == 1
    singles = [W[i].sum() - W[i, i] for i in range(20)]
    i = int(np.argmin(singles))
    assert cheapest[i] != cheapest[i - 1]
    value = normalized_cut_value(W, best)
    assert value <= normalized_cut_value(W, normalized_cut(W, 2)) + 1e-9
    assert len(cuts.graph_of_pixels().axes) == 3


def test_first_picture_cuts_out_the_man_and_the_badge():
    _, found, _ = cuts.second("camera")
    assert 0.1 < min(found.mean(), 1 - found.mean()) < 0.4
    _, badge, _ = cuts.second("astronaut")
    assert min(badge.mean(), 1 - badge.mean()) < 0.03
    assert len(cuts.first_picture().axes) == 6


def test_noise_hurts_the_cut():
    clean, noisy = (
        partition_loss(mask.ravel(), found)
        for _, mask, found in (cuts.cut_of_noisy(1.0, noise) for noise in (0.0, 0.08))
    )
    assert clean < 0.3 < 1 < noisy
    assert numbers(cuts.size_and_noise(1.0, 0.0)[1])[-1] == pytest.approx(clean, abs=0.005)


def test_grey_scenes_have_the_light_and_no_colour():
    grey, mask = cuts.grey_scene("test", 1)
    image, full = pictures.scene("test", 1)
    assert grey.shape == full.shape and mask.shape == (12, 16)
    assert_allclose(grey, image @ [0.2125, 0.7154, 0.0721], atol=1e-6)
    assert_allclose(cuts.colours("test", 1), colour_and_position(image, 12)[..., :3])
