"""What the page on Law 2017 computes when it is built."""

from __future__ import annotations

from functools import cache

import numpy as np

from book.figures.mimlca import digit_bags
from book.reproduction import Table
from book.reproduction.bag_baselines import class_to_bag_metric
from book.reproduction.law2017_classifiers import N_FOLDS, bag_classifier_scores
from book.reproduction.law2017_faces import draw_fold, fit_mimlca, rates
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.mimlca import MIMLCA

__all__ = [
    "LETTER_ALPHAS",
    "class_to_bag_shares",
    "letters_by_score",
    "minimax_accuracy",
    "reject_option",
    "reject_runs",
    "training_sizes",
]


LETTER_ALPHAS = (None, 1.2, 5.0, 20.0, 80.0)  # None: the nearest centroid


@cache
def letters_by_score() -> tuple[Floats, Floats]:
    """Accuracy of MLCA on the letters by fold, for `LETTER_ALPHAS`, and ρ of each letter.

    ρ is the score of a training centroid for its own category, which is 1 if the fit is perfect.
    """
    found, own = [], []
    for seed in range(N_FOLDS):
        fold = draw_fold("letters", seed, ())
        model = fit_mimlca(fold, "a")[0]
        labels = (model.predict(fold.X_test, alpha) for alpha in LETTER_ALPHAS)
        found.append([rates(fold.y_test, each)["accuracy"] for each in labels])
        scores = np.diag(model.transform(model.centroids_))
        own.append(scores * np.sqrt(model.category_count_))
    return np.array(found), np.array(own)


@cache
def reject_runs(data: str = "digits") -> dict[tuple[str, float | None], Floats]:
    """Fit MIMLCA with and without its reject option on all folds, now.

    By scenario and price, one row for each fold, in per cent: training instances that get a name,
    names that are wrong, accuracy on test instances.
    """
    runs = {}
    for scenario in "bc":
        for reject in (None, 1.2, 1.1, 1.0):
            found = []
            for seed in range(N_FOLDS):
                fold = draw_fold(data, seed, ())
                model = MIMLCA(rank=fold.rank, reject=reject).fit(fold.bags, fold.Y[scenario])
                named = model.assignments_ >= 0
                wrong = np.mean(model.assignments_[named] != fold.labels[named])
                right = rates(fold.y_test, model.predict(fold.X_test))["accuracy"]
                found.append((100 * float(np.mean(named)), 100 * float(wrong), right))
            runs[scenario, reject] = np.array(found)
    return runs


def reject_option(data: str = "digits") -> Table:
    """Write the means of `reject_runs`."""
    rows = []
    for (scenario, reject), found in reject_runs(data).items():
        row = "none" if reject is None else f"{reject:.1f}"
        rows.append([f"({scenario})", row, *(f"{mean:.0f}" for mean in found.mean(axis=0))])
    return Table(["", "reject", "named, %", "names wrong, %", "accuracy, %"], rows)


def training_sizes(data: str) -> tuple[Integers, float]:
    """Sizes of the categories in the first training fold of a stand-in, and d/n.

    n counts the instances of known categories, as in scenario (a); d the features, or the
    directions of them that are used.
    """
    fold = draw_fold(data, 0, ())
    sizes = np.bincount(fold.labels[fold.labels >= 0])
    return sizes[sizes > 0], (fold.rank or fold.bags.instances.shape[1]) / int(sizes.sum())


@cache
def minimax_accuracy(sizes: tuple[int, ...], n_seeds: int = 20) -> Floats:
    """Accuracy of the minimax kernel on single digits, trained on bags of some sizes.

    How often bags have 1, 2, ... digits.
    """
    found = []
    for seed in range(n_seeds):
        data, T, t = digit_bags(300, seed, sizes)
        bags, singles = Bags(data.instances, data.offsets), Bags(T[:200], np.arange(201))
        scores = bag_classifier_scores(bags, data.Y, singles, {"method": "minimax"})
        found.append(np.mean(scores.argmax(axis=1) == t[:200]))
    return np.array(found)


def class_to_bag_shares(n_seeds: int = 20, n_pairs: int = 2000) -> Floats:
    """Share of the largest direction in a metric that M-C2B learns on the digits, by draw.

    Each draw takes the next fold and the next category, and pairs of an instance and another bag
    as for Table 7, scenario (b).
    """
    shares = []
    for seed in range(n_seeds):
        fold, rng = draw_fold("digits", seed % N_FOLDS, ()), np.random.default_rng(seed)
        X, offsets = fold.bags.instances, fold.bags.offsets
        labelled = fold.Y["b"].toarray().astype(bool)
        labelled = labelled[:, seed % labelled.shape[1]]
        rows = rng.choice(np.flatnonzero(labelled[fold.bags.bag_index]), n_pairs)
        parts = []
        for chosen in (labelled, ~labelled):
            bags = rng.choice(np.flatnonzero(chosen), n_pairs)
            others = [X[offsets[bag] : offsets[bag + 1]] for bag in bags]
            nearest = [Z[_nearest(x, Z)] for x, Z in zip(X[rows], others, strict=True)]
            parts.append(X[rows] - nearest)  # zero, and of no weight, within a bag
        lengths = np.linalg.svd(class_to_bag_metric(*parts), compute_uv=False) ** 2
        shares.append(lengths[0] / lengths.sum())
    return np.array(shares)


def _nearest(x: Floats, Z: Floats) -> int:
    return int(np.argmin(np.sum((x - Z) ** 2, axis=1)))
