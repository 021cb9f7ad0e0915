"""The figures of the reproduction of Komodakis 2011 draw what the library computes."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from book.figures.reproduction import komodakis2011 as demo
from book.reproduction import komodakis2011_distances as distances
from book.reproduction import komodakis2011_synthetic as synthetic
from book.reproduction.komodakis2011_images import VIEWS
from book.reproduction.views import KINDS
from mlbook.partitions import f_measure

pytestmark = pytest.mark.book


def moments(values):
    sd = float(np.std(values, ddof=min(1, len(values) - 1)))
    return {"mean": float(np.mean(values)), "sd": sd, "n": len(values)}


@pytest.fixture
def stored(monkeypatch):
    """Results to be found instead of the stored ones: id to rows to keys to values."""
    results = {}

    def load(name):
        table = results.get(name.removeprefix("komodakis2011-"))
        if table is None:
            return None
        units = [
            {"unit": {"row": row, "seed": seed}, "values": {key: value}}
            for row, cells in table.items()
            for key, values in cells.items()
            for seed, value in enumerate(values)
        ]
        summary = {
            row: {key: moments(values) for key, values in cells.items()}
            for row, cells in table.items()
        }
        return {"summary": summary, "units": units}

    monkeypatch.setattr(demo, "load", load)
    monkeypatch.setattr(demo, "age_note", lambda *names: f"old: {len(names)}")
    return results


def test_objective_paths_start_at_one(stored):
    stored["figure2a"] = {"objective": {f"after{i}": [0.4, 0.6] for i in synthetic.ITERATIONS}}
    (line,) = demo.objective_paths().axes[0].lines
    assert_allclose(line.get_ydata(), [1, *[0.5] * len(synthetic.ITERATIONS)])
    stored["figure6b"] = {"objective": {f"after{i}": [0.3] for i in synthetic.ITERATIONS}}
    assert [line.get_label() for line in demo.objective_paths().axes[0].lines] == [
        "Figure 2(a)",
        "15 scenes",
    ]


def test_f_against_rho_has_a_line_for_each_distance(stored):
    stored["figure2"] = {
        f"{name}, ρ = {rho}": {"f": [i / 4, i / 4]}
        for i, name in enumerate(synthetic.DISTANCES)
        for rho in synthetic.RHOS
    }
    ax = demo.f_against_rho().axes[0]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == list(synthetic.DISTANCES)
    heights = np.array([c.lines[0].get_ydata() for c in ax.containers], dtype=float)
    assert_allclose(heights, np.arange(3)[:, None] / 4 * np.ones(5))


def test_without_results_figures_are_empty_and_verdicts_open(stored):
    for draw in (demo.objective_paths, demo.f_against_rho, demo.neighbours):
        assert isinstance(draw(), Figure)
    header, rows, _ = demo.verdicts()
    assert all(len(row) == len(header) for row in rows)
    assert {row[3] for row in rows} == {"–"}
    assert demo.order(demo.SCENES_RUN, "learned", distances.SVM, "nn") is None
    header, rows, _ = demo.accuracies(demo.SCENES_RUN)
    assert all(len(row) == len(header) for row in rows)
    assert demo.exemplars().rows == []


def test_verdicts_are_judged_by_the_differences_of_the_splits(stored):
    high, low, mixed = [0.9, 0.8, 0.85], [0.85, 0.7, 0.8], [0.84, 0.9, 0.8]
    stored["scenes"] = {
        "learned": {"nn": high, "accuracy": high},
        distances.SINGLE: {"nn": [1.0] * 3},
        distances.SVM: {"nn": mixed, "accuracy": low},
    }
    stored["keel-textures"] = {
        "learned": {"nn": high},
        "learned, with noise": {"nn": high, "noise": [0.01, 0.02, 0.03]},
        distances.AVERAGE: {"nn": high},
        f"{distances.AVERAGE}, with noise": {"nn": low},
        distances.ONE_KIND: {"nn": low},
    }
    header, rows, _ = demo.verdicts()
    assert all(len(row) == len(header) for row in rows)
    found = {row[0]: row[1:] for row in rows}
    assert found["neighbours: learned, best single"][1:] == ["85.0 < 100.0", "–"]
    assert found["neighbours: learned, average"][1:] == ["–", "85.0 ≈ 85.0"]
    assert found["neighbours: learned, structured SVM"][1] == "85.0 ≈ 84.7"
    assert found["clusters: learned, structured SVM"] == ["63 > 52", "85.0 > 78.3", "–"]
    assert found["neighbours: four distances, one per view"][2] == "85.0 > 78.3"
    assert found["neighbours: average without, with noise"][2] == "85.0 > 78.3"
    assert found["neighbours: learned without, with noise"][2] == "85.0 ≈ 85.0"
    assert found["weight of the noise views"] == ["none", "", "2.0"]


def test_a_difference_below_half_a_percent_point_does_not_count(stored):
    run = demo.SCENES_RUN
    stored["scenes"] = {"learned": {"nn": [0.904, 0.804]}, distances.SVM: {"nn": [0.9, 0.8]}}
    assert demo.order(run, "learned", distances.SVM, "nn") == 0
    stored["scenes"]["learned"]["nn"] = [0.906, 0.806]
    assert demo.order(run, "learned", distances.SVM, "nn") == 1
    assert demo.order(run, distances.SVM, "learned", "nn") == -1


def test_a_gap_is_the_mean_difference_in_percent_points(stored):
    stored["scenes"] = {"learned": {"nn": [0.5, 0.7]}, distances.SVM: {"nn": [0.4, 0.4]}}
    gap = demo.gap(demo.SCENES_RUN, "learned", distances.SVM)
    assert gap.mean == pytest.approx(20) and gap.error == pytest.approx(10) and gap.n == 2


def test_accuracies_have_the_paper_in_brackets(stored):
    stored["scenes"] = {
        "learned": {"nn": [0.6, 0.7], "one_to_one": [0.5, 0.5], "clusters": [11, 13]},
        distances.SINGLE: {"nn": [0.6, 0.6]},
    }
    header, rows, note = demo.accuracies(demo.SCENES_RUN, ["learned", distances.SINGLE])
    assert header[0] == "in percent, 2 splits"
    assert rows[0][1:3] == ["65.0 ± 5.0 (paper: 70.2)", "50.0 ± 0.0 (paper: 63)"]
    assert rows[0][3:] == ["–", "12.0 ± 1.0", "– (paper: 63)"]
    assert rows[1][1] == "60.0 ± 0.0 (paper: at most 61)" and note == "old: 1"


def test_weights_are_drawn_as_percentages(stored):
    stored["figure6a"] = {
        view: {kind: [0.03125 if view != "HOG" else 0.2] for kind in KINDS} for view in VIEWS
    }
    ax = demo.weights("komodakis2011-figure6a").axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(VIEWS)
    assert [text.get_text() for text in ax.texts[:8]] == ["3%"] * 4 + ["20%"] * 4


def test_neighbours_has_the_paper_where_it_has_a_number(stored):
    stored["scenes"] = {row: {"nn": [0.5, 0.6]} for row in demo.RIVALS}
    ax = demo.neighbours().axes[0]
    marks = {line.get_label(): line for line in ax.lines if "paper" in str(line.get_label())}
    (paper,) = marks.values()
    assert_allclose(paper.get_xdata(), [70.2, 62.1, 63.4])
    assert [demo.RIVALS[r] for r in paper.get_ydata()] == ["learned", distances.SVM, distances.MKL]
    ours = np.array(ax.containers[0].lines[0].get_xdata(), dtype=float)
    assert_allclose(ours, [55] * 6)


def test_exemplars_are_named_and_shown_to_those_who_have_them(stored, tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    stored["figure7"] = {
        "Coast": {"exemplars": [2], "image": [4], "size": [30], "right": [0.5]},
        "Store": {"exemplars": [0]},
    }
    assert demo.exemplars().rows == [["Coast/image_0004", "2", "30", "50%"]]
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    assert demo.exemplar_images() is None
    for name in ("Coast", "Store"):
        (tmp_path / "scenes15" / name).mkdir(parents=True)
        grey = np.full((6, 9), 70, dtype=np.uint8)
        image.fromarray(grey).save(tmp_path / "scenes15" / name / "image_0004.jpg")
    monkeypatch.setenv("MLBOOK_DATA", str(tmp_path))
    axes = demo.exemplar_images().axes
    assert [ax.get_title() for ax in axes] == ["Coast", "", "", ""]
    assert axes[0].images[0].get_array().shape == (6, 9) and not axes[1].images


def test_standardizing_fails_by_the_noisy_features():
    noisy, clean = (demo.standardized(noisy=noisy, n_seeds=4) for noisy in (True, False))
    assert noisy.mean() < 0.8 < 0.9 < clean.mean()


def test_weights_and_clusters_tell_the_story():
    weights, points = demo.weights_and_clusters().axes
    heights = np.array([bar.get_height() for bar in weights.patches])
    assert len(heights) == 100 and heights[50:].sum() < 0.01 * heights.sum()
    assert points.get_title() == "10 clusters found, F = 1.00"
    assert len(points.collections[-1].get_offsets()) == 10
    ratio, of_weights, of_distance = demo.noisy_shares()
    assert of_weights == pytest.approx(heights[50:].sum() / heights.sum())
    assert ratio > 10 and of_weights <= of_distance < 0.01


@pytest.mark.parametrize(
    "distance, least, most", [("learned", 0.95, 1), ("squared Euclidean", 0, 0.5)]
)
def test_clustering_says_what_it_found(distance, least, most):
    figure, caption = demo.clustering_at(0.5, distance)
    found, wanted, score = (float(x) for x in re.findall(r"(\d+(?:\.\d+)?)[,.]", caption)[-3:])
    assert least <= score <= most and wanted == 6
    shares = np.array([bar.get_height() for bar in figure.axes[1].patches])
    assert shares.sum() == pytest.approx(1)
    assert (shares[30:].sum() < 0.05) == (distance == "learned")
    model, X, y = demo._learned(0.5)
    if distance == "learned":
        labels = model.predict(X)
        assert found == labels.max() + 1 and score == round(f_measure(y, labels), 2)
