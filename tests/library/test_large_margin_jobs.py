"""Several workers: the same numbers as one."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mlbook import LargeMarginMetric
from mlbook.datasets import make_change_points
from mlbook.large_margin.jobs import in_turn, spread_over


def place(item, power):
    return os.getpid(), item**power


def test_every_item_once_in_order_in_other_processes():
    with spread_over(2) as spread:
        for n in (1, 2, 5):
            found = spread(place, list(range(n)), 3)
            assert [value for _, value in found] == [i**3 for i in range(n)]
            assert os.getpid() not in {process for process, _ in found}


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_worker_is_this_process(n_jobs):
    with spread_over(n_jobs) as spread:
        assert spread is in_turn


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"n_clusters": "known", "metric": "full"},
        {"structure": "spectral", "random_state": 0},
        {"alpha": 0.1, "partial": True},
    ],
    ids=["sequences", "known", "spectral", "partial labels"],
)
def test_the_same_numbers_for_every_number_of_workers(setting, two_workers):
    shape = {"n_samples": 60, "n_segments": (3, 4), "min_length": 8}
    Xs, ys = make_change_points(5, n_relevant=2, n_irrelevant=3, random_state=0, **shape)[:2]
    setting = dict(setting)
    if setting.pop("partial", False):
        ys = [np.where(np.arange(len(y)) < 45, y, -1) for y in ys]
    one = LargeMarginMetric(**setting).fit(Xs, ys)
    with two_workers():
        two = LargeMarginMetric(n_jobs=2, **setting).fit(Xs, ys)
    assert_array_equal(one.components_, two.components_)
    for name in ("penalty_", "objective_", "lower_bound_", "n_iter_", "n_alternations_"):
        assert getattr(one, name) == getattr(two, name)


def test_no_worker_is_refused():
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        LargeMarginMetric(n_jobs=0).fit([np.ones((4, 1))], [[0, 0, 1, 1]])
