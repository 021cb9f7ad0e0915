"""The compiled searches against the plain ones and the enumeration of all segmentations."""

import logging
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from segmentations import best, centred_gram, series, trace

from mlbook import _optional
from mlbook.changepoints import (
    compiled,
    constraints_from_labels,
    loss_augmented_segment,
    search,
    segment,
    segment_matrix,
    segmentation_path,
)
from mlbook.changepoints.compiled import Kernels, extend, functional, load, pruned
from mlbook.changepoints.search import DataScores, Rules, labels_from_previous
from mlbook.partitions import equivalence_matrix

PLAIN = Kernels(functional, pruned, extend)  # not compiled: Python runs them line by line


@pytest.fixture(params=["python", "numba"])
def kernels(request, monkeypatch):
    """The kernels, as Python and as numba read them."""
    found = PLAIN if request.param == "python" else load()
    if found is None:
        pytest.skip("numba is not installed")
    monkeypatch.setattr(compiled, "load", lambda: found)
    return found


def without_kernels(monkeypatch, function, *args, **kwargs):
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "load", lambda: None)
        return function(*args, **kwargs)


def test_without_numba_there_is_none_and_one_word_of_advice(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "numba", None)
    _optional._advise.cache_clear()
    with caplog.at_level(logging.WARNING, logger="mlbook"):
        assert load.__wrapped__() is None and load.__wrapped__() is None
    assert [r.getMessage() for r in caplog.records] == [
        'numba makes this faster: pip install "mlbook[fast]"'
    ]


@pytest.mark.equation("Lajugie 2014, Eqs. 4-7")
@pytest.mark.parametrize("d", [1, 2])
def test_long_series_without_constraints_are_searched_by_it(d, kernels):
    n, X = 12, series(12, d, seed=5)
    free = constraints_from_labels(np.full(n, -1))
    for penalty in [1.0, 4.0]:
        A = centred_gram(X) - penalty * np.eye(n)
        for labels in segment(X, penalty=penalty), segment(X, penalty=penalty, constraints=free):
            assert_allclose(trace(A, labels), best(A), atol=1e-10)
            assert labels[0] == 0 and np.all(np.diff(labels) >= 0)
    labels = segment(X, 3)
    assert_allclose(trace(centred_gram(X), labels), best(centred_gram(X), 3), atol=1e-10)
    assert labels[0] == 0 and np.all(np.diff(labels) >= 0)


@pytest.mark.parametrize("d", [0, 1, 3])
@pytest.mark.parametrize("min_length", [1, 2, 5])
def test_against_enumeration(d, min_length, kernels):
    """Whole numbers and prices make ties; so do points that are all the same."""
    n = 11
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 3, (n, d)).astype(float)
        if seed == 10:
            X[:] = 1.0
        gram, scores = centred_gram(X), DataScores(X)
        rules = Rules(np.arange(n + 1), min_length, None)
        for penalty in [0.0, 0.5, 1.0, 3.0]:
            labels = labels_from_previous(compiled.best_previous(scores, rules, penalty))
            A = gram - penalty * np.eye(n)
            assert np.bincount(labels).min() >= min_length
            assert_allclose(trace(A, labels), best(A, min_length=min_length), atol=1e-10)
        values = compiled.best_values(scores, rules, 4)
        assert_allclose(
            values[1:, n], [best(gram, k, min_length=min_length) for k in range(1, 5)], atol=1e-10
        )


@pytest.mark.parametrize("min_length", [1, 3])
def test_loss_augmented_against_enumeration(min_length, kernels):
    n = 10
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, truth = (
            rng.normal(size=(n, 2)),
            np.unique(np.sort(rng.integers(0, 4, n)), False, True)[1],
        )
        for penalty in [0.0, 1.0, 2.5]:
            A = centred_gram(X) - 2 * equivalence_matrix(truth) - (penalty - 1) * np.eye(n)
            labels = loss_augmented_segment(X, truth, penalty=penalty, min_length=min_length)
            assert_allclose(trace(A, labels), best(A, min_length=min_length), atol=1e-10)
        A += (penalty - 1) * np.eye(n)
        labels = loss_augmented_segment(X, truth, 3, min_length=min_length)
        assert_allclose(trace(A, labels), best(A, 3, min_length=min_length), atol=1e-10)


def test_equal_costs_give_the_fewest_segments(kernels):
    for d in (1, 2):
        assert segment(np.ones((9, d)), penalty=1e-9).max() == 0
        step = np.repeat([[0.0] * d, [1.0] * d], 2, axis=0)
        assert segment(step, penalty=float(d)).max() == 0


