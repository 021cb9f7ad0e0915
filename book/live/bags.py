"""Bags: who gets which label, by the cheapest choice of all or the smallest number first.

A state is a dict of

- ``points``: the instances, bag after bag; ``offsets``: bag i holds those from ``offsets[i]`` up
  to ``offsets[i + 1]``; ``labels``: the candidate labels of each bag, rising;
- ``centroids``: one per label; ``names``: what the labels are called;
- ``bag``: the bag whose table is shown; ``rows``: the instances of the largest bag;
- ``frame``: the point in the middle of the panel, and the panel's units to one of the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from book.live.figure import show
from book.live.markup import Draw, fixed, marker
from book.live.numerics import squared_distances
from mlbook._arrays import Floats
from mlbook.mimlca import weak_kmeans

__all__ = ["bags", "body", "compute", "first_state", "view"]

PANEL = (320, 240)
LONGEST = 170  # of a bar
LEFT, TOP, BARS = 64, 46, 184  # of the table, and where the bars begin below it
MOST, MOST_ROWS, MOST_LABELS = 60, 6, 5  # instances in all, in a bag, and labels


def bags(
    X: ArrayLike | None = None,
    offsets: ArrayLike | None = None,
    Y: ArrayLike | None = None,
    centroids: ArrayLike | None = None,
) -> Any:
    """Show the assignment of labels inside bags, with instances and centroids to drag.

    Parameters
    ----------
    X : array-like of shape (n, 2), optional
        Instances, bag after bag; default: the worked example of the book.
    offsets : array-like of m + 1 integers, optional
        Bag i holds the rows from ``offsets[i]`` up to ``offsets[i + 1]``.
    Y : array-like of shape (m, k), optional
        Candidate labels of the bags, 0 and 1, at least one in each.
    centroids : array-like of shape (k, 2), optional
        Default: those that `mlbook.mimlca.weak_kmeans` ends with.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If X has not two columns, or there is too much to show or a bag is empty.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> bags()
    <live figure bags>
    """
    return show("bags", first_state() if X is None else _state(X, offsets, Y, centroids))


def first_state() -> dict[str, Any]:
    """Return the worked example in round 1: bag 3, in which a greedy hand pays 10 instead of 7.

    Examples
    --------
    >>> bag = compute(first_state())["bags"][2]
    >>> bag["paid"], bag["greedyPaid"]
    (7.0, 10.0)
    """
    V = [[-2, 2], [-1, -2], [-1, 3], [2, 2], [2, -1], [0, 1], [-1, 0], [3, 1]]
    Y = [[1, 0], [1, 1], [1, 1], [0, 1]]
    state = _state(V, [0, 1, 3, 6, 8], Y, [[-1, 2], [0, 0]])
    return state | {"bag": 2}


def _state(X: Any, offsets: Any, Y: Any, centroids: Any) -> dict[str, Any]:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ValueError(f"X must have two finite columns; got shape {points.shape}")
    names = weak_kmeans(points, offsets, Y).assignments  # checks the rest
    sizes, candidates = np.diff(offsets), np.asarray(Y) != 0
    k = candidates.shape[1]
    if len(points) > MOST or max(sizes) > MOST_ROWS or k > MOST_LABELS:
        raise ValueError(
            f"X must have at most {MOST} rows, {MOST_ROWS} in a bag, and Y at most {MOST_LABELS} "
            f"columns; got {len(points)}, {max(sizes)} and {k}"
        )
    if min(sizes) < 1 or not candidates.any(axis=1).all():
        raise ValueError("every bag must have an instance and a label")
    if centroids is None:
        own = [points[names == c] for c in range(k)]
        centroids = [(rows if len(rows) else points).mean(axis=0) for rows in own]
    Z = np.asarray(centroids, dtype=float)
    low, high = (f(np.vstack([points, Z]), axis=0) for f in (np.min, np.max))
    scale = float(min((np.array(PANEL) - [60, 80]) / np.maximum(high - low, 1e-9)))
    x, y = (low + high) / 2
    return {
        "points": points.tolist(),
        "offsets": np.asarray(offsets).tolist(),
        "labels": [np.flatnonzero(row).tolist() for row in candidates],
        "centroids": Z.tolist(),
        "names": list("abcde"[:k]),
        "bag": 0,
        "rows": int(max(sizes)),
        "frame": [float(x), float(y) + 10 / scale, scale],
    }


# The twin of bags.js


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Assign the labels of every bag, well and greedily.

    Returns
    -------
    dict
        For each of ``bags`` the ``costs`` of its instances and labels, the label that each
        instance gets by the ``best`` choice and by the ``greedy`` hand, −1 for none, and what the
        two cost, ``paid`` and ``greedyPaid``; both again for all bags.

    Examples
    --------
    >>> bag = compute(first_state())["bags"][2]
    >>> bag["costs"], bag["best"], bag["greedy"]
    ([[9.0, 8.0], [18.0, 5.0], [2.0, 1.0]], [-1, 1, 0], [0, -1, 1])
    """
    points, Z = np.array(state["points"], dtype=float), np.array(state["centroids"], dtype=float)
    offsets, found = state["offsets"], []
    for first, last, own in zip(offsets[:-1], offsets[1:], state["labels"], strict=True):
        costs = squared_distances(points[first:last], Z[own])
        best, hasty = linear_sum_assignment(costs), _greedy(costs)
        found.append(
            {
                "costs": costs.tolist(),
                "best": _named(best, own, len(costs)),
                "greedy": _named(hasty, own, len(costs)),
                "paid": float(costs[best].sum()),
                "greedyPaid": float(costs[hasty].sum()),
            }
        )
    paid, greedy = (sum(bag[name] for bag in found) for name in ("paid", "greedyPaid"))
    return {"bags": found, "paid": paid, "greedyPaid": greedy}


