"""Rows from generators, at tiny sizes. Nothing here looks at a time."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import streams
from mlbook.mlca import MLCA


def test_a_chunk_holds_the_same_number_of_rows_around_each_mean():
    X = streams.make_chunk(3, 50_000, 4)
    assert X.shape == (50_000, 4)
    for c, mean in enumerate(streams.class_means(4)):
        rows = X[c :: streams.N_CLASSES]
        assert_allclose(rows.mean(axis=0), mean, atol=0.06)
        assert_allclose(np.cov(rows.T), np.eye(4), atol=0.08)
    assert not np.array_equal(X, streams.make_chunk(4, 50_000, 4))


def test_the_limit_is_what_many_rows_tend_to():
    """The distance falls as one over the root of the number of rows."""
    far = {}
    for n in (1000, 100_000):
        X, y = streams.make_chunk(0, n, 3), np.arange(n) % streams.N_CLASSES
        far[n] = streams.distance_to_limit(MLCA().fit(X, y), n)
    assert far[100_000] < 0.02 and 3 < far[1000] / far[100_000] < 40


def test_a_stream_reports_at_powers_of_ten_and_learns_from_every_row():
    lines = list(streams.stream(3000, 4, chunk=20))
    assert [line["n"] for line in lines] == [20, 200, 2000, 3000]
    X = np.concatenate([streams.make_chunk(i, 20, 4) for i in range(150)])
    model = MLCA().fit(X, np.arange(3000) % streams.N_CLASSES)
    assert lines[-1]["from_limit"] == pytest.approx(streams.distance_to_limit(model, 3000))
    assert all(line["learning_seconds"] >= 0 for line in lines)


def test_workers_learn_what_one_process_learns(tmp_path, capsys, monkeypatch):
    pytest.importorskip("dask.distributed")
    monkeypatch.setattr(streams, "STREAM", (200, 3))
    monkeypatch.setattr(streams, "CLUSTER", (600, 5))
    monkeypatch.setattr(streams, "CHUNK", 100)
    assert streams.main([str(tmp_path / "found.json")]) == 0
    found = json.loads((tmp_path / "found.json").read_text())
    assert [line["workers"] for line in found["cluster"]] == [1, 2]
    assert found["between_workers"] < 1e-12
    X = np.concatenate([streams.make_chunk(i, 100, 5) for i in range(6)])
    alone = MLCA().fit(X, np.arange(600) % streams.N_CLASSES)
    for line in found["cluster"]:
        assert line["from_limit"] == pytest.approx(streams.distance_to_limit(alone, 600))
        assert line["worker_bytes"] > 1e6
    assert [line["n"] for line in found["stream"]] == [100, 200]
