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
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from book.figures import mimlca as demo
from book.figures import mimlca_digits as digits
from book.figures import mimlca_faces as faces
from book.figures import mimlca_rules as rules
from mlbook.bags import Bags
from mlbook.kmeans import distortion
from mlbook.mimlca import MIMLCA, own_clusters, weak_kmeans
from mlbook.mlca import MLCA
from mlbook.plots import COLORS

pytestmark = pytest.mark.book


def numbers(caption: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?", caption)]


# --- the worked example ----------------------------------------------------------------------


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


def test_tethers_lead_to_the_middle_of_the_bag():
    X, offsets, _ = demo.four_bags()
    V = X / [1, 5]
    lines = demo.rounds_picture().axes[0].lines
    assert len(lines) == len(V)
    for i in range(4):
        for j in range(offsets[i], offsets[i + 1]):
            ends = np.array(lines[j].get_data()).T
            assert_allclose(ends, [V[j], V[offsets[i] : offsets[i + 1]].mean(axis=0)])


def test_ellipses_are_those_of_the_metrics():
    circle, ellipse = (ax.lines for ax in demo.two_metrics().axes)
    second, first = circle[-1].get_data()
    assert_allclose(np.hypot(first, second), 2)
    second, first = ellipse[-2].get_data()
    norms = first**2 / 24 + second**2 / 600
    assert_allclose(norms, norms[0])


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
    labels = [ax.get_xlabel() for ax in digits.digits_in_bags().axes]
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


def test_scenarios_are_the_means_of_their_runs():
    rows, runs = digits.scenarios(2), digits.scenario_runs(2)
    assert [row[0][:3] for row in rows] == ["Euc", "(a)", "(b)", "(c)", "(b)"]
    assert rows[0][1] == rows[1][1] == ""
    for name, wrong, right in rows:
        assert numbers(right)[0] == pytest.approx(100 * runs[name][:, 1].mean(), abs=0.051)
        assert right.endswith("(2)")
        if wrong:
            assert numbers(wrong)[0] == pytest.approx(100 * runs[name][:, 0].mean(), abs=0.051)
    assert np.all(runs["(b) without strangers"][:, 0] < runs["(b) bag labels"][:, 0])
    assert np.all((runs["on strangers"] > 0.5) & (runs["on strangers"] <= 1))


def test_nearest_named_digit_is_a_nearest_neighbour():
    data, T, t = demo.digit_bags(seed=0)
    known = data.labels >= 0
    X, names = data.instances[known], data.labels[known]
    model = demo.from_instances(data.instances, data.labels, 8)
    neighbour = KNeighborsClassifier(1).fit(model.transform(X), names)
    expected = neighbour.score(model.transform(T), t)
    assert digits.scenario_runs(2)["nearest named digit"][0, 0] == pytest.approx(
        expected, abs=0.003
    )


def test_the_full_kernel_does_not_move():
    few, n_rounds = digits.kernel_wrong_names(12, 300)
    all_of_them, stuck = digits.kernel_wrong_names(300, 300)
    assert few < 0.15 and n_rounds > 1
    assert all_of_them > 0.6 and stuck == 1


def test_bags_of_one_leave_no_choice():
    small, paper = (digits.kernel_ways(sizes, 120, 2) for sizes in (False, True))
    assert np.all(small["no choice"] < 0.05) and np.all(paper["no choice"] > 0.2)
    stuck = "as printed, random start"
    assert np.all(paper[stuck][:, 0] < small[stuck][:, 0])
    low = "20 directions, then kernel"
    assert np.all(small[low][:, 0] < small[stuck][:, 0])


def test_kernel_curve_rises_to_random_names():
    ax = digits.kernel_ranks().axes[0]
    curve, random, linear = (np.asarray(line.get_ydata(), dtype=float) for line in ax.lines)
    assert curve.min() < linear[0] < random[0]
    assert abs(curve[-1] - random[0]) < 0.1


def test_few_directions_keep_digits_together_and_all_keep_nothing():
    few, every = (ax.images[0].get_array() for ax in digits.projectors(30).axes)
    assert_allclose(every, np.eye(30), atol=1e-8)
    assert np.trace(few) == pytest.approx(10)


# --- faces -----------------------------------------------------------------------------------


def test_photographs_can_be_solved_by_comparing_them():
    data = faces.bags_of_faces().data
    seen = [data.labels[data.offsets[i] : data.offsets[i + 1]] for i in faces.PUZZLE]
    names = [np.flatnonzero(data.Y[[i]].toarray()[0]) for i in faces.PUZZLE]
    for labels, own in zip(seen, names, strict=True):
        assert_array_equal(np.sort(labels[labels >= 0]), own)
    assert [set(seen[i]) & set(seen[j]) for i, j in [(0, 1), (0, 2), (1, 3)]] == [{13}, {20}, {15}]
    assert [[faces.NAMES[c] for c in own] for own in names] == [
        ["Nagy", "Ude"],
        ["Nagy", "Olsen", "Park"],
        ["Egli", "Ude"],
        ["Ito", "Park"],
    ]
    sizes = [len(labels) for labels in seen], [len(own) for own in names]
    assert sizes == ([3, 3, 2, 2], [2, 3, 2, 2])
    assert len(data.offsets) - 1 == len(data.Y.toarray()) > 80


def test_new_faces_are_not_among_those_learned_from():
    data, shown, T, t = faces.bags_of_faces()
    known = {tuple(row) for row in data.instances}
    assert not known & {tuple(row) for row in T} and set(t) == set(range(30))
    assert np.bincount(data.labels[data.labels >= 0]).tolist() == [7] * 30
    small = shown.reshape(-1, 28, 4, 23, 4).mean(axis=(2, 4)).reshape(len(shown), -1)
    assert_allclose(small, data.instances)


def test_the_lamp_is_brighter_to_one_side():
    dark, lit = (faces.bags_of_faces(lamp).shown for lamp in (0.0, 0.6))
    share = (lit / np.maximum(dark, 1e-9))[:, :, [0, 45, 91]].max(axis=1)
    assert_allclose(share.mean(axis=1), 1, atol=0.01)
    assert 0.5 < np.abs(share[:, 0] - 1).max() <= 0.6 + 1e-9


def test_stored_faces_are_measured_again():
    for lamp, seed in [(0.0, 3), (0.6, 0)]:
        found, stored = faces.measure(lamp, seed), faces.face_runs(lamp)
        assert set(found) == set(stored) == set(faces.METHODS)
        for name, values in found.items():
            assert_allclose(stored[name][seed], values, atol=0.012)
    assert all(len(rows) == 20 for lamp in faces.LAMPS for rows in faces.face_runs(lamp).values())


def test_the_mistakes_that_are_drawn_are_crossed_out():
    texts = [[t.get_text() for t in ax.texts] for ax in faces.names_found().axes]
    assert texts[:4] == [["Ude", "Nagy", "–"], ["Park", "Nagy", "Olsen"], ["Ude", "Egli"],
                         ["Park", "Ito"]]  # fmt: skip
    assert [sum("✗" in said for said in own) for own in texts[4:]] == [2, 2]


def test_the_bars_of_the_lamp_are_the_means():
    figure, caption = faces.light(0.4)
    bars = [bar.get_width() for bar in figure.axes[1].patches]
    assert_allclose(bars, [faces.face_runs(0.4)[name][:, 1].mean() for name in faces.METHODS])
    assert_allclose(numbers(caption)[-5:], bars, atol=0.006)


def test_without_the_faces_there_are_digits(monkeypatch):
    def missing(*_):
        raise ImportError("run pip install")

    monkeypatch.setattr(faces, "bags_of_faces", missing)
    for draw in (faces.photographs, faces.names_found):
        assert draw().axes[0].get_xlabel() == "labels: {3, 7}"
    assert "no faces here" in faces.light(0.2)[0].axes[0].texts[0].get_text()


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


def test_runs_of_the_toy_are_its_scores():
    found = demo.toy_runs(1, missed=0.2)[0]
    toy = demo.toy_bags(missed=0.2)
    model, scores = demo.toy_scores(toy)
    assert found[0] == demo.wrong_names(model.assignments_, toy.labels)
    ways = [scores[way] for way in ("MIMLCA", "whitened", "MLCA, truth")]
    assert_allclose(found[1:], ways, atol=0.003)


def test_wide_strangers_have_long_rows():
    usual, wide = demo.unnamed_runs(n_seeds=2), demo.unnamed_runs(3.0, 2)
    assert np.all(usual["unnamed"] > usual["named"])
    assert np.all(wide["wrong"] < usual["wrong"])
    assert np.all(wide["named"] < 0.5)


def test_starts_are_compared_on_the_same_bags():
    runs = demo.start_runs(2)
    assert list(runs) == ["weighted, 1", "unambiguous, 1", "random, 1", "random, 10"]
    assert np.all(runs["random, 10"][:, 1] <= runs["random, 1"][:, 1])


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
        return numbers(rules.alpha_regions(alpha, ratio)[1])[4:6]

    rare, others = zip(*(accuracies(alpha, 16) for alpha in (0, 0.4, 1)), strict=True)
    assert rare[0] > rare[1] > rare[2] < 0.2
    assert others[0] <= others[1] <= others[2] + 0.01
    assert abs(accuracies(1, 1)[0] - accuracies(0, 1)[0]) < 0.03


def test_alpha_caption_says_what_the_curves_show():
    figure, caption = rules.alpha_regions(0.2, 4)
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
        assert_array_equal(model.predict(point, weight=alpha), expected)
        assert_array_equal(model.predict(point), expected)
    assert_array_equal(model.predict([[0.49, 0.51]], weight=0), [0])


def test_cut_of_a_perfect_fit():
    """Beyond the middle by the ratio of the roots of the sizes."""
    for sizes in ([2, 18], [5, 5], [1, 48]):
        labels = np.repeat([0, 1], sizes)
        model = demo.from_instances(np.eye(2)[labels], labels, 2)
        large, rare = np.sqrt(sizes[1]), np.sqrt(sizes[0])
        assert rules.alpha_cut(model, 0, 1) == pytest.approx(large / (large + rare))


def test_left_out_scores_are_those_of_a_second_fit():
    X, labels = rules.alpha_toy(4, 40)
    J = np.eye(3)[labels] / np.sqrt(np.bincount(labels))
    left_out = demo.left_out_scores(X, labels, demo.from_instances(X, labels, 3))
    for j in (0, 11, 39):
        L = np.linalg.lstsq(np.delete(X, j, 0), np.delete(J, j, 0), rcond=None)[0]
        assert_allclose(left_out[j], X[j] @ L)


def test_the_own_share_of_centroids_grows_with_the_features():
    few, many = (rules.rules_on_digits("unequal", d, 3) for d in (40, 160))
    assert np.all(many.own > few.own + 0.1) and np.all(np.abs(many.new - few.new) < 0.15)
    assert np.all(many.scores > many.centroid) and np.all(many.left_out > many.centroid)
    assert all(np.all((part > 0) & (part < 1)) for part in (*few, *many))


def test_gains_are_drawn_over_the_number_of_features():
    left, right = rules.rule_gains().axes
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels[:2] == ["unequal sizes", "equal sizes"]
    unequal = np.asarray(left.containers[0].lines[0].get_ydata(), dtype=float)
    runs = [rules.rules_on_digits("unequal", d) for d in rules.FEATURES]
    assert_allclose(unequal, [100 * np.mean(r.scores - r.centroid) for r in runs])
    own, new, half = (np.asarray(line.get_ydata(), dtype=float) for line in right.lines)
    assert_allclose(half, own / 2)
    assert_allclose(new, [r.new.mean() for r in runs])


def test_empty_categories_lie_at_the_origin():
    without, kept, share = rules.empty_categories(3).T
    assert np.all(share > 0) and np.all(kept <= without)


def test_runs_of_alpha_are_predictions():
    runs = rules.alpha_runs(4, n_seeds=1)
    X, labels = rules.alpha_toy(4)
    model = demo.from_instances(X, labels, 3)
    T, t = rules.alpha_toy(1, 3000, seed=99)
    right = model.predict(T) == t
    assert_allclose(runs["centroid"][0], [right[t == 0].mean(), right[t > 0].mean()])
    own = model.transform(model.centroids_)[0, 0] * np.sqrt(model.category_count_[0])
    assert runs["fit"][0, 0] == pytest.approx(own)
    assert runs["cut"][0, 0] == pytest.approx(rules.alpha_cut(model, 0, 1))


def test_enumeration_finds_no_exception():
    held = demo.enumerated(3)
    assert set(held) == {"trace", "count", "theorem", "rows", "vacuous"}
    assert all(np.all(values) and len(values) >= 3 for values in held.values())
