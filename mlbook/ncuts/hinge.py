"""The structured hinge of the weights of Gaussian affinities, its gradient and its majorizer."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_matrix, check_number
from mlbook.ncuts.affinities import check_edges, check_weights, symmetric
from mlbook.ncuts.eigenvectors import leading
from mlbook.partitions import encode, normalized_assignment

__all__ = ["spectral_hinge"]


def spectral_hinge(
    b: ArrayLike,
    differences: ArrayLike,
    edges: ArrayLike,
    labels: ArrayLike,
    *,
    score_weight: float = 5.0,
    tangent_at: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[float, Floats]:
    """Structured hinge loss of the weights of Gaussian affinities, and its gradient.

    In the papers: Lajugie 2014, Section 5.1.

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
    >>> from mlbook.ncuts import squared_differences
    >>> differences = squared_differences(X, edges)
    >>> [round(spectral_hinge([b], differences, edges, labels)[0], 3) for b in (0.0, 3.0)]
    [2.0, 0.005]
    """
    scene = check_scene(differences, edges, labels, score_weight)
    d = scene.differences.shape[1]
    rng = check_random_state(random_state)
    weights = check_weights(b, d)
    parts = hinge_parts(weights, scene, rng)
    if tangent_at is None:
        return parts.value, parts.gradient
    anchor = check_weights(tangent_at, d, "tangent_at")
    return majorizer(parts, weights, hinge_parts(anchor, scene, rng), anchor)


class Scene(NamedTuple):
    """A graph with its right partition."""

    differences: Floats
    edges: Integers
    J: csr_array  # normalized assignments: M₀ = JJᵀ
    score: float  # s


class Parts(NamedTuple):
    """H, the gradient of H + S, and S with its gradient."""

    value: float
    relaxed_gradient: Floats
    score: float
    score_gradient: Floats

    @property
    def gradient(self) -> Floats:
        return self.relaxed_gradient - self.score_gradient


def hinge_parts(b: Floats, scene: Scene, rng: np.random.RandomState) -> Parts:
    """Compute H at b, as `spectral_hinge` explains it."""
    i, j = scene.edges
    n, k = scene.J.shape
    affinities = np.exp(-scene.differences @ b)
    W = symmetric(affinities, scene.edges, n)
    values, U = leading(scene.score * W, scene.J, k - 1, rng, centred=True)
    codes, shares = scene.J.indices, scene.J.data**2
    right = np.where(codes[i] == codes[j], shares[i], 0.0)
    score = scene.score * (k + 2 * float(affinities @ right))
    slopes = -2 * scene.score * affinities
    constant = scene.score * float(W.sum()) / n
    relaxed = (slopes * (np.einsum("ek,ek->e", U[i], U[j]) + 1 / n)) @ scene.differences
    value = 2 * (k - 1) + constant + float(values.sum()) - score
    return Parts(value, relaxed, score, (slopes * right) @ scene.differences)


def majorizer(parts: Parts, b: Floats, at: Parts, anchor: Floats) -> tuple[float, Floats]:
    """H with S replaced by its tangent at `anchor`; `parts` are those of b, `at` of anchor."""
    tangent = at.score + float(at.score_gradient @ (b - anchor))
    return parts.value + parts.score - tangent, parts.relaxed_gradient - at.score_gradient


def check_scene(
    differences: ArrayLike,
    edges: ArrayLike,
    labels: ArrayLike,
    score_weight: float,
    name: str = "labels",
) -> Scene:
    """Validate a graph and its right partition, named in errors."""
    encode(labels, name)
    J = normalized_assignment(labels)
    if J.shape[1] < 2:
        raise ValueError(f"{name} must have at least two parts; got one")
    pairs = check_edges(edges, J.shape[0])
    squares: Any = check_matrix(
        differences, dtype=np.float64, ensure_min_samples=0, input_name="differences"
    )
    if len(squares) != pairs.shape[1] or (squares.size and squares.min() < 0):
        raise ValueError(
            f"differences must have a row of squares for each of the {pairs.shape[1]} pairs; got "
            f"shape {squares.shape}"
        )
    weight = check_number(score_weight, "score_weight", above=0, most=1e100)
    return Scene(squares, pairs, J, weight / (1 + 2 * pairs.shape[1] / J.shape[0]))
