"""Every table and figure of the papers, and which numbers of ours stand beside it.

A number is chosen by what the paper claims, never by how we do: its own method in the measure
that its text draws the conclusion from, on every data set of the item; in a table of other
methods only, the best of them and the first. Where the paper leaves the protocol open, the number
is shown for every protocol that was run.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from book.reproduction.copy_numbers import LEARNED as LEARNED_PROFILES
from book.reproduction.experiment import Column, Experiment
from book.reproduction.komodakis2011_distances import ONE_KIND
from book.reproduction.lajugie2014 import SHOW_STREAMS, SHOWS
from book.reproduction.lajugie2014_maps import FULL_METRIC, OURS
from book.reproduction.lajugie2014_sequences import fraction_key
from book.reproduction.lajugie2014_tables import SPLITS, TABLES
from book.reproduction.segmentation_cuts import LEARNED as LEARNED_CUTS
from book.reproduction.segmentation_pixels import LOADERS
from book.reproduction.segmentation_superpixels import ALL_IMAGES
from book.reproduction.verdicts import OTHER_DATA, Judged, judge_column

STANDINGS = {
    "matches": "the paper's data: every number that was run matches",
    "same ordering": "the paper's data: same ordering at worst",
    "differs": "the paper's data: at least one number differs",
    "drawn": "a picture, and ours beside it",
    "other data": "no verdict: changed data, a stand-in, or a single run",
    "missing": "missing",
}


class Shown(NamedTuple):
    """Numbers of one experiment that stand for an item; why they may be missing."""

    experiment: str
    numbers: Sequence[tuple[str, str]]  # row and column key
    missing: str = "not run yet"


class Item(NamedTuple):
    """A table, a figure or a section with numbers of a paper.

    Attributes
    ----------
    paper, name, title : str
        Which it is, and what it shows.
    page : str
        Page of the book that discusses it.
    shown : sequence of Shown
        What stands beside it; empty if nothing does.
    note : str
        What a reader has to know; if nothing is shown, the reason.
    figure : str
        Name of our picture on the page, if the item is a picture without numbers.
    """

    paper: str
    name: str
    title: str
    page: str
    shown: Sequence[Shown] = ()
    note: str = ""
    figure: str = ""


class Line(NamedTuple):
    """One number of the scoreboard, as text; `reason` says why it is not the paper's."""

    paper: str
    item: str
    number: str
    data: str
    printed: str
    ours: str
    verdict: str
    reason: str
    experiment: str


NOT_AT_HAND = "we do not have these images; the command runs where a reader has them"
YAHOO = "Labeled Yahoo! News is not to be had"
COREL = "the regions of the training images are not to be had"
PICTURES = "We have the images, but pictures of them may not be passed on with this book."


def _law2016() -> list[Item]:
    """List the items of Law et al. 2016."""
    titles = ("categories of the same size", "different sizes", "different sizes, less noise")
    notes = ("", "", "The paper prints 0, which is read as 0.00.")
    protocols = [("MLCA", "delta_spectral"), ("MLCA", "delta")]
    images = [
        ("multivariate MLCA", f"{data}_delta{end}")
        for data, end in product(LOADERS, ("_spectral", ""))
    ]
    textures = [("MLCA", "index_spectral"), ("MLCA", "index")]
    page, of_images = "reproduction/law2016", "reproduction/segmentation"
    rows = [
        (f"Table {i}", title, page, [Shown(f"law2016-table{i}", protocols)], note)
        for i, (title, note) in enumerate(zip(titles, notes, strict=True), 1)
    ]
    rows += [
        ("Table 4", "image segmentation", of_images, [Shown("law2016-table4", images)], ""),
        ("Table 5", "dynamic textures", of_images, [Shown("law2016-table5", textures)], ""),
    ]
    return [
        *(Item("Law et al. 2016", *row) for row in rows),
        Item(
            "Law et al. 2016",
            "Figure 2",
            "the data of Table 1, clustered",
            "mlca",
            figure="mlca-fig-crossed",
            note="The loss of the clusterings that it shows is that of Table 1.",
        ),
        Item("Law et al. 2016", "Figure 3", "segmented images", of_images, note=PICTURES),
        Item(
            "Law et al. 2016",
            "Footnote 3",
            "time to segment one test image",
            of_images,
            note="Not measured yet: our runs time the training only. The paper says 0.3 seconds "
            "for multivariate MLCA and less than 0.001 for univariate.",
        ),
    ]


def _komodakis(name: str, title: str, *shown: Shown, note: str = "") -> Item:
    """Make an item of Komodakis 2011; all are discussed on one page."""
    return Item("Komodakis 2011", name, title, "reproduction/komodakis2011", shown, note)


def _stand_in(name: str, *numbers: tuple[str, str]) -> Shown:
    """Show numbers of a stand-in for images."""
    return Shown(f"komodakis2011-{name}", numbers)


