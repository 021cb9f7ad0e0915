"""Figures of the reproduction of Law et al. 2016."""

from matplotlib.figure import Figure

from mlbook.datasets import make_crossed_clusters
from mlbook.plots import scatter, subplots

__all__ = ["crossed_clusters"]


def crossed_clusters() -> Figure:
    """Draw a small sample of the data of Table 1, features 1 and 2, then 1 and 3."""
    X, y = make_crossed_clusters((40, 40, 40), random_state=0)
    figure, axes = subplots(1, 2, height=3.2)
    for ax, feature in zip(axes[0], (1, 2), strict=True):
        scatter(ax, X[:, [0, feature]], y)
        ax.set(xlabel="feature 1", ylabel=f"feature {feature + 1}")
    return figure
