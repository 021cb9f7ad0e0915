"""Shrinkage: the scatter formula, the pseudo-rows, and the ways rows can come."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from mlbook.datasets import load_letters
from mlbook.mlca import MLCA
from mlbook.mlca.least_squares import Digest
from mlbook.mlca.shrinkage import shrink

SHAPES = [(60, 5, 4), (6, 9, 3), (9, 9, 3), (10, 9, 3)]


def rows(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    units = rng.uniform(0.1, 9, d)
    return units * (rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))) + 3, y


def scatters(X, y):
    means = [X[y == c].mean(axis=0) for c in np.unique(y)]
    between = sum(np.sum(y == c) * np.outer(z, z) for c, z in zip(np.unique(y), means, strict=True))
    return X.T @ X, between


def shrunk(S, a):
    d = len(S)
    return (1 - a) * S + a * np.trace(S) / d * np.eye(d)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("a", [0.1, 0.5, 0.9, 1.0])
def test_the_metric_is_that_of_the_shrunk_scatters(shape, a, intercept):
    X, y = rows(*shape)
    model = MLCA(shrinkage=a, fit_intercept=intercept).fit(X, y)
    total, between = scatters(X - X.mean(axis=0) if intercept else X, y)
    inverse = np.linalg.inv(shrunk(total, a))
    expected = inverse @ shrunk(between, a) @ inverse
    assert_allclose(model.get_mahalanobis_matrix(), expected, atol=1e-11 * abs(expected).max())
    assert model.components_.shape == (shape[1], shape[1])
    assert model.shrinkage_ == a


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("a", [0.1, 0.5, 1.0])
def test_it_is_theorem_3_2_on_rows_and_pseudo_rows(shape, a):
    X, y = rows(*shape)
    Z = X - X.mean(axis=0)
    (d, k), (total, between) = shape[1:], scatters(Z, y)
    t, b = np.trace(total) / d, np.trace(between) / d
    single, double = np.sqrt(a * b) * np.eye(d), np.sqrt(a * (t - b) / 2) * np.eye(d)
    pseudo = np.vstack([np.sqrt(1 - a) * Z, single, double, -double])
    labels = np.r_[y, k + np.arange(d), np.tile(k + d + np.arange(d), 2)]
    plain = MLCA().fit(pseudo, labels).get_mahalanobis_matrix()
    found = MLCA(shrinkage=a, fit_intercept=True).fit(X, y).get_mahalanobis_matrix()
    assert_allclose(found, plain, atol=1e-11 * abs(plain).max())


def test_the_ends_of_the_range():
    X, y = rows(60, 5, 4)
    plain = MLCA(fit_intercept=True).fit(X, y).get_mahalanobis_matrix()
    near = MLCA(fit_intercept=True, shrinkage=1e-12).fit(X, y).get_mahalanobis_matrix()
    assert_allclose(near, plain, rtol=1e-6)
    full = MLCA(fit_intercept=True, shrinkage=1).fit(X, y).get_mahalanobis_matrix()
    assert_allclose(full / full[0, 0], np.eye(5), atol=1e-12)


@pytest.mark.equation("Law 2016, Eqs. 15-17 and 21")
def test_fewer_components_are_the_leading_ones():
    X, y = rows(60, 5, 4)
    full = MLCA(shrinkage=0.3, fit_intercept=True).fit(X, y)
    for r in (1, 2, 4):
        few = MLCA(shrinkage=0.3, fit_intercept=True, n_components=r).fit(X, y)
        assert_allclose(few.components_, full.components_[:r])
        assert_allclose(few.intercept_, full.intercept_[:r])
    with pytest.raises(ValueError, match="n_components must be an integer, from 1 to 5; got 6"):
        MLCA(shrinkage=0.3, n_components=6, fit_intercept=True).fit(X, y)


@pytest.mark.equation("Law 2016, Eqs. 15-17 and 21")
def test_images_of_the_training_rows_have_mean_zero():
    X, y = rows(60, 5, 4)
    images = MLCA(shrinkage=0.3, fit_intercept=True).fit_transform(X, y)
    assert_allclose(images.mean(axis=0), 0, atol=1e-14)


def test_chunks_merged_models_and_precision():
    X, y = rows(200, 6, 4)
    whole = MLCA(shrinkage=0.4, fit_intercept=True).fit(X, y)
    stream = MLCA(shrinkage=0.4, fit_intercept=True)
    for i in range(0, 200, 30):
        stream.partial_fit(X[i : i + 30], y[i : i + 30])
    half = MLCA(shrinkage=0.4, fit_intercept=True).fit(X[:90], y[:90])
    half.merge(MLCA(shrinkage=0.4, fit_intercept=True).fit(X[90:], y[90:]))
    single = MLCA(shrinkage=0.4, fit_intercept=True).fit(X.astype(np.float32), y)
    expected = whole.get_mahalanobis_matrix()
    for model in (stream, half):
        found = model.get_mahalanobis_matrix()
        assert_allclose(found, expected, atol=1e-12 * abs(expected).max())
    assert single.components_.dtype == np.float32
    assert_allclose(single.get_mahalanobis_matrix(), expected, atol=1e-5 * abs(expected).max())


def test_an_origin_far_away_does_not_matter_with_an_intercept():
    X, y = rows(100, 4, 3)
    near = MLCA(shrinkage=0.5, fit_intercept=True).fit(X, y).get_mahalanobis_matrix()
    far = MLCA(shrinkage=0.5, fit_intercept=True).fit(X + 1e7, y).get_mahalanobis_matrix()
    assert_allclose(far, near, rtol=1e-6, atol=1e-6 * abs(near).max())


@pytest.mark.parametrize("wrong", [-0.1, 1.1, np.nan, "half", None, [0.5], True])
def test_what_shrinkage_may_be(wrong):
    X, y = rows(60, 5, 4)
    with pytest.raises(ValueError, match="shrinkage must be"):
        MLCA(shrinkage=wrong).fit(X, y)


def test_squares_that_overflow_are_refused():
    with pytest.raises(ValueError, match="overflows double precision"):
        shrink(Digest(np.diag([1e200, 1.0]), np.eye(2)), 0.5)


def unseen_classes(X, y, n_train, n_test, seed):
    """Draw classes to learn from and others to find, at most 100 and 80 rows of each."""
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(np.unique(y))

    def take(classes, most):
        return np.concatenate([rng.permutation(np.flatnonzero(y == c))[:most] for c in classes])

    train = take(drawn[:n_train], 100)
    test = take(drawn[n_train : n_train + n_test], 80)
    return X[train], y[train], X[test], y[test]


def found_by_kmeans(Z, truth):
    found = KMeans(len(np.unique(truth)), n_init=10, random_state=0).fit_predict(Z)
    return adjusted_rand_score(truth, found)


@pytest.mark.parametrize(
    ("load", "n_train", "n_test", "draws", "gain", "wins"),
    [
        (load_letters, 18, 5, 20, 0.12, 0.9),
        (lambda: load_digits(return_X_y=True), 6, 4, 50, 0.02, 0.6),
    ],
    ids=["letters", "digits"],
)
def test_classes_never_seen_are_found_better(load, n_train, n_test, draws, gain, wins):
    """Against the better of k-means on raw and on standardized rows."""
    X, y = load()
    scores = []
    for seed in range(draws):
        train, labels, test, truth = unseen_classes(X, y, n_train, n_test, seed)
        model = MLCA(shrinkage=0.7, fit_intercept=True).fit(train, labels)
        standard = StandardScaler().fit(train)
        views = (test, standard.transform(test), model.transform(test))
        scores.append([found_by_kmeans(view, truth) for view in views])
    raw, standardized, learned = np.transpose(scores)
    best = max(raw, standardized, key=np.mean)
    assert np.mean(learned - best) >= gain
    assert np.mean(learned > best) >= wins
