"""The built book in a real browser: every page, at phone and desktop width, light and dark.

A page is loaded once, from file://, and all its tests look at that load. Every check is also run
on a page made to fail it.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest

pytest.importorskip("selenium")
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = [pytest.mark.book, pytest.mark.browser]

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
SOURCES = [*(HTML / "_modules" / house for house in ("mlbook", "book")), HTML / "embed"]
PAGES = sorted(
    str(p.relative_to(HTML))
    for p in HTML.rglob("*.html")
    if "_static" not in p.parts
    and not set(SOURCES) & set(p.parents)
    and p != HTML / "index.html"  # which only points to the first page
)
# Pages of sources are all alike: the longest of the library's and of the figures' stand for them.
# So does the longest of those that hold one figure.
for folder in SOURCES:
    by_size = sorted(folder.rglob("*.html"), key=lambda p: p.stat().st_size)
    PAGES += [str(p.relative_to(HTML)) for p in by_size[-1:]]
CONTROLS = "article :is(input, select, [role=slider], [role=button])"
CHECKS = (Path(__file__).parent / "browser" / "checks.js").read_text()
AXE = Path(__file__).parent / "browser" / "node_modules" / "axe-core" / "axe.min.js"
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WIDTHS = (360, 390, 1280)
MODES = ("light", "dark")
MAX_HTML = 120_000
"""Bytes a web server sends for one page, compressed by gzip."""
MAX_WEIGHT = 600_000
"""The same with all that the page loads before anybody touches it."""
MAX_TABS = 40
"""Presses of Tab from the link that skips the navigation to the first thing to move."""


def set_width(browser: Any, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def console_errors(browser: Any) -> list[str]:
    return [m["message"] for m in browser.get_log("browser") if m["level"] == "SEVERE"]


def requests(browser: Any) -> set[str]:
    """Return the addresses asked for since the last call (file:// has no resource timing)."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return {
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    }


@dataclass
class Page:
    """A page in the browser: settled, unfolded, and what happened on the way."""

    browser: Any
    path: Path
    errors: list[str] = field(init=False)
    requests: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.browser.set_script_timeout(300)
        set_width(self.browser, 390)
        console_errors(self.browser), requests(self.browser)
        self.browser.get(self.path.as_uri())
        self.browser.execute_script(CHECKS)
        self.browser.execute_script("pageChecks.unfold()")
        self.browser.execute_script("return document.fonts.ready.then(() => true)")
        self.errors = console_errors(self.browser)
        self.requests = requests(self.browser)

    def ask(self, name: str, *arguments: Any) -> Any:
        return self.browser.execute_script(f"return pageChecks.{name}(...arguments)", *arguments)

    def too_wide(self) -> list[str]:
        """Return the widths and themes in which the page scrolls sideways."""
        faults = []
        for width in WIDTHS:
            set_width(self.browser, width)
            for mode in MODES:
                self.ask("theme", mode)
                wide = self.browser.execute_script("return document.documentElement.scrollWidth")
                if wide > width:
                    faults.append(f"{wide} pixels wide in a window of {width}, {mode}")
        self.ask("theme", "light")
        set_width(self.browser, 390)
        return faults

    def foreign(self) -> list[str]:
        """Return what the page asks of other hosts, whether it gets it or not."""
        return [u for u in self.requests if not u.startswith(("file:", "data:", "blob:"))]

    def weight(self) -> int:
        """Return the bytes of the page and of every file it loads, as a server would send them."""
        files = {Path(unquote(urlsplit(u).path)) for u in self.requests if u.startswith("file:")}
        return sum(sent_bytes(f) for f in files if f.is_file())

    def inaccessible(self) -> list[str]:
        """Return what axe-core finds: all of WCAG A and AA in the light, then what themes change.

        What scrolls depends on the width, so that one rule is asked on the phone. The page is at
        its top, where the bar that stays there covers nothing.
        """
        if not AXE.is_file():
            reason = "axe-core is not installed: run `make test`"
            pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
        set_width(self.browser, 390)
        self.ask("thin")
        self.browser.execute_script(AXE.read_text())
        faults = []
        for width, mode, rules in (
            (390, "light", ["scrollable-region-focusable", "target-size"]),
            (1280, "light", WCAG),
            (1280, "dark", ["color-contrast", "link-in-text-block"]),
        ):
            set_width(self.browser, width)
            self.ask("theme", mode)
            self.browser.execute_script("scrollTo({top: 0, behavior: 'instant'})")
            self.ask("settled")
            self._wait_for_tab_stops()
            found = self.ask("axe", rules)
            faults += [f"{mode}, {width} pixels: {fault}" for fault in found]
        return faults

    def _wait_for_tab_stops(self) -> None:
        """Let the theme make code that scrolls a tab stop: it does so a while after a change."""
        script = """return [...document.querySelectorAll("pre")].every(
            (each) => each.scrollWidth <= each.clientWidth || each.tabIndex >= 0)"""
        with suppress(TimeoutException):  # then axe says what is wrong
            WebDriverWait(self.browser, 10, 0.1).until(lambda b: b.execute_script(script))


