"""k-means as a trace: identities and bounds against enumeration, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import all_partitions, partitions_into_at_most
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from mlbook import kmeans
from mlbook._validation import check_n_clusters, metric_factor
from mlbook.kmeans import (
    SpectralKMeans,
    distortion,
    spectral_bound,
    spectral_embedding,
    trace_objective,
)
from mlbook.partitions import equivalence_matrix, partition_loss


def random_metric(rng, d, rank):
    L = rng.normal(size=(d, rank))
    return L @ L.T


def cases():
    """Small data sets with what can go wrong: (X, M) by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3))
    twice = np.repeat(rng.normal(size=(3, 2)), 2, axis=0)
    far_apart = np.repeat([[0.0], [1e6]], 3, axis=0) + rng.normal(size=(6, 3))
    return {
        "plain": (X, None),
        "metric": (X, random_metric(rng, 3, 3)),
        "singular metric": (X, random_metric(rng, 3, 1)),
        "zero metric": (X, np.zeros((3, 3))),
        "data in the kernel of the metric": (X @ np.diag([1.0, 1.0, 0]), np.diag([0, 0, 1.0])),
        "unlike units": (X * [1e-9, 1, 1e9], np.diag([1e18, 1, 1e-18]) + 1e-3),
        "rank-deficient": (X[:, :1] * [1.0, -2.0, 0.5], None),
        "more features than points": (rng.normal(size=(5, 9)), None),
        "more features than points, metric": (rng.normal(size=(5, 9)), random_metric(rng, 9, 4)),
        "duplicates": (twice, None),
        "constant": (np.full((4, 2), 0.1), None),
        "far from the origin": (X + 1e6, None),
        "far from the origin, metric": (X + 1e6, random_metric(rng, 3, 2)),
        "clusters far apart": (far_apart, None),
        "float32": (X.astype(np.float32) + np.float32(100), None),
        "tiny": (X * 1e-150, None),
        "single point": (X[:1], None),
    }


CASES = cases()
every_case = pytest.mark.parametrize(("X", "M"), CASES.values(), ids=CASES)


def exact_distortions(X, M, k):
    """Distortion of every partition into at most k clusters, as exact fractions.

    Uses Σ_{i in c} d²(x_i, z_c) = Σ_{i,j in c} d²(x_i, x_j)/(2 n_c).
    """
    n, d = X.shape
    M = np.eye(d) if M is None else M
    x = [[Fraction(float(value)) for value in row] for row in X]
    m = [[Fraction(float(M[p, q] + M[q, p]) / 2) for q in range(d)] for p in range(d)]
    D = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            r = [u - w for u, w in zip(x[i], x[j], strict=True)]
            Mr = [sum(a * b for a, b in zip(row, r, strict=True) if a) for row in m]
            D[i][j] = sum((a * b for a, b in zip(r, Mr, strict=True)), Fraction(0))
    for labels in partitions_into_at_most(n, k):
        sizes = np.bincount(labels)
        yield sum(
            (
                D[i][j] / int(sizes[labels[i]])
                for i in range(n)
                for j in range(i)
                if labels[i] == labels[j]
            ),
            Fraction(0),
        )


# The distortion, three ways


@pytest.mark.equation("Law 2016, Eqs. 1-4 and 8", "Lajugie 2014, Eqs. 1-3")
@pytest.mark.parametrize("rank", [None, 3, 1])
def test_equations_2_3_4_agree_on_all_partitions(rank):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 3)) + 2
    M = None if rank is None else random_metric(rng, 3, rank)
    metric = np.eye(3) if M is None else M
    gram = X @ metric @ X.T
    for labels in all_partitions(6):
        Y = (labels[:, None] == np.arange(labels.max() + 1)).astype(float)
        Z = np.linalg.lstsq(Y, X, rcond=None)[0]
        eq2 = sum(
            Y[i, c] * (X[i] - Z[c]) @ metric @ (X[i] - Z[c])
            for i in range(6)
            for c in range(Y.shape[1])
        )
        residual = X - Y @ Z
        eq3 = np.trace(residual @ metric @ residual.T)
        C = equivalence_matrix(labels)
        eq4 = np.sum(gram * (np.eye(6) - C))
        assert_allclose([eq3, eq4, distortion(X, labels, M)], eq2, rtol=1e-11, atol=1e-11)
        assert_allclose(trace_objective(X, labels, M), np.sum(gram * C), rtol=1e-12)
        worse = residual + Y @ rng.normal(size=Z.shape) * 0.1
        assert np.trace(worse @ metric @ worse.T) >= eq3 - 1e-12


