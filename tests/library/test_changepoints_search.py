"""The search over segmentations: pruning loses nothing and saves much, overlaps are exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from segmentations import best, centred_gram, series, trace

from mlbook.changepoints import (
    compiled,
    loss_augmented_segment,
    search,
    segment,
    segment_starts,
)
from mlbook.changepoints import segmentation as changepoints
from mlbook.changepoints.search import (
    DataScores,
    MatrixScores,
    Overlap,
    Rules,
    best_previous,
    best_values,
    labels_from_previous,
    labels_from_values,
)
from mlbook.partitions import equivalence_matrix


def test_scores_are_means_of_blocks_of_the_matrix():
    """f(s, u) by its definition, of the centred matrix; the data need not be centred."""
    n, X, truth = 9, series(9, 3), np.array([0, 2, 5, 9])
    N = equivalence_matrix(np.repeat(np.arange(3), np.diff(truth)))
    gram = centred_gram(X)
    centre = np.eye(n) - 1 / n
    R = np.random.default_rng(0).normal(size=(n, n))
    positions = np.arange(n + 1)
    for scores, A in [
        (DataScores(X + 7), gram),
        (DataScores(X, truth, 2.0), gram - 2 * N),
        (MatrixScores(R + R.T), centre @ (R + R.T) @ centre),
    ]:
        for u in range(1, n + 1):
            f = scores(positions, np.array([u]))[0]
            expected = [A[s:u, s:u].sum() / (u - s) for s in range(u)]
            assert_allclose(f[:u], expected, atol=1e-12)


def test_both_searches_keep_to_the_rules(blocks):
    """Boundaries only at some positions, no segment across position 6, lengths of 2 or more."""
    n, X = 10, series(10, 2, seed=7)
    allowed = np.array([0, 1, 2, 4, 6, 7, 8, 10])
    earliest = np.where(np.arange(n + 1) > 6, 6, 0)
    rules, scores, gram = Rules(allowed, 2, earliest), DataScores(X), centred_gram(X)

    def keep(labels):
        starts = segment_starts(labels)
        return bool(np.isin(starts, allowed).all() and 6 in starts)

    for penalty in (0.5, 4.0):
        A = gram - penalty * np.eye(n)
        labels = labels_from_previous(best_previous(scores, rules, penalty))
        assert keep(labels)
        assert_allclose(trace(A, labels), best(A, None, keep, 2), atol=1e-10)
    values = best_values(scores, rules, 4)
    for k in (1, 2, 3, 4):
        expected = best(gram, k, keep, 2)
        assert_allclose(values[k, -1], expected, atol=1e-10)
        if expected > -np.inf:
            assert_allclose(trace(gram, labels_from_values(scores, rules, values, k)), expected)
    assert values[1, -1] == -np.inf
    assert best_previous(scores, Rules(np.array([0, n]), n + 1, None), 1.0) is None


@pytest.mark.parametrize("min_length", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("augmented", [False, True])
def test_pruning_changes_nothing(min_length, augmented, monkeypatch):
    """Blocks of one or a few ends prune as early as can be; so do short segments."""
    monkeypatch.setattr(compiled, "load", lambda: None)
    n = 60
    for seed in range(25):
        rng = np.random.default_rng(seed)
        monkeypatch.setattr(search, "_ENDS", int(rng.integers(1, 8)))
        truth = np.sort(rng.integers(0, 5, n))
        X = rng.normal(size=(n, 1)) + rng.normal(size=(5, 1))[truth] * 2
        boundaries = np.append(segment_starts(truth), n) if augmented else None
        weight = 2.0 if augmented else 0.0
        penalty = float(rng.choice([0.2, 1.0, 3.0]))
        A = X @ X.T - weight * equivalence_matrix(truth) - penalty * np.eye(n)
        scores = DataScores(X, boundaries, weight)
        assert scores.split_loss == weight
        found = trace(A, changepoints._search(scores, None, penalty, min_length, None))
        scores.split_loss = np.inf
        unpruned = trace(A, changepoints._search(scores, None, penalty, min_length, None))
        assert_allclose(found, unpruned, rtol=1e-12)


def test_overlap_of_a_segment_with_the_truth():
    boundaries = np.array([0, 2, 3, 7, 12])
    N = equivalence_matrix(np.repeat(np.arange(4), np.diff(boundaries)))
    starts, ends = np.arange(12), np.arange(1, 13)
    lengths = np.maximum(ends[:, None] - starts, 1).astype(float)
    overlap = Overlap(boundaries)(starts, ends, lengths)
    for u in ends:
        for s in range(u):
            assert_allclose(overlap[u - 1, s], N[s:u, s:u].sum() / (u - s), rtol=1e-12)


def test_the_pairs_of_positions_looked_at_grow_with_the_segments_not_with_the_sequence(monkeypatch):
    pairs = []
    score = DataScores.__call__

    def counted(self, starts, ends):
        pairs.append(len(starts) * len(ends))
        return score(self, starts, ends)

    monkeypatch.setattr(DataScores, "__call__", counted)
    monkeypatch.setattr(compiled, "load", lambda: None)
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(40), 50)
    X = rng.normal(size=(40, 4))[truth] * 4 + rng.normal(size=(2000, 4))
    assert_array_equal(segment(X, penalty=60.0, min_length=5), truth)
    pruned = sum(pairs)
    pairs.clear()
    loss_augmented_segment(X / 8, truth, penalty=1.0, min_length=20)
    assert pruned < 0.2 * 2000**2 / 2 and sum(pairs) < 0.2 * 2000**2 / 2
