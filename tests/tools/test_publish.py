"""The built book is whole at any time, and only one build writes it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import publish as publishing
import pytest

TOOLS = Path(publishing.__file__).resolve().parent


def shown(book: Path) -> str:
    """What the book shows; all its pages must be there and of the same build."""
    texts = {(book / name).read_text() for name in ("index.html", "page.html")}
    assert len(texts) == 1
    return texts.pop()


@pytest.fixture
def two_books(tmp_path):
    for name, text in (("html", "old"), ("new", "new")):
        (tmp_path / name).mkdir()
        for page in ("index.html", "page.html"):
            (tmp_path / name / page).write_text(text)
    return tmp_path / "new", tmp_path / "html"


def cannot(*args):
    raise OSError("cannot")


@pytest.mark.parametrize("can_exchange", [True, False])
def test_publish(can_exchange, two_books, monkeypatch):
    new, book = two_books
    if not can_exchange:
        monkeypatch.setattr(publishing, "exchange", cannot)
    publishing.publish(new, book)
    publishing.recover(book)
    assert shown(book) == "new"
    assert not publishing.old_of(book).exists()


def test_publish_a_first_book(two_books):
    new, book = two_books
    shutil.rmtree(book)
    publishing.publish(new, book)
    assert shown(book) == "new" and not new.exists()


def test_exchange_says_when_it_cannot(two_books, tmp_path):
    with pytest.raises(OSError, match="renameat2"):
        publishing.exchange(tmp_path / "nothing", two_books[1])


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_swap_in_two_steps_that_is_killed_leaves_a_whole_book(steps, two_books, monkeypatch):
    """Killed before, between and after its steps; the next build begins with `recover`."""
    new, book = two_books
    done, rename = [], os.rename

    def killed(*args):
        if len(done) == steps:
            raise KeyboardInterrupt
        rename(*args)
        done.append(args)

    monkeypatch.setattr(publishing, "exchange", cannot)
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", killed)
        if steps < 2:
            with pytest.raises(KeyboardInterrupt):
                publishing.publish(new, book)
        else:
            publishing.publish(new, book)
    publishing.recover(book)
    assert shown(book) == ("new" if steps == 2 else "old")
    assert not publishing.old_of(book).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="one step needs renameat2")
def test_a_swap_in_one_step_that_is_killed_leaves_a_whole_book(two_books):
    """A program publishes without end; killed at any time, the book is whole, without recovery."""
    new, book = two_books
    code = f"""
import sys; sys.path.insert(0, {str(TOOLS)!r})
from pathlib import Path; import publish
while True:
    publish.publish(Path({str(new)!r}), Path({str(book)!r}))
    print(flush=True)
"""
    seen = set()
    for pause in range(8):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as program:
            program.stdout.readline()  # it has begun
            time.sleep(pause / 1000)
            for _ in range(50):
                assert sorted(p.name for p in book.iterdir()) == ["index.html", "page.html"]
            program.send_signal(signal.SIGKILL)
        seen.add(shown(book))
    assert seen <= {"old", "new"}


def test_a_second_build_says_so_and_stops(tmp_path):
    with (
        publishing.only_build(tmp_path),
        pytest.raises(publishing.Stop, match=f"already, by process {os.getpid()}"),
        publishing.only_build(tmp_path),
    ):
        pass


def test_the_lock_of_a_killed_build_is_taken_over(tmp_path):
    code = f"""
import sys; sys.path.insert(0, {str(TOOLS)!r})
from pathlib import Path; import publish, time
with publish.only_build(Path({str(tmp_path)!r})):
    print(flush=True)
    time.sleep(99)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        with pytest.raises(publishing.Stop, match=f"process {program.pid}"):
            publishing.only_build(tmp_path).__enter__()
        program.kill()
    with publishing.only_build(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())
