"""The pictures of an explorer: nothing is cut off, and all are in the same few colours."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from explorers import Page, decode

from mlbook.explore import explore
from mlbook.explore.pictures import DPI, GREYS, MOST_COLORS, SHARPNESS, Album, size_on_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytestmark = [pytest.mark.book, pytest.mark.usefixtures("drawing")]


def test_equal_pictures_are_kept_once_and_come_back_in_their_colours() -> None:
    red, blue = (np.full((6, 10, 3), color, np.uint8) for color in ((213, 94, 0), (0, 114, 178)))
    album = Album()
    assert [album.add(picture) for picture in (red, blue, red.copy())] == [0, 1, 0]
    assert len(album) == 2 and size_on_page(red) == (5, 3)
    for address, picture in zip(album.addresses(), (red, blue), strict=True):
        assert np.array_equal(np.asarray(decode(address).convert("RGB")), picture)


def test_labels_are_inside_the_picture_and_colours_survive(static: None) -> None:
    import matplotlib.pyplot as plt
    from PIL import Image

    def draw(a: int) -> Figure:
        figure, axes = plt.subplots(figsize=(3, 2), facecolor="none")
        axes.imshow(np.arange(400.0).reshape(20, 20), cmap="viridis")
        axes.plot([10], [10], "o", color="#ff0000", markersize=4)
        axes.set_ylabel("a tall label\nof two lines", fontsize=16)
        axes.set_xlabel("below", fontsize=20)
        return figure

    image = decode(Page(explore(draw, alt="labels", a=[1, 2]).data).all("img")[0]["src"])
    pixels = np.asarray(image.convert("RGB")).astype(int)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) <= MOST_COLORS
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (border == 255).all()

    figure = draw(1)
    figure.set_layout_engine("constrained")
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=SHARPNESS * DPI, facecolor="white")
    plt.close(figure)
    assert np.abs(pixels - np.asarray(Image.open(buffer).convert("RGB"))).max() <= 40


def test_all_states_share_one_palette_and_grey_stays_grey(static: None) -> None:
    """A colour that is rare in one state and frequent in another looks the same in both."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    def draw(a: int) -> Figure:
        figure = Figure(figsize=(3, 2))
        axes = figure.subplots()
        axes.imshow(np.arange(900.0).reshape(30, 30) ** (1 + a / 9), cmap="plasma")
        axes.set(xticks=[], yticks=[])
        figure.patches.extend(
            [
                plt.Rectangle((0, 0), 0.1 * a, 0.1, color="#7f7f7f", transform=figure.transFigure),
                plt.Rectangle((0.9, 0), 0.1, 0.1, color="#d55e00", transform=figure.transFigure),
            ]
        )
        return figure

    page = Page(explore(draw, alt="{a}", a=range(1, 9)).data)
    uris = [page.all("img")[0]["src"], *page.data["pictures"]]
    pictures = [np.asarray(decode(uri).convert("RGB")).astype(int) for uri in uris]
    used = np.unique(np.concatenate([p.reshape(-1, 3) for p in pictures]), axis=0)
    assert len(GREYS) < len(used) <= MOST_COLORS
    corners = np.array([[p[-5, 5], p[-5, -5]] for p in pictures])
    assert (corners == corners[0]).all()
    assert np.abs(corners[0] - [[0x7F] * 3, [0xD5, 0x5E, 0]]).max() <= 4
    assert np.ptp(corners[0, 0]) == 0
