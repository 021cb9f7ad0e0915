"""Weights under a cap: Fan's theorem as water in glasses.

Each eigenvalue has a glass that holds one unit of water, and a unit in glass i is worth the i-th
eigenvalue. A state is a dict of

- ``mu``: the eigenvalues of XXᵀ, the largest first;
- ``k``: the units of water that there are;
- ``w``: the water in each glass, in the theorem's proof the weight u_iᵀCu_i;
- ``partitions``: by k, from 1 on, the weights of the best partition of the rows of X.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from book.figures.kmeans import all_partitions
from book.live.figure import show
from book.live.markup import Draw, fixed
from mlbook.kmeans import trace_objective
from mlbook.partitions import equivalence_matrix

__all__ = ["body", "compute", "first_state", "glasses", "view"]

HIGH, FLOOR = 92, 124  # the bars: the height of the largest, and where they stand
DEEP, GROUND = 60, 212  # the glasses
BAR = 304
LOST = {"short": 4, "low": 3, "jug": 2}
"""How worth is lost, and the colour of each way."""
SIX_POINTS = (
    (3, 0, -1, -3, 1, 0),
    (2, -1, 0, 1, 0, 2),
    (0, 3, 1, 0, -1, 2),
    (-1, 2, 0, 0, -2, 0),
    (0, 0, 2, 0, -1, 0),
    (2, 0, 2, 1, -1, 0),
)


def glasses(X: ArrayLike = SIX_POINTS, n_clusters: int = 3) -> Any:
    """Show how much of the weight k each eigenvalue gets, and what the best spread is.

    Parameters
    ----------
    X : array-like of shape (n, d), n from 4 to 8
        Points; the eigenvalues are those of XXᵀ. Default: six of the book's.
    n_clusters : int, default=3
        Units of water at first, at most n.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If X has not 4 to 8 rows or is zero, or n_clusters is not from 1 to n.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> glasses()
    <live figure glasses>
    """
    return show("glasses", first_state(X, n_clusters))


def first_state(X: ArrayLike = SIX_POINTS, n_clusters: int = 3) -> dict[str, Any]:
    """Make the first state: all but one unit is poured, half a glass at a time.

    Examples
    --------
    >>> first_state()["w"]
    [0.5, 0.5, 0.5, 0.5, 0.0, 0.0]
    """
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or not 4 <= len(points) <= 8 or not points.any():
        raise ValueError(f"X must have 4 to 8 rows, not all zero; got shape {points.shape}")
    n = len(points)
    if not 1 <= n_clusters <= n:
        raise ValueError(f"n_clusters must be from 1 to {n}; got {n_clusters}")
    mu, U = np.linalg.eigh(points @ points.T)
    mu, U = mu[::-1].clip(min=0), U[:, ::-1]
    best: dict[int, tuple[float, tuple[int, ...]]] = {}
    for labels in all_partitions(n):
        k = max(labels) + 1
        best[k] = max(best.get(k, (-1.0, ())), (float(trace_objective(points, labels)), labels))
    matrices = [equivalence_matrix(best[k][1]) for k in range(1, n + 1)]
    halves = min(n, 2 * (n_clusters - 1)) if n_clusters > 1 else 1
    return {
        "mu": mu.tolist(),
        "k": n_clusters,
        "w": [0.5 if i < halves else 0.0 for i in range(n)],
        "partitions": [np.einsum("ji,jl,li->i", U, C, U).tolist() for C in matrices],
    }


# The twin of glasses.js


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Compute what the water is worth, the most it can be, and how the rest is lost.

    Returns
    -------
    dict
        ``left`` in the jug; ``worth``, and ``most`` by Fan's theorem; ``partition``, the worth of
        the best partition; ``short``, ``low`` and ``jug``, which with ``worth`` add up to ``most``.

    Examples
    --------
    >>> result = compute(first_state())
    >>> result["left"], round(result["most"] - result["worth"], 1)
    (1.0, 26.7)
    """
    mu, w, k = np.array(state["mu"]), np.array(state["w"]), state["k"]
    left, last = max(0.0, float(k - w.sum())), mu[k - 1]
    return {
        "left": left,
        "worth": float(mu @ w),
        "most": float(mu[:k].sum()),
        "partition": float(mu @ state["partitions"][k - 1]),
        "short": float((mu[:k] - last) @ (1 - w[:k])),
        "low": float((last - mu[k:]) @ w[k:]),
        "jug": float(last * left),
    }


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state()
    >>> view(state, compute(state))["water-left"]
    {'text': 'in the jug: 1.00 of 3 units'}
    """
    mu, k, n = state["mu"], state["k"], len(state["mu"])
    scale, unit = HIGH / (mu[0] or 1), BAR / (result["most"] or 1)
    texts = {name: fixed(value, 1) for name, value in result.items()}
    parts: dict[str, dict[str, Any]] = {}
    for i, weight in enumerate(state["w"]):
        parts[f"worth-{i}"] = _upright(FLOOR, scale * mu[i] * weight)
        parts[f"water-{i}"] = _upright(GROUND, DEEP * weight)
        parts[f"surface-{i}"] = {"cy": fixed(GROUND - DEEP * weight, 2)}
        parts[f"weight-{i}"] = {"text": fixed(weight, 2)}
    level = fixed(FLOOR - scale * mu[k - 1], 2)
    parts["level"] = {"x2": fixed(10 + 300 / n * k, 2), "y1": level, "y2": level}
    start = 8.0
    for name in ("worth", *LOST):
        width = unit * result[name]
        parts[f"{name}-bar"] = {"x": fixed(start, 2), "width": fixed(width, 2)}
        start += width
    parts["partition"] = dict.fromkeys(("x1", "x2"), fixed(8 + unit * result["partition"], 2))
    missing = result["most"] - result["worth"]
    lost = (
        f"{fixed(missing, 1)} is lost: {texts['short']} by room left in the {k} tallest, "
        f"{texts['low']} by water in the others, {texts['jug']} by water in the jug."
    )
    poured = fixed(k - result["left"], 2)
    written = {
        "water-left": f"in the jug: {fixed(result['left'], 2)} of {k} units",
        "worth": f"worth {texts['worth']}",
        "most": f"at most {texts['most']}",
        "short-text": f"room left in the {k} tallest: {texts['short']}",
        "low-text": f"water in the others: {texts['low']}",
        "jug-text": f"water in the jug: {texts['jug']}",
        "partition-text": f"dashed: the best partition into {k}, {texts['partition']}",
        "k-text": k,
        "says": f"{poured} of {k} units poured, worth {texts['worth']} of at most "
        f"{texts['most']}. {'Nothing is lost.' if missing < 0.05 else lost}",
    }
    parts["k"] = {"value": k, "aria-valuetext": f"{k} units"}
    return parts | {name: {"text": text} for name, text in written.items()}


def _upright(floor: int, height: float) -> dict[str, str]:
    return {"y": fixed(floor - height, 2), "height": fixed(height, 2)}


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the glasses and their worth, the account, controls, sentence."""
    n = len(state["mu"])
    pours = {"largest": "largest first", "evenly": "evenly", "partition": "as the best partition"}
    return "\n".join(
        [
            draw("div", _glasses(state, draw), _account(draw), class_="mlbook-live-panels"),
            draw.controls(
                draw.slider("k", "units k", (1, n, 1)),
                *(draw.button("pour", text, name) for name, text in pours.items()),
                draw.button("pour", "empty all", "empty"),
                draw.button("reset", "start again"),
            ),
            draw("p", part="says", class_="mlbook-live-says", aria_live="polite"),
        ]
    )


