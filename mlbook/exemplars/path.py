"""The number of exemplars against their price."""

from dataclasses import dataclass, field
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from mlbook._arrays import Floats, Integers
from mlbook._validation import check_integer
from mlbook.exemplars.compiled import NOTHING
from mlbook.exemplars.energy import check_distances, exemplar_energy, exemplar_labels
from mlbook.exemplars.solvers import solve_exemplars
from mlbook.price_paths import PricePath, plateaus


@dataclass(frozen=True, eq=False)
class ExemplarPath(PricePath):
    """Number of exemplars against their common penalty, made by `exemplar_path`.

    Attributes
    ----------
    counts : ndarray of m increasing integers
        The numbers of exemplars that are best at some penalty.
    low, high : ndarray of shape (m,)
        ``counts[i]`` exemplars are best at penalties from ``low[i]`` to ``high[i]``.
    longest : Plateau or None
        The longest plateau but the first, on a log scale of the penalty.
    exemplars : list of m ndarrays
        The sets of exemplars, ``exemplars[i]`` with ``counts[i]`` entries.
    prices : ndarray, increasing
        The penalties at which the problem was solved.
    gaps : ndarray
        At each of these, the share of the energy that better exemplars could at most remove.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 9.0])
    >>> path = exemplar_path((x[:, None] - x) ** 2, max_clusters=2)
    >>> print(path.counts, path.longest, path.gaps.max().round(9))
    [1 2] Plateau(count=2, low=1.0, high=52.0) 0.0
    >>> print(path.exemplars[1], path.labels(2))
    [1 3] [0 0 0 1]
    """

    exemplars: list[Integers]
    prices: Floats
    gaps: Floats
    _labels: dict[int, Integers] = field(repr=False)

    def labels(self, n_clusters: int) -> Integers:
        """Return the exemplar of each point, 0, 1, ..., if there are `n_clusters` of them."""
        if not isinstance(n_clusters, Integral) or n_clusters not in self._labels:
            raise ValueError(
                f"n_clusters must be one of counts, {self.counts.tolist()}: no other number is "
                f"best at any penalty of the path; got {n_clusters!r}"
            )
        return self._labels[int(n_clusters)].copy()


def exemplar_path(
    D: ArrayLike,
    max_clusters: int | None = None,
    *,
    max_iter: int = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> ExemplarPath:
    """Find the number of exemplars at every common penalty, and where it does not change.

    Two sets of exemplars cost the same at one penalty. There the problem is solved
    (`solve_exemplars`). A better set is a new plateau between the two; without one, they are
    neighbours, and that penalty is where the one plateau ends and the other begins. The search
    starts with one exemplar and with all points. Haynes et al. (2017) do the same for change
    points.

    Parameters
    ----------
    D : array-like of shape (n, n), n at least 2
        D[p, q] ≥ 0 is the distance of point p to exemplar q. The diagonal is not used.
    max_clusters : int, optional
        Largest number of exemplars looked at, below n; default: √n, rounded up.
    max_iter : int, default=1000
        Most steps on the dual, for each penalty.
    random_state : int, RandomState instance or None, default=None
        Randomness of `solve_exemplars`.

    Returns
    -------
    ExemplarPath
        The plateaus, with their exemplars, and the gap at each penalty solved for.

    Raises
    ------
    ValueError
        If an input is not as described. Negative distances are refused: adding a number to
        all of them moves the penalties by as much, so that a ratio of two means nothing.

    Notes
    -----
    About ``max_clusters + 1`` problems are solved, at most twice as many plus a few. On one core
    178 points took a second, 600 points 6 seconds.

    With all gaps 0 the path is proven exact. Else a set that the search missed can shorten a
    plateau or add one; `gaps` says how much of the energy it could save at most.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 9.0, 9.2])
    >>> path = exemplar_path((x[:, None] - x) ** 2, max_clusters=4)
    >>> for number, low, high in zip(path.counts, path.low, path.high):
    ...     print(number, low.round(2), high.round(2))
    1 74.43 inf
    2 31.2 74.43
    3 0.04 31.2
    4 0.01 0.04
    >>> path.longest.count
    3
    """
    distances = check_distances(D)
    n = len(distances)
    if n < 2:
        raise ValueError("D must hold the distances of at least 2 points; got 1")
    off_diagonal = np.array(distances)
    np.fill_diagonal(off_diagonal, 0)
    if off_diagonal.min() < 0:
        raise ValueError(
            f"D must not be negative: the ratio of two penalties would mean nothing; got "
            f"{off_diagonal.min():.3g}"
        )
    if max_clusters is None:
        max_clusters = min(n - 1, int(np.ceil(np.sqrt(n))))
    most = check_integer(max_clusters, "max_clusters", least=1, most=n - 1)

    best = np.array([off_diagonal.sum(axis=0, dtype=np.float64).argmin()])
    sets: dict[int, Integers] = {1: best, n: np.arange(n)}
    costs = {k: exemplar_energy(distances, Q, 0.0) for k, Q in sets.items()}
    gaps: dict[float, float] = {}
    while True:
        known = sorted(costs)
        counts, low, high = plateaus(known, [costs[k] for k in known])
        asked = [
            price
            for k, following, price in zip(counts[:-1], counts[1:], low[:-1], strict=True)
            if k <= most and following - k > 1 and price not in gaps
        ]
        if not asked:
            break
        price = asked[0]
        solution = solve_exemplars(distances, price, max_iter=max_iter, random_state=random_state)
        gaps[price] = solution.gap
        k = len(solution.exemplars)
        cost = exemplar_energy(distances, solution.exemplars, 0.0)
        if k not in costs or cost < (1 - NOTHING) * costs[k]:
            sets[k], costs[k] = solution.exemplars, cost

    kept = counts <= most
    exemplars = [sets[k] for k in counts[kept].tolist()]
    labels = {len(Q): exemplar_labels(distances, Q) for Q in exemplars}
    prices = np.array(sorted(gaps))
    found = np.array([gaps[price] for price in prices])
    return ExemplarPath(counts[kept], low[kept], high[kept], exemplars, prices, found, labels)
