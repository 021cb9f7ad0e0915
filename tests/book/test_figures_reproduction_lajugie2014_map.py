"""The map of Lajugie 2014, Figure 1, says what the stored draws say."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("IPython")
from scipy.stats import ttest_rel

from book.figures.reproduction import lajugie2014_map as demo
from book.reproduction.lajugie2014_settings import CELLS, KINDS, LEVELS, setting, settings_units

pytestmark = pytest.mark.book


@pytest.fixture
def stored(monkeypatch):
    """Made-up draws of every setting; in the first one the large margin is the worst."""
    rng = np.random.default_rng(0)
    level = {key: 6 - i * 0.5 for i, key in enumerate(CELLS)}
    units = []
    for unit in settings_units("full"):
        values = {key: level[key] + 0.01 * rng.normal() for key in CELLS}
        if unit["row"] == setting("as in the figure", LEVELS[0]):
            values["large_margin"] = 9 + 0.01 * rng.normal()
        units.append({"unit": unit, "values": values})
    rng.shuffle(units)
    monkeypatch.setattr(demo, "load", lambda name: {"units": units})
    monkeypatch.setattr(demo, "age_note", lambda name: "old")
    return units


def test_draws_follow_the_seeds(stored):
    row = setting("noise twice as large", 4.0)
    own = {u["unit"]["seed"]: u["values"] for u in stored if u["unit"]["row"] == row}
    found = demo.draws(row)
    assert found["rca4"].tolist() == [own[seed]["rca4"] for seed in range(20)]


def test_a_lead_is_a_paired_t():
    a, b = np.random.default_rng(1).normal([[0.0], [0.4]], 1, size=(2, 15))
    assert demo.lead(a, b) == pytest.approx(ttest_rel(b, a).statistic)
    assert demo.lead(a, a) == 0
    assert demo.lead(np.zeros(3), np.ones(3)) == np.inf == -demo.lead(np.ones(3), np.zeros(3))


def test_an_order_holds_if_every_pair_does():
    rng = np.random.default_rng(0)
    noise = {name: 0.1 * rng.normal(size=20) for name in "abc"}
    losses = {"a": noise["a"], "b": 1 + noise["b"], "c": noise["c"]}
    one = demo.Order("", ("a",), ("b",))
    assert demo.leads(one, losses) == (1, demo.lead(losses["a"], losses["b"]))
    assert demo.leads(demo.Order("", ("b",), ("a",)), losses) == (-1, -demo.leads(one, losses)[1])
    both = demo.leads(demo.Order("", ("a",), ("b", "c")), losses)
    assert both == (0, demo.lead(losses["a"], losses["c"])) and abs(both[1]) < 2


def test_the_map_has_a_number_for_every_setting(stored):
    figure = demo.map_of_orders()
    assert len(figure.axes) == len(demo.ORDERS) == 6
    for ax, order in zip(figure.axes, demo.ORDERS.values(), strict=True):
        codes = np.asarray(ax.images[0].get_array())
        assert codes.shape == (len(KINDS), len(LEVELS)) and len(ax.texts) == 20
        for text in ax.texts:
            c, r = text.get_position()
            code, by = demo.leads(order, demo.draws(setting(list(KINDS)[r], LEVELS[c])))
            assert codes[r, c] == code
            assert text.get_text() == (
                "–" if code == 0 else f"{'−' * (code < 0)}{min(abs(by), 99):.0f}"
            )
    margin = np.asarray(figure.axes[list(demo.ORDERS).index("margin")].images[0].get_array())
    assert margin[0, 0] == -1 and (margin.ravel()[1:] == 1).all()


def test_the_best_method_of_each_setting(stored):
    header, rows, note = demo.best_methods()
    assert note == "old" and len(rows) == 20 and len(header) == len(rows[0]) == 3 + len(CELLS)
    assert rows[0][1].startswith("RCA 4 by ") and rows[1][1].startswith("large margin by ")
    assert all(row[2].startswith("large margin by ") for row in rows)
    assert rows[3][header.index("PCA 3")].startswith("5.50 ± 0.00")


def test_without_results(monkeypatch):
    monkeypatch.setattr(demo, "load", lambda name: None)
    assert not any(ax.texts for ax in demo.map_of_orders().axes)
    assert demo.best_methods().rows == []
