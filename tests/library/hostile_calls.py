"""One valid call of every public name, for `hostile.py`; keywords not given have their defaults."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from hostile import (
    Argument,
    Call,
    Fixed,
    Labels,
    LabelSets,
    Named,
    Rows,
    Scaled,
    Sets,
    Setting,
    quietly,
)
from hostile import Vector as Numbers

import mlbook
from mlbook.bags import Bags
from mlbook.baselines import N_PAIRS
from mlbook.changepoints import constraints_from_labels, segmentation_path
from mlbook.dual_decomposition import initial_multipliers
from mlbook.exemplars import exemplar_path
from mlbook.grid_crf import GridProblem
from mlbook.latent_crf import ExemplarProblem
from mlbook.plots import subplots

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 6)
X = np.array([[0.0, 0, 0], [20, -8, 4], [-16, 12, 9]])[y] + rng.integers(-2, 3, size=(18, 3))
M = np.array([[2.0, 0, 0], [0, 3, 1], [0, 1, 2]])
D = np.square(X[:, None] - X).sum(axis=2)
W = np.maximum(40.0 - D / 4, 1.0).round()
TWO = (y > 0).astype(np.int64)
OTHER = np.repeat([0, 1, 2], [5, 7, 6])
# Nine bags of two rows, from two clusters each.
ORDER = np.array(
    [row for i in range(9) for row in (6 * (i % 3) + i // 3, 6 * ((i + 1) % 3) + 5 - i // 3)]
)
BAGGED, OFFSETS = X[ORDER], np.arange(0, 19, 2)
Y = np.zeros((9, 3), dtype=int)
Y[np.repeat(np.arange(9), 2), y[ORDER]] = 1
BAGS = [BAGGED[2 * i : 2 * i + 2] for i in range(9)]
SETS, PARTS = [X[::2], X[1::2]], [y[::2], y[1::2]]
EDGES = np.array(np.triu_indices(18, 1))
PIXELS = rng.integers(-9, 10, size=(3, 4, 2)).astype(float)
MASK = np.arange(12).reshape(3, 4) // 6
RGB = rng.integers(0, 257, size=(12, 10, 3)) / 256
PROBLEM = ExemplarProblem(X[::3], y[::3], penalty=50.0)
GRID = GridProblem(PIXELS, MASK, n_hidden=1)
SIMILARITIES = W - 20
FRAME = pd.DataFrame(BAGGED, columns=["f0", "f1", "f2"]).assign(bag=np.repeat(np.arange(9), 2))


class Function(Setting):
    """A choice, or a function: what a wrong function does is its own business."""

    def spoiled(self) -> Iterator[tuple[str, str, Any, float]]:
        return (mutation for mutation in super().spoiled() if mutation[0] != "type")


class _Axes(Argument):
    def fresh(self) -> Any:
        return subplots()[1][0, 0]


AXES = _Axes(None)

RANKING = Rows(np.arange(27.0).reshape(9, 3) % 7, allow=("inf", "-inf"))
ABOUT = ("too short", "too long", "-5 among")  # proportions need not be exact
MASKED = Named(np.arange(120).reshape(12, 10) // 60, allow=ABOUT)
FAST = {"max_iter": 3}
NO_PAIR = ("empty list",)
PLOTTED = ("-5 among", "halves", "None", "inf among")  # any names do
ALONE = ("too short", "too long", "-1 among", "negative")  # nothing else says how many
CLASSES = ("-5 among", "inf among")  # names of classes may be negative
SCALES = Numbers([1.0, 2.0], allow=ALONE)
ONE_OR_NONE = ("None", "a dimension less")  # a metric may be left out, or be a vector of weights
TRAINING = {"Xs": Sets(SETS), "ys": LabelSets(PARTS)}
IMAGES = {"Xs": Sets([PIXELS, -PIXELS]), "ys": LabelSets([MASK, MASK])}
WEAK = {
    "bags": Sets(BAGS, allow=("first: empty",)),
    "Y": Rows(Y, allow=("all zero", "a column less")),
}
ROWS = {"X": Rows(X), "y": Named(y, allow=CLASSES)}
CONSTRAINTS = constraints_from_labels(np.where(np.arange(18) % 4, -1, y))

# room.name: arguments of a function, or of the constructor of a plain class
FUNCTIONS: dict[str, dict[str, Any]] = {
    "bags.Bags": {"instances": Rows(BAGGED), "offsets": Numbers(OFFSETS)},
    "bags.average_precision": {
        "y_true": Rows(Y),
        "y_score": RANKING,
    },
    "bags.bag_distances": {"A": Setting(Bags.from_list(BAGS)), "B": Setting(Bags.from_list(BAGS))},
    "bags.candidate_labels": {"Y": Rows(Y), "n_bags": 9},
    "bags.check_offsets": {"offsets": Numbers(OFFSETS), "n": 18},
    "bags.citation_knn_scores": {
        "query_distances": Rows(D[:4, ::2]),
        "train_distances": Rows(D[::2, ::2], allow=("None",)),
        "Y": Rows(Y),
        "n_references": 2,
        "n_citers": 2,
    },
    "bags.coverage": {"y_true": Rows(Y), "y_score": RANKING},
    "bags.one_error": {"y_true": Rows(Y), "y_score": RANKING},
    **{
        f"baselines.{name}": {"X": Rows(X), "y": Labels(y, allow=CLASSES), "random_state": 0}
        for name in (
            "euclidean",
            "itml",
            "kissme",
            "lda",
            "lmnn",
            "mmc",
            "rca",
            "regression",
            "xqda",
        )
    },
    "baselines.pcca": {
        "X": Rows(X),
        "y": Labels(y, allow=CLASSES),
        "n_components": 2,
        "random_state": 0,
    },
    "changepoints.breakpoints_from_labels": {"labels": Labels(y, allow=ALONE)},
    "changepoints.constraints_from_intervals": {
        "n": 18,
        "same": Setting([(0, 2)], allow=("empty list",)),
        "change": Setting([(2, 9)], allow=("empty list",)),
    },
    "changepoints.constraints_from_labels": {"labels": Labels(y, allow=ALONE)},
    "changepoints.hermite_features": {"x": Numbers(X[:, 0], allow=ALONE), "degree": 2},
    "changepoints.labels_from_breakpoints": {"breakpoints": Numbers([6, 12, 18], allow=ALONE)},
    "changepoints.loss_augmented_segment": {
        "X": Rows(X),
        "labels": Labels(y),
        "M": Rows(M, allow=ONE_OR_NONE),
    },
    "changepoints.segment": {
        "X": Scaled(X),
        "n_segments": 3,
        "penalty": Fixed(None),
        "constraints": Setting(CONSTRAINTS, allow=("None",)),
    },
    "changepoints.segment_matrix": {"A": Scaled(SIMILARITIES), "n_segments": 3},
    "changepoints.segment_starts": {"labels": Labels(y, allow=ALONE), "name": Fixed("labels")},
    "changepoints.segmentation_path": {
        "X": Rows(X),
        "M": Rows(M, allow=ONE_OR_NONE),
        "max_segments": 5,
    },
    "datasets.LabelledImages": {
        "pairs": Fixed([]),
        "classes": Numbers([0, 1], allow=(*ALONE, "-1")),
    },
    "datasets.bags_from_labels": {"X": Rows(X), "labels": Named(y), "random_state": 0},
    "datasets.hide_labels": {
        "labels": LabelSets(
            [y, y],
            allow=(
                "one less",
                "first: too short",
                "first: too long",
                "first: holes",
                "first: huge",
            ),
        ),
        "fraction": 0.5,
        "random_state": 0,
    },
    "datasets.make_change_points": {
        "n_series": 2,
        "n_samples": 30,
        "n_relevant": 2,
        "n_irrelevant": 1,
        "n_segments": (2, 3),
        "min_length": 4,
        "random_state": 0,
    },
    "datasets.make_crossed_clusters": {"sizes": Numbers([3, 3, 3]), "random_state": 0},
    "datasets.make_noisy_gaussians": {"n_samples": 20, "n_features": 4, "random_state": 0},
    "datasets.make_texture_collages": {
        "n_collages": 1,
        "size": 16,
        "n_textures": 2,
        "random_state": 0,
    },
    "datasets.make_weak_bags": {
        "n_bags": 9,
        "n_categories": 3,
        "n_features": 9,
        "n_identity": 4,
        "n_nuisance": 2,
        "random_state": 0,
    },
    "datasets.make_xor_grids": {"n_images": 2, "shape": (4, 4), "block": 2, "random_state": 0},
    "dual_decomposition.configuration_energy": {
        "problem": Setting(PROBLEM),
        "w": Numbers(np.ones(3)),
        "x": Numbers(np.array([0, 0, 2, 2, 4, 4])),
    },
    "dual_decomposition.dual_value": {
        "problem": Setting(PROBLEM),
        "w": Numbers(np.ones(3)),
        "multipliers": Sets([m + 1 for m in initial_multipliers(PROBLEM)]),
    },
    "dual_decomposition.initial_multipliers": {"problem": Setting(PROBLEM)},
    "dual_decomposition.relaxed_loss": {
        "problem": Setting(PROBLEM),
        "w": Numbers(np.ones(3)),
        "multipliers": Sets([m + 1 for m in initial_multipliers(PROBLEM)]),
        "x": Numbers(np.array([0, 0, 2, 2, 4, 4])),
    },
    "dual_decomposition.tighten": {
        "problem": Setting(PROBLEM),
        "w": Numbers(np.ones(3)),
        "multipliers": Sets([m + 1 for m in initial_multipliers(PROBLEM)]),
        "x": Numbers(np.array([0, 0, 2, 2, 4, 4])),
    },
    "exemplars.exemplar_bound": {"D": Rows(D), "penalty": 50.0, "v": Numbers(np.full(18, 5.0))},
    "exemplars.exemplar_energy": {
        "D": Rows(D),
        "exemplars": Numbers([0, 6, 12], allow=ALONE),
        "penalty": 50.0,
    },
    "exemplars.exemplar_labels": {"D": Scaled(D), "exemplars": Numbers([0, 6, 12], allow=ALONE)},
    "exemplars.exemplar_path": {"D": Rows(D), "max_clusters": 4, "max_iter": 50, "random_state": 0},
    "exemplars.improve_exemplars": {
        "D": Rows(D),
        "exemplars": Numbers([0, 6, 12], allow=ALONE),
        "penalty": 50.0,
        "random_state": 0,
    },
    "exemplars.penalty_range": {"D": Rows(D)},
    "exemplars.solve_exemplars": {"D": Rows(D), "penalty": 50.0, "random_state": 0},
    "exemplars.solve_exemplars_exact": {"D": Rows(D), "penalty": 50.0, "random_state": 0},
    "explore.explore": {
        "figure_function": Setting(lambda k: subplots()[0]),
        "alt": Setting("a figure", allow=("nonsense", "type", "text of a number")),
        "k": Setting([1, 2], allow=("array",)),
    },
    "grid_crf.GridProblem": {"image": Rows(PIXELS), "labels": Named(MASK, allow=("None",))},
    "images.binary_patterns": {
        "gray": Rows(RGB[..., 0]),
        "levels": Numbers([1, 2], allow=ALONE),
        "rotation_invariant": True,
    },
    "images.chi2_distances": {"X": Rows(np.abs(X)), "Y": Rows(np.abs(X[:4]), allow=("None",))},
    "images.colour_and_position": {
        "image": Rows(RGB, allow=("a dimension less",)),
        "max_height": 8,
    },
    "images.dense_sift": {"gray": Rows(RGB[..., 0])},
    "images.filter_responses": {"gray": Rows(RGB[..., 0]), "step": 4},
    "images.gist": {"gray": Rows(RGB[..., 0]), "cells": 2},
    "images.labelled_pixels": {
        "image": Rows(RGB, allow=("a dimension less",)),
        "mask": MASKED,
        "max_height": 8,
    },
    "images.pixel_features": {"image": Rows(RGB, allow=("a dimension less",)), "max_height": 8},
    "images.resize_with_mask": {
        "image": Rows(RGB, allow=("a dimension less",)),
        "mask": MASKED,
        "max_height": 8,
    },
    "images.word_pyramid": {
        "words": Named(MASK, allow=ABOUT),
        "n_words": 7,
        "levels": Numbers([1, 2], allow=ALONE),
    },
    "kmeans.distortion": {"X": Rows(X), "labels": Labels(y), "M": Rows(M, allow=ONE_OR_NONE)},
    "kmeans.spectral_bound": {"X": Rows(X), "n_clusters": 2, "M": Rows(M, allow=ONE_OR_NONE)},
    "kmeans.spectral_embedding": {"X": Scaled(X), "n_clusters": 2, "M": Rows(M, allow=ONE_OR_NONE)},
    "kmeans.trace_objective": {"X": Rows(X), "labels": Labels(y), "M": Rows(M, allow=ONE_OR_NONE)},
    "large_margin.structured_hinge": {
        "X": Rows(X),
        "labels": Labels(y),
        "M": Rows(M, allow=ONE_OR_NONE),
    },
    "latent_crf.ExemplarProblem": {"data": Rows(X), "labels": Labels(y), "penalty": 2.0},
    "latent_crf.clustering_error": {"assignment": Numbers(6 * y), "labels": Labels(OTHER)},
    "latent_crf.exemplars_of_partition": {"D": Rows(D), "labels": Labels(y), "penalty": 2.0},
    "latent_crf.loss_augmented_potentials": {"D": Rows(D), "labels": Labels(y), "penalty": 2.0},
    "mimlca.assign_instances": {
        "U": Scaled(BAGGED),
        "centroids": Rows(X[::6]),
        "offsets": Numbers(OFFSETS),
        "Y": Rows(Y),
    },
    "mimlca.chi2_rbf_kernel": {"A": Scaled(np.abs(X) + 1), "B": Scaled(np.abs(X) + 1)},
    "mimlca.feasible_assignments": {"offsets": Numbers(OFFSETS[:3]), "Y": Rows(Y[:2])},
    "mimlca.own_clusters": {"labels": Named(y, allow=ALONE)},
    "mimlca.relaxed_overlap": {
        "X": Rows(BAGGED[:6]),
        "M": Rows(M),
        "offsets": Numbers(OFFSETS[:4]),
        "Y": Rows(Y[:3]),
    },
    "mimlca.weak_kmeans": {
        "U": Rows(BAGGED),
        "offsets": Numbers(OFFSETS),
        "Y": Rows(Y),
        "random_state": 0,
    },
    "mlca.closed_form_factor": {"X": Rows(X), "factor": Rows(np.eye(3)[y])},
    "mlca.closed_form_metric": {"X": Rows(X), "factor": Rows(np.eye(3)[y])},
    "mlca.structured_loss": {"X": Scaled(X), "M": Rows(M), "labels": Labels(y)},
    "mlca.worst_case_risk": {"X": Scaled(X), "M": Rows(M), "labels": Labels(y)},
    "ncuts.gaussian_affinity": {
        "X": Rows(X),
        "edges": Rows(EDGES, allow=("no column",)),
        "b": Numbers(np.full(3, 0.125)),
    },
    "ncuts.grid_edges": {"height": 3, "width": 4, "radius": 2.0},
    "ncuts.normalized_cut": {"W": Scaled(W), "n_clusters": 3, "random_state": 0},
    "ncuts.normalized_cut_bound": {"W": Scaled(W), "n_clusters": 3, "random_state": 0},
    "ncuts.normalized_cut_value": {"W": Scaled(W), "labels": Labels(y)},
    "ncuts.spectral_hinge": {
        "b": Numbers(np.full(3, 0.125)),
        "differences": Rows(np.square(X[EDGES[0]] - X[EDGES[1]])),
        "edges": Rows(EDGES, allow=("no column",)),
        "labels": Labels(y, allow=("too long",)),
        "random_state": 0,
    },
    "ncuts.squared_differences": {"X": Rows(X), "edges": Rows(EDGES, allow=("no column",))},
    "partitions.assignment_matrix": {
        "labels": Named(y, allow=ALONE),
        "classes": Numbers([0, 1, 2], allow=("None",)),
    },
    "partitions.contingency": {"a": Labels(y), "b": Labels(OTHER)},
    "partitions.equivalence_matrix": {"labels": Labels(y, allow=ALONE)},
    "partitions.f_measure": {"a": Labels(y), "b": Labels(OTHER)},
    "partitions.hausdorff_distance": {"a": Labels(y), "b": Labels(OTHER)},
    "partitions.labels_from_matrix": {
        "C": Rows(np.eye(2)[TWO] @ np.eye(2)[TWO].T / np.where(TWO, 12, 6))
    },
    "partitions.normalized_assignment": {
        "labels": Named(y, allow=ALONE),
        "classes": Numbers([0, 1, 2], allow=("None",)),
    },
    "partitions.partition_loss": {"a": Labels(y), "b": Labels(OTHER)},
    "partitions.rand_loss": {"a": Labels(y), "b": Labels(OTHER)},
    "plots.plot_metric": {"M": Rows(M)},
    "plots.plot_partition": {
        "X": Rows(X),
        "labels": Labels(y, allow=PLOTTED),
        "truth": Labels(y, allow=PLOTTED),
    },
    "plots.plot_path": {"path": Setting(segmentation_path(X))},
    "plots.plot_segments": {
        "X": Rows(X),
        "labels": Labels(y, allow=PLOTTED),
        "truth": Labels(y, allow=PLOTTED),
    },
    "plots.scatter": {
        "ax": AXES,
        "X": Rows(X),
        "labels": Labels(y),
        "centers": Rows(X[::6], allow=("None",)),
    },
    "plots.show_matrix": {"ax": AXES, "A": Rows(D)},
    "plots.subplots": {},
    "price_paths.plateaus": {
        "counts": Numbers([1, 2, 3]),
        "costs": Numbers([9.0, 3.0, 1.0], allow=("inf", "-inf", "NaN", "all NaN", "None among")),
    },
}

# room.name: settings of the constructor, arguments of fit, and of the other methods
Methods = dict[str, dict[str, Any]]
ONE = {"X": Rows(X)}
SCORE = {"X": Rows(X), "y": Labels(y)}
ESTIMATORS: dict[str, tuple[dict[str, Any], dict[str, Argument], Methods]] = {
    **{
        f"baselines.{name}": (
            {"random_state": 0},
            ROWS,
            {
                "transform": ONE,
                "fit_transform": ROWS,
                "cluster": {**ONE, "n_clusters": 3},
                "score": SCORE,
            },
        )
        for name in ("RCA", "KISSME", "LDAMetric")
    },
    "dual_decomposition.DualDecompositionLearner": (
        FAST,
        {"problems": Setting([PROBLEM]), "start": Numbers(np.ones(3))},
        {},
    ),
    "exemplars.ExemplarClustering": (
        {
            "penalty": Setting(50.0, allow=("-1", "0", "inf", "array")),
            "max_iter": 50,
            "random_state": 0,
        },
        ONE,
        {"predict": ONE, "fit_predict": ONE},
    ),
    "grid_crf.LatentGridCRF": (
        {"n_hidden": 1, "max_iter": 3, "random_state": 0},
        IMAGES,
        {"predict": {"image": Rows(PIXELS)}, "infer": {"image": Rows(PIXELS)}},
    ),
    "kmeans.SpectralKMeans": (
        {"n_clusters": 3, "M": Rows(M, allow=("None",)), "random_state": 0},
        {"X": Rows(X)},
        {"predict": ONE, "fit_predict": ONE},
    ),
    "large_margin.LargeMarginMetric": (
        {"max_iter": 20, "random_state": 0},
        TRAINING,
        {
            "predict": {**ONE, "n_clusters": 3},
            "transform": ONE,
            "score": TRAINING,
        },
    ),
    "latent_crf.LatentExemplarMetric": (
        {"max_iter": 3, "random_state": 0},
        TRAINING,
        {"predict": ONE, "distances": ONE, "transform": ONE, "score": TRAINING},
    ),
    "mimlca.MIMLCA": (
        {"max_iter": 20, "random_state": 0},
        WEAK,
        {
            "transform": {"X": Rows(BAGGED)},
            "decision_function": {"X": Rows(BAGGED)},
            "predict": {"X": Rows(BAGGED)},
            "score": WEAK,
        },
    ),
    "mlca.MLCA": (
        {"random_state": 0},
        ROWS,
        {
            "transform": ONE,
            "fit_transform": ROWS,
            "predict": ONE,
            "cluster": {**ONE, "n_clusters": 3},
            "score": SCORE,
            "partial_fit": ROWS,
            "merge": {},
        },
    ),
    "mlca.BinaryMLCA": (
        {},
        {"X": Rows(X), "y": Named(TWO, allow=CLASSES)},
        {
            "transform": ONE,
            "fit_transform": {"X": Rows(X), "y": Named(TWO, allow=CLASSES)},
            "decision_function": ONE,
            "cluster": ONE,
            "score": {"X": Rows(X), "y": Labels(TWO)},
            "partial_fit": {"X": Rows(X), "y": Named(TWO, allow=CLASSES)},
            "merge": {},
        },
    ),
    "ncuts.NormalizedCutMetric": (
        {
            "n_clusters": 3,
            "scales": Numbers([1.0, 2.0], allow=ALONE),
            "max_iter": 2,
            "random_state": 0,
        },
        TRAINING,
        {"predict": {**ONE, "n_clusters": 3}, "transform": ONE, "score": TRAINING},
    ),
}
# Plain classes: how to make one, and arguments of its methods
OBJECTS: dict[str, tuple[Callable[[], Any], Methods]] = {
    "bags.Bags": (
        lambda: Bags(BAGGED, OFFSETS),
        {
            "from_list": {"arrays": Sets(BAGS, allow=("one less", "first: empty"))},
            "from_frame": {
                "frame": Setting(FRAME),
                "bag": Setting("bag"),
                "features": Setting(["f0"], allow=("None",)),
            },
            "map": {"function": Function(np.negative)},
        },
    ),
    "changepoints.SegmentationPath": (partial(segmentation_path, X), {"labels": {"n_segments": 3}}),
    "exemplars.ExemplarPath": (partial(exemplar_path, D), {"labels": {"n_clusters": 3}}),
    "grid_crf.GridProblem": (
        lambda: GRID,
        {
            name: {"w": Numbers(np.arange(14.0)), **more}
            for name, more in {
                "unary": {},
                "augmented_unary": {},
                "pairwise": {},
                "complete": {"previous": Fixed(None)},
                "decode": {"start": Fixed(None)},
            }.items()
        },
    ),
    "latent_crf.ExemplarProblem": (
        lambda: PROBLEM,
        {
            "distances": {"w": Numbers(np.ones(3))},
            "potentials": {"w": Numbers(np.ones(3))},
            "scaled": {"scales": Numbers(np.ones(3), allow=("number", "a dimension less"))},
            "feature_sum": {"assignment": Numbers(np.array([0, 0, 2, 2, 4, 4]))},
            "complete": {"w": Numbers(np.ones(3)), "previous": Fixed(None)},
            "decode": {"w": Numbers(np.ones(3)), "start": Numbers(np.array([0, 0, 2, 2, 4, 4]))},
        },
    ),
}
# Made by other functions, or read files that the user has: nothing to feed.
PLAIN = [
    "changepoints.SegmentationPath",
    "exemplars.ExemplarPath",
    "explore.Slider",
    "price_paths.Plateau",
    "price_paths.PricePath",
    "datasets.load_birds",
    "datasets.load_faces",
    "datasets.load_letters",
    "datasets.load_libras",
    "datasets.load_textures",
    "datasets.load_views",
    "datasets.load_corel5k",
    "datasets.load_flowers",
    "datasets.load_horses",
    "datasets.GreyImages",
    "datasets.load_image_folder",
    "datasets.load_neuroblastoma",
    "datasets.load_vowels",
    "datasets.load_watch",
    "datasets.load_yahoo_news",
]
# Of these calls, which take long, only some cases are tried.
EVERY = {"baselines.lmnn": 20, "baselines.itml": 5, "datasets.make_texture_collages": 10}
NO_FIT_TRANSFORM = ("LargeMarginMetric", "LatentExemplarMetric", "MIMLCA", "NormalizedCutMetric")
OF_SCIKIT_LEARN = {"get_params", "set_params", "get_metadata_routing", "set_output"}


def public() -> Iterator[tuple[str, Any]]:
    """Yield every public name, with its room, and what it stands for."""
    for _, room, _ in pkgutil.iter_modules(mlbook.__path__):
        if not room.startswith("_"):
            module = importlib.import_module(f"mlbook.{room}")
            yield from ((f"{room}.{name}", getattr(module, name)) for name in module.__all__)


def untested() -> list[str]:
    """List the public names and methods for which there is no call here."""
    missing = []
    for name, thing in public():
        if inspect.isclass(thing):
            is_result = issubclass(thing, tuple) or getattr(thing, "_is_protocol", False)
            known = name in FUNCTIONS or name in ESTIMATORS or name in PLAIN or is_result
            fed = {"fit", *(ESTIMATORS[name][2] if name in ESTIMATORS else ())}
            fed |= {"fit_transform"} if name.split(".")[1] in NO_FIT_TRANSFORM else set()
            fed |= set(OBJECTS[name][1]) if name in OBJECTS else set()
            methods = [] if is_result else [m for m in _methods(thing) if m not in fed]
            missing += [f"{name}.{method}" for method in methods]
        else:
            known = name in FUNCTIONS or name in PLAIN or not callable(thing)
        if not known:
            missing.append(name)
    homes = {name: f"{room}.{name}" for room, names in mlbook._ROOMS.items() for name in names}
    return missing + [n for n in mlbook.__all__ if homes[n] not in dict(public())]


def _methods(thing: type) -> list[str]:
    """Public methods with an argument that is not scikit-learn's own business."""
    return [
        name
        for name, method in inspect.getmembers(thing, callable)
        if not name.startswith(("_", "set_"))
        and name not in OF_SCIKIT_LEARN
        and name not in ("get_feature_names_out", "get_mahalanobis_matrix")
        and getattr(method, "__module__", "").startswith(("mlbook", "sklearn"))
    ]


