"""What the chapter on normalized cuts learns, against second derivations."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
pytest.importorskip("skimage", reason="images need the extra `reproduce`")
from numpy.testing import assert_allclose

from book.figures import learned_cuts as learned
from book.figures import normalized_cuts as cuts
from book.figures import pictures
from mlbook.ncuts import spectral_hinge, squared_differences
from mlbook.partitions import partition_loss, rand_loss

pytestmark = pytest.mark.book


def test_without_place_learning_on_near_pairs_works():
    """Two draws: the hinge never rises, and without the place the cuts are better."""
    found, bare = learned.near_pairs(True, 2), learned.near_pairs(False, 2)
    assert (found["end"] < found["start"]).all() and (bare["end"] < bare["start"]).all()
    assert (found["place"] > 0.3).all() and (bare["place"] == 0).all()
    assert (bare["test"] < found["test"] - 0.3).all()


def test_the_grid_does_better_on_a_alone():
    both, alone = learned.colours_of_grid(False, (0,)), learned.colours_of_grid(True, (0,))
    assert len(both) == len(alone) == len(learned.COLOUR_SCALES)
    assert max(alone) < min(both) - 0.5


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
    left, right = learned.hinge_over_scale().axes
    *curves, line = left.lines
    assert len(curves) == 3 and line.get_ydata()[0] == 2
    a_alone = np.asarray(curves[2].get_ydata())
    assert a_alone.min() < 2 and abs(a_alone[0] - 2) < 0.02
    at_best = np.asarray(right.lines[2].get_ydata())[a_alone.argmin()]
    assert at_best > np.asarray(right.lines[2].get_ydata()).min() + 0.5


def test_majorizers_lie_above_and_touch():
    lines = learned.majorizers().axes[0].lines
    hinge = np.asarray(lines[0].get_ydata())
    uppers, dots = lines[1:-1:2], lines[2:-1:2]
    heights = []
    for upper, dot in zip(uppers, dots, strict=True):
        values = np.asarray(upper.get_ydata())
        assert (values >= hinge - 1e-9).all()
        assert values[np.argmin(values - hinge)] == pytest.approx(float(dot.get_ydata()[0]))
        heights.append(float(dot.get_ydata()[0]))
    assert heights == sorted(heights, reverse=True) and len(heights) == 3


def test_all_ways_side_by_side():
    losses = learned.losses_side_by_side(2)
    assert len(losses) == 8
    for seed in (0, 1):
        mask = pictures.scene("test", seed)[1].ravel()
        labels = learned.every_way(seed)["normalized cut, grid"]
        expected = partition_loss(mask, labels), rand_loss(mask, labels)
        assert_allclose(losses["normalized cut, grid"][seed], expected)
    means = {way: pairs.mean(axis=0)[0] for way, pairs in losses.items()}
    assert means["MLCA, two means, each centred"] < 0.5 < means["k-means, not learned"]


def test_taught_shows_what_was_learned():
    titles = [ax.get_title() for ax in learned.taught().axes]
    losses = [float(title.split("= ")[1]) for title in titles if "Δ" in title]
    assert losses[1] < 0.6 < 1.5 < losses[0]


def test_what_the_page_checks_can_fail():
    """The checks behind the claims fail for statements that are false."""
    assert min(cuts.semidefinite(4, 2)) < -0.1 < -1e-9 < min(cuts.semidefinite(20, 2))
    gaps = np.abs(learned.colours_apart(5))
    assert (gaps[:, 1] > gaps[:, 0]).all() and not (gaps[:, 0] > 1).all()
    assert (learned.untaught(2)[:, 0] < learned.untaught(2)[:, 1]).all()
