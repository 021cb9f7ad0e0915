"""Labelling the nodes of a grid by a CRF with hidden states: a second latent CRF.

Every node p of an image with feature vectors x_p gets a label that is known in training, and
a hidden state within the label that never is: the parts an object is made of, or the several
looks of one class. With s_p the label and hidden state together, the energy is

    E(s; w) = Σ_p w_{s_p}·(x_p, 1) + Σ_{p,q side by side} H[s_p, s_q] + Σ_{q below p} V[s_p, s_q],

a model of Komodakis 2011, Section 5, in all its weights w = (w_s, H, V) linear. The error of a
labelling is the number of wrong labels, whatever the hidden states: it is zero exactly on
what agrees with the annotation, as the method demands.

The grid is decomposed into its rows and its columns, each a chain that dynamic programming
minimizes exactly, or into its edges, chains of two nodes. The copies of a node share its
potential evenly. A sequence is a grid of one row, and the relaxation then is exact.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mlbook._arrays import Floats, Integers, squared_norms
from mlbook._metric import check_lists
from mlbook._validation import as_array, check_choice, check_integer, check_matrix, check_number
from mlbook.dual_decomposition import (
    DualDecompositionLearner,
    SlaveBatch,
    SlaveState,
    check_weights,
    configuration_energy,
    initial_multipliers,
    tighten,
)

__all__ = ["GridProblem", "GridSolution", "LatentGridCRF"]


def minimize_chains(unary: Floats, pairwise: Floats) -> Integers:
    """Minimize Σ_l unary[l, s_l] + Σ_l pairwise[s_l, s_{l+1}] on many chains at once.

    Dynamic programming (min-sum, Viterbi) from the first node to the last and back.
    O(m·length·n_states²) for m chains.

    Parameters
    ----------
    unary : ndarray of shape (m, length, n_states)
        Potentials of the nodes of each chain. +inf forbids a state.
    pairwise : ndarray of shape (n_states, n_states)
        Potential of an edge, finite; the first index is the earlier node.

    Returns
    -------
    ndarray of shape (m, length)
        States of the nodes.

    Examples
    --------
    >>> unary = np.array([[[0.0, 1.0], [0.6, 0.0], [0.0, 1.0]]])
    >>> print(minimize_chains(unary, np.zeros((2, 2))), minimize_chains(unary, 1 - np.eye(2)))
    [[0 1 0]] [[0 0 0]]
    """
    m, length, n_states = unary.shape
    chains = np.arange(m)
    cost = unary[:, 0]
    before = np.empty((length, m, n_states), dtype=np.intp)
    for node in range(1, length):
        through = cost[:, :, None] + pairwise
        before[node] = through.argmin(axis=1)
        cost = through.min(axis=1) + unary[:, node]
    states = np.empty((m, length), dtype=np.intp)
    states[:, -1] = cost.argmin(axis=1)
    for node in range(length - 1, 0, -1):
        states[:, node - 1] = before[node, chains, states[:, node]]
    return states


class GridProblem:
    """A grid, decomposed into chains or edges for `DualDecompositionLearner`.

    In the papers: Komodakis 2011, Section 5.

    States are numbered label · n_hidden + hidden. The weights are a row of n_features + 1
    for each state, the last for the constant, then H, then V, row by row. A configuration is an
    array of states of the shape of the grid.

    Parameters
    ----------
    image : array-like of shape (rows, columns, n_features)
        Features of the nodes.
    labels : array-like of shape (rows, columns) of integers from 0 to n_labels − 1, optional
        The annotation. Without it there is no error: the problem is that of prediction.
    n_labels, n_hidden : int, default=2
        Number of labels, and of hidden states of each label.
    decomposition : {"chains", "edges"}, default="chains"
        "chains": rows and columns. "edges": pairs of neighbours. Their best bounds are the
        same, but edges have about twice the multipliers and come near it more slowly.

    Attributes
    ----------
    batches : list of SlaveBatch
        Rows and columns, or horizontal and vertical edges.
    n_states, n_variables, n_features : int
        Number of states, of shared variables (an indicator for each node and state), and of
        weights.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> problem = GridProblem(np.zeros((2, 3, 1)), np.eye(2, 3, dtype=int), n_hidden=1)
    >>> [batch.shape for batch in problem.batches], problem.n_features
    ([(2, 3, 2), (3, 2, 2)], 12)
    >>> x = problem.complete(np.zeros(12), None)
    >>> print(x, configuration_energy(problem, np.zeros(12), x))
    [[1 0 0]
     [0 1 0]] 0.0
    """

    def __init__(
        self,
        image: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        n_labels: int = 2,
        n_hidden: int = 2,
        decomposition: str = "chains",
    ) -> None:
        n_labels = check_integer(n_labels, "n_labels", least=1)
        n_hidden = check_integer(n_hidden, "n_hidden", least=1)
        features = _check_image(image)
        rows, columns, _ = features.shape
        self.grid = rows, columns
        self.X = np.concatenate([features, np.ones((rows, columns, 1))], axis=2)
        self.X = self.X.reshape(rows * columns, -1)
        self.n_states = n_labels * n_hidden
        self.n_variables = rows * columns * self.n_states
        self.n_unary = self.n_states * self.X.shape[1]
        self.n_features = self.n_unary + 2 * self.n_states**2
        self.agrees = np.ones((rows * columns, self.n_states), dtype=bool)
        if labels is not None:
            wanted = _check_labels(labels, self.grid, n_labels).reshape(-1, 1)
            self.agrees = wanted == np.arange(self.n_states) // n_hidden

        nodes = np.arange(rows * columns).reshape(rows, columns)
        check_choice(decomposition, "decomposition", ("chains", "edges"))
        if decomposition == "chains" or rows == columns == 1:
            horizontal, vertical = nodes, nodes.T
        else:
            horizontal = np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1)
            vertical = np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1)
        # A grid of one row needs no columns, which would be single nodes; and vice versa.
        kept = [(0, horizontal)] * (columns > 1 or rows == 1) + [(1, vertical)] * (rows > 1)
        self.copies = np.bincount(np.concatenate([chains.ravel() for _, chains in kept]))
        self.batches: list[SlaveBatch] = [_Chains(self, chains, axis) for axis, chains in kept]

    def unary(self, w: Floats) -> Floats:
        """Return the energies w_s·(x_p, 1), of shape (n_nodes, n_states)."""
        w = check_weights(self, w)
        return self.X @ w[: self.n_unary].reshape(self.n_states, -1).T

    def augmented_unary(self, w: Floats) -> Floats:
        """Return the same less the error."""
        return self.unary(w) - ~self.agrees

    def pairwise(self, w: Floats) -> Floats:
        """Return H and V, of shape (2, n_states, n_states)."""
        w = check_weights(self, w)
        return w[self.n_unary :].reshape(2, self.n_states, self.n_states)

    def _check_states(self, x: Any, name: str) -> Integers:
        """Return a state for each node, refusing what is not one."""
        states = as_array(x, name)
        right = states.shape == self.grid and states.dtype.kind in "iu"
        if not right or states.min() < 0 or states.max() >= self.n_states:
            raise ValueError(
                f"{name} must hold an integer from 0 to {self.n_states - 1} for each node of the "
                f"grid {self.grid}; got {x!r:.200}"
            )
        return states.astype(np.intp, copy=False)

    def complete(self, w: Floats, previous: Any) -> Integers:
        """Fill in the hidden states, by descent from the previous ones."""
        allowed = np.where(self.agrees, self.unary(w), np.inf)
        return self._descend(allowed, w, previous)

    def decode(self, w: Floats, start: Any) -> Integers:
        """Descend on the energy less the error, from `start`."""
        return self._descend(self.augmented_unary(w), w, start)

    def _descend(self, unary: Floats, w: Floats, start: Any) -> Integers:
        """Minimize over every second row, the others, every second column, and so on.

        Rows that are no neighbours are independent given the rest, so each of these steps
        is exact and the energy cannot rise. `start` None is the best state of each node.
        """
        potentials = unary.reshape(*self.grid, self.n_states)
        tables = self.pairwise(w)
        x = potentials.argmin(axis=2)
        if start is not None:
            x = self._check_states(start, "start").copy()
        lowest = np.inf
        while True:
            for along in (0, 1):
                view, nodes = x, potentials
                if along == 1:
                    view, nodes = x.T, potentials.transpose(1, 0, 2)
                across = tables[1 - along]
                for parity in (0, 1):
                    rows = np.arange(parity, len(view), 2)
                    if rows.size == 0:
                        continue
                    conditioned = nodes[rows].copy()
                    conditioned[rows > 0] += across[view[rows[rows > 0] - 1]]
                    inner = rows < len(view) - 1
                    conditioned[inner] += across.T[view[rows[inner] + 1]]
                    view[rows] = minimize_chains(conditioned, tables[along])
            energy = (
                np.take_along_axis(potentials, x[..., None], axis=2).sum()
                + tables[0][x[:, :-1], x[:, 1:]].sum()
                + tables[1][x[:-1], x[1:]].sum()
            )
            if not energy < lowest - 1e-12 * abs(energy):
                return x
            lowest = energy


class _Chains:
    """Chains of one direction and length, of which a row of `nodes` is one each."""

    def __init__(self, problem: GridProblem, nodes: Integers, axis: int) -> None:
        self.problem, self.nodes, self.axis = problem, nodes, axis
        self.shape = (*nodes.shape, problem.n_states)
        self.coords = nodes[..., None] * problem.n_states + np.arange(problem.n_states)

    def minimize(self, w: Floats, multipliers: Floats) -> SlaveState:
        problem = self.problem
        shares = problem.augmented_unary(w) / problem.copies[:, None]
        tables = problem.pairwise(w)
        return self._state(minimize_chains(shares[self.nodes] + multipliers, tables[self.axis]))

    def evaluate(self, x: Integers) -> SlaveState:
        return self._state(self.problem._check_states(x, "x").ravel()[self.nodes])

    def _state(self, states: Integers) -> SlaveState:
        problem, S = self.problem, self.problem.n_states
        mu = states[..., None] == np.arange(S)
        nodes, share = self.nodes.ravel(), 1 / problem.copies[self.nodes.ravel()]
        psi = np.zeros(problem.n_features)
        unary = mu.reshape(-1, S).T @ (problem.X[nodes] * share[:, None])
        psi[: problem.n_unary] = unary.ravel()
        edges = np.bincount((states[:, :-1] * S + states[:, 1:]).ravel(), minlength=S * S)
        problem.pairwise(psi)[self.axis] = edges.reshape(S, S)
        wrong = ~problem.agrees[nodes, states.ravel()]
        return SlaveState(mu, psi, -float(share[wrong].sum()))


class GridSolution(NamedTuple):
    """States of a grid, their energy, and a bound on that of any others.

    Attributes
    ----------
    states : ndarray of shape (rows, columns)
        label · n_hidden + hidden state of each node.
    energy : float
        Their energy.
    lower_bound : float
        No states have a lower energy.

    Examples
    --------
    >>> from mlbook.datasets import make_xor_grids
    >>> images, labels, _ = make_xor_grids(4, (6, 6), random_state=0)
    >>> solution = LatentGridCRF(random_state=0).fit(images, labels).infer(images[0])
    >>> isinstance(solution, GridSolution), solution.lower_bound <= solution.energy
    (True, True)
    """

    states: Integers
    energy: float
    lower_bound: float


class LatentGridCRF(BaseEstimator):
    """Label the nodes of grids, each label having hidden states.

    A model of Komodakis 2011, Section 5: see `GridProblem`. How it is learned, see
    `DualDecompositionLearner`.

    The loss is not convex in the hidden states, and states alike would stay alike. The first
    states are therefore the clusters that k-means finds among the nodes of each label, and the
    first weights half the squared distances to their centres.

    Parameters
    ----------
    n_hidden : int, default=2
        Number of hidden states of each label. With 1 nothing is latent.
    decomposition : {"chains", "edges"}, default="chains"
        See `GridProblem`.
    alpha : float, default=0.01
        τ for each training node; the regularizer is half the squared norm of the weights, for
        features of mean 0 and variance 1.
    max_iter : int, default=300
        Most iterations of the learner.
    n_jobs : int, optional
        Number of threads, over the images, as for `DualDecompositionLearner`.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means.

    Attributes
    ----------
    weights_ : ndarray
        All weights, in the order of `GridProblem`, for the features as they were given.
    states_ : list of ndarray of shape (rows, columns)
        States filled in for the training images: label · n_hidden + hidden state.
    n_labels_ : int
        Number of labels.
    n_features_in_ : int
        Number of features.
    objective_path_ : ndarray of shape (`n_iter_` + 1,)
        Relaxed objective before the first and after every iteration.
    best_iter_, current_loss_, relaxed_loss_, hinge_lower_bound_, duality_gap_, n_iter_, settled_
        As for `mlbook.dual_decomposition.DualDecompositionLearner`.

    Examples
    --------
    >>> from mlbook.datasets import make_xor_grids
    >>> images, labels, _ = make_xor_grids(8, (8, 8), random_state=0)
    >>> model = LatentGridCRF(random_state=0).fit(images[:6], labels[:6])
    >>> linear = LatentGridCRF(n_hidden=1, random_state=0).fit(images[:6], labels[:6])
    >>> for fitted in (model, linear):
    ...     wrong = [fitted.predict(x) != y for x, y in zip(images[6:], labels[6:])]
    ...     print(np.mean(wrong) < 0.2)
    True
    False
    """

    def __init__(
        self,
        *,
        n_hidden: int = 2,
        decomposition: str = "chains",
        alpha: float = 0.01,
        max_iter: int = 300,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.decomposition = decomposition
        self.alpha = alpha
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, Xs: Sequence[ArrayLike], ys: Sequence[ArrayLike]) -> Self:
        """Learn from images and their labels.

        Parameters
        ----------
        Xs : list of array-likes of shape (rows, columns, n_features)
            Features of the nodes; rows and columns may differ between images. A sequence is
            an image of one row.
        ys : list of array-likes of shape (rows, columns)
            Label of each node, 0 to n_labels − 1.

        Returns
        -------
        LatentGridCRF
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument or a parameter is not as described, or a label has fewer nodes
            than hidden states.

        Warns
        -----
        ConvergenceWarning
            If the objective still falls after `max_iter` iterations.
        """
        n_hidden = check_integer(self.n_hidden, "n_hidden", least=1)
        alpha = check_number(self.alpha, "alpha", least=0)
        check_lists(Xs, ys)
        grids = [_check_image(image, f"Xs[{i}]") for i, image in enumerate(Xs)]
        F = grids[0].shape[2]
        if any(grid.shape[2] != F for grid in grids):
            raise ValueError(
                f"Xs must have the same number of features; got {[grid.shape[2] for grid in grids]}"
            )
        wanted = [
            _check_labels(y, grid.shape[:2], name=f"ys[{i}]")
            for i, (y, grid) in enumerate(zip(ys, grids, strict=True))
        ]
        nodes = np.concatenate([grid.reshape(-1, F) for grid in grids])
        codes = np.concatenate([y.ravel() for y in wanted])
        if codes.max() >= len(codes):
            raise ValueError(f"ys must be numbered from 0, without gaps; got {codes.max()}")
        counts = np.bincount(codes)
        if counts.min() < n_hidden:
            raise ValueError(
                f"ys: each label needs at least n_hidden={n_hidden} training nodes; the labels "
                f"0 to {len(counts) - 1} have {counts}"
            )
        self.n_labels_, self.n_features_in_ = len(counts), F
        rng = check_random_state(self.random_state)
        mean, scale = nodes.mean(axis=0), nodes.std(axis=0)
        scale[scale == 0] = 1.0
        nodes = (nodes - mean) / scale
        centres = np.concatenate(
            [
                KMeans(n_hidden, n_init=10, random_state=rng)
                .fit(nodes[codes == y])
                .cluster_centers_
                for y in range(self.n_labels_)
            ]
        )
        problems = [
            GridProblem(
                (grid - mean) / scale,
                y,
                n_labels=self.n_labels_,
                n_hidden=n_hidden,
                decomposition=self.decomposition,
            )
            for grid, y in zip(grids, wanted, strict=True)
        ]
        start = np.zeros(problems[0].n_features)
        unary = np.column_stack([-centres, squared_norms(centres) / 2])
        start[: problems[0].n_unary] = unary.ravel()
        learner = DualDecompositionLearner(
            regularizer="l2",
            alpha=alpha * len(nodes),
            step_weights=1 / len(nodes),
            step_multipliers=0.1,
            max_iter=self.max_iter,
            tol=0.01,
            n_jobs=self.n_jobs,
        ).fit(problems, start)
        self.weights_ = learner.weights_.copy()
        scaled = self.weights_[: problems[0].n_unary].reshape(-1, F + 1)
        scaled[:, :-1] /= scale
        scaled[:, -1] -= scaled[:, :-1] @ mean
        self.states_ = learner.completions_
        self.objective_path_, self.best_iter_ = learner.objective_path_, learner.best_iter_
        self.n_iter_, self.settled_ = learner.n_iter_, learner.settled_
        self.current_loss_, self.relaxed_loss_ = learner.current_loss_, learner.relaxed_loss_
        self.hinge_lower_bound_ = learner.hinge_lower_bound_
        self.duality_gap_ = learner.duality_gap_
        return self

    def predict(self, image: ArrayLike) -> Integers:
        """Label the nodes of an image.

        Parameters
        ----------
        image : array-like of shape (rows, columns, n_features)
            Features of the nodes.

        Returns
        -------
        ndarray of shape (rows, columns)
            Label of each node.

        Raises
        ------
        ValueError
            If the image is not as described.
        """
        return self.infer(image).states // self.n_hidden

    def infer(self, image: ArrayLike) -> GridSolution:
        """Minimize the energy of an image, over labels and hidden states together.

        Descent over alternating rows and columns, from the best states of single nodes and
        from those of the slaves, whose dual value also bounds the minimum from below.

        Parameters
        ----------
        image : array-like of shape (rows, columns, n_features)
            Features of the nodes.

        Returns
        -------
        GridSolution
            States, energy and lower bound.

        Raises
        ------
        ValueError
            If the image is not as described.
        """
        check_is_fitted(self)
        problem = GridProblem(
            image,
            n_labels=self.n_labels_,
            n_hidden=self.n_hidden,
            decomposition=self.decomposition,
        )
        if problem.n_features != self.weights_.size:
            raise ValueError(
                f"image must have {self.n_features_in_} features, as in fit; got "
                f"{problem.X.shape[1] - 1}"
            )
        w = self.weights_
        x = problem.decode(w, None)
        energy = configuration_energy(problem, w, x)
        tightened = tighten(problem, w, initial_multipliers(problem), x)
        lower_bound = energy - tightened.relaxed_loss
        for batch, own in zip(problem.batches, tightened.multipliers, strict=True):
            votes = np.zeros(problem.n_variables)
            np.add.at(votes, batch.coords, batch.minimize(w, own).mu)
            start = votes.reshape(*problem.grid, -1).argmax(axis=2)
            found = problem.decode(w, start)
            found_energy = configuration_energy(problem, w, found)
            if found_energy < energy:
                x, energy = found, found_energy
        return GridSolution(x, energy, lower_bound)


def _check_image(image: Any, name: str = "image") -> Floats:
    array: Any = check_matrix(
        image, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name
    )
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError(
            f"{name} must have shape (rows, columns, n_features), none of them 0; got {array.shape}"
        )
    return array


def _check_labels(
    labels: Any, grid: tuple[int, ...], n_labels: int | None = None, name: str = "labels"
) -> Integers:
    array = as_array(labels, name)
    if array.shape != tuple(grid) or array.dtype.kind not in "biu":
        raise ValueError(
            f"{name} must be integers of the shape {tuple(grid)} of the image; got shape "
            f"{array.shape} and dtype {array.dtype}"
        )
    if array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be less than 2^63; got {array.max()}")
    if array.min() < 0 or (n_labels is not None and array.max() >= n_labels):
        allowed = "" if n_labels is None else f" and at most {n_labels - 1}"
        raise ValueError(f"{name} must be at least 0{allowed}; got {array.min()} to {array.max()}")
    return array.astype(np.intp)
