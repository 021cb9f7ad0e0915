"""The figures of the reproduction of Komodakis 2011 draw what the library computes."""

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from book.figures.reproduction import komodakis2011 as demo
from book.reproduction import komodakis2011
from book.reproduction import komodakis2011_distances as distances
from book.reproduction import komodakis2011_synthetic as synthetic
from mlbook.partitions import f_measure

pytestmark = pytest.mark.book


def moments(values):
    return {"mean": float(np.mean(values)), "sd": float(np.std(values, ddof=1)), "n": len(values)}


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


def test_objective_path_starts_at_one(stored):
    stored["figure2a"] = {"objective": {f"after{i}": [0.4, 0.6] for i in synthetic.ITERATIONS}}
    (line,) = demo.objective_path().axes[0].lines
    assert_allclose(line.get_ydata(), [1, *[0.5] * len(synthetic.ITERATIONS)])


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


def test_figures_without_results_are_empty_and_orders_open(stored):
    assert isinstance(demo.objective_path(), Figure) and isinstance(demo.f_against_rho(), Figure)
    header, rows, _ = demo.orders()
    assert all(len(row) == len(header) for row in rows)
    assert {row[2] for row in rows} == {"–"}
    assert demo.order("learned", distances.SVM, "nn") is None


def test_orders_are_judged_by_the_differences_of_the_splits(stored):
    high, low, mixed = [0.9, 0.8, 0.85], [0.85, 0.7, 0.8], [0.84, 0.9, 0.8]
    digits = {"accuracy": high, "nn": high, "noise": [0.01] * 3}
    stored["digits"] = {
        "learned": digits,
        "learned, with noise": digits,
        distances.SVM: {"accuracy": low, "nn": mixed},
        "best single distance": {"nn": [1.0] * 3},
        "average distance": {"nn": low},
        "average distance, with noise": {"nn": low},
        distances.ONE_KIND: {"nn": low},
    }
    header, rows, _ = demo.orders()
    assert all(len(row) == len(header) for row in rows)
    found = {row[0]: row[2:] for row in rows}
    assert found["clusters: learned, SVM"] == ["85.0 > 78.3", "–", "–"]
    assert found["neighbours: learned, SVM"][0] == "85.0 ≈ 84.7"
    assert found["neighbours: learned, best single"][0] == "85.0 < 100.0"
    assert found["neighbours: four distances, one per view"][0] == "85.0 > 78.3"
    assert found["neighbours: average without, with noise features"][0] == "78.3 ≈ 78.3"
    same = found["neighbours: learned without, with noise features"]
    assert same == ["85.0 ≈ 85.0", "", ""]
    assert found["weight of noise features"] == ["1.0", "", ""]
    stored["textures"] = {
        "learned, upright": {"accuracy": low, "rot": [0.4, 0.5, 0.6]},
        "learned, turned": {"accuracy": high, "rot": [0.8, 0.9, 0.7]},
        f"{distances.SVM}, upright": {"accuracy": high},
        f"{distances.SVM}, turned": {"accuracy": low},
    }
    found = {row[0]: row[2:] for row in demo.orders()[1]}
    assert found["clusters: learned, SVM"] == ["85.0 > 78.3", "78.3 < 85.0", "85.0 > 78.3"]
    assert found["weight of rot- features"] == ["", "50", "80"]


def test_a_difference_below_half_a_percent_point_does_not_count(stored):
    stored["digits"] = {"learned": {"nn": [0.904, 0.804]}, distances.SVM: {"nn": [0.9, 0.8]}}
    assert demo.order("learned", distances.SVM, "nn") == 0
    stored["digits"]["learned"]["nn"] = [0.906, 0.806]
    assert demo.order("learned", distances.SVM, "nn") == 1


def test_standardizing_fails_by_the_noisy_features():
    noisy, clean = (demo.standardized(noisy=noisy, n_seeds=4) for noisy in (True, False))
    assert noisy.mean() < 0.8 < 0.9 < clean.mean()


def test_image_sets_show_the_paper_and_ours_where_run(stored):
    stored["uiuc"] = {distances.SVM: {"accuracy": [0.7, 0.8], "nn": [0.9, 0.9]}}
    header, rows, note = demo.image_sets()
    assert note == "old: 3"
    assert all(len(row) == len(header) for row in rows)
    assert ["outex", "learned", "1.00", "–", "–", "–"] in rows
    assert [
        "uiuc",
        distances.SVM,
        "0.74",
        "0.750 ± 0.050 (2)",
        "0.821",
        "0.900 ± 0.000 (2)",
    ] in rows
    assert ["scene15", komodakis2011.MKL, "–", "–", "0.634", "–"] in rows


def test_weights_and_clusters_tell_the_story():
    weights, points = demo.weights_and_clusters().axes
    heights = np.array([bar.get_height() for bar in weights.patches])
    assert len(heights) == 100 and heights[50:].sum() < 0.01 * heights.sum()
    assert points.get_title() == "10 clusters found, F = 1.00"
    assert len(points.collections[-1].get_offsets()) == 10
    ratio, of_weights, of_distance = demo.noisy_shares()
    assert of_weights == pytest.approx(heights[50:].sum() / heights.sum())
    assert ratio > 10 and of_weights < of_distance < 0.01


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


def test_heat_maps(monkeypatch):
    calls = []

    def split(*arguments, **options):
        calls.append((arguments, options))

    monkeypatch.setattr(distances, "split", split)
    monkeypatch.setattr(
        distances,
        "learned_shares",
        lambda data: np.repeat(0.25, 4 * (12 if len(calls) == 1 else 6)),
    )
    ax = demo.digit_weights().axes[0]
    assert len(ax.texts) == 48 and ax.texts[0].get_text() == "25%"
    assert [label.get_text() for label in ax.get_yticklabels()][6] == "noise Fourier"
    upright, turned = demo.texture_weights().axes
    assert (upright.get_title(), turned.get_title()) == ("upright", "turned")
    assert [options.get("rotate") for _, options in calls] == [None, False, True]


def test_patches():
    pytest.importorskip("skimage")
    axes = demo.patches().axes
    assert len(axes) == 18 and axes[0].get_ylabel() == "brick"
