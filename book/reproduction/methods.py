"""All methods of the book on the same data: what each is told, what it finds, what it costs.

A problem is a few training sets with their partitions, and test sets of two kinds: with classes
that were in the training sets, and with classes that were not. Every method learns from the
same training rows; what it is told of them differs. Quality is measured by the adjusted Rand
index and by Δ, over both kinds of test sets; times are ratios to MLCA on the same rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, silhouette_score

from book.reproduction.units import Unit, timed
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.baselines import METRICS
from mlbook.datasets import WeakBags, bags_from_labels
from mlbook.large_margin import LargeMarginMetric
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.mimlca import MIMLCA
from mlbook.mlca import MLCA
from mlbook.partitions import partition_loss

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
    "k_test": 4,
    "n_classes": 12,
    "n_nuisance": 12,
    "nuisance": 4.0,
    "mixed": False,
    "flipped": 0.0,
    "bag_size": 3,
}


class Problem(NamedTuple):
    """Training data in the three forms that methods want, and the test data.

    `train` and its partitions; the same rows in one matrix, with `labels` of classes that
    are numbered over all sets; and once more in weakly labelled `bags`. Then test sets of classes
    that are in the training sets and that are not, and the directions that matter if known.
    """

    train: Sets
    rows: Floats
    labels: Integers
    bags: WeakBags
    seen: Sets
    unseen: Sets
    signal: Floats | None = None


def pose(train: Sets, seen: Sets, unseen: Sets, bag_size: int, **known: Floats) -> Problem:
    """Put training sets into all forms; all bags but the last ones hold `bag_size` rows."""
    rows = np.vstack([X for X, _ in train])
    labels = np.unique(np.concatenate([y for _, y in train]), return_inverse=True)[1]
    counts = [0] * (bag_size - 1) + [1]
    bags = bags_from_labels(rows, labels, size_counts=counts, random_state=0)
    return Problem(train, rows, labels, bags, seen, unseen, **known)


# The two kinds of data


def draw_gaussians(unit: Unit) -> Problem:
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
    n_test, k_test = unit["n_test_sets"], unit["k_test"]
    seen, unseen = [], []
    for _ in range(n_test):
        classes = rng.permutation(len(known))[:k_test]
        seen.append(draw(known[classes], N_TEST_ROWS))
        new = BETWEEN * rng.standard_normal((k_test, N_SIGNAL))
        unseen.append(draw(new, N_TEST_ROWS))
    return pose(train, seen, unseen, unit["bag_size"], signal=turn[:, :N_SIGNAL].T)


@lru_cache(maxsize=1)
def _digits() -> tuple[Floats, Integers]:
    X, y = load_digits(return_X_y=True)
    return X, y.astype(np.int64)


def draw_digits(unit: Unit) -> Problem:
    """Handwritten digits: of six in the training sets, and of the four others.

    Features are the leading principal components of the training rows.
    """
    rng = np.random.default_rng(unit["seed"])
    X, y = _digits()
    order = rng.permutation(10)
    first, second = (rng.permutation(np.flatnonzero(np.isin(y, c))) for c in (order[:6], order[6:]))
    n = unit["n_sets"] * unit["n_rows"]
    components = PCA(unit["n_components"], svd_solver="full").fit(X[first[:n]])

    def sets(rows: Integers, n_sets: int, size: int) -> Sets:
        parts = rows[: n_sets * size].reshape(n_sets, size)
        return [(components.transform(X[part]), y[part]) for part in parts]

    n_test, size = unit["n_test_sets"], unit["n_test_rows"]
    return pose(
        sets(first, unit["n_sets"], unit["n_rows"]),
        sets(first[n:], n_test, size),
        sets(second, n_test, size),
        unit["bag_size"],
    )


DATA: dict[str, Callable[[Unit], Problem]] = {"gaussians": draw_gaussians, "digits": draw_digits}


# The methods: a problem to a linear map, under which k-means is told the number of clusters


def learn_standardised(problem: Problem) -> Floats:
    """Divide every feature by its standard deviation."""
    return np.diag(1 / problem.rows.std(axis=0))


def learn_mlca(problem: Problem) -> Floats:
    """Learn from the class of every row."""
    return MLCA().fit(problem.rows, problem.labels).components_


def learn_mimlca(problem: Problem) -> Floats:
    """Learn from bags of rows and the set of classes in each."""
    bags = problem.bags
    return MIMLCA().fit(Bags(bags.instances, bags.offsets), bags.Y).components_


def learn_large_margin(problem: Problem, **options: Any) -> Floats:
    """Learn from the partition of every set."""
    X, y = zip(*problem.train, strict=True)
    model = LargeMarginMetric(structure="spectral", n_clusters="known", tol=0.01, **options)
    return model.fit(X, y).components_


def fit_crf(problem: Problem) -> LatentExemplarMetric:
    """Learn from the partition of every set; the number of clusters is part of it."""
    X, y = zip(*problem.train, strict=True)
    return LatentExemplarMetric(random_state=0).fit(X, y)


def learn_crf(problem: Problem) -> Floats:
    """Take the weights of the latent CRF as a diagonal metric."""
    return np.diag(np.sqrt(fit_crf(problem).weights_))


def signal_directions(problem: Problem) -> Floats:
    """Project on the directions that matter, which only the generator knows."""
    assert problem.signal is not None
    return problem.signal


def learn_baseline(problem: Problem, name: str) -> Floats:
    """Learn one of `mlbook.baselines` from the class of every row."""
    return METRICS[name](problem.rows, problem.labels, random_state=0)


CRF = "latent CRF"
METHODS: dict[str, Callable[[Problem], Floats]] = {
    "k-means": partial(learn_baseline, name="euclidean"),
    "k-means, standardised": learn_standardised,
    "RCA": partial(learn_baseline, name="rca"),
    "LDA": partial(learn_baseline, name="lda"),
    "KISSME": partial(learn_baseline, name="kissme"),
    "MLCA": learn_mlca,
    "MIMLCA": learn_mimlca,
    "large margin, diagonal": learn_large_margin,
    "large margin, full": partial(learn_large_margin, metric="full", alpha=0.1),
    f"{CRF}, k told": learn_crf,
}
UNTRAINED = ("k-means", "k-means, standardised", "directions known")
ORACLE = {"directions known": signal_directions}
SLOW_FROM = 30  # features from which the full large-margin metric is left out


def cluster(Z: Floats, k: int) -> Integers:
    """k-means with 10 restarts."""
    return KMeans(k, n_init=10, random_state=0).fit_predict(Z)


def cluster_by_silhouette(Z: Floats, most: int = 12) -> Integers:
    """k-means for 2 to `most` clusters; keep the partition of the largest mean silhouette."""
    found = [cluster(Z, k) for k in range(2, most + 1)]
    distinct = [labels for labels in found if len(set(labels)) > 1]
    return max(distinct, key=lambda labels: silhouette_score(Z, labels), default=found[0])


def quiet(function: Callable[[], Any]) -> Any:
    """Call a function, without warnings of metrics that are zero or not converged to the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for message in ("all weights are zero", "the learned metric is zero"):
            warnings.filterwarnings("ignore", message)
        return function()


