"""An explorer as HTML: controls over one picture, with all others and the script in the block."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files

from mlbook.explore.controls import Control
from mlbook.explore.pictures import Album, size_on_page
from mlbook.explore.states import State, check_size

#: Largest HTML block of one explorer, pictures included, in bytes.
MAX_BYTES = 1_500_000
#: The folder with the two files that make a block work; every block contains them.
ASSETS = files("mlbook.explore") / "assets"
SCRIPT = (ASSETS / "explore.js").read_text(encoding="utf-8")
STYLE = (ASSETS / "explore.css").read_text(encoding="utf-8")


def figure_html(
    state: State, picture: str, controls: str = "", longest: str = "", script: str = ""
) -> str:
    """Return the ``<figure>`` both lives share; the last three belong to the built book."""
    width, height = size_on_page(state.pixels)
    return (
        f'<figure class="mlbook-explore" style="max-width:max({width}px + 1rem, 24rem)">'
        f"<style>{STYLE}</style>{controls}"
        f'<img src="{picture}" width="{width}" height="{height}" alt="{escape(state.alt)}">'
        f'<figcaption data-longest="{escape(longest)}">'
        f'<span aria-live="polite" aria-atomic="true">{escape(state.caption)}</span>'
        f"{script}</figcaption></figure>"
    )


def static_block(draw: Callable[[Sequence[int]], State], controls: Sequence[Control]) -> str:
    """Draw every state, the last control fastest, and return the block that needs nothing else."""
    start = tuple(control.start for control in controls)
    first = draw(start)
    album = Album()
    album.add(first.pixels)  # number 0, the <img> itself
    states = []
    for places in itertools.product(*(range(len(c.values)) for c in controls)):
        state = first if places == start else draw(places)
        check_size(state, first)
        states.append((album.add(state.pixels), state.alt, state.caption))
    shown, *others = album.addresses()
    data = {"texts": [c.texts for c in controls], "pictures": others, "states": states}
    payload = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    labels = repr([c.label for c in controls])
    digest = hashlib.sha256((labels + payload + shown).encode()).hexdigest()[:12]
    rows = "".join(_row(f"mlbook-explore-{digest}-{i}", c) for i, c in enumerate(controls))
    block = figure_html(
        first,
        shown,
        controls=f'<div class="mlbook-explore-controls" hidden>{rows}</div>',
        longest=max((caption for *_, caption in states), key=len),
        script=(
            "<noscript>To move this figure, allow JavaScript.</noscript>"
            f'<script type="application/json">{payload}</script><script>{SCRIPT}</script>'
        ),
    )
    n_bytes = len(block.encode())
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"the explorer takes {n_bytes / 1e6:.2f} MB for {len(states)} states "
            f"({len(album)} different pictures of {len(payload) / len(album) / 1e3:.0f} kB); the "
            f"limit is {MAX_BYTES / 1e6:g} MB: use fewer values, a smaller figure or fewer marks"
        )
    return block


def _row(identifier: str, control: Control) -> str:
    """Return the label of a control with its buttons, or with its slider and the value shown."""
    label, choose = escape(control.label), _choices if control.is_choice else _track
    return f'<div class="mlbook-explore-control">{choose(identifier, label, control)}</div>'


def _choices(identifier: str, label: str, control: Control) -> str:
    """Return a group of radio buttons."""
    buttons = "".join(
        f'<label><input type="radio" name="{identifier}" autocomplete="off"'
        f"{' checked' * (i == control.start)}><span>{escape(text)}</span></label>"
        for i, text in enumerate(control.texts)
    )
    return (
        f'<span id="{identifier}">{label}</span><div class="mlbook-explore-choices" '
        f'role="radiogroup" aria-labelledby="{identifier}">{buttons}</div>'
    )


def _track(identifier: str, label: str, control: Control) -> str:
    """Return a range input, with a button that moves it if it can be played."""
    text = escape(control.texts[control.start])
    room = max(map(len, control.texts))
    button = '<button type="button">Play</button>' * control.play
    return (
        f'<label for="{identifier}">{label}</label><span class="mlbook-explore-track">{button}'
        f'<input type="range" id="{identifier}" min="0" max="{len(control.texts) - 1}" step="1" '
        f'value="{control.start}" aria-valuetext="{text}" autocomplete="off"></span>'
        # The value is spoken through aria-valuetext; an <output> would announce it again.
        f'<output for="{identifier}" aria-hidden="true" style="min-width:{room}ch">{text}</output>'
    )
