"""Normalized cuts of a graph, and a metric learned for them."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, diags_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from mlbook._validation import check_integer, check_n_clusters, check_number
from mlbook.ncuts.eigenvectors import drop_negligible, embedding, leading
from mlbook.partitions import assignment_matrix, normalized_assignment, partition_loss

__all__ = [
    "NormalizedCutMetric",
    "gaussian_affinity",
    "grid_edges",
    "normalized_cut",
    "normalized_cut_bound",
    "normalized_cut_value",
    "spectral_hinge",
    "squared_differences",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Random = int | np.random.RandomState | None


def normalized_cut_value(W: ArrayLike, labels: ArrayLike) -> float:
    """Σ_c cut(c) / vol(c), the normalized cut of a partition, from 0 to k.

    O(nnz(W)).

    Parameters
    ----------
    W : array-like or sparse array of shape (n, n)
        Symmetric affinities, not negative, each row with a positive sum.
    labels : array-like of n non-negative integers
        Part of each node.

    Returns
    -------
    float
        The value.

    Raises
    ------
    ValueError
        If an input is not as described, or the lengths of W and labels differ.

    Examples
    --------
    >>> W = [[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    >>> normalized_cut_value(W, [0, 0, 1])  # 1 of 5, and 1 of 1
    1.2
    """
    affinities = _check_affinities(W)
    Y = assignment_matrix(labels)
    if Y.shape[0] != affinities.shape[0]:
        raise ValueError(
            f"labels must have one entry per row of W; got {Y.shape[0]} labels for "
            f"{affinities.shape[0]} rows"
        )
    between = Y.T @ (affinities @ Y if issparse(affinities) else csr_array(affinities) @ Y)
    between = between.toarray()
    volumes = between.sum(axis=1)
    np.fill_diagonal(between, 0)
    return float(np.sum(between.sum(axis=1) / volumes))


def normalized_cut_bound(W: ArrayLike, n_clusters: int, *, random_state: Random = None) -> float:
    """Lower bound on the normalized cut of every partition into k parts.

    k less the sum of the k largest eigenvalues of W̃: no projector of rank k has a smaller value
    (Bach and Jordan 2004). O(n³) up to 300 nodes; beyond, Lanczos iterations of O(nnz(W)), and
    the eigenvalues are accurate to 1e-7.

    Parameters
    ----------
    W : array-like or sparse array of shape (n, n)
        Symmetric affinities, not negative, each row with a positive sum.
    n_clusters : int
        Number k of parts, from 1 to n.
    random_state : int, RandomState instance or None, default=None
        Start of the iterations.

    Returns
    -------
    float
        The bound; 0 if W has k or more connected components, as there is then such a cut, or has
        them to within 1e-12 of all degrees.

    Raises
    ------
    ValueError
        If an input is not as described.
    RuntimeError
        If the eigenvalues are not found; it says what to change.

    Examples
    --------
    >>> W = [[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    >>> round(normalized_cut_bound(W, 2), 6)  # every cut of these three nodes has 1.2 or more
    1.0
    """
    affinities = _check_affinities(W)
    k = check_n_clusters(n_clusters, affinities.shape[0])
    values, _ = embedding(drop_negligible(affinities), k, check_random_state(random_state))
    return max(0.0, k - float(values.sum()))


def normalized_cut(
    W: ArrayLike, n_clusters: int, *, n_init: int = 10, random_state: Random = None
) -> Integers:
    """Cut a graph into k parts of small normalized cut (Shi and Malik 2000).

    The relaxation is solved, then rounded. Two parts: the nodes are ordered by the second
    eigenvector over √degree, and of the n − 1 places to cut that order the best is taken. More
    parts: k-means, weighted by the degrees, of the rows of the k leading eigenvectors over
    √degree, which finds the M̃ nearest to the relaxed one (Bach and Jordan 2004). A graph that
    falls into k or more components needs no eigenvectors: putting whole components together,
    the largest first and each with the least so far, cuts nothing. Components are those that are
    left without affinities that no node would miss: 1e-12 of its degree at most.

    Parameters
    ----------
    W : array-like or sparse array of shape (n, n)
        Symmetric affinities, not negative, each row with a positive sum.
    n_clusters : int
        Number k of parts, from 1 to n.
    n_init : int, default=10
        Restarts of k-means.
    random_state : int, RandomState instance or None, default=None
        Start of the iterations for eigenvectors, and restarts.

    Returns
    -------
    ndarray of shape (n,)
        Part of each node, numbered from 0 in order of appearance.

    Raises
    ------
    ValueError
        If an input is not as described.
    RuntimeError
        If the eigenvectors are not found; it says what to change.

    Notes
    -----
    O(n³) up to 300 nodes; beyond, Lanczos iterations of O(nnz(W)), some hundreds for an image. On
    graphs that are nearly in pieces these may not end. Then a sparse matrix is factorized instead:
    for an image of n pixels, O(n²) operations and O(n^1.5) numbers, times powers of the radius.

    Examples
    --------
    >>> W = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    >>> normalized_cut(W, 2)
    array([0, 0, 0, 1, 1, 1])
    """
    affinities = drop_negligible(_check_affinities(W))
    k = check_n_clusters(n_clusters, affinities.shape[0])
    rng = check_random_state(random_state)
    degrees = affinities.sum(axis=1)
    n_components, component = connected_components(affinities, directed=False)
    if n_components >= k:
        volumes = np.bincount(component, degrees).astype(np.float64)
        labels = _group(volumes, k)[component]
    else:
        _, U = embedding(affinities, k, rng)
        rows = U / np.sqrt(degrees)[:, None]
        if k == 2:
            labels = _best_threshold(affinities, degrees, rows[:, 1])
        else:
            rounding = KMeans(k, n_init=n_init, random_state=rng)
            labels = rounding.fit_predict(rows, sample_weight=degrees)
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int64)


# Affinities


def grid_edges(height: int, width: int, radius: float = 5.0) -> Integers:
    """Pairs of pixels of an image that lie at most `radius` apart.

    Parameters
    ----------
    height, width : int
        Size of the image. Pixels are numbered from left to right and down.
    radius : float, default=5.0
        Largest distance, in pixels, at least 1.

    Returns
    -------
    ndarray of shape (2, m)
        The pairs, each once, its smaller number above. About 1.57 radius² times the pixels.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> grid_edges(2, 2, radius=1)
    array([[0, 2, 0, 1],
           [1, 3, 2, 3]])
    """
    height = check_integer(height, "height", least=1)
    width = check_integer(width, "width", least=1)
    radius = check_number(radius, "radius", least=1)
    numbers = np.arange(height * width).reshape(height, width)
    pairs = []
    for down in range(min(int(radius), height - 1) + 1):
        across = min(int(np.sqrt(radius**2 - down**2)), width - 1)
        for right in range(-across if down else 1, across + 1):
            start, stop = max(0, -right), width - max(0, right)
            here = numbers[: height - down, start:stop]
            there = numbers[down:, start + right : stop + right]
            pairs.append(np.stack([here.ravel(), there.ravel()]))
    return np.hstack(pairs) if pairs else np.empty((2, 0), dtype=np.int64)


def squared_differences(X: ArrayLike, edges: ArrayLike) -> Floats:
    """(x_ip − x_jp)² for every pair and feature.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    edges : array-like of shape (2, m)
        Pairs of indices of points.

    Returns
    -------
    ndarray of shape (m, d)

    Raises
    ------
    ValueError
        If X is not finite, or a pair is not two different indices of points.

    Examples
    --------
    >>> squared_differences([[0.0], [3.0], [4.0]], [[0, 1], [1, 2]])
    array([[9.],
           [1.]])
    """
    points: Any = check_array(X, dtype=np.float64, input_name="X")
    i, j = _check_edges(edges, len(points))
    return (points[i] - points[j]) ** 2


def gaussian_affinity(X: ArrayLike, edges: ArrayLike, b: ArrayLike) -> csr_array:
    """W_ij = exp(−Σ_p b_p (x_ip − x_jp)²) on the given pairs (Lajugie 2014, Eq. 10).

    As there, W_ii = 1: no node is without affinity, however far from all others. O(md)
    operations, O(m) memory.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    edges : array-like of shape (2, m)
        Pairs of indices of points, each once; all other pairs have affinity 0.
    b : array-like of d non-negative numbers
        Weights of the features, the diagonal of the metric B.

    Returns
    -------
    csr_array of shape (n, n)
        W, symmetric.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> W = gaussian_affinity([[0.0], [1.0], [3.0]], [[0, 1], [1, 2]], [1.0])
    >>> print(W.toarray().round(3))
    [[1.    0.368 0.   ]
     [0.368 1.    0.018]
     [0.    0.018 1.   ]]
    """
    points: Any = check_array(X, dtype=np.float64, input_name="X")
    pairs = _check_edges(edges, len(points))
    scaled = points * np.sqrt(_check_weights(b, points.shape[1]))
    affinities = np.empty(pairs.shape[1])
    for some in gen_batches(len(affinities), 2**16):
        i, j = pairs[:, some]
        affinities[some] = np.exp(-np.sum((scaled[i] - scaled[j]) ** 2, axis=1))
    return _symmetric(affinities, pairs, len(points))


# Learning


def spectral_hinge(
    b: ArrayLike,
    differences: ArrayLike,
    edges: ArrayLike,
    labels: ArrayLike,
    *,
    score_weight: float = 5.0,
    tangent_at: ArrayLike | None = None,
    random_state: Random = None,
) -> tuple[float, Floats]:
    """Structured hinge loss of the weights of Gaussian affinities, and its gradient.

    For a graph of n nodes whose right partition has k parts and projector M₀ = Y(YᵀY)⁻¹Yᵀ::

        H(b) = max_M ‖M − M₀‖² + s Tr W_b (M − M₀)
             = 2(k − 1) + s 1ᵀW_b1 / n + Λ(b) − S(b),    S(b) = s Tr W_b M₀

    The maximum is over the projectors M of rank k that, like M₀, map the vector 1 of ones to
    itself; Λ(b) is the sum of the k − 1 largest eigenvalues of s W_b − 2 M₀ on the vectors
    orthogonal to 1 (Lajugie 2014, Section 5.1, for known k). The paper leaves out the condition
    on 1, which all partitions satisfy and which makes the bound tighter. It adds a loss divided
    by n to a score that is not; here neither is, and s = `score_weight` over the mean number of
    neighbours (itself included), so that both are of the order of k on a graph of any size.

    S is convex in b: each of its terms is an exponential of a linear function of b times an
    entry of M₀, which is not negative. Its tangent at a point therefore majorizes H, with
    equality at that point: `tangent_at`. The paper calls what remains convex; that holds for a
    maximum over partitions, whose matrices have no negative entries, not for one over projectors.

    Parameters
    ----------
    b : array-like of d non-negative numbers
        Weights of the features.
    differences : array-like of shape (m, d)
        `squared_differences` of the pairs.
    edges : array-like of shape (2, m)
        Pairs of indices of nodes, each once.
    labels : array-like of n non-negative integers
        The right part of each node; at least two parts.
    score_weight : float, default=5.0
        Weight of the affinities against the loss. With two equal parts on a complete graph, H
        can reach 0 from 4 on.
    tangent_at : array-like of d non-negative numbers, optional
        Give the majorizer of H that touches it here, instead of H.
    random_state : int, RandomState instance or None, default=None
        Start of the iterations for eigenvectors, on more than 300 nodes.

    Returns
    -------
    value : float
        H(b), at least 0, or its majorizer.
    gradient : ndarray of shape (d,)
        Its gradient; where the k-th and the next eigenvalue are equal, a direction in which the
        derivative of Λ is a mean over the choices.

    Raises
    ------
    ValueError
        If an input is not as described.
    RuntimeError
        If the eigenvectors are not found; it says what to change.

    Notes
    -----
    O(md + mk) operations beside the eigenvectors, which take O(n³) up to 300 nodes and some
    hundred products with W beyond.

    Examples
    --------
    >>> X, labels = np.array([[0.0], [0.1], [1.0], [1.1]]), [0, 0, 1, 1]
    >>> edges = np.array(np.triu_indices(4, 1))
    >>> differences = squared_differences(X, edges)
    >>> [round(spectral_hinge([b], differences, edges, labels)[0], 3) for b in (0.0, 3.0)]
    [2.0, 0.005]
    """
    scene = _check_scene(differences, edges, labels, score_weight)
    d = scene.differences.shape[1]
    rng = check_random_state(random_state)
    weights = _check_weights(b, d)
    parts = _hinge_parts(weights, scene, rng)
    if tangent_at is None:
        return parts.value, parts.gradient
    anchor = _check_weights(tangent_at, d, "tangent_at")
    return _majorizer(parts, weights, _hinge_parts(anchor, scene, rng), anchor)


class NormalizedCutMetric(BaseEstimator):
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
        random_state: Random = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.radius = radius
        self.scales = scales
        self.score_weight = score_weight
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Sequence[ArrayLike], y: Sequence[ArrayLike]) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : sequence of array-like of shape (height, width, d) or (n, d)
            Features of the pixels of each image, or of the points of a graph of all pairs.
        y : sequence of array-like of shape (height, width) or (n,)
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
        """
        scales = [check_number(scale, "each of scales", above=0) for scale in self.scales]
        if not scales:
            raise ValueError("scales must hold at least one scale; got none")
        max_iter = check_integer(self.max_iter, "max_iter", least=1)
        max_steps = check_integer(self.max_steps, "max_steps", least=1)
        tol = check_number(self.tol, "tol", least=0)
        rng = check_random_state(self.random_state)
        scenes = self._scenes(X, y)
        spread = sum(scene.differences.sum(axis=0) for scene in scenes)
        spread = spread / sum(len(scene.differences) for scene in scenes)
        if not np.all(spread > 0):
            raise ValueError(
                f"X: feature {int(np.argmin(spread > 0))} is the same for all pairs; leave it out"
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
        self.n_features_in_ = len(self.weights_)
        return self

    def predict(self, X: ArrayLike) -> Integers:
        """Cut one image or one set of points.

        Parameters
        ----------
        X : array-like of shape (height, width, n_features) or (n, n_features)
            Features of the pixels, or of the points of a graph of all pairs.

        Returns
        -------
        ndarray of shape (height, width) or (n,)
            Part of each, numbered from 0 in order of appearance.
        """
        check_is_fitted(self)
        points, edges, shape = _check_graph(X, self.radius)
        if points.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {points.shape[1]} features, but {type(self).__name__} was fitted with "
                f"{self.n_features_in_}"
            )
        W = gaussian_affinity(points, edges, self.weights_)
        return normalized_cut(W, self.n_clusters, random_state=self.random_state).reshape(shape)

    def get_mahalanobis_matrix(self) -> Floats:
        """B = Diag(b), of shape (n_features, n_features)."""
        check_is_fitted(self)
        return np.diag(self.weights_)

    def _scenes(self, X: Sequence[ArrayLike], y: Sequence[ArrayLike]) -> list["_Scene"]:
        if len(X) != len(y) or not len(X):
            raise ValueError(f"X and y must be as long and not empty; got {len(X)} and {len(y)}")
        scenes: list[_Scene] = []
        for index, (features, parts) in enumerate(zip(X, y, strict=True)):
            points, edges, shape = _check_graph(features, self.radius)
            labels = np.asarray(parts)
            if labels.shape != shape:
                raise ValueError(
                    f"y[{index}] must have shape {shape}, as X[{index}] has; got {labels.shape}"
                )
            known = labels.ravel() != -1
            number = np.cumsum(known) - 1
            edges = number[edges[:, known[edges].all(axis=0)]]
            differences = squared_differences(points[known], edges)
            right, name = labels.ravel()[known], f"y[{index}]"
            scene = _check_scene(differences, edges, right, self.score_weight, name)
            if scenes and differences.shape[1] != scenes[0].differences.shape[1]:
                raise ValueError(
                    f"X[{index}] must have {scenes[0].differences.shape[1]} features, as X[0] has; "
                    f"got {differences.shape[1]}"
                )
            scenes.append(scene)
        return scenes

    def _loss(self, scene: "_Scene", weights: Floats, rng: np.random.RandomState) -> float:
        W = _symmetric(np.exp(-scene.differences @ weights), scene.edges, scene.J.shape[0])
        found = normalized_cut(W, scene.J.shape[1], random_state=rng)
        return partition_loss(found, scene.J.indices)


class _Scene(NamedTuple):
    """A graph with its right partition."""

    differences: Floats
    edges: Integers
    J: csr_array  # normalized assignments: M₀ = JJᵀ
    score: float  # s


class _Parts(NamedTuple):
    """H, the gradient of H + S, and S with its gradient."""

    value: float
    relaxed_gradient: Floats
    score: float
    score_gradient: Floats

    @property
    def gradient(self) -> Floats:
        return self.relaxed_gradient - self.score_gradient


def _hinge_parts(b: Floats, scene: _Scene, rng: np.random.RandomState) -> _Parts:
    i, j = scene.edges
    n, k = scene.J.shape
    affinities = np.exp(-scene.differences @ b)
    W = _symmetric(affinities, scene.edges, n)
    values, U = leading(scene.score * W, scene.J, k - 1, rng, centred=True)
    codes, shares = scene.J.indices, scene.J.data**2
    right = np.where(codes[i] == codes[j], shares[i], 0.0)
    score = scene.score * (k + 2 * float(affinities @ right))
    slopes = -2 * scene.score * affinities
    constant = scene.score * float(W.sum()) / n
    relaxed = (slopes * (np.einsum("ek,ek->e", U[i], U[j]) + 1 / n)) @ scene.differences
    value = 2 * (k - 1) + constant + float(values.sum()) - score
    return _Parts(value, relaxed, score, (slopes * right) @ scene.differences)


def _majorizer(parts: _Parts, b: Floats, at: _Parts, anchor: Floats) -> tuple[float, Floats]:
    """H with S replaced by its tangent at `anchor`; `parts` are those of b, `at` of anchor."""
    tangent = at.score + float(at.score_gradient @ (b - anchor))
    return parts.value + parts.score - tangent, parts.relaxed_gradient - at.score_gradient


def _minimize(
    scenes: list[_Scene],
    unit: Floats,
    max_iter: int,
    max_steps: int,
    tol: float,
    rng: np.random.RandomState,
) -> tuple[Floats, Floats]:
    """Minimize the mean hinge of b = unit · w over shares w ≥ 0 with sum 1, from equal shares.

    Returns the shares and the objective before and after each iteration.
    """

    def evaluate(w: Floats) -> list[_Parts]:
        return [_hinge_parts(unit * w, scene, rng) for scene in scenes]

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
    parts: list[_Parts], b: Floats, at: list[_Parts], anchor: Floats
) -> tuple[float, Floats]:
    each = [_majorizer(p, b, a, anchor) for p, a in zip(parts, at, strict=True)]
    return float(np.mean([value for value, _ in each])), np.mean([g for _, g in each], axis=0)


def _to_simplex(w: Floats) -> Floats:
    """Nearest point with entries ≥ 0 and sum 1 (Held, Wolfe and Crowder 1974)."""
    sorted_ = np.sort(w)[::-1]
    excess = (np.cumsum(sorted_) - 1) / np.arange(1, len(w) + 1)
    return np.maximum(w - excess[np.flatnonzero(sorted_ > excess)[-1]], 0)


# Rounding


def _best_threshold(W: csr_array, degrees: Floats, score: Floats) -> NDArray[np.intp]:
    """Cut the order of the scores where the normalized cut is smallest; O(nnz(W) + n log n)."""
    n = len(score)
    order = np.argsort(score, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    entries = coo_array(W)
    first, last = rank[entries.row], rank[entries.col]
    once = first < last
    opened = np.bincount(first[once], entries.data[once], n)
    closed = np.bincount(last[once], entries.data[once], n)
    cut = np.cumsum(opened - closed)[:-1]
    volume = np.cumsum(degrees[order])
    value = cut / volume[:-1] + cut / (volume[-1] - volume[:-1])
    return (rank > value.argmin()).astype(np.intp)


def _group(volumes: Floats, k: int) -> NDArray[np.intp]:
    """Put components into k groups, the largest first, each to the least group so far."""
    group = np.empty(len(volumes), dtype=np.intp)
    total = np.zeros(k)
    for component in np.argsort(-volumes, kind="stable"):
        group[component] = total.argmin()
        total[group[component]] += volumes[component]
    return group


def _symmetric(affinities: Floats, edges: Integers, n: int) -> csr_array:
    """Sparse matrix with ones on the diagonal and the affinities on both sides of it."""
    upper = coo_array((affinities, (edges[0], edges[1])), shape=(n, n)).tocsr()
    return csr_array(upper + upper.T + diags_array(np.ones(n), format="csr"))


# Checks


def _check_affinities(W: ArrayLike) -> Any:
    matrix: Any = check_array(W, accept_sparse="csr", dtype=np.float64, input_name="W")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"W must be square; got shape {matrix.shape}")
    if matrix.min() < 0:
        raise ValueError(f"W must not be negative; its smallest entry is {matrix.min():g}")
    asymmetry = abs(matrix - matrix.T).max()
    if asymmetry > 1e-10 * matrix.max():
        raise ValueError(f"W must be symmetric; W and its transpose differ by {asymmetry:.3g}")
    empty = np.flatnonzero(np.asarray(matrix.sum(axis=1)).ravel() == 0)
    if len(empty):
        raise ValueError(f"W must have a positive sum in every row; row {empty[0]} has none")
    return matrix


def _check_edges(edges: ArrayLike, n: int) -> Integers:
    pairs = np.asarray(edges)
    if pairs.ndim != 2 or len(pairs) != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"edges must be integers of shape (2, m); got shape {pairs.shape} of {pairs.dtype}"
        )
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n or np.any(pairs[0] == pairs[1])):
        raise ValueError(f"edges must join two different nodes, numbered from 0 to {n - 1}")
    return pairs.astype(np.int64, copy=False)


def _check_weights(b: ArrayLike, d: int, name: str = "b") -> Floats:
    weights = np.asarray(b, dtype=np.float64)
    if weights.shape != (d,) or not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ValueError(f"{name} must hold {d} finite numbers, at least 0; got {b!r}")
    return weights


def _check_graph(X: ArrayLike, radius: float) -> tuple[Floats, Integers, tuple[int, ...]]:
    """Return the points of an image or a plain set, their pairs, and the shape of its labels."""
    array: Any = check_array(X, dtype=np.float64, allow_nd=True, input_name="X")
    if array.ndim > 3:
        raise ValueError(
            f"X must have shape (height, width, d) or (n, d); got {array.ndim} dimensions"
        )
    shape = array.shape[:-1]
    points = array.reshape(-1, array.shape[-1])
    if array.ndim == 3:
        return points, grid_edges(shape[0], shape[1], radius), shape
    return points, np.array(np.triu_indices(len(points), 1), dtype=np.int64), shape


def _check_scene(
    differences: ArrayLike,
    edges: ArrayLike,
    labels: ArrayLike,
    score_weight: float,
    name: str = "labels",
) -> _Scene:
    J = normalized_assignment(labels)
    if J.shape[1] < 2:
        raise ValueError(f"{name} must have at least two parts; got one")
    pairs = _check_edges(edges, J.shape[0])
    squares: Any = check_array(
        differences, dtype=np.float64, ensure_min_samples=0, input_name="differences"
    )
    if len(squares) != pairs.shape[1] or (squares.size and squares.min() < 0):
        raise ValueError(
            f"differences must have a row of squares for each of the {pairs.shape[1]} pairs; got "
            f"shape {squares.shape}"
        )
    weight = check_number(score_weight, "score_weight", above=0)
    return _Scene(squares, pairs, J, weight / (1 + 2 * pairs.shape[1] / J.shape[0]))
