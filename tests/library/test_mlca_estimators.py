"""MLCA and BinaryMLCA: what they learn, in what pieces, from what input, and what they refuse."""

import pickle
import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import mlbook.mlca
from mlbook.mlca import MLCA, BinaryMLCA, closed_form_metric
from mlbook.mlca.class_digest import ClassDigest
from mlbook.partitions import normalized_assignment, partition_loss


def blobs(seed=0, n=120, d=5, k=3, spread=1.0):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    return rng.normal(size=(k, d))[y] * 3 + 1 + spread * rng.normal(size=(n, d)), y


def indicators(y):
    """J, written out."""
    Y = (np.asarray(y)[:, None] == np.unique(y)).astype(float)
    return Y / np.sqrt(Y.sum(axis=0))


@pytest.mark.equation("Law 2016, Eqs. 15-17 and 21")
@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr"])
@pytest.mark.parametrize("shape", [(120, 5), (30, 40)])
def test_w_is_the_pseudo_inverse_times_j(solver, shape):
    X, y = blobs(n=shape[0], d=shape[1])
    mlca = MLCA(solver=solver).fit(X, y)
    W = np.linalg.pinv(X) @ indicators(y)
    assert_allclose(mlca.components_, W.T, atol=1e-12)
    assert_allclose(mlca.transform(X), X @ W, atol=1e-11)
    assert_allclose(mlca.get_mahalanobis_matrix(), W @ W.T, atol=1e-12)
    assert_array_equal(mlca.class_count_, np.bincount(y))


def test_the_metric_in_scatter_matrices():
    X, y = blobs()
    total = np.linalg.pinv(X.T @ X)
    means = [X[y == c].mean(axis=0) for c in range(3)]
    between = sum(np.sum(y == c) * np.outer(z, z) for c, z in enumerate(means))
    assert_allclose(MLCA().fit(X, y).get_mahalanobis_matrix(), total @ between @ total, atol=1e-12)


@pytest.mark.equation("Law 2016, Eqs. 15-17 and 21")
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_fewer_components(fit_intercept):
    X, y = blobs(k=4)
    full = MLCA(fit_intercept=fit_intercept).fit(X, y)
    rows = X - X.mean(axis=0) if fit_intercept else X
    for r in (1, 2, 3):
        mlca = MLCA(n_components=r, fit_intercept=fit_intercept).fit(X, y)
        assert mlca.components_.shape == (r, 5)
        expected = closed_form_metric(rows, normalized_assignment(y), rank=r)
        assert_allclose(mlca.get_mahalanobis_matrix(), expected, atol=1e-12)
        V = np.linalg.svd(rows @ np.linalg.pinv(rows) @ indicators(y))[2][:r].T
        V *= np.sign(V[abs(V).argmax(axis=0), range(r)])
        assert_allclose(mlca.transform(X), full.transform(X) @ V, atol=1e-11)
        flat = X[:, [0, 0, 0, 0, 0]]  # of rank one
        one = MLCA(n_components=r, fit_intercept=fit_intercept).fit(flat, y)
        assert one.transform(flat).shape == (120, 1)
    most = MLCA(n_components=4, fit_intercept=fit_intercept).fit(X, y)
    assert_allclose(most.components_, full.components_)
    with pytest.raises(ValueError, match="n_components must be an integer, from 1 to 4; got 5"):
        MLCA(n_components=5, fit_intercept=fit_intercept).fit(X, y)


@pytest.mark.parametrize("dependent", [False, True])
def test_the_intercept_is_a_column_of_ones(dependent):
    X, y = blobs(seed=3)
    if dependent:
        X = np.c_[X, X[:, 0] - X[:, 1], np.full(len(X), 0.1)]
    mlca = MLCA(fit_intercept=True).fit(X, y)
    ones = np.c_[np.ones(len(X)), X]
    assert_allclose(mlca.transform(X), ones @ np.linalg.pinv(ones) @ indicators(y), atol=1e-11)
    centred = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-10)
    assert_allclose(mlca.components_.T, centred @ indicators(y), atol=1e-11)
    assert_allclose(
        MLCA(fit_intercept=True).fit(X + 50, y).components_, mlca.components_, atol=1e-9
    )
    assert_array_equal(MLCA().fit(X, y).intercept_, 0)


