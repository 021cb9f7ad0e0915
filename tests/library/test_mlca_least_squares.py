"""Digests, their merging, and the accuracy of the solutions."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mlbook.mlca import least_squares as ls
from mlbook.mlca.least_squares import Digest, digest, merge, solve, triangle


def conditioned(rng, n, d, condition):
    """Rows whose singular values fall evenly, on a log scale, from √n to √n / condition."""
    U = np.linalg.qr(rng.standard_normal((n, d)))[0]
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return np.sqrt(n) * (U * np.geomspace(1, 1 / condition, d)) @ V.T


def indicators(rng, n, k):
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    return np.eye(k)[y]


def extended_lstsq(X, T):
    """Full-rank least squares by Householder reflections in extended precision."""
    X, T = X.astype(np.longdouble), T.astype(np.longdouble)
    d = X.shape[1]
    for j in range(d):
        v = X[j:, j].copy()
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        v /= np.sqrt(v @ v)
        X[j:, j:] -= 2 * np.outer(v, v @ X[j:, j:])
        T[j:] -= 2 * np.outer(v, v @ T[j:])
    W = np.zeros((d, T.shape[1]), dtype=np.longdouble)
    for i in reversed(range(d)):
        W[i] = (T[i] - X[i, i + 1 :] @ W[i + 1 :]) / X[i, i]
    return W


def error(W, reference):
    return float(np.linalg.norm(W - reference) / np.linalg.norm(reference))


extended = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision to compare with"
)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", ls.SOLVERS)
@pytest.mark.parametrize(("n", "d"), [(3000, 7), (7, 7), (40, 60), (1, 1)])
def test_a_digest_has_the_normal_equations_of_the_rows(n, d, solver, intercept, container):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((n, d)), rng.standard_normal((n, 2))
    found = digest(container(X), container(T), intercept=intercept, solver=solver)
    full = np.hstack([np.ones((n, 1)), X]) if intercept else X
    assert found.A.shape == (min(n, full.shape[1]), full.shape[1])
    if n >= full.shape[1]:
        assert_allclose(np.tril(found.A, -1), 0, atol=0)
    assert_allclose(found.A.T @ found.A, full.T @ full, atol=1e-12 * n)
    assert_allclose(found.A.T @ found.B, full.T @ T, atol=1e-12 * n)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("ill", [False, True])
@pytest.mark.parametrize(("n", "d"), [(3000, 7), (7, 7), (40, 60)])
def test_the_triangle_has_the_singular_values_and_axes_of_the_rows(n, d, ill, container):
    X = np.random.default_rng(0).standard_normal((n, d))
    if ill:
        X[:, 1] = X[:, 0]
    R = triangle(container(X))
    assert R.shape == (min(n, d), d)
    assert_allclose(R.T @ R, X.T @ X, atol=1e-12 * n)
    assert_allclose(np.linalg.svd(R)[1], np.linalg.svd(X)[1], atol=1e-12 * n)


@pytest.mark.parametrize("intercept", [False, True])
def test_leading_directions_are_those_of_the_fitted_targets(intercept):
    rng = np.random.default_rng(11)
    X, T = rng.standard_normal((30, 5)) + 1, rng.standard_normal((30, 4))
    found = solve(digest(X, T, intercept=intercept), intercept=intercept)
    rows = X - X.mean(axis=0) if intercept else X
    V = np.linalg.svd(rows @ np.linalg.pinv(rows) @ T)[2].T
    V *= np.sign(V[abs(V).argmax(axis=0), np.arange(4)])
    for rank in (1, 2, 4):
        some = found.leading(rank)
        assert_allclose(some.coef, found.coef @ V[:, :rank], atol=1e-12)
        assert_allclose(some.intercept, found.intercept @ V[:, :rank], atol=1e-12)
        again = solve(digest(X, T @ V[:, :rank], intercept=intercept), intercept=intercept)
        assert_allclose(some.fitted.T @ some.fitted, again.fitted.T @ again.fitted, atol=1e-11)


def test_noise_tells_orthogonal_targets_from_small_ones():
    rng = np.random.default_rng(12)
    X, T = rng.standard_normal((50, 3)), rng.standard_normal((50, 1))
    beside = T - X @ np.linalg.pinv(X) @ T
    for targets, seen in ((beside, False), (beside + 1e-8 * X[:, :1], True)):
        found = solve(digest(X, targets / np.linalg.norm(targets)))
        assert (np.linalg.norm(found.fitted) > found.noise) == seen


def degenerate_rows():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 6)) + 1
    return {
        "full rank": X,
        "fewer rows than columns": X[:4],
        "repeated column": X[:, [0, 1, 2, 3, 4, 4]],
        "sum of columns": np.c_[X[:, :5], X[:, :5].sum(axis=1)],
        "empty column": X * [1, 1, 0, 1, 1, 1],
        "constant column": np.c_[X[:, :5], np.full(60, 0.1)],
        "two constant columns": np.c_[X[:, :4], np.full(60, 0.1), np.full(60, 7.0)],
        "rank one, few rows": np.outer(X[:3, 0], X[5]),
        "unequal scales and dependent": X[:, [0, 1, 2, 2, 3, 3]] * [1, 1e3, 1, 10, 1e-2, 1],
    }


DEGENERATE = degenerate_rows()


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("solver", ["auto", "qr"])
def test_the_solution_is_that_of_the_pseudo_inverse(name, solver):
    X = DEGENERATE[name]
    T = np.random.default_rng(2).standard_normal((len(X), 3))
    found = solve(digest(X, T, solver=solver))
    assert found.rank == np.linalg.matrix_rank(X)
    assert_allclose(found.coef, np.linalg.pinv(X) @ T, rtol=1e-9, atol=1e-11)
    assert_allclose(found.intercept, 0)
    assert_allclose(found.fitted.T @ found.fitted, T.T @ X @ np.linalg.pinv(X) @ T, atol=1e-11)


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("solver", ["auto", "qr"])
def test_the_intercept_is_free_and_the_rest_is_the_centred_pseudo_inverse(name, solver):
    X = DEGENERATE[name]
    T = np.random.default_rng(3).standard_normal((len(X), 3))
    centred = X - X.mean(axis=0)
    centred[:, np.ptp(X, axis=0) == 0] = 0  # what centring leaves of a constant is rounding
    inverse = np.linalg.pinv(centred, rcond=1e-12)
    found = solve(digest(X, T, intercept=True, solver=solver), intercept=True)
    assert found.rank == np.linalg.matrix_rank(centred)
    assert_allclose(found.coef, inverse @ T, rtol=1e-8, atol=1e-10)
    assert_allclose(found.intercept, T.mean(axis=0) - X.mean(axis=0) @ found.coef, atol=1e-10)
    assert_allclose(found.fitted.T @ found.fitted, T.T @ centred @ inverse @ T, atol=1e-10)


def test_no_column_but_the_intercept():
    X, T = np.full((5, 2), 3.0), np.arange(5.0)[:, None]
    found = solve(digest(X, T, intercept=True), intercept=True)
    assert found.rank == 0
    assert_allclose(found.coef, 0)
    assert_allclose(found.intercept, 2)


@extended
@pytest.mark.parametrize("scaled", [False, True], ids=["", "bad column scaling"])
@pytest.mark.parametrize("condition", [1e1, 1e2, 1e3, 3e3, 1e4, 1e5, 1e6])
def test_accuracy_bar_whole_and_in_pieces(condition, scaled):
    rng = np.random.default_rng(int(condition))
    X, T = conditioned(rng, 800, 12, condition), indicators(rng, 800, 3)
    if scaled:
        X = X * 10.0 ** rng.integers(-9, 9, 12)  # compare the effects of whole columns
    reference = extended_lstsq(X, T)
    compare = np.linalg.norm(X, axis=0)[:, None] if scaled else 1.0
    parts = [digest(X[i : i + 130], T[i : i + 130]) for i in range(0, 800, 130)]
    streamed = parts[0]
    for part in parts[1:]:
        streamed = merge(streamed, part)
    for found in (digest(X, T), streamed):
        assert error(solve(found).coef * compare, reference * compare) < 1e-9


@extended
def test_a_collinearity_of_1e_7_that_defeats_the_normal_equations():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((500, 4))
    X = np.c_[X, X[:, 0] + 1e-7 * rng.standard_normal(500)]
    T = indicators(rng, 500, 2)
    reference = extended_lstsq(X, T)
    assert error(solve(digest(X, T, solver="auto")).coef, reference) < 1e-7
    assert error(np.linalg.solve(X.T @ X, X.T @ T), reference) > 1e-3


@extended
def test_blocks_of_very_different_sizes_and_conditions_merge_accurately():
    """Well-conditioned blocks go through Cholesky beside blocks that may not."""
    rng = np.random.default_rng(5)
    direction = rng.standard_normal((1, 6))
    blocks = [
        rng.standard_normal((100, 6)),
        1e5 * rng.standard_normal((100, 1)) @ direction,
        1e-3 * rng.standard_normal((100, 6)),
        conditioned(rng, 100, 6, 1e6),
    ]
    targets = [indicators(rng, 100, 3) for _ in blocks]
    found = digest(blocks[0], targets[0])
    for X, T in zip(blocks[1:], targets[1:], strict=True):
        found = merge(found, digest(X, T))
    assert error(solve(found).coef, extended_lstsq(np.vstack(blocks), np.vstack(targets))) < 1e-9


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize("solver", ["auto", "qr"])
@pytest.mark.parametrize("n", [50, 2000])
def test_squares_may_overflow_or_underflow(n, size, solver):
    rng = np.random.default_rng(6)
    X, T = rng.standard_normal((n, 3)), indicators(rng, n, 2)
    for columns in ([size, size, size], [1, size, 1]):
        found = solve(digest(X * columns, T, solver=solver))
        assert found.rank == 3
        assert_allclose(found.coef * np.array(columns)[:, None], np.linalg.pinv(X) @ T, rtol=1e-9)


def test_single_precision_is_accumulated_in_double_and_its_rounding_is_not_rank():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((5000, 4)).astype(np.float32) + 100
    T = indicators(rng, 5000, 2)
    assert_allclose(solve(digest(X, T)).coef, np.linalg.pinv(X.astype(float)) @ T, rtol=1e-8)
    dependent = np.c_[X, X[:, 0] + X[:, 1] / 3]
    assert dependent.dtype == np.float32
    assert solve(digest(dependent, T)).rank == 5
    assert solve(digest(dependent, T), eps=np.finfo(np.float32).eps).rank == 4


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 99),
    cuts=st.lists(st.integers(0, 90), max_size=6),
    kind=st.sampled_from(["plain", "dependent", "ill"]),
    right_to_left=st.booleans(),
)
def test_any_cut_and_any_order_of_merging_give_the_same_solution(seed, cuts, kind, right_to_left):
    rng = np.random.default_rng(seed)
    X, T = rng.standard_normal((90, 8)), indicators(rng, 90, 3)
    if kind == "dependent":
        X[:, 7] = X[:, 0] - X[:, 3]
    elif kind == "ill":
        X[:, 7] = X[:, 0] + 1e-5 * X[:, 7]
    edges = [0, *sorted(cuts), 90]
    parts = [digest(X[a:b], T[a:b]) for a, b in pairwise(edges)]
    while len(parts) > 1:
        if right_to_left:
            parts[-2:] = [merge(parts[-2], parts[-1])]
        else:
            parts[:2] = [merge(parts[0], parts[1])]
    whole, pieces = solve(digest(X, T, solver="qr")), solve(parts[0])
    assert pieces.rank == whole.rank
    assert error(pieces.coef, whole.coef) < 1e-9


def test_merging_leaves_its_arguments_alone():
    rng = np.random.default_rng(8)
    a, b = (digest(rng.standard_normal((20, 3)), np.ones((20, 1))) for _ in range(2))
    before = [x.copy() for x in (a.A, a.B, b.A, b.B)]
    merge(a, b)
    for x, y in zip(before, (a.A, a.B, b.A, b.B), strict=True):
        assert_allclose(x, y, rtol=0)


def test_auto_pays_for_reflections_only_where_the_condition_asks_for_them(monkeypatch):
    rng = np.random.default_rng(9)
    T = np.ones((20_000, 1))
    good, ill = rng.standard_normal((20_000, 4)), conditioned(rng, 20_000, 4, 1e5)
    good[:, 2] *= 1e8  # columns in other units are no reason
    sparse_good = good * [1, 1, 0, 1]  # nor is an empty column

    def forbidden(*args):
        raise AssertionError("this way should not be taken")

    with monkeypatch.context() as patch:
        patch.setattr(ls, "_absorb", forbidden)
        digest(good, T)
        digest(conditioned(rng, 20_000, 4, 1e3), T)
        assert solve(digest(sparse_good, T)).rank == 3
        with pytest.raises(AssertionError):
            digest(ill, T)
    with monkeypatch.context() as patch:  # a sample of the rows is enough to see it
        patch.setattr(ls, "_gram", forbidden)
        digest(ill, T)


def test_what_is_refused():
    X, T = np.ones((30, 2)), np.ones((30, 1))
    with pytest.raises(ValueError, match=r"solver='cholesky'.*linearly dependent"):
        digest(X, T, solver="cholesky")
    for bad in (np.nan, np.inf):
        for rows in (30, 1):
            Z = np.random.default_rng(0).standard_normal((rows, 2))
            Z[0, 0] = bad
            for solver in ls.SOLVERS:
                with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
                    digest(Z, T[:rows], solver=solver)
    with pytest.raises(ValueError, match="overflows double precision"):
        digest(np.full((30, 1), 1e308), T, solver="qr")


def test_an_empty_digest_is_neutral():
    d = digest(np.eye(3)[:2], np.ones((2, 1)))
    empty = digest(np.empty((0, 3)), np.empty((0, 1)))
    full = digest(np.eye(3), np.ones((3, 1)))
    for whole in (d, full):
        for merged in (merge(empty, whole), merge(whole, empty)):
            assert_allclose(solve(merged).coef, solve(whole).coef, atol=1e-14)
    assert isinstance(merge(empty, empty), Digest)


# Fewer rows than columns, sparse rows, streams of small chunks


def reference(X, T, intercept):
    """W and b by the pseudo-inverse of the columns scaled to norm one, of minimum norm in W."""
    mean = X.mean(axis=0) if intercept else np.zeros(X.shape[1])
    shift = T.mean(axis=0) if intercept else np.zeros(T.shape[1])
    W = np.linalg.pinv(X - mean, rcond=1e-11) @ (T - shift)
    return W, shift - mean @ W


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("condition", "route"), [(10.0, "gram"), (1e6, "qr"), (1e9, "qr"), (None, "svd")]
)
def test_few_rows_take_the_cheapest_way_that_is_accurate(intercept, condition, route, monkeypatch):
    taken = []
    for name in ("dpotrs", "dormqr", "svd"):
        original = getattr(ls, name)
        monkeypatch.setattr(
            ls, name, lambda *a, f=original, n=name, **k: (taken.append(n), f(*a, **k))[1]
        )
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, T = conditioned(rng, 30, 12, condition or 10.0).T, indicators(rng, 12, 3)
        if condition is None:
            X[11] = X[10]
        taken.clear()
        found = solve(digest(X, T, intercept=intercept), intercept=intercept)
        W, b = reference(X, T, intercept)
        assert taken[-1] == {"gram": "dpotrs", "qr": "dormqr", "svd": "svd"}[route]
        assert found.rank == 12 - intercept - (condition is None)
        assert error(found.coef, W) < 1e-13 * max(10.0, condition or 10.0) * 30
        assert error(found.intercept, b) < 1e-6 if intercept else not found.intercept.any()
        fitted = X @ found.coef + found.intercept - (T.mean(axis=0) if intercept else 0)
        assert_allclose(found.fitted.T @ found.fitted, fitted.T @ fitted, atol=1e-6)


def test_few_rows_in_units_that_hide_a_dependence():
    """The rank is that of columns scaled to norm one, whichever way is taken."""
    rng = np.random.default_rng(10)
    for _ in range(20):
        X = rng.standard_normal((6, 9)) * 10.0 ** rng.integers(-12, 13, 9)
        T = indicators(rng, 6, 2)
        norms = np.linalg.norm(X, axis=0)
        values = np.linalg.svd(X / norms, compute_uv=False)
        found = solve(digest(X, T))
        assert found.rank == np.sum(values > 1e-14 * values[0]) == 6


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n", [300, 1500])
def test_sparse_rows_stay_sparse_and_have_the_solution_of_dense_ones(n, intercept, monkeypatch):
    rng = np.random.default_rng(11)
    X, T = sp.random_array((n, 1000), density=0.02, format="csr", rng=rng), indicators(rng, n, 3)
    kept = digest(X, T, intercept=intercept)
    assert sp.issparse(kept.A)
    expected = solve(digest(X.toarray(), T, intercept=intercept), intercept=intercept)
    found = solve(kept, intercept=intercept)
    assert error(found.coef, expected.coef) < 1e-8
    assert_allclose(found.intercept, expected.intercept, atol=1e-8)
    assert_allclose(found.fitted.T @ found.fitted, expected.fitted.T @ expected.fitted, atol=1e-6)
    halves = [digest(X[rows], T[rows], intercept=intercept) for rows in (slice(99), slice(99, n))]
    both = merge(*halves)
    assert sp.issparse(both.A)
    assert error(solve(both, intercept=intercept).coef, expected.coef) < 1e-8
    monkeypatch.setattr(ls, "MAX_ITERATIONS", 3)
    monkeypatch.setattr(ls, "machine_memory", lambda: 0.0)  # no triangle fits
    with pytest.warns(ls.ConvergenceWarning, match="3 iterations on its sparse rows"):
        solve(kept, intercept=intercept)


def test_sparse_rows_that_are_ill_conditioned_or_dependent_become_a_triangle():
    rng = np.random.default_rng(12)
    X, T = sp.random_array((1100, 1000), density=0.02, format="lil", rng=rng), np.eye(1100)[:, :2]
    for factor in (0.0, 1e-7):
        Z = X.copy()
        Z[:, 1] = Z[:, [0]] + factor * X[:, [1]]
        Z = sp.csr_array(Z)
        found = solve(digest(Z, T))
        expected = solve(digest(Z.toarray(), T, solver="qr"))
        assert error(found.coef, expected.coef) < 1e-6
        assert found.rank in (None, expected.rank)


@extended
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("rows", [3, 10, 40])
def test_small_chunks_beside_the_sum_of_others_are_as_accurate(rows, condition):
    """Well-conditioned rows first, then chunks of any kind, each beside all before it."""
    rng = np.random.default_rng(13)
    chunks = [rng.standard_normal((100, 6))]
    for i in range(30):
        chunk = rng.standard_normal((rows, 6)) * 10.0 ** (i % 5)
        if i % 3 == 0:
            chunk = condition * rng.standard_normal((rows, 1)) @ rng.standard_normal((1, 6))
        chunks.append(chunk)
    targets = [indicators(rng, len(chunk), 3) for chunk in chunks]
    total = digest(chunks[0], targets[0])
    assert isinstance(total, ls.GramDigest)
    for X, T in zip(chunks[1:], targets[1:], strict=True):
        total = merge(total, digest(X, T, beside=total))
    assert error(solve(total).coef, extended_lstsq(np.vstack(chunks), np.vstack(targets))) < 1e-9


def test_a_chunk_that_spoils_the_condition_leaves_the_gram_matrix():
    rng = np.random.default_rng(14)
    first = digest(rng.standard_normal((100, 4)), np.ones((100, 1)))
    line = 1e6 * rng.standard_normal((50, 1)) @ rng.standard_normal((1, 4))
    T = np.ones((50, 1))
    assert isinstance(digest(line, T, beside=first), Digest)
    small = digest(1e-3 * line[:2] / 1e6, T[:2], beside=first)
    assert isinstance(small, ls.GramDigest)
    assert not small.sure.any()