@every_case
def test_distortion_is_accurate_wherever_the_data_lie(X, M):
    for labels, exact in zip(all_partitions(len(X)), exact_distortions(X, M, len(X)), strict=True):
        weights = 1 if M is None else np.diag(M)
        allowed = 1e-13 * np.sum(weights * np.ptp(X.astype(float), axis=0) ** 2)
        assert_allclose(distortion(X, labels, M), float(exact), rtol=1e-12, atol=allowed)


@pytest.mark.parametrize("n_clusters", [5, 2500])
@pytest.mark.parametrize("rank", [None, 2])
def test_many_rows_sparse_and_single_precision_give_the_same(n_clusters, rank):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5000, 4)).astype(np.float32) * (rng.random((5000, 4)) < 0.3)
    labels = rng.integers(0, n_clusters, 5000)
    M = None if rank is None else random_metric(rng, 4, rank)
    A = X.astype(float) if M is None else X @ metric_factor(M, 4)
    means = np.array([A[labels == c].mean(axis=0) for c in np.unique(labels)])
    codes = np.unique(labels, return_inverse=True)[1]
    expected = np.sum((A - means[codes]) ** 2)
    for data in (X, X.astype(float), sp.csr_array(X), sp.csr_matrix(X), sp.csc_array(X)):
        assert_allclose(distortion(data, labels, M), expected, rtol=1e-12)
        assert_allclose(trace_objective(data, labels, M), np.sum(means[codes] ** 2), rtol=1e-12)


# The relaxation


@every_case
def test_bound_is_below_the_exact_optimum_for_every_k(X, M):
    # k = 1 has a single partition, whose distortion the bound meets but for its allowance
    # for rounding: computed carelessly it lands above about every other time.
    for k in range(1, len(X) + 1):
        optimum = min(exact_distortions(X, M, k))
        for centred in (True, False):
            bound = spectral_bound(X, k, M, centred=centred)
            assert bound >= 0
            assert Fraction(bound) <= optimum


@pytest.mark.parametrize("kind", ["plain", "far", "metric", "kernel"])
def test_bound_survives_rounding_in_hundreds_of_tight_cases(kind):
    rng = np.random.default_rng(3)
    for _ in range(300):
        n, d = rng.integers(2, 5, size=2)
        X, M, loss = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d), None, 1e-11
        if kind == "far":  # whole numbers at an offset where their mean is not a float64
            X = rng.integers(-4, 5, size=(n, d)) + 2.0**48
        if kind in ("metric", "kernel"):
            M = random_metric(rng, d, int(rng.integers(1, d + 1))) * 10.0 ** rng.integers(-9, 10)
        if kind == "kernel":  # moved along the directions the metric hardly sees, if any
            X = X + 1e5 * rng.normal(size=(n, 1)) * np.linalg.eigh(M)[1][:, 0]
            loss = 1.0
        (exact,) = exact_distortions(X, M, 1)
        bound = spectral_bound(X, 1, M)
        assert Fraction(bound) <= exact
        assert bound >= float(exact) * (1 - loss)


