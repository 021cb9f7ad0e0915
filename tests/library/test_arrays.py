"""Squared norms against the definition."""

import numpy as np
import pytest

from mlbook._arrays import squared_norms


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_squared_norms(dtype):
    X = np.random.default_rng(0).normal(size=(7, 3)).astype(dtype)
    found = squared_norms(X)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, [sum(x * x for x in row) for row in X], rtol=1e-6)
