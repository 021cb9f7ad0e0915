"""Slaves and fees: dual decomposition of one training set, round by round.

A state is a dict of

- ``U``: the potentials ū of Komodakis 2011, Eq. 18, with β inside clusters;
- ``labels``: the cluster 0..k−1 of each point; ``alpha``, ``beta``: the weights of the error;
- ``least``: the least energy less error of all x, which the bound cannot exceed;
- ``lengths``: the step on the prices after each round; ``round``: the one shown;
- ``printed``: the rule of Eqs. 32 and 33 as printed, for votes; minima are the true ones;
- ``shown``: the lowest and the highest bound in the picture.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from book.live.figure import show
from book.live.markup import Draw, fixed
from mlbook._arrays import Floats
from mlbook.latent_crf.energy import clustering_error, loss_augmented_potentials
from mlbook.latent_crf.slaves import cluster_slaves, point_slaves

__all__ = ["body", "compute", "first_state", "slaves", "view"]

LEFT, RIGHT, TOP, BOTTOM = 40, 306, 40, 205  # of the panel of the bound
START, WIDTH, HEAD, HEIGHT = 52, 42, 44, 36  # of the table: where cells begin, and their size
MOST = 6  # points; more would not fit
RULES = (("completed", "completed"), ("printed", "as printed"))


def slaves(
    D: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    penalty: float = 3.0,
    *,
    printed: bool = False,
) -> Any:
    """Play dual decomposition round by round.

    Parameters
    ----------
    D : array-like of shape (n, n), optional
        Distances; default: the worked example of three points.
    labels : array-like of n labels, optional
        The partition.
    penalty : float, default=3.0
        Price of an exemplar.
    printed : bool, default=False
        Begin with the rule as printed.

    Returns
    -------
    Page or anywidget.AnyWidget
        See `book.live.figure.show`.

    Raises
    ------
    ValueError
        If D is not square or has not 2 to 6 rows, or the labels are not as many.

    Examples
    --------
    >>> import os
    >>> os.environ["MLBOOK_STATIC"] = "1"
    >>> slaves()
    <live figure slaves>
    """
    state = first_state() if D is None else _state(D, labels, penalty)
    return show("slaves", state | {"printed": bool(printed)})


def first_state() -> dict[str, Any]:
    """Return the worked example; its steps lead to the prices that the chapter prints.

    Examples
    --------
    >>> state = first_state()
    >>> compute(state | {"round": 8})["bounds"]
    [-2.0, 2.0, 3.5, 4.0, 4.0, 1.25, 3.75, 4.25, 5.0]
    """
    D = [[0, 2, 2], [2, 0, 4], [2, 4, 0]]
    return _state(D, [0, 0, 1], 3.0, [4, 2, 1, 1, 2, 1, 1, 1])


def _state(D: Any, labels: Any, penalty: float, lengths: Any = None) -> dict[str, Any]:
    distances = np.asarray(D, dtype=float)
    n = len(distances)
    if distances.shape != (n, n) or not 2 <= n <= MOST:
        raise ValueError(f"D must be square, with 2 to {MOST} rows; got shape {distances.shape}")
    if np.shape(labels) != (n,):
        raise ValueError(f"labels must hold one for each of {n} points; got {labels!r}")
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    if lengths is None:
        lengths = [float(fixed(penalty / (1 + t / 10), 2)) for t in range(20)]
    state: dict[str, Any] = {
        "U": loss_augmented_potentials(distances, codes, penalty).tolist(),
        "labels": codes.tolist(),
        "alpha": 1.0,
        "beta": 1.0,
        "least": _least(distances, codes, penalty),
        "lengths": lengths,
        "round": len(lengths),
        "printed": False,
    }
    bounds = compute(state)["bounds"] + compute(state | {"printed": True})["bounds"]
    return state | {"round": 0, "shown": [min(bounds), max(*bounds, state["least"])]}


def _least(D: Floats, labels: Any, penalty: float) -> float:
    """Return the least energy less error of all assignments."""
    n = len(D)
    ways = np.where(np.eye(n, dtype=bool), penalty, D)
    every = (np.array(x) for x in product(range(n), repeat=n))
    return min(
        float(ways[np.arange(n), x].sum()) - clustering_error(x, labels)
        for x in every
        if np.array_equal(x[x], x)
    )


# The twin of slaves.js


def compute(state: dict[str, Any]) -> dict[str, Any]:
    """Take the steps up to the round shown.

    Returns
    -------
    dict
        ``prices`` and ``slaves`` of this round, points first, then clusters: what each compares
        (``bar``), where it goes (``chosen``), what it opens (``open``), its minimum (``value``);
        ``owns``, the exemplars that each sees; ``votes`` for each exemplar, and whether one
        ``moves``; ``bounds`` of the rounds so far.

    Examples
    --------
    >>> result = compute(first_state() | {"round": 1})
    >>> [slave["value"] for slave in result["slaves"]], result["votes"], result["bounds"]
    ([1.0, 2.0, 1.0, -1.0, -1.0], [2, 0, 1], [-2.0, 2.0])
    """
    U, labels = np.array(state["U"]), np.array(state["labels"])
    n, k = len(U), max(state["labels"]) + 1
    members = np.vstack([np.ones((n, n), dtype=bool), labels == np.arange(k)[:, None]])
    prices, bounds = np.zeros((n + k, n)), []
    for t in range(state["round"] + 1):
        found = _points(state, U, prices[:n]) + _clusters(state, U, prices[n:])
        is_open = np.array([slave["open"] for slave in found])
        votes = is_open.sum(axis=0)
        bounds.append(sum(slave["value"] for slave in found))
        if t < state["round"]:
            prices = prices - state["lengths"][t] * (votes / (n + 1) - is_open) * members
    return {
        "owns": [np.flatnonzero(row).tolist() for row in members],
        "prices": prices.tolist(),
        "slaves": found,
        "votes": votes.tolist(),
        "moves": bool(((votes > 0) & (votes < n + 1)).any()),
        "bounds": bounds,
    }


def _points(state: dict[str, Any], U: Floats, prices: Floats) -> list[dict[str, Any]]:
    n = len(U)
    own = np.eye(n, dtype=bool)
    chosen, is_open = point_slaves(U, prices)
    theta = prices + U.diagonal() / (n + 1)
    bar = np.where(own, theta, np.maximum(theta, 0) + U)
    values = bar.min(axis=1) + np.where(own, 0, np.minimum(theta, 0)).sum(axis=1) - state["beta"]
    if state["printed"]:
        is_open = np.where(own, is_open, theta < 0)
    return [
        {
            "bar": bar[p].tolist(),
            "chosen": int(chosen[p]),
            "open": is_open[p].tolist(),
            "value": float(values[p]),
        }
        for p in range(n)
    ]


def _clusters(state: dict[str, Any], U: Floats, prices: Floats) -> list[dict[str, Any]]:
    labels, alpha = np.array(state["labels"]), state["alpha"]
    shares, points = U.diagonal() / (len(U) + 1), np.arange(len(U))
    theta = shares + prices[labels, points]
    is_open = cluster_slaves(shares, prices[labels, points], labels, alpha)
    found = []
    for c in range(len(prices)):
        bar = theta[labels == c]
        some = alpha + float(np.minimum(bar - alpha, 0).sum())
        opened = (is_open & (labels == c)).tolist()
        value = min(-alpha, some)
        found.append({"bar": bar.tolist(), "chosen": None, "open": opened, "value": value})
    return found


def view(state: dict[str, Any], result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the attributes of everything that moves.

    Examples
    --------
    >>> state = first_state() | {"round": 1}
    >>> view(state, compute(state))["does-0"]
    {'text': 'goes to 3: 1'}
    """
    parts: dict[str, dict[str, Any]] = {}
    n, last, bounds = len(result["votes"]), len(state["lengths"]), result["bounds"]
    for s, (slave, owns) in enumerate(zip(result["slaves"], result["owns"], strict=True)):
        for q in owns:
            border = "line" if slave["chosen"] == q else "faint"
            parts[f"cell-{s}-{q}"] = {"class": f"mlbook-live-{border}"}
            parts[f"vote-{s}-{q}"] = {"r": 5 if slave["open"][q] else 0}
            parts[f"price-{s}-{q}"] = {"text": _short(result["prices"][s][q])}
        parts[f"bar-{s}"] = {"text": ", ".join(map(_short, slave["bar"]))}
        parts[f"does-{s}"] = {"text": f"{_does(slave, s, owns)}: {_short(slave['value'])}"}
    for q, count in enumerate(result["votes"]):
        parts[f"votes-{q}"] = {"text": f"{count} of {n + 1}"}
    places = [[fixed(v, 2) for v in _place(state, t, bound)] for t, bound in enumerate(bounds)]
    parts["climb"] = {"d": f"M{'L'.join(' '.join(at) for at in places)}"}
    parts["now"] = {"cx": places[-1][0], "cy": places[-1][1]}
    parts["bound"] = {"text": _short(bounds[-1])}
    parts["best"] = {"text": _short(max(bounds))}
    parts["done"] = {"text": f"{state['round']} of {last}"}
    text = f"round {state['round']}, bound {_short(bounds[-1])}"
    parts["round"] = {"value": state["round"], "aria-valuetext": text}
    parts["round-text"] = {"text": state["round"]}
    for rule, _ in RULES:
        parts[f"rule-{rule}"] = {"checked": state["printed"] == (rule == "printed")}
    parts["says"] = {"text": _sentence(state, result)}
    return parts


