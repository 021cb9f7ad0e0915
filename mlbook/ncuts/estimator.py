"""A metric learned for normalized cuts: the estimator, and how its objective is minimized."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Floats, Integers
from mlbook._memory import check_pairs
from mlbook._metric import SetMetric, check_lists, check_set, check_truth, count_clusters
from mlbook._validation import as_array, as_floats, check_integer, check_matrix, check_number
from mlbook.ncuts.affinities import (
    gaussian_affinity,
    grid_edges,
    squared_differences,
    symmetric,
)
from mlbook.ncuts.cuts import normalized_cut
from mlbook.ncuts.hinge import Parts, Scene, check_scene, hinge_parts, majorizer
from mlbook.partitions import partition_loss

__all__ = ["NormalizedCutMetric"]


class NormalizedCutMetric(SetMetric):
    """Learn the weights of features for normalized cuts, from graphs already cut.

    The affinities are exp(−Σ_p b_p (x_ip − x_jp)²) on pairs of nearby pixels, or on all pairs of
    points; b is shared by all graphs. The mean `spectral_hinge` is minimized over weights that
    make the mean exponent of the training pairs equal to a given number, the *scale*: a
    share w_p for every feature, b_p = scale · w_p / (mean squared difference of feature p). Left
    free, the scale goes to zero or drifts, as the hinge knows the affinities and not the cut; so
    it is chosen among a few by the loss of the cuts of the training graphs.

    Each iteration majorizes the hinge by the tangent of its concave part (Lajugie 2014, Section
    5.1) and decreases the majorizer by projected gradient steps: the objective never rises.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of parts `predict` cuts into.
    radius : float, default=5.0
        Distance in pixels up to which pixels of an image have an affinity.
    scales : sequence of float, default=(1.0, 2.0, 4.0, 8.0)
        Mean exponents to choose from.
    score_weight : float, default=5.0
        Weight of the affinities against the loss in `spectral_hinge`.
    max_iter : int, default=30
        Majorizations, for each scale.
    max_steps : int, default=5
        Gradient steps on each majorizer.
    tol : float, default=1e-4
        An iteration that lowers the objective by a smaller fraction of it is the last.
    random_state : int, RandomState instance or None, default=None
        Start of the iterations for eigenvectors, and restarts of k-means.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        Diag(√b), the map for `transform`.
    weights_ : ndarray of shape (n_features,)
        b.
    scale_ : float
        The scale that was chosen.
    scale_losses_ : ndarray of shape (n_scales,)
        Mean loss of the cuts of the training graphs, by scale.
    objective_path_ : ndarray of shape (``n_iter_ + 1``,)
        Mean hinge before and after each iteration, at the chosen scale.
    n_iter_ : int
        Iterations at the chosen scale.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Memory: the squared differences of all training pairs, O(m d) in total. A 60 × 80 image with
    radius 5 has about 180 000 pairs.

    The hinge bounds the loss of the best relaxed partition under W, without its normalization
    by the degrees, as in the paper; `predict` uses the normalized cut.

    References
    ----------
    R. Lajugie, S. Arlot, F. Bach. Large-margin metric learning for constrained partitioning
    problems. ICML 2014.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 10)
    >>> X = np.column_stack([y + 0.2 * rng.normal(size=20), rng.normal(size=20)])
    >>> metric = NormalizedCutMetric(random_state=0).fit([X], [y])
    >>> print(metric.weights_[0] > 10 * metric.weights_[1], metric.predict(X))
    True [0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1 1]
    """

    def __init__(
        self,
        *,
        n_clusters: int = 2,
        radius: float = 5.0,
        scales: Sequence[float] = (1.0, 2.0, 4.0, 8.0),
        score_weight: float = 5.0,
        max_iter: int = 30,
        max_steps: int = 5,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.radius = radius
        self.scales = scales
        self.score_weight = score_weight
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.tol = tol
        self.random_state = random_state

    def fit(self, Xs: Sequence[ArrayLike], ys: Sequence[ArrayLike]) -> Self:
        """Learn the weights.

        Parameters
        ----------
        Xs : list of array-like of shape (height, width, d) or (n, d)
            Features of the pixels of each image, or of the points of a graph of all pairs.
        ys : list of array-like of shape (height, width) or (n,)
            The part each pixel or point belongs to; −1 leaves it out of the graph. The numbers
            of one graph have nothing to do with those of another.

        Returns
        -------
        NormalizedCutMetric
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument is not as described, a graph has fewer than two parts, or a feature
            does not vary.

        Warns
        -----
        ConvergenceWarning
            If the objective at the chosen scale still falls by more than `tol` after `max_iter`
            majorizations.
        """
        given = as_floats(self.scales, "scales")
        if given.ndim != 1:
            raise ValueError(f"scales must be a list of numbers; got {self.scales!r:.200}")
        scales = [check_number(scale, "each of scales", above=0) for scale in given.tolist()]
        check_number(self.radius, "radius", least=1)
        if not scales:
            raise ValueError("scales must hold at least one scale; got none")
        max_iter = check_integer(self.max_iter, "max_iter", least=1)
        max_steps = check_integer(self.max_steps, "max_steps", least=1)
        tol = check_number(self.tol, "tol", least=0)
        rng = check_random_state(self.random_state)
        scenes = self._scenes(Xs, ys)
        spread = sum(scene.differences.sum(axis=0) for scene in scenes)
        spread = spread / sum(len(scene.differences) for scene in scenes)
        if not np.all(spread > 0):
            raise ValueError(
                f"Xs: feature {int(np.argmin(spread > 0))} is the same for all pairs; leave it out"
            )
        found = []
        for scale in scales:
            unit = scale / spread
            shares, path = _minimize(scenes, unit, max_iter, max_steps, tol, rng)
            losses = [self._loss(scene, unit * shares, rng) for scene in scenes]
            found.append((float(np.mean(losses)), unit * shares, path))
        self.scale_losses_ = np.array([loss for loss, _, _ in found])
        best = int(self.scale_losses_.argmin())
        self.scale_ = scales[best]
        _, self.weights_, self.objective_path_ = found[best]
        self.n_iter_ = len(self.objective_path_) - 1
        before, after = self.objective_path_[-2:]
        if before - after > tol * abs(before):
            warnings.warn(
                f"the objective still fell by {before - after:.2g} in the last of max_iter="
                f"{max_iter} majorizations; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: ArrayLike, n_clusters: int | None = None) -> Integers:
        """Cut one image or one set of points.

        Parameters
        ----------
        X : array-like of shape (height, width, n_features) or (n, n_features)
            Features of the pixels, or of the points of a graph of all pairs.
        n_clusters : int, optional
            Number of parts; default: the estimator's.

        Returns
        -------
        ndarray of shape (height, width) or (n,)
            Part of each, numbered from 0 in order of appearance.
        """
        check_is_fitted(self)
        points, edges, shape = self._graph(X, "X")
        W = gaussian_affinity(points, edges, self.weights_)
        k = self.n_clusters if n_clusters is None else n_clusters
        return normalized_cut(W, k, random_state=self.random_state).reshape(shape)

    def _found(self, X: Any, y: Any) -> Any:
        return self.predict(X, count_clusters(y))

    @property
    def components_(self) -> Floats:
        """Diag(√b), of shape (n_features, n_features)."""
        check_is_fitted(self)
        return np.diag(np.sqrt(self.weights_))

    def _scenes(self, Xs: Sequence[ArrayLike], ys: Sequence[ArrayLike]) -> list[Scene]:
        check_lists(Xs, ys)
        if getattr(Xs, "ndim", None) == 3:
            raise ValueError(
                "Xs must be a list of images or sets; got one array of shape "
                f"{np.asarray(Xs).shape}. If it is one image, put it in a list; if it holds "
                "several sets, pass list(Xs)"
            )
        check_integer(self.n_clusters, "n_clusters", least=1)
        scenes: list[Scene] = []
        for index, (features, parts) in enumerate(zip(Xs, ys, strict=True)):
            points, edges, shape = self._graph(features, f"Xs[{index}]", reset=index == 0)
            labels = check_truth(parts, f"ys[{index}]")
            if labels.shape != shape:
                raise ValueError(
                    f"ys[{index}] must have shape {shape}, as Xs[{index}] has; got {labels.shape}"
                )
            known = labels.ravel() != -1
            if not known.any():
                raise ValueError(f"ys[{index}] must have labels; all are unknown (-1)")
            number = np.cumsum(known) - 1
            edges = number[edges[:, known[edges].all(axis=0)]]
            differences = squared_differences(points[known], edges)
            right, name = labels.ravel()[known], f"ys[{index}]"
            scenes.append(check_scene(differences, edges, right, self.score_weight, name))
        return scenes

    def _graph(
        self, X: ArrayLike, name: str, *, reset: bool = False
    ) -> tuple[Floats, Integers, tuple[int, ...]]:
        """Return the points of an image or a set, their pairs, and the shape of the labels."""
        if (getattr(X, "ndim", None) or as_array(X, name).ndim) == 2:
            points = check_set(self, X, name, reset=reset)
            check_pairs(len(points), name, copies=(points.shape[1] + 8) / 2)
            return points, np.array(np.triu_indices(len(points), 1), dtype=np.int64), (len(points),)
        image: Any = check_matrix(X, dtype=np.float64, allow_nd=True, input_name=name)
        if image.ndim != 3:
            raise ValueError(
                f"{name} must have shape (height, width, d) or (n, d); got {image.ndim} dimensions"
            )
        height, width, d = image.shape
        points = check_set(self, image.reshape(-1, d), name, reset=reset)
        return points, grid_edges(height, width, self.radius), (height, width)

    def _loss(self, scene: Scene, weights: Floats, rng: np.random.RandomState) -> float:
        W = symmetric(np.exp(-scene.differences @ weights), scene.edges, scene.J.shape[0])
        found = normalized_cut(W, scene.J.shape[1], random_state=rng)
        return partition_loss(found, scene.J.indices)


def _minimize(
    scenes: list[Scene],
    unit: Floats,
    max_iter: int,
    max_steps: int,
    tol: float,
    rng: np.random.RandomState,
) -> tuple[Floats, Floats]:
    """Minimize the mean hinge of b = unit · w over shares w ≥ 0 with sum 1, from equal shares.

    Returns the shares and the objective before and after each iteration.
    """

    def evaluate(w: Floats) -> list[Parts]:
        return [hinge_parts(unit * w, scene, rng) for scene in scenes]

    shares = np.full(len(unit), 1 / len(unit))
    here = evaluate(shares)
    path = [float(np.mean([parts.value for parts in here]))]
    step = 1.0
    for _ in range(max_iter):
        anchor, at = unit * shares, here
        for _ in range(max_steps):
            value, slope = _mean_majorizer(here, unit * shares, at, anchor)
            moved = False
            while not moved and step > 1e-8:
                trial = _to_simplex(shares - step * unit * slope)
                there = evaluate(trial)
                lower, _ = _mean_majorizer(there, unit * trial, at, anchor)
                moved = lower < value - 1e-4 / step * float(np.sum((trial - shares) ** 2))
                step *= 2 if moved else 0.5
            if not moved:
                break
            shares, here = trial, there
        path.append(float(np.mean([parts.value for parts in here])))
        if path[-2] - path[-1] <= tol * abs(path[-2]):
            break
    return shares, np.array(path)


def _mean_majorizer(
    parts: list[Parts], b: Floats, at: list[Parts], anchor: Floats
) -> tuple[float, Floats]:
    each = [majorizer(p, b, a, anchor) for p, a in zip(parts, at, strict=True)]
    return float(np.mean([value for value, _ in each])), np.mean([g for _, g in each], axis=0)


def _to_simplex(w: Floats) -> Floats:
    """Nearest point with entries ≥ 0 and sum 1 (Held, Wolfe and Crowder 1974)."""
    sorted_ = np.sort(w)[::-1]
    excess = (np.cumsum(sorted_) - 1) / np.arange(1, len(w) + 1)
    return np.maximum(w - excess[np.flatnonzero(sorted_ > excess)[-1]], 0)
