"""Series: segments for a known number or a price, and learning the metric they are found with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.case import Bar, Benchmark, Size
from mlbook._arrays import Floats, Integers
from mlbook.changepoints import loss_augmented_segment, segment, segment_starts
from mlbook.datasets import make_change_points
from mlbook.large_margin import LargeMarginMetric

SEGMENT = 90  # mean length of a segment
FEW: tuple[Size, ...] = ((1000, 10), (3000, 10), (10_000, 10))  # points and features of a series
ONE: tuple[Size, ...] = ((1000, 1), (3000, 1), (10_000, 1))
MANY = (5400, 300)
SHORT: tuple[Size, ...] = ((250, 10), (500, 10), (1000, 10), (250, 1), (500, 1), (1000, 1))
LONG: tuple[Size, ...] = ((10_000, 1), (100_000, 1), (1_000_000, 1))
N_SETS = 10  # series, or data sets, to learn from
N_JOBS_SETS = 40  # series to learn from with two processes
FIGURE_1 = (600, 300)  # of Lajugie 2014


@dataclass(frozen=True)
class Sets:
    """Data sets or series, and their partitions."""

    X: list[Floats]
    y: list[Integers]

    @property
    def nbytes(self) -> int:
        """Size of all X."""
        return sum(x.nbytes for x in self.X)


def make_series(n: int, d: int) -> Sets:
    """Draw a series all columns of which jump at the same points."""
    k = max(2, n // SEGMENT)
    setting: dict[str, Any] = {"n_segments": (k, k), "random_state": 0}
    return Sets(*make_change_points(1, n_samples=n, n_relevant=d, n_irrelevant=0, **setting))


def make_training_series(n: int, d: int, n_series: int = N_SETS) -> Sets:
    """Draw the series of Lajugie 2014, Figure 1: ten columns matter."""
    setting: dict[str, Any] = {"n_relevant": 10, "n_irrelevant": d - 10, "random_state": 0}
    return Sets(*make_change_points(n_series, n_samples=n, **setting))


def make_more_series(n: int, d: int) -> Sets:
    """Draw forty of them, for two processes."""
    return make_training_series(n, d, N_JOBS_SETS)


def make_sets_with_known_clusters(n: int, d: int) -> Sets:
    """Draw six sets of three clusters; a third of the columns is noise."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    means = rng.normal(size=(3, d)) * (np.arange(d) < d - d // 3)
    return Sets([means[y] + rng.normal(size=(n, d)) for _ in range(6)], [y] * 6)


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


def fastcpd_search(data: Sets) -> list[int]:
    """Do the same for a price by fastcpd; its cost is half of ours."""
    fastcpd = import_module("fastcpd")  # of no extra: it has no wheels for some systems
    x, half = data.X[0], how_many(data, known=False)["penalty"] / 2
    setting = {"cost_adjustment": "BIC", "variance_estimation": np.eye(1), "cp_only": True}
    found = fastcpd.detect_mean(x, beta=half, **setting)
    return [*found.cp_set.astype(int), len(x)]


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


def products(data: Sets) -> list[Floats]:
    """Compute XXᵀ of every series."""
    return [x @ x.T for x in data.X]


def learn_metric(data: Sets, **setting: Any) -> LargeMarginMetric:
    """Learn a metric from all series."""
    return LargeMarginMetric(**setting).fit(data.X, data.y)


def learn_spectral(threads: int) -> Callable[[Sets], LargeMarginMetric]:
    """Learn a full metric for spectral clustering, on so many threads."""

    def learn(data: Sets) -> LargeMarginMetric:
        with threadpool_limits(threads):
            return learn_metric(data, structure="spectral", metric="full")

    return learn


def certified_gap(data: Sets, model: LargeMarginMetric, other: Any) -> dict[str, float]:
    """Relative duality gap, and the number of rounds."""
    return {"gap": model.duality_gap_, "rounds": model.n_iter_}


