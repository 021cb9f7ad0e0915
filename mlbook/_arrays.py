"""Names for kinds of arrays, and the squared norm that many formulas need."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]


def squared_norms(X: NDArray[Any]) -> Floats:
    """Return ‖x‖² for each row x of X, without a copy of X.

    Examples
    --------
    >>> squared_norms(np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1.])
    """
    return np.einsum("ij,ij->i", X, X)
