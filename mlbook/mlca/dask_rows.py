"""Dask arrays and frames, block by block, without importing Dask where there are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask array, frame or series."""
    return type(X).__module__.startswith(("dask.array", "dask.dataframe"))


def is_frame(X: Any) -> bool:
    """Tell whether X is a Dask frame or series."""
    return type(X).__module__.startswith("dask.dataframe")


def feature_header(X: Any) -> Any:
    """Return what has the number and names of the features: X, or an empty frame like it."""
    return X._meta if is_frame(X) else X


def rows_array(X: Any) -> Any:
    """Return the rows of a Dask array or frame as a Dask array with whole rows in each block."""
    if X.ndim != 2:
        raise ValueError(f"X: expected a two-dimensional Dask array, got {X.ndim} dimension(s).")
    return X.to_dask_array() if is_frame(X) else X.rechunk({1: -1})


def labelled_blocks(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """Yield blocks of rows and their labels, not computed yet.

    A column of a frame finds its rows by the index. Otherwise y is cut as X is; where lengths are
    not known and the numbers of blocks differ, they are counted first, which reads the data once.
    """
    import dask

    if is_frame(X) and is_frame(y):
        name = "label"
        while name in X.columns:
            name += "_"
        both = X.assign(**{name: y})
        for part in both.to_delayed():
            yield dask.delayed(_without)(part, name), part[name]
        return
    X = rows_array(X)
    y = y.to_dask_array() if is_frame(y) else y
    if not is_dask(y):
        y = column_or_1d(y, warn=True)
    unknown = bool(np.isnan([*X.shape[:1], *y.shape]).any())
    if unknown and (not is_dask(y) or y.numblocks[0] != X.numblocks[0]):
        X = X.copy().compute_chunk_sizes()
        y = y.copy().compute_chunk_sizes() if is_dask(y) else y
        unknown = False
    if not unknown:
        check_consistent_length(X, y)
        y = y.rechunk({0: X.chunks[0]}) if is_dask(y) else y
    labels = y.to_delayed().ravel() if is_dask(y) else np.split(y, np.cumsum(X.chunks[0])[:-1])
    yield from zip(X.to_delayed().ravel(), labels, strict=True)


def _without(frame: Any, name: str) -> Any:
    return frame.drop(columns=name)