def kinds(n, rng):
    """Series of one feature: jumps, one level, steps, a walk, far levels, growth, few values."""
    noise, levels = rng.normal(size=n), rng.normal(size=20)[np.sort(rng.integers(0, 20, n))]
    yield from (3 * levels + noise, noise, 5 * levels, noise.cumsum(), 1e7 * levels + noise)
    yield from (np.exp(np.linspace(0, 30, n)), np.sign(noise), 1e8 + levels + noise / 10)


@pytest.mark.parametrize("min_length", [1, 7])
@pytest.mark.parametrize("d", [1, 3])
def test_compiled_and_plain_search_agree(d, min_length, monkeypatch):
    """The costs are the same up to rounding, in all kinds of series, at all kinds of price."""
    found = load()
    if found is None:
        pytest.skip("numba is not installed")
    monkeypatch.setattr(compiled, "load", lambda: found)
    n, rng = 1500, np.random.default_rng(4)
    rules = Rules(np.arange(n + 1), min_length, None)
    for x in kinds(n, rng):
        X = np.column_stack([x, *rng.normal(size=(d - 1, n))])
        scores, scatter = DataScores(X), np.sum((X - X.mean(axis=0)) ** 2)

        def value(previous, scores=scores):
            stops = np.append(np.flatnonzero(np.diff(labels_from_previous(previous))) + 1, n)
            starts = np.append(0, stops[:-1])
            gains = np.diagonal(
                np.array([scores(starts, stops[i : i + 1])[0] for i in range(len(stops))])
            )
            return gains.sum(), len(stops)

        for penalty in scatter * np.geomspace(1e-6, 0.3, 6):
            quick, k = value(compiled.best_previous(scores, rules, penalty))
            plain, k_plain = value(search.best_previous(scores, rules, penalty))
            assert_allclose(
                quick - penalty * k, plain - penalty * k_plain, rtol=0, atol=1e-10 * scatter
            )
        quick = compiled.best_values(scores, rules, 25)
        plain = search.best_values(scores, rules, 25)
        assert_allclose(quick, plain, rtol=0, atol=1e-10 * scatter)


def test_functional_pruning_keeps_few_intervals():
    """Of pure noise, plain pruning drops nothing. Here the time shows in how often it is called."""
    seen = []

    class Counted(np.ndarray):
        def __getitem__(self, i):
            seen.append(i)
            return np.asarray(self)[i]

    n = 2000
    x = np.random.default_rng(0).normal(size=n)
    sums = np.append(0.0, np.cumsum(x - x.mean())).view(Counted)
    values = np.zeros(n + 1)
    functional(sums, 2 * np.log(n), 0, values, values, np.zeros(n + 1, dtype=np.int64))
    assert len(seen) < 40 * n


def test_constraints_and_matrices_take_the_compiled_values_too(kernels, monkeypatch, blocks):
    monkeypatch.setattr(compiled, "_ENDS", search._ENDS)
    monkeypatch.setattr(compiled, "_STARTS", search._STARTS)
    n, X = 30, series(30, 2, seed=3)
    known = np.full(n, -1)
    known[[3, 4, 12, 20]] = [0, 0, 1, 2]
    constraints = constraints_from_labels(known)
    asked = {"min_length": 2, "constraints": constraints}
    R = np.random.default_rng(0).normal(size=(n, n))
    for function, args in (
        (segment, (X, 5)),
        (segment_matrix, (R + R.T, 6)),
    ):
        expected = without_kernels(monkeypatch, function, *args, **asked)
        assert_array_equal(function(*args, **asked), expected)
    quick = segmentation_path(X, 8, **asked)
    plain = without_kernels(monkeypatch, segmentation_path, X, 8, **asked)
    assert_allclose(quick.distortion, plain.distortion)


@pytest.mark.parametrize("d", [5, 80])
def test_loss_augmented_series_with_few_and_with_many_features(d, monkeypatch):
    found = load()
    if found is None:
        pytest.skip("numba is not installed")
    used = []
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(6), 50)
    X = rng.normal(size=(6, d))[truth] + rng.normal(size=(300, d))
    counting = found._replace(pruned=lambda *args: used.append(1) or found.pruned(*args))
    monkeypatch.setattr(compiled, "load", lambda: counting)
    for min_length in (1, 10):
        asked = {"M": np.full(d, 0.01), "min_length": min_length}
        quick = loss_augmented_segment(X, truth, **asked)
        plain = without_kernels(monkeypatch, loss_augmented_segment, X, truth, **asked)
        assert_array_equal(quick, plain)
    assert len(used) == (2 if d <= compiled._FEATURES else 0)
