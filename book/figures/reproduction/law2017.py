"""Tables and figures of the reproduction of Law et al. 2017, from stored results.

Tables are for `book.figures.style.table`. ``results`` is the folder of the stored results, by
default that of the book.
"""

from __future__ import annotations

from functools import cache
from statistics import fmean
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import t as student

from book.figures.ages import mark_age
from book.figures.mimlca import digit_bags
from book.reproduction import EXPERIMENTS, Table, age_note, command, find, law2017, load
from book.reproduction.bag_baselines import class_to_bag_metric
from book.reproduction.experiment import Number, parse
from book.reproduction.law2017_annotation import VOTERS, annotation_metric, draw_split
from book.reproduction.law2017_classifiers import N_FOLDS, bag_classifier_scores
from book.reproduction.law2017_faces import ALPHAS, METHODS3, NUISANCES, draw_fold, rates
from book.spread import mean_and_spread, mean_of, stored_mean
from mlbook._arrays import Floats, Integers
from mlbook.bags import Bags, average_precision, bag_distances, citation_knn_scores
from mlbook.mimlca import MIMLCA
from mlbook.plots import COLORS, MARKERS, subplots

__all__ = [
    "alpha_curves",
    "alpha_levels",
    "alphas",
    "annotated_sets",
    "beside",
    "claims",
    "class_to_bag_shares",
    "instance_or_centroid",
    "level",
    "minimax_accuracy",
    "nuisance_curves",
    "nuisance_order",
    "ordering",
    "reject_option",
    "reject_runs",
    "runs",
    "score_or_centroid",
    "stand_ins",
    "stored_name",
    "training_sizes",
    "verdicts",
    "vote_rules",
    "vote_runs",
    "voters",
]

STAND_INS = {"synthetic": "", "faces": "-faces", "digits": "-digits"}
NUISANCE_ROWS = ("Euclidean", "MLCA (a)", "MIMLCA (b)", "MIMLCA (c)")

CLAIMS = {
    1: (
        ("MLCA (a)", "MIMLCA (b)"),
        ("MIMLCA (b)", "MIMLCA (c)"),
        ("MIMLCA (b)", "Euclidean"),
        ("MIMLCA (c)", "Euclidean"),
        ("MIMLCA (b)", "MIML (b)"),
        ("MIMLCA (b)", "MIML mended (b)"),
        ("MIMLCA (b)", "MildML (b)"),
        ("MIMLCA (c)", "MIML (b)"),
        ("MIMLCA (c)", "MildML (b)"),
        ("MIMLCA (c)", "MIML (c)"),
        ("MIMLCA (c)", "MIML mended (c)"),
        ("MIMLCA (c)", "MildML (c)"),
        ("Euclidean", "MildML (b)"),
    ),
    4: tuple(
        ("MIMLCA", worse)
        for worse in (
            "MIML",
            "MIML mended",
            "MildML",
            "Citation-kNN (Euclidean)",
            "Citation-kNN (standardised)",
            "M-C2B",
            "Minimax MI-kernel",
            "MI-kernel",
            "MInD (meanmin)",
            "MInD (minmin)",
            "MInD (maxmin)",
        )
    ),
}
SETS = {
    1: STAND_INS,
    2: STAND_INS,
    3: STAND_INS,
    4: {"birds": "", "Corel5K, 500": "-corel5k-500"},
    7: {"faces": "", "digits": "-digits"},
}


def stand_ins() -> str:
    """Describe what stands in for the paper's faces, and the protocol, as Markdown."""
    lines = [
        f"- **{data}**: {law2017.STAND_INS[data].removeprefix('Stand-in: ')}"
        f"{law2017.components_note(data)}"
        for data in STAND_INS
    ]
    few = find("law2017-table1").note.rpartition("Slow, ")[2]
    text = f"{law2017.PROTOCOL}On synthetic faces some methods are slow, {few}"
    return "\n".join([*lines, "", text])


