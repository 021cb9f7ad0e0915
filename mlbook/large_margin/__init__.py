r"""Large-margin metric learning for partitioning problems (Lajugie, Bach and Arlot, ICML 2014).

Given sequences X_i and their true partitions, with matrices N_i, the metric B is learned by
minimizing the regularized structured hinge (Lajugie 2014, Eq. 9)

.. math::
    J(B) &= \sum_i w_i h_i(B) + \Omega(B), \\
    h_i(B) &= \max_M \bigl[\|M - N_i\|_F^2 \\
    &\quad + \mathrm{Tr}(X_i B X_i^\top (M - N_i)) \\
    &\quad - (\mathrm{Tr}\,M - \mathrm{Tr}\,N_i)\bigr],

the last term only when the number of clusters is learned with the metric. The maximum is over
all segmentations (structure "sequence": exact, by `mlbook.changepoints`) or over orthogonal
projectors (structure "spectral"), which can only be larger. h_i is convex in B and
at least the loss ‖M̂ − N_i‖² of the partition M̂ that B leads to.

In the paper, loss and score of a sequence of length T_i are both divided by T_i. Here that factor
is in the weights, w_i ∝ 1/T_i with Σ w_i = 1, so that h_i is in the units of the loss.

The regularizer Ω is dimensionless: it is applied to β_j = b_j s_j (to S^½ B S^½ for a full
metric), where s_j = Σ_i w_i × (squared deviations of feature j from its mean in X_i). Changing the
units of a feature changes nothing, and Σ β_j is the mean scatter under the metric, to be compared
with the penalty 1 of a cluster.

Each partition M ever found to attain a maximum gives a cut, h_i(B) ≥ o + ⟨G, B⟩ for all B, with
G = X_iᵀ(M − N_i)X_i. Any weighted mean of cuts (ō, Ḡ), with weights w_i for sequence i in total,
bounds J from below; for Ω(B) = r₁ Tr B + r₂/2 ‖B‖²,

.. math::
    J(B) &\ge \bar o \\
    &\quad - \|\Pi_+(-\bar G - r_1 I)\|_F^2 / (2 r_2)

for all B, with Π₊ the projection on the allowed metrics. This is the certificate of every
solver here.

The room holds:

- ``estimator.py``: `LargeMarginMetric`;
- ``learning.py``: its steps, each a function of sequences and labels;
- ``hinge.py``: h_i, the partitions that attain it, and their cuts;
- ``minimization.py``: cutting planes and subgradients, which know nothing but cuts;
- ``labels.py``: what is asked of training labels.
"""

from mlbook.large_margin.estimator import LargeMarginMetric
from mlbook.large_margin.hinge import structured_hinge

__all__ = [
    "LargeMarginMetric",
    "structured_hinge",
]