@lru_cache(maxsize=256)
def sent_bytes(path: Path) -> int:
    data = path.read_bytes()
    text = path.suffix in {".html", ".css", ".js", ".json", ".svg"}
    return len(gzip.compress(data, 6)) if text else len(data)


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest, browser: Any) -> Iterator[Page]:
    yield Page(browser, HTML / request.param)
    set_width(browser, 1280)


def test_the_book_is_built() -> None:
    if not PAGES:
        reason = "the book is not built: run `make book` first"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


def test_no_console_error(page: Page) -> None:
    assert page.errors == []


def test_asks_nothing_of_other_hosts(page: Page) -> None:
    assert page.foreign() == []


def test_weight(page: Page) -> None:
    assert sent_bytes(page.path) <= MAX_HTML
    assert page.weight() <= MAX_WEIGHT


def test_formulas_show(page: Page) -> None:
    assert page.ask("maths") == []


def test_images_show_and_say_what_they_show(page: Page) -> None:
    assert page.ask("images") == []


def test_figures_in_the_dark(page: Page) -> None:
    page.ask("theme", "dark")
    assert page.ask("darkFigures") == []


def test_nothing_scrolls_sideways(page: Page) -> None:
    assert page.too_wide() == []


def tabs_to_first_control(browser: Any) -> int | None:
    """Return how often Tab is pressed until something can be moved; None if there is nothing."""
    controls = browser.find_elements(By.CSS_SELECTOR, CONTROLS)
    if not any(control.is_displayed() for control in controls):
        return None
    ask = "return document.activeElement.matches(arguments[0])"
    skip = browser.find_elements(By.CSS_SELECTOR, "#pst-skip-link a")
    browser.execute_script("arguments[0].focus()", skip[-1])
    skip[-1].send_keys(Keys.ENTER)
    pressed = len(skip) - 1
    while pressed < 3 * MAX_TABS and not browser.execute_script(ask, CONTROLS):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        pressed += 1
    return pressed


def test_the_first_control_is_near_for_the_keyboard(page: Page) -> None:
    tabs = tabs_to_first_control(page.browser)
    assert tabs is None or tabs <= MAX_TABS


READ = """
const image = arguments[0].querySelector("img");
return {picture: image.src, alt: image.alt, height: image.height,
        caption: arguments[0].querySelector("[aria-live]").textContent,
        spoken: arguments[1].getAttribute("aria-valuetext"), value: arguments[1].value};
"""