def exact_spectrum(rng, d, size):
    """Whole numbers X and M, and the eigenvalues of (X - mean) M (X - mean)' as whole numbers.

    X = S diag(a) Q + offset, with Q a reflection times a whole number c, the columns of S of +1 and
    -1, orthogonal and each of sum zero; M = Q' diag(b) Q. So all rounding is that of the function.
    """
    v = rng.integers(1, 4, size=d)
    c = int(v @ v)
    Q = c * np.eye(d, dtype=np.int64) - 2 * np.outer(v, v)
    S = hadamard(1 << d)[:, 1 << np.arange(d)].astype(np.int64)
    a, b = rng.integers(1, size, size=d), rng.integers(1, 9, size=d)
    X = np.tile(S * a @ Q, (20, 1)) + rng.integers(-size, size, size=d)
    M = Q.T * b @ Q
    values = [20 * 2**d * int(x) ** 2 * c**2 for x in a]
    assert abs(X).max() < 2**53
    return X, M, values, [x * int(y) * c**2 for x, y in zip(values, b, strict=True)]


@pytest.mark.parametrize("metric", [False, True])
def test_bound_from_the_gram_matrix_is_below_sums_of_exact_eigenvalues(metric, monkeypatch):
    monkeypatch.setattr(kmeans, "_spectrum", None)  # it is not from the QR decomposition
    rng = np.random.default_rng(5)
    for size in [10**3, 10**6, 10**9, 10**12] * 12:
        d = int(rng.integers(2, 7))
        X, M, plain, weighted = exact_spectrum(rng, d, size)
        exact = sorted(weighted if metric else plain)
        for k in range(1, d):
            if 100 * sum(exact[: d - k + 1]) < sum(exact):  # else the QR decomposition takes over
                continue
            bound = spectral_bound(X.astype(float), k, M.astype(float) if metric else None)
            assert Fraction(bound) <= sum(exact[: d - k + 1])
            assert bound >= sum(exact[: d - k + 1]) * (1 - 1e-8)


def test_errors_of_the_sums_are_within_what_the_bound_allows_for():
    """Those of the Gram matrix of many rows, against exact sums: no more than is counted."""
    rng = np.random.default_rng(6)
    for n, d, offset in [(1500, 2, 0.0), (3000, 3, 1e3), (1500, 2, 1e6)]:
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 3, d) + offset
        x = [[Fraction(value) for value in row] for row in X.tolist()]
        mean = [sum(column) / n for column in zip(*x, strict=True)]
        exact = sum((value - m) ** 2 for row in x for value, m in zip(row, mean, strict=True))
        bound = Fraction(spectral_bound(X, 1))
        assert exact * (1 - Fraction(1, 10**8)) <= bound <= exact


@pytest.mark.parametrize(
    ("X", "M"),
    [
        (np.c_[np.ones(4), [0.0, 1e-160, 3e-160, 7e-160]], None),  # squares that vanish
        (np.c_[[0.0, 1e-170, 3e-170, 9e-170], [0.0, 1, 5, 2]], np.diag([1e300, 1.0])),
        (np.c_[[0.0, 1e130, 3e130, 9e130], [0.0, 1, 5, 2]], np.diag([1e-300, 1.0])),
        (np.full((3, 2), 1e120) * [[1.0], [2.0], [4.0]], None),
    ],
)
def test_bound_of_squares_near_the_ends_of_the_range(X, M):
    rng = np.random.default_rng(7)
    for k in (1, 2):
        optimum = min(exact_distortions(X, M, k))
        assert 0 <= Fraction(spectral_bound(X, k, M)) <= optimum
    for power in [-158, -155, -154, -153] * 10:  # with a column of ones: X itself is not tiny
        Z = np.c_[np.ones(6), 10.0**power * rng.normal(size=(6, 2))]
        assert Fraction(spectral_bound(Z, 1)) <= min(exact_distortions(Z, None, 1))


@pytest.mark.equation("Lajugie 2014, Section 2.4")
@pytest.mark.parametrize("name", ["plain", "metric", "more features than points", "float32"])
def test_bound_is_the_tail_of_the_spectrum(name):
    X, M = CASES[name]
    A = X.astype(float) if M is None else X @ np.linalg.cholesky(M)
    for k in range(1, len(X) + 1):
        plain = np.linalg.svd(A, compute_uv=False)[k:]
        centred = np.linalg.svd(A - A.mean(axis=0), compute_uv=False)[k - 1 :]
        atol = 1e-10 * np.sum(A**2)
        assert_allclose(spectral_bound(X, k, M, centred=False), np.sum(plain**2), atol=atol)
        assert_allclose(spectral_bound(X, k, M), np.sum(centred**2), atol=atol)


