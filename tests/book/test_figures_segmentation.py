"""What the chapter on segmentation claims and draws, against second derivations."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
pytest.importorskip("skimage", reason="images need the extra `reproduce`")
from numpy.testing import assert_allclose, assert_array_equal

from book.figures import segmentation as demo
from mlbook.images import colour_and_position
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.ncuts import (
    gaussian_affinity,
    normalized_cut,
    spectral_hinge,
    squared_differences,
)
from mlbook.partitions import partition_loss, rand_loss

pytestmark = pytest.mark.book


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", text)]


# --- pictures --------------------------------------------------------------------------------


def test_train_and_test_scenes_share_no_pixel_of_the_photographs():
    (rows, columns), (other_rows, other_columns) = demo.FUR["train"], demo.FUR["test"]
    assert rows.stop <= other_rows.start or columns.stop <= other_columns.start
    grass = [demo._materials(part)[1] for part in ("train", "test")]
    assert grass[0].shape == grass[1].shape == (256, 128, 3)
    assert demo.shared_pixels() == [0, 0]


def test_shared_pixels_are_seen(monkeypatch):
    monkeypatch.setitem(demo.FUR, "test", np.s_[89:100, 290:310])
    assert demo.shared_pixels() == [10, 0]


def test_light_multiplies_what_a_scene_shows():
    plain, mask = demo.scene("test", 4, shadow=1.0, tint=0)
    tinted, _ = demo.scene("test", 4, shadow=1.0, tint=0.1)
    dark, same = demo.scene("test", 4, shadow=0.5, tint=0)
    assert_array_equal(mask, same)
    ratio = tinted / plain
    assert np.ptp(ratio, axis=(0, 1)).max() < 1e-12 and np.ptp(ratio[0, 0]) > 0.01
    assert (dark / plain).min() == pytest.approx(0.5, abs=0.01)
    assert (dark / plain).max() == pytest.approx(1, abs=0.01)
    assert demo.scene(size=0.5)[1].sum() < demo.scene()[1].sum() / 3


def test_masks_drawn_by_hand_lie_on_their_objects():
    _, mask = demo.photograph("coffee", 100)
    assert mask[27, 72] == mask[80, 60] == 1 and mask[5, 5] == mask[90, 140] == 0
    _, mask = demo.photograph("astronaut", 128)
    assert mask[20, 55] == mask[90, 40] == 1 and mask[40, 100] == mask[5, 5] == 0
    image, mask = demo.photograph("rocket", 100)
    assert image[mask == 1].mean() > 1.7 * image[mask == 0].mean()


def test_parts_are_named_after_the_mask():
    mask = np.array([[0, 1], [0, 0]])
    assert_array_equal(demo._named(mask, np.array([1, 0, 1, 1])), mask)
    assert_array_equal(demo._named(mask, np.array([0, 1, 0, 0])), mask)


# --- way one ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_two_means_is_the_best_of_all_cuts(seed):
    scores = np.random.default_rng(seed).normal(size=12) ** 3
    order = np.sort(scores)
    distortions = [order[:i].var() * i + order[i:].var() * (12 - i) for i in range(1, 12)]
    threshold = demo.two_means(scores)
    assert np.sum(scores < threshold) == 1 + np.argmin(distortions)


def test_one_score_and_two_thresholds():
    """With an intercept both forms of MLCA see a pixel through the same linear function."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), (np.arange(200) % 5 == 0).astype(int)
    X[y == 1, 0] += 1.5
    one = BinaryMLCA(fit_intercept=True).fit(X, y)
    two = MLCA(fit_intercept=True).fit(X, y)
    n, (n_minus, n_plus) = 200, np.bincount(y)
    expected = np.outer([-1 / np.sqrt(n_minus), 1 / np.sqrt(n_plus)], one.direction_)
    assert_allclose(two.components_, np.sqrt(n) / 2 * expected, atol=1e-12)
    M = n**2 / (4 * n_minus * n_plus) * np.outer(one.direction_, one.direction_)
    assert_allclose(two.get_mahalanobis_matrix(), M, atol=1e-12)
    assert partition_loss(two.cluster(X, 2), demo.segment(one, X, "two means")) < 1e-9
    assert_array_equal(one.cluster(X), demo.segment(one, X, "sign"))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_class_means_of_the_fit_follow_from_its_share(share):
    rng = np.random.default_rng(1)
    y = (np.arange(400) < 400 * share).astype(int)
    X = rng.normal(size=(400, 3)) + y[:, None]
    R2, means = demo.explained(BinaryMLCA(fit_intercept=True).fit(X, y), X, y)
    s_mean = 2 * share - 1
    assert 0.1 < R2 < 0.9
    assert_allclose(means, [s_mean - R2 * (1 + s_mean), s_mean + R2 * (1 - s_mean)], atol=1e-10)


def test_losses_on_pixels_are_those_of_the_library():
    model = demo.fit_pixels(2, 0.1, centred=True, seed=1)
    image, mask = demo.scene("test", 1, tint=0.1)
    rows = demo.pixels(image)
    found = model.cluster(rows - rows.mean(axis=0))
    losses = demo.pixel_losses(2, 0.1, centred=True, rule="sign", seed=1, n_test=2)
    assert losses[1] == partition_loss(mask.ravel(), found)


