"""The most likely mistakes of a user: each error says what to do instead."""

import numpy as np
import pytest

from mlbook.changepoints import segment
from mlbook.datasets import load_horses
from mlbook.exemplars import ExemplarClustering
from mlbook.kmeans import SpectralKMeans
from mlbook.large_margin import LargeMarginMetric
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.mimlca import MIMLCA
from mlbook.mlca import MLCA
from mlbook.partitions import partition_loss

X = np.random.default_rng(0).normal(size=(20, 3))
y = np.arange(20) // 10
HOLED = np.where(np.arange(60).reshape(20, 3) == 7, np.nan, X)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        pytest.param(lambda: MLCA().fit(HOLED, y), "X contains NaN", id="missing values"),
        pytest.param(
            lambda: MLCA().fit(X, y[1:]), r"numbers of samples: \[20, 19\]", id="a label too few"
        ),
        pytest.param(
            lambda: MLCA().fit(X, np.where(y == 1, np.nan, y)),
            "y contains NaN: drop the rows",
            id="missing labels",
        ),
        pytest.param(
            lambda: MLCA().fit(X, ["ann", None] * 10),
            "y must be .* got NoneType, str. Drop the rows without a label",
            id="missing names",
        ),
        pytest.param(
            lambda: MLCA().fit([["1.5", "red"]] * 20, y),
            "X must be numbers; got text: leave it out",
            id="text",
        ),
        pytest.param(
            lambda: partition_loss(["ann", "bob"], [0, 1]),
            r"a must hold integers .* numbered by np.unique\(a, return_inverse=True\)\[1\]",
            id="names for numbers",
        ),
        pytest.param(lambda: MLCA().fit(X, 0 * y), "at least 2 classes .* got 1", id="one class"),
        pytest.param(
            lambda: MLCA().fit(X, y).transform(X[:, 1:]),
            "X has 2 features, but MLCA is expecting 3",
            id="other features",
        ),
        pytest.param(
            lambda: SpectralKMeans(n_clusters=30).fit(X),
            "n_clusters must be .* between 1 and n_samples=20; got 30",
            id="more clusters than points",
        ),
        pytest.param(
            lambda: ExemplarClustering(metric="precomputed").fit(X),
            r"square matrix of distances.* got shape \(20, 3\)",
            id="data for distances",
        ),
        pytest.param(
            lambda: LatentExemplarMetric().fit(X, y),
            r"Xs must be a list .* each set; got one of shape \(20, 3\).* put it in a list",
            id="one training set, latent CRF",
        ),
        pytest.param(
            lambda: LargeMarginMetric().fit(X, y),
            r"Xs must be a list .* got one of shape \(20, 3\).* put it in a list",
            id="one sequence, large margin",
        ),
        pytest.param(
            lambda: MIMLCA().fit(X, y),
            r"must be a list with a matrix for each bag; got one of shape \(20, 3\)",
            id="no bags",
        ),
        pytest.param(
            lambda: MIMLCA().fit([X[:10], X[10:]], [["ann"], ["ann", "bob"]]),
            r"Y must be a matrix .* MultiLabelBinarizer",
            id="names for a matrix of labels",
        ),
        pytest.param(
            lambda: segment(X, n_segments=2, penalty=1.0),
            "exactly one of n_segments and penalty; got n_segments=2, penalty=1.0",
            id="both a number and a price",
        ),
        pytest.param(
            lambda: LargeMarginMetric().fit([X], [np.arange(20) % 2]),
            r"ys\[0\] must be contiguous.* 20 runs of 2 labels.* number the runs",
            id="states for segments",
        ),
    ],
)
def test_the_error_names_the_argument_and_the_way_out(mistake, message):
    with pytest.raises(ValueError, match=message):
        mistake()


def test_a_column_of_text_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(colour=["red", "blue"] * 10)
    with pytest.raises(ValueError, match=r"text in the columns \['colour'\].* OneHotEncoder"):
        MLCA().fit(frame, y)
    assert MLCA().fit(frame[["a", "b"]].astype(object), y).n_features_in_ == 2


def test_data_that_must_be_had_elsewhere(monkeypatch):
    monkeypatch.delenv("MLBOOK_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"MLBOOK_DATA .*weizmann_horse_db.tar.gz"):
        load_horses()
