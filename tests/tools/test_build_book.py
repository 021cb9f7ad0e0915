"""A build publishes a whole book with the numbers of the present sources, or nothing."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("jupyter_book")
import build_book

pytestmark = [pytest.mark.book, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]


def write_page(root: Path, *sources: str) -> None:
    cells = [nbformat.v4.new_markdown_cell("# Page")]
    cells += [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.write(notebook, root / "book" / "page.ipynb")


# --- the steps of a build, with made-up pages -------------------------------------------------


@pytest.fixture
def book(tmp_path, monkeypatch):
    """The built book of a one-page project; its pages are the page's outputs, written at once."""
    for name in ("book", "mlbook"):
        (tmp_path / name).mkdir()
    (tmp_path / "mlbook" / "__init__.py").write_text("VALUE = 4\n")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/page\n")
    write_page(tmp_path, "from mlbook import VALUE\nprint(VALUE)")
    monkeypatch.setattr(build_book, "write_pages", fake_pages)
    build_book.build(tmp_path, 1)
    return tmp_path / "_build" / "html"


def fake_pages(root: Path, scratch: Path) -> Path:
    from executed_pages import load

    pages = scratch / "_build" / "html"
    pages.mkdir(parents=True)
    notebook = nbformat.reads(load(root, "book/page").text, as_version=4)
    for name in ("index.html", "page.html"):
        (pages / name).write_text(notebook.cells[1].outputs[0].text)
    return pages


def shown(book: Path) -> str:
    """What the book shows; all its pages must be there and of the same build."""
    texts = {(book / name).read_text() for name in ("index.html", "page.html")}
    assert len(texts) == 1
    return texts.pop().strip()


def set_value(root: Path, value: int) -> None:
    (root / "mlbook" / "__init__.py").write_text(f"VALUE = {value}\n")


def test_a_build_leaves_the_book_and_nothing_else(book, capsys):
    assert shown(book) == "4"
    there = ["built.json", "executed", "html"]
    assert sorted(p.name for p in book.parent.iterdir()) == there
    set_value(book.parents[1], 5)
    build_book.build(book.parents[1], 1)
    assert shown(book) == "5"
    assert sorted(p.name for p in book.parent.iterdir()) == there
    assert f"Open {(book / 'index.html').as_uri()}" in capsys.readouterr().out


def test_a_change_while_a_notebook_runs_publishes_nothing(book, capsys):
    """4, then 99 during the build, then 4 again: the page never shows 99."""
    root = book.parents[1]
    change = "from pathlib import Path\nPath('../mlbook/__init__.py').write_text('VALUE = 99\\n')"
    write_page(root, "from mlbook import VALUE\nprint(VALUE)", change)
    with pytest.raises(build_book.Stop, match=r"mlbook/__init__\.py changed"):
        build_book.build(root, 1)
    assert shown(book) == "4"
    set_value(root, 4)
    write_page(root, "from mlbook import VALUE\nprint(VALUE)")
    build_book.build(root, 1)
    assert shown(book) == "4"
    assert "Nothing that the 1 notebooks depend on has changed" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["mlbook/__init__.py", "book/text.md", "data/a.csv", "_toc.yml"])
def test_a_change_while_the_pages_are_written_publishes_nothing(path, book, monkeypatch):
    root = book.parents[1]
    (root / "book" / "other.md").write_text("# New\n")

    def write_and_change(root, scratch):
        pages = fake_pages(root, scratch)
        (root / path).parent.mkdir(exist_ok=True)
        with (root / path).open("a") as file:
            file.write("\n# more\n")
        return pages

    monkeypatch.setattr(build_book, "write_pages", write_and_change)
    before = (book / "page.html").stat().st_ino
    with pytest.raises(build_book.Stop, match=f"while its pages were written, {path}"):
        build_book.build(root, 1)
    assert shown(book) == "4" and (book / "page.html").stat().st_ino == before


def test_pages_are_written_only_if_they_would_change(book, monkeypatch, capsys):
    root = book.parents[1]
    monkeypatch.setattr(build_book, "write_pages", lambda root, scratch: pytest.fail("written"))
    build_book.build(root, 1)
    assert "The book is up to date. Open file:" in capsys.readouterr().out


@pytest.mark.parametrize(
    "path", ["_build/html/page.html", "_build/built.json", "book/text.md", "tests/test_a.py"]
)
def test_pages_are_written_again_if_anything_changed(path, book):
    root = book.parents[1]
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text("spoilt")
    before = (book / "index.html").stat().st_ino
    build_book.build(root, 1)
    assert shown(book) == "4" and (book / "index.html").stat().st_ino != before


def test_a_source_that_changes_at_the_last_moment_is_not_taken_for_built(book, monkeypatch):
    root = book.parents[1]
    (root / "book" / "text.md").write_text("old")
    real = build_book.publish

    def publish_and_change(pages, target):
        real(pages, target)
        (root / "book" / "text.md").write_text("new")

    monkeypatch.setattr(build_book, "publish", publish_and_change)
    build_book.build(root, 1)
    assert not build_book.is_built(root)


