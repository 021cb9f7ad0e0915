"""Baselines on bags: every formula against loops over instances, and what each step promises."""

import doctest
from itertools import product

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from book.reproduction import bag_baselines
from book.reproduction.bag_baselines import (
    DISSIMILARITIES,
    bag_dissimilarities,
    class_to_bag_metric,
    class_to_bag_scores,
    mi_kernel,
    mildml,
    miml,
    minimax_features,
    one_vs_rest_scores,
)
from mlbook.bags import Bags, bag_distances


def random_bags(rng, m=12, d=4, largest=4):
    sizes = rng.integers(1, largest + 1, size=m)
    return Bags(rng.normal(size=(sizes.sum(), d)), np.append(0, np.cumsum(sizes)))


def separable(rng, n_bags=60, noise=5.0):
    """Bags of an instance of each label and one of none; feature 0 tells, feature 1 is noise."""
    Y = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])[rng.integers(3, size=n_bags)]
    X, truth = [], []
    for labels in Y:
        for c in [*np.flatnonzero(labels), -1]:
            centre = rng.uniform(-2, 8) if c < 0 else 3.0 * c
            X.append([centre + 0.2 * rng.normal(), noise * rng.normal()])
            truth.append(c)
    return Bags(np.array(X), np.arange(0, len(X) + 1, 3)), Y, np.array(truth)


# MIML


def miml_ratio(bags, Y, A, Z):
    """The ratio that MIML raises, by loops."""
    spread = sum(((z - w) @ A) @ ((z - w) @ A) for z, w in product(Z, Z))
    distortion = sum(
        min(((x - Z[c]) @ A) @ ((x - Z[c]) @ A) for x in bags[i])
        for i in range(len(bags))
        for c in np.flatnonzero(Y[i])
    )
    return spread / distortion


