"""Points: exemplars for a price, and learning the distance they are found with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AffinityPropagation
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

from benchmarks.case import Bar, Benchmark, Size
from benchmarks.sequences import N_SETS, Sets
from mlbook._arrays import Floats
from mlbook.datasets import make_noisy_gaussians
from mlbook.exemplars import ExemplarSolution, exemplar_energy, solve_exemplars
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.partitions import f_measure

POINTS = (500, 1000, 2000)
N_BLOBS = 20
FIGURE_2 = (500, 100)  # of Komodakis 2011, which has 10 clusters of 50 points


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
    """Draw three instances: distances of "blobs", "gaussian" or "uniform" points, or "random" ones.

    The first three are squared Euclidean, in d dimensions; the last are independent, hence
    asymmetric, whatever d. The penalty is half of the median distance.
    """

    def make(n: int, d: int) -> Distances:
        D = np.empty((3, n, n))
        for seed in range(3):
            rng = np.random.default_rng(seed)
            if kind == "random":
                D[seed] = rng.random((n, n))
            else:
                X = rng.random((n, d)) if kind == "uniform" else rng.normal(size=(n, d))
                if kind == "blobs":
                    X += 4 * rng.normal(size=(N_BLOBS, d))[np.arange(n) % N_BLOBS]
                D[seed] = pairwise_distances(X, metric="sqeuclidean")
        apart = ~np.eye(n, dtype=bool)
        return Distances(D, [float(np.median(matrix[apart])) / 2 for matrix in D])

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


def make_noisy_sets(n: int, d: int) -> Sets:
    """Draw data sets to learn from, and as many for the test; half of the features are noise."""
    k = max(3, n // 50)
    draws = [
        make_noisy_gaussians(n, n_features=d, n_clusters=k, random_state=seed)
        for seed in range(2 * N_SETS)
    ]
    return Sets([X for X, _ in draws], [y for _, y in draws])


def learn_exemplars(data: Sets) -> LatentExemplarMetric:
    """Learn a distance from the first sets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # judged by what it clusters
        return LatentExemplarMetric(random_state=0).fit(data.X[:N_SETS], data.y[:N_SETS])


def distances(data: Sets) -> list[Floats]:
    """Compute the squared distances of the sets to learn from, once."""
    return [pairwise_distances(X, metric="sqeuclidean") for X in data.X[:N_SETS]]


def clusters_found(data: Sets, model: LatentExemplarMetric, found: Any) -> dict[str, float]:
    """Return 1 − F on the test sets, and the share of the weights on noise."""
    f = [
        f_measure(y, model.predict(X))
        for X, y in zip(data.X[N_SETS:], data.y[N_SETS:], strict=True)
    ]
    noisy = round(0.5 * data.X[0].shape[1])
    share = model.weights_[-noisy:].sum() / model.weights_.sum()
    return {"one_minus_f": 1 - float(np.mean(f)), "noisy_share": float(share)}


def point_benchmarks() -> Iterator[Benchmark]:
    """List the benchmarks."""
    for kind, widths in (
        ("gaussian", (2, 100)),
        ("uniform", (2, 100)),
        ("blobs", (2, 100)),
        ("random", (0,)),
    ):
        yield Benchmark(
            f"exemplars-{kind}",
            code="exemplars/search",
            subject=exemplars,
            make=make_distances(kind),
            sizes=tuple((n, d) for d in widths for n in POINTS),
            versus="AffinityPropagation",
            reference=affinity_propagation,
            grows={"n": 2},
            tiny=(60, 2),
            compare=energy_and_gap,
            bars=() if kind == "random" else tuple(_exemplar_bars(kind, widths)),
        )
    yield Benchmark(
        "latent-exemplars",
        code="latent_crf/estimator",
        subject=learn_exemplars,
        make=make_noisy_sets,
        sizes=((125, 100), (250, 100), FIGURE_2),
        versus="squared distances",
        reference=distances,
        grows={"n": 2},
        tiny=(60, 20),
        compare=clusters_found,
        bars=(
            Bar("CPU time of learning / distances", "cpu_ratio", 300, FIGURE_2),
            Bar("1 - F of learned exemplars", "one_minus_f", 0.01, FIGURE_2),
            Bar("weight of noise in learned exemplars", "noisy_share", 0.01, FIGURE_2),
        ),
    )


def _exemplar_bars(kind: str, widths: tuple[int, ...]) -> Iterator[Bar]:
    sizes: list[Size] = [(n, d) for d in widths for n in POINTS]
    for n, d in sizes:
        where = f"{kind} {d}-d, {n:,} points"
        yield Bar(f"CPU time / AP, {where}", "cpu_ratio", 1.0, (n, d))
        yield Bar(f"energy / AP, {where}", "energy_ratio", 1.0, (n, d))
        yield Bar(f"certified gap, {where}", "gap", 0.01, (n, d))
        yield Bar(f"extra memory / D, {where}", "memory", 3.0, (n, d))
