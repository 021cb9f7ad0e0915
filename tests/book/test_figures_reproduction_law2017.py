"""Tables and figures of the reproduction of Law 2017 show what is stored."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")

from book.figures.reproduction import law2017 as demo
from book.figures.reproduction import law2017_images as images
from book.figures.reproduction import law2017_now as now
from book.figures.reproduction import law2017_rules as rules
from book.reproduction import age_note, find, law2017, load
from book.reproduction.law2017_faces import ALPHAS, METHODS3, NUISANCES
from book.reproduction.law2017_printed import PRINTED1, PRINTED4
from book.reproduction.runs import summarize
from mlbook.datasets import BAG_SIZE_COUNTS

pytestmark = pytest.mark.book


@pytest.fixture
def store(tmp_path):
    """Write made-up results: id, row to column to the values of the folds."""

    def write(name, rows):
        units = [
            {"unit": {"row": row, "seed": seed}, "values": {key: values[seed]}}
            for row, cells in rows.items()
            for key, values in cells.items()
            for seed in range(len(values))
        ]
        result = {"scale": "full", "units": units, "summary": summarize(units), "skipped": {}}
        result["started"] = "2026-05-01T10:00:00+00:00"
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
        return str(tmp_path)

    return write


WITH_SYNTHETIC = ("synthetic", "faces", "digits")


def test_paper_and_stand_ins_side_by_side(store):
    cells = {"accuracy": [10.0, 20.0], "time": [3.0, 9.0]}
    folder = store("law2017-table1", {"MIML (b)": cells, "MIML (c)": {"accuracy": [7.0]}})
    store("law2017-table1-faces", {"MIMLCA (b)": {"accuracy": [50.0, 52.0]}})
    header, rows, note = demo.beside(1, "accuracy", WITH_SYNTHETIC, results=folder)
    assert header == ["", "paper", "synthetic", "faces", "digits"]
    assert note.endswith(
        "(2026-05-01); rerun: `python book/reproduction run law2017-table1 law2017-table1-faces`"
    )
    by_row = {row[0]: row[1:] for row in rows}
    assert by_row["MIML (b)"] == ["56.1 ± 3.3", "15.0 ± 5.0 (2)", "–", "–"]
    assert by_row["MIML (c)"] == ["52.6 ± 13.0", "7.0 (1)", "–", "–"]  # one fold has no spread
    assert by_row["MIMLCA (b)"] == ["65.3 ± 3.7", "–", "51.0 ± 1.0 (2)", "–"]
    assert by_row.keys() == set(PRINTED1)  # mended rows have no number anywhere
    times = {row[0]: row[1:] for row in demo.beside(1, "time", WITH_SYNTHETIC, results=folder)[1]}
    assert times["MIML (b)"] == ["109", "6", "–", "–"]  # a ratio: the median
    assert [row[0] for row in demo.beside(3, "accuracy0.5", results=folder)[1]] == [*METHODS3]


def test_descriptions_say_what_is_run():
    text = demo.stand_ins()
    assert text.count("- **") == 4 and "750 components, MildML 60" in text
    assert text.endswith("run on the first folds only: MIML (1), MIML mended (3), MildML (3).")
    assert law2017.PROTOCOL in text
    text = demo.annotated_sets()
    assert text.count("- **") == 2 and text.count("c = r = 20") == 1 and "Reduced" in text


def test_annotation_and_bag_classifiers_side_by_side(store):
    folder = store("law2017-table4-corel5k-500", {"MIMLCA": {"ap20": [0.4, 0.5]}})
    header, rows, _ = demo.beside(4, "ap20", results=folder)
    assert header == ["", "paper", "Corel5K, 500", "birds"]
    assert rows[0] == ["MIMLCA", "0.575", "0.450 ± 0.050 (2)", "–"]
    assert [row[0] for row in rows] == list(PRINTED4)
    header, rows, _ = demo.beside(7, "precision", results=folder)
    assert header == ["", "paper", "faces", "digits"] and rows[0][1] == "7.2 ± 2.5"


LEVEL = [50.0, 60.0, 90.0, 70.0]
ROWS = {
    "MLCA (a)": {"accuracy": [x + 1 + 0.2 * i for i, x in enumerate(LEVEL)]},
    "MIMLCA (b)": {"accuracy": LEVEL},
    "MIMLCA (c)": {"accuracy": [51.0, 59.0, 92.0, 68.0]},
    "Euclidean": {"accuracy": [x + 5 + 0.2 * i for i, x in enumerate(LEVEL)]},
    "MIML (b)": {"accuracy": [40.0]},
    "MIML mended (b)": {"accuracy": [52.0, 63.0]},
}


def test_claims_are_judged_fold_by_fold(store):
    """A difference that is the same in every fold is clear, however the folds differ."""
    header, lines, _ = demo.claims(
        1, "accuracy", WITH_SYNTHETIC, results=store("law2017-table1", ROWS)
    )
    found = {line[0]: line[1:] for line in lines}
    assert header == ["claim", "paper", "synthetic", "faces", "digits"]
    assert found["MLCA (a) > MIMLCA (b)"] == ["+1.5", "yes (+1.3)", "–", "–"]
    assert found["MIMLCA (b) > MIMLCA (c)"][1] == "open (+0.0)"
    assert found["MIMLCA (b) > Euclidean"] == ["+8.3", "no (-5.3)", "–", "–"]
    assert found["MIMLCA (b) > MIML (b)"][1] == "one fold (+10.0)"
    assert found["MIMLCA (b) > MIML mended (b)"][:2] == ["–", "two folds (-2.5)"]
    assert found["MIMLCA (b) > MildML (b)"][1] == "–"


def test_three_folds_need_a_wider_interval_than_two_standard_errors(store):
    """Differences 1, 2, 3: the mean is 3.5 standard errors from 0, Student's bound is 4.3."""
    rows = {"MLCA (a)": {"accuracy": [1.0, 2.0, 3.0]}, "MIMLCA (b)": {"accuracy": [0.0, 0.0, 0.0]}}
    folder = store("law2017-table1", rows)
    assert demo.claims(1, "accuracy", WITH_SYNTHETIC, results=folder)[1][0][2] == "open (+2.0)"


