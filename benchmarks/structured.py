"""Change points, weakly labelled bags and learned exemplars: what is measured, and the bars.

Times are held against the bars as processor time of all threads: other programs hardly disturb
it, and threads gain nothing against a peer that has one. Bars in seconds depend on the machine;
they are there where nothing else does the same work.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

from benchmarks.case import Bar, Benchmark
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags
from mlbook.changepoints import loss_augmented_segment, segment, segment_starts
from mlbook.datasets import make_change_points, make_noisy_gaussians, make_weak_bags
from mlbook.large_margin import LargeMarginMetric
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.mimlca import MIMLCA
from mlbook.partitions import f_measure

SEGMENT = 90  # mean length of a segment
LONG = ((5400, 10), (5400, 300))  # points and features of a series
SHORT = (600, 10)  # for a search that takes thousands of times longer
N_SETS = 10  # series, or data sets, to learn from
FACES = (27_856, 1000)  # as many as in the training documents of Law 2017, and fewer features
N_BAGS, N_NAMES = 18_064, 5873
FIGURE_2 = (500, 100)  # of Komodakis 2011, which has 10 clusters of 50 points


@dataclass(frozen=True)
class Sets:
    """Data sets or series, and their partitions."""

    X: list[Floats]
    y: list[Integers]

    @property
    def nbytes(self) -> int:
        """Size of all X."""
        return sum(x.nbytes for x in self.X)


@dataclass(frozen=True)
class Documents:
    """Bags and their candidate labels."""

    bags: Bags
    Y: csr_array

    @property
    def nbytes(self) -> int:
        """Size of the instances."""
        return self.bags.instances.nbytes


# Change points


def make_series(n: int, d: int) -> Sets:
    """Draw a series all columns of which jump at the same points."""
    k = max(2, n // SEGMENT)
    setting: dict[str, Any] = {"n_segments": (k, k), "random_state": 0}
    return Sets(*make_change_points(1, n_samples=n, n_relevant=d, n_irrelevant=0, **setting))


def make_training_series(n: int, d: int) -> Sets:
    """Draw the series of Lajugie 2014, Figure 1: ten columns matter."""
    setting: dict[str, Any] = {"n_relevant": 10, "n_irrelevant": d - 10, "random_state": 0}
    return Sets(*make_change_points(N_SETS, n_samples=n, **setting))


def how_many(data: Sets, known: bool) -> dict[str, Any]:
    """Tell the number of segments, or a price for which the noise, of variance 1, makes none."""
    n, d = data.X[0].shape
    return {"n_segments": int(data.y[0][-1]) + 1} if known else {"penalty": d * np.log(n)}


def search(known: bool) -> Callable[[Sets], Integers]:
    """Find the best segments of a series."""
    return lambda data: segment(data.X[0], **how_many(data, known))


def ruptures_search(name: str, known: bool = True, **setting: Any) -> Callable[[Sets], list[int]]:
    """Do the same by a class of ruptures. Results are cached in it: every call makes a new one."""

    def find(data: Sets) -> list[int]:
        import ruptures

        asked = how_many(data, known)
        wanted = {"n_bkps": asked["n_segments"] - 1} if known else {"pen": asked["penalty"]}
        return getattr(ruptures, name)(min_size=1, **setting).fit(data.X[0]).predict(**wanted)

    return find


def cost_difference(known: bool) -> Callable[[Sets, Integers, list[int]], dict[str, float]]:
    """Compare the costs of two segmentations, of which both should be the least."""

    def compare(data: Sets, labels: Integers, ends: list[int]) -> dict[str, float]:
        X, price = data.X[0], how_many(data, known).get("penalty", 0.0)

        def cost(starts: Any) -> float:
            lengths = np.diff(starts, append=len(X))
            means = np.add.reduceat(X, starts) / lengths[:, None]
            scatter = np.sum((X - np.repeat(means, lengths, axis=0)) ** 2)
            return float(scatter) + price * len(starts)

        ours, theirs = cost(segment_starts(labels)), cost([0, *ends[:-1]])
        return {"cost_difference": abs(ours / theirs - 1)}

    return compare


def feared_segments(data: Sets) -> list[Integers]:
    """Maximize loss plus score of every series once.

    The metric gives the scatter of all features together the price of one segment. That is little:
    nothing can be pruned, and the search is at its slowest.
    """
    return [
        loss_augmented_segment(x, y, M=1 / (x.shape[1] * len(x) * x.var(axis=0)), min_length=10)
        for x, y in zip(data.X, data.y, strict=True)
    ]


def learn_metric(data: Sets) -> LargeMarginMetric:
    """Learn a metric from all series."""
    return LargeMarginMetric().fit(data.X, data.y)


def certified_gap(data: Sets, model: LargeMarginMetric, found: Any) -> dict[str, float]:
    """Relative duality gap, and the number of rounds."""
    return {"gap": model.duality_gap_, "rounds": model.n_iter_}


# Bags


def make_documents(n: int, d: int) -> Documents:
    """Draw about n faces in documents; of the size of the paper, exactly as many."""
    n_bags, n_names = (round(n * count / FACES[0]) for count in (N_BAGS, N_NAMES))
    data = make_weak_bags(n_bags, n_names, d, random_state=0)
    return Documents(Bags(data.instances, data.offsets), data.Y)


def thin_svd(data: Documents) -> Any:
    """Decompose the instances, and nothing else."""
    return np.linalg.svd(data.bags.instances, full_matrices=False)


# Exemplars


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


# All of them


def structured_benchmarks() -> Iterator[Benchmark]:
    """List the benchmarks."""
    peer = {"ruptures": "reproduce"}
    for known, name in ((True, "segment-known"), (False, "segment-penalty")):
        yield Benchmark(
            name,
            search(known),
            make_series,
            sizes=LONG,
            versus="KernelCPD",
            reference=ruptures_search("KernelCPD", known, kernel="linear"),
            compare=cost_difference(known),
            needs=peer if known else {**peer, "numba": "fast"},
            quick=(200, 4) if known else (1100, 2),  # with more than 1024 points it is compiled
        )
    yield Benchmark(
        "segment-dynp",
        search(known=True),
        make_series,
        sizes=(SHORT,),
        versus="Dynp",
        reference=ruptures_search("Dynp", model="l2", jump=1),
        compare=cost_difference(known=True),
        needs=peer,
        quick=(60, 2),
    )
    yield Benchmark(
        "loss-augmented",
        feared_segments,
        make_series,
        sizes=LONG,
        versus="XXᵀ",
        reference=lambda data: data.X[0] @ data.X[0].T,
        quick=(200, 4),
    )
    yield Benchmark(
        "large-margin",
        learn_metric,
        make_training_series,
        sizes=((600, 300),),
        versus="one round",
        reference=feared_segments,
        compare=certified_gap,
        quick=(200, 15),
    )
    yield Benchmark(
        "mimlca",
        lambda data: MIMLCA().fit(data.bags, data.Y),
        make_documents,
        sizes=(FACES,),
        versus="thin SVD",
        reference=thin_svd,
        compare=lambda data, model, found: {"rounds": model.n_iter_},
        quick=(300, 80),
    )
    yield Benchmark(
        "latent-exemplars",
        learn_exemplars,
        make_noisy_sets,
        sizes=(FIGURE_2,),
        versus="squared distances",
        reference=distances,
        compare=clusters_found,
        quick=(60, 20),
    )


def structured_bars() -> Iterator[Bar]:
    """List the bars."""
    for name, what in (("segment-known", "60 segments"), ("segment-penalty", "penalty")):
        for size, limit in zip(LONG, (1.3, 1.0), strict=True):
            where = f"{what}, {size[1]}-d"
            yield Bar(f"CPU time / KernelCPD, {where}", name, "cpu_ratio", limit, size)
            yield Bar(f"cost / KernelCPD - 1, {where}", name, "cost_difference", 1e-9, size)
    yield Bar("CPU time / Dynp, 600 points", "segment-dynp", "cpu_ratio", 0.02, SHORT)
    yield Bar("cost / Dynp - 1, 600 points", "segment-dynp", "cost_difference", 1e-9, SHORT)
    yield Bar(
        "CPU seconds, loss-augmented, 5,400 points", "loss-augmented", "cpu_seconds", 2, LONG[1]
    )
    size = 600, 300
    yield Bar("CPU seconds, large margin, 10 series", "large-margin", "cpu_seconds", 30, size)
    yield Bar("duality gap, large margin, 10 series", "large-margin", "gap", 1e-3, size)
    yield Bar("CPU time of MIMLCA / thin SVD", "mimlca", "cpu_ratio", 3.0, FACES)
    name = "latent-exemplars"
    yield Bar("CPU seconds, learned exemplars, 10 sets", name, "cpu_seconds", 60, FIGURE_2)
    yield Bar("1 - F of learned exemplars", name, "one_minus_f", 0.01, FIGURE_2)
    yield Bar("weight of noise in learned exemplars", name, "noisy_share", 0.01, FIGURE_2)