@pytest.mark.parametrize("outside", ["mean", "zero"])
@pytest.mark.parametrize("init", ["means", "random"])
def test_miml_ratio_never_falls_and_belongs_to_what_is_returned(init, outside):
    """The reference vectors are those of the last round: choosing anew only raises the ratio."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        bags = random_bags(rng, m=20, d=5)
        Y = (rng.uniform(size=(20, 4)) < 0.4) | np.eye(4, dtype=bool)[np.arange(20) % 4]
        result = miml(bags, Y, n_components=2, init=init, outside=outside, random_state=seed)
        path = result.ratio_path
        assert np.all(np.diff(path) >= -1e-9 * path[-1])
        assert np.allclose(result.components @ result.components.T, np.eye(2))
        ratio = miml_ratio(bags, Y, result.components.T, result.centroids)
        assert ratio >= path[-1] * (1 - 1e-9)
        with pytest.warns(ConvergenceWarning, match="raise max_iter"):
            more = miml(
                bags, Y, n_components=2, init=init, outside=outside, max_iter=1, random_state=seed
            )
        assert more.ratio_path[0] == pytest.approx(path[0])


def test_miml_finds_the_direction_that_tells():
    bags, Y, _ = separable(np.random.default_rng(0), n_bags=200)
    result = miml(bags, Y, n_components=1)
    assert abs(result.components[0, 0]) > 0.999
    assert np.allclose(result.centroids[:, 0], [0, 3, 6], atol=0.1)


def test_reference_vectors_in_the_span_freeze_the_span():
    """From the same random starts, with outside="mean" the direction that tells is found."""
    bags, Y, _ = separable(np.random.default_rng(1), n_bags=200, noise=1.0)
    rng = np.random.default_rng(0)
    wide = bags.map(lambda X: np.column_stack([X, rng.normal(size=(len(X), 3))]))
    for seed in range(4):
        zero, mean = (
            miml(wide, Y, n_components=2, init="random", outside=outside, random_state=seed)
            for outside in ("zero", "mean")
        )
        assert np.linalg.norm(zero.components[:, 0]) < 0.6
        assert np.linalg.norm(mean.components[:, 0]) > 0.99


def test_trace_ratio_beats_random_maps():
    rng = np.random.default_rng(0)
    F, G = rng.normal(size=(2, 6, 6))
    V, U = F @ F.T, G @ G.T
    A = bag_baselines._trace_ratio(V, U, 2, 50, 1e-12)
    best = np.trace(A.T @ V @ A) / np.trace(A.T @ U @ A)
    for _ in range(500):
        Q = np.linalg.qr(rng.normal(size=(6, 2)))[0]
        assert np.trace(Q.T @ V @ Q) / np.trace(Q.T @ U @ Q) <= best + 1e-9
    values = np.linalg.eigvalsh(V - best * U)  # the optimum: the two largest sum to 0
    assert values[-2:].sum() == pytest.approx(0, abs=1e-8)


def test_one_reference_vector_moves_to_the_constrained_optimum():
    """One sweep over the vectors, each step against a solver."""
    rng = np.random.default_rng(3)
    Z, sums, counts = rng.normal(size=(4, 2)), 3 * rng.normal(size=(4, 2)), np.array([3, 1, 4, 2])
    spread = bag_baselines._spread
    bound = spread(Z)
    expected = Z.copy()
    for c in range(4):

        def put(z, c=c):
            return np.vstack([expected[:c], z, expected[c + 1 :]])

        starts = [expected[c], sums[c] / counts[c], *rng.normal(size=(6, 2)) * 3]
        found = [
            minimize(
                lambda z, c=c: counts[c] * np.sum((z - sums[c] / counts[c]) ** 2),
                start,
                constraints={"type": "ineq", "fun": lambda z: spread(put(z)) - bound},
                method="SLSQP",
            )
            for start in starts
        ]
        best = min((f for f in found if spread(put(f.x)) > bound - 1e-6), key=lambda f: f.fun)
        expected[c] = best.x
    moved = bag_baselines._spread_centroids(Z, sums, counts, 1, 0.0)
    assert np.allclose(moved, expected, atol=1e-3)
    assert spread(moved) >= bound * (1 - 1e-12)


def test_a_reference_vector_whose_mean_is_the_mean_of_the_others_stays():
    Z = np.array([[2.0, 0.0], [-1.0, 1.0], [1.0, -1.0]])
    sums = np.array([[0.0, 0.0], [-1.0, 1.0], [1.0, -1.0]])
    moved = bag_baselines._spread_centroids(Z, sums, np.ones(3, dtype=int), 1, 0.0)
    assert np.array_equal(moved[0], Z[0])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"n_components": 3}, "n_components must be an integer, from 1 to 2; got 3"),
        ({"init": "zeros"}, r"init must be one of \('means', 'random'\); got 'zeros'"),
        ({"outside": "one"}, r"outside must be one of \('mean', 'zero'\); got 'one'"),
        ({"Y": np.eye(60)[:, :1]}, "at least two categories, each of some bag; got one category"),
        ({"Y": np.eye(60)[:, :1] @ [[1, 0]]}, "each of some bag; category 1 has none"),
        ({"tol": -1.0}, "tol must be a finite number, at least 0"),
    ],
)
def test_miml_refuses(changes, message):
    bags, Y, _ = separable(np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        miml(bags, **({"Y": Y, "n_components": 1} | changes))


def test_miml_refuses_an_infinite_ratio_and_empty_bags():
    X = np.array([[0.0, 1.0], [2.0, 5.0], [0.0, 1.0], [2.0, 5.0]])
    with pytest.raises(ValueError, match="n_components=1: chosen instances and reference vectors"):
        miml(Bags(X, range(5)), [[1, 0], [0, 1]] * 2, n_components=1)
    with pytest.raises(ValueError, match="bags must have an instance in every bag; bag 1 is empty"):
        miml(Bags(X, [0, 2, 2, 4]), np.eye(3)[:, :2], n_components=1)


# MildML


def test_logistic_loss_and_its_gradient():
    rng = np.random.default_rng(0)
    differences, alike = rng.normal(size=(9, 3)), rng.uniform(size=9) < 0.5
    parameters = rng.normal(size=7)
    L, b = parameters[:6].reshape(2, 3), parameters[6]
    p = [1 / (1 + np.exp(np.sum((L @ x) ** 2) - b)) for x in differences]
    expected = -np.mean([np.log(q if a else 1 - q) for q, a in zip(p, alike, strict=True)])
    loss, gradient = bag_baselines._logistic_loss(parameters, differences, alike)
    assert loss == pytest.approx(expected)
    numeric = approx_fprime(
        parameters, lambda t: bag_baselines._logistic_loss(t, differences, alike)[0], 1e-7
    )
    assert np.allclose(gradient, numeric, atol=1e-5)


def test_pairs_of_bags_are_of_the_two_kinds():
    rng = np.random.RandomState(0)
    Y = csr_array(rng.uniform(size=(15, 4)) < 0.3)
    shared = (Y.toarray().astype(int) @ Y.toarray().T) > 0
    left, right, alike = bag_baselines._draw_bag_pairs(Y, 301, rng)
    assert np.all(left != right) and len(left) == len(right) == 301
    assert np.array_equal(shared[left, right], alike) and alike.sum() == 150
    drawn = {tuple(sorted(p)) for p in zip(left[~alike], right[~alike], strict=True)}
    assert len(drawn) > 0.8 * np.sum(~shared[np.triu_indices(15, 1)])


def test_nearest_pairs_of_runs_against_loops(monkeypatch):
    rng = np.random.default_rng(0)
    bags = random_bags(rng)
    left, right = rng.integers(12, size=(2, 20))
    runs = bag_baselines._PairRuns(
        bags.offsets[left], bags.sizes[left], bags.offsets[right], bags.sizes[right]
    )
    X = bags.instances.round(0)  # ties
    for block in (2**23, 3):
        monkeypatch.setattr(bag_baselines, "BLOCK_ENTRIES", block)
        rows, columns = runs.nearest(X, X)
        for i, j, row, column in zip(left, right, rows, columns, strict=True):
            pairs = product(*(range(bags.offsets[b], bags.offsets[b + 1]) for b in (i, j)))
            assert (row, column) == min(pairs, key=lambda p: np.sum((X[p[0]] - X[p[1]]) ** 2))


def test_mildml_finds_the_direction_that_tells_and_repeats():
    bags, Y, _ = separable(np.random.default_rng(0), noise=2.0)
    singles = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 20)
    X = np.column_stack([3.0 * (np.arange(60) % 3), np.random.default_rng(1).normal(size=60)])
    learned = mildml(Bags(X, range(61)), singles, n_components=2, n_pairs=400, random_state=0)
    M = learned.T @ learned
    assert M[0, 0] > 10 * M[1, 1]
    first, again = (
        mildml(bags, Y[:, :2], n_components=1, n_pairs=100, random_state=3) for _ in range(2)
    )
    assert np.array_equal(first, again) and first.shape == (1, 2)


@pytest.mark.parametrize("Y, which", [(np.eye(4), "no"), (np.ones((4, 2)), "every")])
def test_mildml_needs_pairs_of_both_kinds(Y, which):
    with pytest.raises(ValueError, match=f"Y: {which} pair of bags shares a label"):
        mildml(Bags(np.eye(4), range(5)), Y, n_components=1)


# M-C2B


def ratio_of(components, A, B):
    return (
        np.linalg.norm(A @ components.T, axis=1).sum()
        / np.linalg.norm(B @ components.T, axis=1).sum()
    )


def test_class_to_bag_ratio_falls_round_by_round():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(30, 4)), rng.normal(size=(40, 4)) * [1, 2, 3, 1]
    maps = [class_to_bag_metric(A, B, max_iter=t, tol=0) for t in range(12)]
    ratios = [ratio_of(components, A, B) for components in maps]
    assert np.all(np.diff(ratios) <= 1e-12) and ratios[-1] < 0.9 * ratios[0]
    assert ratios[0] == pytest.approx(ratio_of(np.eye(4), A, B))
    for components in maps:
        lengths = [np.linalg.norm(A @ L.T, axis=1).sum() for L in (components, np.eye(4))]
        assert lengths[0] == pytest.approx(lengths[1])
    assert np.allclose(maps[0].T @ maps[0], np.eye(4))
    for direction in rng.normal(size=(200, 1, 4)):  # the best map of rank 1 is as good
        assert ratio_of(class_to_bag_metric(A, B), A, B) <= ratio_of(direction, A, B) + 1e-3


def test_class_to_bag_metric_lives_in_the_span_of_within():
    A, B = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[0.0, 3.0, 5.0]])
    assert not class_to_bag_metric(A, B)[:, 2].any()
    with pytest.raises(ValueError, match="not orthogonal to all rows of within"):
        class_to_bag_metric(A, [[0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="as many features; got 3 and 2"):
        class_to_bag_metric(A, np.eye(2))


def test_class_to_bag_scores_against_loops():
    """Without learning; then with the metric learned from all differences."""
    rng = np.random.default_rng(1)
    train, test = random_bags(rng, m=8), random_bags(rng, m=3)
    Y = np.array([[1, 0, 1, 0, 0], [0, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 1, 0, 0]] * 2)
    Y[7, 3] = 1

    def nearest(x, bag, components):
        return min((x - f for f in bag), key=lambda v: np.linalg.norm(components @ v))

    def differences(bags_of, others, components):
        return [
            nearest(x, train[j], components)
            for i in bags_of
            for x in train[i]
            for j in others
            if i != j
        ]

    for max_iter in (0, 20):
        scores = class_to_bag_scores(train, Y, test, max_iter=max_iter)
        for c in range(4):
            mine = np.flatnonzero(Y[:, c])
            components = np.eye(4)
            if max_iter and c < 2:  # category 2 has all bags, category 3 one
                a = differences(mine, mine, components)
                b = differences(mine, np.flatnonzero(Y[:, c] == 0), components)
                components = class_to_bag_metric(a, b, max_iter=max_iter)
            for q in range(3):
                found = [nearest(x, test[q], components) for i in mine for x in train[i]]
                distance = np.mean([np.linalg.norm(components @ v) for v in found])
                assert scores[q, c] == pytest.approx(-distance)
        assert np.all(scores[:, 4] == -np.inf)


def test_class_to_bag_scores_tell_categories_apart_and_sample(monkeypatch):
    rng = np.random.default_rng(0)
    truth = np.arange(40) % 2
    X = np.column_stack([truth + 0.1 * rng.normal(size=40), rng.normal(size=40)])
    drawn = []
    original = bag_baselines.class_to_bag_metric

    def spy(within, between, **options):
        drawn.append((len(within), len(between)))
        return original(within, between, **options)

    monkeypatch.setattr(bag_baselines, "class_to_bag_metric", spy)
    arguments = Bags(X, range(41)), np.eye(2)[truth], [[[0.0, 0.3]], [[1.0, 0.3]]]
    scores = class_to_bag_scores(*arguments, max_pairs=50, random_state=0)
    assert scores.argmax(axis=1).tolist() == [0, 1]
    assert all(within <= 50 and between == 50 for within, between in drawn)
    with pytest.raises(ValueError, match="as many features; got 2 and 1"):
        class_to_bag_scores(*arguments[:2], [[[1.0]]])


def test_equal_instances_give_equal_scores():
    scores = class_to_bag_scores(Bags(np.ones((2, 1)), range(3)), np.eye(2), [[[3.0]]])
    assert scores.tolist() == [[-2.0, -2.0]]


# Bags as features and kernels


@pytest.mark.parametrize("kind", DISSIMILARITIES)
def test_dissimilarities_against_loops(kind, monkeypatch):
    rng = np.random.default_rng(0)
    A, B = random_bags(rng), random_bags(rng, m=5)
    monkeypatch.setattr(bag_baselines, "BLOCK_ENTRIES", 100)
    take = {"minmin": np.min, "maxmin": np.max, "meanmin": np.mean}[kind]
    expected = [[take([min(np.sum((x - y) ** 2) for y in F) for x in E]) for F in B] for E in A]
    assert np.allclose(bag_dissimilarities(A, B, kind), expected)
    if kind == "minmin":
        assert np.allclose(bag_dissimilarities(A, B, kind), bag_distances(A, B) ** 2)


def test_unknown_dissimilarity():
    with pytest.raises(ValueError, match=r"kind must be one of \('minmin', .*got 'max'"):
        bag_dissimilarities([[[1.0]]], [[[1.0]]], "max")


def test_minimax_features_and_sparse_instances():
    rng = np.random.default_rng(0)
    bags = random_bags(rng)
    expected = [[*E.min(axis=0), *E.max(axis=0)] for E in bags]
    assert np.array_equal(minimax_features(bags), expected)
    sparse = Bags(csr_array(bags.instances), bags.offsets)
    assert np.array_equal(minimax_features(sparse), expected)
    assert np.allclose(bag_dissimilarities(sparse, sparse), bag_dissimilarities(bags, bags))


def test_mi_kernel_against_loops_and_is_a_kernel():
    rng = np.random.default_rng(0)
    A, B = random_bags(rng), random_bags(rng, m=5)

    def k(E, F):
        return sum(np.exp(-0.3 * np.sum((x - y) ** 2)) for x in E for y in F)

    expected = [[k(E, F) / np.sqrt(k(E, E) * k(F, F)) for F in B] for E in A]
    assert np.allclose(mi_kernel(A, B, gamma=0.3), expected)
    K = mi_kernel(A, A, gamma=0.3)
    assert np.allclose(np.diag(K), 1) and np.linalg.eigvalsh(K).min() > -1e-12
    with pytest.raises(ValueError, match="gamma must be a finite number, greater than 0"):
        mi_kernel(A, B, gamma=0.0)


def test_one_vs_rest_is_one_classifier_for_each_label():
    rng = np.random.default_rng(0)
    F, Y, G = rng.normal(size=(20, 3)), rng.integers(2, size=(20, 4)), rng.normal(size=(5, 3))
    Y[:, 2], Y[:, 3] = 0, 1
    scores = one_vs_rest_scores(SVC(), F, csr_array(Y), G)
    for c in range(2):
        assert np.array_equal(scores[:, c], SVC().fit(F, Y[:, c]).decision_function(G))
    assert np.all(scores[:, 2] == -np.inf) and np.all(scores[:, 3] == np.inf)


def test_methods_that_stop_early_say_so():
    rng = np.random.default_rng(0)
    bags, Y = Bags(rng.normal(size=(60, 4)), np.arange(0, 61, 3)), np.eye(2)[np.arange(20) % 2]
    with pytest.warns(ConvergenceWarning, match="miml: the ratio still rises after max_iter=1"):
        miml(bags, Y, n_components=3, max_iter=1, tol=0.0)
    with pytest.warns(ConvergenceWarning, match="mildml: nearest instances .* max_iter=1"):
        mildml(bags, Y, n_components=2, n_pairs=40, max_iter=1, random_state=0)


@pytest.mark.parametrize("entries", [1, 8, 2**23])
def test_nearest_pairs_by_blocks(entries, monkeypatch):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(9, 2)), rng.normal(size=(7, 2))
    starts, sizes = np.array([0, 3, 4, 2]), np.array([3, 1, 5, 2])
    columns, widths = np.array([0, 2, 1, 6]), np.array([2, 4, 3, 1])
    monkeypatch.setattr(bag_baselines, "BLOCK_ENTRIES", entries)
    rows, found = bag_baselines._PairRuns(starts, sizes, columns, widths).nearest(A, B)
    for p in range(4):
        D = np.square(A[starts[p] : starts[p] + sizes[p], None] - B[columns[p] :][: widths[p]])
        i, j = np.unravel_index(D.sum(axis=2).argmin(), D.shape[:2])
        assert (rows[p], found[p]) == (starts[p] + i, columns[p] + j)


def test_examples_of_the_docstrings():
    found = doctest.testmod(bag_baselines)
    assert found.attempted > 0 and found.failed == 0