def _greedy(costs: Floats) -> tuple[list[int], list[int]]:
    """Take the smallest number, then the smallest in another row and column, and so on."""
    left, rows, columns = costs.copy(), [], []
    for _ in range(min(costs.shape)):
        i, j = (int(at) for at in np.unravel_index(left.argmin(), left.shape))
        rows.append(i)
        columns.append(j)
        left[i, :] = left[:, j] = np.inf
    return rows, columns


def _named(pairs: Any, own: list[int], n: int) -> list[int]:
    labels = [-1] * n
    for i, j in zip(*pairs, strict=True):
        labels[i] = own[j]
    return labels


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state()
    >>> view(state, compute(state))["cost-1-0"]
    {'text': '18.0'}
    """
    parts = _plane_parts(state, result) | _table_parts(state, result)
    b, bag = state["bag"], result["bags"][state["bag"]]
    for name, cost in (("best", bag["paid"]), ("greedy", bag["greedyPaid"])):
        width = LONGEST * cost / max(bag["greedyPaid"], 1e-9)
        parts[f"bar-{name}"] = {"width": fixed(width, 2)}
        parts[f"paid-{name}"] = {"text": fixed(cost, 1)}
        parts[name] = {"text": fixed(cost, 1)}
    parts["title"] = {"text": f"bag {b + 1}: squared distances"}
    parts["loses"] = {"text": fixed(bag["greedyPaid"] - bag["paid"], 1)}
    paid, greedy = fixed(result["paid"], 1), fixed(result["greedyPaid"], 1)
    parts["all"] = {"text": f"best {paid}, greedy {greedy}"}
    for i in range(len(result["bags"])):
        parts[f"bag-{i}"] = {"checked": i == b}
    parts["says"] = {"text": _sentence(state, result)}
    return parts


def _plane_parts(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {}
    offsets, j = state["offsets"], 0
    for own, bag in enumerate(result["bags"]):
        inside = np.array(state["points"][offsets[own] : offsets[own + 1]])
        middle = _to_panel(state, inside.mean(axis=0))
        x2, y2 = (fixed(v, 2) for v in middle)
        line = "mlbook-live-ellipse" if own == state["bag"] else "mlbook-live-faint"
        for point, c in zip(inside, bag["best"], strict=True):
            x, y = _to_panel(state, point)
            at = fixed(x, 2), fixed(y, 2)
            colour = f"mlbook-live-point mlbook-live-c{c % 8}" if c >= 0 else "mlbook-live-handle"
            parts[f"tether-{j}"] = {"class": line, "x1": at[0], "y1": at[1], "x2": x2, "y2": y2}
            parts[f"point-{j}"] = {"class": colour, "cx": at[0], "cy": at[1]}
            text = f"{j + 1} {state['names'][c]}" if c >= 0 else str(j + 1)
            off = 20 if middle[1] < y - 1e-9 else -10  # the name is off the line
            parts[f"name-{j}"] = {"x": at[0], "y": fixed(y + off, 2), "text": text}
            j += 1
    for c, centroid in enumerate(state["centroids"]):
        left, top = (fixed(v, 2) for v in _to_panel(state, centroid))
        parts[f"centroid-{c}"] = {"transform": f"translate({left} {top})"}
    return parts


def _table_parts(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {}
    b, bag = state["bag"], result["bags"][state["bag"]]
    for i in range(state["rows"]):
        here = i < len(bag["costs"])
        parts[f"row-{i}"] = {"text": str(state["offsets"][b] + i + 1) if here else ""}
        for c in range(len(state["names"])):
            used = here and c in state["labels"][b]
            kind = "ellipse" if used and bag["best"][i] == c else "faint"
            shown = "visible" if used else "hidden"
            parts[f"cell-{i}-{c}"] = {"class": f"mlbook-live-{kind}", "visibility": shown}
            text = fixed(bag["costs"][i][state["labels"][b].index(c)], 1) if used else ""
            parts[f"cost-{i}-{c}"] = {"text": text}
            parts[f"hand-{i}-{c}"] = {"r": 5 if used and bag["greedy"][i] == c else 0}
    return parts


def _to_panel(state: dict[str, Any], point: Any) -> tuple[float, float]:
    x, y, scale = state["frame"]
    return PANEL[0] / 2 + scale * (point[0] - x), PANEL[1] / 2 - scale * (point[1] - y)


def _sentence(state: dict[str, Any], result: dict[str, Any]) -> str:
    b, bag = state["bag"], result["bags"][state["bag"]]
    best, hasty = bag["paid"], bag["greedyPaid"]

    def choice(found: list[int]) -> str:
        first = state["offsets"][b] + 1
        pairs = [f"{first + i} → {state['names'][c]}" for i, c in enumerate(found) if c >= 0]
        return ", ".join(pairs)

    text = f"Bag {b + 1}: the best choice, {choice(bag['best'])}, costs {fixed(best, 1)}. "
    if hasty - best < 1e-9:
        text += "A greedy hand pays no more."
    else:
        share = f" ({fixed(100 * (hasty / best - 1), 0)}%)" if best > 1e-9 else ""
        text += (
            f"A greedy hand, the smallest number first, takes {choice(bag['greedy'])} and pays "
            f"{fixed(hasty - best, 1)} more{share}."
        )
    paid, greedy = fixed(result["paid"], 1), fixed(result["greedyPaid"], 1)
    return f"{text} All bags: best {paid}, greedy {greedy}."


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the numbers, both panels, the controls, the sentence."""
    names = {"best": "best", "greedy": "greedy", "loses": "greedy loses", "all": "all bags:"}
    numbers = [
        draw("span", f"{text} ", draw("strong", part=name), class_="mlbook-live-score")
        for name, text in names.items()
    ]
    options = [
        (str(b), f"{b + 1} ({', '.join(state['names'][c] for c in own)})")
        for b, own in enumerate(state["labels"])
    ]
    controls = draw.controls(
        draw.choice("bag", "Bag (its labels)", options),
        draw.button("means", "centroids to the means"),
        draw.button("reset", "start again"),
    )
    panels = draw("div", _plane(state, draw), _table(state, draw), class_="mlbook-live-panels")
    says = draw("p", part="says", class_="mlbook-live-says", aria_live="polite")
    return "\n".join([draw("p", *numbers, class_="mlbook-live-readout"), panels, controls, says])


