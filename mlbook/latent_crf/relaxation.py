"""The minimum of the energy less the error, relaxed: one price for each point suffices.

The bound of Komodakis 2011, Eq. 26, has n² multipliers. At its best it is also the maximum of a
function of n of them. Let v_p be what point p would pay, and f the price of an exemplar, ū_qq:

    L(v) = Σ_p v_p + Σ_C min(0, 2α + Σ_{q∈C} min(0, f − α − v_q − Σ_{p≠q} max(0, v_p − ū_pq)))

less αk + βn is the sum of the minima of all slaves, where slave p has θ_pq = max(0, v_p − ū_pq)
and θ_pp = v_p, and the slave of a cluster what is left of f. Both maxima are those of one linear
program, in which q is open in part, y_q, and every point is shared out among exemplars, to each
y_q at most. Given y the best shares are plain: as much as there is to the cheapest, then the next.

So there are two functions of n numbers, one below the minimum and one above it. Each is the target
of Polyak's steps on the other.
"""

from typing import NamedTuple

import numpy as np

from mlbook._arrays import Floats, Integers
from mlbook.latent_crf import compiled
from mlbook.latent_crf.compiled import Value

ROUNDS = 12  # of steps from both sides, at most
BELOW, ABOVE = 40, 25  # steps in a round
REACH = 1.0  # first share of the way to the target that a step takes
FAR = 2.5  # open exemplars: no point pays more than for what is beyond


class Pairs(NamedTuple):
    """The costs of the pairs that matter, point by point, the cheapest first.

    Attributes
    ----------
    starts : ndarray of shape (n + 1,)
        The pairs of point p are those from starts[p] to starts[p + 1].
    near : ndarray of shape (m,)
        Exemplar q ≠ p of each pair.
    values : ndarray of shape (m,)
        Its cost for the point; that of a point for itself is 0, and all others are more.
    price : ndarray of shape (n,)
        Of each exemplar.
    labels : ndarray of shape (n,)
        Cluster of each exemplar.
    fee : float
        Of a cluster that has an exemplar.
    most : ndarray of shape (n,)
        What a point pays at most; pairs that cost as much are left out.
    """

    starts: Integers
    near: Integers
    values: Floats
    price: Floats
    labels: Integers
    fee: float
    most: Floats


class Mixture(NamedTuple):
    """A configuration in parts: q is open to the extent y_q, and points are shared out.

    Attributes
    ----------
    openings : ndarray of shape (n,)
        y. The share y_p of point p is its own exemplar.
    points, exemplars : ndarray of shape (m,)
        Pairs p ≠ q with a share above zero.
    shares : ndarray of shape (m,)
        Their shares, at most y_q; those of a point and y_p add up to 1.
    """

    openings: Floats
    points: Integers
    exemplars: Integers
    shares: Floats


class Relaxation(NamedTuple):
    """Bounds on the minimum of the relaxed Ē.

    Attributes
    ----------
    lower : float
        L(v) less αk + βn. No configuration has a lower Ē.
    upper : float
        Ē of the mixture.
    prices : ndarray of shape (n,)
        v.
    mixture : Mixture
        The parts that attain `upper`.
    """

    lower: float
    upper: float
    prices: Floats
    mixture: Mixture


def relaxed_minimum(
    potentials: Floats,
    labels: Integers,
    alpha: float,
    beta: float,
    start: tuple[Floats, Floats],
    accuracy: float = 1e-3,
) -> Relaxation:
    """Bracket the minimum of the relaxed Ē (Komodakis 2011, Eq. 26, at the best multipliers).

    Steps on v and on y in turn, until the bounds differ by `accuracy`, or for ten rounds. A step
    costs O(n²) at most: pairs that no point would pay for are left out.

    Parameters
    ----------
    potentials : ndarray of shape (n, n)
        ū, see `loss_augmented_potentials`.
    labels : ndarray of n integers from 0 to k − 1
        The partition.
    alpha, beta : float
        Weights of the error (Eq. 15).
    start : pair of ndarrays of shape (n,)
        First v and y, say those of similar potentials.
    accuracy : float, default=1e-3
        See above.

    Returns
    -------
    Relaxation
        Both bounds, and what attains them.

    Examples
    --------
    >>> from mlbook.latent_crf import loss_augmented_potentials
    >>> labels = np.array([0, 0, 1])
    >>> U = loss_augmented_potentials([[0, 1, 9], [1, 0, 9], [9, 9, 0]], labels, penalty=2.0)
    >>> found = relaxed_minimum(U, labels, 1.0, 1.0, (np.full(3, 2.0), np.array([1.0, 0, 1])))
    >>> print(round(found.lower, 2), round(found.upper, 2), found.mixture.openings.round(2))
    4.0 4.0 [0.5 0.5 1. ]
    """
    n, k, alpha = len(labels), int(labels.max()) + 1, float(alpha)
    # What every exemplar saves a point changes nothing: costs of pairs are made to begin at zero.
    base = np.minimum(0.0, potentials.min(axis=1))
    costs = potentials - base[:, None]
    price = potentials.diagonal() - alpha - base
    np.fill_diagonal(costs, 0.0)
    constant = float(base.sum()) - alpha * k - beta * n

    v, y = start
    enough = 2 * (price + 2 * alpha)  # more than any point pays
    most = np.minimum(enough, np.maximum(_far(costs, y), 0))
    kernels = compiled.load()
    pairs = Pairs(*kernels.sort(costs, most), price, labels, 2 * alpha, most)

    upper = kernels.above(pairs, y)[0]
    v, ones, reach_v, reach_y = np.clip(v - base, 0, most), np.ones(n), REACH, REACH
    for _ in range(ROUNDS):
        v, lower, mean, reach_v = kernels.polyak(pairs, False, v, most, -upper, BELOW, reach_v)
        value = kernels.above(pairs, mean)[0]
        if value < upper:
            y, upper = mean, value
        y, upper, _, reach_y = kernels.polyak(pairs, True, y, ones, -lower, ABOVE, reach_y)
        held_back = (v >= most) & (most < enough)
        if upper + lower <= accuracy and not held_back.any():
            break
        if held_back.any():
            most = np.where(held_back, np.minimum(2 * most + 1e-3 * enough, enough), most)
            pairs = Pairs(*kernels.sort(costs, most), price, labels, 2 * alpha, most)
            upper = kernels.above(pairs, y)[0]
    mixture = _share_out(costs, y)
    taken = costs[mixture.points, mixture.exemplars] @ mixture.shares
    largest = np.zeros(k)
    np.maximum.at(largest, labels, mixture.openings)
    upper = float(taken + price @ mixture.openings + 2 * alpha * largest.sum())
    return Relaxation(constant - lower, constant + upper, v + base, mixture)


