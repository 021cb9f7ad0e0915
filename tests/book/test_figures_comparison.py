"""Figures and tables of the comparison show what was measured."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from matplotlib.text import Text

from book import claims
from book.figures import comparison as demo
from book.reproduction import comparisons, made_problems
from book.reproduction.comparisons import EXPERIMENTS, row_of

pytestmark = pytest.mark.book


@pytest.fixture
def made_up(monkeypatch, tmp_path):
    """Put made-up numbers, by experiment, row and column, in the place of the stored ones."""
    monkeypatch.setattr(claims, "RESULTS", tmp_path)
    monkeypatch.setattr(demo, "age_note", lambda *names: f"old: {', '.join(names)}")
    demo.rand.cache_clear()

    def put(name, rows):
        units = [
            {"unit": {"row": row, "seed": s}, "values": {k: v[s] for k, v in columns.items()}}
            for row, columns in rows.items()
            for s in range(len(next(iter(columns.values()))))
        ]
        (tmp_path / f"comparison-{name}.json").write_text(json.dumps({"units": units}))

    yield put
    demo.rand.cache_clear()


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def test_differences_are_paired(made_up):
    made_up("unseen", {"letters": {"k-means": [0.4, 0.7, 0.2], "KISSME": [0.5, 0.9, 0.1]}})
    assert demo.differences("unseen", "letters", "KISSME") == pytest.approx([0.1, 0.2, -0.1])
    assert demo.gain("unseen", "letters", "KISSME") == "+.07 ± .09, 2:1"
    assert demo.gain("unseen", "letters", "k-means", "KISSME") == "−.07 ± .09, 1:2"


def test_levels_that_change_nothing_are_those_of_the_first_experiments(made_up):
    made_up("unseen", {"letters": {"KISSME": [1.0]}})
    made_up("seen", {"letters, seen 1": {"KISSME": [2.0]}})
    made_up("sizes", {"letters, ratio 10, seen 1": {"KISSME": [3.0]}})
    assert demo.rand("sizes", "letters", "KISSME", ratio=1) == [1]
    assert demo.rand("sizes", "letters", "KISSME", ratio=1, seen=True) == [2]
    assert demo.rand("sizes", "letters", "KISSME", ratio=10, seen=True) == [3]


@pytest.mark.parametrize(
    ("found", "sign"),
    [([0.2, 0.3, 0.25], 1), ([-0.2, -0.3, -0.25], -1), ([0.2, -0.3, 0.25], 0)],
)
def test_steady_is_two_standard_errors(found, sign):
    assert demo.steady(np.array(found)) == sign


def test_gain_table_marks_what_is_sure(made_up):
    made_up(
        "unseen",
        {
            "letters": {"k-means": [0.1, 0.2, 0.3], "KISSME": [0.3, 0.4, 0.51]},
            "Libras": {"k-means": [0.1, 0.2, 0.3], "KISSME": [0.3, 0.1, 0.3]},
        },
    )
    header, rows, note = demo.gain_table("unseen", ["KISSME"], ["letters", "Libras"])
    assert header == ["", "letters", "Libras"] and note == "old: comparison-unseen"
    assert rows == [
        ["k-means itself", ".20", ".20"],
        ["KISSME", "**+.20 ± .00, 3:0**", "+.03 ± .09, 1:1"],
    ]


def test_tables_of_costs_bags_counts_and_sequences(made_up):
    made_up("unseen", {d: {"time, KISSME": [2.0, 9.0, 3.04]} for d in demo.DATA})
    assert demo.cost_table(["KISSME"]).rows == [["KISSME", *["3"] * 7]]
    methods = ("right", "MIMLCA", "MIMLCA, then MLCA half shrunk")
    made_up(
        "bags",
        {
            row_of(d, bag_size=n): {m: [0.5, n / 10] for m in methods}
            for d in demo.THREE
            for n in (1, 2, 4, 8)
        },
    )
    rows = demo.bag_table().rows
    assert len(rows) == 9 and rows[0][1] == "rows in the right class"
    assert rows[1] == ["letters", "MIMLCA", ".30", ".35", ".45", ".65"]
    made_up("count", {d: {"CRF": [0.5, 0.7], "off, CRF": [1.0, 2.0]} for d in demo.THREE})
    assert demo.count_table(["CRF"]).rows == [["CRF", *[".60 (1.5)"] * 3]]
    made_up("sequences", {d: {"k-means": [0.5, 0.7]} for d in demo.THREE})
    assert demo.sequence_table(["k-means"]).rows == [["k-means", *[".60"] * 3]]


def test_dot_plot_draws_every_difference_with_two_errors(made_up, monkeypatch):
    monkeypatch.setattr(demo, "mark_age", lambda figure, *names: figure)
    made_up("unseen", {d: {"k-means": [0.1, 0.2], "LDA, shrunk": [0.3, 0.2]} for d in demo.DATA})
    figure = demo.dot_plot(methods=["LDA, shrunk"])
    (drawn,) = figure.axes[0].containers
    points, _, (bars,) = drawn.lines
    assert points.get_xdata() == pytest.approx([0.1] * 7)
    assert bars.get_segments()[0][:, 0] == pytest.approx([-0.1, 0.3])
    assert {"LDA, shrunk", "letters", "digits,\nFourier"} <= set(texts(figure))


def test_level_lines_draw_means(made_up, monkeypatch):
    monkeypatch.setattr(demo, "mark_age", lambda figure, *names: figure)
    made_up("classes", {"letters, n_classes 2": {"LDA, shrunk": [0.1, 0.2]}})
    made_up("unseen", {"letters": {"LDA, shrunk": [0.3, 0.2]}})
    figure = demo.level_lines(
        "classes", "n_classes", [2, 0], ["LDA, shrunk"], ["letters"], label="m", ticks=["2", "all"]
    )
    (line,) = figure.axes[0].lines
    assert line.get_ydata() == pytest.approx([0.15, 0.25])
    assert line.get_color() == demo.COLORS[demo.LOOKS["LDA, shrunk"]]
    assert len(set(demo.LOOKS.values())) == len(demo.LOOKS) <= len(demo.COLORS)


def test_stored_runs_hold_every_split_of_every_method():
    for experiment in EXPERIMENTS:
        name = experiment.id.removeprefix("comparison-")
        for unit in experiment.units("smoke"):
            data, changed = unit["data"], {k: unit[k] for k in ("bag_size",) if k in unit}
            changed |= {k: unit[k] for k in comparisons.BASE}
            for column in unit["methods"] or [c.key for c in experiment.columns]:
                assert len(demo.rand(name, data, column, **changed)) == comparisons.SEEDS["full"]


def test_population_ratios_agree_with_a_large_sample():
    unit = {**made_problems.BASE, "seed": 1, "n_rows": 6000, "n_sets": 1, "k": 8, "n_classes": 8}
    drawn = made_problems.draw_gaussians(unit)
    X, y = drawn.rows, drawn.labels
    maps = {
        "Euclidean": np.eye(18),
        "standardised": np.diag(1 / X.std(axis=0)),
        "LDA, KISSME, MLCA": drawn.signal,
    }
    expected = {name: (ratio, lost) for name, ratio, lost in demo.population_ratios()}
    means = np.array([X[y == c].mean(axis=0) for c in range(8)])
    for name, L in maps.items():
        spread = 2 * np.sum(np.var((X - means[y]) @ L.T, axis=0))
        separation = 2 * np.sum(np.var(means @ L.T, axis=0, ddof=1))
        # eight centres only: their variance is known to about a fifth
        assert separation / spread == pytest.approx(expected[name][0], rel=0.4)
    assert expected["RCA"][1] == pytest.approx(12 / 18)


def test_views_and_what_goes_wrong():
    figure, caption = demo.method_view("letters", "MLCA, shrunk")
    value = float(caption.removeprefix("letters, MLCA, shrunk: adjusted Rand "))
    assert value == pytest.approx(demo.rand("unseen", "letters", "MLCA, shrunk")[0], abs=0.006)
    truth, found = (len(ax.collections) for ax in figure.axes)
    assert (truth, found) == (5, 6)  # the last are the rings
    Z, y, labels = demo.views("letters", "MLCA, shrunk")
    assert len(Z) == len(y) == len(labels) == 300


def test_rings_defeat_linear_maps_and_not_graphs():
    found = demo.rings()
    assert found.pop("spectral clustering") == 1
    assert max(abs(value) for value in found.values()) < 0.1
