"""The formulas' font: what is kept of the whole one."""

import math_font
import pytest
from fontTools.ttLib import TTFont

pytestmark = pytest.mark.book


def test_the_font_has_all_it_says_and_the_tables_of_mathematics():
    font = TTFont(math_font.FONT)
    assert "MATH" in font
    have = set(font.getBestCmap())
    for sign in "√‾¯ˆ˜⏞⏟←→⟨⟩{}[]()|‖∑∫":
        assert ord(sign) in have, f"no {sign} in the font"
    variants = font["MATH"].table.MathVariants.VertGlyphCoverage.glyphs
    assert font.getBestCmap()[ord("√")] in variants, "roots do not grow"
    assert font.getBestCmap()[ord("{")] in variants, "braces do not grow"
    assert (math_font.FONT.parent / "OFL.txt").read_text().count("SIL OPEN FONT LICENSE") >= 1
    assert math_font.FONT.stat().st_size < 150_000


def test_a_part_of_the_font_can_be_made_again(tmp_path):
    """The script works; made from its own result it takes nothing away."""
    math_font.make(math_font.FONT, tmp_path / "again.woff")
    again = TTFont(tmp_path / "again.woff")
    assert again.getBestCmap().keys() == TTFont(math_font.FONT).getBestCmap().keys()
    assert {str(n) for n in again["name"].names if n.nameID == 1} == {math_font.NAME}
