"""What the appendix on the loss of two partitions computes and draws."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from mlbook._arrays import Floats, Integers
from mlbook.partitions import partition_loss
from mlbook.plots import COLORS, subplots

__all__ = ["Move", "every_move", "first_order", "move", "random_move", "shifted", "small_moves"]


class Move(NamedTuple):
    """How one partition becomes another with as many clusters: loss, its first order, and t.

    `t` is k − 1 times the largest flow between two clusters, as a share of the smaller one.
    """

    loss: float
    first_order: float
    rest: float
    t: float


def first_order(flows: Floats) -> float:
    """Sum over clusters of twice what leaves and enters, over the size before.

    Rows of `flows` are clusters before, columns after.

    Examples
    --------
    >>> print(first_order(np.array([[9, 1], [0, 10]])))
    0.4
    """
    moved = flows - np.diag(np.diag(flows))
    return float(2 * np.sum((moved.sum(axis=1) + moved.sum(axis=0)) / flows.sum(axis=1)))


def move(before: Integers, after: Integers) -> Move:
    """Compare two partitions whose clusters have the same names.

    Examples
    --------
    >>> found = move(np.repeat([0, 1], 10), np.repeat([0, 1], [9, 11]))
    >>> round(found.loss, 4), found.first_order, found.t
    (0.3636, 0.4, 0.1)
    """
    k = int(before.max()) + 1
    flows = np.zeros((k, k))
    np.add.at(flows, (before, after), 1)
    p, q = flows.sum(axis=1), flows.sum(axis=0)
    moved = flows - np.diag(np.diag(flows))
    entered = moved.sum(axis=0)
    rest = 2 * np.sum(entered**2 / (p * q)) + 2 * np.sum(moved**2 / np.outer(p, q))
    t = (k - 1) * float(np.max(moved / np.minimum.outer(p, p)))
    return Move(partition_loss(before, after), first_order(flows), float(rest), t)


def every_move(sizes: Sequence[int]) -> Iterator[Move]:
    """Move the points of clusters of some sizes in every way that changes some and empties none.

    Examples
    --------
    >>> len(list(every_move((2, 1))))
    5
    """
    before = np.repeat(np.arange(len(sizes)), sizes)
    for names in product(range(len(sizes)), repeat=len(before)):
        after = np.array(names)
        if len(np.unique(after)) == len(sizes) and (before != after).any():
            yield move(before, after)


def random_move(seed: int) -> Move:
    """Draw a partition of 200 points into 2 to 5 clusters, and move some of them.

    Examples
    --------
    >>> found = random_move(0)
    >>> found.loss <= found.first_order
    True
    """
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    before = np.append(np.arange(k), rng.integers(0, k, 200 - k))
    after = before.copy()
    chosen = k + rng.permutation(200 - k)[: int(rng.integers(1, 60))]
    after[chosen] = rng.integers(0, k, len(chosen))
    return move(before, after)


def shifted(seed: int) -> tuple[Integers, Integers]:
    """Draw a segmentation into 2 to 6 segments, and shift its change points a little.

    Every shift is less than half of the shortest segment, and one at least is not zero.

    Examples
    --------
    >>> before, after = shifted(0)
    >>> bool(before[-1] == after[-1])
    True
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 40, size=int(rng.integers(2, 7)))
    most = (int(lengths.min()) - 1) // 2
    shifts = rng.integers(-most, most + 1, size=len(lengths) - 1)
    shifts[0] = shifts[0] or 1
    moved = lengths + np.append(shifts, 0) - np.append(0, shifts)
    names = np.arange(len(lengths))
    return np.repeat(names, lengths), np.repeat(names, moved)


def small_moves() -> Figure:
    """Draw the loss as a share of its first order, for 300 random moves, and the bound below it."""
    found = [random_move(seed) for seed in range(300)]
    found = [each for each in found if 0 < each.t < 0.6]
    figure, axes = subplots(height=3.2)
    ax = axes[0, 0]
    ratios = [each.loss / each.first_order for each in found]
    ax.plot([each.t for each in found], ratios, "o", color=COLORS[0], markersize=4, alpha=0.6)
    t = np.linspace(0, 0.5, 51)
    ax.plot(t, 1 - t / (1 - t), "--", color=COLORS[1], label="1 − t/(1 − t)")
    ax.axhline(1, color=COLORS[6], linewidth=1)
    ax.set(xlabel="t: largest share moved, times k − 1", ylabel="loss / first order")
    ax.set(xlim=(0, 0.6), ylim=(0, 1.05))
    ax.legend(frameon=False, loc="lower left")
    return figure
