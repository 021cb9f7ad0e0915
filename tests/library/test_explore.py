"""explore(): the call itself, in a kernel, and in a real browser."""

from __future__ import annotations

import base64
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlbook.explore import MAX_STATES, Slider, explore
from mlbook.explore import page as page_module
from mlbook.explore.page import SCRIPT
from mlbook.explore.pictures import DPI, GREYS, MOST_COLORS, SHARPNESS

pytestmark = pytest.mark.book
plt: Any
widgets: Any
Image: Any
Figure: Any


@pytest.fixture(scope="module", autouse=True)
def packages() -> None:
    """Load what draws when the first test runs: the tests are collected without it."""
    global plt, widgets, Image, Figure
    plt = pytest.importorskip("matplotlib.pyplot")
    widgets = pytest.importorskip("ipywidgets")
    Image = pytest.importorskip("PIL.Image")
    Figure = plt.Figure


@pytest.fixture
def static(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLBOOK_STATIC", "1")


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLBOOK_STATIC", raising=False)


def bar(sigma: float, k: int = 2) -> tuple[Figure, str]:
    """A picture that differs in every state."""
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
    start, _, code = uri.partition(";base64,")
    assert start in ("data:image/png", "data:image/webp")
    return Image.open(io.BytesIO(base64.b64decode(code)))


# The call


def test_refuses_sliders_that_do_not_fit_the_function() -> None:
    with pytest.raises(ValueError, match=r"\['noise'\].*parameters are \['sigma', 'k'\]"):
        explore(bar, alt="bars", noise=[1, 2])
    with pytest.raises(ValueError, match="'sigma'"):
        explore(bar, alt="bars", k=[1, 2])
    with pytest.raises(ValueError, match="at least one slider"):
        explore(bar, alt="bars")
    with pytest.raises(ValueError, match="must be callable"):
        explore("bar", alt="bars", sigma=[1, 2])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], r"'sigma' needs at least two values, got \[\]"),
        ([3], r"at least two values, got \[3\]"),
        ([1, 2, 1], r"shows \[1, 1\] all as '1'"),
        ([0.1234567, 0.1234568], "Slider.format=...."),
        ("abc", "ordered collection of values, got 'abc'"),
        ({1, 2}, "ordered collection"),
        (7, "ordered collection of values, got 7"),
        (Slider([1, 2], start=5), r"starts at 5, not in \[1, 2\]"),
        (Slider(["a", "b"], format=".2f"), "format '.2f' on 'a'"),
        (Slider(["a", "b"], play=True), r"cannot play: its values \['a', 'b'\] are a choice"),
    ],
)
def test_refuses_bad_values(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explore(bar, alt="bars", sigma=given)


@pytest.mark.parametrize("mode", ["static", "live"])
def test_refuses_a_large_grid_before_drawing(mode: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(mode)

    def never(sigma: float, k: int) -> Figure:
        raise AssertionError("drawn")

    with pytest.raises(ValueError, match=rf"126 states, 14 \(sigma\) × 9 \(k\).*{MAX_STATES}"):
        explore(never, alt="bars", sigma=range(14), k=range(9))


@pytest.mark.parametrize("bad", [None, "figure", (1, "caption"), ("figure",)])
def test_refuses_anything_but_a_figure(static: None, bad: Any) -> None:
    with pytest.raises(ValueError, match=r"Figure or a tuple.*for \{'a': 1\}"):
        explore(lambda a: bad, alt="nothing", a=[1, 2])


@pytest.mark.parametrize("alt", ["", " ", None, "{nothing}", "{", "{sigma.x}", lambda sigma: ""])
def test_refuses_bad_alt(static: None, alt: Any) -> None:
    with pytest.raises(ValueError, match="alt"):
        explore(bar, alt=alt, sigma=[1, 2])


def test_refuses_pictures_of_different_size(static: None) -> None:
    with pytest.raises(ValueError, match=r"same figure size.*\(384, 192\) and \(192, 192\)"):
        explore(lambda a: Figure(figsize=(2 * a, 2)), alt="growing", a=[1, 2])


def test_refuses_a_heavy_block(static: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MAX_BYTES", 6_000)
    with pytest.raises(ValueError, match=r"0\.01 MB for 3 states \(3 different .*0\.006 MB"):
        explore(bar, alt="bars", sigma=[1, 2, 3])


# The block of the built book


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


def test_values_reach_the_function_as_python_numbers_and_are_shown_short(static: None) -> None:
    seen = []

    def draw(a: float, b: int, c: bool) -> Figure:
        seen.append((type(a), type(b), type(c)))
        return Figure(figsize=(1, 1))

    page = Page(
        explore(
            draw,
            alt=lambda a, b, c: f"{a + b}",
            a=np.linspace(0.1, 0.3, 3, dtype=np.float32),
            b=Slider(np.array([10, 2000]), format=",d"),
            c=Slider([False, True], format=lambda c: "on" if c else "off"),
        ).data
    )
    assert set(seen) == {(float, int, bool)}
    assert page.data["texts"] == [["0.1", "0.2", "0.3"], ["10", "2,000"], ["off", "on"]]


def test_labels_are_inside_the_picture_and_colours_survive(static: None) -> None:
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


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["static", "live"])
def test_leaves_exactly_the_figures_that_were_open(
    mode: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(mode)
    mine = plt.figure()

    def draw(a: int) -> Figure:
        assert not plt.isinteractive()  # an interactive backend would show the figure as well
        plt.figure()
        figure, _ = plt.subplots(figsize=(1, 1))
        return figure

    def crash(a: int) -> Figure:
        plt.figure()
        raise RuntimeError("boom")

    with plt.ion():
        explore(draw, alt="empty", a=range(30))
    with pytest.raises(RuntimeError, match="boom"):
        explore(crash, alt="empty", a=[1, 2])
    assert plt.get_fignums() == [mine.number]
    explore(lambda a: mine, alt="empty", a=[1, 2])
    assert plt.get_fignums() == []


@pytest.mark.parametrize(("value", "kind"), [("", "VBox"), ("0", "VBox"), ("1", "HTML")])
def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch, value: str, kind: str) -> None:
    monkeypatch.setenv("MLBOOK_STATIC", value)
    assert type(explore(bar, alt="bars", sigma=[1, 2])).__name__ == kind


# Live


def test_live_draws_only_what_is_shown(live: None) -> None:
    drawn = []

    def draw(sigma: float, k: int) -> tuple[Figure, str]:
        drawn.append((sigma, k))
        return bar(sigma, k)

    box = explore(
        draw, alt="{k} bars", sigma=Slider([0.1, 0.2], label="noise σ", start=0.2), k=range(1, 5)
    )
    noise, clusters, picture = box.children
    assert isinstance(noise, widgets.SelectionSlider)
    assert (noise.description, noise.value, noise.label) == ("noise σ", 0.2, "0.2")
    assert drawn == [(0.2, 1)]
    before = Page(picture.value)
    clusters.value = 3
    after = Page(picture.value)
    assert drawn == [(0.2, 1), (0.2, 3)]
    assert before.all("img")[0]["src"] != after.all("img")[0]["src"]
    assert after.all("img")[0]["alt"] == "3 bars"
    assert after.text["span"] == ["σ = 0.20 and k = 3"]


def test_live_buttons_and_player(live: None) -> None:
    drawn = []

    def draw(way: str, step: int) -> Figure:
        drawn.append((way, step))
        return Figure(figsize=(1, 1))

    box = explore(draw, alt="{way}", way=["up", "down"], step=Slider(range(4), play=True))
    buttons, played, _ = box.children
    assert isinstance(buttons, widgets.ToggleButtons)
    player, slider = played.children
    assert isinstance(player, widgets.Play)
    player.value = 2
    buttons.value = "down"
    assert slider.value == 2
    assert drawn == [("up", 0), ("up", 2), ("down", 2)]


def test_live_errors_are_shown_and_pass(live: None) -> None:
    def fragile(a: int) -> Figure:
        if a == 2:
            raise RuntimeError("no <b>two</b>")
        return Figure(figsize=(a if a == 3 else 1, 1))

    box = explore(fragile, alt="{a}", a=[1, 2, 3, 4])
    slider, picture = box.children
    slider.value = 2
    page = Page(picture.value)
    assert page.elements == [("pre", {"role": "alert"})]
    text = "".join(page.text["pre"])
    assert "failed at a=2" in text
    assert "RuntimeError: no <b>two</b>" in text
    slider.value = 3
    assert "same figure size" in picture.value
    slider.value = 4
    assert Page(picture.value).all("img")[0]["alt"] == "4"


CELLS = [
    """
import matplotlib.pyplot as plt
from mlbook.explore import explore
drawn = []
def line(slope):
    drawn.append(slope)
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.plot([0, slope])
    return figure, f"rises by {slope}"
""",
    "box = explore(line, alt='slope {slope}', slope=[1, 2, 3])\nbox",
    "print(drawn, 'slope 3' in box.children[1].value, 'rises by 3' in box.children[1].value)",
]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """Return a function that starts a kernel on CELLS; the kernel ends with the test."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    client = nbclient.NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=60)
    with client.setup_kernel():
        yield lambda: client


@pytest.mark.slow
def test_in_a_kernel_a_moved_slider_redraws(live: None, notebook: Callable[[], Any]) -> None:
    client = notebook()
    for i in (0, 1):
        client.execute_cell(client.nb.cells[i], i)
    (output,) = client.nb.cells[1].outputs  # the box, and no figure beside it
    box = output.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    slider = client.widget_state[box]["children"][0].removeprefix("IPY_MODEL_")
    content = {"comm_id": slider, "data": {"method": "update", "state": {"index": 2}}}
    client.kc.shell_channel.send(client.kc.session.msg("comm_msg", content))
    client.execute_cell(client.nb.cells[2], 2)
    assert client.nb.cells[2].outputs[0].text == "[1, 3] True True\n"


@pytest.mark.slow
def test_in_a_kernel_the_book_gets_html(static: None, notebook: Callable[[], Any]) -> None:
    client = notebook()
    for i in (0, 1):
        client.execute_cell(client.nb.cells[i], i)
    (output,) = client.nb.cells[1].outputs
    assert len(Page(output.data["text/html"]).data["states"]) == 3


# In a browser


def wave(f: int, phase: float = 0.0) -> tuple[Figure, str]:
    figure = Figure(figsize=(5, 3))
    x = np.linspace(0, 6, 200)
    figure.subplots().plot(x, np.sin(f * x + phase))
    more = " This sentence makes one caption far longer than the others, two lines at least."
    return figure, f"f = {f}, phase {phase:.1f}." + (more if f == 2 else "")


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with three explorers, the last a copy of the first, and a theme switch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLBOOK_STATIC", "1")
        one = explore(
            wave,
            alt="A wave of frequency {f}, phase {phase}",
            f=Slider([1, 2, 3], label="frequency"),
            phase=Slider([0.0, 0.5, 1.0, 1.5], label="phase φ", start=0.5),
        ).data
        two = explore(wave, alt="Only {f}", f=[1, 2, 3, 4, 5]).data
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(
        "<!doctype html><html lang='en' data-theme='light'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'><title>t</title><link rel='icon' "
        "href='data:,'><style>html{color:#222;background:#fff}"
        "html[data-theme=dark]{color:#ced6dd;background:#121212;color-scheme:dark}</style></head>"
        f"<body>{one}{two}{one}<p id='below'>below</p></body></html>",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def page(browser: Any, page_path: Path) -> Iterator[Any]:
    """The page, freshly opened through file:// at 1280 px; no console message is left."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get_log("browser")
    browser.get(page_path.as_uri())
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.get_log("browser") == []


READ = """
const box = (element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return [x + scrollX, y + scrollY, width, height];
};
return [...document.querySelectorAll("figure.mlbook-explore")].map((root) => ({
  src: root.querySelector("img").src,
  alt: root.querySelector("img").alt,
  caption: root.querySelector("[aria-live]").textContent,
  texts: [...root.querySelectorAll("input")].map((i) => i.getAttribute("aria-valuetext")),
  shown: [...root.querySelectorAll("output")].map((o) => o.textContent),
  image: box(root.querySelector("img")),
  sliders: [...root.querySelectorAll("input")].map(box),
  below: box(document.getElementById("below")),
  loaded: root.querySelector("img").complete && root.querySelector("img").naturalWidth,
}));
"""


def sliders(page: Any) -> list[Any]:
    return page.find_elements("css selector", ".mlbook-explore-controls input")


@pytest.mark.slow
@pytest.mark.browser
def test_keyboard_moves_one_explorer_and_nothing_else(page: Any) -> None:
    before = page.execute_script(READ)
    assert before[0]["alt"] == "A wave of frequency 1, phase 0.5"
    sliders(page)[0].send_keys("\ue014")  # arrow right
    after = page.execute_script(READ)
    assert after[0]["alt"] == "A wave of frequency 2, phase 0.5"
    assert after[0]["caption"].startswith("f = 2, phase 0.5. This sentence")
    assert after[0]["texts"] == after[0]["shown"] == ["2", "0.5"]
    assert after[0]["src"] != before[0]["src"]
    assert after[0]["loaded"] == 960
    assert [after[0][k] for k in ("image", "sliders", "below")] == [
        before[0][k] for k in ("image", "sliders", "below")
    ]
    assert after[1:] == before[1:]
    sliders(page)[1].send_keys("\ue011")  # home, where the value is shown shorter
    home = page.execute_script(READ)[0]
    assert home["alt"] == "A wave of frequency 2, phase 0"
    assert home["sliders"] == before[0]["sliders"]
    sliders(page)[0].send_keys("\ue012")  # arrow left
    sliders(page)[1].send_keys("\ue014")  # arrow right
    assert page.execute_script(READ) == before


@pytest.mark.browser
def test_every_state_shows_its_own_picture(page: Any) -> None:
    seen = []
    for key in ["", *["\ue014"] * 4]:
        sliders(page)[2].send_keys(key)
        seen.append(page.execute_script(READ)[1])
    assert [s["alt"] for s in seen] == [f"Only {f}" for f in range(1, 6)]
    assert [s["caption"].split(",")[0] for s in seen] == [f"f = {f}" for f in range(1, 6)]
    ink = [np.asarray(decode(s["src"]).convert("L")).astype(int) for s in seen]
    assert all(np.abs(a - b).max() > 100 for a, b in pairwise(ink))
    assert len({tuple(s["image"]) for s in seen}) == 1


@pytest.fixture
def choosing(browser: Any, static: None, tmp_path: Path) -> Any:
    """Two copies of an explorer with buttons and a slider that plays, on an empty page."""

    def draw(way: str, step: int) -> tuple[Figure, str]:
        return wave(step + 1, phase=float(way == "down"))[0], f"{way}, step {step}"

    way = Slider(["up", "down", "sideways"], start="down")
    block = explore(draw, alt="{way} {step}", way=way, step=Slider(range(3), play=True)).data
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><p id=below></p>{block}{block}")
    browser.get(path.as_uri())
    return browser


def alts(page: Any) -> list[str]:
    return [state["alt"] for state in page.execute_script(READ)]


@pytest.mark.browser
def test_buttons_choose_by_click_and_by_key(choosing: Any) -> None:
    assert alts(choosing) == ["down 0", "down 0"]
    choosing.find_elements("css selector", ".mlbook-explore-choices label")[2].click()
    assert alts(choosing) == ["sideways 0", "down 0"]
    choosing.switch_to.active_element.send_keys("\ue012")  # arrow left
    assert alts(choosing) == ["down 0", "down 0"]
    choosing.find_elements("css selector", ".mlbook-explore-choices label")[3].click()
    assert alts(choosing) == ["down 0", "up 0"]
    names = "return [...document.querySelectorAll('[type=radio]')].map((radio) => radio.name)"
    assert len(set(choosing.execute_script(names))) == 2


@pytest.mark.slow
@pytest.mark.browser
def test_playing_goes_to_the_end_and_can_be_paused(choosing: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    button = choosing.find_element("css selector", ".mlbook-explore-track button")

    def press() -> tuple[str, str]:
        choosing.execute_script("arguments[0].click()", button)
        return alts(choosing)[0], button.text

    assert press() == ("down 1", "Pause")
    assert press() == ("down 1", "Play")
    time.sleep(0.9)
    assert alts(choosing) == ["down 1", "down 0"]
    assert press() == ("down 2", "Play")  # the end
    assert press() == ("down 0", "Pause")  # from the beginning
    WebDriverWait(choosing, 5).until(lambda _: button.text == "Play")
    assert alts(choosing) == ["down 2", "down 0"]


@pytest.mark.browser
def test_nothing_plays_for_those_who_want_no_motion(choosing: Any) -> None:
    button = choosing.find_element("css selector", ".mlbook-explore-track button")
    assert button.is_displayed()
    feature = {"name": "prefers-reduced-motion", "value": "reduce"}
    choosing.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    assert not button.is_displayed()
    choosing.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["mouse", "touch"])
def test_pointer_and_touch_move_a_slider(page: Any, kind: str) -> None:
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.common.actions.pointer_input import PointerInput

    slider = sliders(page)[2]
    page.execute_script("arguments[0].scrollIntoView()", slider)
    half = slider.size["width"] // 2
    actions = ActionBuilder(page, mouse=PointerInput(kind, kind), duration=20)
    finger = actions.pointer_action
    finger.move_to(slider, x=8 - half).pointer_down()
    finger.move_to(slider).move_to(slider, x=half - 8).pointer_up()
    actions.perform()
    state = page.execute_script(READ)[1]
    assert state["alt"] == "Only 5"
    assert state["texts"] == state["shown"] == ["5"]


@pytest.mark.browser
def test_page_is_alone(page: Any, tmp_path: Path) -> None:
    names = page.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert [n for n in names if not n.startswith("data:")] == []
    keys = "return Object.keys(window)"
    ours = set(page.execute_script(keys))
    names = ["box", "controls", "root", "data", "image", "caption", "pictures", "place", "show"]
    lexical = page.execute_script(
        "return arguments[0].filter((n) => { try { (0, eval)(n); return true; }"
        " catch { return false; } })",
        names,
    )
    assert lexical == []
    empty = tmp_path / "empty.html"
    empty.write_text("<!doctype html><title>t</title><link rel='icon' href='data:,'>")
    page.get(empty.as_uri())
    page.execute_script("return 0")  # the driver's own script leaves a global behind
    assert ours <= set(page.execute_script(keys))


@pytest.mark.browser
def test_a_copy_and_a_repeated_script_do_no_harm(page: Any) -> None:
    page.execute_script(SCRIPT)
    ids = [s.get_attribute("id") for s in sliders(page)]
    assert len(set(ids)) == len(ids) == 5
    before = page.execute_script(READ)
    page.find_elements("css selector", ".mlbook-explore-controls label")[3].click()
    assert page.switch_to.active_element.get_attribute("id") == ids[3]
    page.switch_to.active_element.send_keys("\ue014")
    after = page.execute_script(READ)
    assert after[2]["alt"] == "A wave of frequency 2, phase 0.5"
    assert after[:2] == before[:2]


@pytest.mark.browser
def test_sliders_restored_by_the_browser_agree_with_the_picture(page: Any) -> None:
    page.execute_script(
        "arguments[0].value = 2; window.dispatchEvent(new Event('pageshow'))", sliders(page)[2]
    )
    state = page.execute_script(READ)[1]
    assert (state["alt"], state["texts"], state["caption"]) == (
        "Only 3",
        ["3"],
        "f = 3, phase 0.0.",
    )


@pytest.mark.browser
def test_without_javascript_there_is_a_picture_and_no_dead_slider(
    browser: Any, page_path: Path
) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(page_path.as_uri())
        image = browser.find_elements("css selector", ".mlbook-explore img")[0]
        assert image.is_displayed()
        assert image.size["width"] == 496
        assert not any(s.is_displayed() for s in sliders(browser))
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.browser
def test_fits_a_phone(page: Any) -> None:
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True},
    )
    assert page.execute_script("return [innerWidth, document.documentElement.scrollWidth]") == [
        390,
        390,
    ]
    before = page.execute_script(READ)
    *_, width, height = before[0]["image"]
    assert 370 <= width <= 374
    assert (width - 4) / (height - 4) == pytest.approx(480 / 288, rel=0.01)
    assert all(s.size["height"] >= 44 for s in sliders(page))
    assert all(s.size["width"] >= 300 for s in sliders(page))
    sliders(page)[0].send_keys("\ue014")  # to the caption that takes several lines here
    after = page.execute_script(READ)
    assert after[0]["alt"] == "A wave of frequency 2, phase 0.5"
    assert (after[0]["image"], after[0]["below"]) == (before[0]["image"], before[0]["below"])


def luminance(colour: str) -> float:
    rgb = np.array([float(c) for c in re.findall(r"[\d.]+", colour)[:3]]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_readable_in_both_themes(page: Any, theme: str) -> None:
    page.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    style = "return getComputedStyle(arguments[0])[arguments[1]]"
    html = page.find_element("css selector", "html")
    ground = page.execute_script(style, html, "backgroundColor")
    for selector in ("label", "output", "figcaption"):
        element = page.find_element("css selector", f".mlbook-explore {selector}")
        assert contrast(page.execute_script(style, element, "color"), ground) >= 7
    image = page.find_element("css selector", ".mlbook-explore img")
    assert page.execute_script(style, image, "backgroundColor") == "rgb(255, 255, 255)"
    slider = sliders(page)[0]
    slider.send_keys("\ue014")
    assert page.execute_script(style, slider, "outlineStyle") == "solid"
    assert page.execute_script(style, slider, "outlineWidth") == "2px"
    assert contrast(page.execute_script(style, slider, "outlineColor"), ground) >= 7
