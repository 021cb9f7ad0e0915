"""Linear and integer programs of exemplar clustering, solved by HiGHS: what bounds can reach."""

from functools import cache
from itertools import product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from book.figures.latent_crf.shops import euclidean
from mlbook._arrays import Floats, Integers
from mlbook.latent_crf import (
    ExemplarProblem,
    configuration_energy,
    exemplars_of_partition,
    loss_augmented_potentials,
)

__all__ = [
    "KINDS",
    "augmented_minimum",
    "best_bound",
    "least_objective",
    "linear_gap",
    "most_from_offers",
    "plain_gap",
    "shuffled_gap",
    "tightness",
    "tightness_of",
]


def augmented_minimum(
    D: Floats, labels: Integers, penalty: float, *, alpha: float, beta: float, integral: bool
) -> float:
    """Minimum of the loss-augmented energy or of its relaxation, by HiGHS.

    Minimizes Σ ū_pq x_pq + α Σ_C (2 t_C − 1 − Σ_{q∈C} x_qq) − βn with x_pq ≤ x_qq ≤ t_C: at binary
    x_qq this is E − Δ of Komodakis 2011, Eq. 17, at fractional ones Eq. 26. With α = β = 0 it is
    the program of Eqs. 2-5. For few points.

    Examples
    --------
    >>> from book.figures.latent_crf.shops import cyclic_distances
    >>> D, y = cyclic_distances(), np.zeros(3, dtype=int)
    >>> options = {"penalty": 2.0, "alpha": 0.0, "beta": 0.0}
    >>> [round(augmented_minimum(D, y, integral=i, **options), 6) for i in (False, True)]
    [3.0, 4.0]
    """
    n, k = len(D), int(labels.max()) + 1
    U = loss_augmented_potentials(D, labels, penalty, beta)
    U[np.diag_indices(n)] -= alpha
    cost = np.concatenate([U.ravel(), np.full(k, 2.0 * alpha)])
    rows = np.kron(np.eye(n), np.ones(n))
    diagonal = np.tile(np.diag_indices(n)[0] * (n + 1), n)
    off = np.flatnonzero(diagonal != np.arange(n * n))
    below = np.zeros((len(off) + n, n * n + k))
    below[np.arange(len(off)), off] = 1
    below[np.arange(len(off)), diagonal[off]] = -1
    below[len(off) + np.arange(n), np.arange(n) * (n + 1)] = 1
    below[len(off) + np.arange(n), n * n + labels] = -1
    integrality = np.zeros(n * n + k)
    integrality[np.arange(n) * (n + 1)] = integral
    result = milp(
        cost,
        integrality=integrality,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(np.hstack([rows, np.zeros((n, k))]), 1, 1),
            LinearConstraint(below, -np.inf, 0),
        ],
    )
    return float(result.fun) - alpha * k - beta * n


KINDS = ("Gaussian, far apart", "Gaussian, overlapping", "random")


def _clusters(kind: str, seed: int, n: int) -> tuple[Floats, Integers]:
    """Distances of n points in three clusters, of one of the `KINDS`."""
    rng, labels = np.random.default_rng(seed), np.arange(n) % 3
    far = 4.0 if kind.endswith("apart") else 1.0
    X = rng.normal(size=(n, 2)) + far * np.array([[0, 0], [2, 0], [1, 2]])[labels]
    return (rng.uniform(0, 9, size=(n, n)) if kind == "random" else euclidean(X)), labels


@cache
def tightness_of(kind: str, n_seeds: int, n: int = 12) -> Floats:
    """Minima of Eq. 1 and of Eq. 1 with the loss, relaxed and exact, and the consistent energy.

    Returns one row per draw, f = 4 and α = β = 1: the relaxation of Eq. 1, its minimum, Eq. 26, its
    minimum, and the smallest energy of the true clusters.

    Examples
    --------
    >>> relaxed, exact, *_ = tightness_of("random", 1, 6)[0]
    >>> bool(relaxed <= exact + 1e-9)
    True
    """
    rows = []
    for seed in range(n_seeds):
        D, labels = _clusters(kind, seed, n)
        Q = exemplars_of_partition(D, labels)
        truth = 4.0 * len(Q) + sum(D[p, Q[c]] for p, c in enumerate(labels) if p != Q[c])
        minima = [
            augmented_minimum(D, labels, 4.0, alpha=a, beta=a, integral=integral)
            for a in (0.0, 1.0)
            for integral in (False, True)
        ]
        rows.append([*minima, truth])
    return np.array(rows)


