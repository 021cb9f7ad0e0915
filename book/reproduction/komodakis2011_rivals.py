"""Komodakis 2011, Section 6: other ways to learn from many distances at once."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from book.reproduction.correlation_clustering import CorrelationClusteringSVM
from mlbook._arrays import Floats, Integers
from mlbook.partitions import f_measure

ALPHAS = (1e-1, 1e-2, 1e-3)  # strengths of regularization of the structured SVM that are tried
COSTS = (0.1, 1.0, 10.0, 100.0)  # likewise, C of the classifier


def nca_weights(stack: Floats, y: Integers) -> Floats:
    """Weights of distances by neighbourhood components analysis (Goldberger et al. 2005).

    A point's random neighbour is drawn with probability proportional to exp(−d). Maximizes the
    mean logarithm of the chance that it is of the point's class; weights are at least 0.
    """
    same = y[:, None] == y
    n = len(y)

    def loss(w: Floats) -> tuple[float, Floats]:
        D = np.tensordot(w.astype(stack.dtype), stack, axes=1).astype(np.float64)
        np.fill_diagonal(D, np.inf)
        P = softmax(-D, axis=1)
        right = np.maximum((P * same).sum(axis=1), np.finfo(float).tiny)
        slope = P * (same / right[:, None] - 1)
        return -float(np.log(right).mean()), np.tensordot(stack, slope, axes=2) / n

    start = np.full(len(stack), 10 / len(stack))
    found = minimize(loss, start, jac=True, bounds=[(0, None)] * len(stack), method="L-BFGS-B")
    return np.asarray(found.x)


def pair_features(stack: Floats) -> Floats:
    """Negative distances, and a constant for the threshold."""
    return np.concatenate([-stack, np.ones_like(stack[:1])]).astype(np.float64)


def trained_svm(stack: Floats, y: Integers, balanced: bool) -> CorrelationClusteringSVM:
    """Structured SVM for correlation clustering, of the strength that suits training data best."""
    features = pair_features(stack)
    models = []
    with warnings.catch_warnings():  # weak regularization is slow to solve
        warnings.simplefilter("ignore", ConvergenceWarning)
        for alpha in ALPHAS:
            model = CorrelationClusteringSVM(alpha=alpha, balanced=balanced, max_iter=100)
            models.append(model.fit([features], [y]))
    return max(models, key=lambda model: f_measure(y, model.predict(features)))


def svm_of_kernels(stack: Floats, y: Integers, across: Floats) -> Integers:
    """Classes of new points by an SVM on a weighted sum of the kernels exp(−d).

    Each weight is how well the centred kernel is aligned with the classes, or 0 if it is not
    (Cortes et al. 2012, their simple rule); C is chosen by cross-validation.
    """
    train, new = np.exp(-stack), np.exp(-across)
    same = (y[:, None] == y).astype(float)
    same -= same.mean(axis=0)
    same -= same.mean(axis=1, keepdims=True)
    centred = train - train.mean(axis=1, keepdims=True)
    centred -= centred.mean(axis=2, keepdims=True)
    lengths = np.sqrt((centred.astype(np.float64) ** 2).sum(axis=(1, 2)))
    weights = np.maximum(np.tensordot(centred, same, axes=2) / lengths, 0)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": COSTS}, cv=folds)
    search.fit(np.tensordot(weights, train, axes=1), y)
    return np.asarray(search.predict(np.tensordot(weights, new, axes=1)))