@every_case
def test_centred_bound_is_at_least_as_tight(X, M):
    for k in range(1, len(X) + 1):
        tight = spectral_bound(X, k, M)
        assert tight >= spectral_bound(X, k, M, centred=False) * (1 - 1e-9)


def test_bound_is_sharp_where_clusters_are_far_apart():
    # The clusters explain all but 1e-12 of the variance; a Gram matrix would lose the rest.
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(100, 5))
    X = noise + 1e6 * np.repeat([[0.0], [1.0]], 50, axis=0) * np.eye(5)[0]
    best = distortion(X, np.repeat([0, 1], 50))
    across = noise[:, 1:] - noise[:, 1:].mean(axis=0)
    assert spectral_bound(X, 2) <= best
    assert_allclose(spectral_bound(X, 2), np.sum(across**2), rtol=0.05)


def test_bound_and_centred_embedding_ignore_translation():
    rng = np.random.default_rng(5)
    X = rng.integers(-8, 8, size=(40, 6)) / 8.0  # exact in float64 also after the shift
    assert_allclose(spectral_bound(X + 2.0**30, 3), spectral_bound(X, 3), rtol=1e-10)
    U, V = (spectral_embedding(data, 3, centred=True) for data in (X, X + 2.0**30))
    assert_allclose(U, V, atol=1e-9)


@pytest.mark.equation("Law 2016, Eqs. 7-8")
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("rank", [None, 5, 3])
def test_embedding_attains_the_relaxed_optimum_over_projectors(centred, rank):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(12, 5)) + 1
    M = None if rank is None else random_metric(rng, 5, rank)
    gram = X @ X.T if M is None else X @ M @ X.T
    total = np.trace(gram)
    for k in range(1, 5):
        U = spectral_embedding(X, k, M, centred=centred)
        assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-9)
        assert np.all(U.max(axis=0) > -U.min(axis=0) - 1e-9)  # the largest entry is positive
        best = np.sum(gram * (U @ U.T))
        bound = spectral_bound(X, k, M, centred=centred)
        assert_allclose(total - best, bound, atol=1e-9 * total)
        for step in (1e-3, 0.1, 10.0):  # projectors near the solution and far from it
            basis = np.zeros((12, k))
            basis[:, : U.shape[1]] = U
            basis += step * rng.normal(size=(12, k))
            if centred:
                basis[:, 0] = 1
            Q = np.linalg.qr(basis)[0]
            assert np.sum(gram * (Q @ Q.T)) <= best + 1e-9 * total
        for labels in partitions_into_at_most(7, k):
            few = np.concatenate([labels, labels[:5]])
            assert np.sum(gram * equivalence_matrix(few)) <= best + 1e-9 * total


@pytest.mark.parametrize(
    ("name", "plain", "centred"),
    [
        ("plain", 3, 4),
        ("singular metric", 1, 2),
        ("zero metric", 0, 1),
        ("rank-deficient", 1, 2),
        ("more features than points", 5, 5),
        ("duplicates", 2, 3),
        ("constant", 1, 1),
        ("far from the origin", 3, 4),
        ("single point", 1, 1),
    ],
)
def test_embedding_has_no_column_of_noise(name, plain, centred):
    X, M = CASES[name]
    assert spectral_embedding(X, len(X), M).shape == (len(X), plain)
    assert spectral_embedding(X, len(X), M, centred=True).shape == (len(X), centred)


def test_embedding_forgets_an_invertible_metric_when_k_reaches_d():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20, 3))
    U, V = spectral_embedding(X, 3), spectral_embedding(X, 3, random_metric(rng, 3, 3))
    assert_allclose(U @ U.T, V @ V.T, atol=1e-10)
    U, V = spectral_embedding(X, 2), spectral_embedding(X, 2, random_metric(rng, 3, 3))
    assert np.abs(U @ U.T - V @ V.T).max() > 0.1


