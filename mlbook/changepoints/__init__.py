r"""Change points: the best cut of a sequence into segments, exactly, by dynamic programming.

A segmentation of n points into contiguous segments is a partition with matrix M (Lajugie 2014,
Section 2.2): M[i, j] is one over the length of their segment when points i and j share one, and 0
otherwise. All problems here maximize Tr(AM) for a symmetric A (Lajugie 2014, Section 2.3), which
is a sum over the segments [s, u) of

.. math:: f(s, u) = \frac{1}{u - s} \sum_{i, j = s}^{u - 1} A_{ij}.

With the best value V(s) for the first s points, V(u) = max_s V(s) + f(s, u), V(0) = 0; when the
number of segments is given, V has it as a second argument. (Algorithm 1 of the paper, as
printed, does not compute this maximum.)

=====================================  ==========================================================
A                                      maximizing Tr(AM) means
=====================================  ==========================================================
XBXᵀ, number of segments given         least distortion under the metric B (Eq. 5)
XBXᵀ − λI                              least distortion + λ × number of segments (Eqs. 4 and 6)
XBXᵀ − 2N + (1 − λ)I                   the segmentation a large-margin learner fears most when N
                                       is the truth (Section 4.2)
=====================================  ==========================================================

A is never formed when it comes from data: with cumulative sums c of the centred points,
f(s, u) = ‖c(u) − c(s)‖²/(u − s), and the overlap of a segment with a segmentation N takes O(1).
Ends are worked on in blocks, so that most of the time is spent in matrix products.

Pruning. Let cutting a segment in two never lower the sum of f by more than κ. If, without the
penalty of the last segment, V(s) + f(s, t) + κ ≤ V(t), then for every end u > t starting the
last segment at t is at least as good as starting it at s, and s can be forgotten (Killick et al.
2012). κ = 0 for A = XBXᵀ; A = XBXᵀ − γN has κ = γ, because what a cut adds to Tr(NM) is vᵀNv
with a unit vector v. No pruning is done for a general A.

The room holds:

- ``segmentation.py``: the functions that cut a sequence, and Hermite features;
- ``labels.py``: runs of labels, lists of breakpoints, and constraints from what is known;
- ``search.py``: scores of segments and the dynamic programming over them;
- ``compiled.py``: the same searches by numba, where it is installed.
"""

from mlbook.changepoints.labels import (
    SegmentConstraints,
    breakpoints_from_labels,
    constraints_from_intervals,
    constraints_from_labels,
    labels_from_breakpoints,
    segment_starts,
)
from mlbook.changepoints.segmentation import (
    SegmentationPath,
    hermite_features,
    loss_augmented_segment,
    segment,
    segment_matrix,
    segmentation_path,
)

__all__ = [
    "SegmentConstraints",
    "SegmentationPath",
    "breakpoints_from_labels",
    "constraints_from_intervals",
    "constraints_from_labels",
    "hermite_features",
    "labels_from_breakpoints",
    "loss_augmented_segment",
    "segment",
    "segment_matrix",
    "segment_starts",
    "segmentation_path",
]
