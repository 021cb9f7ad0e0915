"""Figures of the chapter on scale, and its model of what a fit on many machines costs."""

from __future__ import annotations

import heapq
import json
import math
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from numpy.typing import NDArray
from scipy.optimize import nnls

from book.figures.style import power_of_ten, scientific
from mlbook.mlca import MLCA
from mlbook.plots import COLORS, INK, MARKERS, subplots

__all__ = [
    "Machine",
    "allowance",
    "benchmarks",
    "collinear",
    "condition_and_error",
    "cost_table",
    "deletion_errors",
    "endings",
    "error",
    "error_of_merging",
    "fitted_machine",
    "held_out",
    "largest_run",
    "many_machines",
    "merging_picture",
    "missed_bars",
    "model_and_measurements",
    "peers",
    "power_of_ten",
    "predict",
    "scientific",
    "simulate",
    "state_and_chunk",
    "state_bytes",
    "stragglers",
    "streams",
    "time_over_rows",
    "write_rows",
]

D, K = 135, 10  # the features and classes of the benchmarks
SWEEP = 200_000  # rows of the measurements over d
HELD_OUT = 2_000_000  # rows of the measurement that the model is tested on
CHUNK = 1_000_000  # rows
BLOCK = 8  # states merged by one task

METHODS = {
    "mlca": "MLCA",
    "mlca-ill": "MLCA, condition 1e8",
    "lstsq": "NumPy lstsq",
    "kissme": "KISSME, all pairs",
    "rca": "RCA",
    "lfda": "LFDA",
    "itml": "ITML, 500 pairs",
}

PEERS = {
    "mlca": "MLCA",
    "mlca-narrow": "MLCA, few features",
    "mlca-broad": "MLCA, many features",
    "mlca-wide": "MLCA, fewer rows than features",
    "mlca-sparse": "MLCA, sparse rows",
    "mlca-sparse-ridge": "MLCA, sparse rows",
    "mlca-small-chunks": "MLCA, chunks of 1,000 rows",
    "spectral_bound": "bound of k-means",
    "partition_loss": "loss of a partition",
    "exemplars-uniform": "exemplars, evenly spread points",
    "exemplars-blobs": "exemplars, twenty groups",
    "latent-exemplars": "exemplars with a learned distance, 10 sets",
    "segment-known": "segments, number known",
    "segment-penalty": "segments for a price",
    "segment-long": "segments for a price, long series",
    "large-margin": "large margin, 10 series",
    "mimlca": "weakly labelled bags",
    "mimlca-kernel": "weakly labelled bags, kernel",
}

Results = Mapping[str, Any]


def benchmarks() -> Results:
    """Read the measurements of `make bench` that are stored with the book."""
    root = Path(__file__).resolve().parents[2]
    return json.loads((root / "data" / "results" / "benchmarks.json").read_text())


def streams() -> Results:
    """Read what `python -m benchmarks.streams` measured."""
    root = Path(__file__).resolve().parents[2]
    return json.loads((root / "data" / "results" / "streams.json").read_text())


def _lines(results: Results, name: str) -> list[dict[str, Any]]:
    return [x for x in results["measurements"] if x["name"] == name and "cpu_seconds" in x]


