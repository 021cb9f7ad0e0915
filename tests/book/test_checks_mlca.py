"""The exercises of the chapter on MLCA: right solutions pass, typical mistakes are named."""

import numpy as np
import pytest

from book.checks import check, labels
from book.checks.mlca import by_hand, pairs, shrink
from mlbook import MLCA

pytestmark = pytest.mark.book


def test_three_exercises_can_be_checked(capsys):
    assert {label for label, where in labels().items() if where == "mlca"} == {
        "mlca-ex-hand",
        "mlca-ex-pairs",
        "mlca-ex-shrink",
    }
    check("mlca-ex-hand", np.diag([1 / 4, 0, 1 / 100]))
    assert capsys.readouterr().out == "mlca-ex-hand: right.\n"


@pytest.mark.parametrize(
    "M, said",
    [
        (np.diag([1 / 4, 1 / 25, 0]), "signal"),  # of the worked example
        (np.diag([1 / 4, 0, 1]), "nuisance"),  # divided once
        (np.diag([1 / 2, 0, 1 / 50]), "constant"),  # without the 1/√2 of J
        (np.ones((3, 3)), "diagonal"),
        (np.triu(np.ones((3, 3))), "symmetric"),
        (np.eye(2), "3 × 3"),
        ("M", "numbers"),
    ],
)
def test_a_wrong_matrix_by_hand_is_refused(M, said):
    assert said in by_hand(M)


def scatter(X):
    centred = X - X.mean(axis=0)
    return len(X) * centred.T @ centred


def test_pairs():
    within = lambda X, y: sum(scatter(X[y == c]) for c in np.unique(y))  # noqa: E731
    assert pairs(lambda X, y: scatter(X) - within(X, y)) is None
    assert "in both orders" in pairs(lambda X, y: 2 * (scatter(X) - within(X, y)))
    assert "within a class" in pairs(lambda X, y: scatter(X))
    assert "d × d" in pairs(lambda X, y: np.trace(scatter(X) - within(X, y)))
    assert "returned" in pairs(within)
    assert "returned nothing" in pairs(lambda X, y: None)


def by_scatters(X, y, a, *, centre=True, ridge_only=False):
    X = X - X.mean(axis=0) if centre else X
    means = [np.sqrt(np.sum(y == c)) * X[y == c].mean(axis=0) for c in np.unique(y)]
    S_t, S_b = X.T @ X, np.array(means).T @ np.array(means)
    mix = lambda S: (1 - a) * S + a * np.trace(S) / len(S) * np.eye(len(S))  # noqa: E731
    inverse = np.linalg.pinv(mix(S_t))
    return inverse @ (S_b if ridge_only else mix(S_b)) @ inverse


def test_shrink():
    def library(X, y, a):
        model = MLCA(shrinkage=a, fit_intercept=True).fit(X, y)
        return model.get_mahalanobis_matrix()

    assert shrink(library) is None
    assert shrink(by_scatters) is None
    assert "centred" in shrink(lambda X, y, a: by_scatters(X, y, a, centre=False))
    assert "identity" in shrink(lambda X, y, a: by_scatters(X, y, a, ridge_only=True))
    assert "both scatters" in shrink(
        lambda X, y, a: by_scatters(X, y, a) * (1 if a in (0, 1) else 2)
    )
    assert "d × d" in shrink(lambda X, y, a: np.linalg.cholesky(by_scatters(X, y, a) + 1)[0])
