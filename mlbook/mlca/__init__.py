"""Metric learning for cluster analysis in closed form (Law, Yu, Cord and Xing, CVPR 2016).

From rows X and their desired clusters, with normalized assignment matrix
J = Y(YᵀY)^(−1/2) and partition matrix C = JJᵀ, the metric of Theorem 3.2 is

    W = X†J,    M = WWᵀ = X†C(X†)ᵀ        (Law 2016, Eqs. 15-17),

that is, multivariate regression onto the normalized assignments. Under M the relaxed
k-means of Eq. 8 finds the desired clusters as nearly as any metric lets it, in the worst
case over ties (Eq. 13). In scatter matrices, M = S_t⁺ S_b S_t⁺ with S_t = XᵀX and
S_b = Σ_c n_c z_c z_cᵀ, z_c being the mean of class c: the algebra of linear
discriminant analysis, without centring.

Only a least-squares digest of the rows is ever needed, and digests of different rows can
be merged: hence `MLCA.partial_fit`, `MLCA.merge`, and Dask arrays.

The files: `estimators` (MLCA, BinaryMLCA), `closed_form` (Theorem 3.1 for any C), `risk` (what
it minimizes), `shrinkage` (towards the Euclidean metric) and `held_out` (how far), `class_digest`
(what is kept of labelled rows), `row_sample` (some of them), `dask_rows` (Dask's blocks),
`least_squares` (the solver).
"""

from mlbook.mlca.closed_form import closed_form_factor, closed_form_metric
from mlbook.mlca.estimators import MLCA, BinaryMLCA
from mlbook.mlca.held_out import SHRINKAGES
from mlbook.mlca.risk import structured_loss, worst_case_risk

__all__ = [
    "MLCA",
    "SHRINKAGES",
    "BinaryMLCA",
    "closed_form_factor",
    "closed_form_metric",
    "structured_loss",
    "worst_case_risk",
]
