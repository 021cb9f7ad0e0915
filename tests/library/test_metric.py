"""One interface for all metric learners: the map, the metric, names, scores, cross-validation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from threadpoolctl import threadpool_limits

from mlbook import (
    KISSME,
    MIMLCA,
    MLCA,
    RCA,
    Bags,
    BinaryMLCA,
    LargeMarginMetric,
    LatentExemplarMetric,
    LDAMetric,
    NormalizedCutMetric,
)
from mlbook._metric import check_lists, is_list_of_sets, mean_loss
from mlbook.bags import average_precision
from mlbook.partitions import partition_loss

NAMES = list("abc")
ROWS = [MLCA(fit_intercept=True, random_state=0), RCA(random_state=0), KISSME(random_state=0)]
ROWS += [LDAMetric(random_state=0)]
SETS = [
    LargeMarginMetric(),
    LargeMarginMetric(n_clusters="known", structure="spectral", random_state=0),
    LatentExemplarMetric(random_state=0),
    NormalizedCutMetric(n_clusters=3, scales=[4.0], max_iter=60, random_state=0),
]
each_rows = pytest.mark.parametrize("model", ROWS, ids=lambda m: type(m).__name__)
each_sets = pytest.mark.parametrize("model", SETS, ids=lambda m: type(m).__name__)


def rows(seed=0, k=3, n=60):
    rng = np.random.default_rng(seed)
    y = np.sort(np.arange(n) % k)
    return np.c_[6.0 * y, -4.0 * y, 0 * y] + rng.normal(size=(n, 3)), y


def sets(n_sets=4):
    return [list(part) for part in zip(*(rows(seed) for seed in range(n_sets)), strict=True)]


def bags(n=30):
    X, y = rows(n=2 * n)
    order = np.random.default_rng(1).permutation(2 * n)
    Y = np.zeros((n, 3), dtype=int)
    for i, j in enumerate(y[order]):
        Y[i // 2, j] = 1
    return Bags(X[order], np.arange(0, 2 * n + 1, 2)), Y


def fitted(model):
    if isinstance(model, MIMLCA):
        return clone(model).fit(*bags()), rows()[0]
    if any(type(model) is type(other) for other in SETS):
        return clone(model).fit(*sets()), rows()[0]
    X, y = rows(k=2 if isinstance(model, BinaryMLCA) else 3)
    return clone(model).fit(X, y), X


EVERY = [*ROWS, *SETS, BinaryMLCA(fit_intercept=True), MIMLCA()]


@pytest.mark.parametrize("model", EVERY, ids=lambda m: type(m).__name__)
def test_the_map_and_the_metric(model):
    model, X = fitted(model)
    images = model.transform(X)
    m, d = model.components_.shape
    assert d == model.n_features_in_ == 3
    assert images.shape == (len(X), m)
    M = model.get_mahalanobis_matrix()
    differences = X[:5] - X[5:10]
    assert_allclose(
        np.sum((images[:5] - images[5:10]) ** 2, axis=1),
        np.einsum("ij,jk,ik->i", differences, M, differences),
        atol=1e-9,
    )
    with pytest.raises(NotFittedError):
        clone(model).transform(X)
    with pytest.raises(NotFittedError):
        clone(model).get_mahalanobis_matrix()
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :2])


@pytest.mark.parametrize("model", EVERY, ids=lambda m: type(m).__name__)
def test_frames_out_and_names(model):
    pytest.importorskip("pandas")
    model, X = fitted(model)
    frame = model.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()
    assert frame.shape[1] == model.components_.shape[0]


@pytest.mark.parametrize("model", EVERY, ids=lambda m: type(m).__name__)
def test_one_thread_or_two_give_the_same_metric(model):
    metrics = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            metrics.append(fitted(model)[0].get_mahalanobis_matrix())
    assert_allclose(*metrics, rtol=1e-9, atol=1e-12 * np.abs(metrics[0]).max())


@pytest.mark.filterwarnings("ignore:the gap is")
def test_a_full_metric_does_not_depend_on_the_order_in_memory_or_on_threads():
    """Once the last digits of a product decided where the search went: M differed by 5%."""
    Xs, ys = sets(2)
    model = LargeMarginMetric(structure="spectral", metric="full", max_iter=20, random_state=0)
    found = []
    for threads in (1, 2):
        for order in ("C", "F"):
            with threadpool_limits(threads, user_api="blas"):
                copies = [np.array(X, order=order) for X in Xs]
                fit = clone(model).fit(copies, ys)
            found.append([*fit.get_mahalanobis_matrix().ravel(), fit.penalty_])
    assert_allclose(found, np.tile(found[0], (4, 1)), rtol=1e-9)


@each_sets
def test_sets_in_frames_are_read_by_their_columns(model):
    pd = pytest.importorskip("pandas")
    Xs, ys = sets()
    frames = [pd.DataFrame(X, columns=NAMES) for X in Xs]
    plain, named = clone(model).fit(Xs, ys), clone(model).fit(frames, ys)
    assert_array_equal(named.feature_names_in_, NAMES)
    assert_array_equal(named.components_, plain.components_)
    if model.get_params().get("n_clusters") != "known":
        assert_array_equal(named.predict(frames[0]), plain.predict(Xs[0]))
    with pytest.raises(ValueError, match="feature names"):
        named.transform(frames[0][NAMES[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frames[0][NAMES[::-1]])
    with pytest.raises(ValueError, match=r"Xs\[1\].*feature names"):
        clone(model).fit([frames[0], frames[1][NAMES[::-1]]], ys[:2])


def test_bags_in_frames_are_read_by_their_columns():
    pd = pytest.importorskip("pandas")
    given, Y = bags()
    frames = [pd.DataFrame(bag, columns=NAMES) for bag in given]
    named, plain = MIMLCA().fit(frames, Y), MIMLCA().fit(given, Y)
    assert_array_equal(named.feature_names_in_, NAMES)
    assert_allclose(named.components_, plain.components_)
    assert named.score(frames, Y) == plain.score(given, Y)
    with pytest.raises(ValueError, match="the same columns in the same order"):
        MIMLCA().fit([frames[0], *(frame[NAMES[::-1]] for frame in frames[1:])], Y)
    turned = [frame[NAMES[::-1]] for frame in frames]
    with pytest.raises(ValueError, match="as features"):
        named.score(turned, Y)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(turned[0])
    assert not hasattr(named.fit(given, Y), "feature_names_in_")


@each_sets
def test_the_score_of_sets_is_minus_the_mean_loss(model):
    Xs, ys = sets()
    model = clone(model).fit(Xs, ys)
    known = {"n_clusters": 3} if model.get_params().get("n_clusters") == "known" else {}
    found = [model.predict(X, **known) for X in Xs]
    losses = [partition_loss(a, b) for a, b in zip(found, ys, strict=True)]
    assert model.score(Xs, ys) == pytest.approx(-np.mean(losses))
    hidden = [np.where(np.arange(60) < 5, -1, y) for y in ys]
    losses = [partition_loss(a[5:], b[5:]) for a, b in zip(found, ys, strict=True)]
    assert model.score(Xs, hidden) == pytest.approx(-np.mean(losses))


@each_sets
def test_cross_validation_over_sets(model):
    Xs, ys = sets()
    scores = cross_val_score(model, Xs, ys, cv=KFold(2))
    assert scores.shape == (2,)
    assert np.all(scores <= 0)
    assert not hasattr(model, "fit_transform")


def test_a_search_over_sequences_and_one_over_bags():
    Xs, ys = sets()
    search = GridSearchCV(LargeMarginMetric(), {"min_length": [1, 20]}, cv=KFold(2)).fit(Xs, ys)
    found = search.cv_results_["mean_test_score"]
    assert search.best_score_ == max(found) == found[search.best_index_] <= 0
    given, Y = bags()
    search = GridSearchCV(MIMLCA(), {"rank": [1, 2, 3]}, cv=KFold(3)).fit(given, Y)
    found = search.cv_results_["mean_test_score"]
    assert search.best_score_ == max(found) > 0.9


def test_the_score_of_bags_is_the_average_precision_of_nearest_instances():
    given, Y = bags()
    model = MIMLCA().fit(given, Y)
    distances = np.array(
        [
            [min(np.sum((model.components_ @ (x - z)) ** 2) for x in bag) for z in model.centroids_]
            for bag in given
        ]
    )
    assert model.score(given, Y) == pytest.approx(average_precision(Y, -distances))


def test_one_sequence_or_many():
    Xs, ys = sets()
    model = LargeMarginMetric().fit(Xs, ys)
    many = model.predict(Xs)
    assert isinstance(many, list)
    for X, found in zip(Xs, many, strict=True):
        assert_array_equal(model.predict(X), found)
        assert_array_equal(model.predict(X.tolist()), found)
    known = LargeMarginMetric(n_clusters="known").fit(Xs, ys)
    assert [len(set(found)) for found in known.predict(Xs, [2, 3, 4, 5])] == [2, 3, 4, 5]
    assert [len(set(found)) for found in known.predict(Xs, 2)] == [2, 2, 2, 2]
    with pytest.raises(ValueError, match="a number for each of 4 sequences; got 2"):
        known.predict(Xs, [2, 3])


def test_the_certified_gap_on_request():
    Xs, ys = sets()
    model = LatentExemplarMetric(random_state=0).fit(Xs, ys)
    labels, gap = model.predict(Xs[0], return_gap=True)
    assert_array_equal(labels, model.predict(Xs[0]))
    assert 0 <= gap < 0.01


def test_distances_that_no_map_has():
    Xs, ys = sets()
    stacks = [abs(X.T[:, :, None] - X.T[:, None]) for X in Xs]
    given = LatentExemplarMetric(features="precomputed", random_state=0).fit(stacks, ys)
    for use in (lambda: given.components_, lambda: given.transform(Xs[0])):
        with pytest.raises(AttributeError, match="no map"):
            use()
    model = LatentExemplarMetric(random_state=0).fit(Xs, ys)
    model.weights_[0] = -1.0
    with pytest.raises(AttributeError, match="negative"):
        model.components_  # noqa: B018


def test_lists_of_sets():
    assert is_list_of_sets([np.eye(2), np.eye(3)])
    assert is_list_of_sets([[[1.0, 2.0]], [[3.0, 4.0]]])
    assert not is_list_of_sets([[1.0, 2.0], [3.0, 4.0]])
    assert not is_list_of_sets(np.zeros((2, 3, 4)))
    assert not is_list_of_sets([])
    for Xs, ys, message in [
        (np.eye(3), [[0, 1, 1]], "Xs must be a list"),
        ([np.eye(3)], "abc", "ys must be a list"),
        (3, [[0]], "Xs must be a list"),
        ([np.eye(3)], [], "got 1 and 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            check_lists(Xs, ys)
    with pytest.raises(ValueError, match="all are unknown"):
        mean_loss([np.array([0, 1])], [[-1, -1]])
