"""How a page is found and cited: its description, its address, a site map, a page for wrong links.

The address of the site is one setting, ``html: baseurl`` in _config.yml. Without it nothing says
where the pages are: no address in the description, no canonical link, no site map, and no page for
wrong links, which needs absolute ones.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

import mlbook

KEY = "mlbook"
NO_TEXT = ("search", "genindex")  # nothing to cite there, nor to find
FOOT = ["cite.html", "author.html", "extra-footer.html"]
ADDRESSES = re.compile(r'<meta property="og:(?:url|image|image:alt)"[^>]*>\n?')


def address(config: Config) -> str:
    """Return the address of the site with a slash at its end, "" if it is not known."""
    found: str = config.html_baseurl
    return f"{found.rstrip('/')}/" if found else ""


def describe(app: Sphinx, config: Config) -> None:
    """Set what the three extensions need: one address, and one picture for all pages."""
    config.ogp_site_url = address(config)
    config.ogp_site_name = config.project
    config.ogp_social_cards = {"enable": False}
    config.ogp_image = "_static/two_metrics.png"
    config.ogp_image_alt = (
        "The same points clustered with the plain distance, which mixes three groups, and with "
        "a learned one, which finds them."
    )
    folders = [Path(app.srcdir) / folder for folder in config.templates_path]
    if any((folder / FOOT[0]).is_file() for folder in folders):
        config.html_theme_options["footer_content_items"] = FOOT
    if not address(config):
        return
    config.notfound_urls_prefix = urlparse(address(config)).path
    config.site_url = address(config)
    config.sitemap_url_scheme = "{link}"
    config.sitemap_excludes = [f"{page}.html" for page in (*NO_TEXT, "404")]


def bibtex(title: str, page: str, config: Config) -> str:
    r"""Return the entry for a page; with the name of the book as its title for the home page.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> config = SimpleNamespace(html_baseurl="", project="Learning to cluster",
    ...                          author="The authors", copyright="2026", root_doc="book/intro")
    >>> print(bibtex("MLCA", "book/mlca", config).splitlines()[1])
      title     = {MLCA},
    """
    fields = {
        "title": title,
        "booktitle": config.project,
        "author": f"{{{config.author}}}",
        "year": config.copyright,
        "note": f"Version {mlbook.__version__}",
    }
    home = page == config.root_doc
    if home:
        fields["title"] = fields.pop("booktitle")
    if address(config):
        fields["url"] = f"{address(config)}{page}.html"
    lines = [f"  {name:9} = {{{value}}}" for name, value in fields.items()]
    name = KEY if home else f"{KEY}-{page.rsplit('/', 1)[-1]}"
    return f"@{'book' if home else 'inbook'}{{{name},\n" + ",\n".join(lines) + "\n}"


def add_citation(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Hand the entry of a page to the template at its foot."""
    if doctree is not None and page not in NO_TEXT:
        title = nodes.Text(re.sub(r"<[^>]+>", "", context["title"])).astext()
        context["cite_page"] = bibtex(title, page, app.config)


def drop_addresses(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take addresses away that would lead nowhere."""
    if not address(app.config):
        context["metatags"] = ADDRESSES.sub("", context.get("metatags", ""))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the jobs around those of the extensions."""
    app.setup_extension("sphinxext.opengraph")
    if app.config.html_baseurl:
        app.setup_extension("notfound.extension")
        app.setup_extension("sphinx_sitemap")
    app.connect("config-inited", describe, priority=100)
    app.connect("html-page-context", add_citation)
    app.connect("html-page-context", drop_addresses, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