def test_embedding_of_many_rows_sparse_and_single_precision():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(3000, 4)) * [4, 3, 2, 1] + 1
    U = np.linalg.svd(X, full_matrices=False)[0][:, :3]
    U *= np.sign(U[np.abs(U).argmax(axis=0), range(3)])
    assert_allclose(spectral_embedding(X, 3), U, atol=1e-10)
    assert_allclose(spectral_embedding(sp.csr_array(X), 3), U, atol=1e-10)
    single = spectral_embedding(X.astype(np.float32), 3)
    assert single.dtype == np.float32
    assert_allclose(single, U, atol=1e-5)
    assert spectral_bound(sp.csr_array(X), 3) == pytest.approx(spectral_bound(X, 3), rel=1e-12)


def test_sign_does_not_depend_on_rounding_when_entries_tie():
    sides = np.where(np.arange(20) % 2, 1.0, -1.0)
    for direction in np.random.default_rng(9).normal(size=(20, 3)):
        U = spectral_embedding(np.outer(sides, direction) + direction[0], 2, centred=True)
        assert_allclose(U[:, 1], -sides / np.sqrt(20), rtol=1e-7)


# Relax and round


@pytest.mark.parametrize(
    ("estimator", "check"),
    list(estimator_checks_generator(SpectralKMeans(n_clusters=2, n_init=2))),
    ids=lambda value: getattr(getattr(value, "func", None), "__name__", ""),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rank", [None, 6, 2])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, np.float32])
def test_fit_is_a_local_optimum_with_a_valid_certificate(rank, convert):
    rng = np.random.default_rng(10)
    X = make_blobs(200, 6, centers=4, cluster_std=4.0, random_state=0)[0]
    M = None if rank is None else random_metric(rng, 6, rank)
    model = SpectralKMeans(4, M=M, random_state=0).fit(convert(X))
    A = X if M is None else X @ metric_factor(M, 6)
    means = np.array([A[model.labels_ == c].mean(axis=0) for c in range(4)])
    squared = np.sum((A[:, None] - means) ** 2, axis=2)
    assert np.all(squared[np.arange(200), model.labels_] <= squared.min(axis=1) + 1e-3)
    assert_allclose(model.distortion_, squared.min(axis=1).sum(), rtol=1e-5)
    assert_allclose(model.bound_, spectral_bound(X, 4, M), rtol=1e-4)
    assert model.bound_ <= model.distortion_
    assert_allclose(model.gap_, 1 - model.bound_ / model.distortion_, rtol=1e-12)
    best = KMeans(4, n_init=20, random_state=0).fit(A).inertia_
    assert model.distortion_ <= best * 1.01


def test_metric_is_the_same_as_mapping_the_data():
    rng = np.random.default_rng(11)
    X = make_blobs(150, 5, centers=3, cluster_std=3.0, random_state=1)[0]
    M = random_metric(rng, 5, 5)
    with_metric = SpectralKMeans(3, M=M, random_state=0).fit(X)
    mapped = SpectralKMeans(3, random_state=0).fit(X @ np.linalg.cholesky(M))
    assert partition_loss(with_metric.labels_, mapped.labels_) == 0
    assert_allclose(with_metric.distortion_, mapped.distortion_, rtol=1e-10)
    assert_allclose(with_metric.bound_, mapped.bound_, rtol=1e-8)
    assert partition_loss(with_metric.labels_, SpectralKMeans(3, random_state=0).fit(X).labels_) > 0


@pytest.mark.slow
def test_rounding_the_projected_rows_is_within_twice_the_optimum():
    rng = np.random.default_rng(12)
    for _ in range(10):
        X = rng.normal(size=(7, 5))
        U = spectral_embedding(X, 3, centred=True)
        projected = U @ (U.T @ X)
        bound = spectral_bound(X, 3)
        partitions = list(partitions_into_at_most(7, 3))
        on_data = np.array([distortion(X, labels) for labels in partitions])
        on_projection = np.array([distortion(projected, labels) for labels in partitions])
        assert np.all(on_data <= on_projection + bound + 1e-9)
        assert on_data[on_projection.argmin()] <= 2 * on_data.min()


def test_gap_is_zero_when_optimality_is_proven():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [9.0, 0.0], [9.0, 2.0]])
    assert SpectralKMeans(2, random_state=0).fit(X).gap_ == pytest.approx(0, abs=1e-12)
    assert SpectralKMeans(4, random_state=0).fit(X).gap_ == 0  # no distortion at all
    assert SpectralKMeans(1).fit(X).gap_ == pytest.approx(0, abs=1e-12)