def mean_rand(truth: Sets, found: list[Integers]) -> float:
    """Mean adjusted Rand index over test sets."""
    pairs = zip(truth, found, strict=True)
    return float(np.mean([adjusted_rand_score(y, labels) for (_, y), labels in pairs]))


def measure(truth: Sets, found: list[Integers]) -> dict[str, float]:
    """Mean adjusted Rand index, Δ and number of clusters over test sets of unseen classes."""
    losses = [partition_loss(y, labels) for (_, y), labels in zip(truth, found, strict=True)]
    return {
        "unseen": mean_rand(truth, found),
        "delta": float(np.mean(losses)),
        "clusters": float(np.mean([len(set(labels)) for labels in found])),
    }


def run_unit(unit: Unit) -> dict[str, float]:
    """Learn, cluster test sets of classes seen and unseen; the number of clusters is told."""
    problem, method = DATA[unit["data"]](unit), unit["method"]
    learn: Callable[[Problem], Any] = fit_crf if method == CRF else (METHODS | ORACLE)[method]

    def run() -> dict[str, float]:
        model, seconds = timed(lambda: learn(problem))
        unseen, seen = (
            [
                model.predict(X) if method == CRF else cluster(X @ model.T, len(set(y)))
                for X, y in part
            ]
            for part in (problem.unseen, problem.seen)
        )
        values = measure(problem.unseen, unseen) | {"seen": mean_rand(problem.seen, seen)}
        if method not in UNTRAINED:
            values["time"] = seconds / timed(lambda: learn_mlca(problem))[1]
        return values

    return quiet(run)


