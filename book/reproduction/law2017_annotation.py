"""Law 2017, Table 4: labels of images and of sound recordings, each a bag."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from book.reproduction.bag_baselines import mildml, miml
from book.reproduction.law2017_classifiers import (
    APPENDIX,
    BAG_CLASSIFIERS,
    N_FOLDS,
    N_PAIRS,
    bag_classifier_scores,
)
from book.reproduction.units import Unit, timed
from mlbook._arrays import Floats
from mlbook.bags import (
    Bags,
    average_precision,
    bag_distances,
    citation_knn_scores,
    coverage,
    one_error,
)
from mlbook.datasets import BagData, load_birds, load_corel5k
from mlbook.mimlca import MIMLCA

ANNOTATION_COMPONENTS = 20  # of MildML in Table 4
VOTERS = (5, 10, 15, 20)


class BagSplit(NamedTuple):
    """Training and test bags with their labels, features standardised on the training bags.

    Times `scale`, distances are those of the features as they come.
    """

    train: Bags
    Y: csr_array
    test: Bags
    Y_test: csr_array
    scale: Floats


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
    kept = np.sort(np.unique(train.instances, axis=1, return_index=True)[1])
    scaler = StandardScaler().fit(train.instances[:, kept])
    train, test = (bags.map(lambda X: scaler.transform(X[:, kept])) for bags in (train, test))
    present = np.flatnonzero(Y.sum(axis=0))
    return BagSplit(train, Y[:, present], test, Y_test[:, present], scaler.scale_)


def run_table4(unit: Unit) -> dict[str, float]:
    """Rank the labels of test bags by a bag classifier, or by citation-kNN under a metric."""
    method = unit["method"]
    split = draw_split(unit["data"], unit["seed"], unit["every"])
    train, Y, test, Y_test, _ = split
    values: dict[str, float] = {}
    if method in ANNOTATION_METRICS:
        components, seconds = timed(partial(annotation_metric, method, split, unit))
        mapped, queries = (bags.map(lambda X: X @ components.T) for bags in (train, test))
        across, among = bag_distances(queries, mapped), bag_distances(mapped, mapped)
        for r in VOTERS:
            scores = citation_knn_scores(across, among, Y, n_references=r, n_citers=r)
            values[f"ap{r}"] = average_precision(Y_test, scores)
    else:
        scores, seconds = timed(partial(bag_classifier_scores, train, Y, test, unit))
        values["ap20"] = average_precision(Y_test, scores)
    values |= {"oe": one_error(Y_test, scores), "coverage": coverage(Y_test, scores)}
    if method not in ("MIMLCA", "Euclidean", "standardised"):
        values["time"] = seconds / timed(partial(annotation_metric, "MIMLCA", split, unit))[1]
    return values


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
    how = APPENDIX if method == "MIML appendix" else {}
    return miml(train, Y, n_components=d * 3 // 4, random_state=seed, **how).components


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
    ]


ANNOTATION_ROWS = {
    "MIMLCA": "MIMLCA",
    "MIML": "MIML appendix",
    "MIML mended": "MIML",
    "MildML": "MildML",
    "Citation-kNN (Euclidean)": "Euclidean",
    "Citation-kNN (standardised)": "standardised",
    **BAG_CLASSIFIERS,
}
