"""Bring the lock files up to date: exact versions, and the hashes of all their files.

requirements.lock gets the newest versions that pyproject.toml allows, for every platform and
Python version at once. The versions in data/packages.txt are written by hand. With --keep,
versions that are still allowed stay.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
PACKAGES = ROOT / "data" / "packages.txt"
HEADER = "# Exact versions for every platform, with hashes. Made by `make lock`; do not edit.\n"
UV = (sys.executable, "-m", "uv", "pip", "compile", "--quiet")
EVERYWHERE = (*UV, "--universal", "--python-version", "3.11", "--no-header", "--no-annotate")
WITH_HASHES = (*EVERYWHERE, "--generate-hashes", "--only-binary", ":all:")
HELD_BACK = ("--constraints", "tools/held_back.txt")


def pinned(text: str) -> list[Requirement]:
    """Return the requirements of a lock file, without their hashes."""
    lines = [line.removesuffix("\\") for line in text.splitlines()]
    return [Requirement(line.strip()) for line in lines if line[:1].isalnum()]


def main() -> None:
    upgrade = [] if "--keep" in sys.argv else ["--upgrade"]
    command = [*WITH_HASHES, *HELD_BACK, *upgrade, "--all-extras", "--output-file", str(LOCK)]
    subprocess.run([*command, "pyproject.toml"], cwd=ROOT, check=True)
    LOCK.write_text(HEADER + LOCK.read_text())

    text = PACKAGES.read_text()
    comment = "".join(line for line in text.splitlines(True) if line.startswith("#"))
    wanted = "\n".join(map(str, pinned(text)))
    hashed = subprocess.run(
        [*WITH_HASHES, "--no-deps", "-"],
        cwd=ROOT,
        check=True,
        input=wanted,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    PACKAGES.write_text(comment + hashed)


if __name__ == "__main__":
    main()
