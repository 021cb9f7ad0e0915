"""The slaves of clustering against enumeration of all that they may choose."""

import numpy as np
import pytest
from enumeration import subsets
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mlbook.latent_crf import cluster_slaves, point_slaves


@pytest.mark.equation("Komodakis 2011, Eqs. 23, 32 and 33, and Lemma 2")
@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=40, deadline=None)
def test_point_slaves_against_enumeration(seed, ties):
    rng = np.random.default_rng(seed)
    n = 4
    U, multipliers = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    if ties:
        U, multipliers = rng.integers(-1, 2, (n, n)) * 5.0, rng.integers(-1, 2, (n, n)) * 1.0
    theta = np.diag(U) / (n + 1) + multipliers
    chosen, is_open = point_slaves(U, multipliers)
    for p in range(n):

        def value(q, opened, p=p):
            return theta[p, list(opened)].sum() + (U[p, q] if q != p else 0)

        feasible = [
            value(q, opened)
            for opened in subsets(range(n))
            for q in opened
            if (p in opened) == (q == p)
        ]
        opened = np.flatnonzero(is_open[p])
        assert chosen[p] in opened and (p in opened) == (chosen[p] == p)
        assert_allclose(value(chosen[p], opened), min(feasible), atol=1e-12)


@pytest.mark.equation("Komodakis 2011, Eqs. 24 and 34, and Lemma 2")
@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_cluster_slaves_against_enumeration(seed, alpha, ties):
    rng = np.random.default_rng(seed)
    labels = np.array([0, 1, 0, 0, 1, 2])
    shares, multipliers = rng.normal(size=6), rng.normal(size=6)
    if ties:
        shares, multipliers = np.zeros(6), rng.integers(-2, 3, 6) * alpha
    is_open = cluster_slaves(shares, multipliers, labels, alpha)
    theta = shares + multipliers
    for c in range(3):
        C = np.flatnonzero(labels == c)
        best = min(theta[list(Q)].sum() - alpha * abs(1 - len(Q)) for Q in subsets(C))
        found = C[is_open[C]]
        assert_allclose(theta[found].sum() - alpha * abs(1 - len(found)), best, atol=1e-12)
