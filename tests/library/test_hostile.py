"""Every public name takes hostile input in one of two ways: a right result, or a clear error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.bags import candidate_labels, citation_knn_scores
from mlbook.changepoints import constraints_from_labels, segment, segmentation_path
from mlbook.datasets import bags_from_labels, hide_labels
from mlbook.grid_crf import GridProblem
from mlbook.kmeans import SpectralKMeans
from mlbook.mimlca import MIMLCA
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.ncuts import NormalizedCutMetric, gaussian_affinity
from mlbook.partitions import partition_loss

hostile = pytest.importorskip("hostile")  # which needs pandas
hostile_calls = pytest.importorskip("hostile_calls")
X, y = hostile_calls.X, hostile_calls.y
CALLS = list(hostile_calls.calls())
ROOMS = sorted({call.name.split(".")[0] for call in CALLS})


@pytest.fixture(autouse=True)
def no_windows(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")


def cases(room):
    return [case for call in CALLS if call.name.split(".")[0] == room for case in call.cases()]


def test_every_public_name_has_a_valid_call():
    """A new name? Give it a valid call in hostile_calls.py."""
    assert hostile_calls.untested() == []


@pytest.mark.parametrize("room", ROOMS)
def test_some_hostile_input(room):
    """The same cases in every run."""
    counts, bad = hostile.run([case for case in cases(room) if case.number % 16 == 0])
    assert counts.total() > 0 and not bad, "\n".join(bad)


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_all_hostile_input(room):
    _, bad = hostile.run(cases(room))
    assert not bad, "\n".join(bad)


def test_there_are_many_cases():
    assert sum(len(cases(room)) for room in ROOMS) >= 10_000


# --- what the harness cannot know ---------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda huge: segment(huge, penalty=1e308),
        lambda huge: segment(huge, n_segments=3),
        segmentation_path,
        lambda huge: SpectralKMeans(3).fit(huge),
    ],
)
def test_squares_that_overflow_are_refused(call):
    with pytest.raises(ValueError, match=r"X: its largest entry is .* overflow; rescale X"):
        call(X * 1e155)


def test_a_metric_that_overflows_is_refused():
    with pytest.raises(ValueError, match="X: its entries are so small that the metric overflows"):
        MLCA().fit(X * 1e-310, y)
    assert np.isfinite(MLCA().fit(X * 1e-200, y).components_).all()


def test_integer_distances_vote_as_floats_do():
    D = hostile_calls.D.astype(int)
    given = {"Y": np.eye(3, dtype=int)[y], "n_references": 2, "n_citers": 2}
    found = citation_knn_scores(D[:4], D, **given)
    assert_array_equal(found, citation_knn_scores(D[:4] * 1.0, D * 1.0, **given))


def test_candidate_labels_in_half_precision():
    Y = hostile_calls.Y
    found = candidate_labels(Y.astype(np.float16), len(Y))
    assert_array_equal(found.toarray(), Y == 1)


def test_nothing_is_left_if_all_instances_are_rejected():
    with pytest.raises(ValueError, match="reject=1e-12 rejects all instances; raise it"):
        MIMLCA(reject=1e-12).fit(hostile_calls.BAGS, hostile_calls.Y)


def test_a_graph_without_edges():
    found = gaussian_affinity(X[:1], np.empty((2, 0), dtype=int), np.ones(3))
    assert_array_equal(found.toarray(), [[1.0]])
    model = NormalizedCutMetric(n_clusters=1, max_iter=50, random_state=0).fit([X], [y])
    assert_array_equal(model.predict(X[:1]), [0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: constraints_from_labels(y.astype(np.uint64) + 2**63), "less than 2\\^63"),
        (lambda: hide_labels([np.where(y == 1, np.nan, y)], 0.5), "each of labels must .* float64"),
        (lambda: BinaryMLCA().fit(X, np.where(y, 0, -1)), "-1 means unlabelled"),
        (lambda: bags_from_labels(np.where(X[0, 0] == X, np.nan, X), y), "X contains NaN"),
        (lambda: partition_loss(np.ma.masked_equal(y, 2), y), "a must have no masked entries"),
        (lambda: NormalizedCutMetric(n_clusters="3").fit([X], [y]), "n_clusters must be an int"),
        (lambda: NormalizedCutMetric(n_clusters=-1).fit([X], [y]), "n_clusters must be an int"),
    ],
)
def test_labels_and_settings_that_mean_nothing(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_mask_without_masked_entries_is_fine():
    found = MLCA().fit(np.ma.masked_array(X, np.zeros(X.shape, bool)), y)
    assert_allclose(found.components_, MLCA().fit(X, y).components_)


@pytest.mark.parametrize("weight", [np.nan, np.inf, 1e308])
def test_a_grid_is_never_searched_for_ever(weight):
    problem = GridProblem(hostile_calls.PIXELS, n_hidden=1)
    w = np.zeros(problem.n_features)
    w[:] = weight
    for search in (problem.decode, problem.complete):
        with pytest.raises(ValueError, match=r"w must (hold .* finite numbers|be at most 1e\+100)"):
            search(w, None)
