"""What the page on Law et al. 2016 draws and counts."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from book import claims
from book.claims import measured
from book.figures.reproduction import law2016 as demo
from book.reproduction import load

pytestmark = pytest.mark.book


def test_wide_reads_what_is_stored():
    mean = load("law2016-wide")["summary"]["MLCA"]["table2"]["mean"]
    assert demo.wide("MLCA", "table2").mean() == pytest.approx(mean)


def test_losses_by_test_size_are_near_those_of_table_1():
    losses = np.array(demo.losses_by_test_size(2))
    stored = measured("law2016-table1", "MLCA", "delta")
    assert losses.shape == (2, 2)
    assert (np.abs(losses - stored.mean()) < 0.08).all()


def test_shares_of_clouds_add_up_to_the_loss_of_table_2():
    shares = demo.shares_of_clouds(2)
    assert shares.shape == (2, 3, 2, 3)
    assert shares.sum(axis=3) == pytest.approx(1)
    joint = shares.sum(axis=2) / 6  # by true category and cluster
    marginals = joint.sum(axis=2)[:, :, None] * joint.sum(axis=1)[:, None]
    losses = 6 - 2 * np.sum(joint**2 / marginals, axis=(1, 2))
    stored = measured("law2016-table2", "MLCA", "delta")
    assert (np.abs(losses - stored.mean()) < 0.15).all()


def test_orders_table_shows_the_stored_means():
    header, rows, _ = demo.orders_table()
    assert len(rows) == 6 and header[1] == "T2, MLCA"
    summary = load("law2016-orders")["summary"]
    for row in rows:
        for cell, title in zip(row[1:], header[1:], strict=True):
            table, method = title.removeprefix("T").split(", ")
            mean = summary[f"Table {table}, {row[0]}"][method]["mean"]
            assert float(cell) == pytest.approx(mean, abs=0.005)


@pytest.fixture
def made_up(monkeypatch, tmp_path):
    """Put made-up results of the images in the place of the stored ones."""
    monkeypatch.setattr(claims, "RESULTS", tmp_path)
    monkeypatch.setattr(demo, "age_note", lambda *names: "")

    def put(name, rows):
        units = [
            {"unit": {"row": row, "seed": seed}, "values": dict.fromkeys(columns, seed / 4)}
            for row, columns in rows.items()
            for seed in (1, 2)
        ]
        result = {"units": units, "summary": rows}
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
        monkeypatch.setattr(demo, "load", lambda _: result)

    return put


def test_lajugie_table_has_the_paper_beside_both_ways(made_up):
    losses = ["horses_delta", "horses_rand"]
    both = [*losses, *(f"{key}_spectral" for key in losses)]
    made_up("law2016-table4-lajugie", {"Lajugie et al.": losses, "multivariate MLCA": both})
    rows = demo.lajugie_table("horses").rows
    assert rows[0] == ["Lajugie et al.", "Δ", "1.67 ± 0.02", "0.38 ± 0.12 (2)", "–"]
    assert rows[3][:3] == ["multivariate MLCA", "Rand loss", "0.32 ± 0.02"]
    assert rows[3][3] == rows[3][4] == "0.38 ± 0.12 (2)"


def test_flowers_table_has_a_row_for_each_treatment(made_up):
    keys = [f"{f}_{loss}" for f in ("multivariate", "univariate", "one") for loss in demo.LOSSES]
    made_up("law2016-flowers", dict.fromkeys(demo.VARIANTS, keys))
    header, rows, _ = demo.flowers_table()
    assert [row[0] for row in rows] == ["the paper", *demo.VARIANTS]
    assert all(len(row) == len(header) for row in rows)
    assert rows[1][1:] == [".38"] * 5