def test_verdicts_are_the_claims_in_words(store):
    first, second, _ = demo.verdicts(
        1, "accuracy", WITH_SYNTHETIC, results=store("law2017-table1", ROWS)
    ).splitlines()
    assert first == (
        "- **synthetic**: 1 of the paper's 11 orderings. Holds: MLCA (a) > MIMLCA (b). "
        "Open: MIMLCA (b) > MIMLCA (c). "
        "Reversed: MIMLCA (b) > Euclidean, MIMLCA (c) > Euclidean. "
        "Too few folds to tell: MIMLCA (b) > MIML (b) (same sign), "
        "MIMLCA (c) > MIML (b) (same sign)."
    )
    missing = "missing, `python book/reproduction run law2017-table1-faces`."
    assert second == f"- **faces**: {missing}"


def test_mildml_by_instances_less_by_centroids(store):
    store("law2017-table1-faces", {"MildML (b)": {"accuracy": [50.0, 60.0, 70.0]}})
    folder = store("law2017-table2-faces", {"MildML (b)": {"accuracy": [53.0, 63.1, 72.9]}})
    header, rows, _ = demo.instance_or_centroid(WITH_SYNTHETIC, results=folder)
    assert header == ["", "paper", "synthetic", "faces", "digits"]
    assert rows[0] == ["MildML (b), accuracy", "-2.5", "–", "yes (+3.0)", "–"]
    assert rows[3] == ["MildML (c), precision", "+34.8", "–", "–", "–"]


def test_every_claim_that_the_paper_has_numbers_for_is_true_of_its_numbers():
    lines = demo.claims(1, "accuracy")[1] + demo.claims(4, "ap20")[1]
    assert len(lines) == 29
    for line in lines:
        assert line[1] == "–" or line[1].startswith("+")


