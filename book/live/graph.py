"""A small graph: affinities, the second eigenvector, the normalized cut at every threshold.

A state is a dict of

- ``points``: where the nodes are, across from 0 to 8 and down from 0 to 6;
- ``b``: the affinity of two nodes is exp(−b times their squared distance), that of a node to
  itself is 1, as in `mlbook.ncuts.gaussian_affinity`.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from book.live.figure import show
from book.live.markup import Draw, fixed
from mlbook._arrays import Floats
from mlbook.ncuts import gaussian_affinity, normalized_cut_value

__all__ = ["body", "compute", "first_state", "graph", "view"]

SIZE = (320, 240)
UNIT = 40  # of a panel, to one of the points
LIMITS = ((0.3, 7.7), (0.75, 5.7))
NODES = (
    *((1.0, 2.2), (1.6, 3.4), (0.8, 4.4), (2.3, 2.3), (2.5, 4.3), (3.4, 3.2)),
    *((4.6, 2.9), (5.6, 1.9), (5.5, 4.1), (6.4, 3.1), (7.1, 1.8), (7.0, 4.4)),
)


def graph(points: ArrayLike | None = None, b: float = 0.5) -> Any:
    """Show the normalized cuts of a small graph of Gaussian affinities.

    Parameters
    ----------
    points : array-like of shape (n, 2), optional
        Where the nodes are, 3 to 12 of them; default: an example. They are moved and scaled to
        fill the panel.
    b : float, default=0.5
        Weight of the squared distances in the panel, from 0.1 to 1.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If points has not two finite columns or not 3 to 12 rows, or b is not from 0.1 to 1.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> graph()
    <live figure graph>
    """
    return show("graph", first_state(points, b))


def first_state(points: ArrayLike | None = None, b: float = 0.5) -> dict[str, Any]:
    """Return twelve nodes, in two crowds with two nodes between them, or others.

    Examples
    --------
    >>> first_state([[0, 0], [1, 0], [0, 1]])["points"][1]
    [6.475, 0.75]
    """
    if not 0.1 <= b <= 1:
        raise ValueError(f"b must be from 0.1 to 1; got {b}")
    if points is None:
        return {"points": [list(point) for point in NODES], "b": float(b)}
    given = np.asarray(points, dtype=float)
    if given.shape[1:] != (2,) or not 3 <= len(given) <= 12 or not np.isfinite(given).all():
        raise ValueError(
            f"points must have two finite columns and 3 to 12 rows; got shape {given.shape}"
        )
    low, high = np.array(LIMITS).T
    spread = np.maximum(np.ptp(given, axis=0), 1e-9)
    middle = given.min(axis=0) + spread / 2
    placed = (low + high) / 2 + (given - middle) * min((high - low) / spread)
    return {"points": placed.round(3).tolist(), "b": float(b)}


# The twin of graph.js


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Cut the graph by a threshold on the second eigenvector, and in every way.

    Returns
    -------
    dict
        The affinities ``W``; ``z``, the second eigenvector over √degree, which rises from left to
        right, and the ``order`` of the nodes in it; the normalized ``cuts`` after 1, 2, ... nodes
        of this order, the ``place`` of the best and its ``labels``; the ``bound`` on all cuts, the
        ``best`` value of all, and the nodes that are ``elsewhere`` in a better cut, if there is
        one.

    Examples
    --------
    >>> result = compute(first_state())
    >>> result["labels"], result["elsewhere"]
    ([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1], [])
    """
    points = np.array(state["points"])
    n = len(points)
    pairs = np.array(np.triu_indices(n, 1))
    W = gaussian_affinity(points, pairs, [state["b"], state["b"]]).toarray()
    g = W.sum(axis=0)
    values, vectors = np.linalg.eigh(W / np.sqrt(np.outer(g, g)))
    z = vectors[:, -2] / np.sqrt(g)
    z = -z if z @ points[:, 0] < 0 else z
    order = np.argsort(np.floor(z * 1e9 + 0.5), kind="stable")
    rank = np.argsort(order)
    cuts = [normalized_cut_value(W, (rank >= size).astype(int)) for size in range(1, n)]
    place = 0
    for i, value in enumerate(cuts):
        place = i if value < cuts[place] - 1e-12 else place
    labels = (rank > place).astype(int)
    best, others = _best_cut(W)
    moved = labels != others
    if 2 * moved.sum() > n:  # the names of the two parts of the best cut are free
        moved = ~moved
    worse = cuts[place] > best + 1e-9
    return {
        "W": W.tolist(),
        "z": z.tolist(),
        "order": order.tolist(),
        "cuts": cuts,
        "place": place,
        "labels": labels.tolist(),
        "best": best,
        "bound": max(0.0, 2 - float(values[-1] + values[-2])),
        "elsewhere": np.flatnonzero(moved).tolist() if worse else [],
    }


