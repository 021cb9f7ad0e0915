"""The basis against the singular value decomposition, and how many directions are kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mlbook.mimlca.basis import kernel_basis, singular_basis


def rows(n=30, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.geomspace(1, 1e-3, d)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("n", "d"), [(30, 6), (6, 9)])
@pytest.mark.parametrize("rank", [None, 3])
def test_singular_basis_is_the_decomposition(n, d, rank, container):
    X = rows(n, d)
    found = singular_basis(container(X), rank, None)
    U, s, Vt = (part for part in np.linalg.svd(X, full_matrices=False))
    r = min(n, d) if rank is None else rank
    assert found.U.shape == (n, r)
    assert_allclose(found.values, s[:r], rtol=1e-9)
    assert_allclose(found.U.T @ found.U, np.eye(r), atol=1e-9)
    best = (U[:, :r] * s[:r]) @ Vt[:r]
    assert_allclose((found.U * found.values) @ found.axes, best, atol=1e-12)


@pytest.mark.parametrize("rank", [None, 3])
def test_kernel_basis_is_that_of_the_rows_behind_the_kernel(rank):
    X = rows()
    linear, kernel = singular_basis(X, rank, None), kernel_basis(X @ X.T, rank, 1e-5)
    assert_allclose(kernel.values, linear.values, rtol=1e-6)
    assert_allclose(kernel.U @ kernel.U.T, linear.U @ linear.U.T, atol=1e-6)
    coefficients = np.random.default_rng(1).normal(size=len(kernel.values))
    scores = kernel.U * kernel.values @ coefficients
    assert_allclose(X @ X.T @ (coefficients @ kernel.axes), scores, atol=1e-6)


def test_how_many_directions_are_kept():
    X = rows()
    s = np.linalg.svd(X)[1] / np.linalg.svd(X)[1][0]
    for rtol in (0.5, 0.05, 1e-9):
        assert len(singular_basis(X, None, rtol).values) == np.count_nonzero(s > rtol)
    assert len(singular_basis(X, 2, 0.05).values) == 2
    assert len(singular_basis(X, 20, None).values) == 6
    twice = np.hstack([X, X])
    assert len(singular_basis(twice, None, None).values) == 6
    assert len(singular_basis(twice.astype(np.float32), None, None).values) == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: singular_basis(rows(), None, 1.0), "rtol must be less than 1; got 1.0"),
        (lambda: singular_basis(0 * rows(), None, None), "instances: all are zero"),
        (lambda: kernel_basis(-np.eye(3), None, None), "positive semidefinite.*-1 and -1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
