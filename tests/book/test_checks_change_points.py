"""The self-checking exercises on change points: right solutions pass, typical wrong ones do not."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")

from book.checks import check
from book.figures.change_points.cases import best_by_segments
from mlbook.changepoints import loss_augmented_segment, segment
from mlbook.large_margin import structured_hinge
from mlbook.partitions import equivalence_matrix

pytestmark = pytest.mark.book


def said(capsys, label, thing):
    check(label, thing)
    return capsys.readouterr().out


def long_segments(A, length):
    def gain(s, u):
        return A[s:u, s:u].sum() / (u - s) if u - s >= length else -1e9

    return best_by_segments(gain, len(A))[1] if len(A) >= length else np.zeros(len(A), dtype=int)


def longer(A, length):
    """One point too many."""
    return long_segments(A, length + 1)


def any_length(A, length):
    return long_segments(A, 1)


def undivided(A, length):
    """The sum of a segment is not divided by its length."""

    def gain(s, u):
        return A[s:u, s:u].sum() if u - s >= length else -1e9

    return best_by_segments(gain, len(A))[1] if len(A) >= length else np.zeros(len(A), dtype=int)


def test_long_segments(capsys):
    assert said(capsys, "cp-ex-fibonacci", long_segments) == "cp-ex-fibonacci: right.\n"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (any_length, "too short"),
        (longer, "larger value"),
        (undivided, "larger value"),
        (lambda A, length: [1] * len(A), "numbered"),
        (lambda A, length: 0, "shape"),
    ],
)
def test_wrong_long_segments(capsys, wrong, words):
    assert words in said(capsys, "cp-ex-fibonacci", wrong)


def pruned(x, price, keep=0.0, slack=0.0):
    """Forgets the starts whose value with the gain, less `slack`, is not above V(u)."""
    n, c = len(x), np.concatenate([[0], np.cumsum(x)])
    V, back, starts, tried = np.zeros(n + 1), [0] * (n + 1), [0], 0
    for u in range(1, n + 1):
        gain = {s: (c[u] - c[s]) ** 2 / (u - s) for s in starts}
        tried += len(starts)
        back[u] = max(starts, key=lambda s: V[s] + gain[s])
        V[u] = V[back[u]] + gain[back[u]] - price
        starts = [s for s in starts if V[s] + gain[s] - slack > V[u] or keep] + [u]
    labels, u = np.zeros(n, dtype=int), n
    while back[u] > 0:
        u = back[u]
        labels[u:] += 1
    return labels, tried


def test_pruned(capsys):
    assert said(capsys, "cp-ex-pruning", pruned) == "cp-ex-pruning: right.\n"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda x, price: pruned(x, price, keep=1), "forgotten"),
        (lambda x, price: pruned(x, price, slack=2 * price), "not the best"),
        (lambda x, price: pruned(x, 2 * price), "not the best"),
        (lambda x, price: (segment(x[:, None], penalty=price) + 1, 9), "numbered"),
        (lambda x, price: (pruned(x, price)[0], 3), "at least one"),
    ],
)
def test_wrong_pruning(capsys, wrong, words):
    assert words in said(capsys, "cp-ex-pruning", wrong)


def my_round(M, X, y, length, sign=1):
    hinge = structured_hinge(X, y, M, min_length=length)
    worst = loss_augmented_segment(X, y, M=M, min_length=length)
    return hinge, sign * X.T @ (equivalence_matrix(worst) - equivalence_matrix(y)) @ X


def test_round(capsys):
    assert said(capsys, "cp-ex-speech", my_round) == "cp-ex-speech: right.\n"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda M, X, y, length: my_round(M, X, y, 1), "more than"),
        (lambda M, X, y, length: my_round(M, X, y, length, sign=-1), "no slope"),
        (lambda M, X, y, length: (0.0, M), "less than"),
    ],
)
def test_wrong_round(capsys, wrong, words):
    assert words in said(capsys, "cp-ex-speech", wrong)
