"""Law, Yu, Cord and Xing, CVPR 2016: Tables 1 to 3, synthetic clusters.

Section 3.4 of the paper clusters test data X_t by k-means on the left singular vectors of
X_t L, the *spectral step*. With no more features than categories these vectors span the columns
of X_t for every invertible L: the metric cancels, and the Euclidean distance does as well as
any other. The paper's loss of MLCA agrees with this step, and its loss of the Euclidean
distance only with its absence. Hence every method is run both ways, and once more on data with
more features than categories, where the metric matters either way.
"""

from __future__ import annotations

from functools import partial

from book.reproduction.experiment import Column, Experiment, Number
from book.reproduction.law2016_clusters import (
    LARGE_MARGIN_ALPHA,
    N_NOISE_FEATURES,
    SEEDS,
    SETTINGS,
    run_unit,
    run_wide,
    units,
)
from book.reproduction.law2016_images import (
    SIZES,
    VARIANTS,
    flowers_units,
    lajugie_units,
    run_flowers,
    run_lajugie,
)
from book.reproduction.law2016_orders import METHODS as ORDERED
from book.reproduction.law2016_orders import N_TEST, order_units, run_order
from mlbook.baselines import MAX_SAMPLES, N_PAIRS

# Test loss Δ and training time in seconds (0: no training) in Tables 1, 2 and 3. XQDA is not in
# the tables: the text says that its losses and times are exactly those of KISSME. Table 3 prints
# a bare 0 three times: read as 0.00, the digits that the same methods have in the other tables.
KISSME = (("0.07", 0.5), ("2.02", 2), ("2.0", 2))
PRINTED: dict[str, tuple[tuple[str, float], ...]] = {
    "MLCA": (("0.07", 0.004), ("0.09", 0.005), ("0.00", 0.005)),
    "Euclidean": (("3.0", 0), ("3.0", 0), ("3.0", 0)),
    "Xing et al. (MMC)": (("0.7", 4378), ("3.0", 21552), ("3.0", 18240)),
    "Lajugie et al.": (("0.11", 336), ("0.09", 2462), ("0.00", 4222)),
    "KISSME": KISSME,
    "XQDA": KISSME,
    "ITML": (("0.08", 370), ("3.0", 1260), ("3.0", 1557)),
    "PCCA": (("0.08", 400), ("0.29", 2176), ("0.00", 2106)),
    "LMNN": (("3.0", 4), ("3.0", 11), ("3.0", 10)),
}


def paper_numbers(table: int) -> dict[str, dict[str, Number]]:
    """Numbers of one table; the one loss it prints is compared with both of ours."""
    numbers: dict[str, dict[str, Number]] = {}
    reference = PRINTED["MLCA"][table - 1][1]
    for row, printed in PRINTED.items():
        loss, seconds = printed[table - 1]
        numbers[row] = {"delta": loss, "delta_spectral": loss}
        if seconds:
            numbers[row]["time"] = seconds / reference
    return numbers


NOTE = (
    "Points per sub-cluster, noise and the 20 restarts of k-means are those of the authors' "
    f"published settings; X is not centred; {SEEDS['full']} seeds at full scale. KISSME and XQDA "
    "have all pairs of rows, through class scatters; the other methods that learn from pairs get "
    "a sample of them ("
    + ", ".join(f"{name.upper()} {number}" for name, number in N_PAIRS.items())
    + f"), and LMNN at most {MAX_SAMPLES} rows. Lajugie et al. has all rows and the spectral "
    f"relaxation, with a quadratic regularizer of weight {LARGE_MARGIN_ALPHA:g}. None is tuned; "
    "the paper's were, on validation data. Times are CPU times on one thread as ratios to MLCA on "
    "the same rows, also where a method got a sample."
)


def reasons(table: int) -> dict[str | tuple[str, str], str]:
    """Why numbers differ, as far as is known; the claims were checked on the runs stored."""
    cancels = "the step cancels every invertible metric"
    singular = "the metric has rank 2, so that the step has two vectors, of equal weight"
    collapses = (
        "half of category 2 joins category 1, at a lower distortion than the truth has; a loss "
        "of 2 would be one category cut in two and the others merged; the cause is not known"
    )
    sampled = "a sample of the pairs and default settings; the paper has all pairs, and tunes"
    scatters = "all pairs through class scatters; the paper forms the pairs"
    agrees = "the paper's number agrees with the spectral step"
    draws = (
        "single draws of ours lie on both sides of the paper's number; it does not say over how "
        "many draws that is a mean"
    )
    return {
        ("MLCA", "delta"): draws if table == 1 else agrees,
        ("Lajugie et al.", "delta"): agrees,
        ("Euclidean", "delta_spectral"): f"{cancels}; the paper's number agrees without it",
        "Xing et al. (MMC)": sampled,
        ("Xing et al. (MMC)", "delta_spectral"): "nearly singular; the step blows up the rest",
        ("Lajugie et al.", "time"): "a thin factor in place of n × n matrices, cutting planes",
        "KISSME": singular if table == 1 else collapses,
        ("KISSME", "time"): scatters,
        "XQDA": singular if table == 1 else collapses,
        ("XQDA", "time"): scatters,
        "ITML": sampled,
        ("ITML", "delta_spectral"): cancels,
        "PCCA": sampled,
        ("PCCA", "delta"): "a sample of the pairs, L-BFGS until it converges",
        ("PCCA", "delta_spectral"): cancels,
        ("LMNN", "delta_spectral"): cancels,
        ("LMNN", "time"): "another implementation, on fewer rows",
        **({("MLCA", "delta_spectral"): draws} if table == 1 else {}),
    }