def stuck_sliders(browser: Any) -> list[str]:
    """Move every slider by keyboard over all its values; return what does not follow it."""
    faults = []
    for figure in browser.find_elements(By.CSS_SELECTOR, "figure.mlbook-explore"):
        for slider in figure.find_elements(By.CSS_SELECTOR, "input[type=range]"):
            browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", slider)
            start = browser.execute_script(READ, figure, slider)
            slider.send_keys(Keys.HOME)
            states = [browser.execute_script(READ, figure, slider)]
            for _ in range(int(slider.get_attribute("max"))):
                slider.send_keys(Keys.ARROW_RIGHT)
                states.append(browser.execute_script(READ, figure, slider))
            slider.send_keys(Keys.HOME, *[Keys.ARROW_RIGHT] * int(start["value"]))
            if browser.execute_script(READ, figure, slider) != start:
                faults.append(f"moved back, another state: {start['alt']}")
            for key in ("value", "spoken", "alt", "caption"):
                if any(a[key] == b[key] for a, b in pairwise(states)):
                    faults.append(f"the slider moves and the {key} does not: {start['alt']}")
            if len({s["picture"] for s in states}) == 1:
                faults.append(f"the slider moves and the picture does not: {start['alt']}")
            if len({s["height"] for s in states}) > 1:
                faults.append(f"the picture changes its height: {start['alt']}")
    return faults


def stuck_buttons(browser: Any) -> list[str]:
    """Choose every button of every explorer; return what does not follow it."""
    faults = []
    for figure in browser.find_elements(By.CSS_SELECTOR, "figure.mlbook-explore"):
        for group in figure.find_elements(By.CSS_SELECTOR, "[role=radiogroup]"):
            buttons = group.find_elements(By.CSS_SELECTOR, "input[type=radio]")
            states = []
            for button in buttons:
                browser.execute_script("arguments[0].click()", button)
                states.append(browser.execute_script(READ, figure, button))
            for key in ("alt", "caption"):
                if len({state[key] for state in states}) < len(buttons):
                    faults.append(f"a button changes no {key}: {states[0]['alt']}")
    return faults


def test_every_slider_moves_its_picture(page: Page) -> None:
    written = page.path.read_text().count('<figure class="mlbook-explore"')
    assert len(page.browser.find_elements(By.CSS_SELECTOR, "figure.mlbook-explore")) == written
    assert stuck_sliders(page.browser) + stuck_buttons(page.browser) == []
    assert console_errors(page.browser) == []


def test_the_page_works_under_its_policy(page: Page) -> None:
    assert page.ask("use") == []
    assert console_errors(page.browser) == []


STOPPED = ["connect-src", "img-src", "script-src", "script-src-attr", "script-src-elem"]
STOPPED += ["style-src-elem"]


def test_foreign_code_does_not_run(page: Page) -> None:
    assert page.ask("injected") == {"ran": [], "stopped": STOPPED}
    console_errors(page.browser)  # all of this was written there


def test_accessible(page: Page) -> None:
    """The last of a page's tests: it takes the page apart."""
    assert page.inaccessible() == []


TARGET = re.compile(r'<(?:section|div class="(?:proof|exercise) [^"]*") id="([^"]+)"')


def places() -> list[tuple[str, str]]:
    """Return sections, theorems and exercises of all chapters: every ninth, with its page."""
    pages = [page for page in PAGES if re.fullmatch(r"book/\w+.html", page)]
    found = [(page, name) for page in pages for name in TARGET.findall((HTML / page).read_text())]
    return found[::9]


def landing_faults(browser: Any, address: str) -> list[str]:
    """Open a place of a page from nothing, then by a click from the page's top."""
    faults = []
    for how in ("cold", "by click"):
        if how == "cold":
            browser.get("about:blank")
            browser.get(address)
            browser.execute_script(CHECKS)
        else:
            browser.execute_script("scrollTo(0, 0)")
            browser.execute_script(
                "const link = document.createElement('a'); link.href = location.hash; link.click()"
            )
        time.sleep(0.5)  # what still moves has moved
        missed = browser.execute_script("return pageChecks.missed()")
        if missed > 10:
            faults.append(f"{address}, {how}: {missed:.0f} pixels off")
    return faults


