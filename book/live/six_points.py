"""Six points in time: the dynamic program, the path of the price, the hinge and the margin.

A state is a dict of

- ``x``: the six points;
- ``price``: λ, the price of a segment; the metric is b = 1/λ, with a price of 1.

The true segmentation is that of the example, three pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from book.live.figure import show
from book.live.markup import Draw, fixed, marker
from book.live.numerics import delta

__all__ = ["body", "compute", "first_state", "six_points", "view"]

N = 6
TRUTH = [0, 0, 1, 1, 2, 2]
SIZE = (320, 260)
METRICS = 270  # units of the panel to b from 0 to 1


def six_points(x: Sequence[float] = (2, 0, 7, 5, 1, 3), price: float = 5) -> Any:
    """Show the segmentations of six points to drag.

    Parameters
    ----------
    x : sequence of six numbers, default=(2, 0, 7, 5, 1, 3)
        The points, from 0 to 8.
    price : float, default=5
        The price λ of a segment, from 1 to 20.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If x does not hold six numbers from 0 to 8, or the price is not from 1 to 20.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> six_points()
    <live figure six_points>
    """
    return show("six_points", first_state(x, price))


def first_state(x: Sequence[float] = (2, 0, 7, 5, 1, 3), price: float = 5) -> dict[str, Any]:
    """Return the six points of the example by hand, or others.

    Examples
    --------
    >>> first_state()
    {'x': [2.0, 0.0, 7.0, 5.0, 1.0, 3.0], 'price': 5.0}
    """
    points = [float(value) for value in x]
    if len(points) != N or not all(0 <= value <= 8 for value in points):
        raise ValueError(f"x must hold six numbers from 0 to 8; got {x!r:.200}")
    if not 1 <= price <= 20:
        raise ValueError(f"price must be from 1 to 20; got {price}")
    return {"x": points, "price": float(price)}


# The twin of six_points.js


def _labels(begins: Callable[[int], Any]) -> list[int]:
    labels = [0]
    for i in range(1, N):
        labels.append(labels[-1] + (1 if begins(i) else 0))
    return labels


def _cut(number: int) -> list[int]:
    """Return a segmentation; bit 4 of its number is a cut after the first point."""
    return _labels(lambda i: number >> (N - 1 - i) & 1)


ALL = [_cut(number) for number in range(2 ** (N - 1))]
LOSSES = [delta(labels, TRUTH) for labels in ALL]
TRUE = ALL.index(TRUTH)


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Segment six points in every way.

    Returns
    -------
    dict
        Of the dynamic program ``least`` (F of the first 0 to 6 points), ``starts`` of the last
        segments, ``labels``, their ``distortion`` and ``loss`` Δ; ``path``, the least distortion
        with 1 to 6 segments, and ``hull``, the numbers of segments on its lower hull. Of all 32
        segmentations, the ``lines`` (offset, slope) of the hinge and the ``leads`` of the truth,
        in prices; the smallest ``lead`` over another one; the ``hinge`` and the ``worst`` mistake;
        between which metrics b the truth is ``right``.

    Examples
    --------
    >>> result = compute(first_state())
    >>> result["least"], result["path"]
    ([0.0, 5.0, 7.0, 12.0, 14.0, 19.0, 21.0], [34.0, 22.0, 6.0, 4.0, 2.0, 0.0])
    """
    x, price = state["x"], state["price"]
    least, starts, labels = _program(x, price)
    D = [_distortion(x, each) for each in ALL]
    more = [(D[i] - D[TRUE], each[-1] + 1 - 3) for i, each in enumerate(ALL)]
    leads = [longer / price + prices for longer, prices in more]
    others = [i for i in range(len(ALL)) if i != TRUE]
    worst = TRUE
    for i in others:
        if LOSSES[i] - leads[i] > LOSSES[worst] - leads[worst] + 1e-9:
            worst = i
    path = [min(D[i] for i, each in enumerate(ALL) if each[-1] == k) for k in range(N)]
    return {
        "least": least,
        "starts": starts,
        "labels": labels,
        "distortion": _distortion(x, labels),
        "loss": LOSSES[ALL.index(labels)],
        "path": path,
        "hull": _hull(path),
        "lines": [[LOSSES[i] - prices, -longer] for i, (longer, prices) in enumerate(more)],
        "leads": leads,
        "lead": min(leads[i] for i in others),
        "hinge": LOSSES[worst] - leads[worst],
        "worst": worst,
        "right": _right([more[i] for i in others]),
    }