def _best_cut(W: Floats) -> tuple[float, Any]:
    """Return the smallest normalized cut of all, and its parts."""
    n, g = len(W), W.sum(axis=0)
    parts = (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n)) & 1
    volumes = parts @ g
    cuts = volumes - ((parts @ W) * parts).sum(axis=1)
    values = cuts / volumes + cuts / (g.sum() - volumes)
    labels = parts[np.argmax(values <= values.min() + 1e-12)]
    return normalized_cut_value(W, labels), labels


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state()
    >>> view(state, compute(state))["says"]["text"][-33:]
    'None of all 2,047 cuts is better.'
    """
    parts: dict[str, dict[str, Any]] = {"says": {"text": _sentence(result)}}
    most = max(abs(value) for value in result["z"])
    places = [(fixed(UNIT * x, 2), fixed(UNIT * y, 2)) for x, y in state["points"]]
    for i, (x, y) in enumerate(places):
        at, up = result["order"].index(i), 72 - 38 * result["z"][i] / most
        side = f"mlbook-live-handle mlbook-live-line{result['labels'][i]}"
        ring = "visible" if i in result["elsewhere"] else "hidden"
        parts[f"node-{i}"] = {"cx": x, "cy": y, "class": side}
        parts[f"name-{i}"] = {"x": x, "y": fixed(UNIT * state["points"][i][1] + 4, 2)}
        parts[f"ring-{i}"] = {"cx": x, "cy": y, "visibility": ring}
        parts[f"score-{i}"] = {"cx": _rank(at), "cy": fixed(up, 2), "class": side}
        parts[f"label-{i}"] = {"x": _rank(at), "y": fixed(up + 4, 2)}
    for j, i in combinations(range(len(places)), 2):
        w, cut = result["W"][i][j], result["labels"][i] != result["labels"][j]
        parts[f"edge-{j}-{i}"] = {
            "x1": places[j][0],
            "y1": places[j][1],
            "x2": places[i][0],
            "y2": places[i][1],
            "stroke-width": fixed(5 * w, 2),
            "stroke-dasharray": "4 3" if cut else "none",
            "visibility": "visible" if w > 0.02 else "hidden",
        }
    for i, value in enumerate(result["cuts"]):
        parts[f"bar-{i}"] = {
            "y": fixed(_height(value), 2),
            "height": fixed(225 - _height(value), 2),
            "class": f"mlbook-live-c{5 if i == result['place'] else 6}",
        }
    parts["threshold"] = dict.fromkeys(("x1", "x2"), _rank(result["place"] + 0.5))
    parts["bound"] = dict.fromkeys(("y1", "y2"), fixed(_height(result["bound"]), 2))
    b = fixed(state["b"], 2)
    parts["b"] = {"value": b, "aria-valuetext": b}
    parts["b-text"] = {"text": b}
    return parts


def _sentence(result: dict[str, Any]) -> str:
    n, size = len(result["z"]), result["place"] + 1
    found = (
        f"The best threshold on the eigenvector cuts {size} from {n - size} nodes: NCut "
        f"{fixed(result['cuts'][size - 1], 3)}, where the bound is {fixed(result['bound'], 3)}."
    )
    every = f"{2 ** (n - 1) - 1:,}"
    if not result["elsewhere"]:
        return f"{found} None of all {every} cuts is better."
    nodes = ", ".join(str(i + 1) for i in result["elsewhere"])
    return (
        f"{found} The best of all {every} cuts has {fixed(result['best'], 3)}: it moves the nodes "
        f"with a ring, {nodes}, to the other side."
    )


# Where things are


def _rank(place: float) -> float:
    return 45 + 22 * place


def _height(value: float) -> float:
    return 225 - 85 * value


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the graph, the eigenvector above its cuts, the controls."""
    n, (x, y) = len(state["points"]), state["points"][0]
    nodes = draw.svg(
        *_graph_panel(n, draw),
        draw.group("nodes", (UNIT * x, UNIT * y), "Nodes of the graph"),
        size=SIZE,
        label=f"A graph of {n} nodes: the thicker an edge, the larger its affinity. The colour is "
        "the part found; edges between the parts are dashed.",
    )
    cuts = draw.svg(
        *_cuts_panel(n, draw),
        size=SIZE,
        label="Above, the nodes in the order of the second eigenvector, at its heights. Below, the "
        "normalized cut between each two neighbours of this order, the smallest one green.",
    )
    return "\n".join(
        [
            draw("div", nodes, cuts, class_="mlbook-live-panels"),
            draw("p", part="says", class_="mlbook-live-says", aria_live="polite"),
            draw.controls(
                draw.slider("b", "weight b", (0.1, 1, 0.05)),
                draw.button("reset", "start again"),
            ),
        ]
    )


