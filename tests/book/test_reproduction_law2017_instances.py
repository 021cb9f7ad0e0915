"""MILES, mi-SVM, MILBoost and EM-DD against loops, derivatives and bags done by hand."""

import doctest
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from sklearn.svm import SVC

from book.reproduction import law2017_instances as module
from book.reproduction.law2017_instances import (
    INSTANCE_CLASSIFIERS,
    dd_loss,
    em_dd,
    label_by_label,
    mi_svm,
    milboost,
    miles_features,
    noisy_or,
)
from mlbook.bags import Bags


def random_bags(rng, m=12, d=3):
    sizes = rng.integers(1, 5, size=m)
    return Bags(rng.normal(size=(sizes.sum(), d)), np.append(0, np.cumsum(sizes)))


def one_tells(rng, m=60, size=3, d=2):
    """Bags of noise; the positive ones hold an instance near (4, 4, ...)."""
    positive = rng.uniform(size=m) < 0.5
    X = rng.normal(size=(m, size, d))
    X[positive, 0] = 4 + 0.3 * rng.normal(size=(positive.sum(), d))
    X = rng.permuted(X, axis=1) if d == 1 else X[:, rng.permutation(size)]
    return Bags(X.reshape(-1, d), np.arange(0, m * size + 1, size)), positive


def test_the_examples_of_the_module():
    assert doctest.testmod(module).failed == 0 < doctest.testmod(module).attempted


def test_miles_features_by_loops():
    rng = np.random.default_rng(0)
    bags, train = random_bags(rng), random_bags(rng, m=5)
    expected = [
        [max(np.exp(-0.7 * np.sum((e - x) ** 2)) for e in bag) for x in train.instances]
        for bag in bags
    ]
    assert_allclose(miles_features(bags, train, 0.7), expected)


@pytest.mark.parametrize("seed", range(5))
def test_mi_svm_ends_where_its_own_labels_come_out_again(seed):
    """The machine is the one trained on the labels that it gives, one positive in each bag."""
    bags, positive = one_tells(np.random.default_rng(seed))
    model = mi_svm(bags, positive)
    scores = model.decision_function(bags.instances)
    labels = np.zeros(len(scores), dtype=bool)
    for i in np.flatnonzero(positive):
        rows = np.arange(bags.offsets[i], bags.offsets[i + 1])
        labels[rows] = scores[rows] > 0
        labels[rows[np.argmax(scores[rows])]] = True
    again = SVC(random_state=0).fit(bags.instances, labels).decision_function(bags.instances)
    assert_allclose(again, scores)
    assert 0 < labels.sum() < positive[bags.bag_index].sum()  # some of a positive bag are negative


def test_a_bag_without_positive_instance_keeps_its_highest():
    X = np.array([[0.0], [0.05], [3.0], [0.1], [0.2], [0.3], [0.15], [0.25]])
    bags = Bags(X, [0, 2, 4, 6, 8])
    positive = np.array([True, True, False, False])
    one_round = SVC(random_state=0).fit(X, positive[bags.bag_index]).decision_function(X)
    assert np.all(one_round[:2] < 0)  # so the first bag would have no positive instance
    trained = []

    class Spy(SVC):
        def fit(self, X, y):
            trained.append(y.copy())
            return super().fit(X, y)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SVC", Spy)
        mi_svm(bags, positive)
    assert trained[1][:2].sum() == 1 and trained[1][np.argmax(one_round[:2])]


def by_products(h, bags, positive):
    """The likelihood of a noisy OR as it is defined."""
    p = 1 / (1 + np.exp(-h))
    total = 0.0
    for i in range(len(bags)):
        none = np.prod(1 - p[bags.offsets[i] : bags.offsets[i + 1]])
        total += np.log(1 - none if positive[i] else none)
    return total


