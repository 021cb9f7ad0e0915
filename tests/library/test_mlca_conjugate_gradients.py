"""Conjugate gradients on sparse rows, against the dense pseudo-inverse."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mlbook.mlca.conjugate_gradients import conjugate_gradients


def sparse_problem(seed, m, p, rank=None):
    rng = np.random.default_rng(seed)
    A = sp.random_array((m, p), density=0.2, format="csr", rng=rng).toarray()
    if rank is not None:
        A[:, rank:] = A[:, : p - rank] * 2.0  # columns that depend on others
    return A, rng.normal(size=(m, 3))


@pytest.mark.parametrize(("m", "p", "rank"), [(60, 20, None), (20, 60, None), (60, 20, 12)])
def test_the_solution_is_that_of_the_pseudo_inverse(m, p, rank):
    for seed in range(20):
        A, B = sparse_problem(seed, m, p, rank)
        found = conjugate_gradients(sp.csr_array(A), B, intercept=False, max_iter=2000)
        expected = np.linalg.pinv(A, rcond=1e-12) @ B
        assert found.converged
        assert np.linalg.norm(found.W - expected) <= 1e-8 * np.linalg.norm(expected)


@pytest.mark.parametrize(("m", "p"), [(60, 20), (20, 60)])
def test_the_first_column_is_projected_out(m, p):
    for seed in range(20):
        X, B = sparse_problem(seed, m, p)
        ones = np.sqrt(np.random.default_rng(seed).uniform(0.5, 2, size=m))
        A = np.c_[ones, X * ones[:, None]]  # rows with weights
        found = conjugate_gradients(sp.csr_array(A), B, intercept=True, max_iter=2000)
        P = np.outer(ones, ones) / (ones @ ones)
        W = np.linalg.pinv(A[:, 1:] - P @ A[:, 1:], rcond=1e-12) @ (B - P @ B)
        assert_allclose(found.W[1:], W, rtol=1e-7, atol=1e-8 * abs(W).max())
        assert_allclose(found.W[0], ones @ (B - A[:, 1:] @ W) / (ones @ ones), rtol=1e-6, atol=1e-7)


def test_the_extremes_are_those_of_the_singular_values():
    for seed in range(10):
        A, B = sparse_problem(seed, 60, 15)
        found = conjugate_gradients(sp.csr_array(A), B, intercept=False, max_iter=2000)
        values = np.linalg.svd(A, compute_uv=False) ** 2
        assert_allclose([found.low, found.high], [values[-1], values[0]], rtol=1e-3)


def test_stopped_early_it_says_so_and_tells_its_error():
    A, B = sparse_problem(0, 60, 20)
    found = conjugate_gradients(sp.csr_array(A), B, intercept=False, max_iter=3)
    assert not found.converged
    assert found.error > 1e-4


def test_targets_of_zero_and_rows_of_zero():
    A, B = sparse_problem(0, 10, 4)
    for rows, targets in [(A, 0 * B), (0 * A, B)]:
        found = conjugate_gradients(sp.csr_array(rows), targets, intercept=False, max_iter=9)
        assert found.converged
        assert not found.W.any()
    half = conjugate_gradients(sp.csr_array(A), B * [0.0, 1.0, 1.0], intercept=False, max_iter=99)
    assert not half.W[:, 0].any()
    assert_allclose(half.W[:, 1:], (np.linalg.pinv(A) @ B)[:, 1:], rtol=1e-7, atol=1e-9)
