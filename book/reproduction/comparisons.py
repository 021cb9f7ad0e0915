"""All methods on the same real data: one experiment for each question of the chapter.

Every unit has the same parameters. The experiments "unseen" and "seen" have the values of `BASE`;
the others vary one of them on the same splits, so that they are compared with those two.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from book.reproduction.compared_data import DATA, N_TEST, N_TRAIN
from book.reproduction.experiment import Column, Experiment
from book.reproduction.methods import BY_MEANS, METHODS, N_SPLITS, run_unit
from book.reproduction.methods_told_less import (
    COUNTERS,
    LONGEST,
    MIMLCA_PLAIN,
    MIMLCA_SHRUNK,
    PER_CLASS,
    SEGMENTERS,
    SHORTEST,
    run_bags,
    run_count,
    run_sequences,
)
from book.reproduction.units import Unit

SEEDS = {"smoke": 1, "book": 3, "full": 30}
BASE: dict[str, Any] = {"seen": False, "ratio": 1, "n_classes": 0, "flipped": 0.0}
THREE = ("letters", "digits, Karhunen-Loève", "digits, Zernike")
MAIN = tuple(name for name in METHODS if name not in (BY_MEANS, "MLCA, balanced"))
FEW = ("k-means", "half whitened", "RCA, shrunk", "LDA, shrunk", "KISSME", "MLCA, shrunk")
BOTH: tuple[dict[str, Any], ...] = ({}, {"seen": True})
SPLIT = (
    f"{SEEDS['full']} splits. A test set has up to {N_TEST} rows of each of 4, 5 or 10 classes "
    f"drawn at random; training has up to {N_TRAIN} rows of each class. Classes are equally large "
    "but where sizes are varied. The splits of one data set share rows: the standard error is "
    "that of splits of these data. "
)
HOW = (
    "Features are as they come; k-means, 10 starts, is told the number of clusters. A knob has six "
    f"or seven values; the best over {N_SPLITS} divisions of the training rows is taken: whole "
    "classes are left out where the test classes are unseen, half of the rows where they are seen. "
)


def row_of(data: str, **changed: Any) -> str:
    """Name a row by its data set and what differs from `BASE`.

    Examples
    --------
    >>> row_of("letters", flipped=0.2, seen=True), row_of("letters", ratio=1)
    ('letters, flipped 0.2, seen 1', 'letters')
    """
    parts = [f"{key} {value:g}" for key, value in sorted(changed.items()) if value != BASE.get(key)]
    return ", ".join([data, *parts])


def units(
    scale: str,
    *,
    data: Sequence[str] = THREE,
    methods: Sequence[str] = (),
    levels: Sequence[dict[str, Any]] = ({},),
) -> list[Unit]:
    """All methods on every split of every data set, at every level."""
    return [
        {
            "row": row_of(name, **changed),
            "seed": seed,
            "data": name,
            **BASE,
            **changed,
            "methods": [m for m in methods if m != BY_MEANS or changed.get("seen")],
        }
        for name in (data[:1] if scale == "smoke" else data)
        for changed in levels
        for seed in range(SEEDS[scale])
    ]


def experiment(
    name: str,
    title: str,
    note: str,
    *,
    run: Callable[[Unit], dict[str, float]] = run_unit,
    measured: Sequence[str] = (),
    **choice: Any,
) -> Experiment:
    """Declare one experiment; its columns are the methods."""
    names = [*(measured or choice["methods"])]
    if run is run_unit:
        names += [f"time, {method}" for method in names if METHODS[method].told]
    if run is run_count:
        names += [f"off, {method}" for method in names]
    return Experiment(
        id=f"comparison-{name}",
        paper="All methods",
        title=title,
        what="variant",
        data="changed: real data that the papers do not have, or not in these splits",
        columns=[Column(method, method, digits=2) for method in names],
        paper_numbers={},
        units=partial(units, **choice),
        run_unit=run,
        note=SPLIT + HOW + note,
    )


EXPERIMENTS = [
    experiment("unseen", "classes never seen in training", "", data=tuple(DATA), methods=MAIN),
    experiment(
        "seen",
        "the classes of training, in other rows",
        "",
        data=tuple(DATA),
        methods=(*MAIN, BY_MEANS),
        levels=({"seen": True},),
    ),
    experiment(
        "classes",
        "unseen classes, by the number of training classes",
        "With two classes none can be left out, and the knob is .5.",
        data=("letters", "Libras", "faces"),
        methods=(*FEW[:4], "MLCA, plain", "MLCA, half shrunk", "MLCA, shrunk"),
        levels=[{"n_classes": m} for m in (2, 4, 8)],
    ),
    experiment(
        "sizes",
        "classes of unequal sizes",
        "The largest class has ten times the rows of the smallest, or as many as there are.",
        methods=(*FEW, "MLCA, balanced", BY_MEANS),
        levels=[{**seen, "ratio": 10} for seen in BOTH],
    ),
    experiment(
        "labels",
        "wrong labels in training",
        "A share of the training labels is replaced by another class, also where knobs are turned.",
        methods=(*FEW, "MLCA, half shrunk", BY_MEANS),
        levels=[{**seen, "flipped": share} for seen in BOTH for share in (0.2, 0.4)],
    ),
    experiment(
        "bags",
        "weak labels: bags of rows, and the classes in each",
        "No class is twice in a bag.",
        run=run_bags,
        measured=("right", "k-means", MIMLCA_PLAIN, MIMLCA_SHRUNK),
        levels=[{"bag_size": size} for size in (1, 2, 4, 8)],
    ),
    experiment(
        "count",
        "the number of clusters not told",
        f"Each test set is clustered once with two of its classes, once with three and so on, "
        f"{PER_CLASS} rows of each. What learns a price has six sets of training classes of this "
        "kind.",
        run=run_count,
        methods=COUNTERS,
    ),
    experiment(
        "sequences",
        "rows in order: runs of one class",
        f"Test rows stand in runs of {SHORTEST} to {LONGEST} rows of one class. Segments are found "
        "exactly, their number is told.",
        run=run_sequences,
        measured=SEGMENTERS,
    ),
]
