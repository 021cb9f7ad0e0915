"""Law 2017, Tables 1, 2, 3 and 7: faces in weakly labelled bags, and what stands in for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances_argmin

from book.reproduction.bag_baselines import mildml, miml
from book.reproduction.law2017_classifiers import (
    APPENDIX,
    BAG_CLASSIFIERS,
    N_FOLDS,
    N_PAIRS,
    bag_classifier_scores,
)
from book.reproduction.units import Unit, timed
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.datasets import (
    WeakBags,
    bags_from_labels,
    load_faces,
    load_letters,
    load_yahoo_news,
    make_weak_bags,
)
from mlbook.mimlca import MIMLCA

Sizes = tuple[tuple[str, float], ...]
ALPHAS = (0.0, 0.2, 0.25, 0.5, 1.0, 1.2)
SLOW = {"MIML appendix": 1, "MIML": 3, "MildML": 3}  # folds, where there are many features
NUISANCES = (0.0, 1.5, 2.5, 3.4, 5.0)


class FaceData(NamedTuple):
    """How one set of faces, or of what stands in for them, is drawn and used.

    Attributes
    ----------
    title : str
        What it is.
    load : callable
        From a mapping of sizes to the bags.
    least : int
        Test categories have at least this many instances in the fold.
    rank : int or None
        Number of singular directions of the training instances that linear methods get.
    miml : tuple of int
        Numbers of components tried for MIML.
    mildml : int
        Number of components of MildML.
    chi2 : bool
        Whether the features are histograms or grey levels, as the kernel needs.
    smoke : mapping
        Sizes of a smoke run.
    """

    title: str
    load: Callable[..., WeakBags]
    least: int
    rank: int | None
    miml: tuple[int, ...]
    mildml: int
    chi2: bool
    smoke: Mapping[str, int]


def faces(every: int = 1) -> WeakBags:
    """ORL faces, 28 by 23 pixels, in bags of the paper's sizes; `every` thins out persons."""
    X, y = load_faces()
    small = X.reshape(-1, 28, 4, 23, 4).mean(axis=(2, 4)).reshape(len(X), -1)
    kept = y % every == 0
    return bags_from_labels(small[kept], y[kept] // every, random_state=0)


def digits(every: int = 1) -> WeakBags:
    """Digits in bags of two to six, 8 and 9 being unknown."""
    X, y = load_digits(return_X_y=True)
    labels = np.where(y > 7, -1, y)[::every]
    return bags_from_labels(X[::every], labels, size_counts=(0, 1, 1, 1, 1, 1), random_state=0)


def letters(every: int = 1) -> WeakBags:
    """Letters in bags of the paper's sizes, V to Z being unknown; `every` thins them out."""
    X, y = load_letters()
    labels = np.where(y > 20, -1, y)[::every]
    return bags_from_labels(X[::every], labels, random_state=0)


def yahoo() -> WeakBags:
    """Labeled Yahoo! News, where the user has it."""
    return load_yahoo_news()


DATA = {
    "letters": FaceData(
        "letters in sampled bags",
        letters,
        least=5,
        rank=None,
        miml=(4, 8, 12, 15),
        mildml=12,
        chi2=False,
        smoke={"every": 20},
    ),
    "eighth": FaceData(
        "an eighth of the letters",
        partial(letters, every=8),
        least=5,
        rank=None,
        miml=(),
        mildml=12,
        chi2=True,
        smoke={"every": 20},
    ),
    "synthetic": FaceData(
        "synthetic faces",
        partial(make_weak_bags, random_state=0),
        least=5,
        rank=None,
        miml=(750,),
        mildml=60,
        chi2=False,
        smoke={
            "n_bags": 250,
            "n_categories": 8,
            "n_features": 30,
            "n_identity": 15,
            "n_nuisance": 5,
        },
    ),
    "faces": FaceData(
        "ORL faces in sampled bags",
        faces,
        least=1,
        rank=100,
        miml=(25, 50, 75, 95),
        mildml=40,
        chi2=True,
        smoke={"every": 4},
    ),
    "digits": FaceData(
        "digits in sampled bags",
        digits,
        least=5,
        rank=None,
        miml=(16, 32, 48, 60),
        mildml=20,
        chi2=True,
        smoke={"every": 3},
    ),
    "yahoo": FaceData(
        "Labeled Yahoo! News",
        yahoo,
        least=5,
        rank=None,
        miml=(3744,),
        mildml=60,
        chi2=True,
        smoke={},
    ),
}


class Fold(NamedTuple):
    """Training bags with their labels in each scenario, and the test instances that count."""

    bags: Bags
    labels: Integers
    Y: dict[str, csr_array]
    X_test: Floats
    y_test: Integers
    rank: int | None


@lru_cache(maxsize=1)
def _load(data: str, sizes: Sizes) -> WeakBags:
    return DATA[data].load(**dict(sizes))


@lru_cache(maxsize=1)
def draw_fold(data: str, seed: int, sizes: Sizes) -> Fold:
    """Split the bags into ten parts, or the data's own, of which the seed-th is for testing.

    Test instances are those of categories with enough of them in the test part. Where only the
    leading singular directions of the training instances are to be used, Fold.rank says how
    many.
    """
    weak, about = _load(data, sizes), DATA[data]
    bags = Bags(weak.instances, weak.offsets)
    part = weak.folds
    if part is None:
        part = np.random.default_rng(0).permutation(len(bags)) % N_FOLDS
    train, test = np.flatnonzero(part != seed), np.flatnonzero(part == seed)
    some = bags[train]
    held_out = bags[test]
    y_test = weak.labels[held_out.order]
    frequent = np.bincount(y_test[y_test >= 0], minlength=weak.Y.shape[1]) >= about.least
    counts = (y_test >= 0) & frequent[y_test]
    return Fold(
        some,
        weak.labels[some.order],
        {"b": weak.Y[train], "c": weak.Y_noisy[train]},
        held_out.instances[counts],
        y_test[counts],
        about.rank,
    )


def unit_fold(unit: Unit) -> Fold:
    """Return the fold that a unit is about."""
    return draw_fold(unit["data"], unit["seed"], tuple(sorted(unit["sizes"].items())))


def rates(y_test: Integers, predicted: Integers) -> dict[str, float]:
    """Accuracy averaged over the test categories, and share of correct instances, in percent.

    Examples
    --------
    >>> rates(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    {'accuracy': 83.33333333333333, 'precision': 75.0}
    """
    right = predicted == y_test
    each = [right[y_test == c].mean() for c in np.unique(y_test)]
    return {"accuracy": 100 * float(np.mean(each)), "precision": 100 * float(right.mean())}


def known_instances(fold: Fold) -> tuple[Bags, csr_array]:
    """Scenario (a): every known training instance as a bag of its own, with its label."""
    known = np.flatnonzero(fold.labels >= 0)
    n, k = len(known), fold.Y["b"].shape[1]
    Y = csr_array((np.ones(n, dtype=bool), (np.arange(n), fold.labels[known])), shape=(n, k))
    return Bags(fold.bags.instances[known], np.arange(n + 1)), Y


def fit_mimlca(fold: Fold, scenario: str) -> tuple[MIMLCA, float]:
    """MIMLCA, or MLCA in scenario (a), and its training time."""
    bags, Y = known_instances(fold) if scenario == "a" else (fold.bags, fold.Y[scenario])
    rank = None if fold.rank is None else min(fold.rank, bags.instances.shape[0] // 2)
    return timed(lambda: MIMLCA(rank=rank).fit(bags, Y))


def projected(fold: Fold) -> Fold:
    """Training and test instances in the leading singular directions of the training ones."""
    if fold.rank is None:
        return fold
    rank = min(fold.rank, fold.bags.instances.shape[0] // 2)
    axes = np.linalg.svd(fold.bags.instances, full_matrices=False)[2][:rank].T
    return fold._replace(bags=fold.bags.map(lambda X: X @ axes), X_test=fold.X_test @ axes)


def nearest(X: Floats, targets: Floats, labels: Integers, components: Floats) -> Integers:
    """Label of the nearest target under a linear map."""
    return labels[pairwise_distances_argmin(X @ components.T, targets @ components.T)]


def nearest_true_mean(fold: Fold, components: Floats) -> Integers:
    """Category of the nearest mean of known training instances under a linear map."""
    singles, Y = known_instances(fold)
    counts = np.asarray(Y.sum(axis=0)).ravel()
    present = np.flatnonzero(counts)
    means = (Y.T @ singles.instances)[present] / counts[present, None]
    return nearest(fold.X_test, means, present, components)


def best_miml(fold: Fold, unit: Unit) -> tuple[dict[str, float], float]:
    """MIML with the number of components that does best on the test data, and its time."""
    Y = fold.Y[unit["scenario"]]
    present = np.flatnonzero(Y.sum(axis=0))
    some = Y[:, present]
    how = APPENDIX if unit["method"] == "MIML appendix" else {}
    tried = []
    for r in DATA[unit["data"]].miml:
        r = min(r, fold.X_test.shape[1] * 15 // 16)
        fit = partial(miml, fold.bags, some, n_components=r, random_state=unit["seed"], **how)
        learned, seconds = timed(fit)
        predicted = nearest(fold.X_test, learned.centroids, present, learned.components)
        tried.append((rates(fold.y_test, predicted), seconds))
    return max(tried, key=lambda found: found[0]["accuracy"])


@lru_cache(maxsize=100)
def mildml_map(
    data: str, seed: int, sizes: Sizes, scenario: str, n_pairs: int
) -> tuple[Floats, float]:
    """MildML of one fold, for Tables 1 and 2, and its training time."""
    fold = projected(draw_fold(data, seed, sizes))
    r = min(DATA[data].mildml, fold.bags.instances.shape[1])
    Y = fold.Y[scenario]
    return timed(partial(mildml, fold.bags, Y, n_components=r, n_pairs=n_pairs, random_state=seed))


def unit_mildml(unit: Unit) -> tuple[Floats, float]:
    """MildML of the fold that a unit is about."""
    sizes = tuple(sorted(unit["sizes"].items()))
    return mildml_map(unit["data"], unit["seed"], sizes, unit["scenario"], unit["n_pairs"])


def run_table1(unit: Unit) -> dict[str, float]:
    """Learn, and classify test instances by the nearest centroid (Eq. 15)."""
    fold, method, scenario = unit_fold(unit), unit["method"], unit["scenario"]
    if method == "MIMLCA":
        model, seconds = fit_mimlca(fold, scenario)
        values = rates(fold.y_test, model.predict(fold.X_test))
        if scenario == "a":
            values["time"] = seconds / fit_mimlca(fold, "b")[1]
        else:
            values["wrong"] = assignment_error(fold, model)
        return values
    low = projected(fold)
    if method == "Euclidean":
        return rates(fold.y_test, nearest_true_mean(low, np.eye(low.X_test.shape[1])))
    if method == "MildML":
        components, seconds = unit_mildml(unit)
        values = rates(fold.y_test, nearest_true_mean(low, components))
    else:
        values, seconds = best_miml(low, unit)
    values["time"] = seconds / fit_mimlca(fold, scenario)[1]
    return values


def run_nuisance(unit: Unit) -> dict[str, float]:
    """Accuracy and precision of `run_table1`."""
    values = run_table1(unit)
    return {key: values[key] for key in ("accuracy", "precision")}


def assignment_error(fold: Fold, model: MIMLCA) -> float:
    """Share of the training instances of test categories that are assigned elsewhere, in %."""
    counts = np.isin(fold.labels, fold.y_test)
    return 100 * float(np.mean(model.assignments_[counts] != fold.labels[counts]))


def run_table2(unit: Unit) -> dict[str, float]:
    """Learn, and classify test instances by the nearest known training instance."""
    fold, method, scenario = unit_fold(unit), unit["method"], unit["scenario"]
    low = projected(fold)
    if method == "MildML":
        components = unit_mildml(unit)[0]
    elif method == "MIMLCA":
        components = fit_mimlca(low, scenario)[0].components_
    else:
        components = np.eye(low.X_test.shape[1])
    known = low.labels >= 0
    X, labels = low.bags.instances[known], low.labels[known]
    return rates(low.y_test, nearest(low.X_test, X, labels, components))


def run_table3(unit: Unit) -> dict[str, float]:
    """Classify test instances by Eq. 16 for several α; with χ² the linear model assigns."""
    fold, scenario = unit_fold(unit), unit["scenario"]
    if unit["method"] == "linear":
        model, _ = fit_mimlca(fold, scenario)
    else:
        if scenario != "a":
            fold = fold._replace(labels=fit_mimlca(fold, scenario)[0].assignments_)
        model = MIMLCA(kernel="chi2_rbf").fit(*known_instances(fold))
    values: dict[str, float] = {}
    for alpha in ALPHAS:
        found = rates(fold.y_test, model.predict(fold.X_test, weight=alpha))
        values |= {f"{key}{alpha:g}": value for key, value in found.items()}
    return values


def run_table7(unit: Unit) -> dict[str, float]:
    """Rank the labels of test instances, each a bag of its own, by a bag classifier."""
    fold = projected(unit_fold(unit))
    test = Bags(fold.X_test, np.arange(len(fold.X_test) + 1))
    Y = fold.Y[unit["scenario"]]
    scores, seconds = timed(partial(bag_classifier_scores, fold.bags, Y, test, unit))
    values = rates(fold.y_test, scores.argmax(axis=1))
    values["time"] = seconds / fit_mimlca(fold, unit["scenario"])[1]
    return values


EUCLIDEAN, MLCA_A = "Euclidean", "MLCA (a)"
FACE_METHODS = {  # row without its scenario: method
    "MIML": "MIML appendix",
    "MIML mended": "MIML",
    "MildML": "MildML",
    "MIMLCA": "MIMLCA",
}


def fold_units(
    scale: str, *, data: str, methods: Mapping[str, tuple[str, str]], slow: Mapping[str, int]
) -> list[Unit]:
    """Every method, given with its scenario, on every fold; slow ones on the first few only."""
    folds = {"smoke": 1, "book": 2, "full": N_FOLDS}[scale]
    sizes = dict(DATA[data].smoke) if scale == "smoke" else {}
    return [
        {
            "row": row,
            "seed": seed,
            "data": data,
            "method": method,
            "scenario": scenario,
            "sizes": sizes,
            "n_pairs": N_PAIRS[scale],
        }
        for seed in range(folds)
        for row, (method, scenario) in methods.items()
        if seed < slow.get(method, N_FOLDS)
    ]


def nuisance_units(scale: str) -> list[Unit]:
    """Three folds of synthetic faces for each level of their nuisance variation."""
    methods = {row: METHODS1[row] for row in (EUCLIDEAN, MLCA_A, "MIMLCA (b)", "MIMLCA (c)")}
    scale = "smoke" if scale == "smoke" else "full"
    units = fold_units(scale, data="synthetic", methods=methods, slow={})
    return [
        {
            **unit,
            "row": f"{unit['row']}, nuisance {level:g}",
            "sizes": {**unit["sizes"], "nuisance": level},
        }
        for level in NUISANCES
        for unit in units
        if unit["seed"] < 3
    ]


FEATURES = (500, 1000, 2000, 3000)


def run_features(unit: Unit) -> dict[str, float]:
    """Accuracy of MLCA by the nearest centroid and by Eq. 16, and d/n."""
    fold = unit_fold(unit)
    model = fit_mimlca(fold, "a")[0]
    d, n = fold.bags.instances.shape[1], np.count_nonzero(fold.labels >= 0)
    values = {"share": d / n}
    for key, alpha in [("centroid", None), *((f"accuracy{alpha:g}", alpha) for alpha in ALPHAS)]:
        values[key] = rates(fold.y_test, model.predict(fold.X_test, weight=alpha))["accuracy"]
    return values


def features_units(scale: str) -> list[Unit]:
    """Folds of synthetic faces for each number of features."""
    small = scale == "smoke"
    return [
        {
            "row": f"{d} features",
            "seed": seed,
            "data": "synthetic",
            "sizes": {**DATA["synthetic"].smoke, "n_features": d // 10}
            if small
            else {"n_features": d},
        }
        for seed in range({"smoke": 1, "book": 2, "full": 3}[scale])
        for d in FEATURES
    ]


METHODS1 = {
    EUCLIDEAN: ("Euclidean", "b"),
    MLCA_A: ("MIMLCA", "a"),
    **{
        f"{row} ({scenario})": (method, scenario)
        for scenario in "bc"
        for row, method in FACE_METHODS.items()
    },
}
METHODS2 = {f"MildML ({s})": ("MildML", s) for s in "bc"} | {
    EUCLIDEAN: ("Euclidean", "b"),
    "MIMLCA (b)": ("MIMLCA", "b"),
    "MIMLCA (c)": ("MIMLCA", "c"),
}
METHODS3 = {
    f"{kernel} {'MLCA' if s == 'a' else 'MIMLCA'} ({s})": (name, s)
    for kernel, name in (("linear", "linear"), ("χ²", "chi2_rbf"))
    for s in "abc"
}
METHODS7 = {f"{row} ({s})": (method, s) for s in "bc" for row, method in BAG_CLASSIFIERS.items()}
