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
