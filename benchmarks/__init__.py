"""What the library costs, as ratios to bare NumPy calls or peers timed in the same process.

    make bench                                 everything, about half an hour
    python -m benchmarks mlca itml             only these
    python -m benchmarks itml --merge FILE     put them in the place of older ones in FILE
    python -m benchmarks --quick               tiny sizes, to see that everything runs

`case` says what a benchmark and a bar are; `cases` and `structured` say what is measured against
what, and list the bars; `measure` takes one measurement, in a process of its own; `__main__`
runs them and writes a JSON file and a plot.
"""