def below(pairs: Pairs, v: Floats) -> Value:
    """−L at the prices v, a subgradient, and which exemplars are open."""
    starts, near, values, price, labels, fee, _ = pairs
    n = len(v)
    points = np.repeat(np.arange(n), np.diff(starts))
    margins = np.maximum(v[points] - values, 0)
    reduced = price - v - np.bincount(near, margins, n)
    gains = fee + np.bincount(labels, np.minimum(reduced, 0))
    is_open = (reduced < 0) & (gains < 0)[labels]
    served = np.bincount(points[(margins > 0) & is_open[near]], minlength=n)
    value = -float(v.sum() + np.minimum(gains, 0).sum())
    opened = is_open.astype(np.float64)
    return value, opened + served - 1, opened


def above(pairs: Pairs, y: Floats) -> Value:
    """Cost of the openings y with the best shares, a subgradient, and y.

    What a point finds too little of among its pairs costs `most`.
    """
    starts, near, values, price, labels, fee, most = pairs
    n = len(y)
    largest = np.zeros(labels.max() + 1)
    np.maximum.at(largest, labels, y)
    first = y == largest[labels]
    slope = price + fee * first / np.bincount(labels, first)[labels]

    points = np.repeat(np.arange(n), np.diff(starts))
    sums = np.append(0.0, np.cumsum(y[near]))
    left = 1 - y[points] - (sums[:-1] - sums[starts[points]])
    shares = np.clip(left, 0, y[near])
    missing = 1 - y - np.bincount(points, shares, n)
    looked_at = left > 0
    last = np.zeros(n)
    np.maximum.at(last, points[looked_at], values[looked_at])
    last = np.where(missing > 1e-12, most, last)
    slope -= last
    margins = np.where(looked_at, last[points] - values, 0)
    slope -= np.bincount(near, margins, n)
    value = float(fee * largest.sum() + price @ y + shares @ values + np.maximum(missing, 0) @ most)
    return value, slope, y


def _far(costs: Floats, y: Floats) -> Floats:
    """Cost at which each point has passed two open exemplars and a half, infinite if it never does.

    Where the relaxation is tight no point pays more than for the second. Pairs that cost more are
    left out, which may loosen the bound below but keeps it true.
    """
    likely = np.flatnonzero(y > 0.01)
    if y[likely].sum() < FAR:
        return np.full(len(y), np.inf)
    near = costs[:, likely]
    order = near.argsort(axis=1)
    passed = np.cumsum(y[likely][order], axis=1) >= FAR
    place = passed.argmax(axis=1)
    rows = np.arange(len(y))
    return np.where(passed[:, -1], near[rows, order[rows, place]], np.inf)  # sums are rounded


def sort(costs: Floats, most: Floats) -> tuple[Integers, Integers, Floats]:
    """Keep the pairs below `most`, the cheapest of each point first: starts, near and values."""
    matters = costs < most[:, None]
    np.fill_diagonal(matters, False)
    points, near = np.nonzero(matters)
    values = costs[matters]
    order = np.lexsort((values, points))
    starts = np.append(0, np.cumsum(np.bincount(points, minlength=len(most))))
    return starts, near[order], values[order]


def _share_out(costs: Floats, y: Floats) -> Mixture:
    """Share every point out among what is open, the cheapest first."""
    y = np.where(y < 1e-7, 0.0, y)
    y = y / min(1.0, y.sum()) if y.any() else np.full(len(y), 1 / len(y))
    is_open = np.flatnonzero(y)
    near = costs[:, is_open]
    near[is_open, np.arange(len(is_open))] = -1.0  # a point's own exemplar first
    order = near.argsort(axis=1)
    shares = y[is_open][order]
    before = np.cumsum(shares, axis=1) - shares
    shares = np.clip(1 - before, 0, shares)
    points, places = np.nonzero(shares > 1e-12)
    exemplars, shares = is_open[order[points, places]], shares[points, places]
    others = points != exemplars
    return Mixture(y, points[others], exemplars[others], shares[others])
