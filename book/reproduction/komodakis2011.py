"""Komodakis, ICCV 2011: Figure 2 on synthetic data, and several distances per feature.

The paper gives Figure 2 as curves. Of its other experiments it prints accuracies, on image sets
that may not be passed on: they run here where the user has them, on features that scikit-image
has. What they show is tried on two stand-ins, six views of handwritten digits and patches of
three textures.
"""

from __future__ import annotations

import warnings
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import MinMaxScaler

from book.reproduction.experiment import Column, Experiment, Number, Unit
from mlbook.baselines.correlation_clustering import CorrelationClusteringSVM
from mlbook.datasets import (
    distance_stack,
    image_views,
    load_image_folder,
    load_texture_patches,
    load_views,
    make_noisy_gaussians,
)
from mlbook.exemplars import exemplar_labels, solve_exemplars
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.partitions import contingency, f_measure

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

PAPER = "Komodakis 2011"
PRICES = (0.15, 0.2, 0.25)  # of an exemplar, tried in learning: shares of the mean cluster size
# The same for distances that are not learned, in units of the mean distance.
SHARES = (0.04, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48)


def learn(
    datasets: list[Array],
    partitions: list[Labels],
    prices: tuple[float, ...] = (0.1,),
    features: str = "squared_differences",
) -> LatentExemplarMetric:
    """Learn weights at each price of an exemplar; keep those that cluster the training data best.

    Prices d_qq are shares of the mean size of a cluster, but at least 1.5 α. Several of them
    are for a single training set.
    """
    n_points = sum(map(len, partitions))
    size = n_points / sum(len(set(y)) for y in partitions)
    models = []
    with warnings.catch_warnings():  # how far the objective came is no matter here
        warnings.simplefilter("ignore", ConvergenceWarning)
        for price in prices:
            model = LatentExemplarMetric(
                features=features,
                penalty=max(price * size, 1.5),
                strength=0.1 * n_points,
                random_state=0,
            )
            models.append(model.fit(datasets, partitions))
    if len(models) == 1:
        return models[0]
    return max(models, key=lambda m: f_measure(partitions[0], m.predict(datasets[0])))


def cluster(D: Array, penalty: float) -> NDArray[np.intp]:
    """Exemplar clustering of a matrix of distances."""
    return exemplar_labels(D, solve_exemplars(D, penalty, max_iter=100, random_state=0).exemplars)


def tuned_penalty(matrices: list[Array], partitions: list[Labels]) -> float:
    """Penalty that gives the best mean F-measure on training sets."""
    size = float(np.mean([len(y) / len(set(y)) for y in partitions]))
    mean = float(np.mean([D.mean() for D in matrices]))
    pairs = list(zip(matrices, partitions, strict=True))
    return max(
        (share * size * mean for share in SHARES),
        key=lambda penalty: np.mean([f_measure(y, cluster(D, penalty)) for D, y in pairs]),
    )


def clustering_accuracy(y: Labels, labels: NDArray[np.intp]) -> float:
    """Share of points in the cluster matched to their class, one cluster to a class at most.

    Examples
    --------
    >>> clustering_accuracy(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 2]))
    0.75
    """
    table = contingency(y, labels).toarray()
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(y))


# Figure 2

RHOS = (0.1, 0.3, 0.5, 0.7, 0.9)
DISTANCES = ("learned", "squared Euclidean", "standardised Euclidean")
SIZES = {
    "smoke": {"n_samples": 60, "n_features": 20, "n_clusters": 3, "n_sets": 2},
    "book": {"n_samples": 150, "n_features": 50, "n_clusters": 5, "n_sets": 3},
    "full": {"n_samples": 500, "n_features": 100, "n_clusters": 10, "n_sets": 10},
}
ITERATIONS = (1, 3, 10, 30, 100, 300)


def draw_sets(unit: Unit, first: int) -> tuple[list[Array], list[Labels]]:
    """Draw as many data sets as the unit says; `first` keeps training and test data apart."""
    stream = 10_000 * round(100 * unit["rho"]) + 100 * unit["seed"] + first
    draws = [
        make_noisy_gaussians(
            unit["n_samples"],
            n_features=unit["n_features"],
            noisy_fraction=unit["rho"],
            n_clusters=unit["n_clusters"],
            random_state=stream + i,
        )
        for i in range(unit["n_sets"])
    ]
    return [X for X, _ in draws], [y for _, y in draws]