def _glasses(state: dict[str, Any], draw: Draw) -> str:
    """Draw a bar for the worth of a unit in each glass, and the glasses below."""
    mu, n = state["mu"], len(state["mu"])
    width = 180 / n
    shapes = [draw("text", "worth of a unit in each glass: μ; dashed: the k-th", x=8, y=16)]
    for i, value in enumerate(mu):
        x, middle = 10 + 300 / n * (i + 0.2), 10 + 300 / n * (i + 0.5)
        high = HIGH * value / mu[0]
        name: dict[str, Any] = {"text_anchor": "middle", "x": middle}
        column: dict[str, Any] = {"x": x, "width": width}
        shapes += [
            draw("rect", part=f"worth-{i}", **column, class_="mlbook-live-c5"),
            draw("rect", **column, **_upright(FLOOR, high), class_="mlbook-live-line"),
            draw("text", fixed(value, 1), **name, y=FLOOR + 15),
            draw("rect", part=f"water-{i}", **column, class_="mlbook-live-c0"),
            draw("rect", **column, **_upright(GROUND, DEEP), class_="mlbook-live-line"),
            draw("circle", part=f"surface-{i}", cx=middle, r=6, class_="mlbook-live-handle"),
            draw("text", part=f"weight-{i}", **name, y=GROUND + 22),
        ]
    level = draw("line", part="level", x1=10, class_="mlbook-live-line", stroke_dasharray="3 2")
    first = 10 + 150 / n, GROUND - DEEP * state["w"][0]
    return draw.svg(
        *shapes,
        level,
        draw.group("glasses", first, "Glasses; up and down arrows pour"),
        size=(320, 240),
        label=f"{n} glasses of one unit each; above each, what a unit of water in it is worth.",
    )


def _account(draw: Draw) -> str:
    """Draw the most there can be, split into what was got and how the rest was lost."""
    bar: dict[str, Any] = {"y": 58, "height": 20}
    shapes = [
        draw("text", part="water-left", x=8, y=18),
        draw("text", part="worth", x=8, y=50),
        draw("text", part="most", x=312, y=50, text_anchor="end"),
        draw("rect", part="worth-bar", **bar, class_="mlbook-live-c5"),
    ]
    for i, (name, colour) in enumerate(LOST.items()):
        look = {"class_": f"mlbook-live-point mlbook-live-c{colour}"}
        shapes += [
            draw("rect", part=f"{name}-bar", **bar, **look),
            draw("rect", x=8, y=115 + 26 * i, width=14, height=14, **look),
            draw("text", part=f"{name}-text", x=30, y=127 + 26 * i),
        ]
    shapes += [
        draw("rect", x=8, width=BAR, **bar, class_="mlbook-live-line"),
        draw(
            "line",
            part="partition",
            y1=52,
            y2=84,
            class_="mlbook-live-line",
            stroke_dasharray="3 2",
        ),
        draw("text", "lost by", x=8, y=104),
        draw("text", part="partition-text", x=8, y=212),
    ]
    label = "The most that the water can be worth, split into what it is worth and what is lost."
    return draw.svg(*shapes, size=(320, 240), label=label)
