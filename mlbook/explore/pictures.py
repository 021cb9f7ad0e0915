"""Pictures of figures: drawn sharp, all those of one explorer in the same few colours."""

from __future__ import annotations

import base64
import io
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mlbook._optional import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Pixels = NDArray[np.uint8]

#: Pixels of a picture per pixel of the page, for screens with small pixels.
SHARPNESS = 2
#: Pixels of the page per inch: browsers draw an SVG of the same figure as large.
DPI = 96
#: Colours of an explorer; where they are too few, as for photographs, and the most there are.
COLORS, MOST_COLORS = 64, 256
ROUGH = 4.0  # mean squared error of the colours from which on there have to be more
# Colours every palette has, so that grey never turns brown; its most frequent colours; how far
# two of these have to be apart.
GREYS = [0x010101 * level for level in (0, 34, 68, 102, 136, 170, 204, 230, 255)]
FREQUENT = 36
APART = 8.0


def render(figure: Figure) -> Pixels:
    """Draw the whole canvas (no cropping to the ink) on white.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        `SHARPNESS` times as high and wide as on the page.
    """
    agg = need("matplotlib.backends.backend_agg", project="matplotlib", extra="notebook")
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    figure.set_dpi(SHARPNESS * DPI)
    canvas = agg.FigureCanvasAgg(figure)
    canvas.draw()
    drawn = np.asarray(canvas.buffer_rgba())
    opaque = drawn[..., 3:].astype(np.uint16)
    return ((drawn[..., :3] * opaque + 255 * (255 - opaque) + 127) // 255).astype(np.uint8)


def size_on_page(pixels: Pixels) -> tuple[int, int]:
    """Return width and height of a picture on the page."""
    height, width, _ = pixels.shape
    return round(width / SHARPNESS), round(height / SHARPNESS)


def png(pixels: Pixels) -> str:
    """Return a picture in all its colours as an address that contains it."""
    return _address("png", pixels, "RGB", compress_level=1)


class Album:
    """Pictures of one size; equal ones are kept once."""

    def __init__(self) -> None:
        self._packed: dict[bytes, int] = {}
        self._shape: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self._packed)

    def add(self, pixels: Pixels) -> int:
        """Take a picture in and return its number."""
        self._shape = pixels.shape
        # Dozens of pictures wait here until their common colours are known.
        return self._packed.setdefault(zlib.compress(pixels.tobytes(), 1), len(self._packed))

    def addresses(self) -> list[str]:
        """Return each picture in the colours of all, as an address that contains it."""
        found = [np.unique(self._codes(p), return_counts=True) for p in self._packed]
        seen, inverse = np.unique(np.concatenate([c for c, _ in found]), return_inverse=True)
        counts = np.bincount(inverse, np.concatenate([n for _, n in found]).astype(float))
        colors = palette(seen, counts)
        nearest = np.zeros(1 << 24, dtype=np.uint8)
        nearest[seen] = _nearest(seen, colors)
        shades = _channels(colors).astype(np.uint8)
        pictures = (shades[nearest[self._codes(p)]] for p in self._packed)
        return [_address("webp", p, "RGB", lossless=True, quality=60, method=4) for p in pictures]

    def _codes(self, packed: bytes) -> NDArray[np.uint32]:
        """Return the pixels of a picture as numbers 0xRRGGBB."""
        pixels = np.frombuffer(zlib.decompress(packed), dtype=np.uint8)
        red, green, blue = np.moveaxis(pixels.reshape(self._shape).astype(np.uint32), -1, 0)
        return red << 16 | green << 8 | blue


def palette(seen: NDArray[np.uint32], counts: NDArray[Any]) -> NDArray[np.uint32]:
    """Choose the colours for pictures: greys, frequent ones, then what is worst served so far.

    Parameters
    ----------
    seen : array of n numbers 0xRRGGBB
        The colours of the pictures, all different.
    counts : array of n
        How often each is there.

    Returns
    -------
    array of numbers 0xRRGGBB
        At most `COLORS`, or `MOST_COLORS` if they serve the pictures badly.

    Examples
    --------
    >>> some = palette(np.array([0xFFFFFF, 0x0072B2, 0x0072B3]), np.array([90.0, 9.0, 2.0]))
    >>> [hex(color) for color in some[len(GREYS):]]
    ['0x72b2', '0x72b3']
    """
    points = _perceived(seen)
    far = np.min(_squares(points, _perceived(np.array(GREYS))), axis=1)
    chosen: list[int] = []

    def choose(i: int) -> None:
        chosen.append(i)
        np.minimum(far, ((points - points[i]) ** 2).sum(axis=1), out=far)

    for i in np.argsort(-counts, kind="stable")[: 10 * FREQUENT]:
        if far[i] > APART**2 and len(chosen) < FREQUENT:
            choose(i)
    weight = np.sqrt(counts)
    while far.max() > 0 and len(chosen) < MOST_COLORS - len(GREYS):
        if len(chosen) >= COLORS - len(GREYS) and far @ counts < ROUGH * counts.sum():
            break
        choose(int(np.argmax(far * weight)))
    return np.concatenate([np.array(GREYS), seen[chosen]]).astype(np.uint32)


def _nearest(seen: NDArray[np.uint32], colors: NDArray[np.uint32]) -> NDArray[np.intp]:
    return np.argmin(_squares(_perceived(seen), _perceived(colors)), axis=1)


def _channels(codes: NDArray[Any]) -> NDArray[Any]:
    """Return red, green and blue of numbers 0xRRGGBB."""
    return np.stack([codes >> 16 & 255, codes >> 8 & 255, codes & 255], axis=-1)


def _perceived(codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return brightness and, of double weight, the distance from grey of colours."""
    red, green, blue = _channels(codes).astype(np.float64).T
    bright = 0.3 * red + 0.6 * green + 0.1 * blue
    return np.stack([bright, 2 * (red - bright), blue - bright], axis=1)


def _squares(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distances between two sets of points."""
    return np.maximum((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T, 0)


def _address(kind: str, pixels: Pixels, mode: str, **options: Any) -> str:
    """Return a picture as an address that contains it."""
    Image = need("PIL.Image", project="pillow", extra="notebook")
    buffer = io.BytesIO()
    Image.fromarray(pixels, mode).save(buffer, format=kind, **options)
    return f"data:image/{kind};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
