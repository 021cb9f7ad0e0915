"""Gaussian clusters: the synthetic data of Law 2016 and Komodakis 2011."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mlbook._validation import check_integer, check_number

__all__ = ["CROSSED_CLUSTER_MEANS", "NOISE_FEATURE_STD", "make_crossed_clusters"]

CROSSED_CLUSTER_MEANS: NDArray[np.float64] = 6.0 * np.array(
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
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
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
    counts = list(sizes)
    if len(counts) != 3:
        raise ValueError(f"sizes must hold three sizes; got {sizes!r}")
    for size in counts:
        check_integer(size, "each of sizes", least=1)
    noise = check_number(noise, "noise", least=0)
    n_noise_features = check_integer(n_noise_features, "n_noise_features", least=0)
    rng = check_random_state(random_state)
    means = np.repeat(CROSSED_CLUSTER_MEANS.reshape(6, 3), np.repeat(counts, 2), axis=0)
    X = means + noise * rng.standard_normal(means.shape)
    appended = NOISE_FEATURE_STD * rng.standard_normal((len(X), n_noise_features))
    return np.hstack([X, appended]), np.repeat(np.arange(3), 2 * np.array(counts))
