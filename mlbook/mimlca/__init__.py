"""Metric learning from weakly labelled bags (Law, Yu, Urtasun, Zemel and Xing, CVPR 2017).

Bags of instances carry sets of labels; which instance has which label is not known. A
feasible assignment H gives each instance at most one category, uses each candidate label of a
bag at most once, and assigns as many instances of a bag as that allows (Law 2017, Eq. 2).
Algorithm 1 of the paper then is

1. a thin singular value decomposition X = USVᵀ, of which only U is used;
2. k-means on the rows of U over the feasible assignments (Eq. 12): `weak_kmeans`;
3. `mlbook.mlca.MLCA` on the assigned rows (step 11).

Theorem 2.1 says that an optimal assignment of step 2 solves the relaxed max-min problem of
Eq. 10, whose metric is X†(X†)ᵀ. Step 3 is a second, separate fit: metric and assignment are
not optimized jointly, and step 2 finds a local optimum.

U forgets the scale of the features: directions that hold nothing but noise count as much as
any other. If U has as many columns as rows it forgets the data altogether: UUᵀ = I, and all
assignments that use equally many categories are equally good. So it is with an invertible
kernel matrix and the method as printed. Hence `rank` and `rtol`: everything here is done
in the leading r singular directions, as if X, or the kernel matrix, were replaced by its best
approximation of rank r.

The files: `estimator` (MIMLCA), `assignments` (Eqs. 12-13), `choices` (what is feasible, Eq. 2),
`basis` (U), `kernels`, and `relaxation` (Eqs. 3-7 and 10 by enumeration).
"""

from mlbook.mimlca.assignments import WeakKMeans, assign_instances, weak_kmeans
from mlbook.mimlca.estimator import MIMLCA
from mlbook.mimlca.kernels import chi2_rbf_kernel
from mlbook.mimlca.relaxation import feasible_assignments, own_clusters, relaxed_overlap

__all__ = [
    "MIMLCA",
    "WeakKMeans",
    "assign_instances",
    "chi2_rbf_kernel",
    "feasible_assignments",
    "own_clusters",
    "relaxed_overlap",
    "weak_kmeans",
]