def test_claims_of_table_4(store):
    rows = {"MIMLCA": {"ap20": [0.5, 0.6, 0.7]}, "MIML": {"ap20": [0.4, 0.51, 0.62]}}
    header, lines, _ = demo.claims(4, "ap20", results=store("law2017-table4-corel5k-500", rows))
    assert header == ["claim", "paper", "Corel5K, 500", "birds"]
    assert lines[0] == ["MIMLCA > MIML", "+0.113", "yes (+0.090)", "–"]


def test_best_score_less_the_nearest_centroid(store):
    """α = 0.5 has the highest mean, though another α is best in the first fold."""
    cells = {f"accuracy{a:g}": [60.0, 50.0, 50.0] for a in ALPHAS}
    cells["accuracy0.5"] = [58.0, 59.0, 60.0]
    store("law2017-table3-faces", {"linear MIMLCA (b)": cells})
    folder = store("law2017-table1-faces", {"MIMLCA (b)": {"accuracy": [60.0, 61.1, 61.9]}})
    header, rows, _ = demo.score_or_centroid(WITH_SYNTHETIC, results=folder)
    assert header == ["", "paper", "synthetic", "faces", "digits"]
    assert rows[1] == ["MIMLCA (b)", "+22.4", "–", "no (-2.0)", "–"]
    assert rows[0][1:3] == ["+22.7", "–"]


def test_numbers_of_voters(store):
    cells = {f"ap{r}": [0.5, 0.5 + r / 100] for r in law2017.VOTERS}
    folder = store("law2017-table4-corel5k-500", {"MIMLCA": cells, "M-C2B": {"ap20": [0.3]}})
    header, rows, _ = demo.voters(results=folder)
    assert header == ["", "c = r = 5", "c = r = 10", "c = r = 15", "c = r = 20"]
    assert rows == [
        [
            "MIMLCA",
            "0.525 ± 0.025 (2)",
            "0.550 ± 0.050 (2)",
            "0.575 ± 0.075 (2)",
            "0.600 ± 0.100 (2)",
        ]
    ]


def test_every_alpha_of_paper_and_ours(store):
    cells = {f"accuracy{a:g}": [100 * a, 100 * a] for a in ALPHAS}
    folder = store("law2017-table3-digits", {"linear MIMLCA (b)": cells})
    header, rows, _ = demo.alphas(results=folder)
    assert header == ["", *(f"α = {a:g}" for a in ALPHAS)] and len(rows) == 7
    assert rows[1] == ["linear MIMLCA (b): paper", "74.2", "85.9", "86.5", "87.7", "87.4", "87.1"]
    assert rows[2] == ["linear MIMLCA (b): digits", "0.0", "20.0", "25.0", "50.0", "100.0", "120.0"]
    panels = demo.alpha_curves(results=folder).axes
    assert [ax.get_title() for ax in panels] == ["paper", *demo.ALPHA_SETS]
    assert [len(ax.lines) for ax in panels] == [6, 0, 0, 1]
    assert panels[3].lines[0].get_ydata().tolist() == [100 * a for a in ALPHAS]
    assert panels[0].lines[2].get_ydata()[0] == 69.9
    assert [t.get_text() for t in panels[1].texts] == ["no stored result"]


def test_nuisance_curves_and_order(store):
    rows = {f"Euclidean, nuisance {x:g}": {"accuracy": [x, x]} for x in NUISANCES}
    rows["MLCA (a), nuisance 5"] = {"accuracy": [3.0, 3.0]}
    folder = store("law2017-nuisance", rows)
    (ax,) = demo.nuisance_curves(results=folder).axes
    assert ax.containers[0].lines[0].get_ydata().tolist() == list(NUISANCES)
    assert len(ax.containers) == 4
    order = demo.nuisance_order(results=folder)[1]
    assert order[-1] == ["5", "MLCA (a) 3.0 < Euclidean 5.0"] and order[0] == ["0", "Euclidean 0.0"]