def _plane(state: dict[str, Any], draw: Draw) -> str:
    n = range(len(state["points"]))
    centroids = [
        draw("g", draw("path", class_=f"mlbook-live-point mlbook-live-c{c % 8}", d=marker(3, 10)),
             draw("text", "z", draw("tspan", name, dy=4), y=26, text_anchor="middle"),
             part=f"centroid-{c}")
        for c, name in enumerate(state["names"])
    ]  # fmt: skip
    return draw.svg(
        *(draw("line", part=f"tether-{j}") for j in n),
        *centroids,
        *(draw("circle", part=f"point-{j}", r=6) for j in n),
        *(draw("text", part=f"name-{j}", text_anchor="middle") for j in n),
        draw("text", "instances and centroids (diamonds): drag", x=8, y=16),
        draw.group("points", _to_panel(state, state["points"][0]), "Instances"),
        draw.group("centroids", _to_panel(state, state["centroids"][0]), "Centroids"),
        size=PANEL,
        label=f"{len(n)} instances, joined by lines to the middle of their bag, with the labels "
        "they get, and the centroids of the labels.",
    )


def _table(state: dict[str, Any], draw: Draw) -> str:
    """Draw the costs of the bag, framed where the best choice is, with a dot for the greedy one."""
    k, rows = len(state["names"]), state["rows"]
    width, height = min(64, 240 // k), min(34, (BARS - 12 - TOP) // rows)
    content = [
        draw("text", name, x=LEFT + width * (c + 0.5), y=TOP - 6, text_anchor="middle")
        for c, name in enumerate(state["names"])
    ]
    for i in range(rows):
        y = TOP + height * i
        middle = y + height / 2
        content.append(draw("text", part=f"row-{i}", x=LEFT - 10, y=middle + 4, text_anchor="end"))
        for c in range(k):
            x = LEFT + width * c
            content += [
                draw("rect", part=f"cell-{i}-{c}", x=x + 2, y=y + 2, width=width - 4,
                     height=height - 4),
                draw("text", part=f"cost-{i}-{c}", x=x + width / 2 + 6, y=middle + 4,
                     text_anchor="middle"),
                draw("circle", part=f"hand-{i}-{c}", class_="mlbook-live-point mlbook-live-c4",
                     cx=x + 11, cy=middle),
            ]  # fmt: skip
    for i, name in enumerate(("best", "greedy")):
        y = BARS + 26 * i
        content += [
            draw("text", name, x=LEFT - 10, y=y + 14, text_anchor="end"),
            draw("rect", part=f"bar-{name}", class_=f"mlbook-live-point mlbook-live-c{4 * i}",
                 x=LEFT, y=y, height=18),
            draw("text", part=f"paid-{name}", x=LEFT + LONGEST + 8, y=y + 14),
        ]  # fmt: skip
    return draw.svg(
        draw("text", part="title", x=8, y=16),
        draw("text", "frame: best", x=312, y=16, text_anchor="end"),
        draw("text", "dot: greedy", x=312, y=34, text_anchor="end"),
        *content,
        size=PANEL,
        label="The squared distances of the instances of the bag to the centroids of its labels; "
        "below, what the best and the greedy choice cost.",
    )