def figure2_units(scale: str) -> list[Unit]:
    """Every distance at every share of noisy features."""
    seeds = {"smoke": 1, "book": 1, "full": 3}[scale]
    return [
        {"row": f"{name}, ρ = {rho}", "seed": seed, "distance": name, "rho": rho, **SIZES[scale]}
        for rho in (RHOS[1::2] if scale == "smoke" else RHOS)
        for name in DISTANCES
        for seed in range(seeds)
    ]


def run_figure2(unit: Unit) -> dict[str, float]:
    """Learn or scale the features, cluster the test sets."""
    train, partitions = draw_sets(unit, 0)
    test, truth = draw_sets(unit, 50)
    values = {}
    if unit["distance"] == "learned":
        model = learn(train, partitions)
        found = [model.predict(X) for X in test]
        noisy = round(unit["rho"] * unit["n_features"])
        values["noisy"] = model.weights_[-noisy:].sum() / model.weights_.sum()
    else:
        plain = unit["distance"] == "squared Euclidean"
        scale = 1.0 if plain else np.concatenate(train).std(axis=0)
        within = [euclidean_distances(X / scale, squared=True) for X in train[:2]]
        penalty = tuned_penalty(within, partitions[:2])
        found = [cluster(euclidean_distances(X / scale, squared=True), penalty) for X in test]
    values["f"] = float(np.mean([f_measure(*pair) for pair in zip(truth, found, strict=True)]))
    values["clusters"] = float(np.mean([labels.max() + 1 for labels in found]))
    return values


def figure2a_units(scale: str) -> list[Unit]:
    """One run for each seed, of its own numbers of points and clusters, half the features noisy."""
    units: list[Unit] = []
    for seed in range({"smoke": 1, "book": 3, "full": 20}[scale]):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(100, 301)), int(rng.integers(4, 11))
        size = SIZES["smoke"] if scale == "smoke" else {"n_samples": n, "n_clusters": k}
        units.append({"row": "objective", "seed": seed, "rho": 0.5, **SIZES[scale], **size})
    return units


def run_figure2a(unit: Unit) -> dict[str, float]:
    """Objective over the iterations, as a share of that at the start."""
    path = learn(*draw_sets(unit, 0)).objective_path_
    return {f"after{i}": path[min(i, len(path) - 1)] / path[0] for i in ITERATIONS}


# Several distances per feature


class Split(NamedTuple):
    """Stacks of distances within the training and test data, and from test to training data."""

    train: Array
    y: Labels
    test: Array
    y_test: Labels
    across: Array
    names: list[str]


KINDS = ("chi2", "l1", "l2", "rbf")


@lru_cache(maxsize=2)
def _views(data: str, patch: int, rotate: bool) -> tuple[dict[str, Array], Labels]:
    if data == "digits":
        return load_views()
    if data == "textures":
        images, y = load_texture_patches(size=patch, rotate=rotate, random_state=0)
    else:
        images, y, _ = load_image_folder(data)
    return image_views(images), y


