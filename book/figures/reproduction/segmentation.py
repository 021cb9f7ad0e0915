"""Tables and figures of the reproduction of segmentation."""

from functools import partial
from math import sqrt

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from scipy.stats import t as student
from threadpoolctl import threadpool_limits

from book.figures.names import name_after
from book.reproduction import Table, age_note, find, load
from book.reproduction.segmentation_collages import collage_split
from book.reproduction.segmentation_cuts import DIFFERENCE
from book.reproduction.segmentation_scenes import segment
from book.reproduction.segmentation_superpixels import ALL_IMAGES
from book.reproduction.verdicts import data_line
from book.spread import stored_mean
from mlbook._arrays import Floats
from mlbook.datasets import make_texture_collages
from mlbook.mlca import MLCA
from mlbook.partitions import rand_loss
from mlbook.plots import COLORS, subplots

__all__ = [
    "by_split",
    "collages",
    "cuts_of_horses",
    "gains_by_image",
    "losses",
    "paired_test",
    "paired_tests",
    "printed_deltas",
    "single_horses",
]

CUTS = {"12 pixels high": "lajugie2014-table3", "superpixels": "lajugie2014-table3-superpixels"}


def by_split(name: str, row: str, column: str) -> Floats:
    """Numbers of one row of a stored result, one for each split, in the order of the seeds.

    A row may stand for several data sets, each with columns of its own.

    Examples
    --------
    >>> len(by_split("law2016-table4", "KISSME", "horses_rand"))
    5
    """
    units = (load(name) or {"units": []})["units"]
    found = [
        (unit["unit"]["seed"], unit["values"][column])
        for unit in units
        if unit["unit"]["row"] == row and column in unit["values"]
    ]
    return np.array([value for _, value in sorted(found)])


def losses(name: str, key: str) -> Table:
    """Table of one measure by method, without and with the spectral step.

    Ours are means and standard errors over splits. There is no verdict: neither the images of
    Table 4 nor those of Table 5 are the paper's as it had them.
    """
    experiment = find(name)
    (column,) = (each for each in experiment.columns if each.key == key)
    summary = (load(name) or {"summary": {}})["summary"]
    rows, not_run = [], []
    for row in experiment.rows:
        cells = summary.get(row, {})
        ours = [stored_mean(cells[k]) if k in cells else None for k in (key, f"{key}_spectral")]
        paper = experiment.paper_numbers.get(row, {}).get(key)
        rows.append([row, *map(column.show, (paper, *ours))])
        if summary and not cells:
            not_run.append(f"{row} is not run: {experiment.reasons.get(row, 'not in this run')}.")
    note = " ".join([data_line(experiment), *not_run, age_note(name)]).strip()
    return Table(["", "paper", "ours", "spectral step"], rows, note)


def printed_deltas() -> list[float]:
    """List every Δ that Law 2016, Table 4, and Lajugie 2014, Table 3, print for images.

    Examples
    --------
    >>> len(printed_deltas())
    20
    """
    columns = [("law2016-table4", f"{data}_delta") for data in ("horses", "flowers")]
    cells = [
        row[key]
        for name, key in [*columns, ("lajugie2014-table3", "loss")]
        for row in find(name).paper_numbers.values()
        if key in row
    ]
    return [float(str(number).split("±")[0]) for number in cells]


def paired_test(difference: float, sd: float, n: int) -> tuple[float, float]:
    """Return t of n paired differences with this mean and deviation, and the two-sided p-value.

    Examples
    --------
    >>> t, p = paired_test(1.0, 2.0, 16)
    >>> t, round(p, 3)
    (2.0, 0.064)
    """
    t = difference / (sd / sqrt(n))
    return t, float(2 * student.sf(abs(t), n - 1))