def test_centring_serves_nearest_centroids_but_not_the_sign_rule():
    rng = np.random.default_rng(4)
    y = np.where(rng.random(20_000) < 0.1, 1, -1)
    X = rng.normal(size=(20_000, 2)) + 4 * (y == 1)[:, None] * [1, 0]
    centred = X - X.mean(axis=0)
    alone = BinaryMLCA().fit(centred, y)
    ones = BinaryMLCA(fit_intercept=True).fit(X, y)
    assert np.mean(alone.cluster(centred) == y) == pytest.approx(0.69, abs=0.02)
    assert np.mean(ones.cluster(X) == y) == pytest.approx(0.98, abs=0.01)
    assert_allclose(alone.direction_, ones.direction_, rtol=1e-9)
    metrics = MLCA().fit(centred, y), MLCA(fit_intercept=True).fit(X, y)
    labels = [
        NearestCentroid().fit(m.transform(Z), y).predict(m.transform(Z))
        for m, Z in zip(metrics, (centred, X), strict=True)
    ]
    assert_array_equal(*labels)


@pytest.mark.equation("Law 2016, Eqs. 19-21 and Theorem 4.1")
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_binary_is_regression_onto_signs(fit_intercept):
    X, y = blobs(k=2)
    binary = BinaryMLCA(fit_intercept=fit_intercept).fit(X, np.array(["no", "yes"])[y])
    rows = np.c_[X, np.ones(len(X))] if fit_intercept else X
    m = np.linalg.pinv(rows) @ (2 * y - 1) / np.sqrt(len(y))
    assert_allclose(binary.direction_, m[:5], atol=1e-12)
    assert binary.intercept_ == pytest.approx(m[5] if fit_intercept else 0, abs=1e-12)
    assert_allclose(binary.decision_function(X), rows @ m, atol=1e-11)
    assert_array_equal(binary.cluster(X), np.where(rows @ m > 0, "yes", "no"))


@pytest.mark.equation("Law 2016, Eq. 19")
def test_signs_solve_two_means_with_opposite_centroids():
    X, y = blobs(k=2, n=40, d=3)
    binary = BinaryMLCA().fit(X, 2 * y - 1)
    new = np.random.default_rng(3).normal(size=(8, 3))
    M = np.outer(binary.direction_, binary.direction_)

    def cost(s, z):
        return sum((x - a * z) @ M @ (x - a * z) for x, a in zip(new, s, strict=True))

    def least(s):
        z = np.array(s) @ new / 8
        assert cost(s, z) <= min(cost(s, z + d) for d in np.r_[np.eye(3), -np.eye(3)]) + 1e-12
        return cost(s, z)

    best, opposite, third, *_ = sorted(least(s) for s in product([-1, 1], repeat=8))
    assert_allclose([least(binary.cluster(new)), opposite], best, atol=1e-12)
    assert third > best + 1e-6


def test_a_linear_change_of_features_changes_nothing_learned():
    X, y = blobs(seed=5)
    A = np.random.default_rng(6).normal(size=(5, 5))
    assert_allclose(MLCA().fit(X @ A, y).transform(X @ A), MLCA().fit(X, y).transform(X), atol=1e-9)
    renamed = np.array([7, 2, 5])[y]
    assert_allclose(
        MLCA().fit(X, renamed).get_mahalanobis_matrix(),
        MLCA().fit(X, y).get_mahalanobis_matrix(),
        atol=1e-12,
    )


