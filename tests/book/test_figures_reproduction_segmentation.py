"""The tables and the figure of the reproduction of segmentation show what was measured."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from numpy.testing import assert_allclose
from scipy.stats import ttest_1samp

from book.figures.reproduction import segmentation as demo
from book.reproduction import segmentation_cuts as cuts

pytestmark = pytest.mark.book


@pytest.fixture
def stored(monkeypatch):
    """Put made-up results in the place of the stored ones."""

    def store(summary, units=()):
        result = {"summary": summary, "units": units} if summary or units else None
        monkeypatch.setattr(demo, "load", lambda name: result)
        monkeypatch.setattr(demo, "age_note", lambda name: f"old: {name}" if result else "")

    return store


def test_losses_have_standard_errors_and_no_verdict(stored):
    def cell(mean):
        return {"mean": mean, "sd": 0.02, "median": mean, "n": 4}

    key = "horses_delta"
    stored(
        {
            "multivariate MLCA": {key: cell(1.22), f"{key}_spectral": cell(1.9)},
            "LMNN": {key: cell(1.4), f"{key}_spectral": cell(1.66)},
            "Ncuts": {key: cell(0.4)},
            "one segment": {key: cell(1.0)},
        }
    )
    header, rows, note = demo.losses("law2016-table4", key)
    assert note.startswith("No verdict. Changed data: 328 Horses")
    assert "Lajugie et al. is not run: run apart, on a part of the pixels" in note
    assert note.endswith("old: law2016-table4")
    assert header == ["", "paper", "ours", "spectral step"]
    found = {row: cells for row, *cells in rows}
    assert found["multivariate MLCA"] == ["1.20 ± 0.02", "1.22 ± 0.01 (4)", "1.90 ± 0.01 (4)"]
    assert found["LMNN"] == ["1.65 ± 0.02", "1.40 ± 0.01 (4)", "1.66 ± 0.01 (4)"]
    assert found["Ncuts"][1:] == ["0.40 ± 0.01 (4)", "–"]
    assert found["Lajugie et al."][1:] == ["–", "–"]
    assert found["one segment"] == ["–", "1.00 ± 0.01 (4)", "–"]


def test_losses_without_a_stored_run(stored):
    stored(None)
    _, rows, _ = demo.losses("law2016-table5", "index")
    assert rows[0] == ["MLCA", "0.902", "–", "–"]


def test_paired_test_is_that_of_scipy():
    differences = np.random.default_rng(0).normal(0.3, size=20)
    found = demo.paired_test(differences.mean(), differences.std(ddof=1), 20)
    assert_allclose(found, ttest_1samp(differences, 0), rtol=1e-12)


def test_paired_tests_have_a_row_for_each_split(stored):
    def unit(row, seed):
        about = {"row": row, "seed": seed, "n_test": 16}
        return {"unit": about, "values": {"loss": -0.1, "jaccard": 0.0, "loss_sd": 0.2}}

    stored({}, [unit(row, seed) for seed in (0, 1) for row in (cuts.LEARNED, cuts.DIFFERENCE)])
    header, rows, note = demo.paired_tests()
    assert note == "old: lajugie2014-table3"
    assert header == ["seed", "learned − grid", "σ", "t", "p"]
    assert rows == [[seed, "-0.10", "0.20", "-2.0", "6e-02"] for seed in ("0", "1")]
    stored({})
    assert demo.paired_tests()[1] == []


def test_cuts_of_horses_stand_beside_the_paper(monkeypatch):
    def cell(mean):
        return {"mean": mean, "sd": 0.2, "median": mean, "n": 4}

    made = {
        "lajugie2014-table3": {"learned metric": {"loss": cell(1.4)}},
        "lajugie2014-table3-superpixels": {
            "learned metric": {"loss": cell(1.3)},
            "true classes of the patches": {"loss": cell(0.4)},
        },
    }
    monkeypatch.setattr(demo, "load", lambda name: {"summary": made[name]})
    monkeypatch.setattr(demo, "age_note", lambda *names: f"old: {' '.join(names)}")
    header, rows, note = demo.cuts_of_horses("loss")
    assert header == ["", "paper", "12 pixels high", "superpixels"]
    found = {row: cells for row, *cells in rows}
    assert found["learned metric"] == ["1.54", "1.40 ± 0.10 (4)", "1.30 ± 0.10 (4)"]
    assert found["learned − grid search"] == ["1.54 less 1.77", "–", "–"]
    assert found["true classes of the patches"] == ["–", "–", "0.40 ± 0.10 (4)"]
    assert note.endswith("old: lajugie2014-table3 lajugie2014-table3-superpixels")
    assert note.count("No verdict. Changed data") == 2


def test_single_horses_are_sorted_by_their_gain(stored):
    def unit(i):
        values = {"grid_jaccard": 0.5, "learned_jaccard": 0.5 - (i % 20) / 100, "true_jaccard": 0.1}
        return {"unit": {"row": f"horse{i:03d}", "seed": 0}, "values": values if i < 20 else {}}

    mean = {"unit": {"row": "all test images", "seed": 0}, "values": unit(3)["values"]}
    stored({}, [*(unit(i) for i in range(25)), mean])
    assert [name for name, _ in demo.gains_by_image()] == [
        f"horse{i:03d}" for i in range(19, -1, -1)
    ]
    _, rows, note = demo.single_horses()
    assert note == "old: lajugie2014-figure2" and len(rows) == 9
    assert rows[0] == ["1 of 20", "horse019", "0.50", "0.31", "0.10"]
    assert rows[-1][:2] == ["20 of 20", "horse000"]
    stored({})
    assert demo.single_horses()[1] == []


def test_by_split_follows_the_seeds_and_the_columns(stored):
    def unit(row, seed, **values):
        return {"unit": {"row": row, "seed": seed}, "values": values}

    stored({}, [unit("a", 1, x=2.0), unit("a", 0, x=1.0), unit("a", 0, y=9.0), unit("b", 0, x=5.0)])
    assert demo.by_split("any", "a", "x").tolist() == [1.0, 2.0]
    assert demo.by_split("any", "a", "y").tolist() == [9.0]


def test_printed_losses_of_images():
    printed = demo.printed_deltas()
    assert len(printed) == 20 and min(printed) == 1.20 and max(printed) == 1.81


def test_collages_show_image_truth_and_two_segmentations():
    pytest.importorskip("skimage")
    figure = demo.collages()
    assert [ax.get_title() for ax in figure.axes[:4]] == [
        "collage",
        "truth",
        "Euclidean",
        "learned",
    ]
    labels = [ax.get_xlabel() for ax in figure.axes]
    assert labels[:2] == ["", ""] and all(text.startswith("Rand 0.") for text in labels[2:4])
    image, truth = (ax.images[0].get_array() for ax in figure.axes[:2])
    assert image.shape == truth.shape == (96, 96)
    # the truth shown belongs to the collage shown: its regions differ in their texture
    spread = [np.abs(np.diff(image, axis=1))[truth[:, 1:] == c].mean() for c in range(3)]
    assert len(np.unique(truth)) == 3 and max(spread) > 1.2 * min(spread)