def beside(table: int, measure: str, *, results: str | None = None) -> Table:
    """One measure of a table: the paper's number and ours on each of our data sets.

    A dash where there is no number; `measure` is the key of the column.
    """
    name = f"law2017-table{table}"
    found = {data: _summary(name + end, results) for data, end in SETS[table].items()}
    column = next(c for c in find(name).columns if c.key == measure)
    rows = []
    for row in find(name + list(SETS[table].values())[-1]).rows:
        numbers: list[Any] = [find(name).paper_numbers.get(row, {}).get(measure)]
        for summary in found.values():
            cell = summary.get(row, {}).get(measure)
            numbers.append(cell and (cell["median"] if column.ratio else stored_mean(cell)))
        if any(number is not None for number in numbers):
            rows.append([row, *map(column.show, numbers)])
    return Table(["", "paper", *SETS[table]], rows, _note(table, results=results))


def claims(table: int, measure: str, *, results: str | None = None) -> Table:
    """Which of the paper's orderings hold on each of our data sets.

    The difference of the two methods is taken fold by fold: "yes" or "no" if Student's 95%
    interval for its mean does not hold 0, else "open". From fewer than three folds there is no
    verdict.

    Of the measure, the key of a column of Table 1 or 4, more is better.
    """
    name = f"law2017-table{table}"
    paper = find(name).paper_numbers
    digits = next(c.digits for c in find(name).columns if c.key == measure)
    stored = [load(name + end, results=results) for end in SETS[table].values()]
    rows = []
    for better, worse in CLAIMS[table]:
        printed = [paper.get(row, {}).get(measure) for row in (better, worse)]
        means = [_mean(number) for number in printed if number is not None]
        known = f"{means[0] - means[1]:+.{digits}f}" if len(means) == 2 else "–"
        ours = [_verdict(_values(r, better, measure), _values(r, worse, measure)) for r in stored]
        rows.append([f"{better} > {worse}", known, *(_show(*verdict, digits) for verdict in ours)])
    return Table(["claim", "paper", *SETS[table]], rows, _note(table, results=results))


def ordering(
    table: int, data: str, better: str, worse: str, measure: str, *, results: str | None = None
) -> str:
    """Whether a method is above another on one of our data sets, judged as in `claims`."""
    result = load(stored_name(table, data), results=results)
    return _verdict(_values(result, better, measure), _values(result, worse, measure))[0]


def level(
    table: int, data: str, row: str, measure: str = "accuracy", *, results: str | None = None
) -> float:
    """Return the mean over the folds of a row of a table on one of our data sets."""
    return float(_summary(stored_name(table, data), results)[row][measure]["mean"])


def alpha_levels(data: str, row: str, *, results: str | None = None) -> list[float]:
    """Return the mean accuracy of a row of Table 3 for every α."""
    return [level(3, data, row, f"accuracy{alpha:g}", results=results) for alpha in ALPHAS]


def stored_name(table: int, data: str) -> str:
    """Return the id of the experiment of a table on one of our data sets.

    Examples
    --------
    >>> stored_name(1, "faces")
    'law2017-table1-faces'
    """
    return f"law2017-table{table}{SETS[table][data]}"


def verdicts(table: int, measure: str, *, results: str | None = None) -> str:
    """Say in Markdown which orderings of the paper hold on each of our data sets.

    A list with an item for each data set. What the paper has no numbers for is left out.
    """
    printed = find(f"law2017-table{table}").paper_numbers
    pairs = [pair for pair in CLAIMS[table] if all(row in printed for row in pair)]
    lines = []
    for data, end in SETS[table].items():
        name = f"law2017-table{table}{end}"
        result = load(name, results=results)
        if result is None:
            lines.append(f"- **{data}**: missing, `{command(name)}`.")
            continue
        groups: dict[str, list[str]] = {"yes": [], "open": [], "no": [], "few": []}
        for better, worse in pairs:
            word, mean = _verdict(*(_values(result, row, measure) for row in (better, worse)))
            claim = f"{better} > {worse}"
            if word in groups:
                groups[word].append(claim)
            elif mean is not None:
                groups["few"].append(f"{claim} ({'same' if mean > 0 else 'opposite'} sign)")
        parts = {"yes": "Holds", "open": "Open", "no": "Reversed", "few": "Too few folds to tell"}
        said = [f"{part}: {', '.join(groups[k])}." for k, part in parts.items() if groups[k]]
        count = f"{len(groups['yes'])} of the paper's {len(pairs)} orderings."
        lines.append(f"- **{data}**: {' '.join([count, *said])}")
    return "\n".join(lines)