def test_fewer_distinct_points_than_clusters_warn_as_k_means_does():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        model = SpectralKMeans(3, random_state=0).fit(X)
    assert model.distortion_ == model.bound_ == model.gap_ == 0
    assert len(set(model.labels_)) == 2


# The metric


@pytest.mark.parametrize("rank", range(1, 6))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_metric_factor_reproduces_the_metric_in_any_units(rank, dtype):
    rng = np.random.default_rng(rank)
    units = 10.0 ** np.array([-8, -3, 0, 3, 8]) if dtype is np.float64 else np.ones(5)
    M = (random_metric(rng, 5, rank) * units[:, None] * units).astype(dtype)
    L = metric_factor(M, 5)
    assert L.shape == (5, rank)
    scale = np.sqrt(np.diag(M))
    assert_allclose((L @ L.T) / scale[:, None] / scale, M / scale[:, None] / scale, atol=2e-6)
    if dtype is np.float64:
        assert_allclose((L @ L.T) / scale[:, None] / scale, M / scale[:, None] / scale, atol=1e-13)


def test_metric_factor_forgives_rounding_only():
    M = np.diag([1.0, 0.0])
    assert_allclose(metric_factor(M - 1e-14, 2) ** 2, [[1], [0]], atol=1e-12)
    assert_array_equal(metric_factor(np.zeros((2, 2)), 2), np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("M", "message"),
    [
        (
            np.diag([1.0, -1e-6]),
            "M must be positive semidefinite; its smallest eigenvalue is -1e-06",
        ),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "M must be positive semidefinite.* is -1"),
        (np.array([[0.0, 1e-9], [1e-9, 0.0]]), "M must be positive semidefinite"),
        (-np.eye(2), "M must be positive semidefinite"),
        (np.array([[1.0, 0.1], [0.0, 1.0]]), "M must be symmetric.* differ by 0.1"),
        (np.eye(3), r"M must have shape .*\(2, 2\); got \(3, 3\)"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "M contains NaN"),
        (np.ones(2), "M|2D array"),
    ],
)
def test_bad_metric_is_refused(M, message):
    X, labels = np.eye(2), [0, 1]
    calls = [
        lambda: trace_objective(X, labels, M),
        lambda: distortion(X, labels, M),
        lambda: spectral_bound(X, 2, M),
        lambda: spectral_embedding(X, 2, M),
        lambda: SpectralKMeans(2, M=M).fit(X),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


# Bad input


@pytest.mark.parametrize("k", [0, -1, 4, 2.0, True, "2", None, np.nan])
def test_bad_number_of_clusters_is_refused(k):
    X = np.eye(3)
    message = "n_clusters must be an integer between 1 and n_samples=3; got"
    for call in (spectral_bound, spectral_embedding, lambda X, k: SpectralKMeans(k).fit(X)):
        with pytest.raises(ValueError, match=message):
            call(X, k)


def test_number_of_clusters_may_be_a_numpy_integer():
    assert check_n_clusters(np.int64(3), 3) == 3


@pytest.mark.parametrize("function", [trace_objective, distortion])
def test_bad_points_or_labels_are_refused(function):
    with pytest.raises(ValueError, match="labels must have one entry per row of X; got 3 labels"):
        function(np.eye(2), [0, 1, 1])
    with pytest.raises(ValueError, match="labels must be non-negative"):
        function(np.eye(2), [0, -1])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        function([[np.inf], [0.0]], [0, 1])
    with pytest.raises(ValueError, match="0 sample"):
        function(np.empty((0, 2)), [])
