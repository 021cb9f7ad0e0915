"""Figures that move, on a page of their own and in a foreign page."""

import re
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import bs4
import embed_pages as embed
import pytest

pytestmark = pytest.mark.book
SITE = "https://who.example/what/"


def test_every_figure_that_moves_has_a_page_with_nothing_else(small_site):
    written = sorted(path.name for path in (small_site / "embed").iterdir())
    assert written == ["page-1.html", "page-metric.html"]
    for name in written:
        page = bs4.BeautifulSoup((small_site / "embed" / name).read_text(), "html.parser")
        assert [tag.name for tag in page.main.find_all(True, recursive=False)] == ["figure"]
        policy = page.select_one("meta[http-equiv]")["content"]
        assert "default-src 'none'" in policy and "frame-ancestors" not in policy
        assert page.footer.a["href"] == "../book/page.html"
    scripts = [tag["src"] for tag in page.select("script[src]")]
    assert scripts == [f"../_static/live/{name}.js" for name in ("core", "metric", "wake")]


def test_the_line_to_copy_has_the_address_of_the_site(small_site):
    page = bs4.BeautifulSoup((small_site / "book" / "page.html").read_text(), "html.parser")
    lines = [tag.get_text() for tag in page.select("details.mlbook-embed pre")]
    found = [bs4.BeautifulSoup(line, "html.parser").iframe["src"] for line in lines]
    assert sorted(found) == [f"{SITE}embed/page-1.html", f"{SITE}embed/page-metric.html"]


def test_without_an_address_the_line_says_what_to_write():
    shown = unescape(embed.disclosure("a-1", "<figure>", "A", ""))
    assert 'src="ADDRESS/embed/a-1.html"' in shown and "in place of ADDRESS" in shown
    assert "ADDRESS" not in embed.disclosure("a-1", "<figure>", "A", SITE)


def test_pictures_and_controls_make_room():
    block = '<img width="500" height="300">'
    assert embed.height(block) + 40 == embed.height(block + f"<div {embed.CONTROL}>")
    assert embed.height("<svg>") == embed.LIVE_HEIGHT


@pytest.fixture
def servers(small_site, tmp_path):
    """Addresses of the book and of another site."""
    running = []
    for folder in (small_site, tmp_path):
        handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
        running.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        Thread(target=running[-1].serve_forever).start()
    yield [f"http://127.0.0.1:{server.server_port}/" for server in running]
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.mark.browser
def test_a_foreign_page_shows_the_figure_and_it_moves(small_site, servers, tmp_path, browser):
    from selenium.webdriver.common.keys import Keys

    book, other = servers
    built = (small_site / "book" / "page.html").read_text()
    lines = [unescape(line) for line in re.findall(r"<pre><code>(&lt;iframe.*?)</code>", built)]
    (line,) = [line.replace(SITE, book) for line in lines if "metric" in line]
    (tmp_path / "page.html").write_text(f"<!DOCTYPE html><title>x</title><h1>Mine</h1>{line}")
    browser.get_log("browser")
    browser.get(f"{other}page.html")
    frame = browser.find_element("css selector", "iframe")
    room = frame.rect["height"]
    browser.switch_to.frame(frame)
    try:
        needed = browser.execute_script("return document.documentElement.scrollHeight")
        slider = browser.find_element("css selector", "figure input[type=range]")
        before = browser.find_element("css selector", "figure").text
        slider.send_keys(Keys.END)
        assert browser.find_element("css selector", "figure").text != before
    finally:
        browser.switch_to.default_content()
    assert needed <= room
    not_there = ("favicon.ico", "mlbook.css")  # the small site has neither
    said = [m["message"] for m in browser.get_log("browser")]
    assert [text for text in said if not any(name in text for name in not_there)] == []
