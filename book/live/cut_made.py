"""When a cut is made: two levels with noise, the best segmentation, and what one cut saves.

A state is a dict of

- ``p``, ``q``: the number of points before and after the change, from 1 to 24;
- ``jump``, ``noise``: the height of the change, and the standard deviation about the levels;
- ``price``: λ, the price of a segment;
- ``before``, ``after``: noise of size 1 for each point, counted from the change.
"""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from book.live.figure import show
from book.live.markup import Draw, fixed, marker

__all__ = ["body", "compute", "cut_made", "first_state", "view"]

MOST = 24  # points on each side
SIZE = (320, 240)
LIMITS = {
    "p": (1, MOST, 1, "p, points before"),
    "q": (1, MOST, 1, "q, points after"),
    "jump": (0, 3, 0.1, "jump δ"),
    "noise": (0, 1, 0.1, "noise σ"),
    "price": (1, 20, 0.5, "price λ"),
}


def cut_made(
    p: int = 8, q: int = 8, *, jump: float = 1.0, noise: float = 0.4, price: float = 5.0
) -> Any:
    """Show when the best segmentation cuts at a change.

    Parameters
    ----------
    p, q : int, default=8
        Points before and after the change, from 1 to 24.
    jump, noise, price : float
        Height of the change, from 0 to 3; noise, from 0 to 1; price λ, from 1 to 20.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If a number is not within its limits.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> cut_made()
    <live figure cut_made>
    """
    return show("cut_made", first_state(p, q, jump=jump, noise=noise, price=price))


def first_state(
    p: int = 8, q: int = 8, *, jump: float = 1.0, noise: float = 0.4, price: float = 5.0
) -> dict[str, Any]:
    """Return short segments and a jump that does not pay for its cut.

    Examples
    --------
    >>> state = first_state()
    >>> state["p"], state["q"], state["jump"], state["price"]
    (8, 8, 1.0, 5.0)
    """
    given = {"p": p, "q": q, "jump": jump, "noise": noise, "price": price}
    for name, value in given.items():
        low, high, _, _ = LIMITS[name]
        if not low <= value <= high:
            raise ValueError(f"{name} must be from {low} to {high}; got {value}")
    drawn = np.random.default_rng(890).normal(size=(2, MOST)).round(2)
    return given | {"before": drawn[0].tolist(), "after": drawn[1].tolist()}


