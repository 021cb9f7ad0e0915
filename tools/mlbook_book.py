"""The book's Sphinx extension: what the build needs beyond _config.yml, one idea in each room."""

from __future__ import annotations

import shutil
from importlib.metadata import files
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from mlbook.plots import STYLE

ROOMS = (
    "executed_pages",
    "claim_pages",
    "repository_pages",
    "equation_tables",
    "source_pages",
    "quiz_pages",
    "live_pages",
    "page_nodes",
    "page_policy",
)


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


def style_plots(app: Sphinx, config: Config) -> None:
    """Draw the pictures of the reference as the book's figures are drawn."""
    config.plot_rcparams = STYLE


def setup(app: Sphinx) -> dict[str, bool]:
    """Open the rooms."""
    for room in ROOMS:
        app.setup_extension(room)
    app.connect("config-inited", style_plots)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