def calls() -> Iterator[Call]:
    """Yield every valid call."""
    things = dict(public())
    for name, given in FUNCTIONS.items():
        found = _arguments(things[name], given)
        yield Call(name, _quick(things[name]), found, every=EVERY.get(name, 1))
    for name, (given, fit, methods) in ESTIMATORS.items():
        yield from _estimator_calls(name, things[name], given, fit, methods)
    for name, (make, methods) in OBJECTS.items():
        for method, given in methods.items():
            bound = getattr(make(), method)
            yield Call(f"{name}.{method}", bound, _arguments(bound, given))


def _quick(function: Any) -> Any:
    """Let the methods that draw pairs draw few, and close the figures."""

    def run(**given: Any) -> Any:
        try:
            with patch.dict(N_PAIRS, itml=20, mmc=60, pcca=200):
                return function(**given)
        finally:
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")

    return run


def _estimator_calls(
    name: str, kind: Any, given: dict[str, Any], fit: dict[str, Argument], methods: Methods
) -> Iterator[Call]:
    chosen = _arguments(kind, given)
    values = {key: argument.value for key, argument in chosen.items()}

    def fitted(**everything: Any) -> Any:
        own = {
            key: everything.pop(key) for key in list(everything) if key in chosen and key not in fit
        }
        return kind(**own).fit(**everything)

    @cache
    def model() -> Any:
        with quietly():
            return kind(**values).fit(**{key: argument.fresh() for key, argument in fit.items()})

    yield Call(f"{name}.fit", fitted, {**chosen, **fit})
    for method, arguments in methods.items():
        if method == "merge":
            yield Call(f"{name}.merge", _merge(model), {"other": _Model(model)})
            continue
        fresh = method in ("fit_transform", "fit_predict", "partial_fit")

        def run(method: str = method, fresh: bool = fresh, **given: Any) -> Any:
            return getattr(kind(**values) if fresh else model(), method)(**given)

        listed = _arguments(getattr(kind, method), arguments)
        yield Call(f"{name}.{method}", run, listed, set(values))
    frames = next((a for a in fit if a in ("X", "Xs")), None)
    if frames and "transform" in methods:
        yield Call(
            f"{name}: columns", _permuted(kind, values, fit, frames), {"columns": COLUMNS}, {"X"}
        )


