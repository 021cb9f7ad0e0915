"""Large-margin metrics: the estimator."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Floats, Integers
from mlbook._blas import one_blas_thread
from mlbook._metric import (
    SetMetric,
    check_lists,
    check_set,
    check_sets,
    count_clusters,
    is_list_of_sets,
)
from mlbook._validation import (
    check_boolean,
    check_choice,
    check_integer,
    check_integer_labels,
    check_jobs,
    check_n_clusters,
    check_number,
)
from mlbook.changepoints import constraints_from_labels
from mlbook.large_margin.hinge import Structure
from mlbook.large_margin.jobs import in_turn, spread_over
from mlbook.large_margin.labels import check_min_length, labelled_windows
from mlbook.large_margin.learning import (
    Learned,
    Result,
    best_partition,
    calibrated_penalty,
    learn_by_turns,
    learn_metric,
)
from mlbook.large_margin.minimization import cutting_planes, subgradient

__all__ = ["LargeMarginMetric"]

_SMOOTHING = 1e-2  # share of a Frobenius term in the trace regularizer of a full metric
_CUTTING_PLANES_TO = 60  # features up to which a full metric is learned by cutting planes


class LargeMarginMetric(SetMetric):
    """Metric for change-point detection or k-means, learned from partitions (Lajugie 2014, Eq. 9).

    In the papers: Lajugie 2014, Eq. 9 and Section 5.2.

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
        found. "auto": half the shortest training segment of which both ends are known, or, if
        there is none, half the shortest labelled part of one; less where missing labels leave
        no room for that.
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
        Show progress.
    n_jobs : int, optional
        Number of workers of joblib, over the sequences. None is one, unless a
        ``joblib.parallel_config`` says more; it may also name Dask or threads.
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
        n_jobs: int | None = None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, Xs: Sequence[ArrayLike], ys: Sequence[ArrayLike]) -> Self:
        """Learn the metric.

        Each round costs one loss-augmented inference per sequence.

        Parameters
        ----------
        Xs : list of array-like of shape (n_i, n_features)
            The sequences or data sets; their lengths may differ. Data frames need the same
            columns.
        ys : list of array-like of n_i integers
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
            shorter than `min_length`, or partial labels contradict contiguous segments or leave
            no room for segments of `min_length`.

        Warns
        -----
        UserWarning
            If a feature is constant within every sequence, or B = 0 is learned.
        ConvergenceWarning
            If the gap is above `tol` after `max_iter` rounds.
        """
        self._check_parameters()
        series, labels = self._check_training(Xs, ys)
        sequence, known = self.structure == "sequence", self.n_clusters == "known"
        partial_labels = any(np.any(truth < 0) for truth in labels)
        if partial_labels and (known or not sequence):
            raise ValueError(
                "ys may have unknown labels (-1) only with structure='sequence' and "
                f"n_clusters='learned'; got {self.structure!r} and {self.n_clusters!r}"
            )
        min_length = check_min_length(self.min_length, labels) if sequence else 1
        structure = Structure(sequence, known, min_length)
        # Many small matrices: two threads take four times as long.
        with one_blas_thread(), spread_over(self.n_jobs) as spread:
            learn = partial(self._learner(structure, series[0].shape[1]), spread=spread)
            if partial_labels:
                result = self._learn_by_turns(series, labels, structure, learn)
            else:
                learned = learn(series, labels)
                penalty = None if known else 1.0
                if self.calibrate and not known:
                    # One source of random numbers cannot be shared by several workers.
                    way = spread if sequence else in_turn
                    penalty = calibrated_penalty(
                        learned.components, series, labels, structure, self.random_state, way
                    )
                result = Result(learned, penalty, labels, 0)

        (components, solution, n_iter), penalty, labels, n_alternations = result
        self.min_length_ = min_length
        self.components_ = components
        self.penalty_ = penalty
        self.objective_, self.lower_bound_ = solution.objective, solution.lower_bound
        self.duality_gap_ = solution.gap
        self.n_iter_ = n_iter
        self.labels_ = labels
        self.n_alternations_ = n_alternations
        if not components.any():
            warnings.warn(
                "the learned metric is zero: all features were found useless, or alpha is too "
                "large",
                stacklevel=2,
            )
        return self

    def predict(self, X: Any, n_clusters: Any = None) -> Any:
        """Partition new sequences or data sets under the learned metric.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or list of such
            The points of one, or of several.
        n_clusters : int, or list of int, optional
            Number of clusters, of each. Default: the number that `penalty_` leads to; needed when
            the estimator was made for known numbers of clusters.

        Returns
        -------
        ndarray of n integers, or list of such
            Cluster of each point: exact for segments (`mlbook.changepoints.segment`), by
            `mlbook.kmeans.SpectralKMeans` otherwise.

        Raises
        ------
        ValueError
            If an input is not as described.
        """
        if is_list_of_sets(X):
            numbers = n_clusters if isinstance(n_clusters, list | tuple) else [n_clusters] * len(X)
            if len(numbers) != len(X):
                raise ValueError(
                    f"n_clusters must have a number for each of {len(X)} sequences; got "
                    f"{len(numbers)}"
                )
            return [self.predict(x, k) for x, k in zip(X, numbers, strict=True)]
        check_is_fitted(self)
        points = check_set(self, X, "X", reset=False) @ self.components_.T
        if n_clusters is not None:
            n_clusters = check_n_clusters(n_clusters, len(points))
        if n_clusters is None and self.penalty_ is None:
            raise ValueError("n_clusters must be given: the metric was learned for known numbers")
        structure = Structure(
            self.structure == "sequence", self.n_clusters == "known", self.min_length_
        )
        return best_partition(
            points,
            structure,
            n_clusters=n_clusters,
            penalty=self.penalty_,
            random_state=self.random_state,
        )

    def _found(self, X: Any, y: Any) -> Any:
        return self.predict(X, count_clusters(y) if self.n_clusters == "known" else None)

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
        check_boolean(self.calibrate, "calibrate")
        check_boolean(self.verbose, "verbose")
        if self.alpha is not None:
            check_number(self.alpha, "alpha", above=0)
        check_number(self.tol, "tol", above=0)
        check_integer(self.max_iter, "max_iter", least=1)
        check_integer(self.n_pca, "n_pca", least=1)
        check_integer(self.max_alternations, "max_alternations", least=1)
        check_jobs(self.n_jobs)

    def _learner(self, structure: Structure, n_features: int) -> Callable[..., Learned]:
        """Return `learn_metric` with everything set but the labelled sequences."""
        full, trace = self.metric == "full", self.regularizer != "l2"
        alpha = self.alpha if self.alpha is not None else (1e-2 if trace else 1e-3)
        large = full and n_features > _CUTTING_PLANES_TO
        cheap = self.solver == "subgradient" or (self.solver == "auto" and large)
        return partial(
            learn_metric,
            structure=structure,
            full=full,
            linear=alpha * trace,
            quadratic=_SMOOTHING * alpha * full if trace else alpha,
            solve=subgradient if cheap else cutting_planes,
            tol=self.tol,
            max_iter=self.max_iter,
            verbose=self.verbose,
        )

    def _learn_by_turns(
        self,
        series: list[Floats],
        labels: list[Integers],
        structure: Structure,
        learn: Callable[..., Learned],
    ) -> Result:
        """Learn from partial labels, starting as `init` says."""
        constraints = []
        for i, truth in enumerate(labels):
            try:
                constraints.append(constraints_from_labels(truth))
            except ValueError as error:
                raise ValueError(f"ys[{i}]: {error}") from error
        price = partial(calibrated_penalty, series=series, labels=labels, structure=structure)
        if self.init == "labelled":
            windows = labelled_windows(series, labels, structure.min_length)
            components = learn([x for x, _ in windows], [y for _, y in windows]).components
        else:
            pooled = np.vstack([x - x.mean(axis=0) for x in series])
            check_integer(self.n_pca, "n_pca", least=1, most=min(pooled.shape))
            components = svd(pooled, full_matrices=False)[2][: self.n_pca]
        return learn_by_turns(
            series,
            constraints,
            components,
            price(components) if self.calibrate or self.init == "pca" else 1.0,
            structure,
            learn=learn,
            price=price if self.calibrate else lambda components: 1.0,
            max_alternations=self.max_alternations,
        )

    def _check_training(
        self, Xs: Sequence[ArrayLike], ys: Sequence[ArrayLike]
    ) -> tuple[list[Floats], list[Integers]]:
        check_lists(Xs, ys)
        series = check_sets(self, Xs, min_rows=2)
        labels: list[Integers] = [
            check_integer_labels(y, f"ys[{i}]", least=-1, n=len(x))
            for i, (x, y) in enumerate(zip(series, ys, strict=True))
        ]
        if all(np.all(truth < 0) for truth in labels):
            raise ValueError("ys must have labels; all are unknown (-1)")
        return series, labels
