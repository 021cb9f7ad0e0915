"""Bags, unknown numbers of clusters, sequences: what is told, what is measured."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from book.reproduction import comparisons
from book.reproduction import methods_told_less as room
from book.reproduction.compared_data import Problem
from mlbook.partitions import equivalence_matrix

CENTRES = 30 * np.eye(6)


@pytest.fixture
def easy(monkeypatch):
    """Six training and four test classes that lie far apart."""
    X, y = make_blobs([30] * 6, centers=CENTRES, random_state=0)
    T, t = make_blobs([30] * 4, centers=-CENTRES[:4], random_state=1)
    monkeypatch.setattr(room, "draw", lambda unit: Problem(X, y, T, t))
    return {"seed": 0}


def test_bags_of_one_tell_everything(easy):
    values = room.run_bags({**easy, "bag_size": 1})
    assert values.keys() == {"right", "k-means", room.MIMLCA_PLAIN, room.MIMLCA_SHRUNK}
    assert values["right"] == 1 == values["k-means"]


def test_bags_that_hold_all_classes_tell_nothing(easy):
    assert room.run_bags({**easy, "bag_size": 6})["right"] < 1


def test_training_sets_hold_some_classes_whole():
    y = np.repeat(np.arange(5), 25)
    problem = Problem(np.arange(125.0)[:, None], y, np.zeros((0, 1)), np.zeros(0, int))
    sets = room.training_sets(problem, 4, np.random.default_rng(0))
    assert len(sets) == room.N_SETS
    for X, labels in sets:
        assert 2 <= len(set(labels)) <= 4
        assert_array_equal(np.unique(labels, return_counts=True)[1], room.PER_CLASS)
        assert_array_equal(y[X[:, 0].astype(int)], labels)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_silhouette_finds_clusters_that_are_apart(k):
    X, y = make_blobs(20 * k, centers=CENTRES[:k], random_state=0)
    found = room.by_silhouette(np.eye(6))(X)
    assert_array_equal(equivalence_matrix(found), equivalence_matrix(y))


def test_the_price_is_that_of_the_training_sets():
    """Pairs of blobs that training calls one class are one cluster, and else two."""
    pairs = np.repeat([[0.0], [10.0], [100.0], [110.0]], 20, axis=0)
    X = pairs + np.random.default_rng(0).normal(size=(80, 1))
    fine = np.repeat(np.arange(4), 20)
    for y in (fine, fine // 2):
        found = room.by_price([(X, y)], np.eye(1))(X)
        assert_array_equal(equivalence_matrix(found), equivalence_matrix(y))


def test_within_is_the_spread_about_the_class_means():
    Z = np.array([[0.0, 0], [2, 0], [5, 1], [5, 5]])
    assert room.within(Z, np.array([0, 0, 1, 1])) == (1 + 4) / 2


@pytest.mark.slow
def test_every_counter_finds_what_is_far_apart(easy):
    values = room.run_count({**easy, "methods": list(room.COUNTERS)})
    assert values.keys() == {*room.COUNTERS, *(f"off, {name}" for name in room.COUNTERS)}
    for name in room.COUNTERS[:5]:
        assert values[name] > 0.9, name


def test_sequences_have_runs_of_one_class():
    y = np.repeat(np.arange(4), 40)
    X, runs = room.sequence(np.column_stack([y, np.arange(160)]), y, np.random.default_rng(0))
    lengths = np.bincount(runs)
    assert lengths.min() >= room.SHORTEST and lengths.max() <= room.LONGEST
    assert len(set(X[:, 1])) == len(X) > 100
    classes = [set(X[runs == r, 0]) for r in range(len(lengths))]
    assert all(len(c) == 1 for c in classes)
    assert all(a != b for a, b in pairwise(classes))


def test_segments_that_are_far_apart_are_found(easy):
    values = room.run_sequences({**easy, "seed": 1})
    assert values.keys() == set(room.SEGMENTERS)
    assert min(values[name] for name in room.LINEAR) > 0.95


def test_units_say_all_there_is_to_know():
    """Every experiment varies what its name says, on the splits of the first two."""
    for experiment in comparisons.EXPERIMENTS:
        units = experiment.units("full")
        keys = [(u["row"], u["seed"]) for u in units]
        assert len(set(keys)) == len(keys)
        assert all(u.keys() >= {"data", "methods", *comparisons.BASE} for u in units)
        assert {u["seed"] for u in units} == set(range(comparisons.SEEDS["full"]))
        names = {m for u in units for m in u["methods"]}
        assert names <= {c.key for c in experiment.columns}
    assert comparisons.SEEDS["full"] >= 30


def test_the_nearest_class_mean_is_only_asked_for_known_classes():
    for experiment in comparisons.EXPERIMENTS:
        for unit in experiment.units("smoke"):
            assert unit["seen"] or comparisons.BY_MEANS not in unit["methods"]
