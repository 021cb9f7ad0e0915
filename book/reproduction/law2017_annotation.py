"""Law 2017, Table 4: labels of images and of sound recordings, each a bag."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from book.reproduction.bag_baselines import bag_dissimilarities, mildml, miml
from book.reproduction.law2017_classifiers import (
    APPENDIX,
    BAG_CLASSIFIERS,
    N_FOLDS,
    N_PAIRS,
    SLOW_CLASSIFIERS,
    bag_classifier_scores,
)
from book.reproduction.units import Unit, timed
from mlbook._arrays import Floats, Integers
from mlbook.bags import (
    Bags,
    average_precision,
    bag_distances,
    citation_knn_scores,
    coverage,
    one_error,
)
from mlbook.datasets import BagData, load_birds, load_corel5k
from mlbook.datasets._sources import read_matlab, user_folder
from mlbook.mimlca import MIMLCA

ANNOTATION_COMPONENTS = 20  # of MildML in Table 4
VOTERS = (5, 10, 15, 20)


class BagSplit(NamedTuple):
    """Training and test bags with their labels, features standardised on the training bags.

    Times `scale`, distances are those of the features as they come. Of features that are the same
    on all training bags only the first is kept: `column` says for every feature which one that is.
    """

    train: Bags
    Y: csr_array
    test: Bags
    Y_test: csr_array
    scale: Floats
    column: Integers


@lru_cache(maxsize=1)
def _annotated(data: str) -> BagData:
    return load_birds() if data == "birds" else load_corel5k(subset=data)


@lru_cache(maxsize=1)
def draw_split(data: str, seed: int, every: int) -> BagSplit:
    """One of ten folds of the bags, or the training and test images of Corel5K."""
    if data == "corel5k":
        parts = [_annotated("train"), load_corel5k(subset="test")]
        train, test = (Bags(part.instances, part.offsets) for part in parts)
        Y, Y_test = (part.Y for part in parts)
    else:
        whole = _annotated("birds" if data == "birds" else "test")
        bags, labels = Bags(whole.instances, whole.offsets)[::every], whole.Y[::every]
        part = np.random.default_rng(0).permutation(len(bags)) % N_FOLDS
        rows = np.flatnonzero(part != seed), np.flatnonzero(part == seed)
        train, test = (bags[some] for some in rows)
        Y, Y_test = (labels[some] for some in rows)
    _, first, which = np.unique(train.instances, axis=1, return_index=True, return_inverse=True)
    kept = np.sort(first)
    scaler = StandardScaler().fit(train.instances[:, kept])
    train, test = (bags.map(lambda X: scaler.transform(X[:, kept])) for bags in (train, test))
    present = np.flatnonzero(Y.sum(axis=0))
    column = np.searchsorted(kept, first[which.ravel()])
    return BagSplit(train, Y[:, present], test, Y_test[:, present], scaler.scale_, column)


def run_table4(unit: Unit) -> dict[str, float]:
    """Rank the labels of test bags by a bag classifier, or by citation-kNN under a metric."""
    method = unit["method"]
    split = draw_split(unit["data"], unit["seed"], unit["every"])
    train, Y, test, Y_test = split[:4]
    values: dict[str, float] = {}
    if method in ANNOTATION_METRICS:
        components, seconds = timed(partial(annotation_metric, method, split, unit))
        across, among = metric_distances(split, components)
        for r in VOTERS:
            scores = citation_knn_scores(across, among, Y, n_references=r, n_citers=r)
            values[f"ap{r}"] = average_precision(Y_test, scores)
        values["authors"] = average_precision(Y_test, authors_scores(across, Y))
    else:
        rank = partial(bag_classifier_scores, train, Y, test, unit)
        if method == FREQUENCY:
            rank = partial(frequency_scores, Y, len(test))
        scores, seconds = timed(rank)
        values["ap20"] = average_precision(Y_test, scores)
    values |= {"oe": one_error(Y_test, scores), "coverage": coverage(Y_test, scores)}
    if method not in ("MIMLCA", "Euclidean", "standardised", FREQUENCY):
        values["time"] = seconds / timed(partial(annotation_metric, "MIMLCA", split, unit))[1]
    return values


def frequency_scores(Y: csr_array, n_test: int) -> Floats:
    """Rank labels for every test bag by how many training bags have them.

    Examples
    --------
    >>> frequency_scores(csr_array([[1, 0], [1, 1]]), 2).tolist()
    [[2.0, 1.0], [2.0, 1.0]]
    """
    return np.tile(np.asarray(Y.sum(axis=0), dtype=float), (n_test, 1))


def authors_scores(across: Floats, Y: csr_array) -> Floats:
    """Votes by the rule of the authors' program: citers rank the test bags, no label is tied.

    Of labels with equal votes the more frequent one comes first, then the first.
    """
    votes = citation_knn_scores(across, None, Y, n_citers=min(20, len(across)))
    place = np.argsort(np.argsort(-np.asarray(Y.sum(axis=0)).ravel(), kind="stable"))
    return votes - 1e-9 * place


def metric_distances(
    split: BagSplit, components: Floats, kind: str = "minimal"
) -> tuple[Floats, Floats]:
    """Distances of test bags to training bags, and among these, under a linear map.

    The minimal Hausdorff distance, or the mean of minima: the squared distance of an instance to
    the nearest one of the other bag, averaged over each bag and then over the two.
    """
    train, test = (bags.map(lambda X: X @ components.T) for bags in (split.train, split.test))
    if kind == "minimal":
        return bag_distances(test, train), bag_distances(train, train)
    there, back, among = (
        bag_dissimilarities(*pair) for pair in ((test, train), (train, test), (train, train))
    )
    return there + back.T, among + among.T


def annotation_metric(method: str, split: BagSplit, unit: Unit) -> Floats:
    """Map, of standardised features, of one of the metrics that citation-kNN is given."""
    train, Y, seed, d = split.train, split.Y, unit["seed"], len(split.scale)
    if method == "MIMLCA":
        return MIMLCA().fit(train, Y).components_
    if method == "MildML":
        r = min(ANNOTATION_COMPONENTS, d)
        return mildml(train, Y, n_components=r, n_pairs=unit["n_pairs"], random_state=seed)
    if method in ("Euclidean", "standardised"):
        return np.diag(split.scale if method == "Euclidean" else np.ones(d))
    if method == "the authors' metric":
        folder = user_folder(None, "corel5k", wanted=["authors_metric.mat"], where=METRIC_WHERE)
        L = read_matlab(folder / "authors_metric.mat")["L"]
        kept = np.zeros((d, L.shape[1]))
        np.add.at(kept, split.column, L)
        return (split.scale[:, None] * kept).T
    how = APPENDIX if method == "MIML appendix" else {}
    return miml(train, Y, n_components=d * 3 // 4, random_state=seed, **how).components


def run_distance(unit: Unit) -> dict[str, float]:
    """Average precision of citation-kNN under a metric, with a distance of bags, by both rules."""
    return both_rules(draw_split("corel5k-500", unit["seed"], unit["every"]), unit)


def run_curve(unit: Unit) -> dict[str, float]:
    """Likewise, from the first images of a training fold."""
    split = draw_split("corel5k-500", unit["seed"], 1)
    few = split.train[: unit["images"]]
    return both_rules(split._replace(train=few, Y=split.Y[: unit["images"]]), unit)


def both_rules(split: BagSplit, unit: Unit) -> dict[str, float]:
    """Average precision by our rule of voting and by that of the authors' program."""
    components = annotation_metric(unit["method"], split, unit)
    across, among = metric_distances(split, components, unit["distance"])
    scores = {
        "ours": citation_knn_scores(across, among, split.Y),
        "authors": authors_scores(across, split.Y),
    }
    return {rule: average_precision(split.Y_test, votes) for rule, votes in scores.items()}