def _short(x: float) -> str:
    """Write a number with at most two digits behind the point."""
    return f"{float(fixed(x, 2)):.12g}".replace("-", "−")


def _sum(values: list[float]) -> str:
    rest = [f" − {_short(-x)}" if x < 0 else f" + {_short(x)}" for x in values[1:]]
    return _short(values[0]) + "".join(rest)


def _does(slave: dict[str, Any], s: int, owns: list[int]) -> str:
    chosen = slave["chosen"]
    if chosen is None:
        names = [str(q + 1) for q in owns if slave["open"][q]]
        return f"opens {', '.join(names)}" if names else "opens nothing"
    if chosen == s:
        return "chooses itself"
    return f"goes to {chosen + 1}{'' if slave['open'][chosen] else ' (closed)'}"


def _place(state: dict[str, Any], t: int, bound: float) -> tuple[float, float]:
    low, high = state["shown"]
    x = LEFT + (RIGHT - LEFT) * t / len(state["lengths"])
    return x, BOTTOM - (BOTTOM - TOP) * (min(high, max(low, bound)) - low) / (high - low)


def _sentence(state: dict[str, Any], result: dict[str, Any]) -> str:
    bound, least = result["bounds"][-1], _short(state["least"])
    minima = _sum([slave["value"] for slave in result["slaves"]])
    start = (
        f"Round {state['round']}: the minima of the slaves, {minima}, add up to the bound "
        f"{_short(bound)}."
    )
    if abs(bound - state["least"]) < 1e-9:
        end = f"No x costs less than {least}, and one costs just that: the proof is complete."
    elif not result["moves"]:
        why = "All agree: "
        if state["printed"]:
            why = "Slaves go where they open nothing: nobody votes, so "
        end = f"{why}no fee moves any more."
    elif state["round"] == len(state["lengths"]):
        end = f"The least of all x is {least}."
    else:
        end = (
            f"Next, with step {_short(state['lengths'][state['round']])}: who voted for an "
            "exemplar pays more for it, the others less."
        )
    return f"{start} {end}"


