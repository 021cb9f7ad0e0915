"""MIMLCA: the metric, the kernel versions, prediction, and what is refused."""

import pickle
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from weak_problems import assignment, distortion, feasible, tiny, weak_problem

import mlbook.mimlca
from mlbook.bags import Bags
from mlbook.mimlca import MIMLCA
from mlbook.mlca import MLCA
from mlbook.partitions import assignment_matrix


def test_rejection_leaves_strangers_alone():
    """Digits 8 and 9 are nobody; half the captions add a name that is not there."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:800], np.where(y[:800] < 8, y[:800], -1)
    bags = Bags(X, np.arange(0, 801, 4))
    Y = np.zeros((200, 9), dtype=int)
    Y[bags.bag_index, y] = 1
    Y = Y[:, :8]
    more = Y.copy()
    more[np.arange(0, 200, 2), np.random.default_rng(0).integers(0, 8, 100)] = 1
    for labels in (Y, more):
        plain, careful = (MIMLCA(reject=reject).fit(bags, labels) for reject in (None, 1.05))
        right = [np.mean(model.assignments_ == y) for model in (plain, careful)]
        assert right[1] > right[0] + 0.05


# The estimator


def test_unambiguous_bags_give_mlca():
    bags, _, truth = weak_problem(2)
    single = Bags(bags.instances, np.arange(len(truth) + 1))
    model = MIMLCA().fit(single, assignment_matrix(truth))
    assert_array_equal(model.assignments_, truth)
    mlca = MLCA().fit(bags.instances, truth)
    assert_allclose(model.components_, mlca.components_, atol=1e-10)
    assert_allclose(model.get_mahalanobis_matrix(), mlca.get_mahalanobis_matrix(), atol=1e-10)
    assert_allclose(model.transform(bags.instances), mlca.transform(bags.instances), atol=1e-10)


@pytest.mark.equation("Law 2017, Algorithm 1")
def test_the_metric_is_mlca_on_the_assigned_rows():
    bags, Y, truth = weak_problem(3, outsiders=1)
    model = MIMLCA().fit(bags, Y)
    assert np.mean(model.assignments_[truth >= 0] == truth[truth >= 0]) > 0.7
    known = model.assignments_ >= 0
    assert 0 < np.count_nonzero(~known) < len(truth)
    X, labels = bags.instances[known], model.assignments_[known]
    assert_allclose(model.components_, MLCA().fit(X, labels).components_, atol=1e-10)
    for c in range(4):
        assert_allclose(model.centroids_[c], X[labels == c].mean(axis=0))
    assert_array_equal(model.category_count_, np.bincount(labels))
    assert model.rank_ == 6 and model.n_features_in_ == 6
    U = np.linalg.svd(bags.instances, full_matrices=False)[0][known]
    within = sum(np.sum((U[labels == c] - U[labels == c].mean(axis=0)) ** 2) for c in range(4))
    assert_allclose(model.objective_path_[-1], within)
    same = MIMLCA().fit(list(bags), sp.csr_array(Y))
    assert_array_equal(same.assignments_, model.assignments_)


def test_fewer_assigned_rows_than_features_still_give_mlca():
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(12, 12)))[0] * np.geomspace(1, 1e-3, 12)
    bags, Y = Bags(X, [0, 4, 8, 12]), [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
    model = MIMLCA(rank=8).fit(bags, Y)
    known = model.assignments_ >= 0
    assert np.count_nonzero(known) == 5
    U, s, Vt = np.linalg.svd(X)
    low = (U[:, :8] * s[:8]) @ Vt[:8]
    mlca = MLCA().fit(low[known], model.assignments_[known])
    assert_allclose(model.components_, mlca.components_, rtol=1e-6, atol=1e-8)


def noisy_problem():
    bags, Y, truth = weak_problem(4, m=150, k=8, d=8, spread=2.0)
    rng = np.random.default_rng(0)
    noise = 1e-9 * rng.normal(size=(len(truth), 60))
    return bags, bags.map(lambda X: np.hstack([X, noise])), Y, truth


def test_features_of_negligible_scale_are_dropped_by_rtol_or_rank():
    bags, noisy, Y, truth = noisy_problem()
    clean = MIMLCA().fit(bags, Y)
    blurred = MIMLCA().fit(noisy, Y)
    assert np.mean(clean.assignments_ != truth) < 0.02 < np.mean(blurred.assignments_ != truth) / 3
    for cut in ({"rtol": 1e-4}, {"rank": 8}, {"rtol": 1e-4, "rank": 20}):
        model = MIMLCA(**cut).fit(noisy, Y)
        assert model.rank_ == 8
        assert_array_equal(model.assignments_, clean.assignments_)
        assert_allclose(model.components_[:, :8], clean.components_, atol=1e-6)
        assert np.abs(model.components_[:, 8:]).max() < 1e-6


def test_dependent_features_change_nothing():
    bags, Y, _ = weak_problem(5)
    doubled = bags.map(lambda X: np.hstack([X, X[:, :2]]))
    model, reference = MIMLCA().fit(doubled, Y), MIMLCA().fit(bags, Y)
    assert model.rank_ == reference.rank_ == 6
    assert_array_equal(model.assignments_, reference.assignments_)
    assert_allclose(model.transform(doubled.instances), reference.transform(bags.instances))


@pytest.mark.parametrize("rank", [None, 4])
def test_sparse_is_dense_and_single_precision_stays(rank):
    bags, Y, _ = weak_problem(6)
    X = bags.instances * (np.random.default_rng(0).random(bags.instances.shape) < 0.6)
    dense = MIMLCA(rank=rank).fit(Bags(X, bags.offsets), Y)
    sparse = MIMLCA(rank=rank).fit(Bags(sp.csr_array(X), bags.offsets), Y)
    assert_array_equal(sparse.assignments_, dense.assignments_)
    assert_allclose(sparse.components_, dense.components_, atol=1e-8)
    assert_allclose(sparse.centroids_, dense.centroids_)
    assert_array_equal(sparse.predict(sp.csr_array(X)), dense.predict(X))
    single = MIMLCA(rank=rank).fit(Bags(X.astype(np.float32), bags.offsets), Y)
    assert single.components_.dtype == single.centroids_.dtype == np.float32
    assert_array_equal(single.assignments_, dense.assignments_)
    assert_allclose(single.components_, dense.components_, atol=1e-4)


def test_clones_and_pickles():
    bags, Y, _ = weak_problem(7)
    model = MIMLCA(rank=5, init="unambiguous").fit(bags, Y)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(bags.instances), model.predict(bags.instances))


# Prediction


def test_bags_in_place_of_instances():
    bags, Y, _ = weak_problem(2)
    model = MIMLCA().fit(bags, Y)
    for call in (model.predict, model.decision_function, model.transform):
        for same in (bags, [np.array(bag) for bag in bags]):
            assert_array_equal(call(same), call(bags.instances))
    narrow = Bags(bags.instances[:, 1:], bags.offsets)
    with pytest.raises(ValueError, match=r"bags have .* as features, and .* in fit"):
        model.predict(narrow)


@pytest.mark.equation("Law 2017, Eqs. 15-16")
def test_prediction_rules_by_the_letter(monkeypatch):
    bags, Y, _ = weak_problem(8, spread=2.0)
    Y = np.hstack([Y[:, :2], np.zeros((len(Y), 1), dtype=int), Y[:, 2:]])  # category 2: empty
    model = MIMLCA().fit(bags, Y)
    new = 4 * np.random.default_rng(1).normal(size=(50, 6))
    new[0] = 0
    filled = [0, 1, 3, 4]
    assert_array_equal(model.category_count_ > 0, [True, True, False, True, True])
    assert_array_equal(model.components_[2], 0)
    L = model.components_.T
    distances = [[np.sum(((x - z) @ L) ** 2) for z in model.centroids_[filled]] for x in new]
    nearest = np.array(filled)[np.argmin(distances, axis=1)]
    assert_array_equal(model.predict(new), nearest)
    norms = np.sum((model.centroids_ @ L) ** 2, axis=1)
    for alpha in (0, 0.7, -3.0):
        scores = (new @ L - alpha * norms)[:, filled]
        best = np.array(filled)[scores.argmax(axis=1)]
        assert_array_equal(model.predict(new, weight=alpha), best)
        found = model.decision_function(new, weight=alpha)
        assert_allclose(found[:, filled], scores, atol=1e-12)
        assert np.all(found[:, 2] == -np.inf)
    monkeypatch.setattr(mlbook.mimlca.estimator, "SCORE_ENTRIES", 7)
    assert_array_equal(model.predict(new), nearest)


def test_alpha_grows_with_the_square_root_of_repetition():
    bags, Y, _ = weak_problem(9)
    four = Bags.from_list(list(bags) * 4)
    once, repeated = MIMLCA().fit(bags, Y), MIMLCA().fit(four, np.vstack([Y] * 4))
    new = np.random.default_rng(0).normal(size=(30, 6)) * 3
    assert_allclose(
        2 * repeated.decision_function(new, weight=2 * 0.3),
        once.decision_function(new, weight=0.3),
        atol=1e-9,
    )


# Kernels


def linear_kernel(A, B):
    return A @ B.T


@pytest.mark.parametrize("rank", [None, 4])
def test_a_linear_kernel_is_the_linear_model(rank):
    bags, Y, _ = weak_problem(10, outsiders=1)
    new = np.random.default_rng(0).normal(size=(20, 6)) * 4
    linear = MIMLCA(rank=rank).fit(bags, Y)
    kernel = MIMLCA(kernel=linear_kernel, rank=rank).fit(bags, Y)
    assert kernel.rank_ == linear.rank_
    assert_array_equal(kernel.assignments_, linear.assignments_)
    assert_allclose(kernel.objective_path_, linear.objective_path_, atol=1e-8)
    assert_allclose(kernel.transform(new), linear.transform(new), atol=1e-8)
    for alpha in (None, 0.3):
        scores = linear.decision_function(new, alpha)
        assert_allclose(kernel.decision_function(new, alpha), scores, atol=1e-8)
        assert_array_equal(kernel.predict(new, alpha), linear.predict(new, alpha))


def test_a_kernel_matrix_in_any_order_of_rows():
    bags, Y, _ = weak_problem(11)
    X, new = bags.instances, np.random.default_rng(0).normal(size=(20, 6)) * 4
    model = MIMLCA(kernel=rbf_kernel, rank=10).fit(bags, Y)
    shuffled = np.random.default_rng(1).permutation(len(X))
    K = rbf_kernel(X[shuffled])
    given_matrix = Bags(K, bag_ids=bags.bag_index[shuffled])
    same = MIMLCA(kernel="precomputed", rank=10).fit(given_matrix, Y)
    back = np.argsort(shuffled)
    assert_array_equal(
        same.assignments_[np.argsort(given_matrix.order)][back],
        model.assignments_,
    )
    values = rbf_kernel(new, X[shuffled])
    assert_allclose(same.decision_function(values), model.decision_function(new), atol=1e-7)
    assert_allclose(same.centroids_, model.centroids_[:, shuffled], atol=1e-10)


def kernel_reference(K_new, K, labels, k):
    """Law 2017, A.6 with P = JᵀK† over the assigned instances, for any K."""
    known = labels >= 0
    H = assignment(labels[known], k)
    n_c = H.sum(axis=0)
    P = (H / np.sqrt(n_c)).T @ np.linalg.pinv(K[np.ix_(known, known)], rcond=1e-10, hermitian=True)
    Z = P @ K[np.ix_(known, known)] @ H / n_c
    mapped = P @ K_new[:, known].T
    distances = ((mapped[:, None] - Z[:, :, None]) ** 2).sum(axis=0)
    return mapped.T, distances.T, (Z**2).sum(axis=0)


@pytest.mark.equation("Law 2017, Eqs. 40 and 49-50")
@pytest.mark.parametrize("repeats", [1, 2])
def test_kernel_prediction_with_regular_and_singular_matrices(repeats):
    """With K invertible these are Eqs. 44-50 as printed; repeated instances make K singular."""
    bags, _, truth = weak_problem(12, m=20)
    X, y = np.vstack([bags.instances] * repeats), np.tile(truth, repeats)
    kernel = lambda A, B: rbf_kernel(A, B, gamma=0.1)  # noqa: E731
    labels = np.hstack([assignment_matrix(y).toarray(), np.zeros((len(y), 1))])  # the last: empty
    model = MIMLCA(kernel=kernel).fit(Bags(X, np.arange(len(X) + 1)), labels)
    new = np.random.default_rng(0).normal(size=(30, 6)) * 3
    assert np.all(model.decision_function(new)[:, 4] == -np.inf)
    mapped, distances, norms = kernel_reference(kernel(new, X), kernel(X, X), y, 4)
    assert_allclose(model.transform(new)[:, :4], mapped, atol=1e-6)
    assert_array_equal(model.predict(new), distances.argmin(axis=1))
    assert_array_equal(model.predict(new, weight=0.4), (mapped - 0.4 * norms).argmax(axis=1))
    if repeats == 1:
        sizes = np.bincount(y)
        assert_allclose(norms, 1 / sizes, rtol=1e-6)
        K_inverse = np.linalg.inv(kernel(X, X))
        printed = kernel(new, X) @ K_inverse @ assignment(y, 4) / sizes - 1 / sizes / 2
        assert_array_equal(printed.argmax(axis=1), model.predict(new))


@pytest.mark.equation("Law 2017, Eqs. 40-50")
def test_steps_of_the_kernel_formulas():
    """As printed, for an invertible K: both terms of the score, and the score of `MIMLCA`."""
    bags, _, y = weak_problem(12, m=20)
    X, new = bags.instances, np.random.default_rng(0).normal(size=(30, 6)) * 3
    kernel = lambda A, B: rbf_kernel(A, B, gamma=0.1)  # noqa: E731
    model = MIMLCA(kernel=kernel).fit(Bags(X, np.arange(len(X) + 1)), assignment_matrix(y))
    K, k_new, H = kernel(X, X), kernel(X, new), assignment(y, 4)
    inverse, n_c = np.linalg.inv(K), H.sum(axis=0)
    J, HH = H / np.sqrt(n_c), H @ np.linalg.pinv(H)
    P, Kz = J.T @ inverse, K @ H / n_c
    lengths = [
        np.sum((P @ Kz) ** 2, axis=0),
        np.diag(H.T @ K @ inverse @ J @ J.T @ inverse @ K @ H) / n_c**2,
        np.diag(H.T @ J @ J.T @ H) / n_c**2,
        np.diag(H.T @ HH @ H) / n_c**2,
        np.diag(H.T @ H) / n_c**2,
    ]
    assert_allclose(lengths, np.tile(1 / n_c, (5, 1)), rtol=1e-6)
    products = [
        Kz.T @ P.T @ P @ k_new,
        (H / n_c).T @ K @ inverse @ J @ J.T @ inverse @ k_new,
        (H / n_c).T @ HH @ inverse @ k_new,
        (H / n_c).T @ inverse @ k_new,
    ]
    assert_allclose(products[1:], np.tile(products[0], (3, 1, 1)), atol=1e-7)
    assert_allclose(model.decision_function(new), (products[3] - 0.5 / n_c[:, None]).T, atol=1e-6)
    scores = (J.T @ inverse @ k_new - 0.4 / n_c[:, None]).T
    assert_allclose(((H / np.sqrt(n_c)).T @ inverse @ k_new).T - 0.4 * lengths[4], scores)
    assert_allclose(model.decision_function(new, weight=0.4), scores, atol=1e-6)


@pytest.mark.equation("Law 2017, Eq. 14")
def test_inner_products_of_the_images_are_those_of_the_kernel_problem():
    bags, Y, truth = weak_problem(14, m=6)
    kernel = lambda A, B: rbf_kernel(A, B, gamma=0.1)  # noqa: E731
    X, H = bags.instances, assignment(truth, 4)
    model = MIMLCA(kernel=kernel).fit(Bags(X, np.arange(len(X) + 1)), assignment_matrix(truth))
    images, K = model.transform(X), kernel(X, X)
    P = (H / np.sqrt(H.sum(axis=0))).T @ np.linalg.inv(K)
    problem = K @ P.T @ P @ K
    assert_allclose(images, K @ P.T, atol=1e-8)
    assert_allclose(images @ images.T, problem, atol=1e-8)
    for labels in islice(feasible(bags.sizes, Y), 50):
        H = assignment(labels, 4)
        A = np.eye(len(X)) + H @ np.linalg.pinv(H) - np.diag(H.sum(axis=1))
        score = np.trace(problem) - distortion(images, labels, 4)
        assert_allclose(np.sum(A * problem), score, atol=1e-8)


def test_kernel_metric_on_some_of_the_instances():
    """Unassigned instances take part in the basis only: P is that of the assigned ones."""
    bags, Y, _ = weak_problem(13, m=20, outsiders=1)
    one = Y * (np.cumsum(Y, axis=1) == 1)
    kernel = lambda A, B: rbf_kernel(A, B, gamma=0.1)  # noqa: E731
    n = len(bags.instances)
    model = MIMLCA(kernel=kernel, rank=n - 1).fit(bags, one)
    assert np.any(model.assignments_ < 0)
    new = np.random.default_rng(0).normal(size=(30, 6)) * 3
    K = kernel(bags.instances, bags.instances)
    values, vectors = np.linalg.eigh(K)
    V = vectors[:, 1:]
    K_low, K_new = V * values[1:] @ V.T, kernel(new, bags.instances) @ V @ V.T
    labels = model.assignments_
    present = np.unique(labels[labels >= 0])
    renamed = np.where(labels >= 0, np.searchsorted(present, labels), -1)
    mapped, distances, _ = kernel_reference(K_new, K_low, renamed, len(present))
    assert_allclose(model.transform(new)[:, present], mapped, atol=1e-7)
    assert_array_equal(model.predict(new), present[distances.argmin(axis=1)])


def test_an_invertible_kernel_says_nothing_about_assignments():
    """Law 2017, Eq. 11 with KK† = I counts the categories used, and `fit` refuses."""
    _, offsets, Y, rng = tiny(7)
    K = rbf_kernel(rng.normal(size=(offsets[-1], 4)))
    U = np.linalg.eigh(K)[1]
    candidates = list(feasible(np.diff(offsets), Y))
    assert len(candidates) > 5
    for labels in candidates:
        known = labels[labels >= 0]
        assert_allclose(distortion(U, labels, 3), len(known) - len(set(known)), atol=1e-12)
    with pytest.raises(
        ValueError, match=r"as many directions as there are instances.*smaller rank"
    ):
        MIMLCA(kernel="precomputed").fit(Bags(K, offsets), Y)


def test_a_truncated_kernel_basis_finds_what_the_full_one_cannot():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    bags = Bags(X, np.arange(0, 401, 4))
    Y = np.zeros((100, 10), dtype=int)
    Y[bags.bag_index, y] = 1
    right = []
    for rank in (20, 399):
        found = MIMLCA(kernel="chi2_rbf", rank=rank).fit(bags, Y).assignments_
        right.append(np.mean(found[found >= 0] == y[found >= 0]))
    assert right[0] > 0.95 and right[1] < 0.5


# Refusals


BAGS, LABELS, _ = weak_problem(0)
X, N = BAGS.instances, len(BAGS.instances)

REFUSED = {
    "Y entries": (lambda: MIMLCA().fit(BAGS, 2 * LABELS), "Y must hold 0 and 1"),
    "Y rows": (lambda: MIMLCA().fit(BAGS, LABELS[1:]), "each of 40 bags"),
    "no label": (lambda: MIMLCA().fit(BAGS, 0 * LABELS), "nothing can be assigned"),
    "one category": (
        lambda: MIMLCA().fit(BAGS, LABELS * [1, 0, 0, 0]),
        "at least 2 categories.*category 0",
    ),
    "wide": (lambda: MIMLCA().fit(Bags(np.eye(6), [0, 3, 6]), [[1, 1], [1, 1]]), "UUᵀ = I"),
    "kernel": (lambda: MIMLCA(kernel="rbf").fit(BAGS, LABELS), "kernel must be one of"),
    "rank": (lambda: MIMLCA(rank=0).fit(BAGS, LABELS), "rank must be an integer, at least 1"),
    "rtol": (lambda: MIMLCA(rtol=1).fit(BAGS, LABELS), "rtol must be less than 1; got 1"),
    "rtol < 0": (lambda: MIMLCA(rtol=-1).fit(BAGS, LABELS), "rtol must be a finite number"),
    "init": (lambda: MIMLCA(init="best").fit(BAGS, LABELS), "init must be one of"),
    "n_init": (lambda: MIMLCA(n_init=0).fit(BAGS, LABELS), "n_init"),
    "max_iter": (lambda: MIMLCA(max_iter=0).fit(BAGS, LABELS), "max_iter"),
    "reject": (lambda: MIMLCA(reject=0).fit(BAGS, LABELS), "reject must be .* greater than 0"),
    "weight": (
        lambda: MIMLCA().fit(BAGS, LABELS).predict(X, weight=np.inf),
        "weight must be a finite number",
    ),
    "features": (lambda: MIMLCA().fit(BAGS, LABELS).predict(X[:, :2]), "2 features"),
    "zero": (lambda: MIMLCA().fit(BAGS.map(lambda X: 0 * X), LABELS), "all are zero"),
    "not square": (
        lambda: MIMLCA(kernel="precomputed").fit(BAGS, LABELS),
        "all rows of a square kernel matrix",
    ),
    "not symmetric": (
        lambda: MIMLCA(kernel="precomputed").fit(Bags(np.triu(X @ X.T), BAGS.offsets), LABELS),
        "must be symmetric",
    ),
    "not PSD": (
        lambda: MIMLCA(kernel=lambda A, B: -A @ B.T).fit(BAGS, LABELS),
        "positive semidefinite",
    ),
    "kernel shape": (
        lambda: MIMLCA(kernel=lambda A, B: A).fit(BAGS, LABELS),
        rf"kernel\(X, X\) must have shape \({N}, {N}\)",
    ),
    "kernel NaN": (
        lambda: MIMLCA(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(BAGS, LABELS),
        "NaN",
    ),
    "chi2": (lambda: MIMLCA(kernel="chi2_rbf").fit(BAGS, LABELS), "entries ≥ 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_not_fitted():
    for use in (
        lambda: MIMLCA().predict(X),
        lambda: MIMLCA().transform(X),
        lambda: MIMLCA().get_mahalanobis_matrix(),
    ):
        with pytest.raises(NotFittedError):
            use()
