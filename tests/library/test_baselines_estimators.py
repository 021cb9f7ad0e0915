"""RCA, KISSME and LDAMetric: the functions as estimators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from mlbook.baselines import KISSME, RCA, LDAMetric, kissme, lda, rca
from mlbook.partitions import partition_loss

PAIRS = [(RCA, rca), (KISSME, kissme), (LDAMetric, lda)]
each = pytest.mark.parametrize(("Metric", "learn"), PAIRS)


def rows(seed=0, k=6, d=4):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), 20)
    return 3 * rng.normal(size=(k, d))[y] + rng.normal(size=(20 * k, d)), y


@each
def test_the_estimator_is_the_function(Metric, learn):
    X, y = rows()
    model = Metric(random_state=0).fit(X, np.array(list("abcdef"))[y])
    assert_allclose(model.components_, learn(X, y))
    assert_allclose(model.transform(X), X @ model.components_.T)
    assert_allclose(model.get_mahalanobis_matrix(), model.components_.T @ model.components_)
    assert model.classes_.tolist() == list("abcdef")
    assert model.fit(X.astype(np.float32), y).components_.dtype == np.float32


@each
def test_clusters_and_score(Metric, learn):
    X, y = rows()
    model = Metric(random_state=0).fit(X, y)
    assert len(set(model.cluster(X))) == 6
    assert len(set(model.cluster(X, 3))) == 3
    assert model.score(X, y) == -partition_loss(model.cluster(X), y)
    part = y < 2
    assert model.score(X[part], y[part]) == -partition_loss(model.cluster(X[part], 2), y[part])
    scores = cross_val_score(
        make_pipeline(StandardScaler(), model), X, y, cv=GroupKFold(3), groups=y
    )
    assert np.all(scores <= 0)


@each
def test_minus_one_is_a_class_only_beside_plus_one(Metric, learn):
    X, y = rows(k=2)
    signs = Metric(random_state=0).fit(X, 2 * y - 1)
    assert_allclose(signs.components_, learn(X, y))
    assert signs.score(X, 2 * y - 1) == signs.score(X, y)
    with pytest.raises(ValueError, match=r"y: -1 means unlabelled, and the classes are \[-1  0\]"):
        Metric().fit(X, y - 1)
    with pytest.raises(ValueError, match="y: -1 means unlabelled"):
        signs.score(X, y - 1)


def test_equal_means_give_no_discriminant():
    X = [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]
    with pytest.raises(ValueError, match="lda finds no metric"):
        LDAMetric().fit(X, [0, 0, 1, 1])


@each
def test_frames_by_their_columns(Metric, learn):
    pd = pytest.importorskip("pandas")
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = Metric().set_output(transform="pandas").fit(frame, y)
    images = model.transform(frame)
    assert images.columns.tolist() == model.get_feature_names_out().tolist()
    assert_array_equal(model.feature_names_in_, list("abcd"))
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[list("dcba")])


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{type(model).__name__}-{check.func.__name__}")
        for Metric, _ in PAIRS
        for model, check in estimator_checks_generator(Metric())
    ],
)
def test_scikit_learns_own_checks(model, check):
    check(model)
