"""Learn the metric: labelled points, the metric MLCA learns from them, and k-means under it.

A state is a dict of

- ``X``, ``y``: the labelled points, two features each, and their classes 0..k−1;
- ``test``, ``truth``: the points that k-means clusters, and their true classes;
- ``k``, ``names``: how many classes, and what they are called;
- ``shrinkage``: MLCA's a, from 0 to 1;
- ``metric``: what is shown, "plain", "learned" or "hand";
- ``hand``: the ellipse set by hand, ``angle`` of its long axis and ``ratio`` of its axes;
- ``frame``: the point in the middle of a panel, and the panel's units to one of the data.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from book.live.figure import show
from book.live.markup import Draw, fixed, marker
from book.live.numerics import align, delta, kmeans, least_squares
from mlbook._arrays import Floats

__all__ = ["body", "compute", "first_state", "metric", "view"]

PANEL = (320, 240)
SIZE = 28  # radius of the circle; an ellipse has the same area
LONGEST = 14  # an ellipse is drawn at most so many times as long as wide
MOST = 300  # points in all; more would be slow to draw
METRICS = {
    "plain": ("plain distance", "the plain distance"),
    "learned": ("learned metric", "the learned metric"),
    "hand": ("your ellipse", "your ellipse"),
}


def metric(
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    test: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    *,
    shrinkage: float = 0.0,
) -> Any:
    """Show how a metric is learned, on points to drag.

    Parameters
    ----------
    X : array-like of shape (n, 2), optional
        Labelled points; default: an example of the book. With many features choose two.
    y : array-like of n labels, optional
        Their classes.
    test, truth : array-like, optional
        Points to cluster and their true classes; default: every second point of each class is
        kept for this and not learned from.
    shrinkage : float, default=0.0
        MLCA's shrinkage.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If X has not two columns, or there are fewer than two classes or more than 300 points.

    Examples
    --------
    >>> metric()
    <live figure metric>
    """
    if X is None:
        return show("metric", first_state(shrinkage))
    return show("metric", _state(X, y, test, truth, shrinkage))


def first_state(shrinkage: float = 0.0) -> dict[str, Any]:
    """Return the book's example: three slanted stripes, five labelled points in each.

    Examples
    --------
    >>> state = first_state()
    >>> len(state["X"]), len(state["test"])
    (15, 42)
    """
    (X, y), (test, truth) = _stripes(2, 5), _stripes(102, 14)
    state = _state(X, y, test, truth, shrinkage)
    return state | {"names": ["A", "B", "C"], "frame": [0.0, 0.0, 41.0]}


def _stripes(seed: int, size: int) -> tuple[Floats, list[int]]:
    """Draw three long classes beside one another; their means form a triangle."""
    turn = math.radians(35)
    along, across = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    means = np.outer([-0.45, 0.54, -0.45], along) + np.outer([-0.99, 0, 1.21], across)
    y = np.repeat([0, 1, 2], size)
    noise = np.random.default_rng(seed).normal(size=(3 * size, 2))
    noise -= 0.7 * np.array([noise[y == c].mean(axis=0) for c in range(3)])[y]
    X = means[y] + noise * [1.5, 0.2] @ np.array([along, across])
    return X.round(2), y.tolist()


def _state(X: Any, y: Any, test: Any, truth: Any, shrinkage: float) -> dict[str, Any]:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ValueError(f"X must have two finite columns; got shape {points.shape}")
    names, labels = np.unique(np.asarray(y), return_inverse=True)
    if labels.shape != (len(points),) or len(names) < 2:
        raise ValueError(f"y must hold a label for each of {len(points)} points, of two classes")
    if test is None:
        second = np.zeros(len(labels), dtype=bool)
        for c in range(len(names)):
            second[np.flatnonzero(labels == c)[1::2]] = True
        others, theirs = points[second], labels[second]
        points, labels = points[~second], labels[~second]
    else:
        others, theirs = np.asarray(test, dtype=float), np.searchsorted(names, np.asarray(truth))
    everything = np.vstack([points, others])
    if len(everything) > MOST:
        raise ValueError(f"X and test must have at most {MOST} points; got {len(everything)}")
    low, high = everything.min(axis=0), everything.max(axis=0)
    scale = float(min((np.array(PANEL) - 40) / np.maximum(high - low, 1e-9)))
    return {
        "X": points.tolist(),
        "y": labels.tolist(),
        "test": others.tolist(),
        "truth": theirs.tolist(),
        "k": len(names),
        "names": [str(name) for name in names],
        "shrinkage": float(shrinkage),
        "metric": "learned",
        "hand": {"angle": 0.0, "ratio": 1.0},
        "frame": [*((low + high) / 2).tolist(), scale],
    }


# The twin of metric.js


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Learn the metric, and cluster the test points with it and without.

    Returns
    -------
    dict
        ``W`` learned; ``plain``, ``learned`` and ``shown``, each with ``labels`` (called like the
        classes they fit best), ``delta``, ``wrong`` (how many) and ``centres``; ``angle`` and
        ``ratio`` of the ellipse shown, and its ``centre``.

    Examples
    --------
    >>> result = compute(first_state())
    >>> result["plain"]["wrong"], result["learned"]["wrong"]
    (21, 0)
    """
    X = np.array(state["X"])
    W = _learn(X, np.array(state["y"]), state["k"], state["shrinkage"])
    hand = state["hand"]
    c, s, ratio = math.cos(hand["angle"]), math.sin(hand["angle"]), hand["ratio"]
    by_hand = np.array([[c / ratio, -s], [s / ratio, c]])
    shown = {"plain": np.eye(2), "learned": W, "hand": by_hand}[state["metric"]]
    angle, ratio = _shape(shown)
    return {
        "W": W.tolist(),
        "plain": _cluster(state, np.eye(2)),
        "learned": _cluster(state, W),
        "angle": angle,
        "ratio": ratio,
        "shown": _cluster(state, shown),
        "centre": X.mean(axis=0).tolist(),
    }


