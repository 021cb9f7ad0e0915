"""The basis against the singular value decomposition, and how many directions are kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.metrics.pairwise import rbf_kernel

import mlbook.mimlca.basis
from mlbook.mimlca.basis import assigned_axes, kernel_basis, singular_basis


def rows(n=30, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.geomspace(1, 1e-3, d)


@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize(("n", "d"), [(30, 6), (6, 9)])
@pytest.mark.parametrize("rank", [None, 3])
def test_singular_basis_is_the_decomposition(n, d, rank, container):
    X = rows(n, d)
    found = singular_basis(container(X), rank, None)
    U, s, Vt = (part for part in np.linalg.svd(X, full_matrices=False))
    r = min(n, d) if rank is None else rank
    assert found.U.shape == (n, r)
    assert_allclose(found.U.T @ found.U, np.eye(r), atol=1e-9)
    assert_allclose(found.U @ found.U.T, U[:, :r] @ U[:, :r].T, atol=1e-9)
    if rank is None and n > d:  # nothing is cut off
        assert found.values is None
        assert_allclose(X @ found.axes.T, found.U, atol=1e-12)
        return
    assert_allclose(found.values, s[:r], rtol=1e-9)
    best = (U[:, :r] * s[:r]) @ Vt[:r]
    assert_allclose((found.U * found.values) @ found.axes, best, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("condition", [1e1, 1e4, 1e7, 1e9])
def test_ill_conditioned_rows_keep_the_accurate_route(condition, dtype):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        U, V = (np.linalg.qr(rng.normal(size=(n, 8)))[0] for n in (60, 8))
        X = ((U * np.geomspace(1, 1 / condition, 8)) @ V.T).astype(dtype)
        found = singular_basis(X, None, None)
        assert (found.values is None) == (condition <= 1e4)
        kept = np.linalg.svd(X)[1] / np.linalg.svd(X)[1][0] > 10 * np.finfo(dtype).eps
        assert found.U.shape[1] == np.count_nonzero(kept)
        error = np.abs(found.U.T @ found.U - np.eye(len(found.U.T))).max()
        smallest = max(1 / condition, 10 * np.finfo(dtype).eps)
        assert error < max(2e-9, 10 * np.finfo(dtype).eps / smallest)


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_axes_of_the_assigned_rows_give_their_pseudo_inverse(share):
    for seed in range(20):
        X = rows(60, 5, seed)
        basis = singular_basis(X, None, None)
        assigned = np.random.default_rng(seed).random(60) < share
        J = np.random.default_rng(seed).normal(size=(np.count_nonzero(assigned), 3))
        found = J.T @ basis.U[assigned] @ assigned_axes(basis, assigned)
        assert_allclose(found, (np.linalg.pinv(X[assigned]) @ J).T, rtol=1e-8)
    X = np.vstack([rows(40, 5), [[0.0, 0, 0, 0, 50]]])
    X[:40, 4] *= 1e-3
    alone = np.arange(41) < 40  # the last row has the last direction nearly for itself
    assert assigned_axes(singular_basis(X, None, None), alone) is None
    assert assigned_axes(basis, np.arange(60) < 4) is None


@pytest.mark.parametrize("rank", [None, 3])
def test_kernel_basis_is_that_of_the_rows_behind_the_kernel(rank):
    X = rows()
    linear, kernel = singular_basis(X, rank, 1e-6), kernel_basis(X @ X.T, rank, 1e-5)
    assert_allclose(kernel.values, np.linalg.svd(X)[1][: len(kernel.values)], rtol=1e-6)
    assert_allclose(kernel.U @ kernel.U.T, linear.U @ linear.U.T, atol=1e-6)
    coefficients = np.random.default_rng(1).normal(size=len(kernel.values))
    scores = kernel.U * kernel.values @ coefficients
    assert_allclose(X @ X.T @ (coefficients @ kernel.axes), scores, atol=1e-6)


def kernels(seed):
    """Kernel matrices of 120 points: with a gap or none, of low rank, with repeated eigenvalues."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 30))
    yield rbf_kernel(X, gamma=0.02)
    yield X @ X.T
    yield X[:, :4] @ X[:, :4].T
    Q = np.linalg.qr(rng.normal(size=(120, 120)))[0]
    yield (Q * np.repeat([5.0, 2.0, 1.0, 0.01], [5, 3, 4, 108])) @ Q.T
    yield np.kron(np.eye(12), np.ones((10, 10)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_leading_eigenvectors_are_those_of_the_whole_decomposition(dtype, order, monkeypatch):
    for seed in range(8):
        for K in kernels(seed):
            K = np.array((K + K.T) / 2, dtype=dtype, order=order)
            some = kernel_basis(K, 12, 1e-3)
            again = kernel_basis(K, 12, 1e-3)
            assert_array_equal(some.U, again.U)
            with monkeypatch.context() as patch:
                patch.setattr(mlbook.mimlca.basis, "LANCZOS_SHARE", 0.0)
                every = kernel_basis(K, 12, 1e-3)
            assert some.U.dtype == dtype and some.U.shape == every.U.shape
            atol = 2e3 * np.finfo(dtype).eps
            assert_allclose(some.values, every.values, rtol=atol)
            assert_allclose(some.U.T @ some.U, np.eye(len(some.values)), atol=atol)
            residual = K @ some.U - some.U * some.values**2
            assert np.abs(residual).max() < atol * some.values[0] ** 2


def test_what_the_leading_eigenvectors_cannot_tell_goes_the_long_way(monkeypatch):
    K = rbf_kernel(np.random.default_rng(0).normal(size=(80, 3)))
    whole = np.linalg.eigh(K)[0][::-1]
    rounded, indefinite = (
        K - (whole[-1] + share * whole[0]) * np.eye(80) for share in (0.9 * 2**-26, 1.1 * 2**-26)
    )
    assert kernel_basis(rounded, 4, None).U.shape == (80, 4)
    with pytest.raises(ValueError, match="positive semidefinite; its smallest"):
        kernel_basis(indefinite, 4, None)
    calls = []

    def lanczos(operator, r, **options):
        """Overlook the second eigenvalue, or give up."""
        calls.append(r)
        if len(calls) > 2:
            raise ArpackError(-8)
        if r == 1:
            return eigsh(operator, r, **options)
        values, U = eigsh(operator, r + 1, **options)
        return np.delete(values, -2), np.delete(U, -2, axis=1)

    monkeypatch.setattr(mlbook.mimlca.basis, "eigsh", lanczos)
    for _ in range(2):
        assert_allclose(kernel_basis(K, 4, None).values, np.sqrt(whole[:4]))
    assert calls == [4, 1, 4]


def test_how_many_directions_are_kept():
    X = rows()
    s = np.linalg.svd(X)[1] / np.linalg.svd(X)[1][0]
    for rtol in (0.5, 0.05, 1e-9):
        assert singular_basis(X, None, rtol).U.shape[1] == np.count_nonzero(s > rtol)
    assert singular_basis(X, 2, 0.05).U.shape[1] == 2
    assert singular_basis(X, 20, None).U.shape[1] == 6
    twice = np.hstack([X, X])
    assert singular_basis(twice, None, None).U.shape[1] == 6
    assert singular_basis(twice.astype(np.float32), None, None).U.shape[1] == 6


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
