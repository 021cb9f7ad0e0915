"""Four points on a line: the partition matrix, and total = trace + distortion.

A state is a dict of ``x``, four numbers from 0 to 10, and ``labels``, their groups from 0 to 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from book.figures.kmeans import all_partitions
from book.live.figure import show
from book.live.markup import Draw, fixed
from mlbook.kmeans import distortion, trace_objective
from mlbook.partitions import equivalence_matrix

__all__ = ["body", "compute", "first_state", "line_points", "view"]

LEFT, UNIT, LONGEST = 20, 28, 10  # the line, from 0 to LONGEST
FLOOR, LEVEL, POINTS = 118, 24, 4  # a level for each group, the first at the floor
BAR = 304
CELL = 46
COUNTS = ("", "One group", "Two groups", "Three groups", "Four groups")


def line_points(x: ArrayLike = (0, 2, 4, 9), labels: ArrayLike = (0, 0, 0, 1)) -> Any:
    """Show the partition matrix of four points on a line, and what the partition costs.

    Parameters
    ----------
    x : array-like of 4 numbers from 0 to 10
        The points at first.
    labels : array-like of 4 integers from 0 to 3
        Their groups at first.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If there are not four points and labels within these limits.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> line_points([1, 2, 6, 7], [0, 0, 1, 1])
    <live figure line_points>
    """
    return show("line_points", first_state(x, labels))


def first_state(x: ArrayLike = (0, 2, 4, 9), labels: ArrayLike = (0, 0, 0, 1)) -> dict[str, Any]:
    """Make the first state: the worked example of the chapter on k-means.

    Examples
    --------
    >>> first_state()
    {'x': [0.0, 2.0, 4.0, 9.0], 'labels': [0, 0, 0, 1]}
    """
    points, groups = np.asarray(x, dtype=float), np.asarray(labels)
    if points.shape != (POINTS,) or not np.all((points >= 0) & (points <= LONGEST)):
        raise ValueError(f"x must hold four numbers from 0 to {LONGEST}; got {x!r}")
    if groups.shape != (POINTS,) or not np.isin(groups, range(POINTS)).all():
        raise ValueError(f"labels must hold four integers from 0 to {POINTS - 1}; got {labels!r}")
    return {"x": points.tolist(), "labels": groups.tolist()}


# The twin of line_points.js


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Compute the matrix ``C``, the ``means``, and what the partition keeps and loses.

    Examples
    --------
    >>> result = compute(first_state())
    >>> result["total"], result["trace"], result["distortion"]
    (101.0, 93.0, 8.0)
    """
    X, labels = np.array(state["x"])[:, None], state["labels"]
    C, k = equivalence_matrix(labels), len(set(labels))
    return {
        "k": k,
        "C": C.tolist(),
        "means": (C @ X)[:, 0].tolist(),
        "total": float(np.sum(X**2)),
        "trace": float(trace_objective(X, labels)),
        "distortion": float(distortion(X, labels)),
        "best": _best(X, k),
    }