def _learn(X: Floats, y: Any, k: int, a: float) -> Floats:
    """Return W of MLCA with an intercept, shrunk by a."""
    rows, d = X - X.mean(axis=0), X.shape[1]
    J = np.eye(k)[y] / np.sqrt(np.bincount(y, minlength=k))
    if a == 0:
        return least_squares(rows, J)
    total, between = np.sum(rows**2) / d, np.sum((rows.T @ J) ** 2) / d
    A = np.vstack(
        [
            math.sqrt(1 - a) * rows,
            math.sqrt(a * between) * np.eye(d),
            math.sqrt(a * max(0.0, total - between)) * np.eye(d),
        ]
    )
    B = np.zeros((len(A), k + d))
    B[: len(X), :k] = J
    B[len(X) : len(X) + d, k:] = np.eye(d)
    return least_squares(A, B)


def _shape(W: Floats) -> tuple[float, float]:
    """Return the direction of the long axis of the ellipse xᵀWWᵀx = const, and long over short."""
    (a, b), (_, c) = W @ W.T
    middle, spread = (a + c) / 2, math.hypot((a - c) / 2, b)
    least = max(0.0, middle - spread)
    ratio = math.sqrt((middle + spread) / least) if least > 1e-12 * middle else 1e6
    return math.atan2(2 * b, a - c) / 2 + math.pi / 2, min(ratio, 1e6)


