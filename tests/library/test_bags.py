"""Bags, their distances, citation-kNN and ranking metrics, against loops over everything."""

import pickle
from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import coverage_error, label_ranking_average_precision_score

import mlbook.bags
from mlbook.bags import (
    Bags,
    average_precision,
    bag_distances,
    candidate_labels,
    citation_knn_scores,
    coverage,
    one_error,
)


def make_bags(seed=0, sizes=(3, 1, 2, 4), d=2):
    rng = np.random.default_rng(seed)
    return Bags(rng.normal(size=(sum(sizes), d)), np.cumsum([0, *sizes]))


# Storage


@settings(max_examples=60, deadline=None)
@given(ids=st.lists(st.integers(-2, 5), min_size=1, max_size=12), text=st.booleans())
def test_ids_group_rows_in_order(ids, text):
    X = np.arange(2.0 * len(ids)).reshape(-1, 2)
    names = np.array(ids).astype(str) if text else np.array(ids)
    bags = Bags(X, bag_ids=names)
    assert_array_equal(bags.ids, np.unique(names))
    assert len(bags) == len(bags.ids) == len(list(bags))
    for name, bag in zip(bags.ids, bags, strict=True):
        assert_array_equal(bag, X[names == name])
    assert_array_equal(bags.instances, X[bags.order])
    assert_array_equal(bags.ids[bags.bag_index], names[bags.order])


def test_four_ways_to_the_same_bags():
    pd = pytest.importorskip("pandas")
    bags = make_bags()
    X, ids = bags.instances, bags.bag_index
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(photo=ids, other="x")
    for same in (
        Bags.from_list(list(bags)),
        Bags.from_list(bag.tolist() for bag in bags),
        Bags(X, ids),
        Bags.from_frame(frame, "photo", ["a", "b"]),
        Bags.from_frame(frame.drop(columns="other"), "photo"),
        Bags(X[::-1], ids[::-1]).map(lambda rows: X),
        pickle.loads(pickle.dumps(bags)),
    ):
        assert_array_equal(same.offsets, bags.offsets)
        assert_array_equal(same.instances, X)
        assert_array_equal(same.sizes, [3, 1, 2, 4])
    with pytest.raises(ValueError, match=r"no column \['c'\]"):
        Bags.from_frame(frame, "photo", ["a", "c"])


def test_an_array_that_could_be_both_is_taken_for_offsets():
    X = np.zeros((2, 1))
    assert len(Bags(X, [0, 2])) == 1
    assert_array_equal(Bags(X, bag_ids=[0, 2]).ids, [0, 2])
    for n in range(1, 6):  # ids without gaps are never offsets
        assert len(Bags(np.zeros((n, 1)), np.arange(n))) == n


def test_no_needless_copies():
    X = np.random.default_rng(0).normal(size=(10, 3))
    bags = Bags(X, [0, 3, 3, 7, 10])
    for part in (bags.instances, bags[0], bags[1:3].instances, bags[[1, 2]].instances):
        assert np.shares_memory(part, X)
    assert np.shares_memory(Bags(X, np.arange(10) // 3).instances, X)
    assert Bags(X.astype(np.float32), [0, 10]).instances.dtype == np.float32
    assert Bags(X.round().astype(int), [0, 10]).instances.dtype == np.float64


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(sum),
    data=st.data(),
    sparse=st.booleans(),
)
def test_indexing_is_indexing_of_the_list(sizes, data, sparse):
    X = np.arange(1.0, sum(sizes) + 1)[:, None]
    bags = Bags(sp.csr_array(X) if sparse else X, np.cumsum([0, *sizes]))
    positions = list(range(len(sizes)))
    lists = [X[a:b] for a, b in zip(bags.offsets, bags.offsets[1:], strict=False)]
    picked = data.draw(st.lists(st.sampled_from(positions), max_size=6))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes))))
    cut = slice(*sorted(data.draw(st.tuples(st.integers(-7, 7), st.integers(-7, 7)))))
    for index, expected in (
        (np.array(picked, dtype=int), picked),
        (mask, np.flatnonzero(mask)),
        (cut, positions[cut]),
        (slice(None, None, -1), positions[::-1]),
    ):
        some = bags[index]
        assert len(some) == len(expected)
        assert_array_equal(some.ids, expected)
        for bag, i in zip(some, expected, strict=True):
            assert_array_equal(bag.toarray() if sparse else bag, lists[i])
        rows = some.instances.toarray() if sparse else some.instances
        assert_array_equal(rows, X[some.order])
    assert_array_equal(bags[-1].toarray() if sparse else bags[-1], lists[-1])
    with pytest.raises(IndexError):
        bags[len(sizes)]


