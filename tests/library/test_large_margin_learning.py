"""The steps of learning, one by one."""

import numpy as np
import pytest
from labelled_sequences import objective_pieces, steps, tiny
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.changepoints import constraints_from_labels, segment
from mlbook.kmeans import SpectralKMeans
from mlbook.large_margin import LargeMarginMetric, structured_hinge
from mlbook.large_margin.hinge import Structure
from mlbook.large_margin.learning import (
    PENALTIES,
    Learned,
    best_partition,
    calibrated_penalty,
    learn_by_turns,
    learn_metric,
)
from mlbook.large_margin.minimization import cutting_planes
from mlbook.partitions import partition_loss

SEGMENTS = Structure(sequence=True, known=False, min_length=1)


def test_a_metric_has_the_objective_that_is_said():
    """J at the returned components, from its definition."""
    X, y = tiny(d=3)
    options = {"tol": 1e-6, "max_iter": 100, "verbose": False}
    learned = learn_metric(
        X, y, SEGMENTS, full=False, linear=0.0, quadratic=0.1, solve=cutting_planes, **options
    )
    weights, _, units = objective_pieces(X, y, known=False, full=False)
    b = np.diag(learned.components.T @ learned.components)
    hinges = [structured_hinge(x, t, b) for x, t in zip(X, y, strict=True)]
    assert_allclose(weights @ hinges + 0.05 * np.sum((b * units) ** 2), learned.solution.objective)
    assert learned.solution.gap <= 1e-6 and 1 < learned.n_iter <= 100


def test_the_best_partition_is_that_of_the_room_for_it():
    X = steps(60, 3, n_series=1)[0][0]
    long = SEGMENTS._replace(min_length=9)
    assert_array_equal(best_partition(X, long, n_clusters=3), segment(X, 3, min_length=9))
    labels = best_partition(X, long, penalty=40.0)
    assert_array_equal(labels, segment(X, penalty=40.0, min_length=9))
    assert_array_equal(best_partition(X[:4], long, penalty=1.0), np.zeros(4))
    free = SEGMENTS._replace(sequence=False)
    labels = best_partition(X, free, n_clusters=3, random_state=0)
    assert_array_equal(labels, SpectralKMeans(3, random_state=0).fit_predict(X))
    spread = np.linalg.eigvalsh(60 * np.cov(X.T, bias=True))
    for penalty in (0.5 * spread[0], np.mean(spread[:2]), 2 * spread[2]):
        labels = best_partition(X, free, penalty=penalty, random_state=0)
        assert labels.max() == np.sum(spread > penalty)


def test_calibration_takes_the_middle_of_the_best_penalties():
    X, y = steps(100, 6)
    plain = LargeMarginMetric(calibrate=False).fit(X, y)
    model = LargeMarginMetric().fit(X, y)
    assert plain.penalty_ == 1.0
    assert_allclose(plain.components_, model.components_)

    def loss(penalty):
        labels = [
            segment(plain.transform(x), penalty=penalty, min_length=plain.min_length_) for x in X
        ]
        return np.mean([partition_loss(a, b) for a, b in zip(labels, y, strict=True)])

    ratio = PENALTIES[1] / PENALTIES[0]
    least = loss(model.penalty_)
    assert least <= loss(1.0)
    below, above = model.penalty_, model.penalty_
    while loss(below / ratio) <= least + 1e-9:
        below /= ratio
    while loss(above * ratio) <= least + 1e-9:
        above *= ratio
    assert model.penalty_ / ratio <= np.sqrt(below * above) <= model.penalty_ * ratio


def test_points_without_scatter_leave_the_penalty_alone():
    X, y = tiny()
    assert calibrated_penalty(np.zeros((1, 2)), X, y, SEGMENTS) == 1.0


@pytest.mark.parametrize("most", [1, 2, 9])
def test_turns_fill_in_learn_and_price_until_labels_stay(most):
    """A made-up learner that scales the metric: what is filled in is what `segment` finds."""
    rng = np.random.default_rng(0)
    X = [np.repeat([[0.0], [3.0], [1.0]], 8, axis=0) + 0.3 * rng.normal(size=(24, 1))]
    known = [constraints_from_labels(np.repeat([0, -1, 1], [4, 16, 4]))]
    scales, seen = iter([1.0, 0.1, 0.1]), []

    def learn(series, labels):
        assert series is X
        seen.append(labels[0])
        return Learned(np.array([[next(scales)]]), None, 7)

    result = learn_by_turns(
        X,
        known,
        np.array([[0.2]]),
        1.0,
        SEGMENTS,
        learn=learn,
        price=lambda components: 4 * components[0, 0],
        max_alternations=most,
    )
    tried = [(0.2, 1.0), (1.0, 4.0), (0.1, 0.4)]
    expected = [segment(L * X[0], penalty=p, constraints=known[0]) for L, p in tried]
    assert [labels.max() for labels in expected] == [1, 2, 1]
    turns = min(most, 3)
    assert result.n_alternations == len(seen) == turns
    for labels, right in zip(seen, expected, strict=False):
        assert_array_equal(labels, right)
    assert_array_equal(result.labels[0], seen[-1])
    assert result.penalty == 4 * result.learned.components[0, 0]


@pytest.mark.slow
def test_alternation_ends_when_nothing_changes_or_is_allowed():
    X, y = steps(100, 4)
    partial = [np.where(np.arange(100) < 60, t, -1) for t in y]
    model = LargeMarginMetric(min_length=5).fit(X, partial)
    assert 1 <= model.n_alternations_ < 10
    once = LargeMarginMetric(min_length=5, max_alternations=1).fit(X, partial)
    assert once.n_alternations_ == 1
    again = LargeMarginMetric(min_length=5).fit(X, model.labels_)
    assert_allclose(again.components_, model.components_)
