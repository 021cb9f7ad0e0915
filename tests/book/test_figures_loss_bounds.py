"""What the appendix on the loss of two partitions claims and draws."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from book.figures import loss_bounds as demo
from mlbook.partitions import partition_loss

pytestmark = pytest.mark.book


def test_one_point_moves_between_two_clusters_of_ten():
    found = demo.move(np.repeat([0, 1], 10), np.repeat([0, 1], [9, 11]))
    assert found.first_order == pytest.approx(2 * (1 / 10 + 1 / 10))
    assert found.loss == pytest.approx(4 / 11)
    assert found.t == pytest.approx(0.1)


@pytest.mark.parametrize("seed", range(20))
def test_loss_is_first_order_less_the_rest(seed):
    rng = np.random.default_rng(seed)
    before, after = (np.append([0, 1, 2], rng.integers(0, 3, 9)) for _ in range(2))
    found = demo.move(before, after)
    assert found.loss == pytest.approx(partition_loss(before, after))
    assert found.loss == pytest.approx(found.first_order - found.rest)
    assert found.rest >= 0


def test_nothing_moves():
    labels = np.repeat([0, 1, 2], 4)
    assert demo.move(labels, labels) == pytest.approx((0, 0, 0, 0))


def test_random_moves_are_drawn_above_the_bound():
    (ax,) = demo.small_moves().axes
    points, bound, _ = ax.lines
    t, ratio = np.asarray(points.get_xdata()), np.asarray(points.get_ydata())
    assert len(t) > 100
    small = t < 0.5
    assert (ratio[small] >= np.interp(t[small], bound.get_xdata(), bound.get_ydata()) - 0.01).all()
    assert (ratio <= 1 + 1e-9).all()


@pytest.mark.parametrize("seed", range(20))
def test_shifts_are_small_and_not_all_zero(seed):
    before, after = demo.shifted(seed)
    assert len(before) == len(after) and before[-1] == after[-1]
    cuts = [np.flatnonzero(np.diff(labels)) for labels in (before, after)]
    shifts = np.abs(cuts[0] - cuts[1])
    assert 0 < shifts.max() < np.bincount(before).min() / 2
