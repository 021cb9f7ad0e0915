"""Partitions and losses against their definitions, on all small cases."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from enumeration import (
    all_partitions,
    all_segmentations,
    bell,
    partitions_into,
    partitions_into_at_most,
    segmentations_into,
    stirling,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import rand_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from mlbook.partitions import (
    assignment_matrix,
    contingency,
    equivalence_matrix,
    f_measure,
    hausdorff_distance,
    labels_from_matrix,
    normalized_assignment,
    partition_loss,
    rand_loss,
)

PAIR_FUNCTIONS = [contingency, partition_loss, rand_loss, f_measure, hausdorff_distance]
LABEL_FUNCTIONS = [assignment_matrix, normalized_assignment, equivalence_matrix]


@st.composite
def labelings(draw, count):
    """`count` labelings of the same points, with gaps between label values now and then."""
    n = draw(st.integers(1, 30))
    values = draw(st.sampled_from([range(2), range(6), [3, 8, 17], [0, 10**12, 10**15], range(40)]))
    one = st.lists(st.sampled_from(list(values)), min_size=n, max_size=n)
    return [np.array(draw(one)) for _ in range(count)]


def same_partition(a, b):
    return np.array_equal(a[:, None] == a, b[:, None] == b)


# The enumeration the other tests rest on


@pytest.mark.parametrize("n", range(1, 8))
def test_enumeration_visits_every_partition_once(n):
    everything = [tuple(labels) for labels in all_partitions(n)]
    assert len(set(everything)) == len(everything) == bell(n)
    for k in range(1, n + 1):
        exact = [tuple(labels) for labels in partitions_into(n, k)]
        assert len(exact) == stirling(n, k)
        assert set(exact) == {labels for labels in everything if len(set(labels)) == k}
        at_most = [tuple(labels) for labels in partitions_into_at_most(n, k)]
        assert len(set(at_most)) == len(at_most) == sum(stirling(n, j) for j in range(1, k + 1))
        assert len({tuple(s) for s in segmentations_into(n, k)}) == comb(n - 1, k - 1)
    contiguous = {labels for labels in everything if list(labels) == sorted(labels)}
    assert {tuple(s) for s in all_segmentations(n)} == contiguous


# Matrices


@pytest.mark.equation("Law 2016, Eqs. 5-6")
@pytest.mark.parametrize("n", range(1, 7))
def test_three_ways_to_write_a_partition_agree(n):
    for labels in all_partitions(n):
        Y = assignment_matrix(labels).toarray()
        J = normalized_assignment(labels).toarray()
        C = equivalence_matrix(labels)
        assert_array_equal(Y, labels[:, None] == np.arange(labels.max() + 1))
        assert_allclose(C, Y @ np.linalg.pinv(Y), atol=1e-12)
        assert_allclose(C, J @ J.T, atol=1e-12)
        assert_allclose(J.T @ J, np.eye(J.shape[1]), atol=1e-12)
        assert_array_equal(labels_from_matrix(C), labels)


def test_columns_follow_increasing_label_values():
    labels = np.array([10**15, 3, 7, 3])
    expected = [[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert_array_equal(assignment_matrix(labels).toarray(), expected)
    assert_array_equal(assignment_matrix([True, False]).toarray(), [[0, 1], [1, 0]])
    assert_array_equal(contingency(labels, [9, 9, 9, 4]).toarray(), [[1, 1], [0, 1], [0, 1]])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_any_integer_type_is_accepted(dtype):
    labels = np.array([0, 2, 2, 5], dtype=dtype)
    assert_array_equal(contingency(labels, labels).toarray(), np.diag([1, 2, 1]))
    assert contingency(labels, labels).dtype == np.int64


def test_empty_class_gets_an_empty_column():
    Y = assignment_matrix([4, 2, 4], classes=[0, 2, 4, 10**12])
    assert_array_equal(Y.toarray(), [[0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
    J = normalized_assignment([4, 2, 4], classes=[0, 2, 4, 10**12]).toarray()
    assert_allclose(J.T @ J, np.diag([0, 1, 1, 0]), atol=1e-15)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([2, 3], r"labels must be among classes; got \[4\]"),
        ([4, 2], "classes must be increasing"),
        ([2, 2, 4], "classes must be increasing"),
        ([2.0, 4.0], "classes must hold integers"),
        ([], "classes must be a one-dimensional array with at least one"),
    ],
)
def test_bad_classes_are_refused(classes, message):
    with pytest.raises(ValueError, match=message):
        assignment_matrix([4, 2, 4], classes=classes)


@pytest.mark.parametrize(
    ("C", "message"),
    [
        (
            np.array([[1, 2], [2, 4]]) / 5,
            "row sums 1",
        ),  # the counterexample to the paper's statement
        ([[1.0, 0.0], [1.0, 0.0]], "symmetric"),
        ([[0.9, 0.1], [0.1, 0.9]], "idempotent"),
        (np.array([[2, 2, -1], [2, -1, 2], [-1, 2, 2]]) / 3, "idempotent"),
        (np.array([[5, 2, -1], [2, 2, 2], [-1, 2, 5]]) / 6, "non-negative"),
        ([[1.0, 0.0]], "square"),
        (np.empty((0, 0)), "square"),
        ([[np.nan]], "finite"),
    ],
)
def test_matrix_that_is_no_partition_is_refused_by_name(C, message):
    with pytest.raises(ValueError, match=message):
        labels_from_matrix(C)


def test_rounding_does_not_hide_a_partition_matrix():
    labels = np.arange(300) % 7
    noise = np.random.default_rng(0).uniform(-1, 1, (300, 300)) * 1e-12
    assert_array_equal(labels_from_matrix(equivalence_matrix(labels) + noise), labels)


# Losses


@pytest.mark.slow
@pytest.mark.equation("Lajugie 2014, Eq. 8")
@pytest.mark.parametrize("n", range(1, 6))
def test_losses_match_their_definitions_on_all_pairs_of_partitions(n):
    pairs = list(combinations(range(n), 2))
    for a, b in product(list(all_partitions(n)), repeat=2):
        loss = np.sum((equivalence_matrix(a) - equivalence_matrix(b)) ** 2)
        assert_allclose(partition_loss(a, b), loss, rtol=1e-13, atol=1e-13)
        together_a = {(i, j) for i, j in pairs if a[i] == a[j]}
        together_b = {(i, j) for i, j in pairs if b[i] == b[j]}
        assert rand_loss(a, b) == len(together_a ^ together_b) / max(1, len(pairs))
        size = len(together_a) + len(together_b)
        assert f_measure(a, b) == (2 * len(together_a & together_b) / size if size else 1)


@pytest.mark.equation("Lajugie 2014, Theorem 1")
def test_loss_of_partitions_that_differ_little():
    """To first order Δ counts who leaves and who joins, relative to the size; and exactly."""
    rng = np.random.default_rng(0)
    for n, moved in [(40, 15), (40, 3), (4000, 3), (400_000, 3)]:
        a = np.arange(n) % 4
        b = a.copy()
        b[rng.choice(n, size=moved, replace=False)] = rng.integers(0, 4, size=moved)
        table = contingency(a, b).toarray().astype(float)
        p, q = table.sum(axis=1), table.sum(axis=0)
        flow = table - np.diag(np.diag(table))
        leave, join = flow.sum(axis=1), flow.sum(axis=0)
        first = 2 * np.sum((leave + join) / p)
        rest = 2 * np.sum(join**2 / (p * q)) + 2 * np.sum(flow**2 / np.outer(p, q))
        assert_allclose(partition_loss(a, b), first - rest, rtol=1e-9)
        assert first > 0 and rest <= 4 * first * 4 * np.max(flow / np.minimum.outer(p, p))


@pytest.mark.slow
@pytest.mark.equation("Lajugie 2014, Theorem 2")
def test_loss_and_hausdorff_distance_bound_each_other():
    """For all segmentations; the constant 12k may be replaced by 4(k − 1)."""
    n, compared = 7, 0
    for a, b in product(list(all_segmentations(n)), repeat=2):
        k, sizes, others = a.max() + 1, np.bincount(a), np.bincount(b)
        if k == 1 or b.max() == 0:
            continue
        gap, loss = n * hausdorff_distance(a, b), partition_loss(a, b)
        assert loss >= gap / max(sizes.max(), others.max()) - 1e-12
        if k == b.max() + 1 and gap < sizes.min() / 2:
            assert gap / sizes.max() - 1e-12 <= loss <= 4 * (k - 1) * gap / sizes.min() + 1e-12
            compared += gap > 0
    assert compared > 1


@pytest.mark.slow
@settings(deadline=None)
@given(labelings(3))
def test_partition_loss_is_the_square_of_a_metric_on_partitions(three):
    a, b, c = three
    loss = partition_loss(a, b)
    k_a, k_b = len(set(a)), len(set(b))
    assert_allclose(
        loss, np.sum((equivalence_matrix(a) - equivalence_matrix(b)) ** 2), rtol=1e-12, atol=1e-12
    )
    assert 0 <= loss <= (k_a + k_b - 2) * (1 + 1e-14)
    assert_allclose(loss, partition_loss(b, a), rtol=1e-14)
    assert (loss == 0) == same_partition(a, b)
    relabelled = max(a) - a
    assert_allclose(partition_loss(relabelled, b), loss, rtol=1e-13)
    through = np.sqrt(partition_loss(a, c)) + np.sqrt(partition_loss(c, b))
    assert np.sqrt(loss) <= through + 1e-12


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@settings(deadline=None)
@given(labelings(2))
def test_losses_agree_with_scikit_learn(two):
    a, b = two
    assert_array_equal(contingency(a, b).toarray(), contingency_matrix(a, b))
    assert_allclose(rand_loss(a, b), 1 - rand_score(a, b), atol=1e-15)
    (_, only_b), (only_a, both) = pair_confusion_matrix(a, b)
    size = 2 * both + only_a + only_b
    assert f_measure(a, b) == (2 * both / size if size else 1)


def test_small_loss_of_large_partitions_keeps_its_digits():
    # One point of n moves between two clusters of n/2: Δ by hand is below, about 8/n.
    n = 1_000_000
    a = np.repeat([0, 1], n // 2)
    b = a.copy()
    b[0] = 1
    m = n // 2
    exact = 4 - 2 * ((m - 1) / m + 1 / (m * (m + 1)) + m / (m + 1))
    loss = partition_loss(a, b)
    assert_allclose(loss, exact, rtol=1e-8)  # `exact` itself has lost eight digits
    assert_allclose(loss, 2 * (1 / m + (1 - 1 / m) / (m + 1)), rtol=1e-15)


def test_pairs_of_two_million_points_are_counted_exactly():
    n = 2_000_000
    a = np.zeros(n, dtype=np.int8)
    b = (np.arange(n) >= n // 4).astype(np.int8)
    apart = (n // 4) * (3 * n // 4)
    pairs = n * (n - 1) // 2
    assert rand_loss(a, b) == apart / pairs
    assert f_measure(a, b) == 2 * (pairs - apart) / (2 * pairs - apart)


def test_as_many_clusters_as_points_need_no_dense_table():
    n = 200_000  # the dense table would take 320 GB
    rng = np.random.default_rng(0)
    a, b = rng.permutation(n), rng.permutation(n)
    assert contingency(a, b).nnz == n
    assert partition_loss(a, b) == 0
    assert partition_loss(a, b // 2) == pytest.approx(n / 2)


# Hausdorff distance


@pytest.mark.parametrize("n", range(1, 7))
def test_hausdorff_distance_matches_its_definition_on_all_segmentations(n):
    for a, b in product(list(all_segmentations(n)), repeat=2):
        A = [i / n for i in range(1, n) if a[i] != a[i - 1]]
        B = [i / n for i in range(1, n) if b[i] != b[i - 1]]
        if bool(A) != bool(B):
            with pytest.raises(ValueError, match=f"^{'b' if A else 'a'} must have at least two"):
                hausdorff_distance(a, b)
            continue
        gaps = [min(abs(x - y) for y in B) for x in A] + [min(abs(x - y) for x in A) for y in B]
        assert hausdorff_distance(a, b) == pytest.approx(max(gaps, default=0), abs=1e-15)


def test_segments_need_not_be_numbered_in_order():
    assert hausdorff_distance([9, 9, 0, 0, 4], [1, 2, 2, 2, 2]) == pytest.approx(3 / 5)


def test_labels_in_two_runs_are_refused():
    with pytest.raises(ValueError, match=r"b must be contiguous.*got 3 runs of 2 labels"):
        hausdorff_distance([0, 0, 1], [0, 1, 0])


# Bad input


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], r"one-dimensional array with at least one label; got shape \(0,\)"),
        ([[0, 1]], r"got shape \(1, 2\)"),
        (3, r"got shape \(\)"),
        ([0.0, 1.0], "must hold integers or booleans; got dtype float64"),
        (["a", "b"], "must hold integers or booleans"),
        ([0, None], "must hold integers or booleans; got dtype object"),
        ([0, -1], "must be non-negative; got -1.*drop these points first"),
    ],
)
def test_bad_labels_are_refused(bad, message):
    for function in LABEL_FUNCTIONS:
        with pytest.raises(ValueError, match=f"^labels .*{message}"):
            function(bad)
    for function in PAIR_FUNCTIONS:
        with pytest.raises(ValueError, match=f"^a .*{message}"):
            function(bad, [0, 1])
        with pytest.raises(ValueError, match=f"^b .*{message}"):
            function([0, 1], bad)


@pytest.mark.parametrize("function", PAIR_FUNCTIONS)
def test_labelings_of_different_lengths_are_refused(function):
    with pytest.raises(ValueError, match="a and b must label the same points; got 3 and 2"):
        function([0, 0, 1], [0, 1])


def test_matrices_share_no_memory_with_the_labels():
    labels = np.array([0, 1, 0])
    Y = assignment_matrix(labels)
    Y.indices[:] = 0
    assert labels.tolist() == [0, 1, 0]