@pytest.mark.parametrize("width", [390, 1280])
def test_links_land_where_they_point(browser: Any, width: int) -> None:
    found = places()
    assert len(found) >= 30 or not PAGES
    set_width(browser, width)
    addresses = [f"{(HTML / page).as_uri()}#{name}" for page, name in found]
    faults = [fault for each in addresses for fault in landing_faults(browser, each)]
    set_width(browser, 1280)
    assert faults == []


@pytest.fixture
def served() -> Iterator[str]:
    """The address of the book on a web server."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(HTML))) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("asked", "first"),
    [("whitening", ""), ("change point", "change_points"), ("λ", ""), ("Rand", "")],
)
@pytest.mark.parametrize("where", ["server", "folder"])
def test_search_works_under_its_policy(
    browser: Any, request: pytest.FixtureRequest, where: str, asked: str, first: str
) -> None:
    address = request.getfixturevalue("served") if where == "server" else HTML.as_uri()
    console_errors(browser)
    browser.get(f"{address}/search.html")
    form = browser.find_element(By.CSS_SELECTOR, ".bd-search-container form.bd-search")
    ask = "arguments[0].elements.q.value = arguments[1]; arguments[0].requestSubmit()"
    browser.execute_script(ask, form, asked)
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".mlbook-found"))
    links = browser.find_elements(By.CSS_SELECTOR, "#mlbook-results li > p:first-child > a")
    assert links and f"{first}.html" in links[0].get_attribute("href")
    marks = browser.find_elements(By.CSS_SELECTOR, "#mlbook-results mark")
    marked = [mark.text.lower() for mark in marks]
    assert marked and "random" not in marked
    assert console_errors(browser) == []


class Links(HTMLParser):
    """Collects the ids of a page and the addresses it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.addresses.append(value)


def broken_links(root: Path) -> list[str]:
    """Return the links inside the book that lead to no file or to no place in it."""
    pages = {p: Links(p.read_text()) for p in root.rglob("*.html") if "_static" not in p.parts}
    faults = []
    for path, links in pages.items():
        for address in set(links.addresses):
            parts = urlsplit(urljoin(path.as_uri(), address))
            if parts.scheme != "file":
                continue
            target = Path(unquote(parts.path))
            anchor = unquote(parts.fragment)
            if not target.is_file():
                faults.append(f"{path.relative_to(root)}: no file {address}")
            elif anchor and target in pages and anchor not in pages[target].ids:
                faults.append(f"{path.relative_to(root)}: no place {address}")
    return sorted(faults)


def test_every_link_inside_the_book_leads_somewhere() -> None:
    assert broken_links(HTML) == []


class Outputs(HTMLParser):
    """Collects the outputs of cells that show a figure or an explorer, each with its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.figures: list[list[str]] = []
        self.depth = 0  # of open divs, counted from that of the output
        self.shows, self.links, self.in_source = False, [], False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        classes = values.get("class", "").split()
        if tag == "div" and (self.depth or "cell_output" in classes):
            if not self.depth:
                self.shows, self.links = False, []
            self.depth += 1
        if self.depth:
            self.shows |= tag == "img" or "mlbook-explore" in classes
            self.in_source = "mlbook-source" in classes or (self.in_source and tag == "a")
            if self.in_source and tag == "a":
                self.links.append(values["href"])

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self.depth:
            self.depth -= 1
            if not self.depth and self.shows:
                self.figures.append(self.links)


def figures_without_source(root: Path) -> list[str]:
    """Return the figures that do not link to one place on the page of a source.

    The recipe for drawing shows its whole code.
    """
    faults = []
    for path in sorted({*(root / "book").rglob("*.html")} - {root / "book/recipes/plotting.html"}):
        for number, links in enumerate(Outputs(path.read_text()).figures, start=1):
            if len(links) != 1 or not re.search(r"_modules/book/figures/.+\.html#\w+$", links[0]):
                faults.append(f"{path.relative_to(root)}: figure {number} has {links}")
    return faults


def test_every_figure_links_its_source() -> None:
    """That the places are there is checked with all links."""
    assert figures_without_source(HTML) == []


# Each check on a page that must fail it.

WHOLE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A page</title><link rel="icon" href="data:,"></head>
<body><main><h1>A page</h1>{}</main></body></html>"""
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
SLIDER = f"""<figure class="mlbook-explore"><label>k <input type="range" max="2" value="0"
aria-valuetext="0"></label><img src="{PIXEL}" alt="A made-up figure, k = 0">
<span aria-live="polite">0</span><script>document.querySelector("input").oninput = (e) => {{
  e.target.setAttribute("aria-valuetext", e.target.value);
  document.querySelector("[aria-live]").textContent = e.target.value;
  document.querySelector("img").alt = "A made-up figure, k = " + e.target.value;
}};</script></figure>"""