def test_nuisance_that_was_never_run(store):
    folder = store("law2017-table1", {})
    (ax,) = demo.nuisance_curves(results=folder).axes
    assert [t.get_text() for t in ax.texts] == ["no stored result"]
    assert demo.nuisance_order(results=folder)[1][0] == ["0", "–"]


def test_every_declared_experiment_is_listed_with_what_is_stored(store):
    rows = demo.runs(results=store("law2017-table4", {"MIMLCA": {"ap20": [0.4, 0.5]}}))[1]
    by_name = {row[0]: row[1:] for row in rows}
    old = "2 units, 2026-05-01, older than its code"
    assert by_name["`law2017-table4`"] == [law2017.LABELS["birds"], old]
    assert by_name["`law2017-table1-yahoo`"] == ["the paper's", "no result"]
    assert by_name["`law2017-table4-corel5k-500`"][0] == law2017.LABELS["corel5k-500"]
    assert len(rows) == len(law2017.EXPERIMENTS)


def test_reject_option_takes_wrong_names_away_from_digits_and_gains_nothing():
    rows = now.reject_option("digits")[1]
    numbers = {(row[0], row[1]): [int(cell) for cell in row[2:]] for row in rows}
    for scenario in ("(b)", "(c)"):
        named, wrong, accuracy = numbers[scenario, "none"]
        some, fewer, after = numbers[scenario, "1.1"]
        assert fewer < wrong / 2 and named - some <= 4 and abs(after - accuracy) <= 1


def test_stored_results_are_of_the_experiments_as_declared_or_marked_as_old():
    for name in [experiment.id for experiment in law2017.EXPERIMENTS]:
        result = load(name)
        if result is None:
            continue
        units = [line["unit"] for line in result["units"]]
        declared = json.loads(json.dumps(find(name).units("full")))
        assert units == declared or age_note(name), name


def test_ordering_is_what_the_table_of_claims_says(store):
    folder = store("law2017-table1", ROWS)
    pairs = ("MLCA (a)", "MIMLCA (b)"), ("MIMLCA (b)", "MIMLCA (c)"), ("MIMLCA (b)", "Euclidean")
    words = [demo.ordering(1, "synthetic", *pair, "accuracy", results=folder) for pair in pairs]
    assert words == ["yes", "open", "no"]
    assert demo.level(1, "synthetic", "MIMLCA (b)", results=folder) == pytest.approx(67.5)


def test_levels_of_every_alpha(store):
    cells = {f"accuracy{alpha:g}": [50 + alpha, 52 + alpha] for alpha in ALPHAS}
    folder = store("law2017-table3-faces", {"linear MLCA (a)": cells})
    assert demo.stored_name(3, "faces") == "law2017-table3-faces"
    levels = demo.alpha_levels("faces", "linear MLCA (a)", results=folder)
    assert levels == pytest.approx([51 + alpha for alpha in ALPHAS])


def test_rejecting_names_fewer(monkeypatch):
    monkeypatch.setattr(now, "N_FOLDS", 1)
    now.reject_runs.cache_clear()
    runs = now.reject_runs("digits")
    now.reject_runs.cache_clear()
    assert all(runs[x, 1.0][0, 0] < runs[x, None][0, 0] for x in "bc")
    assert all(runs[x, 1.0][0, 1] < runs[x, None][0, 1] for x in "bc")


def test_a_single_digit_is_no_bag_of_many_to_the_minimax_kernel():
    sizes = (0, 1, 1, 1, 1, 1), BAG_SIZE_COUNTS
    many, paper = (now.minimax_accuracy(counts, 2) for counts in sizes)
    assert many.max() < 0.5 < paper.min()


def test_synthetic_faces_have_many_small_categories():
    sizes, share = now.training_sizes("synthetic")
    assert sizes.min() == 1 and sizes.max() > 500
    assert share == pytest.approx(1000 / sizes.sum())


def test_faces_have_sizes_about_equal_and_many_directions():
    sizes, share = now.training_sizes("faces")
    assert len(sizes) == 40 and sizes.max() == 10
    assert share == pytest.approx(100 / sizes.sum())


