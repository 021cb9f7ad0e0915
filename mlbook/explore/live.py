"""An explorer in a running notebook: widgets over a picture that is drawn when one is moved."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from mlbook._optional import need
from mlbook.explore.controls import Control
from mlbook.explore.page import figure_html
from mlbook.explore.pictures import png, size_on_page
from mlbook.explore.states import State, check_size

if TYPE_CHECKING:
    from ipywidgets import VBox, Widget


def live_box(draw: Callable[[Sequence[int]], State], controls: Sequence[Control]) -> VBox:
    """Return the controls over a picture that is redrawn when one of them moves."""
    widgets = need("ipywidgets", project="ipywidgets", extra="notebook")
    first = draw([c.start for c in controls])
    width = f"max({size_on_page(first.pixels)[0]}px, 24rem)"
    movers = [_mover(widgets, control, width) for control in controls]
    picture = widgets.HTML(figure_html(first, png(first.pixels)))

    def redraw(_change: object) -> None:
        try:
            state = draw([mover.index for mover in movers])
            check_size(state, first)
            picture.value = figure_html(state, png(state.pixels))
        except Exception:  # an exception in a widget callback would vanish in the kernel's log
            at = ", ".join(f"{c.name}={m.value!r}" for c, m in zip(controls, movers, strict=True))
            report = f"figure_function failed at {at}\n\n{traceback.format_exc()}"
            picture.value = f'<pre role="alert">{escape(report)}</pre>'

    for mover in movers:
        mover.observe(redraw, names="index")
    rows = [_with_player(widgets, m, c) for m, c in zip(movers, controls, strict=True)]
    return widgets.VBox([*rows, picture])


def _mover(widgets: Any, control: Control, width: str) -> Widget:
    """Return the buttons or the slider of a control."""
    if control.is_choice:
        kind, style = widgets.ToggleButtons, {"button_width": "auto"}
    else:
        kind, style = widgets.SelectionSlider, {}
    return kind(
        options=list(zip(control.texts, control.values, strict=True)),
        index=control.start,
        description=control.label,
        style={"description_width": "initial", **style},
        layout={"width": "100%", "max_width": width},
    )


def _with_player(widgets: Any, mover: Widget, control: Control) -> Widget:
    """Put the buttons that move a slider before it, if it can be played."""
    if not control.play:
        return mover
    player = widgets.Play(value=control.start, max=len(control.values) - 1, interval=700)
    widgets.link((player, "value"), (mover, "index"))
    return widgets.HBox([player, mover])
