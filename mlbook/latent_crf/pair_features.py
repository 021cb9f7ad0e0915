"""Features f_pq of pairs of points, of which learned distances are the weighted sums wᵀf_pq.

The array of all features of all pairs is never formed from points: sums over pairs are
computed from the points themselves.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mlbook._arrays import Floats, Integers
from mlbook._memory import check_pairs
from mlbook._validation import check_choice, check_matrix


class PairFeatures(Protocol):
    """One vector for each pair of points."""

    n_points: int
    n_features: int

    def distances(self, w: Floats) -> Any:
        """wᵀf_pq for all pairs, zero on the diagonal."""

    def part(self, points: Integers) -> "PairFeatures":
        """Return the features of some of the points."""

    def total(self, assignment: Integers) -> Floats:
        """Σ_p f_pq over the pairs of p and its q, pairs of a point with itself being zero."""

    def mixture_total(self, points: Integers, exemplars: Integers, shares: Floats) -> Floats:
        """Σ share · f_pq over some pairs."""

    def pair_total(self) -> Floats:
        """Sum of the absolute values of f_pq over all p ≠ q."""

    def pair_mean(self) -> Floats:
        """Mean of f_pq over all p ≠ q."""


class _SquaredDifferences:
    """f_pq = (x_p − x_q)², coordinate by coordinate; centred, to lose no digits."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.n_points, self.n_features = X.shape
        self.X = X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)

    def distances(self, w: Floats) -> NDArray[Any]:
        kept = np.flatnonzero(w)
        X = self.X[:, kept]
        weighted = X * w[kept].astype(X.dtype)
        norms = np.einsum("ij,ij->i", weighted, X)
        D = weighted @ X.T
        D *= -2
        D += norms[:, None]
        D += norms
        if w.min() >= 0:
            np.maximum(D, 0, out=D)
        np.fill_diagonal(D, 0)
        return D

    def part(self, points: Integers) -> PairFeatures:
        return _SquaredDifferences(self.X[points])

    def total(self, assignment: Integers) -> Floats:
        difference = self.X - self.X[assignment]
        return np.einsum("ij,ij->j", difference, difference, dtype=np.float64)

    def mixture_total(self, points: Integers, exemplars: Integers, shares: Floats) -> Floats:
        difference = self.X[points] - self.X[exemplars]
        return shares @ (difference * difference)

    def pair_mean(self) -> Floats:
        return self.pair_total() / max(1, self.n_points * (self.n_points - 1))

    def pair_total(self) -> Floats:
        return 2 * self.n_points * np.einsum("ij,ij->j", self.X, self.X, dtype=np.float64)


class _Precomputed:
    """f_pq given as a stack of matrices, one for each feature."""

    def __init__(self, stack: NDArray[Any], name: str) -> None:
        diagonals = np.einsum("fpp->fp", stack)
        if diagonals.any():
            stack = stack.copy()
            np.einsum("fpp->fp", stack)[...] = 0
        bad = ~np.isfinite(stack)
        if bad.any():
            f, p, q = np.argwhere(bad)[0]
            raise ValueError(
                f"{name}: distances must not be NaN or infinite off the diagonal; got "
                f"{stack[f, p, q]} in matrix {f} at [{p}, {q}]"
            )
        self.stack = stack
        self.n_features, self.n_points = stack.shape[:2]

    def distances(self, w: Floats) -> NDArray[Any]:
        return np.tensordot(w.astype(self.stack.dtype), self.stack, axes=1)

    def part(self, points: Integers) -> PairFeatures:
        return _Precomputed(self.stack[:, points[:, None], points], "X")

    def total(self, assignment: Integers) -> Floats:
        chosen = self.stack[:, np.arange(self.n_points), assignment]
        return chosen.sum(axis=1, dtype=np.float64)

    def mixture_total(self, points: Integers, exemplars: Integers, shares: Floats) -> Floats:
        return self.stack[:, points, exemplars] @ shares

    def pair_mean(self) -> Floats:
        pairs = max(1, self.n_points * (self.n_points - 1))
        return self.stack.sum(axis=(1, 2), dtype=np.float64) / pairs

    def pair_total(self) -> Floats:
        return np.array([np.abs(matrix).sum(dtype=np.float64) for matrix in self.stack])


def read_features(data: Any, kind: str, name: str = "X") -> PairFeatures:
    """Read one data set as vectors for its pairs; what has been read stays as it is."""
    if isinstance(data, _SquaredDifferences | _Precomputed):
        return data
    floats: Any = [np.float64, np.float32]
    check_choice(kind, "features", ("squared_differences", "precomputed"))
    if kind == "squared_differences":
        points = check_matrix(data, dtype=floats, input_name=name)
        check_pairs(len(points), name, copies=6)
        return _SquaredDifferences(points)
    if not isinstance(data, np.ndarray):
        if isinstance(data, str) or not isinstance(data, Sequence):
            raise ValueError(f"{name} must be a list of matrices; got {data!r:.200}")
        shapes = {np.shape(matrix) for matrix in data}
        if len(shapes) > 1:
            raise ValueError(
                f"{name}: matrices of one dataset must have one shape; got {sorted(shapes)}"
            )
    stack: Any = check_matrix(
        data,
        dtype=floats,
        allow_nd=True,
        ensure_2d=False,
        ensure_all_finite=False,
        input_name=name,
        squares=False,
    )
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or 0 in stack.shape:
        raise ValueError(
            f"{name}: precomputed distances must have shape (n_features, n, n), n ≥ 1; "
            f"got {stack.shape}"
        )
    return _Precomputed(stack, name)