def test_centring_each_image_survives_the_tint():
    _, caption = demo.training_images(4, 0.2)
    n_images, tint, pooled, centred = numbers(caption)
    assert (n_images, tint) == (4, 0.2)
    assert pooled > 1 and centred < 0.5
    assert centred == pytest.approx(np.mean(demo.pixel_losses(4, 0.2, centred=True)), abs=0.005)


def test_sizes_of_fur_are_centred_as_the_pixels_are():
    """Without a share the rows are those of `pixels`; with the scene's own share too."""
    model = demo.fit_pixels(4, centred=True)
    image, mask = demo.scene("test", 0, size=1.7)
    rows = demo.pixels(image, centred=True)
    expected = [
        partition_loss(mask.ravel(), demo.segment(model, rows, rule)) for rule in demo.RULES
    ]
    assert_allclose(demo.sizes_of_fur(1.7, n_scenes=1)[0], expected)
    assert_allclose(demo.sizes_of_fur(1.7, float(mask.mean()), n_scenes=1)[0], expected)
    assert demo.sizes_of_fur(1.7, 0.21, n_scenes=1)[0, 0] < expected[0] / 2


def test_thresholds_part_the_scores_of_a_tinted_scene():
    histogram = demo.scores_and_thresholds().axes[-1]
    learned, means = (line.get_xdata()[0] for line in histogram.lines)
    assert learned == 0 and 0.3 < means < 1.5


def test_half_a_photograph_does_not_tell_the_other_half():
    _, half = demo.direction("astronaut", "all", "left half")
    _, whole = demo.direction("astronaut", "all", "all of it")
    R2, left, right = numbers(half)
    assert R2 > 0.8 and left < 0.3 and right > 1.5
    assert numbers(whole)[2] < 1
    figure, _ = demo.direction("rocket", "colour", "left half")
    assert [ax.get_title() for ax in figure.axes] == ["rocket", "score", "positive"]


def test_sift_is_scikit_images_away_from_two_borders():
    bands = demo.sift_beside_scikit_image()
    assert [name for name, _, _ in bands] == ["1 to 4", "5 to 8", "10 to 14", "16 to 77"]
    assert sum(count for _, count, _ in bands) == 26 * 33
    assert bands[0][2] > 10 and bands[-1][2] == 0
    assert max(gap for _, _, gap in demo.sift_beside_scikit_image(False)) == 0


# --- way two ---------------------------------------------------------------------------------


