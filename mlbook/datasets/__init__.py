"""Data sets of the papers: generators, bundled data, and loaders for data the user has.

A generator needs nothing. A bundled set lies under ``data/`` of the source tree. Some sets come
inside other packages (``data/packages.txt``, installed without their dependencies) and are read
from there. Sets that may not be passed on are read from a folder, given to the loader or below
the folder that the environment variable ``MLBOOK_DATA`` names; the error of a loader that finds
nothing says where the data can be had.
"""

from mlbook.datasets.bags import (
    BAG_SIZE_COUNTS,
    BagData,
    WeakBags,
    bags_from_labels,
    load_birds,
    load_corel5k,
    load_faces,
    load_yahoo_news,
    make_weak_bags,
)
from mlbook.datasets.gaussians import (
    CROSSED_CLUSTER_MEANS,
    NOISE_FEATURE_STD,
    make_crossed_clusters,
    make_noisy_gaussians,
)
from mlbook.datasets.grids import make_xor_grids
from mlbook.datasets.images import (
    COLLAGE_TEXTURES,
    LabelledImages,
    load_flowers,
    load_horses,
    make_texture_collages,
)
from mlbook.datasets.series import (
    CopyNumberProfile,
    hide_labels,
    load_neuroblastoma,
    load_watch,
    make_change_points,
)
from mlbook.datasets.tables import load_letters, load_libras
from mlbook.datasets.views import (
    DIGIT_VIEWS,
    IMAGE_FOLDERS,
    IMAGE_VIEWS,
    TEXTURES,
    distance_stack,
    image_views,
    load_image_folder,
    load_texture_patches,
    load_views,
)

__all__ = [
    "BAG_SIZE_COUNTS",
    "COLLAGE_TEXTURES",
    "CROSSED_CLUSTER_MEANS",
    "DIGIT_VIEWS",
    "IMAGE_FOLDERS",
    "IMAGE_VIEWS",
    "NOISE_FEATURE_STD",
    "TEXTURES",
    "BagData",
    "CopyNumberProfile",
    "LabelledImages",
    "WeakBags",
    "bags_from_labels",
    "distance_stack",
    "hide_labels",
    "image_views",
    "load_birds",
    "load_corel5k",
    "load_faces",
    "load_flowers",
    "load_horses",
    "load_image_folder",
    "load_letters",
    "load_libras",
    "load_neuroblastoma",
    "load_texture_patches",
    "load_views",
    "load_watch",
    "load_yahoo_news",
    "make_change_points",
    "make_crossed_clusters",
    "make_noisy_gaussians",
    "make_texture_collages",
    "make_weak_bags",
    "make_xor_grids",
]