def time_over_rows(results: Results) -> Figure:
    """Draw time and memory of all methods over the number of rows.

    A cross ends the curve of a method that ran out of memory or time with more rows.
    """
    figure, axes = subplots(2, 1, height=7)
    time, memory = axes[:, 0]
    widths = [line["d"] for name in METHODS for line in _lines(results, name)]
    d = max(set(widths), key=widths.count, default=D)
    rows: dict[float, float] = {}
    for i, (name, label) in enumerate(METHODS.items()):
        lines = sorted((x for x in _lines(results, name) if x["d"] == d), key=lambda x: x["n"])
        if not lines:
            continue
        n = [x["n"] for x in lines]
        style: dict[str, Any] = {"color": COLORS[i], "marker": MARKERS[i], "label": label}
        time.plot(n, [x["cpu_seconds"] for x in lines], **style)
        memory.plot(n, [max(x["extra_bytes"], 1e5) for x in lines], **style)
        if any(x["name"] == name and "skipped" in x for x in results["measurements"]):
            for ax, key in ((time, "cpu_seconds"), (memory, "extra_bytes")):
                ax.plot(n[-1] * 1.5, lines[-1][key] * 1.8, "x", color=COLORS[i], markersize=10)
        rows |= {x["n"]: x["reference_cpu_seconds"] for x in lines if x["versus"] == "XᵀX"}
    n = sorted(rows)
    time.plot(n, [rows[i] for i in n], color=INK, linestyle=":", label="bare XᵀX")
    memory.plot(n, [8.0 * d * i for i in n], color=INK, linestyle=":", label="X itself")
    time.set(ylabel="seconds of one core", title="time")
    memory.set(xlabel="rows n", ylabel="bytes", title="memory beside X")
    for ax in (time, memory):
        ax.set(xscale="log", yscale="log")
        ax.legend(fontsize=8, frameon=False, loc="upper left")
    return figure


def cost_table(results: Results) -> list[tuple[str, ...]]:
    """Compare the methods at the largest number of rows that each of them took.

    Returns one row per method: its name, the number of rows, processor time in units of XᵀX,
    memory in units of X, and the power of n with which the time grows.
    """
    table: list[tuple[str, ...]] = []
    for name, label in METHODS.items():
        lines = [x for x in _lines(results, name) if x["d"] == D]
        if not lines:
            continue
        most = largest_run(results, name)
        ratio = f"{most['cpu_ratio']:,.{2 if most['cpu_ratio'] < 10 else 0}f}"
        growth = results["exponents"][name]["n"]
        shown = f"{growth:.2f}" if growth is not None else ""
        table.append((label, f"{most['n']:,}", ratio, f"{most['memory']:.0%}", shown))
    return table


def largest_run(results: Results, name: str) -> dict[str, Any]:
    """Return the measurement of a method with most rows."""
    return max((x for x in _lines(results, name) if x["d"] == D), key=lambda x: x["n"])


def endings(results: Results) -> list[tuple[str, int, str]]:
    """List the methods that failed with too many rows: name, rows, and why."""
    found: dict[str, tuple[str, int, str]] = {}
    for x in results["measurements"]:
        if "skipped" in x and x["name"] in METHODS:
            found.setdefault(x["name"], (METHODS[x["name"]], x["n"], x["skipped"]))
    return list(found.values())


def peers(results: Results) -> list[tuple[str, ...]]:
    """Compare the library with what else does the work, at the largest size of each benchmark.

    Returns one row per benchmark in `PEERS`: the work, rows and features, the peer, and the
    processor time in units of the peer's.
    """
    table: list[tuple[str, ...]] = []
    for name, what in PEERS.items():
        lines = _lines(results, name)
        if lines:
            most = max(lines, key=lambda x: (x["n"], x["d"]))
            size = f"{most['n']:,}" + (f" × {most['d']:,}" if most["d"] else "")
            table.append((what, size, most["versus"], f"{most['cpu_ratio']:.2g}"))
    return table


def missed_bars(results: Results) -> list[tuple[str, ...]]:
    """Return the bars that were set for the library and are missed: what, by how much, and why."""
    return [
        (bar["what"], f"{bar['value']:.2f}", f"{bar['limit']:g}", bar["why"])
        for bar in results["bars"]
        if bar["passed"] is False
    ]


