"""A bounded sample of labelled rows that does not depend on the order in which they come.

Each row has a number of its own, a hash of its entries. The rows of a class with the smallest
numbers are kept: of all rows at once, of chunks one after the other, or of the blocks of a
cluster, the same rows remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mlbook._arrays import Floats, Integers

MAX_ROWS, MAX_CLASS_ROWS = 5000, 100  # kept in all, and of a class; two of each class at least


@dataclass(frozen=True, eq=False)
class RowSample:
    """Some rows of each class.

    Attributes
    ----------
    rows : ndarray of shape (m, d)
        The rows, sorted by class and number.
    classes : ndarray of shape (m,)
        The class of each.
    numbers : ndarray of m unsigned integers
        The number of each.

    Examples
    --------
    >>> X, y = np.arange(300.0)[:, None], np.repeat(["a", "b"], 150)
    >>> sample = RowSample.of(X, y)
    >>> sample.rows.shape, np.unique(sample.classes, return_counts=True)[1].tolist()
    ((200, 1), [100, 100])
    >>> parts = RowSample.merge([RowSample.of(X[::2], y[::2]), RowSample.of(X[1::2], y[1::2])])
    >>> np.array_equal(sample.rows, parts.rows)
    True
    """

    rows: Floats
    classes: NDArray[Any]
    numbers: NDArray[np.uint64]

    @classmethod
    def of(cls, X: Any, y: NDArray[Any]) -> Self:
        """Sample rows X, dense or CSR, of classes y. O(nd) for the numbers."""
        numbers = _row_numbers(X)
        kept = _kept(y, numbers)
        rows = X[kept]
        rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
        return cls(rows.astype(np.float64), y[kept], numbers[kept])

    @classmethod
    def merge(cls, samples: list[Self]) -> Self:
        """Sample all the rows that the samples were drawn from."""
        classes = np.concatenate([sample.classes for sample in samples])
        numbers = np.concatenate([sample.numbers for sample in samples])
        kept = _kept(classes, numbers)
        rows = np.concatenate([sample.rows for sample in samples])
        return cls(rows[kept], classes[kept], numbers[kept])


def _kept(y: NDArray[Any], numbers: NDArray[np.uint64]) -> Integers:
    """Find the rows to keep, sorted by class and number."""
    classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    quota = np.clip(MAX_ROWS // max(1, len(classes)), 2, MAX_CLASS_ROWS)
    order = np.lexsort((numbers, codes))
    place = np.arange(len(y)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within its class
    return order[place < quota]


def _row_numbers(X: Any) -> NDArray[np.uint64]:
    """Hash the entries of each row, as doubles, to a number: equal rows, equal numbers."""
    rng = np.random.default_rng(20160626)
    odd = rng.integers(0, 2**63, X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if sp.issparse(X):
        bits = (X.data.astype(np.float64) + 0.0).view(np.uint64)
        total = np.zeros(X.shape[0], dtype=np.uint64)
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        np.add.at(total, row, _mix(bits) * odd[X.indices])
    else:
        total = np.zeros(X.shape[0], dtype=np.uint64)
        for j, factor in enumerate(odd):
            bits = (np.asarray(X[:, j], dtype=np.float64) + 0.0).view(np.uint64)
            total += _mix(bits) * factor
    return _mix(total)


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter the bits of numbers over all 64 places; 0 stays 0 (Stafford's 13th variant)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
