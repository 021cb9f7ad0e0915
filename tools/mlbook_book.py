"""What the book's build needs beyond _config.yml: a few small jobs, in the order of `setup`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import partialmethod
from importlib.metadata import files
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from nbclient import NotebookClient
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"
LOGGER = logging.getLogger(__name__)


def repository_url(source: Path) -> str | None:
    """Return the web address of the repository that is being built, or None if it has none.

    On GitHub's machines the address is in the environment; elsewhere it is that of the
    remote ``origin``, if that is on a host Binder and Colab know.
    """
    if "GITHUB_REPOSITORY" in os.environ:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        return f"{server}/{os.environ['GITHUB_REPOSITORY']}"
    git = ["git", "-C", str(source), "remote", "get-url", "origin"]
    try:
        remote = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.fullmatch(r"(?:https://|git@|ssh://git@)(github\.com)[:/](.+?)(?:\.git)?/?", remote)
    return f"https://{match[1]}/{match[2]}" if match else None


def add_repository(app: Sphinx, config: Config) -> None:
    """Fill the launch and repository buttons, and the addresses in the text."""
    url = repository_url(Path(app.srcdir))
    options: dict[str, Any] = config.html_theme_options
    options.pop("repository_url", None)
    options.pop("launch_buttons", None)
    if url:
        options |= {
            "repository_url": url,
            "repository_branch": os.environ.get("GITHUB_REF_NAME", "main"),
            "path_to_docs": "",
            "use_repository_button": True,
            "use_issues_button": True,
            "launch_buttons": {
                "binderhub_url": BINDER,
                "colab_url": COLAB,
                "notebook_interface": "jupyterlab",
            },
        }
    where = f"git+{url}" if url else "git+ADDRESS-OF-YOUR-COPY"
    config.myst_substitutions = {"pip_install": f'`%pip install "mlbook @ {where}"`'}


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    """Copy MathJax with its fonts and TeX extensions from the installed package."""
    if error or app.builder.format != "html":
        return
    source = next(
        Path(str(f.locate())).parent
        for f in files("sphinx-mathjax-offline") or []
        if f.name == "tex-chtml.js"
    )
    target = Path(app.outdir) / "_static" / "mathjax"
    for part in ("output/chtml/fonts/woff-v2", "input/tex/extensions"):
        shutil.copytree(source / part, target / part, dirs_exist_ok=True)
    shutil.copy(source / "tex-chtml.js", target)


# What the theme and the extensions write into every page, and what stands there instead.
MENDS = (
    # Hints to load files early: from file:// those for fonts log errors.
    (r'<link rel="preload" as="(?:font|script)"[^>]*>\s*', ""),
    # 1.5 MB of script that replaces icons the icon font has already drawn.
    (r'<script src="[^"]*/fontawesome/[^"]*"></script>\s*', ""),
    # Names for those who hear the page: the arrow of a folded list, the side bar, and no other
    # name where the text says it ("Search Ctrl+K", "Show code"); a role that lists may contain.
    (r'<summary>(?=<span class="toctree-toggle")', '<summary aria-label="Pages of this part">'),
    (r'(<button class="btn search-button[^>]*?) title="Search" aria-label="Search"', r"\1"),
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    (
        r'(<div class="bd-sidebar-primary bd-sidebar)"',
        r'\1" role="complementary" aria-label="Book"',
    ),
    (r'(<img [^>]*class="toggler"[^>]*) alt="-"', r'\1 alt="Show or hide the modules inside"'),
    (r'role="doc-biblioentry"', 'role="listitem"'),
    # A browser may break the line between a formula and the comma after it.
    (
        r'(<span class="math notranslate nohighlight">[^<]*</span>[.,;:!?)\]]+)',
        r'<span class="mlbook-together">\1</span>',
    ),
    # The empty corner of a table heads nothing.
    (r'<th class="head"><p></p></th>', "<td></td>"),
)


def mend_pages(app: Sphinx, error: Exception | None) -> None:
    """Apply `MENDS` to every page: weight, console errors and accessibility."""
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text()
        for pattern, replacement in MENDS:
            text = re.sub(pattern, replacement, text)
        page.write_text(text)


class equation_table(nodes.General, nodes.Element):
    """Stands for the index of a paper until all pages are read and can be linked to."""


class Equations(SphinxDirective):
    """``{equations} PAPER``: where what PAPER numbers is derived, computed and tested."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Leave a placeholder."""
        return [equation_table("", paper=self.arguments[0])]