def merging_picture() -> Figure:
    """Draw chunks of rows, their states, the tree that merges them, and the solution."""
    figure, axes = subplots(1, 1, height=3.3)
    ax = axes[0, 0]
    ax.set(xlim=(0, 10), ylim=(-0.6, 8.4), aspect="auto")
    ax.axis("off")
    for i in range(4):
        _box(ax, 0.1, 2 * i, 1.6, 1.7, f"rows of\nchunk {4 - i}", COLORS[5])
        _box(ax, 3.3, 2 * i + 0.35, 1.0, 1.0, "state", COLORS[4])
        _arrow(ax, (1.8, 2 * i + 0.85), (3.2, 2 * i + 0.85))
    for i in range(2):
        _box(ax, 5.8, 4 * i + 1.35, 1.0, 1.0, "state", COLORS[4])
        for j in range(2):
            _arrow(ax, (4.4, 4 * i + 2 * j + 0.85), (5.7, 4 * i + 1.85))
        _arrow(ax, (6.9, 4 * i + 1.85), (7.6, 3.85))
    _box(ax, 7.7, 3.35, 1.0, 1.0, "state", COLORS[4])
    _arrow(ax, (8.8, 3.85), (9.3, 3.85))
    ax.text(9.4, 3.85, "L", va="center", fontsize=14, style="italic")
    for x, text in ((0.9, "n × d"), (3.8, "(d + k)²"), (6.3, "merge"), (8.2, "merge")):
        ax.text(x, 8.0, text, ha="center")
    return figure


def _box(ax: Axes, x: float, y: float, w: float, h: float, text: str, color: str) -> None:
    ax.add_patch(Rectangle((x, y), w, h, facecolor=color, edgecolor=INK, alpha=0.6))
    ax.text(x + w / 2, y + h / 2, text, ha="center", va="center", fontsize=9)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle="->", mutation_scale=10, color=INK))


@contextmanager
def allowance(n_bytes: float) -> Iterator[None]:
    """Report the peak of what Python and NumPy allocate in the block; refuse more than allowed.

    A file that is mapped into memory does not count: its pages belong to the operating
    system, which may drop them whenever memory is short.

    Raises
    ------
    MemoryError
        At the end of the block, if its peak was above `n_bytes`.

    Examples
    --------
    >>> with allowance(30e6):
    ...     zeros = np.zeros(1_000_000)
    peak 8 MB of 30 MB
    """
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > n_bytes:
        raise MemoryError(f"peak {peak / 1e6:.0f} MB, allowed {n_bytes / 1e6:.0f} MB")
    print(f"peak {peak / 1e6:.0f} MB of {n_bytes / 1e6:.0f} MB")


def write_rows(path: Path, n: int, d: int = D, k: int = K) -> NDArray[Any]:
    """Write n labelled rows to a .npy file, a few at a time, and return the labels.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     y = write_rows(Path(folder) / "rows.npy", 100, d=3, k=2)
    ...     np.load(Path(folder) / "rows.npy").shape, np.bincount(y).tolist()
    ((100, 3), [50, 50])
    """
    rng = np.random.default_rng(0)
    means, y = rng.normal(size=(k, d)), np.arange(n) % k
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, d))
    for start in range(0, n, 10_000):
        block = rows[start : start + 10_000]
        block[:] = means[y[start : start + 10_000]] + rng.normal(size=block.shape)
    rows.flush()
    return y