def test_clustering_finds_the_classes_only_the_metric_shows():
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], 60)
    X = np.c_[3 * np.eye(3)[y] + 0.3 * rng.normal(size=(180, 3)), 20 * rng.normal(size=(180, 4))]
    new = np.c_[3 * np.eye(3)[y] + 0.3 * rng.normal(size=(180, 3)), 20 * rng.normal(size=(180, 4))]
    for fit_intercept in (False, True):
        mlca = MLCA(fit_intercept=fit_intercept, random_state=0).fit(X, y)
        assert partition_loss(mlca.cluster(new), y) < 0.1
        assert partition_loss(mlca.cluster(new, spectral=True), y) < 0.1
        assert_array_equal(mlca.cluster(sp.csr_array(new)), mlca.cluster(new))
    assert len(np.unique(mlca.cluster(new, n_clusters=5))) == 5


class Recorder:
    """Stands for KMeans and keeps the points it was given."""

    def __init__(self, n_clusters, **options):
        self.n_clusters = n_clusters

    def fit_predict(self, Z):
        Recorder.points = Z
        return np.zeros(len(Z), dtype=int)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_spectral_step_drops_directions_that_are_rounding(monkeypatch, dtype):
    monkeypatch.setattr(mlbook.mlca.estimators, "KMeans", Recorder)
    X, y = blobs(n=300, d=6)
    centred = (X - X.mean(axis=0)).astype(dtype)
    MLCA().fit(centred, y).cluster(centred, spectral=True)
    assert Recorder.points.shape == (300, 2)  # k - 1, since J 1 is orthogonal to centred X
    MLCA(fit_intercept=True).fit(X.astype(dtype), y).cluster(X.astype(dtype), spectral=True)
    assert Recorder.points.shape == (300, 3)
    MLCA().fit(X, y).cluster(X, n_clusters=2, spectral=True)
    assert Recorder.points.shape == (300, 2)
    MLCA().fit(X, y).cluster(np.zeros((4, 6)), spectral=True)
    assert_array_equal(Recorder.points, 0)


@pytest.mark.equation("Law 2016, Eq. 18")
def test_the_spectral_step_takes_the_leading_eigenvectors(monkeypatch):
    monkeypatch.setattr(mlbook.mlca.estimators, "KMeans", Recorder)
    X, y = blobs(n=80, d=6)
    mlca, new = MLCA().fit(X, y), blobs(seed=1, n=30, d=6)[0]
    new[0] = 0
    mlca.cluster(new)
    assert_allclose(Recorder.points, new @ np.linalg.pinv(X) @ indicators(y), atol=1e-11)
    MLCA(fit_intercept=True).fit(X, y).cluster(new)
    W = np.linalg.pinv(np.c_[np.ones(len(X)), X]) @ indicators(y)
    assert_allclose(Recorder.points, np.c_[np.ones(len(new)), new] @ W, atol=1e-11)
    mlca.cluster(new, spectral=True)
    U = np.linalg.eigh(new @ mlca.get_mahalanobis_matrix() @ new.T)[1][:, -3:]
    assert_allclose(Recorder.points @ Recorder.points.T, U @ U.T, atol=1e-9)


@pytest.mark.equation("Law 2016, Eq. 18")
def test_the_parts_are_those_of_k_means():
    X, y = blobs(n=80, d=6)
    mlca, new = MLCA(random_state=0).fit(X, y), blobs(seed=1, n=30, d=6)[0]
    Z = mlca.transform(new)
    U = np.linalg.svd(Z, full_matrices=False)[0]
    for spectral, points in ((False, Z), (True, U)):
        labels = KMeans(3, n_init=10, random_state=0).fit_predict(points)
        assert_array_equal(mlca.cluster(new, spectral=spectral), labels)


@pytest.mark.equation("Law 2016, Eq. 18")
def test_the_spectral_step_forgets_an_invertible_metric(monkeypatch):
    X, y = blobs(n=60, d=3, k=3)
    U = np.linalg.svd(X, full_matrices=False)[0]
    blind = KMeans(3, n_init=10, random_state=0).fit_predict(U)
    found = MLCA(random_state=0).fit(X, y).cluster(X, spectral=True)
    assert partition_loss(found, blind) == pytest.approx(0, abs=1e-12)
    monkeypatch.setattr(mlbook.mlca.estimators, "KMeans", Recorder)
    MLCA().fit(X, y).cluster(X, spectral=True)
    assert_allclose(Recorder.points @ Recorder.points.T, U @ U.T, atol=1e-10)