def sequence_benchmarks() -> Iterator[Benchmark]:
    """List the benchmarks."""
    peer, compiled = {"ruptures": "reproduce"}, {"numba": "fast"}
    bars = {
        "segment-known": dict.fromkeys((*ONE, *FEW), 0.8) | {MANY: 0.8},
        "segment-penalty": dict.fromkeys(SHORT, 1.0) | {(5000, 10): 0.8, MANY: 0.5},
        "segment-long": dict.fromkeys(LONG[1:], 0.7),
    }
    for name, known, versus, reference, grows, tiny in (
        ("segment-known", True, "KernelCPD", kernel_cpd(known=True), 3, (200, 4)),
        ("segment-penalty", False, "KernelCPD", kernel_cpd(known=False), 2, (1100, 2)),
        ("segment-long", False, "fastcpd", fastcpd_search, 1, (1100, 1)),
    ):
        measured = tuple(
            bar
            for size, limit in bars[name].items()
            for bar in (
                Bar(f"CPU time / {versus}, {_series(name, size)}", "cpu_ratio", limit, size),
                Bar(f"cost / {versus} - 1, {_series(name, size)}", "cost_difference", 1e-9, size),
            )
        )
        yield Benchmark(
            name,
            code="changepoints/segmentation",
            subject=search(known),
            make=make_series,
            sizes=LONG if name == "segment-long" else tuple(bars[name]),
            versus=versus,
            reference=reference,
            grows={"n": grows},
            tiny=tiny,
            compare=cost_difference(known),
            needs=({"fastcpd": ""} if versus == "fastcpd" else peer) | compiled,
            bars=measured,
        )
    yield Benchmark(
        "segment-dynp",
        code="changepoints/segmentation",
        subject=search(known=True),
        make=make_series,
        sizes=((150, 10), (300, 10), (600, 10)),
        versus="Dynp",
        reference=ruptures_search("Dynp", model="l2", jump=1),
        grows={"n": 3},
        tiny=(60, 2),
        compare=cost_difference(known=True),
        needs=peer,
        bars=(
            Bar("CPU time / Dynp, 600 points", "cpu_ratio", 0.02, (600, 10)),
            Bar("cost / Dynp - 1, 600 points", "cost_difference", 1e-9, (600, 10)),
        ),
    )
    yield Benchmark(
        "loss-augmented",
        code="changepoints/segmentation",
        subject=feared_segments,
        make=make_series,
        sizes=((1350, 300), (2700, 300), MANY),
        versus="XXᵀ",
        reference=products,
        grows={"n": 2},
        tiny=(200, 4),
        bars=(Bar("CPU time of the loss-augmented search / XXᵀ", "cpu_ratio", 3.0, MANY),),
    )
    yield from _learning()


def _learning() -> Iterator[Benchmark]:
    yield Benchmark(
        "large-margin",
        code="large_margin/estimator",
        subject=learn_metric,
        make=make_training_series,
        sizes=((300, 300), FIGURE_1, (1200, 300)),
        versus="XXᵀ of all",
        reference=products,
        grows={"n": 2},
        tiny=(200, 15),
        compare=certified_gap,
        bars=(
            Bar("CPU time of large margin, 10 series / XXᵀ", "cpu_ratio", 20, FIGURE_1),
            Bar("duality gap, large margin, 10 series", "gap", 1e-3, FIGURE_1),
        ),
    )
    yield Benchmark(
        "large-margin-threads",
        code="large_margin/estimator",
        subject=learn_spectral(2),
        make=make_sets_with_known_clusters,
        sizes=((60, 30), (120, 30), (240, 30)),
        versus="one thread",
        reference=learn_spectral(1),
        grows={"n": 1},
        tiny=(30, 6),
        threads=2,
        bars=(Bar("wall time, two threads / one", "median_ratio", 1.1, (120, 30)),),
    )
    yield Benchmark(
        "large-margin-jobs",
        code="large_margin/estimator",
        subject=lambda data: learn_metric(data, n_jobs=2),
        make=make_more_series,
        sizes=((300, 300), FIGURE_1, (1200, 300)),
        versus="one job",
        reference=learn_metric,
        grows={"n": 2},
        tiny=(200, 15),
        threads=1,
        bars=(Bar("wall time, two jobs / one, 40 series", "median_ratio", 1 / 1.6, FIGURE_1),),
    )


def kernel_cpd(known: bool) -> Callable[[Sets], list[int]]:
    """Search by the compiled class of ruptures."""
    return ruptures_search("KernelCPD", known, kernel="linear")


def _series(name: str, size: Size) -> str:
    asked = "known number" if name == "segment-known" else "price"
    return f"{asked}, {size[0]:,} × {size[1]}"
