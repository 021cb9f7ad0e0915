"""ExemplarClustering against the functions below it, affinity propagation and scikit-learn."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import AffinityPropagation
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.utils.estimator_checks import estimator_checks_generator

from mlbook.exemplars import (
    ExemplarClustering,
    exemplar_energy,
    exemplar_labels,
    penalty_range,
)
from mlbook.partitions import partition_loss


def test_finds_separated_clusters_and_their_number():
    X, y = make_blobs(200, centers=7, cluster_std=0.3, random_state=4)
    model = ExemplarClustering(penalty=30.0, random_state=0).fit(X)
    assert partition_loss(model.labels_, y) == 0
    assert model.gap_ < 1e-3
    D = pairwise_distances(X, metric="sqeuclidean")
    assert_allclose(model.energy_, exemplar_energy(D, model.exemplar_indices_, 30.0))
    assert_array_equal(model.labels_, exemplar_labels(D, model.exemplar_indices_))
    assert_array_equal(model.labels_[model.exemplar_indices_], np.arange(7))
    assert_array_equal(model.exemplars_, X[model.exemplar_indices_])
    assert_array_equal(model.predict(X), model.labels_)


def test_permuting_the_points_permutes_the_result():
    X, _ = make_blobs(60, centers=5, cluster_std=1.0, random_state=1)
    order = np.random.default_rng(0).permutation(60)
    penalty = np.random.default_rng(1).uniform(2, 9, 60)
    a = ExemplarClustering(penalty=penalty, random_state=0, exact=True).fit(X)
    b = ExemplarClustering(penalty=penalty[order], random_state=0, exact=True).fit(X[order])
    assert_allclose(a.energy_, b.energy_)
    assert_array_equal(a.exemplar_indices_, np.sort(order[b.exemplar_indices_]))
    assert partition_loss(a.labels_[order], b.labels_) == 0


@pytest.mark.filterwarnings("ignore:Passing more than 2 positional:DeprecationWarning")
@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
@pytest.mark.parametrize("d", [2, 100])
@pytest.mark.parametrize("seed", range(3))
def test_not_above_affinity_propagation(kind, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((150, d)) if kind == "uniform" else rng.normal(size=(150, d))
    model = ExemplarClustering(random_state=seed).fit(X)
    D = pairwise_distances(X, metric="sqeuclidean")
    propagation = AffinityPropagation(
        preference=-model.penalty_, affinity="precomputed", damping=0.9, max_iter=2000
    ).fit(-D)
    rival = exemplar_energy(D, propagation.cluster_centers_indices_, model.penalty_)
    assert model.lower_bound_ <= rival
    assert model.energy_ <= rival * (1 + 1e-12)
    assert 0 <= model.gap_ <= 0.01


def test_every_kind_of_input_gives_the_same():
    X, _ = make_blobs(40, centers=4, random_state=0)
    X = (X * (np.abs(X) > 1)).astype(np.float32)
    D = pairwise_distances(X.astype(float), metric="sqeuclidean")
    expected = ExemplarClustering(penalty=4.0, metric="precomputed", random_state=0).fit(D)
    assert not hasattr(expected, "exemplars_")

    def squared(x, z):
        return float(np.sum((x - z) ** 2))

    for model, data in [
        (ExemplarClustering(penalty=4.0, random_state=0), X),
        (ExemplarClustering(penalty=4.0, random_state=0), X.astype(float)),
        (ExemplarClustering(penalty=4.0, random_state=0), sp.csr_array(X)),
        (ExemplarClustering(penalty=np.full(40, 4), metric=squared, random_state=0), X),
    ]:
        model.fit(data)
        assert_allclose(model.energy_, expected.energy_, rtol=1e-4)
        assert_array_equal(model.labels_, expected.labels_)
        assert_array_equal(model.predict(data), expected.labels_)
    assert_array_equal(expected.predict(D), expected.labels_)
    assert_array_equal(expected.predict(D[:3]), expected.labels_[:3])


def test_a_callable_may_be_asymmetric():
    X = np.array([[0.0], [1.0], [5.0]])

    def uphill(x, z):
        return float(z[0] - x[0]) if z[0] > x[0] else 100.0

    model = ExemplarClustering(metric=uphill, penalty=4.5, random_state=0).fit(X)
    assert_array_equal(model.exemplar_indices_, [1, 2])
    assert model.energy_ == 1 + 2 * 4.5


def test_automatic_penalty_is_the_median_distance():
    rng = np.random.default_rng(0)
    D = rng.random((9, 9))
    model = ExemplarClustering(metric="precomputed", random_state=0, tol=1.0).fit(D)
    assert model.penalty_ == np.median(D[~np.eye(9, dtype=bool)])
    same = ExemplarClustering(metric="precomputed", random_state=0, tol=1.0, penalty=model.penalty_)
    assert_array_equal(same.fit(D).labels_, model.labels_)
    assert ExemplarClustering().fit([[5.0, 1.0]]).penalty_ == 0


def test_warns_of_a_penalty_that_leaves_nothing_to_cluster_and_names_better_ones():
    D = pairwise_distances(np.random.default_rng(0).normal(size=(20, 2)))
    low, high = penalty_range(D)
    named = rf"between {low:.6g} and {high:.6g} gives neither"
    kind = {"metric": "precomputed", "random_state": 0}
    with pytest.warns(UserWarning, match=rf"penalty=1000 is so high .* one exemplar; .*{named}"):
        assert len(ExemplarClustering(penalty=1000, **kind).fit(D).exemplar_indices_) == 1
    with pytest.warns(UserWarning, match=rf"penalty is so low .* 20 exemplars; .*{named}"):
        ExemplarClustering(penalty=np.full(20, low / 2), **kind).fit(D)
    with pytest.warns(UserWarning, match="no common penalty is sure"):
        ExemplarClustering(penalty=2.0, **kind).fit(np.ones((4, 4)))
    for f in (low * 1.001, high * 0.999):
        model = ExemplarClustering(penalty=f, tol=1.0, **kind).fit(D)
        assert 1 < len(model.exemplar_indices_) < 20


@pytest.mark.slow
def test_warns_when_the_gap_stays_large_and_says_what_to_change():
    D = np.random.default_rng(0).random((60, 60))
    with pytest.warns(ConvergenceWarning, match=r"within \d+\.\d+% .* raise max_iter.* exact=True"):
        model = ExemplarClustering(metric="precomputed", random_state=0).fit(D)
    assert model.gap_ > 0.01
    loose = ExemplarClustering(metric="precomputed", random_state=0, tol=1.0).fit(D)
    assert loose.gap_ == model.gap_
    X = np.random.default_rng(0).random((80, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        ExemplarClustering(max_iter=3, random_state=0).fit(X)
    assert ExemplarClustering(random_state=0).fit(X).gap_ < 0.01


def test_exact_estimator_proves_its_optimum():
    D = np.random.default_rng(0).random((25, 25))
    model = ExemplarClustering(metric="precomputed", exact=True, random_state=0).fit(D)
    assert model.gap_ <= 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = ExemplarClustering(metric="precomputed", random_state=0).fit(D)
    assert search.lower_bound_ <= model.energy_ <= search.energy_ + 1e-12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_input_is_not_changed(dtype):
    D = np.random.default_rng(0).random((12, 12)).astype(dtype)
    before = D.copy()
    ExemplarClustering(metric="precomputed", tol=1.0, exact=True).fit(D)
    assert_array_equal(D, before)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["sqeuclidean", "precomputed"])
def test_is_a_scikit_learn_estimator(metric):
    model = ExemplarClustering(metric=metric, random_state=0, tol=1.0)
    for estimator, check in list(estimator_checks_generator(model)):
        if metric == "precomputed" and check.func.__name__ == "check_clustering":
            continue  # it passes points whatever the metric
        check(estimator)


GOOD = np.ones((3, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ExemplarClustering(max_iter=True).fit(GOOD),
            "max_iter must be an integer, at least 1",
        ),
        (lambda: ExemplarClustering(tol=-1).fit(GOOD), "tol must be"),
        (lambda: ExemplarClustering(penalty="mean").fit(GOOD), "penalty must be \"auto\".*'mean'"),
        (lambda: ExemplarClustering(penalty=[1.0]).fit(GOOD), "each of the 3 points"),
        (
            lambda: ExemplarClustering(metric="precomputed").fit(np.ones((2, 3))),
            r"square.*\(2, 3\)",
        ),
        (
            lambda: ExemplarClustering(metric=lambda x, z: np.nan).fit(np.eye(3)),
            "D must not hold NaN",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
