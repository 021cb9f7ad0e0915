"""Metrics with one knob: what they compute, on what the knob is turned, what a unit measures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import inv
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from book.reproduction import comparisons
from book.reproduction import methods as room
from book.reproduction.compared_data import Problem, draw
from mlbook.mlca import MLCA

UNIT = {**comparisons.BASE, "data": "letters", "seed": 0}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 15)
    return rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5] + rng.normal(size=(4, 5))[y], y


def test_a_shrunk_inverse_root():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 4))
    S = A.T @ A
    for a in (0.0, 0.3, 1.0):
        L = room.inverse_root(S, a)
        assert_allclose(L.T @ L, inv((1 - a) * S + a * np.trace(S) / 4 * np.eye(4)))


def test_directions_that_do_not_vary_get_zero():
    S = np.diag([4.0, 1.0, 0.0])
    L = room.inverse_root(S)
    assert_allclose(L.T @ L, np.diag([0.25, 1.0, 0.0]), atol=1e-12)


def test_whitened_rows_vary_alike_and_no_label_is_used(rows):
    X, y = rows
    assert_allclose(np.cov((X @ room.learn_whitened(X, y, 0.0).T).T), np.eye(5), atol=1e-10)
    for name, method in room.METHODS.items():
        if not method.told:
            same = [method.learn(X, labels, method.knobs[0]) for labels in (y, y[::-1])]
            assert_array_equal(*same, err_msg=name)


def test_standardised_rows_have_unit_deviation_and_constants_stay(rows):
    X, y = rows
    X[:, 2] = 7
    L = room.learn_standardised(X, y, 0)
    assert_allclose((X @ L.T).std(axis=0), [1, 1, 0, 1, 1])


def test_rca_and_lda_unshrunk_have_whitened_classes(rows):
    X, y = rows
    means = np.array([X[y == c].mean(axis=0) for c in range(4)])
    for L in (room.learn_rca(X, y, 0.0), room.learn_lda(X, y, 0.0)):
        within = np.cov(((X - means[y]) @ L.T).T, ddof=1)
        assert_allclose(within / within[0, 0], np.eye(len(L)), atol=1e-8)
    assert len(room.learn_lda(X, y, 0.0)) == 3


@pytest.mark.parametrize("learn", [room.learn_whitened, room.learn_rca, room.learn_mlca])
def test_shrunk_to_the_end_it_is_the_euclidean_distance(rows, learn):
    M = (L := learn(*rows, 1.0)).T @ L
    assert_allclose(M / M[0, 0], np.eye(5), atol=1e-8)


def test_kissme_sees_only_the_leading_components(rows):
    X, y = rows
    X = X + 20 * np.eye(5)[[4, 3, 2, 4]][y] * np.array([1, 1, 1, -1])[y, None]
    share = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    for knob in (0.5, 0.8):
        kept = int(np.sum(np.cumsum(share) / share.sum() < knob)) + 1
        assert np.linalg.matrix_rank(room.learn_kissme(X, y, knob)) <= kept < 4


def test_balanced_mlca_does_not_see_sizes(rows):
    X, y = rows
    twice = np.concatenate([np.arange(60), np.flatnonzero(y == 0)])
    maps = [room.learn_mlca_balanced(A, b, 0.3) for A, b in ((X, y), (X[twice], y[twice]))]
    balanced = [L.T @ L / np.trace(L.T @ L) for L in maps]
    assert_allclose(*balanced, rtol=1e-6)


# --- the knob ----------------------------------------------------------------------------------


def test_unseen_classes_are_left_out_whole_and_seen_ones_in_half(rows):
    _, y = rows
    rng = np.random.default_rng(0)
    whole, half = room.left_out(y, False, rng), room.left_out(y, True, rng)
    assert sorted(np.mean(whole[y == c]) for c in range(4)) == [0, 0, 1, 1]
    assert all(abs(np.sum(half[y == c]) - 7.5) < 1 for c in range(4))
    many = np.repeat(np.arange(30), 2)
    assert len(set(many[room.left_out(many, False, rng)])) == room.MOST_LEFT_OUT


@pytest.mark.parametrize("seen", [False, True])
def test_the_knob_takes_what_clusters_rows_left_out_best(seen):
    """The knob switches on the feature that tells the classes apart; others drown it."""
    X, y = make_blobs(120, centers=[[10 * c] for c in range(6)], random_state=0)
    X = np.hstack([X, 100 * np.random.default_rng(0).normal(size=(120, 1))])
    method = room.Method(lambda X, y, knob: np.diag([knob, 1 - knob]), (0.0, 0.5, 1.0))
    assert room.turn(method, X, y, seen) == 1.0


def test_the_knob_never_sees_test_rows_and_is_fixed_without_classes_to_leave_out(rows):
    X, y = rows
    method = room.METHODS["RCA, shrunk"]
    assert room.turn(method, X[y < 2], y[y < 2], seen=False) == 0.5
    assert room.turn(room.METHODS["half whitened"], X, y, seen=False) == 0.5
    assert room.turn(method, X, y, seen=False) in room.SHRUNK


def test_for_unseen_classes_mlca_turns_its_own_knob():
    problem = draw(UNIT)
    model = MLCA(shrinkage="auto", fit_intercept=True, random_state=0).fit(problem.X, problem.y)
    assert_array_equal(room.learn("MLCA, shrunk", problem.X, problem.y, False), model.components_)


# --- what is measured --------------------------------------------------------------------------


def test_a_unit_measures_every_method_on_the_same_split():
    names = ["k-means", "half whitened", "MLCA, plain"]
    values = room.run_unit({**UNIT, "methods": names})
    assert values.keys() == {*names, "time, MLCA, plain"}
    problem = draw(UNIT)
    for name in names:
        Z = problem.X_test @ room.learn(name, problem.X, problem.y, False).T
        rand = adjusted_rand_score(problem.y_test, room.cluster(Z, 5))
        assert values[name] == pytest.approx(rand, abs=1e-4)


def test_the_nearest_class_mean_names_classes():
    problem = Problem(
        np.array([[0.0, 0], [1, 2], [5, 0], [6, 2]]),
        np.array([0, 0, 1, 1]),
        np.array([[1.0, 9], [4, 9], [0, -9]]),
        np.array([7, 8, 7]),
    )
    assert_array_equal(room.found_by(room.BY_MEANS, np.diag([1.0, 0.01]), problem), [0, 1, 0])
    assert len(set(room.found_by("k-means", np.eye(2), problem))) == 2
