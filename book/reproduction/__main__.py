"""``python book/reproduction`` starts here; see command_line.py."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])  # this repository, wherever one stands

from book.reproduction.command_line import main

if __name__ == "__main__":
    sys.exit(main())
