"""The figures of the reproduction of Lajugie 2014 show what the library computes."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from numpy.testing import assert_allclose

from book.figures.reproduction import lajugie2014 as demo
from book.reproduction import Table
from book.reproduction import lajugie2014_sequences as sequences

pytestmark = pytest.mark.book


def test_curves_are_the_stored_means(monkeypatch):
    keys = [sequences.fraction_key(f) for f in sequences.FRACTIONS]
    summary = {
        row: {key: {"mean": i + 1 / (j + 1), "sd": 0.1, "n": 4} for j, key in enumerate(keys)}
        for i, row in enumerate(list(demo.CURVES)[:-1])
    }
    monkeypatch.setattr(demo, "load", lambda name: {"summary": summary})
    figure = demo.curves()
    lines = [container.lines[0] for container in figure.axes[0].containers]
    assert len(lines) == 5  # nothing is stored of the last
    for i, line in enumerate(lines):
        assert_allclose(np.asarray(line.get_xdata(), dtype=float), sequences.FRACTIONS)
        assert_allclose(np.asarray(line.get_ydata(), dtype=float), i + 1 / np.arange(1, 6))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == list(demo.CURVES.values())[:-1]


def test_curves_without_results(monkeypatch):
    monkeypatch.setattr(demo, "load", lambda name: None)
    figure = demo.curves()
    assert not figure.axes[0].containers and not figure.legends


def test_sequences_show_the_change_points_of_the_relevant_columns():
    axes = demo.sequences().axes
    assert len(axes) == 4
    places = [[line.get_xdata()[0] for line in ax.lines[1:]] for ax in axes]
    assert places[0] == places[3] and len(places[0]) >= 5
    x = axes[0].lines[0].get_ydata()
    cut = [int(place + 0.5) for place in places[0]]
    parts = np.split(x, cut)
    assert max(np.std(part) for part in parts) < 1.4 < np.std(x)


def test_table2_merges_the_verdicts_of_both_splits(monkeypatch):
    made = {"iris_same": ["a", "1", "2", "differs"], "iris_half": ["a", "1", "1", "matches"]}
    made |= {
        "wine_same": ["b", "2 ± 1", "2", "matches"],
        "wine_half": ["b", "2 ± 1", "3", "matches"],
    }
    made |= {"libras_same": ["c", "–", "2", ""], "libras_half": ["c", "–", "3", ""]}
    monkeypatch.setattr(demo, "comparison", lambda name, column: Table([], [made[column]], "old"))
    header, rows, note = demo.table2("iris")
    assert note == "One cluster for everything has a loss of 2. old"
    assert header == ["", "paper", "train = test", "half and half", "verdict"]
    assert rows == [["a", "1", "2", "1", "differs / matches"]]
    assert demo.table2("wine").rows == [
        ["b", "2 ± 1", "2", "3", "matches; no better than one cluster"]
    ]
    assert demo.table2("libras").rows == [["c", "–", "2", "3", ""]]
    assert [demo.one_cluster(name) for name in ("letters", "libras")] == [25, 14]


def test_irrelevant_columns_push_relevant_ones_out_of_the_components():
    weak, strong = (demo.principal_share(1, level) for level in (0.5, 3.0))
    assert weak > 0.9
    assert strong < 0.1


def test_distances_across_a_change_by_hand(monkeypatch):
    x, y = np.repeat([[0.0], [6.0]], 20, axis=0), np.repeat([0, 1], 20)
    x[::2] += 1  # distances 0 and 1 within, 5 to 7 across
    monkeypatch.setattr(demo, "make_change_points", lambda *args, **options: ([x], [y]))
    within = 10 / 19  # of 19 others, 10 are on the other level
    assert demo.distance_ratio(0, 10) == pytest.approx(6 / within)


def test_columns_with_weight_are_counted(monkeypatch):
    class Model:
        def fit(self, series, labels):
            assert series[0].shape == (300, 100)
            return self

        def get_mahalanobis_matrix(self):
            return np.diag(np.r_[np.full(6, 2.0), np.zeros(4), 4.0, np.zeros(89)])

    monkeypatch.setattr(demo, "LargeMarginMetric", Model)
    assert demo.columns_used(0) == (6, 1, 0.75)
