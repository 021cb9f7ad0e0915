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
        ("kmeans-00", {"source": "Words first."}, "a title"),
        ("setup", {"id": "other"}, "the setup cell"),
        ("setup", {"metadata": {}}, "the setup cell"),
        ("setup", {"source": 'REPOSITORY = ""'}, "the setup cell"),
        ("kmeans-01", {"metadata": {}}, "imports that are folded"),
        ("kmeans-03", {"source": "import numpy"}, "imports that are folded"),
    ],
)
def test_rule_sees_a_bad_opening(cell, change, missing, tmp_path):
    notebook = nbformat.read(ROOT / "book" / "kmeans.ipynb", as_version=4)
    (changed,) = [c for c in notebook.cells if c.id == cell]
    changed.update(nbformat.from_dict(change))
    nbformat.write(notebook, tmp_path / "a.ipynb")
    (found,) = lessons.opening_lacks(tmp_path / "a.ipynb")
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


@pytest.mark.parametrize(
    "old, new, missing",
    [
        ("What you will learn", "Contents", "learning goals"),
        ("*You need:*", "You need", "prerequisites"),
        (r"about \d+ minutes", "an hour", "a time to read"),
        (r"about \d+ minutes", "about 30 minutes", r"a time near \d+ minutes \(it says 30\)"),
        ("## Summary", "## The end", "a summary"),
        ("## Check yourself", "## Questions", "a quiz"),
        (r"^quiz\(", "print(", "a quiz"),
        (r" · ★ easy", "", "a grade of exercise ex-hand"),
        (r" · ★★★ hard", " · ★★ medium", "an easy and a hard exercise"),
        (
            r"\{solution-start\} ex-penalty",
            "{solution} ex-other",
            "solution of exercise ex-penalty",
        ),
        (r"\{exercise-start\} (An|Ce)", r"{exercise} \1", "5 to 8 exercises \\(there are 3"),
        ("## Further reading", "## More", "further reading"),
        (r"jain2010`: (.*)$", "jain2010`: good.", "a reason to read"),
    ],
)
def test_rule_sees_what_a_lesson_lacks(old, new, missing, tmp_path):
    notebook = nbformat.read(ROOT / "book" / "kmeans.ipynb", as_version=4)
    pattern = old.replace("*", r"\*") if old.startswith("*") else old
    sources = [re.sub(pattern, new, c.source, flags=re.M) for c in notebook.cells]
    assert sources != [c.source for c in notebook.cells]
    for cell, source in zip(notebook.cells, sources, strict=True):
        cell.source = source
    nbformat.write(notebook, tmp_path / "a.ipynb")
    found = lessons.lacks(tmp_path / "a.ipynb")
    assert any(re.search(missing, line) for line in found), found


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


def test_a_solution_without_a_cell_is_seen(tmp_path):
    notebook = nbformat.read(ROOT / "book" / "kmeans.ipynb", as_version=4)
    notebook.cells = [c for c in notebook.cells if c.id != "kmeans-32"]
    nbformat.write(notebook, tmp_path / "a.ipynb")
    assert lessons.lacks(tmp_path / "a.ipynb") == [
        "a folded solution of exercise ex-impostor with a cell that runs"
    ]


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
