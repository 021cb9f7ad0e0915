"""Features of images and distances between views, against loops by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from book.reproduction.views import IMAGE_VIEWS, distance_stack, image_views
from mlbook.datasets import load_texture_patches

pytestmark = pytest.mark.book


def test_features_of_images():
    pytest.importorskip("skimage")
    rng = np.random.default_rng(0)
    wave = 0.5 + 0.4 * np.sin(2 * np.pi * 0.2 * np.arange(40))
    images = np.array(
        [np.tile(wave, (40, 1)), np.tile(wave, (40, 1)).T, rng.uniform(size=(40, 40))]
    )
    views = image_views(images)
    assert {name: X.shape for name, X in views.items()} == {
        name: (3, d) for name, d in zip(IMAGE_VIEWS, (59, 10, 9, 24, 4, 32), strict=True)
    }
    assert all(X.min() >= 0 for X in views.values())
    for name in ("LBP", "rot-LBP", "intensity"):
        assert_allclose(views[name].sum(axis=1), 1)
    # Frequency 0.2 along the rows, then along the columns: a quarter turn is three orientations.
    assert views["Gabor"][0].argmax() == 6 and views["Gabor"][1].argmax() == 9
    assert_allclose(views["rot-Gabor"][0], views["rot-Gabor"][1], rtol=1e-6)
    assert views["rot-Gabor"][0].argmax() == 1
    assert views["HOG"][0].argmax() == 0 and views["HOG"][1].argmax() == 4  # bins of 20 degrees
    levels = np.histogram(images[2], bins=32, range=(0, 1))[0] / 1600
    assert_allclose(views["intensity"][2], levels)


@pytest.mark.parametrize(
    "images, seen",
    [(np.zeros((4, 4)), r"\(4, 4\)"), (np.full((1, 9, 9), 255), "to 255"), ([], r"\(0,\)")],
)
def test_bad_images(images, seen):
    with pytest.raises(ValueError, match=rf"images must have shape .*{seen}"):
        image_views(images)


def test_features_that_hardly_change_when_an_image_is_turned():
    pytest.importorskip("skimage")
    upright, _ = load_texture_patches(size=90)
    turned, _ = load_texture_patches(size=90, rotate=True, random_state=0)
    views = [image_views(images[::4]) for images in (upright, turned)]
    changes = {
        name: np.abs(views[0][name] - views[1][name]).sum() / views[0][name].sum()
        for name in IMAGE_VIEWS
    }
    assert changes["rot-Gabor"] < 0.7 * changes["Gabor"]
    assert changes["rot-LBP"] < changes["LBP"]


def by_hand(kind, x, z):
    if kind == "chi2":
        return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)
    if kind == "l1":
        return np.abs(x - z).sum()
    return ((x - z) ** 2).sum()


@pytest.mark.parametrize("kind", ["chi2", "l1", "l2"])
def test_distances_by_hand(kind):
    rng = np.random.default_rng(0)
    train = {"a": rng.uniform(size=(5, 3)), "b": rng.uniform(size=(5, 2))}
    train["a"][:2, 0] = 0
    test = {name: rng.uniform(size=(4, X.shape[1])) for name, X in train.items()}
    stack, names = distance_stack(test, train, kinds=[kind], reference=train)
    assert names == [f"a, {kind}", f"b, {kind}"] and stack.shape == (2, 4, 5)
    for matrix, name in zip(stack, train, strict=True):
        X = train[name]
        pairs = [by_hand(kind, X[i], X[j]) for i in range(5) for j in range(i)]
        expected = [[by_hand(kind, x, z) for z in X] for x in test[name]]
        assert_allclose(matrix, np.array(expected) / np.mean(pairs))


def test_rbf_is_the_distance_of_its_kernel():
    """Footnote 3 of the paper with k(x, z) = exp(−‖x − z‖² / mean)."""
    X = np.random.default_rng(1).normal(size=(6, 3))
    (rbf, l2), _ = distance_stack({"x": X}, kinds=["rbf", "l2"])
    k = np.exp(-l2)
    distance = np.sqrt(np.diag(k)[:, None] + np.diag(k) - k - k.T)
    assert_allclose(rbf, distance / distance[~np.eye(6, dtype=bool)].mean(), atol=1e-7)


def test_every_matrix_has_mean_one_over_the_pairs():
    rng = np.random.default_rng(2)
    views = {"small": 1e-6 * rng.uniform(size=(7, 2)), "large": 1e6 * rng.uniform(size=(7, 2))}
    stack, names = distance_stack(views)
    assert len(stack) == len(names) == 8
    assert_allclose(stack[:, ~np.eye(7, dtype=bool)].mean(axis=1), 1)
    assert_allclose(stack, stack.transpose(0, 2, 1), atol=1e-7)


X = np.array([[0.0], [1.0]])


@pytest.mark.parametrize(
    "views, other, options, message",
    [
        ({"a": X}, None, {"kinds": ["l3"]}, r"kinds must be of chi2, l1, l2, rbf; got \['l3'\]"),
        ({"a": X}, None, {"kinds": []}, "kinds must be of"),
        ({"a": X}, {"b": X}, {}, "must have the view 'a'"),
        ({"a": X - 1}, None, {"kinds": ["chi2"]}, "not negative; got -1"),
        ({"a": X * 0}, None, {}, "all rows of the reference are the same in the view 'a'"),
        ({"a": X[:1]}, None, {}, "all rows of the reference"),
    ],
)
def test_bad_views(views, other, options, message):
    with pytest.raises(ValueError, match=message):
        distance_stack(views, other, **options)
