"""A live figure as a block of HTML for a page, or as a widget in a running notebook."""

from __future__ import annotations

import json
import os
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from book.live.markup import Draw
from mlbook._optional import need

__all__ = ["Page", "figures", "markup", "script", "show"]

HERE = Path(__file__).parent
SHARED = ("core", "wake", "widget")
"""Scripts that are no figure."""


class Page(NamedTuple):
    """A live figure in its first state, for a page: HTML without any script.

    The page loads core.js, NAME.js, wake.js and live.css; tools/live_pages.py sees to that.
    """

    name: str
    html: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<live figure {self.name}>"


def show(name: str, state: dict[str, Any]) -> Any:
    """Show a live figure in this state.

    Parameters
    ----------
    name : str
        One of `figures`.
    state : dict
        What its ``compute`` takes; JSON.

    Returns
    -------
    Page or anywidget.AnyWidget
        In a running notebook a widget: its ``state`` can be read, is renewed when the reader lets
        go of a handle, and may be set. With the environment variable ``MLBOOK_STATIC`` set to
        anything but ``0``, HTML for a page.

    Examples
    --------
    >>> from book.live.metric import first_state
    >>> show("metric", first_state())
    <live figure metric>
    """
    if os.environ.get("MLBOOK_STATIC", "0") not in ("", "0"):
        return Page(name, markup(name, state))
    return _widget_class()(name, json.loads(json.dumps(state)))


def markup(name: str, state: dict[str, Any]) -> str:
    """Return the complete first picture of a figure, with its controls and its state."""
    module = import_module(f"book.live.{name}")
    result = module.compute(state)
    body = module.body(state, result, Draw(module.view(state, result)))
    data = json.dumps(state, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<figure class="mlbook-live mlbook-live-{escape(name)}" data-live="{escape(name)}">\n'
        f"{body}\n"
        f'<script type="application/json" class="mlbook-live-state">{data}</script>\n</figure>'
    )


def figures() -> list[str]:
    """Return the names of all live figures.

    Examples
    --------
    >>> "metric" in figures()
    True
    """
    return sorted(p.stem for p in HERE.glob("*.js") if p.stem not in SHARED)


def script(*names: str) -> str:
    """Return scripts of this folder, one after the other."""
    return "\n".join((HERE / f"{name}.js").read_text(encoding="utf-8") for name in names)


@cache
def _widget_class() -> Any:
    """Make the class of the widgets, once anywidget is needed."""
    anywidget = need("anywidget", project="anywidget", extra="book")
    traitlets = need("traitlets", project="traitlets", extra="book")

    class LiveFigure(anywidget.AnyWidget):  # type: ignore[name-defined]
        """A live figure in a notebook; `state` is what it shows."""

        state = traitlets.Dict().tag(sync=True)
        _markup = traitlets.Unicode().tag(sync=True)
        _css = (HERE / "live.css").read_text(encoding="utf-8")
        _esm = ""

        def __init__(self, name: str, state: dict[str, Any]) -> None:
            self.name = name
            esm = script("core", name, "widget")
            super().__init__(state=state, _markup=markup(name, state), _esm=esm)

        @property
        def result(self) -> Any:
            """What is computed from the state."""
            return import_module(f"book.live.{self.name}").compute(self.state)

        def __repr__(self) -> str:
            return f"<live figure {self.name}>"

    return LiveFigure
