"""Slides of a chapter, from its built page: headings, pictures, statements, claims, live figures.

A section becomes one slide or more: one for each picture, figure to move or statement in it, and
one for its claims. The page needs the files beside it and nothing else; it works from file://
under the policy of the book's pages (`page_policy`).
"""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from kit_pages import article, document, move, styles
from page_policy import with_policy

HERE = Path(__file__).resolve().parent
OWN = ("kit_slides.css", "kit_slides.js")
LEFT_OUT = {"exercises", "check-yourself", "references", "further-reading"}
STATEMENT = ("theorem", "lemma", "proposition", "corollary", "definition")
LOADED = re.compile(r"""(?:url\(|@import )["']?(?!data:)([^"')?#;]+)""")
LONG = 6  # claims on a slide


def is_shown(tag: Tag) -> bool:
    """Say whether a part of a section is shown on a slide of its own."""
    classes: list[str] = list(tag.get("class") or [])
    statement = "proof" in classes and any(name in classes for name in STATEMENT)
    table = tag.name == "table" and tag.find_parent("section", id="summary") is not None
    picture = tag.name == "figure" and tag.find_parent("figure") is None
    return statement or picture or table


def sections(whole: Tag) -> Iterator[Tag]:
    """Yield the sections and subsections of a chapter that are shown, the chapter itself first."""
    for section in whole.select("section[id]"):
        heading = section.find(["h1", "h2", "h3"], recursive=False)
        above = {str(tag.get("id")) for tag in [section, *section.find_parents("section")]}
        if heading is not None and not above & LEFT_OUT:
            yield section


def own_parts(section: Tag) -> Iterator[Tag]:
    """Yield what a section shows itself, not in a subsection, in its order."""
    for tag in section.find_all(["figure", "div", "table", "li", "ul"]):
        home = next((s for s in tag.find_parents("section") if s.find(["h1", "h2", "h3"])), None)
        if home is section and tag.find_parent(is_shown) is None:
            yield tag


def claims_of(section: Tag) -> list[str]:
    """Return the sentences that a section's own cells check, as HTML without the numbers."""
    found = []
    for tag in own_parts(section):
        if tag.name == "li" and tag.find_parent("details", class_="mlbook-claims") is not None:
            sentence = copy.copy(tag)
            for how in sentence.select(".mlbook-how, a.headerlink"):
                how.decompose()
            found.append(sentence.decode_contents().strip())
    return found


def slides(whole: Tag) -> list[tuple[str, str]]:
    """Return the heading and the content of each slide."""
    made = []
    for section in sections(whole):
        heading = section.find(["h1", "h2", "h3"], recursive=False)
        title = heading.decode_contents() if isinstance(heading, Tag) else ""
        shown = [str(tag) for tag in own_parts(section) if is_shown(tag)]
        if heading is not None and heading.name == "h1":
            goals = section.select_one("div.tip")
            made.append((title, str(goals.decode_contents()) if goals else ""))
        if section.get("id") == "summary":
            shown += [str(tag) for tag in section.find_all("ul", recursive=False)]
        made += [(title, content) for content in shown]
        claims = claims_of(section)
        for start in range(0, len(claims), LONG):
            listed = "".join(f"<li>{claim}</li>" for claim in claims[start : start + LONG])
            made.append((title, f'<ul class="kit-claims">{listed}</ul>'))
    return made


def deck(html: Path, page: str, site: str) -> tuple[str, list[str]]:
    """Return the slides of a page as a page, and the files of the book that it needs."""
    whole = article(html, page)
    for tag in whole.select("div.mlbook-proof, details.hide"):
        tag.decompose()
    parts = slides(whole)
    title = BeautifulSoup(parts[0][0], "html.parser").get_text()
    body = "".join(
        f'<section class="kit-slide" id="{number}" aria-label="Slide {number} of {len(parts)}">'
        f'<h2>{heading}</h2><div class="bd-article">{content}</div>'
        f'<p class="kit-number">{number} / {len(parts)}</p></section>'
        for number, (heading, content) in enumerate(parts, start=1)
    )
    soup = BeautifulSoup(f'<main class="bd-content">{body}</main>', "html.parser")
    move(soup, page, ".", site, {})
    sheets, scripts = styles(html), needed_scripts(body)
    heads = [f'<link rel="stylesheet" href="{each}" />' for each in (*sheets, OWN[0])]
    heads += [f'<script defer="defer" src="{each}"></script>' for each in (*scripts, OWN[1])]
    text = document(escape(title), heads, str(soup), "kit-slides")
    files = [*sheets, *scripts, *re.findall(r'(?:src="|")\./([^"]+)"', str(soup))]
    return with_policy(text, []), files


def needed_scripts(body: str) -> list[str]:
    """Return the scripts that move the figures of the slides."""
    found = []
    if 'class="mlbook-explore"' in body:
        found.append("_static/explore.js")
    names = list(dict.fromkeys(re.findall(r'data-live="(\w+)"', body)))
    if names:
        found += [f"_static/live/{name}.js" for name in ("core", *names, "wake")]
    return found


def make_slides(html: Path, target: Path, pages: Sequence[str], site: str) -> None:
    """Write the slides of pages and what they need into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    for name in OWN:
        shutil.copy(HERE / name, target)
    for page in pages:
        text, files = deck(html, page, site)
        (target / f"{page.rpartition('/')[2]}.html").write_text(text, encoding="utf-8")
        for name in dict.fromkeys(files):
            copy_file(html / name, target / name)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file into a folder that is made if need be; with a style what it loads."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    if source.suffix == ".css":
        for name in LOADED.findall(source.read_text(encoding="utf-8")):
            if (source.parent / name).is_file() and not (target.parent / name).is_file():
                copy_file(source.parent / name, target.parent / name)
