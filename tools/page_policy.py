"""What a built page may load and run: a Content-Security-Policy in the page itself.

Everything comes from the book's own folder, nothing from other hosts, and text is never run as
code. Scripts that stand in the page itself run only if the policy has their hash: those of Sphinx
and of the theme. HTML in the text or in an output may bring no code; it fails the build.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

OWN = "'self' file:"  # browsers do not agree whether 'self' is the disk for a page from there
POLICY = (
    "default-src 'none'",
    f"script-src {OWN} 'unsafe-hashes'",  # which lets hashes stand for onclick="..." as well
    f"style-src {OWN} 'unsafe-inline'",  # formulas and quizzes bring their own
    f"img-src {OWN} data:",
    f"font-src {OWN}",
    f"connect-src {OWN}",  # the search reads the pages it has found
    f"form-action {OWN}",
    "base-uri 'none'",
)
CHARSET = '<meta charset="utf-8" />'  # what stands before the policy, if it is there


class Code(HTMLParser):
    """Collects the code in a piece of HTML.

    Attributes
    ----------
    scripts : list of str
        Scripts that stand there.
    handlers : list of str
        Texts of attributes such as onclick.
    loaded : list of str
        Addresses of scripts.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.handlers: list[str] = []
        self.loaded: list[str] = []
        self.in_script = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note scripts and handlers; blocks of data do not run."""
        self.handlers += [value or "" for name, value in attrs if name.startswith("on")]
        values = dict(attrs)
        if tag == "script" and "src" in values:
            self.loaded.append(values["src"] or "")
        elif tag == "script" and values.get("type") != "application/json":
            self.in_script = True
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        """Add to the script that is open."""
        if self.in_script:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        """End a script."""
        if tag == "script":
            self.in_script = False


def with_policy(html: str, inline: Iterable[str]) -> str:
    """Return a page that allows this inline code and no other."""
    hashes = {b64encode(sha256(code.encode()).digest()).decode() for code in inline}
    allowed = "".join(f" 'sha256-{each}'" for each in sorted(hashes))
    rules = [rule + allowed * rule.startswith("script-src") for rule in POLICY]
    policy = f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}" />'
    before, charset, after = html.partition(CHARSET)
    return f"{before}{charset}\n    {policy}{after}" if charset else policy + html


def refuse_code(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Warn of code that the HTML of a page's text or outputs would bring."""
    for node in doctree.findall(nodes.raw):
        code = Code(node.astext())
        for each in [*code.scripts, *code.handlers, *code.loaded]:
            message = f"HTML in the text or an output must bring no code: {each.strip():.80}"
            logging.getLogger(__name__).warning(message, location=node)


def write_policies(app: Sphinx, error: Exception | None) -> None:
    """Give every page its policy: its own scripts, and the buttons of all pages.

    The search takes the pages apart that it has found, and with them their buttons.
    """
    if error or app.builder.format != "html":
        return
    pages = {
        path: path.read_text(encoding="utf-8")
        for path in Path(app.outdir).rglob("*.html")
        if "_static" not in path.parts
    }
    codes = {path: Code(html) for path, html in pages.items()}
    handlers = [handler for code in codes.values() for handler in code.handlers]
    for path, html in pages.items():
        page = with_policy(html, [*codes[path].scripts, *handlers])
        path.write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect both jobs."""
    app.connect("doctree-resolved", refuse_code)
    app.connect("build-finished", write_policies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
