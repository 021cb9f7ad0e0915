"""What the book's build needs beyond _config.yml: a few small jobs, in the order of `setup`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.metadata import files
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"


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


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the jobs; kernels started from here on draw static explorers."""
    os.environ["MLBOOK_STATIC"] = "1"
    app.connect("config-inited", add_repository, priority=100)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", mend_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
