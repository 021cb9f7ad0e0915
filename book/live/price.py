"""Clusters for a price: exemplars among points of the plane, and the offers that certify them.

A state is a dict of

- ``points``: two coordinates each; their distance is the Euclidean one;
- ``price``: the penalty of an exemplar;
- ``range``: the lowest and the highest price of the path;
- ``offers``: whether the offers are drawn;
- ``frame``: the point in the middle of the panel, and the panel's units to one of the data.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from book.live.figure import show
from book.live.markup import Draw, fixed
from mlbook._arrays import Floats, Integers
from mlbook.exemplars import penalty_range
from mlbook.price_paths import plateaus

__all__ = ["body", "compute", "first_state", "price", "view"]

PANEL = (320, 240)
LEFT, RIGHT, TOP, BOTTOM = 30, 310, 26, 205  # the axes of the path
STEPS, STALLED = 300, 15  # of the ascent; steps that may bring little
MOST = 40  # points; more would be slow to drag


def price(X: ArrayLike | None = None, penalty: float | None = None, *, offers: bool = False) -> Any:
    """Show exemplar clustering at a price, with points to drag.

    Parameters
    ----------
    X : array-like of shape (n, 2), optional
        Points; default: 25 around five centres.
    penalty : float, optional
        Price of an exemplar; default: the middle of the longest plateau.
    offers : bool, default=False
        Draw a circle around each point with its offer as the radius.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If X has not two columns, or not 3 to 40 different rows.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> price()
    <live figure price>
    """
    state = first_state() if X is None else _state(X)
    if penalty is not None:
        state["price"] = float(penalty)
    return show("price", state | {"offers": bool(offers)})


def first_state() -> dict[str, Any]:
    """Return the book's example.

    Examples
    --------
    >>> state = first_state()
    >>> len(state["points"]), compute(state)["count"]
    (25, 5)
    """
    rng = np.random.default_rng(6)
    centres = np.array([[2.4, 2.2], [9.6, 1.9], [6.1, 4.6], [2.5, 7.2], [9.8, 7.0]])
    return _state((centres[np.arange(25) % 5] + rng.normal(size=(25, 2))).round(2))


def _state(X: Any) -> dict[str, Any]:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ValueError(f"X must have two finite columns; got shape {points.shape}")
    if not len(np.unique(points, axis=0)) == len(points) <= MOST or len(points) < 3:
        raise ValueError(f"X must have 3 to {MOST} different rows; got {len(points)} rows")
    low, high = points.min(axis=0), points.max(axis=0)
    cheapest, dearest = penalty_range(_distances(points))
    scale = float(min((np.array(PANEL) - [40, 60]) / (high - low)))
    x, y = (low + high) / 2
    state = {
        "points": points.tolist(),
        "price": 1.0,
        "range": [float(f"{cheapest / 2:.2g}"), float(f"{2 * dearest:.2g}")],
        "offers": False,
        "frame": [float(x), float(y) + 8 / scale, scale],
    }
    ends = compute(state)["path"]["low"]
    i = int(np.argmax(np.divide(ends[:-2], ends[1:-1]))) if len(ends) > 2 else 0
    return state | {"price": float(f"{math.sqrt(ends[i] * ends[i + 1]):.3g}")}


# The twin of price.js. Sums are taken in the same order, so that both find the same of two sets
# that are equally good.


class Near(NamedTuple):
    """Nearest open exemplar of each point, its distance, and the next nearest distance."""

    first: Integers
    d1: Floats
    d2: Floats


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Cluster the points, prove how well, and follow the number of clusters along the price.

    Returns
    -------
    dict
        ``count`` of exemplars; ``labels``, the exemplar of each point; ``ways``, the sum of the
        distances to them; ``energy``; ``offers``, the ``bound`` they prove and the ``gap``;
        ``path`` with ``counts`` and the prices down to which they are best, ``low``.

    Examples
    --------
    >>> state = {"points": [[0, 0], [0, 1], [0, 2], [0, 9]], "price": 3.0}
    >>> result = compute(state)
    >>> result["labels"], result["energy"], round(result["bound"], 6)
    ([1, 1, 1, 3], 8.0, 8.0)
    """
    D, price = _distances(np.array(state["points"], dtype=float)), state["price"]
    n, sets = len(D), _Sets(D)
    k = sets.best_count(price)
    start = _fair_offers(D, sets.open[k], price)
    offers, bound, share = _climb(D, price, sets.costs[k] + price * k, start)
    # Round: open the points that were open most of late, and swap.
    order = np.argsort(-share, kind="stable")
    for size in (k - 1, k, k + 1):
        if 2 <= size < n:
            sets.keep(_swap(D, np.isin(np.arange(n), order[:size])))
    k = sets.best_count(price)
    energy = sets.costs[k] + price * k
    counts, low, _ = plateaus(np.arange(1, n + 1), sets.costs[1:])
    return {
        "count": k,
        "labels": _nearest(D, sets.open[k]).first.tolist(),
        "ways": sets.costs[k],
        "energy": energy,
        "bound": bound,
        "gap": max(0.0, energy - bound) / energy,
        "offers": offers.tolist(),
        "path": {"counts": counts.tolist(), "low": low.tolist()},
    }


