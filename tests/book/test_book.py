"""The book: its notebooks as they are stored, and what the built pages must hold."""

import json
import os
import re
import shutil
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import nbformat
import notebooks
import pytest
from fontTools.ttLib import TTFont

pytest.importorskip("jupyter_book")
import lessons
import math_font
import setup_cell

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]


# --- the notebooks as they are stored --------------------------------------------------------

CHAPTERS = notebooks.chapters()
# The modules of the reference and their pages.
REFERENCE = {
    re.search(r"automodule:: (\S+)", path.read_text())[1]: f"book/api/{path.stem}"
    for path in sorted((ROOT / "book" / "api").glob("*.md"))
}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_stored_outputs_are_the_checked_ones(path):
    assert notebooks.problems(path) == []


def test_output_check_finds_both_mistakes(tmp_path):
    unchecked = nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("stream", text="1")])
    empty = nbformat.v4.new_code_cell("1", metadata={"tags": [notebooks.TAG]})
    nbformat.write(nbformat.v4.new_notebook(cells=[unchecked, empty]), tmp_path / "a.ipynb")
    first, second = notebooks.problems(tmp_path / "a.ipynb")
    assert "nothing checks" in first and "no output" in second


def test_solutions_are_folded_in_jupyterlab(tmp_path):
    start, end = ("```{solution-" + name + "\n```" for name in ("start} a", "end}"))
    text, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    solution = code("2", metadata={"jupyter": {"source_hidden": True}})
    cells = [code("1"), text(start), solution, text(end), code("3")]
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    (problem,) = notebooks.problems(path)
    assert "not folded" in problem and solution.id in problem
    notebooks.fold(path)
    assert notebooks.problems(path) == []
    stored = [cell.metadata.get("jupyter") for cell in nbformat.read(path, as_version=4).cells]
    assert stored == [None, None, notebooks.FOLDED, None, None]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_chapters_use_explore_and_short_cells(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not re.search(r"\binteract\b|\binteractive\b", cell.source)
            assert len(cell.source.splitlines()) <= 25, f"{cell.id}: move logic to book/figures"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_pages_open_with_something_to_see(path):
    assert lessons.opening_lacks(path) == []


@pytest.mark.parametrize(
    "cell, change, missing",
    [
        (0, {"source": "Words first."}, "a title"),
        (1, {"id": "other"}, "the setup cell"),
        (1, {"metadata": {}}, "the setup cell"),
        (1, {"source": 'REPOSITORY = ""'}, "the setup cell"),
        (2, {"source": "import numpy"}, "imports that are folded"),
        (3, {"metadata": {}}, "imports that are folded"),
    ],
)
def test_rule_sees_a_bad_opening(cell, change, missing, tmp_path):
    assert lessons.opening_lacks(lesson(tmp_path)) == []
    (found,) = lessons.opening_lacks(lesson(tmp_path, change={cell: change}))
    assert found.startswith(missing)


def test_an_owner_may_write_the_address_into_the_notebooks(tmp_path):
    path = Path(shutil.copy(ROOT / "book" / "kmeans.ipynb", tmp_path))
    notebooks.write_address(path, "https://github.com/who/what")
    assert 'REPOSITORY = \\"https://github.com/who/what\\"  # its address' in path.read_text()
    assert lessons.opening_lacks(path) == []
    written = path.read_bytes()
    notebooks.write_address(path, "https://github.com/who/what")
    assert path.read_bytes() == written


def test_every_room_of_the_library_has_a_page_of_the_reference():
    """The book's own code has none."""
    rooms = {p.stem for p in (ROOT / "mlbook").glob("[!_]*") if p.suffix == ".py" or p.is_dir()}
    assert {f"mlbook.{room}" for room in rooms} == set(REFERENCE)
    toc = (ROOT / "_toc.yml").read_text()
    assert [page for page in REFERENCE.values() if toc.count(f"file: {page}\n") != 1] == []


# --- what every chapter that teaches must have -----------------------------------------------


@pytest.mark.parametrize("path", lessons.lessons(), ids=lambda p: p.stem)
def test_lessons_are_complete(path):
    assert lessons.lacks(path) == []


@pytest.mark.parametrize("path", lessons.lessons(), ids=lambda p: p.stem)
def test_lessons_keep_the_newer_rules_or_are_on_the_list(path):
    missing = lessons.still_lacks(path)
    if path.stem in lessons.NOT_YET:
        assert missing, "it lacks nothing more: take it off the list NOT_YET in tools/lessons.py"
    else:
        assert missing == []


def test_the_list_of_lessons_that_are_not_there_yet_only_shrinks():
    assert len(lessons.NOT_YET) <= 8
    assert {p.stem for p in lessons.lessons()} >= lessons.NOT_YET


EXERCISE = """\
```{{exercise-start}} Number {number} · {grade}
:label: ex-{number}
```
Count.
```{{exercise-end}}
```

```{{answer}} ex-{number}
```

```{{solution-start}} ex-{number}
:class: dropdown
```
So:
"""
LESSON = """\
# A lesson

```{admonition} What you will learn
:class: tip

- One.
- Two.
- Three.
```
*You need:* nothing. *Time:* about 2 minutes.
"""
END = """\
```{solution-end}
```

## Summary

- All.

## Check yourself
"""
LAST = """\
## References

- A book.

## Further reading

- {cite:t}`a`: it is short and says why all this is so.
- {cite:t}`b`: it is short and says why all this is so.
- {cite:t}`c`: it is short and says why all this is so.
"""


def lesson(folder, old="", new="", change=None):
    """Write a lesson that lacks nothing; then `old` is replaced and some cells are changed."""
    markdown, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    cells = [
        markdown(LESSON),
        code(setup_cell.SOURCE, id=setup_cell.ID, metadata={"tags": [setup_cell.TAG]}),
        code("demo.picture()", metadata={"tags": ["hide-input"], "mystnb": {"figure": {}}}),
        code("import numpy as np", metadata={"tags": ["hide-cell"]}),
        markdown("word " * 100 + "\n\n## Exercises\n"),
    ]
    grades = ["★ easy", "★★ medium", "★★ medium", "★★ medium", "★★★ hard"]
    for number, grade in enumerate(grades):
        start = "```{solution-end}\n```\n\n" * (number > 0)
        cells.append(markdown(start + EXERCISE.format(number=number, grade=grade)))
        cells.append(code(f'check("ex-{number}", {number})'))
    cells += [markdown(END), code('quiz("page")'), markdown(LAST)]
    for cell in cells[:1] + cells[3:]:
        cell.source = re.sub(old, new, cell.source, flags=re.M) if old else cell.source
    for number, changed in (change or {}).items():
        cells[number].update(nbformat.from_dict(changed))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "a.ipynb")
    return folder / "a.ipynb"