class _Model(Setting):
    """A fitted model, made when it is needed."""

    def fresh(self) -> Any:
        return self.value()


def _merge(model: Callable[[], Any]) -> Callable[[Any], Any]:
    from copy import deepcopy

    return lambda other: deepcopy(model()).merge(other)


class _Columns(Argument):
    def spoiled(self) -> Iterator[tuple[str, str, Any, float]]:
        yield "permuted", "refuse", ["f2", "f1", "f0"], 0
        yield "renamed", "refuse", ["f0", "f1", "g2"], 0
        yield "one less", "refuse", ["f0", "f1"], 0
        yield "one more", "refuse", ["f0", "f1", "f2", "f3"], 0


COLUMNS = _Columns(["f0", "f1", "f2"])


def _permuted(kind: Any, values: Any, fit: dict[str, Argument], frames: str) -> Callable[..., Any]:
    """Fit a data frame, transform one with other columns."""

    def framed(A: Any) -> Any:
        return pd.DataFrame(A, columns=["f0", "f1", "f2"])

    def run(columns: list[str]) -> Any:
        given = {key: argument.fresh() for key, argument in fit.items()}
        data = given[frames]
        given[frames] = framed(data) if frames == "X" else [framed(A) for A in data]
        model = kind(**values).fit(**given)
        frame = framed(X).assign(f3=1.0, g2=2.0)
        return np.asarray(model.transform(frame[columns]))

    return run