def _spread(x: list[float], s: int, u: int) -> float:
    """Return the distortion of points s + 1, ..., u as one segment."""
    mean = sum(x[s:u]) / (u - s)
    return sum((value - mean) * (value - mean) for value in x[s:u])


def _distortion(x: list[float], labels: list[int]) -> float:
    total, s = 0.0, 0
    for u in range(1, N + 1):
        if u == N or labels[u] != labels[s]:
            total += _spread(x, s, u)
            s = u
    return total


def _program(x: list[float], price: float) -> tuple[list[float], list[int], list[int]]:
    """Return F(0), ..., F(6), where the last segments begin, and the best segmentation."""
    least, starts = [0.0], [0]
    for u in range(1, N + 1):
        best, start = float("inf"), 0
        for s in range(u):
            cost = least[s] + _spread(x, s, u) + price
            if cost < best - 1e-9:
                best, start = cost, s
        least.append(best)
        starts.append(start)
    begins, u = set(), N
    while u > 0:
        u = starts[u]
        begins.add(u)
    return least, starts, _labels(lambda i: i in begins)


def _hull(path: list[float]) -> list[int]:
    """Return the numbers of segments on the lower hull: best for some price."""
    counts = []
    for k, D in enumerate(path):
        low = max([0.0, *((D - path[j]) / (j - k) for j in range(k + 1, N))])
        high = min([float("inf"), *((D - path[j]) / (j - k) for j in range(k))])
        if low <= high + 1e-9:
            counts.append(k + 1)
    return counts