FEW = SIZES["full"]["n_pixels"]
IMAGES = (
    f"changed: images at most {SIZES['full']['height']} pixels high, {SIZES['full']['n_test']} "
    f"test images in a split, {FEW} pixels of each training image"
)
EXPERIMENTS = [
    Experiment(
        id=f"law2016-table{table}",
        paper="Law et al. 2016",
        title=f"Table {table}: {setting.title}",
        columns=(
            Column("delta", "Δ, k-means on X_t L"),
            Column("delta_spectral", "Δ, spectral step"),
            Column("time", "training time / MLCA", ratio=True),
        ),
        paper_numbers=paper_numbers(table),
        units=partial(units, tables=(table,)),
        run_unit=run_unit,
        note=NOTE,
        reasons=reasons(table),
    )
    for table, setting in SETTINGS.items()
] + [
    Experiment(
        id="law2016-wide",
        paper="Law et al. 2016",
        title=f"Δ on the data of Tables 1 to 3 with {N_NOISE_FEATURES} more features, all noise",
        what="variant",
        data=f"changed: {N_NOISE_FEATURES} features of noise added to the paper's three",
        columns=[
            Column(f"table{table}{key}", f"T{table}, {title}")
            for table in SETTINGS
            for key, title in (("", "k-means on X_t L"), ("_spectral", "spectral step"))
        ],
        paper_numbers={},
        units=partial(units, tables=tuple(SETTINGS), n_noise_features=N_NOISE_FEATURES),
        run_unit=run_wide,
        note=NOTE,
    ),
    Experiment(
        id="law2016-orders",
        paper="Law et al. 2016",
        title="Tables 2 and 3 with the sizes 1:2:4 in all six orders: Δ",
        what="variant",
        data=f"changed: the order of the category sizes, {N_TEST} test points per cloud",
        columns=[
            Column(f"{method}{step}", f"{method}{step}", digits=2)
            for step in ("", ", spectral")
            for method in ORDERED
        ],
        paper_numbers={},
        units=order_units,
        run_unit=run_order,
        note="All methods have all rows. “Spectral” is with the spectral step.",
    ),
    Experiment(
        id="law2016-table4-lajugie",
        paper="Law et al. 2016",
        title="Table 4, row Lajugie et al., and footnote 3",
        what="variant",
        data=IMAGES,
        columns=[
            *(
                Column(f"{data}_{loss}{step}", f"{data}, {title}{words}", digits=2)
                for data in ("horses", "flowers")
                for step, words in (("", ""), ("_spectral", ", spectral step"))
                for loss, title in (("delta", "Δ"), ("rand", "Rand loss"))
            ),
            *(
                Column(f"{data}_{key}", f"{data}, {title}", ratio=True)
                for data in ("horses", "flowers")
                for key, title in (
                    ("time", "training time / MLCA"),
                    ("test", "test time / univariate MLCA"),
                )
            ),
            *(Column(f"{data}_zero", f"{data}, metric is zero") for data in ("horses", "flowers")),
        ],
        paper_numbers={
            "Lajugie et al.": {
                "horses_delta": "1.67 ± 0.02",
                "horses_rand": "0.36 ± 0.02",
                "flowers_delta": "1.38 ± 0.02",
                "flowers_rand": "0.26 ± 0.01",
                "horses_time": 120 * 3600 / 13,
                "flowers_time": 120 * 3600 / 39,
            },
            "multivariate MLCA": {
                "horses_delta": "1.20 ± 0.02",
                "horses_rand": "0.32 ± 0.02",
                "flowers_delta": "1.29 ± 0.01",
                "flowers_rand": "0.22 ± 0.01",
                "horses_test": 300.0,
                "flowers_test": 300.0,
            },
        },
        units=lajugie_units,
        run_unit=run_lajugie,
        note=f"Splits and features of Table 4. Both methods have the same {FEW} pixels of each of "
        "the 200 training images. Lajugie et al.: a diagonal metric, every image a set of its own, "
        "the library's regularization. Test times: mapping and clustering all pixels of the test "
        "images, without their features.",
        reasons={
            ("Lajugie et al.", "horses_time"): "a few pixels of each image, a diagonal metric",
            ("Lajugie et al.", "flowers_time"): "a few pixels of each image, a diagonal metric",
            ("multivariate MLCA", "horses_test"): "the paper: .3 s against less than .001 s",
            ("multivariate MLCA", "flowers_test"): "the paper: .3 s against less than .001 s",
        },
    ),
    Experiment(
        id="law2016-flowers",
        paper="Law et al. 2016",
        title="Table 4, Flowers: what makes our losses lower than the paper's",
        what="variant",
        data=IMAGES,
        columns=[
            Column(f"{form}_{loss}", f"{form}, {title}", digits=2)
            for form in ("multivariate", "univariate", "one")
            for loss, title in (("delta", "Δ"), ("rand", "Rand loss"))
        ],
        paper_numbers={},
        units=flowers_units,
        run_unit=run_flowers,
        note=f"{len(VARIANTS)} ways to treat the images, on the splits of Table 4; {FEW} pixels of "
        "each training image.",
    ),
]
