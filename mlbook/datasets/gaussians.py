"""Gaussian clusters: the synthetic data of Law 2016 and Komodakis 2011."""

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_integer, check_integers, check_number

__all__ = [
    "CROSSED_CLUSTER_MEANS",
    "NOISE_FEATURE_STD",
    "make_crossed_clusters",
    "make_noisy_gaussians",
]

CROSSED_CLUSTER_MEANS: Floats = 6.0 * np.array(
    [
        [[-1.0, 0.0, 0.0], [0.0, 10.0, 0.0]],
        [[1.0, 0.0, 0.0], [1.0, 10.0, 0.0]],
        [[0.5, 10.0, 1.0], [-1.0, 0.0, 1.0]],
    ]
)
"""Means of `make_crossed_clusters`: entry [c, j] is sub-cluster j of category c."""
CROSSED_CLUSTER_MEANS.setflags(write=False)

NOISE_FEATURE_STD = 30.0
"""Standard deviation of the noise features of `make_crossed_clusters`, that of feature 1."""


def make_crossed_clusters(
    sizes: Sequence[int] = (500, 500, 500),
    *,
    noise: float = 1.0,
    n_noise_features: int = 0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Floats, Integers]:
    """Three categories of two far-apart sub-clusters each: the toy data of Law 2016, Section 5.1.

    The sub-clusters of a category lie 60 apart along feature 1, where every category
    has one near each end; features 0 and 2, ten times narrower, tell the categories apart.
    So k-means with the Euclidean distance cuts across the categories. The means are
    `CROSSED_CLUSTER_MEANS`; the origin matters to MLCA and is not at the mean of the data.

    These three features are no more than the categories, and the leading singular vectors of
    Law 2016, Section 3.4 then span the same space whatever the metric. `n_noise_features`
    appends features that hold nothing but normal noise, as wide as feature 1: then a method
    must learn which directions to ignore.

    Parameters
    ----------
    sizes : sequence of 3 positive integers, default=(500, 500, 500)
        Number of points in each of the two sub-clusters of categories 0, 1 and 2.
    noise : float, default=1.0
        Standard deviation of the points about their sub-cluster's mean, in each of the
        first three features. At 1 some points stray into other sub-clusters; at 0.5 hardly any.
    n_noise_features : int, default=0
        Number of features to append, normal with mean 0 and standard deviation
        `NOISE_FEATURE_STD`, independent of all else.
    random_state : int, RandomState instance or None, default=None
        Randomness of the draw. The first three features do not depend on `n_noise_features`.

    Returns
    -------
    X : ndarray of shape (2 * sum(sizes), 3 + n_noise_features)
        Points, ordered by category and sub-cluster.
    y : ndarray of shape (2 * sum(sizes),)
        Category 0, 1 or 2 of each point.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> X, y = make_crossed_clusters((2, 1, 1), noise=0, random_state=0)
    >>> print(X[y == 0])
    [[-6.  0.  0.]
     [-6.  0.  0.]
     [ 0. 60.  0.]
     [ 0. 60.  0.]]
    >>> make_crossed_clusters(n_noise_features=7, random_state=0)[0].shape
    (3000, 10)
    """
    counts = check_integers(sizes, "sizes", 3, least=1)
    noise = check_number(noise, "noise", least=0, most=1e100)
    n_noise_features = check_integer(n_noise_features, "n_noise_features", least=0)
    rng = check_random_state(random_state)
    means = np.repeat(CROSSED_CLUSTER_MEANS.reshape(6, 3), np.repeat(counts, 2), axis=0)
    X = means + noise * rng.standard_normal(means.shape)
    appended = NOISE_FEATURE_STD * rng.standard_normal((len(X), n_noise_features))
    return np.hstack([X, appended]), np.repeat(np.arange(3), 2 * np.array(counts))


def make_noisy_gaussians(
    n_samples: int = 500,
    *,
    n_features: int = 100,
    noisy_fraction: float = 0.5,
    n_clusters: int = 10,
    center_std: float = 2.0,
    clean_std: float = 1.0,
    noisy_std: float = 20.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Floats, Integers]:
    """Gaussian clusters of which some features are drowned in noise: Komodakis 2011, Fig. 2.

    Each cluster has a centre drawn from N(0, `center_std`² I), each point a cluster drawn
    uniformly. Its features are normal about the centre: the last `noisy_fraction` of them with
    standard deviation `noisy_std`, the others with `clean_std`. The paper gives the numbers of
    points, features and clusters and the noisy half, not the three standard deviations.

    Parameters
    ----------
    n_samples : int, default=500
        Number of points.
    n_features : int, default=100
        Number of features.
    noisy_fraction : float, default=0.5
        Share of noisy features, from 0 to 1, rounded to a whole number of features.
    n_clusters : int, default=10
        Number of clusters of the mixture; a small sample can miss some.
    center_std, clean_std, noisy_std : float, default=2.0, 1.0 and 20.0
        Standard deviations of the centres, and of the points about them.
    random_state : int, RandomState instance or None, default=None
        Randomness of the draw. Datasets that share a distance differ in this only.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Points, in no order.
    y : ndarray of shape (n_samples,)
        Cluster of each point, 0 to n_clusters − 1.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> X, y = make_noisy_gaussians(random_state=0)
    >>> X.shape, len(set(y))
    ((500, 100), 10)
    >>> print((X[:, :50].std(axis=0) < 4).all(), (X[:, 50:].std(axis=0) > 16).all())
    True True
    """
    n_samples = check_integer(n_samples, "n_samples", least=1)
    n_features = check_integer(n_features, "n_features", least=1)
    n_clusters = check_integer(n_clusters, "n_clusters", least=1)
    noisy_fraction = check_number(noisy_fraction, "noisy_fraction", least=0)
    if noisy_fraction > 1:
        raise ValueError(f"noisy_fraction must be at most 1; got {noisy_fraction!r}")
    center_std = check_number(center_std, "center_std", least=0, most=1e100)
    clean_std = check_number(clean_std, "clean_std", least=0, most=1e100)
    noisy_std = check_number(noisy_std, "noisy_std", least=0, most=1e100)
    rng = check_random_state(random_state)
    std = np.full(n_features, clean_std)
    std[n_features - round(noisy_fraction * n_features) :] = noisy_std
    centers = center_std * rng.standard_normal((n_clusters, n_features))
    y = rng.randint(n_clusters, size=n_samples, dtype=np.int64)
    return centers[y] + std * rng.standard_normal((n_samples, n_features)), y