@pytest.mark.parametrize(
    "old, new, missing",
    [
        ("What you will learn", "Contents", "learning goals"),
        (r"\*You need:\*", "You need", "prerequisites"),
        (r"about \d+ minutes", "an hour", "a time to read"),
        (r"about \d+ minutes", "about 30 minutes", r"a time near 2 minutes \(it says 30\)"),
        ("## Summary", "## The end", "a summary"),
        ("## Check yourself", "## Questions", "a quiz"),
        (r"^quiz\(", "print(", "a quiz"),
        (r" · ★ easy", "", "a grade of exercise ex-0"),
        (r" · ★★★ hard", " · ★★ medium", "an easy and a hard exercise"),
        (r"\{solution-start\} ex-3", "{solution} ex-other", "solution of exercise ex-3"),
        (r"\{exercise-start\} (.*2)", r"{exercise} \1", r"5 to 8 exercises \(there are 4"),
        ("## Further reading", "## More", "further reading"),
        (r"c`: (.*)$", "c`: good.", "a reason to read"),
    ],
)
def test_rule_sees_what_a_lesson_lacks(old, new, missing, tmp_path):
    assert lessons.lacks(lesson(tmp_path)) == []
    found = lessons.lacks(lesson(tmp_path, old, new))
    assert any(re.search(missing, line) for line in found), found


def test_a_solution_without_a_cell_is_seen(tmp_path):
    path = lesson(tmp_path)
    notebook = nbformat.read(path, as_version=4)
    del notebook.cells[8]
    nbformat.write(notebook, path)
    assert lessons.lacks(path) == ["a folded solution of exercise ex-1 with a cell that runs"]


@pytest.mark.parametrize(
    "old, new, missing",
    [
        ("^Count.$", "Count.", []),
        ("^Two.$", "word " * 8800, []),
        ("^- Two.$", "word " * 8800, ["an end within 60 minutes (it takes 75)"]),
        (
            r"^check\(\"ex-[012]",
            'check("ex-other',
            ["3 exercises that check themselves (there are 2)"],
        ),
        (r"^check", "# check", ["3 exercises that check themselves (there are 0)"]),
        (r"\{answer\} ex-[0123]", "{live}", ["2 exercises that ask for a number (there are 1)"]),
    ],
)
def test_rule_sees_what_a_newer_lesson_lacks(old, new, missing, tmp_path):
    assert lessons.still_lacks(lesson(tmp_path, old, new)) == missing


