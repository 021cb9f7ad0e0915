"""Segmentation against the enumeration of all segmentations, and what it refuses."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import eval_hermite, gamma
from segmentations import best, centred_gram, every_segmentation, series, trace

from mlbook.changepoints import (
    compiled,
    constraints_from_intervals,
    constraints_from_labels,
    hermite_features,
    loss_augmented_segment,
    search,
    segment,
    segment_matrix,
    segment_starts,
    segmentation_path,
)
from mlbook.partitions import equivalence_matrix, partition_loss


@pytest.fixture(scope="module", params=["plain", "compiled"], autouse=True)
def route(request):
    """Search by NumPy, and once more by numba."""
    found = compiled.load() if request.param == "compiled" else None
    if request.param == "compiled" and found is None:
        pytest.skip("numba is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "load", lambda: found)
        yield


# Any symmetric matrix


@pytest.mark.equation("Lajugie 2014, Algorithm 1")
@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 8).flatmap(lambda n: arrays(np.int64, (n, n), elements=st.integers(-3, 3))),
    st.integers(1, 3),
    st.sampled_from([2, 64]),
)
def test_any_symmetric_matrix_with_ties(square, min_length, block):
    A, n = square + square.T, len(square)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_ENDS", block)
        for k in [None, *range(1, n // min_length + 1)]:
            if n < min_length:
                continue
            labels = segment_matrix(A, k, min_length=min_length)
            assert k is None or labels.max() + 1 == k
            assert np.bincount(labels).min() >= min_length
            expected = best(A, k, min_length=min_length)
            assert_allclose(trace(A, labels), expected, atol=1e-9)


@pytest.mark.parametrize("kind", ["semidefinite", "indefinite", "negative", "huge offset"])
def test_matrices_of_every_sign(kind, blocks):
    rng = np.random.default_rng(1)
    n = 11
    F = rng.normal(size=(n, 4))
    A = {
        "semidefinite": F @ F.T,
        "indefinite": F @ np.diag([1.0, -2.0, 1.0, -0.5]) @ F.T,
        "negative": -F @ F.T,
        "huge offset": F @ np.diag([1.0, -2.0, 1.0, -0.5]) @ F.T + 1e9,
    }[kind]
    for k in [None, 1, 2, 5, n]:
        labels = segment_matrix(A, k)
        expected = best(A - A.mean(), k)
        assert_allclose(trace(A - A.mean(), labels), expected, atol=1e-9 + 1e-15 * A.max())
    if kind == "semidefinite":
        assert_array_equal(segment_matrix(A), np.arange(n))


# Data


METRICS = {"identity": None, "diagonal": [0.5, 0.0, 3.0], "full": "full"}


@pytest.mark.equation("Lajugie 2014, Eqs. 4-6")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("min_length", [1, 3])
def test_least_distortion_for_every_number_of_segments_and_penalty(metric, min_length, blocks):
    n, X = 12, series(12, 3)
    M = METRICS[metric]
    matrix = np.eye(3) if M is None else np.diag(M) if metric == "diagonal" else None
    if matrix is None:
        M = matrix = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    A = centred_gram(X, matrix)
    path = segmentation_path(X, n // min_length, M, min_length)
    for k in range(1, n // min_length + 1):
        labels = segment(X, k, M=M, min_length=min_length)
        assert_array_equal(np.unique(labels), np.arange(k))
        assert np.bincount(labels).min() >= min_length
        expected = best(A, k, min_length=min_length)
        assert_allclose(trace(A, labels), expected, atol=1e-10)
        assert_allclose(path.distortion[k - 1], np.trace(A) - expected, atol=1e-9)
        assert_allclose(trace(A, path.labels(k)), expected, atol=1e-10)
    for penalty in [0.0, 0.3, 2.0, 7.0, 1e3]:
        penalized = A - penalty * np.eye(n)
        labels = segment(X, penalty=penalty, M=M, min_length=min_length)
        assert np.bincount(labels).min() >= min_length
        expected = best(penalized, min_length=min_length)
        assert_allclose(trace(penalized, labels), expected, atol=1e-9)


@pytest.mark.equation("Lajugie 2014, Eq. 7")
def test_the_scale_of_the_metric_takes_the_place_of_the_penalty():
    X, M = series(12, 3), np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.5]])
    found = []
    for penalty in [0.3, 2.0, 7.0, 30.0]:
        labels = segment(X, penalty=1.0, M=M / penalty)
        expected = best(centred_gram(X, M) - penalty * np.eye(12))
        assert_allclose(trace(centred_gram(X, M) - penalty * np.eye(12), labels), expected)
        found.append(labels.max() + 1)
    assert found == sorted(found, reverse=True) and len(set(found)) > 2


def test_ties_in_data(blocks):
    X = np.array([0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1], dtype=float)[:, None]
    A = centred_gram(X)
    for penalty in [0.25, 0.5, 1.0, 4 / 3]:
        penalized = A - penalty * np.eye(11)
        labels = segment(X, penalty=penalty)
        assert_allclose(trace(penalized, labels), best(penalized), atol=1e-12)
    for k in range(1, 12):
        assert_allclose(trace(A, segment(X, k)), best(A, k), atol=1e-12)


@pytest.mark.equation("Lajugie 2014, Section 4.2")
@pytest.mark.parametrize("min_length", [1, 2])
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_loss_augmented(min_length, scale, blocks):
    """Exact also where the overlap with the truth makes the scores indefinite."""
    n = 9
    X = scale * series(n, 2, seed=2)
    for truth in [[0, 0, 0, 1, 1, 2, 2, 3, 3], [4] * n, [5, 5, 3, 0, 0, 0, 0, 0, 0]]:
        loss = np.array([partition_loss(row, truth) for row in every_segmentation(n)[0]])
        for k, penalty in [(None, 1.0), (None, 0.2), (None, 3.0), (2, 1.0), (4, 1.0)]:
            A = X @ X.T - penalty * np.eye(n)
            labels = loss_augmented_segment(X, truth, k, penalty, min_length=min_length)
            assert np.bincount(labels).min() >= min_length
            value = trace(A, labels) + partition_loss(labels, truth)
            assert_allclose(value, best(A, k, min_length=min_length, extra=loss), atol=1e-9)


@pytest.mark.equation("Lajugie 2014, Section 4.2")
def test_loss_augmented_with_a_metric():
    X, truth = series(9, 2, seed=3), [0, 0, 0, 1, 1, 1, 2, 2, 2]
    M = np.array([[0.3, 0.1], [0.1, 0.2]])
    A = X @ M @ X.T - 2 * equivalence_matrix(truth)
    assert_allclose(trace(A, loss_augmented_segment(X, truth, M=M)), best(A), atol=1e-10)


@pytest.mark.parametrize("offset", [0, 1e6, 1e8])
def test_an_offset_costs_no_digits(offset):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), 80)
    X = rng.normal(size=(5, 3))[truth] * 3 + rng.normal(size=(400, 3))
    assert_array_equal(segment(X + offset, penalty=25.0), segment(X, penalty=25.0))
    assert_array_equal(segment(X + offset, 5), truth)
    assert_array_equal(segment((X + min(offset, 1e3)).astype(np.float32), 5), truth)


@pytest.mark.slow
def test_far_levels_do_not_hide_near_ones():
    """A level 1e7 away makes the sums of the other segments look like rounding."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 300)
    X = np.array([[0.0], [1e7], [3.0], [0.0]])[truth] + rng.normal(size=(1200, 1))
    for labels in (segment(X, 4), segment(X, penalty=50.0)):
        assert labels.max() == 3
        assert np.abs(np.flatnonzero(np.diff(labels)) + 1 - [300, 600, 900]).max() <= 3


