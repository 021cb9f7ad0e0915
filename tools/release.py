"""Build the packages of a release into dist/, with its notes: python tools/release.py v0.2.0.

The tag must name the version of the library, and CHANGELOG.md must have a section of it.
Nothing is published: that is left to the owner.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import mlbook

ROOT = Path(__file__).resolve().parent.parent


def notes(tag: str, changelog: str) -> str:
    """Return what the changelog says of a version; refuse a tag that does not fit."""
    if tag != f"v{mlbook.__version__}":
        raise SystemExit(f"the tag is {tag!r}, but the version is {mlbook.__version__}")
    found = re.search(rf"^## {re.escape(tag[1:])}\b.*\n(?s:(.*?))(?=^## |\Z)", changelog, re.M)
    if found is None or not found[1].strip():
        raise SystemExit(f"CHANGELOG.md has no section '## {tag[1:]}'")
    return found[1].strip() + "\n"


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise SystemExit("name the tag of the release, for example: make release ARGS=v0.2.0")
    text = notes(arguments[0], (ROOT / "CHANGELOG.md").read_text())
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build"], cwd=ROOT, check=True)
    (ROOT / "dist" / "notes.md").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