# Streaming and merging


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 50),
    cuts=st.lists(st.integers(1, 79), max_size=8),
    fit_intercept=st.booleans(),
    in_order=st.booleans(),
    declared=st.booleans(),
)
def test_any_chunks_give_the_batch_result(seed, cuts, fit_intercept, in_order, declared):
    X, y = blobs(seed=seed, n=80, d=6, k=4)
    if in_order:  # chunks of one class, classes met late
        X, y = X[np.argsort(y)], np.sort(y)
    stream = MLCA(fit_intercept=fit_intercept)
    for a, b in pairwise([0, *sorted(set(cuts)), 80]):
        stream.partial_fit(X[a:b], y[a:b], classes=range(4) if declared else None)
    batch = MLCA(fit_intercept=fit_intercept).fit(X, y)
    assert_array_equal(stream.classes_, batch.classes_)
    assert_array_equal(stream.class_count_, batch.class_count_)
    assert_allclose(stream.components_, batch.components_, atol=1e-10)
    assert_allclose(stream.transform(X), batch.transform(X), atol=1e-10)


def test_merging_is_associative_and_takes_fits_and_streams_alike():
    X, y = blobs(n=90, k=4)
    whole = MLCA().fit(X, y).components_

    def part(i):
        rows = slice(30 * i, 30 * (i + 1))
        return MLCA().partial_fit(X[rows], y[rows]) if i else MLCA().fit(X[rows], y[rows])

    left = part(0).merge(part(1)).merge(pickle.loads(pickle.dumps(part(2))))
    right = part(0).merge(part(1).merge(part(2)))
    assert_allclose(left.components_, whole, atol=1e-12)
    assert_allclose(right.components_, whole, atol=1e-12)


def test_partial_fit_continues_a_fit_and_fit_starts_afresh():
    X, y = blobs()
    mlca = MLCA().fit(X[:50], y[:50])
    before = mlca.components_
    mlca.partial_fit(X[50:], y[50:])
    assert not np.allclose(mlca.components_, before)
    assert_allclose(mlca.components_, MLCA().fit(X, y).components_, atol=1e-12)
    assert_allclose(mlca.fit(X[:50], y[:50]).components_, before)