def _total(rows: Any) -> Any:
    return reduce(np.add, rows)


def _distances(points: Floats) -> Floats:
    x, y = (points[:, None] - points).transpose(2, 0, 1)
    return np.sqrt(x * x + y * y)


def _nearest(D: Floats, is_open: Any) -> Near:
    d = np.where(is_open, D, np.inf)
    first = d.argmin(axis=1)
    return Near(first, d.min(axis=1), np.partition(d, 1, axis=1)[:, 1])


def _losses(near: Near) -> Floats:
    """Return what closing each exemplar costs, 0 for the other points."""
    lost = np.zeros(len(near.d1))
    np.add.at(lost, near.first, near.d2 - near.d1)
    return lost


def _swap(D: Floats, is_open: Any) -> tuple[Any, float]:
    """Swap an exemplar for a better point until none is better; return the set and its cost."""
    while True:
        near = _nearest(D, is_open)
        lost, cost = _losses(near), float(_total(near.d1))
        closer = np.maximum(0, near.d1[:, None] - D)
        saved = near.d2[:, None] - np.maximum(near.d1[:, None], np.minimum(near.d2[:, None], D))
        gains = np.full((len(D), len(D)), -np.inf)  # of adding the row, dropping the column
        extra = np.tile(lost, (len(D), 1))
        for p, q in enumerate(near.first):
            extra[:, q] -= saved[p]
        pairs = np.ix_(~is_open, is_open)
        gains[pairs] = (_total(closer)[:, None] - extra)[pairs]
        add, drop = np.unravel_index(gains.argmax(), gains.shape)
        if not gains[add, drop] > 1e-9 * cost:
            return is_open, cost
        is_open = is_open.copy()
        is_open[[add, drop]] = True, False


class _Sets:
    """For every number of exemplars a cheap set.

    One is added to the last set, or, from all points downwards, dropped; each time swaps follow.
    """

    def __init__(self, D: Floats) -> None:
        n = len(D)
        self.open: list[Any] = [None] * n + [np.ones(n, dtype=bool)]
        self.costs = [math.inf] * n + [0.0]
        sums = _total(D)
        grown = np.arange(n) == sums.argmin()
        self.keep((grown, float(sums.min())))
        for _ in range(2, n):
            d1 = _nearest(D, grown).d1
            gains = _total(np.maximum(0, d1[:, None] - D))
            grown = grown | (np.arange(n) == gains.argmax())
            grown, cost = _swap(D, grown)
            self.keep((grown, cost))
        left = np.ones(n, dtype=bool)
        for _ in range(2, n):
            lost = np.where(left, _losses(_nearest(D, left)), np.inf)
            left = left & (np.arange(n) != lost.argmin())
            left, cost = _swap(D, left)
            self.keep((left, cost))

    def keep(self, found: tuple[Any, float]) -> None:
        is_open, cost = found
        k = int(is_open.sum())
        if cost < self.costs[k] * (1 - 1e-9):
            self.open[k], self.costs[k] = is_open, cost

    def best_count(self, price: float) -> int:
        """Return how many exemplars are best; of equally good numbers the smallest."""
        return int(np.argmin(np.array(self.costs) + price * np.arange(len(self.costs))))


def _fair_offers(D: Floats, is_open: Any, price: float) -> Floats:
    """Return the first offers: every point pays its way and its share of the price."""
    near = _nearest(D, is_open)
    sizes = np.bincount(near.first, minlength=len(D))
    return np.minimum(price, near.d1 + price / sizes[near.first])


