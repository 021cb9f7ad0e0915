"""Build the book: execute what changed, fail on any warning, say where to open it.

A cached notebook is reused only while everything it may depend on is unchanged: the
library, the data, the lock file and the Python version. Otherwise old numbers would be
published with exit code 0. The pages themselves are always written anew.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("mlbook", "data", "requirements.lock")
KERNEL_NOTICE = "Kernel is running over TCP without encryption"


def source_files(root: Path) -> Iterator[Path]:
    """Yield the files a notebook's numbers may depend on, in a fixed order."""
    for name in SOURCES:
        path = root / name
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (p for p in found if p.is_file() and "__pycache__" not in p.parts)


def cache_key(root: Path) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in source_files(root):
        digest.update(f"\0{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def empty_stale_cache(root: Path) -> bool:
    """Drop executed notebooks that were made with other sources; True if there were any."""
    cache, stamp = root / "_build" / ".jupyter_cache", root / "_build" / "cache_key"
    key = cache_key(root)
    fresh = stamp.is_file() and stamp.read_text() == key
    if not fresh:
        shutil.rmtree(cache, ignore_errors=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(key)
    return not fresh


def run(command: list[str], root: Path) -> int:
    """Run `command` and pass its output on, less what would mislead a reader of it.

    That is a notice ipykernel prints per kernel, and all after Sphinx's last line, where
    jupyter-book names the scratch folder as the place to open.
    """
    with subprocess.Popen(
        command, cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        shown = True
        for line in process.stdout or ():
            shown = shown and "The HTML pages are in" not in line
            if shown and KERNEL_NOTICE not in line:
                print(line, end="", flush=True)
    return process.returncode


def build(root: Path) -> int:
    """Build into a scratch folder; the book of the last good build stays until this one passes."""
    if empty_stale_cache(root):
        print("Library, data or lock file new or changed: every notebook is executed.", flush=True)
        print("That takes about ten minutes on two cores; later builds reuse it.", flush=True)
    scratch, book = root / "_build" / "scratch", root / "_build" / "html"
    shutil.rmtree(scratch, ignore_errors=True)
    jupyter_book = Path(sys.executable).parent / "jupyter-book"
    command = [str(jupyter_book), "build", str(root), "--path-output", str(scratch)]
    code = run([*command, "--all", "-W", "--keep-going"], root)
    if code:
        print("\nThe book was NOT built: see the warnings above.", file=sys.stderr)
        return code
    shutil.rmtree(book, ignore_errors=True)
    shutil.move(scratch / "_build" / "html", book)
    shutil.rmtree(scratch)
    print(f"\nThe book is built. Open {(book / 'index.html').as_uri()}\nor run: make serve")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="folder with _config.yml")
    sys.exit(build(parser.parse_args().root.resolve()))
