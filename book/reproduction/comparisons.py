"""All methods of the book on the same data: one experiment for each property of the data."""

from functools import partial

from book.reproduction.experiment import Column, Experiment
from book.reproduction.methods import (
    BASE,
    BETWEEN,
    DIGIT_COMPONENTS,
    N_SIGNAL,
    N_TEST_ROWS,
    SEEDS,
    SWEEPS,
    WITHIN,
    digit_units,
    run_count,
    run_unit,
    sweep_units,
)

UNSEEN = Column("unseen", "adjusted Rand, unseen classes", digits=2)
DELTA = Column("delta", "Δ, unseen classes", digits=2)
CLUSTERS = Column("clusters", "clusters found", digits=1)
COLUMNS = (
    UNSEEN,
    Column("seen", "adjusted Rand, seen classes", digits=2),
    DELTA,
    CLUSTERS,
    Column("time", "training time / MLCA", ratio=True, digits=2),
)
HOW = (
    "k-means with 10 restarts under each metric is told the number of clusters; the latent CRF is "
    "told none unless its row says so. Nothing is tuned: library defaults, but a gap of 1% for "
    "the large-margin metrics, and α = 0.1 for the full one, which else takes minutes. Times are "
    "CPU times of training on one thread."
)
GENERATOR = (
    f"Generator: {N_SIGNAL} signal directions (centres {BETWEEN:g}, points {WITHIN:g} about them) "
    f"and {BASE['n_nuisance']} nuisance directions of standard deviation {BASE['nuisance']:g}; "
    f"{BASE['n_sets']} training sets of {BASE['n_rows']} rows and {BASE['k']} of "
    f"{BASE['n_classes']} classes; {N_TEST_ROWS} rows in a test set; bags of "
    f"{BASE['bag_size']}; but for what the title varies. {SEEDS['full']} seeds. "
)
PAPER = "All methods"
EXPERIMENTS = [
    *(
        Experiment(
            id=f"comparison-{name}",
            paper=PAPER,
            title=sweep.title,
            what="variant",
            data="made up",
            columns=(UNSEEN, CLUSTERS, DELTA) if name == "count" else COLUMNS,
            paper_numbers={},
            units=partial(sweep_units, name=name),
            run_unit=run_count if name == "count" else run_unit,
            note=GENERATOR + HOW,
        )
        for name, sweep in SWEEPS.items()
    ),
    Experiment(
        id="comparison-digits",
        paper=PAPER,
        title="handwritten digits, six for training and four others",
        what="variant",
        data="scikit-learn's digits",
        columns=COLUMNS,
        paper_numbers={},
        units=digit_units,
        run_unit=run_unit,
        note="4 training sets of 120 digits, of six kinds drawn at random; 4 test sets of 120 of "
        "the same kinds and 4 of the other kinds; the leading "
        f"{DIGIT_COMPONENTS} principal components of the training rows. "
        f"{SEEDS['full']} seeds. {HOW}",
    ),
]
