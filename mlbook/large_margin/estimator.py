"""Large-margin metrics: the structured hinge and the estimator that minimizes it."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, qr, svd
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from mlbook._optional import need
from mlbook._validation import (
    check_choice,
    check_integer,
    check_integer_labels,
    check_list,
    check_n_clusters,
    check_number,
    metric_factor,
)
from mlbook.changepoints import (
    constraints_from_labels,
    loss_augmented_segment,
    segment,
    segment_starts,
)
from mlbook.kmeans import SpectralKMeans
from mlbook.large_margin.hinge import (
    Cut,
    Metric,
    Oracle,
    Problem,
    Solution,
    cutting_planes,
    subgradient,
)
from mlbook.partitions import normalized_assignment, partition_loss

__all__ = ["LargeMarginMetric", "structured_hinge"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SMOOTHING = 1e-2  # share of a Frobenius term in the trace regularizer of a full metric
_CUTTING_PLANES_TO = 60  # features up to which a full metric is learned by cutting planes
_PENALTIES = np.geomspace(1e-4, 1.0, 37)  # tried in calibration, times the mean scatter


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
    points: Any = check_array(X, dtype=np.float64, input_name="X")
    full = np.ndim(M) != 1
    if full:
        L = metric_factor(M, points.shape[1])
        metric = Metric((L @ L.T).ravel(), L)
    else:
        weights: Any = check_array(M, dtype=np.float64, ensure_2d=False, input_name="M")
        if weights.shape != points.shape[1:] or weights.min() < 0:
            raise ValueError(
                f"M must be a matrix or have {points.shape[1]} non-negative weights; got {weights}"
            )
        metric = Metric(weights, np.sqrt(weights))
    truth = check_integer_labels(labels, "labels", least=0, n=len(points))
    min_length = _check_min_length(min_length, [truth])
    problem = _Structure(structure, n_clusters == "known", full, min_length)
    cut = problem.oracle(points - points.mean(axis=0), truth, "labels")(metric)
    return max(0.0, float(cut.offset + cut.gradient @ metric.entries))


class LargeMarginMetric(BaseEstimator):
    """Metric for change-point detection or k-means, learned from partitions (Lajugie 2014, Eq. 9).

    Learns B from sequences, or data sets, that share the metric and whose partitions are known
    in full or in part. With ``n_clusters="learned"`` the penalty of a cluster, which decides on
    their number, is learned as well: it is the scale of B.

    Parameters
    ----------
    structure : {"sequence", "spectral"}, default="sequence"
        "sequence": clusters are contiguous segments, and all maximizations are exact. "spectral":
        any partition, by the eigenvalue relaxation of k-means that keeps the constant vector.
    n_clusters : {"learned", "known"}, default="learned"
        Whether the number of clusters has to be found or is told to `predict`.
    metric : {"diagonal", "full"}, default="diagonal"
        B = Diag(b) with b ≥ 0, or any symmetric positive semidefinite B.
    regularizer : {"l2", "l1", "trace"}, default="l2"
        α/2 ‖B‖²; α Tr B, named "l1" when the metric is diagonal (then it selects features) and
        "trace" when it is full (then it favours low rank). A full metric with "trace" has
        a Frobenius term of weight α/100 added. B is measured in dimensionless units.
    alpha : float, optional
        Weight α > 0. Default: 1e-3 for "l2", 1e-2 otherwise.
    min_length : int or "auto", default="auto"
        Least length of a segment, in learning and in prediction. Without it the worst partition
        is often the one into single points, which only a small B can avoid, and few changes are
        found. "auto": half the shortest segment of the training labels.
    calibrate : bool, default=True
        After learning, choose `penalty_` by the training loss instead of leaving it at 1; only
        when the number of clusters is learned.
    solver : {"auto", "cutting-planes", "subgradient"}, default="auto"
        n-slack cutting planes end with a certified gap. Projected subgradients with averaging
        need many more, cheaper iterations, and are the choice of "auto" for a full metric
        of more than 60 features.
    tol : float, default=1e-3
        Relative duality gap at which learning ends.
    max_iter : int, default=1000
        Largest number of rounds, in each of which every sequence is partitioned once.
    init : {"labelled", "pca"}, default="labelled"
        Where to start from when labels are missing: the metric learned from the labelled
        stretches alone, or the projection on the first `n_pca` principal components (the
        paper's choice).
    n_pca : int, default=3
        Number of principal components for ``init="pca"``.
    max_alternations : int, default=10
        Largest number of times that missing labels are filled in and the metric is learned anew.
    verbose : bool, default=False
        Show progress; needs tqdm.
    random_state : int, RandomState instance or None, default=None
        For k-means in `predict` when the structure is "spectral".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with B = LᵀL; features without weight give no row.
    penalty_ : float or None
        What a cluster costs under B in `predict`; None when the number of clusters is known.
    objective_ : float
        J(B), in units of `mlbook.partitions.partition_loss`.
    lower_bound_ : float
        No metric has a smaller objective.
    duality_gap_ : float
        ``(objective_ - lower_bound_) / objective_``.
    n_iter_ : int
        Rounds of the (last) learning.
    n_alternations_ : int
        Times the metric was learned from labels that were filled in.
    labels_ : list of ndarray
        The training labels, those missing filled in.
    min_length_ : int
        Least length of a segment.
    n_features_in_ : int
        Number of features.

    References
    ----------
    R. Lajugie, S. Arlot, F. Bach. Large-margin metric learning for constrained partitioning
    problems. ICML 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from mlbook.partitions import partition_loss
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2, 3], 25)
    >>> levels = np.array([0.0, 3.0, -1.0, 2.0])
    >>> X = [np.c_[levels[y], np.zeros((100, 5))] + rng.normal(size=(100, 6)) for _ in range(3)]
    >>> model = LargeMarginMetric().fit(X[:2], [y, y])
    >>> int(model.get_mahalanobis_matrix().diagonal().argmax()), model.duality_gap_ <= 1e-3
    (0, True)
    >>> partition_loss(model.predict(X[2]), y) < 0.5
    True
    """

    # scikit-learn's routing of arguments has no use for a number that changes with X
    __metadata_request__predict: ClassVar = {"n_clusters": UNUSED}

    def __init__(
        self,
        *,
        structure: str = "sequence",
        n_clusters: str = "learned",
        metric: str = "diagonal",
        regularizer: str = "l2",
        alpha: float | None = None,
        min_length: int | str = "auto",
        calibrate: bool = True,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        init: str = "labelled",
        n_pca: int = 3,
        max_alternations: int = 10,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.n_clusters = n_clusters
        self.metric = metric
        self.regularizer = regularizer
        self.alpha = alpha
        self.min_length = min_length
        self.calibrate = calibrate
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.init = init
        self.n_pca = n_pca
        self.max_alternations = max_alternations
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Sequence[ArrayLike], y: Sequence[ArrayLike]) -> Self:
        """Learn the metric.

        Each round costs one loss-augmented inference per sequence.

        Parameters
        ----------
        X : list of array-like of shape (n_i, n_features)
            The sequences or data sets; their lengths may differ.
        y : list of array-like of n_i integers
            Their partitions. −1 marks points whose cluster is not known, which is allowed when
            the structure is "sequence" and the number of clusters learned: then missing labels
            are filled in under the current metric, in agreement with the others, and the metric
            is learned anew, until nothing changes (Lajugie 2014, Section 5.2).

        Returns
        -------
        LargeMarginMetric
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or an input is not as described, a segment of the training labels is
            shorter than `min_length`, or partial labels contradict contiguous segments.

        Warns
        -----
        UserWarning
            If a feature is constant within every sequence, or B = 0 is learned.
        ConvergenceWarning
            If the gap is above `tol` after `max_iter` rounds.
        """
        self._check_parameters()
        series, labels = _check_training(X, y)
        self.n_features_in_ = series[0].shape[1]
        partial = any(np.any(truth < 0) for truth in labels)
        sequence, known = self.structure == "sequence", self.n_clusters == "known"
        if partial and (known or not sequence):
            raise ValueError(
                "y may have unknown labels (-1) only with structure='sequence' and "
                f"n_clusters='learned'; got {self.structure!r} and {self.n_clusters!r}"
            )
        if sequence:
            self.min_length_ = _check_min_length(self.min_length, labels)
        else:
            self.min_length_ = 1
        self.n_alternations_ = 0
        if partial:
            self._fit_partial(series, labels)
        else:
            self._learn(series, labels)
            self.labels_ = labels
            self.penalty_ = None if known else 1.0
            if self.calibrate and not known:
                self.penalty_ = self._calibrated(series, labels)
        if not self.components_.any():
            warnings.warn(
                "the learned metric is zero: all features were found useless, or alpha is too "
                "large",
                stacklevel=2,
            )
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Map points to the space where Euclidean distance is the learned metric.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n, n_components)
            ``X @ components_.T``.
        """
        check_is_fitted(self, "components_")
        points: Any = check_array(X, dtype=np.float64, input_name="X")
        if points.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X must have {self.n_features_in_} features, as in fit; got {points.shape[1]}"
            )
        return points @ self.components_.T

    def get_mahalanobis_matrix(self) -> Floats:
        """B as ``components_.T @ components_``, of shape (n_features, n_features)."""
        check_is_fitted(self, "components_")
        return self.components_.T @ self.components_

    def predict(self, X: ArrayLike, n_clusters: int | None = None) -> Integers:
        """Partition a new sequence or data set under the learned metric.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The points.
        n_clusters : int, optional
            Number of clusters. Default: the number that `penalty_` leads to; needed when the
            estimator was made for known numbers of clusters.

        Returns
        -------
        ndarray of n integers
            Cluster of each point: exact for segments (`mlbook.changepoints.segment`), by
            `mlbook.kmeans.SpectralKMeans` otherwise.

        Raises
        ------
        ValueError
            If an input is not as described.
        """
        return self._partition(self.transform(X), n_clusters)

    def _partition(self, points: Floats, n_clusters: int | None, known: Any = None) -> Integers:
        """Partition points that are mapped already."""
        if n_clusters is None and self.penalty_ is None:
            raise ValueError("n_clusters must be given: the metric was learned for known numbers")
        if self.structure == "sequence":
            return segment(
                points,
                n_clusters,
                self.penalty_ if n_clusters is None else None,
                min_length=min(self.min_length_, len(points)),
                constraints=known,
            )
        if n_clusters is None:
            spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) ** 2
            n_clusters = min(len(points), 1 + int(np.sum(spread > self.penalty_)))
        k = check_n_clusters(n_clusters, len(points))
        return SpectralKMeans(k, random_state=self.random_state).fit_predict(points)

    def _check_parameters(self) -> None:
        check_choice(self.structure, "structure", ("sequence", "spectral"))
        check_choice(self.n_clusters, "n_clusters", ("known", "learned"))
        check_choice(self.metric, "metric", ("diagonal", "full"))
        full = self.metric == "full"
        check_choice(self.regularizer, "regularizer", ("l2", "trace" if full else "l1"))
        check_choice(self.solver, "solver", ("auto", "cutting-planes", "subgradient"))
        if self.solver == "subgradient" and self.regularizer == "l1":
            raise ValueError("solver='subgradient' needs regularizer='l2' or 'trace'; got 'l1'")
        check_choice(self.init, "init", ("labelled", "pca"))
        if self.alpha is not None:
            check_number(self.alpha, "alpha", above=0)
        check_number(self.tol, "tol", above=0)
        check_integer(self.max_iter, "max_iter", least=1)
        check_integer(self.n_pca, "n_pca", least=1)
        check_integer(self.max_alternations, "max_alternations", least=1)

    def _learn(self, series: list[Floats], labels: list[Integers]) -> None:
        """Minimize J for full labels."""
        centred = [x - x.mean(axis=0) for x in series]
        weights = np.array([1 / len(x) for x in series])
        weights /= weights.sum()
        scatter = sum(w * np.sum(x**2, axis=0) for w, x in zip(weights, centred, strict=True))
        flat = scatter <= np.finfo(float).eps * sum(np.sum(x**2, axis=0) for x in series)
        if flat.any():
            warnings.warn(
                f"features {np.flatnonzero(flat)[:5]} are constant within every sequence and "
                "get no weight",
                stacklevel=3,
            )
        units = np.where(flat, 0.0, 1 / np.sqrt(np.where(flat, 1.0, scatter)))

        full = self.metric == "full"
        known = self.n_clusters == "known"
        structure = _Structure(self.structure, known, full, self.min_length_)
        oracles = [
            structure.oracle(x * units, truth, f"y[{i}]")
            for i, (x, truth) in enumerate(zip(centred, labels, strict=True))
        ]
        linear = self.regularizer != "l2"
        alpha = self.alpha if self.alpha is not None else (1e-2 if linear else 1e-3)
        quadratic = _SMOOTHING * alpha * full if linear else alpha
        problem = Problem(oracles, weights, alpha * linear, quadratic, full, self.n_features_in_)

        large = full and self.n_features_in_ > _CUTTING_PLANES_TO
        cheap = self.solver == "subgradient" or (self.solver == "auto" and large)
        solve = subgradient if cheap else cutting_planes
        with _progress(self.verbose, self.max_iter) as show:
            for n_iter, solution in enumerate(solve(problem), start=1):
                show(solution)
                if solution.gap <= self.tol or n_iter == self.max_iter:
                    break
        if solution.gap > self.tol:
            warnings.warn(
                f"the duality gap is {solution.gap:.2g} after {n_iter} rounds, above tol="
                f"{self.tol:g}; raise max_iter, tol or alpha",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.n_iter_ = n_iter
        self.objective_, self.lower_bound_ = solution.objective, solution.lower_bound
        self.duality_gap_ = solution.gap
        L = solution.metric.factor
        self.components_ = (units[:, None] * L).T if full else np.diag(units * L)
        kept = self.components_.any(axis=1)
        self.components_ = self.components_[kept if kept.any() else slice(1)]

    def _calibrated(self, series: list[Floats], labels: list[Integers]) -> float:
        """Penalty of least loss on the labelled points: middle of the longest best interval."""
        mapped = [x @ self.components_.T for x in series]
        scatter = float(np.mean([np.sum((x - x.mean(axis=0)) ** 2) for x in mapped]))
        if scatter == 0:
            return 1.0
        losses = []
        penalties = scatter * _PENALTIES
        for penalty in penalties:
            self.penalty_ = float(penalty)
            predicted = [self._partition(x, None) for x in mapped]
            losses.append(_mean_loss(predicted, labels))
        best = np.flatnonzero(np.array(losses) <= min(losses) + 1e-9)
        runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
        longest = max(runs, key=len)
        return float(np.sqrt(penalties[longest[0]] * penalties[longest[-1]]))

    def _fit_partial(self, series: list[Floats], labels: list[Integers]) -> None:
        """Fill in labels and learn by turns, from `init` on (Lajugie 2014, Section 5.2)."""
        constraints = [constraints_from_labels(truth) for truth in labels]
        if self.init == "labelled":
            windows = _labelled_windows(series, labels, self.min_length_)
            self._learn([x for x, _ in windows], [truth for _, truth in windows])
        else:
            pooled = np.vstack([x - x.mean(axis=0) for x in series])
            most = min(pooled.shape)
            check_integer(self.n_pca, "n_pca", least=1, most=most)
            self.components_ = svd(pooled, full_matrices=False)[2][: self.n_pca]
        self.penalty_ = 1.0
        if self.calibrate or self.init == "pca":
            self.penalty_ = self._calibrated(series, labels)
        before: list[Integers] = []
        for _ in range(self.max_alternations):
            completed = [
                self._partition(x @ self.components_.T, None, known)
                for x, known in zip(series, constraints, strict=True)
            ]
            if before and all(map(np.array_equal, completed, before)):
                break
            before = self.labels_ = completed
            self.n_alternations_ += 1
            self._learn(series, completed)
            self.penalty_ = self._calibrated(series, labels) if self.calibrate else 1.0


# Loss-augmented inference


class _Structure(NamedTuple):
    """Which partitions there are."""

    kind: str
    known: bool
    full: bool
    min_length: int

    def oracle(self, X: Floats, labels: Integers, name: str) -> Oracle:
        """Return the oracle of a labelled sequence; X is centred."""
        kind = _SequenceOracle if self.kind == "sequence" else _SpectralOracle
        return kind(X, labels, self, name)


class _SequenceOracle:
    """Exact, over contiguous segments."""

    def __init__(self, X: Floats, labels: Integers, structure: _Structure, name: str) -> None:
        self.X, self.structure = X, structure
        starts = segment_starts(labels, name)
        self.labels = labels
        self.n_segments = len(starts)
        self.between = self._between(starts)

    def __call__(self, metric: Metric) -> Cut:
        k = self.n_segments if self.structure.known else None
        full, shortest = self.structure.full, self.structure.min_length
        X, weights = (self.X @ metric.factor, None) if full else (self.X, metric.entries)
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
        if self.structure.full:
            return (means.T @ means).ravel()
        return np.sum(means**2, axis=0)


class _SpectralOracle:
    """Over all projectors M with M1 = 1, instead of partitions (Lajugie 2014, Section 2.4).

    1 is split off: what remains of M is a projector on its complement, where A = XBXᵀ − 2N
    has a range of at most d + k − 1 dimensions. A basis of it comes from a QR decomposition of
    [X, J], NX = J(JᵀX), both centred. Outside of it A is zero.
    """

    def __init__(self, X: Floats, labels: Integers, structure: _Structure, name: str) -> None:
        J = normalized_assignment(labels).toarray()
        self.structure = structure
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
        mapped = self.X @ metric.factor if self.structure.full else self.X * metric.factor
        values, vectors = eigh(mapped @ mapped.T - 2 * self.J @ self.J.T)
        if self.structure.known:
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
        if self.structure.full:
            return (left.T @ right).ravel()
        return np.einsum("ij,ij->j", left, right)


@contextmanager
def _progress(verbose: bool, total: int) -> Iterator[Callable[[Solution], None]]:
    """Yield a function that shows how far learning is."""
    if not verbose:
        yield lambda solution: None
        return
    tqdm = need("tqdm.auto", project="tqdm", extra="reproduce").tqdm
    with tqdm(total=total, desc="large margin", unit="round") as bar:

        def show(solution: Solution) -> None:
            bar.update()
            bar.set_postfix(objective=f"{solution.objective:.4g}", gap=f"{solution.gap:.2g}")

        yield show


# Labels


def _runs(labels: Integers) -> Iterator[tuple[int, int]]:
    """Maximal stretches [start, stop) of equal labels."""
    boundaries = np.flatnonzero(np.diff(labels)) + 1
    return pairwise([0, *boundaries.tolist(), len(labels)])


def _labelled_windows(
    series: list[Floats], labels: list[Integers], min_length: int
) -> list[tuple[Floats, Integers]]:
    """Stretches without missing labels, less pieces of segments shorter than `min_length`."""
    windows = []
    for x, truth in zip(series, labels, strict=True):
        for start, stop in _runs((truth >= 0).astype(np.int64)):
            if truth[start] < 0:
                continue
            pieces = [(start + a, start + b) for a, b in _runs(truth[start:stop])]
            if start > 0 and pieces[0][1] - pieces[0][0] < min_length:
                pieces = pieces[1:]
            if stop < len(x) and pieces and pieces[-1][1] - pieces[-1][0] < min_length:
                pieces = pieces[:-1]
            if pieces and pieces[-1][1] - pieces[0][0] > 1:
                window = slice(pieces[0][0], pieces[-1][1])
                windows.append((x[window], truth[window]))
    if not windows:
        raise ValueError(
            "y must have a stretch of labelled points, longer than min_length, to learn from "
            "with init='labelled'; use init='pca'"
        )
    return windows


def _mean_loss(predicted: list[Integers], labels: list[Integers]) -> float:
    """Mean partition loss on the labelled points."""
    losses = [
        partition_loss(a[b >= 0], b[b >= 0])
        for a, b in zip(predicted, labels, strict=True)
        if np.any(b >= 0)
    ]
    return float(np.mean(losses))


# Input


def _check_training(
    X: Sequence[ArrayLike], y: Sequence[ArrayLike]
) -> tuple[list[Floats], list[Integers]]:
    check_list(X, "X", "sequence or data set")
    if len(X) != len(y) or not len(X):
        raise ValueError(
            f"X and y must be lists of the same length, at least 1; got {len(X)} and {len(y)}"
        )
    series: list[Any] = [
        check_array(x, dtype=np.float64, input_name=f"X[{i}]", ensure_min_samples=2)
        for i, x in enumerate(X)
    ]
    sizes = {x.shape[1] for x in series}
    if len(sizes) > 1:
        raise ValueError(f"X must have the same features throughout; got {sorted(sizes)} of them")
    labels = [
        check_integer_labels(truth, f"y[{i}]", least=-1, n=len(x))
        for i, (x, truth) in enumerate(zip(series, y, strict=True))
    ]
    if all(np.all(truth < 0) for truth in labels):
        raise ValueError("y must have labels; all are unknown (-1)")
    return series, labels


def _check_min_length(min_length: Any, labels: list[Integers]) -> int:
    """Resolve "auto" and compare with the segments both of whose ends are known."""
    complete = [
        (stop - start, i)
        for i, truth in enumerate(labels)
        for start, stop in _runs(truth)
        if truth[start] >= 0
        and (start == 0 or truth[start - 1] >= 0)
        and (stop == len(truth) or truth[stop] >= 0)
    ]
    shortest, where = min(complete, default=(1, 0))
    if isinstance(min_length, str):
        check_choice(min_length, "min_length", ("auto",))
        return max(1, shortest // 2)
    length = check_integer(min_length, "min_length", least=1)
    if complete and shortest < length:
        raise ValueError(
            f"y must have no segment shorter than min_length={length}; y[{where}] has one of "
            f"length {shortest}"
        )
    return length
