"""Law 2017: the bag classifiers that Tables 4 and 7 compare with, and what both tables share."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from book.reproduction.bag_baselines import (
    DISSIMILARITIES,
    bag_dissimilarities,
    class_to_bag_scores,
    mi_kernel,
    minimax_features,
    one_vs_rest_scores,
)
from book.reproduction.law2017_instances import (
    INSTANCE_CLASSIFIERS,
    label_by_label,
    miles_features,
)
from book.reproduction.units import Unit
from mlbook._arrays import Floats
from mlbook.bags import Bags

N_FOLDS = 10
SLOW_CLASSIFIERS = {  # folds, by table
    4: {"miSVM": 3, "MILBoost": 3},
    7: {"EM-DD": 3, "MILBoost": 3},
}
N_PAIRS = {"smoke": 100, "book": 1000, "full": 5000}  # of bags, for MildML
APPENDIX: dict[str, Any] = {
    "init": "random",
    "outside": "zero",
}  # MIML as the paper's appendix has it


def bag_classifier_scores(train: Bags, Y: csr_array, test: Bags, unit: Unit) -> Floats:
    """Scores of labels for test bags by one of the paper's bag classifiers."""
    method = unit["method"]
    if method in ("M-C2B", "C2B"):
        rounds, n_pairs = {"M-C2B": 50, "C2B": 0}[method], min(2000, unit["n_pairs"])
        return class_to_bag_scores(
            train, Y, test, max_pairs=n_pairs, max_iter=rounds, random_state=unit["seed"]
        )
    if method in INSTANCE_CLASSIFIERS:
        return label_by_label(method, train, Y, test)
    gamma = 1 / (train.instances.shape[1] * train.instances.var())
    if method == "MILES":
        balance = "balanced"  # else a rare label gets no instance at all
        classifier = LinearSVC(penalty="l1", class_weight=balance, max_iter=5000, random_state=0)
        features = miles_features(train, train, gamma), miles_features(test, train, gamma)
        return one_vs_rest_scores(classifier, features[0], Y, features[1])
    if method == "MI-kernel":
        among, across = mi_kernel(train, train, gamma=gamma), mi_kernel(test, train, gamma=gamma)
        return one_vs_rest_scores(SVC(kernel="precomputed", random_state=0), among, Y, across)
    if method == "minimax":
        features = minimax_features(train), minimax_features(test)
        kernel = "rbf"
    else:
        features = (
            bag_dissimilarities(train, train, method),
            bag_dissimilarities(test, train, method),
        )
        kernel = "linear"
    classifier = make_pipeline(StandardScaler(), SVC(kernel=kernel, random_state=0))
    return one_vs_rest_scores(classifier, features[0], Y, features[1])


BAG_CLASSIFIERS = {
    "M-C2B": "M-C2B",
    "C2B (Euclidean)": "C2B",
    "Minimax MI-kernel": "minimax",
    "MI-kernel": "MI-kernel",
    "MILES": "MILES",
    **{method: method for method in INSTANCE_CLASSIFIERS},
    **{f"MInD ({kind})": kind for kind in DISSIMILARITIES},
}
