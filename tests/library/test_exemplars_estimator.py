"""ExemplarClustering against the functions below it, affinity propagation and scikit-learn."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import AffinityPropagation
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import estimator_checks_generator

from mlbook.exemplars import (
    ExemplarClustering,
    estimator,
    exemplar_energy,
    exemplar_labels,
    exemplar_path,
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
    D = pairwise_distances(X, metric="sqeuclidean")
    model = ExemplarClustering(penalty=np.median(D), random_state=seed).fit(X)
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


# The automatic penalty


def test_automatic_penalty_is_the_middle_of_the_longest_plateau():
    X = scale(load_wine().data)
    model = ExemplarClustering(random_state=0).fit(X)
    path = exemplar_path(pairwise_distances(X, metric="sqeuclidean"), random_state=0)
    assert_array_equal(model.penalty_path_.counts, path.counts)
    assert model.penalty_ == path.longest.price
    assert len(model.exemplar_indices_) == path.longest.count == 3
    assert_array_equal(model.labels_, path.labels(3))
    same = ExemplarClustering(random_state=0, penalty=model.penalty_).fit(X)
    assert_array_equal(same.labels_, model.labels_)
    assert same.penalty_path_ is None


def test_automatic_penalty_of_many_rows_comes_from_a_sample(monkeypatch):
    X, y = make_blobs(240, centers=4, cluster_std=0.5, random_state=3)
    monkeypatch.setattr(estimator, "PATH_ROWS", 60)
    model = ExemplarClustering(random_state=0).fit(X)
    plateau = model.penalty_path_.longest
    assert partition_loss(model.labels_, y) == 0
    assert len(model.penalty_path_.labels(4)) == 60
    assert_allclose(model.penalty_, 4 * plateau.price)
    whole = exemplar_path(pairwise_distances(X, metric="sqeuclidean"), random_state=0).longest
    assert whole.low < model.penalty_ < whole.high
    again = ExemplarClustering(random_state=0).fit(X)
    assert again.penalty_ == model.penalty_


def test_another_number_than_the_plateaus_is_said(monkeypatch):
    """Two of ten points make two clusters; all ten are three."""
    monkeypatch.setattr(estimator, "PATH_ROWS", 5)
    X = np.repeat([0.0, 100.0, 103.0], [6, 2, 2])[:, None] + np.linspace(0, 0.1, 10)[:, None]
    seed = next(
        s for s in range(50) if not set(np.random.RandomState(s).choice(10, 5, False)) & {6, 7}
    )
    with pytest.warns(UserWarning, match="2 clusters, in a path of 5 rows; in its middle, 10 rows"):
        ExemplarClustering(random_state=seed).fit(X)


def test_digits_leave_the_number_open_and_that_is_said():
    X = load_digits().data[:300]
    with pytest.warns(
        UserWarning, match=r"number of clusters open.*factor of 1\.\d\d.*penalty_path"
    ):
        model = ExemplarClustering(random_state=0).fit(X)
    assert 2 <= len(model.exemplar_indices_) <= 18
    assert len(model.exemplar_indices_) == model.penalty_path_.longest.count


def test_without_a_plateau_the_penalty_is_the_median_distance():
    kind = {"metric": "precomputed", "random_state": 0, "tol": 1.0}
    D = np.random.default_rng(0).random((9, 9)) - 0.01
    with pytest.warns(UserWarning, match="negative distances.*median distance"):
        model = ExemplarClustering(**kind).fit(D)
    assert model.penalty_ == np.median(D[~np.eye(9, dtype=bool)])
    assert model.penalty_path_ is None
    with pytest.warns(UserWarning) as caught:
        model = ExemplarClustering(**kind).fit(np.ones((4, 4)))
    assert "no plateau: no penalty gives a few clusters" in str(caught[0].message)
    assert "no common penalty is sure" in str(caught[1].message)
    assert model.penalty_ == 1 and len(model.penalty_path_.counts) == 1
    assert ExemplarClustering().fit([[5.0, 1.0]]).penalty_ == 0
    assert ExemplarClustering().fit([[5.0], [1.0]]).penalty_ == 16


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
        model = ExemplarClustering(penalty=0.5, metric="precomputed", random_state=0).fit(D)
    assert model.gap_ > 0.01
    loose = ExemplarClustering(penalty=0.5, metric="precomputed", random_state=0, tol=1.0).fit(D)
    assert loose.gap_ == model.gap_
    X = np.random.default_rng(0).random((80, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        ExemplarClustering(penalty=0.3, max_iter=3, random_state=0).fit(X)
    assert ExemplarClustering(penalty=0.3, random_state=0).fit(X).gap_ < 0.01


def test_exact_estimator_proves_its_optimum():
    D = np.random.default_rng(0).random((25, 25))
    kind = {"penalty": 0.5, "metric": "precomputed", "random_state": 0}
    model = ExemplarClustering(exact=True, **kind).fit(D)
    assert model.gap_ <= 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = ExemplarClustering(**kind).fit(D)
    assert search.lower_bound_ <= model.energy_ <= search.energy_ + 1e-12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_input_is_not_changed(dtype):
    D = np.random.default_rng(0).random((12, 12)).astype(dtype)
    before = D.copy()
    ExemplarClustering(penalty=0.4, metric="precomputed", tol=1.0, exact=True).fit(D)
    assert_array_equal(D, before)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:penalty=.auto. (leaves|found):UserWarning")
@pytest.mark.parametrize("metric", ["sqeuclidean", "precomputed"])
def test_is_a_scikit_learn_estimator(metric):
    model = ExemplarClustering(metric=metric, random_state=0, tol=1.0)
    for one, check in list(estimator_checks_generator(model)):
        if metric == "precomputed" and check.func.__name__ == "check_clustering":
            continue  # it passes points whatever the metric
        check(one)


GOOD = np.ones((3, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ExemplarClustering(penalty=1.0, max_iter=True).fit(GOOD),
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
