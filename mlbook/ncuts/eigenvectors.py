"""Leading eigenvectors of the normalized affinities of a graph, and of matrices like them.

W̃ = D^(−½) W D^(−½) has the eigenvalue 1 once per connected component, and it is the gap below 1
that Lanczos iterations have to resolve. On a graph that is nearly in pieces the gap may be
anything down to rounding. Three things keep that case exact or cheap: affinities too small for
any node to notice are dropped where that makes components, whose eigenvectors are known; small
graphs are solved densely; and where Lanczos iterations do not end, the inverse of 1 − W̃, in which
the small gaps are the large eigenvalues, is used in place of W̃.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_array, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from mlbook._arrays import Floats
from mlbook.partitions import assignment_matrix

FEW_NODES = 300  # up to here a dense eigenvalue problem is the faster one
ACCURACY = 1e-7  # of the eigenvectors of larger graphs: size of their residuals
RESTARTS = 50  # of the Lanczos iterations; the graph of an image takes about ten
NEGLIGIBLE = 1e-12  # share of its degree that a node may lose
SHIFT = 1e-9  # distance from 1 at which 1 − W̃ is inverted


def drop_negligible(W: Any) -> csr_array:
    """Leave out affinities that no node would miss, if the graph falls apart without them.

    Every node keeps all but a share of 1e-12 of its degree. So a union of the components that
    appear has a cut of at most this share of its volume: the normalized cut of a partition into k
    such unions is at most k · 1e-12. Where no component appears, W stays as it is. O(nnz(W)).

    The result is sparse: in a dense matrix SciPy's components ignore whatever is below 1e-8.

    Examples
    --------
    >>> W = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 1e-15], [0.0, 1e-15, 1.0]])
    >>> print(drop_negligible(W).toarray())
    [[1.  0.5 0. ]
     [0.5 1.  0. ]
     [0.  0.  1. ]]
    """
    W = csr_array(W)
    entries, n = coo_array(W), W.shape[0]
    i, j = entries.row, entries.col
    most = np.bincount(i, minlength=n).max()
    degree = W.sum(axis=1)
    kept = entries.data > NEGLIGIBLE / most * np.minimum(degree[i], degree[j])
    rest = csr_array((entries.data[kept], (i[kept], j[kept])), shape=(n, n))
    before, after = (connected_components(A, directed=False)[0] for A in (W, rest))
    return rest if after > before else W


def embedding(W: csr_array, k: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of W̃, descending, and eigenvectors.

    The eigenvalue 1 has one eigenvector per connected component, known without computing; the
    others are those of W̃ with these moved to −1.
    """
    degree = W.sum(axis=1)
    n_components, component = connected_components(W, directed=False)
    Y = assignment_matrix(component)
    volumes = np.bincount(component, degree)
    known = csr_array(diags_array(np.sqrt(degree)) @ Y @ diags_array(1 / np.sqrt(volumes)))
    if n_components >= k:
        return np.ones(k), known[:, :k].toarray()
    scale = diags_array(1 / np.sqrt(degree))
    normalized = csr_array(scale @ W @ scale)
    try:
        values, vectors = leading(normalized, known, k - n_components, rng)
    except RuntimeError:
        values, vectors = _nearest_one(normalized, known, k - n_components, rng)
    ones = np.ones(n_components)
    return np.concatenate([ones, values]), np.hstack([known.toarray(), vectors])


def leading(
    A: csr_array, V: csr_array, k: int, rng: np.random.RandomState, *, centred: bool = False
) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of A − 2VVᵀ, descending, and their eigenvectors.

    Centred: of its restriction to the vectors whose entries sum to 0. O(n³) up to 300 nodes;
    beyond, Lanczos iterations of O(nnz(A) + nnz(V)), and a RuntimeError if they do not end.
    """
    n = A.shape[0]
    lowest = -2 - abs(A).sum(axis=1).max()  # no eigenvalue is lower: here 1 goes if centred
    if n <= FEW_NODES or 4 * k > n:
        dense = A.toarray() - 2 * (V @ V.T).toarray()
        if centred:
            dense -= dense.mean(axis=0)
            dense -= dense.mean(axis=1, keepdims=True)
            dense += lowest / n
        values, vectors = eigh(dense, subset_by_index=(n - k, n - 1))
        return values[::-1], vectors[:, ::-1]
    Vt = csr_array(V.T)

    def apply(x: Floats) -> Floats:
        mean = x.mean() if centred else 0.0
        y = A @ (x - mean) - 2 * (V @ (Vt @ (x - mean)))
        return y - y.mean() + lowest * mean if centred else y

    return _lanczos(apply, n, k, rng)


def _nearest_one(
    A: csr_array, V: csr_array, k: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    """As `leading`, for A = W̃ with all eigenvectors V of the eigenvalue 1, by its inverse.

    The k largest eigenvalues of (1 + δ − W̃)⁻¹ on the vectors orthogonal to V. They are far apart
    if they are close to 1, relative to their distance from it. The matrix is factorized: its
    memory is that of the factors, for an image of n pixels O(n^1.5) times the radius.
    """
    n = A.shape[0]
    factors = splu(
        csc_array((1 + SHIFT) * eye_array(n) - A),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    Vt = csr_array(V.T)

    def apply(x: Floats) -> Floats:
        y = factors.solve(x - V @ (Vt @ x))
        return y - V @ (Vt @ y)

    values, vectors = _lanczos(apply, n, k, rng)
    return 1 + SHIFT - 1 / values, vectors


def _lanczos(
    apply: Callable[[Floats], Floats], n: int, k: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    try:
        values, vectors = eigsh(
            operator,
            k,
            which="LA",
            ncv=max(2 * k + 1, 40),
            v0=rng.uniform(-1, 1, n),
            tol=ACCURACY,
            maxiter=RESTARTS,
        )
    except ArpackNoConvergence as error:
        raise RuntimeError(
            f"the eigenvectors of this graph of {n} nodes were not found in {RESTARTS} restarts: "
            "its affinities fall off too steeply. Make them more even: smaller weights b (a "
            "smaller scale), a larger radius, or fewer clusters"
        ) from error
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]