def test_memory_is_far_below_one_square_matrix():
    n = 3000
    X = np.random.default_rng(0).normal(size=(n, 5))
    tracemalloc.start()
    segment(X, 10)
    loss_augmented_segment(X, np.repeat(np.arange(10), n // 10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 8 / 5


def test_same_optimum_as_ruptures():
    ruptures = pytest.importorskip("ruptures")
    X = series(200, 3, jump=1.0)
    kernel = ruptures.KernelCPD("linear", min_size=2).fit(X)
    for labels, theirs in [
        (segment(X, 7, min_length=2), kernel.predict(n_bkps=6)),
        (segment(X, penalty=9.0, min_length=2), kernel.predict(pen=9.0)),
    ]:
        assert_array_equal(segment_starts(labels), [0, *theirs[:-1]])


# Hermite features


@pytest.mark.equation("Lajugie 2014, Section 5.3")
def test_hermite_functions_are_orthonormal_and_follow_the_definition():
    z = np.linspace(-12, 12, 4001)
    psi = hermite_features(z, 6, center=0, scale=1)
    assert_allclose(psi.T @ psi * (z[1] - z[0]), np.eye(7), atol=1e-12)
    for k in range(7):
        norm = np.sqrt(2.0**k * gamma(k + 1) * np.sqrt(np.pi))
        assert_allclose(psi[:, k], eval_hermite(k, z) * np.exp(-(z**2) / 2) / norm, atol=1e-12)


def test_hermite_features_show_a_change_of_variance():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 150)
    x = rng.normal(size=600) * np.array([1.0, 4.0])[truth % 2] + 7
    with_features = segment(hermite_features(x, 4), 4, min_length=5)
    raw = segment(x[:, None], 4, min_length=5)
    assert partition_loss(with_features, truth) < 0.3 < 2 < partition_loss(raw, truth)


def test_hermite_scaling_is_by_median_and_deviation():
    x = np.array([1.0, 2.0, 3.0, 4.0, 1e9])
    assert_allclose(hermite_features(x, 2), hermite_features(10 * x - 3, 2), atol=1e-6)
    assert_allclose(hermite_features(x, 3), hermite_features(x, 3, center=3, scale=1.482602218505))
    assert hermite_features(x, 0).shape == (5, 1)


# The automatic penalty


def jumps(seed, n=200, k=6, noise=0.1):
    """k segments of at least 8 points, the mean of each one above or below that before."""
    rng = np.random.default_rng(seed)
    cuts = 8 * np.arange(k) + np.sort([0, *rng.integers(0, n - 8 * k + 1, k - 1)])
    labels = np.searchsorted(cuts[1:], np.arange(n), side="right")
    levels = np.cumsum(rng.choice([-1.0, 1.0], k))
    return (levels[labels] + noise * rng.normal(size=n))[:, None], labels


@pytest.mark.parametrize("k", [2, 6, 12])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1])
def test_longest_plateau_is_the_number_of_segments_of_equal_jumps(k, noise):
    for seed in range(20):
        X, labels = jumps(seed, k=k, noise=noise)
        path = segmentation_path(X)
        assert path.longest.count == k and path.longest.stands_out
        found = segment(X, penalty="auto")
        assert_array_equal(found, segment(X, penalty=path.longest.price))
        assert partition_loss(found, labels) <= (0 if noise < 0.1 else 0.2)


