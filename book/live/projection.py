"""Projection: MLCA fits the targets J by the columns of X, and three ways to weigh the fit.

A state is a dict of

- ``X``, ``y``: points with two features, and their classes 0 and 1;
- ``t``: the weights, 0 for those of the spectral step, 1 of MLCA, 2 of discriminant analysis;
- ``scale``: the panel's units to one of the data; the origin is in the middle.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from book.live.figure import show
from book.live.markup import Draw, fixed, marker
from book.live.numerics import align, delta, kmeans
from mlbook._arrays import Floats
from mlbook.partitions import normalized_assignment

__all__ = ["body", "compute", "first_state", "projection", "view"]

PANEL, MIDDLE = (320, 220), (160, 114)
ROW = 62  # length of the longest row of J, in the panel
WAYS = ("spectral step", "MLCA", "LDA")
MOST = 60


def projection(X: ArrayLike | None = None, y: ArrayLike | None = None) -> Any:
    """Show the fit of MLCA, what it leaves over, and its weights beside those of its relatives.

    Parameters
    ----------
    X : array-like of shape (n, 2), at most 60 rows, optional
        Points; they are not centred. Default: an example of the book.
    y : array-like of n labels, optional
        Their classes, two.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If X has not two finite columns, is zero or too long, or there are not two classes.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> projection()
    <live figure projection>
    """
    return show("projection", first_state(X, y))


def first_state(X: ArrayLike | None = None, y: ArrayLike | None = None) -> dict[str, Any]:
    """Make the first state: by default two classes of two clouds each, the long way apart.

    Examples
    --------
    >>> state = first_state()
    >>> len(state["X"]), state["t"]
    (12, 1)
    """
    given = _clouds() if X is None else (X, y)
    points = np.asarray(given[0], dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ValueError(f"X must have two finite columns; got shape {points.shape}")
    if len(points) > MOST or not points.any():
        raise ValueError(f"X must have at most {MOST} rows, not all zero; got {len(points)}")
    names, labels = np.unique(np.asarray(given[1]), return_inverse=True)
    if labels.shape != (len(points),) or len(names) != 2:
        raise ValueError(f"y must hold a label for each of {len(points)} points, of two classes")
    width, height = np.abs(points).max(axis=0).clip(min=1e-9)
    scale = float(min(145 / width, 82 / height))
    return {"X": points.tolist(), "y": labels.tolist(), "t": 1, "scale": scale}


def _clouds() -> tuple[Floats, np.ndarray]:
    """Draw crossed classes: feature 1 tells them apart, feature 2 splits each in two clouds."""
    rng = np.random.default_rng(19)
    centres = np.array([[-1.6, 4.5], [-1.6, -2.3], [2.4, 4.3], [2.4, -2.1]])
    X = centres.repeat(3, axis=0) + rng.normal(size=(12, 2)) * [1.1, 0.45]
    return X.round(1), np.repeat([0, 1], 6)


# The twin of projection.js


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Map the points: to the fit PJ of the targets J, its directions weighed as ``t`` says.

    Returns
    -------
    dict
        ``rho`` of both directions; ``weight`` of the second, that of the first being 1; ``rows``
        of the mapped points, scaled so that the first direction is that of MLCA; ``residual``,
        their squared distance to J, and the ``least`` of all; ``labels`` that k-means finds
        among them, and its ``delta``.

    Examples
    --------
    >>> result = compute(first_state())
    >>> abs(result["residual"] - result["least"]) < 1e-12, result["delta"]
    (True, 0.0)
    """
    y = state["y"]
    J = normalized_assignment(y).toarray()
    U, s, _ = np.linalg.svd(np.array(state["X"]), full_matrices=False)
    basis = U * (s > 1e-10 * s[0])
    directions, roots, Vt = np.linalg.svd(basis.T @ J)  # roots are √ρ
    rho = np.minimum(1, roots**2)
    weight = _weigh(float(rho[0]), float(rho[1]), state["t"])
    length = np.sqrt([rho[0], rho[0] * weight])
    rows = basis @ directions * length @ Vt
    labels = align(kmeans(rows, 2)[0], y, 2)
    return {
        "rho": rho.tolist(),
        "weight": weight,
        "rows": rows.tolist(),
        "labels": labels.tolist(),
        "residual": float(np.sum((rows - J) ** 2)),
        "least": float(2 - rho.sum()),
        "delta": delta(labels, y),
    }


