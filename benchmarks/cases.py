"""The list of all benchmarks."""

from __future__ import annotations

from benchmarks.bags import bag_benchmarks
from benchmarks.points import point_benchmarks
from benchmarks.rows import row_benchmarks
from benchmarks.sequences import sequence_benchmarks

BENCHMARKS = {
    benchmark.name: benchmark
    for part in (row_benchmarks, point_benchmarks, sequence_benchmarks, bag_benchmarks)
    for benchmark in part()
}
