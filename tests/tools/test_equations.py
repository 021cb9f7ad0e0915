"""The equation index: every item of the papers is derived, computed and tested."""

import json
import re
from pathlib import Path

import equations
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def index():
    return equations.Index()


def test_nothing_is_missing_stale_or_misspelt(index):
    assert index.problems == []


def test_every_number_of_the_papers_is_listed(index):
    """Counted in the papers, appendices included; numbers run through without a gap."""
    last = {"Law 2016": 34, "Komodakis 2011": 35, "Law 2017": 50, "Lajugie 2014": 10}
    others = {
        "Law 2016": ["Theorem 3.1", "Theorem 3.2", "Theorem 4.1"],
        "Komodakis 2011": ["Lemma 1", "Lemma 2", "Figure 1", "Section 5"],
        "Law 2017": ["Theorem 2.1", "Algorithm 1"],
        "Lajugie 2014": ["Algorithm 1", "Theorem 1", "Theorem 2"]
        + [f"Section {number}" for number in (2.4, 4.1, 4.2, 5.1, 5.2, 5.3)],
    }
    for paper, number in last.items():
        expected = {f"Eq. {i}" for i in range(1, number + 1)} | set(others[paper])
        assert {item.name for item in index.entries if item.paper == paper} == expected
    assert index.papers == list(last)


def test_few_items_go_without(index):
    """Only steps of proofs lack a function, and a handful of items more than that."""
    reasons = {item: entry.without for item, entry in index.entries.items() if entry.without}
    more = [item for item, without in reasons.items() if set(without) != {"function"}]
    assert len(more) <= 2
    assert len(reasons) - len(more) <= 41


# --- a made-up tree ---------------------------------------------------------------------------

LISTED = """
reasons:
  proof: a step of a proof
Law 2016:
  Eq. 1: the distance
  Eq. 2: {what: a step, without: {function: proof}}
  Theorem 3.1: the theorem
"""

CHAPTER = """# Title

The margin of Law 2016, Eq. 2 comes later.

## The distance

```{margin}
[In the papers](equations.md): Law 2016,
Eq. 1.
```
Beside Law 2016, Eq. 2 this is short.

```python
# no heading
```

## The $M$ of the theorem

[In the papers](../equations.md): Law 2016, Theorem 3.1 and Eq. 2."""

MODULE = '''"""About Law 2016, Eq. 2."""

def distance():
    """Distance (Law 2016, Eq. 1).

    Compare Law 2016, Eq. 2.
    """

def _step():
    """A step (Law 2016, Eq. 2)."""

class Learner:
    """Learn.

    In the papers: Law 2016,
    Theorem 3.1.
    """

    def fit(self):
        """Learn by Law 2016, Eq. 1."""
'''

TESTS = """import pytest

@pytest.mark.equation("Law 2016, Eqs. 1-2", "Law 2016, Theorem 3.1")
@pytest.mark.parametrize("a", [1])
def test_all(a): ...

@pytest.mark.parametrize("equation", ["Law 2016, Eq. 9"])
def test_other(equation): ...
"""


def tree(root, *, listed=LISTED, chapter=CHAPTER, module=MODULE, tests=TESTS):
    for folder in ("tools", "book/part", "mlbook", "tests"):
        (root / folder).mkdir(parents=True)
    (root / "tools" / "equations.yml").write_text(listed)
    cells = [
        {"cell_type": "markdown", "source": text.splitlines(keepends=True)}
        for text in chapter.split("\n\n\n")
    ]
    cells.insert(1, {"cell_type": "code", "source": ["# Law 2016, Eq. 7"]})
    (root / "book" / "part" / "chapter.ipynb").write_text(json.dumps({"cells": cells}))
    (root / "mlbook" / "distances.py").write_text(module)
    (root / "tests" / "test_distances.py").write_text(tests)
    return equations.Index(root)


def test_places_are_found_and_mentions_are_not_places(tmp_path):
    index = tree(tmp_path)
    assert index.problems == []
    distance, step, theorem = index.entries.values()
    assert [f.name for f in distance.function] == [
        "mlbook.distances.distance",
        "mlbook.distances.Learner.fit",
    ]
    assert [(f.name, f.line) for f in theorem.function] == [("mlbook.distances.Learner", 12)]
    assert step.function == [] and step.without == {"function": "a step of a proof"}
    assert distance.section == [("book/part/chapter", 1, "The distance")]
    assert step.section == theorem.section == [("book/part/chapter", 2, "The $M$ of the theorem")]
    test = ("tests/test_distances.py", "test_all", 5)
    assert distance.test == step.test == theorem.test == [test]