def instance_or_centroid(*, results: str | None = None) -> Table:
    """MildML by the nearest training instance (Table 2) less by the nearest centroid (Table 1).

    The paper's difference, and ours judged as in `claims`.
    """
    papers = [find(f"law2017-table{table}").paper_numbers for table in (2, 1)]
    rows = []
    for row in ("MildML (b)", "MildML (c)"):
        for measure in ("accuracy", "precision"):
            instance, centroid = (_mean(numbers[row][measure]) for numbers in papers)
            line = [f"{row}, {measure}", f"{instance - centroid:+.1f}"]
            for end in STAND_INS.values():
                both = (load(f"law2017-table{table}{end}", results=results) for table in (2, 1))
                line.append(_show(*_verdict(*(_values(r, row, measure) for r in both)), 1))
            rows.append(line)
    return Table(["", "paper", *STAND_INS], rows, _note(2, 1, results=results))


def score_or_centroid(*, results: str | None = None) -> Table:
    """Accuracy by Eq. 16 with the α that does best (Table 3) less by the nearest centroid.

    The paper's difference, and ours judged as in `claims`.
    """
    keys = [f"accuracy{alpha:g}" for alpha in ALPHAS]
    papers = [find(f"law2017-table{table}").paper_numbers for table in (3, 1)]
    rows = []
    for row in ("MLCA (a)", "MIMLCA (b)", "MIMLCA (c)"):
        linear = f"linear {row}"
        score = max(_mean(papers[0][linear][key]) for key in keys)
        line = [row, f"{score - _mean(papers[1][row]['accuracy']):+.1f}"]
        for end in STAND_INS.values():
            scores, centroids = (
                load(f"law2017-table{table}{end}", results=results) for table in (3, 1)
            )
            best = max((_values(scores, linear, key) for key in keys), key=_level)
            line.append(_show(*_verdict(best, _values(centroids, row, "accuracy")), 1))
        rows.append(line)
    return Table(["", "paper", *STAND_INS], rows, _note(3, 1, results=results))


def _level(values: dict[int, float]) -> float:
    return fmean(values.values()) if values else 0.0


def _mean(number: Number) -> float:
    return parse(number).value if isinstance(number, str) else number


def _values(result: dict[str, Any] | None, row: str, measure: str) -> dict[int, float]:
    """Return the numbers of a row by fold."""
    return {
        line["unit"]["seed"]: line["values"][measure]
        for line in (result["units"] if result else [])
        if line["unit"]["row"] == row and measure in line["values"]
    }


def _verdict(first: dict[int, float], second: dict[int, float]) -> tuple[str, float | None]:
    """Whether the first is clearly larger, and the mean difference over the folds of both."""
    differences = [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]
    n = len(differences)
    if n < 3:
        return ("", "one fold", "two folds")[n], fmean(differences) if n else None
    mean, error, _ = mean_of(differences)
    margin = student.ppf(0.975, n - 1) * error
    return "open" if abs(mean) <= margin else "yes" if mean > 0 else "no", mean


def _show(verdict: str, mean: float | None, digits: int) -> str:
    if mean is None:
        return "–"
    return f"{verdict} ({round(mean, digits) + 0.0:+.{digits}f})"  # no −0.0


def annotated_sets() -> str:
    """Describe the data of Table 4, and how methods are used, as Markdown."""
    notes = [
        find(f"law2017-table4{end}").note.removesuffix(law2017.HOW4.strip())
        for end in SETS[4].values()
    ]
    lines = [f"- **{name}**: {note.strip()}" for name, note in zip(SETS[4], notes, strict=True)]
    return "\n".join([*lines, "", law2017.HOW4])


