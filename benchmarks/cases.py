"""Rows, labels and exemplars: what is measured; and the list of all benchmarks and bars."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AffinityPropagation
from sklearn.metrics import pairwise_distances

from benchmarks.case import Bar, Benchmark
from benchmarks.structured import structured_bars, structured_benchmarks
from mlbook.baselines import METRICS
from mlbook.exemplars import ExemplarSolution, exemplar_energy, solve_exemplars
from mlbook.kmeans import spectral_bound
from mlbook.mlca import MLCA, BinaryMLCA
from mlbook.partitions import normalized_assignment, partition_loss

D, N = 135, 2_000_000  # the features and pixels of Law 2016, Section 5.2
N_CLASSES = 10
IMAGE = 100 * 150  # pixels of a test image
CHUNK = 100_000  # rows per call of partial_fit
OVER_N = ((1_000, D), (10_000, D), (100_000, D), (500_000, D), (N, D))
POINTS = (500, 2000)  # to cluster by exemplars
OVER_D = ((200_000, 32), (200_000, 64), (200_000, D), (200_000, 270))


@dataclass(frozen=True)
class Rows:
    """Labelled rows, and the exact W = X†J."""

    X: NDArray[Any]
    y: NDArray[np.int64]
    W: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Size of X, to which memory is compared."""
        return self.X.nbytes


