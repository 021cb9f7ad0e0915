"""Figures for other people's pages: each that moves gets a page of its own, and the line to copy.

The page, ``embed/NAME.html``, has the figure, its files and where it is from, nothing else. Below
the figure in the book a small "embed" unfolds to an ``<iframe>`` with that address.
"""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from pathlib import Path

from docutils import nodes
from explorer_pages import FOLDER as PICTURES
from found_pages import address
from live_pages import DATA
from live_pages import FOLDER as LIVE
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

FOLDER = "embed"
FIGURE = re.compile(r'<figure class="mlbook-(?:live|explore)[ "]')
NO_ADDRESS = "ADDRESS"
LIVE_HEIGHT, LIVE_HEIGHTS = 520, {"six_points": 720}
EXPLORER = re.compile(r'<img [^>]*height="(\d+)"')
CONTROL, CHOICE = 'class="mlbook-explore-control"', 'class="mlbook-explore-choices"'
STYLE = (
    "body { margin: 0; padding: 4px; background: #fff; color: #222; font: 16px/1.4 sans-serif; }"
    "figure.mlbook-explore, figure.mlbook-live { margin: 0 auto; }"
    "figcaption { font-size: .9rem; }"
    "footer { margin: 6px auto 0; font-size: .8rem; text-align: center; }"
    "footer a { color: #0f5ccc; }"
)


def height(block: str) -> int:
    """Return how many pixels high a figure is at most where it has 700 pixels of width.

    Examples
    --------
    >>> height('<img width="500" height="300">')
    470
    """
    picture, live = EXPLORER.search(block), DATA.search(block)
    if live or not picture:
        return LIVE_HEIGHTS.get(live[1], LIVE_HEIGHT) if live else LIVE_HEIGHT
    return int(picture[1]) + 170 + 40 * block.count(CONTROL) + 45 * block.count(CHOICE)


def names(page: str, blocks: list[str]) -> list[str]:
    """Return the names of a page's figures: of the page and the live figure, or a number.

    Examples
    --------
    >>> live = '<figure class="mlbook-live mlbook-live-price" data-live="price">'
    >>> names("book/kmeans", ['<figure class="mlbook-explore">', live, live])
    ['kmeans-1', 'kmeans-price', 'kmeans-price-2']
    """
    first, seen, found = page.rpartition("/")[2], Counter[str](), []
    explorers = 0
    for block in blocks:
        live = DATA.search(block)
        explorers += live is None
        name = f"{first}-{live[1] if live else explorers}"
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return found


def snippet(name: str, block: str, title: str, site: str) -> str:
    """Return the line to copy."""
    return (
        f'<iframe src="{site or NO_ADDRESS + "/"}{FOLDER}/{name}.html" '
        f'title="{escape(title)}" width="100%" height="{height(block)}" '
        'style="border: 0; max-width: 46rem" loading="lazy"></iframe>'
    )


def disclosure(name: str, block: str, title: str, site: str) -> str:
    """Return what stands below a figure."""
    where = f" Write the address of your copy of the book in place of {NO_ADDRESS}." * (not site)
    return (
        '<details class="mlbook-embed"><summary>embed</summary>'
        f"<p>To show this figure on a page of yours, copy this line into it.{where}</p>"
        f"<pre><code>{escape(snippet(name, block, title, site))}</code></pre></details>"
    )


def page_of(block: str, docname: str, title: str, project: str) -> str:
    """Return the page of a figure."""
    live = DATA.findall(block)
    scripts = [f"{LIVE}/{name}.js" for name in ("core", *live, "wake")] if live else ["explore.js"]
    style = f"{LIVE}/live.css" if live else "explore.css"
    heads = [
        f'<link rel="stylesheet" href="../_static/{each}" />' for each in ("mlbook.css", style)
    ]
    heads += [f'<script defer="defer" src="../_static/{each}"></script>' for each in scripts]
    book = f'<a href="../{docname}.html" target="_blank">{escape(project)}: {escape(title)}</a>'
    return (
        '<!DOCTYPE html>\n<html lang="en" data-theme="light">\n<head>\n<meta charset="utf-8" />\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1" />\n'
        f'<meta name="robots" content="noindex" />\n<title>{escape(title)}</title>\n'
        + "\n".join(heads)
        + f"\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{block}\n</main>\n"
        f"<footer>{book}. CC BY 4.0</footer>\n</body>\n</html>\n"
    )


def offer(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the pages of a page's figures, and what stands below them."""
    if app.builder.format != "html":
        return
    found = [n for n in doctree.findall(nodes.raw) if FIGURE.match(n.astext().strip())]
    folder = Path(app.outdir) / FOLDER
    title = app.env.titles[docname].astext()
    here = relative_uri(app.builder.get_target_uri(docname), PICTURES)
    for node, name in zip(found, names(docname, [n.astext() for n in found]), strict=True):
        block = node.astext()
        folder.mkdir(exist_ok=True)
        moved = block.replace(f'"{here}/', f'"../{PICTURES}/')
        page = page_of(moved, docname, title, app.config.project)
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
        below = disclosure(name, block, title, address(app.config))
        node.replace_self(nodes.raw("", block + below, format="html", classes=node["classes"]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the job, after the pictures of explorers are files."""
    app.connect("doctree-resolved", offer, priority=450)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
