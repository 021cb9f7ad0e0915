"""Relabel by clicking: a row of points, and what four losses see of the reader's grouping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from book.live.figure import show
from book.live.markup import Draw, fixed, marker
from mlbook.partitions import contingency, encode

__all__ = ["body", "compute", "first_state", "relabel", "view"]

State = dict[str, Any]
MOST = 5  # groups that can be made by clicking
BAR = 304  # length of a full bar
LOSSES = (("delta", "Δ"), ("rand", "Rand loss"), ("f", "1 − F-measure"), ("hausdorff", "Hausdorff"))
CASES = {
    "swapped": "names swapped",
    "small": "small group in two",
    "large": "large group in two",
    "last": "last point alone",
    "both": "large in two, last point alone",
}


def relabel(truth: ArrayLike | None = None, found: ArrayLike | None = None) -> Any:
    """Show Δ, the Rand loss, the F-measure and the Hausdorff distance while points are relabelled.

    Parameters
    ----------
    truth : array-like of 4 to 30 labels, optional
        The true groups, two or three; default: runs of 2, 5 and 8 points.
    found : array-like of as many labels, optional
        The groups found at first, at most five; default: the largest true one cut in two.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> relabel([0, 0, 1, 1, 1], [0, 0, 0, 1, 1])
    <live figure relabel>
    """
    return show("relabel", first_state(truth, found))


def first_state(truth: ArrayLike | None = None, found: ArrayLike | None = None) -> State:
    """Make the first state: both groupings, and instructive ones for the buttons.

    Examples
    --------
    >>> first_state()["found"]
    [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    """
    true, k = encode(np.repeat([0, 1, 2], [2, 5, 8]) if truth is None else truth, "truth")
    if not 4 <= len(true) <= 30 or not 2 <= k <= MOST - 2:
        raise ValueError(f"truth must have 4 to 30 points in 2 or 3 groups; got {len(true)} in {k}")
    cases = _cases(true, k)
    first, groups = encode(cases["large"] if found is None else found, "found")
    if len(first) != len(true) or groups > MOST:
        raise ValueError(
            f"found must have {len(true)} points in at most {MOST} groups; "
            f"got {len(first)} in {groups}"
        )
    return {
        "truth": true.tolist(),
        "found": first.tolist(),
        "cases": {name: labels.tolist() for name, labels in cases.items()},
    }


def _cases(truth: np.ndarray, k: int) -> dict[str, np.ndarray]:
    """Make groupings that some loss does not see, or sees too well."""
    sizes = np.bincount(truth)
    small, large = (
        np.flatnonzero(truth == c) for c in (sizes.argmin(), k - 1 - sizes[::-1].argmax())
    )
    return {
        "swapped": (truth + 1) % k,
        "small": _apart(truth, small[len(small) // 2 :], k),
        "large": _apart(truth, large[len(large) // 2 :], k),
        "last": _apart(truth, [-1], k),
        "both": _apart(_apart(truth, large[len(large) // 2 :], k), [-1], k + 1),
    }


def _apart(labels: np.ndarray, rows: Any, name: int) -> np.ndarray:
    changed = labels.copy()
    changed[rows] = name
    return changed


def compute(state: State) -> dict[str, Any]:
    """Compute what the four losses are made of; the twin of `compute` in relabel.js."""
    truth, found = state["truth"], state["found"]
    n = len(truth)
    table = contingency(truth, found).toarray()
    a, b = table.sum(axis=1), table.sum(axis=0)
    terms = table * (a[:, None] + b - 2 * table) / np.outer(a, b)
    both, true, ours = (_inside(sizes) for sizes in (table, a, b))
    differ, pairs = true + ours - 2 * both, n * (n - 1) // 2
    cuts = _frontier(truth), _frontier(found)
    gap = None
    if cuts[0] is not None and cuts[1] is not None and bool(cuts[0]) == bool(cuts[1]):
        gap = _worst(cuts[0], cuts[1])
    return {
        "delta": float(terms.sum()),
        "groups": [len(a), len(b)],
        "pairs": {"true": true, "found": ours, "both": both},
        "differ": differ,
        "all": pairs,
        "rand": differ / max(1, pairs),
        "f": 2 * both / (true + ours) if true + ours else 1,
        "runs": cuts[1] is not None,
        "gap": gap,
        "hausdorff": gap and gap["off"] / n,
    }


def _inside(sizes: np.ndarray) -> int:
    """Count the pairs inside groups of these sizes."""
    return int((sizes * (sizes - 1)).sum()) // 2


def _frontier(labels: Sequence[int]) -> list[int] | None:
    """Return the indices at which another group begins, None if a group is not one run."""
    cuts = [i for i in range(1, len(labels)) if labels[i] != labels[i - 1]]
    return cuts if len(cuts) + 1 == len(set(labels)) else None


def _worst(a: list[int], b: list[int]) -> dict[str, int]:
    """Return the frontier of one grouping that is farthest from the nearest of the other."""
    found = {"off": -1 if a else 0, "from": 0, "to": 0}
    for ones, others in ((a, b), (b, a)):
        for start in ones:
            to = min(others, key=lambda x: abs(x - start))
            if abs(to - start) > found["off"]:
                found = {"off": abs(to - start), "from": start, "to": to}
    return found


def _place(n: int, i: float) -> float:
    return 160 + (i - (n - 1) / 2) * min(24, 312 / n)


def _plural(n: int, one: str) -> str:
    return f"{n} {one}" + ("" if n == 1 else "s")


def _coloured(c: int) -> dict[str, str]:
    return {"class": f"mlbook-live-point mlbook-live-c{c}"}


def view(state: State, result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Say what moves, as `view` in relabel.js."""
    found, n, (k, groups), gap = (
        state["found"],
        len(state["truth"]),
        result["groups"],
        result["gap"],
    )
    delta, pairs = result["delta"], result["pairs"]
    far = gap is not None and gap["off"] > 0
    ends = sorted((gap["from"], gap["to"])) if far else ()
    x1, x2 = (fixed(_place(n, end - 0.5), 2) for end in ends) if far else ("0.00", "0.00")
    distance = fixed(result["hausdorff"], 3) if gap else None
    if gap:
        why = f"worst frontier {gap['off']} of {n} places off"
    else:
        why = (
            "no frontier to measure from" if result["runs"] else "not defined: a group is in pieces"
        )
    shares = {
        "delta": delta / (k + MOST - 2),
        "rand": result["rand"],
        "f": 1 - result["f"],
        "hausdorff": result["hausdorff"] or 0,
    }
    texts = {
        "delta": fixed(delta, 2),
        "rand": fixed(result["rand"], 3),
        "f": fixed(1 - result["f"], 3),
        "hausdorff": distance or "–",
        "delta-why": f"{k} + {groups} groups − 2 × {fixed((k + groups - delta) / 2, 2)} overlap",
        "rand-why": f"{result['differ']} of {result['all']} pairs judged otherwise",
        "f-why": f"F = 2 × {pairs['both']} / ({pairs['true']} + {pairs['found']}) pairs together",
        "hausdorff-why": why,
        "says": f"You found {_plural(groups, 'group')}, true are {k}. Δ {fixed(delta, 2)}, "
        f"Rand loss {fixed(result['rand'], 3)}, F-measure {fixed(result['f'], 3)}, "
        f"Hausdorff distance {distance or 'not defined'}.",
    }
    return {
        **{f"point-{i}": _coloured(c) for i, c in enumerate(found)},
        **{
            f"cut-{i}": {"visibility": "hidden" if found[i] == found[i - 1] else "visible"}
            for i in range(1, n)
        },
        "gap": {"visibility": "visible" if far else "hidden", "x1": x1, "x2": x2},
        **{f"{name}-bar": {"width": fixed(BAR * share, 2)} for name, share in shares.items()},
        **{name: {"text": text} for name, text in texts.items()},
    }  # fmt: skip


def body(state: State, result: dict[str, Any], draw: Draw) -> str:
    """Write the first picture: the row of points, a bar for each loss, the buttons."""
    losses = [_loss(draw, 18 + 56 * i, *loss) for i, loss in enumerate(LOSSES)]
    label = "Four losses between the true groups and those found, as bars"
    buttons = [draw.button("case", text, name) for name, text in CASES.items()]
    return "\n".join(
        [
            draw(
                "div",
                _row(state["truth"], draw),
                draw.svg(*losses, size=(320, 226), label=label),
                class_="mlbook-live-panels",
            ),
            draw.controls(*buttons, draw.button("reset", "start again")),
            draw("p", part="says", class_="mlbook-live-says", aria_live="polite"),
        ]
    )


def _row(truth: list[int], draw: Draw) -> str:
    """Write the points, the true frontiers above them and those found below."""
    n = len(truth)
    edges = [fixed(_place(n, i - 0.5), 2) for i in range(n)]
    size = min(8.0, 104 / n)
    points = []
    for i, c in enumerate(truth):
        where = f"translate({fixed(_place(n, i), 2)} 56)"
        points.append(draw("path", part=f"point-{i}", d=marker(c, size), transform=where))
    line = "mlbook-live-line"
    true = [
        draw("line", x1=edges[i], x2=edges[i], y1=24, y2=40, class_=line)
        for i in range(1, n)
        if truth[i] != truth[i - 1]
    ]
    cuts = [
        draw("line", part=f"cut-{i}", x1=edges[i], x2=edges[i], y1=72, y2=88, class_=line)
        for i in range(1, n)
    ]
    return draw.svg(
        draw("text", "true frontiers, true groups as shapes", x=8, y=17),
        *true,
        *cuts,
        draw("line", part="gap", y1=80, y2=80, class_="mlbook-live-line", stroke_dasharray="3 2"),
        *points,
        draw("text", "frontiers found, groups found as colours", x=8, y=106),
        draw.group(
            "points", (_place(n, 0), 56), "Points; arrows choose one, Enter changes its group"
        ),
        size=(320, 116),
        label=f"{n} points in a row: the shape is the true group, the colour the group found.",
    )


def _loss(draw: Draw, y: int, name: str, title: str) -> str:
    """Write the name and value of a loss, a bar, and what it is made of."""
    bar: dict[str, Any] = {"x": 8, "y": y + 6, "height": 10}
    return "".join(
        [
            draw("text", title, x=8, y=y, class_="mlbook-live-strong"),
            draw("text", part=name, x=312, y=y, text_anchor="end", class_="mlbook-live-strong"),
            draw("rect", part=f"{name}-bar", **bar, class_="mlbook-live-c6"),
            draw("rect", **bar, width=BAR, class_="mlbook-live-faint"),
            draw("text", part=f"{name}-why", x=8, y=y + 31),
        ]
    )