def voters(name: str = "law2017-table4", *, results: str | None = None) -> Table:
    """Average precision of citation-kNN for every number of references and citers."""
    summary = _summary(name, results)
    keys = [f"ap{r}" for r in VOTERS]
    column = next(c for c in find(name).columns if c.key == keys[0])
    rows = [
        [row, *(column.show(stored_mean(cells[key])) for key in keys)]
        for row, cells in summary.items()
        if all(key in cells for key in keys)
    ]
    header = ["", *(f"c = r = {r}" for r in VOTERS)]
    return Table(header, rows, age_note(name, results=results))


def alphas(measure: str = "accuracy", *, results: str | None = None) -> Table:
    """Table 3: means for every α, the paper's and ours below each other."""
    keys = [f"{measure}{alpha:g}" for alpha in ALPHAS]
    found = _alpha_cells(results)
    rows = [
        [f"{row}: {data}", *(f"{_mean(cells[row][key]):.1f}" for key in keys)]
        for row in METHODS3
        for data, cells in found.items()
        if row in cells
    ]
    header = ["", *(f"α = {alpha:g}" for alpha in ALPHAS)]
    return Table(header, rows, _note(3, results=results))


def alpha_curves(*, results: str | None = None) -> Figure:
    """Accuracy by Eq. 16 over α: the paper's and that of each stand-in."""
    keys = [f"accuracy{alpha:g}" for alpha in ALPHAS]
    found = _alpha_cells(results)
    least = min(
        _mean(cells[key]) for rows in found.values() for cells in rows.values() for key in keys
    )
    figure, axes = subplots(2, 2, height=5.4)
    for ax, (data, cells) in zip(axes.flat, found.items(), strict=True):
        ax.set(title=data, ylim=(least - 3, 101))
        for i, row in enumerate(METHODS3):
            if row in cells:
                line = [_mean(cells[row][key]) for key in keys]
                style = {"color": COLORS[i % 3], "marker": MARKERS[i % 3]}
                name = row.replace("MIMLCA ", "").replace("MLCA ", "")
                ax.plot(ALPHAS, line, "-" if i < 3 else "--", label=name, **style)
        if not cells:
            _say_missing(ax)
    for ax in axes[1]:
        ax.set_xlabel("α")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy, %")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    names = [f"law2017-table3{end}" for end in STAND_INS.values()]
    return mark_age(figure, *names, results=results)


def _alpha_cells(results: str | None) -> dict[str, dict[str, dict[str, Any]]]:
    """Numbers of Table 3 by data set, row and column: the paper's, then means of ours."""
    found: dict[str, dict[str, dict[str, Any]]] = {
        "paper": {row: dict(cells) for row, cells in find("law2017-table3").paper_numbers.items()}
    }
    for data, end in STAND_INS.items():
        summary = _summary(f"law2017-table3{end}", results)
        found[data] = {
            row: {key: cell["mean"] for key, cell in cells.items()}
            for row, cells in summary.items()
        }
    return found


def nuisance_curves(*, results: str | None = None) -> Figure:
    """Accuracy on synthetic faces over the level of their nuisance variation."""
    summary = _summary("law2017-nuisance", results)
    figure, axes = subplots(1, 1, height=3.3)
    ax = axes[0, 0]
    for i, row in enumerate(NUISANCE_ROWS):
        cells = [summary.get(f"{row}, nuisance {x:g}") for x in NUISANCES]
        points = [(x, c["accuracy"]) for x, c in zip(NUISANCES, cells, strict=True) if c]
        x = [level for level, _ in points]
        found = [stored_mean(cell) for _, cell in points]
        mean, error = [each.mean for each in found], [each.error for each in found]
        style = {"color": COLORS[i], "marker": MARKERS[i], "capsize": 3}
        ax.errorbar(x, mean, error, label=row, **style)
    ax.set(xlabel="standard deviation of the nuisance", ylabel="accuracy, %", ylim=(0, 100))
    if summary:
        ax.legend(frameon=False)
    else:
        _say_missing(ax)
    return mark_age(figure, "law2017-nuisance", results=results)