def fill_equations(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put tables made by tools/equations.py in the places of the placeholders."""
    places = list(doctree.findall(equation_table))
    if not places:
        return
    from equations import Entry, Index

    def alike(pair: tuple[Any, Entry]) -> list[Any]:
        """Key by which the steps of a proof share a row."""
        entry = pair[1]
        return [entry.without, entry.section, entry.function, entry.test]

    index, links = Index(Path(app.srcdir)), Links(app, docname)
    for place in places:
        listed = [pair for pair in index.entries.items() if pair[0].paper == place["paper"]]
        rows = []
        for _, group in groupby(listed, alike):
            pairs = list(group)
            entry = pairs[0][1]
            cells = {
                "item": [cell for pair in pairs for cell in links.item(*pair)],
                "section": [links.section(section) for section in entry.section],
                "function": [links.function(code) for code in entry.function],
                "test": [links.test(code) for code in entry.test],
            }
            said: set[str] = set()
            for part, reason in entry.without.items():
                cells[part].append(nodes.paragraph("", "—" if reason in said else reason))
                said.add(reason)
            rows.append(list(cells.values()))
        heads = ["In the paper", "Derived in", "Computed by", "Tested by"]
        place.replace_self(equation_rows(heads, rows))


class Links:
    """Paragraphs that link from a page to what the index names."""

    def __init__(self, app: Sphinx, docname: str) -> None:
        self.app, self.docname = app, docname
        self.objects = app.env.domaindata["py"]["objects"]
        self.repository = repository_url(Path(app.srcdir))

    def item(self, item: Any, entry: Any) -> list[nodes.paragraph]:
        """Name and contents of an item; a second paragraph says where the paper errs."""
        name = nodes.strong("", item.name, ids=[nodes.make_id(str(item))])
        found = [nodes.paragraph("", "", name, nodes.Text(f" {entry.what}."))]
        if entry.note:
            found.append(nodes.paragraph("", "", nodes.emphasis("", entry.note)))
        return found

    def section(self, section: Any) -> nodes.paragraph:
        """Link to a heading of a chapter, by its position in the page."""
        headings = list(self.app.env.tocs[section.page].findall(nodes.reference))
        if section.number >= len(headings):
            LOGGER.warning("%s has no heading number %d", section.page, section.number)
            return nodes.paragraph("", section.name)
        heading = headings[section.number]
        numbers = self.app.env.toc_secnumbers.get(section.page, {}).get(heading["anchorname"], ())
        title = " ".join([".".join(map(str, numbers)), heading.astext()]).strip()
        return self.link(section.page, heading["anchorname"].lstrip("#"), nodes.Text(title))

    def function(self, code: Any) -> nodes.paragraph:
        """Link to the reference, where a private module is shown under its public name."""
        tail = "." + ".".join(code.name.split(".")[2:])
        public = [code.name] if code.name in self.objects else []
        public += [name for name in self.objects if name.endswith(tail)]
        shown = breakable((public or [code.name])[0].removeprefix("mlbook."))
        if not public:
            return self.source(code, shown)
        target = self.objects[public[0]]
        return self.link(target.docname, target.node_id, shown)

    def test(self, code: Any) -> nodes.paragraph:
        """Name a test as pytest does."""
        return self.source(code, breakable(f"{Path(code.path).name}::{code.name}"))

    def source(self, code: Any, shown: nodes.Node) -> nodes.paragraph:
        """Link to the line in the repository, if it has an address."""
        if self.repository is None:
            return nodes.paragraph("", "", shown)
        branch = os.environ.get("GITHUB_REF_NAME", "main")
        address = f"{self.repository}/blob/{branch}/{code.path}#L{code.line}"
        return nodes.paragraph("", "", nodes.reference("", "", shown, refuri=address))

    def link(self, page: str, anchor: str, shown: nodes.Node) -> nodes.paragraph:
        """Link to an anchor of a page of the book."""
        address = self.app.builder.get_relative_uri(self.docname, page) + f"#{anchor}"
        link = nodes.reference("", "", shown, refuri=address, internal=True)
        return nodes.paragraph("", "", link)


def breakable(name: str) -> nodes.raw:
    """Set a name as code that may break after its parts; copied, it stays whole."""
    parts = re.sub(r"(?<=[_.:])(?=\w)|(?<=[a-z])(?=[A-Z])", "<wbr>", name)
    return nodes.raw("", f'<code class="docutils literal">{parts}</code>', format="html")


def equation_rows(heads: list[str], rows: list[list[list[nodes.paragraph]]]) -> nodes.table:
    """Lay out a table; mlbook.css puts its cells below each other on a phone."""

    def row(cells: list[list[nodes.paragraph]]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", *cell) for cell in cells))

    group = nodes.tgroup("", cols=len(heads))
    group += [nodes.colspec(colwidth=width) for width in (30, 20, 20, 30)]
    group += nodes.thead("", row([[nodes.paragraph("", head)] for head in heads]))
    group += nodes.tbody("", *(row(cells) for cells in rows))
    return nodes.table("", group, classes=["mlbook-equations", "colwidths-given"])


def keep_streams_whole() -> None:
    """Store what a cell prints as one output, wherever the kernel happened to cut it.

    MyST-NB would put a line break at each cut, and two builds would differ.
    """
    whole = partialmethod(NotebookClient.__init__, coalesce_streams=True)
    setattr(NotebookClient, "__init__", whole)  # noqa: B010  (mypy forbids the assignment)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the jobs; kernels started from here on draw static explorers."""
    os.environ["MLBOOK_STATIC"] = "1"
    keep_streams_whole()
    app.add_node(equation_table)
    app.add_directive("equations", Equations)
    app.connect("doctree-resolved", fill_equations)
    app.connect("config-inited", add_repository, priority=100)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", mend_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
