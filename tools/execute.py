"""Execute notebooks: several at a time, with all that they read written down.

A notebook runs in its own folder, finds the repository before any installed copy of it, draws
its explorers static and uses one thread, so that as many run at once as there are cores. A cell
that fails, takes too long or writes to stderr fails its notebook.
"""

from __future__ import annotations

import asyncio
import json
import os
import py_compile
import re
import sys
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import reads
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal
from nbformat import NotebookNode

from book.sources import HOUSES

CELL_SECONDS = 300
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Failed(Exception):
    """A notebook did not run to its end without error or warning."""


async def run(notebook: NotebookNode, folder: Path, root: Path) -> list[tuple[str, str]]:
    """Execute a notebook in place.

    Parameters
    ----------
    notebook : NotebookNode
        Its outputs are replaced.
    folder : Path
        Where it runs.
    root : Path
        The repository it imports from.

    Returns
    -------
    list of (str, str)
        Name and state of each thing it read, as in `dependencies.facts`; more than one state for
        a thing that changed.

    Raises
    ------
    Failed
        If a cell does what it must not do.
    """
    with TemporaryDirectory() as scratch:
        log = Path(scratch) / "reads"
        log.touch()
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            coalesce_streams=True,  # else two builds differ where the kernel cut what was printed
            record_timing=False,
            resources={"metadata": {"path": str(folder)}},
            extra_arguments=["--log-level=ERROR"],  # less a notice about encryption
        )
        with (Path(scratch) / "kernel").open("w+") as said:  # not what a cell writes
            try:
                await client.async_execute(env=environment(root, log), stderr=said)
            except CellControlSignal as error:
                raise Failed(re.sub(r"\x1b\[[0-9;]*m", "", str(error))) from None  # no colours
            except RuntimeError as error:
                said.seek(0)
                raise Failed(f"{error}\n{said.read()}") from None
        complain_about_warnings(notebook)
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [(f"{kind} {short(Path(path), root)}", state) for kind, path, state in lines]


def environment(root: Path, log: Path) -> dict[str, str]:
    """Return the environment variables of a kernel."""
    kernel = Path(__file__).resolve().parent / "kernel"
    path = [str(kernel), str(root), os.environ.get("PYTHONPATH", "")]
    data = os.environ.get("MLBOOK_DATA")
    folders = [str(root)] + ([os.path.abspath(data)] if data else [])
    return {
        **os.environ,
        **dict.fromkeys(ONE_THREAD, "1"),
        "MLBOOK_STATIC": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        reads.LOG: str(log),
        reads.WATCHED: os.pathsep.join(folders),
    }


def complain_about_warnings(notebook: NotebookNode) -> None:
    """Fail a notebook that shows its readers what a cell wrote to stderr."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise Failed(f"cell {cell.id} writes to stderr:\n{output.text}")


def short(path: Path, root: Path) -> str:
    """Write a path from the root if it is below it."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def compile_by_content(root: Path) -> None:
    """Let Python see every change of our modules.

    It compares times in whole seconds, and would take old code for new after a quick change that
    keeps the length of a file. Bytecode that carries a hash of its source is compared by that.
    """
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    for file in (file for house in HOUSES for file in (root / house).rglob("*.py")):
        compiled = Path(cache_from_source(file))
        if sys.dont_write_bytecode and not compiled.exists():
            continue
        with suppress(OSError):
            if not compiled.exists() or compiled.read_bytes()[4:8] != b"\x03\0\0\0":
                py_compile.compile(str(file), invalidation_mode=mode, quiet=2)


def finish(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, in a thread: Ctrl-C cancels it, and with it the kernels.

    In the main thread every nbclient would take the signal for itself.
    """
    tasks: list[asyncio.Task[None]] = []

    async def main() -> None:
        tasks.append(asyncio.ensure_future(coroutine))
        await tasks[0]

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(asyncio.run, main())
        try:
            future.result()
        except KeyboardInterrupt:
            for task in tasks:
                task.get_loop().call_soon_threadsafe(task.cancel)
            raise


async def several_at_once(
    work: Callable[[str], Coroutine[Any, Any, None]], names: Iterable[str], jobs: int
) -> None:
    """Do the work of each name, in their order, at most so many at once."""
    places = asyncio.Semaphore(jobs)

    async def wait(name: str) -> None:
        async with places:
            await work(name)

    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(wait(name))
