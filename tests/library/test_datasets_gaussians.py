"""Generators: exact where they are exact, within standard errors where they are random."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from mlbook.datasets import (
    CROSSED_CLUSTER_MEANS,
    NOISE_FEATURE_STD,
    make_crossed_clusters,
    make_noisy_gaussians,
)
from mlbook.partitions import partition_loss

S = 6.0
MEANS = [  # category, mean: the authors' setting
    (0, (-S, 0, 0)),
    (0, (0, 10 * S, 0)),
    (1, (S, 0, 0)),
    (1, (S, 10 * S, 0)),
    (2, (S / 2, 10 * S, S)),
    (2, (-S, 0, S)),
]


def test_without_noise_every_point_is_its_mean():
    X, y = make_crossed_clusters((1, 2, 3), noise=0)
    repeats = [1, 1, 2, 2, 3, 3]
    assert_array_equal(X, np.repeat([mean for _, mean in MEANS], repeats, axis=0))
    assert_array_equal(y, np.repeat([category for category, _ in MEANS], repeats))


@pytest.mark.parametrize("noise", [1.0, 0.5])
def test_points_are_normal_about_their_mean(noise):
    n = 20_000
    X, _ = make_crossed_clusters((n, n, n), noise=noise, random_state=0)
    for (_, mean), points in zip(MEANS, np.split(X, 6), strict=True):
        assert_allclose(points.mean(axis=0), mean, atol=5 * noise / np.sqrt(n))
        assert_allclose(np.cov(points.T), noise**2 * np.eye(3), atol=8 * noise**2 / np.sqrt(n))
        within = np.mean(np.abs(points - mean) < noise)
        assert_allclose(within, 0.6827, atol=5 * 0.47 / np.sqrt(3 * n))


def test_noise_features_are_as_wide_as_feature_1_and_independent():
    n = 10_000
    X, y = make_crossed_clusters((n, n, n), n_noise_features=2, random_state=0)
    assert X.shape == (6 * n, 5)
    assert make_crossed_clusters(noise=0)[0][:, 1].std() == NOISE_FEATURE_STD
    assert_allclose(X[:, 3:].std(axis=0), NOISE_FEATURE_STD, rtol=0.02)
    correlations = np.corrcoef(np.column_stack([X, y]).T)[3:5]
    assert_allclose(np.delete(correlations, [3, 4], axis=1), 0, atol=5 / np.sqrt(6 * n))
    assert abs(correlations[0, 4]) < 5 / np.sqrt(6 * n)


def test_seeds():
    X, _ = make_crossed_clusters(random_state=0)
    same, _ = make_crossed_clusters(random_state=np.random.RandomState(0))
    wider, _ = make_crossed_clusters(n_noise_features=4, random_state=0)
    other, _ = make_crossed_clusters(random_state=1)
    assert_array_equal(same, X)
    assert_array_equal(wider[:, :3], X)
    assert not np.any(other == X)


def test_euclidean_k_means_crosses_the_categories():
    """Each sub-cluster is nearest to one of another category, and Δ is 3.0 as in Tables 1-3."""
    means = CROSSED_CLUSTER_MEANS.reshape(6, 3)
    distances = np.linalg.norm(means[:, None] - means, axis=2) + np.diag([np.inf] * 6)
    assert np.all(distances.argmin(axis=1) // 2 != np.arange(6) // 2)
    X, y = make_crossed_clusters((100, 100, 100), random_state=0)
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    assert_allclose(partition_loss(y, labels), 3.0, atol=0.01)


def test_means_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        CROSSED_CLUSTER_MEANS[0] = 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": (500, 500)}, "sizes must hold 3 integers, at least 1; got"),
        ({"sizes": (500, 500, 0)}, "each of sizes must be an integer, at least 1; got"),
        ({"sizes": (500, 500, 1.5)}, "each of sizes must be an integer, at least 1; got"),
        ({"sizes": (500, 500, True)}, "each of sizes must be an integer, at least 1; got"),
        ({"noise": -1.0}, "noise must be a finite number, at least 0, .* got -1.0"),
        ({"noise": np.nan}, "noise must be"),
        ({"noise": np.inf}, "noise must be"),
        ({"noise": "1"}, "noise must be"),
        ({"n_noise_features": -1}, "n_noise_features must be an integer, at least 0; got -1"),
        ({"n_noise_features": 1.0}, "n_noise_features must be"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_crossed_clusters(**arguments)


def test_noisy_gaussians_have_the_stated_moments():
    """Within a cluster, and between the centres, feature by feature."""
    n, k = 4000, 300
    X, y = make_noisy_gaussians(
        n * 2, n_features=10, noisy_fraction=0.3, n_clusters=2, random_state=0
    )
    assert X.shape == (2 * n, 10) and y.dtype == np.int64
    assert abs(np.mean(y) - 0.5) < 5 * 0.5 / np.sqrt(2 * n)
    std = np.repeat([1.0, 20.0], [7, 3])
    for c in range(2):
        within = np.cov((X[y == c] / std).T)
        assert_allclose(within, np.eye(10), atol=8 / np.sqrt(n))
    setting = {"n_features": 4, "n_clusters": k, "clean_std": 0.0, "noisy_fraction": 0.0}
    points, y = make_noisy_gaussians(5000, **setting, center_std=3.0, random_state=1)
    centers = np.unique(points, axis=0)
    assert len(centers) == k == len(np.unique(y))
    assert_allclose(centers.std(axis=0), 3.0, rtol=0.2)
    assert_allclose(centers.mean(axis=0), 0.0, atol=5 * 3 / np.sqrt(k))


def test_noisy_gaussians_defaults_are_figure_2():
    X, y = make_noisy_gaussians(random_state=0)
    assert X.shape == (500, 100) and set(y) == set(range(10))
    means = np.array([X[y == c].mean(axis=0) for c in range(10)])
    spread = (X - means[y]).std(axis=0)
    assert_allclose(spread, np.repeat([1.0, 20.0], 50), rtol=0.2)
    assert_allclose(means[:, :50].std(), 2.0, rtol=0.15)
    again, _ = make_noisy_gaussians(random_state=0)
    other, _ = make_noisy_gaussians(random_state=1)
    assert_array_equal(again, X)
    assert not np.any(other == X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples must be an integer, at least 1; got 0"),
        ({"n_features": 0}, "n_features must be"),
        ({"n_clusters": 0}, "n_clusters must be"),
        ({"noisy_fraction": -0.1}, "noisy_fraction must be a finite number, at least 0"),
        ({"noisy_fraction": 1.1}, "noisy_fraction must be at most 1; got 1.1"),
        ({"center_std": -1.0}, "center_std must be"),
        ({"clean_std": np.nan}, "clean_std must be"),
        ({"noisy_std": np.inf}, "noisy_std must be"),
    ],
)
def test_noisy_gaussians_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_noisy_gaussians(**arguments)