def _climb(D: Floats, price: float, energy: float, v: Floats) -> tuple[Floats, float, Floats]:
    """Climb on L(v) by deflected subgradients with Polyak's steps, towards an energy.

    Returns
    -------
    offers, bound, share
        The last is a running average of "q would open".
    """
    best, bound, share = v, -math.inf, np.zeros(len(D))
    factor, stalled, direction = 1.0, 0, None
    for _ in range(STEPS):
        gains = _total(np.maximum(0, v[:, None] - D))
        is_open = gains > price
        share = share * 0.9 + np.where(is_open, 0.1, 0.0)
        slope = 1.0 - (is_open & (v[:, None] > D)).sum(axis=1)
        value = float(_total(v) + _total(np.minimum(0, price - gains)))
        stalled = 0 if value - bound > 0.01 * (energy - value) else stalled + 1
        if value > bound:
            best, bound = v, value
        if energy - bound <= 1e-9 * energy or not slope.any():
            break
        if stalled >= STALLED:
            v, direction, stalled, factor = best, None, 0, factor / 2
            continue
        if direction is None:
            direction = slope
        else:
            turn = -1.5 * _total(direction * slope) / _total(direction * direction)
            direction = slope + max(0.0, turn) * direction
        length = factor * (energy - value) / _total(direction * direction)
        v = np.clip(v + length * direction, 0, price)
    return best, bound, share


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state()
    >>> view(state, compute(state))["clusters"]
    {'text': '5'}
    """
    parts: dict[str, dict[str, Any]] = {}
    colour = _colours(result["labels"])
    places = [[fixed(c, 2) for c in _to_panel(state, point)] for point in state["points"]]
    for p, ((x, y), q) in enumerate(zip(places, result["labels"], strict=True)):
        parts[f"way-{p}"] = {"x1": x, "y1": y, "x2": places[q][0], "y2": places[q][1]}
        kind = f"mlbook-live-point mlbook-live-c{colour[q]}"
        parts[f"point-{p}"] = {"class": kind, "cx": x, "cy": y}
        parts[f"shop-{p}"] = {"cx": x, "cy": y, "r": 9 if q == p else 0}
        radius = state["frame"][2] * result["offers"][p] if state["offers"] else 0
        parts[f"offer-{p}"] = {"cx": x, "cy": y, "r": fixed(radius, 2)}
    at = _x(state, state["price"])
    x = fixed(at, 2)
    parts["path"] = {"d": _stairs(state, result["path"])}
    parts["now"] = {"x1": x, "x2": x}
    parts["here"] = {"cx": x, "cy": fixed(_y(len(places), result["count"]), 2)}
    parts["knob"] = {"cx": x}
    parts["clusters"] = {"text": str(result["count"])}
    parts["energy"] = {"text": fixed(result["energy"], 2)}
    parts["bound"] = {"text": fixed(result["bound"], 2)}
    parts["gap"] = {"text": f"{fixed(100 * result['gap'], 2)}%"}
    parts["offers"] = {"checked": state["offers"]}
    text = fixed(state["price"], 2)
    level = math.floor(200 * (at - LEFT) / (RIGHT - LEFT) + 0.5)
    parts["level"] = {"value": level, "aria-valuetext": text}
    parts["level-text"] = {"text": text}
    parts["says"] = {"text": _sentence(state, result)}
    return parts


def _to_panel(state: dict[str, Any], point: Any) -> tuple[float, float]:
    x, y, scale = state["frame"]
    return PANEL[0] / 2 + scale * (point[0] - x), PANEL[1] / 2 - scale * (point[1] - y)


def _x(state: dict[str, Any], price: float) -> float:
    low, high = state["range"]
    at = LEFT + (RIGHT - LEFT) * math.log(price / low) / math.log(high / low)
    return min(RIGHT, max(LEFT, at))


def _y(n: int, count: int) -> float:
    return BOTTOM - (BOTTOM - TOP) * math.log(count) / math.log(n)


def _stairs(state: dict[str, Any], path: dict[str, Any]) -> str:
    """Return the staircase, from the highest price down."""
    n = len(state["points"])
    steps = [
        f"V{fixed(_y(n, count), 2)}H{fixed(_x(state, low) if low > 0 else LEFT, 2)}"
        for count, low in zip(path["counts"], path["low"], strict=True)
    ]
    return f"M{RIGHT} {BOTTOM}{''.join(steps)}"


def _colours(labels: list[int]) -> dict[int, int]:
    """Return a colour for each exemplar, its own if it is free."""
    found: dict[int, int] = {}
    for q in sorted(set(labels)):
        colour = q % 5  # the book's example has five groups in turn
        while len(found) < 8 and colour in found.values():
            colour = (colour + 1) % 8
        found[q] = colour
    return found


def _many(k: int) -> str:
    return "1 cluster" if k == 1 else f"{k} clusters"


def _sentence(state: dict[str, Any], result: dict[str, Any]) -> str:
    count, path = result["count"], result["path"]
    i = path["counts"].index(count)
    up_to = f"to {fixed(path['low'][i - 1], 2)}" if i else "upwards"
    dearer = fixed(100 * result["gap"], 2)
    proof = "is the best" if result["gap"] < 1e-6 else f"is at most {dearer}% dearer than the best"
    return (
        f"{_many(count)}: ways {fixed(result['ways'], 2)} + {count} × price "
        f"{fixed(state['price'], 2)} = {fixed(result['energy'], 2)}. The offers prove that no "
        f"choice costs less than {fixed(result['bound'], 2)}. So this choice {proof}. Prices from "
        f"{fixed(path['low'][i], 2)} {up_to} all give {_many(count)}."
    )


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the numbers, both panels, the controls, the sentence."""
    names = {
        "clusters": "clusters",
        "energy": "energy E(Q)",
        "bound": "proved bound L(v)",
        "gap": "gap",
    }
    numbers = [
        draw("span", f"{text}: ", draw("strong", part=name), class_="mlbook-live-score")
        for name, text in names.items()
    ]
    offers = draw("input", part="offers", type="checkbox", name="offers")
    controls = draw.controls(
        draw.slider("level", "price of an exemplar", (0, 200, 1)),
        draw("label", offers, "show the offers"),
        draw.button("reset", "start again"),
    )
    panels = draw("div", _plane(state, draw), _path(state, draw), class_="mlbook-live-panels")
    says = draw("p", part="says", class_="mlbook-live-says", aria_live="polite")
    return "\n".join([draw("p", *numbers, class_="mlbook-live-readout"), panels, controls, says])


