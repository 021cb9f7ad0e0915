"""The structured hinge: the partition that a metric fears most, and the cut that it gives.

What a cut is, is said in `mlbook.large_margin`.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, qr, svd

from mlbook._arrays import Floats, Integers
from mlbook._validation import (
    as_array,
    check_choice,
    check_integer_labels,
    check_matrix,
    metric_factor,
)
from mlbook.changepoints import loss_augmented_segment, segment_starts
from mlbook.large_margin.labels import check_min_length
from mlbook.partitions import normalized_assignment, partition_loss

__all__ = ["structured_hinge"]


def structured_hinge(
    X: ArrayLike,
    labels: ArrayLike,
    M: ArrayLike,
    *,
    structure: str = "sequence",
    n_clusters: str = "learned",
    min_length: int = 1,
) -> float:
    """Structured hinge of a metric on one labelled sequence (Lajugie 2014, Section 4.1), times n.

    In the papers: Lajugie 2014, Sections 2.4 (the relaxation) and 4.1.

    It is at least the loss of the partition that the metric leads to, and zero only if that is
    the true one and all others are worse by their loss. Costs one call of
    ``loss_augmented_segment`` of `mlbook.changepoints`, or an eigendecomposition of size d + k.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points.
    labels : array-like of n non-negative integers
        The true partition.
    M : array-like of shape (d, d) or (d,)
        Matrix of the metric, symmetric positive semidefinite, or its diagonal.
    structure : {"sequence", "spectral"}, default="sequence"
        Maximize over segmentations or over projectors that keep the constant vector.
    n_clusters : {"learned", "known"}, default="learned"
        Whether every cluster costs 1, or all partitions have as many clusters as the true one.
    min_length : int, default=1
        Least length of a segment.

    Returns
    -------
    float
        n times the hinge of the paper, in the units of `mlbook.partitions.partition_loss`.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> X = [[0.0], [0.0], [1.0], [1.0]]
    >>> structured_hinge(X, [0, 0, 1, 1], [9.0], n_clusters="known")
    0.0
    >>> round(structured_hinge(X, [0, 0, 1, 1], [0.0], n_clusters="known"), 9)
    1.333333333
    """
    check_choice(structure, "structure", ("sequence", "spectral"))
    check_choice(n_clusters, "n_clusters", ("known", "learned"))
    points: Any = check_matrix(X, dtype=np.float64, input_name="X")
    full = as_array(M, "M").ndim != 1
    if full:
        L = metric_factor(M, points.shape[1])
        metric = Metric((L @ L.T).ravel(), L)
    else:
        weights: Any = check_matrix(
            M, dtype=np.float64, ensure_2d=False, input_name="M", squares=False
        )
        if weights.shape != points.shape[1:] or weights.min() < 0:
            raise ValueError(
                f"M must be a matrix or have {points.shape[1]} non-negative weights; got {weights}"
            )
        metric = Metric(weights, np.sqrt(weights))
    truth = check_integer_labels(labels, "labels", least=0, n=len(points))
    allowed = Structure(
        structure == "sequence", n_clusters == "known", check_min_length(min_length, [truth])
    )
    cut = allowed.oracle(points - points.mean(axis=0), truth, full=full, name="labels")(metric)
    return max(0.0, float(cut.offset + cut.gradient @ metric.entries))


class Metric(NamedTuple):
    """A metric: b or the entries of B, and √b or L with B = LLᵀ."""

    entries: Floats
    factor: Floats


class Cut(NamedTuple):
    """h(B) ≥ offset + ⟨gradient, B⟩ for all B."""

    offset: float
    gradient: Floats


class Oracle(Protocol):
    """Loss-augmented inference for one sequence: the cut that is tight at a metric."""

    def __call__(self, metric: Metric) -> Cut:
        """Return the cut."""


class Structure(NamedTuple):
    """Which partitions there are."""

    sequence: bool  # contiguous segments, not any clusters
    known: bool  # as many as in the true partition
    min_length: int  # of a segment

    def oracle(self, X: Floats, labels: Integers, *, full: bool, name: str) -> Oracle:
        """Return the oracle of a labelled sequence, named in errors; X is centred."""
        if self.sequence:
            return SequenceOracle(X, labels, self, full=full, name=name)
        return SpectralOracle(X, labels, known=self.known, full=full)


class SequenceOracle:
    """Exact, over contiguous segments."""

    def __init__(
        self, X: Floats, labels: Integers, structure: Structure, *, full: bool, name: str
    ) -> None:
        starts = segment_starts(labels, name)
        self.X, self.labels, self.structure, self.full = X, labels, structure, full
        self.n_segments = len(starts)
        self.between = self._between(starts)

    def __call__(self, metric: Metric) -> Cut:
        """Return the cut of the worst segmentation."""
        k = self.n_segments if self.structure.known else None
        X, weights = (self.X @ metric.factor, None) if self.full else (self.X, metric.entries)
        shortest = self.structure.min_length
        worst = loss_augmented_segment(X, self.labels, k, M=weights, min_length=shortest)
        offset = partition_loss(worst, self.labels)
        if not self.structure.known:
            offset -= int(worst[-1]) + 1 - self.n_segments
        gradient = self._between(segment_starts(worst)) - self.between
        return Cut(offset, gradient)

    def _between(self, starts: Integers) -> Floats:
        """XᵀMX, or its diagonal."""
        sizes = np.diff(np.append(starts, len(self.X)))
        means = np.add.reduceat(self.X, starts, axis=0) / np.sqrt(sizes)[:, None]
        if self.full:
            return (means.T @ means).ravel()
        return np.sum(means**2, axis=0)


class SpectralOracle:
    """Over all projectors M with M1 = 1, instead of partitions.

    1 is split off: what remains of M is a projector on its complement, where A = XBXᵀ − 2N
    has a range of at most d + k − 1 dimensions. A basis of it comes from a QR decomposition of
    [X, J], NX = J(JᵀX), both centred. Outside of it A is zero.
    """

    def __init__(self, X: Floats, labels: Integers, *, known: bool, full: bool) -> None:
        J = normalized_assignment(labels).toarray()
        self.known, self.full = known, full
        self.n_clusters = J.shape[1]
        J -= J.mean(axis=0)
        stacked = np.hstack([X, J])
        _, values, Vt = svd(qr(stacked, mode="r")[0][: min(stacked.shape)])
        kept = values > len(X) * np.finfo(float).eps * values[0]
        coordinates = values[kept, None] * Vt[: len(values)][kept]
        self.X, self.J = coordinates[:, : X.shape[1]], coordinates[:, X.shape[1] :]
        self.n_zeros = len(X) - 1 - len(coordinates)  # directions in which A is zero
        self.truth = self._between(self.J @ (self.J.T @ self.X), self.X)

    def __call__(self, metric: Metric) -> Cut:
        """Return the cut of the worst projector."""
        mapped = self.X @ metric.factor if self.full else self.X * metric.factor
        values, vectors = eigh(mapped @ mapped.T - 2 * self.J @ self.J.T)
        if self.known:
            n_other = self.n_clusters - 1
            order = np.argsort(np.append(values, np.zeros(self.n_zeros)))[::-1][:n_other]
            W = vectors[:, order[order < len(values)]]
        else:
            W = vectors[:, values > 0]
        overlap = float(np.sum((self.J.T @ W) ** 2)) + 1
        # Tr M cancels with the penalty, or is known: 2k − 2 Tr(NM) in both cases
        offset = 2 * self.n_clusters - 2 * overlap
        projected = W.T @ self.X
        return Cut(offset, self._between(projected, projected) - self.truth)

    def _between(self, left: Floats, right: Floats) -> Floats:
        """LᵀR, or its diagonal."""
        if self.full:
            return (left.T @ right).ravel()
        return np.einsum("ij,ij->j", left, right)
