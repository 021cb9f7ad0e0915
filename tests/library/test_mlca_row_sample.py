"""The sample of rows: bounded, spread, and the same however the rows come."""

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from mlbook.mlca.row_sample import MAX_CLASS_ROWS, MAX_ROWS, RowSample


def rows(n=3000, d=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, k, n)


def test_the_same_rows_whatever_the_order_and_the_chunks():
    X, y = rows()
    whole = RowSample.of(X, y)
    order = np.random.default_rng(1).permutation(len(X))
    shuffled = RowSample.of(X[order], y[order])
    parts = [RowSample.of(X[i : i + 70], y[i : i + 70]) for i in range(0, len(X), 70)]
    by_turns = parts[0]
    for part in parts[1:]:
        by_turns = RowSample.merge([by_turns, part])
    for other in (shuffled, by_turns, RowSample.merge(parts)):
        assert_array_equal(other.rows, whole.rows)
        assert_array_equal(other.classes, whole.classes)
        assert_array_equal(other.numbers, whole.numbers)


def test_rows_are_rows_of_their_class():
    X, y = rows()
    sample = RowSample.of(X, y)
    assert np.bincount(sample.classes).tolist() == [MAX_CLASS_ROWS] * 3
    given = {tuple(row): label for row, label in zip(X, y, strict=True)}
    assert all(given[tuple(r)] == c for r, c in zip(sample.rows, sample.classes, strict=True))


def test_many_classes_share_the_room():
    X, y = rows(n=20_000, k=1000)
    sample = RowSample.of(X, y)
    assert len(sample.rows) <= MAX_ROWS
    assert np.bincount(sample.classes).max() == MAX_ROWS // 1000
    few = RowSample.of(X[:100], np.arange(100))
    assert len(few.rows) == 100


def test_sparse_rows_and_negative_zeros_have_the_same_numbers():
    X, y = rows()
    X[X < 0] = 0.0
    signed = np.where(X == 0, -0.0, X)
    dense = RowSample.of(X, y)
    for other in (sp.csr_array(X), sp.csr_array(signed), signed):
        assert_array_equal(RowSample.of(other, y).numbers, dense.numbers)
        assert_array_equal(RowSample.of(other, y).rows, dense.rows)


def test_the_sample_is_spread_evenly():
    """Of rows 0, 1, 2, ... a sample of one in thirty has its mean near the middle."""
    means = []
    for start in range(20):
        X = np.arange(3000.0)[:, None] + 3000 * start
        means.append(RowSample.of(X, np.zeros(3000, int)).rows.mean() - 3000 * start)
    assert abs(np.mean(means) - 1500) < 4 * 3000 / np.sqrt(12 * 100 * 20)
    assert np.std(means) < 2 * 3000 / np.sqrt(12 * 100)
