"""Correlation clustering against all partitions, its SVM against the primal problem."""

import doctest
import warnings

import enumeration
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from book.reproduction import correlation_clustering
from book.reproduction.correlation_clustering import (
    CorrelationClusteringSVM,
    correlation_clusters,
    correlation_clusters_exact,
    correlation_score,
)
from mlbook.partitions import rand_loss


def similarities(n, seed):
    S = np.random.default_rng(seed).normal(size=(n, n))
    return S + S.T


def pair_sum(A, labels):
    """Σ over pairs i < j of one cluster, one by one."""
    n = len(labels)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if labels[i] == labels[j]]
    return sum((A[..., i, j] for i, j in pairs), start=np.zeros(A.shape[:-2]))


def blobs(rng, n=6, k=2):
    """A stack of a constant and two distances, the second of them noise, and the clusters."""
    labels = np.arange(n) % k
    x = 6.0 * labels + rng.normal(size=n)
    noise = rng.normal(size=n)
    pairs = [np.ones((n, n)), -abs(x[:, None] - x), -abs(noise[:, None] - noise)]
    return np.array(pairs), labels


@given(st.integers(1, 7), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_exact_is_the_best_of_all_partitions(n, seed):
    S = similarities(n, seed)
    best = max(float(pair_sum(S, labels)) for labels in enumeration.all_partitions(n))
    labels = correlation_clusters_exact(S)
    assert labels.shape == (n,) and set(labels) == set(range(labels.max() + 1))
    assert correlation_score(S, labels) == pytest.approx(best, abs=1e-9)


@given(st.integers(1, 12), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_search_ends_where_no_step_helps(n, seed):
    S = similarities(n, seed)
    labels = correlation_clusters(S)
    score = correlation_score(S, labels)
    k = labels.max() + 1
    assert set(labels) == set(range(k))
    for point in range(n):
        for to in range(k + 1):
            moved = labels.copy()
            moved[point] = to
            assert correlation_score(S, moved) <= score + 1e-9
    for a in range(k):
        for b in range(a):
            assert correlation_score(S, np.where(labels == a, b, labels)) <= score + 1e-9


@pytest.mark.slow
def test_search_is_mostly_optimal_on_random_similarities():
    matrices = [similarities(10, seed) for seed in range(30)]
    exact = np.array([correlation_score(S, correlation_clusters_exact(S)) for S in matrices])
    found = np.array([correlation_score(S, correlation_clusters(S)) for S in matrices])
    assert (found <= exact + 1e-9).all()
    assert np.isclose(found, exact).sum() >= 20 and (found >= 0.7 * exact).all()


def test_search_recovers_well_separated_clusters():
    stack, labels = blobs(np.random.default_rng(0), n=200, k=5)
    found = correlation_clusters(3 * stack[0] + stack[1])
    assert rand_loss(found, labels) < 0.02
    truth = 1.0 * (labels[:, None] == labels)
    assert rand_loss(correlation_clusters(truth - 0.5), labels) == 0


def test_score_ignores_the_diagonal_and_the_antisymmetric_part():
    S = similarities(6, 3)
    labels = np.array([0, 0, 1, 1, 1, 2])
    expected = correlation_score(S, labels)
    assert expected == pytest.approx(float(pair_sum(S, labels)))
    skew = np.triu(np.ones((6, 6)), 1)
    assert correlation_score(S + skew - skew.T + 7 * np.eye(6), labels) == pytest.approx(expected)
    assert correlation_score(S, np.array(list("aabbbc"))) == pytest.approx(expected)


# --- learning --------------------------------------------------------------------------------


def balanced_loss(labels, other):
    """Half the share of pairs that are split, plus half the share of pairs that are joined."""
    upper = np.triu_indices(len(labels), 1)
    given, found = ((c[:, None] == c)[upper] for c in (np.asarray(labels), np.asarray(other)))
    return (np.mean(~found[given]) + np.mean(found[~given])) / 2


def by_enumeration(stack, labels, loss=balanced_loss):
    """Δ of every partition, and Ψ less that of the given one."""
    n_pairs = len(labels) * (len(labels) - 1) / 2
    everything = list(enumeration.all_partitions(len(labels)))
    losses = np.array([loss(labels, other) for other in everything])
    sums = np.array([pair_sum(stack, other) for other in everything])
    return losses, (sums - pair_sum(stack, labels)) / n_pairs


@pytest.mark.parametrize("balanced", [True, False])
def test_objective_and_gap_are_those_of_the_primal_problem(balanced):
    """On so few points the search finds the optimum here, hence the gap is a proof."""
    rng = np.random.default_rng(1)
    problems = [blobs(rng), blobs(rng, n=5)]
    loss = balanced_loss if balanced else rand_loss
    listed = [by_enumeration(*problem, loss) for problem in problems]

    def primal(w):
        return 0.025 * w @ w + np.mean([(loss + sums @ w).max() for loss, sums in listed])

    model = CorrelationClusteringSVM(alpha=0.05, balanced=balanced, tol=5e-3, max_iter=3000)
    model.fit(*zip(*problems, strict=True))
    assert model.n_iter_ < 3000
    assert model.objective_ == pytest.approx(primal(model.weights_), abs=1e-9)
    assert 0 <= model.duality_gap_ <= 5e-3
    best = minimize(primal, model.weights_, method="Nelder-Mead", options={"maxiter": 2000}).fun
    assert model.objective_ - model.duality_gap_ - 1e-9 <= best <= model.objective_


def test_learned_weights_find_the_clusters_of_new_points():
    rng = np.random.default_rng(2)
    train, test = [blobs(rng, n=40, k=2) for _ in range(3)], blobs(rng, n=60, k=2)
    model = CorrelationClusteringSVM().fit(*zip(*train, strict=True))
    assert rand_loss(model.predict(test[0]), test[1]) < 0.1
    assert_allclose(model.similarities(test[0]), np.einsum("f,fij->ij", model.weights_, test[0]))


def overlapping(seed, n=60, k=10):
    """A constant and a distance of points of k classes that overlap, and the classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    x = 3 * rng.normal(size=(k, 2))[labels] + 0.6 * rng.normal(size=(n, 2))
    D = np.linalg.norm(x[:, None] - x, axis=2)
    return np.array([np.ones((n, n)), -D]), labels


def test_clusters_fall_apart_because_few_pairs_are_together():
    """With every pair of the same weight, to leave points alone costs 1/k at most."""
    counts = {balanced: [] for balanced in (True, False)}
    for seed in range(20):
        stack, labels = overlapping(seed)
        for balanced, found in counts.items():
            model = CorrelationClusteringSVM(balanced=balanced)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit([stack], [labels])
            found.append(model.predict(stack).max() + 1)
    assert all(plain > even for plain, even in zip(counts[False], counts[True], strict=True))
    assert np.mean(counts[False]) > 2.5 * np.mean(counts[True])
    assert 5 <= np.mean(counts[True]) <= 12  # of 10


def test_a_partition_that_cannot_be_violated_stops_at_once():
    model = CorrelationClusteringSVM().fit([np.ones((2, 1, 1))], [[0]])
    assert_array_equal(model.weights_, 0)
    assert model.n_iter_ == 1 and model.objective_ == model.duality_gap_ == 0


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: correlation_clusters(np.ones((2, 3))), r"S must be square; got shape \(2, 3\)"),
        (lambda: correlation_clusters([[0, np.nan], [np.nan, 0]]), "S contains NaN"),
        (lambda: correlation_score(np.eye(2), [0]), r"labels must have shape \(2,\).*\(1,\)"),
        (lambda: correlation_score(np.eye(2), [0, np.nan]), "labels contains NaN"),
        (lambda: correlation_score(np.eye(2), [0, -1]), "must not be negative"),
    ],
)
def test_bad_similarities(call, message):
    with pytest.raises(ValueError, match=message):
        call()


STACK = np.ones((2, 3, 3))


@pytest.mark.parametrize(
    "options, datasets, partitions, message",
    [
        ({"alpha": 0}, [STACK], [[0, 0, 1]], "alpha must be .* greater than 0; got 0"),
        ({"balanced": 2}, [STACK], [[0, 0, 1]], "balanced must be"),
        ({"tol": -1}, [STACK], [[0, 0, 1]], "tol must be"),
        ({"max_iter": 0}, [STACK], [[0, 0, 1]], "max_iter must be an integer, at least 1; got 0"),
        ({}, [], [], "same length, at least 1; got 0 and 0"),
        ({}, [STACK], [], "same length, at least 1; got 1 and 0"),
        ({}, [STACK, STACK[:1]], [[0, 0, 1]] * 2, r"agree on F; got \[2, 1\]"),
        ({}, [STACK[0]], [[0, 0, 1]], r"\(F, n, n\) each; got \(3, 3\)"),
        ({}, [STACK * np.nan], [[0, 0, 1]], "finite"),
        ({}, [STACK], [[0, 0]], r"ys\[0\] must have shape \(3,\)"),
    ],
)
def test_bad_training_sets(options, datasets, partitions, message):
    with pytest.raises(ValueError, match=message):
        CorrelationClusteringSVM(**options).fit(datasets, partitions)


def test_bad_features():
    model = CorrelationClusteringSVM().fit([STACK], [[0, 0, 1]])
    with pytest.raises(ValueError, match=r"features must have shape \(2, n, m\); got \(3, 3\)"):
        model.predict(STACK[0])


def test_examples_of_the_docstrings():
    found = doctest.testmod(correlation_clustering)
    assert found.attempted > 0 and found.failed == 0
