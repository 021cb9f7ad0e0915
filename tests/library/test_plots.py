"""Figures of results: colours and markers keep clusters apart; nothing is drawn at import."""

import subprocess
import sys

import numpy as np
import pytest

from mlbook import exemplar_path, plots, segmentation_path


def test_plots_and_explore_import_no_plotting_or_notebook_package():
    heavy = {"matplotlib", "IPython", "ipywidgets", "PIL"}
    code = f"import sys, mlbook.plots, mlbook.explore; print({heavy} & sys.modules.keys())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_scatter_gives_every_cluster_its_own_colour_and_marker():
    pytest.importorskip("matplotlib")
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
    to_rgb = pytest.importorskip("matplotlib.colors").to_rgb

    rgb = np.array([to_rgb(c) for c in plots.COLORS[:5]]) ** 2.2  # to linear light
    for name, matrix in simulations.items():
        seen = np.clip(rgb @ np.array(matrix).T, 0, 1) ** (1 / 2.2)
        apart = np.linalg.norm(seen[:, None] - seen, axis=2) + np.eye(5)
        assert apart.min() > 0.15, name


# What is drawn


@pytest.fixture
def ax():
    pytest.importorskip("matplotlib")
    return plots.subplots()[1][0, 0]


def rgb(colour):
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


X = np.array([[0.0, 1.0, 9.0], [2.0, 3.0, 8.0], [4.0, 5.0, 7.0], [6.0, 7.0, 6.0]])


def test_partition_has_the_colour_of_the_cluster_and_the_marker_of_the_class(ax):
    from matplotlib.markers import MarkerStyle

    found, true = ["p", "q", "q", "p"], [7, 7, 3, 3]
    assert plots.plot_partition(X, found, true, ax, columns=(2, 0)) is ax
    for c, points in zip([3, 7], ax.collections, strict=True):
        rows = np.flatnonzero(np.array(true) == c)
        np.testing.assert_array_equal(points.get_offsets(), X[rows][:, [2, 0]])
        colours = [plots.COLORS["pq".index(found[row])] for row in rows]
        np.testing.assert_allclose(points.get_facecolor()[:, :3], [rgb(c) for c in colours])
        marker = MarkerStyle(plots.MARKERS[[3, 7].index(c)])
        outline = marker.get_path().transformed(marker.get_transform())
        np.testing.assert_allclose(points.get_paths()[0].vertices, outline.vertices)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["3", "7"]


def test_partition_without_truth_is_a_scatter_of_the_clusters(ax):
    plots.plot_partition(X, [5, 5, 9, 5], ax=ax)
    first, second = ax.collections
    np.testing.assert_array_equal(first.get_offsets(), X[[0, 1, 3], :2])
    np.testing.assert_array_equal(second.get_offsets(), X[[2], :2])
    assert ax.get_legend() is None


METRICS = {
    "2 x 2": ([[2.0, 0.9], [0.9, 0.5]], (0, 1)),
    "two of three features": ([[1.0, 0.2, 0.5], [0.2, 2.0, -1.0], [0.5, -1.0, 3.0]], (2, 0)),
    "very long": ([[1e8, 0.0], [0.0, 1e-3]], (1, 0)),
    "one direction": ([[1.0, 2.0], [2.0, 4.0]], (0, 1)),
    "one feature": ([[0.0, 0.0], [0.0, 9.0]], (0, 1)),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("radius", [1.0, 0.25])
def test_metric_is_drawn_at_its_distance(ax, name, radius):
    M, columns = METRICS[name]
    block = np.array(M)[np.ix_(columns, columns)]
    centre = np.array([3.0, -2.0])
    assert plots.plot_metric(M, ax, centre=centre, radius=radius, columns=columns) is ax
    singular = name.startswith("one")
    assert len(ax.lines) == (2 if singular else 1)
    for line in ax.lines:
        points = (
            np.array([line.get_xy1(), line.get_xy2()]) if singular else line.get_xydata()
        ) - centre
        squares = np.einsum("ni,ij,nj->n", points, block, points)
        np.testing.assert_allclose(squares, radius**2, rtol=1e-6)
        if not singular:  # all around, and closed
            angles = np.unwrap(np.arctan2(*np.linalg.cholesky(block).T[[1, 0]] @ points.T))
            assert abs(angles[-1] - angles[0]) == pytest.approx(2 * np.pi)
    if singular:
        sides = [np.array(line.get_xy1()) - centre for line in ax.lines]
        assert np.dot(*sides) < 0


@pytest.mark.parametrize("columns", [1, 2])
def test_segments_have_boundaries_between_points(ax, columns):
    series = np.arange(12.0).reshape(6, 2)[:, :columns]
    found, true = [0, 0, 0, 1, 1, 2], ["a", "b", "b", "b", "b", "a"]
    assert plots.plot_segments(series, found, true, ax) is ax
    values, boundaries = ax.lines[:columns], ax.lines[columns:]
    for column, line in zip(series.T, values, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), column)
    for label, cuts in (("found", [2.5, 4.5]), ("true", [0.5, 4.5])):
        colour = rgb(plots.INK if label == "found" else plots.COLORS[6])
        drawn = [line for line in boundaries if rgb(line.get_color()) == colour]
        assert [line.get_xdata() for line in drawn] == [[cut, cut] for cut in cuts]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["found", "true"]


