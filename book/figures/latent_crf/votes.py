"""The worked example of three points: its slaves, their votes, and the rule as printed."""

from collections.abc import Iterator
from copy import copy
from itertools import product

import numpy as np

from mlbook._arrays import Floats, Integers
from mlbook.latent_crf import (
    ExemplarProblem,
    SlaveBatch,
    SlaveState,
    dual_value,
    initial_multipliers,
    relaxed_loss,
)

__all__ = [
    "climb",
    "last_move",
    "slave_minima",
    "slave_values",
    "three_points",
]


def three_points() -> tuple[Floats, Integers]:
    """Three points with two features, of which the first tells the clusters apart.

    Examples
    --------
    >>> X, y = three_points()
    >>> X.tolist(), y.tolist()
    ([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]], [0, 0, 1])
    """
    return np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]]), np.array([0, 0, 1])


class _PrintedSlaves:
    """Point slaves by Komodakis 2011, Eqs. 32-33 as printed: what p chooses may stay closed."""

    def __init__(self, batch: SlaveBatch) -> None:
        self.batch, self.shape, self.coords = batch, batch.shape, batch.coords

    def minimize(self, w: Floats, multipliers: Floats) -> SlaveState:
        right = self.batch.minimize(w, multipliers)
        problem = self.batch.problem  # type: ignore[attr-defined]
        shares = problem.potentials(w).diagonal() / (self.shape[0] + 1)
        is_open = shares + multipliers < 0
        np.fill_diagonal(is_open, right.mu.diagonal())
        return right._replace(mu=is_open)

    def evaluate(self, x: Integers) -> SlaveState:
        return self.batch.evaluate(x)


def climb(
    problem: ExemplarProblem, w: Floats, n_steps: int, *, step: float, printed: bool = False
) -> Floats:
    """Best dual bound so far along subgradient steps on the multipliers, the weights fixed.

    The step is multiplied by 1 / (1 + t / 10). With `printed` the votes are those of Eqs. 32-33 as
    printed, while the bound is always the true one. O(n²) per step.

    Examples
    --------
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> climb(problem, np.array([0.5, 0.5]), 2, step=2.0).tolist()
    [-2.0, 2.5, 2.5]
    """
    path = _prices(problem, w, n_steps, step=step, printed=printed)
    return np.maximum.accumulate([dual_value(problem, w, prices) for prices in path])


def last_move(problem: ExemplarProblem, w: Floats, n_steps: int, *, step: float) -> int:
    """Return the last of the steps of `climb` in which the printed rule moves a price, 0 if none.

    Examples
    --------
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> last_move(problem, np.array([0.5, 0.5]), 20, step=4.0)
    1
    """
    path = [np.vstack(prices) for prices in _prices(problem, w, n_steps, step=step, printed=True)]
    moves = [t for t in range(1, n_steps + 1) if (path[t] != path[t - 1]).any()]
    return max(moves, default=0)


def _prices(
    problem: ExemplarProblem, w: Floats, n_steps: int, *, step: float, printed: bool
) -> Iterator[list[Floats]]:
    """Yield the prices before and after each step of `climb`."""
    voters = copy(problem)
    if printed:
        voters.batches = [_PrintedSlaves(problem.batches[0]), problem.batches[1]]
    x = problem.complete(w, None)
    prices = initial_multipliers(problem)
    yield prices
    for t in range(n_steps):
        slopes = relaxed_loss(voters, w, prices, x).multipliers
        length = step / (1 + t / 10)
        prices = [a - length * b for a, b in zip(prices, slopes, strict=True)]
        yield prices


def slave_minima(problem: ExemplarProblem, w: Floats, prices: list[Floats]) -> Floats:
    """Minimum of every slave, points first, by going through all that it may do.

    Examples
    --------
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> slave_minima(problem, np.array([0.5, 0.5]), initial_multipliers(problem)).tolist()
    [0.0, 0.0, 0.0, -1.0, -1.0]
    """
    U, y = problem.potentials(w), np.asarray(problem.labels)
    n = len(U)
    share = U.diagonal() / (n + 1)
    openings = np.array(list(product((0, 1), repeat=n)))
    minima = []
    for p in range(n):
        theta = share + prices[0][p]
        values = [
            x @ theta + (0 if q == p else U[p, q]) - problem.beta
            for x in openings
            for q in range(n)
            if x[q] and x[p] == (q == p)
        ]
        minima.append(min(values))
    for c in np.unique(y):
        theta = np.where(y == c, share + prices[1], 0)
        wrong = [problem.alpha * abs(1 - x[y == c].sum()) for x in openings]
        minima.append(min(openings @ theta - wrong))
    return np.array(minima)


def slave_values(problem: ExemplarProblem, w: Floats, prices: list[Floats]) -> Floats:
    """Energy of every slave at what the library votes for it, points first.

    The votes have no row: a point that does not open itself goes to the nearest of what it opens.

    Examples
    --------
    >>> problem = ExemplarProblem(*three_points(), penalty=3.0)
    >>> slave_values(problem, np.array([0.5, 0.5]), initial_multipliers(problem)).tolist()
    [0.0, 0.0, 0.0, -1.0, -1.0]
    """
    U, y = problem.potentials(w), np.asarray(problem.labels)
    share = U.diagonal() / (len(U) + 1)
    votes, own = (
        batch.minimize(w, price).mu for batch, price in zip(problem.batches, prices, strict=True)
    )
    ways = np.where(votes > 0, U, np.inf).min(axis=1)
    rows = ((share + prices[0]) * votes).sum(axis=1) + np.where(votes.diagonal() > 0, 0, ways)
    theta = share + prices[1]
    clusters = [
        (theta * own)[y == c].sum() - problem.alpha * abs(1 - own[y == c].sum())
        for c in np.unique(y)
    ]
    return np.array([*(rows - problem.beta), *clusters])
