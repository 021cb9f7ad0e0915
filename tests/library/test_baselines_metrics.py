"""Baselines: closed forms against enumerated pairs, searches against other searches."""

import sys
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.optimize import check_grad, minimize
from scipy.stats import chisquare
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

import mlbook.baselines
from mlbook.baselines import METRICS, kissme, lda, pcca, regression, xqda
from mlbook.baselines import metrics as baselines
from mlbook.baselines.metrics import pcca_loss
from mlbook.datasets import make_crossed_clusters
from mlbook.partitions import partition_loss

FROM_METRIC_LEARN = {"mmc", "itml", "lmnn"}
every_metric = pytest.mark.parametrize("name", METRICS)
uses_old_names = pytest.mark.filterwarnings("ignore:'force_all_finite' was renamed:FutureWarning")


@pytest.fixture
def metric_learn():
    return pytest.importorskip("metric_learn")


def mahalanobis(components):
    return components.T @ components


def assert_same_distances(A, B, **tolerance):
    """Rows of A and of B have the same differences, up to a rotation."""
    A, B = A - A[0], B - B[0]
    assert_allclose(A @ A.T, B @ B.T, **tolerance)


def classes_of_unlike_shape(seed, sizes=(4, 7, 12), d=4):
    """Rows whose classes differ in mean, size and covariance."""
    rng = np.random.default_rng(seed)
    blocks = [
        rng.normal(size=d) + rng.normal(size=(size, d)) @ rng.normal(size=(d, d)) for size in sizes
    ]
    return np.vstack(blocks), np.repeat(np.arange(len(sizes)), sizes)


def classes_of_one_shape(seed, size=8, k=5, d=3):
    """Rows whose classes are copies of each other, with means that differ in every direction."""
    rng = np.random.default_rng(seed)
    shape = rng.normal(size=(size, d))
    means = 5 * rng.normal(size=(k, d))
    return (means[:, None] + shape).reshape(-1, d), np.repeat(np.arange(k), size)


def differences_of_pairs(X, y):
    """Differences of all pairs of rows, and whether the classes are the same."""
    left, right = np.transpose(list(combinations(range(len(X)), 2)))
    return X[left] - X[right], y[left] == y[right]


def pair_covariances(X, y):
    """Σ_S and Σ_D, pair by pair."""
    differences, similar = differences_of_pairs(X, y)
    return [
        np.mean([np.outer(v, v) for v in group], axis=0)
        for group in (differences[similar], differences[~similar])
    ]


# ---- closed forms


def test_euclidean_is_the_identity():
    assert_array_equal(METRICS["euclidean"](*classes_of_unlike_shape(0)), np.eye(4))


def test_regression_is_the_pseudo_inverse_times_the_indicators():
    X, y = classes_of_unlike_shape(0)
    collinear = np.column_stack([X, X[:, 0] + X[:, 1]])
    for rows in (X, collinear):
        expected = [np.linalg.pinv(rows)[:, y == c].sum(axis=1) for c in range(3)]
        assert_allclose(regression(rows, y), expected, atol=1e-12)


