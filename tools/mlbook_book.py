"""The book's Sphinx extension: what the build needs beyond _config.yml, one idea in each room."""

from __future__ import annotations

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
    "math_pages",
    "permalinks",
    "found_pages",
    "search_pages",
    "explorer_pages",
    "live_pages",
    "embed_pages",
    "verdict_tables",
    "page_nodes",
    "page_policy",
)


def style_plots(app: Sphinx, config: Config) -> None:
    """Draw the pictures of the reference as the book's figures are drawn."""
    config.plot_rcparams = STYLE


def setup(app: Sphinx) -> dict[str, bool]:
    """Open the rooms."""
    for room in ROOMS:
        app.setup_extension(room)
    app.connect("config-inited", style_plots)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