def test_sparse_lists_empty_bags_and_repr():
    bags = Bags.from_list([sp.csr_array([[1.0, 0.0]]), np.zeros((0, 2)), [[0.0, 2.0]]])
    assert repr(bags) == "Bags(3 bags, 2 instances, 2 features)"
    assert sp.issparse(bags.instances) and bags[1].shape == (0, 2)
    assert_array_equal(bags.bag_index, [0, 2])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda X: Bags(X, [0, 2, 3]), r"do not sum .* from 0 to 4, or 4 bag ids, got 3 values"),
        (lambda X: Bags(X, [0, 3, 2, 3, 3, 4]), "do not sum"),
        (lambda X: Bags(X, [[0, 4]]), "offsets must be one-dimensional"),
        (lambda X: Bags(X, [0.0, 4.0]), "integers or strings; got dtype float64"),
        (lambda X: Bags(X, bag_ids=[0, 1, 2]), "bag_ids: bag sizes do not sum"),
        (lambda X: Bags(X), "offsets or bag_ids must be given"),
        (lambda X: Bags(X, [0, 4], bag_ids=[0, 0, 0, 0]), "not both"),
        (lambda X: Bags(X * np.nan, [0, 4]), "instances contains NaN"),
        (lambda X: Bags(X[:0], [0, 0]), "0 sample"),
        (lambda X: Bags.from_list([]), "at least one bag"),
        (lambda X: Bags.from_list([X, X[:, :1]]), r"bag 0 has shape \(4, 2\), bag 1 .*\(4, 1\)"),
        (lambda X: Bags.from_list([X[0]]), "matrices"),
        (lambda X: Bags(X, [0, 4]).map(lambda rows: rows[:2]), "do not sum"),
        (lambda X: candidate_labels([[0, 2], [1, 1]], 2), r"0 and 1 only; got \[2\]"),
        (lambda X: candidate_labels([[0.5]], 1), "0 and 1 only"),
        (lambda X: candidate_labels([[np.nan]], 1), "0 and 1 only"),
        (lambda X: candidate_labels([["a"]], 1), "dtype"),
        (lambda X: candidate_labels([[1]], 2), r"each of 2 bags; got shape \(1, 1\)"),
        (lambda X: candidate_labels([1], 1), "shape"),
    ],
)
def test_what_are_no_bags(build, message):
    with pytest.raises(ValueError, match=message):
        build(np.ones((4, 2)))


def test_candidate_labels_of_any_kind_are_left_as_they_were():
    Y = np.array([[1, 0, 1], [0, 0, 0]])
    stored_zero = sp.csr_array(([1, 0, 1], ([0, 0, 0], [2, 1, 0])), shape=(2, 3))
    for given_labels in (Y, Y.astype(bool), Y.astype(float), Y.tolist(), stored_zero):
        labels = candidate_labels(given_labels, 2)
        assert labels.dtype == bool and labels.nnz == 2
        assert_array_equal(labels.toarray(), Y)
        assert_array_equal(labels.indices, [0, 2])
    assert stored_zero.nnz == 3


# Hausdorff distances


def naive_distance(E, F, kind, metric):
    D = cdist(E, F, metric)
    return D.min() if kind == "min" else max(D.min(axis=1).max(), D.min(axis=0).max())