# The first picture


def body(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw the first picture: the numbers, both panels, the controls, the sentence."""
    names = {"done": "round", "bound": "bound", "best": "best so far"}
    numbers = [
        draw("span", f"{text}: ", draw("strong", part=name), class_="mlbook-live-score")
        for name, text in names.items()
    ]
    controls = draw.controls(
        draw.button("reset", "back to start"),
        draw.button("play", "play / pause", aria_pressed="false"),
        draw.button("next", "one round"),
        draw.slider("round", "round", (0, len(state["lengths"]), 1)),
        draw.choice("rule", "Lemma 2", RULES),
    )
    panels = draw(
        "div", _table(state, result, draw), _climb(state, draw), class_="mlbook-live-panels"
    )
    says = draw("p", part="says", class_="mlbook-live-says", aria_live="polite")
    return "\n".join([draw("p", *numbers, class_="mlbook-live-readout"), panels, controls, says])


def _table(state: dict[str, Any], result: dict[str, Any], draw: Draw) -> str:
    """Draw a card for each slave: its prices and votes, what it compares, what it does."""
    n, rows = len(state["U"]), len(result["owns"])
    end, content = START + WIDTH * n, []
    for q in range(n):
        x = START + WIDTH * (q + 0.5)
        content.append(draw("text", str(q + 1), x=x, y=HEAD - 6, text_anchor="middle"))
        y = HEAD + HEIGHT * rows + 17
        content.append(draw("text", part=f"votes-{q}", x=x, y=y, text_anchor="middle"))
    for s, owns in enumerate(result["owns"]):
        y = HEAD + HEIGHT * s
        name = str(s + 1) if s < n else f"{{{', '.join(str(q + 1) for q in owns)}}}"
        content.append(draw("text", name, x=START - 8, y=y + 22, text_anchor="end"))
        for q in owns:
            content += _cell(draw, s, q, START + WIDTH * q, y)
        content.append(draw("text", part=f"bar-{s}", x=end + 10, y=y + 15))
        content.append(draw("text", part=f"does-{s}", x=end + 10, y=y + 31))
    return draw.svg(
        draw("text", "slave", x=8, y=16),
        draw("text", "fee of exemplar", x=START, y=16),
        draw("text", "compares", x=end + 10, y=16),
        draw("text", "does: minimum", x=end + 10, y=HEAD - 6),
        draw("text", "votes", x=START - 8, y=HEAD + HEIGHT * rows + 17, text_anchor="end"),
        *content,
        size=(end + 152, HEAD + HEIGHT * rows + 28),
        label=f"A row for each of {rows} slaves: its fees, a dot where it opens an exemplar, a "
        "frame where it goes; what it compares, what it does, and its minimum.",
    )


def _cell(draw: Draw, s: int, q: int, x: float, y: float) -> list[str]:
    return [
        draw("rect", part=f"cell-{s}-{q}", x=x + 2, y=y + 2, width=WIDTH - 4, height=HEIGHT - 4),
        draw("text", part=f"price-{s}-{q}", x=x + WIDTH / 2, y=y + 17, text_anchor="middle"),
        draw("circle", part=f"vote-{s}-{q}", class_="mlbook-live-point mlbook-live-c4",
             cx=x + WIDTH / 2, cy=y + 26),
    ]  # fmt: skip


def _climb(state: dict[str, Any], draw: Draw) -> str:
    low, high = state["shown"]
    marks = []
    for bound in sorted({low, 0.0, state["least"]}):
        y = fixed(_place(state, 0, bound)[1], 2)
        marks.append(draw("line", class_="mlbook-live-faint", x1=LEFT, x2=RIGHT, y1=y, y2=y))
        y = fixed(float(y) + 4, 2)
        marks.append(draw("text", _short(bound), x=LEFT - 10, y=y, text_anchor="end"))
    last = len(state["lengths"])
    for t in range(0, last + 1, 1 + last // 10):
        x = fixed(_place(state, t, low)[0], 2)
        marks.append(draw("text", str(t), x=x, y=BOTTOM + 20, text_anchor="middle"))
    return draw.svg(
        draw("text", f"bound after each round; least E − Δ: {_short(state['least'])}", x=8, y=16),
        *marks,
        draw("path", part="climb", class_="mlbook-live-ellipse"),
        draw("circle", part="now", class_="mlbook-live-point mlbook-live-c1", r=6),
        size=(320, 240),
        label=f"The bound over the rounds, with the least energy less error, {_short(high)}, above "
        "it.",
    )