@pytest.fixture
def broken(browser: Any, tmp_path: Path) -> Any:
    def load(body: str) -> Page:
        (tmp_path / "page.html").write_text(WHOLE.format(body))
        return Page(browser, tmp_path / "page.html")

    return load


def test_a_sound_page_passes_every_check(broken: Any) -> None:
    page = broken(f'<p>Fine.</p><img src="{PIXEL}" alt="One transparent pixel">')
    assert page.errors + page.foreign() + page.too_wide() + stuck_sliders(page.browser) == []
    assert page.ask("maths") + page.ask("images") + page.ask("darkFigures") == []
    assert 0 < page.weight() < 1000
    assert page.inaccessible() == []


def test_console_errors_are_seen(broken: Any) -> None:
    assert "out of order" in broken("<script>throw Error('out of order')</script>").errors[0]


def test_other_hosts_are_seen(broken: Any) -> None:
    address = "https://example.org/a.png"
    assert broken(f'<img src="{address}" alt="Not there at all">').foreign() == [address]


def test_weight_is_seen(broken: Any, tmp_path: Path) -> None:
    (tmp_path / "heavy.png").write_bytes(os.urandom(MAX_WEIGHT))
    assert broken('<img src="heavy.png" alt="A heavy image">').weight() > MAX_WEIGHT


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<p>If $x^2$ is</p>", "raw: If $x^2$ is"),
        (r'<div class="math">\[x\]</div>', r"not converted: \[x\]"),
        ("<math><merror><mi>x</mi></merror></math>", "error: x"),
        ("<math></math>", "empty: <math></math>"),
        ('<span class="math" tabindex="0"><math><mi>x</mi></math></span>', "a tab stop: x"),
    ],
)
def test_raw_and_failed_maths_is_seen(broken: Any, body: str, fault: str) -> None:
    assert fault in broken(body).ask("maths")


def test_missed_links_are_seen(broken: Any) -> None:
    tall = '<div style="height: 2000px"></div>'
    page = broken(f"{tall}<h2 id='here'>Here</h2>{tall}")
    assert landing_faults(page.browser, f"{page.path.as_uri()}#here") == []
    late = "setTimeout(() => document.querySelector('h1').style.height = '500px', 99)"
    moving = f"<style>* {{ overflow-anchor: none }}</style><script>onload = () => {late}</script>"
    page = broken(f"{moving}{tall}<h2 id='here'>Here</h2>{tall}")
    (fault,) = landing_faults(page.browser, f"{page.path.as_uri()}#here")
    assert "cold" in fault


def test_far_controls_are_seen(broken: Any) -> None:
    body = '<p id="pst-skip-link"><a href="#there">Skip</a></p><article id="there">{}{}</article>'
    slider = '<input type="range" aria-label="k">'
    link = '<a href="#there">link</a>'
    assert tabs_to_first_control(broken(body.format(link, slider)).browser) == 2
    assert tabs_to_first_control(broken(body.format(link * 50, slider)).browser) == 51
    assert tabs_to_first_control(broken(body.format(link, "")).browser) is None