FOLDED = [
    "```{dropdown} More\nWords $x$.\n```\n",
    "````{admonition} More\n:class: note dropdown\n\n```{math}\nx\n```\nWords.\n````\n",
    "```{prf:proof}\n:class: dropdown\nWords.\n\n$$x$$\n```\n",
    ":::{admonition} More\n:name: more\n:class: dropdown\nWords.\n:::\n",
    "```{admonition} More\n---\nclass: dropdown\n---\nWords.\n```\n",
]


@pytest.mark.parametrize("folded", FOLDED)
def test_what_is_folded_takes_no_time(folded):
    assert lessons.unfolded(f"Before.\n\n{folded}\nAfter.\n") == "Before.\n\n\nAfter.\n"
    outer = f"`````{{admonition}} Note\n:class: tip\nOne.\n{folded}Two.\n`````\n"
    assert lessons.unfolded(outer) == outer.replace(folded, "")
    plain = folded.replace("dropdown", "note")
    assert lessons.unfolded(plain) == plain


def test_minutes_are_those_of_the_rule(tmp_path):
    source = "# T\n\n" + "two words " * 60 + "$x$ $y$ $z$\n\n$$a$$\n\n" + FOLDED[2]
    markdown, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    cells = [
        markdown(source),
        code("1"),
        code("2", metadata={"tags": ["hide-input"]}),
        code("explore(f)"),
        code("3", metadata={"tags": ["hide-cell"]}),
        code("4", metadata={"tags": ["claim"]}),
        markdown("One.\n\n## Exercises\n" + "word " * 1000),
        code("5"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    minutes = (120 + 1) / 120 + 3 / 12 + 1 + 0.5 + 1 + 2
    assert lessons.reading_minutes(tmp_path / "a.ipynb") == pytest.approx(minutes)


def test_lecturers_page_gives_the_grades_of_the_exercises():
    plan = (ROOT / "book" / "teaching.md").read_text()
    planned = re.findall(r"(★+) \{ref\}`[^`]+<([\w-]+)>`", plan)
    sources = [c.source for p in lessons.lessons() for c in nbformat.read(p, as_version=4).cells]
    titles = r"\{exercise-start\} .+ · (★+) \w+\n:label: (\S+)"
    graded = {label: grade for grade, label in re.findall(titles, "\n".join(sources))}
    assert len(planned) > 20
    assert [(grade, label) for grade, label in planned if graded[label] != grade] == []


def test_lecturers_page_lists_what_each_lesson_stands_on_once():
    plan = (ROOT / "book" / "teaching.md").read_text()
    needs = plan.partition("## What students need")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| \[[^]]+\]\((\w+)\.ipynb\)", needs, re.MULTILINE)
    assert sorted(listed) == sorted(p.stem for p in lessons.lessons())


# --- the built pages -------------------------------------------------------------------------

HTML = ROOT / "_build" / "html"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The text of every page of the built book."""
    if not (HTML / "index.html").is_file():
        reason = "the book is not built: run `make book` first"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return {str(p.relative_to(HTML)): p.read_text() for p in sorted(HTML.rglob("*.html"))}


class Loads(HTMLParser):
    """Collects what a page makes the browser load, and images without alt text."""

    def __init__(self, text: str):
        super().__init__()
        self.urls: list[str] = []
        self.mute_images: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "link" and values.get("rel") in {
            "stylesheet",
            "preload",
            "icon",
            "modulepreload",
        }:
            self.urls.append(values.get("href") or "")
        if tag in {"script", "img", "iframe", "source", "audio", "video", "embed"}:
            self.urls.append(values.get("src") or "")
        if tag == "object":
            self.urls.append(values.get("data") or "")
        if tag == "img" and not values.get("alt"):
            self.mute_images.append((values.get("src") or "")[:80])


def test_pages_load_nothing_from_other_hosts(pages):
    for name, text in pages.items():
        foreign = [u for u in Loads(text).urls if re.match(r"(https?:)?//", u)]
        assert foreign == [], f"{name} loads {foreign}"
        assert not re.search(r"""(import|from)\s*\(?["']https?://""", text), name
    foreign_url = re.compile(r"(url\(|@import)\s*[\"']?(https?:)?//")
    for style in HTML.rglob("*.css"):
        assert not foreign_url.search(style.read_text()), style


def test_other_host_check_sees_them():
    text = '<script src="//a.example/x.js"></script><img src="https://b.example/c.png">'
    assert [u for u in Loads(text).urls if re.match(r"(https?:)?//", u)] == [
        "//a.example/x.js",
        "https://b.example/c.png",
    ]


def test_every_image_has_an_alt_text(pages):
    mute = {name: Loads(text).mute_images for name, text in pages.items()}
    assert {name: found for name, found in mute.items() if found} == {}


class Formulas(HTMLParser):
    """The formulas of a page: how many there should be, how many there are, their characters."""

    def __init__(self, html):
        super().__init__()
        self.places, self.formulas, self.open, self.characters = 0, 0, [], set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.places += "math" in (dict(attrs).get("class") or "").split()
        self.formulas += tag == "math"
        if tag == "math" or self.open:
            self.open.append(tag)
            self.characters |= {"√"} if tag in {"msqrt", "mroot"} else set()

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open:
            single = self.open[-1] == "mi" and len(data) == 1
            self.characters |= {slanted(data)} if single else set(data)


def slanted(letter):
    """Return the character that a browser shows for a single letter in a formula."""
    if "a" <= letter <= "z":
        return "ℎ" if letter == "h" else chr(0x1D44E + ord(letter) - ord("a"))
    if "A" <= letter <= "Z":
        return chr(0x1D434 + ord(letter) - ord("A"))
    if "α" <= letter <= "ω":
        return chr(0x1D6FC + ord(letter) - ord("α"))
    return letter


INVISIBLE = {"\u2061", "\u2062", "\u2063", "\ufe00", "\n"}


def test_formulas_need_no_script_and_their_font_has_all_their_characters(pages):
    """A browser leaves a root out, without a word, if the font has no root sign."""
    have = {chr(c) for c in TTFont(math_font.FONT).getBestCmap()}
    count = 0
    for name, text in pages.items():
        found = Formulas(text)
        assert found.formulas >= found.places, f"{name}: formulas are missing"
        assert found.characters - have <= INVISIBLE, name
        count += found.formulas
    assert count > 3000
    assert (HTML / "_static" / "fonts" / "OFL.txt").is_file()


def test_missing_formulas_and_characters_are_seen():
    found = Formulas('<span class="math">x</span><b>ü</b><math><msqrt><mi>h</mi></msqrt></math>')
    assert (found.places, found.formulas, found.characters) == (1, 1, {"√", "ℎ"})


def repeated_names(html):
    """Return the ids that stand on a page more than once."""
    names = re.findall(r"<[^<>]*\sid=\"([^\"]+)\"", re.sub(r"(?s)<script.*?</script>", "", html))
    return sorted({name for name in names if names.count(name) > 1})


def test_no_name_stands_twice_on_a_page(pages):
    assert {name: found for name, text in pages.items() if (found := repeated_names(text))} == {}
    assert repeated_names('<b id="a"></b><i class="c" id="a">') == ["a"]


def test_every_chapter_is_in_the_book(pages):
    """A notebook that is missing in _toc.yml would silently not be built."""
    for path in CHAPTERS:
        assert f"book/{path.relative_to(ROOT / 'book').with_suffix('.html')}" in pages


@pytest.mark.parametrize("name", REFERENCE)
def test_every_public_name_is_in_the_reference(name, pages):
    module = import_module(name)
    names = {n for n in module.__all__ if callable(getattr(module, n))}
    shown = set(re.findall(rf'id="{re.escape(name)}\.(\w+)"', pages[f"{REFERENCE[name]}.html"]))
    assert names <= shown, f"{REFERENCE[name]}.md lacks {sorted(names - shown)}"


def test_static_explorers_are_in_the_pages(pages):
    """As many working sliders on a page as calls of explore in its notebook."""
    for path in CHAPTERS:
        cells = json.loads(path.read_text())["cells"]
        source = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        calls = len(re.findall(r"^explore\(", source, re.M))
        page = pages[f"book/{path.relative_to(ROOT / 'book').with_suffix('.html')}"]
        assert page.count('<figure class="mlbook-explore"') == calls


def test_quizzes_are_in_the_pages(pages):
    for path in lessons.lessons():
        page = pages[str(path.relative_to(ROOT).with_suffix(".html"))]
        assert page.count('<form class="mlbook-quiz') == 1, path.stem
