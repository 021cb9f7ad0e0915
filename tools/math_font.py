"""Make the formulas' font: STIX Two Math, cut down to the characters that formulas can have.

    python tools/math_font.py stix-two-math-latin-400-normal.woff

Needed only when formulas need a character more: the result is kept in the repository. The source
is the file of that name in the npm package @fontsource/stix-two-math. The licence of the font, the
SIL Open Font License, stands beside it. A font that was changed goes by a name of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FONT = Path(__file__).resolve().parents[1] / "book" / "_static" / "fonts" / "mlbook-math.woff"
NAME = "mlbook math"

# Roots and braces are drawn from U+221A and the braces' pieces: a browser that lacks them drops
# the root sign without a word. What a sign is stretched from comes along with the sign.
CHARACTERS = (
    (0x20, 0x7E),
    (0xA0, 0xFF),  # among them ± × · ¯
    (0x2C6, 0x2DC),  # accents beside letters
    (0x300, 0x338),  # accents over and under letters
    (0x391, 0x3C9),  # Greek
    (0x3D1, 0x3F6),
    (0x2010, 0x203F),  # dashes, quotes, † ′ ‖ …
    (0x2057, 0x2064),
    (0x20D0, 0x20E1),  # arrows over letters
    (0x2100, 0x2138),  # ℓ ℒ ℝ and their like
    (0x2190, 0x21D5),  # arrows
    (0x2200, 0x22A5),  # operators
    (0x22C0, 0x22C6),
    (0x22EE, 0x22F1),
    (0x2308, 0x230B),
    (0x23B4, 0x23B5),
    (0x23DC, 0x23DF),  # braces over and under terms
    (0x25A1, 0x25A1),
    (0x27C2, 0x27C2),
    (0x27E8, 0x27E9),
    (0x27F5, 0x27FC),
    (0x2A7D, 0x2A7E),
    (0x2AAF, 0x2AB0),
    (0xFE00, 0xFE00),  # chooses between two shapes of a script letter
    (0x1D400, 0x1D467),  # bold and italic letters
    (0x1D49C, 0x1D4B5),  # script capitals
    (0x1D538, 0x1D550),  # blackboard capitals
    (0x1D6E2, 0x1D71B),  # italic Greek
    (0x1D7CE, 0x1D7D9),
)


def cut(source: Path, target: Path, characters: Iterable[int], name: str) -> None:
    """Write a part of a font under a name of its own."""
    options = Options()
    options.flavor = "woff"
    options.layout_features = ["ssty", "ccmp", "locl", "kern", "mark", "mkmk"]
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    font = TTFont(source)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 3, 4, 6):
            record.string = name.replace(" ", "-") if record.nameID == 6 else name
    font.flavor = "woff"
    font.save(target)


def make(source: Path, target: Path) -> None:
    """Write the part of the font that formulas need."""
    cut(source, target, [c for a, b in CHARACTERS for c in range(a, b + 1)], NAME)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path, help="STIX Two Math, whole")
    make(parser.parse_args().source, FONT)
    print(f"{FONT.name}: {FONT.stat().st_size / 1000:.0f} kB")