def linear_gap(kind: str, seed: int, n: int = 12) -> float:
    """Gap of the relaxation with the loss Δ′ of the exercise, which has no absolute value.

    With α = β = 1 this is Eq. 1 again, with the penalty f + β − α = 4.

    Examples
    --------
    >>> abs(linear_gap("Gaussian, far apart", 0, 6)) < 1e-6
    True
    """
    D, labels = _clusters(kind, seed, n)
    return _relaxation_gap(loss_augmented_potentials(D, labels, 4.0, 1.0))


def plain_gap(kind: str, seed: int, n: int = 12) -> float:
    """Gap of the relaxation of Eq. 1, without a loss, f = 4.

    Examples
    --------
    >>> abs(plain_gap("Gaussian, far apart", 0, 6)) < 1e-6
    True
    """
    return _relaxation_gap(_clusters(kind, seed, n)[0])


def shuffled_gap(kind: str, seed: int, n: int = 12) -> float:
    """Gap of the relaxation of Eq. 1 if the distances are shuffled among the pairs, f = 4.

    Examples
    --------
    >>> shuffled_gap("Gaussian, overlapping", 0) >= -1e-6
    True
    """
    D, pairs = _clusters(kind, seed, n)[0], np.triu_indices(n, 1)
    shuffled = np.zeros_like(D)
    shuffled[pairs] = np.random.default_rng(1000 + seed).permutation(D[pairs])
    return _relaxation_gap(shuffled + shuffled.T)


def _relaxation_gap(D: Floats) -> float:
    one = np.zeros(len(D), dtype=int)
    relaxed, exact = (
        augmented_minimum(D, one, 4.0, alpha=0.0, beta=0.0, integral=i) for i in (False, True)
    )
    return exact - relaxed


def tightness(n_seeds: int, n: int = 12) -> list[tuple[str, ...]]:
    """Count how often a linear relaxation attains the minimum: Eq. 1, and Eq. 1 with the loss.

    Returns one row per kind of distance: in how many of `n_seeds` draws of n points in three
    clusters the relaxation of Eq. 1 is tight, the same for Eq. 26, and the mean of the relaxed
    hinge loss and of the true one.
    """
    rows: list[tuple[str, ...]] = []
    for kind in KINDS:
        relaxed, exact, relaxed_margin, margin, truth = tightness_of(kind, n_seeds, n).T
        counts = [np.sum(exact - relaxed < 1e-6), np.sum(margin - relaxed_margin < 1e-6)]
        losses = [(truth - low).mean() for low in (relaxed_margin, margin)]
        rows.append((kind, *map(str, counts), *(f"{loss:.1f}" for loss in losses)))
    return rows


def best_bound(D: Floats, penalty: Floats) -> float:
    """Compute max L(v), as a linear program in v_p, s_pq ≥ (v_p − d_pq)₊ and m_q ≤ min(0, r_q).

    Examples
    --------
    >>> from book.figures.latent_crf.shops import cyclic_distances
    >>> round(best_bound(cyclic_distances(), np.full(3, 2.0)), 6)
    3.0
    """
    n = len(D)
    pairs = [(p, q) for p in range(n) for q in range(n) if p != q]
    cost = np.concatenate([np.ones(n), np.zeros(len(pairs)), np.ones(n)])
    above, limits = np.zeros((len(pairs) + n, len(cost))), []
    for i, (p, q) in enumerate(pairs):  # v_p − s_pq ≤ d_pq, and s_pq in the sum of r_q
        above[i, [p, n + i]] = 1, -1
        above[len(pairs) + q, n + i] = 1
        limits.append(D[p, q])
    above[len(pairs) + np.arange(n), np.arange(n)] = 1
    above[len(pairs) + np.arange(n), n + len(pairs) + np.arange(n)] = 1
    bounds = [(None, None)] * n + [(0, None)] * len(pairs) + [(None, 0)] * n
    return -float(linprog(-cost, above, [*limits, *penalty], bounds=bounds).fun)