FREQUENCY = "frequency"
METRIC_WHERE = (
    "It is UCI_Corel5K/mimlca_metric_.mat in the authors' repository, github.com/MarcTLaw/MIMLCA."
)
IMAGES = (50, 100, 200, 400)
FOUR_METRICS = ("Euclidean", "standardised", "MIMLCA", "the authors' metric")
ANNOTATION_METRICS = ("MIMLCA", "MIML appendix", "MIML", "MildML", "Euclidean", "standardised")


def split_units(scale: str, *, data: str) -> list[Unit]:
    """Every method on every fold of the bags, or on the one split of Corel5K."""
    folds = {"smoke": 1, "book": 2, "full": N_FOLDS}[scale] if data != "corel5k" else 1
    every = 3 if scale == "smoke" else 1
    return [
        {
            "row": row,
            "seed": seed,
            "data": data,
            "method": method,
            "every": every,
            "n_pairs": N_PAIRS[scale],
        }
        for seed in range(folds)
        for row, method in ANNOTATION_ROWS.items()
        if seed < SLOW_CLASSIFIERS[4].get(method, N_FOLDS)
    ]


def distance_units(scale: str) -> list[Unit]:
    """Four metrics with two distances of bags, on every fold of the 500 images."""
    return [
        {
            "row": f"{method}, {distance}",
            "seed": seed,
            "method": method,
            "distance": distance,
            "every": 3 if scale == "smoke" else 1,
        }
        for seed in range({"smoke": 1, "book": 2, "full": N_FOLDS}[scale])
        for method in FOUR_METRICS
        for distance in ("minimal", "mean")
    ]


def curve_units(scale: str) -> list[Unit]:
    """Three metrics from few to many of the 500 images."""
    return [
        {
            "row": f"{method}, {images} images",
            "seed": seed,
            "method": method,
            "distance": "minimal",
            "images": images,
        }
        for seed in range({"smoke": 1, "book": 2, "full": N_FOLDS}[scale])
        for images in (IMAGES[:1] if scale == "smoke" else IMAGES)
        for method in FOUR_METRICS[:3]
    ]


ANNOTATION_ROWS = {
    "MIMLCA": "MIMLCA",
    "MIML": "MIML appendix",
    "MIML mended": "MIML",
    "MildML": "MildML",
    "Citation-kNN (Euclidean)": "Euclidean",
    "Citation-kNN (standardised)": "standardised",
    "Labels by frequency": FREQUENCY,
    **BAG_CLASSIFIERS,
}