def make_rows(n: int, d: int, condition: float = 1.0) -> Rows:
    """Draw normal rows around class means, with a known W for any condition number.

    The rows are X = ZT. Z is well conditioned and its entries are multiples of 2⁻¹². T puts
    z_j + t z_{j+1} in place of every second column, with powers of two t from 2/condition up
    to 1: so X is exact in double precision, and W = T⁻¹Z†J is known to the accuracy of
    Z†J. Nothing as large as X is made beside it.
    """
    rng = np.random.default_rng(0)
    y = np.arange(n) % N_CLASSES
    means = rng.normal(size=(N_CLASSES, d))
    t = 2.0 ** -np.round(np.linspace(np.log2(max(condition / 2, 1)), 0, d // 2))
    X, gram, sums = np.empty((n, d)), np.zeros((d, d)), np.zeros((N_CLASSES, d))
    for start in range(0, n, 1000):
        block = slice(start, min(start + 1000, n))
        Z = np.round((rng.standard_normal((block.stop - start, d)) + means[y[block]]) * 2**12)
        Z /= 2**12
        gram += Z.T @ Z
        sums += np.stack([Z[c::N_CLASSES].sum(axis=0) for c in range(N_CLASSES)])
        if condition > 1:
            Z[:, 1::2] = Z[:, : d - 1 : 2] + t * Z[:, 1::2]
        X[block] = Z
    W = np.linalg.solve(gram, sums.T / np.sqrt(np.maximum(1, np.bincount(y))))
    if condition > 1:
        W[1::2] /= t[:, None]
        W[: d - 1 : 2] -= W[1::2]
    return Rows(X, y, W)


def make_ill_rows(n: int, d: int) -> Rows:
    """Draw rows with a condition number of at least 1e8."""
    return make_rows(n, d, condition=1e8)


def make_single_rows(n: int, d: int) -> Rows:
    """Give the rows in single precision, in which they are exact too."""
    rows = make_rows(n, d)
    return Rows(rows.X.astype(np.float32), rows.y, rows.W)


@dataclass(frozen=True)
class Image:
    """The features of the pixels of an image, and a two-class rule learned from others."""

    X: NDArray[np.float64]
    rule: BinaryMLCA


def make_image(n: int, d: int) -> Image:
    """Draw the pixels of an image, and as many to learn from."""
    rows = make_rows(2 * n, d)
    return Image(rows.X[n:], BinaryMLCA().fit(rows.X[:n], rows.y[:n] % 2))


def make_labels(n: int, k: int) -> NDArray[np.int64]:
    """Draw two labelings with k clusters each that agree on half of the points."""
    labels = np.random.default_rng(0).integers(k, size=(2, n))
    labels[1, ::2] = labels[0, ::2]
    return labels


def make_parts(n: int, d: int) -> tuple[MLCA, MLCA]:
    """Fit two models, to be merged, on n rows each."""
    rows = make_rows(2 * n, d)
    return MLCA().fit(rows.X[:n], rows.y[:n]), MLCA().fit(rows.X[n:], rows.y[n:])


@dataclass(frozen=True)
class Distances:
    """Distance matrices of several instances, one after the other, and a penalty for each."""

    D: NDArray[np.float64]
    penalties: list[float]

    @property
    def nbytes(self) -> int:
        """Size of one matrix."""
        return self.D[0].nbytes


def make_distances(kind: str) -> Callable[[int, int], Distances]:
    """Draw three instances: distances of "gaussian" or "uniform" points, or "random" ones.

    The first two are squared Euclidean, in d dimensions; the last are independent, hence
    asymmetric, whatever d. The penalty is the median distance, as by default.
    """

    def make(n: int, d: int) -> Distances:
        D = np.empty((3, n, n))
        for seed in range(3):
            rng = np.random.default_rng(seed)
            if kind == "random":
                D[seed] = rng.random((n, n))
            else:
                X = rng.normal(size=(n, d)) if kind == "gaussian" else rng.random((n, d))
                D[seed] = pairwise_distances(X, metric="sqeuclidean")
        apart = ~np.eye(n, dtype=bool)
        return Distances(D, [float(np.median(matrix[apart])) for matrix in D])

    return make


def exemplars(data: Distances) -> list[ExemplarSolution]:
    """Cluster all instances by exemplars."""
    return [
        solve_exemplars(D, penalty, random_state=0)
        for D, penalty in zip(data.D, data.penalties, strict=True)
    ]


def affinity_propagation(data: Distances) -> list[NDArray[np.int64]]:
    """Find exemplars of all instances by scikit-learn's affinity propagation."""
    found = []
    for D, penalty in zip(data.D, data.penalties, strict=True):
        model = AffinityPropagation(affinity="precomputed", preference=-penalty, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not converged: compared as it is
            found.append(model.fit(-D).cluster_centers_indices_)
    return found


def energy_and_gap(
    data: Distances, solutions: list[ExemplarSolution], rivals: list[NDArray[np.int64]]
) -> dict[str, float]:
    """Return the worst energy relative to the rival's, and the worst certified gap."""
    rival_energies = [
        exemplar_energy(D, Q, penalty) if len(Q) else np.inf
        for D, Q, penalty in zip(data.D, rivals, data.penalties, strict=True)
    ]
    ratios = [x.energy / e for x, e in zip(solutions, rival_energies, strict=True)]
    return {"energy_ratio": max(ratios), "gap": max(x.gap for x in solutions)}


def gram(data: Rows) -> NDArray[Any]:
    """Compute XᵀX, and nothing else."""
    return data.X.T @ data.X


def gram_of_states(parts: tuple[MLCA, MLCA]) -> NDArray[np.float64]:
    """Compute AᵀA for a matrix as large as the two triangles that are merged."""
    d = parts[0].n_features_in_
    A = np.ones((2 * d, d))
    return A.T @ A


def fit_in_chunks(data: Rows) -> MLCA:
    """Fit MLCA from chunks of rows."""
    model = MLCA()
    for start in range(0, len(data.y), CHUNK):
        model.partial_fit(data.X[start : start + CHUNK], data.y[start : start + CHUNK])
    model.components_  # noqa: B018 (solved for when first used)
    return model


def baseline(name: str) -> Callable[[Rows], Any]:
    """Learn a metric by a method of `mlbook.baselines`."""
    return lambda data: METRICS[name](data.X, data.y, random_state=0)


def metric_learn(name: str) -> Callable[[Rows], Any]:
    """Fit a metric-learn estimator on rows and classes, with its defaults."""

    def fit(data: Rows) -> Any:
        import metric_learn as library

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(library, name)().fit(data.X, data.y)

    return fit


def relative_error(data: Rows, model: MLCA) -> float:
    """‖Ŵ − W‖/‖W‖."""
    return float(np.linalg.norm(model.components_.T - data.W) / np.linalg.norm(data.W))


on_rows = partial(
    Benchmark, make=make_rows, sizes=OVER_N, versus="XᵀX", reference=gram
)  # most of them


def _benchmarks() -> Iterator[Benchmark]:
    def fit(data: Rows) -> MLCA:
        return MLCA().fit(data.X, data.y)

    def lstsq(data: Rows) -> Any:
        J = normalized_assignment(data.y).toarray()
        return np.linalg.lstsq(data.X, J, rcond=None)

    def bound(data: Rows) -> float:
        return spectral_bound(data.X, N_CLASSES)

    yield on_rows("mlca", fit, sizes=OVER_N + OVER_D, error=relative_error)
    yield on_rows("mlca-ill", fit, make=make_ill_rows, error=relative_error)
    yield on_rows("mlca-single", fit, make=make_single_rows, sizes=OVER_N[2:], error=relative_error)
    yield Benchmark(
        "two-class-rule",
        lambda image: image.rule.cluster(image.X),
        make_image,
        sizes=((IMAGE, D),),
        versus="Xw",
        reference=lambda image: image.X @ image.rule.direction_,
    )
    yield on_rows("mlca-chunks", fit_in_chunks, sizes=OVER_N[2:], error=relative_error)
    yield Benchmark(
        "mlca-merge",
        lambda parts: parts[0].merge(parts[1]),
        make_parts,
        sizes=tuple((2 * d, d) for _, d in OVER_D),
        versus="AᵀA of both triangles",
        reference=gram_of_states,
    )
    peer = {"metric_learn": "reproduce"}
    yield on_rows("lstsq", lstsq)
    yield on_rows("kissme", baseline("kissme"))
    yield on_rows("rca", metric_learn("RCA"), needs=peer)
    yield on_rows("lfda", metric_learn("LFDA"), needs=peer)
    yield on_rows("itml", baseline("itml"), needs=peer)
    yield Benchmark(
        "partition_loss",
        lambda labels: partition_loss(*labels),
        make_labels,
        sizes=((100_000, 100), (1_000_000, 100), (10_000_000, 100)),
        versus="bincount",
        reference=lambda labels: np.bincount(labels[0]),
    )
    yield on_rows("spectral_bound", bound, sizes=OVER_N[1:4])
    yield on_rows(
        "spectral_bound-svd",
        bound,
        sizes=OVER_N[1:3],
        versus="thin SVD",
        reference=lambda data: np.linalg.svd(data.X, full_matrices=False),
    )
    for kind, widths in (("gaussian", (2, 100)), ("uniform", (2, 100)), ("random", (0,))):
        yield Benchmark(
            f"exemplars-{kind}",
            exemplars,
            make_distances(kind),
            sizes=tuple((n, d) for d in widths for n in POINTS),
            versus="AffinityPropagation",
            reference=affinity_propagation,
            compare=energy_and_gap,
            quick=(60, 2),
        )
    yield from structured_benchmarks()


BENCHMARKS = {benchmark.name: benchmark for benchmark in _benchmarks()}


def _exemplar_bars() -> Iterator[Bar]:
    for kind in ("gaussian", "uniform"):
        for d in (2, 100):
            for n in POINTS:
                where = f"exemplars-{kind}", (n, d)
                name = f"{kind} {d}-d, {n:,} points"
                yield Bar(f"energy / AP, {name}", where[0], "energy_ratio", 1.0, where[1])
                yield Bar(f"certified gap, {name}", where[0], "gap", 0.01, where[1])
            yield Bar(f"CPU time / AP, {name}", where[0], "cpu_ratio", 1.0, where[1])
            yield Bar(f"extra memory / D, {name}", where[0], "memory", 3.0, where[1])


BARS = (
    Bar("time of a well-conditioned fit / XᵀX", "mlca", "ratio", 2.0, (N, D)),
    Bar("time of a fit of float32 rows / XᵀX in float32", "mlca-single", "ratio", 3.0, (N, D)),
    Bar("seconds of the two-class rule on an image", "two-class-rule", "seconds", 0.05, (IMAGE, D)),
    Bar("time of an ill-conditioned fit / XᵀX", "mlca-ill", "ratio", 5.0, (N, D)),
    Bar("error of W at condition number 1e8", "mlca-ill", "error", 1e-7, (N, D)),
    Bar("extra memory of a well-conditioned fit / X", "mlca", "memory", 0.1, (N, D)),
    Bar("extra memory of an ill-conditioned fit / X", "mlca-ill", "memory", 0.1, (N, D)),
    *_exemplar_bars(),
    *structured_bars(),
)
