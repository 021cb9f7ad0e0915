r"""How many clusters or segments each price gives: paths, and the plateaus on them.

Let :math:`D_k` be the least cost of k clusters, and let each cluster cost the price λ. The best
number at this price minimizes :math:`D_k + \lambda k`. As the price rises the number falls, in
steps: k is best exactly for

.. math:: \max_{j > k} \frac{D_k - D_j}{j - k} \le \lambda \le \min_{i < k} \frac{D_i - D_k}{k - i},

its plateau. The numbers that have one are the corners of the lower convex hull of the points
:math:`(k, D_k)`; some numbers have none. A price can be asked about in any unit, so the length of
a plateau is measured on a log scale: by the ratio of its ends. Where a long plateau is, the
number of clusters hardly depends on the price.

Paths are made by `mlbook.exemplars.exemplar_path` and `mlbook.changepoints.segmentation_path`, and
drawn by `mlbook.plots.plot_path`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mlbook._arrays import Floats, Integers
from mlbook._validation import as_floats

__all__ = ["STANDS_OUT", "Plateau", "PricePath", "plateaus"]

#: Ratio of the two ends from which a plateau stands out. Of 200 draws of normal noise, 100 or 300
#: points in 2 to 50 columns, 189 have no plateau of clusters as long as that; of 240 draws of
#: noise as a series, 200 or 800 points in 1 to 10 columns, none has one of segments.
STANDS_OUT = 2.5


@dataclass(frozen=True)
class Plateau:
    """A range of prices that all give the same number of clusters or segments.

    Attributes
    ----------
    count : int
        The number.
    low, high : float
        The ends of the range, 0 ≤ `low` < `high`.

    Examples
    --------
    >>> plateau = Plateau(3, 2.0, 18.0)
    >>> plateau.ratio, plateau.price, plateau.stands_out
    (9.0, 6.0, True)
    """

    count: int
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """Length of the plateau: its high end divided by the low one."""
        return self.high / self.low if self.low > 0 else float("inf")

    @property
    def price(self) -> float:
        """Price in the middle, on the log scale; half of the high end if the low one is 0."""
        return float(np.sqrt(self.low) * np.sqrt(self.high)) if self.low > 0 else self.high / 2

    @property
    def stands_out(self) -> bool:
        """Tell whether the plateau is longer than noise makes them (`STANDS_OUT`)."""
        return self.ratio >= STANDS_OUT


@dataclass(frozen=True, eq=False)
class PricePath:
    """Number of clusters or segments against the price, as a list of plateaus.

    Attributes
    ----------
    counts : ndarray of m increasing integers
        The numbers that are best at some price.
    low, high : ndarray of shape (m,)
        Number ``counts[i]`` is best at prices from ``low[i]`` to ``high[i]``. Both decrease:
        ``high[i + 1] == low[i]``, and ``high[0]`` is infinite.
    what : str
        What is counted: "clusters" or "segments".

    Examples
    --------
    >>> path = PricePath(np.array([1, 3]), np.array([14.0, 2.0]), np.array([np.inf, 14.0]))
    >>> path.longest
    Plateau(count=3, low=2.0, high=14.0)
    """

    counts: Integers
    low: Floats
    high: Floats
    what: ClassVar[str] = "clusters"

    @property
    def longest(self) -> Plateau | None:
        """Plateau of the largest ratio; None if there is no other than the first.

        The first plateau has no upper end and does not count: a high enough price always gives
        the smallest number.
        """
        if len(self.counts) < 2:
            return None
        with np.errstate(divide="ignore"):
            lengths = np.log(self.high[1:]) - np.log(self.low[1:])
        i = 1 + int(lengths.argmax())
        return Plateau(int(self.counts[i]), float(self.low[i]), float(self.high[i]))


def plateaus(counts: ArrayLike, costs: ArrayLike) -> tuple[Integers, Floats, Floats]:
    """Return the numbers that are best at some positive price, and from which to which.

    The lower convex hull, by one pass. O(m) for m numbers.

    Parameters
    ----------
    counts : array-like of m increasing integers
        Numbers of clusters.
    costs : array-like of m floats
        Least cost of each, without the price; infinite if the number is not possible.

    Returns
    -------
    counts, low, high : ndarray
        As in `PricePath`. The last low end is 0.

    Examples
    --------
    >>> for array in plateaus([1, 2, 3, 4, 5, 6], [34, 22, 6, 4, 2, 0]):
    ...     print(array)
    [1 3 6]
    [14.  2.  0.]
    [inf 14.  2.]
    """
    numbers, paid = as_floats(counts, "counts"), as_floats(costs, "costs")
    if numbers.ndim != 1 or numbers.shape != paid.shape or not np.all(np.abs(numbers) < 2**53):
        raise ValueError(
            f"counts and costs must be as many numbers; got shapes {numbers.shape}, {paid.shape}"
        )
    if np.any(np.diff(numbers) <= 0):
        raise ValueError(f"counts must increase; got {counts!r:.200}")
    hull: list[tuple[int, float, float]] = []  # with the price at which each takes over
    for count, cost in zip(numbers.tolist(), paid.tolist(), strict=True):
        if not np.isfinite(cost) or (hull and cost >= hull[-1][1]):
            continue
        price = np.inf
        while hull:
            last, last_cost, highest = hull[-1]
            price = (last_cost - cost) / (count - last)
            if price < highest:
                break
            hull.pop()
        hull.append((int(count), float(cost), price))
    high = np.array([price for *_, price in hull])
    low = np.append(high, 0.0)[1:]
    return np.array([count for count, *_ in hull], dtype=np.int64), low, high