def _right(more: list[tuple[float, int]]) -> list[float]:
    """Return from where to where all leads, b × longer + prices, are at least 0."""
    low, high = 0.0, 1e6
    for longer, prices in more:
        if longer > 1e-9:
            low = max(low, -prices / longer)
        elif longer < -1e-9:
            high = min(high, -prices / longer)
        elif prices < 0:
            high = -1.0
    return [low, high]


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state()
    >>> view(state, compute(state))["says"]["text"][:53]
    'Price 5: three segments, the true ones, ahead of all '
    """
    parts: dict[str, dict[str, Any]] = {"says": {"text": _sentence(state, result)}}
    for each in (_view_program, _view_path, _view_margin, _view_hinge):
        each(state, result, parts)
    price, metric = _short(state["price"]), fixed(1 / state["price"], 2)
    parts["price"] = {"value": price, "aria-valuetext": f"{price}, metric {metric}"}
    parts["price-text"] = {"text": f"{price}  (b = {metric})"}
    return parts


def _sentence(state: dict[str, Any], result: dict[str, Any]) -> str:
    k, gap = result["labels"][-1] + 1, _short(abs(result["lead"]))
    size = f"{gap} {'price' if gap == '1' else 'prices'}"
    if result["labels"] == TRUTH:
        truth = f"the true ones, ahead of all others by {size}"
    else:
        truth = f"not the true ones, which are {size} behind"
    price = _short(state["price"])
    return (
        f"Price {price}: {WORDS[k - 1]}, {truth}. Cost {_short(result['least'][N])} = "
        f"distortion {_short(result['distortion'])} + {k} × {price}. "
        f"Hinge {fixed(result['hinge'], 2)}, loss Δ {fixed(result['loss'], 2)}."
    )


def _view_program(state: dict[str, Any], result: dict[str, Any], parts: dict[str, Any]) -> None:
    begins, u = {0}, N
    while u > 0:
        begins.add(u)
        u = result["starts"][u]
    x, labels = state["x"], result["labels"]
    for i, c in enumerate(labels):
        own = [value for value, label in zip(x, labels, strict=True) if label == c]
        y = fixed(_level(sum(own) / len(own)), 2)
        parts[f"point-{i}"] = {
            "transform": f"translate({_time(i)} {fixed(_level(x[i]), 2)})",
            "class": f"mlbook-live-point mlbook-live-c{c}",
        }
        parts[f"level-{i}"] = {"y1": y, "y2": y, "class": f"mlbook-live-line{c}"}
    for u in range(1, N + 1):
        s, on = result["starts"][u], u in begins
        middle, deep = (_node(s) + _node(u)) // 2, ROW + 14 + 14 * (u - s)
        parts[f"arc-{u}"] = {
            "d": f"M{_node(s)} {ROW + 14}Q{middle} {deep} {_node(u)} {ROW + 14}",
            "stroke-width": 3 if on else 1,
            "opacity": 1 if on else 0.6,
        }
        parts[f"least-{u}"] = {"text": _short(result["least"][u])}
        parts[f"cut-{u}"] = {"visibility": "visible" if u < N and on else "hidden"}


def _view_path(state: dict[str, Any], result: dict[str, Any], parts: dict[str, Any]) -> None:
    path, whole, k = result["path"], result["least"][N], result["labels"][-1] + 1
    top = next(each for each in (40, 60, 80, 120) if each >= max(path[0], whole))
    for i, D in enumerate(path):
        on = 1 if i + 1 in result["hull"] else 0
        parts[f"path-{i}"] = {"cy": fixed(_cost(D, top), 2), "fill-opacity": on}
    corners = [f"{_count(j)},{fixed(_cost(path[j - 1], top), 2)}" for j in result["hull"]]
    parts["hull"] = {"points": " ".join(corners)}
    end = min(7.0, whole / state["price"])
    height = _cost(whole - end * state["price"], top)
    parts["touching"] = _line(_count(0), _cost(whole, top), _count(end), height)
    parts["chosen"] = {"cx": _count(k), "cy": fixed(_cost(path[k - 1], top), 2)}
    parts["whole"] = {"cy": fixed(_cost(whole, top), 2)}
    parts["top"], parts["half"] = {"text": top}, {"text": top // 2}


def _view_margin(state: dict[str, Any], result: dict[str, Any], parts: dict[str, Any]) -> None:
    worst, leads = result["worst"], result["leads"]
    for i, loss in enumerate(LOSSES):
        parts[f"dot-{i}"] = {
            "cy": fixed(_lead(leads[i]), 2),
            "r": 5 if i == worst else 3.5,
            "class": "mlbook-live-c1" if leads[i] < loss - 1e-9 else "mlbook-live-c0",
        }
    across = _loss(LOSSES[worst])
    parts["lack"] = _line(across, _lead(LOSSES[worst]), across, _lead(leads[worst]))
    labels, pieces = ALL[worst], []
    for i, value in enumerate(state["x"]):
        cut = i > 0 and labels[i] != labels[i - 1]
        pieces.append(("| " if cut else "") + _short(value))
    text = "all keep the margin" if worst == TRUE else f"worst: {' '.join(pieces)}"
    parts["worst"] = {"text": text}


def _view_hinge(state: dict[str, Any], result: dict[str, Any], parts: dict[str, Any]) -> None:
    lines = result["lines"]
    for i, (offset, slope) in enumerate(lines):
        low, high = _inside(offset, slope)
        at = [(_metric(b), _bracket(offset + slope * b)) for b in (low, max(low, high))]
        parts[f"line-{i}"] = _line(*at[0], *at[1])
    corners = []
    for i in range(91):
        highest = max(offset + slope * i / 90 for offset, slope in lines)
        if highest <= TOP:
            corners.append(f"{fixed(_metric(i / 90), 2)},{fixed(_bracket(highest), 2)}")
    parts["hinge"] = {"points": " ".join(corners)}
    low, high = (min(1.0, max(0.0, b)) for b in result["right"])
    parts["band"] = {
        "x": fixed(_metric(low), 2),
        "width": fixed(METRICS * max(0.0, high - low), 2),
    }
    b = fixed(_metric(1 / state["price"]), 2)
    parts["now"] = {"x1": b, "x2": b}
    parts["height"] = {"cx": b, "cy": fixed(_bracket(min(TOP, result["hinge"])), 2)}


def _inside(offset: float, slope: float) -> tuple[float, float]:
    """Return from where to where, between 0 and 1, a line is in the panel."""
    if slope == 0:
        return 0.0, 1.0
    ends = sorted([(BOTTOM - offset) / slope, (TOP - offset) / slope])
    return max(0.0, ends[0]), min(1.0, ends[1])


# Where things are, in the units of their panel

TOP, BOTTOM = 7.3, -0.5  # of the hinge
ROW = 205  # of the circles of the dynamic program
WORDS = (
    *("one segment", "two segments", "three segments"),
    *("four segments", "five segments", "six segments"),
)


def _time(i: int) -> int:
    return 40 + 48 * i


def _node(u: int) -> int:
    return 16 + 48 * u


def _level(value: float) -> float:
    return 182 - 19 * value


def _count(k: float) -> float:
    return 40 + 44 * k


def _cost(value: float, top: int) -> float:
    return 225 - 195 * value / top


def _loss(value: float) -> float:
    return 40 + 75 * value


def _lead(value: float) -> float:
    return 175 - 28 * min(5.0, max(-2.0, value))


def _metric(b: float) -> float:
    return 40 + METRICS * b


def _bracket(value: float) -> float:
    return 210 - 25 * value


def _short(value: float) -> str:
    return fixed(value, 1).replace(".0", "")


def _line(x1: float, y1: float, x2: float, y2: float) -> dict[str, str]:
    return {"x1": fixed(x1, 2), "y1": fixed(y1, 2), "x2": fixed(x2, 2), "y2": fixed(y2, 2)}


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the program, the path, the margin and the hinge."""
    panels = [
        draw.svg(*shapes(draw), *handles, size=SIZE, label=label)
        for shapes, handles, label in (
            (_program_panel, [_handles(state, draw)], "Six points with the segments found; below "
             "them circles 0 to 6 with the least costs, and arcs from where the segments begin."),
            (_path_panel, [], "The least distortion over the number of segments, its lower hull, "
             "and the line of the price that touches it from below."),
            (_margin_panel, [], "For each of 32 segmentations a dot: its loss across, and up by "
             "how many prices the truth is ahead of it. Below the slanted line margin is lacking."),
            (_hinge_panel, [], "The lines of all 32 segmentations over the metric b, their "
             "maximum, which is the hinge, and the metric of this price."),
        )
    ]  # fmt: skip
    return "\n".join(
        [
            draw.controls(
                draw.slider("price", "price λ", (1, 20, 0.5)),
                draw.button("reset", "start again"),
            ),
            draw("p", part="says", class_="mlbook-live-says", aria_live="polite"),
            draw("div", *panels, class_="mlbook-live-panels"),
        ]
    )