def most_from_offers(U: Floats, labels: Integers, alpha: float, beta: float) -> float:
    """Maximum of L(v) over all offers v, by a linear program in v, what they pay, r and t.

    Examples
    --------
    >>> from book.figures.latent_crf.shops import cyclic_distances
    >>> D, y = cyclic_distances() + 2 * np.eye(3), np.zeros(3, dtype=int)
    >>> round(most_from_offers(D, y, 0.0, 0.0), 6)
    3.0
    """
    n, k = len(U), int(labels.max()) + 1
    pairs = [(p, q) for p in range(n) for q in range(n) if p != q]
    m = len(pairs)
    pays, per_q, own = np.zeros((m, n)), np.zeros((n, m)), np.eye(k)[labels].T
    for row, (p, q) in enumerate(pairs):
        pays[row, p], per_q[q, row] = 1, 1
    A = np.vstack(
        [
            np.hstack([pays, -np.eye(m), np.zeros((m, n + k))]),  # v_p − ū_pq at most what is paid
            np.hstack([np.eye(n), per_q, np.eye(n), np.zeros((n, k))]),  # (r_q)₋ at most r_q
            np.hstack([np.zeros((k, n + m)), -own, np.eye(k)]),  # t_C at most 2α + Σ (r_q)₋
        ]
    )
    b = [*(U[p, q] for p, q in pairs), *(U.diagonal() - alpha), *np.full(k, 2 * alpha)]
    bounds = [(None, None)] * n + [(0, None)] * m + [(None, 0)] * (n + k)
    cost = -np.concatenate([np.ones(n), np.zeros(m + n), np.ones(k)])
    return -float(linprog(cost, A_ub=A, b_ub=b, bounds=bounds).fun) - alpha * k - beta * n


def least_objective(problem: ExemplarProblem, exemplars: Integers, tau: float) -> float:
    """Least τ Σ w + relaxed loss over all w ≥ 0, the exemplars kept: one linear program.

    Minus the minimum of Eq. 26 is the least of its dual, so weights and the multipliers of that
    program are minimized together.

    Examples
    --------
    >>> X, y = np.array([[0.0], [0.0], [9.0]]), np.array([0, 0, 1])
    >>> problem = ExemplarProblem(X, y, penalty=3.0)
    >>> least_objective(problem, problem.complete(np.ones(1), None), 0.0) >= 1 - 1e-6
    True
    """
    labels = np.asarray(problem.labels)
    n, k, F = len(labels), int(labels.max()) + 1, problem.n_features
    E0 = configuration_energy(problem, np.zeros(F), exemplars)
    U0 = problem.potentials(np.zeros(F)) - problem.alpha * np.eye(n)
    slopes: list[Floats] = []
    energies: list[float] = []
    for e in np.eye(F):
        moved = problem.potentials(e) - problem.alpha * np.eye(n) - U0
        slopes.append(np.append(moved, np.zeros(k)))
        energies.append(configuration_energy(problem, e, exemplars) - E0)
    cost = np.append(U0, np.full(k, 2 * problem.alpha))
    rows = np.hstack([np.kron(np.eye(n), np.ones(n)), np.zeros((n, k))])
    below = np.zeros((n * n, n * n + k))  # x_pq ≤ x_qq, and x_qq ≤ t_C
    for row, (p, q) in enumerate(product(range(n), repeat=2)):
        below[row, p * n + q] = 1
        below[row, q * n + q if p != q else n * n + labels[q]] = -1
    limits = np.concatenate([np.zeros(n * n), np.ones(n * n + k)])
    G = np.vstack([below, np.eye(n * n + k)])
    found = linprog(
        np.concatenate([tau + np.array(energies), -np.ones(n), limits]),
        A_ub=np.hstack([-np.array(slopes).T, rows.T, -G.T]),
        b_ub=cost,
        bounds=[(0, None)] * F + [(None, None)] * n + [(0, None)] * len(G),
    )
    return float(found.fun + E0 + problem.alpha * k + problem.beta * n)