# The twin of cut_made.js


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Find the best segmentation, and what each single cut would save.

    Returns
    -------
    dict
        The points ``x``; the best ``cuts`` and the ``means`` of their segments; what a cut after
        1, 2, ... points ``saved``, and without noise (``clean``); of the change, the ``gap`` of
        the two means, the ``share`` of the price that its cut saves, the ``weight`` pq/(p + q);
        and the ``threshold``, the jump that pays without noise.

    Examples
    --------
    >>> result = compute(first_state(10, 15, noise=0))
    >>> result["cuts"], result["weight"], result["share"]
    ([10], 6.0, 1.2)
    """
    p, q, price = state["p"], state["q"], state["price"]
    n, x = p + q, _series(state, state["noise"])
    sums = [*accumulate(x, initial=0.0)]
    clean = [*accumulate(_series(state, 0.0), initial=0.0)]
    ends, weight = [0, *_best_cuts(sums, price), n], p * q / n
    return {
        "x": x,
        "cuts": ends[1:-1],
        "means": [(sums[u] - sums[s]) / (u - s) for s, u in pairwise(ends)],
        "saved": [_saving(sums, t) for t in range(1, n)],
        "clean": [_saving(clean, t) for t in range(1, n)],
        "gap": (sums[n] - sums[p]) / q - sums[p] / p,
        "share": _saving(sums, p) / price,
        "weight": weight,
        "threshold": math.sqrt(price / weight),
    }


def _series(state: dict[str, Any], noise: float) -> list[float]:
    left = [noise * value for value in state["before"][: state["p"]]]
    right = [state["jump"] + noise * value for value in state["after"][: state["q"]]]
    return left[::-1] + right


def _best_cuts(sums: list[float], price: float) -> list[int]:
    """Return where the best segmentation cuts, by dynamic programming on cumulated sums."""
    n, value, starts = len(sums) - 1, [0.0], [0]
    for u in range(1, n + 1):
        best, start = -math.inf, 0
        for s in range(u):
            step = sums[u] - sums[s]
            total = value[s] + step * step / (u - s) - price
            if total > best + 1e-9:
                best, start = total, s
        value.append(best)
        starts.append(start)
    cuts, u = [], starts[n]
    while u > 0:
        cuts.append(u)
        u = starts[u]
    return cuts[::-1]


def _saving(sums: list[float], t: int) -> float:
    """Return what a cut after t points saves: t(n − t)/n times the squared gap of the means."""
    n = len(sums) - 1
    gap = (sums[n] - sums[t]) / (n - t) - sums[t] / t
    return t * (n - t) / n * gap * gap


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state(noise=0)
    >>> view(state, compute(state))["share"]
    {'text': 'at the change 80%'}
    """
    parts: dict[str, dict[str, Any]] = {"says": {"text": _sentence(state, result)}}
    _view_series(state, result, parts)
    p, price, share = state["p"], state["price"], result["share"]
    for name in ("saved", "clean"):
        corners = [
            f"{fixed(MIDDLE + GAP * (i + 1 - p), 2)},{fixed(_paid(value / price), 2)}"
            for i, value in enumerate(result[name])
        ]
        parts[name] = {"points": " ".join(corners)}
    dot = f"mlbook-live-c{5 if share > 1 else 1}"
    parts["dot"] = {"cy": fixed(_paid(share), 2), "class": dot}
    parts["share"] = {"text": f"at the change {fixed(100 * share, 0)}%"}
    for name in LIMITS:
        value = _short(state[name])
        parts[name] = {"value": value, "aria-valuetext": value}
        parts[f"{name}-text"] = {"text": value}
    return parts


def _sentence(state: dict[str, Any], result: dict[str, Any]) -> str:
    gap, share = fixed(abs(result["gap"]), 3), result["share"]
    return (
        f"Segments of {state['p']} and {state['q']}, means {gap} apart: a cut at the change saves "
        f"{fixed(result['weight'], 2)} × {gap}² = {fixed(share * state['price'], 2)}, "
        f"{fixed(100 * share, 0)}% of the price. {_verdict(state['p'], result['cuts'])} "
        f"Without noise it takes a jump above {fixed(result['threshold'], 2)}."
    )


def _verdict(p: int, cuts: list[int]) -> str:
    if not cuts:
        return "The best segmentation does not cut."
    if len(cuts) > 1:
        there = "one" if p in cuts else "none"
        return f"The best segmentation has {len(cuts)} cuts, {there} at the change."
    if cuts == [p]:
        return "The best segmentation cuts there, and nowhere else."
    away = abs(cuts[0] - p)
    points = "1 point" if away == 1 else f"{away} points"
    return f"The best segmentation cuts once, {points} from the change."


def _view_series(state: dict[str, Any], result: dict[str, Any], parts: dict[str, Any]) -> None:
    p, q, cuts, x = state["p"], state["q"], result["cuts"], result["x"]
    ends = [0, *cuts, p + q]
    for i in range(MOST):
        for name, t, shown in ((f"before-{i}", p - 1 - i, i < p), (f"after-{i}", p + i, i < q)):
            c = sum(u <= t for u in cuts) % 8 if shown else 0
            at = f"{MIDDLE} {_level(0)}"
            if shown:
                at = f"{fixed(_across(t + 0.5, p), 2)} {fixed(_level(x[t]), 2)}"
            parts[name] = {
                "class": f"mlbook-live-point mlbook-live-c{c}",
                "visibility": "visible" if shown else "hidden",
                "transform": f"translate({at})",
            }
    jump = fixed(_level(state["jump"]), 2)
    parts["left"] = {"x1": fixed(_across(0, p), 2)}
    parts["right"] = {"x2": fixed(_across(p + q, p), 2), "y1": jump, "y2": jump}
    parts["end-0"] = {"cx": fixed(_across(0, p), 2)}
    parts["end-1"] = {"cx": fixed(_across(p + q, p), 2), "cy": jump}
    steps = [
        f"M{fixed(_across(s, p), 2)} {fixed(_level(z), 2)}H{fixed(_across(u, p), 2)}"
        for (s, u), z in zip(pairwise(ends), result["means"], strict=True)
    ]
    parts["found"] = {"d": "".join(steps)}


