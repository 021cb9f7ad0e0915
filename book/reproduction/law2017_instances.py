"""Law 2017, Tables 4 and 7: classifiers that look for the instances that decide over a bag.

Each learns one label: a bag is positive if it has the label. They are written after the papers
that proposed them, on parts of scikit-learn and SciPy; Law 2017 ran published programs of theirs,
whose settings it does not print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_array
from scipy.special import expit, logit
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from book.reproduction.bag_baselines import bag_dissimilarities
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags

Positive = NDArray[np.bool_]  # for each bag, whether it has the label
LEAST = 1e-12  # probabilities, and distances of a negative instance from the target


def miles_features(bags: Bags, train: Bags, gamma: float) -> Floats:
    """Similarity of every bag to every training instance, MILES (Chen, Bi and Wang 2006).

    exp(−γ‖x − e‖²) for the instance e of the bag that is nearest to the training instance x. A
    linear classifier with an ℓ1 penalty then picks the training instances that count.

    Examples
    --------
    >>> train = Bags([[0.0], [1.0]], [0, 1, 2])
    >>> miles_features(Bags([[0.0], [3.0]], [0, 2]), train, gamma=1.0).round(3).tolist()
    [[1.0, 0.368]]
    """
    singles = Bags(train.instances, np.arange(len(train.instances) + 1))
    return np.exp(-gamma * bag_dissimilarities(singles, bags, "minmin").T)


def mi_svm(train: Bags, positive: Positive, *, max_iter: int = 10) -> SVC:
    """Support vector machine on guessed labels of instances, mi-SVM (Andrews et al. 2002).

    At first every instance has the label of its bag. Then, by turns, a machine is trained, and the
    instances of positive bags get the labels that it says; where a bag would have no positive
    instance, its highest one stays positive. Rounds end when no label changes.

    Examples
    --------
    >>> X = [[0.1], [5.0], [0.2], [5.1], [0.0], [0.3], [0.1], [0.2]]
    >>> model = mi_svm(Bags(X, [0, 2, 4, 6, 8]), np.arange(4) < 2)
    >>> (model.decision_function([[0.0], [5.0]]) > 0).tolist()
    [False, True]
    """
    X, inside = train.instances, positive[train.bag_index]
    labels, model = inside.copy(), SVC(random_state=0)
    for _ in range(max_iter):
        scores = model.fit(X, labels).decision_function(X)
        best = _best_instances(scores, train)[positive]
        new = inside & (scores > 0)
        new[best] = True
        if np.array_equal(new, labels):
            break
        labels = new
    return model


def milboost(
    train: Bags, positive: Positive, *, n_rounds: int = 50
) -> tuple[Callable[[Any], Floats], list[float]]:
    """Boosted stumps under a noisy OR, MILBoost (Viola, Platt and Zhang 2005).

    An instance with score h is positive with probability p = σ(h), a bag unless all its instances
    are negative: P = 1 − Π(1 − p). Each round fits a tree with one split to the gradient of the
    log-likelihood of the bags, and adds it times the factor that raises the likelihood most.

    Returns
    -------
    scores : callable
        From rows of instances to h.
    path : list of float
        Log-likelihood before the first round and after each.

    Examples
    --------
    >>> X = [[0.1], [5.0], [0.2], [5.1], [0.0], [0.3], [0.1], [0.2]]
    >>> scores, path = milboost(Bags(X, [0, 2, 4, 6, 8]), np.arange(4) < 2)
    >>> (scores([[0.0], [5.0]]) > 0).tolist(), path[-1] > path[0]
    ([False, True], True)
    """
    X, share = train.instances, positive.mean()
    start = float(logit(1 - (1 - share) ** (1 / train.sizes.mean())))
    h = np.full(len(X), start)
    steps: list[tuple[float, DecisionTreeRegressor]] = []
    path = [noisy_or(h, train, positive)[0]]
    for _ in range(n_rounds):
        gradient = noisy_or(h, train, positive)[1]
        stump = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, gradient)
        move = stump.predict(X)
        size = np.abs(move).max()
        if not size > LEAST:
            break
        factor = _best_factor(h, move / size, train, positive) / size
        h = h + factor * move
        steps.append((factor, stump))
        path.append(noisy_or(h, train, positive)[0])

    def scores(rows: Any) -> Floats:
        moves = [factor * stump.predict(rows) for factor, stump in steps]
        return start + np.sum(moves, axis=0) * np.ones(len(rows))

    return scores, path


def noisy_or(h: Floats, bags: Bags, positive: Positive) -> tuple[float, Floats]:
    """Log-likelihood of the bags' labels under a noisy OR, and its gradient in the scores h.

    Examples
    --------
    >>> value, gradient = noisy_or(np.zeros(2), Bags([[1.0], [2.0]], [0, 2]), np.array([True]))
    >>> round(float(np.exp(value)), 2), gradient.round(3).tolist()
    (0.75, [0.167, 0.167])
    """
    none = np.add.reduceat(-np.logaddexp(0, h), bags.offsets[:-1])  # log Π (1 − p)
    some = np.maximum(-np.expm1(none), LEAST)
    value = np.where(positive, np.log(some), none).sum()
    weight = np.where(positive, np.exp(none) / some, -1.0)
    return float(value), weight[bags.bag_index] * expit(h)


def _best_factor(h: Floats, move: Floats, bags: Bags, positive: Positive) -> float:
    """Factor from 0 to 4 of a move of size 1 that raises the likelihood most."""
    found = minimize_scalar(
        lambda factor: -noisy_or(h + factor * move, bags, positive)[0],
        bounds=(0, 4),
        method="bounded",
        options={"xatol": 1e-2},
    )
    better = -found.fun > noisy_or(h, bags, positive)[0]
    return float(found.x) if better else 0.0


def em_dd(
    train: Bags, positive: Positive, *, n_starts: int = 5, max_iter: int = 10, seed: int = 0
) -> tuple[Floats, Floats, float]:
    """Target point and scales of a label, EM-DD (Zhang and Goldman 2002).

    An instance x is positive with probability exp(−Σ_k s_k²(x_k − t_k)²), and a bag with that of
    its likeliest instance. From the instances of positive bags, some drawn, by turns: choose the
    likeliest instance of every bag; raise the likelihood in t and s by L-BFGS. The best start wins.

    Returns
    -------
    target, scales : ndarrays of shape (d,)
        t and s.
    loss : float
        Minus the log-likelihood.

    Examples
    --------
    >>> X = [[0.1], [5.0], [0.2], [5.1], [0.0], [0.3], [0.1], [0.2]]
    >>> em_dd(Bags(X, [0, 2, 4, 6, 8]), np.arange(4) < 2)[0].round(1).tolist()
    [5.1]
    """
    X = train.instances
    d, rng = X.shape[1], np.random.default_rng(seed)
    inside = np.flatnonzero(positive[train.bag_index])
    scale = 1 / np.sqrt(max(X.var(axis=0).sum(), LEAST))  # distances of about 1
    best = (np.zeros(d), np.ones(d), np.inf)
    for row in rng.permutation(inside)[:n_starts]:
        parameters, loss = np.append(X[row], np.full(d, scale)), np.inf
        for _ in range(max_iter):
            chosen = X[_best_instances(-_spread(X, parameters), train)]
            step = minimize(
                dd_loss, parameters, args=(chosen, positive), jac=True, method="L-BFGS-B",
                options={"maxiter": 50},
            )  # fmt: skip
            nearest = X[_best_instances(-_spread(X, step.x), train)]
            new = dd_loss(step.x, nearest, positive)[0]
            if not new < loss - 1e-6:
                break
            parameters, loss = step.x, new
        if loss < best[2]:
            best = (parameters[:d], parameters[d:], loss)
    return best


def dd_loss(parameters: Floats, chosen: Floats, positive: Positive) -> tuple[float, Floats]:
    """Minus the log-likelihood of EM-DD for one chosen instance of each bag, and its gradient.

    Examples
    --------
    >>> loss, _ = dd_loss(np.array([0.0, 1.0]), np.array([[1.0], [2.0]]), np.array([True, False]))
    >>> round(loss, 4), round(float(1 - np.log(1 - np.exp(-4))), 4)
    (1.0185, 1.0185)
    """
    t, s = np.split(parameters, 2)
    apart = chosen - t
    q = np.maximum(apart**2 @ s**2, LEAST)
    loss = np.where(positive, q, -np.log(-np.expm1(-q))).sum()
    with np.errstate(over="ignore"):  # far away a negative bag has no weight
        weight = np.where(positive, 1.0, -1 / np.expm1(q))
    gradient = np.append(-2 * s**2 * (weight @ apart), 2 * s * (weight @ apart**2))
    return float(loss), gradient


def _spread(X: Floats, parameters: Floats) -> Floats:
    """Scaled squared distance of every row from the target."""
    t, s = np.split(parameters, 2)
    return (X - t) ** 2 @ s**2


def _best_instances(scores: Floats, bags: Bags) -> Integers:
    """Row of the highest score in each bag, the first of equal ones."""
    order = np.lexsort((-scores, bags.bag_index))
    return order[bags.offsets[:-1]]


def _bag_scores(scores: Floats, bags: Bags) -> Floats:
    return np.maximum.reduceat(scores, bags.offsets[:-1])


def _mi_svm_scores(train: Bags, positive: Positive, test: Bags) -> Floats:
    return _bag_scores(mi_svm(train, positive).decision_function(test.instances), test)


def _milboost_scores(train: Bags, positive: Positive, test: Bags) -> Floats:
    h = milboost(train, positive)[0](test.instances)
    none = np.add.reduceat(-np.logaddexp(0, h), test.offsets[:-1])
    return -none  # rises with 1 − Π (1 − p)


def _em_dd_scores(train: Bags, positive: Positive, test: Bags) -> Floats:
    t, s, _ = em_dd(train, positive)
    return -_bag_distance(test, t, s)


def _bag_distance(bags: Bags, t: Floats, s: Floats) -> Floats:
    return np.minimum.reduceat(_spread(bags.instances, np.append(t, s)), bags.offsets[:-1])


INSTANCE_CLASSIFIERS: dict[str, Callable[[Bags, Positive, Bags], Floats]] = {
    "miSVM": _mi_svm_scores,
    "MILBoost": _milboost_scores,
    "EM-DD": _em_dd_scores,
}


def label_by_label(method: str, train: Bags, Y: csr_array, test: Bags) -> Floats:
    """Scores of every label for the test bags; −∞ and +∞ for labels of no or of all bags.

    Examples
    --------
    >>> X = [[0.1], [5.0], [0.2], [5.1], [0.0], [0.3], [0.1], [0.2]]
    >>> Y = csr_array(np.array([[1, 1], [1, 1], [0, 1], [0, 1]]))
    >>> test = Bags([[0.0], [5.0]], [0, 1, 2])
    >>> label_by_label("miSVM", Bags(X, [0, 2, 4, 6, 8]), Y, test).round(1).tolist()
    [[-1.0, inf], [1.0, inf]]
    """
    labels = Y.toarray().astype(bool)
    scores = np.where(labels.any(axis=0), np.inf, -np.inf) * np.ones((len(test), 1))
    for c in np.flatnonzero(labels.any(axis=0) & ~labels.all(axis=0)):
        scores[:, c] = INSTANCE_CLASSIFIERS[method](train, labels[:, c], test)
    return scores