def test_a_refused_chunk_leaves_the_stream_as_it_was():
    X, y = blobs()
    mlca = MLCA().partial_fit(X, y)
    before = mlca.components_
    bad = X[:5].copy()
    bad[2, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        mlca.partial_fit(bad, y[:5])
    assert_array_equal(mlca.components_, before)
    assert mlca.class_count_.sum() == len(y)


def test_a_declared_class_without_rows_has_a_zero_component():
    X, y = blobs()
    mlca = MLCA().partial_fit(X, y, classes=[2, 1, 0, 9])
    assert_array_equal(mlca.classes_, [0, 1, 2, 9])
    assert_array_equal(mlca.components_[3], 0)
    assert_allclose(mlca.components_[:3], MLCA().fit(X, y).components_)


def test_rows_from_a_file(tmp_path):
    X, y = blobs(n=500)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    rows = np.load(tmp_path / "X.npy", mmap_mode="r")
    stream = MLCA()
    for i in range(0, 500, 64):
        stream.partial_fit(rows[i : i + 64], y[i : i + 64])
    assert stream.components_.dtype == np.float32
    assert_allclose(stream.components_, MLCA().fit(X, y).components_, atol=1e-6)
    assert_allclose(stream.components_, MLCA().fit(rows, y).components_, atol=1e-7)


@pytest.mark.parametrize("size", [2, 40])
def test_the_buffer_of_a_chunk_may_be_reused(size):
    X, y = blobs()
    stream, buffer, labels = MLCA(), np.empty((size, 5)), np.empty(size, dtype=int)
    for i in range(0, 120, size):
        buffer[:], labels[:] = X[i : i + size], y[i : i + size]
        stream.partial_fit(buffer, labels)
    assert_allclose(stream.components_, MLCA().fit(X, y).components_, atol=1e-12)


def test_the_metric_is_solved_for_once_and_only_when_asked_for(monkeypatch):
    solved, solve = [], ClassDigest.solve
    monkeypatch.setattr(
        ClassDigest, "solve", lambda *args, **options: solved.append(1) or solve(*args, **options)
    )
    X, y = blobs(k=2)
    for learner, learned in ((MLCA(), "components_"), (BinaryMLCA(), "direction_")):
        solved.clear()
        learner.fit(X, y)
        assert len(solved) == 1
        for _ in range(3):
            learner.partial_fit(X, y).merge(learner)
        assert len(solved) == 1
        for _ in range(3):
            getattr(learner, learned)
        assert len(solved) == 2


def test_a_refused_fit_leaves_what_was_learned():
    X, y = blobs()
    mlca = MLCA().fit(X, y)
    before = mlca.components_
    for labels in (0 * y, y - 1):
        with pytest.raises(ValueError, match="y: "):
            mlca.fit(X, labels)
    assert_array_equal(mlca.components_, before)
    assert_array_equal(mlca.classes_, [0, 1, 2])


def test_degenerate_streams_complain_when_the_metric_is_asked_for():
    X, y = blobs()
    stream = MLCA().partial_fit(X[y == 0], y[y == 0])
    with pytest.raises(ValueError, match="1 class"):
        stream.transform(X)
    assert stream.partial_fit(X[y > 0], y[y > 0]).transform(X).shape == (120, 3)


# Kinds of input


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("ill", [False, True])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_is_dense(container, ill, fit_intercept):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 12)) * (rng.random((400, 12)) < 0.3)
    if ill:
        X[:, 11] = X[:, 0]
    y = rng.integers(0, 3, 400)
    dense = MLCA(fit_intercept=fit_intercept).fit(X, y)
    sparse = MLCA(fit_intercept=fit_intercept).fit(container(X), y)
    assert_allclose(sparse.components_, dense.components_, atol=1e-12)
    assert_allclose(sparse.transform(container(X)), dense.transform(X), atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_single_precision_stays(order):
    X, y = blobs(n=5000, d=20)
    single = np.asarray(X, dtype=np.float32, order=order)
    mlca = MLCA(fit_intercept=True).fit(single, y)
    assert mlca.components_.dtype == mlca.intercept_.dtype == mlca.transform(single).dtype
    assert mlca.components_.dtype == np.float32
    exact = MLCA(fit_intercept=True).fit(single.astype(float), y)
    assert_allclose(mlca.components_, exact.components_, rtol=1e-5, atol=1e-8)
    assert BinaryMLCA().fit(single, y > 0).decision_function(single).dtype == np.float32
    assert MLCA().partial_fit(single, y).partial_fit(X, y).components_.dtype == np.float64


def test_dependent_columns_in_single_precision():
    X, y = blobs(n=400)
    single = X.astype(np.float32)
    single = np.c_[single, single[:, 0] + single[:, 1] / 3]  # rounded: of rank 6 in double
    W = np.linalg.pinv(single, rcond=1e-5) @ indicators(y)
    assert_allclose(MLCA().fit(single, y).components_.T, W, atol=1e-5)


@pytest.mark.parametrize(
    "y", [list("abcabc"), [1.0, 2.0, 5.0] * 2, np.array([3, 1, 2] * 2, dtype=np.uint8)]
)
def test_labels_of_any_kind(y):
    X = np.random.default_rng(9).normal(size=(6, 3))
    codes = np.unique(y, return_inverse=True)[1]
    assert_allclose(MLCA().fit(X, y).components_, MLCA().fit(X, codes).components_)


def test_minus_one_is_a_class_only_beside_plus_one():
    X, y = blobs(k=2)
    assert_allclose(MLCA().fit(X, 2 * y - 1).components_, MLCA().fit(X, y).components_)


# scikit-learn


ESTIMATORS = [
    MLCA(),
    MLCA(fit_intercept=True, solver="qr"),
    MLCA(n_components=1),
    BinaryMLCA(),
    BinaryMLCA(fit_intercept=True),
]
CHECKS = [pair for estimator in ESTIMATORS for pair in estimator_checks_generator(estimator)]


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[f"{e}-{c.func.__name__}" for e, c in CHECKS]
)
def test_estimator_checks(estimator, check):
    check(estimator)


