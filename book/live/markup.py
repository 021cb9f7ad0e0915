"""Writing the HTML and SVG of live figures: elements, markers, controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from html import escape
from typing import Any

__all__ = ["Draw", "fixed", "marker"]

View = Mapping[str, Mapping[str, Any]]

# The markers of mlbook.plots.MARKERS after the circle, in their order; corners of size one.
_CORNERS = (
    "-.9 -.9, .9 -.9, .9 .9, -.9 .9",
    "0 -1.15, 1.1 .85, -1.1 .85",
    "0 -1.25, 1.05 0, 0 1.25, -1.05 0",
    "0 1.15, 1.1 -.85, -1.1 -.85",
    "-.4 -1.1, .4 -1.1, .4 -.4, 1.1 -.4, 1.1 .4, .4 .4, .4 1.1, -.4 1.1, -.4 .4, -1.1 .4, "
    "-1.1 -.4, -.4 -.4",
    "-.6 -1.1, 0 -.5, .6 -1.1, 1.1 -.6, .5 0, 1.1 .6, .6 1.1, 0 .5, -.6 1.1, -1.1 .6, -.5 0, "
    "-1.1 -.6",
    "0 -1.3, .3 -.4, 1.2 -.4, .5 .15, .75 1.05, 0 .5, -.75 1.05, -.5 .15, -1.2 -.4, -.3 -.4",
)


def fixed(x: float, digits: int) -> str:
    """Write a number with fixed digits, halves away from zero, never "-0"; as in core.js.

    Examples
    --------
    >>> fixed(0.125, 2), fixed(-0.001, 2), fixed(3, 1)
    ('0.13', '0.00', '3.0')
    """
    text = str(abs(Decimal(float(x))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return f"-{text}" if x < 0 and float(text) else text


def marker(label: int, size: float) -> str:
    """Return the outline (`d` of a path) of the marker of a class about the origin.

    Examples
    --------
    >>> marker(1, 5)
    'M-4.5 -4.5L4.5 -4.5L4.5 4.5L-4.5 4.5Z'
    """
    shape = label % (1 + len(_CORNERS))
    if shape == 0:
        arc = f"A{size:g} {size:g} 0 1 1"
        return f"M{size:g} 0{arc} {-size:g} 0{arc} {size:g} 0Z"
    corners = [corner.split() for corner in _CORNERS[shape - 1].split(",")]
    return "M" + "L".join(f"{float(x) * size:.3g} {float(y) * size:.3g}" for x, y in corners) + "Z"


class Draw:
    """Writes elements; those that can move get their attributes from the view of the state.

    Parameters
    ----------
    view : dict of dict
        By part: its attributes, and its text as "text".

    Examples
    --------
    >>> draw = Draw({"answer": {"text": "6 < 7", "x": 1}})
    >>> draw("text", part="answer", class_="label", y=2)
    '<text class="label" y="2" data-part="answer" x="1">6 &lt; 7</text>'
    """

    def __init__(self, view: View) -> None:
        self.view = view

    def __call__(self, tag: str, *content: str, part: str = "", **attributes: Any) -> str:
        """Return an element; `content` is markup, an attribute's `_` is written as "-".

        A part's text and attributes in the view go before the ones given here.
        """
        given = {name.rstrip("_").replace("_", "-"): v for name, v in attributes.items()}
        text = "".join(content)
        if part:
            moving = dict(self.view[part])
            text = escape(str(moving.pop("text", ""))) or text
            given |= {"data-part": part} | moving
        written = "".join(
            f" {name}" if value is True else f' {name}="{escape(str(value))}"'
            for name, value in given.items()
            if value is not False and value is not None
        )
        void = " /" if tag == "input" else ""
        return f"<{tag}{written}{void}>" + ("" if void else f"{text}</{tag}>")

    def svg(self, *content: str, size: tuple[int, int], label: str, **attributes: Any) -> str:
        """Return a panel; `label` says what it shows in a few words."""
        box = f"0 0 {size[0]} {size[1]}"
        return self(
            "svg", *content, viewBox=box, role="img", aria_label=label, focusable="false",
            **attributes,
        )  # fmt: skip

    def group(self, name: str, at: tuple[float, float], label: str) -> str:
        """Return the tab stop of a group of handles, a ring about the first one of them.

        Put it last in its panel, so that the ring is drawn above all.
        """
        x, y = (fixed(value, 2) for value in at)
        ring = self("circle", class_="mlbook-live-ring", r=13, cx=x, cy=y)
        return self(
            "g", ring, class_="mlbook-live-group", data_group=name, role="group", aria_label=label
        )

    def controls(self, *content: str) -> str:
        """Return the controls of a figure, which cannot be used until it is woken."""
        inside = self("fieldset", *content, disabled=True)
        return self("form", inside, class_="mlbook-live-controls")

    def slider(self, name: str, label: str, values: tuple[float, float, float]) -> str:
        """Return a slider from `values[0]` to `values[1]` in steps of `values[2]`.

        The view has a part of its name (with the attributes "value" and "aria-valuetext") and a
        part NAME-text (the text beside it).
        """
        low, high, step = values
        range_ = self("input", part=name, type="range", name=name, min=low, max=high, step=step)
        shown = self("span", part=f"{name}-text", class_="mlbook-live-value")
        return self("label", escape(label), range_, shown, class_="mlbook-live-slider")

    def choice(self, name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
        """Return radio buttons for pairs (value, label); parts NAME-VALUE have "checked"."""
        buttons = [
            self(
                "label",
                self("input", part=f"{name}-{value}", type="radio", name=name, value=value),
                escape(text),
            )
            for value, text in options
        ]
        legend = self("span", escape(label), class_="mlbook-live-legend")
        return self(
            "span", legend, *buttons, class_="mlbook-live-choice", role="radiogroup",
            aria_label=label,
        )  # fmt: skip

    def button(self, name: str, label: str, value: str = "", **attributes: Any) -> str:
        """Return a button; "reset" and "play" are known to core.js."""
        return self("button", escape(label), type="button", name=name, value=value, **attributes)
