"""ClassDigest: what it keeps, how it merges, what it solves and refuses."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from mlbook.mlca.class_digest import ClassDigest, _encode, is_dask


def rows(n=60, d=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    return rng.normal(size=(k, d))[y] * 2 + 1 + rng.normal(size=(n, d)), y


def indicators(y):
    """J, written out."""
    Y = (np.asarray(y)[:, None] == np.unique(y)).astype(float)
    return Y / np.sqrt(Y.sum(axis=0))


# of


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, np.ndarray.tolist])
@pytest.mark.parametrize("names", [np.arange(3), np.array(["a", "b", "c"]), np.array([0.0, 5, 9])])
def test_it_keeps_the_normal_equations_of_the_assignment_matrix(names, container, intercept):
    X, y = rows()
    found = ClassDigest.of(container(X), names[y], intercept=intercept)
    full = np.c_[np.ones(len(X)), X] if intercept else X
    Y = np.eye(3)[y]
    A, B = found.problem.A, found.problem.B
    assert_allclose(A.T @ A, full.T @ full, atol=1e-10)
    assert_allclose(A.T @ B, full.T @ Y, atol=1e-10)
    assert_array_equal(found.classes, names)
    assert_array_equal(found.counts, np.bincount(y))
    assert found.dtype == np.float64 and found.intercept == intercept


def test_declared_classes_have_columns_of_zeros():
    X, y = rows()
    found = ClassDigest.of(X, 2 * y, classes=[0, 1, 2, 3, 4])
    assert_array_equal(found.counts[[1, 3]], 0)
    assert_array_equal(found.problem.B[:, [1, 3]], 0)
    assert_allclose(found.problem.B[:, ::2], ClassDigest.of(X, y).problem.B)


def test_single_precision_is_remembered():
    X, y = rows()
    single = ClassDigest.of(X.astype(np.float32), y)
    assert single.dtype == np.float32
    assert ClassDigest.merge([single, single]).dtype == np.float32
    assert ClassDigest.merge([single, ClassDigest.of(X, y)]).dtype == np.float64
    for signs in (False, True):
        found = ClassDigest.of(X.astype(np.float32), y > 0).solve(signs=signs)
        assert found.coef.dtype == found.intercept.dtype == np.float32


@pytest.mark.parametrize("chunks", [60, (13, 2), ((1, 2, 57), -1)])
def test_blocks_of_dask_are_rows_in_memory(chunks):
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    X, y = rows()
    lazy = da.from_array(X, chunks=chunks)
    assert is_dask(lazy) and not is_dask(X)
    with dask.config.set(scheduler="synchronous"):
        for labels in (y, da.from_array(y, chunks=7)):
            found = ClassDigest.of(lazy, labels, intercept=True)
            assert_array_equal(found.counts, np.bincount(y))
            expected = ClassDigest.of(X, y, intercept=True).solve()
            assert_allclose(found.solve().coef, expected.coef, atol=1e-12)
            assert_allclose(found.solve().intercept, expected.intercept, atol=1e-12)


# merge


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("cuts", [[], [1], [2, 3, 50], list(range(1, 60))])
def test_merged_pieces_have_the_normal_equations_of_all_rows(cuts, intercept):
    X, y = rows()
    X, y = X[np.argsort(y)], np.sort(y)  # most pieces lack a class
    pieces = [
        ClassDigest.of(X[a:b], y[a:b], intercept=intercept) for a, b in pairwise([0, *cuts, 60])
    ]
    both, whole = ClassDigest.merge(pieces), ClassDigest.of(X, y, intercept=intercept)
    assert_array_equal(both.classes, whole.classes)
    assert_array_equal(both.counts, whole.counts)
    assert both.intercept == intercept
    for left, right in ((both.problem.A, whole.problem.A), (both.problem.B, whole.problem.B)):
        assert_allclose(both.problem.A.T @ left, whole.problem.A.T @ right, atol=1e-10)


def test_pieces_without_rows_are_neutral():
    X, y = rows()
    empty = ClassDigest.of(X[:0], y[:0], min_rows=0)
    text = ClassDigest.of(X, np.array(["a", "b", "c"])[y])
    merged = ClassDigest.merge([empty, text, empty])
    assert_array_equal(merged.classes, text.classes)
    assert_allclose(merged.solve().coef, text.solve().coef, atol=1e-14)
    assert ClassDigest.merge([empty, empty]).counts.sum() == 0


def test_merging_leaves_its_arguments_alone_and_pickles_merge_too():
    X, y = rows()
    one, two = ClassDigest.of(X[:30], y[:30]), ClassDigest.of(X[30:], y[30:])
    before = pickle.dumps([one, two])
    expected = ClassDigest.merge([one, two]).solve().coef
    assert pickle.dumps([one, two]) == before
    assert_array_equal(ClassDigest.merge(pickle.loads(before)).solve().coef, expected)


# solve


@pytest.mark.equation("Law 2016, Eqs. 16-17")
@pytest.mark.parametrize("intercept", [False, True])
def test_it_regresses_onto_normalized_assignments(intercept):
    X, y = rows()
    y[-1] = 3  # a class of one row
    full = np.c_[np.ones(len(X)), X] if intercept else X
    found = ClassDigest.of(X, y, intercept=intercept).solve()
    W = np.linalg.pinv(full) @ indicators(y)
    assert_allclose(found.coef, W[-4:], atol=1e-12)
    assert_allclose(found.intercept, W[0] if intercept else np.zeros(4), atol=1e-12)


@pytest.mark.equation("Law 2016, Eq. 21")
@pytest.mark.parametrize("intercept", [False, True])
def test_with_signs_it_regresses_onto_plus_and_minus_one(intercept):
    X, y = rows(k=2)
    full = np.c_[np.ones(len(X)), X] if intercept else X
    found = ClassDigest.of(X, y, intercept=intercept).solve(signs=True)
    m = np.linalg.pinv(full) @ (2 * y - 1) / np.sqrt(len(y))
    assert_allclose(found.coef[:, 0], m[-4:], atol=1e-12)
    assert_allclose(found.intercept, [m[0] if intercept else 0], atol=1e-12)


def test_fewer_components_are_the_leading_directions():
    X, y = rows()
    digest, J = ClassDigest.of(X, y), indicators(y)
    projected = X @ np.linalg.pinv(X) @ J
    for r in (1, 2):
        Vt = np.linalg.svd(projected)[2][:r]
        metric = np.linalg.pinv(X) @ J @ Vt.T
        found = digest.solve(r).coef
        assert found.shape == (4, r)
        assert_allclose(found @ found.T, metric @ metric.T, atol=1e-12)
    assert_array_equal(digest.solve(3).coef, digest.solve().coef)


# Refusals


X, Y = rows()
REFUSED = {
    "solver": (lambda: ClassDigest.of(X, Y, solver="lu"), "solver must be one of"),
    "text": (
        lambda: ClassDigest.of([["a"], ["b"]], [0, 1]),
        "X must be numbers; got text: leave it out",
    ),
    "one dimension": (lambda: ClassDigest.of(X[:, 0], Y), "Expected 2D array"),
    "no rows": (lambda: ClassDigest.of(X[:0], Y[:0]), "0 sample"),
    "lengths": (lambda: ClassDigest.of(X, Y[:-1]), "inconsistent numbers of samples"),
    "not finite": (lambda: ClassDigest.of(X * np.nan, Y), "X contains NaN"),
    "NaN label": (lambda: ClassDigest.of(X, Y * np.nan), "y contains NaN: drop the rows"),
    "no label": (
        lambda: ClassDigest.of(X[:2], np.array(["a", None], dtype=object)),
        "all numbers or all strings; got NoneType, str",
    ),
    "continuous": (lambda: ClassDigest.of(X, Y + 0.5), "continuous"),
    "undeclared": (lambda: ClassDigest.of(X, Y, classes=[0, 1]), r"y: \[2\] not among classes"),
    "text and numbers": (
        lambda: ClassDigest.merge([ClassDigest.of(X, Y), ClassDigest.of(X, Y.astype(str))]),
        "some blocks of labels are text",
    ),
    "other features": (
        lambda: ClassDigest.merge([ClassDigest.of(X, Y), ClassDigest.of(X[:, 1:], Y)]),
        "3 features without intercept and 4 features without intercept cannot be merged",
    ),
    "equally wide": (
        lambda: ClassDigest.merge(
            [ClassDigest.of(X, Y), ClassDigest.of(X[:, 1:], Y, intercept=True)]
        ),
        "3 features with intercept and 4 features without intercept cannot be merged",
    ),
    "no class": (
        lambda: ClassDigest.of(X[:0], Y[:0], min_rows=0).solve(),
        r"at least 2 classes are needed, got 0 classes\.",
    ),
    "one class": (lambda: ClassDigest.of(X, 0 * Y).solve(), r"got 1 class\."),
    "unlabelled": (lambda: ClassDigest.of(X, Y - 1).solve(), "-1 means unlabelled"),
    "three classes": (lambda: ClassDigest.of(X, Y).solve(signs=True), "exactly 2 classes"),
    "a class without rows": (
        lambda: ClassDigest.of(X, 0 * Y, classes=[0, 1]).solve(signs=True),
        r"exactly 2 classes.*with \[60  0\] rows",
    ),
    "components": (lambda: ClassDigest.of(X, Y).solve(4), "n_components.*from 1 to 3; got 4"),
    "zero means": (
        lambda: ClassDigest.of(np.r_[X, -X], np.r_[Y, Y]).solve(),
        "every class mean is zero.*nothing to learn",
    ),
    "equal means": (
        lambda: ClassDigest.of(np.r_[X, 5 - X], np.r_[Y, Y], intercept=True).solve(),
        "all class means are equal",
    ),
    "equal sums": (
        lambda: ClassDigest.of(np.r_[X, X], np.repeat([0, 1], 60)).solve(signs=True),
        "the same sum",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_text_in_a_data_frame_is_named():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]})
    with pytest.raises(ValueError, match=r"got text in the columns \['colour'\]: leave it out"):
        ClassDigest.of(frame, [0, 1])


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -2, 3, 7, -2]),
        np.array([5, 5], dtype=np.uint8),
        np.array([0, 2**40, 1]),
        np.array([2**63 - 1, 2**63 - 3, 2**63 - 1]),
        np.array([-(2**63), 2**63 - 1]),
        np.array([250, 3, 255], dtype=np.uint8),
        np.array([True, False, True]),
        np.array(["b", "a", "b"]),
        np.array([1.5, -1.0]),
        np.array([], dtype=int),
    ],
)
def test_classes_are_numbered_as_by_sorting(labels):
    expected, codes = np.unique(labels, return_inverse=True)
    found, numbers = _encode(labels)
    assert found.dtype == labels.dtype
    assert found.tolist() == expected.tolist()
    assert numbers.tolist() == codes.tolist()
