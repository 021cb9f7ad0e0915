"""Dask's blocks with their labels; what MLCA does with them is in test_mlca_dask."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mlbook.mlca.dask_rows import feature_header, is_dask, is_frame, labelled_blocks, rows_array

da = pytest.importorskip("dask.array")


def test_what_is_dask():
    X = da.zeros((4, 2))
    assert is_dask(X)
    assert not is_frame(X)
    assert not is_dask(np.zeros((4, 2)))
    assert feature_header(X) is X


def test_whole_rows_in_each_block():
    assert rows_array(da.zeros((6, 4), chunks=(2, 2))).chunks == ((2, 2, 2), (4,))
    with pytest.raises(ValueError, match="two-dimensional Dask array, got 1"):
        rows_array(da.zeros(3))


@pytest.mark.parametrize("lengths_known", [True, False])
@pytest.mark.parametrize("labels", ["array", "same blocks", "other blocks"])
def test_rows_stay_with_their_labels(lengths_known, labels):
    X, y = np.arange(10.0)[:, None], np.arange(10)
    rows = da.from_array(X, chunks=(4, 1))
    given = {
        "array": y,
        "same blocks": da.from_array(y, chunks=4),
        "other blocks": da.from_array(y, chunks=3),
    }[labels]
    if not lengths_known:
        rows = rows[rows[:, 0] >= 0]
        given = given if labels == "array" else given[given >= 0]
    pairs = [
        (a.compute(), getattr(b, "compute", lambda b=b: b)())
        for a, b in labelled_blocks(rows, given)
    ]
    assert len(pairs) == 3
    for block, names in pairs:
        assert_array_equal(block[:, 0], names)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        list(labelled_blocks(da.from_array(X), y[:3]))


def test_columns_of_one_frame():
    pd = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame({"a": np.arange(6.0), "label": np.arange(6.0), "y": list("uvwxyz")})
    lazy = frames.from_pandas(table, npartitions=2)
    assert is_frame(lazy)
    assert feature_header(lazy[["a"]]).columns.tolist() == ["a"]
    blocks = [
        (X.compute(), y.compute()) for X, y in labelled_blocks(lazy[["a", "label"]], lazy["y"])
    ]
    assert [X.columns.tolist() for X, _ in blocks] == [["a", "label"]] * 2
    assert_array_equal(np.concatenate([y for _, y in blocks]), list("uvwxyz"))
    # a column in other pieces finds its rows by the index
    other = frames.from_pandas(table, npartitions=3)["y"]
    blocks = [(X.compute(), y.compute()) for X, y in labelled_blocks(lazy[["a"]], other)]
    found = {a: y for X, labels in blocks for a, y in zip(X["a"], labels, strict=True)}
    assert found == dict(enumerate("uvwxyz"))
