"""Bring requirements.lock up to date: the newest versions that pyproject.toml allows.

uv resolves for every platform and Python version at once; where it is not on the machine
it is installed into the running environment.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Exact versions for every platform. Made by `make lock`; do not edit.\n"


def main() -> None:
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "uv"], check=True)
        uv = str(Path(sys.executable).parent / "uv")
    command = [uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    command += ["--all-extras", "--upgrade", "--no-header", "--no-annotate", "pyproject.toml"]
    resolved = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    (ROOT / "requirements.lock").write_text(HEADER + resolved.stdout)


if __name__ == "__main__":
    main()