def test_plateaus_are_the_penalties_that_give_a_number_of_segments():
    X, _ = jumps(0, n=60, k=4, noise=0.5)
    path = segmentation_path(X, 60)
    assert path.counts[0] == 1 and path.high[0] == np.inf and len(path.counts) > 20
    for k, low, high in zip(path.counts[:25], path.low, path.high, strict=False):
        for price in (low * (1 + 1e-6), min(high, 2 * low) * (1 - 1e-6)):
            assert segment(X, penalty=price).max() + 1 == k
    short = segmentation_path(X, 10)
    assert_array_equal(short.counts, path.counts[path.counts < 10])
    assert_allclose(short.low[:-1], path.low[: len(short.low) - 1])
    assert len(segmentation_path(X).distortion) == 16  # 2√60, rounded up
    assert len(segmentation_path(X, min_length=5).distortion) == 12
    assert len(segmentation_path(X, 1).counts) == 0


def test_noise_is_one_segment_with_a_warning():
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(200, 2))
        with pytest.warns(
            UserWarning, match=r"no number .* stands out: .* 1\.\d\d .* 1, the fewest"
        ):
            assert_array_equal(segment(X, penalty="auto"), np.zeros(200))
    with pytest.warns(UserWarning, match="there is no plateau. Segments: 1"):
        assert_array_equal(segment(np.ones((30, 1)), penalty="auto"), np.zeros(30))


