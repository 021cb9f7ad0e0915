"""Make the icons' font and its styles: the few icons of the theme that the book shows.

    python tools/icon_font.py

The theme brings its icons in 180 kB for each page; these are 4 kB. Needed only when the theme or
its icons change: the results are kept in the repository. The source is the Font Awesome Free font
in the theme's package. Its licence, the SIL Open Font License, stands beside the result.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from math_font import cut

STATIC = Path(__file__).resolve().parents[1] / "book" / "_static"
FONT = STATIC / "fonts" / "mlbook-icons.woff"
STYLE = STATIC / "icons.css"
NAME = "mlbook icons"

# What the theme's templates and scripts name by a class.
ICONS = {
    "angle-left": 0xF104,
    "angle-right": 0xF105,
    "arrow-up": 0xF062,
    "bars": 0xF0C9,
    "chevron-down": 0xF078,
    "circle-half-stroke": 0xF042,
    "download": 0xF019,
    "expand": 0xF065,
    "file": 0xF15B,
    "file-pdf": 0xF1C1,
    "list": 0xF03A,
    "magnifying-glass": 0xF002,
    "moon": 0xF186,
    "sun": 0xF185,
    "xmark": 0xF00D,
}
# What its styles name by the character: the signs of notes, warnings and links to other sites.
CHARACTERS = (
    *(0xF010, 0xF057, 0xF058, 0xF05A, 0xF064, 0xF06A, 0xF071, 0xF0EB, 0xF0F3, 0xF107),
    *(0xF303, 0xF35D),
)
# The theme asks for the font by these names.
RULES = """/* Made by tools/icon_font.py; do not edit. */
:root { --fa-font-solid: normal 900 1em/1 "mlbook icons"; }
@font-face {
  font-family: "mlbook icons"; src: url("fonts/mlbook-icons.woff") format("woff");
  font-weight: 900; font-display: block;
}
@font-face {
  font-family: "Font Awesome 5 Free"; src: url("fonts/mlbook-icons.woff") format("woff");
  font-weight: 900; font-display: block;
}
.fa-solid, .fas {
  display: inline-block; font: var(--fa-font-solid); text-rendering: auto;
  -webkit-font-smoothing: antialiased; -moz-osx-font-smoothing: grayscale;
}
.fa-lg { font-size: 1.25em; line-height: .05em; vertical-align: -.075em; }
"""


def theme() -> Path:
    """Return the folder of the theme's Font Awesome."""
    found = find_spec("pydata_sphinx_theme")
    if found is None or found.origin is None:
        raise SystemExit("pydata-sphinx-theme is not installed")
    static = Path(found.origin).parent / "theme" / "pydata_sphinx_theme" / "static"
    (folder,) = (static / "vendor" / "fontawesome").iterdir()
    return folder


def style() -> str:
    """Return the style sheet."""
    rules = [f'.fa-{name}::before {{ content: "\\{code:x}"; }}' for name, code in ICONS.items()]
    return RULES + "\n".join(rules) + "\n"


def make(target: Path) -> None:
    """Write the font."""
    source = theme() / "webfonts" / "fa-solid-900.ttf"
    cut(source, target, [*ICONS.values(), *CHARACTERS], NAME)


if __name__ == "__main__":
    make(FONT)
    STYLE.write_text(style(), encoding="utf-8")
    print(f"{FONT.name}: {FONT.stat().st_size / 1000:.0f} kB")