def test_one_segment_has_no_boundary_and_no_legend(ax):
    plots.plot_segments([1.0, 2.0, 3.0], [4, 4, 4], ax=ax)
    assert len(ax.lines) == 1 and ax.get_legend() is None


def test_path_is_drawn_with_its_ends_and_its_longest_plateau(ax):
    series = np.array([[3.0], [1.0], [7.0], [8.0], [3.0], [1.0]])
    path = segmentation_path(series, 6)
    assert plots.plot_path(path, ax) is ax
    steps, longest = ax.lines
    x, y = steps.get_data()
    np.testing.assert_array_equal(y, np.repeat(path.counts, 2))
    np.testing.assert_allclose(x[1::2], path.low)
    np.testing.assert_allclose(x[2::2], path.high[1:])
    assert path.low[0] < x[0] < np.inf  # the first plateau has no end of its own
    plateau = path.longest
    np.testing.assert_allclose(
        longest.get_xydata(), [[plateau.low, plateau.count], [plateau.high, plateau.count]]
    )
    assert ax.get_xscale() == "log" and ax.get_ylabel() == "number of segments"
    assert f"longest plateau: {plateau.count}" in ax.get_legend().get_texts()[0].get_text()


def test_path_of_exemplars_with_a_plateau_down_to_zero(ax):
    x = np.repeat([0.0, 1.0, 5.0], 2)
    path = exemplar_path((x[:, None] - x) ** 2, 4, random_state=0)
    assert path.low[-1] == 0
    plots.plot_path(path, ax)
    assert 0 < ax.lines[0].get_xdata().min() < path.high[-1]
    assert ax.get_ylabel() == "number of clusters"


def test_axes_are_made_where_none_are_given():
    plt = pytest.importorskip("matplotlib.pyplot")
    before = set(plt.get_fignums())
    for axes in (
        plots.plot_partition(X, [0, 0, 1, 1]),
        plots.plot_metric(np.eye(2)),
        plots.plot_segments(X, [0, 0, 1, 1]),
    ):
        number = axes.figure.number
        assert number not in before and plt.fignum_exists(number)
        plt.close(axes.figure)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ax: plots.plot_partition(X[:, :1], [0, 0, 1, 1], ax=ax), "X|feature"),
        (lambda ax: plots.plot_partition(X, [0, 1], ax=ax), r"labels must hold .* 4 points"),
        (lambda ax: plots.plot_partition(X, [0] * 4, [1], ax=ax), "truth must hold one label"),
        (lambda ax: plots.plot_partition(X, [0] * 4, ax=ax, columns=(0, 3)), "columns must be"),
        (lambda ax: plots.plot_partition(X, [0] * 4, ax=ax, columns=0), "columns must be two"),
        (lambda ax: plots.plot_metric([1.0, 2.0], ax), r"M must be a matrix .* got shape \(2,\)"),
        (lambda ax: plots.plot_metric([[1.0, 2], [2, 1]], ax), "positive semidefinite"),
        (lambda ax: plots.plot_metric(np.zeros((2, 2)), ax), "M must not be zero"),
        (lambda ax: plots.plot_metric(np.eye(2), ax, centre=[0]), "centre must be two"),
        (lambda ax: plots.plot_segments([[[1.0]]], [0], ax=ax), "X|dim"),
        (lambda ax: plots.plot_segments(X, [0], ax=ax), "labels must hold"),
        (lambda ax: plots.plot_path(segmentation_path(X, 1), ax), "path must have a plateau"),
    ],
)
def test_figures_refuse_by_name(ax, call, message):
    with pytest.raises(ValueError, match=message):
        call(ax)
    assert not ax.lines and not ax.collections
