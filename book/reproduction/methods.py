"""The metrics that are compared, each with its one knob, and the clusters found under them.

A knob is turned on training rows only. Where the test classes are unseen, whole training classes
are left out and clustered; where they are seen, half of the rows of each class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestCentroid

from book.reproduction.compared_data import Problem, draw
from book.reproduction.units import Unit, timed
from mlbook._arrays import Floats, Integers
from mlbook.baselines import kissme
from mlbook.mlca import MLCA

SHRUNK = (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # 1 is the Euclidean distance
KEPT = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)  # share of the variance, of principal components
N_SPLITS, MOST_LEFT_OUT, N_INIT = 6, 5, 3
TINY = 1e-10  # of the largest eigenvalue: directions below do not vary

Learn = Callable[[Floats, Integers, float], Floats]  # rows, classes, knob; the map L


class Method(NamedTuple):
    """How to learn a map, the values of its knob, and whether the labels are used at all."""

    learn: Learn
    knobs: Sequence[float]
    told: bool = True


def inverse_root(S: Floats, shrinkage: float = 0.0) -> Floats:
    """Return L with LᵀL the inverse of (1 − a) S + a t I, t the mean diagonal entry of S.

    Directions that do not vary get zero.
    """
    values, vectors = eigh((1 - shrinkage) * S + shrinkage * np.trace(S) / len(S) * np.eye(len(S)))
    kept = values > TINY * values[-1]
    return (vectors[:, kept] / np.sqrt(values[kept])).T


def learn_nothing(X: Floats, y: Integers, knob: float) -> Floats:
    """Keep the rows as they are."""
    return np.eye(X.shape[1])


def learn_standardised(X: Floats, y: Integers, knob: float) -> Floats:
    """Divide every feature by its standard deviation."""
    spread = X.std(axis=0)
    return np.diag(1 / np.where(spread > 0, spread, 1))


def learn_whitened(X: Floats, y: Integers, knob: float) -> Floats:
    """Make all directions vary alike, after shrinking the covariance; no label is used."""
    return inverse_root(np.cov(X.T), knob)


def learn_rca(X: Floats, y: Integers, knob: float) -> Floats:
    """RCA with a shrunk within-class covariance."""
    means = np.array([X[y == c].mean(axis=0) for c in range(y.max() + 1)])
    return inverse_root(np.cov((X - means[y]).T), knob)


def learn_lda(X: Floats, y: Integers, knob: float) -> Floats:
    """LDA with scikit-learn's shrunk covariances."""
    model = LinearDiscriminantAnalysis(solver="eigen", shrinkage=knob).fit(X, y)
    return model.scalings_[:, : y.max()].T


