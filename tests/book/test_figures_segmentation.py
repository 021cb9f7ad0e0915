"""What the chapter on pixels draws, against second derivations."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
pytest.importorskip("skimage", reason="images need the extra `reproduce`")
from itertools import product

from numpy.testing import assert_allclose, assert_array_equal

from book.figures import pictures
from book.figures import pixel_claims as claims
from book.figures import segmentation as demo
from mlbook.kmeans import distortion
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.partitions import partition_loss

pytestmark = pytest.mark.book


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", text)]


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
    image, mask = pictures.scene("test", 1, tint=0.1)
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
    image, mask = pictures.scene("test", 0, size=1.7)
    rows = demo.pixels(image, centred=True)
    expected = [
        partition_loss(mask.ravel(), demo.segment(model, rows, rule)) for rule in demo.RULES
    ]
    assert_allclose(claims.sizes_of_fur(1.7, n_scenes=1)[0], expected)
    assert_allclose(claims.sizes_of_fur(1.7, float(mask.mean()), n_scenes=1)[0], expected)
    assert claims.sizes_of_fur(1.7, 0.21, n_scenes=1)[0, 0] < expected[0] / 2


def test_thresholds_part_the_scores_of_a_tinted_scene():
    histogram = demo.scores_and_thresholds().axes[-1]
    learned, means = (line.get_xdata()[0] for line in histogram.lines)
    assert learned == 0 and 0.3 < means < 1.5


def test_light_losses_are_those_of_the_fit():
    expected = [
        [np.mean(demo.pixel_losses(1, 0.2, centred=c, rule=rule)) for rule in demo.RULES]
        for c in (False, True)
    ]
    assert_allclose(demo.light_losses(0.2, 1, 1)[0], expected, atol=1e-9)


def test_half_a_photograph_does_not_tell_the_other_half():
    _, left, right = demo.shrunk_halves("astronaut", 0.0)
    assert left < 0.3 and right > 1.5
    _, caption = demo.shrinkage("astronaut", 0.0)
    assert numbers(caption)[-2:] == [
        pytest.approx(left, abs=0.005),
        pytest.approx(right, abs=0.005),
    ]
    assert numbers(demo.direction("astronaut", "all")[1])[-1] < 0.5
    figure, _ = demo.direction("rocket", "colour")
    assert [ax.get_title() for ax in figure.axes] == ["rocket", "score", "positive"]


def test_shrunk_scores_are_those_of_the_library():
    """The direction is that of MLCA with the same shrinkage; without it those of BinaryMLCA."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)) * [1, 2, 3, 4], (np.arange(80) % 3 == 0).astype(int)
    X[y == 1] += 1
    every = np.ones(80, dtype=bool)
    scores, share, middle = demo._learned(X, y, every)
    model = BinaryMLCA(fit_intercept=True).fit(X, y)
    assert_allclose(scores, model.decision_function(X) * np.sqrt(80), atol=1e-9)
    R2, means = demo.explained(model, X, y)
    assert_allclose([share, middle], [R2, means.mean()])
    shrunk, *_ = demo._learned(X, y, every, 0.5)
    S, s = np.cov(X.T, bias=True) * 80, np.where(y == 1, 1.0, -1.0)
    v = np.linalg.solve(0.5 * S + 0.5 * np.trace(S) / 4 * np.eye(4), (X - X.mean(0)).T @ s)
    assert_allclose(shrunk, (X - X.mean(0)) @ v + s.mean())


def test_first_picture_tells_the_story():
    titles = [ax.get_title() for ax in demo.first_picture().axes]
    losses = {title.split(":")[0]: numbers(title)[-1] for title in titles if "Δ" in title}
    assert losses["learned"] < 0.2 < 1.5 < losses["plain k-means"]


def test_eight_pixels_are_split_by_light_first():
    """Of all 127 partitions into two, the one by light has the smallest distortion."""
    X, y = demo.eight_pixels()
    sides = [np.array([0, *rest]) for rest in product([0, 1], repeat=7) if any(rest)]
    best = min(sides, key=lambda labels: distortion(X, labels))
    assert partition_loss(best, X[:, 0] > 2) == pytest.approx(0)
    L = MLCA(fit_intercept=True, random_state=0).fit(X, y).components_
    assert_allclose((L.T @ L), [[0, 0], [0, 2 / 27]], atol=1e-12)
    assert len(demo.eight_pixels_drawn().axes) == 3


def test_caption_of_size_and_noise_is_the_proposition():
    caption = demo.size_and_noise(0.3, 0.1)[1]
    share, noise, R2, needed, sign, means = numbers(re.sub(r"R²|[%,]", " ", caption))
    assert noise == 0.1 and needed > R2
    assert needed == pytest.approx((1 - 2 * share / 100) / (2 - 2 * share / 100), abs=0.01)
    assert sign == pytest.approx(1, abs=0.1) and means > 1.5
    figure, _ = demo.size_and_noise(0.3, 0.0)
    assert [ax.get_title() for ax in figure.axes[:3]] == ["mask", "sign", "two means"]


def test_plain_means_find_the_shadow():
    losses = demo.untaught(3)
    assert (losses[:, 0] < losses[:, 1]).all()
    learned = demo.to_shadow(3)
    assert (learned[:, 1] < learned[:, 0]).all()
