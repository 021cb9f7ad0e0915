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
"""

from mlbook.ncuts.cuts import (
    NormalizedCutMetric,
    gaussian_affinity,
    grid_edges,
    normalized_cut,
    normalized_cut_bound,
    normalized_cut_value,
    spectral_hinge,
    squared_differences,
)

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
