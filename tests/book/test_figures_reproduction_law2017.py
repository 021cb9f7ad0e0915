"""Tables and figures of the reproduction of Law 2017 show what is stored."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")

from book.figures.reproduction import law2017 as demo
from book.reproduction import find, law2017, load
from book.reproduction.bag_baselines import DISSIMILARITIES
from book.reproduction.experiment import parse
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


def test_paper_and_stand_ins_side_by_side(store):
    cells = {"accuracy": [10.0, 20.0], "time": [3.0, 9.0]}
    folder = store("law2017-table1", {"MIML (b)": cells, "MIML (c)": {"accuracy": [7.0]}})
    store("law2017-table1-faces", {"MIMLCA (b)": {"accuracy": [50.0, 52.0]}})
    header, rows, note = demo.beside(1, "accuracy", results=folder)
    assert header == ["", "paper", "synthetic", "faces", "digits"]
    assert note.endswith(
        "(2026-05-01); rerun: `python book/reproduction run law2017-table1 law2017-table1-faces`"
    )
    by_row = {row[0]: row[1:] for row in rows}
    assert by_row["MIML (b)"] == ["56.1 ± 3.3", "15.0 ± 5.0 (2)", "–", "–"]
    assert by_row["MIML (c)"] == ["52.6 ± 13.0", "7.0 (1)", "–", "–"]  # one fold has no spread
    assert by_row["MIMLCA (b)"] == ["65.3 ± 3.7", "–", "51.0 ± 1.0 (2)", "–"]
    assert by_row.keys() == set(PRINTED1)  # mended rows have no number anywhere
    times = {row[0]: row[1:] for row in demo.beside(1, "time", results=folder)[1]}
    assert times["MIML (b)"] == ["109", "6", "–", "–"]  # a ratio: the median
    assert [row[0] for row in demo.beside(3, "accuracy0.5", results=folder)[1]] == [*METHODS3]


def test_descriptions_say_what_is_run():
    text = demo.stand_ins()
    assert text.count("- **") == 3 and "750 components, MildML 60" in text
    assert text.endswith("run on the first folds only: MIML (1), MIML mended (3), MildML (3).")
    assert law2017.PROTOCOL in text
    text = demo.annotated_sets()
    assert text.count("- **") == 2 and text.count("c = r = 20") == 1 and "Reduced" in text


def test_annotation_and_bag_classifiers_side_by_side(store):
    folder = store("law2017-table4-corel5k-500", {"MIMLCA": {"ap20": [0.4, 0.5]}})
    header, rows, _ = demo.beside(4, "ap20", results=folder)
    assert header == ["", "paper", "birds", "Corel5K, 500"]
    assert rows[0] == ["MIMLCA", "0.575", "–", "0.450 ± 0.050 (2)"]
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
    header, lines, _ = demo.claims(1, "accuracy", results=store("law2017-table1", ROWS))
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
    assert demo.claims(1, "accuracy", results=folder)[1][0][2] == "open (+2.0)"


def test_verdicts_are_the_claims_in_words(store):
    first, second, _ = demo.verdicts(
        1, "accuracy", results=store("law2017-table1", ROWS)
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
    header, rows, _ = demo.instance_or_centroid(results=folder)
    assert header == ["", "paper", "synthetic", "faces", "digits"]
    assert rows[0] == ["MildML (b), accuracy", "-2.5", "–", "yes (+3.0)", "–"]
    assert rows[3] == ["MildML (c), precision", "+34.8", "–", "–", "–"]


def test_every_claim_that_the_paper_has_numbers_for_is_true_of_its_numbers():
    lines = demo.claims(1, "accuracy")[1] + demo.claims(4, "ap20")[1]
    assert len(lines) == 24
    for line in lines:
        assert line[1] == "–" or line[1].startswith("+")


def test_claims_of_table_4(store):
    rows = {"MIMLCA": {"ap20": [0.5, 0.6, 0.7]}, "MIML": {"ap20": [0.4, 0.51, 0.62]}}
    header, lines, _ = demo.claims(4, "ap20", results=store("law2017-table4-corel5k-500", rows))
    assert header == ["claim", "paper", "birds", "Corel5K, 500"]
    assert lines[0] == ["MIMLCA > MIML", "+0.113", "–", "yes (+0.090)"]


def test_best_score_less_the_nearest_centroid(store):
    """α = 0.5 has the highest mean, though another α is best in the first fold."""
    cells = {f"accuracy{a:g}": [60.0, 50.0, 50.0] for a in ALPHAS}
    cells["accuracy0.5"] = [58.0, 59.0, 60.0]
    store("law2017-table3-faces", {"linear MIMLCA (b)": cells})
    folder = store("law2017-table1-faces", {"MIMLCA (b)": {"accuracy": [60.0, 61.1, 61.9]}})
    header, rows, _ = demo.score_or_centroid(results=folder)
    assert header == ["", "paper", "synthetic", "faces", "digits"]
    assert rows[1] == ["MIMLCA (b)", "+22.4", "–", "no (-2.0)", "–"]
    assert rows[0][1:3] == ["+22.7", "–"]


def test_numbers_of_voters(store):
    cells = {f"ap{r}": [0.5, 0.5 + r / 100] for r in law2017.VOTERS}
    folder = store("law2017-table4", {"MIMLCA": cells, "M-C2B": {"ap20": [0.3]}})
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
    assert [ax.get_title() for ax in panels] == ["paper", "synthetic", "faces", "digits"]
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
    rows = demo.reject_option("digits")[1]
    numbers = {(row[0], row[1]): [int(cell) for cell in row[2:]] for row in rows}
    for scenario in ("(b)", "(c)"):
        named, wrong, accuracy = numbers[scenario, "none"]
        some, fewer, after = numbers[scenario, "1.1"]
        assert fewer < wrong / 2 and named - some <= 4 and abs(after - accuracy) <= 1


# --- what the page says of the stored results ---------------------------------------------------


def stored(name):
    result = load(name)
    if result is None:
        pytest.skip(f"{name} is not stored")
    return result["summary"]


def means(name, measure):
    return {row: c[measure]["mean"] for row, c in stored(name).items() if measure in c}


def test_what_is_said_of_table_1_on_synthetic_faces():
    accuracy = means("law2017-table1", "accuracy")
    order = ["MildML (b)", "Euclidean", "MIMLCA (c)", "MIMLCA (b)", "MLCA (a)"]
    assert sorted(order, key=lambda row: accuracy[row]) == order
    assert accuracy["MildML (b)"] < 25
    for measure in ("accuracy", "precision"):
        verdict = demo.verdicts(1, measure).splitlines()[0]
        assert "Holds" in verdict and "Reversed" not in verdict and "Open" not in verdict
    for better, worse in (("MLCA (a)", "MIMLCA (b)"), ("MIMLCA (b)", "MIMLCA (c)")):
        gap, known = (
            numbers[better] - numbers[worse]
            for numbers in (
                accuracy,
                {row: parse(n["accuracy"]).value for row, n in law2017.NUMBERS1.items()},
            )
        )
        assert 4.5 < gap / known < 5.5
    times = stored("law2017-table1")
    for s in "bc":
        ratio = times[f"MIML ({s})"]["time"]["median"] / law2017.NUMBERS1[f"MIML ({s})"]["time"]
        assert 0.6 < ratio < 1.6
        assert times[f"MIML mended ({s})"]["time"]["median"] > 10


def test_what_is_said_of_table_1_on_faces_and_digits():
    for data in ("faces", "digits"):
        accuracy = means(f"law2017-table1-{data}", "accuracy")
        scenarios = [accuracy[row] for row in ("MLCA (a)", "MIMLCA (b)", "MIMLCA (c)")]
        assert max(scenarios) - min(scenarios) < 2
        assert min(*scenarios, accuracy["Euclidean"], accuracy["MildML (b)"]) > 90
    faces, digits = (
        {line[0]: line[i].split()[0] for line in demo.claims(1, "accuracy")[1]} for i in (3, 4)
    )
    holds = {
        "MIMLCA (b) > MIML (b)",
        "MIMLCA (c) > MIML (c)",
        "MIMLCA (c) > MildML (c)",
    }
    assert {claim for claim, word in faces.items() if word != "open"} == holds
    assert {faces[claim] for claim in holds} == {"yes"}
    holds |= {"MIMLCA (c) > MIML (b)", "MIMLCA (b) > Euclidean", "MIMLCA (c) > Euclidean"}
    holds |= {"MIMLCA (b) > MIML mended (b)", "MIMLCA (c) > MIML mended (c)"}
    assert {claim for claim, word in digits.items() if word == "yes"} == holds
    assert digits["Euclidean > MildML (b)"] == "no"


def test_what_is_said_of_mended_miml():
    stored("law2017-table1")
    accuracy, precision = (
        {line[0]: [cell.split()[0] for cell in line[2:]] for line in demo.claims(1, measure)[1]}
        for measure in ("accuracy", "precision")
    )
    assert accuracy["MIMLCA (b) > MIML mended (b)"] == ["no", "open", "yes"]
    assert accuracy["MIMLCA (c) > MIML mended (c)"] == ["open", "open", "yes"]
    assert precision["MIMLCA (c) > MIML mended (c)"][0] == "yes"


def test_what_is_said_of_nuisance():
    accuracy = means("law2017-nuisance", "accuracy")
    for level in NUISANCES:
        learned = [accuracy[f"{row}, nuisance {level:g}"] for row in demo.NUISANCE_ROWS[1:]]
        assert learned == sorted(learned, reverse=True)
        euclidean = accuracy[f"Euclidean, nuisance {level:g}"]
        assert euclidean > learned[0] if level <= 2.5 else euclidean < learned[2]


def test_what_is_said_of_table_2():
    gains = {line[0]: line[2:] for line in demo.instance_or_centroid()[1]}
    for row in ("MildML (b), precision", "MildML (c), precision"):
        assert [cell.split()[0] for cell in gains[row]] == ["yes", "open", "yes"]
        assert "(+" in gains[row][1]
    for end in demo.STAND_INS.values():
        accuracy = means(f"law2017-table2{end}", "accuracy")
        assert accuracy["MildML (c)"] < accuracy["MildML (b)"]
    synthetic = means("law2017-table2", "accuracy")
    assert max(synthetic.values()) < 30
    assert synthetic["MIMLCA (b)"] < means("law2017-table1", "accuracy")["MIMLCA (b)"] / 2
    for data in ("faces", "digits"):
        accuracy = means(f"law2017-table2-{data}", "accuracy")
        best = max(value for row, value in accuracy.items() if row != "Euclidean")
        assert accuracy["Euclidean"] > best + (1 if data == "digits" else -0.5)
        centroid = means(f"law2017-table1-{data}", "precision")["Euclidean"]
        assert means(f"law2017-table2-{data}", "precision")["Euclidean"] > centroid


def test_what_is_said_of_table_3():
    for data, end in demo.STAND_INS.items():
        accuracy = means(f"law2017-table3{end}", "accuracy0.25")
        for kernel in ("linear", "χ²")[: 1 if data == "synthetic" else 2]:
            a, b, c = (accuracy[row] for row in METHODS3 if row.startswith(kernel))
            assert a > b > c
        if data != "synthetic":
            for row in METHODS3:
                if row.startswith("χ²"):
                    assert accuracy[row] > accuracy[row.replace("χ²", "linear")]
                line = [means(f"law2017-table3{end}", f"accuracy{x:g}")[row] for x in ALPHAS]
                assert max(line) - min(line) < 3


def test_equation_16_gains_nothing_on_the_stand_ins():
    stored("law2017-table3")
    for line in demo.score_or_centroid()[1]:
        assert float(line[1]) > 20
        assert all(cell.startswith(("no", "open")) for cell in line[2:])


def test_what_is_said_of_table_4():
    learned = ("MIMLCA", "MIML", "MIML mended", "MildML")
    for end in ("", "-corel5k-500"):
        precision = means(f"law2017-table4{end}", "ap20")
        assert precision["Citation-kNN (standardised)"] > max(precision[row] for row in learned)
        best = sorted(precision, key=lambda row: precision[row])[-2:]
        assert set(best) == {"MI-kernel", "MInD (meanmin)"}
    claims = {line[0]: line[1:] for line in demo.claims(4, "ap20")[1]}
    assert all(cell.startswith("open") for cell in claims["MIMLCA > MildML"][1:])
    paper, *ours = claims["MIMLCA > Citation-kNN (Euclidean)"]
    assert all(cell.startswith("yes") for cell in ours) and paper == "+0.062"
    assert abs(float(ours[1][5:-1]) - 0.062) < 0.01
    standardised = claims["MIMLCA > Citation-kNN (standardised)"][1:]
    assert all(cell.startswith("no") for cell in standardised)
    for line in demo.voters("law2017-table4-corel5k-500")[1]:
        numbers = [float(cell.split()[0]) for cell in line[1:]]
        assert max(numbers) == numbers[-1]
    for line in demo.voters()[1]:
        numbers = [float(cell.split()[0]) for cell in line[2:]]
        assert max(numbers) - min(numbers) < 0.03


def test_what_is_said_of_table_7():
    for end, data in (("", "faces"), ("-digits", "digits")):
        accuracy = means(f"law2017-table7{end}", "accuracy")
        ours = means(f"law2017-table1-{data}", "accuracy")["MIMLCA (b)"]
        good = ["MI-kernel (b)", *(f"MInD ({kind}) (b)" for kind in DISSIMILARITIES)]
        assert all(abs(accuracy[row] - ours) < 5 for row in good)
        for s in "bc":
            assert accuracy[f"C2B (Euclidean) ({s})"] > accuracy[f"M-C2B ({s})"] + 50
    assert accuracy["MInD (meanmin) (b)"] > ours and accuracy["Minimax MI-kernel (b)"] < 30


def test_stored_results_are_of_the_experiments_as_declared():
    for name in [experiment.id for experiment in law2017.EXPERIMENTS]:
        result = load(name)
        if result is None:
            continue
        units = [line["unit"] for line in result["units"]]
        assert units == json.loads(json.dumps(find(name).units("full"))), name


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
    monkeypatch.setattr(demo, "N_FOLDS", 1)
    demo.reject_runs.cache_clear()
    runs = demo.reject_runs("digits")
    demo.reject_runs.cache_clear()
    assert all(runs[x, 1.0][0, 0] < runs[x, None][0, 0] for x in "bc")
    assert all(runs[x, 1.0][0, 1] < runs[x, None][0, 1] for x in "bc")


def test_voting_rules_differ_in_citers_and_ties(monkeypatch):
    if find_spec("miml") is None:
        pytest.skip("mimllearning is not installed")
    monkeypatch.setattr(demo, "N_FOLDS", 1)
    demo.vote_runs.cache_clear()
    runs = demo.vote_runs()
    rows = demo.vote_rules()[1]
    demo.vote_runs.cache_clear()
    stored = load("law2017-table4")["units"]
    first = {line["unit"]["row"]: line["values"] for line in stored if line["unit"]["seed"] == 0}
    assert runs["this page's", "MIMLCA"][0] == pytest.approx(first["MIMLCA"]["ap20"], abs=0.01)
    assert runs["the authors'", "MIMLCA"][0] != runs["this page's", "MIMLCA"][0]
    assert [row[0] for row in rows] == ["this page's", "the authors'"]


def test_a_single_digit_is_no_bag_of_many_to_the_minimax_kernel():
    sizes = (0, 1, 1, 1, 1, 1), BAG_SIZE_COUNTS
    many, paper = (demo.minimax_accuracy(counts, 2) for counts in sizes)
    assert many.max() < 0.5 < paper.min()


def test_synthetic_faces_have_many_small_categories():
    sizes, share = demo.training_sizes("synthetic")
    assert sizes.min() == 1 and sizes.max() > 500
    assert share == pytest.approx(1000 / sizes.sum())


def test_faces_have_sizes_about_equal_and_many_directions():
    sizes, share = demo.training_sizes("faces")
    assert len(sizes) == 40 and sizes.max() == 10
    assert share == pytest.approx(100 / sizes.sum())


def test_metrics_of_m_c2b_go_to_a_single_direction():
    shares = demo.class_to_bag_shares(3, 500)
    assert shares.shape == (3,) and np.all((shares > 0.9) & (shares <= 1 + 1e-12))
