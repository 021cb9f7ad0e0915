"""The first code cell of every notebook: it fetches the book where it is not installed.

It is not shown on the page. In the notebooks to download, the build writes the repository's
address into it; `python tools/notebooks.py address` does so in the notebooks of book/.
"""

from __future__ import annotations

import re
from typing import Any

ID = "setup"
TAG = "remove-cell"
SOURCE = """\
import sys
from importlib.util import find_spec
from pathlib import Path

REPOSITORY = ""  # its address; the build fills it in

# A page opened alone (on Colab, say) fetches the book's code and results.
if find_spec("book") is None and not REPOSITORY:
    raise ImportError('Write where the book is: REPOSITORY = "https://..."')
if find_spec("book") is None:
    !git clone --quiet --depth 1 {REPOSITORY} mlbook-book
    %pip install --quiet -e "./mlbook-book[notebook,reproduce]"
    sys.path.insert(0, str(Path("mlbook-book").resolve(strict=True)))"""


def with_address(source: str, address: str) -> str:
    """Return the source of a setup cell in which `address` stands."""
    return re.sub(r'^REPOSITORY = "[^"]*"', f'REPOSITORY = "{address}"', source, flags=re.M)


def fill(notebook: dict[str, Any], address: str) -> bool:
    """Write `address` into the setup cell of a notebook; False if it says so already."""
    changed = False
    for cell in notebook["cells"]:
        if cell.get("id") == ID:
            written = with_address("".join(cell["source"]), address)
            changed = written != "".join(cell["source"])
            cell["source"] = written
    return changed