def test_pipelines_grids_clones_and_names():
    X, y = blobs(n=90)
    pipeline = make_pipeline(StandardScaler(), MLCA(), KNeighborsClassifier(3))
    grid = GridSearchCV(pipeline, {"mlca__n_components": [1, 2, None]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.9
    mlca = MLCA(n_components=2).fit(X, y)
    assert list(mlca.get_feature_names_out()) == ["mlca0", "mlca1"]
    assert not hasattr(clone(mlca), "components_")
    assert_array_equal(pickle.loads(pickle.dumps(mlca)).transform(X), mlca.transform(X))


def test_named_columns():
    pd = pytest.importorskip("pandas")
    X, y = blobs(n=90)
    frame = pd.DataFrame(X, columns=list("abcde"))
    mlca = MLCA(random_state=0).set_output(transform="pandas").fit(frame, pd.Series(y))
    out = mlca.transform(frame)
    assert list(out.columns) == ["mlca0", "mlca1", "mlca2"]
    assert mlca.cluster(frame).shape == (90,)
    with pytest.raises(ValueError, match="feature names"):
        mlca.transform(frame[list("edcba")])


@pytest.mark.slow
def test_dask_is_not_imported():
    code = "import sys, mlbook.mlca; sys.exit('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Refusals


def with_nan(X):
    X = X.copy()
    X[3, 1] = np.nan
    return X


REFUSED = {
    "non-finite X": (lambda X, y: MLCA().fit(with_nan(X), y), "X contains NaN"),
    "lengths": (lambda X, y: MLCA().fit(X, y[:-1]), "inconsistent numbers of samples"),
    "no rows": (lambda X, y: MLCA().fit(X[:0], y[:0]), "0 sample"),
    "one class": (lambda X, y: MLCA().fit(X, 0 * y), "at least 2 classes are needed, got 1 class"),
    "continuous y": (lambda X, y: MLCA().fit(X, y + 0.5), "continuous"),
    "unlabelled rows": (lambda X, y: MLCA().fit(X, y - 1), "-1 means unlabelled"),
    "W = 0": (
        lambda X, y: MLCA().fit(np.r_[X, -X], np.r_[y, y]),
        "every class mean is zero.*nothing to learn",
    ),
    "W = 0, centred": (
        lambda X, y: MLCA(fit_intercept=True).fit(np.r_[X, 5 - X], np.r_[y, y]),
        "all class means are equal",
    ),
    "m = 0": (
        lambda X, y: BinaryMLCA().fit(np.r_[X, X], np.repeat([0, 1], len(X))),
        "the same sum",
    ),
    "solver": (lambda X, y: MLCA(solver="lu").fit(X, y), "solver must be one of"),
    "n_components": (lambda X, y: MLCA(n_components=4).fit(X, y), "n_components.*from 1 to 3"),
    "n_components type": (lambda X, y: MLCA(n_components=1.5).fit(X, y), "n_components.*got 1.5"),
    "k too small": (lambda X, y: MLCA().fit(X, y).cluster(X, 0), "n_clusters"),
    "k too large": (lambda X, y: MLCA().fit(X, y).cluster(X[:2]), "n_clusters"),
    "columns": (lambda X, y: MLCA().fit(X, y).cluster(X[:, :3]), "3 features"),
    "three labels": (lambda X, y: BinaryMLCA().fit(X, y), r"exactly 2 classes.*\[0 1 2\]"),
    "label not declared": (
        lambda X, y: MLCA().partial_fit(X, y, classes=[0, 1]),
        r"\[2\] not among classes",
    ),
    "classes change": (
        lambda X, y: MLCA().partial_fit(X, y).partial_fit(X, y, classes=[0, 1, 2]),
        "differs from None",
    ),
    "text and numbers": (
        lambda X, y: MLCA().partial_fit(X, y).partial_fit(X, y.astype(str)),
        "text",
    ),
    "other features": (
        lambda X, y: MLCA().fit(X, y).merge(MLCA().fit(X[:, :3], y)),
        "3 features.*and 5 features",
    ),
    "other intercept": (
        lambda X, y: MLCA().fit(X, y).merge(MLCA(fit_intercept=True).fit(X, y)),
        "fit_intercept must be the same",
    ),
    "other estimator": (
        lambda X, y: MLCA().fit(X, y).merge(BinaryMLCA().fit(X, y > 0)),
        "other must be a MLCA",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call(*blobs())


def test_not_fitted():
    for use in (
        lambda: MLCA().transform([[1.0]]),
        lambda: MLCA().components_,
        lambda: MLCA().merge(MLCA()),
        lambda: BinaryMLCA().direction_,
    ):
        with pytest.raises(NotFittedError):
            use()


def test_balanced_classes_are_rows_repeated():
    X, y = blobs(n=90)
    keep = np.r_[
        np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)[:10], np.flatnonzero(y == 2)[:5]
    ]
    repeated = np.repeat(keep, np.repeat([1, 2, 4], [20, 10, 5]))
    for options in ({}, {"fit_intercept": True}, {"fit_intercept": True, "shrinkage": 0.3}):
        expected = MLCA(**options).fit(X[repeated], y[repeated])
        weighted = MLCA(class_weight={1: 2.0, 2: 4.0}, **options).fit(X[keep], y[keep])
        assert_allclose(weighted.components_, expected.components_, atol=1e-12)
        assert_allclose(weighted.intercept_, expected.intercept_, atol=1e-12)
        balanced = MLCA(class_weight="balanced", **options).fit(X[keep], y[keep])
        ratio = 60 / 35  # its weights are smaller by this factor, and J larger by the root
        assert_allclose(
            balanced.get_mahalanobis_matrix(),
            ratio * expected.get_mahalanobis_matrix(),
            rtol=1e-9,
            atol=1e-13,
        )


def test_weights_of_sparse_rows_ill_conditioned_rows_and_chunks():
    X, y = blobs(n=400)
    weights = {0: 0.5, 2: 3.0}
    expected = MLCA(class_weight=weights, fit_intercept=True).fit(X, y).components_
    for solver in ("cholesky", "qr"):
        for rows in (X, sp.csr_array(X)):
            found = MLCA(class_weight=weights, fit_intercept=True, solver=solver).fit(rows, y)
            assert_allclose(found.components_, expected, atol=1e-11)
    stream = MLCA(class_weight=weights, fit_intercept=True)
    for i in range(0, 400, 70):
        stream.partial_fit(X[i : i + 70], y[i : i + 70])
    assert_allclose(stream.components_, expected, atol=1e-11)


def test_balance_needs_all_rows_at_once():
    X, y = blobs()
    model = MLCA(class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="cannot be used with partial_fit"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="cannot be used with merge"):
        model.merge(MLCA(class_weight="balanced").fit(X, y))
    for wrong in ("even", 3, {0: -1.0}, {0: "much"}):
        with pytest.raises(ValueError, match="class_weight must be"):
            MLCA(class_weight=wrong).fit(X, y)


def test_balance_mends_the_trap_of_unequal_sizes():
    """Slopes that differ by class: one metric removes their mean, which the sizes weigh."""
    losses = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sizes = [400, 40, 800]
        y = np.repeat([0, 1, 2], sizes)
        nuisance = rng.uniform(-30, 30, len(y))
        slopes = np.array([0.10, 0.0, 0.15])[y]
        X = np.c_[5.0 * y + slopes * nuisance + rng.normal(size=len(y)), nuisance]
        means = {}
        for weight in (None, "balanced"):
            model = MLCA(class_weight=weight, fit_intercept=True).fit(X, y)
            slope = -model.components_[0, 1] / model.components_[0, 0]
            means[weight] = slope
        losses.append((means[None], means["balanced"]))
    plain, balanced = np.mean(losses, axis=0)
    # the pooled slope Σ p_c s_c, with the shares of rows and with thirds
    assert_allclose(plain, (400 * 0.10 + 800 * 0.15) / 1240, atol=0.01)
    assert_allclose(balanced, (0.10 + 0.15) / 3, atol=0.01)


def test_the_nearest_class_mean():
    X, y = blobs(k=4, spread=2.0)
    names = np.array(["north", "east", "south", "west"])
    for options in ({}, {"fit_intercept": True}, {"shrinkage": 0.5, "fit_intercept": True}):
        model = MLCA(**options).fit(X, names[y])
        images = model.transform(X)
        reference = NearestCentroid().fit(images, names[y])
        assert_array_equal(model.predict(X), reference.predict(images))
    late = MLCA().partial_fit(X, y, classes=[0, 1, 2, 3, 9])
    assert 9 not in late.predict(X)


@pytest.mark.equation("Law 2016, Eq. 18")
def test_clusters_can_have_the_names_of_classes():
    X, y = blobs(k=3, spread=0.3)
    names = np.array(["a", "b", "c"])[y]
    for spectral in (False, True):
        for seed in range(5):
            model = MLCA(fit_intercept=True, random_state=seed).fit(X, names)
            assert_array_equal(model.cluster(X, spectral=spectral, named=True), names)
    late = MLCA(fit_intercept=True, random_state=0)
    # a class of one row, and one of none
    late.partial_fit(np.vstack([X, [[40.0] * 5]]), [*names, "d"], classes=list("abcde"))
    found = late.cluster(np.vstack([X, [[40.0] * 5]]), 4, named=True)
    assert_array_equal(found, [*names, "d"])
    two = X[y != 1]
    assert_array_equal(model.cluster(two, 2, named=True), names[y != 1])
    with pytest.raises(ValueError, match="n_clusters=4 and 3 classes"):
        model.cluster(X, 4, named=True)


def test_the_score_is_minus_the_loss_and_serves_cross_validation():
    X, y = blobs(k=8, n=400, d=6, spread=3.0)
    model = MLCA(fit_intercept=True, random_state=0).fit(X, y)
    assert model.score(X, y) == -partition_loss(model.cluster(X, 8), y)
    part = y < 3
    assert model.score(X[part], y[part]) == -partition_loss(model.cluster(X[part], 3), y[part])
    search = GridSearchCV(
        MLCA(fit_intercept=True, random_state=0),
        {"shrinkage": [0.0, 0.5, 1.0]},
        cv=GroupKFold(4),
    ).fit(X, y, groups=y)  # whole classes are left out
    assert search.best_params_["shrinkage"] in (0.0, 0.5, 1.0)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    scores = cross_val_score(model, X, y, cv=GroupKFold(4), groups=y)
    assert np.all(scores <= 0)
    assert len(set(np.round(search.cv_results_["mean_test_score"], 9))) > 1
    two = BinaryMLCA(fit_intercept=True)
    assert np.all(cross_val_score(two, X, y > 3, cv=3) <= 0)


def test_merged_models_have_the_same_features():
    pd = pytest.importorskip("pandas")
    X, y = blobs(d=3)
    one = MLCA().fit(pd.DataFrame(X, columns=list("abc")), y)
    with pytest.raises(ValueError, match="its features are"):
        one.merge(MLCA().fit(pd.DataFrame(X, columns=list("cba")), y))
    one.merge(MLCA().fit(pd.DataFrame(X, columns=list("abc")), y))
    assert one.class_count_.sum() == 240


@pytest.mark.equation("Law 2016, Eqs. 20-21 and Theorem 4.1")
def test_one_direction_is_a_metric_too():
    X, y = blobs(k=2, spread=6.0)
    model = BinaryMLCA(fit_intercept=True).fit(X, y)
    assert_allclose(model.components_, model.direction_[None])
    assert_allclose(model.transform(X)[:, 0], model.decision_function(X))
    assert_allclose(
        model.get_mahalanobis_matrix(), np.outer(model.direction_, model.direction_), atol=1e-15
    )
    assert model.score(X, y) == -partition_loss(model.cluster(X), y) < 0
