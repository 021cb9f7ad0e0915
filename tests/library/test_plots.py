"""Figures of results: colours and markers keep clusters apart; nothing is drawn at import."""

import subprocess
import sys

import numpy as np
import pytest

from mlbook import plots


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