def test_lda_is_the_transform_of_scikit_learn_and_solves_its_eigenproblem():
    X, y = classes_of_unlike_shape(0, sizes=(10, 20, 30))
    L = lda(X, y)
    assert L.shape == (2, 4)
    model = LinearDiscriminantAnalysis(n_components=2).fit(X, y)
    assert_same_distances(X @ L.T, model.transform(X), atol=1e-9)
    within = sum((y == c).sum() * np.cov(X[y == c].T, bias=True) for c in range(3))
    _, V = eigh(len(X) * np.cov(X.T, bias=True) - within, within)
    found, expected = mahalanobis(L), V[:, 2:] @ V[:, 2:].T
    assert_allclose(found / np.trace(found), expected / np.trace(expected), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_kissme_is_the_positive_part_of_its_definition(seed):
    X, y = classes_of_unlike_shape(seed)
    similar, dissimilar = pair_covariances(X, y)
    values, vectors = np.linalg.eigh(np.linalg.inv(similar) - np.linalg.inv(dissimilar))
    assert values[0] < 0 < values[-1]
    expected = (vectors * np.maximum(values, 0)) @ vectors.T
    assert_allclose(mahalanobis(kissme(X, y)), expected, rtol=1e-9, atol=1e-9 * values[-1])


@pytest.mark.parametrize("seed", range(5))
def test_xqda_is_kissme_of_the_pairs_projected_on_its_subspace(seed):
    X, y = classes_of_unlike_shape(seed)
    similar, dissimilar = pair_covariances(X, y)
    eigenvalues, V = eigh(dissimilar, similar)
    assert eigenvalues[0] < 1 < eigenvalues[-1]
    V = V[:, eigenvalues > 1] / 7  # any scale of the basis of the subspace does
    projected = pair_covariances(X @ V, y)
    M = np.linalg.inv(projected[0]) - np.linalg.inv(projected[1])
    L = xqda(X, y)
    assert L.shape == (V.shape[1], 4)
    assert_allclose(mahalanobis(L), V @ M @ V.T, rtol=1e-9, atol=1e-9 * np.abs(V @ M @ V.T).max())
    assert not np.allclose(mahalanobis(L), mahalanobis(kissme(X, y)))


def test_xqda_is_kissme_when_the_difference_is_positive():
    X, y = classes_of_one_shape(0)
    similar, dissimilar = pair_covariances(X, y)
    M = np.linalg.inv(similar) - np.linalg.inv(dissimilar)
    assert np.linalg.eigvalsh(M)[0] > 0
    assert_allclose(mahalanobis(xqda(X, y)), M, rtol=1e-9)
    assert_allclose(mahalanobis(kissme(X, y)), M, rtol=1e-9)


@pytest.mark.parametrize("name", ["rca", "kissme", "xqda", "lda"])
def test_features_that_add_nothing_change_nothing(name, request):
    """A constant feature, a collinear one, unlike units, and a far origin."""
    if name in FROM_METRIC_LEARN:
        request.getfixturevalue("metric_learn")
    X, y = classes_of_one_shape(1)
    Z = X @ METRICS[name](X, y).T
    augmented = np.column_stack([X, np.full(len(X), 0.1), X @ [1.0, 2.0, 3.0]])
    L = METRICS[name](augmented, y)
    assert_allclose(L[:, 3], 0, atol=1e-12)
    assert_same_distances(augmented @ L.T, Z, rtol=1e-6, atol=1e-6)
    far = X + 1e6
    assert_same_distances(far @ METRICS[name](far, y).T, Z, rtol=1e-4, atol=1e-4)
    if name != "kissme":  # what it clips depends on the units
        scaled = X * [1e-9, 1.0, 1e9]
        assert_same_distances(scaled @ METRICS[name](scaled, y).T, Z, rtol=1e-6, atol=1e-6)


# ---- PCCA


def test_pcca_loss_by_its_definition_and_its_gradient_by_differences():
    rng = np.random.default_rng(0)
    L, differences, weights = rng.normal(size=(2, 3)), rng.normal(size=(9, 3)), rng.random(9)
    similar = np.arange(9) < 4

    def loss_at(flat):
        return pcca_loss(flat.reshape(2, 3), differences, similar, weights, beta=2.0)

    expected = 0.0
    for v, s, w in zip(differences, similar, weights, strict=True):
        excess = np.sum((L @ v) ** 2) - 1
        expected += w * np.log1p(np.exp(2.0 * (excess if s else -excess))) / 2.0
    assert_allclose(loss_at(L.ravel())[0], expected)
    error = check_grad(lambda x: loss_at(x)[0], lambda x: loss_at(x)[1].ravel(), L.ravel())
    assert error < 1e-6
    assert np.isfinite(pcca_loss(1e3 * L, differences, similar, weights)[0])


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_pcca_is_nearly_optimal_on_all_pairs(rank):
    """Against the best of many searches that see every pair, in the features as they are."""
    X, y = make_crossed_clusters((4, 8, 16), random_state=0)
    differences, similar = differences_of_pairs(X, y)
    weights = np.full(len(similar), 1 / len(similar))

    def objective(flat):
        loss, gradient = pcca_loss(flat.reshape(rank, 3), differences, similar, weights)
        return loss, gradient.ravel()

    rng = np.random.default_rng(0)
    starts = rng.normal(size=(30, 3 * rank)) / 10
    best = min(minimize(objective, start, jac=True, method="L-BFGS-B").fun for start in starts)
    L = pcca(X, y, n_components=rank, random_state=0)
    assert L.shape == (rank, 3)
    assert objective(L.ravel())[0] < 1.05 * best


def test_pcca_separates_what_the_euclidean_distance_does_not():
    X, y = make_crossed_clusters((50, 100, 200), random_state=0)
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(X @ pcca(X, y, random_state=0).T)
    assert partition_loss(y, labels) < 0.2


def test_pcca_says_when_it_has_not_converged(monkeypatch):
    monkeypatch.setattr(baselines, "minimize", partial(minimize, options={"maxiter": 1}))
    with pytest.warns(ConvergenceWarning, match="pcca stopped after 1 iterations") as record:
        pcca(*make_crossed_clusters((4, 4, 4), random_state=0), random_state=0)
    assert record[0].filename == __file__


@pytest.mark.parametrize("n_components", [0, -1, 1.5, None])
def test_pcca_refuses_bad_ranks(n_components):
    with pytest.raises(ValueError, match="n_components must be an integer, at least 1; got"):
        pcca(*classes_of_unlike_shape(0), n_components=n_components)


# ---- pairs


def test_pairs_are_drawn_uniformly():
    y = np.array([2, 0, 1, 0, 2, 2, 0, 2])
    X = np.arange(8.0)[:, None]
    left, right, similar = baselines._draw_pairs(X, y, 40_000, np.random.RandomState(0))
    assert similar.sum() == 20_000 == len(similar) / 2
    assert_array_equal(y[left] == y[right], similar)
    for kind in (similar, ~similar):
        counts = np.zeros((8, 8), dtype=int)
        np.add.at(counts, (left[kind], right[kind]), 1)
        possible = (y[:, None] == y) & ~np.eye(8, dtype=bool) if kind[0] else y[:, None] != y
        assert not counts[~possible].any()
        assert chisquare(counts[possible]).pvalue > 1e-3


def test_pairs_of_equal_rows_are_left_out():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    left, right, similar = baselines._draw_pairs(
        X, np.array([0, 0, 0, 1]), 1000, np.random.RandomState(0)
    )
    assert np.all(X[left] != X[right])
    assert similar.any() and not similar.all()


# ---- metric-learn


@uses_old_names
def test_rca_is_that_of_metric_learn(metric_learn):
    X, y = classes_of_unlike_shape(0)
    expected = metric_learn.RCA().fit(X, y).get_mahalanobis_matrix()
    assert_allclose(mahalanobis(METRICS["rca"](X, y)), expected, rtol=1e-9)


@uses_old_names
def test_itml_is_that_of_metric_learn(metric_learn, monkeypatch):
    monkeypatch.setitem(baselines.N_PAIRS, "itml", 60)
    X, y = classes_of_unlike_shape(0)
    left, right, similar = baselines._draw_pairs(X, y, 60, np.random.RandomState(3))
    pairs = np.stack([X[left], X[right]], axis=1)
    expected = metric_learn.ITML().fit(pairs, np.where(similar, 1, -1)).components_
    assert not np.allclose(expected, np.eye(4))
    assert_array_equal(METRICS["itml"](X, y, random_state=3), expected)


@pytest.mark.slow
@uses_old_names
def test_lmnn_is_that_of_metric_learn(metric_learn):
    X, y = classes_of_unlike_shape(0)
    expected = metric_learn.LMNN().fit(X, y).components_
    assert not np.allclose(expected, np.eye(4))
    assert_array_equal(METRICS["lmnn"](X, y), expected)


def test_lmnn_draws_rows_by_class(metric_learn, monkeypatch):
    seen = []
    monkeypatch.setattr(baselines, "MAX_SAMPLES", 20)
    monkeypatch.setattr(metric_learn.LMNN, "fit", lambda self, X, y: seen.append((X, y)) or self)
    monkeypatch.setattr(metric_learn.LMNN, "components_", np.eye(4), raising=False)
    X, y = classes_of_unlike_shape(0, sizes=(5, 40, 55))
    for seed in (0, 0, 1):
        METRICS["lmnn"](X, y, random_state=seed)
    rows, labels = seen[0]
    assert_array_equal(np.bincount(labels), [4, 8, 11])
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert_array_equal(np.isin(rows, X[y == 0]).all(axis=1), labels == 0)
    assert_array_equal(rows, seen[1][0])
    assert not np.array_equal(rows, seen[2][0])


def side_information_objective(differences, similar):
    """Log of Σ_D ‖Lv‖ / √(Σ_S ‖Lv‖²), what MMC maximizes, negated; and its gradient."""
    S = differences[similar].T @ differences[similar]
    dissimilar = differences[~similar]
    d = S.shape[0]

    def objective(flat):
        L = flat.reshape(-1, d)
        mapped = dissimilar @ L.T
        lengths = np.linalg.norm(mapped, axis=1)
        spread = np.trace(L @ S @ L.T)
        gradient = (mapped / lengths[:, None]).T @ dissimilar / lengths.sum() - L @ S / spread
        return np.log(spread) / 2 - np.log(lengths.sum()), -gradient.ravel()

    return objective


@pytest.mark.parametrize("n_noise_features", [0, 3])
def test_mmc_nearly_attains_its_maximum(metric_learn, n_noise_features):
    X, y = make_crossed_clusters((30, 60, 90), n_noise_features=n_noise_features, random_state=0)
    left, right, similar = baselines._draw_pairs(X, y, 2000, np.random.RandomState(0))
    objective = side_information_objective(X[left] - X[right], similar)
    scale = np.diag(1 / X.std(axis=0))
    best = minimize(objective, scale.ravel(), jac=True, method="L-BFGS-B").fun
    assert check_grad(lambda x: objective(x)[0], lambda x: objective(x)[1], scale.ravel()) < 1e-4
    L = METRICS["mmc"](X, y, random_state=0)
    assert objective(scale.ravel())[0] > best + 0.1
    assert best - 1e-6 < objective(L.ravel())[0] < best + 0.01


def test_mmc_of_one_feature():
    X, y = classes_of_unlike_shape(0, d=1)
    assert METRICS["mmc"](X, y).shape == (1, 1)


@pytest.mark.parametrize("name", sorted(FROM_METRIC_LEARN))
def test_metric_learn_is_asked_for_when_missing(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    with pytest.raises(ImportError, match=r'metric-learn.*pip install "mlbook\[reproduce\]"'):
        METRICS[name](*classes_of_unlike_shape(0))


# ---- the interface common to all


@pytest.fixture
def few_pairs(monkeypatch):
    """ITML on few pairs: it always runs its thousand iterations."""
    monkeypatch.setitem(baselines.N_PAIRS, "itml", 40)


@pytest.mark.slow
@every_metric
def test_interface(name, few_pairs, request):
    if name in FROM_METRIC_LEARN:
        request.getfixturevalue("metric_learn")
    X, y = make_crossed_clusters((4, 6, 8), n_noise_features=1, random_state=0)
    learn = METRICS[name]
    L = learn(X, y, random_state=0)
    assert L.dtype == np.float64 and L.ndim == 2 and L.shape[1] == 4
    assert np.isfinite(L).all()
    assert_array_equal(learn(X.tolist(), y, random_state=0), L)
    renamed = np.array(["ash", "box", "fir"])[y]
    assert_array_equal(learn(X, renamed, random_state=np.random.RandomState(0)), L)
    single = learn(X.astype(np.float32), y - 5, random_state=0)
    assert single.dtype == np.float32 and single.shape == L.shape
    assert getattr(mlbook.baselines, name) is learn and name in mlbook.baselines.__all__


ROWS = np.random.default_rng(0).normal(size=(12, 2))
HOLE = np.where(np.arange(24).reshape(12, 2) == 5, np.nan, ROWS)
HALVES = np.arange(12) // 6


@every_metric
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (HOLE, HALVES, "Input X contains NaN"),
        (np.where(np.isnan(HOLE), np.inf, HOLE), HALVES, "Input X contains infinity"),
        (ROWS, HALVES[:-1], "inconsistent numbers of samples"),
        (ROWS, np.ones(12, int), "y must have at least two classes; got 1 class"),
        (ROWS, ROWS[:, 0], "Unknown label type"),
        (ROWS[:, 0], HALVES, "Expected 2D array"),
        (ROWS[:0], HALVES[:0], "0 sample"),
        (np.full((12, 2), 0.1), HALVES, "X must have rows that differ"),
    ],
)
def test_bad_input(name, X, y, message):
    with pytest.raises(ValueError, match=message):
        METRICS[name](X, y)