@pytest.mark.equation("Law 2016, Eq. 1", "Law 2017, Eq. 1")
@pytest.mark.parametrize("block", [1, 7, 2**20])
@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "M", "callable"])
def test_bag_distances_by_the_pair(monkeypatch, kind, metric, block):
    monkeypatch.setattr(mlbook.bags, "BLOCK_ENTRIES", block)
    A, B = make_bags(1, (3, 1, 2, 4)), make_bags(2, (1, 5, 2))
    M = np.array([[2.0, 1.0], [1.0, 3.0]])
    use, reference = {
        "M": (M, lambda x, y: np.sqrt((x - y) @ M @ (x - y))),
        "callable": (lambda x, y: np.abs(x - y).max(), "chebyshev"),
    }.get(metric, (metric, metric))
    expected = [[naive_distance(E, F, kind, reference) for F in B] for E in A]
    assert_allclose(bag_distances(A, B, kind, use), expected, rtol=1e-12)
    assert_allclose(bag_distances(B, A, kind, use), np.transpose(expected), rtol=1e-12)
    if metric == "euclidean":
        sparse = Bags(sp.csr_array(A.instances), A.offsets)
        assert_allclose(bag_distances(sparse, B, kind), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": Bags(np.ones((2, 2)), [0, 1, 1, 2])}, r"A: .* empty bags: \[1\]"),
        ({"B": Bags(np.ones((2, 2)), [0, 2, 2])}, "B: .* empty bags"),
        ({"B": np.ones((2, 2))}, "B must be Bags; got ndarray"),
        ({"B": make_bags(d=3)}, "as many features; got 2 and 3"),
        ({"kind": "mean"}, r"kind must be one of \('min', 'max'\); got 'mean'"),
        ({"metric": np.eye(3)}, "metric must have shape"),
    ],
)
def test_distances_refused(change, message):
    with pytest.raises(ValueError, match=message):
        bag_distances(**({"A": make_bags(), "B": make_bags()} | change))


# Citation-kNN


def naive_citation_scores(D, T, Y, r, c):
    """Sort and count, one query at a time."""
    scores = []
    for q, row in enumerate(D):
        votes, n_votes = np.zeros(Y.shape[1]), 0
        for t in sorted(range(len(row)), key=lambda t: (row[t], t))[:r]:
            votes, n_votes = votes + Y[t], n_votes + 1
        for t in range(len(row)):
            if T is None:
                ranking = sorted(range(len(D)), key=lambda p: (D[p, t], p))
            else:
                others = [p for p in range(len(row)) if p != t]
                ranking = sorted(others, key=lambda p: (T[t, p], p))
                ahead = sum(T[t, p] <= row[t] for p in others)
                ranking.insert(ahead, "query")
            if (q if T is None else "query") in ranking[:c]:
                votes, n_votes = votes + Y[t], n_votes + 1
        scores.append(votes / n_votes)
    return np.array(scores)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 6), c=st.integers(1, 6), rivals=st.booleans())
def test_citation_votes_one_by_one(seed, r, c, rivals):
    rng = np.random.default_rng(seed)
    D = rng.integers(1, 5, size=(6, 6)).astype(float)  # many ties
    T = rng.integers(1, 5, size=(6, 6)).astype(float)
    T = T + T.T
    Y = rng.integers(0, 2, size=(6, 3))
    among = T if rivals else None
    found = citation_knn_scores(D, among, sp.csr_array(Y), n_references=r, n_citers=c)
    assert_allclose(found, naive_citation_scores(D, among, Y, r, c))


