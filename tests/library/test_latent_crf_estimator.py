"""LatentExemplarMetric: what it finds, what does not matter, what it refuses."""

import sys
import warnings

import numpy as np
import pytest
from clustering_problems import energy, small_sets
from enumeration import all_assignments
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mlbook.exemplars import solve_exemplars
from mlbook.latent_crf import (
    LatentExemplarMetric,
    clustering_error,
    exemplars_of_partition,
)
from mlbook.partitions import f_measure, partition_loss


@pytest.fixture(scope="module")
def learned():
    points, partitions = small_sets(5, 60, n_features=20, n_clusters=4, center_std=3.0)
    metric = LatentExemplarMetric(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return metric.fit(points[:3], partitions[:3]), points, partitions


def test_noise_is_suppressed_and_new_data_clustered(learned):
    metric, points, partitions = learned
    assert metric.weights_[10:].max() < 0.01 * metric.weights_[:10].mean()
    for X, y in zip(points[3:], partitions[3:], strict=True):
        labels = metric.predict(X)
        assert len(np.unique(labels)) == 4 and f_measure(labels, y) == 1
        D = ((X[:, None] - X) ** 2).sum(axis=2)
        blind = solve_exemplars(D, np.median(D) * 3, random_state=0).exemplars
        assert len(blind) > 1 and f_measure(blind[D[:, blind].argmin(axis=1)], y) < 0.6


def test_fitted_attributes(learned):
    metric, points, partitions = learned
    pairs = [((X[:, None] - X) ** 2)[~np.eye(60, dtype=bool)] for X in points[:3]]
    assert_allclose(metric.scales_, np.concatenate(pairs).mean(axis=0))
    size = 180 / sum(len(np.unique(y)) for y in partitions[:3])
    assert any(np.isclose(metric.penalty_, share * size) for share in (0.2, 0.4, 0.8))
    assert any(np.isclose(metric.alpha_, share * 180) for share in (0.02, 0.05, 0.1, 0.2, 0.3))
    assert metric.n_features_in_ == 20 and metric.converged_ and metric.gap_ <= 0.05
    path = metric.objective_path_
    assert metric.n_iter_ == len(path) - 1 and metric.best_iter_ == path.argmin()
    assert metric.objective_ == path.min() >= metric.objective_bound_
    assert 0 <= metric.hinge_lower_bound_ <= metric.relaxed_loss_
    for X, y, found in zip(points, partitions, metric.exemplars_, strict=False):
        D = (((X[:, None] - X) ** 2) * metric.weights_).sum(axis=2)
        assert_allclose(metric.distances(X), D, atol=1e-12)
        assert_array_equal(found, exemplars_of_partition(D, y))


def regularized_hinge(w, sets, partitions, penalty, alpha, beta):
    """The hinge losses of all training sets, each over all clusterings of its points."""
    total = 0.0
    for X, y in zip(sets, partitions, strict=True):
        D = ((X[:, None] - X) ** 2) @ w
        every = list(all_assignments(len(X)))
        E = np.array([energy(D, x, penalty) for x in every])
        error = np.array([clustering_error(x, y, alpha, beta) for x in every])
        total += E[error == 0].min() - np.min(E - error)
    return total


@pytest.mark.equation("Komodakis 2011, Eqs. 13 and 22")
@pytest.mark.parametrize(
    "options",
    [
        {"exemplar_error": 0.5, "point_error": 9.0, "regularizer": "l2", "alpha": 3.0},
        {"exemplar_error": 2.0, "point_error": 0.7, "alpha": 0.2},
        {"exemplar_error": 0.7, "point_error": 1.3, "penalty": 1.7, "alpha": 0.2},
        {"exemplar_error": 0.7, "point_error": 1.3, "penalty": 1.7},
    ],
)
def test_it_minimizes_the_regularized_loss_over_all_training_sets(options):
    """Its loss by enumeration of all clusterings, and that of many other weights."""
    rng = np.random.default_rng(5)
    partitions = [np.array([0, 0, 0, 1, 1]), np.array([0, 1, 0, 1, 0])]
    sets = [rng.normal(size=(5, 3)) + np.outer(3.0 * y, [1, 0, 0]) for y in partitions]
    metric = LatentExemplarMetric(**options).fit(sets, partitions)
    alpha, beta, penalty = options["exemplar_error"], options["point_error"], metric.penalty_
    shares = [max(share * beta * 2.5, 2 * alpha) for share in (0.2, 0.4, 0.8)]
    assert penalty == options.get("penalty") or any(np.isclose(penalty, shares))
    squared, tau = options.get("regularizer") == "l2", metric.alpha_
    assert tau == options.get("alpha", tau) and metric.converged_
    assert "alpha" in options or any(np.isclose(tau / 10, (0.02, 0.05, 0.1, 0.2, 0.3)))
    assert metric.n_iter_ == len(metric.objective_path_) - 1
    with pytest.raises(ValueError, match=r"Xs\[1\]: X has 2 features"):
        LatentExemplarMetric(**options).fit([sets[0], sets[1][:, :2]], partitions)
    stacks = [np.ones((2, 5, 5)), np.ones((3, 5, 5))]
    with pytest.raises(ValueError, match=r"same number of features; got \[2, 3\]"):
        LatentExemplarMetric(features="precomputed", **options).fit(stacks, partitions)

    def hinge(w):
        return regularized_hinge(w, sets, partitions, penalty, alpha, beta)

    assert metric.hinge_lower_bound_ - 1e-9 <= hinge(metric.weights_) <= metric.relaxed_loss_ + 1e-9
    w = metric.weights_ / metric.stretch_
    v = w * metric.scales_
    J = v @ v / 2 if squared else v.sum()
    assert metric.objective_ >= tau * J + hinge(w) - 1e-9  # the relaxation is above
    for X, y, found in zip(sets, partitions, metric.exemplars_, strict=True):
        D = ((X[:, None] - X) ** 2) @ metric.weights_
        for c, q in enumerate(found):  # two points are equally good
            within = D[np.ix_(y == c, y == c)].sum(axis=0)
            assert y[q] == c
            assert_allclose(D[y == c, q].sum(), within.min())


@pytest.mark.slow
def test_a_learner_that_does_not_collapse():
    """Six weak views of six classes and three of noise, in a single set, twenty times.

    With the stop at a small change, and the length of the weights left to the regularizer, most
    training sets came out as one cluster.
    """
    counts, shares = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(6), 14)
        views = [np.outer(np.eye(6)[labels] @ rng.normal(size=6), np.ones(4)) * 0.8
                 + rng.normal(size=(84, 4)) for _ in range(6)]  # fmt: skip
        views += [rng.normal(size=(84, 4)) for _ in range(3)]
        stack = np.array([((V[:, None] - V) ** 2).sum(axis=2) for V in views])
        metric = LatentExemplarMetric(features="precomputed", random_state=0).fit([stack], [labels])
        assert metric.converged_
        counts.append(len(np.unique(metric.predict(stack))))
        v = metric.weights_ * metric.scales_
        shares.append(v[6:].sum() / v.sum())
    assert min(counts) > 1 and 4 <= np.median(counts) <= 9
    assert np.mean(shares) < 0.15


