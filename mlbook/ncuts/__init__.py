"""Normalized cuts, and the metric of their Gaussian affinities (Lajugie 2014, Section 5.1).

A graph with affinities W ≥ 0 is cut into k parts. With degrees D = Diag(W1), the normalized
cut of a partition with assignment matrix Y is the sum over its parts of the affinity that leaves
the part, relative to all the affinity of its nodes::

    NCut = Σ_c cut(c) / vol(c) = k − Tr(M̃W̃)
    W̃ = D^(−½) W D^(−½),    M̃ = D^½ Y (YᵀDY)⁻¹ Yᵀ D^½

M̃ is a projector of rank k; among all such projectors the k leading eigenvectors of W̃ give the
smallest value, a bound from below and the coordinates from which a partition is rounded (Shi and
Malik 2000; Bach and Jordan 2004). For images W holds only pairs of nearby pixels, and nothing
here forms an n × n matrix from it, beyond a few hundred nodes.

Where the affinities are exp(−Σ_p b_p (x_ip − x_jp)²), the weights b can be learned from
partitions that are known: `NormalizedCutMetric`.

The room holds:

- ``cuts.py``: the value of a cut, its bound, and a good cut;
- ``eigenvectors.py``: leading eigenvectors, also where a graph is nearly in pieces;
- ``affinities.py``: pairs of pixels, and affinities on them;
- ``hinge.py``: the loss that learning minimizes;
- ``estimator.py``: `NormalizedCutMetric`.
"""

from mlbook.ncuts.affinities import gaussian_affinity, grid_edges, squared_differences
from mlbook.ncuts.cuts import normalized_cut, normalized_cut_bound, normalized_cut_value
from mlbook.ncuts.estimator import NormalizedCutMetric
from mlbook.ncuts.hinge import spectral_hinge

__all__ = [
    "NormalizedCutMetric",
    "gaussian_affinity",
    "grid_edges",
    "normalized_cut",
    "normalized_cut_bound",
    "normalized_cut_value",
    "spectral_hinge",
    "squared_differences",
]
