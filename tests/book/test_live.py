"""Every live figure: waking moves nothing, all handles work, everything can be seen."""

from __future__ import annotations

import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from live_harness import AXE, first_state, in_node, write_page

from book import live
from book.live.figure import HERE, SHARED, figures, markup, script, show

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "_build" / "html" / "book"
MOST_BYTES = 120_000  # of all scripts
MOST_IN_ONE = 12_000  # of one figure
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture(params=figures())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Without a browser


def test_there_are_figures() -> None:
    """Each has its line in book/live/__init__.py."""
    assert "metric" in figures()
    assert sorted(live.__all__) == figures()
    assert all(callable(getattr(live, name)) for name in figures())


def test_the_scripts_are_small() -> None:
    sizes = {p.stem: p.stat().st_size for p in HERE.glob("*.js")}
    assert sum(sizes.values()) <= MOST_BYTES
    assert {n: size for n, size in sizes.items() if n not in SHARED and size > MOST_IN_ONE} == {}


def test_every_figure_is_compared_with_its_twin(name: str) -> None:
    own = (Path(__file__).parent / f"test_live_{name}.py").read_text()
    assert f'same_everywhere(browser, "{name}"' in own


def test_the_markup_is_whole(name: str) -> None:
    """It has pictures and no code, and its parts are those of the view, each once."""
    html = markup(name, first_state(name))
    assert re.search(r"<svg [^>]*>.*<(path|circle|rect|line|ellipse|polyline|text) ", html, re.S)
    assert re.findall(r"<script[^>]*>", html) == [
        '<script type="application/json" class="mlbook-live-state">'
    ]
    assert not re.search(r"\son\w+=|\sid=|nan\b", html)
    parts = re.findall(r'data-part="([^"]+)"', html)
    assert len(parts) == len(set(parts))
    module, state = import_module(f"book.live.{name}"), first_state(name)
    assert set(parts) == set(module.view(state, module.compute(state)))
    assert "says" in parts