def _weigh(first: float, second: float, t: float) -> float:
    """Return what the second direction weighs when the first weighs 1."""
    if second <= 1e-12:  # no direction
        return 0.0
    mlca, lda = second / first, (1 - first + 1e-9) / (1 - second + 1e-9)
    return float(mlca**t if t <= 1 else mlca ** (2 - t) * lda ** (t - 1))


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state()
    >>> view(state, compute(state))["t-text"]
    {'text': 'MLCA'}
    """
    t, parts = state["t"], {}
    scale = _scale_of_rows(state["y"])
    for i, c in enumerate(result["labels"]):
        look = f"mlbook-live-point mlbook-live-c{c}"
        at, row = _on_panel(state["X"][i], state["scale"]), _on_panel(result["rows"][i], scale)
        parts[f"point-{i}"] = {"class": look, "transform": f"translate({' '.join(at)})"}
        parts[f"row-{i}"] = {"class": look, "transform": f"translate({' '.join(row)})"}
        parts[f"miss-{i}"] = {"x1": row[0], "y1": row[1]}
    low, high = WAYS[math.floor(t)], WAYS[math.ceil(t)]
    way = low if low == high else f"between {low} and {high}"
    weight, residual = fixed(result["weight"], 2), fixed(result["residual"], 2)
    least, loss = fixed(result["least"], 2), fixed(result["delta"], 2)
    found = "finds both classes" if result["delta"] < 1e-9 else f"misses the classes by Δ = {loss}"
    parts["t"] = {"value": t, "aria-valuetext": way}
    texts = {
        "t-text": way,
        "weights": f"1 and {weight}",
        "residual": f"{residual} (least {least})",
        "delta": loss,
        "says": f"{way[0].upper()}{way[1:]}: the two directions weigh 1 and {weight}. "
        f"Squared residual {residual}; the least is {least}. k-means on the mapped points {found}.",
    }
    return parts | {name: {"text": text} for name, text in texts.items()}


def _scale_of_rows(y: list[int]) -> float:
    return ROW * math.sqrt(min(y.count(0), y.count(1)))


def _on_panel(point: list[float], scale: float) -> list[str]:
    return [fixed(MIDDLE[0] + scale * point[0], 2), fixed(MIDDLE[1] - scale * point[1], 2)]


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: numbers, the points, the mapped points, controls, sentence."""
    readout = {"weights": "weights", "residual": "squared residual", "delta": "Δ"}
    numbers = [
        draw("span", f"{label}: ", draw("strong", part=name), class_="mlbook-live-score")
        for name, label in readout.items()
    ]
    return "\n".join(
        [
            draw("p", *numbers, class_="mlbook-live-readout"),
            draw("div", _points(state, draw), _mapped(state["y"], draw),
                 class_="mlbook-live-panels"),
            draw.controls(
                draw.slider("t", "weights", (0, 2, 0.05)),
                *(draw.button("go", way, str(t)) for t, way in enumerate(WAYS)),
                draw.button("reset", "start again"),
            ),
            draw("p", part="says", class_="mlbook-live-says", aria_live="polite"),
        ]
    )  # fmt: skip


def _axes(draw: Draw) -> list[str]:
    (width, height), (x, y) = PANEL, MIDDLE
    look = {"class_": "mlbook-live-faint"}
    return [
        draw("line", x1=0, x2=width, y1=y, y2=y, **look),
        draw("line", x1=x, x2=x, y1=24, y2=height, **look),
    ]


def _points(state: dict[str, Any], draw: Draw) -> str:
    """Draw the points in the plane of their two features."""
    points = [draw("path", part=f"point-{i}", d=marker(c, 6.5)) for i, c in enumerate(state["y"])]
    x, y = state["X"][0]
    first = MIDDLE[0] + state["scale"] * x, MIDDLE[1] - state["scale"] * y
    return draw.svg(
        draw("text", "the points X: drag them", x=8, y=16),
        *_axes(draw),
        *points,
        draw.group("points", first, "Points"),
        size=PANEL,
        label=f"{len(points)} points of two classes: the shape is the class, the colour the "
        "group that k-means finds in the other panel.",
    )


def _mapped(y: list[int], draw: Draw) -> str:
    """Draw the mapped points, each tied to the row of J that it should be."""
    scale = _scale_of_rows(y)
    targets = [
        _on_panel([scale_c * (c == 0), scale_c * (c == 1)], scale)
        for c, scale_c in ((c, 1 / math.sqrt(y.count(c))) for c in (0, 1))
    ]
    ties = [
        draw(
            "line", part=f"miss-{i}", x2=targets[c][0], y2=targets[c][1], class_="mlbook-live-line6"
        )
        for i, c in enumerate(y)
    ]
    wanted = [
        draw("path", d=marker(c, 11), transform=f"translate({' '.join(targets[c])})",
             class_="mlbook-live-handle")
        for c in (0, 1)
    ]  # fmt: skip
    rows = [draw("path", part=f"row-{i}", d=marker(c, 5)) for i, c in enumerate(y)]
    return draw.svg(
        draw("text", "mapped, tied to their targets, the rows of J", x=8, y=16),
        *_axes(draw),
        *ties,
        *wanted,
        *rows,
        size=PANEL,
        label="The mapped points, and two large markers: the rows of J, where a perfect fit would "
        "put the points of each class.",
    )