@lru_cache(maxsize=1)
def split(
    data: str,
    seed: int,
    kinds: tuple[str, ...],
    per_class: int | None,
    *,
    noise: bool = False,
    patch: int = 0,
    rotate: bool = False,
) -> Split:
    """Draw half of the things of each class for training, the others for testing.

    The digits, whose features have all sorts of units and signs, are brought to [0, 1] by the
    range of the training data. Noise adds a Gaussian view of the same width for each view.
    """
    views, y = _views(data, patch, rotate)
    rng = np.random.default_rng(seed)
    rows: tuple[list[int], list[int]] = [], []
    for label in np.unique(y):
        chosen = rng.permutation(np.flatnonzero(y == label))[:per_class].tolist()
        rows[0].extend(chosen[: len(chosen) // 2])
        rows[1].extend(chosen[len(chosen) // 2 :])
    parts = [{name: X[part] for name, X in views.items()} for part in rows]
    if noise:
        for part in parts:
            part |= {f"noise {name}": rng.normal(size=X.shape) for name, X in part.items()}
    if data == "digits":
        scalers = {name: MinMaxScaler(clip=True).fit(X) for name, X in parts[0].items()}
        parts = [{name: scalers[name].transform(X) for name, X in part.items()} for part in parts]
    train, test = parts
    stack, names = distance_stack(train, kinds=kinds)
    within, _ = distance_stack(test, kinds=kinds, reference=train)
    across, _ = distance_stack(test, train, kinds=kinds, reference=train)
    return Split(stack, y[rows[0]], within, y[rows[1]], across, names)


def unit_split(unit: Unit) -> Split:
    """Return the split that a unit is about."""
    variant = {key: unit[key] for key in ("noise", "patch", "rotate") if key in unit}
    kinds = tuple(unit["kinds"])
    return split(unit["data"], unit["seed"], kinds, unit["per_class"], **variant)


def learned_shares(data: Split) -> Array:
    """Learn the weights of a split, at one price; their shares, for distances of equal means."""
    model = learn([data.train], [data.y], PRICES[-1:], "precomputed")
    weights = model.weights_ * model.scales_
    return weights / weights.sum()


def run_split(unit: Unit) -> dict[str, float]:
    """Cluster the test data, and classify it by the nearest training example."""
    data = unit_split(unit)
    if unit["method"] == "best single distance":
        return best_single(data)
    if unit["method"] == "SVM":
        train, test, across = (
            _similarity_features(s) for s in (data.train, data.test, data.across)
        )
        svm = CorrelationClusteringSVM().fit([train], [data.y])
        return judged(data, -svm.similarities(across), svm.predict(test))
    if unit["method"] == "average distance":
        penalty = tuned_penalty([data.train.mean(axis=0)], [data.y])
        found = cluster(data.test.mean(axis=0), penalty)
        return judged(data, data.across.mean(axis=0), found)
    prices = (unit["price"],) if "price" in unit else PRICES
    model = learn([data.train], [data.y], prices, "precomputed")
    across = np.tensordot(model.weights_, data.across, axes=1)
    values = judged(data, across, model.predict(data.test))
    weights = model.weights_ * model.scales_
    for key in ("noise", "rot-"):
        marked = np.array([name.startswith(key) for name in data.names])
        if marked.any():
            values[key.strip("-")] = weights[marked].sum() / weights.sum()
    return values


def best_single(data: Split) -> dict[str, float]:
    """Best over the distances of each measure on the test data, as if one had known which."""
    single = []
    for train, test, across in zip(data.train, data.test, data.across, strict=True):
        penalty = tuned_penalty([train], [data.y])
        single.append(judged(data, across, cluster(test, penalty)))
    best = max(single, key=lambda values: values["accuracy"])
    return {**best, "nn": max(values["nn"] for values in single)}


def judged(data: Split, across: Array, labels: NDArray[np.intp]) -> dict[str, float]:
    """Accuracies of a clustering of the test data, and of its nearest training examples."""
    return {
        "accuracy": clustering_accuracy(data.y_test, labels),
        "nn": float(np.mean(data.y[across.argmin(axis=1)] == data.y_test)),
        "clusters": float(labels.max() + 1),
    }


def _similarity_features(stack: Array) -> Array:
    """Negative distances, and a constant for the threshold."""
    return np.concatenate([-stack, np.ones((1, *stack.shape[1:]))])


SVM = "correlation-clustering SVM"
METHODS = {
    "learned": "learned",
    "best single distance": "best single distance",
    "average distance": "average distance",
    SVM: "SVM",
}
FIRST_SPLIT = 10  # the settings were settled on test results of splits 0 to 9 of the digits
ONE_KIND = "learned, one distance per view"
ONE_PRICE = "learned, price not tuned"


def split_units(
    scale: str,
    *,
    data: str,
    seeds: int = 10,
    per_class: int | None = None,
    kinds: tuple[str, ...] = KINDS,
    one_kind: bool = True,
    one_price: bool = False,
    variants: tuple[tuple[str, dict[str, Any]], ...] = (("", {}),),
) -> list[Unit]:
    """Every method on every split; a single distance is not tried on noise, which never wins."""
    if scale == "smoke":
        per_class, kinds = 12, kinds[::3]
    units: list[Unit] = []
    n_splits = {"smoke": 1, "book": 2, "full": seeds}[scale]
    for seed in range(FIRST_SPLIT, FIRST_SPLIT + n_splits):
        for end, variant in variants:
            if scale == "smoke" and "patch" in variant:
                variant = {**variant, "patch": 64}  # few of them
            common = {"seed": seed, "data": data, "per_class": per_class, **variant}
            for row, method in METHODS.items():
                if method != "best single distance" or not variant.get("noise"):
                    units.append({"row": row + end, "method": method, "kinds": kinds, **common})
            if one_price and not variant.get("noise"):
                fixed = {"row": ONE_PRICE + end, "method": "learned", "price": PRICES[0]}
                units.append({**fixed, "kinds": kinds, **common})
            if one_kind and not variant.get("noise"):
                one = {"row": ONE_KIND + end, "method": "learned", "kinds": ("chi2",)}
                units.append({**one, **common})
    return units


ACCURACIES = (
    Column("accuracy", "clustering accuracy", tolerance=0.02),
    Column("nn", "nearest-neighbour accuracy", tolerance=0.02),
    Column("clusters", "clusters found", tolerance=0.5, digits=1),
)
NOISE_SHARE = Column("noise", "weight of the noise features", tolerance=0.01)
ROT_SHARE = Column("rot", "weight of rot- features", tolerance=0.01)

SETTINGS = (
    "Learned with α = β = 1, the l1 norm and weights at least 0, as in the paper, and τ a tenth of "
    "the number of training points, at most 300 iterations. "
)
TUNED = (
    f"The penalty of a distance that is not learned is the one, of {len(SHARES)}, with the best "
    "F-measure on training data. "
)
PROTOCOL = (
    SETTINGS
    + "The price d_qq is the one, of "
    + ", ".join(map(str, PRICES))
    + " times the mean cluster size, with the best F-measure on training data; “price not tuned” "
    "has the first. "
    + TUNED
    + "Accuracy of a clustering: clusters are matched to classes one to one, points of unmatched "
    "clusters count as errors (the paper does not define it). Nearest neighbour: class of the "
    "nearest training example. The best single distance is chosen for each measure on the test "
    "data itself. The structured SVM has the same distances and a constant. "
)
FRESH = (
    "The choices of price and the strength of the SVM were settled on test results of earlier "
    "splits of the digits (a first try with 0.1 times the cluster size found 16 clusters); none "
    "of those splits is in these numbers. "
)
FEATURES = (
    "The features are those of scikit-image: two LBP histograms, HOG, two banks of Gabor filters "
    "and grey levels; the paper's also have gist, SIFT and textons. "
)
SYNTHETIC = (
    "10 training and 10 test sets of N = 500 points, D = 100 features and M = 10 clusters. The "
    "paper does not print its variances: here centres are drawn from N(0, 2² I) for each set, with "
    "standard deviation 1 on clean features and 20 on noisy ones. "
)
OWN_VARIANCES = "our generator, as the paper does not print its variances"
MKL = "multiple kernel learning"


def image_experiment(
    name: str,
    title: str,
    paper_numbers: dict[str, dict[str, Number]],
    *,
    reasons: dict[str | tuple[str, str], str] | None = None,
    **options: Any,
) -> Experiment:
    """Declare an experiment on a folder of images that the user has."""
    return Experiment(
        id=f"komodakis2011-{name}",
        paper=PAPER,
        title=title,
        data="the paper's images, other features",
        columns=ACCURACIES,
        paper_numbers=paper_numbers,
        units=partial(split_units, data=name, **options),
        run_unit=run_split,
        note=PROTOCOL + FEATURES + "10 splits, half of each class for training.",
        reasons=reasons or {},
    )


NO_MKL: dict[str | tuple[str, str], str] = {MKL: "a classifier, not a clustering: not written here"}

EXPERIMENTS = [
    Experiment(
        id="komodakis2011-figure2a",
        paper=PAPER,
        title="Figure 2(a): the objective over the iterations, as a share of its start",
        what="figure",
        data=OWN_VARIANCES,
        columns=[Column(f"after{i}", f"after {i}", tolerance=0.02, digits=2) for i in ITERATIONS],
        paper_numbers={},
        units=figure2a_units,
        run_unit=run_figure2a,
        note="20 runs, N from 100 to 300, M from 4 to 10, D = 100, half of the features noisy, 10 "
        "training sets each; the paper varies N and M too and does not say how. "
        + SETTINGS
        + "d_qq is a tenth of the mean cluster size.",
    ),
    Experiment(
        id="komodakis2011-figure2",
        paper=PAPER,
        title="Figure 2(d): F-measure on test sets against the share ρ of noisy features",
        what="figure",
        data=OWN_VARIANCES,
        columns=(
            Column("f", "pairwise F-measure", tolerance=0.02),
            Column("clusters", "clusters found", tolerance=0.5, digits=1),
            Column("noisy", "weight of the noisy features", tolerance=0.01, digits=4),
        ),
        paper_numbers={f"learned, ρ = {rho}": {"f": 1.0} for rho in RHOS}
        | {"learned, ρ = 0.5": {"f": 1.0, "clusters": 10.0}},
        units=figure2_units,
        run_unit=run_figure2,
        note=SYNTHETIC
        + SETTINGS
        + "d_qq is a tenth of the mean cluster size. "
        + TUNED
        + "3 seeds; a number is the mean over the test sets. The paper prints no number: its text "
        "has F ≈ 1 for the learned distance even at very large ρ, the right number of clusters at "
        "ρ = 0.5, and a squared Euclidean distance that fails. The standardised distance divides "
        "every feature by its standard deviation over the training points; the paper has none.",
        reasons={
            "learned, ρ = 0.9": "10 clean features are left; the paper's largest ρ is not printed"
        },
    ),
    Experiment(
        id="komodakis2011-digits",
        paper=PAPER,
        title="Six views of digits, four distances each, with and without noise features",
        what="variant",
        data="stand-in: handwritten digits",
        columns=(*ACCURACIES, NOISE_SHARE),
        paper_numbers={},
        units=partial(
            split_units,
            data="digits",
            per_class=80,
            one_price=True,
            variants=(("", {}), (", with noise", {"noise": True})),
        ),
        run_unit=run_split,
        note=PROTOCOL
        + FRESH
        + "10 splits, 40 digits of each class for training and 40 for testing.",
    ),
    Experiment(
        id="komodakis2011-textures",
        paper=PAPER,
        title="Patches of brick, grass and gravel, as they are and turned by random angles",
        what="variant",
        data="stand-in: textures of scikit-image",
        columns=(*ACCURACIES, ROT_SHARE),
        paper_numbers={},
        units=partial(
            split_units,
            data="textures",
            one_kind=False,
            variants=(
                (", upright", {"patch": 24, "rotate": False}),
                (", turned", {"patch": 24, "rotate": True}),
            ),
        ),
        run_unit=run_split,
        note=PROTOCOL
        + FRESH
        + FEATURES
        + "225 patches of 24 by 24 pixels of each texture, 10 splits in halves.",
    ),
    image_experiment(
        "outex",
        "Outex textures, one distance per feature",
        {"learned": {"accuracy": 1.0}},
        kinds=("chi2",),
        one_kind=False,
    ),
    image_experiment(
        "uiuc",
        "UIUC textures",
        {
            "learned": {"nn": 0.961},
            ONE_KIND: {"accuracy": 0.86, "nn": 0.953},
            SVM: {"accuracy": 0.74, "nn": 0.821},
            MKL: {"nn": 0.949},
        },
        reasons=NO_MKL,
    ),
    image_experiment(
        "scene15",
        "15 scene categories",
        {
            "learned": {"accuracy": 0.63, "nn": 0.702},
            SVM: {"accuracy": 0.52, "nn": 0.621},
            MKL: {"nn": 0.634},
        },
        per_class=80,
        one_kind=False,
        reasons=NO_MKL,
    ),
]
