"""Bring requirements.lock up to date: the newest versions that pyproject.toml allows.

uv resolves for every platform and Python version at once; where it is not on the machine
it is installed into the running environment. With --keep, versions that are still allowed stay.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEADER = "# Exact versions for every platform. Made by `make lock`; do not edit.\n"


def find_uv() -> str:
    """Return the path of uv, installed first if need be."""
    beside = str(Path(sys.executable).parent)
    uv = shutil.which("uv") or shutil.which("uv", path=beside)
    if uv is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "uv"], check=True)
        uv = shutil.which("uv", path=beside)
    return str(uv)


def main() -> None:
    command = [find_uv(), "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    command += ["--all-extras", "--no-header", "--no-annotate", "--output-file", str(LOCK)]
    command += [] if "--keep" in sys.argv else ["--upgrade"]
    subprocess.run([*command, "pyproject.toml"], cwd=ROOT, check=True)
    LOCK.write_text(HEADER + LOCK.read_text())


if __name__ == "__main__":
    main()
