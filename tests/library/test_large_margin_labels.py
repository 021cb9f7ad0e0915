"""Training labels: windows without gaps, least lengths, and losses on labelled points."""

import numpy as np
import pytest

from mlbook.large_margin.labels import check_min_length, labelled_windows, mean_loss
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
    assert check_min_length(6, [first]) == 6
    with pytest.raises(ValueError, match=r"y\[1\] has one of length 4"):
        check_min_length(5, [first, np.repeat([0, 1], [4, 9])])


def test_the_mean_loss_leaves_out_what_is_not_labelled():
    a, b = np.array([0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 1])
    partial, unknown = np.array([-1, 5, 5, 6, -1]), np.full(5, -1)
    expected = np.mean([partition_loss(a[1:4], [0, 0, 1]), partition_loss(b, a)])
    assert mean_loss([a, a, b], [partial, unknown, a]) == pytest.approx(expected)
