"""What does not fit into memory is refused before it is tried."""

import numpy as np
import pytest

from mlbook import _memory
from mlbook.exemplars import ExemplarClustering
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.mimlca import MIMLCA
from mlbook.ncuts import NormalizedCutMetric

X = np.random.default_rng(0).normal(size=(18, 3))
y = np.arange(18) // 6


@pytest.mark.parametrize(
    "fit",
    [
        lambda: ExemplarClustering().fit(X),
        lambda: LatentExemplarMetric().fit([X], [y]),
        lambda: NormalizedCutMetric().fit([X], [y]),
        lambda: MIMLCA(kernel=np.inner).fit([X[:9], X[9:]], np.eye(2)),
    ],
)
def test_all_pairs_of_too_many_rows_are_refused_before_they_are_made(fit, monkeypatch):
    monkeypatch.setattr(_memory, "machine_memory", lambda: 1000.0)
    message = r"all pairs of its 18 rows need .* GiB, more than half .* take a sample"
    with pytest.raises(MemoryError, match=message):
        fit()


def test_the_machine_has_memory():
    assert _memory.machine_memory() > 2**28
