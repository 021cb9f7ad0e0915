"""Learning a distance for exemplar clustering (Komodakis 2011), as a latent CRF.

The distance d_pq = wᵀf_pq is to make the wanted partitions those of lowest energy

    E(x; w) = Σ_{p ≠ q} d_pq x_pq + Σ_q d_qq x_qq        (Komodakis 2011, Eqs. 2-6),

x_pq = 1 meaning that p belongs to exemplar q, by a margin Δ (Eq. 15). The exemplars of the
wanted clusters are latent. The price d_qq of an exemplar is a constant here, not part of w.

Minimizing E − Δ is decomposed into a slave for each point, which chooses its exemplar, and a
slave for each cluster, which chooses how many exemplars the cluster has (Eqs. 23-24). They
share the variables x_qq. Both are minimized in closed form (Lemma 2), all slaves of a
dataset at once. A configuration x is stored as the array of the n exemplars chosen by the n
points; an exemplar chooses itself.

The files of this room:

- ``energy.py``: the energy less the error, and the best exemplars of a partition;
- ``slaves.py``: the minima of the slaves;
- ``problem.py``: `ExemplarProblem`, a training set as `mlbook.dual_decomposition` wants it;
- ``pair_features.py``: the features f_pq, from points or from given distances;
- ``relaxation.py``: bounds on the relaxed minimum from n prices, and ``compiled.py``, their steps;
- ``learning.py``: the weights by cutting planes, with a proof of how good they are;
- ``choices.py``: price and regularization from halves of the training sets;
- ``estimator.py``: `LatentExemplarMetric`.

The paper's own learner (Section 5) takes any model that is decomposed into slaves. It lives in
`mlbook.dual_decomposition`, whose names can be imported from here too; `mlbook.grid_crf` is
another model for it.
"""

# The general learner, what it asks of a problem and the bounds, under the names of this room.
from mlbook.dual_decomposition import DualDecompositionLearner as DualDecompositionLearner
from mlbook.dual_decomposition import LatentProblem as LatentProblem
from mlbook.dual_decomposition import RelaxedLoss as RelaxedLoss
from mlbook.dual_decomposition import SlaveBatch as SlaveBatch
from mlbook.dual_decomposition import SlaveState as SlaveState
from mlbook.dual_decomposition import Tightened as Tightened
from mlbook.dual_decomposition import configuration_energy as configuration_energy
from mlbook.dual_decomposition import dual_value as dual_value
from mlbook.dual_decomposition import initial_multipliers as initial_multipliers
from mlbook.dual_decomposition import relaxed_loss as relaxed_loss
from mlbook.dual_decomposition import tighten as tighten
from mlbook.latent_crf.energy import (
    clustering_error,
    exemplars_of_partition,
    loss_augmented_potentials,
)
from mlbook.latent_crf.estimator import LatentExemplarMetric
from mlbook.latent_crf.problem import ExemplarProblem
from mlbook.latent_crf.slaves import cluster_slaves as cluster_slaves
from mlbook.latent_crf.slaves import point_slaves as point_slaves

__all__ = [
    "ExemplarProblem",
    "LatentExemplarMetric",
    "clustering_error",
    "exemplars_of_partition",
    "loss_augmented_potentials",
]
