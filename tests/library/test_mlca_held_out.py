"""How far "auto" shrinks, and on what."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from mlbook.mlca import MLCA, SHRINKAGES
from mlbook.mlca.held_out import choose_shrinkage
from mlbook.mlca.row_sample import RowSample


def nested(seed, n_classes=12, d=20):
    """Classes that differ in three directions; others vary much more, alike in all classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), 40)
    means = np.zeros((n_classes, d))
    means[:, :3] = 4 * rng.normal(size=(n_classes, 3))
    spread = np.r_[np.ones(3), np.full(d - 3, 12.0)]
    return means[y] + spread * rng.normal(size=(len(y), d)), y


def test_it_shrinks_little_where_nuisance_directions_are_long():
    chosen = [
        MLCA(shrinkage="auto", fit_intercept=True, random_state=0).fit(*nested(s)) for s in range(5)
    ]
    assert all(model.shrinkage_ <= 0.5 for model in chosen)


def test_it_takes_the_euclidean_metric_where_features_are_alike():
    """Two training classes on a line tell nothing of the directions of the others."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 60)
    X = 6 * np.eye(4)[y] + rng.normal(size=(240, 4))
    model = MLCA(shrinkage="auto", fit_intercept=True, random_state=0).fit(X, y)
    euclid = model.shrinkage_scores_[:, -1].mean()
    assert euclid == pytest.approx(1.0)
    assert model.shrinkage_scores_[:, 0].mean() < euclid
    assert model.shrinkage_ > 0


def test_the_choice_is_the_best_mean_score():
    sample = RowSample.of(*load_digits(return_X_y=True))
    chosen, scores = choose_shrinkage(sample, intercept=True, random_state=3)
    assert chosen == SHRINKAGES[scores.mean(axis=0).argmax()]
    assert scores.shape == (6, len(SHRINKAGES))
    again = choose_shrinkage(sample, intercept=True, random_state=3)[1]
    assert_array_equal(scores, again)


def test_chunks_choose_as_all_rows_do():
    X, y = nested(0)
    whole = MLCA(shrinkage="auto", fit_intercept=True, random_state=0).fit(X, y)
    stream = MLCA(shrinkage="auto", fit_intercept=True, random_state=0)
    for part in np.array_split(np.random.default_rng(2).permutation(len(X)), 7):
        stream.partial_fit(X[part], y[part])
    assert stream.shrinkage_ == whole.shrinkage_
    assert_allclose(
        stream.get_mahalanobis_matrix(), whole.get_mahalanobis_matrix(), rtol=1e-9, atol=1e-14
    )


def test_what_it_needs():
    X, y = nested(0, n_classes=3)
    with pytest.raises(ValueError, match=r"needs at least 4 classes.*got 3"):
        MLCA(shrinkage="auto").fit(X, y)
    model = MLCA(shrinkage=0.5).fit(*nested(0)).set_params(shrinkage="auto")
    model.partial_fit(*nested(1))
    with pytest.raises(ValueError, match="fit again"):
        model.components_  # noqa: B018
    assert MLCA(shrinkage=0.5).fit(*nested(0)).shrinkage_scores_ is None


def test_new_classes_are_found_better_than_without_shrinkage():
    """Over 20 draws: classes in all directions, learned from as few as four."""
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.repeat(np.arange(8), 30)
        X = 2 * rng.normal(size=(8, 15))[y] + rng.normal(size=(240, 15))
        seen = y < 4
        scores = [
            adjusted_rand_score(
                y[~seen],
                MLCA(shrinkage=a, fit_intercept=True, random_state=0)
                .fit(X[seen], y[seen])
                .cluster(X[~seen]),
            )
            for a in ("auto", 0.0)
        ]
        gains.append(scores[0] - scores[1])
    assert np.mean(gains) > 0.05
    assert np.mean(np.array(gains) >= 0) >= 0.8