def _handles(state: dict[str, Any], draw: Draw) -> str:
    return draw.group("points", (_time(0), _level(state["x"][0])), "Six points; arrows move one")


def _program_panel(draw: Draw) -> list[str]:
    shapes = [draw("text", "drag the points up and down", x=8, y=16)]
    for u in range(1, N + 1):
        cut = {"x1": _node(u), "x2": _node(u), "y1": 26, "y2": ROW - 14}
        shapes.append(draw("line", part=f"cut-{u}", stroke="currentColor", **cut))
        shapes.append(draw("path", part=f"arc-{u}", fill="none", stroke="currentColor"))
    for i in range(N):
        ends: dict[str, Any] = {"x1": _time(i) - 24, "x2": _time(i) + 24, "stroke_width": 4}
        shapes.append(draw("line", part=f"level-{i}", **ends))
    shapes += [draw("path", part=f"point-{i}", d=marker(TRUTH[i], 7.5)) for i in range(N)]
    for u in range(N + 1):
        at: dict[str, Any] = {"text_anchor": "middle", "x": _node(u), "y": ROW + 4}
        shapes.append(draw("circle", class_="mlbook-live-handle", r=14, cx=_node(u), cy=ROW))
        number = draw("text", part=f"least-{u}", **at) if u else draw("text", "0", **at)
        shapes.append(number)
    return shapes


