"""The built book in a real browser: every page, at phone and desktop width, from file://."""

import os
from pathlib import Path

import pytest

pytest.importorskip("selenium")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = [pytest.mark.book, pytest.mark.browser]

HTML = Path(__file__).resolve().parent.parent / "_build" / "html"
PAGES = sorted(str(p.relative_to(HTML)) for p in HTML.glob("book/**/*.html"))


@pytest.fixture(scope="module", autouse=True)
def built():
    if not PAGES:
        reason = "the book is not built: run `make book` first"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


def set_width(browser, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def open_page(browser, name, width=1280):
    set_width(browser, width)
    browser.get_log("browser")
    browser.get((HTML / name).as_uri())
    typeset = (
        "return !window.MathJax || !MathJax.startup || MathJax.startup.promise.then(() => true)"
    )
    WebDriverWait(browser, 60).until(lambda b: b.execute_script(typeset))


@pytest.mark.parametrize("name", PAGES)
def test_page_renders(browser, name):
    """No console error, no other host, all maths typeset, nothing wider than a phone."""
    open_page(browser, name, width=390)
    errors = [line["message"] for line in browser.get_log("browser") if line["level"] == "SEVERE"]
    assert errors == []
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(r => r.name)"
    )
    assert [u for u in loaded if not u.startswith(("file:", "data:"))] == []

    sources = browser.find_elements(By.CSS_SELECTOR, ".math.notranslate")
    typeset = browser.find_elements(By.CSS_SELECTOR, "mjx-container")
    assert len(typeset) >= len(sources)
    assert browser.find_elements(By.CSS_SELECTOR, "mjx-merror") == []
    broken = (
        "return [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    )
    assert browser.execute_script(broken) == []

    for width in (360, 390, 1280):
        set_width(browser, width)
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, f"scrolls sideways at {width} pixels"


def explorers_of(browser):
    return browser.find_elements(By.CSS_SELECTOR, "figure.mlbook-explore")


def state(explorer):
    image = explorer.find_element(By.TAG_NAME, "img")
    caption = explorer.find_element(By.CSS_SELECTOR, "[aria-live]")
    return image.get_attribute("src"), image.get_attribute("alt"), caption.text


@pytest.mark.parametrize(
    "name", [p for p in PAGES if "mlbook-explore" in (HTML / p).read_text()] or ["none"]
)
def test_every_slider_moves_its_picture(browser, name):
    """Each slider, by keyboard: picture, alt text and caption change, and the layout stays."""
    open_page(browser, name, width=390)
    assert explorers_of(browser)
    for explorer in explorers_of(browser):
        image = explorer.find_element(By.TAG_NAME, "img")
        for slider in explorer.find_elements(By.CSS_SELECTOR, "input[type=range]"):
            browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", slider)
            before, height = state(explorer), image.size["height"]
            spoken = slider.get_attribute("aria-valuetext")
            at_end = slider.get_attribute("value") == slider.get_attribute("max")
            slider.send_keys(Keys.ARROW_LEFT if at_end else Keys.ARROW_RIGHT)
            WebDriverWait(browser, 5).until(lambda _, e=explorer, b=before: state(e)[2] != b[2])
            after = state(explorer)
            assert after[1] != before[1] and after[2] != before[2]
            assert slider.get_attribute("aria-valuetext") != spoken
            assert image.size["height"] == height
            slider.send_keys(Keys.ARROW_RIGHT if at_end else Keys.ARROW_LEFT)
        pictures = set()
        slider = explorer.find_elements(By.CSS_SELECTOR, "input[type=range]")[0]
        slider.send_keys(Keys.HOME)
        for _ in range(int(slider.get_attribute("max")) + 1):
            pictures.add(state(explorer)[0])
            slider.send_keys(Keys.ARROW_RIGHT)
        assert len(pictures) > 1, "the slider moves and the picture does not"
    assert [m for m in browser.get_log("browser") if m["level"] == "SEVERE"] == []
