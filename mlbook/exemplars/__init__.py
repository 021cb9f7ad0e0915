"""Exemplar clustering with a certificate: the energy, its dual bound, a search between the two.

Every cluster is represented by one of its points, its exemplar. A set Q of exemplars costs

    E(Q) = Σ_{p ∉ Q} min_{q ∈ Q} d_pq + Σ_{q ∈ Q} f_q        (Komodakis 2011, Eq. 1)

with d_pq the distance of point p to exemplar q and f_q the penalty of making q an exemplar
(d_qq in the paper). The number of clusters is not given: it comes out of the minimization.
The distances may be asymmetric or negative.

Eqs. 2-5 write the same problem as an integer program in x_pq, "p belongs to exemplar q", with
x_qq saying that q is an exemplar. A multiplier v_p for the constraint Σ_q x_pq = 1 leaves one
independent problem for every q: open it, with all the points it gains from, or not. Thus

    L(v) = Σ_p v_p + Σ_q min(0, f_q − v_q − Σ_{p ≠ q} (v_p − d_pq)₊)  ≤  E(Q)

for every v and every Q. The n numbers v are a certificate that anybody can check in O(n²).
The best of these bounds is the value of the linear programming relaxation of Eqs. 2-5, which
in clustering problems is mostly near the optimum. For distances without any geometry it is
not, and then no v can prove a small gap.

An exemplar pays its penalty only, even if another exemplar is at a negative distance from it.
For a facility location problem to say the same, "p to itself" must not cost more than "p to
q" for any q. The search therefore has costs c with c_pq = d_pq, c_pp = min(0, min_q d_pq), and
penalties f_p − c_pp: energies and bounds stay what they are.

The files of this room:

- ``energy.py``: the energy of a set of exemplars, the bound L(v), the range of useful penalties;
- ``solvers.py``: exemplars of low energy with their bound, by search or exactly;
- ``search.py``: the search itself, exemplars from above and multipliers v from below;
- ``compiled.py``: its loops once more, for numba;
- ``path.py``: the number of exemplars against their price;
- ``estimator.py``: `ExemplarClustering`.
"""

from mlbook.exemplars.energy import (
    exemplar_bound,
    exemplar_energy,
    exemplar_labels,
    penalty_range,
)
from mlbook.exemplars.estimator import ExemplarClustering
from mlbook.exemplars.path import ExemplarPath, exemplar_path
from mlbook.exemplars.solvers import (
    ExemplarSolution,
    improve_exemplars,
    solve_exemplars,
    solve_exemplars_exact,
)

__all__ = [
    "ExemplarClustering",
    "ExemplarPath",
    "ExemplarSolution",
    "exemplar_bound",
    "exemplar_energy",
    "exemplar_labels",
    "exemplar_path",
    "improve_exemplars",
    "penalty_range",
    "solve_exemplars",
    "solve_exemplars_exact",
]
