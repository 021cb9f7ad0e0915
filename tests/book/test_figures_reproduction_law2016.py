"""What the page on Law et al. 2016 draws and counts."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

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