def test_on_a_page_it_is_html(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLBOOK_STATIC", "1")
    shown = getattr(live, name)()
    assert repr(shown) == f"<live figure {name}>"
    assert shown._repr_html_() == markup(name, first_state(name))


def test_in_a_notebook_it_is_a_widget(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget")
    monkeypatch.delenv("MLBOOK_STATIC", raising=False)
    shown = getattr(live, name)()
    assert repr(shown) == f"<live figure {name}>"
    assert shown.state == first_state(name)
    assert f'data-live="{name}"' in shown._markup
    assert shown.result == import_module(f"book.live.{name}").compute(shown.state)


def test_handles_and_groups_belong_together(name: str) -> None:
    state = first_state(name)
    handles = json.loads(in_node(name, [state])[0])[2]
    html = markup(name, state)
    assert sorted(re.findall(r'data-group="([^"]+)"', html)) == sorted(handles)
    assert all(h["says"] and -1 < h["x"] < 2000 for group in handles.values() for h in group)


def shown_by(source: Path) -> int:
    """Count the live figures that a page asks for."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".md":
        return len(re.findall(r"^`{3,}\{live\}", text, re.M))
    cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    return sum(len(re.findall(r"^live\.\w+\(", "".join(c["source"]), re.M)) for c in cells)


def faulty_pages(sources: Path, pages: Path) -> list[str]:
    """Return the pages that lack a live figure they ask for, or have an empty one."""
    faults = []
    for source in sorted([*sources.rglob("*.md"), *sources.rglob("*.ipynb")]):
        page = (pages / source.relative_to(sources)).with_suffix(".html")
        html = page.read_text(encoding="utf-8") if page.is_file() else ""
        found = re.findall(r'<figure class="mlbook-live [^>]*>.*?</figure>', html, re.S)
        whole = [f for f in found if re.search(r"<svg .*?<(path|circle|rect|line) ", f, re.S)]
        if len(whole) != shown_by(source):
            faults.append(
                f"{source.name}: {shown_by(source)} figures asked for, {len(whole)} there"
            )
    return faults


@pytest.mark.book
def test_no_page_has_an_empty_figure() -> None:
    if not BUILT.is_dir():
        reason = "the book is not built: run `make book` first"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    assert shown_by(ROOT / "book" / "intro.md") == 1
    assert faulty_pages(ROOT / "book", BUILT) == []


def test_an_empty_figure_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("```{live} metric\n```\n")
    (tmp_path / "a.html").write_text('<figure class="mlbook-live x"><svg ></svg></figure>')
    assert faulty_pages(tmp_path, tmp_path) == ["a.md: 1 figures asked for, 0 there"]


# In a browser

LAYOUT = """
const figure = document.querySelector("figure.mlbook-live");
return [...figure.querySelectorAll("*")].map((e) => {
  const { x, y, width, height } = e.getBoundingClientRect();
  const at = e.querySelector("script, *") ? "" : e.textContent;
  return [e.tagName, x, y + scrollY, width, height, at, e.getAttribute("aria-label"), e.value,
          e.checked];
});"""
FOCUSABLE = "return [...document.querySelectorAll('figure :is(input, button, [tabindex])')]"
WHERE = """
const figure = document.querySelector("figure.mlbook-live"), { handles } = figure.mlbookLive;
const svgs = [...figure.querySelectorAll("svg")];
svgs[0].scrollIntoView({ block: "center", behavior: "instant" });
return Object.entries(handles).map(([group, list]) => {
  const { x, y, panel } = list[0], to = svgs[panel || 0].getScreenCTM();
  return [group, to.a * x + to.e, to.d * y + to.f];
});"""
FAR = """
const figure = document.querySelector("figure.mlbook-live"), { handles } = figure.mlbookLive;
const svgs = [...figure.querySelectorAll("svg")], box = svgs[0].getBoundingClientRect();
const all = Object.values(handles).flat().map((h) => {
  const to = svgs[h.panel || 0].getScreenCTM();
  return [to.a * h.x + to.e, to.d * h.y + to.f];
});
for (let x = box.left + 3; x < box.right; x += 4) {
  for (let y = box.top + 3; y < box.bottom; y += 4) {
    if (all.every(([a, b]) => Math.hypot(a - x, b - y) > 24)) return [x, y];
  }
}
return null;"""
STATE = "return JSON.stringify(document.querySelector('figure.mlbook-live').mlbookLive.state)"
SAYS = "return document.querySelector('figure .mlbook-live-says').textContent"
FRAME = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
# The least contrast of what can be seen in a panel: the better of fill and stroke, on the paper.
CONTRAST = """
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const colour = (text) => {
  const n = (text.match(/[\\d.]+/g) || []).map(Number);
  return n.length < 3 || n[3] === 0 ? null : n;
};
const figure = document.querySelector("figure.mlbook-live");
const paper = light(colour(getComputedStyle(figure).backgroundColor));
const against = (c) => {
  const l = light(c);
  return (Math.max(l, paper) + 0.05) / (Math.min(l, paper) + 0.05);
};
const drawn = ":is(path, circle, ellipse, rect, line, polyline, polygon, text)";
return [...figure.querySelectorAll(`svg ${drawn}`)]
  .filter((e) => !e.closest(".mlbook-live-group, .mlbook-live-faint, .mlbook-live-area"))
  .map((e) => {
    const style = getComputedStyle(e), kinds = e.tagName === "text" ? ["fill"] : ["fill", "stroke"];
    const found = kinds.map((k) => colour(style[k])).filter(Boolean).map(against);
    return [e.outerHTML.slice(0, 120), Math.max(0, ...found), e.tagName === "text" ? 4.5 : 3];
  }).filter(([, found, needed]) => found < needed);"""


def size(browser: Any, width: int, *, touch: bool = False) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": touch})


@pytest.fixture
def awake(browser: Any, tmp_path: Path, name: str) -> Any:
    size(browser, 800)
    browser.get_log("browser")
    browser.get(write_page(tmp_path, name, woken=True))
    yield browser
    assert [m["message"] for m in browser.get_log("browser") if m["level"] == "SEVERE"] == []
    size(browser, 1280)


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_waking_moves_nothing(browser: Any, tmp_path: Path, name: str, width: int) -> None:
    size(browser, width)
    browser.get(write_page(tmp_path, name, woken=False))
    before = browser.execute_script(LAYOUT)
    assert browser.execute_script("return document.querySelectorAll('fieldset:disabled').length")
    assert browser.execute_script("return document.querySelector('[tabindex]')") is None
    browser.get(write_page(tmp_path, name, woken=True))
    assert browser.execute_script(LAYOUT) == before
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    size(browser, 1280)


def mouse(browser: Any, kind: str, x: float, y: float) -> None:
    event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
    browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def touch(browser: Any, kind: str, *points: tuple[float, float]) -> None:
    event = {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)


def swipe(browser: Any, x: float, y: float, dx: float, dy: float) -> None:
    touch(browser, "touchStart", (x, y))
    for i in range(1, 6):
        touch(browser, "touchMove", (x + dx * i / 5, y + dy * i / 5))
    touch(browser, "touchEnd")
    browser.execute_async_script(FRAME)


def drags(name: str) -> bool:
    return "drag" in script(name)


@pytest.mark.browser
def test_the_mouse_drags_and_the_sentence_waits(awake: Any, name: str) -> None:
    for group, x, y in awake.execute_script(WHERE):
        first, said = awake.execute_script(STATE), awake.execute_script(SAYS)
        mouse(awake, "mousePressed", x, y)
        for step in (12, 24, -18):  # whatever is clamped, one of them moves it
            mouse(awake, "mouseMoved", x + step, y + step)
            awake.execute_async_script(FRAME)
            assert awake.execute_script(SAYS) == said, "spoken before the release"
        changed = awake.execute_script(STATE) != first
        mouse(awake, "mouseReleased", x - 18, y - 18)
        assert changed == drags(name), group


@pytest.mark.browser
def test_fingers_drag_handles_and_scroll_elsewhere(awake: Any, name: str) -> None:
    size(awake, 390, touch=True)
    for i in range(len(awake.execute_script(WHERE))):
        group, x, y = awake.execute_script(WHERE)[i]
        first, top = awake.execute_script(STATE), awake.execute_script("return scrollY")
        swipe(awake, x, y, -14, -20)
        assert (awake.execute_script(STATE) != first) == drags(name), group
        assert awake.execute_script("return scrollY") == top, "the page scrolled"
    first, far = awake.execute_script(STATE), awake.execute_script(FAR)
    if far:
        top = awake.execute_script("return scrollY")
        swipe(awake, *far, 0, -120)
        assert awake.execute_script(STATE) == first
        assert awake.execute_script("return scrollY") > top, "the page did not scroll"


@pytest.mark.browser
def test_keys_choose_and_move(awake: Any, name: str) -> None:
    keys = awake.execute_script("return [...document.querySelectorAll('figure [data-group]')]")
    for element in keys:
        first = awake.execute_script(STATE)
        awake.execute_script("arguments[0].focus()", element)
        assert element.get_attribute("role") == "slider"
        assert element.get_attribute("aria-valuetext")
        assert element.get_attribute("aria-label")
        for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowLeft", "Enter"):
            press(awake, key)
        count, at = (int(element.get_attribute(f"aria-value{a}")) for a in ("max", "now"))
        assert awake.execute_script(STATE) != first
        press(awake, "PageDown")
        assert int(element.get_attribute("aria-valuenow")) == at % count + 1


def press(browser: Any, key: str) -> None:
    codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "PageDown": 34, "Enter": 13}
    event = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
    browser.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "rawKeyDown", **event})
    browser.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", **event})


@pytest.mark.browser
def test_controls_work_and_reset_brings_all_back(awake: Any, name: str) -> None:
    first, said = awake.execute_script(STATE), awake.execute_script(SAYS)
    layout = awake.execute_script(LAYOUT)
    for slider in awake.find_elements("css selector", "figure input[type=range]"):
        before = awake.execute_script(STATE)
        end = "const e = arguments[0], high = 2 * e.value > Number(e.min) + Number(e.max);"
        end += "e.value = high ? e.min : e.max;"
        fire = "for (const t of ['input', 'change']) e.dispatchEvent(new Event(t, {bubbles: true}))"
        awake.execute_script(end + fire, slider)
        assert awake.execute_script(STATE) != before, slider.get_attribute("name")
    resets = awake.find_elements("css selector", "figure button[name=reset]")
    assert len(resets) == 1
    awake.execute_script("arguments[0].click()", resets[0])
    assert awake.execute_script(STATE) == first
    assert awake.execute_script(SAYS) == said
    assert awake.execute_script(LAYOUT) == layout


@pytest.mark.browser
def test_jupyterlab_takes_no_key(awake: Any) -> None:
    nodes = awake.execute_script(FOCUSABLE)
    assert nodes
    assert all(node.get_attribute("data-lm-suppress-shortcuts") == "true" for node in nodes)


@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_everything_can_be_seen(awake: Any, mode: str) -> None:
    awake.execute_script("document.documentElement.dataset.theme = arguments[0]", mode)
    awake.execute_async_script("setTimeout(arguments[0], 200)")  # colours may fade over
    assert awake.execute_script(CONTRAST) == []


@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_accessible(awake: Any, mode: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: run `make test`")
    awake.execute_script("document.documentElement.dataset.theme = arguments[0]", mode)
    awake.execute_script(AXE.read_text())
    found = awake.execute_async_script(
        "const done = arguments[1]; axe.run({runOnly: arguments[0], preload: false}).then((r) =>"
        "done(r.violations.map((v) => v.id + ': ' + v.nodes[0].html)))",
        WCAG,
    )
    assert found == []


WIDGET = """
const [source, markup, state, other] = arguments, done = arguments[4];
const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
import(url).then(({ default: widget }) => {
  const values = { _markup: markup, state }, listeners = [], saved = [];
  const model = {
    get: (key) => values[key], set: (key, value) => { values[key] = value; },
    save_changes: () => saved.push(values.state),
    on: (_, f) => listeners.push(f), off: (_, f) => listeners.splice(listeners.indexOf(f), 1),
  };
  document.body.innerHTML = "<div></div>";
  const el = document.body.firstChild, end = widget.render({ model, el });
  const says = () => el.querySelector(".mlbook-live-says").textContent;
  el.querySelector("button[name=reset]").click();
  values.state = other;
  listeners.forEach((f) => f());
  const after = says();
  end();
  done({ saved: saved.length, after, left: listeners.length });
}, (error) => done(String(error)));
"""


@pytest.mark.browser
def test_the_widget_follows_its_state(awake: Any, name: str) -> None:
    """Anywidget runs one module; a change in the browser is sent, one in Python is drawn."""
    state = first_state(name)
    module = import_module(f"book.live.{name}")
    source = script("core", name, "widget")
    assert len(re.findall(r"^export ", source, re.M)) == 1
    assert not re.search(r"^\s*import\b|\bimport\(", source, re.M)
    asked = awake.execute_async_script(WIDGET, source, markup(name, state), state, state)
    says = module.view(state, module.compute(state))["says"]["text"]
    assert asked == {"saved": 1, "after": says, "left": 0}


def test_show_takes_other_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLBOOK_STATIC", "1")
    state = first_state("metric") | {"metric": "plain"}
    assert "Shown: the plain distance" in show("metric", state).html
