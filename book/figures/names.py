"""Names, and so colours, for clusters that were found."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from mlbook._arrays import Integers
from mlbook.partitions import contingency


def name_after(truth: Integers, found: Integers) -> Integers:
    """Rename the clusters found after the true ones they overlap most; others come after these.

    Examples
    --------
    >>> name_after(np.array([0, 0, 1, 1]), np.array([1, 1, 2, 0])).tolist()
    [0, 0, 2, 1]
    """
    table = contingency(truth, found).toarray()
    rows, columns = linear_sum_assignment(table, maximize=True)
    names = np.full(table.shape[1], -1)
    names[columns] = rows
    rest = np.flatnonzero(names < 0)
    names[rest] = len(table) + np.arange(len(rest))
    return names[np.unique(found, return_inverse=True)[1]]
