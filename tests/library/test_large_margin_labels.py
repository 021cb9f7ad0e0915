"""Training labels: windows without gaps, least lengths, and losses on labelled points."""

import numpy as np
import pytest

from mlbook._metric import mean_loss
from mlbook.changepoints import constraints_from_labels, segment
from mlbook.large_margin.labels import check_min_length, labelled_windows
from mlbook.partitions import partition_loss


def test_windows_for_the_start():
    x = np.arange(12.0)[:, None]
    labels = np.array([0, 0, 0, 1, -1, 2, 3, 3, 3, 4, -1, -1])
    windows = labelled_windows([x], [labels], min_length=2)
    assert [w[0].ravel().tolist() for w in windows] == [[0, 1, 2], [6, 7, 8]]
    windows = labelled_windows([x], [labels], min_length=1)
    assert [len(t) for _, t in windows] == [4, 5]
    with pytest.raises(ValueError, match="init='pca'"):
        labelled_windows([x], [np.where(labels == 1, 1, -1)], min_length=2)


def test_the_least_length_comes_from_segments_whose_ends_are_known():
    """The stretches of 0 and 3 touch unlabelled points, the others are 6, 8 and 4 long."""
    first = np.repeat([-1, 0, 1, 2, 3, -1], [2, 1, 6, 8, 1, 5])
    assert check_min_length("auto", [first]) == 3
    assert check_min_length("auto", [first, np.repeat([0, 1], [4, 9])]) == 2
    assert check_min_length("auto", [np.array([-1, 0, -1])]) == 1
    assert check_min_length(3, [first]) == 3
    with pytest.raises(ValueError, match=r"room for segments of min_length=4 or more; ys\[0\]"):
        check_min_length(4, [first])  # the first segment has three points at most
    with pytest.raises(ValueError, match=r"room for segments of min_length=5 or more; ys\[1\]"):
        check_min_length(5, [np.repeat([0, 1], [9, 9]), np.repeat([0, 1], [4, 9])])


def test_without_a_whole_segment_its_labelled_parts_count():
    assert check_min_length("auto", [np.repeat([-1, 0, -1, 1, -1], [3, 8, 4, 6, 3])]) == 3


def test_missing_labels_leave_room_for_the_least_length():
    """A segment of 8 points with its ends hidden, beside segments of 40: once an error."""
    short = np.repeat([0, -1, 1, -1, 2], [40, 2, 4, 2, 40])
    assert check_min_length("auto", [np.repeat([0, 1, 2], 40), short]) == 8
    assert check_min_length("auto", [np.repeat([0, 1], 40), np.repeat([0, -1], [40, 5])]) == 20


@pytest.mark.parametrize("seed", range(20))
def test_room_is_what_a_search_finds(seed):
    rng = np.random.default_rng(seed)
    for _ in range(30):
        labels = np.sort(rng.integers(0, rng.integers(1, 4), size=rng.integers(2, 11)))
        labels[rng.random(len(labels)) < rng.random()] = -1
        length = int(rng.integers(1, 6))
        known, zeros = constraints_from_labels(labels), np.zeros((len(labels), 1))
        try:
            segment(zeros, penalty=1.0, min_length=length, constraints=known)
        except ValueError:
            with pytest.raises(ValueError, match=r"ys\[0\] has not"):
                check_min_length(length, [labels])
        else:
            assert check_min_length(length, [labels]) == length


def test_the_mean_loss_leaves_out_what_is_not_labelled():
    a, b = np.array([0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 1])
    partial, unknown = np.array([-1, 5, 5, 6, -1]), np.full(5, -1)
    expected = np.mean([partition_loss(a[1:4], [0, 0, 1]), partition_loss(b, a)])
    assert mean_loss([a, a, b], [partial, unknown, a]) == pytest.approx(expected)