@pytest.mark.equation("Lajugie 2014, Eqs. 4-7")
def test_automatic_penalty_keeps_to_the_rules():
    X, _ = jumps(1, n=80, k=4, noise=0.05)
    same = constraints_from_intervals(80, same=[(0, 40)])
    found = segment(X, penalty="auto", constraints=same)
    assert len(set(found[:41])) == 1
    assert np.bincount(segment(X, penalty="auto", min_length=10)).min() >= 10
    noise = np.random.default_rng(0).normal(size=(80, 3))
    change = constraints_from_intervals(80, change=[(10, 12), (50, 52)])
    with pytest.warns(UserWarning, match="Segments: 3, the fewest"):
        assert segment(noise, penalty="auto", constraints=change)[-1] == 2
    impossible = constraints_from_intervals(80, change=[(i, i + 1) for i in range(40)])
    with pytest.raises(ValueError, match="constraints: no segmentation into up to 18 segments"):
        segment(X, penalty="auto", constraints=impossible)
    metric = [[4.0, 0.0], [0.0, 0.0]]
    two = np.column_stack([X, np.random.default_rng(0).normal(size=80) * 100])
    assert_array_equal(segment(two, penalty="auto", M=metric), segment(X, penalty="auto"))


# Bad input

X3 = np.arange(6.0).reshape(3, 2)
REFUSED = {
    "NaN": (lambda: segment([[np.nan]], 1), "NaN"),
    "no points": (lambda: segment(np.zeros((0, 2)), 1), "minimum of 1"),
    "neither K nor penalty": (lambda: segment(X3), "exactly one"),
    "both": (lambda: segment(X3, 1, 1.0), "exactly one"),
    "K too large": (lambda: segment(X3, 4), "n_segments"),
    "K zero": (lambda: segment(X3, 0), "n_segments"),
    "K times min_length": (lambda: segment(X3, 2, min_length=2), "n_segments must be at most 1"),
    "min_length": (lambda: segment(X3, 1, min_length=4), "min_length"),
    "negative penalty": (lambda: segment(X3, penalty=-1.0), "penalty"),
    "infinite penalty": (lambda: segment(X3, penalty=np.inf), "penalty"),
    "word for a penalty": (lambda: segment(X3, penalty="bic"), "penalty must be .*auto.*'bic'"),
    "M of another size": (lambda: segment(X3, 1, M=np.eye(3)), "M must"),
    "indefinite M": (lambda: segment(X3, 1, M=[[1.0, 2], [2, 1]]), "positive semidefinite"),
    "weights of another size": (lambda: segment(X3, 1, M=[1.0]), "one weight for each"),
    "negative weight": (lambda: segment(X3, 1, M=[1.0, -1.0]), "negative weight"),
    "asymmetric": (lambda: segment_matrix([[0, 1.0], [0, 0]]), "symmetric"),
    "not square": (lambda: segment_matrix([[0, 1.0]]), "square"),
    "infinite A": (lambda: segment_matrix([[np.inf]]), "infinity"),
    "lengths": (lambda: loss_augmented_segment(X3, [0, 1]), "one entry per row"),
    "label returns": (lambda: loss_augmented_segment(X3, [0, 1, 0]), "contiguous"),
    "negative label": (lambda: loss_augmented_segment(X3, [-1, 0, 0]), "at least 0"),
    "constraints of another length": (
        lambda: segment(X3, 1, constraints=constraints_from_labels([0, 1])),
        "3 points",
    ),
    "path": (lambda: segmentation_path(X3, 4), "max_segments"),
    "path labels": (lambda: segmentation_path(X3, 2).labels(3), "n_segments"),
    "zero deviation": (lambda: hermite_features([1.0, 1, 1, 2], 2), "deviation of zero"),
    "degree": (lambda: hermite_features([1.0, 2], -1), "degree"),
    "scale": (lambda: hermite_features([1.0, 2], 1, scale=0), "scale"),
    "two-dimensional": (lambda: hermite_features([[1.0, 2]], 1), "one-dimensional"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()
