"""The icons' font and its styles: all that the pages show, and nothing else."""

import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

pytest.importorskip("sphinx")
import icon_font

pytestmark = pytest.mark.book
HTML = Path(__file__).resolve().parents[2] / "_build" / "html"


def test_the_font_is_what_the_tool_makes_of_the_themes(tmp_path):
    icon_font.make(tmp_path / "again.woff")
    again, stored = TTFont(tmp_path / "again.woff"), TTFont(icon_font.FONT)
    wanted = {*icon_font.ICONS.values(), *icon_font.CHARACTERS}
    assert again.getBestCmap().keys() == stored.getBestCmap().keys() == wanted
    assert {str(n) for n in stored["name"].names if n.nameID == 1} == {icon_font.NAME}
    assert icon_font.STYLE.read_text() == icon_font.style()
    assert icon_font.FONT.stat().st_size < 10_000
    licence = (icon_font.FONT.parent / "OFL-icons.txt").read_text()
    assert "Fonticons" in licence and "SIL OPEN FONT LICENSE" in licence


def test_each_icon_has_the_character_that_the_theme_gives_it():
    style = (icon_font.theme() / "css" / "all.min.css").read_text()
    for name, code in icon_font.ICONS.items():
        rule = rf"\.fa-{name}:before[^{{]*\{{content:\"\\{code:x}\""
        assert re.search(rule, style), name


def icons_missing(page: str) -> set[str]:
    """Return the icons that a page names and the font lacks."""
    classes = {c for names in re.findall(r'class="([^"]*\bfa-[^"]*)"', page) for c in names.split()}
    known = {f"fa-{name}" for name in icon_font.ICONS} | {"fa-solid", "fa-lg"}
    return {c for c in classes if c.startswith("fa-")} - known


def test_no_page_shows_an_icon_that_the_font_lacks():
    """Nor do the theme's own style sheet and script."""
    static = icon_font.theme().parents[2]
    script = (static / "scripts" / "pydata-sphinx-theme.js").read_text()
    assert set(re.findall(r"\bfa-[a-z-]+", script)) <= {"fa-solid", "fa-xmark"}
    style = static / "styles" / "pydata-sphinx-theme.css"
    named = re.findall(r'--pst-icon-(\S+?):"(.)"', style.read_text())
    assert len(named) > 10
    others = {"github", "gitlab"}  # from a font of trademarks; no page links there
    assert {ord(c) for name, c in named if name not in others} <= {
        *icon_font.ICONS.values(),
        *icon_font.CHARACTERS,
    }
    assert icons_missing('<i class="fa-solid fa-moon fa-lg"></i><i class="fas fa-bug">') == {
        "fa-bug"
    }
    pages = [p for p in HTML.rglob("*.html") if "_static" not in p.parts]
    assert all("_static/icons.css" in p.read_text() for p in (HTML / "book").rglob("*.html"))
    assert {p.name: missing for p in pages if (missing := icons_missing(p.read_text()))} == {}
