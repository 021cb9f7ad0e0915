"""Learning a distance for exemplar clustering (Komodakis 2011), as a latent CRF.

The distance d_pq = wᵀf_pq is to make the wanted partitions those of lowest energy

    E(x; w) = Σ_{p ≠ q} d_pq x_pq + Σ_q d_qq x_qq        (Komodakis 2011, Eqs. 2-6),

x_pq = 1 meaning that p belongs to exemplar q, by a margin Δ (Eq. 15). The exemplars of the
wanted clusters are latent. The price d_qq of an exemplar is a constant here, not part of w.

Minimising E − Δ is decomposed into a slave for each point, which chooses its exemplar, and a
slave for each cluster, which chooses how many exemplars the cluster has (Eqs. 23-24). They
share the variables x_qq. Both are minimised in closed form (Lemma 2), all slaves of a
dataset at once. A configuration x is stored as the array of the n exemplars chosen by the n
points; an exemplar chooses itself.

The learner itself (`DualDecompositionLearner`, Section 5) takes any model that is decomposed
into slaves; `ExemplarProblem` is clustering, `mlbook.grid_crf` another.
"""

from mlbook.latent_crf.estimator import (
    DualDecompositionLearner,
    ExemplarProblem,
    LatentExemplarMetric,
    LatentProblem,
    RelaxedLoss,
    SlaveBatch,
    SlaveState,
    Tightened,
    cluster_slaves,
    clustering_error,
    configuration_energy,
    dual_value,
    exemplars_of_partition,
    initial_multipliers,
    loss_augmented_potentials,
    point_slaves,
    relaxed_loss,
    tighten,
)

__all__ = [
    "DualDecompositionLearner",
    "ExemplarProblem",
    "LatentExemplarMetric",
    "LatentProblem",
    "RelaxedLoss",
    "SlaveBatch",
    "SlaveState",
    "Tightened",
    "cluster_slaves",
    "clustering_error",
    "configuration_energy",
    "dual_value",
    "exemplars_of_partition",
    "initial_multipliers",
    "loss_augmented_potentials",
    "point_slaves",
    "relaxed_loss",
    "tighten",
]
