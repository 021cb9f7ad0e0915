"""k-means as the maximization of a trace; its spectral relaxation, bound and rounding.

With the centroids eliminated, the k-means distortion of a partition with matrix C under the
metric M = LLᵀ is ⟨I − C, XMXᵀ⟩ = ‖XL‖² − ⟨C, XMXᵀ⟩ (Law 2016, Eqs. 2-4). Relaxing C from
partition matrices to orthogonal projectors of the same rank makes the problem an
eigenvalue problem (Law 2016, Eq. 8), whose value bounds the distortion of every partition
from below.

The relaxation can keep one more property of partition matrices at no cost: C1 = 1, because
the clusters cover all points. What remains is a projector of rank k − 1 orthogonal to 1,
that is, the same relaxation of the centred data with one dimension less (Ding and He 2004).
Like k-means itself, and unlike Eq. 8, it does not depend on where the origin is, and its
bound is never looser.

Nothing here forms an n × n matrix. Rows are read in blocks, in float64, so that float32 and
sparse data of any length need no copy; only `SpectralKMeans` holds all of XL, for k-means.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import svd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import Tags, gen_batches
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Floats, Integers
from mlbook._validation import (
    FLOATS,
    check_boolean,
    check_features,
    check_matrix,
    check_n_clusters,
    metric_factor,
)
from mlbook.partitions import assignment_matrix

__all__ = [
    "SpectralKMeans",
    "distortion",
    "spectral_bound",
    "spectral_embedding",
    "trace_objective",
]


def trace_objective(X: ArrayLike, labels: ArrayLike, M: ArrayLike | None = None) -> float:
    """⟨C, XMXᵀ⟩ = Σ_c n_c z_cᵀ M z_c, what k-means maximizes over partitions (Law 2016, Eq. 8).

    z_c is the mean of cluster c and n_c its size. The sum with `distortion` is ‖X‖²_M for
    every partition. O(nd + kd²).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points.
    labels : array-like of n non-negative integers
        Cluster of each point.
    M : array-like of shape (d, d), optional
        Symmetric positive semidefinite matrix of the metric; default: the identity.

    Returns
    -------
    float
        The objective.

    Raises
    ------
    ValueError
        If an input is not as described, or the lengths of X and labels differ.

    Examples
    --------
    >>> trace_objective([[0.0], [2.0], [5.0]], [0, 0, 1])
    27.0
    """
    points, L = _check_data(X, M)
    _, sizes, means = _clusters(points, labels)
    return float(sizes @ np.sum(_map(means, L) ** 2, axis=1))


def distortion(X: ArrayLike, labels: ArrayLike, M: ArrayLike | None = None) -> float:
    """⟨I − C, XMXᵀ⟩, the k-means distortion of a partition (Law 2016, Eqs. 1-4).

    In the papers: Lajugie 2014, Eqs. 1-3, for M = I.

    The sum over all points of the squared distance d_M to the mean of their cluster
    (scikit-learn's ``inertia_`` when M is the identity). It is summed from residuals: the
    difference of ‖X‖²_M and `trace_objective` is the same number, but loses all its digits
    when the data lie far from the origin. O(nd) without M, O(nd · rank M) with it.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points.
    labels : array-like of n non-negative integers
        Cluster of each point.
    M : array-like of shape (d, d), optional
        Symmetric positive semidefinite matrix of the metric; default: the identity.

    Returns
    -------
    float
        The distortion.

    Raises
    ------
    ValueError
        If an input is not as described, or the lengths of X and labels differ.

    Examples
    --------
    >>> distortion([[0.0], [2.0], [5.0]], [0, 0, 1])
    2.0
    >>> distortion([[0.0], [2.0], [5.0]], [0, 0, 1], M=[[4.0]])
    8.0
    """
    points, L = _check_data(X, M)
    codes, _, means = _clusters(points, labels)
    return sum(
        float(np.sum(_map(block - means[codes[rows]], L) ** 2)) for rows, block in _blocks(points)
    )


def spectral_embedding(
    X: ArrayLike, n_clusters: int, M: ArrayLike | None = None, *, centred: bool = False
) -> NDArray[Any]:
    """Leading left singular vectors U of XL: UUᵀ solves the relaxation (Law 2016, Eqs. 7-8).

    When `n_clusters` is at least the rank of XL, U spans the columns of XL whatever the
    metric: its rows then remember M no more than up to a change of basis.

    O(nd²) time; O(d²) memory beside the data and the result.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points.
    n_clusters : int
        Number k of clusters, from 1 to n.
    M : array-like of shape (d, d), optional
        Symmetric positive semidefinite matrix of the metric; default: the identity.
    centred : bool, default=False
        Solve the relaxation that keeps C1 = 1 instead: U is then the constant column 1/√n
        followed by the k − 1 leading left singular vectors of the centred XL.

    Returns
    -------
    ndarray of shape (n, min(k, r)) or, if centred, (n, 1 + min(k − 1, r))
        U, orthonormal columns; r is the numerical rank of the (centred) XL, so that no
        column is rounding noise. In each column the first entry of largest size is
        positive. float32 if X is.

    Raises
    ------
    ValueError
        If an input is not as described.

    Examples
    --------
    >>> U = spectral_embedding([[3.0, 0.0], [3.0, 0.0], [0.0, 1.0]], n_clusters=2)
    >>> print((U @ U.T).round(3) + 0.0)
    [[0.5 0.5 0. ]
     [0.5 0.5 0. ]
     [0.  0.  1. ]]
    """
    points, L = _check_data(X, M)
    k, centred = check_n_clusters(n_clusters, points.shape[0]), check_boolean(centred, "centred")
    return _spectrum(points, L, centred).embedding(points, k)


def spectral_bound(
    X: ArrayLike, n_clusters: int, M: ArrayLike | None = None, *, centred: bool = True
) -> float:
    """Certified lower bound on the distortion of every partition into at most k clusters.

    In the papers: Lajugie 2014, Section 2.4, for A = XMXᵀ and a known number of clusters.

    It tells any k-means run, of any program, how far from the optimum it may be at most:
    ``(distortion(X, labels) - spectral_bound(X, k)) / distortion(X, labels)``.

    With σ₁ ≥ σ₂ ≥ ... the singular values of the centred XL, the bound is Σ_{i≥k} σᵢ² (Ding
    and He 2004), less an allowance for rounding, as explained under Notes. It says nothing
    (is 0) when the centred data span fewer than k dimensions. O(nd²) time, O(d²) memory
    beside the data.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points.
    n_clusters : int
        Number k of clusters, from 1 to n.
    M : array-like of shape (d, d), optional
        Symmetric positive semidefinite matrix of the metric; default: the identity.
    centred : bool, default=True
        If False, give the bound of the relaxation as Law 2016, Eq. 8 has it: Σ_{i>k} σᵢ² with
        the singular values of XL as it stands. It is never higher and depends on the origin.

    Returns
    -------
    float
        The bound, at least 0.

    Raises
    ------
    ValueError
        If an input is not as described.

    Notes
    -----
    The bound comes from the eigenvalues of A = LᵀZᵀZL, with Z the centred data. Let u = eps/2,
    z_j the columns of the data less a shift near their mean, L_j the rows of L, and s² = Σ_j
    ‖z_j‖², or with M the square of Σ_j ‖z_j‖‖L_j‖. If each entry (j, l) of a d × d matrix is off
    by c u‖z_j‖‖z_l‖ at most, its product with Lᵀ and L is off by c u s² in Frobenius norm. These
    are the errors c: the shift, 2; sums of n products in q blocks of b rows, b + q, whatever the
    order within a block (Higham 2002, Section 3.1), and twice that for the column sums that
    centring multiplies; centring itself, 4; the two products with L, 2d, and its own rounding,
    20d². The eigenvectors V and values λ that LAPACK finds are checked. ‖A − VΛVᵀ‖ is added,
    computed to within 2d u s². A sum of r eigenvalues changes by at most √r times all this (Ky
    Fan), and by ‖VᵀV − I‖ times the sum of ``|λ|`` (Ostrowski), this norm computed to within
    d²u.
    The bound is lowered by twice the sum, which covers what is of second order.

    Where that is more than 1e-8 of the bound, and where n < d, the singular values come from the
    R factor of a Householder QR decomposition of XL, at a few times the cost. They are those of
    a matrix within δ = 10nd·eps (relative) of XL: nd·eps is the order of the worst case (Higham
    2002, Theorem 19.4), which errors in practice stay far below, and 10 is taken for its modest
    constant. The root of the bound is the distance of XL to the matrices of lower rank, which
    cannot change by more than δ; so it is lowered by δ before it is squared. With M, 10d²·eps is
    allowed likewise for the rounding of L.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 2.0], [9.0, 0.0], [9.0, 2.0]]
    >>> distortion(X, [0, 0, 1, 1]), round(spectral_bound(X, 2), 9)
    (4.0, 4.0)
    """
    points: Any = check_matrix(
        X, accept_sparse="csr", dtype=FLOATS, input_name="X", ensure_all_finite=False, squares=False
    )
    L = None if M is None else metric_factor(M, points.shape[1])
    k, centred = check_n_clusters(n_clusters, points.shape[0]), check_boolean(centred, "centred")
    with np.errstate(over="ignore", invalid="ignore"):
        bound = _gram_bound(points, L, k, centred)
    if bound is not None:
        return bound
    points, L = _check_data(X, M)  # which also refuses what is not finite
    return _spectrum(points, L, centred).bound(points, k)


class SpectralKMeans(ClusterMixin, BaseEstimator):
    """k-means by relaxing and rounding, with a certificate (Law 2016, Section 2).

    The partition matrix is relaxed to the projector Ĉ that `spectral_embedding` (centred)
    gives; the rows of ĈXL, which span k − 1 dimensions, are clustered by k-means; Lloyd's
    iterations on the data carry on from there. The relaxation also bounds the distortion of
    all partitions from below, so the fit says how far from optimal it may be at most.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    M : array-like of shape (n_features, n_features), optional
        Symmetric positive semidefinite matrix of the metric; default: the identity.
    n_init : int, default=10
        Restarts of k-means on the rows of ĈXL.
    random_state : int, RandomState instance or None, default=None
        Randomness of the restarts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each point.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Mean of each cluster.
    distortion_ : float
        k-means distortion of the labels.
    bound_ : float
        No partition into `n_clusters` clusters has a smaller distortion (`spectral_bound`).
    gap_ : float
        ``(distortion_ - bound_) / distortion_``: the share of the distortion that a better
        partition could at most remove. 0 means proven optimal, 1 that nothing is known.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features seen in fit, where X has them.

    Notes
    -----
    For any partition, distortion of X ≤ distortion of ĈX + bound: an optimal partition of
    the rows of ĈXL has at most twice the optimal distortion (Drineas et al. 2004). Law 2016
    clusters the rows of U, with Ĉ = UUᵀ, which drops the singular values and with them
    this guarantee: ``KMeans(k).fit_predict(spectral_embedding(X, k))``.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 2.0], [9.0, 0.0], [9.0, 2.0]]
    >>> model = SpectralKMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.distortion_, round(model.gap_, 9)
    (4.0, 0.0)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        M: ArrayLike | None = None,
        n_init: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.M = M
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the rows of X.

        O(nd²) for the relaxation, then k-means on arrays with k − 1 and d columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points.
        y : None
            Ignored.

        Returns
        -------
        SpectralKMeans
            The fitted estimator.

        Raises
        ------
        ValueError
            If X, M or n_clusters is not as described.
        """
        points = check_features(self, X, accept_sparse="csr", dtype=FLOATS)
        k = check_n_clusters(self.n_clusters, points.shape[0])
        L = None if self.M is None else metric_factor(self.M, points.shape[1])
        spectrum = _spectrum(points, L, centred=True)

        rounding = KMeans(k, n_init=self.n_init, random_state=self.random_state)
        rounded = rounding.fit_predict(spectrum.project(points, max(1, k - 1)))
        mapped = _map(points, L)
        _, _, means = _clusters(mapped, rounded)
        self.labels_ = KMeans(len(means), init=means, n_init=1).fit_predict(mapped)
        self.cluster_centers_ = _clusters(points, self.labels_)[2].astype(points.dtype)

        self.bound_ = spectrum.bound(points, k)
        self.distortion_ = distortion(points, self.labels_, self.M)
        excess = max(0.0, self.distortion_ - self.bound_)
        self.gap_ = excess / self.distortion_ if excess else 0.0
        return self

    def predict(self, X: ArrayLike) -> Integers:
        """Cluster of new points: that of the nearest mean under the metric.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of the points given to `fit`, `labels_`, but for ties.

        Raises
        ------
        ValueError
            If X has other features than in `fit`.
        """
        check_is_fitted(self)
        points: Any = check_features(self, X, reset=False, accept_sparse="csr", dtype=FLOATS)
        L = None if self.M is None else metric_factor(self.M, points.shape[1])
        return pairwise_distances_argmin(_map(points, L), _map(self.cluster_centers_, L))

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse X is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Spectrum(NamedTuple):
    """Singular value decomposition of XL, centred or not, without its left vectors U.

    U σ = (X − 1 shiftᵀ) axes − 1 originᵀ; `origin` is what the rounding of the mean left.
    """

    values: Floats  # singular values σ, descending
    axes: Floats
    shift: Floats
    origin: Floats
    scale: float  # norm of X − 1 shiftᵀ with each column weighted by √M_jj
    centred: bool
    euclidean: bool

    def project(self, X: Any, n_axes: int) -> NDArray[Any]:
        """Return the leading columns of U σ."""
        axes, origin = self.axes[:, :n_axes], self.origin[:n_axes]
        projected = np.empty((X.shape[0], axes.shape[1]), dtype=X.dtype)
        for rows, block in _blocks(X):
            projected[rows] = (block - self.shift) @ axes - origin
        return projected

    def embedding(self, X: Any, n_clusters: int) -> NDArray[Any]:
        """Return U, with the constant column in front if centred."""
        stored, computed = np.finfo(X.dtype).eps, min(X.shape) * np.finfo(np.float64).eps
        noise = 10 * max(stored, computed) * self.scale
        values = self.values[: n_clusters - self.centred]
        values = values[values > noise]
        U = self.project(X, len(values))
        U /= values
        size = np.abs(U)
        largest = size >= (1 - np.sqrt(np.finfo(X.dtype).eps)) * size.max(axis=0)
        U *= np.sign(U[largest.argmax(axis=0), np.arange(len(values))])
        if not self.centred:
            return U
        constant = np.full((len(U), 1), 1 / np.sqrt(len(U)), dtype=U.dtype)
        return np.hstack([constant, U])

    def bound(self, X: Any, n_clusters: int) -> float:
        """Return the bound on the distortion, safe against rounding."""
        n, d = X.shape
        eps, tiny = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)
        distance = float(np.linalg.norm(self.values[n_clusters - self.centred :]))
        distance = max(0.0, distance - 10 * n * d * eps * self.scale)
        metric_rounding = 0.0 if self.euclidean else 10 * d**2 * eps * self.scale**2
        return max(0.0, distance**2 - metric_rounding - tiny)  # squares below it lose digits


def _gram_bound(X: Any, L: Floats | None, n_clusters: int, centred: bool) -> float | None:
    """`spectral_bound` from the Gram matrix; None where rounding would cost more than 1e-8 of it.

    None also if n < d, if squares might overflow or vanish, or an entry is not finite.
    """
    n, d = X.shape
    if n < d:
        return None
    shift, sums, gram = np.zeros(d), np.zeros(d), np.zeros((d, d))
    if centred:
        shift = np.asarray(X[:: 1 + n // 1000].mean(axis=0), dtype=np.float64).ravel()
    size = min(n, max(1024, 2**16 // d))
    for _, block in _blocks(X, size):
        if centred:
            block -= shift
            sums += np.ones(len(block)) @ block
        gram += block.T @ block
    total = float(gram.trace())
    if L is not None:
        lengths = np.linalg.norm(L * np.sqrt(gram.diagonal())[:, None], axis=1)
        total = float(lengths.sum() ** 2) if np.abs(L).max() < 1e30 else np.inf
    if not 1e-200 < total < 1e200:
        return None
    gram -= np.outer(sums, sums) / n
    if L is not None:
        gram = L.T @ gram @ L
    gram = (gram + gram.T) / 2
    values, V = np.linalg.eigh(gram)
    tail = values[: max(0, len(values) - n_clusters + centred)]
    u = float(np.finfo(np.float64).eps) / 2
    counted = 3 * (size + n / size + 2) + 10 + 8 * d + (0 if L is None else 20 * d**2)
    rounding = counted * u * total + np.linalg.norm(gram - V * values @ V.T)
    skew = np.linalg.norm(V.T @ V - np.eye(len(V))) + d**2 * u
    allowance = 2 * float(np.sqrt(len(tail)) * rounding + skew * np.abs(values).sum())
    bound = float(tail.sum())
    return bound - allowance if allowance < 1e-8 * bound else None


def _spectrum(X: Any, L: Floats | None, centred: bool) -> _Spectrum:
    """Singular values and right vectors of XL, from the R factor of its QR decomposition.

    To centre exactly, X is shifted by its rounded mean and a column of ones is put in front:
    R without its first row and column is then the factor of the centred matrix, and its
    first row holds the mean that remained.
    """
    n, d = X.shape
    shift = np.zeros(d)
    if centred:
        shift = sum(block.sum(axis=0) for _, block in _blocks(X)) / n
    R: Any = np.zeros((1, centred + (d if L is None else L.shape[1])))
    squares = np.zeros(d)
    for _, block in _blocks(X, max(1024, 2 * d)):  # fewer rows would cost QR more than they are
        block -= shift
        squares += np.sum(block**2, axis=0)
        ones = np.ones((len(block), int(centred)))
        R = np.linalg.qr(np.vstack([R, np.hstack([ones, _map(block, L)])]), mode="r")
    mean = R[0, 1:] / R[0, 0] if centred else np.zeros(R.shape[1])
    _, values, Vt = svd(R[centred:, centred:], full_matrices=False)
    axes = Vt.T if L is None else L @ Vt.T
    weights = 1.0 if L is None else np.sum(L**2, axis=1)
    scale = float(np.sqrt(np.sum(weights * squares)))
    return _Spectrum(values, axes, shift, Vt @ mean, scale, centred, L is None)


def _check_data(X: ArrayLike, M: ArrayLike | None) -> tuple[Any, Floats | None]:
    """Validate X and M; return X as an array or CSR matrix, and L with M = LLᵀ."""
    points: Any = check_matrix(X, accept_sparse="csr", dtype=FLOATS, input_name="X")
    return points, None if M is None else metric_factor(M, points.shape[1])


def _map(X: Any, L: Floats | None) -> Any:
    """XL: points whose Euclidean distances are the Mahalanobis distances of X."""
    return X if L is None else X @ L


def _blocks(X: Any, size: int = 1024) -> Iterator[tuple[slice, Floats]]:
    """Consecutive rows of X, `size` at a time, as fresh float64 arrays."""
    for rows in gen_batches(X.shape[0], size):
        block = X[rows]
        yield rows, np.array(block.toarray() if issparse(block) else block, dtype=np.float64)


def _clusters(X: Any, labels: ArrayLike) -> tuple[Integers, Floats, Floats]:
    """Return the cluster of each point, numbered from 0, and the sizes and means of clusters.

    Each mean is summed from the differences to one point of its cluster: it is exact for
    equal points, and as accurate far from the origin as near it.
    """
    Y = assignment_matrix(labels)
    if Y.shape[0] != X.shape[0]:
        raise ValueError(
            f"labels must have one entry per row of X; got {Y.shape[0]} labels for "
            f"{X.shape[0]} rows"
        )
    codes, sizes = Y.indices, Y.sum(axis=0)
    member = np.empty(len(sizes), dtype=np.intp)
    member[codes] = np.arange(len(codes))
    anchors = X[member].toarray() if issparse(X) else X[member]
    anchors = anchors.astype(np.float64)
    sums = np.zeros_like(anchors)
    for rows, block in _blocks(X, max(1024, len(sizes))):
        sums += Y[rows].T @ (block - anchors[codes[rows]])
    return codes, sizes, anchors + sums / sizes[:, None]
