"""The built pages as material: the article of a page, moved to another place."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from bs4 import BeautifulSoup, Tag

STYLES = (
    "styles/theme.css",
    "styles/bootstrap.css",
    "styles/pydata-sphinx-theme.css",
    "pygments.css",
    "styles/sphinx-book-theme.css",
    "mystnb.*.css",
    "proof.css",
    "exercise.css",
    "sphinx-design.min.css",
    "explore.css",
    "live/live.css",
    "icons.css",
    "mlbook.css",
)
"""Where in ``_static`` the styles of an article are, in the order of a page."""

NOT_TAKEN = "a.headerlink, .mlbook-source, .mlbook-embed, noscript"
ADDRESSES = ("src", "href")
OUTSIDE = re.compile(r"^(?:[a-z]+:|//)")
PICTURE = re.compile(r'"([^"]*_static/explore/[^"]+)"')


def article(html: Path, page: str) -> Tag:
    """Return the article of a page, such as "book/mlca", without links to itself."""
    soup = BeautifulSoup((html / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    found = soup.find("article")
    if not isinstance(found, Tag):
        raise ValueError(f"{page} has no article")
    for tag in found.select(NOT_TAKEN):
        tag.decompose()
    return found


def move(part: Tag, page: str, files: str, site: str, inside: Mapping[str, str]) -> None:
    """Let the addresses in a part of a page hold elsewhere.

    Parameters
    ----------
    part : Tag
        What is moved.
    page : str
        Where it comes from.
    files : str
        Where the folder of the pages is from its new place.
    site : str
        The address of the site; a link to a page that is not inside leads there, or nowhere.
    inside : mapping of str to str
        Pages that are in the new place, and what stands there before their names.
    """
    own = inside.get(page, "")
    for tag in part.find_all(True):
        for name in ("id", "for", "aria-labelledby"):
            if name in tag.attrs:
                tag[name] = own + str(tag[name])
        if tag.name == "input" and "name" in tag.attrs:
            tag["name"] = own + str(tag["name"])
        if tag.name == "script" and tag.string:
            tag.string = PICTURE.sub(
                lambda found: f'"{files}/{resolved(page, found[1])}"', str(tag.string)
            )
        if "src" in tag.attrs and not OUTSIDE.match(str(tag["src"])):
            tag["src"] = f"{files}/{resolved(page, str(tag['src']))}"
        if tag.name == "a" and "href" in tag.attrs and not OUTSIDE.match(str(tag["href"])):
            target = link(page, str(tag["href"]), site, inside)
            if target:
                tag["href"] = target
            else:
                tag.unwrap()


def resolved(page: str, address: str) -> str:
    """Return an address on a page as one from the top of the site.

    Examples
    --------
    >>> resolved("book/api/mlca", "../../_images/a.svg")
    '_images/a.svg'
    """
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), address))


def link(page: str, address: str, site: str, inside: Mapping[str, str]) -> str:
    """Return where a link on a page leads from the new place; "" if nowhere."""
    path, _, place = address.partition("#")
    target = resolved(page, path) if path else f"{page}.html"
    if target.removesuffix(".html") in inside:
        return f"#{inside[target.removesuffix('.html')]}{place}"
    return f"{site}{target}{'#' * bool(place)}{place}" if site else ""


def styles(html: Path) -> list[str]:
    """Return the styles of an article that are there, as addresses below the pages."""
    static = html / "_static"
    found = [path for name in STYLES for path in sorted(static.glob(name))]
    return [path.relative_to(html).as_posix() for path in found]


def document(title: str, heads: Iterable[str], body: str, classes: str = "") -> str:
    """Return a page."""
    return (
        '<!DOCTYPE html>\n<html lang="en" data-theme="light" data-mode="light">\n<head>\n'
        f'<meta charset="utf-8" />\n<meta name="viewport" content="width=device-width" />\n'
        f"<title>{title}</title>\n" + "\n".join(heads) + f'\n</head>\n<body class="{classes}">\n'
        f"{body}\n</body>\n</html>\n"
    )
