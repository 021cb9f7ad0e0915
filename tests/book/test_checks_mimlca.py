"""The exercises of the chapter on MIMLCA that check themselves."""

from __future__ import annotations

from math import comb, factorial, prod

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from book.checks import labels
from book.checks.mimlca import count, greedy, reject

pytestmark = pytest.mark.book


def counted(instances, labels_):
    bags = [(n, q, min(n, q)) for n, q in zip(instances, labels_, strict=True)]
    return prod(comb(n, p) * comb(q, p) * factorial(p) for n, q, p in bags)


def test_counting():
    assert count(counted) is None
    added = count(lambda n, q: sum(counted([a], [b]) for a, b in zip(n, q, strict=True)))
    assert "instances = [" in added and "Choose who is named" in added
    unmatched = count(
        lambda n, q: prod(comb(max(a, b), min(a, b)) for a, b in zip(n, q, strict=True))
    )
    assert "instances = [2], labels = [2] your function returned 1" in unmatched
    assert "returned 0" in count(lambda n, q: 0)


def greedy_hand(costs):
    costs, total = np.array(costs), 0.0
    for _ in range(min(costs.shape)):
        i, j = np.unravel_index(costs.argmin(), costs.shape)
        total += costs[i, j]
        costs[i, :] = costs[:, j] = np.inf
    return total


def test_greedy():
    assert greedy(greedy_hand) is None
    best = greedy(lambda costs: costs[linear_sum_assignment(costs)].sum())
    assert "[[0, 1], [1, 200]]" in best and "smallest cost of all that is left" in best
    twice = greedy(lambda costs: costs.min(axis=1).sum())
    assert "as many costs as can be paired" in twice

    def in_place(costs):
        costs[0] = 0
        return 0.0

    assert "changes its argument" in greedy(in_place)


def rejecting(costs, prices):
    private = np.where(np.eye(len(costs)), prices[:, None], np.inf)
    _, columns = linear_sum_assignment(np.hstack([costs, private]))
    return np.where(columns < costs.shape[1], columns, -1)


def test_rejecting():
    assert reject(rejecting) is None

    def shared(costs, prices):
        """One private column for all: only one instance can be rejected."""
        table = np.column_stack([costs, prices])
        rows, columns = linear_sum_assignment(table)
        names = np.full(len(costs), -1)
        names[rows] = np.where(columns < costs.shape[1], columns, -1)
        return names

    def each_alone(costs, prices):
        return np.where(costs.min(axis=1) < prices, costs.argmin(axis=1), -1)

    assert "Another choice costs less" in reject(shared)
    assert "A label is given twice" in reject(each_alone)
    assert "one label for each instance" in reject(lambda costs, prices: [9] * len(prices))


def test_all_are_registered():
    own = {label for label, module in labels().items() if module == "mimlca"}
    assert own == {"mi-ex-count", "mi-ex-greedy", "mi-ex-reject"}
