"""Small problems of exemplar clustering, and their optima by enumeration."""

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics import pairwise_distances


def cases():
    """Small instances with what can go wrong: (D, penalty) by name."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    D = pairwise_distances(X, metric="sqeuclidean")
    random = rng.random((8, 8))
    ties = rng.integers(0, 3, (8, 8)).astype(float)
    signed = rng.normal(size=(8, 8))
    forbidden = np.where(np.arange(8) % 3, 0.4, np.inf)
    far = np.where(rng.random((8, 8)) < 0.3, 1e30, random)
    return {
        "squared Euclidean": (D, 1.0),
        "Euclidean, 9 points": (pairwise_distances(rng.normal(size=(9, 2))), 0.8),
        "per-point penalties": (D, rng.random(8) * 3),
        "asymmetric": (random, 0.4),
        "asymmetric, per-point penalties": (random, rng.random(8)),
        "negative entries": (signed, 0.5),
        "negative entries and penalties": (signed, rng.normal(size=8)),
        "all negative": (signed - 9, rng.normal(size=8) - 5),
        "all exemplars, each as near to another as to itself": (-np.ones((5, 5)), -5.0),
        "ties": (ties, 2.0),
        "more ties": (np.ones((7, 7)), 1.0),
        "all zero": (np.zeros((6, 6)), 0.0),
        "all zero, a price": (np.zeros((6, 6)), 1.0),
        "duplicates": (np.repeat(np.repeat(D[:4, :4], 2, axis=0), 2, axis=1), 0.5),
        "no penalty": (D, 0.0),
        "negative penalty": (D, -1.0),
        "huge penalty": (D, 1e9),
        "forbidden exemplars": (random, forbidden),
        "forbidden pairs": (far, 0.4),
        "diagonal of rubbish": (random + np.diag([np.nan, np.inf, -9, 9, 0, 1, 2, 3]), 0.4),
        "float32": (random.astype(np.float32), 0.3),
        "tiny": (D * 1e-200, 1e-200),
        "large offset": (random + 1e6, 1e6 + 0.4),
        "integers": (rng.integers(0, 9, (7, 7)), 5),
        "two points": (np.array([[0.0, 1.0], [2.0, 0.0]]), 3.0),
        "single point": (np.array([[7.0]]), 3.0),
    }


CASES = cases()


every_case = pytest.mark.parametrize(("D", "penalty"), CASES.values(), ids=CASES)


def exemplar_sets(n):
    """Every non-empty set of points."""
    return map(list, chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1)))


def exact_energy(D, Q, penalty):
    """Eq. 1 word for word, as an exact fraction (inf where an exemplar is forbidden)."""
    f = np.broadcast_to(penalty, len(D))
    if np.isinf(f[Q]).any():
        return np.inf
    rest = [p for p in range(len(D)) if p not in Q]
    nearest = (min(Fraction(float(D[p, q])) for q in Q) for p in rest)
    return sum(nearest, Fraction(0)) + sum(Fraction(float(f[q])) for q in Q)


def optimum(D, penalty):
    """Least energy over all sets, exactly, and a set that has it."""
    f = np.broadcast_to(penalty, len(D))
    D = D.astype(float)
    self_cost = np.where(np.isfinite(f), f, 1e300)

    def approximate(Q):
        cost = D[:, Q].min(axis=1)
        cost[Q] = self_cost[Q]
        return cost.sum(), np.abs(cost).sum()

    sets = list(exemplar_sets(len(D)))
    energies, sizes = np.array([approximate(Q) for Q in sets]).T
    least = energies.argmin()
    near = np.flatnonzero(energies <= energies[least] + 1e-12 * sizes[least])
    return min(((exact_energy(D, sets[i], f), sets[i]) for i in near), key=lambda item: item[0])


def scale(D, penalty):
    """Size of the numbers that make up an energy: rounding is relative to it."""
    _, Q = optimum(D, penalty)
    rest = np.setdiff1d(np.arange(len(D)), Q)
    used = np.abs(D[np.ix_(rest, Q)].min(axis=1)).sum() if len(rest) else 0.0
    return float(used + np.abs(np.broadcast_to(penalty, len(D))[Q]).sum())


def lp_value(D, penalty):
    """Linear programming relaxation of Komodakis 2011, Eqs. 2-5, with all n² variables."""
    n = len(D)
    cost = np.array(D, dtype=float)
    np.fill_diagonal(cost, penalty)
    pairs = [(p, q) for p in range(n) for q in range(n) if p != q]
    at_most = np.zeros((len(pairs), n * n))
    for row, (p, q) in enumerate(pairs):
        at_most[row, p * n + q], at_most[row, q * n + q] = 1, -1
    once = np.kron(np.eye(n), np.ones(n))
    result = linprog(cost.ravel(), at_most, np.zeros(len(pairs)), once, np.ones(n), bounds=(0, 1))
    return result.fun