def learn_kissme(X: Floats, y: Integers, knob: float) -> Floats:
    """KISSME of the leading principal components, which hold a share of the variance."""
    axes = PCA(svd_solver="full").fit(X)
    share = np.cumsum(axes.explained_variance_ratio_)
    kept = min(int(np.searchsorted(share, knob)) + 1, (len(X) - y.max() - 1) // 2)
    return kissme(axes.transform(X)[:, :kept], y) @ axes.components_[:kept]


def learn_mlca(X: Floats, y: Integers, knob: float) -> Floats:
    """MLCA, shrunk; at 0 it is that of the paper, of centred rows."""
    return MLCA(shrinkage=knob, fit_intercept=True).fit(X, y).components_


def learn_mlca_balanced(X: Floats, y: Integers, knob: float) -> Floats:
    """MLCA with classes of equal weight, whatever their sizes."""
    model = MLCA(shrinkage=knob, fit_intercept=True, class_weight="balanced")
    return model.fit(X, y).components_


MLCA_SHRUNK, BY_MEANS = "MLCA, shrunk", "nearest class mean"
METHODS = {
    "k-means": Method(learn_nothing, (0,), told=False),
    "standardised": Method(learn_standardised, (0,), told=False),
    "whitened": Method(learn_whitened, (0,), told=False),
    "half whitened": Method(learn_whitened, (0.5,), told=False),
    "whitened, shrunk": Method(learn_whitened, SHRUNK),
    "RCA, shrunk": Method(learn_rca, SHRUNK),
    "LDA, shrunk": Method(learn_lda, SHRUNK),
    "KISSME": Method(learn_kissme, KEPT),
    "MLCA, plain": Method(learn_mlca, (0,)),
    MLCA_SHRUNK: Method(learn_mlca, SHRUNK),
    "MLCA, half shrunk": Method(learn_mlca, (0.5,)),
    "MLCA, balanced": Method(learn_mlca_balanced, SHRUNK),
    BY_MEANS: Method(learn_mlca, SHRUNK),
}


def cluster(Z: Floats, k: int, n_init: int = 10) -> Integers:
    """k-means, told the number of clusters."""
    return KMeans(k, n_init=n_init, random_state=0).fit_predict(Z)


def left_out(y: Integers, seen: bool, rng: np.random.Generator) -> Any:
    """Mark the rows on which a knob is judged: half of each class, or some whole classes."""
    if seen:
        order = rng.permutation(len(y))
        order = order[np.argsort(y[order], kind="stable")]
        marks = np.zeros(len(y), dtype=bool)
        marks[order[::2]] = True
        return marks
    m = y.max() + 1
    return np.isin(y, rng.choice(m, min(MOST_LEFT_OUT, m // 2), replace=False))


def turn(method: Method, X: Floats, y: Integers, seen: bool) -> float:
    """Choose the knob: the largest mean adjusted Rand index of rows left out of training.

    With fewer than four classes, and new ones to be found, none can be left out: the middle
    value is taken.
    """
    if len(method.knobs) == 1:
        return method.knobs[0]
    if not seen and y.max() < 3:
        return 0.5
    rng = np.random.default_rng(0)
    scores = np.zeros(len(method.knobs))
    for _ in range(N_SPLITS):
        out = left_out(y, seen, rng)
        codes = np.unique(y[~out], return_inverse=True)[1]
        truth = y[out]
        for i, knob in enumerate(method.knobs):
            Z = X[out] @ method.learn(X[~out], codes, knob).T
            scores[i] += adjusted_rand_score(truth, cluster(Z, len(set(truth)), N_INIT))
    return method.knobs[int(scores.argmax())]


def learn(name: str, X: Floats, y: Integers, seen: bool) -> Floats:
    """Turn the knob of a method and learn from all training rows.

    For classes never seen MLCA turns its knob itself.
    """
    method = METHODS[name]
    if name == MLCA_SHRUNK and not seen and y.max() > 2:
        model = MLCA(shrinkage="auto", fit_intercept=True, random_state=0)
        return model.fit(X, y).components_
    return method.learn(X, y, turn(method, X, y, seen))


def found_by(name: str, components: Floats, problem: Problem) -> Integers:
    """Cluster the test rows under a metric; where classes are known, name the nearest mean."""
    Z = problem.X_test @ components.T
    if name == BY_MEANS:
        return NearestCentroid().fit(problem.X @ components.T, problem.y).predict(Z)
    return cluster(Z, len(set(problem.y_test)))


def run_unit(unit: Unit) -> dict[str, float]:
    """Learn with every method and cluster the test set: the adjusted Rand index of each.

    Under "time, METHOD" is the CPU time of learning, the turning of the knob included, over that
    of one clustering of the test set by k-means.
    """
    problem, seen = draw(unit), bool(unit["seen"])
    once = timed(lambda: cluster(problem.X_test, len(set(problem.y_test))))[1]
    values: dict[str, float] = {}
    for name in unit["methods"]:
        components, seconds = timed(partial(learn, name, problem.X, problem.y, seen))
        found = found_by(name, components, problem)
        values[name] = round(float(adjusted_rand_score(problem.y_test, found)), 4)
        if METHODS[name].told:
            values[f"time, {name}"] = float(f"{seconds / once:.3g}")
    return values
