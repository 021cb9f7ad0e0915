"""The choice of price and regularization: halves, and what they decide."""

import numpy as np
from clustering_problems import small_sets
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.parallel import Parallel

from mlbook.latent_crf.choices import ALPHAS, MOST_POINTS, PRICES, USUAL, choose, halved
from mlbook.latent_crf.pair_features import read_features
from mlbook.latent_crf.problem import ExemplarProblem


def read(points, partitions):
    return [
        (read_features(X, "squared_differences"), y)
        for X, y in zip(points, partitions, strict=True)
    ]


def chosen(sets, price=None, alpha=None, regularizer="l1"):
    scales = sum(data.pair_mean() for data, _ in sets) / len(sets)

    def make(some, share):
        size = sum(len(y) for _, y in some) / sum(y.max() + 1 for _, y in some)
        setting = {"penalty": max(share * size, 2.0), "scales": scales}
        return [ExemplarProblem(*own, **setting) for own in some]

    said = []
    return choose(sets, make, regularizer, price, alpha, Parallel(), said.append), said


def test_a_single_set_is_halved_cluster_by_cluster():
    y = np.array([0, 1, 0, 1, 0, 1, 2, 2, 2, 0, 1, 2, 2])
    [(one, first)], [(other, second)] = halved(read([np.arange(13.0)[:, None]], [y]))
    assert_array_equal(np.bincount(first), [2, 2, 3])
    assert_array_equal(np.bincount(second), [2, 2, 2])
    assert one.n_points == 7 and other.n_points == 6
    assert_allclose(one.distances(np.ones(1))[0, :2], [0, 16])  # points 0 and 4


def test_several_sets_are_dealt_out_and_bounded():
    points, partitions = small_sets(5)
    one, other = halved(read(points, partitions))
    assert (len(one), len(other)) == (3, 2)
    many = read(*small_sets(4, MOST_POINTS // 2 + 1))
    assert [len(half) for half in halved([many[0]] * 8)] == [1, 1]


def test_too_small_to_be_halved():
    sets = read([np.arange(4.0)[:, None]], [np.array([0, 0, 1, 1])])
    assert halved(sets) is None
    assert chosen(sets)[0] == USUAL
    assert chosen(sets, price=0.3)[0] == (0.3, USUAL[1])


def test_only_what_is_not_given_is_chosen():
    sets = read(*small_sets(2, 30))
    both, said = chosen(sets)
    assert both.price in PRICES and both.alpha in ALPHAS
    assert len(said) <= len(PRICES) + len(ALPHAS) and "penalty 0.4" in said[0]
    price, said = chosen(sets, alpha=0.07)
    assert price.price in PRICES and price.alpha == 0.07 and len(said) == len(PRICES)
    alpha, said = chosen(sets, price=0.33)
    assert alpha.price == 0.33 and alpha.alpha in ALPHAS and all("alpha" in text for text in said)
    assert chosen(sets, regularizer="l2")[0].price in PRICES
