"""explore() in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from explorers import decode

from mlbook.explore import Slider, explore
from mlbook.explore.page import SCRIPT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytestmark = [pytest.mark.book, pytest.mark.usefixtures("drawing")]


def wave(f: int, phase: float = 0.0) -> tuple[Figure, str]:
    from matplotlib.figure import Figure

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


@pytest.mark.browser
def test_on_a_phone_each_name_stands_above_its_own_control(choosing: Any) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": False}
    choosing.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    ask = """
    const rows = [...document.querySelector(".mlbook-explore-controls").children];
    return rows.map((row) => [...row.children].map((element) => {
      const { top, bottom, left } = element.getBoundingClientRect();
      return { top, bottom, left };
    }));
    """
    (name, buttons), (label, track, value) = choosing.execute_script(ask)
    choosing.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    parts = [name, buttons, label, track]
    assert all(above["bottom"] <= below["top"] for above, below in pairwise(parts))
    assert value["bottom"] <= track["top"] and value["left"] > label["left"]
    assert value["top"] >= buttons["bottom"]


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
