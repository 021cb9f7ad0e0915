"""Figures and tables of the comparison show what was measured."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.text import Text
from numpy.testing import assert_array_equal

from book.figures import comparison as demo
from book.reproduction import methods as room

pytestmark = pytest.mark.book


@pytest.fixture
def made_up(monkeypatch):
    """Put made-up units in the place of the stored ones."""

    def put(*units):
        lines = [{"unit": unit, "values": values} for unit, values in units]
        monkeypatch.setattr(demo, "load", lambda name: {"units": lines})
        monkeypatch.setattr(demo, "age_note", lambda name: f"old: {name}")

    return put


def lines(method, level, key, *values):
    return [({"method": method, "level": level}, {key: value}) for value in values]


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def test_without_a_stored_run_there_is_nothing_to_show(monkeypatch):
    monkeypatch.setattr(demo, "load", lambda name: None)
    with pytest.raises(ValueError, match="no stored result of comparison-labels"):
        demo.stored("labels")


def test_heat_shows_mean_and_spread_and_what_was_not_run(made_up):
    made_up(
        *lines("MLCA", 0.0, "unseen", 0.6, 0.8),
        *lines("MLCA", 0.4, "unseen", 0.5, 0.5),
        *lines("RCA", 0.0, "unseen", 0.1, 0.3),
    )
    figure = demo.heat("labels", titles=["one title"])
    shown = texts(figure)
    assert {".70 ±10", ".50 ±0", ".20 ±10", "one title", "wrong labels"} <= set(shown)
    assert shown.count("–") == 3  # RCA at two levels, MLCA at one
    grid = figure.axes[0].images[0].get_array()
    assert grid.shape == (2, 3) and grid[1, 0] == pytest.approx(0.7)  # RCA comes before MLCA


def test_tables(made_up):
    both = [{"unseen": a, "seen": 1 - a, "delta": 2.0} for a in (0.2, 0.4)]
    made_up(*[({"method": "KISSME"}, values) for values in both])
    header, rows, note = demo.results_table("digits")
    assert note == "old: comparison-digits"
    assert rows == [["KISSME", "0.30 ± 0.10 (2)", "0.70 ± 0.10 (2)", "2.0"]]
    assert len(header) == 4
    levels = room.SWEEPS["rows"].levels
    made_up(
        *(x for v in levels for x in lines("RCA", v, "time", 2.0, 9.0, 3.04)),
        *(x for v in levels for x in lines("MLCA", v, "time", 1.0)),
        *(x for v in levels for x in lines("latent CRF", v, "time", 1240.0)),
    )
    header, rows, note = demo.times_table()
    assert note == "old: comparison-rows"
    assert header[1] == f"{4 * levels[0]} rows"
    assert rows == [["RCA", *["3"] * len(levels)], ["latent CRF", *["1200"] * len(levels)]]


def test_count_table_gives_index_and_clusters_found(made_up):
    made_up(
        *(
            ({"method": "latent CRF", "level": k}, {"unseen": 0.5, "clusters": k + 0.25})
            for k in room.SWEEPS["count"].levels
        )
    )
    header, rows, note = demo.count_table()
    assert note == "old: comparison-count"
    assert header == ["", "k = 2", "k = 4", "k = 8"]
    assert rows == [["latent CRF", "0.50 (2.2)", "0.50 (4.2)", "0.50 (8.2)"]]


def test_gains_are_paired(made_up):
    made_up(
        *lines("MLCA", None, "unseen", 0.5, 0.9, 0.1), *lines("RCA", None, "unseen", 0.4, 0.7, 0.2)
    )
    mean, error, wins = demo.gains("digits", "MLCA", "RCA")
    difference = np.array([0.1, 0.2, -0.1])
    assert (mean, wins) == (pytest.approx(difference.mean()), 2)
    assert error == pytest.approx(difference.std(ddof=1) / np.sqrt(3))


def test_stored_runs_hold_every_method():
    for name, sweep in room.SWEEPS.items():
        table = demo.stored(name)
        assert set(table) == set(sweep.methods)
        for method, cells in table.items():
            wanted = set(sweep.levels) - ({48} if method == "large margin, full" else set())
            assert set(cells) >= wanted
            assert {len(values) for values in cells.values()} == {room.SEEDS["full"]}
    assert set(demo.stored("digits")) == {*room.METHODS, room.CRF}


def test_population_ratios_agree_with_a_large_sample():
    drawn = demo.problem(seed=1, n_rows=6000, n_sets=1, k=8, n_classes=8)
    maps = {
        "Euclidean": np.eye(18),
        "standardised": room.learn_standardised(drawn),
        "LDA, KISSME, MLCA": drawn.signal,
    }
    expected = {name: (ratio, lost) for name, ratio, lost in demo.population_ratios()}
    X, y = drawn.rows, drawn.labels
    means = np.array([X[y == c].mean(axis=0) for c in range(8)])
    for name, L in maps.items():
        spread = 2 * np.sum(np.var((X - means[y]) @ L.T, axis=0))
        separation = 2 * np.sum(np.var(means @ L.T, axis=0, ddof=1))
        # eight centres only: their variance is known to about a fifth
        assert separation / spread == pytest.approx(expected[name][0], rel=0.4)
    assert expected["RCA"][1] == pytest.approx(12 / 18)


def test_views_and_what_goes_wrong():
    figure, caption = demo.method_view("MLCA", 4.0, "along the features")
    assert caption.startswith("MLCA, nuisance 4 along the features: adjusted Rand 0.9") or (
        "adjusted Rand 1.00" in caption
    )
    truth, found = (len(ax.collections) for ax in figure.axes)
    assert (truth, found) == (4, 5)  # the last are the rings
    _, caption = demo.method_view("latent CRF", 16.0, "in mixed directions")
    assert "1 cluster" in caption and "clusters" not in caption


def test_a_metric_that_is_zero_is_drawn_and_said():
    figure, caption = demo.method_view("large margin, diagonal", 16.0, "in mixed directions")
    assert caption.endswith("1 cluster; the learned metric is zero")
    assert_array_equal(figure.axes[0].collections[0].get_offsets(), 0)


def test_problem_picture_has_three_views_of_the_same_points():
    axes = demo.problem_picture().axes
    assert [ax.get_title() for ax in axes] == ["as it comes", "after learning", "signal only"]
    sizes = {tuple(len(c.get_offsets()) for c in ax.collections) for ax in axes}
    assert sizes == {(20, 20, 20, 20)}


def test_rings_defeat_linear_maps_and_not_graphs():
    found = demo.rings()
    assert found.pop("spectral clustering") == 1
    assert max(abs(value) for value in found.values()) < 0.1