def nuisance_order(*, results: str | None = None) -> Table:
    """Methods at each level of nuisance, from the least accurate to the most."""
    summary = _summary("law2017-nuisance", results)
    rows = []
    for level in NUISANCES:
        means = {
            row: summary[name]["accuracy"]["mean"]
            for row in NUISANCE_ROWS
            if (name := f"{row}, nuisance {level:g}") in summary
        }
        ranked = [f"{row} {means[row]:.1f}" for row in sorted(means, key=lambda row: means[row])]
        rows.append([f"{level:g}", " < ".join(ranked) or "–"])
    note = age_note("law2017-nuisance", results=results)
    return Table(["nuisance", "accuracy, %"], rows, note)


@cache
def reject_runs(data: str = "digits") -> dict[tuple[str, float | None], Floats]:
    """Fit MIMLCA with and without its reject option on all folds, now.

    By scenario and price, one row for each fold, in per cent: training instances that get a name,
    names that are wrong, accuracy on test instances.
    """
    runs = {}
    for scenario in "bc":
        for reject in (None, 1.2, 1.1, 1.0):
            found = []
            for seed in range(N_FOLDS):
                fold = draw_fold(data, seed, ())
                model = MIMLCA(rank=fold.rank, reject=reject).fit(fold.bags, fold.Y[scenario])
                named = model.assignments_ >= 0
                wrong = np.mean(model.assignments_[named] != fold.labels[named])
                right = rates(fold.y_test, model.predict(fold.X_test))["accuracy"]
                found.append((100 * float(np.mean(named)), 100 * float(wrong), right))
            runs[scenario, reject] = np.array(found)
    return runs


def reject_option(data: str = "digits") -> Table:
    """Write the means of `reject_runs`."""
    rows = []
    for (scenario, reject), found in reject_runs(data).items():
        row = "none" if reject is None else f"{reject:.1f}"
        rows.append([f"({scenario})", row, *(f"{mean:.0f}" for mean in found.mean(axis=0))])
    return Table(["", "reject", "named, %", "names wrong, %", "accuracy, %"], rows)


def training_sizes(data: str) -> tuple[Integers, float]:
    """Sizes of the categories in the first training fold of a stand-in, and d/n.

    n counts the instances of known categories, as in scenario (a); d the features, or the
    directions of them that are used.
    """
    fold = draw_fold(data, 0, ())
    sizes = np.bincount(fold.labels[fold.labels >= 0])
    return sizes[sizes > 0], (fold.rank or fold.bags.instances.shape[1]) / int(sizes.sum())


