"""Large-margin learning: optimum against enumeration, certificates, partial labels."""

import sys

import numpy as np
import pytest
from labelled_sequences import objective_pieces, steps, tiny
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, minimize
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mlbook.changepoints import segment
from mlbook.kmeans import SpectralKMeans
from mlbook.large_margin import LargeMarginMetric, structured_hinge
from mlbook.large_margin import estimator as large_margin
from mlbook.large_margin.learning import learn_by_turns
from mlbook.partitions import partition_loss


def as_constraints(cuts):
    """A, o with A (b, h) + o ≤ 0: no cut of a sequence is above its hinge."""
    hinges = -np.eye(len(cuts))
    rows = [np.hstack([G, np.tile(hinges[i], (len(G), 1))]) for i, (_, G) in enumerate(cuts)]
    return np.vstack(rows), np.concatenate([offsets for offsets, _ in cuts])


# The optimum


@pytest.mark.equation("Lajugie 2014, Eq. 9")
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 1e-1])
def test_l1_optimum_is_that_of_the_complete_linear_program(known, alpha):
    X, y = tiny(d=3)
    weights, cuts, units = objective_pieces(X, y, known=known, full=False)
    A, o = as_constraints(cuts)
    expected = linprog(np.r_[alpha * units, weights], A_ub=A, b_ub=-o)
    model = LargeMarginMetric(
        n_clusters="known" if known else "learned",
        regularizer="l1",
        alpha=alpha,
        min_length=1,
        tol=1e-8,
        calibrate=False,
    ).fit(X, y)
    assert_allclose(model.objective_, expected.fun, rtol=1e-6)
    assert_allclose(model.lower_bound_, expected.fun, rtol=1e-6)
    assert model.duality_gap_ <= 1e-8


@pytest.mark.equation("Lajugie 2014, Eq. 9")
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 1e-1])
def test_l2_optimum_is_that_of_the_complete_quadratic_program(known, alpha):
    X, y = tiny(d=3)
    weights, cuts, units = objective_pieces(X, y, known=known, full=False)
    A, o = as_constraints(cuts)
    A[:, :3] /= units  # in terms of b · units
    expected = minimize(
        lambda v: alpha / 2 * v[:3] @ v[:3] + weights @ v[3:],
        np.r_[np.zeros(3), 9.0, 9.0],
        jac=lambda v: np.r_[alpha * v[:3], weights],
        bounds=[(0, None)] * 5,
        constraints={"type": "ineq", "fun": lambda v: -o - A @ v, "jac": lambda v: -A},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    model = LargeMarginMetric(
        n_clusters="known" if known else "learned", alpha=alpha, min_length=1, tol=1e-6
    ).fit(X, y)
    assert expected.success
    assert_allclose(model.objective_, expected.fun, rtol=1e-5)
    assert model.lower_bound_ <= expected.fun * (1 + 1e-7)
    b = model.get_mahalanobis_matrix().diagonal()
    assert_allclose(b * units, expected.x[:3], atol=2e-3 * expected.x[:3].max())
    assert_allclose(model.components_, np.diag(np.sqrt(b))[b > 0])


@pytest.mark.equation("Lajugie 2014, Eq. 9")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("regularizer", "solver"),
    [("l2", "cutting-planes"), ("trace", "cutting-planes"), ("l2", "subgradient")],
)
def test_full_metric_is_optimal_and_its_gap_certified(regularizer, solver):
    """Primal value and bound, recomputed from all constraints and from a search over metrics."""
    X, y = tiny(seed=4)
    alpha, tol = 0.05, (1e-5 if solver == "cutting-planes" else 0.01)
    weights, cuts, units = objective_pieces(X, y, known=False, full=True)

    def J(B):
        scaled = np.sqrt(units)[:, None] * B * np.sqrt(units)
        hinges = [np.max(o + G @ B.ravel()) for o, G in cuts]
        linear, quadratic = (0, alpha) if regularizer == "l2" else (alpha, alpha / 100)
        return weights @ hinges + linear * np.trace(scaled) + quadratic / 2 * np.sum(scaled**2)

    model = LargeMarginMetric(
        metric="full",
        regularizer=regularizer,
        alpha=alpha,
        min_length=1,
        tol=tol,
        solver=solver,
        max_iter=5000,
    ).fit(X, y)
    assert_allclose(J(model.get_mahalanobis_matrix()), model.objective_, rtol=1e-9)
    gap = (model.objective_ - model.lower_bound_) / model.objective_
    assert_allclose(model.duality_gap_, gap, atol=1e-15)
    assert gap <= tol

    def factored(v):
        L = v.reshape(2, 2) / np.sqrt(units)[:, None]
        return J(L @ L.T)

    rng = np.random.default_rng(0)
    found = min(
        minimize(
            factored,
            rng.normal(size=4) * 3,
            method="Nelder-Mead",
            options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000},
        ).fun
        for _ in range(6)
    )
    assert model.lower_bound_ <= found
    assert model.objective_ <= found * (1 + tol) + 1e-9