def _images(name: str, *numbers: tuple[str, str]) -> Shown:
    """Show numbers on images that the user must have."""
    return Shown(f"komodakis2011-{name}", numbers, NOT_AT_HAND)


KOMODAKIS2011 = [
    _komodakis(
        "Figure 2",
        "synthetic data with noisy features",
        Shown("komodakis2011-figure2a", [("objective", "after100")]),
        Shown(
            "komodakis2011-figure2",
            [
                ("learned, ρ = 0.5", "noisy"),
                ("learned, ρ = 0.5", "clusters"),
                ("learned, ρ = 0.9", "f"),
            ],
        ),
        note="The paper prints no number; its words stand in the column. The objective, after 100 "
        "iterations, is a share of its start.",
    ),
    _komodakis(
        "Figure 3",
        "weights of texture features",
        note="We do not have these images. The page draws such weights for other textures.",
    ),
    _komodakis("Figure 4", "exemplars of Outex", note="We do not have these images."),
    _komodakis(
        "Figure 5",
        "weights of pairs of feature and distance, UIUC",
        note="We do not have these images. The page draws such weights for other textures.",
    ),
    _komodakis(
        "Figure 6",
        "weights and objective, 15 scenes",
        Shown("komodakis2011-figure6a", [("HOG", "chi2"), ("gist", "l2")]),
        Shown("komodakis2011-figure6b", [("objective", "after100")]),
        note="The paper prints no number. Of the 32 weights two are shown here, all on the page. "
        "The objective, after 100 iterations, is a share of its start.",
    ),
    _komodakis(
        "Figure 7",
        "exemplars of the 15 scenes",
        Shown("komodakis2011-figure7", [(scene, "exemplars") for scene in ("Forest", "Suburb")]),
        note="The paper shows ten images. Ours are on the page, by their names: pictures of them "
        "may not be passed on with this book. Here, how many of them are of two of the scenes.",
    ),
    _komodakis(
        "Outex (Section 6)",
        "accuracy",
        _images("outex", (ONE_KIND, "one_to_one")),
        _stand_in("keel-textures", (ONE_KIND, "one_to_one")),
    ),
    _komodakis(
        "UIUC (Section 6)",
        "accuracy",
        _images("uiuc", (ONE_KIND, "one_to_one"), (ONE_KIND, "nn"), ("learned", "nn")),
        _stand_in("keel-textures", ("learned", "one_to_one"), ("learned", "nn")),
    ),
    _komodakis(
        "noise (Section 6)",
        "weight of noise features",
        _stand_in("keel-textures", ("learned, with noise", "noise")),
        note="The paper prints no number, and says that the weights vanish.",
    ),
    _komodakis(
        "15 scenes (Section 6)",
        "accuracy",
        _images("scenes", ("learned", "one_to_one"), ("learned", "majority"), ("learned", "nn")),
        note="The paper does not define the accuracy of a clustering; both of ours are shown.",
    ),
]


def _law2017() -> list[Item]:
    """List the items of Law et al. 2017."""
    page = "reproduction/law2017"

    def on_faces(table: int, *numbers: tuple[str, str]) -> list[Shown]:
        name = f"law2017-table{table}"
        ends = ("-letters", *(["-eighth"] if table == 3 else []), "-faces", "-digits", "")
        return [
            Shown(f"{name}-yahoo", numbers, YAHOO),
            *(Shown(f"{name}{end}", numbers) for end in ends),
        ]

    annotation = [("MIMLCA", key) for key in ("oe", "coverage", "ap20")]
    others = [("MILBoost (b)", "accuracy"), ("M-C2B (b)", "accuracy")]
    rows = [
        (
            "Table 1",
            "faces, nearest centroid",
            on_faces(1, ("MIMLCA (b)", "accuracy"), ("MIMLCA (c)", "accuracy")),
        ),
        (
            "Table 2",
            "faces, nearest instance",
            on_faces(2, ("MildML (b)", "precision"), ("MildML (c)", "precision")),
        ),
        (
            "Table 3",
            "faces, linear and nonlinear",
            on_faces(3, *((f"χ² MIMLCA ({s})", "accuracy0.25") for s in "bc")),
        ),
        (
            "Table 4",
            "annotation of images",
            [
                Shown("law2017-table4-corel5k", annotation, COREL),
                Shown("law2017-table4-corel5k-500", annotation),
                Shown("law2017-table4", annotation),
            ],
        ),
        ("Tables 5 and 6", "sizes and labels of the bags", []),
        (
            "Table 7",
            "faces, bag classifiers",
            [Shown("law2017-table7", others), Shown("law2017-table7-digits", others)],
        ),
    ]
    notes = {
        "Tables 5 and 6": f"Counts, not results: {YAHOO}. The synthetic faces are drawn by them.",
        "Table 7": f"Not run on the paper's faces: {YAHOO}.",
    }
    return [
        Item("Law et al. 2017", name, title, page, shown, notes.get(name, ""))
        for name, title, shown in rows
    ]