@cache
def vote_runs(data: str = "birds") -> dict[tuple[str, str], Floats]:
    """Average precision of citation-kNN on every fold by two rules, now.

    Under the rule of this page citers rank a query among the training bags, and a label tied with
    others takes the last of their ranks; by that of the authors' program they rank it among the
    other queries, and the more frequent label comes first. By rule and metric.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for seed in range(N_FOLDS):
        split = draw_split(data, seed, 1)
        common = np.argsort(np.argsort(-np.asarray(split.Y.sum(axis=0)).ravel(), kind="stable"))
        for method in ("MIMLCA", "standardised", "Euclidean"):
            components = annotation_metric(method, split, {"seed": seed})
            train, test = (_mapped(bags, components) for bags in (split.train, split.test))
            across, among = bag_distances(test, train), bag_distances(train, train)
            ours = citation_knn_scores(across, among, split.Y)
            theirs = citation_knn_scores(across, None, split.Y) - 1e-9 * common
            for rule, scores in (("this page's", ours), ("the authors'", theirs)):
                value = average_precision(split.Y_test, scores)
                found.setdefault((rule, method), []).append(value)
    return {key: np.array(values) for key, values in found.items()}


def _mapped(bags: Bags, components: Floats) -> Bags:
    return bags.map(lambda X: X @ components.T)


def vote_rules(data: str = "birds") -> Table:
    """Write the means of `vote_runs`, and MIMLCA less standardised features fold by fold."""
    found = vote_runs(data)
    rows = []
    for rule in dict.fromkeys(rule for rule, _ in found):
        values = [found[rule, method] for method in ("Euclidean", "standardised", "MIMLCA")]
        rows.append([rule, *(mean_and_spread(v, 3) for v in (*values, values[2] - values[1]))])
    header = ["rule", "Euclidean", "standardised", "MIMLCA", "MIMLCA − standardised"]
    return Table(header, rows)


@cache
def minimax_accuracy(sizes: tuple[int, ...], n_seeds: int = 20) -> Floats:
    """Accuracy of the minimax kernel on single digits, trained on bags of some sizes.

    How often bags have 1, 2, ... digits.
    """
    found = []
    for seed in range(n_seeds):
        data, T, t = digit_bags(300, seed, sizes)
        bags, singles = Bags(data.instances, data.offsets), Bags(T[:200], np.arange(201))
        scores = bag_classifier_scores(bags, data.Y, singles, {"method": "minimax"})
        found.append(np.mean(scores.argmax(axis=1) == t[:200]))
    return np.array(found)


def class_to_bag_shares(n_seeds: int = 20, n_pairs: int = 2000) -> Floats:
    """Share of the largest direction in a metric that M-C2B learns on the digits, by draw.

    Each draw takes the next fold and the next category, and pairs of an instance and another bag
    as for Table 7, scenario (b).
    """
    shares = []
    for seed in range(n_seeds):
        fold, rng = draw_fold("digits", seed % N_FOLDS, ()), np.random.default_rng(seed)
        X, offsets = fold.bags.instances, fold.bags.offsets
        labelled = fold.Y["b"].toarray().astype(bool)
        labelled = labelled[:, seed % labelled.shape[1]]
        rows = rng.choice(np.flatnonzero(labelled[fold.bags.bag_index]), n_pairs)
        parts = []
        for chosen in (labelled, ~labelled):
            bags = rng.choice(np.flatnonzero(chosen), n_pairs)
            others = [X[offsets[bag] : offsets[bag + 1]] for bag in bags]
            nearest = [Z[_nearest(x, Z)] for x, Z in zip(X[rows], others, strict=True)]
            parts.append(X[rows] - nearest)  # zero, and of no weight, within a bag
        lengths = np.linalg.svd(class_to_bag_metric(*parts), compute_uv=False) ** 2
        shares.append(lengths[0] / lengths.sum())
    return np.array(shares)


def _nearest(x: Floats, Z: Floats) -> int:
    return int(np.argmin(np.sum((x - Z) ** 2, axis=1)))


def runs(*, results: str | None = None) -> Table:
    """Every declared experiment of the paper: its data, and what is stored of it."""
    rows = []
    for name, declared in EXPERIMENTS.items():
        if declared.paper == law2017.PAPER:
            result = load(name, results=results)
            state = f"{len(result['units'])} units" if result else "no result"
            if result and age_note(name, results=results):
                state += f", {result['started'][:10]}, older than its code"
            rows.append([f"`{name}`", declared.data.replace("same", "the paper's"), state])
    return Table(["experiment", "data", "stored"], rows)


def _say_missing(ax: Axes) -> None:
    ax.text(0.5, 0.5, "no stored result", transform=ax.transAxes, ha="center")


def _note(*tables: int, results: str | None) -> str:
    """Say which results of these tables, on all data sets, are older than their code."""
    names = [f"law2017-table{table}{end}" for table in tables for end in SETS[table].values()]
    return age_note(*names, results=results)


def _summary(name: str, results: str | None) -> dict[str, Any]:
    """Return the numbers of a stored full run, empty if there is none."""
    result = load(name, results=results)
    return result["summary"] if result else {}