# Where things are: the change is in the middle, whatever p and q

MIDDLE, GAP = 160, 6


def _across(t: float, p: int) -> float:
    return MIDDLE + GAP * (t - p)


def _level(value: float) -> float:
    return 165 - 25 * value


def _paid(share: float) -> float:
    return max(26.0, 200 - 70 * share)


def _short(value: float) -> str:
    return fixed(value, 1).replace(".0", "")


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the points, what a cut saves, the controls."""
    handle = _across(0, state["p"]), _level(0)
    series = draw.svg(
        *_series_panel(draw),
        draw.group("levels", handle, "Ends of the two levels"),
        size=SIZE,
        label="Points about two levels. The shape is the true segment, the colour the one found; "
        "thick, the means of the segments found.",
    )
    savings = draw.svg(
        *_savings_panel(draw),
        size=SIZE,
        label="What one cut saves, over its place, as a share of the price; dashed without noise.",
    )
    sliders = [draw.slider(name, label, (a, b, by)) for name, (a, b, by, label) in LIMITS.items()]
    return "\n".join(
        [
            draw("div", series, savings, class_="mlbook-live-panels"),
            draw("p", part="says", class_="mlbook-live-says", aria_live="polite"),
            draw.controls(*sliders, draw.button("reset", "start again")),
        ]
    )


def _series_panel(draw: Draw) -> list[str]:
    middle: dict[str, Any] = {"x": MIDDLE, "text_anchor": "middle"}
    dashed: dict[str, Any] = {
        "stroke": "currentColor",
        "stroke_dasharray": "5 3",
        "stroke_width": 1.5,
    }
    sides = (("before", 0), ("after", 1))
    return [
        draw("text", "drag the ends of the dashed levels", x=8, y=16),
        draw("line", part="left", x2=MIDDLE, y1=_level(0), y2=_level(0), **dashed),
        draw("line", part="right", x1=MIDDLE, **dashed),
        draw("path", part="found", fill="none", stroke="currentColor", stroke_width=4),
        *(
            draw("path", part=f"{name}-{i}", d=marker(c, 4.5))
            for name, c in sides
            for i in range(MOST)
        ),
        draw("circle", part="end-0", class_="mlbook-live-handle", r=5, cy=_level(0)),
        draw("circle", part="end-1", class_="mlbook-live-handle", r=5),
        draw("text", "p points | q points", y=234, **middle),
    ]


def _savings_panel(draw: Draw) -> list[str]:
    ink = {"fill": "none", "stroke": "currentColor"}
    curves = [
        draw("polyline", part="saved", stroke_width=2.5, fill="none", class_="mlbook-live-line0"),
        draw("polyline", part="clean", stroke_width=1.5, stroke_dasharray="4 3", **ink),
    ]
    return [
        draw("text", "what one cut saves, by its place", x=8, y=16),
        draw("path", d=f"M8 {_paid(0)}H312", **ink),
        draw("line", x1=8, x2=312, y1=_paid(1), y2=_paid(1), stroke_width=2,
             class_="mlbook-live-line1"),
        draw("text", "the price", x=10, y=_paid(1) - 5),
        *curves,
        draw("circle", part="dot", cx=MIDDLE, r=5, stroke="currentColor"),
        draw("text", part="share", x=10, y=232),
        draw("text", "dashed: without noise", x=312, y=232, text_anchor="end"),
    ]  # fmt: skip
