"""Grids: parts where they should be, features within standard errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.datasets import make_xor_grids


def test_labels_are_the_exclusive_or_of_two_noisy_features():
    images, labels, parts = make_xor_grids(400, (5, 7), block=3, noise=0.5, random_state=0)
    assert images.shape == (400, 5, 7, 2) and labels.shape == parts.shape == (400, 5, 7)
    means = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    for part, mean in enumerate(means):
        here = images[parts == part]
        assert_allclose(here.mean(axis=0), mean, atol=5 * 0.5 / np.sqrt(len(here)))
        assert_allclose(here.std(axis=0), 0.5, rtol=0.05)
        assert_array_equal(np.unique(labels[parts == part]), mean[0] != mean[1])
    assert np.all(parts[:, :3, :3] == parts[:, :1, :1]) and np.any(parts[:, 3] != parts[:, 2])
    assert_allclose(np.bincount(parts[:, 0, 0]) / 400, 0.25, atol=0.1)


def test_seeds():
    images, labels, parts = make_xor_grids(2, random_state=0)
    again = make_xor_grids(2, random_state=np.random.RandomState(0))
    for one, other in zip((images, labels, parts), again, strict=True):
        assert_array_equal(one, other)
    assert np.any(make_xor_grids(2, random_state=1)[2] != parts)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_xor_grids(0), "n_images must be an integer, at least 1"),
        (lambda: make_xor_grids(shape=(0, 3)), "each of shape must be"),
        (lambda: make_xor_grids(block=0), "block must be"),
        (lambda: make_xor_grids(noise=-1.0), "noise must be"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
