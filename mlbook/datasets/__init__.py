"""Data sets of the papers: generators, bundled data, and loaders for data the user has.

A generator needs nothing. Two tables are bundled: they lie under ``data/`` of the source tree, and
in the installed package. Some sets come inside other packages (``data/packages.txt``, installed
without their dependencies) and are read from there. Sets that may not be passed on are read from a
folder, given to the loader or below the folder that the environment variable ``MLBOOK_DATA`` names;
the error of a loader that finds nothing says where the data can be had.

The room holds:

- ``gaussians.py``: Gaussian clusters (Law 2016, Komodakis 2011);
- ``grids.py``: grids of nodes with labels, for models of images;
- ``series.py``: sequences cut into segments (Lajugie 2014);
- ``tables.py``: the bundled tables with classes (Lajugie 2014);
- ``images.py``: images with the class of every pixel (Law 2016, Lajugie 2014);
- ``views.py``: things seen through several features (Komodakis 2011);
- ``bags.py``: bags of instances with weak labels (Law 2017);
- ``_sources.py``: where the files of all these are found.
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
    TEXTURES,
    LabelledImages,
    load_flowers,
    load_horses,
    make_texture_collages,
)
from mlbook.datasets.series import (
    CopyNumberProfile,
    hide_labels,
    load_neuroblastoma,
    load_vowels,
    load_watch,
    make_change_points,
)
from mlbook.datasets.tables import load_letters, load_libras
from mlbook.datasets.views import (
    DIGIT_VIEWS,
    IMAGE_FOLDERS,
    TEXTURE_DIRECTIONS,
    GreyImages,
    load_image_folder,
    load_textures,
    load_views,
)

__all__ = [
    "BAG_SIZE_COUNTS",
    "COLLAGE_TEXTURES",
    "CROSSED_CLUSTER_MEANS",
    "DIGIT_VIEWS",
    "IMAGE_FOLDERS",
    "NOISE_FEATURE_STD",
    "TEXTURES",
    "TEXTURE_DIRECTIONS",
    "BagData",
    "CopyNumberProfile",
    "GreyImages",
    "LabelledImages",
    "WeakBags",
    "bags_from_labels",
    "hide_labels",
    "load_birds",
    "load_corel5k",
    "load_faces",
    "load_flowers",
    "load_horses",
    "load_image_folder",
    "load_letters",
    "load_libras",
    "load_neuroblastoma",
    "load_textures",
    "load_views",
    "load_vowels",
    "load_watch",
    "load_yahoo_news",
    "make_change_points",
    "make_crossed_clusters",
    "make_noisy_gaussians",
    "make_texture_collages",
    "make_weak_bags",
    "make_xor_grids",
]
