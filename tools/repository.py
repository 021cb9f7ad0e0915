"""The address of the repository that this is a copy of."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path


def repository_url(folder: Path) -> str | None:
    """Return the web address of the repository that holds `folder`, or None if it has none.

    On GitHub's machines the address is in the environment; elsewhere it is that of the
    remote ``origin``, if that is on github.com, which Binder and Colab know.
    """
    if "GITHUB_REPOSITORY" in os.environ:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        return f"{server}/{os.environ['GITHUB_REPOSITORY']}"
    git = ["git", "-C", str(folder), "remote", "get-url", "origin"]
    try:
        remote = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.fullmatch(r"(?:https://|git@|ssh://git@)(github\.com)[:/](.+?)(?:\.git)?/?", remote)
    return f"https://{match[1]}/{match[2]}" if match else None
