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
from book.figures.reproduction import law2016
from mlbook import plots
from mlbook.kmeans import distortion, spectral_bound
from mlbook.partitions import partition_loss, rand_loss

pytestmark = pytest.mark.book


def numbers(caption: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+(?:\.\d+)?", caption)]


# --- plots -----------------------------------------------------------------------------------


def test_scatter_gives_every_cluster_its_own_colour_and_marker():
    _, axes = plots.subplots()
    labels = np.arange(8)
    plots.scatter(axes[0, 0], np.zeros((8, 2)), labels, centers=[[1, 1]])
    *clusters, centers = axes[0, 0].collections
    assert len({tuple(c.get_facecolor()[0]) for c in clusters}) == 8
    assert len({c.get_paths()[0].vertices.tobytes() for c in clusters}) == 8
    assert centers.get_offsets().tolist() == [[1, 1]]


def test_colours_stay_apart_for_the_colour_blind():
    """Simulated with the matrices of Machado et al. (2009): no two of the first five collide."""
    simulations = {
        "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
        "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
    }
    from matplotlib.colors import to_rgb

    rgb = np.array([to_rgb(c) for c in plots.COLORS[:5]]) ** 2.2  # to linear light
    for name, matrix in simulations.items():
        seen = np.clip(rgb @ np.array(matrix).T, 0, 1) ** (1 / 2.2)
        apart = np.linalg.norm(seen[:, None] - seen, axis=2) + np.eye(5)
        assert apart.min() > 0.15, name


def test_book_style_speaks_to_the_notebook(monkeypatch):
    calls = []

    class Shell:
        def run_line_magic(self, *arguments):
            calls.append(arguments)

    monkeypatch.setattr(plots, "get_ipython", Shell)
    with plots.mpl.rc_context():
        plots.book_style()
        assert plots.mpl.rcParams["svg.hashsalt"] == "mlbook"
    assert ("matplotlib", "inline") in calls
    assert any("svg" in argument for _, argument in calls)


# --- chapter 1 -------------------------------------------------------------------------------


def test_two_metrics_tell_the_story():
    wrong, right = (axes.get_title() for axes in demo.two_metrics().axes)
    assert numbers(wrong)[-1] > 1.5 and numbers(right)[-1] == 0


def test_static_figures_draw():
    pictures = demo.partition_pictures(np.array([0, 1, 0])), demo.free_and_contiguous()
    assert all(isinstance(p, Figure) and len(p.axes) == 2 for p in pictures)


def test_separation_caption_is_what_the_library_computes():
    _, caption = demo.separation_and_noise(separation=6, noise=1)
    X, y = demo.gaussians(3, separation=6, noise=1)
    model = KMeans(3, n_init=5, random_state=0).fit(X)
    bound = spectral_bound(X, 3)
    expected = [6, 1, round(model.inertia_), round(bound)]
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
    _, found, bounds = demo._curves(5)
    assert all(b <= f for f, b in zip(found, bounds, strict=True))
    assert bounds[0] == pytest.approx(found[0])
    _, caption = demo.bound_over_k(5, 5)
    assert numbers(caption)[:3] == [5, 5, round(found[4])]


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


def test_compare_roundings_reports_means_over_the_data_sets():
    rows = demo.compare_roundings([0.1], n_seeds=2)
    assert rows[-1][1:] == ("SpectralKMeans", "10", "0.00", "1.000")
    assert len(rows) == 6


def test_all_partitions_are_all():
    ours = list(demo.all_partitions(5))
    assert len(ours) == len(set(ours)) == 52


# --- reproduction of Law et al. 2016 -----------------------------------------------------------


def test_crossed_clusters_show_what_the_caption_says():
    """Feature 2 spreads ten times as far as the others, and category 3 lies higher in feature 3."""
    left, right = law2016.crossed_clusters().axes
    clouds = [c.get_offsets() for c in left.collections]
    tall, narrow = (np.ptp(np.vstack(clouds)[:, axis]) for axis in (1, 0))
    assert tall > 3 * narrow
    heights = [c.get_offsets()[:, 1].mean() for c in right.collections]
    assert heights[2] > max(heights[:2]) + 3
