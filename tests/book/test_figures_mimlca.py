"""What the chapter on MIMLCA claims and draws, against second derivations."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import linear_kernel
from sklearn.neighbors import NearestCentroid

from book.figures import mimlca as demo
from mlbook.bags import Bags
from mlbook.kmeans import distortion
from mlbook.mimlca import MIMLCA, own_clusters, weak_kmeans
from mlbook.mlca import MLCA
from mlbook.plots import COLORS

pytestmark = pytest.mark.book


def numbers(caption: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?", caption)]


# --- the worked example ----------------------------------------------------------------------


@pytest.mark.equation("Law 2017, Algorithm 1")
def test_four_bags_by_hand():
    X, offsets, Y = demo.four_bags()
    V = X / [1, 5]
    assert_allclose(V.T @ V, 24 * np.eye(2))
    (first, start), (middle, one), (last, two) = demo.rounds(V, offsets, Y)
    assert_allclose(24 * first, [[-22, 31], [14, 13]])
    assert_allclose(middle, [[-1, 2], [0, 0]], atol=1e-12)
    assert_allclose(last, [[-1, 2], [0, -1]], atol=1e-12)
    assert_array_equal(start, [0, 1, 0, 1, -1, 0, 1, -1])
    assert_array_equal(one, [0, 1, 0, -1, 1, 0, 1, -1])
    assert_array_equal(one, two)
    bag = np.sum((V[3:6, None] - middle) ** 2, axis=2)
    assert_allclose(bag, [[9, 8], [18, 5], [2, 1]])


def test_rounds_are_those_of_the_library():
    X, offsets, Y = demo.four_bags()
    for points in (X, X / [1, 5]):
        path, found = demo.rounds(points, offsets, Y), weak_kmeans(points, offsets, Y)
        assert_array_equal(path[-1][1], found.assignments)
        costs = [distortion(points, own_clusters(labels)) for _, labels in path]
        assert_allclose(costs[:-1], found.objective_path)
    model = MIMLCA().fit(Bags(X, offsets), Y)
    assert_array_equal(model.assignments_, demo.rounds(X / [1, 5], offsets, Y)[-1][1])


def test_a_start_is_where_rounds_begin():
    X, offsets, Y = demo.four_bags()
    V = X / [1, 5]
    best = np.array([0, 1, 0, -1, 1, 0, 1, -1])
    path = demo.rounds(V, offsets, Y, start=best)
    assert_allclose(path[0][0], [V[best == c].mean(axis=0) for c in (0, 1)])
    assert len(path) == 2 and np.array_equal(path[-1][1], best)


def test_rounds_picture_colours_the_names():
    X, offsets, Y = demo.four_bags()
    figure = demo.rounds_picture()
    for ax, (Z, labels) in zip(figure.axes, demo.rounds(X / [1, 5], offsets, Y), strict=True):
        drawn = {to_hex(c.get_facecolor()[0]): len(c.get_offsets()) for c in ax.collections[:3]}
        counts = [np.count_nonzero(labels == c) for c in (0, 1, -1)]
        assert drawn == dict(zip(map(str.lower, (*COLORS[:2], COLORS[6])), counts, strict=True))
        assert_allclose(ax.collections[3].get_offsets(), Z)


# --- digits ----------------------------------------------------------------------------------


def test_bags_of_digits_do_not_overlap_the_test_digits():
    data, T, t = demo.digit_bags(500)
    assert len(data.instances) == 500 and data.labels.max() == 7
    assert 0.1 < np.mean(data.labels == -1) < 0.3
    assert set(np.diff(data.offsets)) <= {1, 2, 3, 4, 5, 6}
    known = {tuple(row) for row in data.instances}
    assert not known & {tuple(row) for row in T} and t.min() == 0


def test_bag_picture_shows_four_captions():
    labels = [ax.get_xlabel() for ax in demo.digits_in_bags().axes]
    assert labels == ["labels: {3, 7}", "labels: {0, 5}", "labels: {4, 6}", "labels: {1, 7}"]


def test_instances_known_is_mlca():
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(30, 4)), rng.integers(-1, 3, size=30)
    model = demo.from_instances(X, labels, 3)
    known = labels >= 0
    assert_allclose(model.components_, MLCA().fit(X[known], labels[known]).components_, atol=1e-12)
    kernel = demo.from_instances(X, labels, 3, linear_kernel)
    assert_array_equal(kernel.predict(X), model.predict(X))


def test_accuracy_is_that_of_the_nearest_centroid():
    rng = np.random.default_rng(3)
    X, y, A = rng.normal(size=(60, 3)), np.arange(60) % 3, rng.normal(size=(2, 3))
    nearest = NearestCentroid().fit(X @ A.T, y)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    assert demo.accuracy(A, means, X, y) == pytest.approx(nearest.score(X @ A.T, y))


def test_scenarios_rank_as_the_chapter_says():
    rows = demo.scenarios(2)
    assert [row[0][:3] for row in rows] == ["Euc", "(a)", "(b)", "(c)"]
    euclid, a, b, c = (numbers(row[2])[0] for row in rows)
    assert euclid < c <= b <= a
    assert rows[0][1] == rows[1][1] == "" and 5 < numbers(rows[2][1])[0] < numbers(rows[3][1])[0]


def test_the_full_kernel_does_not_move():
    few, n_rounds = demo.kernel_wrong_names(12, 300)
    all_of_them, stuck = demo.kernel_wrong_names(300, 300)
    assert few < 0.15 and n_rounds > 1
    assert all_of_them > 0.6 and stuck == 1


def test_kernel_curve_rises_to_random_names():
    ax = demo.kernel_ranks().axes[0]
    curve, random, linear = (np.asarray(line.get_ydata(), dtype=float) for line in ax.lines)
    assert curve.min() < linear[0] < random[0]
    assert abs(curve[-1] - random[0]) < 0.1


# --- the toy ---------------------------------------------------------------------------------


def test_toy_bags_are_as_described():
    toy = demo.toy_bags(4000, 3, unknown=0.25, seed=1)
    bags = toy.labels.reshape(-1, 3)
    assert np.mean(bags < 0) == pytest.approx(0.25, abs=0.02)
    for i in range(200):
        known = bags[i][bags[i] >= 0]
        assert len(set(known)) == len(known)
        assert_array_equal(np.flatnonzero(toy.Y[i]), np.sort(known))
    centres = np.array([toy.instances[toy.labels == c].mean(axis=0) for c in range(6)])
    assert_allclose(np.hypot(*centres[:, :2].T), 3, atol=0.1)
    clean = toy.Y.sum()
    missed = demo.toy_bags(4000, 3, unknown=0.25, missed=0.3, seed=1).Y
    assert np.all(missed <= toy.Y) and missed.sum() == pytest.approx(0.7 * clean, rel=0.03)
    added = demo.toy_bags(4000, 3, unknown=0.25, added=0.5, seed=1).Y
    assert np.all(added >= toy.Y) and 0.15 < (added.sum() - clean) / 4000 < 0.5


def test_whitened_accuracy_uses_the_metric_of_the_theorem():
    toy, test = demo.toy_bags(), demo.toy_bags(300, unknown=0, seed=99)
    model, scores = demo.toy_scores(toy)
    M = np.linalg.inv(toy.instances.T @ toy.instances)
    differences = test.instances[:, None] - model.centroids_
    distances = np.einsum("ncd,de,nce->nc", differences, M, differences)
    assert scores["whitened"] == pytest.approx(np.mean(distances.argmin(axis=1) == test.labels))
    assert scores["MLCA, truth"] >= scores["MIMLCA"] > 0.9


@pytest.mark.parametrize(
    "draw, arguments", [(demo.label_noise, (0.2, 1)), (demo.bags_and_strangers, (6, 0.2))]
)
def test_bars_and_caption_agree(draw, arguments):
    figure, caption = draw(*arguments)
    bars = [bar.get_width() for bar in figure.axes[1].patches]
    assert_allclose(numbers(caption)[-4:], bars, atol=0.005)


def test_explorers_tell_the_story():
    def mimlca(figure_and_caption):
        return numbers(figure_and_caption[1])[-3]

    assert mimlca(demo.bags_and_strangers(1, 0.4)) > 0.95
    assert mimlca(demo.bags_and_strangers(6, 0)) < 0.3 < mimlca(demo.bags_and_strangers(6, 0.2))
    one, other = mimlca(demo.label_noise(0.4, 0)), mimlca(demo.label_noise(0, 1))
    assert mimlca(demo.label_noise(0.4, 1)) < min(one, other) - 0.1
    assert "0% of these names are wrong" in demo.bags_and_strangers(1, 0)[1]


# --- α ---------------------------------------------------------------------------------------


def test_alpha_shrinks_the_rare_region():
    def accuracies(alpha, ratio):
        return numbers(demo.alpha_regions(alpha, ratio)[1])[4:6]

    rare, others = zip(*(accuracies(alpha, 16) for alpha in (0, 0.4, 1)), strict=True)
    assert rare[0] > rare[1] > rare[2] < 0.2
    assert others[0] <= others[1] <= others[2] + 0.01
    assert abs(accuracies(1, 1)[0] - accuracies(0, 1)[0]) < 0.03


def test_alpha_caption_says_what_the_curves_show():
    figure, caption = demo.alpha_regions(0.2, 4)
    assert isinstance(figure, Figure)
    assert caption.startswith("α = 0.2√n, sizes 1:4:4:")
    for line, said in zip(figure.axes[1].lines, numbers(caption)[4:6], strict=False):
        assert np.interp(0.2, line.get_xdata(), line.get_ydata()) == pytest.approx(said, abs=0.006)


def test_the_middle_of_a_perfect_fit():
    """Eq. 16 cuts half-way between two categories of a perfect fit for one α only."""
    sizes = np.array([2, 18])
    middle = 0.5 / np.sqrt(sizes)
    a, b = np.sqrt(sizes)
    alpha = 0.5 * a * b / (a + b)
    scores = middle - alpha / sizes
    assert scores[0] == pytest.approx(scores[1])
    X = np.repeat(np.eye(2), sizes, axis=0)
    model = demo.from_instances(X, np.repeat([0, 1], sizes), 2)
    for shift, expected in [(-0.01, [0]), (0.01, [1])]:
        point = [[0.5 - shift, 0.5 + shift]]
        assert_array_equal(model.predict(point, alpha=alpha), expected)
        assert_array_equal(model.predict(point), expected)
    assert_array_equal(model.predict([[0.49, 0.51]], alpha=0), [0])
