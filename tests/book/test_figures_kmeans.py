"""The chapters' figures draw, and their captions say what the library computes."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
import enumeration
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

from book.figures import kmeans as demo
from book.figures import kmeans_opening as opening
from book.figures import kmeans_steps as steps
from book.figures.reproduction import law2016
from book.spread import mean_of
from mlbook.kmeans import SpectralKMeans, distortion, spectral_bound, trace_objective
from mlbook.partitions import equivalence_matrix, partition_loss, rand_loss

pytestmark = pytest.mark.book


def numbers(caption: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?", caption)]


# --- chapter 1 -------------------------------------------------------------------------------


def test_two_metrics_tell_the_story():
    wrong, right = (axes.get_title() for axes in demo.two_metrics().axes)
    assert numbers(wrong)[-1] > 1.5 and numbers(right)[-1] == 0


def test_static_figures_draw():
    pictures = demo.partition_pictures(np.array([0, 1, 0])), demo.free_and_contiguous()
    assert all(isinstance(p, Figure) and len(p.axes) == 2 for p in pictures)


def test_noise_caption_is_what_the_library_computes():
    _, caption = demo.noise_of_clouds(1)
    X, y = demo.gaussians(3, separation=6, noise=1)
    model = KMeans(3, n_init=5, random_state=0).fit(X)
    bound = spectral_bound(X, 3)
    expected = [1, round(model.inertia_), round(bound)]
    expected += [round(100 * (1 - bound / model.inertia_), 1)]
    expected += [round(partition_loss(y, model.labels_), 2)]
    assert numbers(caption) == expected


def test_swallowed_cluster_shows_that_rand_looks_away():
    _, caption = demo.swallowed_cluster((20, 20, 400), share=1.0)
    delta, rand = numbers(caption)[-3:-1]
    truth = np.repeat([0, 1, 2], [20, 20, 400])
    found = np.maximum(truth, 1)
    assert delta == partition_loss(truth, found) == 1
    assert rand == round(rand_loss(truth, found), 3) < 0.01


def test_bound_over_k_stays_below_what_was_found():
    found, bounds, _ = demo.clusters_and_gaps(5)
    assert all(b <= f for f, b in zip(found, bounds, strict=True))
    assert bounds[0] == pytest.approx(found[0])
    figure, caption = demo.bound_over_k(5, 5)
    assert numbers(caption)[:3] == [5, 5, round(found[4])]
    assert len(figure.axes[0].collections) == 5
    other, _ = demo.bound_over_k(4, 5)
    assert len(other.axes[0].collections) == 4
    here, there = (
        {tuple(point) for point in drawn.axes[0].collections[0].get_offsets()}
        for drawn in (figure, other)
    )
    assert here <= there  # the first of five clusters is inside the first of four


def test_best_segmentation_is_the_best_of_all():
    X = demo.steps()[:9]
    best = min(distortion(X, np.array(s)) for s in enumeration.segmentations_into(9, 3))
    assert distortion(X, demo.best_segmentation(X, 3)) == best


def test_free_partition_on_a_line_is_a_segmentation_of_the_sorted_values():
    """What free_and_contiguous relies on, by enumeration."""
    X = np.random.default_rng(3).normal(size=(7, 1))
    best = min(distortion(X, np.array(p)) for p in enumeration.partitions_into(7, 3))
    X = np.sort(X, axis=0)
    assert distortion(X, demo.best_segmentation(X, 3)) == pytest.approx(best)


def test_rounding_table_shows_means_over_the_data_sets():
    header, rows = demo.rounding_table([0.1], n_seeds=2)
    assert len(rows) == 3 and {len(row) for row in rows} == {len(header)}
    found = demo.roundings(0.1, 2)
    mean, error, n = mean_of(found["rows of ĈX", "1 random"][:, 0])
    assert n == 2
    assert rows[2][1:3] == ("rows of ĈX", f"{mean:.2f} ± {error:.2f}")
    assert rows[2][4:] == ("0.00 ± 0.00", "1.000")


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_the_projected_data_are_those_of_spectral_kmeans(seed):
    """The table's third way is the library's, only with a choice of starts."""
    X, _ = demo.gaussians(5, separation=6, noise=1.5, seed=seed)
    ours = demo._rounded(X, KMeans(5, n_init=10, random_state=seed))
    library = SpectralKMeans(5, n_init=10, random_state=seed).fit_predict(X)
    assert partition_loss(ours, library) == pytest.approx(0)


def test_gap_is_that_of_a_polished_partition():
    X, y = demo.gaussians(3, separation=9, noise=1)
    assert demo.gap(X, y) == pytest.approx(1 - spectral_bound(X, 3) / distortion(X, y))
    wrong = np.where(np.arange(len(y)) == 0, 1, y)
    assert demo.gap(X, wrong) == pytest.approx(demo.gap(X, y))


def test_clouds_made_round_keep_sizes_means_and_scatter():
    X, y = demo.gaussians(3, separation=6, noise=1, n_per_cluster=4000)
    X[:, 0] *= 5
    Z = demo.made_round(X, y, seed=0)
    assert distortion(Z, y) == pytest.approx(distortion(X, y), rel=0.02)
    within = Z - np.array([Z[y == c].mean(axis=0) for c in range(3)])[y]
    assert np.ptp(within.var(axis=0)) < 0.2 * within.var()
    for c in range(3):
        assert Z[y == c].mean(axis=0) == pytest.approx(X[y == c].mean(axis=0), abs=0.15)


def test_peak_memory_sees_an_array():
    assert demo.peak_memory(lambda: np.ones(10**6)) == pytest.approx(8e6, rel=0.01)


def test_all_partitions_are_all():
    ours = list(demo.all_partitions(5))
    assert len(ours) == len(set(ours)) == 52


# --- chapter 1: coins, Lloyd's rounds, the circle, the price ------------------------------------


def test_coins_are_found_under_the_learned_metric_alone():
    _, X, y = opening.coins()
    assert X.std(axis=0) == pytest.approx([1, 1]) and 0.3 < y.mean() < 0.4
    learned = opening.learned_metric(opening.marked_pixels())
    wrong = [np.mean(opening.groups(M) != y) for M in (opening.PLAIN, opening.BRIGHTNESS, learned)]
    assert wrong[0] > 0.3 > wrong[1] > 0.08 > 0.03 > wrong[2]


def test_marked_pixels_are_as_many_of_each_and_different():
    marked = opening.marked_pixels(3, 10)
    assert np.bincount(opening.coins().y[marked]).tolist() == [10, 10]
    assert len(set(marked)) == 20


def test_pictures_of_the_coins_show_groups_and_ellipses():
    pictures = opening.four_pictures().axes
    assert pictures[0].get_title() == "photograph"
    shown = np.asarray(pictures[1].images[0].get_array()).ravel()
    assert np.array_equal(shown, opening.groups(opening.PLAIN))
    left, right = opening.two_ellipses().axes
    x, y = left.lines[0].get_data()
    assert np.ptp(x) == pytest.approx(np.ptp(y)) == pytest.approx(1.6)
    assert len(right.lines) >= 2  # two sides of an ellipse without end


def test_lloyd_rounds_end_where_kmeans_does_and_never_rise():
    X, _ = steps.three_clouds()
    for start in steps.STARTS.values():
        rounds = steps.lloyd_rounds(X, X[list(start)], 20)
        costs = [found.cost for found in rounds]
        assert max(np.diff(costs)) < 1e-9
        same = KMeans(3, init=X[list(start)], n_init=1, tol=0).fit(X)
        assert costs[-1] == pytest.approx(same.inertia_)
        assert costs[-1] == pytest.approx(distortion(X, rounds[-1].labels))


def test_the_two_starts_are_what_their_names_say():
    _, y = steps.three_clouds()
    first, second = (sorted(y[list(start)]) for start in steps.STARTS.values())
    assert first == [0, 1, 2] and len(set(second)) == 2


@pytest.mark.parametrize("start", steps.STARTS)
def test_captions_of_the_steps_differ_and_say_the_cost(start):
    X, _ = steps.three_clouds()
    rounds = steps.lloyd_rounds(X, X[list(steps.STARTS[start])], 8)
    captions = [steps.lloyd_step(step, start)[1] for step in steps.STEPS]
    assert len(set(captions)) == len(captions)
    assert start in captions[0]
    assert [numbers(c)[-1] for c in captions[1:]] == [round(r.cost, 1) for r in rounds]
    assert "no point changes" in captions[7] and "no mean moves" in captions[8]


def test_circle_holds_the_partitions_of_three_points():
    for i, labels in enumerate(steps.PAIRS.values()):
        found = steps.on_the_circle(2 * np.pi * i / 3)
        assert found == pytest.approx(equivalence_matrix(labels))
    C = steps.on_the_circle(1.0)
    assert pytest.approx(C) == C @ C and C.sum(axis=1) == pytest.approx(np.ones(3))
    assert C.trace() == pytest.approx(2) and C.min() < 0


@pytest.mark.parametrize("place", [-3.0, -0.5, 2.0])
def test_caption_of_three_points_is_what_the_library_computes(place):
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [place, 1.2]])
    traces = {name: trace_objective(X, labels) for name, labels in steps.PAIRS.items()}
    best = max(traces, key=traces.get)
    most = np.sum(X**2) - spectral_bound(X, 2)
    _, caption = steps.three_points(place)
    assert f"is {best}, with trace {traces[best]:.2f}" in caption
    assert numbers(caption)[-1] == round(most, 2)


def test_price_keeps_eigenvalues_and_buys_clusters():
    mu, found = steps.clusters_bought()
    assert found[0] == pytest.approx(mu.sum())
    for price in (200, 600, 1800):
        relaxed, bought, bound, cost = steps.eigenvalues_kept(price)
        costs = [d + price * k for k, d in enumerate(found, start=1)]
        assert relaxed == 1 + sum(m > price for m in mu)
        assert cost == pytest.approx(min(costs)) and bought == 1 + costs.index(min(costs))
        assert (
            bound == pytest.approx(price + sum(min(m, price) for m in mu)) and bound <= cost + 1e-6
        )
    _, caption = steps.price_of_a_cluster(600)
    assert numbers(caption)[:4] == [600, 4, 5, 5]


# --- reproduction of Law et al. 2016 -----------------------------------------------------------


def test_crossed_clusters_show_what_the_caption_says():
    """Feature 2 spreads ten times as far as the others, and category 3 lies higher in feature 3."""
    left, right = law2016.crossed_clusters().axes
    clouds = [c.get_offsets() for c in left.collections]
    tall, narrow = (np.ptp(np.vstack(clouds)[:, axis]) for axis in (1, 0))
    assert tall > 3 * narrow
    heights = [c.get_offsets()[:, 1].mean() for c in right.collections]
    assert heights[2] > max(heights[:2]) + 3
