"""The closed form: no metric beats it, the formula, the steps of the proof, what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mlbook.mlca import MLCA, BinaryMLCA, closed_form_factor, closed_form_metric
from mlbook.partitions import normalized_assignment


def worst_case_risk(X, M, C, k):
    """Law 2016, Eq. 13, exactly: the farthest from C of all solutions of Eq. 8.

    Where the k-th eigenvalue of XMXᵀ is multiple, every completion of the eigenvectors above it
    inside its eigenspace is a solution; the worst takes the smallest eigenvalues of C there.
    """
    values, vectors = np.linalg.eigh(X @ M @ X.T)
    kth = values[-k]
    tolerance = 1e-7 * max(abs(values[-1]), 1e-300)
    above = vectors[:, values > kth + tolerance]
    tied = vectors[:, abs(values - kth) <= tolerance]
    missing = k - above.shape[1]
    overlap = np.sum((above.T @ C) * above.T)
    overlap += np.linalg.eigvalsh(tied.T @ C @ tied)[:missing].sum()
    return np.sum(C * C) + k - 2 * overlap


def cases():
    rng = np.random.default_rng(0)
    partition = normalized_assignment([0, 0, 0, 1, 1, 2, 2, 2]).toarray()
    wide = rng.normal(size=(8, 11))
    low_rank = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 4))
    return {
        "partition": (rng.normal(size=(8, 4)), partition, 3),
        "dependent columns": (wide[:, [0, 1, 2, 3, 3]], partition, 3),
        "rank(X) < k": (low_rank, partition, 3),
        "n < d": (wide, partition, 3),
        "one centroid is zero": (np.r_[wide[:3, :4], np.eye(4)[:1], -np.eye(4)[:1], wide[5:, :4]],
                                 partition, 3),
        "fewer clusters than classes": (rng.normal(size=(8, 4)), partition, 2),
        "any C": (rng.normal(size=(8, 5)), rng.normal(size=(8, 6)), 3),
        "C scaled unevenly": (wide, partition * [1, 5, 0.2], 2),
        "rank one": (rng.normal(size=(8, 3)), partition[:, :1], 1),
    }  # fmt: skip


CASES = cases()


@pytest.mark.equation("Law 2016, Theorems 3.1 and 3.2")
@pytest.mark.parametrize("name", CASES)
def test_theorem_3_1_no_metric_beats_the_closed_form(name):
    X, F, k = CASES[name]
    C, d = F @ F.T, X.shape[1]
    best = worst_case_risk(X, closed_form_metric(X, F, rank=k), C, k)
    rng = np.random.default_rng(1)
    seen = []
    for trial in range(60):
        L = rng.normal(size=(d, 1 + trial % d))
        seen.append(worst_case_risk(X, L @ L.T, C, k))
        if trial < 12:  # climb down from there, or from the closed form itself
            if trial % 2:
                L = closed_form_factor(X, F, rank=k)
            risk, step = worst_case_risk(X, L @ L.T, C, k), 0.5 * np.linalg.norm(L)
            for _ in range(60):
                candidate = L + step * rng.normal(size=L.shape) / np.sqrt(L.size)
                new = worst_case_risk(X, candidate @ candidate.T, C, k)
                if new < risk:
                    L, risk = candidate, new
                else:
                    step *= 0.9
            seen.append(risk)
    assert best <= min(seen) + 1e-9
    assert best < max(seen) - 0.1  # the comparison means something


@pytest.mark.equation("Law 2016, Eqs. 16-17 and Theorems 3.1 and 3.2")
@pytest.mark.parametrize("name", CASES)
def test_theorem_3_1_formula(name):
    X, F, k = CASES[name]
    inverse = np.linalg.pinv(X)
    projected = X @ inverse @ F @ F.T @ X @ inverse
    values, vectors = np.linalg.eigh((projected + projected.T) / 2)
    cut = (vectors[:, -k:] * values[-k:]) @ vectors[:, -k:].T
    assert_allclose(closed_form_metric(X, F, rank=k), inverse @ cut @ inverse.T, atol=1e-9)
    assert_allclose(closed_form_metric(X, F), inverse @ F @ F.T @ inverse.T, atol=1e-9)
    assert_allclose(closed_form_factor(sp.csr_array(X), sp.csr_array(F)), inverse @ F, atol=1e-9)


@pytest.mark.equation("Law 2016, Theorems 3.1 and 3.2")
@pytest.mark.parametrize("name", ["partition", "rank(X) < k", "n < d"])
def test_the_estimator_learns_the_metric_of_the_theorems(name):
    """From labels: the whole metric, and with fewer components the one that is cut."""
    X, F, _ = CASES[name]
    y = F.argmax(axis=1)
    inverse = np.linalg.pinv(X)
    mlca = MLCA().fit(X, y)
    assert_allclose(mlca.components_, (inverse @ F).T, atol=1e-9)
    learned = mlca.get_mahalanobis_matrix()
    assert_allclose(learned, inverse @ F @ F.T @ inverse.T, atol=1e-9)
    cut = MLCA(n_components=2).fit(X, y).get_mahalanobis_matrix()
    assert_allclose(cut, closed_form_metric(X, F, rank=2), atol=1e-9)
    rng = np.random.default_rng(4)
    for metric, k in ((learned, 3), (cut, 2)):
        best = worst_case_risk(X, metric, F @ F.T, k)
        for L in rng.normal(size=(100, X.shape[1], 3)):
            assert worst_case_risk(X, L @ L.T, F @ F.T, k) >= best - 1e-9


@pytest.mark.equation("Law 2016, Eqs. 26-34")
@pytest.mark.parametrize("name", CASES)
def test_steps_of_the_proof_of_theorem_3_1(name):
    X, F, k = CASES[name]
    C, s = F @ F.T, np.linalg.matrix_rank(X)
    basis = np.linalg.svd(X)[0]
    U, V = basis[:, :s], basis[:, s:]
    values, vectors = np.linalg.eigh(U.T @ C @ U)
    bound = values[-k:].sum() + np.linalg.eigvalsh(V.T @ C @ V)[: max(k - s, 0)].sum()

    def overlap(M):
        return (np.sum(C * C) + k - worst_case_risk(X, M, C, k)) / 2

    rng = np.random.default_rng(3)
    for L in rng.normal(size=(40, X.shape[1], 2)):
        A = X @ L @ L.T @ X.T
        Q = np.linalg.eigh(A)[1][:, -k:]
        inside = U @ U.T @ Q @ Q.T @ U @ U.T
        assert_allclose(np.sum(Q @ Q.T * A), np.sum(inside * A), rtol=1e-9)
        assert overlap(L @ L.T) <= bound + 1e-9
    best = closed_form_metric(X, F, rank=k)
    assert_allclose(overlap(best), bound, atol=1e-9)

    cut = (vectors[:, -k:] * values[-k:]) @ vectors[:, -k:].T
    assert_allclose(X @ best @ X.T, U @ cut @ U.T, atol=1e-9)
    if np.count_nonzero(values > 1e-9) >= k:
        root = (vectors[:, -k:] * np.sqrt(values[-k:])) @ vectors[:, -k:].T
        printed = U @ root @ np.linalg.pinv(root @ U.T @ U @ root, rcond=1e-9) @ root @ U.T
        shorter = U @ root @ np.linalg.pinv(cut, rcond=1e-9) @ root @ U.T
        lead = np.linalg.eigh(X @ best @ X.T)[1][:, -k:]
        assert_allclose(printed, lead @ lead.T, atol=1e-7)
        assert_allclose(shorter, lead @ lead.T, atol=1e-7)
        assert_allclose(np.sum(printed * C), bound, atol=1e-7)
    if k > s:  # Q is square, and Z is any k - s directions beside the columns of X
        Q = np.linalg.qr(rng.normal(size=(s, s)))[0]
        Z = np.linalg.qr(rng.normal(size=(len(X) - s, k - s)))[0]
        H = np.hstack([U @ Q, V @ Z])
        assert_allclose(
            np.sum(H @ H.T * C), np.trace(U.T @ C @ U) + np.sum(Z @ Z.T * (V.T @ C @ V)), atol=1e-9
        )
        assert np.sum(H @ H.T * C) >= bound - 1e-9


@pytest.mark.equation("Law 2016, Eqs. 20-21 and Theorem 4.1")
def test_theorem_4_1_no_direction_beats_the_closed_form():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(8, 3)), np.array([-1, -1, 1, 1, 1, -1, 1, 1])
    m = BinaryMLCA().fit(X, y).direction_
    assert_allclose(m, np.linalg.pinv(X) @ y / np.sqrt(8), atol=1e-12)
    C = np.outer(y, y) / 8
    best = worst_case_risk(X, np.outer(m, m), C, 1)
    angle = np.linspace(0, np.pi, 60)
    height = np.linspace(-1, 1, 60)
    others = [
        worst_case_risk(X, np.outer(v, v), C, 1)
        for a in angle
        for z in height
        if (v := np.array([*(np.sqrt(1 - z * z) * np.array([np.cos(a), np.sin(a)])), z])).any()
    ]
    others += [worst_case_risk(X, L @ L.T, C, 1) for L in rng.normal(size=(200, 3, 3))]
    assert best <= min(others) + 1e-9
    assert best > min(others) - 0.01  # and the grid comes close


def test_single_precision_stays():
    X, F, _ = CASES["partition"]
    for learn in (closed_form_factor, closed_form_metric):
        single = learn(X.astype(np.float32), F, rank=2)
        assert single.dtype == np.float32
        assert_allclose(abs(single), abs(learn(X, F, rank=2)), atol=1e-5)


X, F, _ = CASES["partition"]
REFUSED = {
    "PCP = 0": (lambda: closed_form_metric(X - F @ F.T @ X, F), "factor: PCP = 0"),
    "rank": (lambda: closed_form_metric(X, F, rank=0), "rank.*at least 1; got 0"),
    "lengths": (lambda: closed_form_factor(X, np.eye(3)), "inconsistent"),
    "not finite": (lambda: closed_form_factor(np.full((2, 1), np.inf), np.eye(2)), "X contains"),
    "factor not finite": (
        lambda: closed_form_factor(X, np.full((8, 1), np.nan)),
        "factor contains NaN",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()