_NAME = {"text_anchor": "middle", "style": "font-size: 11px"}
_NODE: dict[str, Any] = {"r": 9, "style": "stroke-width: 3.5px"}


def _graph_panel(n: int, draw: Draw) -> list[str]:
    ink = {"stroke": "currentColor"}
    return [
        draw("text", "drag the nodes", x=8, y=16),
        *(
            draw("line", part=f"edge-{j}-{i}", opacity=0.55, **ink)
            for j, i in combinations(range(n), 2)
        ),
        *(draw("circle", part=f"ring-{i}", r=14, fill="none", stroke_width=3, **ink)
          for i in range(n)),
        *(draw("circle", part=f"node-{i}", **_NODE) for i in range(n)),
        *(draw("text", str(i + 1), part=f"name-{i}", **_NAME) for i in range(n)),
    ]  # fmt: skip


def _cuts_panel(n: int, draw: Draw) -> list[str]:
    ink = {"stroke": "currentColor"}
    end: dict[str, Any] = {"text_anchor": "end", "x": 28}
    right = _rank(n - 1)
    return [
        draw("text", "second eigenvector, and the cut after each node", x=8, y=16),
        draw("line", x1=34, x2=right + 10, y1=72, y2=72, opacity=0.5, **ink),
        draw("text", "z", y=76, **end),
        *(draw("circle", part=f"score-{i}", **_NODE) for i in range(n)),
        *(draw("text", str(i + 1), part=f"label-{i}", **_NAME) for i in range(n)),
        *(draw("rect", part=f"bar-{i}", x=_rank(i + 0.5) - 7, width=14) for i in range(n - 1)),
        draw("path", d=f"M34 {_height(1.1)}V225H{right + 10}", fill="none", **ink),
        *(draw("text", str(v), y=_height(v) + 4, **end) for v in (0, 1)),
        draw("line", part="bound", x1=34, x2=right + 10, stroke_dasharray="5 3", stroke_width=2,
             class_="mlbook-live-line1"),
        draw("line", part="threshold", y1=28, y2=225, stroke_dasharray="2 3", **ink),
        draw("text", "dashed: bound on every cut", x=right + 10, y=236, text_anchor="end"),
    ]  # fmt: skip
