"""Live figures on the pages."""

import re

import pytest

pytestmark = pytest.mark.book


def test_a_page_with_a_live_figure_loads_what_wakes_it(small_site):
    page = (small_site / "book" / "page.html").read_text()
    assert page.count('<figure class="mlbook-live ') == 1
    assert re.search(r'<figure class="mlbook-live .*?<svg [^>]*>.*?<path ', page, re.S)
    scripts = re.findall(r'<script defer="defer" src="\.\./_static/(live/\w+\.js)', page)
    assert scripts == ["live/core.js", "live/metric.js", "live/wake.js"]
    assert 'href="../_static/live/live.css' in page
    for name in [*scripts, "live/live.css"]:
        assert (small_site / "_static" / name).stat().st_size > 100


def test_a_page_without_one_loads_nothing(small_site):
    assert "_static/live/" not in (small_site / "contents.html").read_text()


def test_the_picture_for_links_is_there(small_site):
    assert (small_site / "_static" / "two_metrics.png").read_bytes()[:4] == b"\x89PNG"
