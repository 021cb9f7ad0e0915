"""One letter, one meaning: the tables of the notation page, against each other and the chapters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

pytestmark = pytest.mark.book

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGE = (BOOK / "notation.md").read_text(encoding="utf-8")
CHAPTERS = {
    "MLCA": "mlca",
    "the latent CRF": "latent_crf",
    "MIMLCA": "mimlca",
    "change points": "change_points",
    "segmentation": "segmentation",
    "normalized cuts": "normalized_cuts",
    "comparison": "comparison",
    "scale": "scale",
}
ACCENTED = r"\\(?:mathcal|underline|bar|tilde|hat)\s*(?:[A-Za-z]|\{[A-Za-z]\})"
LETTER = rf"(?:{ACCENTED}|\\[A-Za-z]+|[A-Za-z])"
VERBS = r"(?:[Ll]et|[Ww]rite|[Cc]all(?: it)?|[Pp]ut)"
# Nouns that say what the letter behind them is: "the eigenvalues $...$", "costs $...$".
ROLES = r"eigenvalues?|direction|costs?|price|penalty|bound|share|weight|energy|distortion"


class Row(NamedTuple):
    """A row of a table: the symbols as written, and what they mean."""

    symbols: list[str]
    meaning: str


class Section(NamedTuple):
    """A table with what its introduction says about letters of the first table."""

    rows: list[Row]
    different: set[str]
    indexed: set[str]

    @property
    def letters(self) -> set[str]:
        return {letter(symbol) for row in self.rows for symbol in row.symbols}


def letter(symbol: str) -> str:
    """Return the letter of a symbol, without index, argument and definition."""
    found = re.match(LETTER, symbol.strip())
    return re.sub(r"[\s{}]", "", found[0]) if found else symbol


def section(text: str) -> Section:
    """Read the first table of a section, and the sentences before it."""
    before, _, table = text.partition("| symbol |")
    rows = []
    for line in re.findall(r"^\| (\$.+) \|$", table, re.MULTILINE):
        cells = line.split(" | ")
        symbols = [re.split(r"=|\\in", math)[0] for math in re.findall(r"\$([^$]+)\$", cells[0])]
        rows.append(Row(symbols, " ".join(cells[1:])))

    def announced(words: str) -> set[str]:
        found = re.search(rf"{words} ((?:\$[^$]+\$(?:, )?)+)\.", before)
        return set(re.findall(r"\$([^$]+)\$", found[1])) if found else set()

    return Section(
        rows, announced("Different from the first table:"), announced("With another index:")
    )


def sections(page: str) -> tuple[Section, dict[str, Section]]:
    """Return the table of the whole book and those of chapters, by notebook."""
    letters = page.partition("## From a paper's symbol to ours")[0]
    general, *chapters = re.split(
        r"^### Letters of the (?:chapter on |page on )?", letters, flags=re.M
    )
    return section(general), {
        CHAPTERS[re.sub(r"^the (?=comparison)", "", text.split("\n")[0])]: section(text)
        for text in chapters
    }


def prose(name: str) -> str:
    """Return the text of a chapter, without code."""
    cells = nbformat.read(BOOK / f"{name}.ipynb", as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def clashes(general: Section, chapter: Section) -> set[str]:
    """Return the letters of the first table that a chapter's table uses again without saying so."""
    announced = {letter(symbol) for symbol in chapter.different | chapter.indexed}
    return (general.letters & chapter.letters) - announced


def occurs(symbol: str, text: str) -> bool:
    """Whether a symbol stands in a formula of the text."""
    wanted = re.escape(re.sub(r"\s", "", symbol)) + ("" if "_" in symbol else "(?![A-Za-z])")
    formulas = "\n".join(re.findall(r"\$\$?([^$]+)\$\$?", text))
    return bool(re.search(rf"(?<![A-Za-z\\]){wanted}", re.sub(r"[ \t]", "", formulas)))


def other_uses(general: Section, text: str) -> list[str]:
    """Return the places that give a letter of the first table another meaning.

    A place gives a meaning if it defines ("$E=...$", "let $E$ be ...", "$...=D$, the ..."), if a
    noun in front of the letter says what it is ("the direction $m$"), or if the letter weighs
    eigenvectors. Numbers, what the page itself defines, and the words of its meaning are no
    other use.
    """
    found = []
    for row in general.rows:
        for name in {letter(symbol) for symbol in row.symbols} - FREE:
            this = rf"{re.escape(name)}(?![A-Za-z])(?:_(?:\{{[^}}]*\}}|\\?\w+))?(?:\([^()$]*\))?"
            for place in re.finditer(rf"\$\s*{this}\s*&?=([^$]*)\$", text):
                if not _is_value(place[1], name) and not _defined(place[0], row):
                    found.append(place[0])
            for pattern in (
                rf"{VERBS} \${this}[^$]*\$ (?:be|for|denote) ([^.;]*)",
                rf"=\s*{this}\$, the ([^.;$]*)",
                rf"\b({ROLES}) \${this}(?:[^A-Za-z$][^$]*)?\$",
                rf"{re.escape(name)}_iu_iu_i()",
            ):
                for place in re.finditer(pattern, text):
                    if not _means(place[1] or "eigenvalues", row):
                        found.append(place[0])
    return found


FREE = {"X", "Y", "Z", "C", "M", "L", "n", "d", "k", r"\Delta", r"\Omega", r"\sigma"} | {
    r"\mathcalP",
    r"\mathcalL",
    r"\underlineD",
}
"""Letters whose value is chosen anew in every example; only the tables are compared for them."""