def test_precomputed_features_are_the_same_problem(learned):
    """At the first weights: what follows them may go other ways after other rounding."""
    metric, points, partitions = learned
    rubbish = np.diag(np.full(60, np.nan))
    stacks = [((X[:, None] - X) ** 2).transpose(2, 0, 1) + rubbish for X in points]
    first = clone(metric).set_params(penalty=metric.penalty_, alpha=metric.alpha_, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="after 1 steps"):
        first.fit(points[:3], partitions[:3])
    same = clone(first).set_params(features="precomputed")
    with pytest.warns(ConvergenceWarning, match="after 1 steps"):
        same.fit(stacks[:3], partitions[:3])
    assert_allclose(same.scales_, metric.scales_)
    assert_allclose(same.objective_path_[0], first.objective_path_[0])
    D = np.tensordot(same.weights_, stacks[3], 1)
    assert_allclose(same.distances(stacks[3]), np.nan_to_num(D))
    assert f_measure(same.predict(stacks[4]), first.predict(points[4])) == 1


@pytest.mark.equation("Komodakis 2011, Eq. 10")
def test_asymmetric_distances_of_both_signs():
    """A useful feature, seen from one side only, among others that are noise."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 8)
    stacks = []
    for _ in range(3):
        useful = np.where(labels[:, None] == labels, 0.2, 1.0) * rng.uniform(0.5, 1.5, (32, 32))
        noise = rng.normal(0.5, 1, (4, 32, 32))
        stacks.append(np.concatenate([useful[None], noise]))
    metric = LatentExemplarMetric(features="precomputed").fit(stacks[:2], [labels] * 2)
    learned = LatentExemplarMetric().fit([labels[:, None] / 3], [labels])
    far = learned.distances([[0.0], [2.0], [5.0]])
    assert_allclose(far, learned.weights_ * np.array([[0, 4, 25], [4, 0, 9], [25, 9, 0]]))
    shares = metric.weights_ * metric.scales_
    assert shares[1:].sum() < 0.1 * shares[0]
    assert partition_loss(metric.predict(stacks[2]), labels) == 0
    D = metric.distances(stacks[2])
    assert_allclose(D, np.tensordot(metric.weights_, stacks[2], 1) * (1 - np.eye(32)))
    assert not np.allclose(D, D.T)


def test_units_and_origin_do_not_matter(learned):
    metric, points, partitions = learned
    units = np.geomspace(1e-3, 1e3, 20)
    other = clone(metric).fit([(X + 5) * units for X in points[:3]], partitions[:3])
    # Rounding decides between steps, so that the weights need not be the same to many digits.
    assert (other.penalty_, other.alpha_) == (metric.penalty_, metric.alpha_)
    possible = metric.objective_bound_ + (metric.objective_ - metric.objective_bound_) / metric.gap_
    assert abs(other.objective_ - metric.objective_) <= 0.06 * possible
    assert_array_equal(other.predict((points[3] + 5) * units), metric.predict(points[3]))


@pytest.mark.slow
def test_variants(learned):
    metric, points, partitions = learned
    setting = {"penalty": metric.penalty_, "alpha": metric.alpha_}
    same = clone(metric).set_params(**setting).fit(points[:3], partitions[:3])
    assert_array_equal(same.weights_, metric.weights_)  # what is chosen can be given
    threads = clone(same).set_params(n_jobs=2).fit(points[:3], partitions[:3])
    assert_array_equal(threads.objective_path_, same.objective_path_)
    finer = clone(same).set_params(tol=0.01).fit(points[:3], partitions[:3])
    assert finer.objective_ <= same.objective_ and finer.gap_ <= 0.01
    ridge = clone(metric).set_params(regularizer="l2").fit(points[:3], partitions[:3])
    assert ridge.converged_ and f_measure(ridge.predict(points[4]), partitions[4]) == 1
    clean, noise = np.split(ridge.weights_ * ridge.scales_, 2)
    assert noise.sum() < 0.2 * clean.sum()


def test_float32_is_kept(learned):
    metric, points, partitions = learned
    X = points[4].astype(np.float32)
    assert metric.distances(X).dtype == np.float32
    assert_allclose(metric.distances(X), metric.distances(points[4]), rtol=1e-3, atol=1e-3)
    setting = {"penalty": metric.penalty_, "alpha": metric.alpha_}
    single = (
        clone(metric)
        .set_params(**setting)
        .fit([Z.astype(np.float32) for Z in points[:3]], partitions[:3])
    )
    assert single.converged_ and single.weights_.dtype == np.float64
    assert f_measure(single.predict(X), partitions[4]) == 1


def test_progress_is_shown_if_wanted(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    points, partitions = small_sets()
    with pytest.warns(ConvergenceWarning):
        LatentExemplarMetric(max_iter=2, tol=1e-9, verbose=True).fit(points, partitions)
    shown = capsys.readouterr().err
    assert "choices: 1 of 8, penalty 0.4 of the mean size" in shown
    assert "steps: 3 of 3, objective" in shown


def test_warnings():
    points, partitions = small_sets()
    with pytest.warns(UserWarning, match="penalty=0.5 is not above exemplar_error=1"):
        LatentExemplarMetric(penalty=0.5).fit(points, partitions)
    with pytest.warns(UserWarning, match="all weights are zero.*lower alpha=1000"):
        metric = LatentExemplarMetric(alpha=1000).fit(points, partitions)
    assert_array_equal(metric.predict(points[0]), 0)
    with (
        pytest.warns(UserWarning, match="every training set is a single cluster"),
        pytest.warns(UserWarning, match="all weights are zero"),
    ):
        LatentExemplarMetric(alpha=1.0).fit(points, [np.zeros(15, dtype=int)] * 3)
    with pytest.warns(ConvergenceWarning, match="after 1 steps the gap is .* above tol=1e-09"):
        LatentExemplarMetric(max_iter=1, tol=1e-9).fit(points, partitions)
    noise = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(ConvergenceWarning, match="a single cluster of each training set"):
        LatentExemplarMetric(penalty=300.0, alpha=1.0).fit([noise], [np.arange(40) % 4])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exemplar_error": 0}, "exemplar_error must be a finite number, greater than 0, .* got 0"),
        ({"point_error": -1.0}, "point_error must be"),
        ({"penalty": "median"}, 'penalty must be "auto" or a number'),
        ({"penalty": 0.0}, "penalty must be"),
        ({"penalty": np.nan}, "penalty must be"),
        ({"alpha": -0.1}, "alpha must be a finite number, at least 0"),
        ({"alpha": "none"}, 'alpha must be "auto" or a number'),
        ({"regularizer": "l0"}, "regularizer must be one of"),
        ({"features": "cosine"}, "features must be one of .*squared_differences"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": -1}, "tol must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        LatentExemplarMetric(**options).fit(*small_sets())


def with_entry(value, where):
    D = np.ones((2, 4, 4))
    D[where] = value
    return D


X4, Y4 = np.arange(8.0).reshape(4, 2) ** 2, [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("features", "datasets", "partitions", "message"),
    [
        ("squared_differences", [], [], "Xs and ys must be lists .* got 0 and 0"),
        ("squared_differences", [X4], [Y4, Y4], "got 1 and 2"),
        ("squared_differences", [X4], [[0, 1, 1]], "training set 0: labels must hold one label"),
        ("squared_differences", [X4], [[0, 1, 1, -1]], r"ys\[0\] must be non-negative"),
        ("squared_differences", [X4], [[0.5, 1, 1, 0]], r"ys\[0\] must hold integers"),
        ("squared_differences", [X4, X4[:, :1]], [Y4, Y4], r"Xs\[1\]: X has 1 features"),
        ("squared_differences", [X4 * [1, 0]], [Y4], r"features \[1\] are zero for all pairs"),
        ("squared_differences", [X4 * np.nan], [Y4], r"Input Xs\[0\] contains NaN"),
        ("squared_differences", [X4[:0]], [Y4], "minimum of 1 is required"),
        ("squared_differences", [X4[[0, 0]]], [[0, 1]], "are zero for all pairs"),
        ("precomputed", [np.ones((4, 4))], [Y4], r"shape \(n_features, n, n\).*got \(4, 4\)"),
        ("precomputed", [np.ones((2, 4, 3))], [Y4], r"got \(2, 4, 3\)"),
        ("precomputed", [np.ones((2, 0, 0))], [Y4], r"got \(2, 0, 0\)"),
        ("precomputed", [[np.ones((4, 4)), np.ones((3, 3))]], [Y4], "must have one shape"),
        ("precomputed", [with_entry(np.nan, (1, 2, 0))], [Y4], r"nan in matrix 1 at \[2, 0\]"),
        ("precomputed", [with_entry(np.inf, (0, 0, 3))], [Y4], r"inf in matrix 0 at \[0, 3\]"),
        ("precomputed", [with_entry(0, 1)], [Y4], r"features \[1\] are zero for all pairs"),
    ],
)
def test_bad_data(features, datasets, partitions, message):
    with pytest.raises(ValueError, match=message):
        LatentExemplarMetric(features=features).fit(datasets, partitions)


def test_bad_arrays(learned):
    metric, points, _ = learned
    with pytest.raises(ValueError, match="X has 3 features, but"):
        metric.predict(points[0][:, :3])
    with pytest.raises(NotFittedError):
        LatentExemplarMetric().distances(points[0])
