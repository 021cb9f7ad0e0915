"""Check that every package comes as a wheel, for platforms that are not at hand.

The library must resolve at its newest versions, the book at those of the lock file.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

from environment import NEWEST, OLDEST
from lock import UV

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = {
    "Linux": "x86_64-manylinux_2_28",
    "Linux, ARM": "aarch64-manylinux_2_28",
    "Windows": "x86_64-pc-windows-msvc",
    "Mac, Apple silicon": "aarch64-apple-darwin",
    "Mac, Intel": "x86_64-apple-darwin",
}


def missing(requirements: str, python: str, platform: str) -> str:
    """Return why the requirements do not resolve to wheels there, or nothing if they do."""
    command = [*UV, "--only-binary", ":all:", "-"]
    command += ["--python-version", python, "--python-platform", platform]
    run = subprocess.run(command, cwd=ROOT, input=requirements, capture_output=True, text=True)
    return run.stderr.strip() if run.returncode else ""


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    houses = {
        "library": "\n".join(project["dependencies"]),
        "book": (ROOT / "requirements.lock").read_text(),
    }
    pythons = [f"3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
    failed = 0
    for (house, requirements), python in product(houses.items(), pythons):
        for name, platform in PLATFORMS.items():
            why = missing(requirements, python, platform)
            failed += bool(why)
            print(f"{house:8} Python {python}  {name:20} {why or 'every package has a wheel'}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
