"""Write book/dependencies.md: every package of the lock file, its licence and what it is for."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from lock import LOCK, pinned
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "book" / "dependencies.md"
HEAD = """# Dependencies and their licences

The library alone (`pip install .`) needs the packages in the first table. The others are for
reading, building and testing the book and for what it compares with. Exact versions are those of
`requirements.lock`; licences are what the packages say of themselves.

The built pages carry parts of the fonts STIX Two Math and Font Awesome Free (SIL Open Font License
1.1) and the theme's scripts and styles (BSD-3-Clause), and nothing from other hosts. Data that
other packages carry (`data/packages.txt`) is read from their files; none of their code is imported,
and nothing of them is passed on with mlbook.

% Made by `make lock`; do not edit.
"""
GROUPS = {
    "library": "The library",
    "notebook": "Running a notebook",
    "book": "Building the book",
    "test": "Testing",
    "reproduce": "What the papers compare with",
    "fast": "Compiled searches for change points and exemplars",
    "scale": "Rows that do not fit on one machine",
}


def licences() -> dict[str, str]:
    """Return what every installed package says of its licence, by pip-licenses."""
    command = [
        sys.executable,
        "-m",
        "piplicenses",
        "--from=mixed",
        "--with-system",
        "--format=json",
    ]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {canonicalize_name(each["Name"]): each["License"] for each in found}


def closure(requirements: Iterable[str]) -> set[str]:
    """Return the names of the packages that the requirements ask for, directly or not."""
    found: set[str] = set()
    waiting = [(Requirement(r), "") for r in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in ["", *requirement.extras]:
            key = f"{name}[{wanted}]"
            if key in found:
                continue
            found.add(key)
            try:
                needs = distribution(name).requires or []
            except PackageNotFoundError:
                needs = []
            waiting += [(Requirement(r), wanted) for r in needs]
    return {key.partition("[")[0] for key in found}


def locked() -> dict[str, str]:
    """Return name -> version of the packages of the lock file that this platform needs."""
    return {
        canonicalize_name(r.name): str(r.specifier).removeprefix("==")
        for r in pinned(LOCK.read_text())
        if r.marker is None or r.marker.evaluate()
    }


def page() -> str:
    """Return the text of the page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {"library": project["dependencies"], **project["optional-dependencies"]}
    left, said = locked(), licences()
    parts = [HEAD]
    for group, title in GROUPS.items():
        names = sorted(closure(wanted[group]) & left.keys())
        rows = [f"| {name} | {left.pop(name)} | {said[name]} |" for name in names]
        parts.append(f"\n## {title}\n\n| package | version | licence |\n| --- | --- | --- |\n")
        parts.append("\n".join(rows) + "\n")
    if left:
        raise RuntimeError(f"no table for {sorted(left)}: is an extra missing in GROUPS?")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
