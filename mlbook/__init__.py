"""Learning to cluster: metrics learned from data that people have already grouped.

The names below are loaded when they are first used, so that ``import mlbook`` is light::

    from mlbook import MLCA, LargeMarginMetric, segment
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Where each public name lives: one line a room.
_ROOMS = {
    "partitions": ("contingency", "f_measure", "hausdorff_distance", "partition_loss", "rand_loss"),
    "kmeans": ("SpectralKMeans", "spectral_bound", "spectral_embedding", "trace_objective"),
    "mlca": ("MLCA", "BinaryMLCA", "closed_form_metric"),
    "exemplars": ("ExemplarClustering", "exemplar_energy", "exemplar_path"),
    "latent_crf": ("LatentExemplarMetric",),
    "dual_decomposition": ("DualDecompositionLearner",),
    "grid_crf": ("LatentGridCRF",),
    "bags": ("Bags", "bag_distances"),
    "mimlca": ("MIMLCA",),
    "changepoints": (
        "breakpoints_from_labels",
        "labels_from_breakpoints",
        "segment",
        "segment_matrix",
        "segmentation_path",
    ),
    "large_margin": ("LargeMarginMetric",),
    "baselines": ("KISSME", "RCA", "LDAMetric"),
    "ncuts": ("NormalizedCutMetric", "normalized_cut"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mlbook' has no attribute {name!r}")
    return getattr(import_module(f"mlbook.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