def _plane(state: dict[str, Any], draw: Draw) -> str:
    n = range(len(state["points"]))
    return draw.svg(
        *(draw("circle", part=f"offer-{p}", class_="mlbook-live-faint") for p in n),
        *(draw("line", part=f"way-{p}", class_="mlbook-live-line") for p in n),
        *(draw("circle", part=f"shop-{p}", class_="mlbook-live-line") for p in n),
        *(draw("circle", part=f"point-{p}", r=5) for p in n),
        draw("text", "points, drag them; rings: exemplars", x=8, y=16),
        draw.group("points", _to_panel(state, state["points"][0]), "Points"),
        size=PANEL,
        label=f"{len(n)} points, each joined to the exemplar of its cluster.",
    )


def _path(state: dict[str, Any], draw: Draw) -> str:
    n, (low, high) = len(state["points"]), state["range"]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    prices = [m * 10.0**e for e in decades for m in (1, 3) if low <= m * 10.0**e <= high]
    counts = [k for k in (1, 2, 3, 5, 10, 20, 40) if k <= n]
    marks = [
        draw("text", f"{price:g}", x=fixed(_x(state, price), 2), y=BOTTOM + 22,
             text_anchor="middle")
        for price in prices
    ]  # fmt: skip
    for count in counts:
        y = fixed(_y(n, count), 2)
        marks.append(draw("line", class_="mlbook-live-faint", x1=LEFT, x2=RIGHT, y1=y, y2=y))
        y = fixed(float(y) + 4, 2)
        marks.append(draw("text", str(count), x=LEFT - 6, y=y, text_anchor="end"))
    x = _x(state, state["price"])
    return draw.svg(
        draw("text", "number of clusters at each price", x=8, y=16),
        *marks,
        draw("path", part="path", class_="mlbook-live-ellipse"),
        draw("line", part="now", class_="mlbook-live-line", y1=TOP, y2=BOTTOM),
        draw("circle", part="here", class_="mlbook-live-point mlbook-live-c1", r=5),
        draw("circle", part="knob", class_="mlbook-live-handle", cy=BOTTOM, r=7),
        draw.group("price", (x, BOTTOM), "Price of an exemplar"),
        size=PANEL,
        label=f"Stairs: the number of clusters falls from {n} to 1 as the price grows; a line "
        "marks the price.",
    )
