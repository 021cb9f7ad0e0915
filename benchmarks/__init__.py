"""What the library costs, as ratios to bare NumPy calls or peers timed in the same process.

    make bench                                 everything, with the bars; an hour
    make bench ARGS=--quick                    the first size of each benchmark; two minutes
    python -m benchmarks mlca itml             only these
    python -m benchmarks itml --merge FILE     put them in the place of older ones in FILE
    python -m benchmarks --stale FILE          name those in FILE whose code has changed since

`case` says what a benchmark and a bar are; `rows`, `points`, `sequences` and `bags` say what is
measured against what, and what it may cost; `measure` takes one measurement, in a process of its
own; `__main__` runs them and writes a JSON file and a plot.
"""