def test_the_diagonal_of_the_training_distances_is_not_read():
    rng = np.random.default_rng(0)
    D, T, Y = rng.random((3, 5)), rng.random((5, 5)), rng.integers(0, 2, (5, 2))
    kept = T.copy()
    with_zeros = citation_knn_scores(D, T * (1 - np.eye(5)), Y, n_references=2, n_citers=2)
    assert_array_equal(citation_knn_scores(D, T, Y, n_references=2, n_citers=2), with_zeros)
    assert_array_equal(T, kept)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_references": 0}, "n_references must be an integer, from 1 to 4; got 0"),
        ({"n_references": 5}, "n_references must be an integer, from 1 to 4; got 5"),
        ({"n_citers": 0}, "n_citers must be an integer, from 1 to 4; got 0"),
        ({"n_citers": 5}, "n_citers must be"),
        ({"train_distances": None, "n_citers": 3}, "n_citers must be an integer, from 1 to 2"),
        ({"train_distances": np.ones((3, 3))}, r"shape \(4, 4\); got \(3, 3\)"),
        ({"query_distances": np.full((2, 4), np.nan)}, "query_distances contains NaN"),
        ({"Y": np.ones((3, 2))}, "Y must have one row for each of 4 bags"),
    ],
)
def test_citation_refused(change, message):
    fine = {
        "query_distances": np.ones((2, 4)),
        "train_distances": np.ones((4, 4)),
        "Y": np.ones((4, 2)),
        "n_references": 2,
        "n_citers": 2,
    }
    with pytest.raises(ValueError, match=message):
        citation_knn_scores(**(fine | change))


# Ranking metrics


def mean_over_orders(Y, S, metric):
    """The metric of each bag under every order of the labels that the scores allow; the mean."""
    means = []
    for y, s in zip(Y, S, strict=True):
        if y.any():
            orders = [p for p in permutations(range(len(y))) if all(np.diff(s[list(p)]) <= 0)]
            means.append(np.mean([metric(y[list(p)]) for p in orders]))
    return np.mean(means)


RANKING = {
    one_error: lambda y: 1 - y[0],
    coverage: lambda y: np.flatnonzero(y)[-1],
    average_precision: lambda y: np.mean(np.cumsum(y)[y == 1] / (np.flatnonzero(y) + 1)),
}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), levels=st.sampled_from([1, 2, 3, 1000]))
def test_tied_labels_count_as_the_mean_over_their_orders(seed, levels):
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, size=(4, 5))
    Y[0], Y[1] = 0, [0, 1, 0, 0, 0]
    S = rng.integers(0, levels, size=(4, 5)).astype(float)
    for metric, of_an_order in RANKING.items():
        assert_allclose(metric(Y, S), mean_over_orders(Y, S, of_an_order))


def test_without_ties_the_ranking_metrics_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    Y, S = rng.uniform(size=(50, 9)) < 0.3, rng.normal(size=(50, 9))
    Y[:, 0] |= ~Y.any(axis=1)
    assert_allclose(coverage(Y, S), coverage_error(Y, S) - 1)
    assert_allclose(average_precision(Y, S), label_ranking_average_precision_score(Y, S))


def test_ranking_with_infinite_scores_sparse_labels_and_one_label():
    Y = np.array([[1, 0, 0], [0, 1, 1]])
    S = np.array([[0.5, -np.inf, -np.inf], [-np.inf, np.inf, 0.0]])
    for metric, value in ((one_error, 0.0), (coverage, 0.5), (average_precision, 1.0)):
        assert metric(Y, S) == metric(sp.csr_array(Y), S.tolist()) == value
        assert metric([[1], [0]], [[0.3], [0.1]]) == (metric is average_precision)


@pytest.mark.parametrize("metric", [one_error, coverage, average_precision])
def test_ranking_refused(metric):
    for Y, S, message in (
        ([[1, 0]], [[np.nan, 1.0]], "y_score must not hold NaN"),
        ([[1, 0]], [[1.0, 2.0, 3.0]], "same shape"),
        ([[1, 0]], [1.0, 2.0], "y_score must be a matrix"),
        ([[0, 0]], [[1.0, 2.0]], "a label for at least one bag"),
        ([[2, 0]], [[1.0, 2.0]], "y_true must hold 0 and 1"),
        ([[1, 0], [0, 1]], [[1.0, 2.0]], "y_true must have one row for each of 1 bags"),
    ):
        with pytest.raises(ValueError, match=message):
            metric(Y, S)