def _best(X: np.ndarray, k: int) -> dict[str, Any]:
    """Find the best partition into k groups; a later one must be better by 1e-9."""
    best: dict[str, Any] = {}
    for labels in all_partitions(len(X)):
        if max(labels) + 1 == k:
            cost = float(distortion(X, labels))
            if not best or cost < best["distortion"] - 1e-9:
                best = {"labels": list(labels), "distortion": cost}
    return best


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state()
    >>> view(state, compute(state))["entry-0-1"]
    {'text': '1/3'}
    """
    total, trace, lost = result["total"], result["trace"], result["distortion"]
    least = result["best"]["distortion"]
    share, mark = (BAR * (part / total) if total > 0 else 0 for part in (lost, least))
    parts: dict[str, dict[str, Any]] = {}
    for i, (x, c, mean) in enumerate(
        zip(state["x"], state["labels"], result["means"], strict=True)
    ):
        at, centre, y = _across(x), _across(mean), FLOOR - LEVEL * c
        parts[f"point-{i}"] = {"class": f"mlbook-live-point mlbook-live-c{c}", "cx": at, "cy": y}
        parts[f"name-{i}"] = {"x": at, "y": y - 10}
        parts[f"line-{i}"] = {"x1": at, "x2": centre, "y1": y, "y2": y}
        parts[f"mean-{i}"] = {"x1": centre, "x2": centre, "y1": y, "y2": y + 12}
        for j, value in enumerate(result["C"][i]):
            shade = fixed(0.45 * value, 3)
            parts[f"cell-{i}-{j}"] = {"class": f"mlbook-live-c{c}", "fill-opacity": shade}
            parts[f"entry-{i}-{j}"] = {"text": _entry(value)}
    parts["lost"] = {"x": fixed(8 + BAR - share, 2), "width": fixed(share, 2)}
    parts["kept"] = {"width": fixed(BAR - share, 2)}
    parts["least"] = dict.fromkeys(("x1", "x2"), fixed(8 + BAR - mark, 2))
    parts["trace"] = {"text": f"trace {fixed(trace, 1)}"}
    parts["distortion"] = {"text": f"distortion {fixed(lost, 1)}"}
    parts["total"] = {"text": f"total {fixed(total, 1)}; dashed: best with as many groups"}
    if lost < least + 1e-9:
        verdict = "No partition into as many groups has less distortion."
    else:
        verdict = f"The best with as many groups has distortion {fixed(least, 1)}."
    parts["says"] = {
        "text": f"{COUNTS[result['k']]}: total {fixed(total, 1)} = trace {fixed(trace, 1)} + "
        f"distortion {fixed(lost, 1)}. {verdict}"
    }
    return parts


def _across(x: float) -> str:
    return fixed(LEFT + UNIT * x, 2)


def _entry(value: float) -> str:
    return f"{value:.0f}" if value in (0, 1) else f"1/{round(1 / value)}"


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the line with the bar, the matrix, the controls, the sentence."""
    first = LEFT + UNIT * state["x"][0], FLOOR - LEVEL * state["labels"][0]
    line = draw.svg(
        *_line(draw),
        *_bar(draw),
        draw.group("points", first, "Points; arrows move one, up and down into another group"),
        size=(320, 240),
        label="Four points on a line, a level for each group, and a bar: total, split into trace "
        "and distortion.",
    )
    label = "The partition matrix C, four rows and four columns."
    return "\n".join(
        [
            draw("div", line, draw.svg(*_matrix(draw), size=(320, 240), label=label),
                 class_="mlbook-live-panels"),
            draw.controls(
                draw.button("best", "best with as many groups"),
                draw.button("reset", "start again"),
            ),
            draw("p", part="says", class_="mlbook-live-says", aria_live="polite"),
        ]
    )  # fmt: skip


def _line(draw: Draw) -> list[str]:
    """Draw the points, each tied to the mean of its group, above the axis."""
    axis = FLOOR + 22
    shapes = [draw("text", "sideways moves a point, up and down its group", x=8, y=16)]
    shapes.append(
        draw("line", x1=LEFT, x2=_across(LONGEST), y1=axis, y2=axis, class_="mlbook-live-line")
    )
    for x in range(0, LONGEST + 1, 2):
        shapes.append(draw("text", str(x), x=_across(x), y=axis + 16, text_anchor="middle"))
    for name in ("line", "mean"):
        shapes += [
            draw("line", part=f"{name}-{i}", class_="mlbook-live-line") for i in range(POINTS)
        ]
    shapes += [draw("circle", part=f"point-{i}", r=7) for i in range(POINTS)]
    shapes += [
        draw("text", str(i + 1), part=f"name-{i}", text_anchor="middle") for i in range(POINTS)
    ]
    return shapes


def _bar(draw: Draw) -> list[str]:
    """Draw the total as a bar, split into what the means keep and what is lost."""
    bar: dict[str, Any] = {"y": 194, "height": 16}
    return [
        draw("text", part="trace", x=8, y=188),
        draw("text", part="distortion", x=312, y=188, text_anchor="end"),
        draw("rect", part="kept", x=8, **bar, class_="mlbook-live-c6"),
        draw("rect", part="lost", **bar, class_="mlbook-live-point mlbook-live-c4"),
        draw("rect", x=8, width=BAR, **bar, class_="mlbook-live-line"),
        draw(
            "line", part="least", y1=194, y2=218, class_="mlbook-live-line", stroke_dasharray="3 2"
        ),
        draw("text", part="total", x=8, y=230),
    ]


def _matrix(draw: Draw) -> list[str]:
    """Draw the cells of C with their entries."""
    cells = [draw("text", "the matrix C of the partition", x=8, y=16)]
    for i in range(POINTS):
        middle = 48 + CELL * (i + 0.5)
        name = {"text_anchor": "middle"}
        cells.append(draw("text", str(i + 1), x=58, y=middle + 5, **name))
        cells.append(draw("text", str(i + 1), x=72 + CELL * (i + 0.5), y=40, **name))
        for j in range(POINTS):
            x = 72 + CELL * j
            box: dict[str, Any] = {"x": x, "y": 48 + CELL * i, "width": CELL, "height": CELL}
            cells.append(draw("rect", part=f"cell-{i}-{j}", **box))
            cells.append(draw("rect", **box, class_="mlbook-live-faint"))
            cells.append(draw("text", part=f"entry-{i}-{j}", x=x + CELL / 2, y=middle + 5, **name))
    return cells