@pytest.mark.parametrize("name", ["rca", "kissme", "xqda", "mmc"])
def test_no_variation_within_the_classes(name):
    """In some direction, which more features than rows make sure of."""
    flat = np.column_stack([ROWS, 2 * HALVES])
    for X in (flat, np.eye(12), np.eye(12, 30)):
        with pytest.raises(ValueError, match="X must vary within the classes"):
            METRICS[name](X, HALVES)


@pytest.mark.parametrize("name", ["pcca", "mmc", "itml"])
def test_pairs_that_are_not_there(name):
    with pytest.raises(ValueError, match="y must have a class with at least two rows"):
        METRICS[name](ROWS, np.arange(12))
    with pytest.raises(ValueError, match="rows that differ, within the classes and between"):
        METRICS[name](np.repeat(ROWS[:2], 6, axis=0), HALVES)


@pytest.mark.parametrize("name", ["kissme", "xqda"])
def test_classes_that_do_not_differ(name):
    """Every λ is 1 or less: nothing positive is left."""
    X = np.vstack([ROWS, 0.5 * ROWS])
    X -= np.repeat([ROWS.mean(axis=0), 0.5 * ROWS.mean(axis=0)], 12, axis=0)
    y = np.repeat([0, 1], 12)
    with pytest.raises(ValueError, match=f"{name} finds no metric for them"):
        METRICS[name](X, y)


def test_lmnn_needs_neighbours():
    with pytest.raises(
        ValueError, match="at least 4 rows of each class, for 3 neighbours each; got 3"
    ):
        METRICS["lmnn"](ROWS, np.arange(12) // 9)


# ---- the numbers that the book tells


@pytest.mark.parametrize(
    ("name", "expected"),
    [("euclidean", 3.0), ("lda", 0.206), ("kissme", 1.32), ("regression", 0.049)],
)
def test_law_2016_table_2(name, expected):
    """Δ of k-means on mapped test data, without the spectral step."""
    X, y = make_crossed_clusters((500, 1000, 2000), random_state=0)
    X_test, y_test = make_crossed_clusters((1000, 1000, 1000), random_state=1)
    Z = X_test @ METRICS[name](X, y).T
    labels = KMeans(3, n_init=5, random_state=0).fit_predict(Z)
    assert_allclose(partition_loss(y_test, labels), expected, atol=0.06)
