"""The oracles of the chapter on pixels let the right solution pass and typical wrong ones not."""

import numpy as np
import pytest

from book.checks import segmentation as checks

pytestmark = pytest.mark.book


def test_centring_each_image():
    def right(images):
        return np.vstack([rows - rows.mean(axis=0) for rows in images])

    def at_once(images):
        rows = np.vstack(images)
        return rows - rows.mean(axis=0)

    assert checks.centred(right) is None
    assert "mean zero" in checks.centred(at_once)
    assert checks.centred(np.vstack) is not None


def otsu(values, counts, *, weighted=True):
    values, counts = np.asarray(values, float), np.asarray(counts, float)
    counts = counts if weighted else np.ones_like(counts)
    left, sums = np.cumsum(counts)[:-1], np.cumsum(counts * values)[:-1]
    gain = sums**2 / left + (counts @ values - sums) ** 2 / (counts.sum() - left)
    i = np.argmax(gain)
    return (values[i] + values[i + 1]) / 2


def test_threshold_of_a_histogram():
    assert checks.histogram(otsu) is None
    assert "smaller" in checks.histogram(lambda v, c: otsu(v, c, weighted=False))
    assert "between" in checks.histogram(lambda v, c: np.average(v, weights=c))


def test_middle_of_the_class_means():
    assert checks.rocket(lambda share, R2: (2 * share - 1) * (1 - R2)) is None
    assert checks.rocket(lambda share, R2: 2 * share - 1) is not None
    assert checks.rocket(lambda share, R2: 0.0) is not None


def shrunk(X, s, a, *, centre=True, constant=True):
    mean = X.mean(axis=0) if centre else 0 * X[0]
    Z = X - mean
    S = Z.T @ Z
    S = (1 - a) * S + a * np.trace(S) / len(S) * np.eye(len(S))
    v = np.linalg.solve(S, Z.T @ s)
    return v, s.mean() - mean @ v if constant else 0.0


def test_shrunk_regression():
    assert checks.elsewhere(shrunk) is None
    assert "direction" in checks.elsewhere(lambda *given: shrunk(*given, centre=False))
    assert "constant" in checks.elsewhere(lambda *given: shrunk(*given, constant=False))
    assert "return" in checks.elsewhere(lambda *given: shrunk(*given)[0][:1])
