"""What the search of the built book finds."""

import json
import shutil
import subprocess
from pathlib import Path

import bs4
import pytest
import search_pages

STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
PAGES = [
    [
        "one.html",
        "Random walks",
        0,
        [["", "", "A walk. Rounds of λ and Rand."], ["s", "Sums", "x"]],
    ],
    ["two.html", "Change points", 0, [["", "", "Where a series changes."]]],
    ["three.html", "Clusters", 0, [["c", "A point", "A change of a point, far from here."]]],
    ["api.html", "Change points", 2, [["", "", "change point change point change point"]]],
    ["math.html", "Letters", 0, [["", "", "𝜌 = 1, naïve, rand_loss"], ["p", "Prices", "costs"]]],
]
PROGRAM = """
const fs = require("fs"), vm = require("vm");
const [file, pages, queries] = JSON.parse(fs.readFileSync(0, "utf8"));
vm.runInThisContext(fs.readFileSync(file, "utf8"));
const all = queries.map((query) => {
  const { asked, begins, found } = mlbookSearch.find(pages, query);
  const first = found.length ? mlbookSearch.excerpt(found[0].sections[0].text, asked, begins) : [];
  return [found.map((each) => each.page.replace(".html", "")), begins, first];
});
process.stdout.write(JSON.stringify(all));
"""


def search(*queries, pages=PAGES):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not there")
    given = json.dumps([str(STATIC / "search.js"), pages, queries])
    done = subprocess.run([node, "-e", PROGRAM], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("rand", ["math", "one"]),  # not "random"
        ("RANDOM", ["one"]),
        ("change point", ["two", "api", "three"]),  # in the title first; the reference later
        ("changes points", ["two", "api", "three"]),
        ("λ", ["one"]),
        ("lambda", ["one"]),
        ("rho", ["math"]),  # the page has a mathematical letter
        ("naive", ["math"]),
        ("price", ["math"]),
        ("walk change", []),
        ("nothing", []),
        ("?!", []),
    ],
)
def test_whole_words_are_found_best_first(query, pages):
    ((found, begins, _),) = search(query)
    assert sorted(found) == sorted(pages) and not (found and begins)
    if query.startswith("change"):
        assert found == pages


def test_if_no_word_fits_its_beginning_does():
    ((found, begins, _),) = search("clust")
    assert (found, begins) == (["three"], True)


def test_the_excerpt_is_around_the_word_and_marks_it():
    long = "word " * 200 + "here is the Whitening that was asked for " + "word " * 200
    ((_, _, pieces),) = search("whitening", pages=[["p.html", "T", 0, [["", "", long]]]])
    text = "".join(piece for piece, _ in pieces)
    assert [piece for piece, marked in pieces if marked] == ["Whitening"]
    assert len(text) < 200 and text.startswith("… ") and text.endswith(" …")
    assert text.strip("… ") in long


def test_a_section_has_its_own_text_only():
    html = """<article><section id="a"><h1>A<a class="headerlink">#</a></h1><p>One <math><mi>x</mi>
    <mo>=</mo></math>.</p><div class="cell_input">code</div>
    <section id="b"><h2>B</h2>Two</section></section></article>"""
    found = search_pages.sections(bs4.BeautifulSoup(html, "html.parser").article)
    assert [tuple(part) for part in found] == [("a", "A", "One x =."), ("b", "B", "Two")]


@pytest.mark.book
def test_a_built_book_can_be_searched(small_site):
    text = (small_site / "_static" / search_pages.DATA).read_text()
    pages = json.loads(text.removeprefix("globalThis.mlbookPages=").removesuffix(";\n"))
    assert [page[0] for page in pages] == ["contents.html", "book/page.html"]
    ((found, _, pieces),) = search("Bayes", pages=pages)
    assert found == ["book/page"] and ["Bayes", True] in pieces
    page = (small_site / "search.html").read_text()
    assert "_static/search.js" in page and "searchtools.js" not in page
