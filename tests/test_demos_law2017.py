"""Tables and figures of the reproduction of Law 2017 show what is stored."""

import json

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")

from mlbook.demos import law2017 as demo
from mlbook.experiments import find, law2017, load
from mlbook.experiments._runs import summarize

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
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
        return str(tmp_path)

    return write


def test_paper_and_stand_ins_side_by_side(store):
    folder = store("law2017-table1", {"MIML (b)": {"accuracy": [10.0, 20.0], "time": [3.0, 9.0]}})
    store("law2017-table1-faces", {"MIMLCA (b)": {"accuracy": [50.0, 52.0]}})
    header, rows = demo.beside(1, "accuracy", results=folder)
    assert header == ["", "paper", "synthetic", "faces", "digits"]
    by_row = {row[0]: row[1:] for row in rows}
    assert by_row["MIML (b)"] == ["56.1 ± 3.3", "15.0 ± 7.1", "–", "–"]
    assert by_row["MIMLCA (b)"] == ["65.3 ± 3.7", "–", "51.0 ± 1.4", "–"]
    assert by_row.keys() == set(law2017.PRINTED1)  # mended rows have no number anywhere
    times = {row[0]: row[1:] for row in demo.beside(1, "time", results=folder)[1]}
    assert times["MIML (b)"] == ["109", "6", "–", "–"]  # a ratio: the median
    assert [row[0] for row in demo.beside(3, "accuracy0.5", results=folder)[1]] == [
        *law2017.METHODS3
    ]


def test_annotation_and_bag_classifiers_side_by_side(store):
    folder = store("law2017-table4-corel5k-500", {"MIMLCA": {"ap20": [0.4, 0.5]}})
    header, rows = demo.beside(4, "ap20", results=folder)
    assert header == ["", "paper", "birds", "Corel5K, 500"]
    assert rows[0] == ["MIMLCA", "0.575", "–", "0.450 ± 0.071"]
    assert [row[0] for row in rows] == list(law2017.PRINTED4)
    header, rows = demo.beside(7, "precision", results=folder)
    assert header == ["", "paper", "faces", "digits"] and rows[0][1] == "7.2 ± 2.5"


def test_claims_are_judged_fold_by_fold(store):
    """A difference that is the same in every fold is clear, however the folds differ."""
    level = [50.0, 60.0, 90.0, 70.0]
    rows = {
        "MLCA (a)": {"accuracy": [x + 1 + 0.2 * i for i, x in enumerate(level)]},
        "MIMLCA (b)": {"accuracy": level},
        "MIMLCA (c)": {"accuracy": [51.0, 59.0, 92.0, 68.0]},
        "Euclidean": {"accuracy": [x + 5 + 0.2 * i for i, x in enumerate(level)]},
        "MIML (b)": {"accuracy": [40.0]},
        "MIML mended (b)": {"accuracy": [52.0, 63.0]},
    }
    header, lines = demo.claims(1, "accuracy", results=store("law2017-table1", rows))
    found = {line[0]: line[1:] for line in lines}
    assert header == ["claim", "paper", "synthetic", "faces", "digits"]
    assert found["MLCA (a) > MIMLCA (b)"] == ["+1.5", "yes (+1.3)", "–", "–"]
    assert found["MIMLCA (b) > MIMLCA (c)"][1] == "open (+0.0)"
    assert found["MIMLCA (b) > Euclidean"] == ["+8.3", "no (-5.3)", "–", "–"]
    assert found["MIMLCA (b) > MIML (b)"][1] == "+10.0 (one fold)"
    assert found["MIMLCA (b) > MIML mended (b)"][:2] == ["–", "-2.5 (two folds)"]
    assert found["MIMLCA (b) > MildML (b)"][1] == "–"


def test_every_claim_that_the_paper_has_numbers_for_is_true_of_its_numbers():
    lines = demo.claims(1, "accuracy")[1] + demo.claims(4, "ap20")[1]
    assert len(lines) == 21
    for line in lines:
        assert line[1] == "–" or line[1].startswith("+")


def test_claims_of_table_4(store):
    rows = {"MIMLCA": {"ap20": [0.5, 0.6, 0.7]}, "MIML": {"ap20": [0.4, 0.51, 0.62]}}
    header, lines = demo.claims(4, "ap20", results=store("law2017-table4-corel5k-500", rows))
    assert header == ["claim", "paper", "birds", "Corel5K, 500"]
    assert lines[0] == ["MIMLCA > MIML", "+0.113", "–", "yes (+0.090)"]


def test_numbers_of_voters(store):
    cells = {f"ap{r}": [0.5, 0.5 + r / 100] for r in law2017.VOTERS}
    folder = store("law2017-table4", {"MIMLCA": cells, "M-C2B": {"ap20": [0.3]}})
    header, rows = demo.voters(results=folder)
    assert header == ["", "c = r = 5", "c = r = 10", "c = r = 15", "c = r = 20"]
    assert rows == [["MIMLCA", "0.525 ± 0.035", "0.550 ± 0.071", "0.575 ± 0.106", "0.600 ± 0.141"]]


def test_alpha_curves_show_paper_and_ours(store):
    cells = {f"accuracy{a:g}": [100 * a, 100 * a] for a in law2017.ALPHAS}
    folder = store("law2017-table3", {"linear MIMLCA (b)": cells})
    paper, ours = demo.alpha_curves(results=folder).axes
    assert [len(ax.lines) for ax in (paper, ours)] == [3, 1]
    assert ours.lines[0].get_ydata().tolist() == [100 * a for a in law2017.ALPHAS]
    assert paper.lines[2].get_ydata()[0] == 69.9
    assert len(demo.alpha_curves(results="nowhere").axes[1].lines) == 0


def test_nuisance_curves(store):
    rows = {f"Euclidean, nuisance {x:g}": {"accuracy": [x, x]} for x in law2017.NUISANCES}
    (ax,) = demo.nuisance_curves(results=store("law2017-nuisance", rows)).axes
    assert ax.containers[0].lines[0].get_ydata().tolist() == list(law2017.NUISANCES)
    assert len(ax.containers) == 4


# --- what the page says of the stored results ---------------------------------------------------


def stored(name):
    result = load(name)
    if result is None:
        pytest.skip(f"{name} is not stored")
    return result["summary"]


def test_mimlca_is_at_least_twenty_times_faster_than_miml():
    summary = stored("law2017-table1")
    assert all(summary[f"MIML ({s})"]["time"]["median"] >= 20 for s in "bc")


def test_stored_results_are_of_the_experiments_as_declared():
    for name in [f"law2017-table{t}{end}" for t in (1, 2, 3) for end in demo.STAND_INS.values()]:
        result = load(name)
        if result is None:
            continue
        units = [line["unit"] for line in result["units"]]
        assert units == json.loads(json.dumps(find(name).units("full"))), name
