"""The worst-case risk and its convex bound, against projectors drawn and written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mlbook.mlca import closed_form_factor, closed_form_metric, structured_loss, worst_case_risk
from mlbook.partitions import equivalence_matrix, normalized_assignment

LABELS = np.array([0, 0, 0, 1, 1, 2, 2])


def random_projectors(rng, n, k, count=4000):
    Q = np.linalg.qr(rng.normal(size=(count, n, k))).Q
    return Q @ Q.transpose(0, 2, 1)


def delta(projectors, labels):
    return np.sum((projectors - equivalence_matrix(labels)) ** 2, axis=(-2, -1))


@pytest.mark.equation("Law 2016, Eqs. 12 and 22")
@pytest.mark.parametrize("d", [3, 5, 9])
def test_risk_without_ties_is_the_loss_of_the_leading_eigenvectors(d):
    rng = np.random.default_rng(d)
    X, L = rng.normal(size=(7, d)), rng.normal(size=(d, d))
    U = np.linalg.eigh(X @ L @ L.T @ X.T)[1][:, -3:]
    expected = delta(U @ U.T, LABELS)
    assert worst_case_risk(X, L @ L.T, LABELS) == pytest.approx(expected)


@pytest.mark.equation("Law 2016, Eqs. 12-14 and 23")
def test_risk_with_ties_is_the_worst_completion():
    """M of rank 1 decides one direction; the other two of k = 3 are anything orthogonal to it."""
    rng = np.random.default_rng(0)
    X, m = rng.normal(size=(7, 2)), np.array([1.0, 2.0])
    u = X @ m / np.linalg.norm(X @ m)
    basis = np.linalg.svd(u[:, None])[0][:, 1:]
    completions = basis @ random_projectors(rng, 6, 2, 20_000) @ basis.T
    losses = delta(np.outer(u, u) + completions, LABELS)
    risk = worst_case_risk(X, np.outer(m, m), LABELS)
    assert losses.max() <= risk + 1e-9
    assert losses.max() > risk - 0.2
    assert worst_case_risk(X, np.zeros((2, 2)), LABELS) == pytest.approx(6)


@pytest.mark.equation("Law 2016, Eqs. 12-14 and 23")
def test_risk_with_a_tie_above_zero():
    X = np.eye(4)
    y = np.array([0, 0, 1, 1])
    # eigenvalues 2, 1, 1, 0: the second vector is any combination of e1 and e2
    angle = np.linspace(0, np.pi, 2001)
    vectors = np.outer(np.cos(angle), X[1]) + np.outer(np.sin(angle), X[2])
    losses = delta(np.outer(X[0], X[0]) + vectors[:, :, None] * vectors[:, None], y)
    risk = worst_case_risk(X, np.diag([2.0, 1, 1, 0]), y)
    assert risk == pytest.approx(losses.max(), abs=1e-4)


@pytest.mark.equation("Law 2016, Eqs. 10, 11, 24 and 25")
def test_structured_loss_is_the_maximum_and_bounds_the_risk():
    rng = np.random.default_rng(1)
    projectors = random_projectors(rng, 7, 3)
    C = equivalence_matrix(LABELS)
    for d in (2, 4, 8):
        X, L = rng.normal(size=(7, d)), rng.normal(size=(d, 2))
        A = X @ L @ L.T @ X.T
        values = delta(projectors, LABELS) + np.sum((projectors - C) * A, axis=(1, 2))
        U = np.linalg.eigh(A - 2 * C)[1][:, -3:]
        best = U @ U.T
        attained = delta(best, LABELS) + np.sum((best - C) * A)
        loss = structured_loss(X, L @ L.T, LABELS)
        assert values.max() <= loss + 1e-9
        assert loss == pytest.approx(attained)
        predicted = np.linalg.eigh(A)[1][:, -3:]
        gain = np.sum((predicted @ predicted.T - C) * A)  # a prediction scores no less than C
        assert 0 <= gain <= loss - delta(predicted @ predicted.T, LABELS) + 1e-9
        for scale in (0, 0.01, 0.3, 1, 10):
            M = scale * L @ L.T
            assert structured_loss(X, M, LABELS) >= worst_case_risk(X, M, LABELS) - 1e-9


@pytest.mark.equation("Law 2016, Eq. 9")
def test_risk_is_zero_exactly_if_the_partition_is_the_only_winner():
    rng = np.random.default_rng(4)
    C, J = equivalence_matrix(LABELS), normalized_assignment(LABELS).toarray()
    others = random_projectors(rng, 7, 3)
    alone = np.diag([3.0, 1, 2])
    assert worst_case_risk(J, alone, LABELS) == pytest.approx(0)
    assert np.all(np.sum((C - others) * (J @ alone @ J.T), axis=(1, 2)) > 0)
    tied = np.diag([3.0, 1, 0])  # the third direction may be anything orthogonal to the others
    v = np.linalg.svd(J)[0][:, -1]
    rival = J[:, :2] @ J[:, :2].T + np.outer(v, v)
    assert np.sum((C - rival) * (J @ tied @ J.T)) == pytest.approx(0)
    assert worst_case_risk(J, tied, LABELS) >= delta(rival, LABELS) - 1e-9 > 1
    few = normalized_assignment([0, 0, 1, 2]).toarray()  # a rival has to contain one direction
    assert worst_case_risk(few, np.diag([3.0, 0, 0]), [0, 0, 1, 2]) == pytest.approx(6 - 2 * 2)


@pytest.mark.equation("Law 2016, Eq. 16")
def test_smallest_risk_is_twice_the_residual_for_all_weights():
    rng = np.random.default_rng(2)
    X, G = rng.normal(size=(7, 4)), rng.normal(size=(3, 3))
    J = normalized_assignment(LABELS).toarray()
    W = closed_form_factor(X, J)
    expected = 2 * np.sum((X @ W - J) ** 2)
    for weights in (np.eye(3), G @ G.T, np.diag([3.0, 2, 2])):
        assert worst_case_risk(X, W @ weights @ W.T, LABELS) == pytest.approx(expected)


def test_no_cut_is_needed():
    """The exercise: X†C(X†)ᵀ is optimal for fewer clusters than classes, too."""
    rng = np.random.default_rng(3)
    J = normalized_assignment(LABELS)
    for _ in range(10):
        X = rng.normal(size=(7, 4))
        cut, whole = (closed_form_metric(X, J, rank=rank) for rank in (2, None))
        assert np.linalg.matrix_rank(cut) == 2 and np.linalg.matrix_rank(whole) == 3
        risks = [worst_case_risk(X, M, LABELS, n_clusters=2) for M in (cut, whole)]
        assert risks[0] == pytest.approx(risks[1])
        others = rng.normal(size=(50, 4, 4))
        for L in others:
            assert worst_case_risk(X, L @ L.T, LABELS, n_clusters=2) >= risks[0] - 1e-9


@pytest.mark.equation("Law 2016, Eqs. 10-14 and 22-25")
@pytest.mark.parametrize(("n", "d", "k"), [(7, 2, 3), (12, 4, 2), (12, 20, 5), (9, 1, 9)])
def test_both_by_matrices_of_all_points(n, d, k):
    """The same numbers from XMXᵀ and C, n × n, for any number of clusters looked for."""
    rng = np.random.default_rng(n + d)
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    X, L, C = rng.normal(size=(n, d)), rng.normal(size=(d, 2)), equivalence_matrix(y)
    A = X @ L @ L.T @ X.T
    vectors = np.linalg.eigh(A)[1]
    for m in range(1, n + 1):
        above = vectors[:, -min(m, np.linalg.matrix_rank(A)) :]
        beside = np.linalg.svd(above)[0][:, above.shape[1] :]
        rest = np.linalg.eigvalsh(beside.T @ C @ beside)[: m - above.shape[1]]
        expected = k + m - 2 * (np.trace(above.T @ C @ above) + rest.sum())
        assert worst_case_risk(X, L @ L.T, y, n_clusters=m) == pytest.approx(expected, abs=1e-9)
    fan = np.linalg.eigvalsh(A - 2 * C)[-k:].sum()
    loss = 2 * k + fan - np.sum(C * A)
    assert_allclose(structured_loss(X, L @ L.T, y), loss, atol=1e-9)


@pytest.mark.equation("Law 2016, Eq. 10")
def test_the_bound_is_convex_in_the_metric():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(7, 3))
    for A, B in rng.normal(size=(20, 2, 3, 2)):
        ends, share = (A @ A.T, B @ B.T), rng.random()
        middle = share * ends[0] + (1 - share) * ends[1]
        first, second = (structured_loss(X, M, LABELS) for M in ends)
        assert structured_loss(X, middle, LABELS) <= share * first + (1 - share) * second + 1e-9


X = np.random.default_rng(7).normal(size=(7, 2))
REFUSED = {
    "not finite": (lambda: worst_case_risk(X * np.nan, np.eye(2), LABELS), "X contains NaN"),
    "M shape": (lambda: worst_case_risk(X, np.eye(3), LABELS), r"M must have shape .*\(2, 2\)"),
    "M indefinite": (lambda: structured_loss(X, -np.eye(2), LABELS), "M must be positive semi"),
    "M asymmetric": (lambda: structured_loss(X, [[1, 1], [0, 1]], LABELS), "M must be symmetric"),
    "lengths": (lambda: worst_case_risk(X, np.eye(2), LABELS[1:]), "6 labels for 7 rows"),
    "labels": (lambda: structured_loss(X, np.eye(2), LABELS - 1), "labels must be non-negative"),
    "no cluster": (lambda: worst_case_risk(X, np.eye(2), LABELS, 0), "n_clusters.*got 0"),
    "too many": (lambda: worst_case_risk(X, np.eye(2), LABELS, 8), "n_clusters.*n_samples=7"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()