@pytest.mark.parametrize("seed", range(5))
def test_noisy_or_and_its_gradient(seed):
    rng = np.random.default_rng(seed)
    bags = random_bags(rng)
    positive, h = rng.uniform(size=len(bags)) < 0.5, rng.normal(size=len(bags.instances))
    value, gradient = noisy_or(h, bags, positive)
    assert value == pytest.approx(by_products(h, bags, positive))
    numeric = approx_fprime(h, lambda x: by_products(x, bags, positive), 1e-7)
    assert_allclose(gradient, numeric, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_milboost_never_lowers_the_likelihood_and_finds_the_instance(seed):
    bags, positive = one_tells(np.random.default_rng(seed))
    scores, path = milboost(bags, positive, n_rounds=20)
    assert np.all(np.diff(path) >= 0)
    assert path[-1] == pytest.approx(noisy_or(scores(bags.instances), bags, positive)[0])
    share = 1 - (1 - 1 / (1 + np.exp(-scores([[4.0, 4.0], [0.0, 0.0]]))))
    assert share[0] > 0.9 > 0.1 > share[1]


def test_the_first_stump_of_milboost_is_the_best_of_all():
    """By trying every split of every feature: the one that explains most of the gradient."""
    rng = np.random.default_rng(1)
    bags, positive = one_tells(rng, m=15)
    X, scores = bags.instances, milboost(bags, positive, n_rounds=1)[0]
    start = milboost(bags, positive, n_rounds=0)[0](X)
    gradient = noisy_or(start, bags, positive)[1]
    left = {}
    for k, cut in product(range(2), range(1, len(X))):
        value = np.sort(X[:, k])[cut]
        below = X[:, k] < value
        left[k, cut] = sum(np.var(gradient[some]) * some.sum() for some in (below, ~below))
    k, cut = min(left, key=left.get)
    below = X[:, k] < np.sort(X[:, k])[cut]
    h = scores(X)
    assert np.ptp(h[below]) == np.ptp(h[~below]) == 0 < abs(h[below][0] - h[~below][0])


@pytest.mark.parametrize("seed", range(5))
def test_loss_of_em_dd_and_its_gradient(seed):
    rng = np.random.default_rng(seed)
    chosen, positive = rng.normal(size=(8, 3)), rng.uniform(size=8) < 0.5
    parameters = rng.normal(size=6)
    t, s = parameters[:3], parameters[3:]
    p = np.exp(-np.sum(s**2 * (chosen - t) ** 2, axis=1))
    loss, gradient = dd_loss(parameters, chosen, positive)
    assert loss == pytest.approx(-np.log(np.where(positive, p, 1 - p)).sum())
    numeric = approx_fprime(parameters, lambda x: dd_loss(x, chosen, positive)[0], 1e-7)
    assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-4)


def test_em_dd_finds_the_target_and_its_loss_is_that_of_the_likeliest_instances():
    bags, positive = one_tells(np.random.default_rng(0))
    t, s, loss = em_dd(bags, positive, n_starts=8)
    assert_allclose(t, 4, atol=0.3)
    p = np.array([max(np.exp(-np.sum(s**2 * (x - t) ** 2)) for x in bag) for bag in bags])
    assert loss == pytest.approx(-np.log(np.where(positive, p, 1 - p)).sum())
    assert loss <= em_dd(bags, positive, n_starts=1)[2]


@pytest.mark.parametrize("method", INSTANCE_CLASSIFIERS)
def test_every_label_is_learned_by_itself(method):
    rng = np.random.default_rng(3)
    bags, positive = one_tells(rng, m=80)
    test, truth = one_tells(rng, m=40)
    Y = csr_array(np.column_stack([positive, ~positive, positive | True, positive & False]))
    scores = label_by_label(method, bags, Y, test)
    assert_array_equal(scores[:, 2:], np.tile([np.inf, -np.inf], (40, 1)))
    right = np.mean((scores[:, 0] > np.median(scores[:, 0])) == truth)
    assert right > 0.85
    assert np.mean(scores[truth, 0]) > np.mean(scores[~truth, 0])