@pytest.mark.parametrize("structure", ["sequence", "spectral"])
@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_no_metric_is_below_the_bound(structure, metric):
    X, y = tiny(seed=5, d=3)
    alpha = 0.01
    model = LargeMarginMetric(
        structure=structure, metric=metric, alpha=alpha, min_length=1, calibrate=False
    ).fit(X, y)
    weights, _, units = objective_pieces(X, y, known=False, full=True)

    def J(B):
        hinges = [structured_hinge(x, t, B, structure=structure) for x, t in zip(X, y, strict=True)]
        scaled = np.sqrt(units)[:, None] * B * np.sqrt(units)
        return weights @ hinges + alpha / 2 * np.sum(scaled**2)

    B = model.get_mahalanobis_matrix()
    assert_allclose(J(B), model.objective_, rtol=1e-7)
    assert model.duality_gap_ <= 1e-3
    rng = np.random.default_rng(0)
    for scale in [0.03, 0.1, 0.3, 1.0]:
        for _ in range(10):
            L = rng.normal(size=(3, 3)) / np.sqrt(units)
            other = B + scale * np.trace(B) * (L.T @ L / np.trace(L.T @ L))
            if metric == "diagonal":
                other = np.diag(other.diagonal())
            assert J(other) >= model.lower_bound_ - 1e-9
            assert J(B * (1 + scale * rng.normal()) ** 2) >= model.lower_bound_ - 1e-9


def test_units_of_the_features_change_nothing():
    X, y = steps(80, 5)
    units = np.array([1e-6, 1.0, 1e5, 3.0, 1e2])
    first = LargeMarginMetric(tol=1e-6).fit(X, y)
    second = LargeMarginMetric(tol=1e-6).fit([x * units + 7 * units for x in X], y)
    assert_allclose(first.objective_, second.objective_, rtol=1e-5)
    a, b = (m.get_mahalanobis_matrix().diagonal() for m in (first, second))
    assert_allclose(a, b * units**2, atol=1e-3 * a.max())
    assert_array_equal(first.predict(X[0]), second.predict(X[0] * units))


# What is learned


@pytest.mark.parametrize("regularizer", ["l1", "l2"])
def test_finds_the_feature_that_changes(regularizer):
    X, y = steps(120, 30, n_series=6, levels=(0.0, 5.0, -1.0, 3.0))
    model = LargeMarginMetric(regularizer=regularizer).fit(X[:4], y[:4])
    b = model.get_mahalanobis_matrix().diagonal()
    assert b[0] > 5 * b[1:].max()
    assert model.duality_gap_ <= 1e-3
    assert model.components_.shape[0] == np.count_nonzero(b) < 30
    losses = [partition_loss(model.predict(x), t) for x, t in zip(X[4:], y[4:], strict=True)]
    plain = [partition_loss(segment(x, 4), t) for x, t in zip(X[4:], y[4:], strict=True)]
    assert np.mean(losses) < 0.5 < np.mean(plain)
    assert_allclose(model.transform(X[0]), X[0] @ model.components_.T)


def test_known_number_of_segments():
    X, y = steps(100, 8)
    model = LargeMarginMetric(n_clusters="known").fit(X[:3], y[:3])
    assert model.penalty_ is None
    labels = model.predict(X[3], n_clusters=4)
    assert labels.max() == 3 and partition_loss(labels, y[3]) < 1 < partition_loss(
        segment(X[3], 4), y[3]
    )


