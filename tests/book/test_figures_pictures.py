"""The scenes of the chapters on images are what they say."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
pytest.importorskip("skimage", reason="images need the extra `reproduce`")
from numpy.testing import assert_array_equal

from book.figures import pictures

pytestmark = pytest.mark.book


def test_train_and_test_scenes_share_no_pixel_of_the_photographs():
    (rows, columns), (other_rows, other_columns) = pictures.FUR["train"], pictures.FUR["test"]
    assert rows.stop <= other_rows.start or columns.stop <= other_columns.start
    grass = [pictures._materials(part)[1] for part in ("train", "test")]
    assert grass[0].shape == grass[1].shape == (256, 128, 3)
    assert pictures.shared_pixels() == [0, 0]


def test_shared_pixels_are_seen(monkeypatch):
    monkeypatch.setitem(pictures.FUR, "test", np.s_[89:100, 290:310])
    assert pictures.shared_pixels() == [10, 0]


def test_light_multiplies_what_a_scene_shows():
    plain, mask = pictures.scene("test", 4, shadow=1.0, tint=0)
    tinted, _ = pictures.scene("test", 4, shadow=1.0, tint=0.1)
    dark, same = pictures.scene("test", 4, shadow=0.5, tint=0)
    assert_array_equal(mask, same)
    ratio = tinted / plain
    assert np.ptp(ratio, axis=(0, 1)).max() < 1e-12 and np.ptp(ratio[0, 0]) > 0.01
    assert (dark / plain).min() == pytest.approx(0.5, abs=0.01)
    assert (dark / plain).max() == pytest.approx(1, abs=0.01)
    assert pictures.scene(size=0.5)[1].sum() < pictures.scene()[1].sum() / 3


def test_masks_drawn_by_hand_lie_on_their_objects():
    _, mask = pictures.photograph("coffee", 100)
    assert mask[27, 72] == mask[80, 60] == 1 and mask[5, 5] == mask[90, 140] == 0
    _, mask = pictures.photograph("astronaut", 128)
    assert mask[20, 55] == mask[90, 40] == 1 and mask[40, 100] == mask[5, 5] == 0
    image, mask = pictures.photograph("rocket", 100)
    assert image[mask == 1].mean() > 1.7 * image[mask == 0].mean()


def test_parts_are_named_after_the_mask():
    mask = np.array([[0, 1], [0, 0]])
    assert_array_equal(pictures.named(mask, np.array([1, 0, 1, 1])), mask)
    assert_array_equal(pictures.named(mask, np.array([0, 1, 0, 0])), mask)


def test_sift_is_scikit_images_away_from_two_borders():
    bands = pictures.sift_beside_scikit_image()
    assert [name for name, _, _ in bands] == ["1 to 4", "5 to 8", "10 to 14", "16 to 77"]
    assert sum(count for _, count, _ in bands) == 26 * 33
    assert bands[0][2] > 10 and bands[-1][2] == 0
    assert max(gap for _, _, gap in pictures.sift_beside_scikit_image(False)) == 0


def test_the_shadow_is_where_light_is_lost():
    dark, plain = (pictures.scene("test", 2, shadow=s)[0] for s in (0.5, 1.0))
    found = pictures.shadow("test", 2)
    assert (dark[found == 1] < 0.76 * plain[found == 1]).all()
    assert (dark[found == 0] > 0.74 * plain[found == 0]).all()
    assert 0.2 < found.mean() < 0.8
