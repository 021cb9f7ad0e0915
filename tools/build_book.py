"""Build the book: execute what changed, fail on any warning, say where to open it.

A notebook is executed again only if something it depends on changed (`dependencies`); the pages
are always written anew. If a file changes while the book is built, nothing is published: a page
might show numbers of two versions. The book of the last good build stays until a whole new one
takes its place in one step.

    python tools/build_book.py              build the book
    python tools/build_book.py --why [PAGE ...]   only say which notebooks would be executed and why
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import reads
from dependencies import Facts, difference, installed
from executed_pages import reasons, refresh
from publish import Stop, only_build, publish, recover
from repository import repository_url

ROOT = Path(__file__).resolve().parent.parent
BUILT = "built.json"  # in _build: what the book there was made from
SOURCES = ("book", "mlbook", "data", "tools", "tests", "_config.yml", "_toc.yml")


def notebooks(root: Path) -> list[str]:
    """List the pages of the book that are notebooks."""
    from sphinx_external_toc.parsing import parse_toc_yaml

    pages = parse_toc_yaml(root / "_toc.yml")
    return [page for page in pages if (root / f"{page}.ipynb").is_file()]


def sources(root: Path) -> Facts:
    """Return the state of everything the pages are written from."""
    found: Facts = {}
    for name in SOURCES:
        path = root / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            parts = file.relative_to(root).parts
            if file.is_file() and not any(p in reads.BUILT or p[0] == "." for p in parts):
                found[f"content {'/'.join(parts)}"] = reads.content(str(file))
    return found


def state(root: Path, written_from: Facts) -> Facts:
    """Return the state of the built book, and of all that it comes from beside `sources`."""
    found = written_from | {
        "Python": sys.version,
        "packages": installed(root),
        "address": str(repository_url(root)),
    }
    for folder in ("executed", "html"):
        for file in sorted((root / "_build" / folder).rglob("*")):
            if file.is_file():
                found[f"content {file.relative_to(root)}"] = reads.content(str(file))
    return found


def is_built(root: Path) -> bool:
    """Say whether the book stands as it was built, and would be built the same again."""
    try:
        return json.loads((root / "_build" / BUILT).read_text()) == state(root, sources(root))
    except (OSError, ValueError):
        return False


def write_pages(root: Path, scratch: Path) -> Path:
    """Let Sphinx write the pages into a scratch folder; return where they are.

    All after Sphinx's last line is not shown: jupyter-book names the scratch folder there as the
    place to open.
    """
    jupyter_book = Path(sys.executable).parent / "jupyter-book"
    command = [str(jupyter_book), "build", str(root), "--path-output", str(scratch)]
    command += ["--all", "-W", "--keep-going"]
    with subprocess.Popen(
        command, cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            shown = True
            for line in process.stdout or ():
                shown = shown and "The HTML pages are in" not in line
                if shown:
                    print(line, end="", flush=True)
        except KeyboardInterrupt:
            process.terminate()
            raise
    if process.returncode:
        raise Stop("see the warnings above.")
    return scratch / "_build" / "html"


def stale(root: Path, pages: list[str]) -> list[str]:
    """Say what pages depend on that is not as it was when they were executed."""
    return list(dict.fromkeys(why for page in pages for why in reasons(root, page)))


def stop_if(changed: list[str], when: str) -> None:
    """Stop the build if something changed during it."""
    if changed:
        raise Stop(f"while its {when}, {'; '.join(dict.fromkeys(changed))}. Build it again.")


def build(root: Path, jobs: int) -> None:
    """Build into a scratch folder and publish the book from there.

    Raises
    ------
    Stop
        If there is no new book; the old one is untouched.
    """
    scratch, book = root / "_build" / "scratch", root / "_build" / "html"
    recover(book)
    shutil.rmtree(scratch, ignore_errors=True)
    pages = notebooks(root)
    problems = refresh(root, pages, jobs)
    if problems:
        raise Stop("\n\n".join(["notebooks failed.", *problems]))
    if is_built(root):
        print(f"The book is up to date. Open {(book / 'index.html').as_uri()}\nor run: make serve")
        return
    (root / "_build" / BUILT).unlink(missing_ok=True)
    before = sources(root)
    stop_if(stale(root, pages), "notebooks were executed")
    written = write_pages(root, scratch)
    stop_if(difference(before, sources(root)) + stale(root, pages), "pages were written")
    try:
        publish(written, book)
    finally:
        recover(book)
    shutil.rmtree(scratch)
    (root / "_build" / BUILT).write_text(json.dumps(state(root, before)))
    print(f"\nThe book is built. Open {(book / 'index.html').as_uri()}\nor run: make serve")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="folder with _config.yml")
    jobs = int(os.environ.get("JOBS", "2"))
    parser.add_argument("--jobs", type=int, default=jobs, help="notebooks executed at a time")
    parser.add_argument("--why", nargs="*", metavar="PAGE", help="say what would be executed")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if arguments.why is not None:
        for page in arguments.why or notebooks(root):
            name = page.removesuffix(".ipynb")
            print(f"{name}: {'; '.join(reasons(root, name)) or 'as executed before'}")
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # kernels are stopped then, too
    try:
        with only_build(root / "_build"):
            build(root, arguments.jobs)
    except Stop as stop:
        print(f"\nThe book was NOT built: {stop}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The book is the one of the last build.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
