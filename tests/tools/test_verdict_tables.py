"""Where the verdict stands in a table, and how it is marked."""

import pytest

pytest.importorskip("sphinx")
import verdict_tables
from docutils import nodes

pytestmark = pytest.mark.book


def table(*lines):
    def row(line):
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in line))

    group = nodes.tgroup("", nodes.thead("", row(lines[0])), nodes.tbody("", *map(row, lines[1:])))
    return nodes.table("", group)


def cells(found):
    return [[entry.astext() for entry in row] for row in found.findall(nodes.row)]


def shown(*lines):
    found = table(*lines)
    verdict_tables.put_verdicts_first(None, nodes.section("", found), "page")
    return found


def test_the_verdict_comes_second_with_a_sign():
    found = shown(
        ["", "paper", "ours", "verdict"],
        ["a", "1", "1", "matches"],
        ["b", "2", "3", "differs: other data: fewer"],
        ["c", "2", "3", "stand-in"],
        ["d", "2", "–", "a reason alone"],
        ["e", "2", "–", ""],
    )
    assert cells(found) == [
        ["", "verdict", "paper", "ours"],
        ["a", "✓\xa0matches", "1", "1"],
        ["b", "✗\xa0differs: other data: fewer", "2", "3"],
        ["c", "·\xa0stand-in", "2", "3"],
        ["d", "a reason alone", "2", "–"],
        ["e", "", "2", "–"],
    ]
    marked = [span["classes"][1] for span in found.findall(nodes.inline)]
    assert marked == ["mlbook-matches", "mlbook-differs", "mlbook-stand-in"]


def test_other_tables_stay():
    lines = [["", "paper", "ours"], ["a", "1", "matches"]]
    assert cells(shown(*lines)) == lines