def _arguments(function: Any, given: dict[str, Any]) -> dict[str, Argument]:
    """Complete the arguments by the defaults of the signature."""
    found = dict(given)
    for name, parameter in inspect.signature(function).parameters.items():
        if name in given or parameter.default is parameter.empty or name in ("ax", "y"):
            continue
        found[name] = parameter.default
    return {
        name: value if isinstance(value, Argument) else _setting(name, value)
        for name, value in found.items()
    }


# What else a keyword may be: mutations with a meaning of their own.
MEANINGS = {
    "verbose": (),
    "size_counts": ("array",),
    "n_jobs": ("-1",),
    "random_state": ("None",),
    "center": ("-1",),
    "offset": ("-1",),
    "color": ("None",),
    "max_height": ("None",),
    "n_components": ("None",),
    "max_segments": ("None",),
    "max_clusters": ("None",),
    "weight": ("-1",),
    "shrinkage": (),
    "rtol": ("None",),
    "n_segments": ("None",),
    "penalty": ("inf", "-1", "array"),
    "kernel": ("type",),
    "metric": ("type",),
    "features": ("None",),
    "centre": ("array",),
    "regularizer": ("type",),
    "projection": ("type",),
    "class_weight": ("dict",),
    "n_clusters": ("None",),
    "radius": (),
    "train_distances": ("None",),
    "classes": ("None",),
    "function": ("type",),
}


def _setting(name: str, value: Any) -> Setting:
    functions = ("kernel", "metric", "regularizer", "projection")
    kind = Function if name in functions else Setting
    return kind(value, allow=MEANINGS.get(name, ()))