def paired_tests(name: str = "lajugie2014-table3") -> Table:
    """Table of the learned metric against the grid search, by split: Lajugie 2014, Table 3."""
    units = (load(name) or {"units": []})["units"]
    rows = []
    for unit, values in ((each["unit"], each["values"]) for each in units):
        if unit["row"] == DIFFERENCE:
            t, p = paired_test(values["loss"], values["loss_sd"], unit["n_test"])
            numbers = (f"{values['loss']:.2f}", f"{values['loss_sd']:.2f}", f"{t:.1f}", f"{p:.0e}")
            rows.append([str(unit["seed"]), *numbers])
    header = ["seed", "learned − grid", "σ", "t", "p"]
    return Table(header, rows, age_note(name))


def cuts_of_horses(key: str) -> Table:
    """Table of one loss of the cuts of horses: the paper's number, and ours cut in both ways."""
    summaries = [(load(name) or {"summary": {}})["summary"] for name in CUTS.values()]
    experiments = [find(name) for name in CUTS.values()]
    numbers, words = experiments[0].paper_numbers, experiments[0].paper_words
    rows = []
    for row in dict.fromkeys(row for each in experiments for row in each.rows):
        printed = {**numbers.get(row, {}), **words.get(row, {})}
        found = [summary.get(row, {}).get(key) for summary in summaries]
        rows.append(
            [
                row,
                str(printed.get(key, "–")),
                *(stored_mean(cell).show(2) if cell else "–" for cell in found),
            ]
        )
    notes = [*map(data_line, experiments), age_note(*CUTS.values())]
    return Table(["", "paper", *CUTS], rows, " ".join(filter(None, notes)))


def gains_by_image() -> list[tuple[str, dict[str, float]]]:
    """Names of the test images of Figure 2, with their losses, the largest gain first.

    The gain is how much the learned metric lowers the Jaccard distance of the grid search.
    """
    units = (load("lajugie2014-figure2") or {"units": []})["units"]
    pairs = [(unit["unit"]["row"], unit["values"]) for unit in units if unit["values"]]
    found = [(row, values) for row, values in pairs if row != ALL_IMAGES]
    return sorted(found, key=lambda pair: pair[1]["learned_jaccard"] - pair[1]["grid_jaccard"])


def single_horses() -> Table:
    """Table of single horses, from the largest gain to the largest loss, at even steps."""
    found = gains_by_image()
    steps = min(9, len(found))
    chosen = np.linspace(0, len(found) - 1, steps).round().astype(int).tolist() if steps else []
    keys = ("grid_jaccard", "learned_jaccard", "true_jaccard")
    rows = [
        [f"{rank + 1} of {len(found)}", name, *(f"{values[key]:.2f}" for key in keys)]
        for rank in chosen
        for name, values in [found[rank]]
    ]
    header = ["rank of the gain", "image", "grid search", "learned", "true classes of the patches"]
    return Table(header, rows, age_note("lajugie2014-figure2"))


def collages() -> Figure:
    """Draw two test collages, their truth, and k-means with and without a learned metric."""
    with threadpool_limits(1):
        split = collage_split(0, 40, 2, 96, 300)
        learned = MLCA().fit(split.X, split.y).components_
        images, _ = make_texture_collages(2, part="test", random_state=1)
        figure, axes = subplots(2, 4, height=3.2)
        for i, (image, (X, mask)) in enumerate(zip(images, split.test, strict=True)):
            y = np.unique(mask, return_inverse=True)[1]
            cut = partial(segment, n_segments=3, seed=0)
            found = {"Euclidean": cut(X), "learned": cut(X @ learned.T.astype(X.dtype))}
            pictures = {"collage": image, "truth": y}
            pictures |= {title: name_after(y, labels) for title, labels in found.items()}
            for ax, (title, picture) in zip(axes[i], pictures.items(), strict=True):
                colours = "gray" if title == "collage" else ListedColormap(COLORS[:3])
                ax.imshow(picture.reshape(image.shape), cmap=colours, interpolation="nearest")
                label = f"Rand {1 - rand_loss(y, picture):.2f}" if title in found else ""
                ax.set(title="" if i else title, xticks=[], yticks=[], xlabel=label)
    return figure
