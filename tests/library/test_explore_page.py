"""The block of HTML that an explorer is in the built book."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from explorers import Page, bar, decode

from mlbook.explore import Slider, explore
from mlbook.explore import page as page_module

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytestmark = [pytest.mark.book, pytest.mark.usefixtures("drawing")]


def test_refuses_a_heavy_block(static: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MAX_BYTES", 6_000)
    with pytest.raises(ValueError, match=r"0\.01 MB for 3 states \(3 different .*0\.006 MB"):
        explore(bar, alt="bars", sigma=[1, 2, 3])


def test_block_is_accessible_without_a_script(static: None) -> None:
    sigma = Slider(np.linspace(0.1, 0.5, 5), label="noise σ", start=0.3)
    page = Page(explore(bar, alt="{k} bars of {sigma}, {sigma:.2f}", sigma=sigma, k=[1, 2]).data)
    assert page.elements[0][0] == "figure"
    inputs, labels, outputs = page.all("input"), page.all("label"), page.all("output")
    ids = [i["id"] for i in inputs]
    assert len(set(ids)) == 2
    assert ids == [i["for"] for i in labels] == [o["for"] for o in outputs]
    assert page.text["label"] == ["noise σ", "k"]
    assert page.text["output"] == ["0.3", "1"]
    first = inputs[0]
    assert (first["type"], first["min"], first["max"], first["step"]) == ("range", "0", "4", "1")
    assert (first["value"], first["aria-valuetext"], first["autocomplete"]) == ("2", "0.3", "off")
    (image,) = page.all("img")
    assert image["alt"] == "1 bars of 0.3, 0.30"
    assert (image["width"], image["height"]) == ("192", "96")
    assert decode(image["src"]).size == (384, 192)
    (caption,) = (a for t, a in page.elements if "aria-live" in a)
    assert caption["aria-live"] == "polite"
    assert page.text["span"] == ["σ = 0.30 and k = 1"]
    assert page.text["noscript"]
    assert not re.search(r"(src|href)=\"(?!data:)", explore(bar, alt="x", sigma=[1, 2]).data)


def test_states_are_in_slider_order_and_pictures_stored_once(static: None) -> None:
    from matplotlib.figure import Figure

    def even(a: int, b: int) -> Figure:
        figure = Figure(figsize=(2, 1))
        figure.text(0.5, 0.5, str((a + b) % 2))
        return figure

    page = Page(explore(even, alt="{a}{b}", a=Slider([0, 1, 2], start=1), b=[0, 1]).data)
    states = page.data["states"]
    assert [alt for _, alt, _ in states] == ["00", "01", "10", "11", "20", "21"]
    assert [caption for *_, caption in states][3] == "a = 1, b = 1"
    assert [picture for picture, *_ in states] == [1, 0, 0, 1, 1, 0]
    assert len(page.data["pictures"]) == 1
    assert page.data["texts"] == [["0", "1", "2"], ["0", "1"]]


def test_same_call_same_bytes_and_no_metadata(static: None) -> None:
    blocks = [explore(bar, alt="bars", sigma=[0.5, 1.0], k=[1, 2]).data for _ in range(2)]
    assert blocks[0] == blocks[1]
    other = explore(bar, alt="bars", sigma=Slider([0.5, 1.0], label="s"), k=[1, 2]).data
    assert Page(blocks[0]).all("input")[0]["id"] != Page(other).all("input")[0]["id"]
    webp = base64.b64decode(Page(blocks[0]).data["pictures"][0].partition(",")[2])
    assert webp[8:16] == b"WEBPVP8L"  # the picture alone, lossless


def test_strings_are_a_row_of_buttons(static: None) -> None:
    def draw(method: str, k: int) -> tuple[Figure, str]:
        return bar(k)[0], f"{method}, {k}"

    way = Slider(["plain", "learned"], label="the map", start="learned")
    page = Page(explore(draw, alt="{method}", method=way, k=[1, 2]).data)
    one, two, slider = page.all("input")
    assert one["type"] == two["type"] == "radio"
    assert one["name"] == two["name"] != slider["id"]
    assert [("checked" in i) for i in (one, two)] == [False, True]
    (group,) = (a for _, a in page.elements if a.get("role") == "radiogroup")
    (label,) = (a for t, a in page.elements if t == "span" and a.get("id"))
    assert group["aria-labelledby"] == label["id"]
    assert page.text["span"][:3] == ["the map", "plain", "learned"]
    assert page.data["states"][1][1:] == ["plain", "plain, 2"]


def test_only_a_slider_that_plays_has_a_button(static: None) -> None:
    block = explore(bar, alt="x", sigma=Slider([1, 2, 3], play=True), k=[1, 2]).data
    assert Page(block).text["button"] == ["Play"]
    assert "button" not in Page(explore(bar, alt="x", sigma=[1, 2]).data).text


def test_user_text_cannot_break_out(static: None) -> None:
    from matplotlib.figure import Figure

    evil = "</script><script>alert('σ')</script>\"><b>&amp;"

    def draw(**values: str) -> tuple[Figure, str]:
        return Figure(figsize=(1, 1)), evil

    def show(text: str) -> Page:
        choice = Slider(["p", text], label=text, start=text)
        slider = Slider([1, 2], label=text, format=lambda value: text + str(value))
        return Page(explore(draw, alt=lambda a, b: text + a, a=choice, b=slider).data)

    plain, page = show("q"), show(evil)
    assert [t for t, _ in page.elements] == [t for t, _ in plain.elements]
    assert page.all("img")[0]["alt"] == evil + evil
    assert page.all("input")[-1]["aria-valuetext"] == evil + "1"
    assert "".join(page.text["label"]) == evil
    assert "".join(page.text["span"]) == evil + "p" + evil + evil
    assert page.data["states"][0][1:] == [evil + "p", evil]
