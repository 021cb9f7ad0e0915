"""What the reader can move: sliders, and buttons for choices, checked before anything is drawn."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Most states (combinations of values) of one explorer: three sliders of five values.
MAX_STATES = 125


@dataclass(frozen=True)
class Slider:
    """One control of :func:`explore`, where a bare list of values does not say enough.

    Values that are all strings are a choice: a row of buttons. All others are a slider.

    Parameters
    ----------
    values : iterable
        The values in their order: two or more, all different as shown.
    label : str, optional
        What the reader sees beside the control; by default the parameter's name.
    start : optional
        The value shown first; by default the first of `values`. It is found by the
        way it is shown, so ``start=0.3`` finds 0.30000000000000004.
    format : str or callable, optional
        How to show a value: a format specification such as ``".2f"`` or a function from
        a value to a string. By default six significant digits for a float and ``str``
        for anything else.
    play : bool, default=False
        Whether a button beside the slider moves it through its values, step by step: for the
        steps of an algorithm.

    Examples
    --------
    >>> Slider(range(2, 9), label="clusters k", start=3)
    Slider(values=range(2, 9), label='clusters k', start=3, format=None, play=False)
    """

    values: Iterable[Any]
    label: str | None = None
    start: Any = None
    format: str | Callable[[Any], str] | None = None
    play: bool = False


@dataclass(frozen=True)
class Control:
    """A validated control: its values, how each is shown and which is shown first."""

    name: str
    label: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: int
    play: bool

    @property
    def is_choice(self) -> bool:
        """Whether the values have no order but names: buttons instead of a slider."""
        return all(isinstance(value, str) for value in self.values)


def check_controls(
    figure_function: Callable[..., Any], sliders: Mapping[str, Slider | Iterable[Any]]
) -> list[Control]:
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


def _control(name: str, given: Slider | Iterable[Any]) -> Control:
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
    control = Control(name, label, values, texts, texts.index(start), slider.play)
    if control.play and control.is_choice:
        raise ValueError(f"slider {name!r} cannot play: its values {list(values)} are a choice")
    return control


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
