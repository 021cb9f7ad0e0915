"""A generator of training and test sets: a few directions hold the classes, the others none.

For figures, exercises and claims about causes; the comparison itself has real data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.large_margin import LargeMarginMetric

Sets = list[tuple[Floats, Integers]]

WITHIN = 1.0  # standard deviation of a cluster in every signal direction
BETWEEN = 2.0  # of the centres, in every signal direction
N_SIGNAL = 6
N_TEST_ROWS = 80
BASE: dict[str, Any] = {
    "n_sets": 4,
    "n_rows": 80,
    "n_test_sets": 4,
    "k": 4,
    "n_classes": 12,
    "n_nuisance": 12,
    "nuisance": 4.0,
    "mixed": False,
    "flipped": 0.0,
}


class MadeProblem(NamedTuple):
    """Training sets; all their rows with the class of each; test sets; the signal directions.

    Classes are numbered over all sets. Test sets have classes that are in no training set.
    """

    train: Sets
    rows: Floats
    labels: Integers
    unseen: Sets
    signal: Floats


def draw_gaussians(unit: Unit) -> MadeProblem:
    """Gaussian classes in `N_SIGNAL` directions, beside nuisance directions that hold no class.

    Centres have the standard deviation `BETWEEN` in the signal directions, points `WITHIN`
    about them, and ``nuisance`` in the nuisance directions. Where ``mixed``, all directions are
    turned by one random rotation. Each training set has k of the ``n_classes`` classes; a share
    ``flipped`` of its labels is replaced by another class of the set.
    """
    rng = np.random.default_rng(unit["seed"])
    d, k = N_SIGNAL + unit["n_nuisance"], unit["k"]
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0] if unit["mixed"] else np.eye(d)
    scales = np.r_[np.full(N_SIGNAL, WITHIN), np.full(unit["n_nuisance"], unit["nuisance"])]

    def draw(centres: Floats, n: int) -> tuple[Floats, Integers]:
        y = rng.permutation(np.resize(np.arange(len(centres)), n))
        X = scales * rng.standard_normal((n, d))
        X[:, :N_SIGNAL] += centres[y]
        return X @ turn.T, y

    known = BETWEEN * rng.standard_normal((unit["n_classes"], N_SIGNAL))
    train: Sets = []
    for _ in range(unit["n_sets"]):
        classes = rng.permutation(len(known))[:k]
        X, y = draw(known[classes], unit["n_rows"])
        wrong = rng.random(len(y)) < unit["flipped"]
        train.append((X, classes[np.where(wrong, (y + rng.integers(1, k, len(y))) % k, y)]))
    unseen = [
        draw(BETWEEN * rng.standard_normal((k, N_SIGNAL)), N_TEST_ROWS)
        for _ in range(unit["n_test_sets"])
    ]
    rows = np.vstack([X for X, _ in train])
    labels = np.unique(np.concatenate([y for _, y in train]), return_inverse=True)[1]
    return MadeProblem(train, rows, labels, unseen, turn[:, :N_SIGNAL].T)


def learn_large_margin(train: Sets, **options: Any) -> Floats:
    """Learn from the partition of every set."""
    X, y = zip(*train, strict=True)
    model = LargeMarginMetric(structure="spectral", n_clusters="known", tol=0.01, **options)
    return model.fit(X, y).components_


def quiet(function: Callable[[], Any]) -> Any:
    """Call a function, without warnings of metrics that are zero or not converged to the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for message in ("all weights are zero", "the learned metric is zero"):
            warnings.filterwarnings("ignore", message)
        return function()
