"""The generator of the comparison's exercises: what is drawn."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from book.reproduction import made_problems as room

UNIT = {**room.BASE, "n_sets": 2, "n_rows": 32, "n_test_sets": 1, "n_nuisance": 4, "seed": 0}


def unit(**changed):
    return {**UNIT, **changed}


def test_clusters_differ_in_the_signal_directions_only():
    drawn = room.draw_gaussians(unit(n_rows=2000, n_sets=1, mixed=True, nuisance=7.0))
    assert_allclose(drawn.signal @ drawn.signal.T, np.eye(room.N_SIGNAL), atol=1e-12)
    X, y = drawn.train[0]
    means = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
    offsets = means - means.mean(axis=0)
    outside = offsets - offsets @ drawn.signal.T @ drawn.signal
    assert np.linalg.norm(offsets @ drawn.signal.T, axis=1).min() > 1.5
    assert abs(outside).max() < 6 * 7.0 / np.sqrt(500)
    within = np.concatenate([X[y == c] - X[y == c].mean(axis=0) for c in np.unique(y)])
    variances = np.linalg.eigvalsh(np.cov(within.T))
    expected = np.repeat([room.WITHIN, 7.0], [room.N_SIGNAL, UNIT["n_nuisance"]]) ** 2
    assert_allclose(variances, expected, rtol=0.15)


def test_the_nuisance_does_not_change_the_rest_of_the_draw():
    small, large = (room.draw_gaussians(unit(nuisance=v)) for v in (1.0, 16.0))
    for part in ("train", "unseen"):
        for (X, y), (Z, labels) in zip(getattr(small, part), getattr(large, part), strict=True):
            assert_array_equal(y, labels)
            scales = np.repeat([1.0, 16.0], [room.N_SIGNAL, UNIT["n_nuisance"]])
            assert_allclose(X * scales, Z)


def test_unseen_classes_are_not_those_of_training():
    drawn = room.draw_gaussians(unit(n_rows=400, n_classes=4, nuisance=0.1))
    known = np.array([drawn.rows[drawn.labels == c].mean(axis=0) for c in np.unique(drawn.labels)])
    gaps = [
        np.linalg.norm(known - X[y == c].mean(axis=0), axis=1).min()
        for X, y in drawn.unseen
        for c in np.unique(y)
    ]
    assert max(gaps) > 1.5


def test_flipped_labels_stay_in_their_set():
    clean, noisy = (room.draw_gaussians(unit(flipped=f, n_rows=400)) for f in (0.0, 0.3))
    for (_, y), (_, labels) in zip(clean.train, noisy.train, strict=True):
        assert len(set(labels)) == UNIT["k"] == len(set(y))
    first = noisy.train[0][1] != clean.train[0][1]  # the same draw up to there
    assert first.mean() == pytest.approx(0.3, abs=0.07)


def test_the_rows_of_all_sets_are_stacked():
    drawn = room.draw_gaussians(unit())
    assert_array_equal(drawn.rows, np.vstack([X for X, _ in drawn.train]))
    assert drawn.labels.max() + 1 == len({c for _, y in drawn.train for c in y})


def test_only_expected_warnings_are_kept_quiet():
    def warn():
        warnings.warn("the learned metric is zero: all features", stacklevel=1)
        warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
        return 3

    assert room.quiet(warn) == 3
    with pytest.warns(UserWarning, match="other"):
        room.quiet(lambda: warnings.warn("other", stacklevel=1))