def test_images_without_picture_or_words_are_seen(broken: Any) -> None:
    faults = broken(f'<img src="none.png" alt="Nothing to see"><img src="{PIXEL}">').ask("images")
    assert [f.split(":")[0] for f in faults] == ["does not show", 'alt text ""']
    tall = f'<img src="{PIXEL}" alt="Taller than it should be" width="10" height="20">'
    assert [f.split(":")[0] for f in broken(tall).ask("images")] == ["not in its shape"]


def test_figures_without_ground_are_seen(broken: Any) -> None:
    page = broken(f'<figure><img src="{PIXEL}" alt="A made-up figure"></figure>')
    assert page.ask("darkFigures") == ["no white ground: A made-up figure"]


def test_wide_pages_are_seen(broken: Any) -> None:
    faults = broken('<div style="width: 380px; height: 1px"></div>').too_wide()
    assert [f.split("window of ")[1] for f in faults] == ["360, light", "360, dark"]


def test_code_without_a_policy_is_seen(broken: Any) -> None:
    assert broken("<p>No policy.").ask("injected") == {
        "ran": ["address", "eval", "handler", "script"],
        "stopped": [],
    }


def test_what_does_not_answer_is_seen(broken: Any) -> None:
    page = broken(
        '<button onclick="print()" disabled>Print</button><form class="mlbook-quiz"><fieldset>'
        "<label>2</label><p>Right.<p>Wrong.</fieldset></form>"
    )
    assert page.ask("use") == ["no reason for the answer 2", "a button does not call print"]


def test_stuck_sliders_are_seen(broken: Any) -> None:
    assert [f.split(":")[0] for f in stuck_sliders(broken(SLIDER).browser)] == [
        "the slider moves and the picture does not",
    ]
    deaf = broken(SLIDER.replace("<input", '<input disabled="disabled"'))
    with pytest.raises(Exception, match="not interactable"):
        stuck_sliders(deaf.browser)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ('<p style="color: #999">Pale</p>', "light, 1280 pixels: color-contrast"),
        (
            "<style>[data-theme=dark] p { color: #333; background: #222 }</style><p>Dim</p>",
            "dark, 1280 pixels: color-contrast",
        ),
        ('<input type="range">', "light, 1280 pixels: label"),
        (
            '<div style="overflow: auto; width: 99vw; height: 20px"><p style="width: 400px">a<br>b',
            "light, 390 pixels: scrollable-region-focusable",
        ),
    ],
)
def test_barriers_are_seen(broken: Any, body: str, rule: str) -> None:
    faults = broken(body).inaccessible()
    assert faults and faults[0].startswith(rule), faults


def test_broken_links_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here"><a href="#here">1</a><a href="#there">2</a><a href="b.html#b">3</a>'
        '<a href="https://example.org/none">4</a><img src="c%20d.png?v=1"><a href="b.html#c">5</a>'
    )
    (tmp_path / "b.html").write_text('<p id="b">')
    assert broken_links(tmp_path) == [
        "a.html: no file c%20d.png?v=1",
        "a.html: no place #there",
        "a.html: no place b.html#c",
    ]


def test_figures_without_source_are_seen(tmp_path: Path) -> None:
    link = '<p class="mlbook-source"><a href="{}">source</a></p>'
    good = link.format("../_modules/book/figures/a.html#b")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.html").write_text(
        f'<div class="cell_output docutils"><div><img src="a.svg"></div>{good}</div>'
        '<div class="cell_output"><figure class="mlbook-explore"><a href="#">1</a></figure></div>'
        f'<img src="b.svg"><div class="cell_output"><p>No figure.</p></div>{good}'
        f'<div class="cell_output"><img src="c.svg">{link.format("b.html#c")}</div>'
    )
    assert figures_without_source(tmp_path) == [
        "book/a.html: figure 2 has []",
        "book/a.html: figure 3 has ['b.html#c']",
    ]
