"""Cards with two handwritten digits, sorted into piles by people who look at one of them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from mlbook._arrays import Floats, Integers
from mlbook.exemplars import exemplar_labels, solve_exemplars
from mlbook.latent_crf import LatentExemplarMetric
from mlbook.partitions import f_measure
from mlbook.plots import COLORS, INK, subplots

__all__ = [
    "SIDES",
    "WAYS",
    "Piles",
    "boxes",
    "card_weights",
    "deck",
    "learned_cards",
    "piles",
    "pixels_of",
    "scores_of",
    "two_sortings",
    "varied",
    "weights_of",
]

SIDES = ("left", "right")
WAYS = ("all pixels alike", "learned")
DIGITS, PILE, MOST = 5, 8, 12  # digits in a box, cards of each, cards in a row of the picture


@cache
def deck() -> tuple[Floats, Integers, Integers]:
    """Pair every digit of scikit-learn with another one, drawn at random.

    Returns
    -------
    cards : ndarray of shape (1797, 8, 16)
        The pictures.
    left, right : ndarray of shape (1797,)
        Their digits.

    Examples
    --------
    >>> cards, left, right = deck()
    >>> cards.shape, left[:3].tolist(), right[:3].tolist()
    ((1797, 8, 16), [0, 1, 2], [5, 8, 6])
    """
    pictures, digits = load_digits(return_X_y=True)
    other = np.random.default_rng(0).permutation(len(digits))
    pictures = pictures.reshape(-1, 8, 8)
    return np.concatenate([pictures, pictures[other]], axis=2), digits, digits[other]


@cache
def varied() -> Integers:
    """Pixels that vary enough to be told apart, by their numbers in a card read row by row."""
    pixels: Integers = np.flatnonzero(deck()[0].std(axis=0).ravel() > 1)
    return pixels


@cache
def boxes(
    side: str, n_boxes: int, first_seed: int, *, new: bool = False
) -> tuple[list[Integers], list[Integers]]:
    """Draw boxes of 40 cards, which show five digits on one side, and sort them by that side.

    Cards with even numbers are for learning, those with odd numbers are new.

    Returns
    -------
    list of ndarray
        The numbers of the cards of each box.
    list of ndarray
        Their piles.

    Examples
    --------
    >>> cards, partitions = boxes("left", 2, 0)
    >>> [len(box) for box in cards], partitions[0].max().item()
    ([40, 40], 4)
    """
    digits = deck()[1 + SIDES.index(side)]
    allowed = np.arange(len(digits)) % 2 == int(new)
    found = []
    for seed in range(first_seed, first_seed + n_boxes):
        rng = np.random.default_rng(seed)
        shown = rng.choice(10, DIGITS, replace=False)
        piles = [np.flatnonzero((digits == digit) & allowed) for digit in shown]
        found.append(np.concatenate([rng.choice(pile, PILE, replace=False) for pile in piles]))
    labels: Integers = np.repeat(np.arange(DIGITS), PILE)
    return found, n_boxes * [labels]


def pixels_of(box: Integers) -> Floats:
    """Return the pixels of some cards that vary, a row for each card."""
    rows: Floats = deck()[0][box].reshape(len(box), -1)[:, varied()]
    return rows


@cache
def learned_cards(side: str) -> LatentExemplarMetric:
    """Learn from eight boxes that were sorted by the digits of one side.

    Examples
    --------
    >>> learned_cards("left").penalty_
    6.4
    """
    cards, partitions = boxes(side, 8, 0)
    return LatentExemplarMetric(random_state=0).fit([pixels_of(box) for box in cards], partitions)


class Piles(NamedTuple):
    """A box of cards, sorted: its cards, the pile of each, and which card stands for each pile."""

    box: Integers
    labels: Integers
    exemplars: Integers


def _cluster(box: Integers, weights: Floats, price: float) -> Piles:
    Z = pixels_of(box) * np.sqrt(weights)
    D = cdist(Z, Z, "sqeuclidean")
    found = solve_exemplars(D, price, random_state=0).exemplars
    return Piles(box, exemplar_labels(D, found), found)


@cache
def weights_of(side: str, way: str) -> Floats:
    """Weights of the pixels: learned, or all alike.

    The latter get the scale, of 16, at which the boxes for learning fall into the right number of
    piles, on average; so both have the same price.
    """
    metric = learned_cards(side)
    if way == "learned":
        return metric.weights_
    cards, _ = boxes(side, 8, 0)
    w = np.full(len(varied()), metric.penalty_ / metric.scales_.sum())

    def excess(scale: float) -> int:
        found = [_cluster(box, scale * w, metric.penalty_) for box in cards]
        return abs(sum(len(each.exemplars) for each in found) - DIGITS * len(cards))

    return min(np.geomspace(0.05, 5, 16), key=excess) * w


def piles(side: str, way: str, seed: int) -> Piles:
    """Sort a new box by one of the `WAYS`.

    Examples
    --------
    >>> len(piles("right", "learned", 100).exemplars)
    5
    """
    (box,), _ = boxes(side, 1, seed, new=True)
    return _cluster(box, weights_of(side, way), learned_cards(side).penalty_)


@cache
def scores_of(side: str, way: str, n_boxes: int = 20) -> tuple[Floats, Integers]:
    """Return pairwise F of new boxes, and how many piles each falls into.

    Examples
    --------
    >>> scores, counts = scores_of("left", "learned", 2)
    >>> len(scores), len(counts)
    (2, 2)
    """
    found = [piles(side, way, 100 + seed) for seed in range(n_boxes)]
    truth = boxes(side, 1, 100, new=True)[1][0]
    scores = np.array([f_measure(truth, each.labels) for each in found])
    return scores, np.array([len(each.exemplars) for each in found])


def _rows(found: Piles, digits: Integers) -> list[tuple[int, list[int], Integers]]:
    """Say how the piles are laid out: the largest first, each with its exemplar first.

    Returns the number of a pile, its cards with the wrong ones last, and which cards are right: a
    card is wrong if its digit is not that of its exemplar.
    """
    rows = []
    for pile in np.argsort(-np.bincount(found.labels), kind="stable"):
        exemplar = found.exemplars[pile]
        right = digits[found.box] == digits[found.box[exemplar]]
        members = np.flatnonzero(found.labels == pile).tolist()
        members.sort(key=lambda p: (p != exemplar, not right[p]))
        rows.append((int(pile), members, right))
    return rows


def _draw_piles(ax: Axes, found: Piles, digits: Integers, top: int) -> tuple[int, int]:
    """Draw the piles as rows from a height on; return where they end, and how many are wrong."""
    rows, wrong = _rows(found, digits), 0
    canvas = np.zeros((10 * len(rows), 18 * MOST))
    for row, (pile, members, right) in enumerate(rows):
        for column, p in enumerate(members):
            x, y = 18 * column, 10 * row
            canvas[y : y + 8, x : x + 16] = deck()[0][found.box[p]]
            edge, width = (COLORS[pile % len(COLORS)], 2.5) if column == 0 else ("0.75", 0.6)
            frame = Rectangle((x, top + y), 16, 8, fill=False, edgecolor=edge, linewidth=width)
            ax.add_patch(frame)
            if not right[p]:
                ax.plot([x, x + 16], [top + y + 8, top + y], color=COLORS[1], linewidth=1.8)
                wrong += 1
    extent = (0, canvas.shape[1], top + len(canvas), top)
    ax.imshow(canvas, cmap="gray_r", extent=extent, vmin=0, vmax=16)
    return top + len(canvas), wrong


def two_sortings(side: str = "right", seed: int = 100) -> Figure:
    """Draw a new box of cards, sorted by all pixels alike and by the learned distance."""
    found = [piles(side, way, seed) for way in WAYS]
    digits = np.asarray(deck()[1 + SIDES.index(side)], dtype=np.intp)
    rows = sum(len(each.exemplars) for each in found)
    figure, axes = subplots(height=0.9 + 0.26 * rows)
    ax, top = axes[0, 0], 0
    for each, way in zip(found, WAYS, strict=True):
        end, wrong = _draw_piles(ax, each, digits, top + 10)
        title = f"{way}: {len(each.exemplars)} piles, {wrong} of {len(each.box)} cards wrong"
        ax.text(0, top + 8, title, va="bottom")
        top = end + 4
    ax.set(xlim=(-1, 18 * MOST), ylim=(top, -1))
    ax.axis("off")
    return figure


def card_weights() -> Figure:
    """Draw what a pixel counts in the distances learned from both ways to sort."""
    figure, axes = subplots(1, 2, height=1.9)
    for ax, side in zip(axes[0], SIDES, strict=True):
        metric, image = learned_cards(side), np.zeros(128)
        image[varied()] = metric.weights_ * metric.scales_
        ax.imshow(image.reshape(8, 16), cmap="Blues")
        ax.axvline(7.5, color=INK, linewidth=0.8, linestyle=":")
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"boxes sorted by the {side} digit", fontsize=11)
    return figure
