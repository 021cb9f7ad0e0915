"""Figures of the reproduction of Law et al. 2016."""

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

from book.claims import measured
from book.figures.names import name_after
from book.reproduction import Table, age_note, find, load
from book.reproduction.law2016_clusters import LARGE_MARGIN_ALPHA, SETTINGS, cluster_loss
from book.reproduction.law2016_images import VARIANTS
from book.reproduction.law2016_orders import ORDERS
from book.spread import mean_and_spread
from mlbook._arrays import Floats, Integers
from mlbook.datasets import make_crossed_clusters
from mlbook.large_margin import LargeMarginMetric
from mlbook.mlca import MLCA
from mlbook.plots import scatter, subplots

__all__ = [
    "crossed_clusters",
    "flowers_table",
    "lajugie_table",
    "large_margin_map",
    "losses_by_test_size",
    "order_losses",
    "orders_table",
    "shares_of_clouds",
    "wide",
]

LOSSES = ("delta", "rand")


def crossed_clusters() -> Figure:
    """Draw a small sample of the data of Table 1, features 1 and 2, then 1 and 3."""
    X, y = make_crossed_clusters((40, 40, 40), random_state=0)
    figure, axes = subplots(1, 2, height=3.2)
    for ax, feature in zip(axes[0], (1, 2), strict=True):
        scatter(ax, X[:, [0, feature]], y)
        ax.set(xlabel="feature 1", ylabel=f"feature {feature + 1}")
    return figure


def losses_by_test_size(n_seeds: int) -> list[list[float]]:
    """Δ of MLCA on the data of Table 1, tested on 500 and on 1000 points in each sub-cluster."""
    losses = []
    for seed in range(n_seeds):
        X, y = make_crossed_clusters((500, 500, 500), random_state=seed)
        model = MLCA().fit(X, y)
        tests = [
            make_crossed_clusters((size,) * 3, random_state=1000 + seed) for size in (500, 1000)
        ]
        losses.append([cluster_loss(model.transform(T), t, seed) for T, t in tests])
    return losses


def shares_of_clouds(n_seeds: int) -> Floats:
    """Where MLCA without the spectral step puts the clouds of Table 2.

    Entry [i, c, j, a] is the share of cloud j of category c that draw i has in the cluster named
    after category a. The upper cloud of category 2 is [:, 1, 1].
    """
    sizes, test = SETTINGS[2].train, SETTINGS[2].test
    shares = []
    for seed in range(n_seeds):
        X, y = make_crossed_clusters(sizes, random_state=seed)
        T, t = make_crossed_clusters(test, random_state=1000 + seed)
        found = KMeans(3, n_init=20, random_state=seed).fit_predict(MLCA().fit(X, y).transform(T))
        clouds = name_after(t, found).reshape(3, 2, -1)
        shares.append([[np.bincount(c, minlength=3) / len(c) for c in pair] for pair in clouds])
    return np.array(shares)


def large_margin_map(X: Floats, y: Integers) -> Floats:
    """Map of the method of Lajugie et al. with the settings of the tables, one direction a row."""
    learner = LargeMarginMetric(
        structure="spectral", n_clusters="known", metric="full", alpha=LARGE_MARGIN_ALPHA
    )
    return learner.fit([X], [y]).components_


def wide(row: str, column: str) -> Floats:
    """Losses of a method on the wide data of one table, one number per seed.

    Examples
    --------
    >>> wide("Euclidean", "table1_spectral").shape
    (10,)
    """
    units = (load("law2016-wide") or {"units": []})["units"]
    found = [line["values"] for line in units if line["unit"]["row"] == row]
    return np.array([values[column] for values in found if column in values])


def order_losses(method: str, table: int) -> dict[str, Floats]:
    """Losses of a method in Table 2 or 3 by the order of the sizes, one number per seed."""
    orders = [":".join(map(str, order)) for order in ORDERS]
    return {o: measured("law2016-orders", f"Table {table}, {o}", method) for o in orders}


def orders_table() -> Table:
    """Table of Δ without the spectral step under all six orders of the sizes."""
    methods = ("MLCA", "KISSME", "Regression on Y")
    columns = [order_losses(m, t) for t in (2, 3) for m in methods]
    rows = [[o, *(f"{column[o].mean():.2f}" for column in columns)] for o in columns[0]]
    header = ["sizes", *(f"T{t}, {m}" for t in (2, 3) for m in methods)]
    return Table(header, rows, age_note("law2016-orders"))


def lajugie_table(data: str) -> Table:
    """Table of the losses of Lajugie et al. and of MLCA on the same pixels, beside the paper's."""
    name = "law2016-table4-lajugie"
    result, printed = load(name), find(name).paper_numbers
    rows: list[list[str]] = []
    for row in printed if result else ():
        for loss, title in (("delta", "Δ"), ("rand", "Rand loss")):
            cells = [
                mean_and_spread(measured(name, row, f"{data}_{loss}{step}"))
                if result and f"{data}_{loss}{step}" in result["summary"][row]
                else "–"
                for step in ("", "_spectral")
            ]
            rows.append([row, title, str(printed[row][f"{data}_{loss}"]), *cells])
    return Table(["", "", "paper", "ours", "spectral step"], rows, age_note(name))


def flowers_table() -> Table:
    """Table of both forms of MLCA on Flowers, and of one segment, under each treatment."""
    name = "law2016-flowers"
    columns = [f"{form}_{loss}" for form in ("multivariate", "univariate") for loss in LOSSES]
    rows = [["the paper", "1.29", ".22", "1.47", ".22", ""]]
    for row in VARIANTS:
        means = [measured(name, row, key).mean() for key in (*columns, "one_rand")]
        rows.append([row, *(f"{mean:.2f}".removeprefix("0") for mean in means)])
    header = ["", "multivariate: Δ", "Rand loss", "univariate: Δ", "Rand loss", "one segment: Rand"]
    return Table(header, rows, age_note(name))
