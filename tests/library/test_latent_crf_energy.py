"""The energy less the error against the formulas word for word, at every configuration."""

import numpy as np
import pytest
from clustering_problems import LABELS
from enumeration import all_assignments
from numpy.testing import assert_allclose

from mlbook.latent_crf import (
    clustering_error,
    exemplars_of_partition,
    loss_augmented_potentials,
)
from mlbook.partitions import partition_loss


@pytest.mark.equation("Komodakis 2011, Eqs. 15-16")
@pytest.mark.parametrize("labels", LABELS)
def test_error_is_equation_15_and_zero_exactly_on_the_partition(labels):
    labels = np.array(labels)
    for x in all_assignments(5):
        X = np.zeros((5, 5))
        X[np.arange(5), x] = 1
        by_hand = 0.0
        for c in np.unique(labels):
            C = labels == c
            by_hand += 0.3 * abs(1 - np.diag(X)[C].sum())
            by_hand += 0.8 * (1 - X[np.ix_(C, C)].sum(axis=1)).sum()
        error = clustering_error(x, labels, alpha=0.3, beta=0.8)
        assert_allclose(error, by_hand, atol=1e-12)
        assert (error == 0) == (partition_loss(x, labels) == 0)


@pytest.mark.equation("Komodakis 2011, Eq. 29")
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("penalty", [0.5, [3.0, -1.0, 0.0, 2.0, 1.0]])
def test_exemplars_of_a_partition_are_the_best(labels, penalty):
    """Eq. 29 against all configurations that induce the partition, diagonal of rubbish included."""
    rng = np.random.default_rng(3)
    D = rng.normal(size=(5, 5)) + np.diag([np.nan, np.inf, 1, 2, 3])
    prices = np.broadcast_to(penalty, 5)
    found = exemplars_of_partition(D, labels, penalty)
    x = found[np.unique(labels, return_inverse=True)[1]]

    def cost(x):
        exemplar = x == np.arange(5)
        return D[~exemplar, x[~exemplar]].sum() + prices[exemplar].sum()

    assert partition_loss(x, labels) == 0
    best = min(cost(y) for y in all_assignments(5) if partition_loss(y, labels) == 0)
    assert_allclose(cost(x), best)


def test_bad_arrays():
    with pytest.raises(ValueError, match="one integer for each of the 2 labels"):
        clustering_error([0.0, 1.0], [0, 1])
    with pytest.raises(ValueError, match="which point to themselves"):
        clustering_error([1, 0], [0, 1])
    with pytest.raises(ValueError, match="beta must be"):
        clustering_error([0, 1], [0, 1], beta=0)
    with pytest.raises(ValueError, match=r"D must have shape \(3, 3\)"):
        exemplars_of_partition(np.ones((2, 2)), [0, 0, 1])
    with pytest.raises(ValueError, match="penalty must be a finite number or one for each of 2"):
        loss_augmented_potentials(np.ones((2, 2)), [0, 1], [1.0, np.nan])
