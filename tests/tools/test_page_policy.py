"""The policy of a page allows the page's own code and no other."""

import os
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
import page_policy
from page_policy import Code, with_policy

pytestmark = pytest.mark.book

TOOLS = Path(page_policy.__file__).parent
PAGE = """<!DOCTYPE html><html><head>
<meta charset="utf-8" />
<title>A page</title><script>document.title = "ran";</script></head><body>
<button onclick="document.title += &quot; and answered&quot;">Press</button>
<script type="application/json">{"no": "code"}</script><script src="x.js"></script>
</body></html>"""
SCRIPT, HANDLER = 'document.title = "ran";', 'document.title += " and answered"'


def rules(html: str) -> dict[str, list[str]]:
    """The rules of the one policy of a page."""
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    parts = [rule.split() for rule in policy.split(";")]
    return {name: values for name, *values in parts}


def hash_of(code: str) -> str:
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"


def test_code_is_found():
    code = Code(PAGE)
    assert (code.scripts, code.handlers, code.loaded) == ([SCRIPT], [HANDLER], ["x.js"])
    assert Code("<SCRIPT TYPE=module>1 < 2 && '</b>'</SCRIPT>").scripts == ["1 < 2 && '</b>'"]
    assert Code("<p>no &lt;script&gt;code&lt;/script&gt;</p>").scripts == []


def test_the_policy_has_the_hashes_of_its_page_and_no_host():
    html = with_policy(PAGE, [SCRIPT, HANDLER, SCRIPT])
    found = rules(html)
    wanted = {"'self'", "file:", "'unsafe-hashes'", hash_of(SCRIPT), hash_of(HANDLER)}
    assert {*found["script-src"]} == wanted
    assert found["default-src"] == ["'none'"]
    others = {value for name, values in found.items() for value in values} - wanted
    assert others == {"'none'", "data:", "'unsafe-inline'"}
    assert [name for name in found if "'unsafe-inline'" in found[name]] == ["style-src"]
    head = html.partition("<title>")[0]
    assert head.index("charset") < head.index("Content-Security-Policy")
    assert html.replace(re.search(r"\s*<meta http-equiv.*?/>", html)[0], "") == PAGE


def test_a_page_allows_its_own_scripts_and_the_buttons_of_all(small_site):
    pages = [p for p in small_site.rglob("*.html") if "_static" not in p.parts]
    assert {"page.html", "drawing.html", "search.html"} <= {page.name for page in pages}
    texts = [page.read_text() for page in pages]
    buttons = {hash_of(handler) for text in texts for handler in Code(text).handlers}
    assert buttons
    for text in texts:
        hashes = {value for value in rules(text)["script-src"] if value.startswith("'sha256-")}
        assert hashes == buttons | {hash_of(script) for script in Code(text).scripts}


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("<b>bold</b>", ""),
        ("<script>alert(1)</script>", "alert(1)"),
        ("<script src='https://example.org/a.js'></script>", "https://example.org/a.js"),
        ("<p onmouseover='alert(2)'>Here</p>", "alert(2)"),
    ],
    ids=["text", "script", "address", "handler"],
)
def test_code_in_the_text_fails_the_build(text, refused, tmp_path):
    (tmp_path / "conf.py").write_text('extensions = ["page_policy"]\n')
    indented = "\n".join(f"   {line}" for line in text.splitlines())
    (tmp_path / "index.rst").write_text(f"Page\n====\n\n.. raw:: html\n\n{indented}\n")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", ".", "built"]
    environment = os.environ | {"PYTHONPATH": f"{TOOLS}{os.pathsep}{TOOLS.parent}"}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    if refused:
        assert run.returncode and f"must bring no code: {refused}" in run.stderr
    else:
        assert run.returncode == 0, run.stderr


@pytest.mark.browser
def test_a_browser_runs_the_pages_code_and_nothing_added_later(browser, tmp_path):
    path = tmp_path / "page.html"
    added = "<script>document.title = 'taken over'</script></body>"
    path.write_text(with_policy(PAGE, [SCRIPT, HANDLER]).replace("</body>", added))
    (tmp_path / "x.js").write_text("document.body.dataset.loaded = 1;")
    browser.get_log("browser")
    browser.get(path.as_uri())
    browser.find_element("tag name", "button").click()
    assert browser.title == "ran and answered"
    assert browser.execute_script("return document.body.dataset.loaded") == "1"
    (message,) = [entry["message"] for entry in browser.get_log("browser")]
    assert "inline script" in message and "Content Security Policy" in message