def test_mean_squares_by_loops():
    X = [np.random.default_rng(i).normal(size=(3, 4, 2)) for i in range(2)]
    pairs = [
        (image[a] - image[b]) ** 2
        for image in X
        for a in np.ndindex(3, 4)
        for b in np.ndindex(3, 4)
        if a < b and (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 <= 4
    ]
    assert_allclose(demo.mean_squares(X, 2), np.mean(pairs, axis=0))


def test_cut_losses_are_those_of_the_library():
    X, y = demo.complete_graphs(1, "test", first=3)
    b = np.array([0, 300.0, 0, 1, 1])
    edges = np.array(np.triu_indices(192, 1))  # radius 20 joins all pairs
    W = gaussian_affinity(X[0].reshape(-1, 5), edges, b)
    found = normalized_cut(W, 2, random_state=0)
    assert demo.cut_losses(X, y, b) == [partition_loss(y[0].ravel(), found)]
    image, _ = demo.scene("test", 3)
    assert_array_equal(demo.cut_of(image, b)[::4, ::4].ravel(), found)
    assert_allclose(colour_and_position(image, 12), X[0])


def test_a_single_pixel_is_the_cheapest_cut_of_equal_affinities():
    assert (demo.single_pixels(1e-6, 3) == 1).all()
    assert (demo.single_pixels(8.0, 3) > 1).any()


def test_the_grid_search_takes_the_best():
    X, y = demo.complete_graphs(2)
    colour, place, b = demo.two_scales(X, y, (1, 8), (0, 2))
    unit = demo.mean_squares(X)
    losses = {
        (c, p): np.mean(demo.cut_losses(X, y, np.array([c / 3] * 3 + [p / 2] * 2) / unit))
        for c in (1, 8)
        for p in (0, 2)
    }
    assert losses[colour, place] == min(losses.values())
    assert (b * unit).sum() == pytest.approx(colour + place)


def test_without_place_learning_on_near_pairs_works():
    """Two draws: the hinge never rises, and without the place the cuts are better."""
    found, bare = demo.near_pairs(True, 2), demo.near_pairs(False, 2)
    assert (found["end"] < found["start"]).all() and (bare["end"] < bare["start"]).all()
    assert (found["place"] > 0.3).all() and (bare["place"] == 0).all()
    assert (bare["test"] < found["test"] - 0.3).all()


def test_light_losses_are_those_of_the_fit():
    expected = [
        [np.mean(demo.pixel_losses(1, 0.2, centred=c, rule=rule)) for rule in demo.RULES]
        for c in (False, True)
    ]
    assert_allclose(demo.light_losses(0.2, 1, 1)[0], expected, atol=1e-9)


def test_the_shadow_is_where_light_is_lost():
    dark, plain = (demo.scene("test", 2, shadow=s)[0] for s in (0.5, 1.0))
    found = demo.shadow("test", 2)
    assert (dark[found == 1] < 0.76 * plain[found == 1]).all()
    assert (dark[found == 0] > 0.74 * plain[found == 0]).all()
    assert 0.2 < found.mean() < 0.8


def test_all_ways_side_by_side():
    losses = demo.losses_side_by_side(2)
    assert len(losses) == 8
    for seed in (0, 1):
        mask = demo.scene("test", seed)[1].ravel()
        labels = demo.every_way(seed)["normalized cut, grid"]
        expected = partition_loss(mask, labels), rand_loss(mask, labels)
        assert_allclose(losses["normalized cut, grid"][seed], expected)
    means = {way: pairs.mean(axis=0)[0] for way, pairs in losses.items()}
    assert means["MLCA, two means, each centred"] < 0.5 < means["k-means, not learned"]


def test_the_grid_does_better_on_a_alone():
    both, alone = demo.colours_of_grid(False, (0,)), demo.colours_of_grid(True, (0,))
    assert len(both) == len(alone) == len(demo.COLOUR_SCALES)
    assert max(alone) < min(both) - 0.5


def test_what_the_page_checks_can_fail():
    """The checks behind the claims fail for statements that are false."""
    assert min(demo.shifted(5)[:, 1]) > 1 - 1e-9 > min(demo.shifted(5)[:, 0])
    assert min(demo.semidefinite(4, 2)) < -0.1 < -1e-9 < min(demo.semidefinite(20, 2))
    gaps = np.abs(demo.colours_apart(5))
    assert (gaps[:, 1] > gaps[:, 0]).all() and not (gaps[:, 0] > 1).all()
    kept = demo.empty_lawns(3)
    assert (kept[:, 0] < kept[:, 1]).all()
    strips, whole = np.moveaxis(demo.scribbles(2), 2, 0)
    assert (strips > whole - 0.05).all()


def test_one_picture_tells_the_story():
    titles = [ax.get_title() for ax in demo.one_picture().axes]
    losses = {title.split(":")[0]: numbers(title)[-1] for title in titles if "Δ" in title}
    assert losses["k-means, learned"] < 0.2 < 1.5 < losses["k-means"]
    assert losses["cut, learned"] < 0.6 < 1.5 < losses["cut"]


@pytest.mark.parametrize("picture", demo.PICTURES)
def test_cut_of_a_picture_says_its_numbers(picture):
    figure, caption = demo.colour_and_place(picture, 4, 0.5)
    *_, found, mask, loss = numbers(caption)
    assert 0 <= found < mask and 0 <= loss <= 2  # with these weights the mask is not the best cut
    assert len(figure.axes) == 2


def test_a_alone_ignores_the_shadow():
    losses = {p: numbers(demo.colour_and_place(p, 4, 0)[1])[-1] for p in demo.PICTURES}
    assert losses["no shadow"] < 0.3 and losses["shadow, a alone"] < 0.3
    assert losses["shadow"] > 1.5 and losses["coffee"] > 1.5


@pytest.mark.parametrize("k", [2, 3])
def test_both_empty_metrics_have_the_hinge_of_the_worst_loss(k):
    """W all ones, and W = I: the hinge is 2(k − 1) whatever the partition."""
    X = np.random.default_rng(0).normal(size=(9, 2))
    edges = np.array(np.triu_indices(9, 1))
    squares = squared_differences(X, edges)
    for b in (0, 1e6):
        value, _ = spectral_hinge([b, b], squares, edges, np.arange(9) % k)
        assert value == pytest.approx(2 * (k - 1))


def test_hinge_over_scale_ends_at_two():
    left, right = demo.hinge_over_scale().axes
    *curves, line = left.lines
    assert len(curves) == 3 and line.get_ydata()[0] == 2
    a_alone = np.asarray(curves[2].get_ydata())
    assert a_alone.min() < 2 and abs(a_alone[0] - 2) < 0.02
    at_best = np.asarray(right.lines[2].get_ydata())[a_alone.argmin()]
    assert at_best > np.asarray(right.lines[2].get_ydata()).min() + 0.5


def test_majorizers_lie_above_and_touch():
    lines = demo.majorizers().axes[0].lines
    hinge = np.asarray(lines[0].get_ydata())
    uppers, dots = lines[1:-1:2], lines[2:-1:2]
    heights = []
    for upper, dot in zip(uppers, dots, strict=True):
        values = np.asarray(upper.get_ydata())
        assert (values >= hinge - 1e-9).all()
        assert values[np.argmin(values - hinge)] == pytest.approx(float(dot.get_ydata()[0]))
        heights.append(float(dot.get_ydata()[0]))
    assert heights == sorted(heights, reverse=True) and len(heights) == 3