def _lajugie2014() -> list[Item]:
    """List the items of Lajugie et al. 2014."""
    own, page, of_images = (
        OURS,
        "reproduction/lajugie2014",
        "reproduction/segmentation",
    )
    printed = zip(SHOW_STREAMS, SHOWS["metric learning"], strict=True)
    curve = [(own, fraction_key(fraction)) for fraction in (1.0, 0.1)]
    streams = [(FULL_METRIC, key) for key in ("speech", "noise")]
    tables = [(FULL_METRIC, f"{key}_{split}") for key, split in product(TABLES, SPLITS)]
    horses = [(LEARNED_CUTS, "loss"), (LEARNED_CUTS, "jaccard")]
    profiles = [(LEARNED_PROFILES, "error")]
    rows: list[tuple[str, str, str, str, Sequence[tuple[str, str]], str]] = [
        ("Figure 1", "Δ by share of labels", page, "figure1", curve, "The paper prints no number."),
        (
            "Table 1",
            "TV shows",
            page,
            "table1-speech",
            streams,
            "The shows cannot be had. The paper's losses, means over its three shows: "
            + ", ".join(f"{stream} {loss:g}" for stream, loss in printed)
            + ". The stand-in has 63 changes in a sequence, the shows 60 to 120.",
        ),
        (
            "Table 2",
            "k-means on four data sets",
            page,
            "table2",
            tables,
            "The paper gives neither the scaling nor the split: both splits are shown. On Libras "
            "one cluster for everything has a loss of 14, too.",
        ),
        (
            "Table 3",
            "normalized cuts of horses",
            of_images,
            "table3 table3-superpixels",
            horses,
            "",
        ),
        ("Section 5.3", "tumours, wrong regions", page, "neuroblastoma", profiles, ""),
    ]
    return [
        *(
            Item(
                "Lajugie et al. 2014",
                name,
                title,
                where,
                [Shown(f"lajugie2014-{end}", numbers) for end in ends.split()],
                note,
            )
            for name, title, where, ends, numbers, note in rows
        ),
        Item(
            "Lajugie et al. 2014",
            "Figure 2",
            "segmented horses",
            of_images,
            [
                Shown(
                    "lajugie2014-figure2",
                    [(ALL_IMAGES, f"{z}_jaccard") for z in ("learned", "grid")],
                )
            ],
            f"{PICTURES} The page has the numbers of single images.",
        ),
    ]


ITEMS = [*_law2016(), *KOMODAKIS2011, *_law2017(), *_lajugie2014()]


def item_numbers(
    item: Item, experiments: Mapping[str, Experiment], results: Mapping[str, dict[str, Any] | None]
) -> list[tuple[Shown, Column, Judged]]:
    """Judge the numbers that stand for an item.

    Raises
    ------
    ValueError
        If the item names an experiment, a row or a column that is not declared.
    """
    head, found = (item.paper, item.name), []
    for shown in item.shown:
        if shown.experiment not in experiments:
            raise ValueError(f"{head} shows {shown.experiment!r}, which is not an experiment")
        declared, result = experiments[shown.experiment], results[shown.experiment]
        columns = {column.key: column for column in declared.columns}
        for row, key in shown.numbers:
            if row not in declared.rows or key not in columns:
                said = f"{head} shows {(row, key)}, which {shown.experiment} does not have"
                raise ValueError(said)
            judged = {j.row: j for j in judge_column(declared, result, columns[key])}
            nothing = Judged(row, None, None, "not run", declared.reasons.get(row, ""))
            found.append((shown, columns[key], judged.get(row, nothing)))
    return found


def item_lines(
    item: Item, experiments: Mapping[str, Experiment], results: Mapping[str, dict[str, Any] | None]
) -> list[Line]:
    """Set the numbers of an item beside the paper's, as text; one line at least."""
    head = (item.paper, item.name)
    if not item.shown:
        verdict = "drawn" if item.figure else "missing"
        return [Line(*head, "", "same" if item.figure else "", "–", "–", verdict, "", "")]
    lines = []
    for shown, column, judged in item_numbers(item, experiments, results):
        declared = experiments[shown.experiment]
        verdict = judged.verdict or OTHER_DATA.get(declared.kind, "no number in the paper")
        reason = shown.missing if verdict == "missing" else judged.reason
        lines.append(
            Line(
                *head,
                number=f"{judged.row}: {column.title}",
                data=declared.data,
                printed=column.show(judged.paper),
                ours=column.show(judged.ours),
                verdict=verdict,
                reason="" if verdict == "matches" else reason,
                experiment=shown.experiment,
            )
        )
    return lines


def standing(lines: Sequence[Line]) -> str:
    """Where an item stands, by the least favourable of its numbers on the paper's data."""
    made = [line for line in lines if line.verdict not in ("missing", "not run")]
    if not made:
        return "missing"
    on_same_data = {line.verdict for line in made if line.data == "same"}
    found = [v for v in ("differs", "same ordering", "matches", "drawn") if v in on_same_data]
    return found[0] if found else "other data"
