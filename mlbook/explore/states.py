"""What the reader sees: the picture, its words and its caption at one place of the controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlbook._optional import need
from mlbook.explore.controls import Control
from mlbook.explore.pictures import Pixels, render, size_on_page


@dataclass(frozen=True)
class State:
    """What the reader sees at one place of the controls."""

    pixels: Pixels
    alt: str
    caption: str


@dataclass(frozen=True)
class _Shown:
    """A value that ``str.format`` writes the way its slider shows it, unless told otherwise."""

    value: Any
    text: str

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else self.text


def draw(
    figure_function: Callable[..., Any],
    alt: str | Callable[..., str],
    controls: Sequence[Control],
    places: Sequence[int],
) -> State:
    """Call `figure_function` at one place; leave no figure open, whatever happens."""
    plt = need("matplotlib.pyplot", project="matplotlib", extra="notebook")
    at = list(zip(controls, places, strict=True))
    values = {c.name: c.values[p] for c, p in at}
    was_open = set(plt.get_fignums())
    try:
        with plt.ioff():
            result = figure_function(**values)
        pair = result if isinstance(result, tuple) else (result, None)
        match pair:
            case (plt.Figure() as figure, str() | None as caption):
                plt.close(figure)
                pixels = render(figure)
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
    return State(pixels, text, caption)


def check_size(state: State, expected: State) -> None:
    """Refuse a picture that would make the page jump."""
    size, first = size_on_page(state.pixels), size_on_page(expected.pixels)
    if size != first:
        raise ValueError(
            f"figure_function must give every state the same figure size, got {size} and {first} "
            "pixels on the page"
        )
