"""Formulas as MathML."""

import pytest
from math_core import LatexError

pytest.importorskip("sphinx")
import math_pages

pytestmark = pytest.mark.book


def test_a_formula_becomes_mathml():
    assert math_pages.mathml(r"\sqrt{x}") == "<math><msqrt><mi>x</mi></msqrt></math>"
    assert math_pages.mathml("x", display=True) == '<math display="block"><mi>x</mi></math>'


def test_lines_are_aligned_without_being_told():
    lines = math_pages.mathml("a &= b \\\\\n&+ c", display=True)
    assert lines.count("<mtr>") == 2
    assert '<mo form="infix">+</mo>' in lines, "a sign between terms has room on both sides"
    assert lines == math_pages.mathml(r"\begin{aligned}a &= b \\ &+ c\end{aligned}", display=True)


@pytest.mark.parametrize("tex", [r"\nil", r"\frac{1", "a & b", r"\left( x"])
def test_what_is_no_formula_is_refused(tex):
    with pytest.raises(LatexError):
        math_pages.mathml(tex)


def test_formulas_in_html_are_converted():
    html = r"If \(a &lt; b\), and \(c\)."
    converted = "If <math><mi>a</mi><mo>&lt;</mo><mi>b</mi></math>, and <math><mi>c</mi></math>."
    assert math_pages.in_html(html) == converted


def test_a_bad_formula_fails_the_build_with_its_place(tmp_path):
    import small_site

    with pytest.raises(AssertionError, match=r"page.ipynb:10\d*: .*formula.*nil"):
        small_site.build(tmp_path, text=r"# A page" + "\n\nIf $\\nil$ here.\n")
