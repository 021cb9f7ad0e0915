"""Weak labels, unknown numbers of clusters, sequences: methods that are told less, or more.

All on unseen classes. The training rows are those of `compared_data.draw`; here they are put into
bags, into sets that are partitioned, or in a row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, silhouette_score

from book.reproduction.compared_data import Problem, draw
from book.reproduction.methods import MLCA_SHRUNK, cluster, learn, learn_mlca
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.changepoints import segment
from mlbook.datasets import bags_from_labels
from mlbook.exemplars import ExemplarClustering
from mlbook.large_margin import LargeMarginMetric
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.mimlca import MIMLCA

Sets = list[tuple[Floats, Integers]]
Predict = Callable[[Floats], Integers]

# Bags

MIMLCA_PLAIN, MIMLCA_SHRUNK = "MIMLCA", "MIMLCA, then MLCA half shrunk"


def run_bags(unit: Unit) -> dict[str, float]:
    """Learn from bags of rows and the classes in each; cluster classes never seen.

    MIMLCA finds the class of every row; MLCA may then learn from the classes found. "right" is
    the share of training rows whose class is right.
    """
    problem = draw(unit)
    counts = [0] * (unit["bag_size"] - 1) + [1]
    weak = bags_from_labels(problem.X, problem.y, size_counts=counts, random_state=0)
    model = MIMLCA().fit(Bags(weak.instances, weak.offsets), weak.Y)
    maps = {
        "k-means": np.eye(problem.X.shape[1]),
        MIMLCA_PLAIN: model.components_,
        MIMLCA_SHRUNK: learn_mlca(weak.instances, model.assignments_, 0.5),
    }
    values = {"right": round(float(np.mean(model.assignments_ == weak.labels)), 4)}
    for name, components in maps.items():
        found = cluster(problem.X_test @ components.T, len(set(problem.y_test)))
        values[name] = rand_of(problem.y_test, found)
    return values


def rand_of(truth: Integers, found: Integers) -> float:
    """Return the adjusted Rand index with four digits."""
    return round(float(adjusted_rand_score(truth, found)), 4)


# The number of clusters not told

N_SETS, PER_CLASS, MOST = 6, 20, 10
PRICES = np.geomspace(0.5, 200, 14)  # in units of the mean squared distance within classes


def training_sets(problem: Problem, most: int, rng: np.random.Generator) -> Sets:
    """Draw sets of two to `most` training classes, 20 rows of each, or all there are."""
    sets = []
    for _ in range(N_SETS):
        m = problem.y.max() + 1
        chosen = rng.choice(m, rng.integers(2, min(m, most) + 1), replace=False)
        rows = [rng.permutation(np.flatnonzero(problem.y == c))[:PER_CLASS] for c in chosen]
        where = np.concatenate(rows)
        sets.append((problem.X[where], problem.y[where]))
    return sets


def by_silhouette(components: Floats) -> Predict:
    """k-means for 2 to 10 clusters; keep the partition of the largest mean silhouette."""

    def predict(X: Floats) -> Integers:
        Z = X @ components.T
        found = [cluster(Z, k) for k in range(2, MOST + 1)]
        return max(found, key=lambda labels: silhouette_score(Z, labels))

    return predict


def by_plateau(X: Floats) -> Integers:
    """Exemplars at the price of the longest plateau; nothing is learned."""
    return ExemplarClustering(random_state=0).fit_predict(X)


def by_price(sets: Sets, components: Floats) -> Predict:
    """Exemplars under a metric, at the price that was best on the training sets."""
    scale = np.mean([within(X @ components.T, y) for X, y in sets])

    def fit(X: Floats, price: float) -> Integers:
        model = ExemplarClustering(penalty=price * scale, random_state=0)
        return model.fit_predict(X @ components.T)

    scores = [np.mean([adjusted_rand_score(y, fit(X, p)) for X, y in sets]) for p in PRICES]
    return partial(fit, price=PRICES[int(np.argmax(scores))])


def within(Z: Floats, y: Integers) -> float:
    """Return the mean squared distance of a row to the mean of its class."""
    return float(np.mean([Z[y == c].var(axis=0).sum() for c in set(y)]))


def counter(name: str, problem: Problem, sets: Sets) -> Predict:
    """Learn what clusters a set without being told their number."""
    X, y = zip(*sets, strict=True)
    if name == "latent CRF":
        crf = LatentExemplarMetric(random_state=0).fit(X, y)
        return lambda rows: crf.predict(rows)
    if name == "large margin":
        model = LargeMarginMetric(structure="spectral", tol=0.01, random_state=0).fit(X, y)
        return lambda rows: model.predict(rows)
    if name == "exemplars, no examples":
        return by_plateau
    components = learn("k-means" if "k-means" in name else MLCA_SHRUNK, problem.X, problem.y, False)
    return by_silhouette(components) if "silhouette" in name else by_price(sets, components)


COUNTERS = (
    "k-means, silhouette",
    "MLCA, silhouette",
    "exemplars, no examples",
    "k-means' metric, price learned",
    "MLCA, price learned",
    "latent CRF",
    "large margin",
)


QUIET = ("the learned metric is zero", "all weights are zero", "penalty=", "The number of unique")


def run_count(unit: Unit) -> dict[str, float]:
    """Cluster sets of two to all test classes, 20 rows of each, without being told how many.

    Under "off, METHOD" is by how many clusters it is wrong on average.
    """
    problem, rng = draw(unit), np.random.default_rng(unit["seed"])
    classes = rng.permutation(np.unique(problem.y_test))
    sets = training_sets(problem, len(classes), rng)
    rows = [np.flatnonzero(problem.y_test == c)[:PER_CLASS] for c in classes]
    tests = [np.concatenate(rows[:k]) for k in range(2, len(classes) + 1)]
    values = {}
    for name in unit["methods"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for message in QUIET:
                warnings.filterwarnings("ignore", message)
            predict = counter(name, problem, sets)
            found = [predict(problem.X_test[test]) for test in tests]
        truth = [problem.y_test[test] for test in tests]
        values[name] = float(np.mean([*map(rand_of, truth, found)]).round(4))
        off = [abs(len(set(a)) - len(set(b))) for a, b in zip(truth, found, strict=True)]
        values[f"off, {name}"] = float(np.mean(off).round(4))
    return values


# Sequences

SHORTEST, LONGEST, N_SEQUENCES = 3, 24, 4
LARGE_MARGIN, NO_ORDER = "large margin, diagonal", "MLCA, order ignored"
LINEAR = ("k-means", "standardised", "half whitened", "RCA, shrunk", MLCA_SHRUNK)
SEGMENTERS = (*LINEAR, LARGE_MARGIN, NO_ORDER)


def sequence(X: Floats, y: Integers, rng: np.random.Generator) -> tuple[Floats, Integers]:
    """Put rows in a row: runs of one class, 3 to 24 rows long, neighbours of different classes.

    Returns the rows and the run of each.
    """
    left = {c: list(rng.permutation(np.flatnonzero(y == c))) for c in np.unique(y)}
    order: list[int] = []
    runs: list[int] = []
    last = None
    while choices := [c for c in left if c != last and len(left[c]) >= SHORTEST]:
        last = choices[rng.integers(len(choices))]
        length = min(int(rng.integers(SHORTEST, LONGEST + 1)), len(left[last]))
        runs += [runs[-1] + 1 if runs else 0] * length
        order += [left[last].pop() for _ in range(length)]
    return X[order], np.array(runs)


def run_sequences(unit: Unit) -> dict[str, float]:
    """Cut a sequence of test rows into as many segments as there are."""
    problem, rng = draw(unit), np.random.default_rng(unit["seed"])
    X, runs = sequence(problem.X_test, problem.y_test, rng)
    n = int(runs.max()) + 1
    parts = np.array_split(rng.permutation(len(problem.X)), N_SEQUENCES)
    series = [sequence(problem.X[part], problem.y[part], rng) for part in parts]
    maps = {name: learn(name, problem.X, problem.y, False) for name in LINEAR}
    found = {name: segment(X @ components.T, n) for name, components in maps.items()}
    model = LargeMarginMetric(n_clusters="known", tol=0.01).fit(*zip(*series, strict=True))
    found[LARGE_MARGIN] = segment(X @ model.components_.T, n)
    labels = cluster(X @ maps[MLCA_SHRUNK].T, len(set(problem.y_test)))
    found[NO_ORDER] = np.r_[0, np.cumsum(labels[1:] != labels[:-1])]
    return {name: rand_of(runs, labels) for name, labels in found.items()}
