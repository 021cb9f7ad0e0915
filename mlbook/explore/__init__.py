"""Figures the reader can move: computed live under a kernel, drawn beforehand in the built book.

:func:`explore` is one call with two lives. In a running notebook it is a box of ipywidgets that
redraws the figure whenever a control moves. When the environment variable ``MLBOOK_STATIC`` is
set to anything but ``0`` (the book build sets it, and kernels inherit it), the same call draws
every state once and returns one block of HTML: native range inputs and radio buttons over a
picture, all the other pictures, and a few lines of JavaScript. Such a block needs no kernel, no
network and no other file. It works from ``file://``, and you may copy it into a page of your own.

The book's own pages would be heavy with it. Their build takes the pictures and the script out
of the block and puts them into files, which a browser loads when they are wanted
(``tools/explorer_pages.py``).

The pictures are WebP, sharp on screens with small pixels. All states of an explorer share one
small palette, and each distinct picture is there once. The block is a pure function of the
call: the same call gives the same bytes.

Matplotlib, Pillow, IPython and ipywidgets are imported when a figure is shown.

The files of this room:

- ``controls.py``: `Slider`, and what is asked of the controls before anything is drawn;
- ``states.py``: one call of the figure function: picture, alternative text, caption;
- ``pictures.py``: pixels, the shared palette, WebP and PNG;
- ``page.py``: the block of HTML; ``assets`` has its script and its style;
- ``live.py``: the widgets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mlbook._optional import need
from mlbook.explore.controls import MAX_STATES, Slider, check_controls
from mlbook.explore.live import live_box
from mlbook.explore.page import MAX_BYTES, static_block
from mlbook.explore.states import State, draw

if TYPE_CHECKING:
    from IPython.display import HTML
    from ipywidgets import VBox
    from matplotlib.figure import Figure

__all__ = ["MAX_BYTES", "MAX_STATES", "Slider", "explore"]


def explore(
    figure_function: Callable[..., Figure | tuple[Figure, str]],
    *,
    alt: str | Callable[..., str],
    **sliders: Slider | Iterable[Any],
) -> HTML | VBox:
    """Show a figure whose parameters the reader can move.

    Write the call as the last line of a cell.

    Parameters
    ----------
    figure_function : callable
        Called with one keyword argument per slider. Returns a matplotlib Figure, or a
        tuple of a Figure and a caption that states the numbers of this state. The figure
        is closed here. All states must have the same figure size; fixed axis limits keep
        the axes still. A width of 5.6 inches stays readable on a phone.
        A figure without a layout engine gets the constrained one.
    alt : str or callable
        Text that stands for the picture: a string, in which ``{name}`` is replaced by the
        value of that slider as shown (``{name:.1f}`` formats it), or a function of the
        slider values returning a string. Literal braces are doubled.
    **sliders : iterable or Slider
        For each moving parameter of `figure_function`, its values, or a :class:`Slider`
        that also carries a label, a start value, a number format and a play button. Values
        that are all strings become buttons, all others a slider.

    Returns
    -------
    ipywidgets.VBox or IPython.display.HTML
        Live: one ``SelectionSlider`` or ``ToggleButtons`` per parameter, then the picture;
        only the state shown is computed. With ``MLBOOK_STATIC`` set: the block of HTML.

    Raises
    ------
    ValueError
        If the sliders do not fit the signature of `figure_function`, a slider has fewer
        than two values, two that look the same or a start outside its values, a choice is
        to be played, the grid has more than ``MAX_STATES`` states, `figure_function` returns
        anything but a Figure or (Figure, caption), states differ in size, `alt` is empty or
        cannot be formatted, or the block is larger than ``MAX_BYTES``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> def line(slope):
    ...     figure = Figure(figsize=(3, 2))
    ...     figure.subplots().plot([0, 1], [0, slope])
    ...     return figure, f"rises by {slope}"
    >>> box = explore(line, alt="A line of slope {slope}", slope=[1, 2, 3])
    >>> box.children[0].value = 2
    >>> "A line of slope 2" in box.children[1].value
    True
    """
    controls = check_controls(figure_function, sliders)
    if not callable(alt) and not (isinstance(alt, str) and alt.strip()):
        raise ValueError(f"alt must be a non-empty string or a callable, got {alt!r}")

    def draw_at(places: Sequence[int]) -> State:
        return draw(figure_function, alt, controls, places)

    if os.environ.get("MLBOOK_STATIC", "0") not in ("", "0"):
        display = need("IPython.display", project="ipython", extra="notebook")
        return display.HTML(static_block(draw_at, controls))
    return live_box(draw_at, controls)