# The number of clusters not told


def fit_penalty(problem: Problem) -> LargeMarginMetric:
    """Learn a diagonal metric and the penalty of a cluster."""
    X, y = zip(*problem.train, strict=True)
    return LargeMarginMetric(structure="spectral", tol=0.01, random_state=0).fit(X, y)


COUNTERS: dict[str, Callable[[Problem], Any]] = {
    "k-means, silhouette": METHODS["k-means"],
    "RCA, silhouette": METHODS["RCA"],
    "MLCA, silhouette": learn_mlca,
    "directions known, silhouette": signal_directions,
    "large margin, penalty learned": fit_penalty,
    CRF: fit_crf,
}


def run_count(unit: Unit) -> dict[str, float]:
    """Learn, cluster test sets of unseen classes without being told their number."""
    problem = draw_gaussians(unit)

    def run() -> dict[str, float]:
        model = COUNTERS[unit["method"]](problem)
        linear = isinstance(model, np.ndarray)
        found = [
            cluster_by_silhouette(X @ model.T) if linear else model.predict(X)
            for X, _ in problem.unseen
        ]
        return measure(problem.unseen, found)

    return quiet(run)


# What is run


class Sweep(NamedTuple):
    """One parameter of the generator, its values, and what is changed besides."""

    title: str
    parameter: str
    label: str
    levels: tuple[Any, ...]
    methods: tuple[str, ...] = (*METHODS, CRF, *ORACLE)
    changed: dict[str, Any] = {}  # noqa: RUF012  # read only


NUISANCE = (1.0, 4.0, 16.0)
SWEEPS = {
    "nuisance": Sweep("nuisance along the features", "nuisance", "nuisance", NUISANCE),
    "mixed": Sweep(
        "nuisance in mixed directions", "nuisance", "nuisance", NUISANCE, changed={"mixed": True}
    ),
    "labels": Sweep("wrong labels", "flipped", "wrong labels", (0.0, 0.2, 0.4)),
    "rows": Sweep("training rows", "n_rows", "rows per set", (16, 80, 320)),
    "classes": Sweep("training classes", "n_classes", "classes", (4, 12, 24)),
    "features": Sweep("nuisance features", "n_nuisance", "nuisance features", (3, 12, 48)),
    "bags": Sweep(
        "size of the bags", "bag_size", "rows per bag", (1, 2, 4, 8, 12), ("MLCA", "MIMLCA")
    ),
    "count": Sweep(
        "the number of clusters not told", "k_test", "clusters", (2, 4, 8), tuple(COUNTERS)
    ),
}
SEEDS = {"smoke": 1, "book": 2, "full": 5}
SMALL = {"n_sets": 2, "n_rows": 32, "n_test_sets": 1, "n_nuisance": 4}


def sweep_units(scale: str, *, name: str) -> list[Unit]:
    """Every method at every level, with all parameters of the generator."""
    sweep = SWEEPS[name]
    small = SMALL if scale == "smoke" else {}
    levels = sweep.levels[:1] if small else sweep.levels
    return [
        {
            "row": f"{method}, {sweep.label} = {level:g}",
            "seed": seed,
            "method": method,
            "level": level,
            "data": "gaussians",
            **BASE,
            **small,
            **sweep.changed,
            sweep.parameter: level,
        }
        for level in levels
        for method in sweep.methods
        if method != "large margin, full" or sweep.parameter != "n_nuisance" or level < SLOW_FROM
        for seed in range(SEEDS[scale])
    ]


DIGIT_COMPONENTS = 24


def digit_units(scale: str) -> list[Unit]:
    """Every method but the one that knows the generator, on digits."""
    small = scale == "smoke"
    return [
        {
            "row": method,
            "seed": seed,
            "method": method,
            "data": "digits",
            "n_sets": 2 if small else 4,
            "n_rows": 60 if small else 120,
            "n_test_sets": 1 if small else 4,
            "n_test_rows": 60 if small else 120,
            "n_components": 6 if small else DIGIT_COMPONENTS,
            "bag_size": 3,
        }
        for method in (*METHODS, CRF)
        for seed in range(SEEDS[scale])
    ]
