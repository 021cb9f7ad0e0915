"""The chi-squared kernel, and which kernel matrices are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.mimlca import chi2_rbf_kernel
from mlbook.mimlca.kernels import kernel_matrix


def test_chi2_kernel_by_the_letter():
    rng = np.random.default_rng(0)
    A, B = rng.random((4, 3)), rng.random((5, 3))
    A[0, 0] = B[1, 0] = 0
    a, b = A / A.sum(axis=1, keepdims=True), B / B.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        terms = (a[:, None] - b) ** 2 / (a[:, None] + b)
    assert_allclose(chi2_rbf_kernel(A, B), np.exp(-np.nan_to_num(terms).sum(axis=2)))
    for bad, message in (([[1.0, -1.0]], "entries ≥ 0; got -1"), ([[0.0, 0.0]], "row 0 is")):
        with pytest.raises(ValueError, match=message):
            chi2_rbf_kernel([[1.0, 1.0]], bad)


def gram(A, B):
    return A @ B.T


def test_a_matrix_given_is_brought_into_the_order_of_the_bags_and_made_symmetric():
    X = np.random.default_rng(0).normal(size=(5, 3))
    order = np.array([3, 0, 4, 1, 2])
    K = gram(X, X)
    assert_allclose(kernel_matrix(X, order, gram), K)
    assert_allclose(kernel_matrix(K[order], order, "precomputed"), K[np.ix_(order, order)])
    slanted = K + 1e-12 * np.triu(np.ones((5, 5)), 1)
    found = kernel_matrix(slanted, np.arange(5), "precomputed")
    assert_array_equal(found, found.T)


@pytest.mark.parametrize(
    ("rows", "order", "kernel", "message"),
    [
        (np.eye(3)[:, :2], [0, 1, 2], "precomputed", "3 instances with 2 values each"),
        (np.eye(3)[:2], [0, 2], "precomputed", "all rows of a square kernel matrix"),
        (np.triu(np.ones((3, 3))), [0, 1, 2], "precomputed", "must be symmetric; .* differ by 1"),
        (np.eye(3), [0, 1, 2], lambda A, B: A[:, :2], r"must have shape \(3, 3\); got \(3, 2\)"),
        (np.eye(3), [0, 1, 2], lambda A, B: A * np.nan, r"kernel\(X, X\) contains NaN"),
    ],
)
def test_refused_matrices(rows, order, kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel_matrix(rows, np.array(order), kernel)
