"""Feasible assignments of weakly labelled bags (Law 2017, Eq. 2): one choice for each bag.

What is feasible is said in `mlbook.mimlca`, which checks all input and alternates these choices
with the means of the chosen instances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from mlbook._arrays import Floats, Integers, squared_norms

BLOCK_ENTRIES = 2**18  # entries of U gathered at a time: 2 MB, which a cache holds


class Choices:
    """The pairs (instance, candidate label) of all bags, and how to choose among them.

    Pairs are listed bag by bag, within a bag instance by instance. Bags with one instance or
    one label come first: the cheapest pair is the answer. With reject costs all pairs are
    weighed against leaving the instance alone; without, a bag with one pair has no choice.
    """

    def __init__(
        self, sizes: Integers, labels: csr_array, reject_costs: NDArray[Any] | None
    ) -> None:
        self.n, self.k = int(sizes.sum()), labels.shape[1]
        self.reject_costs = reject_costs
        n_labels = np.diff(labels.indptr).astype(np.intp)
        n_pairs = sizes * n_labels
        self.n_pairs = int(n_pairs.sum())
        offsets = np.append(0, np.cumsum(sizes))
        simple = np.flatnonzero((n_pairs > 0) & ((sizes == 1) | (n_labels == 1)))
        matrix = np.flatnonzero((sizes > 1) & (n_labels > 1))
        bags = np.concatenate([simple, matrix])
        self.starts = np.append(0, np.cumsum(n_pairs[bags]))
        self.n_simple = len(simple)
        self.shapes = list(zip(sizes[matrix].tolist(), n_labels[matrix].tolist(), strict=True))
        within = np.arange(self.starts[-1]) - np.repeat(self.starts[:-1], n_pairs[bags])
        repeated = np.repeat(bags, n_pairs[bags])
        row, column = np.divmod(within, n_labels[repeated])
        self.instances = offsets[repeated] + row
        self.categories = labels.indices[labels.indptr[repeated] + column].astype(np.intp)
        self.chances = 1.0 / n_pairs[repeated]
        self.free = self.chances < 1 if reject_costs is None else np.ones(len(repeated), bool)

    def mean_of_candidates(self, U: NDArray[Any], weighted: bool) -> NDArray[Any]:
        """First centroids: see `init` of `weak_kmeans`."""
        weights = self.chances
        if not weighted:
            alone = self.chances == 1
            known = np.zeros(self.k, dtype=bool)
            known[self.categories[alone]] = True
            weights = np.where(known[self.categories], alone, True).astype(np.float64)
        totals = np.bincount(self.categories, weights, minlength=self.k)
        weights = (weights / totals[self.categories]).astype(U.dtype)
        table = csr_array((weights, (self.categories, self.instances)), shape=(self.k, self.n))
        return table @ U

    def assign(self, U: NDArray[Any], Z: NDArray[Any]) -> Integers:
        """Return the cheapest feasible assignment."""
        costs = np.zeros(len(self.instances))
        free = np.flatnonzero(self.free)
        costs[free] = _pair_costs(U, Z, self.instances[free], self.categories[free])
        if self.reject_costs is not None:
            costs = np.minimum(costs - self.reject_costs[self.instances], 0.0)
        return self._cheapest(costs)

    def random(self, rng: np.random.RandomState) -> Integers:
        """Return a feasible assignment of as many instances as possible, at random."""
        return self._cheapest(-rng.uniform(size=len(self.instances)))

    def _cheapest(self, costs: Floats) -> Integers:
        chosen = np.zeros(len(costs), dtype=bool)
        if self.n_simple:
            starts = self.starts[: self.n_simple + 1]
            head = costs[: starts[-1]]
            least = np.repeat(np.minimum.reduceat(head, starts[:-1]), np.diff(starts))
            ties = np.flatnonzero(head == least)
            first = np.searchsorted(ties, starts[:-1])
            chosen[ties[first]] = True
        for start, (n_i, q_i) in zip(self.starts[self.n_simple :], self.shapes, strict=False):
            block = costs[start : start + n_i * q_i].reshape(n_i, q_i)
            rows, columns = linear_sum_assignment(block)
            chosen[start + rows * q_i + columns] = True
        if self.reject_costs is not None:
            chosen &= costs < 0
        assignments = np.full(self.n, -1, dtype=np.intp)
        assignments[self.instances[chosen]] = self.categories[chosen]
        return assignments


def _pair_costs(
    U: NDArray[Any], Z: NDArray[Any], instances: Integers, categories: Integers
) -> Floats:
    """Squared distances of instances to the centroids they are paired with."""
    costs = np.empty(len(instances))
    step = max(1, BLOCK_ENTRIES // U.shape[1])
    for i in range(0, len(instances), step):
        pairs = slice(i, i + step)
        differences = U[instances[pairs]] - Z[categories[pairs]]
        costs[pairs] = squared_norms(differences.astype(np.float64, copy=False))
    return costs
