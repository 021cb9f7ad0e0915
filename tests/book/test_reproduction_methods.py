"""All methods on the same data: what is drawn, what is told to whom, what is measured."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from book.reproduction import methods as room
from mlbook.mlca import MLCA
from mlbook.partitions import equivalence_matrix

UNIT = {**room.BASE, **room.SMALL, "seed": 0, "data": "gaussians"}
DIGITS = room.digit_units("smoke")[0]


def unit(**changed):
    return {**UNIT, **changed}


# --- what is drawn -----------------------------------------------------------------------------


def test_clusters_differ_in_the_signal_directions_only():
    drawn = room.draw_gaussians(unit(n_rows=2000, n_sets=1, mixed=True, nuisance=7.0))
    assert_allclose(drawn.signal @ drawn.signal.T, np.eye(room.N_SIGNAL), atol=1e-12)
    X, y = drawn.train[0]
    means = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
    offsets = means - means.mean(axis=0)
    outside = offsets - offsets @ drawn.signal.T @ drawn.signal
    assert np.linalg.norm(offsets @ drawn.signal.T, axis=1).min() > 1.5
    assert abs(outside).max() < 6 * 7.0 / np.sqrt(500)
    within = np.concatenate([X[y == c] - X[y == c].mean(axis=0) for c in np.unique(y)])
    variances = np.linalg.eigvalsh(np.cov(within.T))
    expected = np.repeat([room.WITHIN, 7.0], [room.N_SIGNAL, UNIT["n_nuisance"]]) ** 2
    assert_allclose(variances, expected, rtol=0.15)


def test_the_nuisance_does_not_change_the_rest_of_the_draw():
    """Levels of one seed differ in nothing else, so that methods can be compared across them."""
    small, large = (room.draw_gaussians(unit(nuisance=v)) for v in (1.0, 16.0))
    for part in ("train", "seen", "unseen"):
        for (X, y), (Z, labels) in zip(getattr(small, part), getattr(large, part), strict=True):
            assert_array_equal(y, labels)
            scales = np.repeat([1.0, 16.0], [room.N_SIGNAL, UNIT["n_nuisance"]])
            assert_allclose(X * scales, Z)


@pytest.mark.parametrize("method", ["RCA", "LDA", "MLCA"])
def test_methods_of_scatters_do_not_see_units(method):
    """The proposition of the chapter: distances after learning are the same in all units."""
    if method == "RCA":
        pytest.importorskip("metric_learn")
    distances = []
    for nuisance in (1.0, 16.0):
        drawn = room.draw_gaussians(unit(nuisance=nuisance))
        Z = drawn.unseen[0][0] @ room.METHODS[method](drawn).T
        distances.append(np.linalg.norm(Z - Z[0], axis=1))
    assert_allclose(*distances, rtol=1e-6)


def test_seen_classes_are_those_of_training_and_unseen_ones_are_not():
    drawn = room.draw_gaussians(unit(n_rows=400, n_classes=4, nuisance=0.1))
    known = np.array([drawn.rows[drawn.labels == c].mean(axis=0) for c in np.unique(drawn.labels)])
    for part, largest in (("seen", 0.9), ("unseen", np.inf)):
        gaps = []
        for X, y in getattr(drawn, part):
            for c in np.unique(y):
                gaps.append(np.linalg.norm(known - X[y == c].mean(axis=0), axis=1).min())
        assert max(gaps) < largest
    assert max(gaps) > 1.5


def test_flipped_labels_stay_in_their_set():
    clean, noisy = (room.draw_gaussians(unit(flipped=f, n_rows=400)) for f in (0.0, 0.3))
    for (_, y), (_, labels) in zip(clean.train, noisy.train, strict=True):
        assert set(labels) == set(y) or len(set(labels) | set(y)) == UNIT["k"]
    first = noisy.train[0][1] != clean.train[0][1]  # the same draw up to there
    assert first.mean() == pytest.approx(0.3, abs=0.07)


def test_all_forms_of_the_training_data_hold_the_same_rows():
    drawn = room.draw_gaussians(unit(bag_size=3))
    assert_array_equal(drawn.rows, np.vstack([X for X, _ in drawn.train]))
    assert drawn.labels.max() + 1 == len({c for _, y in drawn.train for c in y})
    order, other = (np.lexsort(X.T) for X in (drawn.rows, drawn.bags.instances))
    assert_array_equal(drawn.rows[order], drawn.bags.instances[other])
    assert_array_equal(drawn.labels[order], drawn.bags.labels[other])
    sizes = np.diff(drawn.bags.offsets)
    assert sizes.max() == 3 and np.mean(sizes == 3) > 0.8


def test_digits_of_the_test_sets():
    drawn = room.draw_digits(DIGITS)
    old = {c for _, y in drawn.train for c in y}
    assert len(old) == 6
    assert all(set(y) <= old for _, y in drawn.seen)
    assert all(not set(y) & old for _, y in drawn.unseen)
    rows = {tuple(x) for X, _ in drawn.train for x in X}
    assert not any(tuple(x) in rows for X, _ in drawn.seen for x in X)
    assert_allclose(drawn.rows.mean(axis=0), 0, atol=1e-9)  # principal components are centred


# --- what is measured --------------------------------------------------------------------------


def test_measures_agree_with_their_definitions():
    rng = np.random.default_rng(0)
    truth = [(np.zeros((9, 1)), rng.integers(3, size=9)) for _ in range(2)]
    found = [rng.integers(4, size=9) for _ in range(2)]
    values = room.measure(truth, found)
    losses = [
        np.sum((equivalence_matrix(y) - equivalence_matrix(labels)) ** 2)
        for (_, y), labels in zip(truth, found, strict=True)
    ]
    assert values["delta"] == pytest.approx(np.mean(losses))
    assert values["clusters"] == np.mean([len(set(labels)) for labels in found])
    assert room.measure(truth, [5 - y for _, y in truth])["unseen"] == 1


@pytest.mark.parametrize("k", [2, 3, 5])
def test_silhouette_finds_clusters_that_are_apart(k):
    centres = 20 * np.eye(5)[:k]
    X, y = make_blobs(20 * k, centers=centres, random_state=0)
    assert_array_equal(equivalence_matrix(room.cluster_by_silhouette(X)), equivalence_matrix(y))


def test_silhouette_of_a_metric_that_is_zero():
    assert set(room.quiet(lambda: room.cluster_by_silhouette(np.zeros((30, 2))))) == {0}


def test_only_expected_warnings_are_kept_quiet():
    def warn():
        warnings.warn("the learned metric is zero: all features", stacklevel=1)
        warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
        return 3

    assert room.quiet(warn) == 3
    with pytest.warns(UserWarning, match="other"):
        room.quiet(lambda: warnings.warn("other", stacklevel=1))


@pytest.mark.parametrize("method", ["k-means", "MLCA", "large margin, full", "directions known"])
def test_a_unit_clusters_with_the_number_told(method):
    values = room.run_unit(unit(method=method, k_test=3))
    assert values.keys() - {"time"} == {"unseen", "seen", "delta", "clusters"}
    assert ("time" in values) == (method not in room.UNTRAINED)
    assert values["clusters"] == 3
    assert method == "k-means" or values["unseen"] > 0.5


def test_the_unit_of_mlca_is_mlca():
    drawn = room.draw_gaussians(unit())
    (X, y) = drawn.unseen[0]
    L = MLCA().fit(drawn.rows, drawn.labels).components_
    values = room.run_unit(unit(method="MLCA"))
    assert values["unseen"] == room.mean_rand(drawn.unseen, [room.cluster(X @ L.T, 4)])
    assert values["time"] > 0 and len(set(y)) == 4


def test_the_latent_crf_is_not_told_the_number():
    """In mixed directions it finds no weights, and then a single cluster."""
    assert room.run_unit(unit(method=f"{room.CRF}, k told", k_test=3))["clusters"] == 3
    lost = unit(mixed=True, nuisance=16.0, method=room.CRF)
    assert room.run_unit(lost)["clusters"] == 1


@pytest.mark.parametrize("method", [m for m in room.COUNTERS if not m.startswith("RCA")])
def test_numbers_of_clusters_that_are_not_told(method):
    values = room.run_count(unit(method=method, k_test=2, nuisance=0.5))
    assert values.keys() == {"unseen", "delta", "clusters"}
    assert 1 <= values["clusters"] <= 12


def test_weak_labels_in_bags_of_one_are_labels():
    """Bags of one row give MIMLCA what MLCA is given; its metric is the same."""
    drawn = room.draw_gaussians(unit(bag_size=1))
    weak, full = room.learn_mimlca(drawn), room.learn_mlca(drawn)
    assert_allclose(weak.T @ weak, full.T @ full, rtol=1e-6, atol=1e-12)


# --- what is declared --------------------------------------------------------------------------


def test_units_say_all_there_is_to_know():
    for name, sweep in room.SWEEPS.items():
        units = room.sweep_units("full", name=name)
        assert len({(u["method"], u["level"], u["seed"]) for u in units}) == len(units)
        assert all(u[sweep.parameter] == u["level"] and u.keys() > room.BASE.keys() for u in units)
    wide = {u["method"] for u in room.sweep_units("full", name="features") if u["level"] == 48}
    assert "large margin, full" not in wide and "MLCA" in wide


def test_rings_have_no_means_to_learn_from():
    """What the chapter says of linear metrics: KISSME refuses, MLCA finds next to nothing."""
    sets = [make_circles(100, noise=0.05, factor=0.4, random_state=i) for i in range(2)]
    drawn = room.pose(sets, [], [], 2)
    with pytest.raises(ValueError, match="kissme finds no metric"):
        room.METHODS["KISSME"](drawn)
    labels = room.cluster(drawn.rows @ room.learn_mlca(drawn).T, 2)
    assert abs(adjusted_rand_score(drawn.labels, labels)) < 0.1
