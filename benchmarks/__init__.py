"""What the library costs, as ratios to bare NumPy calls timed in the same process.

    make bench                                 everything, about a quarter of an hour
    python -m benchmarks mlca itml             only these
    python -m benchmarks --quick               tiny sizes, to see that everything runs

`cases` says what is measured against what, and the bars; `measure` takes one measurement, in
a process of its own; `__main__` runs them and writes a JSON file and a plot.
"""
