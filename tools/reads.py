"""The state of files and folders, and a watch that writes down which of them a program reads.

The watch runs in the kernel of every notebook that the book's build executes, and in all
Pythons that the kernel starts: `kernel/sitecustomize.py` begins it. It sees files that Python
opens, folders that it lists, and questions whether a file is there.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable
from importlib.util import source_from_cache
from types import FrameType
from typing import Any

LOG, WATCHED = "MLBOOK_READS_LOG", "MLBOOK_READS_FOLDERS"
ABSENT = "absent"
BUILT = {"_build", "__pycache__", "node_modules"}
IMPORT_SYSTEM = ("<frozen importlib", os.path.dirname(importlib.__file__))


def content(path: str) -> str:
    """Return the SHA-256 of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ABSENT


def names(folder: str) -> str:
    """Return the SHA-256 of the names in a folder, less hidden ones and Python's cache."""
    try:
        found = sorted(name for name in os.listdir(folder) if name[0] != "." and name not in BUILT)
    except OSError:
        return ABSENT
    return hashlib.sha256("\0".join(found).encode()).hexdigest()


def presence(path: str) -> str:
    """Say whether a file or folder is there."""
    return "there" if os.access(path, os.F_OK) else ABSENT


KINDS: dict[str, Callable[[str], str]] = {"content": content, "names": names, "presence": presence}


class Watch:
    """Append a line to a log for each thing below some folders that this process reads.

    A line is a list of the kind (a key of `KINDS`), the path and the state it was in.
    """

    def __init__(self, log: str, folders: list[str]) -> None:
        self.log = log
        self.folders = [folder + os.sep for folder in folders]
        self.seen: set[tuple[str, str, str]] = set()
        self.own = threading.local()  # busy: what the watch itself reads does not count

    def start(self) -> None:
        """Begin; a watch has no end."""
        sys.addaudithook(self.hear)
        stat = os.stat

        def watched(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
            if kwargs.get("dir_fd") is None and not imports(sys._getframe(1)):
                self.note("presence", path)
            return stat(path, *args, **kwargs)

        os.stat = watched
        for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            able.add(watched)

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """Take one event of Python's own audit."""
        if event == "open":
            path, mode, flags = args
            writes = set(mode) & set("wxa") if mode else flags & os.O_WRONLY
            if not writes and not passed_on(sys._getframe(1), self.folders):
                self.note("content", path)
        elif event in ("os.listdir", "os.scandir") and not imports(sys._getframe(1)):
            self.note("names", args[0] or ".")

    def note(self, kind: str, path: Any) -> None:
        """Log one path in its present state."""
        if isinstance(path, int) or getattr(self.own, "busy", False) or sys.is_finalizing():
            return
        path = os.path.abspath(os.fsdecode(path))
        if path.endswith(".pyc"):
            try:
                path = source_from_cache(path)
            except ValueError:
                return
        folder = next((f for f in self.folders if path.startswith(f)), None)
        if folder is None or (kind == "presence" and not may_be_data(path)):
            return
        if any(part in BUILT or part[:1] == "." for part in path[len(folder) :].split(os.sep)):
            return
        self.own.busy = True
        try:
            line = (kind, path, KINDS[kind](path))
            if line not in self.seen:
                self.seen.add(line)
                with open(self.log, "a", encoding="utf-8") as log:
                    log.write(json.dumps(line) + "\n")
        finally:
            self.own.busy = False


def may_be_data(path: str) -> bool:
    """Whether it matters if this is there: no module, and no text that IPython took for a path."""
    return not path.endswith(".py") and "\n" not in path and len(os.path.basename(path)) < 256


def imports(frame: FrameType | None) -> bool:
    """Whether a frame belongs to Python's import system, or its search for installed packages."""
    file = frame.f_code.co_filename if frame is not None else ""
    return file.startswith(IMPORT_SYSTEM) or f"{os.sep}importlib_metadata{os.sep}" in file


def passed_on(frame: FrameType | None, folders: list[str]) -> bool:
    """Whether a file is opened only because a package of ours imports it to pass its names on.

    Such a module counts where its names are used: `dependencies.modules` finds that, unless the
    package is imported by a name that is made up while the program runs.
    """
    if not imports(frame):
        return False
    found = False
    while frame is not None:
        code = frame.f_code
        if code.co_name == "import_module":
            return False
        if code.co_name == "<module>" and code.co_filename.endswith(f"{os.sep}__init__.py"):
            found |= any(code.co_filename.startswith(folder) for folder in folders)
        frame = frame.f_back
    return found
