"""The folder of the built book: written by one build at a time, and whole at any time."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Stop(Exception):
    """Why there is no new book."""


@contextmanager
def only_build(folder: Path) -> Iterator[None]:
    """Keep others from building in the same folder; the lock ends with the process that has it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+") as lock:
        try:
            if sys.platform == "win32":
                import msvcrt

                lock.seek(1 << 20)  # the locked byte cannot be read by others
                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            raise Stop(f"it is being built already, by process {lock.read(20)}.") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def exchange(one: Path, other: Path) -> None:
    """Let two folders change places in one step.

    Raises
    ------
    OSError
        Where the system cannot: outside Linux, and on some file systems.
    """
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, TypeError):
        raise OSError("this system has no renameat2") from None
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if renameat2(here, os.fsencode(one), here, os.fsencode(other), swap):
        raise OSError(ctypes.get_errno(), "renameat2 failed")


def publish(pages: Path, book: Path) -> None:
    """Put new pages in the place of the book; interrupted, either is there, and whole.

    Where folders cannot be exchanged there are two steps, and `recover` goes back from between.
    """
    if not book.exists():
        os.rename(pages, book)
        return
    try:
        exchange(pages, book)
    except OSError:
        os.rename(book, old_of(book))
        os.rename(pages, book)


def recover(book: Path) -> None:
    """Undo a `publish` that stopped between its two steps; remove what it leaves else."""
    old = old_of(book)
    if old.exists() and not book.exists():
        os.rename(old, book)
    shutil.rmtree(old, ignore_errors=True)


def old_of(book: Path) -> Path:
    """Return where the last book is between the two steps of `publish`."""
    return book.with_name(f"{book.name}-old")
