"""Figures with sliders: computed live under a kernel, precomputed in the built book.

:func:`explore` is one call with two lives. In a running notebook it is a box of
ipywidgets that redraws the figure whenever a slider moves. When the environment
variable ``MLBOOK_STATIC`` is set to anything but ``0`` (the book build sets it, and
kernels inherit it), the same call draws every state once and returns one block of
HTML: native range inputs over the drawn pictures and a few lines of JavaScript. Such
a block needs no kernel, no network and no other file, and it works from ``file://``.

The pictures are PNG with a small palette, each distinct one stored once. The block is
a pure function of the call: the same call gives the same bytes.

Matplotlib, Pillow, IPython and ipywidgets are imported when a figure is shown.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import io
import itertools
import json
import math
import os
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from mlbook._optional import need

if TYPE_CHECKING:
    from IPython.display import HTML
    from ipywidgets import VBox
    from matplotlib.figure import Figure

__all__ = ["MAX_BYTES", "MAX_STATES", "Slider", "explore"]

#: Most states (combinations of slider values) of one explorer: about a hundred.
MAX_STATES = 120
#: Largest HTML block of one explorer, in bytes.
MAX_BYTES = 1_000_000
#: Pixels per inch. At 120, the default 10-point text of a figure is as tall as body text.
DPI = 120
#: Palette size of the pictures.
COLORS = 64


@dataclass(frozen=True)
class Slider:
    """One slider of :func:`explore`, where a bare list of values does not say enough.

    Parameters
    ----------
    values : iterable
        The values in the order of the slider: two or more, all different as shown.
    label : str, optional
        What the reader sees beside the slider; by default the parameter's name.
    start : optional
        The value shown first; by default the first of `values`. It is found by the
        way it is shown, so ``start=0.3`` finds 0.30000000000000004.
    format : str or callable, optional
        How to show a value: a format specification such as ``".2f"`` or a function from
        a value to a string. By default six significant digits for a float and ``str``
        for anything else.

    Examples
    --------
    >>> Slider(range(2, 9), label="clusters k", start=3)
    Slider(values=range(2, 9), label='clusters k', start=3, format=None)
    """

    values: Iterable[Any]
    label: str | None = None
    start: Any = None
    format: str | Callable[[Any], str] | None = None


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
        the axes still, and a width of about five inches stays readable on a phone.
        A figure without a layout engine gets the constrained one.
    alt : str or callable
        Text that stands for the picture: a string, in which ``{name}`` is replaced by the
        value of that slider as shown (``{name:.1f}`` formats it), or a function of the
        slider values returning a string. Literal braces are doubled.
    **sliders : iterable or Slider
        For each moving parameter of `figure_function`, its values, or a :class:`Slider`
        that also carries a label, a start value and a number format.

    Returns
    -------
    ipywidgets.VBox or IPython.display.HTML
        Live: one ``SelectionSlider`` per parameter, then the picture; only the state
        shown is computed. With ``MLBOOK_STATIC`` set: the block of HTML.

    Raises
    ------
    ValueError
        If the sliders do not fit the signature of `figure_function`, a slider has fewer
        than two values, two that look the same or a start outside its values, the
        grid has more than ``MAX_STATES`` states, `figure_function` returns anything but
        a Figure or (Figure, caption), states differ in size, `alt` is empty
        or cannot be formatted, or the block is larger than ``MAX_BYTES``.

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
    controls = _controls(figure_function, sliders)
    if not callable(alt) and not (isinstance(alt, str) and alt.strip()):
        raise ValueError(f"alt must be a non-empty string or a callable, got {alt!r}")

    def draw(positions: Sequence[int]) -> _State:
        return _draw(figure_function, alt, controls, positions)

    if os.environ.get("MLBOOK_STATIC", "0") not in ("", "0"):
        display = need("IPython.display", project="ipython", extra="notebook")
        return display.HTML(_static_block(draw, controls))
    return _live_box(draw, controls)


@dataclass(frozen=True)
class _Control:
    """A validated slider: its values, how each is shown and the start position."""

    name: str
    label: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class _State:
    """What the reader sees at one position of the sliders."""

    png: bytes
    size: tuple[int, int]
    alt: str
    caption: str


@dataclass(frozen=True)
class _Shown:
    """A value that ``str.format`` writes the way its slider shows it, unless told otherwise."""

    value: Any
    text: str

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else self.text


def _controls(
    figure_function: Callable[..., Any], sliders: Mapping[str, Slider | Iterable[Any]]
) -> list[_Control]:
    """Validate the sliders against each other, the signature and the limit on states."""
    if not callable(figure_function):
        raise ValueError(f"figure_function must be callable, got {figure_function!r}")
    if not sliders:
        raise ValueError("explore needs at least one slider, such as k=[2, 3, 4]")
    try:
        signature = inspect.signature(figure_function)
    except ValueError as error:
        raise ValueError(f"figure_function must have a signature; {error}") from error
    try:
        signature.bind(**dict.fromkeys(sliders))
    except TypeError as error:
        raise ValueError(
            f"the sliders {list(sliders)} do not fit figure_function, "
            f"whose parameters are {list(signature.parameters)}: {error}"
        ) from error
    controls = [_control(name, given) for name, given in sliders.items()]
    n_states = math.prod(len(c.values) for c in controls)
    if n_states > MAX_STATES:
        grid = " × ".join(f"{len(c.values)} ({c.name})" for c in controls)
        raise ValueError(
            f"the sliders make {n_states} states, {grid}; the limit is {MAX_STATES}, because "
            "the built book draws and stores every one: use fewer values or fewer sliders"
        )
    return controls


def _control(name: str, given: Slider | Iterable[Any]) -> _Control:
    """Validate one slider."""
    slider = given if isinstance(given, Slider) else Slider(given)
    if isinstance(slider.values, str | bytes | set | frozenset) or not isinstance(
        slider.values, Iterable
    ):
        raise ValueError(
            f"slider {name!r} must be a Slider or an ordered collection of values, "
            f"got {slider.values!r}"
        )
    values = tuple(v.item() if isinstance(v, np.generic) else v for v in slider.values)
    if len(values) < 2:
        raise ValueError(f"slider {name!r} needs at least two values, got {list(values)}")
    texts = tuple(_text(name, v, slider.format) for v in values)
    twice = next((t for t in texts if texts.count(t) > 1), None)
    if twice is not None:
        same = [v for v, t in zip(values, texts, strict=True) if t == twice]
        raise ValueError(
            f"slider {name!r} shows {same} all as {twice!r}: the values must differ "
            "and Slider(format=...) must tell them apart"
        )
    start = texts[0] if slider.start is None else _text(name, slider.start, slider.format)
    if start not in texts:
        raise ValueError(f"slider {name!r} starts at {slider.start!r}, not in {list(values)}")
    label = name.replace("_", " ") if slider.label is None else slider.label
    return _Control(name, label, values, texts, texts.index(start))


def _text(name: str, value: Any, spec: str | Callable[[Any], str] | None) -> str:
    """Return `value` as the slider `name` shows it."""
    if callable(spec):
        return str(spec(value))
    if spec is None:
        return f"{value:g}" if isinstance(value, float) else str(value)
    try:
        return format(value, spec)
    except (TypeError, ValueError) as error:
        raise ValueError(f"slider {name!r}: format {spec!r} on {value!r}: {error}") from error


def _draw(
    figure_function: Callable[..., Any],
    alt: str | Callable[..., str],
    controls: Sequence[_Control],
    positions: Sequence[int],
) -> _State:
    """Call `figure_function` at one position; leave no figure open, whatever happens."""
    plt = need("matplotlib.pyplot", project="matplotlib", extra="notebook")
    at = list(zip(controls, positions, strict=True))
    values = {c.name: c.values[p] for c, p in at}
    was_open = set(plt.get_fignums())
    try:
        with plt.ioff():
            result = figure_function(**values)
        pair = result if isinstance(result, tuple) else (result, None)
        match pair:
            case (plt.Figure() as figure, str() | None as caption):
                plt.close(figure)
                png, size = _render(figure)
            case _:
                raise ValueError(
                    "figure_function must return a matplotlib Figure or a tuple "
                    f"(Figure, caption), got {result!r} for {values}"
                )
    finally:
        for number in set(plt.get_fignums()) - was_open:
            plt.close(number)
    if callable(alt):
        text = alt(**values)
    else:
        try:
            text = alt.format(**{c.name: _Shown(c.values[p], c.texts[p]) for c, p in at})
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(
                f"alt={alt!r} cannot be formatted with the sliders {list(values)} "
                f"({type(error).__name__}: {error}); write literal braces twice"
            ) from error
    if not (isinstance(text, str) and text.strip()):
        raise ValueError(f"alt must give a non-empty string, got {text!r} for {values}")
    if caption is None:
        caption = ", ".join(f"{c.label} = {c.texts[p]}" for c, p in at)
    return _State(png, size, text, caption)


def _render(figure: Figure) -> tuple[bytes, tuple[int, int]]:
    """Draw the whole canvas (no cropping to the ink) as a palette PNG on white."""
    agg = need("matplotlib.backends.backend_agg", project="matplotlib", extra="notebook")
    Image = need("PIL.Image", project="pillow", extra="notebook")
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    figure.set_dpi(DPI)
    canvas = agg.FigureCanvasAgg(figure)
    canvas.draw()
    drawn = Image.fromarray(np.asarray(canvas.buffer_rgba()))
    opaque = Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), drawn)
    # Maximum coverage keeps rare colours (a few points on much white) that median cut merges.
    small = opaque.convert("RGB").quantize(
        COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    buffer = io.BytesIO()
    small.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue(), drawn.size


def _check_size(state: _State, expected: _State) -> None:
    """Refuse a picture that would make the page jump."""
    if state.size != expected.size:
        raise ValueError(
            "figure_function must give every state the same figure size, got "
            f"{state.size} and {expected.size} pixels at {DPI} dpi"
        )


def _base64(png: bytes) -> str:
    return base64.b64encode(png).decode("ascii")


def _figure_html(state: _State, controls: str = "", longest: str = "", script: str = "") -> str:
    """Return the ``<figure>`` both lives share; the last three belong to the built book."""
    width, height = state.size
    return (
        f'<figure class="mlbook-explore" style="max-width:max({width}px + 1rem, 24rem)">'
        f"<style>{_STYLE}</style>{controls}"
        f'<img src="data:image/png;base64,{_base64(state.png)}" width="{width}" '
        f'height="{height}" alt="{escape(state.alt)}" decoding="sync">'
        f'<figcaption data-longest="{escape(longest)}">'
        f'<span aria-live="polite" aria-atomic="true">{escape(state.caption)}</span>'
        f"{script}</figcaption></figure>"
    )


def _static_block(draw: Callable[[Sequence[int]], _State], controls: Sequence[_Control]) -> str:
    """Draw every state, the last slider fastest, and return the self-contained block."""
    grid = list(itertools.product(*(range(len(c.values)) for c in controls)))
    states = [draw(positions) for positions in grid]
    first = states[grid.index(tuple(c.start for c in controls))]
    for state in states:
        _check_size(state, first)
    # The first picture is the <img> itself and is not stored again.
    order = dict.fromkeys([first.png, *(s.png for s in states)])
    index = {png: i for i, png in enumerate(order)}
    data = {
        "texts": [c.texts for c in controls],
        "pictures": [_base64(png) for png in order][1:],
        "states": [(index[s.png], s.alt, s.caption) for s in states],
    }
    payload = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    labels = repr([c.label for c in controls])
    digest = hashlib.sha256((labels + payload).encode() + first.png).hexdigest()[:12]
    rows = "".join(_row(f"mlbook-explore-{digest}-{i}", c) for i, c in enumerate(controls))
    block = _figure_html(
        first,
        controls=f'<div class="mlbook-explore-controls" hidden>{rows}</div>',
        longest=max((s.caption for s in states), key=len),
        script=(
            "<noscript>The sliders of this figure need JavaScript.</noscript>"
            f'<script type="application/json">{payload}</script><script>{_SCRIPT}</script>'
        ),
    )
    n_bytes = len(block.encode())
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"the explorer takes {n_bytes / 1e6:.2f} MB for {len(states)} states "
            f"({len(order)} different pictures of {len(payload) / len(order) / 1e3:.0f} kB); the "
            f"limit is {MAX_BYTES / 1e6:g} MB: use fewer values, a smaller figure or fewer marks"
        )
    return block


def _row(identifier: str, control: _Control) -> str:
    """Return label, range input and shown value of one slider."""
    text = escape(control.texts[control.start])
    room = max(map(len, control.texts))
    return (
        f'<label for="{identifier}">{escape(control.label)}</label>'
        f'<input type="range" id="{identifier}" min="0" max="{len(control.texts) - 1}" step="1" '
        f'value="{control.start}" aria-valuetext="{text}" autocomplete="off">'
        # The value is spoken through aria-valuetext; an <output> would announce it again.
        f'<output for="{identifier}" aria-hidden="true" style="min-width:{room}ch">{text}</output>'
    )


def _live_box(draw: Callable[[Sequence[int]], _State], controls: Sequence[_Control]) -> VBox:
    """Return the sliders over a picture that is redrawn when one of them moves."""
    widgets = need("ipywidgets", project="ipywidgets", extra="notebook")
    first = draw([c.start for c in controls])
    sliders = [
        widgets.SelectionSlider(
            options=list(zip(c.texts, c.values, strict=True)),
            index=c.start,
            description=c.label,
            style={"description_width": "initial"},
            layout={"width": "100%", "max_width": f"max({first.size[0]}px, 24rem)"},
        )
        for c in controls
    ]
    picture = widgets.HTML(_figure_html(first))

    def redraw(_change: object) -> None:
        try:
            state = draw([s.index for s in sliders])
            _check_size(state, first)
            picture.value = _figure_html(state)
        except Exception:  # an exception in a widget callback would vanish in the kernel's log
            at = ", ".join(f"{c.name}={s.value!r}" for c, s in zip(controls, sliders, strict=True))
            report = f"figure_function failed at {at}\n\n{traceback.format_exc()}"
            picture.value = f'<pre role="alert">{escape(report)}</pre>'

    for slider in sliders:
        slider.observe(redraw, names="index")
    return widgets.VBox([*sliders, picture])


# Text and controls inherit the page's colours; the picture is a white card in light and dark.
# The last rules undo the light panel that the book's theme puts under HTML outputs when dark.
_STYLE = """
.mlbook-explore { margin: 1rem 0; padding: 0; color: inherit; }
.mlbook-explore-controls {
  display: grid; grid-template-columns: auto 1fr auto; align-items: center; gap: 4px 1rem;
}
.mlbook-explore-controls[hidden] { display: none; }
.mlbook-explore-controls label { margin: 0; }
.mlbook-explore-controls output {
  padding: 0; text-align: right; font-variant-numeric: tabular-nums;
}
.mlbook-explore-controls input {
  width: calc(100% - 8px); min-width: 0; height: 44px; margin: 0 4px; padding: 0;
  color: inherit; accent-color: #2f7fd0; cursor: pointer;
}
.mlbook-explore-controls input:focus-visible {
  outline: 2px solid currentColor; outline-offset: 2px; border-radius: 4px;
}
@media (max-width: 30rem) {
  .mlbook-explore-controls { grid-template-columns: 1fr auto; grid-auto-flow: dense; }
  .mlbook-explore-controls input { grid-column: 1 / -1; }
}
.mlbook-explore img {
  display: block; box-sizing: content-box; max-width: calc(100% - 1rem); height: auto;
  margin: 0; padding: .5rem; background: #fff; border-radius: 8px;
}
.mlbook-explore figcaption {
  display: grid; margin: .5rem 0 0; padding: 0; color: inherit; text-align: left;
}
.mlbook-explore figcaption > span { grid-area: 1 / 1; }
.mlbook-explore figcaption::before {
  content: attr(data-longest); grid-area: 1 / 1; visibility: hidden;
}
html[data-theme="dark"] .bd-content div.cell_output .text_html:has(figure.mlbook-explore) {
  padding: 0; color: inherit; background: none;
}
html[data-theme="dark"] .bd-content div.cell_output .mlbook-explore img {
  background: #fff; border-radius: 8px;
}
"""

# Every block brings the script; each run wakes the blocks still hidden, so repeats do no harm.
_SCRIPT = """
for (const controls of document.querySelectorAll(".mlbook-explore-controls[hidden]")) {
  const root = controls.closest("figure");
  const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const image = root.querySelector("img");
  const caption = root.querySelector("[aria-live]");
  const pictures = [image.src, ...data.pictures.map((code) => "data:image/png;base64," + code)];
  const inputs = [...controls.querySelectorAll("input")];

  for (const input of inputs) {  // the same explorer twice on one page: keep the ids apart
    while (document.getElementById(input.id) !== input) input.id += "-again";
    input.previousElementSibling.htmlFor = input.nextElementSibling.htmlFor = input.id;
  }

  const show = () => {
    let position = 0;
    inputs.forEach((input, i) => {
      const text = data.texts[i][input.value];
      input.setAttribute("aria-valuetext", text);
      input.nextElementSibling.value = text;
      position = position * data.texts[i].length + Number(input.value);
    });
    const [picture, alt, words] = data.states[position];
    image.src = pictures[picture];
    image.alt = alt;
    if (caption.textContent !== words) caption.textContent = words;
  };

  controls.addEventListener("input", show);
  window.addEventListener("pageshow", show);  // a browser may restore sliders after going back
  controls.hidden = false;
  show();
}
"""