@pytest.mark.parametrize(
    ("part", "old", "new", "problem"),
    [
        ("tests", "1-2", "1", "Law 2016, Eq. 2 has no test"),
        ("tests", '@pytest.mark.equation("Law 2016, Eqs. 1-2", "Law 2016, Theorem 3.1")', "",
         "Law 2016, Theorem 3.1 has no test"),
        ("tests", "1-2", "1-3", "test_distances.py::test_all names Law 2016, Eq. 3, which is not"),
        ("tests", "Eqs. 1-2", "equation 1", "'Law 2016, equation 1' names nothing"),
        ("module", "(Law 2016, Eq. 1)", "", None),
        ("module", "Theorem 3.1", "Theorem 3.2", "Learner names Law 2016, Theorem 3.2"),
        ("module", "In the papers: Law", "As in Law", "Theorem 3.1 has no function"),
        ("module", "_step", "step", "Eq. 2 is listed without function, but has mlbook.distances.s"),
        ("module", "(Law 2016, Eq. 1)", "of Law 2016 (Eq. 1)", "write 'Law 2016 (Eq. 1' as"),
        ("module", "About Law 2016, Eq. 2", "About Law 2016, Eq. 22", "mlbook.distances names"),
        ("chapter", "[In the papers](equations.md): Law", "As in Law", "Eq. 1 has no section"),
        ("chapter", "comes later", "and Law 2016, Eq. 12 come later", "'Title' names Law 2016, Eq"),
        ("chapter", "comes later", "of Law 2016, Section 9 and Law 2016, Figure 2", None),
        ("module", "About Law 2016, Eq. 2", "About Law 2016, Section 9", None),
        ("module", "About Law 2016, Eq. 2", "By Law 2016, Sec. 9", "write 'Law 2016, Sec. 9' as"),
        ("listed", "Theorem 3.1: the", "Section 2: unnumbered\n  Theorem 3.1: the",
         "Law 2016, Section 2 has no function"),
        ("listed", "function: proof", "formula: proof", "Eq. 2: without formula? Known are"),
        ("listed", "Theorem 3.1: the theorem", "", "names Law 2016, Theorem 3.1, which is not"),
    ],
)  # fmt: skip
def test_mistakes_are_seen(part, old, new, problem, tmp_path):
    text = {"tests": TESTS, "module": MODULE, "chapter": CHAPTER, "listed": LISTED}[part]
    assert old in text
    problems = tree(tmp_path, **{part: text.replace(old, new)}).problems
    if problem is None:  # another function still has it, or it need not be listed
        assert problems == []
    else:
        assert any(problem in found for found in problems), problems


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Law 2016, Eq. 4", ["Eq. 4"]),
        ("(Law 2016, Eqs. 2-4).", ["Eq. 2", "Eq. 3", "Eq. 4"]),
        ("Law 2016, Eqs. 2, 4 and 6–7", ["Eq. 2", "Eq. 4", "Eq. 6", "Eq. 7"]),
        ("Law 2016, Eqs. 2 to 4, and Theorems 3.1 and 3.2.", ["Eq. 2", "Eq. 3", "Eq. 4",
                                                             "Theorem 3.1", "Theorem 3.2"]),
        ("Law\n    2016, Eq. 2 and\n    Lemma 1, completed", ["Eq. 2", "Lemma 1"]),
        ("Law 2016, Eq. 12, steps 2-8", ["Eq. 12"]),
        ("Law 2016, Section 3.4; Law 2016, Algorithm 1", ["Section 3.4", "Algorithm 1"]),
        ("Law 2016, Sections 2 and 4.1, Eq. 3", ["Section 2", "Section 4.1", "Eq. 3"]),
        ("Fisher 1936, Eq. 2", []),
    ],
)  # fmt: skip
def test_references_are_read(text, names, index):
    found = [item for item in index.named(text, "here") if item.paper == "Law 2016"]
    assert [item.name for item in found] == names


# --- the page ---------------------------------------------------------------------------------


@pytest.mark.book
def test_page_has_every_item_and_its_links_lead_somewhere(index):
    page = ROOT / "_build" / "html" / "book" / "equations.html"
    if not page.is_file():
        pytest.skip("the book is not built: run `make book` first")
    text = page.read_text()
    table = "\n".join(re.findall(r"<table.*?</table>", text, re.S))
    for item, entry in index.entries.items():
        anchor = re.sub(r"[^a-z0-9]+", "-", str(item).lower()).strip("-")
        assert f'id="{anchor}"' in table, item
        assert entry.what.split(",")[0].replace("'", "’") in table or entry.what in table, item
    links = re.findall(r'href="([^"#:]+)#([^"]+)"', table)
    assert len(links) > 100
    for target, anchor in set(links):
        other = (page.parent / target).read_text()
        assert f'id="{anchor}"' in other, f"{target} has no {anchor}"
