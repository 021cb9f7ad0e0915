"""How far to shrink the metric, judged on training classes that are held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from mlbook._arrays import Floats
from mlbook.mlca.class_digest import ClassDigest
from mlbook.mlca.row_sample import RowSample

SHRINKAGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""What `choose_shrinkage` chooses from."""

N_SPLITS, MAX_HELD_OUT, N_INIT = 6, 5, 4  # splits, classes held out in each, starts of k-means


def choose_shrinkage(
    sample: RowSample, *, intercept: bool, class_weight: Any = None, random_state: Any = None
) -> tuple[float, Floats]:
    """Choose the shrinkage under which classes left out of training are clustered best.

    In each of 6 splits, half of the classes, at most five, are held out at random. The metric is
    learned from the other classes of the sample, once for each shrinkage, and k-means clusters
    the rows held out. The shrinkage with the largest mean adjusted Rand index is chosen.

    Parameters
    ----------
    sample : RowSample
        Rows of at least four classes.
    intercept : bool
        Whether to learn with an intercept.
    class_weight : dict, "balanced" or None
        As for `mlbook.mlca.MLCA`.
    random_state : int, RandomState or None, default=None
        For the splits and k-means.

    Returns
    -------
    shrinkage : float
        One of `SHRINKAGES`.
    scores : ndarray of shape (6, 7)
        The adjusted Rand index by split and shrinkage.

    Raises
    ------
    ValueError
        If there are fewer than four classes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> sample = RowSample.of(*load_digits(return_X_y=True))
    >>> a, scores = choose_shrinkage(sample, intercept=True, random_state=0)
    >>> a in SHRINKAGES, scores.shape
    (True, (6, 7))
    """
    rng = check_random_state(random_state)
    classes = np.unique(sample.classes)
    if len(classes) < 4:
        raise ValueError(
            "shrinkage='auto' needs at least 4 classes, as it holds out two or more and learns "
            f"from the others; got {len(classes)}. Give a number: 0 for classes seen in training, "
            "0.5 to 0.7 for others"
        )
    held_out = min(MAX_HELD_OUT, len(classes) // 2)
    scores = np.empty((N_SPLITS, len(SHRINKAGES)))
    for split in scores:
        test = np.isin(sample.classes, rng.choice(classes, held_out, replace=False))
        rows, truth = sample.rows[test], sample.classes[test]
        digest = ClassDigest.of(
            sample.rows[~test],
            sample.classes[~test],
            intercept=intercept,
            class_weight=class_weight,
        )
        for i, shrinkage in enumerate(SHRINKAGES):
            images = rows @ digest.solve(shrinkage=shrinkage).coef
            found = KMeans(held_out, n_init=N_INIT, random_state=rng).fit_predict(images)
            split[i] = adjusted_rand_score(truth, found)
    return SHRINKAGES[int(scores.mean(axis=0).argmax())], scores