def _path_panel(draw: Draw) -> list[str]:
    ink = {"fill": "none", "stroke": "currentColor"}
    end: dict[str, Any] = {"text_anchor": "end", "x": 34}
    return [
        draw("text", "distortion, and the price as a slope", x=8, y=16),
        draw("path", d=f"M40 30V225H{_count(6) + 10}", **ink),
        draw("text", part="top", y=34, **end),
        draw("text", part="half", y=132, **end),
        *(
            draw("text", str(k), x=_count(k), y=241, text_anchor="middle")
            for k in range(1, N + 1)
        ),
        draw("text", "number of segments", x=_count(6), y=256, text_anchor="end"),
        draw("polyline", part="hull", stroke_width=1, **ink),
        draw("line", part="touching", class_="mlbook-live-line1", stroke_width=2),
        *(
            draw("circle", part=f"path-{k}", cx=_count(k + 1), r=5, class_="mlbook-live-c0",
                 stroke="currentColor")
            for k in range(N)
        ),
        draw("circle", part="chosen", r=9, stroke_width=2, **ink),
        draw("circle", part="whole", cx=_count(0), r=5, class_="mlbook-live-c1"),
    ]  # fmt: skip


def _margin_panel(draw: Draw) -> list[str]:
    ink = {"fill": "none", "stroke": "currentColor"}
    return [
        draw("text", "lead of the truth, in prices; wanted: Δ", x=8, y=16),
        draw("path", d=f"M40 35V{_lead(-2)}M40 {_lead(0)}H{_loss(3.6)}", **ink),
        draw("line", **_line(_loss(0), _lead(0), _loss(3.6), _lead(3.6)), stroke_width=2,
             stroke_dasharray="5 3", **ink),
        *(draw("text", str(v), x=34, y=_lead(v) + 4, text_anchor="end") for v in (-2, 0, 2, 4)),
        *(
            draw("text", str(v), x=_loss(v), y=_lead(0) + 16, text_anchor="middle")
            for v in (1, 2, 3)
        ),
        draw("text", "loss Δ", x=_loss(3.6), y=_lead(0) + 32, text_anchor="end"),
        draw("line", part="lack", class_="mlbook-live-line1", stroke_width=3),
        *(
            draw("circle", part=f"dot-{i}", cx=fixed(_loss(LOSSES[i]), 2), stroke="currentColor")
            for i in range(len(ALL))
        ),
        draw("text", part="worst", x=40, y=252),
    ]  # fmt: skip


def _hinge_panel(draw: Draw) -> list[str]:
    ink = {"fill": "none", "stroke": "currentColor"}
    lines = [
        draw("line", part=f"line-{i}", stroke="currentColor", opacity=0.35) for i in range(len(ALL))
    ]
    hinge = draw("polyline", part="hinge", class_="mlbook-live-line1", fill="none", stroke_width=3)
    return [
        draw("text", "32 lines over b = 1/λ; the top is the hinge", x=8, y=16),
        draw("rect", part="band", y=26, height=198, class_="mlbook-live-c0", fill_opacity=0.18),
        draw("path", d=f"M40 26V224H{_metric(1)}", **ink),
        *(draw("text", str(h), x=34, y=_bracket(h) + 4, text_anchor="end") for h in (0, 2, 4, 6)),
        *(
            draw("text", b, x=_metric(float(b)), y=239, text_anchor="middle")
            for b in ("0", "0.5", "1")
        ),
        draw("text", "metric b; shaded: the truth wins", x=_metric(1), y=254, text_anchor="end"),
        *lines,
        hinge,
        draw("line", part="now", y1=26, y2=224, stroke_dasharray="5 3", **ink),
        draw("circle", part="height", r=5, class_="mlbook-live-c1", stroke="currentColor"),
    ]
