"""Runs of labels, and constraints from partial labels against filtered enumeration."""

from itertools import accumulate, groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from segmentations import best, centred_gram, series, trace

from mlbook.changepoints import (
    breakpoints_from_labels,
    constraints_from_intervals,
    constraints_from_labels,
    labels_from_breakpoints,
    segment,
    segment_matrix,
    segment_starts,
    segmentation_path,
)
from mlbook.changepoints.labels import longest_run, runs

# Runs


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12))
def test_runs_are_those_of_a_loop_over_the_labels(labels):
    stops = list(accumulate(len(list(group)) for _, group in groupby(labels)))
    assert runs(labels) == list(zip([0, *stops], stops, strict=False))


@given(st.lists(st.booleans(), min_size=1, max_size=12).filter(any))
def test_the_longest_run_of_true_is_found_by_trying_all(chosen):
    n = len(chosen)
    stretches = [(a, b) for a in range(n) for b in range(a + 1, n + 1) if all(chosen[a:b])]
    assert longest_run(chosen) == max(stretches, key=lambda s: (s[1] - s[0], -s[0]))


def test_segments_begin_where_their_label_does():
    assert_array_equal(segment_starts([3, 3, 0, 0, 1]), [0, 2, 4])
    assert_array_equal(segment_starts([7]), [0])


# Lists of breakpoints


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_breakpoints_and_labels_say_the_same(lengths):
    ends = list(accumulate(lengths))
    labels = labels_from_breakpoints(ends)
    assert labels.tolist() == [k for k, length in enumerate(lengths) for _ in range(length)]
    assert breakpoints_from_labels(labels) == ends
    assert all(type(end) is int for end in breakpoints_from_labels(labels))
    assert_array_equal(labels_from_breakpoints(np.array(ends, dtype=np.uint8)), labels)


def test_every_run_of_labels_ends_at_a_breakpoint():
    assert breakpoints_from_labels([5, 5, 0, 5]) == [2, 3, 4]
    assert breakpoints_from_labels(["walk", "run", "run"]) == [1, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: labels_from_breakpoints([]), "breakpoints must be .* not empty"),
        (lambda: labels_from_breakpoints([0, 3]), "breakpoints must be at least 1; got 0"),
        (lambda: labels_from_breakpoints([3, 3]), "must increase; got 3 after 3 at position 1"),
        (lambda: labels_from_breakpoints([2, 5, 4]), "must increase; got 4 after 5 at position 2"),
        (lambda: labels_from_breakpoints([2.5, 4.0]), "breakpoints must be .* integers"),
        (lambda: breakpoints_from_labels([]), "labels must be .* not empty"),
        (lambda: breakpoints_from_labels([0, -1]), "labels must be at least 0; got -1"),
        (lambda: breakpoints_from_labels([[0, 1]]), r"labels must be .* shape \(1, 2\)"),
        (lambda: breakpoints_from_labels([0.5, 1.0]), "labels must be .* integers"),
    ],
)
def test_breakpoints_that_cannot_be_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Constraints


def agrees(labels, partial):
    """Whether two labelled points share a segment exactly when they share a label."""
    known = np.flatnonzero(partial >= 0)
    return all((labels[i] == labels[j]) == (partial[i] == partial[j]) for i in known for j in known)


@pytest.mark.parametrize("seed", range(8))
def test_partial_labels_against_filtered_enumeration(seed, blocks):
    rng = np.random.default_rng(seed)
    n = 10
    partial = np.cumsum(rng.random(n) < 0.3)
    partial[rng.random(n) < 0.4] = -1
    X = series(n, 2, seed)
    min_length = 1 + seed % 2

    def keep(labels):
        return agrees(labels, partial)

    known = constraints_from_labels(partial)
    rules = {"min_length": min_length, "constraints": known}
    gram = centred_gram(X)
    for penalty in [0.5, 3.0, 100.0]:
        A = gram - penalty * np.eye(n)
        expected = best(A, None, keep, min_length)
        if expected == -np.inf:
            with pytest.raises(ValueError, match="constraints"):
                segment(X, penalty=penalty, **rules)
            continue
        labels = segment(X, penalty=penalty, **rules)
        assert keep(labels) and np.bincount(labels).min() >= min_length
        assert_allclose(trace(A, labels), expected, atol=1e-10)
    path = segmentation_path(X, n // min_length, **rules)
    R = rng.normal(size=(n, n))
    for k in range(1, n // min_length + 1):
        expected = best(gram, k, keep, min_length)
        assert_allclose(path.distortion[k - 1], np.trace(gram) - expected, atol=1e-9)
        if expected == -np.inf:
            with pytest.raises(ValueError, match="n_segments"):
                path.labels(k)
            with pytest.raises(ValueError, match="constraints"):
                segment(X, k, **rules)
            continue
        assert keep(path.labels(k))
        labels = segment_matrix(R + R.T, k, **rules)
        assert keep(labels) and np.bincount(labels).min() >= min_length
        assert_allclose(trace(R + R.T, labels), best(R + R.T, k, keep, min_length), atol=1e-9)


def test_intervals_say_what_labels_cannot(blocks):
    """Points 0-2 together, 6-8 together, a change between 2 and 5: 2 and 6 are left open."""
    known = constraints_from_intervals(9, same=[(0, 2), (6, 8)], change=[(2, 5)])
    X = series(9, 2, seed=6)

    def keep(c):
        return c[0] == c[2] and c[6] == c[8] and c[2] != c[5]

    for penalty in [0.1, 2.0, 50.0]:
        A = centred_gram(X) - penalty * np.eye(9)
        labels = segment(X, penalty=penalty, constraints=known)
        assert keep(labels)
        assert_allclose(trace(A, labels), best(A, None, keep), atol=1e-10)


def test_no_labels_are_no_constraints():
    known = constraints_from_labels([-1, -1, -1])
    assert known.allowed.all() and not known.earliest_start.any()


# Bad input

REFUSED = {
    "labels not integers": (lambda: segment_starts([0.5, 1]), "integers"),
    "contradictory labels": (lambda: constraints_from_labels([0, 1, -1, 0]), "contradict"),
    "contradictory intervals": (
        lambda: constraints_from_intervals(4, [(0, 3)], [(1, 2)]),
        "contradict",
    ),
    "reversed interval": (lambda: constraints_from_intervals(4, [(2, 1)]), "same"),
    "interval outside": (lambda: constraints_from_intervals(4, [], [(2, 4)]), "change"),
    "label returns": (lambda: segment_starts([0, 1, 0]), "3 runs of 2 labels"),
    "nothing chosen": (lambda: longest_run([False]), "chosen must"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()