def _is_value(right: str, name: str) -> bool:
    """Whether the right-hand side is a number, a matrix of numbers, or the letter itself."""
    right = right.strip()
    start = r"[-\d]|\\(?:[td]?frac|sqrt|dots|begin|left|pm)|\("
    return bool(re.match(start, right)) or letter(right) == name


def _defined(place: str, row: Row) -> bool:
    """Whether the page gives the same definition."""
    plain = re.sub(r"\s", "", place.strip("$"))
    return any(
        plain in re.sub(r"\s", "", math) for math in re.findall(r"\$([^$]+)\$", row.meaning)
    ) or (plain.startswith(tuple(re.sub(r"\s", "", s) + "=Y(Y" for s in row.symbols)))


def _means(words: str, row: Row) -> bool:
    """Whether some word of the meaning is among the words."""
    return bool(_stems(words) & _stems(row.meaning))


def _stems(words: str) -> set[str]:
    return {word.lower().rstrip("s")[:7] for word in re.findall(r"[A-Za-z]{4,}", words)}


GENERAL, OWN = sections(PAGE)


def test_every_chapter_that_needs_letters_has_its_table():
    assert set(OWN) == set(CHAPTERS.values())
    assert len(GENERAL.rows) > 15 and all(chapter.rows for chapter in OWN.values())


def test_no_symbol_stands_twice_in_a_table():
    for chapter in (GENERAL, *OWN.values()):
        symbols = [symbol for row in chapter.rows for symbol in row.symbols]
        assert len(symbols) == len(set(symbols))


@pytest.mark.parametrize("name", OWN)
def test_a_chapter_says_which_letters_differ(name):
    assert clashes(GENERAL, OWN[name]) == set()


@pytest.mark.parametrize("name", OWN)
def test_only_letters_of_both_tables_are_announced(name):
    announced = {letter(symbol) for symbol in OWN[name].different | OWN[name].indexed}
    assert announced <= GENERAL.letters & OWN[name].letters
    assert all(len(symbol) > 1 for symbol in OWN[name].indexed)


@pytest.mark.parametrize("name", OWN)
def test_the_symbols_of_a_chapter_occur_in_it(name):
    text = prose(name)
    assert [s for row in OWN[name].rows for s in row.symbols if not occurs(s, text)] == []


def test_the_symbols_of_the_book_occur_in_it():
    text = "\n".join(prose(name) for name in ("kmeans", *OWN))
    assert [s for row in GENERAL.rows for s in row.symbols if not occurs(s, text)] == []


@pytest.mark.parametrize("name", ["kmeans", *OWN])
def test_a_chapter_gives_no_letter_another_meaning(name):
    different = {letter(s) for s in OWN[name].different} if name in OWN else set()
    rows = [
        Row([s for s in row.symbols if letter(s) not in different], row.meaning)
        for row in GENERAL.rows
    ]
    assert other_uses(Section(rows, set(), set()), prose(name)) == []


@pytest.mark.parametrize(
    "sentence",
    [
        r"matrices $E+F$, where $E=\sum_{i\le r}u_iu_i^\top$ and $F$ is a projector",
        r"so that $V^\top S_tV=I$ and $V^\top S_bV=D$, the diagonal matrix of the $\rho_j$.",
        r"stands on the diagonal. Call it $m=C_{jj}$.",
        r"and let $m$ be the univariate direction.",
        r"*Univariate* MLCA has one direction $m$ and takes signs.",
        r"Let every cluster cost $\tau$: minimize",
        r"with an intercept, $\tau=n_+/n$ the share of the object",
        r"a matrix with eigenvalues $\lambda_1\ge\dots\ge\lambda_n$ and",
        r"Let $\lambda_1\ge\lambda_2\ge\dots$ be the eigenvalues of $\tilde W$.",
        r"Let $XMX^\top=\sum_{i\le e}\lambda_iu_iu_i^\top$ with orthonormal $u_i$.",
        r"minimize $J(M)=\sum_iw_ih_i(M)+\Omega(M)$ over $M$",
    ],
)
def test_another_meaning_is_found(sentence):
    assert len(other_uses(GENERAL, sentence)) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        r"Let $E=\tfrac1n\mathbf 1\mathbf 1^\top$ and $A=XMX^\top$.",
        r"with $J=Y(Y^\top Y)^{-1/2}$, whose columns are orthonormal",
        r"Let $\mu_1\ge\mu_2\ge\dots$ be the eigenvalues of $\tilde W$.",
        r"each segment pays a price $\lambda$, and with $\lambda=5$ or $\lambda=\tfrac12$",
        r"Let $D_k$ be the least distortion with $k$ segments.",
    ],
)
def test_the_meaning_of_the_page_is_no_other(sentence):
    assert other_uses(GENERAL, sentence) == []


def test_a_letter_used_again_is_a_clash():
    """β for the bound of chapter 1 and for the eigenvalues of chapter 2."""
    page = PAGE.replace(r"| $D$, $\underline D$ |", r"| $D$, $\beta$ |")
    page = page.replace(r"| $\eta_i$ |", r"| $\beta_i$ |")
    general, own = sections(page)
    assert clashes(general, own["mlca"]) == {r"\beta"}
    assert clashes(general, own["latent_crf"]) == {r"\beta"}