def test_metrics_of_m_c2b_go_to_a_single_direction():
    shares = now.class_to_bag_shares(3, 500)
    assert shares.shape == (3,) and np.all((shares > 0.9) & (shares <= 1 + 1e-12))


# --- paper and ours, images, features ---------------------------------------------------------


def test_dots_are_the_numbers_of_the_tables(store):
    folder = store("law2017-table1-letters", {"MIMLCA (b)": {"accuracy": [60.0, 62.0]}})
    store("law2017-table4-corel5k-500", {"Labels by frequency": {"ap20": [0.4, 0.4]}})
    figure = demo.paper_and_ours(results=folder)
    top, bottom = figure.axes
    rows = [label.get_text() for label in top.get_yticklabels()]
    assert rows == [row[0] for row in demo.beside(1, "accuracy", ["letters"], results=folder)[1]]
    paper, ours = (box.lines[0] for box in top.containers)
    assert paper.get_xdata().tolist() == [float(PRINTED1[row][0].split()[0]) for row in rows]
    assert ours.get_xdata().tolist() == [61.0]
    assert round(float(ours.get_ydata()[0])) == rows.index("MIMLCA (b)")
    labels = [label.get_text() for label in bottom.get_yticklabels()]
    assert labels[-1] == "Labels by frequency" and len(bottom.containers) == 2
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["paper", "ours"]


def test_four_metrics_by_two_distances_and_two_rules(store):
    cells = {"ours": [0.4, 0.5], "authors": [0.3, 0.3]}
    folder = store("law2017-corel5k-500-distances", {"MIMLCA, mean": cells})
    header, rows, _ = images.bag_distances_and_rules(results=folder)
    assert header[2] == "mean of minima, our rule" and header[4].startswith("mean of minima")
    assert rows[2] == ["MIMLCA", "–", "0.450 ± 0.050 (2)", "–", "0.300 ± 0.000 (2)"]
    assert [row[0] for row in rows][3] == "the authors' metric"


def test_a_line_over_the_logarithm_is_drawn_out_to_the_papers_images(store):
    rows = {f"MIMLCA, {n} images": {"authors": [np.log(n), 2.0]} for n in images.IMAGES}
    folder = store("law2017-corel5k-500-curve", rows)
    assert images.extrapolated("MIMLCA", "authors", results=folder) == pytest.approx(
        [np.log(3947), 2]
    )
    (ax,) = images.images_curve(results=folder).axes
    drawn = ax.containers[2].lines[0]
    assert drawn.get_xdata().tolist() == list(images.IMAGES)
    open_ones = [x for x in ax.lines if x.get_fillstyle() == "none"]
    assert [float(x.get_ydata()[0]) for x in open_ones] == [0.513, 0.575]


def test_features_by_both_rules(store):
    cells = {"share": [0.1, 0.2], "centroid": [50.0, 60.0]}
    cells |= {f"accuracy{alpha:g}": [1.0, 2.0] for alpha in ALPHAS}
    folder = store("law2017-features", {"1000 features": cells})
    header, rows, _ = demo.features(results=folder)
    assert header[:3] == ["features", "d/n", "nearest centroid, %"]
    assert rows[1] == ["1000", "0.15", "55.0 ± 5.0 (2)", *["1.5 ± 0.5 (2)"] * 3]
    assert rows[0] == ["500", *["–"] * 5]


# --- Eq. 16 ----------------------------------------------------------------------------------


def test_sizes_sum_to_the_number_of_instances():
    for power in (0, 0.5, 1, 1.5):
        counts = rules.sizes(power)
        assert counts.sum() == 800 and len(counts) == 40 and np.all(np.diff(counts) <= 0)