def collinear(
    condition: float, n: int = 4000, d: int = 20, *, seed: int = 0
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Draw X, y with nearly equal first two columns, and the exact L = X†J.

    Of a well-conditioned Z, whose entries are multiples of 1/64, column 1 is replaced by
    z₀ + t z₁ with t = 2/condition, rounded to a power of two. All entries are exact in
    double precision, and L follows from that of Z: row 1 is divided by t, then taken from row 0.

    Examples
    --------
    >>> X, y, L = collinear(1e6)
    >>> s = np.linalg.svd(X, compute_uv=False)
    >>> bool(1e5 < s[0] / s[-1] < 1e7)
    True
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    Z = np.round(64 * (rng.normal(size=(4, d))[y] + rng.normal(size=(n, d)))) / 64
    J = np.eye(4)[y] / np.sqrt(np.bincount(y))
    L = np.linalg.lstsq(Z, J, rcond=None)[0]
    t = 2.0 ** -np.round(np.log2(condition / 2)) if condition > 2 else 1.0
    Z[:, 1] = Z[:, 0] + t * Z[:, 1]
    L[1] /= t
    L[0] -= L[1]
    return Z, y, L


@cache
def error(solver: str, exponent: int, seed: int = 0) -> float:
    """Relative error of L at about the condition number 10**exponent; infinite where refused."""
    X, y, L = collinear(10.0**exponent, seed=seed)
    try:
        found = MLCA(solver=solver).fit(X, y).components_.T
    except ValueError:
        return math.inf
    return _relative_error(found, L)


def _relative_error(found: NDArray[Any], L: NDArray[Any]) -> float:
    return float(np.linalg.norm(found - L) / np.linalg.norm(L))


def deletion_errors(exponent: int, seed: int) -> tuple[float, float]:
    """Relative errors of L after half of 4000 rows are deleted.

    The rows left have a condition number of about 10**exponent. First, the squares of the
    triangles of the deleted rows are subtracted from those of all rows; second, the rows left
    are fitted by QR.
    """
    X, y, L = collinear(10.0**exponent, n=2000, seed=seed)
    hers = np.random.default_rng([seed, 1]).normal(size=X.shape)
    Y, d = np.eye(4)[y], X.shape[1]
    R, hers_R = (
        np.asarray(np.linalg.qr(np.hstack([rows, labels]), mode="r"))
        for rows, labels in ((np.vstack([X, hers]), np.vstack([Y, Y])), (hers, Y))
    )
    rest = (R.T @ R - hers_R.T @ hers_R)[:d]
    subtracted = np.linalg.solve(rest[:, :d], rest[:, d:]) / np.sqrt(np.bincount(y))
    fitted = MLCA(solver="qr").fit(X, y).components_.T
    return _relative_error(subtracted, L), _relative_error(fitted, L)


def condition_and_error(exponent: int, solver: str) -> tuple[Figure, str]:
    """Draw the error of the routes to a state over the condition number of X."""
    figure, axes = subplots(1, 1, height=3.3)
    ax = axes[0, 0]
    exponents = range(1, 13)
    x = 10.0 ** np.array(exponents)
    for i, name in enumerate(("cholesky", "qr", "auto")):
        ax.plot(
            x,
            [error(name, e) for e in exponents],
            marker=MARKERS[i],
            linestyle=("-", "-", ":")[i],
            linewidth=3 if name == solver else 1.5,
            alpha=1 if name == solver else 0.6,
            label=name,
        )
    for power, place, name in ((1, 3e8, "κ u"), (2, 1e3, "κ² u")):
        ax.plot(x, 1e-16 * x**power, color=INK, linewidth=0.8, linestyle="--")
        ax.text(place, 1e-16 * place**power * 30, name)
    ax.axvline(10.0**exponent, color=INK, linewidth=1, linestyle=":")
    ax.set(xscale="log", yscale="log", ylim=(1e-17, 10), xlabel="condition number κ of X")
    ax.set(ylabel="relative error of L")
    ax.legend(frameon=False, loc="upper left")
    size = error(solver, exponent)
    what = "refused: XᵀX is singular" if size == math.inf else f"relative error {scientific(size)}"
    return figure, f"condition number about {power_of_ten(exponent)}, solver {solver!r}: {what}."


@dataclass(frozen=True)
class Machine:
    """What a worker, its storage and the network can do: fitted first, then assumed.

    Attributes
    ----------
    per_entry, per_product : float
        Seconds per entry of X and per row and pair of features, to digest rows in memory.
    fit_fixed : float
        Seconds of a fit of no rows.
    per_merge, merge_fixed : float
        Seconds to merge two states: a part divided by d³, and a constant.
    storage : float
        Bytes per second that a worker reads.
    network : float
        Bytes per second between two workers.
    latency : float
        Seconds before the first byte arrives.
    scheduling : float
        Seconds for which a task keeps the scheduler, of which there is one, busy.
    """

    per_entry: float
    per_product: float
    fit_fixed: float
    per_merge: float
    merge_fixed: float
    storage: float = 1e9
    network: float = 1.25e9
    latency: float = 1e-3
    scheduling: float = 1e-3

    def digest_seconds(self, n: float, d: int) -> float:
        """Time to digest n rows that are in memory."""
        return n * (self.per_entry * d + self.per_product * d**2)

    def fit_seconds(self, n: float, d: int) -> float:
        """Time of a whole fit on one machine."""
        return self.fit_fixed + self.digest_seconds(n, d)

    def merge_seconds(self, d: int) -> float:
        """Time to merge two states."""
        return self.merge_fixed + self.per_merge * d**3

    def send_seconds(self, d: int, k: int) -> float:
        """Time to send a state."""
        return self.latency + state_bytes(d, k) / self.network


def state_bytes(d: int, k: int) -> int:
    """Size of the state as the library keeps it: a d×d triangle's square, d×k sums, k counts."""
    return 8 * (d * d + d * k + k)


def fitted_machine(results: Results, **assumed: float) -> Machine:
    """Fit the model to the benchmarks, except to that with `HELD_OUT` rows.

    The fits by a + n (b d + c d²), the merges by a + b d³.
    """
    fits = [x for x in _lines(results, "mlca") if x["n"] != HELD_OUT]
    merges = _lines(results, "mlca-merge")
    fit_fixed, per_entry, per_product = _relative_fit(
        [[1, x["n"] * x["d"], x["n"] * x["d"] ** 2] for x in fits], fits
    )
    merge_fixed, per_merge = _relative_fit([[1, x["d"] ** 3] for x in merges], merges)
    return Machine(per_entry, per_product, fit_fixed, per_merge, merge_fixed, **assumed)


def _relative_fit(terms: list[list[int]], lines: list[dict[str, Any]]) -> list[float]:
    """Non-negative coefficients of the terms, of least relative error in the seconds."""
    A = np.array(terms) / np.array([[line["cpu_seconds"]] for line in lines])
    scale = np.linalg.norm(A, axis=0)
    return (nnls(A / scale, np.ones(len(A)))[0] / scale).tolist()


def held_out(results: Results) -> dict[str, Any]:
    """Return the measurement that `fitted_machine` leaves out."""
    return next(x for x in _lines(results, "mlca") if x["n"] == HELD_OUT)


def model_and_measurements(results: Results) -> Figure:
    """Draw the fitted model over the measurements, over rows and over features."""
    machine, fits = fitted_machine(results), _lines(results, "mlca")
    figure, axes = subplots(1, 2, height=3.2)
    for ax, axis, chosen in (
        (axes[0, 0], "n", [x for x in fits if x["d"] == D]),
        (axes[0, 1], "d", [x for x in fits if x["n"] == SWEEP]),
    ):
        grid = np.geomspace(min(x[axis] for x in chosen), max(x[axis] for x in chosen), 50)
        sizes = [(v, D) if axis == "n" else (SWEEP, v) for v in grid]
        ax.plot(grid, [machine.fit_seconds(n, d) for n, d in sizes], label="model")
        for i, name in enumerate(("fitted to", "held out")):
            points = [x for x in chosen if (x["n"] == HELD_OUT) == bool(i)]
            if points:
                places = [x[axis] for x in points], [x["cpu_seconds"] for x in points]
                ax.plot(*places, MARKERS[i], color=COLORS[i + 1], label=name)
        ax.set(xscale="log", yscale="log")
    widths = sorted(x["d"] for x in chosen)
    axes[0, 0].set(xlabel="rows n", ylabel="seconds", title=f"d = {D}")
    axes[0, 1].set(xlabel="features d", title=f"n = {SWEEP:,}")
    axes[0, 1].set_xticks(widths, [str(d) for d in widths])
    axes[0, 1].set_xticks([], minor=True)
    axes[0, 0].legend(frameon=False)
    return figure


def predict(
    n: float, workers: int, machine: Machine, *, d: int = D, k: int = K, chunk: float = CHUNK
) -> dict[str, float]:
    """Predict the seconds of a fit on many machines, by what they are spent on.

    Every worker reads and digests its share of the chunks, receives and merges as many
    states as it made, and takes part in a tree that merges `BLOCK` states at a time. The
    scheduler hands out three tasks per chunk (read, digest, merge); where it is slower than the
    workers, they wait.

    Examples
    --------
    >>> parts = predict(1e6, 10, Machine(1e-9, 1e-11, 0.0, 1e-9, 0.0), d=100, k=2)
    >>> round(parts["read"], 3), round(parts["digest"], 3)
    (0.08, 0.02)
    """
    chunk = min(chunk, n / workers)
    chunks_each = n / workers / chunk
    tree = (BLOCK - 1) * math.ceil(round(math.log(workers, BLOCK), 9))
    spent = {
        "read": n / workers * 8 * d / machine.storage,
        "digest": machine.digest_seconds(n / workers, d),
        "merge": (chunks_each + tree) * machine.merge_seconds(d),
        "network": (chunks_each + tree) * machine.send_seconds(d, k),
    }
    busy = sum(spent.values()) - tree * (machine.merge_seconds(d) + machine.send_seconds(d, k))
    spent["wait"] = max(0.0, 3 * n / chunk * machine.scheduling - busy)
    return spent


def simulate(
    n: float,
    workers: int,
    machine: Machine,
    *,
    chunk: float = CHUNK,
    slow: float = 0.0,
    jitter: float = 0.1,
    seed: int = 0,
) -> float:
    """Simulate a fit chunk by chunk and return its seconds.

    As in `predict`, but workers take a new chunk as soon as they are free and differ: a share
    `slow` of them is five times slower, and every chunk's time varies by a factor
    exp(jitter · normal).

    Examples
    --------
    >>> machine = Machine(1e-9, 1e-11, 0.0, 1e-9, 0.0)
    >>> even = simulate(1e8, 10, machine, jitter=0)
    >>> bool(abs(even - sum(predict(1e8, 10, machine).values())) < 0.01 * even)
    True
    """
    rng = np.random.default_rng(seed)
    chunk = min(chunk, n / workers)
    n_chunks = math.ceil(round(n / chunk, 6))
    factor = np.where(np.arange(workers) < round(slow * workers), 5.0, 1.0)
    noise = np.exp(jitter * rng.normal(size=n_chunks))
    merge = machine.merge_seconds(D) + machine.send_seconds(D, K)
    once = chunk * 8 * D / machine.storage + machine.digest_seconds(chunk, D) + merge
    free = [(0.0, worker) for worker in range(workers)]
    end = 0.0
    for i in range(n_chunks):
        time, worker = heapq.heappop(free)
        start = max(time, 3 * i * machine.scheduling)
        done = start + once * factor[worker] * noise[i]
        heapq.heappush(free, (done, worker))
        end = max(end, done)
    tree = (BLOCK - 1) * math.ceil(round(math.log(workers, BLOCK), 9))
    return end + tree * merge


def error_of_merging(X: NDArray[Any], y: NDArray[Any], rng: np.random.Generator) -> float:
    """Relative difference between MLCA of all rows and of four shuffled chunks, merged."""
    whole = MLCA().fit(X, y).components_
    pieces = np.split(rng.permutation(len(X)), [50, 300, 310])
    parts = [MLCA().partial_fit(X[p], y[p]) for p in pieces]
    merged = parts[0].merge(parts[1].merge(parts[2].merge(parts[3])))
    return float(abs(merged.components_ - whole).max() / abs(whole).max())


EXPONENTS, WORKERS = range(8, 13), (1, 10, 30, 100, 1000)
"""Rows as powers of ten, and workers, of the explorer."""
STORAGE = {f"{each:g} GB/s": each for each in (0.2, 1, 5)}
"""How much each worker reads in a second."""


def many_machines(exponent: int, workers: int, storage: str) -> tuple[Figure, str]:
    """Draw the predicted time over the number of workers, and what it is spent on."""
    machine = fitted_machine(benchmarks(), storage=STORAGE[storage] * 1e9)
    n = 10.0**exponent
    counts = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    totals = [sum(predict(n, w, machine).values()) for w in counts]
    parts = predict(n, workers, machine)
    total = sum(parts.values())
    figure, axes = subplots(1, 2, height=3.1)
    left, right = axes[0]
    left.plot(counts, totals, marker=MARKERS[0], label="predicted")
    left.plot(counts, [totals[0] / w for w in counts], color=INK, linestyle=":", label="ideal")
    left.plot([workers], [total], marker="o", markersize=13, color=COLORS[1], fillstyle="none")
    left.set(xscale="log", yscale="log", xlabel="workers", title="seconds", ylim=(1e-3, 1e7))
    left.legend(frameon=False)
    right.barh(list(parts), [v / total for v in parts.values()], color=COLORS[: len(parts)])
    right.set(xlim=(0, 1), title="share of the time")
    right.invert_yaxis()
    largest = max(parts, key=lambda part: parts[part])
    where = "one worker that reads" if workers == 1 else f"{workers:,} workers that read"
    each = "" if workers == 1 else f" each, {totals[0] / total:,.0f} times as fast as one"
    return figure, (
        f"Prediction for {power_of_ten(exponent)} rows ({_bytes(8 * D * n)}) on {where} "
        f"{storage}{each}: {_span(total)}; most of it, {parts[largest] / total:.0%}, "
        f"to {largest}."
    )


def _span(seconds: float) -> str:
    """Write a time in the unit that suits it."""
    for unit, size in (("h", 3600), ("min", 60), ("s", 1)):
        if seconds >= 2 * size:
            return f"{seconds / size:{',.0f' if seconds >= 100 * size else '.3g'}} {unit}"
    return f"{1000 * seconds:.0f} ms"


@cache
def _simulated(chunk: float, slow: float) -> float:
    return simulate(1e9, 100, fitted_machine(benchmarks()), chunk=chunk, slow=slow)


def stragglers(chunk: int, slow: float) -> tuple[Figure, str]:
    """Draw the simulated time of a billion rows on 100 workers over the size of the chunks."""
    sizes = [30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
    figure, axes = subplots(1, 1, height=3.1)
    ax = axes[0, 0]
    for i, share in enumerate(dict.fromkeys([0.0, slow])):
        times = [_simulated(size, share) for size in sizes]
        ax.plot(sizes, times, marker=MARKERS[i], label=f"{share:.0%} slow workers")
    ax.plot([chunk], [_simulated(chunk, slow)], "o", markersize=13, color=INK, fillstyle="none")
    ax.set(xscale="log", ylim=(0, 110), xlabel="rows per chunk", ylabel="seconds, simulated")
    ax.legend(frameon=False, loc="upper center")
    even = sum(predict(1e9, 100, fitted_machine(benchmarks()), chunk=chunk).values())
    return figure, (
        f"A billion rows, 100 workers, chunks of {chunk:,} rows, {slow:.0%} of the workers five "
        f"times slower: {_simulated(chunk, slow):.1f} s simulated; "
        f"{even:.1f} s predicted for equal workers."
    )


def state_and_chunk(d: int, k: int) -> tuple[Figure, str]:
    """Draw the size of the state beside that of the rows it stands for."""
    rows = np.geomspace(100, 1e9, 50)
    figure, axes = subplots(1, 1, height=3.1)
    ax = axes[0, 0]
    ax.plot(rows, 8 * d * rows, label="rows: 8 n d")
    size = state_bytes(d, k)
    ax.plot(rows, np.full_like(rows, size), linestyle="--", label="state: 8 (d² + d k + k)")
    ax.axvline(size / (8 * d), color=INK, linewidth=1, linestyle=":")
    ax.set(xscale="log", yscale="log", xlabel="rows n", ylabel="bytes", ylim=(1e2, 1e14))
    ax.legend(frameon=False, loc="upper left")
    return figure, (
        f"{d:,} features, {k:,} classes: the state takes {_bytes(size)}, as much as "
        f"{math.ceil(size / (8 * d)):,} rows; a billion rows take {_bytes(8e9 * d)}."
    )


def _bytes(size: float) -> str:
    """Write a number of bytes in the unit that suits it."""
    units: Sequence[str] = ("bytes", "kB", "MB", "GB", "TB", "PB")
    power = min(int(math.log10(size) / 3), len(units) - 1)
    return f"{size / 1000**power:.3g} {units[power]}"