def test_min_length():
    X, y = steps(100, 6)
    assert LargeMarginMetric().fit(X, y).min_length_ == np.bincount(y[0]).min() // 2
    model = LargeMarginMetric(min_length=7).fit(X, y)
    assert model.min_length_ == 7
    assert np.bincount(model.predict(X[0])).min() >= 7
    assert_array_equal(model.predict(X[0][:5]), np.zeros(5))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_k_means_partitions(metric):
    """Lajugie 2014, Section 6.2: one data set, its classes as the partition."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X = np.hstack([X, 3 * rng.normal(size=(150, 3))])
    order = rng.permutation(150)
    X, y = X[order], y[order]
    options = {"structure": "spectral", "metric": metric, "random_state": 0}
    model = LargeMarginMetric(n_clusters="known", **options).fit([X], [y])
    euclidean = SpectralKMeans(3, random_state=0).fit_predict(X)
    assert partition_loss(model.predict(X, 3), y) < 0.6 < 1 < partition_loss(euclidean, y)
    free = LargeMarginMetric(n_clusters="learned", **options).fit([X], [y])
    labels = free.predict(X)
    spread = np.linalg.svd(free.transform(X - X.mean(axis=0)), compute_uv=False) ** 2
    assert labels.max() == np.sum(spread > free.penalty_)
    assert partition_loss(labels, y) < 1.2


@pytest.mark.equation("Lajugie 2014, Eq. 9")
def test_high_dimensional_full_metric_takes_subgradients(monkeypatch):
    monkeypatch.setattr(large_margin, "_CUTTING_PLANES_TO", 2)
    X, y = steps(80, 3)
    kind = {"metric": "full", "alpha": 0.03, "tol": 0.02}
    auto = LargeMarginMetric(**kind).fit(X, y)
    named = LargeMarginMetric(solver="subgradient", **kind).fit(X, y)
    planes = LargeMarginMetric(solver="cutting-planes", **kind).fit(X, y)
    trace = LargeMarginMetric(regularizer="trace", metric="full", alpha=0.2, tol=0.1).fit(X, y)
    assert trace.duality_gap_ <= 0.1
    assert auto.n_iter_ == named.n_iter_ != planes.n_iter_
    assert max(auto.lower_bound_, planes.lower_bound_) <= min(auto.objective_, planes.objective_)


# Partial labels


@pytest.mark.equation("Lajugie 2014, Eq. 9 and Section 5.2")
@pytest.mark.parametrize("init", ["labelled", "pca"])
@pytest.mark.parametrize("calibrate", [True, False])
def test_partial_labels(init, calibrate):
    """A window of every sequence is labelled; the rest is filled in, in agreement with it."""
    X, y = steps(120, 10, n_series=5, levels=(0.0, 6.0, -1.0, 4.0))
    partial = [t.copy() for t in y]
    for i, t in enumerate(partial):
        t[: 8 * i] = -1
        t[8 * i + 70 :] = -1
    model = LargeMarginMetric(init=init, n_pca=1, min_length=6, calibrate=calibrate)
    model.fit(X[:4], partial[:4])
    assert model.n_alternations_ >= 1
    assert_allclose(model.duality_gap_, 1 - model.lower_bound_ / model.objective_)
    assert 0 <= model.duality_gap_ <= 1e-3
    for filled, given, truth in zip(model.labels_, partial, y, strict=False):
        known = np.flatnonzero(given >= 0)
        same = given[known, None] == given[known]
        assert_array_equal(filled[known, None] == filled[known], same)
        assert partition_loss(filled, truth) < 0.5
    assert model.get_mahalanobis_matrix().diagonal().argmax() == 0
    assert partition_loss(model.predict(X[4]), y[4]) < 0.5


@pytest.mark.equation("Lajugie 2014, Eq. 9 and Section 5.2")
def test_partial_labels_start_from_principal_components(monkeypatch):
    X, y = steps(80, 4)
    X = [x + 50 * np.eye(4)[1] for x in X]  # the mean of a series is no direction of its changes
    partial = [np.where(np.arange(80) < 60, t, -1) for t in y]
    first = []

    def record(series, constraints, components, *args, **options):
        first.append(components)
        return learn_by_turns(series, constraints, components, *args, **options)

    monkeypatch.setattr(large_margin, "learn_by_turns", record)
    LargeMarginMetric(init="pca", n_pca=2).fit(X, partial)
    axes = np.linalg.svd(np.vstack([x - x.mean(axis=0) for x in X]))[2][:2]
    assert_allclose(first[0].T @ first[0], axes.T @ axes, atol=1e-9)


# Warnings, progress, bad input


def test_constant_features_get_no_weight():
    X, y = steps(80, 3)
    X = [np.c_[x, np.full(80, 0.1 * i)] for i, x in enumerate(X)]
    with pytest.warns(UserWarning, match="constant within every sequence"):
        model = LargeMarginMetric().fit(X, y)
    assert not model.components_[:, 3].any()


@pytest.mark.parametrize("kind", [{}, {"metric": "full"}, {"regularizer": "l1"}])
def test_a_metric_of_zero_is_told(kind):
    X, y = tiny()
    with pytest.warns(UserWarning, match="metric is zero"):
        model = LargeMarginMetric(alpha=1e9 if "regularizer" in kind else 1e30, **kind).fit(X, y)
    assert_allclose(model.components_, 0, atol=1e-12)
    assert_array_equal(model.predict(X[0]), np.zeros(len(X[0])))


def test_too_few_rounds_are_told():
    X, y = steps(80, 6)
    with pytest.warns(ConvergenceWarning, match="duality gap is"):
        model = LargeMarginMetric(max_iter=2).fit(X, y)
    assert model.n_iter_ == 2 and model.duality_gap_ > 1e-3


def test_progress(capsys, monkeypatch):
    X, y = tiny()
    LargeMarginMetric().fit(X, y)
    assert capsys.readouterr() == ("", "")
    pytest.importorskip("tqdm")
    LargeMarginMetric(verbose=True).fit(X, y)
    assert "gap" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    model = LargeMarginMetric(verbose=True).fit(X, y)
    *_, last = capsys.readouterr().err.splitlines()
    end = f"objective {model.objective_:.4g}, gap {model.duality_gap_:.2g}"
    assert last == f"large margin: {model.n_iter_} of 1000, {end}"


def fit(X=None, y=None, **options):
    data = tiny()
    return LargeMarginMetric(**options).fit(
        data[0] if X is None else X, data[1] if y is None else y
    )


x5 = np.arange(10.0).reshape(5, 2)
REFUSED = {
    "structure": (lambda: fit(structure="tree"), "structure"),
    "n_clusters": (lambda: fit(n_clusters=3), "n_clusters"),
    "metric": (lambda: fit(metric="low-rank"), "metric"),
    "l1 of a full metric": (lambda: fit(metric="full", regularizer="l1"), "regularizer"),
    "trace of a diagonal": (lambda: fit(regularizer="trace"), "regularizer"),
    "solver": (lambda: fit(solver="adam"), "solver"),
    "subgradient for l1": (lambda: fit(solver="subgradient", regularizer="l1"), "subgradient"),
    "init": (lambda: fit(init="random"), "init"),
    "alpha": (lambda: fit(alpha=0.0), "alpha"),
    "tol": (lambda: fit(tol=0), "tol"),
    "max_iter": (lambda: fit(max_iter=0), "max_iter"),
    "min_length": (lambda: fit(min_length="short"), "min_length"),
    "short segment": (
        lambda: fit(min_length=3),
        r"room for segments of min_length=3 or more; ys\[1\]",
    ),
    "NaN": (lambda: fit([x5 * np.nan], [[0, 0, 0, 1, 1]]), "NaN"),
    "empty": (lambda: fit([], []), "at least 1"),
    "list lengths": (lambda: fit([x5], []), "same length"),
    "lengths": (lambda: fit([x5], [[0, 1]]), r"ys\[0\]"),
    "features": (lambda: fit([x5, x5[:, :1]], [[0] * 5] * 2), r"Xs\[1\]: X has 1 features"),
    "not contiguous": (lambda: fit([x5], [[0, 1, 1, 0, 0]]), r"ys\[0\] must be contiguous"),
    "label below -1": (lambda: fit([x5], [[0, -2, 1, 1, 1]]), "at least -1"),
    "nothing labelled": (lambda: fit([x5], [[-1] * 5]), "all are unknown"),
    "contradictory": (lambda: fit([x5], [[0, 1, -1, 0, 0]]), "contradict"),
    "partial, known": (lambda: fit([x5], [[0, 0, -1, 1, 1]], n_clusters="known"), "unknown labels"),
    "n_pca": (lambda: fit([x5], [[0, 0, -1, 1, 1]], init="pca", n_pca=9), "n_pca"),
    "K missing": (lambda: fit(n_clusters="known").predict(x5), "n_clusters must be given"),
    "other features": (lambda: fit().predict(x5[:, :1]), "2 features"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_not_fitted():
    for use in ("transform", "predict"):
        with pytest.raises(NotFittedError):
            getattr(LargeMarginMetric(), use)(x5)
    with pytest.raises(NotFittedError):
        LargeMarginMetric().get_mahalanobis_matrix()