def test_a_change_after_a_notebook_ran_publishes_nothing(book, monkeypatch):
    """While other notebooks run: before any page is written."""
    root = book.parents[1]

    def refresh_and_change(root, pages, jobs):
        set_value(root, 99)
        return []

    monkeypatch.setattr(build_book, "refresh", refresh_and_change)
    monkeypatch.setattr(build_book, "write_pages", lambda root, scratch: pytest.fail("written"))
    with pytest.raises(build_book.Stop, match=r"were executed, mlbook/__init__\.py changed"):
        build_book.build(root, 1)
    assert shown(book) == "4"


def test_a_failing_cell_leaves_the_last_book(book):
    root = book.parents[1]
    write_page(root, "1 / 0")
    with pytest.raises(build_book.Stop, match="ZeroDivisionError"):
        build_book.build(root, 1)
    assert shown(book) == "4"


# --- the command ------------------------------------------------------------------------------


def run_main(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["build_book.py", *arguments])
    monkeypatch.setattr(signal, "signal", lambda *args: None)
    return build_book.main()


def test_the_command_says_why_there_is_no_new_book(book, monkeypatch, capsys):
    root = book.parents[1]
    assert run_main(monkeypatch, "--root", str(root)) == 0
    with build_book.only_build(root / "_build"):
        assert run_main(monkeypatch, "--root", str(root)) == 1
    assert "NOT built: it is being built already" in capsys.readouterr().err


def test_why(book, monkeypatch, capsys):
    root = book.parents[1]
    assert run_main(monkeypatch, "--root", str(root), "--why") == 0
    assert "book/page: as executed before" in capsys.readouterr().out
    set_value(root, 5)
    assert run_main(monkeypatch, "--root", str(root), "--why", "book/page.ipynb") == 0
    assert "book/page: mlbook/__init__.py changed" in capsys.readouterr().out


# --- with Sphinx --------------------------------------------------------------------------------


@pytest.fixture
def small_book(tmp_path):
    """A one-page project with the real configuration and a library of one constant."""
    without = shutil.ignore_patterns("__pycache__")
    for name in ("book/_static", "book/_templates", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=without)
    shutil.copy(ROOT / "book" / "references.bib", tmp_path / "book")
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/page\n")
    (tmp_path / "mlbook").mkdir()
    (tmp_path / "mlbook" / "__init__.py").touch()
    (tmp_path / "mlbook" / "constant.py").write_text("VALUE = 111111\n")
    write_page(tmp_path, "from mlbook import constant", "print(constant.VALUE)")
    return tmp_path


def build(root: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "tools" / "build_book.py"), "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True)


def test_no_stale_numbers_and_no_half_built_book(small_book):
    """New words execute nothing, a new constant does; a failing cell leaves the last good book."""
    page = small_book / "_build" / "html" / "book" / "page.html"
    first = build(small_book)
    assert first.returncode == 0, first.stdout + first.stderr
    assert f"Open {(small_book / '_build/html/index.html').as_uri()}" in first.stdout
    assert "111111" in page.read_text()
    assert "without encryption" not in first.stdout + first.stderr

    path = small_book / "book" / "page.ipynb"
    path.write_text(path.read_text().replace("# Page", "# Another title"))
    words = build(small_book)
    assert words.returncode == 0 and "Nothing that the 1 notebooks depend on" in words.stdout
    assert "Another title" in page.read_text() and "111111" in page.read_text()

    (small_book / "mlbook" / "constant.py").write_text("VALUE = 222222\n")
    again = build(small_book)
    assert again.returncode == 0 and "mlbook/constant.py changed" in again.stdout
    assert "222222" in page.read_text() and "111111" not in page.read_text()

    write_page(small_book, "import warnings", "1 / 0")
    failed = build(small_book)
    assert failed.returncode != 0 and "NOT built" in failed.stderr
    assert "ZeroDivisionError" in failed.stderr
    assert "222222" in page.read_text()


EVERYTHING = """\
import time

from IPython.display import display
from book.figures.style import book_style
from mlbook.explore import Slider, explore
from mlbook.plots import subplots

book_style()


def draw(height):
    figure, axes = subplots()
    axes[0, 0].plot([0, height])
    return figure, f"up to {height}"


print("cut", end=" ", flush=True)
time.sleep(0.5)
print("in two")
display(draw(3)[0])
explore(draw, alt="a line up to {height}", height=Slider([1, 2], label="height"))"""


def test_two_builds_give_the_same_pages(small_book, tmp_path_factory):
    """Executed anew in another folder, every file is the same to the byte."""
    shutil.rmtree(small_book / "mlbook")  # in favour of the library itself
    write_page(small_book, EVERYTHING, "explore.__name__")
    other = tmp_path_factory.mktemp("elsewhere") / "longer" / "path"
    shutil.copytree(small_book, other)
    books = []
    for root in (small_book, other):
        run = build(root)
        assert run.returncode == 0, run.stdout + run.stderr
        html = root / "_build" / "html"
        books.append({p.relative_to(html): p for p in html.rglob("*") if p.is_file()})
    assert books[0].keys() == books[1].keys()
    differ = [n for n, p in books[0].items() if p.read_bytes() != books[1][n].read_bytes()]
    assert differ == []
    page = (small_book / "_build" / "html" / "book" / "page.html").read_text()
    assert "cut in two" in page and "_images/" in page
    assert page.count('<figure class="mlbook-explore"') == 1
