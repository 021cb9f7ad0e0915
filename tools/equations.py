"""The equation index: where the book derives, computes and tests the formulas of the papers.

equations.yml lists what is numbered in each paper, and the sections whose formulas have no number.
Where an item is found is read from the sources, all of which name items in the same way, "Law
2016, Eq. 4", "Komodakis 2011, Eqs. 23-25 and Lemma 2" or "Lajugie 2014, Section 4.2":

section   a paragraph "[In the papers](equations.md): ..." of a notebook, under its heading, mostly
          in a {margin} block
function  the first line of a docstring, or a paragraph "In the papers: ..." of it
test      @pytest.mark.equation("...", ...)

Any other mention says nothing about where an item is treated; it only has to name one that
exists.

    python tools/equations.py    say what is missing, stale or misspelt, exit 1 if anything is
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("section", "function", "test")

NUMBER = r"\d+(?:\.\d+)?"
SPAN = rf"{NUMBER}(?:\s*(?:-|–|to)\s*{NUMBER})?"
SPANS = rf"{SPAN}(?:(?:,\s+and|,|\s+and)\s+{SPAN})*"
KIND = r"(?:Eqs?\.|Theorems?|Lemmas?|Propositions?|Algorithms?|Figures?|Sections?)"
FREE = ("Figure", "Section")  # they may also be named where they are not listed
ITEMS = rf"{KIND}\s+{SPANS}(?:(?:,\s+and|,|\s+and)\s+{KIND}\s+{SPANS})*"
NEARLY = r"\W{1,4}(?:Eq|Theorem|Lemma|Proposition|Algorithm|Sec\.)\w*\W{0,3}\d"


class Item(NamedTuple):
    """A formula of a paper by its number, or by its section: ("Law 2016", "Eq. 4")."""

    paper: str
    name: str

    def __str__(self) -> str:
        return f"{self.paper}, {self.name}"


class Section(NamedTuple):
    """The heading of a notebook, counted from 0 in the order of the page."""

    page: str
    number: int
    name: str


class Code(NamedTuple):
    """A function, class, method or test, and where it begins."""

    path: str
    name: str
    line: int


class Mention(NamedTuple):
    """An item named somewhere; `place` is None where it is named in passing."""

    item: Item
    where: str
    part: str
    place: Section | Code | None


@dataclass
class Entry:
    """A line of the index."""

    what: str
    note: str = ""
    without: dict[str, str] = field(default_factory=dict)
    section: list[Section] = field(default_factory=list)
    function: list[Code] = field(default_factory=list)
    test: list[Code] = field(default_factory=list)


class Index:
    """The formulas of the papers and where they are found below `root`."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.problems: list[str] = []
        listed = yaml.safe_load((root / "tools" / "equations.yml").read_text())
        reasons = listed.pop("reasons", {})
        self.papers = list(listed)
        self.entries: dict[Item, Entry] = {}
        for paper, items in listed.items():
            for name, given in items.items():
                given = {"what": given} if isinstance(given, str) else given
                without = {
                    part: reasons.get(reason, reason)
                    for part, reason in given.pop("without", {}).items()
                }
                self.entries[Item(paper, name)] = Entry(**given, without=without)
        for mention in [*self._sections(), *self._functions(), *self._tests()]:
            if mention.item in self.entries and mention.place is not None:
                places = getattr(self.entries[mention.item], mention.part)
                if mention.place not in places:
                    places.append(mention.place)
            elif mention.item not in self.entries and not mention.item.name.startswith(FREE):
                self.problems.append(f"{mention.where} names {mention.item}, which is not listed")
        self._find_gaps()

    def _find_gaps(self) -> None:
        for item, entry in self.entries.items():
            for unknown in set(entry.without) - set(PARTS):
                self.problems.append(f"{item}: without {unknown}? Known are {', '.join(PARTS)}")
            for part in PARTS:
                places = getattr(entry, part)
                if not places and part not in entry.without:
                    self.problems.append(f"{item} has no {part}")
                if places and part in entry.without:
                    found = ", ".join(place.name for place in places)
                    self.problems.append(f"{item} is listed without {part}, but has {found}")

    @cached_property
    def _reference(self) -> re.Pattern[str]:
        names = "|".join(re.escape(paper).replace(r"\ ", r"\s+") for paper in self.papers)
        return re.compile(rf"(?P<paper>{names})(?:,\s+(?P<items>{ITEMS})|(?P<nearly>{NEARLY}))")

    def named(self, text: str, where: str) -> Iterator[Item]:
        """Yield the items that a text names; note what looks like a reference and is none."""
        for match in self._reference.finditer(text):
            paper = " ".join(match["paper"].split())
            if match["nearly"]:
                seen = " ".join(match[0].split())
                self.problems.append(f"{where}: write {seen!r} as 'Law 2016, Eq. 4'")
                continue
            for kind, spans in re.findall(rf"({KIND})\s+({SPANS})", match["items"]):
                kind = "Eq." if kind.startswith("Eq") else kind.rstrip("s")
                for span in re.findall(SPAN, spans):
                    ends = re.findall(NUMBER, span)
                    if len(ends) == 1 or "." in span:
                        yield from (Item(paper, f"{kind} {end}") for end in ends)
                    else:
                        first, last = map(int, ends)
                        yield from (Item(paper, f"{kind} {i}") for i in range(first, last + 1))

    def _mentions(
        self, text: str, treated: list[str], where: str, part: str, place: Section | Code
    ) -> Iterator[Mention]:
        for passage in treated:
            for item in self.named(passage, where):
                yield Mention(item, where, part, place)
            text = text.replace(passage, "\n\n", 1)
        for item in self.named(text, where):
            yield Mention(item, where, part, None)

    def _sections(self) -> Iterator[Mention]:
        for path in sorted((self.root / "book").rglob("*.ipynb")):
            if ".ipynb_checkpoints" in path.parts:
                continue
            page = path.relative_to(self.root).with_suffix("").as_posix()
            number, title = -1, ""
            for cell in json.loads(path.read_text())["cells"]:
                if cell["cell_type"] != "markdown":
                    continue
                for block in _under_headings("".join(cell["source"])):
                    if block[0]:
                        number, title = number + 1, block[0]
                    treated = re.findall(
                        r"^\[In the papers\]\([./]*equations\.md\):.*(?:\n(?!```).+)*",
                        block[1],
                        re.M,
                    )
                    section = Section(page, number, title)
                    where = f"{path.name}, {title!r}"
                    yield from self._mentions(block[1], treated, where, "section", section)

    def _functions(self) -> Iterator[Mention]:
        for path in sorted((self.root / "mlbook").rglob("*.py")):
            module = path.relative_to(self.root).with_suffix("").as_posix().replace("/", ".")
            module = module.removesuffix(".__init__")
            for name, node in _definitions(ast.parse(path.read_text()), module):
                text = ast.get_docstring(node) or ""
                code = Code(
                    path.relative_to(self.root).as_posix(), name, getattr(node, "lineno", 0)
                )
                treated = []
                own = name.removeprefix(module).split(".")[1:]
                if own and not any(part.startswith("_") for part in own):
                    treated = re.findall(r"^In the papers:.*(?:\n.+)*", text, re.M)
                    treated.append(text.partition("\n")[0])
                yield from self._mentions(text, treated, name, "function", code)

    def _tests(self) -> Iterator[Mention]:
        for path in sorted((self.root / "tests").rglob("test_*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
                    continue
                code = Code(path.relative_to(self.root).as_posix(), node.name, node.lineno)
                where = f"{path.name}::{node.name}"
                for call in node.decorator_list:
                    if not isinstance(call, ast.Call):
                        continue
                    if ast.unparse(call.func) != "pytest.mark.equation":
                        continue
                    for argument in call.args:
                        text = ast.literal_eval(argument)
                        found = list(self.named(text, where))
                        if not found:
                            self.problems.append(f"{where}: {text!r} names nothing")
                        yield from (Mention(item, where, "test", code) for item in found)


def _under_headings(text: str) -> Iterator[tuple[str, str]]:
    """Yield (heading, text up to the next one); the heading is empty before the first."""
    lines: list[str] = []
    heading, fenced = "", False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        found = None if fenced else re.match(r"#{1,6}\s+(.+)", line)
        if found:
            yield heading, "\n".join(lines)
            heading, lines = found[1].strip(), []
        else:
            lines.append(line)
    yield heading, "\n".join(lines)


def _definitions(
    node: ast.Module | ast.ClassDef, name: str
) -> Iterator[tuple[str, ast.Module | ast.ClassDef | ast.FunctionDef]]:
    """Yield the module, its functions and classes, and their methods, with full names."""
    yield name, node
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            yield from _definitions(child, f"{name}.{child.name}")
        elif isinstance(child, ast.FunctionDef):
            yield f"{name}.{child.name}", child


def main() -> int:
    index = Index()
    covered = sum(not entry.without for entry in index.entries.values())
    print(
        "\n".join(index.problems)
        or f"{len(index.entries)} items, {covered} derived, computed and tested"
    )
    return bool(index.problems)


if __name__ == "__main__":
    sys.exit(main())
