"""Rows that nobody could keep: a billion from a generator, and more than memory on Dask workers.

    python -m benchmarks.streams FILE     both, twenty minutes; writes FILE

Nothing is compared with a peer here. What is written is how long it took, how much memory, and how
far the metric is from the one that infinitely many rows would give.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.__main__ import code, machine, write
from benchmarks.measure import peak_bytes
from mlbook.mlca import MLCA

N_CLASSES = 10
CHUNK = 100_000  # rows made and learned from at a time
STREAM = (1_000_000_000, 20)  # rows and features
CLUSTER = (40_000_000, 135)  # 43 GB
Floats = NDArray[np.float64]


def class_means(d: int) -> Floats:
    """Draw the means of the classes; the rows around them are standard normal."""
    return np.random.default_rng(0).normal(size=(N_CLASSES, d))


def limit_metric(d: int) -> Floats:
    """Return √n L for infinitely many rows, classes being equally large.

    XᵀX/n tends to I + ΣMMᵀ/k for means M, and column c of XᵀJ/√n to the mean of class c over √k.
    """
    M = class_means(d)
    return np.linalg.solve(np.eye(d) + M.T @ M / N_CLASSES, M.T / np.sqrt(N_CLASSES))


def make_chunk(seed: int, n: int, d: int) -> Floats:
    """Draw a chunk of rows; row i is of class i modulo the number of classes."""
    rng = np.random.Generator(np.random.SFC64(seed))
    X = rng.standard_normal((n, d))
    X.reshape(-1, N_CLASSES, d)[:] += class_means(d)
    return X


def distance_to_limit(model: MLCA, n: int) -> float:
    """‖√n L − limit‖/‖limit‖."""
    limit = limit_metric(model.n_features_in_)
    return float(np.linalg.norm(np.sqrt(n) * model.components_.T - limit) / np.linalg.norm(limit))


def stream(n: int, d: int, chunk: int = CHUNK) -> Iterator[dict[str, Any]]:
    """Learn from n rows by `partial_fit`, a chunk at a time; report at every power of ten.

    Yields
    ------
    dict
        The rows so far; processor seconds for making them, and for learning from them; memory
        beside one chunk; and how far the metric is from its limit.
    """
    model, y = MLCA(), np.arange(chunk) % N_CLASSES
    before, making, learning = 0, 0.0, 0.0
    report = chunk
    for i in range(n // chunk):
        begin = time.process_time()
        X = make_chunk(i, chunk, d)
        made = time.process_time()
        if i == 0:
            before = peak_bytes(reset=True)
        model.partial_fit(X, y)
        making, learning = making + made - begin, learning + time.process_time() - made
        done = (i + 1) * chunk
        if done in (report, n):
            report *= 10
            yield {
                "n": done,
                "d": d,
                "making_seconds": making,
                "learning_seconds": learning,
                "extra_bytes": peak_bytes() - before,
                "from_limit": distance_to_limit(model, done),
            }


def on_cluster(n: int, d: int, workers: int, chunk: int = CHUNK) -> tuple[dict[str, Any], MLCA]:
    """Learn from n rows that the worker processes of a Dask cluster on this machine make.

    Returns
    -------
    dict
        Seconds on the clock, the largest memory of a worker, and how far the metric is from its
        limit.
    MLCA
        The model.
    """
    import dask.array as da
    from dask import delayed
    from dask.distributed import Client, LocalCluster

    make = delayed(make_chunk, pure=True)
    X = da.concatenate(
        [da.from_delayed(make(i, chunk, d), (chunk, d), np.float64) for i in range(n // chunk)]
    )
    y = da.arange(n, chunks=chunk) % N_CLASSES
    options: dict[str, Any] = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        begin = time.perf_counter()
        model = MLCA().fit(X, y)
        model.components_  # noqa: B018 (solved for when first used)
        seconds = time.perf_counter() - begin
        memory = max(client.run(peak_bytes).values())
    line = {"n": n, "d": d, "workers": workers, "seconds": seconds, "worker_bytes": memory}
    return line | {"from_limit": distance_to_limit(model, n)}, model


def measure_all(streamed: tuple[int, int], spread: tuple[int, int], chunk: int) -> dict[str, Any]:
    """Run both, and say what was found as it comes."""
    found: dict[str, Any] = {"machine": machine(), "code": code("mlca"), "chunk": chunk}
    found["stream"] = []
    for line in stream(*streamed, chunk):
        print(line, flush=True)
        found["stream"].append(line)
    runs = [on_cluster(*spread, workers, chunk) for workers in (1, 2)]
    found["cluster"] = [line for line, _ in runs]
    one, two = (model.components_ for _, model in runs)
    found["between_workers"] = float(np.abs(one - two).max() / np.abs(one).max())
    print(*found["cluster"], found["between_workers"], sep="\n")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("output", type=Path, help="the JSON file to write")
    options = parser.parse_args(arguments)
    write(measure_all(STREAM, CLUSTER, CHUNK), options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
