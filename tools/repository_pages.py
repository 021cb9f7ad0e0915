"""Where the pages show the repository's address: buttons, a hint, notebooks to download."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import setup_cell
from repository import repository_url
from sphinx.application import Sphinx
from sphinx.config import Config

BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"

# What the introduction says about a notebook that is opened alone, with and without an address.
WITH_ADDRESS = """\
A notebook that is opened alone, for example on Colab, fetches the book in its first code cell.
The library alone comes by `%pip install "mlbook @ git+{url}"`."""
WITHOUT_ADDRESS = """\
A notebook that is opened alone fetches the book in its first code cell, once you have written
there where your copy of the repository is. The library alone comes by `pip install .` in that
copy, with what figures need by `pip install ".[notebook]"`, with Dask and pandas by
`pip install ".[scale]"`. Lines with `from book` in a recipe draw and check its page: leave them out
in your own code."""


def add_repository(app: Sphinx, config: Config) -> None:
    """Fill the launch and repository buttons, and the hint of the introduction."""
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
    hint = WITH_ADDRESS.format(url=url) if url else WITHOUT_ADDRESS
    config.myst_substitutions = {"opened_alone": hint}


def fill_downloads(app: Sphinx, error: Exception | None) -> None:
    """Write the address into the notebooks to download, so that they work anywhere."""
    url = repository_url(Path(app.srcdir))
    if error or url is None or app.builder.format != "html":
        return
    for path in sorted((Path(app.outdir) / "_sources").rglob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if setup_cell.fill(notebook, url):
            text = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the jobs."""
    app.connect("config-inited", add_repository, priority=100)
    app.connect("build-finished", fill_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
