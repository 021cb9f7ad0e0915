"""The learned metric against its definition; what it ignores and refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mlbook.ncuts import (
    NormalizedCutMetric,
    estimator,
    gaussian_affinity,
    grid_edges,
    normalized_cut,
    spectral_hinge,
    squared_differences,
)
from mlbook.partitions import partition_loss


def picture(rng, height=8, width=10):
    """Two halves that differ in the first of three features; the others are noise."""
    y = np.zeros((height, width), dtype=int)
    y[:, rng.integers(3, width - 3) :] = 1
    noise = rng.normal(size=(height, width, 3))
    return noise * [0.25, 1, 1] + y[:, :, None] * [1, 0, 0], y


@pytest.mark.slow
def test_learns_which_feature_matters():
    rng = np.random.default_rng(12)
    pictures = [picture(rng) for _ in range(6)]
    model = NormalizedCutMetric(radius=2.5, scales=[1.0, 4.0], random_state=0)
    assert model.fit([X for X, _ in pictures[:3]], [y for _, y in pictures[:3]]) is model
    assert model.weights_[0] * 0.5 > 10 * max(model.weights_[1:])
    assert model.scale_ in (1.0, 4.0)
    assert model.scale_losses_.shape == (2,)
    assert model.n_features_in_ == 3
    assert_allclose(model.get_mahalanobis_matrix(), np.diag(model.weights_))
    assert np.all(np.diff(model.objective_path_) <= 0)
    assert model.n_iter_ == len(model.objective_path_) - 1 >= 2
    assert model.objective_path_[-1] < 0.95 * model.objective_path_[0]
    edges = grid_edges(8, 10, 2.5)
    learned, equal = [], []
    for X, y in pictures[3:]:
        found = model.predict(X)
        assert found.shape == y.shape
        learned.append(partition_loss(found.ravel(), y.ravel()))
        W = gaussian_affinity(X.reshape(-1, 3), edges, np.full(3, model.weights_.mean()))
        equal.append(partition_loss(normalized_cut(W, 2, random_state=0), y.ravel()))
    assert np.mean(learned) < 0.3
    assert np.mean(learned) < np.mean(equal) / 2


def test_weights_keep_the_scale_and_the_path_is_the_mean_hinge():
    rng = np.random.default_rng(13)
    data = [picture(rng, 5, 9) for _ in range(2)]
    X, y = [x for x, _ in data], [y for _, y in data]
    model = NormalizedCutMetric(scales=[3.0], radius=2, max_iter=4, random_state=0)
    with pytest.warns(ConvergenceWarning, match="in the last of max_iter=4 majorizations"):
        model.fit(X, y)
    edges = grid_edges(5, 9, 2)
    q = [squared_differences(x.reshape(-1, 3), edges) for x in X]
    spread = np.mean(q, axis=(0, 1))
    assert_allclose(model.weights_ @ spread, 3.0, rtol=1e-12)
    for b, objective in [(1 / spread, 0), (model.weights_, -1)]:
        hinges = [
            spectral_hinge(b, d, edges, part.ravel())[0] for d, part in zip(q, y, strict=True)
        ]
        assert_allclose(np.mean(hinges), model.objective_path_[objective], rtol=1e-10)
    with pytest.warns(ConvergenceWarning):
        again = clone(model).fit(X, y)
    assert_array_equal(again.weights_, model.weights_)


def test_uncertain_pixels_are_left_out():
    rng = np.random.default_rng(14)
    X, y = picture(rng)
    doubtful = y.copy()
    doubtful[2:4, 3:8] = -1
    spoiled = X.copy()
    spoiled[doubtful == -1] = 100
    first = NormalizedCutMetric(scales=[2.0], radius=2, random_state=0).fit([X], [doubtful])
    second = clone(first).fit([spoiled], [doubtful])
    assert_array_equal(first.weights_, second.weights_)


def test_points_without_a_grid_use_all_pairs():
    rng = np.random.default_rng(15)
    X, y = picture(rng, 4, 7)
    flat, labels = X.reshape(-1, 3), y.ravel()
    model = NormalizedCutMetric(scales=[2.0], random_state=0).fit([flat], [labels])
    wide = NormalizedCutMetric(scales=[2.0], radius=20, random_state=0).fit([X], [y])
    assert_allclose(model.weights_, wide.weights_, rtol=1e-6)
    assert_array_equal(model.predict(flat), wide.predict(X).ravel())


def test_a_start_that_cannot_be_improved_stays():
    X = np.array([[0.0], [0.1], [1.0], [1.2]])
    model = NormalizedCutMetric(scales=[1.0]).fit([X], [[0, 0, 1, 1]])  # one feature: one choice
    assert model.n_iter_ == 1
    assert model.objective_path_[0] == model.objective_path_[1]


def test_projection_onto_the_simplex():
    rng = np.random.default_rng(11)
    for _ in range(20):
        w = rng.normal(size=5)
        nearest = estimator._to_simplex(w)
        assert nearest.min() >= 0 and nearest.sum() == pytest.approx(1)
        others = rng.dirichlet(np.ones(5), size=200)
        # the angle at the nearest point of a convex set is never acute
        assert np.max((others - nearest) @ (w - nearest)) <= 1e-12


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({}, [], [], "same length, at least 1; got 0 and 0"),
        ({}, [np.eye(3)], [], "same length, at least 1; got 1 and 0"),
        ({}, [np.eye(3)], [[0, 1]], r"ys\[0\] must have shape \(3,\), as Xs\[0\] has; got \(2,\)"),
        ({}, [np.eye(3)], [[1, 1, 1]], r"ys\[0\] must have at least two parts; got one"),
        ({}, [np.eye(3)], [[0, 1, -2]], r"ys\[0\] must hold integers, -1 for unknown"),
        ({}, [np.ones((2, 2, 2, 2))], [[0]], "got 4 dimensions"),
        ({}, np.ones((5, 4, 2)), np.eye(5, 4, dtype=int), "If it is one image, put it in a list"),
        ({}, [np.eye(3)], [[-1, -1, -1]], r"ys\[0\] must have labels; all are unknown"),
        (
            {},
            [np.eye(3), np.eye(2)],
            [[0, 1, 1], [0, 1]],
            r"Xs\[1\]: X has 2 features, but NormalizedCutMetric is expecting 3",
        ),
        ({}, [[[0.0, 1.0], [1.0, 1.0]]], [[0, 1]], "feature 1 is the same for all pairs"),
        ({}, [[[np.nan], [1.0]]], [[0, 1]], r"Input Xs\[0\] contains NaN"),
        ({"scales": []}, [np.eye(3)], [[0, 1, 1]], "scales must hold at least one"),
        ({"scales": [0]}, [np.eye(3)], [[0, 1, 1]], "each of scales must be a finite number"),
        ({"max_iter": 0}, [np.eye(3)], [[0, 1, 1]], "max_iter must be an integer, at least 1"),
        ({"max_steps": 0}, [np.eye(3)], [[0, 1, 1]], "max_steps must be an integer, at least 1"),
        ({"tol": -1}, [np.eye(3)], [[0, 1, 1]], "tol must be a finite number, at least 0"),
        ({"radius": 0}, [np.ones((2, 2, 1))], [[[0, 1], [0, 1]]], "radius must be a finite"),
    ],
)
def test_bad_training_data_are_refused(parameters, X, y, message):
    with pytest.raises(ValueError, match=message):
        NormalizedCutMetric(**parameters).fit(X, y)


def test_bad_prediction_is_refused():
    model = NormalizedCutMetric(scales=[1.0])
    for call in (lambda: model.predict(np.eye(2)), model.get_mahalanobis_matrix):
        with pytest.raises(NotFittedError):
            call()
    model.fit([np.arange(8.0).reshape(4, 2)], [[0, 0, 1, 1]])
    with pytest.raises(ValueError, match="X has 3 features, but NormalizedCutMetric is expecting"):
        model.predict(np.eye(3))
