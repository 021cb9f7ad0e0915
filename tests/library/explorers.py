"""What the tests of explore() share: a figure to show, and how to read the HTML of an explorer."""

from __future__ import annotations

import base64
import io
import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bar(sigma: float, k: int = 2) -> tuple[Figure, str]:
    """A picture that differs in every state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    figure.subplots().bar(range(k), [sigma] * k)
    return figure, f"σ = {sigma:.2f} and k = {k}"


class Page(HTMLParser):
    """Elements in order as (tag, attributes), and the text inside each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, list[str]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.setdefault(self.elements[-1][0], []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(next(t for t in self.text["script"] if t.startswith("{")))


def decode(uri: str) -> Any:
    from PIL import Image

    start, _, code = uri.partition(";base64,")
    assert start in ("data:image/png", "data:image/webp")
    return Image.open(io.BytesIO(base64.b64decode(code)))