def test_a_draw_is_mlca_by_both_rules():
    """By hand: maps, scores and both rules from the data of the draw."""
    rng = np.random.default_rng(3)
    counts = rules.sizes(1)
    points = rng.normal(size=(40, 20))
    y, t = np.repeat(np.arange(40), counts), np.repeat(np.arange(40), 20)
    X = np.hstack([points[y] + 0.5 * rng.normal(size=(800, 20)), rng.normal(size=(800, 140))])
    T = np.hstack([points[t] + 0.5 * rng.normal(size=(800, 20)), rng.normal(size=(800, 140))])
    J = np.eye(40)[y] / np.sqrt(counts)
    L = np.linalg.pinv(X) @ J
    Z = np.array([X[y == c].mean(axis=0) for c in range(40)]) @ L
    nearest = np.argmin(((T @ L)[:, None] - Z) ** 2 @ np.ones(40), axis=1)
    scored = np.argmax(T @ L - 0.25 * np.sum(Z**2, axis=1), axis=1)
    found = rules.draw(0.2, 1, 3)
    assert found.centroid.mean() == pytest.approx(np.mean(nearest == t))
    assert found.scores.mean() == pytest.approx(np.mean(scored == t))
    own = np.diag(Z) * np.sqrt(counts)
    assert found.own == pytest.approx(own[20:].mean())
    assert found.needed == pytest.approx(np.mean(0.25 * own[20:] ** 2 / np.sqrt(counts[20:])))
    own_score = (T @ L)[np.arange(800), t] * np.sqrt(counts[t])
    assert found.new == pytest.approx(own_score[400:])
    gain = 100 * np.mean((scored == t).astype(float) - (nearest == t))
    assert rules.gains(0.2, 1, n_seeds=4)[3] == pytest.approx(gain)


def test_left_out_scores_are_those_of_a_fit_without_the_instance():
    found, counts = rules.draw(0.1, 1.5, 0), rules.sizes(1.5)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 20))
    y, t = np.repeat(np.arange(40), counts), np.repeat(np.arange(40), 20)
    X = np.hstack([points[y] + 0.5 * rng.normal(size=(800, 20)), rng.normal(size=(800, 60))])
    T = np.hstack([points[t] + 0.5 * rng.normal(size=(800, 20)), rng.normal(size=(800, 60))])
    J = np.eye(40)[y] / np.sqrt(counts)
    without = np.empty((800, 40))
    for j in range(800):
        rest = np.arange(800) != j
        without[j] = X[j] @ np.linalg.lstsq(X[rest], J[rest], rcond=None)[0]
    means = np.array([without[y == c].mean(axis=0) for c in range(40)])
    images_ = T @ np.linalg.pinv(X) @ J
    nearest = np.argmin(((images_)[:, None] - means) ** 2 @ np.ones(40), axis=1)
    assert found.left_out.mean() == pytest.approx(np.mean(nearest == t))


def test_the_picture_of_both_rules_shows_its_draw():
    figure, caption = rules.rules(0.4, 1.5)
    found = rules.draw(0.4, 1.5)
    left, right = figure.axes
    heights = [bar.get_height() for bar in left.patches]
    expected = [found.centroid[:20], found.centroid[20:], found.scores[:20], found.scores[20:]]
    assert heights == pytest.approx([100 * x.mean() for x in expected])
    assert right.lines[0].get_xdata()[0] == pytest.approx(found.own / 2)
    assert sum(bar.get_height() for bar in right.patches) == 400  # none is outside
    assert caption.startswith("d/n = 0.4, sizes 352 to 2: Eq. 16 gains +")


def test_letters_by_score_are_the_rules_of_the_tables(monkeypatch):
    monkeypatch.setattr(now, "N_FOLDS", 1)
    now.letters_by_score.cache_clear()
    ((centroid, score, *_),), own = now.letters_by_score()
    now.letters_by_score.cache_clear()
    assert own.shape == (1, 21) and 0 < own.min() < own.max() < 1
    stored = load("law2017-table1-letters")
    assert centroid == pytest.approx(stored["units"][1]["values"]["accuracy"])
    assert stored["units"][1]["unit"]["row"] == "MLCA (a)"
    by_score = load("law2017-table3-letters")["units"][0]["values"]
    assert score == pytest.approx(by_score["accuracy1.2"])