def _cluster(state: dict[str, Any], W: Floats) -> dict[str, Any]:
    test, truth, k = np.array(state["test"]), state["truth"], state["k"]
    found = align(kmeans(test @ W, k)[0], truth, k)
    return {
        "labels": found.tolist(),
        "delta": delta(found, truth),
        "wrong": int(np.sum(found != truth)),
        "centres": [test[found == c].mean(axis=0).tolist() for c in range(k)],
    }


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state()
    >>> view(state, compute(state))["learned-score"]
    {'text': '0 of 42 wrong, Δ 0.00'}
    """
    n, parts = len(state["test"]), {}
    for i, point in enumerate(state["X"]):
        x, y = _to_panel(state, point)
        parts[f"point-{i}"] = {"transform": f"translate({fixed(x, 2)} {fixed(y, 2)})"}
    for i, c in enumerate(result["shown"]["labels"]):
        parts[f"test-{i}"] = {"class": f"mlbook-live-point mlbook-live-c{c % 8}"}
    for c, centre in enumerate(result["shown"]["centres"]):
        parts[f"centre-{c}"] = _ellipse(_to_panel(state, centre), result)
    parts["ellipse"] = _ellipse(_to_panel(state, result["centre"]), result)
    for i, (x, y) in enumerate(_ends(state, result)):
        parts[f"end-{i}"] = {"cx": fixed(x, 2), "cy": fixed(y, 2)}
    for name in METRICS:
        parts[f"metric-{name}"] = {"checked": state["metric"] == name}
        parts[f"{name}-row"] = {"data-shown": state["metric"] == name}
    parts["plain-score"] = {"text": _score(result["plain"], n)}
    parts["learned-score"] = {"text": _score(result["learned"], n)}
    by_hand = _score(result["shown"], n) if state["metric"] == "hand" else "drag the ellipse"
    parts["hand-score"] = {"text": by_hand}
    a = fixed(state["shrinkage"], 2)
    parts["shrinkage"] = {"value": state["shrinkage"], "aria-valuetext": a}
    parts["shrinkage-text"] = {"text": a}
    shown, ratio = result["shown"], result["ratio"]
    length = "over 99" if ratio > 99 else fixed(ratio, 1)
    parts["says"] = {
        "text": f"Shown: {METRICS[state['metric']][1]}. {shown['wrong']} of {n} test points are in "
        f"a wrong group (Δ = {fixed(shown['delta'], 2)}). Its ellipse is {length} times as long "
        "as wide."
    }
    return parts


def _to_panel(state: dict[str, Any], point: Any) -> tuple[float, float]:
    x, y, scale = state["frame"]
    return PANEL[0] / 2 + scale * (point[0] - x), PANEL[1] / 2 - scale * (point[1] - y)


def _ellipse(middle: tuple[float, float], result: dict[str, Any]) -> dict[str, str]:
    q = math.sqrt(min(result["ratio"], LONGEST))
    cx, cy = (fixed(value, 2) for value in middle)
    turn = fixed(-math.degrees(result["angle"]), 2)
    return {
        "cx": cx,
        "cy": cy,
        "rx": fixed(SIZE * q, 2),
        "ry": fixed(SIZE / q, 2),
        "transform": f"rotate({turn} {cx} {cy})",
    }


def _ends(state: dict[str, Any], result: dict[str, Any]) -> list[tuple[float, float]]:
    """Return the ends of the long and of the short axis, in the panel."""
    q = math.sqrt(min(result["ratio"], LONGEST))
    x, y = _to_panel(state, result["centre"])
    c, s = math.cos(result["angle"]), math.sin(result["angle"])
    return [(x + SIZE * q * c, y - SIZE * q * s), (x - SIZE / q * s, y - SIZE / q * c)]


def _score(way: dict[str, Any], n: int) -> str:
    return f"{way['wrong']} of {n} wrong, Δ {fixed(way['delta'], 2)}"


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the scores, both panels, the controls, the sentence."""
    scores = [
        draw(
            "span",
            draw("span", f"{label}: "),
            draw("strong", part=f"{name}-score"),
            part=f"{name}-row",
            class_="mlbook-live-score",
        )
        for name, (label, _) in METRICS.items()
    ]
    controls = draw.controls(
        draw.choice("metric", "Distance", [(name, label) for name, (label, _) in METRICS.items()]),
        draw.slider("shrinkage", "shrinkage a", (0, 1, 0.05)),
        draw.button("reset", "start again"),
    )
    return "\n".join(
        [
            draw("p", *scores, class_="mlbook-live-readout"),
            draw("div", _labelled(state, result, draw), _test(state, draw),
                 class_="mlbook-live-panels"),
            controls,
            draw("p", part="says", class_="mlbook-live-says", aria_live="polite"),
        ]
    )  # fmt: skip


def _labelled(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    points = [
        draw("path", part=f"point-{i}", class_=f"mlbook-live-point mlbook-live-c{c % 8}",
             d=marker(c, 6.5))
        for i, c in enumerate(state["y"])
    ]  # fmt: skip
    return draw.svg(
        draw("text", "labelled points: drag them", x=8, y=16),
        draw("ellipse", part="ellipse", class_="mlbook-live-ellipse"),
        *points,
        *(draw("circle", part=f"end-{i}", class_="mlbook-live-handle", r=5) for i in range(2)),
        draw.group("ellipse", _ends(state, result)[0], "Ellipse of the metric"),
        draw.group("points", _to_panel(state, state["X"][0]), "Labelled points"),
        size=PANEL,
        label=f"{len(points)} labelled points of {state['k']} classes, and the ellipse of points "
        "that the metric puts at one distance from the middle.",
    )


def _test(state: dict[str, Any], draw: Draw) -> str:
    points = []
    for i, (point, c) in enumerate(zip(state["test"], state["truth"], strict=True)):
        x, y = (fixed(value, 2) for value in _to_panel(state, point))
        points.append(
            draw("path", part=f"test-{i}", d=marker(c, 4.5), transform=f"translate({x} {y})")
        )
    centres = [
        draw("ellipse", part=f"centre-{c}", class_="mlbook-live-line") for c in range(state["k"])
    ]
    return draw.svg(
        draw("text", "test points: what k-means finds", x=8, y=16),
        *centres,
        *points,
        size=PANEL,
        label=f"{len(points)} test points: the shape is the true class, the colour the group that "
        "k-means finds with this metric.",
    )
